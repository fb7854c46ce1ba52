"""Statistics of workers are what they are said to be, and know nothing of the systems."""

import numpy as np
import pandas as pd
import pytest
from cases import each_case
from reference.worker_quality_twin import quality as twin

from humeval_power.errors import InputError
from humeval_power.exclusions import RULES, ExclusionRules
from humeval_power.scales import RatingScale
from humeval_power.studies.field.worker_quality import apply_rules, worker_quality

SCALE = RatingScale.parse("1:5")


def collected(
    seed, *, workers=6, items=14, systems=2, per_item=None, paired=True, criteria=1, missing=0.05
):
    """A table with everything in it: repeats, checks, times, gaps; unpaired or by some of the workers."""
    rng = np.random.default_rng(seed)
    worth = rng.normal(3, 1, (criteria, items, systems))
    rows = []
    for item in range(items):
        for system in range(systems):
            chosen = rng.permutation(workers)[: per_item or workers]
            if paired:
                chosen = np.random.default_rng([seed, item]).permutation(workers)[: per_item or workers]
            for worker in chosen:
                for criterion in range(criteria):
                    value = np.clip(round(worth[criterion, item, system] + rng.normal(0, 1)), 1, 5)
                    kinds = ["rating", "repeat"] if rng.random() < 0.1 else ["rating"]
                    for kind in kinds:
                        again = value if kind == "rating" else np.clip(value + rng.integers(-1, 2), 1, 5)
                        rows.append(
                            {
                                "worker": f"w{worker}",
                                "item": f"i{item}",
                                "system": f"s{system}",
                                "rating": np.nan if rng.random() < missing else float(again),
                                "kind": kind,
                                "code": f"C{item}x{system}",
                                "seconds": np.nan if rng.random() < 0.1 else rng.gamma(2, 10),
                                "passed": np.nan,
                                "criterion": f"c{criterion}",
                            }
                        )
    for worker in range(workers - 1):  # the last worker saw no checks
        for number in range(3):
            rows.append(
                {
                    "worker": f"w{worker}",
                    "item": "",
                    "system": "",
                    "rating": np.nan,
                    "kind": "check",
                    "code": f"K{number}",
                    "seconds": 1.0,
                    "passed": rng.choice([0.0, 1.0, np.nan]),
                    "criterion": "",
                }
            )
    frame = pd.DataFrame(rows)
    return frame.sample(frac=1, random_state=seed).reset_index(drop=True)


CASES = [
    {},
    {"systems": 3},
    {"paired": False, "per_item": 3, "items": 30},
    {"per_item": 1, "items": 30},
    {"paired": False, "per_item": 1, "items": 40},
    {"criteria": 2, "systems": 3, "missing": 0.2},
    {"systems": 1},
    {"workers": 2, "items": 11},
    {"items": 3},
]


@each_case("options", CASES, ids=str)
@each_case("seed", range(3))
def test_statistics_are_those_of_plain_loops(options, seed):
    table = collected(seed, **options)
    found = worker_quality(table, SCALE)
    slow = twin(table.to_dict("records"), low=1, high=5)
    assert list(found.workers) == sorted(slow)
    for place, name in enumerate(RULES):
        expected = np.array([np.nan if slow[w][place] is None else slow[w][place] for w in found.workers])
        np.testing.assert_allclose(found.statistics[name], expected, atol=1e-12, err_msg=name)


def assert_same(first, second):
    assert first.workers == second.workers
    for name in RULES:
        np.testing.assert_array_equal(
            np.round(first.statistics[name], 12), np.round(second.statistics[name], 12), err_msg=name
        )


@each_case("by_code", [True, False], ids=["codes", "names of systems"])
@each_case("options", CASES, ids=str)
def test_exchanging_systems_within_any_items_changes_nothing(options, by_code):
    table = collected(4, **options)
    n_systems = options.get("systems", 2)
    if not by_code:
        table = table.drop(columns="code")
    before = worker_quality(table, SCALE)
    rng = np.random.default_rng(9)
    turned = {f"i{i}": rng.permutation(n_systems) for i in range(options.get("items", 14))}
    table["system"] = [
        f"s{turned[item][int(system[1:])]}" if system else ""
        for item, system in zip(table["item"], table["system"], strict=True)
    ]
    assert_same(before, worker_quality(table, SCALE))


def test_with_codes_the_systems_are_not_read_at_all():
    table = collected(5)
    assert_same(worker_quality(table, SCALE), worker_quality(table.assign(system="?"), SCALE))


def test_the_direction_of_the_scale_does_not_count():
    table = collected(6)
    assert_same(
        worker_quality(table, SCALE), worker_quality(table, RatingScale(1, 5, higher_is_better=False))
    )


@pytest.mark.parametrize("effect", [0.0, 3.0])
def test_who_sees_the_difference_between_systems_as_the_others_do_does_not_agree_by_it(effect):
    # every worker rates every item under both systems; B is better by the effect for all of them
    rng = np.random.default_rng(3)
    rows = [
        (f"w{w}", f"i{i}", s, rng.normal(0, 1) + effect * (s == "B"))
        for w in range(6)
        for i in range(40)
        for s in "AB"
    ]
    table = pd.DataFrame(rows, columns=["worker", "item", "system", "rating"])
    found = worker_quality(table, RatingScale(-10, 10))
    rng = np.random.default_rng(3)
    plain = pd.DataFrame(
        [(w, i, s, rng.normal(0, 1)) for w, i, s, _ in rows], columns=["worker", "item", "system", "rating"]
    )
    np.testing.assert_allclose(
        found.agreement, worker_quality(plain, RatingScale(-10, 10)).agreement, atol=1e-9
    )


def test_items_nested_in_systems_tell_of_their_system_and_do_not_count():
    rng = np.random.default_rng(2)
    rows = [(f"w{w}", f"i{i}", "AB"[i % 2], rng.integers(1, 6)) for w in range(5) for i in range(40)]
    table = pd.DataFrame(rows, columns=["worker", "item", "system", "rating"])
    found = worker_quality(table, SCALE)
    assert (found.shared_items == 0).all()
    assert np.isnan(found.agreement).all()


def test_absent_columns_make_rules_unknown_and_name_themselves():
    table = collected(1).drop(columns=["seconds", "passed"])
    rules = ExclusionRules(failed_checks=0.3, seconds=2, same_answer=0.9)
    checks, seconds, same = apply_rules(rules, worker_quality(table, SCALE))
    assert (checks.missing_columns, seconds.missing_columns, same.missing_columns) == (
        ("passed",),
        ("seconds",),
        (),
    )
    assert checks.unknown.all()
    assert not checks.broken.any()
    bare = worker_quality(table[table["kind"] == "rating"].drop(columns="kind"), SCALE)
    np.testing.assert_array_equal(bare.same_answer, worker_quality(table, SCALE).same_answer)


def test_values_at_a_limit_stay_and_those_beyond_go():
    rows = [("w1", f"i{i}", s, 3.0, "rating", np.nan, 2.0) for i in range(10) for s in "AB"]
    rows += [("w1", "", "", np.nan, "check", float(i > 0), np.nan) for i in range(3)]
    names = ["worker", "item", "system", "rating", "kind", "passed", "seconds"]
    quality = worker_quality(pd.DataFrame(rows, columns=names), SCALE)
    for rules, broken in [
        (ExclusionRules(failed_checks=1 / 3), False),
        (ExclusionRules(failed_checks=0.33), True),
        (ExclusionRules(seconds=2), False),
        (ExclusionRules(seconds=2.001), True),
        (ExclusionRules(same_answer=0.999), True),
        (ExclusionRules(agreement=0.9), False),  # not known for one worker
    ]:
        assert apply_rules(rules, quality)[0].broken.tolist() == [broken], rules


def test_a_table_without_systems_is_refused():
    with pytest.raises(InputError, match="no column system"):
        worker_quality(collected(1).drop(columns="system"), SCALE)


def test_an_empty_table_has_no_workers():
    assert worker_quality(collected(1).iloc[:0], SCALE).workers == ()

"""plan.json: what is written comes back, what was changed by hand is refused, amendments are added."""

import datetime
import hashlib
import json
import math
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import click
import pytest
from cases import each_case
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from places import ROOT
from promised_plan import promised
from seven import seven

import humeval_power as hp
from humeval_power.costs import CostModel
from humeval_power.doors.terminal.main import LazyGroup
from humeval_power.errors import InputError
from humeval_power.fees import PlatformFee
from humeval_power.rules import DecisionRule
from humeval_power.scales import RatingScale
from humeval_power.studies.plan.ask_held import load_plan, plan_path
from humeval_power.studies.plan.files import amend_plan, parse_plan, read_plan, read_plan_file
from humeval_power.studies.plan.plan import ParameterSource, Plan, PredictedPower
from humeval_power.studies.plan.sealed_content import plan_to_json
from humeval_power.studies.power.formula import analytic_power
from humeval_power.study_counts import StudyCounts

CREATED, LATER, LATEST = (datetime.date(2025, 3, day) for day in (1, 9, 20))
COSTS = CostModel(
    price_per_rating=Decimal("0.12"),
    cost_per_worker=Decimal("2.5"),
    fee=PlatformFee("platform", share=Decimal("0.25"), date=datetime.date(2025, 1, 1), source="its page"),
)
NOT_SIMULATED = (math.nan, (math.nan, math.nan), 0)


PLAN = promised(
    Plan(
        question="Is the new summariser better — e.g. in Zürich?",
        systems=("old", "new"),
        effect=0.08,
        parameters=seven(0.6, 0.03, 0.05, 0.04, 0.08, 0.1, 0.2),
        source=ParameterSource("pilot", "parameters.json", "pilot.csv"),
        counts=StudyCounts(12, 40, 12),
        rule=DecisionRule(),
        target_power=0.8,
        predicted=PredictedPower(math.nan, 0.9, (0.88, 0.92), 2000),
        seed=7,
        scale=RatingScale.parse("1:5"),
        costs=COSTS,
        exclusions=("Workers who fail two attention checks.",),
    )
)
VARIANTS = {
    "all of it": PLAN,
    "no scale, no costs, no exclusions": replace(PLAN, scale=None, costs=None, cost=None, exclusions=()),
    "not simulated": replace(PLAN, predicted=PredictedPower(PLAN.predicted.analytic, *NOT_SIMULATED)),
    "four ratings per item": promised(
        replace(PLAN, counts=StudyCounts(12, 40, 4), max_ratings_per_worker=30)
    ),
    "unpaired": promised(replace(PLAN, counts=StudyCounts(12, 40, 3, paired=False))),
    "counterbalanced": promised(
        replace(PLAN, counts=StudyCounts(12, 40, 6), design_kind="counterbalanced")
    ),
    "one-sided, low is better": promised(
        replace(
            PLAN,
            rule=DecisionRule(alternative="greater", df="normal", alpha=0.025),
            scale=RatingScale(0.0, 100.0, points=None, higher_is_better=False, source="inferred"),
        )
    ),
    "continuous between whole numbers": promised(replace(PLAN, scale=RatingScale(1.0, 5.25, points=None))),
    "an eighth parameter": promised(
        replace(PLAN, parameters=replace(PLAN.parameters, sd_worker_item=0.07, coding=(0.0, 1.0)))
    ),
}
TEXT = plan_to_json(PLAN, created=CREATED)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path)


def written(folder: Path) -> Path:
    path = folder / "plan.json"
    path.write_text(TEXT, encoding="utf-8")
    return path


def edit(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the document as a person with an editor would: the checksum stays."""
    document = json.loads(path.read_text(encoding="utf-8"))
    change(document)
    path.write_text(json.dumps(document, indent=1), encoding="utf-8")


def put(path: str, value: object) -> Callable[[dict[str, Any]], object]:
    """An edit of one value, named by its path."""

    def change(document: dict[str, Any]) -> None:
        inner: Any = document
        *above, last = path.split(".")
        for name in above:
            inner = inner[int(name)] if isinstance(inner, list) else inner[name]
        inner[int(last) if isinstance(inner, list) else last] = value

    return change


def amended(path: Path, reason: str, date: datetime.date = LATER) -> Plan:
    plan, text = amend_plan(path, reason, date=date)
    path.write_text(text, encoding="utf-8")
    return plan


def leaves(values: Any, above: str = "") -> Iterator[tuple[str, Any]]:
    """Every value of a document with its path."""
    entries = values.items() if isinstance(values, dict) else enumerate(values)
    for name, value in entries:
        if isinstance(value, dict | list) and value:
            yield from leaves(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def problems(path: Path) -> list[str]:
    with pytest.raises(InputError) as caught:
        read_plan(path)
    assert all(str(problem).startswith(str(path)) for problem in caught.value.problems)
    return [str(problem) for problem in caught.value.problems]


def reseal(document: dict[str, Any]) -> None:
    """What a forger would do: seal the changed content with a new checksum."""
    content = {k: v for k, v in document.items() if k not in ("history", "checksum", "sealed")}
    canonical = json.dumps(
        {**content, "history": document["history"]},
        sort_keys=True,
        separators=(",", ":"),
        ensure_ascii=False,
    )
    document["sealed"] = content
    document["checksum"] = hashlib.sha256(canonical.encode()).hexdigest()


def assert_same(found: Plan, plan: Plan) -> None:
    """By their texts, because NaN is not equal to itself; prices by their value."""
    assert found.costs == plan.costs
    assert repr(replace(found, costs=None)) == repr(replace(plan, costs=None))


@each_case("plan", VARIANTS.values(), ids=VARIANTS)
def test_a_plan_comes_back_as_it_was_written(plan: Plan, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text(plan_to_json(plan, created=CREATED), encoding="utf-8")
    assert_same(read_plan(path), plan)
    assert read_plan_file(path).created == CREATED
    assert read_plan_file(path).history == ()


@pytest.mark.slow
@given(
    question=st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), min_size=1).filter(
        lambda text: re.search(r"\S", text) is not None and text.strip() != ""
    ),
    effect=st.floats(0.001, 1),
    seed=st.integers(0, 2**64),
    workers=st.integers(2, 30),
    items=st.integers(2, 300),
)
def test_any_question_effect_seed_and_size_comes_back(
    question: str, effect: float, seed: int, workers: int, items: int
) -> None:
    plan = promised(
        replace(
            PLAN,
            question=question,
            effect=effect,
            seed=seed,
            counts=StudyCounts(workers, items, workers),
        )
    )
    text = plan_to_json(plan, created=CREATED)
    assert parse_plan(text).plan == plan
    assert plan_to_json(plan, created=CREATED) == text


def test_the_document_says_both_scales_the_total_and_the_number_of_ratings() -> None:
    document = json.loads(TEXT)
    # 0.08 of the 4 points between 1 and 5; 2 systems x 12 workers x 40 items
    assert (document["study"]["effect"], document["promise"]["effect_raw"]) == (0.08, pytest.approx(0.32))
    assert document["design"]["n_ratings"] == 960
    # (960 x 0.12) x 1.25 + 12 x 2.5
    assert document["promise"]["cost"] == "174.00"
    assert document["promise"]["looks"] is None
    assert "looks" not in document["study"]
    assert document["created"] == "2025-03-01"
    assert document["versions"]["humeval-power"]


def test_the_checksum_is_that_of_the_canonical_json() -> None:
    document = json.loads(TEXT)
    stated = document["checksum"]
    reseal(document)
    assert document["checksum"] == stated


def test_another_layout_of_the_same_values_is_the_same_plan(file: Path) -> None:
    def shuffle(document: dict[str, Any]) -> None:
        for name in list(document)[::-1]:
            document[name] = document.pop(name)
        document["promise"]["interval"] = [0.88, 0.920]
        document["study"]["workers"] = 12.0
        document["study"]["cost_per_worker"] = "2.50"

    edit(file, shuffle)
    assert read_plan(file) == PLAN


CONTENT = {
    path: value
    for path, value in leaves(json.loads(TEXT))
    if not path.startswith(("history", "checksum", "sealed", "schema"))
}


def other(path: str, value: Any) -> Any:
    """A value that may stand there and is not the one that does."""
    special = {
        "study.scale": "1:7",
        "study.family": "binary",
        "study.link": "logit",
        "study.estimator": "ml",
        "study.df": "satterthwaite",
        "study.alternative": "greater",
        "study.analysis": "differences",
        "study.ratings_per_item": 11,
        "study.currency": "EUR",
        "study.fee.charged_per": "assignment",
        "study.fee.date": "2025-01-02",
        "source.scale": "inferred",
        "promise.cost": "1.00",
        "promise.n_simulations": 2001,
        "promise.interval.0": 0.5,
        "created": "2025-03-02",
    }
    if path in special:
        return special[path]
    if path.startswith("study.fee") and path.endswith(("share", "_assignment", "_worker")):
        return "0.5"
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + (1 if isinstance(value, int) else 0.01)
    return [] if value == [] else f"{value}x"


# These cannot be changed alone: a change makes the document contradict itself, which is said instead.
ENTANGLED = {
    "study.estimator",  # ML has no Kenward-Roger df
    "study.family",  # of categories, which the parameters do not give
    "study.fee.extra_share",  # needs extra_from
    "study.fee.minimum_per_assignment",  # only where fees are charged per assignment
    "study.paired",
    "promise.looks",
    "promise.exclusion",
    "promise.other_goals",
    "sensitivity",
}


@each_case("path", sorted(set(CONTENT) - ENTANGLED))
def test_a_value_changed_by_hand_is_refused_and_named(path: str, tmp_path: Path) -> None:
    file = written(tmp_path)
    edit(file, put(path, other(path, CONTENT[path])))
    (said,) = problems(file)
    whole = path.rsplit(".", 1)[0] if path.rsplit(".", 1)[-1].isdigit() else path
    whole = "versions" if path.startswith("versions") else whole
    assert said.startswith(f"{file}: was changed by hand after it was sealed: {whole}: ")
    assert "--amend" in said


@each_case("path", sorted(ENTANGLED))
def test_a_value_that_contradicts_others_is_refused(path: str, tmp_path: Path) -> None:
    file = written(tmp_path)
    value = {
        "study.paired": False,
        **{name: [0.5] for name in ENTANGLED if not name.startswith("study")},
    }.get(path)
    edit(file, put(path, other(path, CONTENT[path]) if value is None else value))
    assert problems(file)


def test_the_error_says_the_value_before_and_after(file: Path) -> None:
    edit(file, put("study.items", 30))
    edit(file, put("study.power", 0.7))
    (said,) = problems(file)
    assert "study.items: 40 -> 30; study.power: 0.8 -> 0.7." in said


@pytest.mark.parametrize(
    ("path", "value"), [("checksum", "0" * 64), ("sealed.study.items", 30), ("sealed.seed", 8)]
)
def test_a_changed_seal_is_refused_for_good(path: str, value: object, file: Path) -> None:
    edit(file, put(path, value))
    assert "Restore the file" in problems(file)[0]
    with pytest.raises(InputError, match="cannot be told what was planned"):
        amend_plan(file, "because", date=LATER)


def test_a_forged_power_is_found_by_computing_it_again(file: Path) -> None:
    edit(file, put("promise.analytic", 0.95))
    edit(file, reseal)
    (said,) = problems(file)
    assert "field 'promise.analytic': value 0.95" in said
    assert f"{PLAN.predicted.analytic!r}" in said


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("promise.effect_raw", 0.4),
        ("promise.cost", "1.00"),
        ("design.n_ratings", 5),
        ("design.assignment_seed", 3),
    ],
)
def test_other_forged_numbers_are_found_too(path: str, value: object, file: Path) -> None:
    edit(file, put(path, value))
    edit(file, reseal)
    assert f"field {path!r}" in problems(file)[0]


def test_impossible_values_are_told_all_at_once(file: Path) -> None:
    wrong = {
        "study.question": 7,
        "study.values.sd_worker_slope": -0.1,
        "study.workers": "twelve",
        "study.items": 40.5,
        "study.cost_per_worker": "dear",
        "study.fee.share": "-1",
        "study.scale": "5:1",
        "study.power": 1.2,
        "study.systems": ["old"],
        "promise.simulated": None,
        "source.ratings": 7,
        "created": "yesterday",
    }
    for path, value in wrong.items():
        edit(file, put(path, value))
    said = problems(file)
    whole = "\n".join(said)
    assert "field 'study.question': give a text in quotes; got 7." in whole
    assert "field 'study.values': field 'sd_worker_slope'" in whole.replace("column", "field")
    assert "field 'study.workers': give a whole number such as 20; got 'twelve'." in whole
    assert "field 'study.items': give a whole number such as 20; got 40.5." in whole
    assert "field 'study.cost_per_worker': give a number such as 0.12; got 'dear'." in whole
    assert "field 'study.fee': " in whole
    assert "field 'study.scale': A scale needs a lower and a larger upper bound; got 5:1." in whole
    assert "field 'study.power': 1.2 is not in the range 0<x<1." in whole
    assert "field 'study.systems': name two different systems or more" in whole
    assert "field 'promise': simulated, interval and n_simulations belong together" in whole
    assert "field 'source.ratings': value 7" in whole
    assert "field 'created': value 'yesterday': must be a valid date" in whole
    assert len(said) == len(wrong)


@each_case(
    ("path", "value", "said"),
    [
        ("study.question", " ", "field 'study.question': value ' ': must not be blank"),
        ("study.systems", ["new", "new "], "name two different systems"),
        ("study.systems", ["a", "b", "c"], "field 'study.systems'"),
        ("study.power", 0.01, "field 'study.power': The target power must lie between 0.025"),
        ("study.ratings_per_item", 13, "13 ratings per item and system need 13 different workers"),
        ("study.max_ratings_per_worker", 10, "This design gives a worker 80 ratings"),
        ("study.workers", 1, "workers"),
        ("study.items", 0, "field 'study.items'"),
        ("study.design", "split", "'split' is not one of"),
        ("study.design", "table", "'table' is not one of"),
        ("study.design", "counterbalanced", "must be 6 in a counterbalanced design"),
        ("study.paired", False, "need 24 different workers"),
        ("study.df", "bootstrap", "A bootstrap inside every simulated study would take hours"),
        ("study.df", "kenward", "'kenward' is not one of 'kenward-roger', 'satterthwaite'"),
        ("study.estimator", "ml", "df 'kenward-roger' is defined for REML fits"),
        ("study.values.coding", [1.0, 1.0], "two different numbers"),
        ("study.values.sd_residual", 0.0, "residual"),
        ("study.effect", 0, "must not be 0: no study can find that"),
        ("study.effect", 1.5, "field 'study.effect'"),
        ("study.currency", "dollars", "three capital letters"),
        ("study.lower_is_better", "yes", "give true or false"),
        ("promise.interval", [0.91, 0.92], "lies outside its own interval"),
        ("seed", True, "must be a whole number"),
        ("versions", {"numpy": 2}, "field 'versions.numpy': value 2: must be text in quotes"),
        ("history", [{"date": "2025-03-02"}], "field 'history.0.reason': is missing"),
    ],
)
def test_an_impossible_value_is_refused(path: str, value: object, said: str, tmp_path: Path) -> None:
    file = written(tmp_path)
    edit(file, put(path, value))
    assert said in "\n".join(problems(file))


@pytest.mark.parametrize("name", ["question", "systems", "values", "workers", "items", "ratings_per_item"])
def test_what_a_plan_cannot_do_without_is_asked_for(name: str, file: Path) -> None:
    edit(file, lambda document: document["study"].pop(name))
    assert f"field 'study.{name}': value None: is missing" in problems(file)[0]


def test_what_says_nothing_in_a_plan_is_refused(file: Path) -> None:
    edit(file, lambda document: document["study"].update(pilot="pilot.csv", lost=0.1))
    said = problems(file)
    assert [("study.pilot" in said[0]), ("study.lost" in said[1])] == [True, True]


def test_a_plan_too_large_to_be_laid_out_is_refused(file: Path) -> None:
    for name in ("workers", "items", "ratings_per_item"):
        edit(file, put(f"study.{name}", 100_000))
    assert "makes more than 20,000,000 ratings" in problems(file)[0]


def test_a_one_sided_plan_needs_a_positive_effect(file: Path) -> None:
    edit(file, put("study.alternative", "greater"))
    edit(file, put("study.effect", -0.08))
    assert "must be positive where only B better than A counts" in problems(file)[0]


def test_names_that_are_unknown_missing_or_there_twice_are_refused(file: Path) -> None:
    edit(file, put("budget", 600))
    edit(file, put("study.taxes", "0.1"))
    edit(file, put("study.fee.tax", "0.1"))
    edit(file, lambda document: document["design"].pop("kind"))
    said = problems(file)
    assert any("'budget': is not known; the names here are schema, study" in text for text in said)
    assert any("'study.taxes': is no field of a study." in text for text in said)
    assert any("'design.kind': is missing. Every field must be there." in text for text in said)
    file.write_text(TEXT, encoding="utf-8")
    edit(file, put("study.fee.tax", "0.1"))
    assert "'tax' is not known; the names are name, share" in problems(file)[0]
    file.write_text(TEXT.replace('  "seed": 7,', '  "seed": 7,\n  "seed": 7,', 1), encoding="utf-8")
    assert "has 'seed' twice" in problems(file)[0]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "is not JSON"),
        (b"[]", "has no schema"),
        (b'{"schema": "humeval_power/surface/1"}', "has the schema 'humeval_power/surface/1'"),
        (b'{"schema": "humeval_power/plan/9"}', "has the schema 'humeval_power/plan/9'"),
        (
            b'{"schema": "humeval_power/plan/1"}',
            "has the schema 'humeval_power/plan/1'; 'humeval_power/plan/4' is",
        ),
        (b'{"schema": "humeval_power/plan/3"}', "Write one with: humeval-power plan"),
        (b"\xff\xfe\x00", "not UTF-16"),
        (TEXT.replace('"seed": 7', '"seed": NaN').encode(), "has NaN, which is no number in JSON"),
        (
            TEXT.replace('"effect": 0.03', '"effect": 1e999').encode(),
            "a number larger than can be computed with",
        ),
        (TEXT.replace('"old",', '"\\ud800",').encode(), "is not Unicode"),
    ],
)
def test_what_is_no_plan_is_refused(content: bytes, said: str, file: Path) -> None:
    file.write_bytes(content)
    assert said in problems(file)[0]


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no file"):
        read_plan(tmp_path / "plan.json")


def test_a_plan_is_not_written_with_numbers_that_it_does_not_have() -> None:
    wrong = replace(PLAN, cost=Decimal("1.00"), predicted=replace(PLAN.predicted, analytic=0.5))
    with pytest.raises(InputError) as caught:
        plan_to_json(wrong, created=CREATED)
    assert [problem.column for problem in caught.value.problems] == ["promise.cost", "promise.analytic"]
    with pytest.raises(InputError, match=r"promise\.cost"):
        plan_to_json(replace(PLAN, cost=None), created=CREATED)


def test_an_amendment_is_appended_with_what_changed_and_why(file: Path) -> None:
    sealed = read_plan_file(file).checksum
    edit(file, put("study.workers", 8))
    edit(file, put("study.ratings_per_item", 8))
    plan = amended(file, "four workers\n left ")
    found = read_plan_file(file)
    assert found.plan.counts == StudyCounts(8, 40, 8)
    assert_same(found.plan, plan)
    (entry,) = found.history
    assert (entry.date, entry.reason, entry.checksum_before) == (LATER, "four workers left", sealed)
    assert [str(change) for change in entry.changes][:2] == [
        "study.workers: 12 -> 8",
        "study.ratings_per_item: 12 -> 8",
    ]
    assert "design.n_ratings: 960 -> 640" in map(str, entry.changes)
    assert found.created == CREATED
    assert found.checksum != sealed


def test_an_amendment_computes_power_and_cost_afresh_and_drops_the_simulation(file: Path) -> None:
    edit(file, put("study.effect", 0.06))
    edit(file, put("study.items", 30))
    plan = amended(file, "a smaller effect matters")
    expected = analytic_power(plan.parameters.with_difference(0.06), plan.design())
    assert plan.predicted.analytic == expected.power
    assert math.isnan(plan.predicted.simulated)
    assert plan.predicted.n_simulations == 0
    # (2 x 12 x 30 x 0.12) x 1.25 + 12 x 2.5
    assert plan.cost == Decimal("138.00")
    assert json.loads(file.read_text(encoding="utf-8"))["promise"]["effect_raw"] == pytest.approx(0.24)


def test_an_amendment_that_power_does_not_depend_on_keeps_the_simulation(file: Path) -> None:
    edit(file, put("study.exclusions", ["None."]))
    plan = amended(file, "the checks could not be built")
    assert plan.predicted == PLAN.predicted
    (entry,) = read_plan_file(file).history
    (change,) = entry.changes
    assert (change.path, change.old, change.new) == ("study.exclusions", list(PLAN.exclusions), ["None."])


def test_amendments_form_a_chain_back_to_the_first_plan(file: Path) -> None:
    checksums = [read_plan_file(file).checksum]
    prices = json.loads(TEXT)["study"].keys() & {one.name for one in fields(CostModel)} | {
        "cost_per_rating"
    }
    prices |= {"rejected", "checks", "repeats"}
    edits = [("power", 0.75), ("prices", None), ("scale", None), ("power", 0.8)]
    for path, value in edits:
        edit(file, (lambda document: [document["study"].pop(name) for name in prices]) if path == "prices"
             else put(f"study.{path}", value))  # fmt: skip
        if path == "scale":
            edit(file, put("promise.effect_raw", None))
            edit(file, put("study.lower_is_better", None))
        amended(file, f"changed {path}", LATEST)
        checksums.append(read_plan_file(file).checksum)
    found = read_plan_file(file)
    assert [entry.checksum_before for entry in found.history] == checksums[:-1]
    assert [entry.reason for entry in found.history] == [f"changed {path}" for path, _ in edits]
    assert len(set(checksums)) == len(checksums)
    assert found.plan == replace(PLAN, scale=None, costs=None, cost=None)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("history.0.reason", "another reason"),
        ("history.0.date", "2025-01-01"),
        ("history.0.checksum_before", "0" * 64),
        ("history.0.changes.0.old", 0.9),
        ("history", []),
    ],
)
def test_a_changed_history_is_refused_for_good(path: str, value: object, file: Path) -> None:
    edit(file, put("study.power", 0.75))
    amended(file, "a lower target")
    edit(file, put(path, value))
    assert "its history, its checksum or its sealed copy was changed" in problems(file)[0]
    with pytest.raises(InputError, match="`amend` cannot accept this"):
        amend_plan(file, "because", date=LATEST)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("history.0.checksum_before", "0" * 64),
        ("history.0.changes.0.old", 0.9),
        ("history.0.changes.0.new", 0.7),
        ("history.0.changes.0.path", "targets.power"),
    ],
)
def test_a_history_that_does_not_lead_to_the_plan_is_refused(path: str, value: object, file: Path) -> None:
    edit(file, put("study.power", 0.75))
    amended(file, "a lower target")
    edit(file, put(path, value))
    edit(file, reseal)
    assert "its history does not lead to this plan" in problems(file)[0]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("promise.simulated", 0.91),
        ("promise.analytic", 0.99),
        ("promise.n_simulations", 9000),
        ("promise.effect_raw", 0.4),
        ("promise.cost", "1.00"),
        ("design.n_ratings", 5),
        ("design.assignment_seed", 3),
        ("created", "2025-02-01"),
        ("versions", {}),
    ],
)
def test_what_is_computed_or_past_cannot_be_amended(path: str, value: object, file: Path) -> None:
    edit(file, put(path, value))
    edit(file, put("study.question", "Another?"))
    with pytest.raises(InputError) as caught:
        amend_plan(file, "it looks better", date=LATER)
    (problem,) = caught.value.problems
    assert problem.column == path
    assert "Put back" in problem.remedy


def test_an_amendment_needs_a_change_and_a_reason(file: Path) -> None:
    with pytest.raises(InputError, match="there is nothing to amend"):
        amend_plan(file, "because", date=LATER)
    edit(file, put("study.power", 0.75))
    with pytest.raises(InputError, match="needs a reason"):
        amend_plan(file, "  ", date=LATER)


def test_an_impossible_change_cannot_be_amended(file: Path) -> None:
    edit(file, put("study.power", 1.2))
    with pytest.raises(InputError, match=r"study\.power"):
        amend_plan(file, "because", date=LATER)


def test_a_power_from_another_version_can_be_accepted_with_a_reason(file: Path) -> None:
    edit(file, put("promise.analytic", 0.85))
    edit(file, put("versions.humeval-power", "0.0.1"))
    edit(file, reseal)
    assert '--amend "reason"' in problems(file)[0]
    plan = amended(file, "computed by a newer version")
    assert plan.predicted == PLAN.predicted
    assert read_plan(file) == PLAN


@pytest.mark.slow
def test_the_published_schema_is_what_the_models_give() -> None:
    script = ROOT / "docs" / "make_plan_schema.py"
    run = subprocess.run(
        [sys.executable, str(script), "--check"], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr


def test_the_published_schema_describes_every_name_of_a_plan() -> None:
    schema = json.loads((ROOT / "docs" / "plan.schema.json").read_text(encoding="utf-8"))
    document = json.loads(TEXT)
    assert set(schema["properties"]) == set(schema["required"]) == set(document)
    assert schema["additionalProperties"] is False
    assert schema["properties"]["schema"]["const"] == document["schema"]
    for name, section in (("design", "DesignSection"), ("promise", "PromiseSection")):
        assert set(schema["$defs"][section]["properties"]) == set(document[name])
    assert set(document["study"]) <= set(schema["$defs"]["Study"]["properties"])


def test_the_study_of_a_plan_is_read_as_that_of_any_record(file: Path) -> None:
    study = hp.Study.read(str(file))
    assert (study.workers, study.items, study.effect, study.power) == (12, 40, 0.08, 0.8)
    found = hp.power(study, method="analytic")
    assert found.content()["power"] == pytest.approx(PLAN.predicted.analytic, abs=1e-9)


@click.group(cls=LazyGroup)
def program() -> None:
    """A program with one command that follows a plan."""


@program.command("show")
@click.option("--plan", callback=plan_path)
@click.option("--amend")
def show(plan: str | None, amend: str | None) -> None:
    """Print the target power of the plan."""
    loaded = load_plan(plan, amend)
    click.echo("no plan" if loaded is None else f"target {loaded.target_power:g}")


def test_a_command_follows_a_plan_that_is_as_it_was_sealed(file: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(LazyGroup, "get_command", click.Group.get_command)
    run = CliRunner().invoke(program, ["show", "--plan", str(file)])
    assert (run.exit_code, run.stdout) == (0, "target 0.8\n"), run.output
    assert file.read_text(encoding="utf-8") == TEXT
    run = CliRunner().invoke(program, ["show"])
    assert run.stdout == "no plan\n"
    run = CliRunner().invoke(program, ["show", "--amend", "why"])
    assert run.exit_code == 2
    assert "--amend needs --plan PATH" in run.stderr


def test_a_command_refuses_a_changed_plan_until_it_is_amended(file: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(LazyGroup, "get_command", click.Group.get_command)
    file.with_suffix(".md").write_text("old page", encoding="utf-8")
    edit(file, put("study.items", 30))
    before = file.read_text(encoding="utf-8")
    run = CliRunner().invoke(program, ["show", "--plan", str(file)])
    assert run.exit_code == 2
    assert "study.items: 40 -> 30" in run.stderr
    assert run.stderr.startswith("Error:")
    assert file.read_text(encoding="utf-8") == before
    run = CliRunner().invoke(program, ["show", "--plan", str(file), "--amend", "ten items were wrong"])
    assert (run.exit_code, run.stdout) == (0, "target 0.8\n"), run.output
    said = " ".join(run.stderr.split())
    assert "It has not been simulated for the plan as it is now." in said
    assert "plan.md beside it still shows the plan before" in said
    (entry,) = read_plan_file(file).history
    assert (entry.date, entry.reason) == (datetime.date.today(), "ten items were wrong")
    assert sorted(path.name for path in file.parent.iterdir()) == ["plan.json", "plan.md"]

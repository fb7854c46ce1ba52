"""plan.json: what is written comes back, what was changed by hand is refused, amendments are added."""

from __future__ import annotations

import datetime
import hashlib
import json
import math
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
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

from humeval_power.costs import CostModel
from humeval_power.errors import InputError
from humeval_power.fees import PlatformFee
from humeval_power.inference.study.formula import analytic_power
from humeval_power.interfaces.cli.main import LazyGroup
from humeval_power.interfaces.cli.plan.options import amend_option, load_plan, plan_option
from humeval_power.interfaces.formats.plan.plan_file import (
    amend_plan,
    parse_plan,
    read_plan,
    read_plan_file,
)
from humeval_power.planning.plan.plan import ParameterSource, Plan, PredictedPower
from humeval_power.reporting.plan.sealed.sealing import plan_to_json
from humeval_power.rules import DecisionRule
from humeval_power.scales import RatingScale
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
    "unpaired": promised(replace(PLAN, counts=StudyCounts(12, 40, 3, paired=False), design_kind="split")),
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


@pytest.mark.parametrize("plan", VARIANTS.values(), ids=VARIANTS)
def test_a_plan_comes_back_as_it_was_written(plan: Plan, tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text(plan_to_json(plan, created=CREATED), encoding="utf-8")
    # repr, because NaN is not equal to itself
    assert repr(read_plan(path)) == repr(plan)
    assert read_plan_file(path).created == CREATED
    assert read_plan_file(path).history == ()


@pytest.mark.slow
@given(
    question=st.text(st.characters(exclude_categories=("Cs",)), min_size=1).filter(
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
    assert document["effect"] == {"difference": 0.08, "raw": pytest.approx(0.32)}
    assert document["design"]["n_ratings"] == 960
    # (960 x 0.12) x 1.25 + 12 x 2.5
    assert document["costs"]["total"] == "174.00"
    assert document["looks"] is None
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
        document["scale"]["low"] = 1  # a whole number for 1.0

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
        "rule.family": "binary",
        "rule.link": "logit",
        "rule.estimator": "ml",
        "rule.df": "satterthwaite",
        "rule.alternative": "greater",
        "rule.analysis": "differences",
        "rule.margin": 0.05,
        "scale.source": "inferred",
        "design.kind": "crossed",
        "design.paired": True,
        "design.n_repeats": 1,
        "design.n_documents": 2,
        "design.ratings_per_item": 11,
        "design.max_ratings_per_worker": 500,
        "costs.model.currency": "EUR",
        "costs.model.fee.charged_per": "assignment",
        "costs.total": "1.00",
        "predicted.n_simulations": 2001,
        "predicted.interval.0": 0.5,
        "created": "2025-03-02",
        "costs.model.fee.date": "2025-01-02",
    }
    if path in special:
        return special[path]
    amounts = ("_per_hour", "_per_rating", "_share", "_document", "_item", "_output")
    amounts += ("_worker", ".share", "_assignment")
    if path.startswith("costs") and path.endswith(amounts) and not isinstance(value, int):
        return "0.5"
    if path == "costs.model.fee.extra_from":
        return 10
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + (1 if isinstance(value, int) else 0.01)
    return [] if value == [] else f"{value}x"


# These cannot be changed alone: a change makes the document contradict itself, which is said instead.
ENTANGLED = {
    "rule.estimator",  # ML has no Kenward-Roger df
    "rule.family",  # of categories, which the parameters do not give
    "rule.margin",  # belongs to two of the alternatives
    "costs.model.pay_per_hour",  # and price_per_rating
    "costs.model.fee.extra_share",  # needs extra_from
    "costs.model.fee.extra_from",
    "costs.model.fee.minimum_per_assignment",  # only where fees are charged per assignment
    "design.paired",
    "design.n_repeats",
    "looks",
    "parameters.latent",  # and the others, which it says
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
        "design.paired": False,
        "design.n_repeats": 2,
        "looks": [0.5],
        "sensitivity": [0.5],
        "parameters.latent": [0.5],
    }.get(path)
    edit(file, put(path, other(path, CONTENT[path]) if value is None else value))
    assert problems(file)


def test_the_error_says_the_value_before_and_after(file: Path) -> None:
    edit(file, put("design.n_items", 30))
    edit(file, put("target_power", 0.7))
    (said,) = problems(file)
    assert "design.n_items: 40 -> 30; target_power: 0.8 -> 0.7." in said


@pytest.mark.parametrize(
    ("path", "value"), [("checksum", "0" * 64), ("sealed.design.n_items", 30), ("sealed.seed", 8)]
)
def test_a_changed_seal_is_refused_for_good(path: str, value: object, file: Path) -> None:
    edit(file, put(path, value))
    assert "Restore the file" in problems(file)[0]
    with pytest.raises(InputError, match="cannot be told what was planned"):
        amend_plan(file, "because", date=LATER)


def test_a_forged_power_is_found_by_computing_it_again(file: Path) -> None:
    edit(file, put("predicted.analytic", 0.95))
    edit(file, reseal)
    (said,) = problems(file)
    assert "field 'predicted.analytic': value 0.95" in said
    assert f"{PLAN.predicted.analytic!r}" in said


@pytest.mark.parametrize(
    ("path", "value"),
    [("effect.raw", 0.4), ("costs.total", "1.00"), ("design.n_ratings", 5), ("design.assignment_seed", 3)],
)
def test_other_forged_numbers_are_found_too(path: str, value: object, file: Path) -> None:
    edit(file, put(path, value))
    edit(file, reseal)
    assert f"field {path!r}" in problems(file)[0]


def test_impossible_values_are_told_all_at_once(file: Path) -> None:
    wrong = {
        "question": " ",
        "effect.difference": 1.5,
        "parameters.sd_worker_slope": -0.1,
        "design.n_workers": 1,
        "design.n_items": 40.5,
        "costs.model.cost_per_worker": 2.5,
        "costs.model.fee.share": "-1",
        "rule.estimator": "ml",
        "scale.high": 1.0,
        "target_power": 1.2,
        "predicted.simulated": None,
        "source.ratings": 7,
        "systems": ["old"],
        "looks": [0.5],
        "created": "yesterday",
    }
    for path, value in wrong.items():
        edit(file, put(path, value))
    said = problems(file)
    for path in ("question", "parameters.sd_worker_slope", "design.n_workers", "design.n_items"):
        assert any(f"field {path!r}" in text for text in said), path
    whole = "\n".join(said)
    assert "field 'question': value ' ': must not be blank." in whole
    assert "value -0.1: must be greater than or equal to 0." in whole
    assert "value 40.5: must be a whole number." in whole
    assert "value 2.5: must be text in quotes." in whole
    assert "value '-1': must be an amount written as text, such as \"0.12\"." in whole
    assert "field 'rule': df 'kenward-roger' is defined for REML fits" in whole
    assert "field 'scale': A scale needs a lower and a larger upper bound; got 1:1." in whole
    assert "field 'target_power': value 1.2: must be less than 1." in whole
    assert "field 'predicted': simulated, interval and n_simulations belong together" in whole
    assert "field 'source.ratings': value 7" in whole
    assert "field 'systems': must have at least 2 items" in whole
    assert "field 'looks'" in whole
    assert "field 'created': value 'yesterday': must be a valid date" in whole
    assert "field 'effect.difference': value 1.5: must be less than or equal to 1." in whole
    assert len(said) == len(wrong)


@each_case(
    ("path", "value", "said"),
    [
        ("systems", ["new", "new "], "must be different systems"),
        ("target_power", 0.01, "The target power must lie between 0.025"),
        ("design.ratings_per_item", 13, "13 ratings per item and system need 13 different workers"),
        ("design.max_ratings_per_worker", 10, "This design gives a worker 80 ratings"),
        ("design.kind", "split", "contradicts the counts"),
        ("design.kind", "k-per-item", "which make a crossed design"),
        ("design.paired", False, "need 24 different workers"),
        ("design.kind", "table", "cannot be planned from counts"),
        ("design.kind", "counterbalanced", "must be 6 in a counterbalanced design"),
        ("design.n_repeats", 2, "must be 1"),
        ("rule.df", "bootstrap", "A bootstrap inside every simulated study would take hours"),
        ("parameters.coding", [1.0, 1.0], "two different numbers"),
        ("parameters.sd_residual", 0.0, "must be greater than 0"),
        ("predicted.interval", [0.91, 0.92], "lies outside its own interval"),
        ("costs.model.price_per_rating", None, "nothing says what a rating costs"),
        ("costs.model.currency", "dollars", "three capital letters"),
        ("seed", True, "must be a whole number"),
        ("scale.higher_is_better", "yes", "must be true or false"),
        ("rule.df", "kenward", "must be 'kenward-roger', 'satterthwaite'"),
        ("versions", {"numpy": 2}, "field 'versions.numpy': value 2: must be text in quotes"),
        ("history", [{"date": "2025-03-02"}], "field 'history.0.reason': is missing"),
    ],
)
def test_an_impossible_value_is_refused(path: str, value: object, said: str, tmp_path: Path) -> None:
    file = written(tmp_path)
    edit(file, put(path, value))
    assert said in "\n".join(problems(file))


def test_a_plan_too_large_to_be_laid_out_is_refused(file: Path) -> None:
    for name in ("n_workers", "n_items", "ratings_per_item"):
        edit(file, put(f"design.{name}", 100_000))
    assert "makes more than 20,000,000 ratings" in problems(file)[0]


def test_a_one_sided_plan_needs_a_positive_effect(file: Path) -> None:
    edit(file, put("rule.alternative", "greater"))
    edit(file, put("effect.difference", -0.08))
    assert "must be positive where only B better than A counts" in problems(file)[0]


def test_names_that_are_unknown_missing_or_there_twice_are_refused(file: Path) -> None:
    edit(file, put("budget", 600))
    edit(file, put("costs.model.fee.tax", "0.1"))
    edit(file, lambda document: document["design"].pop("kind"))
    said = problems(file)
    assert any("'budget': is not known; the names here are schema, question" in text for text in said)
    assert any("'costs.model.fee.tax': is not known; the names here are name, share" in t for t in said)
    assert any("'design.kind': is missing. Every field must be there." in text for text in said)
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
            "has the schema 'humeval_power/plan/1'; 'humeval_power/plan/3' is",
        ),
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
    assert [problem.column for problem in caught.value.problems] == ["costs.total", "predicted.analytic"]
    with pytest.raises(InputError, match=r"costs\.total"):
        plan_to_json(replace(PLAN, cost=None), created=CREATED)


def test_an_amendment_is_appended_with_what_changed_and_why(file: Path) -> None:
    sealed = read_plan_file(file).checksum
    edit(file, put("design.n_workers", 8))
    edit(file, put("design.ratings_per_item", 8))
    plan = amended(file, "four workers\n left ")
    found = read_plan_file(file)
    assert found.plan.counts == StudyCounts(8, 40, 8)
    assert repr(found.plan) == repr(plan)
    (entry,) = found.history
    assert (entry.date, entry.reason, entry.checksum_before) == (LATER, "four workers left", sealed)
    assert [str(change) for change in entry.changes][:2] == [
        "design.n_workers: 12 -> 8",
        "design.ratings_per_item: 12 -> 8",
    ]
    assert "design.n_ratings: 960 -> 640" in map(str, entry.changes)
    assert found.created == CREATED
    assert found.checksum != sealed


def test_an_amendment_computes_power_and_cost_afresh_and_drops_the_simulation(file: Path) -> None:
    edit(file, put("effect.difference", 0.06))
    edit(file, put("design.n_items", 30))
    plan = amended(file, "a smaller effect matters")
    expected = analytic_power(plan.parameters.with_difference(0.06), plan.design())
    assert plan.predicted.analytic == expected.power
    assert math.isnan(plan.predicted.simulated)
    assert plan.predicted.n_simulations == 0
    # (2 x 12 x 30 x 0.12) x 1.25 + 12 x 2.5
    assert plan.cost == Decimal("138.00")
    assert json.loads(file.read_text(encoding="utf-8"))["effect"]["raw"] == pytest.approx(0.24)


def test_an_amendment_that_power_does_not_depend_on_keeps_the_simulation(file: Path) -> None:
    edit(file, put("exclusions", ["None."]))
    plan = amended(file, "the checks could not be built")
    assert plan.predicted == PLAN.predicted
    (entry,) = read_plan_file(file).history
    (change,) = entry.changes
    assert (change.path, change.old, change.new) == ("exclusions", list(PLAN.exclusions), ["None."])


def test_amendments_form_a_chain_back_to_the_first_plan(file: Path) -> None:
    checksums = [read_plan_file(file).checksum]
    edits = [("target_power", 0.75), ("costs", None), ("scale", None), ("target_power", 0.8)]
    for path, value in edits:
        edit(file, put(path, value))
        if path == "scale":
            edit(file, put("effect.raw", None))
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
    edit(file, put("target_power", 0.75))
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
    edit(file, put("target_power", 0.75))
    amended(file, "a lower target")
    edit(file, put(path, value))
    edit(file, reseal)
    assert "its history does not lead to this plan" in problems(file)[0]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("predicted.simulated", 0.91),
        ("predicted.analytic", 0.99),
        ("predicted.n_simulations", 9000),
        ("effect.raw", 0.4),
        ("costs.total", "1.00"),
        ("design.n_ratings", 5),
        ("design.assignment_seed", 3),
        ("created", "2025-02-01"),
        ("versions", {}),
    ],
)
def test_what_is_computed_or_past_cannot_be_amended(path: str, value: object, file: Path) -> None:
    edit(file, put(path, value))
    edit(file, put("question", "Another?"))
    with pytest.raises(InputError) as caught:
        amend_plan(file, "it looks better", date=LATER)
    (problem,) = caught.value.problems
    assert problem.column == path
    assert "Put back" in problem.remedy


def test_an_amendment_needs_a_change_and_a_reason(file: Path) -> None:
    with pytest.raises(InputError, match="there is nothing to amend"):
        amend_plan(file, "because", date=LATER)
    edit(file, put("target_power", 0.75))
    with pytest.raises(InputError, match="needs a reason"):
        amend_plan(file, "  ", date=LATER)


def test_an_impossible_change_cannot_be_amended(file: Path) -> None:
    edit(file, put("target_power", 1.2))
    with pytest.raises(InputError, match="target_power"):
        amend_plan(file, "because", date=LATER)


def test_a_power_from_another_version_can_be_accepted_with_a_reason(file: Path) -> None:
    edit(file, put("predicted.analytic", 0.85))
    edit(file, put("versions.humeval-power", "0.0.1"))
    edit(file, reseal)
    assert '--amend "reason"' in problems(file)[0]
    plan = amended(file, "computed by a newer version")
    assert plan.predicted == PLAN.predicted
    assert read_plan(file) == PLAN


def test_the_published_schema_is_what_the_models_give() -> None:
    script = ROOT / "docs" / "make_plan_schema.py"
    run = subprocess.run(
        [sys.executable, str(script), "--check"], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr


def test_the_published_schema_describes_every_name_of_a_plan() -> None:
    schema = json.loads((ROOT / "docs" / "plan.schema.json").read_text(encoding="utf-8"))
    document = json.loads(TEXT)
    assert (
        set(schema["properties"]) - {"many", "exclusion_rules"} == set(schema["required"]) == set(document)
    )
    assert schema["additionalProperties"] is False
    assert schema["properties"]["schema"]["const"] == document["schema"]
    for name, section in (("design", "DesignSection"), ("rule", "RuleSection")):
        described = set(schema["$defs"][section]["properties"])
        assert described - {"n_systems"} == set(document[name])  # which a plan of two systems leaves out


@click.group(cls=LazyGroup)
def program() -> None:
    """A program with one command that follows a plan."""


@program.command("show")
@plan_option
@amend_option
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
    edit(file, put("design.n_items", 30))
    before = file.read_text(encoding="utf-8")
    run = CliRunner().invoke(program, ["show", "--plan", str(file)])
    assert run.exit_code == 2
    assert "design.n_items: 40 -> 30" in run.stderr
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

"""A plan of four systems walked from its seal to its report, a look at a time."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import few_fast
from cli import run

from humeval_power.ratings import ratings_from_table
from humeval_power.rules import DEFAULT_RULE
from humeval_power.scales import RatingScale
from humeval_power.studies.fit.many_systems import fit_and_test
from humeval_power.studies.monitor.followed import data_of, over_looks, take
from humeval_power.studies.monitor.systems import systems_monitoring
from humeval_power.studies.plan.files import read_plan

MEANS = {"base": 0.45, "new": 0.58, "tiny": 0.45, "big": 0.75}
PLANNED = (
    *("plan", "--systems", ",".join(MEANS), "--preset", "typical", "--items", 40, "--workers", 15),
    *("--ratings-per-item", 15, "--effect", ".12", "--cost-per-rating", "0.1", "--looks", 3),
    *("--looks-by", "workers", "--efficacy", "lan-demets-pocock", "--scale", "1:5", "--simulations", 50),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The plan, its assignment, and the ratings by each look."""
    made = tmp_path_factory.mktemp("study")
    run(*PLANNED, "-o", made / "plan.json", code=None)
    run("assign", "--plan", made / "plan.json", "-o", made / "assign.csv")
    rows = pd.read_csv(made / "assign.csv").rename(columns={"worker_slot": "worker"})
    rng = np.random.default_rng(3)
    worker, item = (
        {(name, system): rng.normal(0, sd) for name in rows[column].unique() for system in MEANS}
        for column, sd in (("worker", 0.04), ("item", 0.12))
    )
    value = [
        MEANS[s] + worker[w, s] + item[i, s] + rng.normal(0, 0.15)
        for w, i, s in zip(rows.worker, rows.item, rows.system, strict=True)
    ]
    rows["rating"] = np.clip(np.round(1 + 4 * np.array(value)), 1, 5).astype(int)
    for look in (1, 2, 3):
        there = rows[rows.look <= look]
        there[["worker", "item", "system", "rating"]].to_csv(made / f"r{look}.csv", index=False)
    return made


def test_a_plan_of_several_systems_is_walked_to_its_report(folder: Path) -> None:
    plan = folder / "plan.json"
    before: set[tuple[str, str]] = set()
    for look in (1, 2, 3):
        record = json.loads(run("monitor", folder / f"r{look}.csv", "--plan", plan, "--json").stdout)
        assert record["look"]["number"] == look
        pairs = zip(record["look"]["data"]["pairs"], record["look"]["pairs"], strict=True)
        shown = {(data["first"], data["second"]) for data, pair in pairs if pair["shown_at"] is not None}
        assert before <= shown  # what was shown stays so
        before = shown
    assert record["decision"] == "end-some-shown"
    assert ("base", "tiny") not in before
    assert ("base", "big") in before
    again = run("monitor", folder / "r3.csv", "--plan", plan)
    assert "was taken before" in " ".join(again.stderr.split())
    refused = run("analyze", folder / "r2.csv", "--plan", plan, code=2)
    assert "not the ratings that the last look saw" in " ".join(refused.stderr.split())

    analysis = json.loads(run("analyze", folder / "r3.csv", "--plan", plan, "--json").stdout)
    significant = {(one["first"], one["second"]) for one in analysis["pairs"] if one["significant"]}
    assert {frozenset(pair) for pair in significant} == {frozenset(pair) for pair in before}
    assert analysis["deviations"] == []
    assert analysis["family_of_tests"]["n_looks"] == 3
    assert [look["number"] for look in analysis["looks"]["looks"]] == [1, 2, 3]

    (folder / "analysis.json").write_text(json.dumps(analysis))
    said = run("report", folder / "analysis.json", "--plan", plan, "--form", "paper").stdout
    assert "3 looks" in said
    osf = run("report", "--plan", plan, "--form", "osf").stdout
    assert "tested at 3 looks" in " ".join(osf.split())


def test_the_program_takes_the_looks_that_the_command_takes(folder: Path) -> None:
    plan = read_plan(folder / "plan.json")
    state = systems_monitoring(plan)
    for look in (1, 2, 3):
        table = pd.read_csv(folder / f"r{look}.csv")
        ratings = ratings_from_table(table, scale=RatingScale(1, 5), source="made up", require_pair=False)
        data = data_of(ratings, plan)
        state = take(state, data)  # type: ignore[assignment]
    found = over_looks(state)
    for one, shown in zip(found, state.shown_at, strict=True):
        assert (one.p_value <= plan.rule.alpha) == (shown is not None)
        assert one.interval[0] < one.estimate < one.interval[1]
    # repeated intervals at alpha / 6 are wider than single ones at 95 %
    data_pair = state.looks[-1].data.pairs[0]
    assert found[0].interval[1] - found[0].interval[0] > 2 * 1.96 * data_pair.standard_error


def test_a_plan_that_is_amended_has_its_levels_anew(folder: Path, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    text = (folder / "plan.json").read_text()
    plan.write_text(text.replace('"alpha": 0.05', '"alpha": 0.04'))
    run("power", "--plan", plan, "--method", "analytic", code=2)
    run("power", "--plan", plan, "--amend", "stricter", "--method", "analytic")
    before, after = (json.loads(one)["promise"]["looks"]["nominal"] for one in (text, plan.read_text()))
    assert all(now < then for now, then in zip(after, before, strict=True))


def test_other_systems_than_planned_are_refused_at_a_look(folder: Path, tmp_path: Path) -> None:
    table = pd.read_csv(folder / "r1.csv")
    table[table.system != "big"].to_csv(tmp_path / "r.csv", index=False)
    ledger = ("--ledger", tmp_path / "looks.jsonl")
    refused = run("monitor", tmp_path / "r.csv", "--plan", folder / "plan.json", *ledger, code=2)
    assert "the plan is of base, new, tiny, big" in " ".join(refused.stderr.split())


def test_two_that_are_counted_have_looks_as_two_systems() -> None:
    study = (
        *("looks", "study", "--preset", "low", "--workers", 12, "--items", 20, "--effect", ".1"),
        *("--looks-by", "workers", "--simulations", 50, "--json"),
    )
    plain, counted = (json.loads(run(*study, *more).stdout) for more in ((), ("--n-systems", 2)))
    for record in (plain, counted):
        record.pop("command")
    assert plain == counted


@few_fast("systems", [("--systems", "base,new"), ("--systems", "base,new,big")])
def test_a_plan_with_documents_is_followed_with_their_column(
    systems: tuple[str, ...], tmp_path: Path
) -> None:
    plan, assignment = tmp_path / "plan.json", tmp_path / "assignment.csv"
    run(
        *("plan", *systems, "--preset", "typical", "--items", 24, "--documents", 8, "--workers", 6),
        *("--ratings-per-item", 2, "--effect", ".2", "--cost-per-rating", "0.1", "--looks", 2),
        *("--scale", "1:5", "--simulations", 20, "-o", plan),
        code=None,
    )
    run("assign", "--plan", plan, "-o", assignment, "--key", tmp_path / "key.csv")
    drawn = tmp_path / "drawn.csv"
    rehearsal = ("--assignment", assignment, "--key", tmp_path / "key.csv", "-o", drawn)
    run("simulate", "--plan", plan, *rehearsal)
    look = (
        *("monitor", drawn, "--plan", plan, "--final", "--ledger", tmp_path / "looks.jsonl"),
        *("--systems", systems[1]) * (systems[1].count(",") == 1),
    )
    refused = run(*look, code=2)
    assert "--document COLUMN" in " ".join(refused.stderr.split())
    data = json.loads(run(*look, "--document", "document", "--json").stdout)["look"]["data"]
    table = ratings_from_table(
        pd.read_csv(drawn), document="document", scale=RatingScale(1, 5), require_pair=False
    )
    for one in data.get("pairs", [{"first": "base", "second": "new", **data}]):
        _, test = fit_and_test(table.pair(one["first"], one["second"]), DEFAULT_RULE)
        assert one["p_value"] == pytest.approx(test.p_value, abs=1e-6)
        assert one["df"] == pytest.approx(test.df, rel=1e-4)

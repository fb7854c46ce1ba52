"""`plan` of several systems and criteria from the command line, and the commands that follow such a plan."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import each_case
from cli import run

from humeval_power.studies.plan.files import read_plan

PRESET = ("--preset", "low", "--cost-per-rating", "0.1")
SMALL = ("--items", "30", "--workers", "6", "--ratings-per-item", "6", "--simulations", "20")


def done(*arguments: object, expect: int = 0) -> str:
    return run(*arguments, code=expect).stdout


@each_case(
    ("typed", "words"),
    [
        (("--effect", ".1", "--goal", "any"), "--goal is for several systems"),
        (("--effect", ".1", "--correction", "holm"), "--correction is for several systems"),
        (
            ("--effect", ".1", "--n-systems", "4", "--systems", "a,b,c"),
            "disagree: --n-systems 4, --systems 3",
        ),
        (("--effect", ".1", "--n-systems", "4", "--baseline", "Z"), "There is no system 'Z'"),
        (("--effect", ".1", "--n-systems", "4", "--correction", "bh"), "a test that a formula describes"),
        (
            ("--effect", ".1", "--n-systems", "4", "--documents", "5", "--model", "joint"),
            "no document effects",
        ),
        (
            ("--effect", ".1", "--n-systems", "4", "--assurance", ".8"),
            "how uncertain the variances of a pilot are",
        ),
        (("--observed-power", "--n-systems", "4"), "--observed-power needs a pilot"),
        (("--effect", "-.1", "--n-systems", "4"), "is above 0"),
        (("--system-means", ".5,.6", "--n-systems", "4"), "disagree: --n-systems 4, --system-means 2"),
        (("--system-means", ".5,.5,.5"), "these means are all equal"),
        (("--system-means", ".5,.6,1.5"), "means lie on [0, 1]"),
        (("--effect", ".1", "--n-systems", "4", "--system-means", ".1,.2,.3,.4"), "not both"),
        (("--effect", ".1", "--criteria", "a,a"), "name different criteria"),
        (("--effect", ".1", "--n-systems", "4", "--budget", "1"), "No design within a budget of 1"),
    ],
)
def test_what_does_not_go_together_is_refused_with_a_sentence(typed: tuple[str, ...], words: str) -> None:
    result = run("plan", *PRESET, *SMALL, *typed, code=2)
    assert words.lower() in " ".join(result.stderr.split()).lower()


def test_a_target_out_of_reach_ends_with_3_and_says_what_would_do() -> None:
    said = done("plan", *PRESET, *SMALL, "--n-systems", 4, "--effect", ".05", expect=3)
    assert "Not met" in said
    assert "What would do: a difference of" in " ".join(said.split())


def test_a_plan_is_followed_by_power_assign_analyze_and_no_monitor(tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    done(
        "plan", *PRESET, *SMALL, "--systems", "base,<b>new</b>,human", "--effect", ".25", "--criteria",
        "fluency,adequacy", "--baseline", "base", "--scale", "1:5", "-o", plan,
    )  # fmt: skip
    planned = read_plan(plan)
    assert planned.systems == ("base", "<b>new</b>", "human")
    assert planned.many is not None
    assert planned.many.n_tests == 4
    power = json.loads(done("power", "--plan", plan, "--method", "analytic", "--json"))
    assert json.dumps(power).count(f"{planned.predicted.analytic:.6f}"[:7]) > 0
    assigned = tmp_path / "assigned.csv"
    done("assign", "--plan", plan, "-o", assigned)
    shown = pd.read_csv(assigned).query("kind == 'rating'").rename(columns={"worker_slot": "worker"})
    assert set(shown.system) == set(planned.systems)
    rng = np.random.default_rng(3)
    tables = [
        shown[["worker", "item", "system"]].assign(criterion=name, rating=rng.integers(1, 6, len(shown)))
        for name in planned.criteria
    ]
    ratings = tmp_path / "ratings.csv"
    pd.concat(tables).to_csv(ratings, index=False)
    record = json.loads(done("analyze", ratings, "--plan", plan, "--json"))
    assert record["deviations"] == []
    assert [one["deviations"] for one in record["criteria"]] == [[], []]
    assert record["family_of_tests"]["n_tests"] == 4
    other = json.loads(
        done("analyze", ratings, "--plan", plan, "--json", "--all-pairs", "--criterion", "fluency")
    )
    assert {one["what"] for one in other["deviations"]} == {"comparisons", "criteria"}
    refused = run("monitor", ratings, "--plan", plan, code=2)
    assert "The plan has no looks" in " ".join(refused.stderr.split())


@each_case(
    ("typed", "words"),
    [
        (("--looks", "3", "--criteria", "a,b"), "Looks are taken on one criterion"),
        (("--looks", "3", "--goal", "first"), "needs no test"),
        (("--looks", "3", "--correction", "max-t", "--model", "joint"), "no known joint law"),
        (("--looks", "3", "--efficacy", "levels:.01,.02,.03"), "belong to one comparison"),
        (("--looks", "3", "--alternative", "equivalent", "--margin", ".2"), "not for a margin"),
        (("--safe", ".9"), "how uncertain the variances of a pilot are"),
        (("--assurance", ".9"), "how uncertain the variances of a pilot are"),
    ],
)
def test_what_looks_at_several_systems_cannot_be_is_refused_with_the_reason(
    typed: tuple[str, ...], words: str
) -> None:
    result = run("plan", *PRESET, *SMALL, "--n-systems", 3, "--effect", ".1", *typed, code=2)
    assert words.lower() in " ".join(result.stderr.split()).lower()


def test_margins_of_several_systems_are_planned_and_analysed(tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    done(
        "plan", *PRESET, *SMALL, "--systems", "base,new,small", "--baseline", "base", "--alternative",
        "non-inferior", "--margin", ".25", "--scale", "1:5", "-o", plan,
    )  # fmt: skip
    planned = read_plan(plan)
    assert planned.many is not None
    assert planned.rule.margin == 0.25
    # by another road: `power` of the same study by formula
    asked = ("--n-systems", 3, "--baseline", "A", "--alternative", "non-inferior", "--margin", ".25")
    counts = ("--workers", 6, "--items", 30)
    power = json.loads(done("power", "--preset", "low", *asked, *counts, "--method", "analytic", "--json"))
    assert planned.predicted.analytic == pytest.approx(power["power"], abs=1e-9)
    form = done("report", "--plan", plan, "--form", "osf")
    assert "said to be non-inferior" in " ".join(form.split())
    rng = np.random.default_rng(5)
    rows = [(w, i, s, rng.integers(2, 5)) for w in range(6) for i in range(30) for s in planned.systems]
    pd.DataFrame(rows, columns=["worker", "item", "system", "rating"]).to_csv(
        tmp_path / "r.csv", index=False
    )
    record = json.loads(done("analyze", tmp_path / "r.csv", "--plan", plan, "--json"))
    assert [one["corrected_p_value"] >= one["p_value"] for one in record["pairs"]] == [True, True]
    assert record["rule"]["margin"] == 0.25
    assert record["deviations"] == []

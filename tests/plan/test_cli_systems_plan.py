"""`plan` of several systems and criteria from the command line, and the commands that follow such a plan."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
from cases import each_case
from cli import run

from humeval_power.interfaces.formats.plan.plan_file import read_plan

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
    assert "What would do" in said


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
    assert "there are no looks to take" in " ".join(refused.stderr.split())

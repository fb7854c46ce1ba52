"""Judges in a study file: what a plan shows with them, what it seals, and what the estimate takes from it."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli import run, run_json
from scipy import stats

from humeval_power.comparisons.judge.budget import JudgePanel
from humeval_power.errors import InputError
from humeval_power.studies.plan.files import read_plan
from humeval_power.studies.plan.planned_systems import PlannedJudges, beside_judges
from humeval_power.study import Study

STUDY = """schema = "humeval_power/study/1"
[variation]
values = "sd_worker_slope=0.05,sd_item_slope=0.2,sd_residual=0.2"
[effect]
effect = 0.1
[search]
items_range = "80"
max_workers = 12
[judges]
judges = ["gpt", "claude"]
judge_correlation = [0.8, 0.7]
judges_between = 0.6
judge_runs = [1, 2]
judge_reliability = 0.8
judged_extra = 400
cost_per_score = [0.002, 0.001]
[cost]
cost_per_rating = 0.1
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(STUDY)
    return path


def test_a_plan_shows_the_study_with_judges_and_without(study: Path) -> None:
    found = run_json("plan", study, "--simulations", "50")
    alone, judged, fewer = found["judges"]["rows"]
    assert [alone[name] for name in ("workers", "items", "ratings")] == [
        judged[name] for name in ("workers", "items", "ratings")
    ]
    m, n, k = alone["workers"], alone["items"], alone["ratings"] // alone["items"] // 2
    # by hand: correlations of the means of runs, and the variance that they leave of items
    noise = np.diag([0.25, 0.25 / 2])
    with_truth, among = np.array([0.8, 0.7]), np.array([[1, 0.6], [0.6, 1]])
    r2 = float(with_truth @ np.linalg.solve(among + noise, with_truth))
    left = (1 - r2) * (1 + 2 / (n - 4) * 400 / (400 + n))
    whole = 0.05**2 / m + 0.2**2 * left / n + 2 * 0.2**2 / (n * k) + 0.2**2 * r2 / (400 + n)
    df = judged["half_width"] / np.sqrt(whole)  # t of the interval
    assert stats.t.ppf(0.975, n + m) < df < stats.t.ppf(0.975, m - 1)
    assert judged["power"] > alone["power"] + 0.02
    assert judged["judged"] == n + 400
    scores = 2 * (n + 400) * (0.002 + 2 * 0.001)
    assert float(judged["cost"]) == pytest.approx(float(alone["cost"]) + scores, abs=0.01)
    assert fewer["items"] < n
    assert fewer["power"] >= alone["power"]


def test_judges_are_sealed_and_read_back(study: Path, tmp_path: Path) -> None:
    run("plan", study, "--simulations", "50", "-o", tmp_path / "plan.json")
    plan = read_plan(tmp_path / "plan.json")
    assert plan.judges is not None
    assert plan.judges.names == ("gpt", "claude")
    assert plan.judges.runs == (1, 2)
    assert [name for name, _ in beside_judges(plan)][:2] == ["people alone", "with judges"]
    said = run("plan", study, "--simulations", "50").stdout
    assert "gpt (1 run), claude (2 runs), of 400 items beside" in " ".join(said.split())
    document = json.loads((tmp_path / "plan.json").read_text())
    document["study"]["judges"] = ["gpt", "other"]
    (tmp_path / "plan.json").write_text(json.dumps(document))
    with pytest.raises(InputError, match="changed by hand"):
        read_plan(tmp_path / "plan.json")


def rated(path: Path, columns: tuple[str, ...]) -> Path:
    rng = np.random.default_rng(5)
    truth = rng.normal(0, 0.6, 200)
    rows = []
    for system, sign in (("A", -1), ("B", 1)):
        for item in range(200):
            quality = sign * truth[item] / 2
            scores = {name: round(quality + rng.normal(0, 0.3), 3) for name in columns}
            for worker in ("w1", "w2", "w3") if item < 40 else ("",):
                human = round(quality + rng.normal(0, 0.3), 3) if worker else None
                rows.append({"item": item, "system": system, **scores, "worker": worker, "human": human})
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def test_the_estimate_takes_the_judges_of_the_plan_and_no_others(study: Path, tmp_path: Path) -> None:
    run("plan", study, "--simulations", "50", "-o", tmp_path / "plan.json")
    names = ("gpt", "claude", "spare")
    table = rated(tmp_path / "rated.csv", names)
    line = ("judge", "estimate", table, "--judge", ",".join(names))
    planned = run(*line, "--plan", tmp_path / "plan.json")
    said = " ".join((planned.stdout + planned.stderr).split())
    assert "Not in the plan, and not used: spare" in said
    assert "Of 'claude' the plan has 2 runs of an output; there are 1" in said
    two = ("judge", "estimate", table, "--judge", "gpt,claude")
    assert run_json(*line, "--plan", tmp_path / "plan.json")["judged"] == run_json(*two)["judged"]
    lacking = run("judge", "estimate", table, "--judge", "gpt", "--plan", tmp_path / "plan.json", code=2)
    assert "the plan has the judge 'claude'" in lacking.stderr
    people = run("analyze", table, "--rating", "human", "--plan", tmp_path / "plan.json", code=None)
    assert "'judge estimate --plan' takes the judges' scores too" in " ".join(people.stderr.split())


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--looks", "2"), "not with looks"),
        (("--n-systems", "3"), "several systems or criteria"),
        (("--judges", "gpt"), "need one reliability and one price"),
        (("--judges", "gpt", "--judge-correlation", "0.8"), "one price, or 1 of each"),
        (("--judge-correlation", "0.9,0.9", "--judges-between", "-0.9"), "so little, or so much"),
        (("--judges", "a,a"), "name different judges"),
    ],
)
def test_judges_that_cannot_be_planned_are_refused(study: Path, words: tuple[str, ...], why: str) -> None:
    refused = run("plan", study, "--simulations", "50", *words, code=2)
    assert why in " ".join(refused.stderr.split())


def test_what_is_missing_of_judges_is_named(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(
        STUDY.replace("judged_extra = 400\n", "").replace("judges = [", "# [")
    )
    refused = run("plan", tmp_path / "study.toml", code=2).stderr
    assert "judges" in refused
    assert "judged" in refused
    assert "a study with judges needs" in " ".join(refused.split())


def test_a_study_with_judges_comes_back_from_its_file(study: Path, tmp_path: Path) -> None:
    held = Study.read(str(study))
    (tmp_path / "again.toml").write_text(held.to_toml())
    assert Study.read(str(tmp_path / "again.toml")) == held


def test_without_a_correlation_with_each_other_several_judges_are_refused() -> None:
    with pytest.raises(InputError, match="correlation with each other"):
        PlannedJudges(("a", "b"), JudgePanel((0.8, 0.7), (1.0, 1.0), (0, 0)), (1, 1), 100)  # type: ignore[arg-type]

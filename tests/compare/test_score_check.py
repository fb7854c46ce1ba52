"""`check` of tables that no worker rated: what is in them, which columns look like clusters, what to ask next."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli import run, run_json
from places import ROOT

ANSWERS = pd.read_csv(ROOT / "data" / "answers.csv")


@pytest.fixture
def once(tmp_path: Path) -> Path:
    """One generation of the shipped answers, a row for each item and system, without a column of runs."""
    path = tmp_path / "once.csv"
    ANSWERS[ANSWERS["generation"] == 1].drop(columns="generation").to_csv(path, index=False)
    return path


@pytest.fixture
def wide(once: Path, tmp_path: Path) -> Path:
    path = tmp_path / "wide.csv"
    table = pd.read_csv(once).pivot_table(index=["item", "passage"], columns="system", values="correct")
    table.reset_index().to_csv(path, index=False)
    return path


@pytest.mark.parametrize("layout", ["once", "wide"])
def test_scores_of_systems_are_told_with_what_looks_like_clusters(
    layout: str, request: pytest.FixtureRequest
) -> None:
    record = run_json("check", request.getfixturevalue(layout))
    expected = ANSWERS[ANSWERS["generation"] == 1].groupby("system")["correct"].mean()
    assert record["schema"] == "humeval_power/score_check/1"
    assert {row["system"]: row["mean"] for row in record["rows"]} == pytest.approx(dict(expected))
    assert (record["n_items"], record["binary"]) == (120, True)
    (answer,) = record["independence"]
    assert "Column 'passage' puts the 120 items into 24 groups of up to 5" in answer["text"]


def test_the_command_that_follows_works(once: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(once.parent)
    printed = run("check", once.name).stdout
    (line,) = [
        line.strip() for line in printed.splitlines() if "humeval-power compare accuracy test" in line
    ]
    assert line.endswith("--cluster passage")
    assert "clusters (CR2)" in run(*line.split()[1:]).stdout


def test_metrics_of_a_long_table_each_have_their_rows(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = [(f"i{i}", s, *rng.normal(size=2).round(3)) for i in range(12) for s in ("A", "B", "C")]
    path = tmp_path / "metrics.csv"
    pd.DataFrame(rows, columns=["item", "system", "bleu", "comet"]).to_csv(path, index=False)
    record = run_json("check", path)
    assert [(row["metric"], row["system"]) for row in record["rows"]] == [
        (metric, system) for metric in ("bleu", "comet") for system in "ABC"
    ]
    assert "compare scores metrics.csv --score bleu --question mean" in run("check", path).stdout


def test_runs_are_told_with_clusters_too() -> None:
    record = run_json("check", ROOT / "data" / "answers.csv")
    assert (record["schema"], record["kind"]) == ("humeval_power/runs_check/1", "nested")
    assert "--cluster passage" in record["independence"][0]["text"]


def test_ratings_whose_workers_are_called_otherwise_are_still_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "who.csv"
    path.write_text("who,item,system,rating\na,1,A,2\nb,1,A,3\na,1,B,2\nb,1,B,4\n")
    assert "no column was found for: worker" in run("check", path, code=2).stderr


def test_what_the_user_names_is_a_rating_study(once: Path) -> None:
    assert "no column was found for: worker" in run("check", once, "--rating", "correct", code=2).stderr

"""Participants who withdraw: their rows go, the ledger of looks says so and goes on, and counts tell it."""

import json

import pandas as pd
import pytest
from seven import seven

from humeval_power.designs import crossed
from humeval_power.errors import InputError
from humeval_power.exports import withdraw_workers
from humeval_power.scales import RatingScale
from humeval_power.simulation.study import simulate
from humeval_power.studies.monitor.files import read_ledger
from tests.cli import run

TRUTH = seven(0.55, 0.02, 0.08, 0.05, 0.12, 0.1, 0.18)


def ratings(effect, *, seed):
    made = simulate(TRUTH.with_difference(effect), crossed(10, 30), seed=seed, response="likert", points=5)
    return made.to_frame(RatingScale(1, 5, points=5)).replace({"system": {"A": "old", "B": "new"}})


def first_items(table, n_items):
    return table[table["item"].isin(sorted(table["item"].unique())[:n_items])]


@pytest.fixture(scope="module")
def sealed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("plan")
    ratings(0.02, seed=1).to_csv(folder / "pilot.csv", index=False)
    words = "--scale 1:5:5 --systems old,new --effect 0.1 --items 30:30 --workers 10:10 --ratings-per-item 10:10"
    words += " --cost-per-rating 0.1 --looks 3 --futility p:0.5 --simulations 100 --date 2026-01-02 -q"
    run("plan", folder / "pilot.csv", *words.split(), "-o", folder / "plan.json", code=None)
    return (folder / "plan.json").read_text()


@pytest.fixture
def study(sealed, tmp_path):
    """A study after its first look: the folder, and all ratings that it will have."""
    (tmp_path / "plan.json").write_text(sealed)
    (tmp_path / "gone.txt").write_text("w03\n")
    table = ratings(0.06, seed=20)
    look(tmp_path, first_items(table, 10))
    return tmp_path, table


def look(folder, table, *words, code=0):
    table.to_csv(folder / "so_far.csv", index=False)
    return run("monitor", folder / "so_far.csv", "--plan", folder / "plan.json", "-q", *words, code=code)


def withdraw(folder, *words, code=0):
    start = ("collect", "withdraw", folder / "so_far.csv", "--withdrawn", folder / "gone.txt")
    return run(*start, "--plan", folder / "plan.json", *words, code=code)


def test_the_ledger_says_so_and_looks_go_on(study):
    folder, table = study
    without = table[table["worker"] != "w03"]
    said = " ".join(look(folder, first_items(without, 20), code=2).stderr.split())
    assert "20 ratings of an earlier look missing now" in said
    assert "humeval-power collect withdraw" in said
    first_items(table, 10).to_csv(folder / "so_far.csv", index=False)
    record = json.loads(withdraw(folder, "-o", folder / "left.csv", "--json").stdout)
    assert (record["n_withdrawn"], record["n_rows_gone"], record["n_workers"]) == (1, 20, 9)
    assert (record["n_planned"], record["n_seen"]) == (10, 20)
    left = pd.read_csv(folder / "left.csv")
    pd.testing.assert_frame_equal(left, first_items(without, 10).reset_index(drop=True), check_dtype=False)
    entries = read_ledger(str(folder / "plan.looks.jsonl"))
    assert [entry.kind for entry in entries] == ["start", "look", "withdrawal"]
    assert "w03" not in (folder / "plan.looks.jsonl").read_text()
    again = json.loads(look(folder, left, "--json").stdout)
    assert len(again["looks"]) == 1
    second = look(folder, first_items(without, 20), "--json")
    assert len(json.loads(second.stdout)["looks"]) == 2
    plain = run("monitor", "--status", "--plan", folder / "plan.json").stderr
    assert "1 participant withdrew after a look: 20 ratings that looks saw are gone." in " ".join(
        plain.split()
    )


def test_they_cannot_come_back(study):
    folder, table = study
    withdraw(folder, "-o", folder / "left.csv")
    said = " ".join(look(folder, first_items(table, 20), code=2).stderr.split())
    assert "20 ratings of participants who withdrew. Give the table without them." in said


def test_twice_adds_nothing(study):
    folder, _ = study
    withdraw(folder, "-o", folder / "left.csv")
    before = (folder / "plan.looks.jsonl").read_bytes()
    assert json.loads(withdraw(folder, "--json").stdout)["n_seen"] == 0
    assert (folder / "plan.looks.jsonl").read_bytes() == before


def test_the_analysis_says_so(study):
    folder, table = study
    withdraw(folder, "-o", folder / "left.csv")
    without = table[table["worker"] != "w03"]
    look(folder, first_items(without, 20))
    look(folder, without, "--final")
    record = json.loads(
        run("analyze", folder / "so_far.csv", "--plan", folder / "plan.json", "--json", code=None).stdout
    )
    assert "1 participant withdrew after a look" in json.dumps(record["deviations"])


def test_a_lost_secret_is_told(study):
    folder, _ = study
    (folder / "plan.looks.secret").unlink()
    assert "which ratings the looks saw cannot be told" in " ".join(withdraw(folder, code=2).stderr.split())


def test_without_a_plan_rows_go_and_nothing_else(tmp_path):
    rows = [
        {"rater": f"w{w}", "item": i, "system": s, "rating": 1 + (w + i) % 5, "note": "=1+1"}
        for w in range(3)
        for i in range(2)
        for s in "AB"
    ]
    pd.DataFrame(rows).to_csv(tmp_path / "ratings.csv", index=False)
    (tmp_path / "gone.txt").write_text("w1\n")
    start = ("collect", "withdraw", tmp_path / "ratings.csv", "--withdrawn", tmp_path / "gone.txt")
    said = run(*start, "-o", tmp_path / "left.csv")
    assert (tmp_path / "left.csv").read_text().count("w1,") == 0
    assert len((tmp_path / "left.csv").read_text().splitlines()) == 9
    assert "1 participant withdrew" in run(*start).stdout + said.stdout
    (tmp_path / "gone.txt").write_text("w9\nw1\n")
    assert "has no rows of 1 who withdrew: w9" in " ".join(run(*start, code=2).stderr.split())
    (tmp_path / "gone.txt").write_text("\n")
    assert "names nobody" in run(*start, code=2).stderr
    with pytest.raises(InputError, match="all workers withdrew"):
        withdraw_workers(pd.DataFrame(rows), ["w0", "w1", "w2"])

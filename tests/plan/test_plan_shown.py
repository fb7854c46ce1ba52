"""Attention checks and outputs shown once more: planned, paid, within the limit, and assigned as planned."""

import csv
import json
from collections import Counter
from decimal import Decimal

import pytest
from cases import few_fast

from humeval_power.costs import cost_of
from humeval_power.studies.plan.files import read_plan
from humeval_power.study_counts import share_of
from tests.cli import run, run_json

TWO = ("--preset", "high", "--effect", 0.3, "--items", "20", "--max-workers", 10, "--simulations", 20)
MANY = (*TWO, "--n-systems", 3)
PRICES = ("--cost-per-rating", "0.10", "--checks", "0.1", "--repeats", "0.2")


@few_fast("words", [TWO, MANY], ids=["two", "three"], fast=1)
def test_a_plan_pays_for_what_its_assignment_shows(tmp_path, words):
    folder, table = tmp_path / "plan", tmp_path / "assignment.csv"
    run("plan", *words, *PRICES, "-o", folder, code=None)
    document = json.loads((folder / "plan.json").read_text())
    assert (document["study"]["checks"], document["study"]["repeats"]) == (0.1, 0.2)
    plan = read_plan(folder / "plan.json")
    cost = cost_of(plan.design(), plan.costs)
    assert str(cost.total) == document["promise"]["cost"]
    assert cost.repeats >= cost.ratings * Decimal("0.2") > 0
    page = (folder / "index.html").read_text()
    assert f"{cost.repeats:,.2f}" in page
    assert "Outputs shown once more" in page
    record = json.loads((folder / "record.json").read_text())
    assert Decimal(record["chosen"]["cost_parts"]["repeats"]) == cost.repeats
    run("assign", "--plan", folder / "plan.json", "-o", table)
    with table.open(newline="") as file:
        kinds = [row["kind"] for row in csv.DictReader(file)]
    loads = plan.design().worker_loads
    assert kinds.count("rating") == plan.design().n_ratings
    assert kinds.count("check") == share_of(0.1, loads).sum()
    assert kinds.count("repeat") == share_of(0.2, loads).sum()
    least, most = share_of(0.2, loads).min(), share_of(0.2, loads).max()
    said = f"{least}" if least == most else f"{least} to {most}"
    assert f'Outputs once more for each worker</td><td class="number">{said}<' in page


def test_what_is_typed_for_an_assignment_stands_above_the_plan(tmp_path):
    path = tmp_path / "plan.json"
    run("plan", *TWO, *PRICES, "-o", path, code=None)
    record = run_json("assign", "--plan", path, "--checks", 0, "--repeats", 0)
    assert {row["kind"] for row in record["rows"]} == {"rating"}


@pytest.mark.parametrize("words", [TWO, MANY], ids=["two", "three"])
def test_the_limit_of_a_worker_counts_all_that_is_shown(tmp_path, words):
    path, table = tmp_path / "plan.json", tmp_path / "assignment.csv"
    run("plan", *words, *PRICES, "--max-ratings-per-worker", 30, "-o", path, code=None)
    run("assign", "--plan", path, "-o", table)
    with table.open(newline="") as file:
        shown = Counter(row["worker_slot"] for row in csv.DictReader(file))
    assert max(shown.values()) <= 30


def test_a_limit_that_leaves_no_room_for_checks_and_repeats_says_so():
    words = ("--max-ratings-per-worker", 9, "--max-workers", 5, "--ratings-per-item", 1)
    assert "be shown 11 texts with checks and repeats" in " ".join(
        run("plan", *TWO, *PRICES, *words, code=2).stderr.split()
    )


@pytest.mark.parametrize("name", ["checks", "repeats"])
def test_more_than_an_assignment_can_show_is_refused_before_the_plan_is_made(tmp_path, name):
    told = run("plan", *TWO, *PRICES, f"--{name}", 0.4, "-o", tmp_path / "plan.json", code=2)
    assert f"at most 0.3 {name} for each rating; the plan has 0.4" in " ".join(told.stderr.split())
    assert not list(tmp_path.iterdir())

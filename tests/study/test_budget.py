"""The smallest budget: the cheapest of all numbers of workers, each with the fewest items that it needs."""

from decimal import Decimal

import pytest
from cases import few_fast
from cli import run, run_json
from seven import seven

import humeval_power as hp
from humeval_power.costs import CostModel, cost_of
from humeval_power.errors import InputError

ABOUT = seven(0.5, 0.1, 0.1, 0.08, 0.12, 0.1, 0.18)
MOST = 40


@few_fast(
    "per_item, per_worker",
    [(None, "0"), (1, "3"), (3, "25"), (1, "0"), (1, "25"), (3, "0"), (3, "3"), (None, "3"), (None, "25")],
    fast=1,
)
def test_no_other_number_of_workers_is_cheaper_by_more_than_an_item(per_item, per_worker) -> None:
    costs = CostModel(price_per_rating=Decimal("0.12"), cost_per_worker=Decimal(per_worker))
    how = {"ratings_per_item": per_item, "method": "analytic", "effect": 0.1}
    found = hp.size(ABOUT, "budget", costs=costs, max_workers=MOST, **how)
    cheapest = None
    for workers in range(max(2, per_item or 2), MOST + 1):
        counts = hp.size(ABOUT, "items", workers=workers, **how).found.counts
        each = 2 * counts.n_items * counts.ratings_per_item / workers if counts is not None else 0
        if each >= (20 if per_worker == "0" else 1):  # else a worker would have too little to rate
            total = cost_of(counts, costs).total
            cheapest = total if cheapest is None else min(cheapest, total)
    assert found.priced.total == cost_of(found.found.counts, costs).total
    an_item = Decimal("0.12") * 2 * (per_item or found.found.counts.n_workers)
    assert cheapest <= found.priced.total <= cheapest + an_item


def test_a_budget_without_prices_or_workers_enough_is_refused() -> None:
    with pytest.raises(InputError, match="needs prices"):
        hp.size(ABOUT, "budget", effect=0.1)
    costs = CostModel(price_per_rating=Decimal("0.12"))
    with pytest.raises(InputError, match="An item needs 9 workers"):
        hp.size(ABOUT, "budget", ratings_per_item=9, costs=costs, max_workers=8, effect=0.1)
    assert "--cost-per-rating" in run(
        *["size", "--preset", "high", "--effect", "0.1", "--find", "budget", "--method", "analytic"], code=2
    ).stderr.replace("\n", " ")


def test_of_several_systems_the_budget_pays_for_their_goal() -> None:
    words = "--preset typical --effect 0.3 --n-systems 3 --ratings-per-item 2 --method analytic"
    words += " --cost-per-rating 0.1"
    found = run_json("size", *words.split(), "--find", "budget", "--max-workers", "12")
    assert found["reached"]
    assert found["cost"] == pytest.approx(0.1 * 3 * 2 * found["items"])


def test_where_no_budget_will_do_it_is_said() -> None:
    words = "--preset high --effect 0.01 --ratings-per-item 1 --method analytic --cost-per-rating 0.1"
    words += " --max-workers 3"
    answer = " ".join(run("size", *words.split(), "--find", "budget", code=3).stdout.split())
    assert "No budget will do: with at most 3 workers no number of items will do" in answer
    assert "At least 3,801 workers" in answer


def test_what_a_budget_pays_for_is_not_also_given() -> None:
    words = "--preset high --effect 0.1 --cost-per-rating 0.1 --workers 20 --items 50"
    said = " ".join(run("size", *words.split(), "--find", "budget", code=2).stderr.split())
    assert "--workers" in said
    assert "is what a budget pays for" in said


def test_as_many_items_as_all_workers_have_work_for_are_the_fewest() -> None:
    found = hp.size(ABOUT, "items", workers=30, ratings_per_item=1, method="analytic", effect=0.5)
    assert found.found.counts.n_items == 30

"""How many human labels: the search against a slow one, the proof against the formula, the command."""

from decimal import Decimal

import pytest
from cases import each_case
from cli import run, run_json

from humeval_power.comparisons.judge.plan import (
    JudgeRequest,
    judged_study,
    option_of,
    search_plan,
    simulate_judged,
    with_judge,
)
from humeval_power.costs import CostModel
from humeval_power.designs import k_per_item
from humeval_power.errors import InputError
from humeval_power.parameters import preset
from humeval_power.studies.power.formula import analytic_power
from humeval_power.studies.power.required import design_of
from humeval_power.study_counts import StudyCounts

PRICES = CostModel(price_per_rating=Decimal("0.10"), cost_per_worker=Decimal(5))


def asked(**changes: object) -> JudgeRequest:
    """A plan of at most 8 workers and two ratings of an item."""
    options: dict = {
        "parameters": preset("low").with_difference(0.12),
        "correlation": 0.8,
        "extra": 600,
        "costs": PRICES,
        "workers": (6, 8),
        "most_ratings": 2,
        "price_per_score": Decimal("0.002"),
    }
    return JudgeRequest(**{**options, **changes})


@pytest.mark.slow
def test_the_search_finds_what_trying_every_size_finds() -> None:
    request = asked()
    found = search_plan(request)
    assert found.judged is not None
    cheapest = min(
        (
            option_of(request, StudyCounts(m, n, k), extra)
            for m in (6, 7, 8)
            for k in (1, 2)
            for n in range(8, 200)
            for extra in (600, 300, 150, 75)
            if option_of(request, StudyCounts(m, n, k), extra).power.power >= 0.8
        ),
        key=lambda one: one.total,
    )
    assert found.judged.total == cheapest.total
    assert found.judged.power.power >= 0.8
    assert found.by_workers[-1].counts.n_workers == 8


def test_power_and_price_are_those_of_the_study() -> None:
    request = asked()
    option = option_of(request, StudyCounts(8, 40, 2), 600)
    helped = with_judge(request.parameters, correlation=0.8, n_items=40, extra=600)
    expected = analytic_power(helped, k_per_item(8, 40, ratings_per_item=2))
    assert option.power.power == pytest.approx(expected.power, abs=0.005)  # df of regular designs
    assert option.price == Decimal("56.00")  # 160 ratings and 8 workers
    assert option.judge_price == Decimal("2.56")  # 640 items under two systems


def test_without_a_judge_it_is_the_study_alone() -> None:
    found = search_plan(asked(correlation=0.0))
    assert found.judged is None
    assert found.alone is not None
    assert found.alone.extra == 0
    counts = found.alone.counts
    power = judged_study(
        asked().parameters,
        n_workers=counts.n_workers,
        n_items=counts.n_items,
        ratings_per_item=counts.ratings_per_item,
        correlation=0.0,
        extra=0,
    ).alone.power
    assert power == pytest.approx(0.8, abs=0.02)


def test_no_study_within_the_limits_is_said() -> None:
    found = search_plan(asked(parameters=preset("high").with_difference(0.01)))
    assert (found.judged, found.alone, found.saving, found.by_workers) == (None, None, None, ())


def test_workers_are_not_asked_for_more_than_they_can_rate() -> None:
    found = search_plan(asked(most_per_worker=30))
    for option in found.by_workers:
        assert option.n_labels <= 30 * option.counts.n_workers


@each_case(
    "change",
    [
        {"parameters": preset("low").with_difference(0.0)},
        {"target": 1.0},
        {"workers": (1, 5)},
        {"workers": (9, 8)},
        {"correlation": 1.2},
        {"price_per_score": Decimal(-1)},
        {"most_ratings": 0},
    ],
)
def test_impossible_plans_are_refused(change: dict) -> None:
    with pytest.raises(InputError):
        asked(**change)


@pytest.mark.long
@pytest.mark.slow
def test_simulated_studies_have_the_planned_power() -> None:
    request = asked()
    found = search_plan(request)
    assert found.judged is not None
    proof = simulate_judged(
        request.parameters,
        design_of(found.judged.counts),
        correlation=0.8,
        extra=found.judged.extra,
        n_simulations=500,
        seed=3,
    )
    low, high = proof.interval(0.05)
    assert low <= found.judged.power.power <= high
    assert proof.n_failed == 0
    without = simulate_judged(
        request.parameters.with_difference(0.0),
        design_of(found.judged.counts),
        correlation=0.8,
        extra=found.judged.extra,
        n_simulations=500,
        seed=4,
    )
    assert (without.p_values <= 0.05).mean() == pytest.approx(0.05, abs=0.035)


COMMAND = (
    *("judge", "plan", "--preset", "low", "--effect", "0.12", "--max-extra", "600", "--correlation", "0.8"),
    *("--cost-per-rating", "0.10", "--cost-per-worker", "5", "--cost-per-score", "0.002"),
    *("--min-workers", "6", "--max-workers", "8", "--max-ratings-per-item", "2"),
)


def test_the_command_tells_labels_workers_price_and_proof() -> None:
    record = run_json(*COMMAND, "--simulations", "10", "--seed", "2")
    expected = search_plan(asked())
    assert expected.judged is not None
    assert record["judged"]["labels"] == expected.judged.n_labels
    assert record["judged"]["cost"] == str(expected.judged.total)
    assert record["simulated"]["n_simulations"] == 10
    assert len(record["rows"]) == len(expected.by_workers)


def test_a_power_out_of_reach_ends_with_3() -> None:
    run(*COMMAND[:4], "--effect", "0.001", *COMMAND[6:], code=3)


def test_a_plan_needs_the_price_of_a_rating() -> None:
    found = run(*COMMAND[:10], code=2)
    assert "--cost-per-rating" in found.stderr

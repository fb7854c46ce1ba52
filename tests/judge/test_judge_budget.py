"""What a budget buys: the closed form's golden values, the search beside it, several judges, the proof, the
command."""

import math
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from cases import each_case, few_fast
from cli import refusal_of, run, run_json, text_of

from humeval_power.comparisons.judge.budget import (
    BudgetRequest,
    JudgePanel,
    UnitPrices,
    closed_form,
    option_of,
    search_budget,
)
from humeval_power.comparisons.judge.plan import simulate_judged
from humeval_power.costs import CostModel
from humeval_power.errors import InputError
from humeval_power.parameters import preset
from humeval_power.studies.power.required import design_of
from humeval_power.study_counts import StudyCounts

SMALL = replace(
    preset("low").recoded(), sd_worker_slope=0.05, sd_item_slope=0.14, sd_residual=0.26, effect=0.06
)
ONE = JudgePanel((math.sqrt(0.8),), (0.7,), (Decimal("0.002"),))


def asked(worker: str, item: str, pair: str, judged: str, budget: int, **changes: object) -> BudgetRequest:
    """Prices of a rater, an item, a pair of ratings, an item judged once under both systems."""
    half = Decimal(pair) / 2
    costs = CostModel(price_per_rating=half, cost_per_worker=Decimal(worker), cost_per_item=Decimal(item))
    panel = JudgePanel((math.sqrt(0.8),), (0.7,), (Decimal(judged) / 2,))
    options: dict = {"extra": 10**6, "workers": (2, 30)}
    return BudgetRequest(SMALL, panel, Decimal(budget), costs, **{**options, **changes})


@pytest.mark.parametrize(
    ("prices", "runs", "error", "sizes"),
    [
        (("5", ".2", ".4", ".004", 400), 2, 0.01955, (23, 187, 595, 1299)),
        (("20", ".2", ".4", ".02", 1000), 1, 0.0162, None),
    ],
)
def test_the_closed_form_has_the_golden_values_and_the_search_comes_near(
    prices: tuple, runs: int, error: float, sizes: tuple | None
) -> None:
    request = asked(*prices)
    found = search_budget(request)
    assert found.judged is not None
    assert found.closed is not None
    assert found.judged.runs == (runs,)
    assert found.closed.standard_error == pytest.approx(error, abs=6e-6 if sizes else 6e-5)
    if sizes is not None:
        closed = found.closed
        assert [closed.workers, closed.items, closed.pairs, closed.judged] == pytest.approx(sizes, abs=0.6)
    assert found.judged.total <= request.budget
    # power, not the standard error, is searched for; whole numbers cost little
    assert (found.judged.power.precision.standard_error / found.closed.standard_error) ** 2 < 1.01
    assert found.alone is not None
    assert found.alone.power.power < found.judged.power.power


def test_no_other_split_of_the_budget_has_less_variance_than_the_closed_form() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        variances = tuple(rng.uniform(0.002, 0.05, 3))
        prices, judged = UnitPrices(*rng.uniform(0.1, 10, 3)), float(rng.uniform(0.001, 0.1))
        r_squared = float(rng.uniform(0.1, 0.9))
        closed = closed_form(variances, r_squared, prices, judged, 500.0)
        sizes = np.array([closed.workers, closed.items, closed.pairs, closed.judged])
        prices_of = np.array([prices.worker, prices.item, prices.pair, judged])
        parts = np.array(
            [variances[0], variances[1] * (1 - r_squared), variances[2], variances[1] * r_squared]
        )
        assert sizes @ prices_of == pytest.approx(500)
        assert np.sum(parts / sizes) == pytest.approx(closed.standard_error**2, rel=1e-9)
        spent = sizes * prices_of / 500 * np.exp(0.05 * rng.standard_normal((500, 4)))
        others = 500 * spent / spent.sum(axis=1, keepdims=True) / prices_of
        allowed = others[:, 2] >= others[:, 1]  # at least one rating of each item
        assert (np.sum(parts / others[allowed], axis=1) >= closed.standard_error**2 * (1 - 1e-9)).all()


@few_fast(("seed", "n_requests"), [(3, 1), (2, 20)])
def test_the_search_is_within_a_hundredth_of_the_closed_form(seed: int, n_requests: int) -> None:
    rng, n_compared = np.random.default_rng(seed), 0
    for _ in range(n_requests):
        item, pair = (f"{value:.2f}" for value in rng.uniform(0.1, 1.0, 2))
        judged, worker = f"{rng.uniform(0.002, 0.05):.4f}", f"{rng.uniform(1, 10):.2f}"
        prices = (worker, item, pair, judged, int(rng.integers(600, 1500)))
        near = search_budget(asked(*prices, workers=(40, 40))).closed  # for these runs; it knows no limit
        if near is None or near.workers > 60:
            continue  # most are: the search of all sizes takes half a second
        found = search_budget(asked(*prices, workers=(2, 60)))
        assert found.closed is not None
        if found.closed.workers > 55:
            continue
        n_compared += 1
        # of all that was searched one is as precise, whether or not it has the most power
        best = min(option.power.precision.variance for option in found.by_workers)
        assert best / found.closed.standard_error**2 < 1.01
    assert n_compared


def test_a_limit_of_ratings_leaves_the_largest_study_that_keeps_to_it() -> None:
    request = asked("1", ".2", ".4", ".004", 4000, workers=(6, 6), most_per_worker=100, most_ratings=3)
    found = search_budget(request)
    for option in (found.judged, found.alone):
        assert option is not None
        counts = option.counts
        assert 2 * counts.n_items * counts.ratings_per_item == 6 * 100


def test_explained_shares_follow_from_correlations_and_runs() -> None:
    # Spearman and Brown: R^2 of r runs is R^2 of endless ones times r rel / (1 + (r - 1) rel)
    for runs in (1, 2, 5):
        assert ONE.r_squared((runs,)) == pytest.approx(0.8 * runs * 0.7 / (1 + (runs - 1) * 0.7), rel=1e-12)
    two = JudgePanel((0.7, 0.7), (1.0, 1.0), (Decimal(0), Decimal(0)), between=0.6)
    assert two.r_squared((1, 1)) == pytest.approx(2 * 0.49 / 1.6, rel=1e-12)
    assert two.r_squared((1, 0)) == pytest.approx(0.49, rel=1e-12)
    assert two.r_squared((0, 0)) == 0


def test_drawn_judges_go_with_the_truth_and_each_other_as_said() -> None:
    panel = JudgePanel((0.8, 0.6), (0.7, 0.9), (Decimal(0), Decimal(0)), between=0.5)
    rng = np.random.default_rng(3)
    truth = rng.standard_normal(200_000)
    scores = panel.scores(truth, (2, 1), rng)
    spread = 1 + np.array([(1 - 0.7) / 0.7 / 2, (1 - 0.9) / 0.9])
    assert scores.var(axis=0) == pytest.approx(spread, rel=0.02)
    with_truth = [np.corrcoef(truth, column)[0, 1] for column in scores.T]
    assert with_truth == pytest.approx(np.array([0.8, 0.6]) / np.sqrt(spread), abs=0.01)
    assert np.cov(scores.T)[0, 1] == pytest.approx(0.5, abs=0.02)
    fit = np.linalg.lstsq(np.column_stack([np.ones(len(truth)), scores]), truth, rcond=None)[0]
    left = np.var(truth - np.column_stack([np.ones(len(truth)), scores]) @ fit)
    assert 1 - left == pytest.approx(panel.r_squared((2, 1)), abs=0.01)


@each_case(
    "change",
    [
        {"correlations": (1.2,)},
        {"reliabilities": (0.0,)},
        {"prices": (Decimal(0), Decimal(0))},
        {
            "correlations": (0.9, 0.9),
            "reliabilities": (1.0, 1.0),
            "prices": (Decimal(0),) * 2,
            "between": -0.9,
        },
        {"correlations": (0.5,) * 5, "reliabilities": (1.0,) * 5, "prices": (Decimal(0),) * 5},
    ],
)
def test_impossible_judges_are_refused(change: dict) -> None:
    usual: dict = {"correlations": (0.8,), "reliabilities": (1.0,), "prices": (Decimal(0),), "between": 0.0}
    with pytest.raises(InputError):
        JudgePanel(**{**usual, **change})


@pytest.mark.slow
@pytest.mark.parametrize(("workers", "items", "judged"), [(3, 100, 1000), (5, 100, 1000), (10, 60, 1060)])
def test_power_by_formula_is_that_of_simulated_studies(workers: int, items: int, judged: int) -> None:
    panel = JudgePanel((0.75, 0.65), (0.8, 1.0), (Decimal(0),) * 2, between=0.5)
    parameters = replace(SMALL, effect=0.1, sd_worker_slope=0.06)
    costs = CostModel(price_per_rating=Decimal(1))
    request = BudgetRequest(parameters, panel, Decimal(10**6), costs, 10**6)
    counts = StudyCounts(workers, items, workers)
    planned = option_of(request, counts, judged, (2, 1))
    proof = simulate_judged(
        parameters,
        design_of(counts),
        correlation=0.0,
        extra=judged - items,
        n_simulations=400,
        seed=5,
        scores=lambda truth, rng: panel.scores(truth, (2, 1), rng),
    )
    low, high = proof.interval(0.05)
    # "approximate" below 5 raters
    slack = 0.06 if workers < 5 else 0.0
    assert low - slack <= planned.power.power <= high + slack


COMMAND = (
    *[
        "judge",
        "plan",
        "--preset",
        "low",
        "--effect",
        "0.08",
        "--max-extra",
        "2000",
        "--correlation",
        "0.85",
    ],
    *[
        "--cost-per-rating",
        "0.20",
        "--cost-per-worker",
        "5",
        "--cost-per-score",
        "0.002",
        "--budget",
        "400",
    ],
    *["--min-workers", "8", "--max-workers", "12", "--simulations", "4"],
)


def test_the_command_spends_the_budget() -> None:
    found = run(*COMMAND)
    assert max(map(len, found.stdout.splitlines())) <= 80
    assert "More than 12 raters were not tried" in " ".join(found.stdout.split())
    record = run_json(*COMMAND)
    assert Decimal(record["judged"]["cost"]) <= 400
    assert sum(record["judged"]["variance_shares"].values()) == pytest.approx(1)
    assert record["simulated"]["n_simulations"] == 4
    assert [row["workers"] for row in record["rows"]] == [8, 9, 10, 11, 12]
    several = run_json(
        *COMMAND, "--correlation", "0.8,0.7", "--between", "0.6", "--cost-per-score", "0.002,0.5"
    )
    assert several["judged"]["runs"][1] == 0  # too dear
    assert (
        "--budget" in run(*COMMAND[:9], "0.8,0.7", *COMMAND[10:16], "--cost-per-rating", "1", code=2).stderr
    )


def test_a_budget_that_buys_nothing_ends_with_3() -> None:
    assert "buy no study" in run(*COMMAND, "--budget", "20", code=3).stdout


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (("--power", "0.8"), "--budget or --power, not both"),
        (("--reliability", "0.7"), "give --budget"),
        (("--between", "0.2"), "give --budget"),
        (("--max-runs", "5"), "give --budget"),
    ],
)
def test_what_would_say_nothing_is_refused(said: tuple[str, ...], why: str) -> None:
    line = COMMAND if "--power" in said else (*COMMAND[:16], *COMMAND[18:])
    assert ("--budget" in line) == ("--power" in said)
    assert why in refusal_of(*line, *said)


def test_a_power_to_reach_stands_aside_for_a_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a study file, which may say both; what is typed decides."""
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text('schema = "humeval_power/study/1"\n[search]\npower = 0.9\nbudget = 300\n')
    judge = ("--max-extra", "500", "--correlation", "0.8", "--no-proof", "--study", "study.toml")
    judge += ("--min-workers", "8", "--max-workers", "12", "--max-ratings-per-item", "1")
    line = ("judge", "plan", "--preset", "low", "--effect", "0.2", "--cost-per-rating", "0.2", *judge)
    assert run_json(*line)["budget"] == "300"
    assert run_json(*line, "--power", "0.7")["target"] == 0.7


def test_several_judges_need_their_correlation_with_each_other() -> None:
    """Where errors are independent, R^2 / (1 - R^2) is the sum of the judges' own: of two of .8, 2 .64 / .36."""
    free = (Decimal(0), Decimal(0))
    ratio = 2 * 0.64 / 0.36
    panel = JudgePanel((0.8, 0.8), (1.0, 1.0), free, between=0.64)
    assert panel.r_squared((1, 1)) == pytest.approx(ratio / (1 + ratio))
    said = refusal_of(*COMMAND, "--correlation", "0.8,0.8", "--no-proof")
    assert "--between" in said
    assert "correlation with each other, which 'judge check' gives" in said


def test_what_is_said_and_simulated_is_of_the_study_that_is_bought() -> None:
    """A judge of 0.2 for the price of a person: people alone have more power, and no proof by a judge."""
    line = (*COMMAND, "--correlation", "0.2", "--cost-per-score", "0.2")
    record = run_json(*line)
    assert (record["helps"], record["simulated"]) == (False, None)
    with_judge, alone = (100 * record[name]["power"] for name in ("judged", "alone"))
    assert alone - with_judge > 1
    said = text_of(*line)
    assert f"Then {alone:.0f} of 100 such studies" in said
    assert f"does not pay here: with it {with_judge:.0f} would" in said
    few = (*line, "--min-workers", "3", "--max-workers", "3")
    assert "the formula is rough." in text_of(*few)


def test_a_one_sided_plan_says_that_it_has_no_proof() -> None:
    said = text_of(*COMMAND, "--alternative", "greater")
    assert "only two-sided tests are proved by simulation" in said

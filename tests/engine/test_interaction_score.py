"""The score test of the worker-item term: against dense matrices, against the likelihood ratio, and its size."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from cases import each_case, few_fast
from places import ROOT
from scipy import optimize, stats
from seven import seven

import humeval_power as hp
from humeval_power.designs import crossed, k_per_item
from humeval_power.estimation.crossed import interaction_score
from humeval_power.estimation.crossed.fits import fit_batch
from humeval_power.estimation.crossed.interaction_score import interaction_test
from humeval_power.estimation.crossed.problem import CrossedProblem
from humeval_power.estimation.fitting import fit
from humeval_power.kernels.crossed.crossproducts import sparse_gram
from humeval_power.simulation.study import SimulatedRatings, simulate

NONE = seven(0.5, 0.1, 0.1, 0.1, 0.1, 0.1, 0.15)
SINGULAR = seven(0.5, 0.1, 0.1, 0.0, 0.0, 0.1, 0.15)
DESIGNS = {
    "complete": (crossed(6, 20), 1.0),
    "few": (crossed(4, 10), 1.0),
    "sparse": (k_per_item(10, 40, ratings_per_item=3), 1.0),
    "lost": (crossed(6, 20), 0.75),
    "sparse lost": (k_per_item(10, 40, ratings_per_item=3), 0.8),
    "repeats lost": (crossed(6, 10, n_repeats=2), 0.9),
}


def table(name: str, share: float, truth=NONE, *, seed: int) -> SimulatedRatings:
    design, kept = DESIGNS[name]
    drawn = simulate(replace(truth, sd_worker_item=share), design, seed=seed)
    rows = np.random.default_rng(seed).random(len(drawn.rating)) < kept
    return of_rows(drawn, rows) if kept < 1 else drawn


def of_rows(drawn: SimulatedRatings, rows: np.ndarray) -> SimulatedRatings:
    return SimulatedRatings(drawn.worker[rows], drawn.item[rows], drawn.system[rows], drawn.rating[rows])


def dense_test(ratings: SimulatedRatings, gamma: np.ndarray, sigma: float) -> float:
    """z by matrices of all ratings, with the average information."""
    problem = CrossedProblem.of_ratings(ratings)
    y, x = ratings.rating / sigma, problem.x
    pair = ratings.worker * 10_000 + ratings.item
    H, parts = np.eye(len(y)), [(pair[:, None] == pair) * 1.0, np.eye(len(y))]
    for (codes, columns), shares in zip(problem.factors, gamma.reshape(-1, 2), strict=True):
        for column, share in zip(columns.T, shares, strict=True):
            part = np.outer(column, column) * (codes[:, None] == codes)
            H += share * part
            parts += [part] if share > 0 else []
    V = np.linalg.inv(H)
    P = V - V @ x @ np.linalg.solve(x.T @ V @ x, x.T @ V)
    working = np.column_stack([part @ P @ y for part in parts])
    information = 0.5 * working.T @ P @ working
    left = 1 / np.linalg.inv(information)[0, 0]
    return float(0.5 * (y @ P @ parts[0] @ P @ y - np.trace(P @ parts[0])) / np.sqrt(left))


def likelihood_ratio(ratings: SimulatedRatings) -> float:
    """By how much the REML criterion falls when the term is added: everything else fitted at each variance."""
    problem = CrossedProblem.of_ratings(ratings)

    def criterion(share: float) -> float:
        changed = problem.with_interaction(ratings.worker, ratings.item, share)
        return float(fit_batch(changed, ratings.rating[None], start=np.full(4, 0.1)).criterion[0])

    best = optimize.minimize_scalar(criterion, bounds=(0.0, 5.0), method="bounded", options={"xatol": 1e-2})
    return max(criterion(0.0) - float(best.fun), 0.0)


@each_case(("name", "truth"), list(product(DESIGNS, (NONE, SINGULAR))))
def test_it_is_that_of_dense_matrices(name, truth):
    ratings = table(name, 0.08, truth, seed=5)
    fitted = fit(ratings)
    values = fitted.parameters
    problem = CrossedProblem.of_ratings(ratings)
    gamma = np.array([getattr(values, part) for part in problem.components]) ** 2 / values.sd_residual**2
    found = interaction_test(ratings, fitted)
    # even pairs take the other scores as zero, as they are at the fit up to its tolerance
    assert found.z == pytest.approx(dense_test(ratings, gamma, values.sd_residual), abs=2e-4)
    assert found.monte_carlo_error == 0


def test_random_probes_are_within_their_error(monkeypatch):
    ratings = table("sparse lost", 0.08, seed=3)
    fitted = fit(ratings)
    exact = interaction_test(ratings, fitted)
    monkeypatch.setattr(interaction_score, "_EVERY_PAIR", 10)
    probed = interaction_test(ratings, fitted)
    assert 0 < probed.monte_carlo_error < 0.15
    assert abs(probed.z - exact.z) < 4 * probed.monte_carlo_error
    assert probed == interaction_test(ratings, fitted)


@few_fast(("name", "estimator"), list(product(("sparse", "sparse lost"), ("reml", "ml"))), fast=1)
def test_it_decides_as_the_likelihood_ratio(name, estimator):
    ratios, tests = [], []
    for seed, share in enumerate((0.0, 0.08, 0.12, 0.2)):
        ratings = table(name, share, seed=seed)
        ratios.append(likelihood_ratio(ratings))
        tests.append(interaction_test(ratings, fit(ratings, estimator=estimator)).z)
    statistics = np.maximum(tests, 0.0) ** 2
    assert ((np.array(ratios) > 3.84) == (statistics > 3.84)).all()
    assert max(ratios) > 3.84 > min(ratios)
    near = np.array(ratios) < 10  # far from the null the score test falls behind, and decides the same
    assert np.abs(np.sqrt(ratios) - np.sqrt(statistics))[near].max() < 0.5


def test_a_complete_table_is_decided_as_by_the_exact_test():
    different = 0
    for seed, share in enumerate(np.linspace(0.0, 0.08, 40)):
        ratings = table("complete", share, seed=seed)
        order = np.lexsort((ratings.system, ratings.item, ratings.worker))
        cells = ratings.rating[order].reshape(6, 20, 2)
        ratio = _mean_square(cells.sum(axis=2)) / _mean_square(cells[:, :, 1] - cells[:, :, 0])
        different += _decides(ratings) != (ratio > stats.f.ppf(0.975, 95, 95))
    assert different == 0


def _mean_square(cells: np.ndarray) -> float:
    left = cells - cells.mean(axis=0) - cells.mean(axis=1, keepdims=True) + cells.mean()
    return float((left**2).sum())


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize(("name", "truth"), list(product(DESIGNS, (NONE, SINGULAR))))
def test_decisions_agree_on_many_tables_and_its_size_is_right(name, truth):
    same = []
    for seed, share in product(range(6), (0.0, 0.05, 0.1)):
        ratings = table(name, share, truth, seed=1000 + seed)
        same.append(_decides(ratings) == (likelihood_ratio(ratings) > 3.84))
    assert np.mean(same) >= 0.93
    alarms = [_decides(table(name, 0.0, truth, seed=2000 + seed)) for seed in range(80)]
    assert np.mean(alarms) < 0.025 + 3 * np.sqrt(0.025 * 0.975 / 80)


def _decides(ratings: SimulatedRatings) -> bool:
    found = interaction_test(ratings, fit(ratings))
    return found is not None and found.p_value < 0.025


def test_a_table_in_which_nobody_rated_an_item_twice_has_none():
    ratings = simulate(NONE, k_per_item(8, 30, ratings_per_item=2, paired=False), seed=1)
    assert interaction_test(ratings, fit(ratings)) is None


def test_a_thousand_workers_are_tested_without_a_matrix_of_them():
    shared = replace(NONE, sd_worker_item=0.1)
    ratings = simulate(shared, k_per_item(1000, 2000, ratings_per_item=3), seed=1)
    known = replace(fit(table("few", 0.0, seed=1)), parameters=NONE)
    assert interaction_test(ratings, known).z > 5
    lost = of_rows(ratings, np.arange(len(ratings.rating)) % 20 > 0)
    assert interaction_test(lost, known).z > 5


def test_the_fit_and_the_test_of_a_study_share_the_crossproducts(monkeypatch):
    built = []

    def counted(*arguments, **named):
        built.append(arguments)
        return sparse_gram(*arguments, **named)

    monkeypatch.setattr("humeval_power.estimation.crossed.problem.sparse_gram", counted)
    found = hp.fit(hp.read_ratings(ROOT / "data" / "pilot.csv", scale="1:5"))
    assert found.interaction is not None
    assert len(built) == 1

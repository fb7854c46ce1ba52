"""Small fits that make the compiler work once for every kernel and shape of fit that the engine meets."""

from __future__ import annotations

import numpy as np

from humeval_power.estimation.crossed.examination import design_information, examine
from humeval_power.estimation.crossed.fits import fit_batch, fit_one
from humeval_power.estimation.crossed.problem import COMPONENTS, CrossedProblem
from humeval_power.kernels.crossed import balanced_ml, reml
from humeval_power.kernels.kernel import is_ready

_GRID = np.indices((3, 3, 2)).reshape(3, -1)
_RATINGS = np.random.default_rng(0).random((2, _GRID.shape[1]))
_START = np.ones(len(COMPONENTS))


def is_warm() -> bool:
    """Whether fits need no compiling any more."""
    return is_ready(reml.fit_many)


def fit_ratings() -> None:
    """Fit ratings of two systems, and look at the fit as intervals and predicted effects do."""
    problem = CrossedProblem.of_design(*_GRID)
    fit_batch(problem, _RATINGS, start=_START)
    examine(problem, _RATINGS[0], _START, restricted=True)


def fit_differences() -> None:
    """Fit the differences of workers who rated an item under both systems."""
    fit_batch(CrossedProblem.of_differences(*_GRID), _RATINGS, start=_START)


def fit_large_tables() -> None:
    """Fit a table of so many workers and items that sparse factors fit it, and one as the largest are fitted."""
    from humeval_power.estimation.large.iterative import effects_at, fit_iterative
    from humeval_power.kernels.large import elimination, fronts

    n = 300
    worker = np.repeat(np.arange(n), 6)
    item = (worker * 5 + np.tile(np.repeat(np.arange(3), 2), n)) % n
    system = np.tile([0, 1], 3 * n)
    problem = CrossedProblem.of_design(worker, item, system)
    fit_one(problem, np.random.default_rng(0).random(len(worker)))
    design_information(problem, _START)
    small = CrossedProblem.of_design(*_GRID)
    fit_iterative(small, _RATINGS[0], restricted=True)
    effects_at(small, _RATINGS[0], _START)
    elimination.minimum_degree(
        np.zeros((2, 1), dtype=np.uint64), np.arange(2), 1.0, 1.0
    )  # of larger tables
    fronts.mirror(np.eye(2))


def maximise_likelihoods() -> None:
    """Fit complete tables by maximum likelihood."""
    balanced_ml.maximum_likelihood(np.ones((1, 5)), np.ones(5), np.ones((1, 5)))

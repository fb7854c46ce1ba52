"""Small fits that make the compiler work once for every shape of fit that the engine meets."""

from __future__ import annotations

import numpy as np

from humeval_power.estimation.crossed.examination import design_information, examine
from humeval_power.estimation.crossed.fits import fit_batch
from humeval_power.estimation.crossed.problem import COMPONENTS, CrossedProblem
from humeval_power.kernels.crossed import likelihood

_GRID = np.indices((3, 3, 2)).reshape(3, -1)
_MANY = np.random.default_rng(0).random((100, _GRID.shape[1]))  # a few would be fitted by dense matrices
_RATINGS = _MANY[0]


def fit_ratings() -> None:
    """Fit ratings of two systems."""
    start = np.ones(len(COMPONENTS))
    fit_batch(CrossedProblem.of_design(*_GRID), _MANY, start=start)


def examine_ratings() -> None:
    """Look at a design and at a fit, as the formula, intervals and predicted effects do; after `fit_ratings`,
    for until then a small table is looked at by dense matrices."""
    problem, gamma = CrossedProblem.of_design(*_GRID), np.ones(len(COMPONENTS))
    design_information(problem, gamma)
    examine(problem, _RATINGS, gamma, restricted=True)
    products = problem.products(_RATINGS[None])
    likelihood.evaluate(problem.gram, likelihood.Response(*(part[0] for part in products)), gamma, True)


def fit_differences() -> None:
    """Fit the differences of workers who rated an item under both systems."""
    start = np.ones(len(COMPONENTS))
    fit_batch(CrossedProblem.of_differences(*_GRID), _MANY, start=start)

"""The worker-item interaction: what a worker and an item share under both systems."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from humeval_power.errors import InputError
from humeval_power.estimation.crossed.fits import fit_batch
from humeval_power.estimation.crossed.problem import CrossedProblem, RatingTable
from humeval_power.estimation.large.monte_carlo import NO_LIKELIHOOD

_LARGEST = 1e3  # variance of the interaction relative to the residual's
_GRID = np.concatenate([[0.0], np.geomspace(1e-3, _LARGEST, 13)])


def best_share(ratings: RatingTable, *, restricted: bool) -> float:
    """Variance of the worker-item term relative to the residual's that minimises the criterion.

    One dimension over the profile of everything else: a coarse grid, then Brent's method around its
    best point.

    Raises
    ------
    InputError
        A table in which no worker rated an item twice, under whatever system: the term and the
        residual are then one. A table that is too large for its criterion.
    """
    from scipy import optimize

    if CrossedProblem.of_ratings(ratings).is_iterative:
        raise InputError(
            f"The worker-item term is found by comparing likelihoods, and {NO_LIKELIHOOD}. Leave it out, or "
            "analyse differences B - A, which it cannot touch."
        )
    pair = ratings.worker * np.int64(int(ratings.item.max()) + 1) + ratings.item
    if len(np.unique(pair)) == len(pair):
        raise InputError(
            "The worker-item term cannot be told from the residual: no worker rated an item twice. "
            "Leave it out."
        )
    criterion = _criterion_of_share(ratings, restricted=restricted)
    values = [criterion(share) for share in _GRID]
    best = int(np.argmin(values))
    low, high = _GRID[max(best - 1, 0)], _GRID[min(best + 1, len(_GRID) - 1)]
    found = optimize.minimize_scalar(
        criterion, bounds=(low, high), method="bounded", options={"xatol": 1e-9}
    )
    share = float(found.x) if found.fun < values[best] else float(_GRID[best])
    return 0.0 if values[0] <= min(values[best], float(found.fun)) + 1e-9 else share


def _criterion_of_share(ratings: RatingTable, *, restricted: bool) -> Callable[[float], float]:
    """The criterion, everything else profiled out, as a function of the relative variance of the term."""
    problem = CrossedProblem.of_ratings(ratings)
    start = np.full(problem.n_components, 0.1)

    def criterion(share: float) -> float:
        changed = problem.with_interaction(ratings.worker, ratings.item, share)
        fit = fit_batch(changed, ratings.rating[None], start=start, restricted=restricted, tolerance=1e-10)
        return float(np.nan_to_num(fit.criterion[0], nan=np.inf))

    return criterion

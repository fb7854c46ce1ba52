"""Where the criterion is lowest at a residual of zero, and a mixed model has no usable fit.

Two things happen in tiny tables. Workers and items may explain the ratings exactly with fewer parameters than
ratings: the criterion then falls without end. Or there are as many workers' and items' effects as
ratings: the criterion has a limit as the residual vanishes, which can be lower than any value inside. In
both the variances relative to the residual's run away, and where a search stops is an accident.
"""

from __future__ import annotations

from itertools import chain, combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from humeval_power.estimation.structure import structure_of

if TYPE_CHECKING:  # fits use this file
    from humeval_power.estimation.crossed.problem import CrossedProblem, RatingTable

Floats = NDArray[np.float64]

SUSPECT_SHARE = 1e-4  # of a rating's variance: a residual below this is looked at again
NO_SHARE = 1e-7  # below this there is none, and the criterion has lost too many digits to compare
TIE = 1e-6  # of the criterion: less is no difference between two ends
LEAST_RISE = 1e-4  # of the criterion towards no residual: less is rounding, and no minimum
_SMALL_TABLE = 200  # ratings up to which exact explanations are looked for
_EXACT = 1e-9  # what rounding may leave of the ratings' spread; a residual has more than 1e-4 of it

ADVICE = (
    "Collect more ratings, above all several of each worker and of each item under both systems; a paired "
    "test of the items' means (compare) needs no variances of workers."
)
EXPLAINED = (
    "Workers and items explain these ratings without any residual variation, so no standard error exists "
    f"and nothing can be tested. Are they constant, or very few? {ADVICE}"
)
RUNS_AWAY = (
    "The likelihood of this table is highest at a residual of zero: there are too few ratings to tell the "
    "variation between workers and items from that of single ratings, so nothing can be tested. "
    f"{ADVICE}"
)


def residual_share(gamma: Floats, loadings: Floats) -> Floats:
    """The residual's share of a rating's variance, for relative variances (..., q)."""
    return np.asarray(1.0 / (1.0 + np.nan_to_num(gamma, posinf=1e300) @ loadings))


def far_out(gamma: Floats, share: float) -> Floats:
    """The same variances at which the residual has no share left, in the same proportions."""
    return np.asarray(gamma * (share / NO_SHARE))


def is_explained_exactly(ratings: RatingTable) -> bool:
    """Whether the fixed effects and some of the random ones reproduce the ratings with fewer columns than
    ratings, so that the likelihood has no upper bound. Looked for in small tables only."""
    y = ratings.rating - ratings.rating.mean()
    spread = max(float(np.linalg.norm(y)), 1e-6 * float(np.linalg.norm(ratings.rating)))
    slope = ratings.system[:, None] - 0.5
    more = structure_of(ratings)
    covariates = [] if more["covariates"] is None else [more["covariates"]]
    x = np.column_stack([np.ones(len(y)), slope, *covariates])
    if len(y) > _SMALL_TABLE:
        return _leaves_nothing(x, y, spread)
    blocks = [
        columns
        for codes in (ratings.worker, ratings.item, more["document"])
        if codes is not None
        for membership in [(codes[:, None] == np.unique(codes)).astype(np.float64)]
        for columns in (membership, membership * slope)
    ]
    subsets = chain.from_iterable(combinations(blocks, size) for size in range(len(blocks) + 1))
    return any(_leaves_nothing(np.hstack([x, *subset]), y, spread) for subset in subsets)


def _leaves_nothing(columns: Floats, y: Floats, spread: float) -> bool:
    solution, _, rank, _ = np.linalg.lstsq(columns, y, rcond=1e-10)
    left = float(np.linalg.norm(y - columns @ solution))
    return bool(rank < len(y) and left <= _EXACT * spread)


def loadings(problem: CrossedProblem) -> Floats:
    """What a relative variance of 1 adds to the mean variance of a row, by column type, outer first."""
    columns = [problem.factors[place].columns for place in (*problem.outer, problem.inner)]
    return np.concatenate([(each**2).mean(axis=0) for each in columns])

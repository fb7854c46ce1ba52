"""The median-unbiased correction of many studies at once, from a table over z-values."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.inference.looks.boundaries import Boundaries
from humeval_power.inference.looks.boundary_values import going_on
from humeval_power.kernels.sequential import START, advance, probability_above

Floats = NDArray[np.float64]

_SCORES = np.linspace(-8.0, 8.0, 129)
_DRIFTS = np.linspace(-12.0, 12.0, 97)
_MOST_KEPT = 64  # tables: the same boundaries are asked for at every effect


def median_unbiased(
    look: NDArray[np.int64], score: Floats, standard_error: Floats, estimate: Floats, *, bounds: Boundaries
) -> Floats:
    """Median-unbiased estimates in the stage-wise ordering, shape (n,).

    look : where each study stopped, from 0
    score : the z of its result there; standard_error, estimate : in the units of the effect

    The shift from the naive estimate is tabulated for z-values and scaled by the standard error: for few
    degrees of freedom it is an approximation of `stagewise_inference`, which solves each study for itself.
    """
    result = np.array(estimate, dtype=float)
    for k, table in enumerate(_drift_tables(bounds.shares, bounds.efficacy, bounds.two_sided), start=1):
        here = np.flatnonzero(look == k)
        share = np.sqrt(bounds.shares[k])
        at = np.clip(score[here], _SCORES[0], _SCORES[-1])
        shift = np.interp(at, _SCORES, table) - at / share
        result[here] += shift * share * standard_error[here]
    return result


@lru_cache(maxsize=_MOST_KEPT)
def _drift_tables(
    shares: tuple[float, ...], efficacy: tuple[float, ...], two_sided: bool
) -> tuple[Floats, ...]:
    """For each look but the first, the drift at which a result as high as each z of the table or higher has
    the probability 1/2; futility is ignored."""
    chances = np.empty((len(shares), len(_DRIFTS), len(_SCORES)))
    for row, drift in enumerate(_DRIFTS):
        state, earlier = START, 0.0
        for k, at in enumerate(shares):
            step = at - state.information
            reach = _SCORES[:, None] * np.sqrt(at) - state.nodes * np.sqrt(state.information) - drift * step
            chances[k, row] = earlier + special.ndtr(-reach / np.sqrt(step)) @ state.mass
            if k + 1 < len(shares):
                upper = efficacy[k]
                earlier += probability_above(state, upper, information=at, drift=drift)
                intervals = going_on(upper, -np.inf, two_sided=two_sided)
                following = shares[k + 1]
                state = advance(state, intervals, information=at, drift=drift, following=following)
    scores = special.ndtri(np.clip(chances, 1e-12, 1 - 1e-12))
    tables = []
    for rising in scores[1:]:
        ordered = np.maximum.accumulate(rising, axis=0)
        tables.append(
            np.array([np.interp(0.0, ordered[:, column], _DRIFTS) for column in range(len(_SCORES))])
        )
    return tuple(tables)

"""Repeated looks at a growing study: probabilities of stopping by recursive integration.

At look k the standardised statistic is Z_k ~ N(drift sqrt(I_k), 1) with Cov(Z_j, Z_k) = sqrt(I_j / I_k): the
increments of Z sqrt(I) are independent. The sub-density of the studies that are still going on is carried
from look to look on a grid (Armitage, McPherson and Rowe 1969; the grid and Simpson's weights of Jennison and
Turnbull 2000, section 19.2). Statuses and messages are left to the caller; only NumPy and SciPy are used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]
Interval = tuple[float, float]

FINENESS = 32  # r of Jennison and Turnbull: 12 r - 3 nodes; 18 gives seven digits, this gives nine
_FINEST = 400
_NODES_PER_SPREAD = 4.0  # a grid's nodes against the spread of one increment, where looks lie close


class Continuing(NamedTuple):
    """The studies that go on after a look, on a grid.

    nodes, mass : shape (n,); mass is the sub-density times the weight of the integration
    information : of that look, 0 before the first
    """

    nodes: Floats
    mass: Floats
    information: float


class Exits(NamedTuple):
    """Probability of leaving at each look, shape (K,): above the region of going on, below it, or within
    its gap (`inside`). At the last look everything leaves."""

    above: Floats
    below: Floats
    inside: Floats


START = Continuing(np.zeros(1), np.ones(1), 0.0)


def probability_above(state: Continuing, bound: float, *, information: float, drift: float = 0.0) -> float:
    """Probability of still going on and having Z >= `bound` at a look with this information."""
    return float(state.mass @ special.ndtr(-_increments(state, bound, information, drift)))


def probability_below(state: Continuing, bound: float, *, information: float, drift: float = 0.0) -> float:
    """The same for Z <= `bound`."""
    return float(state.mass @ special.ndtr(_increments(state, bound, information, drift)))


def advance(
    state: Continuing,
    intervals: Sequence[Interval],
    *,
    information: float,
    drift: float = 0.0,
    following: float | None = None,
) -> Continuing:
    """The studies that go on because Z lies in one of the intervals at a look with this information.

    following : information of the next look; where it is hardly larger, the grid is made finer.
    """
    fineness = _fineness(information, following)
    centre = drift * math.sqrt(information)
    grids = [_grid(low, high, centre, fineness) for low, high in intervals if low < high]
    if not grids:
        return Continuing(np.zeros(1), np.zeros(1), information)
    nodes = np.concatenate([grid[0] for grid in grids])
    weight = np.concatenate([grid[1] for grid in grids])
    step = information - state.information
    centres = (state.nodes * math.sqrt(state.information) + drift * step) / math.sqrt(information)
    spread = math.sqrt(step / information)
    apart = (nodes[:, None] - centres[None, :]) / spread
    density = np.exp(-0.5 * apart * apart) @ state.mass / (spread * math.sqrt(2 * math.pi))
    return Continuing(nodes, density * weight, information)


def exit_probabilities(
    information: Sequence[float],
    *,
    lower: Sequence[float],
    upper: Sequence[float],
    gap: Sequence[Interval] | None = None,
    drift: float = 0.0,
) -> Exits:
    """Probabilities of leaving at each look. A study goes on while lower < Z < upper and Z is not in the gap.

    information : strictly increasing, any unit; drift : mean of Z per square root of that unit
    gap : one open interval a look, empty where its ends are in the wrong order
    """
    n_looks = len(information)
    above, below, inside = np.zeros(n_looks), np.zeros(n_looks), np.zeros(n_looks)
    state = START
    for k, at in enumerate(information):
        above[k] = probability_above(state, upper[k], information=at, drift=drift)
        below[k] = probability_below(state, lower[k], information=at, drift=drift)
        left, right = gap[k] if gap is not None else (math.inf, -math.inf)
        left, right = max(left, lower[k]), min(right, upper[k])
        intervals = [(lower[k], upper[k])]
        if left < right:
            inside[k] = probability_below(state, right, information=at, drift=drift)
            inside[k] -= probability_below(state, left, information=at, drift=drift)
            intervals = [(lower[k], left), (right, upper[k])]
        if k + 1 < n_looks:
            state = advance(state, intervals, information=at, drift=drift, following=information[k + 1])
    return Exits(above, below, inside)


def _increments(state: Continuing, bound: float, information: float, drift: float) -> Floats:
    if math.isinf(bound):
        return np.full(len(state.nodes), bound)
    step = information - state.information
    reach = bound * math.sqrt(information) - state.nodes * math.sqrt(state.information) - drift * step
    return np.asarray(reach / math.sqrt(step))


def _fineness(information: float, following: float | None) -> int:
    if following is None:
        return FINENESS
    spread = math.sqrt((following - information) / information)
    return min(max(FINENESS, math.ceil(_NODES_PER_SPREAD / spread)), _FINEST)


def _grid(low: float, high: float, centre: float, fineness: int) -> tuple[Floats, Floats]:
    """Nodes and Simpson weights over [low, high]: dense near the centre, sparse in the tails."""
    r = fineness
    tail = 3.0 + 4.0 * np.log(r / np.arange(1, r))
    middle = np.linspace(-3.0, 3.0, 4 * r + 1)
    points = centre + np.concatenate([-tail, middle, tail[::-1]])
    inside = points[(points > low) & (points < high)]
    ends = [end for end in (low, high) if points[0] < end < points[-1]]
    knots = np.sort(np.concatenate([inside, ends]))
    if len(knots) < 2:
        return np.zeros(1), np.zeros(1)
    nodes = np.empty(2 * len(knots) - 1)
    nodes[::2], nodes[1::2] = knots, (knots[:-1] + knots[1:]) / 2
    width = np.diff(knots)
    weight = np.zeros(len(nodes))
    weight[1::2] = 4.0 * width / 6.0
    weight[:-1:2] += width / 6.0
    weight[2::2] += width / 6.0
    return nodes, weight

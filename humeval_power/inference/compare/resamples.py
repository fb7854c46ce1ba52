"""What the resamples of a bootstrap came to: a histogram of them, fine enough to be looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
What = Literal["mean", "median", "t"]
MOST_BINS = 40
_FEW = 20  # distinct values that get a bin each
_SLACK = 1e-9  # relative: values closer than this are equal
_OUTER = 0.0005  # share of the resamples beyond either end, which are drawn at the end


@dataclass(frozen=True, slots=True)
class Resamples:
    """A histogram of resampled means, medians or t: `shares` of them between neighbouring `edges`.

    `at` is what they are held against (the null difference, or the observed t); `not_above` is the share of the
    resamples at it or below, which are those before the edge `cut`.
    """

    what: What
    edges: tuple[float, ...]
    shares: tuple[float, ...]
    at: float
    not_above: float

    @property
    def cut(self) -> float:
        """The edge before which the resamples at `at` or below lie, as closely as the bins tell."""
        reached = np.concatenate([[0.0], np.cumsum(self.shares)])
        return self.edges[min(int(np.searchsorted(reached, self.not_above - _SLACK)), len(self.shares))]


def resamples_of(
    what: What, values: Floats, *, at: float, shares: Floats | None = None, step: float = 0.0
) -> Resamples:
    """The histogram of values that were drawn, or of all that can be with their probabilities.

    values : infinite ones count at the ends.
    shares : probability of each value, adding up to 1; equal ones if None.
    step : of the lattice on which the values lie: bins are whole steps then, for no comb to appear.
    """
    weights = np.full(len(values), 1 / len(values)) if shares is None else shares
    low, high = _ends(values, weights)
    slack = _SLACK * max(abs(at), step, abs(low), abs(high))
    edges = _edges(low, high, values[weights > 0], at, step, slack)
    counted, _ = np.histogram(np.clip(values, edges[0], edges[-1]), edges, weights=weights)
    below = float(weights[values <= at + slack].sum())
    return Resamples(what, tuple(edges.tolist()), tuple(counted.tolist()), at, min(1.0, below))


def _ends(values: Floats, weights: Floats) -> tuple[float, float]:
    """Between which nearly all of the values lie; both finite."""
    order = np.argsort(values, kind="stable")
    reached, ordered = np.cumsum(weights[order]), values[order]
    places = np.searchsorted(reached, (_OUTER, reached[-1] - _OUTER))
    finite = ordered[np.isfinite(ordered)]
    low, high = np.clip(ordered[places], finite[0], finite[-1]) if len(finite) else (0.0, 0.0)
    return float(low), float(high)


def _edges(low: float, high: float, possible: Floats, at: float, step: float, slack: float) -> Floats:
    """Even bins; `at` lies on an edge, or on a lattice an edge is half a step above the last value that is at it or
    below."""
    if not step:
        distinct = np.unique(possible[np.isfinite(possible)])
        step = float(np.diff(distinct).min()) if 2 <= len(distinct) <= _FEW else 0.0
    if not low < high:
        reach = step or max(abs(low), 1.0)
        return np.array([low - reach / 2, low + reach / 2])
    width = (high - low) / MOST_BINS
    width = step * max(1.0, float(np.ceil(width / step))) if step else width
    below = possible[possible <= at + slack]
    nearest = float(below.max() if len(below) else possible.min())
    anchor = nearest + step / 2 if step and np.isfinite(nearest) else at
    first, last = np.floor((low - anchor) / width), np.floor((high - anchor) / width) + 1
    return np.asarray(anchor + width * np.arange(first, last + 1))

"""Control variates for traces that are estimated with random signs.

T = Z'H^-1Z is a series over the levels that share ratings (Neumann): with M = I + L Z'Z L = D + N, where D are
the diagonal blocks, M^-1 = D^-1 - D^-1 N D^-1 + D^-1 N D^-1 N D^-1 - .... Of each of these terms the trace is
known from sums over the pairs, so v'Tv is regressed on what the same signs v make of them, and only what no
term explains is left to chance: a tenth to a thousandth of the error. Where gamma is zero a small one stands
in its place: any matrix with a known trace serves.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from humeval_power.estimation.large.system import LargeSystem
from humeval_power.kernels.large import iterative

Floats = NDArray[np.float64]
Blocks = tuple[Floats, Floats]  # of outer and of inner levels

_LEAST = 0.01  # gamma times the mean sum of squares of a level's column, at least


class NeighbourSeries:
    """The first terms of the series at the gamma of a system: their diagonals (terms, n_columns), and the traces
    that these add up to, `means` (terms, n_types)."""

    def __init__(self, system: LargeSystem) -> None:
        gram = system.gram
        self.system = system
        roots = self._roots()
        blocks = (gram.outer_block, gram.inner_block)
        self.middle = _pair(
            np.linalg.inv(each + _diagonal(root**-2.0)) for each, root in zip(blocks, roots, strict=True)
        )
        # L D^-1 L = (A + L^-2)^-1, and this times L^-2 from the right or the left
        self.right = _pair(
            each * root[:, None, :] ** -2.0 for each, root in zip(self.middle, roots, strict=True)
        )
        self.left = _pair(np.ascontiguousarray(each.transpose(0, 2, 1)) for each in self.right)
        self.first = np.concatenate([root.ravel() ** -2.0 for root in roots])
        self.apart = system.operator._replace(
            inner_block=np.zeros_like(gram.inner_block), outer_block=np.zeros_like(gram.outer_block)
        )
        # a way round over three factors has no known trace
        self.n_terms = 3 if len(gram.meeting) == 0 else 2
        self.diagonals = self._diagonals()
        self.means = self._by_type(self.diagonals)

    def _roots(self) -> Blocks:
        """L, (n_outer, qa) and (n_inner, qb), kept away from zero."""
        system, gram = self.system, self.system.gram
        size = np.concatenate(
            [np.einsum("wbb->wb", each).ravel() for each in (gram.outer_block, gram.inner_block)]
        )
        root = np.empty(system.n_columns)
        for t, variance in enumerate(system.gamma):
            rows = system.rows_of(t)
            root[rows] = np.sqrt(max(variance, _LEAST / size[rows].mean()))
        return root[: system.order].reshape(-1, system.qa), root[system.order :].reshape(-1, system.qb)

    def _diagonals(self) -> Floats:
        gram = self.system.gram
        sums = np.zeros_like(gram.outer_block), np.zeros_like(gram.inner_block)
        iterative.neighbour_sums(self.apart, *self.middle, *sums)
        second = [
            np.einsum("wab,wbc,wca->wa", left, each, right)
            for left, each, right in zip(self.left, sums, self.right, strict=True)
        ]
        own = [np.einsum("waa->wa", each) for each in self.right]
        joined = [np.concatenate([part.ravel() for part in each]) for each in (own, second)]
        found = np.zeros((1 + self.n_terms, self.system.n_columns))
        found[0], found[2] = joined[0] * self.first, joined[1]
        return found

    def _by_type(self, columns: Floats) -> Floats:
        """Sums over the columns (terms, n_columns, ...) of each type, (terms, n_types, ...)."""
        rows = [self.system.rows_of(t) for t in range(self.system.n_types)]
        return np.stack([columns[:, part].sum(axis=1) for part in rows], axis=1)

    def elements(self, signs: Floats) -> Floats:
        """v_i (B v)_i of every term B for signs v (n_columns, WIDTH), (terms, n_columns, WIDTH): on average its
        diagonal."""
        out = np.empty((1 + self.n_terms, *signs.shape))
        iterative.block_products(*self.right, signs, out[0])
        out[0] *= self.first[:, None]
        iterative.neighbour_series(self.apart, self.left, self.right, self.middle, signs, out[1:])
        out *= signs
        return out

    def of(self, signs: Floats) -> Floats:
        """Their sums over each column type, (terms, n_types, WIDTH)."""
        return self._by_type(self.elements(signs))


class Controlled(NamedTuple):
    """The mean of what probes say, what is left of each of them (probes,), and the slopes (terms,)."""

    mean: float
    left: Floats
    slopes: Floats


def controlled(values: Floats, terms: Floats, means: Floats) -> Controlled:
    """Values (probes,) regressed on terms (probes, k) of known means (k,)."""
    centered = terms - terms.mean(axis=0)
    spread = np.sqrt((centered**2).sum(axis=0))
    used = spread > 1e-9 * np.abs(terms).max(initial=1.0)
    slopes = np.zeros(len(means))
    scaled = centered[:, used] / spread[used]
    slopes[used] = np.linalg.lstsq(scaled, values - values.mean(), rcond=1e-10)[0] / spread[used]
    left = values - values.mean() - centered @ slopes
    n, k = len(values), int(used.sum())
    mean = float(values.mean() - (terms.mean(axis=0) - means) @ slopes)
    return Controlled(mean, left * np.sqrt((n - 1.0) / max(n - 1.0 - k, 1.0)), slopes)


def _pair(blocks: Iterable[NDArray[np.floating[Any]]]) -> Blocks:
    outer, inner = (np.ascontiguousarray(each, dtype=np.float64) for each in blocks)
    return outer, inner


def _diagonal(values: Floats) -> Floats:
    """Diagonal matrices (n, q, q) of values (n, q)."""
    return values[:, :, None] * np.eye(values.shape[1])

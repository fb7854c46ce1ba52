"""Solves with the covariance of a fitted model: what is left of responses once its effects are predicted.

P = H^-1 - H^-1 X (X'H^-1X)^-1 X'H^-1 in units of the residual variance, H = I + sum_t gamma_t Z_t Z_t'. With
L^2 = gamma, H^-1 = I - Z L (I + L Z'Z L)^-1 L Z': one sparse system for all random effects, solved by conjugate
gradients (Hestenes and Stiefel 1952) preconditioned by the blocks of single levels. Nothing but Z'Z is formed,
so that memory and time grow with the pairs of levels that share ratings, however many levels there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from humeval_power.estimation.crossed.problem import CrossedProblem

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Floats = NDArray[np.float64]

_EXACT = 1e-9  # residual norm of a system relative to its right-hand side
_MOST_STEPS = 400


class Projection:
    """P of one problem at relative variances `gamma` (q,): `project` gives P y, `whiten` H^-1 y.

    Raises
    ------
    ArithmeticError
        Systems that conjugate gradients do not solve: variances many thousands of times the residual's.
    """

    def __init__(self, problem: CrossedProblem, gamma: Floats) -> None:
        from scipy.sparse import csr_array, hstack

        self.x = problem.x
        self.columns = [_columns(codes, values) for codes, values in problem.factors]
        width = problem.factors[0].columns.shape[1]
        self.gamma = gamma.reshape(-1, width)
        blocks, inverses = [], []
        for factor, matrix, part in zip(problem.factors, self.columns, self.gamma, strict=True):
            if (part > 0).any():
                root = np.sqrt(part)
                blocks.append(csr_array(matrix * np.tile(root, matrix.shape[1] // width)[None, :]))
                inverses.append(_level_inverses(factor.codes, factor.columns * root))
        self._z = csr_array(hstack(blocks, format="csr")) if blocks else None
        if self._z is not None:
            self._zt = csr_array(self._z.T)
            self._crossed = csr_array(self._zt @ self._z)
            self._inverses = np.concatenate(inverses)
        self.h_x = self.whiten(self.x)
        self.phi = np.linalg.inv(self.x.T @ self.h_x)

    def whiten(self, y: Floats, *, tolerance: float = _EXACT) -> Floats:
        """H^-1 y of responses (n, r); `tolerance` is of a system's residual relative to its right-hand side."""
        if self._z is None:
            return y
        left: Floats = y - self._z @ self._solve(self._zt @ y, tolerance)
        return left

    def project(self, y: Floats, *, tolerance: float = _EXACT) -> Floats:
        """P y of responses (n, r)."""
        projected: Floats = self.whiten(y, tolerance=tolerance) - self.h_x @ (self.phi @ (self.h_x.T @ y))
        return projected

    def working_vectors(self, py: Floats) -> Iterator[Floats]:
        """Z_t Z_t'Py (n,) of the variances above zero, from Py."""
        for matrix, part in zip(self.columns, self.gamma, strict=True):
            for place in np.flatnonzero(part > 0).tolist():
                own = matrix[:, place :: len(part)]
                yield np.asarray(own @ (own.T @ py))

    def _precondition(self, values: Floats) -> Floats:
        width = self._inverses.shape[1]
        by_level = values.reshape(-1, width, values.shape[1])
        return np.asarray((self._inverses @ by_level).reshape(values.shape))

    def _solve(self, right: Floats, tolerance: float) -> Floats:
        """(I + L Z'Z L)^-1 of right-hand sides (columns, r), each with steps of its own."""
        found, left = np.zeros_like(right), right.copy()
        target = tolerance**2 * (right**2).sum(axis=0)
        direction = ready = self._precondition(left)
        slope = (left * ready).sum(axis=0)
        for _ in range(_MOST_STEPS):
            if ((left**2).sum(axis=0) <= target).all():
                return found
            image = direction + self._crossed @ direction
            length = _ratio(slope, (direction * image).sum(axis=0))
            found += length * direction
            left -= length * image
            ready = self._precondition(left)
            before, slope = slope, (left * ready).sum(axis=0)
            direction = ready + _ratio(slope, before) * direction
        raise ArithmeticError("conjugate gradients did not end")


def _columns(codes: NDArray[np.int64], values: Floats) -> csr_array:
    """Z of one factor (n, levels x width), level by level."""
    from scipy.sparse import csr_array

    n, width = values.shape
    n_levels = int(codes.max()) + 1
    places = (codes[:, None] * width + np.arange(width)).ravel()
    starts = np.arange(n + 1) * width
    return csr_array((values.ravel(), places, starts), shape=(n, n_levels * width))


def _level_inverses(codes: NDArray[np.int64], scaled: Floats) -> Floats:
    """(I + the diagonal block)^-1 of each level (levels, width, width) of scaled columns (n, width)."""
    width = scaled.shape[1]
    blocks = np.empty((int(codes.max()) + 1, width, width))
    for a in range(width):
        for b in range(width):
            blocks[:, a, b] = np.bincount(codes, weights=scaled[:, a] * scaled[:, b]) + (a == b)
    return np.asarray(np.linalg.inv(blocks), dtype=np.float64)


def _ratio(above: Floats, below: Floats) -> Floats:
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)

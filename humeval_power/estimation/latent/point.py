"""The joint mode of thresholds, fixed effects and random effects at given variances, by Newton's method.

The kernels do the sums over ratings and levels; the dense part is factored here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotri

from humeval_power.kernels.latent import mode as latent_mode
from humeval_power.kernels.latent.mode import Cuts, Factor, Layout

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_NOTHING = 1e-8  # relative change of a level's weight by a variance that stands for zero
_MODE_STEPS = 60
_EVEN_SMALLER = 1e-12  # of h: a fall that is rounding


class Setting(NamedTuple):
    """What stays the same through one search: the categories are coded 0 to their number without gaps."""

    layout: Layout
    cuts: Cuts
    y: Codes
    logit: bool
    restricted: bool

    @property
    def order(self) -> int:
        """Number of dense columns of random effects."""
        return int(self.layout.z.shape[1]) * len(self.layout.kind)

    @property
    def n_types(self) -> int:
        return int(self.layout.z.shape[1]) * (int(self.layout.block.shape[1]) + 1)

    @property
    def column_type(self) -> Codes:
        """The column type of each dense column of random effects."""
        q = self.layout.z.shape[1]
        return np.asarray((self.layout.kind[:, None] * q + np.arange(q)).ravel())


@dataclass(eq=False)
class Point:
    """Where h is taken, and what is known there; filled again and again.

    step_dense, step_inner : the Newton step that was found last and not taken
    log_det : log|H|; promise : twice what that step would add to h
    """

    dense: Floats
    inner: Floats
    grad_dense: Floats
    grad_inner: Floats
    step_dense: Floats
    step_inner: Floats
    matrix: Floats
    cross: Floats
    factor: Factor
    value: float = 0.0
    log_blocks: float = 0.0
    log_det: float = 0.0
    promise: float = 0.0

    @classmethod
    def of(cls, setting: Setting) -> Point:
        """Room for a search, at zero."""
        layout = setting.layout
        n, q = layout.z.shape
        levels, nb = len(layout.start) - 1, setting.cuts.n_theta + layout.fixed.shape[1]
        m, entries = setting.order + nb, q * len(layout.listed) + levels * nb
        dense = (np.zeros(m) for _ in range(3))
        inner = (np.zeros((levels, q)) for _ in range(3))
        (at, grad, step), (at_inner, grad_inner, step_inner) = dense, inner
        factor = Factor(
            np.empty((n, 4)), np.empty((entries, q)), np.empty((levels, q, q)), np.empty((m, m))
        )
        room = np.zeros((m, m)), np.empty((entries, q))
        return cls(at, at_inner, grad, grad_inner, step, step_inner, *room, factor)

    def assemble(self, setting: Setting, scale: Floats) -> bool:
        """h, its gradient and H; False where the thresholds do not ascend or h is not a number."""
        cuts = setting.cuts
        theta = self.dense[setting.order : setting.order + cuts.n_theta]
        tau = thresholds(cuts, theta)
        if not np.isfinite(tau).all() or (tau[1:] <= tau[:-1]).any():
            return False
        self.value, self.log_blocks = latent_mode.assemble(
            setting.layout,
            cuts,
            tau,
            scale,
            self.dense,
            self.inner,
            setting.y,
            setting.logit,
            self.factor,
            self.cross,
            self.matrix,
            self.grad_dense,
            self.grad_inner,
        )
        return bool(np.isfinite(self.value))

    def invert(self, setting: Setting, *, with_fixed: bool) -> bool:
        """The inverse of the dense part, log|H| and the Newton step; without the fixed part its rows of the
        inverse are zero."""
        upper, info = dpotrf(self.matrix.T, lower=0, clean=1)  # its lower triangle is filled
        if info != 0:
            return False
        size = len(upper) if with_fixed else setting.order
        logs = np.log(upper.diagonal()[:size])
        self.log_det = self.log_blocks + 2.0 * float(logs.sum())
        half, _ = dpotri(upper[:size, :size], lower=0)
        inverse = self.factor.inverse
        if size < len(inverse):
            inverse[:] = 0.0
        inverse[:size, :size] = half
        inverse[:size, :size] += half.T
        inverse.flat[:: len(inverse) + 1] *= 0.5
        latent_mode.solve(
            setting.layout, self.factor, self.grad_dense, self.grad_inner, self.step_dense, self.step_inner
        )
        self.promise = float(self.grad_dense @ self.step_dense + np.vdot(self.grad_inner, self.step_inner))
        return bool(np.isfinite(self.promise))

    def predict(self, setting: Setting, ratio: Floats) -> None:
        """Move to where the mode would be after a small change of the scale, by the last factor."""
        q = self.inner.shape[1]
        share = np.where((ratio > 0.5) & (ratio < 2.0), 1.0 - 1.0 / ratio**2, 0.0)
        rhs = np.zeros(len(self.dense))
        rhs[: setting.order] = self.dense[: setting.order] * share[setting.column_type]
        out, out_inner = np.empty(rhs.shape), np.empty(self.inner.shape)
        latent_mode.solve(setting.layout, self.factor, rhs, self.inner * share[-q:], out, out_inner)
        self.dense += out
        self.inner += out_inner

    def find_mode(self, setting: Setting, scale: Floats, tolerance: float) -> bool:
        """Newton's method from here, each step halved until h does not fall; whether the mode was found.

        It ends where the next step, which is kept but not taken, promises less than the tolerance.
        """
        if not self.assemble(setting, scale):
            return False
        for _ in range(_MODE_STEPS):
            if not self.invert(setting, with_fixed=setting.restricted):
                return False
            if self.promise < tolerance:
                return True
            before, taken, length = self.value, 0.0, 1.0
            while True:
                self.dense += (length - taken) * self.step_dense
                self.inner += (length - taken) * self.step_inner
                taken = length
                if self.assemble(setting, scale) and self.value >= before - _EVEN_SMALLER * abs(before):
                    break
                length *= 0.5
                if length < 1e-9:
                    return False
        return False


def thresholds(cuts: Cuts, theta: Floats) -> Floats:
    """The thresholds of theta."""
    if cuts.n_theta == 0:
        return np.zeros(len(cuts.theta))
    return np.asarray(cuts.sign * theta[cuts.theta])


def lower_bounds(layout: Layout) -> Floats:
    """Variances that stand for zero, (types,)."""
    sizes = [*np.bincount(layout.kind), len(layout.start) - 1]
    weight = np.maximum(np.square(layout.z).sum(axis=0), 1e-300)
    return np.concatenate([_NOTHING * size / weight for size in sizes])


def of_one_level(layout: Layout) -> NDArray[np.bool_]:
    """Which variances, (types,), are those of a factor with one level, which is but a further fixed effect."""
    sizes = np.array([*np.bincount(layout.kind), len(layout.start) - 1])
    return np.repeat(sizes == 1, layout.z.shape[1])

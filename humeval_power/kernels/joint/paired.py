"""The crossed model of K systems that are all rated together, with variances common to them, by sparse factors.

Where every worker rates an item under all systems equally often, rows of the K systems of one rating can be
turned by an orthogonal matrix Q whose first row is constant. What results are K independent layers of the same
design, each with an intercept, workers and items alone:

    first layer (sums)        variances gamma_WS + K gamma_W and gamma_IS + K gamma_I
    the others (contrasts)    variances gamma_WS and gamma_IS

relative to the residual's. So two factors of the order of the workers stand for one of the order of workers times
systems. Each layer is the crossed model of `large.factored`, whose functions do the work; the sums over layers here
are those of the likelihood, its slopes and its information.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError

from humeval_power.kernels.crossed import information
from humeval_power.kernels.crossed.likelihood import Profile, Response
from humeval_power.kernels.joint.reml import SecondOrder
from humeval_power.kernels.large import factored
from humeval_power.kernels.large import information as large_information
from humeval_power.kernels.large.design import Large

Floats = NDArray[np.float64]


class Layers(NamedTuple):
    """A table as K layers: their one design, outer levels and inner levels with a column each, the response of each
    layer, and Q (K, K)."""

    design: Large
    responses: tuple[Response, ...]
    rotation: Floats

    @property
    def n_systems(self) -> int:
        """Systems, as many as layers."""
        return len(self.rotation)


class PairedPoint(NamedTuple):
    """The likelihood of such a table at one gamma: outer, outer x system, inner, inner x system.

    factors : that of the first layer and that of all others; profiles : of each layer.
    """

    layers: Layers
    gamma: Floats
    factors: tuple[factored.SparseFactor, factored.SparseFactor]
    profiles: tuple[Profile, ...]

    @classmethod
    def of_layers(cls, layers: Layers, gamma: Floats) -> PairedPoint:
        """At gamma (4,); raises LinAlgError where the factors have no digits left."""
        gamma = np.asarray(gamma, dtype=float)
        design = layers.design
        sums, contrasts = (
            factored.factorise(design, np.ascontiguousarray(gamma @ loadings))
            for loadings in _loadings(layers.n_systems)[:, :4, :2]
        )
        each = (sums, *[contrasts] * (layers.n_systems - 1))
        profiles = tuple(
            factored.profile(design, response, factor, True)
            for response, factor in zip(layers.responses, each, strict=True)
        )
        if not (sums.ok and contrasts.ok and all(np.isfinite(each.phi).all() for each in profiles)):
            raise LinAlgError("not positive definite")
        return cls(layers, gamma, (sums, contrasts), profiles)

    def moved(self, gamma: Floats) -> PairedPoint:
        """The same table at another gamma."""
        return self.of_layers(self.layers, gamma)

    @property
    def df(self) -> int:
        """Ratings less means."""
        return self.layers.n_systems * (self.layers.design.n - 1)

    @property
    def beta(self) -> Floats:
        """Means, (K,)."""
        return np.asarray(self.layers.rotation.T @ np.array([prof.beta[0] for prof in self.profiles]))

    @property
    def phi(self) -> Floats:
        """(X'H^-1 X)^-1."""
        return self._turned(np.array([prof.phi[0, 0] for prof in self.profiles]))

    @property
    def rss(self) -> float:
        """y'P y."""
        return float(sum(prof.rss for prof in self.profiles))

    @property
    def criterion(self) -> float:
        """-2 log restricted likelihood, sigma^2 profiled out."""
        rss = self.rss
        if not rss > 0:
            return math.inf
        fixed = -sum(math.log(prof.phi[0, 0]) for prof in self.profiles)
        log_det = sum(
            times * factor.log_det for times, factor in zip(self._times, self.factors, strict=True)
        )
        return float(self.df * (1.0 + math.log(2.0 * math.pi * rss / self.df)) + log_det + fixed)

    def working_products(self) -> tuple[Floats, Floats]:
        """y'P G_s P G_t P y (4, 4) and y'P G_t P y (4,)."""
        quadratic, size = np.zeros((4, 4)), np.zeros(4)
        for layer, prof in enumerate(self.profiles):
            kind = min(layer, 1)
            loadings = _loadings(self.layers.n_systems)[kind, :4, :2]
            own, own_size = factored.working_products(self.layers.design, self.factors[kind], prof, 2)
            quadratic += loadings @ own @ loadings.T
            size += loadings @ own_size
        return quadratic, size

    def gradient(self, size: Floats) -> Floats:
        """d criterion / d gamma_t, (4,)."""
        slope = -size / (self.rss / self.df)
        design = self.layers.design
        parts = zip(
            _loadings(self.layers.n_systems), self._times, self.factors, self.profiles, strict=False
        )
        for loadings, times, factor, prof in parts:
            outer, inner = factored.seen_columns(design, prof)
            fixed = factored.sums_by_type(design, outer[:, 0] ** 2, inner[:, 0] ** 2) * prof.phi[0, 0]
            trace = factored.traces(design, factor, factor.gamma) - fixed
            slope = slope + times * (loadings[:4, :2] @ trace)
        return np.asarray(slope)

    def second_order(self) -> SecondOrder:
        """What standard errors and df need."""
        K = self.layers.n_systems
        expected, xgx, xggx = np.zeros((5, 5)), [], []
        for loadings, times, factor, prof in zip(
            _loadings(K), self._times, self.factors, self.profiles, strict=False
        ):
            info = self._information(factor, prof)
            own = information.expected_information(info, prof.phi, 1.0, True)
            expected += times * (loadings @ own @ loadings.T)
            xgx.append(loadings @ info.xgx[:, 0, 0])
            xggx.append(loadings @ info.xggx[:, :, 0, 0] @ loadings.T)
        kinds = np.minimum(np.arange(K), 1)
        return SecondOrder(
            expected,
            self._turned(np.moveaxis(np.array(xgx)[kinds], 0, -1)),
            self._turned(np.moveaxis(np.array(xggx)[kinds], 0, -1)),
        )

    def _information(self, factor: factored.SparseFactor, prof: Profile) -> Any:
        """The information of one layer, the residual last."""
        design = self.layers.design
        norm, single, double = np.empty((2, 2)), np.empty((2, 1, 1)), np.empty((2, 2, 1, 1))
        large_information.second_order(design, factor, prof, norm, single, double)
        trace = factored.traces(design, factor, factor.gamma)
        return information.with_residual(factor.gamma, trace, norm, single, double, prof.phi, design.n)

    @property
    def _times(self) -> tuple[int, int]:
        """How many layers each factor stands for."""
        return 1, self.layers.n_systems - 1

    def _turned(self, diagonal: Floats) -> Floats:
        """Q' diag(d) Q for each d in the last axis of `diagonal`, (..., K, K)."""
        turn = self.layers.rotation
        return np.asarray((turn.T * diagonal[..., None, :]) @ turn)


def _loadings(n_systems: int) -> Floats:
    """How much each variance (outer, outer x system, inner, inner x system, residual) adds to those of a layer
    (outer, inner, residual), (2, 5, 3): of the first layer, and of any other."""
    values = np.zeros((2, 5, 3))
    values[0, 0, 0] = values[0, 2, 1] = n_systems
    values[:, 1, 0] = values[:, 3, 1] = values[:, 4, 2] = 1.0
    return values

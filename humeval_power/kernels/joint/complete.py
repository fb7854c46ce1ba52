"""The crossed model of K systems in a complete balanced table: everything by matrices of systems x systems.

Every worker rates every item under all K systems r times. Workers' deviations from the means are then
independent of items' and of the residuals: with Sw the m - 1 cross products of workers' means (times n r), Si
the n - 1 of items' (times m r),

    y'Py = tr(Aw^-1 Sw) + tr(Ai^-1 Si) + S_e,    Aw = I + n r Cov(worker),    Ai = I + m r Cov(item),

in units of the residual variance, and the means are the plain ones, with covariance (Aw + Ai - I) / (m n r).
Worker and item covariances are gamma_0 J + diag(gamma_1, ..., gamma_K).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humeval_power.kernels.joint.reml import SecondOrder

Floats = NDArray[np.float64]


class JointStrata(NamedTuple):
    """Sums of a complete table: means (K,), cross products of workers and of items (K, K), the residual sum of
    squares, and the sizes."""

    means: Floats
    workers: Floats
    items: Floats
    residual: float
    sizes: tuple[int, int, int, int]

    @classmethod
    def of_table(cls, table: Floats) -> JointStrata:
        """table (workers, items, systems, repeats)."""
        m, n, _, r = table.shape
        means = table.mean(axis=(0, 1, 3))
        centred = table - means[:, None]
        by_worker, by_item = centred.mean(axis=(1, 3)), centred.mean(axis=(0, 3))
        workers, items = n * r * by_worker.T @ by_worker, m * r * by_item.T @ by_item
        residual = float((centred**2).sum() - np.trace(workers) - np.trace(items))
        return cls(means, workers, items, max(residual, 0.0), table.shape)


class CompletePoint(NamedTuple):
    """The likelihood of a complete table at one gamma: worker, worker x system, item, item x system."""

    strata: JointStrata
    gamma: Floats
    inverses: tuple[Floats, Floats]
    log_det: float

    @classmethod
    def of_table(cls, strata: JointStrata, gamma: Floats) -> CompletePoint:
        """At gamma (2 (1 + K),), all >= 0."""
        m, n, K, r = strata.sizes
        gamma = np.asarray(gamma, dtype=float)
        inverses, log_det = [], 0.0
        for part, times, levels in ((gamma[: K + 1], n * r, m), (gamma[K + 1 :], m * r, n)):
            matrix = times * part[0] + np.diag(1.0 + times * part[1:])
            inverses.append(np.linalg.inv(matrix))
            log_det += (levels - 1) * float(np.linalg.slogdet(matrix)[1])
        return cls(strata, gamma, (inverses[0], inverses[1]), log_det)

    def moved(self, gamma: Floats) -> CompletePoint:
        """The same table at another gamma."""
        return self.of_table(self.strata, gamma)

    @property
    def df(self) -> int:
        """Ratings less means."""
        return math.prod(self.strata.sizes) - self.strata.sizes[2]

    @property
    def beta(self) -> Floats:
        """Means, (K,)."""
        return self.strata.means

    @property
    def phi(self) -> Floats:
        """(X'H^-1 X)^-1."""
        m, n, K, r = self.strata.sizes
        worker, item = self.gamma[: K + 1], self.gamma[K + 1 :]
        own = worker[1:] / m + item[1:] / n + 1.0 / (m * n * r)
        return np.asarray(worker[0] / m + item[0] / n + np.diag(own))

    @property
    def rss(self) -> float:
        """y'P y."""
        parts = zip(self.inverses, (self.strata.workers, self.strata.items), strict=True)
        return self.strata.residual + sum(float((inverse * sums).sum()) for inverse, sums in parts)

    @property
    def criterion(self) -> float:
        """-2 log restricted likelihood, sigma^2 profiled out."""
        m, n, K, r = self.strata.sizes
        rss = self.rss
        if not rss > 0:
            return math.inf
        constant = K * math.log(m * n * r)
        return self.df * (1.0 + math.log(2.0 * math.pi * rss / self.df)) + self.log_det + constant

    def working_products(self) -> tuple[Floats, Floats]:
        """y'P G_s P G_t P y (variances, variances) and y'P G_t P y (variances,)."""
        m, n, K, r = self.strata.sizes
        quadratic, size = np.zeros((2 * K + 2, 2 * K + 2)), np.zeros(2 * K + 2)
        places = (slice(0, K + 1), slice(K + 1, 2 * K + 2))
        sums = (self.strata.workers, self.strata.items)
        for place, U, S, times in zip(places, self.inverses, sums, (n * r, m * r), strict=True):
            seen = U @ S @ U
            size[place] = times * np.array([seen.sum(), *np.diag(seen)])
            quadratic[place, place] = times**2 * _contracted(U, seen)
        return quadratic, size

    def gradient(self, size: Floats) -> Floats:
        """d criterion / d gamma_t, (variances,)."""
        m, n, _, r = self.strata.sizes
        trace = [
            (levels - 1) * times * np.array([U.sum(), *np.diag(U)])
            for U, levels, times in zip(self.inverses, (m, n), (n * r, m * r), strict=True)
        ]
        return np.asarray(np.concatenate(trace) - size / (self.rss / self.df))

    def second_order(self) -> SecondOrder:
        """What standard errors and df need; the means do not depend on gamma, so nothing is adjusted."""
        m, n, K, r = self.strata.sizes
        q = 2 * K + 2
        expected = np.zeros((q + 1, q + 1))
        expected[q, q] = K * m * n * r - K * m - K * n + K
        derivatives = np.zeros((q + 1, K, K))
        derivatives[q] = np.eye(K) / (m * n * r)
        for first, U, levels, times in (
            (0, self.inverses[0], m, n * r),
            (K + 1, self.inverses[1], n, m * r),
        ):
            place = slice(first, first + K + 1)
            expected[place, place] = (levels - 1) * times**2 * _contracted(U, U)
            square = U @ U
            expected[q, place] = (levels - 1) * times * np.array([square.sum(), *np.diag(square)])
            expected[place, q] = expected[q, place]
            expected[q, q] += (levels - 1) * np.trace(square)
            derivatives[first] = 1.0 / levels
            derivatives[np.arange(first + 1, first + K + 1), np.arange(K), np.arange(K)] = 1.0 / levels
        precision = np.linalg.inv(self.phi)
        xgx = precision @ derivatives @ precision
        return SecondOrder(0.5 * expected, xgx, np.einsum("sab,tbc->stac", xgx @ self.phi, xgx))


def _contracted(U: Floats, W: Floats) -> Floats:
    """tr(U D_s W D_t) for D = all ones and each e e', shape (1 + K, 1 + K); U and W symmetric."""
    K = len(U)
    values = np.empty((K + 1, K + 1))
    values[0, 0] = U.sum() * W.sum()
    values[0, 1:] = values[1:, 0] = U.sum(axis=0) * W.sum(axis=0)
    values[1:, 1:] = U * W
    return values

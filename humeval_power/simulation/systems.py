"""Simulate studies of several systems: their ratings, or the sums of complete tables that stand for them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humeval_power.designs import Assignment, Design
from humeval_power.systems import SystemsParameters

Floats = NDArray[np.float64]


class CompleteSums(NamedTuple):
    """Complete balanced tables by their sums: means (n, K), cross products of workers' and of items' means around
    them (n, K, K), times items x repeats and workers x repeats, and residual sums of squares of each system (n, K).
    """

    means: Floats
    workers: Floats
    items: Floats
    residual: Floats

    @classmethod
    def of_ratings(cls, ratings: Floats) -> CompleteSums:
        """ratings (n, workers, items, systems, repeats)."""
        _, m, n, _, r = ratings.shape
        means = ratings.mean(axis=(1, 2, 4))
        centred = ratings - means[:, None, None, :, None]
        by_worker, by_item = centred.mean(axis=(2, 4)), centred.mean(axis=(1, 4))
        workers = n * r * by_worker.transpose(0, 2, 1) @ by_worker
        items = m * r * by_item.transpose(0, 2, 1) @ by_item
        total = (centred**2).sum(axis=(1, 2, 4))
        diagonals = np.einsum("akk->ak", workers) + np.einsum("akk->ak", items)
        return cls(means, workers, items, np.maximum(total - diagonals, 0.0))


def draw_sums(
    parameters: SystemsParameters, design: Design, rng: np.random.Generator, n: int
) -> CompleteSums:
    """Sums of n complete studies of Gaussian ratings: their means, workers, items and residuals are independent."""
    m, items, r = design.n_workers, design.n_items, design.n_repeats
    K, noise = parameters.n_systems, parameters.sd_residual**2
    worker = _covariance(parameters.sd_worker, parameters.sd_worker_system)
    item = _covariance(parameters.sd_item, parameters.sd_item_system)
    of_means = worker / m + item / items + noise * np.eye(K) / (m * items * r)
    means = np.array(parameters.means) + rng.standard_normal((n, K)) @ _root(of_means).T
    sums = []
    for levels, covariance, times in ((m, worker, items * r), (items, item, m * r)):
        root = _root(noise * np.eye(K) + times * covariance)
        rows = rng.standard_normal((n, levels - 1, K)) @ root.T
        sums.append(rows.transpose(0, 2, 1) @ rows)
    residual = noise * rng.chisquare(m * items * r - m - items + 1, (n, K))
    return CompleteSums(means, sums[0], sums[1], residual)


class SystemNormals(NamedTuple):
    """Independent standard normal numbers that n studies of K systems are drawn from: of workers and of items what
    each gives all systems (n, levels, 1) and each system (n, levels, K), and of ratings (n, n_ratings)."""

    worker: tuple[Floats, Floats]
    item: tuple[Floats, Floats]
    noise: Floats


def draw_system_ratings(
    parameters: SystemsParameters, design: Design, rng: np.random.Generator, n: int = 1
) -> Floats:
    """Gaussian ratings of n studies (n, n_ratings) in the order of the assignment."""
    rows, K = design.assignment, parameters.n_systems

    def levels(count: int) -> tuple[Floats, Floats]:
        return rng.standard_normal((n, count, 1)), rng.standard_normal((n, count, K))

    worker, item = levels(design.n_workers), levels(design.n_items)
    noise = rng.standard_normal((n, len(rows.worker)))
    return system_values(parameters, rows, SystemNormals(worker, item, noise))


def system_values(parameters: SystemsParameters, rows: Assignment, drawn: SystemNormals) -> Floats:
    """The Gaussian ratings (n, n_ratings) that these numbers make."""
    n, K = len(drawn.noise), parameters.n_systems
    worker = _deviations(*drawn.worker, parameters.sd_worker, parameters.sd_worker_system)
    item = _deviations(*drawn.item, parameters.sd_item, parameters.sd_item_system)
    rating = worker.reshape(n, -1)[:, rows.worker * K + rows.system]
    rating += item.reshape(n, -1)[:, rows.item * K + rows.system]
    rating += parameters.sd_residual * drawn.noise
    return np.asarray(rating + np.array(parameters.means)[rows.system])


def _deviations(shared: Floats, own: Floats, sd_shared: float, sd_own: tuple[float, ...]) -> Floats:
    """What each level gives each system, (n, levels, K)."""
    return np.asarray(sd_shared * shared + np.array(sd_own) * own)


def _covariance(shared: float, own: tuple[float, ...]) -> Floats:
    return np.asarray(shared**2 + np.diag(np.array(own) ** 2))


def _root(covariance: Floats) -> Floats:
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)

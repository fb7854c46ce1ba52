"""Simulate studies of several systems: their ratings, or the sums of complete tables that stand for them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humeval_power.designs import Assignment, Codes, Design
from humeval_power.systems import SystemsParameters

Floats = NDArray[np.float64]


class CompleteSums(NamedTuple):
    """Complete balanced tables by their sums: means (n, K), cross products of workers' and of items' means around
    them (n, K, K), times items x repeats and workers x repeats, and residual sums of squares of each system (n, K).

    Where items come out of documents of equal size `items` are around the means of their documents, and `documents`
    the cross products of these, times workers x items of each x repeats; else there are none.
    """

    means: Floats
    workers: Floats
    items: Floats
    residual: Floats
    documents: Floats

    @classmethod
    def of_ratings(cls, ratings: Floats, document_of_item: Codes | None = None) -> CompleteSums:
        """ratings (n, workers, items, systems, repeats); document_of_item (items,)."""
        _, m, n, _, r = ratings.shape
        means = ratings.mean(axis=(1, 2, 4))
        centred = ratings - means[:, None, None, :, None]
        by_worker, by_item = centred.mean(axis=(2, 4)), centred.mean(axis=(1, 4))
        workers = n * r * by_worker.transpose(0, 2, 1) @ by_worker
        documents = np.zeros_like(workers)
        if document_of_item is not None:
            in_order = by_item[:, np.argsort(document_of_item, kind="stable")]
            each = n // (int(document_of_item.max()) + 1)
            by_document = in_order.reshape(len(in_order), -1, each, in_order.shape[2]).mean(axis=2)
            documents = m * each * r * by_document.transpose(0, 2, 1) @ by_document
            by_item = in_order - np.repeat(by_document, each, axis=1)
        items = m * r * by_item.transpose(0, 2, 1) @ by_item
        total = (centred**2).sum(axis=(1, 2, 4))
        diagonals = sum(np.einsum("akk->ak", cross) for cross in (workers, items, documents))
        return cls(means, workers, items, np.maximum(total - diagonals, 0.0), documents)


def draw_sums(
    parameters: SystemsParameters, design: Design, rng: np.random.Generator, n: int
) -> CompleteSums:
    """Sums of n complete studies of Gaussian ratings: their means, workers, items, documents and residuals are
    independent. What documents need is drawn last."""
    m, items, r, d = design.n_workers, design.n_items, design.n_repeats, design.n_documents
    K, noise = parameters.n_systems, parameters.sd_residual**2
    worker, item, document = (
        _covariance(parameters.variances(factor)) for factor in ("worker", "item", "document")
    )
    of_means = worker / m + item / items + noise * np.eye(K) / (m * items * r)
    of_means += document / d if d else 0.0
    means = np.array(parameters.means) + rng.standard_normal((n, K)) @ _root(of_means).T

    def squares(df: int, covariance: Floats) -> Floats:
        rows = rng.standard_normal((n, df, K)) @ _root(noise * np.eye(K) + covariance).T
        return np.asarray(rows.transpose(0, 2, 1) @ rows)

    of_workers = squares(m - 1, items * r * worker)
    of_items = squares(items - (d or 1), m * r * item)
    residual = noise * rng.chisquare(m * items * r - m - items + 1, (n, K))
    of_documents = np.zeros_like(of_workers)
    if d:
        of_documents = squares(d - 1, m * r * (item + items / d * document))
    return CompleteSums(means, of_workers, of_items, residual, of_documents)


class SystemNormals(NamedTuple):
    """Independent standard normal numbers that n studies of K systems are drawn from: of workers, of items and of
    documents what each gives all systems (n, levels, 1) and each system (n, levels, K), and of ratings
    (n, n_ratings)."""

    worker: tuple[Floats, Floats]
    item: tuple[Floats, Floats]
    noise: Floats
    document: tuple[Floats, Floats] | None = None


def draw_system_ratings(
    parameters: SystemsParameters, design: Design, rng: np.random.Generator, n: int = 1
) -> Floats:
    """Gaussian ratings of n studies (n, n_ratings) in the order of the assignment; documents are drawn last."""
    rows, K = design.assignment, parameters.n_systems

    def levels(count: int) -> tuple[Floats, Floats]:
        return rng.standard_normal((n, count, 1)), rng.standard_normal((n, count, K))

    worker, item = levels(design.n_workers), levels(design.n_items)
    noise = rng.standard_normal((n, len(rows.worker)))
    document = levels(design.n_documents) if rows.document is not None else None
    return system_values(parameters, rows, SystemNormals(worker, item, noise, document))


def system_values(parameters: SystemsParameters, rows: Assignment, drawn: SystemNormals) -> Floats:
    """The Gaussian ratings (n, n_ratings) that these numbers make."""
    n, K = len(drawn.noise), parameters.n_systems
    worker = _deviations(*drawn.worker, parameters.sd_worker, parameters.sd_worker_system)
    item = _deviations(*drawn.item, parameters.sd_item, parameters.sd_item_system)
    rating = worker.reshape(n, -1)[:, rows.worker * K + rows.system]
    rating += item.reshape(n, -1)[:, rows.item * K + rows.system]
    if rows.document is not None and drawn.document is not None:
        document = _deviations(*drawn.document, parameters.sd_document, parameters.sd_document_system)
        rating += document.reshape(n, -1)[:, rows.document * K + rows.system]
    rating += parameters.sd_residual * drawn.noise
    return np.asarray(rating + np.array(parameters.means)[rows.system])


def _deviations(shared: Floats, own: Floats, sd_shared: float, sd_own: tuple[float, ...]) -> Floats:
    """What each level gives each system, (n, levels, K)."""
    return np.asarray(sd_shared * shared + np.array(sd_own) * own)


def _covariance(variances: tuple[float, ...]) -> Floats:
    return np.asarray(variances[0] + np.diag(variances[1:]))


def _root(covariance: Floats) -> Floats:
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)

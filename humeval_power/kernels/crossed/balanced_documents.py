"""Complete balanced designs whose items come out of documents of equal size: seven strata, and REML in
closed form.

Every worker rates every item under both systems r times; D documents have q items each, n = D q. Beside
the strata of `balanced` there are two of the documents, and the items vary within them:

    0 worker            E[MS] = s2 + 2 n r Var(W0)                              df m - 1
    1 worker x system   E[MS] = s2 + n r Var(W1) / 2                            df m - 1
    2 item              E[MS] = s2 + 2 m r Var(I0)                              df n - D
    3 item x system     E[MS] = s2 + m r Var(I1) / 2                            df n - D
    4 document          E[MS] = s2 + 2 m r Var(I0) + 2 m r q Var(D0)            df D - 1
    5 document x system E[MS] = s2 + m r Var(I1) / 2 + m r q Var(D1) / 2        df D - 1
    6 residual          E[MS] = s2                              df 2 m n r - 2 m - 2 n + 2

The item's strata never enter the variance of the difference: what items add is in the documents' strata
already. All functions are vectorised over replicates (last axis) and use NumPy alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
WORKER, WORKER_SYSTEM, ITEM, ITEM_SYSTEM, DOCUMENT, DOCUMENT_SYSTEM, RESIDUAL = range(7)
_OF_DIFFERENCE = (WORKER_SYSTEM, ITEM_SYSTEM, DOCUMENT_SYSTEM, RESIDUAL)
_WITHIN = (
    (DOCUMENT, ITEM),
    (DOCUMENT_SYSTEM, ITEM_SYSTEM),
)  # a document's stratum is never below its items'


class DocumentsSize(NamedTuple):
    """Workers, documents, items of each document, and ratings of each worker for each item and system."""

    workers: int
    documents: int
    each: int
    repeats: int = 1

    @property
    def items(self) -> int:
        """Items over all documents."""
        return self.documents * self.each


def degrees_of_freedom(size: DocumentsSize) -> Floats:
    """df of the seven strata, shape (7,); 0 for the items of documents with one item each."""
    m, d, _, r = size
    n = size.items
    leaves = [m - 1.0, m - 1.0, n - d, n - d, d - 1.0, d - 1.0]
    return np.array([*leaves, 2.0 * m * n * r - 2 * m - 2 * n + 2])


def difference_df(size: DocumentsSize) -> Floats:
    """df of the seven strata when only differences are analysed, shape (7,)."""
    df = degrees_of_freedom(size)
    df[RESIDUAL] = (size.workers - 1.0) * (size.items - 1.0)
    return df


def expected_mean_squares(size: DocumentsSize, variances: Floats) -> Floats:
    """E[MS] of the seven strata for variances (W0, W1, I0, I1, D0, D1, residual), shape (7,)."""
    m, _, q, r = size
    w0, w1, i0, i1, d0, d1, residual = variances
    n = size.items
    item, item_system = residual + 2 * m * r * i0, residual + m * r * i1 / 2
    return np.array(
        [
            residual + 2 * n * r * w0,
            residual + n * r * w1 / 2,
            item,
            item_system,
            item + 2 * m * r * q * d0,
            item_system + m * r * q * d1 / 2,
            residual,
        ]
    )


def mean_squares(ratings: Floats, documents: int) -> tuple[Floats, Floats]:
    """Mean squares (7, replicates) and difference B - A (replicates,) of complete tables.

    ratings : (replicates, workers, items, systems = 2, repeats), the items of a document side by side.
    """
    _, m, n, _, r = ratings.shape
    size = DocumentsSize(m, documents, n // documents, r)
    cell = ratings.mean(axis=4)
    within = ((ratings - cell[..., None]) ** 2).sum(axis=(1, 2, 3, 4))
    squares = np.zeros((7, len(ratings)))
    squares[RESIDUAL] = within
    for place, part, weight in ((0, cell.mean(axis=3), 2.0 * r), (1, cell[..., 1] - cell[..., 0], r / 2.0)):
        worker, item, document, left = _sums(part, size)
        squares[WORKER + place], squares[ITEM + place] = weight * worker, weight * item
        squares[DOCUMENT + place] = weight * document
        squares[RESIDUAL] += weight * left
    difference = (cell[..., 1] - cell[..., 0]).mean(axis=(1, 2))
    return _per_df(squares, degrees_of_freedom(size)), difference


def difference_squares(ratings: Floats, documents: int) -> tuple[Floats, Floats]:
    """The same for an analysis of differences: the strata of the means are infinite, so that they are never
    pooled and never used."""
    _, m, n, _, r = ratings.shape
    size = DocumentsSize(m, documents, n // documents, r)
    cell = ratings.mean(axis=4)
    d = cell[..., 1] - cell[..., 0]
    squares = np.full((7, len(ratings)), np.inf)
    for stratum, total in zip(
        (WORKER_SYSTEM, ITEM_SYSTEM, DOCUMENT_SYSTEM, RESIDUAL), _sums(d, size), strict=True
    ):
        squares[stratum] = r / 2.0 * total
    return _per_df(squares, difference_df(size)), d.mean(axis=(1, 2))


def _sums(part: Floats, size: DocumentsSize) -> tuple[Floats, Floats, Floats, Floats]:
    """Sums of squares of workers, items within documents, documents and the rest; part (replicates, m, n)."""
    grand = part.mean(axis=(1, 2))
    by_worker = part.mean(axis=2) - grand[:, None]
    by_item = part.mean(axis=1) - grand[:, None]
    by_document = by_item.reshape(len(part), size.documents, size.each).mean(axis=2)
    inside = by_item - np.repeat(by_document, size.each, axis=1)
    left = part - grand[:, None, None] - by_worker[:, :, None] - by_item[:, None, :]
    return (
        size.items * (by_worker**2).sum(axis=1),
        size.workers * (inside**2).sum(axis=1),
        size.workers * size.each * (by_document**2).sum(axis=1),
        (left**2).sum(axis=(1, 2)),
    )


def _per_df(squares: Floats, df: Floats) -> Floats:
    """Mean squares; a stratum without df has none, and counts as infinite: it is never pooled or used."""
    exists = df > 0
    squares[exists] /= df[exists, None]
    squares[~exists] = np.inf
    return squares


class DocumentStrata(NamedTuple):
    """REML estimates of the expected mean squares (7, replicates); which components are exactly zero (6,
    replicates): a worker's or an item's stratum joined the residual's, a document's its items'; and which
    documents' stratum x system joined the residual's (replicates,). `residual_df` and `document_df` are those
    of the residual's and of the documents' x system stratum with all that joined them."""

    expected: Floats
    zero: Mask
    document_in_residual: Mask
    residual_df: Floats
    document_df: Floats


def pool(squares: Floats, df: Floats) -> DocumentStrata:
    """REML under the order document >= item >= residual, worker >= residual (Thompson 1962; Robertson, Wright
    and Dykstra 1988, chapter 1).

    Where a document's mean square lies below its items', the two are one stratum. The strata then join the
    residual's in increasing order, as in `balanced.pool`.
    """
    leaves, weight = squares[:RESIDUAL].copy(), np.repeat(df[:RESIDUAL, None], squares.shape[1], axis=1)
    zero = np.zeros(leaves.shape, dtype=np.bool_)
    for upper, lower in _WITHIN:
        if df[lower] == 0:  # an item is a document: what varies between them is all one
            continue
        both = (leaves[upper] <= leaves[lower]) & np.isfinite(leaves[upper])
        parts = df[upper] * leaves[upper][both] + df[lower] * leaves[lower][both]
        leaves[upper, both] = leaves[lower, both] = parts / (df[upper] + df[lower])
        zero[upper] = both
    residual, residual_df = squares[RESIDUAL], np.full(squares.shape[1], df[RESIDUAL])
    total, column = residual * residual_df, np.arange(squares.shape[1])
    joining, joined = np.ones(total.shape, dtype=np.bool_), np.zeros(leaves.shape, dtype=np.bool_)
    order = np.argsort(leaves, axis=0, kind="stable")
    for leaf in order:
        value = leaves[leaf, column]
        joining &= value * residual_df <= total
        joined[leaf, column] = joining
        total = total + np.where(joining, weight[leaf, column] * np.where(joining, value, 0.0), 0.0)
        residual_df = residual_df + np.where(joining, weight[leaf, column], 0.0)
    residual = total / residual_df
    zero[[lower for _, lower in _WITHIN if df[lower] == 0]] = True
    document_df = df[DOCUMENT_SYSTEM] + np.where(zero[DOCUMENT_SYSTEM], df[ITEM_SYSTEM], 0.0)
    return DocumentStrata(
        np.concatenate([np.maximum(leaves, residual), residual[None]]),
        zero | joined,
        joined[DOCUMENT_SYSTEM],
        residual_df,
        document_df,
    )


def _combined(expected: Floats) -> Floats:
    return np.asarray(expected[WORKER_SYSTEM] + expected[DOCUMENT_SYSTEM] - expected[RESIDUAL])


def effect_variance(expected: Floats, size: DocumentsSize) -> Floats:
    """Variance of the estimated difference: Var(W1)/m + Var(D1)/D + Var(I1)/n + 2 s2/(m n r)."""
    return np.asarray(2.0 * _combined(expected) / (size.workers * size.items * size.repeats))


def kenward_roger_df(expected: Floats, df: Floats) -> Floats:
    """Satterthwaite's formula on the three strata of the difference, none ever dropped: Kenward and Roger's
    df, as in `balanced`."""
    spread = sum(expected[k] ** 2 / df[k] for k in (WORKER_SYSTEM, DOCUMENT_SYSTEM, RESIDUAL))
    return np.asarray(_combined(expected) ** 2 / spread)


def satterthwaite_df(strata: DocumentStrata, df: Floats) -> Floats:
    """lmerTest's df: a stratum that joined another has given its degrees of freedom to that one."""
    expected = strata.expected
    worker, document = ~strata.zero[WORKER_SYSTEM], ~strata.document_in_residual
    weight = 1.0 - worker.astype(float) - document.astype(float)
    spread = (
        worker * expected[WORKER_SYSTEM] ** 2 / df[WORKER_SYSTEM]
        + document * expected[DOCUMENT_SYSTEM] ** 2 / strata.document_df
        + weight**2 * expected[RESIDUAL] ** 2 / strata.residual_df
    )
    return np.asarray(_combined(expected) ** 2 / spread)


def without_documents(squares: Floats, size: DocumentsSize) -> Floats:
    """The five mean squares of `balanced` in the same tables, whose items are all the items there are."""
    df = degrees_of_freedom(size)
    values = np.empty((5, squares.shape[1]))
    values[:2], values[4] = squares[:2], squares[RESIDUAL]
    for place, (upper, lower) in enumerate(_WITHIN):
        within = df[lower] * squares[lower] if df[lower] else 0.0
        values[2 + place] = (df[upper] * squares[upper] + within) / (df[upper] + df[lower])
    return values


def draw_mean_squares(
    rng: np.random.Generator,
    *,
    size: DocumentsSize,
    expected: Floats,
    n_replicates: int,
    interaction: float = 0.0,
    of_differences: bool = False,
) -> tuple[Floats, Floats]:
    """Mean squares (7, n) and error of the estimated difference (n,) of Gaussian studies, drawn from their
    own distributions.

    interaction : a variance between worker-item pairs, which enters the strata of the means alone.
    of_differences : for an analysis of differences; the strata of the means are then infinite.
    """
    df = difference_df(size) if of_differences else degrees_of_freedom(size)
    squares = np.full((7, n_replicates), np.inf)
    of_means = 2 * size.repeats * interaction
    for k in range(RESIDUAL + 1):
        if df[k] == 0 or (of_differences and k not in _OF_DIFFERENCE):
            continue
        mean = expected[k] + (of_means if k in (WORKER, ITEM, DOCUMENT) else 0.0)
        squares[k] = rng.chisquare(df[k], n_replicates) * (mean / df[k])
    if interaction > 0 and not of_differences:
        pairs = (size.workers - 1.0) * (size.items - 1.0)
        total = rng.chisquare(df[RESIDUAL] - pairs, n_replicates) * expected[RESIDUAL]
        total += rng.chisquare(pairs, n_replicates) * (expected[RESIDUAL] + of_means)
        squares[RESIDUAL] = total / df[RESIDUAL]
    noise = rng.standard_normal(n_replicates) * np.sqrt(effect_variance(expected, size))
    return squares, noise

"""Precision of many regular designs at once: m workers, n items, k ratings per item and system.

In a regular design all workers carry the same load and all items have the same number of ratings.
Its variance is exact; its df needs the singular values of the worker-item incidence matrix, which are
taken as equal, as they are in a balanced incomplete block design. That is exact for complete designs
and for one rating per item, and within about one per cent otherwise. All functions are vectorised.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from humeval_power.inference.equivalence_power import equivalence_power
from humeval_power.kernels.crossed import balanced_documents
from humeval_power.parameters import FURTHER_DEVIATIONS, STANDARD_DEVIATIONS, Parameters
from humeval_power.rules import DEFAULT_RULE, DecisionRule

Floats = NDArray[np.float64]


class RegularPrecision(NamedTuple):
    """Variance of the estimated difference B - A on [0, 1] and its df, one entry for each design."""

    variance: Floats
    df: Floats


class Dimensions(NamedTuple):
    """Shape of the space of pairs (worker, item): counts of its parts.

    overlap : squared cosine between a worker's and an item's direction that meet.
    """

    meeting: Floats  # planes of one worker and one item direction
    confounded: Floats  # directions that workers and items share
    worker: Floats
    item: Floats
    residual: Floats
    overlap: Floats
    load: Floats  # items per worker
    ratings: Floats  # workers per item


class Variances(NamedTuple):
    """Variances under difference coding; numbers, or arrays that broadcast against the designs'."""

    worker_intercept: ArrayLike
    worker_slope: ArrayLike
    item_intercept: ArrayLike
    item_slope: ArrayLike
    residual: ArrayLike
    worker_item: ArrayLike = 0.0
    document_intercept: ArrayLike = 0.0
    document_slope: ArrayLike = 0.0

    @classmethod
    def of(cls, parameters: Parameters) -> Variances:
        """From parameters under any coding."""
        coded = parameters.recoded()
        return cls(*(getattr(coded, name) ** 2 for name in (*STANDARD_DEVIATIONS, *FURTHER_DEVIATIONS)))


def regular_precision(
    variances: Variances | Parameters,
    *,
    workers: ArrayLike,
    items: ArrayLike,
    ratings_per_item: ArrayLike,
    paired: bool = True,
    documents: ArrayLike = 0,
) -> RegularPrecision:
    """Variance and df for arrays of m, n and k that broadcast against each other.

    documents : how many the items come out of; 0 where they stand alone. With documents the df is exact for
        complete designs; else what the items of a document add is split between the document and the
        noise, and the df is within about a tenth.

    Unpaired: k workers see an item under A and k others under B. The variance is that of the paired
    design; the df, too, is taken from it, although worker and item intercepts blur what such a study
    learns about its slopes: usually 0.9 to 1.5 times the exact df, and up to four times where intercepts
    vary far more than slopes. It serves to rank designs; powers are reported from the exact one.
    """
    v = variances if isinstance(variances, Variances) else Variances.of(variances)
    arrays = np.broadcast_arrays(
        *(np.asarray(x, dtype=float) for x in (workers, items, ratings_per_item, documents, *v))
    )
    m, n, k, nested, *parts = arrays
    if nested.any():
        return _nested(m, n, k, nested, Variances(*parts), paired=paired)
    w0, w1, i0, i1, noise, shared, *_ = parts
    share = 0.0 if paired else 2.0 * shared
    variance = w1 / m + i1 / n + (2 * noise + share) / (n * k)
    shape = dimensions(m, n, k)
    of_differences = _information(shape, w1, i1, 2.0 * noise, residual_weight=2.0)
    of_means = _information(shape, w0, i0, 0.5 * noise, residual_weight=0.5)
    information = of_differences.copy()
    information[..., 2, 2] += _schur(of_means)
    weight = np.stack([1 / m, 1 / n, 2 / (n * k)], axis=-1)
    spread = np.einsum("...a,...ab,...b->...", weight, pseudo_inverse(information), weight)
    return RegularPrecision(np.asarray(variance), 2.0 * variance**2 / spread)


def _nested(
    m: Floats, n: Floats, k: Floats, documents: Floats, v: Variances, *, paired: bool
) -> RegularPrecision:
    """Items in documents: each document as an item of which a worker gives several ratings. What its items
    add is the document's as far as workers share them, and noise as far as they do not."""
    each = n / documents
    on_document = np.minimum(m, each * k)  # workers who see anything of it
    pairs = each * k / on_document  # items that one of them sees
    shared = (1 - 1 / k) / (1 - 1 / m)  # none at one rating per item, all where every worker rates it
    intercept, slope = np.asarray(v.item_intercept), np.asarray(v.item_slope)
    as_items = Variances(
        v.worker_intercept,
        v.worker_slope,
        np.asarray(v.document_intercept) + shared * intercept / each,
        np.asarray(v.document_slope) + shared * slope / each,
        (np.asarray(v.residual) + (1 - shared) * k * slope / 2) / pairs,
        np.asarray(v.worker_item) / pairs,
    )
    found = regular_precision(
        as_items, workers=m, items=documents, ratings_per_item=on_document, paired=paired
    )
    complete = (k == m) & paired
    size = balanced_documents.Size(*np.stack([m, documents, each]))
    parts = (
        *(v.worker_intercept, v.worker_slope, v.item_intercept, v.item_slope),
        *(v.document_intercept, v.document_slope, v.residual),
    )
    expected = balanced_documents.expected_mean_squares(size, np.stack(parts))
    exact = balanced_documents.kenward_roger_df(expected, balanced_documents.degrees_of_freedom(size))
    return RegularPrecision(found.variance, np.where(complete, exact, found.df))


def dimensions(m: Floats, n: Floats, k: Floats) -> Dimensions:
    """The parts of the space of m workers' and n items' pairs, k of them with each item."""
    smaller = np.minimum(m, n) - 1
    overlap = np.clip((m / k - 1) / smaller, 0.0, 1.0)
    confounded = np.where(overlap > 1 - 1e-9, smaller, 0.0)
    meeting = smaller - confounded
    worker, item = m - 1 - smaller, n - 1 - smaller
    residual = np.maximum(n * k - 1 - 2 * meeting - confounded - worker - item, 0.0)
    return Dimensions(meeting, confounded, worker, item, residual, overlap, n * k / m, k)


def _information(
    shape: Dimensions, worker: Floats, item: Floats, noise: Floats, *, residual_weight: float
) -> Floats:
    """Expected information of (worker variance, item variance, residual variance), shape (..., 3, 3).

    In every part of the space V = noise + load x worker e e' + ratings x item c c'.
    """
    load, ratings, q = shape.load, shape.ratings, shape.overlap
    w = residual_weight
    result = np.zeros((*load.shape, 3, 3))

    def add(count: Floats, variance: Floats, slopes: tuple[ArrayLike, ArrayLike, ArrayLike]) -> None:
        vector = np.stack([np.broadcast_to(slope, load.shape) for slope in slopes], axis=-1)
        outer = vector[..., :, None] * vector[..., None, :]
        result[...] += (0.5 * count / variance**2)[..., None, None] * outer

    add(shape.confounded, noise + load * worker + ratings * item, (load, ratings, w))
    add(shape.worker, noise + load * worker, (load, 0.0, w))
    add(shape.item, noise + ratings * item, (0.0, ratings, w))
    add(shape.residual, noise, (0.0, 0.0, w))
    # planes: e = (1, 0), c = (sqrt q, sqrt(1 - q)); p = V^-1
    a = noise + load * worker + ratings * item * q
    b = ratings * item * np.sqrt(q * (1 - q))
    d = noise + ratings * item * (1 - q)
    det = a * d - b * b
    p11, p12, p22 = d / det, -b / det, a / det
    cos, sin = np.sqrt(q), np.sqrt(1 - q)
    pc1, pc2 = p11 * cos + p12 * sin, p12 * cos + p22 * sin  # p c
    half = 0.5 * shape.meeting
    entries = {
        (0, 0): load**2 * p11**2,
        (0, 1): load * ratings * pc1**2,
        (0, 2): w * load * (p11**2 + p12**2),
        (1, 1): ratings**2 * (cos * pc1 + sin * pc2) ** 2,
        (1, 2): w * ratings * (pc1**2 + pc2**2),
        (2, 2): w**2 * (p11**2 + 2 * p12**2 + p22**2),
    }
    for (row, column), value in entries.items():
        result[..., row, column] += half * value
        if row != column:
            result[..., column, row] += half * value
    return result


def _schur(information: Floats) -> Floats:
    """Information about the residual variance with the other two unknown."""
    inverse = pseudo_inverse(information[..., :2, :2])
    cross = information[..., :2, 2]
    return np.asarray(information[..., 2, 2] - np.einsum("...a,...ab,...b->...", cross, inverse, cross))


def pseudo_inverse(matrix: Floats) -> Floats:
    """Inverse of symmetric matrices (..., q, q); directions in which they are flat are left out."""
    diagonal = np.sqrt(np.diagonal(matrix, axis1=-2, axis2=-1))
    scale = np.where(diagonal > 0, diagonal, 1.0)
    outer = scale[..., :, None] * scale[..., None, :]
    return np.asarray(np.linalg.pinv(matrix / outer, rcond=1e-9, hermitian=True) / outer)


def powers(
    effect: ArrayLike,
    precision: RegularPrecision,
    *,
    smallest: ArrayLike = np.inf,
    rule: DecisionRule = DEFAULT_RULE,
) -> Floats:
    """Power for a positive effect, or for any under a rule with a margin; arrays that broadcast: the
    vectorised twin of analytic.power_at.

    smallest : min(workers, items) - 1, needed by the rule 'min' alone.
    """
    if rule.df == "normal":
        critical = np.asarray(-special.ndtri(rule.tail))
    else:
        df = np.asarray(smallest, dtype=np.float64) if rule.df == "min" else precision.df
        critical = np.asarray(-special.stdtrit(df, rule.tail))
    error = np.sqrt(precision.variance)
    if rule.alternative == "equivalent":
        return equivalence_power(effect, error, precision.df, margin=rule.margin or 0.0, critical=critical)
    ratio = (np.asarray(effect) + (rule.margin or 0.0)) / error
    below = special.nctdtr(precision.df, ratio, critical)
    certain = np.where(ratio > critical, 0.0, 1.0)  # where the tail is too far out to be computed
    return np.asarray(1.0 - np.where(np.isnan(below), certain, below))

"""Metrics of confusion matrices, for any number of matrices at once.

A matrix holds counts or probabilities, [..., true class, predicted class]. Where a metric divides by
nothing it is 0, as it is usual.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def accuracy(confusion: Floats) -> Floats:
    """Share of items that are right, shape (...)."""
    return _over(_right(confusion).sum(axis=-1), confusion.sum(axis=(-2, -1)))


def balanced_accuracy(confusion: Floats) -> Floats:
    """Mean recall of the classes that have items, shape (...)."""
    items = confusion.sum(axis=-1)
    return _over(_over(_right(confusion), items).sum(axis=-1), (items > 0).sum(axis=-1))


def recall(confusion: Floats) -> Floats:
    """Of each class, shape (..., classes)."""
    return _over(_right(confusion), confusion.sum(axis=-1))


def precision(confusion: Floats) -> Floats:
    """Of each class, shape (..., classes)."""
    return _over(_right(confusion), confusion.sum(axis=-2))


def f1(confusion: Floats) -> Floats:
    """Of each class, shape (..., classes)."""
    return _over(2 * _right(confusion), confusion.sum(axis=-1) + confusion.sum(axis=-2))


def macro_f1(confusion: Floats) -> Floats:
    """Mean F1 over all classes, shape (...); a class without items and predictions counts as 0."""
    return np.asarray(f1(confusion).mean(axis=-1))


def mcc(confusion: Floats) -> Floats:
    """Matthews's correlation (1975), for several classes Gorodkin's (2004), shape (...)."""
    items, predicted = confusion.sum(axis=-1), confusion.sum(axis=-2)
    total = items.sum(axis=-1)
    above = total * _right(confusion).sum(axis=-1) - (items * predicted).sum(axis=-1)
    below = (total**2 - (items**2).sum(axis=-1)) * (total**2 - (predicted**2).sum(axis=-1))
    return _over(above, np.sqrt(np.maximum(below, 0.0)))


OF_ALL: dict[str, Callable[[Floats], Floats]] = {
    "accuracy": accuracy,
    "balanced-accuracy": balanced_accuracy,
    "mcc": mcc,
    "macro-f1": macro_f1,
    "micro-f1": accuracy,  # each item has one true and one predicted class, so both are the same number
}
OF_A_CLASS: dict[str, Callable[[Floats], Floats]] = {"f1": f1, "precision": precision, "recall": recall}


def metric_value(name: str, confusion: Floats, *, positive: int) -> Floats:
    """A metric by name, shape (...); `positive` is the class of F1, precision and recall."""
    if name in OF_A_CLASS:
        return np.asarray(OF_A_CLASS[name](confusion)[..., positive])
    return OF_ALL[name](confusion)


def _right(confusion: Floats) -> Floats:
    return np.asarray(np.diagonal(confusion, axis1=-2, axis2=-1))


def _over(above: Floats, below: Floats) -> Floats:
    return np.asarray(np.divide(above, below, out=np.zeros(np.shape(above)), where=below > 0))

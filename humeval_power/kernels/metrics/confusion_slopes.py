"""Derivatives of metrics with respect to each entry of a confusion matrix, for the delta method.

Of one matrix (K, K), [true class, predicted class], of probabilities or counts; where a metric divides by nothing
its derivative is 0, as the metric is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from humeval_power.kernels.metrics.confusion import f1, metric_value, precision, recall

Floats = NDArray[np.float64]


def metric_slopes(name: str, confusion: Floats, *, positive: int) -> Floats:
    """Of a metric by name, shape (K, K); `positive` is the class of F1, precision and recall."""
    items, predicted = confusion.sum(axis=1), confusion.sum(axis=0)
    same, found = np.eye(len(confusion)), np.zeros(confusion.shape)
    if name == "recall":
        found[positive] = _over(same[positive] - recall(confusion)[positive], items[positive])
    elif name == "precision":
        found[:, positive] = _over(same[positive] - precision(confusion)[positive], predicted[positive])
    elif name == "f1":
        value, size = f1(confusion)[positive], (items + predicted)[positive]
        of_class = same[positive]
        away = 2 * np.outer(of_class, of_class) - value * (of_class[:, None] + of_class[None, :])
        found = _over(away, size)
    elif name == "macro-f1":
        value, size = f1(confusion), items + predicted
        part = _over(value, size)
        found = (np.diag(_over(np.full(len(size), 2.0), size)) - part[:, None] - part[None, :]) / len(size)
    elif name == "balanced-accuracy":
        rates, n_classes = recall(confusion), float((items > 0).sum())
        found = _over(same - rates[:, None], np.broadcast_to(items[:, None], same.shape)) / n_classes
    elif name == "mcc":
        found = _of_mcc(confusion, items, predicted)
    else:  # accuracy, which micro-F1 is too
        found = (same - metric_value("accuracy", confusion, positive=positive)) / confusion.sum()
    return np.asarray(found)


def has_slope(name: str, confusion: Floats) -> bool:
    """Whether a metric changes smoothly here: Matthews's correlation does not where all items are, or are
    predicted to be, of one class."""
    if name != "mcc":
        return True
    return bool((confusion.sum(axis=1) > 0).sum() > 1 and (confusion.sum(axis=0) > 0).sum() > 1)


def _of_mcc(confusion: Floats, items: Floats, predicted: Floats) -> Floats:
    total, right = confusion.sum(), np.trace(confusion)
    of_items, of_predicted = total**2 - items @ items, total**2 - predicted @ predicted
    if not has_slope("mcc", confusion):
        return np.zeros(confusion.shape)
    root = np.sqrt(of_items * of_predicted)
    value = (total * right - items @ predicted) / root
    above = right + total * np.eye(len(items)) - predicted[:, None] - items[None, :]
    below = ((total - items) / of_items)[:, None] + ((total - predicted) / of_predicted)[None, :]
    return np.asarray(above / root - value * below)


def _over(above: Floats, below: Floats) -> Floats:
    return np.asarray(np.divide(above, below, out=np.zeros(np.shape(above)), where=np.asarray(below) > 0))

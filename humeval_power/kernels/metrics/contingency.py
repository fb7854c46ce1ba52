"""The exact paired randomisation test of a metric of two classes.

Swapping an item between systems matters where they differ. Of the m_c items of class c that one system
alone has right, a random swap gives X_c ~ binomial(m_c, 1/2) to A, independently in both classes: the null
distribution lives on (m_0 + 1)(m_1 + 1) points. Every metric here falls in neither count when more items
are right, so the points with B - A >= d lie below a descending staircase, and one walk along it adds up
their probability in m_0 + m_1 steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from humeval_power.kernels.kernel import inner, kernel

CODES = {
    "accuracy": 0,
    "micro-f1": 0,
    "balanced-accuracy": 1,
    "recall": 2,
    "precision": 3,
    "f1": 4,
    "macro-f1": 5,
    "mcc": 6,
}
CLOSE = 1e-12  # differences that vary by rounding alone are equal
_REACH = 4.5  # times sqrt(m), that is 9 standard deviations: less than 1e-18 is left out


@kernel
def exact_p(counts, code, positive):
    """Two-sided p-values of tables (n, 2, 2, 2) [true class, prediction of A, of B], shape (n,)."""
    values = np.empty(counts.shape[0])
    for row in range(counts.shape[0]):
        values[row] = _exact_p(counts[row], code, positive)
    return values


@inner
def _exact_p(table, code, positive):
    # Index 0 is the negative class, 1 the positive one, whatever their places in the table.
    items, both, moved, of_a = np.empty(2), np.empty(2), np.empty(2), np.empty(2)
    for side in range(2):
        true = positive if side == 1 else 1 - positive
        items[side] = table[true].sum()
        both[side] = table[true, true, true]
        of_a[side] = table[true, true, 1 - true]
        moved[side] = of_a[side] + table[true, 1 - true, true]
    limit = abs(_difference(items, both, moved, of_a[0], of_a[1], code)) - CLOSE
    if limit <= 0:
        return 1.0
    first, below = _fair_binomial(moved[0])
    other, start = _fair_binomial(moved[1])
    cumulated = np.cumsum(other)
    place, total = other.shape[0] - 1, 0.0
    for step in range(first.shape[0]):
        while place >= 0 and _difference(items, both, moved, below + step, start + place, code) < limit:
            place -= 1
        if place < 0:
            break
        total += first[step] * cumulated[place]
    return min(1.0, 2 * total)  # exchanging the systems turns one tail into the other


@inner
def _fair_binomial(m):
    """Probabilities of binomial(m, 1/2) around its mode, and the count to which the first belongs."""
    mode = math.floor(m / 2)
    reach = math.ceil(_REACH * math.sqrt(m)) + 1
    low, high = max(0.0, mode - reach), min(m, mode + reach)
    weight = np.empty(int(high - low) + 1)
    centre = int(mode - low)
    weight[centre] = 1.0
    for place in range(centre, weight.shape[0] - 1):
        weight[place + 1] = weight[place] * (m - low - place) / (low + place + 1)
    for place in range(centre, 0, -1):
        weight[place - 1] = weight[place] * (low + place) / (m - low - place + 1)
    return weight / weight.sum(), low


@inner
def _difference(items, both, moved, x0, x1, code):
    """B - A where A alone has x0 negative and x1 positive items right."""
    a = _metric(items[0], items[1], both[0] + x0, both[1] + x1, code)
    b = _metric(items[0], items[1], both[0] + moved[0] - x0, both[1] + moved[1] - x1, code)
    return b - a


@inner
def _metric(negatives, positives, tn, tp, code):
    """A metric from the items and the right ones of both classes."""
    fp, fn = negatives - tn, positives - tp
    if code == 0:
        return _share(tn + tp, negatives + positives)
    if code == 1:
        classes = (negatives > 0) + (positives > 0)
        return _share(_share(tn, negatives) + _share(tp, positives), classes)
    if code == 2:
        return _share(tp, positives)
    if code == 3:
        return _share(tp, tp + fp)
    if code == 4:
        return _share(2 * tp, 2 * tp + fp + fn)
    if code == 5:
        return (_share(2 * tp, 2 * tp + fp + fn) + _share(2 * tn, 2 * tn + fp + fn)) / 2
    return _share(tp * tn - fp * fn, math.sqrt((tp + fp) * (tn + fn) * positives * negatives))


@inner
def _share(part, whole):
    return part / whole if whole > 0 else 0.0


# Metrics of confusion matrices, for any number of matrices at once.

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


# Derivatives of metrics with respect to each entry of a confusion matrix, for the delta method.


def metric_slopes(name: str, confusion: Floats, *, positive: int) -> Floats:
    """Of a metric by name, shape (K, K); `positive` is the class of F1, precision and recall."""
    items, predicted = confusion.sum(axis=1), confusion.sum(axis=0)
    same, values = np.eye(len(confusion)), np.zeros(confusion.shape)
    if name == "recall":
        values[positive] = _over_of_confusion_slopes(
            same[positive] - recall(confusion)[positive], items[positive]
        )
    elif name == "precision":
        values[:, positive] = _over_of_confusion_slopes(
            same[positive] - precision(confusion)[positive], predicted[positive]
        )
    elif name == "f1":
        value, size = f1(confusion)[positive], (items + predicted)[positive]
        of_class = same[positive]
        away = 2 * np.outer(of_class, of_class) - value * (of_class[:, None] + of_class[None, :])
        values = _over_of_confusion_slopes(away, size)
    elif name == "macro-f1":
        value, size = f1(confusion), items + predicted
        part = _over_of_confusion_slopes(value, size)
        values = (
            np.diag(_over_of_confusion_slopes(np.full(len(size), 2.0), size))
            - part[:, None]
            - part[None, :]
        ) / len(size)
    elif name == "balanced-accuracy":
        rates, n_classes = recall(confusion), float((items > 0).sum())
        values = (
            _over_of_confusion_slopes(same - rates[:, None], np.broadcast_to(items[:, None], same.shape))
            / n_classes
        )
    elif name == "mcc":
        values = _of_mcc(confusion, items, predicted)
    else:  # accuracy, which micro-F1 is too
        values = (same - metric_value("accuracy", confusion, positive=positive)) / confusion.sum()
    return np.asarray(values)


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


def _over_of_confusion_slopes(above: Floats, below: Floats) -> Floats:
    return np.asarray(np.divide(above, below, out=np.zeros(np.shape(above)), where=np.asarray(below) > 0))

"""The exact paired randomisation test of a metric of two classes.

Swapping an item between systems matters where they differ. Of the m_c items of class c that one system
alone has right, a random swap gives X_c ~ binomial(m_c, 1/2) to A, independently in both classes: the null
distribution lives on (m_0 + 1)(m_1 + 1) points. Every metric here falls in neither count when more items
are right, so the points with B - A >= d lie below a descending staircase, and one walk along it adds up
their probability in m_0 + m_1 steps.
"""

from __future__ import annotations

import math

import numpy as np

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
    found = np.empty(counts.shape[0])
    for row in range(counts.shape[0]):
        found[row] = _exact_p(counts[row], code, positive)
    return found


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

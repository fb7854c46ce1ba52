"""BLEU and chrF of whole corpora from summed counts, for many corpora at once.

A row of counts is what sacreBLEU keeps of a corpus: for BLEU the lengths of output and reference, the
matched n-grams (4 orders) and all n-grams (4 orders); for chrF the n-grams of output, of reference, and in
both, order after order. Counts of sentences add up to those of a corpus.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
ORDERS = 4
BETA = 2  # of chrF: recall counts twice as much as precision


def bleu(counts: Floats) -> Floats:
    """BLEU, 0 to 100, with exponential smoothing (Papineni et al. 2002; NIST's mteval).

    counts : shape (..., 10), hypothesis length, reference length, 4 matches, 4 totals. Returns shape (...).
    """
    length, reference = counts[..., 0], counts[..., 1]
    matched, total = counts[..., 2 : 2 + ORDERS], counts[..., 2 + ORDERS :]
    with np.errstate(divide="ignore", invalid="ignore"):
        # Each further order without a match counts as half as much of one match.
        halved = 2.0 ** np.cumsum(matched == 0, axis=-1)
        share = np.where(matched == 0, 1 / halved, matched) / total
        brevity = np.where(length < reference, np.exp(1 - reference / length), 1.0)
        found = 100 * brevity * np.exp(np.log(share).mean(axis=-1))
    return np.asarray(np.where((matched[..., 0] > 0) & (total > 0).all(axis=-1), found, 0.0))


def chrf(counts: Floats) -> Floats:
    """chrF, 0 to 100 (Popovic 2015): F-score of the average precision and recall over orders.

    counts : shape (..., 3 k), for each of k orders the n-grams of hypothesis, of reference, and matched;
    orders that either side lacks are left out. Returns shape (...).
    """
    output, reference, matched = counts[..., 0::3], counts[..., 1::3], counts[..., 2::3]
    present = (output > 0) & (reference > 0)
    orders = np.maximum(present.sum(axis=-1), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(present, matched / output, 0.0).sum(axis=-1) / orders
        recall = np.where(present, matched / reference, 0.0).sum(axis=-1) / orders
        score = 100 * (1 + BETA**2) * precision * recall / (BETA**2 * precision + recall)
    return np.asarray(np.where(precision + recall > 0, score, 0.0))

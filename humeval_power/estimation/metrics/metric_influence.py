"""How much each sentence moves the difference of a corpus metric: its influence value (Hampel 1974)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from humeval_power.estimation.metrics.sentence_counts import SentenceCounts

Floats = NDArray[np.float64]
_STEP = 1e-4  # of a count: its square is the relative error of a central difference


def influence_values(counts: SentenceCounts) -> Floats:
    """The influence of each sentence on B - A, in points of the metric, shape (n_sentences,); they sum to 0.

    n times the derivative of the metric by the summed counts, along the counts of the sentence. A metric is the
    same for twice as many of every count, so that no mean is to be taken away.
    """
    n = len(counts)
    return np.asarray(
        n
        * (
            counts.b @ _slopes(counts, counts.b.sum(axis=0))
            - counts.a @ _slopes(counts, counts.a.sum(axis=0))
        )
    )


def _slopes(counts: SentenceCounts, total: Floats) -> Floats:
    """Derivative of the metric by each summed count; 0 for a count that no sentence has."""
    steps = np.diag(_STEP * total)
    rise = counts.value(total + steps) - counts.value(total - steps)
    return np.divide(rise, 2 * np.diag(steps), out=np.zeros_like(total), where=total > 0)

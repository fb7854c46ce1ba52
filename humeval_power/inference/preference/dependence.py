"""Whether the judgements of a worker, or of an item, go together: the design effect of a mean preference."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


def design_effect(worker: Codes, item: Codes, preference: Floats) -> float:
    """How many times larger the variance of the mean preference is than if judgements were independent.

    The sum over workers of their squared total deviation, plus that over items, less that over single
    judgements, divided by the last (two-way clustering; Cameron, Gelbach & Miller 2011); at least 0.
    """
    deviation = preference - preference.mean()
    alone = float(deviation @ deviation)
    if alone == 0:
        return 1.0
    by_worker, by_item = (np.bincount(code, weights=deviation) for code in (worker, item))
    return max(float(by_worker @ by_worker + by_item @ by_item) / alone - 1, 0.0)


def independent_range(
    worker: Codes, item: Codes, preference: Floats, *, n_shuffles: int = 999, seed: int = 1
) -> tuple[float, float]:
    """Between which design effects 90 % lie if the same preferences are dealt out anew at random.

    Above these judgements of a worker or an item go together, at the level 5 %; within they do not tell.
    """
    rng = np.random.default_rng(seed)
    found = [design_effect(worker, item, rng.permutation(preference)) for _ in range(n_shuffles)]
    low, high = np.quantile(found, [0.05, 0.95])
    return float(low), float(high)

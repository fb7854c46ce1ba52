"""Draws that belong to a seed, and what is known of a p-value that was drawn."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from humeval_power.simulation.study import replicate_generator

Floats = NDArray[np.float64]


def in_blocks(
    draw: Callable[[np.random.Generator, int], Floats], n_resamples: int, *, seed: int, n_jobs: int = 1
) -> Floats:
    """The first `n_resamples` rows of an endless sequence: block b is drawn from child b of the seed, so a
    longer run extends a shorter one and `n_jobs` changes nothing."""
    blocks = range(-(-n_resamples // RESAMPLE_BLOCK))

    def part(block: int) -> Floats:
        return draw(replicate_generator(seed, block), RESAMPLE_BLOCK)

    if n_jobs == 1:
        return np.concatenate([part(block) for block in blocks])[:n_resamples]
    with ThreadPoolExecutor(n_jobs) as pool:
        return np.concatenate(list(pool.map(part, blocks)))[:n_resamples]


def drawn_p(count: int, total: int) -> float:
    """(1 + count) / (1 + total): the observed data are one of the draws, so p is never 0
    (Phipson and Smyth 2010)."""
    return (1 + count) / (1 + total)


def monte_carlo_interval(count: int, total: int, confidence: float = 0.95) -> tuple[float, float]:
    """Clopper and Pearson's (1934) interval for the p-value that endless draws would give."""
    from scipy.special import betaincinv

    tail = (1 - confidence) / 2
    low = 0.0 if count == 0 else float(betaincinv(count, total - count + 1, tail))
    high = 1.0 if count == total else float(betaincinv(count + 1, total - count, 1 - tail))
    return low, high


RESAMPLE_BLOCK = 256  # resamples drawn from one child of the seed; part of what a seed means

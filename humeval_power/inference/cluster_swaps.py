"""Randomisation of whole clusters: where two systems are alike, any cluster's answers may be exchanged between
them, and nothing less than a cluster may."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from humeval_power.clusters import Clusters

Floats = NDArray[np.float64]
Signs = NDArray[np.int8]
_ROUNDING = 1e-12  # what adding up leaves of a probability


def swapped_sum_p(gains: Floats, clusters: Clusters) -> float:
    """Two-sided p-value of the sum of whole numbers over every exchange of whole clusters, 2^G of them.

    The sum of +-s_g has the characteristic function prod cos(s_g t); its probabilities are a discrete Fourier
    transform of that, so that nothing is drawn and nothing listed. With a cluster for each item and gains of 1, 0
    and -1 it is McNemar's exact test.

    gains : (n_items,), whole numbers, such as right of B minus right of A.
    """
    from scipy import fft

    sums = np.round(np.abs(clusters.sums(gains))).astype(np.int64)
    observed, largest = abs(int(np.round(gains.sum()))), int(sums.sum())
    if observed == 0:
        return 1.0
    length = int(fft.next_fast_len(2 * largest + 2, real=True))
    angle = 2 * np.pi * np.arange(length // 2 + 1) / length
    wave = np.ones(len(angle))
    for size, count in zip(*np.unique(sums[sums > 0], return_counts=True), strict=True):
        wave *= np.cos(size * angle) ** int(count)
    chance = np.maximum(fft.irfft(wave, n=length)[: largest + 1], 0.0)
    return float(min(1.0, max(2 * chance[observed:].sum(), _ROUNDING)))


def listed_swaps(n_clusters: int) -> Signs:
    """Every exchange of clusters as +1 and -1, shape (2^(G - 1), G); the first stays, for exchanging all of them
    turns a difference round and no more."""
    codes = np.arange(2 ** (n_clusters - 1))[:, None]
    rest = 1 - 2 * ((codes >> np.arange(n_clusters - 1)) & 1)
    return np.concatenate([np.ones_like(codes), rest], axis=1).astype(np.int8)


def drawn_swaps(n_clusters: int, n_swaps: int, rng: np.random.Generator) -> Signs:
    """Random exchanges, shape (n_swaps, G)."""
    return (1 - 2 * rng.integers(0, 2, size=(n_swaps, n_clusters), dtype=np.int8)).astype(np.int8)

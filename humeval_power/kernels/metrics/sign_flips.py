"""Random signs on the terms of many sums: how often a sum is as large as the one observed.

Eight terms at a time have 256 signed sums; one random byte picks one of them, so a flip of n terms costs
n / 8 additions. Random bits are those of SplitMix64 (Steele, Lea and Flood 2014), which passes BigCrush.
"""

from __future__ import annotations

import numpy as np

from humeval_power.kernels.kernel import inner, kernel

CLOSE = 1e-9  # of the sum of sizes: sums that differ by rounding alone are equal


@kernel
def extreme_flips(terms, seeds, n_flips):
    """For each row of `terms`, how many of `n_flips` random sign changes give |sum| >= |sum of the row|.

    terms : (rows, n). seeds : (rows,) unsigned 64-bit, one stream of random bits for each row.
    """
    rows, n = terms.shape
    found = np.zeros(rows, dtype=np.int64)
    table = np.empty(256)
    sums = np.empty(n_flips)
    for row in range(rows):
        state = seeds[row]
        observed, size = 0.0, 0.0
        for place in range(n):
            observed += terms[row, place]
            size += abs(terms[row, place])
        sums[:] = 0.0
        for begin in range(0, n, 8):
            _signed_sums(terms[row], begin, min(begin + 8, n), table)
            bits = np.uint64(0)
            for flip in range(n_flips):
                if flip % 8 == 0:
                    state += np.uint64(0x9E3779B97F4A7C15)
                    bits = _mixed(state)
                sums[flip] += table[np.int64(bits & np.uint64(255))]
                bits >>= np.uint64(8)
        limit = abs(observed) - CLOSE * size
        for flip in range(n_flips):
            if abs(sums[flip]) >= limit:
                found[row] += 1
    return found


@inner
def _signed_sums(terms, begin, end, table):
    """table[byte] = sum of terms[begin:end], each minus where its bit is set."""
    table[0] = 0.0
    for place in range(begin, end):
        table[0] += terms[place]
    for byte in range(1, 256):
        lowest = 0
        while not (byte >> lowest) & 1:
            lowest += 1
        before = table[byte & (byte - 1)]
        table[byte] = before - 2 * terms[begin + lowest] if begin + lowest < end else before


@inner
def _mixed(state):
    mixed = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))

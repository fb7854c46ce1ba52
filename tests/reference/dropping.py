"""Looks that drop systems, one study at a time: slow and obvious."""

import math


def followed(estimate, p_value, half, drop, claim, pairs, n_systems, *, margin=None, width=None):
    """How one study goes: look of the end, look at which each system was dropped (None: never), the best (None),
    and whether it ended with a top group. Arrays of shape (looks, comparisons); estimates are second - first."""
    left, dropped = list(range(n_systems)), [None] * n_systems

    def better(at, one, other, level):
        for place, (first, second) in enumerate(pairs):
            if {first, second} == {one, other} and p_value[at][place] <= level[at][place]:
                ahead = estimate[at][place] if one == second else -estimate[at][place]
                return ahead > 0
        return False

    for at in range(len(estimate)):
        beaten = [j for j in left if any(better(at, i, j, drop) for i in left if i != j)]
        if len(beaten) < len(left):
            for j in beaten:
                dropped[j] = at
            left = [j for j in left if j not in beaten]
        for i in left:
            if all(better(at, i, j, claim) for j in left if j != i):
                return at, dropped, i, False
        of_left = [place for place, pair in enumerate(pairs) if set(pair) <= set(left)]
        near = margin is not None and all(abs(estimate[at][k]) + half[at][k] < margin for k in of_left)
        narrow = width is not None and all(half[at][k] <= width for k in of_left)
        if near or narrow:
            return at, dropped, None, True
    return len(estimate) - 1, dropped, None, False


def brownian_dropping(rng, n, means, errors, shares, drop_z, claim_z):
    """Of n studies with known variances: who is named (-1: nobody) and who is dropped at some look. `errors` is the
    standard error of a system's mean at the last look, the same for all; means at the looks are a Brownian motion
    in information; `drop_z` and `claim_z` are the boundaries of a comparison, shape (looks,)."""
    import numpy as np

    K, L = len(means), len(shares)
    named, lost = np.full(n, -1), np.zeros((n, K), dtype=bool)
    steps = np.diff(np.array(shares), prepend=0.0)
    for study in range(n):
        sums = np.cumsum(rng.standard_normal((L, K)) * np.sqrt(steps)[:, None], axis=0)
        at_looks = np.array(means) + sums * errors / np.array(shares)[:, None]
        left = list(range(K))
        for look in range(L):
            error = math.sqrt(2 / shares[look]) * errors
            z = {
                (i, j): (at_looks[look, i] - at_looks[look, j]) / error
                for i in left
                for j in left
                if i != j
            }
            left = [j for j in left if not any(z[i, j] >= drop_z[look] for i in left if i != j)]
            best = [i for i in left if all(z[i, j] >= claim_z[look] for j in left if j != i)]
            if best:
                named[study] = best[0]
                break
        lost[study] = [k not in left for k in range(K)]
    return named, lost

"""Ranks of systems drawn one study at a time, with a covariance of every four systems: slow and plain."""

import numpy as np
from scipy import stats


def slow_chances(centre, variance, df, together, *, n_draws, seed):
    """Chances of each rank (K, K), [system, rank - 1]; arguments as the fields of `Differences`."""
    rng = np.random.default_rng(seed)
    K = len(centre)
    pairs = [(i, j) for i in range(K) for j in range(i + 1, K)]
    if together is None:
        together = np.ones((len(pairs), len(pairs)))
    known = np.array([df[i, j] for i, j in pairs])
    z = rng.multivariate_normal(np.zeros(len(pairs)), together, size=n_draws, method="eigh")
    times = known / stats.chi2.ppf(stats.norm.sf(z), known)
    count = np.zeros((K, K))
    for draw in range(n_draws):
        v = np.zeros((K, K))
        for (i, j), one in zip(pairs, times[draw], strict=True):
            v[i, j] = v[j, i] = variance[i, j] * one
        covariance = np.zeros((K, K))
        for i in range(K):
            for j in range(K):
                parts = [(v[i, m] + v[k, j] - v[i, j] - v[k, m]) / 2 for k in range(K) for m in range(K)]
                covariance[i, j] = np.mean(parts)
        values, vectors = np.linalg.eigh(covariance)
        nearest = (vectors * np.maximum(values, 0)) @ vectors.T
        drawn = rng.multivariate_normal(centre, nearest, method="eigh")
        for k in range(K):
            count[k, sum(other > drawn[k] for other in drawn)] += 1
    return count / n_draws

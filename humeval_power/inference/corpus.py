"""The paired randomisation test of a corpus metric, and the sign-flip test that stands for it in planning.

Under the null hypothesis it does not matter which system wrote which output, so every swap of sentences
between the systems was as likely as what was observed (Dror et al. 2018; Card et al. 2020, section 4).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humeval_power.choices import DEFAULT_SWAPS
from humeval_power.clusters import Clusters
from humeval_power.errors import InputError
from humeval_power.estimation.metrics import (
    SentenceCounts,
    influence_values,
    random_subsets,
    swapped_differences,
)
from humeval_power.inference.clustered import ClusteredMean, clustered_mean
from humeval_power.inference.item_bootstrap import drawn_p, in_blocks, monte_carlo_interval

Floats = NDArray[np.float64]
MAX_SWAPS = 10_000_000
LISTED_UP_TO = 12  # sentences: 2^12 swaps are listed
_CLOSE = 1e-9  # BLEU points: differences that vary by rounding alone are equal


@dataclass(frozen=True, slots=True)
class RandomisationTest:
    """Two-sided paired randomisation test of a corpus metric.

    `n_extreme` of `n_swaps` swaps gave a difference at least as large as `difference`, B - A. `exact` says
    that all swaps were listed; `p_interval` is the 95 % Monte Carlo interval where they were drawn.
    """

    difference: float
    n_extreme: int
    n_swaps: int
    exact: bool

    @property
    def p_value(self) -> float:
        """Share of swaps as extreme as the data; with drawn swaps (1 + count) / (1 + draws)."""
        if self.exact:
            return self.n_extreme / self.n_swaps
        return drawn_p(self.n_extreme, self.n_swaps)

    @property
    def p_interval(self) -> tuple[float, float] | None:
        """Clopper-Pearson interval of the p-value that endless draws would give."""
        return None if self.exact else monte_carlo_interval(self.n_extreme, self.n_swaps)


def paired_randomisation_test(
    counts: SentenceCounts,
    *,
    clusters: Clusters | None = None,
    n_swaps: int = DEFAULT_SWAPS,
    seed: int = 1,
) -> RandomisationTest:
    """Swap random halves of the sentences between the systems; list all swaps of up to 12 sentences.

    With clusters, such as documents, all sentences of a cluster are swapped together.

    Swap i depends on the seed and on i alone: more swaps extend fewer.

    Raises
    ------
    InputError
        A number of swaps outside 1 to 10 million.
    """
    if not 1 <= n_swaps <= MAX_SWAPS:
        raise InputError(f"The number of swaps must lie between 1 and {MAX_SWAPS:,}; got {n_swaps:,}.")
    observed = counts.difference
    counts = counts if clusters is None else counts.summed(clusters)
    n = len(counts)
    exact = n <= LISTED_UP_TO
    if exact:
        every = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
        swapped = swapped_differences(counts, every.astype(np.bool_))
    else:
        swapped = in_blocks(
            lambda rng, size: swapped_differences(counts, random_subsets(rng, n, size)), n_swaps, seed=seed
        )
    n_extreme = int((np.abs(swapped) >= abs(observed) - _CLOSE).sum())
    return RandomisationTest(observed, n_extreme, len(swapped), exact)


def metric_mean(counts: SentenceCounts, clusters: Clusters | None = None) -> ClusteredMean:
    """B - A with its CR2 error from the sentences' influence values, and the df of Bell and McCaffrey.

    Raises
    ------
    InputError
        Clusters of another number of sentences.
    """
    return clustered_mean(counts.difference + influence_values(counts), clusters)


def normal_sign_flip(effects: Floats) -> tuple[Floats, Floats, Floats]:
    """Differences, null standard deviations and p-values from effects of swapping, shape (rows, n).

    With signs flipped at random, the difference -1/2 sum of effects has mean 0 and variance
    1/4 sum of squared effects; it is compared with a normal distribution. No effect at all gives p = 1.
    """
    from scipy.special import ndtr

    difference = -effects.sum(axis=1) / 2
    deviation = np.sqrt(np.einsum("ij,ij->i", effects, effects)) / 2
    ratio = np.divide(np.abs(difference), deviation, out=np.zeros_like(difference), where=deviation > 0)
    return difference, deviation, np.asarray(2 * ndtr(-ratio))


def drawn_sign_flip(effects: Floats, *, n_flips: int, rng: np.random.Generator) -> Floats:
    """P-values of the sign-flip test with `n_flips` random flips for each row of effects (rows, n)."""
    from humeval_power.kernels.metrics.sign_flips import extreme_flips

    seeds = rng.integers(2**64, size=len(effects), dtype=np.uint64)
    return np.asarray((1 + extreme_flips(effects, seeds, n_flips)) / (1 + n_flips))

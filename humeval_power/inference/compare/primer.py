"""The bootstrap of Jansen's primer, exactly as it is defined there, and what its number means.

p is the share of resamples whose differences sum to 0 or less. It is one-sided (B better than A), and the
resamples are not centred at the null hypothesis: it is an inverted percentile interval (as in Koehn 2004),
not the probability of the data without a difference. Sums of exactly 0 count as 'not helped'.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import stats

from humeval_power.errors import InputError
from humeval_power.inference.compare.result import Floats, PairedTest, TestSettings
from humeval_power.inference.ranked_values import at_least
from humeval_power.inference.resampled import in_blocks, monte_carlo_interval
from humeval_power.kernels.resampling import drawn_counts

REMARK = (
    "The primer's p is the share of resamples in which B is not ahead. It is one-sided, not centred at the "
    "null hypothesis, and no probability that the difference is due to chance; a large value shows nothing: "
    "to show that systems are alike, test for equivalence within a margin."
)
MOST_CELLS = 20_000  # of the lattice on which the sum of all draws is found by convolution
_FINEST = 4  # decimals of a lattice that is looked for


def primer_test(differences: Floats, settings: TestSettings) -> PairedTest:
    """The primer's p: exact where the differences lie on a coarse lattice, else by drawing.

    Raises
    ------
    InputError
        A direction other than 'greater': the primer knows no other.
    """
    if settings.direction != "greater":
        raise InputError(
            "The primer's p is one-sided, B better than A: ask for the direction 'greater', and swap the systems "
            "for the other one."
        )
    moved = settings.moved(differences)
    exact = exact_primer_p(moved)
    drawn = None if exact is not None else _drawn(moved, settings)
    mean = float(differences.mean())
    return PairedTest(
        name="primer",
        label="The bootstrap primer's p",
        estimand="mean",
        estimate=mean,
        interval=(math.nan, math.nan),
        confidence=settings.confidence,
        statistic_name="mean",
        statistic=mean - settings.null,
        p_value=exact if drawn is None else drawn / settings.n_resamples,  # type: ignore[arg-type]
        lead=mean - settings.null,
        n=len(differences),
        method="exact, by convolution" if drawn is None else f"{settings.n_resamples:,} resamples of items",
        exact=drawn is None,
        p_interval=None if drawn is None else monte_carlo_interval(drawn, settings.n_resamples),
        remarks=(REMARK,),
    )


def primer_p(n_items: int, n_helped: int, n_hurt: int) -> float:
    """The primer's p for 0/1 scores: of `n_items`, `n_helped` are better under B and `n_hurt` worse.

    K of the n draws hit an item that changed, and X of these one that was helped: p = P(2 X <= K).

    Raises
    ------
    InputError
        Counts below zero, or more changed items than items.
    """
    if n_items < 1 or min(n_helped, n_hurt) < 0 or n_helped + n_hurt > n_items:
        raise InputError(
            f"Helped and hurt items must be counts of at most {n_items:,} items in all; got {n_helped:,} "
            f"helped and {n_hurt:,} hurt."
        )
    changed = n_helped + n_hurt
    if changed == 0:
        return 1.0
    hits = np.arange(n_items + 1)
    not_helped = stats.binom.cdf(hits // 2, hits, n_helped / changed)
    return float(np.dot(stats.binom.pmf(hits, n_items, changed / n_items), not_helped))


def exact_primer_p(differences: Floats) -> float | None:
    """P(sum of n draws with replacement <= 0); None where no coarse lattice holds the differences."""
    steps = on_lattice(differences)
    if steps is None:
        return None
    n = len(steps)
    if set(np.unique(steps).tolist()) <= {-1, 0, 1}:
        return primer_p(n, int((steps == 1).sum()), int((steps == -1).sum()))
    low, high = int(steps.min()), int(steps.max())
    if n * (high - low) > MOST_CELLS:
        return None
    one = np.bincount(steps - low, minlength=high - low + 1) / n
    total = np.ones(1)
    for bit in bin(n)[2:]:  # the n-fold convolution by squaring
        total = np.convolve(total, total)
        total = np.convolve(total, one) if bit == "1" else total
    place = -n * low  # where the sum is 0
    return float(min(1.0, total[: max(place + 1, 0)].sum()))


def on_lattice(differences: Floats) -> np.ndarray | None:
    """The differences in whole steps of their common unit, None where there is none of a few decimals."""
    for decimals in range(_FINEST + 1):
        scaled = differences * 10.0**decimals
        whole = np.round(scaled)
        if np.abs(scaled - whole).max() <= 1e-9 * max(1.0, float(np.abs(scaled).max())):
            steps = whole.astype(np.int64)
            unit = int(np.gcd.reduce(steps))
            return np.asarray(steps // unit if unit else steps)
    return None


def _drawn(moved: Floats, settings: TestSettings) -> int:
    n = len(moved)
    sums = in_blocks(
        lambda rng, size: drawn_counts(rng, n, size) @ moved, settings.n_resamples, seed=settings.seed
    )
    scale = float(np.abs(moved).max()) * n  # a sum of decimals may miss 0 by rounding
    return int(at_least(-sums, 0.0, scale=scale).sum())

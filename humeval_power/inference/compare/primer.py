"""The bootstrap of Jansen's primer, exactly as it is defined there, and what its number means.

p is the share of resamples whose differences sum to 0 or less. It is one-sided (B better than A), and the
resamples are not centred at the null hypothesis: it is an inverted percentile interval (as in Koehn 2004),
not the probability of the data without a difference. Sums of exactly 0 count as 'not helped'.
"""

from __future__ import annotations

import math

import numpy as np

from humeval_power.errors import InputError
from humeval_power.inference.compare.exact_sums import exact_sums, lattice_of
from humeval_power.inference.compare.resamples import Resamples, resamples_of
from humeval_power.inference.compare.result import Floats, PairedTest, TestSettings
from humeval_power.inference.ranked_values import at_least
from humeval_power.inference.resampled import in_blocks, monte_carlo_interval
from humeval_power.kernels.metrics.resampling import drawn_counts

REMARK = (
    "The primer's p is the share of resamples in which B is not ahead. It is one-sided, not centred at the "
    "null hypothesis, and no probability that the difference is due to chance; a large value shows nothing: "
    "to show that systems are alike, test for equivalence within a margin."
)


def primer_test(differences: Floats, settings: TestSettings) -> PairedTest:
    """The primer's p: exact where the differences lie on a coarse lattice, else by drawing.

    Raises
    ------
    InputError
        A direction other than 'greater': the primer knows no other.
    """
    if settings.alternative != "greater":
        raise InputError(
            "The primer's p is one-sided, B better than A: ask for the direction 'greater', and swap the systems "
            "for the other one."
        )
    moved = settings.moved(differences)
    exact = exact_primer_p(moved)
    means = None if exact is not None else _drawn_means(moved, settings)
    # a sum of decimals may miss 0 by rounding
    drawn = None if means is None else int(at_least(-means, 0.0, scale=float(np.abs(moved).max())).sum())
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
        resamples=_histogram(moved, means, settings.null),
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
    from scipy import stats

    hits = np.arange(n_items + 1)
    not_helped = stats.binom.cdf(hits // 2, hits, n_helped / changed)
    return float(np.dot(stats.binom.pmf(hits, n_items, changed / n_items), not_helped))


def exact_primer_p(differences: Floats) -> float | None:
    """P(sum of n draws with replacement <= 0); None where no coarse lattice holds the differences."""
    found = lattice_of(differences)
    if found is not None and set(np.unique(found[0]).tolist()) <= {-1, 0, 1}:
        steps = found[0]
        return primer_p(len(steps), int((steps == 1).sum()), int((steps == -1).sum()))
    sums = exact_sums(differences)
    return None if sums is None else sums.at_most_zero()


def _drawn_means(moved: Floats, settings: TestSettings) -> Floats:
    n = len(moved)
    return in_blocks(
        lambda rng, size: drawn_counts(rng, n, size) @ moved / n, settings.n_resamples, seed=settings.seed
    )


def _histogram(moved: Floats, means: Floats | None, null: float) -> Resamples:
    """Of the means that were drawn, else of all that can be drawn."""
    if means is not None:
        return resamples_of("mean", means + null, at=null)
    sums = exact_sums(moved)
    assert sums is not None
    possible, shares, step = sums.possible()
    return resamples_of("mean", possible + null, at=null, shares=shares, step=step)

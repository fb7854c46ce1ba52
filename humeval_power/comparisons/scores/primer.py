"""The bootstrap of Jansen's primer, exactly as it is defined there, and what its number means.

p is the share of resamples whose differences sum to 0 or less. It is one-sided (B better than A), and the
resamples are not centred at the null hypothesis: it is an inverted percentile interval (as in Koehn 2004),
not the probability of the data without a difference. Sums of exactly 0 count as 'not helped'.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from humeval_power.comparisons.scores.effect_sizes import (
    Floats,
    PairedTest,
    Resamples,
    TestSettings,
    exact_sums,
    lattice_of,
    resamples_of,
    sums_of_counts,
)
from humeval_power.errors import InputError
from humeval_power.inference.exact_comparison import at_least
from humeval_power.inference.item_bootstrap import in_blocks, monte_carlo_interval
from humeval_power.inference.mcnemar import at_most, exact_p, mid_p
from humeval_power.kernels.metrics.corpus import drawn_counts

REMARK = (
    "The primer's p is the share of resamples in which B is not ahead. It is one-sided, not centred at the "
    "null hypothesis, and no probability that the difference is due to chance; a large value shows nothing: "
    "to show that systems are alike, test for equivalence within a margin."
)


def primer_test(differences: Floats, settings: TestSettings) -> PairedTest:
    """The primer's p: exact where the differences lie on a coarse lattice, else by drawing."""
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
    lattice = lattice_of(differences)
    if lattice is not None and set(np.unique(lattice[0]).tolist()) <= {-1, 0, 1}:
        steps = lattice[0]
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


# The bootstrap primer for counts of items that were helped and hurt, beside the tests of the same counts.


@dataclass(frozen=True, slots=True)
class PrimerCounts:
    """Of `n_items` scored 0 or 1, B is right and A wrong on `n_helped`, and the reverse on `n_hurt`.

    `p_value` is the primer's, exactly: P(mean of n draws <= 0), of which `share_of_zero` is P(mean = 0).
    `interval` holds the middle 95 % of the resampled means. `sign_p` is the one-sided sign test (B better);
    `exact_p` and `mid_p` are McNemar's, two-sided.
    """

    n_items: int
    n_helped: int
    n_hurt: int
    p_value: float
    share_of_zero: float
    interval: tuple[float, float]
    sign_p: float
    exact_p: float
    mid_p: float
    resamples: Resamples

    @property
    def difference(self) -> float:
        """Accuracy of B less that of A."""
        return (self.n_helped - self.n_hurt) / self.n_items


def primer_counts(n_items: int, n_helped: int, n_hurt: int) -> PrimerCounts:
    """The primer's p of these counts and what tests say of them."""
    p_value = primer_p(n_items, n_helped, n_hurt)
    sums = sums_of_counts(n_items, n_helped, n_hurt)
    means, shares, step = sums.possible()
    changed = n_helped + n_hurt
    reached = np.cumsum(sums.probabilities)
    places = np.searchsorted(reached, ((1 - 0.95) / 2, (1 + 0.95) / 2))
    low, high = sums.means[np.minimum(places, len(reached) - 1)]
    return PrimerCounts(
        n_items,
        n_helped,
        n_hurt,
        p_value=p_value,
        share_of_zero=sums.zero(),
        interval=(float(low), float(high)),
        sign_p=float(at_most(np.array([n_hurt]), np.array([changed]))[0]) if changed else 1.0,
        exact_p=float(exact_p(n_helped, n_hurt)),
        mid_p=float(mid_p(n_helped, n_hurt)),
        resamples=resamples_of("mean", means, at=0.0, shares=shares, step=step),
    )

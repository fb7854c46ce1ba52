"""The bootstrap primer for counts of items that were helped and hurt, beside the tests of the same counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from humeval_power.inference.compare.exact_sums import ExactSums, sums_of_counts
from humeval_power.inference.compare.primer import primer_p
from humeval_power.inference.compare.resamples import Resamples, resamples_of
from humeval_power.inference.mcnemar import at_most, exact_p, mid_p


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
    """The primer's p of these counts and what tests say of them.

    Raises
    ------
    InputError
        As `primer_p`.
    """
    p_value = primer_p(n_items, n_helped, n_hurt)
    sums = sums_of_counts(n_items, n_helped, n_hurt)
    means, shares, step = sums.possible()
    changed = n_helped + n_hurt
    return PrimerCounts(
        n_items,
        n_helped,
        n_hurt,
        p_value=p_value,
        share_of_zero=sums.zero(),
        interval=_middle(sums),
        sign_p=float(at_most(np.array([n_hurt]), np.array([changed]))[0]) if changed else 1.0,
        exact_p=float(exact_p(n_helped, n_hurt)),
        mid_p=float(mid_p(n_helped, n_hurt)),
        resamples=resamples_of("mean", means, at=0.0, shares=shares, step=step),
    )


def _middle(sums: ExactSums, share: float = 0.95) -> tuple[float, float]:
    """The means below and above which at most 2.5 % lie."""
    reached = np.cumsum(sums.probabilities)
    places = np.searchsorted(reached, ((1 - share) / 2, (1 + share) / 2))
    low, high = sums.means[np.minimum(places, len(reached) - 1)]
    return float(low), float(high)

"""The distribution of a sum over clusters whose signs are flipped together."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from humeval_power.inference.clustered import Direction, normal_p
from humeval_power.inference.compare.permutation import LISTED_UP_TO, extreme, flipped_sums
from humeval_power.inference.compare.result import Floats
from humeval_power.inference.compare.signed_ranks import rank_sum_share, tail_p

MOST_STEPS = 10_000_000  # clusters times places of the sum, beyond which the normal law is taken


@dataclass(frozen=True, slots=True)
class Flips:
    """The p-value of a sum when each of `n_active` clusters may have either sign; others sum to 0."""

    p_value: float
    n_active: int
    exact: bool


def flips_of(sums: Floats, alternative: Direction) -> Flips:
    """Test whether sums of clusters, halves of whole numbers, lie around 0.

    All signs are listed up to 20 clusters, counted by place of the sum where there are not too many places, and
    else the sum is compared with a normal law of variance sum of squares (Rosner, Glynn and Lee 2006).
    """
    active = sums[sums != 0]
    n, observed = len(active), float(active.sum())
    if n == 0:
        return Flips(1.0, 0, exact=True)
    if n <= LISTED_UP_TO:
        return Flips(extreme(flipped_sums(active), observed, alternative) / 2**n, n, exact=True)
    steps = np.round(2 * np.abs(active)).astype(np.int64)
    unit = int(np.gcd.reduce(steps))
    steps //= unit
    if n * int(steps.sum()) <= MOST_STEPS:
        place = round((2 * observed / unit + float(steps.sum())) / 2)
        found = float(tail_p(rank_sum_share(np.sort(steps)), np.array([place]), alternative)[0])
        return Flips(found, n, exact=True)
    z = observed / math.sqrt(float(active @ active))
    return Flips(normal_p(z, alternative), n, exact=False)

"""Exact power of a test that looks at two counts, of items won by B and by A, and at nothing else.

Shared by paired accuracy (items that one system alone got right) and preferences (wins and losses).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.inference.mcnemar import at_most
from humeval_power.inference.unconditional import binomial_pmf
from humeval_power.scenarios.computed import ComputedPower

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
Sides = Literal["both", "right", "wrong"]
ENUMERATION = "enumeration of every table"
_REACH = 8.3  # standard deviations: the probability beyond is below 1e-16


def enumerated_power(
    n: int,
    *,
    discordant: float,
    difference: float,
    true_effect: float,
    critical: Callable[[Counts], Counts],
    weight: Callable[[Counts], Floats],
    sides: Sides = "both",
) -> ComputedPower:
    """Power, Type M and Type S over every pair of counts (b, c) with K = b + c binomial(n, discordant)
    and b binomial(K, (discordant + difference) / (2 discordant)).

    Parameters
    ----------
    critical : the largest min(b, c) that is significant for each K; -1 where none is.
    weight : what the estimate is for each K, divided by b - c.
    sides : what the test can claim: either sign, only that of the difference, or only the other.
    """
    total = binomial_window(n, discordant)
    chance = binomial_pmf(total, n, discordant)
    chance /= chance.sum()
    limit, scale = critical(total), chance * weight(total)
    share = (1 + abs(difference) / discordant) / 2 if discordant > 0 else 0.5
    none = np.zeros(len(total))
    above, size_above = (none, none) if sides == "wrong" else _below(limit, total, 1 - share)
    below, size_below = (none, none) if sides == "right" else _below(limit, total, share)
    right, wrong = float(chance @ above), float(chance @ below)
    size = float(scale @ (size_above + size_below))
    return ComputedPower(
        power=right,
        rejection_rate=right + wrong,
        type_m=_ratio(size, (right + wrong) * abs(true_effect)),
        type_s=_ratio(wrong, right + wrong) if true_effect else math.nan,
        method=ENUMERATION,
        exact=True,
    )


def approximate_power(
    n: int, *, discordant: float, difference: float, true_effect: float, alpha: float, per_item: float = 1.0
) -> ComputedPower:
    """The same by the normal approximation of (b - c) / sqrt(b + c) (Duffy 1984; Connett et al. 1987).

    per_item : the estimate is this times (b - c) / n.
    """
    z = -float(special.ndtri(alpha / 2))
    mean, gap = abs(difference), z * math.sqrt(discordant / n)
    error = math.sqrt(max(discordant - difference**2, 0.0) / n)
    if error == 0:
        surely = float(mean > 0 and mean >= gap)
        return ComputedPower(surely, surely, 1.0 if surely else math.nan, 0.0, _DUFFY, exact=False)
    high, low = (mean - gap) / error, (-mean - gap) / error
    right, wrong = float(special.ndtr(high)), float(special.ndtr(low))
    density = (math.exp(-high * high / 2) + math.exp(-low * low / 2)) / math.sqrt(2 * math.pi)
    size = per_item * (mean * (right - wrong) + error * density)
    return ComputedPower(
        power=right,
        rejection_rate=right + wrong,
        type_m=_ratio(size, (right + wrong) * abs(true_effect)),
        type_s=_ratio(wrong, right + wrong) if true_effect else math.nan,
        method=_DUFFY,
        exact=False,
    )


_DUFFY = "normal approximation (Duffy 1984)"


def binomial_window(n: int, share: float) -> Counts:
    """The counts that a binomial variable takes, but for a probability below 1e-15."""
    reach = _REACH * math.sqrt(n * share * (1 - share)) + 12
    low, high = math.floor(n * share - reach), math.ceil(n * share + reach)
    return np.arange(max(low, 0), min(high, n) + 1, dtype=np.int64)


def _below(limit: Counts, total: Counts, share: float) -> tuple[Floats, Floats]:
    """P(Y <= limit) and E[K - 2 Y; Y <= limit] for Y binomial(K, share).

    E[Y; Y <= L] is K share P(Y' <= L - 1) of Y' with a trial less, and P(Y' <= L - 1) is P(Y <= L) without
    what has L in the first K - 1 trials and fails in the last, (K - L) / K P(Y = L).
    """
    below, last = at_most(limit, total, share), np.maximum(limit, 0)
    at_limit = np.where(limit < 0, 0.0, binomial_pmf(last, total, share))
    return below, total * below * (1 - 2 * share) + 2 * share * (total - last) * at_limit


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else math.nan

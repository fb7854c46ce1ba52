"""A confidence sequence over workers: an interval that holds after every worker, however many will come.

Workers with items of their own are independent; the mean difference of each is one normal value. The sequence is the
right-Haar mixture of t statistics, the size of the effect in SDs being N(0, g) (Lai 1976; Wang and Ramdas 2023), whose
Bayes factor is that of Gonen et al. (2005). It is exact for normal values, and wide: that is its price.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from humeval_power.errors import InputError

Floats = NDArray[np.float64]
LEAST_TUNED, MOST_TUNED = 3, 1000


def bayes_factor(t: float, m: int, g: float) -> float:
    """Of an effect drawn from N(0, g) SDs against none, for the t statistic of m values."""
    ratio = t * t / (m - 1)
    return float((1 + m * g) ** -0.5 * ((1 + ratio) / (1 + ratio / (1 + m * g))) ** (m / 2))


def half_width_at(spread: Floats, m: int, g: float, alpha: float = 0.05) -> Floats:
    """Half-width after m workers whose means have this SD; infinite where they are too few."""
    grown = 1 + m * g
    kappa = (grown / alpha**2) ** (1 / m)
    if m < 2 or kappa >= grown:
        return np.full_like(np.asarray(spread, dtype=float), math.inf)
    return np.asarray(spread / math.sqrt(m) * math.sqrt((m - 1) * (kappa - 1) / (1 - kappa / grown)))


def tuned_spread(workers: int, alpha: float = 0.05) -> float:
    """The g at which the sequence is narrowest after so many workers.

    Raises
    ------
    InputError
        Fewer than 3 workers, or more than 1,000.
    """
    if not LEAST_TUNED <= workers <= MOST_TUNED:
        raise InputError(
            f"The sequence is made narrowest at {LEAST_TUNED} to {MOST_TUNED:,} workers; got {workers:,}."
        )

    def width(log_g: float) -> float:
        return float(half_width_at(np.array(1.0), workers, math.exp(log_g), alpha))

    grid = np.linspace(-9, 9, 181)
    best = int(np.argmin([width(at) for at in grid]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    found = optimize.minimize_scalar(width, bounds=(low, high), method="bounded", options={"xatol": 1e-10})
    return math.exp(float(found.x))

"""On how many data sets, or by how many metrics, is B better than A? (Dror et al. 2017; Benjamini and
Heller 2008)"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import special

from humeval_power.errors import InputError
from humeval_power.inference.corrections import correct

Combination = Literal["bonferroni", "fisher"]


@dataclass(frozen=True, slots=True)
class Replicability:
    """Counts with a guarantee: with probability 1 - alpha the effect holds in at least `count` data sets.

    `partial_p[u - 1]` tests that it holds in fewer than u. `named` are those of which it can be said one by
    one (Holm 1979), which are fewer or as many.
    """

    combination: Combination
    alpha: float
    partial_p: tuple[float, ...]
    count: int
    holm_p: tuple[float, ...]

    @property
    def named(self) -> tuple[int, ...]:
        """Positions of the data sets that are significant after Holm's correction."""
        return tuple(place for place, p in enumerate(self.holm_p) if p <= self.alpha)


def replicability(
    p_values: Sequence[float], *, combination: Combination = "bonferroni", alpha: float = 0.05
) -> Replicability:
    """Lower confidence bound of the number of true effects behind p-values of one-sided tests.

    'bonferroni' holds under any dependence, as between metrics on the same items; 'fisher' finds more, but
    needs independent data sets.

    Raises
    ------
    InputError
        No p-values, or values outside [0, 1].
    """
    p = np.asarray(p_values, dtype=float)
    if p.size == 0 or not ((p >= 0) & (p <= 1)).all():
        raise InputError("Replicability needs at least one p-value, each between 0 and 1.")
    ordered, n = np.sort(p), len(p)
    raw = [_partial(ordered[u - 1 :], combination) for u in range(1, n + 1)]
    partial = np.maximum.accumulate(raw)  # 'at least u' cannot be surer than 'at least u - 1'
    return Replicability(
        combination,
        alpha,
        tuple(float(value) for value in partial),
        int((partial <= alpha).sum()),
        tuple(float(value) for value in correct(p_values, "holm")),
    )


def _partial(largest: np.ndarray, combination: Combination) -> float:
    """P-value of 'fewer than u effects' from the n - u + 1 largest p-values."""
    if combination == "bonferroni":
        return min(1.0, len(largest) * float(largest[0]))
    return float(special.chdtrc(2 * len(largest), -2 * np.log(np.maximum(largest, 1e-300)).sum()))

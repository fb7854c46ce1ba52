"""Two systems answer different items of the same kind, right or wrong: unpaired accuracy."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.comparisons.accuracy.counts import unpaired_p
from humeval_power.errors import Problem, refuse
from humeval_power.inference.mcnemar import binomial_pmf
from humeval_power.scenarios.contract import BlockScenario, ComputedPower, Replicates
from humeval_power.scenarios.discordant_counts import ENUMERATION, binomial_window

Counts = NDArray[np.int64]
Floats = NDArray[np.float64]
MOST_ENUMERATED = 100_000


@dataclass(frozen=True)
class UnpairedAccuracy(BlockScenario):
    """Two test sets of `n_items` each, the accuracy of A and a true difference of accuracy B - A."""

    effect_field: ClassVar[str] = "difference"

    n_items: int
    difference: float
    _: KW_ONLY
    baseline: float
    alpha: float = 0.05

    def __post_init__(self) -> None:
        problems = []
        if self.n_items < 1:
            problems.append(Problem(f"A test set has at least one item; got {self.n_items}.", ""))
        if not 0 < self.alpha < 1:
            problems.append(Problem(f"alpha must lie between 0 and 1; got {self.alpha:g}.", ""))
        if not 0 <= self.baseline <= 1:
            rule = f"An accuracy is a share between 0 and 1; got {self.baseline:g}."
            problems.append(Problem(rule, "Divide by 100."))
        elif not -1e-12 <= self.baseline + self.difference <= 1 + 1e-12:
            rule = f"An accuracy of {self.baseline:.4g} cannot change by {self.difference:+.4g}."
            problems.append(Problem(rule, f"At most {1 - self.baseline:.4g} is left above it."))
        refuse(problems)

    @property
    def other(self) -> float:
        """Accuracy of B."""
        return min(max(self.baseline + self.difference, 0.0), 1.0)

    def draw_block(self, rng: np.random.Generator, size: int) -> Replicates:
        n = self.n_items
        a = rng.binomial(n, self.baseline, size=size)
        b = rng.binomial(n, self.other, size=size)
        variance = (a * (n - a) + b * (n - b)) / n**3
        p_value = unpaired_p(b, a, n_b=n, n_a=n)
        return Replicates.of_tests((b - a) / n, p_value, standard_error=np.sqrt(variance))

    def computed(self) -> ComputedPower:
        """Exact power by enumeration; the normal approximation for very large test sets."""
        if self.n_items > MOST_ENUMERATED:
            return self.approximated()
        n = self.n_items
        a, b = binomial_window(n, self.baseline), binomial_window(n, self.other)
        chance_a, chance_b = binomial_pmf(a, n, self.baseline), binomial_pmf(b, n, self.other)
        above = _least_above(a, n, self.alpha)
        below = n - _least_above(n - a, n, self.alpha)  # the mirror image: wrong answers counted
        up, gap_up = _tail(chance_b, b, np.searchsorted(b, above), a, chance_a)
        down, gap_down = _tail(chance_b[::-1], -b[::-1], np.searchsorted(-b[::-1], -below), -a, chance_a)
        right, wrong = (up, down) if self.difference >= 0 else (down, up)
        return self._answer(right, wrong, (gap_up + gap_down) / n, ENUMERATION, exact=True)

    def approximated(self) -> ComputedPower:
        """The normal approximation: pooled variance under no difference, separate ones under the true one.

        Its power is that of R's power.prop.test, which ignores the wrong sign too.
        """
        n, a, b = self.n_items, self.baseline, self.other
        mean, center = abs(b - a), (a + b) / 2
        gap = -float(special.ndtri(self.alpha / 2)) * math.sqrt(2 * center * (1 - center) / n)
        error = math.sqrt((a * (1 - a) + b * (1 - b)) / n)
        method = "normal approximation of two proportions"
        if error == 0:
            surely = float(mean > 0)
            return self._answer(surely, 0.0, surely * mean, method, exact=False)
        high, low = (mean - gap) / error, (-mean - gap) / error
        right, wrong = float(special.ndtr(high)), float(special.ndtr(low))
        density = (math.exp(-high * high / 2) + math.exp(-low * low / 2)) / math.sqrt(2 * math.pi)
        return self._answer(right, wrong, mean * (right - wrong) + error * density, method, exact=False)

    def _answer(
        self, right: float, wrong: float, size: float, method: str, *, exact: bool
    ) -> ComputedPower:
        both, effect = right + wrong, abs(self.difference)
        known = effect > 0 and both > 0
        return ComputedPower(
            power=right,
            rejection_rate=both,
            type_m=size / (both * effect) if known else math.nan,
            type_s=wrong / both if known else math.nan,
            method=method,
            exact=exact,
        )


def _least_above(a: Counts, n: int, alpha: float) -> Counts:
    """The least count of B above each count of A that is significant, n + 1 where none is.

    Above that of A the statistic grows with the count of B, so that halving finds it.
    """
    low, high = a, np.full_like(a, n + 1)
    while np.any(high - low > 1):
        middle = (low + high) // 2
        significant = (middle > low) & (unpaired_p(middle, a, n_b=n, n_a=n) <= alpha)
        low, high = np.where(significant, low, middle), np.where(significant, middle, high)
    return high


def _tail(chance_b: Floats, b: Counts, first: Counts, a: Counts, chance_a: Floats) -> tuple[float, float]:
    """Chance that B's count is at least b[first] for each of A, and the mean of b - a over that."""
    above = np.append(np.cumsum(chance_b[::-1])[::-1], 0.0)[first]
    gap = np.append(np.cumsum((chance_b * b)[::-1])[::-1], 0.0)[first] - a * above
    return float(chance_a @ above), float(chance_a @ gap)

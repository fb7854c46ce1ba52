"""Two classifiers compared by F1, MCC and the like with the randomisation test (Card et al. 2020, App. F)."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from humeval_power.errors import InputError, Problem
from humeval_power.inference.contingency.swaps import ContingencyMetric, drawn_extremes, exact_p_values
from humeval_power.inference.mcnemar import critical_counts
from humeval_power.kernels.metrics.confusion import metric_value
from humeval_power.kernels.metrics.confusion_slopes import metric_slopes
from humeval_power.roots import root_between
from humeval_power.scenarios.blocks import draw_in_blocks
from humeval_power.scenarios.computed import ComputedPower, normal_power
from humeval_power.scenarios.contingency.tables import PairedTables
from humeval_power.scenarios.contract import Replicates
from humeval_power.scenarios.discordant_counts import enumerated_power

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]
COUNTING = ("accuracy", "micro-f1", "recall")
DEFAULT_FLIPS = 1000
METHOD = "normal approximation (delta method) of the metric and its null distribution"
_BLOCK = 256  # studies drawn from one child of the seed


@dataclass(frozen=True, eq=False)
class ContingencyStudy:
    """A test set of items drawn from joint tables, and the metric B - A that is tested on it.

    `base` are the tables as given. Another effect is made from them by `shift`: B gets this share of the
    items that A alone has right, the same in every class (negative: A those of B). `positive` is the class
    of F1, precision and recall. `n_flips` None gives exact p-values where there are two classes; otherwise
    p-values are (1 + extremes) / (1 + n_flips) with that many random swaps, 1,000 if nothing is said.
    """

    n_items: int
    _: KW_ONLY
    base: PairedTables
    metric: ContingencyMetric = "f1"
    positive: int = 1
    shift: float = 0.0
    n_flips: int | None = None
    alpha: float = 0.05

    def __post_init__(self) -> None:
        k = len(self.base.classes)
        found = []
        if self.n_items < 2:
            found.append((f"A test set needs at least 2 items; got {self.n_items}.", ""))
        if self.metric not in get_args(ContingencyMetric):
            known = ", ".join(get_args(ContingencyMetric))
            found.append((f"There is no metric {self.metric!r}.", f"Choose {known}."))
        if not 0 <= self.positive < k:
            found.append((f"The positive class is one of 0 to {k - 1}; got {self.positive}.", ""))
        if not -1 <= self.shift <= 1:
            found.append((f"The shift is a share between -1 and 1; got {self.shift:g}.", ""))
        if not 0 < self.alpha < 1:
            found.append((f"alpha must lie between 0 and 1; got {self.alpha:g}.", ""))
        elif self.n_flips is not None and 1 / (1 + self.n_flips) > self.alpha:
            rule = f"{self.n_flips} random flips cannot reach a p-value of {self.alpha:g}."
            found.append((rule, f"Take at least {math.ceil(1 / self.alpha) - 1}."))
        if found:
            raise InputError([Problem(rule, remedy) for rule, remedy in found])

    @cached_property
    def tables(self) -> PairedTables:
        """The joint tables with the shift."""
        return self.base.shifted(self.shift)

    @property
    def value_a(self) -> float:
        """True value of the metric for A."""
        return self._value(self.tables.confusion_a)

    @property
    def value_b(self) -> float:
        """True value of the metric for B."""
        return self._value(self.tables.confusion_b)

    @property
    def true_effect(self) -> float:
        """Metric of B minus metric of A."""
        return self.value_b - self.value_a

    def _value(self, confusion: Floats) -> float:
        return float(metric_value(self.metric, confusion, positive=self.positive))

    @property
    def reach(self) -> tuple[float, float]:
        """The smallest and the largest effect that shifts can make at this agreement."""
        return replace(self, shift=-1.0).true_effect, replace(self, shift=1.0).true_effect

    def with_effect(self, effect: float) -> ContingencyStudy:
        """The same test set, agreement and items that both have right, with the shift that has this effect.

        Raises
        ------
        InputError
            An effect out of reach.
        """
        low, high = self.reach
        if not low <= effect <= high:
            raise InputError(
                f"An effect of {effect:+.4g} is impossible where the systems agree on "
                f"{100 * self.base.agreement:.3g} % of the items: it must lie in [{low:.4g}, {high:.4g}]. "
                "Assume less agreement or a smaller effect."
            )
        unmoved = replace(self, shift=0.0)
        if unmoved.true_effect == effect:
            return unmoved
        share = root_between(
            lambda share: replace(self, shift=share).true_effect - effect, -1.0, 1.0, xtol=1e-15
        )
        return replace(self, shift=float(share))

    def draw(self, n: int, *, seed: int, first: int = 0, n_jobs: int = 1) -> Replicates:
        """Simulate and test comparisons `first` to `first + n - 1`."""
        return draw_in_blocks(self._draw_block, n, seed=seed, first=first, n_jobs=n_jobs, size=_BLOCK)

    def _draw_block(self, rng: np.random.Generator, size: int) -> Replicates:
        chance = self.tables.probability
        drawn = rng.multinomial(self.n_items, (chance / chance.sum()).ravel(), size=size)
        counts = drawn.reshape(size, *chance.shape)
        value_a, value_b = (
            metric_value(self.metric, counts.sum(axis=axis).astype(np.float64), positive=self.positive)
            for axis in (3, 2)
        )
        blank = np.full(size, np.nan)
        return Replicates(
            estimate=value_b - value_a,
            standard_error=blank,
            df=blank,
            p_value=self._p_values(counts, rng),
            status=np.zeros(size, dtype=np.int64),
            boundary=np.zeros((size, 0), dtype=np.bool_),
        )

    def _p_values(self, counts: Counts, rng: np.random.Generator) -> Floats:
        if self.is_exact:
            return exact_p_values(counts, metric=self.metric, positive=self.positive)
        n_flips = self.n_flips or DEFAULT_FLIPS
        extremes = drawn_extremes(counts, rng, metric=self.metric, positive=self.positive, n_swaps=n_flips)
        return np.asarray((1 + extremes) / (1 + n_flips))

    @property
    def is_exact(self) -> bool:
        """Whether p-values in simulations are exact."""
        return self.n_flips is None and len(self.base.classes) == 2

    @property
    def null_sd(self) -> float:
        """Standard deviation of the difference when predictions are exchanged at random.

        By the delta method, where the two systems' confusion matrices are averaged: an item in the cell
        (c, a, b) adds slope[c, b] - slope[c, a] with a random sign.
        """
        slope = self._slopes((self.tables.confusion_a + self.tables.confusion_b) / 2)
        part = slope[:, None, :] - slope[:, :, None]
        return math.sqrt(float((self.tables.probability * part**2).sum()) / self.n_items)

    @property
    def standard_error(self) -> float:
        """Standard deviation of the estimated difference over test sets, by the delta method: an item in
        the cell (c, a, b) adds slope_B[c, b] - slope_A[c, a]."""
        chance = self.tables.probability
        slope_a, slope_b = self._slopes(self.tables.confusion_a), self._slopes(self.tables.confusion_b)
        part = slope_b[:, None, :] - slope_a[:, :, None]
        variance = float((chance * part**2).sum() - (chance * part).sum() ** 2)
        return math.sqrt(max(variance, 0.0) / self.n_items)

    def computed(self) -> ComputedPower:
        """Power, Type M and Type S: enumerated where only counts of right items matter (accuracy, recall),
        otherwise with the difference normal around its true value."""
        if self.metric in COUNTING:
            return self._enumerated()
        return normal_power(
            self.true_effect,
            null_sd=self.null_sd,
            standard_error=self.standard_error,
            alpha=self.alpha,
            method=METHOD,
        )

    def _enumerated(self) -> ComputedPower:
        """Swaps then act on the numbers of items that one system alone has right: McNemar's exact test.

        Items of the class vary in number. For Type M, the mean of their reciprocal given the number that
        differ is expanded to the second order.
        """
        chance, n = self.tables.probability, self.n_items
        counted = [self.positive] if self.metric == "recall" else range(len(chance))
        only_a = sum(float(chance[c, c].sum() - chance[c, c, c]) for c in counted)
        only_b = sum(float(chance[c, :, c].sum() - chance[c, c, c]) for c in counted)
        moved, items = only_a + only_b, float(sum(chance[c].sum() for c in counted))

        def weight(total: Counts) -> Floats:
            other = (items - moved) / (1 - moved) if moved < 1 else 0.0
            mean = np.maximum(total + (n - total) * other, 1.0)
            return np.asarray((1 + (n - total) * other * (1 - other) / mean**2) / mean)

        found = enumerated_power(
            n,
            discordant=moved,
            difference=only_b - only_a,
            true_effect=self.true_effect,
            critical=lambda total: critical_counts(total, test="exact", alpha=self.alpha),
            weight=weight,
        )
        return found if self.is_exact else replace(found, exact=False)

    def _slopes(self, confusion: Floats) -> Floats:
        return metric_slopes(self.metric, confusion, positive=self.positive)

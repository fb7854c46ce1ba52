"""Two systems answer the same items, right or wrong: paired accuracy."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import ClassVar, get_args

import numpy as np

from humeval_power.choices import RECOMMENDED, PairedTest
from humeval_power.comparisons.accuracy.agreement import AgreementSource
from humeval_power.errors import InputError, Problem
from humeval_power.inference.mcnemar import (
    LARGEST,
    P_VALUES,
    beyond,
    critical_counts,
    critical_z,
    tabulated_p,
    unconditional_p,
)
from humeval_power.scenarios.contract import BlockScenario, ComputedPower, Replicates
from humeval_power.scenarios.discordant_counts import (
    Counts,
    Floats,
    LikelyTables,
    approximate_power,
    enumerated_power,
    likely_tables,
)

MOST_ENUMERATED = 10_000_000
_SLACK = 1e-12


@dataclass(frozen=True)
class PairedAccuracy(BlockScenario):
    """A test set, a true difference of accuracy B - A, and how often both systems do alike.

    `baseline` is the accuracy of A, None if it is not known. The effect is the difference, as a share.
    """

    effect_field: ClassVar[str] = "difference"

    n_items: int
    _: KW_ONLY
    difference: float
    agreement: AgreementSource
    baseline: float | None = None
    test: PairedTest = RECOMMENDED
    alpha: float = 0.05

    def __post_init__(self) -> None:
        problems = []
        if self.n_items < 1:
            problems.append((f"A test set has at least one item; got {self.n_items}.", ""))
        if self.test not in get_args(PairedTest):
            known = ", ".join(get_args(PairedTest))
            problems.append((f"There is no paired test {self.test!r}.", f"Choose {known}."))
        if not 0 < self.alpha < 1:
            problems.append((f"alpha must lie between 0 and 1; got {self.alpha:g}.", ""))
        if self.baseline is not None and not 0 <= self.baseline <= 1:
            problems.append(
                (f"An accuracy is a share between 0 and 1; got {self.baseline:g}.", "Divide by 100.")
            )
        elif self.baseline is None and self.agreement.needs_baseline:
            problems.append(("Without an agreement the accuracy of the baseline is needed.", "Give it."))
        if problems := problems or self._impossible():
            raise InputError([Problem(rule, remedy) for rule, remedy in problems])

    def _impossible(self) -> list[tuple[str, str]]:
        moved, difference, baseline = self.disagreement, self.difference, self.baseline
        if baseline is not None and not -_SLACK <= baseline + difference <= 1 + _SLACK:
            rule = f"A baseline of {baseline:.4g} cannot change by {difference:+.4g}: that leaves [0, 1]."
            return [(rule, f"At most {1 - baseline:.4g} is left above it.")]
        if not abs(difference) <= moved + _SLACK or moved > 1 + _SLACK:
            rule = (
                f"A difference of {difference:+.4g} is impossible where the systems differ on "
                f"{100 * moved:.4g} % of the items only."
            )
            return [(rule, "The difference is at most 1 - agreement.")]
        if baseline is not None and self.only_b > 1 - baseline + _SLACK:
            rule = (
                f"B alone would be right on {100 * self.only_b:.4g} % of the items, but with a "
                f"baseline of {baseline:g} A is wrong on {100 * (1 - baseline):.4g} % only."
            )
            return [(rule, "Assume more agreement or a smaller difference.")]
        if baseline is not None and self.only_a > baseline + _SLACK:
            rule = (
                f"A alone would be right on {100 * self.only_a:.4g} % of the items, but with a "
                f"baseline of {baseline:g} it is right on {100 * baseline:.4g} % only."
            )
            return [(rule, "Assume more agreement or a smaller difference.")]
        return []

    @property
    def disagreement(self) -> float:
        """Share of items that exactly one system gets right."""
        given = math.nan if self.baseline is None else self.baseline
        return self.agreement.disagreement(given, self.difference)

    @property
    def only_b(self) -> float:
        """Probability that B alone is right."""
        return (self.disagreement + self.difference) / 2

    @property
    def only_a(self) -> float:
        """Probability that A alone is right."""
        return (self.disagreement - self.difference) / 2

    def draw_block(self, rng: np.random.Generator, size: int) -> Replicates:
        if self._likely is not None:
            tables, known = self._likely
            return known.part(tables.pick(rng, size))
        total = rng.binomial(self.n_items, self._moved, size=size)
        only_b = rng.binomial(total, self._share)
        return self.decide(only_b, total - only_b)

    def decide(self, only_b: Counts, only_a: Counts) -> Replicates:
        """Estimate and test from the counts of items that one system alone got right."""
        if self.test == "unconditional":
            # p-values, those interpolated moved to the side of alpha where the critical value has
            # them.
            limit = beyond(only_b + only_a, critical_z(self.n_items, self.alpha))
            p_value = unconditional_p(only_b, only_a, self.n_items)
            just_above = np.maximum(p_value, np.nextafter(self.alpha, 1.0))
            significant = np.minimum(only_b, only_a) <= limit
            p_value = np.where(significant, np.minimum(p_value, self.alpha), just_above)
        else:
            p_value = P_VALUES[self.test](only_b, only_a)
        return self._estimated(only_b, only_a, p_value)

    def _estimated(self, only_b: Counts, only_a: Counts, p_value: Floats) -> Replicates:
        estimate = (only_b - only_a) / self.n_items
        spread = np.maximum((only_b + only_a) / self.n_items - estimate**2, 0.0)
        return Replicates.of_tests(estimate, p_value, standard_error=np.sqrt(spread / self.n_items))

    @cached_property
    def _likely(self) -> tuple[LikelyTables, Replicates] | None:
        """Every likely table and what it shows; None where they are many or the test is costly."""
        if self.test == "unconditional":
            return None
        tables = likely_tables(self.n_items, discordant=self._moved, share=self._share)
        if tables is None:
            return None
        p_value = tabulated_p(tables.only_b, tables.only_a, test=self.test)
        return tables, self._estimated(tables.only_b, tables.only_a, p_value)

    @property
    def _moved(self) -> float:
        return min(max(self.disagreement, 0.0), 1.0)

    @property
    def _share(self) -> float:
        """Part of the discordant items that B alone gets right."""
        moved = self._moved
        return min(max((1 + self.difference / moved) / 2, 0.0), 1.0) if moved > 0 else 0.5

    def computed(self) -> ComputedPower:
        """Exact power by enumeration; the normal approximation for very large test sets."""
        moved = self._moved
        difference = min(max(self.difference, -moved), moved)
        if self.n_items > MOST_ENUMERATED:
            return approximate_power(
                self.n_items,
                discordant=moved,
                difference=difference,
                true_effect=self.difference,
                alpha=self.alpha,
            )
        power = enumerated_power(
            self.n_items,
            discordant=moved,
            difference=difference,
            true_effect=self.difference,
            critical=self._critical,
            weight=lambda total: np.full(len(total), 1 / self.n_items),
        )
        if self.test == "unconditional" and self.n_items > LARGEST:
            method = f"{power.method}, at the critical value of {LARGEST:,} items"
            power = replace(power, exact=False, method=method)
        return power

    def _critical(self, total: Counts) -> Counts:
        if self.test == "unconditional":
            return beyond(total, critical_z(self.n_items, self.alpha))
        return critical_counts(total, test=self.test, alpha=self.alpha)


def largest_difference(agreement: AgreementSource, *, baseline: float | None = None) -> float:
    """The largest possible improvement at this agreement; 0 where none is possible."""

    def possible(difference: float) -> bool:
        try:
            PairedAccuracy(1, difference=difference, agreement=agreement, baseline=baseline)
        except InputError:
            return False
        return True

    low, high = 0.0, 1.0 if baseline is None else 1.0 - baseline
    if possible(high):
        return high
    if not possible(low):
        return 0.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if possible(middle) else (low, middle)
    return low

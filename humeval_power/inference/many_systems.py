"""More than two systems: a fit for each pair, and corrections for testing many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from humeval_power.errors import InputError
from humeval_power.estimation.fit import Fit
from humeval_power.estimation.fitting import fit
from humeval_power.inference.difference_test import difference_test
from humeval_power.inference.wald import EffectTest, effect_test
from humeval_power.ratings import Ratings
from humeval_power.rules import DecisionRule

Correction = Literal["holm", "bonferroni", "none"]


@dataclass(frozen=True, slots=True)
class PairResult:
    """One comparison: its own two-system fit, its test, and the p-value corrected for all of them."""

    first: str
    second: str
    fit: Fit
    test: EffectTest
    corrected_p: float

    @property
    def significant(self) -> bool:
        """Whether the corrected p-value is at most the rule's alpha."""
        return self.corrected_p <= self.test.rule.alpha


def compare_systems(
    ratings: Ratings,
    *,
    rule: DecisionRule,
    baseline: str | None = None,
    correction: Correction = "holm",
) -> tuple[PairResult, ...]:
    """All pairs, or all systems against a baseline, each pair fitted by itself.

    A pair's fit takes its variances from the ratings of its two systems alone, so systems that vary
    more than others do not disturb it. Holm's (1979) correction is the default.

    Raises
    ------
    InputError
        A baseline that is not in the table, or fewer than two systems.
    """
    names = ratings.system_names
    if len(names) < 2:
        raise InputError(f"At least two systems are needed; the table has {len(names)}.")
    if baseline is not None and baseline not in names:
        raise InputError(f"There is no system {baseline!r}; the systems are {', '.join(names)}.")
    pairs: Sequence[tuple[str, str]] = list(combinations(names, 2))
    if baseline is not None:
        pairs = [(baseline, name) for name in names if name != baseline]
    fits, tests = [], []
    for first, second in pairs:
        pair = ratings.pair(first, second)
        fits.append(fit(pair, estimator=rule.estimator))
        tests.append(
            difference_test(pair, rule) if rule.analysis == "differences" else effect_test(fits[-1], rule)
        )
    corrected = correct([test.p_value for test in tests], correction)
    return tuple(
        PairResult(first, second, fitted, test, float(p))
        for (first, second), fitted, test, p in zip(pairs, fits, tests, corrected, strict=True)
    )


def correct(p_values: Sequence[float], correction: Correction) -> np.ndarray:
    """Corrected p-values in the order given (statsmodels)."""
    if correction == "none":
        return np.asarray(p_values, dtype=float)
    from statsmodels.stats.multitest import multipletests

    return np.asarray(multipletests(p_values, method=correction)[1])


def indistinct_groups(
    results: Sequence[PairResult], means: dict[str, float]
) -> tuple[tuple[str, ...], ...]:
    """The largest groups of systems, neighbours in the order of their means, without a significant
    difference inside; best first."""
    order = sorted(means, key=lambda name: -means[name])
    apart = {frozenset((r.first, r.second)) for r in results if r.significant}
    groups: list[tuple[str, ...]] = []
    for start in range(len(order)):
        end = start + 1
        while end < len(order) and not any(
            frozenset((order[i], order[end])) in apart for i in range(start, end)
        ):
            end += 1
        group = tuple(order[start:end])
        if not groups or not set(group) <= set(groups[-1]):
            groups.append(group)
    return tuple(groups)

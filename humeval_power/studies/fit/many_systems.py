"""More than two systems: comparisons in pairs, and corrections for testing many."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from humeval_power.errors import FitError, InputError
from humeval_power.estimation.crossed.problem import few_fits
from humeval_power.estimation.fit import CorrelatedFactor, Fit
from humeval_power.estimation.fitting import fit
from humeval_power.estimation.joint.fit import JointFit
from humeval_power.estimation.latent.fit import LatentFit, fit_latent
from humeval_power.inference.corrections import correct
from humeval_power.ratings import Ratings
from humeval_power.rules import (
    DEFAULT_FAMILY,
    ComparisonFamily,
    DecisionRule,
    FamilyOfTests,
    SystemModel,
    SystemVariances,
)
from humeval_power.studies.fit.intervals import Intervals, latent_intervals, parameter_intervals
from humeval_power.studies.fit.wald import EffectTest, difference_test, effect_test, latent_test

# The fit and the test that a rule asks for, whatever it takes ratings for.


def fit_and_test(
    ratings: Ratings, rule: DecisionRule, *, correlated: Sequence[CorrelatedFactor] = ()
) -> tuple[Fit | LatentFit, EffectTest]:
    """Fit the ratings of two systems as the rule's family, and test their difference.

    correlated : 'worker', 'item' or both, whose intercepts and slopes may correlate; of numbers alone.

    Raises InputError: a rule that simulates, ratings that are not of its family, or correlations of
    categories; FitError: ratings that determine nothing.
    """
    if rule.is_latent:
        if correlated:
            raise InputError(
                f"The family '{rule.family}' has no correlation of an intercept and its slope: leave it out, or "
                "take the family 'gaussian'. Under the coding -1/2, +1/2 it hardly touches the effect."
            )
        categories = fit_latent(ratings, family=rule.family, link=rule.link, estimator=rule.estimator)
        return categories, latent_test(categories, rule)
    fitted = fit(ratings, estimator=rule.estimator, correlated=correlated)
    if rule.analysis == "differences":
        return fitted, difference_test(ratings, rule)
    return fitted, effect_test(fitted, rule)


def asymptotic_intervals(fitted: Fit | LatentFit, ratings: Ratings) -> Intervals:
    """Asymptotic 95 % intervals of what was fitted; none where the search did not end."""
    if not fitted.converged:
        return {}
    if isinstance(fitted, LatentFit):
        return latent_intervals(fitted)
    return parameter_intervals(fitted, ratings)


@dataclass(frozen=True, slots=True)
class SystemsComparison:
    """One comparison: its test, and the p-value corrected for all of them.

    `fit` is the comparison's own, or that of all systems together. `simultaneous_interval` covers together
    with those of the other comparisons; only max-t gives one.
    """

    first: str
    second: str
    fit: Fit | LatentFit | JointFit
    test: EffectTest
    corrected_p: float
    simultaneous_interval: tuple[float, float] | None = None

    @property
    def significant(self) -> bool:
        """Whether the corrected p-value is at most the rule's alpha."""
        return self.corrected_p <= self.test.rule.alpha


@dataclass(frozen=True, slots=True)
class SystemMean:
    """Mean rating of a system on [0, 1]; standard error, df and interval only from a joint fit."""

    system: str
    mean: float
    standard_error: float | None = None
    df: float | None = None
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class VariancesCheck:
    """The same comparisons with the other kind of variances: a check, which decides nothing.

    `statistic` is twice the gain in restricted log likelihood of variances of each system's own over common
    ones, `df` the variances that it adds and `p_value` that of chi-squared: asymptotic, and rough with few
    workers. `parted` are the comparisons, first and second, of which one is significant and the other is not.
    `reason` says why there is none, and then the others are empty.
    """

    variances: SystemVariances
    fit: JointFit | None = None
    results: tuple[SystemsComparison, ...] = ()
    statistic: float = math.nan
    df: int = 0
    p_value: float = math.nan
    parted: tuple[tuple[str, str], ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """The same comparisons by the other model, fits in pairs or one of all systems: a check, which decides nothing.

    `parted` are the comparisons, first and second, of which one is significant and the other is not; `reason` says
    why there are none, and then the others are empty.
    """

    model: SystemModel
    results: tuple[SystemsComparison, ...] = ()
    parted: tuple[tuple[str, str], ...] = ()
    reason: str = ""


@dataclass(frozen=True, slots=True)
class FamilyError:
    """How often at least one comparison is significant where no systems differ: `rate` with its 95 % Monte Carlo
    `interval`; NaN where so many studies would take too long. `n_failed` had no fit, and are left out."""

    rate: float
    interval: tuple[float, float]
    n_simulations: int
    n_failed: int
    seed: int


@dataclass(frozen=True, slots=True)
class SystemsAnalysis:
    """All comparisons of a table of several systems, by the model and the correction of their family.

    `tests` are those that were corrected together. `joint` is the fit of all systems together, None for fits in
    pairs. `common_df` are the df of the largest statistic under max-t with common variances: the smallest of the
    comparisons'. `check` is the joint model with the other kind of variances, where it was asked for,
    and `other_model` the same by fits in pairs instead of one of all systems, or the reverse. `family_error` says
    how often max-t errs with as few workers, where it does not keep its level.
    """

    results: tuple[SystemsComparison, ...]
    means: tuple[SystemMean, ...]
    tests: FamilyOfTests
    joint: JointFit | None = None
    common_df: float | None = None
    check: VariancesCheck | None = None
    other_model: ModelCheck | None = None
    family_error: FamilyError | None = None

    @property
    def family(self) -> ComparisonFamily:
        """Which comparisons were made, by which model and correction."""
        return self.tests.family

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Groups of systems that no test tells apart, best first; none against a baseline or where the
        tests are of a margin, which tell nothing apart."""
        rule = self.results[0].test.rule
        if self.family.comparisons == "baseline" or rule.margin is not None:
            return ()
        return indistinct_groups(self.results, {one.system: one.mean for one in self.means})


def of_common_workers(pair: Ratings) -> Ratings:
    """The ratings of two systems by those who rated both."""
    both = np.intersect1d(pair.worker[pair.system == 0], pair.worker[pair.system == 1])
    kept = np.isin(pair.worker, both)
    return pair if kept.all() else pair.of_rows(kept)


def compare_systems(
    ratings: Ratings,
    *,
    rule: DecisionRule,
    family: ComparisonFamily = DEFAULT_FAMILY,
    common_workers: bool = False,
) -> tuple[SystemsComparison, ...]:
    """The comparisons of a family, each pair fitted by itself.

    A pair's fit takes its variances from the ratings of its two systems alone, so systems that vary
    more than others do not disturb it.

    common_workers : compare two systems by those who rated both: where one was dropped, the ratings until then.

    Raises
    ------
    InputError
        A baseline that is not in the table, fewer than two systems, or a family of the joint model.
    """
    if family.model != "pairwise":
        raise InputError(f"Fits in pairs are the model 'pairwise'; got a family of '{family.model}'.")
    pairs = family.pairs(ratings.system_names)
    fits, tests = [], []
    for first, second in pairs:
        pair = ratings.pair(first, second)
        if common_workers:
            pair = of_common_workers(pair)
        try:
            with few_fits(len(pairs)):
                fitted, test = fit_and_test(pair, rule)
        except FitError as error:
            raise FitError(f"{second} - {first}: {error}") from error
        except InputError as error:
            raise InputError(f"{second} - {first}: {error}") from error
        fits.append(fitted)
        tests.append(test)
    corrected = correct([test.p_value for test in tests], family.correction)
    return tuple(
        SystemsComparison(first, second, fitted, test, float(p))
        for (first, second), fitted, test, p in zip(pairs, fits, tests, corrected, strict=True)
    )


def compare_in_pairs(
    ratings: Ratings,
    *,
    rule: DecisionRule,
    family: ComparisonFamily = DEFAULT_FAMILY,
    common_workers: bool = False,
) -> SystemsAnalysis:
    """`compare_systems` with the mean of each system's ratings; by common workers of those who rated all
    systems."""
    results = compare_systems(ratings, rule=rule, family=family, common_workers=common_workers)
    kept = np.ones(ratings.n_ratings, dtype=bool)
    if common_workers:
        rated = np.zeros((ratings.n_workers, ratings.n_systems), dtype=bool)
        rated[ratings.worker, ratings.system] = True
        everything = np.flatnonzero(rated.all(axis=1))
        kept = np.isin(ratings.worker, everything) if len(everything) else kept
    n_systems = ratings.n_systems
    system, rating = ratings.system[kept], ratings.rating[kept]
    means = np.bincount(system, rating, minlength=n_systems) / np.bincount(system, minlength=n_systems)
    means_by_system = tuple(
        SystemMean(name, float(mean)) for name, mean in zip(ratings.system_names, means, strict=True)
    )
    return SystemsAnalysis(results, means_by_system, FamilyOfTests(family, len(results)))


class CorrectedP(NamedTuple):
    """P-values after a correction in the order of the comparisons: those that decide, and those of the checks by
    the other variances and by the other model, where there are any."""

    p_values: Sequence[float]
    of_check: Sequence[float] = ()
    of_model: Sequence[float] = ()


def recorrected(analysis: SystemsAnalysis, tests: FamilyOfTests, corrected: CorrectedP) -> SystemsAnalysis:
    """The analysis with p-values that were corrected over a larger family of tests, those of its checks too."""
    results = _with_p_values(analysis.results, corrected.p_values)
    check = analysis.check
    if check is not None and check.results:
        corrected_results = _with_p_values(check.results, corrected.of_check)
        parted = () if check.reason else decided_otherwise(results, corrected_results)
        check = replace(check, results=corrected_results, parted=parted)
    other = analysis.other_model
    if other is not None and other.results:
        corrected_results = _with_p_values(other.results, corrected.of_model)
        other = replace(
            other, results=corrected_results, parted=decided_otherwise(results, corrected_results)
        )
    return replace(analysis, results=results, tests=tests, check=check, other_model=other)


def _with_p_values(
    results: Sequence[SystemsComparison], p_values: Sequence[float]
) -> tuple[SystemsComparison, ...]:
    return tuple(replace(one, corrected_p=float(p)) for one, p in zip(results, p_values, strict=True))


def decided_otherwise(
    results: Sequence[SystemsComparison], others: Sequence[SystemsComparison]
) -> tuple[tuple[str, str], ...]:
    """The comparisons of which one is significant and the other is not."""
    return tuple(
        (one.first, one.second)
        for one, other in zip(results, others, strict=True)
        if one.significant != other.significant
    )


def indistinct_groups(
    results: Sequence[SystemsComparison], means: Mapping[str, float]
) -> tuple[tuple[str, ...], ...]:
    """The largest groups of systems without a significant difference inside, best first: two systems are in a
    common group exactly if they are not told apart, by insertion and absorption (Piepho 2004).

    A group need not be of neighbours in the order of the means: where variances differ, a system can be told
    apart from one that is near and not from one that is farther.
    """
    order = sorted(means, key=lambda name: -means[name])
    return groups_of(order, [(one.first, one.second) for one in results if one.significant])


def groups_of(
    order: Sequence[str], apart: Iterable[tuple[str, str]], *, most: float = math.inf
) -> tuple[tuple[str, ...], ...]:
    """The largest groups of names without a pair that is `apart`, all in this order; none where there would be more
    than `most` of them.

    They are the maximal cliques of the pairs that are not apart (Bron and Kerbosch 1973, with a pivot).
    """
    place = {name: k for k, name in enumerate(order)}
    near = [((1 << len(order)) - 1) & ~(1 << k) for k in range(len(order))]
    for one, other in apart:
        near[place[one]] &= ~(1 << place[other])
        near[place[other]] &= ~(1 << place[one])
    groups: list[int] = []
    for group in _cliques(near):
        groups.append(group)
        if len(groups) > most:
            return ()
    ranked = sorted([k for k in range(len(order)) if group >> k & 1] for group in groups)
    return tuple(tuple(order[k] for k in group) for group in ranked)


def _cliques(near: Sequence[int]) -> Iterator[int]:
    """The maximal sets of which all are near each other; sets are the bits of whole numbers."""
    stack = [(0, (1 << len(near)) - 1, 0)]  # inside, may still come in, have been tried
    while stack:
        inside, free, tried = stack.pop()
        if not free and not tried:
            yield inside
        if not free:
            continue
        pivot = max(_bits(free | tried), key=lambda k: (free & near[k]).bit_count())
        for k in _bits(free & ~near[pivot]):
            stack.append((inside | 1 << k, free & near[k], tried & near[k]))
            free &= ~(1 << k)
            tried |= 1 << k


def _bits(number: int) -> Iterator[int]:
    while number:
        lowest = number & -number
        yield lowest.bit_length() - 1
        number ^= lowest


def group_letters(groups: Sequence[Sequence[str]]) -> dict[str, str]:
    """Each system's letters: two systems share one exactly if they are not told apart (Piepho 2004)."""
    letters: dict[str, str] = {}
    for number, group in enumerate(groups):
        letter = chr(ord("a") + number % 26) * (1 + number // 26)
        for name in group:
            letters[name] = letters.get(name, "") + letter
    return letters

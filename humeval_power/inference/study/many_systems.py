"""More than two systems: comparisons in pairs, and corrections for testing many."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from humeval_power.errors import FitError, InputError
from humeval_power.estimation.fit import Fit
from humeval_power.estimation.joint_fit import JointFit, contrast_precision, fit_joint
from humeval_power.estimation.latent_fit import LatentFit
from humeval_power.inference.study.max_t import DEFAULT_SEED, MaxT
from humeval_power.inference.study.testing import fit_and_test
from humeval_power.inference.study.wald import (
    EffectTest,
    critical_value,
    finished_test,
    reference,
    why_no_test,
)
from humeval_power.ratings import Ratings
from humeval_power.rules import DecisionRule

Correction = Literal["holm", "bonferroni", "max-t", "none"]
FamilyCorrection = Literal["holm", "bonferroni", "bh", "none"]
SystemModel = Literal["pairwise", "joint"]


@dataclass(frozen=True, slots=True)
class PairResult:
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
class SystemsAnalysis:
    """All comparisons of a table of several systems, by one model and one correction.

    `joint` is the fit of all systems together, None for fits in pairs. `common_df` are the df of the
    largest statistic under max-t: the smallest of the comparisons'.
    """

    results: tuple[PairResult, ...]
    means: tuple[SystemMean, ...]
    model: SystemModel
    correction: Correction
    baseline: str | None
    joint: JointFit | None = None
    common_df: float | None = None

    @property
    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Groups of systems that no test tells apart, best first; none against a baseline or where the
        tests are of a margin, which tell nothing apart."""
        rule = self.results[0].test.rule
        if self.baseline is not None or rule.margin is not None:
            return ()
        return indistinct_groups(self.results, {one.system: one.mean for one in self.means})


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
        A baseline that is not in the table, fewer than two systems, or correction 'max-t', which needs
        the correlation of the comparisons: only a joint fit has it.
    """
    if correction == "max-t":
        raise InputError(
            "The correction max-t needs the correlation of the comparisons, which fits in pairs do not "
            "give. Fit the systems together (--model joint), or take holm."
        )
    pairs = list_pairs(ratings.system_names, baseline)
    fits, tests = [], []
    for first, second in pairs:
        pair = ratings.pair(first, second)
        try:
            fitted, test = fit_and_test(pair, rule)
        except FitError as error:
            raise FitError(f"{second} - {first}: {error}") from error
        fits.append(fitted)
        tests.append(test)
    corrected = correct([test.p_value for test in tests], correction)
    return tuple(
        PairResult(first, second, fitted, test, float(p))
        for (first, second), fitted, test, p in zip(pairs, fits, tests, corrected, strict=True)
    )


def compare_in_pairs(
    ratings: Ratings, *, rule: DecisionRule, baseline: str | None = None, correction: Correction = "holm"
) -> SystemsAnalysis:
    """`compare_systems` with the mean of each system's ratings."""
    results = compare_systems(ratings, rule=rule, baseline=baseline, correction=correction)
    means = np.bincount(ratings.system, ratings.rating) / np.bincount(ratings.system)
    told = tuple(
        SystemMean(name, float(mean)) for name, mean in zip(ratings.system_names, means, strict=True)
    )
    return SystemsAnalysis(results, told, "pairwise", correction, baseline)


def list_pairs(names: Sequence[str], baseline: str | None) -> list[tuple[str, str]]:
    """The comparisons (first, second), of which each is second - first.

    Raises
    ------
    InputError
        A baseline that is none of the systems, or fewer than two systems.
    """
    if len(names) < 2:
        raise InputError(f"At least two systems are needed; the table has {len(names)}.")
    if baseline is None:
        return list(combinations(names, 2))
    if baseline not in names:
        raise InputError(f"There is no system {baseline!r}; the systems are {', '.join(names)}.")
    return [(baseline, name) for name in names if name != baseline]


def correct(p_values: Sequence[float], correction: Correction | FamilyCorrection) -> np.ndarray:
    """Corrected p-values in the order given (statsmodels); a missing one stays missing and counts as one of
    the family. 'bh' is Benjamini and Hochberg's (1995) false
    discovery rate. 'max-t' is not one of p-values alone: see `inference.max_t`."""
    if correction == "none":
        return np.asarray(p_values, dtype=float)
    from statsmodels.stats.multitest import multipletests

    method = {"bh": "fdr_bh"}.get(correction, correction)
    missing = np.isnan(p_values)
    corrected = np.asarray(multipletests(np.where(missing, 1.0, p_values), method=method)[1])
    return np.where(missing, np.nan, corrected)


def indistinct_groups(
    results: Sequence[PairResult], means: Mapping[str, float]
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


def group_letters(groups: Sequence[Sequence[str]]) -> dict[str, str]:
    """Each system's letters: two systems that share one are not told apart (Piepho 2004)."""
    letters: dict[str, str] = {}
    for number, group in enumerate(groups):
        letter = chr(ord("a") + number % 26) * (1 + number // 26)
        for name in group:
            letters[name] = letters.get(name, "") + letter
    return letters


Floats = NDArray[np.float64]


def compare_jointly(
    ratings: Ratings,
    *,
    rule: DecisionRule,
    baseline: str | None = None,
    correction: Correction = "holm",
    seed: int = DEFAULT_SEED,
) -> SystemsAnalysis:
    """All pairs, or all systems against a baseline, from one fit with the variances in common.

    More ratings tell of the variances than a pair has, so the degrees of freedom are larger than those of
    pairwise fits; the price is the assumption that workers' and items' differences vary alike between any
    two systems. Under max-t the largest t is referred to a multivariate t with the smallest of the
    comparisons' df, which errs to the safe side where they differ.

    Raises
    ------
    InputError
        A rule that the joint model has no answer for; a baseline that is not in the table; fewer than two
        systems, workers or items; more of them than a joint fit can hold.
    FitError
        Ratings without residual variation.
    """
    _check_rule(rule, correction)
    pairs = list_pairs(ratings.system_names, baseline)
    fitted = fit_joint(ratings)
    contrasts = _contrasts(ratings.system_names, pairs)
    estimate, error, df = _referred(fitted, contrasts, rule)
    reason = why_no_test(fitted.converged)
    tests = [
        finished_test(float(e), float(s), float(d), rule, reason=reason)
        for e, s, d in zip(estimate, error, df, strict=True)
    ]
    common: float | None = None
    intervals: list[tuple[float, float] | None] = [None] * len(tests)
    if correction == "max-t" and not any(test.reason for test in tests):
        common = float(df.min())
        largest = MaxT(_correlation(fitted, contrasts, rule), common, rule.alternative == "two-sided", seed)
        raw = np.array([test.p_value for test in tests])
        corrected = np.maximum(largest.p_value(estimate / error), raw)
        reach = largest.critical_value(rule.alpha) * error
        intervals = [(float(e - r), float(e + r)) for e, r in zip(estimate, reach, strict=True)]
    else:
        # max-t comes here where a test is missing, and with it the largest statistic
        known = [math.nan if correction == "max-t" else test.p_value for test in tests]
        corrected = correct(known, "none" if correction == "max-t" else correction)
    results = tuple(
        PairResult(first, second, fitted, test, float(p), interval)
        for (first, second), test, p, interval in zip(pairs, tests, corrected, intervals, strict=True)
    )
    means = system_means(ratings, fitted, rule)
    return SystemsAnalysis(results, means, "joint", correction, baseline, fitted, common)


def system_means(ratings: Ratings, fitted: JointFit, rule: DecisionRule) -> tuple[SystemMean, ...]:
    """Estimated mean of each system for new workers and items, with an interval of confidence 1 - alpha."""
    two_sided = replace(rule, alternative="two-sided", margin=None)
    mean, error, df = _referred(fitted, np.eye(ratings.n_systems), two_sided)
    told = []
    for name, m, s, d in zip(ratings.system_names, mean, error, df, strict=True):
        if not (fitted.converged and s > 0 and d > 0):
            told.append(SystemMean(name, float(m)))
            continue
        reach = critical_value(float(d), rule.alpha / 2) * s
        told.append(SystemMean(name, float(m), float(s), float(d), (float(m - reach), float(m + reach))))
    return tuple(told)


def _check_rule(rule: DecisionRule, correction: Correction) -> None:
    problems = []
    if rule.estimator != "reml":
        problems.append("The joint model is fitted by REML; take --estimator reml, or --model pairwise.")
    if rule.analysis != "ratings":
        problems.append("The joint model has no analysis of differences; take --model pairwise for that.")
    if rule.is_latent:
        problems.append(
            f"The joint model is of ratings as numbers; got the family '{rule.family}', of which each pair has a "
            "fit of its own: take --model pairwise, with Holm's correction."
        )
    if rule.is_simulated:
        problems.append(f"The joint model has no simulated reference; got df '{rule.df}'.")
    if rule.margin is not None and correction == "max-t":
        problems.append("max-t is for tests of no difference; take holm for those with a margin.")
    if problems:
        raise InputError(" ".join(problems))


def _contrasts(names: tuple[str, ...], pairs: list[tuple[str, str]]) -> Floats:
    """second - first of each pair, shape (pairs, K)."""
    place = {name: code for code, name in enumerate(names)}
    matrix = np.zeros((len(pairs), len(names)))
    for row, (first, second) in enumerate(pairs):
        matrix[row, place[first]], matrix[row, place[second]] = -1.0, 1.0
    return matrix


def _referred(fitted: JointFit, contrasts: Floats, rule: DecisionRule) -> tuple[Floats, Floats, Floats]:
    """Estimates, standard errors and df that the rule uses, each of shape (contrasts,)."""
    found = contrast_precision(fitted, contrasts)
    error, df = reference(
        rule,
        standard_error=found.standard_error,
        adjusted=found.standard_error_adjusted,
        satterthwaite=found.df_satterthwaite,
        kenward_roger=found.df_kenward_roger,
        smallest=min(fitted.n_workers, fitted.n_items) - 1,
    )
    return found.estimate, error, df


def _correlation(fitted: JointFit, contrasts: Floats, rule: DecisionRule) -> Floats:
    """Estimated correlation of the contrasts, by the covariance whose standard errors the rule uses."""
    adjusted = rule.df == "kenward-roger"
    covariance = contrasts @ (fitted.covariance_adjusted if adjusted else fitted.covariance) @ contrasts.T
    scale = np.sqrt(np.diag(covariance))
    if not all(map(math.isfinite, scale)):
        raise InputError("The standard errors of the comparisons do not exist; fit the systems in pairs.")
    return np.asarray(covariance / np.outer(scale, scale))

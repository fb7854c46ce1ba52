"""Instant power of a rating study: GLS variance, expected-information df, noncentral t.

At assumed parameters the variance of the estimated difference is known for any assignment, and so is
the precision with which a study will estimate that variance: its expected REML information gives the
df (Kenward and Roger 1997). Power is then that of a t test with this df. Simulation is the proof; with
fewer than five workers the answer is approximate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.designs import Design
from humeval_power.errors import ParametersError
from humeval_power.inference.student_t import (
    critical_value,
    equivalence_power,
    exaggeration,
    noncentral_t_tail,
)
from humeval_power.kernels.crossed import balanced, balanced_documents
from humeval_power.parameters import FURTHER_DEVIATIONS, STANDARD_DEVIATIONS, Parameters
from humeval_power.rules import DEFAULT_RULE, Analysis, DecisionRule, Estimator
from humeval_power.simulation.study import check_documents
from humeval_power.study_counts import StudyCounts

# Complete balanced studies by their mean squares, with documents above the items or without.

Floats = NDArray[np.float64]


class FittedSquares(NamedTuple):
    """Fits from mean squares, one for each replicate (last axis); `zero` (components, n) marks those at zero.
    Satterthwaite's df is NaN for maximum likelihood."""

    standard_error: Floats
    satterthwaite: Floats
    kenward_roger: Floats
    zero: NDArray[np.bool_]
    status: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BalancedStudy:
    """A balanced design, and how its mean squares are drawn, computed and fitted; with `ignore_documents`
    they are fitted as if the items stood alone."""

    design: Design
    analysis: Analysis = "ratings"
    estimator: Estimator = "reml"
    ignore_documents: bool = False

    @cached_property
    def _size(self) -> balanced.Size:
        return balanced.Size(self.design.n_workers, self.design.n_items, self.design.n_repeats)

    @cached_property
    def _documents(self) -> balanced_documents.DocumentsSize:
        return documents_size(self.design)

    @property
    def _by_difference(self) -> bool:
        return self.analysis == "differences"

    def precision(self, variances: Floats) -> tuple[float, float]:
        """Variance of the estimated difference and its df at assumed variances, in the order of the fitted
        components and the residual's last."""
        if self.design.n_documents:
            expected = balanced_documents.expected_mean_squares(self._documents, variances)
            df = balanced_documents.degrees_of_freedom(self._documents)
            variance = balanced_documents.effect_variance(expected, self._documents)
            return float(variance), float(balanced_documents.kenward_roger_df(expected, df))
        expected = balanced.expected_mean_squares(self._size, variances)
        result = balanced.kenward_roger_df(expected, balanced.degrees_of_freedom(self._size))
        return float(balanced.effect_variance(expected, self._size)), float(result)

    def drawn(
        self, rng: np.random.Generator, variances: Floats, *, n: int, interaction: float = 0.0
    ) -> tuple[Floats, Floats]:
        """Mean squares of n Gaussian studies, and the errors of their estimates."""
        if self.design.n_documents:
            return balanced_documents.draw_mean_squares(
                rng,
                size=self._documents,
                expected=balanced_documents.expected_mean_squares(self._documents, variances),
                n_replicates=n,
                interaction=interaction,
                of_differences=self._by_difference,
            )
        expected = balanced.expected_mean_squares(self._size, variances)
        if self._by_difference:
            return balanced.draw_difference_squares(rng, size=self._size, expected=expected, n_replicates=n)
        return balanced.draw_mean_squares(
            rng, size=self._size, expected=expected, n_replicates=n, interaction=interaction
        )

    def squares(self, responses: Floats) -> tuple[Floats, Floats]:
        """Mean squares and differences of ratings (n, n_ratings) in the order of the assignment."""
        table = responses.reshape(len(responses), *self._size[:2], 2, self._size.repeats)
        if self.design.document_of_item is not None:
            table = table[:, :, np.argsort(self.design.document_of_item, kind="stable")]
            squares = (
                balanced_documents.difference_squares
                if self._by_difference
                else balanced_documents.mean_squares
            )
            return squares(table, self.design.n_documents)
        if self._by_difference:
            return balanced.difference_squares(table)
        result, difference, _ = balanced.mean_squares(table)
        return result, difference

    def fitted(self, squares: Floats) -> FittedSquares:
        """Fits from mean squares: REML in closed form, maximum likelihood by iteration (without documents)."""
        if self.design.n_documents:
            if not self.ignore_documents:
                return self._fitted_with_documents(squares)
            squares = balanced_documents.without_documents(squares, self._documents)
        df = (balanced.difference_df if self._by_difference else balanced.degrees_of_freedom)(self._size)
        strata = balanced.pool(squares, df)
        expected, zero = strata.expected, strata.pooled
        status = np.zeros(squares.shape[1], dtype=np.int64)
        satterthwaite = balanced.satterthwaite_df(strata, df)
        if self.estimator == "ml":
            from humeval_power.kernels.crossed.balanced_ml import maximum_likelihood

            by_row, steps = maximum_likelihood(
                np.ascontiguousarray(squares.T), df, np.ascontiguousarray(expected.T)
            )
            expected, status = by_row.T, (steps < 0).astype(np.int64)
            zero = expected[:4] <= expected[4]
            satterthwaite = np.full(squares.shape[1], np.nan)
        error = np.sqrt(balanced.effect_variance(expected, self._size))
        return FittedSquares(error, satterthwaite, balanced.kenward_roger_df(expected, df), zero, status)

    def _fitted_with_documents(self, squares: Floats) -> FittedSquares:
        of_size = (
            balanced_documents.difference_df
            if self._by_difference
            else balanced_documents.degrees_of_freedom
        )
        df = of_size(self._documents)
        strata = balanced_documents.pool(squares, df)
        return FittedSquares(
            np.sqrt(balanced_documents.effect_variance(strata.expected, self._documents)),
            balanced_documents.satterthwaite_df(strata, df),
            balanced_documents.kenward_roger_df(strata.expected, df),
            strata.zero,
            np.zeros(squares.shape[1], dtype=np.int64),
        )


def documents_size(design: Design) -> balanced_documents.DocumentsSize:
    """The size of a balanced design with documents."""
    each = design.n_items // design.n_documents
    return balanced_documents.DocumentsSize(design.n_workers, design.n_documents, each, design.n_repeats)


DOCUMENTS = FURTHER_DEVIATIONS[1:]
T_LAW_WORKERS = 5  # below this the estimated variances are so uncertain that the t law is a rough guide


@dataclass(frozen=True, slots=True)
class EffectPrecision:
    """How precisely a design estimates the difference B - A at assumed parameters.

    `variance` is that of the generalised least squares estimate on [0, 1]; `df` says how well a study
    will know it; `smallest` is min(workers, items, documents) - 1.
    """

    variance: float
    df: float
    smallest: int
    n_workers: int

    @property
    def standard_error(self) -> float:
        """Square root of the variance, on [0, 1]."""
        return math.sqrt(self.variance)

    def half_width(self, alpha: float) -> float:
        """Of the two-sided interval at 1 - alpha, on [0, 1]."""
        return critical_value(self.df, alpha / 2) * self.standard_error


@dataclass(frozen=True, slots=True)
class AnalyticPower:
    """Power of one study by formula. Rates as in simulation: `power` counts significant effects of the
    right sign, `rejection_rate` those of either sign. Under a rule with a margin both count the studies
    that show its claim, and Type M and S, which are about effects that were found, are NaN."""

    effect: float
    precision: EffectPrecision
    power: float
    rejection_rate: float
    type_m: float
    type_s: float

    @property
    def is_rough(self) -> bool:
        """Whether there are too few workers for the t law to be trusted without simulation."""
        return self.precision.n_workers < T_LAW_WORKERS


@lru_cache(maxsize=8)  # a plan asks several times for that of one design
def effect_precision(parameters: Parameters, design: Design) -> EffectPrecision:
    """Variance and df of the estimated difference for any design.

    A complete balanced design uses its strata; any other the block algebra of the fitter, with the
    expected REML information at `parameters`.
    """
    coded = parameters.recoded()
    check_documents(coded, design.n_documents)
    names = (*STANDARD_DEVIATIONS[:4], *(DOCUMENTS if design.n_documents else ()), "sd_residual")
    variances = np.array([getattr(coded, name) for name in names]) ** 2
    if variances[-1] == 0:
        raise ParametersError("sd_residual must be above 0 to plan a study: ratings are never exact.")
    if design.is_balanced:
        variance, df = BalancedStudy(design).precision(variances)
    else:
        variance, df = _from_information(design, variances, coded.sd_worker_item**2)
    return EffectPrecision(variance, df, smallest_df(design), design.n_workers)


def smallest_df(counts: Design | StudyCounts, *, ignore_documents: bool = False) -> int:
    """The df of the rule 'min': the fewest workers, or documents if items come out of some, or items, less 1."""
    documents = 0 if ignore_documents else counts.n_documents
    return min(counts.n_workers, documents or counts.n_items) - 1


def part_of_variance(
    parameters: Parameters, factor: Literal["worker", "item", "document"], n: int
) -> float:
    """What `n` workers, items or documents add to the variance of the difference, on [0, 1]: how far they differ
    about it. The parameters are in the coding of `recoded`."""
    deviation: float = getattr(parameters, f"sd_{factor}_slope")
    return deviation**2 / n


def _from_information(design: Design, variances: np.ndarray, interaction: float) -> tuple[float, float]:
    from humeval_power.estimation.crossed.examination import design_information
    from humeval_power.estimation.crossed.problem import CrossedProblem
    from humeval_power.kernels.crossed.information import expected_information, kenward_roger

    rows, sigma2 = design.assignment, float(variances[-1])
    problem = CrossedProblem.of_design(rows.worker, rows.item, rows.system, document=rows.document)
    if interaction > 0:
        problem = problem.with_interaction(rows.worker, rows.item, interaction / sigma2)
    info, phi = design_information(problem, variances[:-1] / sigma2)
    expected = expected_information(info, phi, sigma2, True)
    _, df = kenward_roger(info, phi, sigma2, problem.contrast, expected)
    return sigma2 * float(phi[1, 1]), float(df)


def analytic_power(
    parameters: Parameters, design: Design, *, rule: DecisionRule = DEFAULT_RULE
) -> AnalyticPower:
    """Power, Type M and Type S of a study at its parameters' effect."""
    precision = effect_precision(parameters, design)
    return power_at(parameters.difference, precision, rule=rule)


def power_at(
    effect: float, precision: EffectPrecision, *, rule: DecisionRule = DEFAULT_RULE
) -> AnalyticPower:
    """The same when the design's precision is known already: one precision serves all effects."""
    critical = rule_critical_value(rule, precision)
    if rule.margin is not None:
        shown = _declared_power(effect, precision, critical, rule)
        return AnalyticPower(effect, precision, shown, shown, math.nan, math.nan)
    ratio = abs(effect) / precision.standard_error
    two_sided = rule.alternative == "two-sided"
    right = noncentral_t_tail(critical, precision.df, ratio if two_sided or effect >= 0 else -ratio)
    wrong = noncentral_t_tail(critical, precision.df, -ratio) if two_sided else 0.0
    type_m, type_s = exaggeration(ratio, precision.df, critical, two_sided=two_sided)
    return AnalyticPower(effect, precision, right, right + wrong, type_m, type_s)


def _declared_power(
    effect: float, precision: EffectPrecision, critical: float, rule: DecisionRule
) -> float:
    """Probability that a rule with a margin finds its claim shown, whatever the sign of the estimate."""
    margin, error = rule.margin or 0.0, precision.standard_error
    if rule.alternative == "non-inferior":
        return noncentral_t_tail(critical, precision.df, (effect + margin) / error)
    return float(equivalence_power(effect, error, precision.df, margin=margin, critical=critical))


def rule_critical_value(rule: DecisionRule, precision: EffectPrecision) -> float:
    """The value that t must pass under a decision rule (upper side)."""
    if rule.df == "normal":
        return critical_value(math.inf, rule.tail)
    return critical_value(float(precision.smallest) if rule.df == "min" else precision.df, rule.tail)


# What estimates of the difference a study would give, and which of them it would call significant.


def estimate_density(at: Floats, effect: float, precision: EffectPrecision) -> Floats:
    """The density of the estimated difference at `at` where the true one is `effect`: normal."""
    error = precision.standard_error
    z = (at - effect) / error
    return np.asarray(np.exp(-(z**2) / 2) / (error * math.sqrt(2 * math.pi)))


def chance_of_significance(at: Floats, precision: EffectPrecision, rule: DecisionRule) -> Floats:
    """The probability that an estimate of `at` is significant, or shows the claim of a rule with a margin.

    The standard error is itself estimated: its square is chi-square on the df about the true one, whatever the
    estimate. An estimate is significant where its standard error comes out small enough.
    """
    critical = rule_critical_value(rule, precision)
    if rule.alternative == "equivalent":
        reach = (rule.margin or 0.0) - np.abs(at)
    elif rule.alternative == "two-sided":
        reach = np.abs(at)
    else:
        reach = at + (rule.margin or 0.0)
    largest = np.maximum(reach, 0.0) / (critical * precision.standard_error)
    if not math.isfinite(precision.df):
        return np.asarray((largest >= 1).astype(np.float64))
    return np.asarray(special.gammainc(precision.df / 2, precision.df / 2 * largest**2))


# What leaving the documents out of an analysis does: a test that believes in more things than there are.


def believed_precision(parameters: Parameters, design: Design) -> EffectPrecision:
    """What a study that leaves its documents out believes of its precision, on average.

    Items then seem to vary by what they and their documents vary by, less what items of one document share
    with each other: the expected mean square between items.
    """
    coded = parameters.recoded()
    n, each = design.n_items, design.items_per_document
    seen = 1.0 - (each - 1.0) / (n - 1.0)

    def together(item: float, document: float) -> float:
        return math.sqrt(item**2 + seen * document**2)

    without = replace(
        coded,
        sd_item_intercept=together(coded.sd_item_intercept, coded.sd_document_intercept),
        sd_item_slope=together(coded.sd_item_slope, coded.sd_document_slope),
        sd_document_intercept=0.0,
        sd_document_slope=0.0,
        latent=None,
    )
    rows = design.explicit
    alone = replace(
        design,
        n_documents=0,
        document_of_item=None,
        explicit=None if rows is None else replace(rows, document=None),
    )
    return effect_precision(without, alone)


def false_positives_without_documents(
    parameters: Parameters, design: Design, *, rule: DecisionRule = DEFAULT_RULE
) -> float:
    """How often a test that leaves the documents out finds what is not there, by formula: where the true
    difference is 0, or lies at the rule's margin.

    Its t is too large by the ratio of the standard errors, true and believed. Simulated rates agree within a
    percentage point or two where there are at least five documents.
    """
    true, believed = effect_precision(parameters, design), believed_precision(parameters, design)
    critical = rule_critical_value(rule, believed)
    shrunk = critical * believed.standard_error / true.standard_error
    beyond = float(special.stdtr(believed.df, -shrunk))
    return 2.0 * beyond if rule.alternative == "two-sided" else beyond

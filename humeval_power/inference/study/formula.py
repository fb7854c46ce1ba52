"""Instant power of a rating study: GLS variance, expected-information df, noncentral t.

At assumed parameters the variance of the estimated difference is known for any assignment, and so is
the precision with which a study will estimate that variance: its expected REML information gives the
df (Kenward and Roger 1997). Power is then that of a t test with this df. Simulation is the proof; with
fewer than five workers the answer is approximate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from humeval_power.designs import Design
from humeval_power.errors import ParametersError
from humeval_power.inference.equivalence_power import equivalence_power
from humeval_power.inference.noncentral_t import exaggeration, noncentral_t_tail
from humeval_power.inference.study.balanced_study import BalancedStudy
from humeval_power.inference.study.wald import critical_value
from humeval_power.parameters import FURTHER_DEVIATIONS, STANDARD_DEVIATIONS, Parameters
from humeval_power.rules import DEFAULT_RULE, DecisionRule
from humeval_power.simulation.study import check_documents

DOCUMENTS = FURTHER_DEVIATIONS[1:]
FEW_WORKERS = 5  # below this the estimated variances are so uncertain that the t law is a rough guide


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
        return self.precision.n_workers < FEW_WORKERS


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
    return EffectPrecision(variance, df, smallest_count(design) - 1, design.n_workers)


def smallest_count(design: Design, *, ignore_documents: bool = False) -> int:
    """The fewest workers, items or documents: how many things of a kind the study saw at least."""
    groups = design.n_items if ignore_documents else design.n_documents or design.n_items
    return min(design.n_workers, design.n_items, groups)


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

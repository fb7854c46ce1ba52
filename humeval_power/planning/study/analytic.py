"""What the formula of a rating study's power says beyond its power: detectable effects and margins."""

from __future__ import annotations

from dataclasses import dataclass

from humeval_power.inference.noncentral_t import noncentral_t_tail
from humeval_power.inference.study.formula import (
    AnalyticPower,
    EffectPrecision,
    power_at,
    rule_critical_value,
)
from humeval_power.planning import questions
from humeval_power.planning.power import PowerEstimate
from humeval_power.planning.study.margins import smallest_equivalence_margin
from humeval_power.planning.study.systems_goals import SystemsPower
from humeval_power.roots import root_between
from humeval_power.rules import DEFAULT_RULE, DecisionRule


def minimum_detectable_effect(
    precision: EffectPrecision, *, power: float = 0.8, rule: DecisionRule = DEFAULT_RULE
) -> float:
    """Smallest true difference B - A on [0, 1] that a design detects with probability `power`; for a rule
    with a margin see `smallest_margin`.

    For given variances the df does not depend on the effect, so one root in the noncentrality is
    enough. The result can exceed 1: then nothing on the scale can be detected that surely.
    """
    check_target(power, rule)
    return _detected_ratio(precision, power, rule) * precision.standard_error


def smallest_margin(
    precision: EffectPrecision, *, effect: float = 0.0, power: float = 0.8, rule: DecisionRule
) -> float:
    """Smallest margin on [0, 1] that a design shows with probability `power` where the true difference is
    `effect`: of equivalence or of non-inferiority, as the rule's alternative says. Its own margin is not
    used. The result can exceed 1, and is 0 where the study shows that surely that B is better.
    """
    check_target(power, rule)
    if rule.alternative == "non-inferior":
        return max(_detected_ratio(precision, power, rule) * precision.standard_error - effect, 0.0)
    critical = rule_critical_value(rule, precision)
    return smallest_equivalence_margin(
        effect, precision.standard_error, precision.df, critical=critical, power=power
    )


def detectable(
    precision: EffectPrecision, *, effect: float, power: float, rule: DecisionRule = DEFAULT_RULE
) -> float:
    """What a design can show with probability `power`: the smallest effect, or for a rule with a margin
    the smallest margin at a true difference of `effect`."""
    if rule.margin is None:
        return minimum_detectable_effect(precision, power=power, rule=rule)
    return smallest_margin(precision, effect=effect, power=power, rule=rule)


def _detected_ratio(precision: EffectPrecision, power: float, rule: DecisionRule) -> float:
    """The noncentrality at which t passes the critical value with probability `power`."""
    critical = rule_critical_value(rule, precision)

    def shortfall(noncentrality: float) -> float:
        return noncentral_t_tail(critical, precision.df, noncentrality) - power

    upper = 2.0
    while shortfall(upper) < 0:
        upper *= 2
    return root_between(shortfall, 0.0, upper, xtol=1e-12)


def check_target(power: float, rule: DecisionRule) -> None:
    """Refuse a target power that is no goal: at most the chance of a false positive, or 1."""
    least = "no effect at all" if rule.margin is None else "a difference as large as the margin"
    questions.check_target(power, rule.tail, gives=f"what {least} would give")


TOLERANCE = 0.02  # what the t law may be off beyond Monte Carlo error before it is called out


def disagree(analytic: AnalyticPower | SystemsPower, simulated: PowerEstimate | SystemsPower) -> bool:
    """Whether the two powers differ by more than Monte Carlo error and 0.02."""
    low, high = simulated.interval
    return not low - TOLERANCE <= analytic.power <= high + TOLERANCE


@dataclass(frozen=True, slots=True)
class HalfwayPower:
    """Power at the true difference `effect`, halfway to the margin; None where it was not computed that
    way."""

    effect: float
    analytic: float | None
    power: float | None = None
    interval: tuple[float, float] | None = None


def halfway_power(
    rule: DecisionRule, *, precision: EffectPrecision | None, simulated: PowerEstimate | None = None
) -> HalfwayPower | None:
    """Power halfway to the margin of a rule; None for a rule without a margin.

    precision : of the design, for the formula; simulated : studies with that true difference.
    """
    effect = rule.halfway
    if effect is None:
        return None
    return HalfwayPower(
        effect=effect,
        analytic=None if precision is None else power_at(effect, precision, rule=rule).power,
        power=None if simulated is None else simulated.power,
        interval=None if simulated is None else simulated.interval,
    )

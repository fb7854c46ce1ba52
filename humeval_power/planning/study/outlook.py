"""What stands around the power of a study by formula: growth, its price, its variance, its estimates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from humeval_power.costs import CostModel
from humeval_power.inference.study.estimate_law import chance_of_significance, estimate_density
from humeval_power.inference.study.formula import AnalyticPower, EffectPrecision, power_at
from humeval_power.planning.study.growth import (
    Growth,
    StudyLike,
    counts_of,
    growth_of_items,
    growth_of_workers,
)
from humeval_power.planning.study.regular import RegularPrecision, powers
from humeval_power.planning.study.spending import Spending, spending_of
from humeval_power.planning.study.variance_parts import Part, variance_parts
from humeval_power.rules import DecisionRule
from humeval_power.scenarios.study import RatingStudy
from humeval_power.study_counts import StudyCounts

_POINTS = 61  # of a density
_REACH = 3.6  # standard errors that it is drawn to
_EFFECTS = 41  # true differences
_CURVE = 16  # points of the winner's curse
_LARGEST_RATIO = 4.2  # true effect over its standard error where power is all but certain
Floats = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Estimates:
    """The law of the estimated difference: density at `at` under the null, and under the effect; of which
    `null_found` and `effect_found` are those of estimates that are significant (or show the claim)."""

    null: float
    at: Floats
    under_null: Floats
    null_found: Floats
    under_effect: Floats
    effect_found: Floats


@dataclass(frozen=True, slots=True)
class EffectCurve:
    """Power over the true difference."""

    effects: Floats
    powers: Floats


@dataclass(frozen=True, slots=True)
class Curse:
    """How far significant estimates exaggerate (`type_m`), and how often their sign is wrong (`type_s`), in studies
    of the same df and of every power."""

    power: Floats
    type_m: Floats
    type_s: Floats


@dataclass(frozen=True, slots=True)
class Outlook:
    """What is found by formula around one power. Growth, `parts` and `spending` are None for designs that `counts`
    do not describe; growth and spending too where there is nothing to find, as are `effects` and `curse`, which
    are not known of a rule with a margin either."""

    counts: StudyCounts | None
    estimates: Estimates
    effects: EffectCurve | None
    curse: Curse | None
    workers: Growth | None = None
    items: Growth | None = None
    parts: Mapping[Part, float] | None = None
    spending: Spending | None = None


def outlook_of(
    study: RatingStudy,
    analytic: AnalyticPower,
    *,
    costs: CostModel | None = None,
    budget: Decimal | None = None,
) -> Outlook:
    """Everything that is found by formula around a study's power. Prices are of the study as planned."""
    rule, precision = study.rule, analytic.precision
    estimates = estimates_of(analytic.effect, precision, rule)
    effects, curse = None, None
    if rule.margin is None and analytic.effect:
        effects, curse = effect_curve(analytic.effect, precision, rule), curse_of(precision, rule)
    counts = counts_of(study.design)
    if counts is None:
        return Outlook(None, estimates, effects, curse)
    parts = variance_parts(study.parameters, counts)
    if not rule.can_show(analytic.effect):
        return Outlook(counts, estimates, effects, curse, parts=parts)
    like = StudyLike(study.parameters, counts, precision, rule)
    workers, items = growth_of_workers(like), growth_of_items(like)
    spending = spending_of(like, workers, items, costs=costs, budget=budget)
    return Outlook(counts, estimates, effects, curse, workers, items, parts, spending)


def estimates_of(effect: float, precision: EffectPrecision, rule: DecisionRule) -> Estimates:
    """The law of a study's estimates under the null and under the effect, drawn wide enough for both."""
    null, reach = rule.null_effect, _REACH * precision.standard_error
    at = np.linspace(min(null, effect) - reach, max(null, effect) + reach, _POINTS)
    found = chance_of_significance(at, precision, rule)
    under_null, under_effect = (estimate_density(at, true, precision) for true in (null, effect))
    columns = (at, under_null, under_null * found, under_effect, under_effect * found)
    return Estimates(null, *(tuple(column.tolist()) for column in columns))


def effect_curve(effect: float, precision: EffectPrecision, rule: DecisionRule) -> EffectCurve:
    """Power from no effect to twice this one."""
    effects = np.linspace(0, 2 * effect, _EFFECTS)
    one_sided = rule.alternative != "two-sided"
    found = powers(
        effects if one_sided else np.abs(effects),
        RegularPrecision(np.array(precision.variance), np.array(precision.df)),
        smallest=float(precision.smallest),
        rule=rule,
    )
    return EffectCurve(tuple(effects.tolist()), tuple(found.tolist()))


def curse_of(precision: EffectPrecision, rule: DecisionRule) -> Curse:
    """Exaggeration over power, from studies that find next to nothing to those that find all."""
    ratios = np.linspace(_LARGEST_RATIO / _CURVE, _LARGEST_RATIO, _CURVE)
    found = [power_at(float(ratio) * precision.standard_error, precision, rule=rule) for ratio in ratios]
    return Curse(
        tuple(each.power for each in found),
        tuple(each.type_m for each in found),
        tuple(each.type_s for each in found),
    )

"""What a plan cannot exceed: its power with runs, or with items, without end; and the effects worth a search."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

from humeval_power.inference.study.formula import EffectPrecision, rule_critical_value
from humeval_power.scenarios.runs.crossed import CrossedRuns
from humeval_power.scenarios.runs.nested import NestedRuns
from humeval_power.scenarios.runs.plan import computed_power
from humeval_power.scenarios.runs.scenario import RunsScenario

_ENDLESS = 10**9  # generations of an item: their noise is gone


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The power with `endless` runs (or prompts), or with endless items, everything else as it is."""

    endless: Literal["runs", "prompts", "items"]
    power: float


def ceilings(scenario: RunsScenario) -> tuple[Ceiling, Ceiling]:
    """With endless runs of the same items; and with endless items under the same runs.

    Prompts that are few are few however many items there are: their variance stays, and t has one df less than
    there are prompts. Endless prompts leave the items' (and clusters') variance.
    """
    if isinstance(scenario, NestedRuns):
        plan = replace(scenario.plan, runs_a=_ENDLESS, runs_b=_ENDLESS)
        endless = replace(scenario, plan=plan).computed().power
        return Ceiling("runs", endless), Ceiling("items", float(scenario.rule.can_show(scenario.effect)))
    prompts, items = _crossed_limits(scenario)
    effect = scenario.effect / scenario.unit
    of_prompts, of_items = (
        computed_power(effect, limit, rule=scenario.rule, method="").power for limit in (prompts, items)
    )
    return Ceiling("prompts", of_prompts), Ceiling("items", of_items)


def _crossed_limits(scenario: CrossedRuns) -> tuple[EffectPrecision, EffectPrecision]:
    of, m, n = scenario.ratings, scenario.n_prompts, scenario.plan.n_items
    few = len(scenario.plan.sizes) if scenario.plan.has_clusters else n
    partners = n / few if scenario.plan.has_clusters else 1.0
    between = (of.sd_item_slope**2 + partners * of.sd_document_slope**2) / n
    return (
        EffectPrecision(between, few - 1.0, few - 1, m),
        EffectPrecision(of.sd_worker_slope**2 / m, m - 1.0, m - 1, m),
    )


def farthest_effect(scenario: RunsScenario) -> float:
    """Where a search for a detectable effect can end, however few items there are: as far as shares go, or where
    everything is found."""
    of = scenario.parameters
    if of.family == "binary":
        assert of.baseline is not None
        if isinstance(scenario, CrossedRuns):
            latent = scenario.with_effect(0.0).ratings.latent
            assert latent is not None
            return latent.largest_difference
        return 2 * min(of.baseline, 1 - of.baseline)
    precision = replace(scenario, plan=replace(scenario.plan, n_items=2)).precision
    reach = 2 * rule_critical_value(scenario.rule, precision) + 6
    found = reach * math.sqrt(precision.variance) * scenario.unit
    return found if found > 0 else 1.0

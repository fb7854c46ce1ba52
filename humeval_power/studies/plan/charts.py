"""What a plan costs and finds, as pictures."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from humeval_power.saying.answer_words import axis_unit, of_hundred, points_words, with_names
from humeval_power.saying.chart import Axis, Chart, Mark, Series, Spot, Upright
from humeval_power.scales import RatingScale
from humeval_power.studies.looks.rating_looks import power_with_looks
from humeval_power.studies.plan.plan import Plan
from humeval_power.studies.plan.planned_systems import PlannedSystems, goal_shares, scaled
from humeval_power.studies.plan.request import PlanResult
from humeval_power.studies.plan.result_words import labels_of_settings
from humeval_power.studies.power.charts import CLAIM, POWER, target_line
from humeval_power.studies.power.formula import effect_precision, power_at
from humeval_power.studies.power.result_several import GOAL_NAMES
from humeval_power.systems import GOALS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_AROUND = 1.6  # times the cost of the decision: what is dearer decides nothing
_MOST = 8  # lines that can be told apart


def front_chart(result: PlanResult, scale: RatingScale | None = None) -> Chart:
    """The most that each amount of money finds, by formula; the chosen design with its simulated interval.

    The axis of costs reaches a little beyond the chosen design and the budget.
    """
    chosen, budget = result.chosen, result.request.budget
    assert chosen.simulated is not None
    last = _AROUND * max(float(chosen.cost.total), float(budget or 0))
    shown = [point for point in result.front if float(point.cost) <= last] or [result.front[0]]
    costs, powers = tuple(float(one.cost) for one in shown), tuple(one.power for one in shown)
    interval, middle = chosen.simulated.interval, chosen.simulated.power
    at = Spot(
        f"the plan, simulated: {of_hundred(middle, interval)}", float(chosen.cost.total), middle, *interval
    )
    marks: list[Mark] = [target_line(result.request.target), at]
    if budget is not None:
        marks.append(Upright(f"budget {budget:,.2f} {chosen.cost.currency}", float(budget), 6))
    finds = "show the claim"
    if result.request.rule.margin is None:
        finds = f"find a difference of {points_words(result.request.effect, scale)}"
    return Chart(
        "front",
        "What does the money buy?",
        f"With the plan {of_hundred(middle, interval)} of 100 such studies {finds}, for {chosen.cost}.",
        Axis("Cost", 0.0, max(last, costs[-1]), chosen.cost.currency),
        POWER if result.request.rule.margin is None else CLAIM,
        (
            Series(
                "line" if len(costs) > 1 else "points", "the best for its cost, by formula", costs, powers
            ),
        ),
        tuple(marks),
        "No other design beats those on the line in both cost and power.",
    )


def front_figure(result: PlanResult, scale: RatingScale | None = None) -> Figure:
    """The same by Matplotlib."""
    return front_chart(result, scale).figure


# The power of a planned study against the true difference.


@dataclass(frozen=True, slots=True)
class _PowerLine:
    """Power by formula at true differences; `place` is that of its colour."""

    name: str
    effects: tuple[float, ...]
    powers: tuple[float, ...]
    place: int


def power_chart(plan: Plan) -> Chart:
    """Power by formula on y, a line for each set of parameters, or for each goal of several systems; the simulated
    power at the effect planned for. The differences are those around the decision: up to twice the effect, or a
    little beyond the margin.
    """
    lines = list(_of_settings(plan) if plan.many is None else _of_goals(plan, plan.many))
    factor, unit = axis_unit(plan.scale)
    place = 0 if plan.many is None else GOALS.index(plan.many.goal)
    at, middle = factor * plan.effect, plan.predicted.simulated
    marks: list[Mark] = [target_line(plan.target_power), Upright(f"planned for: {at:.3g}", at)]
    if not math.isnan(middle):
        interval = plan.predicted.interval
        marks.append(
            Spot(f"simulated: {of_hundred(middle, interval)}", at, middle, *interval, colour=place)
        )
    difference = "True difference"
    if plan.many is None:
        difference = with_names("True difference B - A", plan.pair)
    low = lines[0].effects[0] if plan.many is None else 0.0
    found = plan.predicted.analytic if math.isnan(middle) else middle
    return Chart(
        "power",
        "What does the planned study find?",
        f"Of 100 such studies {of_hundred(found)} "
        + ("find" if plan.rule.margin is None else "show the claim at")
        + f" a true difference of {points_words(plan.effect, plan.scale)}.",
        Axis(f"{difference}, {unit}", factor * low, factor * lines[0].effects[-1]),
        POWER if plan.rule.margin is None else CLAIM,
        tuple(
            Series(
                "line", one.name, tuple(factor * each for each in one.effects), one.powers, colour=one.place
            )
            for one in lines
        ),
        tuple(marks),
        f"By formula, for each {'set of parameters that was looked at' if plan.many is None else 'goal'}.",
    )


def _of_goals(plan: Plan, planned: PlannedSystems) -> Iterator[_PowerLine]:
    """A line for each goal that these means have; they are drawn apart in proportion."""
    effects = np.linspace(0.0, min(2 * plan.effect, 1.0), 13)[1:]
    result = [
        goal_shares(scaled(planned, float(effect / plan.effect)), plan.counts, plan.rule)
        for effect in effects
    ]
    for place, goal in enumerate(GOALS):
        chances = [shares[goal] for shares in result]
        if not any(map(math.isnan, chances)):
            yield _PowerLine(GOAL_NAMES[goal], tuple(effects.tolist()), tuple(chances), place)


def _of_settings(plan: Plan) -> Iterator[_PowerLine]:
    """A line for each set of parameters that was looked at."""
    margin = plan.rule.margin
    if margin is None:
        low, high = 0.0, min(max(2 * plan.effect, -1.0), 1.0)
    else:
        low = -1.25 * margin
        high = max(margin, 1.5 * plan.effect) if plan.rule.alternative == "non-inferior" else -low
    effects = np.linspace(min(low, high), max(low, high), 61)
    settings, labels = [(plan.source.name, plan.parameters), *plan.others][:_MOST], labels_of_settings(plan)
    for place, (name, parameters) in enumerate(settings):
        power = _power_of(replace(plan, parameters=parameters))
        at = tuple(effects.tolist())
        yield _PowerLine(labels[name], at, tuple(map(power, at)), place)


def _power_of(plan: Plan) -> Callable[[float], float]:
    """Power as a function of the true difference, for a design whose precision is computed once."""
    precision = effect_precision(plan.parameters.with_difference(plan.effect), plan.design())
    bounds = None if plan.looks is None else plan.look_boundaries()

    def power(effect: float) -> float:
        fixed = power_at(effect, precision, rule=plan.rule).power
        return fixed if bounds is None else power_with_looks(fixed, bounds)

    return power

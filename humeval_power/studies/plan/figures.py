"""The front between cost and power as a picture."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from humeval_power.safe_text import picture_text
from humeval_power.saying.answer_words import axis_unit, points_words, with_names
from humeval_power.saying.figure_style import COLOURS, DASHES, QUIET, house_style
from humeval_power.scales import RatingScale
from humeval_power.studies.looks.rating_looks import power_with_looks
from humeval_power.studies.plan.plan import Plan
from humeval_power.studies.plan.planned_systems import PlannedSystems, goal_shares, scaled
from humeval_power.studies.plan.request import PlanResult
from humeval_power.studies.power.formula import effect_precision, power_at
from humeval_power.studies.power.result_several import GOAL_NAMES
from humeval_power.systems import GOALS

_BLUE, _ORANGE = COLOURS[:2]
_AROUND = 1.6  # times the cost of the decision: what is dearer decides nothing


def front_figure(result: PlanResult, scale: RatingScale | None = None, *, width: float = 5.0) -> Figure:
    """Cost on x, power by formula on y; the chosen design with its simulated interval.

    The axis of costs reaches a little beyond the chosen design and the budget.
    """
    with house_style():
        figure = Figure(figsize=(width, 0.74 * width), layout="constrained")
        axes = figure.subplots()
        last = _AROUND * max(float(result.chosen.cost.total), float(result.request.budget or 0))
        _draw_front(axes, result, last)
        target_line(axes, result.request.target)
        if result.request.budget is not None:
            axes.axvline(float(result.request.budget), color=QUIET, linewidth=1, label="budget")
        _draw_chosen(axes, result)
        axes.set_xlim(0, last)
        axes.set_ylim(0, 1.04)
        axes.set_title("What the money buys", loc="left")
        axes.set_xlabel(f"Cost ({picture_text(result.chosen.cost.currency)})")
        axes.set_ylabel(f"Power for a difference of {points_words(result.request.effect, scale)}")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
        figure.legend(loc="outside lower center", ncols=3)
    return figure


def target_line(axes: Axes, target: float) -> None:
    """The power that is wanted, named beyond the right end, where nothing else is drawn."""
    axes.axhline(target, color=QUIET, linestyle=(0, (2, 2)), linewidth=1)
    axes.annotate(
        f"target\n{target:g}",
        (1.0, target),
        xycoords=("axes fraction", "data"),
        xytext=(4, 0),
        textcoords="offset points",
        va="center",
        color=QUIET,
        fontsize=7.5,
    )


def _draw_front(axes: Axes, result: PlanResult, last: float) -> None:
    """The points up to the last cost and one beyond, so that the line leaves the picture."""
    near = sum(float(point.cost) <= last for point in result.front)
    shown = result.front[: near + 1]
    axes.plot(
        [float(point.cost) for point in shown],
        [point.power for point in shown],
        color=_BLUE,
        marker="o",
        markersize=3,
        linewidth=1.4,
        label="best for its cost",
    )


def _draw_chosen(axes: Axes, result: PlanResult) -> None:
    chosen = result.chosen
    assert chosen.simulated is not None
    (low, high), middle = chosen.simulated.interval, chosen.simulated.power
    axes.errorbar(
        [float(chosen.cost.total)],
        [middle],
        yerr=[[middle - low], [high - middle]],
        color=_ORANGE,
        marker="s",
        markersize=6,
        capsize=3,
        linestyle="none",
        label="chosen, simulated",
    )


# The power of a planned study against the true difference, as a picture.

_MOST = min(len(COLOURS), len(DASHES))  # lines that can be told apart


@dataclass(frozen=True, slots=True)
class _PowerLine:
    """Power by formula at true differences; `place` is that of its colour, and a wide one is that of the goal."""

    name: str
    effects: np.ndarray
    powers: Sequence[float]
    place: int
    width: float = 1.3


def power_figure(plan: Plan, *, width: float = 5.0) -> Figure:
    """Power by formula on y, a line for each set of parameters, or for each goal of several systems; the simulated
    power at the effect planned for. The differences are those around the decision: up to twice the effect, or a
    little beyond the margin.
    """
    lines = list(_of_settings(plan) if plan.many is None else _of_goals(plan, plan.many))
    factor, unit = axis_unit(plan.scale)
    with house_style():
        figure = Figure(figsize=(width, (0.74 if plan.many is None else 0.8) * width), layout="constrained")
        axes = figure.subplots()
        for line in lines:
            look = {"color": COLOURS[line.place], "linestyle": DASHES[line.place], "linewidth": line.width}
            axes.plot(factor * line.effects, line.powers, label=picture_text(line.name), **look)  # type: ignore[arg-type]
        target_line(axes, plan.target_power)
        axes.axvline(factor * plan.effect, color=QUIET, linewidth=1, label="planned for")
        _draw_simulated(axes, plan, COLOURS[0 if plan.many is None else GOALS.index(plan.many.goal)])
        axes.set_xlim(
            factor * lines[0].effects[0] if plan.many is None else 0, factor * lines[0].effects[-1]
        )
        axes.set_ylim(0, 1.04)
        axes.set_title("What the planned study finds", loc="left")
        difference = f"True difference {unit}"
        if plan.many is None:
            difference = with_names(f"True difference B - A {unit}", plan.pair)
        axes.set_xlabel(picture_text(difference))
        axes.set_ylabel("Power" if plan.rule.margin is None else "Chance to show the claim")
        figure.legend(loc="outside lower center", ncols=3 if plan.many is None else 2)
    return figure


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
            yield _PowerLine(
                GOAL_NAMES[goal], effects, chances, place, 2.2 if goal == planned.goal else 1.2
            )


def _of_settings(plan: Plan) -> Iterator[_PowerLine]:
    """A line for each set of parameters that was looked at."""
    margin = plan.rule.margin
    if margin is None:
        low, high = 0.0, min(max(2 * plan.effect, -1.0), 1.0)
    else:
        low = -1.25 * margin
        high = max(margin, 1.5 * plan.effect) if plan.rule.alternative == "non-inferior" else -low
    effects = np.linspace(min(low, high), max(low, high), 61)
    settings = [(plan.source.name, plan.parameters), *plan.others][:_MOST]
    for place, (name, parameters) in enumerate(settings):
        power = _power_of(replace(plan, parameters=parameters))
        yield _PowerLine(name, effects, [power(float(effect)) for effect in effects], place)


def _power_of(plan: Plan) -> Callable[[float], float]:
    """Power as a function of the true difference, for a design whose precision is computed once."""
    precision = effect_precision(plan.parameters.with_difference(plan.effect), plan.design())
    bounds = None if plan.looks is None else plan.look_boundaries()

    def power(effect: float) -> float:
        fixed = power_at(effect, precision, rule=plan.rule).power
        return fixed if bounds is None else power_with_looks(fixed, bounds)

    return power


def _draw_simulated(axes: Axes, plan: Plan, colour: str) -> None:
    middle, (low, high) = plan.predicted.simulated, plan.predicted.interval
    if math.isnan(middle):
        return
    axes.errorbar(
        [axis_unit(plan.scale)[0] * plan.effect],
        [middle],
        yerr=[[middle - low], [high - middle]],
        color=colour,
        marker="s",
        markersize=6,
        capsize=3,
        linestyle="none",
        label="simulated",
    )

"""The front between cost and power as a picture."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from humeval_power.safe_text import picture_text
from humeval_power.saying.answer_words import with_names
from humeval_power.saying.figure_style import COLOURS, DASHES, QUIET, house_style
from humeval_power.studies.looks.rating_looks import power_with_looks
from humeval_power.studies.plan.plan import Plan
from humeval_power.studies.plan.planned_systems import PlannedSystems, goal_shares, scaled
from humeval_power.studies.plan.request import PlanResult
from humeval_power.studies.plan.words import GOAL_NAMES
from humeval_power.studies.power.formula import effect_precision, power_at
from humeval_power.systems import GOALS

_BLUE, _ORANGE = COLOURS[:2]
_AROUND = 1.6  # times the cost of the decision: what is dearer decides nothing


def front_figure(result: PlanResult, *, width: float = 5.0) -> Figure:
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
        axes.set_ylabel(f"Power for a difference of {result.request.effect:g}")
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


# The chance of a planned study to reach each of its goals among several systems, as a picture.

_POINTS = 13  # differences that are computed, and joined


def goals_figure(plan: Plan, planned: PlannedSystems, *, width: float = 5.0) -> Figure:
    """Chances by formula on y, a line for each goal, for differences up to twice the planned one; the assumed
    means are drawn apart in proportion."""
    effects = np.linspace(0.0, min(2 * plan.effect, 1.0), _POINTS)[1:]
    found = [
        goal_shares(scaled(planned, float(effect / plan.effect)), plan.counts, plan.rule)
        for effect in effects
    ]
    with house_style():
        figure = Figure(figsize=(width, 0.8 * width), layout="constrained")
        axes = figure.subplots()
        for place, goal in enumerate(GOALS):
            chances = [shares[goal] for shares in found]
            if not any(math.isnan(chance) for chance in chances):
                wide = 2.2 if goal == planned.goal else 1.2
                colour, dashes = COLOURS[place], DASHES[place]
                axes.plot(
                    effects, chances, color=colour, linestyle=dashes, linewidth=wide, label=GOAL_NAMES[goal]
                )
        target_line(axes, plan.target_power)
        axes.axvline(plan.effect, color=QUIET, linewidth=1, label="planned for")
        _draw_simulated(axes, plan, COLOURS[GOALS.index(planned.goal)])
        axes.set_xlim(0, effects[-1])
        axes.set_ylim(0, 1.04)
        axes.set_title("What the planned study finds", loc="left")
        axes.set_xlabel("True difference on [0, 1]")
        axes.set_ylabel("Chance")
        figure.legend(loc="outside lower center", ncols=2)
    return figure


def _draw_simulated(axes: Axes, plan: Plan, colour: str) -> None:
    middle, (low, high) = plan.predicted.simulated, plan.predicted.interval
    if math.isnan(middle):
        return
    axes.errorbar(
        [plan.effect],
        [middle],
        yerr=[[middle - low], [high - middle]],
        color=colour,
        marker="s",
        markersize=6,
        capsize=3,
        linestyle="none",
        label="simulated",
    )


# The power of a planned study against the true difference, as a picture.

_POINTS_POWER_FIGURE = 61
_MOST = min(len(COLOURS), len(DASHES))  # lines that can be told apart


def power_figure(plan: Plan, *, width: float = 5.0) -> Figure:
    """Power by formula on y, a line for each set of parameters; the simulated power at the effect planned
    for. The differences are those around the decision: up to twice the effect, or a little beyond the margin.
    """
    everything = [(plan.source.name, plan.parameters), *plan.others][:_MOST]
    with house_style():
        figure = Figure(figsize=(width, 0.74 * width), layout="constrained")
        axes = figure.subplots()
        effects = _effects(plan)
        for place, (name, parameters) in enumerate(everything):
            power = _power_of(replace(plan, parameters=parameters))
            axes.plot(
                effects,
                [power(float(effect)) for effect in effects],
                color=COLOURS[place],
                linestyle=DASHES[place],
                label=picture_text(name),
            )
        target_line(axes, plan.target_power)
        axes.axvline(plan.effect, color=QUIET, linewidth=1, label="planned for")
        _draw_simulated_of_power_figure(axes, plan)
        axes.set_xlim(effects[0], effects[-1])
        axes.set_ylim(0, 1.04)
        axes.set_title("What the planned study finds", loc="left")
        axes.set_xlabel(picture_text(with_names("True difference B - A on [0, 1]", plan.pair)))
        axes.set_ylabel("Power" if plan.rule.margin is None else "Chance to show the claim")
        figure.legend(loc="outside lower center", ncols=3)
    return figure


def _effects(plan: Plan) -> np.ndarray:
    margin = plan.rule.margin
    if margin is None:
        low, high = 0.0, min(max(2 * plan.effect, -1.0), 1.0)
    else:
        low = -1.25 * margin
        high = max(margin, 1.5 * plan.effect) if plan.rule.alternative == "non-inferior" else -low
    return np.linspace(min(low, high), max(low, high), _POINTS_POWER_FIGURE)


def _power_of(plan: Plan) -> Callable[[float], float]:
    """Power as a function of the true difference, for a design whose precision is computed once."""
    precision = effect_precision(plan.parameters.with_difference(plan.effect), plan.design())
    bounds = None if plan.looks is None else plan.look_boundaries()

    def power(effect: float) -> float:
        fixed = power_at(effect, precision, rule=plan.rule).power
        return fixed if bounds is None else power_with_looks(fixed, bounds)

    return power


def _draw_simulated_of_power_figure(axes: Axes, plan: Plan) -> None:
    middle, (low, high) = plan.predicted.simulated, plan.predicted.interval
    if np.isnan(middle):
        return
    axes.errorbar(
        [plan.effect],
        [middle],
        yerr=[[middle - low], [high - middle]],
        color=COLOURS[0],
        marker="s",
        markersize=6,
        capsize=3,
        linestyle="none",
        label="simulated",
    )

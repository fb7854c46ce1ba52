"""The chance of a planned study to reach each of its goals among several systems, as a picture."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from humeval_power.planning.plan.plan import Plan
from humeval_power.planning.plan.planned_systems import PlannedSystems, goal_shares, scaled
from humeval_power.reporting.figure_style import COLOURS, DASHES, QUIET, house_style
from humeval_power.reporting.plan.front_figure import target_line
from humeval_power.reporting.plan.systems_words import GOAL_NAMES
from humeval_power.systems import GOALS

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

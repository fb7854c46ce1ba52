"""The power of a planned study against the true difference, as a picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from humeval_power.inference.study.formula import effect_precision, power_at
from humeval_power.planning.looks.schedule import power_with_looks
from humeval_power.planning.plan.plan import Plan
from humeval_power.reporting.figure_style import COLOURS, DASHES, QUIET, house_style
from humeval_power.reporting.pair_names import with_names
from humeval_power.reporting.plan.front_figure import target_line
from humeval_power.safe_text import picture_text

_POINTS = 61
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
        _draw_simulated(axes, plan)
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
    return np.linspace(min(low, high), max(low, high), _POINTS)


def _power_of(plan: Plan) -> Callable[[float], float]:
    """Power as a function of the true difference, for a design whose precision is computed once."""
    precision = effect_precision(plan.parameters.with_difference(plan.effect), plan.design())
    bounds = None if plan.looks is None else plan.look_boundaries()

    def power(effect: float) -> float:
        fixed = power_at(effect, precision, rule=plan.rule).power
        return fixed if bounds is None else power_with_looks(fixed, bounds)

    return power


def _draw_simulated(axes: Axes, plan: Plan) -> None:
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

"""The front between cost and power as a picture."""

from __future__ import annotations

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from humeval_power.planning.plan.request import PlanResult
from humeval_power.reporting.figure_style import COLOURS, QUIET, house_style
from humeval_power.safe_text import picture_text

_BLUE, _ORANGE = COLOURS[:2]
_GREY = QUIET
_CERTAIN = 0.98  # beyond this more money buys nothing, and would squeeze the rest together


def front_figure(result: PlanResult, *, width: float = 5.0) -> Figure:
    """Cost on x, power by formula on y; the chosen design with its simulated interval."""
    with house_style():
        return _drawn(result, width)


def _drawn(result: PlanResult, width: float) -> Figure:
    figure = Figure(figsize=(width, 0.66 * width), layout="constrained")
    axes = figure.subplots()
    enough = next((i for i, point in enumerate(result.front) if point.power >= _CERTAIN), len(result.front))
    shown = result.front[: max(enough + 1, 2)]
    cost = [float(point.cost) for point in shown]
    power = [point.power for point in shown]
    axes.plot(cost, power, color=_BLUE, marker="o", markersize=3, linewidth=1.4, label="best for its cost")
    axes.axhline(result.request.target, color=_GREY, linestyle=(0, (2, 2)), linewidth=1)
    axes.annotate(
        f"target {result.request.target:g}",
        (1.0, result.request.target),
        xycoords=("axes fraction", "data"),
        xytext=(-4, 4),
        textcoords="offset points",
        ha="right",
        color=_GREY,
    )
    if result.request.budget is not None:
        axes.axvline(float(result.request.budget), color=_GREY, linewidth=1, label="budget")
    chosen = result.chosen
    assert chosen.simulated is not None
    low, high = chosen.simulated.interval
    middle = chosen.simulated.power
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
    axes.set_ylim(0, 1.02)
    axes.set_xlabel(f"Cost ({picture_text(chosen.cost.currency)})")
    axes.set_ylabel(f"Power for a difference of {result.request.effect:g}")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.legend(loc="lower right", frameon=False)
    return figure

"""The front between cost and power as a picture."""

from __future__ import annotations

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from humeval_power.planning.plan.request import PlanResult
from humeval_power.reporting.figure_style import COLOURS, QUIET, house_style
from humeval_power.safe_text import picture_text

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

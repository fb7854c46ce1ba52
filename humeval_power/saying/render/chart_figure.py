"""A chart by Matplotlib, for files: the same data as its SVG on a page."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from humeval_power.safe_text import cut, picture_text
from humeval_power.saying.chart import Axis, Chart, Level, Mark, Series, Spot
from humeval_power.saying.figure_style import COLOURS, DASHES, MARKERS, QUIET, house_style

_WIDTH = 4.6  # inches
_BAND = 0.18
_LONGEST = 60  # characters of an entry of the legend


def chart_figure(chart: Chart) -> Figure:
    """The figure with the chart's axes and ticks; series and marks are in their order."""
    rows = len(chart.y.names)
    row = 0.45 if rows <= 12 else 0.2 if rows <= 30 else 0.14
    height = _WIDTH + 0.2 if chart.is_matrix else 0.9 + row * rows if rows else 0.74 * _WIDTH
    with house_style():
        figure = Figure(figsize=(_WIDTH, height), layout="constrained")
        axes = figure.subplots()
        for series in chart.series:
            _draw(axes, series)
        for mark in chart.marks:
            _mark(axes, mark, chart)
        _finish(axes, chart)
        names = axes.get_legend_handles_labels()[1]
        if names:
            narrow = max(map(len, names)) <= _LONGEST // 2
            figure.legend(loc="outside lower center", ncols=2 if narrow else 1)
    return figure


def _draw(axes: Axes, series: Series) -> None:
    colour, label = COLOURS[series.colour], _label(series.name)
    match series.kind:
        case "band":
            axes.fill_between(
                series.x, series.low, series.high, color=colour, alpha=_BAND, linewidth=0, label=label
            )
        case "bars" | "cells":
            widths = np.subtract(series.high, series.low)
            tall = 0.72 if series.kind == "bars" else 1.0
            axes.barh(series.y, widths, left=series.low, height=tall, color=colour, label=label)
        case "points":
            _points(axes, series.x, series.y, series.low, series.high, series.colour, label, size=4.0)
        case "line" | "steps":
            axes.plot(
                series.x,
                series.y,
                color=colour,
                linestyle=DASHES[series.colour],
                drawstyle="steps-post" if series.kind == "steps" else "default",
                label=label,
            )


def _mark(axes: Axes, mark: Mark, chart: Chart) -> None:
    label = _label(mark.text)
    if isinstance(mark, Spot):
        low = () if mark.low is None else (mark.low,)
        high = () if mark.high is None else (mark.high,)
        # one that lies on the edge is shown whole
        is_clipped = not chart.x.low <= mark.x <= chart.x.high
        _points(axes, (mark.x,), (mark.y,), low, high, mark.colour, label, size=6.0, is_clipped=is_clipped)
        return
    known = mark.colour is not None
    colour = COLOURS[mark.colour] if mark.colour is not None else QUIET
    dashes = DASHES[mark.colour] if mark.colour is not None else (0, (2, 2))
    width = 1.3 if known else 0.9
    if isinstance(mark, Level):
        axes.axhline(mark.y, color=colour, linestyle=dashes, linewidth=width, label=label)
    else:
        axes.axvline(mark.x, color=colour, linestyle=dashes, linewidth=width, label=label)


def _points(
    axes: Axes,
    x: tuple[float, ...],
    y: tuple[float, ...],
    low: tuple[float, ...],
    high: tuple[float, ...],
    colour: int,
    label: str,
    *,
    size: float,
    is_clipped: bool = True,
) -> None:
    reach = [np.subtract(y, low), np.subtract(high, y)] if low and high else None
    axes.errorbar(
        x,
        y,
        yerr=reach,
        color=COLOURS[colour],
        marker=MARKERS[colour],
        markersize=size,
        capsize=3,
        linestyle="none",
        zorder=3,
        label=label,
        clip_on=is_clipped,
    )


def _finish(axes: Axes, chart: Chart) -> None:
    """The axes' ends, ticks and titles."""
    x, y = chart.x, chart.y
    if x.is_log:
        axes.set_xscale("log")
    if y.is_log:
        axes.set_yscale("log")
    axes.set_xlim(x.low, x.high)
    _ticks(axes.xaxis, x)
    if y.names:
        axes.set_ylim(len(y.names) - 0.5, -0.5)
        axes.set_yticks(range(len(y.names)), [picture_text(name) for name in y.names])
        axes.yaxis.grid(visible=False)
    else:
        axes.set_ylim(*((y.high, y.low) if y.from_top else (y.low, y.high)))
        _ticks(axes.yaxis, y)
        axes.set_ylabel(_label(y.title))
    axes.set_xlabel(_label(x.title))
    axes.set_title(_label(chart.title), loc="left")


def _ticks(axis: object, shown: Axis) -> None:
    axis.set_major_locator(FixedLocator(shown.ticks()))  # type: ignore[attr-defined]
    axis.set_minor_locator(NullLocator())  # type: ignore[attr-defined]
    formatter = FuncFormatter(lambda value, _: shown.tick_text(value))
    axis.set_major_formatter(formatter)  # type: ignore[attr-defined]


def _label(text: str) -> str:
    """Text that Matplotlib can draw in the room that there is; without any it stays out of the legend."""
    return cut(picture_text(text), _LONGEST)

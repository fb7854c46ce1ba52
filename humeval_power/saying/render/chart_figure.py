"""A chart by Matplotlib, for files: the same data as its SVG on a page."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

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
            _points(axes, series, size=4.0)
        case "line" | "steps":
            steps = "steps-post" if series.kind == "steps" else "default"
            dashes = DASHES[series.colour]
            axes.plot(series.x, series.y, color=colour, linestyle=dashes, drawstyle=steps, label=label)


def _mark(axes: Axes, mark: Mark, chart: Chart) -> None:
    if isinstance(mark, Spot):
        spot = Series.of("points", mark.text, [(mark.x, mark.y)], mark.colour)
        if mark.low is not None and mark.high is not None:
            spot = replace(spot, low=(mark.low,), high=(mark.high,))
        # one that lies on the edge is shown whole
        _points(axes, spot, size=6.0, is_clipped=not chart.x.low <= mark.x <= chart.x.high)
        return
    look: dict[str, Any] = {"color": QUIET, "linestyle": (0, (2, 2)), "linewidth": 0.9}
    if mark.colour is not None:
        look = {"color": COLOURS[mark.colour], "linestyle": DASHES[mark.colour], "linewidth": 1.3}
    if isinstance(mark, Level):
        axes.axhline(mark.y, label=_label(mark.text), **look)
    else:
        axes.axvline(mark.x, label=_label(mark.text), **look)


def _points(axes: Axes, series: Series, *, size: float, is_clipped: bool = True) -> None:
    reach = None
    if series.low and series.high:
        reach = [np.subtract(series.y, series.low), np.subtract(series.high, series.y)]
    axes.errorbar(
        series.x,
        series.y,
        yerr=reach,
        color=COLOURS[series.colour],
        marker=MARKERS[series.colour],
        markersize=size,
        capsize=3,
        linestyle="none",
        zorder=3,
        label=_label(series.name),
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

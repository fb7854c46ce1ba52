"""A chart, or panels of charts, by Matplotlib, for files: the same data as its SVG on a page."""

from __future__ import annotations

import math
import textwrap
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from humeval_power.safe_text import cut, picture_text
from humeval_power.saying.chart import Axis, Chart, Drawable, Level, Mark, Panels, Series, Spot
from humeval_power.saying.figure_style import COLOURS, DASHES, INK, MARKERS, QUIET, house_style

_WIDTH, _BROAD = 4.6, 6.8  # inches
_UNITS = 87.0  # of a page's drawing in an inch
_BAND = 0.18
_LONGEST, _LONGEST_OF_ROW = 66, 30  # characters of an entry of the legend, of the name of a row
_LETTER = 0.058  # inches
_DARK = 0.7  # strength from which on texts are light


def chart_figure(picture: Drawable, *, width: float | None = None) -> Figure:
    """The figure with the axes and ticks of each chart; series and marks are in their order."""
    charts, n_wide = picture.charts, getattr(picture, "n_columns", 1)
    width = width or (_BROAD if picture.is_broad else _WIDTH)
    n_deep = math.ceil(len(charts) / n_wide)
    height = n_deep * max(_height(each, picture, width / n_wide) for each in charts)
    with house_style():
        figure = Figure(figsize=(width, height), layout="constrained")
        grid = figure.subplots(n_deep, n_wide, squeeze=False).ravel()
        for axes, chart in zip(grid, charts, strict=False):
            for series in chart.series:
                _draw(axes, series, chart, width / n_wide)
            for mark in chart.marks:
                _mark(axes, mark, chart)
            _finish(axes, chart, width / n_wide)
            _title(axes, chart, width / n_wide, is_panel=isinstance(picture, Panels))
        for axes in grid[len(charts) :]:
            axes.set_axis_off()
        said_below = _said_once(figure, picture, width) if isinstance(picture, Panels) else ""
        handles: dict[str, Any] = {}
        for axes in grid:
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
                handles.setdefault(label, handle)
        if handles or said_below:
            fitting = int(width / (0.5 + _LETTER * max(map(len, handles), default=1)))
            columns = max(1, min(fitting, 2 if width < _BROAD else 4, len(handles)))
            place: dict[str, Any] = {"loc": "outside lower center", "title_fontsize": 8}
            figure.legend(handles.values(), handles, ncols=columns, title=said_below or None, **place)
    return figure


def _height(chart: Chart, picture: Drawable, width: float) -> float:
    """Inches of a panel with its titles."""
    rows = len(chart.y.names)
    if rows and chart.is_broad and chart.is_matrix:
        return 1.1 + 0.36 * rows
    if chart.is_matrix:
        is_square = rows in (0, round(chart.x.high - chart.x.low))
        return width + 0.2 if is_square else 0.9 + min(0.14 * rows, 3.6)
    if rows:
        few = 0.3 if chart.columns or len(picture.charts) > 1 else 0.45
        above = 0.9 if chart.top is None else 1.6
        return above + (few if rows <= 12 else 0.2 if rows <= 30 else 0.14) * rows
    if isinstance(picture, Panels):
        return picture.height / _UNITS + 0.35
    return 0.74 * width


def _said_once(figure: Figure, panels: Panels, width: float) -> str:
    """Give the title of all panels, and what their axes show where it is the same; return that of x, to stand
    below, above the legend."""
    charts, wide = panels.charts, panels.n_columns
    drawn = figure.axes[: len(charts)]
    if panels.title:
        title = "\n".join(textwrap.wrap(picture_text(panels.title), int(width / 0.088)))
        figure.suptitle(title, fontsize=9, weight="bold", x=0.01, ha="left")
    if all(each.y.title == charts[0].y.title for each in charts):
        for axes in drawn:
            axes.set_ylabel("")
        figure.supylabel(_label(charts[0].y.title), fontsize=8)
    if all(each.x == charts[0].x for each in charts) and len(charts) > 1:
        for place, axes in enumerate(drawn):
            axes.set_xlabel("")
            axes.tick_params(labelbottom=place + wide >= len(charts))
        return _label(charts[0].x.title)
    return ""


def _draw(axes: Axes, series: Series, chart: Chart, width: float) -> None:
    colour, label = COLOURS[series.colour], _label(series.name)
    look: dict[str, Any] = {"color": colour, "label": label}
    match series.kind:
        case "band":
            axes.fill_between(series.x, series.low, series.high, alpha=_BAND, linewidth=0, **look)
        case "bars" | "cells" | "columns":
            widths = np.subtract(series.high, series.low)
            look["alpha"] = series.strength
            if series.kind == "columns":
                axes.bar(series.low, series.y, 0.96 * widths, align="edge", **look)
            else:
                tall = 0.72 if series.kind == "bars" else 1.0
                edge: dict[str, Any] = {
                    "edgecolor": "white",
                    "linewidth": 0.7 if series.texts or tall < 1 else 0,
                }
                axes.barh(series.y, widths, left=series.low, height=tall, **look, **edge)
        case "points" if series.strength < 1:
            # as a picture inside vector files: tens of thousands of outlines open slowly
            marker = MARKERS[series.colour if series.marker is None else series.marker]
            cloud: dict[str, Any] = {"marker": marker, "markersize": 2.8, "markeredgewidth": 0}
            axes.plot(
                series.x,
                series.y,
                linestyle="",
                alpha=series.strength,
                rasterized=True,
                clip_on=False,
                **look,
                **cloud,
            )
        case "points":
            _points(axes, series, size=4.0, is_clipped=False)
        case "line" | "marked" | "steps":
            if series.kind == "marked":
                marker = MARKERS[series.colour if series.marker is None else series.marker]
                look |= {"marker": marker, "markeredgecolor": "white", "markeredgewidth": 0.4, "zorder": 3}
                look["clip_on"] = False
            steps = "steps-post" if series.kind == "steps" else "default"
            axes.plot(series.x, series.y, linestyle=DASHES[series.colour], drawstyle=steps, **look)
    _texts(axes, series, chart, width)


def _texts(axes: Axes, series: Series, chart: Chart, width: float) -> None:
    """What stands in bars and cells, and beside points."""
    if series.kind == "points":
        middle = chart.x.low + 0.6 * (chart.x.high - chart.x.low)
        for x, y, text in zip(series.x, series.y, series.texts, strict=False):
            side, away = ("right", -4) if x > middle else ("left", 4)
            name, look = cut(picture_text(text), _LONGEST_OF_ROW), {"size": 6.0, "ha": side}
            axes.annotate(name, (x, y), xytext=(away, 3), textcoords="offset points", **look)  # type: ignore[arg-type]
        return
    ink = "white" if series.strength > _DARK else INK
    for row, low, high, text in zip(series.y, series.low, series.high, series.texts, strict=False):
        words = "\n".join(map(picture_text, text.split("\n")))
        share = (high - low) / (chart.x.high - chart.x.low)
        if max(map(len, words.split("\n"))) * _LETTER > 1.2 * share * (width - 1.3):
            continue
        axes.text((low + high) / 2, row, words, ha="center", va="center", size=6, color=ink)


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
        reach = np.maximum([np.subtract(series.y, series.low), np.subtract(series.high, series.y)], 0)
    axes.errorbar(
        series.x,
        series.y,
        yerr=reach,
        color=COLOURS[series.colour],
        marker=MARKERS[series.colour if series.marker is None else series.marker],
        markersize=size,
        markeredgecolor="white",
        markeredgewidth=0.4,
        capsize=3,
        capthick=1.0,
        linestyle="none",
        zorder=3,
        label=_label(series.name),
        clip_on=is_clipped,
    )


def _title(axes: Axes, chart: Chart, width: float, *, is_panel: bool) -> None:
    """The title, in two lines where it needs them; of a panel also its caption, beside or below."""
    most = max(int(width / (_LETTER + 0.016)), 8)
    title, caption = picture_text(chart.title), picture_text(chart.caption)
    if not is_panel:
        axes.set_title(_in_lines(textwrap.wrap(title, min(most, _LONGEST)), 2, _LONGEST), loc="left")
        return
    is_beside = len(caption) < 0.4 * most
    title = cut(title, most - is_beside * len(caption))
    axes.set_title(title if is_beside else f"{title}\n{cut(caption, most)}", loc="left")
    axes.set_title(caption if is_beside else "", loc="right")


def _finish(axes: Axes, chart: Chart, width: float) -> None:
    """The axes' ends, ticks and titles, and what stands at the right of the rows."""
    x, y = chart.x, chart.y
    if x.is_log:
        axes.set_xscale("log")
    if y.is_log:
        axes.set_yscale("log")
    _set_limits(axes, x)
    room = max(width - (1.6 if y.names else 0.6), 0.5)
    _ticks(axes.xaxis, x, x.ticks(0.9 * room / _LETTER))
    if y.names:
        axes.set_ylim(len(y.names) - 0.5, -0.5)
        whole: dict[str, Any] = {"width": _LONGEST_OF_ROW, "break_long_words": False}
        names = (textwrap.wrap(picture_text(name), **whole) for name in y.names)
        n_lines = 2 if len(y.names) <= 12 else 1
        axes.set_yticks(range(len(y.names)), [_in_lines(name, n_lines) for name in names])
        axes.grid(visible=False, axis="both" if chart.is_matrix else "y")
        axes.tick_params(axis="y", length=0)
    else:
        axes.set_ylim(*((y.high, y.low) if y.is_reversed else (y.low, y.high)))
        _ticks(axes.yaxis, y, y.ticks())
        axes.set_ylabel(_label(y.title))
    axes.set_xlabel(_label(x.title))
    points = 6.0  # from the right end of the axes
    for column in chart.columns:
        head, texts = column
        beside: dict[str, Any] = {"textcoords": "offset points", "annotation_clip": False}
        axes.annotate(head, (1, 1), (points, 3), "axes fraction", color=QUIET, size=6.5, **beside)
        for place, text in enumerate(texts):
            at, shown = (1, place), picture_text(text)
            axes.annotate(
                shown, at, (points, 0), axes.get_yaxis_transform(), va="center", size=6.8, **beside
            )
        points += 72 * _LETTER * max(map(len, (head, *texts))) + 8
    if chart.top is not None:
        above = axes.twiny()
        _set_limits(above, chart.top)
        above.grid(visible=False)
        _ticks(above.xaxis, chart.top, chart.top.ticks())
        above.set_xlabel(_label(chart.top.title))


def _set_limits(axes: Axes, x: Axis) -> None:
    axes.set_xlim(*((x.high, x.low) if x.is_reversed else (x.low, x.high)))


def _in_lines(lines: list[str], most: int, longest: int = _LONGEST_OF_ROW) -> str:
    """A text in so many lines; cut where it is longer still."""
    shown = (*lines[: most - 1], " ".join(lines[most - 1 :]))
    return "\n".join(cut(line, longest) for line in shown).rstrip()


def _ticks(axis: object, shown: Axis, ticks: tuple[float, ...]) -> None:
    axis.set_major_locator(FixedLocator(ticks))  # type: ignore[attr-defined]
    axis.set_minor_locator(NullLocator())  # type: ignore[attr-defined]
    formatter = FuncFormatter(lambda value, _: shown.tick_text(value))
    axis.set_major_formatter(formatter)  # type: ignore[attr-defined]


def _label(text: str) -> str:
    """Text that Matplotlib can draw in the room that there is; without any it stays out of the legend."""
    return cut(picture_text(text), _LONGEST)

"""Power of any scenario as curves, or how wrong its significant estimates are: small multiples over its lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator, NullLocator

from humeval_power.errors import InputError
from humeval_power.reporting.drawn import NOTHING_WRONG, QUANTITIES, Along, Drawn, known_rows, level_words
from humeval_power.reporting.drawn_axes import TARGET_DASHES, frame
from humeval_power.reporting.figure_style import COLOURS, DASHES, MARKERS, QUIET, house_style
from humeval_power.reporting.questions.curve_facets import (
    CurveFacets,
    choose_curve_facets,
    value_words,
)
from humeval_power.safe_text import picture_text

Rows = Sequence[Mapping[str, Any]]
_SINGLE, _WIDE = 4.6, 6.8  # inches
_LOG = 100  # sizes that span so many times have a logarithmic axis


def curve_figure(
    rows: Rows,
    *,
    effect_label: str,
    lists: Sequence[str] = (),
    draw: Drawn = "power",
    along: Along | None = None,
    target: float = 0.8,
    width: float | None = None,
) -> Figure:
    """Power (or type M, or type S) against size or effect, a line for each value of the other.

    Bands are Monte Carlo intervals; dashed is the target power, or no exaggeration.

    Parameters
    ----------
    rows : cells with `n`, `effect`, `power`, `power_low`, `power_high`, `type_m`, `type_s` and `lists`.
    lists : columns of what is assumed, each of several values: panels.
    along : what runs along x; by default what has more values, the effect where both have as many.
    width : inches; by default a text column for one panel and the page's width for more.

    Raises
    ------
    InputError
        No rows, nothing of what is to be drawn, or more lines or panels than can be told apart.
    """
    if not rows:
        raise InputError("There is nothing to draw: the surface has no cells.")
    known = known_rows(rows, draw)
    if not known:
        raise InputError(NOTHING_WRONG)
    facets = choose_curve_facets(known, lists, along)
    columns, deep = facets.values(known, facets.column), facets.values(known, facets.row)
    with house_style():
        width = width or (_SINGLE if len(columns) == 1 else _WIDE)
        height = 0.55 + len(deep) * min(3.1, 0.75 * width / len(columns) + 0.35)
        figure = Figure(figsize=(width, height), layout="constrained")
        grid = figure.subplots(len(deep), len(columns), sharex=True, sharey=True, squeeze=False)
        for axes_row, row_value in zip(grid, deep, strict=True):
            for axes, column_value in zip(axes_row, columns, strict=True):
                shown = facets.cells(known, column_value, row_value)
                _panel(axes, shown, facets, draw, lines=facets.values(known, facets.line))
                frame(axes, draw, [float(row[QUANTITIES[draw].column]) for row in known], target=target)
                axes.set_title(facets.title(column_value, row_value), loc="left", weight="bold")
        _x_axis(grid[-1][0], facets, known)
        for axes in grid[-1]:
            axes.set_xlabel("Size n" if facets.x == "n" else picture_text(effect_label))
        figure.supylabel(QUANTITIES[draw].label, fontsize=8)
        _legend(figure, known, facets, level_words(draw, target))
    return figure


def _panel(axes: Axes, rows: Rows, facets: CurveFacets, draw: Drawn, *, lines: Sequence[Any]) -> None:
    quantity = QUANTITIES[draw]
    for place, value in enumerate(lines):
        line = [row for row in rows if facets.line is None or row[facets.line] == value]
        ordered = sorted(line, key=lambda row: float(row[facets.x]))
        where = [float(row[facets.x]) for row in ordered]
        if quantity.band is not None:
            low, high = ([float(row[name]) for row in ordered] for name in quantity.band)
            axes.fill_between(where, low, high, color=COLOURS[place], alpha=0.18, linewidth=0)
        axes.plot(
            where,
            [float(row[quantity.column]) for row in ordered],
            color=COLOURS[place],
            linestyle=DASHES[place],
            marker=MARKERS[place] if facets.is_sparse(rows) else None,
        )


def _x_axis(axes: Axes, facets: CurveFacets, rows: Rows) -> None:
    """Sizes that span much on a logarithmic axis, in whole numbers."""
    values = [float(row[facets.x]) for row in rows]
    low, high = min(values), max(values)
    if facets.x != "n":
        return
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    if high >= _LOG * low:
        axes.set_xscale("log")
        ticks = [step * 10**power for power in range(10) for step in (1, 2, 5)]
        ticks = [tick for tick in ticks if low <= tick <= high]
        few = ticks if len(ticks) <= 6 else [tick for tick in ticks if str(tick)[0] == "1"]
        axes.xaxis.set_major_locator(FixedLocator(few))
        axes.xaxis.set_major_formatter(FixedFormatter([f"{tick:,}" for tick in few]))
        axes.xaxis.set_minor_locator(NullLocator())


def _legend(figure: Figure, rows: Rows, facets: CurveFacets, level: str) -> None:
    marked = facets.is_sparse(rows)
    handles = [
        Line2D(
            [],
            [],
            color=COLOURS[place],
            linestyle=DASHES[place],
            marker=MARKERS[place] if marked else None,
            label=value_words(facets.line, value),
        )
        for place, value in enumerate(facets.values(rows, facets.line))
        if facets.line is not None
    ]
    if level:
        handles.append(Line2D([], [], color=QUIET, linestyle=TARGET_DASHES, linewidth=0.9, label=level))
    if handles:
        wide = 3 if figure.get_figwidth() < _WIDE else 5
        figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), wide))

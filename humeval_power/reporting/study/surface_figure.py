"""The power surface as a picture: small multiples of power against the difference to detect."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from humeval_power.errors import InputError
from humeval_power.reporting.drawn import QUANTITIES, AlongStudy, Drawn, Quantity
from humeval_power.reporting.facets import (
    CREW,
    Facets,
    choose_facets,
    constants,
    levels,
    pick,
    prepared,
)
from humeval_power.reporting.figure_style import (
    COLOURS,
    DASHES,
    MARKERS,
    figure_bytes,
    house_style,
)
from humeval_power.reporting.panels import (
    FULL_WIDTH,
    SINGLE_COLUMN,
    add_header,
    figure_width,
    level_handles,
    panel_grid,
    positions,
)
from humeval_power.reporting.study.comparison_figure import comparison_figure
from humeval_power.safe_text import picture_text

__all__ = ["FULL_WIDTH", "SINGLE_COLUMN", "comparison_figure", "figure_bytes", "surface_figure"]


def surface_figure(
    table: pd.DataFrame,
    *,
    title: str | None = None,
    target: float = 0.8,
    width: float | None = None,
    effect_label: str | None = None,
    draw: Drawn = "power",
    along: AlongStudy | None = None,
) -> Figure:
    """Power over the cells of `table`, drawn without pyplot and ready for `figure_bytes`.

    Columns of panels are numbers of workers, rows are settings, lines are numbers of items; shaded
    bands are the Monte Carlo intervals `power_low` to `power_high`. With a single effect, x is the
    number of items and lines are workers; with a single design it is a plot of points.

    Parameters
    ----------
    table : one row for each cell: setting, workers, items, ratings_per_item, effect (difference
        B - A on [0, 1]), power, power_low, power_high; with a column `rule` of two values it is
        drawn by `comparison_figure`.
    target : the power at which a dashed line is drawn.
    width : inches; by default a text column for one panel and the page's width for more.
    effect_label : what the effects are, where that is not the difference B - A on [0, 1].
    draw : power, or type M or type S, for which the table has the columns `type_m` and `type_s`.
    along : what runs along x where there are several effects: they (the default), or items.
    """
    if "rule" in table.columns and table["rule"].nunique() > 1:
        return comparison_figure(table, title=title, target=target, width=width, effect_label=effect_label)
    with house_style():
        ready = prepared(table, QUANTITIES[draw])
        facets = choose_facets(ready, along)
        _refuse_too_many(levels(ready, facets.line))
        figure, panels = panel_grid(
            ready, facets, width=width or figure_width(ready, facets), target=target, draw=draw
        )
        for panel in panels:
            shown = ready if facets.column is None else pick(ready, **{facets.column: panel.column})
            shown = shown if facets.row is None else pick(shown, **{facets.row: panel.row})
            _draw_lines(panel.axes, ready, shown, facets, QUANTITIES[draw])
        if effect_label and facets.x == "effect":
            figure.supxlabel(picture_text(effect_label), fontsize=8)
        handles = [*_handles(ready, facets), *level_handles(target, draw)]
        said = constants(ready, facets)
        if handles:
            add_header(figure, title, [handles], legend_title=said)
        else:
            add_header(figure, title or said, [])
    return figure


def _draw_lines(
    axes: Axes, table: pd.DataFrame, shown: pd.DataFrame, facets: Facets, quantity: Quantity
) -> None:
    for style, level in enumerate(levels(table, facets.line)):
        line = shown if facets.line is None else pick(shown, **{facets.line: level})
        if line.empty:
            continue
        x = positions(table, facets, line)
        if facets.line is None:
            _draw_points(axes, x, line, quantity)
            continue
        if quantity.band is not None:
            low, high = (line[name] for name in quantity.band)
            axes.fill_between(x, low, high, color=COLOURS[style], alpha=0.2, linewidth=0, gid="band")
        axes.plot(
            x,
            line[quantity.column],
            color=COLOURS[style],
            marker=MARKERS[style],
            linestyle=DASHES[style],
            markeredgecolor="white",
            markeredgewidth=0.4,
            clip_on=False,
            zorder=3,
        )


def _draw_points(axes: Axes, x: list[float], line: pd.DataFrame, quantity: Quantity) -> None:
    if quantity.band is None:
        axes.plot(x, line[quantity.column], "o", color=COLOURS[0], zorder=3)
        return
    below = (line["power"] - line["power_low"]).clip(lower=0)
    above = (line["power_high"] - line["power"]).clip(lower=0)
    axes.errorbar(
        x, line["power"], yerr=[below, above], fmt="o", color=COLOURS[0], capsize=2.5, linewidth=1, zorder=3
    )


def _handles(table: pd.DataFrame, facets: Facets) -> list[Line2D]:
    return [
        Line2D([], [], color=COLOURS[style], marker=MARKERS[style], linestyle=DASHES[style], label=name)
        for style, name in enumerate(_line_names(table, facets))
    ]


def _line_names(table: pd.DataFrame, facets: Facets) -> list[str]:
    if facets.line is None:
        return []
    if facets.line == CREW:
        return [str(name) for name in levels(table, CREW)]
    if facets.line == "effect":
        return [f"difference {effect:g}" for effect in levels(table, "effect")]
    return [f"{items:,} items" for items in levels(table, "items")]


def _refuse_too_many(lines: list[object]) -> None:
    if len(lines) > len(COLOURS):
        raise InputError(
            f"A figure can tell {len(COLOURS)} lines apart; this table has {len(lines)}. "
            "Draw a part of the table: fewer numbers of items or of workers, or fewer differences."
        )

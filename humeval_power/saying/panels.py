"""The grid of panels that all figures of power share: axes, titles, strips and the target line.

Rows of estimates with intervals by Matplotlib.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, MaxNLocator

from humeval_power.checking.columns import shortened
from humeval_power.errors import InputError
from humeval_power.safe_text import picture_text
from humeval_power.saying.chart import EstimateRow, EstimateRows
from humeval_power.saying.document import (
    NOTHING_WRONG,
    QUANTITIES,
    AlongStudy,
    Drawn,
    DrawnQuantity,
    level_words,
)
from humeval_power.saying.figure_style import COLOURS, INK, QUIET, TARGET_DASHES, frame, house_style

# How a table of power becomes small multiples: what runs along x, what is a line, what is a panel.

COLUMNS = (
    "setting",
    "workers",
    "items",
    "ratings_per_item",
    "effect",
    "power",
    "power_low",
    "power_high",
)
CREW = "crew"  # workers with their ratings per item, in words
CHARACTER = 0.078  # inches that a bold character of the titles takes, on the safe side


@dataclass(frozen=True, slots=True)
class Facets:
    """The column of the table that each visual variable shows; None where a variable is not needed."""

    x: str
    line: str | None
    column: str | None
    row: str | None


def prepared(table: pd.DataFrame, quantity: DrawnQuantity = QUANTITIES["power"]) -> pd.DataFrame:
    """The table with a column `crew`, sorted along every axis; settings keep the order they came in. Cells that
    do not have what is drawn are left out.
    Raises InputError: where the table is empty or lacks columns."""
    missing = [name for name in (*COLUMNS, quantity.column) if name not in table.columns]
    if missing:
        lacks = f"this one lacks {', '.join(missing)}"
        raise InputError(f"A table of power needs the columns {', '.join(COLUMNS)}; {lacks}.")
    if table.empty:
        raise InputError("The table of power has no rows, so there is nothing to draw.")
    table = table[table[quantity.column].notna()]
    if table.empty:
        raise InputError(NOTHING_WRONG)
    order = {setting: rank for rank, setting in enumerate(dict.fromkeys(table["setting"]))}
    ranked = table.assign(_rank=table["setting"].map(order))
    ranked = ranked.sort_values(["_rank", "workers", "ratings_per_item", "items", "effect"], kind="stable")
    return ranked.drop(columns="_rank").assign(crew=_crews(ranked)).reset_index(drop=True)


def choose_facets(table: pd.DataFrame, along: AlongStudy | None = None) -> Facets:
    """Lines over effects in a panel for each setting and number of workers, as in Card et al.'s
    Figure 6; where there is one effect only, x is the next thing that varies. Along items, lines are effects."""
    varies = {name: table[name].nunique() > 1 for name in ("effect", "items", CREW, "setting")}
    column = "setting" if varies["setting"] else None
    if along == "items" and varies["effect"]:
        return Facets("items", "effect", *((CREW, column) if varies[CREW] else (column, None)))
    if varies["effect"]:
        if not varies[CREW]:
            return Facets("effect", "items", column, None)
        return Facets("effect", "items", CREW, column)
    if varies["items"]:
        return Facets("items", CREW, column, None)
    if varies[CREW]:
        return Facets(CREW, None, column, None)
    return Facets("setting", None, None, None)


def levels(table: pd.DataFrame, name: str | None) -> list[object]:
    """The different values of a column in the order of the table; items in rising order."""
    if name is None:
        return [None]
    values = list(dict.fromkeys(table[name].tolist()))
    return sorted(values) if name in ("items", "effect") else values


def pick(table: pd.DataFrame, **wanted: object) -> pd.DataFrame:
    """The rows in which each named column has the wanted value; None asks for nothing."""
    for name, value in wanted.items():
        if value is not None:
            table = table[table[name] == value]
    return table


def constants(table: pd.DataFrame, facets: Facets) -> str:
    """What is the same in every panel and must still be said, such as '10 workers, 100 items'."""
    shown = {facets.x, facets.line, facets.column, facets.row}
    said = []
    if CREW not in shown and table[CREW].nunique() == 1:
        said.append(str(table[CREW].iloc[0]))
    if "items" not in shown and table["items"].nunique() == 1:
        said.append(f"{table['items'].iloc[0]:,} items")
    if "effect" not in shown and table["effect"].nunique() == 1:
        said.append(f"difference {table['effect'].iloc[0]:g}")
    return ", ".join(said)


def fitted(name: object, room: float) -> str:
    """A name in at most two lines of `room` inches, shortened where it is longer still."""
    n_characters = max(8, int(room / CHARACTER))
    line = picture_text(str(name))
    return "\n".join(textwrap.wrap(line, n_characters, max_lines=2, placeholder="…")) or line


def _crews(table: pd.DataFrame) -> list[str]:
    """'10 workers' where everyone rates everything (k = workers), else '10 workers, 3 per item'."""
    return [
        f"{workers:,} workers"
        + ("" if workers == per_item else f", {per_item:g}\N{NO-BREAK SPACE}per\N{NO-BREAK SPACE}item")
        for workers, per_item in zip(table["workers"], table["ratings_per_item"], strict=True)
    ]


SINGLE_COLUMN, FULL_WIDTH = 3.3, 6.8  # inches
NARROWEST_PANEL = 1.05
TITLE_LINE, LEGEND_LINE = 0.165, 0.165
X_LABELS = {
    "effect": "Difference between the systems, on [0, 1]",
    "items": "Items",
    CREW: "Workers",
    "setting": "Setting",
}


@dataclass(frozen=True, slots=True)
class PicturePanel:
    """One panel, and the values of the column and row variables that it shows."""

    axes: Axes
    column: object
    row: object


def figure_width(table: pd.DataFrame, facets: Facets) -> float:
    """Inches: a text column for a single panel, else the page."""
    n_panels = len(levels(table, facets.column)) * len(levels(table, facets.row))
    return SINGLE_COLUMN if n_panels == 1 else FULL_WIDTH


def panel_grid(
    table: pd.DataFrame, facets: Facets, *, width: float, target: float, draw: Drawn = "power"
) -> tuple[Figure, list[PicturePanel]]:
    """An empty figure with one panel for each column x row that the table has, wrapped to the width."""
    columns, rows = levels(table, facets.column), levels(table, facets.row)
    n_wide = max(1, min(len(columns), int((width - 0.5) / NARROWEST_PANEL)))
    n_wraps = math.ceil(len(columns) / n_wide)
    panel_width = (width - 0.6) / n_wide
    panel_height = min(2.0, max(1.15, 0.78 * panel_width))
    n_deep = n_wraps * len(rows)
    figure = Figure(figsize=(width, 0.5 + n_deep * (panel_height + 0.12)), layout=_layout(top=1.0))
    grid = figure.subplots(n_deep, n_wide, sharex=True, sharey=True, squeeze=False)
    panels = []
    for place, axes in enumerate(grid.flat):
        deep, across = divmod(place, n_wide)
        row, wrap = rows[deep // n_wraps], deep % n_wraps
        if wrap * n_wide + across >= len(columns):
            axes.set_axis_off()
            continue
        panels.append(PicturePanel(axes, columns[wrap * n_wide + across], row))
        frame(axes, draw, table[QUANTITIES[draw].column], target=target)
        if facets.column and (deep == 0 or n_wraps > 1):
            title = fitted(panels[-1].column, panel_width)
            axes.set_title(title, weight="bold", pad=4)
        is_bottom = deep == n_deep - 1 or (wrap + 1) * n_wide + across >= len(columns)
        axes.tick_params(labelbottom=is_bottom, labelleft=across == 0)
        if facets.row and across == n_wide - 1:
            _strip(axes, fitted(row, panel_height))
    _x_axis(table, facets, panels, panel_width=panel_width)
    figure.supylabel(QUANTITIES[draw].label, fontsize=8)
    return figure, panels


def add_header(
    figure: Figure, title: str | None, groups: list[list[Line2D]], *, legend_title: str = ""
) -> None:
    """Make room above the panels for a title and one legend for each group of handles."""
    width, panels_height = figure.get_size_inches()
    title_lines = textwrap.wrap(picture_text(title or ""), int(width / 0.088))
    above = 0.07 + TITLE_LINE * len(title_lines) if title_lines else 0.0
    depths = [above]
    for group in groups:
        n_titles = 1 if legend_title and group is groups[0] else 0
        depths.append(depths[-1] + LEGEND_LINE * (n_titles + _legend_rows(group, width)))
    height = panels_height + depths[-1]
    figure.set_size_inches(width, height)
    figure.text(
        0.06 / width,
        1 - 0.05 / height,
        "\n".join(title_lines),
        ha="left",
        va="top",
        weight="bold",
        size=9,
    )
    for group, depth in zip(groups, depths[:-1], strict=True):
        _legend(figure, group, legend_title if group is groups[0] else "", top=1 - depth / height)
    figure.set_layout_engine(_layout(top=1 - (depths[-1] + 0.05) / height))


def _layout(*, top: float) -> ConstrainedLayoutEngine:
    return ConstrainedLayoutEngine(w_pad=0.03, h_pad=0.03, wspace=0.02, hspace=0.03, rect=(0, 0, 1, top))


def _legend_rows(handles: list[Line2D], width: float) -> int:
    longest = max(len(str(handle.get_label())) for handle in handles)
    n_fit = max(1, int(width / (0.5 + 0.06 * longest)))
    return math.ceil(len(handles) / n_fit)


def _legend(figure: Figure, handles: list[Line2D], title: str, *, top: float) -> None:
    n_columns = math.ceil(len(handles) / _legend_rows(handles, figure.get_figwidth()))
    legend = figure.legend(
        # matplotlib fills column by column; people read row by row
        handles=[handle for column in range(n_columns) for handle in handles[column::n_columns]],
        title=title or None,
        alignment="left",
        loc="upper left",
        bbox_to_anchor=(0, top),
        borderaxespad=0.2,
        borderpad=0.3,
        labelspacing=0.35,
        ncols=n_columns,
    )
    legend.set_in_layout(False)


def level_handles(target: float, draw: Drawn = "power") -> list[Line2D]:
    """The legend's entry for the line at the target power, or at no exaggeration."""
    words = level_words(draw, target)
    return (
        [Line2D([], [], color=QUIET, linewidth=0.9, linestyle=TARGET_DASHES, label=words)] if words else []
    )


def positions(table: pd.DataFrame, facets: Facets, rows: pd.DataFrame) -> list[float]:
    """Where the rows lie along x: the value itself, or the place in the order of a category."""
    if facets.x in ("effect", "items"):
        return [float(value) for value in rows[facets.x]]
    order = {value: place for place, value in enumerate(levels(table, facets.x))}
    return [float(order[value]) for value in rows[facets.x]]


def _strip(axes: Axes, text: str) -> None:
    """The row's name along the right edge of its last panel."""
    axes.annotate(
        text,
        (1, 0.5),
        xytext=(5, 0),
        xycoords="axes fraction",
        textcoords="offset points",
        rotation=-90,
        va="center",
        ha="left",
        weight="bold",
        size=7.5,
    )


def _x_axis(table: pd.DataFrame, facets: Facets, panels: list[PicturePanel], *, panel_width: float) -> None:
    axes = panels[0].axes
    n_ticks = max(2, int(panel_width / 0.34))
    if facets.x == "effect":
        values = sorted({float(value) for value in table["effect"]})
        edge = 0.06 * (max(values) - min(values) or 1.0)
        axes.set_xlim(min(values) - edge, max(values) + edge)
        few = FixedLocator(values) if len(values) <= n_ticks else None
        axes.xaxis.set_major_locator(few or MaxNLocator(min(6, n_ticks), steps=[1, 2, 2.5, 5, 10]))
        axes.xaxis.set_major_formatter("{x:g}")
    elif facets.x == "items":
        _item_axis(axes, [int(value) for value in levels(table, "items")], n_ticks=n_ticks)  # type: ignore[call-overload]
    else:
        names = [fitted(name, 1.2) for name in levels(table, facets.x)]
        if facets.x == CREW and not any("," in name for name in names):
            names = [name.removesuffix(" workers") for name in names]
        is_long = sum(map(len, names)) * 0.065 > panel_width
        axes.set_xticks(range(len(names)), names)
        axes.set_xlim(-0.4, len(names) - 0.6)
        for panel in panels:
            panel.axes.tick_params(axis="x", labelrotation=30 if is_long else 0)
            for label in panel.axes.get_xticklabels() if is_long else []:
                label.set(ha="right", rotation_mode="anchor")
    axes.figure.supxlabel(X_LABELS[facets.x], fontsize=8)


def _item_axis(axes: Axes, items: list[int], *, n_ticks: int) -> None:
    """Item counts as ticks, on a log axis where they span much; crowded ticks give way."""
    if max(items) >= 5 * min(items):
        axes.set_xscale("log")
        axes.xaxis.set_minor_locator(MaxNLocator(1, prune="both"))
        axes.minorticks_off()
        place = [math.log(value) for value in items]
    else:
        place = [float(value) for value in items]
    room = (place[-1] - place[0]) / max(1, n_ticks)
    kept = [0]
    for index in range(1, len(items)):
        if place[index] - place[kept[-1]] >= room:
            kept.append(index)
    edge = 0.08 * (place[-1] - place[0] or 1.0)
    low, high = place[0] - edge, place[-1] + edge
    axes.set_xlim(*((math.exp(low), math.exp(high)) if max(items) >= 5 * min(items) else (low, high)))
    axes.set_xticks([items[index] for index in kept], [f"{items[index]:,}" for index in kept])


NAME_WIDTH = 24
_ROW_HEIGHT, _DENSE_ROW_HEIGHT, _DENSE = 0.165, 0.128, 30  # inches, inches, rows
LOOKS = {False: (COLOURS[0], "o"), True: (COLOURS[1], "D")}  # usual rows, and those marked


def estimate_rows_figure(
    all_rows: EstimateRows, *, title: str | None = None, width: float = SINGLE_COLUMN
) -> Figure:
    """The rows with their legend, around the value of the whole study if there is one."""
    with house_style():
        return _figure(all_rows, title=title, width=width)


def _figure(all_rows: EstimateRows, *, title: str | None, width: float) -> Figure:
    shown, whole = all_rows.shown, all_rows.whole
    row_height = _ROW_HEIGHT if len(shown) <= _DENSE else _DENSE_ROW_HEIGHT
    figure = Figure(figsize=(width, 0.6 + row_height * max(len(shown), 3)), layout="constrained")
    axes = figure.subplots()
    if all_rows.whole_interval is not None:
        axes.axvspan(*all_rows.whole_interval, color=QUIET, alpha=0.18, linewidth=0, gid="whole interval")
    axes.axvline(0.0, color=INK, linewidth=0.7, zorder=1.5, gid="zero")
    if whole is not None:
        axes.axvline(whole, color=QUIET, linewidth=0.9, linestyle=(0, (5, 1.5)), zorder=1.6, gid="whole")
    for place, row in enumerate(shown):
        if row is None:
            axes.annotate(
                all_rows.gap,
                (0.5, place),
                xycoords=("axes fraction", "data"),
                ha="center",
                va="center",
                size=6.5,
                color=QUIET,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.8},
            )
        else:
            ends, colour, marker = (row.low, row.high), *LOOKS[row.marked]
            axes.plot(ends, (place, place), color=colour, linewidth=1.0, solid_capstyle="butt", zorder=3)
            axes.plot([row.value], [place], marker, color=colour, markersize=3.0, zorder=4, gid="value")
    names = ["" if row is None else picture_text(row.name) for row in shown]
    longest = int(NAME_WIDTH * width / SINGLE_COLUMN)
    axes.set_yticks(range(len(shown)), [shortened(name, width=longest) for name in names])
    _frame(axes, shown, dense=len(shown) > _DENSE, x_label=all_rows.x_label)
    drawn = [row for row in shown if row is not None]
    labels = {False: all_rows.usual_label, True: all_rows.marked_label}
    handles = [
        Line2D([], [], color=colour, marker=marker, label=labels[marked])
        for marked, (colour, marker) in LOOKS.items()
        if labels[marked] and any(row.marked is marked for row in drawn)
    ]
    if whole is not None:
        handles.append(
            Line2D([], [], color=QUIET, linewidth=0.9, linestyle=(0, (5, 1.5)), label=all_rows.whole_label)
        )
    if handles or title:
        add_header(figure, title, [handles] if handles else [])
    return figure


def _frame(axes: Axes, shown: Sequence[EstimateRow | None], *, dense: bool, x_label: str) -> None:
    axes.tick_params(axis="y", labelsize=5.8 if dense else 7.0)
    axes.set_ylim(len(shown) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", visible=False)
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    axes.figure.supxlabel(x_label, fontsize=8)

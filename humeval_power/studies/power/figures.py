"""Two decision rules on the same studies: what one of them promises and the other can keep."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from humeval_power.errors import InputError
from humeval_power.safe_text import picture_text
from humeval_power.saying.document import QUANTITIES, Along, AlongStudy, Drawn, DrawnQuantity, known_rows
from humeval_power.saying.figure_style import (
    COLOURS,
    DASHES,
    INK,
    MARKERS,
    QUIET,
    Dashes,
    figure_bytes,
    house_style,
)
from humeval_power.saying.panels import (
    FULL_WIDTH,
    SINGLE_COLUMN,
    Facets,
    PicturePanel,
    add_header,
    choose_facets,
    constants,
    figure_width,
    level_handles,
    levels,
    panel_grid,
    pick,
    positions,
    prepared,
)
from humeval_power.studies.power.result_calibration import QUESTION, calibration_rows
from humeval_power.studies.power.wording import choose_curve_facets, value_words

CLAIM = "card2020"
RULE_WORDS: Mapping[object, str] = {CLAIM: "Card et al. (2020): ML, t > 1.96"}
RULE_COLOURS = (COLOURS[1], COLOURS[0])
RULE_DASHES: tuple[Dashes, ...] = ((0, (4, 1.5)), "-")
_MARKED = 15  # places along x of which a mark for each can be told apart
_LINE: dict[str, Any] = {"markeredgecolor": "white", "markeredgewidth": 0.4, "clip_on": False, "zorder": 3}


def comparison_figure(
    table: pd.DataFrame,
    *,
    title: str | None = None,
    target: float = 0.8,
    width: float | None = None,
    effect_label: str | None = None,
) -> Figure:
    """The surface under two decision rules in the same panels, and the widest gap in each panel.

    Parameters
    ----------
    table : as for `surface_figure`, with several effects and a column `rule` of two values, which are
        the words of the legend ('card2020' is written out). That one, or else the first in the table,
        is drawn dashed, as the claim; the other solid, as what holds. `effect` must mean the same in
        both: the true difference B - A.
    effect_label : what x is, where that is not the difference B - A on [0, 1].

    Raises
    ------
    InputError
        Where there are not two rules, more item counts than markers, or a single effect.
    """
    rules = list(dict.fromkeys(table["rule"])) if "rule" in table.columns else []
    rules.sort(key=lambda rule: rule != CLAIM)
    if len(rules) != 2:
        raise InputError(f"A comparison needs a column 'rule' with two values; got {len(rules)}.")
    with house_style():
        ready = prepared(table)
        facets = choose_facets(ready)
        _check(ready, facets)
        figure, panels = panel_grid(
            ready, facets, width=width or figure_width(ready, facets), target=target
        )
        for panel in panels:
            shown = _of_panel(ready, facets, panel)
            _draw_rules(panel.axes, ready, shown, facets, rules)
            _mark_widest_gap(panel.axes, shown, rules, n_panels=len(panels))
        if effect_label:
            figure.supxlabel(picture_text(effect_label), fontsize=8)
        for_rules, for_items = _handles(ready, rules)
        groups = [for_rules, [*for_items, *level_handles(target)]]
        add_header(figure, title, groups, legend_title=constants(ready, facets))
    return figure


def _of_panel(table: pd.DataFrame, facets: Facets, panel: PicturePanel) -> pd.DataFrame:
    places = {facets.column: panel.column, facets.row: panel.row}
    return pick(table, **{name: value for name, value in places.items() if name is not None})


def _check(table: pd.DataFrame, facets: Facets) -> None:
    n_items = table["items"].nunique()
    if facets.x != "effect":
        raise InputError("A comparison of rules needs several effects; this table has one.")
    if n_items > len(MARKERS):
        raise InputError(
            f"A figure can tell {len(MARKERS)} numbers of items apart; this table has {n_items}."
        )


def _draw_rules(
    axes: Axes, table: pd.DataFrame, shown: pd.DataFrame, facets: Facets, rules: list[object]
) -> None:
    for rule, colour, dashes in zip(rules, RULE_COLOURS, RULE_DASHES, strict=True):
        for style, items in enumerate(levels(table, "items")):
            line = pick(shown, rule=rule, items=items)
            if line.empty:
                continue
            x = positions(table, facets, line)
            low, high = line["power_low"], line["power_high"]
            axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0, gid="band")
            axes.plot(x, line["power"], color=colour, marker=MARKERS[style], linestyle=dashes, **_LINE)


def _mark_widest_gap(axes: Axes, shown: pd.DataFrame, rules: list[object], *, n_panels: int) -> None:
    """An arrow from the first rule's power to the second's where they differ most, with both values."""
    first, second = (shown[shown["rule"] == rule].set_index(["effect", "items"])["power"] for rule in rules)
    gap = (first - second).dropna()
    if gap.empty:
        return
    place: Any = gap.abs().idxmax()
    (effect, items), claimed, kept = place, float(first[place]), float(second[place])
    if math.isclose(claimed, kept, abs_tol=0.05):
        return
    axes.annotate(
        "",
        (effect, kept),
        (effect, claimed),
        arrowprops={
            "arrowstyle": "-|>",
            "color": INK,
            "lw": 1.0,
            "mutation_scale": 7,
            "shrinkA": 3,
            "shrinkB": 3,
        },
        zorder=4,
    )
    if n_panels <= 9:
        left, right = axes.get_xlim()
        in_left_half = shown[shown["effect"] <= left + 0.6 * (right - left)]
        at_left = in_left_half.empty or float(in_left_half["power"].max()) < 0.72
        axes.annotate(
            f"{items:,} items, at {effect:g}:\n{claimed:.2f} → {kept:.2f}",
            (0.03, 0.98) if at_left else (0.98, 0.03),
            xycoords="axes fraction",
            ha="left" if at_left else "right",
            va="top" if at_left else "bottom",
            size=7,
            color=INK,
            bbox={"facecolor": "white", "alpha": 0.85, "edgecolor": "none", "pad": 1.0},
            zorder=5,
        )


def _handles(table: pd.DataFrame, rules: list[object]) -> tuple[list[Line2D], list[Line2D]]:
    named = [RULE_WORDS.get(rule, picture_text(str(rule))) for rule in rules]
    for_rules = [
        Line2D([], [], color=colour, linestyle=dashes, linewidth=1.8, label=words)
        for words, colour, dashes in zip(named, RULE_COLOURS, RULE_DASHES, strict=True)
    ]
    for_items = [
        Line2D([], [], color=QUIET, marker=marker, linestyle="none", label=f"{items:,} items")
        for items, marker in zip(levels(table, "items"), MARKERS, strict=False)
    ]
    return for_rules, for_items


def calibration_figure(table: pd.DataFrame, *, title: str = QUESTION) -> Figure:
    """Rejection rates under no effect: `calibration_rows` as a figure.

    Parameters
    ----------
    table : rows as `studies.power.calibration.calibration_table` gives them, all of one alpha and alternative.
    """
    if table.empty or table[["alpha", "alternative"]].drop_duplicates().shape[0] != 1:
        raise InputError("A figure of calibration shows tests of one alpha and one alternative.")
    return calibration_rows(table.to_dict("records")).chart("calibration", title=title, words="").figure


# The power surface as a picture: small multiples of power against the difference to detect.

__all__ = [
    "FULL_WIDTH",
    "SINGLE_COLUMN",
    "comparison_figure",
    "curve_figure",
    "figure_bytes",
    "surface_figure",
]


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
    ready = prepared(table, QUANTITIES[draw])
    facets = choose_facets(ready, along)
    lines = levels(ready, facets.line)
    if len(lines) > len(COLOURS):
        raise InputError(
            f"A figure can tell {len(COLOURS)} lines apart; this table has {len(lines)}. "
            "Draw a part of the table: fewer numbers of items or of workers, or fewer differences."
        )
    x_label = effect_label if facets.x == "effect" else None
    said = constants(ready, facets)
    return _small_multiples(
        ready, facets, title=title, target=target, width=width, x_label=x_label, draw=draw, said=said
    )


def curve_figure(
    rows: Sequence[Mapping[str, Any]],
    *,
    effect_label: str,
    lists: Sequence[str] = (),
    draw: Drawn = "power",
    along: Along | None = None,
    target: float = 0.8,
    width: float | None = None,
) -> Figure:
    """Power of any scenario (or type M, or type S) against size or effect, a line for each value of the other.

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
    shown = choose_curve_facets(known_rows(rows, draw), lists, along)
    parts = {"row": shown.row, "column": shown.column, "line": shown.line}
    by = {place: name for place, name in parts.items() if name is not None}
    table = pd.DataFrame(known_rows(rows, draw)).sort_values([*by.values(), shown.x], kind="stable")
    for place, name in by.items():
        table[place] = [value_words(name, value) for value in table[name]]
    x = "items" if shown.x == "n" else "effect"
    facets = Facets(x, *(place if place in by else None for place in ("line", "column", "row")))
    return _small_multiples(
        table.rename(columns={"n": "items"}),
        facets,
        target=target,
        width=width,
        x_label="Size n" if shown.x == "n" else effect_label,
        draw=draw,
    )


def _small_multiples(
    table: pd.DataFrame,
    facets: Facets,
    *,
    target: float,
    width: float | None,
    x_label: str | None,
    draw: Drawn,
    title: str | None = None,
    said: str = "",
) -> Figure:
    """Panels with their lines; `said` is the title of the legend: what is the same in all of them."""
    with house_style():
        figure, panels = panel_grid(
            table, facets, width=width or figure_width(table, facets), target=target, draw=draw
        )
        for panel in panels:
            _draw_lines(panel.axes, table, _of_panel(table, facets, panel), facets, QUANTITIES[draw])
        if x_label:
            figure.supxlabel(picture_text(x_label), fontsize=8)
        handles = [*_handles_of_surface_figure(table, facets), *level_handles(target, draw)]
        if handles:
            add_header(figure, title, [handles], legend_title=said)
        else:
            add_header(figure, title or said, [])
    return figure


def _draw_lines(
    axes: Axes, table: pd.DataFrame, shown: pd.DataFrame, facets: Facets, quantity: DrawnQuantity
) -> None:
    is_sparse = table[facets.x].nunique() <= _MARKED
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
        y, colour = line[quantity.column], COLOURS[style]
        marker = MARKERS[style] if is_sparse else None
        axes.plot(x, y, color=colour, marker=marker, linestyle=DASHES[style], **_LINE)


def _draw_points(axes: Axes, x: list[float], line: pd.DataFrame, quantity: DrawnQuantity) -> None:
    if quantity.band is None:
        axes.plot(x, line[quantity.column], "o", color=COLOURS[0], zorder=3)
        return
    below = (line["power"] - line["power_low"]).clip(lower=0)
    above = (line["power_high"] - line["power"]).clip(lower=0)
    axes.errorbar(
        x, line["power"], yerr=[below, above], fmt="o", color=COLOURS[0], capsize=2.5, linewidth=1, zorder=3
    )


def _handles_of_surface_figure(table: pd.DataFrame, facets: Facets) -> list[Line2D]:
    if facets.line is None:
        return []
    words = {"items": "{:,} items", "effect": "difference {:g}"}.get(facets.line, "{}")
    return [
        Line2D([], [], color=colour, marker=marker, linestyle=dashes, label=words.format(level))
        for colour, marker, dashes, level in zip(
            COLOURS, MARKERS, DASHES, levels(table, facets.line), strict=False
        )
    ]

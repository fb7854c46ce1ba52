"""Two decision rules on the same studies: what one of them promises and the other can keep."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from humeval_power.errors import InputError
from humeval_power.reporting.facets import Facets, choose_facets, constants, levels, pick, prepared
from humeval_power.reporting.figure_style import COLOURS, INK, MARKERS, QUIET, Dashes, house_style
from humeval_power.reporting.panels import add_header, figure_width, level_handles, panel_grid, positions
from humeval_power.safe_text import picture_text

CLAIM = "card2020"
RULE_WORDS: Mapping[object, str] = {CLAIM: "Card et al. (2020): ML, t > 1.96"}
RULE_COLOURS = (COLOURS[1], COLOURS[0])
RULE_DASHES: tuple[Dashes, ...] = ((0, (4, 1.5)), "-")


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
            shown = ready if facets.column is None else pick(ready, **{facets.column: panel.column})
            shown = shown if facets.row is None else pick(shown, **{facets.row: panel.row})
            _draw_rules(panel.axes, ready, shown, facets, rules)
            _mark_widest_gap(panel.axes, shown, rules, n_panels=len(panels))
        if effect_label:
            figure.supxlabel(picture_text(effect_label), fontsize=8)
        for_rules, for_items = _handles(ready, rules)
        groups = [for_rules, [*for_items, *level_handles(target)]]
        add_header(figure, title, groups, legend_title=constants(ready, facets))
    return figure


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
            axes.plot(
                x,
                line["power"],
                color=colour,
                marker=MARKERS[style],
                linestyle=dashes,
                markeredgecolor="white",
                markeredgewidth=0.4,
                clip_on=False,
                zorder=3,
            )


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
        at_left = _upper_left_is_free(axes, shown)
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


def _upper_left_is_free(axes: Axes, shown: pd.DataFrame) -> bool:
    """Whether no power above 0.7 is in the left half of the panel: then a note fits there."""
    left, right = axes.get_xlim()
    in_left_half = shown[shown["effect"] <= left + 0.6 * (right - left)]
    return in_left_half.empty or float(in_left_half["power"].max()) < 0.72


def _rule_words(rule: object) -> str:
    return RULE_WORDS.get(rule, picture_text(str(rule)))


def _handles(table: pd.DataFrame, rules: list[object]) -> tuple[list[Line2D], list[Line2D]]:
    for_rules = [
        Line2D(
            [],
            [],
            color=colour,
            linestyle=dashes,
            linewidth=1.8,
            label=_rule_words(rule),
        )
        for rule, colour, dashes in zip(rules, RULE_COLOURS, RULE_DASHES, strict=True)
    ]
    for_items = [
        Line2D([], [], color=QUIET, marker=marker, linestyle="none", label=f"{items:,} items")
        for items, marker in zip(levels(table, "items"), MARKERS, strict=False)
    ]
    return for_rules, for_items

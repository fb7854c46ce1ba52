"""The power surface as a picture, power of any scenario, and two decision rules on the same studies: small
multiples of power against effect or size."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from humeval_power.errors import InputError
from humeval_power.saying.chart import (
    Axis,
    Chart,
    EstimateRow,
    EstimateRows,
    Level,
    Panels,
    Series,
    SeriesKind,
    Upright,
)
from humeval_power.saying.document import (
    NOTHING_WRONG,
    QUANTITIES,
    Along,
    AlongStudy,
    Drawn,
    DrawnQuantity,
    known_rows,
    level_words,
)
from humeval_power.studies.power.result_calibration import QUESTION, calibration_rows
from humeval_power.studies.power.wording import choose_curve_facets, value_words

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
X_LABELS = {"effect": "Difference between the systems, on [0, 1]", "items": "Items"}
CLAIM = "card2020"
RULE_WORDS: Mapping[object, str] = {CLAIM: "Card et al. (2020): ML, t > 1.96"}
_MARKED = 15  # places along x of which a mark for each can be told apart
_MOST = 8  # lines that can be told apart
_MOST_WIDE = 4  # panels beside each other
_MUCH = 5.0  # exaggeration from which on its axis is logarithmic


@dataclass(frozen=True, slots=True)
class Facets:
    """The column of the table that each visual variable shows; None where a variable is not needed."""

    x: str
    line: str | None
    column: str | None
    row: str | None


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
    title : what stands above; by default what is drawn.
    target : the power at which a dashed line is drawn.
    width : inches; by default a text column for one panel and the page's width for more.
    effect_label : what the effects are, where that is not the difference B - A on [0, 1].
    draw : power, or type M or type S, for which the table has the columns `type_m` and `type_s`.
    along : what runs along x where there are several effects: they (the default), or items.
    """
    chart = surface_chart(
        table, title=title, target=target, effect_label=effect_label, draw=draw, along=along
    )
    return chart.drawn(width)


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
    width, title, target, effect_label : as of `surface_figure`.

    Raises
    ------
    InputError
        Where there are not two rules, more item counts than markers, or a single effect.
    """
    chart = comparison_chart(table, title=title, target=target, effect_label=effect_label)
    return chart.drawn(width)


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
    effect_label : what the effects are.
    lists : columns of what is assumed, each of several values: panels.
    draw, target, width : as of `surface_figure`.
    along : what runs along x; by default what has more values, the effect where both have as many.

    Raises
    ------
    InputError
        No rows, nothing of what is to be drawn, or more lines or panels than can be told apart.
    """
    chart = curve_chart(rows, effect_label=effect_label, lists=lists, draw=draw, along=along, target=target)
    return chart.drawn(width)


def calibration_figure(table: pd.DataFrame, *, title: str = QUESTION) -> Figure:
    """Rejection rates under no effect: `calibration_rows` as a figure.

    Parameters
    ----------
    table : rows as `studies.power.calibration.calibration_table` gives them, all of one alpha and alternative.
    """
    if table.empty or table[["alpha", "alternative"]].drop_duplicates().shape[0] != 1:
        raise InputError("A figure of calibration shows tests of one alpha and one alternative.")
    return calibration_rows(table.to_dict("records")).chart("calibration", title=title, words="").figure


def surface_chart(
    table: pd.DataFrame,
    *,
    title: str | None = None,
    target: float = 0.8,
    effect_label: str | None = None,
    draw: Drawn = "power",
    along: AlongStudy | None = None,
    words: str = "",
) -> Chart | Panels:
    """What `surface_figure` draws."""
    if "rule" in table.columns and table["rule"].nunique() > 1:
        return comparison_chart(table, title=title, target=target, effect_label=effect_label, words=words)
    ready = _prepared(table, QUANTITIES[draw])
    facets = _choose_facets(ready, along)
    n_lines = len(_levels(ready, facets.line))
    if n_lines > _MOST:
        raise InputError(
            f"A figure can tell {_MOST} lines apart; this table has {n_lines}. "
            "Draw a part of the table: fewer numbers of items or of workers, or fewer differences."
        )
    what, said = QUANTITIES[draw].words, _constants(ready, facets)
    heading = title or (f"{what}: {said}" if said else what)
    return _lines(
        ready, facets, draw, target, (heading, words), effect_label if facets.x == "effect" else None
    )


def curve_chart(
    rows: Sequence[Mapping[str, Any]],
    *,
    effect_label: str,
    lists: Sequence[str] = (),
    draw: Drawn = "power",
    along: Along | None = None,
    target: float = 0.8,
    words: str = "",
) -> Chart | Panels:
    """What `curve_figure` draws."""
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
    x_label = "Size n" if shown.x == "n" else effect_label
    titles = (QUANTITIES[draw].words, words)
    return _lines(table.rename(columns={"n": "items"}), facets, draw, target, titles, x_label)


def comparison_chart(
    table: pd.DataFrame,
    *,
    title: str | None = None,
    target: float = 0.8,
    effect_label: str | None = None,
    words: str = "",
) -> Chart | Panels:
    """What `comparison_figure` draws."""
    rules = list(dict.fromkeys(table["rule"])) if "rule" in table.columns else []
    rules.sort(key=lambda rule: rule != CLAIM)
    if len(rules) != 2:
        raise InputError(f"A comparison needs a column 'rule' with two values; got {len(rules)}.")
    ready = _prepared(table)
    facets = _choose_facets(ready)
    n_items = ready["items"].nunique()
    if facets.x != "effect":
        raise InputError("A comparison of rules needs several effects; this table has one.")
    if n_items > _MOST:
        raise InputError(f"A figure can tell {_MOST} numbers of items apart; this table has {n_items}.")

    def series_of(shown: pd.DataFrame) -> Iterable[Series]:
        bands, lines, points, samples = [], [], [], []
        for rule, colour in zip(rules, (1, 0), strict=True):
            name = RULE_WORDS.get(rule, str(rule))
            for marker, items in enumerate(_levels(ready, "items")):
                of = _pick(shown, rule=rule, items=items)
                if of.empty:
                    continue
                x, y = tuple(map(float, of["effect"])), tuple(of["power"])
                low, high = tuple(of["power_low"]), tuple(of["power_high"])
                bands.append(Series("band", "", x, low=low, high=high, colour=colour))
                lines.append(Series("line", name, x, y, colour=colour))
                points.append(Series("points", "", x, y, colour=colour, marker=marker))
                # what the legend shows of a number of items lies below the points of both rules
                samples.append(Series("points", f"{items:,} items", x, y, colour=7, marker=marker))
        gap = _widest_gap(shown, rules)
        arrow = [] if gap is None else [Series("line", "widest gap", (gap[0],) * 2, gap[2:], colour=6)]
        return (*bands, *lines, *arrow, *samples, *points)

    def gap_words(shown: pd.DataFrame) -> str:
        gap = _widest_gap(shown, rules)
        return "" if gap is None else f"{gap[1]:,} items, at {gap[0]:g}: {gap[2]:.2f} → {gap[3]:.2f}"

    said = _constants(ready, facets)
    heading = title or f"Power under two rules{f': {said}' if said else ''}"
    axes = (_x_axis(ready, facets, effect_label), Axis(QUANTITIES["power"].label, 0.0, 1.0))
    marks = (Level(level_words("power", target), target),)
    return _panels(ready, facets, axes, series_of, marks, (heading, words), gap_words)


def _widest_gap(shown: pd.DataFrame, rules: Sequence[object]) -> tuple[float, int, float, float] | None:
    """Effect, items, and the power under both rules where they differ most; None where that is next to nothing."""
    first, second = (shown[shown["rule"] == rule].set_index(["effect", "items"])["power"] for rule in rules)
    gap = (first - second).dropna()
    if gap.empty:
        return None
    place: Any = gap.abs().idxmax()
    claimed, kept = float(first[place]), float(second[place])
    return None if math.isclose(claimed, kept, abs_tol=0.05) else (float(place[0]), place[1], claimed, kept)


def _lines(
    table: pd.DataFrame,
    facets: Facets,
    draw: Drawn,
    target: float,
    titles: tuple[str, str],
    x_label: str | None,
) -> Chart | Panels:
    """Panels with a line for each level, or, where x has no numbers, with a row for each."""
    quantity, level = QUANTITIES[draw], level_words(draw, target)
    at = target if draw == "power" else 1.0
    y = _quantity_axis(quantity, draw, [float(value) for value in table[quantity.column]])
    if facets.x not in ("effect", "items"):
        return _row_chart(table, facets, quantity, titles, (Upright(level, at),) if level else (), y)
    kind: SeriesKind = "marked" if table[facets.x].nunique() <= _MARKED else "line"
    named = {"items": "{:,} items", "effect": "difference {:g}"}.get(facets.line or "", "{}")

    def series_of(shown: pd.DataFrame) -> Iterable[Series]:
        bands, lines = [], []
        for colour, value in enumerate(_levels(table, facets.line)):
            line = shown if facets.line is None else _pick(shown, **{facets.line: value})
            if line.empty:
                continue
            x, drawn = tuple(map(float, line[facets.x])), tuple(map(float, line[quantity.column]))
            ends: dict[str, Any] = {}
            if quantity.band is not None:
                low, high = (line[name] for name in quantity.band)
                ends = {"low": tuple(low), "high": tuple(high)}
            if facets.line is None:
                lines.append(Series("points", quantity.label, x, drawn, **ends))
                continue
            if ends:
                bands.append(Series("band", "", x, colour=colour, **ends))
            lines.append(Series(kind, named.format(value), x, drawn, colour=colour))
        return (*bands, *lines)

    axes = (_x_axis(table, facets, x_label), y)
    return _panels(table, facets, axes, series_of, (Level(level, at),) if level else (), titles)


def _panels(
    table: pd.DataFrame,
    facets: Facets,
    axes: tuple[Axis, Axis],
    series_of: Callable[[pd.DataFrame], Iterable[Series]],
    marks: tuple[Level, ...],
    titles: tuple[str, str],
    caption_of: Callable[[pd.DataFrame], str] | None = None,
) -> Chart | Panels:
    """A chart for each level of column and row that the table has; one alone has the title itself."""
    title, words = titles
    charts = []
    for row in _levels(table, facets.row):
        for column in _levels(table, facets.column):
            of = {facets.column: column, facets.row: row}
            shown = _pick(table, **{name: value for name, value in of.items() if name is not None})
            if shown.empty:
                continue
            name = ", ".join(str(each) for each in (column, row) if each is not None)
            series, caption = tuple(series_of(shown)), caption_of(shown) if caption_of else ""
            charts.append(Chart("surface", name or title, words, *axes, series, marks, caption))
    if len(charts) == 1 and not charts[0].caption:
        return charts[0]
    n_columns = len(_levels(table, facets.column))
    n_wide = (
        n_columns if n_columns <= _MOST_WIDE else math.ceil(n_columns / math.ceil(n_columns / _MOST_WIDE))
    )
    return Panels("surface", title, words, tuple(charts), n_wide)


def _row_chart(
    table: pd.DataFrame,
    facets: Facets,
    quantity: DrawnQuantity,
    titles: tuple[str, str],
    marks: tuple[Upright, ...],
    axis: Axis,
) -> Chart:
    """A row for each number of workers, or setting, with the interval."""

    def row_of(cell: Mapping[Any, Any]) -> EstimateRow:
        low, high = (float(cell[name]) for name in quantity.band) if quantity.band else (math.nan, math.nan)
        name = f"{cell[facets.x]}, {cell[facets.column]}" if facets.column else str(cell[facets.x])
        return EstimateRow(name, float(cell[quantity.column]), low, high)

    rows = EstimateRows(
        tuple(row_of(cell) for cell in table.to_dict("records")),
        "",
        quantity.label,
        null=None,
        is_ordered=False,
    )
    title, words = titles
    chart = rows.chart("surface", title=title, words=words)
    return Chart(chart.name, title, words, axis, chart.y, chart.series, marks, numbers=chart.numbers)


def _quantity_axis(quantity: DrawnQuantity, draw: Drawn, values: Sequence[float]) -> Axis:
    """The axis of what is drawn."""
    most = max(values)
    if draw == "power":
        return Axis(quantity.label, 0.0, 1.0)
    if draw == "type-s":
        return Axis(quantity.label, 0.0, min(max(1.08 * most, 0.01), 1.0))
    if most <= _MUCH:
        return Axis(quantity.label, 1.0, max(1.05 * most, 1.5))
    return Axis(quantity.label, 0.95, 1.3 * most, is_log=True)


def _x_axis(table: pd.DataFrame, facets: Facets, label: str | None) -> Axis:
    """Effects or sizes as they are; sizes on a logarithmic axis where they span much."""
    values = sorted({float(value) for value in table[facets.x]})
    low, high = values[0], values[-1]
    title = label or X_LABELS[facets.x]
    if facets.x == "effect":
        edge = 0.06 * (high - low or 1.0)
        places = tuple((value, f"{value:g}") for value in values) if len(values) <= _MOST else None
        return Axis(title, low - edge, high + edge, places=places)
    places = tuple((value, f"{value:,.0f}") for value in values)
    if high >= 5 * low > 0:
        edge = (high / low) ** 0.08
        return Axis(title, low / edge, high * edge, is_log=True, places=places)
    edge = 0.08 * (high - low or 1.0)
    return Axis(title, low - edge, high + edge, places=places)


# How a table of power becomes small multiples: what runs along x, what is a line, what is a panel.


def _prepared(table: pd.DataFrame, quantity: DrawnQuantity = QUANTITIES["power"]) -> pd.DataFrame:
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


def _choose_facets(table: pd.DataFrame, along: AlongStudy | None = None) -> Facets:
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
    return Facets(CREW, None, column, None) if varies[CREW] else Facets("setting", None, None, None)


def _levels(table: pd.DataFrame, name: str | None) -> list[Any]:
    """The different values of a column in the order of the table; items in rising order."""
    if name is None:
        return [None]
    values = list(dict.fromkeys(table[name].tolist()))
    return sorted(values) if name in ("items", "effect") else values


def _pick(table: pd.DataFrame, **wanted: object) -> pd.DataFrame:
    """The rows in which each named column has the wanted value; None asks for nothing."""
    for name, value in wanted.items():
        if value is not None:
            table = table[table[name] == value]
    return table


def _constants(table: pd.DataFrame, facets: Facets) -> str:
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


def _crews(table: pd.DataFrame) -> list[str]:
    """'10 workers' where everyone rates everything (k = workers), else '10 workers, 3 per item'."""
    return [
        f"{workers:,} workers" + ("" if workers == per_item else f", {per_item:g} per item")
        for workers, per_item in zip(table["workers"], table["ratings_per_item"], strict=True)
    ]

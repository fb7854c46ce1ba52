"""Pictures of an analysis: means and groups, the map of comparisons, ratings at the ends, residuals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from humeval_power.checking.columns import shortened
from humeval_power.errors import InputError
from humeval_power.ratings import Ratings
from humeval_power.safe_text import picture_text
from humeval_power.saying.figure_style import COLOURS, GRID, INK, MARKERS, QUIET, house_style
from humeval_power.saying.numbers import level_of, p_words, percent, with_minus
from humeval_power.saying.panels import SINGLE_COLUMN, add_header
from humeval_power.studies.analyze.diagnostics import JointPredictions, Predictions
from humeval_power.studies.analyze.family import ShownPair, Unit, family_words, shown_pairs
from humeval_power.studies.analyze.findings import CriterionFindings, Finding, chance_cell, rank_words
from humeval_power.studies.analyze.result_diagnostics import residual_sentence
from humeval_power.studies.fit.many_systems import SystemsAnalysis

_ROW, _NAME = 0.2, 24  # inches, characters
_SCALE_WIDTH, _GROUP_WIDTH, _RANK_WIDTH, _BEST_WIDTH = 2.3, 0.1, 0.55, 0.5  # inches
_MOST_WIDE = 2  # panels beside each other


def ranking_figure(findings: Sequence[CriterionFindings]) -> Figure:
    """A panel for each criterion, its rows in the order of the table.

    A row has the mean with its interval. Beside it a line connects the systems of each group that tests do not
    tell apart, a dot for each of them; then come the ranks that the tests leave, and the simulated chance of
    being best.
    """
    names = list(dict.fromkeys(one.system for each in findings for one in each.rows))
    n_wide = min(len(findings), _MOST_WIDE)
    n_deep = math.ceil(len(findings) / n_wide)
    most_groups = max(len(each.letters) for each in findings)
    beside = _GROUP_WIDTH * most_groups + 0.1 if most_groups else 0.0  # inches
    beside += _RANK_WIDTH if any(each.has_ranks for each in findings) else 0.0
    beside += _BEST_WIDTH if any(each.n_draws for each in findings) else 0.0
    longest = max(len(_short(name)) for name in names)
    with house_style():
        width = 0.085 * longest + n_wide * (_SCALE_WIDTH + beside + 0.15)
        height = n_deep * (_ROW * max(len(names), 3) + 0.72) + 0.1
        figure = Figure(figsize=(width, height), layout="constrained")
        grid = figure.subplots(
            n_deep, 2 * n_wide, squeeze=False, width_ratios=[_SCALE_WIDTH, max(beside, 0.01)] * n_wide
        )
        for place in range(n_wide * n_deep):
            deep, across = divmod(place, n_wide)
            axes, side = grid[deep, 2 * across], grid[deep, 2 * across + 1]
            side.set_axis_off()
            if place >= len(findings):
                axes.set_axis_off()
                continue
            _draw_means(axes, findings[place], names, with_names=across == 0)
            _draw_beside(side, findings[place], names, width=beside, most_groups=most_groups)
    return figure


def _draw_means(axes: Axes, findings: CriterionFindings, names: Sequence[str], *, with_names: bool) -> None:
    for one in findings.rows:
        place = names.index(one.system)
        if one.low is not None and one.high is not None:
            look = {"color": COLOURS[0], "linewidth": 1.2, "solid_capstyle": "butt", "gid": "interval"}
            axes.plot([one.low, one.high], [place, place], **look)  # type: ignore[arg-type]
        axes.plot([one.mean], [place], "o", color=COLOURS[0], markersize=3.8, zorder=4, gid="mean")
    shown = [_short(name) for name in names] if with_names else [""] * len(names)
    axes.set_yticks(range(len(names)), shown)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
    if not findings.unit.scale.higher_is_better:
        axes.invert_xaxis()
    if findings.criterion:
        axes.set_title(shortened(picture_text(findings.criterion), width=32), weight="bold", loc="left")
    interval = f", {level_of(1 - findings.alpha)} interval" if findings.has_intervals else ""
    axes.set_xlabel(f"Mean{interval}\n{findings.unit.words}", fontsize=7)


def _draw_beside(
    side: Axes, findings: CriterionFindings, names: Sequence[str], *, width: float, most_groups: int
) -> None:
    """Groups, ranks and chances; x in inches."""
    side.set_xlim(0, max(width, 0.01))
    side.set_ylim(len(names) - 0.4, -0.6)
    x = 0.05
    if findings.letters:
        _head(side, x, "group", width=_GROUP_WIDTH * most_groups)
        for number, group in enumerate(findings.letters):
            places = sorted(names.index(name) for name in group)
            at = x + _GROUP_WIDTH * (number + 0.5)
            colour = COLOURS[number % 2]
            side.plot([at, at], [places[0], places[-1]], color=colour, linewidth=1.4, gid="group")
            side.plot([at] * len(places), places, "os"[number % 2], color=colour, markersize=3.0)
    if most_groups:
        x += _GROUP_WIDTH * most_groups + 0.1
    if findings.has_ranks:
        _column(side, x, "rank", findings, names, lambda one: rank_words(one.rank_low, one.rank_high))
        x += _RANK_WIDTH
    if findings.n_draws:
        _column(side, x, "P(best)", findings, names, _chance)


def _chance(one: Finding) -> str:
    return "" if one.best is None else chance_cell(one.best)


def _head(side: Axes, x: float, words: str, *, width: float = 0.0) -> None:
    side.text(
        x + width / 2, -0.65, words, ha="center" if width else "left", va="bottom", size=6.5, color=QUIET
    )


def _column(
    side: Axes,
    x: float,
    words: str,
    findings: CriterionFindings,
    names: Sequence[str],
    cell: Callable[[Finding], str],
) -> None:
    _head(side, x, words)
    for one in findings.rows:
        side.text(x, names.index(one.system), cell(one), ha="left", va="center", size=6.8, color=INK)


def _short(name: str) -> str:
    return shortened(picture_text(name), width=_NAME)


# Comparisons of several systems as a map: differences and corrected p-values in one picture.

# One hue from light to dark, told apart in grey and by any colour vision; the darkest is the smallest p.
_SHADES = ("#FFFFFF", "#C6DBEF", "#6BAED6", "#08519C")
_LEVELS = (0.001, 0.01)
_CELL, _CELL_OF_BASELINE = 0.62, 0.42  # inches; a single column may be less tall than wide
_LONGEST = 24  # characters of a system's name


def heat_map_figure(
    analysis: SystemsAnalysis, unit: Unit, order: Sequence[str], *, criterion: str | None = None
) -> tuple[Figure, str]:
    """The figure, and a sentence that says what it shows.

    Systems stand in `order`, as in the table. A cell holds the difference column - row, as the table has it, and
    its corrected p-value; the smaller that is, the darker the cell. Against a baseline there is one column, and
    the difference is row - column: system - baseline.
    """
    alpha, baseline = analysis.results[0].test.rule.alpha, analysis.family.baseline
    pairs = shown_pairs(analysis, unit, order)
    if baseline is None:
        columns = [name for name in order if any(one.left == name for one in pairs)]
        rows = [name for name in order if any(one.right == name for one in pairs)]
        of, tall = "column - row", _CELL
    else:
        columns, rows = [baseline], [name for name in order if name != baseline]
        of, tall = "row - column", _CELL_OF_BASELINE
    with house_style():
        longest_row, longest_column = (max(len(_cut(name)) for name in part) for part in (rows, columns))
        width = _CELL * len(columns) + 0.085 * longest_row + 0.6
        height = tall * len(rows) + 0.075 * longest_column + 1.1
        figure = Figure(figsize=(max(width, 3.6), height), layout="constrained")
        axes = figure.add_subplot()
        for one in pairs:
            column, row = (one.left, one.right) if baseline is None else (one.right, one.left)
            _draw_cell(axes, (columns.index(column), rows.index(row)), one, unit, alpha)
        _frame(axes, rows, columns)
        axes.set_aspect(tall / _CELL)
        corrected = "corrected p" if analysis.tests.is_corrected else "p"
        _legend(figure, alpha, title=corrected)
        title = f"Difference {of} {unit.words}, and {corrected}"
        text = f"{_cut(criterion)}: {title}" if criterion else title
        figure.suptitle(text, fontsize=8, color=INK, wrap=True)
    n, apart = len(analysis.results), sum(one.significant for one in analysis.results)
    how = family_words(analysis.tests)
    said = f"{apart} of {n} comparisons are significant {how}; darker cells have smaller p-values."
    return figure, f"Heat map: {said}"


def _draw_cell(axes: Axes, place: tuple[int, int], one: ShownPair, unit: Unit, alpha: float) -> None:
    level = _level(one.corrected_p, alpha)
    x, y = place
    axes.add_patch(
        Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=_SHADES[level], edgecolor=GRID, linewidth=0.8)
    )
    colour = "white" if level == 3 else INK
    axes.text(
        x,
        y - 0.14,
        with_minus(unit.shown(one.estimate, signed=True)),
        ha="center",
        va="center",
        size=7,
        color=colour,
        weight="bold" if one.significant else "normal",
    )
    axes.text(x, y + 0.2, p_words(one.corrected_p), ha="center", va="center", size=6, color=colour)


def _level(p: float, alpha: float) -> int:
    """0 not significant, up to 3 for p below 0.001; a smaller alpha leaves lighter shades out."""
    if not p <= alpha:
        return 0
    return 3 if p < _LEVELS[0] else 2 if p < _LEVELS[1] else 1


def _frame(axes: Axes, rows: Sequence[str], columns: Sequence[str]) -> None:
    axes.set_xlim(-0.5, len(columns) - 0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(False)
    for side in axes.spines.values():
        side.set_visible(False)
    upright = len(columns) > 1 and max(map(len, columns)) > 9
    axes.set_xticks(range(len(columns)), [_cut(name) for name in columns], rotation=90 if upright else 0)
    axes.set_yticks(range(len(rows)), [_cut(name) for name in rows])
    axes.tick_params(length=0)


def _cut(name: str) -> str:
    line = picture_text(name)
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def _legend(figure: Figure, alpha: float, *, title: str) -> None:
    shown = [(f"p > {alpha:g}", 0)]
    upper = alpha
    for level, bound in ((1, _LEVELS[1]), (2, _LEVELS[0]), (3, 0.0)):
        if bound < upper:
            shown.append((f"p ≤ {upper:g}" if upper == alpha else f"p < {upper:g}", level))
            upper = bound
    handles = [
        Patch(facecolor=_SHADES[level], edgecolor=QUIET, linewidth=0.5, label=label)
        for label, level in shown
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, fontsize=6.5, title=title)


# How many ratings lie at the ends of the scale, as a picture and a sentence.

Floats = NDArray[np.float64]
Told = tuple[Figure, str]  # a figure and the sentence that it says

_AT_END = 1e-9  # closer to the end of the scale than any rating that is not there
MOST_SYSTEMS = 25
_CROWDED = 0.2  # share at an end from which the sentence warns


def ceiling_figure(ratings: Ratings, *, title: str | None = None, width: float = SINGLE_COLUMN) -> Told:
    """Shares of each system's ratings at the best and at the worst end of the scale, and the sentence."""
    best, worst = end_shares(ratings)
    order = np.argsort(-best, kind="stable")
    if len(order) > MOST_SYSTEMS:
        raise InputError(f"A figure shows up to {MOST_SYSTEMS} systems; there are {len(order)}.")
    names = [shortened(picture_text(ratings.system_names[code]), width=24) for code in order]
    with house_style():
        figure = Figure(figsize=(width, 0.55 + 0.3 * max(len(order), 2)), layout="constrained")
        axes = figure.subplots()
        places = np.arange(len(order), dtype=np.float64)
        _bars(axes, best[order], places - 0.19, colour=COLOURS[0], hatch=None)
        _bars(axes, worst[order], places + 0.19, colour=COLOURS[1], hatch="////")
        axes.set_yticks(range(len(order)), names)
        axes.set_ylim(len(order) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="y", visible=False)
        axes.set_xlim(0, 1.2 * max(float(best.max()), float(worst.max()), 0.05))
        axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        axes.xaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %" if share <= 1 else "")
        figure.supxlabel("Share of the system's ratings", fontsize=8)
        look = {"linestyle": "", "marker": "s", "markersize": 6}
        worst_look = {"color": COLOURS[1], "markerfacecolor": "white", **look}
        handles = [
            Line2D([], [], color=COLOURS[0], label="at the best end", **look),  # type: ignore[arg-type]
            Line2D([], [], label="at the worst end", **worst_look),  # type: ignore[arg-type]
        ]
        add_header(figure, title, [handles])
    return figure, ceiling_words(ratings)


def _bars(axes: Axes, share: Floats, places: Floats, *, colour: str, hatch: str | None) -> None:
    fill = colour if hatch is None else "white"
    axes.barh(places, share, height=0.36, color=fill, edgecolor=colour, hatch=hatch, linewidth=0.7)
    for place, value in zip(places, share, strict=True):
        axes.annotate(
            percent(float(value)),
            (value, place),
            xytext=(2.5, 0),
            textcoords="offset points",
            va="center",
            size=6.5,
            color=INK,
        )


def end_shares(ratings: Ratings) -> tuple[Floats, Floats]:
    """Shares of each system's ratings at the best and at the worst end of the scale, (n_systems,)."""
    count = np.bincount(ratings.system, minlength=ratings.n_systems)
    best = np.bincount(ratings.system, ratings.rating > 1 - _AT_END, ratings.n_systems) / count
    worst = np.bincount(ratings.system, ratings.rating < _AT_END, ratings.n_systems) / count
    return best, worst


def ceiling_words(ratings: Ratings) -> str:
    """The sentence: how many ratings of a system lie at an end, at most."""
    best, worst = end_shares(ratings)
    ends = ((best, "best"), (worst, "worst"))
    share, end = max(ends, key=lambda pair: float(pair[0].max()))
    code = int(np.argmax(share))
    where = "seen in the data" if ratings.scale.source == "inferred" else "of the scale"
    words = f"At most {percent(float(share[code]))} of a system's ratings lie at an end {where}"
    if share[code] > 0:
        words += f" (the {end} end, {ratings.system_names[code]})"
    if share[code] < _CROWDED:
        return f"{words}."
    return f"{words}; differences between systems look smaller there, and residuals do too."


# Residuals of an analysis as a picture, with the one sentence that it says.

_MOST_TOLD_APART = 2  # systems whose points have colours of their own


def residual_figure(
    predictions: Predictions | JointPredictions,
    ratings: Ratings,
    *,
    title: str | None = None,
    width: float = SINGLE_COLUMN,
) -> Told:
    """Residuals against fitted values with the SD of each tenth of them, and the sentence.

    Predictions are drawn towards the average, so residuals rise a little with fitted values even where
    the model is right: the picture is about their spread.
    """
    fitted, residual = predictions.fitted, predictions.residual
    with house_style():
        figure = Figure(figsize=(width, 0.78 * width), layout="constrained")
        axes = figure.subplots()
        axes.axhline(0.0, color=INK, linewidth=0.7, zorder=1.5)
        if ratings.n_systems > _MOST_TOLD_APART:
            handles = [_scatter(axes, fitted, residual, 0, "a rating")]
        else:
            handles = [
                _scatter(axes, fitted[chosen], residual[chosen], system, name)
                for system, name in enumerate(ratings.system_names)
                for chosen in [ratings.system == system]
            ]
        parts = np.array_split(np.argsort(fitted, kind="stable"), min(10, len(fitted)))
        middle = np.array([fitted[part].mean() for part in parts])
        spread = np.array([residual[part].std() for part in parts])
        for sign in (-1, 1):
            axes.plot(middle, sign * spread, color=INK, marker=".", markersize=4, linewidth=1, zorder=4)
        handles.append(Line2D([], [], color=INK, marker=".", label="SD of each tenth"))
        axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
        axes.set_xlabel("Fitted rating on [0, 1]")
        axes.set_ylabel("Residual")
        add_header(figure, title, [handles])
    return figure, residual_sentence(predictions)


def _scatter(axes: Axes, fitted: Floats, residual: Floats, system: int, name: str) -> Line2D:
    strength = float(np.clip(60 / np.sqrt(len(fitted) + 1), 0.06, 0.55))
    look = {"marker": MARKERS[system], "color": COLOURS[system], "linestyle": "", "markersize": 2.2}
    # points as a picture inside vector files: tens of thousands of outlines open slowly
    axes.plot(fitted, residual, alpha=strength, markeredgewidth=0, rasterized=True, **look)  # type: ignore[arg-type]
    return Line2D([], [], label=shortened(picture_text(name), width=24), **look)  # type: ignore[arg-type]

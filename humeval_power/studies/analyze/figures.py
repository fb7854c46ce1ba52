"""Pictures of an analysis: means and groups, the map of comparisons, ratings at the ends, residuals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from humeval_power.errors import InputError
from humeval_power.ratings import Ratings
from humeval_power.saying.chart import (
    Axis,
    Chart,
    EstimateRow,
    EstimateRows,
    LaterChart,
    Level,
    Panels,
    Series,
)
from humeval_power.saying.document import Table
from humeval_power.saying.numbers import level_of, p_cell, percent, with_minus
from humeval_power.studies.analyze.diagnostics import JointPredictions, Predictions
from humeval_power.studies.analyze.family import ShownPair, Unit, family_words, shown_pairs
from humeval_power.studies.analyze.findings import CriterionFindings, Finding, chance_cell, rank_words
from humeval_power.studies.fit.many_systems import SystemsAnalysis

Floats = NDArray[np.float64]


def ranking_chart(
    findings: Sequence[CriterionFindings], *, name: str = "ranking", words: str = ""
) -> Panels:
    """A panel for each criterion, its rows in the order of the table.

    A row has the mean with its interval. Beside it stand the letters of the groups that tests do not tell apart,
    the ranks that the tests leave, and the simulated chance of being best.
    """
    systems = list(dict.fromkeys(one.system for each in findings for one in each.rows))
    charts = tuple(_means_chart(each, systems, name, words) for each in findings)
    return Panels(name, "Which systems are better?", words, charts, 1)


def _means_chart(findings: CriterionFindings, systems: Sequence[str], name: str, words: str) -> Chart:
    of = {one.system: one for one in findings.rows}
    rows = tuple(_row(each, of.get(each)) for each in systems)
    interval = f" and {level_of(1 - findings.alpha)} interval" if findings.has_intervals else ""
    label = f"Mean{interval}, {findings.unit.words}"
    chart = EstimateRows(rows, "systems", label, null=None, is_ordered=False).chart(
        name, title=findings.criterion or "", words=words
    )
    columns = []
    if findings.letters:
        columns.append(("group", [(one.groups or "-") if one else "" for one in map(of.get, systems)]))
    if findings.has_ranks:
        ranks = [rank_words(one.rank_low, one.rank_high) if one else "" for one in map(of.get, systems)]
        columns.append(("rank", ranks))
    if findings.n_draws:
        chances = [
            "" if one is None or one.best is None else chance_cell(one.best) for one in map(of.get, systems)
        ]
        columns.append(("P(best)", chances))
    return replace(
        chart,
        x=replace(chart.x, is_reversed=not findings.unit.scale.higher_is_better),
        columns=tuple((head, tuple(cells)) for head, cells in columns),
    )


def _row(name: str, one: Finding | None) -> EstimateRow:
    if one is None:
        return EstimateRow(name, math.nan)
    if one.low is None or one.high is None:
        return EstimateRow(name, one.mean)
    return EstimateRow(name, one.mean, one.low, one.high)


# Comparisons of several systems as a map: differences and corrected p-values in one picture.

_STRENGTHS = (0.25, 0.55, 1.0)  # of the colour, the smaller p the more
_FAINT = 0.08  # of what is not significant
_LEVELS = (0.001, 0.01)


def heat_map_chart(
    analysis: SystemsAnalysis, unit: Unit, order: Sequence[str], *, criterion: str | None = None
) -> Chart:
    """Systems stand in `order`, as in the table. A cell holds the difference column - row, as the table has it, and
    its corrected p-value; the smaller that is, the darker the cell. Against a baseline there is one column, and
    the difference is row - column: system - baseline.
    """
    alpha, baseline = analysis.results[0].test.rule.alpha, analysis.family.baseline
    pairs = shown_pairs(analysis, unit, order)
    rows = [name for name in order if name != baseline]
    place = {name: number for number, name in enumerate(rows)}
    cells: dict[int, list[tuple[int, int, ShownPair]]] = {}
    for one in pairs:
        at = (place[one.right], place[one.left]) if baseline is None else (place[one.left], 0)
        cells.setdefault(_level(one.corrected_p, alpha), []).append((*at, one))
    if baseline is None:
        names = tuple(f"{number}\N{NO-BREAK SPACE}{name}" for number, name in enumerate(rows, 1))
        places = tuple((float(number), f"{number}") for number in range(1, len(rows) + 1))
        x = Axis("Column: number of the system", 0.5, len(rows) + 0.5, places=places)
    else:
        names, x = tuple(rows), Axis("", 0.5, 1.5, places=((1.0, baseline),))
    corrected = "corrected p" if analysis.tests.is_corrected else "p"
    title = (
        f"Difference {'column - row' if baseline is None else 'row - column'} {unit.words}, and {corrected}"
    )
    n, apart = len(analysis.results), sum(one.significant for one in analysis.results)
    how = family_words(analysis.tests)
    words = f"{apart} of {n} comparisons are significant {how}; darker cells have smaller p-values."
    return Chart(
        "heat_map",
        f"{criterion}: {title}" if criterion else title,
        f"Heat map: {words}",
        x,
        Axis("", 0, len(rows), names=names),
        tuple(
            _cells(level, cells[level], _level_words(level, alpha, corrected), unit)
            for level in sorted(cells, reverse=True)
        ),
    )


def _cells(level: int, of: list[tuple[int, int, ShownPair]], label: str, unit: Unit) -> Series:
    """The cells of a level, with differences and p-values."""
    texts = tuple(
        f"{with_minus(unit.shown(one.estimate, signed=True))}\n{p_cell(one.corrected_p)}" for *_, one in of
    )
    return Series(
        "cells",
        label,
        y=tuple(float(row) for row, *_ in of),
        low=tuple(column + 0.5 for _, column, _ in of),
        high=tuple(column + 1.5 for _, column, _ in of),
        colour=0 if level else 7,
        strength=_STRENGTHS[level - 1] if level else _FAINT,
        texts=texts,
    )


def _level(p: float, alpha: float) -> int:
    """0 not significant, up to 3 for p below 0.001; a smaller alpha leaves lighter shades out."""
    if not p <= alpha:
        return 0
    return 3 if p < _LEVELS[0] else 2 if p < _LEVELS[1] else 1


def _level_words(level: int, alpha: float, what: str) -> str:
    if not level:
        return f"{what} > {alpha:g}"
    upper = min(alpha, (alpha, _LEVELS[1], _LEVELS[0])[level - 1])
    return f"{what} {'≤' if upper == alpha else '<'} {upper:g}"


# How many ratings lie at the ends of the scale, as a picture and a sentence.

_AT_END = 1e-9  # closer to the end of the scale than any rating that is not there
MOST_SYSTEMS = 25
_CROWDED = 0.2  # share at an end from which the sentence warns


def ceiling_chart(ratings: Ratings) -> Chart:
    """Shares of each system's ratings at the best and at the worst end of the scale."""
    best, worst = end_shares(ratings)
    order = np.argsort(-best, kind="stable")
    if len(order) > MOST_SYSTEMS:
        raise InputError(f"A figure shows up to {MOST_SYSTEMS} systems; there are {len(order)}.")
    names = tuple(ratings.system_names[code] for code in order)
    rows = tuple(map(float, range(len(order))))
    ends = (("at the best end", best[order], 0), ("at the worst end", worst[order], 1))
    most = min(1.1 * max(float(best.max()), float(worst.max()), 0.05), 1.0)
    return Chart(
        "ceiling",
        "How many ratings lie at an end?",
        "The share of each system's ratings at the best and at the worst end of the scale.",
        Axis("Share of the system's ratings", 0, 100 * most, "%"),
        Axis("", 0, len(order), names=names),
        tuple(
            Series("points", label, tuple((100 * shares).tolist()), rows, colour=colour)
            for label, shares, colour in ends
        ),
        columns=tuple(
            (label.split()[2], tuple(percent(float(share)) for share in shares))
            for label, shares, _ in ends
        ),
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


# Residuals of an analysis as a picture.

_MOST_APART = 2  # systems whose points have colours of their own


RESIDUALS = "Residuals against fitted ratings, with the SD of each tenth."


def later_residuals(predictions: Predictions | JointPredictions, ratings: Ratings) -> LaterChart:
    """The chart of residuals, which is made where it is shown."""
    return LaterChart("residuals", lambda: residual_chart(predictions, ratings), words=RESIDUALS)


def residual_chart(predictions: Predictions | JointPredictions, ratings: Ratings) -> Chart:
    """Residuals against fitted values with the SD of each tenth of them.

    Predictions are drawn towards the average, so residuals rise a little with fitted values even where
    the model is right: the picture is about their spread.
    """
    fitted, residual = predictions.fitted, predictions.residual
    strength = float(np.clip(60 / np.sqrt(len(fitted) + 1), 0.06, 0.55))
    clouds = [("a rating", np.ones(len(fitted), dtype=bool))]
    if ratings.n_systems <= _MOST_APART:
        clouds = [(name, ratings.system == code) for code, name in enumerate(ratings.system_names)]
    parts = np.array_split(np.argsort(fitted, kind="stable"), min(10, len(fitted)))
    middle = tuple(float(fitted[part].mean()) for part in parts)
    spread = tuple(float(residual[part].std()) for part in parts)
    points = (
        Series(
            "points",
            name,
            tuple(fitted[of].tolist()),
            tuple(residual[of].tolist()),
            colour=code,
            strength=strength,
        )
        for code, (name, of) in enumerate(clouds)
    )
    lines = (
        Series(
            "marked", "SD of each tenth", middle, tuple(sign * each for each in spread), colour=6, marker=0
        )
        for sign in (-1, 1)
    )
    numbers = (
        (f"{part.mean():.3f}", f"{each:.3f}", f"{len(of):,}")
        for part, each, of in zip((fitted[part] for part in parts), spread, parts, strict=True)
    )
    return Chart(
        "residuals",
        "Are residuals spread alike?",
        RESIDUALS,
        Axis.around("Fitted rating on [0, 1]", fitted.tolist()),
        Axis.around("Residual", residual.tolist()),
        (*points, *lines),
        (Level("", 0.0),),
        numbers=Table(("Fitted rating, mean of the tenth", "SD of residuals", "ratings"), tuple(numbers)),
    )

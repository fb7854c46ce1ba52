"""All pairs of systems by per-item scores as a heat map of corrected p-values (Zhu et al. 2020, Fig. 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from humeval_power.choices import CORRECTIONS
from humeval_power.comparisons.scores.all_pairs import PairwiseScores
from humeval_power.saying.chart import Axis, Chart, Level, Series, Upright
from humeval_power.saying.numbers import p_cell

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LEVELS = (0.001, 0.01)  # of the corrected p-value, and alpha itself
_STRENGTHS = (1.0, 0.55, 0.25)  # of the colour, from the surest on
_FAINT = 0.12  # of what is not significant


def heat_map_figure(result: PairwiseScores, *, alpha: float = 0.05) -> Figure:
    """Row system against column system, best first: blue where the row is significantly better, orange where
    it is worse, darker for a smaller corrected p; grey is not significant, lines separate clusters."""
    return heat_map_chart(result, alpha=alpha).figure


def heat_map_chart(result: PairwiseScores, *, alpha: float = 0.05, words: str = "") -> Chart:
    """What `heat_map_figure` draws; columns have the numbers of the rows."""
    names = list(result.means)
    place, k = {name: index for index, name in enumerate(names)}, len(names)
    levels = [*(level for level in _LEVELS if level < alpha), alpha]
    cells: dict[tuple[int, int], list[tuple[int, int, str]]] = {}  # by sign and shade
    for pair in result.pairs:
        first, second, text = place[pair.first], place[pair.second], p_cell(pair.corrected_p)
        shade = sum(pair.corrected_p > level for level in levels)
        shade = min(shade, len(levels) - 1) if pair.significant else len(levels)
        lead = (1 if pair.test.lead > 0 else -1) if pair.significant else 0
        for row, column, sign in ((second, first, lead), (first, second, -lead)):
            cells.setdefault((sign, shade), []).append((row, column, text))
        series = []
    for sign, colour, what in ((1, 0, "better"), (0, 7, ""), (-1, 1, "worse")):
        for shade, level in enumerate([*levels, 1.0]):
            of = sorted(cells.get((sign, shade), ()))
            if not of:
                continue
            y, low, texts = zip(*of, strict=True)
            series.append(
                Series(
                    "cells",
                    f"row {what}, p ≤ {level:g}" if sign else "not significant",
                    y=tuple(map(float, y)),
                    low=tuple(each + 0.5 for each in low),
                    high=tuple(each + 1.5 for each in low),
                    colour=colour,
                    strength=_STRENGTHS[shade + len(_STRENGTHS) - len(levels)] if sign else _FAINT,
                    texts=texts,
                )
            )
    ends, start = [], 0
    for cluster in result.clusters[:-1]:
        start += len(cluster)
        ends.append(start)
    places = tuple((float(place), f"{place}") for place in range(1, k + 1))
    return Chart(
        "heat_map",
        f"{result.pairs[0].test.label}, {CORRECTIONS[result.correction].words}",
        words,
        Axis("Column: number of the system", 0.5, k + 0.5, places=places),
        Axis(
            "", 0, k, names=tuple(f"{place}\N{NO-BREAK SPACE}{name}" for place, name in enumerate(names, 1))
        ),
        tuple(series),
        (*(Level("", end - 0.5) for end in ends), *(Upright("", end + 0.5) for end in ends)),
    )

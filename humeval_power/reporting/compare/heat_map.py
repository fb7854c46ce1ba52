"""All pairs of systems as a heat map of corrected p-values (Zhu et al. 2020, Fig. 4)."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from humeval_power.inference.compare.all_pairs import PairwiseScores
from humeval_power.reporting.facets import fitted
from humeval_power.reporting.figure_style import INK, QUIET, house_style
from humeval_power.reporting.numbers import p_cell

_LEVELS = (0.001, 0.01)  # of the corrected p-value, and alpha itself
_BETTER = ("#08519c", "#3182bd", "#9ecae1")  # the row's system is better: blues
_WORSE = ("#8c2d04", "#d94801", "#fdae6b")  # worse: oranges, told apart by any colour vision
_NOT = "#eeeeee"
_WRITTEN_UP_TO = 12  # systems: with more the cells are too small for numbers


def heat_map_figure(result: PairwiseScores, *, alpha: float = 0.05) -> Figure:
    """Row system against column system, best first: blue where the row is significantly better, orange where
    it is worse, darker for a smaller corrected p; grey is not significant, lines separate clusters."""
    names = list(result.means)
    k = len(names)
    levels = [*(level for level in _LEVELS if level < alpha), alpha]
    shade = _shades(result, names, levels)
    with house_style():
        size = min(9.0, 1.9 + 0.42 * k)
        figure = Figure(figsize=(size, size - 0.1), layout="constrained")
        axes = figure.subplots()
        n_shades = len(levels)
        colours = [*_WORSE[-n_shades:], _NOT, *_BETTER[-n_shades:][::-1]]
        norm = BoundaryNorm(np.arange(-n_shades - 0.5, n_shades + 1), len(colours))
        axes.imshow(shade, cmap=ListedColormap(colours), norm=norm)
        if k <= _WRITTEN_UP_TO:
            _write(axes, result, names)
        labels = [fitted(name, 1.6) for name in names]
        axes.set_xticks(range(k), labels, rotation=60, ha="right", rotation_mode="anchor")
        axes.set_yticks(range(k), labels)
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        _cluster_lines(axes, result)
        _legend(figure, levels, colours)
        axes.set_title(f"{result.pairs[0].test.label}, {_CORRECTIONS[result.correction]}", loc="left")
    return figure


_CORRECTIONS = {
    "none": "not corrected",
    "holm": "Holm's correction",
    "bonferroni": "Bonferroni's correction",
    "bh": "Benjamini and Hochberg",
    "max-t": "max-t by resampling",
    "romano-wolf": "Romano and Wolf by resampling",
}


def _shades(result: PairwiseScores, names: list[str], levels: list[float]) -> np.ndarray:
    """Signed shade of each cell: 0 is not significant, larger is surer, NaN was not compared."""
    place = {name: index for index, name in enumerate(names)}
    shade = np.full((len(names), len(names)), np.nan)
    for pair in result.pairs:
        a, b = place[pair.first], place[pair.second]
        strength = sum(pair.corrected_p <= level for level in levels) if pair.significant else 0
        sign = 1 if pair.test.lead > 0 else -1
        shade[b, a], shade[a, b] = sign * strength, -sign * strength
    return shade


def _write(axes: Axes, result: PairwiseScores, names: list[str]) -> None:
    place = {name: index for index, name in enumerate(names)}
    for pair in result.pairs:
        text = p_cell(pair.corrected_p)
        row, column = sorted((place[pair.first], place[pair.second]), reverse=True)
        for y, x in ((row, column), (column, row)):
            dark = pair.significant and pair.corrected_p <= 0.01
            axes.text(x, y, text, ha="center", va="center", size=5.5, color="white" if dark else INK)


def _cluster_lines(axes: Axes, result: PairwiseScores) -> None:
    start = 0
    k = len(result.means)
    for cluster in result.clusters[:-1]:
        start += len(cluster)
        axes.plot([-0.5, k - 0.5], [start - 0.5] * 2, color=INK, linewidth=0.9, clip_on=False)
        axes.plot([start - 0.5] * 2, [-0.5, k - 0.5], color=INK, linewidth=0.9, clip_on=False)


def _legend(figure: Figure, levels: list[float], colours: list[str]) -> None:
    """One entry for each shade; colours run from surely worse over not significant to surely better."""
    handles = [Rectangle((0, 0), 1, 1, color=colour) for colour in colours]
    handles[len(levels)].set_edgecolor(QUIET)
    labels = [
        *(f"row worse, p ≤ {level:g}" for level in levels),
        "not significant",
        *(f"row better, p ≤ {level:g}" for level in reversed(levels)),
    ]
    figure.legend(handles, labels, loc="outside lower center", ncols=2, fontsize=6.5)

"""Pictures of comparisons by per-item scores: all pairs of systems, and the primer's tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from humeval_power.choices import CORRECTIONS
from humeval_power.comparisons.scores.all_pairs import PairwiseScores
from humeval_power.comparisons.scores.comparison import PrimerCell
from humeval_power.errors import InputError
from humeval_power.saying.figure_style import COLOURS, DASHES, INK, MARKERS, QUIET, house_style
from humeval_power.saying.numbers import p_cell
from humeval_power.saying.panels import fitted


def primer_figure(cells: Sequence[PrimerCell]) -> Figure:
    """A panel for each number of items: expected p against the share of items hurt, a line an effect.

    Cells whose effect is less than one item are left out.
    """
    cells = [cell for cell in cells if cell.n_helped > cell.n_hurt]
    if not cells:
        raise InputError("There is nothing to draw: every effect is less than one item.")
    sizes = sorted({cell.n_items for cell in cells})
    effects = sorted({cell.effect for cell in cells})
    columns = min(2, len(sizes))
    rows = -(-len(sizes) // columns)
    with house_style():
        figure = Figure(figsize=(3.4 * columns, 0.7 + 2.1 * rows), layout="constrained")
        panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).ravel()
        for axes, n in zip(panels, sizes, strict=False):
            for style, effect in enumerate(effects):
                line = [cell for cell in cells if (cell.n_items, cell.effect) == (n, effect)]
                axes.plot(
                    [cell.hurt for cell in line],
                    [cell.p_value for cell in line],
                    color=COLOURS[style % len(COLOURS)],
                    marker=MARKERS[style % len(MARKERS)],
                    linestyle=DASHES[style % len(DASHES)],
                    label=f"effect {100 * effect:g} %",
                )
            axes.axhline(0.05, color=QUIET, linestyle=(0, (2, 2)), linewidth=0.9)
            axes.set_title(f"{n:,} items", loc="left")
        for axes in panels[len(sizes) :]:
            axes.set_axis_off()
        panels[0].set_ylim(0, 0.52)
        figure.supxlabel("Share of items hurt", fontsize=8)
        figure.supylabel("Primer's p (dashed: 0.05)", fontsize=8)
        handles, labels = panels[len(sizes) - 1].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside upper center", ncols=2 * columns)
    return figure


# All pairs of systems as a heat map of corrected p-values (Zhu et al. 2020, Fig. 4).

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
    place = {name: index for index, name in enumerate(names)}
    shade = np.full((k, k), np.nan)  # signed: 0 is not significant, larger is surer, NaN was not compared
    for pair in result.pairs:
        a, b = place[pair.first], place[pair.second]
        strength = sum(pair.corrected_p <= level for level in levels) if pair.significant else 0
        sign = 1 if pair.test.lead > 0 else -1
        shade[b, a], shade[a, b] = sign * strength, -sign * strength
    with house_style():
        size = min(9.0, 1.9 + 0.42 * k)
        figure = Figure(figsize=(size, size - 0.1), layout="constrained")
        axes = figure.subplots()
        n_shades = len(levels)
        colours = [*_WORSE[-n_shades:], _NOT, *_BETTER[-n_shades:][::-1]]
        norm = BoundaryNorm(np.arange(-n_shades - 0.5, n_shades + 1), len(colours))
        axes.imshow(shade, cmap=ListedColormap(colours), norm=norm)
        if k <= _WRITTEN_UP_TO:
            for pair in result.pairs:
                one, other = place[pair.first], place[pair.second]
                colour = "white" if pair.significant and pair.corrected_p <= 0.01 else INK
                text = p_cell(pair.corrected_p)
                for y, x in ((one, other), (other, one)):
                    axes.text(x, y, text, ha="center", va="center", size=5.5, color=colour)
        labels = [fitted(name, 1.6) for name in names]
        axes.set_xticks(range(k), labels, rotation=60, ha="right", rotation_mode="anchor")
        axes.set_yticks(range(k), labels)
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
        axes.tick_params(length=0)
        start = 0
        for cluster in result.clusters[:-1]:
            start += len(cluster)
            axes.plot([-0.5, k - 0.5], [start - 0.5] * 2, color=INK, linewidth=0.9, clip_on=False)
            axes.plot([start - 0.5] * 2, [-0.5, k - 0.5], color=INK, linewidth=0.9, clip_on=False)
        # One entry for each shade; colours run from surely worse over not significant to surely better.
        handles = [Rectangle((0, 0), 1, 1, color=colour) for colour in colours]
        handles[n_shades].set_edgecolor(QUIET)
        labels = [
            *(f"row worse, p ≤ {level:g}" for level in levels),
            "not significant",
            *(f"row better, p ≤ {level:g}" for level in reversed(levels)),
        ]
        figure.legend(handles, labels, loc="outside lower center", ncols=2, fontsize=6.5)
        axes.set_title(f"{result.pairs[0].test.label}, {CORRECTIONS[result.correction].words}", loc="left")
    return figure

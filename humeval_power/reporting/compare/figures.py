"""Pictures of a comparison by per-item scores: histograms beside each other, and the primer's tables."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from humeval_power.errors import InputError
from humeval_power.inference.compare.result import Floats, PairedTest, score_differences
from humeval_power.planning.compare.pair import PairComparison
from humeval_power.planning.compare.primer import PrimerCell
from humeval_power.reporting.compare.charts import bin_edges
from humeval_power.reporting.facets import fitted
from humeval_power.reporting.figure_style import COLOURS, DASHES, INK, MARKERS, QUIET, house_style

_IN_POINTS = ("mean", "median", "pseudomedian")


def histogram_figure(comparison: PairComparison) -> Figure:
    """Histograms of A and B on one axis of scores, and of B - A with 0, its mean and its median."""
    a, b = comparison.table.systems
    first, second = comparison.table.column(a), comparison.table.column(b)
    differences = score_differences(first, second)
    with house_style():
        figure = Figure(figsize=(7.0, 2.6), layout="constrained")
        axes = figure.subplots(1, 3)
        edges = bin_edges(np.concatenate([first, second]))
        for place, (values, name) in enumerate(((first, a), (second, b))):
            _bars(axes[place], values, edges, COLOURS[place], name)
            axes[place].set_xlabel(fitted(comparison.table.metric, 2.0))
        axes[1].sharey(axes[0])
        axes[0].set_ylabel("Items")
        for panel in axes:
            panel.yaxis.set_major_locator(MaxNLocator(integer=True))
        _bars(axes[2], differences, bin_edges(differences), COLOURS[2], f"{b} - {a}")
        axes[2].set_xlabel("Difference")
        axes[2].axvline(0.0, color=INK, linewidth=0.8)
        data = comparison.data.difference
        for value, dashes, label in ((data.mean, "-", "mean"), (data.median, DASHES[2], "median")):
            axes[2].axvline(value, color=COLOURS[1], linestyle=dashes, linewidth=1.2, label=label)
        _shade_interval(axes[2], comparison.test)
        figure.legend(*axes[2].get_legend_handles_labels(), loc="outside lower right", ncols=3)
    return figure


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
                _primer_line(axes, line, effect, style)
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


def _primer_line(axes: Axes, line: Sequence[PrimerCell], effect: float, style: int) -> None:
    axes.plot(
        [cell.hurt for cell in line],
        [cell.p_value for cell in line],
        color=COLOURS[style % len(COLOURS)],
        marker=MARKERS[style % len(MARKERS)],
        linestyle=DASHES[style % len(DASHES)],
        label=f"effect {100 * effect:g} %",
    )


def _bars(axes: Axes, values: Floats, edges: Floats, colour: str, title: str) -> None:
    axes.hist(values, bins=edges.tolist(), color=colour, edgecolor="white", linewidth=0.3)
    axes.set_title(fitted(title, 2.0), loc="left")


def _shade_interval(axes: Axes, test: PairedTest) -> None:
    """The interval of the test, where it has one in units of the scores."""
    low, high = test.interval
    if test.estimand.split()[0] in _IN_POINTS and np.isfinite([low, high]).all():
        label = f"{100 * test.confidence:g} % interval, {test.estimand}"
        axes.axvspan(low, high, color=QUIET, alpha=0.25, linewidth=0, label=label)

"""Pictures of a judge's help: what a mean is worth with more items judged, and estimates side by side."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from humeval_power.comparisons.judge.means import JudgedMean
from humeval_power.comparisons.judge.rated import RatedEstimate
from humeval_power.safe_text import picture_text
from humeval_power.saying.figure_style import COLOURS, MARKERS, QUIET, house_style


def estimates_figure(
    named: Sequence[tuple[str, JudgedMean | RatedEstimate]],
    *,
    what: str,
    confidence: float,
    width: float = 4.6,
) -> Figure:
    """Each estimate with its interval, below each other."""
    with house_style():
        figure = Figure(figsize=(width, 0.36 * width), layout="constrained")
        axes = figure.subplots()
        for place, (_, each) in enumerate(named):
            low, high = each.interval
            axes.plot([low, high], [place, place], color=COLOURS[place])
            axes.plot(each.estimate, place, color=COLOURS[place], marker=MARKERS[place])
        if any(each.interval[0] <= 0 <= each.interval[1] for _, each in named):
            axes.axvline(0.0, color=QUIET, linewidth=0.8)
        axes.set_yticks(range(len(named)), [name for name, _ in named])
        axes.set_ylim(len(named) - 0.5, -0.5)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel(f"{picture_text(what)}, {100 * confidence:g} % interval")
        return figure

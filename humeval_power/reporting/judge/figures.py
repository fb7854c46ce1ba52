"""Pictures of a judge's help: what a mean is worth with more items judged, and estimates side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

from humeval_power.inference.judge import JudgedMean
from humeval_power.planning.judge.efficiency import PredictionPower
from humeval_power.reporting.figure_style import COLOURS, DASHES, MARKERS, QUIET, house_style
from humeval_power.safe_text import picture_text


def worth_figure(found: PredictionPower, *, width: float = 4.6) -> Figure:
    """Human values that the mean is worth against the items that only the judge has scored."""
    extra = np.unique(np.linspace(1, max(3 * found.extra, 2 * found.n), 60).astype(int))
    at = [replace(found, extra=int(each)) for each in extra]
    with house_style():
        figure = Figure(figsize=(width, 0.62 * width), layout="constrained")
        axes = figure.subplots()
        for place, (label, values) in enumerate(
            {
                "best weight": [each.effective_n for each in at],
                "weight 1": [each.plain_effective_n for each in at],
            }.items()
        ):
            axes.plot(extra, values, color=COLOURS[place], linestyle=DASHES[place], label=label)
        axes.plot(
            found.extra, found.effective_n, color=COLOURS[0], marker=MARKERS[0], label="this plan", ls=""
        )
        axes.axhline(found.n, color=QUIET, linewidth=0.8, label="humans alone")
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_formatter(lambda value, _place: f"{value:,.0f}")
        axes.set_xlabel("Items scored by the judge alone")
        axes.set_ylabel("Worth, in human values")
        figure.legend(loc="outside lower center", ncols=4)
        return figure


def estimates_figure(
    named: Sequence[tuple[str, JudgedMean]], *, what: str, confidence: float, width: float = 4.6
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

"""Measures of agreement with their intervals, as a picture."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from matplotlib.figure import Figure

from humeval_power.reporting.figure_style import COLOURS, INK, house_style
from humeval_power.safe_text import picture_text

_LINE = 34  # characters of a name in a line


def agreement_figure(
    rows: Sequence[tuple[str, float, tuple[float, float]]], *, width: float = 4.6
) -> Figure:
    """A row for each measure, in the order given: its name, its value and the ends of its interval."""
    names = ["\n".join(textwrap.wrap(picture_text(name), _LINE)) for name, _, _ in rows]
    n_lines = sum(name.count("\n") + 1 for name in names)
    with house_style():
        figure = Figure(figsize=(width, 0.55 + 0.14 * n_lines + 0.06 * len(rows)), layout="constrained")
        axes = figure.subplots()
        for place, (_, value, (low, high)) in enumerate(rows):
            axes.plot([low, high], [place, place], color=COLOURS[0], linewidth=1.4, zorder=3)
            axes.plot([value], [place], "o", color=COLOURS[0], markersize=4, zorder=4)
        lowest = min(low for _, _, (low, _) in rows)
        axes.set_xlim(min(-0.02, lowest - 0.05), 1.02)
        axes.axvline(0.0, color=INK, linewidth=0.7)
        axes.set_yticks(range(len(rows)), names, fontsize=7)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel("Agreement; 1 is perfect")
    return figure

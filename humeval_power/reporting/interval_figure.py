"""Effects with their intervals below each other, about the value without an effect."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure

from humeval_power.reporting.facets import fitted
from humeval_power.reporting.figure_style import COLOURS, INK, QUIET, house_style

Effect = tuple[str, float, tuple[float, float]]


def interval_figure(
    effects: Sequence[Effect],
    *,
    axis: str,
    title: str = "",
    null: float = 0.0,
    margin: float | None = None,
) -> Figure:
    """A point and a line for each effect, the first on top; a line at the null, dashed ones at the margins.

    effects : name, estimate and the ends of its interval.
    """
    with house_style():
        figure = Figure(figsize=(5.6, 0.9 + 0.24 * len(effects)), layout="constrained")
        axes = figure.subplots()
        axes.axvline(null, color=INK, linewidth=0.8)
        for side in () if margin is None else (null - margin, null + margin):
            axes.axvline(side, color=QUIET, linestyle=(0, (2, 2)), linewidth=0.9)
        for place, (_, estimate, (low, high)) in enumerate(effects):
            axes.plot([low, high], [place, place], color=COLOURS[0])
            axes.plot(estimate, place, color=COLOURS[0], marker="o", markersize=4.5)
        axes.set_yticks(range(len(effects)), [fitted(name, 1.8) for name, _, _ in effects])
        axes.set_ylim(len(effects) - 0.4, -0.6)
        axes.grid(visible=False, axis="y")
        axes.set_xlabel(axis)
        axes.set_title(title, loc="left")
    return figure

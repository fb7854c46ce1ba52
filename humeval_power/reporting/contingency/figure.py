"""Every metric of two classifiers as a picture."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from humeval_power.reporting.figure_style import COLOURS, QUIET, house_style


def metrics_figure(values: Mapping[str, tuple[float, float]], *, width: float = 4.6) -> Figure:
    """A row for each metric with a mark for A and one for B."""
    with house_style():
        figure = Figure(figsize=(width, 0.9 + 0.24 * len(values)), layout="constrained")
        axes = figure.subplots()
        places = range(len(values))
        a, b = ([pair[side] for pair in values.values()] for side in (0, 1))
        axes.hlines(places, a, b, color=QUIET, linewidth=1.2)
        axes.plot(a, places, "o", color=COLOURS[0], markersize=4.5, label="A")
        axes.plot(b, places, "D", color=COLOURS[1], markersize=4.5, label="B")
        axes.set_yticks(places, list(values))
        axes.set_ylim(len(values) - 0.5, -0.5)
        axes.set_xlabel("Value of the metric")
        figure.legend(loc="outside upper center", ncols=2)
    return figure

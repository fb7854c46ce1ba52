"""How ratings are spread over their scale, as a picture: a row of bars for each system."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from humeval_power.checking.columns import shortened
from humeval_power.errors import InputError
from humeval_power.reporting.figure_style import COLOURS, INK, QUIET, house_style
from humeval_power.reporting.study.tables.rating_bins import MOST_ROWS, rating_edges
from humeval_power.safe_text import picture_text
from humeval_power.scales import RatingScale

Floats = NDArray[np.float64]


def ratings_figure(
    by_system: Mapping[str, Floats], scale: RatingScale | None, *, width: float = 4.6
) -> Figure:
    """A row for each system: the share of its ratings at each value, and its mean as a line.

    Ratings of more than 21 different values are counted in 20 bins.

    Parameters
    ----------
    by_system : raw ratings by the name of the system; of more than 12 the first are shown.
    scale : the scale that they were given on; None for [0, 1].

    Raises
    ------
    InputError
        No system.
    """
    shown = dict(list(by_system.items())[:MOST_ROWS])
    if not shown:
        raise InputError("There are no ratings to draw.")
    edges = rating_edges(np.concatenate(list(shown.values())), scale)
    with house_style():
        height = 0.72 + 0.62 * len(shown)
        figure = Figure(figsize=(width, height), layout="constrained")
        rows = np.atleast_1d(figure.subplots(len(shown), 1, sharex=True, sharey=True))
        for axes, (name, ratings) in zip(rows, shown.items(), strict=True):
            _draw(axes, name, ratings, edges)
        rows[0].set_ylim(bottom=0)
        rows[0].yaxis.set_major_locator(MaxNLocator(2))
        rows[0].yaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
        lower = "" if scale is None or scale.higher_is_better else ", lower is better"
        figure.supxlabel(f"Rating{lower}", fontsize=8)
        if len(by_system) > len(shown):
            note = f"The first {len(shown)} of {len(by_system):,} systems"
            figure.suptitle(note, fontsize=7.5, color=QUIET)
    return figure


def _draw(axes: Axes, name: str, ratings: Floats, edges: Floats) -> None:
    counts, _ = np.histogram(ratings, edges)
    middles, widths = (edges[:-1] + edges[1:]) / 2, np.diff(edges)
    axes.bar(middles, counts / len(ratings), width=0.84 * widths, color=COLOURS[0], alpha=0.75)
    mean = float(ratings.mean())
    axes.axvline(mean, color=COLOURS[1], linewidth=1.3)
    axes.set_title(shortened(picture_text(name), width=32), loc="left", color=INK, pad=2)
    axes.set_title(f"mean {mean:.4g}", loc="right", color=COLOURS[1], pad=2)

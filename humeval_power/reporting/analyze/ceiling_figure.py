"""How many ratings lie at the ends of the scale, as a picture and a sentence."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from humeval_power.checking.columns import shortened
from humeval_power.errors import InputError
from humeval_power.ratings import Ratings
from humeval_power.reporting.figure_style import COLOURS, INK, house_style
from humeval_power.reporting.numbers import percent
from humeval_power.reporting.panels import SINGLE_COLUMN, add_header
from humeval_power.safe_text import picture_text

Floats = NDArray[np.float64]
Told = tuple[Figure, str]  # a figure and the sentence that it says

_AT_END = 1e-9  # closer to the end of the scale than any rating that is not there
MOST_SYSTEMS = 25
_CROWDED = 0.2  # share at an end from which the sentence warns


def ceiling_figure(ratings: Ratings, *, title: str | None = None, width: float = SINGLE_COLUMN) -> Told:
    """Shares of each system's ratings at the best and at the worst end of the scale, and the sentence."""
    best, worst = end_shares(ratings)
    order = np.argsort(-best, kind="stable")
    if len(order) > MOST_SYSTEMS:
        raise InputError(f"A figure shows up to {MOST_SYSTEMS} systems; there are {len(order)}.")
    names = [shortened(picture_text(ratings.system_names[code]), width=24) for code in order]
    with house_style():
        figure = Figure(figsize=(width, 0.55 + 0.3 * max(len(order), 2)), layout="constrained")
        axes = figure.subplots()
        _bars(
            axes, best[order], [place - 0.19 for place in range(len(order))], colour=COLOURS[0], hatch=None
        )
        _bars(
            axes,
            worst[order],
            [place + 0.19 for place in range(len(order))],
            colour=COLOURS[1],
            hatch="////",
        )
        axes.set_yticks(range(len(order)), names)
        axes.set_ylim(len(order) - 0.5, -0.5)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="y", visible=False)
        axes.set_xlim(0, 1.2 * max(float(best.max()), float(worst.max()), 0.05))
        axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 5, 10]))
        axes.xaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %" if share <= 1 else "")
        figure.supxlabel("Share of the system's ratings", fontsize=8)
        add_header(figure, title, [_bar_handles()])
    return figure, ceiling_words(ratings)


def _bars(axes: Axes, share: Floats, places: list[float], *, colour: str, hatch: str | None) -> None:
    fill = colour if hatch is None else "white"
    axes.barh(places, share, height=0.36, color=fill, edgecolor=colour, hatch=hatch, linewidth=0.7)
    for place, value in zip(places, share, strict=True):
        axes.annotate(
            percent(float(value)),
            (value, place),
            xytext=(2.5, 0),
            textcoords="offset points",
            va="center",
            size=6.5,
            color=INK,
        )


def end_shares(ratings: Ratings) -> tuple[Floats, Floats]:
    """Shares of each system's ratings at the best and at the worst end of the scale, (n_systems,)."""
    count = np.bincount(ratings.system, minlength=ratings.n_systems)
    best = np.bincount(ratings.system, ratings.rating > 1 - _AT_END, ratings.n_systems) / count
    worst = np.bincount(ratings.system, ratings.rating < _AT_END, ratings.n_systems) / count
    return best, worst


def _bar_handles() -> list[Line2D]:
    look = {"linestyle": "", "marker": "s", "markersize": 6}
    return [
        Line2D([], [], color=COLOURS[0], label="at the best end", **look),  # type: ignore[arg-type]
        Line2D([], [], color=COLOURS[1], markerfacecolor="white", label="at the worst end", **look),  # type: ignore[arg-type]
    ]


def ceiling_words(ratings: Ratings) -> str:
    """The sentence: how many ratings of a system lie at an end, at most."""
    best, worst = end_shares(ratings)
    ends = ((best, "best"), (worst, "worst"))
    share, end = max(ends, key=lambda pair: float(pair[0].max()))
    code = int(np.argmax(share))
    where = "seen in the data" if ratings.scale.source == "inferred" else "of the scale"
    words = f"At most {percent(float(share[code]))} of a system's ratings lie at an end {where}"
    if share[code] > 0:
        words += f" (the {end} end, {ratings.system_names[code]})"
    if share[code] < _CROWDED:
        return f"{words}."
    return f"{words}; differences between systems look smaller there, and residuals do too."

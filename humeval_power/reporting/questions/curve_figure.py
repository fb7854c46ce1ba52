"""Power of any scenario as curves: the effect on x, one line for each size."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from humeval_power.errors import InputError
from humeval_power.reporting.figure_style import COLOURS, DASHES, INK, MARKERS, QUIET, house_style
from humeval_power.safe_text import picture_text

MOST_LINES = len(COLOURS)
_POINTS = 41  # of a computed curve
_SAW = 100  # sizes up to which every size is drawn, because the power of an exact test is a saw


def curve_figure(
    rows: Sequence[Mapping[str, Any]], *, effect_label: str, target: float = 0.8, width: float = 4.6
) -> Figure:
    """Power against effect, a line for each `n`; against n, a line for each effect, if that is single.

    Bands are the Monte Carlo intervals, dashed is the target.

    Parameters
    ----------
    rows : cells with `n`, `effect`, `power`, `power_low`, `power_high`.

    Raises
    ------
    InputError
        No rows, or more lines than can be told apart.
    """
    if not rows:
        raise InputError("There is nothing to draw: the surface has no cells.")
    effects = sorted({float(row["effect"]) for row in rows})
    x, line, label = ("n", "effect", "n") if len(effects) == 1 else ("effect", "n", effect_label)
    values = sorted({row[line] for row in rows})
    if len(values) > MOST_LINES:
        raise InputError(f"At most {MOST_LINES} sizes can be told apart in a figure; got {len(values)}.")
    with house_style():
        figure = Figure(figsize=(width, 0.68 * width), layout="constrained")
        axes = figure.subplots()
        for place, value in enumerate(values):
            _draw_line(axes, [row for row in rows if row[line] == value], x, place, _name(line, value))
        _finish(axes, label, target)
        axes.legend(loc="best")
    return figure


def computed_curve(
    power_of: Callable[[float], float | None],
    answer: tuple[float, float],
    *,
    label: str,
    target: float | None = None,
    of_sizes: bool = False,
    width: float = 4.6,
) -> Figure:
    """Power by formula from nothing to twice where the answer lies, which is marked.

    Parameters
    ----------
    power_of : the power at an effect, or a size; None where there can be none.
    answer : where the answer lies, and the power there.
    """
    place, power = answer
    count = max(round(2 * place) + 1, _POINTS) if of_sizes and place <= _SAW else _POINTS
    points = [
        (x, found)
        for x in np.unique(np.linspace(0, 2 * place, count).round(0 if of_sizes else 12))
        if (found := power_of(float(x))) is not None
    ]
    with house_style():
        figure = Figure(figsize=(width, 0.6 * width), layout="constrained")
        axes = figure.subplots()
        axes.plot(*zip(*points, strict=True), color=COLOURS[0])
        axes.plot([place], [power], color=COLOURS[1], marker="o", linestyle="none", zorder=3)
        axes.annotate(
            f"{place:,}: power {power:.3f}" if of_sizes else f"{place:.4g}: power {power:.3f}",
            (place, power),
            xytext=(7, -18),
            textcoords="offset points",
            color=INK,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
        )
        _finish(axes, label, target)
    return figure


def _finish(axes: Axes, label: str, target: float | None) -> None:
    """The target's line, and the axes."""
    if target is not None:
        axes.axhline(target, color=QUIET, linestyle=(0, (2, 2)), linewidth=0.9)
        axes.annotate(
            f"{target:g}",
            (1.0, target),
            xycoords=("axes fraction", "data"),
            xytext=(3, 0),
            textcoords="offset points",
            va="center",
            color=QUIET,
        )
    axes.set_ylim(0, 1.02)
    axes.set_xlabel(picture_text(label))
    axes.set_ylabel("Power")


def _draw_line(axes: Axes, rows: Sequence[Mapping[str, Any]], x: str, place: int, name: str) -> None:
    ordered = sorted(rows, key=lambda row: float(row[x]))
    where = [float(row[x]) for row in ordered]
    power = [float(row["power"]) for row in ordered]
    axes.fill_between(
        where,
        [float(row["power_low"]) for row in ordered],
        [float(row["power_high"]) for row in ordered],
        color=COLOURS[place],
        alpha=0.18,
        linewidth=0,
    )
    axes.plot(
        where,
        power,
        color=COLOURS[place],
        linestyle=DASHES[place],
        marker=MARKERS[place] if len(where) <= 15 else None,
        label=name,
    )


def _name(line: str, value: float) -> str:
    return f"n = {value:,}" if line == "n" else f"effect {value:g}"

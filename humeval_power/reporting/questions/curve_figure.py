"""Power of any scenario as curves: the effect on x, one line for each size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from humeval_power.errors import InputError
from humeval_power.reporting.figure_style import COLOURS, DASHES, MARKERS, QUIET, house_style
from humeval_power.safe_text import picture_text

MOST_LINES = len(COLOURS)


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

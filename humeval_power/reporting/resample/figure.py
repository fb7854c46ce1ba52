"""Power on drawn studies as a picture: a curve over sizes for each test, or a dot for each test."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from humeval_power.errors import InputError
from humeval_power.reporting.figure_style import COLOURS, DASHES, INK, MARKERS, QUIET, house_style
from humeval_power.safe_text import picture_text

_SIZES = ("workers", "items", "ratings")
_LABELS = {"workers": "Workers", "items": "Items", "ratings": "Ratings of each system"}
_MOST_DOTS = 30
_TARGET = 0.8


def resample_figure(rows: Sequence[Mapping[str, Any]], *, width: float = 4.6) -> Figure:
    """Power of each row with its interval; without an effect, how often the test rejects.

    Where a size varies it is x and each test, with the other sizes, is a curve; where none does, each test
    is a dot. Rows without a rate are left out; of more than 30 dots the first are shown.

    Raises
    ------
    InputError
        Nothing to draw.
    """
    known = [row for row in rows if math.isfinite(row["power"])]
    if not known:
        raise InputError("There is nothing to draw: no row has a power.")
    varied = [name for name in _SIZES if len({row[name] for row in known if name in row}) > 1]
    with house_style():
        if varied:
            figure = Figure(figsize=(width, 0.68 * width), layout="constrained")
            _draw_curves(figure.subplots(), known, varied)
            figure.legend(loc="outside lower center", ncols=1)
        else:
            shown = known[:_MOST_DOTS]
            figure = Figure(figsize=(width, 0.65 + 0.2 * len(shown)), layout="constrained")
            _draw_dots(figure.subplots(), shown)
    return figure


def _name(row: Mapping[str, Any], sizes: Sequence[str]) -> str:
    said = [picture_text(str(row["test"])), *(f"{row[name]:,} {name}" for name in sizes)]
    return ", ".join(said)


def _what(rows: Sequence[Mapping[str, Any]]) -> str:
    return "Studies that find an effect (there is none)" if rows[0]["effect"] == 0 else "Power"


def _draw_curves(axes: Axes, rows: Sequence[Mapping[str, Any]], varied: Sequence[str]) -> None:
    x = max(varied, key=lambda name: len({row[name] for row in rows}))
    others = [name for name in varied if name != x]
    curves: dict[str, list[Mapping[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: row[x]):
        curves.setdefault(_name(row, others), []).append(row)
    for place, (name, points) in enumerate(list(curves.items())[: len(COLOURS)]):
        where = [row[x] for row in points]
        low, high = ([row["interval"][end] for row in points] for end in (0, 1))
        axes.fill_between(where, low, high, color=COLOURS[place], alpha=0.15, linewidth=0)
        axes.plot(
            where,
            [row["power"] for row in points],
            color=COLOURS[place],
            linestyle=DASHES[place],
            marker=MARKERS[place],
            label=name,
        )
    _mark(axes.axhline, rows)
    axes.set_ylim(0, 1.02)
    axes.set_xticks(sorted({row[x] for row in rows}))
    axes.set_xlabel(_LABELS[x])
    axes.set_ylabel(_what(rows))


def _draw_dots(axes: Axes, rows: Sequence[Mapping[str, Any]]) -> None:
    for place, row in enumerate(rows):
        axes.plot(row["interval"], [place, place], color=COLOURS[0], linewidth=1.6, solid_capstyle="butt")
        axes.plot([row["power"]], [place], "o", color=COLOURS[0])
    _mark(axes.axvline, rows)
    axes.set_yticks(range(len(rows)), [_name(row, []) for row in rows], color=INK)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.grid(axis="y", visible=False)
    axes.set_xlim(0, 1.02)
    axes.set_xlabel(_what(rows))


def _mark(line: Any, rows: Sequence[Mapping[str, Any]]) -> None:
    """The usual target, where there is an effect to find."""
    if rows[0]["effect"] != 0:
        line(_TARGET, color=QUIET, linewidth=0.9, linestyle=(0, (2, 1.5)), gid="target")

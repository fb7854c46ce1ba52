"""Power of studies of several systems as curves: a line for each size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from humeval_power.errors import InputError
from humeval_power.reporting.figure_style import COLOURS, DASHES, INK, MARKERS, house_style
from humeval_power.safe_text import picture_text


def grid_figure(rows: Sequence[Mapping[str, Any]], *, goal: str, width: float = 4.6) -> Figure:
    """Simulated power of a grid against its size or effect that varies most, a line for each of the others.

    Raises
    ------
    InputError
        More lines than can be told apart.
    """
    axes_of = {
        "effect": "Difference that the true means are stated by, on [0, 1]",
        "items": "Items",
        "workers": "Workers",
    }
    counts = {name: len({row[name] for row in rows}) for name in axes_of}
    x = max(counts, key=lambda name: counts[name])
    others = [name for name in (*axes_of, "setting") if name != x and len({row[name] for row in rows}) > 1]
    lines = sorted({tuple(row[name] for name in others) for row in rows}, key=str)
    if len(lines) > len(COLOURS):
        raise InputError(f"At most {len(COLOURS)} lines can be told apart in a figure; got {len(lines)}.")
    with house_style():
        figure = Figure(figsize=(width, 0.68 * width), layout="constrained")
        axes = figure.subplots()
        for place, line in enumerate(lines):
            mine = sorted(
                (row for row in rows if tuple(row[name] for name in others) == line), key=lambda r: r[x]
            )
            label = ", ".join(f"{name} {value}" for name, value in zip(others, line, strict=True))
            where = [row[x] for row in mine]
            low, high = ([row[end] for row in mine] for end in ("power_low", "power_high"))
            axes.fill_between(where, low, high, color=COLOURS[place], alpha=0.18, linewidth=0)
            axes.plot(
                where, [row["power"] for row in mine], color=COLOURS[place], linestyle=DASHES[place],
                marker=MARKERS[place] if len(where) <= 15 else None, label=picture_text(label),
            )  # fmt: skip
        axes.set_ylim(0, 1.02)
        axes.set_xlabel(axes_of[x])
        axes.set_ylabel(f"Power (goal '{goal}')", color=INK)
        if others:
            axes.legend(loc="best")
    return figure

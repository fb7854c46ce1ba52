"""Comparisons of systems by their differences and p-values, as a picture."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from humeval_power.saying.figure_style import COLOURS, DASHES, MARKERS, QUIET, house_style

_LEAST_P = 1e-6  # smaller ones are drawn here


def comparisons_figure(
    difference: Sequence[float],
    p_value: Sequence[float],
    alpha: float,
    *,
    threshold: float | None = None,
    width: float = 4.6,
) -> Figure:
    """Each comparison by the size of its difference and its p-value, with an observed MDE where one is given."""
    size, p = np.abs(np.asarray(difference, dtype=float)), np.asarray(p_value, dtype=float)
    with house_style():
        figure = Figure(figsize=(width, 0.7 * width), layout="constrained")
        axes = figure.subplots()
        for place, (label, kept) in enumerate(
            ((f"p < {alpha:g}", p < alpha), (f"p at least {alpha:g}", ~(p < alpha)))
        ):
            axes.plot(
                size[kept],
                np.maximum(p[kept], _LEAST_P),
                color=COLOURS[place],
                marker=MARKERS[place],
                linestyle="none",
                markersize=3.5,
                alpha=0.7,
                label=f"{label}: {int(kept.sum()):,}",
            )
        axes.axhline(alpha, color=QUIET, linewidth=0.8)
        if threshold is not None:
            axes.axvline(
                threshold, color=COLOURS[2], linestyle=DASHES[1], label=f"observed MDE: {threshold:.3g}"
            )
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _place: f"{value:g}"))
        axes.set_ylim(_LEAST_P / 1.6, 1.6)
        axes.set_xlim(left=0)
        axes.set_xlabel("Observed difference, its size")
        axes.set_ylabel("p (below 1e-6 drawn there)" if (p < _LEAST_P).any() else "p")
        figure.legend(loc="outside lower center", ncols=3)
        return figure

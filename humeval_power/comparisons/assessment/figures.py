"""Pictures of direct assessment: what a metric is worth, and the share of comparisons that is significant."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, PercentFormatter
from numpy.typing import NDArray

from humeval_power.comparisons.assessment.collection import ObservedMDE
from humeval_power.comparisons.judge.plan import data_efficiency
from humeval_power.inference.item_bootstrap import Measure
from humeval_power.saying.figure_style import COLOURS, DASHES, MARKERS, QUIET, house_style

if TYPE_CHECKING:
    from humeval_power.comparisons.assessment.result import Efficiency

_MOST = 0.99  # correlation: at 1 a metric can be worth endlessly many ratings


def efficiency_figure(gamma: Measure, asked: Sequence[Efficiency], *, width: float = 4.6) -> Figure:
    """Data efficiency against the correlation of a metric with quality, with the interval of gamma."""
    rho = np.linspace(0, _MOST, 100)
    with house_style():
        figure = Figure(figsize=(width, 0.6 * width), layout="constrained")
        axes = figure.subplots()
        axes.plot(rho, [data_efficiency(gamma.value, each) for each in rho], color=COLOURS[0])
        if math.isfinite(gamma.low):
            ends = [[data_efficiency(end, each) for each in rho] for end in (gamma.high, gamma.low)]
            axes.fill_between(
                rho, ends[0], ends[1], color=COLOURS[0], alpha=0.15, linewidth=0, label="95 % interval"
            )
        inside = [each for each in asked if 0 <= each.correlation <= _MOST]
        axes.plot(
            [each.correlation for each in inside],
            [each.data_efficiency for each in inside],
            color=COLOURS[0],
            marker=MARKERS[0],
            linestyle="none",
            label="asked for",
        )
        axes.axhline(1.0, color=QUIET, linewidth=0.8, label="no metric")
        axes.set_xlim(0, 1)
        axes.set_xlabel("Correlation of the metric with true quality")
        axes.set_ylabel("Data efficiency")
        figure.legend(loc="outside lower center", ncols=3)
        return figure


def threshold_figure(found: ObservedMDE, *, width: float = 4.6) -> Figure:
    """Share significant at or above each difference; where too few comparisons are left the line is dotted."""
    with house_style():
        figure = Figure(figsize=(width, 0.6 * width), layout="constrained")
        axes = figure.subplots()
        enough = [each for each in found.curve if each.n_above >= found.fewest_above]
        few = found.curve[max(len(enough) - 1, 0) :]
        parts = ((enough, 0, f"{found.fewest_above} comparisons or more"), (few, 1, "fewer are left"))
        for part, place, label in parts:
            axes.step(
                [each.difference for each in part],
                [each.rate for each in part],
                where="pre",
                color=COLOURS[place],
                linestyle=DASHES[2 * place],
                label=label,
            )
        axes.axhline(found.share, color=QUIET, linewidth=0.8, label=f"{100 * found.share:g} % asked for")
        for name, threshold, marker in (("first", found.first, "o"), ("stable", found.stable, "s")):
            if threshold is not None:
                axes.plot(
                    threshold.difference, threshold.rate, color=COLOURS[2], marker=marker, ls="", label=name
                )
        axes.set_ylim(0, 1.03)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        axes.set_xlabel("Observed difference, its size")
        axes.set_ylabel("Significant, of those at or above it")
        figure.legend(loc="outside lower center", ncols=3)
        return figure


# Pictures of compared systems: every pair by its difference and p-value, and the ratings of one pair.

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


def ratings_figure(ratings: Mapping[str, NDArray[np.float64]], *, width: float = 4.6) -> Figure:
    """Share of the ratings of each system that are at most as high."""
    with house_style():
        figure = Figure(figsize=(width, 0.6 * width), layout="constrained")
        axes = figure.subplots()
        for place, (name, values) in enumerate(ratings.items()):
            axes.ecdf(values, color=COLOURS[place], linestyle=DASHES[place], label=f"{'AB'[place]}: {name}")
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        axes.set_xlabel("Rating")
        axes.set_ylabel("Ratings up to it")
        figure.legend(loc="outside lower center", ncols=2)
        return figure

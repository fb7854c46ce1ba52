"""Pictures of direct assessment: what a metric is worth, and the share of comparisons that is significant."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from humeval_power.inference.item_bootstrap import Measure
from humeval_power.planning.assessment import ObservedMDE
from humeval_power.planning.judge.efficiency import data_efficiency
from humeval_power.reporting.figure_style import COLOURS, DASHES, MARKERS, QUIET, house_style

if TYPE_CHECKING:
    from humeval_power.reporting.assessment.decomposed import Efficiency

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

"""Effects of swapping sentences between systems: their distribution, and whether they add up."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from humeval_power.estimation.metrics.delta_laplace import DeltaLaplace
from humeval_power.estimation.metrics.swap_effects import Additivity, Floats
from humeval_power.reporting.figure_style import COLOURS, INK, house_style

_EDGE = 0.995  # share of the effects within the histogram


def swap_figure(
    effects: Floats, check: Additivity, fit: DeltaLaplace, *, metric: str, width: float = 6.8
) -> Figure:
    """Two panels in the manner of Card et al. (2020), Figures 15 and 16: true effects of swapping random
    halves against the sums of single effects, and the effects that are not zero with the fitted Laplace.

    metric : name on the axes.
    """
    with house_style():
        figure = Figure(figsize=(width, 0.42 * width), layout="constrained")
        left, right = figure.subplots(1, 2)
        _draw_sums(left, check, metric)
        _draw_effects(right, effects, fit, metric)
    return figure


def _draw_sums(axes: Axes, check: Additivity, metric: str) -> None:
    axes.scatter(check.summed, check.true, s=5, color=COLOURS[0], alpha=0.4, linewidths=0)
    ends = [
        float(min(check.summed.min(), check.true.min())),
        float(max(check.summed.max(), check.true.max())),
    ]
    axes.plot(ends, ends, color=INK, linewidth=0.9, linestyle=(0, (4, 2)), label="adding up exactly")
    axes.set_xlabel(f"Sum of single effects ({metric} points)")
    axes.set_ylabel("True effect of the swap")
    axes.set_title(f"correlation {check.correlation:.3f}, slope {check.slope:.3f}")
    axes.legend(loc="upper left")


def _draw_effects(axes: Axes, effects: Floats, fit: DeltaLaplace, metric: str) -> None:
    moved = effects[effects != 0]
    axes.set_xlabel(f"Effect of swapping one sentence ({metric} points)")
    axes.set_ylabel("Density")
    axes.set_title(f"P0 {fit.zero_share:.2f}, b0 {fit.scale:.1f}")
    if not len(moved):
        return
    reach = float(np.quantile(np.abs(moved), _EDGE))
    axes.hist(moved, bins=61, range=(-reach, reach), density=True, color=COLOURS[4], label="not zero")
    x = np.linspace(-reach, reach, 401)
    scale = fit.scale / fit.n_sentences
    density = np.exp(-np.abs(x - np.median(moved)) / scale) / (2 * scale)
    axes.plot(x, density, color=COLOURS[1], label="Laplace, fitted")
    axes.legend(loc="upper right")

"""The axis of what a figure of a surface draws, and the line to compare it with."""

from __future__ import annotations

import math
from collections.abc import Iterable

from matplotlib.axes import Axes
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from humeval_power.reporting.drawn import Drawn
from humeval_power.reporting.figure_style import QUIET

TARGET_DASHES = (0, (2, 1.5))
_MUCH = 5.0  # exaggeration from which on its axis is logarithmic
_STEPS = (1.0, 2.0, 5.0)


def frame(axes: Axes, drawn: Drawn, values: Iterable[float], *, target: float) -> None:
    """The axis of what is drawn, and the line to compare it with: the target power, or no exaggeration."""
    known = [value for value in values if math.isfinite(value)]
    if drawn == "power":
        _level(axes, target)
        axes.set_ylim(-0.03, 1.03)
        axes.set_yticks([0, 0.2, 0.4, 0.6, 0.8, 1.0])
    elif drawn == "type-m":
        _level(axes, 1.0)
        _exaggeration(axes, max(known, default=1.0))
    else:
        most = min(max(1.08 * max(known, default=0.0), 0.01), 1.0)
        axes.set_ylim(-0.03 * most, most)


def _exaggeration(axes: Axes, most: float) -> None:
    if most <= _MUCH:
        high = max(1.05 * most, 1.5)
        axes.set_ylim(1 - 0.03 * (high - 1), high)
        return
    axes.set_yscale("log")
    ticks = [step * 10**power for power in range(9) for step in _STEPS]
    ticks = [tick for tick in ticks if tick <= 1.3 * most]
    axes.yaxis.set_major_locator(FixedLocator(ticks))
    axes.yaxis.set_major_formatter(FixedFormatter([f"{tick:,.0f}" for tick in ticks]))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.set_ylim(0.95, 1.3 * most)


def _level(axes: Axes, height: float) -> None:
    axes.axhline(height, color=QUIET, linewidth=0.9, linestyle=TARGET_DASHES, zorder=1.5, gid="target")

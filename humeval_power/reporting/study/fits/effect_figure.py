"""The effect with its interval as a picture: one line against no difference, or against the margin."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import ArrayLike

from humeval_power.checking.columns import shortened
from humeval_power.inference.study.wald import EffectTest
from humeval_power.reporting.figure_style import COLOURS, INK, QUIET, house_style
from humeval_power.safe_text import picture_text
from humeval_power.scales import RatingScale


def effect_figure(
    tested: EffectTest,
    systems: tuple[str, ...],
    scale: RatingScale | None = None,
    *,
    interest: float | None = None,
    width: float = 4.6,
) -> Figure:
    """A dot at the difference B - A, a bar over its interval; the raw scale is the upper axis.

    The line is a difference of 0; with a margin, differences within it are shaded (all above minus the
    margin under non-inferiority). Dashed is `interest`, the smallest difference that would matter.
    """
    low, high = tested.interval
    with house_style():
        figure = Figure(figsize=(width, 1.25), layout="constrained")
        axes = figure.subplots()
        axes.plot([low, high], [0, 0], color=COLOURS[0], linewidth=2.2, solid_capstyle="butt", zorder=3)
        axes.plot([tested.estimate], [0], "o", color=COLOURS[0], markersize=6, zorder=4, gid="estimate")
        axes.axvline(0, color=INK, linewidth=0.9, zorder=2)
        ends = [low, high, 0.0]
        if tested.rule.margin is not None:
            ends += [-tested.rule.margin, tested.rule.margin]
        elif interest is not None:
            ends += [-interest, interest]
            for end in (-interest, interest):
                axes.axvline(end, color=QUIET, linewidth=0.9, linestyle=(0, (5, 1.5)), gid="interest")
        edge = 0.12 * (max(ends) - min(ends) or 1.0)
        axes.set_xlim(min(ends) - edge, max(ends) + edge)
        _shade_margin(axes, tested)
        axes.set_ylim(-1, 1)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.xaxis.set_major_locator(MaxNLocator(7))
        a, b = (shortened(picture_text(name), width=24) for name in systems)
        level = f"{100 * tested.rule.confidence:g} % interval"
        dashed = "" if interest is None or tested.rule.margin is not None else "; dashed: what would matter"
        axes.set_xlabel(f"Difference {b} - {a} on [0, 1], {level}{dashed}")
        for place, name, side in ((0.005, a, "left"), (0.995, b, "right")):
            words = axes.annotate(
                f"{name} better", (place, 0.95), xycoords="axes fraction", va="top", ha=side, color=QUIET
            )
            words.set_in_layout(False)  # a long name may be cut, the axis may not
            words.set_bbox({"facecolor": "white", "edgecolor": "none", "pad": 0.8})
        _raw_axis(axes, scale)
    return figure


def _shade_margin(axes: Axes, tested: EffectTest) -> None:
    margin = tested.rule.margin
    if margin is None:
        return
    above = margin if tested.rule.alternative == "equivalent" else axes.get_xlim()[1]
    axes.axvspan(-margin, above, color=COLOURS[2], alpha=0.14, linewidth=0, gid="margin")
    for end in {-margin, above} & {-margin, margin}:
        axes.axvline(end, color=COLOURS[2], linewidth=0.9, linestyle=(0, (2, 1.5)))


def _raw_axis(axes: Axes, scale: RatingScale | None) -> None:
    if scale is None or (scale.low, scale.high) == (0, 1):
        return
    points = scale.effect_to_raw(1)
    upper = axes.secondary_xaxis("top", functions=(_times(points), _times(1 / points)))
    upper.xaxis.set_major_locator(MaxNLocator(7))
    upper.set_xlabel(f"in points of the scale {scale.low:g} to {scale.high:g}")


def _times(factor: float) -> Callable[[ArrayLike], ArrayLike]:
    return lambda values: np.asarray(values, dtype=float) * factor

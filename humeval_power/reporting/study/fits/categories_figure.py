"""How often each category was used, as observed and as fitted: two stacked bars for each system."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure
from matplotlib.ticker import MultipleLocator

from humeval_power.checking.columns import shortened
from humeval_power.estimation.latent.fit import LatentFit
from humeval_power.reporting.figure_style import INK, house_style
from humeval_power.safe_text import picture_text

_HEIGHTS = (4.15, 3.4, 2.0, 1.25)  # of the bars: A observed and fitted, B observed and fitted
_THICK = 0.62
_NARROW = 0.06  # a share below which its rating is not written into the bar


def categories_figure(
    fitted: LatentFit, systems: tuple[str, ...], points: Sequence[str], *, width: float = 4.6
) -> Figure:
    """For each system the shares of its ratings, worst first, above those that the fit expects.

    Parameters
    ----------
    systems : the names of A and B.
    points : the categories as rated, worst first.
    """
    rows = (
        fitted.shares[0],
        fitted.latent.shares(0),
        fitted.shares[1],
        fitted.latent.shares(1),
    )
    shades = [colormaps["cividis"](place) for place in np.linspace(0.12, 0.95, len(points))]
    with house_style():
        figure = Figure(figsize=(width, 2.1), layout="constrained")
        axes = figure.subplots()
        for height, shares in zip(_HEIGHTS, rows, strict=True):
            left = 0.0
            for share, shade, point in zip(shares, shades, points, strict=True):
                axes.barh(height, share, _THICK, left=left, color=shade, edgecolor="white", linewidth=0.6)
                if share >= _NARROW:
                    dark = 0.3 * shade[0] + 0.6 * shade[1] + 0.1 * shade[2] < 0.5
                    axes.text(
                        left + share / 2,
                        height,
                        picture_text(point),
                        ha="center",
                        va="center",
                        color="white" if dark else INK,
                        fontsize=7,
                    )
                left += share
        names = [shortened(picture_text(name), width=24) for name in systems]
        axes.set_yticks(_HEIGHTS, ["observed", "fitted", "observed", "fitted"])
        for name, height in zip(names, (4.62, 2.47), strict=True):
            axes.text(0, height, name, color=INK, va="bottom", fontsize=7.5)
        axes.set_ylim(0.8, 5.1)
        axes.set_xlim(0, 1)
        axes.xaxis.set_major_locator(MultipleLocator(0.25))
        axes.xaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
        axes.grid(visible=False, axis="y")
        axes.set_xlabel("Share of the ratings, worst rating left")
    return figure

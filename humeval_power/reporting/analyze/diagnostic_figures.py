"""Residuals of an analysis as a picture, with the one sentence that it says."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from humeval_power.checking.columns import shortened
from humeval_power.inference.analyze.blups import Predictions
from humeval_power.inference.analyze.joint_diagnostics import JointPredictions
from humeval_power.ratings import Ratings
from humeval_power.reporting.analyze.ceiling_figure import Told
from humeval_power.reporting.analyze.estimate_tellings import residual_sentence
from humeval_power.reporting.figure_style import COLOURS, INK, MARKERS, house_style
from humeval_power.reporting.panels import SINGLE_COLUMN, add_header
from humeval_power.safe_text import picture_text

Floats = NDArray[np.float64]

_MOST_TOLD_APART = 2  # systems whose points have colours of their own


def residual_figure(
    predictions: Predictions | JointPredictions,
    ratings: Ratings,
    *,
    title: str | None = None,
    width: float = SINGLE_COLUMN,
) -> Told:
    """Residuals against fitted values with the SD of each tenth of them, and the sentence.

    Predictions are drawn towards the average, so residuals rise a little with fitted values even where
    the model is right: the picture is about their spread.
    """
    fitted, residual = predictions.fitted, predictions.residual
    with house_style():
        figure = Figure(figsize=(width, 0.78 * width), layout="constrained")
        axes = figure.subplots()
        axes.axhline(0.0, color=INK, linewidth=0.7, zorder=1.5)
        if ratings.n_systems > _MOST_TOLD_APART:
            handles = [_scatter(axes, fitted, residual, 0, "a rating")]
        else:
            handles = [
                _scatter(axes, fitted[chosen], residual[chosen], system, name)
                for system, name in enumerate(ratings.system_names)
                for chosen in [ratings.system == system]
            ]
        middle, spread = _tenths(fitted, residual)
        for sign in (-1, 1):
            axes.plot(middle, sign * spread, color=INK, marker=".", markersize=4, linewidth=1, zorder=4)
        handles.append(Line2D([], [], color=INK, marker=".", label="SD of each tenth"))
        axes.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
        axes.set_xlabel("Fitted rating on [0, 1]")
        axes.set_ylabel("Residual")
        add_header(figure, title, [handles])
    return figure, residual_sentence(predictions)


def _scatter(axes: Axes, fitted: Floats, residual: Floats, system: int, name: str) -> Line2D:
    strength = float(np.clip(60 / np.sqrt(len(fitted) + 1), 0.06, 0.55))
    look = {"marker": MARKERS[system], "color": COLOURS[system], "linestyle": "", "markersize": 2.2}
    # points as a picture inside vector files: tens of thousands of outlines open slowly
    axes.plot(fitted, residual, alpha=strength, markeredgewidth=0, rasterized=True, **look)  # type: ignore[arg-type]
    return Line2D([], [], label=shortened(picture_text(name), width=24), **look)  # type: ignore[arg-type]


def _tenths(fitted: Floats, residual: Floats) -> tuple[Floats, Floats]:
    """Mean fitted value and SD of the residuals of each tenth of the ratings, by fitted value."""
    parts = np.array_split(np.argsort(fitted, kind="stable"), min(10, len(fitted)))
    return (
        np.array([fitted[part].mean() for part in parts]),
        np.array([residual[part].std() for part in parts]),
    )

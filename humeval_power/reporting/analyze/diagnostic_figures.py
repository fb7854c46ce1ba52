"""Pictures that show whether an analysis can be trusted, each with the one sentence that it says."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray
from scipy import special

from humeval_power.checking.columns import listing, shortened
from humeval_power.errors import InputError
from humeval_power.inference.analyze.blups import LevelEffects, Predictions
from humeval_power.inference.analyze.influence import Influence, LeftOut
from humeval_power.inference.analyze.joint_diagnostics import JointPredictions
from humeval_power.ratings import Ratings
from humeval_power.reporting.analyze.ceiling_figure import Told, ceiling_figure
from humeval_power.reporting.analyze.level_rows import LevelRow, level_rows_figure
from humeval_power.reporting.figure_style import COLOURS, INK, MARKERS, house_style
from humeval_power.reporting.numbers import p_words, percent
from humeval_power.reporting.panels import SINGLE_COLUMN, add_header
from humeval_power.safe_text import picture_text

__all__ = [
    "Told",
    "ceiling_figure",
    "influence_figure",
    "item_difference_figure",
    "residual_figure",
    "worker_difference_figure",
]

Floats = NDArray[np.float64]

_Z = float(special.ndtri(0.975))
_DIFFERENCE = "Difference B - A on [0, 1]"
_UNEVEN = 1.5  # ratio of residual SDs from which their spread is called uneven
_LABEL = 42  # characters from which a label under a single column takes two lines
_NOT_ROUNDING = 1e-6
_MOST_TOLD_APART = 2  # systems whose points have colours of their own


def worker_difference_figure(
    predictions: Predictions, ratings: Ratings, *, title: str | None = None, width: float = SINGLE_COLUMN
) -> Told:
    """Caterpillar of each worker's predicted difference B - A with 95 % intervals, and its sentence."""
    return _difference_figure(
        predictions, predictions.workers, ratings.worker_names, ratings, "worker", title=title, width=width
    )


def item_difference_figure(
    predictions: Predictions, ratings: Ratings, *, title: str | None = None, width: float = SINGLE_COLUMN
) -> Told:
    """Caterpillar of each item's predicted difference B - A with 95 % intervals, and its sentence."""
    return _difference_figure(
        predictions, predictions.items, ratings.item_names, ratings, "item", title=title, width=width
    )


def _difference_figure(
    predictions: Predictions,
    levels: LevelEffects,
    names: tuple[str, ...],
    ratings: Ratings,
    noun: str,
    *,
    title: str | None,
    width: float,
) -> Told:
    reach = _Z * levels.difference_error
    rows = [
        LevelRow(name, float(value), float(value - r), float(value + r), marked=bool(abs(value) > r))
        for name, value, r in zip(names, levels.difference, reach, strict=True)
    ]
    with house_style():
        figure = level_rows_figure(
            rows,
            nouns=f"{noun}s",
            whole=predictions.effect,
            whole_label=f"all {noun}s: {predictions.effect:.3f}",
            usual_label="interval includes 0",
            marked_label="interval excludes 0",
            x_label=_difference_label(ratings),
            title=title,
            width=width,
        )
    return figure, _difference_sentence(predictions, levels, names, ratings, noun)


def _difference_label(ratings: Ratings) -> str:
    a, b = (shortened(picture_text(name), width=14) for name in ratings.system_names)
    named = f"Predicted difference {b} - {a},"
    return f"{named}{' ' if len(named) < _LABEL else chr(10)}on [0, 1]"


def _difference_sentence(
    predictions: Predictions, levels: LevelEffects, names: tuple[str, ...], ratings: Ratings, noun: str
) -> str:
    difference, n = levels.difference, len(names)
    a, b = ratings.system_names
    if np.ptp(difference) < _NOT_ROUNDING:
        return (
            f"The model finds no variation between {noun}s in the difference {b} - {a} (SD estimated as 0): it "
            f"predicts {predictions.effect:.3f} for each of the {n:,}."
        )
    low, high = int(np.argmin(difference)), int(np.argmax(difference))
    positive = int((difference > 0).sum())
    count = f"all {n:,}" if positive == n else f"{positive:,} of {n:,}"
    return (
        f"The model predicts that {count} {noun}s {_verb(noun)} {b} higher than {a}; the predicted differences "
        f"run from {difference[low]:.3f} ({shortened(names[low])}) to {difference[high]:.3f} "
        f"({shortened(names[high])}) on [0, 1]."
    )


def _verb(noun: str) -> str:
    return "rate" if noun == "worker" else "have"


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
    return figure, _residual_sentence(fitted, residual)


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


def _residual_sentence(fitted: Floats, residual: Floats) -> str:
    low, _, high = (residual[part].std() for part in np.array_split(np.argsort(fitted, kind="stable"), 3))
    spread = f"{low:.3f} in the lowest third of fitted ratings and {high:.3f} in the highest"
    outside = float(((fitted < 0) | (fitted > 1)).mean())
    if max(low, high) >= _UNEVEN * min(low, high):
        words = (
            f"The spread of residuals is uneven, {spread}, as happens where ratings crowd at an end of the "
            "scale; the model assumes it constant"
        )
    else:
        words = f"The spread of residuals is about even ({spread})"
    if outside > 0:
        share = percent(outside)
        words += f"; {share} of fitted ratings lie outside the scale"
    return f"{words}."


def influence_figure(
    influence: Influence, *, title: str | None = None, width: float = SINGLE_COLUMN
) -> Told:
    """The effect without each worker (or group of items) with its interval, and the sentence.

    The dashed line and the band are the whole study; marked are those without whom the decision differs.
    """
    usable = [one for one in influence.left_out if one.test is not None]
    if not usable:
        raise InputError(
            f"Without any one {influence.noun} nothing can be analysed: there is nothing to draw."
        )
    changed = {one.name for one in influence.changed}
    rows = [
        LevelRow(f"without {one.name}", one.estimate, *one.test.interval, marked=one.name in changed)
        for one in usable
        if one.test is not None
    ]
    whole = influence.whole
    with house_style():
        figure = level_rows_figure(
            rows,
            nouns=f"{influence.noun}s",
            whole=whole.estimate,
            whole_label=f"whole study: {whole.estimate:.3f}",
            usual_label="same decision",
            marked_label="another decision",
            x_label=_DIFFERENCE,
            whole_interval=whole.interval,
            title=title,
            width=width,
        )
    return figure, _influence_sentence(influence, len(usable))


def _influence_sentence(influence: Influence, n_usable: int) -> str:
    noun, whole, changed = influence.noun, influence.whole, influence.changed
    low, high = influence.range
    word = "significant" if whole.rule.margin is None else f"{whole.rule.alternative} within the margin"
    decision = word if whole.significant else f"not {word}"
    told = f"the estimate lies between {low:.3f} and {high:.3f} ({whole.estimate:.3f} with all)"
    lost = len(influence.left_out) - n_usable
    aside = f"; {lost:,} of {len(influence.left_out):,} could not be left out" if lost else ""
    if influence.n_not_tried:
        aside += f"; only the {len(influence.left_out):,} with most ratings were left out"
    if influence.variances_kept:
        aside += "; each at the variances of the whole study"
    if not changed:
        return f"Whichever {noun} is left out, {told} and the result stays {decision}{aside}."
    names = listing([_with_p(one) for one in changed], limit=3)
    return (
        f"The decision ({decision}, {p_words(whole.p_value)}) changes if one {noun} is left out: {names}; "
        f"{told}{aside}."
    )


def _with_p(one: LeftOut) -> str:
    return f"{shortened(one.name, width=24)} ({p_words(one.p_value)})"

"""Pictures of claims of improvement and of a leaderboard over time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from humeval_power.comparisons.accuracy.claims import (
    Claim,
    ClaimMethods,
    EffectRegression,
    FittedOverlap,
    JudgedClaims,
    JudgedSubmission,
)
from humeval_power.saying.figure_style import COLOURS, DASHES, INK, MARKERS, QUIET, house_style
from humeval_power.saying.numbers import percent
from humeval_power.saying.panels import fitted

_NAMED_UP_TO = 12  # points: with more their names lie over each other
_DATED_UP_TO = 30  # submissions: with more their names cannot be read


@contextmanager
def _axes(width: float, height: float, x: str = "", y: str = "") -> Iterator[tuple[Figure, Axes]]:
    """A figure of so many inches with one pair of axes, by the names of both, in the style of the house."""
    with house_style():
        figure = Figure(figsize=(width, height), layout="constrained")
        axes = figure.subplots()
        axes.set_xlabel(x)
        axes.set_ylabel(y)
        yield figure, axes


def _points(
    axes: Axes,
    x: Sequence[float],
    y: Sequence[float],
    style: int,
    label: str = "",
    size: float | None = None,
) -> None:
    """Points in a colour with its marker; `size` is that of the house where it is None."""
    place = style % len(COLOURS)
    (drawn,) = axes.plot(x, y, color=COLOURS[place], marker=MARKERS[style % len(MARKERS)], linestyle="")
    if label:
        drawn.set_label(label)
    if size is not None:
        drawn.set_markersize(size)


def claims_figure(judged: JudgedClaims) -> Figure:
    """The smallest improvement that is found against the claimed one; claims above the line were too small.

    Claims whose test set finds no possible improvement are left out.
    """
    known = [each for each in judged.claims if not math.isnan(each.detectable)]
    smallest = f"Smallest found with power {judged.target:g}"
    with _axes(4.6, 3.6, "Claimed improvement, points of 100", smallest) as (figure, axes):
        for place, (below, label) in enumerate(((False, "large enough"), (True, "too small to be found"))):
            chosen = [each for each in known if each.is_below is below]
            claimed = [100 * each.claim.improvement for each in chosen]
            _points(axes, claimed, [100 * each.detectable for each in chosen], place, label)
        most = max([0.0, *(100 * max(each.claim.improvement, each.detectable) for each in known)]) or 1.0
        axes.plot([0, most], [0, most], color=QUIET, linestyle=(0, (2, 2)), linewidth=0.9)
        for each in known if len(known) <= _NAMED_UP_TO else ():
            at = (100 * each.claim.improvement, 100 * each.detectable)
            name = fitted(each.claim.name, 1.0)
            axes.annotate(name, at, xytext=(4, 3), textcoords="offset points", size=6.0)
        axes.set_ylim(0, None)
        figure.legend(loc="outside upper center", ncols=2)
    return figure


def leaderboard_figure(judged: Sequence[JudgedSubmission]) -> Figure:
    """Accuracies in order of time, with a line through the best so far."""
    groups = (
        ("new best", [each.is_best for each in judged]),
        ("significant, underpowered", [each.is_significant and not each.is_best for each in judged]),
        ("no improvement shown", [not each.is_significant for each in judged]),
    )
    accuracies = [100 * each.submission.accuracy for each in judged]
    with _axes(min(3.0 + 0.25 * len(judged), 7.0), 3.0, y="Accuracy, %") as (figure, axes):
        best = [100 * (judged[0].submission.accuracy - judged[0].improvement)]
        for each, accuracy in zip(judged, accuracies, strict=True):
            best.append(accuracy if each.is_best else best[-1])
        axes.plot(range(-1, len(judged)), best, color=COLOURS[0], drawstyle="steps-post", linewidth=1.0)
        for style, (label, belongs) in enumerate(groups):
            places = [place for place, flag in enumerate(belongs) if flag]
            _points(axes, places, [accuracies[place] for place in places], style, label)
        if len(judged) <= _DATED_UP_TO:
            names = [fitted(f"{each.submission.date} {each.submission.name}", 1.6) for each in judged]
            axes.set_xticks(range(len(judged)), names, rotation=60, ha="right", rotation_mode="anchor")
        else:
            axes.set_xlabel("Submissions in order of time")
        figure.legend(loc="outside upper center", ncols=2)
    return figure


# Pictures of many claims: their improvements, by baseline and task, and against what each method finds.

_TICKS = (-10, -1, 0, 1, 10)  # points of 100; between -1 and 1 the axis is linear


def improvements_figure(claims: Sequence[Claim]) -> Figure:
    """How many claims improve by how much, with their mean (Card et al. 2020, Fig. 12)."""
    gains = 100 * np.array([claim.improvement for claim in claims])
    mean = float(gains.mean())
    with _axes(4.6, 2.8, "Improvement, points of 100", "Claims") as (figure, axes):
        axes.hist(gains, bins=24, color=COLOURS[0], edgecolor="white", linewidth=0.5)
        axes.axvline(0, color=QUIET, linewidth=0.8)
        axes.axvline(mean, color=COLOURS[1], linestyle=DASHES[1], label=f"mean {mean:+z.2f}")
        axes.locator_params(axis="y", integer=True)
        figure.legend(loc="outside upper center")
    return figure


def baselines_figure(claims: Sequence[Claim], regression: EffectRegression) -> Figure:
    """Improvements against the baseline, each task with the line of the regression (their Fig. 13)."""
    tasks = list(dict.fromkeys(claim.task for claim in claims))
    names = ("Accuracy of the baseline, %", "Improvement, points of 100")
    with _axes(4.6, 3.6, *names) as (figure, axes):
        for place, task in enumerate(tasks):
            own = [claim for claim in claims if claim.task == task]
            at = [100 * claim.baseline for claim in own]
            gains = [100 * claim.improvement for claim in own]
            _points(axes, at, gains, place, fitted(task, 1.6), size=4)
            ends = np.array([min(at), max(at)])
            predicted = [100 * regression.expected(task, float(end)) for end in ends / 100]
            axes.plot(ends, predicted, color=COLOURS[place % len(COLOURS)], linewidth=0.9)
        axes.axhline(0, color=QUIET, linewidth=0.8)
        figure.legend(loc="outside upper center", ncols=min(len(tasks), 4))
    return figure


def methods_figure(claims: Sequence[Claim], methods: ClaimMethods) -> Figure:
    """Each claim less the smallest improvement that its test set finds, one row a method (their Fig. 14)."""
    names = list(methods.reached)
    label = "Claimed improvement less the smallest found, points of 100"
    with _axes(5.4, 0.45 * len(names) + 0.9, label) as (figure, axes):
        for place, name in enumerate(names):
            pairs = zip(claims, methods.smallest, strict=True)
            apart = [
                100 * (claim.improvement - each[name])
                for claim, each in pairs
                if not math.isnan(each[name])
            ]
            for style, chosen in enumerate(([x for x in apart if x >= 0], [x for x in apart if x < 0])):
                _points(axes, chosen, [place] * len(chosen), style, size=3.5)
                axes.lines[-1].set_alpha(0.6)
        labels = [f"{name}: {percent(methods.reached[name])}" for name in names]
        axes.set_yticks(range(len(names)), labels)
        axes.invert_yaxis()
        axes.axvline(0, color=INK, linewidth=0.8)
        axes.set_xscale("symlog", linthresh=1)
        axes.set_xticks(_TICKS, [f"{tick:+d}" if tick else "0" for tick in _TICKS])
    return figure


# The picture of a regression of agreement: pairs of systems, and what is predicted for them.

_MOST_POINTS = 2000  # beyond, every so many-th pair is drawn


def overlap_figure(fitted: FittedOverlap) -> Figure:
    """Agreement against the accuracy of the worse system; lines for a small, a middle and a large difference."""
    pairs = fitted.pairs[:: len(fitted.pairs) // _MOST_POINTS + 1]
    names = ("Accuracy of the worse system, %", "Both right or both wrong, %")
    with _axes(4.6, 3.4, *names) as (figure, axes):
        worse, shown = [100 * pair.worse for pair in pairs], [100 * pair.agreement for pair in pairs]
        axes.plot(worse, shown, linestyle="", marker=".", markersize=3, color=COLOURS[7], label="pair")
        at = np.linspace(*fitted.regression.seen, 50)
        differences = np.quantile([pair.difference for pair in fitted.pairs], (0.1, 0.5, 0.9))
        for place, difference in enumerate(map(float, differences)):
            # the last digits are those of the machine's linear algebra
            predicted = np.round(
                [100 * (1 - fitted.regression.disagreement(float(x), difference)) for x in at], 6
            )
            label = f"predicted, {100 * difference:.2g} points apart"
            axes.plot(100 * at, predicted, color=COLOURS[place], linestyle=DASHES[place], label=label)
        figure.legend(loc="outside upper center", ncols=2)
    return figure

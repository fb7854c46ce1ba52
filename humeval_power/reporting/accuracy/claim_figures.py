"""Pictures of many claims: their improvements, by baseline and task, and against what each method finds."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.figure import Figure

from humeval_power.planning.accuracy.claims import Claim, EffectRegression
from humeval_power.planning.accuracy.methods import ClaimMethods
from humeval_power.reporting.facets import fitted
from humeval_power.reporting.figure_style import COLOURS, DASHES, INK, MARKERS, QUIET, house_style
from humeval_power.reporting.numbers import percent

_BINS = 24
_NAME_WIDTH = 1.6
_TICKS = (-10, -1, 0, 1, 10)  # points of 100; between -1 and 1 the axis is linear


def improvements_figure(claims: Sequence[Claim]) -> Figure:
    """How many claims improve by how much, with their mean (Card et al. 2020, Fig. 12)."""
    gains = 100 * np.array([claim.improvement for claim in claims])
    with house_style():
        figure = Figure(figsize=(4.6, 2.8), layout="constrained")
        axes = figure.subplots()
        axes.hist(gains, bins=_BINS, color=COLOURS[0], edgecolor="white", linewidth=0.5)
        axes.axvline(0, color=QUIET, linewidth=0.8)
        mean = float(gains.mean())
        axes.axvline(mean, color=COLOURS[1], linestyle=DASHES[1], label=f"mean {mean:+.2f}")
        axes.set_xlabel("Improvement, points of 100")
        axes.set_ylabel("Claims")
        axes.locator_params(axis="y", integer=True)
        figure.legend(loc="outside upper center")
    return figure


def baselines_figure(claims: Sequence[Claim], regression: EffectRegression) -> Figure:
    """Improvements against the baseline, each task with the line of the regression (their Fig. 13)."""
    tasks = list(dict.fromkeys(claim.task for claim in claims))
    with house_style():
        figure = Figure(figsize=(4.6, 3.6), layout="constrained")
        axes = figure.subplots()
        for place, task in enumerate(tasks):
            own = [claim for claim in claims if claim.task == task]
            at = np.array([claim.baseline for claim in own])
            ink, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
            gains = [100 * claim.improvement for claim in own]
            axes.plot(
                100 * at,
                gains,
                color=ink,
                marker=marker,
                linestyle="",
                markersize=4,
                label=fitted(task, _NAME_WIDTH),
            )
            ends = np.array([at.min(), at.max()])
            predicted = [100 * regression.expected(task, float(end)) for end in ends]
            axes.plot(100 * ends, predicted, color=ink, linewidth=0.9)
        axes.axhline(0, color=QUIET, linewidth=0.8)
        axes.set_xlabel("Accuracy of the baseline, %")
        axes.set_ylabel("Improvement, points of 100")
        figure.legend(loc="outside upper center", ncols=min(len(tasks), 4))
    return figure


def methods_figure(claims: Sequence[Claim], methods: ClaimMethods) -> Figure:
    """Each claim less the smallest improvement that its test set finds, one row a method (their Fig. 14)."""
    names = list(methods.reached)
    with house_style():
        figure = Figure(figsize=(5.4, 0.45 * len(names) + 0.9), layout="constrained")
        axes = figure.subplots()
        for place, name in enumerate(names):
            pairs = zip(claims, methods.smallest, strict=True)
            apart = [
                100 * (claim.improvement - each[name])
                for claim, each in pairs
                if not math.isnan(each[name])
            ]
            for ink, chosen in (
                (COLOURS[0], [x for x in apart if x >= 0]),
                (COLOURS[1], [x for x in apart if x < 0]),
            ):
                marker = MARKERS[0] if ink == COLOURS[0] else MARKERS[1]
                axes.plot(
                    chosen,
                    [place] * len(chosen),
                    linestyle="",
                    marker=marker,
                    markersize=3.5,
                    color=ink,
                    alpha=0.6,
                )
        labels = [f"{name}: {percent(methods.reached[name])}" for name in names]
        axes.set_yticks(range(len(names)), labels)
        axes.invert_yaxis()
        axes.axvline(0, color=INK, linewidth=0.8)
        axes.set_xscale("symlog", linthresh=1)
        axes.set_xticks(_TICKS, [f"{tick:+d}" if tick else "0" for tick in _TICKS])
        axes.set_xlabel("Claimed improvement less the smallest found, points of 100")
    return figure

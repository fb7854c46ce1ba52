"""Charts of claims of improvement and of a leaderboard over time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from humeval_power.comparisons.accuracy.claims import (
    Claim,
    ClaimMethods,
    EffectRegression,
    FittedOverlap,
    JudgedClaims,
    JudgedSubmission,
)
from humeval_power.saying.chart import Axis, Chart, Series, Upright
from humeval_power.saying.document import Table
from humeval_power.saying.numbers import percent

_NAMED_UP_TO = 12  # points: with more their names lie over each other
_ROWS_UP_TO = 30  # submissions: with more their names cannot be read
_COLOURS = 8
_MANY = 0.6  # strength of points that are many


def claims_chart(judged: JudgedClaims) -> Chart | None:
    """The smallest improvement that is found against the claimed one; claims above the line were too small.

    Claims whose test set finds no possible improvement are left out; None where that are all.
    """
    known = [each for each in judged.claims if not math.isnan(each.detectable)]
    if not known:
        return None
    most = 1.05 * (max(100 * max(each.claim.improvement, each.detectable) for each in known) or 1.0)
    least = min(0.0, 1.05 * min(100 * each.claim.improvement for each in known))
    series = [Series("line", "", (0.0, most), (0.0, most), colour=7)]
    for below, label in ((False, "large enough"), (True, "too small to be found")):
        chosen = [each for each in known if each.is_below is below]
        if chosen:
            names = tuple(each.claim.name for each in chosen) if len(known) <= _NAMED_UP_TO else ()
            points = [(100 * each.claim.improvement, 100 * each.detectable) for each in chosen]
            series.append(Series.of("points", label, points, int(below), texts=names))
    x = Axis("Claimed improvement, points of 100", least, most)
    y = Axis(f"Smallest found with power {judged.target:g}", 0, most)
    return Chart(
        "claims",
        "Could the test sets find what is claimed?",
        "Each claimed improvement against the smallest that its test set finds; above the diagonal the test set "
        "was too small.",
        x,
        y,
        tuple(series),
    )


def leaderboard_chart(judged: Sequence[JudgedSubmission]) -> Chart:
    """Accuracies in order of time, with a line through the best so far: a row each, or of many a curve."""
    groups = (
        ("new best", [each.is_best for each in judged]),
        ("significant, underpowered", [each.is_significant and not each.is_best for each in judged]),
        ("no improvement shown", [not each.is_significant for each in judged]),
    )
    accuracies = [100 * each.submission.accuracy for each in judged]
    best = [100 * (judged[0].submission.accuracy - judged[0].improvement)]
    for each, accuracy in zip(judged, accuracies, strict=True):
        best.append(accuracy if each.is_best else best[-1])
    n, in_rows = len(judged), len(judged) <= _ROWS_UP_TO
    corners = [(before, place) for place, pair in enumerate(pairwise(best)) for before in pair]
    way = [(best[0], -0.5), *((value, float(place)) for value, place in corners), (best[-1], n - 0.5)]
    series = [Series.of("line", "best so far", way if in_rows else [(y, x) for x, y in way])]
    for colour, (label, belongs) in enumerate(groups):
        points = [(accuracies[place], float(place)) for place, flag in enumerate(belongs) if flag]
        if points:
            series.append(
                Series.of("points", label, points if in_rows else [(y, x) for x, y in points], colour)
            )
    along = Axis.around("Accuracy", [*accuracies, best[0]], unit="%")
    order = Axis("Submissions in order of time", -1, n, places=())
    names = tuple(f"{each.submission.date} {each.submission.name}" for each in judged)
    return Chart(
        "leaderboard",
        "When was there a new best?",
        "The accuracy of each submission in order of time, with a line through the best so far.",
        along if in_rows else order,
        Axis("", 0, n, names=names) if in_rows else along,
        tuple(series),
    )


# Charts of many claims: their improvements, by baseline and task, and against what each method finds.


def improvements_chart(claims: Sequence[Claim]) -> Chart:
    """How many claims improve by how much, with their mean (Card et al. 2020, Fig. 12)."""
    gains = 100 * np.array([claim.improvement for claim in claims])
    counts, edges = np.histogram(gains, bins=24)
    mean = float(gains.mean())
    lows, highs = tuple(edges[:-1].tolist()), tuple(edges[1:].tolist())
    return Chart(
        "improvements",
        "How large are the improvements?",
        "How many claims improve by how much, with their mean.",
        Axis.around("Improvement, points of 100", [0.0, *lows, *highs]),
        Axis("Claims", 0, 1.05 * float(counts.max()), is_whole=True),
        (Series("columns", "", y=tuple(counts.astype(float).tolist()), low=lows, high=highs),),
        (Upright("no improvement", 0.0), Upright(f"mean {mean:+z.2f}", mean, 1)),
    )


def baselines_chart(claims: Sequence[Claim], regression: EffectRegression) -> Chart:
    """Improvements against the baseline, each task with the line of the regression (their Fig. 13)."""

    def series() -> Iterator[Series]:
        for place, task in enumerate(dict.fromkeys(claim.task for claim in claims)):
            points = [
                (100 * claim.baseline, 100 * claim.improvement) for claim in claims if claim.task == task
            ]
            ends = sorted({min(x for x, _ in points), max(x for x, _ in points)})
            line = [(end, 100 * regression.expected(task, end / 100)) for end in ends]
            yield Series.of("line", "", line, place % _COLOURS)
            yield Series.of("points", task, points, place % _COLOURS)

    drawn = tuple(series())
    x = Axis.around("Accuracy of the baseline", [x for each in drawn for x in each.x], unit="%")
    y = Axis.around("Improvement, points of 100", [0.0, *(y for each in drawn for y in each.y)])
    return Chart(
        "baselines",
        "Do better baselines gain less?",
        "Improvements against the accuracy of the baseline, each task with its regression line.",
        x,
        y,
        drawn,
    )


def _symmetric_log(value: float) -> float:
    """A place on an axis that is linear between -1 and 1 and logarithmic beyond."""
    return value if abs(value) <= 1 else math.copysign(1 + math.log10(abs(value)), value)


def methods_chart(claims: Sequence[Claim], methods: ClaimMethods) -> Chart:
    """Each claim less the smallest improvement that its test set finds, one row a method (their Fig. 14)."""
    reached: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    for row, name in enumerate(methods.reached):
        for claim, each in zip(claims, methods.smallest, strict=True):
            if not math.isnan(each[name]):
                apart = 100 * (claim.improvement - each[name])
                reached[apart >= 0].append((_symmetric_log(apart), float(row)))
    places = ((-2.0, "\u221210"), (-1.0, "\u22121"), (0.0, "0"), (1.0, "+1"), (2.0, "+10"))
    values = [x for points in reached.values() for x, _ in points]
    x_axis = Axis.around("Claimed less smallest found, points of 100", [-1.0, 1.0, *values], places=places)
    shares = {name: percent(share) for name, share in methods.reached.items()}
    return Chart(
        "methods",
        "Is that so however agreement is guessed?",
        "Each claim less the smallest improvement that its test set finds, by how agreement is guessed.",
        x_axis,
        Axis("", 0, len(shares), names=tuple(f"{name}: {share}" for name, share in shares.items())),
        tuple(
            Series.of("points", label, reached[is_found], colour, strength=_MANY)
            for colour, (label, is_found) in enumerate((("large enough", True), ("too small", False)))
            if reached[is_found]
        ),
        (Upright("", 0.0),),
        numbers=Table(("agreement guessed by", "claims that reach it"), tuple(shares.items())),
    )


# The chart of a regression of agreement: pairs of systems, and what is predicted for them.

_MOST_POINTS = 2000  # beyond, every so many-th pair is drawn


def overlap_chart(fitted: FittedOverlap) -> Chart:
    """Agreement against the accuracy of the worse system; lines for a small, a middle and a large difference."""
    pairs = fitted.pairs[:: len(fitted.pairs) // _MOST_POINTS + 1]
    points = [(100 * pair.worse, 100 * pair.agreement) for pair in pairs]
    at = np.linspace(*fitted.regression.seen, 50).tolist()
    lines = []
    for colour, difference in enumerate(
        np.quantile([pair.difference for pair in fitted.pairs], (0.1, 0.5, 0.9))
    ):
        # the last digits are those of the machine's linear algebra
        line = [
            (100 * x, round(100 * (1 - fitted.regression.disagreement(x, float(difference))), 6))
            for x in at
        ]
        label = f"predicted, {100 * difference:.2g} points apart"
        lines.append(Series.of("line", label, line, colour))
    drawn = (Series.of("points", "pair", points, 7, strength=_MANY), *lines)
    chart = Chart(
        "overlap",
        "Do better systems agree more?",
        "How often the systems of each pair do alike, against the accuracy of the worse.",
        Axis.around("Accuracy of the worse system", [x for each in drawn for x in each.x], unit="%"),
        Axis.around("Both right or both wrong", [y for each in drawn for y in each.y], unit="%"),
        tuple(lines),
    )
    return replace(chart, series=drawn, numbers=chart.table())  # of what is predicted

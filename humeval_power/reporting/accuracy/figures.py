"""Pictures of claims of improvement and of a leaderboard over time."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.figure import Figure

from humeval_power.planning.accuracy.claims import JudgedClaims
from humeval_power.planning.accuracy.leaderboard import JudgedSubmission
from humeval_power.reporting.facets import fitted
from humeval_power.reporting.figure_style import COLOURS, MARKERS, QUIET, house_style

_NAMED_UP_TO = 12  # points: with more their names lie over each other
_DATED_UP_TO = 30  # submissions: with more their names cannot be read


def claims_figure(judged: JudgedClaims) -> Figure:
    """The smallest improvement that is found against the claimed one; claims above the line were too small.

    Claims whose test set finds no possible improvement are left out.
    """
    known = [each for each in judged.claims if not math.isnan(each.detectable)]
    with house_style():
        figure = Figure(figsize=(4.6, 3.6), layout="constrained")
        axes = figure.subplots()
        for place, (below, label) in enumerate(((False, "large enough"), (True, "too small to be found"))):
            chosen = [each for each in known if each.is_below is below]
            axes.plot(
                [100 * each.claim.improvement for each in chosen],
                [100 * each.detectable for each in chosen],
                color=COLOURS[place],
                marker=MARKERS[place],
                linestyle="",
                label=label,
            )
        most = max([0.0, *(100 * max(each.claim.improvement, each.detectable) for each in known)]) or 1.0
        axes.plot([0, most], [0, most], color=QUIET, linestyle=(0, (2, 2)), linewidth=0.9)
        if len(known) <= _NAMED_UP_TO:
            for each in known:
                at = (100 * each.claim.improvement, 100 * each.detectable)
                axes.annotate(
                    fitted(each.claim.name, 1.0), at, xytext=(4, 3), textcoords="offset points", size=6.0
                )
        axes.set_xlabel("Claimed improvement, points of 100")
        axes.set_ylabel(f"Smallest found with power {judged.target:g}")
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
    with house_style():
        figure = Figure(figsize=(min(3.0 + 0.25 * len(judged), 7.0), 3.0), layout="constrained")
        axes = figure.subplots()
        start = 100 * (judged[0].submission.accuracy - judged[0].improvement)
        best = [start]
        for each, accuracy in zip(judged, accuracies, strict=True):
            best.append(accuracy if each.is_best else best[-1])
        axes.plot(range(-1, len(judged)), best, color=COLOURS[0], drawstyle="steps-post", linewidth=1.0)
        for style, (label, belongs) in enumerate(groups):
            places = [place for place, flag in enumerate(belongs) if flag]
            axes.plot(
                places,
                [accuracies[place] for place in places],
                color=COLOURS[style],
                marker=MARKERS[style],
                linestyle="",
                label=label,
            )
        if len(judged) <= _DATED_UP_TO:
            names = [fitted(f"{each.submission.date} {each.submission.name}", 1.6) for each in judged]
            axes.set_xticks(range(len(judged)), names, rotation=60, ha="right", rotation_mode="anchor")
        else:
            axes.set_xlabel("Submissions in order of time")
        axes.set_ylabel("Accuracy, %")
        figure.legend(loc="outside upper center", ncols=2)
    return figure

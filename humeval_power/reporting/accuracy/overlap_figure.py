"""The picture of a regression of agreement: pairs of systems, and what is predicted for them."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from humeval_power.planning.accuracy.overlap import FittedOverlap
from humeval_power.reporting.figure_style import COLOURS, DASHES, house_style

_MOST_POINTS = 2000  # beyond, every so many-th pair is drawn
_DIFFERENCES = (0.1, 0.5, 0.9)  # quantiles that lines are drawn for


def overlap_figure(fitted: FittedOverlap) -> Figure:
    """Agreement against the accuracy of the worse system; lines for a small, a middle and a large difference."""
    pairs = fitted.pairs[:: len(fitted.pairs) // _MOST_POINTS + 1]
    worse = np.array([pair.worse for pair in pairs])
    with house_style():
        figure = Figure(figsize=(4.6, 3.4), layout="constrained")
        axes = figure.subplots()
        shown = [100 * pair.agreement for pair in pairs]
        axes.plot(
            100 * worse, shown, linestyle="", marker=".", markersize=3, color=COLOURS[7], label="pair"
        )
        at = np.linspace(*fitted.regression.seen, 50)
        differences = np.quantile([pair.difference for pair in fitted.pairs], _DIFFERENCES)
        for place, difference in enumerate(map(float, differences)):
            predicted = [100 * (1 - fitted.regression.disagreement(float(x), difference)) for x in at]
            label = f"predicted, {100 * difference:.2g} points apart"
            axes.plot(
                100 * at,
                np.round(predicted, 6),  # the last digits are those of the machine's linear algebra
                color=COLOURS[place],
                linestyle=DASHES[place],
                label=label,
            )
        axes.set_xlabel("Accuracy of the worse system, %")
        axes.set_ylabel("Both right or both wrong, %")
        figure.legend(loc="outside upper center", ncols=2)
    return figure

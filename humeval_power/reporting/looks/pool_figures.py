"""Pictures of a pool of comparisons: power against budget, and where the judgements go.

After Wei, Kocmi and Federmann (2022), Figs. 4 to 6.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from humeval_power.planning.looks.pool import PROCEDURES, PoolStudy
from humeval_power.reporting.figure_style import COLOURS, DASHES, MARKERS, QUIET, house_style

_NAMES = {"fixed": "one look", "interim": "interim looks", "interim-futility": "with futility"}


def budget_figure(study: PoolStudy, *, width: float = 6.6) -> Figure:
    """Average power against the judgements that were spent: all pairs, those with small and those with large
    true differences (below and above the median), as in their Fig. 6."""
    size = np.abs(study.differences)
    small = size <= np.median(size)
    panels = {"all pairs": np.ones(len(size), bool), "small differences": small, "large ones": ~small}
    with house_style():
        figure = Figure(figsize=(width, 0.42 * width), layout="constrained")
        for axes, (title, pairs) in zip(figure.subplots(1, 3, sharex=True), panels.items(), strict=True):
            if pairs.any():
                for number, procedure in enumerate(PROCEDURES):
                    spent, power = study.curve(procedure, np.flatnonzero(pairs))
                    axes.plot(
                        spent,
                        power,
                        color=COLOURS[number],
                        marker=MARKERS[number],
                        linestyle=DASHES[number],
                        label=_NAMES[procedure],
                    )
            axes.set_title(f"{title} ({int(pairs.sum())})", loc="left")
            axes.set_ylim(bottom=0)
        first = figure.axes[0]
        first.set_ylabel("Average power")
        figure.supxlabel("Mean judgements spent per comparison", fontsize=8.0)
        first.legend(loc="lower right")
        return figure


def spending_figure(study: PoolStudy, *, budget: int, width: float = 6.0) -> Figure:
    """Left: mean judgements of each pair against its true difference at one planned budget (their Fig. 5).
    Right: power of each pair with futility against power with one look where both spend the same on average
    (their Fig. 4)."""
    row = int(np.argmin(np.abs(study.budgets - budget)))
    with house_style():
        figure = Figure(figsize=(width, 0.5 * width), layout="constrained")
        left, right = figure.subplots(1, 2)
        for number, procedure in enumerate(PROCEDURES):
            left.plot(
                np.abs(study.differences),
                study.spent[number, row],
                color=COLOURS[number],
                marker=MARKERS[number],
                linestyle="none",
                label=_NAMES[procedure],
            )
        left.set_ylim(bottom=0)
        left.set_xlabel("True difference of means (points)")
        left.set_ylabel(f"Mean judgements, {study.budgets[row]:,.0f} planned")
        left.legend(loc="best")
        spent, _ = study.curve("interim-futility")
        same = int(np.argmin(np.abs(spent - study.budgets[row])))
        right.plot([0, 1], [0, 1], color=QUIET, linewidth=0.8)
        right.plot(
            study.power[0, row], study.power[2, same], color=COLOURS[2], marker=MARKERS[2], linestyle="none"
        )
        right.set_xlabel(f"Power, one look at {study.budgets[row]:,.0f}")
        right.set_ylabel(f"With futility, {study.budgets[same]:,.0f} planned, {spent[same]:,.0f} spent")
        right.set_xlim(-0.02, 1.02)
        right.set_ylim(-0.02, 1.02)
        return figure

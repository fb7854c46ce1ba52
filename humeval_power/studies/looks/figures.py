"""Pictures of a study with looks: boundaries, where studies stop, what they cost on average."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import PercentFormatter

from humeval_power.safe_text import picture_text
from humeval_power.saying.figure_style import COLOURS, DASHES, MARKERS, QUIET, house_style
from humeval_power.saying.numbers import POWER_LABEL
from humeval_power.studies.looks.boundaries import Boundaries
from humeval_power.studies.looks.how_many import PROCEDURE_WORDS, PROCEDURES, PoolStudy
from humeval_power.studies.looks.judgement_plan import OperatingPoint
from humeval_power.studies.looks.systems_looks import SystemsOperatingPoint

_BLUE, _ORANGE, _GREEN = COLOURS[:3]
_HIGHEST = 5.0  # z beyond this is drawn as an arrow


def boundary_figure(
    bounds: Boundaries,
    *,
    information_shares: Sequence[float] | None = None,
    path: Sequence[tuple[float, float]] = (),
    width: float = 4.6,
) -> Figure:
    """z against information: where a study stops as significant or futile, and the path so far.

    information_shares : of the planned information, if they are not those of the boundaries
    path : (share of the planned information, z) of the looks taken
    """
    with house_style():
        figure = Figure(figsize=(width, 0.68 * width), layout="constrained")
        axes = figure.subplots()
        shares = np.array(information_shares if information_shares is not None else bounds.shares)
        _boundary(axes, shares, np.array(bounds.efficacy), bounds.two_sided)
        _futility(axes, shares, np.array(bounds.futility), bounds.two_sided)
        axes.axhline(0.0, color=QUIET, linewidth=0.6)
        if path:
            places, scores = zip(*path, strict=True)
            axes.plot(
                (0.0, *places), (0.0, *scores), color=_GREEN, marker="^", label="this study", zorder=4
            )
        axes.set_xlim(0, max(1.02, 1.02 * float(shares[-1])))
        axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        axes.set_xlabel("Information, of what is planned")
        axes.set_ylabel("z with the p-value of the look")
        axes.legend(loc="best")
        return figure


def _boundary(axes: Axes, shares: np.ndarray, values: np.ndarray, two_sided: bool) -> None:
    for sign in (1.0, -1.0) if two_sided else (1.0,):
        inside = values <= _HIGHEST
        label = "significant beyond" if sign > 0 else None
        axes.plot(shares[inside], sign * values[inside], color=_BLUE, marker="o", label=label)
        for share in shares[~inside]:
            ends = (share, sign * _HIGHEST), (share, sign * (_HIGHEST - 0.5))
            axes.annotate("", *ends, arrowprops={"arrowstyle": "->", "color": _BLUE})


def _futility(axes: Axes, shares: np.ndarray, values: np.ndarray, two_sided: bool) -> None:
    there = np.isfinite(values)
    if not there.any():
        return
    style: dict[str, Any] = {"color": _ORANGE, "marker": "s", "linestyle": DASHES[1]}
    label = "futile within" if two_sided else "futile below"
    axes.plot(shares[there], values[there], label=label, **style)
    if two_sided:
        axes.plot(shares[there], -values[there], **style)
        axes.fill_between(shares[there], -values[there], values[there], color=_ORANGE, alpha=0.12)


def stopping_figure(points: Sequence[OperatingPoint], *, unit: str = "", width: float = 4.6) -> Figure:
    """For each true effect the share of studies that end at each look: significant, and not."""
    with house_style():
        figure = Figure(figsize=(width, 0.62 * width), layout="constrained")
        axes = figure.subplots()
        places = np.arange(len(points))
        below = np.zeros(len(points))
        n_looks = len(points[0].stopping)
        for look in range(n_looks):
            success = np.array([point.success_by_look[look] for point in points])
            other = np.array([point.stopping[look] for point in points]) - success
            shade = 1.0 - 0.55 * look / max(n_looks - 1, 1)
            name = f"look {look + 1}"
            axes.bar(places, success, bottom=below, color=_BLUE, alpha=shade, label=f"{name}, significant")
            below = below + success
            what, hatch = ("futile", "////") if look + 1 < n_looks else ("nothing shown", None)
            if other.max() > 0:
                fill: dict[str, Any] = {"color": _ORANGE, "alpha": 0.8 * shade, "hatch": hatch}
                edge: dict[str, Any] = {"edgecolor": "white", "linewidth": 0}
                axes.bar(places, other, bottom=below, label=f"{name}, {what}", **fill, **edge)
            below = below + other
        axes.set_xticks(places, [f"{point.effect:.3g}" for point in points])
        axes.grid(visible=False, axis="x")
        axes.set_ylim(0, 1)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        axes.set_xlabel(f"True effect{f' ({picture_text(unit)})' if unit else ''}")
        axes.set_ylabel("Studies that end there")
        figure.legend(loc="outside right upper")
        return figure


def expected_cost_figure(
    points: Sequence[OperatingPoint] | Sequence[SystemsOperatingPoint],
    *,
    size_at_end: float,
    cost_at_end: float = math.nan,
    currency: str = "",
    unit: str = "",
    width: float = 4.6,
) -> Figure:
    """Mean ratings (cost, where there are prices) and power against the true effect, with looks and without.

    size_at_end, cost_at_end : of the study with one look at its end
    """
    priced = not math.isnan(cost_at_end)
    with house_style():
        figure = Figure(figsize=(width, 0.95 * width), layout="constrained")
        above, below = figure.subplots(2, 1, sharex=True)
        effects = [point.effect for point in points]
        mean = [point.expected_cost if priced else point.expected_size for point in points]
        above.plot(effects, mean, color=_BLUE, marker="o", label="with looks")
        above.axhline(
            cost_at_end if priced else size_at_end, color=QUIET, linestyle=DASHES[1], label="one look"
        )
        above.set_ylim(bottom=0)
        above.set_ylabel(f"Expected cost ({picture_text(currency)})" if priced else "Expected ratings")
        above.legend(loc="lower left")
        power, fixed = ([getattr(one, name) for one in points] for name in ("power", "fixed_power"))
        below.plot(effects, power, color=_BLUE, marker="o", label="with looks")
        below.plot(effects, fixed, color=QUIET, linestyle=DASHES[1], marker="s", label="one look")
        below.set_ylim(0, 1.02)
        below.set_ylabel(POWER_LABEL)
        below.set_xlabel(f"True effect{f' ({picture_text(unit)})' if unit else ''}")
        return figure


# Pictures of a pool of comparisons: power against budget, and where the judgements go.


def _look_of(number: int) -> dict[str, Any]:
    """How a procedure is drawn, in colours and shapes of its own."""
    words = PROCEDURE_WORDS[PROCEDURES[number]]
    return {"color": COLOURS[number], "marker": MARKERS[number], "label": words}


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
                    axes.plot(spent, power, linestyle=DASHES[number], **_look_of(number))
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
        for number in range(len(PROCEDURES)):
            spent_on = study.spent[number, row]
            left.plot(np.abs(study.differences), spent_on, linestyle="none", **_look_of(number))
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

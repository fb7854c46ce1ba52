"""Power of studies of several systems by formula, as charts: every goal over the difference, one over workers."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from humeval_power.errors import HumevalPowerError
from humeval_power.planning.study.growth import TARGET, counts_of
from humeval_power.planning.study.systems_power import SystemsPower, systems_formula
from humeval_power.planning.study.systems_study import SystemsStudy
from humeval_power.reporting.chart import Axis, Chart, Level, Mark, Series, Spot, Upright
from humeval_power.reporting.numbers import interval_words
from humeval_power.systems import GOALS

_EFFECTS, _SIZES = 12, 8  # points of the curves, each of many comparisons
_TIMES = 5  # as many workers as now
_LOG2_POINTS = 10  # right to about 0.01, which is finer than a line
_POWER = Axis("Power", 0.0, 1.0)
_CLOSE = "By formula, to about 0.01."
_GOAL_COLOURS = (0, 3, 4, 5, 7)  # 1 and 2 are of what is marked


def can_draw(study: SystemsStudy) -> bool:
    """Whether there are curves by formula: of true differences that can be drawn together to nothing."""
    if study.rule.margin is not None or not study.has_formula or study.effect <= 0:
        return False
    try:
        study.with_effect(study.effect).by_formula(log2_points=1)
    except HumevalPowerError:
        return False
    return True


def goals_chart(
    study: SystemsStudy,
    found: SystemsPower | None = None,
    simulated: SystemsPower | None = None,
    *,
    target: float = TARGET,
) -> Chart:
    """Power of every goal against the stated difference, up to twice that of the study."""
    effect = study.effect
    effects = tuple((2 * effect * np.arange(1, _EFFECTS + 1) / _EFFECTS).tolist())
    powers = [study.with_effect(one).by_formula(log2_points=_LOG2_POINTS) for one in effects]
    series = []
    for goal, colour in zip(GOALS, _GOAL_COLOURS, strict=True):
        shares = tuple(each.shares[goal] for each in powers)
        if not any(map(math.isnan, shares)):
            series.append(Series("line", f"goal '{goal}'", effects, shares, colour=colour))
    said = f"At a stated difference of {effect:.3g}"
    if found is not None:
        said += f" the goal '{study.goal}' is reached with power {found.power:.2f}"
    last = powers[-1].shares[study.goal]
    return Chart(
        "power",
        "What if the systems differ by more, or less?",
        f"{said}, at twice as much with {last:.2f}." if found is not None else f"{said} the answer lies.",
        Axis("Difference that the means are stated by, on [0, 1]", 0.0, effects[-1]),
        _POWER,
        tuple(series),
        (
            Level(f"target {target:g}", target),
            Upright(f"here: {effect:.3g}", effect),
            *_spots(effect, study, found, simulated),
        ),
        _CLOSE,
    )


def sizes_of(study: SystemsStudy) -> tuple[int, ...]:
    """Numbers of workers for a curve; none where counts do not say the design, or ratings are not paired."""
    counts = counts_of(study.design)
    if counts is None or not counts.paired:
        return ()
    complete = counts.ratings_per_item == counts.n_workers
    low = 2 if complete else max(2, counts.ratings_per_item)
    high = max(_TIMES * counts.n_workers, low + 1)
    if not complete:
        high = max(min(high, counts.n_items * counts.ratings_per_item), counts.n_workers)
    spread = np.geomspace(low, high, _SIZES).round().astype(int)
    return tuple(np.unique(np.append(spread, counts.n_workers)).tolist())


def workers_chart(
    study: SystemsStudy, sizes: tuple[int, ...], found: SystemsPower, simulated: SystemsPower | None
) -> Chart:
    """Power of the study's goal over the number of workers."""
    counts = counts_of(study.design)
    assert counts is not None  # else there are no sizes
    complete = counts.ratings_per_item == counts.n_workers
    powers = []
    for size in sizes:
        k = size if complete else counts.ratings_per_item
        other = replace(counts, n_workers=size, ratings_per_item=k)
        curve = systems_formula(
            study.parameters, other, study.family, study.rule, study.goal, log2_points=_LOG2_POINTS
        )
        powers.append(curve.power)
    here = counts.n_workers
    return Chart(
        "workers",
        "What would more workers bring?",
        f"{here:,} workers have power {found.power:.2f} for the goal '{study.goal}'; {sizes[-1]:,} have "
        f"{powers[-1]:.2f}.",
        Axis("Workers", sizes[0], sizes[-1], is_log=True, is_whole=True),
        _POWER,
        (Series("line", f"with {counts.n_items:,} items", sizes, tuple(powers)),),
        (Level(f"target {TARGET:g}", TARGET), *_spots(here, study, found, simulated)),
        f"{_CLOSE} The axis is logarithmic.",
    )


def _spots(
    x: float, study: SystemsStudy, found: SystemsPower | None, simulated: SystemsPower | None
) -> list[Mark]:
    """You are here: by formula, and as simulated with its interval."""
    marks: list[Mark] = []
    if found is not None:
        marks.append(Spot(f"this study, '{study.goal}': {found.power:.2f}", x, found.power))
    if simulated is not None and not math.isnan(simulated.power):
        low, high = simulated.interval
        text = f"simulated {simulated.power:.3f} ({interval_words(low, high, digits=3)})"
        marks.append(Spot(text, x, simulated.power, low, high, 2))
    return marks

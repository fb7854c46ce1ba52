"""Charts of a comparison by per-item scores: the scores, their differences, power by number of items."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from humeval_power.inference.compare.result import Floats, PairedTest, score_differences
from humeval_power.planning.compare.pair import PairComparison
from humeval_power.planning.compare.retrospective import RetrospectivePower, Unit
from humeval_power.reporting.chart import Axis, Chart, Level, Mark, Series, Spot, Upright
from humeval_power.reporting.document import Table
from humeval_power.reporting.numbers import significant

MOST_BINS = 40
_IN_POINTS = ("mean", "median", "pseudomedian")


def scores_chart(comparison: PairComparison) -> Chart:
    """How many items have which score under A and under B."""
    a, b = comparison.table.systems
    first, second = comparison.table.column(a), comparison.table.column(b)
    edges = bin_edges(np.concatenate([first, second]))
    counts = [np.histogram(each, edges)[0] for each in (first, second)]
    series = tuple(
        _outline(name, edges, count, colour)
        for colour, (name, count) in enumerate(zip((a, b), counts, strict=True))
    )
    return Chart(
        name="scores",
        title="Which scores do the systems have?",
        words=f"Histograms of the scores of {a} and of {b}: {_words(comparison, 0)}; {_words(comparison, 1)}.",
        x=Axis(comparison.table.metric, float(edges[0]), float(edges[-1])),
        y=_items(counts),
        series=series,
        numbers=_numbers(edges, {a: counts[0], b: counts[1]}),
    )


def differences_chart(comparison: PairComparison) -> Chart:
    """How many items differ by how much, with no difference, the mean and the median."""
    a, b = comparison.table.systems
    data, test = comparison.data, comparison.test
    differences = score_differences(comparison.table.column(a), comparison.table.column(b))
    edges = bin_edges(differences)
    count = np.histogram(differences, edges)[0]
    low, high = min(float(edges[0]), 0.0), max(float(edges[-1]), 0.0)
    marks: tuple[Mark, ...] = (
        Upright("no difference", 0.0),
        Upright("mean", data.difference.mean, 1),
        Upright("median", data.difference.median, 3),
    )
    ends = _interval(test)
    reach = "" if ends is None else f"; {100 * test.confidence:g} % interval of the {test.estimand} shaded"
    top = _items([count])
    band = (
        ()
        if ends is None
        else (Series("band", "interval", ends, low=(0.0, 0.0), high=(top.high, top.high)),)
    )
    return Chart(
        name="differences",
        title="By how much do they differ on an item?",
        words=f"Histogram of the differences: {_words(comparison, 2)}{reach}.",
        x=Axis(f"Difference {b} - {a}", low, high),
        y=top,
        series=(*band, _outline("items", edges, count, 2)),
        marks=marks,
        numbers=_numbers(edges, {"items": count}),
    )


def retrospective_chart(power: RetrospectivePower) -> Chart:
    """Power against the number of items, simulated with its Monte Carlo band and by formula."""
    n = tuple(float(point.n) for point in power.curve)
    simulated = [
        point for point in power.curve if point.interval is not None and math.isfinite(point.power)
    ]  # too many samples of very few items have no test
    whose = "the observed effect" if power.is_observed else "an effect"
    series = [
        Series("line", "by formula", n, tuple(point.formula or 0.0 for point in power.curve), colour=2)
    ]
    if simulated:
        sizes = tuple(float(point.n) for point in simulated)
        low, high = zip(*(point.interval for point in simulated if point.interval), strict=True)
        line = Series("line", "simulated", sizes, tuple(point.power for point in simulated))
        series = [Series("band", "Monte Carlo interval", sizes, low=low, high=high), line, *series]
    is_known = math.isfinite(power.at.power)
    here = power.at.power if is_known else power.at.formula or 0.0
    return power_chart(
        tuple(series),
        at=(power.at.n, here),
        target=power.target,
        of=power.unit,
        words=f"Power against the number of {power.unit} for {whose} of {significant(power.effect)} "
        f"({power.effect_words}): {here:.2f}{'' if is_known else ' by formula'} with the {power.at.n:,} "
        f"{power.unit} at hand.",
    )


def power_chart(
    series: tuple[Series, ...],
    *,
    at: tuple[int, float],
    target: float,
    words: str,
    of: Unit = "items",
) -> Chart:
    """Power against the number of items or clusters, `at` one of which it is marked."""
    n = [x for each in series for x in each.x]
    return Chart(
        name="power",
        title=f"How many {of} find it?",
        words=words,
        x=Axis(of.capitalize(), 0, max(n), is_whole=True),
        y=Axis("Power", 0, 1),
        series=series,
        marks=(Spot(f"{at[0]:,} {of}: power {at[1]:.2f}", *at), Level(f"target {target:g}", target)),
    )


def bin_edges(values: Floats) -> Floats:
    """Bins by Freedman and Diaconis (1981), at most 40; whole steps where the scores have few values."""
    distinct = np.unique(values)
    if 2 <= len(distinct) <= 20:
        step = float(np.diff(distinct).min())
        if (distinct[-1] - distinct[0]) / step <= MOST_BINS:
            return np.arange(distinct[0] - step / 2, distinct[-1] + step, step)
    edges = np.histogram_bin_edges(values, bins="fd" if np.ptp(values) > 0 else 1)
    if len(edges) > MOST_BINS + 1:
        edges = np.histogram_bin_edges(values, bins=MOST_BINS)
    return np.asarray(edges)


def _outline(name: str, edges: Floats, count: Floats, colour: int) -> Series:
    """A histogram as the line around it."""
    x = (edges[0], *edges.tolist())
    return Series(
        "steps", name, tuple(map(float, x)), (0.0, *count.astype(float).tolist(), 0.0), colour=colour
    )


def _items(counts: Sequence[Floats]) -> Axis:
    return Axis("Items", 0, max(1.0, 1.05 * max(float(count.max()) for count in counts)), is_whole=True)


def _numbers(edges: Floats, counts: dict[str, Floats]) -> Table:
    rows = tuple(
        (
            f"{significant(low)} to {significant(high)}",
            *(f"{count[place]:,}" for count in counts.values()),
        )
        for place, (low, high) in enumerate(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
    )
    return Table(("from, to", *counts), rows)


def _words(comparison: PairComparison, place: int) -> str:
    data = comparison.data
    one = (data.first, data.second, data.difference)[place]
    return f"{one.name} from {significant(one.minimum)} to {significant(one.maximum)}, mean {significant(one.mean)}"


def _interval(test: PairedTest) -> tuple[float, float] | None:
    """The interval of the test, where it has one in units of the scores."""
    low, high = test.interval
    if test.estimand.split()[0] in _IN_POINTS and np.isfinite([low, high]).all() and low < high:
        return (float(low), float(high))
    return None

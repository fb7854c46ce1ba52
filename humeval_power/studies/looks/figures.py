"""Pictures of a study with looks: boundaries, where studies stop, what they cost on average."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from humeval_power.saying.chart import Axis, Chart, Level, Panels, Series
from humeval_power.saying.numbers import POWER_LABEL
from humeval_power.studies.looks.boundaries import Boundaries
from humeval_power.studies.looks.how_many import PROCEDURE_WORDS, PROCEDURES, PoolStudy
from humeval_power.studies.looks.judgement_plan import OperatingPoint
from humeval_power.studies.looks.systems_looks import SystemsOperatingPoint

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_HIGHEST = 5.0  # z beyond this is outside the picture
_ROOM = 1.08  # of an axis above the largest value


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
    return boundary_chart(bounds, information_shares=information_shares, path=path).drawn(width)


def boundary_chart(
    bounds: Boundaries,
    *,
    information_shares: Sequence[float] | None = None,
    path: Sequence[tuple[float, float]] = (),
    name: str = "boundaries",
    words: str = "",
) -> Chart:
    """What `boundary_figure` draws."""
    shares = tuple(map(float, bounds.shares if information_shares is None else information_shares))
    efficacy = list(zip(shares, map(float, bounds.efficacy), strict=True))
    futility = [(x, float(z)) for x, z in zip(shares, bounds.futility, strict=True) if math.isfinite(z)]
    signs = (1, -1) if bounds.two_sided else (1,)
    series = []
    if futility and bounds.two_sided:
        x, high = zip(*futility, strict=True)
        series.append(Series("band", "", x, low=tuple(-z for z in high), high=high, colour=1))
    for sign in signs:
        inside = [(x, sign * z) for x, z in efficacy if z <= _HIGHEST]
        # the line leaves the picture where a boundary lies beyond it
        whole = [(x, sign * min(z, 4 * _HIGHEST)) for x, z in efficacy]
        series.append(Series.of("line", "" if inside else "significant beyond", whole))
        if inside:
            series.append(Series.of("marked", "significant beyond" if sign > 0 else "", inside))
    for sign in signs if futility else ():
        label = "" if sign < 0 else "futile within" if bounds.two_sided else "futile below"
        series.append(Series.of("marked", label, [(x, sign * z) for x, z in futility], 1))
    if path:
        series.append(Series.of("marked", "this study", [(0.0, 0.0), *path], 2))
    shown = [z for _, z in (*efficacy, *futility, *path) if abs(z) <= _HIGHEST]
    most = _ROOM * max((_HIGHEST if any(z > _HIGHEST for _, z in efficacy) else 0.0), *map(abs, shown), 1.0)
    least = -most if bounds.two_sided else min(0.0, _ROOM * min(shown, default=0.0), -0.05 * most)
    return Chart(
        name,
        "When may the study stop?",
        words,
        Axis("Information, of what is planned", 0, max(1.02, 1.02 * shares[-1]), "%", is_of_100=True),
        Axis("z with the p-value of the look", least, most),
        tuple(series),
        (Level("", 0.0, 7),),
    )


def stopping_figure(points: Sequence[OperatingPoint], *, unit: str = "", width: float = 4.6) -> Figure:
    """For each true effect the share of studies that end at each look: significant, and not."""
    return stopping_chart(points, unit=unit).drawn(width)


def stopping_chart(points: Sequence[OperatingPoint], *, unit: str = "", words: str = "") -> Chart:
    """What `stopping_figure` draws."""
    rows = tuple(map(float, range(len(points))))
    below, n_looks = np.zeros(len(points)), len(points[0].stopping)
    series = []
    for look in range(n_looks):
        success = np.array([point.success_by_look[look] for point in points])
        other = np.array([point.stopping[look] for point in points]) - success
        strength = round(1.0 - 0.55 * look / max(n_looks - 1, 1), 2)
        ending = "futile" if look + 1 < n_looks else "nothing shown"
        for shares, what, colour in ((success, "significant", 0), (other, ending, 1)):
            if colour == 1 and not other.max() > 0:
                continue
            label = f"look {look + 1}, {what}"
            texts = tuple(f"{100 * share:.0f}" for share in shares)
            low, high = tuple(100 * below), tuple(100 * (below + shares))
            bars = Series(
                "bars", label, y=rows, low=low, high=high, colour=colour, strength=strength, texts=texts
            )
            series.append(bars)
            below = below + shares
    names = tuple(f"effect {point.effect:.3g}" for point in points)
    return Chart(
        "stopping",
        f"At which look do studies end, by true effect{f' ({unit})' if unit else ''}?",
        words,
        Axis("Studies that end there", 0, 100, "%"),
        Axis("", 0, len(points), names=names),
        tuple(series),
    )


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
    chart = expected_cost_chart(
        points, size_at_end=size_at_end, cost_at_end=cost_at_end, currency=currency, unit=unit
    )
    return chart.drawn(width)


def expected_cost_chart(
    points: Sequence[OperatingPoint] | Sequence[SystemsOperatingPoint],
    *,
    size_at_end: float,
    cost_at_end: float = math.nan,
    currency: str = "",
    unit: str = "",
    name: str = "expected_cost",
    words: str = "",
) -> Panels:
    """What `expected_cost_figure` draws."""
    priced = not math.isnan(cost_at_end)
    effects = [point.effect for point in points]
    mean = [point.expected_cost if priced else point.expected_size for point in points]
    at_end = cost_at_end if priced else size_at_end
    x = Axis.around(f"True effect{f' ({unit})' if unit else ''}", effects)
    of_mean = Axis("", 0, _ROOM * max(*mean, at_end))
    cost = Chart(
        name,
        f"Expected cost ({currency})" if priced else "Expected ratings",
        words,
        x,
        of_mean,
        (Series.of("marked", "with looks", zip(effects, mean, strict=True)),),
        (Level("one look", at_end, 7),),
    )
    # without an effect there may be nothing to find, such as the best system
    shares = [(point.effect, (point.power, point.fixed_power)) for point in points]
    known = [(x, both) for x, both in shares if all(map(math.isfinite, both))]
    power = Chart(
        name,
        POWER_LABEL,
        words,
        x,
        Axis("", 0, 1),
        tuple(
            Series.of("marked", label, [(x, both[place]) for x, both in known], 7 * place)
            for place, label in enumerate(("with looks", "one look"))
        ),
    )
    return Panels(name, "What do looks save?", words, (cost, power), 1, 130.0)


# Pictures of a pool of comparisons: power against budget, and where the judgements go.


def budget_chart(study: PoolStudy, words: str) -> Panels:
    """Average power against the judgements that were spent: all pairs, those with small and those with large
    true differences (below and above the median), as in their Fig. 6."""
    size = np.abs(study.differences)
    small = size <= np.median(size)
    panels = {"all pairs": np.ones(len(size), bool), "small differences": small, "large ones": ~small}
    curves = {
        f"{title} ({int(pairs.sum())})": [study.curve(each, np.flatnonzero(pairs)) for each in PROCEDURES]
        for title, pairs in panels.items()
        if pairs.any()
    }
    most_spent = max(float(np.max(spent)) for of in curves.values() for spent, _ in of)
    charts = []
    for title, of in curves.items():
        most = _ROOM * max(float(np.max(power)) for _, power in of)
        series = tuple(
            Series.of(
                "marked",
                PROCEDURE_WORDS[procedure],
                zip(*map(np.ndarray.tolist, each), strict=True),
                number,
            )
            for number, (procedure, each) in enumerate(zip(PROCEDURES, of, strict=True))
        )
        x = Axis("Mean judgements spent per comparison", 0, _ROOM * most_spent)
        charts.append(
            Chart("budget", title, words, x, Axis("Average power", 0, min(most, 1.0) or 1.0), series)
        )
    return Panels("budget", "What does a budget find?", words, tuple(charts), 3)


def spending_chart(study: PoolStudy, *, budget: int, words: str) -> Panels:
    """Left: mean judgements of each pair against its true difference at one planned budget (their Fig. 5).
    Right: power of each pair with futility against power with one look where both spend the same on average
    (their Fig. 4)."""
    row = int(np.argmin(np.abs(study.budgets - budget)))
    differences = np.abs(study.differences).tolist()
    spent_on = [study.spent[number, row].tolist() for number in range(len(PROCEDURES))]
    of_pairs = tuple(
        Series.of("points", PROCEDURE_WORDS[PROCEDURES[number]], zip(differences, of, strict=True), number)
        for number, of in enumerate(spent_on)
    )
    planned = f"{study.budgets[row]:,.0f}"
    left = Chart(
        "spending",
        f"Where the judgements go, {planned} planned",
        words,
        Axis("True difference of means (points)", 0, _ROOM * max(differences)),
        Axis("Mean judgements", 0, _ROOM * max(map(max, spent_on))),
        of_pairs,
    )
    spent, _ = study.curve("interim-futility")
    same = int(np.argmin(np.abs(spent - study.budgets[row])))
    pairs = zip(study.power[0, row].tolist(), study.power[2, same].tolist(), strict=True)
    right = Chart(
        "spending",
        "The same spent, with futility",
        words,
        Axis(f"Power, one look at {planned}", 0, 1),
        Axis("Power with futility", 0, 1),
        (Series("line", "", (0, 1), (0, 1), colour=7), Series.of("points", "", pairs, 2)),
        caption=f"{study.budgets[same]:,.0f} planned, {spent[same]:,.0f} spent",
    )
    return Panels("spending", "Which pairs take the judgements?", words, (left, right))

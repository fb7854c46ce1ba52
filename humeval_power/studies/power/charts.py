"""What a study costs against its power, and what holds it back, as pictures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING

from humeval_power.costs import least_of_a_worker
from humeval_power.rules import DecisionRule
from humeval_power.saying.answer_words import (
    axis_unit,
    enough_work_words,
    of_hundred,
    points_words,
    share_words,
)
from humeval_power.saying.chart import Axis, Chart, Level, Mark, Series, Spot, Upright, spread
from humeval_power.saying.document import Fact, Table, table
from humeval_power.saying.numbers import POWER_LABEL, percent, power_words
from humeval_power.scales import RatingScale
from humeval_power.studies.power.estimate import PowerEstimate
from humeval_power.studies.power.formula import AnalyticPower
from humeval_power.studies.power.growth import TARGET, Growth
from humeval_power.studies.power.outlook import EffectCurve, Outlook
from humeval_power.studies.power.systems_goals import SystemsPower

if TYPE_CHECKING:
    from humeval_power.costs import Cost
    from humeval_power.studies.power.growth import CostCurve, Designs
    from humeval_power.studies.power.outlook import Part


# The pictures of a study's power, each the answer to a question, from what is known by formula.

POWER = Axis("Of 100 such studies find it", 0.0, 1.0, is_of_100=True)
CLAIM = Axis("Of 100 such studies show the claim", 0.0, 1.0, is_of_100=True)
_SIMULATED = 2  # the colour of what was simulated; 1 is that of what is marked


def growth_charts(
    outlook: Outlook, analytic: AnalyticPower, simulated: PowerEstimate | None, *, y: Axis = POWER
) -> Iterator[Chart]:
    """Power over workers, and over items: what more of them would bring."""
    counts = outlook.counts
    for growth in (outlook.workers, outlook.items):
        if growth is None or counts is None:
            continue
        grows, workers, items = growth.grows, f"{counts.n_workers:,} workers", f"{counts.n_items:,} items"
        here, other = (counts.n_workers, items) if grows == "workers" else (counts.n_items, workers)
        marks: list[Mark] = [target_line()]
        if growth.ceiling is not None:
            ceiling = growth.ceiling.power
            marks.append(Level(f"however many {grows}: {of_hundred(ceiling)}", ceiling, 5))
        marks += spots(here, f"this study: {here:,} {grows},", analytic, simulated)
        yield Chart(
            grows,
            f"What would more {grows} bring?",
            _growth_words(growth, here, other, analytic),
            Axis(grows.capitalize(), growth.sizes[0], growth.sizes[-1], is_log=True, is_whole=True),
            y,
            (Series("line", f"with {other}", growth.sizes, growth.powers),),
            tuple(marks),
            "By formula, with everything else as it is; the axis is logarithmic.",
        )


def _growth_words(growth: Growth, here: int, other: str, analytic: AnalyticPower) -> str:
    """What the curve says: the power here, where the target is reached, the ceiling."""
    said = f"With {here:,} {growth.grows} {of_hundred(analytic.power)} of 100 such studies find it"
    ceiling = growth.ceiling
    if ceiling is not None and not ceiling.reachable:
        most = of_hundred(ceiling.power)
        return f"{said}; no number of {growth.grows} takes that above {most} with {other}."
    if growth.enough is None:
        return f"{said}; with {growth.sizes[-1]:,} {of_hundred(growth.powers[-1])}."
    verb = "would reach" if growth.enough > here else "are enough for"
    return f"{said}; {growth.enough:,} {verb} {of_hundred(TARGET)}."


def target_line(target: float = TARGET) -> Level:
    """The power that is wanted."""
    return Level(f"wanted: {of_hundred(target)}", target)


def spots(
    x: float,
    words: str,
    analytic: AnalyticPower | SystemsPower | None,
    simulated: PowerEstimate | SystemsPower | None,
) -> Iterator[Spot]:
    """You are here: by formula, with words before its number, and as simulated with its interval."""
    if analytic is not None:
        yield Spot(f"{words} {of_hundred(analytic.power)}", x, analytic.power)
    if simulated is not None and not simulated.too_many_failed:
        low, high = simulated.interval
        text = f"simulated: {of_hundred(simulated.power, (low, high))}"
        yield Spot(text, x, simulated.power, low, high, _SIMULATED)


def effect_chart(
    curve: EffectCurve,
    effect: float,
    marks: Iterable[Mark],
    *,
    title: str,
    direction: str,
    scale: RatingScale | None,
    power: float,
) -> Chart:
    """Power over the true difference, whose `direction` is such as 'new - baseline'; at `effect` it is `power`."""
    factor, unit = axis_unit(scale)
    effects = tuple(factor * each for each in curve.effects)
    said, half = points_words(effect, scale, digits=3), curve.powers[len(curve.powers) // 4]
    return Chart(
        "power",
        title,
        f"A true difference of {said} is found by {of_hundred(power)} of 100 such studies, half of it by "
        f"{of_hundred(half)}, twice as much by {of_hundred(curve.powers[-1])}.",
        Axis(f"True difference {direction} {unit}", min(effects), max(effects)),
        POWER,
        (Series("line", "this study by formula", effects, curve.powers),),
        tuple(marks),
    )


def estimates_chart(
    outlook: Outlook,
    analytic: AnalyticPower,
    rule: DecisionRule,
    *,
    direction: str,
    scale: RatingScale | None,
) -> Iterator[Chart]:
    """The estimates that are to be expected, with and without the effect, and which of them are significant."""
    estimates = outlook.estimates
    factor, unit = axis_unit(scale)
    effect, at = factor * analytic.effect, tuple(factor * each for each in estimates.at)
    zeros = (0.0,) * len(at)
    has_margin = rule.margin is not None
    null = f"true difference {factor * estimates.null:.3g}" if has_margin else "no true difference"
    shown = [(null, estimates.under_null, estimates.null_found, 1)]
    marks: list[Mark] = []
    if analytic.effect != estimates.null:
        true = f"true difference {effect:.3g}"
        shown.append((true, estimates.under_effect, estimates.effect_found, 0))
        marks.append(Upright(f"the true {effect:.3g}", effect))
    series = []
    for name, density, found, colour in shown:
        label = f"{'shows the claim' if has_margin else 'significant'}, {name}"
        found, density = (tuple(each / factor for each in part) for part in (found, density))
        series.append(Series("band", label, at, (), zeros, found, colour))
        series.append(Series("line", name, at, density, colour=colour))
    if analytic.type_m == analytic.type_m:
        mean = effect * analytic.type_m
        marks.append(Upright(f"significant ones on average: {mean:.3g}", mean, _SIMULATED))
    top = max(*estimates.under_null, *estimates.under_effect) / factor
    yield Chart(
        "estimates",
        "What would be seen if there were no effect?" if not has_margin else "What would be seen?",
        _estimates_words(analytic, rule, scale),
        Axis(f"Estimated difference {direction} {unit}", at[0], at[-1]),
        Axis("Density", 0.0, 1.05 * top),
        tuple(series),
        tuple(marks),
        "The filled parts are the estimates that would be significant, with the standard error as each study would "
        "estimate it."
        if not has_margin
        else "The filled parts are the estimates that would show the claim.",
    )


def _estimates_words(analytic: AnalyticPower, rule: DecisionRule, scale: RatingScale | None) -> str:
    error = points_words(analytic.precision.standard_error, scale, digits=3)
    if rule.margin is not None:
        at = f"Where the true difference is {axis_unit(scale)[0] * rule.null_effect:.3g}"
        most = share_words(rule.alpha)
        return f"{at}, {most} of studies at most would show the claim; estimates spread by {error}."
    said = (
        f"Without any effect estimates still spread by {error} (SE), and {share_words(rule.alpha)} of them would "
        "be significant"
    )
    if not analytic.effect:
        return f"{said}."
    return f"{said}; with the effect {share_words(analytic.rejection_rate)}."


def curse_chart(
    outlook: Outlook, analytic: AnalyticPower, simulated: PowerEstimate | None
) -> Iterator[Chart]:
    """The winner's curse: how far significant estimates exaggerate, over power."""
    curse = outlook.curse
    if curse is None or analytic.type_m != analytic.type_m:
        return
    here = Spot(f"this study: {analytic.type_m:.2f} times", analytic.power, analytic.type_m)
    marks: list[Mark] = [Level("no exaggeration", 1.0), here]
    top = max(*curse.type_m, analytic.type_m)
    if simulated is not None and simulated.type_m == simulated.type_m:
        text = f"simulated: {simulated.type_m:.2f} times"
        marks.append(Spot(text, simulated.power, simulated.type_m, colour=_SIMULATED))
        top = max(top, simulated.type_m)
    yield Chart(
        "winners_curse",
        "How far do significant estimates exaggerate?",
        f"A significant estimate of this study is {analytic.type_m:.2f} times the true difference on average (type "
        f"M), and {100 * analytic.type_s:.2g} % of such estimates have the wrong sign (type S).",
        POWER,
        Axis("Estimate / true difference", min(0.9, *curse.type_m), 1.05 * top, is_log=top > 5),
        (Series("line", "significant estimates on average", curse.power, curse.type_m),),
        tuple(marks),
        "By formula, for studies with the same degrees of freedom and any power.",
        table(
            zip(curse.power, curse.type_m, curse.type_s, strict=True),
            {
                POWER_LABEL: lambda row: power_words(row[0]),
                "Type M": lambda row: f"{row[1]:.2f}",
                "Type S": lambda row: f"{row[2]:.4f}",
            },
        ),
    )


PART_WORDS: Mapping[Part, str] = {
    "workers": "workers' differences",
    "items": "items' differences",
    "documents": "documents' differences",
    "residual": "noise of single ratings",
    "pairs of worker and item": "tastes of workers for items",
}


def amount(value: float, unit: str) -> str:
    """'4,000 ratings', '480.00 USD'."""
    return f"{value:,.0f} {unit}" if unit == "ratings" else f"{value:,.2f} {unit}"


def money_facts(cost: Cost | int, budget: Decimal | None) -> Iterator[Fact]:
    """What a study costs, if it has prices and is not a number of ratings, and what is left of the budget."""
    unit = "ratings" if isinstance(cost, int) else cost.currency
    if not isinstance(cost, int):
        yield "Cost", str(cost)
    if budget is not None:
        left = float(budget) - float(cost if isinstance(cost, int) else cost.total)
        said = f"{amount(left, unit)} of it left" if left >= 0 else f"{amount(-left, unit)} too little"
        yield "Budget", f"{amount(float(budget), unit)}: {said}"


def cost_chart(
    outlook: Outlook, analytic: AnalyticPower, simulated: PowerEstimate | None, *, y: Axis
) -> Iterator[Chart]:
    """Cost against power: the best designs, and those of more workers or items alone."""
    spending = outlook.spending
    if spending is None or len(spending.front) < 2:
        return
    unit, front = spending.unit, spending.front
    # the axis ends a little beyond the study, the budget and, if that is not far, the target
    near = 2 * max(spending.cost, spending.budget or 0.0)
    reaching = [cost for cost, power in zip(front.cost, front.power, strict=True) if power >= TARGET]
    last = min(max(near, 1.25 * reaching[0]) if reaching else 2 * near, front.cost[-1])
    lines = (
        ("best split of workers and items", front, 0),
        ("only more or fewer workers", spending.more_workers, 4),
        ("only more or fewer items", spending.more_items, 3),
    )
    series = []
    for name, designs, colour in lines:
        points = sorted(zip(designs.cost, designs.power, strict=True))
        if len(set(designs.cost)) > 1:  # of items with a fixed number of ratings more workers cost nothing
            cost, power = zip(*([point for point in points if point[0] <= last] or points[:1]), strict=True)
            series.append(Series("line", name, cost, power, colour=colour))
    marks: list[Mark] = [target_line()]
    if spending.budget is not None:
        marks.append(Upright(f"budget {amount(spending.budget, unit)}", spending.budget, 6))
    marks += spots(spending.cost, f"this study: {amount(spending.cost, unit)},", analytic, simulated)
    noun = "Number of ratings" if unit == "ratings" else "Cost"
    enough_work = enough_work_words(least_of_a_worker(outlook.costs))
    yield Chart(
        "cost",
        "What does power cost?",
        " ".join(filter(None, [_cost_words(spending, analytic), enough_work])),
        Axis(noun, 0.0, last, "" if unit == "ratings" else unit, is_whole=unit == "ratings"),
        y,
        tuple(series),
        tuple(marks),
        "By formula. The best of the designs that were looked at, each worker rating each item."
        if front.workers == front.ratings_per_item
        else "By formula. The best of the designs that were looked at with as many ratings of an item as here.",
        _designs_table(front, unit),
    )


def _cost_words(spending: CostCurve, analytic: AnalyticPower) -> str:
    unit, front = spending.unit, spending.front
    found = of_hundred(analytic.power)
    said = f"This study: {amount(spending.cost, unit)}, and {found} of 100 such studies find it"
    if spending.budget is not None:
        left = spending.budget - spending.cost
        kept = "left of the budget" if left >= 0 else "more than the budget"
        said += f", {amount(abs(left), unit)} {kept}"
    reaching = [place for place, power in enumerate(front.power) if power >= TARGET]
    if not reaching:
        return f"{said}; with the best of what was looked at {of_hundred(front.power[-1])}."
    first = reaching[0]
    design = f"{front.workers[first]:,} workers and {front.items[first]:,} items"
    return f"{said}; {of_hundred(TARGET)} can be had for {amount(front.cost[first], unit)}, with {design}."


def _designs_table(designs: Designs, unit: str) -> Table:
    """At most thirteen designs, evenly along the list."""
    decimals = 0 if unit == "ratings" else 2
    return table(
        spread(range(len(designs))),
        {
            "Workers": lambda place: f"{designs.workers[place]:,}",
            "Items": lambda place: f"{designs.items[place]:,}",
            "Ratings per output": lambda place: f"{designs.ratings_per_item[place]:,}",
            "Ratings" if unit == "ratings" else f"Cost, {unit}": lambda place: (
                f"{designs.cost[place]:,.{decimals}f}"
            ),
            POWER_LABEL: lambda place: power_words(designs.power[place]),
        },
    )


def splits_chart(outlook: Outlook, analytic: AnalyticPower, *, y: Axis) -> Iterator[Chart]:
    """Designs of one cost, by how many workers share it."""
    spending, counts = outlook.spending, outlook.counts
    if spending is None or counts is None or len(spending.splits) < 2:
        return
    splits, unit = spending.splits, spending.unit
    best, here, least = splits.best, counts.n_workers, least_of_a_worker(outlook.costs)
    chosen = f"{splits.workers[best]:,} workers and {splits.items[best]:,} items"
    power, most = of_hundred(analytic.power), of_hundred(splits.power[best])
    marks: list[Mark] = [
        target_line(),
        Spot(f"this study: {here:,} workers, {counts.n_items:,} items, {power}", here, analytic.power),
        Spot(f"best: {chosen}, {most}", splits.workers[best], splits.power[best], colour=2),
    ]
    yield Chart(
        "splits",
        f"Workers or items, for {amount(spending.sum, unit)}?",
        f"The best use of {amount(spending.sum, unit)} is {chosen}: {most} of 100 such "
        f"studies find it, of this study {power}."
        + (f" Each worker gives {least:,} ratings or more." if least else ""),
        Axis("Workers", min(*splits.workers, here), max(*splits.workers, here), is_log=True, is_whole=True),
        y,
        (Series("line", "as many items as the sum buys", splits.workers, splits.power),),
        tuple(marks),
        "By formula; the axis is logarithmic.",
        _designs_table(splits, unit),
    )


def variance_chart(outlook: Outlook, factor: str) -> Iterator[Chart]:
    """What the variance of the estimated difference consists of."""
    parts = outlook.parts
    if parts is None or not (whole := sum(parts.values())):
        return
    series, start = [], 0.0
    for place, (part, variance) in enumerate(parts.items()):
        end = start + 100 * variance / whole
        if end > start:
            name = f"{PART_WORDS[part]} {percent(variance / whole)}"
            series.append(Series("bars", name, y=(0,), low=(start,), high=(min(end, 100.0),), colour=place))
        start = end
    largest = max(parts, key=lambda part: parts[part])
    helps = f" What helps most is more {factor}." if factor else ""
    yield Chart(
        "variance",
        "What holds this design back?",
        f"{PART_WORDS[largest].capitalize()} make up {percent(parts[largest] / whole)} of the variance of the "
        f"estimated difference.{helps}",
        Axis("Share of the variance", 0.0, 100.0, "%"),
        Axis("", 0.0, 1.0, names=("",)),
        tuple(series),
        numbers=table(
            parts.items(),
            {
                "Part": lambda row: PART_WORDS[row[0]],
                "Variance": lambda row: f"{row[1]:.3g}",
                "Share": lambda row: percent(row[1] / whole),
            },
        ),
    )

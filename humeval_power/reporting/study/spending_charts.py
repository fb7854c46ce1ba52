"""What a study costs against its power, and what holds it back, as pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING

from humeval_power.planning.study.growth import TARGET
from humeval_power.reporting.chart import Axis, Chart, Mark, Series, Spot, Upright, spread
from humeval_power.reporting.document import Fact, Table
from humeval_power.reporting.numbers import percent
from humeval_power.reporting.study.power_charts import TARGET_LINE, spots

if TYPE_CHECKING:
    from humeval_power.costs import Cost
    from humeval_power.inference.study.formula import AnalyticPower
    from humeval_power.planning.power import PowerEstimate
    from humeval_power.planning.study.outlook import Outlook
    from humeval_power.planning.study.spending import Designs, Spending
    from humeval_power.planning.study.variance_parts import Part


_SECOND, _THIRD, _FOURTH = 4, 3, 2  # colours of further lines; 1 and 2 are of what is marked
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
    last = _last(spending)
    lines = (
        ("best split of workers and items", front, 0),
        ("only more or fewer workers", spending.more_workers, _SECOND),
        ("only more or fewer items", spending.more_items, _THIRD),
    )
    series = tuple(
        _line(name, designs, colour, last) for name, designs, colour in lines if len(designs) > 1
    )
    marks: list[Mark] = [TARGET_LINE]
    if spending.budget is not None:
        marks.append(Upright(f"budget {amount(spending.budget, unit)}", spending.budget, 6))
    marks += spots(spending.cost, amount(spending.cost, unit), analytic, simulated)
    noun = "Number of ratings" if unit == "ratings" else "Cost"
    yield Chart(
        "cost",
        "What does power cost?",
        _cost_words(spending, analytic),
        Axis(noun, 0.0, last, "" if unit == "ratings" else unit, is_whole=unit == "ratings"),
        y,
        series,
        tuple(marks),
        "By formula. The best of the designs that were looked at with as many ratings of an item as here."
        if not _complete(spending)
        else "By formula. The best of the designs that were looked at, each worker rating each item.",
        _designs_table(front, unit),
    )


def _last(spending: Spending) -> float:
    """Where the axis of costs ends: a little beyond the study, the budget and, if that is not far, the target."""
    near = 2 * max(spending.cost, spending.budget or 0.0)
    reaching = [
        cost
        for cost, power in zip(spending.front.cost, spending.front.power, strict=True)
        if power >= TARGET
    ]
    return min(max(near, 1.25 * reaching[0]) if reaching else 2 * near, spending.front.cost[-1])


def _complete(spending: Spending) -> bool:
    return spending.front.workers == spending.front.ratings_per_item


def _line(name: str, designs: Designs, colour: int, last: float) -> Series:
    """The designs by cost, up to the last that is shown."""
    points = sorted((cost, power) for cost, power in zip(designs.cost, designs.power, strict=True))
    shown = [point for point in points if point[0] <= last] or points[:1]
    cost, power = zip(*shown, strict=True)
    return Series("line", name, cost, power, colour=colour)


def _cost_words(spending: Spending, analytic: AnalyticPower) -> str:
    unit, front = spending.unit, spending.front
    said = f"This study: {amount(spending.cost, unit)} for power {analytic.power:.2f}"
    if spending.budget is not None:
        left = spending.budget - spending.cost
        kept = "left of the budget" if left >= 0 else "more than the budget"
        said += f", {amount(abs(left), unit)} {kept}"
    reaching = [place for place, power in enumerate(front.power) if power >= TARGET]
    if not reaching:
        return f"{said}; the best of what was looked at has {front.power[-1]:.2f}."
    first = reaching[0]
    design = f"{front.workers[first]:,} workers and {front.items[first]:,} items"
    return f"{said}; {TARGET:g} can be had for {amount(front.cost[first], unit)}, with {design}."


def _designs_table(designs: Designs, unit: str) -> Table:
    """At most thirteen designs, evenly along the list."""
    places = spread(range(len(designs)))
    rows = tuple(
        (
            f"{designs.workers[place]:,}",
            f"{designs.items[place]:,}",
            f"{designs.ratings_per_item[place]:,}",
            f"{designs.cost[place]:,.0f}" if unit == "ratings" else f"{designs.cost[place]:,.2f}",
            f"{designs.power[place]:.3f}",
        )
        for place in places
    )
    cost = "Ratings" if unit == "ratings" else f"Cost, {unit}"
    return Table(("Workers", "Items", "Ratings per item", cost, "Power"), rows)


def splits_chart(outlook: Outlook, analytic: AnalyticPower, *, y: Axis) -> Iterator[Chart]:
    """Designs of one cost, by how many workers share it."""
    spending, counts = outlook.spending, outlook.counts
    if spending is None or counts is None or len(spending.splits) < 2:
        return
    splits, unit = spending.splits, spending.unit
    best = splits.best
    chosen = f"{splits.workers[best]:,} workers and {splits.items[best]:,} items"
    marks: list[Mark] = [
        TARGET_LINE,
        Spot(
            f"this study: {counts.n_workers:,} workers, {counts.n_items:,} items, {analytic.power:.2f}",
            counts.n_workers,
            analytic.power,
        ),
        Spot(
            f"best: {chosen}, {splits.power[best]:.2f}",
            splits.workers[best],
            splits.power[best],
            colour=_FOURTH,
        ),
    ]
    yield Chart(
        "splits",
        f"Workers or items, for {amount(spending.sum, unit)}?",
        f"The best use of {amount(spending.sum, unit)} is {chosen}: power {splits.power[best]:.2f}; this study has "
        f"{analytic.power:.2f}.",
        Axis("Workers", splits.workers[0], splits.workers[-1], is_log=True, is_whole=True),
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
    rows = tuple(
        (PART_WORDS[part], f"{variance:.3g}", percent(variance / whole)) for part, variance in parts.items()
    )
    helps = f" What helps most is more {factor}." if factor else ""
    yield Chart(
        "variance",
        "What holds this design back?",
        f"{PART_WORDS[largest].capitalize()} make up {percent(parts[largest] / whole)} of the variance of the "
        f"estimated difference.{helps}",
        Axis("Share of the variance", 0.0, 100.0, "%"),
        Axis("", 0.0, 1.0, names=("",)),
        tuple(series),
        numbers=Table(("Part", "Variance", "Share"), rows),
    )

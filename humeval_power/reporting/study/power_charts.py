"""The pictures of a study's power, each the answer to a question, from what is known by formula."""

from __future__ import annotations

from collections.abc import Iterator

from humeval_power.inference.study.formula import AnalyticPower
from humeval_power.planning.power import PowerEstimate
from humeval_power.planning.study.growth import TARGET, Growth
from humeval_power.planning.study.outlook import Curse, Outlook
from humeval_power.reporting.chart import Axis, Chart, Level, Mark, Series, Spot, Upright
from humeval_power.reporting.document import Table
from humeval_power.reporting.numbers import interval_words
from humeval_power.rules import DecisionRule

POWER = Axis("Power", 0.0, 1.0)
CLAIM = Axis("Chance to show the claim", 0.0, 1.0)
TARGET_LINE = Level(f"target {TARGET:g}", TARGET)
_GROWN = "By formula, with everything else as it is; the axis is logarithmic."
_FIRST, _THIRD, _SIXTH = 0, 2, 5  # colours of further lines


def growth_charts(
    outlook: Outlook, analytic: AnalyticPower, simulated: PowerEstimate | None, *, y: Axis = POWER
) -> Iterator[Chart]:
    """Power over workers, and over items: what more of them would bring."""
    counts = outlook.counts
    for growth in (outlook.workers, outlook.items):
        if growth is None or counts is None:
            continue
        here = counts.n_workers if growth.grows == "workers" else counts.n_items
        other = (
            f"{counts.n_items:,} items" if growth.grows == "workers" else f"{counts.n_workers:,} workers"
        )
        yield _growth_chart(growth, here, other, analytic, simulated, y)


def _growth_chart(
    growth: Growth,
    here: int,
    other: str,
    analytic: AnalyticPower,
    simulated: PowerEstimate | None,
    y: Axis,
) -> Chart:
    grows = growth.grows
    marks: list[Mark] = [TARGET_LINE]
    if growth.ceiling is not None:
        marks.append(Level(f"endless {grows}: {growth.ceiling.power:.2f}", growth.ceiling.power, _SIXTH))
    marks += spots(here, f"{here:,} {grows}", analytic, simulated)
    return Chart(
        grows,
        f"What would more {grows} bring?",
        _growth_words(growth, here, other, analytic),
        Axis(grows.capitalize(), growth.sizes[0], growth.sizes[-1], is_log=True, is_whole=True),
        y,
        (Series("line", f"with {other}", growth.sizes, growth.powers),),
        tuple(marks),
        _GROWN,
    )


def _growth_words(growth: Growth, here: int, other: str, analytic: AnalyticPower) -> str:
    """What the curve says: the power here, where the target is reached, the ceiling."""
    said = f"{here:,} {growth.grows} have power {analytic.power:.2f}"
    ceiling = growth.ceiling
    if ceiling is not None and not ceiling.reachable:
        return f"{said}; no number of {growth.grows} takes it above {ceiling.power:.2f} with {other}."
    if growth.enough is None:
        most = f"{growth.sizes[-1]:,} {growth.grows} have {growth.powers[-1]:.2f}"
        return f"{said}; {most}."
    verb = "would reach" if growth.enough > here else "are enough for"
    return f"{said}; {growth.enough:,} {verb} {TARGET:g}."


def spots(x: float, what: str, analytic: AnalyticPower, simulated: PowerEstimate | None) -> Iterator[Spot]:
    """You are here: by formula, and as simulated with its interval."""
    yield Spot(f"this study: {what}, {analytic.power:.2f}", x, analytic.power)
    if simulated is not None and not simulated.too_many_failed:
        low, high = simulated.interval
        text = f"simulated {simulated.power:.3f} ({interval_words(low, high, digits=3)})"
        yield Spot(text, x, simulated.power, low, high, _THIRD)


def effect_chart(
    outlook: Outlook, analytic: AnalyticPower, simulated: PowerEstimate | None, *, direction: str
) -> Iterator[Chart]:
    """Power over the true difference, whose `direction` is such as 'new - baseline'."""
    curve = outlook.effects
    if curve is None:
        return
    effect = analytic.effect
    found = f"A true difference of {effect:.3g} is found with power {analytic.power:.2f}"
    half = curve.powers[len(curve.powers) // 4]
    yield Chart(
        "power",
        "What if the true difference is another?",
        f"{found}, half of it with {half:.2f}, twice as much with {curve.powers[-1]:.2f}.",
        Axis(f"True difference {direction} on [0, 1]", min(curve.effects), max(curve.effects)),
        POWER,
        (Series("line", "this study by formula", curve.effects, curve.powers),),
        (TARGET_LINE, *spots(effect, f"{effect:.3g}", analytic, simulated)),
    )


def estimates_chart(
    outlook: Outlook, analytic: AnalyticPower, rule: DecisionRule, *, direction: str
) -> Iterator[Chart]:
    """The estimates that are to be expected, with and without the effect, and which of them are significant."""
    found = outlook.estimates
    has_margin = rule.margin is not None
    zeros = (0.0,) * len(found.at)
    null = f"true difference {found.null:.3g}" if has_margin else "no true difference"
    significant = "shows the claim" if has_margin else "significant"
    series = [
        Series("band", f"{significant}, {null}", found.at, (), zeros, found.null_found, 1),
        Series("line", null, found.at, found.under_null, colour=1),
    ]
    marks: list[Mark] = []
    if analytic.effect != found.null:
        true = f"true difference {analytic.effect:.3g}"
        series += [
            Series("band", f"{significant}, {true}", found.at, (), zeros, found.effect_found, 0),
            Series("line", true, found.at, found.under_effect, colour=0),
        ]
        marks.append(Upright(f"the true {analytic.effect:.3g}", analytic.effect))
    if analytic.type_m == analytic.type_m:
        mean = analytic.effect * analytic.type_m
        marks.append(Upright(f"significant ones on average: {mean:.3g}", mean, _THIRD))
    top = max(*found.under_null, *found.under_effect)
    yield Chart(
        "estimates",
        "What would be seen if there were no effect?" if not has_margin else "What would be seen?",
        _estimates_words(analytic, rule),
        Axis(f"Estimated difference {direction} on [0, 1]", found.at[0], found.at[-1]),
        Axis("Density", 0.0, 1.05 * top),
        tuple(series),
        tuple(marks),
        "The filled parts are the estimates that would be significant, with the standard error as each study would "
        "estimate it."
        if not has_margin
        else "The filled parts are the estimates that would show the claim.",
    )


def _estimates_words(analytic: AnalyticPower, rule: DecisionRule) -> str:
    error = analytic.precision.standard_error
    if rule.margin is not None:
        at = f"Where the true difference is {rule.null_effect:.3g}"
        return f"{at}, {rule.alpha:g} of studies at most would show the claim; estimates spread by {error:.3g}."
    said = (
        f"Without any effect estimates still spread by {error:.3g} (SE), and {rule.alpha:g} of them would be "
        "significant"
    )
    if not analytic.effect:
        return f"{said}."
    return f"{said}; with the effect {analytic.rejection_rate:.2f}."


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
        marks.append(Spot(text, simulated.power, simulated.type_m, colour=_THIRD))
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
        _curse_table(curse),
    )


def _curse_table(curse: Curse) -> Table:
    """Type M and S over power."""
    rows = zip(curse.power, curse.type_m, curse.type_s, strict=True)
    header = ("Power", "Type M", "Type S")
    return Table(header, tuple((f"{power:.3f}", f"{m:.2f}", f"{s:.4f}") for power, m, s in rows))

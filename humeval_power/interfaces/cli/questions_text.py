"""Answers to the questions power, mde, size and surface as text."""

from __future__ import annotations

import math
from typing import Any

from humeval_power.interfaces.cli.family import Family
from humeval_power.interfaces.cli.output import wrapped
from humeval_power.interfaces.cli.text import decimals, text_table
from humeval_power.planning.power import PowerEstimate
from humeval_power.planning.questions import Answer, Detectable, RequiredN
from humeval_power.scenarios.computed import ComputedPower
from humeval_power.scenarios.contract import Scenario


def answer_text(family: Family, result: Answer) -> str:
    """Power, computed and simulated."""
    facts = [("Effect", family.effect_words(result.scenario))]
    facts += [("Study", line) for line in family.words(result.scenario)]
    if result.computed is not None:
        facts += _computed_facts(result.computed)
    if result.simulated is not None:
        facts += _simulated_facts(result.simulated)
    return _lines(facts)


def _computed_facts(computed: ComputedPower) -> list[tuple[str, str]]:
    errors = _errors(computed.type_m, computed.type_s)
    return [("Computed", f"power {computed.power:.4f}{errors}"), ("", f"by {computed.method}")]


def _simulated_facts(estimate: PowerEstimate) -> list[tuple[str, str]]:
    low, high = estimate.interval
    failed = f", {estimate.n_failed:,} failed" if estimate.n_failed else ""
    if estimate.too_many_failed:
        failed = f"{100 * estimate.failure_rate:.0f} % of {estimate.n_simulations:,} studies"
        told = f"no power: {failed} could not be tested"
        return [("Simulated", told)]
    errors = _errors(estimate.type_m, estimate.type_s)
    return [
        ("Simulated", f"power {estimate.power:.4f}{errors}"),
        (
            "",
            f"95 % Monte Carlo interval {low:.3f} to {high:.3f}; {estimate.n_simulations:,} studies{failed}",
        ),
    ]


def _errors(type_m: float, type_s: float) -> str:
    if math.isnan(type_m):
        return ""
    return (
        f"; significant estimates exaggerate {type_m:.2f} times, {100 * type_s:.2g} % have the wrong sign"
    )


def detectable_text(family: Family, scenario: Scenario, found: list[Detectable]) -> str:
    """The smallest detectable effects."""
    facts = [("Study", line) for line in family.words(scenario)]
    for each in found:
        low, high = each.interval or (None, None)
        reach = (
            ""
            if low is None
            else f"  (95 % Monte Carlo interval {_shown(low)} to {_shown(high or math.nan)})"
        )
        facts.append(("MDE", f"{_shown(each.effect, family.unit)} with power {each.power:g}{reach}"))
        facts.append(("", f"by {each.method}"))
    return _lines(facts)


def required_text(family: Family, scenario: Scenario, found: RequiredN) -> str:
    """The smallest size, or that there is none."""
    facts = [("Effect", family.effect_words(scenario))]
    facts += [("Study", line) for line in family.words(scenario)]
    interval = found.interval
    reach = "" if interval is None else f", Monte Carlo interval {interval[0]:.3f} to {interval[1]:.3f}"
    if found.n is None:
        text = f"none up to {found.highest:,}: the power there is {found.power:.3f}{reach}"
    else:
        text = f"n = {found.n:,}  (power {found.power:.4f}{reach}; target {found.target:g})"
    return _lines([*facts, ("Size", text), ("", f"by {found.method}")])


def rows_text(family: Family, rows: list[dict[str, Any]]) -> str:
    """One line for each size and effect."""
    header = ["n", "effect", "power", "+-", "type M", "type S"]
    lines = [
        [
            f"{row['n']:,}",
            _shown(row["effect"], family.unit),
            f"{row['power']:.4f}",
            f"{(row['power_high'] - row['power_low']) / 2:.3f}" if row["n_simulations"] else "",
            decimals(row["type_m"], 2),
            decimals(row["type_s"], 4),
        ]
        for row in rows
    ]
    return text_table(header, lines, indent="")


def _shown(effect: float, unit: str = "") -> str:
    return f"{effect:.4g} {unit}".strip()


def _lines(facts: list[tuple[str, str]]) -> str:
    lines, last = [], ""
    for label, text in facts:
        lines.append(wrapped(text, bullet=f"{'' if label == last else label:<11}"))
        last = label or last
    return "\n".join(lines)

"""What `analyze` says of two systems, as text."""

from __future__ import annotations

import math
from typing import Any

from humeval_power.estimation.fit import Fit
from humeval_power.inference.study.wald import EffectTest
from humeval_power.interfaces.cli.output import wrapped
from humeval_power.interfaces.cli.study.fit_text import fit_text
from humeval_power.planning.analyze import Deviation, PowerAtInterest
from humeval_power.planning.power import PowerEstimate
from humeval_power.ratings import Ratings
from humeval_power.reporting.numbers import p_words
from humeval_power.reporting.rule_words import PARITY, margin_decision
from humeval_power.rules import DecisionRule, claim


def two_text(
    ratings: Ratings,
    fitted: Fit,
    tested: EffectTest,
    ranges: Any,
    size: PowerEstimate | None,
    interest: PowerAtInterest | None,
    found: tuple[Deviation, ...] | None,
    between: list[dict[str, Any]],
    *,
    by_looks: bool | None = None,
) -> str:
    """The comparison of two systems. `by_looks`: whether a study with looks passed its boundary, which then
    decides."""
    parts = [
        fit_text(ratings, fitted, tested, ranges, size),
        _decision(ratings, tested, is_planned=found is not None, by_looks=by_looks),
        _agreement_text(between),
    ]
    if interest is not None:
        parts.append(_interest_text(interest, tested.rule))
    if found is not None:
        parts.append(_deviations_text(found))
    return "\n\n".join(parts)


def _agreement_text(between: list[dict[str, Any]]) -> str:
    """Agreement overall, in a line for each measure that is defined."""
    lines = []
    for one in between:
        if one["value"] is not None and " within " not in one["measure"]:
            low, high = one["interval"] or (None, None)
            reach = "" if low is None or high is None else f" ({low:.2f} to {high:.2f})"
            lines.append(f"  {one['measure']}: {one['value']:.2f}{reach}")
    return "Agreement (95 % intervals)\n" + ("\n".join(lines) or "  not defined for this table")


def _decision(ratings: Ratings, tested: EffectTest, *, is_planned: bool, by_looks: bool | None) -> str:
    a, b = ratings.system_names
    shown = tested.significant if by_looks is None else by_looks
    if tested.reason:
        return wrapped(
            f"None: {tested.reason}. Nothing is shown, and nothing is excluded.", bullet="Decision  "
        )
    if tested.rule.margin is not None:
        text = margin_decision(
            tested.rule,
            (a, b),
            interval=tested.interval,
            shown=tested.significant,
            scale=ratings.scale,
        )
    elif shown:
        better, worse = (b, a) if tested.estimate > 0 else (a, b)
        text = f"{better} is rated higher than {worse} ({p_words(tested.p_value)})."
    elif tested.significant:
        text = (
            f"No difference is shown: {p_words(tested.p_value)} does not pass the boundary of the last "
            "look. That does not show that there is none."
        )
    else:
        text = (
            f"No difference is shown ({p_words(tested.p_value)}). That does not show that there is none: "
            f"the interval reaches from {tested.interval[0]:.3f} to {tested.interval[1]:.3f}."
        )
    if tested.rule.margin is not None and not is_planned:
        text += f" {PARITY}"
    return wrapped(text, bullet="Decision  ")


def _interest_text(interest: PowerAtInterest, rule: DecisionRule) -> str:
    finds = "finds it" if rule.margin is None else f"shows {claim(rule)}"
    lines = [
        f"If the true difference is {interest.effect:g}, a study of this design {finds} with probability "
        f"{interest.fitted:.2f} at these ratings' variances"
        + ("" if interest.planned is None else f", {interest.planned:.2f} at those the plan assumed")
        + ("." if interest.promised is None else f"; the plan promised {interest.promised:.2f}."),
    ]
    if rule.margin is None and math.isfinite(interest.type_m):
        lines.append(
            f"A significant result here would then exaggerate it {interest.type_m:.2f} times on average, and "
            f"have the wrong sign in {_percent(interest.type_s)} of such studies."
        )
    return "\n".join(
        wrapped(line, bullet="Interest  " if i == 0 else " " * 10) for i, line in enumerate(lines)
    )


def _percent(share: float) -> str:
    return "less than 0.01 %" if share < 1e-4 else f"{100 * share:.2g} %"


def _deviations_text(found: tuple[Deviation, ...]) -> str:
    if not found:
        return "Deviations from the plan: none."
    rows = [
        wrapped(f"{one.what}: planned {one.planned}; found {one.actual}", bullet="  - ") for one in found
    ]
    return "Deviations from the plan\n" + "\n".join(rows)

"""The looks of a plan in words: when, by which boundaries, and what they are expected to save."""

from __future__ import annotations

import math
from dataclasses import asdict

from humeval_power.costs import money
from humeval_power.planning.plan.plan import Plan
from humeval_power.planning.plan.planned_systems import PlannedSystems
from humeval_power.planning.plan.request import PlanResult
from humeval_power.planning.plan.with_looks import SequentialOption
from humeval_power.reporting.numbers import counted
from humeval_power.reporting.records import Record

NON_BINDING = "Futility does not bind: the study may go on."
BINDING = "Futility binds: the boundaries of success count on it."


def looks_sentence(plan: Plan) -> str:
    """When a planned study is tested before its end, and at which levels."""
    schedule = plan.looks
    assert schedule is not None
    levels = [float(level) for level in plan.look_boundaries().nominal]
    looks = "; ".join(
        f"at {100 * at:.3g} % of the {schedule.looks.kind}, success at p <= {level:.5f}"
        for at, level in zip(schedule.looks.shares, levels, strict=True)
    )
    over = "all looks" if plan.many is None else "all looks and comparisons"
    text = (
        f"The data are tested at {schedule.looks.n_looks} looks ({schedule.efficacy} in information time, "
        f"alpha {plan.rule.alpha:g} over {over}): {looks}."
    )
    if plan.many is not None:
        text += f" {_steps(plan.many)}"
    if schedule.factor != 1:
        text += f" The levels were calibrated by simulation (factor {schedule.factor:.3f})."
    if schedule.futility is not None:
        bind = BINDING if schedule.futility.binding else NON_BINDING
        text += f" Futility rule: {schedule.futility}. {bind}"
    return text


def _steps(many: PlannedSystems) -> str:
    """Of which comparison levels are told, and how they move."""
    n, names = many.n_tests, many.parameters.names
    first, second = (names[place] for place in many.hardest)
    share = f"alpha / {n}" if many.family.correction != "none" else "alpha"
    said = (
        f"These levels are those of {second} - {first}; each of the {counted(n, 'comparison')} has levels by its "
        f"own information, at {share} while none is shown."
    )
    if many.family.correction == "holm":
        said += (
            " A comparison that is shown stays so, and its share of alpha passes to the others, whose levels are "
            "solved anew and which are tested again at the same look (Maurer and Bretz 2013)."
        )
    return f"{said} Collection ends when each comparison is shown or futile."


def expectation_sentence(plan: Plan) -> str | None:
    """Ratings and cost to expect; None without looks or simulation."""
    expected = plan.expected
    if expected is None:
        return None
    text = (
        f"Expected ratings: {expected.ratings_if_effect:,.0f} if the difference of interest is true, "
        f"{expected.ratings_if_none:,.0f} if there is none, of at most {plan.design().n_ratings:,}."
    )
    if not math.isnan(expected.cost_if_effect) and plan.costs is not None:
        text += (
            f" Expected cost: {money(expected.cost_if_effect, plan.costs.currency)} and "
            f"{money(expected.cost_if_none, plan.costs.currency)}."
        )
    return text


def look_facts(result: PlanResult) -> list[tuple[str, str]]:
    """(label, sentence) about the looks of the chosen design; none without looks."""
    found, wish = result.chosen.sequential, result.request.looks
    if found is None or wish is None:
        return []
    rows, levels = found.plan.rows, found.plan.first_levels
    facts = [
        ("Looks", f"{wish.looks}; boundaries {wish.efficacy}, by {found.plan.method}"),
        *(
            (
                "",
                f"look {number}: {row.n_ratings:,} ratings, {100 * row.information_share:.0f} % of the "
                f"information, success at p <= {level:.5f}",
            )
            for number, (row, level) in enumerate(zip(rows, levels, strict=True), start=1)
        ),
        ("Expected", _expected(found, result)),
    ]
    own, naive = found.plan.errors[0], found.plan.errors[-1]
    low, high = own.interval
    where = "without an effect" if result.request.many is None else "where all systems are equal"
    facts.append(
        (
            "Errors",
            f"{where} these boundaries claim a difference in {100 * own.rate:.1f} % of studies "
            f"({100 * low:.1f} to {100 * high:.1f}, simulated); {naive.procedure}: {100 * naive.rate:.0f} %",
        )
    )
    advised = next((choice for choice in found.choices if choice.recommended), None)
    if advised is not None and advised.n_looks != wish.looks.n_looks:
        facts.append(("Advice", f"{advised.n_looks} equal looks would do: more save less than 2 % each"))
    return facts


def _expected(found: SequentialOption, result: PlanResult) -> str:
    expected, most = found.expected, found.plan.rows[-1].n_ratings
    text = (
        f"{expected.ratings_if_effect:,.0f} ratings if the effect is true, {expected.ratings_if_none:,.0f} if "
        f"there is none, of at most {most:,}"
    )
    if not math.isnan(expected.cost_if_effect):
        currency = result.request.costs.currency
        text += (
            f"; cost {money(expected.cost_if_effect, currency)} and "
            f"{money(expected.cost_if_none, currency)}, of at most {result.chosen.cost}"
        )
    return text


def look_choice_record(result: PlanResult) -> Record | None:
    """The looks of the chosen design as plain values; None without looks."""
    found, wish = result.chosen.sequential, result.request.looks
    if found is None or wish is None:
        return None
    return {
        "by": wish.looks.kind,
        "shares": list(wish.looks.shares),
        "efficacy": str(wish.efficacy),
        "futility": "none" if wish.futility is None else str(wish.futility),
        "information": list(found.plan.information_shares),
        "nominal": list(found.plan.first_levels),
        "calibration": None if found.plan.calibration is None else asdict(found.plan.calibration),
        "false_positives": [asdict(error) for error in found.plan.errors],
        "expected": asdict(found.expected),
        "numbers_of_looks": [asdict(choice) for choice in found.choices],
    }

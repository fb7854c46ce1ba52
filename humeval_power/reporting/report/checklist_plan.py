"""What a plan, and the departures from it, say about the items of the checklist."""

from __future__ import annotations

from collections.abc import Mapping

from humeval_power.parameters import PARAMETER_NAMES
from humeval_power.planning.plan.plan import Plan
from humeval_power.reporting.document import Table
from humeval_power.reporting.report.power_answers import Answer
from humeval_power.reporting.report.power_words import plan_power
from humeval_power.reporting.report.sentences import pay_sentence
from humeval_power.reporting.rule_words import margin_words
from humeval_power.reporting.values import NOTHING, SHORT_HASH, Document, listed, plain, signed


def plan_answers(plan: Plan, *, checksum: str | None, study: Document = NOTHING) -> dict[str, Answer]:
    """Answers by the key of the item. What only the authors know, such as why a difference matters or where
    the plan is kept, stays open.

    checksum : of the plan's file. study : the analysis, which lists the departures from the plan.
    """
    found = {
        "effect_of_interest": Answer(_difference_of_interest(plan), False),
        "power": Answer(plan_power(plan)),
        "power_assumptions": _assumptions(plan),
        "analysis_plan": Answer(_planned(checksum, study), False),
    }
    pay = pay_sentence(plan)
    if pay is not None:
        found["pay"] = Answer(pay, False)
    if plan.exclusions:
        found["quality_control"] = Answer(f"Planned: {' '.join(plan.exclusions)}", False)
    return found


def _difference_of_interest(plan: Plan) -> str:
    if plan.rule.margin is not None:
        return f"A margin of {margin_words(plan.rule, plan.scale)}, by the plan."
    return f"{signed(plan.effect)} on [0, 1]{_raw(plan)}, by the plan."


def _raw(plan: Plan) -> str:
    scale = plan.scale
    if scale is None:
        return ""
    return f" ({signed(scale.effect_to_raw(plan.effect))} on the scale {scale.low:g} to {scale.high:g})"


def _assumptions(plan: Plan) -> Answer:
    assumed = plan.parameters.recoded()
    rows = tuple((name, plain(getattr(assumed, name))) for name in PARAMETER_NAMES if name != "effect")
    return Answer(
        f"On [0, 1], from {plan.source.name}; the slopes are those of the difference B - A.",
        table=Table(("parameter", "assumed"), rows),
    )


def _planned(checksum: str | None, study: Document) -> str:
    sealed = f" Its SHA-256 starts with {checksum[:SHORT_HASH]}." if checksum else ""
    said = f"There was a plan.{sealed}"
    if study.get("deviations") is None:
        return said
    found = [one for one in listed(study, "deviations") if isinstance(one, Mapping)]
    if not found:
        return f"{said} The study was carried out and analysed as planned."
    told = "; ".join(
        f"{one.get('what')}: {one.get('actual')} (planned: {str(one.get('planned')).rstrip('.')})"
        for one in found
    )
    return f"{said} Departures: {told}."

"""What a plan, and the departures from it, say about the items of the checklist."""

from __future__ import annotations

from collections.abc import Mapping

from humeval_power.planning.plan.plan import Plan
from humeval_power.reporting.report.plans.words import words_of_plan
from humeval_power.reporting.report.power_answers import Answer
from humeval_power.reporting.report.sentences import pay_sentence
from humeval_power.reporting.values import NOTHING, SHORT_HASH, Document, listed


def plan_answers(plan: Plan, *, checksum: str | None, study: Document = NOTHING) -> dict[str, Answer]:
    """Answers by the key of the item. What only the authors know, such as why a difference matters or where
    the plan is kept, stays open.

    checksum : of the plan's file. study : the analysis, which lists the departures from the plan.
    """
    said = words_of_plan(plan)
    found = {
        "effect_of_interest": Answer(said.of_interest(), False),
        "power": Answer(said.power()),
        "power_assumptions": said.assumed(),
        "analysis_plan": Answer(_planned(checksum, study), False),
    }
    pay = pay_sentence(plan)
    if pay is not None:
        found["pay"] = Answer(pay, False)
    if plan.left_out_words:
        found["quality_control"] = Answer(f"Planned: {' '.join(plan.left_out_words)}", False)
    return found


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

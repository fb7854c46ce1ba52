"""Preregistrations, before collection: AsPredicted's nine fields and the 25 of OSF's template.

They are filled from a plan alone; there is no argument through which ratings could get in.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from humeval_power.studies.plan.plan import Plan
from humeval_power.studies.report.config import NO_CONFIG, ReportConfig
from humeval_power.studies.report.fields import FormField, FormPage, Given, fields_of, prompts
from humeval_power.studies.report.plans import PlanWords

ASPREDICTED_LENGTH = 3200  # characters that AsPredicted advises for all answers together


def aspredicted_fields(
    plan: Plan, config: ReportConfig = NO_CONFIG, *, plan_name: str = "the plan"
) -> tuple[FormField, ...]:
    """AsPredicted's nine fields, by the plan; plan_name is what their source is called."""
    return _fields("aspredicted", PlanWords(plan), config, plan_name)


def osf_fields(
    plan: Plan,
    config: ReportConfig = NO_CONFIG,
    *,
    plan_name: str = "the plan",
    checksum: str | None = None,
) -> tuple[FormField, ...]:
    """The 25 fields of OSF's template, by the plan; checksum is that of its file, where there is one."""
    return _fields("osf", PlanWords(plan, checksum), config, plan_name)


def _fields(
    form: Literal["aspredicted", "osf"], said: PlanWords, config: ReportConfig, plan_name: str
) -> tuple[FormField, ...]:
    """Each field by the passages of the plan that answer it; the authors' own words come first."""
    answers: dict[str, Given | None] = {}
    for asked in prompts(form):
        passages = map(said.passage, asked.answer.removeprefix("?").split())
        of_plan = Given(" ".join(filter(None, passages)), plan_name, not asked.answer.startswith("?"))
        own = (config.given(name) for name in asked.own)
        answers[asked.number] = next(filter(None, own), of_plan)
    return fields_of(prompts(form), answers)


def aspredicted_page(fields: Sequence[FormField]) -> FormPage:
    """The fields with a title and a note."""
    length = sum(len(field.answer or "") for field in fields)
    note = (
        f"For https://aspredicted.org, with prompts of our own. The answers have {length:,} characters; "
        f"AsPredicted advises about {ASPREDICTED_LENGTH:,}."
    )
    return FormPage("Preregistration: AsPredicted", note, tuple(fields))


def osf_page(fields: Sequence[FormField]) -> FormPage:
    """The fields with a title and a note."""
    note = "For the OSF Preregistration template at https://osf.io/prereg, with prompts of our own."
    return FormPage("Preregistration: OSF", note, tuple(fields))

"""The fields of a form, filled from the files that were given."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from humeval_power.interfaces.cli.report.sources import (
    Sources,
    read_config,
    read_criteria,
    read_documents,
)

if TYPE_CHECKING:
    from humeval_power.reporting.report.fields import FormField
    from humeval_power.reporting.report.items import Checklist
    from humeval_power.reporting.report.pages import FormPage

FieldForm = Literal["heds", "arr", "aspredicted", "osf"]


def study_checklist(sources: Sources) -> Checklist:
    """The recommendations of Card et al., filled; the analysis says more than the fit of the ratings."""
    from humeval_power.reporting.report.checklist import checklist
    from humeval_power.reporting.report.checklist_answers import given_answers
    from humeval_power.reporting.report.checklist_plan import plan_answers

    answers = read_config(sources.config)
    given = read_documents(sources)
    names = sources.names
    if "analysis" in names:
        names["parameters"] = names["analysis"]
    planned = (
        None
        if given.plan is None
        else plan_answers(given.plan, checksum=given.plan_checksum, study=given.study)
    )
    return checklist(
        given.study,
        given.surface,
        power=given.power,
        planned=planned,
        given=given_answers(answers, criterion=given.criterion),
        names=names,
    )


def form_fields(form: FieldForm, sources: Sources) -> tuple[Sequence[FormField], FormPage]:
    """The fields of a form, and the page that shows them."""
    from humeval_power.reporting.report import arr, prereg
    from humeval_power.reporting.report.heds import answers as heds

    answers = read_config(sources.config)
    fields: Sequence[FormField]
    if form == "heds":
        first, *further = read_criteria(sources)
        fields = heds.heds_fields(first, answers, further_criteria=further)
        return fields, heds.heds_page(fields)
    documents = read_documents(sources)
    if form == "arr":
        fields = arr.arr_fields(documents, answers)
        return fields, arr.arr_page(fields)
    plan = documents.plan
    if plan is None:
        raise click.UsageError(
            "A preregistration is written from a plan, before collection: give --plan FILE."
        )
    name = Path(sources.plan or "plan.json").name
    if form == "aspredicted":
        fields = prereg.aspredicted_fields(plan, answers, plan_name=name)
        return fields, prereg.aspredicted_page(fields)
    fields = prereg.osf_fields(plan, answers, plan_name=name, checksum=documents.plan_checksum)
    return fields, prereg.osf_page(fields)

"""The fields on human evaluation of the ARR Responsible NLP checklist, by the names of its web form."""

from __future__ import annotations

from collections.abc import Sequence

from humeval_power.saying.row_flow import flow_sentence
from humeval_power.saying.values import JsonRecord
from humeval_power.studies.report.config import NO_CONFIG, ReportConfig
from humeval_power.studies.report.documents import (
    CriterionDocuments,
    command_words,
    software_words,
)
from humeval_power.studies.report.fact_words import StudyWords
from humeval_power.studies.report.fields import FormField, FormPage, Given, fields_of, given, prompts
from humeval_power.studies.report.power_answers import pay_sentence


def arr_fields(documents: CriterionDocuments, config: ReportConfig = NO_CONFIG) -> tuple[FormField, ...]:
    """Texts for the fields; the form adds to each yes, no or not applicable, and a section number."""
    facts, source = documents.facts, documents.study_source
    said = StudyWords(facts)
    effect = said.effect()
    answers: dict[str, Given | None] = {
        **{asked.number: config.given(asked.own[0]) for asked in prompts("arr") if asked.own},
        "B6": _joined(source, said.size(), flow_sentence(facts.record)),
        "C3": effect and _joined(source, effect.text, said.scores(), said.interest()),
        "C4": _joined(source, said.test(), said.estimates(), *_made_by(documents.study)),
        "D2": _recruitment_and_pay(documents, config),
    }
    return fields_of(prompts("arr"), answers)


def arr_page(fields: Sequence[FormField]) -> FormPage:
    """The fields with a title and a note."""
    note = (
        "Texts for the fields on human evaluation of the Responsible NLP checklist of ARR, with prompts of "
        "our own. The web form asks for yes, no or not applicable and a section number besides."
    )
    return FormPage("Responsible NLP checklist: human evaluation", note, tuple(fields))


def _joined(source: str, *texts: str | None) -> Given | None:
    return given(" ".join(filter(None, texts)), source)


def _made_by(study: JsonRecord) -> list[str | None]:
    software, command = software_words(study), command_words(study)
    return [
        None if software is None else f"Software: {software}.",
        None if command is None else f"Command: {command}",
    ]


def _recruitment_and_pay(documents: CriterionDocuments, config: ReportConfig) -> Given | None:
    """The authors' words; without them the planned pay, which says nothing on recruitment."""
    planned = pay_sentence(documents.plan)
    by_plan = given(planned, documents.name("plan"), False)
    known = {"recruitment": None, "payment": by_plan}
    own = [said for name, plan in known.items() if (said := config.given(name, known=plan))]
    if len(own) == 2:
        sources = dict.fromkeys(one.source for one in own)
        return Given(" ".join(one.text for one in own), "; ".join(sources))
    texts = [*(one.text for one in own), *([planned] if planned else [])]
    if not texts:
        return None
    named = [one.source for one in own] + ([documents.name("plan")] if planned else [])
    return Given(" ".join(texts), "; ".join(named), False)

"""The fields on human evaluation of the ARR Responsible NLP checklist, by the names of its web form."""

from __future__ import annotations

from collections.abc import Sequence

from humeval_power.saying.row_flow import flow_sentence
from humeval_power.saying.values import JsonRecord
from humeval_power.studies.report.config import NO_CONFIG, ReportConfig
from humeval_power.studies.report.documents import (
    CriterionDocuments,
    command_words,
    interest_sentence,
    size_sentence,
    software_words,
)
from humeval_power.studies.report.fact_words import StudyWords
from humeval_power.studies.report.fields import FieldPrompt, FormField, FormPage, Given, fields_of
from humeval_power.studies.report.power_answers import pay_sentence

DATA, RESULTS, PEOPLE, TOOLS = "B Data", "C Results", "D Workers", "E Tools"
ARR_FIELDS = (
    FieldPrompt(
        "B4_data_contains_personally_identifying_info", "B4", "Steps to make the ratings anonymous", DATA
    ),
    FieldPrompt("B5_documentation_of_artifacts", "B5", "Documentation and licence of the ratings", DATA),
    FieldPrompt("B6_statistics_for_data", "B6", "Size of the data", DATA),
    FieldPrompt(
        "C3_descriptive_statistics", "C3", "Estimates with their uncertainty, and of what", RESULTS
    ),
    FieldPrompt("C4_parameters_for_packages", "C4", "Packages, versions and settings", RESULTS),
    FieldPrompt("D1_instructions_given_to_participants", "D1", "Instructions to the workers", PEOPLE),
    FieldPrompt(
        "D2_recruitment_and_payment", "D2", "Recruitment and pay, and whether it is adequate", PEOPLE
    ),
    FieldPrompt("D3_data_consent", "D3", "Consent to the use of the ratings", PEOPLE),
    FieldPrompt("D4_ethics_review_board_approval", "D4", "Ethics review", PEOPLE),
    FieldPrompt("D5_characteristics_of_annotators", "D5", "Who the workers are", PEOPLE),
    FieldPrompt(
        "E1_information_about_use_of_ai_assistants", "E1", "Assistants used for text or code", TOOLS
    ),
)

FROM_CONFIG = {
    "B4": "anonymisation",
    "B5": "licence",
    "D1": "instructions",
    "D3": "consent",
    "D4": "ethics",
    "D5": "characteristics",
    "E1": "assistants",
}


def arr_fields(documents: CriterionDocuments, config: ReportConfig = NO_CONFIG) -> tuple[FormField, ...]:
    """Texts for the fields; the form adds to each yes, no or not applicable, and a section number."""
    facts, source = documents.facts, documents.study_source
    said = StudyWords(facts)
    effect = said.effect()
    answers: dict[str, Given | None] = {
        **{number: config.given(name) for number, name in FROM_CONFIG.items()},
        "B6": _joined(source, size_sentence(facts), flow_sentence(facts.record)),
        "C3": effect and _joined(source, effect.text, said.scores(), interest_sentence(facts)),
        "C4": _joined(source, said.test(), said.estimates(), *_made_by(documents.study)),
        "D2": _recruitment_and_pay(documents, config),
    }
    return fields_of(ARR_FIELDS, answers)


def arr_page(fields: Sequence[FormField]) -> FormPage:
    """The fields with a title and a note."""
    note = (
        "Texts for the fields on human evaluation of the Responsible NLP checklist of ARR, with prompts of "
        "our own. The web form asks for yes, no or not applicable and a section number besides."
    )
    return FormPage("Responsible NLP checklist: human evaluation", note, tuple(fields))


def _joined(source: str, *texts: str | None) -> Given | None:
    said = " ".join(filter(None, texts))
    return Given(said, source) if said else None


def _made_by(study: JsonRecord) -> list[str | None]:
    software, command = software_words(study), command_words(study)
    return [
        None if software is None else f"Software: {software}.",
        None if command is None else f"Command: {command}",
    ]


def _recruitment_and_pay(documents: CriterionDocuments, config: ReportConfig) -> Given | None:
    """The authors' words; without them the planned pay, which says nothing on recruitment."""
    planned = pay_sentence(documents.plan)
    by_plan = None if planned is None else Given(planned, documents.name("plan"), False)
    known = {"recruitment": None, "payment": by_plan}
    own = [given for name, plan in known.items() if (given := config.given(name, known=plan))]
    if len(own) == 2:
        sources = dict.fromkeys(given.source for given in own)
        return Given(" ".join(given.text for given in own), "; ".join(sources))
    texts = [*(given.text for given in own), *([planned] if planned else [])]
    if not texts:
        return None
    named = [given.source for given in own] + ([documents.name("plan")] if planned else [])
    return Given(" ".join(texts), "; ".join(named), False)

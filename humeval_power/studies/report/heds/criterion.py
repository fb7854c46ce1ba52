"""The Human Evaluation Datasheet, version 3.0, filled from the documents of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from humeval_power.checking.columns import close_to
from humeval_power.comparisons.agreement.result_report import agreement_measures, agreement_values
from humeval_power.errors import InputError, Problem
from humeval_power.safe_text import toml_text
from humeval_power.studies.report.config import NO_CONFIG, SOURCE, HedsAnswer, ReportConfig
from humeval_power.studies.report.documents import CriterionDocuments, scale_size, scale_values
from humeval_power.studies.report.fact_words import StudyWords
from humeval_power.studies.report.fields import UNNAMED, FormField, FormPage, Given, field_of, given
from humeval_power.studies.report.heds.form import (
    FORM_LINK,
    Chosen,
    HedsQuestion,
    heds_questions,
    option_words,
    unlike,
)
from humeval_power.studies.report.heds.study import study_fields

# Answers to section 4 of HEDS 3.0, which asks once for each criterion.

ABSOLUTE, DIRECT = 1, 2


def criterion_fields(
    documents: CriterionDocuments, own: Mapping[str, HedsAnswer]
) -> dict[str, Given | None]:
    """Answers by number for the criterion of the documents; `own` are the authors' texts of it."""
    said, study, source = StudyWords(documents.facts), documents.study, documents.study_source
    known: dict[str, Given | None] = {
        # the name of the column; whether workers saw it is not known
        "4.3.1.1": given(documents.criterion, source if study else "the table of ratings", False),
        **_of_scale(documents),
        "4.3.9": given(said.scores(), source),
        "4.3.10": given(said.measures(), source),
        "4.3.11.1": given(agreement_measures(study, "between"), source),
        "4.3.11.2": given(agreement_values(study, "between"), source),
        "4.3.12.1": given(agreement_measures(study, "within"), source),
        "4.3.12.2": given(agreement_values(study, "within"), source),
    }
    for question in heds_questions():
        text = own.get(question.own) if question.is_per_criterion else None
        if isinstance(text, str) and text.strip():
            known[question.number] = Given(text, SOURCE)
    return known


def _of_scale(documents: CriterionDocuments) -> dict[str, Given | None]:
    """What the scale says of the ratings, by the plan before there are any.

    Each rating is of one output; whether two were on the screen at once is not in a table.
    """
    scale, source = documents.facts.scale, documents.study_source
    if scale is None and documents.plan is not None:
        scale, source = documents.plan.scale, documents.name("plan")
    if scale is None:
        return {}
    absolute = (
        "Absolute: each rating is of one output, unless workers saw outputs of "
        f"{documents.facts.several_systems} at once."
    )
    direct = "Quality rated on a scale, unless workers were asked how far they agree with a statement."
    is_declared = scale.source == "declared"
    return {
        "4.2.2": Given(absolute, source, False, (ABSOLUTE,)),
        "4.3.3": Given(scale_size(scale), source, is_declared),
        "4.3.4": Given(scale_values(scale), source, is_declared),
        "4.3.8": Given(direct, source, False, (DIRECT,)),
    }


def heds_fields(
    documents: CriterionDocuments,
    config: ReportConfig = NO_CONFIG,
    *,
    further_criteria: Sequence[CriterionDocuments] = (),
) -> tuple[FormField, ...]:
    """All fields in the order of the form; those of section 4 once for each criterion.

    documents : of the study and of its (first) criterion. further_criteria : of the others.
    A criterion that no document names is called by its name in the configuration, where that has one.

    Raises InputError: answers of the configuration to questions or options that the form does not have.
    """
    per_criterion = (documents, *further_criteria)
    names = criterion_names(per_criterion, config)
    _check(config, names)
    known = tuple(one.criterion for one in per_criterion if one.criterion)
    once = study_fields(documents, config, criteria=known)
    fields: list[FormField] = []
    for question in heds_questions():
        if question.is_per_criterion:
            continue
        said = _own(question, config.heds) or once.get(question.number)
        fields.append(field_of(question.field_prompt, said))
    section_4 = [
        field
        for name, of_criterion in zip(names, per_criterion, strict=True)
        for field in _criterion(name, of_criterion, config)
    ]
    before = [field for field in fields if field.number < "4"]
    return (*before, *section_4, *fields[len(before) :])


def criterion_names(per_criterion: Sequence[CriterionDocuments], config: ReportConfig) -> tuple[str, ...]:
    """A name for each criterion, no two the same."""
    unused = [name for name in config.criteria if name not in {one.criterion for one in per_criterion}]
    names: list[str] = []
    for one in per_criterion:
        name = one.criterion or (unused.pop(0) if unused else UNNAMED)
        names.append(unlike(name, names))
    return tuple(names)


def heds_page(fields: Sequence[FormField], title: str = "Human Evaluation Datasheet 3.0") -> FormPage:
    """The fields with a title and a note."""
    note = (
        f"Numbers are those of HEDS 3.0 (Belz and Thomson 2024); the prompts are ours, the questions "
        f"themselves are at {FORM_LINK}."
    )
    return FormPage(title, note, tuple(fields))


def _criterion(name: str, documents: CriterionDocuments, config: ReportConfig) -> list[FormField]:
    own = config.criteria.get(name, {})
    answers = criterion_fields(documents, own)
    return [
        field_of(question.field_prompt, _own(question, own) or answers.get(question.number), criterion=name)
        for question in heds_questions()
        if question.is_per_criterion
    ]


def _own(question: HedsQuestion, answers: Mapping[str, HedsAnswer]) -> Given | None:
    """The authors' answer by number."""
    said = answers.get(question.number)
    if isinstance(said, Chosen):
        words = option_words(question, said.options)
        return Given(f"{words} {said.details}".strip(), SOURCE, True, said.options)
    return Given(said, SOURCE) if said else None


def _check(config: ReportConfig, names: Sequence[str]) -> None:
    """Raise InputError for answers on criteria that the documents do not have."""
    rule = f"is not a criterion of the documents; they have {', '.join(names)}."
    keys = {name: f"criteria.{toml_text(name, key=True)}" for name in config.criteria}
    problems = [
        Problem(rule, close_to(name, names), place="[report]", column=keys[name], noun="field")
        for name in config.criteria
        if name not in names
    ]
    if problems:
        raise InputError(problems)

"""Forms, checklists and paragraphs, filled from the documents of a study; and what is still open in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from humeval_power.errors import InputError

if TYPE_CHECKING:
    from humeval_power.studies.report.answers_template import (
        AnsweredForm,
        AnswersTemplate,
        FilledField,
        RememberedAnswers,
    )
    from humeval_power.studies.report.config import ReportConfig
    from humeval_power.studies.report.documents import CriterionDocuments
    from humeval_power.studies.report.fields import Checklist, FormField, FormPage
    from humeval_power.studies.report.open_list import OpenList
    from humeval_power.studies.report.result import Report

FieldForm = Literal["heds", "arr", "aspredicted", "osf"]
CheckedForm = Literal["card2020", "heds", "arr", "aspredicted", "osf"]
Form = Literal["study", "card2020", "heds", "arr", "aspredicted", "osf", "paper", "parameters"]
DEFAULT_FORM: Form = "study"
CHECKED_FORMS: tuple[CheckedForm, ...] = get_args(CheckedForm)
FORMS: tuple[Form, ...] = get_args(Form)


def report(
    *documents: CriterionDocuments,
    form: Form = DEFAULT_FORM,
    answers: ReportConfig | None = None,
    into: Mapping[str, Any] | None = None,
    strict: bool = False,
) -> Report:
    """Show a study on a page, or fill a form from what is known of it; what only its authors know stays open.

    Parameters
    ----------
    documents : of one study, one for each of its criteria; the parameters are those of one.
    form : 'study' the page, with every form in its `files`; 'card2020' the recommendations of Card et al.
        (2020); 'heds' the datasheet HEDS 3.0; 'arr' the Responsible NLP checklist; 'aspredicted' and 'osf'
        preregistrations, from a plan alone; 'paper' methods and results; 'parameters' what the next study is
        planned from.
    answers : the authors' own.
    into : what the web form of HEDS saved; what is answered there stays.
    strict : whether open fields count as a target that was missed.

    Returns
    -------
    Report
        `to_frame` has a row for each field; `artefact` is the file of the HEDS form (.json), the LaTeX
        fragment of the paper (.tex), the parameters (.json).

    Raises
    ------
    InputError
        Documents that the form cannot be filled from, or answers that it has no place for.
    """
    from humeval_power.studies.report.config import NO_CONFIG

    own = answers or NO_CONFIG
    if into is not None and form != "heds":
        raise InputError("Only the HEDS form is merged into what its web form saved: choose that form.")
    if form == "study":
        return _study(documents, own, strict=strict)
    if form == "heds":
        from humeval_power.studies.report.heds.criterion import heds_page
        from humeval_power.studies.report.heds.form import fields_of_elements, heds_json
        from humeval_power.studies.report.result import HedsReport

        fields = heds_fields_of(documents, own)
        elements = heds_json(fields, into=into)
        shown = heds_page(fields if into is None else fields_of_elements(elements))
        page = replace(shown, caveats=_first_notices(documents))
        return HedsReport(form=form, page=page, elements=elements, strict=strict)
    criteria = tuple(documents) or (_nothing(),)
    if form == "card2020":
        from humeval_power.studies.report.result import ChecklistReport

        checklist = checklist_of(criteria, own)
        return ChecklistReport(checklist=checklist, surface=criteria[0].surface, strict=strict)
    if form == "paper":
        from humeval_power.studies.report.paper import PaperReport

        if answers is not None:
            raise InputError(
                "The paragraphs hold what the files say, and no answers of your own: leave those out."
            )
        return PaperReport(criteria=criteria)
    if form == "parameters":
        return _parameters(_single(criteria), own)
    from humeval_power.studies.report.result import FormReport

    return FormReport(form=form, page=page_of(form, criteria, own), strict=strict)


def open_fields(
    *documents: CriterionDocuments,
    form: CheckedForm | None = None,
    answers: ReportConfig | None = None,
    saved: Mapping[str, Any] | None = None,
    strict: bool = False,
) -> OpenList:
    """List what is left to do in a form, each field with a hint.

    Parameters
    ----------
    documents : as for `report`; none where `saved` is to be looked at as it is.
    form : as for `report`. ['card2020'; 'heds' where something was saved]
    answers : the authors' own.
    saved : what the web form of HEDS saved; it is filled from the documents first.
    strict : whether open fields count as a target that was missed.

    Returns
    -------
    OpenList
        Fields without an answer, and those with one that a person should confirm.

    Raises
    ------
    InputError
        As for `report`; or something saved that is not of the form asked for.
    """
    from humeval_power.studies.report.config import NO_CONFIG
    from humeval_power.studies.report.open_list import of_checklist, of_fields

    own = answers or NO_CONFIG
    criteria = tuple(documents) or (_nothing(),)
    chosen = form or ("card2020" if saved is None else "heds")
    if saved is not None:
        from humeval_power.studies.report.heds.form import fields_of_elements, heds_json

        if chosen != "heds":
            raise InputError("What was saved is of the HEDS form: choose that form.")
        merged = heds_json(heds_fields_of(documents, own), into=saved) if documents or answers else saved
        return of_fields("heds", fields_of_elements(merged), strict=strict)
    if chosen == "card2020":
        return of_checklist(checklist_of(criteria, own), strict=strict)
    fields = heds_fields_of(documents, own) if chosen == "heds" else page_of(chosen, criteria, own).fields
    return of_fields(chosen, fields, strict=strict)


def _study(documents: Sequence[CriterionDocuments], answers: ReportConfig, *, strict: bool) -> Report:
    """The page with each form that can be filled from these documents."""
    from humeval_power.studies.report.config import NO_CONFIG
    from humeval_power.studies.report.page import StudyReport, refuse_nothing

    if answers == NO_CONFIG:
        refuse_nothing(tuple(documents))
    forms: dict[str, Report] = {}
    fitted: tuple[Form, ...] = ("card2020", "heds", "arr", "paper", "parameters")
    planned: tuple[Form, ...] = ("aspredicted", "osf")
    for form in fitted:
        parts = [(one,) for one in documents] if form == "parameters" else [tuple(documents)]
        for place, each in enumerate(parts, start=1):
            facts = each[0].facts
            if (form == "paper" and not facts.has_result) or (
                form == "parameters" and not facts.is_exported
            ):
                continue
            own = None if form == "paper" else answers
            forms[form if len(parts) == 1 else f"{form}-{place}"] = report(*each, form=form, answers=own)
    if documents[0].plan is not None:
        for form in planned:
            forms[form] = report(documents[0], form=form, answers=answers)
    return StudyReport(criteria=tuple(documents), forms=forms, strict=strict)


def _nothing() -> CriterionDocuments:
    from humeval_power.studies.report.documents import CriterionDocuments

    return CriterionDocuments()


def _single(documents: Sequence[CriterionDocuments]) -> CriterionDocuments:
    if len(documents) > 1:
        names = ", ".join(str(one.criterion) for one in documents)
        raise InputError(f"The analysis has several criteria: {names}. Choose one for its parameters.")
    return documents[0]


def checklist_of(criteria: Sequence[CriterionDocuments], answers: ReportConfig) -> Checklist:
    """The checklist of Card et al., of all criteria."""
    from humeval_power.studies.report.power_answers import merged_checklist

    of_each = [_checklist(each, answers) for each in criteria]
    return of_each[0] if len(of_each) == 1 else merged_checklist(_names(criteria), of_each)


def _names(criteria: Sequence[CriterionDocuments]) -> list[str]:
    return [str(each.criterion) for each in criteria]


def _checklist(documents: CriterionDocuments, answers: ReportConfig) -> Checklist:
    """That of one criterion; the analysis says more than the fit of the ratings."""
    from humeval_power.studies.report.card2020 import checklist, given_answers, plan_answers

    names = dict(documents.names)
    if "analysis" in names:
        names["parameters"] = names["analysis"]
    plan = documents.plan
    planned = (
        None
        if plan is None
        else plan_answers(plan, checksum=documents.plan_checksum, study=documents.study)
    )
    return checklist(
        documents.study,
        documents.surface,
        power=documents.power,
        planned=planned,
        given=given_answers(answers, criterion=documents.criterion),
        names=names,
    )


def page_of(form: FieldForm, criteria: Sequence[CriterionDocuments], answers: ReportConfig) -> FormPage:
    """A form of fields other than HEDS; preregistrations need a plan."""
    from humeval_power.studies.report import arr, prereg

    documents = criteria[0]
    if form == "arr":
        from humeval_power.studies.report.power_answers import merged_fields

        of_each = [arr.arr_fields(each, answers) for each in criteria]
        fields = of_each[0] if len(of_each) == 1 else merged_fields(_names(criteria), of_each)
        return replace(arr.arr_page(fields), caveats=_first_notices(criteria))
    plan = documents.plan
    if plan is None:
        raise InputError("A preregistration is written from a plan, before collection: give a plan.")
    name = documents.names.get("plan", "plan.json")
    if form == "aspredicted":
        return prereg.aspredicted_page(prereg.aspredicted_fields(plan, answers, plan_name=name))
    fields = prereg.osf_fields(plan, answers, plan_name=name, checksum=documents.plan_checksum)
    return prereg.osf_page(fields)


def heds_fields_of(documents: Sequence[CriterionDocuments], answers: ReportConfig) -> tuple[FormField, ...]:
    """The fields of HEDS, those of a criterion once for each of the documents."""
    from humeval_power.studies.report.documents import CriterionDocuments
    from humeval_power.studies.report.heds.criterion import heds_fields

    first, *further = documents or (CriterionDocuments(),)
    return heds_fields(first, answers, further_criteria=further)


def _first_notices(criteria: Sequence[CriterionDocuments]) -> tuple[str, ...]:
    from humeval_power.studies.report.caveats import first_notices

    return first_notices(*(each.study for each in criteria))


def _parameters(documents: CriterionDocuments, answers: ReportConfig) -> Report:
    from humeval_power.studies.power.parameter_library import entry_name, library_export
    from humeval_power.studies.report.result import ParametersReport

    if not documents.study:
        raise InputError(
            "Parameters are exported from what was fitted: give an analysis, or the parameters of a fit."
        )
    fallback = documents.name("analysis" if documents.analysis else "parameters")
    name = entry_name(documents.study, fallback.rpartition(".")[0] or fallback)
    return ParametersReport(name=name, exported=library_export(documents.study, answers.texts, name=name))


# The authors' own answers to forms: a template of what is open, and what is remembered between studies.


def answers_template(
    *documents: CriterionDocuments,
    form: AnsweredForm | None = None,
    answers: ReportConfig | None = None,
    memory: ReportConfig | None = None,
    strict: bool = False,
) -> AnswersTemplate:
    """Write a file of answers to fill in: every field that is open, its question, a hint and its options.

    Parameters
    ----------
    documents : of one study, one for each of its criteria; without any, all that forms ask is open.
    form : that of which the fields are taken. [all; preregistrations where there is a plan]
    answers : what the authors have said already; all of it is kept, asked for or not.
    memory : what they said of earlier studies, shown beside the question.
    strict : whether open answers count as a target that was missed.

    Returns
    -------
    AnswersTemplate
        `text` is the file in TOML, to be read by `ReportConfig.from_mapping`; `to_frame` has a row for each
        answer.

    Raises
    ------
    InputError
        A preregistration without a plan.
    """
    from humeval_power.studies.report.answers_template import AnswersTemplate, entries
    from humeval_power.studies.report.config import NO_CONFIG
    from humeval_power.studies.report.documents import CriterionDocuments

    own = answers or NO_CONFIG
    of_study = documents or (CriterionDocuments(),)
    forms: tuple[AnsweredForm, ...] = ("heds", "arr", "card2020")
    if of_study[0].plan is not None:
        forms = (*forms, "aspredicted", "osf")
    questions = [one for each in ((form,) if form else forms) for one in _questions_of(each, of_study, own)]
    return AnswersTemplate(entries=entries(questions, own, memory or NO_CONFIG), strict=strict)


def remember(
    answers: ReportConfig | None = None,
    *,
    memory: ReportConfig | None = None,
    forget: Sequence[str] = (),
) -> RememberedAnswers:
    """Keep the answers that are the same in every study of a team, such as the institution and the pay.

    Parameters
    ----------
    answers : of a study; only those that describe the team are taken (`REMEMBERED` names them), and they
        replace what was remembered.
    memory : what is remembered so far.
    forget : names of answers to drop; 'all' drops every one.

    Returns
    -------
    Remembered
        `config` is what is remembered now, `text` its file in TOML.

    Raises
    ------
    InputError
        Answers none of which is remembered, or a name to forget that is not.
    """
    from humeval_power.checking.columns import close_to
    from humeval_power.errors import InputError, Problem
    from humeval_power.studies.report.answers_template import RememberedAnswers
    from humeval_power.studies.report.config import NO_CONFIG, REMEMBERED

    held = (memory or NO_CONFIG).to_remember()
    new = None if answers is None else answers.to_remember()
    if new is not None and not new.texts:
        raise InputError(
            f"There is no answer that holds for every study; what is remembered is {', '.join(REMEMBERED)}."
        )
    both = (new or NO_CONFIG).completed_by(held)
    dropped = tuple(both.texts) if "all" in forget else tuple(forget)
    problems = [
        Problem(
            f"{name!r} is not remembered.",
            close_to(name, tuple(both.texts)) if both.texts else "Nothing is.",
        )
        for name in dropped
        if name not in both.texts
    ]
    if problems:
        raise InputError(problems)
    texts = {name: both.texts[name] for name in REMEMBERED if name in both.texts and name not in dropped}
    return RememberedAnswers(texts=texts, new=tuple(new.texts if new else ()), dropped=dropped)


def _questions_of(
    form: AnsweredForm, documents: tuple[CriterionDocuments, ...], answers: ReportConfig
) -> list[FilledField]:
    """The fields of a form by the files of the study alone; the answers only name criteria without a name."""
    from humeval_power.studies.report.answers_template import questions_of
    from humeval_power.studies.report.config import NO_CONFIG, ReportConfig
    from humeval_power.studies.report.heds.criterion import criterion_names

    names = criterion_names(documents, answers)
    if form == "heds":
        named = ReportConfig(criteria={name: {} for name in names})
        return questions_of("heds", heds_fields_of(documents, named))
    asked: list[FilledField] = []
    for name, each in zip(names, documents, strict=True):
        if form == "card2020":
            asked += questions_of(form, checklist_of((each,), NO_CONFIG).items, name)
        elif form == "arr" or each is documents[0]:
            asked += questions_of(form, page_of(form, (each,), NO_CONFIG).fields)
    return asked

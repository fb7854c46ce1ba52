"""Answers to the sections of HEDS 3.0 that a study answers once: 1, 2, 3 and 5."""

from __future__ import annotations

from humeval_power.fees import NO_FEE
from humeval_power.saying.numbers import in_words
from humeval_power.saying.row_flow import flow_sentence, n_dropped
from humeval_power.studies.report.config import SOURCE, ReportConfig
from humeval_power.studies.report.documents import (
    CriterionDocuments,
    outputs_per_system,
    power_code,
    power_method,
    power_value,
)
from humeval_power.studies.report.fields import Given, given
from humeval_power.studies.report.heds.form import heds_questions
from humeval_power.studies.report.power_answers import pay_sentence

PUBLISHED, SHARED, PAID, REGISTERED, NOT_REGISTERED, SOME_EXCLUDED = 1, 1, 1, 1, 2, 5


def study_fields(
    documents: CriterionDocuments, config: ReportConfig, *, criteria: tuple[str, ...]
) -> dict[str, Given | None]:
    """Answers by number; the authors' own come first. criteria : the names of all that were rated."""
    plan, facts, of_study = documents.plan, documents.facts, documents.study_source
    of_plan, pay = documents.name("plan"), pay_sentence(documents.plan)
    platform = "" if plan is None or plan.costs is None else plan.costs.fee.name
    platform = "" if platform == NO_FEE.name else platform
    known: dict[str, Given | None] = {
        "1.1.2": _experiment(documents, criteria),
        "3.1.1": given(outputs_per_system(facts), of_study),
        "3.1.3.1": power_method(documents),
        "3.1.3.2": power_value(documents),
        "3.1.3.3": power_code(documents, config.texts.get("code_link")),
        "3.2.1": given(None if facts.n_workers is None else f"{facts.n_workers:.0f}", of_study),
        "3.2.2.2": given(pay and f"Paid. {pay}", of_plan, False, (PAID,)),
        "3.2.3": given(platform and f"Through {platform}.", of_plan, False),
        "3.3.2": given(platform and f"{platform}.", of_plan, False),
        "3.3.3.1": _quality_kinds(documents),
        "3.3.3.2": _quality(documents),
    }
    own = {
        asked.number: said
        for asked in heds_questions()
        if not asked.is_per_criterion and (said := config.given(asked.own, known=known.get(asked.number)))
    }
    chosen = {
        "1.1.1": _chosen(config, "paper", PUBLISHED),
        "1.2": _chosen(config, "resources", SHARED) or _chosen(config, "data_link", SHARED),
        "3.3.1": _registration(config),
    }
    return {**known, **own, **chosen}


def _experiment(documents: CriterionDocuments, criteria: tuple[str, ...]) -> Given | None:
    """What was compared on what; which part of a paper it is, only the authors know."""
    plan, systems = documents.plan, documents.systems
    if not systems:
        return None
    source = documents.study_source if documents.study else documents.name("plan")
    on = f" on {in_words(criteria)}" if criteria else ""
    question = f" {plan.question}" if plan else ""
    return Given(f"Human evaluation of {in_words(systems)}{on}.{question}", source, False)


def _quality_kinds(documents: CriterionDocuments) -> Given | None:
    """Which kind a planned rule is of, its words only tell a person."""
    if documents.plan is None or not documents.plan.left_out_words:
        return None
    said = "Some ratings are left out after failed checks; see the details for other kinds."
    return Given(said, documents.name("plan"), False, (SOME_EXCLUDED,))


def _quality(documents: CriterionDocuments) -> Given | None:
    """Planned rules and rows left out; whether anything was done before the table was made is not known."""
    plan, flow = documents.plan, flow_sentence(documents.facts.record)
    parts, sources = [], []
    if plan is not None and plan.left_out_words:
        parts.append(f"Planned rules: {' '.join(plan.left_out_words)}")
        sources.append(documents.name("plan"))
    if flow is not None and n_dropped(documents.facts.record):
        parts.append(flow)
        sources.append(documents.study_source)
    return Given(" ".join(parts), "; ".join(sources), False) if parts else None


def _chosen(config: ReportConfig, name: str, option: int) -> Given | None:
    said = config.given(name)
    return None if said is None else said._replace(options=(option,))


def _registration(config: ReportConfig) -> Given | None:
    link = config.preregistration
    if link is None:
        return None
    if isinstance(link, str) and link.strip():
        return Given(link, SOURCE, True, (REGISTERED,))
    return Given("Not preregistered.", SOURCE, True, (NOT_REGISTERED,)) if link is False else None

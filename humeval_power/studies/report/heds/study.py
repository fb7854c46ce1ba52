"""Answers to the sections of HEDS 3.0 that a study answers once: 1, 2, 3 and 5."""

from __future__ import annotations

from humeval_power.fees import NO_FEE
from humeval_power.saying.numbers import in_words
from humeval_power.saying.row_flow import flow_sentence, n_dropped
from humeval_power.studies.plan.plan import Plan
from humeval_power.studies.report.config import SOURCE, ReportConfig
from humeval_power.studies.report.documents import (
    CriterionDocuments,
    outputs_per_system,
    power_code,
    power_method,
    power_value,
)
from humeval_power.studies.report.fields import Given
from humeval_power.studies.report.heds.form import heds_questions
from humeval_power.studies.report.power_answers import pay_sentence

PUBLISHED, SHARED, PAID, REGISTERED, NOT_REGISTERED, SOME_EXCLUDED = 1, 1, 1, 1, 2, 5


def study_fields(
    documents: CriterionDocuments, config: ReportConfig, *, criteria: tuple[str, ...]
) -> dict[str, Given | None]:
    """Answers by number; the authors' own come first. criteria : the names of all that were rated."""
    known: dict[str, Given | None] = {
        "1.1.2": _experiment(documents, criteria),
        "3.1.1": _outputs(documents),
        "3.1.3.1": power_method(documents),
        "3.1.3.2": power_value(documents),
        "3.1.3.3": power_code(documents, config.texts.get("code_link")),
        "3.2.1": _workers(documents),
        "3.2.2.2": _payment(documents),
        "3.2.3": _platform(documents, "Through {name}."),
        "3.3.2": _platform(documents, "{name}."),
        "3.3.3.1": _quality_kinds(documents),
        "3.3.3.2": _quality(documents),
    }
    own = {
        asked.number: given
        for asked in heds_questions()
        if not asked.is_per_criterion and (given := config.given(asked.own, known=known.get(asked.number)))
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


def _outputs(documents: CriterionDocuments) -> Given | None:
    said = outputs_per_system(documents.facts)
    return None if said is None else Given(said, documents.study_source)


def _workers(documents: CriterionDocuments) -> Given | None:
    workers = documents.facts.n_workers
    return None if workers is None else Given(f"{workers:.0f}", documents.study_source)


def _payment(documents: CriterionDocuments) -> Given | None:
    said = pay_sentence(documents.plan)
    return None if said is None else Given(f"Paid. {said}", documents.name("plan"), False, (PAID,))


def _platform(documents: CriterionDocuments, text: str) -> Given | None:
    """The platform whose fees the plan was priced with."""
    name = _platform_name(documents.plan)
    return None if not name else Given(text.format_map({"name": name}), documents.name("plan"), False)


def _platform_name(plan: Plan | None) -> str:
    if plan is None or plan.costs is None or plan.costs.fee.name == NO_FEE.name:
        return ""
    return plan.costs.fee.name


def _quality_kinds(documents: CriterionDocuments) -> Given | None:
    """Which kind a planned rule is of, its words only tell a person."""
    plan = documents.plan
    if plan is None or not plan.left_out_words:
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
    given = config.given(name)
    return None if given is None else given._replace(options=(option,))


def _registration(config: ReportConfig) -> Given | None:
    link = config.preregistration
    if link is None:
        return None
    if isinstance(link, str) and link.strip():
        return Given(link, SOURCE, True, (REGISTERED,))
    return Given("Not preregistered.", SOURCE, True, (NOT_REGISTERED,)) if link is False else None

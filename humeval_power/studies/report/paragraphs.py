"""A methods and a results paragraph in plain words; every number in them is one of the documents.

Negative numbers have a real minus sign. Nothing is said of what the documents do not know: how workers were
found, paid and instructed remains to be written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from humeval_power.saying.numbers import in_words
from humeval_power.saying.row_flow import flow_sentence, n_dropped
from humeval_power.saying.values import SHORT_HASH, Document, listed, part
from humeval_power.saying.values import words as words_of
from humeval_power.studies.plan.plan import Plan
from humeval_power.studies.report.caveats import first_notices
from humeval_power.studies.report.documents import (
    CriterionDocuments,
    exclusion_sentence,
    interest_sentence,
    size_sentence,
)
from humeval_power.studies.report.fact_words import StudyWords, zeros
from humeval_power.studies.report.plans import PlanWords
from humeval_power.studies.report.power_answers import merged_text


def methods_paragraph(*criteria: CriterionDocuments) -> str:
    """What was compared by whom, how it was analysed, and the power it was planned with.

    What all criteria share is said once.
    """
    names = [str(each.criterion) for each in criteria]
    of_each = [_methods(each) for each in criteria]
    said = [merged_text(names, same) for same in zip(*of_each, strict=True)]
    return _joined([*first_notices(*(each.facts.record for each in criteria)), _compared(criteria), *said])


def _methods(documents: CriterionDocuments) -> list[str | None]:
    facts, plan = documents.facts, documents.plan
    said = StudyWords(facts)
    planned_test = None if plan is None else PlanWords(plan).paper_test()
    return [
        size_sentence(facts) if documents.study else _planned_size(plan),
        _scale(documents),
        flow_sentence(facts.record) if n_dropped(facts.record) else None,
        said.scores(),
        said.paper_test() or planned_test,
        _planned(documents),
        _software(documents),
    ]


def results_paragraph(documents: CriterionDocuments) -> str:
    """The differences with their intervals and tests, what they are worth, and what departs from the plan.

    Empty without an analysis or fit; a fit that did not converge has no result.
    """
    facts = documents.facts
    words = StudyWords(facts).findings()
    if not facts.has_result:
        return _joined(words)
    left_out = exclusion_sentence(facts.record)
    about = words_of(part(facts.record, "pool"), "sentence")
    return _joined(
        [*words, about, left_out, interest_sentence(facts), zeros(facts), *_deviations(documents.study)]
    )


def _joined(sentences: list[str | None]) -> str:
    return " ".join(sentence for sentence in sentences if sentence)


def _compared(criteria: Sequence[CriterionDocuments]) -> str | None:
    named = tuple(dict.fromkeys(each.criterion for each in criteria if each.criterion))
    on, systems = f" for {in_words(named)}" if named else "", criteria[0].systems
    if not systems:
        return None
    if criteria[0].facts.is_of_several or len(systems) != 2:
        return f"We compared {in_words(systems)}{on} in a human evaluation."
    return f"We compared {systems[1]} with {systems[0]}{on} in a human evaluation."


def _planned_size(plan: Plan | None) -> str | None:
    if plan is None:
        return None
    design = plan.design()
    return (
        f"{design.n_workers:,} workers are to give {design.n_ratings:,} ratings of {design.items_in_words}, "
        f"{design.ratings_per_item:g} for each item and system."
    )


def _scale(documents: CriterionDocuments) -> str | None:
    scale = documents.facts.scale or (documents.plan.scale if documents.plan else None)
    if scale is None:
        return None
    inferred = " (taken from the ratings)" if scale.source == "inferred" else ""
    return f"The scale ran from {scale}{inferred}."


def _planned(documents: CriterionDocuments) -> str | None:
    """The promise of the plan, made before collection."""
    plan = documents.plan
    if plan is None:
        return None
    said = PlanWords(plan)
    digest = documents.plan_checksum
    seal = f" The SHA-256 of the plan starts with {digest[:SHORT_HASH]}." if digest else ""
    left_out = f" Planned exclusions: {' '.join(plan.left_out_words)}" if plan.left_out_words else ""
    return (
        f"The study was planned with {plan.counts.n_workers:,} workers and {plan.design().items_in_words} to "
        f"{said.goal()}, with a power of {plan.target_power:g}; the power computed was {said.computed_power()}, "
        f"with variances from {plan.source.name}.{left_out}{seal}"
    )


def _software(documents: CriterionDocuments) -> str | None:
    study = documents.study
    version = words_of(part(study, "versions"), "humeval-power")
    if version is None:
        return None
    return f"Computed with humeval-power {version}."


def _deviations(study: Document) -> list[str | None]:
    """Every departure from the plan; that there was none is said only where it was looked at."""
    if study.get("deviations") is None:
        return []
    deviations = [entry for entry in listed(study, "deviations") if isinstance(entry, Mapping)]
    if not deviations:
        return ["The study was carried out and analysed as planned."]
    said = "; ".join(
        f"{one.get('what')}: {one.get('actual')} (planned: {str(one.get('planned')).rstrip('.')})"
        for one in deviations
    )
    return [f"Departures from the plan: {said}."]


def paragraphs(*criteria: CriterionDocuments) -> dict[str, str]:
    """Both by their headings, the results of several criteria each by its own; one that nothing is known for is
    left out."""
    texts = {"Methods": methods_paragraph(*criteria)}
    texts |= {results_heading(each, criteria): results_paragraph(each) for each in criteria}
    return {heading: text for heading, text in texts.items() if text}


def results_heading(documents: CriterionDocuments, criteria: Sequence[CriterionDocuments]) -> str:
    """What the results of one of the criteria stand under."""
    return "Results" if len(criteria) == 1 else f"Results: {documents.criterion}"

"""What an analysis or a fit says about the study, its test and its result."""

from __future__ import annotations

from humeval_power.saying.document import Table
from humeval_power.saying.row_flow import flow_rows
from humeval_power.saying.rule_words import assumptions_of
from humeval_power.saying.values import listed, words
from humeval_power.studies.report.fact_record import StudyFacts
from humeval_power.studies.report.fact_words import StudyWords
from humeval_power.studies.report.power_answers import PowerAnswer


def study_answers(facts: StudyFacts) -> dict[str, PowerAnswer | None]:
    """Answers by the key of the item; None where the facts do not say."""
    said = StudyWords(facts)
    test = said.test()
    return {
        "parameters": said.parameters(),
        "test": None if test is None else PowerAnswer(test),
        "assumptions": None
        if facts.rule is None
        else PowerAnswer(assumptions_of(facts.rule), is_whole=False),
        "effect": said.effect(),
        "systems": said.systems(),
        "workers": _count(facts.n_workers),
        "items": _count(facts.n_items),
        "ratings_per_item": _ratings_per_item(facts),
        "ratings_total": _count(facts.n_ratings),
        "assignment": _assignment(facts),
        "criterion": None if facts.criterion is None else PowerAnswer(facts.criterion, is_whole=False),
        "scale": _scale(facts),
        "exclusions": _exclusions(facts),
    }


def _count(value: int | None) -> PowerAnswer | None:
    return None if value is None else PowerAnswer(f"{value:,}")


def _ratings_per_item(facts: StudyFacts) -> PowerAnswer | None:
    per_item = facts.ratings_per_item
    if per_item is None:
        return None
    mean = "" if per_item == int(per_item) else " on average"
    return PowerAnswer(f"{per_item:.3g}{mean} under each system.")


def _assignment(facts: StudyFacts) -> PowerAnswer | None:
    """The load is known; who was given which items, and how it was drawn, only the authors know."""
    design = words(facts.record, "design")
    if design is not None:
        return PowerAnswer(f"{design}.", is_whole=False)
    if facts.n_ratings is None or not facts.n_workers:
        return None
    return PowerAnswer(
        f"{facts.n_ratings / facts.n_workers:,.4g} ratings per worker on average.", is_whole=False
    )


def _scale(facts: StudyFacts) -> PowerAnswer | None:
    scale = facts.scale
    if scale is None:
        return None
    if scale.source == "inferred":
        return PowerAnswer(f"{scale}, taken from the ratings themselves and not declared.", is_whole=False)
    return PowerAnswer(f"{scale}, as declared.")


def _exclusions(facts: StudyFacts) -> PowerAnswer | None:
    rows = flow_rows(facts.record)
    if not rows:
        return None
    if listed(facts.record, "exports"):
        return PowerAnswer(
            "From the exports and the table of ratings as they were read.",
            table=Table(("step", "rows", "reason"), tuple(rows)),
        )
    return PowerAnswer(
        "From the table of ratings as it was read. Whatever was left out before is not in it.",
        table=Table(("step", "rows", "reason"), tuple(rows)),
    )

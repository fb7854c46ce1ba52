"""The reporting checklist of Card et al. (2020), section 6: what is known is filled in, the rest stays open.

Nothing is invented: an answer holds numbers of the documents (or a
count or mean of them) and names the document; power is never computed from the observed difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from humeval_power.saying.document import Table
from humeval_power.saying.numbers import in_words, minus_of_numbers
from humeval_power.saying.row_flow import flow_rows
from humeval_power.saying.rule_words import assumptions_of
from humeval_power.saying.values import (
    NOTHING,
    SHORT_HASH,
    JsonRecord,
    cells,
    listed,
    part,
    ratings_source,
    words,
)
from humeval_power.studies.plan.plan import Plan
from humeval_power.studies.report.caveats import as_planned, caveats
from humeval_power.studies.report.config import MEMORY, SOURCE, ReportConfig
from humeval_power.studies.report.fact_record import StudyFacts, study_facts
from humeval_power.studies.report.fact_words import StudyWords
from humeval_power.studies.report.fields import Checklist, ChecklistItem, FieldPrompt, Given, prompts
from humeval_power.studies.report.plans import PlanWords
from humeval_power.studies.report.power_answers import (
    PowerAnswer,
    assumptions,
    pay_sentence,
    power_of_design,
    smallest_shown,
    stated_effect,
)

NAMES = {
    "parameters": "the parameter document",
    "surface": "the surface document",
    "power": "the power document",
    "plan": "the plan",
}


def checklist(
    parameters: JsonRecord | None,
    surface: JsonRecord | None,
    *,
    power: JsonRecord | None = None,
    planned: Mapping[str, PowerAnswer] | None = None,
    given: Mapping[str, Given] | None = None,
    names: Mapping[str, str] | None = None,
) -> Checklist:
    """Fill the items from the documents that there are.

    parameters, surface, power : the JSON documents of `fit`, `surface` and `power`, as read.
    planned : what the plan says, by item; it goes before what is not the whole answer.
    given : what the authors say themselves, by item; it completes what is not the whole answer.
    names : the files they came from, by 'parameters', 'surface', 'power' and 'plan', for the sources.
    """
    fitted, mapped, computed = parameters or NOTHING, surface or NOTHING, power or NOTHING
    facts = study_facts(fitted)
    interest = StudyWords(facts).interest()
    at_interest = (
        None if interest is None else PowerAnswer(interest, is_whole=False)
    )  # not known beforehand
    files = {**NAMES, **(names or {})}
    answers: dict[str, PowerAnswer | None] = {
        **study_answers(facts),
        "effect_of_interest": stated_effect(fitted, mapped, computed),
        "power": power_of_design(fitted, mapped, computed) or at_interest,
        "minimum_detectable_effect": smallest_shown(fitted, mapped),
        "power_assumptions": assumptions(mapped, computed),
    }
    sources = _sources(fitted, mapped, computed, files)
    for key, answer in (planned or {}).items():
        other = answers.get(key)
        if other is None or not other.is_whole:
            table = answer.table or (other.table if other else None)
            answers[key], sources[key] = answer._replace(table=table), files["plan"]
    for key, (text, source, *_) in (given or {}).items():
        other = answers.get(key)
        if other is None:
            answers[key], sources[key] = PowerAnswer(text), source
        elif not other.is_whole and source != MEMORY:
            answers[key] = PowerAnswer(f"{other.text} {text}", table=other.table)
            sources[key] = f"{sources.get(key, sources[''])}; {source}"
    return Checklist(
        title=_title(facts),
        items=tuple(_item(asked, answers.get(asked.key), sources) for asked in prompts("card2020")),
        caveats=caveats(facts, mapped, computed),
        provenance=_provenance(fitted, mapped, computed, files),
    )


def _item(asked: FieldPrompt, answer: PowerAnswer | None, sources: Mapping[str, str]) -> ChecklistItem:
    key, advice = asked.key, asked.advice
    if answer is None:
        return ChecklistItem(key, asked.section, asked.prompt, "open", advice=advice)
    return ChecklistItem(
        key,
        asked.section,
        asked.prompt,
        "filled" if answer.is_whole else "open",
        minus_of_numbers(answer.text),
        sources.get(key, sources[""]),
        None if answer.is_whole else advice,
        None if answer.table is None else _with_minus(answer.table),
    )


def _with_minus(table: Table) -> Table:
    rows = tuple(tuple(map(minus_of_numbers, row)) for row in table.rows)
    return replace(table, rows=rows, header=tuple(map(minus_of_numbers, table.header)))


def _sources(
    fitted: JsonRecord, mapped: JsonRecord, computed: JsonRecord, files: Mapping[str, str]
) -> dict[str, str]:
    """The source by the key of the item; all others come from the fit, under the empty key."""
    ratings = ratings_source(fitted)
    from_fit = f"{files['parameters']}; {ratings}" if ratings else files["parameters"]
    from_map = files["surface"] if cells(mapped) else ""
    from_power = files["power"] if cells(computed) else ""
    both = "; ".join(filter(None, [from_power, from_map]))
    return {
        "": from_fit,
        "effect_of_interest": from_power or from_map or from_fit,
        "power": both or from_fit,
        "minimum_detectable_effect": from_map,
        "power_assumptions": both,
    }


def _title(facts: StudyFacts) -> str:
    compared = [in_words(facts.systems)] if facts.systems else []
    about = ", ".join([*compared, *([facts.criterion] if facts.criterion else [])])
    return "Reporting checklist" + (f": {about}" if about else "")


def _provenance(
    fitted: JsonRecord, mapped: JsonRecord, computed: JsonRecord, files: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    sentences = []
    data = part(fitted, "data")
    source = words(data, "source")
    if source:
        sentences.append(("Ratings", source))
    for kind, document in (("parameters", fitted), ("surface", mapped), ("power", computed)):
        if not document:
            continue
        said = [str(document["schema"])] if words(document, "schema") else []
        said += [f"seed {document['seed']}"] if document.get("seed") is not None else []
        said += [f"{name} {version}" for name, version in part(document, "versions").items()]
        said += [words(document, "command") or ""]
        sentences.append((files[kind], "; ".join(filter(None, said))))
    return tuple(sentences)


# What a plan, and the departures from it, say about the items of the checklist.


def plan_answers(
    plan: Plan, *, checksum: str | None, study: JsonRecord = NOTHING
) -> dict[str, PowerAnswer]:
    """Answers by the key of the item. What only the authors know, such as why a difference matters or where
    the plan is kept, stays open.

    checksum : of the plan's file. study : the analysis, which lists the departures from the plan.
    """
    said = PlanWords(plan)
    answers = {
        "effect_of_interest": PowerAnswer(said.passage("planned_for"), False),
        "power": PowerAnswer(said.passage("power")),
        "power_assumptions": said.assumed(),
        "analysis_plan": PowerAnswer(_planned(checksum, study), False),
    }
    pay = pay_sentence(plan)
    if pay is not None:
        answers["pay"] = PowerAnswer(pay, False)
    if plan.left_out_words:
        answers["quality_control"] = PowerAnswer(f"Planned: {' '.join(plan.left_out_words)}", False)
    return answers


def _planned(checksum: str | None, study: JsonRecord) -> str:
    sealed = f" Its SHA-256 starts with {checksum[:SHORT_HASH]}." if checksum else ""
    said = f"There was a plan.{sealed}"
    if study.get("deviations") is None:
        return said
    deviations = [one for one in listed(study, "deviations") if isinstance(one, Mapping)]
    if not deviations:
        return f"{said} {as_planned(study)}"
    text = "; ".join(
        f"{one.get('what')}: {one.get('actual')} (planned: {str(one.get('planned')).rstrip('.')})"
        for one in deviations
    )
    return f"{said} Departures: {text}."


# What the authors' own answers say about the items.


def given_answers(config: ReportConfig, *, criterion: str | None) -> dict[str, Given]:
    """The answers by the key of the item; the definition is that of the criterion of the study."""
    answers = {asked.key: _joined(config, asked.own) for asked in prompts("card2020")}
    if isinstance(config.preregistration, str):
        answers["analysis_plan"] = Given(f"Preregistered: {config.preregistration.strip()}", SOURCE)
    elif config.preregistration is False:
        answers["analysis_plan"] = Given("There was no preregistration.", SOURCE)
    definition = config.criteria.get(criterion or "", {}).get("definition")
    if isinstance(definition, str):
        answers["criterion"] = Given(definition.strip(), SOURCE)
    return {key: given for key, given in answers.items() if given is not None}


def _joined(config: ReportConfig, names: tuple[str, ...]) -> Given | None:
    given = [one for name in names if (one := config.given(name))]
    if not given:
        return None
    return Given(
        " ".join(_sentence(one.text) for one in given),
        "; ".join(dict.fromkeys(one.source for one in given)),
    )


def _sentence(text: str) -> str:
    """Text that others can follow; an address gets no full stop, which would belong to it."""
    is_address = "://" in text.rsplit(maxsplit=1)[-1]
    return text if is_address or text[-1] in ".!?;:" else f"{text}."


# What an analysis or a fit says about the study, its test and its result.


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

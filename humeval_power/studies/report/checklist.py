"""The reporting checklist: what the documents know is filled in, the rest stays visibly open.

After Card et al. (2020), section 6. Nothing is invented: an answer holds numbers of the documents (or a
count or mean of them) and names the document; power is never computed from the observed difference.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from humeval_power.saying.row_flow import flow_sentence
from humeval_power.saying.values import (
    NOTHING,
    SHORT_HASH,
    Document,
    cells,
    listed,
    part,
    ratings_source,
    words,
)
from humeval_power.studies.plan.plan import Plan
from humeval_power.studies.report.caveats import caveats
from humeval_power.studies.report.config import MEMORY, NO_CONFIG, ReportConfig
from humeval_power.studies.report.documents import (
    Documents,
    command_words,
    interest_sentence,
    size_sentence,
    software_words,
)
from humeval_power.studies.report.fact_record import StudyFacts, in_words, study_facts
from humeval_power.studies.report.fact_words import StudyWords
from humeval_power.studies.report.fields import FieldPrompt, FormField, FormPage, Given, fields_of
from humeval_power.studies.report.items import QUESTIONS, Checklist, ChecklistItem, ChecklistQuestion
from humeval_power.studies.report.plans import PlanWords
from humeval_power.studies.report.power_answers import (
    PowerAnswer,
    assumptions,
    pay_sentence,
    power_of_design,
    smallest_found,
    stated_effect,
)
from humeval_power.studies.report.study_answers import study_answers

NAMES = {
    "parameters": "the parameter document",
    "surface": "the surface document",
    "power": "the power document",
    "plan": "the plan",
}


def checklist(
    parameters: Document | None,
    surface: Document | None,
    *,
    power: Document | None = None,
    planned: Mapping[str, PowerAnswer] | None = None,
    given: Mapping[str, Given] | None = None,
    names: Mapping[str, str] | None = None,
) -> Checklist:
    """Fill the items from the documents that there are.

    Parameters
    ----------
    parameters, surface, power : the JSON documents of `fit`, `surface` and `power`, as read.
    planned : what the plan says, by item; it goes before what is not the whole answer.
    given : what the authors say themselves, by item; it completes what is not the whole answer.
    names : the files they came from, by 'parameters', 'surface', 'power' and 'plan', for the sources.
    """
    fitted, mapped, computed = parameters or NOTHING, surface or NOTHING, power or NOTHING
    facts = study_facts(fitted)
    files = {**NAMES, **(names or {})}
    answers: dict[str, PowerAnswer | None] = {
        **study_answers(facts),
        "effect_of_interest": stated_effect(fitted, mapped, computed),
        "power": power_of_design(fitted, mapped, computed),
        "minimum_detectable_effect": smallest_found(fitted, mapped),
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
        items=tuple(_item(question, answers.get(question.key), sources) for question in QUESTIONS),
        caveats=caveats(facts, mapped, computed),
        provenance=_provenance(fitted, mapped, computed, files),
    )


def _item(
    question: ChecklistQuestion, answer: PowerAnswer | None, sources: Mapping[str, str]
) -> ChecklistItem:
    key, section, asked, advice = question
    if answer is None:
        return ChecklistItem(key, section, asked, "open", advice=advice)
    return ChecklistItem(
        key,
        section,
        asked,
        "filled" if answer.is_whole else "open",
        answer.text,
        sources.get(key, sources[""]),
        None if answer.is_whole else advice,
        answer.table,
    )


def _sources(
    fitted: Document, mapped: Document, computed: Document, files: Mapping[str, str]
) -> dict[str, str]:
    """The source by the key of the item; all others come from the fit, under the empty key."""
    ratings = ratings_source(fitted)
    from_fit = f"{files['parameters']}; {ratings}" if ratings else files["parameters"]
    from_map = files["surface"] if cells(mapped) else ""
    from_power = files["power"] if cells(computed) else ""
    both = "; ".join(filter(None, [from_power, from_map]))
    return {
        "": from_fit,
        "effect_of_interest": from_power or from_map,
        "power": both,
        "minimum_detectable_effect": from_map,
        "power_assumptions": both,
    }


def _title(facts: StudyFacts) -> str:
    compared = [in_words(facts.systems)] if facts.systems else []
    about = ", ".join([*compared, *([facts.criterion] if facts.criterion else [])])
    return "Reporting checklist" + (f": {about}" if about else "")


def _provenance(
    fitted: Document, mapped: Document, computed: Document, files: Mapping[str, str]
) -> tuple[tuple[str, str], ...]:
    found = []
    data = part(fitted, "data")
    source = words(data, "source")
    if source:
        found.append(("Ratings", source))
    for kind, document in (("parameters", fitted), ("surface", mapped), ("power", computed)):
        if not document:
            continue
        said = [str(document["schema"])] if words(document, "schema") else []
        said += [f"seed {document['seed']}"] if document.get("seed") is not None else []
        said += [f"{name} {version}" for name, version in part(document, "versions").items()]
        said += [words(document, "command") or ""]
        found.append((files[kind], "; ".join(filter(None, said))))
    return tuple(found)


# The fields on human evaluation of the ARR Responsible NLP checklist, by the names of its web form.

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


def arr_fields(documents: Documents, config: ReportConfig = NO_CONFIG) -> tuple[FormField, ...]:
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


def _made_by(study: Document) -> list[str | None]:
    software, command = software_words(study), command_words(study)
    return [
        None if software is None else f"Software: {software}.",
        None if command is None else f"Command: {command}",
    ]


def _recruitment_and_pay(documents: Documents, config: ReportConfig) -> Given | None:
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


# What a plan, and the departures from it, say about the items of the checklist.


def plan_answers(plan: Plan, *, checksum: str | None, study: Document = NOTHING) -> dict[str, PowerAnswer]:
    """Answers by the key of the item. What only the authors know, such as why a difference matters or where
    the plan is kept, stays open.

    checksum : of the plan's file. study : the analysis, which lists the departures from the plan.
    """
    said = PlanWords(plan)
    found = {
        "effect_of_interest": PowerAnswer(said.of_interest(), False),
        "power": PowerAnswer(said.power()),
        "power_assumptions": said.assumed(),
        "analysis_plan": PowerAnswer(_planned(checksum, study), False),
    }
    pay = pay_sentence(plan)
    if pay is not None:
        found["pay"] = PowerAnswer(pay, False)
    if plan.left_out_words:
        found["quality_control"] = PowerAnswer(f"Planned: {' '.join(plan.left_out_words)}", False)
    return found


def _planned(checksum: str | None, study: Document) -> str:
    sealed = f" Its SHA-256 starts with {checksum[:SHORT_HASH]}." if checksum else ""
    said = f"There was a plan.{sealed}"
    if study.get("deviations") is None:
        return said
    found = [one for one in listed(study, "deviations") if isinstance(one, Mapping)]
    if not found:
        return f"{said} The study was carried out and analysed as planned."
    told = "; ".join(
        f"{one.get('what')}: {one.get('actual')} (planned: {str(one.get('planned')).rstrip('.')})"
        for one in found
    )
    return f"{said} Departures: {told}."

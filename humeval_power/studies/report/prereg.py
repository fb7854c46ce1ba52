"""Preregistrations, before collection: AsPredicted's nine fields and the 25 of OSF's template.

They are filled from a plan alone; there is no argument through which ratings could get in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from humeval_power.studies.plan.plan import Plan
from humeval_power.studies.report.config import NO_CONFIG, ReportConfig
from humeval_power.studies.report.fields import FieldPrompt, FormField, FormPage, Given, fields_of
from humeval_power.studies.report.plans import PlanWords

ASPREDICTED_LENGTH = 3200  # characters that AsPredicted advises for all answers together

ASPREDICTED_FIELDS = (
    FieldPrompt("data_collection", "1", "Whether ratings have been collected already"),
    FieldPrompt("hypothesis", "2", "Question and hypothesis"),
    FieldPrompt("dependent_variable", "3", "What is measured, and how"),
    FieldPrompt("conditions", "4", "Conditions, and who is given which"),
    FieldPrompt("analyses", "5", "Analyses"),
    FieldPrompt("outliers_and_exclusions", "6", "Which ratings are left out"),
    FieldPrompt("sample_size", "7", "How many ratings, and what decides it"),
    FieldPrompt("other", "8", "Anything else"),
    FieldPrompt("study_type", "9", "Kind of study"),
)
INFORMATION, DESIGN, SAMPLING, VARIABLES, ANALYSIS, OTHER = (
    "Study information",
    "Design plan",
    "Sampling plan",
    "Variables",
    "Analysis plan",
    "Other",
)
OSF_FIELDS = (
    FieldPrompt("title", "1", "Title", INFORMATION),
    FieldPrompt("research_questions", "2", "Research questions", INFORMATION),
    FieldPrompt("hypotheses", "3", "Hypotheses", INFORMATION),
    FieldPrompt("existing_data", "4", "Which data exist already", SAMPLING),
    FieldPrompt("existing_data_explanation", "5", "What is known of existing data", SAMPLING),
    FieldPrompt("data_collection_procedures", "6", "How ratings are collected", SAMPLING),
    FieldPrompt("sample_size", "7", "Sample size", SAMPLING),
    FieldPrompt("sample_size_rationale", "8", "Why this size", SAMPLING),
    FieldPrompt("stopping_rule", "9", "When collection stops", SAMPLING),
    FieldPrompt("manipulated_variables", "10", "What is varied", VARIABLES),
    FieldPrompt("measured_variables", "11", "What is measured", VARIABLES),
    FieldPrompt("indices", "12", "Indices made from several measures", VARIABLES),
    FieldPrompt("study_type", "13", "Kind of study", DESIGN),
    FieldPrompt("blinding", "14", "Blinding", DESIGN),
    FieldPrompt("study_design", "15", "Design", DESIGN),
    FieldPrompt("randomization", "16", "Randomisation", DESIGN),
    FieldPrompt("statistical_models", "17", "Models and tests", ANALYSIS),
    FieldPrompt("transformations", "18", "Transformations and coding", ANALYSIS),
    FieldPrompt("follow_up_analyses", "19", "Follow-up analyses", ANALYSIS),
    FieldPrompt("inference_criteria", "20", "What is concluded from which result", ANALYSIS),
    FieldPrompt("data_exclusion", "21", "Which ratings are left out", ANALYSIS),
    FieldPrompt("missing_data", "22", "Missing ratings", ANALYSIS),
    FieldPrompt("assumptions", "23", "Assumptions", ANALYSIS),
    FieldPrompt("analysis_scripts", "24", "Script of the analysis", ANALYSIS),
    FieldPrompt("other", "25", "Anything else", OTHER),
)
ASPREDICTED_FROM_CONFIG = {"1": "existing_data", "2": "hypothesis", "8": "other"}
OSF_FROM_CONFIG = {
    "1": "title",
    "3": "hypothesis",
    "4": "existing_data",
    "6": "collection",
    "14": "blinding",
    "19": "follow_up",
    "25": "other",
}
_EXPERIMENT = "Experiment: the systems are assigned to items and workers by the design."


def aspredicted_fields(
    plan: Plan, config: ReportConfig = NO_CONFIG, *, plan_name: str = "the plan"
) -> tuple[FormField, ...]:
    """AsPredicted's nine fields, by the plan; plan_name is what their source is called."""
    design, say = plan.design(), PlanWords(plan)
    answers = {
        "2": Given(say.hypothesis(), plan_name, False),
        "3": Given(say.measured(), plan_name, False),
        "4": Given(f"{say.conditions(design)} {say.randomisation(design) or ''}".strip(), plan_name),
        "5": Given(
            f"{say.transformations()} {say.models()} {say.inference()} {say.missing_data()}",
            plan_name,
        ),
        "6": Given(say.exclusions(), plan_name),
        "7": Given(
            f"{say.sample_size(design)} {say.stopping_rule()} {say.size_rationale()}",
            plan_name,
        ),
        "8": Given(say.pilot(), plan_name, False),
        "9": Given(_EXPERIMENT, plan_name, False),
    }
    return fields_of(ASPREDICTED_FIELDS, {**answers, **_own(ASPREDICTED_FROM_CONFIG, config)})


def osf_fields(
    plan: Plan,
    config: ReportConfig = NO_CONFIG,
    *,
    plan_name: str = "the plan",
    checksum: str | None = None,
) -> tuple[FormField, ...]:
    """The 25 fields of OSF's template, by the plan; checksum is that of its file, where there is one."""
    design, say = plan.design(), PlanWords(plan)
    answers = {
        "2": Given(plan.question, plan_name),
        "3": Given(say.hypothesis(), plan_name, False),
        "5": Given(say.pilot(), plan_name, False),
        "7": Given(say.sample_size(design), plan_name),
        "8": Given(say.size_rationale(), plan_name),
        "9": Given(say.stopping_rule(), plan_name),
        "10": Given(say.manipulated(), plan_name),
        "11": Given(say.measured(), plan_name, False),
        "13": Given(_EXPERIMENT, plan_name, False),
        "15": Given(say.conditions(design), plan_name),
        "16": Given(say.randomisation(design) or "", plan_name),
        "17": Given(say.models(), plan_name),
        "18": Given(say.transformations(), plan_name),
        "20": Given(say.inference(), plan_name),
        "21": Given(say.exclusions(), plan_name),
        "22": Given(say.missing_data(), plan_name),
        "23": Given(say.assumptions(), plan_name),
        "24": _script(plan_name, checksum),
    }
    return fields_of(OSF_FIELDS, {**answers, **_own(OSF_FROM_CONFIG, config)})


def aspredicted_page(fields: Sequence[FormField]) -> FormPage:
    """The fields with a title and a note."""
    length = sum(len(field.answer or "") for field in fields)
    note = (
        f"For https://aspredicted.org, with prompts of our own. The answers have {length:,} characters; "
        f"AsPredicted advises about {ASPREDICTED_LENGTH:,}."
    )
    return FormPage("Preregistration: AsPredicted", note, tuple(fields))


def osf_page(fields: Sequence[FormField]) -> FormPage:
    """The fields with a title and a note."""
    note = "For the OSF Preregistration template at https://osf.io/prereg, with prompts of our own."
    return FormPage("Preregistration: OSF", note, tuple(fields))


def _own(names: Mapping[str, str], config: ReportConfig) -> dict[str, Given]:
    return {number: given for number, name in names.items() if (given := config.given(name))}


def _script(plan_name: str, checksum: str | None) -> Given:
    """The command that decides the study by its plan. RATINGS is the table that will be collected."""
    sealed = "" if checksum is None else f" The plan's SHA-256 is {checksum}."
    return Given(f"humeval-power analyze RATINGS --plan PLAN.{sealed}", plan_name)

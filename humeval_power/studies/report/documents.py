"""What a form is filled from: the documents of one study, of one criterion."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from humeval_power.ratings import Ratings
from humeval_power.saying.rule_words import rule_sentence
from humeval_power.saying.values import (
    NOTHING,
    JsonRecord,
    cells,
    listed,
    number,
    part,
    ratings_source,
    rule_of,
    words,
)
from humeval_power.scales import RatingScale
from humeval_power.studies.plan.plan import Plan
from humeval_power.studies.report.fact_record import StudyFacts, study_facts
from humeval_power.studies.report.fact_words import StudyWords
from humeval_power.studies.report.fields import Given
from humeval_power.studies.report.plans import PlanWords
from humeval_power.studies.report.power_answers import power_of_design
from humeval_power.systems import SystemsParameters

_SAME = 1e-9  # estimates of the same ratings, in another order perhaps
_OF_PILOT: tuple[str, ...] = (
    "baseline",
    "sd_worker_intercept",
    "sd_worker_slope",
    "sd_item_intercept",
    "sd_item_slope",
    "sd_residual",
)
_NAMES = {
    "parameters": "the parameter document",
    "analysis": "the analysis",
    "surface": "the surface document",
    "power": "the power document",
    "imported": "the import",
    "plan": "the plan",
}


@dataclass(frozen=True, slots=True)
class CriterionDocuments:
    """The JSON documents of `fit`, `analyze`, `surface`, `power` and `import`, as read, and the plan.

    plan_checksum : of the plan's file. ratings : what the analysis is of, for pictures.
    names : what the sources are called, by 'parameters', 'analysis', 'surface', 'power', 'imported' and 'plan';
        the names of their files, for example. criterion_name : of the criterion, before there is a document of it.
    """

    parameters: JsonRecord | None = None
    analysis: JsonRecord | None = None
    surface: JsonRecord | None = None
    power: JsonRecord | None = None
    plan: Plan | None = None
    plan_checksum: str | None = None
    ratings: Ratings | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    criterion_name: str | None = None
    imported: JsonRecord | None = None

    @property
    def study(self) -> JsonRecord:
        """What is known of the ratings: the analysis, or without one the fit; with what left the exports that they
        were imported from."""
        record = self.analysis or self.parameters or NOTHING
        if self.imported is None or not record or listed(record, "exports"):
            return record
        return {**record, "exports": self.imported["exports"]}

    @property
    def facts(self) -> StudyFacts:
        """What `study` says, whatever kind of study it is."""
        return study_facts(self.study)

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems, by the plan before there are ratings."""
        return self.facts.systems or (() if self.plan is None else tuple(self.plan.systems))

    @property
    def is_of_pilot(self) -> bool:
        """Whether these ratings are those that the plan took its variances from."""
        if self.plan is None or self.plan.source.ratings is None:
            return False
        # No digest of ratings stands in a document that may be published; the estimates tell as well.
        planned: Mapping[str, object] = self.plan.parameters.as_dict()
        fitted, names = part(self.study, "parameters"), _OF_PILOT
        if self.plan.many is not None:
            planned = _of_systems(self.plan.many.parameters)
            fitted = part(self.study, "joint_fit", "standard_deviations")
            names = tuple(fitted) or names
        pairs = [(number(fitted, name), number(planned, name)) for name in names]
        return all(
            one is not None and two is not None and math.isclose(one, two, rel_tol=_SAME, abs_tol=_SAME)
            for one, two in pairs
        )

    @property
    def study_source(self) -> str:
        """The document of `study` and the ratings it was made from."""
        ratings = ratings_source(self.study)
        name = self.name("analysis" if self.analysis else "parameters")
        return f"{name}; {ratings}" if ratings else name

    @property
    def power_source(self) -> str:
        """The documents that hold a power."""
        held = [self.name(kind) for kind in ("power", "surface") if cells(getattr(self, kind) or NOTHING)]
        return "; ".join(held)

    @property
    def criterion(self) -> str | None:
        """The name of the criterion, where it is known."""
        return words(self.study, "criterion_name") or self.criterion_name

    def name(self, kind: str) -> str:
        """What the source is called."""
        return self.names.get(kind, _NAMES[kind])


def _of_systems(planned: SystemsParameters) -> dict[str, float]:
    """The SDs that a plan of several systems assumes, by the names that a joint fit gives them."""
    factors = ("worker", "item", *(("document",) if planned.has_documents else ()))
    deviations = {f"sd_{name}": getattr(planned, f"sd_{name}") for name in (*factors, "residual")}
    for name in (f"sd_{factor}_system" for factor in factors):
        own = getattr(planned, name)
        deviations |= {
            name: own[0],
            **{f"{name} of {each}": sd for each, sd in zip(planned.names, own, strict=True)},
        }
    return deviations


# Sentences on a study that several forms share: its size, its scale, what was left out, who computed it.

CARD2020 = "Card et al. (2020), https://aclanthology.org/2020.emnlp-main.745"


def outputs_per_system(facts: StudyFacts) -> str | None:
    """'60', or a sentence where not every item was rated under every system."""
    items, ratings, per_item = facts.n_items, facts.n_ratings, facts.ratings_per_item
    if items is None or ratings is None or not per_item:
        return None
    n_outputs = round(ratings / per_item)
    if n_outputs == max(len(facts.systems), 2) * items:
        return f"{items:.0f}"
    return (
        f"{n_outputs:,} outputs of {facts.all_systems} together, of {items:,.0f} items: not every item was rated "
        f"under {facts.all_systems}."
    )


def scale_size(scale: RatingScale) -> str:
    """The number of points, or 'continuous'."""
    return "continuous" if scale.points is None else str(scale.points)


def scale_values(scale: RatingScale) -> str:
    """'1, 2, 3, 4, 5' for a short scale of whole numbers, else its range."""
    low, high, points = scale.low, scale.high, scale.points
    if points is not None and points <= 11 and float(low).is_integer() and high - low == points - 1:
        return ", ".join(f"{low + step:g}" for step in range(points))
    return f"[{low:g}, {high:g}]"


def software_words(document: JsonRecord) -> str | None:
    """'humeval-power 0.1.0 (python 3.11.7, numpy 2.4.6)' by the versions in the document."""
    versions = part(document, "versions")
    own = words(versions, "humeval-power")
    if own is None:
        return None
    others = ", ".join(
        f"{name} {version}" for name, version in versions.items() if name != "humeval-power" and version
    )
    return f"humeval-power {own}" + (f" ({others})" if others else "")


def command_words(document: JsonRecord) -> str | None:
    """The command that made a document, as it was typed."""
    return words(document, "command")


# What the plan, or else the documents of `power` and `surface`, say about the power of a study.


def power_method(documents: CriterionDocuments) -> Given | None:
    """How the power was found."""
    plan = documents.plan
    if plan is not None:
        how = "By formula" if math.isnan(plan.predicted.simulated) else "By simulating the planned study"
        tested = PlanWords(plan).passage("models")
        return Given(f"{how}, after {CARD2020}. {tested}", documents.name("plan"))
    source = documents.power_source
    if not source and StudyWords(documents.facts).interest() is not None:
        rule = documents.facts.rule
        test = "" if rule is None else f" {rule_sentence(rule)}"
        said = f"By formula, with the parameters of these ratings, after {CARD2020}.{test}"
        return Given(said, documents.study_source, False)
    if not source:
        return None
    power, surface = documents.power or NOTHING, documents.surface or NOTHING
    rule = rule_of(power) or rule_of(surface)
    result = [*cells(documents.power or NOTHING), *cells(documents.surface or NOTHING)]
    how = "By simulating studies" if any(cell.get("n_simulations") for cell in result) else "By formula"
    test = "" if rule is None else f" {rule_sentence(rule)}"
    return Given(f"{how}, after {CARD2020}.{test}", source)


def power_value(documents: CriterionDocuments) -> Given | None:
    """The power and its Monte Carlo interval, with the difference it is for; a suggestion where it is
    that of another design than the study's."""
    if documents.plan is not None:
        return Given(PlanWords(documents.plan).passage("power"), documents.name("plan"))
    answer = power_of_design(documents.study, documents.surface or NOTHING, documents.power or NOTHING)
    if answer is None:
        said = StudyWords(documents.facts).interest()
        return None if said is None else Given(said, documents.study_source, False)
    return Given(answer.text, documents.power_source, answer.is_whole)


def power_code(documents: CriterionDocuments, code_link: str | None) -> Given | None:
    """The command that computed the power, the versions, and the authors' link to their code."""
    parts, sources = [], []
    if code_link:
        parts.append(code_link)
        sources.append("the [report] table")
    if documents.plan is not None:
        sealed = f", SHA-256 {documents.plan_checksum}" if documents.plan_checksum else ""
        parts.append(f"plan with seed {documents.plan.seed}{sealed}")
        sources.append(documents.name("plan"))
    for kind in ("power", "surface"):
        document = getattr(documents, kind) or NOTHING
        said = [software_words(document), command_words(document)]
        if cells(document) and any(said):
            parts += [text for text in said if text]
            sources.append(documents.name(kind))
    if not parts:
        return None
    return Given("; ".join(dict.fromkeys(parts)) + ".", "; ".join(sources), bool(code_link))

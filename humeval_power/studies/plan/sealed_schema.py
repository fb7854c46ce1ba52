"""plan.json as a pydantic model: what may stand there beside the study, and its published JSON Schema."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any, Literal, get_args

from pydantic import (
    Field,
    JsonValue,
    SerializerFunctionWrapHandler,
    StringConstraints,
    field_validator,
    model_serializer,
)
from pydantic_core import PydanticCustomError

from humeval_power.choices import Below
from humeval_power.comparisons.accuracy.agreement import KnownAgreement
from humeval_power.comparisons.accuracy.paired import PairedAccuracy
from humeval_power.comparisons.assessment.scenario import DirectAssessment
from humeval_power.comparisons.preference.scenario import Preference
from humeval_power.errors import InputError, Problem, field_problem
from humeval_power.rules import Alternative
from humeval_power.saying.result import json_ready, versions
from humeval_power.saying.schemas import IMPOSSIBLE, RecordSection, validated
from humeval_power.scales import ScaleSource
from humeval_power.studies.looks.dropping import DropExpectation
from humeval_power.studies.looks.judgement_plan import Judged, JudgementKind, JudgementPlan, PromisedPower
from humeval_power.studies.looks.repeated import StopExpectation
from humeval_power.studies.looks.stopping_rule import StoppingRule, efficacy_of, futility_of
from humeval_power.studies.plan.plan import Amendment, Change, LookExpectation, PredictedPower
from humeval_power.studies.plan.planned_systems import GoalShare, RulesCost, WorkersOut
from humeval_power.studies.plan.sealed_content import (
    LOOKS_SCHEMA,
    PLAN_SCHEMA,
    Values,
    amendment_record,
    as_values,
    check_stated,
    content_of,
    document_text,
    seal,
)
from humeval_power.study import FIELDS, Study
from humeval_power.study_text import field_schemas, plain
from humeval_power.systems import Goal

_ROUNDING = 1e-9  # of an interval's end at 0 or 1

Text = Annotated[str, StringConstraints(pattern=r"\S")]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Cents = Annotated[str, StringConstraints(pattern=r"^[0-9]+\.[0-9]{2}$")]
Natural = Annotated[int, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
ComputedShares = Annotated[list[float], Field(min_length=2, description="One a look. Computed.")]


class SourceSection(RecordSection):
    """Where the values and the scale come from."""

    name: Text
    file: Text | None = Field(description="The document they were read from.")
    ratings: Text | None = Field(
        description="Name of the table of ratings that they were estimated from; null: from none."
    )
    scale: ScaleSource | None = Field(description="null: no scale.")


class DesignSection(RecordSection):
    """What the size makes. Computed."""

    kind: str
    n_ratings: Natural
    assignment_seed: Natural = Field(description="Seed of the draw of who rates what.")


class GoalShareSection(RecordSection):
    """How often simulated studies reached another goal."""

    goal: Goal
    share: Share
    interval: tuple[Share, Share] = Field(description="95 % Monte Carlo interval.")

    def record(self) -> GoalShare:
        return GoalShare(**self.model_dump())


class ExpectedSection(RecordSection):
    """Ratings and cost to expect if the study stops where its boundaries say."""

    ratings_if_effect: float = Field(gt=0, description="If the effect of interest is true.")
    ratings_if_none: float = Field(gt=0, description="If there is no effect.")
    cost_if_effect: float | None
    cost_if_none: float | None

    def record(self) -> LookExpectation:
        return LookExpectation(**_numbers(self))


class StopsSection(RecordSection):
    """What to expect at a true difference where intervals stop the study, by simulation."""

    effect: float
    power: Share
    decision_power: Share = Field(description="If decisions alone stopped it.")
    fixed_power: Share = Field(description="With one test at the end.")
    workers: float = Field(gt=0, description="Mean at the stop.")
    decision_workers: float = Field(gt=0, description="The same if decisions alone stopped it.")
    coverage: Share = Field(description="Of the interval at the stop.")
    bias: float = Field(description="Of the estimate at the stop.")
    decision_bias: float | None = Field(
        description="Of the estimate where a decision stopped it early; null: none did."
    )
    half_width_bias: float | None = Field(description="The same where a narrow interval did.")

    def record(self) -> StopExpectation:
        return StopExpectation(**_numbers(self))


class DropsSection(RecordSection):
    """What to expect of looks that drop systems if these are the true means, by simulation."""

    name: str
    means: list[float]
    best_named: Share = Field(description="Studies that name the best.")
    best_dropped: Share = Field(description="That drop a best one; of several that tie the worst.")
    false_claim: Share = Field(description="That name one that is not best, or any of several that tie.")
    fixed_named: Share = Field(description="That name the best with all systems rated to the end.")
    fixed_false: Share = Field(description="That make a false claim so.")
    top_group: Share = Field(description="That end with systems as good as each other.")
    ratings: float = Field(gt=0, description="Mean of all ratings.")
    saved: Share = Field(description="Of the ratings of all systems by all workers.")
    stages: list[float] = Field(description="Mean ratings of each stage.")
    left: list[float] = Field(description="Mean number of systems left after each look.")
    stopping: list[float] = Field(description="Studies that end at each look.")
    n_simulations: int = Field(gt=0)

    def record(self) -> DropExpectation:
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in _numbers(self).items()
        }
        return DropExpectation(**values)


class LooksSection(RecordSection):
    """The boundaries at the looks."""

    factor: float = Field(description="Multiplies the nominal levels; 1 unless calibrated by simulation.")
    information: ComputedShares
    nominal: ComputedShares
    expected: ExpectedSection | None = Field(description="By simulation; null where it was not simulated.")
    stops: list[StopsSection] | None = Field(
        None, description="At several differences, of a study with stop_when; else absent."
    )
    interval_factor: float | None = Field(
        None, description="The factor of the levels of intervals, where systems are dropped; else absent."
    )
    drops: list[DropsSection] | None = Field(
        None, description="At several true means, where systems are dropped; else absent."
    )

    @model_serializer(mode="wrap")
    def _without_what_is_absent(self, write: SerializerFunctionWrapHandler) -> dict[str, object]:
        fields: dict[str, object] = write(self)
        for name in ("stops", "interval_factor", "drops"):
            if fields[name] is None:
                del fields[name]
        return fields


class ExclusionSection(RecordSection):
    """What the rules for leaving out workers cost, by simulation; null where it was not simulated."""

    careful_out: Share = Field(description="Share of the careful workers that the rules leave out.")
    careless_out: Share | None = Field(description="The same of careless workers; null: none are expected.")
    power: Share | None = Field(description="With the rules.")
    without: Share | None = Field(description="If nobody were left out.")
    all_careful: Share | None = Field(description="If nobody were careless, and nobody left out.")
    n_simulations: Natural

    def record(self) -> RulesCost:
        known = _numbers(self)
        return RulesCost(WorkersOut(known.pop("careful_out"), known.pop("careless_out")), **known)


class PromiseSection(RecordSection):
    """The power at the effect of interest, and what it costs."""

    analytic: Share = Field(description="By formula. Computed.")
    simulated: Share | None = Field(description="null where it was not simulated.")
    interval: tuple[Share, Share] | None = Field(description="95 % Monte Carlo interval of `simulated`.")
    n_simulations: Natural
    cost: Cents | None = Field(description="In units of the currency, to the cent. Computed.")
    effect_raw: float | None = Field(description="The effect on the scale of the ratings. Computed.")
    n_tests: Natural = Field(description="Tests that are corrected together. Computed.")
    other_goals: list[GoalShareSection] = Field(description="In the same simulations.")
    looks: LooksSection | None = Field(description="null: one test, at the end.")
    exclusion: ExclusionSection | None = Field(description="null: no rules for leaving out workers.")

    def record(self) -> PredictedPower:
        interval, n = self.interval, self.n_simulations
        if len({self.simulated is None, interval is None, n == 0}) > 1:
            rule = "simulated, interval and n_simulations belong together: all three, or null, null and 0."
            raise InputError([Problem(rule, "")])
        if self.simulated is None or interval is None:
            return PredictedPower(self.analytic, math.nan, (math.nan, math.nan), 0)
        if not interval[0] - _ROUNDING <= self.simulated <= interval[1] + _ROUNDING:
            raise InputError([field_problem("simulated", self.simulated, "lies outside its own interval.")])
        return PredictedPower(self.analytic, self.simulated, interval, n)


class OtherSection(RecordSection):
    """Parameters that the plan was not made for."""

    name: Text
    values: dict[str, JsonValue]

    def record(self) -> object:
        try:
            return FIELDS["values"].kind.read(self.values)
        except ValueError as error:
            raise InputError([Problem(str(error), "", column="values")]) from None


class SensitivitySection(RecordSection):
    """The power of the plan if other parameters hold than those it was made for."""

    others: Annotated[list[OtherSection], Field(min_length=1)]
    powers: list[Share] = Field(description="By formula, in the order of `others`. Computed.")

    def record(self) -> dict[str, Any]:
        names = [other.name for other in self.others]
        twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        if twice:
            raise InputError([field_problem("others", twice[0], "is there twice.")])
        return {other.name: other.record() for other in self.others}


class ChangeSection(RecordSection):
    """One value before and after an amendment."""

    path: Text
    old: JsonValue
    new: JsonValue


class AmendmentSection(RecordSection):
    """Changes made on one day for one reason."""

    date: datetime.date
    reason: Text
    checksum_before: Sha256 = Field(description="The checksum of the plan that was amended.")
    changes: Annotated[list[ChangeSection], Field(min_length=1)]

    def record(self) -> Amendment:
        changes = tuple(Change(change.path, change.old, change.new) for change in self.changes)
        return Amendment(self.date, self.reason, self.checksum_before, changes)


class PlanContent(RecordSection):
    """The study as it was resolved, and what it promises."""

    schema_: Literal["humeval_power/plan/4"] = Field(alias="schema")
    study: dict[str, JsonValue] = Field(
        description="By the fields of study.toml; one that is not there was not said."
    )
    source: SourceSection
    design: DesignSection
    promise: PromiseSection
    sensitivity: SensitivitySection | None = Field(description="null: nothing else was looked at.")
    seed: Natural = Field(description="Seed of the simulation.")
    created: datetime.date
    versions: dict[str, str] = Field(description="Of the programs that computed the power.")

    @field_validator("study")
    @classmethod
    def _is_a_study(cls, values: dict[str, Any]) -> Any:
        """The study with numbers as its fields hold them."""
        try:
            return plain(Study().with_(**values).said())
        except InputError as error:
            problems = tuple(Problem(one.rule, one.remedy, column=one.place) for one in error.problems)
            context = {"reason": str(error), "problems": problems}
            raise PydanticCustomError(IMPOSSIBLE, "{reason}", context) from None


class PlanDocument(PlanContent):
    """A sealed plan: its content, what happened to it, and the seal.

    `checksum` is the SHA-256 of the content and the history: UTF-8 JSON, names sorted, no blanks, numbers
    as Python writes them. `sealed` repeats the content as it was sealed last, so that a change by hand
    can be named, and recorded with the value before it.
    """

    history: list[AmendmentSection]
    checksum: Sha256
    sealed: PlanContent


def json_schema() -> dict[str, Any]:
    """The JSON Schema of plan.json."""
    schema = PlanDocument.model_json_schema()
    for document in (schema, schema["$defs"]["PlanContent"]):
        document["properties"]["study"] = {"$ref": "#/$defs/Study"}
    schema["$defs"]["Study"] = {
        "type": "object",
        "title": "The fields of study.toml",
        "description": PlanContent.model_fields["study"].description,
        "additionalProperties": False,
        "properties": field_schemas(FIELDS),
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{PLAN_SCHEMA.replace('/', ':')}",
        **schema,
        "title": "Plan of a human evaluation (plan.json)",
    }


def _numbers(section: RecordSection) -> dict[str, Any]:
    """The values of a section, NaN where it has null."""
    return {name: math.nan if value is None else value for name, value in section.model_dump().items()}


# looks.json: the plan of looks at independent judgements as a pydantic model, sealed as plan.json is.

LOOKS_COMPUTED = ("looks.sizes", "looks.nominal", "looks.futility_p")
Size = Annotated[int, Field(ge=1, le=10_000_000)]
Exactness = Literal["exact", "mid-p"]


class ScoresSection(RecordSection):
    """Independent scores of two systems, compared by Mann and Whitney's U."""

    n: Size = Field(description="Scores of each system at the end.")
    effect: float = Field(description="Difference of mean scores of interest, B - A, in points.")
    mean: float = Field(description="Assumed mean score of A.")
    sd: float = Field(gt=0, description="Assumed SD of scores.")
    sd_b: float | None = Field(description="That of B, if it differs.")
    below: Below
    low: float
    high: float
    continuity: bool = Field(
        description="Whether the normal approximation of U is corrected for continuity."
    )

    def study(self, alpha: float) -> Judged:
        return DirectAssessment(**self.model_dump(), alpha=alpha)


class PreferenceSection(RecordSection):
    """Independent judgements of which output is better, compared by a sign test."""

    n_judgements: Size = Field(description="Judgements at the end, ties included.")
    preference: float = Field(description="Share of interest that prefers B, minus 1/2.")
    tie_share: Share = Field(description="Assumed share of ties.")
    ties: Literal["excluded", "kept"] = Field(
        description="What the share is one of: without ties, or of all."
    )
    test: Exactness

    def study(self, alpha: float) -> Judged:
        return Preference(**self.model_dump(), alpha=alpha)


class AccuracySection(RecordSection):
    """Items that two systems answer right or wrong, compared by McNemar's test."""

    n_items: Size = Field(description="Items at the end.")
    difference: float = Field(description="Difference of accuracy of interest, B - A.")
    agreement: Share = Field(description="Assumed share of items with both right or both wrong.")
    baseline: Share | None = Field(description="Assumed accuracy of A, if any.")
    test: Exactness

    def study(self, alpha: float) -> Judged:
        values = {**self.model_dump(), "agreement": KnownAgreement(self.agreement)}
        return PairedAccuracy(**values, alpha=alpha)


class JudgementLooksSection(RecordSection):
    """When the judgements are looked at, and what stops the study."""

    shares: Annotated[list[float], Field(min_length=1)] = Field(description="Increasing; the last is 1.")
    sizes: list[int] = Field(description="Judgements, items, or scores of both systems. Computed.")
    efficacy: Text
    futility: Text
    alpha: float = Field(gt=0, lt=1, description="Chance of a false positive over all looks.")
    alternative: Alternative
    nominal: list[float] = Field(description="p at or below which a look stops. Computed.")
    futility_p: list[float | None] = Field(description="p above which it stops for futility. Computed.")

    def record(self) -> StoppingRule:
        return StoppingRule(
            efficacy_of(self.efficacy), futility_of(self.futility), self.alpha, self.alternative
        )


class PromisedSection(RecordSection):
    """What simulation promised."""

    power: Share
    interval: tuple[Share, Share]
    size_if_effect: float = Field(gt=0, description="Mean judgements at stopping.")
    size_if_none: float = Field(gt=0)
    n_simulations: int = Field(ge=1)
    seed: Natural

    def record(self) -> PromisedPower:
        return PromisedPower(**self.model_dump())


class LooksContent(RecordSection):
    """Everything that was decided about looks at independent judgements."""

    schema_: Literal["humeval_power/looks_plan/1"] = Field(alias="schema")
    judgements: JudgementKind
    systems: tuple[Text, Text] = Field(description="A and B; every difference is B - A.")
    scores: ScoresSection | None
    preference: PreferenceSection | None
    accuracy: AccuracySection | None
    looks: JudgementLooksSection
    promised: PromisedSection | None = Field(description="null: not simulated since it was changed.")
    created: datetime.date
    versions: dict[str, str]

    def record(self) -> JudgementPlan:
        sections = {
            "scores": self.scores,
            "preference": self.preference,
            "accuracy": self.accuracy,
        }
        there = [name for name, section in sections.items() if section is not None]
        if there != [self.judgements]:
            raise InputError(
                f"A plan of {self.judgements} has the section {self.judgements!r}, and no other; it has {there}."
            )
        section = sections[self.judgements]
        assert section is not None
        return JudgementPlan(
            systems=self.systems,
            study=section.study(self.looks.alpha),
            shares=tuple(self.looks.shares),
            rule=self.looks.record(),
            promised=None if self.promised is None else self.promised.record(),
        )


class LooksDocument(LooksContent):
    """A sealed plan of looks: its content, what happened to it, and the seal, as in plan.json."""

    history: list[AmendmentSection]
    checksum: Sha256
    sealed: LooksContent


def looks_plan_to_json(
    plan: JudgementPlan, *, created: datetime.date, history: Sequence[Amendment] = ()
) -> str:
    """The text of looks.json, sealed, ending with a newline."""
    content = plain_looks(plan, created=created)
    return document_text(seal(content, [amendment_record(amendment) for amendment in history]))


def plain_looks(plan: JudgementPlan, *, created: datetime.date) -> Values:
    """The content as it comes back from a file."""
    content: Any = json_ready(looks_content(plan, created=created))
    return content_of(as_values(validated_looks(seal(content, []), "looks")))


def looks_content(plan: JudgementPlan, *, created: datetime.date) -> Values:
    """The content of the document, as plain values."""
    bounds = plan.boundaries()
    limits = [float(limit) for limit in bounds.futility_p]
    return {
        "schema": LOOKS_SCHEMA,
        "judgements": plan.kind,
        "systems": list(plan.systems),
        **dict.fromkeys(get_args(JudgementKind)),
        plan.kind: _study(plan.study),
        "looks": {
            "shares": list(plan.shares),
            "sizes": list(plan.sizes),
            "efficacy": str(plan.rule.efficacy),
            "futility": "none" if plan.rule.futility is None else str(plan.rule.futility),
            "alpha": plan.rule.alpha,
            "alternative": plan.rule.alternative,
            "nominal": [float(level) for level in bounds.nominal],
            "futility_p": [limit if math.isfinite(limit) else None for limit in limits],
        },
        "promised": None if plan.promised is None else asdict(plan.promised),
        "created": created.isoformat(),
        "versions": versions(),
    }


def _study(study: Judged) -> Values:
    values = asdict(study)
    del values["alpha"]  # stands with the boundaries, which share it out
    if isinstance(study, DirectAssessment):
        del values["test"]
    if isinstance(study, PairedAccuracy):
        assert isinstance(study.agreement, KnownAgreement)
        values["agreement"] = study.agreement.share
    return values


def check_looks(plan: JudgementPlan, values: Values, place: str) -> None:
    """Raise InputError for every computed number of the document that is not what the plan gives."""
    computed = looks_content(plan, created=datetime.date.min)["looks"]
    check_stated({path: computed[path.partition(".")[2]] for path in LOOKS_COMPUTED}, values, place)


def validated_looks(values: Mapping[str, Any], place: str) -> LooksDocument:
    """The document, with every field checked. Raises InputError: every field that is impossible, at once;
    `place` is what errors call the document."""
    return validated(LooksDocument, values, place)

"""looks.json: the plan of looks at independent judgements as a pydantic model, sealed as plan.json is."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from humeval_power.choices import Below
from humeval_power.errors import InputError
from humeval_power.inference.looks.stopping_rule import StoppingRule
from humeval_power.inference.looks.stopping_words import efficacy_of, futility_of
from humeval_power.planning.looks.judgement_plan import (
    Judged,
    JudgementKind,
    JudgementPlan,
    PromisedPower,
)
from humeval_power.reporting.plan.history import Amendment
from humeval_power.reporting.plan.sealed.content import amendment_record, as_values, check_stated
from humeval_power.reporting.plan.sealed.schema import AmendmentSection, Natural, Sha256, Share, Text
from humeval_power.reporting.plan.sealed.seal import LOOKS_SCHEMA, Values, content_of, document_text, seal
from humeval_power.reporting.records import json_ready, versions
from humeval_power.reporting.schemas.sections import Section
from humeval_power.reporting.schemas.validation_problems import validated
from humeval_power.rules import Alternative
from humeval_power.scenarios.accuracy.agreement import KnownAgreement
from humeval_power.scenarios.accuracy.paired import PairedAccuracy
from humeval_power.scenarios.assessment.scenario import DirectAssessment
from humeval_power.scenarios.preference.independent import Preference

LOOKS_COMPUTED = ("looks.sizes", "looks.nominal", "looks.futility_p")
Size = Annotated[int, Field(ge=1, le=10_000_000)]
Exactness = Literal["exact", "mid-p"]


class ScoresSection(Section):
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


class PreferenceSection(Section):
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


class AccuracySection(Section):
    """Items that two systems answer right or wrong, compared by McNemar's test."""

    n_items: Size = Field(description="Items at the end.")
    difference: float = Field(description="Difference of accuracy of interest, B - A.")
    agreement: Share = Field(description="Assumed share of items with both right or both wrong.")
    baseline: Share | None = Field(description="Assumed accuracy of A, if any.")
    test: Exactness

    def study(self, alpha: float) -> Judged:
        values = {**self.model_dump(), "agreement": KnownAgreement(self.agreement)}
        return PairedAccuracy(**values, alpha=alpha)


class JudgementLooksSection(Section):
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


class PromisedSection(Section):
    """What simulation promised."""

    power: Share
    interval: tuple[Share, Share]
    size_if_effect: float = Field(gt=0, description="Mean judgements at stopping.")
    size_if_none: float = Field(gt=0)
    n_simulations: int = Field(ge=1)
    seed: Natural

    def record(self) -> PromisedPower:
        return PromisedPower(**self.model_dump())


class LooksContent(Section):
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
    """The document, with every field checked.

    Raises
    ------
    InputError
        Every field that is impossible, at once; `place` is what errors call the document.
    """
    return validated(LooksDocument, values, place)

"""The plan document as a pydantic model: what may stand in plan.json, and its published JSON Schema."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer

from humeval_power.errors import InputError, Problem, field_problem
from humeval_power.planning.plan.plan import Plan
from humeval_power.planning.study.analytic import check_target
from humeval_power.reporting.plan.sealed.many import ManySection
from humeval_power.reporting.plan.sealed.rules import RulesSection
from humeval_power.reporting.plan.sealed.seal import PLAN_SCHEMA
from humeval_power.reporting.plan.sealed.sections import (
    AmendmentSection,
    CostsSection,
    DesignSection,
    EffectSection,
    LooksSection,
    Natural,
    ParametersSection,
    PredictedSection,
    SensitivitySection,
    Sha256,
    SourceSection,
    Text,
)
from humeval_power.reporting.schemas.sections import RuleSection, ScaleSection, Section
from humeval_power.rules import claim


class PlanContent(Section):
    """Everything that was decided, and the power that it promises."""

    schema_: Literal["humeval_power/plan/3"] = Field(alias="schema")
    question: Text
    systems: Annotated[list[Text], Field(min_length=2)] = Field(
        description="A and B, and every difference is B - A; or several."
    )
    effect: EffectSection
    scale: ScaleSection | None
    parameters: ParametersSection
    source: SourceSection
    design: DesignSection
    costs: CostsSection | None
    rule: RuleSection
    target_power: float = Field(gt=0, lt=1)
    predicted: PredictedSection
    seed: Natural = Field(description="Seed of the simulation.")
    exclusions: list[Text] = Field(description="Rules, in words, by which ratings will be left out.")
    exclusion_rules: RulesSection | None = Field(
        default=None,
        description="Rules by which the analysis leaves out workers; left out where there are none.",
    )
    looks: LooksSection | None = Field(description="null: one test, at the end.")
    many: ManySection | None = Field(
        default=None, description="Several systems or criteria; left out for one test of two systems."
    )
    sensitivity: SensitivitySection | None = Field(description="null: nothing else was looked at.")
    created: datetime.date
    versions: dict[str, str] = Field(description="Of the programs that computed the power.")

    @model_serializer(mode="wrap")
    def _without_what_two_systems_lack(self, plain: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A plan of two systems, or without rules, is written as it was before there were others."""
        values: dict[str, Any] = plain(self)
        if self.exclusion_rules is None:
            del values["exclusion_rules"]
        if self.many is None:
            del values["many"]
            values["design"].pop("n_systems")
        return values

    def record(self) -> Plan:
        self._check()
        many = None if self.many is None else self.many.planned(self.systems)
        plan = Plan(
            question=self.question,
            systems=tuple(self.systems),
            effect=self.effect.difference if many is None else many.parameters.stated_effect,
            parameters=self.parameters.record() if many is None else many.pair,
            source=self.source.record(),
            counts=self.design.record(),
            rule=self.rule.record(),
            target_power=self.target_power,
            predicted=self.predicted.record(),
            seed=self.seed,
            design_kind=self.design.kind,
            max_ratings_per_worker=self.design.max_ratings_per_worker,
            scale=None if self.scale is None else self.scale.record(),
            costs=None if self.costs is None else self.costs.model.record(),
            cost=None if self.costs is None else Decimal(self.costs.total),
            exclusions=tuple(self.exclusions),
            rules=None if self.exclusion_rules is None else self.exclusion_rules.planned(),
            looks=None if self.looks is None else self.looks.record(),
            expected=None if self.looks is None else self.looks.expectation(),
            others=() if self.sensitivity is None else self.sensitivity.record(),
            many=many,
        )
        if many is None:
            plan.study()  # refuses a test whose power cannot be computed
        else:
            many.check(plan.rule)
        return plan

    def _check(self) -> None:
        problems = []
        difference, rule = self.effect.difference, self.rule.record()
        if difference == 0 and rule.margin is None:
            problems.append(field_problem("effect.difference", 0, "must not be 0: no study can find that."))
        if rule.margin is not None and not rule.can_show(difference):
            said = f"must be where the claim of the rule, {claim(rule)}, is true."
            problems.append(field_problem("effect.difference", difference, said))
        if len({name.strip() for name in self.systems}) < len(self.systems):
            problems.append(field_problem("systems", list(self.systems), "must be different systems."))
        if self.many is None and len(self.systems) > 2:
            problems.append(field_problem("many", None, "must say how several systems are compared."))
        if len(self.systems) != self.design.n_systems:
            said = f"must be the number of systems, {len(self.systems)}."
            problems.append(field_problem("design.n_systems", self.design.n_systems, said))
        if self.many is not None and (self.looks is not None or self.sensitivity is not None):
            problems.append(field_problem("many", "...", "cannot stand beside looks or a sensitivity."))
        if rule.alternative == "greater" and difference < 0:
            said = "must be positive where only B better than A counts (rule.alternative 'greater')."
            problems.append(field_problem("effect.difference", difference, said))
        try:
            check_target(self.target_power, rule)
        except InputError as error:
            problems.append(Problem(str(error), "", column="target_power"))
        if problems:
            raise InputError(problems)


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
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:{PLAN_SCHEMA.replace('/', ':')}",
        **PlanDocument.model_json_schema(),
        "title": "Plan of a human evaluation (plan.json)",
    }

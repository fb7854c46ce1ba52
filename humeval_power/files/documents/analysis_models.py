"""What may stand in the documents that `analyze -o` writes: of two systems, of several, of several criteria."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from humeval_power.errors import Problem, field_problem
from humeval_power.files.documents.models import (
    AgreementRecord,
    Data,
    DeviationRecord,
    FittedRecord,
    Interval,
    NotNegative,
    PartRecord,
    PlanSource,
    Positive,
    PowerAtInterestRecord,
    Share,
    Standardised,
    StatedRule,
    Texts,
    is_near,
    outside,
)
from humeval_power.rules import Comparisons, Correction, CorrectOver, SystemModel, SystemVariances


class Pair(PartRecord):
    """The comparison of two of several systems."""

    first: str
    second: str
    estimate: float | None = None
    standard_error: NotNegative | None = None
    df: Positive | None = None
    p_value: Share | None = None
    corrected_p_value: Share | None = None
    significant: bool | None = None
    interval: Interval | None = None
    simultaneous_interval: Interval | None = None
    boundary: Texts | None = None
    not_identified: Texts | None = None
    converged: bool | None = None

    def contradictions(self) -> Sequence[Problem]:
        result = outside("estimate", self.estimate, self.interval)
        if self.first == self.second:
            result.append(field_problem("second", self.second, "must be another system than the first."))
        return result


class FamilyOfTestsRecord(PartRecord):
    """Which tests were corrected together, and how."""

    comparisons: Comparisons
    baseline: str | None = None
    correction: Correction
    model: SystemModel
    variances: SystemVariances
    over: CorrectOver
    n_tests: Annotated[int, Field(ge=1)]
    n_looks: Annotated[int, Field(ge=0)] = 0
    drop_result: str | None = None
    criteria: Texts


class SystemMeanRecord(PartRecord):
    """The mean of a system."""

    system: str
    mean: float | None = None


class Analysis(FittedRecord):
    """One criterion: a fit of two systems with its test, or the comparisons of several."""

    schema_: Literal["humeval_power/analysis/1"] = Field(alias="schema")
    standardised: Standardised | None = None
    power_at_interest: PowerAtInterestRecord | None = None
    plan: PlanSource | None = None
    deviations: list[DeviationRecord] | None = None
    agreement: AgreementRecord | None = None
    sequential: dict[str, Any] | None = None
    pool: dict[str, Any] | None = None
    means: dict[str, float | None] | None = None
    family_of_tests: FamilyOfTestsRecord | None = None
    pairs: list[Pair] | None = None
    groups: list[Texts] | None = None
    rule: StatedRule | None = None
    system_means: list[SystemMeanRecord] | None = None
    data: Data | None = None

    def contradictions(self) -> Sequence[Problem]:
        return [*super().contradictions(), *self._wrong_effect(), *self._wrong_decisions()]

    def _wrong_effect(self) -> list[Problem]:
        """The effect is that of the parameters, and its decision that of its p-value."""
        effect, problems = self.effect, []
        if effect is None:
            return []
        # over a pool of items the effect weighs strata, and is not the mean of those that were rated
        if self.parameters is not None and effect.estimate is not None and self.pool is None:
            from humeval_power.parameters import Parameters

            fitted = Parameters.from_dict(self.parameters).difference
            if not is_near(effect.estimate, fitted):
                rule = f"is not the difference that the parameters have, {fitted:.6g}."
                problems.append(field_problem("effect.estimate", effect.estimate, rule))
        if self.sequential is None and effect.rule is not None:  # the boundary decides, not alpha
            decides = effect.p_value if self.family_of_tests is None else effect.corrected_p_value
            problems += _wrong_decision("effect.", effect.significant, decides, effect.rule.alpha)
        return problems

    def _wrong_decisions(self) -> list[Problem]:
        rule, pairs = self.rule, self.pairs or []
        known = set(self.systems or ())
        problems = []
        for place, pair in enumerate(pairs):
            at = f"pairs.{place}."
            if rule is not None:
                problems += _wrong_decision(at, pair.significant, pair.corrected_p_value, rule.alpha)
            problems += [
                field_problem(f"{at}{end}", name, f"is none of the systems, {', '.join(sorted(known))}.")
                for end, name in (("first", pair.first), ("second", pair.second))
                if known and name not in known
            ]
        return problems


class Analyses(PartRecord):
    """Several criteria of one table."""

    schema_: Literal["humeval_power/analyses/1"] = Field(alias="schema")
    criteria: list[Analysis] = Field(min_length=1)
    family_of_tests: FamilyOfTestsRecord | None = None
    versions: dict[str, str] | None = None
    command: str | None = None

    def contradictions(self) -> Sequence[Problem]:
        names = [one.criterion_name for one in self.criteria]
        return [
            field_problem(f"criteria.{place}.criterion_name", name, "must be a name of its own.")
            for place, name in enumerate(names)
            if name is None or names.index(name) < place
        ]


def _wrong_decision(at: str, decided: bool | None, p: float | None, alpha: float) -> list[Problem]:
    if decided is None or p is None or decided == (p <= alpha):
        if decided is None or p is not None:
            return []
        return [field_problem(f"{at}significant", decided, "cannot be decided without a p-value.")]
    said = "at most" if p <= alpha else "above"
    rule = f"contradicts the p-value {p:.6g}, which is {said} alpha, {alpha:g}."
    return [field_problem(f"{at}significant", decided, rule)]

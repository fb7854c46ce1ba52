"""What may stand in the documents that commands write and others read back, as pydantic models.

A name that a model does not know is left alone, so that a document of a later version stays readable; what
is known keeps its rules, those between fields too. Only what every reader needs must be there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from humeval_power.errors import HumevalPowerError, InputError, Problem, field_problem
from humeval_power.latent import Family
from humeval_power.parameters import PARAMETER_NAMES, Parameters
from humeval_power.rules import Analysis, Comparisons, Correction, CorrectOver, SystemModel, SystemVariances
from humeval_power.saying.schemas import RuleSection, ScaleSection, impossible
from humeval_power.systems import SystemsParameters
from humeval_power.uncertainty import VarianceUncertainty

_ROUNDING = 1e-6  # relative to the numbers compared, for documents that were written with fewer digits
_ROUNDING_OF_SHARES = 1e-9  # of an interval's end at 0 or 1
_LARGEST_COUNT = 10**15

Share = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0, le=_LARGEST_COUNT)]
Natural = Annotated[int, Field(ge=1, le=_LARGEST_COUNT)]
NotNegative = Annotated[float, Field(ge=0)]
Positive = Annotated[float, Field(gt=0)]
Seed = Annotated[int, Field(ge=0)]
Texts = list[str]


def _ordered(ends: tuple[float | None, float | None]) -> tuple[float | None, float | None]:
    low, high = ends
    if low is not None and high is not None and low > high:
        raise PydanticCustomError("unordered", "must run from its lower to its upper end")
    return ends


Interval: TypeAlias = Annotated[tuple[float | None, float | None], AfterValidator(_ordered)]
ShareInterval: TypeAlias = Annotated[tuple[Share | None, Share | None], AfterValidator(_ordered)]


def _buildable(build: Callable[[Any], object]) -> AfterValidator:
    """What a record of the package refuses is a problem of the document."""

    def checked(values: dict[str, Any]) -> dict[str, Any]:
        try:
            build(values)
        except HumevalPowerError as error:
            raise impossible(error) from None
        return values

    return AfterValidator(checked)


def _of_two_or_several(values: dict[str, Any]) -> Parameters | SystemsParameters:
    return SystemsParameters.from_dict(values) if "names" in values else Parameters.from_dict(values)


StatedParameters: TypeAlias = Annotated[dict[str, Any], _buildable(Parameters.from_dict)]
StatedSystems: TypeAlias = Annotated[dict[str, Any], _buildable(_of_two_or_several)]
StatedUncertainty: TypeAlias = Annotated[dict[str, Any], _buildable(VarianceUncertainty.from_dict)]


class PartRecord(BaseModel):
    """A part of a document: what it states must agree with itself."""

    model_config = ConfigDict(strict=True, extra="allow", frozen=True, allow_inf_nan=False)

    @model_validator(mode="after")
    def _agrees(self) -> PartRecord:
        problems = list(self.contradictions())
        if problems:
            raise impossible(InputError(problems))
        return self

    def contradictions(self) -> Sequence[Problem]:
        """Problems between the fields, each found by itself."""
        return ()


class StatedRule(RuleSection):
    """The rule of a test; documents of early versions lack the last two."""

    analysis: Analysis = "ratings"
    margin: float | None = None


class Data(PartRecord):
    """The table of ratings."""

    source: str | None = None
    sha256: str | None = None


class Estimate(PartRecord):
    """An estimate and its interval: of an effect in other words, a chance or averaged over workers and items."""

    estimate: float | None = None
    interval: Interval | None = None

    def contradictions(self) -> Sequence[Problem]:
        return outside("estimate", self.estimate, self.interval)


class RawEffect(Estimate):
    """The effect on the scale of the ratings."""

    standard_error: NotNegative | None = None


class LatentEffect(RawEffect):
    """The test of ratings in categories, where it is made."""

    margin: NotNegative | None = None


class CategoriesRecord(PartRecord):
    """The categories of ratings: as rated, worst first, and their shares under A and B."""

    ratings: list[float] = Field(min_length=2)
    shares: list[list[Share]] = []
    fitted: list[list[Share]] = []
    unused: list[float] = []
    workers_of_one_rating: Count = 0
    standard_errors: dict[str, NotNegative | None] | None = None
    intervals: dict[str, Any] | None = None

    def contradictions(self) -> Sequence[Problem]:
        return [
            field_problem(f"{name}.{row}", shares, f"must be {len(self.ratings)} shares that sum to 1.")
            for name in ("shares", "fitted")
            for row, shares in enumerate(getattr(self, name))
            if len(shares) != len(self.ratings) or not is_near(sum(shares), 1.0)
        ]


class Effect(RawEffect):
    """The test of the difference. Null stands for what is infinite or was not computed."""

    df: Positive | None = None
    p_value: Share | None = None
    corrected_p_value: Share | None = None
    p_values: list[Share | None] | None = None
    significant: bool | None = None
    rule: StatedRule | None = None
    raw: RawEffect | None = None
    raw_margin: NotNegative | None = None
    latent: LatentEffect | None = None
    better: Estimate | None = None
    averaged: Estimate | None = None
    df_satterthwaite: Positive | None = None
    df_kenward_roger: Positive | None = None
    simulated_size: Share | None = None
    simulated_size_interval: ShareInterval | None = None

    def contradictions(self) -> Sequence[Problem]:
        return [*super().contradictions(), *self._wrong_p()]

    def _wrong_p(self) -> list[Problem]:
        """The p-value follows from the estimate, its standard error and df, unless it was simulated."""
        rule = None if self.rule is None else self.rule.record()
        tested = self if self.latent is None else self.latent
        given = (tested.estimate, tested.standard_error, self.p_value)
        if rule is None or rule.is_simulated or None in given or not tested.standard_error:
            return []
        import numpy as np

        from humeval_power.studies.fit.wald import wald_p

        df = math.inf if self.df is None else self.df
        values = (np.array(tested.estimate), np.array(tested.standard_error), np.array(df))
        margin = rule.margin if self.latent is None else self.latent.margin
        computed = float(wald_p(*values, rule.alternative, margin=margin))
        if abs(computed - (self.p_value or 0.0)) <= _ROUNDING:
            return []
        said = f"does not follow from the estimate, its standard error and df, which give {computed:.6g}."
        return [field_problem("p_value", self.p_value, said)]


class FlowStepRecord(PartRecord):
    """Rows read, dropped or analysed."""

    step: Literal["read", "dropped", "analysed"]
    rows: Count
    reason: str = ""


class ExportFlowRecord(PartRecord):
    """What left a platform's export on the way to ratings; its rows need not add up."""

    source: str
    platform: str
    known_by: str
    flow: list[FlowStepRecord]


class ImportDocument(PartRecord):
    """What `import` tells of the exports that it read."""

    schema_: Literal["humeval_power/import/1"] = Field(alias="schema")
    n_ratings: Natural
    exports: list[ExportFlowRecord]


class MeasureRecord(PartRecord):
    """A measure of agreement."""

    measure: str
    value: float | None = None
    interval: Interval | None = None
    reason: str | None = ""
    value_other: float | None = None
    interval_other: Interval | None = None


class AgreementRecord(PartRecord):
    """How far workers agree with each other and with themselves."""

    between: list[MeasureRecord] = []
    within: list[MeasureRecord] = []
    n_repeated: Count | None = None


class PowerAtInterestRecord(PartRecord):
    """Power of the collected design at the effect of interest."""

    effect: float
    fitted: Share | None = None
    planned: Share | None = None
    promised: Share | None = None
    type_m: NotNegative | None = None
    type_s: Share | None = None


class Standardised(PartRecord):
    """The effect in standard deviations."""

    by_rating: float | None = None
    by_residual: float | None = None


class DeviationRecord(PartRecord):
    """A difference between plan and data."""

    what: str
    planned: str
    actual: str


class PlanSource(PartRecord):
    """The plan that an analysis followed."""

    file: str | None = None
    checksum: str | None = None


class FittedRecord(PartRecord):
    """What a fit of two systems says of a study."""

    parameters: StatedParameters | None = None
    standard_errors: dict[str, NotNegative | None] | None = None
    intervals: dict[str, Any] | None = None
    uncertainty: StatedUncertainty | None = None
    estimator: Literal["reml", "ml"] | None = None
    engine: str | None = None
    effect: Effect | None = None
    family: Family | None = None
    categories: CategoriesRecord | None = None
    criterion: float | None = None
    n_ratings: Natural | None = None
    n_workers: Natural | None = None
    n_items: Natural | None = None
    design: str | None = None
    ratings_per_item: Positive | None = None
    converged: bool | None = None
    message: str | None = None
    boundary: Texts | None = None
    not_identified: list[Literal[PARAMETER_NAMES]] | None = None  # type: ignore[valid-type]
    identified_combinations: Texts | None = None
    scale: ScaleSection | None = None
    systems: Texts | None = None
    criterion_name: str | None = None
    exports: list[ExportFlowRecord] | None = None
    flow: list[FlowStepRecord] | None = None
    notices: Texts | None = None
    data: Data | None = None
    versions: dict[str, str] | None = None
    command: str | None = None

    def contradictions(self) -> Sequence[Problem]:
        return [*self._wrong_counts(), *self._wrong_flow(), *self._wrong_raw(), *self._wrong_intervals()]

    def _wrong_counts(self) -> list[Problem]:
        n = self.n_ratings
        counted = [("n_workers", self.n_workers), ("n_items", self.n_items)]
        return [
            field_problem(name, count, f"is more than there are ratings, {n:,}.")
            for name, count in counted
            if n is not None and count is not None and count > n
        ]

    def _wrong_flow(self) -> list[Problem]:
        steps = dict.fromkeys(("read", "dropped", "analysed"), 0)
        for step in self.flow or ():
            steps[step.step] += step.rows
        if not self.flow:
            return []
        problems = []
        if steps["read"] != steps["dropped"] + steps["analysed"]:
            rule = "the rows that were dropped and analysed do not sum up to those that were read."
            problems.append(Problem(rule, "", column="flow"))
        if self.n_ratings is not None and self.n_ratings != steps["analysed"]:
            rule = f"is not the number of rows analysed, {steps['analysed']:,}."
            problems.append(field_problem("n_ratings", self.n_ratings, rule))
        return problems

    def _wrong_raw(self) -> list[Problem]:
        """The effect in points of the scale follows from the effect on [0, 1]."""
        effect, scale = self.effect, self.scale
        if effect is None or scale is None or effect.raw is None:
            return []
        stated, unit = effect.raw.estimate, effect.estimate
        if stated is None or unit is None or is_near(stated, scale.record().effect_to_raw(unit)):
            return []
        computed = scale.record().effect_to_raw(unit)
        rule = f"is not what the estimate {unit:.6g} is on the scale, {computed:.6g}."
        return [field_problem("effect.raw.estimate", stated, rule)]

    def _wrong_intervals(self) -> list[Problem]:
        intervals = []
        for name, ends in (self.intervals or {}).items():
            numbers = isinstance(ends, list) and len(ends) == 2 and all(map(_is_number_or_none, ends))
            if name != "method" and (not numbers or (None not in ends and ends[0] > ends[1])):
                rule = "must be two numbers, the lower first."
                intervals.append(field_problem(f"intervals.{name}", ends, rule))
        return intervals


class ParametersDocument(FittedRecord):
    """What `fit -o` writes."""

    schema_: Literal["humeval_power/parameters/1"] = Field(alias="schema")
    parameters: StatedParameters


# The documents of `power --json` and `surface -o`.


class CellRecord(PartRecord):
    """One power: of a design, at an effect."""

    setting: str | None = None
    workers: Natural | None = None
    items: Natural | None = None
    ratings_per_item: Positive | None = None
    effect: float | None = None
    difference: Annotated[float, Field(ge=-1, le=1)] | None = None
    power: Share | None = None
    power_low: Share | None = None
    power_high: Share | None = None
    type_m: NotNegative | None = None
    type_s: Share | None = None
    n_simulations: Count | None = None
    n_failed: Count | None = None
    boundary_rate: Share | None = None

    def contradictions(self) -> Sequence[Problem]:
        problems = []
        low, power, high = self.power_low, self.power, self.power_high
        if low is not None and high is not None and low > high:
            problems.append(field_problem("power_low", low, f"is above power_high, {high:g}."))
        else:
            problems += outside("power", power, (low, high), _ROUNDING_OF_SHARES)
        n, failed = self.n_simulations, self.n_failed
        if n is not None and failed is not None and failed > n:
            problems.append(
                field_problem("n_failed", failed, f"is more than the {n:,} that were simulated.")
            )
        return problems


class Analytic(PartRecord):
    """The power by formula."""

    power: Share | None = None
    type_m: NotNegative | None = None
    type_s: Share | None = None
    standard_error: NotNegative | None = None
    df: Positive | None = None


class Computed(PartRecord):
    """What any simulated power says of its origin."""

    effect_unit: Annotated[float, Field(gt=0)] | None = None
    rule: StatedRule | None = None
    seed: Seed | None = None
    versions: dict[str, str] | None = None
    command: str | None = None
    response: str | None = None
    losses: dict[str, Any] | None = None
    exclusion: str | dict[str, Any] | None = None


class PowerDocument(CellRecord, Computed):
    """What `power --json -o` writes: one power, or one for each row."""

    schema_: Literal["humeval_power/power/1"] = Field(alias="schema")
    n_ratings: Natural | None = None
    design: str | None = None
    parameters: StatedSystems | None = None
    rows: list[CellRecord] | None = None
    analytic: Analytic | None = None
    rejection_rate: Share | None = None
    mean_estimate: float | None = None
    failure_rate: Share | None = None
    boundary_rates: dict[str, Share] | None = None
    scale: dict[str, Any] | None = None


class SurfaceDocument(Computed):
    """What `surface -o` writes."""

    schema_: Literal["humeval_power/surface/1"] = Field(alias="schema")
    rows: list[CellRecord]
    rules: list[StatedRule] | None = None
    settings: dict[str, StatedSystems] | None = None


# The documents of `analyze -o`: of two systems, of several, of several criteria.


class Pair(RawEffect):
    """The comparison of two of several systems."""

    first: str
    second: str
    df: Positive | None = None
    p_value: Share | None = None
    corrected_p_value: Share | None = None
    significant: bool | None = None
    simultaneous_interval: Interval | None = None
    boundary: Texts | None = None
    not_identified: Texts | None = None
    converged: bool | None = None

    def contradictions(self) -> Sequence[Problem]:
        result = [*super().contradictions()]
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


class AnalysisDocument(FittedRecord):
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


class AnalysesDocument(PartRecord):
    """Several criteria of one table."""

    schema_: Literal["humeval_power/analyses/1"] = Field(alias="schema")
    criteria: list[AnalysisDocument] = Field(min_length=1)
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


def outside(
    name: str,
    value: float | None,
    interval: tuple[float | None, float | None] | None,
    rounding: float = _ROUNDING,
) -> list[Problem]:
    """The problem of a value that its own interval does not hold."""
    if value is None or interval is None:
        return []
    low, high = interval
    allowed = rounding * max(1.0, abs(value))
    if (low is not None and value < low - allowed) or (high is not None and value > high + allowed):
        return [field_problem(name, value, f"lies outside its own interval, {low} to {high}.")]
    return []


def is_near(stated: float, computed: float) -> bool:
    """Whether two numbers are the same up to rounding."""
    return abs(stated - computed) <= _ROUNDING * max(1.0, abs(computed))


def _is_number_or_none(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))

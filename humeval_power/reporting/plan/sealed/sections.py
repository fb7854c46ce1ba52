"""The sections of a plan document as pydantic models, and the records that they stand for.

Every field must be there and nothing else may be. A section that stands for a record of the package is
built while it is checked, so what the record refuses is a problem of the document like any other.
"""

from __future__ import annotations

import datetime
import math
from typing import Annotated, Literal

from pydantic import Field, JsonValue, StringConstraints

from humeval_power.choices import LARGEST_COUNT, DesignKind, LookKind
from humeval_power.costs import CostModel
from humeval_power.errors import InputError, Problem, field_problem
from humeval_power.fees import PlatformFee
from humeval_power.inference.looks.stopping_words import efficacy_of, futility_of
from humeval_power.latent import Link
from humeval_power.parameters import Parameters
from humeval_power.planning.looks.schedule import LookSchedule
from humeval_power.planning.plan.plan import LookExpectation, ParameterSource, PredictedPower
from humeval_power.planning.study.designs_of import design_of
from humeval_power.reporting.plan.history import Amendment, Change
from humeval_power.reporting.schemas.sections import Section
from humeval_power.scenarios.looks.looks import Looks
from humeval_power.study_counts import StudyCounts

MOST_RATINGS = 20_000_000
_REGULAR = ("crossed", "k-per-item", "split")  # the kinds whose size is their ratings per item
_ROUNDING = 1e-9  # of an interval's end at 0 or 1

Text = Annotated[str, StringConstraints(pattern=r"\S")]
Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Amount = Annotated[str, StringConstraints(pattern=r"^[0-9]+(\.[0-9]+)?$")]
Cents = Annotated[str, StringConstraints(pattern=r"^[0-9]+\.[0-9]{2}$")]
Count = Annotated[int, Field(ge=1, le=LARGEST_COUNT)]
Size = Annotated[int, Field(ge=2, le=LARGEST_COUNT)]
Natural = Annotated[int, Field(ge=0)]
Deviation = Annotated[float, Field(ge=0)]
Share = Annotated[float, Field(ge=0, le=1)]
Correlation = Annotated[float, Field(ge=-1, le=1)]


class EffectSection(Section):
    """The smallest effect of interest, which the power is computed for. Never the effect of a pilot.

    With a margin in the rule it is the true difference that the power is computed for, inside the margin.
    """

    difference: float = Field(
        ge=-1, le=1, description="B - A on [0, 1], 1 being best; 0 only with a margin in the rule."
    )
    raw: float | None = Field(description="The same on the scale of the ratings. Computed.")

    def record(self) -> float:
        return self.difference


class LatentSection(Section):
    """Ratings in categories: P(rating <= category c) = F(threshold_c - eta), all on the latent scale."""

    thresholds: Annotated[list[float], Field(min_length=1)]
    scores: Annotated[list[Share], Field(min_length=2)] = Field(
        description="The categories' values on [0, 1]."
    )
    effect: float
    sd_worker_intercept: Deviation
    sd_worker_slope: Deviation
    sd_item_intercept: Deviation
    sd_item_slope: Deviation
    sd_document_intercept: Deviation = 0.0
    sd_document_slope: Deviation = 0.0
    link: Link


class ParametersSection(Section):
    """The rating model on [0, 1]. Its `effect` is what was fitted or assumed; power does not use it."""

    baseline: float
    effect: float
    sd_worker_intercept: Deviation
    sd_worker_slope: Deviation
    sd_item_intercept: Deviation
    sd_item_slope: Deviation
    sd_residual: float = Field(gt=0)
    sd_worker_item: Deviation
    sd_document_intercept: Deviation
    sd_document_slope: Deviation
    correlation_worker: Correlation
    correlation_item: Correlation
    coding: tuple[float, float] = Field(description="Codes of system A and system B in the model.")
    latent: LatentSection | None = Field(
        default=None,
        description="Of ratings in categories; the others are then what it means on [0, 1].",
    )

    def record(self) -> Parameters:
        return Parameters.from_dict(self.model_dump())


class SourceSection(Section):
    """Where the parameters come from."""

    name: Text
    file: Text | None = Field(description="The document they were read from.")
    ratings: Text | None = Field(
        description="Name of the table of ratings that they were estimated from; null: from none."
    )

    def record(self) -> ParameterSource:
        return ParameterSource(**self.model_dump())


class DesignSection(Section):
    """Who rates what."""

    n_workers: Size
    n_items: Size
    ratings_per_item: Count = Field(description="Under each system, each by another worker.")
    paired: bool = Field(description="The same workers rate an item under both systems.")
    n_repeats: Literal[1]
    n_documents: Annotated[int, Field(ge=0, le=LARGEST_COUNT)] = Field(
        description="Documents that the items come out of, 0 where items stand alone."
    )
    n_systems: Annotated[int, Field(ge=2, le=LARGEST_COUNT)] = Field(
        default=2, description="Systems that are compared."
    )
    kind: DesignKind | None = Field(
        description="null: crossed where every worker rates every item, else k-per-item, or split."
    )
    max_ratings_per_worker: Count | None
    assignment_seed: Natural = Field(description="Seed of the draw of who rates what. Computed.")
    n_ratings: Natural = Field(description="Ratings in total. Computed.")

    def record(self) -> StudyCounts:
        self._check_kind()
        counts = StudyCounts(
            self.n_workers,
            self.n_items,
            self.ratings_per_item,
            self.paired,
            n_documents=self.n_documents,
            n_systems=self.n_systems,
        )
        design = design_of(counts, kind=self.kind, max_ratings_per_worker=self.max_ratings_per_worker)
        if abs(design.ratings_per_item - self.ratings_per_item) >= 1:
            rule = f"must be {design.ratings_per_item:g} in a {design.kind} design of this size."
            raise InputError([field_problem("ratings_per_item", self.ratings_per_item, rule)])
        return counts

    def _check_kind(self) -> None:
        counted = self.kind in (None, *_REGULAR)
        if (
            self.n_systems * self.n_items * (self.ratings_per_item if counted else self.n_workers)
            > MOST_RATINGS
        ):
            rule = f"makes more than {MOST_RATINGS:,} ratings, which is more than can be planned."
            raise InputError([field_problem("n_items", self.n_items, rule)])
        if self.kind == "table":
            raise InputError([field_problem("kind", "table", "cannot be planned from counts.")])
        complete = self.ratings_per_item == self.n_workers
        regular = "split" if not self.paired else "crossed" if complete else "k-per-item"
        if self.kind in _REGULAR and self.kind != regular:
            rule = f"contradicts the counts and the pairing, which make a {regular} design."
            raise InputError([field_problem("kind", self.kind, rule)])


class FeeSection(Section):
    """The fee rule of a platform; amounts and shares are exact decimals, written as text."""

    name: str
    share: Amount
    minimum_per_assignment: Amount
    extra_share: Amount
    extra_from: Annotated[int, Field(ge=2)] | None
    per_worker: Amount
    charged_per: Literal["assignment", "study"]
    date: datetime.date | None
    source: str
    confirmed: bool
    note: str

    def record(self) -> PlatformFee:
        return PlatformFee.from_dict(self.model_dump(mode="json"))


class CostModelSection(Section):
    """Prices; amounts and shares are exact decimals, written as text."""

    price_per_rating: Amount | None
    pay_per_hour: Amount | None
    seconds_per_rating: Amount | None
    cost_per_worker: Amount
    cost_per_document: Amount
    cost_per_item: Amount
    cost_per_output: Amount
    rejected_share: Amount
    checks_per_rating: Amount
    repeats_per_rating: Amount = "0"
    fee: FeeSection
    units_per_assignment: Annotated[int, Field(ge=1)]
    split_hits: bool
    currency: Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]

    def record(self) -> CostModel:
        return CostModel.from_dict(self.model_dump(mode="json"))


class CostsSection(Section):
    """What the study will cost."""

    model: CostModelSection
    total: Cents = Field(description="In currency units, to the cent. Computed.")


class PredictedSection(Section):
    """The power at the effect of interest. Computed; null where it was not simulated."""

    analytic: Share
    simulated: Share | None
    interval: tuple[Share, Share] | None = Field(description="95 % Monte Carlo interval of `simulated`.")
    n_simulations: Natural

    def record(self) -> PredictedPower:
        absent = {self.simulated is None, self.interval is None, self.n_simulations == 0}
        if len(absent) > 1:
            rule = "simulated, interval and n_simulations belong together: all three, or null, null and 0."
            raise InputError([Problem(rule, "")])
        if self.simulated is None or self.interval is None:
            return PredictedPower(self.analytic, math.nan, (math.nan, math.nan), 0)
        low, high = self.interval
        if not low - _ROUNDING <= self.simulated <= high + _ROUNDING:
            raise InputError([field_problem("simulated", self.simulated, "lies outside its own interval.")])
        return PredictedPower(self.analytic, self.simulated, self.interval, self.n_simulations)


class OtherSection(Section):
    """Parameters that the plan was not made for."""

    name: Text
    parameters: ParametersSection


class SensitivitySection(Section):
    """The power of the plan if other parameters hold than those it was made for."""

    others: Annotated[list[OtherSection], Field(min_length=1)]
    powers: list[Share] = Field(description="By formula, in the order of `others`. Computed.")

    def record(self) -> tuple[tuple[str, Parameters], ...]:
        names = [other.name for other in self.others]
        twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        if twice:
            raise InputError([field_problem("others", twice[0], "is there twice.")])
        return tuple((other.name, other.parameters.record()) for other in self.others)


class ChangeSection(Section):
    """One value before and after an amendment."""

    path: Text
    old: JsonValue
    new: JsonValue


class AmendmentSection(Section):
    """Changes made on one day for one reason."""

    date: datetime.date
    reason: Text
    checksum_before: Sha256 = Field(description="The checksum of the plan that was amended.")
    changes: Annotated[list[ChangeSection], Field(min_length=1)]

    def record(self) -> Amendment:
        changes = tuple(Change(change.path, change.old, change.new) for change in self.changes)
        return Amendment(self.date, self.reason, self.checksum_before, changes)


ComputedShares = Annotated[list[float], Field(min_length=2, description="One a look. Computed.")]


class ExpectedSection(Section):
    """Ratings and cost to expect if the study stops where its boundaries say."""

    ratings_if_effect: float = Field(gt=0, description="If the effect of interest is true.")
    ratings_if_none: float = Field(gt=0, description="If there is no effect.")
    cost_if_effect: float | None
    cost_if_none: float | None

    def record(self) -> LookExpectation:
        cost = [math.nan if each is None else each for each in (self.cost_if_effect, self.cost_if_none)]
        return LookExpectation(self.ratings_if_effect, self.ratings_if_none, cost[0], cost[1])


class LooksSection(Section):
    """Looks before the end, and the last one."""

    by: LookKind = Field(description="What the shares are shares of.")
    shares: list[float] = Field(description="Increasing; the last is 1, the whole study.")
    efficacy: Text = Field(description="The boundaries of success, in the words of 'plan --efficacy'.")
    futility: Text = Field(description="When to give up, in the words of 'plan --futility'.")
    factor: float = Field(description="Multiplies the nominal levels; 1 unless calibrated by simulation.")
    information: ComputedShares
    nominal: ComputedShares
    expected: ExpectedSection | None = Field(description="By simulation; null where it was not simulated.")

    def expectation(self) -> LookExpectation | None:
        """What the study is expected to take."""
        return None if self.expected is None else self.expected.record()

    def record(self) -> LookSchedule:
        return LookSchedule(
            Looks(self.by, tuple(self.shares)),
            efficacy_of(self.efficacy),
            futility_of(self.futility),
            self.factor,
        )

"""What may stand in the documents that `power --json` and `surface -o` write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field

from humeval_power.errors import Problem, field_problem
from humeval_power.files.documents.models import (
    Count,
    Natural,
    NotNegative,
    PartRecord,
    Positive,
    Seed,
    Share,
    StatedRule,
    StatedSystems,
)

_ROUNDING = 1e-9  # of an interval's end at 0 or 1


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
        elif power is not None and _is_outside(power, low, high):
            rule = f"lies outside its own interval, {low} to {high}."
            problems.append(field_problem("power", power, rule))
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


def _is_outside(value: float, low: float | None, high: float | None) -> bool:
    return (low is not None and value < low - _ROUNDING) or (high is not None and value > high + _ROUNDING)

"""Sections that several documents have, as pydantic models, and the records that they stand for.

A section that stands for a record of the package is built while it is checked, so what the record refuses
is a problem of the document like any other.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from humeval_power.errors import HumevalPowerError, InputError, Problem
from humeval_power.latent import Family, Link
from humeval_power.reporting.schemas.validation_problems import IMPOSSIBLE
from humeval_power.rules import (
    DEFAULT_RULE,
    Alternative,
    Analysis,
    DecisionRule,
    DegreesOfFreedom,
    Estimator,
)
from humeval_power.scales import RatingScale, ScaleSource


class Section(BaseModel):
    """A part of the document. `record` gives what it stands for."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, allow_inf_nan=False)

    @model_validator(mode="after")
    def _stands_for_something_possible(self) -> Section:
        try:
            self.record()
        except InputError as error:
            raise PydanticCustomError(IMPOSSIBLE, "{reason}", _context(error, error.problems)) from None
        except HumevalPowerError as error:
            raise PydanticCustomError(IMPOSSIBLE, "{reason}", _context(error, ())) from None
        return self

    def record(self) -> object:
        """The record of the package that the section stands for; None where there is none."""
        return None


class ScaleSection(Section):
    """The scale of the ratings."""

    low: float
    high: float
    points: Annotated[int, Field(ge=2)] | None = Field(description="null: continuous.")
    higher_is_better: bool
    source: ScaleSource

    def record(self) -> RatingScale:
        return RatingScale(**self.model_dump())


class RuleSection(Section):
    """The test that decides."""

    estimator: Estimator
    df: DegreesOfFreedom
    alternative: Alternative
    alpha: float = Field(gt=0, lt=1, description="Of each side for 'non-inferior' and 'equivalent'.")
    analysis: Analysis
    family: Family = DEFAULT_RULE.family
    link: Link = DEFAULT_RULE.link
    margin: float | None = Field(
        description="Difference on [0, 1] for 'non-inferior' and 'equivalent', null for the others."
    )

    def record(self) -> DecisionRule:
        return DecisionRule(**self.model_dump())


def _context(error: HumevalPowerError, problems: tuple[Problem, ...]) -> dict[str, Any]:
    return {"reason": str(error), "problems": problems}

"""The section of a plan document that says when the data are looked at, and what stops the study."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import Field

from humeval_power.inference.stopping_words import efficacy_of, futility_of
from humeval_power.interfaces.formats.document_sections import Section
from humeval_power.interfaces.formats.plan_sections import Text
from humeval_power.planning.look_schedule import LookSchedule
from humeval_power.planning.plan import LookExpectation
from humeval_power.scenarios.looks import LookKind, Looks

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

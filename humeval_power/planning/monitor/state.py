"""What is known of a study between its looks: what was planned, and what each look found."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from scipy import special

from humeval_power.inference.looks.stagewise import LookEstimate
from humeval_power.inference.looks.stopping_rule import StoppingRule

Decision = Literal[
    "continue", "stop-success", "stop-futility", "end-success", "end-some-shown", "end-nothing-shown"
]


@dataclass(frozen=True, slots=True)
class LookData:
    """What is in at a look.

    `share` is the share of the planned items, workers or ratings, by which the looks were planned.
    `information`, 1 / variance of the effect on [0, 1], is that of who rated what at the variances that the
    plan assumed: it does not depend on the ratings, so that they cannot move the boundaries (the estimated one
    would let a worker variance that happens to be estimated as zero spend all of alpha at once). `p_value` is
    that of the study's own test, one- or two-sided as its rule. `final` says that no more ratings will come.
    """

    n_ratings: int
    n_workers: int
    n_items: int
    share: float
    information: float
    estimate: float
    standard_error: float
    df: float
    p_value: float
    final: bool = False

    @property
    def z(self) -> float:
        """The z with the tail probability of the look's t."""
        return LookEstimate(self.estimate, self.standard_error, self.df).z

    @property
    def estimated_information(self) -> float:
        """1 / standard error squared, as these ratings have it."""
        return 1.0 / self.standard_error**2


@dataclass(frozen=True, slots=True)
class JudgementData:
    """What is in at a look at independent judgements.

    `n_a` and `n_b` are the scores of each system; or the judgements for each, or the items that one system
    alone got right, beside `n_ties` judgements or items that are for neither. `estimate` and `standard_error`
    are in the units of the plan's boundaries: of scores P(a score of B is higher) - 1/2, ties counted half.
    `difference` is B - A as people report it: of mean scores in points, else the estimate. `share` and
    `information` depend on how many there are alone."""

    n_a: int
    n_b: int
    n_ties: int
    share: float
    information: float
    estimate: float
    standard_error: float
    p_value: float
    difference: float
    final: bool = False

    @property
    def n_judgements(self) -> int:
        """Scores of both systems, judgements or items."""
        return self.n_a + self.n_b + self.n_ties

    @property
    def df(self) -> float:
        """These tests have no degrees of freedom."""
        return math.inf

    @property
    def z(self) -> float:
        """The z with the two-sided p-value of the look and the sign of its estimate."""
        return math.copysign(float(-special.ndtri(self.p_value / 2)), self.estimate)

    @property
    def estimated_information(self) -> float:
        """1 / standard error squared, as these judgements have it."""
        return 1.0 / self.standard_error**2


class Arrived(Protocol):
    """How much is in at a look."""

    @property
    def share(self) -> float:
        """Share of what looks are counted by."""
        ...

    @property
    def final(self) -> bool:
        """Whether no more will come."""
        ...


class Decided(Protocol):
    """A look that was taken."""

    @property
    def number(self) -> int:
        """Which look it was."""
        ...

    @property
    def decision(self) -> Decision:
        """What it decided."""
        ...


class Watched(Protocol):
    """A study with looks, of two systems or of several."""

    @property
    def rule(self) -> StoppingRule:
        """What stops it."""
        ...

    @property
    def unit(self) -> str:
        """What looks are counted by."""
        ...

    @property
    def shares(self) -> tuple[float, ...]:
        """Planned shares of it."""
        ...

    @property
    def independent(self) -> bool:
        """Whether judgements are."""
        ...

    @property
    def ended(self) -> bool:
        """Whether the study has come to its end, or was stopped."""
        ...

    @property
    def next_planned(self) -> int | None:
        """Number of the next planned look, None after the last."""
        ...

    @property
    def looks(self) -> Sequence[Decided]:
        """The looks so far."""
        ...


@dataclass(frozen=True, slots=True)
class TakenLook:
    """A look that was taken, and what it decided.

    `planned` is the number of the planned look (1, 2, ...), None for one that was not; `fraction` the
    share of the planned information at which it counts; `nominal` the level that its p-value had to
    reach, `futility` the one above which it would have been given up (1: never). `remarks` are departures from
    the plan, `reason` why an unplanned one was taken.
    """

    number: int
    planned: int | None
    data: LookData | JudgementData
    fraction: float
    nominal: float
    futility: float
    decision: Decision
    conditional_power: Mapping[str, float]
    reason: str = ""
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Monitoring:
    """A study with looks: what was planned, and the looks so far.

    shares : planned shares of the items, workers or ratings, increasing to 1
    fractions : the shares of information that they were expected to carry
    maximum_information : of the whole study as planned, 1 / variance of the effect on [0, 1]
    effect : the effect of interest, on [0, 1]
    factor : by which nominal levels are multiplied, from a calibration by simulation (1: none)
    independent : whether the judgements are, so that their number is the information, also beyond the plan's
    """

    rule: StoppingRule
    unit: str
    shares: tuple[float, ...]
    fractions: tuple[float, ...]
    maximum_information: float
    effect: float
    factor: float = 1.0
    independent: bool = False
    looks: tuple[TakenLook, ...] = ()

    @property
    def drift(self) -> float:
        """Expected z at the planned end, if the effect of interest is true."""
        return self.effect * math.sqrt(self.maximum_information)

    @property
    def ended(self) -> bool:
        """Whether the study has come to its end, or was stopped."""
        return bool(self.looks) and self.looks[-1].decision != "continue"

    @property
    def next_planned(self) -> int | None:
        """Number of the next planned look, None after the last."""
        taken = max((look.planned or 0 for look in self.looks), default=0)
        return taken + 1 if taken < len(self.shares) else None

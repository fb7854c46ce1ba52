"""What a test of two systems by repeated runs finds: the difference, its test, and where its error comes from."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from humeval_power.errors import InputError
from humeval_power.inference.clustered import ClusteredMean
from humeval_power.inference.runs.run_table import RunTable
from humeval_power.inference.study.wald import EffectTest
from humeval_power.rules import Alternative, DecisionRule
from humeval_power.runs_parameters import RunsFamily, RunsKind, RunsParameters
from humeval_power.scales import RatingScale

FACTORS = (1.0, 2.0, 4.0, math.inf)  # times as many runs


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsRule:
    """How two systems are compared: the kind of runs, what scores are taken for, and the test.

    `margin` is a difference of scores, in their unit.
    """

    kind: RunsKind
    family: RunsFamily = "gaussian"
    alternative: Alternative = "two-sided"
    margin: float | None = None
    alpha: float = 0.05

    def on(self, scale: RatingScale) -> DecisionRule:
        """The rule for scores that are moved to [0, 1].

        Raises
        ------
        InputError
            A margin that is no difference of these scores.
        """
        margin = None if self.margin is None else self.margin / scale.width
        if margin is not None and not 0 < margin <= 1:
            raise InputError(
                f"A margin is a difference of scores, above 0 and at most {scale.width:g} here; got "
                f"{self.margin:g}."
            )
        crossed_binary = self.kind == "crossed" and self.family == "binary"
        return DecisionRule(
            alternative=self.alternative,
            margin=margin,
            alpha=self.alpha,
            family="binary" if crossed_binary else "gaussian",
            link="logit" if crossed_binary else "probit",
        )


@dataclass(frozen=True, slots=True)
class ErrorPart:
    """A source of the variance of the estimated difference; `falls` where more runs make it smaller."""

    source: str
    variance: float
    falls: bool


@dataclass(frozen=True, slots=True)
class MoreRuns:
    """The standard error with `factor` times as many runs of the same items; runs of each system."""

    factor: float
    runs: tuple[float, float]
    standard_error: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsComparison:
    """Two systems compared by repeated runs; the effect is B - A, everything in the unit of the scores.

    `runs` are the mean numbers of runs of an item by A and B. `parts` of the error's variance add up; of crossed
    right-or-wrong answers they and `parameters` are on the scale of log odds. `items` is the mean of the items'
    differences: the test itself of nested runs; of crossed ones what holds for these very prompts alone.
    `parameters` is None where scores vary too little to say. `at_zero` names variances that were estimated as zero.
    """

    systems: tuple[str, str]
    rule: RunsRule
    means: tuple[float, float]
    estimate: float
    standard_error: float
    df: float
    p_value: float
    interval: tuple[float, float]
    significant: bool
    reason: str
    n_items: int
    n_scores: int
    runs: tuple[float, float]
    n_labels: int
    items: ClusteredMean
    clustered: bool
    parts: tuple[ErrorPart, ...]
    parameters: RunsParameters | None
    at_zero: tuple[str, ...] = ()
    odds_ratio: tuple[float, float, float] | None = None
    remarks: tuple[str, ...] = ()

    @property
    def removable(self) -> float:
        """Share of the error's variance that more runs remove; NaN where it is not known."""
        total = sum(part.variance for part in self.parts)
        return sum(part.variance for part in self.parts if part.falls) / total if total > 0 else math.nan

    @property
    def more_runs(self) -> tuple[MoreRuns, ...]:
        """The standard error with more runs of each item: of the test where nothing is added."""
        share = self.removable
        if math.isnan(share) or not self.standard_error > 0:
            return ()
        return tuple(
            MoreRuns(
                factor,
                (factor * self.runs[0], factor * self.runs[1]),
                self.standard_error * math.sqrt(1 - share + share / factor),
            )
            for factor in FACTORS
        )


def scale_of(table: RunTable) -> RatingScale:
    """The scale of the scores: [0, 1] where they lie on it, else from the lowest to the highest.

    Raises
    ------
    InputError
        All scores are the same.
    """
    low, high = float(table.score.min()), float(table.score.max())
    if low >= 0 and high <= 1 and low < high:
        return RatingScale(0.0, 1.0)
    if not low < high:
        raise InputError(f"All scores are {low:g}: nothing varies, and nothing can be compared.")
    return RatingScale(low, high)


def told(test: EffectTest, scale: RatingScale) -> dict[str, object]:
    """The fields of a comparison that a test on [0, 1] says, in the unit of the scores."""
    low, high = (scale.width * end for end in test.interval)
    return {
        "estimate": scale.width * test.estimate,
        "standard_error": scale.width * test.standard_error,
        "df": test.df,
        "p_value": test.p_value,
        "interval": (low, high),
        "significant": test.significant,
        "reason": test.reason,
    }


def cell_means(table: RunTable) -> np.ndarray:
    """Means over the runs of each item under each system, shape (n_items, n_systems)."""
    return np.asarray(table.cell_sums(table.score) / table.counts)

"""How often tests reject where they should not: the planned test, and those people really use."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from humeval_power.designs import Design
from humeval_power.errors import InputError
from humeval_power.inference.common_tests import TwoSided
from humeval_power.inference.replication import Replication
from humeval_power.inference.wilson import wilson_interval
from humeval_power.parameters import Parameters
from humeval_power.planning.null_tests import NULL_TESTS, null_studies
from humeval_power.planning.power import (
    DEFAULT_SEED,
    DEFAULT_SIMULATIONS,
    PowerEstimate,
    Progress,
    Tally,
    check_simulation,
    estimate_power,
)
from humeval_power.rules import DEFAULT_RULE, DecisionRule
from humeval_power.scenarios.rating_study import RatingStudy
from humeval_power.simulation.study import Response

if TYPE_CHECKING:
    import pandas as pd

Verdict = Literal["calibrated", "too bold", "too careful", "unclear", "not defined"]

DEFAULT_NULL_STUDIES = 10_000
VERDICT_CONFIDENCE = 0.99  # a dozen tests are judged side by side
BAND = 0.2  # of alpha: a rate that is shown to be off by less is called calibrated
CALIBRATION_COLUMNS = (
    "test",
    "label",
    "is_rule",
    "rejection_rate",
    "rejection_low",
    "rejection_high",
    "upper_rate",
    "upper_low",
    "upper_high",
    "alternative",
    "alpha",
    "judged_low",
    "judged_high",
    "band_low",
    "band_high",
    "verdict",
    "needed_simulations",
    "n_simulations",
    "n_failed",
)
_STUDIES_AT_ONCE, _RATINGS_AT_ONCE = 512, 2_000_000  # bounds of the memory used


@dataclass(frozen=True, slots=True)
class Calibration:
    """One test in studies without an effect, or with one at the margin of the rule.

    `estimate.rejection_rate` is the share of significant differences of either sign, `estimate.power`
    that of claims that B is better. A one-sided rule is judged by the latter; its other rate is that
    of the two-sided test at twice alpha. Under a rule with a margin both are the share of studies that
    show its claim, which is just not true. A test that the design does not allow has no studies.
    """

    test: str
    label: str
    is_rule: bool
    rule: DecisionRule
    estimate: PowerEstimate

    @property
    def judged(self) -> tuple[float, tuple[float, float]]:
        """The rate to be compared with alpha, and its Wilson interval (95 %)."""
        if self.rule.alternative == "greater":
            return self.estimate.power, self.estimate.interval
        return self.estimate.rejection_rate, self.estimate.rejection_interval

    @property
    def judged_interval(self) -> tuple[float, float]:
        """The Wilson interval (99 %) of the judged rate: what the simulation can tell of the true one."""
        n = self.estimate.n_usable
        return wilson_interval(round(self.judged[0] * n) if n else 0, n, VERDICT_CONFIDENCE)

    @property
    def band(self) -> tuple[float, float]:
        """The rates that count as calibrated: alpha, give or take a fifth of it."""
        return (1 - BAND) * self.rule.alpha, (1 + BAND) * self.rule.alpha

    @property
    def verdict(self) -> Verdict:
        """Where the interval of the rate lies: above alpha, below it, within the band, or none of these.

        With many studies small departures show too. With few nothing is shown, and that is no proof of a
        test that keeps its level.
        """
        return self._verdict_of(self.judged_interval)

    def _verdict_of(self, interval: tuple[float, float]) -> Verdict:
        (low, high), (lowest, highest), alpha = interval, self.band, self.rule.alpha
        if math.isnan(low):
            return "not defined"
        if low > alpha or high < alpha:
            return "too bold" if low > alpha else "too careful"
        return "calibrated" if lowest <= low and high <= highest else "unclear"

    @property
    def needed_simulations(self) -> int | None:
        """About how many studies would tell, if their rate is the one seen; None where these do."""
        if self.verdict != "unclear":
            return None
        needed, told = self.estimate.n_usable, False
        while not told:
            digits: int = 10 ** max(math.floor(math.log10(1.1 * needed)) - 1, 0)
            needed = math.ceil(1.1 * needed / digits) * digits
            found = self.judged[0] * needed
            told = all(
                self._verdict_of(wilson_interval(count, needed, VERDICT_CONFIDENCE)) != "unclear"
                for count in (math.floor(found), math.ceil(found))
            )
        return needed

    def as_dict(self) -> dict[str, object]:
        """The row of the table: names in CALIBRATION_COLUMNS."""
        estimate = self.estimate
        values = (
            self.test,
            self.label,
            self.is_rule,
            estimate.rejection_rate,
            *estimate.rejection_interval,
            estimate.power,
            *estimate.interval,
            self.rule.alternative,
            self.rule.alpha,
            *self.judged_interval,
            *self.band,
            self.verdict,
            self.needed_simulations,
            estimate.n_simulations,
            estimate.n_failed,
        )
        return dict(zip(CALIBRATION_COLUMNS, values, strict=True))


def size_of_test(
    parameters: Parameters,
    design: Design,
    *,
    rule: DecisionRule = DEFAULT_RULE,
    n_simulations: int = DEFAULT_SIMULATIONS,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
) -> PowerEstimate:
    """Simulate the study with no effect, or under a rule with a margin with a difference of minus the
    margin: `rejection_rate` is the rate of false positives, to be compared with the rule's alpha."""
    study = RatingStudy(parameters.with_difference(rule.null_effect), design, rule)
    return estimate_power(study, n_simulations=n_simulations, seed=seed, n_jobs=n_jobs)


def calibrate(
    parameters: Parameters,
    design: Design,
    *,
    rule: DecisionRule = DEFAULT_RULE,
    tests: Sequence[str] = NULL_TESTS,
    n_simulations: int = DEFAULT_NULL_STUDIES,
    seed: int = DEFAULT_SEED,
    response: Response = "gaussian",
    points: int | None = None,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> list[Calibration]:
    """Simulate studies without an effect and apply many tests to the same ratings.

    Under a rule with a margin the true difference is minus the margin, where its claim is just not true
    (of the two margins of an equivalence one is enough: they are mirror images).

    Parameters
    ----------
    rule : the planned test, always among the results; its alpha, alternative and margin hold for all.
    tests : names in NULL_TESTS; the results come in this order, after a rule that is none of them. Those
        that know no margin are left out where the rule has one.
    progress : called with studies done and expected.

    Raises
    ------
    InputError
        An unknown test, a number of simulations below 1, or a one-sided rule with alpha above 0.5.
    """
    check_simulation(n_simulations, None)
    level = _two_sided_level(rule)
    for name in tests:
        if name not in NULL_TESTS:
            raise InputError(f"There is no test {name!r}; there are {', '.join(NULL_TESTS)}.")
    null = parameters.with_difference(rule.null_effect)
    source = Replication(null, design, response=response, points=points)
    studies = null_studies(source, tests, rule=rule, level=level)
    counts = [Tally() for _ in studies.tests]
    portion = max(1, min(_STUDIES_AT_ONCE, _RATINGS_AT_ONCE // design.n_ratings))
    for first in range(0, n_simulations, portion):
        size = min(portion, n_simulations - first)
        answers = studies.answers(size, seed=seed, first=first, n_jobs=n_jobs)
        counts = [count + _tally(found, level, rule) for count, found in zip(counts, answers, strict=True)]
        if progress is not None:
            progress(first + size, n_simulations)
    return [
        Calibration(
            test.name,
            test.label,
            test.is_rule,
            rule,
            PowerEstimate(count, rule.null_effect, rule.alpha, directed=rule.margin is None),
        )
        for test, count in zip(studies.tests, counts, strict=True)
    ]


def calibration_table(results: Sequence[Calibration]) -> pd.DataFrame:
    """One row for each test with the columns CALIBRATION_COLUMNS."""
    import pandas as pd

    return pd.DataFrame([result.as_dict() for result in results], columns=list(CALIBRATION_COLUMNS))


def binomial_band(n: int, rate: float, confidence: float = VERDICT_CONFIDENCE) -> tuple[float, float]:
    """Central interval of the share of successes in n trials; (NaN, NaN) without trials."""
    if n == 0:
        return math.nan, math.nan
    from scipy import stats

    low, high = stats.binom.interval(confidence, n, rate)
    return float(low) / n, float(high) / n


def _two_sided_level(rule: DecisionRule) -> float:
    """A one-sided test at alpha is the upper side of a two-sided one at twice alpha; one with a margin
    is itself."""
    if rule.alternative == "two-sided" or rule.margin is not None:
        return rule.alpha
    if rule.alpha >= 0.5:
        raise InputError(f"A one-sided test needs an alpha below 0.5 to be calibrated; got {rule.alpha}.")
    return 2 * rule.alpha


def _tally(found: TwoSided, level: float, rule: DecisionRule) -> Tally:
    significant = found.p_value <= level
    right = found.direction > 0 if rule.margin is None else np.ones_like(significant)
    return Tally(
        n=len(found.p_value),
        n_failed=int(np.isnan(found.p_value).sum()),
        n_right=int((significant & right).sum()),
        n_wrong=int((significant & ~right & (found.direction != 0)).sum()),
    )

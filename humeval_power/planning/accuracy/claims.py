"""Published claims of improvement: could their test sets have shown them?

After Card et al. (2020), section 3.3 and App. E: each claim is judged by a regression on the others.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from humeval_power.choices import RECOMMENDED, PairedTest
from humeval_power.errors import InputError
from humeval_power.planning.accuracy.detectable import detectable_accuracy
from humeval_power.planning.accuracy.regression import LeastSquares, least_squares
from humeval_power.scenarios.accuracy.agreement import OVERLAP, Agreement, KnownAgreement
from humeval_power.scenarios.accuracy.paired import PairedAccuracy, largest_difference


@dataclass(frozen=True, slots=True)
class Claim:
    """An improvement over a baseline on a test set; accuracies as shares."""

    task: str
    n_items: int
    baseline: float
    improvement: float
    name: str = ""


@dataclass(frozen=True, slots=True)
class EffectRegression:
    """Improvement = intercept + slope * baseline + what is particular to the task, by least squares.

    The first task in alphabetical order has the particular value 0.
    """

    intercept: float
    per_baseline: float
    per_task: Mapping[str, float]
    n_claims: int
    r_squared: float

    def expected(self, task: str, baseline: float) -> float:
        """The improvement that the other claims let one expect; NaN for a task without any."""
        return self.intercept + self.per_baseline * baseline + self.per_task.get(task, math.nan)


# Card et al. (2020), Table 7, in points of accuracy: coefficients refitted to the authors' published
# data, because the table rounds them to three decimals and predictions near 92 x .264 lose the first one.
EFFECTS_GLUE = EffectRegression(
    24.3419838997212,
    -0.264478713361109,
    {
        "MNLI-m": 0.0,
        "MNLI-mm": 0.150217213799095,
        "MRPC": 0.023286608355341,
        "QNLI": 2.13868476625544,
        "QQP": -0.194768420023064,
        "RTE": 1.01839805093362,
        "SST-2": 1.53627927303176,
        "WNLI": -0.519787398400551,
    },
    61,
    0.689807038510353,
)


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim beside what its test set could show.

    `detectable` is the smallest improvement found with the target power (NaN: none that is possible);
    `expected` the improvement that the other claims predict (NaN: they cannot) and `power` the
    probability of a significant improvement if that is true; `p_value` that of the claimed improvement at
    the predicted agreement.
    """

    claim: Claim
    agreement: float
    detectable: float
    expected: float
    power: float
    p_value: float

    @property
    def is_below(self) -> bool:
        """Whether the claimed improvement is smaller than the test set can be trusted to find."""
        return not self.claim.improvement >= self.detectable

    def is_significant(self, alpha: float) -> bool:
        """Whether it is an improvement, and significant."""
        return self.claim.improvement > 0 and self.p_value <= alpha


@dataclass(frozen=True, slots=True)
class JudgedClaims:
    """All claims, and the regression on all of them; shares are over claims with a prediction."""

    claims: tuple[JudgedClaim, ...]
    regression: EffectRegression
    target: float
    alpha: float

    @property
    def predicted(self) -> tuple[JudgedClaim, ...]:
        """Claims whose expected improvement the others predict."""
        return tuple(each for each in self.claims if not math.isnan(each.power))

    @property
    def share_below(self) -> float:
        """Claims below the detectable improvement, of all."""
        return sum(each.is_below for each in self.claims) / len(self.claims)

    @property
    def share_powered(self) -> float:
        """Claims whose expected improvement has the target power."""
        return _share([each.power >= self.target for each in self.predicted])

    @property
    def share_significant(self) -> float:
        """Claims whose improvement is significant at the predicted agreement, of all."""
        return _share([each.is_significant(self.alpha) for each in self.claims])

    @property
    def share_both(self) -> float:
        """Claims with the target power and a significant improvement."""
        return _share(
            [each.power >= self.target and each.is_significant(self.alpha) for each in self.predicted]
        )


def fit_effects(claims: Sequence[Claim]) -> EffectRegression:
    """Least squares of the improvement on the baseline and the task.

    Raises
    ------
    InputError
        Fewer claims than coefficients, or baselines that do not differ within the tasks.
    """
    tasks, fit = sorted({claim.task for claim in claims}), effects_fit(claims)
    constant, per_baseline, *others = (term.estimate for term in fit.terms)
    particular = {tasks[0]: 0.0, **dict(zip(tasks[1:], others, strict=True))}
    return EffectRegression(constant, per_baseline, particular, fit.n, fit.r_squared)


def effects_fit(claims: Sequence[Claim]) -> LeastSquares:
    """The same regression with standard errors; a term for the baseline and for every task but the first.

    Raises
    ------
    InputError
        As `fit_effects`.
    """
    if not claims:
        raise InputError("There are no claims to fit the regression to: give a table with several.")
    tasks = sorted({claim.task for claim in claims})
    columns = {"baseline": np.array([claim.baseline for claim in claims])}
    for task in tasks[1:]:
        columns[f"task {task}"] = np.array([float(claim.task == task) for claim in claims])
    effect = np.array([claim.improvement for claim in claims])
    refusal = (
        f"The claims ({len(claims)}, of tasks {len(tasks)}) do not determine a regression on baseline and task: "
        "add some; the baselines must differ within at least one task."
    )
    return least_squares(columns, effect, refusal=refusal)


def judge_claims(
    claims: Sequence[Claim],
    *,
    agreement: Agreement = OVERLAP["glue"],
    test: PairedTest = RECOMMENDED,
    power: float = 0.8,
    alpha: float = 0.05,
) -> JudgedClaims:
    """Judge every claim by its test set, and by a regression on all other claims (leave-one-out)."""
    judged = []
    for place, claim in enumerate(claims):
        others = [*claims[:place], *claims[place + 1 :]]
        try:
            expected = fit_effects(others).expected(claim.task, claim.baseline)
        except InputError:
            expected = math.nan
        judged.append(_judge(claim, expected, agreement, test, power, alpha))
    return JudgedClaims(tuple(judged), fit_effects(claims), power, alpha)


def _judge(
    claim: Claim, expected: float, agreement: Agreement, test: PairedTest, power: float, alpha: float
) -> JudgedClaim:
    detectable = math.nan
    if largest_difference(agreement, baseline=claim.baseline) > 0:
        scenario = PairedAccuracy(
            claim.n_items,
            difference=0.0,
            agreement=agreement,
            baseline=claim.baseline,
            test=test,
            alpha=alpha,
        )
        detectable = detectable_accuracy(scenario, power=power).effect
    claimed = compatible(claim, claim.improvement, agreement, test=test, alpha=alpha)
    chance = math.nan
    if not math.isnan(expected):
        computed = compatible(claim, expected, agreement, test=test, alpha=alpha).computed()
        chance = computed.power if expected >= 0 else computed.rejection_rate - computed.power
    return JudgedClaim(
        claim,
        agreement=1 - claimed.disagreement,
        detectable=detectable,
        expected=expected,
        power=chance,
        p_value=expected_p(claimed),
    )


def compatible(
    claim: Claim, improvement: float, agreement: Agreement, *, test: PairedTest, alpha: float
) -> PairedAccuracy:
    """The comparison with an improvement (cut at 100 %), at the predicted agreement or, where that is
    impossible with it, at the nearest possible one."""
    improvement = min(max(improvement, -claim.baseline), 1 - claim.baseline)
    moved = agreement.disagreement(claim.baseline, improvement)
    right, wrong = claim.baseline, 1 - claim.baseline
    most = min(2 * wrong - improvement, 2 * right + improvement)
    moved = max(min(moved, most), abs(improvement))
    return PairedAccuracy(
        claim.n_items,
        difference=improvement,
        agreement=KnownAgreement(1 - min(moved, 1.0)),
        baseline=None,
        test=test,
        alpha=alpha,
    )


def expected_p(scenario: PairedAccuracy) -> float:
    """The p-value of the table that a comparison has on average, its counts rounded."""
    only_b = np.array([round(scenario.n_items * max(scenario.only_b, 0.0))])
    only_a = np.array([round(scenario.n_items * max(scenario.only_a, 0.0))])
    return float(scenario.decide(only_b, only_a).p_value[0])


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else math.nan

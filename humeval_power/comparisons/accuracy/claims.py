"""Published claims of improvement: could their test sets have shown them?

After Card et al. (2020), section 3.3 and App. E: each claim is judged by a regression on the others.

The smallest improvement of accuracy that a test set can show, and the bounds of it without a prior.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from itertools import combinations
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.choices import RECOMMENDED, PairedTest, PowerOn, Prior
from humeval_power.comparisons.accuracy.agreement import (
    OVERLAP,
    AgreementSource,
    AssumedAgreement,
    KnownAgreement,
    OverlapRegression,
    ValidationPairs,
)
from humeval_power.comparisons.accuracy.counts import UnpairedAccuracy
from humeval_power.comparisons.accuracy.paired import PairedAccuracy, largest_difference
from humeval_power.errors import InputError, Problem
from humeval_power.roots import root_between
from humeval_power.studies.power.questions import check_target

_GRID = 32  # larger effects that must be found too


@dataclass(frozen=True, slots=True)
class DetectableAccuracy:
    """The smallest improvement found with the target power, NaN where no possible one is.

    `largest` is the largest possible improvement and `best_power` the power at that.
    """

    effect: float
    largest: float
    best_power: float

    @property
    def is_possible(self) -> bool:
        """Whether some possible improvement is found with the target power."""
        return not math.isnan(self.effect)


def detectable_accuracy(
    scenario: PairedAccuracy | UnpairedAccuracy, *, power: float = 0.8
) -> DetectableAccuracy:
    """Smallest improvement with the target power; every larger one on a grid has it too.

    The power of a test set of a given size is smooth in the improvement, so that few evaluations are
    enough; the saw-tooth of exact tests shows when the size changes.
    """
    if not scenario.alpha < power < 1:
        raise InputError(f"A target power must lie between alpha and 1; got {power:g}.")
    if isinstance(scenario, PairedAccuracy):
        largest = largest_difference(scenario.agreement, baseline=scenario.baseline)
    else:
        largest = 1 - scenario.baseline

    def lacking(effect: float) -> float:
        return power - replace(scenario, difference=effect).computed().power

    if largest <= 0:
        return DetectableAccuracy(math.nan, 0.0, math.nan)
    missing = lacking(largest)
    if missing > 0:
        return DetectableAccuracy(math.nan, largest, power - missing)
    grid = largest * np.linspace(0.0, 1.0, _GRID + 1)[1:] ** 2  # denser where small effects are
    last = next((place for place in reversed(range(_GRID)) if lacking(float(grid[place])) > 0), -1)
    low, high = float(grid[last]) if last >= 0 else largest * 1e-9, float(grid[last + 1])
    solution = high if lacking(low) <= 0 else root_between(lacking, low, high, xtol=1e-9)
    return DetectableAccuracy(solution, largest, power - missing)


PRIORS: Mapping[Prior, AgreementSource] = {
    "glue": OVERLAP["glue"],
    "squad": OVERLAP["squad"],
    "middle": AssumedAgreement("middle"),
    "least": AssumedAgreement("least"),
    "most": AssumedAgreement("most"),
}


def detectable_by_prior(
    n_items: int,
    *,
    baseline: float,
    test: PairedTest = RECOMMENDED,
    power: float = 0.8,
    alpha: float = 0.05,
) -> dict[Prior, DetectableAccuracy]:
    """The smallest improvement under each way of guessing how often the systems do alike: 'least' and
    'most' agreement are the bounds."""
    detectable: dict[Prior, DetectableAccuracy] = {}
    for name, agreement in PRIORS.items():
        if largest_difference(agreement, baseline=baseline) <= 0:
            detectable[name] = DetectableAccuracy(math.nan, 0.0, math.nan)
            continue
        scenario = PairedAccuracy(
            n_items, difference=0.0, agreement=agreement, baseline=baseline, test=test, alpha=alpha
        )
        detectable[name] = detectable_accuracy(scenario, power=power)
    return detectable


# Sizes and effects of accuracy comparisons by normal approximation, as the literature has them.

_SMALLEST = 1e-12


def lachenbruch_items(
    agreement: AssumedAgreement,
    *,
    baseline: float,
    difference: float,
    power: float = 0.8,
    alpha: float = 0.05,
) -> float:
    """Items needed without a prior on the agreement, not rounded (Lachenbruch 1992).

    n = (z_a + z_b)^2 / (4 (1/2 - s)^2 d): d is the share of discordant items that the accuracies allow at
    most, at least or half-way between, and s the part of them that A alone gets right.
    """
    if difference == 0:
        return math.inf
    moved = agreement.disagreement(baseline, difference)
    share = (moved - difference) / (2 * moved)
    if not 0 < alpha < power < 1:
        raise InputError(f"alpha and power must lie in order between 0 and 1; got {alpha:g} and {power:g}.")
    z_alpha, z_beta = -float(special.ndtri(alpha / 2)), float(special.ndtri(power))
    return (z_alpha + z_beta) ** 2 / (4 * (0.5 - share) ** 2 * moved)


def lachenbruch_effect(
    agreement: AssumedAgreement, *, n_items: int, baseline: float, power: float = 0.8, alpha: float = 0.05
) -> float:
    """The improvement for which `lachenbruch_items` gives `n_items`; NaN where none below 100 % does."""
    room = 1.0 - baseline

    def excess(difference: float) -> float:
        needed = lachenbruch_items(
            agreement, baseline=baseline, difference=difference, power=power, alpha=alpha
        )
        return math.log(needed / n_items)

    return _root(excess, room)


def unpaired_effect(*, n_items: int, baseline: float, power: float = 0.8, alpha: float = 0.05) -> float:
    """The improvement that two samples of `n_items` find by the normal approximation of two proportions;
    NaN where none below 100 % is found."""

    def lacking(difference: float) -> float:
        return (
            power
            - UnpairedAccuracy(n_items, difference, baseline=baseline, alpha=alpha).approximated().power
        )

    return _root(lacking, 1.0 - baseline)


def _root(lacking_at: Callable[[float], float], room: float) -> float:
    """Where a decreasing function of the improvement passes 0; NaN if it does not within the room."""
    if room <= 2 * _SMALLEST or lacking_at(room - _SMALLEST) > 0:
        return math.nan
    return root_between(lacking_at, _SMALLEST, room - _SMALLEST, xtol=1e-12)


# Detectable improvements as Card et al. (2020), Table 9, computed them, column by column.


@dataclass(frozen=True, slots=True)
class _WithoutBaseline:
    """An agreement predicted from a baseline that then sets no limit to who is right on what."""

    agreement: AgreementSource
    baseline: float
    needs_baseline: ClassVar[bool] = False

    @property
    def label(self) -> str:
        """In words."""
        return self.agreement.label

    def disagreement(self, baseline: float, difference: float) -> float:  # noqa: ARG002
        """As predicted from the baseline held."""
        return self.agreement.disagreement(self.baseline, difference)


def published_by_prior(
    n_items: int,
    *,
    baseline: float,
    test: PairedTest = RECOMMENDED,
    power: float = 0.8,
    alpha: float = 0.05,
) -> dict[str, DetectableAccuracy]:
    """The smallest improvements in their columns, by how the agreement is guessed; NaN where there is none.

    'unpaired' is their binomial, 'middle' Lachenbruch's with 'most' as its lower and 'least' as its upper end,
    'glue' and 'squad' the regression. Their computation does not ask whether the accuracies leave room for an
    improvement: `largest` is what they do, and the power there is not computed.

    What the paper calls the exact unconditional test (Suissa & Shuster) in the regression column has, to
    the last digit shown, the power of the mid-p test: the two-sided rule of the function it used adds one
    point of the tail without its mirror image.
    """
    if not alpha < power < 1:
        raise InputError(f"A target power must lie between alpha and 1; got {power:g}.")

    def regression(agreement: AgreementSource, limit: float) -> float:
        if limit <= 0:  # fewer than no items would differ
            return math.nan
        free = _WithoutBaseline(agreement, baseline)
        scenario = PairedAccuracy(
            n_items, difference=0.0, agreement=free, baseline=None, test=test, alpha=alpha
        )
        return detectable_accuracy(scenario, power=power).effect

    def lachenbruch(agreement: AssumedAgreement) -> float:
        return lachenbruch_effect(agreement, n_items=n_items, baseline=baseline, power=power, alpha=alpha)

    unpaired = unpaired_effect(n_items=n_items, baseline=baseline, power=power, alpha=alpha)
    effects = {"unpaired": DetectableAccuracy(unpaired, 1 - baseline, math.nan)}
    for name, agreement in PRIORS.items():
        limit = min(largest_difference(agreement, baseline=baseline), 1 - baseline)
        effect = (
            lachenbruch(agreement)
            if isinstance(agreement, AssumedAgreement)
            else regression(agreement, limit)
        )
        effects[name] = DetectableAccuracy(effect, limit, math.nan)
    return effects


# Least squares with what a table of it shows: standard errors, intervals, R2, F.

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Term:
    """A coefficient with its 95 % interval by Student's t; NaN where no degree of freedom is left."""

    name: str
    estimate: float
    standard_error: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True, slots=True)
class ClaimsRegression:
    """Terms of a regression and how well it fits; shares of variance are NaN where nothing varies."""

    terms: tuple[Term, ...]
    n: int
    df: int
    r_squared: float
    adjusted_r_squared: float
    residual_sd: float
    f_statistic: float
    f_p_value: float


def least_squares(columns: Mapping[str, Floats], y: Floats, *, refusal: str) -> ClaimsRegression:
    """Ordinary least squares of `y`, shape (n,), on the columns, shape (n,) each, and a constant."""
    design = np.column_stack([np.ones(len(y)), *columns.values()])
    if (
        not len(y)
        or np.linalg.matrix_rank(design - np.r_[0.0, design[:, 1:].mean(axis=0)]) < design.shape[1]
    ):
        raise InputError(refusal)
    solution = np.linalg.lstsq(design, y, rcond=None)[0]
    left, spread = y - design @ solution, y - y.mean()
    n, df, total = len(y), len(y) - design.shape[1], float(spread @ spread)
    error = float(left @ left)
    variance = error / df if df > 0 else math.nan
    errors = np.sqrt(variance * np.diag(np.linalg.inv(design.T @ design)))
    named = zip(("constant", *columns), solution, errors, strict=True)
    slopes = design.shape[1] - 1
    explained = 1 - error / total if total > 0 else math.nan
    with np.errstate(divide="ignore", invalid="ignore"):
        f = float(np.divide((total - error) / max(slopes, 1), variance))
    return ClaimsRegression(
        tuple(_term(name, float(estimate), float(se), df) for name, estimate, se in named),
        n,
        df,
        explained,
        1 - (1 - explained) * (n - 1) / df if df > 0 else math.nan,
        math.sqrt(variance),
        f,
        float(special.fdtrc(slopes, df, f)) if df > 0 else math.nan,
    )


def _term(name: str, estimate: float, error: float, df: int) -> Term:
    if math.isnan(error) or error == 0:
        return Term(name, estimate, error, math.nan, math.nan, math.nan)
    half = float(special.stdtrit(df, 0.975)) * error
    p_value = 2 * float(special.stdtr(df, -abs(estimate) / error))
    return Term(name, estimate, error, estimate - half, estimate + half, p_value)


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
    """Least squares of the improvement on the baseline and the task."""
    tasks, fit = sorted({claim.task for claim in claims}), effects_fit(claims)
    constant, per_baseline, *others = (term.estimate for term in fit.terms)
    particular = {tasks[0]: 0.0, **dict(zip(tasks[1:], others, strict=True))}
    return EffectRegression(constant, per_baseline, particular, fit.n, fit.r_squared)


def effects_fit(claims: Sequence[Claim]) -> ClaimsRegression:
    """The same regression with standard errors; a term for the baseline and for every task but the first."""
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
    if len(claims) == 1:
        refusal += " What one test set can show 'compare accuracy bounds' says."
    return least_squares(columns, effect, refusal=refusal)


def judge_claims(
    claims: Sequence[Claim],
    *,
    agreement: AgreementSource = OVERLAP["glue"],
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
        judged.append(
            JudgedClaim(
                claim,
                agreement=1 - claimed.disagreement,
                detectable=detectable,
                expected=expected,
                power=_chance(claim, expected, agreement, test, alpha),
                p_value=expected_p(claimed),
            )
        )
    return JudgedClaims(tuple(judged), fit_effects(claims), power, alpha)


def compatible(
    claim: Claim, improvement: float, agreement: AgreementSource, *, test: PairedTest, alpha: float
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


# A leaderboard over time: which submissions were real improvements (Card et al. 2020, App. D, Fig. 10).


@dataclass(frozen=True, slots=True)
class Submission:
    """A system's accuracies on the test set and, NaN if not known, on the validation set.

    `key` is what a table of pairs calls it; without one, its name.
    """

    name: str
    date: str
    accuracy: float
    validation: float = math.nan
    key: str = ""

    @property
    def called(self) -> str:
        """Its key, or its name."""
        return self.key or self.name


@dataclass(frozen=True, slots=True)
class JudgedSubmission:
    """A submission beside the best system before it.

    `baseline` is the accuracy of that and `agreement` how often both do alike, known or guessed. `power` is the
    probability of a significant improvement on the test set if the improvement on the validation set is true
    (NaN without one); `is_best` says whether it becomes the best: a significant improvement and, where the
    power is known, one that had the target power.
    """

    submission: Submission
    best_before: str
    baseline: float
    improvement: float
    agreement: float
    power: float
    p_value: float
    is_significant: bool
    is_best: bool


def moment(date: str) -> datetime:
    """When a submission was made; of a day, its beginning."""
    try:
        return datetime.fromisoformat(date.strip()).replace(tzinfo=None)
    except ValueError:
        rule, remedy = "is no date by which submissions can be put in order.", "Write dates as 2020-05-06."
        raise InputError([Problem(rule, remedy, value=date, has_value=True)]) from None


def judge_leaderboard(
    submissions: Sequence[Submission],
    *,
    n_items: int,
    agreement: AgreementSource = OVERLAP["squad"],
    pairs: ValidationPairs | None = None,
    power_on: PowerOn = "test",
    test: PairedTest = RECOMMENDED,
    power: float = 0.8,
    alpha: float = 0.05,
) -> tuple[JudgedSubmission, ...]:
    """Compare submissions in order of time with the best before them; the first is where it starts.

    The dates are those of ISO 8601, such as 2020-05-06. With `pairs` the agreement is that counted on the
    validation set, else it is guessed. The power is that of the test set, or that which the validation set would
    have (`power_on`), as Card et al. (2020, App. D) took it.
    """
    if not submissions:
        raise InputError("There is no submission to judge.")
    check_target(power, alpha)
    if power_on == "validation" and pairs is None:
        raise InputError("The power on the validation set needs the pairs and the number of its items.")
    ordered = sorted(submissions, key=lambda each: moment(each.date))
    n_power = pairs.n_items if pairs is not None and power_on == "validation" else n_items
    best, judged = ordered[0], []
    for each in ordered[1:]:
        improvement = each.accuracy - best.accuracy
        alike = agreement if pairs is None else pairs.agreement(best.called, each.called)
        claim = Claim("", n_items, best.accuracy, improvement, each.name)
        observed = compatible(claim, improvement, alike, test=test, alpha=alpha)
        p_value = expected_p(observed)
        significant = improvement > 0 and p_value <= alpha
        expected = each.validation - best.validation
        chance = _chance(replace(claim, n_items=n_power), expected, alike, test, alpha)
        accepted = significant and not chance < power
        judged.append(
            JudgedSubmission(
                each,
                best_before=best.name,
                baseline=best.accuracy,
                improvement=improvement,
                agreement=1 - observed.disagreement,
                power=chance,
                p_value=p_value,
                is_significant=significant,
                is_best=accepted,
            )
        )
        if accepted:
            best = each
    return tuple(judged)


def _chance(
    claim: Claim, expected: float, agreement: AgreementSource, test: PairedTest, alpha: float
) -> float:
    """The probability of a significant improvement if `expected` is true; NaN where that is not known."""
    if math.isnan(expected):
        return math.nan
    computed = compatible(claim, expected, agreement, test=test, alpha=alpha).computed()
    return computed.power if expected >= 0 else computed.rejection_rate - computed.power


# Claims by every way of guessing the agreement, and by task (Card et al. 2020, Table 9, Fig. 13 and 14).


@dataclass(frozen=True, slots=True)
class TaskClaims:
    """The claims on one task: means, the standard error of the mean (NaN of a single claim), the highest baseline,
    and the smallest improvement that is found over that by each way of guessing (NaN: none that is possible)."""

    task: str
    n_items: int
    n_claims: int
    mean_baseline: float
    mean_improvement: float
    standard_error: float
    best_baseline: float
    smallest: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class ClaimMethods:
    """For each claim the smallest improvement found, by each way of guessing, and the tasks in order."""

    smallest: tuple[Mapping[str, float], ...]
    reached: Mapping[str, float]
    tasks: tuple[TaskClaims, ...]


def by_every_method(
    claims: Sequence[Claim], *, test: PairedTest, power: float, alpha: float
) -> ClaimMethods:
    """The smallest improvements under each prior and for unpaired samples, and which share of claims reach them."""

    @cache
    def smallest(n_items: int, baseline: float) -> Mapping[str, float]:
        detectable = detectable_by_prior(n_items, baseline=baseline, test=test, power=power, alpha=alpha)
        unpaired = UnpairedAccuracy(n_items, 0.0, baseline=baseline, alpha=alpha)
        names = {str(name): each.effect for name, each in detectable.items()}
        return {**names, "unpaired": detectable_accuracy(unpaired, power=power).effect}

    smallest_effects = tuple(smallest(claim.n_items, claim.baseline) for claim in claims)
    reached = {
        name: sum(c.improvement >= each[name] for c, each in zip(claims, smallest_effects, strict=True))
        / len(claims)
        for name in smallest_effects[0]
    }
    tasks = []
    for task in dict.fromkeys(claim.task for claim in claims):
        own = [claim for claim in claims if claim.task == task]
        gains, hardest = (
            np.array([claim.improvement for claim in own]),
            max(own, key=lambda each: each.baseline),
        )
        error = float(gains.std(ddof=1)) / math.sqrt(len(own)) if len(own) > 1 else math.nan
        mean = float(np.mean([claim.baseline for claim in own]))
        n_items, best = hardest.n_items, hardest.baseline  # what it takes to improve on the best so far
        tasks.append(
            TaskClaims(
                task, n_items, len(own), mean, float(gains.mean()), error, best, smallest(n_items, best)
            )
        )
    return ClaimMethods(smallest_effects, reached, tuple(tasks))


# One's own regression of how often two systems do alike, from pairs of them (Card et al. 2020, App. E.2).


@dataclass(frozen=True, slots=True)
class SystemPair:
    """Two systems on the same items, as shares: the accuracy of the worse, how much better the other is, and on how
    many items both are right or both wrong."""

    worse: float
    difference: float
    agreement: float


@dataclass(frozen=True, slots=True)
class FittedOverlap:
    """The regression of agreement on the worse accuracy and the difference, with the pairs it was fitted to."""

    pairs: tuple[SystemPair, ...]
    fit: ClaimsRegression
    regression: OverlapRegression


def fit_overlap(pairs: Sequence[SystemPair], *, name: str = "own") -> FittedOverlap:
    """agreement = constant + a * worse accuracy + b * difference, by least squares."""
    worse, difference, agreement = (
        np.array([getattr(pair, field) for pair in pairs]) for field in ("worse", "difference", "agreement")
    )
    refusal = (
        f"{len(pairs)} pairs do not determine how agreement depends on accuracy and difference: give pairs whose "
        "accuracies differ, and whose differences do not follow from them."
    )
    if len(pairs) < 4:
        raise InputError(
            f"{len(pairs)} pairs are too few for a regression of three coefficients: give 4 or more."
        )
    fit = least_squares({"accuracy": worse, "difference": difference}, agreement, refusal=refusal)
    constant, per_accuracy, per_difference = (term.estimate for term in fit.terms)
    seen = (float(worse.min()), float(worse.max()))
    regression = OverlapRegression(name, constant, per_accuracy, per_difference, seen)
    return FittedOverlap(tuple(pairs), fit, regression)


def pairs_of_board(submissions: Sequence[Submission], pairs: ValidationPairs) -> list[SystemPair]:
    """Every pair of submissions that was counted, with accuracies on the test set.

    Those on the validation set would do as well where nobody tuned on it.
    """
    result = []
    for one, other in combinations(submissions, 2):
        if frozenset((one.called, other.called)) in pairs.differing:
            share = pairs.agreement(one.called, other.called).share
            low, high = sorted((one.accuracy, other.accuracy))
            result.append(SystemPair(low, high - low, share))
    return result


def pairs_of_best(judged: Sequence[JudgedSubmission]) -> list[SystemPair]:
    """Each new best with the best before it."""
    return [SystemPair(each.baseline, each.improvement, each.agreement) for each in judged if each.is_best]


def fit_improvements(pairs: Sequence[SystemPair]) -> ClaimsRegression:
    """The difference on the worse accuracy: how much an improvement gains where the best is so good already."""
    worse = np.array([pair.worse for pair in pairs])
    difference = np.array([pair.difference for pair in pairs])
    refusal = f"{len(pairs)} pairs do not determine how improvements depend on accuracy: it must differ."
    return least_squares({"accuracy": worse}, difference, refusal=refusal)

"""Stop by repeated confidence intervals: on a decision, on equivalence, or when the interval is narrow enough.

At look l the interval R_l is the estimate plus and minus t at the nominal level of the look, by its own degrees of
freedom, times its standard error (Jennison and Turnbull 1989). All R_l cover the true difference together with
probability 1 - alpha, since they do so where no look of a study without a difference passes its boundary. The
interval of the look at which a study ends is therefore right whatever ended it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np
from scipy import special

from humeval_power.errors import InputError, Problem, refuse
from humeval_power.inference.item_bootstrap import wilson_interval
from humeval_power.inference.student_t import critical_value, critical_values
from humeval_power.kernels.sequential import exit_probabilities
from humeval_power.parameters import Parameters
from humeval_power.rules import DecisionRule
from humeval_power.scales import RatingScale
from humeval_power.studies.looks.boundaries import Boundaries
from humeval_power.studies.looks.calibration import blocks_of
from humeval_power.studies.looks.replicates import (
    Flags,
    Floats,
    LookReplicates,
    Looks,
    OfStudies,
    RatingLooks,
)
from humeval_power.studies.looks.stopping_rule import Efficacy, Futility, Spending
from humeval_power.studies.power.formula import EffectPrecision, power_at
from humeval_power.sweep.blocks import run_blocks

LEAST_FROM_END = 0.15  # of the mean of ratings in categories: nearer an end fewer intervals cover
# workers at the first look: refused below the one, warned of below the other
FEWEST_WORKERS, WORKERS_FOR_AN_INTERVAL = 4, 6
Reason = Literal["decision", "equivalence", "half-width", "futility", "end"]
REASONS: tuple[Reason, ...] = get_args(Reason)
_DECISION, _EQUIVALENCE, _HALF_WIDTH, _FUTILITY, _END = range(5)
_WORDS = ("decision", "equivalence", "half_width")


@dataclass(frozen=True, slots=True)
class StopWhen:
    """Reasons to stop at a look, by its interval. Sizes are on [0, 1]; None: no reason.

    decision : the interval decides the test of the study. equivalence : all of it is so near to no difference.
    half_width : it reaches no farther to either side of the estimate.
    """

    decision: bool = True
    equivalence: float | None = None
    half_width: float | None = None

    def __post_init__(self) -> None:
        if not self.decision and self.equivalence is None and self.half_width is None:
            raise InputError(f"A study stops for one reason at least: {', '.join(_WORDS)}.")
        for name in _WORDS[1:]:
            value = getattr(self, name)
            if value is not None and not 0 < value < 1:
                raise InputError(
                    f"{name} must lie above 0 and below the width of the scale; got {value:g} on [0, 1]."
                )

    def sizes(self, scale: RatingScale | None = None) -> dict[str, str]:
        """The sizes that were given, in points of the scale if there is one."""
        width = 1.0 if scale is None else scale.width
        known = ((name, getattr(self, name)) for name in _WORDS[1:])
        return {name: f"{value * width:.12g}" for name, value in known if value is not None}

    def words(self, scale: RatingScale | None = None) -> str:
        """As a study file says it, in points of the scale if there is one."""
        result = [f"{name}={size}" for name, size in self.sizes(scale).items()]
        return ", ".join(["decision"] * self.decision + result)

    def __str__(self) -> str:
        return self.words()


def stop_when_of(text: str, scale: RatingScale | None = None) -> StopWhen:
    """The reasons that words such as 'decision, half_width=0.15' name; sizes in points of a scale if there is one.

    Raises
    ------
    InputError
        Words that name no reason, or name one twice; sizes that are no positive number, or not below the width.
    """
    sizes: dict[str, float | None] = {}
    for part in text.split(","):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not part.strip() and sizes:
            raise InputError(f"There is no reason to stop '' in {text!r}: leave out the comma.")
        if sum(word in _WORDS for word in name.split()) > 1:
            raise InputError(f"Put a comma between the reasons to stop; got {part.strip()!r}.")
        if name not in _WORDS:
            near = get_close_matches(name.replace("-", "_").lower(), _WORDS, 1, 0.5)
            meant = f" Did you mean {near[0]}?" if near else ""
            raise InputError(
                f"There is no reason to stop {name!r}; there are decision, equivalence=MARGIN and "
                f"half_width=SIZE, with commas between.{meant}"
            )
        if name in sizes:
            raise InputError(f"{name} is named twice in {text!r}.")
        if bool(equals) is (name == "decision"):
            needs = "takes no number" if equals else f"needs its size, such as {name}=0.15"
            raise InputError(f"{name} {needs}; got {part.strip()!r}.")
        sizes[name] = None if name == "decision" else _size(name, value, scale)
    return StopWhen("decision" in sizes, sizes.get("equivalence"), sizes.get("half_width"))


def _size(name: str, text: str, scale: RatingScale | None) -> float:
    width, unit = (1.0, "[0, 1]") if scale is None else (scale.width, f"the scale {scale.bounds}")
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < width:
        raise InputError(f"{name} must be a number above 0 and below {width:g}, on {unit}; got {text!r}.")
    return value / width


# What a study must be, so that these intervals were shown to hold.


def check_repeated(looks: Looks, efficacy: Efficacy, futility: Futility | None) -> None:
    """Refuse looks that these intervals were not simulated for. Raises InputError: all that is wrong, with
    the reason."""
    problems = unfit_looks(looks, efficacy, "stop_when")
    if futility is not None and futility.binding:
        problems.append(
            "With stop_when futility cannot bind: the interval must hold whatever stops the study."
        )
    refuse(problems)


def check_decision(rule: DecisionRule, stop_when: StopWhen) -> None:
    """Refuse tests that these intervals do not decide. Raises InputError: all that is wrong, with the reason."""
    problems = []
    if rule.alternative == "greater":
        problems.append("stop_when is for a test with two ends: an interval with one has no width.")
    if rule.margin is not None and stop_when.equivalence is not None:
        problems.append(
            f"The test '{rule.alternative}' has its margin: leave equivalence out of stop_when, where decision "
            "is the claim of the test."
        )
    if rule.is_latent:
        problems.append(
            f"stop_when is not offered for ratings analysed as {rule.family}: how often these intervals cover was "
            "simulated for the linear model alone. Analyse them as numbers (family gaussian)."
        )
    if rule.estimator != "reml" or rule.df != "kenward-roger":
        problems.append(
            f"stop_when goes by REML and Kenward and Roger's df, by which it was simulated; got {rule.estimator}, "
            f"df '{rule.df}'."
        )
    refuse(problems)


def check_offered(
    *, several: bool, exclusions: bool, documents: bool, settings: Sequence[Parameters] = ()
) -> None:
    """Refuse what these intervals were not simulated with, or do not hold for.

    settings : in which ratings may arise in categories; they are taken as numbers.

    Raises InputError: all of it, with the reason.
    """
    beyond = {
        "several systems or criteria: it is one interval, of one difference": several,
        "rules that leave workers out: those of an earlier look may leave at a later one, and the intervals need "
        "looks that build on each other": exclusions,
        "documents, which were not simulated: items of one document are alike, and the factor of the levels was "
        "found for items alone": documents,
    }
    problems = [f"stop_when is not offered with {name}." for name, is_so in beyond.items() if is_so]
    ends = (near_an_end(one.baseline) for one in settings if one.latent is not None)
    remedy = "Plan one look, or ask so that answers use more of the scale."
    near = [f"stop_when is not offered for ratings in categories with {why}" for why in ends if why]
    refuse([*problems, *(Problem(rule, remedy) for rule in near)])


def check_study(study: RatingLooks) -> None:
    """Refuse studies too small, or of another kind than was simulated. Raises InputError: all that is wrong,
    with the reason."""
    check_offered(several=False, exclusions=False, documents=bool(study.nested.final.n_documents))
    problems = too_few_workers([design.n_workers for design in study.nested.designs], "stop_when")
    if not study.shifts:
        problems.append(
            "stop_when is planned by numbers: leave out the response that rounds or cuts them, or give the shares "
            "of the categories."
        )
    refuse(problems)


def unfit_looks(looks: Looks, efficacy: Efficacy, field: str) -> list[str]:
    """What is wrong with the looks and their boundaries for `field`, `stop_when` or `drop_systems`."""
    problems = []
    if looks.kind != "workers":
        why = "what the same workers add says nothing about how workers differ"
        if looks.kind == "items":
            why += (
                ". With items as its units an interval excludes 0 in 0.09 to 0.50 of studies without a difference "
                "(four looks, 6 and 20 workers, simulated)"
            )
        problems.append(f"{field} is for looks by workers; these are by {looks.kind}: {why}.")
    if not isinstance(efficacy, Spending):
        problems.append(
            f"{field} needs a spending function, such as kim-demets:2: the boundaries '{efficacy}' cannot be "
            "solved again where a look has more or fewer workers than planned."
        )
    return problems


def near_an_end(mean: float) -> str | None:
    """What such a mean of ratings in categories, on [0, 1], does to the intervals; None where they hold."""
    if min(mean, 1 - mean) >= LEAST_FROM_END:
        return None
    return (
        f"a mean of {mean:.2f} on [0, 1], nearer than {LEAST_FROM_END:g} to an end of the scale: of such studies "
        "0.90 to 0.94 have intervals that all cover the true difference, not 0.95 (simulated)."
    )


def too_few_workers(workers: Sequence[int], field: str) -> list[str]:
    """What is wrong with these numbers of workers at the looks for `field`, `stop_when` or `drop_systems`."""
    problems = []
    if workers[0] < FEWEST_WORKERS:
        problems.append(
            f"The first look has {workers[0]} workers; {field} needs {FEWEST_WORKERS} at least, and 8 are "
            "better: so few do not tell how much workers differ."
        )
    if any(after - before < 2 for before, after in pairwise(workers)):
        problems.append(f"One worker is not a look: with {field} each adds two at least.")
    return problems


def enough_workers(numbers: Sequence[int], looks: Looks, field: str) -> tuple[int, ...]:
    """Those numbers of workers that are enough at each look for `field`. Raises InputError: none is, and why
    not the largest."""
    enough = tuple(number for number in numbers if not too_few_workers(looks.counts(number), field))
    if not enough:
        most = max(numbers)
        said = (f"With {most} workers: {rule}" for rule in too_few_workers(looks.counts(most), field))
        refuse([Problem(rule, "Allow more workers.") for rule in said])
    return enough


def few_workers_note(workers: int) -> str | None:
    """What is to be said of a first look with so few workers; None of enough."""
    if workers >= WORKERS_FOR_AN_INTERVAL:
        return None
    return (
        f"The first look has {workers} workers, who hardly tell how much workers differ: its interval is wide. "
        "With 8 or more it is worth a look."
    )


def at_looks(rule: DecisionRule) -> DecisionRule:
    """The test that is refitted at every look, whose interval decides: two-sided at alpha, whatever is claimed."""
    return replace(rule, alternative="two-sided", margin=None)


def at_the_end(rule: DecisionRule) -> DecisionRule:
    """The same claim by one interval of confidence 1 - alpha at the end: alpha / 2 a side."""
    return rule if rule.margin is None else replace(rule, alpha=rule.alpha / 2)


# The intervals, and what they decide.


def half_widths(standard_error: Floats, df: Floats, nominal: Floats | Sequence[float]) -> Floats:
    """How far R reaches to each side of the estimate, for shapes that broadcast; infinite at level 0."""
    tail = np.asarray(nominal, dtype=float) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(tail > 0, critical_values(df, tail) * standard_error, np.inf))


def shown(estimate: Floats, half: Floats, rule: DecisionRule) -> Flags:
    """Whether the interval decides the test: excludes 0 or minus the margin, or lies within the margin."""
    if rule.margin is None:
        return np.asarray(np.abs(estimate) >= half)
    if rule.alternative == "non-inferior":
        return np.asarray(estimate - half > -rule.margin)
    return np.asarray(np.abs(estimate) + half < rule.margin)


def reasons(
    estimate: Floats, half: Floats, stop_when: StopWhen, rule: DecisionRule, futile: Flags | None = None
) -> np.ndarray:
    """The first reason to stop at each look as its place in `REASONS`; 'end' where there is none."""
    values = np.full(np.shape(estimate), _END, dtype=np.int8)
    if futile is not None:
        values[futile] = _FUTILITY
    if stop_when.half_width is not None:
        values[half <= stop_when.half_width] = _HALF_WIDTH
    if stop_when.equivalence is not None:
        values[np.abs(estimate) + half < stop_when.equivalence] = _EQUIVALENCE
    if stop_when.decision:
        values[shown(estimate, half, rule)] = _DECISION
    return values


# Simulated studies.


@dataclass(frozen=True, slots=True, eq=False)
class RepeatedEndings(OfStudies):
    """How simulated studies ended, shape (n,): look (from 0) and reason, the estimate and interval there, whether
    it shows the claim, and what the same study does with one test at its end; `all_cover` says whether every R did.
    `decided_look` and `decided_shown` are where decisions alone would have ended it."""

    look: np.ndarray
    reason: np.ndarray
    estimate: Floats
    half: Floats
    shown: Flags
    decided_look: np.ndarray
    decided_shown: Flags
    decided_right: Flags
    last_shown: Flags
    last_estimate: Floats
    all_cover: Flags

    @classmethod
    def of(
        cls,
        looks: LookReplicates,
        bounds: Boundaries,
        stop_when: StopWhen,
        rule: DecisionRule,
        effect: float,
    ) -> RepeatedEndings:
        """Usable studies with this true effect, followed to where they stop."""
        looks = looks.part(looks.usable)
        rows = np.arange(len(looks))
        half = half_widths(looks.standard_error, looks.df, bounds.nominal)
        decided = shown(looks.estimate, half, rule)
        futile = looks.p_value > bounds.futility_p
        why = reasons(looks.estimate, half, stop_when, rule, futile)
        at = _first(why != _END)
        alone = _first(reasons(looks.estimate, half, StopWhen(), rule, futile) != _END)
        plain = half_widths(looks.standard_error[:, -1], looks.df[:, -1], np.array(bounds.rule.alpha))
        return cls(
            look=at.astype(np.int8),
            reason=why[rows, at],
            estimate=looks.estimate[rows, at],
            half=half[rows, at],
            shown=decided[rows, at],
            decided_look=alone.astype(np.int8),
            decided_shown=decided[rows, alone],
            decided_right=looks.estimate[rows, alone] > 0,
            last_shown=shown(looks.estimate[:, -1], plain, rule),
            last_estimate=looks.estimate[:, -1],
            all_cover=np.asarray((np.abs(looks.estimate - effect) <= half).all(axis=1)),
        )


def _first(flags: Flags) -> np.ndarray:
    """The first look that is flagged, else the last."""
    flags = flags.copy()
    flags[:, -1] = True
    return np.asarray(flags.argmax(axis=1))


@dataclass(frozen=True, slots=True)
class StopExpectation:
    """What to expect at one true effect: how many studies show the claim, with these looks, with looks that only
    decisions stop, and with one test. A difference is shown with its sign; where there is none, and no margin,
    either sign counts, and these are false positives.

    `workers` and `decision_workers` are means at stopping, `coverage` is that of the interval at the stop. `bias`
    is the mean of the estimate at the stop minus the effect, `decision_bias` and `half_width_bias` those of studies
    that a decision for what is true, or a narrow interval, ended before the last look (NaN where none was).
    """

    effect: float
    power: float
    decision_power: float
    fixed_power: float
    workers: float
    decision_workers: float
    coverage: float
    bias: float
    decision_bias: float
    half_width_bias: float


@dataclass(frozen=True, slots=True)
class RepeatedPoint(StopExpectation):
    """The same with all that was simulated: `saved` is the share of all workers that is not needed, `together` the
    coverage of all intervals at once; `reasons` are shares by `REASONS`, `stopping` by look."""

    power_interval: tuple[float, float]
    saved: float
    coverage_interval: tuple[float, float]
    together: float
    half_width: float
    reasons: tuple[float, ...]
    stopping: tuple[float, ...]
    expected_size: float
    expected_cost: float
    n_usable: int

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson interval of the power, 95 %: Monte Carlo error only."""
        return self.power_interval

    @property
    def n_simulations(self) -> int:
        """Studies that count."""
        return self.n_usable


def repeated_endings(
    looks: LookReplicates,
    bounds: Boundaries,
    stop_when: StopWhen,
    rule: DecisionRule,
    effects: tuple[float, ...],
) -> tuple[RepeatedEndings, ...]:
    """How studies without an effect end if each of these effects is added."""
    return tuple(RepeatedEndings.of(looks.shifted(by), bounds, stop_when, rule, by) for by in effects)


def repeated_points(
    study: RatingLooks,
    bounds: Boundaries,
    stop_when: StopWhen,
    rule: DecisionRule,
    *,
    effects: Sequence[float],
    n_simulations: int,
    seed: int,
    costs: Sequence[float] | None = None,
    n_jobs: int = 1,
) -> tuple[RepeatedPoint, ...]:
    """The long run at each of several true effects, with one set of random numbers."""
    blocks = blocks_of(
        repeated_endings,
        study.with_effect(0.0),
        *(bounds, stop_when, rule, tuple(effects)),
        n_simulations=n_simulations,
        seed=seed,
    )
    parts = list(run_blocks(blocks, n_jobs=n_jobs))
    return tuple(
        _point(RepeatedEndings.joined(list(of_effect)), study, rule, effect, costs)
        for effect, of_effect in zip(effects, zip(*parts, strict=True), strict=True)
    )


def _point(
    ended: RepeatedEndings,
    study: RatingLooks,
    rule: DecisionRule,
    effect: float,
    costs: Sequence[float] | None,
) -> RepeatedPoint:
    n, look = len(ended.look), ended.look
    workers = np.array([design.n_workers for design in study.nested.designs], dtype=float)
    spent = np.full(len(workers), math.nan) if costs is None else np.array(costs, dtype=float)
    positive = effect >= 0
    right, decided, last = ended.shown, ended.decided_shown, ended.last_shown
    in_direction = np.ones(n, dtype=bool)
    if rule.margin is None and effect:
        in_direction = (ended.estimate > 0) == positive
        right = right & in_direction
        decided = decided & (ended.decided_right == positive)
        last = last & ((ended.last_estimate > 0) == positive)
    covers = np.abs(ended.estimate - effect) <= ended.half

    def bias_at(reason: int) -> float:
        there = (ended.reason == reason) & (look < len(workers) - 1)
        if reason == _DECISION:
            there &= in_direction
        return float(ended.estimate[there].mean()) - effect if there.any() else math.nan

    mean = float(workers[look].mean())
    return RepeatedPoint(
        effect=effect,
        power=float(right.mean()),
        power_interval=wilson_interval(int(right.sum()), n),
        decision_power=float(decided.mean()),
        fixed_power=float(last.mean()),
        workers=mean,
        decision_workers=float(workers[ended.decided_look].mean()),
        saved=1 - mean / float(workers[-1]),
        coverage=float(covers.mean()),
        coverage_interval=wilson_interval(int(covers.sum()), n),
        together=float(ended.all_cover.mean()),
        bias=float(ended.estimate.mean()) - effect,
        decision_bias=bias_at(_DECISION),
        half_width_bias=bias_at(_HALF_WIDTH),
        half_width=float(ended.half.mean()),
        reasons=tuple(float((ended.reason == code).mean()) for code in range(len(REASONS))),
        stopping=tuple(float((look == at).mean()) for at in range(len(workers))),
        expected_size=float(np.array(study.sizes, dtype=float)[look].mean()),
        expected_cost=float(spent[look].mean()),
        n_usable=n,
    )


# The plan's own numbers, without simulation.


def planned_half_widths(precisions: Sequence[EffectPrecision], bounds: Boundaries) -> Floats:
    """Half-width of R at each look, at the planned variances."""
    error = np.array([one.standard_error for one in precisions])
    return half_widths(error, np.array([one.df for one in precisions]), bounds.nominal)


def check_reachable(
    precisions: Sequence[EffectPrecision],
    bounds: Boundaries,
    stop_when: StopWhen,
    rule: DecisionRule,
    *,
    floor: float,
    scale: RatingScale | None = None,
) -> None:
    """Refuse sizes that not even the last look is expected to meet.

    floor : the half-width that is left with any number of items: t times the SD of workers' own differences over
        the square root of their number.

    Raises InputError: such a size, what the last look will have, and what more items could do.
    """
    last = float(planned_half_widths(precisions, bounds)[-1])
    width, unit = (1.0, "") if scale is None else (scale.width, " points")
    margin = rule.margin if rule.alternative == "equivalent" else None
    sizes = {
        "stop_when half_width=": stop_when.half_width,
        "stop_when equivalence=": stop_when.equivalence,
        "The margin ": margin,
    }
    problems = []
    for name, size in sizes.items():
        if size is None or size >= last:
            continue
        rule_broken = (
            f"{name}{size * width:.4g}{unit} can be met at no look: with all {precisions[-1].n_workers} workers "
            f"the interval still reaches {last * width:.3g}{unit} to each side."
        )
        remedy = "More workers or items make it narrower."
        if size < floor:
            reached = f"{floor * width:.3g}{unit}"
            remedy = f"More workers are needed: these reach {reached} with any number of items."
        problems.append(Problem(rule_broken, f"{remedy} Or allow a larger size."))
    refuse(problems)


def repeated_power(
    precisions: Sequence[EffectPrecision],
    bounds: Boundaries,
    stop_when: StopWhen,
    rule: DecisionRule,
    *,
    effect: float,
) -> float:
    """Chance by formula that the interval of the stop shows the claim.

    What few workers cost is taken from the t test at the end at alpha / 2 a side, what looks cost from z's
    (recursive integration). The look at which an interval is narrow enough is drawn by the chi-square of its own
    df, the same quantile at every look.
    """
    half = planned_half_widths(precisions, bounds)
    n = len(precisions)
    narrow = np.zeros(n)
    if stop_when.half_width is not None:
        df = np.array([one.df for one in precisions])
        narrow = np.maximum.accumulate(special.chdtr(df, df * (stop_when.half_width / half) ** 2))
    narrow[-1] = 1.0  # the last look ends the study
    share = np.diff(narrow, prepend=0.0)
    return float(
        sum(
            chance * _power_up_to(look + 1, precisions, half, bounds, stop_when, rule, effect)
            for look, chance in enumerate(share)
            if chance > 0
        )
    )


def _power_up_to(
    n: int,
    precisions: Sequence[EffectPrecision],
    half: Floats,
    bounds: Boundaries,
    stop_when: StopWhen,
    rule: DecisionRule,
    effect: float,
) -> float:
    """The same of a study that ends at look `n` at the latest."""
    inside, shares = rule.alternative == "equivalent", bounds.shares[:n]
    error = np.array([one.standard_error for one in precisions[:n]])
    margin = rule.margin if inside else stop_when.equivalence
    within = np.full(n, -math.inf) if margin is None else (margin - half[:n]) / error
    never, upper = np.full(n, math.inf), np.array(bounds.efficacy[:n])
    if not stop_when.decision:
        upper[:-1] = math.inf
    if inside:
        if not stop_when.decision:
            within[:-1] = -math.inf
        upper, drift = never, effect / error[-1]
    else:
        fixed = power_at(effect, precisions[-1], rule=at_the_end(rule)).power
        z = float(special.ndtri(min(max(fixed, 1e-12), 1 - 1e-12)) - special.ndtri(bounds.rule.alpha / 2))
        drift = max(z, 0.0) * math.sqrt(shares[-1] / bounds.shares[-1])
    exits = exit_probabilities(
        [share / shares[-1] for share in shares],
        lower=list(-upper if rule.margin is None else -never),
        upper=list(upper),
        gap=[(-float(value), float(value)) for value in within],
        drift=drift,
    )
    return min(float((exits.inside if inside else exits.above).sum()), 1.0)


# The interval of one study.


@dataclass(frozen=True, slots=True)
class RepeatedResult:
    """What is reported of a study that its interval stopped, at the look where it ended.

    `estimate` is plain; `bias` is what the plan predicts of one at which a study ends early for this reason, if the
    planned difference is true: too large at a decision, too small where only a narrow interval was left (None: the
    plan does not say, or has another sign). `p_value` is the smallest alpha at which the interval of this
    look would decide the test of the study. `reason` is one of `REASONS`.
    """

    look: int
    p_value: float
    estimate: float
    interval: tuple[float, float]
    confidence: float
    half_width: float
    reason: Reason
    bias: float | None


def interval_of(estimate: float, standard_error: float, df: float, nominal: float) -> tuple[float, float]:
    """R of a look that has this nominal level, both sides together."""
    if not nominal > 0:
        return -math.inf, math.inf
    reach = critical_value(df, nominal / 2) * standard_error
    return estimate - reach, estimate + reach


def reason_of(interval: tuple[float, float], stop_when: StopWhen, rule: DecisionRule) -> Reason:
    """Why a study with this interval may stop; 'end' where there is no reason."""
    low, high = interval
    if not math.isfinite(low):
        return "end"
    reason: Any = reasons(np.array([(low + high) / 2]), np.array([(high - low) / 2]), stop_when, rule)
    return REASONS[int(reason[0])]

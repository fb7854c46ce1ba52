"""What the formula of a rating study's power says beyond its power: detectable effects and margins."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from humeval_power.choices import DEFAULT_SEED, DEFAULT_SIMULATIONS
from humeval_power.errors import DesignError, InputError
from humeval_power.inference.item_bootstrap import CONFIDENCE, binomial_interval
from humeval_power.inference.student_t import critical_values, equivalence_power, noncentral_t_tail
from humeval_power.parameters import Parameters
from humeval_power.roots import root_between
from humeval_power.rules import DEFAULT_RULE, DecisionRule
from humeval_power.studies.power import questions
from humeval_power.studies.power.estimate import PowerEstimate, blocks_of, check_simulation, drawn_in_blocks
from humeval_power.studies.power.formula import (
    AnalyticPower,
    EffectPrecision,
    part_of_variance,
    power_at,
    rule_critical_value,
)
from humeval_power.studies.power.questions import bisected_effect
from humeval_power.studies.power.replication import MOST_FAILURES, StudyFits
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.studies.power.systems_goals import SystemsPower
from humeval_power.studies.power.workload import seconds_each
from humeval_power.sweep.blocks import run_blocks

# Power to show equivalence by two one-sided tests, and the smallest margin that can be shown.


def smallest_equivalence_margin(
    effect: float, standard_error: float, df: float, *, critical: float, power: float
) -> float:
    """Smallest margin within which a study shows equivalence with probability `power` where the true
    difference is `effect`; arguments as in `equivalence_power`."""

    def shortfall(margin: float) -> float:
        result = equivalence_power(effect, standard_error, df, margin=margin, critical=critical)
        return float(result) - power

    least = abs(effect)
    most = least + 4 * critical * standard_error
    while shortfall(most) < 0:
        most = least + 2 * (most - least)
    return root_between(shortfall, least, most, xtol=1e-12)


def minimum_detectable_effect(
    precision: EffectPrecision, *, power: float = 0.8, rule: DecisionRule = DEFAULT_RULE
) -> float:
    """Smallest true difference B - A on [0, 1] that a design detects with probability `power`; for a rule
    with a margin see `smallest_margin`.

    For given variances the df does not depend on the effect, so one root in the noncentrality is
    enough. The result can exceed 1: then nothing on the scale can be detected that surely.
    """
    check_target(power, rule)
    return _detected_ratio(precision, power, rule) * precision.standard_error


def smallest_margin(
    precision: EffectPrecision, *, effect: float = 0.0, power: float = 0.8, rule: DecisionRule
) -> float:
    """Smallest margin on [0, 1] that a design shows with probability `power` where the true difference is
    `effect`: of equivalence or of non-inferiority, as the rule's alternative says. Its own margin is not
    used. The result can exceed 1, and is 0 where the study shows that surely that B is better.
    """
    check_target(power, rule)
    if rule.alternative == "non-inferior":
        return max(_detected_ratio(precision, power, rule) * precision.standard_error - effect, 0.0)
    critical = rule_critical_value(rule, precision)
    return smallest_equivalence_margin(
        effect, precision.standard_error, precision.df, critical=critical, power=power
    )


def detectable(
    precision: EffectPrecision, *, effect: float, power: float, rule: DecisionRule = DEFAULT_RULE
) -> float:
    """What a design can show with probability `power`: the smallest effect, or for a rule with a margin
    the smallest margin at a true difference of `effect`."""
    if rule.margin is None:
        return minimum_detectable_effect(precision, power=power, rule=rule)
    return smallest_margin(precision, effect=effect, power=power, rule=rule)


def _detected_ratio(precision: EffectPrecision, power: float, rule: DecisionRule) -> float:
    """The noncentrality at which t passes the critical value with probability `power`."""
    critical = rule_critical_value(rule, precision)

    def shortfall(noncentrality: float) -> float:
        return noncentral_t_tail(critical, precision.df, noncentrality) - power

    upper = 2.0
    while shortfall(upper) < 0:
        upper *= 2
    return root_between(shortfall, 0.0, upper, xtol=1e-12)


def check_target(power: float, rule: DecisionRule) -> None:
    """Refuse a target power that is no goal: at most the chance of a false positive, or 1."""
    least = "no effect at all" if rule.margin is None else "a difference as large as the margin"
    questions.check_target(power, rule.tail, gives=f"what {least} would give")


TOLERANCE = 0.02  # what the t law may be off beyond Monte Carlo error before it is called out


def disagree(analytic: AnalyticPower | SystemsPower, simulated: PowerEstimate | SystemsPower) -> bool:
    """Whether the two powers differ by more than Monte Carlo error and 0.02."""
    low, high = simulated.interval
    return not low - TOLERANCE <= analytic.power <= high + TOLERANCE


@dataclass(frozen=True, slots=True)
class HalfwayPower:
    """Power at the true difference `effect`, halfway to the margin; None where it was not computed that
    way."""

    effect: float
    analytic: float | None
    power: float | None = None
    interval: tuple[float, float] | None = None


def halfway_power(
    rule: DecisionRule, *, precision: EffectPrecision | None, simulated: PowerEstimate | None = None
) -> HalfwayPower | None:
    """Power halfway to the margin of a rule; None for a rule without a margin.

    precision : of the design, for the formula; simulated : studies with that true difference.
    """
    effect = rule.halfway
    if effect is None:
        return None
    return HalfwayPower(
        effect=effect,
        analytic=None if precision is None else power_at(effect, precision, rule=rule).power,
        power=None if simulated is None else simulated.power,
        interval=None if simulated is None else simulated.interval,
    )


# The minimum detectable effect, or the smallest margin that can be shown, by simulation.

Floats = NDArray[np.float64]
_STEPS = (17, 12, 12)  # of a bisection: to 1e-5 for the effect, to 3e-4 for its interval


@dataclass(frozen=True, slots=True)
class DetectableEffect:
    """Smallest true difference B - A on [0, 1] found with probability `power`, and its 95 % Monte
    Carlo interval; under a rule with a margin the smallest margin shown with it."""

    effect: float
    interval: tuple[float, float]
    power: float
    n_simulations: int
    n_failed: int


def simulated_detectable_effect(
    study: RatingStudy,
    *,
    power: float = 0.8,
    n_simulations: int = DEFAULT_SIMULATIONS,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
) -> DetectableEffect:
    """Find the effect at which a study has the target power.

    Gaussian ratings: another effect only shifts each estimate, so every simulated study has its own
    smallest effect that would have made it significant, and the answer is a quantile of those; the
    interval is that of the quantile. Other responses: bisection with the same random numbers.

    Raises InputError: a target that is no goal, or no study that could be fitted.
    """
    check_target(power, study.rule)
    check_simulation(n_simulations, None)
    if study.shifts:
        return _as_quantile(study, power, n_simulations, seed, n_jobs)
    effect, interval, last = bisected_effect(
        study,
        largest=study.largest_effect,
        power=power,
        n_simulations=n_simulations,
        seed=seed,
        n_jobs=n_jobs,
        steps=_STEPS,
    )
    return DetectableEffect(effect, interval, power, n_simulations, last.n_failed)


def simulated_margin(
    study: RatingStudy,
    *,
    power: float = 0.8,
    n_simulations: int = DEFAULT_SIMULATIONS,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
) -> DetectableEffect:
    """Find the smallest margin that a study shows with the target power at its own true effect.

    Each simulated study has its own smallest margin: the farther end of its interval for equivalence,
    minus the lower end for non-inferiority. The answer is a quantile of those, with its interval. The
    margin of the study's rule is used by the calibrated rule alone, which simulates its null there.

    Raises InputError: a target that is no goal, or no study that could be fitted.
    """
    check_target(power, study.rule)
    check_simulation(n_simulations, None)
    blocks = blocks_of(fit_block, study, 0, n_simulations, seed=seed, seconds=seconds_each(study))
    fits = StudyFits.joined(list(run_blocks(blocks, n_jobs=n_jobs)))
    usable = study.decide(fits).usable
    error, df = study.reference(fits)
    reach = _thresholds(study, df) * error
    low, high = fits.on_unit(fits.estimate - reach), fits.on_unit(fits.estimate + reach)
    needed = np.maximum(-low, high) if study.rule.alternative == "equivalent" else -low
    return _quantile(np.maximum(needed[usable], 0.0), power, n_simulations)


def fit_block(study: RatingStudy, seed: int, first: int, n: int, *, n_jobs: int = 1) -> StudyFits:
    """Fits of studies first to first + n - 1, before any decision."""
    return study.replication.fits(n, seed=seed, first=first, n_jobs=n_jobs)


def _as_quantile(study: RatingStudy, power: float, n: int, seed: int, n_jobs: int) -> DetectableEffect:
    null = study.with_effect(0.0)
    replicates = drawn_in_blocks(null, n, seed=seed, n_jobs=n_jobs)
    usable = replicates.usable
    critical = _thresholds(study, replicates.df[usable])
    return _quantile(critical * replicates.standard_error[usable] - replicates.estimate[usable], power, n)


def _quantile(smallest: Floats, power: float, n: int) -> DetectableEffect:
    """The value that the share `power` of the fitted studies does not pass, and its interval."""
    count = len(smallest)
    if n - count > MOST_FAILURES * n or math.ceil(power * n) > count:
        raise InputError(
            f"{n - count:,} of {n:,} simulated studies could not be fitted: the detectable effect is unknown. "
            "Plan more ratings of each worker and item."
        )
    thresholds = np.sort(np.append(smallest, np.full(n - count, np.inf)))  # without a fit nothing is found
    low, high = binomial_interval(CONFIDENCE, n, power)
    return DetectableEffect(
        effect=float(thresholds[math.ceil(power * n) - 1]),
        interval=(
            float(thresholds[max(low - 1, 0)]),
            float(thresholds[min(high, n - 1)]),
        ),
        power=power,
        n_simulations=n,
        n_failed=n - count,
    )


def _thresholds(study: RatingStudy, df: Floats) -> Floats:
    """What t must exceed in each replicate for a significant positive effect, or beyond a margin."""
    if study.rule.is_simulated:
        return np.full_like(df, study.calibrated_critical_value)
    return critical_values(df, study.rule.tail)


# What no number of items, of workers or of both can exceed.

Growing = Literal["items", "workers", "items and workers"]


@dataclass(frozen=True)
class Ceiling:
    """Power when one factor grows without bound; `find_detectable` finds what can be detected at `target`."""

    grows: Growing
    power: float
    target: float
    find_detectable: Callable[[], float] = field(repr=False, compare=False)

    @cached_property
    def detectable_effect(self) -> float:
        """The smallest detectable effect; for a rule with a margin the smallest margin that can be shown."""
        return self.find_detectable()

    @property
    def reachable(self) -> bool:
        """Whether the target can be reached at all by more of this factor."""
        return self.power >= self.target

    @property
    def is_clear(self) -> bool:
        """Whether the target lies clearly below it: not so near that it takes sizes of which half do as well."""
        return self.power - self.target >= little(self.target)


def little(target: float) -> float:
    """A gain of power that no size is raised for: a fortieth of the risk to miss the effect, .005 at .8."""
    return (1 - target) / 40


def ceiling_with_items(
    parameters: Parameters,
    *,
    n_workers: int,
    n_documents: int = 0,
    target: float = 0.8,
    rule: DecisionRule = DEFAULT_RULE,
) -> Ceiling:
    """These workers, endless items: what remains is a one-sample t test on the workers' differences. If all
    the items come out of `n_documents` documents, the documents' differences remain beside it."""
    _check_count("workers", n_workers)
    coded = parameters.recoded()
    of_workers = part_of_variance(coded, "worker", n_workers)
    if not n_documents:
        precision = EffectPrecision(of_workers, n_workers - 1.0, n_workers - 1, n_workers)
        return _ceiling("items", parameters, precision, target, rule)
    _check_count("documents", n_documents)
    of_documents = part_of_variance(coded, "document", n_documents)
    variance = of_workers + of_documents
    spread = of_workers**2 / (n_workers - 1) + of_documents**2 / (n_documents - 1)
    smallest = min(n_workers, n_documents) - 1
    df = variance**2 / spread if spread else float(smallest)
    precision = EffectPrecision(variance, df, smallest, n_workers)
    return _ceiling("items", parameters, precision, target, rule)


def ceiling_with_workers(
    parameters: Parameters,
    *,
    n_items: int,
    ratings_per_item: float | None = None,
    n_documents: int = 0,
    target: float = 0.8,
    rule: DecisionRule = DEFAULT_RULE,
) -> Ceiling:
    """These items, and documents if they come out of some, and endless workers. Without `ratings_per_item`
    every worker rates every item; with it each rating comes from a worker of its own, whose difference then
    counts as noise."""
    _check_count("items", n_items)
    coded = parameters.recoded()
    variance = part_of_variance(coded, "item", n_items)
    if ratings_per_item is not None:
        noise = 2 * coded.sd_residual**2 + coded.sd_worker_slope**2
        variance += noise / (n_items * ratings_per_item)
    groups = n_items
    if n_documents:
        _check_count("documents", n_documents)
        variance += part_of_variance(coded, "document", n_documents)
        groups = n_documents
    precision = EffectPrecision(variance, groups - 1.0, groups - 1, groups)
    return _ceiling("workers", parameters, precision, target, rule)


def ceiling_with_both(
    parameters: Parameters, *, n_documents: int, target: float = 0.8, rule: DecisionRule = DEFAULT_RULE
) -> Ceiling:
    """These documents, endless items of them and endless workers: a one-sample t test on the documents'
    differences."""
    _check_count("documents", n_documents)
    variance = part_of_variance(parameters.recoded(), "document", n_documents)
    precision = EffectPrecision(variance, n_documents - 1.0, n_documents - 1, n_documents)
    return _ceiling("items and workers", parameters, precision, target, rule)


def _check_count(noun: str, count: int) -> None:
    if count < 2:
        raise DesignError(f"The number of {noun} must be at least 2 for a test to exist; got {count}.")


def _ceiling(
    grows: Growing,
    parameters: Parameters,
    precision: EffectPrecision,
    target: float,
    rule: DecisionRule,
) -> Ceiling:
    effect = parameters.difference
    if precision.variance == 0:  # nothing but noise that averages away stands in the way
        return _without_variance(grows, effect, target, rule)
    power = power_at(effect, precision, rule=rule).power
    return Ceiling(
        grows, power, target, partial(detectable, precision, effect=effect, power=target, rule=rule)
    )


def _without_variance(grows: Growing, effect: float, target: float, rule: DecisionRule) -> Ceiling:
    """The true difference itself becomes known."""
    if rule.margin is None:
        return Ceiling(grows, 1.0 if effect else math.nan, target, partial(float, 0.0))
    smallest = abs(effect) if rule.alternative == "equivalent" else max(-effect, 0.0)
    return Ceiling(grows, float(rule.can_show(effect)), target, partial(float, smallest))

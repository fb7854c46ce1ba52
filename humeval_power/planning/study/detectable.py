"""The minimum detectable effect, or the smallest margin that can be shown, by simulation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.errors import InputError
from humeval_power.inference.shares import CONFIDENCE, binomial_interval
from humeval_power.inference.study.replication import MOST_FAILURES, StudyFits
from humeval_power.planning.power import DEFAULT_SEED, DEFAULT_SIMULATIONS, check_simulation
from humeval_power.planning.questions import bisected_effect
from humeval_power.planning.replicate_blocks import blocks_of, drawn_in_blocks
from humeval_power.planning.study.analytic import check_target
from humeval_power.planning.workload import seconds_each
from humeval_power.scenarios.study import RatingStudy
from humeval_power.sweep.blocks import run_blocks

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

    Raises
    ------
    InputError
        A target that is no goal, or no study that could be fitted.
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

    Raises
    ------
    InputError
        A target that is no goal, or no study that could be fitted.
    """
    check_target(power, study.rule)
    check_simulation(n_simulations, None)
    blocks = blocks_of(fit_block, study, 0, n_simulations, seed=seed, seconds=seconds_each(study))
    fits = StudyFits.joined(list(run_blocks(blocks, n_jobs=n_jobs)))
    usable = study.decide(fits).usable
    error, df = study.reference(fits)
    reach = critical_values(study, df) * error
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
    critical = critical_values(study, replicates.df[usable])
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


def critical_values(study: RatingStudy, df: Floats) -> Floats:
    """What t must exceed in each replicate for a significant positive effect, or beyond a margin."""
    tail = study.rule.tail
    if study.rule.is_simulated:
        return np.full_like(df, study.calibrated_critical_value)
    finite = np.where(np.isinf(df), 1.0, df)
    return np.where(np.isinf(df), -special.ndtri(tail), -special.stdtrit(finite, tail))

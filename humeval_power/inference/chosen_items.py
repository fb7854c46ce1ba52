"""The difference between two systems over a pool of items, from ratings of some that were drawn from it.

The rating model with the strata as fixed effects, each alone and times the system, and with the metric's predicted
difference in the same way: centred at the pool, so that the system's coefficient is the difference at the pool's
shares of strata and its mean prediction. Workers stay random, with Kenward and Roger's df. For the pool the share
of the item variance that is known by having rated them, Ti^2 sum W_h^2 / N_h, comes off; for items like these the
variance between strata, and that of the share of identical outputs, are added. Without strata and with unequal
probabilities: weighted means (Hajek), the variance of workers by their own weighted means.

Source: Sarndal, Swensson and Wretman (1992), Model assisted survey sampling, chapters 3, 5 and 7.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from humeval_power.choices import Estimand
from humeval_power.errors import InputError
from humeval_power.estimation.crossed.examination import design_information
from humeval_power.estimation.crossed.fits import check_ended_well, fit_one
from humeval_power.estimation.crossed.problem import CrossedProblem
from humeval_power.inference.item_sampling import (
    LARGEST_WEIGHT,
    LEAST_EFFECTIVE,
    effective_number,
    explained_by_strata,
)
from humeval_power.item_pool import Frame, ItemPool
from humeval_power.kernels.crossed import information
from humeval_power.parameters import STANDARD_DEVIATIONS, Parameters
from humeval_power.systems import SystemsParameters

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

ITEMS_FOR_BOTH = 50  # chosen ones from which the metric is a covariate beside its strata
ITEMS_FOR_METRIC = 20  # the same where there are no strata


@dataclass(frozen=True, slots=True)
class PoolEstimate:
    """A difference on [0, 1], with variance and df for the pool and for items like these.

    `slope` is what the model adds for one SD of the metric's difference, NaN without it; `n_strata` those that have
    effects; `effective_items` is Kish's number, that of the rated items where all are as likely.
    """

    estimate: float
    pool_variance: float
    pool_df: float
    population_variance: float
    population_df: float
    slope: float
    n_strata: int
    n_rated: int
    effective_items: float


def estimate_pool(
    pool: ItemPool,
    systems: tuple[str, str],
    worker: Codes,
    item: Codes,
    system: Codes,
    rating: Floats,
    item_names: tuple[str, ...],
    *,
    by_differences: bool = False,
) -> PoolEstimate:
    """The difference B - A over the pool, from ratings whose codes count from 0, of items of the pool.

    by_differences : fit the differences of workers who rated both outputs of an item alone.

    Raises
    ------
    InputError
        A stratum without two rated items, too few items for unequal probabilities, or these with a table of holes.
    FitError
        Ratings that determine nothing.
    """
    frame = pool.frame(item_names, *systems)
    if pool.unequal:
        rest = _by_weights(frame, worker, item, system, rating, len(item_names), pool.source)
    else:
        rest = _by_model(
            frame,
            worker,
            item,
            system,
            rating,
            pool.source,
            by_hand=pool.by_hand,
            differences=by_differences,
        )
    share = pool.identical_share
    if pool.by_hand or not share:
        return rest
    # identical outputs have no difference, which is known without an error
    real = 1.0 - share
    pooled = real**2 * rest.pool_variance
    varying = real**2 * rest.population_variance
    more = real * share * rest.estimate**2 / pool.n_items
    return PoolEstimate(
        real * rest.estimate,
        pooled,
        rest.pool_df,
        varying + more,
        rest.population_df * ((varying + more) / varying) ** 2 if varying > 0 else rest.population_df,
        rest.slope,
        rest.n_strata,
        rest.n_rated,
        rest.effective_items,
    )


def _by_model(
    frame: Frame,
    worker: Codes,
    item: Codes,
    system: Codes,
    rating: Floats,
    source: str,
    *,
    by_hand: bool,
    differences: bool,
) -> PoolEstimate:
    n, n_strata = len(frame.stratum), len(frame.weight)
    count = np.bincount(frame.stratum, minlength=n_strata)
    if n_strata > 1 and count.min() < 2:
        which = int(np.argmin(count))
        raise InputError(
            f"{source}: {count[which]} rated items of stratum {which + 1}, of which the pool has "
            f"{int(frame.size[which]):,}; at least 2 are needed to know how items of it differ. Rate more of it."
        )
    columns = [
        (frame.stratum == number).astype(np.float64) - frame.weight[number] for number in range(1, n_strata)
    ]
    in_pool = [
        (frame.stratum_in_pool == number).astype(np.float64) - frame.weight[number]
        for number in range(1, n_strata)
    ]
    with_metric = (
        frame.predicted is not None
        and frame.predicted_in_pool is not None
        and n >= (ITEMS_FOR_BOTH if n_strata > 1 else ITEMS_FOR_METRIC)
        and _varies_within(frame.predicted, frame.stratum)
    )
    if with_metric and frame.predicted is not None and frame.predicted_in_pool is not None:
        columns.append(frame.predicted)
        in_pool.append(frame.predicted_in_pool)
    of_items = np.column_stack([np.empty((n, 0)), *columns])
    k = of_items.shape[1]
    design = of_items[item]
    covariates = np.hstack([design, design * (system - 0.5)[:, None]]) if k else None
    build = CrossedProblem.of_differences if differences else CrossedProblem.of_design
    problem = build(worker, item, system, covariates=covariates)
    spread = float(np.std(rating)) or 1.0
    wanted = np.eye(problem.x.shape[1])[-k:] if k else None
    fitted = fit_one(problem, (rating - rating.mean()) / spread, contrasts=wanted)
    check_ended_well(int(fitted.status[0]))
    slopes = fitted.further[0, :, 0]
    gamma, sigma2 = fitted.gamma[0], float(fitted.sigma2[0])
    if differences:  # one column of each factor; the residual of a difference is twice that of a rating
        gamma, sigma2 = 0.5 * gamma[1::2], 2.0 * sigma2
    known, phi = design_information(problem, gamma)
    place = (
        problem.to_kernel(np.arange(len(gamma), dtype=np.float64)).tolist().index(1 if differences else 3)
    )
    item_variance = sigma2 * float(gamma[1 if differences else 3])
    rated = float((frame.weight**2 / frame.size).sum())  # 1 / N where strata are drawn in proportion
    weight = information.pseudo_inverse(
        information.expected_information(known, phi, np.asarray(sigma2), True)
    )
    half = phi @ problem.contrast
    change = information.contrast_variance_slopes(known, half)
    plain = sigma2 * float(half @ problem.contrast)
    adjusted = float(fitted.standard_error_adjusted[0]) ** 2

    def df_of(variance: float, slopes_of: Floats) -> float:
        across = float(slopes_of @ weight @ slopes_of)
        return 2.0 * variance**2 / across if across > 0 else math.inf

    pooled_change = change.copy()
    pooled_change[place] -= rated
    pool_df = df_of(plain - item_variance * rated, pooled_change)
    predictions = np.column_stack([np.empty((len(frame.stratum_in_pool), 0)), *in_pool]) @ slopes
    between = 0.0 if by_hand or not k else float(predictions.var()) / len(predictions)
    df = float(fitted.df_kenward_roger[0])
    scale = spread**2
    return PoolEstimate(
        spread * float(fitted.estimate[0]),
        scale * (adjusted - item_variance * rated),
        pool_df,
        scale * (adjusted + between),
        df * ((adjusted + between) / adjusted) ** 2,
        spread * float(slopes[-1]) if with_metric else math.nan,
        n_strata,
        n,
        float(n),
    )


def _varies_within(predicted: Floats, stratum: Codes) -> bool:
    """Whether predictions differ inside strata, so that they say more than these."""
    count = np.bincount(stratum)
    mean = np.bincount(stratum, predicted) / np.maximum(count, 1)
    return bool(np.abs(predicted - mean[stratum]).max() > 1e-9)


def _by_weights(
    frame: Frame, worker: Codes, item: Codes, system: Codes, rating: Floats, n: int, source: str
) -> PoolEstimate:
    """Weighted means of complete tables, weights 1 / probability (Hajek)."""
    m = int(worker.max()) + 1
    cell = (worker * n + item) * 2 + system
    count = np.bincount(cell, minlength=2 * m * n)
    if count.min() < 1:
        raise InputError(
            f"{source}: items were drawn with unequal probabilities, and their estimate is known for complete "
            f"tables alone: every worker rates every item of both systems. Here {int((count < 1).sum()):,} of "
            f"{len(count):,} such ratings are missing. Draw with equal probabilities, or leave out workers who "
            "have not rated all."
        )
    means = (np.bincount(cell, rating, minlength=2 * m * n) / count).reshape(m, n, 2)
    return weighted_estimate(means[:, :, 1] - means[:, :, 0], frame.probability, source=source)


def weighted_estimate(differences: Floats, probability: Floats, *, source: str = "pool") -> PoolEstimate:
    """The mean difference of a pool from those of workers and drawn items (m, n); probability (n,) of these.

    Raises
    ------
    InputError
        Weights so uneven that no interval of them is to be trusted.
    """
    m, n = differences.shape
    weight = 1.0 / probability
    effective = effective_number(probability)
    uneven = float(weight.max() / weight.mean())
    if effective < LEAST_EFFECTIVE or uneven > LARGEST_WEIGHT:
        raise InputError(
            f"{source}: with these probabilities {n} items are worth {effective:.1f}, and one weighs {uneven:.1f} "
            f"times the mean; an interval needs {LEAST_EFFECTIVE} at least, and a weight of {LARGEST_WEIGHT:g} at "
            "most. Rate more items, or draw with equal probabilities."
        )
    weight = weight / weight.sum()
    of_items = differences.mean(axis=0)
    estimate = float(weight @ of_items)
    residual = differences - of_items - differences.mean(axis=1, keepdims=True) + differences.mean()
    noise = float((residual**2).sum()) / ((m - 1) * (n - 1))
    by_workers = float((differences @ weight).var(ddof=1)) / m
    square = weight**2 * (of_items - estimate) ** 2 * n / (n - 1)

    def variance_and_df(share: Floats) -> tuple[float, float]:
        raw, own = float(share @ square), float(share @ weight**2) * noise / m
        raw = max(raw, own)
        variance = by_workers + raw - own
        spread = by_workers**2 / (m - 1) + raw**2 / (effective - 1) + own**2 / ((m - 1) * (n - 1))
        return variance, variance**2 / spread if spread > 0 else math.inf

    pool, population = variance_and_df(1.0 - probability), variance_and_df(np.ones(n))
    return PoolEstimate(estimate, *pool, *population, math.nan, 1, n, effective)


# What a study of drawn items is planned from: the spread that the draw leaves, and identical outputs.
#
# With r^2 the share of items' differences that the draw explains, n of N items, k ratings of an output:
#
#     Var(D^ - Delta_N) = Tw^2/m + Ti^2 (1 - r^2)(1/n - 1/N) + 2 s^2/(n k),      + Ti^2/N for items like these
#
# so that Ti counts as much less as `item_sd_factor` says, in any design. Where a share p0 of the outputs is
# identical, the difference over the pool is that of the others times 1 - p0, with its whole error: all SDs count so
# much less.


def explained_by_draw(pool: ItemPool) -> float:
    """The share of the metric's differences that the draw takes away: that between strata, all of a draw that is
    balanced on several systems' scores, nothing without a metric."""
    if pool.by_hand or pool.unequal or not pool.scores.shape[1]:
        return 0.0
    if pool.n_strata > 1:
        real = ~pool.identical
        scores = pool.scores[real]
        return explained_by_strata(scores[:, 1] - scores[:, 0], pool.stratum[real])
    varies = any(pool.predicted(pool.systems[0], name) is not None for name in pool.systems[1:])
    return float(len(pool.systems) > 2 and varies)


def item_sd_factor(pool: ItemPool, *, explained: float, correlation: float, estimand: Estimand) -> float:
    """By which the SD of items' differences counts less than in a draw at random from endless items.

    explained : of the metric's differences, by the draw; correlation : of these with people's, over items.
    """
    finite = pool.n_chosen / float((~pool.identical).sum())
    left = (1.0 - correlation**2 * explained) * (1.0 - finite)
    return math.sqrt(left + finite if estimand == "population" else left)


def over_the_pool(parameters: Parameters, factor: float, real: float) -> Parameters:
    """The same for the difference over the pool: items' differences times `factor`, all SDs times the share of
    items whose outputs are not identical."""
    coded = parameters.recoded()
    of = {name: real * getattr(coded, name) for name in (*STANDARD_DEVIATIONS, "sd_worker_item")}
    return replace(coded, **{**of, "sd_item_slope": factor * of["sd_item_slope"]})


def systems_over_the_pool(systems: SystemsParameters, factor: float, real: float) -> SystemsParameters:
    """The same of several systems."""
    return replace(
        systems,
        sd_worker=real * systems.sd_worker,
        sd_item=real * systems.sd_item,
        sd_residual=real * systems.sd_residual,
        sd_worker_system=tuple(real * sd for sd in systems.sd_worker_system),
        sd_item_system=tuple(factor * real * sd for sd in systems.sd_item_system),
    )

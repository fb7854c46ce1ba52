"""Whether an analysis can be trusted: predictions for workers and items, what it owes to each, who to look at.

Predicted effects of each worker and item, fitted values and residuals, by blocks of the crossed model.

Workers whose ratings are worth a second look: straight lines, haste, and what is unlike the other workers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from humeval_power.blas import one_blas_thread
from humeval_power.comparisons.agreement.result_report import WHAT_TO_DO, Raters
from humeval_power.errors import FitError, HumevalPowerError, InputError
from humeval_power.estimation.crossed.examination import (
    at_variances_of,
    is_deleted_at_once,
    is_searched_slowly,
    outer_effects,
    without_each_worker,
)
from humeval_power.estimation.crossed.problem import CrossedProblem, RatingTable, few_fits
from humeval_power.estimation.fit import Fit, structure_of
from humeval_power.estimation.fitting import fit
from humeval_power.estimation.joint.fit import JointFit
from humeval_power.kernels.crossed import likelihood, second_order
from humeval_power.ratings import Ratings
from humeval_power.rules import DEFAULT_RULE, DecisionRule
from humeval_power.saying.document import Block, Paragraph, Table
from humeval_power.studies.fit.wald import EffectTest, difference_test, effect_test
from humeval_power.worker_statistics import MIN_ANSWERS, centred, median_by

if TYPE_CHECKING:
    from scipy import sparse


Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class LevelEffects:
    """What the model predicts for each worker, or each item, on [0, 1]; arrays of shape (n_levels,).

    `intercept` and `slope` are best linear unbiased predictions of the random effects. Their errors are
    conditional on baseline and effect, as those of lme4's ranef. `difference` is the whole difference
    B - A of the level, effect + slope; its error counts that the effect is estimated too. A level with few
    ratings is drawn towards the average: this is not its own raw difference. Of very large tables the errors,
    not the predictions, are by random probes: good to some per cent.
    """

    intercept: Floats
    intercept_error: Floats
    slope: Floats
    slope_error: Floats
    difference: Floats
    difference_error: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Predictions:
    """Effects of workers, items and documents (None without them) at the variances of a fit, and what they
    leave of each rating.

    `fitted` and `residual`, shape (n_ratings,), in the order of the ratings; `fitted` may leave [0, 1].
    What a worker and an item share, where it was fitted, is part of the residual.
    """

    baseline: float
    effect: float
    workers: LevelEffects
    items: LevelEffects
    documents: LevelEffects | None
    fitted: Floats
    residual: Floats


class Blocks(NamedTuple):
    """Predictions in the kernel's order, relative to sigma; q columns for each level of a factor.

    outer, inner : (n_levels, q), effects; outer_variance, inner_variance : the same shapes, given y, and
    relative to sigma^2; outer_hx, inner_hx : (p, n_levels, q), X'H^-1Z.
    """

    beta: Floats
    phi: Floats
    sigma2: float
    outer: Floats
    inner: Floats
    outer_variance: Floats
    inner_variance: Floats
    outer_hx: Floats
    inner_hx: Floats


def predicted_effects(fit: Fit, ratings: RatingTable) -> Predictions:
    """Predict the effects of the workers and items of `ratings`, to which `fit` was fitted.

    Only the fit's standard deviations are used: u = gamma Z'H^-1 (y - Xb), with the variance given y
    sigma^2 (gamma - gamma Z'H^-1Z gamma) (Henderson 1975; Bates et al. 2015, section 3).

    Raises
    ------
    InputError
        A fit of another table.
    """
    sizes = (len(ratings.rating), int(ratings.worker.max()) + 1, int(ratings.item.max()) + 1)
    if sizes != (fit.n_ratings, fit.n_workers, fit.n_items):
        raise InputError(
            f"The fit is of {fit.n_ratings} ratings, {fit.n_workers} workers and {fit.n_items} items; these "
            f"ratings are {sizes[0]}, {sizes[1]} and {sizes[2]}: fit them first."
        )
    problem = CrossedProblem.of_ratings(ratings)
    residual2 = fit.parameters.sd_residual**2
    if fit.parameters.sd_worker_item > 0:
        share = fit.parameters.sd_worker_item**2 / residual2
        problem = problem.with_interaction(ratings.worker, ratings.item, share)
    gamma = np.array([getattr(fit.parameters, name) for name in problem.components]) ** 2 / residual2
    center = float(ratings.rating.mean())
    kernel_gamma = np.ascontiguousarray(problem.to_kernel(gamma))
    with one_blas_thread():
        blocks = _solve(problem, ratings.rating - center, kernel_gamma, residual2)
    of_factor = _each_factor(problem, blocks, kernel_gamma)
    more = structure_of(ratings)
    x = ratings.system - 0.5
    fitted = center + blocks.beta[0] + blocks.beta[1] * x
    if more["covariates"] is not None:
        fitted = fitted + more["covariates"] @ blocks.beta[2:]
    codes_of = (ratings.worker, ratings.item, more["document"])
    for levels, codes in zip(of_factor, codes_of, strict=False):
        fitted = fitted + levels.intercept[codes] + levels.slope[codes] * x
    return Predictions(
        baseline=center + float(blocks.beta[0]),
        effect=float(blocks.beta[1]),
        workers=of_factor[0],
        items=of_factor[1],
        documents=of_factor[2] if len(of_factor) > 2 else None,
        fitted=fitted,
        residual=ratings.rating - fitted,
    )


def _solve(problem: CrossedProblem, response: Floats, gamma: Floats, sigma2: float) -> Blocks:
    """Effects and their variances from the factorised blocks; nothing larger than outer x outer."""
    if problem.is_iterative:
        return _iterated(problem, response, gamma, sigma2)
    gram = problem.design
    products = problem.products(response[None])
    response_of_one = likelihood.Response(*(part[0] for part in products))
    profile, outer_variance, inner_variance = _looked(problem, response_of_one, gamma)
    qa, p = len(gram.outer_types), gram.xx.shape[0]
    n_outer_types = qa * len(problem.outer)
    return Blocks(
        beta=profile.beta,
        phi=profile.phi,
        sigma2=sigma2,
        outer=outer_effects(problem, profile, gamma)[1],
        inner=gamma[n_outer_types:] * profile.inner_py,
        outer_variance=outer_variance.reshape(-1, qa),
        inner_variance=inner_variance,
        outer_hx=profile.outer_hx[:p].reshape(p, -1, qa),
        inner_hx=profile.inner_hx[:p],
    )


def _iterated(problem: CrossedProblem, response: Floats, gamma: Floats, sigma2: float) -> Blocks:
    """The same of a very large table: effects by solves, their variances by probes."""
    from humeval_power.estimation.large.iterative import effects_at

    effects = effects_at(problem, response, gamma)
    qa, qb = len(problem.design.outer_types), len(problem.design.inner_types)
    order = problem.design.outer_block.shape[0] * qa
    outer_gamma = np.repeat(gamma[:-qb].reshape(-1, qa), np.diff(problem.design.begin), axis=0)
    of = {}
    for name, rows, q, own in (
        ("outer", slice(order), qa, outer_gamma),
        ("inner", slice(order, None), qb, gamma[-qb:]),
    ):
        of[name] = own * effects.py[rows].reshape(-1, q)
        of[f"{name}_variance"] = own - own**2 * effects.diagonal[rows].reshape(-1, q)
        of[f"{name}_hx"] = effects.hx[rows].T.reshape(effects.hx.shape[1], -1, q)
    return Blocks(beta=effects.beta, phi=effects.phi, sigma2=sigma2, **of)


def _looked(
    problem: CrossedProblem, response: likelihood.Response, gamma: Floats
) -> tuple[likelihood.Profile, Floats, Floats]:
    """The profile, and the variances given y of outer columns and of inner effects, relative to sigma^2."""
    if problem.is_large:
        from humeval_power.kernels.large import factored

        by_fronts = factored.factorise(problem.large, gamma)
        profile = factored.profile(problem.large, response, by_fronts, True)
        return profile, *factored.effect_variances(problem.large, by_fronts)
    factor, profile = second_order.evaluate(problem.gram, response, gamma, True)
    inner = _inner_variance(problem.gram, factor, gamma[len(gamma) - len(problem.gram.inner_types) :])
    return profile, np.diag(factor.k), inner  # gamma - gamma T gamma, free of cancellation


def _inner_variance(gram: likelihood.Gram, factor: likelihood.Factor, gamma: Floats) -> Floats:
    """Variance given y of the inner effects, relative to sigma^2, shape (n_inner, qb).

    Given the outer effects it is gamma W, W = (I + A gamma)^-1; the outer effects' own variance K adds
    gamma (C_i'K C_i) gamma, C_i the outer levels' blocks of cross = Z_o'H_i^-1Z_i.
    """
    qa, qb = len(gram.outer_types), len(gram.inner_types)
    variance = np.einsum("ibb->ib", factor.inner_inverse) * gamma
    for i in range(len(gram.start) - 1):
        pairs = slice(gram.start[i], gram.start[i + 1])
        rows = (gram.outer[pairs, None] * qa + np.arange(qa)).ravel()
        block = factor.cross[pairs].reshape(-1, qb)
        variance[i] += gamma**2 * np.einsum("rb,rs,sb->b", block, factor.k[np.ix_(rows, rows)], block)
    return np.asarray(variance)


def _each_factor(problem: CrossedProblem, blocks: Blocks, gamma: Floats) -> list[LevelEffects]:
    """Workers, items and, where there are any, documents."""
    qa, begin = blocks.outer.shape[1], problem.design.begin
    last = gamma[qa * len(problem.outer) :]
    levels = {problem.inner: _levels(blocks, blocks.inner, blocks.inner_variance, blocks.inner_hx, last)}
    for kind, place in enumerate(problem.outer):
        of_kind = slice(begin[kind], begin[kind + 1])
        levels[place] = _levels(
            blocks,
            blocks.outer[of_kind],
            blocks.outer_variance[of_kind],
            blocks.outer_hx[:, of_kind],
            gamma[kind * qa : (kind + 1) * qa],
        )
    return [levels[place] for place in sorted(levels)]


def _levels(blocks: Blocks, effects: Floats, variance: Floats, hx: Floats, gamma: Floats) -> LevelEffects:
    """Name the columns of one factor, and add up the error of a whole difference.

    With h = X'H^-1z gamma of a level's slope, b and u - U have the joint variance (relative to sigma^2)
    phi, -phi h and variance + h'phi h: that of b1 + u - U1 follows.
    """
    h = hx[:, :, 1] * gamma[1]
    across = blocks.phi @ h
    whole = blocks.phi[1, 1] - 2 * across[1] + variance[:, 1] + (h * across).sum(axis=0)
    error = np.sqrt(np.maximum(np.column_stack([variance, whole]), 0.0) * blocks.sigma2)
    return LevelEffects(
        intercept=np.ascontiguousarray(effects[:, 0]),
        intercept_error=error[:, 0],
        slope=np.ascontiguousarray(effects[:, 1]),
        slope_error=error[:, 1],
        difference=blocks.beta[1] + effects[:, 1],
        difference_error=error[:, 2],
    )


Codes = NDArray[np.int64]

_NO_VARIANCE = 1e-12  # sums of squares on [0, 1] below this are rounding
_MOST_SHOWN = 10
_MEASURES = ("level", "level_reach", "noise", "agreement", "level_p", "noise_p", "agreement_p", "leaning_p")


@dataclass(frozen=True, slots=True)
class WorkerCheck:
    """What one worker's ratings look like beside those of the others.

    `spread` is the SD of the ratings on [0, 1] within systems; `n_shared` outputs were rated by others too, and
    `level` to `leaning_p` are those of `RaterTests`. NaN where not defined. `reasons`, empty for most workers, are
    grounds to look at the worker's ratings. Careful workers who are few, alone in their opinion, or practised give
    the same signs: leaving workers out because of their ratings biases the study unless it was planned.
    """

    worker: str
    n_ratings: int
    n_shared: int
    mean: float
    spread: float
    seconds: float
    reasons: tuple[str, ...]
    level: float = math.nan
    level_reach: float = math.nan
    noise: float = math.nan
    agreement: float = math.nan
    level_p: float = math.nan
    noise_p: float = math.nan
    agreement_p: float = math.nan
    leaning_p: float = math.nan


def screen_workers(
    ratings: Ratings,
    *,
    seconds: Floats | None = None,
    min_ratings: int = MIN_ANSWERS,
    fast_share: float = 0.5,
) -> tuple[WorkerCheck, ...]:
    """Every worker, those with most reasons to look first, then those who agree least.

    Parameters
    ----------
    seconds : (n_ratings,), the time that each rating took; NaN where unknown.
    min_ratings : ratings below which straight lines say nothing.
    fast_share : a worker is fast whose median time is below this share of the workers' median. Half is
        Leiner's (2019) relative speed index of 2.
    """
    if seconds is not None and np.shape(seconds) != (ratings.n_ratings,):
        raise InputError(f"There are {ratings.n_ratings} ratings and {np.size(seconds)} times.")
    n_workers = ratings.n_workers
    count = np.bincount(ratings.worker, minlength=n_workers)
    mean = np.bincount(ratings.worker, ratings.rating, n_workers) / count
    spread, strata = _spread_within_systems(ratings)
    raters = Raters.of(ratings)
    tests, place_of = raters.tests, {name: place for place, name in enumerate(raters.names)}
    pace = np.full(n_workers, np.nan) if seconds is None else median_by(ratings.worker, seconds, n_workers)
    usual = float(np.nanmedian(pace)) if np.isfinite(pace).any() else math.nan
    lowest, highest = np.full(n_workers, np.inf), np.full(n_workers, -np.inf)
    np.minimum.at(lowest, ratings.worker, ratings.rating)
    np.maximum.at(highest, ratings.worker, ratings.rating)

    def reasons(code: int, place: int | None) -> tuple[str, ...]:
        result = []
        enough = count[code] >= min_ratings
        if enough and lowest[code] == highest[code]:
            result.append(f"gave the same rating {count[code]:,} times")
        elif enough and spread[code] == 0 and count[code] > 2 * strata[code]:
            result.append("gave all outputs of a system the same rating")
        if place is not None:
            result += raters.unlike(place)
        if pace[code] < fast_share * usual:
            result.append(f"took {pace[code]:.3g} seconds per rating where {usual:.3g} are usual")
        return tuple(result)

    def check(code: int) -> WorkerCheck:
        place = place_of.get(ratings.worker_names[code])
        measures = {} if place is None else {name: float(getattr(tests, name)[place]) for name in _MEASURES}
        return WorkerCheck(
            worker=ratings.worker_names[code],
            n_ratings=int(count[code]),
            n_shared=0 if place is None else int(tests.n_ratings[place]),
            mean=float(mean[code]),
            spread=float(spread[code]),
            seconds=float(pace[code]),
            reasons=reasons(code, place),
            **measures,
        )

    def order(one: WorkerCheck) -> tuple[int, float]:
        return -len(one.reasons), math.inf if math.isnan(one.agreement) else one.agreement

    return tuple(sorted(map(check, range(n_workers)), key=order))


def screening_sentence(checks: tuple[WorkerCheck, ...]) -> str:
    """How many workers are worth a look, in words that accuse nobody."""
    named = sum(bool(check.reasons) for check in checks)
    if named == 0:
        return f"None of the {len(checks):,} workers stands out."
    noun = "worker" if len(checks) == 1 else "workers"
    return f"Something stands out in the ratings of {named:,} of {len(checks):,} {noun}. {WHAT_TO_DO}"


def screening_blocks(checks: tuple[WorkerCheck, ...]) -> Iterator[Block]:
    """The sentence, and the reasons of the first ten workers who have some."""
    yield Paragraph(screening_sentence(checks))
    named = [(one.worker, "; ".join(one.reasons)) for one in checks if one.reasons]
    if named:
        yield Table((), tuple(named[:_MOST_SHOWN]), in_words=True)


def _spread_within_systems(ratings: Ratings) -> tuple[Floats, Codes]:
    """SD of each worker's ratings within systems, NaN without two in one; systems that each has rated."""
    n, stratum = ratings.n_workers, ratings.worker * np.int64(ratings.n_systems) + ratings.system
    squares = np.bincount(ratings.worker, centred(ratings.rating, stratum) ** 2, n)
    systems = np.bincount(np.unique(stratum) // ratings.n_systems, minlength=n)
    df = np.bincount(ratings.worker, minlength=n) - systems
    squares = np.where(squares > _NO_VARIANCE, squares, 0.0)
    return np.where(df > 0, np.sqrt(squares / np.maximum(df, 1)), np.nan), systems


# What the conclusion owes to single workers and to groups of items: the effect without each of them.

Mask = NDArray[np.bool_]
N_ITEM_GROUPS = 10
MOST_REFITS, MOST_REFITTED = 50, 2_500_000  # refits, and the ratings of all of them together
_LARGEST_SHIFTS = 2  # refits where there would be more


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The effect without one worker or group of items. `test` is None where the rest cannot be analysed,
    and `reason` says why. `approximate`: at the variances of the whole study, which one level hardly moves."""

    name: str
    n_ratings: int
    test: EffectTest | None
    reason: str = ""
    approximate: bool = False

    @property
    def estimate(self) -> float:
        """Estimated difference B - A on [0, 1], NaN without a test."""
        return math.nan if self.test is None else self.test.estimate

    @property
    def p_value(self) -> float:
        """p-value of the rule, NaN without a test."""
        return math.nan if self.test is None else self.test.p_value


@dataclass(frozen=True, slots=True)
class Influence:
    """The effect of the whole study, and without each of its workers (`noun` 'worker') or of its groups
    of items ('item group'). `n_not_tried` of them were not left out, to save time."""

    noun: str
    whole: EffectTest
    left_out: tuple[LeftOut, ...]
    n_not_tried: int = 0

    @property
    def n_approximate(self) -> int:
        """How many effects are those at the variances of the whole study."""
        return sum(one.approximate for one in self.left_out)

    @property
    def changed(self) -> tuple[LeftOut, ...]:
        """Those without whom the decision would be another one: significance, or its direction."""
        return tuple(
            one
            for one in self.left_out
            if one.test is not None
            and (
                one.test.significant != self.whole.significant
                or (
                    self.whole.significant
                    and self.whole.rule.margin is None  # else the claim has no direction
                    and one.test.estimate * self.whole.estimate < 0
                )
            )
        )

    @property
    def range(self) -> tuple[float, float]:
        """Smallest and largest estimate with one left out; NaN if none could be analysed."""
        estimates = [one.estimate for one in self.left_out if one.test is not None]
        return (min(estimates), max(estimates)) if estimates else (math.nan, math.nan)


def leave_one_worker_out(
    ratings: Ratings,
    *,
    rule: DecisionRule = DEFAULT_RULE,
    largest: int | None = None,
    fitted: Fit | None = None,
    advance: Callable[[int], None] | None = None,
) -> Influence:
    """The effect without each worker in turn, in the order of their codes.

    The table is refitted without each. Where that would take long (`is_by_one_step`) the effect is that at the
    variances of the whole study, exact generalised least squares of the ratings that remain, with the df of the
    whole study; the table is refitted without those two who move it most.

    Parameters
    ----------
    largest : leave out only this many workers, those with most ratings; None leaves out every one.
    fitted : the fit of all ratings by the rule's estimator, if it is at hand.
    advance : called with 1 for each worker.
    """
    if largest is not None and largest < 1:
        raise InputError(f"largest must be at least 1; got {largest}.")
    order = np.argsort(-np.bincount(ratings.worker), kind="stable")
    chosen = np.sort(order[:largest])
    n_not_tried = ratings.n_workers - len(chosen)
    fitted = fitted or _fit_of_all(ratings, rule)
    if fitted is not None and is_by_one_step(ratings, rule, fitted, n_left_out=len(chosen)):
        left_out = _by_one_step(ratings, chosen, rule, fitted, advance)
        return Influence("worker", effect_test(fitted, rule), left_out, n_not_tried)
    without = (_without_worker(ratings, code) for code in chosen)
    with few_fits(len(chosen)):
        return _influence(
            "worker", ratings, without, rule, n_not_tried=n_not_tried, fitted=fitted, advance=advance
        )


def is_by_one_step(ratings: Ratings, rule: DecisionRule, fitted: Fit, *, n_left_out: int) -> bool:
    """Whether so many workers are left out by one step each: where refits would take long."""
    is_much = n_left_out > MOST_REFITS or n_left_out * ratings.n_ratings > MOST_REFITTED
    return is_much and _may_keep_variances(rule, fitted) and is_deleted_at_once(ratings)


def _by_one_step(
    ratings: Ratings,
    chosen: Codes,
    rule: DecisionRule,
    fitted: Fit,
    advance: Callable[[int], None] | None,
) -> tuple[LeftOut, ...]:
    """One step for each of these workers, and a refit without those that move the effect most."""
    count = np.bincount(ratings.worker)
    names, left_out = ratings.worker_names, []
    for code, one in zip(chosen, without_each_worker(fitted, ratings, chosen.tolist()), strict=True):
        test = None if one is None else effect_test(one, rule)
        left_out.append(LeftOut(names[code], int(count[code]), test, approximate=True))
        if advance is not None:
            advance(1)
    shifts = [abs(one.estimate - fitted.parameters.difference) for one in left_out]
    largest = np.argsort(-np.nan_to_num(shifts), kind="stable")[:_LARGEST_SHIFTS]
    for place in {*largest.tolist(), *np.flatnonzero(np.isnan(shifts)).tolist()}:
        left_out[place] = _left_out(_without_worker(ratings, chosen[place]), rule, fitted, keeps=False)
    return tuple(left_out)


def leave_item_groups_out(
    ratings: Ratings, *, rule: DecisionRule = DEFAULT_RULE, n_groups: int = N_ITEM_GROUPS, seed: int = 1
) -> Influence:
    """Refit without each of `n_groups` random groups of items of equal size (to one item).

    With fewer items than groups each item is a group.
    """
    if n_groups < 2:
        raise InputError(f"n_groups must be at least 2; got {n_groups}.")
    n_groups = min(n_groups, ratings.n_items)
    group = np.empty(ratings.n_items, dtype=np.int64)
    group[np.random.default_rng(seed).permutation(ratings.n_items)] = np.arange(ratings.n_items) % n_groups
    without = (
        _without(ratings, group[ratings.item] == code, f"group {code + 1}") for code in range(n_groups)
    )
    with few_fits(n_groups):
        return _influence("item group", ratings, without, rule)


_Remaining = tuple[str, int, Ratings]


def _without(ratings: Ratings, left_out: Mask, name: str) -> _Remaining:
    """The other rows, with codes for the workers and items that still occur."""
    return name, int(left_out.sum()), ratings.of_rows(~left_out)


def _without_worker(ratings: Ratings, code: int) -> _Remaining:
    return _without(ratings, ratings.worker == code, ratings.worker_names[code])


def _fit_of_all(ratings: Ratings, rule: DecisionRule) -> Fit | None:
    """The fit of all ratings by the rule's estimator; None for a rule that tests no such fit."""
    if rule.analysis != "ratings" or rule.is_simulated:
        return None
    return fit(ratings, estimator=rule.estimator)


def _influence(
    noun: str,
    ratings: Ratings,
    without: Iterable[_Remaining],
    rule: DecisionRule,
    *,
    n_not_tried: int = 0,
    fitted: Fit | None = None,
    advance: Callable[[int], None] | None = None,
) -> Influence:
    fitted = fitted or _fit_of_all(ratings, rule)
    whole = _test(ratings, rule) if fitted is None else effect_test(fitted, rule)
    keeps = (
        fitted is not None
        and _may_keep_variances(rule, fitted)
        and not ratings.covariates
        and is_searched_slowly(ratings)
    )
    left_out = []
    for remaining in without:
        left_out.append(_left_out(remaining, rule, fitted, keeps=keeps))
        if advance is not None:
            advance(1)
    return Influence(noun, whole, tuple(left_out), n_not_tried)


def _left_out(remaining: _Remaining, rule: DecisionRule, fitted: Fit | None, *, keeps: bool) -> LeftOut:
    """The effect of the rows that remain: at the variances of the whole study, or by a refit."""
    name, n_ratings, rows = remaining
    try:
        if not len(rows.rating):
            raise InputError("Nothing is left.")
        if fitted is not None and keeps:
            return LeftOut(name, n_ratings, effect_test(at_variances_of(fitted, rows), rule), "", True)
        return LeftOut(name, n_ratings, _test(rows, rule, fitted))
    except HumevalPowerError as error:
        return LeftOut(name, n_ratings, None, str(error))


def _may_keep_variances(rule: DecisionRule, fitted: Fit) -> bool:
    return rule.analysis == "ratings" and fitted.converged and fitted.parameters.sd_worker_item == 0


def _test(ratings: RatingTable, rule: DecisionRule, near: Fit | None = None) -> EffectTest:
    if rule.is_simulated:
        raise InputError(
            f"The rule '{rule.df}' needs simulated studies for every refit; choose another df."
        )
    if rule.analysis == "differences":
        return difference_test(ratings, rule)
    return effect_test(fit(ratings, estimator=rule.estimator, near=near), rule)


_LEAST_LEFT_OUT = 3


@dataclass(frozen=True, slots=True)
class Diagnostics:
    """What a fit predicts for each worker and item, the effect without each worker, and the workers' checks."""

    predictions: Predictions
    influence: Influence
    workers: tuple[WorkerCheck, ...]


def most_left_out(ratings: Ratings, rule: DecisionRule, fitted: Fit) -> int:
    """How many workers are left out: all where that is one step each, else few of tables with long refits."""
    if is_by_one_step(ratings, rule, fitted, n_left_out=ratings.n_workers):
        return ratings.n_workers
    affordable = max(MOST_REFITTED // ratings.n_ratings, _LEAST_LEFT_OUT)
    return min(affordable, MOST_REFITS, ratings.n_workers)


def diagnose(
    fitted: Fit, ratings: Ratings, rule: DecisionRule, *, advance: Callable[[int], None] | None = None
) -> Diagnostics:
    """Predict, leave out each worker or each of the busiest, and screen; `advance` is called for each of them."""
    of_ratings = replace(rule, analysis="ratings")
    return Diagnostics(
        predicted_effects(fitted, ratings),
        leave_one_worker_out(
            ratings,
            rule=of_ratings,
            largest=most_left_out(ratings, of_ratings, fitted),
            fitted=fitted if rule.analysis == "ratings" else None,
            advance=advance,
        ),
        screen_workers(ratings),
    )


# Whether a comparison of several systems can be trusted: predictions, and the means without each worker.


@dataclass(frozen=True, slots=True, eq=False)
class JointPredictions:
    """What a joint fit predicts, on [0, 1].

    `workers` (n_workers,) is what a worker gives all systems, `worker_systems` (n_workers, K) what each system
    gets beyond that; `items` and `item_systems` likewise. Zero where nothing was rated. `fitted` and `residual`
    are those of each rating.
    """

    workers: Floats
    worker_systems: Floats
    items: Floats
    item_systems: Floats
    fitted: Floats
    residual: Floats


@dataclass(frozen=True, slots=True)
class WithoutWorker:
    """The means without one worker at the variances of the whole fit.

    `shift` is the largest change of a system's mean about the average of all systems, of `system`. `best` is
    then the system of the highest mean; `swapped` counts the pairs of systems that change places. `reason` says
    why there are no means, and then the others say nothing.
    """

    worker: str
    n_ratings: int
    shift: float
    system: str
    best: str
    swapped: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class JointDiagnostics:
    """Predictions of a joint fit, workers worth a look, and the means without each of the busiest workers;
    `n_not_tried` workers were not left out. `best` is the system of the highest mean of the whole fit."""

    best: str
    predictions: JointPredictions
    workers: tuple[WorkerCheck, ...]
    left_out: tuple[WithoutWorker, ...]
    n_not_tried: int


class _Solution(NamedTuple):
    means: Floats
    effects: tuple[Floats, Floats, Floats, Floats]


def diagnose_jointly(
    ratings: Ratings,
    fitted: JointFit,
    *,
    largest: int = MOST_REFITS,
    advance: Callable[[int], None] | None = None,
) -> JointDiagnostics:
    """Predict, leave out each of the `largest` busiest workers, and screen; `advance` is called after each of
    them. Raises FitError: ratings that do not determine the means."""
    everything = np.ones(ratings.n_ratings, dtype=bool)
    whole = _solved(ratings, fitted, everything)
    worker, worker_system, item, item_system = whole.effects
    predicted = (
        whole.means[ratings.system]
        + worker[ratings.worker]
        + worker_system[ratings.worker, ratings.system]
        + item[ratings.item]
        + item_system[ratings.item, ratings.system]
    )
    count = np.bincount(ratings.worker)
    chosen = np.sort(np.argsort(-count, kind="stable")[:largest])
    left_out = []
    for code in chosen:
        left_out.append(_without_of_joint_diagnostics(ratings, fitted, int(code), whole.means))
        if advance is not None:
            advance(1)
    return JointDiagnostics(
        ratings.system_names[int(np.argmax(whole.means))],
        JointPredictions(*whole.effects, fitted=predicted, residual=ratings.rating - predicted),
        screen_workers(ratings),
        tuple(left_out),
        ratings.n_workers - len(chosen),
    )


def _without_of_joint_diagnostics(
    ratings: Ratings, fitted: JointFit, code: int, means: Floats
) -> WithoutWorker:
    kept = ratings.worker != code
    name, n = ratings.worker_names[code], int((~kept).sum())
    lost = np.flatnonzero(np.bincount(ratings.system[kept], minlength=ratings.n_systems) == 0)
    if len(lost):
        reason = f"nobody else rated {ratings.system_names[lost[0]]}"
        return WithoutWorker(name, n, np.nan, "", "", 0, reason)
    try:
        others = _solved(ratings, fitted, kept).means
    except FitError as error:
        return WithoutWorker(name, n, np.nan, "", "", 0, str(error))
    change = (others - others.mean()) - (means - means.mean())
    most = int(np.argmax(np.abs(change)))
    before, after = (np.sign(np.subtract.outer(each, each)) for each in (means, others))
    return WithoutWorker(
        name,
        n,
        float(change[most]),
        ratings.system_names[most],
        ratings.system_names[int(np.argmax(others))],
        int((before * after < 0).sum()) // 2,
    )


def _solved(ratings: Ratings, fitted: JointFit, kept: NDArray[np.bool_]) -> _Solution:
    """Means and predicted effects at the variances of the fit, by Henderson's (1975) equations of the kept rows."""
    from scipy import sparse
    from scipy.sparse.linalg import splu

    worker, item, system = ratings.worker[kept], ratings.item[kept], ratings.system[kept]
    K, n_workers, n_items = ratings.n_systems, ratings.n_workers, ratings.n_items
    variances = _variances(fitted, ratings)
    residual = fitted.standard_deviations["sd_residual"] ** 2
    codes = (worker, worker * K + system, item, item * K + system)
    sizes = (n_workers, n_workers * K, n_items, n_items * K)
    columns, ratios, places = [_indicators(system, K)], [np.zeros(K)], []
    for code, size, variance in zip(codes, sizes, variances, strict=True):
        occurring = np.unique(code)
        occurring = occurring[variance[occurring] > 0]
        place = np.full(size, -1, dtype=np.int64)
        place[occurring] = np.arange(len(occurring))
        columns.append(_indicators(place[code], len(occurring)))
        ratios.append(residual / variance[occurring])
        places.append(occurring)
    matrix = sparse.hstack(columns, format="csc")
    equations = (matrix.T @ matrix + sparse.diags(np.concatenate(ratios))).tocsc()
    options = {"SymmetricMode": True}
    try:
        factor = splu(equations, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
    except RuntimeError as error:
        raise FitError("the ratings do not determine the means") from error
    solution = factor.solve(matrix.T @ ratings.rating[kept])
    effects, start = [], K
    for occurring, size in zip(places, sizes, strict=True):
        whole = np.zeros(size)
        whole[occurring] = solution[start : start + len(occurring)]
        effects.append(whole)
        start += len(occurring)
    return _Solution(
        solution[:K], (effects[0], effects[1].reshape(-1, K), effects[2], effects[3].reshape(-1, K))
    )


def _indicators(code: Codes, size: int) -> sparse.csr_matrix:
    """A column for each level, rows of ones; negative codes have none."""
    from scipy import sparse

    rows = np.flatnonzero(code >= 0)
    return sparse.csr_matrix((np.ones(len(rows)), (rows, code[rows])), shape=(len(code), size))


def _variances(fitted: JointFit, ratings: Ratings) -> tuple[Floats, Floats, Floats, Floats]:
    """The variance of every level of the four random effects, in the order of their codes."""
    sds = fitted.standard_deviations

    def of(noun: str, n: int) -> tuple[Floats, Floats]:
        name = f"sd_{noun}_system"
        if fitted.variances == "common":
            each = np.full(ratings.n_systems, sds[name] ** 2)
        else:
            each = np.array([sds[f"{name} of {system}"] ** 2 for system in ratings.system_names])
        return np.full(n, sds[f"sd_{noun}"] ** 2), np.tile(each, n)

    return (*of("worker", ratings.n_workers), *of("item", ratings.n_items))

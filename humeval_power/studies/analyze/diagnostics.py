"""Whether an analysis can be trusted: predictions for workers and items, what it owes to each, who to look at."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from humeval_power.errors import FitError, HumevalPowerError, InputError
from humeval_power.estimation.crossed.examination import (
    at_variances_of,
    is_deleted_at_once,
    is_searched_slowly,
    without_each_worker,
)
from humeval_power.estimation.crossed.problem import RatingTable, few_fits
from humeval_power.estimation.fit import Fit
from humeval_power.estimation.fitting import fit
from humeval_power.estimation.joint.fit import JointFit
from humeval_power.ratings import Ratings
from humeval_power.rules import DEFAULT_RULE, DecisionRule
from humeval_power.studies.analyze.blups import Predictions, predicted_effects
from humeval_power.studies.analyze.screening import WorkerCheck, screen_workers
from humeval_power.studies.fit.wald import EffectTest, difference_test, effect_test

if TYPE_CHECKING:
    from scipy import sparse


# What the conclusion owes to single workers and to groups of items: the effect without each of them.

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
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

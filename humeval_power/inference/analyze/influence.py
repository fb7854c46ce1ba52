"""What the conclusion owes to single workers and to groups of items: the effect without each of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humeval_power.errors import HumevalPowerError, InputError
from humeval_power.estimation.crossed.choice import few_fits
from humeval_power.estimation.crossed.held_variances import at_variances_of, is_searched_slowly
from humeval_power.estimation.crossed.problem import RatingTable
from humeval_power.estimation.fit import Fit
from humeval_power.estimation.fitting import fit
from humeval_power.inference.study.wald import EffectTest, difference_test, effect_test
from humeval_power.ratings import Ratings
from humeval_power.rules import DEFAULT_RULE, DecisionRule

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]
N_ITEM_GROUPS = 10


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The effect without one worker or group of items. `test` is None where the rest cannot be analysed,
    and `reason` says why."""

    name: str
    n_ratings: int
    test: EffectTest | None
    reason: str = ""

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
    of items ('item group'). `n_not_tried` of them were not left out, to save time. Of large tables
    `variances_kept`: each effect is that at the variances of the whole study, which one level hardly moves."""

    noun: str
    whole: EffectTest
    left_out: tuple[LeftOut, ...]
    n_not_tried: int = 0
    variances_kept: bool = False

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
    """Refit without each worker in turn, in the order of their codes.

    Parameters
    ----------
    largest : leave out only this many workers, those with most ratings; None leaves out every one. A refit
        takes milliseconds, but seconds where hundreds of workers meet hundreds of items.
    fitted : the fit of all ratings by the rule's estimator, if it is at hand.
    advance : called with 1 after each refit.
    """
    if largest is not None and largest < 1:
        raise InputError(f"largest must be at least 1; got {largest}.")
    order = np.argsort(-np.bincount(ratings.worker), kind="stable")
    chosen = np.sort(order[:largest])
    without = (_without(ratings, ratings.worker == code, ratings.worker_names[code]) for code in chosen)
    n_not_tried = ratings.n_workers - len(chosen)
    with few_fits(len(chosen)):
        return _influence(
            "worker", ratings, without, rule, n_not_tried=n_not_tried, fitted=fitted, advance=advance
        )


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
    if fitted is None and rule.analysis == "ratings" and not rule.is_simulated:
        fitted = fit(ratings, estimator=rule.estimator)
    whole = _test(ratings, rule) if fitted is None else effect_test(fitted, rule)
    kept = fitted is not None and _keeps_variances(ratings, rule, fitted)
    left_out = []
    for name, n_ratings, rows in without:
        try:
            if not len(rows.rating):
                raise InputError("Nothing is left.")
            if fitted is not None and kept:
                test = effect_test(at_variances_of(fitted, rows), rule)
            else:
                test = _test(rows, rule, fitted)
            left_out.append(LeftOut(name, n_ratings, test))
        except HumevalPowerError as error:
            left_out.append(LeftOut(name, n_ratings, None, str(error)))
        if advance is not None:
            advance(1)
    return Influence(noun, whole, tuple(left_out), n_not_tried, kept)


def _keeps_variances(ratings: Ratings, rule: DecisionRule, fitted: Fit) -> bool:
    return (
        rule.analysis == "ratings"
        and fitted.converged
        and not ratings.covariates
        and fitted.parameters.sd_worker_item == 0
        and is_searched_slowly(ratings)
    )


def _test(ratings: RatingTable, rule: DecisionRule, near: Fit | None = None) -> EffectTest:
    if rule.is_simulated:
        raise InputError(
            f"The rule '{rule.df}' needs simulated studies for every refit; choose another df."
        )
    if rule.analysis == "differences":
        return difference_test(ratings, rule)
    return effect_test(fit(ratings, estimator=rule.estimator, near=near), rule)

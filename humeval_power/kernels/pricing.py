"""Exact sums of money: whole cents in arrays of Python integers, which neither round nor overflow."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.object_]


class Charge(NamedTuple):
    """Cents for the work of each study, arrays of shape (n,): pay for planned ratings, for attention
    checks, for outputs shown once more, for work done again; and the platform's fees on all four."""

    ratings: Whole
    checks: Whole
    repeats: Whole
    redone: Whole
    fees: Whole


def charge_by_study(
    units: Whole,
    workers: Whole,
    ratings: Whole,
    *,
    price: Fraction,
    checks: Fraction,
    repeats: Fraction,
    again: Fraction,
    share: Fraction,
) -> Charge:
    """Pay and fees when each part is summed over the study and rounded once.

    units, workers, ratings : (groups, n), the units of work of each group in a study, the workers of a
        unit and the ratings that one of them gives in it.
    price : cents of a rating. checks, repeats : extra units for each unit. again : work done again for each
        piece of submitted work. share : the platform's.
    """
    each = workers * ratings
    planned = (units * each).sum(axis=0)
    checked, shown = ((up(units, extra) * each).sum(axis=0) for extra in (checks, repeats))
    redone = up(planned + checked + shown, again)
    first, second, third, fourth = (up(number, price) for number in (planned, checked, shown, redone))
    return Charge(first, second, third, fourth, half_up(first + second + third + fourth, share))


def charge_by_assignment(
    units: Whole,
    workers: Whole,
    ratings: Whole,
    *,
    price: Fraction,
    checks: Fraction,
    repeats: Fraction,
    again: Fraction,
    share: Fraction,
    minimum: int,
    extra_share: Fraction,
    extra_from: int | None,
    units_per_assignment: int,
) -> Charge:
    """Pay and fees when reward and fee of every assignment are rounded to the cent.

    Arguments as in `charge_by_study`. `minimum` cents is the least fee of an assignment; from
    `extra_from` workers per unit on, `extra_share` is added to the share. `units_per_assignment` units
    make one HIT, the last one may hold fewer; work done again is priced as the largest HIT.
    """
    raised = workers >= extra_from if extra_from is not None else np.zeros(workers.shape, dtype=bool)

    def pay(n_units: Whole) -> Whole:
        return up(n_units * ratings, price)

    def fee(reward: Whole) -> Whole:
        usual, higher = (half_up(reward, s) for s in (share, share + extra_share))
        return np.maximum(np.where(raised, higher, usual), minimum)

    checked = units + up(units, checks)
    all_units = checked + up(units, repeats)
    full, rest = all_units // units_per_assignment, all_units % units_per_assignment
    reward_full, reward_rest = pay(full * 0 + units_per_assignment), pay(rest)
    largest = np.where(full > 0, reward_full, reward_rest)
    planned, with_checks, paid = (
        workers * (part // units_per_assignment * reward_full + pay(part % units_per_assignment))
        for part in (units, checked, all_units)
    )
    n_again = up(workers * (full + np.where(rest > 0, 1, 0)), again)
    fees = workers * (full * fee(reward_full) + np.where(rest > 0, fee(reward_rest), 0))
    fees = fees + n_again * fee(largest)
    parts = (planned, with_checks - planned, paid - with_checks, n_again * largest, fees)
    return Charge(*(part.sum(axis=0) for part in parts))


def up(count: Whole, amount: Fraction) -> Whole:
    """`count` times `amount`, rounded up to a whole number."""
    return np.asarray(-(-count * amount.numerator // amount.denominator))


def half_up(count: Whole, amount: Fraction) -> Whole:
    """`count` times `amount`, rounded to the nearest whole number, halves up."""
    return np.asarray((2 * count * amount.numerator + amount.denominator) // (2 * amount.denominator))


def whole(values: Any) -> Whole:
    """Integers of any kind as an array of Python integers with at least one axis."""
    return np.atleast_1d(np.asarray(values)).astype(object)

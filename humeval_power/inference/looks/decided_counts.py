"""Looks at a sign or McNemar test, exactly: the count for B among the decided judgements as a binomial walk.

A judgement is decided if it is for A or for B; ties, and items that both systems got right or wrong, say
nothing of the direction. Given how many were decided by each look, the number for B grows by binomial steps,
and all chances are sums over its ways past the boundaries. A result counts as more extreme the earlier it left
by the upper boundary, within a look by its count (the stage-wise ordering; for binomial counts Jennison and
Turnbull 1983)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.errors import InputError
from humeval_power.inference.looks.stagewise import StagewiseResult
from humeval_power.roots import root_between

Floats = NDArray[np.float64]

_NOTHING = 1e-30  # chance of a count that is left out
_HALF = 0.5


@dataclass(frozen=True, slots=True)
class DecidedLook:
    """What a look had: `decided` judgements, `for_b` of them for B. It stops if at most `critical` are for one of
    the systems; -1 where no count stops it."""

    decided: int
    for_b: int
    critical: int


class _Walk(NamedTuple):
    """Chances of having left above and below before the last look, and of each count `first`, `first` + 1, ...
    there without having left."""

    above: float
    below: float
    first: int
    chance: Floats


class _Tails(NamedTuple):
    """Chances of results at least as high, at least as low, and just as the observed one."""

    upper: float
    lower: float
    same: float


def exact_stagewise(looks: Sequence[DecidedLook], *, mid_p: bool, alpha: float) -> StagewiseResult:
    """Two-sided inference on the share for B of the decided, for a study that ended at the last of `looks`.

    `p_value` is that of the exact test, or with half the chance of the observed result (mid-p); with one look
    that of the plain test. The interval inverts it: of the exact test it covers with at least 1 - alpha.
    `estimate` is median-unbiased with half the chance of the observed result. Futility is ignored: p is then a
    little too large.

    Raises
    ------
    InputError
        No look, or counts that cannot be.
    """
    _check(looks)
    last = looks[-1]
    null = _tails(looks, _HALF)
    part = _HALF if mid_p else 0.0
    p_value = min(1.0, 2.0 * (min(null.upper, null.lower) - part * null.same))
    if mid_p and 2 * last.for_b == last.decided:
        p_value = 1.0 - null.same / 2 if last.decided else 1.0
    if last.decided == 0:
        return StagewiseResult(len(looks), 1.0, _HALF, (0.0, 1.0), 1.0 - alpha, _HALF)
    low = _where(lambda share: _less(_tails(looks, share), part, upper=True), alpha / 2)
    high = 1.0 - _where(lambda share: _less(_tails(looks, 1.0 - share), part, upper=False), alpha / 2)
    middle = _where(lambda share: _less(_tails(looks, share), _HALF, upper=True), _HALF)
    naive = last.for_b / last.decided
    return StagewiseResult(len(looks), p_value, middle, (low, high), 1.0 - alpha, naive)


def exact_errors(looks: Sequence[DecidedLook], share: float = _HALF) -> tuple[float, ...]:
    """Chance of having stopped as significant by each look, in either direction, if `share` of the decided are
    for B: at one half the chance of a false positive, exactly."""
    _check(looks)
    spent = []
    for number in range(1, len(looks) + 1):
        walk, last = _walk(looks[:number], share), looks[number - 1]
        counts = walk.first + np.arange(len(walk.chance))
        stops = (counts <= last.critical) | (counts >= last.decided - last.critical)
        spent.append(walk.above + walk.below + float(walk.chance[stops].sum()))
    return tuple(spent)


def _tails(looks: Sequence[DecidedLook], share: float) -> _Tails:
    walk, seen = _walk(looks, share), looks[-1].for_b
    counts = walk.first + np.arange(len(walk.chance))
    upper = walk.above + float(walk.chance[counts >= seen].sum())
    lower = walk.below + float(walk.chance[counts <= seen].sum())
    return _Tails(upper, lower, float(walk.chance[counts == seen].sum()))


def _less(tails: _Tails, part: float, *, upper: bool) -> float:
    return (tails.upper if upper else tails.lower) - part * tails.same


def _walk(looks: Sequence[DecidedLook], share: float) -> _Walk:
    above = below = 0.0
    first, chance, before = 0, np.ones(1), 0
    for number, look in enumerate(looks, start=1):
        start, step = _binomial(look.decided - before, share)
        first, chance, before = first + start, np.convolve(chance, step), look.decided
        if number == len(looks):
            break
        counts = first + np.arange(len(chance))
        low, high = counts <= look.critical, counts >= look.decided - look.critical
        above += float(chance[high].sum())
        below += float(chance[low].sum())
        going = np.flatnonzero(~low & ~high & (chance > _NOTHING))
        if not len(going):
            return _Walk(above, below, 0, np.zeros(0))
        first, chance = first + int(going[0]), chance[going[0] : going[-1] + 1]
    return _Walk(above, below, first, chance)


def _binomial(n: int, share: float) -> tuple[int, Floats]:
    """The smallest count that has a chance, and the chances from there on."""
    count = np.arange(n + 1.0)
    ways = special.gammaln(n + 1.0) - special.gammaln(count + 1.0) - special.gammaln(n - count + 1.0)
    chance = np.exp(ways + special.xlogy(count, share) + special.xlog1py(n - count, -share))
    likely = np.flatnonzero(chance > _NOTHING)
    return int(likely[0]), chance[likely[0] : likely[-1] + 1]


def _where(rising: Callable[[float], float], target: float) -> float:
    """The share at which a rising chance reaches the target; 0 or 1 where it does so at no share between."""
    if rising(0.0) >= target:
        return 0.0
    if rising(1.0) <= target:
        return 1.0
    return root_between(lambda share: rising(share) - target, 0.0, 1.0, xtol=1e-12)


def _check(looks: Sequence[DecidedLook]) -> None:
    before = DecidedLook(0, 0, -1)
    for look in looks:
        more, more_b = look.decided - before.decided, look.for_b - before.for_b
        if not 0 <= more_b <= more or not -1 <= look.critical < math.inf:
            raise InputError(
                f"Counts of decided judgements must grow from look to look; got {list(looks)}."
            )
        before = look
    if not looks:
        raise InputError("No look was taken yet.")

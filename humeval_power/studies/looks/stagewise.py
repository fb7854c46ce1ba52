"""After stopping: p-value, median-unbiased estimate and interval in the stage-wise ordering.

A result counts as more extreme the earlier it passed the upper boundary, within a look by its statistic, and
results that left by the lower boundary are the other end (Armitage 1957; Tsiatis, Rosner and Mehta 1984). For
a true effect e the pivot at look j, (estimate_j - e) / standard_error_j on df_j degrees of freedom, is turned
into the z with the same probability; these z's are taken to be jointly normal with the correlations of
information time. With one look the results are those of the t test.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.errors import InputError, Problem
from humeval_power.inference.student_t import critical_value
from humeval_power.kernels.sequential import START, advance, probability_above
from humeval_power.roots import root_between
from humeval_power.studies.looks.boundaries import Boundaries, going_on

_FAR = 37.0  # standard errors within which an end of the interval is looked for


@dataclass(frozen=True, slots=True)
class LookEstimate:
    """What one look found: estimated effect, its standard error, and degrees of freedom (may be infinite)."""

    estimate: float
    standard_error: float
    df: float = math.inf

    @property
    def z(self) -> float:
        """The z with the tail probability of this t."""
        return _normal_score(self.estimate / self.standard_error, self.df)

    def p_value(self, *, two_sided: bool = True) -> float:
        """Unadjusted p of this look alone."""
        tail = float(special.ndtr(-abs(self.z) if two_sided else -self.z))
        return 2.0 * tail if two_sided else tail


@dataclass(frozen=True, slots=True)
class StagewiseResult:
    """Inference that takes the looks into account.

    `p_value` is two-sided if the rule is. `estimate` is median-unbiased: as likely too small as too large.
    `interval` has confidence `confidence` (1 - alpha; 1 - 2 alpha of a one-sided rule). `naive` is the
    unadjusted estimate, which is exaggerated on average after an early stop.
    """

    look: int
    p_value: float
    estimate: float
    interval: tuple[float, float]
    confidence: float
    naive: float


def stagewise_inference(looks: Sequence[LookEstimate], bounds: Boundaries) -> StagewiseResult:
    """Inference for a study that ended at the last of `looks`.

    Parameters
    ----------
    looks : the looks that were taken, in order; the study stopped at the last
    bounds : boundaries at these looks; later planned looks do no harm. Futility is ignored, as it must be
        where it does not bind: p is then a little too large.

    Raises
    ------
    InputError
        More looks than boundaries, or estimates that are not numbers.
    """
    problems = [
        Problem(
            rule="must have a finite estimate, a positive standard error and positive df.",
            remedy="",
            place=f"look {number}",
        )
        for number, look in enumerate(looks, start=1)
        if not (math.isfinite(look.estimate) and 0 < look.standard_error < math.inf and look.df > 0)
    ]
    if not 1 <= len(looks) <= bounds.n_looks:
        problems.append(
            Problem(rule=f"{len(looks)} looks do not fit boundaries for {bounds.n_looks}.", remedy="")
        )
    if problems:
        raise InputError(problems)
    above = probability_of_more(looks, bounds)
    tail = bounds.rule.side_level
    if bounds.two_sided:
        below = probability_of_more(
            [LookEstimate(-look.estimate, look.standard_error, look.df) for look in looks], bounds
        )
        p_value = min(1.0, 2.0 * min(above(0.0), below(0.0)))
    else:
        p_value = above(0.0)
    low, middle, high = (_where(above, share, looks[-1]) for share in (tail, 0.5, 1.0 - tail))
    return StagewiseResult(len(looks), p_value, middle, (low, high), 1.0 - 2.0 * tail, looks[-1].estimate)


def probability_of_more(looks: Sequence[LookEstimate], bounds: Boundaries) -> Callable[[float], float]:
    """The chance, for a given true effect, of a result at least as high as the one observed."""
    shares = bounds.shares
    tails = special.ndtr(-np.array(bounds.efficacy))
    critical = [
        critical_value(look.df, float(tail)) if tail > 0 else math.inf
        for look, tail in zip(looks, tails, strict=False)
    ]

    def at(effect: float) -> float:
        state, total = START, 0.0
        for k, look in enumerate(looks):
            shift = effect / look.standard_error
            if k + 1 == len(looks):
                value = _normal_score((look.estimate - effect) / look.standard_error, look.df)
                return total + probability_above(state, value, information=shares[k])
            upper = _normal_score(critical[k] - shift, look.df)
            lower = _normal_score(-critical[k] - shift, look.df) if bounds.two_sided else -math.inf
            total += probability_above(state, upper, information=shares[k])
            state = advance(state, [(lower, upper)], information=shares[k], following=shares[k + 1])
        raise AssertionError("there is at least one look")

    return at


def _where(above: Callable[[float], float], share: float, last: LookEstimate) -> float:
    """The effect at which a result as high as the observed one has the probability `share`."""
    reach = last.standard_error
    while reach < _FAR**4 * last.standard_error:
        low, high = last.estimate - reach, last.estimate + reach
        if above(low) < share < above(high):
            return root_between(lambda effect: above(effect) - share, low, high, xtol=1e-12)
        reach *= 2
    raise InputError("The interval after stopping has no end: the degrees of freedom are too few.")


def _normal_score(t: float, df: float) -> float:
    """The z whose tail probability is that of t on df degrees of freedom, from the nearer tail."""
    if math.isinf(df) or math.isinf(t):
        return t
    tail = float(special.stdtr(df, -abs(t)))
    return math.copysign(float(-special.ndtri(max(tail, 1e-300))), t)


# The median-unbiased correction of many studies at once, from a table over z-values.

Floats = NDArray[np.float64]

_SCORES = np.linspace(-8.0, 8.0, 129)
_DRIFTS = np.linspace(-12.0, 12.0, 97)
_MOST_KEPT = 64  # tables: the same boundaries are asked for at every effect


def median_unbiased(
    look: NDArray[np.int64], score: Floats, standard_error: Floats, estimate: Floats, *, bounds: Boundaries
) -> Floats:
    """Median-unbiased estimates in the stage-wise ordering, shape (n,).

    look : where each study stopped, from 0
    score : the z of its result there; standard_error, estimate : in the units of the effect

    The shift from the naive estimate is tabulated for z-values and scaled by the standard error: for few
    degrees of freedom it is an approximation of `stagewise_inference`, which solves each study for itself.
    """
    result = np.array(estimate, dtype=float)
    for k, table in enumerate(_drift_tables(bounds.shares, bounds.efficacy, bounds.two_sided), start=1):
        here = np.flatnonzero(look == k)
        share = np.sqrt(bounds.shares[k])
        at = np.clip(score[here], _SCORES[0], _SCORES[-1])
        shift = np.interp(at, _SCORES, table) - at / share
        result[here] += shift * share * standard_error[here]
    return result


@lru_cache(maxsize=_MOST_KEPT)
def _drift_tables(
    shares: tuple[float, ...], efficacy: tuple[float, ...], two_sided: bool
) -> tuple[Floats, ...]:
    """For each look but the first, the drift at which a result as high as each z of the table or higher has
    the probability 1/2; futility is ignored."""
    chances = np.empty((len(shares), len(_DRIFTS), len(_SCORES)))
    for row, drift in enumerate(_DRIFTS):
        state, earlier = START, 0.0
        for k, at in enumerate(shares):
            step = at - state.information
            reach = _SCORES[:, None] * np.sqrt(at) - state.nodes * np.sqrt(state.information) - drift * step
            chances[k, row] = earlier + special.ndtr(-reach / np.sqrt(step)) @ state.mass
            if k + 1 < len(shares):
                upper = efficacy[k]
                earlier += probability_above(state, upper, information=at, drift=drift)
                intervals = going_on(upper, -np.inf, two_sided=two_sided)
                following = shares[k + 1]
                state = advance(state, intervals, information=at, drift=drift, following=following)
    scores = special.ndtri(np.clip(chances, 1e-12, 1 - 1e-12))
    tables = []
    for rising in scores[1:]:
        ordered = np.maximum.accumulate(rising, axis=0)
        tables.append(
            np.array([np.interp(0.0, ordered[:, column], _DRIFTS) for column in range(len(_SCORES))])
        )
    return tuple(tables)


# Looks at a sign or McNemar test, exactly: the count for B among the decided judgements as a binomial
# walk.

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
    `estimate` is median-unbiased with half the chance of the observed result. Futility is ignored: p is then
    a little too large. Raises InputError: no look, or counts that cannot be.
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
    low = _where_of_decided_counts(lambda share: _less(_tails(looks, share), part, upper=True), alpha / 2)
    high = 1.0 - _where_of_decided_counts(
        lambda share: _less(_tails(looks, 1.0 - share), part, upper=False), alpha / 2
    )
    middle = _where_of_decided_counts(lambda share: _less(_tails(looks, share), _HALF, upper=True), _HALF)
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


def _where_of_decided_counts(rising: Callable[[float], float], target: float) -> float:
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

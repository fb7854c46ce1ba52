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

import numpy as np
from scipy import special

from humeval_power.errors import InputError, Problem
from humeval_power.inference.looks.boundaries import Boundaries
from humeval_power.inference.study.wald import critical_value
from humeval_power.kernels.sequential import START, advance, probability_above
from humeval_power.roots import root_between

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
        below = probability_of_more([_mirrored(look) for look in looks], bounds)
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


def _mirrored(look: LookEstimate) -> LookEstimate:
    return LookEstimate(-look.estimate, look.standard_error, look.df)


def _normal_score(t: float, df: float) -> float:
    """The z whose tail probability is that of t on df degrees of freedom, from the nearer tail."""
    if math.isinf(df) or math.isinf(t):
        return t
    tail = float(special.stdtr(df, -abs(t)))
    return math.copysign(float(-special.ndtri(max(tail, 1e-300))), t)

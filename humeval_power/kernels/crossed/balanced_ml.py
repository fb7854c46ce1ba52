"""Maximum likelihood of complete balanced designs: Fisher scoring on the five strata, and Newton steps at the end.

-2 log likelihood = sum_k df_k (log E_k + MS_k / E_k) + log(E0 + E2 - E4) + log(E1 + E3 - E4), with the
strata of kernels.balanced and every leaf E0..E3 at least E4. The last two terms are what REML leaves
out; they couple the strata, so there is no closed form. Where a step lowers the criterion by no more than rounding,
variances are good to the root of that alone; the last steps follow the slope, which has all digits.
"""

from __future__ import annotations

import numpy as np

from humeval_power.kernels.crossed.reml import newton_direction
from humeval_power.kernels.kernel import inner, kernel

_MAX_STEPS = 5000  # Fisher scoring is slow where a handful of ratings leaves the optimum flat

_MAX_POLISH = 30  # each step doubles the digits, or where the table hardly tells variances apart adds some
_ROUNDING = 1e-13  # of the criterion

_FLAT = 1e-6  # a criterion that no further step could lower by more is flat for every purpose


@inner
def _value(theta, squares, df):
    """The criterion at theta = (E0 - E4, ..., E3 - E4, E4)."""
    total = 0.0
    for k in range(5):
        expected = theta[4] + (theta[k] if k < 4 else 0.0)
        total += df[k] * (np.log(expected) + squares[k] / expected)
    return total + np.log(theta[4] + theta[0] + theta[2]) + np.log(theta[4] + theta[1] + theta[3])


@inner
def _derivatives(theta, squares, df, observed, slope, curvature):
    """Fill slope (5,) and curvature (5, 5) of the criterion: the expected one, or the one observed."""
    slope[:] = 0.0
    curvature[:] = 0.0
    for k in range(5):
        mean = theta[4] + (theta[k] if k < 4 else 0.0)
        first = df[k] * (1.0 - squares[k] / mean) / mean
        second = df[k] / mean**2
        if observed:
            second *= 2.0 * squares[k] / mean - 1.0
        slope[4] += first
        curvature[4, 4] += second
        if k < 4:
            slope[k] += first
            curvature[k, k] += second
            curvature[k, 4] += second
            curvature[4, k] += second
    for a in (0, 1):
        mean = theta[4] + theta[a] + theta[a + 2]
        for s in (a, a + 2, 4):
            slope[s] += 1.0 / mean
            for t in (a, a + 2, 4):
                curvature[s, t] += (-1.0 if observed else 1.0) / mean**2


@inner
def _force(theta, slope):
    """How far the slope is from that of an optimum, in the units of the criterion."""
    total = 0.0
    for k in range(5):
        if k == 4 or theta[k] > 0.0:
            total += (slope[k] * (theta[k] if k < 4 else theta[4])) ** 2
        elif slope[k] < 0.0:
            total += (slope[k] * theta[4]) ** 2
    return total


@inner
def polished(theta, squares, df):
    """The optimum near theta to the digits that the mean squares have: Newton steps by the slope alone, since the
    criterion is flat there. A step that leads away is not taken."""
    slope = np.empty(5)
    curvature = np.empty((5, 5))
    free = np.empty(5, dtype=np.bool_)
    value = _value(theta, squares, df)
    for _ in range(_MAX_POLISH):
        _derivatives(theta, squares, df, True, slope, curvature)
        force = _force(theta, slope)
        for k in range(5):
            free[k] = k == 4 or theta[k] > 0.0 or slope[k] < 0.0
        direction = newton_direction(curvature, slope, free)
        trial = theta + direction
        for k in range(4):
            trial[k] = max(trial[k], 0.0)
        if not trial[4] > 0.0:
            break
        trial_value = _value(trial, squares, df)
        if not trial_value <= value + _ROUNDING * (1.0 + abs(value)):
            break
        _derivatives(trial, squares, df, True, slope, curvature)
        if not _force(trial, slope) < force:
            break
        theta = trial
        value = min(value, trial_value)
    return theta


@kernel
def maximum_likelihood(squares, df, start):
    """Expected mean squares at the maximum, shape (replicates, 5), and steps taken (replicates,).

    squares : (replicates, 5); df : (5,); start : (replicates, 5), a feasible point such as REML's.
    A replicate that does not converge, or has no residual variance, has -1 steps.
    """
    n = len(squares)
    expected = np.empty((n, 5))
    steps = np.empty(n, dtype=np.int64)
    slope = np.empty(5)
    curvature = np.empty((5, 5))
    free = np.empty(5, dtype=np.bool_)
    for r in range(n):
        theta = np.empty(5)
        for k in range(4):
            theta[k] = start[r, k] - start[r, 4]
        theta[4] = start[r, 4]
        if theta[4] <= 0.0:
            expected[r] = np.nan
            steps[r] = -1
            continue
        value = _value(theta, squares[r], df)
        steps[r] = -1
        promise = 0.0
        for step in range(_MAX_STEPS):
            _derivatives(theta, squares[r], df, False, slope, curvature)
            for k in range(5):
                free[k] = k == 4 or theta[k] > 0.0 or slope[k] < 0.0
            direction = newton_direction(curvature, slope, free)
            promise = 0.0
            for k in range(5):
                moved = direction[k]
                if k < 4 and theta[k] + moved < 0.0:
                    moved = -theta[k]
                promise -= slope[k] * moved
            if abs(promise) < 1e-11:
                steps[r] = step
                break
            length = 1.0
            accepted = False
            for _ in range(40):
                trial = theta + length * direction
                for k in range(4):
                    trial[k] = max(trial[k], 0.0)
                if trial[4] > 0.0:
                    trial_value = _value(trial, squares[r], df)
                    fall = 0.0
                    for k in range(5):
                        fall += slope[k] * (theta[k] - trial[k])
                    if fall > 0.0 and value - trial_value >= 1e-4 * fall:
                        accepted = True
                        theta = trial
                        value = trial_value
                        break
                length *= 0.5
            if not accepted:
                break
        if steps[r] < 0 and abs(promise) < _FLAT:
            steps[r] = step
        if steps[r] >= 0:
            theta = polished(theta, squares[r], df)
        for k in range(4):
            expected[r, k] = theta[4] + theta[k]
        expected[r, 4] = theta[4]
    return expected, steps

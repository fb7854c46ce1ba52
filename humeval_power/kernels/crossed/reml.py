"""REML and ML of the crossed model: projected Newton steps with average information.

gamma >= 0 are variances relative to the residual's. A component at zero whose slope is positive stays
there (the Karush-Kuhn-Tucker condition); the others take a Newton step, projected on the bounds and
halved until the criterion falls. The Hessian is that of the average-information algorithm (Gilmour,
Thompson and Cullis 1995), here with sigma^2 profiled out.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humeval_power.kernels.crossed import likelihood
from humeval_power.kernels.crossed.likelihood import Gram, Response, factorise, gradient, profile, traces
from humeval_power.kernels.crossed.second_order import second_order
from humeval_power.kernels.kernel import inner, kernel
from humeval_power.kernels.small_matrices import spd_inverse

Floats = NDArray[np.float64]

CONVERGED, STALLED, TOO_MANY_STEPS, NO_RESIDUAL, RUNAWAY = 0, 1, 2, 3, 4
LARGEST = 1e9  # of gamma: the residual is gone long before, and the factors lose their digits beyond


class Optimum(NamedTuple):
    """Where the search ended: gamma, its factor and profile, the slope, traces and working products
    there, steps taken, and a status."""

    gamma: Floats
    factor: likelihood.Factor
    profile: likelihood.Profile
    slope: Floats
    trace: Floats
    quadratic: Floats
    square: Floats
    n_steps: int
    status: int


@inner
def newton_direction(hessian, slope, free):
    """Solve hessian d = -slope over the free components, with a small ridge."""
    q = len(slope)
    index = np.empty(q, dtype=np.int64)
    n_free = 0
    for t in range(q):
        if free[t]:
            index[n_free] = t
            n_free += 1
    direction = np.zeros(q)
    if n_free == 0:
        return direction
    scale = np.empty(n_free)
    for r in range(n_free):
        scale[r] = np.sqrt(max(hessian[index[r], index[r]], 1e-300))
    scaled = np.empty((n_free, n_free))
    for r in range(n_free):
        for c in range(n_free):
            scaled[r, c] = hessian[index[r], index[c]] / (scale[r] * scale[c])
    ridge = 1e-7  # components that the table cannot tell apart leave the Hessian singular
    for _ in range(12):
        trial = scaled.copy()
        for r in range(n_free):
            trial[r, r] += ridge
        inverse, _, ok = spd_inverse(trial)
        if ok:
            for r in range(n_free):
                value = 0.0
                for c in range(n_free):
                    value -= inverse[r, c] * slope[index[c]] / scale[c]
                direction[index[r]] = value / scale[r]
            return direction
        ridge *= 10.0
    for r in range(n_free):
        direction[index[r]] = -slope[index[r]] / scale[r] ** 2
    return direction


@inner
def optimise(gram, response, start, restricted, tolerance, max_steps):
    """Minimise the criterion from `start`; `tolerance` bounds the fall that a further step promises."""
    q = len(start)
    p = gram.xx.shape[0]
    df = gram.n - p if restricted else gram.n
    gamma = start.copy()
    factor = factorise(gram, gamma)
    prof = profile(gram, response, factor, restricted)
    slope, trace = np.zeros(q), np.zeros(q)
    quadratic, square = np.zeros((q, q)), np.zeros(q)
    status = TOO_MANY_STEPS
    if not prof.ok:
        return Optimum(gamma, factor, prof, slope, trace, quadratic, square, 0, NO_RESIDUAL)
    step = 0
    while step < max_steps:
        step += 1
        trace = traces(gram, factor, gamma)
        slope = gradient(gram, prof, trace, restricted)
        free = np.empty(q, dtype=np.bool_)
        for t in range(q):
            free[t] = gamma[t] > 0.0 or slope[t] < 0.0
        sigma2 = prof.rss / df
        quadratic, square = likelihood.working_products(gram, factor, prof, q)
        hessian = np.empty((q, q))
        for s in range(q):
            for t in range(q):
                hessian[s, t] = quadratic[s, t] / sigma2 - square[s] * square[t] / (sigma2**2 * df)
        direction = newton_direction(hessian, slope, free)
        promise = 0.0
        for t in range(q):
            # a component pressed against its bound promises no fall
            if gamma[t] + direction[t] < 0.0:
                promise += slope[t] * gamma[t]
            else:
                promise -= slope[t] * direction[t]
        if abs(promise) < tolerance:
            status = CONVERGED
            break
        length = 1.0
        accepted = False
        for _ in range(40):
            trial = np.empty(q)
            expected_fall = 0.0
            for t in range(q):
                value = gamma[t] + length * direction[t]
                if value > 100.0 * gamma[t] + 10.0:
                    value = 100.0 * gamma[t] + 10.0
                value = min(value, max(LARGEST, gamma[t]))
                trial[t] = max(value, 0.0)
                expected_fall += slope[t] * (gamma[t] - trial[t])
            trial_factor = factorise(gram, trial)
            trial_profile = profile(gram, response, trial_factor, restricted)
            fall = prof.criterion - trial_profile.criterion
            if trial_profile.ok and fall >= 1e-4 * expected_fall and expected_fall > 0.0:
                accepted = True
                gamma, factor, prof = trial, trial_factor, trial_profile
                break
            length *= 0.5 if length > 1e-3 else 0.1
        if not accepted:
            # rounding hides a fall below about 1e-12 of the criterion
            status = CONVERGED if abs(promise) < 1e-7 * max(1.0, 1e-3 * gram.n) else STALLED
            break
    return Optimum(gamma, factor, prof, slope, trace, quadratic, square, step, status)


@kernel
def fit_many(
    gram,
    products,
    start,
    restricted,
    tolerance,
    max_steps,
    status,
    criterion,
    beta,
    gamma,
    phi,
    rss,
    trace,
    quadratic,
    square,
    norm,
    xgx,
    xggx,
):
    """Fit one design to many responses: `products` are the fields of Response, each with the replicate
    as first axis.

    Fills status (n,), criterion (n,), beta (n, p) and the fields of `information.Fitted`; they are NaN
    where there is no residual. Each replicate depends on its own response and on `start` alone, so the
    result does not depend on how replicates are shared out.
    """
    inner_y, outer_y, xy, yy, outer_base, base_xy, base_yy = products
    q, p = len(start), beta.shape[1]
    for r in range(len(yy)):
        response = Response(inner_y[r], outer_y[r], xy[r], yy[r], outer_base[r], base_xy[r], base_yy[r])
        best = optimise(gram, response, start, restricted, tolerance, max_steps)
        status[r] = best.status
        for t in range(q):
            gamma[r, t] = best.gamma[t]
        if best.status == NO_RESIDUAL:
            criterion[r] = rss[r] = np.nan
            for j in range(p):
                beta[r, j] = np.nan
            continue
        prof = best.profile
        criterion[r], rss[r] = prof.criterion, prof.rss
        for j in range(p):
            beta[r, j] = prof.beta[j]
            for k in range(p):
                phi[r, j, k] = prof.phi[j, k]
        for t in range(q):
            trace[r, t] = best.trace[t]
            square[r, t] = best.square[t]
            for s in range(q):
                quadratic[r, s, t] = best.quadratic[s, t]
        second_order(gram, best.factor, prof, norm[r], xgx[r], xggx[r])


__all__ = [
    "CONVERGED",
    "LARGEST",
    "NO_RESIDUAL",
    "RUNAWAY",
    "STALLED",
    "Gram",
    "Optimum",
    "fit_many",
    "optimise",
]

"""Information about the variances of the crossed model, and what a contrast's test takes from it.

Frobenius norms of the blocks of T = Z'H^-1Z, the information of Kenward and Roger (1997), their adjusted
standard error and degrees of freedom, and Satterthwaite's as lmerTest has them. Notation as in `crossed`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from humeval_power.kernels.crossed import (
    Floats,
    Response,
    dot_type,
    factorise,
    only_type,
    profile,
    times_t,
    traces,
)
from humeval_power.kernels.small_matrices import pseudo_inverse, spd_inverse


@njit(cache=True, nogil=True)
def frobenius(gram, factor):
    """||Z_s'H^-1Z_t||_F^2 for all pairs of column types, shape (q, q); only outer-sized matrices."""
    qa, qb = len(gram.outer_types), len(gram.inner_types)
    order = factor.k.shape[0]
    n_inner = len(gram.start) - 1
    norm = np.zeros((qa + qb, qa + qb))
    bk = factor.outer_block @ factor.k
    t_outer = factor.outer_block - bk @ factor.outer_block
    for r in range(order):
        for c in range(order):
            norm[r % qa, c % qa] += t_outer[r, c] * t_outer[r, c]
    j_matrix = -bk
    for r in range(order):
        j_matrix[r, r] += 1.0
    for a in range(qa):
        rows = np.ascontiguousarray(j_matrix[a::qa])
        square = rows.T @ rows
        fit = np.zeros((qb, qb))
        for i in range(n_inner):
            if not gram.coupled:
                norm[a, qa + a] += _quadratic_form_of_type(gram, factor.cross, square, i, a)
                continue
            _quadratic_form(gram, factor.cross, square, i, fit)
            for b in range(qb):
                norm[a, qa + b] += fit[b, b]
        for b in range(qb):
            norm[qa + b, a] = norm[a, qa + b]
    products = np.zeros((qb, order, order))
    for b in range(qb):
        products[b] = factor.k @ _outer_products(gram, factor.cross, b)
    for b in range(qb):
        for c in range(b + 1):
            if b != c and not gram.coupled:
                continue
            value = 0.0
            for r in range(order):
                for s in range(order):
                    value += products[c, r, s] * products[b, s, r]
            norm[qa + b, qa + c] = value
            norm[qa + c, qa + b] = value
    fit = np.empty((qb, qb))
    for i in range(n_inner):
        _quadratic_form(gram, factor.cross, factor.k, i, fit)
        for b in range(qb):
            for c in range(qb):
                diagonal = factor.inner_block[i, b, c]
                norm[qa + b, qa + c] += diagonal * (diagonal - 2.0 * fit[b, c])
    return norm


@njit(cache=True, nogil=True)
def _outer_products(gram, cross, b):
    """sum_i c_i c_i', c_i the outer vector of column `b` of inner level i."""
    qa = len(gram.outer_types)
    order = gram.outer_block.shape[0] * qa
    sums = np.zeros((order, order))
    for i in range(len(gram.start) - 1):
        for pair in range(gram.start[i], gram.start[i + 1]):
            row = gram.outer[pair] * qa
            for other in range(gram.start[i], pair + 1):
                column = gram.outer[other] * qa
                if not gram.coupled:
                    sums[row + b, column + b] += cross[pair, b, b] * cross[other, b, b]
                    continue
                for a in range(qa):
                    left = cross[pair, a, b]
                    for c in range(qa):
                        sums[row + a, column + c] += left * cross[other, c, b]
    for r in range(order):
        for c in range(r):
            sums[c, r] = sums[r, c]
    return sums


@njit(cache=True, nogil=True)
def _quadratic_form_of_type(gram, cross, matrix, i, b):
    """The diagonal element b of C_i'M C_i where column types do not meet, M symmetric."""
    qa = len(gram.outer_types)
    total = 0.0
    for pair in range(gram.start[i], gram.start[i + 1]):
        row = gram.outer[pair] * qa + b
        value = 0.5 * matrix[row, row] * cross[pair, b, b]
        for other in range(gram.start[i], pair):
            value += matrix[row, gram.outer[other] * qa + b] * cross[other, b, b]
        total += 2.0 * cross[pair, b, b] * value
    return total


@njit(cache=True, nogil=True)
def _quadratic_form(gram, cross, matrix, i, out):
    """C_i'M C_i of inner level i into `out` (qb, qb), M symmetric."""
    qa, qb = len(gram.outer_types), len(gram.inner_types)
    out[:] = 0.0
    if not gram.coupled:
        for b in range(qb):
            out[b, b] = _quadratic_form_of_type(gram, cross, matrix, i, b)
        return
    for pair in range(gram.start[i], gram.start[i + 1]):
        row = gram.outer[pair] * qa
        for c in range(qb):
            for a in range(qa):
                value = 0.0
                for other in range(gram.start[i], gram.start[i + 1]):
                    column = gram.outer[other] * qa
                    for d in range(qa):
                        value += matrix[row + a, column + d] * cross[other, d, c]
                for b in range(qb):
                    out[b, c] += cross[pair, a, b] * value


class Information(NamedTuple):
    """Second-order quantities in units of H, residual last (index q), for p coefficients.

    gg : (q + 1, q + 1), tr(H^-1G_sH^-1G_t)
    xgx : (q + 1, p, p), X'H^-1G_tH^-1X; xggx : (q + 1, q + 1, p, p), X'H^-1G_sH^-1G_tH^-1X
    """

    gg: Floats
    xgx: Floats
    xggx: Floats


@njit(cache=True, nogil=True)
def information(gram, factor, gamma, trace, inner_hx, outer_hx, xhx):
    """Traces and crossproducts of Kenward and Roger (1997) for every pair of variance parameters.

    The residual's follow from H^-1 = H^-2 + sum_t gamma_t H^-1G_tH^-1, so that nothing but T is needed.
    """
    q = len(gamma)
    qa = len(gram.outer_types)
    p = xhx.shape[0]
    gg = np.empty((q + 1, q + 1))
    gg[:q, :q] = frobenius(gram, factor)
    trace_h = float(gram.n)
    for t in range(q):
        trace_h -= gamma[t] * trace[t]
        value = trace[t]
        for s in range(q):
            value -= gamma[s] * gg[t, s]
        gg[t, q] = value
        gg[q, t] = value
    gg[q, q] = trace_h
    for t in range(q):
        gg[q, q] -= gamma[t] * gg[t, q]
    xgx = np.zeros((q + 1, p, p))
    xggx = np.zeros((q + 1, q + 1, p, p))
    for j in range(p):
        for k in range(p):
            for t in range(q):
                xgx[t, j, k] = dot_type(t, qa, inner_hx[j], outer_hx[j], inner_hx[k], outer_hx[k])
    xgx[q] = xhx
    for t in range(q):
        xgx[q] -= gamma[t] * xgx[t]
    for k in range(p):
        for t in range(q):
            if xgx[t, k, k] == 0.0:  # this column of X has no part in the type: |Z_t'H^-1x|^2 is zero
                continue
            inner_v, outer_v = only_type(t, qa, inner_hx[k], outer_hx[k])
            inner_t, outer_t = times_t(gram, factor, inner_v, outer_v)
            for s in range(q):
                for j in range(p):
                    xggx[s, t, j, k] = dot_type(s, qa, inner_hx[j], outer_hx[j], inner_t, outer_t)
    for s in range(q):
        value = xgx[s].copy()
        for t in range(q):
            value -= gamma[t] * xggx[s, t]
        xggx[s, q] = value
        xggx[q, s] = value.T
    xggx[q, q] = xgx[q]
    for s in range(q):
        xggx[q, q] -= gamma[s] * xggx[s, q]
    return Information(gg, xgx, xggx)


@njit(cache=True, nogil=True)
def _phi_times(phi, xgx):
    """Phi X'H^-1G_tH^-1X for every t, shape (q + 1, p, p); plain loops, for p is small."""
    q1, p = xgx.shape[0], phi.shape[0]
    product = np.zeros((q1, p, p))
    for t in range(q1):
        for j in range(p):
            for k in range(p):
                for inner in range(p):
                    product[t, j, k] += phi[j, inner] * xgx[t, inner, k]
    return product


@njit(cache=True, nogil=True)
def expected_information(info, phi, sigma2, restricted):
    """Expected information of theta = (gamma sigma^2, sigma^2): Kenward and Roger (1997), REML;
    without the terms of the fixed effects for ML. Shape (q + 1, q + 1)."""
    q1, p = info.gg.shape[0], phi.shape[0]
    expected = info.gg.copy()
    if restricted:
        across = _phi_times(phi, info.xgx)
        for s in range(q1):
            for t in range(s + 1):
                value = 0.0
                for j in range(p):
                    for k in range(p):
                        value += across[s, j, k] * across[t, k, j] - 2.0 * phi[j, k] * info.xggx[s, t, k, j]
                expected[s, t] += value
                expected[t, s] = expected[s, t]
    return 0.5 * expected / sigma2**2


class Precision(NamedTuple):
    """Standard error of the contrast, Kenward and Roger's adjusted one, and the two df."""

    standard_error: float
    standard_error_adjusted: float
    df_satterthwaite: float
    df_kenward_roger: float


@njit(cache=True, nogil=True)
def contrast_variance_slopes(info, phi, contrast):
    """d Var(l'b) / d theta_t = l'Phi X'V^-1G_tV^-1X Phi l, shape (q + 1,), free of sigma^2."""
    q1 = info.gg.shape[0]
    half = phi @ contrast
    slopes = np.empty(q1)
    for t in range(q1):
        slopes[t] = half @ (info.xgx[t] @ half)
    return slopes


@njit(cache=True, nogil=True)
def kenward_roger(info, phi, sigma2, contrast, expected):
    """Adjusted standard error and df of one contrast (Kenward and Roger 1997): the df is
    Satterthwaite's with the expected information, all components kept."""
    q1 = info.gg.shape[0]
    w = pseudo_inverse(expected)
    variance = sigma2 * (contrast @ (phi @ contrast))
    slopes = contrast_variance_slopes(info, phi, contrast)
    spread = slopes @ (w @ slopes)
    half = phi @ contrast
    p = len(half)
    across = _phi_times(phi, info.xgx)
    correction = 0.0
    for s in range(q1):
        for t in range(q1):
            value = 0.0
            for j in range(p):
                for k in range(p):
                    term = info.xggx[s, t, j, k]
                    for inner in range(p):
                        term -= info.xgx[s, j, inner] * across[t, inner, k]
                    value += half[j] * term * half[k]
            correction += w[s, t] * value
    adjusted = variance + 2.0 * correction / sigma2
    df = 2.0 * variance**2 / spread if spread > 0.0 else np.inf
    return np.sqrt(adjusted) if adjusted > 0.0 else np.nan, df


@njit(cache=True, nogil=True)
def satterthwaite(info, prof, quadratic, square, gamma, contrast, sigma2, expected):
    """df from the observed information of the components that are not at zero, as lmerTest."""
    q = len(gamma)
    observed = np.empty((q + 1, q + 1))
    observed[:q, :q] = quadratic
    residual_square = prof.rss
    for t in range(q):
        residual_square -= gamma[t] * square[t]
        value = square[t]
        for s in range(q):
            value -= gamma[s] * quadratic[t, s]
        observed[t, q] = value
        observed[q, t] = value
    observed[q, q] = residual_square
    for t in range(q):
        observed[q, q] -= gamma[t] * observed[t, q]
    observed = observed / sigma2**3 - expected  # twice the average information less the expected
    slopes = contrast_variance_slopes(info, prof.phi, contrast)
    free = np.empty(q + 1, dtype=np.int64)
    n_free = 0
    for t in range(q + 1):
        if t == q or gamma[t] > 0.0:
            free[n_free] = t
            n_free += 1
    part = np.empty((n_free, n_free))
    slope = np.empty(n_free)
    for r in range(n_free):
        slope[r] = slopes[free[r]]
        for c in range(n_free):
            part[r, c] = observed[free[r], free[c]]
    variance = sigma2 * (contrast @ (prof.phi @ contrast))
    spread = slope @ (pseudo_inverse(part) @ slope)
    return 2.0 * variance**2 / spread if spread > 0.0 else np.inf


@njit(cache=True, nogil=True)
def precision(gram, factor, prof, gamma, trace, quadratic, square, contrast, restricted):
    """Standard errors and degrees of freedom of one contrast at a fitted gamma, from its traces and
    working products."""
    sigma2 = prof.rss / (gram.n - len(prof.beta) if restricted else gram.n)
    xhx, _, _ = spd_inverse(prof.phi)
    info = information(gram, factor, gamma, trace, prof.inner_hx, prof.outer_hx, xhx)
    expected = expected_information(info, prof.phi, sigma2, restricted)
    df_satterthwaite = satterthwaite(info, prof, quadratic, square, gamma, contrast, sigma2, expected)
    adjusted, df_kr = kenward_roger(info, prof.phi, sigma2, contrast, expected)
    standard_error = np.sqrt(sigma2 * (contrast @ (prof.phi @ contrast)))
    if not restricted:
        adjusted, df_kr = np.nan, np.nan
    return Precision(standard_error, adjusted, df_satterthwaite, df_kr)


@njit(cache=True, nogil=True)
def examine(gram, response, gamma, restricted):
    """Profile, log |H| and information at one gamma."""
    factor = factorise(gram, gamma)
    prof = profile(gram, response, factor, restricted)
    xhx, _, _ = spd_inverse(prof.phi)
    trace = traces(gram, factor, gamma)
    info = information(gram, factor, gamma, trace, prof.inner_hx, prof.outer_hx, xhx)
    return prof, factor.log_det, info


@njit(cache=True, nogil=True)
def design_information(gram, gamma):
    """Information at assumed variances, without a response: (Information, Phi) in units of H."""
    p = gram.xx.shape[0]
    inner, outer = gram.inner_block.shape[:2], gram.outer_block.shape[:2]
    order = outer[0] * outer[1]
    response = Response(
        np.zeros(inner), np.zeros(outer), np.zeros(p), 1.0, np.zeros(order), np.zeros(p), 1.0
    )
    prof, _, info = examine(gram, response, gamma, True)
    return info, prof.phi

"""Inverses of the small dense matrices that the crossed kernel meets, compiled."""

from __future__ import annotations

import numpy as np

from humeval_power.kernels.kernel import inner

_SMALL = 40  # below this order plain loops beat LAPACK's call overhead


@inner
def small_inverse(a, gamma, begin, work, out):
    """(I + a diag(gamma[begin:]))^-1 by elimination without pivoting; returns its determinant.

    The matrix is a diagonal scaling away from a symmetric positive definite one, so all pivots are
    at least 1 and no pivoting is needed. work : (q, 2 q), overwritten.
    """
    q = a.shape[0]
    if q == 1:
        out[0, 0] = 1.0 / (1.0 + a[0, 0] * gamma[begin])
        return 1.0 + a[0, 0] * gamma[begin]
    if q == 2:
        first, second = 1.0 + a[0, 0] * gamma[begin], 1.0 + a[1, 1] * gamma[begin + 1]
        det = first * (second - a[0, 1] * gamma[begin + 1] * a[1, 0] * gamma[begin] / first)
        out[0, 0] = second / det
        out[0, 1] = -a[0, 1] * gamma[begin + 1] / det
        out[1, 0] = -a[1, 0] * gamma[begin] / det
        out[1, 1] = first / det
        return det
    for r in range(q):
        for c in range(q):
            work[r, c] = a[r, c] * gamma[begin + c]
            work[r, q + c] = 0.0
        work[r, r] += 1.0
        work[r, q + r] = 1.0
    det = 1.0
    for r in range(q):
        pivot = work[r, r]
        det *= pivot
        for c in range(2 * q):
            work[r, c] /= pivot
        for s in range(q):
            if s != r:
                factor = work[s, r]
                for c in range(2 * q):
                    work[s, c] -= factor * work[r, c]
    for r in range(q):
        for c in range(q):
            out[r, c] = work[r, q + c]
    return det


@inner
def spd_inverse(s):
    """Inverse and log determinant of a symmetric positive definite matrix; ok is False if it is not."""
    n = s.shape[0]
    if n > _SMALL:
        lower = np.linalg.cholesky(s)
        log_det = 0.0
        for r in range(n):
            log_det += 2.0 * np.log(lower[r, r])
        inverted = np.linalg.inv(s)  # in columns; the callers want rows
        inverse = np.empty((n, n))
        for r in range(n):
            for c in range(n):
                inverse[r, c] = inverted[r, c]
        return inverse, log_det, np.isfinite(log_det)
    lower = np.empty((n, n))
    for r in range(n):
        for c in range(n):
            lower[r, c] = s[r, c]
    log_det = 0.0
    for c in range(n):
        for k in range(c):
            lower[c, c] -= lower[c, k] * lower[c, k]
        if not lower[c, c] > 0.0:
            return lower, 0.0, False
        lower[c, c] = np.sqrt(lower[c, c])
        log_det += 2.0 * np.log(lower[c, c])
        for r in range(c + 1, n):
            value = lower[r, c]
            for k in range(c):
                value -= lower[r, k] * lower[c, k]
            lower[r, c] = value / lower[c, c]
    # inverse of the lower triangle in place, then L^-T L^-1
    for c in range(n):
        lower[c, c] = 1.0 / lower[c, c]
        for r in range(c + 1, n):
            value = 0.0
            for k in range(c, r):
                value -= lower[r, k] * lower[k, c]
            lower[r, c] = value / lower[r, r]
    inverse = np.empty((n, n))
    for r in range(n):
        for c in range(r + 1):
            value = 0.0
            for k in range(r, n):
                value += lower[k, r] * lower[k, c]
            inverse[r, c] = value
            inverse[c, r] = value
    return inverse, log_det, True


@inner
def inverse_by_type(s, qa):
    """The same for a matrix in which column types (index modulo `qa`) do not meet."""
    n = s.shape[0]
    n_levels = n // qa
    inverse = np.zeros((n, n))
    part = np.empty((n_levels, n_levels))
    total = 0.0
    for a in range(qa):
        for r in range(n_levels):
            for c in range(n_levels):
                part[r, c] = s[r * qa + a, c * qa + a]
        block, log_det, ok = spd_inverse(part)
        if not ok:
            return inverse, 0.0, False
        total += log_det
        for r in range(n_levels):
            for c in range(n_levels):
                inverse[r * qa + a, c * qa + a] = block[r, c]
    return inverse, total, True

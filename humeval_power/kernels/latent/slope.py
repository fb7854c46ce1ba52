"""The Laplace criterion R = -2 h + log|H| and its exact gradient in the variances.

With the mode moving with s, the gradient of log|H| takes the third derivatives of log P and one more solve
with H (implicit function theorem). R is even in s, so it is differentiated in s^2, where its slope at zero
decides whether a component is there at all.
"""

from __future__ import annotations

import numpy as np

from humeval_power.kernels.kernel import inner, kernel
from humeval_power.kernels.latent.cells import curvature, third
from humeval_power.kernels.latent.mode import dense_columns, predictor, solve, touched


@inner
def leverage_pulls(layout, cuts, scale, y, logit, factor, pull, rhs_dense, rhs_inner, unexplained):
    """The gradient of log|H| in each rating's two bounds, `pull` (n, 2), and in (dense, inner) itself; for each
    column type, the sum of 1 - (H^-1)_kk over its columns. All are zero on entry."""
    q, p = layout.z.shape[1], layout.fixed.shape[1]
    n_dense = layout.block.shape[1]
    order = q * len(layout.kind)
    m = len(factor.inverse)
    first_beta = m - p
    n_columns = n_dense * q + p
    column, local, weight = (
        np.empty(n_columns, np.int64),
        np.empty(n_columns, np.int64),
        np.empty(n_columns),
    )
    zi = np.empty(q)
    index = np.empty(m, np.int64)
    across, own = np.empty((q, m)), np.empty((q, q))
    n_cuts = len(cuts.theta)
    inverse = factor.inverse
    for k in range(len(layout.kind)):
        for b in range(q):
            unexplained[layout.kind[k] * q + b] += 1.0 - inverse[k * q + b, k * q + b]
    for i in range(len(layout.start) - 1):
        count, begin = touched(layout, i, m, index)
        first_theta = count - p - cuts.n_theta
        for b in range(q):
            for r in range(count):
                across[b, r] = 0.0
            for c in range(count):
                ratio = factor.ratio[begin + c, b]
                if count == m:  # all columns in their order
                    for r in range(m):
                        across[b, r] += ratio * inverse[c, r]
                else:
                    for r in range(count):
                        across[b, r] += ratio * inverse[index[c], index[r]]
        for b in range(q):
            for c in range(q):
                own[b, c] = factor.block_inverse[i, b, c]
                for r in range(count):
                    own[b, c] += factor.ratio[begin + r, b] * across[c, r]
            unexplained[n_dense * q + b] += 1.0 - own[b, b]
        for n in range(layout.start[i], layout.start[i + 1]):
            filled = dense_columns(layout, scale, n, first_beta, count, column, local, weight)
            c_ee = 0.0
            for b in range(q):
                zi[b] = scale[n_dense * q + b] * layout.z[n, b]
                for c in range(b):
                    c_ee += 2.0 * zi[b] * own[b, c] * zi[c]
                c_ee += zi[b] * own[b, b] * zi[b]
            for r in range(filled):
                value = 0.5 * inverse[column[r], column[r]] * weight[r]
                for c in range(r):
                    value += inverse[column[r], column[c]] * weight[c]
                for b in range(q):
                    value -= zi[b] * across[b, local[r]]
                c_ee += 2.0 * weight[r] * value
            k = y[n]
            c_uu, c_ul, c_ll = c_ee, c_ee, c_ee
            upper = cuts.theta[k] if k < n_cuts else -1
            lower = cuts.theta[k - 1] if k > 0 else -1
            if upper >= 0:
                sign = cuts.sign[k]
                both = with_threshold(
                    inverse, across, column, weight, zi, filled, order, first_theta, upper
                )
                c_uu += inverse[order + upper, order + upper] - 2.0 * sign * both
                c_ul -= sign * both
            if lower >= 0:
                sign = cuts.sign[k - 1]
                both = with_threshold(
                    inverse, across, column, weight, zi, filled, order, first_theta, lower
                )
                c_ll += inverse[order + lower, order + lower] - 2.0 * sign * both
                c_ul -= sign * both
                if upper >= 0:
                    c_ul += sign * cuts.sign[k] * inverse[order + upper, order + lower]
            at_u, at_l, cu, cl = (
                factor.cells[n, 0],
                factor.cells[n, 1],
                factor.cells[n, 2],
                factor.cells[n, 3],
            )
            uuu, uul, ull, lll = third(at_u, at_l, cu, cl, logit)
            pull_u = -(c_uu * uuu + 2.0 * c_ul * uul + c_ll * ull)
            pull_l = -(c_uu * uul + 2.0 * c_ul * ull + c_ll * lll)
            pull[n, 0], pull[n, 1] = pull_u, pull_l
            if upper >= 0:
                rhs_dense[order + upper] += cuts.sign[k] * pull_u
            if lower >= 0:
                rhs_dense[order + lower] += cuts.sign[k - 1] * pull_l
            for r in range(filled):
                rhs_dense[column[r]] -= weight[r] * (pull_u + pull_l)
            for b in range(q):
                rhs_inner[i, b] -= zi[b] * (pull_u + pull_l)


@inner
def with_threshold(inverse, across, column, weight, zi, filled, order, first_theta, t):
    """The covariance of the linear predictor with one theta."""
    value = 0.0
    for r in range(filled):
        value += weight[r] * inverse[column[r], order + t]
    for b in range(len(zi)):
        value -= zi[b] * across[b, first_theta + t]
    return value


@kernel
def slopes(
    layout, cuts, scale, y, logit, factor, likelihood, likelihood_inner, rhs_dense, rhs_inner, gradient
):
    """Fill the gradient of the criterion: in the variances (types,), then in theta and beta held fixed, which
    is of use only where they are no part of H. Fill `rhs_dense` and `rhs_inner`, zero on entry, with the
    gradient of log|H| in (dense, inner).

    likelihood, likelihood_inner : gradient of sum log P in (dense, inner)
    """
    q, p = layout.z.shape[1], layout.fixed.shape[1]
    n_dense = layout.block.shape[1]
    order = q * len(layout.kind)
    m = len(factor.inverse)
    levels = len(layout.start) - 1
    types = (n_dense + 1) * q
    pull, total = np.empty((len(y), 2)), np.zeros(types)
    adjoint_dense, adjoint_inner = np.empty(m), np.empty((levels, q))
    leverage_pulls(layout, cuts, scale, y, logit, factor, pull, rhs_dense, rhs_inner, total)
    solve(layout, factor, rhs_dense, rhs_inner, adjoint_dense, adjoint_inner)
    for t in range(types):
        gradient[t] = total[t] / scale[t] ** 2
    for r in range(m - order):
        gradient[types + r] = -2.0 * likelihood[order + r]
    # m_a = Z_a'l', and the same sums of the ratings' total pulls
    n_cuts = len(cuts.theta)
    sums = np.zeros(order)
    for i in range(levels):
        own = np.zeros(q)
        for n in range(layout.start[i], layout.start[i + 1]):
            k = y[n]
            eta = predictor(layout, scale, adjoint_dense, adjoint_inner, i, n, m - p)
            upper = cuts.theta[k] if k < n_cuts else -1
            lower = cuts.theta[k - 1] if k > 0 else -1
            du = -eta + (cuts.sign[k] * adjoint_dense[order + upper] if upper >= 0 else 0.0)
            dl = -eta + (cuts.sign[k - 1] * adjoint_dense[order + lower] if lower >= 0 else 0.0)
            w_uu, w_ul, w_ll = curvature(
                factor.cells[n, 0], factor.cells[n, 1], factor.cells[n, 2], factor.cells[n, 3]
            )
            net_u = pull[n, 0] - w_uu * du - w_ul * dl
            net_l = pull[n, 1] - w_ul * du - w_ll * dl
            if upper >= 0:
                gradient[types + upper] += cuts.sign[k] * net_u
            if lower >= 0:
                gradient[types + lower] += cuts.sign[k - 1] * net_l
            net = -(net_u + net_l)
            for j in range(p):
                gradient[types + cuts.n_theta + j] += layout.fixed[n, j] * net
            for b in range(q):
                own[b] += layout.z[n, b] * net
                for f in range(n_dense):
                    sums[layout.block[n, f] * q + b] += layout.z[n, b] * net
        for b in range(q):
            t = n_dense * q + b
            mode = likelihood_inner[i, b] / scale[t]
            gradient[t] += mode * (0.5 * own[b] + 0.5 * adjoint_inner[i, b] / scale[t] - mode)
    for k in range(len(layout.kind)):
        for b in range(q):
            t = layout.kind[k] * q + b
            row = k * q + b
            mode = likelihood[row] / scale[t]
            gradient[t] += mode * (0.5 * sums[row] + 0.5 * adjoint_dense[row] / scale[t] - mode)

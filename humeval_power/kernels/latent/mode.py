"""The joint mode of thresholds, fixed effects and random effects at given standard deviations.

Random effects are u = s v with standard normal v, so that a standard deviation of zero needs no case of its
own. b = (theta, beta): thresholds tau_k = sign_k theta_{index_k}, and the fixed effects. What is maximised is
h = sum log P - v'v/2, concave for both links. H = -h'' has 2 x 2 blocks for the levels of the inner factor,
which are eliminated one by one, and a dense part: levels of the other factors, theta, beta.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humeval_power.kernels.kernel import inner, kernel
from humeval_power.kernels.latent.cells import cell, curvature

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


class LatentLayout(NamedTuple):
    """A design, its ratings sorted by the inner factor. q columns belong to each level of every factor.

    start : (levels of the inner factor + 1,), its ratings
    block, place : (n, dense factors), level of each dense factor (counted on through the factors), and its
        position in the list of levels that the rating's inner level meets
    list_start, listed : those lists, ascending
    kind : (blocks,), which dense factor a block belongs to
    z, fixed : (n, q), (n, p) columns of the random and of the fixed effects
    """

    start: Codes
    block: Codes
    place: Codes
    list_start: Codes
    listed: Codes
    kind: Codes
    z: Floats
    fixed: Floats


class Cuts(NamedTuple):
    """Which theta each threshold is, with which sign; index -1 is a threshold fixed at zero."""

    theta: Codes
    sign: Floats
    n_theta: int


class LatentFactor(NamedTuple):
    """H at one point, and the ratings' derivatives there. The dense columns are blocks, theta, beta.

    cells : (n, 4), a, b and f'/f at both bounds of each rating, as in `latent_cells`
    ratio : (entries, q), rows of E D^-1, E the cross blocks of the inner levels
    block_inverse : (levels, q, q), D^-1
    inverse : (m, m), of the dense part with the inner factor eliminated
    """

    cells: Floats
    ratio: Floats
    block_inverse: Floats
    inverse: Floats


@inner
def touched(layout, i, m, out):
    """The dense columns that inner level `i` meets, ascending, into `out`; returns their number and where
    the level's rows begin in `cross`."""
    q = layout.z.shape[1]
    order = q * len(layout.kind)
    count = 0
    for k in range(layout.list_start[i], layout.list_start[i + 1]):
        for b in range(q):
            out[count] = layout.listed[k] * q + b
            count += 1
    for c in range(order, m):
        out[count] = c
        count += 1
    return count, q * layout.list_start[i] + i * (m - order)


@inner
def predictor(layout, scale, dense, inner_v, i, n, first_beta):
    """The linear predictor of rating `n` of inner level `i` for a vector (dense, inner)."""
    q = layout.z.shape[1]
    n_dense = layout.block.shape[1]
    eta = 0.0
    for b in range(q):
        value = scale[n_dense * q + b] * inner_v[i, b]
        for f in range(n_dense):
            value += scale[f * q + b] * dense[layout.block[n, f] * q + b]
        eta += layout.z[n, b] * value
    for j in range(layout.fixed.shape[1]):
        eta += layout.fixed[n, j] * dense[first_beta + j]
    return eta


@inner
def dense_columns(layout, scale, n, first_beta, count, column, local, weight):
    """The dense columns that rating n has, thresholds apart: their places among all, among the `count` of its
    inner level, and their values. Returns how many there are."""
    q, p = layout.z.shape[1], layout.fixed.shape[1]
    filled = 0
    for f in range(layout.block.shape[1]):
        for b in range(q):
            column[filled] = layout.block[n, f] * q + b
            local[filled] = layout.place[n, f] * q + b
            weight[filled] = scale[f * q + b] * layout.z[n, b]
            filled += 1
    for j in range(p):
        column[filled], local[filled] = first_beta + j, count - p + j
        weight[filled] = layout.fixed[n, j]
        filled += 1
    return filled


@inner
def add_cross(row, values, weight, out):
    """out[row] += weight values."""
    for b in range(len(values)):
        out[row, b] += weight * values[b]


@kernel
def assemble(layout, cuts, tau, scale, dense, inner_v, y, logit, factor, cross, matrix, grad, grad_inner):
    """h and its gradient at (dense, inner_v), and H there with the inner levels' blocks eliminated.

    tau : (cuts,), the thresholds, which ascend. Fills the factor but for its inverse, the cross blocks
    (entries, q), the lower triangle of the dense part, and the gradient. Returns h and the log determinant of
    the inner blocks.
    """
    q, p = layout.z.shape[1], layout.fixed.shape[1]
    n_dense, blocks = layout.block.shape[1], len(layout.kind)
    order = q * blocks
    first_beta = order + cuts.n_theta
    m = first_beta + p
    value = 0.0
    for r in range(m):
        grad[r] = -dense[r] if r < order else 0.0
        value += 0.5 * dense[r] * grad[r]
        for c in range(r + 1):
            matrix[r, c] = 0.0
        if r < order:
            matrix[r, r] = 1.0
    log_det = 0.0
    n_columns = n_dense * q + p  # of the dense part, that a rating meets beside its thresholds
    column, local, weight = (
        np.empty(n_columns, np.int64),
        np.empty(n_columns, np.int64),
        np.empty(n_columns),
    )
    zi = np.empty(q)
    index = np.empty(m, np.int64)
    block, line = np.empty((q, q)), np.empty((q, m))
    for i in range(len(layout.start) - 1):
        count, begin = touched(layout, i, m, index)
        first_theta = count - p - cuts.n_theta
        for r in range(begin, begin + count):
            for b in range(q):
                cross[r, b] = 0.0
        for b in range(q):
            grad_inner[i, b] = -inner_v[i, b]
            value -= 0.5 * inner_v[i, b] ** 2
            for c in range(q):
                block[b, c] = 1.0 if b == c else 0.0
        for n in range(layout.start[i], layout.start[i + 1]):
            eta = predictor(layout, scale, dense, inner_v, i, n, first_beta)
            k = y[n]
            has_u, has_l = k < len(tau), k > 0
            u = tau[k] - eta if has_u else 0.0
            lo = tau[k - 1] - eta if has_l else 0.0
            log_p, at_u, at_l, cu, cl = cell(u, lo, has_u, has_l, logit)
            value += log_p
            factor.cells[n, 0], factor.cells[n, 1] = at_u, at_l
            factor.cells[n, 2], factor.cells[n, 3] = cu, cl
            w_uu, w_ul, w_ll = curvature(at_u, at_l, cu, cl)
            w_u, w_l = w_uu + w_ul, w_ll + w_ul
            w, slope = w_u + w_l, at_l - at_u
            filled = dense_columns(layout, scale, n, first_beta, count, column, local, weight)
            for b in range(q):
                zi[b] = scale[n_dense * q + b] * layout.z[n, b]
                grad_inner[i, b] += slope * zi[b]
                for c in range(q):
                    block[b, c] += w * zi[b] * zi[c] if c < b else 0.0
                block[b, b] += w * zi[b] * zi[b]
            for r in range(filled):
                grad[column[r]] += slope * weight[r]
                weighted = w * weight[r]
                add_cross(begin + local[r], zi, weighted, cross)
                for c in range(r + 1):
                    matrix[column[r], column[c]] += weighted * weight[c]
            for side in range(2):
                there = has_u if side == 0 else has_l
                cut = k - side
                if not there or cuts.theta[cut] < 0:
                    continue
                t, sign = cuts.theta[cut], cuts.sign[cut]
                row = order + t
                pull = sign * (w_u if side == 0 else w_l)
                grad[row] += sign * (at_u if side == 0 else -at_l)
                matrix[row, row] += w_uu if side == 0 else w_ll
                add_cross(begin + first_theta + t, zi, -pull, cross)
                for r in range(filled):
                    if column[r] < row:
                        matrix[row, column[r]] -= pull * weight[r]
                    else:
                        matrix[column[r], row] -= pull * weight[r]
            if has_u and has_l and cuts.theta[k] >= 0 and cuts.theta[k - 1] >= 0:
                upper, lower = order + cuts.theta[k], order + cuts.theta[k - 1]
                both = cuts.sign[k] * cuts.sign[k - 1] * w_ul
                if upper == lower:
                    both *= 2.0
                matrix[max(upper, lower), min(upper, lower)] += both
        log_det += eliminate(block, factor.block_inverse[i])
        for r in range(count):
            for b in range(q):
                ratio = 0.0
                for c in range(q):
                    ratio += cross[begin + r, c] * factor.block_inverse[i, c, b]
                factor.ratio[begin + r, b] = ratio
                line[b, r] = cross[begin + r, b]
            for b in range(q):
                ratio = factor.ratio[begin + r, b]
                if count == m:  # all columns in their order: a loop that processors run several at a time
                    for c in range(r + 1):
                        matrix[r, c] -= ratio * line[b, c]
                else:
                    for c in range(r + 1):
                        matrix[index[r], index[c]] -= ratio * line[b, c]
    return value, log_det


@inner
def eliminate(block, out):
    """Inverse of a 1 x 1 or 2 x 2 block, of which the lower triangle is read; returns its log determinant."""
    if len(block) == 1:
        out[0, 0] = 1.0 / block[0, 0]
        return np.log(block[0, 0])
    det = block[0, 0] * block[1, 1] - block[1, 0] * block[1, 0]
    out[0, 0], out[1, 1] = block[1, 1] / det, block[0, 0] / det
    out[0, 1] = out[1, 0] = -block[1, 0] / det
    return np.log(det)


@kernel
def solve(layout, factor, rhs_dense, rhs_inner, out_dense, out_inner):
    """H^-1 times a vector (dense, inner)."""
    levels, q = rhs_inner.shape
    m = len(rhs_dense)
    index = np.empty(m, np.int64)
    reduced = rhs_dense.copy()
    for i in range(levels):
        count, begin = touched(layout, i, m, index)
        for r in range(count):
            for b in range(q):
                reduced[index[r]] -= factor.ratio[begin + r, b] * rhs_inner[i, b]
    for r in range(m):
        value = 0.0
        for c in range(m):
            value += factor.inverse[r, c] * reduced[c]
        out_dense[r] = value
    for i in range(levels):
        count, begin = touched(layout, i, m, index)
        for b in range(q):
            value = 0.0
            for c in range(q):
                value += factor.block_inverse[i, b, c] * rhs_inner[i, c]
            for r in range(count):
                value -= factor.ratio[begin + r, b] * out_dense[index[r]]
            out_inner[i, b] = value

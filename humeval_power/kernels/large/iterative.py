"""Solves with V of the crossed model for very many levels: conjugate gradients, several right-hand sides at once.

Notation as in `crossed.likelihood`. The inner factor is eliminated block by block as there, so that the system is
S = I + L B L over the outer levels, with L^2 = gamma and B = Z_o'H_i^-1Z_o = Z_o'Z_o - C G C', where C are the
outer-inner blocks and G = gamma (I + A gamma)^-1. B is never formed: one product walks over the pairs once, for
WIDTH right-hand sides together. The preconditioner is the exact block diagonal of S (block Jacobi; Hestenes
and Stiefel 1952 for the recurrences). With ku = L S^-1 L g and g = Z_o'H_i^-1r

    Z_i'H^-1r = (I + A gamma)^-1 (Z_i'r - C'ku),   Z_o'H^-1r = g - B ku,

and the last is S^-1 L g / L where gamma is large, so that neither cancels and gamma = 0 is no special case.

Every call works alone and in one order, so results do not depend on how many threads make such calls.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humeval_power.kernels.kernel import inner, kernel
from humeval_power.kernels.small_matrices import small_inverse

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WIDTH = 8  # right-hand sides of one walk: a line of the cache


class Operator(NamedTuple):
    """The system at one gamma, without anything of the order of levels squared.

    start, outer, cross, inner_block, outer_block, meeting, meeting_block : as in `crossed.Gram`
    keep : (n_inner, qb, qb), (I + A gamma)^-1; gain : the same shape, gamma (I + A gamma)^-1
    root : (n_outer qa,), L; over : (n_outer qa,), 1 / L where that is safe, else 0
    inverse : (n_outer, qa, qa), inverses of the diagonal blocks of S
    coupled : as in `crossed.Gram`
    """

    start: Ints
    outer: Ints
    cross: Floats
    inner_block: Floats
    outer_block: Floats
    meeting: Ints
    meeting_block: Floats
    keep: Floats
    gain: Floats
    root: Floats
    over: Floats
    inverse: Floats
    coupled: bool


@kernel
def prepare(start, outer, begin, cross, inner_block, outer_block, gamma, keep, gain, root, over, inverse):
    """Fill the last five arrays, fields of `Operator`, at relative variances `gamma`, outer types first."""
    n_inner, qb = inner_block.shape[0], inner_block.shape[1]
    n_outer, qa = outer_block.shape[0], outer_block.shape[1]
    n_kinds = len(begin) - 1
    work = np.empty((qb, 2 * qb))
    for w in range(n_outer):
        for a in range(qa):
            for c in range(qa):
                inverse[w, a, c] = outer_block[w, a, c]
    for i in range(n_inner):
        small_inverse(inner_block[i], gamma, n_kinds * qa, work, keep[i])
        for b in range(qb):
            for c in range(qb):
                gain[i, b, c] = gamma[n_kinds * qa + b] * keep[i, b, c]
        for pair in range(start[i], start[i + 1]):
            w = outer[pair]
            for a in range(qa):
                for b in range(qb):
                    left = 0.0
                    for c in range(qb):
                        left += cross[pair, a, c] * gain[i, c, b]
                    for d in range(qa):
                        inverse[w, a, d] -= left * cross[pair, d, b]
    ones = np.ones(qa)
    block = np.empty((qa, qa))
    work = np.empty((qa, 2 * qa))
    for kind in range(n_kinds):
        size = np.zeros(qa)
        for w in range(begin[kind], begin[kind + 1]):
            for a in range(qa):
                size[a] += inverse[w, a, a] / (begin[kind + 1] - begin[kind])
        for w in range(begin[kind], begin[kind + 1]):
            for a in range(qa):
                variance = gamma[kind * qa + a]
                root[w * qa + a] = np.sqrt(variance)
                over[w * qa + a] = 1.0 / np.sqrt(variance) if variance * size[a] > 1.0 else 0.0
                for c in range(qa):
                    block[a, c] = np.sqrt(variance * gamma[kind * qa + c]) * inverse[w, a, c]
            small_inverse(block, ones, 0, work, inverse[w])


@inner
def _add(out, i, weight, x, j):
    """out[i] += weight x[j]; all is read before anything is written, so that it becomes a few wide instructions."""
    a, b = out[i, 0] + weight * x[j, 0], out[i, 1] + weight * x[j, 1]
    c, d = out[i, 2] + weight * x[j, 2], out[i, 3] + weight * x[j, 3]
    e, f = out[i, 4] + weight * x[j, 4], out[i, 5] + weight * x[j, 5]
    g, h = out[i, 6] + weight * x[j, 6], out[i, 7] + weight * x[j, 7]
    out[i, 0], out[i, 1], out[i, 2], out[i, 3] = a, b, c, d
    out[i, 4], out[i, 5], out[i, 6], out[i, 7] = e, f, g, h


@inner
def _gather(op, i, x, seen):
    """seen (qb, WIDTH) = C_i'x."""
    qa, qb = op.cross.shape[1], op.cross.shape[2]
    for b in range(qb):
        for k in range(WIDTH):
            seen[b, k] = 0.0
    for pair in range(op.start[i], op.start[i + 1]):
        row = op.outer[pair] * qa
        for a in range(qa):
            for b in range(qb):
                if op.coupled or a == b:
                    _add(seen, b, op.cross[pair, a, b], x, row + a)


@inner
def _scatter(op, i, seen, sign, out):
    """out += sign C_i seen."""
    qa, qb = op.cross.shape[1], op.cross.shape[2]
    for pair in range(op.start[i], op.start[i + 1]):
        row = op.outer[pair] * qa
        for a in range(qa):
            for b in range(qb):
                if op.coupled or a == b:
                    _add(out, row + a, sign * op.cross[pair, a, b], seen, b)


@inner
def _times_small(block, x, first, out):
    """out (q, WIDTH) = block x[first : first + q]."""
    q = block.shape[0]
    for b in range(q):
        for k in range(WIDTH):
            out[b, k] = 0.0
        for c in range(q):
            _add(out, b, block[b, c], x, first + c)


@inner
def _times_outer(op, x, out):
    """out = Z_o'Z_o x."""
    n_outer, qa = op.outer_block.shape[0], op.outer_block.shape[1]
    for w in range(n_outer):
        row = w * qa
        for a in range(qa):
            for k in range(WIDTH):
                out[row + a, k] = op.outer_block[w, a, 0] * x[row, k]
            for c in range(1, qa):
                _add(out, row + a, op.outer_block[w, a, c], x, row + c)
    for m in range(op.meeting.shape[0]):
        first, second = op.meeting[m, 0] * qa, op.meeting[m, 1] * qa
        for a in range(qa):
            for c in range(qa):
                weight = op.meeting_block[m, a, c]
                _add(out, first + a, weight, x, second + c)
                _add(out, second + c, weight, x, first + a)


@inner
def _times_b(op, x, seen, gained, out):
    """out = B x; seen, gained : (qb, WIDTH), room."""
    _times_outer(op, x, out)
    for i in range(len(op.start) - 1):
        _gather(op, i, x, seen)
        _times_small(op.gain[i], seen, 0, gained)
        _scatter(op, i, gained, -1.0, out)


@inner
def _precondition(op, residual, out):
    """out = (diagonal blocks of S)^-1 residual, and their inner products (WIDTH,)."""
    n_outer, qa = op.outer_block.shape[0], op.outer_block.shape[1]
    total = np.zeros(WIDTH)
    for w in range(n_outer):
        row = w * qa
        for a in range(qa):
            for k in range(WIDTH):
                out[row + a, k] = op.inverse[w, a, 0] * residual[row, k]
            for c in range(1, qa):
                _add(out, row + a, op.inverse[w, a, c], residual, row + c)
            for k in range(WIDTH):
                total[k] += residual[row + a, k] * out[row + a, k]
    return total


@inner
def _times_s(op, x, scaled, seen, gained, out):
    """out = S x; scaled : the shape of x, room."""
    order = len(op.root)
    for r in range(order):
        for k in range(WIDTH):
            scaled[r, k] = op.root[r] * x[r, k]
    _times_b(op, scaled, seen, gained, out)
    for r in range(order):
        for k in range(WIDTH):
            out[r, k] = x[r, k] + op.root[r] * out[r, k]


@inner
def _conjugate_gradients(op, target, s, tolerance, most):
    """Solve S s = target from the s that is given, each column until its residual is `tolerance` of its
    target in the preconditioner's norm; the number of walks, negative where that was not enough."""
    order, qb = len(op.root), op.cross.shape[2]
    residual, z = np.empty((order, WIDTH)), np.empty((order, WIDTH))
    scaled, product = np.empty((order, WIDTH)), np.empty((order, WIDTH))
    seen, gained = np.empty((qb, WIDTH)), np.empty((qb, WIDTH))
    aim = _precondition(op, target, z)
    for k in range(WIDTH):
        aim[k] *= tolerance * tolerance
    _times_s(op, s, scaled, seen, gained, product)
    for r in range(order):
        for k in range(WIDTH):
            residual[r, k] = target[r, k] - product[r, k]
    height = _precondition(op, residual, z)
    direction = z.copy()
    length, ratio = np.empty(WIDTH), np.empty(WIDTH)
    for walk in range(most):
        done = True
        for k in range(WIDTH):
            done = done and height[k] <= aim[k]
        if done:
            return walk + 1
        _times_s(op, direction, scaled, seen, gained, product)
        curve = np.zeros(WIDTH)
        for r in range(order):
            for k in range(WIDTH):
                curve[k] += direction[r, k] * product[r, k]
        for k in range(WIDTH):
            length[k] = height[k] / curve[k] if height[k] > aim[k] and curve[k] > 0.0 else 0.0
        for r in range(order):
            for k in range(WIDTH):
                s[r, k] += length[k] * direction[r, k]
                residual[r, k] -= length[k] * product[r, k]
        fresh = _precondition(op, residual, z)
        for k in range(WIDTH):
            ratio[k] = fresh[k] / height[k] if length[k] > 0.0 else 0.0
            if length[k] > 0.0:
                height[k] = fresh[k]
        for r in range(order):
            for k in range(WIDTH):
                direction[r, k] = z[r, k] + ratio[k] * direction[r, k]
    return -most


@kernel
def gram_times(op, inner_v, outer_v, inner_r, outer_r):
    """Z'Z v for v = (inner_v, outer_v) into the last two; all (levels times columns, WIDTH)."""
    qb = op.cross.shape[2]
    seen, own = np.empty((qb, WIDTH)), np.empty((qb, WIDTH))
    _times_outer(op, outer_v, outer_r)
    for i in range(len(op.start) - 1):
        _gather(op, i, outer_v, seen)
        _times_small(op.inner_block[i], inner_v, i * qb, own)
        for b in range(qb):
            for k in range(WIDTH):
                inner_r[i * qb + b, k] = own[b, k] + seen[b, k]
                own[b, k] = inner_v[i * qb + b, k]
        _scatter(op, i, own, 1.0, outer_r)


@kernel
def solve(op, inner_r, outer_r, s, tolerance, most):
    """Turn Z'r (inner_r, outer_r) of WIDTH columns r into Z'H^-1r, in place.

    s : (n_outer qa, WIDTH), a start, and afterwards S^-1 L g, from which the next solve can start.
    Returned is the number of walks over the table, negative if the tolerance was not met.
    """
    order, n_inner, qb = len(op.root), len(op.start) - 1, op.cross.shape[2]
    seen, gained = np.empty((qb, WIDTH)), np.empty((qb, WIDTH))
    for i in range(n_inner):  # g, in place of outer_r
        _times_small(op.gain[i], inner_r, i * qb, gained)
        _scatter(op, i, gained, -1.0, outer_r)
    target = np.empty((order, WIDTH))
    for r in range(order):
        for k in range(WIDTH):
            target[r, k] = op.root[r] * outer_r[r, k]
    walks = _conjugate_gradients(op, target, s, tolerance, most)
    ku, through = target, np.empty((order, WIDTH))
    direct = False
    for r in range(order):
        direct = direct or op.over[r] == 0.0
        for k in range(WIDTH):
            ku[r, k] = op.root[r] * s[r, k]
    if direct:
        _times_outer(op, ku, through)
    for i in range(n_inner):
        _gather(op, i, ku, seen)
        if direct:
            _times_small(op.gain[i], seen, 0, gained)
            _scatter(op, i, gained, -1.0, through)
        for b in range(qb):
            for k in range(WIDTH):
                seen[b, k] = inner_r[i * qb + b, k] - seen[b, k]
        _times_small(op.keep[i], seen, 0, gained)
        for b in range(qb):
            for k in range(WIDTH):
                inner_r[i * qb + b, k] = gained[b, k]
    for r in range(order):
        for k in range(WIDTH):
            if op.over[r] > 0.0:
                outer_r[r, k] = s[r, k] * op.over[r]
            else:
                outer_r[r, k] -= through[r, k]
    return walks


@kernel
def neighbour_sums(op, outer_blocks, inner_blocks, outer_sums, inner_sums):
    """Add up C P C' over the levels that each level meets, P the blocks of those: (n_outer, qa, qa) and
    (n_inner, qb, qb) into the last two."""
    qa, qb = op.cross.shape[1], op.cross.shape[2]
    for i in range(len(op.start) - 1):
        for pair in range(op.start[i], op.start[i + 1]):
            w = op.outer[pair]
            for a in range(qa):
                for d in range(qa):
                    for b in range(qb):
                        for c in range(qb):
                            left, right = op.cross[pair, a, b], op.cross[pair, d, c]
                            outer_sums[w, a, d] += left * inner_blocks[i, b, c] * right
                            inner_sums[i, b, c] += left * outer_blocks[w, a, d] * right
    for m in range(op.meeting.shape[0]):
        first, second = op.meeting[m, 0], op.meeting[m, 1]
        for a in range(qa):
            for d in range(qa):
                for b in range(qa):
                    for c in range(qa):
                        left, right = op.meeting_block[m, a, b], op.meeting_block[m, d, c]
                        outer_sums[first, a, d] += left * outer_blocks[second, b, c] * right
                        outer_sums[second, b, c] += left * outer_blocks[first, a, d] * right


@kernel
def block_products(outer_blocks, inner_blocks, x, out):
    """out = blocks x, level by level, all (n_columns, WIDTH)."""
    qa, qb = outer_blocks.shape[1], inner_blocks.shape[1]
    order = outer_blocks.shape[0] * qa
    for w in range(outer_blocks.shape[0]):
        _times_small(outer_blocks[w], x, w * qa, out[w * qa : w * qa + qa])
    for i in range(inner_blocks.shape[0]):
        first = order + i * qb
        _times_small(inner_blocks[i], x, first, out[first : first + qb])


@kernel
def neighbour_series(op, left, right, middle, signs, out):
    """left A right v, left A P A right v, ... for v = signs (n_columns, WIDTH), into out (terms, n_columns,
    WIDTH); A is Z'Z of `op`, and left, right and P = middle are blocks, (outer, inner) each."""
    order = len(op.root)
    z, y = np.empty(signs.shape), np.empty(signs.shape)
    block_products(right[0], right[1], signs, z)
    for term in range(out.shape[0]):
        gram_times(op, z[order:], z[:order], y[order:], y[:order])
        block_products(left[0], left[1], y, out[term])
        block_products(middle[0], middle[1], y, z)

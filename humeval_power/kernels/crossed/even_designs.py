"""Designs whose likelihood eigenvectors split into numbers: many replicates at once, with nothing to compile.

Where every worker who rated an item rated both systems equally often, the sums and the differences of ratings are
apart: a column type of the outer levels meets one type of the inner levels only, a strand. Where besides all inner
levels have as many ratings as each other, and all outer levels too, the design has general balance (Nelder 1965;
Houtman and Speed 1983): with a and c the blocks of the inner and the outer levels, C = Z_o'Z_i and E = C C',

    O = Z_o'H_i^-1Z_o = c I - E / a + (w / a) E,   w = 1 / (1 + a gamma_i),   N = (I + gamma_o O)^-1

have the eigenvectors of E, and all of the model follows from their eigenvalues: Z_o'H^-1Z_o = O N,
Z_o'H^-1Z_i = N C w, Z_i'H^-1Z_i = a w - gamma_o w^2 C'N C. Notation as in `likelihood`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_diag, csr_array, vstack

from humeval_power.kernels.crossed.likelihood import Gram

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_MOST_LEVELS = 512  # of the outer factor: the eigenvectors are dense
_ALIKE = 1e-12  # relative difference of sums of a design that are equal
_NO_PART = 1e-10  # relative size of what rounding leaves where X has no part
_RIDGE = 1e-7  # components that the table cannot tell apart leave the Hessian singular
_RIDGES = 12


class EvenDesign(NamedTuple):
    """A design by strands s and eigenvectors e of each; all but sparse matrices have an axis of lanes last.

    base : (s, e, 1), eigenvalues of c I - E / a; met : (s, e, 1), those of E
    block, n_inner : (s, 1), a and the number of inner levels
    x_at : (k,), the entries (strand by strand) in which X has a part; x_strand : (k,), their strands
    x_base, x_meet : (k, p, 1), X there, without the inner factor and seen through it
    x_square : (s, p, p, 1), products of Z_i'X; x_product : (p, p, 1), X'X without the inner factor
    to_inner, to_outer : from rows to inner and to outer levels, strand by strand; from_inner : back to the rows;
        cross : C; turn : from outer levels to eigenvectors; x, inner_x : X' and (Z_i'X)'
    """

    base: Floats
    met: Floats
    block: Floats
    n_inner: Floats
    x_at: Ints
    x_strand: Ints
    x_base: Floats
    x_meet: Floats
    x_square: Floats
    x_product: Floats
    to_inner: csr_array
    to_outer: csr_array
    from_inner: csr_array
    cross: csr_array
    turn: csr_array
    x: csr_array
    inner_x: csr_array
    n: int

    def by_strand(self, parts: Floats) -> Floats:
        """Sums of parts (k, ..., lanes) over the entries of each strand."""
        bounds = np.searchsorted(self.x_strand, np.arange(len(self.block) + 1))
        return np.stack([parts[first:end].sum(axis=0) for first, end in pairwise(bounds)])


class Sums(NamedTuple):
    """Sums of responses, lanes last: base, meet (s, e, lanes), as `x_base` and `x_meet`; square (s, lanes);
    x_square (s, p, lanes); x_product (p, lanes); product and total (lanes,), y'y without the inner factor and with
    it."""

    base: Floats
    meet: Floats
    square: Floats
    x_square: Floats
    x_product: Floats
    product: Floats
    total: Floats

    def of(self, lanes: Ints) -> Sums:
        """Some lanes of them."""
        return Sums(*(part[..., lanes] for part in self))


class Point(NamedTuple):
    """What is known at one gamma (q, lanes), outer types first; lanes last in every array but `second_order`'s."""

    gamma: Floats
    shrink: Floats
    inverse: Floats
    both: Floats
    x_seen: Floats
    x_pulled: Floats
    x_outer: Floats
    x_inner: Floats
    criterion: Floats
    beta: Floats
    phi: Floats
    rss: Floats
    slope: Floats
    trace: Floats
    quadratic: Floats
    square: Floats
    ok: NDArray[np.bool_]


def even_design(
    gram: Gram, outer: Ints, inner: Ints, outer_columns: Floats, inner_columns: Floats, x: Floats
) -> EvenDesign | None:
    """The design in this form, from what `sparse_gram` takes and gives; None if it is not even."""
    levels, n_strands = gram.outer_block.shape[:2]
    if gram.coupled or len(outer) > 1 or levels > _MOST_LEVELS:
        return None
    blocks = [np.diagonal(part, axis1=1, axis2=2) for part in (gram.inner_block, gram.outer_block)]
    if any((np.ptp(part, axis=0) > _ALIKE * part.max(axis=0)).any() for part in blocks):
        return None
    block, n, p = blocks[0][0][:, None], len(inner), x.shape[1]
    rows, level = np.arange(n), np.repeat(np.arange(len(gram.inner_block)), np.diff(gram.start))

    def apart(codes: Ints, columns: Floats, size: int) -> csr_array:
        parts = [csr_array((column, (codes, rows)), shape=(size, n)) for column in columns.T]
        return csr_array(vstack(parts))

    to_inner = apart(inner, inner_columns, len(gram.inner_block))
    cross = [
        csr_array((gram.cross[:, s, s], (gram.outer, level)), shape=(levels, len(gram.inner_block)))
        for s in range(n_strands)
    ]
    met, vectors = np.linalg.eigh(np.stack([(part @ part.T).toarray() for part in cross]))
    turned = np.swapaxes(vectors, 1, 2)
    inner_x = np.ascontiguousarray(np.moveaxis(gram.inner_x, 1, 0))
    without = [gram.outer_x[:, s] - cross[s] @ (inner_x[s] / block[s]) for s in range(n_strands)]
    x_base = np.stack([turned[s] @ without[s] for s in range(n_strands)])
    x_square = np.einsum("sij,sik->sjk", inner_x, inner_x)
    x_meet = np.stack([turned[s] @ (cross[s] @ inner_x[s]) for s in range(n_strands)])
    size = np.abs(x_base) + np.abs(x_meet)
    has_part = (size > _NO_PART * size.max(axis=1, keepdims=True)).any(axis=2).ravel()
    at = np.flatnonzero(has_part)
    return EvenDesign(
        base=(blocks[1][0][:, None] - met / block)[:, :, None],
        met=met[:, :, None],
        block=block,
        n_inner=np.full((n_strands, 1), float(len(gram.inner_block))),
        x_at=at,
        x_strand=at // levels,
        x_base=x_base.reshape(-1, p)[at][:, :, None],
        x_meet=x_meet.reshape(-1, p)[at][:, :, None],
        x_square=x_square[..., None],
        x_product=(gram.xx - (x_square / block[:, None]).sum(axis=0))[..., None],
        to_inner=to_inner,
        to_outer=apart(outer[0], outer_columns[0], levels),
        from_inner=csr_array(to_inner.T),
        cross=csr_array(block_diag(cross)),
        turn=csr_array(block_diag(list(turned))),
        x=csr_array(x.T),
        inner_x=csr_array(block_diag([part.T for part in inner_x])),
        n=n,
    )


def sums_of(design: EvenDesign, responses: Floats) -> Sums:
    """Sums of responses (rows, lanes); each lane is first freed of its least-squares means by inner level, so that
    these do not cancel digits."""
    n_strands, lanes = len(design.block), responses.shape[1]
    inner = np.asarray(design.to_inner @ responses)
    by_strand = inner.reshape(n_strands, -1, lanes)
    means = (by_strand / design.block[:, :, None]).reshape(-1, lanes)
    left = responses - design.from_inner @ means
    return Sums(
        base=(design.turn @ (design.to_outer @ left)).reshape(n_strands, -1, lanes),
        meet=(design.turn @ (design.cross @ inner)).reshape(n_strands, -1, lanes),
        square=(by_strand * by_strand).sum(axis=1),
        x_square=(design.inner_x @ inner).reshape(n_strands, -1, lanes),
        x_product=np.asarray(design.x @ left),
        product=(left * left).sum(axis=0),
        total=(responses * responses).sum(axis=0),
    )


def evaluate(design: EvenDesign, sums: Sums, gamma: Floats, restricted: bool) -> Point:
    """Criterion, its slope, and the working products at gamma (q, lanes)."""
    n_strands, p, lanes = len(design.block), design.x.shape[0], gamma.shape[1]
    by_outer, by_inner = gamma[:n_strands], gamma[n_strands:]
    w = 1.0 / (1.0 + design.block * by_inner)
    left = w / design.block
    outer = design.base + design.met * left[:, None]
    inverse = 1.0 / (1.0 + by_outer[:, None] * outer)
    both = outer * inverse
    log_det = -np.log(inverse).sum(axis=(0, 1)) - (design.n_inner * np.log(w)).sum(axis=0)
    shared = by_outer * w**2
    inner_trace = design.n_inner * design.block * w - shared * (design.met * inverse).sum(axis=1)
    trace = np.concatenate([both.sum(axis=1), inner_trace])
    own = sums.base + left[:, None] * sums.meet
    seen = inverse * own
    effect = by_outer[:, None] * seen
    yy = sums.product + (left * sums.square).sum(axis=0) - (own * effect).sum(axis=(0, 1))

    at, strand = design.x_at, design.x_strand
    x_own = design.x_base + left[strand][:, None] * design.x_meet
    x_seen = _rows(inverse, at) * x_own
    x_effect = by_outer[strand][:, None] * x_seen
    xx = design.x_product + (left[:, None, None] * design.x_square).sum(axis=0)
    xx = xx - (x_own[:, :, None] * x_effect[:, None]).sum(axis=0)
    xy = sums.x_product + (left[:, None] * sums.x_square).sum(axis=0)
    xy = xy - (x_own * _rows(effect, at)).sum(axis=0)
    phi, log_det_x, ok = inverse_of(xx)
    beta = (phi * xy).sum(axis=1)
    rss = yy - (beta * xy).sum(axis=0)
    ok &= (rss > 1e-14 * sums.total) & (rss > 0.0)
    rss = np.where(ok, rss, 1.0)
    df = design.n - p if restricted else design.n
    criterion = df * (1.0 + np.log(2.0 * np.pi * rss / df)) + log_det
    if restricted:
        criterion = criterion + log_det_x

    # from here on y is free of X: it stands for Py
    seen.reshape(-1, lanes)[at] -= (beta * x_seen).sum(axis=1)
    meet = sums.meet.copy()
    meet.reshape(-1, lanes)[at] -= (beta * design.x_meet).sum(axis=1)
    effect = by_outer[:, None] * seen
    pull = meet - design.met * effect
    pulled = w[:, None] ** 2 * pull
    x_square = sums.x_square - (design.x_square * beta).sum(axis=2)
    rest = sums.square - (beta * (sums.x_square + x_square)).sum(axis=1)
    square = np.concatenate(
        [(seen * seen).sum(axis=1), w**2 * (rest - (effect * (pull + meet)).sum(axis=1))]
    )
    x_pull = design.x_meet - _rows(np.broadcast_to(design.met, (*design.met.shape[:2], 1)), at) * x_effect
    x_pulled = w[strand][:, None] ** 2 * x_pull
    across = x_effect[:, :, None] * x_pull[:, None] + design.x_meet[:, :, None] * x_effect[:, None]
    x_outer = design.by_strand(x_seen[:, :, None] * x_seen[:, None])
    x_inner = w[:, None, None] ** 2 * (design.x_square - design.by_strand(across))
    toward = x_effect * _rows(pull, at) + _rows(effect, at) * design.x_meet
    x_y = np.concatenate(
        [
            design.by_strand(x_seen * _rows(seen, at)),
            w[:, None] ** 2 * (x_square - design.by_strand(toward)),
        ]
    )

    slope = trace - square * (df / rss)
    if restricted:
        slope = slope - (phi * np.concatenate([x_outer, x_inner])).sum(axis=(1, 2))
    seen_twice = inverse * seen
    quadratic = -(x_y[:, None] * (phi * x_y[:, :, None]).sum(axis=1)[None]).sum(axis=2)
    for s in range(n_strands):
        o, i = s, n_strands + s
        quadratic[o, o] += (seen[s] * outer[s] * seen_twice[s]).sum(axis=0)
        mixed = (pulled[s] * seen_twice[s]).sum(axis=0)
        quadratic[o, i] += mixed
        quadratic[i, o] += mixed
        own_part = design.block[s] * w[s] * square[i]
        quadratic[i, i] += own_part - by_outer[s] * (pulled[s] * inverse[s] * pulled[s]).sum(axis=0)
    return Point(
        gamma=gamma,
        shrink=w,
        inverse=inverse,
        both=both,
        x_seen=x_seen,
        x_pulled=x_pulled,
        x_outer=x_outer,
        x_inner=x_inner,
        criterion=np.where(ok, criterion, np.inf),
        beta=beta,
        phi=phi,
        rss=rss,
        slope=slope,
        trace=trace,
        quadratic=quadratic,
        square=square,
        ok=ok,
    )


def second_order(design: EvenDesign, point: Point) -> tuple[Floats, Floats, Floats]:
    """Squared norms of the blocks of T (q, q, lanes), X'H^-1G_tH^-1X (q, p, p, lanes) and X'H^-1G_sH^-1G_tH^-1X
    (q, q, p, p, lanes)."""
    n_strands, (q, lanes), p = len(design.block), point.gamma.shape, design.x.shape[0]
    by_outer, w = point.gamma[:n_strands], point.shrink
    norm, paired = np.zeros((q, q, lanes)), np.zeros((q, q, p, p, lanes))
    met = design.met * point.inverse
    inverse = _rows(point.inverse, design.x_at)
    seen, pulled = inverse * point.x_seen, inverse * point.x_pulled
    both = _rows(point.both, design.x_at) * point.x_seen
    outer_outer, inner_outer, outer_inner, inner_inner = (
        design.by_strand(left[:, :, None] * right[:, None])
        for left, right in (
            (point.x_seen, both),
            (point.x_pulled, seen),
            (point.x_seen, pulled),
            (point.x_pulled, pulled),
        )
    )
    for s in range(n_strands):
        o, i = s, n_strands + s
        block, shrunk = design.block[s] * w[s], by_outer[s] * w[s] ** 2
        norm[o, o] = (point.both[s] ** 2).sum(axis=0)
        norm[o, i] = norm[i, o] = w[s] ** 2 * (met[s] * point.inverse[s]).sum(axis=0)
        norm[i, i] = design.n_inner[s] * block**2 - 2.0 * block * shrunk * met[s].sum(axis=0)
        norm[i, i] += shrunk**2 * (met[s] ** 2).sum(axis=0)
        paired[o, o], paired[i, o], paired[o, i] = outer_outer[s], inner_outer[s], outer_inner[s]
        paired[i, i] = block * point.x_inner[s] - by_outer[s] * inner_inner[s]
    return norm, np.concatenate([point.x_outer, point.x_inner]), paired


def inverse_of(matrix: Floats) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Inverses of small symmetric matrices (q, q, lanes) by sweeps, the logarithms of their determinants, and
    whether they are positive definite."""
    q, lanes = len(matrix), matrix.shape[-1]
    swept = np.array(np.broadcast_to(matrix, (q, q, lanes)))
    log_det, ok = np.zeros(lanes), np.ones(lanes, dtype=np.bool_)
    for k in range(q):
        pivot = swept[k, k].copy()
        ok &= pivot > 0.0
        pivot = np.where(ok, pivot, 1.0)
        log_det += np.log(pivot)
        column = swept[k].copy()
        scaled = column / pivot
        swept -= scaled[:, None] * column[None]
        swept[k] = swept[:, k] = scaled
        swept[k, k] = -1.0 / pivot
    return -swept, log_det, ok


def newton_directions(hessian: Floats, slope: Floats, free: NDArray[np.bool_]) -> Floats:
    """Solve hessian d = -slope over the free components (q, lanes), with a small ridge, as
    `reml.newton_direction` does for one lane."""
    q, lanes = slope.shape
    diagonal = np.maximum(np.einsum("ttl->tl", hessian), 1e-300)
    scale = np.sqrt(np.where(free, diagonal, 1.0))
    unit = np.eye(q)[:, :, None]
    scaled = np.where(free[:, None] & free[None], hessian / (scale[:, None] * scale[None]), unit)
    target = np.where(free, slope / scale, 0.0)
    direction = -target
    ridge, open_ = _RIDGE, np.arange(lanes)
    for _ in range(_RIDGES):
        trial = scaled[..., open_] + ridge * unit
        inverse, _, ok = inverse_of(trial)
        directions = -(inverse * target[:, open_]).sum(axis=1)
        direction[:, open_[ok]] = directions[:, ok]
        open_ = open_[~ok]
        if not len(open_):
            break
        ridge *= 10.0
    return np.asarray(direction / scale)


def _rows(parts: Floats, at: Ints) -> Floats:
    """Some entries of (s, e, lanes), as (k, 1, lanes)."""
    return parts.reshape(-1, parts.shape[-1])[at][:, None]

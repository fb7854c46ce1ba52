"""The crossed model of K systems: likelihood, slopes and information.

    rating = mean[system] + W[worker] + WS[worker, system] + I[item] + IS[item, system] + e

The variances of WS and IS are one for all systems, or one for each group of them. G_t = Z_t Z_t' are the
covariances of worker, worker x system (by group), item and item x system (by group); gamma their variances
relative to the residual's, H = I + sum gamma_t G_t. The factor with fewer levels is the dense outer one; the
other, inner one is eliminated in blocks of K x K. With Zo, Zi the indicators of (outer, system) and (inner,
system), D the K x K matrices that turn them into G_t (all ones J, or the indicators of a group on the diagonal),
and Q = Zi'H_i^-1 Zo where H_i leaves the outer factor out,

    Zo'H^-1 Zo = A - A Y A,    Zi'H^-1 Zo = Q (I - Y A),    Zi'H^-1 Zi = V - Q Y Q',

A = Zo'H_i^-1 Zo and V = Zi'H_i^-1 Zi (blocks), Y = R (I + R A R)^-1 R with R the root of the outer covariance.
Nothing divides by a variance, so that zero is no special case, and nothing of the order of ratings squared is
formed. Products with the residual's G = I follow from I = H - sum gamma_t G_t.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_DENSE_FROM = 0.03  # share of filled cells from which dense products are the faster ones
_CHUNK = 4_000_000  # numbers that a product with inner levels holds at a time


class StackedTable(NamedTuple):
    """Counts of a design with K systems.

    outer, inner : codes, shape (n,); outer_count (levels, K) and inner_count (levels, K);
    cross : (inner levels * K, outer levels * K) sparse, ratings of each inner and outer level and system;
    dense : the same as (K, outer levels, inner levels), or None where it is mostly empty;
    groups : (groups, K), 1 where a system belongs to a group, whose systems share their variances. The order of
        variances is outer, outer x system by group, inner, inner x system by group.
    """

    n: int
    n_systems: int
    outer: Codes
    inner: Codes
    system: Codes
    outer_count: Floats
    inner_count: Floats
    cross: sparse.csr_array
    dense: Floats | None
    groups: Floats

    @property
    def n_variances(self) -> int:
        """Variances beside the residual's."""
        return 2 * (1 + len(self.groups))


class JointFactor(NamedTuple):
    """H factorised at one gamma: blocks W of the inner elimination, A, root R, Cholesky factor of
    I + R A R, Y, and log |H|."""

    gamma: Floats
    inner: Floats
    A: Floats
    root: Floats
    cholesky: Floats
    Y: Floats
    log_det: float


class Products(NamedTuple):
    """Columns z of length n by what is needed of them: Zo'z, Zi'z and z'z."""

    outer: Floats
    inner: Floats
    square: Floats


class Solved(NamedTuple):
    """Zo'H^-1 z, Zi'H^-1 z and z'H^-1 z."""

    outer: Floats
    inner: Floats
    square: Floats


class JointProfile(NamedTuple):
    """Generalised least squares at one gamma: means, (X'H^-1X)^-1, y'Py, -2 log restricted likelihood,
    and the products with Py and with H^-1 X."""

    beta: Floats
    phi: Floats
    rss: float
    criterion: float
    outer_py: Floats
    inner_py: Floats
    outer_x: Floats
    inner_x: Floats


def build_table(
    outer: Codes, inner: Codes, system: Codes, *, n_systems: int, own: bool = False
) -> StackedTable:
    """Counts of a design; codes 0, 1, ... of shape (n,). `own`: each system has variances of its own."""
    n_outer, n_inner = int(outer.max()) + 1, int(inner.max()) + 1
    row, column = inner * n_systems + system, outer * n_systems + system
    shape = (n_inner * n_systems, n_outer * n_systems)
    cross = sparse.csr_array(sparse.coo_array((np.ones(len(row)), (row, column)), shape=shape))
    cross.sum_duplicates()
    dense = None
    if cross.nnz > _DENSE_FROM * n_outer * n_inner * n_systems:
        dense = np.zeros((n_systems, n_outer, n_inner))
        np.add.at(dense, (system, outer, inner), 1.0)
    return StackedTable(
        len(row),
        n_systems,
        outer,
        inner,
        system,
        np.bincount(column, minlength=shape[1]).reshape(n_outer, n_systems).astype(float),
        np.bincount(row, minlength=shape[0]).reshape(n_inner, n_systems).astype(float),
        cross,
        dense,
        np.eye(n_systems) if own else np.ones((1, n_systems)),
    )


def root_of(shared: float, own: Floats) -> Floats:
    """Symmetric root of shared J + diag(own), shape (K, K); own (K,)."""
    K = len(own)
    if (own == own[0]).all():
        J = np.full((K, K), 1.0 / K)
        return np.asarray(np.sqrt(own[0]) * (np.eye(K) - J) + np.sqrt(own[0] + K * shared) * J)
    values, vectors = np.linalg.eigh(shared + np.diag(own))
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


def crossed_blocks(table: StackedTable, blocks: Floats) -> Floats:
    """sum_i C_i' B_i C_i, shape (outer * K, outer * K), with C_i (K, outer * K) the counts of inner level i.

    blocks : (inner levels, K, K).
    """
    K = table.n_systems
    if table.dense is None:
        levels = np.arange(len(blocks) + 1)
        diagonal = sparse.bsr_array((blocks, levels[:-1], levels))
        return np.asarray((table.cross.T @ (diagonal @ table.cross)).toarray())
    n_outer = len(table.outer_count)
    result = np.empty((n_outer, K, n_outer, K))
    for s in range(K):
        for t in range(K):
            result[:, s, :, t] = (table.dense[s] * blocks[:, s, t]) @ table.dense[t].T
    return result.reshape(n_outer * K, n_outer * K)


def factorise(table: StackedTable, gamma: Floats) -> JointFactor:
    """H at gamma (variances,), all >= 0."""
    K, half = table.n_systems, table.n_variances // 2
    inner_root = root_of(gamma[half], gamma[half + 1 :] @ table.groups)
    core = np.eye(K) + inner_root * table.inner_count[:, None, :] @ inner_root
    inner = inner_root @ np.linalg.inv(core) @ inner_root
    A = np.diag(table.outer_count.ravel()) - crossed_blocks(table, inner)
    root = root_of(gamma[0], gamma[1:half] @ table.groups)
    S = _both_sides(A, root)
    S[np.diag_indices_from(S)] += 1.0
    cholesky = linalg.cholesky(S, lower=True, check_finite=False)
    inverse, _ = linalg.lapack.dpotri(cholesky, lower=1)
    inverse = np.tril(inverse) + np.tril(inverse, -1).T
    log_det = np.linalg.slogdet(core)[1].sum() + 2.0 * np.log(np.diag(cholesky)).sum()
    return JointFactor(gamma, inner, A, root, cholesky, _both_sides(inverse, root), float(log_det))


def _both_sides(matrix: Floats, root: Floats) -> Floats:
    """(I x root) matrix (I x root) for symmetric K x K `root`."""
    K, size = len(root), len(matrix)
    half = (matrix.reshape(-1, K) @ root).reshape(size, size)
    return np.asarray((half.T.reshape(-1, K) @ root).reshape(size, size))


def _inner_times(blocks: Floats, columns: Floats) -> Floats:
    """Block diagonal matrix (levels, K, K) times columns (levels * K, c)."""
    levels, K, _ = blocks.shape
    return np.asarray((blocks @ columns.reshape(levels, K, -1)).reshape(levels * K, -1))


def solve(table: StackedTable, factor: JointFactor, z: Products) -> Solved:
    """H^-1 applied to columns z, seen through Zo, Zi and z themselves."""
    count = table.inner_count.reshape(-1, 1)
    weighted = _inner_times(factor.inner, z.inner)
    a = z.outer - table.cross.T @ weighted
    u = factor.Y @ a
    spread = table.cross @ u
    left = z.inner - count * weighted - (spread - count * _inner_times(factor.inner, spread))
    return Solved(a - factor.A @ u, left, z.square - z.inner.T @ weighted - a.T @ u)


def response_products(table: StackedTable, response: Floats) -> Products:
    """The indicators of the systems and the response, as K + 1 columns."""
    K = table.n_systems
    n_outer, n_inner = len(table.outer_count), len(table.inner_count)
    by_outer = np.bincount(table.outer * K + table.system, response, minlength=n_outer * K)
    by_inner = np.bincount(table.inner * K + table.system, response, minlength=n_inner * K)
    outer_x = (table.outer_count[:, :, None] * np.eye(K)).reshape(-1, K)
    inner_x = (table.inner_count[:, :, None] * np.eye(K)).reshape(-1, K)
    square = np.zeros((K + 1, K + 1))
    square[:K, :K] = np.diag(table.outer_count.sum(axis=0))
    square[:K, K] = square[K, :K] = by_outer.reshape(-1, K).sum(axis=0)
    square[K, K] = response @ response
    return Products(np.column_stack([outer_x, by_outer]), np.column_stack([inner_x, by_inner]), square)


def profile(table: StackedTable, factor: JointFactor, data: Products) -> JointProfile:
    """Means and criterion with sigma^2 profiled out."""
    K, df = table.n_systems, table.n - table.n_systems
    solved = solve(table, factor, data)
    xhx = solved.square[:K, :K]
    phi = np.asarray(np.linalg.inv(xhx), dtype=np.float64)
    beta = phi @ solved.square[:K, K]
    rss = float(solved.square[K, K] - beta @ solved.square[:K, K])
    criterion = np.inf
    if rss > 0:
        criterion = df * (1.0 + np.log(2.0 * np.pi * rss / df)) + factor.log_det + np.linalg.slogdet(xhx)[1]
    outer_x, inner_x = solved.outer[:, :K], solved.inner[:, :K]
    return JointProfile(
        beta,
        phi,
        rss,
        float(criterion),
        solved.outer[:, K] - outer_x @ beta,
        solved.inner[:, K] - inner_x @ beta,
        outer_x,
        inner_x,
    )


def working_columns(table: StackedTable, prof: JointProfile) -> tuple[Products, Floats]:
    """w_t = G_t P y as columns, and y'P G_t P y, shape (variances,)."""
    outer, inner = patterns(table, prof.outer_py), patterns(table, prof.inner_py)
    outer_part = np.column_stack([*outer, *np.zeros((len(inner), len(outer[0])))])
    inner_part = np.column_stack([*np.zeros((len(outer), len(inner[0]))), *inner])
    outer_count, inner_count = table.outer_count.reshape(-1, 1), table.inner_count.reshape(-1, 1)
    by_outer = outer_count * outer_part + table.cross.T @ inner_part
    by_inner = inner_count * inner_part + table.cross @ outer_part
    square = outer_part.T @ by_outer + inner_part.T @ by_inner
    size = np.array([part @ prof.outer_py for part in outer] + [part @ prof.inner_py for part in inner])
    return Products(by_outer, by_inner, square), size


def patterns(table: StackedTable, columns: Floats) -> Floats:
    """(I x D) columns for each D of one factor, shape (1 + groups, *columns.shape)."""
    K = table.n_systems
    masks = np.tile(table.groups, (1, len(columns) // K)).reshape(
        len(table.groups), -1, *[1] * (columns.ndim - 1)
    )
    return np.concatenate([shared(columns, K)[None], masks * columns])


def shared(columns: Floats, n_systems: int) -> Floats:
    """(I x J) columns: every entry replaced by the sum over systems of its level."""
    parts = columns.reshape(-1, n_systems, *columns.shape[1:])
    return np.asarray(np.repeat(parts.sum(axis=1), n_systems, axis=0))


class InnerBlocks(NamedTuple):
    """Blocks of each inner level, (levels, K, K): V, 1 - n W (the blocks of Q), and those of Q Y Q'."""

    V: Floats
    left: Floats
    hidden: Floats


def inner_blocks(table: StackedTable, factor: JointFactor) -> InnerBlocks:
    """What the inner factor contributes to traces at one gamma."""
    count = table.inner_count
    left = np.eye(table.n_systems) - count[:, :, None] * factor.inner
    between = _between(table, factor.Y)
    return InnerBlocks(left * count[:, None, :], left, left @ between @ left.transpose(0, 2, 1))


def _between(table: StackedTable, Y: Floats) -> Floats:
    """C_i Y C_i' of each inner level i, shape (levels, K, K)."""
    K, n_outer, n_inner = table.n_systems, len(table.outer_count), len(table.inner_count)
    result = np.empty((n_inner, K, K))
    if table.dense is not None:
        blocks = Y.reshape(n_outer, K, n_outer, K)
        for s in range(K):
            for t in range(s, K):
                result[:, s, t] = np.einsum("on,on->n", table.dense[s], blocks[:, s, :, t] @ table.dense[t])
                result[:, t, s] = result[:, s, t]
        return result
    step = max(1, _CHUNK // (K * len(Y)))
    for first in range(0, n_inner, step):
        rows = table.cross[first * K : (first + step) * K]
        entries = rows.tocoo()
        spread = (rows @ Y).reshape(-1, K, len(Y))[entries.row // K, :, entries.col]  # (ratings, K)
        shape = (rows.shape[0], len(entries.data))
        places = sparse.csr_array((entries.data, (entries.row, np.arange(shape[1]))), shape=shape)
        result[first : first + step] = (places @ spread).reshape(-1, K, K)
    return result


def inner_squares(table: StackedTable, left: Floats) -> list[Floats]:
    """Q'(I x D)Q for each D of the inner factor, each of shape (outer * K, outer * K)."""
    squares = [_gram(table, left.sum(axis=1))]
    for group in table.groups:
        members = np.flatnonzero(group)
        if len(members) == 1:
            squares.append(_gram(table, left[:, members[0]]))
        else:
            squares.append(crossed_blocks(table, left.transpose(0, 2, 1) @ (group[:, None] * left)))
    return squares


def _gram(table: StackedTable, weights: Floats) -> Floats:
    """sum_i (C_i'w_i)(C_i'w_i)', shape (outer * K, outer * K); weights (inner levels, K)."""
    if table.dense is not None:
        rows = (table.dense.transpose(2, 1, 0) * weights[:, None, :]).reshape(len(weights), -1)
        return np.asarray(rows.T @ rows)
    levels = np.repeat(np.arange(len(weights)), weights.shape[1])
    sums = sparse.csr_array((weights.ravel(), (levels, np.arange(weights.size))))
    sparse_rows = sums @ table.cross
    return np.asarray((sparse_rows.T @ sparse_rows).toarray())


def outer_half(factor: JointFactor) -> Floats:
    """The matrix X with Zo'H^-1 Zo = A - X'X, shape (outer * K, outer * K)."""
    K, size = len(factor.root), len(factor.A)
    half = (factor.A.reshape(-1, K) @ factor.root).reshape(size, size).T
    return np.asarray(linalg.solve_triangular(factor.cholesky, half, lower=True, check_finite=False))


def traces(table: StackedTable, factor: JointFactor, half: Floats, blocks: InnerBlocks) -> Floats:
    """tr(H^-1 G_t), shape (variances,); `half` is that of outer_half."""
    K = table.n_systems
    levels = np.arange(len(half) // K)
    own = factor.A.reshape(len(levels), K, len(levels), K)[levels, :, levels, :]
    outer_own = (np.diag(factor.A) - (half**2).sum(axis=0)).reshape(-1, K).sum(axis=0)
    inner = (blocks.V - blocks.hidden).sum(axis=0)
    return np.array(
        [
            own.sum() - (half.reshape(len(half), -1, K).sum(axis=2) ** 2).sum(),
            *table.groups @ outer_own,
            inner.sum(),
            *table.groups @ np.diag(inner),
        ]
    )


def fixed_products(table: StackedTable, prof: JointProfile) -> Floats:
    """X'H^-1 G_t H^-1 X, shape (variances, K, K)."""
    return np.concatenate([x.T @ patterns(table, x) for x in (prof.outer_x, prof.inner_x)])


class JointInformation(NamedTuple):
    """tr(H^-1 G_s H^-1 G_t), X'H^-1 G_t H^-1 X and X'H^-1 G_s H^-1 G_t H^-1 X, the residual (G = I) last;
    shapes (q, q), (q, K, K), (q, q, K, K)."""

    gg: Floats
    xgx: Floats
    xggx: Floats


def information(table: StackedTable, factor: JointFactor, prof: JointProfile) -> JointInformation:
    """What Kenward and Roger (1997) need, at one gamma."""
    K, q = table.n_systems, table.n_variances
    half, blocks = outer_half(factor), inner_blocks(table, factor)
    gg = np.zeros((q + 1, q + 1))
    gg[:q, :q] = _trace_products(table, factor, factor.A - half.T @ half, blocks)
    xgx = np.zeros((q + 1, K, K))
    xgx[:q] = fixed_products(table, prof)
    xggx = np.zeros((q + 1, q + 1, K, K))
    xggx[:q, :q] = _fixed_double_products(table, factor, prof)
    # I = H - sum gamma_t G_t, once for each residual
    gamma, xhx = factor.gamma, np.linalg.inv(prof.phi)
    trace = traces(table, factor, half, blocks)
    gg[:q, q] = gg[q, :q] = trace - gg[:q, :q] @ gamma
    gg[q, q] = table.n - trace @ gamma - gg[q, :q] @ gamma
    xgx[q] = xhx - np.tensordot(gamma, xgx[:q], 1)
    for t in range(q):
        xggx[t, q] = xgx[t] - np.tensordot(gamma, xggx[t, :q], 1)
        xggx[q, t] = xggx[t, q].T
    xggx[q, q] = xgx[q] - np.tensordot(gamma, xggx[q, :q], 1)
    return JointInformation(gg, xgx, xggx)


def _trace_products(table: StackedTable, factor: JointFactor, T: Floats, blocks: InnerBlocks) -> Floats:
    """tr(H^-1 G_s H^-1 G_t) of the random effects, shape (variances, variances)."""
    K, groups, n_outer = table.n_systems, table.groups, len(table.outer_count)
    q = table.n_variances
    h = q // 2
    gg = np.zeros((q, q))
    half = T.reshape(len(T), -1, K).sum(axis=2)
    both = half.reshape(-1, K, half.shape[1]).sum(axis=1)
    gg[0, 0] = (both**2).sum()
    gg[0, 1:h] = groups @ (half**2).sum(axis=1).reshape(-1, K).sum(axis=0)
    gg[1:h, 1:h] = groups @ (T**2).reshape(n_outer, K, n_outer, K).sum(axis=(0, 2)) @ groups.T
    M = np.eye(len(T)) - factor.Y @ factor.A
    M_shared = shared(M.T, K).T
    hidden = []
    for t, square in enumerate(inner_squares(table, blocks.left), start=h):
        product = square @ M
        gg[0, t] = (product * M_shared).sum()
        gg[1:h, t] = groups @ (product * M).sum(axis=0).reshape(-1, K).sum(axis=0)
        hidden.append(factor.Y @ square)
    for s in range(h):
        for t in range(s, h):
            gg[h + s, h + t] = np.einsum("ij,ji->", hidden[s], hidden[t])
    V, B = blocks.V, blocks.hidden
    v, b = V.sum(axis=1), B.sum(axis=1)  # 1'V and 1'B of each level
    corner, hidden_corner = v.sum(axis=1), b.sum(axis=1)
    gg[h, h] += (corner**2).sum() - 2.0 * (corner * hidden_corner).sum()
    gg[h, h + 1 :] += groups @ (v**2 - 2.0 * v * b).sum(axis=0)
    gg[h + 1 :, h + 1 :] += np.triu(groups @ (V**2 - 2.0 * V * B).sum(axis=0) @ groups.T)
    return np.triu(gg) + np.triu(gg, 1).T


def _fixed_double_products(table: StackedTable, factor: JointFactor, prof: JointProfile) -> Floats:
    """X'H^-1 G_s H^-1 G_t H^-1 X of the random effects, shape (variances, variances, K, K)."""
    K, q = table.n_systems, table.n_variances
    outer_count, inner_count = table.outer_count.reshape(-1, 1), table.inner_count.reshape(-1, 1)
    random, random_inner = patterns(table, prof.outer_x), patterns(table, prof.inner_x)
    outer = [outer_count * columns for columns in random] + [table.cross.T @ c for c in random_inner]
    inner = [table.cross @ columns for columns in random] + [inner_count * c for c in random_inner]
    by_outer, by_inner = np.column_stack(outer), np.column_stack(inner)
    square = np.vstack([part.T @ by_outer for part in random] + [p.T @ by_inner for p in random_inner])
    solved = solve(table, factor, Products(by_outer, by_inner, square)).square
    return solved.reshape(q, K, q, K).transpose(0, 2, 1, 3)

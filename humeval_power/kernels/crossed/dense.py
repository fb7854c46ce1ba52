"""The crossed model by one dense matrix: for small tables, with nothing to compile.

With all columns of workers and items side by side, Z'H^-1Z = M - M K M with M = Z'Z and
K = G^1/2 (I + G^1/2 M G^1/2)^-1 G^1/2, G the diagonal of gamma. The kernels never form it, and so reach sizes
at which it would take gigabytes; where it fits, it answers at once. The search is that of `reml`, its own
source run by Python on these functions, which bear the names of those in `likelihood`. Notation as there.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from humeval_power.kernels.crossed import reml
from humeval_power.kernels.crossed.by_python import optimise_with, run_by_python
from humeval_power.kernels.crossed.information import Information, with_residual
from humeval_power.kernels.crossed.likelihood import Gram, Profile, Response

Floats = NDArray[np.float64]


class Wide(NamedTuple):
    """Crossproducts of a design with all columns of workers and items in one matrix, outer ones first.

    z_z : Z'Z; z_x : Z'X; member : (columns, q), which type each column has; xx, n : as in Gram
    """

    z_z: Floats
    z_x: Floats
    member: Floats
    xx: Floats
    n: int
    inner_shape: tuple[int, int]


class DenseFactor(NamedTuple):
    """H at one gamma: root of gamma by column, the Cholesky factor of I + G^1/2 M G^1/2, and what it makes of
    G^1/2 M."""

    root: Floats
    lower: Floats
    half: Floats
    log_det: float
    ok: bool


class DenseProfile(NamedTuple):
    """What `likelihood.Profile` has; `seen` is Z'H^-1X, and Z'Py last, shape (columns, p + 1)."""

    criterion: float
    beta: Floats
    phi: Floats
    rss: float
    seen: Floats
    ok: bool


def n_columns(gram: Gram) -> int:
    """Order of the dense matrices: columns of workers and items together."""
    return int(
        len(gram.outer_block) * len(gram.outer_types) + len(gram.inner_block) * len(gram.inner_types)
    )


def widened(gram: Gram) -> Wide:
    """The design in dense form."""
    qa, qb = len(gram.outer_types), len(gram.inner_types)
    n_outer, n_inner = len(gram.outer_block), len(gram.inner_block)
    order, p = n_outer * qa, len(gram.xx)
    z_z = np.zeros((order + n_inner * qb, order + n_inner * qb))
    outer_rows = np.arange(order).reshape(n_outer, qa)
    inner_rows = order + np.arange(n_inner * qb).reshape(n_inner, qb)
    z_z[outer_rows[:, :, None], outer_rows[:, None, :]] = gram.outer_block
    z_z[inner_rows[:, :, None], inner_rows[:, None, :]] = gram.inner_block
    level = np.repeat(np.arange(n_inner), np.diff(gram.start))
    z_z[outer_rows[gram.outer][:, :, None], inner_rows[level][:, None, :]] = gram.cross
    for (a, b), block in zip(gram.meeting, gram.meeting_block, strict=True):
        z_z[outer_rows[a][:, None], outer_rows[b]] = block
        z_z[outer_rows[b][:, None], outer_rows[a]] = block.T
    z_z[order:, :order] = z_z[:order, order:].T
    z_x = np.concatenate([gram.outer_x.reshape(-1, p), gram.inner_x.reshape(-1, p)])
    sizes = np.diff(gram.begin)
    kind = np.repeat(np.arange(len(sizes)) * qa, sizes)[:, None] + np.arange(qa)
    types = np.concatenate([kind.ravel(), len(sizes) * qa + np.tile(np.arange(qb), n_inner)])
    member = (types[:, None] == np.arange(len(sizes) * qa + qb)).astype(float)
    return Wide(z_z, z_x, member, gram.xx, gram.n, (n_inner, qb))


def factorise(wide: Wide, gamma: Floats) -> DenseFactor:
    """Factorise H at `gamma` (outer column types first)."""
    root = wide.member @ np.sqrt(gamma)
    half = wide.z_z * root  # rows of what is symmetric are the columns that LAPACK works on
    matrix = half * root[:, None]
    matrix.flat[:: len(root) + 1] += 1.0
    lower, fault = lapack.dpotrf(matrix.T, lower=1, clean=1, overwrite_a=1)
    if fault:
        raise np.linalg.LinAlgError("H is not positive definite")
    half = blas.dtrsm(1.0, lower, half.T, lower=1, overwrite_b=1)
    return DenseFactor(root, lower, half, 2.0 * float(np.log(lower.diagonal()).sum()), ok=True)


def profile(wide: Wide, response: Response, factor: DenseFactor, restricted: bool) -> DenseProfile:
    """Profile the fixed effects and sigma^2 out: criterion -2 log (restricted) likelihood."""
    p = len(wide.xx)
    order = response.outer_y.size
    columns = np.empty((p + 1, len(factor.root)))
    columns[:p] = wide.z_x.T
    columns[p, :order], columns[p, order:] = response.outer_y.ravel(), response.inner_y.ravel()
    half = blas.dtrsm(1.0, factor.lower, (columns * factor.root).T, lower=1, overwrite_b=1)
    raw = np.empty((p + 1, p + 1))
    raw[:p, :p], raw[p, :p], raw[:p, p], raw[p, p] = wide.xx, response.xy, response.xy, response.yy
    products = raw - half.T @ half
    seen = columns.T - factor.half.T @ half  # Z'H^-1 of X and of y
    phi = np.linalg.inv(products[:p, :p])
    phi = 0.5 * (phi + phi.T)
    beta = phi @ products[:p, p]
    rss = float(products[p, p] - beta @ products[:p, p])
    seen[:, p] -= seen[:, :p] @ beta
    df = wide.n - p if restricted else wide.n
    ok = rss > 1e-14 * response.yy and rss > 0.0
    criterion = math.inf
    if ok:
        criterion = df * (1.0 + math.log(2.0 * math.pi * rss / df)) + factor.log_det
        if restricted:
            criterion += float(np.linalg.slogdet(products[:p, :p])[1])
    return DenseProfile(criterion, beta, phi, rss, seen, ok)


def traces(wide: Wide, factor: DenseFactor, _gamma: Floats) -> Floats:
    """tr(Z_t'H^-1Z_t) for every column type, shape (q,)."""
    return np.asarray(
        wide.member.T @ (wide.z_z.diagonal() - np.einsum("ct,ct->t", factor.half, factor.half))
    )


def gradient(wide: Wide, prof: DenseProfile, trace: Floats, restricted: bool) -> Floats:
    """Gradient of the criterion in gamma, shape (q,)."""
    p = len(prof.beta)
    fall = prof.seen[:, p] ** 2 / (prof.rss / (wide.n - p if restricted else wide.n))
    if restricted:
        fall += ((prof.seen[:, :p] @ prof.phi) * prof.seen[:, :p]).sum(axis=1)
    return np.asarray(trace - wide.member.T @ fall)


def working_products(wide: Wide, factor: DenseFactor, prof: DenseProfile, q: int) -> tuple[Floats, Floats]:
    """z_s'Z_s'PZ_t z_t (q, q), z_t'z_t (q,), with z_t = Z_t'Py."""
    p = len(prof.beta)
    by_type = wide.member[:, :q] * prof.seen[:, p:]
    across = factor.half @ by_type
    x_part = by_type.T @ prof.seen[:, :p]
    quadratic = by_type.T @ wide.z_z @ by_type - across.T @ across - x_part @ prof.phi @ x_part.T
    return quadratic, np.asarray((by_type**2).sum(axis=0))


def second_order(
    wide: Wide, factor: DenseFactor, prof: DenseProfile, norm: Floats, xgx: Floats, xggx: Floats
) -> None:
    """Fill the squared norms of the blocks of T, X'H^-1G_tH^-1X and X'H^-1G_sH^-1G_tH^-1X."""
    t = wide.z_z - factor.half.T @ factor.half
    norm[:] = wide.member.T @ (t * t) @ wide.member
    by_type = wide.member.T[:, :, None] * prof.seen[:, : len(prof.beta)]  # (q, columns, p)
    xgx[:] = np.einsum("tcj,tck->tjk", by_type, by_type)
    xggx[:] = np.einsum("scj,tck->stjk", by_type, np.einsum("cd,tdk->tck", t, by_type))


def examine(
    gram: Gram, response: Response, gamma: Floats, restricted: bool, norm: Floats, xgx: Floats, xggx: Floats
) -> tuple[Profile, DenseFactor, Floats]:
    """What `second_order.examine` gives."""
    wide = widened(gram)
    factor = factorise(wide, gamma)
    prof = profile(wide, response, factor, restricted)
    second_order(wide, factor, prof, norm, xgx, xggx)
    return _as_the_kernels_do(wide, prof), factor, traces(wide, factor, gamma)


def design_information(gram: Gram, gamma: Floats) -> tuple[Information, Floats]:
    """Information at assumed variances, and (X'H^-1X)^-1, in units of H; gamma with outer types first."""
    q, p = len(gamma), len(gram.xx)
    norm, xgx, xggx = np.empty((q, q)), np.empty((q, p, p)), np.empty((q, q, p, p))
    prof, _, trace = examine(gram, no_response(gram), gamma, True, norm, xgx, xggx)
    return with_residual(gamma, trace, norm, xgx, xggx, prof.phi, gram.n), prof.phi


def no_response(gram: Gram) -> Response:
    """A response that is zero, of size one: what the design alone says does not depend on it."""
    inner, outer = gram.inner_block.shape[:2], gram.outer_block.shape[:2]
    p, order = len(gram.xx), outer[0] * outer[1]
    return Response(np.zeros(inner), np.zeros(outer), np.zeros(p), 1.0, np.zeros(order), np.zeros(p), 1.0)


def response_products(
    gram: Gram,
    outer: NDArray[np.int64],
    inner: NDArray[np.int64],
    outer_columns: Floats,
    inner_columns: Floats,
    x: Floats,
    y: Floats,
) -> tuple[Floats, ...]:
    """What `crossproducts.response_products` gives, for a few responses y (r, n)."""

    def by_level(level: NDArray[np.int64], n_levels: int, columns: Floats, values: Floats) -> Floats:
        sums = np.zeros((len(values), n_levels, columns.shape[1]))
        for row, value in zip(sums, values, strict=True):
            np.add.at(row, level, columns * value[:, None])
        return sums

    n_inner = len(gram.inner_block)
    inner_y = by_level(inner, n_inner, inner_columns, y)
    means = np.einsum("ibc,ric->rib", gram.inner_pinv, inner_y)
    left = y - (means[:, inner] * inner_columns).sum(axis=2)

    def by_outer(values: Floats) -> Floats:
        sizes = np.diff(gram.begin)
        kinds = zip(outer, sizes, outer_columns, strict=True)
        return np.concatenate([by_level(*kind, values) for kind in kinds], axis=1)

    base = by_outer(left).reshape(len(y), -1)
    return (
        inner_y,
        by_outer(y),
        y @ x,
        (y**2).sum(axis=1),
        base,
        left @ x,
        (left**2).sum(axis=1),
    )


def fit_many(gram: Gram, *arguments: Any) -> None:
    """What `reml.fit_many` gives."""
    _fit_many(widened(gram), *arguments)


def _as_the_kernels_do(wide: Wide, prof: DenseProfile) -> Profile:
    """The same with the columns of workers and of items apart."""
    p = len(prof.beta)
    order = len(prof.seen) - wide.inner_shape[0] * wide.inner_shape[1]
    outer = np.ascontiguousarray(prof.seen[:order].T)
    inner = np.ascontiguousarray(prof.seen[order:].T).reshape(p + 1, *wide.inner_shape)
    return Profile(prof.criterion, prof.beta, prof.phi, prof.rss, inner, outer, inner[p], outer[p], prof.ok)


_optimise = optimise_with(
    factorise=factorise,
    profile=profile,
    traces=traces,
    gradient=gradient,
    working_products=working_products,
)
_fit_many = run_by_python(reml.fit_many, optimise=_optimise, second_order=second_order)

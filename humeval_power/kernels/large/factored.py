"""The crossed model of a large table by sparse factors: exact, with LAPACK where fronts are large.

The functions bear the names of those in `crossed.likelihood`, whose loops over one dense worker block they
stand in for where workers are many; the search is that of `reml`, its own source run by Python on them. Notation
as in `crossed.likelihood` and `large.design`. S = I + R B R with R the roots of gamma and B = Z_o'H_i^-1Z_o, so
that K = R S^-1 R and (I - B K) u = R^-1 S^-1 R u.
"""

from __future__ import annotations

import os
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, diags_array

from humeval_power.kernels.crossed.by_python import optimise_with
from humeval_power.kernels.crossed.likelihood import Profile, Response
from humeval_power.kernels.large import fronts
from humeval_power.kernels.large.design import Large, assemble, quadratic_forms

Floats = NDArray[np.float64]

_DIRECT = 1e-4  # below this gamma x size of B, (1 - S^-1) / gamma would cancel
_THREADED = 200_000  # entries of fronts from which connected parts are factorised side by side


class SparseFactor:
    """H factorised at one gamma; what only some need is computed when it is asked for.

    root : (outer columns,), by place; inverse : (groups, width, width), (I + A gamma)^-1
    diagonal : of B; log_det : log |H|; ok : whether S was positive definite
    """

    def __init__(self, large: Large, gamma: Floats) -> None:
        before = large.q - len(large.gram.inner_types)
        self.large, self.gamma = large, gamma
        self.norm: Floats | None = None  # once it is known
        self.root = np.sqrt(gamma[:before])[large.outer_type]
        groups = large.groups
        self.inverse = np.empty_like(groups.block)
        self.diagonal = np.zeros(len(self.root))
        buffer = np.zeros(large.fronts.entries)
        own = (large.own_row, large.own_column, large.own_value)
        log_det = assemble(
            large.fronts, groups, gamma[before:], self.root, own, self.inverse, self.diagonal, buffer
        )
        self._threads = min(2, os.cpu_count() or 1) if len(buffer) > _THREADED else 1
        self.cholesky = fronts.factorised(large.fronts, buffer, large.tasks, self._threads)
        self.log_det = log_det + self.cholesky.log_det
        self.ok = self.cholesky.ok
        sizes = np.zeros(before)
        np.maximum.at(sizes, large.outer_type, self.diagonal)
        self.clear = gamma[:before] * sizes > _DIRECT  # types in which S^-1 keeps the digits of B

    def half_solve(self, right: Floats) -> Floats:
        """L^-1 of rows (outer columns, c), S = LL'."""
        solved = np.array(right, order="C")
        fronts.forward(self.cholesky, solved, self.large.tasks)
        return solved

    def back_solve(self, half: Floats) -> Floats:
        """L'^-1 of rows (outer columns, c), in place."""
        fronts.backward(self.cholesky, half, self.large.tasks)
        return half

    def solve(self, right: Floats) -> Floats:
        """S^-1 of rows (outer columns, c)."""
        return self.back_solve(self.half_solve(right))

    @cached_property
    def selected(self) -> Floats:
        """S^-1 at the places of the fronts."""
        return fronts.inverse(self.cholesky, self.large.tasks, self._threads)

    @cached_property
    def selected_diagonal(self) -> Floats:
        """The diagonal of S^-1, by place."""
        own = self.large.fronts
        front = own.front_of
        local = np.arange(len(front)) - own.first[front]
        return np.asarray(self.selected[own.offset[front] + local * (own.orders[front] + 1)])

    @cached_property
    def forms(self) -> Floats:
        """C'KC of each group, (groups, width, width)."""
        large = self.large
        out = np.empty_like(self.inverse)
        quadratic_forms(large.fronts, large.groups, self.root, self.inverse, self.selected, out)
        return out

    def eliminated(self, values: Floats) -> Floats:
        """(I + A gamma)^-1 of rows (inner columns, c)."""
        return self._by_blocks(self.inverse, values)

    def across(self, values: Floats) -> Floats:
        """Z_o'H_i^-1Z_i of rows (inner columns, c)."""
        turned = np.swapaxes(self.inverse, 1, 2)
        return np.asarray(self.large.touched.T @ self._by_blocks(turned, values))

    def across_transposed(self, values: Floats) -> Floats:
        """Z_i'H_i^-1Z_o of rows (outer columns, c)."""
        return self.eliminated(np.asarray(self.large.touched @ values))

    def outer_block(self, values: Floats) -> Floats:
        """B of rows (outer columns, c)."""
        large = self.large
        seen = self._by_blocks(self._shrunk, np.asarray(large.touched @ values))
        return np.asarray(large.own @ values - large.touched.T @ seen)

    def without_outer(self, values: Floats, solved: Floats) -> Floats:
        """(I - B K) u for rows u, with S^-1 R u."""
        clear = self.clear[self.large.outer_type]
        result = np.empty_like(values)
        result[clear] = solved[clear] / self.root[clear][:, None]
        if not clear.all():
            seen = self.outer_block(self.root[:, None] * solved)
            result[~clear] = values[~clear] - seen[~clear]
        return result

    @property
    def outer_sparse(self) -> csr_array:
        """B."""
        touched = self.large.touched
        return csr_array(self.large.own - touched.T @ times_blocks(self._shrunk, touched))

    @cached_property
    def _shrunk(self) -> Floats:
        """gamma (I + A gamma)^-1 of each group."""
        large = self.large
        inner = self.gamma[large.q - len(large.gram.inner_types) :]
        width = self.inverse.shape[1]
        per_layer = len(self.inverse) // len(large.groups.layers)
        own = np.repeat(inner.reshape(-1, width), per_layer, axis=0)
        return np.asarray(own[:, :, None] * self.inverse)

    @staticmethod
    def _by_blocks(blocks: Floats, values: Floats) -> Floats:
        """Rows (groups x width, c) multiplied block by block."""
        width = blocks.shape[1]
        if width == 1:
            return np.asarray(blocks[:, 0] * values)
        return np.asarray((blocks @ values.reshape(len(blocks), width, -1)).reshape(values.shape))


def times_blocks(blocks: Floats, matrix: csr_array) -> csr_array:
    """A matrix of blocks (groups, width, width) on the diagonal times a sparse one."""
    n, width, _ = blocks.shape
    if width == 1:
        return csr_array(diags_array(blocks[:, 0, 0]) @ matrix)
    index = np.arange(n * width).reshape(n, width)
    row, column = np.broadcast_arrays(index[:, :, None], index[:, None, :])
    entries = (blocks.ravel(), (row.ravel(), column.ravel()))
    return csr_array(csr_array(entries, shape=(n * width, n * width)) @ matrix)


def factorise(large: Large, gamma: Floats) -> SparseFactor:
    """Factorise H at `gamma` (outer column types first)."""
    known: list[SparseFactor] = [factor for factor in large.last if np.array_equal(factor.gamma, gamma)]
    return known[0] if known else SparseFactor(large, gamma)


def profile(large: Large, response: Response, factor: SparseFactor, restricted: bool) -> Profile:
    """Profile the fixed effects and sigma^2 out: criterion -2 log (restricted) likelihood."""
    gram, p = large.gram, len(large.xx)
    inner_r = np.column_stack([large.inner_x, large.by_group(response.inner_y)])
    base_r = np.column_stack([large.base_x, response.outer_base[large.column_of]])
    eliminated = factor.eliminated(inner_r)
    levels = large.by_level(eliminated)
    projected = large.by_group(np.einsum("ibc,ic...->ib...", gram.inner_pinv, levels))
    outer_u = base_r + large.touched.T @ projected
    half = factor.half_solve(factor.root[:, None] * outer_u)
    base = np.block(
        [
            [gram.base_xx, response.base_xy[:, None]],
            [response.base_xy[None, :], np.array([[response.base_yy]])],
        ]
    )
    products = base + inner_r.T @ projected - half.T @ half
    solved = factor.back_solve(half)
    outer_h = factor.without_outer(outer_u, solved)
    inner_h = eliminated - factor.across_transposed(factor.root[:, None] * solved)
    xhx = 0.5 * (products[:p, :p] + products[:p, :p].T)
    phi, log_det_x, ok = _inverse(xhx)
    beta, rss = np.zeros(p), 0.0
    if ok:
        beta = phi @ products[p, :p]
        rss = float(products[p, p] - beta @ products[p, :p])
    inner_h[:, p] -= inner_h[:, :p] @ beta
    outer_h[:, p] -= outer_h[:, :p] @ beta
    df = gram.n - p if restricted else gram.n
    ok = ok and factor.ok and rss > 1e-14 * response.yy and rss > 0.0
    criterion = np.inf
    if ok:
        criterion = df * (1.0 + np.log(2.0 * np.pi * rss / df)) + factor.log_det
        criterion += log_det_x if restricted else 0.0
    outer = np.empty((p + 1, len(outer_h)))
    outer[:, large.column_of] = outer_h.T
    by_level = np.moveaxis(large.by_level(inner_h), -1, 0)
    inner = np.ascontiguousarray(by_level)
    return Profile(float(criterion), beta, phi, rss, inner, outer, inner[p], outer[p], bool(ok))


def _inverse(matrix: Floats) -> tuple[Floats, float, bool]:
    """Inverse and log determinant of a small matrix; False where it is not positive definite."""
    try:
        lower = np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return np.full_like(matrix, np.nan), np.nan, False
    inverse = np.linalg.inv(matrix)
    return 0.5 * (inverse + inverse.T), 2.0 * float(np.log(np.diag(lower)).sum()), True


def member(large: Large) -> Floats:
    """Which type each outer column has, (outer types, outer columns) by place."""
    types = np.arange(large.q - len(large.gram.inner_types))
    return np.asarray((types[:, None] == large.outer_type).astype(float))


def sums_by_type(large: Large, outer: Floats, inner: Floats) -> Floats:
    """Sums over the columns of each type, (q, ...), of values by place and by group."""
    of_outer = np.tensordot(member(large), outer, axes=1)
    of_inner = [inner[large.inner_rows(t)].sum(axis=0) for t in large.gram.inner_types]
    return np.concatenate([of_outer, np.stack(of_inner)])


def traces(large: Large, factor: SparseFactor, gamma: Floats) -> Floats:
    """tr(Z_t'H^-1Z_t) for every column type, shape (q,)."""
    before = large.q - len(large.gram.inner_types)
    shown = np.zeros(before)
    np.add.at(shown, large.outer_type, 1.0 - factor.selected_diagonal)
    direct = np.zeros(before)
    np.add.at(direct, large.outer_type, factor.diagonal)
    trace = np.empty(large.q)
    for t in range(before):
        trace[t] = shown[t] / gamma[t] if factor.clear[t] else direct[t] - _hidden(large, factor, t)
    own = np.einsum("gab,gba->ga", factor.inverse, large.groups.block)
    seen = (own - np.einsum("gaa->ga", factor.forms)).reshape(-1)
    for t in large.gram.inner_types:
        trace[before + t] = seen[large.inner_rows(t)].sum()
    return trace


def _hidden(large: Large, factor: SparseFactor, t: int) -> float:
    """tr(BKB) over the outer columns of type `t`."""
    total = 0.0
    parts = np.unique(large.fronts.part[large.outer_type == t])
    beside = np.isin(large.fronts.part, parts)
    if not factor.root[beside].any():
        return total
    for chosen in columns_of_type(large, t):
        half = factor.half_solve(factor.root[:, None] * factor.outer_block(chosen))
        total += float((half**2).sum())
    return total


def columns_of_type(large: Large, t: int, kept: NDArray[np.bool_] | None = None) -> list[Floats]:
    """Indicators (outer columns, c) of the columns of outer type `t` (those `kept` alone), one of every part in
    each: parts do not meet, so that one solution serves them all."""
    chosen = large.outer_type == t
    if kept is not None:
        chosen = chosen & kept
    places = np.flatnonzero(chosen)
    blocks = []
    for first in range(0, int(large.rank[places].max(initial=-1)) + 1, _BLOCK):
        here = places[(large.rank[places] >= first) & (large.rank[places] < first + _BLOCK)]
        block = np.zeros((len(chosen), int(large.rank[here].max()) - first + 1))
        block[here, large.rank[here] - first] = 1.0
        blocks.append(block)
    return blocks


_BLOCK = 64  # right-hand sides that are solved together


def gradient(large: Large, prof: Profile, trace: Floats, restricted: bool) -> Floats:
    """Gradient of the criterion in gamma, shape (q,)."""
    p = len(prof.beta)
    outer, inner = seen_columns(large, prof)
    sigma2 = prof.rss / (large.n - p if restricted else large.n)
    slope = trace - sums_by_type(large, outer[:, p] ** 2, inner[:, p] ** 2) / sigma2
    if restricted:
        by_x = [np.einsum("cj,jk,ck->c", part[:, :p], prof.phi, part[:, :p]) for part in (outer, inner)]
        slope = slope - sums_by_type(large, by_x[0], by_x[1])
    return np.asarray(slope)


def seen_columns(large: Large, prof: Profile) -> tuple[Floats, Floats]:
    """Z'H^-1X and Z'Py (columns, p + 1), of outer columns by place and of inner ones by group."""
    outer = prof.outer_hx.T[large.column_of]
    return outer, large.by_group(np.moveaxis(prof.inner_hx, 0, -1))


def times_t(large: Large, factor: SparseFactor, outer: Floats, inner: Floats) -> tuple[Floats, Floats]:
    """T v for rows v = (outer, inner), T = Z'H^-1Z."""
    outer_g = factor.outer_block(outer) + factor.across(inner)
    solved = factor.solve(factor.root[:, None] * outer_g)
    own = large.groups.block
    inner_g = factor.eliminated(SparseFactor._by_blocks(own, inner))
    inner_t = inner_g + factor.across_transposed(outer - factor.root[:, None] * solved)
    return factor.without_outer(outer_g, solved), inner_t


def split_by_type(large: Large, outer: Floats, inner: Floats) -> tuple[Floats, Floats]:
    """Columns (columns, c) of every type apart, zeros elsewhere: (columns, q c)."""
    before, c = large.q - len(large.gram.inner_types), outer.shape[1]
    apart_outer = np.zeros((len(outer), large.q, c))
    apart_outer[np.arange(len(outer)), large.outer_type] = outer
    apart_inner = np.zeros((len(inner), large.q, c))
    for t in large.gram.inner_types:
        rows = large.inner_rows(t)
        apart_inner[rows, before + t] = inner[rows]
    return apart_outer.reshape(len(outer), -1), apart_inner.reshape(len(inner), -1)


def working_products(large: Large, factor: SparseFactor, prof: Profile, _q: int) -> tuple[Floats, Floats]:
    """z_s'Z_s'PZ_t z_t (q, q), z_t'z_t (q,), with z_t = Z_t'Py."""
    p = len(prof.beta)
    outer, inner = seen_columns(large, prof)
    x_part = sums_by_type(large, outer[:, :p] * outer[:, [p]], inner[:, :p] * inner[:, [p]])
    square = sums_by_type(large, outer[:, p] ** 2, inner[:, p] ** 2)
    outer_t, inner_t = times_t(large, factor, *split_by_type(large, outer[:, [p]], inner[:, [p]]))
    quadratic = sums_by_type(large, outer[:, [p]] * outer_t, inner[:, [p]] * inner_t)
    return quadratic - x_part @ prof.phi @ x_part.T, square


def effect_variances(large: Large, factor: SparseFactor) -> tuple[Floats, Floats]:
    """Variances given y of the random effects, relative to sigma^2: of outer columns (outer columns,) and of inner
    ones (inner levels, qb).

    They are K, and gamma W + gamma C'KC gamma with W = (I + A gamma)^-1.
    """
    outer = np.empty(len(factor.root))
    outer[large.column_of] = factor.root**2 * factor.selected_diagonal
    gamma = factor.gamma[large.q - len(large.gram.inner_types) :]
    given, added = (np.einsum("gaa->ga", blocks).reshape(-1) for blocks in (factor.inverse, factor.forms))
    return outer, gamma * large.by_level(given) + gamma**2 * large.by_level(added)


optimise = optimise_with(
    factorise=factorise,
    profile=profile,
    traces=traces,
    gradient=gradient,
    working_products=working_products,
)

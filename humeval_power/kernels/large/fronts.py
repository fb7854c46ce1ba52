"""Sparse Cholesky factors, solutions and selected inverses by fronts.

A front is a small dense matrix of the columns that are eliminated together and those that they change; what
they change is added to the parent's front (Duff and Reid 1983). The entries of the inverse at the places of the
fronts follow from the root down (Takahashi, Fagan and Chen 1973; Erisman and Tinney 1975). Small fronts are
worked on by plain loops, large ones by LAPACK; connected parts do not touch each other, so that large ones can
run side by side and give the same numbers. Fronts lie one after the other in one buffer, row by row, their
lower triangles filled; notation as in `elimination`.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from humeval_power.kernels.kernel import inner, kernel
from humeval_power.kernels.large.elimination import SMALL, Fronts

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Span = tuple[int, int, bool]


class Cholesky(NamedTuple):
    """The factor L of a matrix S = LL', in the buffer of its fronts; `ok` is False where S is not positive
    definite."""

    fronts: Fronts
    buffer: Floats
    log_det: float
    ok: bool


def spans_of(fronts: Fronts) -> list[list[Span]]:
    """Fronts that stand side by side: lists of spans (begin, end, large), each of one large front or of small ones.

    Parts of small fronts alone are one list together, every other part has its own.
    """
    large = fronts.orders > SMALL
    part = fronts.part[fronts.first[:-1]]
    small_parts = np.bincount(part[large], minlength=int(part[-1]) + 1) == 0 if len(part) else part
    tasks: list[list[Span]] = []
    owner = -1
    for s, own in enumerate(part.tolist()):
        group = 0 if small_parts[own] else own + 1
        if not tasks or group != owner:
            tasks.append([])
            owner = group
        spans = tasks[-1]
        if spans and not large[s] and not spans[-1][2]:
            spans[-1] = (spans[-1][0], s + 1, False)
        else:
            spans.append((s, s + 1, bool(large[s])))
    return tasks


def run(tasks: list[list[Span]], work: Callable[[list[Span]], bool], n_threads: int) -> bool:
    """Do the work of every list of spans, at the same time where there are threads; True if all went well."""
    if n_threads == 1 or len(tasks) == 1:
        return all(work(spans) for spans in tasks)
    with ThreadPoolExecutor(n_threads) as pool:
        return all(list(pool.map(work, tasks)))


def factorised(fronts: Fronts, buffer: Floats, tasks: list[list[Span]], n_threads: int = 1) -> Cholesky:
    """The factor of the matrix whose entries are in `buffer`, which it takes over."""
    logs = np.zeros(len(fronts.parent))

    def work(spans: list[Span]) -> bool:
        for begin, end, large in spans:
            if large:
                ok = _factor_large(fronts, buffer, begin, logs)
            else:
                ok = factor_small(fronts, buffer, begin, end, logs)
            if not ok:
                return False
        return True

    ok = run(tasks, work, n_threads)
    return Cholesky(fronts, buffer, 2.0 * float(logs.sum()), ok)


def forward(factor: Cholesky, right: Floats, tasks: list[list[Span]]) -> None:
    """L^-1 of the rows `right` (n, c), by place, in place."""
    fronts = factor.fronts
    for spans in tasks:
        for begin, end, large in spans:
            if not large:
                forward_small(fronts, factor.buffer, begin, end, right)
                continue
            width, front, own, rows = _large(fronts, factor.buffer, begin)
            if right[own].any():
                right[own] = _solved(front[:width, :width], right[own], transposed=False)
                if len(rows):
                    right[rows] -= front[width:, :width] @ right[own]


def backward(factor: Cholesky, right: Floats, tasks: list[list[Span]]) -> None:
    """L'^-1 of the rows `right` (n, c), by place, in place."""
    fronts = factor.fronts
    for spans in reversed(tasks):
        for begin, end, large in reversed(spans):
            if not large:
                backward_small(fronts, factor.buffer, begin, end, right)
                continue
            width, front, own, rows = _large(fronts, factor.buffer, begin)
            if len(rows):
                right[own] -= front[width:, :width].T @ right[rows]
            if right[own].any():
                right[own] = _solved(front[:width, :width], right[own], transposed=True)


def inverse(factor: Cholesky, tasks: list[list[Span]], n_threads: int = 1) -> Floats:
    """The entries of S^-1 at the places of the fronts, in a buffer like theirs, both triangles filled."""
    fronts, buffer = factor.fronts, np.empty_like(factor.buffer)

    def work(spans: list[Span]) -> bool:
        for begin, end, large in reversed(spans):
            if large:
                _invert_large(fronts, factor.buffer, begin, buffer)
            else:
                invert_small(fronts, factor.buffer, begin, end, buffer)
        return True

    run(tasks, work, n_threads)
    return buffer


def view_of(fronts: Fronts, buffer: Floats, s: int) -> Floats:
    """Front s of a buffer, square."""
    begin, end = fronts.offset[s : s + 2].tolist()
    order = round(float(np.sqrt(end - begin)))
    return buffer[begin:end].reshape(order, order)


def _large(fronts: Fronts, buffer: Floats, s: int) -> tuple[int, Floats, slice, Ints]:
    """Columns eliminated in a front, its square, and the places of these columns and of its rows."""
    first, end = fronts.first[s : s + 2].tolist()
    rows = fronts.rows[fronts.begin[s] : fronts.begin[s + 1]]
    return end - first, view_of(fronts, buffer, s), slice(first, end), rows


def _solved(lower: Floats, right: Floats, *, transposed: bool) -> Floats:
    """L^-1 or L'^-1 of the rows `right`."""
    solved = blas.dtrsm(1.0, lower.T, right.T, side=1, lower=0, trans_a=int(transposed))
    return np.asarray(solved.T)


def _factor_large(fronts: Fronts, buffer: Floats, s: int, logs: Floats) -> bool:
    width, front, _, rows = _large(fronts, buffer, s)
    pivots = front if not len(rows) else np.ascontiguousarray(front[:width, :width])
    upper, info = lapack.dpotrf(pivots.T, lower=0, clean=0, overwrite_a=1)
    if info != 0:
        return False
    if upper.base is None or not np.shares_memory(upper, pivots):
        pivots[:] = upper.T
    logs[s] = np.log(np.diag(pivots)).sum()
    if len(rows):
        front[:width, :width] = pivots
        below = blas.dtrsm(1.0, pivots.T, front[width:, :width].T, lower=0, trans_a=1)  # L21'
        front[width:, :width] = below.T
        front[width:, width:] -= below.T @ below
        pass_up(fronts, buffer, s)
    return True


def _invert_large(fronts: Fronts, buffer: Floats, s: int, values: Floats) -> None:
    width, front, _, rows = _large(fronts, buffer, s)
    pivots = np.array(front[:width, :width])
    own, _ = lapack.dpotri(pivots.T, lower=0, overwrite_c=1)
    own = np.ascontiguousarray(own.T)
    mirror(own)
    out = view_of(fronts, values, s)
    out[:width, :width] = own
    if len(rows):
        inside = fronts.inside[fronts.begin[s] : fronts.begin[s + 1]]
        above = view_of(fronts, values, int(fronts.parent[s]))[np.ix_(inside, inside)]
        half = _solved(
            front[:width, :width], np.ascontiguousarray(front[width:, :width].T), transposed=True
        )
        across = -half @ above  # (width, rows)
        out[:width, :width] -= across @ half.T
        out[:width, width:] = across
        out[width:, :width] = across.T
        out[width:, width:] = above


@kernel
def mirror(matrix):
    """Copy the lower triangle of a square matrix to the upper one, tile by tile."""
    n, tile = len(matrix), 32
    for row in range(0, n, tile):
        for column in range(0, row + 1, tile):
            for r in range(row, min(row + tile, n)):
                for c in range(column, min(column + tile, r)):
                    matrix[c, r] = matrix[r, c]


@inner
def _square(fronts, buffer, s):
    """Front s and the number of columns eliminated in it."""
    width = fronts.first[s + 1] - fronts.first[s]
    order = width + fronts.begin[s + 1] - fronts.begin[s]
    begin = fronts.offset[s]
    return buffer[begin : begin + order * order].reshape((order, order)), width, order


@inner
def _pass_up(fronts, buffer, s):
    """Add what the columns of front s change to its parent's front."""
    front, width, order = _square(fronts, buffer, s)
    if order == width:
        return
    above, _, _ = _square(fronts, buffer, fronts.parent[s])
    shift = fronts.begin[s] - width
    for r in range(width, order):
        row = fronts.inside[shift + r]
        for c in range(width, r + 1):
            above[row, fronts.inside[shift + c]] += front[r, c]


@kernel
def pass_up(fronts, buffer, s):
    """Add what the columns of front s change to its parent's front."""
    _pass_up(fronts, buffer, s)


@kernel
def factor_small(fronts, buffer, first, last, logs):
    """Factorise the fronts first, ..., last - 1; returns whether all were positive definite."""
    column = np.empty(0)
    for s in range(first, last):
        front, width, order = _square(fronts, buffer, s)
        if len(column) < order:
            column = np.empty(order)
        total = 0.0
        for k in range(width):
            if not front[k, k] > 0.0:
                return False
            pivot = np.sqrt(front[k, k])
            front[k, k] = pivot
            total += np.log(pivot)
            for r in range(k + 1, order):
                front[r, k] /= pivot
                column[r] = front[r, k]
            for r in range(k + 1, order):
                value = column[r]
                if value != 0.0:
                    for c in range(k + 1, r + 1):
                        front[r, c] -= value * column[c]
        logs[s] = total
        _pass_up(fronts, buffer, s)
    return True


@kernel
def forward_small(fronts, buffer, first, last, right):
    """L^-1 of the rows `right` (n, c), for the fronts first, ..., last - 1."""
    n_columns = right.shape[1]
    for s in range(first, last):
        front, width, order = _square(fronts, buffer, s)
        start, shift = fronts.first[s], fronts.begin[s] - width
        for k in range(width):
            for j in range(n_columns):
                right[start + k, j] /= front[k, k]
            for r in range(k + 1, order):
                row = start + r if r < width else fronts.rows[shift + r]
                value = front[r, k]
                for j in range(n_columns):
                    right[row, j] -= value * right[start + k, j]


@kernel
def backward_small(fronts, buffer, first, last, right):
    """L'^-1 of the rows `right` (n, c), for the fronts last - 1, ..., first."""
    n_columns = right.shape[1]
    for s in range(last - 1, first - 1, -1):
        front, width, order = _square(fronts, buffer, s)
        start, shift = fronts.first[s], fronts.begin[s] - width
        for k in range(width - 1, -1, -1):
            for r in range(k + 1, order):
                row = start + r if r < width else fronts.rows[shift + r]
                value = front[r, k]
                for j in range(n_columns):
                    right[start + k, j] -= value * right[row, j]
            for j in range(n_columns):
                right[start + k, j] /= front[k, k]


@kernel
def invert_small(fronts, buffer, first, last, result):
    """Entries of the inverse at the places of the fronts last - 1, ..., first, parents known."""
    out = np.empty(0)
    for s in range(last - 1, first - 1, -1):
        front, width, order = _square(fronts, buffer, s)
        known, _, _ = _square(fronts, result, s)
        if len(out) < order:
            out = np.empty(order)
        if order > width:
            above, _, _ = _square(fronts, result, fronts.parent[s])
            shift = fronts.begin[s] - width
            for r in range(width, order):
                row = fronts.inside[shift + r]
                for c in range(width, order):
                    known[r, c] = above[row, fronts.inside[shift + c]]
        for k in range(width - 1, -1, -1):
            pivot = front[k, k]
            for r in range(k + 1, order):
                out[r] = 0.0
            for c in range(k + 1, order):
                value = front[c, k]
                if value != 0.0:
                    for r in range(k + 1, order):
                        out[r] -= known[c, r] * value
            diagonal = 1.0 / pivot
            for r in range(k + 1, order):
                out[r] /= pivot
                diagonal -= front[r, k] * out[r]
                known[r, k] = out[r]
                known[k, r] = out[r]
            known[k, k] = diagonal / pivot

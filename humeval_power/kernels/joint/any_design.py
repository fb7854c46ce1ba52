"""Tables of any design, many studies of each, fitted by REML: who rates which systems of an item is free.

Outer levels (m) and systems (K) span dense matrices of order N = m K, levels first; inner levels are eliminated.
What a level gives the systems has covariance Go or Gi (K, K), a sum of variances times patterns D_t, which are sums
of outer products of vectors. With C_i (K, N) the ratings of an inner level and N_i those of each system on a
diagonal,

    M_i = (I + N_i Gi)^-1,   W_i = Gi M_i,   A = Zo'H_i^-1 Zo = diag(load) - sum_i C_i'W_i C_i
    V = (A^-1 + I x Go)^-1,  B = I - V Go,   Y = Go B

make up Zo'H^-1 Zo = V, Zo'H^-1 Zi = B C_i'M_i' and Zi'H^-1 Zj = M_i N_i - M_i C_i Y C_j'M_j'. V comes out of A by
one outer level after the other, each of which takes U Go (I + S Go)^-1 U' away; U are its columns and S is its own
block: no root of Go is taken, and a variance of zero is like any other. Inner levels with as many ratings of each
system are of one kind c: they share M and W, and meet in the sum E_c of their C_i'C_i, the entries of which are
listed. The search is that of `reml`; its first point, which is the same for all tables, is factorised once.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from humeval_power.kernels.crossed.reml import (
    CONVERGED,
    LARGEST,
    NO_RESIDUAL,
    STALLED,
    TOO_MANY_STEPS,
    newton_direction,
)
from humeval_power.kernels.kernel import inner, kernel
from humeval_power.kernels.small_matrices import spd_inverse

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

FLAT = 1e-8  # of the curvature that a variance has if the residual is held
TOGETHER = 4  # columns of outer levels that are taken away at once, at least


class DesignArrays(NamedTuple):
    """Counts of n ratings. Columns of the matrices are `outer level * K + system`.

    load : (N,) ratings of each column; begin, column, system, times : those of each inner level, cell by cell
    level : (cells,) inner level; column_begin, by_column : the cells of each column
    kind : (inner levels,); replication (kinds, K), levels (kinds,) : ratings of each system of a kind, and how many
        inner levels are of it
    entry_begin, row, across, row_system, across_system, value : the lower triangles of E_c, kind by kind
    """

    n: int
    load: Floats
    begin: Codes
    column: Codes
    system: Codes
    times: Floats
    level: Codes
    column_begin: Codes
    by_column: Codes
    kind: Codes
    replication: Floats
    levels: Floats
    entry_begin: Codes
    row: Codes
    across: Codes
    row_system: Codes
    across_system: Codes
    value: Floats

    @classmethod
    def of_rows(
        cls, outer: Codes, inner_level: Codes, system: Codes, n_systems: int, *, apart: bool = False
    ) -> DesignArrays:
        """Of codes (n,); apart : every inner level is a kind of its own."""
        m, n_inner = int(outer.max()) + 1, int(inner_level.max()) + 1
        N = n_systems * m
        cells = np.bincount(inner_level * N + outer * n_systems + system, minlength=n_inner * N)
        filled = np.flatnonzero(cells)
        of, column, times = filled // N, filled % N, cells[filled].astype(float)
        begin = np.searchsorted(of, np.arange(n_inner + 1))
        each = cells.reshape(n_inner, m, n_systems).sum(axis=1)
        key = np.arange(n_inner) if apart else each[:, 0]
        for count in () if apart else each.T[1:]:  # ranks of the systems' counts so far
            key = np.unique(key * (count.max() + 1) + count, return_inverse=True)[1]
        _, first, kind, levels = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
        size = np.arange(len(of)) - begin[of] + 1  # cells of the level so far, each of which meets this one
        one = np.repeat(np.arange(len(of)), size)
        other = np.arange(len(one)) - np.repeat(np.cumsum(size) - size - begin[of], size)
        place, value = (kind[of[one]] * N + column[one]) * N + column[other], times[one] * times[other]
        if len(levels) * N**2 <= 4 * len(place):
            total = np.bincount(place, value, minlength=len(levels) * N**2)
            place = np.flatnonzero(total)
            value = total[place]
        else:
            order = np.argsort(place, kind="stable")
            place, value = place[order], value[order]
        row, across = place // N % N, place % N
        return cls(
            n=len(outer),
            load=cells.reshape(n_inner, N).sum(axis=0).astype(float),
            begin=begin,
            column=column,
            system=column % n_systems,
            times=times,
            level=of,
            column_begin=np.searchsorted(np.sort(column), np.arange(N + 1)),
            by_column=np.argsort(column, kind="stable"),
            kind=kind,
            replication=each[first].astype(float),
            levels=levels.astype(float),
            entry_begin=np.searchsorted(place, np.arange(len(levels) + 1) * N**2),
            row=row,
            across=across,
            row_system=row % n_systems,
            across_system=across % n_systems,
            value=value,
        )


class DesignFactor(NamedTuple):
    """H at one gamma: Go; M and W of each kind; V; Zo'H_i^-1 X (K, N). `complete` fills tr(H^-1 G_t), the sums F_c
    of C_i Y C_i' of each kind, Q = V Go and Y."""

    Go: Floats
    M: Floats
    W: Floats
    V: Floats
    base: Floats
    trace: Floats
    F: Floats
    Q: Floats
    Y: Floats


@inner
def room(kinds, K, N, q):
    """A factor to be filled."""
    blocks = (kinds, K, K)
    return DesignFactor(
        np.empty((K, K)), np.empty(blocks), np.empty(blocks), np.empty((N, N)), np.empty((K, N)), np.empty(q),
        np.empty(blocks), np.empty((N, N)), np.empty((N, N)),
    )  # fmt: skip


@inner
def product(left, right, out):
    """left right, by BLAS."""
    np.dot(left, right, out)


@inner
def by_block(rows, square, out):
    """Every block of K columns of some rows, times a matrix (K, K)."""
    K = len(square)
    product(rows.reshape(rows.size // K, K), square, out.reshape(rows.size // K, K))


@inner
def covariance(patterns, gamma, first, out):
    """sum_t gamma_(first + t) D_t."""
    K = len(out)
    for s in range(K):
        for t in range(K):
            out[s, t] = 0.0
            for v in range(len(patterns)):
                out[s, t] += gamma[first + v] * patterns[v, s, t]


@inner
def inverted(left, inverse):
    """Overwrite a matrix that is a diagonal scaling away from a symmetric positive definite one, and so needs no
    pivoting; fill its inverse. Its determinant, NaN where rounding has left it no digits."""
    n = len(left)
    det = 1.0
    for r in range(n):
        for c in range(n):
            inverse[r, c] = 0.0
        inverse[r, r] = 1.0
    for r in range(n):
        pivot = left[r, r]
        if not pivot > 0.0:
            return np.nan
        det *= pivot
        share = 1.0 / pivot
        for c in range(n):
            left[r, c] *= share
            inverse[r, c] *= share
        for s in range(n):
            if s != r:
                factor = left[s, r]
                for c in range(n):
                    left[s, c] -= factor * left[r, c]
                    inverse[s, c] -= factor * inverse[r, c]
    return det


@inner
def inner_blocks(design, Gi, M, W):
    """M_c and W_c of each kind; the log determinant of all inner levels."""
    K = len(Gi)
    log_det = 0.0
    left = np.empty((K, K))
    for c in range(len(design.levels)):
        for s in range(K):
            for t in range(K):
                left[s, t] = design.replication[c, s] * Gi[s, t]
            left[s, s] += 1.0
        log_det += design.levels[c] * np.log(inverted(left, M[c]))
        product(Gi, M[c], W[c])
    return log_det


@inner
def met_through(design, blocks, sign, out):
    """out += sign sum_i C_i'B_c C_i for symmetric blocks B (kinds, K, K), the lower triangle."""
    for c in range(len(design.levels)):
        for entry in range(design.entry_begin[c], design.entry_begin[c + 1]):
            block = blocks[c, design.row_system[entry], design.across_system[entry]]
            out[design.row[entry], design.across[entry]] += sign * block * design.value[entry]


@inner
def mirrored(matrix):
    """Copy the lower triangle to the upper one."""
    for r in range(len(matrix)):
        for c in range(r):
            matrix[c, r] = matrix[r, c]


@inner
def less_products(matrix, left, right):
    """matrix - left'right, the lower triangle; by four rows or by eight."""
    N = len(matrix)
    if len(left) % 8:
        for k in range(0, len(left), 4):
            a, b, c, d = right[k], right[k + 1], right[k + 2], right[k + 3]
            for r in range(N):
                p, q, s, t = left[k, r], left[k + 1, r], left[k + 2, r], left[k + 3, r]
                for i in range(r + 1):
                    matrix[r, i] -= p * a[i] + q * b[i] + s * c[i] + t * d[i]
        return
    for k in range(0, len(left), 8):
        a, b, c, d = right[k], right[k + 1], right[k + 2], right[k + 3]
        e, f, g, h = right[k + 4], right[k + 5], right[k + 6], right[k + 7]
        for r in range(N):
            p, q, s, t = left[k, r], left[k + 1, r], left[k + 2, r], left[k + 3, r]
            u, v, w, x = left[k + 4, r], left[k + 5, r], left[k + 6, r], left[k + 7, r]
            for i in range(r + 1):
                matrix[r, i] -= (p * a[i] + q * b[i] + s * c[i] + t * d[i]) + (
                    u * e[i] + v * f[i] + w * g[i] + x * h[i]
                )


@inner
def taken_through(matrix, Go):
    """Put V in the place of A, of which the lower triangle is read; log det(I + A Go)."""
    K, N = len(Go), len(matrix)
    most = K * max(1, TOGETHER // K)
    padded = -(-most // 4) * 4 if most <= 4 else -(-most // 8) * 8
    U, L, kept = np.zeros((padded, N)), np.zeros((padded, N)), np.empty((padded, N))
    left, inverse = np.empty((most, most)), np.empty((most, most))
    shrunk, middle = np.zeros((padded, padded)), np.zeros((padded, padded))
    log_det = 0.0
    for w in range(0, N, most):
        size = min(most, N - w)
        for k in range(size):
            for c in range(w + k + 1):
                U[k, c] = matrix[w + k, c]
            for c in range(w + k + 1, N):
                U[k, c] = matrix[c, w + k]
        for r in range(size):
            for c in range(size):
                value = 1.0 if r == c else 0.0
                first = c // K * K
                for t in range(K):
                    value += U[r, w + first + t] * Go[t, c - first]
                left[r, c] = value
        log_det += np.log(inverted(left[:size, :size], inverse[:size, :size]))
        if not np.isfinite(log_det):
            return np.nan
        for r in range(padded):
            for c in range(padded):
                shrunk[r, c] = middle[r, c] = 0.0
                if r < size and c < size:
                    shrunk[r, c] = inverse[r, c]
                    first = r // K * K
                    for t in range(K):
                        middle[r, c] += Go[r - first, t] * inverse[first + t, c]
        product(middle, U, L)
        product(shrunk, U, kept)
        less_products(matrix, L, U)
        for k in range(size):
            for c in range(w + k + 1):
                matrix[w + k, c] = kept[k, c]
            for r in range(w + k + 1, N):
                matrix[r, w + k] = kept[k, r]
    mirrored(matrix)
    return log_det


@inner
def factorise(design, patterns, gamma, at):
    """Fill a factor at gamma, but for what `complete` fills; its log determinant."""
    h, K = patterns.shape[:2]
    N = len(at.V)
    Gi = np.empty((K, K))
    covariance(patterns, gamma, h, Gi)
    covariance(patterns, gamma, 0, at.Go)
    log_det = inner_blocks(design, Gi, at.M, at.W)
    for r in range(N):
        for c in range(N):
            at.V[r, c] = 0.0
        at.V[r, r] = design.load[r]
        for t in range(K):
            at.base[t, r] = design.load[r] if t == r % K else 0.0
    met_through(design, at.W, -1.0, at.V)
    for i in range(len(design.kind)):
        c = design.kind[i]
        for p in range(design.begin[i], design.begin[i + 1]):
            for t in range(K):
                pulled = at.W[c, design.system[p], t] * design.replication[c, t]
                at.base[t, design.column[p]] -= design.times[p] * pulled
    return log_det + taken_through(at.V, at.Go)


@inner
def complete(design, patterns, at):
    """The rest of a factor."""
    h, K = patterns.shape[:2]
    N = len(at.V)
    by_block(at.V, at.Go, at.Q)
    turned = at.Q.T.copy()
    by_block(turned, at.Go, at.Y)
    for r in range(N):
        for c in range(N):
            at.Y[r, c] = -at.Y[r, c]
        first = r // K * K
        for t in range(K):
            at.Y[r, first + t] += at.Go[r - first, t]
    half, small, total, blocks = np.empty((K, K)), np.empty((K, K)), np.zeros((K, K)), np.zeros((K, K))
    for c in range(len(design.levels)):
        for s in range(K):
            for t in range(K):
                at.F[c, s, t] = 0.0
        for entry in range(design.entry_begin[c], design.entry_begin[c + 1]):
            r, k = design.row[entry], design.across[entry]
            s, t = design.row_system[entry], design.across_system[entry]
            value = design.value[entry] * at.Y[r, k]
            at.F[c, s, t] += value
            if r != k:
                at.F[c, t, s] += value
        product(at.M[c], at.F[c], half)
        product(half, at.M[c].T, small)
        for s in range(K):
            for t in range(K):
                total[s, t] += design.levels[c] * at.M[c, s, t] * design.replication[c, t] - small[s, t]
    for first in range(0, N, K):
        for s in range(K):
            for t in range(K):
                blocks[s, t] += at.V[first + s, first + t]
    for v in range(h):
        at.trace[v], at.trace[h + v] = (patterns[v] * blocks).sum(), (patterns[v] * total).sum()


@inner
def response_sums(design, outer, inner_level, system, y, b, y_outer, y_inner):
    """Sums of the ratings of a table by column (N,) and by inner level and system; their squares."""
    K = y_inner.shape[1]
    for c in range(len(y_outer)):
        y_outer[c] = 0.0
    for i in range(len(y_inner)):
        for s in range(K):
            y_inner[i, s] = 0.0
    whole = 0.0
    for place in range(design.n):
        value = y[b, place]
        y_outer[outer[place] * K + system[place]] += value
        y_inner[inner_level[place], system[place]] += value
        whole += value**2
    return whole


@inner
def profiled(design, at, y_outer, y_inner, whole, through, seen, beta, phi):
    """Fill `seen`, Zo'H^-1 of X and y, and `through`, Go seen, both (K + 1, N); the means and their phi. y'Py, and
    the log determinant of X'H^-1X, NaN where there is none."""
    K, N = len(beta), len(at.V)
    pushed, gram, xy = np.empty(K), np.empty((K, K)), np.empty(K)
    base = np.empty((K + 1, N))
    base[:K] = at.base
    base[K] = y_outer
    left = whole
    for i in range(len(y_inner)):
        c = design.kind[i]
        for s in range(K):
            pushed[s] = 0.0
            for t in range(K):
                pushed[s] += at.W[c, s, t] * y_inner[i, t]
            left -= pushed[s] * y_inner[i, s]
        for p in range(design.begin[i], design.begin[i + 1]):
            base[K, design.column[p]] -= design.times[p] * pushed[design.system[p]]
    by_block(base, at.Go, through)
    product(through, at.V, seen)
    for j in range(K + 1):
        for c in range(N):
            seen[j, c] = base[j, c] - seen[j, c]
    by_block(seen, at.Go, through)
    for c in range(N):
        left -= base[K, c] * through[K, c]
    for s in range(K):
        for j in range(K + 1):
            value = 0.0
            for c in range(s, N, K):
                value += seen[j, c]
            if j < K:
                gram[s, j] = value
            else:
                xy[s] = value
    inverse, log_det, ok = spd_inverse(gram)
    for s in range(K):
        beta[s] = 0.0
        for t in range(K):
            phi[s, t] = inverse[s, t]
            beta[s] += inverse[s, t] * xy[t]
        left -= beta[s] * xy[s]
    return left, (log_det if ok else np.nan)


@inner
def less_means(design, M, y_inner, beta, through, seen, seen_inner):
    """Take the means out of y; fill seen_inner (K + 1, inner levels K), Zi'H^-1 of X and of what is left of y."""
    K, N = len(beta), seen.shape[1]
    for j in range(K):
        for c in range(N):
            seen[K, c] -= beta[j] * seen[j, c]
            through[K, c] -= beta[j] * through[j, c]
    pushed, line = np.empty((K, K + 1)), np.empty(K + 1)
    turned = through.T.copy()
    for i in range(len(y_inner)):
        kind = design.kind[i]
        for s in range(K):
            count = design.replication[kind, s]
            for j in range(K):
                pushed[s, j] = 0.0
            pushed[s, s] = count
            pushed[s, K] = y_inner[i, s] - count * beta[s]
        for p in range(design.begin[i], design.begin[i + 1]):
            s, col, count = design.system[p], design.column[p], design.times[p]
            for j in range(K + 1):
                pushed[s, j] -= count * turned[col, j]
        for s in range(K):
            for j in range(K + 1):
                line[j] = 0.0
            for t in range(K):
                for j in range(K + 1):
                    line[j] += M[kind, s, t] * pushed[t, j]
            for j in range(K + 1):
                seen_inner[j, i * K + s] = line[j]


@inner
def along(vector, rows, out):
    """What a vector of systems makes of each level: rows (k, levels K), out (k, levels)."""
    K = len(vector)
    for j in range(len(out)):
        for w in range(out.shape[1]):
            out[j, w] = 0.0
        for s in range(K):
            if vector[s] != 0.0:
                for w in range(out.shape[1]):
                    out[j, w] += vector[s] * rows[j, w * K + s]


@inner
def level_products(vectors, group, rows, first, out):
    """Sums over levels of left'D_t right for all pairs of rows (k, levels K), into out (q, k, k) from `first`."""
    k, K = len(rows), vectors.shape[1]
    each, gram = np.empty((k, rows.shape[1] // K)), np.empty((k, k))
    for t in range(group[-1] + 1):
        out[first + t] = 0.0
    for r in range(len(vectors)):
        along(vectors[r], rows, each)
        product(each, each.T, gram)
        out[first + group[r]] += gram


@inner
def through_patterns(design, vectors, group, at, seen, seen_inner, result):
    """X'H^-1 G_s H^-1 G_t H^-1 X into result (q k, q k), of k columns X, of which H^-1 X as levels see it is given:
    seen (k, N) and seen_inner (k, inner levels K)."""
    k, N, K, n_inner = len(seen), seen.shape[1], vectors.shape[1], len(design.kind)
    h = group[-1] + 1
    m, rows = N // K, h * k
    effect, meet = np.zeros((2 * rows, N)), np.zeros((rows, N))
    e, turned = np.zeros((rows, n_inner * K)), np.zeros((rows, n_inner * K))
    outer_part, inner_part, pushed = np.empty((k, m)), np.empty((k, n_inner)), np.empty(K)
    for r in range(len(vectors)):
        along(vectors[r], seen, outer_part)
        along(vectors[r], seen_inner, inner_part)
        for j in range(k):
            row = group[r] * k + j
            for s in range(K):
                share = vectors[r, s]
                if share != 0.0:
                    for w in range(m):
                        effect[row, w * K + s] += share * outer_part[j, w]
                    for i in range(n_inner):
                        e[row, i * K + s] += share * inner_part[j, i]
    for row in range(rows):
        for i in range(n_inner):
            c = design.kind[i]
            for t in range(K):
                pushed[t] = 0.0
            for s in range(K):
                if e[row, i * K + s] != 0.0:
                    for t in range(K):
                        pushed[t] += at.M[c, s, t] * e[row, i * K + s]
            for t in range(K):
                turned[row, i * K + t] = design.replication[c, t] * pushed[t]  # M N is symmetric
            for p in range(design.begin[i], design.begin[i + 1]):
                meet[row, design.column[p]] += design.times[p] * pushed[design.system[p]]
    by_block(meet, at.Go, effect[rows:])
    for row in range(rows, 2 * rows):
        for c in range(N):
            effect[row, c] = -effect[row, c]
    half, across, base = np.empty((2 * rows, N)), np.empty((rows, 2 * rows)), np.empty((rows, rows))
    product(effect, at.V, half)
    product(half, effect.T, result)
    product(meet, effect.T, across)
    product(e, turned.T, base)
    for r in range(rows):
        for c in range(rows):
            result[rows + r, c] += across[r, c]
            result[c, rows + r] += across[r, c]
            result[rows + r, rows + c] += across[r, rows + c] + base[r, c]


@inner
def sandwiched(left, middle, right, out):
    """left'middle right, all (K, K)."""
    half = np.empty(out.shape)
    product(left.T, middle, half)
    product(half, right, out)


@inner
def norms(design, patterns, vectors, group, at, B, E, X, hidden, norm):
    """tr(H^-1 G_s H^-1 G_t) of the random effects into `norm` (q, q), by X = B E and `hidden`, Go X."""
    h, K = patterns.shape[:2]
    N, kinds, n_vectors = len(at.V), len(design.levels), len(vectors)
    m = N // K
    norm[:] = 0.0
    for r in range(N):
        for c in range(N):
            B[r, c] = -at.Q[r, c]
        B[r, r] += 1.0
    part, line = np.empty(N), np.empty(m)
    for r in range(n_vectors):
        for w in range(m):
            for c in range(N):
                part[c] = 0.0
            for s in range(K):
                if vectors[r, s] != 0.0:
                    for c in range(N):
                        part[c] += vectors[r, s] * at.V[w * K + s, c]
            for o in range(n_vectors):
                for c in range(m):
                    line[c] = 0.0
                for t in range(K):
                    if vectors[o, t] != 0.0:
                        for c in range(m):
                            line[c] += vectors[o, t] * part[c * K + t]
                norm[group[r], group[o]] += np.dot(line, line)
    shape, small = np.empty((kinds, K, K)), np.empty((K, K))
    for v in range(h):
        for c in range(kinds):
            sandwiched(at.M[c], patterns[v], at.M[c], shape[c])
        E[:] = 0.0
        met_through(design, shape, 1.0, E)
        mirrored(E)
        product(B, E, X)
        small[:] = 0.0
        for first in range(0, N, K):
            for s in range(K):
                for t in range(K):
                    small[s, t] += np.dot(X[first + s], B[first + t])
        for s in range(h):
            norm[s, h + v] = norm[h + v, s] = (patterns[s] * small).sum()
        for first in range(0, N, K):
            product(at.Go, X[first : first + K], hidden[v, first : first + K])
        for r in range(N):
            for c in range(N):
                E[r, c] = hidden[v, c, r]
        for s in range(v + 1):
            norm[h + v, h + s] = np.dot(hidden[s].ravel(), E.ravel())
    own, less, both = np.empty((K, K)), np.empty((K, K)), np.empty((K, K))
    for c in range(kinds):
        product(at.M[c], at.F[c], both)
        product(both, at.M[c].T, less)
        for s in range(K):
            for t in range(K):
                own[s, t] = at.M[c, s, t] * design.replication[c, t]
                less[s, t] = design.levels[c] * own[s, t] - 2.0 * less[s, t]
        for v in range(h):
            for o in range(v + 1):
                product(patterns[o], own, small)
                product(small, patterns[v], both)
                value = 0.0
                for s in range(K):
                    for t in range(K):
                        value += both[s, t] * less[t, s]
                norm[h + v, h + o] += value
    for v in range(h):
        for o in range(v):
            norm[h + o, h + v] = norm[h + v, h + o]


@kernel
def fit_many(
    design, patterns, vectors, group, outer_level, inner_level, system, y, start, tolerance, max_steps, status,
    beta, gamma, phi, rss, trace, quadratic, square, norm, xgx, xggx,
):  # fmt: skip
    """Fit tables b of one design by REML.

    patterns : (h, K, K), D_t, each the sum of outer products of those `vectors` (r, K) whose `group` (r,) is t
    y : (b, n), ratings whose codes are outer_level, inner_level and system; start (q,), outer variances first

    Fills the fields of a fit, each with axis b first. Where the status is not CONVERGED they mean nothing.
    """
    h, K = patterns.shape[:2]
    N, n_inner, kinds, q = len(design.load), len(design.kind), len(design.levels), 2 * h
    df = design.n - K
    origin, moved = room(kinds, K, N, q), room(kinds, K, N, q)
    hidden, B, E, X = np.empty((h, N, N)), np.empty((N, N)), np.empty((N, N)), np.empty((N, N))
    y_outer, y_inner = np.empty(N), np.empty((n_inner, K))
    through, seen, seen_inner = np.empty((K + 1, N)), np.empty((K + 1, N)), np.empty((K + 1, n_inner * K))
    means, precise, products = np.empty(K), np.empty((K, K)), np.empty((q, K + 1, K + 1))
    here, trial, slope, direction = np.empty(q), np.empty(q), np.empty(q), np.zeros(q)
    free, hessian, working = np.empty(q, dtype=np.bool_), np.empty((q, q)), np.empty((q, q))
    pairs = np.empty((q * K, q * K))
    first_log_det = factorise(design, patterns, start, origin)
    complete(design, patterns, origin)
    for b in range(len(status)):
        whole = response_sums(design, outer_level, inner_level, system, y, b, y_outer, y_inner)
        value, left, fall = np.inf, 0.0, 1.0
        length, halvings, step = 1.0, 0, 0
        trial[:] = start
        status[b] = TOO_MANY_STEPS
        at = origin
        while step <= max_steps:
            log_det = first_log_det
            if step:
                at = moved
                log_det = factorise(design, patterns, trial, at)
            new_left, log_det_x = profiled(
                design, at, y_outer, y_inner, whole, through, seen, means, precise
            )
            log_det += log_det_x
            there = np.inf
            if new_left > 1e-14 * whole and np.isfinite(log_det):
                there = df * (1.0 + np.log(2.0 * np.pi * new_left / df)) + log_det
            if step == 0 and not np.isfinite(there):
                status[b] = NO_RESIDUAL
                break
            if step > 0 and not (fall > 0.0 and value - there >= 1e-4 * fall):
                halvings += 1
                if halvings == 40:
                    status[b] = STALLED
                    break
                length *= 0.5 if length > 1e-3 else 0.1
            else:
                if step:
                    complete(design, patterns, at)
                step += 1
                halvings, length = 0, 1.0
                value, left = there, new_left
                sigma2 = left / df
                less_means(design, at.M, y_inner, means, through, seen, seen_inner)
                level_products(vectors, group, seen, 0, products)
                level_products(vectors, group, seen_inner, h, products)
                through_patterns(design, vectors, group, at, seen[K:], seen_inner[K:], working)
                here[:], beta[b], phi[b] = trial, means, precise
                for t in range(q):
                    trace[b, t], square[b, t] = at.trace[t], products[t, K, K]
                    xgx[b, t] = products[t, :K, :K]
                    slope[t] = trace[b, t] - square[b, t] / sigma2
                    for j in range(K):
                        for k in range(K):
                            slope[t] -= precise[j, k] * products[t, j, k]
                    free[t] = here[t] > 0.0 or slope[t] < 0.0
                    for v in range(q):
                        entry = working[t, v]
                        for j in range(K):
                            for k in range(K):
                                entry -= products[t, K, j] * precise[j, k] * products[v, K, k]
                        quadratic[b, t, v] = entry
                for t in range(q):
                    for v in range(q):
                        hessian[t, v] = quadratic[b, t, v] / sigma2
                        hessian[t, v] -= square[b, t] * square[b, v] / (sigma2**2 * df)
                    # of a variance that is one with the residual only rounding is left
                    hessian[t, t] = max(hessian[t, t], FLAT * quadratic[b, t, t] / sigma2)
                direction = newton_direction(hessian, slope, free)
                promise = 0.0
                for t in range(q):  # a component pressed against its bound promises no fall
                    if here[t] + direction[t] < 0.0:
                        promise += slope[t] * here[t]
                    else:
                        promise -= slope[t] * direction[t]
                if abs(promise) < tolerance:
                    status[b] = CONVERGED
                    break
            fall = 0.0
            for t in range(q):
                bound = min(100.0 * here[t] + 10.0, max(LARGEST, here[t]))
                trial[t] = max(min(here[t] + length * direction[t], bound), 0.0)
                fall += slope[t] * (here[t] - trial[t])
        if status[b] != CONVERGED:
            continue
        rss[b], gamma[b] = left, here
        norms(design, patterns, vectors, group, at, B, E, X, hidden, norm[b])
        through_patterns(design, vectors, group, at, seen[:K], seen_inner[:K], pairs)
        for t in range(q):
            for v in range(q):
                for j in range(K):
                    for k in range(K):
                        xggx[b, t, v, j, k] = pairs[t * K + j, v * K + k]

"""Tables of any design, many studies of each, fitted by REML: who rates which systems of an item is free.

Outer levels (m) and systems (K) span dense matrices of order N = K m, systems first; inner levels are eliminated.
What a level gives the systems has covariance Go or Gi (K, K), a sum of variances times patterns D_t. With C_i
(K, N) the ratings of an inner level, N_i those of each system on a diagonal, and R R' = Go,

    M_i = (I + N_i Gi)^-1,   W_i = Gi M_i,   A = Zo'H_i^-1 Zo = diag(load) - sum_i C_i'W_i C_i
    T = (I + R'A R)^-1,   Y = R T R'

make up Zo'H^-1 Zo = A - A Y A, Zo'H^-1 Zi = (I - A Y) C_i'M_i' and Zi'H^-1 Zj = M_i N_i - M_i C_i Y C_j'M_j'. Inner
levels with as many ratings of each system are of one kind c: they share M and W, and meet in the sum E_c of their
C_i'C_i, of which the entries are listed. R' (A - A Y A) R = I - T has the traces of outer levels without a product
of matrices, unless Go is nearly singular. The search is that of `reml`.
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
from humeval_power.kernels.joint.strands import inverted
from humeval_power.kernels.kernel import inner, kernel
from humeval_power.kernels.small_matrices import spd_inverse

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_BLOCK = 32  # pivots swept at once
_SINGULAR = (
    1e-4  # least conditional variance of a system at an outer level for which I - T has enough digits
)


class DesignArrays(NamedTuple):
    """Counts of n ratings. Columns of the matrices are `system * m + outer level`.

    load : (N,) ratings of each column; begin, column, system, times : those of each inner level, row by row
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
    def of_rows(cls, outer: Codes, inner_level: Codes, system: Codes, n_systems: int) -> DesignArrays:
        """Of codes (n,)."""
        m, n_inner = int(outer.max()) + 1, int(inner_level.max()) + 1
        N = n_systems * m
        cells = np.bincount(inner_level * N + system * m + outer, minlength=n_inner * N)
        filled = np.flatnonzero(cells)
        of, column, times = filled // N, filled % N, cells[filled].astype(float)
        begin = np.searchsorted(of, np.arange(n_inner + 1))
        each = cells.reshape(n_inner, n_systems, m).sum(axis=2)
        key = each[:, 0]
        for count in each.T[1:]:  # ranks of the systems' counts so far
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
            system=column // m,
            times=times,
            kind=kind,
            replication=each[first].astype(float),
            levels=levels.astype(float),
            entry_begin=np.searchsorted(place, np.arange(len(levels) + 1) * N**2),
            row=row,
            across=across,
            row_system=row // m,
            across_system=across // m,
            value=value,
        )


@inner
def product(left, right, out):
    """left right, by BLAS."""
    np.dot(left, right, out)


@inner
def inverse_by_blocks(matrix, rows, work):
    """What `inverted` gives, by sweeps of blocks of pivots where that is faster; work (N, N)."""
    N, size = len(matrix), _BLOCK
    if 2 * size >= N:
        return inverted(matrix, rows, False)
    log_det = 0.0
    for k in range(0, N, size):
        block = min(size, N - k)
        pivots, left = np.empty((block, block)), np.empty((N, block))
        across, swept = np.empty((block, N)), np.empty((block, N))
        for r in range(block):
            for c in range(block):
                pivots[r, c] = matrix[k + r, k + c]
            for c in range(N):
                across[r, c] = left[c, r] = matrix[k + r, c]
        log_det += inverted(pivots, rows, False)
        if not np.isfinite(log_det):
            return np.nan
        product(pivots, across, swept)
        product(left, swept, work)
        for r in range(N):
            for c in range(N):
                matrix[r, c] -= work[r, c]
        for r in range(block):
            for c in range(N):
                matrix[k + r, c] = matrix[c, k + r] = swept[r, c]
        for r in range(block):
            for c in range(block):
                matrix[k + r, k + c] = -pivots[r, c]
    for r in range(N):
        for c in range(N):
            matrix[r, c] = -matrix[r, c]
    return log_det


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
def lower_root(matrix, root):
    """R lower triangular with R R' = matrix, which may be singular; the least pivot."""
    K = len(matrix)
    least = np.inf
    for t in range(K):
        pivot = matrix[t, t]
        for u in range(t):
            pivot -= root[t, u] ** 2
        least = min(least, pivot)
        for s in range(K):
            root[s, t] = 0.0
        if pivot <= 1e-15 * matrix[t, t]:
            continue
        root[t, t] = np.sqrt(pivot)
        for s in range(t + 1, K):
            entry = matrix[s, t]
            for u in range(t):
                entry -= root[s, u] * root[t, u]
            root[s, t] = entry / root[t, t]
    return least


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
                M[c, s, t] = 0.0
            left[s, s] += 1.0
            M[c, s, s] = 1.0
        det = 1.0
        for s in range(K):  # a diagonal scaling away from symmetric and positive definite: no pivoting
            pivot = left[s, s]
            det *= pivot
            for t in range(K):
                left[s, t] /= pivot
                M[c, s, t] /= pivot
            for u in range(K):
                if u != s:
                    factor = left[u, s]
                    for t in range(K):
                        left[u, t] -= factor * left[s, t]
                        M[c, u, t] -= factor * M[c, s, t]
        log_det += design.levels[c] * np.log(det)
        for s in range(K):
            for t in range(K):
                W[c, s, t] = 0.0
                for u in range(K):
                    W[c, s, t] += Gi[s, u] * M[c, u, t]
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
def times_columns(matrix, root, transposed, out):
    """matrix (root x I), or (root' x I) if `transposed`."""
    K, N = len(root), len(matrix)
    m = N // K
    for r in range(N):
        for c in range(N):
            out[r, c] = 0.0
        for s in range(K):
            for t in range(K):
                entry = root[t, s] if transposed else root[s, t]
                if entry != 0.0:
                    for w in range(m):
                        out[r, t * m + w] += entry * matrix[r, s * m + w]


@inner
def times_rows(root, transposed, matrix, out):
    """(root x I) matrix, or (root' x I) matrix if `transposed`."""
    K, N = len(root), len(matrix)
    m = N // K
    for r in range(N):
        for c in range(N):
            out[r, c] = 0.0
    for s in range(K):
        for t in range(K):
            entry = root[t, s] if transposed else root[s, t]
            if entry != 0.0:
                for w in range(m):
                    for c in range(N):
                        out[s * m + w, c] += entry * matrix[t * m + w, c]


@inner
def factorised(design, patterns, gamma, M, W, R, A, P, T, V, Y, rows, outer_blocks):
    """H at gamma: fills what follows, `outer_blocks` with the sum of the diagonal blocks of Zo'H^-1 Zo; its log
    determinant."""
    h, K = patterns.shape[:2]
    N = len(A)
    m = N // K
    small = np.empty((K, K))
    covariance(patterns, gamma, h, small)
    log_det = inner_blocks(design, small, M, W)
    for r in range(N):
        for c in range(N):
            A[r, c] = 0.0
        A[r, r] = design.load[r]
    met_through(design, W, -1.0, A)
    mirrored(A)
    covariance(patterns, gamma, 0, small)
    least = lower_root(small, R)
    times_columns(A, R, False, P)
    times_rows(R, True, P, T)
    for r in range(N):
        T[r, r] += 1.0
    log_det += inverse_by_blocks(T, rows, V)
    if least < _SINGULAR:
        product(P, T, V)
        for s in range(K):
            for t in range(K):
                entry = 0.0
                for w in range(m):
                    entry += A[s * m + w, t * m + w]
                    for c in range(N):
                        entry -= V[s * m + w, c] * P[t * m + w, c]
                outer_blocks[s, t] = entry
    else:
        for s in range(K):
            for t in range(K):
                entry = 0.0
                for w in range(m):
                    entry -= T[s * m + w, t * m + w]
                outer_blocks[s, t] = entry + (m if s == t else 0.0)
        for s in range(K - 1, -1, -1):  # R'^-1 from the left, then R^-1 from the right
            for t in range(K):
                for u in range(s + 1, K):
                    outer_blocks[s, t] -= R[u, s] * outer_blocks[u, t]
                outer_blocks[s, t] /= R[s, s]
        for t in range(K - 1, -1, -1):
            for s in range(K):
                for u in range(t + 1, K):
                    outer_blocks[s, t] -= outer_blocks[s, u] * R[u, t]
                outer_blocks[s, t] /= R[t, t]
    times_columns(T, R, True, V)
    times_rows(R, False, V, Y)
    return log_det


@inner
def contracted(patterns, block, out, first):
    """out[first + t] = sum of D_t times a (K, K) block."""
    h, K = patterns.shape[:2]
    for v in range(h):
        value = 0.0
        for s in range(K):
            for t in range(K):
                value += patterns[v, s, t] * block[s, t]
        out[first + v] = value


@inner
def products_of(left, first, right, second, by_system, width, out):
    """Sums over levels of the products of two systems' numbers in one row of each, which are by system, or if not
    `by_system` by level."""
    K = len(out)
    for s in range(K):
        for t in range(K):
            value = 0.0
            if by_system:
                for w in range(width):
                    value += left[first, s * width + w] * right[second, t * width + w]
            else:
                for w in range(width):
                    value += left[first, w * K + s] * right[second, w * K + t]
            out[s, t] = value


@inner
def through_patterns(design, patterns, M, A, Y, seen, seen_inner, first, k, result):
    """X'H^-1 G_s H^-1 G_t H^-1 X (q k, q k) into `found`, of k columns X. H^-1 X as levels see it are rows from
    `first` of seen (columns, N) and seen_inner (columns, inner levels K)."""
    h, K = patterns.shape[:2]
    N, n_inner = seen.shape[1], len(design.kind)
    m, rows = N // K, h * k
    effect, turned = np.zeros((rows, N)), np.empty((N, 2 * rows))
    meet, outer_meet, through = np.zeros((2 * rows, N)), np.empty((rows, N)), np.empty((2 * rows, N))
    e, e_turned = np.zeros((rows, n_inner * K)), np.empty((n_inner * K, rows))
    base, pushed = np.empty((rows, rows)), np.empty(K)
    for v in range(h):
        for j in range(k):
            at = v * k + j
            for s in range(K):
                for t in range(K):
                    share = patterns[v, s, t]
                    if share != 0.0:
                        for w in range(m):
                            effect[at, s * m + w] += share * seen[first + j, t * m + w]
                        for i in range(n_inner):
                            e[at, i * K + s] += share * seen_inner[first + j, i * K + t]
            for i in range(n_inner):
                c = design.kind[i]
                for t in range(K):
                    pushed[t] = 0.0
                    for s in range(K):
                        pushed[t] += M[c, s, t] * e[at, i * K + s]
                    e_turned[i * K + t, at] = design.replication[c, t] * pushed[t]  # M N is symmetric
                for p in range(design.begin[i], design.begin[i + 1]):
                    meet[rows + at, design.column[p]] += design.times[p] * pushed[design.system[p]]
    product(effect, A, outer_meet)
    for r in range(rows):
        for c in range(N):
            meet[r, c] = outer_meet[r, c]
    for r in range(2 * rows):
        for c in range(N):
            turned[c, r] = meet[r, c]
    product(meet, Y, through)
    product(through, turned, result)
    product(e, e_turned, base)
    for r in range(2 * rows):
        for c in range(2 * rows):
            result[r, c] = -result[r, c]
    for r in range(rows):
        for c in range(rows):
            result[rows + r, rows + c] += base[r, c]
    across = np.empty((rows, 2 * rows))
    product(effect, turned, across)
    for r in range(rows):
        for c in range(rows):
            result[r, c] += across[r, c]
            result[r, rows + c] += across[r, rows + c]
            result[rows + c, r] += across[r, rows + c]


@inner
def sandwiched(left, middle, right, transposed, out):
    """left' middle right if `transposed`, else left middle right', all (K, K)."""
    K = len(out)
    half = np.empty((K, K))
    for s in range(K):
        for t in range(K):
            half[s, t] = 0.0
            for u in range(K):
                half[s, t] += (left[u, s] if transposed else left[s, u]) * middle[u, t]
    for s in range(K):
        for t in range(K):
            out[s, t] = 0.0
            for u in range(K):
                out[s, t] += half[s, u] * (right[u, t] if transposed else right[t, u])


@inner
def norms(design, patterns, vectors, group, M, F, A, V, Y, B, E, hidden, norm):
    """tr(H^-1 G_s H^-1 G_t) of the random effects into `norm` (q, q)."""
    h, K = patterns.shape[:2]
    N, kinds, n_vectors = len(A), len(design.levels), len(vectors)
    m = N // K
    for r in range(2 * h):
        for c in range(2 * h):
            norm[r, c] = 0.0
    product(A, Y, B)
    for r in range(N):
        for c in range(N):
            B[r, c] = -B[r, c]
        B[r, r] += 1.0
    product(B, A, V)  # Zo'H^-1 Zo
    part, line = np.empty(N), np.empty(m)
    for r in range(n_vectors):
        for w in range(m):
            for c in range(N):
                part[c] = 0.0
            for s in range(K):
                if vectors[r, s] != 0.0:
                    for c in range(N):
                        part[c] += vectors[r, s] * V[s * m + w, c]
            for o in range(n_vectors):
                for c in range(m):
                    line[c] = 0.0
                for t in range(K):
                    if vectors[o, t] != 0.0:
                        for c in range(m):
                            line[c] += vectors[o, t] * part[t * m + c]
                value = 0.0
                for c in range(m):
                    value += line[c] ** 2
                norm[group[r], group[o]] += value
    shape = np.empty((kinds, K, K))
    small, column = np.empty((K, K)), np.empty(h)
    for v in range(h):
        for c in range(kinds):
            sandwiched(M[c], patterns[v], M[c], True, shape[c])
        for r in range(N):
            for c in range(N):
                E[r, c] = 0.0
        met_through(design, shape, 1.0, E)
        mirrored(E)
        product(Y, E, hidden[v])
        product(B, E, V)
        for s in range(K):
            for t in range(K):
                value = 0.0
                for w in range(m):
                    for a in range(N):
                        value += V[s * m + w, a] * B[t * m + w, a]
                small[s, t] = value
        contracted(patterns, small, column, 0)
        for r in range(N):
            for c in range(N):
                E[r, c] = hidden[v, c, r]
        for s in range(h):
            norm[s, h + v] = norm[h + v, s] = column[s]
        for s in range(v + 1):
            value = 0.0
            for r in range(N):
                value += met_in_row(hidden[s], E, r)
            norm[h + v, h + s] = value
    own, less, both = np.empty((K, K)), np.empty((K, K)), np.empty((K, K))
    for c in range(kinds):
        sandwiched(M[c], F[c], M[c], False, less)
        for s in range(K):
            for t in range(K):
                own[s, t] = M[c, s, t] * design.replication[c, t]
                less[s, t] = design.levels[c] * own[s, t] - 2.0 * less[s, t]
        for v in range(h):
            for o in range(v + 1):
                sandwiched(patterns[o], own, patterns[v], False, both)
                value = 0.0
                for s in range(K):
                    for t in range(K):
                        value += both[s, t] * less[t, s]
                norm[h + v, h + o] += value
    for v in range(h):
        for o in range(v):
            norm[h + o, h + v] = norm[h + v, h + o]


@inner
def met_in_row(left, right, r):
    """Sum of the products of one row."""
    value = 0.0
    for c in range(left.shape[1]):
        value += left[r, c] * right[r, c]
    return value


@inner
def response_sums(design, outer, inner_level, system, y, b, y_outer, y_inner):
    """Sums of the ratings of a table by column (N,) and by inner level and system; their squares."""
    K = y_inner.shape[1]
    m = len(y_outer) // K
    for c in range(len(y_outer)):
        y_outer[c] = 0.0
    for i in range(len(y_inner)):
        for s in range(K):
            y_inner[i, s] = 0.0
    whole = 0.0
    for place in range(design.n):
        value = y[b, place]
        y_outer[system[place] * m + outer[place]] += value
        y_inner[inner_level[place], system[place]] += value
        whole += value**2
    return whole


@inner
def profiled(design, W, A, Y, y_outer, y_inner, whole, base, through, seen, beta, phi):
    """Fill base (K + 1, N), Zo'H_i^-1 of X and y; through, base Y; seen, Zo'H^-1 of both; the means and their phi.
    y'Py, and the log determinant of X'H^-1X, NaN where there is none."""
    K, N = len(beta), len(A)
    m = N // K
    pushed, gram, xy = np.empty(K), np.empty((K, K)), np.empty(K)
    for t in range(K):
        for r in range(N):
            value = 0.0
            for w in range(m):
                value += A[r, t * m + w]
            base[t, r] = value
    left = whole
    for c in range(N):
        base[K, c] = y_outer[c]
    for i in range(len(y_inner)):
        c = design.kind[i]
        for s in range(K):
            pushed[s] = 0.0
            for t in range(K):
                pushed[s] += W[c, s, t] * y_inner[i, t]
            left -= pushed[s] * y_inner[i, s]
        for p in range(design.begin[i], design.begin[i + 1]):
            base[K, design.column[p]] -= design.times[p] * pushed[design.system[p]]
    product(base, Y, through)
    product(through, A, seen)
    for j in range(K + 1):
        for c in range(N):
            seen[j, c] = base[j, c] - seen[j, c]
    for c in range(N):
        left -= base[K, c] * through[K, c]
    for s in range(K):
        for j in range(K + 1):
            value = 0.0
            for w in range(m):
                value += seen[j, s * m + w]
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
    pushed = np.empty((K, K + 1))
    turned = np.empty((N, K + 1))
    for j in range(K + 1):
        for c in range(N):
            turned[c, j] = through[j, c]
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
        for j in range(K + 1):
            for s in range(K):
                value = 0.0
                for t in range(K):
                    value += M[kind, s, t] * pushed[t, j]
                seen_inner[j, i * K + s] = value


@inner
def traced(design, patterns, M, F, Y, outer_blocks, trace):
    """tr(H^-1 G_t) into `trace`; F_c, the sums of C_i Y C_i' of each kind."""
    h, K = patterns.shape[:2]
    small, total = np.empty((K, K)), np.zeros((K, K))
    for c in range(len(design.levels)):
        for s in range(K):
            for t in range(K):
                F[c, s, t] = 0.0
        for entry in range(design.entry_begin[c], design.entry_begin[c + 1]):
            r, k = design.row[entry], design.across[entry]
            s, t = design.row_system[entry], design.across_system[entry]
            value = design.value[entry] * Y[r, k]
            F[c, s, t] += value
            if r != k:
                F[c, t, s] += value
        sandwiched(M[c], F[c], M[c], False, small)
        for s in range(K):
            for t in range(K):
                total[s, t] += design.levels[c] * M[c, s, t] * design.replication[c, t] - small[s, t]
    contracted(patterns, outer_blocks, trace, 0)
    contracted(patterns, total, trace, h)


@inner
def seen_products(patterns, seen, seen_inner, left, right, out):
    """Sums over levels of left'D_t right, of the columns with these numbers, into out (q,)."""
    h, K = patterns.shape[:2]
    block = np.empty((K, K))
    products_of(seen, left, seen, right, True, seen.shape[1] // K, block)
    contracted(patterns, block, out, 0)
    products_of(seen_inner, left, seen_inner, right, False, seen_inner.shape[1] // K, block)
    contracted(patterns, block, out, h)


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
    A, P, T, V, Y = np.empty((N, N)), np.empty((N, N)), np.empty((N, N)), np.empty((N, N)), np.empty((N, N))
    hidden, rows = np.empty((h, N, N)), np.empty((4, N))
    M, W, F = np.empty((kinds, K, K)), np.empty((kinds, K, K)), np.empty((kinds, K, K))
    R, outer_blocks = np.empty((K, K)), np.empty((K, K))
    y_outer, y_inner = np.empty(N), np.empty((n_inner, K))
    base, through, seen = np.empty((K + 1, N)), np.empty((K + 1, N)), np.empty((K + 1, N))
    seen_inner = np.empty((K + 1, n_inner * K))
    means, precise, x_y, each = np.empty(K), np.empty((K, K)), np.empty((q, K)), np.empty(q)
    here, trial, slope, direction = np.empty(q), np.empty(q), np.empty(q), np.zeros(q)
    free, hessian, working = np.empty(q, dtype=np.bool_), np.empty((q, q)), np.empty((q, q))
    pairs = np.empty((q * K, q * K))
    for b in range(len(status)):
        whole = response_sums(design, outer_level, inner_level, system, y, b, y_outer, y_inner)
        value, left, fall = np.inf, 0.0, 1.0
        length, halvings, step = 1.0, 0, 0
        for t in range(q):
            trial[t] = start[t]
        status[b] = TOO_MANY_STEPS
        while step <= max_steps:
            log_det = factorised(design, patterns, trial, M, W, R, A, P, T, V, Y, rows, outer_blocks)
            new_left, log_det_x = profiled(
                design, W, A, Y, y_outer, y_inner, whole, base, through, seen, means, precise
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
                step += 1
                halvings, length = 0, 1.0
                value, left = there, new_left
                sigma2 = left / df
                less_means(design, M, y_inner, means, through, seen, seen_inner)
                traced(design, patterns, M, F, Y, outer_blocks, each)
                for t in range(q):
                    here[t], trace[b, t], slope[t] = trial[t], each[t], each[t]
                for j in range(K):
                    beta[b, j] = means[j]
                    for k in range(K):
                        phi[b, j, k] = precise[j, k]
                        seen_products(patterns, seen, seen_inner, j, k, each)
                        for t in range(q):
                            xgx[b, t, j, k] = each[t]
                            slope[t] -= precise[j, k] * each[t]
                    seen_products(patterns, seen, seen_inner, j, K, each)
                    for t in range(q):
                        x_y[t, j] = each[t]
                through_patterns(design, patterns, M, A, Y, seen, seen_inner, K, 1, working)
                seen_products(patterns, seen, seen_inner, K, K, each)
                for t in range(q):
                    square[b, t] = each[t]
                    slope[t] -= each[t] / sigma2
                    free[t] = here[t] > 0.0 or slope[t] < 0.0
                    for v in range(q):
                        entry = working[t, v]
                        for j in range(K):
                            for k in range(K):
                                entry -= x_y[t, j] * precise[j, k] * x_y[v, k]
                        quadratic[b, t, v] = entry
                for t in range(q):
                    for v in range(q):
                        hessian[t, v] = quadratic[b, t, v] / sigma2
                        hessian[t, v] -= square[b, t] * square[b, v] / (sigma2**2 * df)
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
        rss[b] = left
        norms(design, patterns, vectors, group, M, F, A, V, Y, P, T, hidden, working)
        through_patterns(design, patterns, M, A, Y, seen, seen_inner, 0, K, pairs)
        for t in range(q):
            gamma[b, t] = here[t]
            for v in range(q):
                norm[b, t, v] = working[t, v]
                for j in range(K):
                    for k in range(K):
                        xggx[b, t, v, j, k] = pairs[t * K + j, v * K + k]

"""In which order columns of a sparse symmetric matrix are eliminated, and the fronts that this makes.

Connected parts are eliminated one by one. Within a part the column with the fewest neighbours goes first
(minimum degree: Tinney and Walker 1967); what is left when everyone meets nearly everyone is one dense front.
Columns with the same neighbours make one front (Duff and Reid 1983), small ones are joined with their parent
where that adds few zeros. All of it follows from the places of the entries, none from their values.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import block_array, csr_array
from scipy.sparse.csgraph import connected_components

from humeval_power.kernels.kernel import inner, kernel

Ints = NDArray[np.int64]

_DENSE_ORDER = 32  # a part of so few columns is one front
# Of the columns left, from which on those with fewest neighbours make one front with the rest.
_DENSE_SHARE = 0.6
_MOST_ORDERED = 20_000  # columns of one part whose elimination is looked at; beyond, it counts as dense
_MOST_SCATTERED, _MANY_MEETINGS = 4_000, 100  # columns of a part, meetings of each: beyond both, as well
_MOST_WORK = 2e9  # operations of a part beyond which its order is of no interest: nobody will factorise it
SMALL = 96  # order of a front up to which plain loops beat the calls of LAPACK
# Floating-point operations in a second and seconds of a call, of small fronts and of others. They decide what is
# done in which way, are part of the program and measured nowhere: results do not depend on the machine.
_LOOP_RATE, _LOOP_CALL = 1.5e9, 1e-6
_BLAS_RATE, _BLAS_CALL = 2.5e10, 3e-4


class Fronts(NamedTuple):
    """The fronts of one matrix of n columns, children before their parents.

    place : (n,), the place of each column in the order of elimination
    first : (fronts + 1,), the columns first[s]:first[s + 1], by place, are eliminated in front s
    begin : (fronts + 1,), and rows[begin[s]:begin[s + 1]] are the places of the columns that it changes
    rows, inside : the places, and where they are within the parent's front
    parent : (fronts,), -1 for a root; offset : (fronts + 1,), where the square front s begins in one buffer
    front_of : (n,), the front in which the column at each place is eliminated
    part : (n,), the connected part of the column at each place; parts stand in order
    """

    place: Ints
    first: Ints
    begin: Ints
    rows: Ints
    inside: Ints
    parent: Ints
    offset: Ints
    front_of: Ints
    part: Ints

    @property
    def orders(self) -> Ints:
        """Order of each front."""
        return np.asarray(np.diff(self.first) + np.diff(self.begin))

    @property
    def work(self) -> float:
        """Floating-point operations of one Cholesky factor."""
        s, r = np.diff(self.first).astype(float), np.diff(self.begin).astype(float)
        return float((s**3 / 3.0 + s**2 * r + s * r**2).sum())

    @property
    def entries(self) -> int:
        """Numbers that the fronts hold."""
        return int(self.offset[-1])


class _PartFronts(NamedTuple):
    """Fronts of one part, places counted from its own first column."""

    order: Ints
    first: list[int]
    rows: list[Ints]
    parent: list[int]


def fronts_of(member: csr_array, own: csr_array) -> Fronts:
    """The fronts of a symmetric matrix whose columns meet in groups, `member` (groups, columns), and where `own`
    (columns, columns) has entries, each in one triangle at least; only places count, all values positive."""
    n_groups, n = member.shape
    empty = csr_array((n_groups, n_groups), dtype=member.dtype)
    meetings: Any = block_array([[empty, member], [None, own]], format="csr")
    result = connected_components(meetings, directed=False)[1][n_groups:]
    label = np.asarray(np.unique(result, return_inverse=True)[1])
    by_part = np.argsort(label, kind="stable")
    sizes = np.bincount(label)
    ends = np.cumsum(sizes)
    parts = []
    group_part = label[member.indices[np.minimum(member.indptr[:-1], member.nnz - 1)]]
    group_part[np.diff(member.indptr) == 0] = len(sizes)
    by_group = np.argsort(group_part, kind="stable")
    sorted_member, sorted_own, groups = None, None, np.cumsum(np.bincount(group_part, minlength=len(sizes)))
    for part, (size, end) in enumerate(zip(sizes.tolist(), ends.tolist(), strict=True)):
        columns = by_part[end - size : end]
        if size <= _DENSE_ORDER or size > _MOST_ORDERED:
            parts.append(_whole(columns))
            continue
        if sorted_member is None or sorted_own is None:
            sorted_member = csr_array(csr_array(member[by_group])[:, by_part])
            sorted_own = csr_array(csr_array(own[by_part])[:, by_part])
        touching = slice(int(groups[part - 1]) if part else 0, int(groups[part]))
        within = csr_array(sorted_member[touching, end - size : end])
        meeting = float((np.diff(within.indptr).astype(float) ** 2).sum())
        if size > _MOST_SCATTERED and meeting > _MANY_MEETINGS * size:
            parts.append(_whole(columns))
            continue
        beside = csr_array(sorted_own[end - size : end, end - size : end])
        pattern = csr_array(csr_array(within.T) @ within) + beside + csr_array(beside.T)
        parts.append(_part_of(csr_array(pattern), columns))
    n_parts = len(parts)
    shift = np.concatenate([[0], ends])
    place = np.empty(n, dtype=np.int64)
    first = [0]
    parent: list[int] = []
    rows: list[Ints] = []
    for (order, own_first, own_rows, own_parent), base in zip(parts, shift.tolist(), strict=False):
        place[order] = base + np.arange(len(order))
        before = len(parent)
        first += [base + end for end in own_first[1:]]
        parent += [-1 if above < 0 else before + above for above in own_parent]
        rows += [base + row for row in own_rows]
    sizes = np.array([len(row) for row in rows], dtype=np.int64)
    firsts = np.array(first, dtype=np.int64)
    widths = np.diff(firsts)
    return Fronts(
        place=place,
        first=firsts,
        begin=np.concatenate([[0], np.cumsum(sizes)]),
        rows=np.concatenate([*rows, np.empty(0, dtype=np.int64)]).astype(np.int64),
        inside=_inside(firsts, parent, rows),
        parent=np.array(parent, dtype=np.int64),
        offset=np.concatenate([[0], np.cumsum((widths + sizes) ** 2)]),
        front_of=np.repeat(np.arange(len(parent)), widths),
        part=np.repeat(np.arange(n_parts), np.diff(shift)),
    )


def _inside(first: Ints, parent: list[int], rows: list[Ints]) -> Ints:
    """Where the rows of every front are within its parent's."""
    columns = [np.empty(0, dtype=np.int64)]
    for own, above in zip(rows, parent, strict=True):
        if above >= 0:
            begin, end = first[above], first[above + 1]
            columns.append(
                np.where(own < end, own - begin, end - begin + np.searchsorted(rows[above], own))
            )
    return np.concatenate(columns).astype(np.int64)


def _whole(members: Ints) -> _PartFronts:
    """A part that is one dense front."""
    return _PartFronts(members, [0, len(members)], [np.empty(0, dtype=np.int64)], [-1])


def _part_of(own: csr_array, members: Ints) -> _PartFronts:
    """The fronts of one connected part with entries at `own`: one dense front, or a tree of them where that is
    cheaper."""
    n = len(members)
    if own.nnz > _DENSE_SHARE * n * n:
        return _whole(members)
    order, structures = _eliminated(own)
    if not structures:
        return _whole(members)
    tree = _joined(*_supernodes(structures))
    widths, sizes = np.diff(tree[0]), np.array([len(row) for row in tree[1]])
    if _seconds(widths, sizes) >= _cost(n, 0):
        return _whole(members)
    return _PartFronts(members[order], *tree)


def _seconds(widths: Ints, sizes: Ints) -> float:
    """About what the factor of fronts takes that eliminate `widths` columns and change `sizes` others."""
    return sum(map(_cost, widths.tolist(), sizes.tolist()))


def _eliminated(own: csr_array) -> tuple[Ints, list[Ints]]:
    """An order of elimination in which every subtree stands together, and the places of the columns that each
    column changes; none where that is too much work."""
    n = own.shape[0]
    bits = np.zeros((n, (n + 63) // 64), dtype=np.uint64)
    row = np.repeat(np.arange(n), np.diff(own.indptr))
    column = own.indices.astype(np.int64)
    off = row != column
    np.bitwise_or.at(
        bits, (row[off], column[off] // 64), np.uint64(1) << (column[off] % 64).astype(np.uint64)
    )
    order = np.empty(n, dtype=np.int64)
    done = int(minimum_degree(bits, order, _DENSE_SHARE, _MOST_WORK))
    if done < 0:
        return order, []
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    structures = [np.sort(place[_set_bits(bits[v])]) for v in order[:done]]
    structures += [np.arange(j + 1, n) for j in range(done, n)]
    after = _postorder([int(own[0]) if len(own) else -1 for own in structures])
    moved = np.empty(n, dtype=np.int64)
    moved[after] = np.arange(n)
    return order[after], [np.sort(moved[structures[j]]) for j in after]


def _set_bits(words: NDArray[np.uint64]) -> Ints:
    """The places of the ones among 64-bit words."""
    return np.flatnonzero(np.unpackbits(words.astype("<u8").view(np.uint8), bitorder="little"))


def _postorder(parent: list[int]) -> Ints:
    """The nodes of a forest, parents (of higher number than their children) after all their descendants."""
    n = len(parent)
    children: list[list[int]] = [[] for _ in range(n)]
    for node, above in enumerate(parent):
        if above >= 0:
            children[above].append(node)
    order: list[int] = []
    waiting = [node for node in range(n) if parent[node] < 0]
    while waiting:  # parents first, then turned round
        node = waiting.pop()
        order.append(node)
        waiting += children[node]
    return np.array(order[::-1], dtype=np.int64)


def _supernodes(structures: list[Ints]) -> tuple[list[int], list[Ints]]:
    """Neighbouring columns with one structure as one front: first columns, and rows."""
    first = [0]
    for j in range(1, len(structures)):
        before = structures[j - 1]
        if len(before) != len(structures[j]) + 1 or before[0] != j:
            first.append(j)
    ends = [*first[1:], len(structures)]
    return [*first, len(structures)], [structures[end - 1] for end in ends]


def _joined(first: list[int], rows: list[Ints]) -> tuple[list[int], list[Ints], list[int]]:
    """Fronts joined with the one that follows, where that is their parent and one front is cheaper than two;
    with parents."""
    kept: list[tuple[int, int, Ints, float]] = []  # begin, end, rows, seconds
    for begin, end, own in zip(first[:-1], first[1:], rows, strict=True):
        seconds = _cost(end - begin, len(own))
        while kept and len(kept[-1][2]) and kept[-1][2][0] < end:
            together = _cost(end - kept[-1][0], len(own))
            if together > seconds + kept[-1][3]:
                break
            begin = kept.pop()[0]
            seconds = together
        kept.append((begin, end, own, seconds))
    begins = [begin for begin, *_ in kept]
    front_of = np.repeat(np.arange(len(kept)), [end - begin for begin, end, *_ in kept])
    parent = [int(front_of[own[0]]) if len(own) else -1 for _, _, own, _ in kept]
    return [*begins, first[-1]], [own for _, _, own, _ in kept], parent


def _cost(width: int, size: int) -> float:
    """About what the factor of one front takes."""
    work = width**3 / 3.0 + width**2 * size + width * size**2
    if width + size <= SMALL:
        return work / _LOOP_RATE + _LOOP_CALL
    return work / _BLAS_RATE + _BLAS_CALL


@inner
def _count(words):
    """Ones among 64-bit words."""
    total = np.int64(0)
    for k in range(len(words)):
        x = words[k]
        x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
        x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
        x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
        total += np.int64((x * np.uint64(0x0101010101010101)) >> np.uint64(56))
    return total


@kernel
def minimum_degree(bits, order, dense_share, most_work):
    """Eliminate the columns of a graph with neighbours `bits` (n, words), fewest neighbours first, until those
    have `dense_share` of what is left; the rest is dense and comes last.

    Fills `order`; `bits` of a column that was eliminated are those that it changed. Returns how many were, -1
    where the factor takes more than `most_work`.
    """
    n, n_words = bits.shape
    degree = np.empty(n, dtype=np.int64)
    for v in range(n):
        degree[v] = _count(bits[v])
    left = np.ones(n, dtype=np.bool_)
    done, work = n, 0.0
    for step in range(n):
        v = -1
        for u in range(n):
            if left[u] and (v < 0 or degree[u] < degree[v]):
                v = u
        if degree[v] >= dense_share * (n - step - 1):
            done = step
            work += float(n - step) ** 3 / 3.0
            if work > most_work:
                return -1
            break
        order[step] = v
        left[v] = False
        work += float(degree[v]) ** 2
        if work > most_work:
            return -1
        for u in range(n):
            word, mask = u // 64, np.uint64(1) << np.uint64(u % 64)
            if left[u] and bits[v, word] & mask:
                for k in range(n_words):
                    bits[u, k] |= bits[v, k]
                bits[u, u // 64] &= ~mask
                bits[u, v // 64] &= ~(np.uint64(1) << np.uint64(v % 64))
                degree[u] = _count(bits[u])
    step = done
    for u in range(n):
        if left[u]:
            order[step] = u
            step += 1
    return done


__all__: list[Any] = ["SMALL", "Fronts", "fronts_of"]

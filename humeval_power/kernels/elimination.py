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
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from humeval_power.kernels.kernel import inner, kernel

Ints = NDArray[np.int64]

_DENSE_ORDER = 32  # a part of so few columns is one front
_DENSE_SHARE = (
    0.6  # of the columns left, from which on those with fewest neighbours make one front with the rest
)
_MOST_ORDERED = 20_000  # columns of one part whose elimination is looked at; beyond, it counts as dense
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
    def seconds(self) -> float:
        """About what one Cholesky factor takes."""
        return _seconds(np.diff(self.first), np.diff(self.begin))

    @property
    def entries(self) -> int:
        """Numbers that the fronts hold."""
        return int(self.offset[-1])


class _Part(NamedTuple):
    """Fronts of one part, places counted from its own first column."""

    order: Ints
    first: list[int]
    rows: list[Ints]
    parent: list[int]


def fronts_of(pattern: csr_array) -> Fronts:
    """The fronts of a symmetric matrix with entries where `pattern` has some."""
    n = pattern.shape[0]
    n_parts, label = connected_components(pattern, directed=False)
    by_part = np.argsort(label, kind="stable")
    ends = np.cumsum(np.bincount(label, minlength=n_parts))
    parts = [
        _part_of(pattern, members) for members in np.split(by_part, ends[:-1].tolist()) if len(members)
    ]
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
    found = [np.empty(0, dtype=np.int64)]
    for own, above in zip(rows, parent, strict=True):
        if above >= 0:
            begin, end = first[above], first[above + 1]
            found.append(np.where(own < end, own - begin, end - begin + np.searchsorted(rows[above], own)))
    return np.concatenate(found).astype(np.int64)


def _part_of(pattern: csr_array, members: Ints) -> _Part:
    """The fronts of one connected part: one dense front, or a tree of them where that is cheaper."""
    n = len(members)
    whole = _Part(members, [0, n], [np.empty(0, dtype=np.int64)], [-1])
    if n <= _DENSE_ORDER or n > _MOST_ORDERED:
        return whole
    own = csr_array(pattern[members][:, members])
    if own.nnz > _DENSE_SHARE * n * n:
        return whole
    order, structures = _eliminated(own)
    tree = _joined(*_supernodes(structures))
    widths, sizes = np.diff(tree[0]), np.array([len(row) for row in tree[1]])
    if _seconds(widths, sizes) >= _cost(n, 0):
        return whole
    return _Part(members[order], *tree)


def _seconds(widths: Ints, sizes: Ints) -> float:
    """About what the factor of fronts takes that eliminate `widths` columns and change `sizes` others."""
    return sum(map(_cost, widths.tolist(), sizes.tolist()))


def _eliminated(own: csr_array) -> tuple[Ints, list[Ints]]:
    """An order of elimination in which every subtree stands together, and the places of the columns that each
    column changes."""
    n = own.shape[0]
    bits = np.zeros((n, (n + 63) // 64), dtype=np.uint64)
    row = np.repeat(np.arange(n), np.diff(own.indptr))
    column = own.indices.astype(np.int64)
    off = row != column
    np.bitwise_or.at(
        bits, (row[off], column[off] // 64), np.uint64(1) << (column[off] % 64).astype(np.uint64)
    )
    order = np.empty(n, dtype=np.int64)
    done = int(minimum_degree(bits, order, _DENSE_SHARE))
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
def minimum_degree(bits, order, dense_share):
    """Eliminate the columns of a graph with neighbours `bits` (n, words), fewest neighbours first, until those
    have `dense_share` of what is left; the rest is dense and comes last.

    Fills `order`; `bits` of a column that was eliminated are those that it changed. Returns how many were.
    """
    n, n_words = bits.shape
    degree = np.empty(n, dtype=np.int64)
    for v in range(n):
        degree[v] = _count(bits[v])
    left = np.ones(n, dtype=np.bool_)
    done = n
    for step in range(n):
        v = -1
        for u in range(n):
            if left[u] and (v < 0 or degree[u] < degree[v]):
                v = u
        if degree[v] >= dense_share * (n - step - 1):
            done = step
            break
        order[step] = v
        left[v] = False
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

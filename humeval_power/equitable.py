"""Deals that are even on both sides: edges of a bipartite graph in colours, each as often as the others at
every vertex.

Workers are on the left, items on the right, an edge is a rating or a sitting, its colour the system that is
rated, or the order in which systems are shown.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]
Levels = Sequence[Codes]


def equitable_colours(left: Levels, right: Levels, n_colours: int, rng: np.random.Generator) -> Codes:
    """A colour 0, 1, ... for each edge, shape (n_edges,).

    At every vertex, in every group, and between every two vertices, the counts of any two colours differ by at
    most one. Every bipartite graph has such colours (de Werra 1971). They are found by halving: a walk along
    the edges that changes colour at every step leaves both halves even at every vertex (Euler; Gabow 1976).

    Parameters
    ----------
    left, right : the vertex of each edge at either end, shape (n_edges,), then the group that the vertex is in,
        the group of groups, and so on. The same two vertices more than once are edges of their own.
    rng : which of the many solutions is found.
    """
    between = left[0] * (int(right[0].max(initial=0)) + 1) + right[0]
    ends = ((between, *left), (between, *right))
    colour = np.zeros(len(between), dtype=np.int64)
    _colour(np.arange(len(between)), ends, range(n_colours), colour, rng)
    return np.asarray(rng.permutation(n_colours)[colour])


def _colour(
    edges: Codes, ends: tuple[Levels, Levels], colours: range, codes: Codes, rng: np.random.Generator
) -> None:
    """Colour some edges: an even number of colours by halves, an odd one by mending."""
    n_colours = len(colours)
    here = (tuple(level[edges] for level in ends[0]), tuple(level[edges] for level in ends[1]))
    if n_colours == 1 or len(edges) == 0:
        codes[edges] = colours.start
    elif n_colours % 2 == 0:
        second = _halves(here, rng)
        middle = colours.start + n_colours // 2
        _colour(edges[~second], ends, range(colours.start, middle), codes, rng)
        _colour(edges[second], ends, range(middle, colours.stop), codes, rng)
    else:
        codes[edges] = colours.start + _mended(here, n_colours, rng)


def _mended(ends: tuple[Levels, Levels], n_colours: int, rng: np.random.Generator) -> Codes:
    """Colours that are even on the right are dealt anew, two at a time, until they are even everywhere.

    Every deal makes its two colours even in all groups, so the sum of squared counts falls whenever two
    colours differ by more than one somewhere, and the mending ends.
    """
    n_edges = len(ends[0][0])
    colour = np.empty(n_edges, dtype=np.int64)
    order = np.lexsort((rng.random(n_edges), *ends[1]))  # parallel edges stand together
    colour[order] = np.arange(n_edges) % n_colours
    groups = [np.unique(level, return_inverse=True)[1] for level in (*ends[0][1:], *ends[1][1:])]
    counts = [_counts(group, colour, n_colours) for group in groups]
    while True:
        first, second = max((_furthest_apart(count) for count in counts), key=lambda match: match[0])[1]
        if first == second:
            return colour
        either = np.flatnonzero((colour == first) | (colour == second))
        here = (tuple(level[either] for level in ends[0]), tuple(level[either] for level in ends[1]))
        colour[either] = np.where(_halves(here, rng), second, first)
        for group, count in zip(groups, counts, strict=True):
            for one in (first, second):
                count[:, one] = np.bincount(group[colour == one], minlength=len(count))


def _furthest_apart(count: Codes) -> tuple[int, tuple[int, int]]:
    """In how many groups the same two colours differ by more than one, and the two for which they are most;
    the same colour twice where there are none."""
    uneven = count[np.ptp(count, axis=1) > 1]
    apart = (np.abs(uneven[:, :, None] - uneven[:, None, :]) > 1).sum(axis=0)
    worst = int(apart.argmax())
    return int(apart.flat[worst]), (worst // count.shape[1], worst % count.shape[1])


def _counts(group: Codes, colour: Codes, n_colours: int) -> Codes:
    """How many edges of each colour each group has, shape (n_groups, n_colours)."""
    flat = np.bincount(group * n_colours + colour, minlength=(int(group.max()) + 1) * n_colours)
    return flat.reshape(-1, n_colours)


def _halves(ends: tuple[Levels, Levels], rng: np.random.Generator) -> Mask:
    """Which edges are in the second of two halves that differ by at most one in every group, shape (n_edges,).

    At either end the edges are paired off, parallel ones with each other first, then those of a vertex, then
    those of a group; the two of a pair get different halves. An edge has at most two partners, one at each
    end, so that the edges form paths and cycles, and those are even: a walk leaves its edges through the left
    end and the right end in turn. Which way a path or cycle is walked is drawn at random; the half is the end
    through which an edge is left.
    """
    partner = [_partners(levels, rng) for levels in ends]
    n = len(partner[0])
    # A step of a walk: edge e left through its left end is e, through its right end n + e.
    step = np.concatenate([partner[0] + n, partner[1]])
    last = np.concatenate([partner[0] < 0, partner[1] < 0])
    step[last] = np.flatnonzero(last)
    # The smallest number ahead is the same for all steps of a walk; a last step has the smallest of all.
    label = rng.permutation(2 * n) - 2 * n * last
    while True:
        ahead = np.minimum(label, label[step])
        if np.array_equal(ahead, label):
            return np.asarray(label[:n] > label[n:])
        label, step = ahead, step[step]


def _partners(levels: Levels, rng: np.random.Generator) -> Codes:
    """The edge that each is paired with at one end, level by level; -1 for the last of an odd number."""
    free = rng.permutation(len(levels[0]))
    partner = np.full(len(free), -1, dtype=np.int64)
    for level in levels:
        free = free[np.argsort(level[free], kind="stable")]
        group = level[free]
        starts = np.flatnonzero(np.append(True, group[1:] != group[:-1])) if len(free) else free
        place = np.arange(len(free)) - np.repeat(starts, np.diff(np.append(starts, len(free))))
        second = np.flatnonzero(place % 2 == 1)
        partner[free[second]] = free[second - 1]
        partner[free[second - 1]] = free[second]
        free = free[partner[free] < 0]
    return partner

"""The order in which one worker meets their texts: batches, order within them, repeats and checks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from humeval_power.choices import PresentationOrder as PresentationOrder
from humeval_power.designs import Codes
from humeval_power.errors import DesignError
from humeval_power.planning.plan.alternation import Steps, alternated

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
RATING, REPEAT, CHECK = 0, 1, 2
KINDS = ("rating", "repeat", "check")  # what a row is; a repeat shows an output to a worker once more
NOTHING = -1  # item and system of a check


@dataclass(frozen=True, slots=True, eq=False)
class Showings:
    """The ratings of one worker by sitting: an item under one system, or under several.

    Arrays of shape (n_ratings,): `item`, `system`, `time` (0 where the worker sees the output for the
    first time, 1 the second, ...) and `sitting`, numbered 0, 1, ... in the order of the rows. The rows
    of a sitting stand together, the system to be shown first in front. `turn` is what should alternate from
    one sitting to the next, where there are more than two systems (`Turns`).
    """

    item: Codes
    system: Codes
    time: Codes
    sitting: Codes
    turn: Codes


@dataclass(frozen=True, slots=True, eq=False)
class Session:
    """Everything that one worker sees, in order: arrays of shape (n_shown,), `batch` from 0, `kind` one
    of RATING, REPEAT and CHECK."""

    item: Codes
    system: Codes
    batch: Codes
    kind: Codes


@dataclass(frozen=True, slots=True)
class SessionPlan:
    """How sessions are built; the numbers are those of one worker. With `steps` sittings alternate."""

    order: PresentationOrder
    batch_size: int | None
    n_repeats: int
    n_checks: int
    steps: Steps | None = None


def first_systems(item: Codes, time: Codes, balance: Codes, rng: np.random.Generator) -> Mask:
    """Which sittings of one worker with both systems show A first, shape (n_sittings,).

    The worker's two counts differ by at most one. Items that earlier workers saw more often with B first
    are the first to get A first.

    Parameters
    ----------
    item, time : of each sitting, shape (n_sittings,).
    balance : (n_items,) how many more sittings of the item show A first than B first; updated.
    """
    tie = rng.random(len(item))
    a_first = np.zeros(len(item), dtype=np.bool_)
    surplus = 0
    for round_ in range(int(time.max(initial=-1)) + 1):
        here = np.flatnonzero(time == round_)
        behind = here[np.lexsort((tie[here], balance[item[here]]))]
        wants_more = int(balance[item[here]].sum()) < 0
        n_first, odd = divmod(len(here) - surplus, 2)
        n_first = min(max(n_first + (odd and wants_more), 0), len(here))
        a_first[behind[:n_first]] = True
        surplus += 2 * n_first - len(here)
        np.add.at(balance, item[here], np.where(a_first[here], 1, -1))
    return a_first


def build_session(
    showings: Showings,
    plan: SessionPlan,
    *,
    position: Floats,
    stream: Callable[[str], np.random.Generator],
) -> Session:
    """One worker's session.

    Sittings fill batches in the order in which they are numbered. Within a batch, 'blocked' keeps the
    outputs of an item together; 'random' shows each item once before it shows another output of any, so
    that two outputs are half a batch apart, and K are a K-th of it. A repeat comes at least half of its batch
    later.

    Parameters
    ----------
    position : (n_items,) random numbers: the order of items within a batch.
    stream : the generator of a purpose, 'steps', 'repeats' or 'checks', so that none changes the rest.
    """
    batch_of, repeats = _fill_batches(np.bincount(showings.sitting), plan)
    checks = _spread(plan.n_checks, len(repeats))
    drawn = cache(stream)  # a generator is made where it is needed, and goes on from batch to batch
    layout = _BY_ORDER[plan.order]
    if plan.steps is not None:
        position = _in_turn(showings, batch_of, plan.steps, position, stream("steps"))
    parts: list[tuple[Codes, Codes, int]] = []  # rows (NOTHING for a check), kinds, batch
    for batch, (n_repeats, n_checks) in enumerate(zip(repeats, checks, strict=True)):
        rows = layout(np.flatnonzero(batch_of[showings.sitting] == batch), showings, position)
        kind = np.where(showings.time[rows] > 0, REPEAT, RATING)
        whole = plan.order == "blocked"
        if n_repeats:
            rng = drawn("repeats")
            rows, kind = _add_repeats(rows, kind, showings, int(n_repeats), rng, keep_together=whole)
        if n_checks:
            rng = drawn("checks")
            rows, kind = _add_checks(rows, kind, showings, int(n_checks), rng, keep_together=whole)
        parts.append((rows, kind, batch))
    row = np.concatenate([rows for rows, _, _ in parts])
    return Session(
        item=np.where(row == NOTHING, NOTHING, showings.item[row]),
        system=np.where(row == NOTHING, NOTHING, showings.system[row]),
        batch=np.repeat([batch for _, _, batch in parts], [len(rows) for rows, _, _ in parts]),
        kind=np.concatenate([kind for _, kind, _ in parts]),
    )


def _fill_batches(size: Codes, plan: SessionPlan) -> tuple[Codes, Codes]:
    """The batch of each sitting and the number of repeats in each batch, for as few batches of nearly
    equal size as there can be. `size` is the number of ratings in each sitting."""
    n_sittings, limit = len(size), plan.batch_size
    if limit is None:
        return np.zeros(n_sittings, dtype=np.int64), np.array([plan.n_repeats])
    beside = -(-plan.n_repeats // n_sittings)  # repeats in a batch of one sitting
    needed = int(size.max()) + beside
    if needed > limit:
        also = ["", " and a repeat"][beside] if beside < 2 else f" and {beside} repeats"
        raise DesignError(
            f"batch_size must be at least {needed} here, because the outputs of an item that one worker "
            f"rates{also} stay in one batch; got {limit}."
        )
    for n_batches in range(-(-(int(size.sum()) + plan.n_repeats) // limit), n_sittings):
        batch_of = np.arange(n_sittings) * n_batches // n_sittings
        ratings, repeats = np.bincount(batch_of, weights=size), _spread(plan.n_repeats, n_batches)
        # Half a batch before a repeat leaves (ratings - repeats) / 2 + 1 outputs to choose from.
        if (ratings + repeats <= limit).all() and (repeats <= (ratings - repeats) // 2 + 1).all():
            return batch_of, repeats
    return np.arange(n_sittings), _spread(plan.n_repeats, n_sittings)


def _spread(count: int, n_batches: int) -> Codes:
    """`count` divided over batches as evenly as it can be, shape (n_batches,)."""
    return np.asarray(np.diff(np.arange(n_batches + 1) * count // n_batches))


def _blocked(rows: Codes, showings: Showings, position: Floats) -> Codes:
    """Rows of a batch item by item; what is seen again comes when all has been seen once."""
    return rows[np.lexsort((rows, position[showings.item[rows]], showings.time[rows]))]


def _apart(rows: Codes, showings: Showings, position: Floats) -> Codes:
    """Rows of a batch with the two outputs of every item half of the batch apart; K outputs a K-th."""
    times = showings.time[rows]
    if not times.any():
        return _passes(rows, showings, position)
    return np.concatenate([_passes(rows[times == time], showings, position) for time in np.unique(times)])


def _passes(rows: Codes, showings: Showings, position: Floats) -> Codes:
    """Passes over the same items in the same order, as many as an item has outputs at most, and two at least.
    Items with fewer are dealt to the passes in turn, and what is left of a round stands between them."""
    start = np.flatnonzero(np.diff(showings.sitting[rows], prepend=-1))  # sittings are numbered in order
    size_of = np.diff(start, append=len(rows))
    within = np.arange(len(rows)) - np.repeat(start, size_of)
    place = position[showings.item[rows]]
    n_passes = max(2, int(size_of.max()))
    pass_ = within.astype(np.float64)
    for few in np.unique(size_of[size_of < n_passes]).tolist():
        round_ = n_passes // few  # so many items are one item's worth of outputs in every pass
        starts = start[size_of == few]
        starts = starts[np.argsort(place[starts])]
        whole = len(starts) // round_ * round_
        n_left = max(len(starts) - whole, 1)
        for number, first in enumerate(starts.tolist()):
            mine = slice(first, first + few)
            if number < whole:
                pass_[mine] = np.floor((within[mine] + number % round_ / round_) * n_passes / few)
                place[mine] = place[starts[number - number % round_]]
            else:
                share = (number - whole + 0.5) / n_left
                pass_[mine] = (within[mine] + share) * n_passes / few - 0.5
    return rows[np.lexsort((place, pass_))]


def _in_turn(
    showings: Showings, batch_of: Codes, steps: Steps, position: Floats, rng: np.random.Generator
) -> Floats:
    """Places of the items, (n_items,), at which turns alternate within each batch."""
    first = np.flatnonzero(np.append(True, np.diff(showings.sitting) != 0) & (showings.time == 0))
    item, turn, batch = showings.item[first], showings.turn[first], batch_of[showings.sitting[first]]
    place, followed = np.array(position), np.zeros_like(steps.taken)
    for mine in np.split(np.argsort(batch, kind="stable"), np.cumsum(np.bincount(batch))[:-1]):
        mine = mine[np.argsort(position[item[mine]])]
        order = item[mine][alternated(turn[mine].tolist(), steps, followed, rng)]
        # what is seen again stays early
        place[order] = (np.arange(len(order)) + 0.5) / len(order) + np.floor(position[order])
    return place


_BY_ORDER: dict[PresentationOrder, Callable[[Codes, Showings, Floats], Codes]] = {
    "random": _apart,
    "blocked": _blocked,
}


def _add_repeats(
    rows: Codes,
    kind: Codes,
    showings: Showings,
    n_repeats: int,
    rng: np.random.Generator,
    *,
    keep_together: bool,
) -> tuple[Codes, Codes]:
    """Show some of the first outputs of a batch again, each at least half of the batch later; not next
    to an output of the same item where that can be."""
    n, half = len(rows), -(-(len(rows) + n_repeats) // 2)
    item = showings.item[rows]
    eligible = np.append(rng.permutation(n - half), n - half)  # the last has one place only
    new = np.sort(np.unique(item[eligible], return_index=True)[1])  # one output of each item at first
    sources = np.concatenate([eligible[new], np.delete(eligible, new)])[:n_repeats]
    gaps = []
    for source in sources:
        free = np.arange(source + half, n + 1)
        if keep_together:
            free = free[_is_boundary(rows, showings)[free]]
        beside = (item[free - 1] == item[source]) | (np.append(item, NOTHING)[free] == item[source])
        gaps.append(rng.choice(free if beside.all() else free[~beside]))
    return _inserted(rows, rows[sources], gaps), _inserted(kind, np.full(n_repeats, REPEAT), gaps)


def _add_checks(
    rows: Codes,
    kind: Codes,
    showings: Showings,
    n_checks: int,
    rng: np.random.Generator,
    *,
    keep_together: bool,
) -> tuple[Codes, Codes]:
    """Put checks into a batch, one at random in each of as many equal stretches; never at the start."""
    gaps = 1 + np.floor((np.arange(n_checks) + rng.random(n_checks)) * len(rows) / n_checks)
    gaps = gaps.astype(np.int64)
    if keep_together:
        gaps += ~_is_boundary(rows, showings)[gaps]
    nothing = np.full(n_checks, NOTHING)
    return _inserted(rows, nothing, gaps), _inserted(kind, np.full(n_checks, CHECK), gaps)


def _is_boundary(rows: Codes, showings: Showings) -> Mask:
    """Whether each gap before row 0, 1, ..., n does not part the outputs of a sitting, shape (n + 1,)."""
    inside = (showings.sitting[rows[1:]] == showings.sitting[rows[:-1]]) & (rows[1:] != rows[:-1])
    return np.concatenate([[True], ~inside, [True]])


def _inserted(values: Codes, new: Codes, gaps: Codes | list[int]) -> Codes:
    """`values` with the new ones put in before the positions `gaps` of the old."""
    place = np.concatenate([np.arange(len(values)), np.asarray(gaps) - 0.5])
    return np.asarray(np.concatenate([values, new])[np.argsort(place, kind="stable")])

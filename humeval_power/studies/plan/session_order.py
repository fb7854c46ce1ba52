"""The order in which one worker meets their texts: batches, order within them, repeats and checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from humeval_power.choices import MAX_RATE, PresentationOrder
from humeval_power.designs import Codes, Design, equitable_colours
from humeval_power.errors import DesignError, Problem

# Which of several systems comes first, second, ... where one worker sees an item under all of them.


@dataclass(frozen=True, slots=True, eq=False)
class Turns:
    """The order of showing within sittings: arrays of shape (n_ratings,), in the order of the design's rows.

    `place` is that of the rating's system in its sitting, 0 the first. `turn`, the same for all of a sitting,
    is what should alternate from one sitting to the next: the row of `williams_rows` that it follows if
    `whole`, where every sitting is of all systems; else the system that it begins with.
    """

    place: Codes
    turn: Codes
    whole: bool


def williams_rows(n_systems: int) -> Codes:
    """Orders of systems, shape (n_systems, n_systems), or twice as many rows for an odd number.

    Every system has every place equally often, and every system directly follows every other equally often:
    once over the rows of an even number, twice over those of an odd one (Williams 1949). The first
    `n_systems` rows, and the rest, are Latin squares.
    """
    steps = np.arange(n_systems)
    first = np.where(steps % 2 == 1, (steps + 1) // 2, -(steps // 2))
    square = (first + steps[:, None]) % n_systems
    return square if n_systems % 2 == 0 else np.concatenate([square, square[:, ::-1]])


def deal_turns(design: Design, time: Codes, rng: np.random.Generator) -> Turns:
    """The order of showing for each sitting of a design.

    Where a worker sees an item under all systems, the orders of a Latin square are dealt equally often for
    each worker, for each item and in all, so that a system's counts at the places differ by at most one. An
    odd number of systems takes two squares; there the counts of an item may differ by two, if the design is
    not crossed. Where a worker sees some of the systems, the places of each are even for each worker and in
    all, among sittings of the same size.

    time : how often the worker has seen the output before, shape (n_ratings,).
    """
    rows, n_systems = design.assignment, design.n_systems
    n_shown = design.n_items * (int(time.max(initial=0)) + 1)
    key = rows.worker * n_shown + rows.item + design.n_items * time
    keys, sitting, size = np.unique(key, return_inverse=True, return_counts=True)
    worker, shown = np.divmod(keys, n_shown)
    place, row = np.zeros(len(sitting), dtype=np.int64), np.zeros(len(keys), dtype=np.int64)
    place_in = np.argsort(rng.permutation(n_systems)[williams_rows(n_systems)], axis=1)
    for number in np.unique(size).tolist():
        mine = np.flatnonzero(size[sitting] == number)
        if number == n_systems:
            whole = size == number
            deal = _tiled if design.is_crossed else _coloured
            row[whole] = deal(worker[whole], shown[whole], n_systems, rng)
            place[mine] = place_in[row[sitting[mine]], rows.system[mine]]
        else:
            system = (rows.worker[mine] * n_systems + rows.system[mine], rows.system[mine])
            place[mine] = equitable_colours((sitting[mine],), system, number, rng)
    if (size == n_systems).all():
        return Turns(place, row[sitting], whole=True)
    begins = np.empty(len(keys), dtype=np.int64)
    begins[sitting[place == 0]] = rows.system[place == 0]
    return Turns(place, begins[sitting], whole=False)


def _tiled(worker: Codes, shown: Codes, n_systems: int, rng: np.random.Generator) -> Codes:
    """Orders of a complete table of sittings: Latin squares side by side, each shuffled by itself."""
    sizes = int(worker.max()) + 1, int(shown.max()) + 1
    (tile, row), (other_tile, column) = (
        np.divmod(rng.permutation(size)[ends], n_systems)
        for size, ends in zip(sizes, (worker, shown), strict=True)
    )
    n_tiles = tuple(-(-size // n_systems) for size in sizes)
    rows, columns, symbols = (rng.random((*n_tiles, n_systems)).argsort(axis=-1) for _ in range(3))
    at = rows[tile, other_tile, row] + columns[tile, other_tile, column]
    square = (tile + other_tile) % (1 + n_systems % 2)
    return np.asarray(square * n_systems + symbols[tile, other_tile, at % n_systems])


def _coloured(worker: Codes, shown: Codes, n_systems: int, rng: np.random.Generator) -> Codes:
    """Orders of any sittings: even for every worker, in all and, within each square, for every item."""
    square = np.zeros(len(worker), dtype=np.int64)
    if n_systems % 2 == 1:  # a worker takes the squares in turn, each as a whole: only the last is not
        order = np.lexsort((rng.random(len(worker)), worker))
        loads = np.bincount(worker)
        place = np.arange(len(worker)) - np.repeat(np.cumsum(loads) - loads, loads)
        square[order] = (place // n_systems + worker[order]) % 2
    ends = (worker * 2 + square, square), (shown * 2 + square,)
    return square * n_systems + equitable_colours(*ends, n_systems, rng)


# The order of a worker's sittings: each system follows each other about equally often.


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Which systems follow which when one sitting comes after another.

    `before` and `after`, shape (n_turns, n_turns, n_neighbours), are the systems that become neighbours in the
    step from one turn (`Turns`) to another, under names of their own. `taken`, shape (n_systems, n_systems),
    counts how often each has followed each so far, for all workers.
    """

    before: Codes
    after: Codes
    taken: Codes

    def cost(self, turn: int, mine: Codes) -> tuple[Codes, Codes, Codes]:
        """Of each step from a turn, shape (n_turns,): how many systems would follow themselves, and how often
        those that become neighbours have been, for the worker, `mine`, and for all."""
        before, after = self.before[turn], self.after[turn]
        return (
            (before == after).sum(axis=1),
            mine[before, after].sum(axis=1),
            self.taken[before, after].sum(axis=1),
        )


def steps_between(n_systems: int, *, whole: bool, together: bool) -> Steps:
    """The steps between sittings of all systems (`whole`), or between the systems that sittings begin with.

    together : the outputs of an item are shown one after the other, so that the last of one sitting is
        followed by the first of the next; else place by place, each of one by that of the next.
    """
    rows = williams_rows(n_systems) if whole else np.arange(n_systems)[:, None]
    last, first = (rows[:, -1:], rows[:, :1]) if together else (rows, rows)
    shape = (len(rows), len(rows), last.shape[1])
    before, after = np.broadcast_to(last[:, None], shape), np.broadcast_to(first, shape)
    return Steps(before, after, np.zeros((n_systems, n_systems), dtype=np.int64))


def alternated(turn: Sequence[int], steps: Steps, mine: Codes, rng: np.random.Generator) -> list[int]:
    """The sittings of one batch in order, as indices into `turn`: a turn comes back at even distances, and of
    those that are due comes one by which systems become neighbours that were so least often, for this worker
    and then for all.

    turn : of each sitting of the batch; among those of one turn the first comes first.
    mine : how often each system has followed each in the worker's batches before; updated, as `steps.taken`.
    """
    waiting: list[list[int]] = [[] for _ in range(len(steps.before))]
    for number in reversed(range(len(turn))):
        waiting[turn[number]].append(number)
    count = np.bincount(turn, minlength=len(waiting))
    done, tie = np.zeros_like(count), rng.random((len(turn), len(count)))
    order: list[int] = []
    for shown in range(len(turn)):
        left = done < count
        due = left & (done * len(turn) <= shown * count)
        choice = np.flatnonzero(due if due.any() else left)
        if order:
            same, worker, everyone = (cost[choice] for cost in steps.cost(turn[order[-1]], mine))
            best = int(choice[np.lexsort((tie[shown, choice], everyone, worker, same))[0]])
            pairs = steps.before[turn[order[-1]], best], steps.after[turn[order[-1]], best]
            np.add.at(mine, pairs, 1)
            np.add.at(steps.taken, pairs, 1)
        else:
            best = int(choice[tie[shown, choice].argmin()])
        order.append(waiting[best].pop())
        done[best] += 1
    return order


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
class WorkSession:
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
) -> WorkSession:
    """One worker's session.

    Sittings fill batches in the order in which they are numbered. Within a batch, 'blocked' keeps the
    outputs of an item together; 'random' shows each item once before it shows another output of any, so
    that two outputs are half a batch apart, and K are a K-th of it. A repeat comes at least half of its batch
    later.

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
    return WorkSession(
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


# What is asked of an assignment, checked before any of it is laid out.


def checked_names(design: Design, names: Sequence[str]) -> tuple[str, ...]:
    """The names of the items, if there is a different one for each."""
    if len(names) != design.n_items:
        raise DesignError(f"The design has {design.n_items} items; {len(names)} item names were given.")
    blank = [number for number, name in enumerate(names, start=1) if not name.strip()]
    if blank:
        raise DesignError(f"Item name {blank[0]} is blank.")
    first: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        if first.setdefault(name, number) != number:
            raise DesignError(f"Item names {first[name]} and {number} are the same: {name!r}.")
    return tuple(names)


def check_options(
    seed: int,
    batch_size: int | None,
    order: str,
    check_rate: float,
    repeat_rate: float,
    replacement_slots: int,
    systems: Sequence[str],
    n_systems: int,
) -> None:
    """Raise DesignError with every option that is out of its range."""
    problems = [
        Problem(f"{name} must be a whole number of at least {least}; got {value}.", "")
        for name, value, least in (
            ("seed", seed, 0),
            ("batch_size", 1 if batch_size is None else batch_size, 1),
            ("replacement_slots", replacement_slots, 0),
        )
        if not isinstance(value, int | np.integer) or value < least
    ]
    problems += [
        Problem(f"{name} must be a share of the ratings from 0 to {MAX_RATE}; got {rate}.", "")
        for name, rate in (("check_rate", check_rate), ("repeat_rate", repeat_rate))
        if not 0 <= rate <= MAX_RATE
    ]
    words = get_args(PresentationOrder)
    if order not in words:
        problems.append(Problem(f"order must be one of {', '.join(words)}; got {order!r}.", ""))
    problems += _name_problems(systems, n_systems)
    if problems:
        raise DesignError(problems)


def _name_problems(systems: Sequence[str], n_systems: int) -> list[Problem]:
    """Too few or too many names of systems, or some that are blank or the same."""
    twice = next((name for name in systems if list(systems).count(name) > 1), None)
    blank = not all(name.strip() for name in systems)
    if len(systems) == n_systems and twice is None and not blank:
        return []
    if n_systems == 2:
        return [Problem(f"The two systems need two names; got {', '.join(systems)}.", "")]
    wrong = f"these are {len(systems)}"
    if len(systems) == n_systems:
        wrong = "one is blank" if blank else f"{twice!r} is there twice"
    return [Problem(f"The {n_systems} systems need {n_systems} names: {wrong}.", "")]


def check_shown(slots: Sequence[str], loads: Codes, repeats: Codes, checks: Codes, *, limit: int) -> None:
    """Raise DesignError if a slot is shown more than the limit, repeats and checks included."""
    shown = loads + repeats + checks
    worst = int(shown.argmax())
    if shown[worst] <= limit:
        return
    if loads[worst] > limit:
        remedy = "Let fewer workers rate each item (ratings_per_item), or use fewer items."
    else:
        remedy = (
            f"The ratings leave room for {limit - loads[worst]} more: lower the rates of repeats and "
            "checks, or give each worker fewer ratings."
        )
    raise DesignError(
        f"Slot {slots[worst]} would be shown {shown[worst]} texts and checks (ratings: {loads[worst]}, "
        f"repeats: {repeats[worst]}, checks: {checks[worst]}), above the limit of {limit} "
        f"(max_ratings_per_worker). {remedy}"
    )

"""Make a design executable: which worker slot sees which output when, and under which code."""

from __future__ import annotations

import hmac
import json
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from humeval_power.checking.exports.assigned import Key
from humeval_power.choices import PresentationOrder
from humeval_power.designs import Codes, Design
from humeval_power.errors import DesignError, InputError, Problem
from humeval_power.studies.plan.session_order import (
    CHECK,
    KINDS,
    NOTHING,
    RATING,
    SessionPlan,
    Showings,
    Steps,
    Turns,
    WorkSession,
    build_session,
    check_options,
    check_shown,
    checked_names,
    deal_turns,
    first_systems,
    steps_between,
)
from humeval_power.study_counts import share_of
from humeval_power.systems import system_names as called

if TYPE_CHECKING:
    import pandas as pd


# Codes under which workers see outputs: made of bits that the key alone holds, and the key that is found
# again.

N_BYTES = 16  # 128 bits: nobody tries them all

# Consonants without B, and no 0 or 1: no code spells a word, hints at A or B, or looks to a spreadsheet
# like a date (MAR12) or a power of ten (1E5).
_LETTERS = "CDFGHJKLMNPQRSTVWXZ"
_CHARACTERS = _LETTERS + "23456789"
_LENGTH = 5


def new_bits() -> bytes:
    """128 bits that nobody knows: of the system's own source, whatever the seed."""
    return secrets.token_bytes(N_BYTES)


def open_bits(seed: int) -> bytes:
    """What codes are made of that hide nothing: those of a table that names the systems beside them."""
    return f"blinding codes of seed {seed}".encode()


def blinding_codes(
    outputs: Sequence[tuple[str, str]], *, bits: bytes, others: Collection[str] = ()
) -> tuple[str, ...]:
    """A code such as X3F9C for each output (item, system), all different, and none of `others`.

    A code depends on the bits and the two names alone, so that it stays the same when items or workers
    are added. (Where two outputs would get the same code, the later one gets another.)
    """
    taken: dict[str, None] = {}
    for output in outputs:
        attempt = 0
        while (code := _code(bits, json.dumps([*output, attempt]))) in taken or code in others:
            attempt += 1
        taken[code] = None
    return tuple(taken)


def _code(bits: bytes, message: str) -> str:
    number = int.from_bytes(hmac.digest(bits, message.encode(), sha256))
    number, place = divmod(number, len(_LETTERS))
    code = _LETTERS[place]
    while len(code) < _LENGTH:
        number, place = divmod(number, len(_CHARACTERS))
        code += _CHARACTERS[place]
    return code


def study_mark(bits: bytes, plan: AssignmentPlan) -> str:
    """Tells studies apart: of the names of items and systems, and of who rates what where a plan fixes it. It says
    nothing to those who do not know the bits."""
    rows = plan.design.assignment
    rated = (rows.worker.tolist(), rows.item.tolist(), rows.system.tolist()) if plan.is_planned else ()
    named = json.dumps([plan.items, plan.systems, *rated])
    return hmac.digest(bits, named.encode(), sha256).hex()[:32]


def check_key_is_of_plan(key: Key, plan: AssignmentPlan) -> None:
    """Whether a key that was found is the one of this assignment, whose codes are made of its bits. Raises
    InputError: a key without bits, of another study, or that was changed since it was written."""
    if key.bits is None:
        rule = "is a key without the bits that its codes are made of, as versions before wrote it."
        raise InputError([Problem(rule, "Name another file for the key of this study.", place=key.source)])
    if key.study != study_mark(key.bits, plan):
        rule = "is the key of another study: of other items, systems, or who is to rate what."
        raise InputError([Problem(rule, "Name another file for the key of this one.", place=key.source)])
    frames = key.frame, plan.key()[["code", "item", "system"]]
    read, made = ({tuple(map(str.strip, row)) for row in frame.itertuples(index=False)} for frame in frames)
    if read != made:
        rule = "does not hold the codes of what is shown here: it was changed or cut, or other outputs are rated."
        remedy = "Give the file as it was written, or name another."
        raise InputError([Problem(rule, remedy, place=key.source)])


# Who sees what when: the rows of an assignment, their key, and the work of replacements.

ASSIGNMENT_COLUMNS = ("worker_slot", "batch", "order", "item", "place", "system", "code", "kind")
KEY_COLUMNS = ("code", "item", "system")
SECRET_COLUMNS = ("secret", "study")


@dataclass(frozen=True, slots=True, eq=False)
class AssignmentPlan:
    """Who sees what when: one row for each text shown or check, sorted by worker slot and order.

    Arrays of shape (n_rows,): `worker`, `item` and `system` are the codes of the design (item and system
    are -1 for a check), `batch` and `order` count from 1 within the worker, `kind` indexes KINDS.
    `slots`, `items`, `systems` are names; `codes` holds the blinding code of each output, at index
    n_systems * item + system. `look`, if there are looks, is the one that needs the row. `replacements` are the
    names of spare slots: nobody's work until a worker drops out, then a copy of that worker's work
    (`replacement_table`). `bits` are what the codes of a blind table are made of, for the key alone; None where the
    systems stand beside the codes. `is_planned` says that a plan fixes who rates what.
    """

    design: Design
    seed: int
    worker: Codes
    batch: Codes
    order: Codes
    item: Codes
    system: Codes
    kind: Codes
    slots: tuple[str, ...]
    items: tuple[str, ...]
    systems: tuple[str, ...]
    codes: tuple[str, ...]
    replacements: tuple[str, ...]
    look: Codes | None = None
    bits: bytes | None = None
    is_planned: bool = False

    def loads(self, kind: int | None = None) -> Codes:
        """Rows of each worker slot, of one kind or of all, shape (n_workers,)."""
        mine = self.worker if kind is None else self.worker[self.kind == kind]
        return np.bincount(mine, minlength=len(self.slots))

    @property
    def n_batches(self) -> Codes:
        """Batches of each worker slot, shape (n_workers,)."""
        most = np.zeros(len(self.slots), dtype=np.int64)
        np.maximum.at(most, self.worker, self.batch)
        return most

    @property
    def place(self) -> NDArray[np.object_]:
        """Which of a worker's outputs of an item a row shows: 1 the first, 2 the second, ..., as the order
        column of a table of ratings has it; blank for repeats and checks. Shape (n_rows,)."""
        place = np.full(len(self.item), "", dtype=object)
        rated = np.flatnonzero(self.kind == RATING)
        sitting = self.worker[rated] * np.int64(self.design.n_items) + self.item[rated]
        rows = np.lexsort((self.order[rated], sitting))
        begins = np.searchsorted(sitting[rows], sitting[rows])
        place[rated[rows]] = (np.arange(len(rows)) - begins + 1).tolist()
        return place

    def to_frame(self) -> pd.DataFrame:
        """The table with the columns ASSIGNMENT_COLUMNS, `document` before the item where items come out of
        documents, and `look` where there are looks; a check has no item, system and code."""
        import pandas as pd

        output = np.where(self.item == NOTHING, NOTHING, len(self.systems) * self.item + self.system)
        columns = (
            _named(self.slots, self.worker),
            self.batch,
            self.order,
            _named(self.items, self.item),
            self.place,
            _named(self.systems, self.system),
            _named(self.codes, output),
            _named(KINDS, self.kind),
        )
        table = pd.DataFrame(dict(zip(ASSIGNMENT_COLUMNS, columns, strict=True)))
        of_item = self.design.document_of_item
        if of_item is not None:
            document = np.where(self.item == NOTHING, NOTHING, of_item[self.item])
            names = numbered("d", self.design.n_documents)
            table.insert(ASSIGNMENT_COLUMNS.index("item"), "document", _named(names, document))
        return table if self.look is None else table.assign(look=self.look)

    def key(self) -> pd.DataFrame:
        """What the codes stand for, the coordinator's secret: columns KEY_COLUMNS, one row an output; of a blind
        table also SECRET_COLUMNS, the bits of the codes and the mark of the study, the same in all rows."""
        import pandas as pd

        rated = self.kind != CHECK
        shown = np.unique((len(self.systems) * self.item + self.system)[rated])
        item, system = np.divmod(shown, len(self.systems))
        columns = (_named(self.codes, shown), _named(self.items, item), _named(self.systems, system))
        key = pd.DataFrame(dict(zip(KEY_COLUMNS, columns, strict=True)))
        if self.bits is None:
            return key
        return key.assign(secret=self.bits.hex(), study=study_mark(self.bits, self))


def replacement_table(plan: AssignmentPlan, spare: str, slot: str, *, first_batch: int = 1) -> pd.DataFrame:
    """The work of `spare` when it takes over `slot`: the columns of the plan, and `replaces`.

    It is a copy of what the slot was to see, in the same order, so that the study keeps its design and
    its balance: all of it where the ratings of the worker who dropped out are discarded, or from
    `first_batch` on where the batches before are kept.

    Raises DesignError: a spare or slot that the plan does not have, or a batch that the slot does not have.
    """
    if spare not in plan.replacements:
        have = f"has {', '.join(plan.replacements)}" if plan.replacements else "has none"
        raise DesignError(f"{spare!r} is no replacement slot; the plan {have} (replacement_slots).")
    if slot not in plan.slots:
        raise DesignError(f"{slot!r} is no worker slot; the plan has {plan.slots[0]} to {plan.slots[-1]}.")
    n_batches = int(plan.n_batches[plan.slots.index(slot)])
    if not 1 <= first_batch <= n_batches:
        raise DesignError(f"Slot {slot} has the batches 1 to {n_batches}; got {first_batch}.")
    table = plan.to_frame()
    taken = table[(table["worker_slot"] == slot) & (table["batch"] >= first_batch)]
    return taken.assign(worker_slot=spare, replaces=slot).reset_index(drop=True)


def _named(names: Sequence[str], codes: Codes) -> NDArray[np.object_]:
    return np.array([*names, ""], dtype=object)[codes]  # NOTHING is the last, without a name


def numbered(letter: str, count: int) -> tuple[str, ...]:
    """Names such as w01, w02, ..., of equal length."""
    width = max(2, len(str(count)))
    return tuple(f"{letter}{number:0{width}d}" for number in range(1, count + 1))


_PURPOSES = (
    "items",
    "order",
    "first",
    "repeats",
    "checks",
    "turns",
    "steps",
)  # each has its own random numbers


def assign(
    design: Design,
    *,
    seed: int,
    batch_size: int | None = None,
    order: PresentationOrder = "random",
    check_rate: float = 0.0,
    repeat_rate: float = 0.0,
    replacement_slots: int = 0,
    max_ratings_per_worker: int | None = None,
    system_names: Sequence[str] | None = None,
    item_names: Sequence[str] | None = None,
    looks: Codes | None = None,
    bits: bytes | None = None,
    is_planned: bool = False,
) -> AssignmentPlan:
    """Make a design executable: batches, order of presentation, codes, checks, repeats.

    The ratings are those of the design. All workers go through the items batch by batch in one common
    random order, so that the first batches of all workers hold a random share of the items; the order
    within a batch is each worker's own. The outputs of an item that one worker rates stay in one batch.
    Where workers see an item under several systems, the table says which place an output has. Documents that
    stay together are shown one after the other, each with its items in their order.

    Of two systems, every worker has random numbers of their own: one more worker changes nobody else's order.
    Which system is first is balanced within worker (the counts differ by at most one) and, as far as that
    allows, within item. Of more systems, the orders of a Williams design are dealt over all workers and
    items together (`deal_turns`), and the systems, or the orders, take turns within each batch.

    Parameters
    ----------
    batch_size : most ratings, repeats included, in one batch; checks come on top.
    order : 'random' shows the two outputs of an item half a batch apart (K outputs a K-th of it), 'blocked'
        one after the other.
    system_names, item_names : one for each system and item of the design. [A, B, ...; i01, i02, ...]
    check_rate, repeat_rate : attention checks, and outputs shown once more to measure how far workers
        agree with themselves, as shares of each worker's ratings: rounded, and at least one each.
    max_ratings_per_worker : most that a worker is shown, ratings, repeats and checks together.
    looks : shape (n_ratings,), at which look (1, 2, ...) each rating of the design is needed: a worker
        finishes what one look needs before the next, in batches of its own.
    bits : what the codes are made of, secret; the seed makes the order alone. [none: codes that hide nothing]
    is_planned : whether a plan fixes the design, so that a key of another design is that of another study.

    Raises
    ------
    DesignError
        Options that are out of range or contradict each other, or a worker above the limit.
    """
    named = item_names is not None
    names = numbered("i", design.n_items) if item_names is None else checked_names(design, item_names)
    systems = called(design.n_systems) if system_names is None else tuple(system_names)
    check_options(
        seed, batch_size, order, check_rate, repeat_rate, replacement_slots, systems, design.n_systems
    )
    rows = design.assignment
    time = _times_seen(design)
    if repeat_rate > 0 and time.any():
        raise DesignError("This design repeats ratings itself: leave out repeat_rate.")
    stage = np.zeros(len(rows.worker), dtype=np.int64) if looks is None else looks - 1
    n_stages = int(stage.max()) + 1
    part = rows.worker * n_stages + stage  # what one worker does for one look is a session
    loads = np.bincount(part, minlength=design.n_workers * n_stages)
    repeats, checks = share_of(repeat_rate, loads), share_of(check_rate, loads)
    slots = numbered("w", design.n_workers)
    if max_ratings_per_worker is not None:
        by_worker = [each.reshape(-1, n_stages).sum(axis=1) for each in (loads, repeats, checks)]
        check_shown(slots, *by_worker, limit=max_ratings_per_worker)

    common_order = _item_order(design, _stream(seed, 0, "items"))
    sorted_rows = np.lexsort((common_order[rows.item], time, part))
    turns, layout, steps = _turns(design, time, order, _stream(seed, 0, "turns"))
    balance = np.zeros(design.n_items, dtype=np.int64)
    sessions = []
    for place, mine in enumerate(np.split(sorted_rows, np.cumsum(loads)[:-1])):
        stream = partial(_stream, seed, place // n_stages, look=place % n_stages)
        sessions.append(
            build_session(
                _showings(rows.item[mine], rows.system[mine], time[mine], balance, stream("first"))
                if turns is None
                else _in_turn(design, turns, mine, time[mine]),
                SessionPlan(layout, batch_size, int(repeats[place]), int(checks[place]), steps),
                position=_positions(rows.item[mine], time[mine], stream("order"), design),
                stream=stream,
            )
            if len(mine)
            else _NO_SESSION
        )
    sizes = np.array([len(session.item) for session in sessions])
    batches = np.array([session.batch.max() + 1 if len(session.batch) else 0 for session in sessions])
    return AssignmentPlan(
        design=design,
        seed=seed,
        worker=np.repeat(np.arange(len(sizes)) // n_stages, sizes),
        batch=np.concatenate([session.batch for session in sessions])
        + np.repeat(_earlier(batches, n_stages), sizes)
        + 1,
        order=np.concatenate([np.arange(size) for size in sizes])
        + np.repeat(_earlier(sizes, n_stages), sizes)
        + 1,
        look=None if looks is None else np.repeat(np.arange(len(sizes)) % n_stages, sizes) + 1,
        item=np.concatenate([session.item for session in sessions]),
        system=np.concatenate([session.system for session in sessions]),
        kind=np.concatenate([session.kind for session in sessions]),
        slots=slots,
        items=names,
        systems=systems,
        codes=_codes(names, systems, open_bits(seed) if bits is None else bits, named=named),
        replacements=numbered("r", replacement_slots),
        bits=bits,
        is_planned=is_planned,
    )


_NO_SESSION = WorkSession(*(np.zeros(0, dtype=np.int64) for _ in range(4)))


def _earlier(counts: Codes, n_stages: int) -> Codes:
    """How many the same worker had in the sessions before, by session."""
    by_worker = counts.reshape(-1, n_stages)
    return np.asarray((np.cumsum(by_worker, axis=1) - by_worker).ravel())


def _stream(seed: int, worker: int, purpose: str, *, look: int = 0) -> np.random.Generator:
    """The random numbers of one worker for one purpose and look, whatever the others draw."""
    key = (_PURPOSES.index(purpose), worker, *([look] if look else []))
    child = np.random.SeedSequence(seed, spawn_key=key)
    return np.random.Generator(np.random.Philox(child))


def _times_seen(design: Design) -> Codes:
    """How often the worker has seen the output before, by row of the design: 0 for a first rating."""
    rows = design.assignment
    cell = (rows.worker * design.n_items + rows.item) * design.n_systems + rows.system
    order = np.argsort(cell, kind="stable")
    time = np.empty(len(cell), dtype=np.int64)
    time[order] = np.arange(len(cell)) - np.searchsorted(cell[order], cell[order])
    return time


def _showings(
    item: Codes, system: Codes, time: Codes, balance: Codes, rng: np.random.Generator
) -> Showings:
    """The rows of one worker, sorted by time and item, as sittings with the first system in front."""
    new, sitting = _sittings(item, time)
    both = np.bincount(sitting) == 2
    starts = np.flatnonzero(new)[both]
    a_first = np.ones(len(both), dtype=np.bool_)
    a_first[both] = first_systems(item[starts], time[starts], balance, rng)
    order = np.lexsort((np.where(a_first[sitting], system, -system), sitting))
    return Showings(item[order], system[order], time[order], sitting[order], np.zeros_like(sitting))


def _turns(
    design: Design, time: Codes, order: PresentationOrder, rng: np.random.Generator
) -> tuple[Turns | None, PresentationOrder, Steps | None]:
    """Of more than two systems: the orders of showing, how a session is laid out, and the steps from sitting
    to sitting that are to be even; none where documents keep their items in order."""
    if design.n_systems == 2:
        return None, order, None
    turns = deal_turns(design, time, rng)
    layout = (
        order if turns.place.any() else "blocked"
    )  # one output of each item: nothing is to be kept apart
    if design.together and design.document_of_item is not None:
        return turns, layout, None
    return turns, layout, steps_between(design.n_systems, whole=turns.whole, together=layout == "blocked")


def _in_turn(design: Design, turns: Turns, mine: Codes, time: Codes) -> Showings:
    """The same where there are more systems, each sitting in its order; `mine` are the rows of the worker."""
    item, system = design.assignment.item[mine], design.assignment.system[mine]
    _, sitting = _sittings(item, time)
    order = np.lexsort((turns.place[mine], sitting))
    return Showings(item[order], system[order], time[order], sitting[order], turns.turn[mine][order])


def _sittings(item: Codes, time: Codes) -> tuple[NDArray[np.bool_], Codes]:
    """Which rows of a worker, sorted by time and item, begin a sitting, and the number of each row's."""
    new = np.append(True, (np.diff(item) != 0) | (np.diff(time) != 0))
    return new, np.cumsum(new) - 1


def _item_order(design: Design, rng: np.random.Generator) -> NDArray[np.float64]:
    """Places in [0, 1) that put the items into a random order, shape (n_items,); where documents stay
    together, the documents, each with its items as they follow each other in it."""
    if not design.together or design.document_of_item is None:
        return rng.random(design.n_items)
    rank = np.argsort(np.argsort(rng.random(design.n_documents)))[design.document_of_item]
    return np.asarray((rank + np.arange(design.n_items) / design.n_items) / design.n_documents)


def _positions(item: Codes, time: Codes, rng: np.random.Generator, design: Design) -> NDArray[np.float64]:
    """A random place for each item of one worker; what is seen more often comes earlier."""
    place = _item_order(design, rng)
    np.subtract.at(place, item[time > 0], 1.0)
    return place


def _codes(
    items: tuple[str, ...], systems: tuple[str, ...], bits: bytes, *, named: bool
) -> tuple[str, ...]:
    """Codes of outputs at n_systems * item + system; items without names of their own go by their number."""
    labels = items if named else [str(number) for number in range(1, len(items) + 1)]
    return blinding_codes([(item, system) for item in labels for system in systems], bits=bits)


# How evenly an assignment treats its systems: counts that should be alike, and how far they are not.

BalanceOf = Literal["system", "place", "next", "neighbour"]


@dataclass(frozen=True, slots=True)
class Unevenness:
    """The most minus the fewest of counts that should be alike, at worst, and the least that the numbers allow.

    Zero where everything divides, else one: then counts of whole ratings cannot all be the same.
    """

    worst: int
    least: int


@dataclass(frozen=True, slots=True)
class Balance:
    """How even one kind of count is: within one worker, within one item (None: not of items), and in all.

    `counted` is 'system', ratings of each system; 'place', of each system at each place among the outputs
    of an item that a worker sees; 'next', how often each system has the place after each other; or
    'neighbour', how often a worker is shown it right after the other, in one batch, whatever the items.
    """

    counted: BalanceOf
    worker: Unevenness
    item: Unevenness | None
    overall: Unevenness

    @property
    def all_parts(self) -> tuple[Unevenness | None, ...]:
        """Within one worker, within one item, in all."""
        return self.worker, self.item, self.overall

    @property
    def parts(self) -> tuple[tuple[str, Unevenness], ...]:
        """Those that there are, by name."""
        named = zip(("worker", "item", "overall"), self.all_parts, strict=True)
        return tuple((name, one) for name, one in named if one is not None)


def balance(plan: AssignmentPlan) -> tuple[Balance, ...]:
    """How evenly the ratings of an assignment treat its systems; repeats and checks are passed over."""
    rated = np.flatnonzero(plan.kind == RATING)
    worker, item, system = plan.worker[rated], plan.item[rated], plan.system[rated]
    n_systems, n_workers, n_items = len(plan.systems), len(plan.slots), len(plan.items)
    balances = [_balance("system", system, worker, item, (n_workers, n_items), (1, n_systems))]
    place = plan.place[rated].astype(np.int64) - 1
    if place.max() > 0:
        cell, shape = place * n_systems + system, (int(place.max()) + 1, n_systems)
        balances.append(_balance("place", cell, worker, item, (n_workers, n_items), shape))
        sitting = np.lexsort((place, item, worker))
        follows = (np.diff(worker[sitting]) == 0) & (np.diff(item[sitting]) == 0)
        balances.append(_pairs("next", system[sitting], worker[sitting], follows, n_workers, n_systems))
    same_batch = (np.diff(worker) == 0) & (np.diff(plan.batch[rated]) == 0)
    balances.append(_pairs("neighbour", system, worker, same_batch, n_workers, n_systems))
    return tuple(balances)


def _balance(
    counted: BalanceOf,
    cell: Codes,
    worker: Codes,
    item: Codes,
    sizes: tuple[int, int],
    shape: tuple[int, int],
) -> Balance:
    """Of counts of `cell`, a code in a table of this shape whose rows should be even."""
    everything = np.zeros_like(cell)
    of_worker, of_item, overall = (
        _unevenness(_table(end, cell, (size, *shape)))
        for end, size in ((worker, sizes[0]), (item, sizes[1]), (everything, 1))
    )
    return Balance(counted, of_worker, of_item, overall)


def _pairs(
    counted: BalanceOf,
    system: Codes,
    worker: Codes,
    follows: NDArray[np.bool_],
    n_workers: int,
    n_systems: int,
) -> Balance:
    """Of how often each system follows each other; `follows` says which row is followed by the next one."""
    before, after, of = system[:-1][follows], system[1:][follows], worker[:-1][follows]
    other = before != after
    pair = (before * (n_systems - 1) + after - (after > before))[other]
    shape = (1, n_systems * (n_systems - 1))
    of_worker = _unevenness(_table(of[other], pair, (n_workers, *shape)))
    return Balance(counted, of_worker, None, _unevenness(_table(np.zeros_like(pair), pair, (1, *shape))))


def _table(end: Codes, cell: Codes, shape: tuple[int, int, int]) -> Codes:
    n_cells = shape[1] * shape[2]
    return np.bincount(end * n_cells + cell, minlength=shape[0] * n_cells).reshape(shape)


def _unevenness(counts: Codes) -> Unevenness:
    """Of counts along the last axis: at worst over the other axes."""
    divides = counts.sum(axis=-1) % counts.shape[-1] == 0
    return Unevenness(int(np.ptp(counts, axis=-1).max()), int(not divides.all()))

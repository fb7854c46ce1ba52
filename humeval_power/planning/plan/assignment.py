"""Make a design executable: which worker slot sees which output when, and under which code."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from humeval_power.designs import Codes, Design
from humeval_power.errors import DesignError
from humeval_power.planning.plan.alternation import Steps, steps_between
from humeval_power.planning.plan.assignment_checks import (
    check_options,
    check_shown,
    checked_names,
)
from humeval_power.planning.plan.assignment_table import AssignmentPlan, numbered
from humeval_power.planning.plan.blinding import blinding_codes, open_bits
from humeval_power.planning.plan.session_order import (
    PresentationOrder,
    Session,
    SessionPlan,
    Showings,
    build_session,
    first_systems,
)
from humeval_power.planning.plan.turns import Turns, deal_turns
from humeval_power.study_counts import share_of
from humeval_power.systems import system_names as called

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


_NO_SESSION = Session(*(np.zeros(0, dtype=np.int64) for _ in range(4)))


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

"""Which cells of a study to rate next, by counts alone: fewest first, and what a cell is worth in closed form."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humeval_power.designs import Assignment, Codes

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Collecting:
    """What of a study is collected or still to come, and who may rate more; it holds no rating.

    rows : the ratings that are given, or are still expected.
    room : (n_workers,) how many more outputs each worker may be given.
    shown : (n_items, n_systems) which outputs the study has.
    rates : (n_workers, n_systems) which systems each worker may see.
    seen : (n_workers, n_items) the items that a worker met: those of `rows`, and others that count no more.
    together : (n_items,) the set of items that a worker gets as a whole, such as a document; each of its own where
        they are dealt one by one.
    whole : whether whoever rates an item rates it under all systems.
    again : whether a worker may meet an item under another system, where nobody else is left.
    systems : those that a worker rates of an item, where not all are given out any more. [all]
    lacking : (n_items,) how many workers each item lacks of the plan, where none is to get more than that.
    """

    rows: Assignment
    room: Codes
    shown: Mask
    rates: Mask
    seen: Mask
    together: Codes
    whole: bool
    again: bool = False
    systems: Codes | None = None
    lacking: Codes | None = None


def fewest_first(collecting: Collecting, n: int, rng: np.random.Generator) -> Assignment:
    """At most `n` ratings to give next, all of an item to the same worker where the design has it so.

    The item with the fewest ratings comes next, and goes to the worker with the least work of those who have not
    met it and have room; ties are drawn. A rating counts for an item where its worker rates all systems of it: half
    of a pair is worth little. Where systems are rated apart, the output with the fewest ratings comes next, and
    workers who met its item under another system are the last choice.
    """
    room, load = collecting.room.copy(), np.bincount(collecting.rows.worker, minlength=len(collecting.room))
    tie = rng.permutation(len(room))
    deal = _whole_items if collecting.whole else _outputs
    worker, item, system = deal(collecting, n, room, load, tie, rng)
    return Assignment(*(np.array(codes, dtype=np.int64) for codes in (worker, item, system)))


Rows = tuple[list[int], list[int], list[int]]


def _whole_items(
    collecting: Collecting, n: int, room: Codes, load: Codes, tie: Codes, rng: np.random.Generator
) -> Rows:
    systems = np.arange(collecting.shown.shape[1]) if collecting.systems is None else collecting.systems
    n_systems = len(systems)
    n_sets = int(collecting.together.max()) + 1
    members = np.split(
        np.argsort(collecting.together, kind="stable"), np.cumsum(np.bincount(collecting.together))[:-1]
    )
    met = np.zeros((len(room), n_sets), dtype=np.bool_)
    at = np.nonzero(collecting.seen)
    met[at[0], collecting.together[at[1]]] = True
    lacking = collecting.lacking
    count = whole_ratings(collecting.rows, collecting.seen.shape, systems) if lacking is None else -lacking
    waiting = [(count[mine].sum() / len(mine), rng.random(), number) for number, mine in enumerate(members)]
    heapq.heapify(waiting)
    worker: list[int] = []
    item: list[int] = []
    while waiting:
        fewest, _, number = heapq.heappop(waiting)
        if lacking is not None and fewest >= 0:
            break
        outputs = n_systems * len(members[number])
        may = np.flatnonzero(~met[:, number] & (room >= outputs))
        if outputs > n - n_systems * len(item) or not len(may):
            continue  # both grow worse only
        who = int(may[np.lexsort((tie[may], load[may]))[0]])
        met[who, number] = True
        room[who] -= outputs
        load[who] += outputs
        worker += [who] * len(members[number])
        item += members[number].tolist()
        heapq.heappush(waiting, (fewest + 1, rng.random(), number))
    each = systems.tolist()
    return (
        [who for who in worker for _ in each],
        [one for one in item for _ in each],
        [system for _ in item for system in each],
    )


def whole_ratings(rows: Assignment, shape: tuple[int, int], systems: Codes) -> Codes:
    """How many workers rate each item under all of these systems, (n_items,)."""
    kept, n = np.isin(rows.system, systems), int(systems.max()) + 1
    outputs = np.unique((rows.worker[kept] * shape[1] + rows.item[kept]) * n + rows.system[kept])
    meetings, times = np.unique(outputs // n, return_counts=True)
    return np.bincount(meetings[times == len(systems)] % shape[1], minlength=shape[1])


def _outputs(
    collecting: Collecting, n: int, room: Codes, load: Codes, tie: Codes, rng: np.random.Generator
) -> Rows:
    n_items, n_systems = collecting.shown.shape
    rows = collecting.rows
    count = np.bincount(rows.item * n_systems + rows.system, minlength=n_items * n_systems)
    of_item = np.bincount(rows.item, minlength=n_items)
    of_system = np.zeros((len(room), n_systems), dtype=np.int64)
    np.add.at(of_system, (rows.worker, rows.system), 1)
    met = collecting.seen.copy()
    rated = np.zeros((len(room), n_items * n_systems), dtype=np.bool_)
    rated[rows.worker, rows.item * n_systems + rows.system] = True
    waiting = [
        (int(count[output]), int(of_item[output // n_systems]), rng.random(), int(output))
        for output in np.flatnonzero(collecting.shown)
    ]
    heapq.heapify(waiting)
    worker: list[int] = []
    item: list[int] = []
    system: list[int] = []
    while waiting and len(item) < n:
        fewest, n_of_item, drawn, output = heapq.heappop(waiting)
        one, of = divmod(output, n_systems)
        if n_of_item < of_item[one]:  # its item got a rating meanwhile
            heapq.heappush(waiting, (fewest, int(of_item[one]), drawn, output))
            continue
        may = np.flatnonzero(
            ~rated[:, output] & (collecting.again | ~met[:, one]) & (room > 0) & collecting.rates[:, of]
        )
        if not len(may):
            continue
        who = int(may[np.lexsort((tie[may], of_system[may, of], load[may], met[may, one]))[0]])
        met[who, one] = rated[who, output] = True
        room[who] -= 1
        for counts, place in ((load, who), (of_item, one), (of_system, (who, of))):
            counts[place] += 1
        worker.append(who)
        item.append(one)
        system.append(of)
        heapq.heappush(waiting, (fewest + 1, int(of_item[one]), rng.random(), output))
    return worker, item, system


class PairGains:
    """What one more cell (a worker rates an item under two systems) takes off the variance of their difference.

    The paired difference of a cell has the true one, a worker's own (SD `sd_worker`), an item's own (`sd_item`),
    and the noise of two ratings (`sd_residual` each). With these known, one more row of the model changes the
    inverse of its normal equations by Sherman and Morrison; workers and items that have no cell yet are in it.
    """

    def __init__(
        self,
        worker: Codes,
        item: Codes,
        shape: tuple[int, int],
        *,
        sd_worker: float,
        sd_item: float,
        sd_residual: float,
    ) -> None:
        self.noise = 2 * sd_residual**2
        self._sd = sd_worker, sd_item
        self._workers = slice(1, 1 + shape[0])
        self._items = slice(1 + shape[0], 1 + sum(shape))
        cells = np.zeros(shape)
        np.add.at(cells, (worker, item), 1.0 / self.noise)
        normal = np.zeros((1 + sum(shape),) * 2)
        normal[0, 0] = cells.sum()
        normal[0, self._workers] = sd_worker * cells.sum(axis=1)
        normal[0, self._items] = sd_item * cells.sum(axis=0)
        normal[self._workers, self._items] = sd_worker * sd_item * cells
        normal += normal.T - np.diag(np.diag(normal))
        effects = [1 + sd_worker**2 * cells.sum(axis=1), 1 + sd_item**2 * cells.sum(axis=0)]
        np.fill_diagonal(normal[1:, 1:], np.concatenate(effects))
        self._inverse = np.linalg.inv(normal)

    def _row(self, worker: int, item: int) -> Floats:
        row = np.zeros(self._items.stop)
        row[[0, self._workers.start + worker, self._items.start + item]] = 1.0, *self._sd
        return row

    @property
    def variance(self) -> float:
        """Of the estimated difference by generalised least squares."""
        return float(self._inverse[0, 0])

    def of_cells(self) -> Floats:
        """The gain of each cell, (n_workers, n_items)."""
        inverse, (of_worker, of_item) = self._inverse, self._sd
        workers, items = self._workers, self._items
        moved = (
            inverse[0, 0] + of_worker * inverse[0, workers][:, None] + of_item * inverse[0, items][None, :]
        )
        spread = (
            2 * moved
            - inverse[0, 0]
            + (of_worker**2 * np.diag(inverse)[workers])[:, None]
            + (of_item**2 * np.diag(inverse)[items])[None, :]
            + 2 * of_worker * of_item * inverse[workers, items]
        )
        return np.asarray(moved**2 / (self.noise + spread))

    def of_batch(self, worker: Codes, item: Codes) -> float:
        """The gain of several cells together."""
        rows = np.array([self._row(*cell) for cell in zip(worker.tolist(), item.tolist(), strict=True)])
        moved = rows @ self._inverse
        return float(
            moved[:, 0] @ np.linalg.solve(moved @ rows.T + self.noise * np.eye(len(rows)), moved[:, 0])
        )

    def add(self, worker: int, item: int) -> None:
        """Take a cell as rated."""
        moved = self._inverse @ (row := self._row(worker, item))
        self._inverse -= np.outer(moved, moved) / (self.noise + row @ moved)


def add_by_gain(gains: PairGains, free: Mask, room: Codes, n_cells: int) -> list[tuple[int, int]]:
    """Take at most `n_cells` cells as rated, each that of the largest gain; the cells (worker, item).

    free : (n_workers, n_items) cells that nobody has rated yet. room : (n_workers,) how many more each may rate.
    """
    free, room = free.copy(), room.copy()
    cells: list[tuple[int, int]] = []
    while len(cells) < n_cells and (free & (room > 0)[:, None]).any():
        value = np.where(free & (room > 0)[:, None], gains.of_cells(), -1.0)
        worker, item = divmod(int(value.argmax()), value.shape[1])
        gains.add(worker, item)
        free[worker, item] = False
        room[worker] -= 1
        cells.append((worker, item))
    return cells

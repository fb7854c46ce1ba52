"""A study that is under way: what is given or still expected, and who may rate more; it holds no rating.

What the next ratings of a study buy: precision, power and price, beside what a new worker would bring.
"""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from humeval_power.checking.columns import listing
from humeval_power.designs import Assignment, Codes, Design, from_table
from humeval_power.errors import HumevalPowerError, InputError, Problem, refusal
from humeval_power.inference.student_t import critical_value
from humeval_power.scales import RatingScale
from humeval_power.studies.plan.assignment import AssignmentPlan, numbered
from humeval_power.studies.power.formula import effect_precision
from humeval_power.study_counts import share_of

if TYPE_CHECKING:
    from humeval_power.checking.exports.assigned import AssignmentTable
    from humeval_power.costs import CostModel
    from humeval_power.studies.field.result_status import Progress
    from humeval_power.studies.plan.plan import Plan
    from humeval_power.studies.plan.result_assignment import LookStage


_SLOT = re.compile(r"w(\d+)")
_LOST = ("withdrawn", "refused")


class OutputCounts(NamedTuple):
    """The fewest and the most ratings of an output before and after a batch, how many outputs it raises above the
    plan, and how many still have fewer."""

    before: tuple[int, int]
    after: tuple[int, int]
    n_above: int
    n_lacking: int


@dataclass(frozen=True, eq=False)
class StudyUnderWay:
    """A study under way in codes of its plan: a worker is who filled one slot or more.

    slot_of : (n_workers,) the slot in which each goes on; '' of those who are gone.
    first_slot : (n_workers,) the first that each filled.
    shown : (n_workers,) outputs and checks that each was shown or will be.
    rows : the ratings that are given or still expected; `paid` also those that were left out.
    met : (n_workers, n_items) the items that workers met or will meet.
    counts : ratings planned, done, expected, lost and left out; slots by the reason why they are lost.
    stage : where looks drop systems, the look that is collected for, and the systems that are left.
    look : (n_workers,) where looks drop systems, the look that each worker rates for.
    """

    plan: AssignmentPlan
    table: AssignmentTable
    slot_of: tuple[str, ...]
    first_slot: tuple[str, ...]
    shown: Codes
    rows: Assignment
    met: Mask
    paid: Assignment
    counts: Mapping[str, int]
    stage: LookStage | None = None
    look: Codes | None = None

    @classmethod
    def of(
        cls,
        plan: AssignmentPlan,
        table: AssignmentTable,
        work: Progress,
        *,
        dropouts: Collection[str],
        excluded: Collection[str],
        stage: LookStage | None = None,
    ) -> StudyUnderWay:
        _check_slots(table, dropouts, excluded)
        output = _outputs_of(plan, table)
        planned = plan.kind == 0
        look = None
        if stage is not None:
            _check_stage(table, stage)
            # of each earlier stage its table says which systems were left then
            given = np.zeros((stage.look + 1, len(plan.systems)), dtype=np.bool_)
            shown, of_row = output >= 0, table.frame["look"].to_numpy()
            given[of_row[shown].astype(np.int64), output[shown] % len(plan.systems)] = True
            assert plan.look is not None
            until = planned & (plan.look <= stage.look)
            planned = until & given[np.where(until, plan.look, 0), np.where(until, plan.system, 0)]
        slots = work.slots
        replaced = _replaced(table)
        lost = set(slots.loc[slots["state"].isin(_LOST), "slot"])
        gone = {*dropouts, *excluded, *replaced, *lost}
        named = dict(zip(slots["slot"], slots["worker"], strict=True))
        persons: dict[str, int] = {}
        person = {
            slot: persons.setdefault(named[slot] or f"\0{slot}", len(persons)) for slot in table.slots
        }
        goes_on, first = [""] * len(persons), [""] * len(persons)
        for slot in table.slots:
            first[person[slot]] = first[person[slot]] or slot
            if slot not in gone:
                goes_on[person[slot]] = slot
        if stage is not None:
            first_look = table.frame.groupby("slot")["look"].first()
            look = np.array([int(first_look[slot]) for slot in first], dtype=np.int64)
        frame = work.showings
        worker = np.array([person[slot] for slot in frame["slot"]], dtype=np.int64)
        done = frame["done"].to_numpy(dtype=np.bool_)
        is_gone = frame["slot"].isin(gone).to_numpy()
        left_out = frame["slot"].isin(excluded).to_numpy()
        counts = done & ~left_out | ~done & ~is_gone
        rating = (frame["kind"] == "rating").to_numpy()
        of_row = output[frame.index.to_numpy(dtype=np.int64)]
        item: Codes = of_row // len(plan.systems)
        system: Codes = of_row % len(plan.systems)
        rated, paid = rating & counts, rating & (done | counts)
        met = np.zeros((len(persons), len(plan.items)), dtype=np.bool_)
        met[worker[paid], item[paid]] = True
        return cls(
            plan=plan,
            table=table,
            slot_of=tuple(goes_on),
            first_slot=tuple(first),
            shown=np.bincount(worker[done | counts], minlength=len(persons)),
            rows=Assignment(worker[rated], item[rated], system[rated]),
            met=met,
            paid=Assignment(worker[paid], item[paid], system[paid]),
            counts={
                "planned": int(planned.sum()),
                "done": int((rating & done & ~left_out).sum()),
                "expected": int((rating & ~done & ~is_gone).sum()),
                "lost": int((rating & ~done & is_gone).sum()),
                "left_out": int((rating & done & left_out).sum()),
                "dropouts": len(set(dropouts)),
                "excluded": len(set(excluded)),
                "withdrawn_or_refused": len(lost),
                "taken_over": len(replaced),
                "without_slot": work.n_without_slot,
            },
            stage=stage,
            look=look,
        )

    @property
    def is_whole(self) -> bool:
        """Whether whoever rates an item rates it under all systems."""
        rows, n_systems = self.plan.design.assignment, self.plan.design.n_systems
        meeting = rows.worker * np.int64(self.plan.design.n_items) + rows.item
        outputs = np.unique(meeting * n_systems + rows.system)
        return bool((np.unique(outputs // n_systems, return_counts=True)[1] == n_systems).all())

    def collecting(
        self, n_new: int, *, limit: int | None, rates: Sequence[float], most: int, alone: bool = False
    ) -> Collecting:
        """Who may rate more, with so many new workers, or these alone; a new one gets no more than a slot of the
        plan has. Where looks drop systems, those of earlier stages get no more: whoever rated a system that is
        gone would be compared on it by other items than before."""
        design = self.plan.design
        n_items, n_systems = len(self.plan.items), len(self.plan.systems)
        usual = self.usual_load
        present = np.array([slot != "" for slot in self.slot_of], dtype=np.bool_) & (not alone)
        if self.stage is not None and self.look is not None:
            present &= self.look == self.stage.look
        room = np.where(present, _room(limit, self.shown, rates, most=most), 0)
        fresh = np.minimum(_room(limit, np.zeros(n_new, dtype=np.int64), rates, most=most), usual)
        rows = design.assignment
        shown = np.zeros((n_items, n_systems), dtype=np.bool_)
        shown[rows.item, rows.system] = True
        place = {slot: number for number, slot in enumerate(self.plan.slots)}
        own = [place.get(self.table.work_of(slot)[0], -1) for slot in self.first_slot]
        kinds = np.ones((len(own), n_systems), dtype=np.bool_)
        new_kinds = np.ones((n_new, n_systems), dtype=np.bool_)
        if design.kind in ("workers-nested", "both-nested"):
            # a worker sees one system: new ones take those that have the fewest ratings, and stay with them
            planned = np.zeros((design.n_workers, n_systems), dtype=np.bool_)
            planned[rows.worker, rows.system] = True
            rated = np.zeros_like(kinds)
            rated[self.rows.worker, self.rows.system] = True
            kinds = np.array([planned[one] if one >= 0 else rated[who] for who, one in enumerate(own)])
            order = np.argsort(np.bincount(self.rows.system, minlength=n_systems), kind="stable")
            new_kinds = np.eye(n_systems, dtype=np.bool_)[order[np.arange(n_new) % n_systems]]
        together = (
            design.document_of_item
            if design.together and design.document_of_item is not None
            else np.arange(n_items)
        )
        is_whole = self.is_whole
        meeting = np.unique(rows.worker * np.int64(n_items) + rows.item, return_counts=True)[1]
        return Collecting(
            rows=self.rows,
            room=np.concatenate([room, fresh]),
            shown=shown,
            rates=np.concatenate([kinds, new_kinds]),
            seen=np.concatenate([self.met, np.zeros((n_new, n_items), dtype=np.bool_)]),
            together=together,
            whole=is_whole,
            again=not is_whole and bool((meeting > 1).any()),
            systems=None if self.stage is None else self.systems,
            lacking=None if self.stage is None else self.lacking,
        )

    @property
    def systems(self) -> Codes:
        """The systems that are given out."""
        names = self.plan.systems if self.stage is None else self.stage.systems
        return np.array([self.plan.systems.index(name) for name in names])

    @property
    def usual_load(self) -> int:
        """The ratings of the slot of the plan that has most, of the systems that are given out."""
        return int(self.plan.design.worker_loads.max()) * len(self.systems) // len(self.plan.systems)

    @property
    def planned_rows(self) -> Assignment:
        """The ratings of the plan; where looks drop systems those until the next look, of the systems left."""
        plan = self.plan
        mine = plan.kind == 0
        if self.stage is not None and plan.look is not None:
            mine &= (plan.look <= self.stage.look) & np.isin(plan.system, self.systems)
        return Assignment(plan.worker[mine], plan.item[mine], plan.system[mine])

    @property
    def lacking(self) -> Codes:
        """How many workers each item lacks of the plan until the next look, (n_items,)."""
        n = len(self.plan.items)
        planned = np.bincount(self.planned_rows.item, minlength=n) // len(self.systems)
        lacking: Codes = planned - whole_ratings(self.rows, (len(self.slot_of), n), self.systems)
        return lacking.clip(min=0)

    def new_slots(self, n_new: int) -> tuple[str, ...]:
        """Names after those of all slots so far."""
        used = [int(match[1]) for slot in self.table.slots if (match := _SLOT.fullmatch(slot))]
        first = max([*used, len(self.plan.slots)])
        return numbered("w", first + n_new)[first:]

    def per_output(self, chosen: Assignment) -> OutputCounts:
        """How often outputs are rated, before and after."""
        n_systems, rows = len(self.plan.systems), self.planned_rows
        shown, planned = np.unique(rows.item * n_systems + rows.system, return_counts=True)
        before, after = (
            np.bincount(one.item * n_systems + one.system, minlength=len(self.plan.items) * n_systems)[
                shown
            ]
            for one in (self.rows, joined_rows(self.rows, chosen))
        )
        return OutputCounts(
            before=(int(before.min()), int(before.max())),
            after=(int(after.min()), int(after.max())),
            n_above=int((after > np.maximum(planned, before)).sum()),
            n_lacking=int((after < planned).sum()),
        )


def _check_slots(table: AssignmentTable, dropouts: Collection[str], excluded: Collection[str]) -> None:
    remedy = f"Its slots are {listing(table.slots, limit=8)}."
    problems = [
        Problem(f"--{option}: {slot!r} is no slot of the assignment, {table.source}.", remedy)
        for option, slots in (("dropouts", dropouts), ("excluded", excluded))
        for slot in dict.fromkeys(slots)
        if slot not in table.slots
    ]
    problems += [
        Problem(
            f"Slot {slot} is among the dropouts, whose work counts, and among the excluded, whose work does not.",
            "Name it once.",
        )
        for slot in dict.fromkeys(dropouts)
        if slot in excluded
    ]
    if problems:
        raise InputError(problems)


def _check_stage(table: AssignmentTable, stage: LookStage) -> None:
    """Refuse an assignment without the table of the stage that is under way, or with one that the ledger does not
    know of."""
    looks = sorted({int(look) for look in table.frame["look"] if look})
    if looks != list(range(1, stage.look + 1)):
        there = f"those of look {listing([str(look) for look in looks])}" if looks else "no look"
        rule = f"the ratings until look {stage.look} are under way, by the ledger; its tables are {there}."
        remedy = "Give the table of each stage so far (assignment; --assignment FILE, once for each)."
        raise refusal(rule, remedy, table.source)


def _replaced(table: AssignmentTable) -> set[str]:
    """The slots that a spare took over, and the spares before the last of each."""
    spares = table.frame.loc[table.frame["replaces"] != "", ["slot", "replaces"]].drop_duplicates()
    earlier = spares["slot"][spares.duplicated("replaces", keep="last")]
    return {*spares["replaces"], *earlier}


def _outputs_of(plan: AssignmentPlan, table: AssignmentTable) -> Codes:
    """The output of each row of the assignment, n_systems * item + system; -1 of checks. Raises InputError:
    codes that are not those of the study."""
    if table.is_blind and plan.bits is None:
        rule = "names outputs by codes alone, which only the key of the study can tell."
        remedy = "Give the key that was written with it (key; --key FILE)."
        raise refusal(rule, remedy, table.source)
    code_of = {code: output for output, code in enumerate(plan.codes)}
    frame = table.frame
    is_check = (frame["kind"] == "check").to_numpy()
    result = np.array([code_of.get(code, -1) for code in frame["code"]], dtype=np.int64)
    unknown = (result < 0) & ~is_check
    if unknown.any():
        first = frame[unknown].iloc[0]
        rule = (
            f"{int(unknown.sum()):,} of its {int((~is_check).sum()):,} rows have a code that this study does not "
            f"have, such as that of slot {first['slot']}, order {first['order']}."
        )
        remedy = "Ask as it was made: with the same plan or size, names of items, key and seed."
        raise InputError(
            [Problem(rule, remedy, table.source, column="code", value=first["code"], has_value=True)]
        )
    result[is_check] = -1
    n_systems = len(plan.systems)
    for name, names in (("item", plan.items), ("system", plan.systems)):
        of = np.array([*names, ""], dtype=object)[
            np.where(result < 0, len(names), result // n_systems if name == "item" else result % n_systems)
        ]
        other = (frame[name] != "").to_numpy() & (frame[name].to_numpy() != of) & (result >= 0)
        if other.any():
            first = frame[other].iloc[0]
            rule = f"is another {name} than code {first['code']} stands for in this study."
            remedy = "Give the table as it was written."
            raise InputError(
                [Problem(rule, remedy, table.source, column=name, value=first[name], has_value=True)]
            )
    return result


def _room(limit: int | None, shown: Codes, rates: Sequence[float], *, most: int) -> Codes:
    """How many ratings more fit below the limit, with the checks and repeats that come along; at most `most`."""
    if limit is None:
        return np.full(len(shown), most)
    sizes = np.arange(min(most, limit) + 1)
    fits = sizes + sum(share_of(rate, sizes) for rate in rates)
    return np.asarray(np.searchsorted(fits, limit - shown, side="right") - 1).clip(min=0)


def joined_rows(rows: Assignment, more: Assignment) -> Assignment:
    return Assignment(
        *(
            np.concatenate([getattr(rows, name), getattr(more, name)])
            for name in ("worker", "item", "system")
        )
    )


Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


# Which cells of a study to rate next, by counts alone: fewest first, and what a cell is worth in closed form.


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


_CENT = Decimal("0.01")
_CONFIDENCE_TAIL = 0.025
_MOST_WORK = 1e8  # steps of choosing by gain, which is shown for comparison alone


@dataclass(frozen=True, slots=True)
class NextWay:
    """A state that a study can be brought to, and what it is worth; NaN where that is not known.

    name : 'stands' (what is given or still expected), 'next' (with the next ratings), 'new' (with as many by new
        workers alone), or 'planned'.
    standard_error, df : of the difference, on [0, 1]; of several systems of the widest comparison. Where looks drop
        systems, at the next look, among those that are left; there is no power of a single look.
    cost : of what it adds; None without prices, and of what adds nothing.
    """

    name: str
    n_ratings: int
    n_workers: int
    n_new: int
    standard_error: float
    df: float
    power: float
    cost: Decimal | None

    def half_width(self, scale: RatingScale | None) -> float:
        """Of the 95 % interval, in points of the scale, or on [0, 1] without one; NaN where there is none."""
        if not self.df > 0:
            return math.nan
        width = 1.0 if scale is None else scale.width
        return width * critical_value(self.df, _CONFIDENCE_TAIL) * self.standard_error


def ways_to_go_on(
    planned: Plan,
    state: StudyUnderWay,
    chosen: Assignment,
    *,
    limit: int | None,
    rates: Sequence[float],
    rng: np.random.Generator,
) -> tuple[NextWay, ...]:
    """What stands, what the chosen ratings make of it, what as many by others would, and what was planned.

    rates : of checks and repeats.
    """
    base, n = state.plan.design, len(chosen.item)
    n_alone = -(-n // state.usual_load)
    n_beside = n_beyond(chosen, state)
    others = {
        "left": state.collecting(0, limit=limit, rates=rates, most=n) if n_beside else None,
        "new": state.collecting(n_alone, limit=limit, rates=rates, most=n, alone=True)
        if n_beside < len(np.unique(chosen.worker))
        else None,
    }
    added: dict[str, Assignment | None] = {"stands": None, "next": chosen}
    for name, values in others.items():
        rows = None if values is None else fewest_first(values, n, rng)
        if rows is not None and len(rows.item) == n:
            added[name] = rows
    ways = []
    for name, more in added.items():
        rows = state.rows if more is None else joined_rows(state.rows, more)
        n_fresh = 0 if more is None else n_beyond(more, state)
        cost = None
        if more is not None and planned.costs is not None:
            cost = cost_of_batch(planned.costs, more, base, rates=rates, n_new=n_fresh)
        sizes, precision = _worth(planned, state, rows)
        ways.append(NextWay(name, *sizes, n_fresh, *precision, cost))
    sizes, precision = _worth(planned, state, None)
    return (*ways, NextWay("planned", *sizes, 0, *precision, None))


def n_beyond(more: Assignment, state: StudyUnderWay) -> int:
    """How many new workers give these ratings."""
    return len(np.unique(more.worker[more.worker >= len(state.slot_of)]))


def _worth(
    planned: Plan, state: StudyUnderWay, rows: Assignment | None
) -> tuple[tuple[int, int], tuple[float, float, float]]:
    """Ratings and workers, and standard error, df and power with them; None: of what was planned."""
    if state.stage is None:
        design = planned.design() if rows is None else _design_of(rows, state.plan.design)
        return _sizes(design), _precision(planned, design)
    rows = state.planned_rows if rows is None else rows
    left = np.isin(rows.system, state.systems)
    sizes = int(left.sum()), len(np.unique(rows.worker[left]))
    widest = math.nan, math.nan
    assert planned.many is not None
    for a, b in combinations(state.systems.tolist(), 2):
        of_both = np.intersect1d(rows.worker[rows.system == a], rows.worker[rows.system == b])
        mine = np.isin(rows.worker, of_both) & np.isin(rows.system, (a, b))
        pair = Assignment(rows.worker[mine], rows.item[mine], (rows.system[mine] == b).astype(np.int64))
        design = _design_of(pair, replace(state.plan.design, n_systems=2))
        if design is None:
            continue
        found = effect_precision(planned.many.parameters.pair(a, b), design)
        if not widest[0] >= found.standard_error:
            widest = found.standard_error, found.df
    return sizes, (*widest, math.nan)


def _sizes(design: Design | None) -> tuple[int, int]:
    return (0, 0) if design is None else (design.n_ratings, design.n_workers)


def _design_of(rows: Assignment, base: Design) -> Design | None:
    """The design of these ratings; None where they are too few to be one."""
    if not len(rows.item):
        return None
    worker, item = (np.unique(codes, return_inverse=True)[1] for codes in (rows.worker, rows.item))
    document = None
    if base.document_of_item is not None:
        document = np.unique(base.document_of_item[rows.item], return_inverse=True)[1]
    try:
        return from_table(worker, item, rows.system, document=document, n_systems=base.n_systems)
    except HumevalPowerError:
        return None


def _precision(planned: Plan, design: Design | None) -> tuple[float, float, float]:
    """Standard error, df and power of one test at the end; of several systems those of the widest comparison, and
    of the goal. NaN where so little is collected that there is no test."""
    from humeval_power.studies.plan.planned_systems import goals_by_formula
    from humeval_power.studies.power.formula import analytic_power
    from humeval_power.studies.power.systems_precision import systems_precision

    if design is None:
        return math.nan, math.nan, math.nan
    try:
        if planned.many is None:
            result = analytic_power(planned.study().parameters, design, rule=planned.rule)
            return result.precision.standard_error, result.precision.df, result.power
        power = goals_by_formula(planned.many, design, planned.rule).power
        widest = systems_precision(planned.many.parameters, design, planned.many.family)
        place = int(widest.standard_error.argmax())
        return float(widest.standard_error[place]), float(widest.df[place]), float(power)
    except (HumevalPowerError, np.linalg.LinAlgError):
        return math.nan, math.nan, math.nan


def cost_of_batch(
    costs: CostModel, more: Assignment, base: Design, *, rates: Sequence[float], n_new: int
) -> Decimal:
    """What these ratings cost, with their checks and repeats, and recruiting so many of their workers; items and
    outputs are paid already. Where a platform charges by the assignment, HITs are priced as those of the plan."""
    from humeval_power.costs import cost_of, fee_on, rewards_of

    recruiting = costs.cost_per_worker * n_new
    recruiting += fee_on(recruiting, costs.fee).fee
    workers, worker = np.unique(more.worker, return_inverse=True)
    if costs.fee.charged_per == "study":
        loads = np.bincount(worker)
        shown = loads + sum(share_of(rate, loads) for rate in rates)
        rewards = rewards_of(shown.tolist(), costs, alike=False)
        return ((rewards.paid + rewards.fee) / (1 - costs.rejected_share) + recruiting).quantize(_CENT)
    rows = Assignment(worker.astype(np.int64), more.item, more.system)
    design = replace(
        base,
        kind="table",
        n_workers=len(workers),
        n_documents=0,
        document_of_item=None,
        explicit=rows,
        ratings_per_item=1.0,
    )
    zero = Decimal(0)
    work = replace(
        costs, cost_per_worker=zero, cost_per_document=zero, cost_per_item=zero, cost_per_output=zero
    )
    return (cost_of(design, work).total + recruiting).quantize(_CENT)


def check_budget(
    planned: Plan, state: StudyUnderWay, chosen: Assignment, budget: Decimal, *, rates: Sequence[float]
) -> None:
    """Refuse ratings that a budget does not pay beside what is given or expected. Raises InputError: a plan
    without prices, or ratings that cost more than is left."""
    from humeval_power.costs import money

    if planned.costs is None:
        raise InputError([Problem("--budget needs prices, and the plan has none.", "Leave it out.")])
    base, paid = state.plan.design, state.paid
    spent = Decimal(0)
    if len(paid.item):
        spent = cost_of_batch(planned.costs, paid, base, rates=rates, n_new=len(np.unique(paid.worker)))
    new = cost_of_batch(planned.costs, chosen, base, rates=rates, n_new=n_beyond(chosen, state))
    if spent + new > budget:
        currency = planned.costs.currency
        left = max(budget - spent, Decimal(0))
        rule = (
            f"These ratings cost {money(new, currency)}, and {money(left, currency)} are left of the budget of "
            f"{money(budget, currency)}: what is given or expected costs {money(spent, currency)}, without "
            "items and outputs."
        )
        raise InputError([Problem(rule, "Ask for fewer, or raise the budget.")])


def errors_by_gain(planned: Plan, collecting: Collecting, chosen: Assignment) -> tuple[float, float] | None:
    """Standard errors of the difference that is planned for with the chosen cells, and with as many of the largest
    gain; None where cells are not pairs alone, or too many."""
    n_systems = collecting.shown.shape[1]
    coded = planned.parameters.recoded()
    n_cells = len(chosen.item) // n_systems
    size = 1 + sum(collecting.seen.shape)
    if collecting.systems is not None:
        return None
    if not collecting.whole or planned.counts.n_documents or n_cells * float(size) ** 2 > _MOST_WORK:
        return None
    rows = collecting.rows
    outputs = np.unique((rows.worker * collecting.seen.shape[1] + rows.item) * n_systems + rows.system)
    meetings, times = np.unique(outputs // n_systems, return_counts=True)
    worker, item = np.divmod(meetings[times == n_systems], collecting.seen.shape[1])
    if not len(worker):
        return None
    gains = PairGains(
        worker,
        item,
        (len(collecting.room), collecting.seen.shape[1]),
        sd_worker=coded.sd_worker_slope,
        sd_item=coded.sd_item_slope,
        sd_residual=coded.sd_residual,
    )
    first = chosen.system == 0
    plain = gains.variance - gains.of_batch(chosen.worker[first], chosen.item[first])
    add_by_gain(gains, ~collecting.seen, collecting.room // n_systems, n_cells)
    return math.sqrt(plain), math.sqrt(gains.variance)

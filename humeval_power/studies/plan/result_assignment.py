"""Who rates what when: the table to carry out, and how much work it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from humeval_power.safe_text import table_csv
from humeval_power.saying.document import Document, Drawing, Fact, Facts, Points, Section, Table
from humeval_power.saying.numbers import counted
from humeval_power.saying.result import UNKNOWN, Provenance, Record, Result, Source
from humeval_power.studies.fit.who_rated_what import CellMap, grid_of, who_rates_what
from humeval_power.studies.plan.assignment import (
    AssignmentPlan,
    Balance,
    BalanceOf,
    Unevenness,
    balance,
    replacement_table,
)
from humeval_power.studies.plan.result_words import work_words
from humeval_power.studies.plan.session_order import KINDS

if TYPE_CHECKING:
    import pandas as pd

Takeover = tuple[str, str, int]  # spare, the slot it takes over, the first batch it does


@dataclass(frozen=True, slots=True)
class LookStage:
    """The ratings until a look, of the systems that are left."""

    look: int
    systems: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class AssignmentResult(Result):
    """Who sees what when.

    takeovers : show the work of these spares alone.
    stage : where looks drop systems, the look whose ratings alone are shown, and the systems that are left.
    caveats : of the plan that this carries out.
    """

    schema: ClassVar[str] = "humeval_power/assignment/1"
    endings: ClassVar[tuple[str, ...]] = (".csv",)

    assignment: AssignmentPlan
    takeovers: tuple[Takeover, ...] = ()
    stage: LookStage | None = None
    caveats: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    def __post_init__(self) -> None:
        """Refuse a takeover of what is not there.

        Raises
        ------
        DesignError
            A spare, slot or batch that the assignment does not have.
        """
        _ = self._table

    @property
    def blind(self) -> bool:
        """Whether the table names outputs by their codes alone; then nothing here tells the seed of the order."""
        return self.assignment.bits is not None

    def body(self) -> Document:
        """How much there is to do, who does how much, and in which order."""
        plan = self.assignment
        return Document(
            "Who rates what when",
            lead=work_words(plan.design, counted(plan.design.n_systems, "system"))
            + ("." if self.stage is None else f"{_IF_NONE_IS_DROPPED}."),
            headline=(
                *self._of_stage(),
                *_totals(plan, staged=self.stage is not None),
                *_taken(self.takeovers),
            ),
            caveats=(*self.caveats, *plan.design.notes),
            sections=(
                Section("Who rates what", (_picture(plan, blind=self.blind),)),
                Section("Work of a slot", (_loads(plan),)),
                *([Section("Balance", (_balance_table(self._balance),))] if self._balance else []),
                *([Section("Looks", (Facts(tuple(_looks(plan))),))] if plan.look is not None else []),
                *([Section("In reserve", (Points((_reserve(plan),)),))] if plan.replacements else []),
            ),
        )

    def content(self) -> Record:
        """The rows of the table; without the systems and their names where it is blind. Of more than two systems
        also how even their counts are."""
        plan = self.assignment
        rows = [
            {name: None if value == "" else value for name, value in row.items()}
            for row in self._table.to_dict("records")
        ]
        many = bool(self._balance)
        return {
            "design": str(plan.design),
            "systems": [] if self.blind else list(plan.systems),
            "worker_slots": list(plan.slots),
            "replacement_slots": list(plan.replacements),
            **({"balance": [_balance_record(one) for one in self._balance]} if many else {}),
            "rows": rows,
        }

    def to_frame(self) -> pd.DataFrame:
        """A row for each thing that a worker is shown."""
        return self._table.copy()

    def artefact(self, ending: str) -> str:
        """The table."""
        assert ending in self.endings
        return table_csv(self._table)

    def key(self) -> pd.DataFrame:
        """What the codes stand for: for the coordinator alone."""
        return self.assignment.key()

    def key_csv(self) -> str:
        """The file of the key."""
        return table_csv(self.key())

    def with_command(self, command: str, sources: tuple[Source, ...]) -> Self:
        """The same with how it came about; a blind one keeps that to itself: the command may hold the seed."""
        return self if self.blind else super().with_command(command, sources)

    def _of_stage(self) -> Iterator[Fact]:
        """What is to be rated until the next look."""
        if self.stage is None:
            return
        rows, left = self.rows, self.stage.systems
        shown = counted(int((rows["kind"] == "rating").sum()), "rating")
        who = counted(int(rows["worker_slot"].nunique()), "slot")
        of = f"all {len(left)} systems" if len(left) == len(self.assignment.systems) else ", ".join(left)
        yield "In the table", f"to look {self.stage.look} alone: {shown} of {of} in {who}"
        yield "After the look", "the same command gives the next stage, without systems that were dropped"

    @cached_property
    def _balance(self) -> tuple[Balance, ...]:
        """Of more than two systems; nothing of two."""
        return balance(self.assignment) if len(self.assignment.systems) > 2 else ()

    @property
    def _table(self) -> pd.DataFrame:
        return self.rows.drop(columns="system") if self.blind else self.rows

    @cached_property
    def rows(self) -> pd.DataFrame:
        """The table with the names of the systems: for the coordinator alone."""
        import pandas as pd

        plan = self.assignment
        table = plan.to_frame()
        if self.takeovers:
            table = pd.concat(
                [
                    replacement_table(plan, spare, slot, first_batch=batch)
                    for spare, slot, batch in self.takeovers
                ],
                ignore_index=True,
            )
        if self.stage is not None:
            of_stage = table["look"].eq(self.stage.look)
            left = table["system"].isin(self.stage.systems) | table["system"].eq("")  # checks have none
            table = table[of_stage & left].reset_index(drop=True)
            table["order"] = table.groupby("worker_slot").cumcount() + 1
        return table


_IF_NONE_IS_DROPPED = ", if no system is dropped"


def _totals(plan: AssignmentPlan, *, staged: bool) -> Iterator[Fact]:
    rows = f"{len(plan.worker):,}"
    yield ("Rows of all stages", f"{rows}{_IF_NONE_IS_DROPPED}") if staged else ("Rows", rows)
    yield "Workers", f"{len(plan.slots):,}"
    for kind, name in enumerate(KINDS):
        yield f"{name[0].upper()}{name[1:]}s", f"{int(plan.loads(kind).sum()):,}"


def _picture(plan: AssignmentPlan, *, blind: bool) -> Drawing:
    """The slots and the items as a grid; of a blind table it does not show the systems."""

    def grid() -> CellMap:
        rated = plan.kind == 0
        worker, item = plan.worker[rated], plan.item[rated]
        system, names = (0 * item, ("rated",)) if blind else (plan.system[rated], plan.systems)
        return grid_of(worker, item, system, (len(plan.slots), len(plan.items)), names)

    words = (
        "A row for each worker slot, a column for each item; those who rate the same items stand together."
    )
    return who_rates_what(grid, plan.slots, "who_rates_what", ("Who rates what", words))


def _taken(takeovers: tuple[Takeover, ...]) -> Iterator[Fact]:
    if takeovers:
        said = (f"{spare} for {slot} from batch {batch} on" for spare, slot, batch in takeovers)
        yield "In the table", f"{'; '.join(said)}; nothing else"


def _loads(plan: AssignmentPlan) -> Table:
    """How many worker slots get how much, from the least work to the most."""
    loads = np.column_stack([*(plan.loads(kind) for kind in range(len(KINDS))), plan.n_batches])
    different, slots = np.unique(loads, axis=0, return_counts=True)
    rows = tuple(
        (f"{count:,}", *(f"{int(number):,}" for number in row))
        for row, count in zip(different, slots, strict=True)
    )
    return Table(("slots", *(f"{name}s" for name in KINDS), "batches"), rows)


_COUNTED: Mapping[BalanceOf, str] = {
    "system": "ratings of each system",
    "place": "each system at each place of an item",
    "next": "each system at the place after each other",
    "neighbour": "each system shown right after each other",
}


def _balance_table(balances: tuple[Balance, ...]) -> Table:
    """How far apart counts are that should be alike, and in brackets the least where they are further apart."""
    rows = tuple(
        (_COUNTED[one.counted], *("-" if part is None else _uneven(part) for part in one.all_parts))
        for one in balances
    )
    caption = "The most minus the fewest of these counts, at worst."
    if any(part.worst > part.least for one in balances for _, part in one.parts):
        caption += " In brackets the least that the numbers allow."
    return Table(("counts of", "a worker", "an item", "in all"), rows, caption)


def _uneven(part: Unevenness) -> str:
    return f"{part.worst:,}" if part.worst <= part.least else f"{part.worst:,} ({part.least})"


def _balance_record(one: Balance) -> Record:
    parts = {name: {"worst": part.worst, "least": part.least} for name, part in one.parts}
    return {"counted": one.counted, **parts}


def _looks(plan: AssignmentPlan) -> Iterator[Fact]:
    assert plan.look is not None
    for look, count in enumerate(np.bincount(plan.look)[1:], start=1):
        yield f"Look {look}", counted(int(count), "row")
    yield "Order", "collect all of one look before the next"


def _reserve(plan: AssignmentPlan) -> str:
    return (
        f"{', '.join(plan.replacements)}: when a slot such as {plan.slots[0]} drops out, a spare takes over "
        "what it was to see."
    )

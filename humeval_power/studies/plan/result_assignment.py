"""Who rates what when: the table to carry out, and how much work it is."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from humeval_power.costs import money
from humeval_power.designs import Assignment
from humeval_power.safe_text import table_csv
from humeval_power.saying.document import Document, Fact, Facts, Paragraph, Points, Section, Table
from humeval_power.saying.numbers import counted, percent
from humeval_power.saying.quantities import values
from humeval_power.saying.result import Record, Result, Source
from humeval_power.saying.stated import table
from humeval_power.scales import RatingScale
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
from humeval_power.studies.plan.under_way import NextWay, OutputCounts

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

    def __post_init__(self) -> None:
        """Refuse a takeover of what is not there. Raises DesignError: a spare, slot or batch that the
        assignment does not have."""
        _ = self._table

    @property
    def blind(self) -> bool:
        """Whether the table names outputs by their codes alone; then nothing here tells the seed of the order."""
        return self.assignment.bits is not None

    def body(self) -> Document:
        plan = self.assignment
        work = work_words(plan.design, counted(plan.design.n_systems, "system"))
        return Document(
            "Who rates what when",
            lead=f"{work}{'' if self.stage is None else _IF_NONE_IS_DROPPED}.",
            headline=tuple(self._totals()),
            caveats=(*self.caveats, *plan.design.notes),
            sections=tuple(self._sections()),
        )

    def _totals(self) -> Iterator[Fact]:
        plan, n_rows = self.assignment, f"{len(self.assignment.worker):,}"
        if self.stage is None:
            yield "Rows", n_rows
        else:
            rows, left = self.rows, self.stage.systems
            shown = counted(int((rows["kind"] == "rating").sum()), "rating")
            who = counted(int(rows["worker_slot"].nunique()), "slot")
            of = f"all {len(left)} systems" if len(left) == len(plan.systems) else ", ".join(left)
            yield "In the table", f"to look {self.stage.look} alone: {shown} of {of} in {who}"
            yield (
                "After the look",
                "the same command gives the next stage, without systems that were dropped",
            )
            yield "Rows of all stages", f"{n_rows}{_IF_NONE_IS_DROPPED}"
        yield "Workers", f"{len(plan.slots):,}"
        for kind, name in enumerate(KINDS):
            yield f"{name.capitalize()}s", f"{int(plan.loads(kind).sum()):,}"
        if self.takeovers:
            said = (f"{spare} for {slot} from batch {batch} on" for spare, slot, batch in self.takeovers)
            yield "In the table", f"{'; '.join(said)}; nothing else"

    def _sections(self) -> Iterator[Section]:
        plan, blind = self.assignment, self.blind

        def grid() -> CellMap:
            """The slots and the items; of a blind table it does not show the systems."""
            rated = plan.kind == 0
            worker, item = plan.worker[rated], plan.item[rated]
            system, names = (0 * item, ("rated",)) if blind else (plan.system[rated], plan.systems)
            return grid_of(worker, item, system, (len(plan.slots), len(plan.items)), names)

        words = "A row for each worker slot, a column for each item; those who rate the same items stand together."
        picture = who_rates_what(grid, plan.slots, "who_rates_what", ("Who rates what", words))
        yield Section("Who rates what", (picture,))
        loads = np.column_stack([*(plan.loads(kind) for kind in range(len(KINDS))), plan.n_batches])
        different, workers = np.unique(loads, axis=0, return_counts=True)  # from the least work to the most
        numbers = np.column_stack([workers, different]).tolist()
        rows = tuple(tuple(f"{number:,}" for number in row) for row in numbers)
        header = ("workers", *(f"{name}s" for name in KINDS), "batches")
        yield Section("Work of each worker", (Table(header, rows),))
        if self._balance:
            yield Section("Balance", (_balance_table(self._balance),))
        if plan.look is not None:
            counts = enumerate(np.bincount(plan.look)[1:], start=1)
            facts = [(f"Look {number}", counted(int(count), "row")) for number, count in counts]
            order = ("Order", "collect all of one look before the next")
            yield Section("Looks", (Facts((*facts, order)),))
        if plan.replacements:
            said = (
                f"{', '.join(plan.replacements)}: when a slot such as {plan.slots[0]} drops out, a spare takes "
                "over what it was to see."
            )
            yield Section("In reserve", (Points((said,)),))

    def content(self) -> Record:
        """The rows of the table; without the systems and their names where it is blind. Of more than two systems
        also how even their counts are."""
        plan = self.assignment
        rows = [
            {name: None if value == "" else value for name, value in row.items()}
            for row in self._table.to_dict("records")
        ]
        balance = [
            {"counted": one.counted, **{name: values(part, "worst", "least") for name, part in one.parts}}
            for one in self._balance
        ]
        return {
            "design": str(plan.design),
            "systems": [] if self.blind else list(plan.systems),
            "worker_slots": list(plan.slots),
            "replacement_slots": list(plan.replacements),
            **({"balance": balance} if balance else {}),
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
            tables = (replacement_table(plan, *of, first_batch=batch) for *of, batch in self.takeovers)
            table = pd.concat(tables, ignore_index=True)
        if self.stage is not None:
            of_stage = table["look"].eq(self.stage.look)
            left = table["system"].isin(self.stage.systems) | table["system"].eq("")  # checks have none
            table = table[of_stage & left].reset_index(drop=True)
            table["order"] = table.groupby("worker_slot").cumcount() + 1
        return table


_IF_NONE_IS_DROPPED = ", if no system is dropped"


_COUNTED: Mapping[BalanceOf, str] = {
    "system": "ratings of each system",
    "place": "each system at each place of an item",
    "next": "each system at the place after each other",
    "neighbour": "each system shown right after each other",
}


def _balance_table(balances: tuple[Balance, ...]) -> Table:
    """How far apart counts are that should be alike, and in brackets the least where they are further apart."""

    def uneven(part: Unevenness | None) -> str:
        if part is None:
            return "-"
        return f"{part.worst:,}" if part.worst <= part.least else f"{part.worst:,} ({part.least})"

    caption = "The most minus the fewest of these counts, at worst."
    if any(part.worst > part.least for one in balances for _, part in one.parts):
        caption += " In brackets the least that the numbers allow."
    rows = tuple((_COUNTED[one.counted], *map(uneven, one.all_parts)) for one in balances)
    return Table(("counts of", "a worker", "an item", "in all"), rows, caption)


# The next ratings of a study that is under way: who gives them, and what they buy.


@dataclass(frozen=True, kw_only=True)
class NextRatings(AssignmentResult):
    """What comes next in a study that is under way, by counts alone.

    n_asked : how many ratings were asked for.
    new_slots : those of the batch that new workers fill.
    before : the ratings that are given or still expected.
    counts : ratings planned, done, expected, lost and left out, and of how many slots for which reason.
    per_output : how often outputs are rated before and after.
    ways : what the ratings buy; none without a plan.
    look : the look that they are for, of a study with looks: the last, or the next where looks drop systems.
    by_gain : standard errors with these cells and with as many of the largest gain; None where it was not computed.
    recorded : the ledger that was told.
    n_misfits : answers that the assignment does not have. n_unknown : of who withdrew, ids that gave nothing.
    """

    schema: ClassVar[str] = "humeval_power/next/1"
    rule: ClassVar[str] = "fewest first"

    n_asked: int
    new_slots: tuple[str, ...]
    before: Assignment
    counts: Mapping[str, int]
    per_output: OutputCounts
    ways: tuple[NextWay, ...] = ()
    by_gain: tuple[float, float] | None = None
    scale: RatingScale | None = None
    currency: str | None = None
    look: int | None = None
    recorded: str | None = None
    n_misfits: int = 0
    n_unknown: int = 0

    @property
    def n_ratings(self) -> int:
        """How many ratings come next."""
        return int(self.assignment.loads(0).sum())

    def way(self, name: str) -> NextWay | None:
        """The state of that name; None where it was not computed."""
        return next((one for one in self.ways if one.name == name), None)

    def body(self) -> Document:
        loads = zip(self.assignment.slots, self.assignment.loads(0).tolist(), strict=True)
        by_slot = [(slot, n, slot in self.new_slots) for slot, n in loads]
        old = [(slot, n) for slot, n, is_new in by_slot if not is_new]
        new = [n for _, n, is_new in by_slot if is_new]
        who = [f"{n} for {slot}" for slot, n in old]
        if len(old) > 6:
            few, many = min(n for _, n in old), max(n for _, n in old)
            who = [f"{few if few == many else f'{few} to {many}'} for each of {len(old):,} workers"]
        if new:
            who.append(f"{sum(new)} by {'a new worker' if len(new) == 1 else f'{len(new):,} new workers'}")
        bought = [Section("What they buy", tuple(self._bought()))] if self.ways else []
        return Document(
            f"The next {counted(self.n_ratings, 'rating')}: {', '.join(who)}",
            lead=self._lead(),
            headline=tuple(self._headline()),
            caveats=tuple(self._caveats()),
            sections=(
                *bought,
                Section("Where they go", (self._slots(),)),
                Section("How they were chosen", (Points(tuple(self._how())),)),
            ),
        )

    def _lead(self) -> str:
        stands, after, planned = (self.way(name) for name in ("stands", "next", "planned"))
        if after is None or stands is None or planned is None:
            return "Without a plan nothing says what they buy. No rating was read to choose them."
        if math.isnan(planned.power):  # of one look, where looks drop systems
            widths = [_number(one.half_width(self.scale)) for one in (stands, after, planned)]
            unit = "" if self.scale is None else " points"
            return (
                f"They take the half-width at look {self.look}, of the widest comparison, from {widths[0]} to "
                f"{widths[1]}{unit}{self._price(after)}; the plan had {widths[2]}. No rating was read to choose "
                "them."
            )
        said = f"They take the power from {percent(stands.power)} to {percent(after.power)}"
        if math.isnan(stands.power):
            said = f"With them the power is {percent(after.power)}"
        said += f"{self._price(after)}; the plan had {percent(planned.power)}."
        for other in filter(None, (self.way("left"), self.way("new"))):
            said += f" As many by {_who(other)} would give {percent(other.power)}{self._price(other)}."
        return f"{said} No rating was read to choose them."

    def _price(self, way: NextWay) -> str:
        if way.cost is None or self.currency is None:
            return ""
        return f", for {money(way.cost, self.currency)}"

    def _headline(self) -> Iterator[Fact]:
        counts = self.counts
        given = f"{counts['done']:,} of {counts['planned']:,} planned ratings given"
        yield "So far", f"{given}, {counts['expected']:,} still expected"
        lost_by = {
            "dropouts": "dropped out",
            "excluded": "excluded by the rules",
            "withdrawn_or_refused": "withdrew or refused",
            "taken_over": "replaced",
        }
        lost, why = (
            [f"{counts[name]:,} {said}" for name, said in words.items() if counts[name]]
            for words in ({"lost": "not given", "left_out": "left out"}, lost_by)
        )
        if why:
            yield "Lost", f"{', '.join(lost) or 'no rating'}; slots: {', '.join(why)}"
        yield "Each output", f"{_range(*self.per_output.before)}, then {_range(*self.per_output.after)}"

    def _bought(self) -> Iterator[Table | Paragraph]:
        unit = "" if self.scale is None else ", points"
        names = {"stands": "as it stands", "next": "with these", "planned": "as planned"}
        columns: dict[str, Callable[[NextWay], str]] = {
            "": lambda one: names.get(one.name, f"by {_who(one)}"),
            "ratings": lambda one: f"{one.n_ratings:,}",
            "workers": lambda one: f"{one.n_workers:,}",
            f"half-width{unit}": lambda one: _number(one.half_width(self.scale)),
        }
        when = (
            f"Of the systems that are left, at look {self.look}: the 95 % interval of one comparison, without "
            "regard to looks, at the variances of the plan, by formula."
        )
        if not all(math.isnan(one.power) for one in self.ways):
            when = "At the variances and the effect of the plan, by formula, tested once at the end."
            columns["power"] = lambda one: percent(one.power)
        if any(one.cost is not None for one in self.ways):
            columns["cost"] = lambda one: "-" if one.cost is None else money(one.cost, str(self.currency))
        caption = f"{when} As it stands: what is given or still expected."
        if len(self.assignment.systems) > 2:
            caption += " The half-width is that of the widest comparison."
        yield table(self.ways, columns, caption)
        if self.by_gain is not None:
            chosen, best = self.by_gain
            saved = 1 - best / chosen
            text = "no smaller" if saved < 5e-4 else f"{percent(saved)} smaller"
            yield Paragraph(f"Cells of the largest gain would give a standard error that is {text}.")

    def _caveats(self) -> Iterator[str]:
        if self.n_misfits:
            fit = "fits" if self.n_misfits == 1 else "fit"
            yield (
                f"{counted(self.n_misfits, 'answer')} {fit} nothing in the assignment and count as not given: some "
                "may be asked for twice. 'import' names them, row by row."
            )
        if self.n_unknown:
            yield (
                f"Of those who withdrew, {self.n_unknown:,} gave nothing in these exports: look at the ids before "
                "anybody is asked."
            )
        if self.look is not None and self.recorded is None:
            yield (
                "The ledger of looks has no line of these ratings: it gets one where the batch is written, to a "
                "folder or a table of .csv."
            )

    def _slots(self) -> Table:
        plan = self.assignment
        rows = []
        for number, (slot, ratings) in enumerate(zip(plan.slots, plan.loads(0).tolist(), strict=True)):
            mine = plan.batch[plan.worker == number]
            goes = "new" if slot in self.new_slots else "goes on"
            first, last = int(mine.min()), int(mine.max())
            batches = f"{first}" if first == last else f"{first} to {last}"
            rows.append((slot, goes, f"{int(ratings):,}", f"{len(mine):,}", batches))
        return Table(("slot", "worker", "ratings", "rows", "batches"), tuple(rows))

    def _how(self) -> Iterator[str]:
        yield (
            "What has the fewest ratings comes next, and goes to the worker with the least work who has not met "
            "the item; ties are drawn by the seed. Counts and who is there decide, never a rating: the analysis "
            "is that of a design that was fixed."
        )
        if self.n_ratings < self.n_asked:
            yield (
                f"{self.n_asked:,} were asked for; what a worker rates together stays together, so that "
                f"{self.n_ratings:,} come next."
            )
        if self.per_output.n_lacking:
            yield f"{counted(self.per_output.n_lacking, 'output')} will still have fewer ratings than planned."
        if self.per_output.n_above:
            yield f"{counted(self.per_output.n_above, 'output')} will have more ratings than planned."
        if self.counts["without_slot"]:
            yield (
                f"{counted(self.counts['without_slot'], 'answer')} could not be laid to a slot, and count as not "
                "given: some may be asked for twice."
            )
        if self.look is not None:
            yield f"They belong to look {self.look}: earlier ones see what they were planned to see, or less."
        if self.recorded is not None:
            yield f"{self.recorded} says how many cells were added and why; no name and no rating is in it."

    def content(self) -> Record:
        """Counts, what the ratings buy, and the rows of the table."""
        loads = self.assignment.loads(0)
        return {
            "rule": self.rule,
            **({} if self.look is None else {"look": self.look}),
            **values(self, "n_asked", "n_ratings"),
            "slots": [
                {"slot": slot, "ratings": int(n), "new": slot in self.new_slots}
                for slot, n in zip(self.assignment.slots, loads, strict=True)
            ],
            "counts": {**self.counts, "misfits": self.n_misfits},
            "per_output": {
                **values(self.per_output, "before", "after"),
                "n_above_plan": self.per_output.n_above,
                "n_below_plan": self.per_output.n_lacking,
            },
            "ways": [
                {
                    **values(one, "name", "n_ratings", "n_workers", "n_new"),
                    "standard_error": _known(one.standard_error),
                    "half_width": _known(one.half_width(self.scale)),
                    "power": _known(one.power),
                    "cost": None if one.cost is None else str(one.cost),
                }
                for one in self.ways
            ],
            "currency": self.currency,
            "standard_error_by_gain": values(self, "by_gain")["by_gain"],
            "systems": [] if self.blind else list(self.assignment.systems),
            "rows": super().content()["rows"],
        }


def _who(way: NextWay) -> str:
    if not way.n_new:
        return "those who are left"
    return "a new worker" if way.n_new == 1 else f"{way.n_new:,} new workers"


def _range(least: int, most: int) -> str:
    return counted(least, "rating") if least == most else f"{least:,} to {most:,} ratings"


def _number(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.3g}"


def _known(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None

"""What the status of a study says: how far it is, who stands out, what does not fit, and which spares to call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from humeval_power.checking.exports.matching import Fate
from humeval_power.reporting.document import (
    Document,
    Fact,
    Facts,
    Listing,
    Paragraph,
    Picture,
    Section,
    Table,
)
from humeval_power.reporting.field.status_work import rules_so_far, standing_out, work_of_slots
from humeval_power.reporting.numbers import counted, percent

if TYPE_CHECKING:
    import pandas as pd

    from humeval_power.reporting.field.status import StatusResult

_MOST_SLOTS = 20  # of a short table
_MOST_SPARES = 5  # commands that are printed
_NOT_COUNTED: Mapping[Fate, str] = {
    "copy": "the same answer in another row; counted once",
    "taken over": "of what a spare has taken over",
    "unknown code": "of codes that no row of the assignment has",
    "unknown slot": "of slots that the assignment does not have",
    "not given": "of outputs that their slot was not given",
    "twice": "another answer to what was answered before",
}


def status_document(result: StatusResult) -> Document:
    """The document of a status; in it stands nothing by system."""
    found = result.progress
    slots = result.slots
    return Document(
        f"{found.n_done:,} of {found.n_expected:,} answers are in",
        lead=_lead(result),
        headline=tuple(_headline(result)),
        sections=tuple(
            section
            for section in (
                Section("Slots", (_slots_table(slots), _picture(slots))),
                Section("Work that stands out", tuple(standing_out(result))),
                Section("The rules of the plan, as things stand", tuple(rules_so_far(result))),
                Section("Looks", tuple(_looks(result))),
                Section("Spares to call", tuple(_spares(result))),
                Section("What is not counted", tuple(_not_counted(result))),
                Section("Items that lack ratings", tuple(_items(result)), is_detail=True),
                Section("All slots", tuple(_all_slots(slots)), is_detail=True),
                Section("The work of each slot", tuple(work_of_slots(result)), is_detail=True),
            )
            if section.blocks
        ),
    )


def _lead(result: StatusResult) -> str:
    found = result.progress
    states = result.slots["state"].value_counts()
    slots = ", ".join(f"{n:,} {state}" for state, n in states.items())
    return (
        f"{percent(found.n_done / max(found.n_expected, 1))} of the work is done; slots: {slots}. "
        f"Nothing here depends on which system an output is of."
    )


def _headline(result: StatusResult) -> Iterator[Fact]:
    found = result.progress
    kinds = [f"{done:,} of {n:,} {kind}s" for kind, (done, n) in found.of_kind().items() if n]
    yield "Done", ", ".join(kinds)
    gone = f"; {found.n_withdrawn:,} of them withdrew" if found.n_withdrawn else ""
    yield "Workers", f"{found.n_workers:,}{gone}"
    items = found.items()
    complete = int((items["done"] >= items["expected"]).sum())
    if len(items):
        yield "Items", f"{complete:,} of {len(items):,} have all their ratings"
    if found.n_without_slot:
        yield "Without a slot", f"{counted(found.n_without_slot, 'answer')} whose slot cannot be told"


_HEADER = ("slot", "worker", "state", "done", "batches", "extra")


def _slots_table(slots: pd.DataFrame) -> Table:
    """The slots that are not complete; all of a small study."""
    open_ones = slots[~slots["state"].isin(["complete", "taken over"]) | (slots["extra"] > 0)]
    shown = slots if len(slots) <= _MOST_SLOTS else open_ones.head(_MOST_SLOTS)
    caption = ""
    if len(slots) > _MOST_SLOTS:
        rest = len(open_ones) - len(shown)
        caption = f"Slots that are not complete{f'; {rest:,} more are not shown' if rest else ''}."
    return Table(_HEADER, tuple(_slot_rows(shown)), caption)


def _all_slots(slots: pd.DataFrame) -> Iterator[Table]:
    """Every slot, where those are not all shown already."""
    if len(slots) > _MOST_SLOTS:
        yield Table(_HEADER, tuple(_slot_rows(slots)))


def _slot_rows(slots: pd.DataFrame) -> Iterator[tuple[str, ...]]:
    names = ("slot", "worker", "workers", "state", "done", "expected", "batches_done", "n_batches", "extra")
    for slot, worker, workers, state, done, expected, batches, of, extra in slots[list(names)].itertuples(
        index=False
    ):
        who = f"{worker} and {workers - 1} more" if workers > 1 else worker
        yield slot, who or "-", state, f"{done} of {expected}", f"{batches} of {of}", f"{extra}"


def _picture(slots: pd.DataFrame) -> Picture:
    expected = slots[slots["expected"] > 0]
    full = int((expected["done"] == expected["expected"]).sum())

    def draw() -> object:
        from humeval_power.reporting.field.progress_figure import progress_figure

        return progress_figure(
            expected["slot"].tolist(), expected["done"].tolist(), expected["expected"].tolist()
        )

    words = f"How much of each slot's work is done: {full:,} of {len(expected):,} slots are complete."
    return Picture("progress", draw, words=words)  # type: ignore[arg-type]


def _looks(result: StatusResult) -> Iterator[Facts]:
    looks = result.progress.looks()
    if not looks:
        return
    lines, open_before = [], False
    for name, done, expected in looks:
        said = f"{done:,} of {expected:,} answers"
        if done == expected and not open_before:
            said += ": complete, the look may be taken"
        open_before = open_before or done < expected
        lines.append((f"Look {name}", said))
    yield Facts(tuple(lines))


def _spares(result: StatusResult) -> Iterator[Table | Paragraph | Listing]:
    spares = result.spares
    if not spares:
        return
    rows = tuple((one.slot, one.why, one.name, f"{one.first_batch}") for one in spares[:_MOST_SLOTS])
    rest = len(spares) - len(rows)
    caption = f"{rest:,} more are not shown." if rest else ""
    yield Table(("slot", "why", "spare", "from batch"), rows, caption)
    certain = [one for one in spares if one.certain]
    now = (certain or list(spares))[:_MOST_SPARES]
    yield Paragraph(
        "A spare gets its table from the command that made the assignment, with this added and at least "
        f"{counted(int(now[-1].name[1:]), 'spare')} in reserve. Follow the study by both tables then."
    )
    typed = " ".join(f"--replace {one.takeover}" for one in now)
    yield Listing(f"humeval-power assign ... {typed} -o {'-'.join(one.name for one in now)}.csv")


def _not_counted(result: StatusResult) -> Iterator[Facts]:
    fates = result.progress.fates
    lines = [(f"{fates[fate]:,}", said) for fate, said in _NOT_COUNTED.items() if fates.get(fate)]
    if lines:
        yield Facts(tuple(lines))


def _items(result: StatusResult) -> Iterator[Table]:
    items = result.progress.items()
    short = items[items["done"] < items["expected"]].sort_values("done", kind="stable")
    if short.empty:
        return
    rows = tuple((str(row.item), f"{row.done} of {row.expected}") for row in short.head(100).itertuples())
    rest = len(short) - len(rows)
    yield Table(("item", "ratings"), rows, f"{rest:,} more are not shown." if rest else "")

"""What the status of a study says: how far it is, who stands out, what does not fit, and which spares to call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from humeval_power.checking.exports.matching import Fate
from humeval_power.exclusions import rule_words
from humeval_power.reporting.document import (
    Document,
    Fact,
    Facts,
    Listing,
    Paragraph,
    Picture,
    Points,
    Section,
    Table,
)
from humeval_power.reporting.numbers import counted, percent

if TYPE_CHECKING:
    import pandas as pd

    from humeval_power.reporting.field.status import StatusResult

_MOST_SLOTS = 20  # of a short table
_ENDS = 3  # workers that are named at an end of a statistic
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
        lead="Nothing here depends on which system an output is of.",
        headline=tuple(_headline(result)),
        sections=tuple(
            section
            for section in (
                Section("Slots", (_slots_table(slots), _picture(slots))),
                Section("Work that stands out", tuple(_ends(result))),
                Section("The rules of the plan, as things stand", tuple(_rules(result))),
                Section("Looks", tuple(_looks(result))),
                Section("Spares to call", tuple(_spares(result))),
                Section("What is not counted", tuple(_not_counted(result))),
                Section("Items that lack ratings", tuple(_items(result)), is_detail=True),
                Section("All slots", (_all_slots(slots),), is_detail=True),
            )
            if section.blocks
        ),
    )


def _headline(result: StatusResult) -> Iterator[Fact]:
    found = result.progress
    kinds = [f"{done:,} of {n:,} {kind}s" for kind, (done, n) in found.of_kind().items() if n]
    yield "Done", f"{percent(found.n_done / max(found.n_expected, 1))}: {', '.join(kinds)}"
    states = result.slots["state"].value_counts()
    yield "Slots", ", ".join(f"{n:,} {state}" for state, n in states.items())
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


def _all_slots(slots: pd.DataFrame) -> Table:
    return Table(_HEADER, tuple(_slot_rows(slots)))


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


# The statistics at whose ends a worker stands out: the column, what is said of it, whether low values do.
_LOOKED_AT = (
    ("failed_checks", "checks failed", False),
    ("seconds", "fastest, in seconds", True),
    ("seconds", "slowest, in seconds", False),
    ("same_answer", "share of one answer", False),
    ("repeats", "repeats differ by", False),
    ("agreement", "least agreement", True),
)


def _ends(result: StatusResult) -> Iterator[Table]:
    slots = result.slots
    if result.quality is None:
        return
    rows = []
    for name, said, low in _LOOKED_AT:
        known = slots[slots[name].notna() & slots["done"].gt(0)].sort_values(
            name, ascending=low, kind="stable"
        )
        if name == "failed_checks":
            known = known[known["checks_failed"] > 0]
        elif name == "seconds" and not low:  # of a few slots the others are the fastest
            known = known.head(max(len(known) - _ENDS, 0))
        if len(known):
            named = [f"{row['slot']} ({_value(name, row)})" for row in known.head(_ENDS).to_dict("records")]
            rows.append((said, ", ".join(named)))
    if rows:
        caption = (
            "The first three at each end; whether that is too much is for the rules set beforehand to say."
        )
        yield Table(("statistic", "slots"), tuple(rows), caption, in_words=True)


def _value(name: str, row: Mapping[object, object]) -> str:
    if name == "failed_checks":
        return f"{row['checks_failed']} of {row['checks']}"
    return f"{float(str(row[name])):.3g}"


def _rules(result: StatusResult) -> Iterator[Points | Paragraph]:
    if not result.rules or result.quality is None:
        return
    broken = result.rules.broken(result.quality.statistics)
    slot_of = dict(zip(result.progress.slots["worker"], result.progress.slots["slot"], strict=True))
    said = []
    for name, mask in broken.items():
        slots = [
            slot_of.get(worker, "?")
            for worker, out in zip(result.quality.workers, mask, strict=True)
            if out
        ]
        more = f" and {len(slots) - _MOST_SLOTS:,} more" if len(slots) > _MOST_SLOTS else ""
        named = f" ({', '.join(slots[:_MOST_SLOTS])}{more})" if slots else ""
        said.append(
            f"{counted(len(slots), 'worker')} {rule_words(name, result.rules.limits[name])}{named}."
        )
    yield Points(tuple(said))
    yield Paragraph("Limits are reached for good only when a slot is complete.")


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
        "The command that made the assignment gives a spare its work when this is added to it, with as many "
        "spares in reserve; follow the study by both tables then."
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

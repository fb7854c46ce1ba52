"""How far a study has come while it is collected: a result that never shows the effect, nor anything by system."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from humeval_power.checking.cells import Mask, read_cells, read_numbers
from humeval_power.checking.exports.assigned import AssignmentTable
from humeval_power.checking.exports.decoding import FATES, AssignmentMatch, Fate
from humeval_power.checking.rows import KINDS, refused_rows
from humeval_power.exclusions import NO_RULES, ExclusionRules, rule_words
from humeval_power.safe_text import table_csv
from humeval_power.saying.chart import Axis, Chart, Series
from humeval_power.saying.document import Block, Document, Fact, Facts, Listing, Paragraph, Points, Section
from humeval_power.saying.numbers import counted, percent
from humeval_power.saying.quantities import values
from humeval_power.saying.result import COLLECT_STATUS_SCHEMA, Record, Result
from humeval_power.saying.stated import table
from humeval_power.studies.field.form import BY_ID, Names
from humeval_power.studies.field.worker_quality import Floats, WorkerQuality
from humeval_power.studies.plan.assignment import numbered

SPARES_TITLE = "Spares to call"
MOST_BARS = 40  # slots that have a bar of their own
_DIGITS = 12
_MISSING = ("slot", "batch", "order", "kind", "code", "item", "look")
_ENDS = 3  # workers that are named at an end of a statistic
_MOST_NAMED = 20
_MOST_SLOTS = 20  # of a short table
_NOT_COUNTED: Mapping[Fate, str] = {
    "copy": "the same answer in another row; counted once",
    "taken over": "of what a spare has taken over",
    "unknown code": "of codes that no row of the assignment has",
    "unknown slot": "of slots that the assignment does not have",
    "not given": "of outputs that their slot was not given",
    "twice": "another answer to what was answered before",
}
# The statistics at whose ends a worker stands out: the column, what is said of it, whether low values do.
_LOOKED_AT = (
    ("failed_checks", "checks failed", False),
    ("seconds", "fastest, in seconds", True),
    ("seconds", "slowest, in seconds", False),
    ("same_answer", "share of one answer", False),
    ("repeats", "repeats differ by", False),
    ("agreement", "least agreement", True),
)
Row = dict[Hashable, Any]  # of the slots


@dataclass(frozen=True, kw_only=True)
class StatusResult(Result):
    """Who has done what of an assignment, and what to do next.

    quality : statistics of each worker's work, blind to the systems; None before any answer.
    rules : by which workers will be left out, where the plan has such rules.
    names : how workers are named in what is shown and written.
    notices : what was noticed in reading the exports.
    """

    schema: ClassVar[str] = COLLECT_STATUS_SCHEMA
    endings: ClassVar[tuple[str, ...]] = (".csv",)

    progress: Progress
    assigned: AssignmentTable
    quality: WorkerQuality | None
    rules: ExclusionRules = NO_RULES
    names: Names = BY_ID
    notices: tuple[str, ...] = ()

    @property
    def remarks(self) -> tuple[str, ...]:
        return self.notices

    @cached_property
    def slots(self) -> pd.DataFrame:
        """A row for each slot: how far it is, and how its worker works."""
        result = self.progress.slots
        if self.quality is not None:
            frame = self.quality.to_frame().drop(columns="ratings")
            result = result.merge(
                frame.rename(columns={"failed": "checks_failed"}), on="worker", how="left"
            )
            result = result.astype({"checks": "Int64", "checks_failed": "Int64"})
            result["left_out"] = result["worker"].isin(self.broken)
        return result.assign(worker=self.names.of(result["worker"]))

    @cached_property
    def broken(self) -> frozenset[str]:
        """The workers whom the rules leave out as things stand, by their ids."""
        if self.quality is None or not self.rules:
            return frozenset()
        left_out = self.rules.left_out(self.quality.statistics)
        return frozenset(np.array(self.quality.workers, dtype=object)[left_out])

    @cached_property
    def spares(self) -> tuple[Spare, ...]:
        """The spares to call, the certain ones first."""
        result = self.progress.slots
        slots = result.loc[result["worker"].isin(self.broken), "slot"]
        return spares_to_call(self.progress, self.assigned, broken=frozenset(slots))

    @cached_property
    def missing(self) -> pd.DataFrame:
        """A row for each showing that is not done."""
        rows = self.progress.showings
        return rows.loc[~rows["done"], list(_MISSING)].reset_index(drop=True)

    def body(self) -> Document:
        """How far the study is, who stands out, what does not fit, and which spares to call; nothing by system."""
        progress, states = self.progress, self.slots["state"].value_counts()
        sections = (
            ("People", self._people(), False),
            ("Work that stands out", self._standing_out(), False),
            ("The rules of the plan, as things stand", self._rules_so_far(), False),
            ("Looks", self._looks(), False),
            (SPARES_TITLE, self._spares(), False),
            ("What is not counted", self._not_counted(), False),
            ("Items that lack ratings", self._items(), True),
            ("All people", self._all_people(), True),
            ("The work of each person", self._work_of_people(), True),
        )
        with_blocks = ((title, tuple(blocks), is_detail) for title, blocks, is_detail in sections)
        return Document(
            f"{progress.n_done:,} of {progress.n_expected:,} answers are in",
            lead=f"{percent(progress.n_done / max(progress.n_expected, 1))} of the work is done; people: "
            f"{', '.join(f'{n:,} {state}' for state, n in states.items())}. Nothing here depends on which system "
            "an output is of.",
            headline=tuple(self._headline()),
            sections=tuple(Section(*section) for section in with_blocks if section[1]),
        )

    def _headline(self) -> Iterator[Fact]:
        progress, items = self.progress, self.progress.items()
        kinds = [f"{done:,} of {n:,} {kind}s" for kind, (done, n) in progress.of_kind().items() if n]
        yield "Done", ", ".join(kinds)
        gone = f"; {progress.n_withdrawn:,} of them withdrew" if progress.n_withdrawn else ""
        yield "Workers", f"{progress.n_workers:,}{gone}"
        if len(items):
            complete = int((items["done"] >= items["expected"]).sum())
            yield "Items", f"{complete:,} of {len(items):,} have all their ratings"
        if progress.n_without_slot:
            yield (
                "Without a slot",
                f"{counted(progress.n_without_slot, 'answer')} whose slot cannot be told",
            )

    def _people(self) -> Iterator[Block]:
        """The slots that are not complete, if any; all of a small study; how far each is while there is work."""
        slots, caption = self.slots, ""
        shown = slots
        if len(slots) > _MOST_SLOTS:
            is_open = ~slots["state"].isin(["complete", "taken over"]) | (slots["extra"] > 0)
            shown = slots[is_open].head(_MOST_SLOTS)
            rest = int(is_open.sum()) - len(shown)
            caption = (
                f"People whose work is not complete{f'; {rest:,} more are not shown' if rest else ''}."
            )
        if len(shown):
            yield table(_records(shown), _PEOPLE, caption)
        expected = slots[slots["expected"] > 0]
        shares = (expected["done"] / expected["expected"]).to_numpy(dtype=np.float64)
        if (shares < 1).any():  # else the lead says it
            yield _progress_chart(expected["slot"].tolist(), shares)

    def _all_people(self) -> Iterator[Block]:
        """Every slot, where those are not all shown already."""
        if len(self.slots) > _MOST_SLOTS:
            yield table(_records(self.slots), _PEOPLE)

    def _standing_out(self) -> Iterator[Block]:
        """The slots at the ends of each statistic."""
        slots = self.slots
        if self.quality is None:
            return
        rows = []
        for name, said, low in _LOOKED_AT:
            known = slots[slots[name].notna() & slots["done"].gt(0)]
            known = known.sort_values(name, ascending=low, kind="stable")
            if name == "failed_checks":
                known = known[known["checks_failed"] > 0]
            elif name == "seconds" and not low:  # of a few slots the others are the fastest
                known = known.head(max(len(known) - _ENDS, 0))
            cell = _checks_failed if name == "failed_checks" else _statistic(name)
            named = [f"{row['slot']} ({cell(row)})" for row in known.head(_ENDS).to_dict("records")]
            if named:
                rows.append((said, ", ".join(named)))
        caption = "The first three of each. Rules that were set beforehand say whether that is too much."
        if slots["repeats"].notna().any():
            caption += " Repeats differ by a share of the scale."
        if slots["agreement"].notna().any():
            caption += " Agreement is the correlation with the others."
        if rows:
            columns = {"statistic": lambda row: row[0], "slots": lambda row: row[1]}
            yield table(rows, columns, caption, in_words=True)

    def _rules_so_far(self) -> Iterator[Block]:
        """Whom the rules of the plan would leave out as things stand."""
        if not self.rules or self.quality is None:
            return
        slot_of = dict(zip(self.progress.slots["worker"], self.progress.slots["slot"], strict=True))
        said = []
        for name, mask in self.rules.broken(self.quality.statistics).items():
            left_out = np.array(self.quality.workers, dtype=object)[mask]
            slots = [slot_of.get(worker, "?") for worker in left_out]
            more = f" and {len(slots) - _MOST_NAMED:,} more" if len(slots) > _MOST_NAMED else ""
            named = f" ({', '.join(slots[:_MOST_NAMED])}{more})" if slots else ""
            limit = rule_words(name, self.rules.limits[name])
            said.append(f"{counted(len(slots), 'worker')} {limit}{named}.")
        yield Points(tuple(said))
        yield Paragraph("Limits are reached for good only when a slot is complete.")

    def _work_of_people(self) -> Iterator[Block]:
        """The statistics of every slot that is begun."""
        if self.quality is None:
            return
        columns: dict[str, Callable[[Row], str]] = {
            "slot": lambda row: str(row["slot"]),
            "checks failed": _checks_failed,
            "seconds": _statistic("seconds"),
            "one answer": _statistic("same_answer"),
            "repeats differ": _statistic("repeats"),
            "agreement": _statistic("agreement"),
        }
        yield table(self.slots[self.slots["done"] > 0].to_dict("records"), columns)

    def _looks(self) -> Iterator[Block]:
        lines, open_before = [], False
        for name, done, expected in self.progress.looks():
            ready = done == expected and not open_before
            may = ": complete, the look may be taken" if ready else ""
            lines.append((f"Look {name}", f"{done:,} of {expected:,} answers{may}"))
            open_before = open_before or done < expected
        if lines:
            yield Facts(tuple(lines))

    def _spares(self) -> Iterator[Block]:
        spares = self.spares
        if not spares:
            return
        columns: dict[str, Callable[[Spare], str]] = {
            "slot": lambda one: one.slot,
            "why": lambda one: one.why,
            "spare": lambda one: one.name,
            "from batch": lambda one: f"{one.first_batch}",
        }
        yield table(spares[:_MOST_SLOTS], columns, _not_shown(len(spares) - _MOST_SLOTS))
        certain = [one for one in spares if one.certain]
        now = (certain or list(spares))[:5]
        yield Paragraph(
            "A spare gets its table from the command that made the assignment, with this added and at least "
            f"{counted(int(now[-1].name[1:]), 'spare')} in reserve. Follow the study by both tables then."
        )
        typed = " ".join(f"--replace {one.takeover}" for one in now)
        yield Listing(f"humeval-power assign ... {typed} -o {'-'.join(one.name for one in now)}.csv")

    def _not_counted(self) -> Iterator[Block]:
        fates = self.progress.fates
        lines = [(f"{fates[fate]:,}", said) for fate, said in _NOT_COUNTED.items() if fates.get(fate)]
        if lines:
            yield Facts(tuple(lines))

    def _items(self) -> Iterator[Block]:
        items = self.progress.items()
        short = items[items["done"] < items["expected"]].sort_values("done", kind="stable")
        columns: dict[str, Callable[[Row], str]] = {
            "item": lambda row: str(row["item"]),
            "ratings": lambda row: f"{row['done']} of {row['expected']}",
        }
        if len(short):
            yield table(short.head(100).to_dict("records"), columns, _not_shown(len(short) - 100))

    def content(self) -> Record:
        """Counts, a row for each slot, and what to do next; no rating, and nothing by system."""
        progress, items = self.progress, self.progress.items()
        return {
            **values(progress, "n_expected", "n_done"),
            "kinds": {
                kind: {"done": done, "expected": n} for kind, (done, n) in progress.of_kind().items()
            },
            **values(progress, "n_workers", "n_withdrawn"),
            "states": {str(name): int(n) for name, n in progress.slots["state"].value_counts().items()},
            "n_without_slot": progress.n_without_slot,
            "n_own_checks": progress.fates["own check"],
            "not_counted": {
                fate.replace(" ", "_"): n
                for fate, n in progress.fates.items()
                if fate not in ("fits", "own check")
            },
            "looks": [{"look": name, "done": done, "expected": n} for name, done, n in progress.looks()],
            "items": {"n": len(items), "n_complete": int((items["done"] >= items["expected"]).sum())},
            "rules": self.rules.limits,
            "spares": [
                {
                    "spare": one.name,
                    **values(one, "slot", "first_batch", "why", "certain"),
                    "replace": one.takeover,
                }
                for one in self.spares
            ],
            "rows": _records(self.slots.astype(object).where(self.slots.notna(), None)),
        }

    def to_frame(self) -> pd.DataFrame:
        """A row for each slot."""
        return self.slots.copy()

    def artefact(self, ending: str) -> str:
        """The slots as CSV."""
        assert ending in self.endings
        return table_csv(self.slots, digits=_DIGITS)

    def files(self) -> dict[str, str]:
        """All that is missing; the slots are the table."""
        return {"missing.csv": table_csv(self.missing)}


def _records(slots: pd.DataFrame) -> list[Record]:
    return [{str(name): value for name, value in row.items()} for row in slots.to_dict("records")]


def _who(row: Record) -> str:
    others = int(str(row["workers"])) - 1
    return f"{row['worker']} and {others} more" if others > 0 else str(row["worker"]) or "-"


_PEOPLE: dict[str, Callable[[Record], str]] = {
    "slot": lambda row: str(row["slot"]),
    "worker": _who,
    "state": lambda row: str(row["state"]),
    "done": lambda row: f"{row['done']} of {row['expected']}",
    "batches": lambda row: f"{row['batches_done']} of {row['n_batches']}",
    "extra": lambda row: f"{row['extra']}",
}


def _checks_failed(row: Row) -> str:
    return f"{row['checks_failed']} of {row['checks']}"


def _statistic(name: str) -> Callable[[Row], str]:
    """The cell of a statistic of a slot's work."""

    def cell(row: Row) -> str:
        number = float(row[name])
        return "-" if math.isnan(number) else f"{number:.3g}"

    return cell


def _not_shown(rest: int) -> str:
    return f"{rest:,} more are not shown." if rest > 0 else ""


def _progress_chart(slots: Sequence[str], shares: Floats) -> Chart:
    """A bar for each slot, as long as its work is done; of more than 40 how many have come how far."""
    full = int((shares >= 1).sum())
    names, length = tuple(slots), shares
    axis = Axis("Share of the slot's work that is done", 0, 1)
    if len(slots) > MOST_BARS:
        length, edges = np.histogram(shares, bins=10, range=(0, 1))
        names = tuple(f"{100 * low:.0f} to {100 * low + 10:.0f} %" for low in edges[:-1])
        axis = Axis("Slots, by the share of their work that is done", 0, int(length.max()), is_whole=True)
    rows = tuple(float(place) for place in range(len(names)))
    bars = Series("bars", "done", y=rows, low=(0.0,) * len(names), high=tuple(map(float, length)))
    return Chart(
        "progress",
        "How far is each slot?",
        f"How much of each slot's work is done: {full:,} of {len(slots):,} slots are complete.",
        axis,
        Axis("", 0, len(names), names=names),
        (bars,),
    )


# Which spares to call: slots whose worker is lost, and what a spare would take over.

_SPARE = re.compile(r"r(\d+)")
_LOST = {"withdrawn": "the worker withdrew", "refused": "the work was rejected or returned"}


@dataclass(frozen=True, slots=True)
class Spare:
    """A spare slot for one whose worker is lost, and from which batch on. `certain` is False where the worker may
    still come back."""

    name: str
    slot: str
    first_batch: int
    why: str
    certain: bool

    @property
    def takeover(self) -> str:
        """As it is typed: r01=w07, or r01=w07:3."""
        return f"{self.name}={self.slot}" + (f":{self.first_batch}" if self.first_batch > 1 else "")


def spares_to_call(
    progress: Progress, assigned: AssignmentTable, *, broken: Collection[str] = ()
) -> tuple[Spare, ...]:
    """A spare for each slot whose worker is lost for certain, then for the first 20 that are begun.

    Where all that a worker gave leaves, the spare takes over the whole slot, else from the first batch on that is
    not done. The work of a spare is that of the slot which it replaces.

    broken : slots whose workers the rules leave out.
    """
    wanted: list[tuple[str, int, str, bool]] = []
    for row in progress.slots.itertuples():
        name, state = str(row.slot), str(row.state)
        slot, first = assigned.work_of(name)
        if state in _LOST:
            wanted.append((slot, first, _LOST[state], True))
        elif name in broken:
            wanted.append((slot, first, "the rules leave its worker out", state == "complete"))
        elif state == "begun":
            why = "begun; if its worker does not come back"
            wanted.append((slot, int(str(row.next_batch)), why, False))
    lost = [one for one in wanted if one[3]]
    wanted = [*lost, *[one for one in wanted if not one[3]][:20]]
    used = [int(match[1]) for slot in assigned.slots if (match := _SPARE.fullmatch(slot))]
    first = max(used, default=0)
    names = numbered("r", first + len(wanted))[first:]
    return tuple(Spare(name, *one) for name, one in zip(names, wanted, strict=True))


# How far a study has come: who has done what of the assignment, and what is missing. It never reads a system.


@dataclass(frozen=True, slots=True, eq=False)
class Progress:
    """How far the slots of an assignment have come.

    slots : a row for each slot, in the order of the assignment: slot, state, expected and done (showings),
        n_batches, batches_done, next_batch (the first that is not done; 0: none), worker (the first), workers (how
        many), extra (answers that do not fit). What a spare took over is expected of the spare.
    showings : the rows of the assignment that are expected, with `done`.
    answers : those that fit and checks of the study's own, as `worker_quality` takes them: worker, item, system,
        code, kind, rating as a number, and, where they are known, criterion, seconds and passed. In the place of
        the system stands the code.
    fates : how many answers have which fate; `n_without_slot` those that fit and whose slot cannot be told.
    n_workers, n_withdrawn : who gave answers, and how many of them took their consent back.
    """

    slots: pd.DataFrame
    showings: pd.DataFrame
    answers: pd.DataFrame
    fates: dict[Fate, int]
    n_without_slot: int
    n_workers: int
    n_withdrawn: int

    @property
    def n_expected(self) -> int:
        """Showings that are expected of all slots."""
        return len(self.showings)

    @property
    def n_done(self) -> int:
        """Those that are done: answered by every criterion."""
        return int(self.showings["done"].sum())

    @property
    def n_misfits(self) -> int:
        """Answers that the assignment does not have."""
        return sum(self.fates[fate] for fate in ("unknown code", "unknown slot", "not given"))

    def of_kind(self) -> dict[str, tuple[int, int]]:
        """Showings done and expected of each kind."""
        done, kind = self.showings["done"], self.showings["kind"]
        return {one: (int(done[kind == one].sum()), int((kind == one).sum())) for one in KINDS}

    def looks(self) -> list[tuple[str, int, int]]:
        """Each look with its showings done and expected; nothing without looks."""
        look, done = self.showings["look"].to_numpy(dtype=object), self.showings["done"].to_numpy()
        names = sorted({str(name) for name in look} - {""}, key=lambda name: (len(name), name))
        return [(name, int(done[look == name].sum()), int((look == name).sum())) for name in names]

    def items(self) -> pd.DataFrame:
        """A row for each item: item, expected and done (ratings, whatever the systems)."""
        rated = self.showings[(self.showings["kind"] == "rating") & (self.showings["item"] != "")]
        result = rated.groupby("item", sort=False)["done"].agg(expected="size", done="sum").reset_index()
        return result.astype({"done": np.int64})


def progress(
    answers: pd.DataFrame,
    matched: AssignmentMatch,
    assigned: AssignmentTable,
    *,
    withdrawn: Collection[str] = (),
) -> Progress:
    """Count what is done of an assignment.

    A showing is done when it has an answer by every criterion that occurs. Answers of those who withdrew count
    for nothing, and so do those in rows that a column of states marks as rejected or returned; what is still being
    worked on, or waits for review, counts.

    Parameters
    ----------
    answers : as `long_table` gives them, with a column of codes.
    """
    workers = answers["worker"].astype(str).str.strip().to_numpy(dtype=object)
    gone = pd.Series(workers).isin(list(withdrawn)).to_numpy()
    refused = np.zeros(len(answers), dtype=np.bool_)
    for one in refused_rows(answers):
        refused |= one.is_final
    fits = matched.of("fits") & ~gone & ~refused
    counts = fits & (matched.slot != "")
    own = matched.of("own check") & ~gone & ~refused
    rows = assigned.frame.assign(done=_done(answers, matched, counts, len(assigned.frame)))
    showings = rows[~assigned.taken_over]
    slots = _slots(showings, assigned)
    who = pd.DataFrame({"slot": matched.slot, "worker": workers, "gone": gone, "refused": refused})
    fates: tuple[Fate, ...] = ("unknown code", "not given", "twice")
    misfit = np.logical_or.reduce([matched.of(fate) for fate in fates])
    slots = _with_workers(slots, who[matched.slot != ""], misfit=misfit[matched.slot != ""])
    return Progress(
        slots=slots,
        showings=showings.drop(columns="system"),
        answers=_quality_table(answers, matched, assigned, fits | own),
        fates={fate: int((matched.of(fate) & ~gone).sum()) for fate in FATES},
        n_without_slot=int((fits & (matched.slot == "")).sum()),
        n_workers=len(set(workers)),
        n_withdrawn=len(set(workers[gone])),
    )


def _done(answers: pd.DataFrame, matched: AssignmentMatch, counts: Mask, n_showings: int) -> Mask:
    criterion = (
        read_cells(answers["criterion"]).code
        if "criterion" in answers
        else np.zeros(len(answers), np.int64)
    )
    criteria = np.unique(criterion[counts])
    given = pd.DataFrame(
        {"showing": matched.showing[counts], "criterion": criterion[counts]}
    ).drop_duplicates()
    n = np.bincount(given["showing"], minlength=n_showings)
    return np.asarray((n > 0) & (n >= len(criteria)))


def _slots(showings: pd.DataFrame, assigned: AssignmentTable) -> pd.DataFrame:
    """What is expected and done of each slot."""
    order = pd.Index(assigned.slots, name="slot")
    slots = showings.groupby("slot")["done"].agg(expected="size", done="sum").reindex(order, fill_value=0)
    batches = showings.groupby(["slot", "batch"])["done"].all().reset_index()
    slots["n_batches"] = batches.groupby("slot").size().reindex(order, fill_value=0)
    slots["batches_done"] = batches.groupby("slot")["done"].sum().reindex(order, fill_value=0)
    still = batches[~batches["done"]].groupby("slot")["batch"].min()
    slots["next_batch"] = still.reindex(order, fill_value=0)
    return slots.astype(np.int64).reset_index()


def _with_workers(slots: pd.DataFrame, who: pd.DataFrame, *, misfit: Mask) -> pd.DataFrame:
    """The slots with who filled them, what does not fit, and their states."""
    extra = who[misfit].groupby("slot").size()
    each = who.groupby(["slot", "worker"], sort=False)[["gone", "refused"]].all().reset_index()
    staying = each[~(each["gone"] | each["refused"])]
    first = staying.drop_duplicates("slot").set_index("slot")["worker"]
    anyone = each.drop_duplicates("slot").set_index("slot")
    made = slots.assign(
        worker=slots["slot"].map(first).fillna(slots["slot"].map(anyone["worker"])).fillna(""),
        workers=slots["slot"].map(staying.groupby("slot").size()).fillna(0).astype(np.int64),
        extra=slots["slot"].map(extra).fillna(0).astype(np.int64),
    )
    gone = made["slot"].map(anyone["gone"]).fillna(value=False).astype(bool) & (made["workers"] == 0)
    refused = made["slot"].map(anyone["refused"]).fillna(value=False).astype(bool) & (made["workers"] == 0)
    states = np.select(
        [made["expected"] == 0, gone, refused, made["done"] == made["expected"], made["done"] > 0],
        ["taken over", "withdrawn", "refused", "complete", "begun"],
        "not begun",
    )
    made.insert(1, "state", states)
    return made


def _quality_table(
    answers: pd.DataFrame, matched: AssignmentMatch, assigned: AssignmentTable, used: Mask
) -> pd.DataFrame:
    """Some of the answers, with the code in the place of the system: nothing can be computed by system. A check of
    the study's own is of no showing."""
    rows, showing = assigned.frame, matched.showing[used]
    kept = answers[used]
    code = kept["code"].astype(str).str.strip().to_numpy(dtype=object)
    rating = read_numbers(read_cells(kept["rating"]), missing=("",)).value
    made: dict[str, object] = {
        "worker": kept["worker"].astype(str).str.strip().to_numpy(dtype=object),
        "item": np.append(rows["item"].to_numpy(dtype=object), "")[showing],
        "system": code,
        "code": code,
        "kind": np.append(rows["kind"].to_numpy(dtype=object), "check")[showing],
        "rating": rating,
    }
    if "criterion" in kept:
        made["criterion"] = kept["criterion"].astype(str).to_numpy(dtype=object)
    if "seconds" in kept:
        made["seconds"] = read_numbers(read_cells(kept["seconds"]), missing=("",)).value
    if (rows["right"] != "").any():
        right = np.append(read_numbers(read_cells(rows["right"]), missing=("",)).value, np.nan)[showing]
        made["passed"] = np.where(np.isnan(right + rating), np.nan, (rating == right).astype(np.float64))
    if "passed" in kept:
        scored = read_numbers(read_cells(kept["passed"]), missing=("",)).value
        passed = np.asarray(made.get("passed", np.full(len(kept), np.nan)), dtype=np.float64)
        made["passed"] = np.where(np.isnan(passed), scored, passed)
    return pd.DataFrame(made)

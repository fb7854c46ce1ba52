"""What `import` gives: ratings, a draft of the mapping that an export still needs, or scores from logs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Mapping as MappingType
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

from humeval_power.checking.columns import listing, shortened
from humeval_power.checking.exports.imported import ImportedTable, kept_rows
from humeval_power.checking.exports.mapping import EXTRAS, FIELDS, Export, Mapping, Template
from humeval_power.checking.exports.rating_blocks import (
    answers_in_words,
    criteria_in_words,
    is_free_text,
    without_criteria,
)
from humeval_power.checking.logs.combined import LogTable
from humeval_power.checking.logs.log import Log, reported_means
from humeval_power.checking.rows import KINDS, ExportFlow, read_kinds
from humeval_power.safe_text import table_csv
from humeval_power.saying.document import Document, Facts, Listing, Paragraph, Points, Section, Table
from humeval_power.saying.numbers import counted, in_words, significant
from humeval_power.saying.quantities import values
from humeval_power.saying.result import IMPORT_SCHEMA, Record, Result
from humeval_power.saying.row_flow import export_record, left_out_notice, merged_flow
from humeval_power.saying.stated import table
from humeval_power.studies.field.form import with_pseudonyms

if TYPE_CHECKING:
    import pandas as pd

_MOST = 200  # columns that are listed
_FEW = 12  # different cells of a column that may say which rows count
_NEEDED = ("worker", "item", "system")


def draft_text(export: Export) -> str:
    """The TOML of a draft, which is read as the mapping once what is missing is said; lines that the person has to
    decide on are comments."""
    return "\n".join(_lines(export)) + "\n"


def _lines(export: Export) -> Iterator[str]:
    mapping, left = export.mapping, []
    if mapping is not None:
        criteria = criteria_in_words(export.frame, mapping)
        left = [name for name, words in criteria.items() if is_free_text(name, words)]
        mapping = without_criteria(mapping, left) if left else mapping
        export = replace(export, mapping=mapping)
    yield f"# Where the ratings stand in {_one_line(export.source)}. It is read as {export.platform}: {export.why}."
    yield "# Change what is wrong, say what is missing; lines with # are remarks, or off."
    yield "#"
    yield "# In names, {slot} stands for what only tells columns apart, and {worker}, {item}, {system},"
    yield "# {criterion} for a part of the rating itself; {value} for the rating, where a column is marked."
    yield ""
    yield f"schema = {json.dumps('humeval_power/mapping/1')}"
    yield f"platform = {json.dumps(export.platform)}"
    yield from _ratings(mapping)
    if left:
        yield f"# Text, and no ratings: {', '.join(map(_one_line, left))}"
    yield "# Answers that are no rating, besides blank cells, and columns to take over as they are:"
    yield f"missing = {_listing([] if mapping is None else mapping.missing)}"
    yield f"keep = {_listing([] if mapping is None else mapping.keep)}"
    yield ""
    yield from _columns(mapping, export.templates)
    yield ""
    yield from _errors(mapping)
    yield "# A text that holds several parts, such as s01__sysA:"
    split = {} if mapping is None else {name: one.text for name, one in mapping.split.items()}
    yield from _table("split", split, '# "item" = "{item}__{system}"')
    yield ""
    yield from _slots(export)
    yield from _words(export)
    yield from _conditions(export)
    yield "# Questions with one right answer; the table gets a row of the kind check for each answer:"
    yield from _table("checks", {} if mapping is None else mapping.checks, '# "Q9_check" = "2"')
    yield ""
    yield from _listed(export)


def _ratings(mapping: Mapping | None) -> Iterator[str]:
    if mapping is not None and mapping.errors is not None:
        return
    if mapping is None:
        yield '# ratings = ["Q{slot}"]   # the columns that hold ratings; or one for each criterion:'
        yield '# ratings = { adequacy = "Adequacy_{slot}", fluency = "Fluency_{slot}" }'
    elif all(one.criterion is None for one in mapping.ratings):
        yield f"ratings = {_listing([one.template.text for one in mapping.ratings])}"
    else:
        named = ", ".join(
            f"{_quoted(one.criterion or '')} = {_quoted(one.template.text)}" for one in mapping.ratings
        )
        yield f"ratings = {{ {named} }}"


def _errors(mapping: Mapping | None) -> Iterator[str]:
    """How errors are weighed, where rows are errors."""
    errors = None if mapping is None else mapping.errors
    if errors is None:
        return
    yield "# Rows are errors; a rating is minus the sum of their weights. Columns of the kind of an error:"
    yield "[errors]"
    yield f"category = {_quoted(errors.category)}"
    yield f"severity = {_quoted(errors.severity)}"
    yield "# category | severity, * for any; the first that fits counts:"
    yield "[errors.weights]"
    yield from (f"{_quoted(key)} = {weight:.12g}" for key, weight in errors.weights.items())
    yield ""


def _columns(mapping: Mapping | None, by_name: MappingType[str, Template]) -> Iterator[str]:
    """Where the parts of a rating stand; without a mapping as far as names of columns tell (by_name)."""
    yield "[columns]"
    known = by_name if mapping is None else mapping.columns
    fields = {part: one.text for part, one in known.items()}
    named = set() if mapping is None else {part for one in mapping.ratings for part in one.template.parts}
    named |= set() if mapping is None else {part for one in mapping.split.values() for part in one.parts}
    coded = "code" in named or "code" in fields
    for part in (*FIELDS, *EXTRAS):
        if part in fields:
            yield f"{part} = {_quoted(fields[part])}"
        elif part in _NEEDED and part not in named and not (coded and part != "worker"):
            yield f'# {part} = "..."   # needed, here or in another way'
        elif part == "code" and not coded and not {"item", "system"} & (set(fields) | named):
            yield '# code = "..."   # in the place of item and system, where outputs were shown by codes'


def _slots(export: Export) -> Iterator[str]:
    """What each slot is, where the names of the columns do not tell."""
    mapping = export.mapping
    if mapping is None or not any("slot" in one.template.parts for one in mapping.ratings):
        return
    named = set(mapping.columns) | {part for one in mapping.split.values() for part in one.parts}
    if {"item", "system"} <= named or "code" in named:
        return
    slots: dict[str, str] = {}
    for one in mapping.ratings:
        for name in map(str, export.frame.columns):
            if (parts := one.template.match(name)) is not None:
                slots.setdefault(parts["slot"], export.questions.get(name, name))
    yield "# What was shown in each slot:"
    yield "[slots]"
    for slot, question in slots.items():
        known = mapping.slots.get(slot, {"item": "...", "system": "..."})
        said = ", ".join(f"{part} = {_quoted(text)}" for part, text in known.items())
        off = "" if slot in mapping.slots else "# "
        yield f"{off}{_quoted(slot)} = {{ {said} }}   # {shortened(_one_line(question), width=60)}"
    yield ""


def _words(export: Export) -> Iterator[str]:
    """Answers that are no numbers, by how often they stand in the columns of ratings."""
    mapping = export.mapping
    if mapping is None:
        return
    kept, _ = kept_rows(export.frame, mapping, what="rows")
    words, _ = answers_in_words(export.frame.loc[kept], mapping, mapping.ratings)
    if not (words or mapping.words):
        return
    yield "# The number of each answer in words (how often it was given):"
    yield "[words]"
    for text, number in mapping.words.items():
        yield f"{_quoted(text)} = {number:.12g}"
    for text, times in words.most_common():
        if text not in mapping.words:
            yield f"# {_quoted(text)} =    # {times:,}"
    yield ""


def _conditions(export: Export) -> Iterator[str]:
    """Columns that may say which rows count, with what stands in them."""
    where = () if export.mapping is None else export.mapping.where
    dropped, kept = (
        {one.column: one.values for one in where if one.drop is drop} for drop in (True, False)
    )
    if kept:
        yield "# Rows to keep, by what stands in a column; all others are left out:"
        yield "[keep_rows]"
        yield from (f"{_quoted(name)} = {_listing(values)}" for name, values in kept.items())
    yield "# Rows to leave out, by what stands in a column (or [keep_rows]: leave out all others):"
    yield "[drop_rows]"
    yield from (f"{_quoted(name)} = {_listing(values)}" for name, values in dropped.items())
    for name in map(str, export.frame.columns):
        bare = "".join(letter for letter in name.casefold() if letter.isalnum())
        is_state = "status" in bare or bare in ("finished", "approve", "reject", "type", "itemtype")
        if is_state and name not in dropped and name not in kept:
            counts = Counter(map(str, export.frame[name].fillna(""))).most_common(_FEW)
            shown = ", ".join(f"{_one_line(text) or 'blank'} ({times:,})" for text, times in counts)
            yield f"# {_quoted(name)} = [...]   # it holds {shortened(shown, width=200)}"
    yield ""


def _listed(export: Export) -> Iterator[str]:
    names = [str(name) for name in export.frame.columns]
    yield f"# All {len(names):,} columns{' (the first)' if len(names) > _MOST else ''}:"
    for name in names[:_MOST]:
        question = shortened(_one_line(export.questions.get(name, "")), width=70)
        yield f"#   {_one_line(name)}{f'   ({question})' if question else ''}"


def _table(name: str, values: MappingType[str, str], otherwise: str) -> Iterator[str]:
    yield f"[{name}]"
    yield from (f"{_quoted(key)} = {_quoted(text)}" for key, text in values.items())
    if not values:
        yield otherwise


def _listing(texts: Sequence[str]) -> str:
    return f"[{', '.join(map(_quoted, texts))}]"


def _quoted(text: str) -> str:
    """A TOML basic string; JSON's escapes are TOML's, but for the delete character."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")


def _one_line(text: str) -> str:
    """Text that stays inside a comment."""
    return " ".join("".join(one if one.isprintable() else " " for one in text).split())


# Exports that were imported: the ratings, what left on the way, and what was read as what.

_STEPS = {"read": "read", "dropped": "left out", "analysed": "ratings"}
_IDS = ("worker", "item", "system", "criterion")
_DIGITS = 12  # of computed columns; ratings are text


@dataclass(frozen=True, kw_only=True)
class ImportResult(Result):
    """Ratings out of exports. With a `secret` the table has pseudonyms of the workers."""

    schema: ClassVar[str] = IMPORT_SCHEMA
    endings: ClassVar[tuple[str, ...]] = (".csv", ".toml")

    table: ImportedTable
    secret: str | None = field(default=None, repr=False)

    @cached_property
    def _frame(self) -> pd.DataFrame:
        frame = self.table.frame
        return frame if self.secret is None else with_pseudonyms(frame, self.secret)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What each file was taken for, and what was noticed in reading it."""
        alike: dict[str, list[str]] = {}
        for export, _ in self.table.of:
            alike.setdefault(f"read as {export.platform}: {export.why}.", []).append(export.source)
        said = [
            f"{first} and {len(others):,} more are {how}" if others else f"{first} is {how}"
            for how, (first, *others) in alike.items()
        ]
        said += [f"{export.source}: {notice}" for export, _ in self.table.of for notice in export.notices]
        said += [f"{one.source} is joined by the worker: {one.why}." for one in self.table.people]
        if self.table.is_coded:
            said.append("Outputs are named by their codes; the key of the assignment says what they are.")
        return (*said, *self.table.notices)

    def body(self) -> Document:
        flows = self.table.flows
        flow = merged_flow([one.flow for one in flows])  # what each has for the same reason is one step
        counts = [counted(self._different(name), name) for name in _IDS[:3] if name in self._frame]
        left_out: Paragraph | Table = Paragraph("Nothing: each row that was read is used.")
        if any(one.step == "dropped" and one.rows for one in flow):
            of_what = flows[0].source if len(flows) == 1 else f"all {len(flows):,} files"
            rows = tuple((_STEPS[step.step], f"{step.rows:,}", step.reason) for step in flow)
            left_out = Table((of_what, "number", "what"), rows)
        unit = "rating" if "rating" in self._frame else "preference"
        return Document(
            f"{counted(self._kinds.get('rating', len(self._frame)), unit)} imported",
            lead=" ".join((f"The table has {in_words(counts)}.", *left_out_notice(flow))),
            sections=(
                Section("", (Facts(tuple(self._counts())),)),
                Section("What was left out, and why", (left_out,)),
                *([Section("File by file", (self._files(),))] if len(flows) > 1 else []),
            ),
        )

    def _counts(self) -> Iterator[tuple[str, str]]:
        if "criterion" in self._frame:
            yield "Criteria", f"{self._different('criterion'):,}"
        for kind in KINDS[1:]:
            if self._kinds:
                yield f"{kind.capitalize()}s", f"{self._kinds[kind]:,}, which no analysis takes as ratings"
        if self.table.n_withdrawn:
            who = counted(self.table.n_withdrawn, "participant")
            yield "Withdrew", f"{who}; nothing of them is in the table"
        yield "Worker ids", "as in the export" if self.secret is None else "pseudonyms, by a secret key"

    def _different(self, name: str) -> int:
        """How many different ids a column has; of an attention check's item and system it is blank."""
        cells = self._frame[name]
        return int(cells[cells.notna() & (cells.astype(str).str.strip() != "")].nunique())

    @cached_property
    def _kinds(self) -> dict[str, int]:
        """How many answers there are of each kind; nothing where kinds are not known."""
        kinds = read_kinds(self._frame)
        if kinds is None:
            return {}
        result = self._frame["kind"].astype(str).str.strip()
        return {kind: int((result == kind).sum()) for kind in KINDS}

    def _files(self) -> Table:
        """A row for each export: its ratings, and what left it."""

        def left_out(one: ExportFlow) -> str:
            return "; ".join(f"{step.rows:,}: {step.reason}" for step in one.flow if step.step == "dropped")

        columns: MappingType[str, Callable[[ExportFlow], str]] = {
            "file": lambda one: one.source,
            "ratings": lambda one: f"{sum(step.rows for step in one.flow if step.step == 'analysed'):,}",
            "left out": left_out,
        }
        return table(self.table.flows, columns)

    def content(self) -> Record:
        """Counts and the flow of each export; no ratings, and no id of a worker. `n_ratings` are all rows of the
        table."""
        return {
            "n_ratings": len(self._frame),
            **({"n_of_kind": dict(self._kinds)} if self._kinds else {}),
            **{f"n_{name}s": self._different(name) for name in _IDS if name in self._frame},
            "columns": list(map(str, self._frame.columns)),
            "pseudonyms": self.secret is not None,
            "n_withdrawn": self.table.n_withdrawn,
            "exports": [
                {**export_record(flow), "columns_read": list(table.used)}
                for flow, (_, table) in zip(self.table.flows, self.table.of, strict=True)
            ],
        }

    def to_frame(self) -> pd.DataFrame:
        """The ratings, one a row."""
        return self._frame.reset_index(drop=True)

    def artefact(self, ending: str) -> str:
        """The ratings as CSV, or the mapping as TOML."""
        if ending == ".toml":
            first, _ = self.table.of[0]
            return draft_text(replace(first, mapping=self.table.mapping or first.mapping))
        return table_csv(self.to_frame(), digits=_DIGITS)

    def files(self) -> dict[str, str]:
        """The ratings and the mapping, beside the page."""
        return {"ratings.csv": self.artefact(".csv"), "mapping.toml": self.artefact(".toml")}


@dataclass(frozen=True, kw_only=True)
class DraftResult(Result):
    """A draft of the mapping of an export."""

    schema: ClassVar[str] = "humeval_power/import_draft/1"
    endings: ClassVar[tuple[str, ...]] = (".toml",)

    export: Export

    def body(self) -> Document:
        return Document(
            f"A mapping for {self.export.source}",
            lead="Say what is missing, and import with it.",
            sections=(Section("", (Listing(draft_text(self.export)),)),),
        )

    def content(self) -> Record:
        """What the export was taken for, and its columns."""
        return {
            **values(self.export, "source", "platform"),
            "known_by": self.export.why,
            "columns": list(map(str, self.export.frame.columns)),
            "draft": draft_text(self.export),
        }

    def artefact(self, ending: str) -> str:  # noqa: ARG002
        """The draft as TOML."""
        return draft_text(self.export)


# Logs of models' scores that were imported: one table of them, and what each log was read as.

_METRICS_SHOWN = 6


@dataclass(frozen=True, kw_only=True)
class ScoresImportResult(Result):
    """Scores out of logs of harnesses."""

    schema: ClassVar[str] = "humeval_power/import_scores/1"
    endings: ClassVar[tuple[str, ...]] = (".csv",)

    table: LogTable

    @property
    def remarks(self) -> tuple[str, ...]:
        return self.table.said

    @cached_property
    def means(self) -> pd.DataFrame:
        """The mean of each metric, a row for each system, in the order of the logs."""
        frame = self.table.frame
        numbers = frame[list(self.table.scores)].astype(float)
        return numbers.groupby(frame["system"], sort=False).mean()

    def body(self) -> Document:
        frame, logs = self.table.frame, self.table.logs
        metrics = self.table.scores[:_METRICS_SHOWN]
        sizes = frame.groupby("system", sort=False).size()
        means = tuple(
            (str(name), f"{size:,}", *(significant(float(row[metric])) for metric in metrics))
            for size, (name, row) in zip(sizes, self.means.iterrows(), strict=True)
        )
        columns: MappingType[str, Callable[[Log], str]] = {
            "log": lambda log: log.source,
            "system": lambda log: log.system,
            "task": lambda log: log.task,
            "samples": lambda log: f"{len(log.samples):,}",
        }
        shown = logs[:40]
        more = f"and {len(logs) - len(shown):,} more logs." if len(logs) > len(shown) else ""
        return Document(
            f"{counted(len(frame), 'answer')} imported",
            lead=f"The table has {counted(frame['system'].nunique(), 'system')} and "
            f"{counted(frame['item'].nunique(), 'item')}; nothing is compared yet.",
            sections=(
                Section("", (Facts(tuple(self._counts())),)),
                Section(
                    "Means of the samples", (Table(("system", "answers", *map(shortened, metrics)), means),)
                ),
                Section("What was read", (table(shown, columns, more),)),
                Section("What may not be independent", (Points(tuple(self._dependences())),)),
            ),
        )

    def _counts(self) -> Iterator[tuple[str, str]]:
        frame = self.table.frame
        for name in ("run", "task"):
            if name in frame:
                yield f"{name.capitalize()}s", f"{frame[name].nunique():,}"
        yield "Metrics", listing(list(self.table.scores), limit=_METRICS_SHOWN)
        yield "Harness", listing(list(dict.fromkeys(log.harness for log in self.table.logs)))
        logged = [(log.metrics, sample.scores) for log in self.table.logs for sample in log.samples]
        missing = sum(
            scores.get(name) is None
            for known, scores in logged
            for name in self.table.scores
            if name in known
        )
        if missing:
            yield "Scores that are missing", f"{missing:,}"
        reported = [one for log in self.table.logs for one in reported_means(log)]
        if reported:
            n_agree = sum(one.agrees for one in reported)
            yield "Means as the harness reported", f"{n_agree:,} of {len(reported):,}"

    def _dependences(self) -> Iterator[str]:
        frame = self.table.frame
        yield from (one.sentence() for one in self.table.clusters)
        if not self.table.clusters:
            yield (
                "Nothing in the logs looks like clusters of items. Where items share a passage or a document that "
                "the logs do not name, items of one are not independent: put its name into a column."
            )
        if "run" in frame:
            n_runs = frame["run"].nunique()
            yield (
                f"An item has up to {n_runs:,} runs, which are no further items: humeval-power compare runs test "
                "takes them into account."
            )
        if "task" in frame:
            yield "Several tasks are in one table: --dataset task counts over them, --task reads one."

    def content(self) -> Record:
        """Counts, means and what each log was read as; no scores."""
        frame = self.table.frame
        return {
            "n_rows": len(frame),
            "n_systems": frame["system"].nunique(),
            "n_items": frame["item"].nunique(),
            "n_runs": frame["run"].nunique() if "run" in frame else 1,
            "tasks": list(dict.fromkeys(log.task for log in self.table.logs)),
            "metrics": list(self.table.scores),
            "columns": list(map(str, frame.columns)),
            "means": {str(name): dict(row) for name, row in self.means.iterrows()},
            "clusters": [asdict(one) for one in self.table.clusters],
            "logs": [
                {
                    **values(log, "source", "harness"),
                    "known_by": log.why,
                    **values(log, "system", "task"),
                    "n_samples": len(log.samples),
                    "reported": [asdict(one) for one in reported_means(log)],
                    "notices": list(log.notices),
                }
                for log in self.table.logs
            ],
            "notices": list(self.table.notices),
        }

    def to_frame(self) -> pd.DataFrame:
        """The scores, a row for each answer."""
        return self.table.frame.reset_index(drop=True)

    def artefact(self, ending: str) -> str:  # noqa: ARG002
        """The scores as CSV."""
        return table_csv(self.to_frame(), digits=_DIGITS)

    def files(self) -> dict[str, str]:
        """The scores, beside the page."""
        return {"scores.csv": self.artefact(".csv")}

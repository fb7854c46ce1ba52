"""How a file of ratings is read: what stands in it, what each column is taken for, and what comes of it.

How a table of texts to rate is read: what each column is taken for, put right on the page, and written as it is
read.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from humeval_power.checking.cells import MISSING_CODES
from humeval_power.checking.columns import bare, listing, shortened
from humeval_power.checking.exports.imported import imported
from humeval_power.checking.exports.mapping import EXTRAS, FIELDS, Export
from humeval_power.checking.exports.mapping import Mapping as ColumnMapping
from humeval_power.checking.exports.rating_blocks import answers_in_words
from humeval_power.checking.outputs import ITEM_COLUMNS, SOURCE_COLUMNS, TEXT_COLUMNS, outputs_of_table
from humeval_power.choices import TITLES
from humeval_power.doors.page.requests import on_page
from humeval_power.doors.page.workspace.studies import MAPPING, OpenedStudy, paths_of, version_of
from humeval_power.errors import InputError, Problem
from humeval_power.fields import typed_list
from humeval_power.files.exports.mapping_file import mapping_text, parsed_mapping
from humeval_power.files.exports.platforms import read_export
from humeval_power.files.exports.proposal import (
    ITEM_SYSTEM,
    ONE_BY_ONE,
    RATING,
    SYSTEM_ITEM,
    Choices,
    Family,
    choices_of,
    families,
    mapping_of,
    points_in,
    proposed,
    shown_parts,
)
from humeval_power.files.tables import read_table
from humeval_power.safe_text import table_csv
from humeval_power.saying.numbers import counted
from humeval_power.studies.plan.assignment import numbered

PARTS = ("worker", "item", "system", "criterion")
ROLES: Mapping[str, str] = {
    "": "not used",
    RATING: "the rating",
    "worker": "who rated: the worker",
    "item": "what was rated: the item",
    "system": "which system made it",
    ITEM_SYSTEM: "item and system in one",
    SYSTEM_ITEM: "system and item in one",
    "criterion": "the criterion",
    "document": "the document of the item",
    "time_s": "seconds that it took",
    "timestamp": "when it was given",
    "status": "the status",
    "batch": "the batch",
}
DIFFER: Mapping[str, str] = {
    "": "other columns say what they show",
    "criterion": "each is a criterion",
    "system": "each is a system",
    "worker": "each is a worker",
    "item": "each is an item",
    ONE_BY_ONE: "as said below for each",
}
_MOST_ROWS, _MOST_CELL, _MOST_WORDS, _MOST_SLOTS, _MOST_VALUES = 4, 40, 60, 400, 12
_NO_RATING = {code.casefold() for code in MISSING_CODES}
_FILTERS = ("finished", "approve", "reject", "type", "itemtype", "wascancelled")


@dataclass(frozen=True, slots=True)
class ColumnShown:
    """A column, or several that hold the same: its name for choices, its label, what stands in it."""

    name: str
    label: str
    n: int
    samples: tuple[str, ...]
    question: str = ""


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is wrong with a reading: beside a column, a part of a rating, an answer in words, or all of it."""

    text: str
    column: str = ""
    part: str = ""
    word: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """A file or several, how they are read, and what comes of it.

    is_chosen : whether a person has said how. mapping : as a file. version : of the file that says it.
    head : names and first rows.
    proposed : columns whose role is a proposal. slots : of columns of ratings: slot, column, question.
    words : answers that are no numbers, with how often they stand there.
    filters : columns whose rows may be left out, by what stands in them and how often.
    files : where there are several, each with its rows and how it differs from the first. version, head, columns,
        families and what is left out are those of files that do not differ.
    flow : what was read, left out and why. systems, criteria : with their ratings.
    """

    source: str
    platform: str
    known: str
    n_rows: int
    is_chosen: bool
    mapping: str
    version: str
    head: tuple[tuple[str, ...], ...]
    columns: tuple[ColumnShown, ...]
    families: tuple[Family, ...]
    choices: Choices
    proposed: tuple[str, ...]
    slots: tuple[tuple[str, str, str], ...]
    words: tuple[tuple[str, int], ...]
    filters: tuple[tuple[str, tuple[tuple[str, int], ...]], ...]
    flow: tuple[tuple[str, int, str], ...] = ()
    n_ratings: int = 0
    n_workers: int = 0
    n_items: int = 0
    systems: tuple[tuple[str, int], ...] = ()
    criteria: tuple[tuple[str, int], ...] = ()
    troubles: tuple[Trouble, ...] = ()
    files: tuple[tuple[str, int, str], ...] = ()

    @property
    def of_what(self) -> str:
        """How many workers, items, systems and criteria the ratings are of."""
        sizes = [(self.n_workers, "worker"), (self.n_items, "item"), (len(self.systems), "system")]
        said = [counted(n, name) for n, name in sizes]
        if self.criteria:
            n = len(self.criteria)
            said.append(f"{n} {'criterion' if n == 1 else 'criteria'}")
        return ", ".join(said)

    @property
    def ratings(self) -> tuple[Family, ...]:
        """The columns of ratings."""
        return tuple(one for one in self.families if self.choices.roles.get(one.name) == RATING)

    @property
    def parts(self) -> tuple[str, ...]:
        """What is said for each column or slot of ratings."""
        return shown_parts(self.choices, self.ratings) if self.ratings else ()

    @property
    def differs(self) -> Mapping[str, str]:
        """In what columns of ratings can differ."""
        return DIFFER

    @property
    def may_differ(self) -> bool:
        """Whether there are several columns of ratings."""
        return len(self.ratings) > 1 or any(not one.is_one for one in self.ratings)

    @property
    def is_wide(self) -> bool:
        """Whether a row holds ratings of several workers, items or systems."""
        return self.may_differ and self.choices.differ != "criterion"

    @property
    def is_labelled(self) -> bool:
        """Whether each family of ratings is a criterion of its own."""
        families = self.ratings
        several = len(families) > 1
        return several and (self.choices.differ == "criterion" or any(not one.is_one for one in families))

    def points(self, word: str) -> str:
        """The points of an answer in words, as one would type them."""
        points = {text.casefold(): number for text, number in self.choices.words.items()}
        return f"{points[word.casefold()]:g}" if word.casefold() in points else ""

    def roles_of(self, name: str) -> Mapping[str, str]:
        """What a column can be."""
        now = self.choices.roles.get(name, "")
        return ROLES if now in ROLES else {**ROLES, now: now.replace("_", " ")}


def reading_of(export: Export, written: str, together: Sequence[str] = ()) -> Reading:
    """How an export is read by a mapping, as it is written; with none by what its reader knows and may be.

    together : the paths of others that are read by the same mapping.
    """
    alike, people = [export], list[Export]()
    files = [(export.source, len(export.frame), "")] if together else []
    for path in together:
        other, why = _beside(export, path)
        files.append((Path(path).name, 0 if other is None else len(other.frame), why))
        if other is not None and not why:
            (people if other.people else alike).append(other)
    first, export = export, replace(export, frame=pd.concat([one.frame for one in alike]))
    mapping = parsed_mapping(written, place=MAPPING)[0] if written else None
    those = families(export, mapping)
    guesses: tuple[str, ...] = ()
    if mapping is None:
        said, guesses = proposed(export, those)
    else:
        said = choices_of(mapping, export.frame, those)
    before = mapping or export.mapping
    troubles = list(_first_row(export.frame, said, those)) if mapping is None else []
    made: ColumnMapping | None = None
    words: tuple[tuple[str, int], ...] = ()
    try:
        made = mapping_of(said, those, before)
        found, _ = answers_in_words(export.frame, replace(made, missing=()), made.ratings)
        words = tuple(found.most_common())
        if mapping is None:
            points = {text: number for text, _ in words if (number := points_in(text)) is not None}
            none = (text for text, _ in words if text.casefold() in _NO_RATING)
            said = replace(said, words={**points, **said.words}, missing=(*said.missing, *none))
            made = mapping_of(said, those, before)
    except InputError as error:
        troubles += [Trouble(_words_of(one), one.column or "") for one in error.problems]
    titles = {str(name): title for name, title in TITLES.items()}
    shown = Reading(
        source=export.source,
        platform=export.platform,
        known=f"{titles.get(export.platform, export.platform)}: {export.why}",
        n_rows=len(export.frame),
        is_chosen=mapping is not None,
        mapping=mapping_text(made, export.platform) if made else "",
        version=version_of(written),
        head=tuple(first_rows(export.frame)),
        columns=tuple(_column(one, export) for one in those),
        families=those,
        choices=said,
        proposed=guesses,
        slots=tuple(_slots(export, said, those)),
        words=words[:_MOST_WORDS],
        filters=tuple(_filters(export.frame, said, those)),
        troubles=(*(Trouble(f"{name} {why}") for name, _, why in files if why), *troubles),
        files=tuple(files),
    )
    return shown if made is None else _tried(shown, [first, *alike[1:], *people], made)


def _first_row(frame: pd.DataFrame, said: Choices, those: Sequence[Family]) -> Iterator[Trouble]:
    """That the names of all columns stand below them too: of a table that begins with its first rating."""
    names = [next(iter(one.slots)) for one in those if one.is_one and said.roles.get(one.name)]
    if len(names) > 2 and all(
        (frame[name].astype(str).str.strip() == name.strip()).any() for name in names
    ):
        yield Trouble(
            f"The first row seems to be no row of names: {listing(names)} stand in the rows below it too. Write a "
            "row of names above it, and bring the file again."
        )


def _beside(first: Export, path: str) -> tuple[Export | None, str]:
    """An export that is brought with another, and how it differs from that; "" where it does not."""
    try:
        other = read_export(path, platform=first.platform)
    except InputError as error:
        return None, f"cannot be read as {first.source} is: {_words_of(error.problems[0])} Untick it."
    if other.people:  # who the workers are
        return other, ""
    names, there = list(map(str, first.frame.columns)), set(map(str, other.frame.columns))
    absent = [repr(name) for name in names if name not in there]
    more = [repr(name) for name in map(str, other.frame.columns) if name not in names]
    if not absent and not more:
        return other, ""
    said = [f"has no column {listing(absent, limit=4)}"] if absent else []
    said += [f"has {listing(more, limit=4)} besides"] if more else []
    return other, f"differs from {first.source}: it {' and '.join(said)}. Untick it, or bring it again."


def _tried(shown: Reading, exports: Sequence[Export], mapping: ColumnMapping) -> Reading:
    """The same with what comes of it."""
    try:
        table = imported(exports, mapping)
    except InputError as error:
        return replace(shown, troubles=(*shown.troubles, *_troubles(error.problems, shown)))
    frame = table.frame
    lost: Counter[tuple[str, str]] = Counter()
    for flow in table.flows:
        lost.update({(one.step, one.reason): one.rows for one in flow.flow})
    return replace(
        shown,
        flow=tuple((step, rows, reason) for (step, reason), rows in lost.items()),
        n_ratings=len(frame),
        n_workers=frame["worker"].nunique(),
        n_items=frame["item"].nunique() if "item" in frame else 0,
        systems=_counted(frame, "system"),
        criteria=_counted(frame, "criterion"),
    )


def _counted(frame: pd.DataFrame, part: str) -> tuple[tuple[str, int], ...]:
    return (
        tuple((str(name), int(n)) for name, n in frame[part].value_counts(sort=False).items())
        if part in frame
        else ()
    )


def first_rows(frame: pd.DataFrame) -> Iterator[tuple[str, ...]]:
    """The names of the columns, then the first rows."""
    yield tuple(str(name) for name in frame.columns)
    for row in frame.head(_MOST_ROWS).fillna("").astype(str).itertuples(index=False, name=None):
        yield tuple(shortened(cell, width=_MOST_CELL) for cell in row)


def _column(one: Family, export: Export) -> ColumnShown:
    names = list(one.slots)
    cells = (str(cell).strip() for name in names[:3] for cell in export.frame[name].fillna("").head(50))
    samples = list(dict.fromkeys(shortened(cell, width=24) for cell in cells if cell))[:3]
    label = names[0] if len(names) == 1 else f"{names[0]} \u2026 {names[-1]}"
    return ColumnShown(
        one.name, label, len(names), tuple(samples), shortened(export.questions.get(names[0], ""), width=80)
    )


def _slots(export: Export, said: Choices, those: Sequence[Family]) -> Iterator[tuple[str, str, str]]:
    chosen = [one for one in those if said.roles.get(one.name) == RATING]
    singles = len(chosen) > 1 and all(one.is_one for one in chosen)
    results: dict[str, tuple[str, str, str]] = {}
    for one in chosen:
        for column, slot in one.slots.items():
            if singles or not one.is_one:
                results.setdefault(
                    slot, (slot, column, shortened(export.questions.get(column, ""), width=80))
                )
    yield from list(results.values())[:_MOST_SLOTS]


def _filters(
    frame: pd.DataFrame, said: Choices, those: Sequence[Family]
) -> Iterator[tuple[str, tuple[tuple[str, int], ...]]]:
    """Columns of a status, and blank cells in the columns of a part."""
    parts = {
        column for one in those if said.roles.get(one.name) in PARTS and one.is_one for column in one.slots
    }
    for name in map(str, frame.columns):
        cells = Counter(frame[name].fillna("").astype(str).str.strip())
        if name in parts:
            if cells[""]:
                yield name, (("", cells[""]),)
            continue
        is_status = "status" in bare(name) or bare(name) in _FILTERS or name in said.left_out
        if is_status and 1 < len(cells) <= _MOST_VALUES:
            yield name, tuple(cells.most_common())


def _troubles(problems: Sequence[Problem], shown: Reading) -> Iterator[Trouble]:
    """What an import refuses, beside what it is about."""
    words = {text.casefold(): text for text, _ in shown.words}
    for one in problems:
        word = words.get(str(one.value).strip().casefold(), "") if one.lacks == "points" else ""
        column = next((each.name for each in shown.families if one.column in each.slots), "")
        if word:
            yield Trouble("How many points is each of these? Or tick that it is no rating.", word=word)
        elif one.lacks == "column":
            yield from (Trouble(f"Which column is the {part}?", part=part) for part in one.parts)
        elif one.lacks == "cell":
            said = f"{one.rule.capitalize()} Leave these rows out, or take another column."
            yield from (Trouble(said, part=part) for part in one.parts)
        else:
            yield Trouble(_words_of(one), column=column)


def _words_of(problem: Problem) -> str:
    return on_page(f"{problem.rule} {problem.remedy}".strip())


# What is sent by the form of a reading.


def chosen(reading: Reading, sent: Mapping[str, Sequence[str]]) -> Choices:
    """The choices of a form; what it does not hold stays."""

    def one(name: str) -> str:
        return (sent.get(name) or [""])[0].strip()

    now = reading.choices
    roles = {each.name: one(f"role-{place}") for place, each in enumerate(reading.columns)}
    ratings = {name for name, role in roles.items() if role == RATING}
    differ = one("differ")
    if ratings != set(now.of(RATING)):  # which columns these are is a question of its own
        differ = _differ(reading, ratings, roles)
    slots: dict[str, dict[str, str]] = {}
    for place, (slot, *_) in enumerate(reading.slots):
        said = {part: text for part in FIELDS if (text := one(f"slot-{place}-{part}"))}
        slots[slot] = said if differ in (now.differ, ONE_BY_ONE) else {}
    words: dict[str, float] = {}
    missing = [code for code in now.missing if code not in dict(reading.words)]
    for place, (text, _) in enumerate(reading.words):
        number = _number(one(f"word-{place}"))
        if one(f"none-{place}"):
            missing.append(text)
        elif number is not None:
            words[text] = number
    left_out: dict[str, tuple[str, ...]] = {}
    shown = set()
    for place, (column, values) in enumerate(reading.filters):
        kept = set(sent.get(f"keep-{place}", ()))
        gone = tuple(text for number, (text, _) in enumerate(values) if str(number) not in kept)
        shown.add(column)
        if gone:
            left_out[column] = gone
    left_out |= {column: texts for column, texts in now.left_out.items() if column not in shown}
    return Choices(
        roles={name: role for name, role in roles.items() if role and (role in ROLES or role in EXTRAS)},
        marks={
            each.name: one(f"mark-{place}") or now.marks.get(each.name, "")
            for place, each in enumerate(reading.columns)
        },
        labels={
            each.name: one(f"label-{place}")
            for place, each in enumerate(reading.columns)
            if each.name in ratings
        },
        differ=differ if differ in DIFFER else "",
        slots={slot: parts for slot, parts in slots.items() if parts},
        words=words,
        missing=tuple(dict.fromkeys(missing)),
        left_out=left_out,
    )


def _differ(reading: Reading, ratings: set[str], roles: Mapping[str, str]) -> str:
    """How columns of ratings differ that were chosen just now: in what no column says."""
    if len(ratings) < 2 and all(one.is_one for one in reading.families if one.name in ratings):
        return ""
    used = set(roles.values())
    if used & {ITEM_SYSTEM, SYSTEM_ITEM}:
        used |= {"item", "system"}
    missing = [part for part in ("item", "system", "worker") if part not in used]
    if len(missing) > 1:
        return ONE_BY_ONE
    if missing:
        return missing[0]
    return "criterion" if len(ratings) > 1 else ""


def _number(text: str) -> float | None:
    try:
        value = float(text.replace(",", "."))
    except ValueError:
        return None
    return value if abs(value) < 1e9 else None


def named_of(study: OpenedStudy, reading: Reading, sent: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The fields of the study that name files, systems and criteria, as they are ticked.
    Raises InputError: no file, fewer than two systems, or no criterion."""
    results: dict[str, str] = {}
    if "ticks-file" in sent:
        exports = paths_of(study.file.values.get("exports", ()))
        kept = [path for place, path in enumerate(exports) if str(place) in set(sent.get("file", ()))]
        if not kept:
            raise InputError([Problem("One file at least is read.", "Tick one.")])
        results["exports"] = ", ".join(kept)
    if "ticks-system" in sent:
        names = _ticked(reading.systems, sent.get("system", ()))
        before = list(study.file.values.get("systems") or [])
        if len(names) < 2:
            raise InputError(
                [Problem("Two systems at least are compared.", "Tick another.", column="system")]
            )
        if before or len(names) < len(reading.systems):
            results["systems"] = typed_list(sorted(names, key=lambda one: [*before, one].index(one)))
    if "ticks-criterion" in sent:
        names = _ticked(reading.criteria, sent.get("criterion", ()))
        if not names:
            raise InputError(
                [Problem("One criterion at least is tested.", "Tick one.", column="criterion")]
            )
        several = len(names) > 1
        results |= {
            "criteria": typed_list(names) if several else "",
            "criterion": "" if several else names[0],
        }
    return results


def _ticked(there: Sequence[tuple[str, int]], ticks: Iterable[str]) -> list[str]:
    """The names whose boxes are ticked, by their places."""
    places = set(ticks)
    return [name for place, (name, _) in enumerate(there) if str(place) in places]


def with_problems(reading: Reading, said: Choices, problems: Sequence[Problem]) -> Reading:
    """The reading as it is chosen, with what is wrong with that."""
    names = {one.name for one in reading.families}
    troubles = tuple(
        Trouble(_words_of(one), column=one.column or "")
        if one.column in names or one.column not in PARTS
        else Trouble(_words_of(one), part=one.column or "")
        for one in problems
    )
    return replace(
        reading, choices=said, troubles=troubles, is_chosen=True, n_ratings=0, systems=(), criteria=()
    )


def said_of(reading: Reading, said: Choices) -> str:
    """The mapping that these choices are, as a file.
    Raises InputError: choices that do not go together; `column` is the family that one is about."""
    before = parsed_mapping(reading.mapping, place=MAPPING)[0] if reading.mapping else None
    return mapping_text(mapping_of(said, reading.families, before), reading.platform)


LEFT_OUT, ITEM, SOURCE, SYSTEM, WHICH, TEXT = "", "item", "source", "system", "which", "text"
_OF = "system:"  # of a role: the system of the study whose texts a column holds
TEXT_ROLES: Mapping[str, str] = {
    LEFT_OUT: "left out",
    ITEM: "the name of the item",
    SOURCE: "what stands above: source text, prompt",
    SYSTEM: "the texts of a system",
    WHICH: "which system it is, row by row",
    TEXT: "the texts, row by row",
}
# What is above texts, as its column is often called; the first of them are read so without being asked.
_ABOVE = (*SOURCE_COLUMNS, "prompt", "input", "question", "article", "context", "src", "instruction")
_MOST_COLUMNS = 60


@dataclass(frozen=True, slots=True)
class TextsRead:
    """A table of texts, what each column is taken for, and what comes of it.

    names : of the systems of the study; none where nothing says them yet. roles : by the names of columns.
    is_as_it_is : whether the table says all that by itself. problems : why it cannot be read so.
    items : how many there are. systems : whose texts they are. above : the column of what stands above them.
    planned : how many items there should be; 0 where nobody has said it. is_sealed : whether a sealed plan says it.
    first : what a worker would see first: what stands above, and the text below.
    written : the table as it is read, where that was asked for.
    """

    source: str
    columns: tuple[ColumnShown, ...]
    head: tuple[tuple[str, ...], ...]
    names: tuple[str, ...]
    roles: Mapping[str, str]
    is_as_it_is: bool = False
    problems: tuple[str, ...] = ()
    items: int = 0
    systems: tuple[str, ...] = ()
    above: str = ""
    planned: int = 0
    is_sealed: bool = False
    first: tuple[str, str] = ("", "")
    written: str = ""

    @property
    def misses(self) -> str:
        """That there are other items than were planned, and what to do; "" where there are as many."""
        if not self.items or not self.planned or self.items == self.planned:
            return ""
        whose = "the sealed plan" if self.is_sealed else "the study"
        here = f"{counted(self.items, 'item')} in the file, and {self.planned:,} in {whose}"
        if self.items > self.planned:
            return (
                f"{here}: have {self.planned:,} chosen, or take {self.items - self.planned:,} out of the file by a "
                "rule that does not look at how good the texts are."
            )
        return (
            f"{here}: bring the other {self.planned - self.items:,} too, or plan for {self.items:,}. With fewer "
            "items a difference is missed more often."
        )

    @property
    def said(self) -> str:
        """What comes of it, in a line."""
        above = f", with \u201c{self.above}\u201d above them" if self.above else ""
        return f"{counted(self.items, 'item')}, texts of {listing(list(self.systems), limit=8)}{above}"

    @property
    def kinds(self) -> Mapping[str, str]:
        """What a column can be: the texts of each system of the study by its name."""
        if not self.names:
            return TEXT_ROLES
        named = {f"{_OF}{name}": f"the texts of {name}" for name in self.names}
        return {
            role: words
            for one in TEXT_ROLES
            for role, words in (named.items() if one == SYSTEM else ((one, TEXT_ROLES[one]),))
        }


def planned(plan: str) -> tuple[tuple[str, ...], int]:
    """The names of the systems in a sealed plan, a file or its folder, and how many items it has; none and 0 where
    it does not say it."""
    place = Path(plan, "plan.json") if Path(plan).is_dir() else Path(plan)
    try:
        study = json.loads(place.read_text("utf-8"))["study"]
        names, n_items = study["systems"], study.get("items")
        return (
            tuple(map(str, names)) if isinstance(names, list) else (),
            n_items if type(n_items) is int else 0,
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return (), 0


def texts_read(path: str, names: Sequence[str], said: Mapping[str, str] | None = None) -> TextsRead:
    """How a table of texts is read for a study of systems of these names.

    said : what each column is, as somebody chose it; the table is written then, if it can be.
    Raises InputError: a table that cannot be read, or has too many columns.
    """
    table = read_table(path)
    frame = table.frame.fillna("").astype(str)
    frame.columns = [str(name) for name in frame.columns]
    if len(frame.columns) > _MOST_COLUMNS:
        rule = f"has {len(frame.columns)} columns, more than {_MOST_COLUMNS}."
        raise InputError([Problem(rule, "Leave out those that are no texts.", table.source)])
    roles = _proposed(frame, names) if said is None else {one: said.get(one, "") for one in frame.columns}
    shown = TextsRead(
        source=table.source,
        columns=tuple(_text_column(name, frame[name]) for name in frame.columns),
        head=tuple(first_rows(frame)),
        names=tuple(names),
        roles=roles,
    )
    problems = tuple(_missing(shown))
    if problems:
        return replace(shown, problems=problems)
    called = {ITEM: ITEM, SOURCE: SOURCE, WHICH: "system", TEXT: TEXT}
    made = pd.DataFrame(
        {ITEM: numbered("i", len(frame))}, index=frame.index
    )  # where no column names the items
    for name, role in roles.items():
        if role != LEFT_OUT:
            made[called.get(role) or (name if role == SYSTEM else role.removeprefix(_OF))] = frame[name]
    try:
        outputs = outputs_of_table(made, origin=table.source)
    except InputError as error:
        return replace(shown, problems=tuple(on_page(str(one)) for one in error.problems))
    wanted = [
        name if role == SYSTEM else role.removeprefix(_OF) for name, role in roles.items() if _is_wide(role)
    ]
    if wanted and set(outputs.systems) != set(wanted):
        words = f"A system cannot be called {listing([repr(one) for one in wanted], limit=4)} in a table of texts."
        return replace(shown, problems=(f"{words} Give the column another name in the file.",))
    if absent := [name for name in names if name not in outputs.systems]:
        return replace(shown, problems=(f"Which column holds the texts of {listing(absent)}?",))
    if more := [name for name in outputs.systems if names and name not in names]:
        words = f"The study compares {listing(list(names))}: leave out {listing(more, limit=8)}"
        return replace(shown, problems=(f"{words}, or call them so in the file.",))
    return replace(
        shown,
        is_as_it_is=_is_as_it_is(table.frame, outputs.texts, outputs.sources),
        items=len(outputs.items),
        systems=outputs.systems,
        above=next((name for name, role in roles.items() if role == SOURCE), ""),
        first=(
            outputs.sources.get(outputs.items[0], ""),
            outputs.texts[outputs.items[0], outputs.systems[0]],
        ),
        written=""
        if said is None
        else table_csv(made),  # whose reader takes the guards of formulas off again
    )


def _text_column(name: str, cells: pd.Series[str]) -> ColumnShown:
    samples = [shortened(text, width=48) for text in dict.fromkeys(cells.str.strip()) if text][:2]
    return ColumnShown(name, name, 1, tuple(samples))


def _proposed(frame: pd.DataFrame, names: Sequence[str]) -> dict[str, str]:
    """What each column is by its name: a system of the study, an item, a source; others are systems where nobody
    has named these."""
    known = {bare(name): name for name in names}
    by_bare = {bare(name): name for name in frame.columns}
    roles: dict[str, str] = {}
    text = next((by_bare[one] for one in TEXT_COLUMNS if one in by_bare), None)
    is_long = "system" in by_bare and text is not None
    item = next((by_bare[one] for one in ITEM_COLUMNS if one in by_bare), None)
    source = next((by_bare[one] for one in _ABOVE if one in by_bare and one not in known), None)
    for name in frame.columns:
        if is_long:
            roles[name] = WHICH if name == by_bare["system"] else TEXT if name == text else LEFT_OUT
        elif known:
            roles[name] = f"{_OF}{known[bare(name)]}" if bare(name) in known else LEFT_OUT
        else:
            roles[name] = SYSTEM
        if name == item:
            roles[name] = ITEM
        elif name == source:
            roles[name] = SOURCE
    return roles


def _missing(shown: TextsRead) -> Iterator[str]:
    """What is there twice, or not at all."""
    roles = list(shown.roles.values())
    for role in (ITEM, SOURCE, WHICH, TEXT, *(f"{_OF}{name}" for name in shown.names)):
        columns = [name for name, one in shown.roles.items() if one == role]
        if len(columns) > 1:
            yield f"{listing(columns)} cannot both be {shown.kinds[role]}: leave one out, or choose what it is."
    wide = [role for role in roles if _is_wide(role)]
    if (WHICH in roles) != (TEXT in roles) or (WHICH in roles and wide):
        yield (
            "A table has a column of texts for each system; or one column that says which system a row is of, and "
            "one with the texts."
        )
    elif WHICH not in roles and shown.names:
        absent = [name for name in shown.names if f"{_OF}{name}" not in roles]
        if absent:
            yield f"Which column holds the texts of {listing(absent)}?"
    elif WHICH not in roles and len(wide) < 2:
        yield "Which columns hold the texts of the systems? Two at least are compared."
    if WHICH in roles and ITEM not in roles:
        yield "Which column is the name of the item? It says which texts belong together."


def _is_wide(role: str) -> bool:
    """Whether a column holds the texts of one system."""
    return role == SYSTEM or role.startswith(_OF)


def _is_as_it_is(
    frame: pd.DataFrame, texts: Mapping[tuple[str, str], str], sources: Mapping[str, str]
) -> bool:
    try:
        before = outputs_of_table(frame, origin="")
    except InputError:
        return False
    return dict(before.texts) == dict(texts) and dict(before.sources) == dict(sources)

"""How a file of ratings is read: what stands in it, what each column is taken for, and what comes of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from humeval_power.checking.cells import MISSING_CODES
from humeval_power.checking.columns import bare, listing, shortened
from humeval_power.checking.exports.export import Export
from humeval_power.checking.exports.imported import imported
from humeval_power.checking.exports.mapping import EXTRAS
from humeval_power.checking.exports.mapping import Mapping as ColumnMapping
from humeval_power.checking.exports.rating_blocks import answers_in_words
from humeval_power.checking.exports.templates import FIELDS
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
from humeval_power.saying.numbers import counted

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

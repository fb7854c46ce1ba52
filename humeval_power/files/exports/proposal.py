"""What the columns of an export are: as its reader knows them, and beyond that a proposal for a person to check."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from humeval_power.checking.cells import MISSING_CODES, read_cells, read_numbers
from humeval_power.checking.columns import ITEM_NUMBERS, bare
from humeval_power.checking.exports.mapping import (
    FIELDS,
    SLOT,
    Condition,
    Export,
    RatingColumns,
    Template,
    literal,
)
from humeval_power.checking.exports.mapping import Mapping as ColumnMapping
from humeval_power.checking.wide import CRITERIA
from humeval_power.errors import Problem, refuse
from humeval_power.files.exports.platform import slot_templates

RATING = "rating"
ITEM_SYSTEM, SYSTEM_ITEM = "item+system", "system+item"  # both in the text of one column
ONE_BY_ONE = "each"  # how columns of ratings differ, where it is said of each
_WHOLE = Template("{slot}")  # a column of ratings by all of its name
_MISSING = tuple(code for code in MISSING_CODES if code)
_MOST_POINTS, _MOST_SYSTEMS = 101, 20
_NUMBERS = frozenset(map(bare, ITEM_NUMBERS))
_NO_RATING = re.compile(
    r"(.*(id|number|time|times|date|age|seconds|minutes|duration|index|count|order|batch|hit|progress|finished))?"
)
_POINTS_IN_WORDS = re.compile(
    r"\(?(-?\d+(?:[.,]\d+)?)\)?\s*[-=:.)\u2013\u2014]?\s+\D.*|\D+\((-?\d+(?:[.,]\d+)?)\)"
)
_DATE = re.compile(
    r"((19|20)\d\d[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.](19|20)\d\d)([T, ]+\d{1,2}:\d\d.*)?"
)
_COMMA = re.compile(r"-?\d+,\d+")
_MARKS = ("__", "::", "|", "#", "/", "_", "-", ".", " ")


@dataclass(frozen=True, slots=True)
class Family:
    """Columns that hold the same: one, or those whose names differ in a slot alone.

    slots : what tells each of them apart, by its name; of one alone its name.
    """

    template: Template
    slots: Mapping[str, str]

    @property
    def name(self) -> str:
        """What choices call it."""
        return self.template.text

    @property
    def is_one(self) -> bool:
        """Whether it is a single column."""
        return not self.template.parts


@dataclass(frozen=True)
class Choices:
    """What each column is, as a person chooses it.

    roles : of families by their names: a part of a rating, RATING, or ITEM_SYSTEM, SYSTEM_ITEM.
    marks : what stands between item and system, by the family that holds both.
    labels : the criterion of a family of ratings.
    differ : the part in which columns of ratings differ; ONE_BY_ONE where `slots` say several; "" where other
        columns say what they show.
    slots : what each column or slot of ratings shows.
    words : the points of answers in words. missing : answers that are no rating.
    left_out : rows that are left out, by what stands in a column.
    """

    roles: Mapping[str, str] = field(default_factory=dict)
    marks: Mapping[str, str] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    differ: str = ""
    slots: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    words: Mapping[str, float] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def of(self, role: str) -> list[str]:
        """The families of a role."""
        return [name for name, one in self.roles.items() if one == role]

    @property
    def parts_known(self) -> set[str]:
        """The parts of a rating that columns say."""
        both = {"item", "system"} if self.of(ITEM_SYSTEM) or self.of(SYSTEM_ITEM) else set()
        return {role for role in self.roles.values() if role in FIELDS} | both


def families(export: Export, mapping: ColumnMapping | None = None) -> tuple[Family, ...]:
    """The columns of an export in their order, those together that its reader, a mapping or their names put so."""
    names = [str(name) for name in export.frame.columns]
    family: dict[str, Family] = {}
    known = [one for each in (export.mapping, mapping) if each is not None for one in _templates(each)]
    by_name = [Template(text) for text in slot_templates(names)]
    for template in (*known, *by_name):
        if template.parts not in ((), (SLOT,)) or template == _WHOLE:
            continue
        fitting = [
            (name, parts)
            for name in names
            if name not in family and (parts := template.match(name)) is not None
        ]
        if fitting:
            one = Family(template, {name: parts.get(SLOT, name) for name, parts in fitting})
            family |= {name: one for name, _ in fitting}
    return tuple({family[name].name: family[name] for name in names if name in family}.values())


def _templates(mapping: ColumnMapping) -> Iterator[Template]:
    """Those with a slot first: they hold several columns."""
    every = [*(one.template for one in mapping.ratings), *mapping.columns.values()]
    yield from sorted(every, key=lambda one: not one.parts)


# Between choices and mappings.


def choices_of(mapping: ColumnMapping, frame: pd.DataFrame, those: Sequence[Family]) -> Choices:
    """What a mapping says, as choices."""
    names = {one.name for one in those}
    roles = {one.text: part for part, one in mapping.columns.items() if one.text in names}
    marks: dict[str, str] = {}
    for column, template in mapping.split.items():
        both = tuple(template.parts)
        if both in (("item", "system"), ("system", "item")) and literal(column).text in names:
            roles[literal(column).text] = "+".join(both)
            marks[literal(column).text] = template.text.replace(f"{{{both[0]}}}", "").replace(
                f"{{{both[1]}}}", ""
            )
    labels: dict[str, str] = {}
    slots: dict[str, dict[str, str]] = {slot: dict(parts) for slot, parts in mapping.slots.items()}
    claimed = {*roles, *(literal(name).text for name in _aside(mapping))}
    for one in mapping.ratings:
        if one.template.text in names:
            roles[one.template.text] = RATING
            labels[one.template.text] = one.criterion or ""
            continue
        for each in those:
            parts = one.template.match(next(iter(each.slots))) if each.is_one else None
            if parts is None or each.name in claimed or each.name in roles:
                continue
            (column,) = each.slots
            said = {part: text for part, text in parts.items() if part in FIELDS}
            slots.setdefault(column, {}).update(said)
            roles[each.name] = RATING
    kinds = {part for parts in slots.values() for part in parts}
    ratings = [name for name, role in roles.items() if role == RATING]
    differ = next(iter(kinds)) if len(kinds) == 1 else ONE_BY_ONE if kinds else ""
    if not differ and len(ratings) > 1 and all(labels.get(name) for name in ratings):
        differ = "criterion"
    left_out = {
        one.column: one.values if one.drop else tuple(_others(frame[one.column], one.values))
        for one in mapping.where
        if one.column in frame and (one.values or not one.drop)
    }
    return Choices(roles, marks, labels, differ, slots, dict(mapping.words), mapping.missing, left_out)


def _aside(mapping: ColumnMapping) -> Iterator[str]:
    """The columns that a mapping names beside those of the parts of a rating."""
    yield from (*mapping.keep, *mapping.checks, *mapping.split)
    yield from (one.column for one in mapping.where)


def _others(column: pd.Series, values: Iterable[str]) -> Iterator[str]:
    """What stands in a column besides these."""
    kept = {text.casefold() for text in values}
    return (text for text in _texts(column) if text.casefold() not in kept)


def mapping_of(
    said: Choices, those: Sequence[Family], before: ColumnMapping | None = None
) -> ColumnMapping:
    """The mapping of what was chosen; what choices do not tell stays as it was before.
    Raises InputError: two columns of one part, or none of ratings; `column` of a problem is the family that it is
    about."""
    by_name = {one.name: one for one in those}
    roles = {name: role for name, role in said.roles.items() if name in by_name and role}
    problems: list[Problem] = []
    columns: dict[str, Template] = {}
    split: dict[str, Template] = {}
    for name, role in roles.items():
        if role == RATING:
            continue
        if role in (ITEM_SYSTEM, SYSTEM_ITEM):
            first, second = role.split("+")
            split[next(iter(by_name[name].slots))] = Template(
                f"{{{first}}}{said.marks.get(name) or '_'}{{{second}}}"
            )
        elif role in columns:
            problems.append(
                Problem(f"Another column is the {role} too.", "Choose one of them.", column=name)
            )
        else:
            columns[role] = by_name[name].template
    chosen = [by_name[name] for name, role in roles.items() if role == RATING]
    errors = None if before is None else before.errors
    if not chosen and errors is None:
        problems.append(Problem("No column holds the ratings yet.", "Choose the one that does, or those."))
    refuse(problems)
    ratings, slots = ((), {}) if errors is not None else _ratings(said, chosen)
    used = {column for one in chosen for column in one.slots}
    named = {column for name in roles for column in by_name[name].slots if by_name[name].is_one}
    kept = before or ColumnMapping(ratings=(RatingColumns(_WHOLE),))
    aside = {*split, *kept.keep, *kept.checks, *(one for one in named if one not in used), *said.left_out}
    strays = [
        column
        for one in those
        for column in one.slots
        if column not in used | aside and any(each.template.match(column) is not None for each in ratings)
    ]
    left_out = {**said.left_out, **dict.fromkeys(strays, ())}
    other = {
        name: one for name, one in kept.split.items() if literal(name).text not in by_name and not slots
    }
    return replace(
        kept,
        ratings=ratings,
        columns=columns,
        split={**other, **split},
        slots=slots,
        words=dict(said.words),
        missing=said.missing,
        where=tuple(Condition(column, values, drop=True) for column, values in left_out.items()),
        keep=tuple(name for name in kept.keep if name not in used),
    )


def _ratings(
    said: Choices, chosen: Sequence[Family]
) -> tuple[tuple[RatingColumns, ...], dict[str, dict[str, str]]]:
    """The columns of ratings, and what is shown in each of their slots."""
    singles = len(chosen) > 1 and all(one.is_one for one in chosen)
    wanted = shown_parts(said, chosen)
    if singles and said.differ == "criterion":
        return tuple(
            RatingColumns(one.template, said.labels.get(one.name) or next(iter(one.slots)))
            for one in chosen
        ), {}
    slots = {
        slot: {
            part: text
            for part in wanted
            if (text := said.slots.get(slot, {}).get(part) or _own(column, part, said))
        }
        for one in chosen
        if singles or not one.is_one
        for column, slot in one.slots.items()
    }
    slots = {slot: parts for slot, parts in slots.items() if parts}
    if singles:
        return (RatingColumns(_WHOLE),), slots
    alone = len(chosen) == 1
    return tuple(
        RatingColumns(one.template, None if alone else said.labels.get(one.name) or _label(one.name))
        for one in chosen
    ), slots


def _own(column: str, part: str, said: Choices) -> str:
    """What a column shows by its name, where that is all in which columns differ."""
    return column if part == said.differ else ""


def shown_parts(said: Choices, chosen: Sequence[Family]) -> tuple[str, ...]:
    """The parts of a rating that are said for each column or slot of these families of ratings."""
    if said.differ != ONE_BY_ONE:
        return (said.differ,) if said.differ in FIELDS else ()
    singles = all(one.is_one for one in chosen)
    said_so = {part for parts in said.slots.values() for part in parts}
    more = [part for part in ("criterion", "worker") if singles or part in said_so]
    parts = ("item", "system", *more)
    return tuple(part for part in parts if part not in said.parts_known)


def _label(name: str) -> str:
    """What a family of ratings is called: its name without the slot."""
    return name.replace("{slot}", "").replace("{{", "{").replace("}}", "}").strip("_ .-[]") or name


# What a reader does not know, as a proposal: by names first, then by what stands in the columns.


def proposed(export: Export, those: Sequence[Family]) -> tuple[Choices, tuple[str, ...]]:
    """What the reader knows, completed by what may be; and the families whose role is a proposal alone."""
    if export.mapping is not None:
        known = choices_of(export.mapping, export.frame, those)
    else:
        names = {one.name for one in those}
        known = Choices(
            {one.text: part for part, one in export.templates.items() if one.text in names},
            missing=_MISSING,
        )
    columns = [_Column(one, export.frame) for one in those if one.name not in known.roles]
    results = dict(known.roles)
    if RATING not in results.values() and not (export.mapping and export.mapping.errors):
        results |= {one.name: RATING for one in _of_ratings(columns)}
    ratings = [one for one in those if results.get(one.name) == RATING]
    results |= _of_parts(export, [one for one in columns if one.name not in results], results, ratings)
    said = replace(known, roles=results)
    said = replace(said, marks={**known.marks, **_marks(export, said)})
    return _shown(export, said, those), tuple(name for name in results if name not in known.roles)


class _Column:
    """What stands in a family."""

    def __init__(self, family: Family, frame: pd.DataFrame) -> None:
        self.name, self.family = family.name, family
        column = (
            pd.concat([frame[each] for each in family.slots])
            if len(family.slots) > 1
            else frame[next(iter(family.slots))]
        )
        self.texts = [text for text in _texts(column) if text not in MISSING_CODES]
        self.length = sum(map(len, self.texts)) / max(1, len(self.texts))
        self.n = int((column.fillna("").astype(str).str.strip() != "").sum())
        numbers = read_numbers(read_cells(column), missing=MISSING_CODES)
        given = numbers.value[~numbers.missing]
        self.is_number = bool(len(given)) and bool(
            (~np.isnan(given) | numbers.decimal_comma[~numbers.missing]).all()
        )

    @property
    def repeats(self) -> bool:
        return 2 <= len(self.texts) <= self.n / 2

    @property
    def is_date(self) -> bool:
        """Whether it says when something was, which is no part of a rating however often it repeats."""
        return bool(self.texts) and all(_DATE.fullmatch(text) for text in self.texts)

    @property
    def is_count(self) -> bool:
        """Whether it bears the name of numbers of items, or of rows."""
        return bare(self.name) in _NUMBERS


def _texts(column: pd.Series) -> list[str]:
    """The different texts of a column, in their order."""
    return list(dict.fromkeys(str(cell).strip() for cell in column.fillna("")))


def _of_ratings(columns: Sequence[_Column]) -> list[_Column]:
    """Columns of points; else, of words for points."""
    able = [
        one
        for one in columns
        if one.is_number
        and 2 <= len(one.texts) <= _MOST_POINTS
        and not one.is_count
        and not _NO_RATING.fullmatch(bare(one.name))
    ]
    return able or [
        one
        for one in columns
        if len(one.texts) >= 2 and all(points_in(text) is not None for text in one.texts)
    ]


def _of_parts(
    export: Export, columns: Sequence[_Column], known: Mapping[str, str], ratings: Sequence[Family]
) -> dict[str, str]:
    """Who rated, what was rated, and the system: the fewest are systems, the most are items."""
    used = set(known.values())
    results: dict[str, str] = {}
    slots = set(ratings[0].slots.values()) if len(ratings) == 1 and not ratings[0].is_one else set()
    texts = [
        one
        for one in columns
        if one.repeats
        and not one.is_date
        and (one.is_count or not one.is_number)
        and (one.family.is_one or slots <= set(one.family.slots.values()))
    ]
    if not {"item", "system"} & used:
        for one in texts:
            if (both := _both(one.texts)) is not None and one.family.is_one:
                results[one.name] = both[0]
                used |= {"item", "system"}
                break
    texts = sorted(
        (one for one in texts if one.name not in results), key=lambda one: (len(one.texts), -one.length)
    )
    beside = any(not one.family.is_one for one in texts)  # as the ratings of slots
    if (
        "system" not in used
        and texts
        and not texts[0].is_count
        and len(texts[0].texts) <= _MOST_SYSTEMS
        and (beside or len(ratings) < 2)
    ):
        results[texts.pop(0).name] = "system"
    systems = [name for name, role in {**known, **results}.items() if role == "system"]
    of_outputs = [one for one in texts if systems and _names_outputs(one, systems[0], export.frame)]
    texts = [*of_outputs, *(one for one in texts if one not in of_outputs)]
    for part in ("item", "worker"):
        if part not in used and texts:
            chosen = texts.pop(-1)
            results[chosen.name] = part
            texts = [one for one in texts if not _are_same(one, chosen, export.frame)]
    if "item" not in used and not {"worker", "system", "item"} & {*used, *results.values()}:
        counts = (one.name for one in columns if one.is_count and one.family.is_one and not one.repeats)
        if (number := next(counts, None)) is not None:  # of rows that hold all ratings of an item
            results[number] = "item"
    return results


def _are_same(one: _Column, other: _Column, frame: pd.DataFrame) -> bool:
    """Whether two columns name the same things, as the number of an item and its text do."""
    names = {literal(str(name)).text: str(name) for name in frame.columns}
    if not {one.name, other.name} <= names.keys():
        return False
    pairs = frame[[names[one.name], names[other.name]]].fillna("").astype(str).drop_duplicates()
    return len(pairs) == len(one.texts) == len(other.texts)


def _names_outputs(one: _Column, system: str, frame: pd.DataFrame) -> bool:
    """Whether what stands in a column is of one system each, as the text of an output is."""
    (column, *more), names = (
        one.family.slots,
        {literal(str(name)).text: str(name) for name in frame.columns},
    )
    if more or system not in names:
        return False
    return len(frame[[column, names[system]]].drop_duplicates()) < 1.5 * len(one.texts)


def _both(texts: Sequence[str]) -> tuple[str, str] | None:
    """In which order item and system stand in one text, and the mark between them; None where they do not."""
    for mark in _MARKS:
        if not all(text.count(mark) == 1 and all(text.split(mark)) for text in texts):
            continue
        left, right = ({text.split(mark)[side] for text in texts} for side in (0, 1))
        if (
            min(len(left), len(right)) >= 2
            and len(left) * len(right) <= 2 * len(texts)
            and len(left) != len(right)
        ):
            return (ITEM_SYSTEM if len(left) > len(right) else SYSTEM_ITEM), mark
    return None


def _marks(export: Export, said: Choices) -> dict[str, str]:
    """What stands between item and system in the families that hold both."""
    names = {literal(str(name)).text: str(name) for name in export.frame.columns}
    results = {}
    for name in (*said.of(ITEM_SYSTEM), *said.of(SYSTEM_ITEM)):
        both = _both([text for text in _texts(export.frame[names[name]]) if text])
        if both is not None and name not in said.marks:
            results[name] = both[1]
    return results


def _shown(export: Export, said: Choices, those: Sequence[Family]) -> Choices:
    """What columns of ratings show, of which no column says it: by their names, or the questions over them."""
    chosen = [one for one in those if said.roles.get(one.name) == RATING]
    missing = [part for part in ("item", "system") if part not in said.parts_known]
    names = [column for one in chosen for column in one.slots]
    if all(one.is_one for one in chosen) and said.differ in ("", "system") and len(names) > 3:
        apart = _apart(names, _are_criteria)
        is_sure = apart is not None and _are_criteria({last for _, last in apart})
        if apart is not None and "system" in missing and (is_sure or not said.differ):
            parts = ("system", "criterion") if "item" in said.parts_known else ("item", "system")
            return replace(said, differ=ONE_BY_ONE, slots=_said_of(apart, parts, names))
    all_known = not missing and "worker" in said.parts_known
    if said.differ or not chosen or (len(chosen) == 1 and (chosen[0].is_one or all_known)):
        return said
    if all(one.is_one for one in chosen) or (len(chosen) == 1 and not missing):
        criteria = all_known or _are_criteria(set(names))
        return replace(said, differ="criterion" if criteria else missing[-1] if missing else "worker")
    slots = {
        slot: export.questions.get(column, column) for one in chosen for column, slot in one.slots.items()
    }
    labels = (
        {one.name: said.labels.get(one.name) or _label(one.name) for one in chosen}
        if len(chosen) > 1
        else {}
    )
    apart = _apart(list(slots.values()), lambda _texts: False) if missing else None
    results: dict[str, dict[str, str]] = (
        {} if apart is None else _said_of(apart, ("item", "system"), list(slots))
    )
    return replace(said, differ=ONE_BY_ONE if missing else "", slots=results, labels=labels)


def _are_criteria(texts: set[str]) -> bool:
    return {bare(text) for text in texts} <= CRITERIA


def _apart(texts: Sequence[str], is_last: Callable[[set[str]], bool]) -> list[tuple[str, str]] | None:
    """Two words of each text in which texts differ, the one with more kinds first; or that which `is_last` last."""
    for mark in (None, *_MARKS):  # None: at any blanks
        words = [text.split(mark) for text in texts]
        if len({len(each) for each in words}) > 1:
            continue
        places = [place for place in range(len(words[0])) if len({each[place] for each in words}) > 1]
        if len(places) == 1 and mark is None and len(words[0]) > 1:
            inner = _apart([each[places[0]] for each in words], is_last)
            if inner is not None:
                return inner
        if len(places) != 2:
            continue
        first, second = ([each[place].strip(".,:;()[]\"'") for each in words] for place in places)
        if is_last(set(first)) or (not is_last(set(second)) and len(set(second)) > len(set(first))):
            first, second = second, first
        return list(zip(first, second, strict=True))
    return None


def _said_of(
    apart: Sequence[tuple[str, str]], parts: tuple[str, str], names: Sequence[str]
) -> dict[str, dict[str, str]]:
    return {name: dict(zip(parts, both, strict=True)) for name, both in zip(names, apart, strict=True)}


def points_in(text: str) -> float | None:
    """The points that words say themselves, as in '4 - good' or '3,5'; None where they say none."""
    match = _POINTS_IN_WORDS.fullmatch(text)
    number = text if _COMMA.fullmatch(text) else "" if match is None else match[1] or match[2]
    return float(number.replace(",", ".")) if number else None

"""Cells of a column read as ids or as numbers, and the problems found in them.

Each column is first reduced to its different values, so that a million rows cost little more than
the few thousand different ids and ratings in them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from humeval_power.checking.columns import shortened
from humeval_power.errors import Problem
from humeval_power.magnitudes import TOO_LARGE, is_computable

if TYPE_CHECKING:
    import pandas as pd


Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]

MISSING_CODES = ("", "N/A", "NA", "nan", "null", "none", "-", "?")
COMMA_RULE = "a rating is written with a decimal point, not a comma."
COMMA_REMEDY = "Write 3.5 for 3,5 (in a spreadsheet: set the cell language to English and save again)."
LISTED = 5  # different values that are shown for each rule; the rest is counted
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+", re.ASCII)


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """A column as text: `code` (n,) points into `texts`, whose last entry stands for no value."""

    code: Codes
    texts: tuple[str, ...]

    def each(self, function: Callable[[str], object], kind: Any = None) -> NDArray[Any]:
        """What a function gives of the text of each cell without blanks around it, (n,), as numbers of a `kind`."""
        return np.array([function(text.strip()) for text in self.texts], dtype=kind)[self.code]

    @property
    def stripped(self) -> NDArray[np.object_]:
        """The text of each cell without blanks around it, (n,)."""
        return self.each(str, object)

    @property
    def blank(self) -> Mask:
        """The cells without a text, (n,)."""
        return self.each(lambda text: not text, np.bool_)


@dataclass(frozen=True, slots=True, eq=False)
class Ids:
    """A column of ids: `code` (n,) points into the sorted `names` and is -1 where the cell is blank.

    `n_stripped` counts the cells whose id had blanks around it.
    """

    code: Codes
    names: tuple[str, ...]
    n_stripped: int


@dataclass(frozen=True, slots=True, eq=False)
class Numbers:
    """A column of ratings: `value` (n,) is NaN where there is none; `missing` (n,) marks the cells
    that hold a missing code; `decimal_comma` (n,) those such as '3,5'."""

    value: NDArray[np.float64]
    missing: Mask
    decimal_comma: Mask


@dataclass(frozen=True, slots=True, eq=False)
class Location:
    """Where cells are: file, column, and the row numbers (n,) that a reader would count; of tables below each other
    their `files`, each with how many rows it has."""

    source: str
    column: str
    rows: Codes
    files: tuple[tuple[str, int], ...] = ()

    def file_of(self, cell: int) -> str:
        """The file of one of the cells, which are numbered from 0."""
        for name, n in self.files:
            if cell < n:
                return name
            cell -= n
        return self.source


def read_cells(column: pd.Series) -> Cells:
    """The different values of a column as text, without blanks around them."""
    import pandas as pd

    try:
        code, values = pd.factorize(column)
    except TypeError:  # lists and records of JSON cannot be hashed
        code, values = pd.factorize(column.map(str))
    return Cells(code.astype(np.int64), (*map(_as_text, values), ""))


def codes_in(codes: Codes) -> Codes:
    """The different codes, from -1 on, in their order: by counting, which for a million rows is much faster than
    sorting them."""
    return np.flatnonzero(np.bincount(codes + 1)) - 1


def renumbered(codes: Codes) -> tuple[Codes, Codes]:
    """The different codes, from 0 on, in their order, and the place of each code (n,) among them."""
    occurring = codes_in(codes)
    place = np.zeros(int(codes.max(initial=-1)) + 1, dtype=np.int64)
    place[occurring] = np.arange(len(occurring))
    return occurring, place[codes]


def as_texts(table: pd.DataFrame) -> pd.DataFrame:
    """A table of any types with its cells as text, '' where there is no value, as `read_cells` reads them."""
    import pandas as pd

    columns = {}
    for place, name in enumerate(table.columns):
        cells = read_cells(table.iloc[:, place])
        columns[name] = np.array(cells.texts, dtype=object)[cells.code]
    return pd.DataFrame(columns, index=table.index, dtype=str)


def read_ids(cells: Cells) -> Ids:
    """Codes of ids in the order of their names; blanks around an id do not count."""
    stripped = [text.strip() for text in cells.texts]
    names = tuple(sorted({text for text in stripped if text}))
    position = {name: code for code, name in enumerate(names)}
    lookup = np.array([position.get(text, -1) for text in stripped], dtype=np.int64)
    padded = np.array(
        [bool(bare) and bare != text for bare, text in zip(stripped, cells.texts, strict=True)]
    )
    return Ids(lookup[cells.code], names, int(padded[cells.code].sum()))


def read_numbers(cells: Cells, *, missing: Collection[str]) -> Numbers:
    """Numbers of the cells; `missing` are the codes that mean no rating (case does not matter).

    A code that is a number, such as -1, also matches other spellings of it, such as -1.0.
    """
    codes = {code.strip().casefold() for code in missing}
    numbers = {_number(code) for code in codes} - {None}
    texts = [text.strip() for text in cells.texts]
    values = [_number(text) for text in texts]
    absent = [
        text.casefold() in codes or (value is not None and value in numbers)
        for text, value in zip(texts, values, strict=True)
    ]
    absent[-1] = True
    usable = [
        math.nan if gone or value is None else value for gone, value in zip(absent, values, strict=True)
    ]
    commas = [bool(_DECIMAL_COMMA.fullmatch(text)) for text in texts]
    return Numbers(np.array(usable)[cells.code], np.array(absent)[cells.code], np.array(commas)[cells.code])


def cell_problems(bad: Mask, cells: Cells, *, at: Location, rule: str, remedy: str) -> list[Problem]:
    """One problem for each of the first few different values in `bad` cells, and a count of the rest."""
    rows = np.flatnonzero(bad)
    if len(rows) == 0:
        return []
    values, first, counts = np.unique(cells.code[rows], return_index=True, return_counts=True)
    order = np.argsort(first)
    problems = [
        Problem(
            rule=(TOO_LARGE if _is_too_large(cells.texts[values[i]]) else rule) + _also(int(counts[i])),
            remedy=remedy,
            place=at.file_of(int(rows[first[i]])),
            row=int(at.rows[rows[first[i]]]),
            column=at.column,
            value=shortened(cells.texts[values[i]]),
            has_value=True,
        )
        for i in order[:LISTED]
    ]
    rest = int(counts[order[LISTED:]].sum())
    if rest:
        problems.append(
            _more(f"{rest:,} more rows like this, with {len(values) - LISTED:,} other values", at)
        )
    return problems


def blank_id_problems(ids: Ids, kept: Mask, *, role: str, at: Location) -> list[Problem]:
    """Rows with a rating but without an id."""
    rows = np.flatnonzero(kept & (ids.code < 0))
    problems = [
        Problem(
            rule=f"the {role} is blank, but there is a rating.",
            remedy=f"Fill in the {role}, or delete the row.",
            place=at.source,
            row=int(at.rows[row]),
            column=at.column,
        )
        for row in rows[:LISTED]
    ]
    if len(rows) > LISTED:
        problems.append(_more(f"{len(rows) - LISTED:,} more rows like this", at))
    return problems


def variant_problems(ids: Ids, kept: Mask, *, role: str, at: Location) -> list[Problem]:
    """Ids that differ only by case or by blanks, and so look like one id spelt in several ways."""
    codes = np.where(kept, ids.code, -1)
    spellings: dict[str, list[int]] = {}
    for code in codes_in(codes).tolist():
        if code >= 0:
            spellings.setdefault(" ".join(ids.names[code].casefold().split()), []).append(code)
    doubtful = [group for group in spellings.values() if len(group) > 1]
    if not doubtful:
        return []
    counts, first = np.bincount(codes + 1)[1:], np.zeros(len(ids.names) + 1, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # of the rows of a code the first is written last
    problems = []
    for group in doubtful[:LISTED]:
        shown = " and ".join(
            f"{shortened(ids.names[code])!r} ({_rows(int(counts[code]))}, first in row {at.rows[first[code]]}"
            f"{f' of {at.file_of(int(first[code]))}' if at.files else ''})"
            for code in group
        )
        problems.append(
            Problem(
                rule=f"{shown} differ only by case or blanks and look like one {role}.",
                remedy=f"Spell them alike; if they are different {role}s, rename one.",
                place=at.source,
                column=at.column,
            )
        )
    if len(doubtful) > LISTED:
        problems.append(_more(f"{len(doubtful) - LISTED:,} more {role}s like this", at))
    return problems


def value_counts(mask: Mask, cells: Cells) -> str:
    """The values in the marked cells with their counts, most frequent first: "'N/A': 12, blank: 3"."""
    values, counts = np.unique(cells.code[mask], return_counts=True)
    total: dict[str, int] = {}
    for value, count in zip(values, counts, strict=True):
        text = cells.texts[value].strip()
        total[repr(text) if text else "blank"] = total.get(repr(text) if text else "blank", 0) + int(count)
    ranked = sorted(total.items(), key=lambda pair: -pair[1])
    return ", ".join(f"{text}: {count:,}" for text, count in ranked)


def _as_text(value: object) -> str:
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))  # 7.0 is how pandas shows the id 7 in a column with gaps
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    return str(value)


def _number(text: str) -> float | None:
    """Plain decimal numbers only: float() alone would take 'inf', '1_000' and other alphabets."""
    if not _NUMBER.fullmatch(text):
        return None
    value = float(text)
    return value if is_computable(value) else None


def _is_too_large(text: str) -> bool:
    """Whether a text is a number, and none that can be computed with: no other rule matters then."""
    bare = text.strip().removesuffix("%")
    return _NUMBER.fullmatch(bare) is not None and _number(bare) is None


def _also(count: int) -> str:
    return "" if count == 1 else f" ({_rows(count - 1, ' more')} with this value.)"


def _rows(count: int, more: str = "") -> str:
    return f"{count:,}{more} row" + ("" if count == 1 else "s")


def _more(text: str, at: Location) -> Problem:
    return Problem(rule=f"and {text}.", remedy="", place=at.source, column=at.column)

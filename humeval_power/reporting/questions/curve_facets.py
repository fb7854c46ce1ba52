"""How the cells of a surface become small multiples: what runs along x, what is a line, what is a panel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from humeval_power.errors import InputError
from humeval_power.reporting.drawn import NOTHING_WRONG, Along

MOST_LINES = 8  # colours of figures
_MARKED = 15
MOST_ACROSS, MOST_DEEP = 4, 5
_MANY = "Ask for fewer of them, or draw several figures."


@dataclass(frozen=True, slots=True)
class CurveFacets:
    """The column of the cells that each visual variable shows; None where a variable is not needed."""

    x: str
    line: str | None
    column: str | None
    row: str | None

    @property
    def panels(self) -> list[str]:
        """What panels are of, in words."""
        return [_said(name) for name in (self.column, self.row) if name is not None]

    @property
    def line_words(self) -> str:
        """What lines are of, in words."""
        return "set of assumptions" if self.line is None else _said(self.line)

    def values(self, rows: Sequence[Mapping[str, Any]], name: str | None) -> list[Any]:
        """The different values of a column, from low to high."""
        return [None] if name is None else sorted({row[name] for row in rows})

    def cells(self, rows: Sequence[Mapping[str, Any]], column: Any, row: Any) -> list[Mapping[str, Any]]:
        """The cells of one panel."""
        return [
            each
            for each in rows
            if (self.column is None or each[self.column] == column)
            and (self.row is None or each[self.row] == row)
        ]

    def is_sparse(self, rows: Sequence[Mapping[str, Any]]) -> bool:
        """Whether so few places along x have cells that a mark for each can be told apart."""
        return len({row[self.x] for row in rows}) <= _MARKED

    def title(self, column: Any, row: Any) -> str:
        """What a panel is of."""
        known = ((self.column, column), (self.row, row))
        return ", ".join(value_words(name, value) for name, value in known if name is not None)


def choose_curve_facets(
    rows: Sequence[Mapping[str, Any]], lists: Sequence[str], along: Along | None
) -> CurveFacets:
    """Sizes and effects as x and lines, and panels for the values of what is assumed.

    Raises
    ------
    InputError
        Nothing to draw, or more lines or panels than can be told apart.
    """
    if not rows:
        raise InputError(NOTHING_WRONG)
    counts = {name: len({row[name] for row in rows}) for name in ("effect", "n", *lists)}
    x = along or ("n" if counts["n"] > counts["effect"] else "effect")
    others = [name for name in ("effect", "n", *lists) if name != x and counts[name] > 1]
    if len(others) > 3:
        raise InputError(f"A figure can show three of {', '.join(others)} beside x. {_MANY}")
    line, column, row = (*others, None, None, None)[:3]
    for name, most, what in ((line, MOST_LINES, "lines"), (row, MOST_DEEP, "rows of panels")):
        _refuse(name, counts, most, what)
    _refuse(column, counts, MOST_ACROSS, "panels side by side")
    return CurveFacets(x, line, column, row)


def _refuse(name: str | None, counts: Mapping[str, int], most: int, what: str) -> None:
    if name is not None and counts[name] > most:
        said = {"n": "sizes", "effect": "effects"}.get(name, f"values of {_said(name)}")
        raise InputError(f"A figure can tell {most} {what} apart; got {counts[name]} {said}. {_MANY}")


def _said(name: str) -> str:
    return "size" if name == "n" else name.replace("_", " ")


def value_words(name: str | None, value: Any) -> str:
    """A value with what it is of."""
    if name is None:
        return ""
    if name == "n":
        return f"n = {value:,}"
    return f"effect {value:g}" if name == "effect" else f"{_said(name)} {value:g}"

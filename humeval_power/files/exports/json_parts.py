"""The parts of a JSON export by the kind that they must have: what is of another kind is a problem of its row."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

import pandas as pd

from humeval_power.checking.cells import LISTED
from humeval_power.checking.columns import shortened
from humeval_power.checking.rows import ROW_INDEX
from humeval_power.errors import Problem, first_few, refuse
from humeval_power.files.exports.platform import plain
from humeval_power.files.file_bytes import refuse_large_table

_Kind = TypeVar("_Kind")
_ASK = "Export it once more; a file that was edited by hand has to keep its form."


def frame_of(rows: Sequence[tuple[int, Mapping[str, str]]], *, source: str) -> pd.DataFrame:
    """A table of text of numbered rows, '' where a row lacks a name that another has.
    Raises InputError: more columns or cells than a table may have: each row can bring names of its own."""
    names = dict.fromkeys(name for _, row in rows for name in row)
    refuse_large_table(len(rows), len(names), place=source)
    index = pd.Index([number for number, _ in rows], name=ROW_INDEX)
    cells = {name: [row.get(name, "") for _, row in rows] for name in names}
    return pd.DataFrame(cells, index=index, columns=list(names), dtype=object)


class JsonParts:
    """Takes parts out of a JSON export and notes every one that is of the wrong kind; null is nothing of any kind.

    source : what messages call the file.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.problems: list[Problem] = []

    def object_of(self, value: object, *, row: int | None, field: str | None = None) -> dict[str, Any]:
        """An object; an empty one for what is none."""
        return value if isinstance(value, dict) else self._wrong(value, {}, "an object, {...}", row, field)

    def list_of(self, value: object, *, row: int | None, field: str | None = None) -> list[Any]:
        """A list; an empty one for what is none."""
        return value if isinstance(value, list) else self._wrong(value, [], "a list, [...]", row, field)

    def objects_of(self, value: object, *, row: int | None, field: str) -> Iterator[dict[str, Any]]:
        """The objects of a list."""
        for one in self.list_of(value, row=row, field=field):
            if one is None:
                self._wrong("null", None, "an object, {...}", row, field)
            else:
                yield self.object_of(one, row=row, field=field)

    def text_of(self, value: object, *, row: int | None, field: str) -> str:
        """A text, a number, or yes or no as the text of a cell; '' for null."""
        if isinstance(value, dict | list):
            return self._wrong(value, "", "a text or a number", row, field)
        return plain(value)

    def score_of(self, value: object, *, row: int | None, field: str) -> float | None:
        """A number, or yes or no as 1 or 0; None for null and what is not finite."""
        if value is None or isinstance(value, bool | int | float):
            return float(value) if value is not None and math.isfinite(value) else None
        return self._wrong(value, None, "a number", row, field)

    def records_of(self, values: object) -> Iterator[tuple[int, dict[str, Any]]]:
        """The objects of the outermost list, each with its place in it, from 1."""
        for row, value in enumerate(self.list_of(values, row=None), start=1):
            if value is None:
                self._wrong("null", None, "an object, {...}", row, None)
            else:
                yield row, self.object_of(value, row=row)

    def refuse(self) -> None:
        """Refuse the export where a part was of the wrong kind.
        Raises InputError: all of them, the first few in full."""
        refuse(first_few(self.problems, most=LISTED))

    def _wrong(
        self, value: object, nothing: _Kind, wanted: str, row: int | None, field: str | None
    ) -> _Kind:
        if value is not None:
            said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            rule = f"{wanted[0].upper()}{wanted[1:]} has to stand here."
            self.problems.append(
                Problem(rule, _ASK, self.source, row, field, shortened(said), has_value=True, noun="field")
            )
        return nothing

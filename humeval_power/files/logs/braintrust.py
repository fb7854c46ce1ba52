"""Experiments of Braintrust, by its documentation: input, output, expected, scores and metadata, in JSON or CSV."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from humeval_power.checking.logs.log import Log
from humeval_power.errors import refusal
from humeval_power.files.logs.score_rows import (
    DOCUMENTED,
    Harness,
    RawLog,
    first_row,
    log_of_rows,
    object_in,
    text_of,
    texts_in,
)

_ASKED, _ANSWER, _RIGHT, _SCORES = "input", "output", "expected", "scores"
_OF_SCORES = f"{_SCORES}."


def _known_by(raw: RawLog) -> str | None:
    row = first_row(raw)
    is_known = {_ASKED, _ANSWER, _RIGHT} <= row.keys() and (
        object_in(row.get(_SCORES)) or any(str(name).startswith(_OF_SCORES) for name in row)
    )
    return f"its rows have {_ASKED}, {_ANSWER}, {_RIGHT} and {_SCORES}" if is_known else None


def _read(raw: RawLog) -> Iterator[Log]:
    rows = [
        (row, _flat(record))
        for row, record in raw.rows
        if (text_of(record.get("is_root")) or "").casefold() != "false"
    ]
    if not rows:
        raise refusal("holds no row of the experiment itself, only spans.", place=raw.source)
    yield log_of_rows(
        raw,
        request=_ASKED,
        question=(_ASKED, _RIGHT),
        answer=_ANSWER,
        label=_RIGHT,
        metric=lambda name: name.removeprefix(_OF_SCORES) if name.startswith(_OF_SCORES) else None,
        fields=lambda record: {
            **texts_in(object_in(record.get(_ASKED))),
            **texts_in(object_in(record.get("metadata"))),
        },
        rows=rows,
    )


def _flat(record: Mapping[str, Any]) -> dict[str, Any]:
    """The row with a column for each score."""
    scores = object_in(record.get(_SCORES))
    return {**record, **{f"{_OF_SCORES}{name}": value for name, value in scores.items()}}


BRAINTRUST = Harness(
    "braintrust",
    _known_by,
    _read,
    files="the JSON or CSV that an experiment is exported as",
    written_by="the export of an experiment; above some thousand rows by its API",
    item="`input` with `expected`",
    proved=DOCUMENTED,
    names_system=False,
)

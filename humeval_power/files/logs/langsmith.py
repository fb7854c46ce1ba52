"""Experiments of LangSmith, by its documentation: the table that the view of an experiment downloads (inputs,
outputs, reference outputs, and a column for each key of feedback), and the document by which experiments are
uploaded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from humeval_power.checking.columns import bare
from humeval_power.checking.logs.log import Log, LogSample
from humeval_power.errors import refusal
from humeval_power.files.exports.json_parts import JsonParts
from humeval_power.files.logs.score_rows import (
    DOCUMENTED,
    Harness,
    RawLog,
    canonical,
    digest_of,
    first_row,
    item_names,
    log_of_rows,
    object_in,
    run_numbers,
    text_of,
    texts_in,
)

_ASKED, _ANSWER = "inputs", "outputs"
_RIGHT = ("referenceoutputs", "expectedoutputs", "reference")
_NO_METRIC = re.compile(  # what stands beside the feedback of a run
    "|(run|example)?id|name|status|error|(start|end)time|startdate|createdat|latency|firsttokentime|"
    "(total|prompt|completion)?(tokens|cost)|metadata|tags|session|feedback"
)


def _known_by(raw: RawLog) -> str | None:
    if _is_upload(raw):
        return "it has experiment_name and results"
    row = first_row(raw)
    is_table = _ASKED in row and _ANSWER in row and _right(row) is not None
    return f"its columns are {_ASKED}, {_ANSWER} and {_right(row)}" if is_table else None


def _is_upload(raw: RawLog) -> bool:
    return raw.head.startswith(b"{") and b'"experiment_name"' in raw.head and b'"results"' in raw.head


def _right(row: Mapping[str, Any]) -> str | None:
    """The column of the right answers."""
    return next((str(name) for name in row if bare(str(name)) in _RIGHT), None)


def _read(raw: RawLog) -> Iterator[Log]:
    if _is_upload(raw):
        yield _uploaded(raw)
        return
    right = _right(first_row(raw)) or ""

    def metric(column: str) -> str | None:
        is_other = column in (_ASKED, _ANSWER, right) or _NO_METRIC.fullmatch(bare(column)) is not None
        return None if is_other else column

    yield log_of_rows(
        raw,
        request=_ASKED,
        question=(_ASKED, right),
        answer=_ANSWER,
        label=right,
        metric=metric,
        fields=lambda record: texts_in(object_in(record.get(_ASKED))),
    )


def _uploaded(raw: RawLog) -> Log:
    """The experiment in a document as it is uploaded."""
    parts = JsonParts(raw.source)
    whole = parts.object_of(raw.json, row=None)
    rows = list(parts.records_of(whole.get("results")))
    parts.refuse()
    if not rows:
        raise refusal("holds no results.", "Has the experiment ended?", raw.source)
    names = [text_of(row.get("row_id")) or "" for _, row in rows]
    questions = [canonical([row.get("inputs"), row.get("expected_outputs")]) for _, row in rows]
    items = item_names(list(zip(names, questions, strict=True)))
    samples = tuple(
        LogSample(
            item,
            _scores(place, row, parts),
            run,
            place,
            texts_in(row.get("inputs")),
            digest_of(question),
            _only(row.get("expected_outputs")),
            _only(row.get("actual_outputs")),
        )
        for (place, row), item, run, question in zip(
            rows, items, run_numbers(items), questions, strict=True
        )
    )
    parts.refuse()
    system, task = (text_of(whole.get(key)) or "" for key in ("experiment_name", "dataset_name"))
    created = text_of(whole.get("experiment_start_time")) or ""
    return Log(system, task, samples, created=created)


def _scores(place: int, row: Mapping[str, Any], parts: JsonParts) -> dict[str, float | None]:
    scores: dict[str, float | None] = {}
    for one in parts.objects_of(row.get("evaluation_scores"), row=place, field="evaluation_scores"):
        name = parts.text_of(one.get("key"), row=place, field="evaluation_scores.key")
        if name:
            scores[name] = parts.score_of(one.get("score"), row=place, field=f"evaluation_scores.{name}")
    return scores


def _only(outputs: object) -> str | None:
    """The text of an output that is one, or of an object with a single one."""
    values = list(outputs.values()) if isinstance(outputs, dict) else [outputs]
    return text_of(values[0]) if len(values) == 1 else None


LANGSMITH = Harness(
    "langsmith",
    _known_by,
    _read,
    files="the CSV that the view of an experiment downloads; the JSON by which experiments are uploaded",
    written_by="the download of an experiment's view",
    item="`inputs` with the reference outputs; `row_id` of an upload",
    proved=DOCUMENTED,
)

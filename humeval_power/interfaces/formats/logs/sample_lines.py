"""Samples as lm-evaluation-harness writes them, and lmms-eval, which grew out of it: a JSON object a line.

A line is an answer to a document under one filter of the answers; its metrics stand beside what was asked
(lm_eval/evaluator.py of version 0.4.9: doc_id, doc, target, arguments, resps, filtered_resps, filter, metrics,
doc_hash, prompt_hash, target_hash; lmms_eval/loggers/evaluation_tracker.py of 0.3: input in the place of doc and
arguments). Metrics are named as in the harness's own table of results: exact_match,strict-match where a task has
several filters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from humeval_power.checking.columns import listing
from humeval_power.checking.logs.log import LogSample
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.logs.raw import RawLog, number_of, text_of, texts_in

_NO_METRICS = {
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter", "metrics", "doc_hash"),
    *("prompt_hash", "target_hash", "input", "task", "split", "input_text", "image_paths", "token_counts"),
    *("success", "schema_version", "sample_index", "reasoning"),
}
_SCORE = "score"  # in a metric of lmms-eval that is an object


@dataclass
class _Item:
    """What the lines of one document say, one for each filter."""

    row: int
    asked: str
    fields: dict[str, str]
    label: str | None
    prediction: str | None
    scores: dict[str, float | None] = field(default_factory=dict)


def samples_of(raw: RawLog) -> tuple[list[LogSample], list[str]]:
    """The samples of a file, and what to say of them.

    Raises
    ------
    InputError
        Lines that are no samples, or that are cut off.
    """
    filters = {str(record.get("filter", "none")) for _, record in raw.records}
    problems = [
        Problem("has no 'doc_id': it is no sample.", "Is the log complete?", raw.source, row)
        for row, record in raw.records
        if text_of(record.get("doc_id")) is None
    ]
    if problems:
        raise InputError(problems[:5])
    found: list[LogSample] = []
    open_items: dict[str, _Item] = {}
    left: dict[str, None] = {}
    for row, record in raw.records:
        name = str(text_of(record["doc_id"]))
        scores = dict(_scores(record, several=len(filters) > 1, left=left))
        item = open_items.get(name)
        if item is None or not item.scores.keys().isdisjoint(scores):  # a document that comes again
            if item is not None:
                found.append(_sample(name, item))
            item = open_items[name] = _Item(row, *_about(record))
        item.scores.update(scores)
    found += [_sample(name, item) for name, item in open_items.items()]
    found.sort(key=lambda sample: sample.row)
    told = (
        [f"Metrics that are no number for each sample are left out: {listing(list(left))}."] if left else []
    )
    return found, told


def _sample(name: str, item: _Item) -> LogSample:
    return LogSample(name, item.scores, "", item.row, item.fields, item.asked, item.label, item.prediction)


def _about(record: Mapping[str, Any]) -> tuple[str, dict[str, str], str | None, str | None]:
    """What was asked, the fields of the data set, the right answer and the answer."""
    fields = texts_in(record.get("doc"))
    for value in record.values():  # lmms-eval keeps a question's category in its metrics
        if isinstance(value, dict) and _SCORE in value:
            fields |= {name: text for name, text in texts_in(value).items() if name != _SCORE}
    answers = record.get("filtered_resps")
    answer = answers[0] if isinstance(answers, list) and len(answers) == 1 else None
    asked = str(record.get("doc_hash") or "")
    return asked, fields, text_of(record.get("target")), answer if isinstance(answer, str) else None


def _scores(
    record: Mapping[str, Any], *, several: bool, left: dict[str, None]
) -> Iterator[tuple[str, float | None]]:
    named = record.get("metrics")
    names = named if isinstance(named, list) else [name for name in record if name not in _NO_METRICS]
    for name in map(str, names):
        value = record.get(name)
        if isinstance(value, dict):
            value = value.get(_SCORE)
        if value is None or isinstance(value, str | list):
            left[name] = None
            continue
        yield (f"{name},{record.get('filter', 'none')}" if several else name), number_of(value)

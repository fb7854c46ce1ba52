"""Logs of OpenAI's evals: a first line {"spec": ...}, a line for each event, a last line {"final_report": ...}
(evals/record.py, version 3.0). An event of the type match says whether an answer was right; one of the type metrics
gives numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from humeval_power.checking.logs.log import Log, LogSample
from humeval_power.errors import refusal
from humeval_power.files.logs.score_rows import Harness, RawLog, number_of, text_of


def _known_by(raw: RawLog) -> str | None:
    spec = raw.first.get("spec")
    return "its first line is a spec" if isinstance(spec, dict) and "eval_name" in spec else None


def _read(raw: RawLog) -> Iterator[Log]:
    events = [(row, record) for row, record in raw.records if "type" in record]
    spec = raw.records[0][1]["spec"]
    models = spec.get("completion_fns") or [spec.get("model_name") or ""]
    system = ", ".join(map(str, models)) if isinstance(models, list) else str(models)
    if not system:
        raise refusal("says no model.", "Is the first line complete?", raw.source, 1)
    samples = list(_samples(raw, events))
    notices = []
    if not any("final_report" in record for _, record in raw.records):
        notices.append("It has no final report: the evaluation was stopped, or has not ended.")
    n_errors = sum(record["type"] == "error" for _, record in events)
    if n_errors:
        notices.append(f"{n_errors:,} errors are logged; what they left without a score is not there.")
    yield Log(
        system,
        str(spec["eval_name"]),
        tuple(samples),
        created=str(spec.get("created_at") or ""),
        notices=tuple(notices),
        reported=_reported(raw),
    )


def _reported(raw: RawLog) -> dict[str, float]:
    """The accuracy of the final report, which is the mean of what was right."""
    reports = [
        report for _, record in raw.records if isinstance(report := record.get("final_report"), dict)
    ]
    value = number_of(reports[-1].get("accuracy")) if reports else None
    return {} if value is None else {"correct": value}


def _samples(raw: RawLog, events: list[tuple[int, dict[str, Any]]]) -> Iterator[LogSample]:
    """A sample for each event with a score; events of one item that say different things are told apart by their
    metrics."""
    open_items: dict[str, LogSample] = {}
    for row, event in events:
        data = event.get("data")
        if event["type"] not in ("match", "metrics") or not isinstance(data, dict):
            continue
        item = text_of(event.get("sample_id"))
        if item is None:
            raise refusal("has no 'sample_id'.", "Is the log complete?", raw.source, row)
        scores = {
            str(name): number_of(value)
            for name, value in data.items()
            if (name == "correct" if event["type"] == "match" else isinstance(value, bool | int | float))
        }
        before = open_items.get(item)
        if before is not None and before.scores.keys().isdisjoint(scores):
            scores = {**before.scores, **scores}
        elif before is not None:
            yield before
        label, answer = text_of(data.get("expected")), data.get("picked", data.get("sampled"))
        if before is not None:
            label, answer = label or before.label, answer or before.prediction
        open_items[item] = LogSample(item, scores, "", row, {}, "", label, text_of(answer))
    yield from open_items.values()


OPENAI = Harness(
    "openai-evals",
    _known_by,
    _read,
    files="a line for each event: `match` and `metrics`",
    written_by="`oaieval --record_path FILE`",
    item="`sample_id`",
    proved="by the source of 3.0",
)

"""Logs of Inspect: a JSON object, or an .eval file, which is a zip of JSON (inspect_ai/log/_log.py and
_recorders/eval.py, version 0.3: header.json, summaries.json, samples/ID_epoch_N.json, _journal/ while it runs).

Words of scores count as Inspect's own accuracy counts them (inspect_ai/scorer/_metric.py, value_to_float):
C 1, P 1/2, I and N 0, yes and true 1, no and false 0.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from humeval_power.checking.columns import listing
from humeval_power.checking.logs.log import Log, LogSample
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.logs.harness import Harness
from humeval_power.interfaces.formats.logs.inspect_archive import HEADER, STARTED, members_of, unfinished
from humeval_power.interfaces.formats.logs.raw import RawLog, number_of, text_of, texts_in

_WORDS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_YES_NO = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
_COMPARED = 200  # characters of a question by which it is known again; summaries cut the rest


def _known_by(raw: RawLog) -> str | None:
    if raw.is_zip:
        return "it is an .eval file" if {HEADER, STARTED} & set(raw.names) else None
    head = raw.head
    if head.startswith(b"{") and re.search(rb'"eval"\s*:\s*\{', head) and re.search(rb'"status"\s*:', head):
        return "it has eval, status and samples"
    return None


def _read(raw: RawLog, why: str) -> list[Log]:
    header, samples = members_of(raw) if raw.is_zip else (raw.json, None)
    about = header.get("eval") if isinstance(header, dict) else None
    if not isinstance(about, dict) or not text_of(about.get("model")):
        raise InputError([Problem("says no model.", "Is the log complete?", raw.source)])
    records = samples if samples is not None else header.get("samples")
    problem = unfinished(raw, header)
    if problem is not None:
        records = []
    elif not isinstance(records, list) or not records:
        rule = "holds no samples."
        raise InputError([Problem(rule, "Log them: inspect eval without --no-log-samples.", raw.source)])
    notices = []
    if problem is None and header["status"] != "success":
        said = f"The evaluation ended with the status {header['status']!r}: what it had not answered is not there."
        notices.append(said)
    left: dict[str, None] = {}
    found = [_sample(raw, row, record, left) for row, record in enumerate(records, start=1)]
    if len({sample.run for sample in found}) == 1:
        found = [_without_run(sample) for sample in found]
    elif found:
        notices.append("The run of an answer is its epoch: the item was answered anew (--nested).")
    n_failed = sum(bool(record.get("error")) for record in records)
    if n_failed:
        notices.append(
            f"{n_failed:,} of {len(records):,} samples ended with an error; what was not scored has no score."
        )
    if left:
        notices.append(f"Scores that are no number are left out: {listing(list(left))}.")
    reported, others = _reported(header.get("results"))
    return [
        Log(
            raw.source,
            INSPECT.title,
            why,
            str(about["model"]),
            str(about.get("task") or ""),
            tuple(found),
            sha256=raw.sha256,
            created=str(about.get("created") or ""),
            identity=str(about.get("task_id") or ""),
            unfinished=problem,
            notices=(*notices, *others),
            reported=reported,
            reported_over="items",
        )
    ]


def _reported(results: object) -> tuple[dict[str, float], list[str]]:
    """The accuracy or mean of each scorer, and of each part of its scores where it gives several: over items, of
    each the mean over its scored epochs. Another reducer takes no mean over epochs, which is said."""
    found: dict[str, float] = {}
    others: dict[str, None] = {}
    scores = results.get("scores") if isinstance(results, dict) else None
    for one in scores if isinstance(scores, list) else []:
        metrics = one.get("metrics") if isinstance(one, dict) else None
        if not isinstance(metrics, dict):
            continue
        name, scorer, reducer = (text_of(one.get(key)) for key in ("name", "scorer", "reducer"))
        if reducer not in (None, "mean"):
            others[f"{name} by {reducer}"] = None
            continue
        metric = str(name) if scorer in (None, name) else f"{scorer}.{name}"
        for stated in (metrics.get("accuracy"), metrics.get("mean")):
            value = number_of(stated.get("value")) if isinstance(stated, dict) else None
            if value is not None:
                found[metric] = value
    said = [f"Not compared, as they are no means over epochs: {listing(list(others))}."] if others else []
    return found, said


def _sample(raw: RawLog, row: int, record: Any, left: dict[str, None]) -> LogSample:
    if not isinstance(record, dict) or text_of(record.get("id")) is None:
        raise InputError(
            [Problem("has no 'id': it is no sample.", "Is the log complete?", raw.source, row)]
        )
    scores = record.get("scores")
    if scores is None and isinstance(record.get("score"), dict):  # logs of version 1 have one
        scores = {"score": record["score"]}
    scores = scores if isinstance(scores, dict) else {}
    target = record.get("target")
    answers = [one.get("answer") for one in scores.values() if isinstance(one, dict)]
    asked = record.get("input")
    return LogSample(
        item=str(text_of(record["id"])),
        scores=dict(_scores(scores, left)),
        run=text_of(record.get("epoch")) or "1",
        row=row,
        fields=texts_in(record.get("metadata")),
        asked=_digest(asked) if isinstance(asked, str) else "",
        label=text_of(target[0] if isinstance(target, list) and len(target) == 1 else target),
        prediction=next((answer for answer in answers if isinstance(answer, str)), None),
        uuid=text_of(record.get("uuid")) or "",
    )


def _without_run(sample: LogSample) -> LogSample:
    return replace(sample, run="")


def _scores(scores: Mapping[str, Any], left: dict[str, None]) -> Iterator[tuple[str, float | None]]:
    """The scores of a sample by the name of the scorer, and of its part where it gives several."""
    for scorer, score in scores.items():
        value = score.get("value") if isinstance(score, dict) else score
        parts: Iterable[tuple[str, Any]] = [(scorer, value)]
        if isinstance(value, dict):
            parts = [(f"{scorer}.{part}", one) for part, one in value.items()]
        for name, one in parts:
            if isinstance(one, list) or (isinstance(one, str) and _worth(one) is None):
                left[name] = None
            else:
                yield name, _worth(one)


def _worth(value: object) -> float | None:
    if not isinstance(value, str):
        return number_of(value)
    if value in _WORDS:
        return _WORDS[value]
    try:
        return _YES_NO.get(value.lower()) if value.lower() in _YES_NO else number_of(float(value))
    except ValueError:
        return None


def _digest(text: str) -> str:
    return hashlib.sha256(text[:_COMPARED].encode("utf-8", "replace")).hexdigest()


INSPECT = Harness("inspect", "Inspect", _known_by, _read)

"""Reports of Pydantic Evals (version 2.62, `EvaluationReportAdapter.dump_json`): {name, cases: [...], failures:
[...]}. Scores and assertions are metrics. A case that is repeated is called "q0 [1/2]", of source_case_name "q0".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from humeval_power.checking.columns import listing
from humeval_power.checking.logs.log import Log, LogSample
from humeval_power.errors import refusal
from humeval_power.files.exports.json_parts import JsonParts
from humeval_power.files.logs.score_rows import (
    Harness,
    RawLog,
    canonical,
    digest_of,
    run_numbers,
    text_of,
    texts_in,
)

_RUN = re.compile(r" \[(\d+)/\d+\]$")
_REPEATED = "The run of an answer is its repetition: the case was answered anew (--nested)."


def _known_by(raw: RawLog) -> str | None:
    head = raw.head
    is_report = head.startswith(b"{") and re.search(rb'"cases"\s*:\s*\[', head)
    marks = (b'"assertions"', b'"report_evaluator_failures"', b'"task_duration"')
    return "its cases have scores and assertions" if is_report and any(m in head for m in marks) else None


def _read(raw: RawLog) -> Iterator[Log]:
    parts = JsonParts(raw.source)
    report = parts.object_of(raw.json, row=None)
    cases = list(parts.objects_of(report.get("cases"), row=None, field="cases"))
    failures = list(parts.objects_of(report.get("failures"), row=None, field="failures"))
    parts.refuse()
    if not cases:
        raise refusal("holds no cases that were answered.", "Run it again.", raw.source)
    every = [*cases, *failures]
    named = [_item_and_run(row, case, parts) for row, case in enumerate(every, start=1)]
    parts.refuse()
    if not any(run for _, run in named):
        items = [item for item, _ in named]
        named = list(zip(items, run_numbers(items), strict=True))
    samples = [
        LogSample(
            item,
            dict(_scores(row, case, parts)) if row <= len(cases) else {},
            run,
            row,
            _fields(case.get("metadata")),
            digest_of(canonical(case.get("inputs"))),
            text_of(case.get("expected_output")),
            text_of(case.get("output")),
        )
        for row, (case, (item, run)) in enumerate(zip(every, named, strict=True), start=1)
    ]
    labels = dict.fromkeys(
        name
        for row, case in enumerate(cases, start=1)
        for name in parts.object_of(case.get("labels"), row=row, field="labels")
    )
    parts.refuse()
    notices = [_REPEATED] if any(run for _, run in named) else []
    if failures:
        notices.append(f"{len(failures):,} of {len(every):,} cases failed, and have no score.")
    if labels:
        notices.append(f"Labels are no numbers, and are left out: {listing(list(labels))}.")
    yield Log(
        text_of(report.get("name")) or "",
        text_of(report.get("dataset_name")) or "",
        tuple(samples),
        notices=tuple(notices),
    )


def _item_and_run(row: int, case: Mapping[str, Any], parts: JsonParts) -> tuple[str, str]:
    name, source = (
        parts.text_of(case.get(key), row=row, field=key) for key in ("name", "source_case_name")
    )
    number = _RUN.search(name) if source else None
    return source or name or digest_of(canonical(case.get("inputs")))[:8], number[1] if number else ""


def _scores(row: int, case: Mapping[str, Any], parts: JsonParts) -> Iterator[tuple[str, float | None]]:
    seen: set[str] = set()
    for kind in ("scores", "assertions"):
        for name, given in parts.object_of(case.get(kind), row=row, field=kind).items():
            value = given.get("value") if isinstance(given, dict) else given
            yield (
                f"{kind}.{name}" if name in seen else name,
                parts.score_of(value, row=row, field=f"{kind}.{name}"),
            )
            seen.add(name)


def _fields(metadata: object) -> dict[str, str]:
    text = text_of(metadata)
    return {"metadata": text} if text else texts_in(metadata)


PYDANTIC_EVALS = Harness(
    "pydantic-evals",
    _known_by,
    _read,
    files="a report",
    written_by="`EvaluationReportAdapter.dump_json`",
    item="`source_case_name`, or `name`; `[k/n]`",
    proved="2.62.0, 2026-11-25",
)

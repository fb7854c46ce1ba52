"""Test runs of DeepEval (version 4.3): {testCases: [{name, input, metricsData: [{name, score}]}]}. The system
stands in `identifier` or among the hyperparameters, where anything does.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from humeval_power.checking.logs.log import Log, LogSample
from humeval_power.errors import refusal
from humeval_power.files.exports.json_parts import JsonParts
from humeval_power.files.logs.score_rows import (
    Harness,
    RawLog,
    canonical,
    digest_of,
    item_names,
    number_of,
    run_numbers,
    text_of,
    texts_in,
)

_CASES = ("testCases", "conversationalTestCases")
_STAMP = re.compile(r"\d{8}_\d{6}")  # in the name of the file
_KEPT = "testRunData"  # what the copy of the latest run holds it in


def _known_by(raw: RawLog) -> str | None:
    head = raw.head
    is_run = (
        head.startswith(b"{") and re.search(rb'"testCases"\s*:\s*\[', head) and b'"metricsData"' in head
    )
    return "its testCases have metricsData" if is_run else None


def _read(raw: RawLog) -> Iterator[Log]:
    parts = JsonParts(raw.source)
    run = parts.object_of(raw.json, row=None)
    run = parts.object_of(run.get(_KEPT, run), row=None, field=_KEPT)
    cases = [one for name in _CASES for one in parts.objects_of(run.get(name), row=None, field=name)]
    parts.refuse()
    if not cases:
        raise refusal("holds no test cases.", "Has the run ended?", raw.source)
    questions = [canonical(case.get("input", case.get("turns"))) for case in cases]
    named = [text_of(case.get("name")) or "" for case in cases]
    items = item_names(list(zip(named, questions, strict=True)))
    runs = run_numbers(items)
    samples = [
        LogSample(
            item,
            _scores(row, case, parts),
            number,
            row,
            texts_in(case.get("metadata")),
            digest_of(question),
            text_of(case.get("expectedOutput")),
            text_of(case.get("actualOutput")),
        )
        for row, (case, item, number, question) in enumerate(
            zip(cases, items, runs, questions, strict=True), start=1
        )
    ]
    parts.refuse()
    stamp = _STAMP.search(raw.path.name)
    settings = run.get("hyperparameters")
    model = text_of(settings.get("model")) if isinstance(settings, dict) else None
    yield Log(
        text_of(run.get("identifier")) or model or "",
        "",
        tuple(samples),
        created=stamp[0] if stamp else "",
        identity=digest_of(canonical([cases, run.get("runDuration")])),
        reported=_reported(run.get("metricsScores")),
    )


def _scores(row: int, case: Mapping[str, Any], parts: JsonParts) -> dict[str, float | None]:
    """The scores by the names of their metrics; a second of one name is numbered."""
    scores: dict[str, float | None] = {}
    count: Counter[str] = Counter()
    for place, metric in enumerate(parts.objects_of(case.get("metricsData"), row=row, field="metricsData")):
        field = f"metricsData.{place}"
        name = parts.text_of(metric.get("name"), row=row, field=f"{field}.name") or f"metric {place + 1}"
        count[name] += 1
        numbered = f"{name} ({count[name]})" if count[name] > 1 else name
        scores[numbered] = parts.score_of(metric.get("score"), row=row, field=f"{field}.score")
    return scores


def _reported(metrics: object) -> dict[str, float]:
    means: dict[str, float] = {}
    for one in metrics if isinstance(metrics, list) else []:
        scores = one.get("scores") if isinstance(one, dict) else None
        values = [number_of(value) for value in scores] if isinstance(scores, list) else []
        known = [value for value in values if value is not None]
        if known:
            means[str(one.get("metric"))] = sum(known) / len(known)
    return means


DEEPEVAL = Harness(
    "deepeval",
    _known_by,
    _read,
    files="`test_run_DATE.json`",
    written_by="`DEEPEVAL_RESULTS_FOLDER` in the environment",
    item="`name`",
    proved="4.3.1, 2026-11-25",
)

"""Exports of Langfuse to blob storage, by its documentation: `scores/`, with `observations_v2/` beside it. A score
is of a trace: the observation without a parent says what was asked, and what the system is.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from humeval_power.checking.columns import listing, shortened
from humeval_power.checking.logs.log import Log, LogSample
from humeval_power.errors import InputError, Problem, refusal
from humeval_power.files.logs.score_rows import (
    DOCUMENTED,
    Harness,
    RawLog,
    canonical,
    digest_of,
    first_row,
    item_names,
    object_in,
    run_numbers,
    score_of,
    text_of,
    texts_in,
)

OBSERVATIONS = ("observations_v2", "observations")  # folders beside that of the scores
_ENDINGS = (".json", ".jsonl", ".csv", ".json.gz", ".jsonl.gz", ".csv.gz")
_NUMBERS = ("NUMERIC", "BOOLEAN", "")
_ITEM = ("dataset_item_id", "datasetItemId")
_SYSTEM = ("system", "model")
Row = Mapping[str, Any]


def _known_by(raw: RawLog) -> str | None:
    row = first_row(raw)
    is_known = {"trace_id", "name", "value"} <= row.keys() and bool({"data_type", "source"} & row.keys())
    return "its rows are scores of a trace_id" if is_known else None


def _read(raw: RawLog) -> Iterator[Log]:
    scores, words = _scores_of_traces(raw)
    traces = _traces(raw, set(scores))
    lacking = [trace for trace in scores if trace not in traces]
    if lacking:
        rule = f"no observation of {len(lacking):,} of {len(scores):,} traces with scores lies beside them."
        remedy = "Export observations_v2 too, and keep its folder beside that of the scores."
        raise refusal(rule, remedy, raw.source)
    roots = {trace: _root(traces[trace]) for trace in scores}
    about = {trace: object_in(root.get("metadata")) for trace, root in roots.items()}
    questions = {trace: canonical(root.get("input") or "") for trace, root in roots.items()}
    named = {trace: _first(about[trace], _ITEM) for trace in scores}
    nameless = [trace for trace in scores if not questions[trace].strip() and not named[trace]]
    if nameless:
        rule = f"nothing says what was asked in trace {shortened(nameless[0])!r}: it has no input."
        raise refusal(rule, "Export the field group of inputs and outputs.", raw.source)
    systems: dict[str, list[str]] = defaultdict(list)
    for trace in scores:
        systems[_first(about[trace], _SYSTEM) or _model(traces[trace])].append(trace)
    notices = [f"No scores, as they are no numbers: {listing(sorted(words))}."] if words else []
    items = dict(zip(scores, item_names([(named[one], questions[one]) for one in scores]), strict=True))
    for system, those in systems.items():
        runs = run_numbers([items[trace] for trace in those])
        samples = (
            LogSample(
                items[trace],
                scores[trace],
                run,
                fields={**texts_in(object_in(roots[trace].get("input"))), **texts_in(about[trace])},
                question=digest_of(questions[trace]),
                prediction=text_of(roots[trace].get("output")),
                uuid=trace,
            )
            for trace, run in zip(those, runs, strict=True)
        )
        yield Log(system, "", tuple(samples), notices=tuple(notices))


def _scores_of_traces(raw: RawLog) -> tuple[dict[str, dict[str, float | None]], set[str]]:
    """The numbers of each trace by their names, and the names of those that are words."""
    result: dict[str, dict[str, float | None]] = defaultdict(dict)
    words: set[str] = set()
    problems: list[Problem] = []
    for row, record in raw.rows:
        trace, name = (text_of(record.get(key)) or "" for key in ("trace_id", "name"))
        if not trace or not name:
            continue  # of a session, or of a whole run
        if (text_of(record.get("data_type")) or "").upper() not in _NUMBERS:
            words.add(name)
            continue
        value = score_of(record.get("value"))
        if result[trace].get(name, value) != value:
            rule = f"the trace has two scores called {shortened(name)!r}."
            problems.append(Problem(rule, "Leave those of one annotator or evaluator.", raw.source, row))
        result[trace][name] = value
    if problems:
        raise InputError(problems[:5])
    result = {trace: scores for trace, scores in result.items() if scores}
    if not result:
        raise refusal("holds no score of a trace that is a number.", place=raw.source)
    return result, words


def _traces(raw: RawLog, wanted: set[str]) -> dict[str, list[Row]]:
    """The observations of the traces that have scores."""
    row: dict[str, list[Row]] = defaultdict(list)
    here = raw.path.absolute()  # not resolved: a page lays its files out as links
    parent, whole = here.parent.parent, os.path.dirname(os.path.dirname(raw.source))
    for file in _beside(here):
        for _, record in RawLog(file, os.path.join(whole, file.relative_to(parent))).rows:
            trace = text_of(record.get("trace_id")) or ""
            if trace in wanted:
                row[trace].append(record)
    return row


def _beside(scores: Path) -> Iterator[Path]:
    """The files of observations of an export: the enriched ones where there are any."""
    for name in OBSERVATIONS:
        folder = scores.parent.parent / name
        files = sorted(folder.rglob("*")) if folder.is_dir() and not folder.is_symlink() else []
        files = [one for one in files if one.name.lower().endswith(_ENDINGS) and one.is_file()]
        if files:
            yield from files
            return


def _root(observations: list[Row]) -> Row:
    """The observation without a parent, or the first."""
    return next((one for one in observations if not one.get("parent_observation_id")), observations[0])


def _model(observations: list[Row]) -> str:
    """The one model of a trace; '' where there is none, or several."""
    names = {text_of(one.get("provided_model_name")) or "" for one in observations} - {""}
    return names.pop() if len(names) == 1 else ""


def _first(record: Row, names: tuple[str, ...]) -> str:
    return next(filter(None, (text_of(record.get(name)) for name in names)), "")


LANGFUSE = Harness(
    "langfuse",
    _known_by,
    _read,
    files="`scores/`, with `observations_v2/` beside it: JSON, JSON lines or CSV",
    written_by="the export to blob storage, with inputs, outputs and metadata",
    item="the dataset item of the trace, or its input",
    proved=DOCUMENTED,
)

"""Logs of lm-evaluation-harness: samples_TASK_DATE.jsonl, which --log_samples writes into a folder for each model,
beside results_DATE.json (lm_eval/loggers/evaluation_tracker.py, version 0.4.9).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from humeval_power.checking.columns import listing
from humeval_power.checking.logs.log import Log, LogSample
from humeval_power.errors import InputError, Problem, refusal
from humeval_power.files.logs.score_rows import Harness, RawLog, number_of, text_of, texts_in

# Whose samples a file holds: lm-evaluation-harness and lmms-eval say it in the file of results beside it,
# or by the folder, which bears the model's name.

STAMP = r"\d{4}-?\d{2}-?\d{2}[T_]\d{2}-?\d{2}-?\d{2}(?:\.\d+)?"
_SEEDS = ("random_seed", "numpy_seed", "torch_seed", "fewshot_seed")
_MODEL_ARGS = re.compile(r"(?:^|,)(?:peft|delta|pretrained|model|model_version|path|engine)=([^,]+)")


@dataclass(frozen=True, slots=True)
class Beside:
    """What the files of results beside a file of samples say: the model, what to say of how it was found ('' where
    it is stated), the means of the task, and the seeds."""

    model: str
    said: str
    reported: dict[str, float]
    seeds: dict[str, str]


def beside(raw: RawLog, stamp: str, task: str) -> Beside:
    """The model of a file of samples, and what was reported of it."""
    results = list(_results(raw, stamp))
    stated = {name for one in results if (name := _model(one))}
    reported = _means(results[0], task) if len(results) == 1 else {}
    seeds = _seeds(results[0]) if len(results) == 1 else {}
    if len(stated) == 1:
        name = stated.pop()
        said = ""
        if re.fullmatch("[A-Za-z0-9]{8}", name) is not None and not any(map(_argument, results)):
            said = f"The arguments name no model, and the harness made {name!r} up: "
            said += "import --system-name NAME=FOLDER names it."
        return Beside(name, said, reported, seeds)
    folder = raw.path.resolve().parent.name
    if "__" in folder:  # how a model's name with a slash becomes a folder's
        return Beside(folder.replace("__", "/", 1), "", reported, seeds)
    said = f"The system is called as the folder, {folder!r}: no file of results beside it says the model."
    return Beside(folder, said, reported, seeds)


def _results(raw: RawLog, stamp: str) -> Iterator[dict[str, object]]:
    """The files of results of this stamp; without any, all of the folder.
    Raises InputError: one that is no JSON: what the system is called cannot be known."""
    names = [
        other.name
        for other in sorted(raw.path.parent.glob("*results*.json"))
        if other.is_file() and other.resolve().parent == raw.path.resolve().parent
    ]
    for name in [name for name in names if stamp and stamp in name] or names:
        results = raw.beside(name).json
        if isinstance(results, dict):
            yield results


def _means(results: dict[str, object], task: str) -> dict[str, float]:
    of_tasks = results.get("results")
    means = of_tasks.get(task) if isinstance(of_tasks, dict) else None
    if not isinstance(means, dict):
        return {}
    return {str(name): number for name, value in means.items() if (number := number_of(value)) is not None}


def _seeds(results: dict[str, object]) -> dict[str, str]:
    config = results.get("config")
    seeds = texts_in(config)
    return {name: seeds[name] for name in _SEEDS if name in seeds}


def _model(results: dict[str, object]) -> str:
    name = results.get("model_name")
    return name if isinstance(name, str) and name else _argument(results)


def _argument(results: dict[str, object]) -> str:
    """The argument that names the model."""
    config = results.get("config")
    arguments = config.get("model_args") if isinstance(config, dict) else None
    if isinstance(arguments, dict):
        named = [arguments.get(key) for key in ("peft", "delta", "pretrained", "model", "path", "engine")]
        return next((value for value in named if isinstance(value, str)), "")
    match = _MODEL_ARGS.search(arguments) if isinstance(arguments, str) else None
    return match[1] if match else ""


# Samples as lm-evaluation-harness writes them, and lmms-eval, which grew out of it: a JSON object a line.

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
    question: str
    fields: dict[str, str]
    label: str | None
    prediction: str | None
    scores: dict[str, float | None] = field(default_factory=dict)


def samples_of(raw: RawLog) -> tuple[list[LogSample], list[str]]:
    """The samples of a file, and what to say of them.
    Raises InputError: lines that are no samples, or that are cut off."""
    filters = {str(record.get("filter", "none")) for _, record in raw.records}
    problems = [
        Problem("has no 'doc_id': it is no sample.", "Is the log complete?", raw.source, row)
        for row, record in raw.records
        if text_of(record.get("doc_id")) is None
    ]
    if problems:
        raise InputError(problems[:5])
    samples: list[LogSample] = []
    open_items: dict[str, _Item] = {}
    left: dict[str, None] = {}
    for row, record in raw.records:
        name = str(text_of(record["doc_id"]))
        scores = dict(_scores(record, several=len(filters) > 1, left=left))
        item = open_items.get(name)
        if item is None or not item.scores.keys().isdisjoint(scores):  # a document that comes again
            if item is not None:
                samples.append(_sample(name, item))
            item = open_items[name] = _Item(row, *_about(record))
        item.scores.update(scores)
    samples += [_sample(name, item) for name, item in open_items.items()]
    samples.sort(key=lambda sample: sample.row)
    notices = (
        [f"Metrics that are no number for each sample are left out: {listing(list(left))}."] if left else []
    )
    return samples, notices


def _sample(name: str, item: _Item) -> LogSample:
    return LogSample(
        name, item.scores, "", item.row, item.fields, item.question, item.label, item.prediction
    )


def _about(record: Mapping[str, Any]) -> tuple[str, dict[str, str], str | None, str | None]:
    """What was asked, the fields of the data set, the right answer and the answer."""
    fields = texts_in(record.get("doc"))
    for value in record.values():  # lmms-eval keeps a question's category in its metrics
        if isinstance(value, dict) and _SCORE in value:
            fields |= {name: text for name, text in texts_in(value).items() if name != _SCORE}
    answers = record.get("filtered_resps")
    answer = answers[0] if isinstance(answers, list) and len(answers) == 1 else None
    question = str(record.get("doc_hash") or "")
    return question, fields, text_of(record.get("target")), answer if isinstance(answer, str) else None


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


# Files of samples as lm-evaluation-harness and lmms-eval name them: by the task and the date.


def log_of(raw: RawLog, named: re.Pattern[str]) -> Log:
    """The log in a file of samples; `named` is what its name looks like, with the groups `task` and `stamp`.
    Raises InputError: lines that are no samples, or that are cut off."""
    match = named.match(raw.path.name)
    task = match["task"] if match else Path(raw.path.name.removesuffix(".gz")).stem
    stamp = match["stamp"] if match else ""
    about = beside(raw, stamp, task)
    samples, notices = samples_of(raw)
    return Log(
        about.model,
        task,
        tuple(samples),
        created=stamp,
        notices=(*filter(None, [about.said]), *notices),
        reported=about.reported,
        seeds=about.seeds,
    )


_NAME = re.compile(rf"^samples_(?P<task>.+?)_(?P<stamp>{STAMP})\.jsonl?(\.gz)?$")
TOTALS = "it is a file of results"
_TOTALS = re.compile(rb'^\{\s*"results"\s*:\s*\{')


def _known_by(raw: RawLog) -> str | None:
    if _TOTALS.match(raw.head) and (b'"config' in raw.head or raw.path.name.startswith("results")):
        return TOTALS
    keys = raw.first.keys()
    if {"doc_id", "doc"} <= keys and not keys.isdisjoint({"resps", "filtered_resps", "doc_hash"}):
        return "its samples have doc_id, doc and answers"
    return None


def _read(raw: RawLog) -> Iterator[Log]:
    if _TOTALS.match(raw.head):
        rule = "holds the totals of each task, and no samples."
        remedy = "Name the file samples_... beside it, or the folder; lm_eval writes it with --log_samples."
        raise refusal(rule, remedy, raw.source)
    yield log_of(raw, _NAME)


LM_EVAL = Harness(
    "lm-eval",
    _known_by,
    _read,
    files="`samples_TASK_DATE.jsonl`, with `results_DATE.json` beside it, which names model and seeds",
    written_by="`lm_eval --output_path DIR --log_samples`",
    item="`doc_id`; the seeds",
    proved="0.4.13, 2026-11-25",
)


# Logs of lmms-eval: DATE_samples_TASK.jsonl in a folder for each model, beside DATE_results.json
# (lmms_eval/loggers/evaluation_tracker.py, version 0.3).

_NAME_LMMS_EVAL = re.compile(rf"^(?P<stamp>{STAMP})_samples_(?P<task>.+?)\.jsonl(\.gz)?$")


def _known_by_of_lmms_eval(raw: RawLog) -> str | None:
    keys = raw.first.keys()
    if {"doc_id", "target", "filtered_resps"} <= keys and "doc" not in keys:
        return "its samples have doc_id, filtered_resps and no doc"
    return None


LMMS_EVAL = Harness(
    "lmms-eval",
    _known_by_of_lmms_eval,
    lambda raw: [log_of(raw, _NAME_LMMS_EVAL)],
    files="`DATE_samples_TASK.jsonl`, with `DATE_results.json`",
    written_by="`lmms_eval --output_path DIR --log_samples`",
    item="`doc_id`",
    proved="by the source of 0.3",
)

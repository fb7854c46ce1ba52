"""Logs of HELM: per_instance_stats.json in the folder of a run, beside run_spec.json (version 0.5,
helm/benchmark/metrics/metric.py and statistic.py): a list of instances, each with statistics
that have a name, a count and a mean.
display_predictions.json, which its web page reads, has the statistics as plain numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from humeval_power.checking.logs.log import Log, LogSample
from humeval_power.errors import refusal
from humeval_power.files.logs.score_rows import Harness, RawLog, number_of, text_of

STATS, DISPLAYED, TOTALS = "per_instance_stats.json", "display_predictions.json", "stats.json"
RUN = "run_spec.json"
_TRIALS = (
    "The run of an answer is its train_trial_index: other examples, the same for all items (--crossed)."
)
_UNSEEN = (
    "HELM's files are read as the source of its version 0.5 writes them; none of a real run was seen: look at the "
    "means."
)
_START = re.compile(rb'^\[\s*\{[^{}\[\]]*"instance_id"\s*:')
_MODEL = re.compile(r"(?:^|[,:])model=([^,]+)")
_OF_MODEL = re.compile(r"(?:^|(?<=:)|,)(?:model|model_deployment)=[^,]+")  # what a task's name does without


def _known_by(raw: RawLog) -> str | None:
    if not (_START.match(raw.head) and b'"stats"' in raw.head):
        return None
    return "its instances have instance_id and stats"


def _read(raw: RawLog) -> Iterator[Log]:
    run, system = _run(raw)
    samples, notices = [], [_UNSEEN]
    n_perturbed = 0
    for row, record in raw.records:
        if text_of(record.get("instance_id")) is None:
            raise refusal("has no 'instance_id'.", "Is the log complete?", raw.source, row)
        if record.get("perturbation"):
            n_perturbed += 1
            continue
        samples.append(_sample(row, record))
    if n_perturbed:
        notices.append(f"Perturbed instances are left out: {n_perturbed:,}.")
    if len({sample.run for sample in samples}) > 1:
        notices.append(_TRIALS)
    task = _OF_MODEL.sub("", run).replace(":,", ":").strip(",:") or run
    yield Log(
        system,
        task,
        tuple(samples),
        notices=tuple(notices),
        reported=_reported(raw),
    )


def _reported(raw: RawLog) -> dict[str, float]:
    """The means in stats.json, without those of perturbed instances, and of metrics that stand there once: with
    several splits they do not."""
    if not raw.path.with_name(TOTALS).is_file():
        return {}
    means: dict[str, list[float]] = {}
    for _, one in raw.beside(TOTALS).records:
        for name, value in _scores([one]):
            if value is not None:
                means.setdefault(name, []).append(value)
    return {name: values[0] for name, values in means.items() if len(values) == 1}


def _sample(row: int, record: dict[str, Any]) -> LogSample:
    prediction = record.get("predicted_text")
    return LogSample(
        item=str(text_of(record["instance_id"])),
        scores=dict(_scores(record.get("stats"))),
        run=text_of(record.get("train_trial_index")) or "0",
        row=row,
        prediction=prediction.strip() if isinstance(prediction, str) else None,
    )


def _scores(stats: object) -> Iterator[tuple[str, float | None]]:
    if isinstance(stats, dict):
        yield from ((str(name), number_of(value)) for name, value in stats.items())
        return
    for one in stats if isinstance(stats, list) else []:
        if not isinstance(one, dict) or not isinstance(name := one.get("name"), dict):
            continue
        if not name.get("perturbation"):
            yield str(name.get("name")), number_of(one.get("mean")) if one.get("count") else None


def _run(raw: RawLog) -> tuple[str, str]:
    """The name of the run and its model, from run_spec.json or the name of the folder.
    Raises InputError: neither says the model."""
    spec: Any = {}
    if raw.path.with_name(RUN).is_file():
        spec = raw.beside(RUN).json
    spec = spec if isinstance(spec, dict) else {}
    run = str(spec.get("name") or raw.path.resolve().parent.name)
    adapter = spec.get("adapter_spec")
    model = text_of(adapter.get("model")) if isinstance(adapter, dict) else None
    named = _MODEL.search(run)
    if model is None and named is None:
        rule = f"says no model: {RUN} is not beside it, and the folder is not called ...,model=NAME."
        raise refusal(rule, "Copy the whole folder of the run.", raw.source)
    return run, model or str(named and named[1])


HELM = Harness(
    "helm",
    _known_by,
    _read,
    files="`per_instance_stats.json`, with `run_spec.json`; or `display_predictions.json`",
    written_by="`helm-run`",
    item="`instance_id`; `train_trial_index`",
    proved="by the source of 0.5",
)

"""Logs of lmms-eval: DATE_samples_TASK.jsonl in a folder for each model, beside DATE_results.json
(lmms_eval/loggers/evaluation_tracker.py, version 0.3)."""

from __future__ import annotations

import re
from pathlib import Path

from humeval_power.checking.logs.log import Log
from humeval_power.interfaces.formats.logs.harness import Harness
from humeval_power.interfaces.formats.logs.model_names import STAMP, model_beside
from humeval_power.interfaces.formats.logs.raw import RawLog
from humeval_power.interfaces.formats.logs.sample_lines import samples_of

_NAME = re.compile(rf"^(?P<stamp>{STAMP})_samples_(?P<task>.+?)\.jsonl(\.gz)?$")


def _known_by(raw: RawLog) -> str | None:
    keys = raw.first.keys()
    if {"doc_id", "target", "filtered_resps"} <= keys and "doc" not in keys:
        return "its samples have doc_id, filtered_resps and no doc"
    return None


def _read(raw: RawLog, why: str) -> list[Log]:
    found = _NAME.match(raw.path.name)
    task = found["task"] if found else Path(raw.path.name.removesuffix(".gz")).stem
    stamp = found["stamp"] if found else ""
    system, said = model_beside(raw, stamp)
    samples, told = samples_of(raw)
    notices = (*([said] if said else []), *told)
    return [Log(raw.source, LMMS_EVAL.title, why, system, task, tuple(samples), raw.sha256, stamp, notices)]


LMMS_EVAL = Harness("lmms-eval", "lmms-eval", _known_by, _read)

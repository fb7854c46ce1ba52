"""Logs of lmms-eval: DATE_samples_TASK.jsonl in a folder for each model, beside DATE_results.json
(lmms_eval/loggers/evaluation_tracker.py, version 0.3)."""

from __future__ import annotations

import re

from humeval_power.checking.logs.log import Log
from humeval_power.interfaces.formats.logs.harness import Harness
from humeval_power.interfaces.formats.logs.model_names import STAMP
from humeval_power.interfaces.formats.logs.raw import RawLog
from humeval_power.interfaces.formats.logs.sample_files import log_of

_NAME = re.compile(rf"^(?P<stamp>{STAMP})_samples_(?P<task>.+?)\.jsonl(\.gz)?$")


def _known_by(raw: RawLog) -> str | None:
    keys = raw.first.keys()
    if {"doc_id", "target", "filtered_resps"} <= keys and "doc" not in keys:
        return "its samples have doc_id, filtered_resps and no doc"
    return None


def _read(raw: RawLog, why: str) -> list[Log]:
    return [log_of(raw, why, harness=LMMS_EVAL.title, named=_NAME)]


LMMS_EVAL = Harness("lmms-eval", "lmms-eval", _known_by, _read)

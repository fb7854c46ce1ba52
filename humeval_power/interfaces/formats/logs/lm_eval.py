"""Logs of lm-evaluation-harness: samples_TASK_DATE.jsonl, which --log_samples writes into a folder for each model,
beside results_DATE.json (lm_eval/loggers/evaluation_tracker.py, version 0.4.9)."""

from __future__ import annotations

import re

from humeval_power.checking.logs.log import Log
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.logs.harness import Harness
from humeval_power.interfaces.formats.logs.model_names import STAMP
from humeval_power.interfaces.formats.logs.raw import RawLog
from humeval_power.interfaces.formats.logs.sample_files import log_of

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


def _read(raw: RawLog, why: str) -> list[Log]:
    if _TOTALS.match(raw.head):
        rule = "holds the totals of each task, and no samples."
        remedy = "Name the file samples_... beside it, or the folder; lm_eval writes it with --log_samples."
        raise InputError([Problem(rule, remedy, raw.source)])
    return [log_of(raw, why, harness=LM_EVAL.title, named=_NAME)]


LM_EVAL = Harness("lm-eval", "lm-evaluation-harness", _known_by, _read)

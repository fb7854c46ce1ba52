"""Files of samples as lm-evaluation-harness and lmms-eval name them: by the task and the date."""

from __future__ import annotations

import re
from pathlib import Path

from humeval_power.checking.logs.log import Log
from humeval_power.interfaces.formats.logs.model_names import beside
from humeval_power.interfaces.formats.logs.raw import RawLog
from humeval_power.interfaces.formats.logs.sample_lines import samples_of


def log_of(raw: RawLog, why: str, *, harness: str, named: re.Pattern[str]) -> Log:
    """The log in a file of samples.

    harness : its title. named : what its name looks like, with the groups `task` and `stamp`.

    Raises
    ------
    InputError
        Lines that are no samples, or that are cut off.
    """
    found = named.match(raw.path.name)
    task = found["task"] if found else Path(raw.path.name.removesuffix(".gz")).stem
    stamp = found["stamp"] if found else ""
    about = beside(raw, stamp, task)
    samples, told = samples_of(raw)
    return Log(
        raw.source,
        harness,
        why,
        about.model,
        task,
        tuple(samples),
        sha256=raw.sha256,
        created=stamp,
        notices=(*filter(None, [about.said]), *told),
        reported=about.reported,
        seeds=about.seeds,
    )

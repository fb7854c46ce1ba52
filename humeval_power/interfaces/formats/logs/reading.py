"""Logs of harnesses as tables of scores: files, or folders with the logs of several models."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from humeval_power.checking.columns import listing
from humeval_power.checking.logs.combined import LogTable, combine_logs
from humeval_power.checking.logs.log import Log
from humeval_power.checking.logs.repeats import Again
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.file_bytes import STANDARD_INPUT
from humeval_power.interfaces.formats.logs.harness import Harness
from humeval_power.interfaces.formats.logs.helm import DISPLAYED, HELM, STATS
from humeval_power.interfaces.formats.logs.inspect_log import INSPECT
from humeval_power.interfaces.formats.logs.lm_eval import LM_EVAL, TOTALS
from humeval_power.interfaces.formats.logs.lmms_eval import LMMS_EVAL
from humeval_power.interfaces.formats.logs.openai_evals import OPENAI
from humeval_power.interfaces.formats.logs.raw import RawLog

HARNESSES: tuple[Harness, ...] = (LM_EVAL, LMMS_EVAL, INSPECT, HELM, OPENAI)
_ENDINGS = (".json", ".jsonl", ".eval", ".json.gz", ".jsonl.gz")
_MOST_FILES = 20_000


def read_logs(
    *paths: str | Path,
    harness: str | None = None,
    task: str | None = None,
    scores: Sequence[str] = (),
    again: Again = "refuse",
) -> LogTable | None:
    """Read logs of models' scores; None where a path is no log and no folder of them.

    Parameters
    ----------
    paths : logs of lm-evaluation-harness, lmms-eval, Inspect, HELM and OpenAI's evals, told from their content; or
        folders with such.
    harness : whose logs they are, by the name of one of HARNESSES; others are not looked at. None for any.
    task, scores, again : as `combine_logs` takes them.

    Returns
    -------
    LogTable
        A row for each answer: system, item, run and task where there are several, the metrics, and what may be
        clusters of items.

    Raises
    ------
    InputError
        A folder without a log, a log that is cut off or contradicts itself, and what `combine_logs` refuses.
    """
    found = logs_in(*paths, harness=harness)
    return None if found is None else combine_logs(found, task=task, scores=scores, again=again)


def are_logs(paths: Sequence[str | Path]) -> bool:
    """Whether each path is a log, or a folder with one: told from the beginnings of the files."""
    return bool(paths) and all(_is_log(Path(path)) for path in paths)


def _is_log(path: Path) -> bool:
    if str(path) == STANDARD_INPUT or "\0" in str(path):
        return False
    if path.is_dir():
        return any(_told(RawLog(file, file.name)) for file in _files(path))
    return path.is_file() and _told(RawLog(path, path.name)) is not None


def logs_in(*paths: str | Path, harness: str | None = None) -> list[Log] | None:
    """The logs in these files and folders, in their order; None where one is neither log nor folder.

    Raises
    ------
    InputError
        A folder without a log, or logs that cannot be read, all of them.
    """
    found: list[tuple[RawLog, Harness, str]] = []
    for path in paths:
        if str(path) == STANDARD_INPUT or "\0" in str(path):
            return None
        here = Path(path)
        if here.is_dir():
            found += _in_folder(here, harness)
        elif here.is_file() and (told := _told(RawLog(here, here.name), harness)) is not None:
            found.append(told)
        else:
            return None
    return _read(found)


def _read(found: Sequence[tuple[RawLog, Harness, str]]) -> list[Log]:
    logs: list[Log] = []
    problems: list[Problem] = []
    for raw, harness, why in found:
        try:
            logs += harness.read(raw, why)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems[:10])
    return logs


def _told(raw: RawLog, name: str | None = None) -> tuple[RawLog, Harness, str] | None:
    for harness in HARNESSES:
        why = harness.known_by(raw) if name in (None, harness.name) else None
        if why is not None:
            return raw, harness, why
    return None


def _in_folder(folder: Path, harness: str | None) -> list[tuple[RawLog, Harness, str]]:
    """The logs below a folder, by their names.

    Raises
    ------
    InputError
        No log, or more files than a folder of logs has.
    """
    found = []
    for path in _files(folder):
        told = _told(RawLog(path, str(path.relative_to(folder))), harness)
        if told is not None and told[2] != TOTALS:
            found.append(told)
    if not found:
        rule = f"is a directory, and holds no log of {listing([one.title for one in HARNESSES])}."
        remedy = "Name a file, or a folder of logs; lm_eval and lmms_eval write them with --log_samples."
        raise InputError([Problem(rule, remedy, str(folder))])
    return found


def _files(folder: Path) -> Iterator[Path]:
    n_files = 0
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        n_files += len(names)
        if n_files > _MOST_FILES:
            rule = f"holds more than {_MOST_FILES:,} files."
            raise InputError([Problem(rule, "Name the folder of the logs alone.", str(folder))])
        for name in sorted(names):
            path = Path(parent, name)
            if not name.lower().endswith(_ENDINGS) or not path.is_file():
                continue
            if _is_helm(names) and name != (STATS if STATS in names else DISPLAYED):
                continue  # the other files of a run are large, and say nothing of scores
            yield path


def _is_helm(names: Sequence[str]) -> bool:
    return STATS in names or DISPLAYED in names

"""Logs of harnesses as tables of scores: files, or folders with the logs of several models."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from humeval_power.checking.columns import listing
from humeval_power.checking.logs.repeats import Again
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.file_bytes import STANDARD_INPUT
from humeval_power.interfaces.formats.logs.raw import RawLog
from humeval_power.interfaces.formats.logs.systems import NO_NAMES, with_systems
from humeval_power.interfaces.formats.size_limits import refuse_large_table

if TYPE_CHECKING:
    from humeval_power.checking.logs.combined import LogTable
    from humeval_power.checking.logs.log import Log
    from humeval_power.interfaces.formats.logs.folder import ToldLog

_MOST_PROBLEMS = 10


class LogsFound(NamedTuple):
    """The logs in files and folders, and what to say of files in the folders that were not read."""

    logs: list[Log]
    notices: tuple[str, ...]


def read_logs(
    *paths: str | Path,
    harness: str | None = None,
    tasks: Sequence[str] = (),
    scores: Sequence[str] = (),
    again: Again = "refuse",
    systems: Mapping[str, str] = NO_NAMES,
    leave_out: Collection[str] = (),
) -> LogTable | None:
    """Read logs of models' scores; None where a path is no log and no folder of them. Every file of a folder is
    read, or named in the notices.

    Parameters
    ----------
    paths : logs of the HARNESSES, told from their content; or folders with such.
    harness : whose logs they are, by the name of one of HARNESSES; others are not looked at. None for any.
    tasks, scores, again : as `combine_logs` takes them.
    systems : names of systems, by the files or folders of their logs, where the logs do not say them.
    leave_out : paths of files in the folders that are not looked at.

    Returns
    -------
    LogTable
        A row for each answer: system, item, run and task where there are several, the metrics, and what may be
        clusters of items.

    Raises
    ------
    InputError
        A folder without a log, a log that is cut off or contradicts itself, a file of a folder that looks like a
        log and is damaged, and what `combine_logs` refuses.
    """
    found = logs_in(*paths, harness=harness, systems=systems, leave_out=leave_out)
    if found is None:
        return None
    from humeval_power.checking.logs.combined import combine_logs

    return combine_logs(found.logs, tasks=tasks, scores=scores, again=again, notices=found.notices)


def are_logs(paths: Sequence[str | Path]) -> bool:
    """Whether each path is a log, or a folder with one: told from the beginnings of the files."""
    return bool(paths) and all(_is_log(Path(path)) for path in paths)


def _is_log(path: Path) -> bool:
    if str(path) == STANDARD_INPUT or "\0" in str(path):
        return False
    if path.is_dir():
        from humeval_power.interfaces.formats.logs.folder import candidates

        return any(_told(RawLog(file, file.name)) for file in candidates(path))
    return path.is_file() and _told(RawLog(path, path.name)) is not None


def logs_in(
    *paths: str | Path,
    harness: str | None = None,
    systems: Mapping[str, str] = NO_NAMES,
    leave_out: Collection[str] = (),
) -> LogsFound | None:
    """The logs in these files and folders, in their order; None where one is neither log nor folder.

    Raises
    ------
    InputError
        A folder without a log, logs that cannot be read, and files of a folder that look like a part of a run and
        cannot be read, all of them.
    """
    found: list[ToldLog] = []
    problems: list[Problem] = []
    notices: list[str] = []
    left_out: list[str] = []
    for path in paths:
        if str(path) == STANDARD_INPUT or "\0" in str(path):
            return None
        here = Path(path)
        if here.is_dir():
            from humeval_power.interfaces.formats.logs.folder import log_folder

            folder = log_folder(here, lambda raw: _told(raw, harness), leave_out=leave_out)
            if not folder.logs:
                rule = f"is a directory, and holds no log of {listing(_titles())}."
                remedy = (
                    "Name a file, or a folder of logs; lm_eval and lmms_eval write them with --log_samples."
                )
                raise InputError([Problem(rule, remedy, str(here))])
            found += folder.logs
            problems += folder.damaged
            notices += folder.notices()
            left_out += [*folder.left_out, *(str(here / name) for name in folder.left_out)]
        elif here.is_file() and (told := _told(RawLog(here, here.name), harness)) is not None:
            found.append(told)
        else:
            return None
    problems += [
        Problem(f"there is no file {name!r} to leave out.", "Name it by its path within the folder.")
        for name in leave_out
        if name not in left_out
    ]
    return LogsFound(_read(found, problems, systems), tuple(notices))


def _read(found: Sequence[ToldLog], known: Sequence[Problem], systems: Mapping[str, str]) -> list[Log]:
    """The logs in these files; `known` are the problems of other files, told together with theirs."""
    read: list[tuple[Path, Log]] = []
    problems = list(known)
    for raw, harness, why in found:
        try:
            read += [(raw.path, log) for log in harness.read(raw, why)]
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems[:_MOST_PROBLEMS])
    logs = with_systems(read, systems)
    samples = [sample for log in logs for sample in log.samples]
    names = {name for sample in samples for name in (*sample.fields, *sample.scores)}
    refuse_large_table(
        len(samples), len(names), place="the metrics of the logs, and the fields of their data sets"
    )
    return logs


def _told(raw: RawLog, name: str | None = None) -> ToldLog | None:
    if not raw.may_be_log:
        return None
    from humeval_power.interfaces.formats.logs.folder import ToldLog
    from humeval_power.interfaces.formats.logs.harnesses import HARNESSES

    for harness in HARNESSES:
        why = harness.known_by(raw) if name in (None, harness.name) else None
        if why is not None:
            return ToldLog(raw, harness, why)
    return None


def _titles() -> list[str]:
    from humeval_power.interfaces.formats.logs.harnesses import HARNESSES

    return [one.title for one in HARNESSES]

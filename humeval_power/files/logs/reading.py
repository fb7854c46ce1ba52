"""Logs of harnesses as tables of scores: files, or folders with the logs of several models."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from humeval_power.checking.columns import listing, shortened
from humeval_power.checking.logs.log import Again, Log
from humeval_power.errors import InputError, Problem
from humeval_power.files.file_bytes import STANDARD_INPUT, refuse_large_table
from humeval_power.files.logs.braintrust import BRAINTRUST
from humeval_power.files.logs.deepeval import DEEPEVAL
from humeval_power.files.logs.helm import DISPLAYED, HELM, RUN, STATS
from humeval_power.files.logs.helm import TOTALS as HELM_TOTALS
from humeval_power.files.logs.inspect_log import INSPECT
from humeval_power.files.logs.langfuse import LANGFUSE, OBSERVATIONS
from humeval_power.files.logs.langsmith import LANGSMITH
from humeval_power.files.logs.lm_eval import LM_EVAL, LMMS_EVAL, TOTALS
from humeval_power.files.logs.mlflow import MLFLOW
from humeval_power.files.logs.mteb import META, MTEB
from humeval_power.files.logs.openai_evals import OPENAI
from humeval_power.files.logs.promptfoo import PROMPTFOO
from humeval_power.files.logs.pydantic_evals import PYDANTIC_EVALS
from humeval_power.files.logs.ragas import RAGAS
from humeval_power.files.logs.sacrebleu import SACREBLEU
from humeval_power.files.logs.score_rows import Harness, RawLog
from humeval_power.safe_text import shell_word

if TYPE_CHECKING:
    from humeval_power.checking.logs.combined import LogTable

# The files of a folder of logs: each is a log, totals beside one, no part of a run, or a damaged part of
# one.

_ENDINGS = (".json", ".jsonl", ".eval", ".json.gz", ".jsonl.gz")
_TABLES = (".csv", ".csv.gz", ".txt")  # logs of some harnesses, and much else
_MOST_FILES = 20_000
_MOST_NAMED = 10
_LONGEST = 120  # characters of a path
_NAME_OF_LOG = re.compile(  # of lm-eval, lmms-eval and Inspect, which name their logs by task and time
    r"(.+_)?samples_.+\.jsonl?(\.gz)?|.+\.eval|\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d.*\.json"
)


class KnownLog(NamedTuple):
    """A file, whose log it is, and what it was known by."""

    raw: RawLog
    harness: Harness
    why: str


@dataclass
class LogFolder:
    """The files below a folder by their paths within it, in the order of their names; `damaged` are what looks like
    a part of a run and cannot be read."""

    path: Path
    logs: list[KnownLog] = field(default_factory=list)
    damaged: list[Problem] = field(default_factory=list)
    totals: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def notices(self) -> Iterator[str]:
        """Which files were not read."""
        places = {os.path.dirname(one.raw.source) for one in self.logs}
        alone = [name for name in self.totals if os.path.dirname(name) not in places]
        if alone:
            yield f"Not in the table, as no samples lie beside these totals: {_by_name(alone)}."
        if self.others:
            yield f"Not read, as they are no logs: {_by_name(self.others)}."
        if self.left_out:
            yield f"Left out by name: {_by_name(self.left_out)}."


def log_folder(
    folder: Path, read: Callable[[RawLog], KnownLog | None], *, leave_out: Collection[str] = ()
) -> LogFolder:
    """What the files below a folder are; `told` says whose log one is, and `leave_out` has the paths of files,
    within the folder or from here, that are not looked at.
    Raises InputError: more files than a folder of logs has, or a folder within it that cannot be opened."""
    folder_of_logs = LogFolder(folder)
    unknown: list[tuple[Path, str]] = []
    for path in _entries(folder):
        name = str(path.relative_to(folder))
        if name in leave_out or str(path) in leave_out:
            folder_of_logs.left_out.append(name)
            continue
        one = read(RawLog(path, name)) if _may_be_log(path) else None
        if one is None:
            unknown.append((path, name))
        elif one.why == TOTALS:
            folder_of_logs.totals.append(name)
        else:
            folder_of_logs.logs.append(one)
    forms = {_form(one.raw.path) for one in folder_of_logs.logs}
    places = {one.raw.path.parent for one in folder_of_logs.logs}
    exports = {place.parent for place in places}
    for path, name in unknown:
        if path.parent.name in OBSERVATIONS and path.parent.parent in exports:
            continue  # read with the scores beside them
        why = _damage(path, forms)
        if why:
            rule = f"looks like a part of a run and cannot be read: {why}."
            here, left = shell_word(str(folder)), shell_word(name)
            remedy = (
                "Restore it, or run the evaluation again; or leave it out by name: "
                f"humeval-power import {here} --leave-out {left} -o scores.csv"
            )
            folder_of_logs.damaged.append(Problem(rule, remedy, name))
        elif path.name not in (RUN, HELM_TOTALS) or path.parent not in places:
            folder_of_logs.others.append(name)
    return folder_of_logs


def candidates(folder: Path) -> Iterator[Path]:
    """The files below a folder that may be logs by their names."""
    return (path for path in _entries(folder) if _may_be_log(path))


def _entries(folder: Path) -> Iterator[Path]:
    """All files below a folder, and the folders that are not opened: hidden ones and links."""

    def refuse(error: OSError) -> None:
        rule = f"cannot be opened: {error.strerror}."
        raise InputError([Problem(rule, "Correct its permissions.", str(error.filename))])

    n_files = 0
    for parent, folders, names in os.walk(folder, onerror=refuse):
        n_files += len(names)
        if n_files > _MOST_FILES:
            rule = f"holds more than {_MOST_FILES:,} files."
            raise InputError([Problem(rule, "Name the folder of the logs alone.", str(folder))])
        closed = [
            name for name in folders if name.startswith(".") or os.path.islink(os.path.join(parent, name))
        ]
        folders[:] = sorted(set(folders) - set(closed))
        yield from (Path(parent, name) for name in sorted([*names, *closed]))


def _may_be_log(path: Path) -> bool:
    if not path.name.lower().endswith((*_ENDINGS, *_TABLES)) or not path.is_file():
        return False
    if path.name == META:  # the model of MTEB's results, which their reader looks up
        return False
    for name in (STATS, DISPLAYED):  # the other files of a run of HELM are large, and say nothing of scores
        if path.with_name(name).is_file():
            return path.name == name
    return True


def _form(path: Path) -> str:
    """A name without its numbers, by which logs of one evaluation are alike."""
    return re.sub(r"\d+", "#", path.name)


def _damage(path: Path, forms: Collection[str]) -> str:
    """Why a file that no harness knows is a damaged part of a run; '' where it is none."""
    name = path.name
    named_as_log = _NAME_OF_LOG.fullmatch(name) or name in (STATS, DISPLAYED) or _form(path) in forms
    if name == RUN and not any(path.with_name(other).exists() for other in (STATS, DISPLAYED)):
        return f"{STATS} is not beside it"
    is_table = name.lower().endswith(_TABLES) and _form(path) in forms and path.is_file()
    if is_table:
        return "its content is that of no log" if path.stat().st_size else "it is empty"
    if not name.lower().endswith(_ENDINGS) or (name.startswith(".") and not named_as_log):
        return ""
    if path.is_dir():
        return ""
    if not path.is_file():
        return "it leads to no file" if path.is_symlink() else "it is no regular file"
    if not _may_be_log(path):  # beside the log of a run of HELM
        return ""
    try:
        is_empty = not path.stat().st_size or not _values(RawLog(path, name))
    except InputError as error:
        return (error.problems[0].rule if error.problems else str(error)).rstrip(".")
    if is_empty:
        return "it is empty" if not path.stat().st_size else "no sample is in it"
    return "its content is that of no log" if named_as_log else ""


def _values(raw: RawLog) -> object:
    """What stands in a file: the names in an archive, the value of a JSON text, or the objects of its lines."""
    if raw.is_zip:
        return raw.names
    first, second = ("records", "json") if ".jsonl" in raw.path.name.lower() else ("json", "records")
    try:
        return getattr(raw, first)
    except InputError:
        try:
            return getattr(raw, second)
        except InputError:
            pass
        raise


def _by_name(names: Sequence[str]) -> str:
    """Files by their paths; many by their names, with how often each occurs."""
    if len(names) > _MOST_NAMED:
        counts = Counter(map(os.path.basename, names))
        names = [name if n == 1 else f"{name} ({n:,} times)" for name, n in counts.items()]
    rest = len(names) - _MOST_NAMED
    shown = ", ".join(shortened(name, width=_LONGEST) for name in names[:_MOST_NAMED])
    return f"{shown}, and {rest:,} more" if rest > 0 else shown


# What the systems of logs are called: as a person says, as the log does, or as its folder or file.

NO_NAMES: Mapping[str, str] = MappingProxyType({})


def with_systems(read: Sequence[tuple[Path, Log]], systems: Mapping[str, str]) -> list[Log]:
    """The logs, each with a name of its system.

    read : logs with their paths. systems : names by paths of files or of folders.
    Raises InputError: a path without a log, or one name for several systems.
    """
    names = {Path(path).resolve(): name for path, name in systems.items()}
    problems = []
    for path, name in names.items():
        those = [log for at, log in read if path in (at.resolve(), *at.resolve().parents)]
        known = list(dict.fromkeys(log.system for log in those))
        if not those:
            problems.append(Problem("holds no log of those that are read.", "Name its file.", str(path)))
        elif len(known) > 1:
            rule = f"holds several systems, {listing(known, limit=6)}, and is to be called {name!r}."
            problems.append(Problem(rule, "Name the file of each.", str(path)))
    if problems:
        raise InputError(problems)
    stems = [_stem(at) for at, log in read if not log.system]
    are_alike = len(set(stems)) < len(stems)
    return [_named(at, log, names, are_alike=are_alike) for at, log in read]


def _named(path: Path, log: Log, names: Mapping[Path, str], *, are_alike: bool) -> Log:
    here = path.resolve()
    name = next((names[at] for at in (here, *here.parents) if at in names), None)
    if name is not None:
        return replace(log, system=name)
    if log.system:
        return log
    of_folder = are_alike or bool(os.path.dirname(log.source))
    name = here.parent.name if of_folder else _stem(path)
    notice = (
        f"The system is called as its {'folder' if of_folder else 'file'}, {name!r}, as nothing in the log names "
        "it: import --system-name NAME=FILE does."
    )
    return replace(log, system=name, notices=(*log.notices, notice))


def _stem(path: Path) -> str:
    """The name of a file without what says its format."""
    return Path(path.name.removesuffix(".gz")).stem


_MOST_PROBLEMS = 10


class LogsRead(NamedTuple):
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
    logs = logs_in(*paths, harness=harness, systems=systems, leave_out=leave_out)
    if logs is None:
        return None
    from humeval_power.checking.logs.combined import combine_logs

    return combine_logs(logs.logs, tasks=tasks, scores=scores, again=again, notices=logs.notices)


def are_logs(paths: Sequence[str | Path]) -> bool:
    """Whether each path is a log, or a folder with one: told from the beginnings of the files."""
    return bool(paths) and all(_is_log(Path(path)) for path in paths)


def _is_log(path: Path) -> bool:
    if str(path) == STANDARD_INPUT or "\0" in str(path):
        return False
    if path.is_dir():
        return any(_log_of(RawLog(file, file.name)) for file in candidates(path))
    return path.is_file() and _log_of(RawLog(path, path.name)) is not None


def logs_in(
    *paths: str | Path,
    harness: str | None = None,
    systems: Mapping[str, str] = NO_NAMES,
    leave_out: Collection[str] = (),
) -> LogsRead | None:
    """The logs in these files and folders, in their order; None where one is neither log nor folder.
    Raises InputError: a folder without a log, logs that cannot be read, and files of a folder that look like a part
    of a run and cannot be read, all of them."""
    logs: list[KnownLog] = []
    problems: list[Problem] = []
    notices: list[str] = []
    left_out: list[str] = []
    for path in paths:
        if str(path) == STANDARD_INPUT or "\0" in str(path):
            return None
        here = Path(path)
        if here.is_dir():
            folder = log_folder(here, lambda raw: _log_of(raw, harness), leave_out=leave_out)
            if not folder.logs:
                rule = f"is a directory, and holds no log of {listing([one.title for one in HARNESSES])}."
                remedy = (
                    "Name a file, or a folder of logs; lm_eval and lmms_eval write them with --log_samples."
                )
                raise InputError([Problem(rule, remedy, str(here))])
            logs += folder.logs
            problems += folder.damaged
            notices += folder.notices()
            left_out += [*folder.left_out, *(str(here / name) for name in folder.left_out)]
        elif here.is_file() and (log := _log_of(RawLog(here, here.name), harness)) is not None:
            logs.append(log)
        else:
            return None
    problems += [
        Problem(f"there is no file {name!r} to leave out.", "Name it by its path within the folder.")
        for name in leave_out
        if name not in left_out
    ]
    return LogsRead(_read(logs, problems, systems), tuple(notices))


def _read(result: Sequence[KnownLog], known: Sequence[Problem], systems: Mapping[str, str]) -> list[Log]:
    """The logs in these files; `known` are the problems of other files, told together with theirs."""
    read: list[tuple[Path, Log]] = []
    problems = list(known)
    for raw, harness, why in result:
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


def _log_of(raw: RawLog, name: str | None = None) -> KnownLog | None:
    if not raw.may_be_log:
        return None
    for harness in HARNESSES:
        why = harness.known_by(raw) if name in (None, harness.name) else None
        if why is not None:
            return KnownLog(raw, harness, why)
    return None


# The harnesses whose logs are read.

HARNESSES: tuple[Harness, ...] = (
    LM_EVAL,
    LMMS_EVAL,
    INSPECT,
    HELM,
    OPENAI,
    PROMPTFOO,
    DEEPEVAL,
    PYDANTIC_EVALS,
    RAGAS,
    MLFLOW,
    SACREBLEU,
    MTEB,
    LANGSMITH,
    BRAINTRUST,
    LANGFUSE,
)

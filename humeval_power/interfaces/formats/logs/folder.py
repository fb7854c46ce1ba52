"""The files of a folder of logs: each is a log, totals beside one, no part of a run, or a damaged part of one."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from humeval_power.checking.columns import shortened
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.logs.harness import Harness
from humeval_power.interfaces.formats.logs.helm import DISPLAYED, RUN, STATS
from humeval_power.interfaces.formats.logs.helm import TOTALS as HELM_TOTALS
from humeval_power.interfaces.formats.logs.lm_eval import TOTALS
from humeval_power.interfaces.formats.logs.mteb import META
from humeval_power.interfaces.formats.logs.raw import RawLog
from humeval_power.safe_text import shell_word

_ENDINGS = (".json", ".jsonl", ".eval", ".json.gz", ".jsonl.gz")
_TABLES = (".csv", ".csv.gz")  # logs of some harnesses, and much else
_MOST_FILES = 20_000
_MOST_NAMED = 10
_LONGEST = 120  # characters of a path
_NAME_OF_LOG = re.compile(  # of lm-eval, lmms-eval and Inspect, which name their logs by task and time
    r"(.+_)?samples_.+\.jsonl?(\.gz)?|.+\.eval|\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d.*\.json"
)


class ToldLog(NamedTuple):
    """A file, whose log it is, and what it was known by."""

    raw: RawLog
    harness: Harness
    why: str


@dataclass
class LogFolder:
    """The files below a folder by their paths within it, in the order of their names; `damaged` are what looks like
    a part of a run and cannot be read."""

    path: Path
    logs: list[ToldLog] = field(default_factory=list)
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
    folder: Path, told: Callable[[RawLog], ToldLog | None], *, leave_out: Collection[str] = ()
) -> LogFolder:
    """What the files below a folder are; `told` says whose log one is, and `leave_out` has the paths of files,
    within the folder or from here, that are not looked at.

    Raises
    ------
    InputError
        More files than a folder of logs has, or a folder within it that cannot be opened.
    """
    found = LogFolder(folder)
    unknown: list[tuple[Path, str]] = []
    for path in _entries(folder):
        name = str(path.relative_to(folder))
        if name in leave_out or str(path) in leave_out:
            found.left_out.append(name)
            continue
        one = told(RawLog(path, name)) if _may_be_log(path) else None
        if one is None:
            unknown.append((path, name))
        elif one.why == TOTALS:
            found.totals.append(name)
        else:
            found.logs.append(one)
    forms = {_form(one.raw.path) for one in found.logs}
    places = {one.raw.path.parent for one in found.logs}
    for path, name in unknown:
        why = _damage(path, forms)
        if why:
            rule = f"looks like a part of a run and cannot be read: {why}."
            here, left = shell_word(str(folder)), shell_word(name)
            remedy = (
                "Restore it, or run the evaluation again; or leave it out by name: "
                f"humeval-power import {here} --leave-out {left} -o scores.csv"
            )
            found.damaged.append(Problem(rule, remedy, name))
        elif path.name not in (RUN, HELM_TOTALS) or path.parent not in places:
            found.others.append(name)
    return found


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

"""The errors of the package: one small tree, and the record of one problem in the input."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

_options_are_typed = False  # one door for the whole process: threads of the page tell options too


@contextmanager
def options_in_errors() -> Iterator[None]:
    """Within it errors name the options of commands, as their messages are written; else arguments of calls."""
    global _options_are_typed
    before, _options_are_typed = _options_are_typed, True
    try:
        yield
    finally:
        _options_are_typed = before


# A line to type in a shell stays as it is; an option has a value where that is a word in capitals, quoted, a list
# or a number; some options take words.
_LINE = r"`[^`]*`|(?:humeval-power|apt-get|inspect) .*?(?=[;:,]\s|\.\s|\.?$)"
_LINE += r"|\b(?:analyze|plan|power|import|monitor|surface)(?: --[\w-]+(?: [\w.]+)?)+"
_WORDS = "df|model|correction|correct-over|estimator|engine|family|rejected-rows|test|alternative"
_NAMES = "worker|item|system|systems|baseline|criterion|rating|cluster|score|column"
_VALUE = r"\d{1,3}(?:,\d{3})+\b|[A-Z]\w*(?:[,:][A-Z]\w*)*\b|'[^']*'"
_VALUE += r"|[^\s;,:']+(?:[,:][^\s;,.]+)+|-?\d[\d.]*\b"
_OPTION = re.compile(
    rf"(?P<line>{_LINE})|(?<![\w-])--(?:(?P<takes>{_WORDS}) (?P<word>[a-z][\w-]*)"
    rf"|(?P<names>{_NAMES}) (?P<named>(?!(?:out|names)\b)[^\s;,.()']+)(?=\.?$|[.;,)]\s|\))"
    rf"|(?P<criteria>criteria)(?: (?P<list>[^\s;.]+)(?:\.\.\.)?)?"
    rf"|(?P<name>[a-z][a-z-]*)(?!\w)(?:[ =](?P<value>{_VALUE}))?)",
    re.MULTILINE,
)
_ARGUMENTS = {
    "covariate": "covariates",
    **{name: f"n_{name}" for name in ("simulations", "resamples", "swaps", "flips", "jobs")},
}


def as_arguments(message: str) -> str:
    """The message with the arguments of calls in the place of options: `--systems A,B` is `systems=('A', 'B')`."""
    return _OPTION.sub(_argument, message)


def _argument(match: re.Match[str]) -> str:
    if match["line"]:
        return match[0]
    if match["criteria"]:
        those = tuple(one for one in (match["list"] or "all").strip("'").split(",") if one)
        return "hp.models.read_criteria" + ("" if those == ("all",) else f"(criteria={those!r})")
    option = match["name"] or match["names"] or match["takes"]
    value = match["value"] or match["named"] or match["word"]
    if option == "all-pairs":
        return "require_pair=False"
    name = _ARGUMENTS.get(option, option.replace("-", "_"))
    if not value:
        return f"`{name}`"
    text = value.strip("'")
    if option in ("systems", "covariate"):
        return f"{name}={tuple(text.split(','))!r}"
    if re.fullmatch(r"COLUMN|NAME|FILE|VALUE|GOLD|KEY|-?[\d.,]+", value):
        return f"{name}={value.replace(',', '_')}"
    return f"{name}={text!r}"


class HumevalPowerError(Exception):
    """Anything that this package refuses or fails to do. Commands end with `exit_code`."""

    exit_code = 1

    def __str__(self) -> str:
        said = super().__str__()
        return said if _options_are_typed else as_arguments(said)


class FitError(HumevalPowerError):
    """A model could not be fitted."""


class EngineMissingError(HumevalPowerError):
    """What is optional is not installed (R, lme4, the packages of an extra); the message says how to install it."""


class LostEngineError(HumevalPowerError):
    """Where the work was done is gone: a scheduler, or the processes of an executor. The same again may succeed,
    and goes on from what was kept; hence the exit code for a temporary failure (EX_TEMPFAIL)."""

    exit_code = 75


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with the input.

    `rule` says what must hold and `remedy` what to do about it; the other fields say where.
    `row` counts as a spreadsheet does: the header is row 1. `column` names a column of a table, or where
    `noun` says so a field of a document, by its path. `lacks` says what nobody can know but whoever asks: which
    column a part of a rating is, what is meant by blank cells of a part, or the points of an answer in words;
    `parts` are the parts of a rating that this is about.
    """

    rule: str
    remedy: str
    place: str | None = None
    row: int | None = None
    column: str | None = None
    value: object = None
    has_value: bool = False
    noun: Literal["column", "field"] = "column"
    lacks: Literal["", "column", "cell", "points"] = ""
    parts: tuple[str, ...] = ()

    def __str__(self) -> str:
        where = [self.place] if self.place else []
        if self.row is not None:
            where.append(f"row {self.row}")
        if self.column is not None:
            where.append(f"{self.noun} {self.column!r}")
        head = ", ".join(where)
        shown = f"value {self.value!r}: " if self.has_value else ""
        prefix = f"{head}: " if head else ""
        return f"{prefix}{shown}{self.rule} {self.remedy}".rstrip()


def field_problem(name: str, value: object, rule: str) -> Problem:
    """A problem with the value of one field of a record, or of an option; `rule` is what the value must be."""
    if name.startswith("--"):
        return Problem(rule, "", place=name, value=value, has_value=True)
    return Problem(rule, "", column=name, value=value, has_value=True)


class InputError(HumevalPowerError):
    """Bad input: every problem found, at once.

    Parameters
    ----------
    problems : a sentence, or the problems in the order in which a reader meets them.
    """

    exit_code = 2

    def __init__(self, problems: str | Sequence[Problem]) -> None:
        if isinstance(problems, str):
            problems = [Problem(rule=problems, remedy="")]
        self.problems: tuple[Problem, ...] = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


def refusal(
    rule: str, remedy: str = "", place: str | None = None, row: int | None = None, column: str | None = None
) -> InputError:
    """The error of one problem with an input."""
    return InputError([Problem(rule, remedy, place, row, column)])


def first_few(problems: Sequence[Problem], *, most: int, total: int | None = None) -> list[Problem]:
    """The first problems of one kind, and how many more there are; `total` where not all of them are given."""
    rest = (len(problems) if total is None else total) - most
    if rest <= 0:
        return list(problems)
    places = {problem.place for problem in problems}
    place = places.pop() if len(places) == 1 else None
    return [*problems[:most], Problem(f"and {rest:,} more like this.", "", place)]


def refuse(problems: Sequence[Problem | str]) -> None:
    """Raise all problems at once, where there are any; a sentence is a problem without a remedy."""
    if problems:
        raise InputError([Problem(one, "") if isinstance(one, str) else one for one in problems])


class StudyFileError(InputError):
    """A study file that cannot be read: its problems name its keys, and no options."""


class DesignError(InputError):
    """A design that cannot be built as asked."""


class ParametersError(InputError):
    """Parameters of the rating model that are impossible or incomplete."""


class ScaleError(InputError):
    """A rating scale that makes no sense, or ratings outside it."""

"""The errors of the package: one small tree, and the record of one problem in the input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


class HumevalPowerError(Exception):
    """Anything that this package refuses or fails to do. Commands end with `exit_code`."""

    exit_code = 1


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
    `noun` says so a field of a document, by its path.
    """

    rule: str
    remedy: str
    place: str | None = None
    row: int | None = None
    column: str | None = None
    value: object = None
    has_value: bool = False
    noun: Literal["column", "field"] = "column"

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
    """A problem with the value of one field of a record; `rule` is what the value must be."""
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


class DesignError(InputError):
    """A design that cannot be built as asked."""


class ParametersError(InputError):
    """Parameters of the rating model that are impossible or incomplete."""


class ScaleError(InputError):
    """A rating scale that makes no sense, or ratings outside it."""

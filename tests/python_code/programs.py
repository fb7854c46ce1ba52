"""Programs beside their commands: both are run, and what they say is compared."""

import json
import math
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import click
from cli import context_of, run

from humeval_power.asking.program import program_of
from humeval_power.errors import HumevalPowerError
from humeval_power.files.documents.reading import to_json

# What a command says of itself beside its numbers: how it was typed, read and named.
PLACES = {"/costs/fee/source"}  # a sentence of a table of fees
ENVELOPE = {
    "command",
    "sources",
    "versions",
    "setting",
    "settings",
    "given",
    "plan",
    "study",
}


def python_of(words: Sequence[str]) -> str:
    """The program of a command by its words; '' where there is none, or the words are no command."""
    try:
        return program_of(context_of(words))
    except (HumevalPowerError, click.ClickException, click.exceptions.Exit):
        return ""


def ran(program: str) -> Any:
    """The result of a program, without what it prints."""
    head, last = program.rstrip("\n").rsplit("\n", 1)
    assert last == "print(result)"
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(head, "program.py", "exec"), names)
    return names["result"]


def both(*words: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The record of a command, and that of its program."""
    program = python_of(words)
    assert program, words
    told = run(*words, "--json", code=None)
    assert told.exit_code in (0, 3), told.output
    record = json.loads(to_json(ran(program).record()))
    return json.loads(told.stdout), record


def differences(one: Any, other: Any, path: str = "") -> list[str]:
    """Where two records differ, without what only the words of a command say."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        names = [name for name in sorted({*one, *other} - ENVELOPE) if f"{path}/{name}" not in PLACES]
        return [
            line
            for name in names
            for line in (
                differences(one[name], other[name], f"{path}/{name}")
                if name in one and name in other
                else [f"{path}/{name}: only in the {'command' if name in one else 'program'}"]
            )
        ]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return [
            line
            for at, pair in enumerate(zip(one, other, strict=True))
            for line in differences(*pair, f"{path}[{at}]")
        ]
    return [] if _same(one, other) else [f"{path}: {str(one)[:80]} | {str(other)[:80]}"]


def _same(one: Any, other: Any) -> bool:
    """Whether two values are the same, but for rounding: a fit before the kernels are compiled is by other sums."""
    if isinstance(one, str) and isinstance(other, str):
        return one == other or _amount(one) == _amount(other) is not None
    numbers = isinstance(one, float) and isinstance(other, float)
    return one == other or (numbers and math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12))


def _amount(text: str) -> Decimal | None:
    """An amount of money in a record, which is text."""
    try:
        return Decimal(text)
    except InvalidOperation:
        return None

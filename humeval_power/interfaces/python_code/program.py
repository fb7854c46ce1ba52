"""From the words of a command to the Python program that gives the same result."""

from __future__ import annotations

from collections.abc import Sequence

import click

from humeval_power.errors import HumevalPowerError
from humeval_power.interfaces.python_code.source import Source
from humeval_power.interfaces.python_code.typed import GapError, Typed


def python_of(words: Sequence[str]) -> str:
    """The shortest program that gives what a command gives; '' where there is none, or the words are no command.

    words : of the command, without the program's name, such as ("power", "--preset", "high", ...)
    """
    try:
        return program_of(_context(words))
    except (HumevalPowerError, click.ClickException, click.exceptions.Exit):
        return ""


def python_here() -> str:
    """The same of the command that runs."""
    try:
        return program_of(click.get_current_context())
    except GapError:
        return ""


def program_of(context: click.Context) -> str:
    """The same of a command that has been parsed.

    Raises
    ------
    GapError
        A command, or an option, that no program says, and why.
    """
    writer = getattr(context.command, "program", None)
    if writer is None:
        why = getattr(context.command, "no_program", "") or "is none of those that have one."
        raise GapError(f"There is no program: {' '.join(path_of(context))} {why}")
    typed, source = Typed(context), Source()
    writer(typed, source)
    typed.check()
    return source.text()


def path_of(context: click.Context) -> tuple[str, ...]:
    """The words of a command."""
    return tuple(" ".join(str(one.info_name) for one in _above(context)).split())


def _above(context: click.Context) -> list[click.Context]:
    """The contexts of a command and its groups, without that of the whole program."""
    found: list[click.Context] = []
    at: click.Context | None = context
    while at is not None and at.parent is not None:
        found.insert(0, at)
        at = at.parent
    return found


def _context(words: Sequence[str]) -> click.Context:
    """The words parsed by the command that they name.

    Raises
    ------
    GapError
        No command, or a question for help.
    click.ClickException
        Words that the command does not take.
    """
    from humeval_power.interfaces.cli.main import main

    if not words or words[0].startswith("-") or {"-h", "--help"} & set(words):
        raise GapError("no command")
    at = click.Context(main, info_name="humeval-power")
    command, name, rest = main.get_command(at, words[0]), words[0], list(words[1:])
    while isinstance(command, click.Group):
        at = command.make_context(name, rest, parent=at)
        rest = [*at._protected_args, *at.args]
        if not rest and command.invoke_without_command:
            return at
        name, *rest = rest
        command = command.get_command(at, name)
    if command is None:
        raise GapError("no command")
    return command.make_context(name, rest, parent=at)

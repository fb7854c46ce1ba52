"""Commands as a user runs them: always through `main`, so that errors become messages and exit codes."""

import json
from collections.abc import Sequence
from typing import Any

import click
from click.testing import CliRunner, Result

from humeval_power.asking.calls import GapError
from humeval_power.asking.command_groups import in_terminal
from humeval_power.doors.terminal.main import main


def run(*words: object, code: int | None = 0, stdin: str | None = None) -> Result:
    """Run `humeval-power WORDS`, a folded command in its group.

    `code` is the exit code that it must end with, None for any.

    Raises
    ------
    AssertionError
        A traceback, or another exit code; with all that was printed.
    """
    result = CliRunner().invoke(main, in_terminal([str(word) for word in words]), input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise AssertionError(f"{words}: traceback") from result.exception
    if code is not None:
        assert result.exit_code == code, f"{words}: exit code {result.exit_code}\n{result.output}"
    return result


def run_json(*words: object, code: int = 0) -> dict[str, Any]:
    """The JSON that a command prints on standard output."""
    record: dict[str, Any] = json.loads(run(*words, "--json", code=code).stdout)
    return record


def text_of(*words: object, code: int = 0) -> str:
    """What a command prints, with single blanks."""
    return " ".join(run(*words, code=code).stdout.split())


def refusal_of(*words: object) -> str:
    """What a command that ends with 2 says, with single blanks."""
    return " ".join(run(*words, code=2).stderr.split())


def context_of(words: Sequence[str]) -> click.Context:
    """The words parsed by the command that they name.
    Raises GapError: no command, or a question for help; click.ClickException: words that the command does not
    take."""
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

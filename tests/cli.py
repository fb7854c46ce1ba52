"""Commands as a user runs them: always through `main`, so that errors become messages and exit codes."""

import json
from typing import Any

from click.testing import CliRunner, Result

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

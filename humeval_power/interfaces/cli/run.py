"""The command line as it was typed, for the record, and the exit code of an unmet target."""

from __future__ import annotations

import sys

from humeval_power.safe_text import shell_command

EXIT_TARGET_MISSED = 3


def typed_command() -> str:
    """The command line as typed, with the program's name in front."""
    return shell_command(["humeval-power", *sys.argv[1:]])

"""`humeval-power more completion`: what makes a shell complete commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from humeval_power.asking.output import say

SHELLS = {
    "bash": "~/.bashrc",
    "zsh": "~/.zshrc",
    "fish": "~/.config/fish/completions/humeval-power.fish",
}
PROGRAM, VARIABLE = "humeval-power", "_HUMEVAL_POWER_COMPLETE"


@click.command("completion")
@click.argument("shell", type=click.Choice(tuple(SHELLS)))
def command(shell: str) -> None:
    """Print what makes your shell complete commands and options.

    Once: humeval-power more completion bash >> ~/.bashrc, or zsh >> ~/.zshrc, or
    fish > ~/.config/fish/completions/humeval-power.fish; then open a new shell.
    """
    from humeval_power.doors.terminal.main import main

    made = get_completion_class(shell)
    assert made is not None  # click knows these three
    completed = made(main, {}, PROGRAM, VARIABLE)
    # click's own `source` for bash asks bash for its version first, which fails where there is none.
    say(completed.source_template % completed.source_vars())

"""`humeval-power compare`: systems by a metric's scores of the same items, before and after there are any."""

from __future__ import annotations

import click

from humeval_power.interfaces.cli.compare.primer import primer_command, primer_table_command
from humeval_power.interfaces.cli.compare.prospective import FAMILY, prospective_command
from humeval_power.interfaces.cli.compare.scores import scores_command
from humeval_power.interfaces.cli.questions import question_commands


class FileFirst(click.Group):
    """A group in which a word that is no command is a file for the command `scores`."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The names of the commands, in the order in which people need them."""
        return list(self.commands)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put `scores` before anything that is neither a command nor an option of the group."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = ["scores", *args]
        return super().parse_args(ctx, args)


command = FileFirst(
    "compare",
    help="""Compare systems by a metric's scores of the same items.

    `compare FILE --question mean` is short for `compare scores FILE ...`.
    Before there are scores: prospective says how many items are needed.
    """,
)
for _each in (
    scores_command,
    prospective_command,
    primer_command,
    primer_table_command,
    *question_commands(FAMILY),
):
    command.add_command(_each)

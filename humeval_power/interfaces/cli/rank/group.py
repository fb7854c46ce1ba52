"""`humeval-power rank`: leaderboards with what they leave open."""

from __future__ import annotations

import click

from humeval_power.interfaces.cli.questions import question_commands
from humeval_power.interfaces.cli.rank.battles import battles_command
from humeval_power.interfaces.cli.rank.power import FAMILY
from humeval_power.interfaces.cli.rank.scores import scores_command

command = click.Group(
    "rank",
    help="""Order systems, and say how sure the order is.

    By their scores on the same items, or by battles of two at a time: intervals
    of ranks, groups that cannot be told apart, the chance of being the best.
    Before there are any: how many tell two neighbours apart?
    """,
)
for _each in (scores_command, battles_command, *question_commands(FAMILY)):
    command.add_command(_each)

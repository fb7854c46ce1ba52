"""`humeval-power rank`: leaderboards with what they leave open."""

from __future__ import annotations

import click

from humeval_power.interfaces.cli.rank.battles import battles_command
from humeval_power.interfaces.cli.rank.scores import scores_command

command = click.Group(
    "rank",
    help="""Order systems, and say how sure the order is.

    By their scores on the same items, or by battles of two at a time: intervals
    of ranks, groups that cannot be told apart, the chance of being the best.
    """,
)
for _each in (scores_command, battles_command):
    command.add_command(_each)

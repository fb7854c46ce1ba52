"""`humeval-power looks`: plan a study that is looked at before its end."""

from __future__ import annotations

import click

from humeval_power.interfaces.cli.looks.judgements import accuracy, preference, scores
from humeval_power.interfaces.cli.looks.pool import pool
from humeval_power.interfaces.cli.looks.study import command as study

command = click.Group(
    "looks",
    help="""Stop a study early without fooling yourself: interim looks.

    Boundaries, false positives, power and expected cost of studies that are
    looked at before their end.
    """,
)
for _each in (study, scores, preference, accuracy, pool):
    command.add_command(_each)

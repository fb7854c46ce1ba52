"""`humeval-power runs`: scores of repeated generations, and of several prompts or seeds."""

from __future__ import annotations

import click

from humeval_power.interfaces.cli.questions import question_commands
from humeval_power.interfaces.cli.runs.budget import budget
from humeval_power.interfaces.cli.runs.check import check
from humeval_power.interfaces.cli.runs.planned import FAMILY
from humeval_power.interfaces.cli.runs.test import test

command = click.Group(
    "runs",
    help="""Compare systems by repeated generations, prompts or seeds.

    Generations are nested in items: more of them make an item's mean precise.
    Prompts and seeds are crossed with items: they are a sample, as raters are.
    """,
)
for _each in (test, check, *question_commands(FAMILY), budget):
    command.add_command(_each)

"""`humeval-power report remember`: answers that are the same in every study, listed, kept and forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from humeval_power.api.answers import remember
from humeval_power.interfaces.cli.output import note, refuse_to_overwrite, replace_file
from humeval_power.interfaces.cli.report.answers import memory_path, read_config, read_memory
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result

if TYPE_CHECKING:
    from humeval_power.reporting.report.answers.remembered import Remembered


@click.command(
    "remember",
    cls=Command,
    no_program="writes the answers that are remembered; hp.documents.remember is its call.",
)
@click.argument("file", metavar="[ANSWERS]", required=False)
@click.option("--forget", metavar="NAMES", help="Forget these answers: 'all', or A,B,...")
@with_result(writes=False)
def command(file: str | None, forget: str | None) -> Remembered:
    """Keep the answers that are the same in every study, or list them.

    ANSWERS is the file of answers of a study. What describes the team and its
    tools is kept in the folder of your settings: persons, ethics, consent,
    recruitment, pay, platform, licence and the like; nothing of the ratings.
    'report' and 'report check' use it where the answers of a study say
    nothing, and tell which they took; --no-memory leaves it out there.
    """
    names = [name.strip() for name in (forget or "").split(",") if name.strip()]
    found = remember(
        None if file is None else read_config(file),
        memory=read_memory(wanted="all" not in names),
        forget=names,
    )
    place = memory_path()
    if file is not None or names:
        refuse_to_overwrite([place], force=True)
        replace_file(place, found.text)
        note(f"Written: {place}")
    elif found.texts:
        note(f"From {place}")
    return found

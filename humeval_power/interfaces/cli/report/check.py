"""`humeval-power report check`: which fields of a form are open, and what would fill them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from humeval_power.api.report import CHECKED_FORMS, CheckedForm, open_fields
from humeval_power.interfaces.cli.report.answers import (
    memory_option,
    own_answers,
    read_memory,
    telling_file,
)
from humeval_power.interfaces.cli.report.sources import (
    Sources,
    read_criteria,
    source_options,
    with_files,
)
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.results import with_result

if TYPE_CHECKING:
    from humeval_power.reporting.report.open_list import OpenList


@click.command(
    "check",
    cls=Command,
    no_program="tells the files of a study apart; hp.documents.open_fields takes documents.",
)
@click.argument("files", metavar="[FILE]...", nargs=-1)
@source_options
@click.option(
    "--form",
    type=click.Choice(CHECKED_FORMS),
    help="As for 'report'. [card2020; heds for a file of its form]",
)
@click.option("--strict", is_flag=True, help="End with 3 if fields are open.")
@memory_option
@with_result()
def command(
    files: tuple[str, ...], sources: Sources, form: CheckedForm | None, strict: bool, no_memory: bool
) -> OpenList:
    """List the fields of a form that are open, each with a hint.

    FILE is any of the files that 'report' takes, told by what is in it, or
    what the web form of HEDS saved. 'open' has no answer; 'check' has one
    that a person should confirm.
    """
    given = with_files(sources, files)
    if not given.documents and given.heds is None:
        raise click.UsageError("Name at least one FILE, such as analysis.json or plan.json.")
    from humeval_power.interfaces.formats.json_text import read_object

    answers = own_answers(given.config, memory=read_memory(wanted=not no_memory))
    with telling_file(given.config):
        return open_fields(
            *(read_criteria(given) if given.documents else ()),
            form=form,
            answers=answers,
            saved=None if given.heds is None else read_object(given.heds),
            strict=strict,
        )

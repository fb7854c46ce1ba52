"""`humeval-power collect`: a study while it is collected."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from humeval_power.interfaces.asking.command import StudyCommand
from humeval_power.interfaces.asking.options import FurtherOption, field_option, file_argument
from humeval_power.interfaces.cli.field.options import FieldFiles, export_options, field_options
from humeval_power.interfaces.cli.field.withdraw import withdraw
from humeval_power.interfaces.cli.plan.options import load_plan, plan_path
from humeval_power.interfaces.cli.results import with_result
from humeval_power.scales import RatingScale

if TYPE_CHECKING:
    from humeval_power.reporting.field.status import StatusResult
    from humeval_power.reporting.field.workers import Names


@click.command(
    "status",
    cls=StudyCommand,
    no_program="makes pseudonyms with a secret that the command keeps; hp.exports has its calls.",
)
@file_argument("exports", "files", metavar="RATINGS...")
@field_options
@field_option("plan", callback=plan_path, help="The plan of the study: scale and rules.")
@export_options
@click.option("--keep-ids", is_flag=True, help="Write the ids of the workers. [shown only, not written]")
@click.option(
    "--secret",
    cls=FurtherOption,
    metavar="FILE",
    help="Secret of the pseudonyms: that of 'import' gives the same ones. [beside -o]",
)
@field_option("scale", help="Scale of the ratings, such as 1:5. [from the plan, or the data]")
@with_result(endings=(".csv",))
def status(
    files: tuple[str, ...],
    field: FieldFiles,
    plan: str | None,
    mapping: str | None,
    platform: str | None,
    keep_ids: bool,
    secret: str | None,
    scale: str | None,
) -> StatusResult:
    """Who has done what, what is missing, and which spares to call.

    RATINGS are what the platform has given back so far, as 'import' takes it:
    a file or many, finished or not. Nothing here depends on which system an
    output is of, so that it may be looked at as often as you like. The terminal
    names workers as the platform does; what is written has pseudonyms.
    """
    if field.assignment is None:
        raise click.UsageError("Say who was to see what: --assignment FILE.")
    planned = load_plan(plan)
    if planned is not None and scale is not None:
        raise click.UsageError("The plan says this itself: leave out --scale.")
    from humeval_power.api.field import follow_collection
    from humeval_power.interfaces.formats.exports.mapping_file import read_mapping
    from humeval_power.interfaces.formats.exports.platforms import read_export

    chosen, named = (None, None) if mapping is None else read_mapping(mapping)
    exports = [read_export(path, platform=platform or named) for path in files]
    found = follow_collection(
        exports,
        field.assignment,
        mapping=chosen,
        key=field.key,
        withdrawn=field.withdrawn,
        scale=_scale(scale) if planned is None else planned.scale,
        rules=None if planned is None or planned.rules is None else planned.rules.rules,
    )
    return replace(found, names=_names(secret, keep_ids=keep_ids))


def _scale(text: str | None) -> RatingScale | None:
    return None if text is None else RatingScale.parse(text)


def _names(secret: str | None, *, keep_ids: bool) -> Names:
    """How workers are named: by their ids on a terminal alone."""
    from humeval_power.interfaces.formats.monitor.secret import kept_secret
    from humeval_power.reporting.field.workers import Names

    typed = click.get_current_context().params
    output = typed["output"]
    if keep_ids:
        return Names()
    if secret is None and output in (None, "-"):
        return Names(hidden=bool(typed["as_json"]) or typed["format"] != "terminal")
    written = Path(output or "")
    beside = written.with_suffix(".secret") if written.suffix else written / "collect.secret"
    return Names(kept_secret(secret or beside).key.hex())


command = click.Group(
    "collect",
    help="""A study while it is collected.

    What these commands show never depends on which system an output is of.
    """,
)
for _each in (status, withdraw):
    command.add_command(_each)

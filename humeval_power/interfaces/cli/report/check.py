"""`humeval-power report check`: which fields of a form are open, and what would fill them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Literal

import click

from humeval_power.interfaces.cli.options import result_options
from humeval_power.interfaces.cli.output import emit, refuse_to_overwrite, wrapped
from humeval_power.interfaces.cli.report.fields import form_fields, study_checklist
from humeval_power.interfaces.cli.report.sources import Sources, read_json, source_options, with_files
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.run import EXIT_TARGET_MISSED

if TYPE_CHECKING:
    from humeval_power.reporting.report.open_list import OpenList, ToDo

Form = Literal["card2020", "heds", "arr", "aspredicted", "osf"]
SHOWN = 200  # characters of a suggested answer: enough to know it again, few enough to read them all


@click.command("check", cls=Command)
@click.argument("files", metavar="[FILE]...", nargs=-1)
@source_options
@click.option(
    "--form",
    type=click.Choice(["card2020", "heds", "arr", "aspredicted", "osf"]),
    help="As for 'report'. [card2020; heds for a file of its form]",
)
@click.option("--strict", is_flag=True, help="End with 3 if fields are open.")
@result_options
def command(
    files: tuple[str, ...],
    sources: Sources,
    form: Form | None,
    strict: bool,
    as_json: bool,
    output: str | None,
    force: bool,
) -> None:
    """List the fields of a form that are open, each with a hint.

    FILE is any of the files that 'report' takes, told by what is in it, or
    what the web form of HEDS saved. 'open' has no answer; 'check' has one
    that a person should confirm.
    """
    if output is not None:
        refuse_to_overwrite([output], force=force)
    given = with_files(sources, files)
    if not given.documents and given.heds is None:
        raise click.UsageError("Name at least one FILE, such as analysis.json or plan.json.")
    if given.heds is not None and form not in (None, "heds"):
        raise click.UsageError(f"{given.heds} is a file of the HEDS form; --form heds goes with it.")
    found = _open_list(form or ("card2020" if given.heds is None else "heds"), given)
    if as_json:
        from humeval_power.interfaces.formats.documents.reading import to_json

        emit(to_json(found.record()), output=output, force=force)
    else:
        emit(open_text(found), output=output, force=force)
    if strict and found.n_open:
        sys.exit(EXIT_TARGET_MISSED)


def _open_list(form: Form, sources: Sources) -> OpenList:
    from humeval_power.reporting.report.open_list import of_checklist, of_fields

    if form == "card2020":
        return of_checklist(study_checklist(sources))
    if sources.heds is None:
        return of_fields(form, form_fields(form, sources)[0])
    from humeval_power.reporting.report.heds.as_json import fields_of_elements, heds_json

    saved = read_json(sources.heds)
    if sources.documents or sources.config is not None:
        saved = heds_json(form_fields("heds", sources)[0], into=saved)
    return of_fields("heds", fields_of_elements(saved))


def open_text(found: OpenList) -> str:
    """The list for people, at most 80 columns wide."""
    n_filled = found.n_fields - len(found.to_do)
    head = (
        f"{found.form}: {n_filled} of {found.n_fields} fields filled, {found.n_to_check} to check, "
        f"{found.n_open} open"
    )
    return "\n\n".join([head, *map(_entry, found.to_do)]) + "\n"


def _entry(one: ToDo) -> str:
    of = "" if one.criterion is None else f" ({one.criterion})"
    hint = one.hint if len(one.hint) <= SHOWN else f"{one.hint[: SHOWN - 3]}..."
    lines = [wrapped(f"{one.prompt}{of}", bullet=f"{one.mark:<6}{one.field}  ", indent=" " * 6)]
    lines += [wrapped(" ".join(hint.split()), bullet=" " * 6)] if hint else []
    return "\n".join(lines)

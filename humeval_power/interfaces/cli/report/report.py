"""`humeval-power report`: checklists, forms and paragraphs, filled from what is known."""

from __future__ import annotations

from typing import Any

import click

from humeval_power.api.report import DEFAULT_FORM, FORMS, Form, report
from humeval_power.errors import InputError
from humeval_power.interfaces.cli.report import check
from humeval_power.interfaces.cli.report.sources import (
    Sources,
    read_config,
    read_criteria,
    source_options,
    with_files,
)
from humeval_power.interfaces.cli.results import with_result
from humeval_power.interfaces.formats.json_text import read_object
from humeval_power.reporting.report.result import FormReport, Report


class FilesOrCommand(click.Group):
    """A command of its own that takes files; a first word that names one of its commands runs that."""

    allow_interspersed_args = True

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """The context of the command that the first word names, else of this one."""
        inner = self.commands.get(args[0]) if args else None
        if inner is None:
            return super().make_context(info_name, args, parent, **extra)
        return inner.make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Options and files, as a command that is no group parses them."""
        rest = click.Command.parse_args(self, ctx, args)
        late = next((word for word in ctx.params.get("files", ()) if word in self.commands), None)
        if late is not None:
            raise click.UsageError(f"Put {late!r} first, and its options behind it: report {late} ...", ctx)
        return rest

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command itself."""
        return click.Command.invoke(self, ctx)


@click.group("report", cls=FilesOrCommand, subcommand_metavar="", invoke_without_command=True)
@click.argument("files", metavar="[FILE]...", nargs=-1)
@source_options
@click.option(
    "--form",
    type=click.Choice(FORMS),
    default=DEFAULT_FORM,
    show_default=True,
    help="The page of the study; Card et al.'s recommendations; the HEDS 3.0 datasheet; ARR's checklist; a "
    "preregistration; methods and results for the paper; parameters to plan the next study from.",
)
@click.option("--into", metavar="FILE", help="A file of the HEDS form to merge into; your answers win.")
@click.option("--strict", is_flag=True, help="End with 3 if fields are open.")
@with_result(FormReport)
def command(files: tuple[str, ...], sources: Sources, form: Form, into: str | None, strict: bool) -> Report:
    """Show a study on one page, or fill a checklist, form or paragraph.

    FILE is what 'fit', 'analyze', 'plan', 'power --json' or 'surface -o'
    wrote, the ratings, or your own answers in TOML, told by what is in it; or
    the folder of the study, which has them as analysis.json, plan.json and
    ratings.csv. -o FOLDER/ has the page with all forms; -o heds.json is the
    file of the HEDS web form, -o paper.tex a fragment to input. What only
    you know stays open: 'report check' lists it.
    """
    given = with_files(sources, files)
    if given.heds is not None:
        raise InputError(f"{given.heds} is a file of the HEDS form: give it as --into, with --form heds.")
    if not given.documents:
        raise click.UsageError("Give at least one FILE, such as analysis.json or plan.json.")
    return report(
        *read_criteria(given),
        form=form,
        answers=None if given.config is None else read_config(given.config),
        into=None if into is None else read_object(into),
        strict=strict,
    )


command.add_command(check.command)

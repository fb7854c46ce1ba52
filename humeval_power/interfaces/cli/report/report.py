"""`humeval-power report`: checklists, forms and paragraphs, filled from what is known."""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

import click

from humeval_power.api.answers import answers_template
from humeval_power.api.report import CHECKED_FORMS, DEFAULT_FORM, FORMS, Form, report
from humeval_power.errors import InputError
from humeval_power.interfaces.cli.beside import Kept
from humeval_power.interfaces.cli.output import note
from humeval_power.interfaces.cli.report import check, remember
from humeval_power.interfaces.cli.report.answers import (
    kept_answers,
    memory_option,
    own_answers,
    read_config,
    read_memory,
    same_file,
    telling_file,
)
from humeval_power.interfaces.cli.report.sources import (
    Sources,
    read_criteria,
    source_options,
    with_files,
)
from humeval_power.interfaces.cli.results import with_result

if TYPE_CHECKING:
    from humeval_power.reporting.report.answers.result import AnswersTemplate
    from humeval_power.reporting.report.result import Report


class FilesOrCommand(click.Group):
    """A command of its own that takes files; a first word that names one of its commands runs that."""

    allow_interspersed_args = True
    no_program = "tells the files of a study apart by what is in them; hp.report takes their documents."

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
    help="The page of the study; Card et al.'s recommendations; the HEDS 3.0 datasheet; ARR's checklist; a "
    "preregistration; methods and results for the paper; parameters to plan the next study from. "
    f"[{DEFAULT_FORM}; with --template all]",
)
@click.option("--into", metavar="FILE", help="A file of the HEDS form to merge into; your answers win.")
@click.option("--strict", is_flag=True, help="End with 3 if fields are open.")
@click.option(
    "--template",
    metavar="FILE",
    help="Write a TOML file of the answers that are still open, to fill in and give back as a FILE.",
)
@memory_option
@with_result(beside={"template": Kept(attrgetter("text"), "its answers stay, comments do not")})
def command(
    files: tuple[str, ...],
    sources: Sources,
    form: Form | None,
    into: str | None,
    strict: bool,
    template: str | None,
    no_memory: bool,
) -> Report:
    """Show a study on one page, or fill a checklist, form or paragraph.

    FILE is what 'fit', 'analyze', 'plan', 'power --json' or 'surface -o'
    wrote, the ratings, or your own answers in TOML, told by what is in it; or
    the folder of the study, which has them as analysis.json, plan.json and
    ratings.csv. -o FOLDER/ has the page with all forms; -o heds.json is the
    file of the HEDS web form, -o paper.tex a fragment to input. What only
    you know stays open: --template answers.toml asks for it.
    """
    given = with_files(sources, files)
    if given.heds is not None:
        raise InputError(f"{given.heds} is a file of the HEDS form: give it as --into, with --form heds.")
    if template is not None:
        if into is not None:
            raise click.UsageError(
                "--into merges into a file of the HEDS form: leave it out with --template."
            )
        return _template(given, template, form, strict=strict, use_memory=not no_memory)
    if not given.documents and given.config is None:
        raise click.UsageError(_NOTHING if given.ratings is None else f"{given.ratings} {_NOT_ANALYSED}")
    from humeval_power.interfaces.formats.json_text import read_object

    if not given.documents:
        note("No file holds a plan or a result: the forms are filled from your answers alone.")
    chosen = form or DEFAULT_FORM
    memory = read_memory(wanted=not no_memory and chosen not in _WITHOUT_MEMORY)
    answers = own_answers(given.config, memory=memory)
    with telling_file(given.config):
        return report(
            *read_criteria(given),
            form=chosen,
            answers=answers,
            into=None if into is None else read_object(into),
            strict=strict,
        )


_NOTHING = "Give at least one FILE, such as analysis.json or plan.json."
_NOT_ANALYSED = (
    "has ratings and no result yet: make one with 'analyze RATINGS -o analysis.json', and give both; or write the "
    "answers that only you know with --template answers.toml."
)
_WITHOUT_MEMORY: tuple[Form, ...] = ("paper", "parameters")


def _template(
    given: Sources, path: str, form: Form | None, *, strict: bool, use_memory: bool
) -> AnswersTemplate:
    """What is still open; the answers of the file that is written anew come before those of another."""
    asked = next((one for one in CHECKED_FORMS if one == form), None)
    if form is not None and asked is None:
        raise click.UsageError(
            f"--template is for --form {', '.join(CHECKED_FORMS)}, or for all without --form."
        )
    from humeval_power.reporting.report.config import NO_CONFIG

    answers = kept_answers(path) or NO_CONFIG
    if given.config is not None and not same_file(given.config, path):
        answers = answers.completed_by(read_config(given.config))
    return answers_template(
        *read_criteria(given),
        form=asked,
        answers=answers,
        memory=read_memory(wanted=use_memory),
        strict=strict,
    )


command.add_command(check.command)
command.add_command(remember.command)

"""`humeval-power report`: checklists, forms and paragraphs, filled from what is known."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import click

from humeval_power.errors import InputError
from humeval_power.interfaces.cli.options import force_option, output_option, quiet_option
from humeval_power.interfaces.cli.output import emit, note, refuse_to_overwrite, write_file
from humeval_power.interfaces.cli.report import check as report_check
from humeval_power.interfaces.cli.report.fields import form_fields, study_checklist
from humeval_power.interfaces.cli.report.sources import (
    Sources,
    read_config,
    read_documents,
    read_json,
    source_options,
)
from humeval_power.interfaces.cli.run import EXIT_TARGET_MISSED

Form = Literal["card2020", "heds", "arr", "aspredicted", "osf", "paper", "parameters"]
FORMATS = {
    ".md": "markdown",
    ".html": "html",
    ".htm": "html",
    ".tex": "latex",
    ".json": "json",
    ".docx": "docx",
}
PICTURE = "surface.png"


@dataclass(frozen=True, slots=True)
class Written:
    """A report: its text, its fields, how many of them are open, and its pictures by name."""

    text: str
    n_fields: int = 0
    n_open: int = 0


@click.group("report", invoke_without_command=True, subcommand_metavar="[check [OPTIONS] [FILE]...]")
@source_options
@click.option(
    "--form",
    type=click.Choice(["card2020", "heds", "arr", "aspredicted", "osf", "paper", "parameters"]),
    default="card2020",
    show_default=True,
    help="Card et al.'s recommendations; the HEDS 3.0 datasheet; ARR's checklist; a preregistration; "
    "methods and results for the paper; parameters to plan the next study from.",
)
@click.option(
    "--into", metavar="FILE", help="HEDS as JSON: merge into this file of the form; your answers win."
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["markdown", "html", "latex", "docx", "json"]),
    help="[by the ending of --output, else markdown]",
)
@click.option("--strict", is_flag=True, help="End with 3 if items are open.")
@output_option
@force_option
@quiet_option
@click.pass_context
def command(
    ctx: click.Context,
    sources: Sources,
    form: Form,
    into: str | None,
    kind: str | None,
    strict: bool,
    output: str | None,
    force: bool,
) -> None:
    """Write a checklist, form or paragraph, filled from what is known.

    What the files say is filled in, with its source; what only you know stays
    open, unless --config answers it. 'report check' lists what is open. A
    .docx is made by pandoc.
    """
    if ctx.invoked_subcommand is not None:
        _no_options_before(ctx)
        return
    if output is not None:
        refuse_to_overwrite([output], force=force)
    if not sources.documents:
        raise click.UsageError(
            "Give --parameters FILE, --analysis FILE, --surface DIR, --power FILE or --plan FILE."
        )
    by_ending = FORMATS.get(Path(output or "").suffix.lower(), "markdown")
    chosen = kind or ("json" if form == "parameters" else by_ending)
    if chosen == "docx":
        from humeval_power.interfaces.cli.pandoc import require_pandoc

        if output is None or output == "-":
            raise click.UsageError("A Word document goes to a file: -o report.docx.")
        require_pandoc()
    written = _written(form, sources, into, "markdown" if chosen == "docx" else chosen)
    if chosen == "docx":
        _write_word(written.text, str(output), sources.surface if form == "card2020" else None, force=force)
    else:
        emit(written.text, output=output, force=force)
    if written.n_fields:
        n_open, n_fields = written.n_open, written.n_fields
        note(f"{n_fields} items: {n_fields - n_open} filled or suggested, {n_open} for you to answer.")
    if strict and written.n_open:
        sys.exit(EXIT_TARGET_MISSED)


command.add_command(report_check.command)


def _no_options_before(ctx: click.Context) -> None:
    """Options of a subcommand stand behind it; before it they would be lost."""
    given = [
        name
        for name in (parameter.name for parameter in ctx.command.params)
        if name and ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
    ]
    if given:
        raise click.UsageError(f"Put options behind the word: report {ctx.invoked_subcommand} --{given[0]}")


def _written(form: Form, sources: Sources, into: str | None, kind: str) -> Written:
    if into is not None and (form != "heds" or kind != "json"):
        raise click.UsageError("--into merges HEDS as JSON: add --form heds --format json.")
    if form == "parameters":
        return _parameters(sources, kind)
    if form == "card2020":
        return _card2020(sources, kind)
    if form == "paper":
        return _paper(sources, kind)
    from humeval_power.reporting.report import pages
    from humeval_power.reporting.report import pages as latex_page
    from humeval_power.reporting.report.fields import open_fields
    from humeval_power.reporting.report.heds import as_json as heds_json
    from humeval_power.safe_text import json_text

    fields, page = form_fields(form, sources)
    n_open = len(open_fields(fields))
    if kind == "json":
        if form != "heds":
            raise click.UsageError("JSON is the import format of the HEDS form alone.")
        given = None if into is None else read_json(into)
        document = heds_json.heds_json(fields, into=given)
        text = json_text(json.dumps(document, indent=1, ensure_ascii=False)) + "\n"
        return Written(text, len(fields), n_open)
    write = {"markdown": pages.form_markdown, "html": pages.form_html, "latex": latex_page.form_latex}[kind]
    return Written(write(page), len(fields), n_open)


def _card2020(sources: Sources, kind: str) -> Written:
    from humeval_power.interfaces.formats.file_bytes import read_text
    from humeval_power.reporting.report.checklist import as_html, as_markdown

    if kind not in ("markdown", "html"):
        raise click.UsageError(f"The checklist comes as markdown, html or docx; got {kind}.")
    result = study_checklist(sources)
    if kind == "html":
        picture = Path(sources.surface or "", "surface.svg")
        svg = read_text(picture) if sources.surface and picture.is_file() else None
        return Written(as_html(result, svg), len(result.items), result.n_open)
    return Written(as_markdown(result), len(result.items), result.n_open)


def _paper(sources: Sources, kind: str) -> Written:
    from humeval_power.reporting.report import paper as paper_latex
    from humeval_power.reporting.report import paper as paper_pages

    if sources.config is not None:
        raise click.UsageError(
            "The paragraphs hold what the files say, and no answers of your own: leave out --config."
        )
    write = {
        "markdown": paper_pages.paper_markdown,
        "html": paper_pages.paper_html,
        "latex": paper_latex.paper_document,
    }.get(kind)
    if write is None:
        raise click.UsageError(f"The paragraphs come as markdown, html, latex or docx; got {kind}.")
    found = read_documents(sources)
    if found.is_of_pilot:
        note(
            "WARNING: these are the ratings of the pilot that the plan was made from; the paragraphs tell them as "
            "the study's result. Give the --analysis of the study's own ratings."
        )
    return Written(write(found))


def _parameters(sources: Sources, kind: str) -> Written:
    from humeval_power.interfaces.formats.documents.reading import to_json
    from humeval_power.reporting.study.parameter_library import entry_name, library_export

    if kind != "json":
        raise click.UsageError(f"Parameters to plan from come as json; got {kind}.")
    path = sources.analysis or sources.parameters
    if path is None:
        raise InputError("Parameters are exported from what was fitted: give --analysis or --parameters.")
    study = read_documents(replace(sources, plan=None, surface=None, power=None)).study
    name = entry_name(study, Path(path).stem)
    return Written(to_json(library_export(study, read_config(sources.config).texts, name=name)))


def _write_word(markdown: str, path: str, surface: str | None, *, force: bool) -> None:
    """The Markdown and the picture of the surface, where there is one, as a Word document."""
    from humeval_power.interfaces.cli.pandoc import word_document
    from humeval_power.interfaces.formats.file_bytes import read_bytes

    picture = Path(surface or "", PICTURE)
    pictures = {PICTURE: read_bytes(picture)} if surface and picture.is_file() else {}
    shown = "".join(f"\n\n## Power\n\n![Power of each design]({name})\n" for name in pictures)
    write_file(path, word_document(markdown + shown, pictures=pictures), force=force)
    note(f"Written: {path}")

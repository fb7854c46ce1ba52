"""`humeval-power report`: checklists, forms and paragraphs, filled from what is known."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import click

from humeval_power.errors import InputError
from humeval_power.interfaces.cli.invocation import EXIT_TARGET_MISSED
from humeval_power.interfaces.cli.options import force_option, output_option, quiet_option
from humeval_power.interfaces.cli.output import emit, note, refuse_to_overwrite
from humeval_power.interfaces.formats.documents import read_document
from humeval_power.reporting.analysis_record import ANALYSIS_SCHEMA
from humeval_power.reporting.checklist import as_html, as_markdown, checklist
from humeval_power.reporting.records import PARAMETERS_SCHEMA, POWER_SCHEMA, SURFACE_SCHEMA

Form = Literal["card2020", "heds", "arr", "aspredicted", "osf", "paper"]
FORMATS = {".md": "markdown", ".html": "html", ".htm": "html", ".tex": "latex", ".json": "json"}


@click.command("report")
@click.option("--parameters", metavar="FILE", help="What 'fit -o' wrote.")
@click.option("--analysis", metavar="FILE", help="What 'analyze -o' wrote.")
@click.option("--surface", metavar="DIR", help="What 'surface -o' wrote.")
@click.option("--power", metavar="FILE", help="What 'power --json -o' wrote.")
@click.option("--plan", metavar="FILE", help="What 'plan -o' wrote.")
@click.option("--config", metavar="FILE", help="Your own answers, a TOML file with a table [report].")
@click.option(
    "--form",
    type=click.Choice(["card2020", "heds", "arr", "aspredicted", "osf", "paper"]),
    default="card2020",
    show_default=True,
    help="Card et al.'s recommendations; the HEDS 3.0 datasheet; ARR's checklist; a preregistration; "
    "methods and results for the paper.",
)
@click.option(
    "--into", metavar="FILE", help="HEDS as JSON: merge into this file of the form; your answers win."
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["markdown", "html", "latex", "json"]),
    help="[by the ending of --output, else markdown]",
)
@click.option("--strict", is_flag=True, help="End with 3 if items are open.")
@output_option
@force_option
@quiet_option
def command(
    parameters: str | None,
    analysis: str | None,
    surface: str | None,
    power: str | None,
    plan: str | None,
    config: str | None,
    form: Form,
    into: str | None,
    kind: str | None,
    strict: bool,
    output: str | None,
    force: bool,
) -> None:
    """Write a checklist, form or paragraph, filled from what is known.

    What the files say is filled in, with its source; what only you know stays
    open, unless --config answers it.
    """
    if output is not None:
        refuse_to_overwrite([output], force=force)
    sources = {
        "parameters": parameters,
        "analysis": analysis,
        "surface": surface,
        "power": power,
        "plan": plan,
    }
    if not any(sources.values()):
        raise click.UsageError(
            "Give --parameters FILE, --analysis FILE, --surface DIR, --power FILE or --plan FILE."
        )
    chosen = kind or FORMATS.get(Path(output or "").suffix.lower(), "markdown")
    if form == "card2020":
        text, n_items, n_open = _card2020(sources, chosen)
    else:
        text, n_items, n_open = _form(form, sources, config, into, chosen)
    emit(text, output=output, force=force)
    if n_items:
        note(f"{n_items} items: {n_items - n_open} filled or suggested, {n_open} for you to answer.")
    if strict and n_open:
        sys.exit(EXIT_TARGET_MISSED)


def _card2020(sources: dict[str, str | None], kind: str) -> tuple[str, int, int]:
    if kind not in ("markdown", "html"):
        raise click.UsageError(f"The checklist comes as markdown or html; got {kind}.")
    fitted = _read(sources["parameters"], PARAMETERS_SCHEMA) or _read(sources["analysis"], ANALYSIS_SCHEMA)
    result = checklist(
        fitted,
        _surface(sources["surface"]),
        power=_read(sources["power"], POWER_SCHEMA),
        names=_names(sources),
    )
    if kind == "html":
        return as_html(result, _picture(sources["surface"])), len(result.items), result.n_open
    return as_markdown(result), len(result.items), result.n_open


def _form(
    form: Form, sources: dict[str, str | None], config: str | None, into: str | None, kind: str
) -> tuple[str, int, int]:
    from humeval_power.reporting.forms import arr, heds, heds_json, latex_page, pages, paper_latex, prereg
    from humeval_power.reporting.forms.config import ReportConfig
    from humeval_power.reporting.forms.fields import FormField, open_fields
    from humeval_power.reporting.forms.paragraphs import paragraphs

    documents, plan_name, checksum = _documents(sources)
    answers = ReportConfig.from_mapping(_toml(config))
    if form == "paper":
        if kind == "latex":
            return paper_latex.paper_document(documents), 0, 0
        if kind != "markdown":
            raise click.UsageError(f"The paragraphs come as markdown or latex; got {kind}.")
        parts = paragraphs(documents)
        return "\n\n".join(f"## {title}\n\n{text}" for title, text in parts.items()) + "\n", 0, 0
    fields: Sequence[FormField]
    if form == "heds":
        fields = heds.heds_fields(documents, answers)
        page = heds.heds_page(fields)
        if kind == "json":
            given = None if into is None else _json(into)
            text = json.dumps(heds_json.heds_json(fields, into=given), indent=1, ensure_ascii=False) + "\n"
            return text, len(fields), len(open_fields(fields))
    elif form == "arr":
        fields = arr.arr_fields(documents, answers)
        page = arr.arr_page(fields)
    else:
        if documents.plan is None:
            raise click.UsageError(
                "A preregistration is written from a plan, before collection: give --plan FILE."
            )
        if form == "aspredicted":
            fields = prereg.aspredicted_fields(documents.plan, answers, plan_name=plan_name)
            page = prereg.aspredicted_page(fields)
        else:
            fields = prereg.osf_fields(documents.plan, answers, plan_name=plan_name, checksum=checksum)
            page = prereg.osf_page(fields)
    if kind == "json":
        raise click.UsageError("JSON is the import format of the HEDS form alone.")
    write = {"markdown": pages.form_markdown, "html": pages.form_html, "latex": latex_page.form_latex}[kind]
    return write(page), len(fields), len(open_fields(fields))


def _documents(sources: dict[str, str | None]) -> tuple[Any, str, str | None]:
    from humeval_power.reporting.forms.documents import Documents

    plan, checksum, path = None, None, sources["plan"]
    if path is not None:
        from humeval_power.interfaces.cli.compiling import compiled_kernels
        from humeval_power.interfaces.formats.plan_file import read_plan_file

        with compiled_kernels():
            read = read_plan_file(path)
        plan, checksum = read.plan, read.checksum
    documents = Documents(
        parameters=_read(sources["parameters"], PARAMETERS_SCHEMA),
        analysis=_read(sources["analysis"], ANALYSIS_SCHEMA),
        surface=_surface(sources["surface"]),
        power=_read(sources["power"], POWER_SCHEMA),
        plan=plan,
        plan_checksum=checksum,
        names=_names(sources),
    )
    return documents, Path(path or "plan.json").name, checksum


def _names(sources: dict[str, str | None]) -> dict[str, str]:
    return {kind: Path(path).name for kind, path in sources.items() if path is not None}


def _read(path: str | None, schema: str) -> dict[str, Any] | None:
    return None if path is None else read_document(path, schema=schema)


def _surface(directory: str | None) -> dict[str, Any] | None:
    if directory is None:
        return None
    folder = Path(directory)
    if not folder.is_dir():
        raise InputError(f"{directory} is not a directory; give the one that 'surface -o' wrote.")
    return read_document(folder / "surface.json", schema=SURFACE_SCHEMA)


def _picture(directory: str | None) -> str | None:
    path = Path(directory or "") / "surface.svg"
    return path.read_text(encoding="utf-8") if directory is not None and path.is_file() else None


def _toml(path: str | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        table = tomllib.loads(Path(path).read_text(encoding="utf-8")).get("report")
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path} cannot be read as TOML: {error}.") from None
    if not isinstance(table, dict):
        raise InputError(f"{path} has no table [report].")
    return table


def _json(path: str) -> dict[str, Any]:
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(f"{path} cannot be read as JSON: {error}.") from None
    if not isinstance(found, dict):
        raise InputError(f"{path} is not a JSON object, as the HEDS form exports it.")
    return found

"""What a result is in each form: printed, a file of some ending, a folder with all of it."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from humeval_power.errors import InputError
from humeval_power.interfaces.cli.beside import Content
from humeval_power.safe_text import WIDTH, table_csv

if TYPE_CHECKING:
    from humeval_power.reporting.result import Result


Format = Literal["terminal", "markdown", "html", "latex", "csv", "json"]

INDEX, RECORD, TABLE = "index.html", "record.json", "table.csv"
_NARROWEST, _WIDEST = 60, 100
FORMAT_OF: dict[str, Format] = {
    ".txt": "terminal",
    ".md": "markdown",
    ".html": "html",
    ".tex": "latex",
    ".csv": "csv",
    ".json": "json",
}
FIGURES = (".png", ".svg", ".pdf")
WORD = ".docx"


def folder_of(result: Result) -> dict[str, Content]:
    """Everything about a result as files: the page, the record, the table, the pictures, and its own."""
    if result.files_alone:
        return dict(result.files())
    from humeval_power.interfaces.formats.documents.reading import to_json
    from humeval_power.reporting.render import as_html

    document = result.document()
    files: dict[str, Content] = {INDEX: as_html(document), RECORD: to_json(result.record())}
    if document.tables:
        files[TABLE] = table_csv(result.to_frame(), digits=10)
    for picture in document.pictures:
        files[f"{picture.name}.svg"] = picture.content("svg")
        files[f"{picture.name}.png"] = picture.content("png")
    return {**files, **result.files()}


def printed(result: Result, form: Format, *, details: bool) -> str:
    """The text that a format asks for."""
    if form == "terminal" and result.printed_as:
        return str(result.artefact(result.printed_as))
    from humeval_power.interfaces.formats.documents.reading import to_json
    from humeval_power.reporting import render

    document = result.document
    forms: Mapping[Format, Callable[[], str]] = {
        "terminal": lambda: render.as_terminal(document(), width=_width(), details=details),
        "markdown": lambda: render.as_markdown(document()),
        "html": lambda: render.as_html(document()),
        "latex": lambda: render.as_latex(document()),
        "csv": lambda: table_csv(result.to_frame(), digits=10),
        "json": lambda: to_json(result.record()),
    }
    return forms[form]()


def answer_of(result: Result) -> str:
    """What a result says first, in the terminal: its title, the answer, and what must be read before it is used."""
    from humeval_power.reporting import render

    return render.as_terminal(replace(result.body(), sections=(), signature=""), width=_width())


def _width() -> int:
    """The columns of the terminal, within what is good to read."""
    if not sys.stdout.isatty():
        return WIDTH
    return min(max(shutil.get_terminal_size((WIDTH, 24)).columns, _NARROWEST), _WIDEST)


def file_of(result: Result, ending: str, stem: str = "") -> Content:
    """The content of a file of that ending; of several pictures the one that bears the file's name."""
    if ending in result.endings:
        return result.artefact(ending)
    if ending == WORD:
        return _word(result)
    if ending in FIGURES:
        return _picture(result, ending, stem)
    return printed(result, FORMAT_OF[ending], details=True)


def _word(result: Result) -> bytes:
    from humeval_power.interfaces.cli.pandoc import word_document
    from humeval_power.reporting.render import as_markdown

    document = result.document()
    pictures = {f"{picture.name}.png": picture.content("png") for picture in document.pictures}
    return word_document(as_markdown(document, pictures=True), pictures=pictures)


def _picture(result: Result, ending: str, stem: str) -> bytes:
    pictures = result.document().pictures
    chosen = pictures if len(pictures) == 1 else tuple(each for each in pictures if each.name == stem)
    if len(chosen) != 1:
        names = ", ".join(f"{each.name}{ending}" for each in pictures)
        count = "is no picture" if not pictures else f"are {len(pictures)} pictures, {names},"
        raise InputError(
            f"There {count} to write as {ending}; name a folder, such as -o result/, for everything."
        )
    return chosen[0].content(ending[1:])  # type: ignore[arg-type]

"""One way out of a command: options in, one result, printed or written by the ending of `-o`."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Literal, get_args

import click

from humeval_power.api.progress import lines_to, silent
from humeval_power.errors import InputError
from humeval_power.interfaces.cli.compiling import compiled_kernels
from humeval_power.interfaces.cli.options import (
    Function,
    collected,
    force_option,
    json_option,
    quiet_option,
)
from humeval_power.interfaces.cli.output import (
    QUIET,
    WIDTH,
    note,
    refuse_to_overwrite,
    say,
    write_directory,
    write_file,
)
from humeval_power.interfaces.cli.run import EXIT_TARGET_MISSED, typed_command
from humeval_power.interfaces.formats.documents.reading import to_json
from humeval_power.interfaces.formats.files_read import noting_files
from humeval_power.reporting.result import Result
from humeval_power.safe_text import table_csv

Format = Literal["terminal", "markdown", "html", "latex", "csv", "json"]
Content = str | bytes

INDEX, RECORD, TABLE = "index.html", "record.json", "table.csv"
_NARROWEST, _WIDEST = 60, 100
_FORMAT_OF: dict[str, Format] = {
    ".txt": "terminal",
    ".md": "markdown",
    ".html": "html",
    ".tex": "latex",
    ".csv": "csv",
    ".json": "json",
}
_FIGURES = (".png", ".svg", ".pdf")
_WORD = ".docx"


@dataclass(frozen=True, slots=True)
class Out:
    """Where a result goes, and in which form."""

    format: Format
    path: str | None
    force: bool
    details: bool
    own_endings: tuple[str, ...] = ()

    @property
    def is_folder(self) -> bool:
        """Whether the path names a folder: it ends with a slash, or has no ending.

        Raises
        ------
        InputError
            An ending that is not known.
        """
        path = self.path or ""
        ending = Path(path).suffix.lower()
        if path.endswith("/") or not ending:
            return True
        known = tuple(dict.fromkeys([*self.own_endings, *_FORMAT_OF, _WORD, *_FIGURES]))
        if ending not in known:
            raise InputError(
                f"-o {path}: no file of this ending is written. Take one of {', '.join(known)}; or a folder, "
                f"such as {Path(path).stem}/, for all of it."
            )
        return False

    def check(self) -> None:
        """Refuse, before long work, what cannot be written."""
        if self.path is None or self.path == "-":
            return
        if self.is_folder:
            refuse_to_overwrite([Path(self.path) / name for name in (INDEX, RECORD)], force=self.force)
        else:
            refuse_to_overwrite([self.path], force=self.force)
            if Path(self.path).suffix.lower() == _WORD:
                from humeval_power.interfaces.cli.pandoc import require_pandoc

                require_pandoc()

    def deliver(self, result: Result) -> None:
        """Print or write the result, and end with 3 where its target was missed."""
        for remark in result.remarks:
            note(remark)
        if self.path is None or self.path == "-":
            say(_printed(result, self.format, details=self.details).removesuffix("\n"))
        else:
            self._write(result, self.path)
            if self.format == "json":
                say(to_json(result.record()), nl=False)
        if result.target_missed:
            sys.exit(EXIT_TARGET_MISSED)

    def _write(self, result: Result, path: str) -> None:
        if self.is_folder:
            files = folder_of(result)
            write_directory(path, files, force=self.force)
            note(f"Written to {path}: {', '.join(files)}")
        else:
            write_file(path, _file_of(result, Path(path).suffix.lower()), force=self.force)
            note(f"Written: {path}")


def with_result(result: type[Result], *, writes: bool = True) -> Callable[[Function], Function]:
    """Add --json, --format, --details, --output, --force and --quiet to a command that returns such a result.

    writes : without it the result is printed only: what the command writes is its own, and has a fixed content.

    What is returned is printed or written, with the command line and the digests of the files that were
    read in its record. With --output, what cannot be written is refused before the command runs.
    """
    options = (
        json_option,
        _format_option,
        _details_option,
        *((_output_option(result), force_option) if writes else ()),
        quiet_option,
    )

    def decorate(command: Function) -> Function:
        @wraps(command)
        def run(*args: Any, out: Out, **values: Any) -> None:
            out.check()
            with ExitStack() as around:
                files = around.enter_context(noting_files())
                around.enter_context(compiled_kernels())
                around.enter_context(_progress())
                found: Result = command(*args, **values)
            out.deliver(found.told(typed_command(), tuple(files.values())))

        return collected(
            run, options, name="out", collect=lambda values: _out_of(values, result.endings, writes=writes)
        )

    return decorate


def details_wanted() -> bool:
    """Whether the command that runs will show sections of details, so that they are worth computing."""
    typed = dict(click.get_current_context().params)
    out = _out_of(typed, own_endings=(), writes="output" in typed)
    if out.path is None or out.path == "-":
        return out.details if out.format == "terminal" else out.format in ("markdown", "html", "latex")
    return out.is_folder or Path(out.path).suffix.lower() not in (".csv", ".json")


def _progress() -> Any:
    quiet = click.get_current_context().meta.get(QUIET, False)
    return silent() if quiet else lines_to(note)


def _out_of(values: dict[str, Any], own_endings: tuple[str, ...], *, writes: bool) -> Out:
    as_json, form, details = (values.pop(name) for name in ("as_json", "format", "details"))
    output, force = (values.pop("output"), values.pop("force")) if writes else (None, False)
    return Out("json" if as_json else form, output, force, details, own_endings)


_format_option = click.option(
    "--format",
    type=click.Choice(get_args(Format)),
    default="terminal",
    help="What is printed. [text for the terminal]",
)
_details_option = click.option("--details", is_flag=True, help="Print the sections of details too.")


def _output_option(result: type[Result]) -> Function:
    own = f"{', '.join(result.endings)}: what the command makes; " if result.endings else ""
    return click.option(
        "-o",
        "--output",
        metavar="PATH",
        help=f"Write to PATH; its ending says what: {own}.md, .html, .tex, .docx, .csv, .json, .png ...; without "
        "an ending a folder with all of it.",
    )


def folder_of(result: Result) -> dict[str, Content]:
    """Everything about a result as files: the page, the record, the table, the pictures, and its own."""
    from humeval_power.reporting.render import as_html

    document = result.document()
    files: dict[str, Content] = {INDEX: as_html(document), RECORD: to_json(result.record())}
    if document.tables:
        files[TABLE] = table_csv(result.to_frame(), digits=10)
    for picture in document.pictures:
        files[f"{picture.name}.svg"] = picture.content("svg")
        files[f"{picture.name}.png"] = picture.content("png")
    return {**files, **result.files()}


def _printed(result: Result, form: Format, *, details: bool) -> str:
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


def _width() -> int:
    """The columns of the terminal, within what is good to read."""
    if not sys.stdout.isatty():
        return WIDTH
    return min(max(shutil.get_terminal_size((WIDTH, 24)).columns, _NARROWEST), _WIDEST)


def _file_of(result: Result, ending: str) -> Content:
    """The content of a file of that ending."""
    if ending in result.endings:
        return result.artefact(ending)
    if ending == _WORD:
        return _word(result)
    if ending in _FIGURES:
        return _picture(result, ending)
    return _printed(result, _FORMAT_OF[ending], details=True)


def _word(result: Result) -> bytes:
    from humeval_power.interfaces.cli.pandoc import word_document
    from humeval_power.reporting.render import as_markdown

    document = result.document()
    pictures = {f"{picture.name}.png": picture.content("png") for picture in document.pictures}
    return word_document(as_markdown(document, pictures=True), pictures=pictures)


def _picture(result: Result, ending: str) -> bytes:
    pictures = result.document().pictures
    if len(pictures) != 1:
        count = "is no picture" if not pictures else f"are {len(pictures)} pictures"
        raise InputError(
            f"There {count} to write as {ending}; name a folder, such as -o result/, for everything."
        )
    return pictures[0].content(ending[1:])  # type: ignore[arg-type]

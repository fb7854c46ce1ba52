"""What commands print and write: the result to standard output, remarks to standard error, sets of files."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import click

from humeval_power.errors import InputError
from humeval_power.kernels.compile_events import listening
from humeval_power.safe_text import WIDTH, table_csv, visible, wrapped

if TYPE_CHECKING:
    from humeval_power.saying.result import Result


# A command that is run by another program, such as the page: its result, remarks and progress are handed
# over.

if TYPE_CHECKING:
    Found: TypeAlias = Callable[[Result], None]


@dataclass(slots=True)
class Caught:
    """What a command would have printed.

    typed : the command line that results tell, which says nothing of where this program keeps their files.
    found : is given the result before any of it is written.
    keeps_study : whether what the result decides is said in the study file, as the terminal does.
    """

    typed: str
    found: Found
    keeps_study: bool = False
    notes: list[str] = field(default_factory=list)


_CAUGHT: ContextVar[Caught | None] = ContextVar("caught", default=None)


def caught() -> Caught | None:
    """Where what a command prints goes; None: to the terminal."""
    return _CAUGHT.get()


@contextmanager
def capturing(typed: str, result: Found, *, keeps_study: bool = False) -> Iterator[Caught]:
    """Within it a command prints nothing, and what is wrong is raised as it is."""
    here = Caught(typed, result, keeps_study)
    token = _CAUGHT.set(here)
    try:
        yield here
    finally:
        _CAUGHT.reset(token)


QUIET = "humeval_power.quiet"
WORDS = "humeval_power.words"  # what was typed after the name of the program
STUDY_FILE = "humeval_power.study"  # what the command took from a study file
_NOTED = "humeval_power.noted"  # remarks that are made once
PROGRAM = "humeval-power"
_WRITTEN = ("output", "key", "key_file", "figures", "pictures", "library", "ledger", "write_config")


def say(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print text for readers: nothing in it that the terminal would obey, whatever a name holds."""
    click.echo(visible(text), err=err, nl=nl)


def is_quiet() -> bool:
    """Whether the command that runs was told to say nothing but its result."""
    ctx = click.get_current_context(silent=True)
    return ctx is not None and bool(ctx.meta.get(QUIET, False))


def note(message: str) -> None:
    """Print a remark on standard error, unless --quiet."""
    if not is_quiet():
        remark(message)


def note_once(message: str) -> None:
    """The same, where it was not said before in this command."""
    ctx = click.get_current_context(silent=True)
    known: set[str] = set() if ctx is None else ctx.meta.setdefault(_NOTED, set())
    if message not in known:
        note(message)
    known.add(message)


def show(text: str, *, exact: bool = False) -> None:
    """Print a result.

    `exact` is for data that a program reads, such as CSV: where standard output is no terminal, the bytes
    are those of the file.
    """
    if exact and not sys.stdout.isatty():
        click.echo(text.encode(), nl=False)
    else:
        say(text.removesuffix("\n"))


def refuse_to_overwrite(paths: Sequence[str | Path], *, force: bool) -> None:
    """Raise InputError if files cannot be written there: to be called before long work, not after.

    A file that the command reads is never written over, with --force neither.
    """
    written = [path for path in paths if str(path) != "-"]
    if not written:
        return
    from humeval_power.files.file_sets import check_targets

    refuse_inputs(written)
    check_targets(written, force=force)


def refuse_inputs(paths: Iterable[str | Path]) -> None:
    """Raise InputError for files that the command reads."""
    ctx = click.get_current_context(silent=True)
    typed = {} if ctx is None else {name: one for name, one in ctx.params.items() if name not in _WRITTEN}
    values = (
        each for value in typed.values() for each in (value if isinstance(value, tuple) else (value,))
    )
    read = [value for value in values if isinstance(value, str) and os.path.isfile(value)]
    result = [
        str(path)
        for path in paths
        if os.path.isfile(path) and any(os.path.samefile(path, other) for other in read)
    ]
    if result:
        raise InputError(f"{', '.join(result)}: this command reads it. Choose another --output.")


def replace_file(path: str | Path, content: str | bytes) -> None:
    """Write a file anew that the command has read, as a whole or not at all."""
    write_set({Path(path): content}, force=True)


def write_set(
    contents: Mapping[Path, str | bytes],
    *,
    force: bool,
    private: Collection[Path] = (),
    published: Path | None = None,
    first: Callable[[], None] | None = None,
) -> None:
    """Write files that belong together, wherever they lie: all of them, or none; see `write_files`."""
    from humeval_power.files.file_sets import write_files

    write_files(contents, force=force, private=private, published=published, first=first, say=remark)


def finish_stopped_runs(words: Sequence[str]) -> None:
    """Complete or clear away what killed runs have left where the words of a command line lead."""
    places: dict[str, None] = {}
    for word in words:
        for path in (word, word.partition("=")[2]):
            if path and not path.startswith("--") and os.path.lexists(path):
                real = os.path.realpath(path)
                above = os.path.dirname(real)
                places.update(dict.fromkeys([above, real] if os.path.isdir(real) else [above]))
                places[os.path.dirname(above)] = None  # where the files of a release are staged
    if not places:
        return
    from humeval_power.files.disk import finish_sets

    for place in places:
        finish_sets(Path(place), say=remark)


def remark(message: str) -> None:
    """Print on standard error what must be told with --quiet too."""
    elsewhere = caught()
    if elsewhere is None:
        say(wrapped(message), err=True)
    else:
        elsewhere.notes.append(message)


# Files that an option names and that are written with the result of a command: all of them, or none.

Content = str | bytes


@dataclass(frozen=True, slots=True)
class Kept:
    """The content of a file that holds, written anew, all that it held before; `what` is kept."""

    content: Callable[[Any], Content]
    what: str


@dataclass(frozen=True, slots=True)
class Reused:
    """The content of a file that is never written over where `is_there` knows it: the command uses the one that it
    finds."""

    content: Callable[[Any], Content]
    is_there: Callable[[str], bool]


# What a file holds of the result, by the name of its option.
Beside = Mapping[str, Callable[[Any], Content] | Kept | Reused]


@dataclass(frozen=True, slots=True)
class BesideFile:
    """A file that somebody typed a path for, and what it holds of the result; `keeps` what stays in it, `is_there`
    one that stays as it is."""

    option: str
    path: str
    content: Callable[[Any], Content]
    keeps: str = ""
    is_there: bool = False


def typed_files(beside: Beside, values: Mapping[str, Any]) -> tuple[BesideFile, ...]:
    """Those of the files that somebody asked for."""
    files = []
    for name, made in beside.items():
        option, path = f"--{name.replace('_', '-')}", values[name]
        if path is None:
            continue
        if isinstance(made, Kept):
            files.append(BesideFile(option, path, made.content, keeps=made.what))
        elif isinstance(made, Reused):
            files.append(BesideFile(option, path, made.content, is_there=made.is_there(path)))
        else:
            files.append(BesideFile(option, path, made))
    return tuple(files)


def refuse_to_renew(files: tuple[BesideFile, ...], *, force: bool) -> None:
    """Refuse files that are there already, without --force: written anew they keep what they hold, and no more.
    Raises InputError: a file that is there, or a place that cannot be written."""
    kept = [file for file in files if file.keeps]
    if not kept:
        return
    from humeval_power.files.file_sets import check_targets

    check_targets([file.path for file in kept], force=True)
    for file in kept:
        if Path(file.path).is_file() and not force:
            raise InputError(
                f"{file.path} exists already. Add --force to write it anew: {file.keeps}; or name another file."
            )


def refuse_one_place(files: tuple[BesideFile, ...], output: str | None) -> None:
    """Refuse a file that would come out together with the result: it is for other eyes.
    Raises click.UsageError: standard output, the file of the result, or a place in its folder."""
    for file in files:
        if file.path == "-":
            raise click.UsageError(f"{file.option} needs a file of its own: '-' is for the result.")
        if output is None or output == "-":
            continue
        place, result = Path(file.path).resolve(), Path(output).resolve()
        if place == result:
            raise click.UsageError(f"--output and {file.option} must be two files.")
        if result in place.parents:
            raise click.UsageError(f"{file.option} must lie outside the folder of --output.")


# What a result is in each form: printed, a file of some ending, a folder with all of it.

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
    from humeval_power.files.documents.reading import to_json
    from humeval_power.saying.render import as_html

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
    from humeval_power.files.documents.reading import to_json
    from humeval_power.saying import render
    from humeval_power.saying.render.terminal import as_terminal

    if form == "csv":
        return table_csv(result.to_frame(), digits=10)
    if form == "json":
        return to_json(result.record())
    if form == "terminal":  # which shows no provenance
        return as_terminal(result.body(), width=_width(), details=details)
    as_form = {"markdown": render.as_markdown, "html": render.as_html, "latex": render.as_latex}[form]
    return str(as_form(result.document()))


def answer_of(result: Result) -> str:
    """What a result says first, in the terminal: its title, the answer, and what must be read before it is used."""
    from humeval_power.saying.render.terminal import as_terminal

    return as_terminal(replace(result.body(), sections=(), signature=""), width=_width())


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
        from humeval_power.asking.pandoc import word_document
        from humeval_power.saying.render import as_markdown

        document = result.document()
        images = {f"{picture.name}.png": picture.content("png") for picture in document.pictures}
        return word_document(as_markdown(document, pictures=True), pictures=images)
    if ending not in FIGURES:
        return printed(result, FORMAT_OF[ending], details=True)
    pictures = result.document().pictures
    chosen = pictures if len(pictures) == 1 else tuple(each for each in pictures if each.name == stem)
    if len(chosen) != 1:
        names = ", ".join(f"{each.name}{ending}" for each in pictures)
        count = "is no picture" if not pictures else f"are {len(pictures)} pictures, {names},"
        raise InputError(
            f"There {count} to write as {ending}; name a folder, such as -o result/, for everything."
        )
    return chosen[0].content(ending[1:])  # type: ignore[arg-type]


TOLD = "humeval_power.compiling_told"


@contextmanager
def compiled_kernels() -> Iterator[None]:
    """Within the block, one line says so if a kernel is compiled; once in a command, not with --quiet."""
    ctx = click.get_current_context(silent=True)
    # that of the whole command: other threads have no context of their own
    state = {} if ctx is None else ctx.meta

    def tell(_kernel: str) -> None:
        if not state.get(TOLD, False) and not state.get(QUIET, False):
            say(wrapped(_message()), err=True)
        state[TOLD] = True

    with listening(tell):
        yield


def _message() -> str:
    from humeval_power.kernels.kernel import temporary_cache

    message = (
        "Compiling the numerical kernels that this needs: up to half a minute, once after each "
        "installation. 'humeval-power more warm-up' compiles all of them."
    )
    folder = temporary_cache()
    if folder is not None:
        message += (
            f" Neither the installation nor your home can be written: they are kept in {folder} for as long as "
            "that lasts. Set NUMBA_CACHE_DIR to a folder that stays."
        )
    return message

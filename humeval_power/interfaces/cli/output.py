"""What commands print and write: the result to standard output, remarks to standard error, sets of files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path

import click

from humeval_power.errors import InputError
from humeval_power.interfaces.cli.capturing import caught
from humeval_power.safe_text import terminal_text, wrapped

QUIET = "humeval_power.quiet"
WORDS = "humeval_power.words"  # what was typed after the name of the program
STUDY_FILE = "humeval_power.study"  # what the command took from a study file
_NOTED = "humeval_power.noted"  # remarks that are made once
PROGRAM = "humeval-power"
_WRITTEN = ("output", "key", "key_file", "figures", "pictures", "library", "ledger", "write_config")


def say(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print text for readers: nothing in it that the terminal would obey, whatever a name holds."""
    click.echo(terminal_text(text), err=err, nl=nl)


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
    from humeval_power.interfaces.writing.targets import check_targets

    _refuse_inputs(written)
    check_targets(written, force=force)


def _refuse_inputs(paths: Sequence[str | Path]) -> None:
    ctx = click.get_current_context(silent=True)
    read = [] if ctx is None else [*_read_paths(ctx.params)]
    found = [str(path) for path in paths if any(_same_file(path, other) for other in read)]
    if found:
        raise InputError(f"{', '.join(found)}: this command reads it. Choose another --output.")


def _read_paths(params: Mapping[str, object]) -> Iterator[str]:
    """The files among the values that were typed, but for those that say where to write."""
    for name, value in params.items():
        for each in value if isinstance(value, tuple) else (value,):
            if isinstance(each, str) and name not in _WRITTEN and os.path.isfile(each):
                yield each


def _same_file(path: str | Path, other: str) -> bool:
    return os.path.isfile(path) and os.path.samefile(path, other)


def write_file(path: str | Path, content: str | bytes, *, force: bool) -> None:
    """Write a file as a whole or not at all; a missing directory is made."""
    write_set({Path(path): content}, force=force)


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
    from humeval_power.interfaces.writing.file_sets import write_files

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
    from humeval_power.interfaces.writing.unfinished import finish_sets

    for place in places:
        finish_sets(Path(place), say=remark)


def remark(message: str) -> None:
    """Print on standard error what must be told with --quiet too."""
    elsewhere = caught()
    if elsewhere is None:
        say(wrapped(message), err=True)
    else:
        elsewhere.notes.append(message)

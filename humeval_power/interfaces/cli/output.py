"""What commands print and write: the result to standard output, remarks to standard error, whole files."""

from __future__ import annotations

import os
import re
import stat
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from humeval_power.errors import InputError
from humeval_power.safe_text import display_width, terminal_text, visible

QUIET = "humeval_power.quiet"
WIDTH = 80


def say(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print text for readers: nothing in it that the terminal would obey, whatever a name holds."""
    click.echo(terminal_text(text), err=err, nl=nl)


def note(message: str) -> None:
    """Print a remark on standard error, unless --quiet."""
    ctx = click.get_current_context(silent=True)
    if ctx is None or not ctx.meta.get(QUIET, False):
        say(wrapped(message), err=True)


def wrapped(text: str, *, bullet: str = "", indent: str = "") -> str:
    """Text in lines of at most 80 columns; names and paths are not broken.

    Later lines start with `indent`, or below the text after the bullet.
    """
    later = indent or " " * display_width(bullet)
    lines = [bullet]
    for piece in re.findall(r" *[^ ]+", visible(re.sub(r"[\t\r\n]", " ", text))):
        is_first = lines[-1] in (bullet, later)
        word = piece.lstrip(" ") if is_first else piece
        if not is_first and display_width(lines[-1]) + display_width(word) > WIDTH:
            lines.append(later)
            word = piece.lstrip(" ")
        lines[-1] += word
    return "\n".join(lines)


def emit(text: str, *, output: str | None, force: bool, exact: bool = False) -> None:
    """Print the result, or write it to the file `output` if there is one ('-' is standard output).

    `exact` is for data that a program reads, such as CSV: where standard output is no terminal, the bytes
    are those of the file.
    """
    if output is None or output == "-":
        if exact and not sys.stdout.isatty():
            click.echo(_bytes(text), nl=False)
        else:
            say(text.removesuffix("\n"))
    else:
        write_file(output, text, force=force)
        note(f"Written: {output}")


def refuse_to_overwrite(paths: Sequence[str | Path], *, force: bool) -> None:
    """Raise InputError if files cannot be written there: to be called before long work, not after."""
    for path in map(Path, paths):
        if path.is_dir():
            raise InputError(f"{path} is a directory; name a file.")
        blocking = next((above for above in path.parents if above.exists() and not above.is_dir()), None)
        if blocking is not None:
            raise InputError(f"{blocking} is a file, not a directory; choose another --output.")
    present = [str(path) for path in paths if Path(path).is_file()]
    if present and not force:
        verb = "exists" if len(present) == 1 else "exist"
        raise InputError(f"{', '.join(present)} {verb} already. Choose another --output, or add --force.")


def write_file(path: str | Path, content: str | bytes, *, force: bool) -> None:
    """Write a file as a whole or not at all; a missing directory is made."""
    target = Path(path)
    if target.exists() and not (target.is_file() or target.is_dir()):
        target.write_bytes(_bytes(content))  # a device such as /dev/null cannot be replaced
    else:
        write_directory(target.parent, {target.name: content}, force=force)


def write_directory(directory: str | Path, files: Mapping[str, str | bytes], *, force: bool) -> None:
    """Write several files of one directory: all are complete before the first takes its name."""
    paths = {Path(directory) / name: content for name, content in files.items()}
    refuse_to_overwrite(list(paths), force=force)
    Path(directory).mkdir(parents=True, exist_ok=True)
    _write_together(paths)


def _write_together(files: Mapping[Path, str | bytes]) -> None:
    staged: dict[Path, Path] = {}
    try:
        for path, content in files.items():
            target = Path(os.path.realpath(path))  # a link stays a link
            staged[_stage(target, _bytes(content))] = target
        for temporary, target in staged.items():
            os.replace(temporary, target)
    finally:
        for temporary in staged:
            temporary.unlink(missing_ok=True)


def _stage(target: Path, content: bytes) -> Path:
    """A complete temporary file beside the target, with the rights that the target has or would get."""
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.chmod(_rights(target))
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return temporary


def _rights(target: Path) -> int:
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content

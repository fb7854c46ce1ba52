"""Long commands with an output keep what they have finished, so that they can be stopped and go on."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from humeval_power.errors import InputError
from humeval_power.interfaces.cli.output import note, remark
from humeval_power.interfaces.cli.run import typed_command
from humeval_power.interfaces.writing.targets import is_stream

if TYPE_CHECKING:
    from humeval_power.interfaces.writing.partial_folder import PartialFolder
    from humeval_power.interfaces.writing.question import Question
    from humeval_power.reporting.result import Source


# where the answer goes, in which form, and where it is computed: none of these changes it
_NOT_ASKED = {"output", "force", "as_json", "format", "details", "quiet", "code", "jobs", "on", "dry_run"}


class Interrupted(KeyboardInterrupt):
    """A command was stopped; the text says what is kept."""


class KeptWork:
    """The finished work of one command."""

    def __init__(self, folder: PartialFolder | None) -> None:
        self._folder = folder

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Within it the work is done. What is refused has its answer: nothing of it is kept, unless it is only this
        way of going on that is refused."""
        if self._folder is None:
            yield
            return
        from humeval_power.interfaces.writing.partial_folder import UnfinishedWorkError
        from humeval_power.sweep.engine import sweeping
        from humeval_power.sweep.parcels import NotSendableError

        try:
            with sweeping(store=self._folder):
                yield
        except (UnfinishedWorkError, NotSendableError):
            raise
        except InputError:
            self._folder.remove()
            raise

    def delivered(self) -> None:
        """The output is written: what was kept can go."""
        if self._folder is not None:
            self._folder.remove()


@contextmanager
def kept_work(
    output: str | None, files: Mapping[str, Source], *, elsewhere: Collection[str] = ()
) -> Iterator[KeptWork]:
    """Keep the work of a command beside its output, until that is there; without an output nowhere.

    files : those that the command has read, by the time of the first block.
    elsewhere : options that say where else something is written.

    Raises
    ------
    Interrupted
        The command was stopped, and some of its work is kept.
    """
    if output is None or output == "-" or is_stream(output):
        yield KeptWork(None)
        return
    from humeval_power.api.progress import share_done
    from humeval_power.interfaces.writing.partial_folder import PartialFolder

    ignored = _NOT_ASKED | set(elsewhere)
    folder = PartialFolder(Path(output), lambda: _question(files, ignored), tell=note, warn=remark)
    try:
        with _termination_as_interruption():
            yield KeptWork(folder)
    except KeyboardInterrupt:
        if folder.save():
            share = share_done()
            far = "" if share is None else f" at {share:.0%}"
            raise Interrupted(f"Interrupted{far}. {_kept(folder)}") from None
        raise
    except BaseException:
        if folder.save():
            note(_kept(folder))
        raise
    finally:
        folder.close()


def _kept(folder: PartialFolder) -> str:
    from humeval_power.reporting.numbers import time_taken

    return f"{time_taken(folder.seconds)} of work are kept in {folder.path}: the same command goes on from there."


def _question(files: Mapping[str, Source], ignored: Collection[str]) -> Question:
    from humeval_power.interfaces.writing.question import Question
    from humeval_power.sweep.versions import versions_here

    ctx = click.get_current_context()
    names = {option.name: _shown(option) for option in ctx.command.params}
    options = {
        names[name]: _said(value, files)
        for name, value in ctx.params.items()
        if name not in ignored and value is not None and value != ()
    }
    read = {source.name: source.sha256 or "" for source in files.values()}
    return Question(ctx.command_path, typed_command(), options, read, versions_here())


def _shown(option: click.Parameter) -> str:
    return option.opts[0] if isinstance(option, click.Option) else option.human_readable_name


def _said(value: Any, files: Mapping[str, Source]) -> str:
    """The value of an option in words; a file that is read by its name alone, since its content is looked at."""
    if isinstance(value, tuple | list):
        return ",".join(_said(one, files) for one in value)
    if isinstance(value, str):
        return files[value].name if value in files else value
    return re.sub(r" at 0x[0-9a-f]+", "", str(value))


@contextmanager
def _termination_as_interruption() -> Iterator[None]:
    """Within it SIGTERM, which batch systems send before they kill, is as Ctrl-C."""
    here = threading.current_thread() is threading.main_thread()
    if not here or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)

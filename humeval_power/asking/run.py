"""How a command is run: its line as it was typed, its simulations, seed and processes, its exit codes."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from humeval_power.asking.command_groups import in_terminal
from humeval_power.asking.options import (
    ON,
    Elsewhere,
    Function,
    decorated,
    default_jobs,
    option_of,
    place_of,
)
from humeval_power.asking.output import PROGRAM, WORDS, caught, note, remark
from humeval_power.asking.vocabulary import JOBS, SEED, SIMULATIONS
from humeval_power.choices import DEFAULT_SEED, DEFAULT_SIMULATIONS
from humeval_power.errors import InputError
from humeval_power.fields import flag, of_answer
from humeval_power.files.file_sets import is_stream
from humeval_power.safe_text import shell_command

if TYPE_CHECKING:
    from humeval_power.files.file_sets import KeptQuestion, PartialFolder
    from humeval_power.saying.result import Source

EXIT_TARGET_MISSED = 3


@dataclass(frozen=True, slots=True)
class Run:
    """How much is drawn, from which seed, by how many cores of this process or where else; `typed` is None where
    the number of simulations was left to the command."""

    typed: int | None
    seed: int
    n_jobs: int
    on: Elsewhere | None = None
    is_dry: bool = False

    @property
    def slots(self) -> int:
        """How many cores compute, here or elsewhere."""
        return self.n_jobs if self.on is None else self.on.slots()

    def simulations(self, default: int = DEFAULT_SIMULATIONS) -> int:
        """The number of simulations: what was typed, else the command's own."""
        return default if self.typed is None else self.typed


def with_run(command: Function) -> Function:
    """Add --simulations, --seed, --jobs, --on and --dry-run; the command gets them as `run: Run`,
    and is run where that says."""

    @wraps(command)
    def placed(*args: Any, **values: Any) -> Any:
        seed, jobs, on = values.pop("seed"), values.pop("jobs"), values.pop("on")
        if jobs is not None and on is not None:
            raise click.UsageError(
                "--jobs are cores of this process, --on says where else to compute: give one of them."
            )
        run = Run(
            values.pop("simulations"),
            DEFAULT_SEED if seed is None else seed,
            jobs or default_jobs(),
            on,
            values.pop("dry_run"),
        )
        if run.on is None and not run.is_dry:
            return command(*args, run=run, **values)
        from humeval_power.sweep.blocks import sweeping
        from humeval_power.sweep.dispatch import DryRun

        with run.on or nullcontext() as engine, sweeping(DryRun() if run.is_dry else engine):
            result = command(*args, run=run, **values)
        if engine is not None and not engine.has_computed and not run.is_dry:
            note(
                f"--on {engine.typed} was not used: nothing of this is simulated in blocks, or all of it was kept "
                "from before."
            )
        return result

    options = (
        option_of("simulations", SIMULATIONS),
        option_of("seed", SEED),
        option_of("jobs", JOBS),
        option_of("on", ON, callback=place_of),
        option_of("dry_run", _DRY_RUN),
    )
    return decorated(placed, options)


_DRY_RUN = of_answer(
    flag(),
    "Say what the simulations will cost, measured on a few, and stop.",
    usual=False,
    further=True,
)


def typed_command() -> str:
    """The command line as typed, with the program's name in front."""
    elsewhere = caught()
    if elsewhere is not None:
        return elsewhere.typed
    return shell_command([PROGRAM, *in_terminal(click.get_current_context().meta.get(WORDS, ()))])


def command_as_typed() -> str:
    """The command line as a result tells it: without where it is computed, which changes nothing of it."""
    elsewhere = caught()
    if elsewhere is not None:
        return elsewhere.typed
    words = iter(in_terminal(click.get_current_context().meta.get(WORDS, ())))
    kept = [PROGRAM]
    for word in words:
        if word == "--":
            kept += [word, *words]
        elif word in _WHERE:
            next(words, None)
        elif word.partition("=")[0] not in _WHERE:
            kept.append(word)
    return shell_command(kept)


_WHERE = ("--jobs", "--on")  # each with a value


# Long commands with an output keep what they have finished, so that they can be stopped and go on.

# where the answer goes, in which form, and where it is computed: none of these changes it
_NOT_ASKED = {"output", "force", "as_json", "format", "details", "quiet", "code", "jobs", "on", "dry_run"}


class Interrupted(KeyboardInterrupt):
    """A command was stopped; the text says what is kept."""


@contextmanager
def computing(folder: PartialFolder) -> Iterator[None]:
    """Within it the work is done. What is refused has its answer: nothing of it is kept, unless it is only this
    way of going on that is refused."""
    from humeval_power.files.file_sets import UnfinishedWorkError
    from humeval_power.sweep.blocks import sweeping
    from humeval_power.sweep.dispatch import NotSendableError

    try:
        with sweeping(store=folder):
            yield
    except (UnfinishedWorkError, NotSendableError):
        raise
    except InputError:
        folder.remove()
        raise


def kept_work(
    output: str | None, files: Mapping[str, Source], *, elsewhere: Collection[str] = ()
) -> AbstractContextManager[PartialFolder | None]:
    """Keep the work of a command beside its output, until that is there; without an output nowhere.

    files : those that the command has read, by the time of the first block.
    elsewhere : options that say where else something is written.
    Raises Interrupted: the command was stopped, and some of its work is kept.
    """
    if output is None or output == "-" or is_stream(output):
        return nullcontext()
    return _kept_beside(Path(output), files, _NOT_ASKED | set(elsewhere))


@contextmanager
def _kept_beside(
    output: Path, files: Mapping[str, Source], ignored: Collection[str]
) -> Iterator[PartialFolder]:
    from humeval_power.files.file_sets import PartialFolder
    from humeval_power.saying.progress import share_done

    folder = PartialFolder(output, lambda: _question(files, ignored), tell=note, warn=remark)
    try:
        with _termination_as_interruption():
            yield folder
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
    from humeval_power.saying.numbers import time_taken

    return f"{time_taken(folder.seconds)} of work are kept in {folder.path}: the same command goes on from there."


def _question(files: Mapping[str, Source], ignored: Collection[str]) -> KeptQuestion:
    from humeval_power.files.file_sets import KeptQuestion
    from humeval_power.sweep.versions import versions_here

    ctx = click.get_current_context()
    names = {option.name: _shown(option) for option in ctx.command.params}
    options = {
        names[name]: _said(value, files)
        for name, value in ctx.params.items()
        if name not in ignored and value is not None and value != ()
    }
    read = {source.name: source.sha256 or "" for source in files.values()}
    return KeptQuestion(ctx.command_path, typed_command(), options, read, versions_here())


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

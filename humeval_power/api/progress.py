"""Progress of long work, with the time left: a bar in terminals and notebooks, lines for programs that ask."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from humeval_power.safe_text import visible

Advance = Callable[[int], None]
Tell = Callable[[str], None]
PATIENCE = 1.0  # seconds before anything is shown
LINE_EVERY = 30.0  # seconds between lines where standard error is not a terminal
_SILENT: ContextVar[bool] = ContextVar("silent", default=False)
_TELL: ContextVar[Tell | None] = ContextVar("tell", default=None)


@contextmanager
def silent() -> Iterator[None]:
    """Within the block no progress is shown."""
    token = _SILENT.set(True)
    try:
        yield
    finally:
        _SILENT.reset(token)


@contextmanager
def lines_to(tell: Tell) -> Iterator[None]:
    """Within the block, progress that no terminal shows is told as lines."""
    token = _TELL.set(tell)
    try:
        yield
    finally:
        _TELL.reset(token)


def tell(text: str) -> None:
    """Tell those who listen what cannot wait for the result."""
    listener = _TELL.get()
    if listener is not None and not _SILENT.get():
        listener(text)


@contextmanager
def progress(label: str, *, total: int) -> Iterator[Advance]:
    """Give a function to be called with the number of units just done.

    Terminals and notebooks show a bar after one second; elsewhere nothing is shown, unless `lines_to` says
    who is told. Within `silent` nothing is shown at all.
    """
    if _SILENT.get():
        yield lambda _units: None
    elif sys.stderr.isatty() or _in_notebook():
        with _bar(label, total) as advance:
            yield advance
    else:
        tell = _TELL.get()
        yield (lambda _units: None) if tell is None else _lines(label, total, tell)


def _in_notebook() -> bool:
    """Whether a notebook's kernel runs this; where none was imported, none does."""
    shell = sys.modules.get("IPython")
    found = None if shell is None else shell.get_ipython()
    return found is not None and type(found).__name__ == "ZMQInteractiveShell"


@contextmanager
def _bar(label: str, total: int) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(visible(label), total=total)
    started = time.monotonic()
    shown = False

    def advance(units: int) -> None:
        nonlocal shown
        bar.advance(task, units)
        if not shown and time.monotonic() - started > PATIENCE:
            shown = True
            bar.start()

    try:
        yield advance
    finally:
        if shown:
            bar.stop()


def _lines(label: str, total: int, tell: Tell) -> Advance:
    started = last = time.monotonic()
    done = 0

    def advance(units: int) -> None:
        nonlocal last, done
        done += units
        now = time.monotonic()
        if now - last >= LINE_EVERY and done < total:
            last = now
            left = (now - started) / max(done, 1) * (total - done)
            tell(f"{label}: {done:,} of {total:,}, about {_duration(left)} left")

    return advance


def in_steps(advance: Advance) -> Callable[[int, int], None]:
    """The same for work that says how many units are done so far, and of how many."""
    done = 0

    def report(now: int, _total: int) -> None:
        nonlocal done
        advance(now - done)
        done = now

    return report


def in_percent(advance: Advance) -> Callable[[int, int], None]:
    """The same for work that says how much is done so far, and of how much at most, out of 100."""
    steps = in_steps(advance)
    return lambda now, total: steps(100 * now // max(total, 1), 100)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"

"""Progress of long work on standard error, with the time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from humeval_power.interfaces.cli.output import QUIET, note
from humeval_power.safe_text import visible

Advance = Callable[[int], None]
PATIENCE = 1.0  # seconds before anything is shown
LINE_EVERY = 30.0  # seconds between lines where standard error is not a terminal


@contextmanager
def progress(label: str, *, total: int) -> Iterator[Advance]:
    """Give a function to be called with the number of units just done.

    A terminal shows a bar after one second; elsewhere a line is printed every half minute. With
    --quiet nothing is shown.
    """
    ctx = click.get_current_context(silent=True)
    if ctx is not None and ctx.meta.get(QUIET, False):
        yield lambda _units: None
    elif sys.stderr.isatty():
        with _bar(label, total) as advance:
            yield advance
    else:
        yield _lines(label, total)


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


def _lines(label: str, total: int) -> Advance:
    started = last = time.monotonic()
    done = 0

    def advance(units: int) -> None:
        nonlocal last, done
        done += units
        now = time.monotonic()
        if now - last >= LINE_EVERY and done < total:
            last = now
            left = (now - started) / max(done, 1) * (total - done)
            note(f"{label}: {done:,} of {total:,}, about {_duration(left)} left")

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

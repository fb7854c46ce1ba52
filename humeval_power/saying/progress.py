"""Progress of long work, with the time left: a bar in terminals and notebooks, lines for programs that ask."""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from typing import ClassVar, NamedTuple, Protocol, TypeVar

from humeval_power.safe_text import visible
from humeval_power.saying.document import Document, Paragraph, Section
from humeval_power.saying.numbers import counted, time_taken
from humeval_power.saying.result import UNKNOWN, Provenance, Record, Result
from humeval_power.sweep.blocks import sweep_in_force
from humeval_power.sweep.dispatch import ComputingCost

Value = TypeVar("Value")
Tell = Callable[[str], None]
PATIENCE = 1.0  # seconds before anything is shown
LINE_EVERY = 30.0  # seconds between lines where standard error is not a terminal
Watch = Callable[[str, float, float | None], None]  # what is done, its share, the seconds left if known


class Advance(Protocol):
    """What is called as work goes on."""

    def __call__(self, units: float, of: float | None = None) -> None:
        """So many more units are done; `of` so many in all, where that is known anew."""
        ...


_WATCH: ContextVar[Watch | None] = ContextVar("watch", default=None)
_SILENT: ContextVar[bool] = ContextVar("silent", default=False)
_TELL: ContextVar[Tell | None] = ContextVar("tell", default=None)
_CLOCK: ContextVar[_Clock | None] = ContextVar("clock", default=None)  # of the latest work


@contextmanager
def _within(variable: ContextVar[Value], value: Value) -> Iterator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def silent() -> AbstractContextManager[None]:
    """Within the block no progress is shown."""
    return _within(_SILENT, True)


def lines_to(tell: Tell) -> AbstractContextManager[None]:
    """Within the block, progress that no terminal shows is told as lines."""
    return _within(_TELL, tell)


def watched_by(watch: Watch) -> AbstractContextManager[None]:
    """Within the block, progress is told to a program, at each step and nowhere else."""
    return _within(_WATCH, watch)


def tell(text: str) -> None:
    """Tell those who listen what cannot wait for the result."""
    listener = _TELL.get()
    if listener is not None and not _SILENT.get():
        listener(text)


class _Clock:
    """How much is done, and how long the rest will take at the pace so far.

    Work that was kept from an earlier run took no time now, and is left out of the pace; so is the first block that
    is computed, before which kernels are loaded and workers start, as soon as there is another.
    """

    def __init__(self, total: float) -> None:
        self.total, self.done = total, 0.0
        self._since = self._now()
        self._started = False

    def advance(self, units: float, of: float | None = None) -> None:
        """So many more units are done, `of` so many in all."""
        self.total = self.total if of is None else of
        self.done += units
        self._last = self._now()
        if not self._started and _fresh(self._since, self._last) > 0:
            self._started, self._first = True, self._last

    @property
    def share(self) -> float:
        """The share that is done."""
        return min(self.done / self.total, 1.0) if self.total else 0.0

    @property
    def left(self) -> float | None:
        """Seconds until all is done; None before anything was computed."""
        if not self._started:
            return None
        since = self._first if self._last.done > self._first.done else self._since
        fresh = _fresh(since, self._last)
        if fresh <= 0:
            return None
        pace = (self._last.time - since.time) / fresh
        return max(pace * (self.total - self.done) - (time.monotonic() - self._last.time), 0.0)

    def _now(self) -> _Moment:
        sweep = sweep_in_force()
        kept, computed = (0.0, 0.0) if sweep is None else (sweep.kept, sweep.computed)
        return _Moment(time.monotonic(), self.done, kept, computed)


class _Moment(NamedTuple):
    """The time, what is done by then, and how much work was kept and computed by the sweep in force."""

    time: float
    done: float
    kept: float
    computed: float


def _fresh(since: _Moment, until: _Moment) -> float:
    """How many of the units that were done in between were computed, and not kept from an earlier run."""
    kept, computed = until.kept - since.kept, until.computed - since.computed
    share = computed / (kept + computed) if kept + computed > 0 else 1.0
    return (until.done - since.done) * share


def share_done() -> float | None:
    """The share of the latest work whose progress was told that is done; None without any."""
    clock = _CLOCK.get()
    return None if clock is None else clock.share


@contextmanager
def progress(label: str, *, total: int) -> Iterator[Advance]:
    """Give a function to be called with the number of units just done, each of about as much work.

    Terminals, and notebooks with ipywidgets, show a bar after one second; elsewhere nothing is shown, unless
    `lines_to` says who is told. Within `silent` nothing is shown at all.
    """
    clock = _Clock(total)
    _CLOCK.set(clock)
    watch = _WATCH.get()
    if watch is not None:
        yield _watched(label, clock, watch)
    elif _SILENT.get():
        yield clock.advance
    elif sys.stderr.isatty() or _in_notebook():
        with _bar(label, clock) as advance:
            yield advance
    else:
        tell = _TELL.get()
        yield clock.advance if tell is None else _lines(label, clock, tell)


def _watched(label: str, clock: _Clock, watch: Watch) -> Advance:
    watch(label, clock.share, None)

    def advance(units: float, of: float | None = None) -> None:
        clock.advance(units, of)
        watch(label, clock.share, clock.left)

    return advance


def _in_notebook() -> bool:
    """Whether a notebook's kernel runs this, with ipywidgets: without them a bar would be a warning. Where no
    IPython was imported, no kernel runs."""
    shell = sys.modules.get("IPython")
    shell_here = None if shell is None else shell.get_ipython()
    if shell_here is None or type(shell_here).__name__ != "ZMQInteractiveShell":
        return False
    return importlib.util.find_spec("ipywidgets") is not None


@contextmanager
def _bar(label: str, clock: _Clock) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
    from rich.text import Text

    class TimeLeft(ProgressColumn):
        """The share that is done, and the time left."""

        def render(self, task: Task) -> Text:  # noqa: ARG002
            return Text(_how_far(clock))

    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TimeLeft(),
        console=Console(stderr=True),
        transient=True,
    )
    task = bar.add_task(visible(label), total=clock.total)
    started = time.monotonic()
    shown = False

    def advance(units: float, of: float | None = None) -> None:
        nonlocal shown
        clock.advance(units, of)
        bar.update(task, completed=clock.done, total=clock.total)
        if not shown and time.monotonic() - started > PATIENCE:
            shown = True
            bar.start()

    try:
        yield advance
    finally:
        if shown:
            bar.stop()


def _lines(label: str, clock: _Clock, tell: Tell) -> Advance:
    last = time.monotonic()

    def advance(units: float, of: float | None = None) -> None:
        nonlocal last
        clock.advance(units, of)
        now = time.monotonic()
        if now - last >= LINE_EVERY and clock.share < 1:
            last = now
            tell(f"{label}: {_how_far(clock)}")

    return advance


def _how_far(clock: _Clock) -> str:
    left = clock.left
    return f"{clock.share:4.0%}" + ("" if left is None else f", about {time_taken(left)} left")


def in_steps(advance: Advance) -> Callable[[float, float], None]:
    """The same for work that says how many units are done so far, and of how many as is known now."""
    done = 0.0

    def report(now: float, total: float) -> None:
        nonlocal done
        advance(now - done, total)
        done = now

    return report


# What a command will cost, before it is run.


@dataclass(frozen=True, kw_only=True)
class SweepCost(Result):
    """Tasks, replicates and core hours of a command that was not run; `slots` are the cores it would have."""

    schema: ClassVar[str] = "humeval_power/sweep_cost/1"

    cost: ComputingCost
    slots: int
    provenance: Provenance = UNKNOWN

    @property
    def wall_seconds(self) -> float:
        """About how long it takes on the cores that it has, at the least one block."""
        longest = self.cost.seconds / self.cost.n_blocks
        return max(self.cost.seconds / self.slots, longest)

    def body(self) -> Document:
        cost = self.cost
        kept = f"; {counted(cost.n_kept, 'block')} more are kept from before" if cost.n_kept else ""
        replicates = f", {counted(cost.n_replicates, 'replicate')}" if cost.n_replicates else ""
        lines = (
            f"{counted(cost.n_tasks, 'task')} of {counted(cost.n_blocks, 'block')}{replicates}{kept}.",
            f"About {cost.seconds / 3600:.2g} core hours ({time_taken(cost.seconds)} of one core), measured on "
            f"{counted(cost.measured, 'block')} here; about {time_taken(self.wall_seconds)} with "
            f"{counted(self.slots, 'core')}.",
            "A search and a precision go on from what the first blocks say: theirs is the cost of the first round.",
        )
        paragraphs = tuple(Paragraph(line) for line in lines)
        return Document("Nothing was computed yet", sections=(Section("", paragraphs),))

    def content(self) -> Record:
        return {**asdict(self.cost), "cores": self.slots, "wall_seconds": self.wall_seconds}

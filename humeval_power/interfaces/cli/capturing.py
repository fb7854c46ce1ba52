"""A command that is run by another program, such as the page: its result, remarks and progress are handed over."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from humeval_power.reporting.result import Result

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
def capturing(typed: str, found: Found, *, keeps_study: bool = False) -> Iterator[Caught]:
    """Within it a command prints nothing, and what is wrong is raised as it is."""
    here = Caught(typed, found, keeps_study)
    token = _CAUGHT.set(here)
    try:
        yield here
    finally:
        _CAUGHT.reset(token)

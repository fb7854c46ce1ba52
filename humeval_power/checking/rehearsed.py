"""How ratings of a rehearsal are told from those of a study: by the names of their workers.

Names stay through every table, export and analysis; a column would be left behind by the first tool in the way.
"""

from __future__ import annotations

from collections.abc import Iterable

_MARK = "rehearsal-"
RECORD_SCHEMA = "humeval_power/rehearsal/1"
REHEARSAL = "Rehearsal, no real ratings: "  # what the first sentence begins with
NOTICE = "These ratings were drawn in a rehearsal: nobody gave them."


def rehearsed_worker(slot: str) -> str:
    """The name of the worker who fills a slot in a rehearsal."""
    return f"{_MARK}{slot}"


def is_rehearsed(workers: Iterable[str]) -> bool:
    """Whether any of these workers is one of a rehearsal."""
    return any(worker.startswith(_MARK) for worker in workers)


def lead_of(workers: Iterable[str], lead: str) -> str:
    """The first sentence of what is made of the ratings of these workers: of a rehearsal it says that it is one."""
    return f"{REHEARSAL}{lead}" if is_rehearsed(workers) else lead


def rehearsal_notices(workers: Iterable[str]) -> tuple[str, ...]:
    """What stands first in all that is made of the ratings of these workers: nothing, or that nobody gave them."""
    return (NOTICE,) if is_rehearsed(workers) else ()

"""Which spares to call: slots whose worker is lost, and what a spare would take over."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from humeval_power.planning.plan.assignment_table import numbered

if TYPE_CHECKING:
    from humeval_power.checking.exports.assigned import Assigned
    from humeval_power.inference.field.progress import Progress

_SPARE = re.compile(r"r(\d+)")
_LOST = {"withdrawn": "the worker withdrew", "refused": "the work was rejected or returned"}
_BROKEN = "the rules leave its worker out"
_MOST_UNCERTAIN = 20
_BEGUN = "begun; if its worker does not come back"


@dataclass(frozen=True, slots=True)
class Spare:
    """A spare slot for one whose worker is lost, and from which batch on. `certain` is False where the worker may
    still come back."""

    name: str
    slot: str
    first_batch: int
    why: str
    certain: bool

    @property
    def takeover(self) -> str:
        """As it is typed: r01=w07, or r01=w07:3."""
        return f"{self.name}={self.slot}" + (f":{self.first_batch}" if self.first_batch > 1 else "")


def spares_to_call(
    progress: Progress, assigned: Assigned, *, broken: Collection[str] = ()
) -> tuple[Spare, ...]:
    """A spare for each slot whose worker is lost for certain, then for the first 20 that are begun.

    Where all that a worker gave leaves, the spare takes over the whole slot, else from the first batch on that is
    not done. The work of a spare is that of the slot which it replaces.

    broken : slots whose workers the rules leave out.
    """
    wanted: list[tuple[str, int, str, bool]] = []
    for row in progress.slots.itertuples():
        name, state = str(row.slot), str(row.state)
        slot, first = assigned.work_of(name)
        if state in _LOST:
            wanted.append((slot, first, _LOST[state], True))
        elif name in broken:
            wanted.append((slot, first, _BROKEN, state == "complete"))
        elif state == "begun":
            wanted.append((slot, int(str(row.next_batch)), _BEGUN, False))
    lost = [one for one in wanted if one[3]]
    wanted = [*lost, *[one for one in wanted if not one[3]][:_MOST_UNCERTAIN]]
    used = [int(found[1]) for slot in assigned.slots if (found := _SPARE.fullmatch(slot))]
    first = max(used, default=0)
    names = numbered("r", first + len(wanted))[first:]
    return tuple(Spare(name, *one) for name, one in zip(names, wanted, strict=True))

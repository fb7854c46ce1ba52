"""What a command will cost, before it is run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar

from humeval_power.reporting.document import Document, Paragraph, Section
from humeval_power.reporting.numbers import counted, time_taken
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result
from humeval_power.sweep.dry_run import Cost


@dataclass(frozen=True, kw_only=True)
class SweepCost(Result):
    """Tasks, replicates and core hours of a command that was not run; `slots` are the cores it would have."""

    schema: ClassVar[str] = "humeval_power/sweep_cost/1"

    cost: Cost
    slots: int
    provenance: Provenance = UNKNOWN

    @property
    def wall_seconds(self) -> float:
        """About how long it takes on the cores that it has, at the least one block."""
        longest = self.cost.seconds / self.cost.n_blocks
        return max(self.cost.seconds / self.slots, longest)

    def body(self) -> Document:
        """A few lines."""
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
        """The counts, and the seconds of one core."""
        return {**asdict(self.cost), "cores": self.slots, "wall_seconds": self.wall_seconds}

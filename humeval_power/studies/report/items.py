"""The items of the checklist, in the order of Card et al. (2020), section 6, and the records they fill.

Their recommendations: a power analysis before a comparison is made; what others need to plan their own
studies, and data and code; an analysis planned before the ratings come in; and a human evaluation that
says how many workers rated how many items how often.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from humeval_power.saying.document import FormLine, Table

GIVEN = "the [report] table"  # the source of what the authors say themselves
State = Literal["filled", "open"]


@dataclass(frozen=True, slots=True)
class ChecklistItem:
    """One thing that a report should say.

    `state` is 'filled' where the documents give the whole answer. An open item may hold what is
    known so far in `answer`; `advice` says what to add. `source` names where an answer came from. Its key is its
    `number`; no item is of one criterion alone.
    """

    number: str
    section: str
    prompt: str
    state: State
    answer: str | None = None
    source: str | None = None
    advice: str | None = None
    table: Table | None = None
    criterion: None = None

    def field(self) -> FormLine:
        """The item as it is shown."""
        return FormLine(
            self.number,
            self.prompt,
            self.state,
            self.answer or "",
            self.source or "",
            self.advice or "",
            self.table,
        )


@dataclass(frozen=True, slots=True)
class Checklist:
    """All items in order, the caveats a reader must know, and where the numbers came from."""

    title: str
    items: tuple[ChecklistItem, ...]
    caveats: tuple[str, ...]
    provenance: tuple[tuple[str, str], ...]

    @property
    def n_open(self) -> int:
        """Number of items that only the authors can fill."""
        return sum(item.state == "open" for item in self.items)

    @property
    def sections(self) -> tuple[str, ...]:
        """The sections in order."""
        return tuple(dict.fromkeys(item.section for item in self.items))

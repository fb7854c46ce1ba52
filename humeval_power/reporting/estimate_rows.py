"""Rows of estimates with intervals, one for each worker, item or other level: the ends where there are many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from humeval_power.reporting.document import Table
from humeval_power.reporting.drawing import Drawing
from humeval_power.reporting.numbers import significant, with_minus

if TYPE_CHECKING:  # Matplotlib is slow to import
    from matplotlib.figure import Figure

ENDS = 30  # rows shown at each end of a long list


@dataclass(frozen=True, slots=True)
class EstimateRow:
    """One row: a value with the ends of its interval, and whether it is marked."""

    name: str
    value: float
    low: float
    high: float
    marked: bool = False


@dataclass(frozen=True, slots=True)
class EstimateRows:
    """Rows around the value of the whole study, if there is one.

    `is_ordered`: the largest value on top, and more than 2 x 30 rows cut to the 30 at each end; else as given.
    """

    rows: tuple[EstimateRow, ...]
    nouns: str
    x_label: str
    usual_label: str = ""
    marked_label: str = ""
    whole: float | None = None
    whole_label: str = ""
    whole_interval: tuple[float, float] | None = None
    is_ordered: bool = True

    @property
    def ordered(self) -> tuple[EstimateRow, ...]:
        """All rows in their order."""
        return tuple(sorted(self.rows, key=lambda row: -row.value)) if self.is_ordered else self.rows

    @property
    def shown(self) -> tuple[EstimateRow | None, ...]:
        """The rows that are drawn; None stands for those between the ends."""
        ordered = self.ordered
        if not self.is_ordered or len(ordered) <= 2 * ENDS:
            return ordered
        return (*ordered[:ENDS], None, *ordered[-ENDS:])

    @property
    def gap(self) -> str:
        """What stands in the place of the rows that are not drawn."""
        hidden = self.ordered[ENDS:-ENDS]
        n_marked = sum(row.marked for row in hidden)
        aside = f", {n_marked:,} of them marked" if n_marked else ""
        return f"{len(hidden):,} more {self.nouns} between{aside}"

    def drawing(
        self, name: str, *, title: str, words: str, width: float, has_numbers: bool = True
    ) -> Drawing:
        """The picture of these rows: `title` is of the page, `width` in inches of files; `has_numbers` gives it a
        table of its own, for what stands in none beside it."""

        def draw() -> Figure:
            from humeval_power.reporting.estimate_rows_figure import estimate_rows_figure

            return estimate_rows_figure(self, width=width)

        def svg() -> str:
            from humeval_power.reporting.render.svg_rows import rows_svg

            return rows_svg(self, title, words)

        return Drawing(
            name, draw, svg, title=title, words=words, numbers=self.table() if has_numbers else None
        )

    def table(self) -> Table:
        """The rows that are drawn in numbers."""
        rows = [
            (row.name, *(with_minus(significant(value)) for value in (row.value, row.low, row.high)))
            for row in self.shown
            if row is not None
        ]
        return Table(("", self.x_label, "from", "to"), tuple(rows))

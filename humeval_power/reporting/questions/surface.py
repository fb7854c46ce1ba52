"""Power of many scenarios: the table of their cells, and one figure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from humeval_power.errors import InputError
from humeval_power.reporting.answer_words import of_hundred
from humeval_power.reporting.document import Block, Document, Paragraph, Picture, Section, Table
from humeval_power.reporting.drawn import QUANTITIES, Along, Drawn, known_rows
from humeval_power.reporting.numbers import decimals
from humeval_power.reporting.questions.curve_facets import choose_curve_facets
from humeval_power.reporting.questions.results import QuestionResult
from humeval_power.reporting.records import Record

if TYPE_CHECKING:  # Matplotlib is slow to import
    from matplotlib.figure import Figure

_OWN_COLUMNS = frozenset(
    {
        "n",
        "effect",
        "power",
        "power_low",
        "power_high",
        "type_m",
        "type_s",
        "n_simulations",
        "n_failed",
        "method",
    }
)


@dataclass(frozen=True, kw_only=True)
class SurfaceResult(QuestionResult):
    """Power over many sizes and effects, a row for each."""

    question: ClassVar[str] = "surface"

    rows: tuple[dict[str, Any], ...]
    draw: Drawn = "power"
    along: Along | None = None

    @property
    def lists(self) -> tuple[str, ...]:
        """The columns of what is assumed, of which there are several values."""
        return tuple(name for name in self.rows[0] if name not in _OWN_COLUMNS)

    def body(self) -> Document:
        """The table and its curves."""
        return Document(
            "Power over sizes and effects",
            lead=self._lead(),
            sections=(Section("", (self._table(), self._picture())),),
        )

    def _lead(self) -> str:
        known = [row for row in self.rows if not math.isnan(row["power"])]
        if not known:
            return "No power can be given: too many of the simulated studies could not be tested."
        low, high = (
            f"{of_hundred(row['power'])} (n = {row['n']:,}, effect {self.wording.shown(row['effect'])})"
            for row in (f(known, key=lambda row: row["power"]) for f in (min, max))
        )
        found = low if low == high else f"from {low} to {high}"
        simulated = any(row["n_simulations"] for row in known)
        how = (
            "'+-' is half the 95 % Monte Carlo interval of a simulated power" if simulated else "By formula"
        )
        return f"Of 100 such studies, {found} would find the effect. {how}."

    def _picture(self) -> Block:
        quantity = QUANTITIES[self.draw]
        try:
            facets = choose_curve_facets(known_rows(self.rows, self.draw), self.lists, self.along)
        except InputError as error:
            return Paragraph(f"No figure. {error}")
        against = "size" if facets.x == "n" else "effect"
        panels = f"; panels by {' and '.join(facets.panels)}" if facets.panels else ""
        words = f"{quantity.words} against the {against}, a line for each {facets.line_words}{panels}."
        return Picture("surface", self._figure, words=words)

    def _table(self) -> Table:
        return Table(
            (
                *(name.replace("_", " ") for name in self.lists),
                "n",
                "effect",
                "power",
                "+-",
                "type M",
                "type S",
            ),
            tuple(
                (
                    *(f"{row[name]:g}" for name in self.lists),
                    f"{row['n']:,}",
                    self.wording.shown(row["effect"]),
                    f"{row['power']:.4f}",
                    f"{(row['power_high'] - row['power_low']) / 2:.3f}" if row["n_simulations"] else "",
                    decimals(row["type_m"], 2),
                    decimals(row["type_s"], 4),
                )
                for row in self.rows
            ),
        )

    def _figure(self) -> Figure:
        from humeval_power.reporting.questions.curve_figure import curve_figure

        label = self.wording.axis
        return curve_figure(
            self.rows, effect_label=label, lists=self.lists, draw=self.draw, along=self.along
        )

    def content(self) -> Record:
        """A row for each cell."""
        return {"rows": [dict(row) for row in self.rows], "given": dict(self.given)}

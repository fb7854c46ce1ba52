"""Power over a grid of studies, as a table and small multiples."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from humeval_power.differences import Difference, understood
from humeval_power.parameters import Parameters
from humeval_power.planning.power import PowerEstimate
from humeval_power.planning.study.growth import TARGET
from humeval_power.planning.study.surface import CellResult
from humeval_power.planning.study.systems_goals import SystemsPower
from humeval_power.planning.study.systems_study import SystemsStudy
from humeval_power.reporting.answer_words import enough_words, of_hundred
from humeval_power.reporting.document import Block, Document, Facts, Paragraph, Picture, Section, Table
from humeval_power.reporting.drawn import NOTHING_WRONG, QUANTITIES, AlongStudy, Drawn, known_rows
from humeval_power.reporting.numbers import counted, decimals
from humeval_power.reporting.records import SURFACE_SCHEMA, Record
from humeval_power.reporting.result import NO_POWER, UNKNOWN, Provenance, Result
from humeval_power.reporting.rule_words import PARITY
from humeval_power.reporting.study.several import (
    assumed_words,
    family_words,
    finds_words,
    several_content,
    share_cell,
)
from humeval_power.reporting.study.study_content import (
    failure_remarks,
    result_row,
    study_notes,
    too_many_failed,
)
from humeval_power.rules import CARD2020, DecisionRule, claim
from humeval_power.systems import GOALS, SystemsParameters

if TYPE_CHECKING:  # pandas and Matplotlib are slow to import
    from matplotlib.figure import Figure

_AS_CARD = "* decided as Card et al. (2020): maximum likelihood, t > 1.96"


@dataclass(frozen=True, kw_only=True)
class StudySurface(Result):
    """Power over settings, workers, items and effects; with two `rules` each study stands in two rows."""

    schema: ClassVar[str] = SURFACE_SCHEMA

    results: tuple[CellResult, ...]
    settings: Mapping[str, Parameters | SystemsParameters]
    rules: tuple[DecisionRule, ...]
    said: tuple[Difference, ...]
    effect_unit: float = 1.0
    strict: bool = False
    draw: Drawn = "power"
    along: AlongStudy | None = None
    provenance: Provenance = UNKNOWN

    @property
    def _has_margin(self) -> bool:
        return self.rules[0].margin is not None

    def body(self) -> Document:
        """The table and the figure."""
        blocks: list[Block] = [self._table(), Facts((("Effect", understood(self.said)),))]
        if len(self.rules) > 1:
            blocks.append(Paragraph(_AS_CARD))
        if self._has_margin:
            what = f"Power to show {claim(self.rules[0])} on [0, 1]; effect: the true difference."
            blocks.append(Paragraph(f"{what} {PARITY}"))
        first = self.results[0].cell.study
        if isinstance(first, SystemsStudy):
            tests = family_words(first.family, first.parameters.n_systems)
            blocks.append(Facts((("Tests", tests), ("Test", str(first.rule)))))
            blocks.append(Paragraph(assumed_words(first)))
        blocks.append(self._picture())
        return Document(
            "Power over a grid of studies",
            lead=self._lead(),
            sections=(Section("", tuple(blocks)),),
        )

    def _lead(self) -> str:
        """The smallest study that reaches 80 of 100, or the one that comes nearest."""
        known = [each for each in self.results if math.isfinite(each.estimate.power)]
        if not known:
            return "There is no power: too many of the simulated studies could not be fitted."
        enough = [each for each in known if each.estimate.power >= TARGET]
        best = max(known, key=lambda each: each.estimate.power)
        if enough:
            best = min(enough, key=lambda each: (each.cell.study.design.n_ratings, -each.estimate.power))
        study = best.cell.study
        sizes = f"{counted(study.design.n_workers, 'worker')} and {counted(study.design.n_items, 'item')}"
        said = min(self.said, key=lambda each: abs(each.value - study.true_effect))
        reached = of_hundred(best.estimate.power, best.estimate.interval)
        first = enough_words(len(enough), len(self.results), TARGET)
        finds = finds_words(study, said)
        return f"{first} has {sizes}: of 100 such studies, {reached} would {finds}."

    def _picture(self) -> Block:
        if self.draw != "power" and not known_rows(self.rows, self.draw):
            return Paragraph(f"No figure. {NOTHING_WRONG}")
        what = QUANTITIES[self.draw].words
        words = f"{what} against the effect, a line for each size."
        if self.along == "items":
            words = f"{what} against the number of items, a line for each effect."
        return Picture("surface", self._figure, words=words)

    def _table(self) -> Table:
        cells = [self._cells(row) for row in self.rows]
        return Table(tuple(cells[0]), tuple(tuple(row.values()) for row in cells))

    def _cells(self, row: Mapping[str, Any]) -> dict[str, str]:
        """A row of the table by its header; of several systems the goals, in place of what all rows share."""
        found = {
            "setting": str(row["setting"]) + (" *" if row.get("rule") == "card2020" else ""),
            "workers": f"{row['workers']}",
            "items": f"{row['items']}",
        }
        if any(result.cell.study.design.n_documents for result in self.results):
            found["documents"] = f"{row['documents']}"
        size = {"k": f"{row['ratings_per_item']:g}"}
        powers = {
            "effect": f"{row['effect']:g}",
            "power": f"{row['power']:.3f}",
            "+-": f"{(row['power_high'] - row['power_low']) / 2:.3f}",
        }
        if "goal_pair" in row:
            if len(self.settings) == 1:
                del found["setting"]
            return {**found, **powers, **{goal: share_cell(row[f"goal_{goal}"]) for goal in GOALS}}
        worth = {"type M": decimals(row["type_m"], 2), "type S": decimals(row["type_s"], 3)}
        at_zero = {"at zero": f"{row['boundary_rate']:.2f}"}
        return {**found, **size, **powers, **({} if self._has_margin else worth), **at_zero}

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each cell; with two rules each says by which it was decided. Of several systems it has all
        goals."""
        rows = [
            {**result_row(result, effect_unit=self.effect_unit), **_of_goals(result)}
            for result in self.results
        ]
        if len(self.rules) > 1:
            for row, result in zip(rows, self.results, strict=True):
                rule = result.cell.study.rule
                row["rule"] = "card2020" if rule == CARD2020 else str(rule)
        return rows

    def _figure(self) -> Figure:
        from humeval_power.reporting.study.comparison_figure import comparison_figure
        from humeval_power.reporting.study.surface_figure import surface_figure

        direction = self.said[0].direction
        label = f"Difference {direction} on [0, 1]"
        if self.said[0].systems is None:
            label = "Difference that the true means are stated by, on [0, 1]"
        if self.effect_unit != 1.0:
            label = f"Coefficient under -1/+1 coding (half of {direction})"
        if len(self.rules) > 1:
            return comparison_figure(self.to_frame(), effect_label=label)
        return surface_figure(self.to_frame(), effect_label=label, draw=self.draw, along=self.along)

    def content(self) -> Record:
        """All rows with what they were computed from."""
        first = self.results[0].cell.study
        return {
            "understood": understood(self.said),
            "rows": self.rows,
            "effect_unit": self.effect_unit,
            "rule": asdict(self.rules[0]),
            "rules": [asdict(rule) for rule in self.rules],
            "settings": {name: parameters.as_dict() for name, parameters in self.settings.items()},
            "response": first.response,
            **(several_content(first) if isinstance(first, SystemsStudy) else {}),
        }

    @property
    def _estimates(self) -> tuple[PowerEstimate | SystemsPower, ...]:
        return tuple(result.estimate for result in self.results)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the designs say of themselves, and failed fits."""
        notes = dict.fromkeys(note for result in self.results for note in study_notes(result.cell.study))
        return (*notes, *failure_remarks(self._estimates))

    @property
    def missed(self) -> str:
        """That too many of the simulated studies of a cell could not be fitted."""
        return NO_POWER if too_many_failed(self._estimates, strict=self.strict) else ""


def _of_goals(result: CellResult) -> Record:
    """What the row of a study of several systems has besides."""
    found = result.estimate
    if not isinstance(found, SystemsPower):
        return {}
    return {
        "n_ratings": result.cell.study.design.n_ratings,
        "formula": None if result.analytic is None else result.analytic.power,
        **{f"goal_{goal}": found.shares[goal] for goal in GOALS},
        "false_claim": found.false_claim,
        "top_group": found.top_group,
    }

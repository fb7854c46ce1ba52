"""The ratings of one simulated study, and power over a grid of studies."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from humeval_power.choices import ANONYMOUS
from humeval_power.designs import DEFAULT_ASSIGNMENT_SEED, Design
from humeval_power.differences import Difference, understood
from humeval_power.parameters import Parameters
from humeval_power.rules import CARD2020, DecisionRule, claim
from humeval_power.safe_text import table_csv
from humeval_power.saying.answer_words import better_words, enough_words, of_hundred, on_scale
from humeval_power.saying.chart import Chart, LaterChart, Panels
from humeval_power.saying.document import (
    NOTHING_WRONG,
    QUANTITIES,
    AlongStudy,
    Block,
    Document,
    Drawn,
    Fact,
    Facts,
    Paragraph,
    Section,
    Table,
    known_rows,
)
from humeval_power.saying.numbers import POWER_LABEL, counted, decimals, power_words, share_decimals
from humeval_power.saying.quantities import values
from humeval_power.saying.result import NO_POWER, SURFACE_SCHEMA, UNKNOWN, Provenance, Record, Result
from humeval_power.saying.rule_words import PARITY
from humeval_power.scales import RatingScale
from humeval_power.simulation.study import SimulatedRatings
from humeval_power.studies.power.estimate import PowerEstimate
from humeval_power.studies.power.growth import TARGET
from humeval_power.studies.power.result_several import (
    assumed_words,
    family_words,
    finds_words,
    means_table,
    several_content,
    share_cell,
)
from humeval_power.studies.power.strategies import AnyStudy, CellResult
from humeval_power.studies.power.study_content import (
    category_facts,
    failure_remarks,
    loss_facts,
    result_row,
    setting_labels,
    setting_words,
    study_notes,
    too_many_failed,
)
from humeval_power.studies.power.systems_goals import SystemsPower
from humeval_power.studies.power.systems_study import SystemsStudy
from humeval_power.systems import GOALS, SystemsParameters

if TYPE_CHECKING:
    import pandas as pd

_DIGITS = 6


@dataclass(frozen=True, kw_only=True)
class SimulatedStudy(Result):
    """Ratings that were drawn from parameters; those that were lost are not among them."""

    schema: ClassVar[str] = "humeval_power/simulated/1"
    endings: ClassVar[tuple[str, ...]] = (".csv",)

    ratings: SimulatedRatings
    study: AnyStudy
    effect: Difference
    scale: RatingScale | None = None
    criteria: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    @property
    def n_ratings(self) -> int:
        """Ratings that are there."""
        return len(self.ratings.rating)

    @property
    def n_planned(self) -> int:
        """Ratings that the design has, on all criteria."""
        return self.design.n_ratings * max(len(self.criteria), 1)

    @property
    def design(self) -> Design:
        """Who was to rate what."""
        return self.study.design

    @property
    def systems(self) -> tuple[str, ...]:
        """Their names."""
        several = self.study.parameters
        return several.names if isinstance(several, SystemsParameters) else self.effect.systems or ANONYMOUS

    @property
    def n_beyond(self) -> int:
        """Ratings beyond the ends of the scale, which a Gaussian response does not know."""
        return int(((self.ratings.rating < 0) | (self.ratings.rating > 1)).sum())

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the design had to round, and what a reader of the table would trip over."""
        said = [*study_notes(self.study)]
        if self.n_ratings < self.n_planned:
            said.append(f"{self.n_ratings:,} of {self.n_planned:,} planned ratings are left.")
        if self.n_beyond:
            said.append(
                f"{self.n_beyond:,} of {self.n_ratings:,} ratings lie beyond the ends of the scale, which the "
                "model does not know, and a table with them is refused where the scale is declared: a response "
                "that is clipped or likert keeps them on it."
            )
        return tuple(said)

    def body(self) -> Document:
        """What was drawn from what; the ratings themselves are the table."""
        study, scale = self.study, "0 to 1" if self.scale is None else str(self.scale)
        model, known = "in a model", study.parameters
        in_categories = isinstance(known, Parameters) and known.latent is not None
        facts: list[Fact] = [("Design", f"{self.design}; assignment seed {DEFAULT_ASSIGNMENT_SEED}")]
        if self.criteria:
            facts.append(("Criteria", f"{', '.join(self.criteria)}: each drawn from the same model"))
        facts.append(("Response", f"{'in categories' if in_categories else study.response}, on {scale}"))
        more: tuple[Block, ...] = ()
        of = ""
        if isinstance(study, SystemsStudy):
            of = f" of {study.parameters.n_systems} systems"
            more = (Paragraph(assumed_words(study)), means_table(study))
        else:
            sds = (pair for pair in study.parameters.as_dict().items() if pair[0].startswith("sd_"))
            sd = ", ".join(f"{name} {value:.4g}" for name, value in sds)
            better = better_words(self.effect.value, self.scale, self.effect.systems or ANONYMOUS)
            model = f"in a model where {better} {on_scale(self.scale)}"
            facts[1:1] = category_facts(study.parameters)
            facts = [("True effect", str(self.effect)), *facts, ("Standard deviations", sd)]
        words = "The share of each system's ratings by value."
        drawn = LaterChart("ratings", lambda: self._ratings_chart(words), words=words)
        return Document(
            f"{counted(self.n_ratings, 'rating')} of a simulated study{of}",
            lead=f"{self.design.n_workers:,} workers rated {self.design.n_items:,} items {model}; a program drew "
            "these ratings, nobody gave them.",
            sections=(Section("", (Facts(tuple(facts)), drawn, *more)),),
        )

    def _ratings_chart(self, words: str) -> Panels:
        from humeval_power.studies.fit.figures import ratings_chart

        drawn = self.ratings
        raw = drawn.rating if self.scale is None else self.scale.from_unit(drawn.rating)
        by_system = {name: np.asarray(raw[drawn.system == code]) for code, name in enumerate(self.systems)}
        return ratings_chart(by_system, self.scale, words=words)

    def content(self) -> Record:
        """What the ratings were drawn from, and how many there are."""
        return {
            "effect": self.effect.value,
            "understood": str(self.effect),
            "n_ratings": self.n_ratings,
            "n_planned": self.n_planned,
            "n_beyond_scale": self.n_beyond,
            "design": str(self.design),
            **values(self.design, "n_workers", "n_items"),
            "response": self.study.response,
            **({"criteria": list(self.criteria)} if self.criteria else {}),
            "scale": None if self.scale is None else asdict(self.scale),
            "parameters": self.study.parameters.as_dict(),
            **(several_content(self.study) if isinstance(self.study, SystemsStudy) else {}),
        }

    def to_frame(self) -> pd.DataFrame:
        """The ratings: worker, item, system by its name and rating, on the scale."""
        return self.ratings.to_frame(self.scale, self.systems, self.criteria)

    def artefact(self, ending: str) -> str:  # noqa: ARG002
        """The ratings as CSV."""
        return table_csv(self.to_frame(), digits=_DIGITS)

    def files(self) -> dict[str, str]:
        """The ratings, beside the page."""
        return {"ratings.csv": self.artefact(".csv")}


# Power over a grid of studies, as a table and small multiples.

_COLUMNS = {
    "+-": "+-: half of the power's 95 % Monte Carlo interval.",
    "type M": "Type M: how many times significant estimates exaggerate the effect.",
    "type S": "Type S: the share of them with the wrong sign.",
    "at zero": "At zero: fits in which a variance is estimated as zero; they are kept.",
    "pair": "Pair, any, all: a given pair that differs so is found, at least one true difference, all of them. "
    "Best, first: the best is found above every other, has the highest mean.",
}
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
        facts = [("Effect", understood(self.said))]
        facts += [
            ("Setting", f"{label}: {setting_words(name)}") for name, label in self._labels if label != name
        ]
        blocks: list[Block] = [self._table(), Facts(tuple(facts))]
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
        if losses := tuple(loss_facts(first)):
            blocks.append(Facts(losses))
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

    @property
    def _labels(self) -> tuple[tuple[str, str], ...]:
        """What each setting is called."""
        return tuple(setting_labels(self.settings).items())

    def _picture(self) -> Block:
        if self.draw != "power" and not known_rows(self.rows, self.draw):
            return Paragraph(f"No figure. {NOTHING_WRONG}")
        what = QUANTITIES[self.draw].words
        words = f"{what} against the effect, a line for each size."
        if self.along == "items":
            words = f"{what} against the number of items, a line for each effect."
        return LaterChart("surface", lambda: self._chart(words), words=words)

    def _table(self) -> Table:
        cells = [self._cells(row) for row in self.rows]
        return Table(
            tuple(cells[0]),
            tuple(tuple(row.values()) for row in cells),
            " ".join(said for name, said in _COLUMNS.items() if name in cells[0]),
        )

    def _cells(self, row: Mapping[str, Any]) -> dict[str, str]:
        """A row of the table by its header; of several systems the goals, in place of what all rows share."""
        cells = {
            "setting": dict(self._labels)[row["setting"]] + (" *" if row.get("rule") == "card2020" else ""),
            "workers": f"{row['workers']}",
            "items": f"{row['items']}",
        }
        if any(result.cell.study.design.n_documents for result in self.results):
            cells["documents"] = f"{row['documents']}"
        size = {"per item": f"{row['ratings_per_item']:g}"}
        powers = {
            "effect": f"{row['effect']:g}",
            POWER_LABEL.lower(): power_words(row["power"]),
            "+-": f"{(row['power_high'] - row['power_low']) / 2:.3f}",
        }
        if "goal_pair" in row:
            if len(self.settings) == 1:
                del cells["setting"]
            return {**cells, **powers, **{goal: share_cell(row[f"goal_{goal}"]) for goal in GOALS}}
        worth = {"type M": decimals(row["type_m"], 2), "type S": share_decimals(row["type_s"], 3)}
        at_zero = {"at zero": f"{row['boundary_rate']:.2f}"}
        return {**cells, **size, **powers, **({} if self._has_margin else worth), **at_zero}

    @property
    def rows(self) -> list[dict[str, Any]]:
        """A row for each cell; with two rules each says by which it was decided. Of several systems it has all
        goals."""
        rows = []
        for result in self.results:
            row, study, estimate = (
                result_row(result, effect_unit=self.effect_unit),
                result.cell.study,
                result.estimate,
            )
            if isinstance(estimate, SystemsPower):
                row["n_ratings"] = study.design.n_ratings
                row["formula"] = None if result.analytic is None else result.analytic.power
                row |= {f"goal_{goal}": estimate.shares[goal] for goal in GOALS}
                row |= values(estimate, "false_claim", "top_group")
            if len(self.rules) > 1:
                row["rule"] = "card2020" if study.rule == CARD2020 else str(study.rule)
            rows.append(row)
        return rows

    def _chart(self, words: str) -> Chart | Panels:
        from humeval_power.studies.power.figures import surface_chart

        direction = self.said[0].direction
        label = f"Difference {direction} on [0, 1]"
        if self.said[0].systems is None:
            label = "Difference that the true means are stated by, on [0, 1]"
        if self.effect_unit != 1.0:
            label = f"Coefficient under -1/+1 coding (half of {direction})"
        table = self.to_frame().replace({"setting": dict(self._labels)})
        how: dict[str, Any] = {"draw": self.draw, "along": self.along}
        return surface_chart(table, effect_label=label, words=words, **how)

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

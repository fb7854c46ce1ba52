"""Power of studies of several systems over a grid, and the ratings of a simulated one."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from humeval_power.planning.study.growth import TARGET
from humeval_power.planning.study.systems_power import SystemsPower
from humeval_power.planning.study.systems_study import SystemsStudy
from humeval_power.reporting.answer_words import enough_words
from humeval_power.reporting.document import Document, Facts, Paragraph, Picture, Section, Table
from humeval_power.reporting.numbers import counted, interval_words
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import NO_POWER, UNKNOWN, Provenance, Result
from humeval_power.reporting.study.systems_words import (
    assumed_words,
    family_words,
    goal_words,
    means_table,
    reached_words,
    share_cell,
    study_record,
)
from humeval_power.safe_text import table_csv
from humeval_power.scales import RatingScale
from humeval_power.systems import GOALS

if TYPE_CHECKING:  # pandas and Matplotlib are slow to import
    import pandas as pd
    from matplotlib.figure import Figure

Floats = NDArray[np.float64]
_DIGITS = 6


@dataclass(frozen=True, kw_only=True)
class SystemsSurface(Result):
    """Simulated power of every goal, a row for each study; `analytic` are those by formula, where there are any."""

    schema: ClassVar[str] = "humeval_power/systems-surface/1"

    studies: tuple[SystemsStudy, ...]
    simulated: tuple[SystemsPower, ...]
    analytic: tuple[SystemsPower | None, ...]
    provenance: Provenance = UNKNOWN

    @property
    def rows(self) -> list[dict[str, Any]]:
        """One for each study: its sizes, the power of its goal with the Monte Carlo interval, and every goal's."""
        found = []
        for study, simulated, analytic in zip(self.studies, self.simulated, self.analytic, strict=True):
            low, high = simulated.interval
            found.append(
                {
                    "setting": study.setting,
                    "workers": study.design.n_workers,
                    "items": study.design.n_items,
                    "n_ratings": study.design.n_ratings,
                    "effect": study.effect,
                    "power": simulated.power,
                    "power_low": low,
                    "power_high": high,
                    "formula": None if analytic is None else analytic.power,
                    **{f"goal_{goal}": simulated.shares[goal] for goal in GOALS},
                    "false_claim": simulated.false_claim,
                    "top_group": simulated.top_group,
                    "n_simulations": simulated.n_simulations,
                    "n_failed": simulated.n_failed,
                }
            )
        return found

    def body(self) -> Document:
        """A row for each study, and the picture."""
        first = self.studies[0]
        named = len({study.setting for study in self.studies}) > 1
        header = (
            *(("setting",) if named else ()),
            "workers",
            "items",
            "effect",
            "power",
            "95 % interval",
            *GOALS,
        )
        rows = tuple(
            (
                *((row["setting"],) if named else ()),
                f"{row['workers']:,}",
                f"{row['items']:,}",
                f"{row['effect']:.4g}",
                share_cell(row["power"]),
                interval_words(row["power_low"], row["power_high"], digits=3),
                *(share_cell(row[f"goal_{goal}"]) for goal in GOALS),
            )
            for row in self.rows
        )
        facts = Facts(
            (
                ("Power", goal_words(first.goal, first.effect, margin=first.rule.margin is not None)
                 if len({study.effect for study in self.studies}) == 1 else f"goal '{first.goal}'"),
                ("Tests", family_words(first.family, first.parameters.n_systems)),
                ("Test", str(first.rule)),
            )
        )  # fmt: skip
        picture = Picture(
            "power", self._figure, words="Simulated power over the grid, with Monte Carlo bands."
        )
        known = [place for place, one in enumerate(self.simulated) if not math.isnan(one.power)]
        enough = [place for place in known if self.simulated[place].power >= TARGET]
        best = max(known, key=lambda place: self.simulated[place].power, default=0)
        if enough:
            best = min(enough, key=lambda place: self.studies[place].design.n_ratings)
        design = self.studies[best].design
        return Document(
            f"Power of {counted(len(self.studies), 'study').replace('studys', 'studies')} of "
            f"{first.parameters.n_systems} systems",
            lead=f"{enough_words(len(enough), len(self.studies), TARGET)} has {design.n_workers:,} workers and "
            f"{design.n_items:,} items. {reached_words(self.studies[best], None, self.simulated[best])}",
            sections=(
                Section("", (Table(header, rows), facts, picture)),
                Section("", (Paragraph(assumed_words(first)),)),
            ),
        )

    def _figure(self) -> Figure:
        from humeval_power.reporting.study.systems_figure import grid_figure

        return grid_figure(self.rows, goal=self.studies[0].goal)

    def content(self) -> Record:
        """The rows with what they were computed from."""
        first = study_record(self.studies[0])
        for name in ("workers", "items", "n_ratings", "ratings_per_item", "effect", "setting"):
            del first[name]
        return {"rows": self.rows, **first}

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was assumed, and failed fits."""
        failed = sum(found.n_failed for found in self.simulated)
        notes = self.studies[0].parameters.notes
        return (*notes, f"{failed:,} fits failed.") if failed else notes

    @property
    def missed(self) -> str:
        """That too many of the simulated studies of a cell could not be fitted."""
        return NO_POWER if any(found.too_many_failed for found in self.simulated) else ""


@dataclass(frozen=True, kw_only=True)
class SimulatedSystems(Result):
    """Ratings of one study of several systems that were drawn from assumptions: `rating` (n_ratings,) on [0, 1].

    `rows` are the places in the assignment of those that came back, where some did not.
    """

    schema: ClassVar[str] = "humeval_power/simulated-systems/1"
    endings: ClassVar[tuple[str, ...]] = (".csv",)

    study: SystemsStudy
    rating: Floats
    rows: NDArray[np.int64] | None = None
    scale: RatingScale | None = None
    provenance: Provenance = UNKNOWN

    @property
    def n_beyond(self) -> int:
        """Ratings beyond the ends of the scale, which a Gaussian response does not know."""
        return int(((self.rating < 0) | (self.rating > 1)).sum())

    def body(self) -> Document:
        """What was drawn from what; the ratings themselves are the table."""
        scale = "0 to 1" if self.scale is None else str(self.scale)
        facts = Facts(
            (("Design", str(self.study.design)), ("Response", f"{self.study.response}, on {scale}"))
        )
        return Document(
            f"{counted(len(self.rating), 'rating')} of a simulated study of "
            f"{self.study.parameters.n_systems} systems",
            lead=f"{self.study.design.n_workers:,} workers rated {self.study.design.n_items:,} items in a model; "
            "these are nobody's ratings.",
            sections=(Section("", (facts, Paragraph(assumed_words(self.study)), means_table(self.study))),),
        )

    def content(self) -> Record:
        """What the ratings were drawn from, and how many there are."""
        return {"n_beyond_scale": self.n_beyond, **study_record(self.study), "scale": _scale(self.scale)}

    def to_frame(self) -> pd.DataFrame:
        """A long table: worker, item, system, rating, with the document before the item where there is one."""
        import pandas as pd

        rows = self.study.design.assignment
        chosen = slice(None) if self.rows is None else self.rows
        document = {} if rows.document is None else {"document": _numbered("d", rows.document, chosen)}
        rating = self.rating if self.scale is None else self.scale.from_unit(self.rating)
        return pd.DataFrame(
            {
                "worker": _numbered("w", rows.worker, chosen),
                **document,
                "item": _numbered("i", rows.item, chosen),
                "system": np.array(self.study.parameters.names, dtype=object)[rows.system][chosen],
                "rating": rating,
            }
        )

    def artefact(self, ending: str) -> str:  # noqa: ARG002
        """The ratings as CSV."""
        return table_csv(self.to_frame(), digits=_DIGITS)

    def files(self) -> dict[str, str]:
        """The ratings, beside the page."""
        return {"ratings.csv": self.artefact(".csv")}

    @property
    def remarks(self) -> tuple[str, ...]:
        """What was assumed and rounded, and what a reader of the table would trip over."""
        said = [*self.study.parameters.notes, *self.study.design.notes]
        if self.n_beyond:
            said.append(
                f"{self.n_beyond:,} of {len(self.rating):,} ratings lie beyond the ends of the scale, which the "
                "model does not know, and a table with them is refused where the scale is declared: a response "
                "that is clipped or likert keeps them on it."
            )
        return tuple(said)


def _scale(scale: RatingScale | None) -> Record | None:
    return None if scale is None else asdict(scale)


def _numbered(prefix: str, codes: NDArray[np.int64], chosen: slice | NDArray[np.int64]) -> list[str]:
    width = len(str(int(codes.max()) + 1))
    return [f"{prefix}{code + 1:0{width}d}" for code in codes[chosen].tolist()]

"""The ratings of one simulated study: the table itself, and what it was drawn from."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from humeval_power.choices import ANONYMOUS
from humeval_power.designs import DEFAULT_ASSIGNMENT_SEED, Design
from humeval_power.differences import Difference
from humeval_power.parameters import Parameters
from humeval_power.planning.study.surface import AnyStudy
from humeval_power.planning.study.systems_study import SystemsStudy
from humeval_power.reporting.answer_words import better_words, on_scale
from humeval_power.reporting.document import Block, Document, Fact, Facts, Paragraph, Picture, Section
from humeval_power.reporting.numbers import counted
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result
from humeval_power.reporting.study.several import assumed_words, means_table, several_content
from humeval_power.reporting.study.study_content import category_facts, study_notes
from humeval_power.safe_text import table_csv
from humeval_power.scales import RatingScale
from humeval_power.simulation.study import SimulatedRatings
from humeval_power.systems import SystemsParameters

if TYPE_CHECKING:  # pandas and Matplotlib are slow to import
    import pandas as pd
    from matplotlib.figure import Figure

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
    provenance: Provenance = UNKNOWN

    @property
    def n_ratings(self) -> int:
        """Ratings that are there."""
        return len(self.ratings.rating)

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
        if self.n_ratings < self.design.n_ratings:
            said.append(f"{self.n_ratings:,} of {self.design.n_ratings:,} planned ratings are left.")
        if self.n_beyond:
            said.append(
                f"{self.n_beyond:,} of {self.n_ratings:,} ratings lie beyond the ends of the scale, which the "
                "model does not know, and a table with them is refused where the scale is declared: a response "
                "that is clipped or likert keeps them on it."
            )
        return tuple(said)

    @property
    def _response(self) -> str:
        known = self.study.parameters
        categories = isinstance(known, Parameters) and known.latent is not None
        return "in categories" if categories else self.study.response

    def body(self) -> Document:
        """What was drawn from what; the ratings themselves are the table."""
        study, scale = self.study, "0 to 1" if self.scale is None else str(self.scale)
        model, about = (
            "in a model",
            (("Design", f"{self.design}; assignment seed {DEFAULT_ASSIGNMENT_SEED}"),),
        )
        facts: list[Fact] = [*about, ("Response", f"{self._response}, on {scale}")]
        more: tuple[Block, ...] = ()
        of = ""
        if isinstance(study, SystemsStudy):
            of = f" of {study.parameters.n_systems} systems"
            more = (Paragraph(assumed_words(study)), means_table(study))
        else:
            known = study.parameters.as_dict()
            sd = ", ".join(f"{n} {v:.4g}" for n, v in known.items() if n.startswith("sd_"))
            better = better_words(self.effect.value, self.scale, self.effect.systems or ANONYMOUS)
            model = f"in a model where {better} {on_scale(self.scale)}"
            facts[1:1] = category_facts(study.parameters)
            facts = [("True effect", str(self.effect)), *facts, ("Standard deviations", sd)]
        drawn = Picture("ratings", self._figure, words="The share of each system's ratings by value.")
        return Document(
            f"{counted(self.n_ratings, 'rating')} of a simulated study{of}",
            lead=f"{self.design.n_workers:,} workers rated {self.design.n_items:,} items {model}; these are "
            "nobody's ratings.",
            sections=(Section("", (Facts(tuple(facts)), drawn, *more)),),
        )

    def _figure(self) -> Figure:
        from humeval_power.reporting.study.tables.ratings_figure import ratings_figure

        drawn = self.ratings
        raw = drawn.rating if self.scale is None else self.scale.from_unit(drawn.rating)
        return ratings_figure(
            {name: np.asarray(raw[drawn.system == code]) for code, name in enumerate(self.systems)},
            self.scale,
        )

    def content(self) -> Record:
        """What the ratings were drawn from, and how many there are."""
        return {
            "effect": self.effect.value,
            "understood": str(self.effect),
            "n_ratings": self.n_ratings,
            "n_planned": self.design.n_ratings,
            "n_beyond_scale": self.n_beyond,
            "design": str(self.design),
            "n_workers": self.design.n_workers,
            "n_items": self.design.n_items,
            "response": self.study.response,
            "scale": None if self.scale is None else asdict(self.scale),
            "parameters": self.study.parameters.as_dict(),
            **(several_content(self.study) if isinstance(self.study, SystemsStudy) else {}),
        }

    def to_frame(self) -> pd.DataFrame:
        """The ratings: worker, item, system by its name and rating, on the scale."""
        return self.ratings.to_frame(self.scale, self.systems)

    def artefact(self, ending: str) -> str:  # noqa: ARG002
        """The ratings as CSV."""
        return table_csv(self.to_frame(), digits=_DIGITS)

    def files(self) -> dict[str, str]:
        """The ratings, beside the page."""
        return {"ratings.csv": self.artefact(".csv")}

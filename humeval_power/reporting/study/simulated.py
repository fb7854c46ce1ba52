"""The ratings of one simulated study: the table itself, and what it was drawn from."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from humeval_power.choices import ANONYMOUS, Response
from humeval_power.designs import DEFAULT_ASSIGNMENT_SEED, Design
from humeval_power.differences import Difference
from humeval_power.parameters import Parameters
from humeval_power.reporting.answer_words import better_words, on_scale
from humeval_power.reporting.document import Document, Facts, Picture, Section
from humeval_power.reporting.numbers import counted
from humeval_power.reporting.records import Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result
from humeval_power.reporting.study.study_content import category_facts
from humeval_power.safe_text import table_csv
from humeval_power.scales import RatingScale
from humeval_power.simulation.study import SimulatedRatings

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
    parameters: Parameters
    design: Design
    effect: Difference
    scale: RatingScale | None = None
    response: Response = "gaussian"
    provenance: Provenance = UNKNOWN

    @property
    def n_ratings(self) -> int:
        """Ratings that are there."""
        return len(self.ratings.rating)

    @property
    def systems(self) -> tuple[str, str]:
        """The names of A and B."""
        return self.effect.systems or ANONYMOUS

    @property
    def n_beyond(self) -> int:
        """Ratings beyond the ends of the scale, which a Gaussian response does not know."""
        return int(((self.ratings.rating < 0) | (self.ratings.rating > 1)).sum())

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the design had to round, and what a reader of the table would trip over."""
        said = [*self.design.notes]
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
        return self.response if self.parameters.latent is None else "in categories"

    def body(self) -> Document:
        """What was drawn from what; the ratings themselves are the table."""
        sd = {name: value for name, value in self.parameters.as_dict().items() if name.startswith("sd_")}
        scale = "0 to 1" if self.scale is None else str(self.scale)
        return Document(
            f"{counted(self.n_ratings, 'rating')} of a simulated study",
            lead=f"{self.design.n_workers:,} workers rated {self.design.n_items:,} items in a model where "
            f"{better_words(self.effect.value, self.scale, self.systems)} {on_scale(self.scale)}; these are "
            "nobody's ratings.",
            sections=(
                Section(
                    "",
                    (
                        Facts(
                            (
                                ("True effect", str(self.effect)),
                                ("Design", f"{self.design}; assignment seed {DEFAULT_ASSIGNMENT_SEED}"),
                                *category_facts(self.parameters),
                                ("Response", f"{self._response}, on {scale}"),
                                ("Standard deviations", ", ".join(f"{n} {v:.4g}" for n, v in sd.items())),
                            )
                        ),
                        Picture(
                            "ratings", self._figure, words="The share of each system's ratings by value."
                        ),
                    ),
                ),
            ),
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
            "response": self.response,
            "scale": None if self.scale is None else asdict(self.scale),
            "parameters": self.parameters.as_dict(),
        }

    def to_frame(self) -> pd.DataFrame:
        """The ratings: worker, item, system (A and B by their names) and rating, on the scale."""
        found = self.ratings.to_frame(self.scale)
        return found.assign(system=found["system"].map(dict(zip(ANONYMOUS, self.systems, strict=True))))

    def artefact(self, ending: str) -> str:  # noqa: ARG002
        """The ratings as CSV."""
        return table_csv(self.to_frame(), digits=_DIGITS)

    def files(self) -> dict[str, str]:
        """The ratings, beside the page."""
        return {"ratings.csv": self.artefact(".csv")}

"""A fit of the ratings of two systems: what it says, and the parameters that others plan from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from humeval_power.checking.rehearsed import rehearsal_notices
from humeval_power.inference.study.wald import EffectTest
from humeval_power.parameters import Parameters
from humeval_power.reporting.document import Document, Points, Section
from humeval_power.reporting.numbers import counted
from humeval_power.reporting.records import PARAMETERS_SCHEMA, Record
from humeval_power.reporting.result import UNKNOWN, Provenance, Result
from humeval_power.reporting.row_flow import left_out_notice
from humeval_power.reporting.study.fits.adjustment import adjustment_sections
from humeval_power.reporting.study.fits.family_words import family_remarks
from humeval_power.reporting.study.fits.fit_blocks import (
    INTERACTION_LEFT_OUT,
    AnyFit,
    effect_section,
    effect_words,
    fit_notes,
    fitted_values,
    further_sections,
    parameter_blocks,
)
from humeval_power.reporting.study.fits.fit_content import fit_content

if TYPE_CHECKING:  # pandas is slow to import
    import pandas as pd

    from humeval_power.designs import Design
    from humeval_power.estimation.crossed.interaction_score import InteractionTest
    from humeval_power.inference.study.adjustment import Adjustment
    from humeval_power.inference.study.family_check import FamilyCheck
    from humeval_power.inference.study.intervals import IntervalMethod, Intervals
    from humeval_power.planning.power import PowerEstimate
    from humeval_power.ratings import Ratings
    from humeval_power.scales import RatingScale


@dataclass(frozen=True, kw_only=True)
class FitResult(Result):
    """A fit with its test. The record is the document of parameters that other commands read.

    `fitted` is the fit itself, a `LatentFit` for ratings in categories, `test` that of the effect; `intervals`
    are those of the parameters, found by `interval_method`, None where the fit did not converge. `size` is the
    simulated rate of false positives, where there are few workers; `interaction` the test of a term of worker
    and item that the model leaves out, None where there is none, or where `interaction_left_out` says that its time
    was saved; `adjustment` what documents, covariates and correlations change, None without any. `strict`: a fit
    that did not converge misses its target. `check` is the test of the ratings as categories, where asked for.
    """

    schema: ClassVar[str] = PARAMETERS_SCHEMA
    endings: ClassVar[tuple[str, ...]] = (".r",)

    ratings: Ratings
    fitted: AnyFit
    test: EffectTest
    intervals: Intervals | None = None
    interval_method: IntervalMethod = "asymptotic"
    size: PowerEstimate | None = None
    interaction: InteractionTest | None = None
    interaction_left_out: bool = False
    adjustment: Adjustment | None = None
    strict: bool = False
    check: FamilyCheck | None = None
    remarks: tuple[str, ...] = ()
    provenance: Provenance = UNKNOWN

    @property
    def parameters(self) -> Parameters:
        """The seven parameters on [0, 1], under -1/2, +1/2 coding; those of categories are in its `latent`."""
        return self.fitted.parameters

    @property
    def design(self) -> Design:
        """Who rated what."""
        return self.ratings.design()

    @property
    def scale(self) -> RatingScale:
        """The scale that was rated on."""
        return self.ratings.scale

    @property
    def missed(self) -> str:
        """That a fit that had to converge did not."""
        return (
            f"The fit did not converge: {self.fitted.message}."
            if self.strict and not self.fitted.converged
            else ""
        )

    def body(self) -> Document:
        """The effect and its test, the parameters, what to know of them, and the ratings."""
        from humeval_power.reporting.study.tables.check import ratings_picture

        fitted = self.fitted
        size = (
            f"{counted(fitted.n_ratings, 'rating')}, {counted(fitted.n_workers, 'worker')}, "
            f"{counted(fitted.n_items, 'item')}{_documents(fitted)}"
        )
        notes = (
            *fit_notes(self.ratings, fitted, self.test, self.size, self.interaction),
            *((INTERACTION_LEFT_OUT,) if self.interaction_left_out else ()),
            *(family_remarks(self.ratings, self.test, self.check) if self.check is not None else ()),
        )
        return Document(
            f"Fit of {self.ratings.source}",
            lead=effect_words(self.ratings, self.test),
            headline=(("Ratings", size),),
            caveats=(*rehearsal_notices(self.ratings.worker_names), *left_out_notice(self.ratings.flow)),
            sections=(
                effect_section(self.ratings, fitted, self.test),
                *adjustment_sections(self.adjustment, self.test, self.scale),
                Section("Parameters", parameter_blocks(self.ratings, fitted, self.intervals or {})),
                *further_sections(self.ratings, fitted),
                *([Section("Notes", (Points(notes),))] if notes else []),
                Section("Ratings", (ratings_picture(self.ratings), *self._notices()), is_detail=True),
            ),
        )

    def _notices(self) -> tuple[Points, ...]:
        return (Points(self.ratings.notices),) if self.ratings.notices else ()

    def content(self) -> Record:
        """Everything needed to plan from the fit and to judge it."""
        shown = None if self.intervals is None else (self.interval_method, self.intervals)
        return fit_content(
            self.ratings,
            self.fitted,
            self.test,
            size=self.size,
            intervals=shown,
            adjustment=self.adjustment,
            check=self.check,
        )

    def artefact(self, ending: str) -> str:  # noqa: ARG002
        """A script of R that repeats the fit from its file."""
        from humeval_power.reporting.study.r_script.script import r_script

        return r_script(self)

    def to_frame(self) -> pd.DataFrame:
        """A row for each parameter: its value on [0, 1], standard error, and the ends of its 95 % interval; of
        categories thresholds, effect and SDs on the latent scale."""
        import pandas as pd

        values = fitted_values(self.fitted)
        none = (float("nan"), float("nan"))
        ends = {name: (self.intervals or {}).get(name, none) for name in values}
        return pd.DataFrame(
            {
                "parameter": list(values),
                "value": list(values.values()),
                "standard_error": [self.fitted.standard_errors.get(name, float("nan")) for name in values],
                "low": [ends[name][0] for name in values],
                "high": [ends[name][1] for name in values],
            }
        )


def _documents(fitted: AnyFit) -> str:
    return f", {counted(fitted.n_documents, 'document')}" if fitted.n_documents else ""

"""The rating study: workers rate items under two systems, a mixed model tests the difference."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property

import numpy as np

from humeval_power.choices import Exclusion, Response
from humeval_power.designs import Design
from humeval_power.errors import InputError
from humeval_power.parameters import Parameters
from humeval_power.rules import DEFAULT_RULE, DecisionRule
from humeval_power.scenarios.contract import ComputedPower, Floats, Replicates
from humeval_power.simulation.quality_control import QualityControl
from humeval_power.simulation.study import NO_LOSSES, Losses, levels
from humeval_power.studies.fit.wald import NullStatistics, reference, simulated_p, wald_p
from humeval_power.studies.power.formula import AnalyticPower, analytic_power, smallest_df
from humeval_power.studies.power.replication import Replication, StudyFits

CALIBRATION_REPLICATES = 10_000
_CALIBRATION_SEED = 20_201_116  # other random numbers than any study is simulated with


_CATEGORIES = (
    "the shares of the categories, parameters that were fitted with this family, or a Likert response"
)


def check_categories(rule: DecisionRule, levels: Floats | None, *, give: str = _CATEGORIES) -> None:
    """Refuse an analysis of categories of ratings that have none (`levels` None; `give` would bring them), or more
    than two where it is of two."""
    if levels is None:
        raise InputError(
            f"The family '{rule.family}' analyses ratings in categories, and these parameters give none: "
            f"give {give}."
        )
    if rule.family == "binary" and len(levels) > 2:
        raise InputError(
            f"The family 'binary' is for ratings of two values; these have {len(levels)}: take 'ordinal'."
        )


def check_response(
    rule: DecisionRule, parameters: Parameters, response: Response, points: int | None
) -> None:
    """Refuse a response on top of parameters of categories, and an analysis of categories where there are none."""
    if parameters.latent is not None and response != "gaussian":
        raise InputError(
            f"These parameters give ratings in categories already: leave out the response {response!r}."
        )
    if rule.is_latent:
        check_categories(rule, levels(parameters, response, points))


@dataclass(frozen=True, eq=False)
class RatingStudy:
    """A study design, the parameters of its ratings, and the rule by which it will decide.

    The effect is the difference B - A on [0, 1]. `ignore_documents` leaves the documents out of the analysis,
    to see what that does.
    """

    parameters: Parameters
    design: Design
    _: KW_ONLY
    rule: DecisionRule = DEFAULT_RULE
    response: Response = "gaussian"
    points: int | None = None
    losses: Losses = NO_LOSSES
    exclusion: Exclusion | QualityControl = "none"
    ignore_documents: bool = False

    def __post_init__(self) -> None:
        if self.rule.df == "bootstrap":
            raise InputError(
                "A bootstrap inside every simulated study would take hours; use df 'calibrated', which "
                "simulates the null once at the assumed parameters, or 'kenward-roger'."
            )
        check_response(self.rule, self.parameters, self.response, self.points)

    def __str__(self) -> str:
        return f"{self.design}; {self.rule}"

    @property
    def true_effect(self) -> float:
        """Difference B - A of the model (before clipping or rounding, if the response does that)."""
        return self.parameters.difference

    @property
    def alpha(self) -> float:
        """The rule's level."""
        return self.rule.alpha

    @property
    def shifts(self) -> bool:
        """Whether another effect only moves the estimates: true for Gaussian ratings of careful workers,
        whose variance estimates do not depend on the mean."""
        gaussian = self.response == "gaussian" and self.parameters.latent is None
        ruled = isinstance(self.exclusion, QualityControl)
        return gaussian and not self.losses.careless and not ruled

    @property
    def largest_effect(self) -> float:
        """The largest true difference B - A on [0, 1] that there can be."""
        latent = self.parameters.latent
        return 1.0 if latent is None else latent.largest_difference

    @property
    def has_formula(self) -> bool:
        """Whether a formula describes the power of the study as planned, without losses."""
        simple = (
            self.response == "gaussian" and self.rule.analysis == "ratings" and not self.ignore_documents
        )
        return simple and not self.rule.is_simulated

    def by_formula(self) -> AnalyticPower:
        """Its power, Type M and Type S where `has_formula`, without losses."""
        return analytic_power(self.parameters, self.design, rule=self.rule)

    def computed(self) -> ComputedPower:
        """Power by formula, where `has_formula`; of the study as planned, if it has losses."""
        result = self.by_formula()
        planned = "" if self.losses == NO_LOSSES else ", of the study as planned"
        scale = "" if self.parameters.latent is None else " of ratings on [0, 1]"
        return ComputedPower(
            power=result.power,
            rejection_rate=result.rejection_rate,
            type_m=result.type_m,
            type_s=result.type_s,
            method=f"formula (generalised least squares{scale}, noncentral t){planned}",
            exact=False,
        )

    def with_effect(self, effect: float) -> RatingStudy:
        """The same study with a true difference B - A of `effect`."""
        return replace(self, parameters=self.parameters.with_difference(effect))

    def prepare(self) -> None:
        """Simulate what the rule needs to know beforehand, once, instead of wherever studies are drawn."""
        if self.rule.is_simulated:
            _ = self._null

    def draw(self, n: int, *, seed: int, first: int = 0, n_jobs: int = 1) -> Replicates:
        """Simulate and test studies `first` to `first + n - 1`."""
        return self.decide(self.replication.fits(n, seed=seed, first=first, n_jobs=n_jobs))

    @cached_property
    def replication(self) -> Replication:
        """How the studies are simulated and fitted."""
        return Replication(
            self.parameters,
            self.design,
            self.rule.estimator,
            self.rule.analysis,
            self.response,
            self.points,
            by_iteration=self.rule.estimator == "ml" and self.rule.df == "satterthwaite",
            losses=self.losses,
            exclusion=self.exclusion,
            ignore_documents=self.ignore_documents,
            family=self.rule.family,
            link=self.rule.link,
        )

    def decide(self, fits: StudyFits, rule: DecisionRule | None = None) -> Replicates:
        """Apply this study's rule, or another, to fits made with the same estimator and family. Fits of categories
        are tested on the latent scale; their replicates are on [0, 1], with the same t."""
        rule = rule or self.rule
        error, df = self.reference(fits, rule)
        margin = None if rule.margin is None else fits.moved(rule.margin)
        p_value = self._p_values(fits.estimate, error, df, rule, margin)
        if fits.scale is not None:
            error = error * fits.scale.per_unit(fits.estimate)
        return Replicates(
            fits.difference,
            error,
            df,
            p_value,
            fits.status,
            fits.zero,
            self.replication.components,
            rule.margin is None,
        )

    def reference(self, fits: StudyFits, rule: DecisionRule | None = None) -> tuple[Floats, Floats]:
        """Standard errors of the estimates, where they were made, and df that the rule, or another, uses."""
        return reference(
            rule or self.rule,
            standard_error=fits.standard_error,
            adjusted=fits.adjusted,
            satterthwaite=fits.satterthwaite,
            kenward_roger=fits.kenward_roger,
            smallest=smallest_df(self.design, ignore_documents=self.ignore_documents),
        )

    def shifted(self, replicates: Replicates, by: float) -> Replicates:
        """The replicates of a Gaussian study with a true effect larger by `by`."""
        estimate, error = replicates.estimate + by, replicates.standard_error
        p_value = self._p_values(estimate, error, replicates.df, self.rule, self.rule.margin)
        return replace(replicates, estimate=estimate, p_value=p_value)

    def _p_values(
        self,
        estimate: Floats,
        error: Floats,
        df: Floats,
        rule: DecisionRule,
        margin: float | Floats | None,
    ) -> Floats:
        if margin is not None:  # no difference is as large: nothing can be said of such a margin
            margin = np.where(np.isinf(margin), np.nan, margin)
        if rule.is_simulated:
            return simulated_p(estimate, error, self._null, rule.alternative, margin=margin)
        return wald_p(estimate, error, df, rule.alternative, margin=margin)

    @cached_property
    def _null(self) -> NullStatistics:
        """t of studies without an effect, or with one at the rule's margin, at these parameters: for
        the calibrated rule."""
        from humeval_power.studies.power.replication import null_statistics

        return null_statistics(
            self.replication,
            effect=self.rule.null_effect,
            n=CALIBRATION_REPLICATES,
            seed=_CALIBRATION_SEED,
        )

    @property
    def calibrated_critical_value(self) -> float:
        """What t must exceed for a significant positive effect, or beyond a margin for the rule's claim,
        under the calibrated rule."""
        return self._null.critical_value(self.rule.alpha, self.rule.alternative)

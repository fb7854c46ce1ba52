"""Fit thresholds, effect and latent standard deviations to ratings in categories."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from humeval_power.choices import Engine
from humeval_power.errors import FitError, ParametersError
from humeval_power.estimation.fit import CorrelationFit
from humeval_power.latent import LATENT_DEVIATIONS, Family, Latent, Link
from humeval_power.parameters import Parameters
from humeval_power.rules import DEFAULT_RULE, Estimator
from humeval_power.uncertainty import VarianceUncertainty

if TYPE_CHECKING:
    from humeval_power.estimation.latent.categories import Categories
    from humeval_power.estimation.latent.engine import LatentBatch
    from humeval_power.ratings import Ratings


Floats = NDArray[np.float64]
Shares = tuple[tuple[float, ...], tuple[float, ...]]

_LARGE = 20.0  # a latent effect or deviation beyond which a category is as good as certain


class LatentCovariate(NamedTuple):
    """What a covariate adds on the latent scale, and its standard error."""

    label: str
    estimate: float
    standard_error: float


@dataclass(frozen=True, slots=True)
class LatentFit:
    """A model of categories fitted to the ratings of two systems.

    `parameters.latent` is what was fitted; the seven beside it are what that means on [0, 1]. Everything else is
    on the latent scale: `standard_error` of the effect, `standard_error_adjusted` with Kenward and Roger's
    (1997) correction of the linearised model, whose df are `df_kenward_roger`; `standard_errors` by name,
    asymptotic, of threshold_1 and so on, effect and SDs (NaN at the boundary); `covariates` are theirs.
    `criterion` is -2 log (restricted) likelihood by Laplace's approximation. `shares` are those of each
    category, rows A and B, as observed. `unused` are points of the scale that nobody used, as rated; `one_box`
    counts workers who gave all items one rating. `uncertainty` is that of the
    latent variances, for planning. The last four are those of a `Fit`, which this model has nothing to say about.
    """

    parameters: Parameters
    family: Family
    estimator: Estimator
    criterion: float
    standard_error: float
    standard_error_adjusted: float
    df_kenward_roger: float
    shares: Shares
    n_ratings: int
    n_workers: int
    n_items: int
    converged: bool
    standard_errors: Mapping[str, float] = field(default_factory=dict)
    covariates: tuple[LatentCovariate, ...] = ()
    boundary: tuple[str, ...] = ()
    not_identified: tuple[str, ...] = ()
    unused: tuple[float, ...] = ()
    one_box: int = 0
    message: str = ""
    n_documents: int = 0
    engine: Engine = "native"
    uncertainty: VarianceUncertainty | None = None
    identified_combinations: tuple[str, ...] = ()
    n_optima: int = 1
    correlations: tuple[CorrelationFit, ...] = ()

    @property
    def smallest(self) -> int:
        """Levels of the smallest random factor: workers, items or documents."""
        return min(self.n_workers, self.n_items, self.n_documents or self.n_items)

    @property
    def df_satterthwaite(self) -> float:
        """The same df: a model of categories has no residual variance to make them differ."""
        return self.df_kenward_roger

    @property
    def latent(self) -> Latent:
        """Thresholds, effect and deviations on the latent scale."""
        assert self.parameters.latent is not None
        return self.parameters.latent


def fit_latent(
    ratings: Ratings,
    *,
    family: Family,
    link: Link = DEFAULT_RULE.link,
    estimator: Estimator = DEFAULT_RULE.estimator,
) -> LatentFit:
    """Estimate thresholds, effect and four latent SDs by restricted or plain maximum likelihood (Laplace).

    Restricted means that the thresholds and the effect are integrated out too, as glmmTMB does for binary
    ratings; plain is what glmer and clmm do.

    Parameters
    ----------
    ratings : of two systems, of at most 11 different values (two for the family 'binary').

    Raises
    ------
    InputError
        Fewer than two workers or items, other than two systems, or ratings of too many values.
    FitError
        One rating for all, systems that are separated completely, or an effect that runs off.
    """
    from humeval_power.estimation.fit import structure_of
    from humeval_power.estimation.fitting import check_table
    from humeval_power.estimation.latent.categories import categories_of
    from humeval_power.estimation.latent.engine import MESSAGES, LatentProblem, fit_latent_batch
    from humeval_power.estimation.latent.search import CONVERGED

    check_table(ratings)
    categories = categories_of(ratings, family)
    problem = LatentProblem.of_design(ratings.worker, ratings.item, ratings.system, **structure_of(ratings))
    batch = fit_latent_batch(
        problem,
        categories.code[None],
        n_categories=categories.n_categories,
        link=link,
        restricted=estimator == "reml",
    )
    status = int(batch.status[0])
    if status not in MESSAGES:
        raise FitError(_RUNS_AWAY)
    latent = _latent(batch, categories, link)
    names, errors = _not_identified(ratings), _errors(batch)
    return LatentFit(
        parameters=Parameters.of_latent(latent),
        family=family,
        estimator=estimator,
        criterion=_criterion(batch, estimator),
        standard_error=float(batch.standard_error[0]),
        standard_error_adjusted=float(batch.standard_error_adjusted[0]),
        df_kenward_roger=float(batch.df[0]),
        shares=_shares(ratings, categories),
        n_ratings=ratings.n_ratings,
        n_workers=ratings.n_workers,
        n_items=ratings.n_items,
        converged=status == CONVERGED,
        n_documents=len(ratings.document_names),
        standard_errors=errors,
        boundary=tuple(
            name
            for name in errors
            if name.startswith("sd_") and name not in names and getattr(latent, name) == 0
        ),
        not_identified=names,
        covariates=_covariates(ratings, batch),
        uncertainty=_uncertainty(ratings, batch, names),
        unused=categories.unused,
        one_box=categories.one_box,
        message=MESSAGES[status],
    )


def _uncertainty(
    ratings: Ratings, batch: LatentBatch, unknown: tuple[str, ...]
) -> VarianceUncertainty | None:
    """What the table says about the latent variances of workers and items, if it tells them apart."""
    from humeval_power.estimation.crossed.problem import COMPONENTS

    count = len(COMPONENTS)
    information = batch.information[0, :count, :count]
    if unknown or not np.isfinite(information).all():
        return None
    return VarianceUncertainty.of_latent_information(
        information,
        batch.sd[0, :count] ** 2,
        n_workers=ratings.n_workers,
        n_items=ratings.n_items,
    )


def _criterion(batch: LatentBatch, estimator: Estimator) -> float:
    """-2 log likelihood with all its constants: each fixed effect that is integrated out adds one."""
    integrated = batch.thresholds.shape[1] + batch.coefficients.shape[1] if estimator == "reml" else 0
    return float(batch.criterion[0]) - integrated * math.log(2 * math.pi)


def _latent(batch: LatentBatch, categories: Categories, link: Link) -> Latent:
    """The estimates as a record; refused where they are nowhere."""
    effect, deviations = float(batch.effect[0]), batch.sd[0]
    values = np.array([*batch.thresholds[0], effect, *deviations])
    if not np.isfinite(values).all() or max(abs(effect), *deviations) > _LARGE:
        raise FitError(_RUNS_AWAY)
    try:
        return Latent(
            thresholds=tuple(map(float, batch.thresholds[0])),
            scores=categories.scores,
            effect=effect,
            link=link,
            **dict(zip(LATENT_DEVIATIONS, map(float, deviations), strict=False)),
        )
    except ParametersError as error:  # thresholds that have run together
        raise FitError(f"{_RUNS_AWAY} ({error})") from error


_RUNS_AWAY = (
    "The fit runs away: a threshold, the effect or a standard deviation grows without end. So few ratings in "
    "some category, or systems that hardly overlap, leave no finite estimate. Merge rare categories beforehand, "
    "or take the family 'gaussian', which has an estimate for such a table."
)


def _not_identified(ratings: Ratings) -> tuple[str, ...]:
    """The components that the design cannot tell apart. What is confounded with the residual in the linear
    model is so here too: the residual is fixed, and the thresholds stretch instead."""
    from humeval_power.estimation.crossed.problem import CrossedProblem
    from humeval_power.estimation.fitting import information_matrix, unidentified

    problem = CrossedProblem.of_ratings(ratings)
    names = problem.components
    matrix = information_matrix(problem, np.ones(problem.n_components))
    result, _ = unidentified(matrix, (*names, "sd_residual"))
    return tuple(name for name in result if name in names)


def _errors(batch: LatentBatch) -> dict[str, float]:
    """Asymptotic standard errors: of thresholds and effect from the curvature at the estimate, of the SDs by
    the delta method on their expected information."""
    from humeval_power.estimation.fitting import deviation_errors

    fixed = np.sqrt(np.maximum(np.diag(batch.fixed_covariance[0]), 0.0))
    n = batch.thresholds.shape[1]
    errors = {f"threshold_{k + 1}": float(fixed[k]) for k in range(n)}
    errors["effect"] = float(fixed[n])
    deviations = deviation_errors(batch.information[0], batch.sd[0])
    return errors | dict(zip(LATENT_DEVIATIONS, deviations, strict=False))


def _covariates(ratings: Ratings, batch: LatentBatch) -> tuple[LatentCovariate, ...]:
    """Their contrasts: the coefficients that follow the effect's, in the order of the ratings' covariates."""
    covariates, place = [], 1
    first = batch.thresholds.shape[1]
    for covariate in ratings.covariates:
        here = slice(place, place + len(covariate.labels))
        coefficients = batch.coefficients[0][here]
        covariance = batch.fixed_covariance[0][first:, first:][here, here]
        for label, weights in covariate.contrasts:
            error = float(np.sqrt(weights @ covariance @ weights))
            covariates.append(LatentCovariate(label, float(weights @ coefficients), error))
        place = here.stop
    return tuple(covariates)


def _shares(ratings: Ratings, categories: Categories) -> Shares:
    rows = []
    for system in (0, 1):
        counts = np.bincount(categories.code[ratings.system == system], minlength=categories.n_categories)
        rows.append(tuple(float(share) for share in counts / counts.sum()))
    return rows[0], rows[1]

"""What every engine returns: the fitted seven parameters, and how far to trust them.

What a table of ratings says besides worker, item and system: its documents and covariates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from humeval_power.choices import Engine as Engine
from humeval_power.parameters import Parameters
from humeval_power.rules import Estimator

if TYPE_CHECKING:
    from humeval_power.estimation.crossed.problem import RatingTable
    from humeval_power.estimation.large.probed_search import MonteCarlo
    from humeval_power.uncertainty import VarianceUncertainty


CorrelatedFactor = Literal["worker", "item"]
# of the lme4 engine: pbkrtest forms dense matrices of N x N and takes minutes beyond this
KENWARD_ROGER_LIMIT = 1000


@dataclass(frozen=True, slots=True)
class CovariateEffect:
    """A coefficient of a covariate on [0, 1]: of which column, what it is, and how precisely it is known."""

    covariate: str
    label: str
    estimate: float
    standard_error: float
    standard_error_adjusted: float
    df_satterthwaite: float
    df_kenward_roger: float


@dataclass(frozen=True, slots=True)
class CorrelationFit:
    """Estimated correlation of a factor's intercepts and slopes, and its likelihood ratio test against zero:
    the criterion's fall when it is allowed for, and the p-value on one df."""

    factor: CorrelatedFactor
    value: float
    fall: float
    p_value: float


@dataclass(frozen=True, slots=True)
class Fit:
    """A mixed model fitted to the ratings of two systems.

    `parameters` are on the [0, 1] scale under -1/2, +1/2 coding: its effect is the difference B - A.
    `criterion` is -2 log (restricted) likelihood of the ratings on [0, 1] (smaller is better).
    `standard_error` belongs to the effect; `standard_error_adjusted` is Kenward and Roger's (1997).
    `not_identified` names the SDs that this table cannot tell apart, `boundary` the others that are
    estimated as exactly zero; `identified_combinations` says which sums of variances it does determine.
    `uncertainty` is what the table says about the variances, for planning from it.
    `standard_errors` are asymptotic, by parameter name, NaN at the boundary. Fields that an engine
    cannot give are NaN or empty. `n_optima` counts the minima of the criterion that the search found, of
    which this is the lowest: tiny tables can have several. `n_documents` is 0 where documents are not in
    the model; `covariates` are the effects of those that are in it: the effect is adjusted for them.
    `correlations` are those of intercepts and slopes that were asked for. `monte_carlo` says what random probes
    leave uncertain of the fit of a very large table; it has no criterion (NaN), and None stands for exact fits.
    """

    parameters: Parameters
    estimator: Estimator
    engine: Engine
    criterion: float
    standard_error: float
    standard_error_adjusted: float
    df_satterthwaite: float
    df_kenward_roger: float
    n_ratings: int
    n_workers: int
    n_items: int
    converged: bool
    standard_errors: Mapping[str, float] = field(default_factory=dict)
    uncertainty: VarianceUncertainty | None = None
    boundary: tuple[str, ...] = ()
    not_identified: tuple[str, ...] = ()
    identified_combinations: tuple[str, ...] = ()
    message: str = ""
    n_optima: int = 1
    n_documents: int = 0
    covariates: tuple[CovariateEffect, ...] = ()
    correlations: tuple[CorrelationFit, ...] = ()
    monte_carlo: MonteCarlo | None = None

    @property
    def smallest(self) -> int:
        """Levels of the smallest random factor: workers, items or documents."""
        return min(self.n_workers, self.n_items, self.n_documents or self.n_items)


class ModelStructure(TypedDict):
    """Codes of documents (n,) and the columns of covariates (n, k), None where there are none."""

    document: NDArray[np.int64] | None
    covariates: NDArray[np.float64] | None


def structure_of(ratings: RatingTable) -> ModelStructure:
    """The documents and covariates of a table; a table without such fields has none."""
    covariates = getattr(ratings, "covariate_columns", None)
    none = covariates is None or covariates.shape[1] == 0
    return {"document": getattr(ratings, "document", None), "covariates": None if none else covariates}


def is_structured(ratings: RatingTable) -> bool:
    """Whether a table has documents or covariates."""
    return any(part is not None for part in structure_of(ratings).values())


def n_documents(ratings: RatingTable) -> int:
    """Number of documents of a table, 0 where they are not known."""
    document = structure_of(ratings)["document"]
    return 0 if document is None else int(document.max()) + 1

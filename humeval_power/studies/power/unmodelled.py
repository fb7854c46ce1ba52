"""What a column that is left out of the model does to the test: false positives, at what these ratings show."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from humeval_power.errors import HumevalPowerError
from humeval_power.rules import DEFAULT_RULE

if TYPE_CHECKING:
    from humeval_power.checking.suspects import Suspect
    from humeval_power.ratings import Ratings


MOST_RATINGS = 20_000  # of a table that is fitted unasked


@dataclass(frozen=True, slots=True)
class Unmodelled:
    """A suspected column, and how often a test that leaves it out would find a difference that is not there.

    rate : NaN where it was not computed. size : the standard deviation between documents or sessions of the
        difference B - A, or what an order or position adds to it where it is left out; on [0, 1].
    n_simulations : 0 where the rate is by formula.
    """

    suspect: Suspect
    rate: float = math.nan
    size: float = math.nan
    n_simulations: int = 0

    @property
    def alpha(self) -> float:
        """The nominal rate."""
        return DEFAULT_RULE.alpha


def left_out_documents(suspect: Suspect, ratings: Ratings) -> Unmodelled:
    """Of documents or sessions, from ratings read with them: studies of this very design without an effect, drawn
    at what the model with documents finds, and analysed without them."""
    from humeval_power.estimation.crossed.problem import few_fits
    from humeval_power.estimation.fitting import fit
    from humeval_power.studies.power.outlook import without_documents
    from humeval_power.studies.power.scenario import RatingStudy

    if len(ratings.rating) > MOST_RATINGS or ratings.n_systems != 2:
        return Unmodelled(suspect)
    try:
        with few_fits():
            fitted = fit(ratings)
        result = without_documents(RatingStudy(fitted.parameters.with_difference(0.0), ratings.design()))
    except HumevalPowerError:
        return Unmodelled(suspect)
    if result is None or not fitted.converged:
        return Unmodelled(suspect)
    return Unmodelled(suspect, result.rate, fitted.parameters.sd_document_slope, result.n_simulations)


def left_out_covariate(suspect: Suspect, ratings: Ratings) -> Unmodelled:
    """Of an order or a position, from ratings read with it: what it adds to the difference where the systems were
    not balanced over it, and how often that alone would be found."""
    from humeval_power.estimation.crossed.problem import few_fits
    from humeval_power.estimation.fitting import fit
    from humeval_power.studies.power.formula import effect_precision, power_at

    if len(ratings.rating) > MOST_RATINGS or ratings.n_systems != 2:
        return Unmodelled(suspect)
    try:
        with few_fits():
            fitted = fit(ratings)
        precision = effect_precision(fitted.parameters, ratings.design())
    except HumevalPowerError:
        return Unmodelled(suspect)
    columns = ratings.covariate_columns
    b = ratings.system == 1
    shift = columns[b].mean(axis=0) - columns[~b].mean(axis=0)
    known = {effect.label: effect.estimate for effect in fitted.covariates}
    coefficients = np.array([known[label] for one in ratings.covariates for label in one.labels])
    bias = float(shift @ coefficients)
    return Unmodelled(suspect, power_at(bias, precision).rejection_rate, bias)

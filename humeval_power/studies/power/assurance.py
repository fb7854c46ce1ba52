"""Power when how workers and items vary is not known, or known from a pilot only."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from humeval_power.assumptions import Assumptions
from humeval_power.choices import DEFAULT_SEED
from humeval_power.kernels.latent.moments import observed_variances
from humeval_power.latent import Latent
from humeval_power.parameters import Parameters
from humeval_power.rules import DEFAULT_RULE, DecisionRule
from humeval_power.studies.power.formula import smallest_df
from humeval_power.studies.power.growth import counts_of
from humeval_power.studies.power.required import Variances, powers, regular_precision
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.studies.power.systems_study import SystemsStudy
from humeval_power.study_counts import StudyCounts
from humeval_power.systems import SystemsParameters
from humeval_power.uncertainty import VarianceUncertainty, worker_multiplier

Floats = NDArray[np.float64]
DRAWS = 4000
QUANTILES = (0.1, 0.2, 0.5, 0.8, 0.9)
PILOT_SIZES = (3, 5, 10, 20, 30)


@dataclass(frozen=True, slots=True, eq=False)
class Assurance:
    """Power over draws of the variances that the pilot leaves possible, shape (draws,).

    `expected` is the assurance (O'Hagan, Stevens and Campbell 2005): the power to count on before the
    variances are known.
    """

    powers: Floats

    @property
    def expected(self) -> float:
        """Mean power."""
        return float(self.powers.mean())

    def quantile(self, share: float) -> float:
        """The power that is exceeded with probability 1 - `share`."""
        return float(np.quantile(self.powers, share))

    def chance_of(self, target: float) -> float:
        """Probability that the study really has the target power."""
        return float((self.powers >= target).mean())

    @property
    def spread(self) -> PowerSpread:
        """The 80 % interval of the power."""
        low, high = map(self.quantile, _EIGHTY)
        return PowerSpread(low, high, "pilot")


def assurance(
    uncertainty: VarianceUncertainty,
    counts: StudyCounts,
    *,
    effect: float,
    latent: Latent | None = None,
    rule: DecisionRule = DEFAULT_RULE,
    documents: Parameters | None = None,
    n_draws: int = DRAWS,
    seed: int = DEFAULT_SEED,
) -> Assurance:
    """Power of a design at the effect of interest for each of `n_draws` possible sets of variances; those
    between documents are taken as `documents` has them.

    latent : of ratings in categories, whose latent variances are the uncertain ones.
    """
    drawn = uncertainty.draw(np.random.default_rng(seed), n_draws)
    draws = Variances(*(drawn if latent is None else _on_unit(latent, drawn[:4])))
    if documents is not None:
        fixed = Variances.of(documents)
        draws = draws._replace(
            document_intercept=fixed.document_intercept, document_slope=fixed.document_slope
        )
    precision = regular_precision(
        draws,
        workers=counts.n_workers,
        items=counts.n_items,
        ratings_per_item=counts.ratings_per_item,
        paired=counts.paired,
        documents=counts.n_documents,
    )
    return Assurance(powers(effect, precision, smallest=smallest_df(counts), rule=rule))


def _on_unit(latent: Latent, drawn: Floats) -> Floats:
    """Variances on [0, 1] that latent ones (4, draws) mean, shape (6, draws)."""
    return observed_variances(
        np.array(latent.thresholds),
        np.array(latent.scores),
        latent.effect,
        latent.variance,
        drawn,
        others=latent.shared(("document",), same_system=True),
        logit=latent.link == "logit",
    )


def safe_parameters(
    parameters: Parameters, uncertainty: VarianceUncertainty, *, confidence: float
) -> Parameters:
    """The same parameters (under difference coding) with a worker's difference at the upper confidence
    limit of its SD, on the scale on which it was fitted; never below the estimate."""
    upper = uncertainty.upper_worker_slope(confidence) ** 0.5
    if (latent := parameters.latent) is not None:
        slope = max(latent.sd_worker_slope, upper)
        return Parameters.of_latent(latent.with_deviations(sd_worker_slope=slope))
    coded = parameters.recoded()
    return replace(coded, sd_worker_slope=max(coded.sd_worker_slope, upper))


@dataclass(frozen=True, slots=True)
class PilotAdvice:
    """What a pilot of `n_workers` would cost a safe plan: the worker mean square is planned at
    `multiplier` times its estimate."""

    n_workers: int
    multiplier: float


def pilot_advice(confidence: float = 0.8) -> tuple[PilotAdvice, ...]:
    """Pilots of several sizes; more workers help, more items hardly do."""
    return tuple(PilotAdvice(m, worker_multiplier(m, confidence)) for m in PILOT_SIZES)


_EIGHTY = (0.1, 0.9)  # quantiles of an 80 % interval


@dataclass(frozen=True, slots=True)
class PowerSpread:
    """The power of a study by formula at the ends of what is possible of its variances.

    known_from : "assumed", the least and the most of what public ratings have; "pilot", the 80 % interval that
        one's own estimates leave open.
    """

    low: float
    high: float
    known_from: Literal["assumed", "pilot"]


def power_spread(study: RatingStudy | SystemsStudy, assumed: Assumptions) -> PowerSpread | None:
    """The power of a study under all that is assumed of its variances; None where one set of them was chosen, and
    of several systems where it is that of a pilot."""
    if isinstance(study, SystemsStudy):
        powers_of_goal = [_with_variances(study, entry.parameters) for entry in assumed.entries]
        if len(powers_of_goal) < 2:
            return None
        return PowerSpread(min(powers_of_goal), max(powers_of_goal), "assumed")
    counts = counts_of(study.design)
    first = assumed.entries[0]
    if len(assumed.entries) > 1:
        others = (
            replace(study, parameters=entry.parameters.with_difference(study.true_effect))
            for entry in assumed.entries
        )
        found = [one.by_formula().power for one in others]
        return PowerSpread(min(found), max(found), "assumed")
    if not first.is_own or first.uncertainty is None or counts is None:
        return None
    return assurance(
        first.uncertainty,
        counts,
        effect=study.true_effect,
        latent=study.parameters.latent,
        rule=study.rule,
        documents=study.parameters,
    ).spread


def _with_variances(study: SystemsStudy, parameters: Parameters) -> float:
    """The power of a study of several systems by formula if its ratings varied as those of these two."""
    there = SystemsParameters.of_parameters(parameters, names=study.parameters.names)
    means, effect = study.parameters.means, study.parameters.effect
    return replace(study, parameters=replace(there, means=means, effect=effect)).by_formula().power

"""Studies with a judge, drawn and analysed as `judge estimate` does: the proof of a plan."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from humeval_power.designs import Design
from humeval_power.errors import FitError
from humeval_power.inference.judge.rated import RatedItems, rated_means
from humeval_power.inference.resampled import monte_carlo_interval
from humeval_power.parameters import Parameters
from humeval_power.planning.workload import Workload
from humeval_power.simulation.study import Normals, rating_values, replicate_generator

_PER_STUDY, _PER_RATING = 6e-3, 1.2e-5  # seconds: of two fits from several starts, and of each rating
_PER_EXTRA = 1.5e-7  # seconds: of an item that the judge alone scores
_PER_RATING_BYTES, _PER_EXTRA_BYTES = 500, 120
MONTE_CARLO = 0.99  # confidence of the interval of a simulated rate


@dataclass(frozen=True, slots=True, eq=False)
class JudgedReplicates:
    """p-values and estimates of n studies with the judge, NaN where the model could not be fitted, and the p-values
    of the same studies without it."""

    p_values: np.ndarray
    estimates: np.ndarray
    alone: np.ndarray
    seed: int

    @property
    def n_failed(self) -> int:
        """Studies to which the model could not be fitted."""
        return int(np.isnan(self.p_values).sum())

    def power(self, alpha: float) -> float:
        """Share of studies that are significant with a difference of the right sign; failed ones are not."""
        return float(np.mean((self.p_values <= alpha) & (self.estimates > 0)))

    def interval(self, alpha: float) -> tuple[float, float]:
        """Clopper-Pearson interval of the power, at MONTE_CARLO."""
        n, hits = len(self.p_values), round(self.power(alpha) * len(self.p_values))
        return monte_carlo_interval(hits, n, MONTE_CARLO)


def simulate_judged(
    parameters: Parameters,
    design: Design,
    *,
    correlation: float,
    extra: int,
    n_simulations: int,
    seed: int,
) -> JudgedReplicates:
    """Draw studies of workers with a judge's scores, and test each; study i draws from child i of the seed."""
    coded = parameters.recoded()
    turned = coded if coded.effect >= 0 else replace(coded, effect=-coded.effect)
    found = np.full((3, n_simulations), math.nan)
    for replicate in range(n_simulations):
        rated = draw_judged(
            turned, design, correlation=correlation, extra=extra, rng=replicate_generator(seed, replicate)
        )
        try:
            means = rated_means(rated)
        except FitError:
            continue
        found[:, replicate] = means.judged.p_value, means.judged.estimate, means.human.p_value
    p_values, estimates, alone = found
    return JudgedReplicates(p_values, estimates, alone, seed)


def judged_workload(design: Design, *, extra: int, n_simulations: int) -> Workload:
    """What so many studies of a design need."""
    each = _PER_STUDY + _PER_RATING * design.n_ratings + _PER_EXTRA * extra
    in_memory = _PER_RATING_BYTES * design.n_ratings + _PER_EXTRA_BYTES * extra + 24 * n_simulations
    return Workload(n_simulations * each, float(in_memory))


def draw_judged(
    parameters: Parameters, design: Design, *, correlation: float, extra: int, rng: np.random.Generator
) -> RatedItems:
    """One study: ratings of the design, and a judge's scores of its items and of others, whose differences have
    this correlation with the items' true ones. Parameters are in difference coding."""
    rows, n = design.assignment, design.n_items
    worker, item = (rng.standard_normal((2, size)) for size in (design.n_workers, n))
    rating = rating_values(parameters, rows, Normals(worker, item, rng.standard_normal(design.n_ratings)))
    truth = np.concatenate([item[1], rng.standard_normal(extra)])
    noise = rng.standard_normal(n + extra)
    judged = correlation * truth + math.sqrt(1 - correlation**2) * noise
    return RatedItems(rows.worker, rows.item, rows.system, rating, np.stack([-judged, judged], axis=1) / 2)

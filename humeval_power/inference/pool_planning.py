"""What a study of drawn items is planned from: the spread that the draw leaves, and identical outputs.

With r^2 the share of items' differences that the draw explains, n of N items, k ratings of an output:

    Var(D^ - Delta_N) = Tw^2/m + Ti^2 (1 - r^2)(1/n - 1/N) + 2 s^2/(n k),      + Ti^2/N for items like these

so that Ti counts as much less as `item_sd_factor` says, in any design. Where a share p0 of the outputs is
identical, the difference over the pool is that of the others times 1 - p0, with its whole error: all SDs count so
much less.
"""

from __future__ import annotations

import math
from dataclasses import replace

from humeval_power.choices import Estimand
from humeval_power.inference.item_sampling import explained_by_strata
from humeval_power.item_pool import ItemPool
from humeval_power.parameters import STANDARD_DEVIATIONS, Parameters
from humeval_power.systems import SystemsParameters


def explained_by_draw(pool: ItemPool) -> float:
    """The share of the metric's differences that the draw takes away: that between strata, all of a draw that is
    balanced on several systems' scores, nothing without a metric."""
    if pool.by_hand or pool.unequal or not pool.scores.shape[1]:
        return 0.0
    if pool.n_strata > 1:
        real = ~pool.identical
        scores = pool.scores[real]
        return explained_by_strata(scores[:, 1] - scores[:, 0], pool.stratum[real])
    varies = any(pool.predicted(pool.systems[0], name) is not None for name in pool.systems[1:])
    return float(len(pool.systems) > 2 and varies)


def item_sd_factor(pool: ItemPool, *, explained: float, correlation: float, estimand: Estimand) -> float:
    """By which the SD of items' differences counts less than in a draw at random from endless items.

    explained : of the metric's differences, by the draw; correlation : of these with people's, over items.
    """
    finite = pool.n_chosen / float((~pool.identical).sum())
    left = (1.0 - correlation**2 * explained) * (1.0 - finite)
    return math.sqrt(left + finite if estimand == "population" else left)


def over_the_pool(parameters: Parameters, factor: float, real: float) -> Parameters:
    """The same for the difference over the pool: items' differences times `factor`, all SDs times the share of
    items whose outputs are not identical."""
    coded = parameters.recoded()
    of = {name: real * getattr(coded, name) for name in (*STANDARD_DEVIATIONS, "sd_worker_item")}
    return replace(coded, **{**of, "sd_item_slope": factor * of["sd_item_slope"]})


def systems_over_the_pool(systems: SystemsParameters, factor: float, real: float) -> SystemsParameters:
    """The same of several systems."""
    return replace(
        systems,
        sd_worker=real * systems.sd_worker,
        sd_item=real * systems.sd_item,
        sd_residual=real * systems.sd_residual,
        sd_worker_system=tuple(real * sd for sd in systems.sd_worker_system),
        sd_item_system=tuple(factor * real * sd for sd in systems.sd_item_system),
    )

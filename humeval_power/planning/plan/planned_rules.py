"""Rules for leaving workers out, as a plan seals them, and what they cost in power."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from humeval_power.exclusions import ExclusionRules
from humeval_power.planning.plan.workers_out import WorkersOut
from humeval_power.planning.power import PowerEstimate, estimate_power
from humeval_power.scenarios.study import RatingStudy
from humeval_power.simulation.losses import CAREFUL, Losses
from humeval_power.simulation.quality_control import QualityControl

_COUNTED = 400  # studies in which workers are counted; their ratings need no fit


@dataclass(frozen=True, slots=True)
class RulesCost:
    """What rules cost, by simulation at the effect of interest.

    `out` are the workers left out. `power` is that of the study with the rules, `without` the same if nobody
    were left out, and `all_careful` if moreover nobody were careless; NaN where it was not simulated.
    """

    out: WorkersOut
    power: float = math.nan
    without: float = math.nan
    all_careful: float = math.nan
    n_simulations: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRules:
    """Rules as they are sealed, with what was assumed to say what they cost: attention `checks` and outputs shown
    again (`repeats`) as shares of a worker's ratings, and the share of `careless` workers."""

    rules: ExclusionRules
    checks: float = 0.0
    repeats: float = 0.0
    careless: float = 0.0
    cost: RulesCost


def workers_out(study: RatingStudy, *, seed: int, n: int = _COUNTED) -> WorkersOut:
    """Shares of workers whom the rules of a study leave out, over simulated studies."""
    back = [study.replication.collected(seed, number) for number in range(n)]
    kind = np.concatenate([one.kind for one in back])
    out = np.concatenate([one.excluded for one in back])
    careful = kind == CAREFUL
    shares = (float(out[who].mean()) if who.any() else math.nan for who in (careful, ~careful))
    return WorkersOut(*shares)


def planned_rules(
    study: RatingStudy, found: PowerEstimate | None, *, seed: int, n_jobs: int = 1
) -> PlannedRules | None:
    """The rules of a study with what they cost; None without rules.

    found : simulated power with the rules; None where only the workers are counted whom they leave out.
    """
    control, losses = study.exclusion, study.losses
    if not isinstance(control, QualityControl):
        return None
    cost = RulesCost(workers_out(study, seed=seed))
    if found is not None:
        cost = _with_power(cost, study, found, seed=seed, n_jobs=n_jobs)
    return PlannedRules(
        rules=control.rules,
        checks=control.checks,
        repeats=control.repeats,
        careless=losses.careless,
        cost=cost,
    )


def _with_power(
    cost: RulesCost, study: RatingStudy, found: PowerEstimate, *, seed: int, n_jobs: int
) -> RulesCost:
    def power(losses: Losses) -> float:
        return estimate_power(
            replace(study, losses=losses, exclusion="none"),
            n_simulations=found.n_simulations,
            seed=seed,
            n_jobs=n_jobs,
        ).power

    careful = replace(study.losses, at_random=0.0, straight_lining=0.0)
    all_careful = power(careful)
    without = all_careful if careful == study.losses else power(study.losses)
    return replace(
        cost,
        power=found.power,
        without=without,
        all_careful=all_careful,
        n_simulations=found.n_simulations,
    )

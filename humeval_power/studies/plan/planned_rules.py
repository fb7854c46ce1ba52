"""Rules for leaving workers out, as a plan seals them, and what they cost in power."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from humeval_power.choices import Exclusion
from humeval_power.exclusions import ExclusionRules
from humeval_power.simulation.losses import CAREFUL, Losses
from humeval_power.simulation.quality_control import QualityControl
from humeval_power.studies.power.estimate import PowerEstimate, estimate_power
from humeval_power.studies.power.replication import Replication
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.studies.power.workload import study_workload
from humeval_power.sweep.blocks import Block, run_blocks
from humeval_power.sweep.versions import spans


@dataclass(frozen=True, slots=True)
class WorkersOut:
    """Shares of workers whom rules leave out, of the careful and of the careless ones; NaN where there are none."""

    careful: float
    careless: float

    def of_all(self, careless: float) -> float:
        """Of all workers, of whom the share `careless` does not care."""
        out = 0.0 if careless == 0 else careless * self.careless
        return out + (1 - careless) * self.careful


NOBODY_OUT = WorkersOut(0.0, 0.0)


def expected_out(exclusion: Exclusion) -> WorkersOut:
    """Shares without knowing more: careless workers are found wherever somebody is left out."""
    return NOBODY_OUT if exclusion == "none" else WorkersOut(0.0, 1.0)


_COUNTED = 400  # studies in which workers are counted; their ratings need no fit
_COUNTED_TOGETHER = 100


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


@dataclass(frozen=True, slots=True)
class _ExclusionCounts:
    """Workers of simulated studies, and how many of them are left out."""

    careful: int = 0
    careful_out: int = 0
    careless: int = 0
    careless_out: int = 0

    def __add__(self, other: _ExclusionCounts) -> _ExclusionCounts:
        return _ExclusionCounts(
            self.careful + other.careful,
            self.careful_out + other.careful_out,
            self.careless + other.careless,
            self.careless_out + other.careless_out,
        )


def workers_out(study: RatingStudy, *, seed: int, n: int = _COUNTED, n_jobs: int = 1) -> WorkersOut:
    """Shares of workers whom the rules of a study leave out, over simulated studies."""
    each = study_workload(study.design, n_simulations=1).seconds
    blocks = [
        Block(count_workers_out, (study.replication, seed, *part), each * part.n, part.n)
        for part in spans(n, _COUNTED_TOGETHER)
    ]
    counts = sum(run_blocks(blocks, n_jobs=n_jobs), start=_ExclusionCounts())
    return WorkersOut(
        counts.careful_out / counts.careful if counts.careful else math.nan,
        counts.careless_out / counts.careless if counts.careless else math.nan,
    )


def count_workers_out(
    replication: Replication, seed: int, first: int, n: int, *, n_jobs: int = 1
) -> _ExclusionCounts:
    """The work of a block: who is left out of studies `first` to `first + n - 1`."""
    with ThreadPoolExecutor(n_jobs) as pool:
        back = list(pool.map(partial(replication.collected, seed), range(first, first + n)))
    out = np.concatenate([one.excluded for one in back])
    careful = np.concatenate([one.kind for one in back]) == CAREFUL
    return _ExclusionCounts(
        int(careful.sum()), int(out[careful].sum()), int((~careful).sum()), int(out[~careful].sum())
    )


def planned_rules(
    study: RatingStudy, estimate: PowerEstimate | None, *, seed: int, n_jobs: int = 1
) -> PlannedRules | None:
    """The rules of a study with what they cost; None without rules.

    found : simulated power with the rules; None where only the workers are counted whom they leave out.
    """
    control, losses = study.exclusion, study.losses
    if not isinstance(control, QualityControl):
        return None
    cost = RulesCost(workers_out(study, seed=seed, n_jobs=n_jobs))
    if estimate is not None:
        cost = _with_power(cost, study, estimate, seed=seed, n_jobs=n_jobs)
    return PlannedRules(
        rules=control.rules,
        checks=control.checks,
        repeats=control.repeats,
        careless=losses.careless,
        cost=cost,
    )


def _with_power(
    cost: RulesCost, study: RatingStudy, estimate: PowerEstimate, *, seed: int, n_jobs: int
) -> RulesCost:
    def power(losses: Losses) -> float:
        return estimate_power(
            replace(study, losses=losses, exclusion="none"),
            n_simulations=estimate.n_simulations,
            seed=seed,
            n_jobs=n_jobs,
        ).power

    careful = replace(study.losses, at_random=0.0, straight_lining=0.0)
    all_careful = power(careful)
    without = all_careful if careful == study.losses else power(study.losses)
    return replace(
        cost,
        power=estimate.power,
        without=without,
        all_careful=all_careful,
        n_simulations=estimate.n_simulations,
    )

"""Plan a rating study with looks: information at each look, boundaries, and what careless ones would do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import special

from humeval_power.costs import CostModel, cost_of
from humeval_power.designs import Design
from humeval_power.errors import InputError
from humeval_power.inference.item_bootstrap import wilson_interval
from humeval_power.inference.student_t import critical_value
from humeval_power.parameters import Parameters
from humeval_power.rules import DecisionRule
from humeval_power.scales import RatingScale
from humeval_power.studies.looks.boundaries import (
    Boundaries,
    boundaries,
    false_positive_rate,
    inflation,
    success,
)
from humeval_power.studies.looks.calibration import (
    Calibrate,
    LooksCalibration,
    blocks_of,
    calibrate,
    is_calibrated,
)
from humeval_power.studies.looks.judgement_plan import OperatingPoint, operating_characteristics
from humeval_power.studies.looks.repeated import (
    StopWhen,
    check_decision,
    check_reachable,
    check_repeated,
    check_study,
    repeated_power,
)
from humeval_power.studies.looks.replicates import LookReplicates, RatingLooks, nested_designs, stop
from humeval_power.studies.looks.stopping_rule import StoppingRule
from humeval_power.studies.power.formula import EffectPrecision, effect_precision, power_at
from humeval_power.sweep.blocks import run_blocks

if TYPE_CHECKING:
    from humeval_power.studies.looks.replicates import Looks
    from humeval_power.studies.looks.stopping_rule import Efficacy, Futility

CALIBRATION_SEED = 20_220_701  # other random numbers than any study is simulated with
DEFAULT_LOOK_SIMULATIONS = 20_000  # of studies drawn by their mean squares
SLOW_LOOK_SIMULATIONS = 2_000  # of studies whose ratings are simulated and fitted


@dataclass(frozen=True, slots=True)
class LookRow:
    """What there is at one look, at the planned parameters.

    `size_share` is the share of all ratings, `information_share` that of the information, 1 / variance of the
    estimated difference; `cost` is what has been spent, NaN without prices.
    """

    n_workers: int
    n_items: int
    n_ratings: int
    size_share: float
    information_share: float
    precision: EffectPrecision
    cost: float


@dataclass(frozen=True, slots=True)
class NaiveError:
    """How often a careless procedure would find a difference where there is none: simulated, with its 95 %
    Monte Carlo interval."""

    procedure: str
    rate: float
    interval: tuple[float, float]


class AtLooks:
    """What is planned of each look; of several systems about the comparison whose difference is hardest to find."""

    rows: tuple[LookRow, ...]

    @cached_property
    def information_shares(self) -> tuple[float, ...]:
        """Information at the looks over that at the last."""
        return tuple(row.information_share for row in self.rows)

    @property
    def costs(self) -> tuple[float, ...] | None:
        """What has been spent at each look; None without prices."""
        costs = tuple(row.cost for row in self.rows)
        return None if math.isnan(costs[0]) else costs


@dataclass(frozen=True, eq=False)
class LookPlan(AtLooks):
    """A study with looks and the boundaries it will use.

    `uncalibrated` are the boundaries of the rule in information time; `bounds` those to use, the same unless
    `calibration` corrected them. `errors` are false-positive rates: first that of `bounds`.
    """

    study: RatingLooks
    rows: tuple[LookRow, ...]
    uncalibrated: Boundaries
    bounds: Boundaries
    calibration: LooksCalibration | None
    errors: tuple[NaiveError, ...]
    count_time_error: float
    n_simulations: int
    seed: int

    @property
    def first_levels(self) -> tuple[float, ...]:
        """The nominal levels at the looks."""
        return tuple(float(level) for level in self.bounds.nominal)

    @property
    def method(self) -> str:
        """How the boundaries were found, in words."""
        if self.calibration is None:
            return "information time, applied to the p-values of each look"
        return "information time, calibrated by simulation under the crossed model"

    @property
    def drift(self) -> float:
        """Planned effect over its standard error at the last look."""
        return abs(self.study.true_effect) / self.rows[-1].precision.standard_error

    @property
    def inflation(self) -> float:
        """Information that the last look needs for a power of 0.8 over that of a study with one look, for
        z-values: what the looks cost. Infinite if no study has that power with them."""
        try:
            return inflation(self.bounds)
        except ValueError:
            return math.inf

    def at(self, effects: Sequence[float], *, n_jobs: int = 1) -> list[OperatingPoint]:
        """Operating characteristics at true effects, by simulation with the plan's seed."""
        return operating_characteristics(
            self.study,
            self.bounds,
            effects=effects,
            n_simulations=self.n_simulations,
            seed=self.seed,
            n_jobs=n_jobs,
            costs=self.costs,
        )


def plan_looks(
    study: RatingLooks,
    rule: StoppingRule,
    *,
    cost: CostModel | None = None,
    calibration: Calibrate = "auto",
    n_simulations: int | None = None,
    seed: int = 1,
    n_jobs: int = 1,
) -> LookPlan:
    """Boundaries of a study in information time, corrected where workers are few, and their errors.

    calibration : 'auto' calibrates if fewer than ten workers are there at the first look
    n_simulations : simulated studies; by default 20,000 where mean squares are enough, else 2,000

    Raises InputError: designs that cannot be looked at so, or boundaries that do not exist.
    """
    check_alternative(study.rule, rule)
    rows = look_rows(study, cost=cost)
    shares = [row.information_share for row in rows]
    drift = abs(study.true_effect) / rows[-1].precision.standard_error
    uncalibrated = boundaries(rule, shares, drift=drift or None)
    n = n_simulations or (DEFAULT_LOOK_SIMULATIONS if study.by_mean_squares else SLOW_LOOK_SIMULATIONS)
    calibrated: LooksCalibration | None = None
    if is_calibrated(calibration, rows[0].n_workers):
        other_seed = seed + CALIBRATION_SEED
        calibrated = calibrate(study, uncalibrated, n_simulations=n, seed=other_seed, n_jobs=n_jobs)
    bounds = uncalibrated if calibrated is None else uncalibrated.scaled(calibrated.used)
    # the levels that the same rule has if ratings are taken for information
    plain = StoppingRule(rule.efficacy, None, rule.alpha, rule.alternative)
    naive = boundaries(plain, [row.size_share for row in rows]).nominal.tolist()
    of_null = blocks_of(
        error_counts,
        *(study.with_effect(0.0), bounds, None if calibrated is None else uncalibrated, tuple(naive)),
        n_simulations=n,
        seed=seed,
    )
    errors = sum(run_blocks(of_null, n_jobs=n_jobs), start=ErrorCounts())
    return LookPlan(
        study=study,
        rows=rows,
        uncalibrated=uncalibrated,
        bounds=bounds,
        calibration=calibrated,
        errors=errors.rates(),
        count_time_error=false_positive_rate(naive, shares, two_sided=uncalibrated.two_sided),
        n_simulations=n,
        seed=seed,
    )


def check_alternative(test: DecisionRule, rule: StoppingRule) -> None:
    """Refuse boundaries of another alternative than the test's."""
    if rule.alternative != test.alternative:
        raise InputError(f"The looks are tested {test.alternative}, the boundaries are {rule.alternative}.")


def look_rows(study: RatingLooks, *, cost: CostModel | None = None) -> tuple[LookRow, ...]:
    """Size, exact variance and information at each look."""
    designs = study.nested.designs
    precisions = [effect_precision(study.parameters, design) for design in designs]
    return rows_of(designs, precisions, cost)


def rows_of(
    designs: Sequence[Design], precisions: Sequence[EffectPrecision], cost: CostModel | None
) -> tuple[LookRow, ...]:
    """Designs that grow from look to look, with the precision of one difference in each."""
    return tuple(
        LookRow(
            n_workers=design.n_workers,
            n_items=design.n_items,
            n_ratings=design.n_ratings,
            size_share=design.n_ratings / designs[-1].n_ratings,
            information_share=precisions[-1].variance / precision.variance,
            precision=precision,
            cost=math.nan if cost is None else float(cost_of(design, cost).total),
        )
        for design, precision in zip(designs, precisions, strict=True)
    )


@dataclass(frozen=True, slots=True)
class ErrorCounts:
    """How many of `n` usable studies without an effect each procedure finds one in."""

    n: int = 0
    found: tuple[tuple[str, int], ...] = ()

    def __add__(self, other: ErrorCounts) -> ErrorCounts:
        if not self.found:
            return other
        both = zip(self.found, other.found, strict=True)
        return ErrorCounts(
            self.n + other.n, tuple((name, count + more) for (name, count), (_, more) in both)
        )

    def rates(self) -> tuple[NaiveError, ...]:
        """The rate of each procedure."""
        return tuple(
            NaiveError(name, count / self.n if self.n else math.nan, wilson_interval(count, self.n))
            for name, count in self.found
        )


def error_counts(
    looks: LookReplicates,
    bounds: Boundaries,
    uncalibrated: Boundaries | None,
    naive: tuple[float, ...],
) -> ErrorCounts:
    """What each procedure finds where nothing is; `uncalibrated` is None where these are the boundaries."""
    alpha, kept = bounds.rule.alpha, looks.usable
    by_count = np.array(naive)
    crossed = {"these boundaries": stop(looks, bounds).significant[:, None]}
    if uncalibrated is not None:
        crossed["information time without calibration"] = looks.p_value <= uncalibrated.nominal
    crossed |= {
        "boundaries for shares of ratings": looks.p_value <= by_count,
        "no correction: alpha at each look": looks.p_value <= alpha,
        "z instead of t, boundaries for shares of ratings": looks.normal_p <= by_count,
        "all ratings taken as independent, boundaries for shares of ratings": looks.independent_p
        <= by_count,
    }
    counts = ((name, int(np.any(flags, axis=1)[kept].sum())) for name, flags in crossed.items())
    return ErrorCounts(int(kept.sum()), tuple(counts))


# The looks that a plan allows: when, by which boundaries, and what they expect of the information.


@dataclass(frozen=True, slots=True)
class LookSchedule:
    """When a study is looked at and what stops it. Level and alternative are those of the study's test.

    `factor` multiplies the nominal levels: a calibration by simulation, for few workers (1: none).
    `stop_when` says that repeated confidence intervals stop the study, and for which reasons. `drop_systems` says
    that looks at several systems drop those that are beaten (`dropping`); `interval_factor` then multiplies the
    levels of the intervals that cover together.
    """

    looks: Looks
    efficacy: Efficacy
    futility: Futility | None = None
    factor: float = 1.0
    stop_when: StopWhen | None = None
    drop_systems: bool = False
    interval_factor: float = 1.0

    def __post_init__(self) -> None:
        if self.looks.n_looks < 2:
            raise InputError(
                "A schedule needs at least 2 looks, the last included; one look is a plain study."
            )
        if self.looks.kind == "blocks":
            raise InputError(
                "A plan's looks come by items, workers or ratings: blocks of new workers with new items are "
                "designs of their own, which 'looks study' judges."
            )
        if not 0 < self.factor <= 1.5:
            raise InputError(
                f"A calibration factor must lie above 0 and be at most 1.5; got {self.factor:g}."
            )
        if self.stop_when is not None and not self.drop_systems:
            check_repeated(self.looks, self.efficacy, self.futility)

    def rule(self, decision: DecisionRule) -> StoppingRule:
        """The stopping rule of a study that decides by `decision`. Raises InputError: a rule with a margin,
        where no interval stops the study; or one that no interval decides."""
        if self.stop_when is not None and not self.drop_systems:
            check_decision(decision, self.stop_when)
            if decision.margin is not None and self.futility is not None:
                raise InputError(
                    "Futility is of a difference, not of a margin: leave it out, or give half_width in stop_when."
                )
            return StoppingRule(self.efficacy, self.futility, decision.alpha)
        if decision.margin is not None:
            raise InputError(
                "Looks are planned for tests of a difference, not for a margin: leave out one, or let intervals "
                "stop the study (stop_when)."
            )
        return StoppingRule(self.efficacy, self.futility, decision.alpha, decision.alternative)


class LookInformation(NamedTuple):
    """What each look knows: shares of the final information, and that, 1 / variance of the effect on [0, 1]."""

    fractions: tuple[float, ...]
    maximum: float


def look_information(
    parameters: Parameters, design: Design, looks: Looks, *, places: tuple[int, int] | None = None
) -> LookInformation:
    """Information at the looks, exactly, for the parameters assumed; `places` are those of the two systems in a
    design of several."""
    from humeval_power.studies.fit.max_t import pair_design

    designs = nested_designs(design, looks).designs
    if places is not None and design.n_systems > 2:
        designs = tuple(pair_design(each, *places) for each in designs)
    known = [1.0 / effect_precision(parameters, each).variance for each in designs]
    return LookInformation(tuple(each / known[-1] for each in known), known[-1])


def planned_boundaries(
    schedule: LookSchedule, decision: DecisionRule, information: LookInformation, *, effect: float
) -> Boundaries:
    """Boundaries at the planned looks. `effect` on [0, 1] is what the study is powered for."""
    drift = abs(effect) * information.maximum**0.5
    bounds = boundaries(schedule.rule(decision), information.fractions, drift=drift)
    return bounds.scaled(schedule.factor)


def stopped_power(
    study: RatingLooks, schedule: LookSchedule, decision: DecisionRule, *, effect: float
) -> float:
    """Power by formula of a study that is looked at by this schedule."""
    rows = look_rows(study)
    precisions = [row.precision for row in rows]
    bounds = scheduled_boundaries(rows, schedule, decision, effect=effect)
    if schedule.stop_when is None:
        return power_with_looks(power_at(effect, precisions[-1], rule=decision).power, bounds)
    bounds = bounds.scaled(schedule.factor)
    return repeated_power(precisions, bounds, schedule.stop_when, decision, effect=effect)


def scheduled_boundaries(
    rows: Sequence[LookRow], schedule: LookSchedule, decision: DecisionRule, *, effect: float
) -> Boundaries:
    """Boundaries of a schedule at looks that know so much, before any calibration."""
    shares = [row.information_share for row in rows]
    drift = abs(effect) / rows[-1].precision.standard_error
    return boundaries(schedule.rule(decision), shares, drift=drift or None)


def check_stopping(
    study: RatingLooks,
    bounds: Boundaries,
    stop_when: StopWhen,
    decision: DecisionRule,
    *,
    scale: RatingScale | None = None,
) -> None:
    """Refuse a study that repeated intervals cannot stop, and sizes that no look can meet. Raises InputError:
    all that is wrong, with the reason."""
    check_study(study)
    precisions = [row.precision for row in look_rows(study)]
    workers = precisions[-1].n_workers
    spread = study.parameters.recoded().sd_worker_slope / math.sqrt(workers)
    floor = critical_value(workers - 1, float(bounds.nominal[-1]) / 2) * spread
    check_reachable(precisions, bounds, stop_when, decision, floor=floor, scale=scale)


def power_with_looks(fixed: float, bounds: Boundaries) -> float:
    """Power with looks from that of the same study with one test at its end.

    The drift is that of a z test with this power, so that what few workers cost is in it; the looks then cost
    what they cost a z test (recursive integration).
    """
    tail = bounds.rule.alpha / 2 if bounds.two_sided else bounds.rule.alpha
    drift = float(special.ndtri(min(max(fixed, 1e-12), 1 - 1e-12)) - special.ndtri(tail))
    return min(success(bounds, max(drift, 0.0)), 1.0)  # the integration may end a rounding above it

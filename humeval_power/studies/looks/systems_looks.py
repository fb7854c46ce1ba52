"""Looks at a study of several systems: boundaries of every comparison, their errors, and the long run.

Several comparisons tested over looks: each by boundaries of its own, whose levels move in Holm's steps.

While `left` of m comparisons are not shown, each is tested by the boundaries of the rule at alpha / left, spent
over its own information. One that is shown stays so, and its share of alpha passes to the others, which are tested
again at the same look (Maurer and Bretz 2013; Ye, Li, Liu and Yao 2013). The chance of any false claim is at most
alpha whatever is true of the comparisons and however they are correlated, for z-values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import add
from typing import Any, assert_never

import numpy as np
from numpy.typing import NDArray

from humeval_power.choices import Response
from humeval_power.costs import CostModel
from humeval_power.designs import Design
from humeval_power.errors import InputError
from humeval_power.inference.corrections import significant
from humeval_power.kernels.growing_table import growing_products
from humeval_power.roots import root_between
from humeval_power.rules import DEFAULT_FAMILY, DEFAULT_RULE, ComparisonFamily, Correction, DecisionRule
from humeval_power.scenarios.contract import parts_in_blocks
from humeval_power.simulation.rehearsal import CompleteSums
from humeval_power.studies.fit.max_t import pair_design
from humeval_power.studies.fit.wald import wald_p
from humeval_power.studies.looks.boundaries import Boundaries, boundaries
from humeval_power.studies.looks.calibration import (
    Calibrate,
    LooksCalibration,
    at_worker_sds,
    blocks_of,
    is_calibrated,
    level_factor,
    run_together,
    sds_to_try,
)
from humeval_power.studies.looks.rating_looks import (
    CALIBRATION_SEED,
    AtLooks,
    ErrorCounts,
    LookRow,
    NaiveError,
    check_alternative,
    rows_of,
)
from humeval_power.studies.looks.replicates import GrowingStudy, Looks, OfStudies, check_difference
from humeval_power.studies.looks.stopping_rule import FixedLevels, StoppingRule
from humeval_power.studies.power.formula import effect_precision, smallest_df
from humeval_power.studies.power.systems_goals import GoalCounts, SystemsPower, Truth, count_goals
from humeval_power.studies.power.systems_power import power_of_counts
from humeval_power.studies.power.systems_precision import (
    SystemsPrecision,
    check_systems_documents,
    systems_precision,
)
from humeval_power.studies.power.systems_replication import Pairs, SystemsFits, SystemsReplication
from humeval_power.studies.power.systems_study import systems_workload
from humeval_power.sweep.blocks import run_blocks
from humeval_power.systems import Goal, SystemsParameters

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
_LEAST_LEVEL = 1e-9  # below which a p-value over the looks is not told from 0
_SMALLEST = 1e-300


@dataclass(frozen=True, eq=False)
class StepwiseBoundaries:
    """Levels of several comparisons at looks. `rule` has the alpha of all of them together.

    information : shares of the planned information at the looks, for each comparison
    nominal, futility_p : p at or below which a comparison is shown, and above which it is futile, shape (looks,
        rows, comparisons); the last axis counts the comparisons not yet shown, from 1
    row : of each comparison, (comparisons,): those that know as much at every look share one
    calibration : factor by which simulation has corrected the nominal levels
    """

    rule: StoppingRule
    correction: Correction
    information: tuple[tuple[float, ...], ...]
    nominal: Floats
    futility_p: Floats
    row: NDArray[np.int64]
    calibration: float = 1.0

    @property
    def n_looks(self) -> int:
        """Number of looks."""
        return len(self.nominal)

    @property
    def n_comparisons(self) -> int:
        """Number of comparisons."""
        return len(self.information)

    def scaled(self, factor: float) -> StepwiseBoundaries:
        """The same with nominal levels multiplied by `factor`; futility is kept where it does not meet them."""
        nominal = np.minimum(self.nominal * factor, 1.0)
        futility = np.maximum(self.futility_p, nominal)
        return replace(self, nominal=nominal, futility_p=futility, calibration=self.calibration * factor)

    def first(self, place: int) -> Floats:
        """The levels of a comparison while none is shown, shape (looks,)."""
        return np.asarray(self.nominal[:, self.row[place], -1])


def check_stepwise(rule: StoppingRule, correction: Correction) -> None:
    """Refuse what several comparisons have no boundaries for. Raises InputError: levels given look by look,
    futility that binds, or a correction that is not one of p-values alone."""
    if isinstance(rule.efficacy, FixedLevels):
        raise InputError(
            "Levels given look by look belong to one comparison: they say nothing about the levels that others "
            "get when one is shown. Take a boundary that is solved for every share of alpha: a spending function."
        )
    if rule.binding:
        raise InputError(
            "Futility cannot bind among several comparisons: whether the study stops depends on all of them, so no "
            "boundary of one can count on it."
        )
    if correction == "max-t":
        raise InputError(
            "max-t has no boundaries over looks: t statistics whose degrees of freedom grow have no known joint "
            "law. Take holm, which needs none."
        )
    if correction == "bh":
        raise InputError(
            "The false discovery rate (bh) is not spent over looks: a comparison shown early changes what the rate "
            "of the others is. Take holm."
        )


def step_level(alpha: float, left: int, n_comparisons: int, correction: Correction) -> float:
    """The level of a comparison while `left` of all are not shown."""
    return alpha / _divisor(correction, left, n_comparisons)


def _divisor(correction: Correction, left: int, n_comparisons: int) -> int:
    """By what a comparison's level is divided while `left` of all are not shown."""
    if correction == "none":
        return 1
    if correction == "holm":
        return left
    if correction == "bonferroni":
        return n_comparisons
    if correction == "max-t" or correction == "bh":  # `check_stepwise` says why
        raise InputError(f"{correction} has no levels over looks.")
    assert_never(correction)


def stepwise_boundaries(
    rule: StoppingRule,
    information: Sequence[Sequence[float]],
    *,
    correction: Correction = "holm",
    drifts: Sequence[float] | None = None,
) -> StepwiseBoundaries:
    """Boundaries of several comparisons.

    Parameters
    ----------
    rule : with the alpha of all comparisons together.
    information : shares of the planned information at the looks, for each comparison.
    drifts : planned effect over its standard error at full information, for each; for conditional power.

    Raises
    ------
    InputError
        Information that does not increase, or what several comparisons have no boundaries for.
    """
    check_stepwise(rule, correction)
    n, n_looks = len(information), len(information[0])
    known = [
        (tuple(shares), None if drifts is None else drifts[place])
        for place, shares in enumerate(information)
    ]
    different = {one: number for number, one in enumerate(dict.fromkeys(known))}
    nominal, futility = np.empty((2, n_looks, len(different), n))
    for (shares, drift), row in different.items():
        for left in range(1, n + 1):
            bounds = one_of_several(rule, shares, left, n, correction, drift=drift)
            nominal[:, row, left - 1], futility[:, row, left - 1] = bounds.nominal, bounds.futility_p
    return StepwiseBoundaries(
        rule,
        correction,
        tuple(tuple(shares) for shares in information),
        np.minimum.accumulate(nominal, axis=2),  # more comparisons left never have higher levels
        futility,
        np.array([different[one] for one in known]),
    )


def one_of_several(
    rule: StoppingRule,
    shares: Sequence[float],
    left: int,
    n_comparisons: int,
    correction: Correction,
    *,
    drift: float | None = None,
) -> Boundaries:
    """The boundaries of one comparison while `left` of all are not shown."""
    level = step_level(rule.alpha, left, n_comparisons, correction)
    return boundaries(replace(rule, alpha=level), shares, drift=drift)


@dataclass(frozen=True, slots=True, eq=False)
class Walked:
    """How studies went through their looks: the look at which each ended (from 0), shape (n,), and that at which
    each comparison was shown, shape (n, comparisons), the number of looks where it never was."""

    look: NDArray[np.int64]
    shown_at: NDArray[np.int64]
    n_looks: int

    @property
    def shown(self) -> Flags:
        """Which comparisons were shown, shape (n, comparisons)."""
        return np.asarray(self.shown_at < self.n_looks)


def walk(p_values: Floats, bounds: StepwiseBoundaries) -> Walked:
    """Test the comparisons of studies look by look until each is shown or futile.

    p_values : shape (n, looks, comparisons); a missing one shows nothing
    """
    n, n_looks, n_pairs = p_values.shape
    shown_at = np.full((n, n_pairs), n_looks)
    look = np.full(n, n_looks - 1)
    going_on = np.ones(n, dtype=bool)
    for at in range(n_looks):
        p = p_values[:, at]
        shown_at[show(p, shown_at < n_looks, bounds.nominal[at], bounds.row) & going_on[:, None]] = at
        open_ = shown_at == n_looks
        limit = bounds.futility_p[at].T[np.maximum(open_.sum(axis=1), 1) - 1][:, bounds.row]
        ended = going_on & ~(open_ & ~(p > limit)).any(axis=1)
        look[ended] = at
        going_on &= ~ended
    return Walked(look, shown_at, n_looks)


def show(p_values: Floats, before: Flags, nominal: Floats, row: NDArray[np.int64]) -> Flags:
    """Which comparisons are newly shown at one look, after as many steps as it takes.

    p_values, before : shape (n, comparisons): those of the look, and what earlier looks have shown
    nominal, row : shape (rows, comparisons left), and the row of each comparison
    """
    shown = before.copy()
    while True:
        left = (~shown).sum(axis=1)
        new = ~shown & (p_values <= nominal.T[np.maximum(left, 1) - 1][:, row])
        if not new.any():
            return np.asarray(shown & ~before)
        shown |= new


def sequential_level(level_at: Callable[[float], float], p_value: float) -> float:
    """The smallest alpha at which the boundaries of one comparison are passed by this p-value at a look: its p over
    the looks up to there (Liu and Anderson 2008), were there no other comparison and no earlier look passed.

    level_at : the nominal level of the look for an alpha, rising with it
    """

    def excess(log_alpha: float) -> float:
        return math.log(max(level_at(math.exp(log_alpha)), _SMALLEST) / max(p_value, _SMALLEST))

    low, high = math.log(_LEAST_LEVEL), math.log(1 - 1e-6)
    if not p_value <= 1 or excess(high) < 0:
        return 1.0
    return _LEAST_LEVEL if excess(low) >= 0 else math.exp(root_between(excess, low, high, xtol=1e-6))


def adjusted_p(levels: Floats, correction: Correction) -> Floats:
    """The smallest alpha of all comparisons together at which each is shown, shape (comparisons,).

    levels : `sequential_level` of each comparison at each look, shape (looks, comparisons)
    """
    n_looks, n = levels.shape
    factors = sorted({_divisor(correction, left, n) for left in range(1, n + 1)})
    result = np.ones(n)
    for alpha in sorted(
        {min(float(level * factor), 1.0) for level in levels.ravel() for factor in factors}, reverse=True
    ):
        shown = np.zeros((1, n), dtype=bool)
        share = np.array([step_level(alpha, left, n, correction) for left in range(1, n + 1)])
        nominal, row = share[None, :] * (1 + 1e-9), np.zeros(n, dtype=np.int64)
        for look in range(n_looks):
            shown |= show(levels[look][None, :], shown, nominal, row)
        if not shown.any():
            break
        result[shown[0]] = alpha
    return result


# A study of several systems looked at as it grows: nested data, every comparison refitted at every look.

_TOGETHER = 256  # studies drawn from one child of the seed; part of what a seed means
_MOST = 2048  # studies of a block, drawn by their sums
_FITTED = 64  # studies to ask for at once where each is fitted


@dataclass(frozen=True, slots=True, eq=False)
class SystemsLookReplicates(OfStudies):
    """What each simulated study finds at each look: means (n, looks, K); of each comparison the estimate, standard
    error, df and p-value of the look alone (n, looks, comparisons), NaN where there is none; and which studies were
    fitted at every look, (n,)."""

    means: Floats
    estimate: Floats
    standard_error: Floats
    df: Floats
    p_value: Floats
    usable: Flags

    def __len__(self) -> int:
        return len(self.usable)


@dataclass(frozen=True, eq=False)
class SystemsLooks(GrowingStudy):
    """A study of several systems and the looks at it. Every comparison of `family` is tested at every look by
    `rule`, whose alpha is not used.

    Complete studies of Gaussian ratings with looks by items or workers are simulated by their sums, any other by
    its ratings.
    """

    parameters: SystemsParameters
    design: Design
    looks: Looks
    family: ComparisonFamily = DEFAULT_FAMILY
    rule: DecisionRule = DEFAULT_RULE
    response: Response = "gaussian"
    points: int | None = None

    def __post_init__(self) -> None:
        if self.rule.is_simulated or self.rule.is_latent:
            raise InputError(
                f"Looks at several systems are tested by t or z tests of numbers; got {self.rule.reference_words}."
            )
        check_difference(self.rule)
        if self.design.n_systems != self.parameters.n_systems:
            raise InputError(
                f"The study has {self.design.n_systems} systems, and the parameters are of "
                f"{self.parameters.n_systems}."
            )
        check_systems_documents(self.parameters, self.design, self.family)

    @cached_property
    def pairs(self) -> Pairs:
        """The comparisons, as places of systems."""
        return self.family.places(self.parameters.names)

    @property
    def by_sums(self) -> bool:
        """Whether sums are drawn instead of ratings."""
        plain = self.shifts and not self.design.n_documents
        return plain and self.adds_one_factor and all(one.by_sums for one in self._replications)

    @property
    def shifts(self) -> bool:
        """Whether other means only move the estimates."""
        return self.response == "gaussian"

    @property
    def drawn_together(self) -> int:
        """Studies that are drawn or fitted at once."""
        return _TOGETHER if self.by_sums else _FITTED

    @property
    def in_a_block(self) -> int:
        """Several draws of sums, or what is fitted at once."""
        return _MOST if self.by_sums else _FITTED

    @property
    def seconds_each(self) -> float:
        """Of a study with all its looks, about."""
        work = systems_workload(self.parameters, self.nested.final, self.family, self.rule, n_simulations=1)
        return self.n_looks * work.seconds

    def with_means(self, means: tuple[float, ...]) -> SystemsLooks:
        """The same with other true means."""
        return replace(self, parameters=self.parameters.with_means(means))

    def with_worker_sd(self, sd: float) -> SystemsLooks:
        """The same with another largest SD of what workers give single systems, the others in proportion."""
        own = self.parameters.sd_worker_system
        largest = max(own)
        sds = tuple(sd * one / largest if largest else sd for one in own)
        return replace(self, parameters=replace(self.parameters, sd_worker_system=sds))

    def draw_looks(self, n: int, *, seed: int, first: int = 0, n_jobs: int = 1) -> SystemsLookReplicates:
        """Simulate studies `first` to `first + n - 1` and fit each at every look."""
        if self.by_sums:
            from humeval_power.blas import one_blas_thread

            with one_blas_thread():
                parts = parts_in_blocks(
                    self._from_sums, n, seed=seed, first=first, n_jobs=n_jobs, size=_TOGETHER
                )
            return SystemsLookReplicates.joined(parts)
        final = self._replications[-1]
        studies = range(first, first + n)
        parts = [
            self.from_ratings(final.ratings(studies[begin : begin + _FITTED], seed=seed), n_jobs=n_jobs)
            for begin in range(0, n, _FITTED)
        ]
        return SystemsLookReplicates.joined(parts)

    def from_ratings(self, ratings: Floats, *, n_jobs: int = 1) -> SystemsLookReplicates:
        """Fit given ratings of the whole study, shape (n, n_ratings) in the order of the final design's assignment,
        at every look."""
        return self._tested(
            [
                one.fit_rows(np.ascontiguousarray(ratings[:, rows]), n_jobs=n_jobs)
                for one, rows in zip(self._replications, self.nested.rows, strict=True)
            ]
        )

    def at_means(self, looks: SystemsLookReplicates, means: Floats) -> SystemsLookReplicates:
        """Studies of Gaussian ratings as they would be with true means larger by `means`: only estimates move."""
        first, second = np.array(self.pairs).T
        estimate = looks.estimate + (means[second] - means[first])
        p_value = wald_p(estimate, looks.standard_error, looks.df, self.rule.alternative)
        return replace(looks, means=looks.means + means, estimate=estimate, p_value=p_value)

    @cached_property
    def _replications(self) -> tuple[SystemsReplication, ...]:
        return tuple(
            SystemsReplication(
                self.parameters, design, self.family, self.pairs, self.rule, self.response, self.points
            )
            for design in self.nested.designs
        )

    def _from_sums(self, rng: np.random.Generator, size: int) -> SystemsLookReplicates:
        values, final = self.parameters, self.nested.final
        by_workers = self.looks.kind == "workers"
        growing = [one.n_workers if by_workers else one.n_items for one in self.nested.designs]
        worker, item = (
            np.column_stack([np.full(values.n_systems, shared), np.diag(own)])
            for shared, own in (
                (values.sd_worker, values.sd_worker_system),
                (values.sd_item, values.sd_item_system),
            )
        )
        drawn = growing_products(
            rng,
            n_fixed=final.n_items if by_workers else final.n_workers,
            blocks=[int(count) for count in np.diff(growing, prepend=0)],
            roots=(item, worker) if by_workers else (worker, item),
            residual_sd=values.sd_residual,
            n_repeats=final.n_repeats,
            n_replicates=size,
        )
        workers, items = (drawn.growing, drawn.fixed) if by_workers else (drawn.fixed, drawn.growing)
        means, none = drawn.means + np.array(values.means), np.zeros_like(drawn.fixed[0])  # documents
        return self._tested(
            [
                one.fit_sums(CompleteSums(means[at], workers[at], items[at], drawn.residual[at], none))
                for at, one in enumerate(self._replications)
            ]
        )

    def _tested(self, fits: list[SystemsFits]) -> SystemsLookReplicates:
        looks: list[tuple[Any, ...]] = []
        for fitted, design in zip(fits, self.nested.designs, strict=True):
            estimate = fitted.contrasts.estimate
            usable, error, df = fitted.referred(self.rule, smallest=smallest_df(design))
            with np.errstate(divide="ignore", invalid="ignore"):
                p_value = wald_p(estimate, error, df, self.rule.alternative)
            looks.append((fitted.means, estimate, error, df, p_value, usable))
        means, estimate, error, df, p_value, usable = (
            np.stack(kind, axis=1) for kind in zip(*looks, strict=True)
        )
        every = np.asarray(usable.all(axis=1))
        return SystemsLookReplicates(means, estimate, error, df, p_value, every)


DEFAULT_SYSTEMS_LOOKS = 10_000  # simulated studies that are drawn by their sums
SLOW_SYSTEMS_LOOKS = 1_000  # and of those whose ratings are simulated and fitted
Places = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SystemsOperatingPoint:
    """The long run where the true means are stated by `effect` (0: all are equal), refitted at every look.

    `found` has what studies find until they end, `fixed` what one look at the end finds; `stopping` the share of
    studies that end at each look, `reached` the share that has reached the goal by then. `expected_cost` is NaN
    without prices.
    """

    effect: float
    found: SystemsPower
    fixed: SystemsPower
    stopping: tuple[float, ...]
    reached: tuple[float, ...]
    expected_size: float
    expected_cost: float

    @property
    def power(self) -> float:
        """Probability of the goal."""
        return self.found.power

    @property
    def fixed_power(self) -> float:
        """The same with one look at the end."""
        return self.fixed.power


@dataclass(frozen=True, eq=False)
class SystemsLookPlan(AtLooks):
    """A study of several systems with looks, and the boundaries of its comparisons.

    `rows` are of the comparison `place`, whose difference is hardest to find; `uncalibrated`, `bounds` and
    `calibration` as of `LookPlan`. `errors` are rates of any false claim: first that of `bounds` where all systems
    are equal, then the largest where some of them are.
    """

    study: SystemsLooks
    place: int
    rows: tuple[LookRow, ...]
    uncalibrated: StepwiseBoundaries
    bounds: StepwiseBoundaries
    calibration: LooksCalibration | None
    errors: tuple[NaiveError, ...]
    n_simulations: int
    seed: int

    @property
    def method(self) -> str:
        """How the boundaries were found, in words."""
        how = "information time for each comparison, levels in Holm's steps"
        if self.bounds.correction != "holm":
            how = f"information time for each comparison, correction {self.bounds.correction}"
        return (
            how if self.calibration is None else f"{how}, calibrated by simulation under the crossed model"
        )

    @property
    def first_levels(self) -> tuple[float, ...]:
        """The levels of the hardest comparison at the looks, while none is shown."""
        return tuple(float(level) for level in self.bounds.first(self.place))

    def at(
        self,
        effects: Sequence[float],
        *,
        goal: Goal,
        n_simulations: int | None = None,
        n_jobs: int = 1,
    ) -> list[SystemsOperatingPoint]:
        """The long run with the plan's seed, the true means drawn apart or together so that they are stated by each
        effect."""
        n = n_simulations or self.n_simulations
        study, bounds = self.study, self.bounds
        stated = study.parameters.stated_effect
        centre = math.fsum(study.parameters.means) / study.parameters.n_systems
        means = [
            tuple(
                centre + (0.0 if not effect else effect / stated) * (mean - centre)
                for mean in study.parameters.means
            )
            for effect in effects
        ]
        precision = systems_precision(study.parameters, study.nested.final, study.family)
        lists = []
        for together in [tuple(means)] if study.shifts else [(one,) for one in means]:
            at = study.with_means(together[0])
            what = (endings_of, at, at, bounds, precision, together)
            lists.append(blocks_of(*what, n_simulations=n, seed=self.seed))
        endings: list[_Endings] = []
        for parts in run_together(lists, n_jobs=n_jobs):
            endings += [reduce(add, of_effect) for of_effect in zip(*parts, strict=True)]
        return [
            _point(effect, ended, precision, goal, self.study.sizes, self.costs, n)
            for effect, ended in zip(effects, endings, strict=True)
        ]


def plan_systems_looks(
    study: SystemsLooks,
    rule: StoppingRule,
    *,
    place: int = 0,
    cost: CostModel | None = None,
    calibration: Calibrate = "auto",
    n_simulations: int | None = None,
    seed: int = 1,
    n_jobs: int = 1,
) -> SystemsLookPlan:
    """Boundaries of every comparison in information time, corrected where workers are few, and their errors.
    Raises InputError: designs that cannot be looked at so, or boundaries that do not exist.

    rule : with the alpha of all comparisons together.
    place : the comparison that rows and levels are shown of.
    calibration : 'auto' calibrates if fewer than ten workers are there at the first look.
    n_simulations : simulated studies; by default 10,000 where sums are enough, else 1,000.
    """
    check_alternative(study.rule, rule)
    rows = [pair_rows_at_looks(study, one, cost=cost) for one in range(len(study.pairs))]
    uncalibrated = stepwise_boundaries(
        rule,
        [[row.information_share for row in of_pair] for of_pair in rows],
        correction=study.family.correction,
        drifts=[study.parameters.stated_effect / of_pair[-1].precision.standard_error for of_pair in rows],
    )
    n = n_simulations or (DEFAULT_SYSTEMS_LOOKS if study.by_sums else SLOW_SYSTEMS_LOOKS)
    nulls = null_sets(study)
    calibrated = None
    if is_calibrated(calibration, rows[0][0].n_workers):
        how = {"n_simulations": n, "seed": seed + CALIBRATION_SEED, "n_jobs": n_jobs}
        ratios = null_at_worker_sds(null_ratios, study, uncalibrated, nulls, **how)
        by_sd = {
            sd: min(level_factor(of_null, rule.alpha) for of_null in np.concatenate(of_sd).T)
            for sd, of_sd in ratios.items()
        }
        calibrated = LooksCalibration.of(by_sd, max(study.parameters.sd_worker_system), n)
    bounds = uncalibrated if calibrated is None else uncalibrated.scaled(calibrated.used)
    null = study.with_means((0.5,) * study.parameters.n_systems)
    before = None if calibrated is None else uncalibrated
    blocks = blocks_of(error_counts, null, bounds, before, nulls, n_simulations=n, seed=seed)
    own, *others = sum(run_blocks(blocks, n_jobs=n_jobs), start=ErrorCounts()).rates()
    worst = max(others[: len(nulls)], key=lambda one: one.rate)
    errors = (own, worst, *others[len(nulls) :])
    return SystemsLookPlan(
        study, place, tuple(rows[place]), uncalibrated, bounds, calibrated, errors, n, seed
    )


def pair_rows_at_looks(
    study: SystemsLooks, place: int, *, cost: CostModel | None = None
) -> tuple[LookRow, ...]:
    """Size of the whole study at each look, with the exact variance and the information of one comparison."""
    parameters = study.parameters.pair(*study.pairs[place])
    designs = study.nested.designs
    pair = study.pairs[place]
    precisions = [effect_precision(parameters, pair_design(design, *pair)) for design in designs]
    return rows_of(designs, precisions, cost)


def hardest_place(study: SystemsLooks) -> int:
    """The comparison of a true difference that is hardest to find: that nearest to the stated one, and of equally
    near ones the least precise."""
    first, second = np.array(study.pairs).T
    means = np.array(study.parameters.means)
    apart = np.abs(means[second] - means[first])
    own = np.array(study.parameters.sd_worker_system) ** 2 + np.array(study.parameters.sd_item_system) ** 2
    off = np.where(apart > 0, np.abs(apart - abs(study.parameters.stated_effect)), np.inf)
    return int(np.lexsort((-(own[first] + own[second]).round(12), off.round(9)))[0])


def null_sets(study: SystemsLooks) -> tuple[Places, ...]:
    """Comparisons that can be true nulls together while all others are false: of all pairs those inside groups of
    2, 3, ... equal systems, one group of them and as many as there can be; with a baseline any number. All first.

    Once the others are shown, only these are left, each at its share of alpha: where a procedure errs most.
    """
    n, K = len(study.pairs), study.parameters.n_systems
    if study.family.comparisons == "baseline":
        return tuple(tuple(range(size)) for size in range(n, 0, -1))
    order = sorted(range(K), key=lambda system: -study.parameters.sd_worker_system[system])
    rank = {system: place for place, system in enumerate(order)}

    def inside(size: int, groups: int) -> Places:
        return tuple(
            place
            for place, (one, two) in enumerate(study.pairs)
            if rank[one] // size == rank[two] // size < groups
        )

    sets = [inside(size, groups) for size in range(K, 1, -1) for groups in (K // size, 1)]
    return tuple(dict.fromkeys(sets))


def null_ratios(
    looks: SystemsLookReplicates, bounds: StepwiseBoundaries, nulls: Sequence[Places]
) -> Floats:
    """For each study without differences and each set of true nulls the smallest p over level of their looks, with
    all others shown: one of them is falsely rejected if that is at most 1. Shape (n, sets)."""
    p = looks.p_value[looks.usable]
    with np.errstate(divide="ignore"):
        return np.stack(
            [
                (p[:, :, list(of)] / bounds.nominal[:, bounds.row[list(of)], len(of) - 1]).min(axis=(1, 2))
                for of in nulls
            ],
            axis=1,
        )


def error_counts(
    looks: SystemsLookReplicates,
    bounds: StepwiseBoundaries,
    uncalibrated: StepwiseBoundaries | None,
    nulls: tuple[Places, ...],
) -> ErrorCounts:
    """What each procedure finds where nothing is; after the first that of `bounds` under each set of true nulls."""
    looks = looks.part(looks.usable)
    alpha, p = bounds.rule.alpha, looks.p_value
    flags = [("these boundaries", walk(p, bounds).shown.any(axis=1))]
    of_nulls = null_ratios(looks, bounds, nulls) <= 1
    flags += [
        (
            f"the same where {len(of)} of {len(nulls[0])} comparisons are of equal systems, at worst",
            of_nulls[:, place],
        )
        for place, of in enumerate(nulls)
    ]
    if uncalibrated is not None:
        flags.append(("information time without calibration", walk(p, uncalibrated).shown.any(axis=1)))
    by_look = [significant(p[:, at], "holm", alpha).any(axis=1) for at in range(p.shape[1])]
    flags += [
        ("looks corrected, comparisons not", (p <= bounds.nominal[:, bounds.row, 0]).any(axis=(1, 2))),
        ("comparisons corrected (Holm), looks not", np.stack(by_look, axis=1).any(axis=1)),
        ("no correction: alpha at each look and comparison", (p <= alpha).any(axis=(1, 2))),
    ]
    return ErrorCounts(len(looks), tuple((name, int(flag.sum())) for name, flag in flags))


@dataclass(frozen=True, slots=True)
class _Endings:
    """Counts over studies by each look, and with one look at the end; how many ended at each look, and how many
    there were without a fit."""

    found: tuple[GoalCounts, ...]
    fixed: GoalCounts
    look: NDArray[np.int64]
    n_failed: int

    def __add__(self, other: _Endings) -> _Endings:
        sums = tuple(one + two for one, two in zip(self.found, other.found, strict=True))
        return _Endings(
            sums, self.fixed + other.fixed, self.look + other.look, self.n_failed + other.n_failed
        )


def endings_of(
    drawn: SystemsLookReplicates,
    study: SystemsLooks,
    bounds: StepwiseBoundaries,
    precision: SystemsPrecision,
    means: tuple[tuple[float, ...], ...],
) -> tuple[_Endings, ...]:
    """How studies that were drawn at the first of several true means end with each of them."""
    endings = []
    for wanted in means:
        looks = drawn
        if wanted != means[0]:
            looks = study.at_means(drawn, np.array(wanted) - np.array(means[0]))
        truth = Truth(replace(study.parameters, means=wanted, effect=None), precision.pairs, study.rule)
        endings.append(_ended(looks, bounds, truth))
    return tuple(endings)


def _ended(looks: SystemsLookReplicates, bounds: StepwiseBoundaries, truth: Truth) -> _Endings:
    n = len(looks)
    looks = looks.part(looks.usable)
    walked = walk(looks.p_value, bounds)
    rows = np.arange(len(looks))

    def by(at: int) -> GoalCounts:
        """What was found by a look, or by the end before it; a claim is of the look that showed it."""
        end = np.minimum(walked.look, at)
        read = np.minimum(walked.shown_at, end[:, None])
        difference = np.take_along_axis(looks.estimate, read[:, None, :], axis=1)[:, 0]
        return count_goals(truth, looks.means[rows, end], difference, walked.shown_at <= end[:, None])

    last = significant(looks.p_value[:, -1], bounds.correction, bounds.rule.alpha)
    return _Endings(
        tuple(by(at) for at in range(bounds.n_looks)),
        count_goals(truth, looks.means[:, -1], looks.estimate[:, -1], last),
        np.bincount(walked.look, minlength=bounds.n_looks),
        n - len(looks),
    )


def _point(
    effect: float,
    ended: _Endings,
    precision: SystemsPrecision,
    goal: Goal,
    sizes: Sequence[int],
    costs: Sequence[float] | None,
    n: int,
) -> SystemsOperatingPoint:
    stopping = ended.look / max(ended.look.sum(), 1)
    *by_look, fixed = (
        power_of_counts(counts, precision, goal, n_simulations=n, n_failed=ended.n_failed)
        for counts in (*ended.found, ended.fixed)
    )
    return SystemsOperatingPoint(
        effect=effect,
        found=by_look[-1],
        fixed=fixed,
        stopping=tuple(stopping.tolist()),
        reached=tuple(values.power for values in by_look),
        expected_size=float(stopping @ np.array(sizes, dtype=float)),
        expected_cost=math.nan if costs is None else float(stopping @ np.array(costs)),
    )


def null_at_worker_sds(
    work: Callable[..., Any],
    study: SystemsLooks,
    *arguments: Any,
    n_simulations: int,
    seed: int,
    n_jobs: int,
) -> dict[float, list[Any]]:
    """The work of all blocks where no system differs from another, at each of several worker SDs; the same random
    numbers serve them all."""
    parameters = study.parameters
    null = study.with_means((0.5,) * parameters.n_systems)
    sds = sds_to_try(max(parameters.sd_worker_system), parameters.sd_residual)
    how = {"n_simulations": n_simulations, "seed": seed, "n_jobs": n_jobs}
    return at_worker_sds(work, null.with_worker_sd, sds, *arguments, **how)

"""Looks that drop systems: a system that another one beats is rated no more, until one is shown to be the best.

Each comparison of two systems is tested at every look of both. A system is dropped where one that is still there
beats it at the drop level; the best is named where it beats all that are left at the claim level. A true best
leaves only if one of its K - 1 comparisons errs, so that before a claim those left hold the best with confidence 1
- alpha (Bonferroni over the comparisons, alpha spent over the looks). The claim itself is a two-sided test at
alpha, as of the winner against the runner-up (Gutmann and Maymin 1987); over looks that was checked by simulation,
not proved.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from operator import add

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.costs import CostModel
from humeval_power.errors import InputError, refuse
from humeval_power.inference.item_bootstrap import wilson_interval
from humeval_power.rules import ComparisonFamily, DecisionRule
from humeval_power.studies.looks.boundaries import boundaries
from humeval_power.studies.looks.calibration import LooksCalibration, blocks_of, level_factor
from humeval_power.studies.looks.rating_looks import CALIBRATION_SEED, AtLooks, LookRow, NaiveError
from humeval_power.studies.looks.repeated import StopWhen, half_widths, too_few_workers, unfit_looks
from humeval_power.studies.looks.replicates import Looks
from humeval_power.studies.looks.stopping_rule import Efficacy, Futility, StoppingRule
from humeval_power.studies.looks.systems_looks import (
    DEFAULT_SYSTEMS_LOOKS,
    SLOW_SYSTEMS_LOOKS,
    SystemsLookReplicates,
    SystemsLooks,
    hardest_place,
    null_at_worker_sds,
    pair_rows_at_looks,
)
from humeval_power.studies.power.systems_replication import Pairs
from humeval_power.sweep.blocks import run_blocks

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Ints = NDArray[np.int64]

CLAIM = StopWhen()  # the reason that always ends a study

# Levels, each two-sided: of a comparison whose winner is not known beforehand half of it lies on each side.


def drop_alpha(alpha: float, n_systems: int) -> float:
    """The level over all looks at which one comparison drops its loser: 2 alpha / (K - 1), since the best has K - 1
    comparisons and errs on one side of each; at most alpha, since who is left alone is claimed to be the best."""
    return min(alpha, 2 * alpha / (n_systems - 1))


@lru_cache
def interval_alpha(alpha: float, n_systems: int) -> float:
    """The level of one comparison whose intervals cover together with those of all other pairs (Tukey's, for
    equally precise z-values; calibration mends it for others)."""
    from scipy import stats

    largest = float(stats.studentized_range.ppf(1 - alpha, n_systems, np.inf))
    return float(2 * special.ndtr(-largest / math.sqrt(2)))


@dataclass(frozen=True, eq=False)
class DropBoundaries:
    """Two-sided p-values at or below which a comparison drops its loser (`drop`), or counts for the claim that its
    winner is the best (`claim`), and the levels of intervals that cover together (`interval`); each of shape
    (looks, comparisons). `rule` has the alpha of the claim."""

    rule: StoppingRule
    drop: Floats
    claim: Floats
    interval: Floats

    def scaled(self, factor: float, interval_factor: float) -> DropBoundaries:
        """The same with the levels of decisions, and of intervals, multiplied."""
        return replace(
            self,
            drop=self.drop * factor,
            claim=self.claim * factor,
            interval=self.interval * interval_factor,
        )


def drop_boundaries(
    rule: StoppingRule, information: Sequence[Sequence[float]], *, n_systems: int
) -> DropBoundaries:
    """Boundaries before any calibration, from each comparison's shares of information at the looks."""

    def levels(alpha: float) -> Floats:
        one = replace(rule, alpha=alpha)
        known = {tuple(shares): boundaries(one, shares).nominal for shares in information}
        return np.array([known[tuple(shares)] for shares in information]).T

    alphas = drop_alpha(rule.alpha, n_systems), rule.alpha, interval_alpha(rule.alpha, n_systems)
    return DropBoundaries(rule, *map(levels, alphas))


# What a study must be, so that this was shown to hold.


def check_dropping(
    looks: Looks,
    efficacy: Efficacy,
    futility: Futility | None,
    stop_when: StopWhen | None,
    rule: DecisionRule,
    family: ComparisonFamily,
    *,
    n_systems: int,
    n_criteria: int = 1,
    goal: str = "best",
) -> None:
    """Refuse looks, tests and goals that systems are not dropped by. Raises InputError: all that is wrong,
    with the reason."""
    problems = [
        *_unfit_boundaries(looks, efficacy, futility, stop_when),
        *_unfit_test(rule, family, n_systems=n_systems, goal=goal),
    ]
    if n_criteria > 1:
        problems.append(
            "drop_systems goes by one criterion: several would drop systems at looks of their own."
        )
    refuse(problems)


def _unfit_boundaries(
    looks: Looks, efficacy: Efficacy, futility: Futility | None, stop_when: StopWhen | None
) -> Iterator[str]:
    yield from unfit_looks(looks, efficacy, "drop_systems")
    if futility is not None:
        yield "drop_systems is its own futility: who has no chance leaves. Leave out the rule of futility."
    if stop_when is not None and not stop_when.decision:
        yield "With drop_systems a claim always ends the study: add decision to stop_when."


def _unfit_test(
    rule: DecisionRule, family: ComparisonFamily, *, n_systems: int, goal: str = "best"
) -> Iterator[str]:
    if n_systems < 3:
        yield "drop_systems is for three systems or more: of two, one look ends the study."
    if goal != "best":
        yield (
            f"drop_systems looks for the best system, not for the goal '{goal}': dropped systems are compared with "
            "others no more. Take the goal 'best', or leave drop_systems out."
        )
    if family.comparisons != "all-pairs":
        yield (
            "drop_systems compares every system with every other: who is best is not known beforehand. Leave out "
            "the baseline."
        )
    if family.model != "pairwise":
        yield (
            "drop_systems fits each two systems by themselves (model pairwise): a joint fit would change what is "
            "known of two when a third one is dropped."
        )
    if family.correction != "none":
        yield (
            f"drop_systems has levels of its own for several systems; the correction '{family.correction}' would "
            "correct twice. Leave it out."
        )
    if rule.alternative != "two-sided" or rule.margin is not None:
        yield (
            f"drop_systems goes by two-sided tests of a difference; got '{rule.alternative}'. For systems that are "
            "as good as each other say stop_when equivalence=MARGIN."
        )
    if rule.is_latent:
        yield (
            f"drop_systems is not offered for ratings analysed as {rule.family}: its false claims were simulated "
            "for the linear model alone. Analyse them as numbers (family gaussian)."
        )
    elif rule.is_simulated or rule.estimator != "reml" or rule.df != "kenward-roger":
        yield (
            "drop_systems goes by linear models, REML and Kenward and Roger's df, by which it was simulated; got "
            f"{rule.reference_words}."
        )


def check_dropping_study(
    *, workers: Sequence[int], exclusions: bool, documents: bool, paired: bool
) -> None:
    """Refuse studies in which dropping was not simulated, or is not valid.

    workers : how many there are at each look.

    Raises InputError: all that is wrong, with the reason.
    """
    problems = [
        *_unfit_study(documents=documents, paired=paired),
        *too_few_workers(workers, "drop_systems"),
    ]
    if exclusions:
        problems.append(
            "drop_systems is not offered with rules that leave workers out: those of an earlier look may leave "
            "at a later one, when systems have been dropped by their ratings."
        )
    refuse(problems)


def _unfit_study(*, documents: bool, paired: bool) -> Iterator[str]:
    if not paired:
        yield (
            "drop_systems needs complete blocks: each worker rates all systems that are left on the same items. "
            "Leave out the unpaired design."
        )
    if documents:
        yield (
            "drop_systems is not offered with documents, which were not simulated: items of one document are "
            "alike, and the factor of the levels was found for items alone."
        )


# One look.


@dataclass(frozen=True, slots=True, eq=False)
class DropLook:
    """What a look decides: who is left after it, shape (n, K), and the place of the system that is claimed to be
    the best, shape (n,); -1 where none is."""

    left: Flags
    best: Ints


def drop_look(
    estimate: Floats, p_value: Floats, drop: Floats, claim: Floats, pairs: Pairs, left: Flags
) -> DropLook:
    """Drop who is beaten by one that is left, then see whether one beats all others.

    estimate, p_value : second - first of each comparison, shape (n, comparisons); those of systems that are gone
        are not read
    drop, claim : levels, shape (comparisons,)
    left : who was rated at this look, shape (n, K)
    """
    first, second = np.array(pairs).T

    def beats(level: Floats) -> Flags:
        """Whether a system (second axis) beats another (third)."""
        with np.errstate(invalid="ignore"):
            shown = p_value <= level
        result = np.zeros((*left.shape, left.shape[1]), dtype=bool)
        result[:, second, first] = shown & (estimate > 0)
        result[:, first, second] = shown & (estimate < 0)
        return result

    beaten = (beats(drop) & left[:, :, None]).any(axis=1)
    after = left & ~beaten
    nobody = ~after.any(axis=1)  # each beaten by another: unequal precision can do that, and drops none
    after[nobody] = left[nobody]
    rivals = after[:, None, :] & ~np.eye(left.shape[1], dtype=bool)
    winner = after & (beats(claim) | ~rivals).all(axis=2)
    return DropLook(after, np.where(winner.any(axis=1), winner.argmax(axis=1), -1))


@dataclass(frozen=True, slots=True, eq=False)
class DropEndings:
    """How studies went: the look at which each ended (from 0), shape (n,); that at which each system was dropped,
    shape (n, K), the number of looks where it never was; the place of the best that was named, -1 for none, and
    whether those left are shown to be a top group, shape (n,)."""

    look: Ints
    dropped_at: Ints
    best: Ints
    top_group: Flags
    n_looks: int

    @property
    def left(self) -> Flags:
        """Who is left at the end, shape (n, K)."""
        return np.asarray(self.dropped_at == self.n_looks)

    def rated(self) -> Ints:
        """How many systems are rated in each stage, shape (n, looks); 0 after the end."""
        stage = np.arange(self.n_looks)
        there = self.dropped_at[:, :, None] >= stage
        return np.asarray(there.sum(axis=1) * (stage <= self.look[:, None]))


def follow(
    looks: SystemsLookReplicates, bounds: DropBoundaries, pairs: Pairs, *, stop_when: StopWhen = CLAIM
) -> DropEndings:
    """Follow studies look by look until one is named the best, a top group is shown, or no look is left.

    Ratings of all systems at all looks are given; those of systems that are gone are not read.
    """
    n, n_looks = looks.estimate.shape[:2]
    n_systems = looks.means.shape[2]
    left, going_on = np.ones((n, n_systems), dtype=bool), np.ones(n, dtype=bool)
    dropped_at = np.full((n, n_systems), n_looks)
    look, best, group = np.full(n, n_looks - 1), np.full(n, -1), np.zeros(n, dtype=bool)
    for at in range(n_looks):
        estimate = looks.estimate[:, at]
        taken = drop_look(estimate, looks.p_value[:, at], bounds.drop[at], bounds.claim[at], pairs, left)
        gone = left & ~taken.left & going_on[:, None]
        dropped_at[gone] = at
        left = left & ~gone
        best = np.where(going_on, taken.best, best)
        half = half_widths(looks.standard_error[:, at], looks.df[:, at], bounds.interval[at])
        tied = top_group(estimate, half, pairs, left, stop_when) & (best < 0) & going_on
        group |= tied
        ended = going_on & ((best >= 0) | tied)
        look[ended] = at
        going_on &= ~ended
    return DropEndings(look, dropped_at, best, group, n_looks)


def top_group(estimate: Floats, half: Floats, pairs: Pairs, left: Flags, stop_when: StopWhen) -> Flags:
    """Whether the intervals of all pairs that are left end the study: all within the margin of equivalence, or all
    narrow enough; shape (n,).

    estimate, half : shape (n, comparisons)
    """
    first, second = np.array(pairs).T
    away = ~(left[:, first] & left[:, second])
    result = np.zeros(len(left), dtype=bool)
    if stop_when.equivalence is not None:
        result |= (away | (np.abs(estimate) + half < stop_when.equivalence)).all(axis=1)
    if stop_when.half_width is not None:
        result |= (away | (half <= stop_when.half_width)).all(axis=1)
    return result


# Calibration: what few workers do to these levels.


def drop_ratios(
    looks: SystemsLookReplicates, bounds: DropBoundaries, pairs: Pairs
) -> tuple[Floats, Floats]:
    """Of studies in which all systems are equal the smallest p over level, which errs if it is at most 1: of each
    comparison's claim, then of the drop of each system named in advance, shape (n, comparisons + K); and of any of
    the intervals, (n,)."""
    looks = looks.part(looks.usable)
    first, second = np.array(pairs).T
    p, estimate = looks.p_value, looks.estimate
    with np.errstate(divide="ignore", invalid="ignore"):
        claim = (p / bounds.claim).min(axis=1)
        ratio = p / bounds.drop
        interval = (p / bounds.interval).min(axis=(1, 2))
    lost = [
        np.where(
            (second == system) & (estimate < 0) | (first == system) & (estimate > 0), ratio, np.inf
        ).min(axis=(1, 2))
        for system in range(looks.means.shape[2])
    ]
    return np.column_stack([claim, *lost]), interval


def calibrate_dropping(
    study: SystemsLooks, bounds: DropBoundaries, *, n_simulations: int, seed: int, n_jobs: int = 1
) -> tuple[LooksCalibration, LooksCalibration]:
    """Factors on the levels of decisions, and of intervals, at which the worst claim and the worst drop, and all
    intervals together, err in a share alpha of studies without differences, at the worst of several worker SDs."""
    how = {"n_simulations": n_simulations, "seed": seed, "n_jobs": n_jobs}
    ratios = null_at_worker_sds(drop_ratios, study, bounds, study.pairs, **how)
    alpha, n_pairs = bounds.rule.alpha, len(study.pairs)
    decisions, intervals = {}, {}
    for sd, of_sd in ratios.items():
        errs = np.concatenate([one for one, _ in of_sd])
        kinds = list(errs.T)
        if study.parameters.is_alike:  # equal laws: together they are better known
            kinds = [errs[:, :n_pairs].ravel(), errs[:, n_pairs:].ravel()]
        decisions[sd] = min(level_factor(kind, alpha) for kind in kinds)
        intervals[sd] = level_factor(np.concatenate([two for _, two in of_sd]), alpha)
    planned = max(study.parameters.sd_worker_system)
    return (
        LooksCalibration.of(decisions, planned, n_simulations),
        LooksCalibration.of(intervals, planned, n_simulations),
    )


# The long run of a plan.


@dataclass(frozen=True, slots=True)
class DropExpectation:
    """What to expect where these are the true means: chances that the best is named, that a best one is dropped
    (the worst of those that tie) and that a false claim is made (any claim, where the best tie); and of the same
    study with all systems to the end, winner against runner-up, the chance that the best is named and of a false
    claim.

    `ratings` are means of all ratings, `stages` of those of each stage, `left` of systems left after each look,
    `stopping` the shares of studies that end at each; `top_group` of those that end with one.
    """

    name: str
    means: tuple[float, ...]
    best_named: float
    best_dropped: float
    false_claim: float
    fixed_named: float
    fixed_false: float
    top_group: float
    ratings: float
    saved: float
    stages: tuple[float, ...]
    left: tuple[float, ...]
    stopping: tuple[float, ...]
    n_simulations: int

    @property
    def power(self) -> float:
        """The chance that the best is named."""
        return self.best_named

    @property
    def interval(self) -> tuple[float, float]:
        """That of the power."""
        return self.interval_of(self.best_named)

    def interval_of(self, share: float) -> tuple[float, float]:
        """Wilson interval of a share, 95 %: Monte Carlo error only."""
        return wilson_interval(round(share * self.n_simulations), self.n_simulations)


@dataclass(frozen=True, slots=True, eq=False)
class _Counts:
    """Sums over studies, for one set of true means."""

    n: int
    named: int
    false: int
    dropped: Ints
    fixed_named: int
    fixed_false: int
    group: int
    stages: Floats
    left: Floats
    ended: Ints

    def __add__(self, other: _Counts) -> _Counts:
        return _Counts(*(getattr(self, name) + getattr(other, name) for name in self.__slots__))


def true_claims(best: Ints, means: Sequence[float]) -> tuple[Flags, Flags]:
    """Which studies name the best, and which make a claim that is not true: of two that tie none is the best."""
    values = np.array(means)
    highest = np.flatnonzero(values == values.max())
    right = (best == highest[0]) & (len(highest) == 1)
    return np.asarray(right), np.asarray((best >= 0) & ~right)


def drop_endings(
    drawn: SystemsLookReplicates,
    study: SystemsLooks,
    bounds: DropBoundaries,
    stop_when: StopWhen,
    means: tuple[tuple[float, ...], ...],
) -> tuple[_Counts, ...]:
    """How studies that were drawn at the first of several true means end with each of them."""
    drawn = drawn.part(drawn.usable)
    per_system = np.diff(study.sizes, prepend=0) / study.parameters.n_systems
    result = []
    for wanted in means:
        looks = study.at_means(drawn, np.array(wanted) - np.array(means[0]))
        ended = follow(looks, bounds, study.pairs, stop_when=stop_when)
        named, false = true_claims(ended.best, wanted)
        all_left = np.ones_like(ended.left)
        level = np.full(len(study.pairs), bounds.rule.alpha)
        fixed = drop_look(
            looks.estimate[:, -1], looks.p_value[:, -1], np.zeros_like(level), level, study.pairs, all_left
        )
        fixed_named, fixed_false = true_claims(fixed.best, wanted)
        stages = ended.rated() * per_system
        after = (ended.dropped_at[:, :, None] > np.arange(study.n_looks)).sum(axis=(0, 1))
        result.append(
            _Counts(
                len(looks),
                int(named.sum()),
                int(false.sum()),
                (~ended.left).sum(axis=0),
                int(fixed_named.sum()),
                int(fixed_false.sum()),
                int(ended.top_group.sum()),
                stages.sum(axis=0),
                after.astype(float),
                np.bincount(ended.look, minlength=study.n_looks),
            )
        )
    return tuple(result)


def drop_expectations(
    study: SystemsLooks,
    bounds: DropBoundaries,
    means: Mapping[str, tuple[float, ...]],
    *,
    stop_when: StopWhen = CLAIM,
    n_simulations: int,
    seed: int,
    n_jobs: int = 1,
) -> tuple[DropExpectation, ...]:
    """The long run at each of several true means, by name, with one set of random numbers."""
    values = tuple(means.values())
    at = study.with_means(values[0])
    what = (drop_endings, at, at, bounds, stop_when, values)
    parts = list(run_blocks(blocks_of(*what, n_simulations=n_simulations, seed=seed), n_jobs=n_jobs))
    all_ratings = study.sizes[-1]
    result = []
    for (name, wanted), of_means in zip(means.items(), zip(*parts, strict=True), strict=True):
        counts: _Counts = reduce(add, of_means)
        n = counts.n
        best = np.array(wanted) == max(wanted)
        ratings = float(counts.stages.sum() / n)
        result.append(
            DropExpectation(
                name=name,
                means=wanted,
                best_named=counts.named / n,
                best_dropped=float(counts.dropped[best].max() / n),
                false_claim=counts.false / n,
                fixed_named=counts.fixed_named / n,
                fixed_false=counts.fixed_false / n,
                top_group=counts.group / n,
                ratings=ratings,
                saved=1 - ratings / all_ratings,
                stages=tuple((counts.stages / n).tolist()),
                left=tuple((counts.left / n).tolist()),
                stopping=tuple((counts.ended / n).tolist()),
                n_simulations=n,
            )
        )
    return tuple(result)


AS_PLANNED, ALL_EQUAL = "as planned", "all equal"


def true_configurations(study: SystemsLooks) -> dict[str, tuple[float, ...]]:
    """True means to look at: those planned, one or two that lead by the planned difference, and all equal. Who
    leads are the best of the plan."""
    means, effect = study.parameters.means, abs(study.parameters.stated_effect)
    order = sorted(range(len(means)), key=lambda place: -means[place])
    centre = math.fsum(means) / len(means)

    def leading(n: int) -> tuple[float, ...]:
        return tuple(centre + effect * (place in order[:n]) for place in range(len(means)))

    one = leading(1)
    return {
        AS_PLANNED: means,
        **({} if np.allclose(np.subtract(one, means), one[0] - means[0]) else {"one leads": one}),
        "two lead": leading(2),
        ALL_EQUAL: (centre,) * len(means),
    }


@dataclass(frozen=True, eq=False)
class DroppingPlan(AtLooks):
    """A study of several systems whose looks drop them: its levels and its long run.

    `rows` are of the comparison `place`, whose difference is hardest to find. `worst_claim` and `worst_drop` are
    the highest rates of a false claim, and of the drop of a best one, over `configurations` in which systems tie
    for the best, with others behind by several distances.
    """

    study: SystemsLooks
    place: int
    rows: tuple[LookRow, ...]
    stop_when: StopWhen
    bounds: DropBoundaries
    calibration: LooksCalibration
    interval_calibration: LooksCalibration
    points: tuple[DropExpectation, ...]
    ties: tuple[DropExpectation, ...]
    n_simulations: int
    seed: int

    @property
    def method(self) -> str:
        """How the boundaries were found, in words."""
        return "information time for each comparison, calibrated by simulation under the crossed model"

    @property
    def first_levels(self) -> tuple[float, ...]:
        """The levels of the claim at the looks, of the hardest comparison."""
        return tuple(float(level) for level in self.bounds.claim[:, self.place])

    @property
    def errors(self) -> tuple[NaiveError, ...]:
        """How often the study errs where systems tie for the best: false claims, and best ones that are dropped."""
        return tuple(
            NaiveError(f"{what}: {one.name}", rate, one.interval_of(rate))
            for one in self.ties
            for what, rate in (("false claim", one.false_claim), ("best one dropped", one.best_dropped))
        )

    @property
    def planned(self) -> DropExpectation:
        """The long run if the means are those planned."""
        return self.points[0]

    @property
    def worst_claim(self) -> DropExpectation:
        """Where a false claim is made most often."""
        return max(self.ties, key=lambda one: one.false_claim)

    @property
    def worst_drop(self) -> DropExpectation:
        """Where a best one is dropped most often."""
        return max(self.ties, key=lambda one: one.best_dropped)


_DISTANCES = (1.0, 2.5, 5.0)  # of those behind, in standard errors of a comparison at the last look


def tied_configurations(study: SystemsLooks, error: float) -> dict[str, tuple[float, ...]]:
    """True means in which some tie for the best and the others are behind by several distances."""
    n = study.parameters.n_systems
    own = study.parameters.sd_worker_system
    order = sorted(range(n), key=lambda system: -own[system])  # who vary most tie: levels err most there
    result = {f"all {n} tie": (0.5,) * n}
    for tied in range(2, min(n, 4)):
        for distance in _DISTANCES:
            means = [0.5 - distance * error] * n
            for system in order[:tied]:
                means[system] = 0.5
            result[f"{tied} tie, others {distance:g} SE behind"] = tuple(means)
    return result


def plan_dropping(
    study: SystemsLooks,
    rule: StoppingRule,
    *,
    stop_when: StopWhen | None = None,
    goal: str = "best",
    cost: CostModel | None = None,
    n_simulations: int | None = None,
    seed: int = 1,
    n_jobs: int = 1,
) -> DroppingPlan:
    """Levels of every comparison, calibrated by simulation, and the long run of the plan. Raises InputError:
    studies in which systems cannot be dropped, or boundaries that do not exist.

    rule : with the alpha of the claim. goal : refused where it is not 'best'.
    n_simulations : simulated studies; by default 10,000 where sums are enough, else 1,000.
    """
    stop_when = stop_when or CLAIM
    final = study.nested.final
    problems = [
        *_unfit_boundaries(study.looks, rule.efficacy, rule.futility, stop_when),
        *_unfit_test(study.rule, study.family, n_systems=study.parameters.n_systems, goal=goal),
        *_unfit_study(documents=bool(final.n_documents), paired=final.kind != "split"),
    ]
    if study.looks.kind == "workers":
        problems += too_few_workers([design.n_workers for design in study.nested.designs], "drop_systems")
    refuse(problems)
    if not study.shifts:
        raise InputError("drop_systems is for ratings that are taken as numbers.")
    rows = [pair_rows_at_looks(study, one, cost=cost) for one in range(len(study.pairs))]
    n_systems = study.parameters.n_systems
    before = drop_boundaries(
        rule, [[row.information_share for row in of_pair] for of_pair in rows], n_systems=n_systems
    )
    n = n_simulations or (DEFAULT_SYSTEMS_LOOKS if study.by_sums else SLOW_SYSTEMS_LOOKS)
    decisions, intervals = calibrate_dropping(
        study, before, n_simulations=n, seed=seed + CALIBRATION_SEED, n_jobs=n_jobs
    )
    bounds = before.scaled(decisions.used, intervals.used)
    place = hardest_place(study)
    expected = true_configurations(study)
    error = max(of_pair[-1].precision.standard_error for of_pair in rows)
    ties = tied_configurations(study, error)
    points = drop_expectations(
        study, bounds, expected | ties, stop_when=stop_when, n_simulations=n, seed=seed, n_jobs=n_jobs
    )
    return DroppingPlan(
        study,
        place,
        tuple(rows[place]),
        stop_when,
        bounds,
        decisions,
        intervals,
        points[: len(expected)],
        points[len(expected) :],
        n,
        seed,
    )

"""A planned study of several systems: what is assumed of them, who rates what, and what counts as success."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import KW_ONLY, astuple, dataclass, replace
from functools import cached_property, reduce
from typing import NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.choices import DEFAULT_SEED, DEFAULT_SIMULATIONS, Exclusion, Response, SizeSought
from humeval_power.designs import Design
from humeval_power.errors import InputError
from humeval_power.estimation.joint.any_design import MOST_COLUMNS
from humeval_power.estimation.joint.strands import MOST_EVEN_LEVELS, MOST_LEVELS
from humeval_power.inference.corrections import significant
from humeval_power.roots import root_between
from humeval_power.rules import DEFAULT_FAMILY, DEFAULT_RULE, ComparisonFamily, DecisionRule
from humeval_power.saying.answer_words import of_hundred
from humeval_power.simulation.quality_control import QualityControl, own_rows
from humeval_power.simulation.study import NO_LOSSES, Losses, levels
from humeval_power.studies.fit.max_t import CriticalValues, pair_design
from humeval_power.studies.fit.wald import statistic, wald_p
from humeval_power.studies.power.estimate import Progress, check_simulation, next_target, progress_of_blocks
from humeval_power.studies.power.growth import all_or_now
from humeval_power.studies.power.questions import check_target
from humeval_power.studies.power.required import RequiredSize, design_of
from humeval_power.studies.power.scenario import RatingStudy, check_categories
from humeval_power.studies.power.systems_goals import (
    LOG2_POINTS,
    BestMargin,
    GoalCounts,
    SystemsPower,
    Truth,
    count_goals,
)
from humeval_power.studies.power.systems_power import (
    check_goal,
    check_max_t,
    check_study,
    power_of_counts,
    systems_formula,
)
from humeval_power.studies.power.systems_precision import (
    Pairs,
    SystemsPrecision,
    check_systems_documents,
    systems_precision,
)
from humeval_power.studies.power.systems_replication import SystemsFits, SystemsReplication
from humeval_power.studies.power.workload import (
    Workload,
    categories_workload,
    measured_seconds,
    study_workload,
)
from humeval_power.study_counts import NO_DOCUMENTS, Documents, StudyCounts
from humeval_power.sweep.blocks import Block, run_blocks
from humeval_power.sweep.versions import spans
from humeval_power.systems import Goal, SystemsParameters


@dataclass(frozen=True, eq=False)
class SystemsStudy:
    """Systems with what is assumed of them, a design, and how the study decides.

    `family` are the tests made together, their model and correction; `goal` what its power counts; `setting` the
    name of what is assumed; `losses` and `exclusion` what happens to its ratings, which no formula knows.
    """

    parameters: SystemsParameters
    design: Design
    _: KW_ONLY
    family: ComparisonFamily = DEFAULT_FAMILY
    rule: DecisionRule = DEFAULT_RULE
    goal: Goal = "pair"
    response: Response = "gaussian"
    points: int | None = None
    setting: str = ""
    losses: Losses = NO_LOSSES
    exclusion: Exclusion | QualityControl = "none"

    @property
    def has_formula(self) -> bool:
        """Whether a formula describes the study."""
        from humeval_power.studies.power.systems_power import has_formula

        return self.response == "gaussian" and has_formula(self.family, self.rule)

    @property
    def effect(self) -> float:
        """The difference by which the true means are stated."""
        return self.parameters.stated_effect

    @property
    def true_effect(self) -> float:
        """The same, by the name that it has in a study of two."""
        return self.effect

    def with_effect(self, effect: float) -> SystemsStudy:
        """The same study with all true differences in proportion, so that the stated one is `effect`.

        Raises
        ------
        InputError
            Means that are all equal: there is nothing to stretch.
        """
        means, stated = self.parameters.means, self.effect
        if stated == 0:
            raise InputError("These means are all equal: give a pattern and an effect, or other means.")
        centre = math.fsum(means) / len(means)
        moved = tuple(centre + (mean - centre) * effect / stated for mean in means)
        return replace(self, parameters=replace(self.parameters, means=moved, effect=effect))

    def by_formula(self, *, log2_points: int = LOG2_POINTS) -> SystemsPower:
        """The power of every goal, where `has_formula`; of fewer points for curves."""
        from humeval_power.studies.power.systems_power import systems_formula

        return systems_formula(
            self.parameters, self.design, self.family, self.rule, self.goal, log2_points=log2_points
        )

    def simulated(
        self,
        *,
        n_simulations: int = DEFAULT_SIMULATIONS,
        precision: float | None = None,
        seed: int = DEFAULT_SEED,
        n_jobs: int = 1,
        progress: Progress | None = None,
    ) -> SystemsPower:
        """The same by simulation, with the real assignment."""
        return simulate_systems(
            self.parameters,
            self.design,
            self.family,
            self.rule,
            goal=self.goal,
            n_simulations=n_simulations,
            precision=precision,
            seed=seed,
            n_jobs=n_jobs,
            response=self.response,
            points=self.points,
            losses=self.losses,
            exclusion=self.exclusion,
            progress=progress,
        )

    @property
    def replication(self) -> SystemsReplication:
        """How the studies are simulated and fitted, of the comparisons of the family."""
        return SystemsReplication(
            self.parameters,
            self.design,
            self.family,
            self.family.places(self.parameters.names),
            self.rule,
            self.response,
            self.points,
            self.losses,
            self.exclusion,
        )

    def workload(self, *, n_simulations: int, n_jobs: int = 1) -> Workload:
        """How long simulated studies take, about; of large fits of pairs the first is measured for all."""
        work = systems_workload(
            self.parameters,
            self.design,
            self.family,
            self.rule,
            n_simulations=n_simulations,
            n_jobs=n_jobs,
            one_by_one=own_rows(self.losses, self.exclusion),
        )
        least = min(self.design.n_workers, self.design.n_items)
        in_pairs = self.family.model == "pairwise" and not self.design.is_balanced
        if not in_pairs or 2 * least <= MOST_COLUMNS or self.replication.together is not None:
            return work
        pair = self.replication.pairs[0]
        one = RatingStudy(self.parameters.pair(*pair), pair_design(self.design, *pair), rule=self.rule)
        n_fits = len(self.replication.pairs) * n_simulations
        (each,) = measured_seconds([one], n_simulations=n_fits)
        return replace(work, seconds=each * n_fits / n_jobs)


@dataclass(frozen=True, slots=True)
class SystemsSizes:
    """Other sizes of a study of several systems: `growth.OtherSizes`."""

    study: SystemsStudy
    counts: StudyCounts

    def powers(self, workers: NDArray[np.int64], items: NDArray[np.int64]) -> Floats:
        """The power of its goal in studies of so many workers and items, (n,)."""
        from humeval_power.studies.power.systems_power import systems_formula

        about, k = self.study, all_or_now(self.counts, workers)
        sizes = (
            replace(self.counts, n_workers=m, n_items=n, ratings_per_item=each)
            for m, n, each in zip(workers.tolist(), items.tolist(), k.tolist(), strict=True)
        )
        return np.array(
            [
                systems_formula(about.parameters, one, about.family, about.rule, about.goal).power
                for one in sizes
            ]
        )


# The smallest difference among several systems that a study finds, and the smallest study that finds one.

_CLOSE = 1e-4  # of a smallest difference, on [0, 1]
_STEPS = 12  # of a search by simulation
_MOST = 100_000  # workers or items
_RAISES = 8  # times that a proof may raise a size
_LARGEST = 1.0  # difference on [0, 1]


@dataclass(frozen=True, slots=True)
class SimulatedDifference:
    """The smallest difference by simulation, infinite where none on [0, 1] is enough, and the power that was
    simulated there; at the largest where it is infinite."""

    effect: float
    power: SystemsPower


def detectable_difference(study: SystemsStudy, *, power: float = 0.8) -> float:
    """The smallest stated difference with which the study reaches its goal with probability `power`, by
    formula, all true differences in proportion; infinite where none on [0, 1] does. Raises InputError: a rule
    with a margin, a target that is no goal, or means that are all equal."""
    _check(study, power)
    return _smallest(lambda effect: study.with_effect(effect).by_formula().power - power)


def simulated_difference(
    study: SystemsStudy,
    *,
    power: float = 0.8,
    guess: float | None = None,
    n_simulations: int = DEFAULT_SIMULATIONS,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> SimulatedDifference:
    """The same by simulation, with the same random numbers at every difference.

    guess : where to start, such as the answer of the formula.
    """
    _check(study, power)

    def at(effect: float) -> SystemsPower:
        return study.with_effect(effect).simulated(n_simulations=n_simulations, seed=seed, n_jobs=n_jobs)

    high = min(guess if guess and math.isfinite(guess) else 0.1, _LARGEST)
    low, estimate = 0.0, at(high)
    while not estimate.power >= power:
        if high == _LARGEST or math.isnan(estimate.power):
            return SimulatedDifference(math.inf, estimate)
        low, high = high, min(1.3 * high, _LARGEST)
        estimate = at(high)
    low = max(low, high / 1.3 if guess else 0.0)
    best = SimulatedDifference(high, estimate)
    for step in range(_STEPS):
        if high - low < _CLOSE:
            break
        middle = (low + high) / 2
        estimate = at(middle)
        if estimate.power >= power:
            high, best = middle, SimulatedDifference(middle, estimate)
        else:
            low = middle
        if progress is not None:
            progress(step + 1, _STEPS)
    return best


def required_systems_size(
    study: SystemsStudy,
    sought: SizeSought,
    counts: StudyCounts,
    *,
    documents: Documents = NO_DOCUMENTS,
    power: float = 0.8,
    proves: bool = True,
    n_simulations: int = DEFAULT_SIMULATIONS,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> RequiredSize:
    """The fewest workers, items, documents or ratings per item with which a study reaches its goal with probability
    `power`: by formula, and with `proves` proved by simulation and raised where that shows less.

    study : its design is not used; counts : the sizes that are given, and anything for the one sought. Every worker
        rates every item where `counts` has as many ratings per item as workers and these are not sought.
    documents : that the items come out of. Documents that are sought have so many items each, or share the items.
    Raises InputError: a target that is no goal, comparisons that no formula describes, or a number of
    documents where that is sought.
    """
    if sought not in get_args(SizeSought):
        raise InputError(f"Find one of {', '.join(get_args(SizeSought))}; got {sought!r}.")
    check_target(power, study.rule.tail, gives="what no difference at all would give")
    if not study.has_formula:
        raise InputError(
            "A size is searched by formula, and none describes this study: simulate its power."
        )
    complete = counts.is_complete
    if sought == "documents" and documents.number is not None:
        raise InputError("The number of documents is what is sought: leave it out.")
    least, most = _range(counts, sought, complete, documents)

    def of(size: int) -> StudyCounts:
        if sought == "documents":
            n_items = size * documents.items_each if documents.items_each else counts.n_items
            return replace(counts, n_items=n_items, n_documents=size)
        if sought == "ratings-per-item":
            result = replace(counts, ratings_per_item=size)
        elif sought == "items":
            result = replace(counts, n_items=size)
        else:
            k = size if complete else counts.ratings_per_item
            result = replace(counts, n_workers=size, ratings_per_item=k)
        return replace(result, n_documents=documents.of(result.n_items))

    def power_of(size: int) -> float:
        return systems_formula(study.parameters, of(size), study.family, study.rule, study.goal).power

    given = {
        "workers": counts.n_workers,
        "items": counts.n_items,
        "documents": counts.n_documents,
        "ratings-per-item": counts.ratings_per_item,
    }
    size = _fewest(power_of, power, least, most, given[sought])
    if size is None:
        reached = power_of(most)
        words = sought.replace("-", " ")
        return RequiredSize(
            sought,
            power,
            None,
            reason=f"With {most:,} {words} {of_hundred(reached)} of 100 such studies reach their goal, by formula.",
        )
    if not proves:
        answer = replace(study, design=design_of(of(size)))
        return RequiredSize(sought, power, of(size), answer.by_formula())
    for _ in range(_RAISES):
        proved = replace(study, design=design_of(of(size)))
        simulated = proved.simulated(
            n_simulations=n_simulations, seed=seed, n_jobs=n_jobs, progress=progress
        )
        if simulated.interval[1] >= power or size == most:
            break
        size = min(most, max(size + 1, round(1.05 * size)))
    return RequiredSize(sought, power, of(size), proved.by_formula(), simulated)


def _range(
    counts: StudyCounts, sought: SizeSought, complete: bool, documents: Documents
) -> tuple[int, int]:
    """The least and the most that a size can be."""
    if sought == "documents":
        return 2, _MOST // documents.items_each if documents.items_each else counts.n_items
    shown = counts.ratings_per_item * (1 if counts.paired else counts.n_systems)
    if sought == "ratings-per-item":
        return 1, counts.n_workers if counts.paired else max(1, counts.n_workers // counts.n_systems)
    if sought == "items":
        least = documents.number or (documents.items_each or 1) + 1  # items of two documents
        return max(least, 1 if complete else -(-counts.n_workers // shown)), _MOST
    return (2, _MOST) if complete else (max(2, shown), max(shown, counts.n_items * shown))


def _fewest(
    power_of: Callable[[int], float], target: float, least: int, most: int, start: int
) -> int | None:
    """The smallest size with the power, which is taken to grow with it; found from `start`.

    Between a size that is too small and one that is not the next is where the normal deviates of their powers say.
    """
    known: dict[int, float] = {}

    def reaches(size: int) -> bool:
        if size not in known:
            known[size] = power_of(size)
        return known[size] >= target

    if not reaches(most):
        return None
    low, high = least - 1, min(max(start, least), most)
    while reaches(high) and high > least:
        high = max(high // 2, least)
    if reaches(high):
        return high
    while not reaches(high):
        low, high = high, min(2 * high, most)
    is_even = False  # every other size halves what is left
    while high - low > 1:
        middle = (low + high) // 2
        if low >= least and not is_even:
            below, wanted, above = (_deviate(one) for one in (known[low], target, known[high]))
            middle = low + round((high - low) * (wanted - below) / max(above - below, 1e-9))
        is_even = not is_even
        middle = min(max(middle, low + 1), high - 1)
        if reaches(middle):
            high = middle
        else:
            low = middle
    return high


def _deviate(power: float) -> float:
    return float(special.ndtri(min(max(power, 1e-6), 1 - 1e-6)))


def _smallest(shortfall: Callable[[float], float]) -> float:
    if shortfall(_LARGEST) < 0:
        return math.inf
    return root_between(shortfall, 1e-6, _LARGEST, xtol=_CLOSE / 10)


def _check(study: SystemsStudy, power: float) -> None:
    if study.rule.margin is not None:
        raise InputError(
            "Which claims of several systems are true depends on the margin, so that no smallest one is where "
            "a goal is reached: ask for the power at the margins that would matter, or compare two systems."
        )
    least = 1.0 / study.parameters.n_systems if study.goal == "first" else study.rule.tail
    check_target(power, least, gives=f"what no difference at all would give for the goal '{study.goal}'")
    study.with_effect(_CLOSE)


# How long simulated studies of several systems take, about (`benchmarks/bench_workload.py`).

_PER_STUDY, _PER_STUDY_COLUMN = 1e-4, 5e-8  # seconds of a complete study, and of its systems cubed
_PER_ALONE = 2e-3  # seconds of preparing a fit of one pair, whose rows no other study has
_PER_JOINT = 1.2e-7  # seconds of a fit of any other, for the cube of the order of its dense matrix
# of one whose systems are rated together: seconds of a study, of a rating, of a pair and of the cube of its levels;
# and with equal loads of each level, for a pair and for each of the systems with variances of their own
_PER_DRAWN, _PER_RATING, _PER_PAIR, _PER_CUBE = 5e-5, 7e-8, 1e-5, 8e-9
_PER_EVEN_LEVEL, _PER_OWN, _PER_OWN_LEVEL = 1.5e-7, 1e-4, 2.5e-6
# of a fit by matrices of any design: seconds of one and of a rating, of the square and the cube of its order; how
# much more of all that a system with variances of its own needs; where studies lack ratings, of one, and how many
# times as long its fits take
_PER_FIT, _PER_FIT_RATING, _PER_SQUARE, _PER_ORDER, _OWN = 7e-6, 7.5e-8, 2.2e-8, 3.4e-11, 0.17
_PER_LACKING, _LACKING = 7e-5, 1.2


def systems_workload(
    parameters: SystemsParameters,
    design: Design,
    family: ComparisonFamily,
    rule: DecisionRule,
    *,
    n_simulations: int,
    n_jobs: int = 1,
    one_by_one: bool = False,
) -> Workload:
    """Of simulated studies with this design, fitted by the family's model; `one_by_one` where each has rows of its
    own."""
    K = parameters.n_systems
    n_pairs = len(family.pairs(parameters.names))
    plain = rule.analysis == "ratings" and rule.estimator == "reml" and not rule.is_latent
    if design.is_balanced and plain and not one_by_one:
        return Workload((_PER_STUDY + _PER_STUDY_COLUMN * K**3) * n_simulations / n_jobs, 0.0)
    one = study_workload(design, n_simulations=n_simulations, n_jobs=n_jobs)
    if rule.is_latent:
        beyond = categories_workload(2 * design.n_ratings / K, n_simulations=n_simulations, n_jobs=n_jobs)
        return Workload((one.seconds + beyond.seconds) * n_pairs, one.n_bytes)
    least = min(design.n_workers, design.n_items)
    own = family.model == "joint" and family.variances == "own"
    even = design.n_ratings // K % design.n_workers == 0
    together = (
        design.kind == "k-per-item"
        and not design.n_documents
        and least <= (MOST_EVEN_LEVELS if even else MOST_LEVELS)
    )
    if plain and not one_by_one and together and (even or not own):
        each = _PER_PAIR + (_PER_EVEN_LEVEL * least if even else _PER_CUBE * least**3)
        fits = n_pairs if family.model == "pairwise" else K / 2
        seconds = _PER_DRAWN + _PER_RATING * design.n_ratings + each * fits
        if own:
            seconds += (_PER_OWN + _PER_OWN_LEVEL * least) * K
        return Workload(seconds * n_simulations / n_jobs, one.n_bytes)
    size, fits = (2, n_pairs) if family.model == "pairwise" else (K, 1)
    if plain and not design.n_documents and least * size <= MOST_COLUMNS:
        order = least * size
        each = _PER_FIT + _PER_FIT_RATING * design.n_ratings * size / K
        each += _PER_SQUARE * order**2 + _PER_ORDER * order**3
        each *= 1 + _OWN * K if own else 1
        seconds = _PER_DRAWN + each * fits
        if one_by_one:
            seconds += _PER_LACKING + (_LACKING - 1) * each * fits
        return Workload(seconds * n_simulations / n_jobs, one.n_bytes)
    if family.model == "pairwise":
        alone = _PER_ALONE * n_simulations / n_jobs if one_by_one else 0.0
        return Workload((one.seconds + alone) * n_pairs, one.n_bytes)
    order = K * least
    each = 0.02 + _PER_JOINT * order**3 * (K if family.variances == "own" else 1) / 8
    return one + Workload(each * n_simulations / n_jobs, 0.0)


# Power of a study of several systems by simulation: every goal, and the best against the second.

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
_PORTION = 2048  # studies between two reports of progress, where they are drawn by their sums
_FEW = 64  # and where each is fitted by itself


@dataclass(frozen=True, slots=True)
class _BestSums:
    """Hsu's comparison of the best, summed over `n` studies."""

    n: int
    estimate: float
    low: float
    high: float
    shown: float

    @classmethod
    def total(cls, parts: list[_BestSums]) -> _BestSums:
        """All portions together."""
        return cls(*(sum(kind) for kind in zip(*map(astuple, parts), strict=True)))


def simulate_systems(
    parameters: SystemsParameters,
    design: Design,
    family: ComparisonFamily,
    rule: DecisionRule,
    *,
    goal: Goal = "pair",
    n_simulations: int = DEFAULT_SIMULATIONS,
    precision: float | None = None,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
    response: Response = "gaussian",
    points: int | None = None,
    losses: Losses = NO_LOSSES,
    exclusion: Exclusion | QualityControl = "none",
    progress: Progress | None = None,
) -> SystemsPower:
    """Simulate studies, fit each by the family's model, correct its tests and count what is found.

    Parameters
    ----------
    design : with the real assignment; every study draws its ratings with it.
    precision : if given, simulate until the half-width of the power's interval is at most this, and at least
        `n_simulations` times.
    response, points : what a worker can enter, as for two systems.
    losses, exclusion : what happens to the ratings of each study, and who is left out of its analysis.
    progress : called with studies done and expected.

    Under max-t the statistics of a study are referred to the largest of t statistics that are correlated as the
    assumed variances and the design say, each with the study's own df.

    Raises
    ------
    InputError
        A goal that cannot be reached under these means and this family, or a rule that the model has no
        answer for.
    """
    check_simulation(n_simulations, precision)
    decision = family_decision(parameters, design, family, rule, response=response, points=points)
    check_goal(decision.truth, goal)
    study = SystemsReplication(
        parameters, design, family, decision.estimated, rule, response, points, losses, exclusion
    )
    parts: list[GoalCounts] = []
    margins: list[_BestSums] = []
    each = systems_workload(
        parameters, design, family, rule, n_simulations=1, one_by_one=own_rows(losses, exclusion)
    ).seconds
    size, done, target = _PORTION if study.by_sums else _FEW, 0, n_simulations
    while done < target:
        portions = spans(target, size, first=done)
        blocks = [
            Block(count_systems, (decision, study, seed, *part), each * part.n, part.n) for part in portions
        ]
        reporter = progress_of_blocks(progress, [part.n for part in portions])
        for counts, margin in run_blocks(blocks, n_jobs=n_jobs, done=reporter):
            parts.append(counts)
            if margin is not None:
                margins.append(margin)
        counts, done = reduce(operator.add, parts), target
        power = power_of_counts(
            counts,
            decision.precision,
            goal,
            truth=decision.truth,
            n_simulations=done,
            n_failed=done - counts.n,
        )
        if precision is not None and not power.too_many_failed:
            target = next_target(round(power.power * done), done, precision, at_least=size)
    n_simulations = done
    if not margins or power.too_many_failed:
        return power
    best = _BestSums.total(margins)
    return replace(
        power,
        best_margin=BestMargin(
            best.estimate / best.n, (best.low / best.n, best.high / best.n), best.shown / n_simulations
        ),
    )


def family_decision(
    parameters: SystemsParameters,
    design: Design,
    family: ComparisonFamily,
    rule: DecisionRule,
    *,
    response: Response,
    points: int | None,
) -> FamilyDecision:
    """How simulated studies of several systems are decided. Raises InputError: a rule that the model has no answer
    for."""
    check_study(parameters, design, rule)
    if rule.is_latent:
        check_categories(rule, levels(parameters, response, points), give="a Likert response")
    check_systems_documents(parameters, design, family)
    if rule.is_simulated:
        raise InputError(
            f"df '{rule.df}' simulates the reference distribution of one test, and several systems have one for "
            "each comparison: take kenward-roger or satterthwaite."
        )
    decision = FamilyDecision(parameters, design, family, rule)
    decision.check()
    return decision


@dataclass(frozen=True, eq=False)
class FamilyDecision:
    """The tests of a family and Hsu's comparisons, applied to fits."""

    parameters: SystemsParameters
    design: Design
    family: ComparisonFamily
    rule: DecisionRule

    def check(self) -> None:
        """Refuse a rule without such critical values, and categories where there is no model of them."""
        if self.family.correction == "max-t":
            check_max_t(self.rule)
        if self.rule.is_latent and self.family.model == "joint":
            raise InputError(
                "No model of all systems together has categories: compare them in pairs, each by its own fit "
                "(model 'pairwise'), or take the ratings as numbers (family 'gaussian')."
            )

    @cached_property
    def precision(self) -> SystemsPrecision:
        return systems_precision(self.parameters, self.design, self.family)

    @cached_property
    def truth(self) -> Truth:
        return Truth(self.parameters, self.precision.pairs, self.rule)

    @property
    def estimated(self) -> Pairs:
        """The pairs whose differences are estimated: those of the family, and the best with every other."""
        return self._best.pairs if self._has_best else self.precision.pairs

    @property
    def _has_best(self) -> bool:
        one_scale = not self.rule.is_latent  # every pair of categories has latent variances of its own
        return one_scale and len(self.parameters.best) == 1

    @cached_property
    def _others(self) -> Pairs:
        """The best system after every other."""
        (best,) = self.parameters.best
        return tuple((other, best) for other in range(self.parameters.n_systems) if other != best)

    @cached_property
    def _best(self) -> _EstimatedPairs:
        return _estimated_pairs(self.precision.pairs, self._others)

    @cached_property
    def _largest(self) -> CriticalValues:
        factor = self.precision.factor_of(self.precision.pairs)
        return CriticalValues.of(factor, self.rule.alpha, self.rule.alternative == "two-sided")

    @cached_property
    def _dunnett(self) -> CriticalValues:
        return CriticalValues.of(self.precision.factor_of(self._others), self.rule.alpha, two_sided=False)

    def count(self, fits: SystemsFits) -> tuple[GoalCounts, _BestSums | None]:
        """What the studies found; those without a fit are left out."""
        usable, error, df = fits.referred(self.rule, smallest=self.precision.smallest)
        estimate, means = fits.contrasts.estimate[usable], fits.means[usable]
        error, df = error[usable], df[usable]
        n = len(self.precision.pairs)
        rejected = self._rejected(estimate[:, :n], error[:, :n], df[:, :n])
        counts = count_goals(
            self.truth, means, estimate[:, :n], rejected, fits.contrasts.boundary[usable][:, :n]
        )
        return counts, self._with_the_best(estimate, error, df) if self._has_best else None

    def claims(self, fits: SystemsFits) -> tuple[Flags, Flags]:
        """Which studies have a fit, (n,), and which comparisons each shows, (n, pairs); none without a fit."""
        usable, error, df = fits.referred(self.rule, smallest=self.precision.smallest)
        n, estimate = len(self.precision.pairs), fits.contrasts.estimate
        shown = np.zeros((len(usable), n), dtype=np.bool_)
        shown[usable] = self._rejected(estimate[usable, :n], error[usable, :n], df[usable, :n])
        return usable, shown

    def _rejected(self, estimate: Floats, error: Floats, df: Floats) -> Flags:
        rule = self.rule
        if self.family.correction == "max-t":
            t = statistic(estimate, error, rule.alternative, None)
            size = np.abs(t) if rule.alternative == "two-sided" else t
            return np.asarray(size > self._largest(df))
        p_values = wald_p(estimate, error, df, rule.alternative, margin=rule.margin)
        return significant(p_values, self.family.correction, rule.alpha)

    def _with_the_best(self, estimate: Floats, error: Floats, df: Floats) -> _BestSums:
        """Hsu's (1984) interval of the truly best system: its mean less the highest of the others."""
        difference = estimate[:, self._best.columns] * self._best.signs
        reach = self._dunnett(df[:, self._best.columns]) * error[:, self._best.columns]
        low, high = (difference - reach).min(axis=1), (difference + reach).min(axis=1)
        return _BestSums(
            len(difference),
            float(difference.min(axis=1).sum()),
            float(np.minimum(low, 0.0).sum()),
            float(np.maximum(high, 0.0).sum()),
            float((low > 0).sum()),
        )


def count_systems(
    decision: FamilyDecision, study: SystemsReplication, seed: int, first: int, n: int, *, n_jobs: int = 1
) -> tuple[GoalCounts, _BestSums | None]:
    """The work of a block: what studies `first` to `first + n - 1` find."""
    return decision.count(study.fits(n, seed=seed, first=first, n_jobs=n_jobs))


class _EstimatedPairs(NamedTuple):
    """Pairs with the further ones that are not among them, and the columns and signs of the further ones."""

    pairs: Pairs
    columns: NDArray[np.int64]
    signs: Floats


def _estimated_pairs(pairs: Pairs, further: Pairs) -> _EstimatedPairs:
    all_pairs = list(pairs)
    columns, signs = [], []
    for first, second in further:
        if (second, first) in all_pairs:
            columns.append(all_pairs.index((second, first)))
            signs.append(-1.0)
            continue
        if (first, second) not in all_pairs:
            all_pairs.append((first, second))
        columns.append(all_pairs.index((first, second)))
        signs.append(1.0)
    return _EstimatedPairs(tuple(all_pairs), np.array(columns), np.array(signs))

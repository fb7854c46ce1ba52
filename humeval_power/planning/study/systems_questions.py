"""The smallest difference among several systems that a study finds, and the smallest study that finds one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, get_args

from humeval_power.errors import InputError
from humeval_power.planning.power import DEFAULT_SEED, DEFAULT_SIMULATIONS, Progress
from humeval_power.planning.questions import check_target
from humeval_power.planning.study.designs_of import design_of
from humeval_power.planning.study.systems_goals import SystemsPower
from humeval_power.planning.study.systems_power import systems_formula
from humeval_power.planning.study.systems_study import SystemsStudy
from humeval_power.roots import root_between
from humeval_power.study_counts import NO_DOCUMENTS, Documents, StudyCounts

SystemsSought = Literal["workers", "items", "documents", "ratings-per-item"]
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


@dataclass(frozen=True, slots=True)
class SystemsSize:
    """The smallest study that reaches the target, None with a reason where none does; its power by formula and as
    simulated."""

    sought: SystemsSought
    target: float
    counts: StudyCounts | None
    analytic: SystemsPower | None = None
    simulated: SystemsPower | None = None
    reason: str = ""


def detectable_difference(study: SystemsStudy, *, power: float = 0.8) -> float:
    """The smallest stated difference with which the study reaches its goal with probability `power`, by formula,
    all true differences in proportion; infinite where none on [0, 1] does.

    Raises
    ------
    InputError
        A rule with a margin, a target that is no goal, or means that are all equal.
    """
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
    low, found = 0.0, at(high)
    while not found.power >= power:
        if high == _LARGEST or math.isnan(found.power):
            return SimulatedDifference(math.inf, found)
        low, high = high, min(1.3 * high, _LARGEST)
        found = at(high)
    low = max(low, high / 1.3 if guess else 0.0)
    best = SimulatedDifference(high, found)
    for step in range(_STEPS):
        if high - low < _CLOSE:
            break
        middle = (low + high) / 2
        found = at(middle)
        if found.power >= power:
            high, best = middle, SimulatedDifference(middle, found)
        else:
            low = middle
        if progress is not None:
            progress(step + 1, _STEPS)
    return best


def required_systems_size(
    study: SystemsStudy,
    sought: SystemsSought,
    counts: StudyCounts,
    *,
    documents: Documents = NO_DOCUMENTS,
    power: float = 0.8,
    proves: bool = True,
    n_simulations: int = DEFAULT_SIMULATIONS,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> SystemsSize:
    """The fewest workers, items, documents or ratings per item with which a study reaches its goal with probability
    `power`: by formula, and with `proves` proved by simulation and raised where that shows less.

    study : its design is not used; counts : the sizes that are given, and anything for the one sought. Every worker
        rates every item where `counts` has as many ratings per item as workers and these are not sought.
    documents : that the items come out of. Documents that are sought have so many items each, or share the items.

    Raises
    ------
    InputError
        A target that is no goal, comparisons that no formula describes, or a number of documents where that is
        sought.
    """
    if sought not in get_args(SystemsSought):
        raise InputError(f"Find one of {', '.join(get_args(SystemsSought))}; got {sought!r}.")
    check_target(power, study.rule.tail, gives="what no difference at all would give")
    if not study.has_formula:
        raise InputError(
            "A size is searched by formula, and none describes this study: simulate its power."
        )
    complete = counts.paired and counts.ratings_per_item == counts.n_workers
    if sought == "documents" and documents.number is not None:
        raise InputError("The number of documents is what is sought: leave it out.")
    least, most = _range(counts, sought, complete, documents)

    def of(size: int) -> StudyCounts:
        if sought == "documents":
            n_items = size * documents.items_each if documents.items_each else counts.n_items
            return replace(counts, n_items=n_items, n_documents=size)
        if sought == "ratings-per-item":
            found = replace(counts, ratings_per_item=size)
        elif sought == "items":
            found = replace(counts, n_items=size)
        else:
            k = size if complete else counts.ratings_per_item
            found = replace(counts, n_workers=size, ratings_per_item=k)
        return replace(found, n_documents=documents.of(found.n_items))

    def power_of(size: int) -> float:
        return systems_formula(study.parameters, of(size), study.family, study.rule, study.goal).power

    size = _fewest(power_of, power, least, most)
    if size is None:
        reached = power_of(most)
        words = sought.replace("-", " ")
        return SystemsSize(
            sought, power, None, reason=f"With {most:,} {words} the power is {reached:.3f} by formula."
        )
    if not proves:
        answer = replace(study, design=design_of(of(size)))
        return SystemsSize(sought, power, of(size), answer.by_formula())
    for _ in range(_RAISES):
        proved = replace(study, design=design_of(of(size)))
        simulated = proved.simulated(
            n_simulations=n_simulations, seed=seed, n_jobs=n_jobs, progress=progress
        )
        if simulated.interval[1] >= power or size == most:
            break
        size = min(most, max(size + 1, round(1.05 * size)))
    return SystemsSize(sought, power, of(size), proved.by_formula(), simulated)


def _range(
    counts: StudyCounts, sought: SystemsSought, complete: bool, documents: Documents
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


def _fewest(power_of: Callable[[int], float], target: float, least: int, most: int) -> int | None:
    """The smallest size with the power, which is taken to grow with it."""
    low, high = least - 1, least
    while power_of(high) < target:
        if high == most:
            return None
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        if power_of(middle) >= target:
            high = middle
        else:
            low = middle
    return high


def _smallest(shortfall: Callable[[float], float]) -> float:
    if shortfall(_LARGEST) < 0:
        return math.inf
    return root_between(shortfall, 1e-6, _LARGEST, xtol=_CLOSE / 10)


def _check(study: SystemsStudy, power: float) -> None:
    if study.rule.margin is not None:
        raise InputError("The smallest margin is sought for two systems; ask for the power of several.")
    least = 1.0 / study.parameters.n_systems if study.goal == "first" else study.rule.tail
    check_target(power, least, gives=f"what no difference at all would give for the goal '{study.goal}'")
    study.with_effect(_CLOSE)

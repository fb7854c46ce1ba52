"""What a plan of several systems, or of several criteria, decides beside what every plan decides."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from humeval_power.errors import InputError
from humeval_power.families import MAX_T_OVER_CRITERIA, ComparisonFamily, SystemVariances
from humeval_power.parameters import Parameters
from humeval_power.rules import DecisionRule
from humeval_power.scales import RatingScale
from humeval_power.systems import Goal, SystemsParameters

if TYPE_CHECKING:
    from humeval_power.studies.looks.boundaries import Boundaries
    from humeval_power.studies.looks.rating_looks import LookInformation, LookSchedule
    from humeval_power.studies.power.systems_goals import SystemsPower
    from humeval_power.studies.power.systems_precision import AnyStudy

_LEAST_GROWTH = 1e-3  # of the information, by which looks that count differ


@dataclass(frozen=True, slots=True)
class GoalShare:
    """How often simulated studies reached a goal, with its 95 % Monte Carlo interval."""

    goal: Goal
    share: float
    interval: tuple[float, float]


@dataclass(frozen=True, slots=True)
class PlannedSystems:
    """The systems with what is assumed of them, what is to be found, and by which tests.

    parameters : names, assumed means and standard deviations on [0, 1].
    family : the tests made together, their model and correction.
    goal : what counts as power.
    criteria : names of those that all comparisons are made on; none where there is one without a name.
    shares : of the goals that the plan is not made for, in the simulations of its power.
    others : parameters, by name, that were looked at beside those planned for.
    looks : those of the plan.
    """

    parameters: SystemsParameters
    family: ComparisonFamily
    goal: Goal
    criteria: tuple[str, ...] = ()
    shares: tuple[GoalShare, ...] = ()
    others: tuple[tuple[str, SystemsParameters], ...] = ()
    looks: LookSchedule | None = None

    def __post_init__(self) -> None:
        self.family.pairs(self.parameters.names)  # refuses a baseline that is none of them
        problems = [
            f"The criteria must be different names; {name!r} is there twice."
            for name in dict.fromkeys(self.criteria)
            if self.criteria.count(name) > 1
        ]
        problems += ["A criterion needs a name." for name in self.criteria if not name.strip()]
        if self.family.correction == "max-t" and self.family.over == "all" and self.n_criteria > 1:
            problems.append(MAX_T_OVER_CRITERIA)
        if problems:
            raise InputError(" ".join(problems))

    @property
    def pair(self) -> Parameters:
        """What is known of the two systems whose difference is hardest to find: the closest of those that differ,
        and of equally close ones those that workers and items differ most about."""
        return self.parameters.pair(*self.hardest)

    @property
    def hardest(self) -> tuple[int, int]:
        """Places of these two systems, the lower mean first."""
        return _hardest_pair(self.parameters)

    def check(self, rule: DecisionRule) -> None:
        """Refuse a test that several systems are not compared by.

        Raises
        ------
        InputError
            A test or a correction whose power no formula gives, or that has no boundaries over looks.
        """
        from humeval_power.studies.power.systems_power import has_formula

        if self.looks is not None:
            self._check_looks(self.looks, rule)
        if self.family.correction == "max-t":
            from humeval_power.studies.power.systems_power import check_max_t

            check_max_t(rule)
        if rule.is_latent:
            raise InputError(
                f"A plan of several systems is searched by formula, and none is of the family '{rule.family}': "
                "plan with ratings as numbers (family 'gaussian'); 'power' simulates a size with a Likert response."
            )
        if not has_formula(self.family, rule):
            raise InputError(
                f"A plan of several systems needs a test that a formula describes, not {rule}, correction "
                f"{self.family.correction}."
            )

    def _check_looks(self, looks: LookSchedule, rule: DecisionRule) -> None:
        from humeval_power.studies.looks.stepwise import check_stepwise

        if rule.margin is not None:
            raise InputError(
                "Looks at several systems are planned for tests of a difference, not for a margin: leave out one."
            )
        if looks.drop_systems:
            from humeval_power.studies.looks.dropping import check_dropping

            check_dropping(
                looks.looks,
                looks.efficacy,
                looks.futility,
                looks.stop_when,
                rule,
                self.family,
                n_systems=self.parameters.n_systems,
                n_criteria=self.n_criteria,
                goal=self.goal,
            )
        check_stepwise(looks.rule(rule), self.family.correction)
        if self.n_criteria > 1:
            raise InputError(
                "Looks are taken on one criterion: several would stop at looks of their own, and the study "
                "has one end."
            )
        if self.goal == "first":
            raise InputError(
                "The goal 'first' needs no test, so no boundary says when it is reached: take 'best', or leave out "
                "the looks."
            )

    @property
    def n_criteria(self) -> int:
        """On how many criteria each comparison is tested."""
        return max(1, len(self.criteria))

    @property
    def n_tests(self) -> int:
        """How many tests are corrected together."""
        comparisons = len(self.family.pairs(self.parameters.names))
        return comparisons * (self.n_criteria if self.family.over == "all" else 1)


def goal_power(planned: PlannedSystems, counts: AnyStudy, rule: DecisionRule) -> float:
    """Chance by formula that a study of this size reaches the goal, with its looks."""
    return with_looks(goals_by_formula(planned, counts, rule).power, planned, counts, rule)


def goal_shares(planned: PlannedSystems, counts: AnyStudy, rule: DecisionRule) -> dict[Goal, float]:
    """The chances of all goals by formula, with the looks; NaN of those that these means do not have."""
    fixed = goals_by_formula(planned, counts, rule).shares
    return {
        goal: share if goal == "first" or math.isnan(share) else with_looks(share, planned, counts, rule)
        for goal, share in fixed.items()
    }


def with_looks(fixed: float, planned: PlannedSystems, counts: AnyStudy, rule: DecisionRule) -> float:
    """What looks leave of the chance of a goal: as of a z test at the share of alpha of one comparison, with the
    information of the hardest pair in a regular design. Near what simulation finds; it serves to search."""
    if planned.looks is None:
        return fixed
    from humeval_power.studies.looks.rating_looks import power_with_looks

    known = regular_information(planned, counts)
    *earlier, last = known.fractions
    growing = [last]
    for fraction in reversed(earlier):  # in the limit of endless workers or items a look adds nothing
        if growing[0] - fraction > _LEAST_GROWTH:
            growing.insert(0, fraction)
    if len(growing) == 1:
        return fixed
    return power_with_looks(
        fixed, first_boundaries(planned, rule, known._replace(fractions=tuple(growing)))
    )


def regular_information(planned: PlannedSystems, counts: AnyStudy) -> LookInformation:
    """Information about the hardest pair at the looks, of regular designs of their sizes."""
    import numpy as np

    from humeval_power.designs import Design
    from humeval_power.studies.looks.rating_looks import LookInformation
    from humeval_power.studies.power.required import regular_precision

    assert planned.looks is not None
    looks, shares = planned.looks.looks, np.array(planned.looks.looks.shares)
    m, n, k, d = (
        np.full(len(shares), float(size))
        for size in (counts.n_workers, counts.n_items, counts.ratings_per_item, counts.n_documents)
    )
    if looks.kind == "items":
        n, d = shares * n, shares * d
    else:  # fewer ratings of each item, and of some items none
        rated = (
            1.0
            if looks.kind == "ratings" or counts.ratings_per_item == counts.n_workers
            else 1.0 - (1.0 - shares) ** k
        )
        rated = np.minimum(rated, shares * k)
        m, n, k = shares * m if looks.kind == "workers" else m, rated * n, shares * k / rated
    paired = counts.kind != "split" if isinstance(counts, Design) else counts.paired
    precision = regular_precision(
        planned.pair, workers=m, items=n, ratings_per_item=k, paired=paired, documents=d
    )
    known = 1.0 / precision.variance
    return LookInformation(tuple((known / known[-1]).tolist()), float(known[-1]))


def first_boundaries(
    planned: PlannedSystems, rule: DecisionRule, information: LookInformation
) -> Boundaries:
    """Boundaries of the hardest pair while no comparison is shown."""
    from humeval_power.studies.looks.rating_looks import planned_boundaries
    from humeval_power.studies.looks.stepwise import step_level

    assert planned.looks is not None
    n = planned.n_tests
    one = replace(rule, alpha=step_level(rule.alpha, n, n, planned.family.correction))
    effect = planned.parameters.stated_effect
    return planned_boundaries(planned.looks, one, information, effect=effect)


def goals_by_formula(planned: PlannedSystems, study: AnyStudy, rule: DecisionRule) -> SystemsPower:
    """The chances of all goals by formula; for a design by its own assignment."""
    from humeval_power.studies.power.systems_power import systems_formula

    tested = within_criterion(planned, rule)
    return systems_formula(planned.parameters, study, planned.family, tested, planned.goal)


def other_shares(planned: PlannedSystems, simulated: SystemsPower) -> tuple[GoalShare, ...]:
    """The goals that the plan is not made for, as far as its means have them."""
    return tuple(
        GoalShare(goal, share, simulated.interval_of(share))
        for goal, share in simulated.shares.items()
        if goal != planned.goal and not math.isnan(share)
    )


def within_criterion(planned: PlannedSystems, rule: DecisionRule) -> DecisionRule:
    """The rule at the level that a criterion has by itself."""
    return replace(rule, alpha=planned.family.criterion_alpha(rule.alpha, planned.n_criteria))


def scaled(planned: PlannedSystems, factor: float) -> PlannedSystems:
    """The same with the means drawn apart by a factor, around their average."""
    parameters = planned.parameters
    centre = math.fsum(parameters.means) / parameters.n_systems
    means = tuple(centre + factor * (mean - centre) for mean in parameters.means)
    effect = None if parameters.effect is None else factor * parameters.effect
    return replace(planned, parameters=replace(parameters, means=means, effect=effect))


def _hardest_pair(parameters: SystemsParameters) -> tuple[int, int]:
    means = parameters.means

    owns = parameters.sd_worker_system, parameters.sd_item_system, parameters.sd_document_system

    def variance(j: int, k: int) -> float:
        return sum(own[j] ** 2 + own[k] ** 2 for own in owns)

    apart = [
        (abs(means[k] - means[j]), -variance(j, k), (j, k) if means[j] < means[k] else (k, j))
        for j, k in combinations(range(parameters.n_systems), 2)
        if means[j] != means[k]
    ]
    return min(apart, default=(0.0, 0.0, (0, 1)))[2]


# What a fit of several systems together tells a plan.


@dataclass(frozen=True, slots=True)
class SystemsPilot:
    """Systems as they were fitted, on [0, 1], the scale that they were rated on and the name of that table;
    `boundary` names the standard deviations that were estimated as zero."""

    parameters: SystemsParameters
    scale: RatingScale | None = None
    boundary: tuple[str, ...] = ()
    ratings: str | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know before planning from it."""
        if not self.boundary:
            return ()
        shown = ", ".join(self.boundary[:3]) + (" and others" if len(self.boundary) > 3 else "")
        return (
            f"Estimated as zero: {shown}. That is no proof that workers or items do not differ; power planned "
            "from it is too high if they do.",
        )


def systems_of_deviations(
    names: Sequence[str], means: Sequence[float], deviations: Mapping[str, float]
) -> SystemsParameters:
    """Parameters from standard deviations as a joint fit names them: `sd_worker_system` for all systems, or
    'sd_worker_system of NAME' for each."""

    def own(name: str) -> tuple[float, ...]:
        return tuple(
            float(deviations[name] if name in deviations else deviations[f"{name} of {system}"])
            for system in names
        )

    return SystemsParameters(
        names=tuple(names),
        means=tuple(map(float, means)),
        sd_worker=float(deviations["sd_worker"]),
        sd_worker_system=own("sd_worker_system"),
        sd_item=float(deviations["sd_item"]),
        sd_item_system=own("sd_item_system"),
        sd_residual=float(deviations["sd_residual"]),
        sd_document=float(deviations.get("sd_document", 0.0)),
        sd_document_system=own("sd_document_system") if "sd_document" in deviations else (),
    )


def systems_of_pairs(
    names: Sequence[str],
    means: Sequence[float],
    pairs: Mapping[tuple[int, int], Parameters],
    *,
    variances: SystemVariances,
) -> tuple[SystemsParameters, tuple[str, ...]]:
    """Parameters of all systems from those of every two, and the names of the standard deviations that are zero.

    The variance of a level's own difference between two systems is the sum of what the level has about each: least
    squares over the pairs, none below 0. What systems share and the residual are averages over the pairs.
    """
    from scipy.optimize import nnls

    K, places = len(names), np.array(list(pairs))
    which = np.zeros((len(places), K))
    which[np.arange(len(places)), places[:, 0]] = which[np.arange(len(places)), places[:, 1]] = 1.0
    deviations: dict[str, float] = {}
    for factor in ("worker", "item", "document"):
        slope, level = (
            np.array([getattr(pair, f"sd_{factor}_{part}") ** 2 for pair in pairs.values()])
            for part in ("slope", "intercept")
        )
        own = np.full(K, slope.mean() / 2)
        if variances == "own" and K > 2:
            own = nnls(which, slope)[0]
        shared = max(0.0, float((level - which @ own / 4).mean()))
        deviations[f"sd_{factor}"] = math.sqrt(shared)
        deviations |= {
            f"sd_{factor}_system of {name}": math.sqrt(float(v)) for name, v in zip(names, own, strict=True)
        }
    deviations["sd_residual"] = math.sqrt(np.mean([pair.sd_residual**2 for pair in pairs.values()]))
    boundary = tuple(name for name, deviation in deviations.items() if deviation == 0)
    return systems_of_deviations(names, means, deviations), boundary


def for_systems(parameters: SystemsParameters, names: Sequence[str]) -> SystemsParameters:
    """The same for systems of these names: those that were fitted keep what is theirs, and where others are among
    them all get the average variances and means; a note says so."""
    known = {name: place for place, name in enumerate(parameters.names)}
    if set(names) <= set(known):
        places = [known[name] for name in names]
        return replace(
            parameters,
            names=tuple(names),
            means=tuple(parameters.means[place] for place in places),
            sd_worker_system=tuple(parameters.sd_worker_system[place] for place in places),
            sd_item_system=tuple(parameters.sd_item_system[place] for place in places),
            sd_document_system=tuple(parameters.sd_document_system[place] for place in places),
            effect=None,
        )
    note = (
        f"The systems are not the {parameters.n_systems} that were fitted: each is taken to vary as these do on "
        "average."
    )
    count = len(names)
    return replace(
        parameters,
        names=tuple(names),
        means=count * (math.fsum(parameters.means) / parameters.n_systems,),
        sd_worker_system=count * (_root_mean_square(parameters.sd_worker_system),),
        sd_item_system=count * (_root_mean_square(parameters.sd_item_system),),
        sd_document_system=count * (_root_mean_square(parameters.sd_document_system),),
        effect=None,
        notes=(*parameters.notes, note),
    )


def _root_mean_square(values: Sequence[float]) -> float:
    return math.sqrt(math.fsum(value**2 for value in values) / len(values))

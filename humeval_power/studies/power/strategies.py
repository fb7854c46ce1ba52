"""How each study is computed: two systems by closed forms and the fits of one difference, more of them by the law
and the fits of all their comparisons. Whoever asks need not know which.

The power surface: settings x workers x items x effects, cells listed first and then run.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from humeval_power.choices import (
    DEFAULT_SEED,
    DEFAULT_SIMULATIONS,
    DesignKind,
    Exclusion,
    Method,
    Response,
    SizeSought,
)
from humeval_power.designs import Design
from humeval_power.differences import Difference
from humeval_power.errors import DesignError, InputError
from humeval_power.parameters import Parameters
from humeval_power.rules import DEFAULT_RULE, DecisionRule
from humeval_power.scales import RatingScale
from humeval_power.simulation.quality_control import QualityControl
from humeval_power.simulation.study import NO_LOSSES, Losses, SimulatedRatings, replicate_generator, respond
from humeval_power.simulation.study import simulate as simulate_two
from humeval_power.studies.power.analytic import HalfwayPower, halfway_power
from humeval_power.studies.power.analytic import detectable as detectable_by_formula
from humeval_power.studies.power.estimate import PowerEstimate, Progress, estimate_powers, part_of
from humeval_power.studies.power.formula import AnalyticPower, EffectPrecision, effect_precision
from humeval_power.studies.power.required import RequiredSize, build_design, counts_precision, required_size
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.studies.power.systems_goals import SystemsPower
from humeval_power.studies.power.systems_study import SystemsStudy
from humeval_power.studies.power.workload import NOTHING, Ahead, Workload, measured_workload
from humeval_power.study_counts import NO_DOCUMENTS, Documents, StudyCounts

if TYPE_CHECKING:
    from humeval_power.studies.power.analytic import DetectableEffect
    from humeval_power.studies.power.systems_study import SimulatedDifference


AnyStudy = RatingStudy | SystemsStudy


@dataclass(frozen=True, slots=True, eq=False)
class Cell:
    """One point of the surface: a study, and the name of the setting its parameters come from."""

    setting: str
    study: AnyStudy


@dataclass(frozen=True, slots=True)
class CellResult:
    """A cell and its simulated power; of several systems also that by formula, where one describes them."""

    cell: Cell
    estimate: PowerEstimate | SystemsPower
    analytic: SystemsPower | None = None

    def as_dict(self) -> dict[str, object]:
        """The row of the table, with documents where there are any; the effect is B - A on [0, 1]."""
        design, estimate = self.cell.study.design, self.estimate
        low, high = estimate.interval
        documents = {"documents": design.n_documents} if design.n_documents else {}
        return {
            "setting": self.cell.setting,
            "workers": design.n_workers,
            "items": design.n_items,
            **documents,
            "ratings_per_item": design.ratings_per_item,
            "effect": self.cell.study.true_effect,
            "power": estimate.power,
            "power_low": low,
            "power_high": high,
            "type_m": estimate.type_m,
            "type_s": estimate.type_s,
            "n_simulations": estimate.n_simulations,
            "n_failed": estimate.n_failed,
            "boundary_rate": estimate.boundary_rate,
        }


def list_cells(
    settings: Mapping[str, Parameters],
    *,
    workers: Sequence[int],
    items: Sequence[int],
    effects: Sequence[float],
    ratings_per_item: int | None = None,
    paired: bool = True,
    kind: DesignKind | None = None,
    max_ratings_per_worker: int | None = None,
    rule: DecisionRule = DEFAULT_RULE,
    response: Response = "gaussian",
    points: int | None = None,
    losses: Losses = NO_LOSSES,
    exclusion: Exclusion = "none",
    documents: Documents = NO_DOCUMENTS,
) -> list[Cell]:
    """Every combination, in the order of the arguments; effects are differences B - A on [0, 1].

    Raises
    ------
    DesignError
        All designs of the grid that cannot be built, at once.
    """
    designs, problems = [], []
    for n_workers in workers:
        for n_items in items:
            try:
                designs.append(
                    build_design(
                        n_workers,
                        n_items,
                        ratings_per_item,
                        paired=paired,
                        kind=kind,
                        max_ratings_per_worker=max_ratings_per_worker,
                        documents=documents,
                    )
                )
            except DesignError as error:
                problems += list(error.problems)
    if problems:
        raise DesignError(list(dict.fromkeys(problems)))
    return [
        Cell(
            name,
            RatingStudy(
                parameters.with_difference(effect),
                design,
                rule=rule,
                response=response,
                points=points,
                losses=losses,
                exclusion=exclusion,
            ),
        )
        for name, parameters in settings.items()
        for design in designs
        for effect in effects
    ]


def run_surface(
    cells: Sequence[Cell],
    *,
    n_simulations: int = DEFAULT_SIMULATIONS,
    seed: int = DEFAULT_SEED,
    precision: float | None = None,
    n_jobs: int = 1,
    progress: Progress | None = None,
) -> list[CellResult]:
    """Simulate every cell, with common random numbers: each uses the same children of the seed.

    Cells of Gaussian ratings that differ in their effect alone share one simulation, because the
    effect then only shifts the estimates; their curves are monotone by construction.
    """
    if not cells:
        raise InputError("The surface has no cells: give workers, items and effects.")
    groups = [
        group
        for group in sharing([cell.study for cell in cells])
        if isinstance(cells[group[0]].study, RatingStudy)
    ]
    estimates = estimate_powers(
        [[_of_two(cells[index]) for index in group] for group in groups],
        n_simulations=n_simulations,
        seed=seed,
        precision=precision,
        n_jobs=n_jobs,
        progress=progress,
    )
    results = {
        index: CellResult(cells[index], estimate)
        for group, values in zip(groups, estimates, strict=True)
        for index, estimate in zip(group, values, strict=True)
    }
    several = [index for index in range(len(cells)) if index not in results]
    for done, index in enumerate(several):
        study = cells[index].study
        assert isinstance(study, SystemsStudy)
        simulated = study.simulated(
            n_simulations=n_simulations,
            precision=precision,
            seed=seed,
            n_jobs=n_jobs,
            progress=part_of(progress, done, len(several)),
        )
        by_formula = study.by_formula() if study.has_formula else None
        results[index] = CellResult(cells[index], simulated, by_formula)
    return [results[index] for index in range(len(cells))]


def _of_two(cell: Cell) -> RatingStudy:
    assert isinstance(cell.study, RatingStudy)
    return cell.study


def sharing(studies: Sequence[AnyStudy]) -> Iterable[list[int]]:
    """Indices of studies that share their replicates, those of the first."""
    shared: dict[tuple[object, ...], list[int]] = {}
    for index, study in enumerate(studies):
        if isinstance(study, SystemsStudy):
            shared[(index,)] = [index]
            continue
        without_effect = study.parameters.with_difference(0.0)
        key: tuple[object, ...] = (without_effect, id(study.design), study.rule)
        if not study.shifts:
            key = (*key, index)
        shared.setdefault(key, []).append(index)
    return shared.values()


NO_FORMULA = "No formula describes these ratings and tests: simulation only."
AS_PLANNED = "The formula describes the study as planned; the simulation has the losses."


def at_answer(
    study: AnyStudy, analytic: float | None, simulated: DetectableEffect | SimulatedDifference | None
) -> AnyStudy:
    """Several systems at the difference that was found, if there is one, and where their other goals lie then."""
    result = analytic if simulated is None else simulated.effect
    if isinstance(study, SystemsStudy) and result is not None and math.isfinite(result):
        return study.with_effect(result)
    return study


@dataclass(frozen=True, slots=True)
class TwoSystems:
    """Two systems, a true difference between them and their test: a study that has no size yet."""

    parameters: Parameters
    effect: float
    rule: DecisionRule


def one_of_two(study: AnyStudy) -> AnyStudy:
    """Two systems among several are a study of two: its one test is every goal of them. Raises InputError:
    the goal 'first', which is no test."""
    if isinstance(study, RatingStudy) or study.parameters.n_systems > 2:
        return study
    if study.goal == "first":
        raise InputError(
            "The goal 'first' is no test: which of two systems has the higher mean. Ask for their one test."
        )
    names = study.parameters.names
    first, second = study.family.pairs(names)[0]
    places = names.index(first), names.index(second)
    if places == (1, 0):
        raise InputError(f"The baseline comes first of two systems: name them {first}, {second}.")
    return RatingStudy(
        study.parameters.pair(*places),
        study.design,
        rule=study.rule,
        response=study.response,
        points=study.points,
        losses=study.losses,
        exclusion=study.exclusion,
    )


def formula_power(study: AnyStudy, method: Method) -> tuple[AnalyticPower | SystemsPower | None, list[str]]:
    """The power by formula, if it is asked for and one describes the study, and remarks."""
    if method == "simulate":
        return None, []
    if not study.has_formula:
        return None, [NO_FORMULA]
    return study.by_formula(), [] if study.losses == NO_LOSSES else [AS_PLANNED]


def difference(study: AnyStudy, scale: RatingScale | None) -> Difference:
    """The true difference of a study; of several systems that of any two by which their means are stated."""
    return difference_of(study, study.true_effect, scale)


def difference_of(
    about: AnyStudy | Parameters, effect: float | None, scale: RatingScale | None
) -> Difference:
    """The same where it is said; of several systems their own where it is not."""
    if isinstance(about, SystemsStudy):
        return Difference(about.effect if effect is None else effect, scale, systems=None)
    if effect is None:
        raise InputError("Give the true difference B - A: effect.")
    return Difference(effect, scale)


def halfway(study: AnyStudy) -> RatingStudy | None:
    """The study with a true difference halfway to its margin, which is where two systems are looked at too."""
    between = study.rule.halfway
    if isinstance(study, SystemsStudy) or between is None or between == study.true_effect:
        return None
    return study.with_effect(between)


def halfway_power_of(
    study: AnyStudy,
    analytic: AnalyticPower | SystemsPower | None,
    simulated: Sequence[PowerEstimate | SystemsPower],
) -> HalfwayPower | None:
    """The power there, by the precision of the study and of simulated studies, if there are any."""
    precision = analytic.precision if isinstance(analytic, AnalyticPower) else None
    drawn_there = [one for one in simulated if isinstance(one, PowerEstimate)]
    return halfway_power(study.rule, precision=precision, simulated=drawn_there[0] if drawn_there else None)


def waits_for_kernels(study: AnyStudy) -> bool:
    """Whether its simulation, and not its formula, needs what is compiled."""
    if isinstance(study, SystemsStudy):
        return False
    return not (study.replication.closed_form and study.rule.estimator == "reml")


def detectable(
    study: AnyStudy, power: float, method: Method
) -> tuple[float | None, EffectPrecision | None]:
    """The smallest difference by formula, or margin of a rule that has one, and the precision that two systems are
    compared with; infinite where no difference on [0, 1] is enough, None where no formula describes the study."""
    if method == "simulate":
        return None, None
    if isinstance(study, SystemsStudy):
        from humeval_power.studies.power.systems_study import detectable_difference

        return detectable_difference(study, power=power) if study.has_formula else None, None
    rule, categories = study.rule, study.parameters.latent is not None
    if rule.is_simulated or not (study.shifts or categories):
        return None, None
    precision = effect_precision(study.parameters, study.design)
    result = detectable_by_formula(precision, effect=study.true_effect, power=power, rule=rule)
    if categories and rule.margin is None:  # there the variances depend on the effect
        at = study.with_effect(min(result, study.largest_effect))
        precision = effect_precision(at.parameters, study.design)
        result = detectable_by_formula(precision, effect=result, power=power, rule=rule)
    return result, precision


def simulated_detectable(
    study: AnyStudy,
    *,
    power: float,
    guess: float | None,
    n_simulations: int,
    seed: int,
    n_jobs: int,
    progress: Progress,
) -> DetectableEffect | SimulatedDifference:
    """The same by simulation; of several systems from the answer by formula on."""
    runs: dict[str, Any] = {"n_simulations": n_simulations, "seed": seed, "n_jobs": n_jobs}
    if isinstance(study, SystemsStudy):
        from humeval_power.studies.power.systems_study import simulated_difference

        return simulated_difference(study, power=power, guess=guess, progress=progress, **runs)
    from humeval_power.studies.power.analytic import simulated_detectable_effect, simulated_margin

    find = simulated_detectable_effect if study.rule.margin is None else simulated_margin
    return find(study, power=power, **runs)


def at_effect(about: Parameters | SystemsStudy, effect: float) -> Parameters | SystemsStudy:
    """Several systems at another difference of their pattern; two have theirs beside their parameters."""
    return about.with_effect(effect) if isinstance(about, SystemsStudy) else about


def sized(about: Parameters | SystemsStudy, effect: float, rule: DecisionRule) -> TwoSystems | SystemsStudy:
    """What a size is sought for."""
    if isinstance(about, Parameters):
        return TwoSystems(about, effect, rule)
    if rule not in (DEFAULT_RULE, about.rule):
        raise InputError("Several systems are tested by the rule of their study: give it there.")
    return about


def required(
    about: TwoSystems | SystemsStudy,
    sought: SizeSought,
    *,
    workers: int | None,
    items: int | None,
    ratings_per_item: int | None,
    paired: bool,
    documents: Documents,
    n_simulations: int | None,
    ahead: Ahead | None,
    scale: RatingScale | None,
    **how: Any,
) -> RequiredSize:
    """The fewest workers, items, documents or ratings per item that reach the target.

    how : `power`, `proves`, `seed`, `n_jobs`, `progress`.
    """
    if isinstance(about, TwoSystems):
        return required_size(
            about.parameters.with_difference(about.effect),
            sought,
            workers=workers,
            items=items,
            ratings_per_item=ratings_per_item,
            paired=paired,
            documents=documents,
            rule=about.rule,
            n_simulations=n_simulations,
            ahead=ahead,
            scale=scale,
            **how,
        )
    from humeval_power.studies.power.systems_study import required_systems_size

    by_document = sought == "documents" and documents.items_each is not None
    if by_document and items is not None:
        raise InputError("Find documents of so many items each, or that share the items: not both.")
    given = {"workers": workers, "items": items}
    missing = [
        name
        for name, value in given.items()
        if name != sought and value is None and not (name == "items" and by_document)
    ]
    if missing:
        raise InputError(f"Give the number of {' and of '.join(missing)}: it is not what is sought.")
    if ratings_per_item is None and not paired:
        raise InputError("An unpaired design needs a number of ratings per item: --ratings-per-item.")
    # with more workers than ratings of an item not every worker rates every item
    m = workers or (2 if ratings_per_item is None else ratings_per_item + 1)
    counts = StudyCounts(m, items or 2, ratings_per_item or m, paired, n_systems=about.parameters.n_systems)
    return required_systems_size(
        about,
        sought,
        counts,
        documents=documents,
        n_simulations=n_simulations or DEFAULT_SIMULATIONS,
        **how,
    )


def halfway_of_size(about: TwoSystems | SystemsStudy, size: RequiredSize) -> HalfwayPower | None:
    """The power of two systems of that size, halfway to the margin."""
    if isinstance(about, SystemsStudy) or size.counts is None:
        return None
    return halfway_power(about.rule, precision=counts_precision(about.parameters, size.counts))


def study_to_draw(
    about: Parameters | SystemsStudy,
    design: Design | None,
    effect: float | Difference | None,
    scale: RatingScale | None,
    *,
    response: Response,
    points: int | None,
    losses: Losses | None,
    exclusion: Exclusion,
) -> tuple[AnyStudy, Difference]:
    """A study to draw ratings of, and its true difference. Raises InputError: parameters of two systems
    without a design."""
    if isinstance(about, SystemsStudy):
        study = one_of_two(about)
        return study, effect if isinstance(effect, Difference) else difference(study, scale)
    if design is None:
        raise InputError("Say who rates what: the design.")
    value = about.difference if effect is None else effect
    said = value if isinstance(value, Difference) else Difference(value, scale)
    parameters = about if effect is None else about.with_difference(said.value)
    lost = NO_LOSSES if losses is None else losses
    study = RatingStudy(
        parameters, design, response=response, points=points, losses=lost, exclusion=exclusion
    )
    return study, said


def drawn(study: AnyStudy, *, seed: int, replicate: int = 0) -> SimulatedRatings:
    """The ratings of one study: a replicate of the seed."""
    if isinstance(study, RatingStudy):
        assert not isinstance(study.exclusion, QualityControl)
        return simulate_two(
            study.parameters,
            study.design,
            seed=seed,
            response=study.response,
            points=study.points,
            losses=None if study.losses == NO_LOSSES and study.exclusion == "none" else study.losses,
            exclusion=study.exclusion,
            replicate=replicate,
        )
    from humeval_power.simulation.rehearsal import draw_system_ratings

    rows = study.design.assignment
    if study.losses != NO_LOSSES:
        back = study.replication.collected(seed, replicate)
        left = np.flatnonzero(back.kept)
        document = None if rows.document is None else rows.document[left]
        return SimulatedRatings(
            rows.worker[left], rows.item[left], rows.system[left], back.rating[left], document
        )
    latent = draw_system_ratings(study.parameters, study.design, replicate_generator(seed, replicate))[0]
    rating = respond(latent, study.response, points=study.points)
    return SimulatedRatings(rows.worker, rows.item, rows.system, rating, rows.document)


def workload(studies: Sequence[AnyStudy], *, n_simulations: int, n_jobs: int) -> Workload:
    """How long it takes to simulate them, about: those that share their replicates once."""
    drawn_by = [studies[places[0]] for places in sharing(studies)]
    pairs = [study for study in drawn_by if isinstance(study, RatingStudy)]
    work = measured_workload(pairs, n_simulations=n_simulations, n_jobs=n_jobs) if pairs else NOTHING
    for study in drawn_by:
        if isinstance(study, SystemsStudy):
            work += study.workload(n_simulations=n_simulations, n_jobs=n_jobs)
    return work

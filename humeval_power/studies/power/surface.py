"""The power surface: settings x workers x items x effects, cells listed first and then run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from humeval_power.choices import DEFAULT_SEED, DEFAULT_SIMULATIONS, DesignKind, Exclusion, Response
from humeval_power.errors import DesignError, InputError
from humeval_power.parameters import Parameters
from humeval_power.rules import DEFAULT_RULE, DecisionRule
from humeval_power.simulation.losses import NO_LOSSES, Losses
from humeval_power.studies.power.estimate import PowerEstimate, Progress, estimate_powers, part_of
from humeval_power.studies.power.required import build_design
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.studies.power.systems_goals import SystemsPower
from humeval_power.studies.power.systems_study import SystemsStudy
from humeval_power.study_counts import NO_DOCUMENTS, Documents

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

"""Power, smallest difference, required size and surface of studies of several systems; the ratings of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from humeval_power.api.progress import in_steps, progress
from humeval_power.choices import DEFAULT_SEED, DEFAULT_SIMULATIONS, Method, SearchMethod
from humeval_power.simulation.losses import NO_LOSSES
from humeval_power.study_counts import NO_DOCUMENTS, Documents
from humeval_power.sweep.executors import on_executor

if TYPE_CHECKING:
    from humeval_power.planning.study.systems_questions import SystemsSought
    from humeval_power.planning.study.systems_study import SystemsStudy
    from humeval_power.reporting.result import Provenance
    from humeval_power.reporting.study.systems_answers import SystemsDetectable, SystemsSizeResult
    from humeval_power.reporting.study.systems_power import SystemsPowerResult
    from humeval_power.reporting.study.systems_surface import SimulatedSystems, SystemsSurface
    from humeval_power.scales import RatingScale
    from humeval_power.study_counts import StudyCounts
    from humeval_power.sweep.executors import AnyExecutor

AS_PLANNED = (
    "The formula is of the study as planned: it leaves nobody out, loses nothing and takes all for careful."
)
NO_FORMULA = "No formula describes these ratings and tests: simulation only."


@on_executor
def systems_power(
    study: SystemsStudy,
    *,
    method: Method = "both",
    n_simulations: int = DEFAULT_SIMULATIONS,
    half_width: float | None = None,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
    executor: AnyExecutor | None = None,
    strict: bool = False,
) -> SystemsPowerResult:
    """How often a study of several systems reaches each goal.

    Parameters
    ----------
    method : by formula at once, by simulation with the real assignment, or both beside each other.
    half_width : if given, simulate until the half-width of the Monte Carlo interval is at most this.
    strict : whether more than 1 % of failed fits, and not 20 %, miss the target.

    Returns
    -------
    SystemsPowerResult
        `analytic` and `simulated`, a `SystemsPower` each with the share of every goal; None where it was not
        found that way.

    Raises
    ------
    InputError
        A goal that cannot be reached under the means, a number of simulations below 1.
    """
    from humeval_power.reporting.study.systems_power import SystemsPowerResult

    analytic = study.by_formula() if method != "simulate" and study.has_formula else None
    notes: tuple[str, ...] = (NO_FORMULA,) if method != "simulate" and analytic is None else ()
    if analytic is not None and study.losses != NO_LOSSES:
        notes = (AS_PLANNED,)
    simulated = None
    if method != "analytic" or analytic is None:
        with progress("Simulating", total=n_simulations) as advance:
            simulated = study.simulated(
                n_simulations=n_simulations,
                precision=half_width,
                seed=seed,
                n_jobs=n_jobs,
                progress=in_steps(advance),
            )
    return SystemsPowerResult(
        study=study,
        analytic=analytic,
        simulated=simulated,
        strict=strict,
        notes=notes,
        provenance=_drawn(simulated is not None, seed),
    )


@on_executor
def systems_detectable(
    study: SystemsStudy,
    *,
    power: float = 0.8,
    method: Method = "both",
    n_simulations: int = DEFAULT_SIMULATIONS,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
    executor: AnyExecutor | None = None,
    scale: RatingScale | None = None,
) -> SystemsDetectable:
    """The smallest difference with which a study of several systems reaches its goal with the target power, all of
    its true differences in proportion.

    Parameters
    ----------
    method : as in `systems_power`.

    Returns
    -------
    SystemsDetectable
        `analytic` and `simulated.effect`, on [0, 1]; `study` is the study there.

    Raises
    ------
    InputError
        A rule with a margin, a target that is no goal, means that are all equal.
    """
    import math

    from humeval_power.planning.study.systems_questions import detectable_difference, simulated_difference
    from humeval_power.reporting.study.systems_answers import SystemsDetectable

    analytic = None
    if method != "simulate" and study.has_formula:
        analytic = detectable_difference(study, power=power)
    simulate = method != "analytic" or analytic is None
    simulated = None
    if simulate:
        with progress("Simulating", total=100) as advance:
            simulated = simulated_difference(
                study,
                power=power,
                guess=analytic,
                n_simulations=n_simulations,
                seed=seed,
                n_jobs=n_jobs,
                progress=in_steps(advance),
            )
    at = simulated.effect if simulated is not None else analytic
    return SystemsDetectable(
        study=study.with_effect(at) if at is not None and math.isfinite(at) else study,
        target=power,
        analytic=analytic,
        simulated=simulated,
        was_simulated=simulate,
        scale=scale,
        provenance=_drawn(simulate, seed),
    )


@on_executor
def systems_size(
    study: SystemsStudy,
    sought: SystemsSought,
    counts: StudyCounts,
    *,
    documents: Documents = NO_DOCUMENTS,
    power: float = 0.8,
    method: SearchMethod = "both",
    n_simulations: int = DEFAULT_SIMULATIONS,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
    executor: AnyExecutor | None = None,
) -> SystemsSizeResult:
    """The fewest workers, items, documents or ratings per item with which a study of several systems reaches its
    goal.

    Parameters
    ----------
    study : systems, tests and goal; its design is not used.
    counts : the sizes that are given, and anything for the one that is sought; with as many ratings per item as
        workers every worker rates every item.
    documents : that the items come out of; documents that are sought have so many items each, or share the items.
    method : "both" proves by simulation what the formula finds; "analytic" does not.

    Returns
    -------
    SystemsSizeResult
        `found.counts` is None, with a reason, where no number will do.

    Raises
    ------
    InputError
        A target that is no goal, or tests that no formula describes.
    """
    from humeval_power.planning.study.designs_of import design_of
    from humeval_power.planning.study.systems_questions import required_systems_size
    from humeval_power.reporting.study.systems_answers import SystemsSizeResult

    with progress("Proving", total=100) as advance:
        found = required_systems_size(
            study,
            sought,
            counts,
            documents=documents,
            power=power,
            proves=method == "both",
            n_simulations=n_simulations,
            seed=seed,
            n_jobs=n_jobs,
            progress=in_steps(advance),
        )
    answer = study if found.counts is None else replace(study, design=design_of(found.counts))
    return SystemsSizeResult(
        study=answer, found=found, provenance=_drawn(found.simulated is not None, seed)
    )


@on_executor
def systems_surface(
    studies: Sequence[SystemsStudy],
    *,
    n_simulations: int = DEFAULT_SIMULATIONS,
    half_width: float | None = None,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
    executor: AnyExecutor | None = None,
) -> SystemsSurface:
    """Power of many studies of several systems with the same random numbers.

    Parameters
    ----------
    half_width : as in `systems_power`, of each of them.

    Returns
    -------
    SystemsSurface
        `rows`, one for each study in order; `to_frame` has them as a table.

    Raises
    ------
    InputError
        No studies, a goal that cannot be reached, or a number of simulations below 1.
    """
    from humeval_power.errors import InputError
    from humeval_power.reporting.study.systems_surface import SystemsSurface

    if not studies:
        raise InputError("There are no studies to simulate.")
    simulated = []
    with progress("Simulating", total=len(studies)) as advance:
        for study in studies:
            found = study.simulated(
                n_simulations=n_simulations, precision=half_width, seed=seed, n_jobs=n_jobs
            )
            simulated.append(found)
            advance(1)
    return SystemsSurface(
        studies=tuple(studies),
        simulated=tuple(simulated),
        analytic=tuple(study.by_formula() if study.has_formula else None for study in studies),
        provenance=_drawn(True, seed),
    )


def simulate_ratings(
    study: SystemsStudy, *, seed: int = DEFAULT_SEED, scale: RatingScale | None = None
) -> SimulatedSystems:
    """Draw the ratings of one study of several systems; the same seed gives the same ratings.

    Returns
    -------
    SimulatedSystems
        `rating` on [0, 1]; `to_frame` has the table, on `scale`.
    """
    import numpy as np

    from humeval_power.reporting.study.systems_surface import SimulatedSystems
    from humeval_power.simulation.study import replicate_generator, respond
    from humeval_power.simulation.systems import draw_system_ratings

    if study.losses != NO_LOSSES:
        back = study.replication.collected(seed, 0)
        left = np.flatnonzero(back.kept)
        return SimulatedSystems(
            study=study, rating=back.rating[left], rows=left, scale=scale, provenance=_drawn(True, seed)
        )
    latent = draw_system_ratings(study.parameters, study.design, replicate_generator(seed, 0))[0]
    rating = respond(latent, study.response, points=study.points)
    return SimulatedSystems(study=study, rating=rating, scale=scale, provenance=_drawn(True, seed))


def _drawn(drawn: bool, seed: int) -> Provenance:
    """Where the numbers come from: the seed, where anything was drawn."""
    from humeval_power.reporting.result import UNKNOWN, Provenance

    return Provenance(seed=seed) if drawn else UNKNOWN

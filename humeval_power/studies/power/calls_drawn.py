"""Ratings of one study drawn from its model, and how often tests find what is not there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from humeval_power.choices import DEFAULT_SEED
from humeval_power.errors import InputError
from humeval_power.rules import DEFAULT_FAMILY, DEFAULT_RULE, ComparisonFamily, DecisionRule
from humeval_power.saying.progress import in_steps, progress
from humeval_power.sweep.executors import on_executor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from humeval_power.choices import Exclusion, Response
    from humeval_power.designs import Design
    from humeval_power.differences import Difference
    from humeval_power.parameters import Parameters
    from humeval_power.scales import RatingScale
    from humeval_power.simulation.study import Losses
    from humeval_power.studies.power.result_calibration import CalibrationResult
    from humeval_power.studies.power.result_ratings import SimulatedStudy
    from humeval_power.studies.power.systems_study import SystemsStudy
    from humeval_power.sweep.executors import AnyExecutor
    from humeval_power.systems import SystemsParameters


def simulate(
    about: Parameters | SystemsStudy,
    design: Design | None = None,
    *,
    effect: float | Difference | None = None,
    scale: RatingScale | None = None,
    seed: int = DEFAULT_SEED,
    response: Response = "gaussian",
    points: int | None = None,
    losses: Losses | None = None,
    exclusion: Exclusion = "none",
    criteria: Sequence[str] = (),
    criterion: str | None = None,
) -> SimulatedStudy:
    """Draw the ratings of one study; the same seed gives the same ratings.

    Parameters
    ----------
    about, design : the model of two systems, and who rates what; or a study of several, which says all but the
        scale and the seed.
    effect : the true difference B - A on [0, 1]; None for that of the parameters.
    scale : on which the ratings are given; None for [0, 1].
    response : 'gaussian' is the model itself, 'clipped' cuts ratings to [0, 1], 'likert' rounds them to
        `points` values.
    losses, exclusion : ratings that are lost or careless, and workers left out before the fit.
    criteria : names of those that everything is rated on; each has draws of its own from the same model.
    criterion : the one of them that is wanted, with the ratings that it has among all.

    Returns
    -------
    SimulatedStudy
        `ratings` holds codes and ratings on [0, 1]; `to_frame` is the table worker, item, system, rating
        on the scale.

    Raises
    ------
    InputError
        A Likert response without its points, an effect beyond [-1, 1], or a criterion that is none of them.
    """
    from humeval_power.saying.result import Provenance
    from humeval_power.simulation.study import SimulatedRatings
    from humeval_power.studies.power import strategies
    from humeval_power.studies.power.result_ratings import SimulatedStudy

    study, said = strategies.study_to_draw(
        about, design, effect, scale, response=response, points=points, losses=losses, exclusion=exclusion
    )
    named = tuple(criteria) or (() if criterion is None else (criterion,))
    if criterion is not None and criterion not in named:
        raise InputError(f"criterion: {criterion!r} is none of the criteria, {', '.join(named)}.")
    shown = named if criterion is None else (criterion,)
    places = [named.index(name) for name in shown] or [0]
    drawn = [strategies.drawn(study, seed=seed, replicate=place) for place in places]
    return SimulatedStudy(
        ratings=SimulatedRatings.on_criteria(drawn) if shown else drawn[0],
        study=study,
        criteria=shown,
        effect=said,
        scale=scale,
        provenance=Provenance(seed=seed),
    )


@on_executor
def calibrate(
    parameters: Parameters | SystemsParameters | Mapping[str, Parameters | SystemsParameters],
    design: Design,
    *,
    p: float | None = None,
    rule: DecisionRule = DEFAULT_RULE,
    family: ComparisonFamily = DEFAULT_FAMILY,
    setting: str = "these parameters",
    scale: RatingScale | None = None,
    n_simulations: int | None = None,
    seed: int = DEFAULT_SEED,
    response: Response = "gaussian",
    points: int | None = None,
    n_jobs: int = 1,
    executor: AnyExecutor | None = None,
) -> CalibrationResult:
    """See how often a test, and those that people commonly use, find an effect where there is none.

    Parameters
    ----------
    parameters, design : of the studies; their true difference is 0, or lies at the rule's margin. Several
        parameters by name are taken one after the other. Of several systems, whose means are all alike, it is
        counted how often any comparison of the family finds a difference.
    p : a p-value that was found or is reported: how many of the studies give that or less, and is it credible at
        the rule's alpha? None for how many are significant at that alpha.
    rule : the planned test; its alpha, alternative and margin hold for all tests.
    family : of several systems, the comparisons, their model and their correction.
    setting : what single parameters are called.
    scale : on which a margin is told too.
    n_simulations : studies; None for 10,000, or 2,000 of ratings in categories and of several systems.
    response, points : as of `simulate`.

    Returns
    -------
    CalibrationResult
        In `settings` a `Calibration` for each test under each of the parameters; `to_frame` has a row for each.
        Rates are shares.

    Raises
    ------
    InputError
        A one-sided rule with alpha above 0.5, a rule that simulates, no parameters, a p that is not between 0
        and 1 or goes with a margin, or a margin or a p of several systems.
    """
    from humeval_power.parameters import Parameters
    from humeval_power.saying.result import Provenance
    from humeval_power.studies.power.calibration import SettingCalibration, usual_studies
    from humeval_power.studies.power.calibration import calibrate as calibrated
    from humeval_power.studies.power.result_calibration import CalibrationResult
    from humeval_power.systems import SystemsParameters

    if p is not None and not 0 < p < 1:
        raise InputError(f"A p-value to be judged must lie between 0 and 1; got {p:g}.")
    if p is not None and rule.margin is not None:
        raise InputError("A p is judged for a test of a difference: leave out the margin, or p.")
    named = {setting: parameters} if isinstance(parameters, Parameters | SystemsParameters) else parameters
    if not named:
        raise InputError("There are no parameters to simulate studies with: give one set or more.")
    named = {name: _of_two_or_more(each) for name, each in named.items()}
    if p is not None and any(isinstance(each, SystemsParameters) for each in named.values()):
        raise InputError(
            "A p is judged for one test: among several systems it is compared with what its correction leaves of "
            "alpha. Leave out p, or judge it for the two systems that it is of."
        )
    values = []
    for name, each in named.items():
        total = usual_studies(each) if n_simulations is None else n_simulations
        with progress("Simulating" if len(named) == 1 else f"Simulating {name}", total=total) as advance:
            results = calibrated(
                each,
                design,
                rule=rule if p is None else replace(rule, alpha=p),
                family=family,
                n_simulations=total,
                seed=seed,
                response=response,
                points=points,
                n_jobs=n_jobs,
                progress=in_steps(advance),
            )
        values.append(SettingCalibration(name, each, tuple(results)))
    return CalibrationResult(
        settings=tuple(values),
        design=design,
        response=response,
        scale=scale,
        family=family if isinstance(each, SystemsParameters) else None,
        alpha=rule.alpha,
        p=p,
        provenance=Provenance(seed=seed),
    )


def _of_two_or_more(parameters: Parameters | SystemsParameters) -> Parameters | SystemsParameters:
    """Those of two systems as such; more with all means alike."""
    from humeval_power.parameters import Parameters
    from humeval_power.studies.power.calibration import alike

    if isinstance(parameters, Parameters):
        return parameters
    return parameters.pair(0, 1) if parameters.n_systems == 2 else alike(parameters)

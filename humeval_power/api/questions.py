"""The four questions that every scenario answers: power, detectable effect, required size, surface."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from humeval_power.api.progress import in_steps, progress
from humeval_power.choices import DEFAULT_SEED, DEFAULT_SIMULATIONS, HIGHEST, Method
from humeval_power.errors import InputError
from humeval_power.sweep.executors import on_executor

if TYPE_CHECKING:
    from humeval_power.planning.questions import By
    from humeval_power.reporting.drawn import Along, Drawn
    from humeval_power.reporting.questions.results import (
        DetectableResult,
        PowerResult,
        RequiredResult,
    )
    from humeval_power.reporting.questions.surface import SurfaceResult
    from humeval_power.reporting.questions.wording import Wording
    from humeval_power.reporting.result import Provenance
    from humeval_power.reporting.study.detectable import StudyDetectable
    from humeval_power.reporting.study.power import StudyPower
    from humeval_power.scenarios.contract import Scenario
    from humeval_power.sweep.executors import AnyExecutor


@on_executor
def power(
    scenario: Scenario,
    *,
    method: Method = "both",
    n_simulations: int = DEFAULT_SIMULATIONS,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
    executor: AnyExecutor | None = None,
    half_width: float | None = None,
    wording: Wording | None = None,
    given: Mapping[str, object] | None = None,
) -> PowerResult | StudyPower:
    """How often a scenario's true effect is found.

    Parameters
    ----------
    scenario : anything that keeps the contract of `humeval_power.scenarios.contract`.
    method : computed at once ('analytic'), by simulation ('simulate'), or both; what cannot be computed is
        simulated.
    half_width : if given, simulate until the half-width of the Monte Carlo interval is at most this.
    wording : how the scenario is put into words, and its name in records; None for the words that there are.
    given : what was said of the scenario, for the record.

    Returns
    -------
    PowerResult or StudyPower
        Of a rating study `analytic` and `simulated`, else `answer.computed` and `answer.simulated`; each is
        None where it was not found that way.

    Raises
    ------
    InputError
        A number of simulations below 1, or a half-width outside (0, 0.5).
    """
    from humeval_power.api.study_power import study_power
    from humeval_power.scenarios.study import RatingStudy

    if wording is None and isinstance(scenario, RatingStudy):
        return study_power(
            scenario,
            method=method,
            n_simulations=n_simulations,
            half_width=half_width,
            seed=seed,
            n_jobs=n_jobs,
        )
    from humeval_power.planning.questions import answer, ways_of
    from humeval_power.reporting.questions.results import PowerResult

    by = ways_of(method, scenario)
    with progress("Simulating", total=n_simulations) as advance:
        found = answer(
            scenario,
            by=by,
            n_simulations=n_simulations,
            seed=seed,
            n_jobs=n_jobs,
            precision=half_width,
            progress=in_steps(advance),
        )
    return PowerResult(
        answer=found, wording=wording or _wording(scenario), given=given or {}, provenance=_drawn(by, seed)
    )


@on_executor
def detectable_effect(
    scenario: Scenario,
    *,
    largest: float | None = None,
    power: float = 0.8,
    method: Method = "both",
    n_simulations: int = DEFAULT_SIMULATIONS,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
    executor: AnyExecutor | None = None,
    wording: Wording | None = None,
    given: Mapping[str, object] | None = None,
) -> DetectableResult | StudyDetectable:
    """The smallest effect that is found with the target power; the scenario's own effect is not used.

    Parameters
    ----------
    largest : where the search ends, in the scenario's units; a rating study needs none.
    method : as in `power`; 'both' searches by simulation only where the power cannot be computed.

    Returns
    -------
    DetectableResult or StudyDetectable
        `found.effect`, in the scenario's units, with its Monte Carlo interval where it was simulated.

    Raises
    ------
    InputError
        A target outside (alpha, 1), no `largest`, or no effect up to it that reaches the target.
    """
    from humeval_power.api.study_power import study_detectable
    from humeval_power.scenarios.study import RatingStudy

    if wording is None and isinstance(scenario, RatingStudy):
        return study_detectable(
            scenario, power=power, method=method, n_simulations=n_simulations, seed=seed, n_jobs=n_jobs
        )
    if largest is None:
        raise InputError("Say where the search for an effect ends: largest=..., in the scenario's units.")
    from humeval_power.planning import questions
    from humeval_power.reporting.questions.results import DetectableResult

    (by,) = questions.ways_of(method, scenario, is_search=True)
    found = questions.detectable_effect(
        scenario,
        largest=largest,
        power=power,
        by=by,
        n_simulations=n_simulations,
        seed=seed,
        n_jobs=n_jobs,
    )
    return DetectableResult(
        scenario=scenario,
        found=found,
        wording=wording or _wording(scenario),
        given=given or {},
        provenance=_drawn((by,), seed),
    )


@on_executor
def required(
    build: Callable[[int], Scenario],
    *,
    power: float = 0.8,
    lowest: int = 2,
    highest: int = HIGHEST,
    method: Method = "both",
    n_simulations: int = DEFAULT_SIMULATIONS,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
    executor: AnyExecutor | None = None,
    wording: Wording | None = None,
    given: Mapping[str, object] | None = None,
) -> RequiredResult:
    """The smallest size that has the target power, and whose successors have it too.

    Parameters
    ----------
    build : gives the scenario of a size; an InputError means that this size is not possible.
    method : as in `detectable_effect`.

    Returns
    -------
    RequiredResult
        `found.n` is None where no size up to `highest` reaches the target.

    Raises
    ------
    InputError
        A target outside (alpha, 1).
    """
    from humeval_power.planning.questions import required_n, ways_of
    from humeval_power.reporting.questions.results import RequiredResult

    largest = build(highest)
    (by,) = ways_of(method, largest, is_search=True)
    found = required_n(
        build,
        power=power,
        lowest=lowest,
        highest=highest,
        by=by,
        n_simulations=n_simulations,
        seed=seed,
        n_jobs=n_jobs,
    )
    return RequiredResult(
        found=found,
        build=build,
        wording=wording or _wording(largest),
        given=given or {},
        provenance=_drawn((by,), seed),
    )


@on_executor
def surface(
    cells: Sequence[tuple[Mapping[str, object], Scenario]],
    *,
    method: Method = "both",
    n_simulations: int = DEFAULT_SIMULATIONS,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
    executor: AnyExecutor | None = None,
    wording: Wording | None = None,
    given: Mapping[str, object] | None = None,
    draw: Drawn = "power",
    along: Along | None = None,
) -> SurfaceResult:
    """Power of many scenarios, each with its labels, such as ({"n": 100}, scenario).

    Parameters
    ----------
    cells : labels, among them `n`, and a scenario; all are of one kind. Other labels, such as
        {"n": 100, "agreement": 0.9}, are numbers too: the figure has panels for their values.
    method : as in `detectable_effect`.
    draw : what the figure shows: power, type M (exaggeration) or type S (wrong signs).
    along : what runs along its x axis, "n" or "effect"; by default what has more values.

    Returns
    -------
    SurfaceResult
        `rows`, one for each cell in order; `to_frame` has them as a table.

    Raises
    ------
    InputError
        A number of simulations below 1.
    """
    from humeval_power.planning.questions import scenario_surface, ways_of
    from humeval_power.reporting.questions.surface import SurfaceResult

    by = ways_of(method, cells[0][1], is_search=True)
    with progress("Cells", total=len(cells)) as advance:
        rows = scenario_surface(
            cells,
            by=by,
            n_simulations=n_simulations,
            seed=seed,
            n_jobs=n_jobs,
            progress=in_steps(advance),
        )
    return SurfaceResult(
        rows=tuple(rows),
        wording=wording or _wording(cells[0][1]),
        given=given or {},
        provenance=_drawn(by, seed),
        draw=draw,
        along=along,
    )


_WORDED = {  # scenarios of the package, and the subject that has their words
    "PairedAccuracy": "accuracy",
    "UnpairedAccuracy": "accuracy",
    "Preference": "preference",
    "PanelPreference": "preference",
    "NeighbourBattles": "rank",
    "NeighbourScores": "rank",
    "CorpusStudy": "corpus",
    "ContingencyStudy": "contingency",
    "DirectAssessment": "assessment",
    "NormalScores": "compare",
    "NestedRuns": "runs",
    "CrossedRuns": "runs",
}


def _wording(scenario: Scenario) -> Wording:
    """How scenarios of its kind are put into words: the package's own as its commands do."""
    import importlib

    from humeval_power.reporting.questions.wording import PLAIN, Wording

    kind = type(scenario)
    subject = _WORDED.get(kind.__name__)
    if subject is None or not kind.__module__.startswith("humeval_power."):
        return PLAIN
    found = importlib.import_module(f"humeval_power.reporting.{subject}.wording").WORDING
    assert isinstance(found, Wording)
    return found


def _drawn(by: Sequence[By], seed: int) -> Provenance:
    """Where the numbers come from: the seed, where anything was drawn."""
    from humeval_power.reporting.result import UNKNOWN, Provenance

    return Provenance(seed=seed) if "simulation" in by else UNKNOWN

"""Power, detectable effect, required size and surface of rating studies, by formula and by simulation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from humeval_power.choices import (
    DEFAULT_SEED,
    DEFAULT_SIMULATIONS,
    HIGHEST,
    MOST_WORKERS,
    Method,
    SearchMethod,
)
from humeval_power.differences import Difference
from humeval_power.errors import InputError
from humeval_power.rules import DEFAULT_RULE, DecisionRule
from humeval_power.saying.progress import in_steps, progress, tell
from humeval_power.study_counts import NO_DOCUMENTS, Documents
from humeval_power.sweep.executors import on_executor

if TYPE_CHECKING:
    from humeval_power.assumptions import Assumptions
    from humeval_power.choices import SizeSought, Sought
    from humeval_power.costs import CostModel
    from humeval_power.parameters import Parameters
    from humeval_power.saying.document import Along, AlongStudy, Drawn
    from humeval_power.saying.result import Provenance
    from humeval_power.scales import RatingScale
    from humeval_power.scenarios.contract import Scenario
    from humeval_power.studies.power.question_results import (
        DetectableResult,
        PowerResult,
        RequiredResult,
        SurfaceResult,
    )
    from humeval_power.studies.power.required import RequiredSize
    from humeval_power.studies.power.result import StudyPower
    from humeval_power.studies.power.result_ratings import StudySurface
    from humeval_power.studies.power.result_size import StudyDetectable, StudySize
    from humeval_power.studies.power.strategies import AnyStudy, Cell
    from humeval_power.studies.power.systems_study import SystemsStudy
    from humeval_power.studies.power.wording import Wording
    from humeval_power.studies.power.workload import Ahead
    from humeval_power.sweep.executors import AnyExecutor
    from humeval_power.systems import SystemsParameters


@on_executor
def study_power(
    study: AnyStudy,
    *,
    method: Method = "both",
    n_simulations: int = DEFAULT_SIMULATIONS,
    half_width: float | None = None,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
    executor: AnyExecutor | None = None,
    setting: str = "",
    assumed: Assumptions | None = None,
    said: Difference | None = None,
    scale: RatingScale | None = None,
    effect_unit: float = 1.0,
    strict: bool = False,
    costs: CostModel | None = None,
    budget: Decimal | float | None = None,
) -> StudyPower:
    """How often a study finds its effect, reaches its goal or shows its claim; with a margin of two systems also
    halfway to it.

    study : of two systems (`RatingStudy`) or of several (`SystemsStudy`).
    method : by formula at once, by simulation, or both beside each other.
    half_width : if given, simulate until the half-width of the Monte Carlo interval is at most this.
    setting : the name of the study's parameters.
    assumed : all that may be assumed of the variances, to say what power hangs on it.
    said : the effect as it was said, for print.
    effect_unit : the difference on [0, 1] that an effect of 1 stands for in the record.
    strict : whether more than 1 % of failed fits, and not 20 %, miss the target.
    costs : prices, to set power against cost.
    budget : what may be spent at these prices; without prices a number of ratings.
    Returns StudyPower: `analytic` and `simulated`; each is None where it was not found that way.
    Raises InputError: a number of simulations below 1, a half-width outside (0, 0.5), or a budget that is not
    above 0.
    """
    from humeval_power.studies.power import strategies
    from humeval_power.studies.power.outlook import without_documents
    from humeval_power.studies.power.result import StudyPower
    from humeval_power.studies.power.strategies import Cell, run_surface

    if budget is not None and not budget > 0:
        raise InputError(f"The budget must be above 0; got {budget}.")
    study = strategies.one_of_two(study)
    halfway = None if study.rule.margin is None else strategies.halfway(study)
    cells = [Cell(setting, study), *([] if halfway is None else [Cell(setting, halfway)])]
    analytic, notes = strategies.formula_power(study, method)
    simulated = []
    if method != "analytic" or analytic is None:
        if analytic is not None:
            _before_compiling(study, f"By formula the power is {analytic.power:.3f}.")
        with progress("Simulating", total=100) as advance:
            results = run_surface(
                cells,
                n_simulations=n_simulations,
                precision=half_width,
                seed=seed,
                n_jobs=n_jobs,
                progress=in_steps(advance),
            )
        simulated = [result.estimate for result in results]
    return StudyPower(
        cell=cells[0],
        analytic=analytic,
        simulated=simulated[0] if simulated else None,
        halfway=None if halfway is None else strategies.halfway_power_of(study, analytic, simulated[1:]),
        said=said or strategies.difference(study, scale),
        scale=scale,
        effect_unit=effect_unit,
        strict=strict,
        left_out=without_documents(study) if study.design.n_documents else None,
        assumed=assumed,
        costs=costs,
        budget=None if budget is None else Decimal(str(budget)),
        notes=tuple(notes),
        provenance=_drawn(bool(simulated), seed),
    )


@on_executor
def study_detectable(
    study: AnyStudy,
    *,
    power: float = 0.8,
    method: Method = "both",
    n_simulations: int = DEFAULT_SIMULATIONS,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
    executor: AnyExecutor | None = None,
    setting: str = "",
    assumed: Assumptions | None = None,
    said: Difference | None = None,
    scale: RatingScale | None = None,
) -> StudyDetectable:
    """The smallest effect that a study finds with the target power; of several systems the stated difference, all
    true ones in proportion; under a rule with a margin the smallest margin that it shows at its true difference.

    method, setting, assumed, said : as in `study_power`.
    Returns StudyDetectable: `analytic` and `simulated.effect`, differences on [0, 1].
    Raises InputError: a target that is no goal, or no study that could be fitted.
    """
    from humeval_power.studies.power import strategies
    from humeval_power.studies.power.result_size import StudyDetectable
    from humeval_power.studies.power.strategies import Cell

    study = strategies.one_of_two(study)
    analytic, precision = strategies.detectable(study, power, method)
    simulated = None
    if method != "analytic" or analytic is None:
        if analytic is not None:
            _before_compiling(study, f"By formula it is {analytic:.4f} on [0, 1].")
        with progress("Simulating", total=100) as advance:
            simulated = strategies.simulated_detectable(
                study,
                power=power,
                guess=analytic,
                n_simulations=n_simulations,
                seed=seed,
                n_jobs=n_jobs,
                progress=in_steps(advance),
            )
    return StudyDetectable(
        cell=Cell(setting, strategies.at_answer(study, analytic, simulated)),
        target=power,
        analytic=analytic,
        simulated=simulated,
        said=said or strategies.difference(study, scale),
        precision=precision,
        assumed=assumed,
        scale=scale,
        provenance=_drawn(simulated is not None, seed),
    )


@on_executor
def study_size(
    about: Parameters | SystemsStudy,
    sought: Sought,
    *,
    effect: float | Difference | None = None,
    workers: int | None = None,
    items: int | None = None,
    ratings_per_item: int | None = None,
    paired: bool = True,
    documents: Documents = NO_DOCUMENTS,
    power: float = 0.8,
    rule: DecisionRule = DEFAULT_RULE,
    method: SearchMethod = "both",
    n_simulations: int | None = None,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
    executor: AnyExecutor | None = None,
    setting: str = "",
    assumed: Assumptions | None = None,
    scale: RatingScale | None = None,
    ahead: Ahead | None = None,
    costs: CostModel | None = None,
    max_workers: int = MOST_WORKERS,
) -> StudySize:
    """The fewest workers, items, documents or ratings per item that reach the target power; or the smallest budget.

    about : the parameters of two systems; or several systems with tests and goal, whose design is not used.
    sought : what to find; the other sizes are given, of a budget neither workers nor items. Without
        `ratings_per_item` every worker rates every item.
    costs, max_workers : the prices of a budget, and the most workers that it may pay. Where one more worker costs
        nothing, each gives the ratings of a short session at least (`costs.SESSION`).
    method : "both" proves by simulation what the formula finds; "analytic" does not.
    documents : that the items come out of; if they are sought, the items of each, or `items` for all.
    n_simulations : studies of a proof. None are 2,000, unless they take more than a minute: then nothing is proved.
    effect : the true difference B - A on [0, 1]; of several systems that of their pattern.
    assumed : as in `study_power`.
    rule : the test of two systems; several have that of their study.
    ahead : is told of the work of a proof before the first, and may refuse it.
    Returns StudySize: `found.counts` is None, with a reason, where no number will do.
    Raises InputError: a size or prices that are missing, an effect that no study can find, a rule beside that
    of several systems.
    """
    from humeval_power.costs import cost_of, least_of_a_worker
    from humeval_power.studies.power import strategies
    from humeval_power.studies.power.required import cheapest_size
    from humeval_power.studies.power.result_size import StudySize

    if effect is not None and not isinstance(effect, Difference):
        about = strategies.at_effect(about, effect)
    said = effect if isinstance(effect, Difference) else strategies.difference_of(about, effect, scale)
    study = strategies.sized(about, said.value, rule)

    def required(sought: SizeSought, workers: int | None, **how: Any) -> RequiredSize:
        return strategies.required(
            study,
            sought,
            workers=workers,
            items=items,
            ratings_per_item=ratings_per_item,
            paired=paired,
            documents=documents,
            power=power,
            n_simulations=n_simulations,
            seed=seed,
            n_jobs=n_jobs,
            ahead=ahead,
            scale=scale,
            **how,
        )

    searched: SizeSought = "items" if sought == "budget" else sought
    if sought == "budget":
        if costs is None:
            raise InputError("A budget needs prices: give costs.")
        least = max(2, (ratings_per_item or 1) * (1 if paired else 2))
        by_formula = cheapest_size(
            lambda m: required("items", m, proves=False), costs, least=least, most=max_workers
        )
        workers = max_workers if by_formula.counts is None else by_formula.counts.n_workers
    with progress("Proving", total=100) as advance:
        needed = required(searched, workers, proves=method == "both", progress=in_steps(advance))
    if sought == "budget":
        why = (
            needed.reason
            and f"with at most {max_workers:,} workers {needed.reason[0].lower()}{needed.reason[1:]}"
        )
        needed = replace(needed, sought=sought, reason=why and f"No budget will do: {why}")
    return StudySize(
        found=needed,
        priced=None if costs is None or needed.counts is None else cost_of(needed.counts, costs),
        least_each=least_of_a_worker(costs) if sought == "budget" else 0,
        about=study,
        said=said,
        assumed=assumed,
        halfway=strategies.halfway_of_size(study, needed),
        setting=setting,
        scale=scale,
        provenance=_drawn(needed.simulated is not None, seed),
    )


@on_executor
def study_surface(
    cells: Sequence[Cell],
    *,
    n_simulations: int = DEFAULT_SIMULATIONS,
    half_width: float | None = None,
    seed: int = DEFAULT_SEED,
    n_jobs: int = 1,
    executor: AnyExecutor | None = None,
    settings: Mapping[str, Parameters | SystemsParameters] | None = None,
    said: Sequence[Difference] = (),
    effect_unit: float = 1.0,
    strict: bool = False,
    draw: Drawn = "power",
    along: AlongStudy | None = None,
) -> StudySurface:
    """Power of many studies with the same random numbers, as `list_cells` lists those of two systems.

    cells : studies, each with the name of its setting; under one decision rule, or under two.
    settings : the parameters by name as they were given, for the record; else those of the cells.
    said, effect_unit, strict : as in `study_power`.
    draw : what the figure shows: power, type M (exaggeration) or type S (wrong signs).
    along : what runs along its x axis where there are several effects: they, or "items".
    Returns StudySurface: `rows`, one for each cell in order; `to_frame` has them as a table.
    Raises InputError: no cells, or a number of simulations below 1.
    """
    from humeval_power.studies.power import strategies
    from humeval_power.studies.power.result_ratings import StudySurface
    from humeval_power.studies.power.strategies import Cell, run_surface

    cells = [Cell(cell.setting, strategies.one_of_two(cell.study)) for cell in cells]
    with progress("Simulating", total=100) as advance:
        results = run_surface(
            cells,
            n_simulations=n_simulations,
            precision=half_width,
            seed=seed,
            n_jobs=n_jobs,
            progress=in_steps(advance),
        )
    effects = dict.fromkeys(strategies.difference(cell.study, None) for cell in cells)
    return StudySurface(
        results=tuple(results),
        settings=settings or {cell.setting: cell.study.parameters for cell in cells},
        rules=tuple(dict.fromkeys(cell.study.rule for cell in cells)),
        said=tuple(said) or tuple(effects),
        effect_unit=effect_unit,
        strict=strict,
        draw=draw,
        along=along,
        provenance=_drawn(True, seed),
    )


def _drawn(drawn: bool, seed: int) -> Provenance:
    """Where the numbers come from: the seed, where anything was drawn."""
    from humeval_power.saying.result import UNKNOWN, Provenance

    return Provenance(seed=seed) if drawn else UNKNOWN


def _before_compiling(study: AnyStudy, answer: str) -> None:
    """Tell what the formula says at once, where a simulation has to wait for the compiler."""
    from humeval_power.estimation.warming import is_warm
    from humeval_power.studies.power.strategies import waits_for_kernels

    if waits_for_kernels(study) and not is_warm():
        tell(f"{answer} The simulation follows when its kernels are compiled.")


# The four questions that every scenario answers: power, detectable effect, required size, surface.


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

    scenario : anything that keeps the contract of `humeval_power.scenarios.contract`.
    method : computed at once ('analytic'), by simulation ('simulate'), or both; what cannot be computed is
        simulated.
    half_width : if given, simulate until the half-width of the Monte Carlo interval is at most this.
    wording : how the scenario is put into words, and its name in records; None for the words that there are.
    given : what was said of the scenario, for the record.
    Returns PowerResult or StudyPower: Of a rating study `analytic` and `simulated`, else `answer.computed`
    and `answer.simulated`; each is None where it was not found that way.
    Raises InputError: a number of simulations below 1, or a half-width outside (0, 0.5).
    """
    from humeval_power.studies.power.scenario import RatingStudy

    if wording is None and isinstance(scenario, RatingStudy):
        return study_power(
            scenario,
            method=method,
            n_simulations=n_simulations,
            half_width=half_width,
            seed=seed,
            n_jobs=n_jobs,
        )
    from humeval_power.studies.power.question_results import PowerResult
    from humeval_power.studies.power.questions import answer, ways_of

    by = ways_of(method, scenario)
    with progress("Simulating", total=n_simulations) as advance:
        result = answer(
            scenario,
            by=by,
            n_simulations=n_simulations,
            seed=seed,
            n_jobs=n_jobs,
            precision=half_width,
            progress=in_steps(advance),
        )
    return PowerResult(
        answer=result,
        wording=wording or _wording(scenario),
        given=given or {},
        provenance=_drawn("simulation" in by, seed),
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

    largest : where the search ends, in the scenario's units; a rating study needs none.
    method : as in `power`; 'both' searches by simulation only where the power cannot be computed.
    Returns DetectableResult or StudyDetectable: `found.effect`, in the scenario's units, with its Monte
    Carlo interval where it was simulated.
    Raises InputError: a target outside (alpha, 1), no `largest`, or no effect up to it that reaches the
    target.
    """
    from humeval_power.studies.power.scenario import RatingStudy

    if wording is None and isinstance(scenario, RatingStudy):
        return study_detectable(
            scenario, power=power, method=method, n_simulations=n_simulations, seed=seed, n_jobs=n_jobs
        )
    if largest is None:
        raise InputError("Say where the search for an effect ends: largest=..., in the scenario's units.")
    from humeval_power.studies.power import questions
    from humeval_power.studies.power.question_results import DetectableResult

    (by,) = questions.ways_of(method, scenario, is_search=True)
    result = questions.detectable_effect(
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
        found=result,
        wording=wording or _wording(scenario),
        given=given or {},
        provenance=_drawn(by == "simulation", seed),
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

    build : gives the scenario of a size; an InputError means that this size is not possible.
    method : as in `detectable_effect`.
    Returns RequiredResult: `found.n` is None where no size up to `highest` reaches the target.
    Raises InputError: a target outside (alpha, 1).
    """
    from humeval_power.studies.power.question_results import RequiredResult
    from humeval_power.studies.power.questions import required_n, ways_of

    largest = build(highest)
    (by,) = ways_of(method, largest, is_search=True)
    needed = required_n(
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
        found=needed,
        build=build,
        wording=wording or _wording(largest),
        given=given or {},
        provenance=_drawn(by == "simulation", seed),
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

    cells : labels, among them `n`, and a scenario; all are of one kind. Other labels, such as
        {"n": 100, "agreement": 0.9}, are numbers too: the figure has panels for their values.
    method : as in `detectable_effect`.
    draw : what the figure shows: power, type M (exaggeration) or type S (wrong signs).
    along : what runs along its x axis, "n" or "effect"; by default what has more values.
    Returns SurfaceResult: `rows`, one for each cell in order; `to_frame` has them as a table.
    Raises InputError: a number of simulations below 1.
    """
    from humeval_power.studies.power.question_results import SurfaceResult
    from humeval_power.studies.power.questions import scenario_surface, ways_of

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
        provenance=_drawn("simulation" in by, seed),
        draw=draw,
        along=along,
    )


_WORDED = {  # scenarios of the package, and the subject that has their words
    "PairedAccuracy": "accuracy.wording",
    "UnpairedAccuracy": "accuracy.wording",
    "Preference": "preference.wording",
    "PanelPreference": "preference.wording",
    "NeighbourBattles": "rank.ask",
    "NeighbourScores": "rank.ask",
    "CorpusStudy": "corpus.ask",
    "ContingencyStudy": "contingency.ask",
    "DirectAssessment": "assessment.wording",
    "NormalScores": "scores.ask",
    "NestedRuns": "runs.wording",
    "CrossedRuns": "runs.wording",
}


def _wording(scenario: Scenario) -> Wording:
    """How scenarios of its kind are put into words: the package's own as its commands do."""
    import importlib

    from humeval_power.studies.power.wording import PLAIN, Wording

    kind = type(scenario)
    place = _WORDED.get(kind.__name__)
    if place is None or not kind.__module__.startswith("humeval_power."):
        return PLAIN
    wording = importlib.import_module(f"humeval_power.comparisons.{place}").WORDING
    assert isinstance(wording, Wording)
    return wording

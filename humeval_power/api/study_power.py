"""Power, detectable effect, required size and surface of rating studies, by formula and by simulation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from humeval_power.api.progress import in_steps, progress, tell
from humeval_power.choices import DEFAULT_SEED, DEFAULT_SIMULATIONS, Method, SearchMethod
from humeval_power.differences import Difference
from humeval_power.errors import InputError
from humeval_power.rules import DEFAULT_RULE, DecisionRule
from humeval_power.study_counts import NO_DOCUMENTS, Documents
from humeval_power.sweep.executors import on_executor

if TYPE_CHECKING:
    from humeval_power.choices import Sought
    from humeval_power.costs import CostModel
    from humeval_power.parameters import Parameters
    from humeval_power.planning.study.surface import AnyStudy, Cell
    from humeval_power.planning.study.systems_study import SystemsStudy
    from humeval_power.planning.workload import Ahead
    from humeval_power.reporting.drawn import AlongStudy, Drawn
    from humeval_power.reporting.result import Provenance
    from humeval_power.reporting.study.detectable import StudyDetectable
    from humeval_power.reporting.study.power import StudyPower
    from humeval_power.reporting.study.size import StudySize
    from humeval_power.reporting.study.surface import StudySurface
    from humeval_power.scales import RatingScale
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
    said: Difference | None = None,
    scale: RatingScale | None = None,
    effect_unit: float = 1.0,
    strict: bool = False,
    costs: CostModel | None = None,
    budget: Decimal | float | None = None,
) -> StudyPower:
    """How often a study finds its effect, reaches its goal or shows its claim; with a margin of two systems also
    halfway to it.

    Parameters
    ----------
    study : of two systems (`RatingStudy`) or of several (`SystemsStudy`).
    method : by formula at once, by simulation, or both beside each other.
    half_width : if given, simulate until the half-width of the Monte Carlo interval is at most this.
    setting : the name of the study's parameters.
    said : the effect as it was said, for print.
    effect_unit : the difference on [0, 1] that an effect of 1 stands for in the record.
    strict : whether more than 1 % of failed fits, and not 20 %, miss the target.
    costs : prices, to set power against cost.
    budget : what may be spent at these prices; without prices a number of ratings.

    Returns
    -------
    StudyPower
        `analytic` and `simulated`; each is None where it was not found that way.

    Raises
    ------
    InputError
        A number of simulations below 1, a half-width outside (0, 0.5), or a budget that is not above 0.
    """
    from humeval_power.planning.study import strategies
    from humeval_power.planning.study.surface import Cell, run_surface
    from humeval_power.reporting.study.power import StudyPower

    if budget is not None and not budget > 0:
        raise InputError(f"The budget must be above 0; got {budget}.")
    study = strategies.one_of_two(study)
    halfway = strategies.halfway(study)
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
        left_out=strategies.left_out(study),
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
    said: Difference | None = None,
    scale: RatingScale | None = None,
) -> StudyDetectable:
    """The smallest effect that a study finds with the target power; of several systems the stated difference, all
    true ones in proportion; under a rule with a margin the smallest margin that it shows at its true difference.

    Parameters
    ----------
    method, setting, said : as in `study_power`.

    Returns
    -------
    StudyDetectable
        `analytic` and `simulated.effect`, differences on [0, 1].

    Raises
    ------
    InputError
        A target that is no goal, or no study that could be fitted.
    """
    from humeval_power.planning.study import strategies
    from humeval_power.planning.study.surface import Cell
    from humeval_power.reporting.study.detectable import StudyDetectable

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
    scale: RatingScale | None = None,
    ahead: Ahead | None = None,
) -> StudySize:
    """The fewest workers, items, documents or ratings per item that reach the target power.

    Parameters
    ----------
    about : the parameters of two systems; or several systems with tests and goal, whose design is not used.
    sought : what to find; the other sizes are given. Without `ratings_per_item` every worker rates every item.
    method : "both" proves by simulation what the formula finds; "analytic" does not.
    documents : that the items come out of; if they are sought, the items of each, or `items` for all.
    n_simulations : studies of a proof. None are 1,000, unless they take more than a minute: then nothing is proved.
    effect : the true difference B - A on [0, 1]; of several systems that of their pattern.
    rule : the test of two systems; several have that of their study.
    ahead : is told of the work of a proof before the first, and may refuse it.

    Returns
    -------
    StudySize
        `found.counts` is None, with a reason, where no number will do.

    Raises
    ------
    InputError
        A size that is missing, an effect that no study can find, or a rule beside that of several systems.
    """
    from humeval_power.planning.study import strategies
    from humeval_power.reporting.study.size import StudySize

    if effect is not None and not isinstance(effect, Difference):
        about = strategies.at_effect(about, effect)
    said = effect if isinstance(effect, Difference) else strategies.difference_of(about, effect, scale)
    asked = strategies.sized(about, said.value, rule)
    with progress("Proving", total=100) as advance:
        found = strategies.required(
            asked,
            sought,
            workers=workers,
            items=items,
            ratings_per_item=ratings_per_item,
            paired=paired,
            documents=documents,
            power=power,
            proves=method == "both",
            n_simulations=n_simulations,
            seed=seed,
            n_jobs=n_jobs,
            ahead=ahead,
            progress=in_steps(advance),
        )
    return StudySize(
        found=found,
        about=asked,
        said=said,
        halfway=strategies.halfway_of_size(asked, found),
        setting=setting,
        scale=scale,
        provenance=_drawn(found.simulated is not None, seed),
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

    Parameters
    ----------
    cells : studies, each with the name of its setting; under one decision rule, or under two.
    settings : the parameters by name as they were given, for the record; else those of the cells.
    said, effect_unit, strict : as in `study_power`.
    draw : what the figure shows: power, type M (exaggeration) or type S (wrong signs).
    along : what runs along its x axis where there are several effects: they, or "items".

    Returns
    -------
    StudySurface
        `rows`, one for each cell in order; `to_frame` has them as a table.

    Raises
    ------
    InputError
        No cells, or a number of simulations below 1.
    """
    from humeval_power.planning.study import strategies
    from humeval_power.planning.study.surface import Cell, run_surface
    from humeval_power.reporting.study.surface import StudySurface

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
    from humeval_power.reporting.result import UNKNOWN, Provenance

    return Provenance(seed=seed) if drawn else UNKNOWN


def _before_compiling(study: AnyStudy, answer: str) -> None:
    """Tell what the formula says at once, where a simulation has to wait for the compiler."""
    from humeval_power.estimation.warming import is_warm
    from humeval_power.planning.study.strategies import waits_for_kernels

    if waits_for_kernels(study) and not is_warm():
        tell(f"{answer} The simulation follows when its kernels are compiled.")

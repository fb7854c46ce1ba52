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
    from humeval_power.inference.study.formula import AnalyticPower
    from humeval_power.parameters import Parameters
    from humeval_power.planning.study.surface import Cell
    from humeval_power.planning.workload import Ahead
    from humeval_power.reporting.drawn import AlongStudy, Drawn
    from humeval_power.reporting.result import Provenance
    from humeval_power.reporting.study.detectable import StudyDetectable
    from humeval_power.reporting.study.power import StudyPower
    from humeval_power.reporting.study.size import StudySize
    from humeval_power.reporting.study.surface import StudySurface
    from humeval_power.scales import RatingScale
    from humeval_power.scenarios.study import RatingStudy
    from humeval_power.sweep.executors import AnyExecutor

NO_FORMULA = "The formula describes Gaussian ratings and t tests of ratings: simulation only."
AS_PLANNED = "The formula describes the study as planned; the simulation has the losses."


@on_executor
def study_power(
    study: RatingStudy,
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
    """How often a rating study finds its effect, or shows its claim; with a margin also halfway to it.

    Parameters
    ----------
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
    from humeval_power.planning.study.analytic import halfway_power
    from humeval_power.planning.study.surface import Cell, run_surface
    from humeval_power.planning.study.without_documents import without_documents
    from humeval_power.reporting.study.power import StudyPower

    if budget is not None and not budget > 0:
        raise InputError(f"The budget must be above 0; got {budget}.")
    halfway = study.rule.halfway
    look_halfway = halfway is not None and halfway != study.true_effect
    cells = [Cell(setting, study)]
    if look_halfway:
        assert halfway is not None
        cells.append(Cell(setting, study.with_effect(halfway)))
    analytic, notes = _by_formula(study, method)
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
    between = None
    if look_halfway:
        between = halfway_power(
            study.rule,
            precision=None if analytic is None else analytic.precision,
            simulated=simulated[1] if simulated else None,
        )
    return StudyPower(
        cell=cells[0],
        analytic=analytic,
        simulated=simulated[0] if simulated else None,
        halfway=between,
        said=said or Difference(study.true_effect, scale),
        scale=scale,
        effect_unit=effect_unit,
        strict=strict,
        left_out=without_documents(study),
        costs=costs,
        budget=None if budget is None else Decimal(str(budget)),
        notes=(*notes, *study.design.notes),
        provenance=_drawn(bool(simulated), seed),
    )


def _by_formula(study: RatingStudy, method: Method) -> tuple[AnalyticPower | None, list[str]]:
    """The power by formula, if it is asked for and the formula describes the study, and remarks."""
    from humeval_power.inference.study.formula import analytic_power
    from humeval_power.simulation.losses import NO_LOSSES

    if method == "simulate":
        return None, []
    if not study.has_formula:
        return None, [NO_FORMULA]
    notes = [] if study.losses == NO_LOSSES else [AS_PLANNED]
    return analytic_power(study.parameters, study.design, rule=study.rule), notes


@on_executor
def study_detectable(
    study: RatingStudy,
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
    """The smallest effect that a rating study finds with the target power; under a rule with a margin the
    smallest margin that it shows at its true difference.

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
    from humeval_power.inference.study.formula import effect_precision
    from humeval_power.planning.study.analytic import detectable
    from humeval_power.planning.study.detectable import simulated_detectable_effect, simulated_margin
    from humeval_power.planning.study.surface import Cell
    from humeval_power.reporting.study.detectable import StudyDetectable

    rule = study.rule
    analytic, precision, simulated = None, None, None
    categories = study.parameters.latent is not None
    if method != "simulate" and not rule.is_simulated and (study.shifts or categories):
        precision = effect_precision(study.parameters, study.design)
        analytic = detectable(precision, effect=study.true_effect, power=power, rule=rule)
        if categories and rule.margin is None:  # there the variances depend on the effect
            at = study.with_effect(min(analytic, study.largest_effect))
            precision = effect_precision(at.parameters, study.design)
            analytic = detectable(precision, effect=analytic, power=power, rule=rule)
    if method != "analytic" or analytic is None:
        if analytic is not None:
            _before_compiling(study, f"By formula it is {analytic:.4f} on [0, 1].")
        simulate = simulated_detectable_effect if rule.margin is None else simulated_margin
        simulated = simulate(study, power=power, n_simulations=n_simulations, seed=seed, n_jobs=n_jobs)
    return StudyDetectable(
        cell=Cell(setting, study),
        target=power,
        analytic=analytic,
        simulated=simulated,
        said=said or Difference(study.true_effect, scale),
        precision=precision,
        scale=scale,
        provenance=_drawn(simulated is not None, seed),
    )


@on_executor
def study_size(
    parameters: Parameters,
    sought: Sought,
    *,
    effect: float | Difference,
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
    sought : what to find; the other sizes are given.
    method : "both" proves by simulation what the formula finds; "analytic" does not.
    documents : that the items come out of; if they are sought, the items of each, or `items` for all.
    n_simulations : studies of a proof. None are 1,000, unless they take more than a minute: then nothing is proved.
    effect : the true difference B - A on [0, 1]; that of the parameters is not used.
    ahead : is told of the work of a proof before the first, and may refuse it.

    Returns
    -------
    StudySize
        `found.counts` is None, with a reason, where no number will do.

    Raises
    ------
    InputError
        A size that is missing, or an effect that no study can find.
    """
    from humeval_power.planning.study.analytic import halfway_power
    from humeval_power.planning.study.required import counts_precision, required_size
    from humeval_power.reporting.study.size import StudySize

    said = effect if isinstance(effect, Difference) else Difference(effect, scale)
    with progress("Proving", total=100) as advance:
        found = required_size(
            parameters.with_difference(said.value),
            sought,
            workers=workers,
            items=items,
            ratings_per_item=ratings_per_item,
            paired=paired,
            documents=documents,
            power=power,
            rule=rule,
            proves=method == "both",
            n_simulations=n_simulations,
            seed=seed,
            n_jobs=n_jobs,
            ahead=ahead,
            progress=in_steps(advance),
        )
    halfway = None
    if found.counts is not None:
        halfway = halfway_power(rule, precision=counts_precision(parameters, found.counts))
    return StudySize(
        found=found,
        parameters=parameters,
        said=said,
        rule=rule,
        halfway=halfway,
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
    settings: Mapping[str, Parameters] | None = None,
    said: Sequence[Difference] = (),
    effect_unit: float = 1.0,
    strict: bool = False,
    draw: Drawn = "power",
    along: AlongStudy | None = None,
) -> StudySurface:
    """Power of many rating studies with the same random numbers, as `list_cells` lists them.

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
    from humeval_power.planning.study.surface import run_surface
    from humeval_power.reporting.study.surface import StudySurface

    with progress("Simulating", total=100) as advance:
        results = run_surface(
            cells,
            n_simulations=n_simulations,
            precision=half_width,
            seed=seed,
            n_jobs=n_jobs,
            progress=in_steps(advance),
        )
    effects = dict.fromkeys(cell.study.true_effect for cell in cells)
    return StudySurface(
        results=tuple(results),
        settings=settings or {cell.setting: cell.study.parameters for cell in cells},
        rules=tuple(dict.fromkeys(cell.study.rule for cell in cells)),
        said=tuple(said) or tuple(map(Difference, effects)),
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


def _before_compiling(study: RatingStudy, answer: str) -> None:
    """Tell what the formula says at once, where a simulation has to wait for the compiler."""
    if study.replication.closed_form and study.rule.estimator == "reml":
        return
    from humeval_power.estimation.warming import is_warm

    if not is_warm():
        tell(f"{answer} The simulation follows when its kernels are compiled.")

"""`humeval-power power`: how often a study of this size finds an effect of this size."""

from __future__ import annotations

import math
from dataclasses import asdict, replace

import click

from humeval_power.assumptions import Assumed, Assumptions
from humeval_power.differences import Difference
from humeval_power.inference.study.replication import NO_LOSSES
from humeval_power.interfaces.cli.compiling import answer_before_compiling
from humeval_power.interfaces.cli.effect_options import (
    NO_DIFFERENCE,
    TypedEffects,
    effect_needed,
    effect_options,
    warn_beyond,
)
from humeval_power.interfaces.cli.numbers import WholeNumber
from humeval_power.interfaces.cli.options import (
    default_jobs,
    jobs_option,
    result_options,
    rule_options,
    seed_option,
    simulations_option,
)
from humeval_power.interfaces.cli.output import emit, note, refuse_to_overwrite, wrapped
from humeval_power.interfaces.cli.plan.options import amend_option, load_plan, plan_option
from humeval_power.interfaces.cli.required_options import Command, needs
from humeval_power.interfaces.cli.run import typed_command
from humeval_power.interfaces.cli.study.options import (
    StudyOptions,
    grid_options,
    load_settings,
    loss_options,
    only_setting,
    source_needed,
    study_options,
)
from humeval_power.interfaces.cli.study.running import (
    CARD2020_UNIT,
    analytic_answer,
    compat_option,
    end_if_failed,
    method_option,
    precision_option,
    refuse_if_too_large,
    run_cells,
    strict_option,
)
from humeval_power.interfaces.cli.work_ahead import precise_simulations
from humeval_power.interfaces.formats.documents.reading import to_json
from humeval_power.planning.plan.plan import Plan
from humeval_power.planning.power import DEFAULT_SEED, DEFAULT_SIMULATIONS, MAX_SIMULATIONS, PowerEstimate
from humeval_power.planning.questions import Method
from humeval_power.planning.study.analytic import AnalyticPower, HalfwayPower, disagree, halfway_power
from humeval_power.planning.study.limits import ceiling_with_items, ceiling_with_workers
from humeval_power.planning.study.surface import Cell, CellResult, list_cells
from humeval_power.reporting.records import power_record
from humeval_power.reporting.rule_words import PARITY, halfway_words, margin_words
from humeval_power.rules import CARD2020, DecisionRule
from humeval_power.scenarios.study import RatingStudy
from humeval_power.simulation.losses import Exclusion, Losses


def power_text(
    cell: Cell,
    simulated: PowerEstimate | None,
    analytic: AnalyticPower | None,
    settings: Assumptions,
    said: Difference,
    unit: float,
    halfway: HalfwayPower | None = None,
) -> str:
    """The power for people, at most 80 characters wide; `said` is the effect as it was understood."""
    study = cell.study
    difference = study.true_effect
    effect = str(said)
    if unit != 1.0:
        effect += f" (coefficient {difference / unit:g} under -1/+1 coding)"
    has_margin = study.rule.margin is not None
    facts = [
        ("Effect", effect),
        *([("Margin", margin_words(study.rule, settings.scale))] if has_margin else []),
        ("Setting", cell.setting),
        ("Study", str(study.design)),
        ("Test", str(study.rule)),
    ]
    if analytic is not None:
        facts += _analytic_facts(analytic, has_margin=has_margin)
    if simulated is not None:
        facts += _simulated_facts(simulated)
    if halfway is not None:
        facts.append(("Halfway", halfway_words(halfway)))
    if analytic is not None and simulated is not None:
        if study.losses != NO_LOSSES:
            cost = analytic.power - simulated.power
            facts.append(("Losses", f"as planned the power is {analytic.power:.3f}; they cost {cost:.3f}"))
        elif disagree(analytic, simulated):
            facts.append(("Caution", _disagreement(analytic)))
    if analytic is not None and (difference > 0 or has_margin) and not analytic.is_rough:
        facts += _ceiling_facts(study)
    if has_margin:
        facts.append(("Note", PARITY))
    return "\n".join(wrapped(text, bullet=f"{label:<9}") for label, text in facts)


def _analytic_facts(analytic: AnalyticPower, *, has_margin: bool) -> list[tuple[str, str]]:
    precision = analytic.precision
    rough = "; rough, with so few workers" if analytic.is_rough else ""
    worth = ", type M and S are not defined without a difference"
    if math.isfinite(analytic.type_m):
        worth = f", type M {analytic.type_m:.2f}, type S {analytic.type_s:.4f}"
    if has_margin:
        worth = ""
    return [
        (
            "Formula",
            f"power {analytic.power:.3f}{worth}  "
            f"(SE {precision.standard_error:.4f}, df {precision.df:.1f}{rough})",
        )
    ]


def _simulated_facts(estimate: PowerEstimate) -> list[tuple[str, str]]:
    low, high = estimate.interval
    zero = ", ".join(f"{name} {100 * rate:.0f} %" for name, rate in estimate.boundary_rates.items())
    worth = [
        ("Type M", f"{estimate.type_m:.2f}  (a significant estimate exaggerates this many times)"),
        ("Type S", f"{estimate.type_s:.4f}  (share of significant estimates with the wrong sign)"),
    ]
    if not estimate.directed:
        worth = [("Type M/S", "not defined: nothing is found that could be exaggerated or reversed")]
    elif not math.isfinite(estimate.type_m):
        worth = [("Type M/S", "not known: no simulated study was significant")]
    fits = (
        "Fits",
        f"{estimate.n_simulations:,} simulated, {estimate.n_failed:,} failed{_failed_share(estimate)}",
    )
    if estimate.too_many_failed:
        return [("Power", "none: too many of the simulated studies could not be fitted"), fits]
    return [
        ("Power", f"{estimate.power:.3f}  (95 % Monte Carlo interval {low:.3f} to {high:.3f})"),
        *worth,
        ("At zero", f"{zero}  (estimated as zero; those fits are kept)"),
        fits,
    ]


def _failed_share(estimate: PowerEstimate) -> str:
    if not estimate.n_failed:
        return ""
    return f" ({100 * estimate.failure_rate:.3g} %; they count as not significant)"


def _disagreement(analytic: AnalyticPower) -> str:
    why = "with so few workers the formula is rough" if analytic.is_rough else "the formula is off here"
    return (
        f"Formula and simulation differ by more than Monte Carlo error and 0.02: {why}; "
        "trust the simulation."
    )


def _ceiling_facts(study: RatingStudy) -> list[tuple[str, str]]:
    design = study.design
    if design.kind not in ("crossed", "k-per-item") or study.rule.df == "normal":
        return []
    k = None if design.is_crossed else design.ratings_per_item
    items = ceiling_with_items(study.parameters, n_workers=design.n_workers, rule=study.rule)
    workers = ceiling_with_workers(
        study.parameters, n_items=design.n_items, ratings_per_item=k, rule=study.rule
    )
    return [
        ("Limits", f"power {items.power:.3f} with these workers and endless items;"),
        ("", f"power {workers.power:.3f} with these items and endless workers"),
    ]


_IN_PLAN = {
    *("parameters", "preset", "allow_not_identified", "values", "response", "points"),
    *("scale", "lower_is_better", "workers", "items", "ratings_per_item", "paired", "design"),
    *("max_ratings_per_worker", "effect", "effect_raw"),
    *("estimator", "df", "alternative", "analysis", "margin", "margin_raw", "alpha", "compat"),
}


@click.command("power", cls=Command)
@study_options
@loss_options
@plan_option
@amend_option
@click.option("--workers", type=WholeNumber(), help="Number of workers.")
@click.option("--items", type=WholeNumber(), help="Number of items.")
@effect_options(
    "True difference B - A on [0, 1] that the study should find; with --margin the one assumed. [0 with "
    "--margin]"
)
@rule_options
@compat_option
@method_option
@simulations_option
@precision_option
@seed_option
@jobs_option
@strict_option
@result_options
@source_needed
@needs("--workers", ("workers", "plan"))
@needs("--items", ("items", "plan"))
@effect_needed
def command(
    study: StudyOptions,
    losses: Losses,
    exclusion: Exclusion,
    plan: str | None,
    amend: str | None,
    workers: int | None,
    items: int | None,
    effect: TypedEffects | None,
    rule: DecisionRule,
    compat: str | None,
    method: Method,
    simulations: int | None,
    precision: float | None,
    seed: int | None,
    jobs: int | None,
    strict: bool,
    as_json: bool,
    output: str | None,
    force: bool,
) -> None:
    """How often would a study of this size find an effect of this size?

    Power is the share of simulated studies with a significant effect of the
    right sign. Give the parameters by --parameters FILE or --preset NAME, and
    the size; or --plan FILE, which has everything. With --alternative equivalent
    or non-inferior and a --margin it is the share that shows this.
    """
    if output is not None:
        refuse_to_overwrite([output], force=force)
    unit = CARD2020_UNIT if compat else 1.0
    planned = load_plan(plan, amend)
    if planned is not None:
        _refuse_beside_plan(click.get_current_context())
        if planned.looks is not None:
            note(
                "This is the power of one test at the planned end. The plan has looks before it, which cost "
                f"some: it promises {planned.recomputed_power():.3f} by formula."
            )
        cells, settings, said = _planned(planned, losses, exclusion)
    else:
        cells, settings, said = _typed(
            study, workers, items, effect or NO_DIFFERENCE, rule, compat, losses, exclusion
        )
    results: list[CellResult] = []
    study_asked = cells[0].study
    cells += _halfway(cells[0])
    if method != "analytic":
        n_simulations = precise_simulations(simulations or DEFAULT_SIMULATIONS, precision, MAX_SIMULATIONS)
        refuse_if_too_large(cells, n_simulations, jobs or default_jobs())
    analytic = None if method == "simulate" else analytic_answer(study_asked)
    if method != "analytic":
        if analytic is not None:
            answer_before_compiling(study_asked, f"By formula the power is {analytic.power:.3f}.")
        results = run_cells(cells, simulations=simulations, precision=precision, seed=seed, jobs=jobs)
    simulated = results[0].estimate if results else None
    halfway = None
    if len(cells) > 1:
        halfway = halfway_power(
            study_asked.rule,
            precision=None if analytic is None else analytic.precision,
            simulated=results[1].estimate if results else None,
        )
    used = DEFAULT_SEED if seed is None else seed
    if as_json:
        record = power_record(
            cells[0], simulated, analytic=analytic, seed=used, effect_unit=unit, command=typed_command()
        )
        if halfway is not None:
            record["halfway_to_margin"] = asdict(halfway)
        text = to_json({"understood": str(said), **record})
    else:
        text = power_text(cells[0], simulated, analytic, settings, said, unit, halfway)
    emit(text, output=output, force=force)
    end_if_failed(results, strict=strict)


def _refuse_beside_plan(ctx: click.Context) -> None:
    """What a plan says cannot be typed beside it: it would be lost."""
    given = [
        parameter.opts[0]
        for parameter in ctx.command.params
        if parameter.name in _IN_PLAN
        and ctx.get_parameter_source(parameter.name) is click.core.ParameterSource.COMMANDLINE
    ]
    if given:
        raise click.UsageError(
            f"--plan has the parameters, the size, the effect and the test: leave out {', '.join(given)}."
        )


def _planned(
    plan: Plan, losses: Losses, exclusion: Exclusion
) -> tuple[list[Cell], Assumptions, Difference]:
    planned = replace(plan.study(), losses=losses, exclusion=exclusion)
    settings = Assumptions((Assumed(plan.source.name, plan.parameters),), plan.scale, plan.systems)
    return [Cell(plan.source.name, planned)], settings, Difference(plan.effect, plan.scale)


def _typed(
    study: StudyOptions,
    workers: int | None,
    items: int | None,
    effect: TypedEffects,
    rule: DecisionRule,
    compat: str | None,
    losses: Losses,
    exclusion: Exclusion,
) -> tuple[list[Cell], Assumptions, Difference]:
    assert workers is not None  # asked for before
    assert items is not None
    settings = load_settings(study)
    name, parameters = only_setting(settings)
    if compat and rule.margin is not None:
        raise click.UsageError("--compat card2020 tests for a difference: leave out --margin.")
    if compat:
        said = Difference(CARD2020_UNIT * effect.coefficients(CARD2020_UNIT)[0], settings.scale)
    else:
        said = effect.one(settings.scale)
    warn_beyond(settings, [said])
    cells = list_cells(
        {name: parameters},
        workers=[workers],
        items=[items],
        effects=[said.value],
        rule=CARD2020 if compat else rule,
        losses=losses,
        exclusion=exclusion,
        **grid_options(study, settings),
    )
    return cells, settings, said


def _halfway(cell: Cell) -> list[Cell]:
    """The same study with a true difference halfway to the margin, unless that is what is asked."""
    halfway = cell.study.rule.halfway
    if halfway is None or halfway == cell.study.true_effect:
        return []
    return [replace(cell, study=cell.study.with_effect(halfway))]

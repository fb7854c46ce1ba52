"""`humeval-power mde`: the smallest effect that a study of this size can find, or margin it can show."""

from __future__ import annotations

from dataclasses import asdict

import click

from humeval_power.assumptions import Assumptions
from humeval_power.differences import understood
from humeval_power.interfaces.cli.compiling import answer_before_compiling
from humeval_power.interfaces.cli.effect_options import (
    NO_DIFFERENCE,
    TypedEffects,
    effect_options,
    warn_beyond,
)
from humeval_power.interfaces.cli.numbers import WholeNumber
from humeval_power.interfaces.cli.options import (
    default_jobs,
    margin_finding_options,
    power_target_option,
    result_options,
    run_options,
)
from humeval_power.interfaces.cli.output import emit, note, refuse_to_overwrite, wrapped
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.run import typed_command
from humeval_power.interfaces.cli.study.options import (
    StudyOptions,
    grid_options,
    load_settings,
    only_setting,
    source_needed,
    study_options,
)
from humeval_power.interfaces.cli.study.running import kernels_for, method_option
from humeval_power.interfaces.cli.work_ahead import tell_work
from humeval_power.interfaces.formats.documents.reading import to_json
from humeval_power.planning.power import DEFAULT_SEED, DEFAULT_SIMULATIONS
from humeval_power.planning.questions import Method
from humeval_power.planning.study.analytic import detectable, effect_precision
from humeval_power.planning.study.detectable import (
    DetectableEffect,
    simulated_detectable_effect,
    simulated_margin,
)
from humeval_power.planning.study.surface import Cell, list_cells
from humeval_power.planning.workload import SEARCH_STEPS, study_workload
from humeval_power.reporting.records import MDE_SCHEMA, study_record
from humeval_power.reporting.rule_words import PARITY, sought_words
from humeval_power.rules import DecisionRule


@click.command("mde", cls=Command)
@study_options
@click.option("--workers", type=WholeNumber(), required=True, help="Number of workers.")
@click.option("--items", type=WholeNumber(), required=True, help="Number of items.")
@effect_options(
    "True difference B - A on [0, 1] at which the smallest margin is sought, for non-inferior and "
    "equivalent. [0]"
)
@power_target_option
@margin_finding_options
@method_option
@run_options
@result_options
@source_needed
def command(
    study: StudyOptions,
    workers: int,
    items: int,
    effect: TypedEffects | None,
    target: float,
    rule: DecisionRule,
    method: Method,
    simulations: int | None,
    seed: int | None,
    jobs: int | None,
    as_json: bool,
    output: str | None,
    force: bool,
) -> None:
    """The smallest effect that a study of this size finds with the target power.

    A difference B - A on [0, 1]; by formula, and proved by simulation. With
    --alternative equivalent or non-inferior it is the smallest margin that such
    a study shows where the true difference is --effect.
    """
    if effect is not None and rule.margin is None:
        raise click.UsageError(
            "The effect is what is sought: --effect and --effect-raw belong to non-inferior and equivalent."
        )
    if output is not None:
        refuse_to_overwrite([output], force=force)
    settings = load_settings(study)
    name, parameters = only_setting(settings)
    assumed = (effect or NO_DIFFERENCE).on(settings.scale)
    warn_beyond(settings, assumed)
    cell = list_cells(
        {name: parameters},
        workers=[workers],
        items=[items],
        effects=[assumed[0].value],
        rule=rule,
        **grid_options(study, settings),
    )[0]
    for remark in cell.study.design.notes:
        note(remark)
    used = DEFAULT_SEED if seed is None else seed
    analytic, simulated = None, None
    if method != "analytic":
        work = study_workload(
            cell.study.design,
            n_simulations=SEARCH_STEPS * (simulations or DEFAULT_SIMULATIONS),
            n_jobs=jobs or default_jobs(),
            closed_form=cell.study.replication.closed_form,
        )
        tell_work(work, n_simulations=simulations or DEFAULT_SIMULATIONS, way_out="--method analytic")
    with kernels_for([cell]):
        if method != "simulate" and not rule.is_simulated and cell.study.shifts:
            precision = effect_precision(parameters, cell.study.design)
            analytic = detectable(precision, effect=cell.study.true_effect, power=target, rule=rule)
        if method != "analytic" or analytic is None:
            if analytic is not None:
                answer_before_compiling(cell.study, f"By formula it is {analytic:.4f} on [0, 1].")
            simulate = simulated_detectable_effect if rule.margin is None else simulated_margin
            simulated = simulate(
                cell.study,
                power=target,
                n_simulations=simulations or DEFAULT_SIMULATIONS,
                seed=used,
                n_jobs=jobs or default_jobs(),
            )
    if as_json:
        record = {
            "schema": MDE_SCHEMA,
            "power": target,
            "analytic": analytic,
            "simulated": None if simulated is None else asdict(simulated),
            **study_record(cell, seed=used, command=typed_command()),
        }
        if rule.margin is not None:
            record = {"understood": understood(assumed), **record}
            record["sought"] = "margin"
            record["effect"] = cell.study.true_effect
            record["rule"] = {**asdict(rule), "margin": None}
        text = to_json(record)
    else:
        text = _text(cell, target, analytic, simulated, settings, understood(assumed))
    emit(text, output=output, force=force)


def _text(
    cell: Cell,
    target: float,
    analytic: float | None,
    simulated: DetectableEffect | None,
    settings: Assumptions,
    said: str,
) -> str:
    rule, true_effect = cell.study.rule, cell.study.true_effect
    has_margin = rule.margin is not None
    facts = [
        *([("Effect", said)] if has_margin else []),
        ("Setting", cell.setting),
        ("Study", str(cell.study.design)),
        ("Test", sought_words(rule) if has_margin else str(rule)),
        ("Target", f"power {target:g}" + (f" at B - A = {true_effect:g}" if has_margin else "")),
    ]
    if analytic is not None:
        facts.append(("Formula", _effect(analytic, settings)))
    if simulated is not None:
        low, high = simulated.interval
        shown = _effect(simulated.effect, settings)
        label = "Margin" if has_margin else "MDE"
        facts.append((label, f"{shown}  (95 % Monte Carlo interval {low:.4f} to {high:.4f})"))
        facts.append(("Fits", f"{simulated.n_simulations:,} simulated, {simulated.n_failed:,} failed"))
    biggest = max(analytic or 0.0, simulated.effect if simulated else 0.0)
    if has_margin:
        facts += _margin_notes(biggest, true_effect)
    elif biggest > 1:
        facts.append(("Note", "An effect above 1 cannot exist: this study finds nothing that surely."))
    return "\n".join(wrapped(text, bullet=f"{label:<9}") for label, text in facts)


def _margin_notes(smallest: float, true_effect: float) -> list[tuple[str, str]]:
    if smallest > 1:
        return [("Note", "A margin above 1 is the whole scale: this study shows nothing that surely.")]
    optimistic = "" if true_effect else " A true difference of 0 is optimistic; --effect asks for another."
    return [
        (
            "Note",
            "This is the smallest margin that the study can be expected to show. Which margin would matter is "
            f"another question, and if it is smaller the study is too small.{optimistic} {PARITY}",
        )
    ]


def _effect(effect: float, settings: Assumptions) -> str:
    text = f"{effect:.4f} on [0, 1]"
    if settings.scale is not None:
        scale = settings.scale
        text += f", {abs(scale.effect_to_raw(effect)):.4g} on the scale {scale.low:g} to {scale.high:g}"
    return text

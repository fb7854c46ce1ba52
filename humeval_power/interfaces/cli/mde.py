"""`humeval-power mde`: the smallest effect that a study of this size can find."""

from __future__ import annotations

from dataclasses import asdict

import click

from humeval_power.interfaces.cli.invocation import typed_command
from humeval_power.interfaces.cli.options import (
    force_option,
    jobs_option,
    json_option,
    output_option,
    quiet_option,
    rule_options,
    seed_option,
    simulations_option,
)
from humeval_power.interfaces.cli.output import emit, note, refuse_to_overwrite, wrapped
from humeval_power.interfaces.cli.power import kernels_for, method_option
from humeval_power.interfaces.cli.study_options import (
    Settings,
    StudyOptions,
    default_jobs,
    grid_options,
    load_settings,
    only_setting,
    study_options,
)
from humeval_power.interfaces.formats.documents import to_json
from humeval_power.planning.analytic import effect_precision, minimum_detectable_effect
from humeval_power.planning.comparison import Method
from humeval_power.planning.detectable import DetectableEffect, simulated_detectable_effect
from humeval_power.planning.power import DEFAULT_SEED, DEFAULT_SIMULATIONS
from humeval_power.planning.surface import Cell, list_cells
from humeval_power.reporting.records import MDE_SCHEMA, study_record
from humeval_power.rules import DecisionRule

power_target_option = click.option(
    "--power",
    "target",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.8,
    show_default=True,
    help="Target power.",
)


@click.command("mde")
@study_options
@click.option("--workers", type=int, required=True, help="Number of workers.")
@click.option("--items", type=int, required=True, help="Number of items.")
@power_target_option
@rule_options
@method_option
@simulations_option
@seed_option
@jobs_option
@json_option
@output_option
@force_option
@quiet_option
def command(
    study: StudyOptions,
    workers: int,
    items: int,
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

    A difference B - A on [0, 1]; by formula, and proved by simulation.
    """
    if output is not None:
        refuse_to_overwrite([output], force=force)
    settings = load_settings(study)
    name, parameters = only_setting(settings)
    cell = list_cells(
        {name: parameters},
        workers=[workers],
        items=[items],
        effects=[0.0],
        rule=rule,
        **grid_options(study, settings),
    )[0]
    for remark in cell.study.design.notes:
        note(remark)
    used = DEFAULT_SEED if seed is None else seed
    analytic, simulated = None, None
    with kernels_for([cell]):
        if method != "simulate" and not rule.is_simulated and cell.study.shifts:
            precision = effect_precision(parameters, cell.study.design)
            analytic = minimum_detectable_effect(precision, power=target, rule=rule)
        if method != "analytic" or analytic is None:
            simulated = simulated_detectable_effect(
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
        text = to_json(record)
    else:
        text = _text(cell, target, analytic, simulated, settings)
    emit(text, output=output, force=force)


def _text(
    cell: Cell,
    target: float,
    analytic: float | None,
    simulated: DetectableEffect | None,
    settings: Settings,
) -> str:
    facts = [
        ("Setting", cell.setting),
        ("Study", str(cell.study.design)),
        ("Test", str(cell.study.rule)),
        ("Target", f"power {target:g}"),
    ]
    if analytic is not None:
        facts.append(("Formula", _effect(analytic, settings)))
    if simulated is not None:
        low, high = simulated.interval
        shown = _effect(simulated.effect, settings)
        facts.append(("MDE", f"{shown}  (95 % Monte Carlo interval {low:.4f} to {high:.4f})"))
        facts.append(("Fits", f"{simulated.n_simulations:,} simulated, {simulated.n_failed:,} failed"))
    biggest = max(analytic or 0.0, simulated.effect if simulated else 0.0)
    if biggest > 1:
        facts.append(("Note", "An effect above 1 cannot exist: this study finds nothing that surely."))
    return "\n".join(wrapped(text, bullet=f"{label:<9}") for label, text in facts)


def _effect(effect: float, settings: Settings) -> str:
    text = f"{effect:.4f} on [0, 1]"
    if settings.scale is not None:
        scale = settings.scale
        text += f", {abs(scale.effect_to_raw(effect)):.4g} on the scale {scale.low:g} to {scale.high:g}"
    return text

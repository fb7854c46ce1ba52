"""`humeval-power size`: the fewest workers, items or ratings per item that reach a target power."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import get_args

import click

from humeval_power.api.progress import in_percent, progress
from humeval_power.differences import Difference
from humeval_power.interfaces.cli.compiling import compiled_kernels
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
    power_target_option,
    result_options,
    rule_options,
    run_options,
)
from humeval_power.interfaces.cli.output import emit, refuse_to_overwrite, wrapped
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.run import EXIT_TARGET_MISSED, typed_command
from humeval_power.interfaces.cli.study.options import (
    StudyOptions,
    load_settings,
    only_setting,
    source_needed,
    study_options,
)
from humeval_power.interfaces.cli.work_ahead import tell_work
from humeval_power.interfaces.formats.documents.reading import to_json
from humeval_power.planning.power import DEFAULT_SEED, DEFAULT_SIMULATIONS
from humeval_power.planning.study.analytic import HalfwayPower, halfway_power
from humeval_power.planning.study.required import RequiredSize, Sought, counts_precision, required_size
from humeval_power.reporting.records import size_record
from humeval_power.reporting.rule_words import PARITY, halfway_words, margin_words
from humeval_power.rules import DecisionRule
from humeval_power.scales import RatingScale


@click.command("size", cls=Command)
@study_options
@click.option(
    "--find",
    "sought",
    type=click.Choice(get_args(Sought)),
    required=True,
    help="What to find; give the other two (without --ratings-per-item every worker rates every item).",
)
@click.option("--workers", type=WholeNumber(), help="Number of workers.")
@click.option("--items", type=WholeNumber(), help="Number of items.")
@effect_options(
    "True difference B - A on [0, 1] to be found; with --margin the one assumed. [0 with --margin]"
)
@power_target_option
@rule_options
@run_options
@result_options
@source_needed
@effect_needed
def command(
    study: StudyOptions,
    sought: Sought,
    workers: int | None,
    items: int | None,
    effect: TypedEffects | None,
    target: float,
    rule: DecisionRule,
    simulations: int | None,
    seed: int | None,
    jobs: int | None,
    as_json: bool,
    output: str | None,
    force: bool,
) -> None:
    """The fewest workers, items or ratings per item that reach the target power.

    Found by formula and proved by simulation. Ends with 3, and the reason, if
    no number will do.
    """
    if output is not None:
        refuse_to_overwrite([output], force=force)
    settings = load_settings(study)
    name, parameters = only_setting(settings)
    said = (effect or NO_DIFFERENCE).one(settings.scale)
    warn_beyond(settings, [said])
    used = DEFAULT_SEED if seed is None else seed
    halfway = None
    n_simulations, n_jobs = simulations or DEFAULT_SIMULATIONS, jobs or default_jobs()
    with compiled_kernels(), progress("Proving", total=100) as advance:
        answer = required_size(
            parameters.with_difference(said.value),
            sought,
            workers=workers,
            items=items,
            ratings_per_item=None if sought == "ratings-per-item" else study.ratings_per_item,
            paired=study.paired,
            power=target,
            rule=rule,
            n_simulations=n_simulations,
            seed=used,
            n_jobs=n_jobs,
            ahead=lambda work: tell_work(work, n_simulations=n_simulations),
            progress=in_percent(advance),
        )
        if answer.counts is not None:
            halfway = halfway_power(rule, precision=counts_precision(parameters, answer.counts))
    if as_json:
        record = size_record(
            answer, parameters, effect=said.value, rule=rule, seed=used, command=typed_command()
        )
        if rule.margin is not None:
            record["halfway_to_margin"] = None if halfway is None else asdict(halfway)
        text = to_json({"understood": str(said), **record})
    else:
        text = _text(name, answer, said, rule, settings.scale, halfway)
    emit(text, output=output, force=force)
    if answer.counts is None:
        sys.exit(EXIT_TARGET_MISSED)


def _text(
    name: str,
    answer: RequiredSize,
    said: Difference,
    rule: DecisionRule,
    scale: RatingScale | None,
    halfway: HalfwayPower | None,
) -> str:
    facts = [
        ("Effect", str(said)),
        ("Setting", name),
        ("Test", str(rule)),
        ("Target", f"power {answer.target:g}"),
    ]
    if rule.margin is not None:
        facts.insert(1, ("Margin", margin_words(rule, scale)))
    counts = answer.counts
    if counts is None or answer.simulated is None:
        facts.append(("Answer", answer.reason))
    else:
        low, high = answer.simulated.interval
        facts += [
            (
                "Answer",
                f"{counts.n_workers:,} workers, {counts.n_items:,} items, {counts.ratings_per_item:,} "
                f"ratings per item and system: {2 * counts.n_items * counts.ratings_per_item:,} ratings",
            ),
            ("Formula", f"power {answer.analytic:.3f}"),
            (
                "Power",
                f"{answer.simulated.power:.3f}  (95 % Monte Carlo interval {low:.3f} to {high:.3f}; the "
                "smallest size whose interval does not stay below the target)",
            ),
        ]
    if halfway is not None:
        facts.append(("Halfway", halfway_words(halfway)))
    if rule.margin is not None:
        facts.append(("Note", PARITY))
    return "\n".join(wrapped(text, bullet=f"{label:<9}") for label, text in facts)

"""`humeval-power looks`: plan a study that is looked at before its end."""

from __future__ import annotations

from typing import get_args

import click

from humeval_power.assumptions import Assumptions
from humeval_power.costs import CostModel
from humeval_power.differences import Difference
from humeval_power.interfaces.cli.compiling import compiled_kernels
from humeval_power.interfaces.cli.costs import CostOptions, cost_model, cost_options
from humeval_power.interfaces.cli.effect_options import TypedEffects, effect_options, warn_beyond
from humeval_power.interfaces.cli.looks.figures import figure_files, figure_paths
from humeval_power.interfaces.cli.looks.judgements import accuracy, preference, scores
from humeval_power.interfaces.cli.looks.options import (
    LooksOptions,
    curve_of,
    effects_of,
    figures_option,
    looks_options,
)
from humeval_power.interfaces.cli.looks.pool import pool
from humeval_power.interfaces.cli.looks.text import (
    LONG_RUN,
    bias_text,
    boundaries_text,
    calibration_text,
    choices_text,
    errors_text,
    facts_text,
    growth_text,
    points_text,
    rows_text,
)
from humeval_power.interfaces.cli.numbers import WholeNumber
from humeval_power.interfaces.cli.options import default_jobs, result_options, run_options
from humeval_power.interfaces.cli.output import emit, note, refuse_to_overwrite, wrapped
from humeval_power.interfaces.cli.required_options import Command, needs
from humeval_power.interfaces.cli.run import typed_command
from humeval_power.interfaces.cli.study.options import (
    StudyOptions,
    likert_points,
    load_settings,
    only_setting,
    source_needed,
    study_options,
)
from humeval_power.interfaces.cli.work_ahead import refuse_work, tell_work
from humeval_power.planning.looks.calibration import Calibrate
from humeval_power.planning.looks.how_many import (
    Growth,
    LooksChoice,
    compare_growth,
    compare_numbers_of_looks,
    new_workers_advice,
)
from humeval_power.planning.looks.long_run import OperatingPoint
from humeval_power.planning.looks.rating_looks import LookPlan, plan_looks
from humeval_power.planning.power import DEFAULT_SEED, DEFAULT_SIMULATIONS
from humeval_power.planning.study.designs_of import build_design
from humeval_power.planning.workload import study_workload
from humeval_power.reporting.looks.records import looks_record
from humeval_power.rules import DecisionRule
from humeval_power.scenarios.looks.looks import LookKind, Looks
from humeval_power.scenarios.looks.ratings import RatingLooks


@click.command("study", cls=Command)
@study_options
@click.option("--workers", type=WholeNumber(), required=True, help="Number of workers at the end.")
@click.option("--items", type=WholeNumber(), required=True, help="Number of items at the end.")
@effect_options("True difference B - A on [0, 1] to find.")
@click.option(
    "--looks-by",
    type=click.Choice(get_args(LookKind)),
    default="items",
    show_default=True,
    help="What a look adds: items for the same workers, workers for the same items, more ratings of the "
    "same items, or blocks of new workers with new items.",
)
@looks_options(efficacy="lan-demets-obrien-fleming")
@click.option(
    "--calibrate",
    type=click.Choice(["auto", "always", "never"]),
    default="auto",
    show_default=True,
    help="Correct the boundaries by simulation: if fewer than 10 workers are there at the first look.",
)
@effect_options(
    "True effects for the table of the long run. [none, half and all of --effect]",
    option="--effects",
    parameter="effects",
    many="0,0.1",
)
@cost_options
@run_options
@figures_option
@result_options
@source_needed
@needs("--effect or --effect-raw", ("effect", "effect_raw"))
def study_command(
    study: StudyOptions,
    workers: int,
    items: int,
    effect: TypedEffects,
    looks_by: LookKind,
    looks: LooksOptions,
    calibrate: Calibrate,
    effects: TypedEffects | None,
    prices: CostOptions,
    simulations: int | None,
    seed: int | None,
    jobs: int | None,
    figures: str | None,
    as_json: bool,
    output: str | None,
    force: bool,
) -> None:
    """Plan a rating study with looks before its end.

    Shows the information at each look, the boundaries, how often these and
    careless ones find what is not there, and the study's long run.
    """
    written = [] if output is None else [output]
    written += [] if figures is None else [*map(str, figure_paths(figures))]
    refuse_to_overwrite(written, force=force)
    settings = load_settings(study)
    said = effect.one(settings.scale)
    shown = None if effects is None else tuple(each.value for each in effects.on(settings.scale))
    warn_beyond(settings, [said])
    name, source = _source(study, settings, workers, items, said.value, Looks(looks_by, looks.at), looks)
    model = _model(prices)
    if not source.by_mean_squares:
        note("These looks are simulated rating by rating, which may take a minute; see --simulations.")
    design = source.design
    tell_work(
        study_workload(
            design,
            n_simulations=simulations or DEFAULT_SIMULATIONS,
            n_jobs=jobs or default_jobs(),
            closed_form=source.by_mean_squares,
        ),
        n_simulations=simulations or DEFAULT_SIMULATIONS,
    )
    with compiled_kernels():
        plan = plan_looks(
            source,
            looks.rule,
            cost=model,
            calibration=calibrate,
            n_simulations=simulations,
            seed=DEFAULT_SEED if seed is None else seed,
            n_jobs=jobs or default_jobs(),
        )
        points = plan.at(effects_of(shown, said.value), n_jobs=jobs or default_jobs())
        choices = compare_numbers_of_looks(source, looks.rule) if said.value != 0 else []
        growth = compare_growth(source)
    currency = "" if model is None else model.currency
    pictures: dict[str, str | bytes] = {}
    if figures is not None:
        curve = plan.at(curve_of(said.value), n_jobs=jobs or default_jobs())
        pictures = figure_files(
            plan.bounds,
            points,
            curve,
            sizes=source.sizes,
            costs=plan.costs,
            unit="B - A on [0, 1]",
            currency=currency,
        )
    if as_json:
        from humeval_power.interfaces.formats.documents.reading import to_json

        record = looks_record(
            plan, points, choices=choices, growth=growth, setting=name, command=typed_command()
        )
        text = to_json({"understood": str(said), **record})
    else:
        text = study_text(plan, points, choices, growth, said=said, setting=name, currency=currency)
    emit(text, output=output, force=force, beside=pictures, folder=figures)


def _source(
    study: StudyOptions,
    settings: Assumptions,
    workers: int,
    items: int,
    effect: float,
    at: Looks,
    looks: LooksOptions,
) -> tuple[str, RatingLooks]:
    name, parameters = only_setting(settings)
    design = build_design(
        workers,
        items,
        study.ratings_per_item,
        paired=study.paired,
        kind=study.design,
        max_ratings_per_worker=study.max_ratings_per_worker,
    )
    refuse_work(study_workload(design, n_simulations=1), n_simulations=1)
    rule = DecisionRule(alternative=looks.alternative, alpha=looks.alpha)
    points = likert_points(study, settings)
    return name, RatingLooks(parameters.with_difference(effect), design, at, rule, study.response, points)


def _model(prices: CostOptions) -> CostModel | None:
    typed = prices.cost_per_rating is not None or prices.pay_per_hour is not None
    return cost_model(prices) if typed else None


def study_text(
    plan: LookPlan,
    points: list[OperatingPoint],
    choices: list[LooksChoice],
    growth: list[Growth],
    *,
    said: Difference,
    setting: str,
    currency: str,
) -> str:
    """The plan for people."""
    study = plan.study
    facts = [
        ("Effect", str(said)),
        ("Setting", setting),
        ("Study", str(study.nested.final)),
        ("Looks", str(study.looks)),
        ("Rule", str(plan.bounds.rule)),
        ("Method", plan.method),
    ]
    if plan.calibration is not None:
        facts.append(("", calibration_text(plan.calibration)))
    parts = [facts_text(facts), rows_text(plan), boundaries_text(plan.bounds), errors_text(plan)]
    parts.append(
        wrapped(
            f"Ratings are not information: with known variances the boundaries for shares of ratings would "
            f"err {plan.count_time_error:.3f} of the time here. The p-values are those of Kenward and Roger's "
            "t tests, refitted at every look."
        )
    )
    parts.append(
        wrapped(
            f"To have the power 0.8 with these looks, the whole study needs {plan.inflation:.3f} times the "
            "information of one without them (z-values)."
        )
    )
    parts.append(f"{LONG_RUN}\n{points_text(points, noun='ratings', currency=currency)}")
    parts.append(bias_text(points))
    if choices:
        parts.append("How many looks (equal steps, z-values):\n" + choices_text(choices))
    parts.append("What the looks could add:\n" + growth_text(growth, study.looks.kind))
    advice = new_workers_advice(study, plan.rows)
    if advice is not None:
        parts.append(wrapped(advice))
    return "\n\n".join(parts)


command = click.Group(
    "looks",
    help="""Stop a study early without fooling yourself: interim looks.

    Boundaries, false positives, power and expected cost of studies that are
    looked at before their end.
    """,
)
for _each in (study_command, scores, preference, accuracy, pool):
    command.add_command(_each)

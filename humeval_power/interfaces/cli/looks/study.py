"""`humeval-power looks study`: a rating study that is looked at before its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from humeval_power.assumptions import Assumptions
from humeval_power.choices import LookKind
from humeval_power.interfaces.asking.command import StudyCommand
from humeval_power.interfaces.asking.options import field_option
from humeval_power.interfaces.cli.assumptions import only_setting, source_needed
from humeval_power.interfaces.cli.categories import analysed_as, settled_once
from humeval_power.interfaces.cli.costs import CostOptions, cost_model, cost_options
from humeval_power.interfaces.cli.effect_options import TypedEffects, effect_options, warn_beyond
from humeval_power.interfaces.cli.looks.options import LooksOptions, looks_options
from humeval_power.interfaces.cli.options import family_option, link_option
from humeval_power.interfaces.cli.output import note
from humeval_power.interfaces.cli.required_options import needs
from humeval_power.interfaces.cli.results import with_result
from humeval_power.interfaces.cli.run import Run, with_run
from humeval_power.interfaces.cli.study.options import (
    StudyOptions,
    likert_points,
    load_settings,
    study_options,
    typed_design,
)
from humeval_power.interfaces.cli.systems_options import two_systems_option
from humeval_power.latent import Family, Link
from humeval_power.rules import DecisionRule

if TYPE_CHECKING:
    from humeval_power.costs import CostModel
    from humeval_power.planning.looks.calibration import Calibrate
    from humeval_power.reporting.looks.results import LooksStudyResult
    from humeval_power.scenarios.looks.looks import Looks
    from humeval_power.scenarios.looks.ratings import RatingLooks


@click.command("study", cls=StudyCommand)
@study_options
@field_option("workers", required=True, help="Number of workers at the end.")
@field_option("items", required=True, help="Number of items at the end.")
@two_systems_option
@effect_options("True difference B - A on [0, 1] to find.", latent=True)
@family_option
@link_option
@field_option("looks_by")
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
@with_run
@with_result()
@source_needed
@needs("--effect or --effect-raw", ("effect", "effect_raw", "effect_latent"))
def command(
    study: StudyOptions,
    workers: int,
    items: int,
    effect: TypedEffects,
    family: Family,
    link: Link,
    looks_by: LookKind,
    looks: LooksOptions,
    calibrate: Calibrate,
    effects: TypedEffects | None,
    prices: CostOptions,
    run: Run,
) -> LooksStudyResult:
    """Plan a rating study with looks before its end.

    Shows the information at each look, the boundaries, how often these and
    careless ones find what is not there, and the study's long run.
    """
    from humeval_power.api import looks as api
    from humeval_power.interfaces.cli.work_ahead import tell_work
    from humeval_power.planning.workload import study_workload
    from humeval_power.scenarios.looks.looks import Looks

    settings, said = settled_once(load_settings(study), study.shares, link, effect)
    shown = None if effects is None else [each.value for each in effects.on(settings.scale)]
    warn_beyond(settings, [said])
    rule = DecisionRule(alternative=looks.alternative, alpha=looks.alpha, family=family, link=link)
    rule = analysed_as(rule, settings)
    name, source = _source(study, settings, workers, items, said.value, Looks(looks_by, looks.at), rule)
    if not source.by_mean_squares:
        note("These looks are simulated rating by rating, which may take a minute; see --simulations.")
    work = study_workload(
        source.design,
        n_simulations=run.simulations(),
        n_jobs=run.n_jobs,
        closed_form=source.by_mean_squares,
    )
    tell_work(work, n_simulations=run.simulations())
    return api.study(
        source,
        looks.rule,
        effects=shown,
        cost=_model(prices),
        calibration=calibrate,
        setting=name,
        understood=str(said),
        n_simulations=run.typed,
        seed=run.seed,
        n_jobs=run.n_jobs,
    )


def _source(
    study: StudyOptions,
    settings: Assumptions,
    workers: int,
    items: int,
    effect: float,
    at: Looks,
    rule: DecisionRule,
) -> tuple[str, RatingLooks]:
    from humeval_power.interfaces.cli.work_ahead import refuse_work
    from humeval_power.planning.workload import study_workload
    from humeval_power.scenarios.looks.ratings import RatingLooks

    name, parameters = only_setting(settings)
    design = typed_design(study, workers, items)
    refuse_work(study_workload(design, n_simulations=1), n_simulations=1)
    points = likert_points(study, settings)
    return name, RatingLooks(parameters.with_difference(effect), design, at, rule, study.response, points)


def _model(prices: CostOptions) -> CostModel | None:
    typed = prices.cost_per_rating is not None or prices.pay_per_hour is not None
    return cost_model(prices) if typed else None

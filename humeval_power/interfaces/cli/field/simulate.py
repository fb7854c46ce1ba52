"""`humeval-power simulate`: the ratings of one study, or a rehearsal of a planned one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from humeval_power.choices import DEFAULT_SEED, Exclusion
from humeval_power.comparisons import DEFAULT_FAMILY
from humeval_power.differences import Difference
from humeval_power.interfaces.asking.command import StudyCommand, Use
from humeval_power.interfaces.asking.options import field_option
from humeval_power.interfaces.cli.adapting import rehearsed_or_drawn
from humeval_power.interfaces.cli.assumptions import only_setting, source_needed
from humeval_power.interfaces.cli.categories import settled_once, without_effect
from humeval_power.interfaces.cli.comparison_options import TypedFamily
from humeval_power.interfaces.cli.effect_options import TypedEffects, effect_options, warn_beyond
from humeval_power.interfaces.cli.field.rehearsal_options import (
    Rehearsing,
    check_rehearsing,
    rehearsal_options,
)
from humeval_power.interfaces.cli.options import link_option, seed_option
from humeval_power.interfaces.cli.required_options import needs
from humeval_power.interfaces.cli.results import with_result
from humeval_power.interfaces.cli.study.options import (
    StudyOptions,
    likert_points,
    load_settings,
    loss_options,
    study_options,
    typed_design,
)
from humeval_power.interfaces.cli.study.systems import only_systems, typed_effects, typed_systems
from humeval_power.interfaces.cli.systems_options import AskedSystems, systems_options
from humeval_power.latent import Link
from humeval_power.rules import DEFAULT_RULE

if TYPE_CHECKING:
    from humeval_power.reporting.field.rehearsal import RehearsalResult
    from humeval_power.reporting.study.simulated import SimulatedStudy
    from humeval_power.reporting.study.systems_surface import SimulatedSystems
    from humeval_power.simulation.losses import Losses


@click.command("simulate", cls=StudyCommand, use=Use(adapts=rehearsed_or_drawn, writes="rehearsal"))
@rehearsal_options
@study_options
@loss_options
@field_option("workers", help="Number of workers, where there is no plan.")
@field_option("items")
@systems_options
@effect_options("True difference B - A on [0, 1]. [as in the parameters, or the plan's]", latent=True)
@link_option
@seed_option
@with_result(endings=(".csv",))
@needs("--workers", ("workers", "plan"))
@needs("--items", ("items", "plan"))
@source_needed
def command(
    rehearsing: Rehearsing,
    study: StudyOptions,
    losses: Losses,
    exclusion: Exclusion,
    workers: int | None,
    items: int | None,
    asked: AskedSystems,
    effect: TypedEffects | None,
    link: Link,
    seed: int | None,
) -> SimulatedStudy | SimulatedSystems | RehearsalResult:
    """Draw the ratings of one study; -o FILE.csv writes them.

    The table has the columns worker, item, system (A, B) and rating, on --scale
    or, without it, on [0, 1]; --format csv prints it. With --n-systems 8, or the
    names of --systems, it has the ratings of several systems.

    With --plan PATH --assignment FILE it rehearses a planned study as it is
    assigned, with its names, codes, order, checks and repeats, and workers who
    stop or do not care, so that all that follows can be tried beforehand.
    """
    from humeval_power.interfaces.cli.field.rehearse import rehearsed

    check_rehearsing(click.get_current_context(), rehearsing)
    if rehearsing.plan is not None:
        return rehearsed(rehearsing, study, losses, effect, asked.system_means, seed)
    assert workers is not None
    assert items is not None
    return _drawn(study, losses, exclusion, (workers, items), asked, effect, link, seed)


def _drawn(
    study: StudyOptions,
    losses: Losses,
    exclusion: Exclusion,
    size: tuple[int, int],
    asked: AskedSystems,
    effect: TypedEffects | None,
    link: Link,
    seed: int | None,
) -> SimulatedStudy | SimulatedSystems:
    """A study of parameters."""
    from humeval_power.api.study import simulate
    from humeval_power.api.systems_power import simulate_ratings
    from humeval_power.interfaces.cli.work_ahead import refuse_work
    from humeval_power.planning.workload import study_workload

    workers, items = size
    seed = DEFAULT_SEED if seed is None else seed
    several = typed_systems(study, asked, TypedFamily(DEFAULT_FAMILY, ()), DEFAULT_RULE)
    if several is not None:
        effects = () if effect is None and asked.system_means is None else typed_effects(several, effect)
        name, drawn = only_systems(several, effects)
        one = several.of(name, drawn, workers, items)
        refuse_work(study_workload(one.design, n_simulations=1), n_simulations=1)
        return simulate_ratings(one, seed=seed, scale=several.scale)
    settings, said = load_settings(study), None
    if effect is not None:
        others = tuple(replace(entry, scale=None) for entry in settings.entries)
        settings, said = settled_once(replace(settings, entries=others), study.shares, link, effect)
    else:
        settings = without_effect(settings, study.shares, link)
    _, parameters = only_setting(settings)
    shown = settings.typed_scale
    said = said or Difference(parameters.difference, shown, systems=settings.systems)
    warn_beyond(settings, [said])
    design = typed_design(study, workers, items)
    refuse_work(study_workload(design, n_simulations=1), n_simulations=1)
    return simulate(
        parameters,
        design,
        effect=said,
        scale=shown,
        seed=seed,
        response=study.response,
        points=likert_points(study, settings),
        losses=losses,
        exclusion=exclusion,
    )

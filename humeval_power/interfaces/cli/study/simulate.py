"""`humeval-power simulate`: the ratings of one study."""

from __future__ import annotations

import click

from humeval_power.designs import DEFAULT_ASSIGNMENT_SEED
from humeval_power.differences import Difference
from humeval_power.interfaces.cli.effect_options import TypedEffects, effect_options, warn_beyond
from humeval_power.interfaces.cli.numbers import WholeNumber
from humeval_power.interfaces.cli.options import force_option, output_option, quiet_option, seed_option
from humeval_power.interfaces.cli.output import emit, note, refuse_to_overwrite
from humeval_power.interfaces.cli.required_options import Command
from humeval_power.interfaces.cli.study.options import (
    StudyOptions,
    likert_points,
    load_settings,
    loss_options,
    only_setting,
    source_needed,
    study_options,
)
from humeval_power.interfaces.cli.work_ahead import refuse_work
from humeval_power.planning.power import DEFAULT_SEED
from humeval_power.planning.study.designs_of import build_design
from humeval_power.planning.workload import study_workload
from humeval_power.safe_text import table_csv
from humeval_power.simulation.losses import Exclusion, Losses
from humeval_power.simulation.study import simulate


@click.command("simulate", cls=Command)
@study_options
@loss_options
@click.option("--workers", type=WholeNumber(), required=True, help="Number of workers.")
@click.option("--items", type=WholeNumber(), required=True, help="Number of items.")
@effect_options("True difference B - A on [0, 1]. [as in the parameters]")
@seed_option
@output_option
@force_option
@quiet_option
@source_needed
def command(
    study: StudyOptions,
    losses: Losses,
    exclusion: Exclusion,
    workers: int,
    items: int,
    effect: TypedEffects | None,
    seed: int | None,
    output: str | None,
    force: bool,
) -> None:
    """Draw the ratings of one study and write them as CSV.

    The table has the columns worker, item, system (A, B) and rating, on --scale
    or, without it, on [0, 1].
    """
    if output is not None:
        refuse_to_overwrite([output], force=force)
    settings = load_settings(study)
    _, parameters = only_setting(settings)
    shown = settings.typed_scale
    said = Difference(parameters.difference, shown) if effect is None else effect.one(shown)
    warn_beyond(settings, [said])
    if effect is not None:
        parameters = parameters.with_difference(said.value)
    design = build_design(
        workers,
        items,
        study.ratings_per_item,
        paired=study.paired,
        kind=study.design,
        max_ratings_per_worker=study.max_ratings_per_worker,
    )
    refuse_work(study_workload(design, n_simulations=1), n_simulations=1)
    for remark in design.notes:
        note(remark)
    used = DEFAULT_SEED if seed is None else seed
    points = likert_points(study, settings)
    ratings = simulate(
        parameters,
        design,
        seed=used,
        response=study.response,
        points=points,
        losses=losses,
        exclusion=exclusion,
    )
    if len(ratings.rating) < design.n_ratings:
        note(f"{len(ratings.rating):,} of {design.n_ratings:,} planned ratings are left.")
    beyond = int(((ratings.rating < 0) | (ratings.rating > 1)).sum())
    if beyond:
        note(
            f"{beyond:,} of {len(ratings.rating):,} ratings lie beyond the ends of the scale, which the model does "
            "not know, and a table with them is refused where the scale is declared: --response clipped or "
            "likert keeps them on it."
        )
    note(f"Effect: {said}; {design}; seed {used} (assignment seed {DEFAULT_ASSIGNMENT_SEED})")
    emit(table_csv(ratings.to_frame(shown), digits=6), output=output, force=force, exact=True)

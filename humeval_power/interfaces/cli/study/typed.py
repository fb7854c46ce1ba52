"""The one study that `power` and `mde` are asked about, from what was typed."""

from __future__ import annotations

import click

from humeval_power.choices import Exclusion
from humeval_power.differences import Difference
from humeval_power.interfaces.cli.assumptions import only_setting
from humeval_power.interfaces.cli.categories import analysed_as, settled_once, without_effect
from humeval_power.interfaces.cli.effect_options import TypedEffects, warn_beyond
from humeval_power.interfaces.cli.study.options import StudyOptions, grid_options, load_settings
from humeval_power.interfaces.cli.study.running import CARD2020_UNIT
from humeval_power.planning.study.surface import Cell, list_cells
from humeval_power.rules import CARD2020, DecisionRule
from humeval_power.scales import RatingScale
from humeval_power.simulation.losses import NO_LOSSES, Losses


def typed_study(
    study: StudyOptions,
    *,
    workers: int,
    items: int,
    effect: TypedEffects,
    rule: DecisionRule,
    compat: str | None = None,
    losses: Losses = NO_LOSSES,
    exclusion: Exclusion = "none",
) -> tuple[Cell, Difference, RatingScale | None]:
    """The study with the name of its setting, the effect as it was understood, and the scale."""
    settings = load_settings(study)
    if compat and rule.margin is not None:
        raise click.UsageError("--compat card2020 tests for a difference: leave out --margin.")
    if compat:
        settings = without_effect(settings, study.shares, rule.link)
        value = CARD2020_UNIT * effect.coefficients(CARD2020_UNIT)[0]
        said = Difference(value, settings.scale, systems=settings.systems)
        rule = CARD2020
    else:
        settings, said = settled_once(settings, study.shares, rule.link, effect)
        rule = analysed_as(rule, settings)
    name, parameters = only_setting(settings)
    warn_beyond(settings, [said])
    (cell,) = list_cells(
        {name: parameters},
        workers=[workers],
        items=[items],
        effects=[said.value],
        rule=rule,
        losses=losses,
        exclusion=exclusion,
        **grid_options(study, settings),
    )
    return cell, said, settings.scale

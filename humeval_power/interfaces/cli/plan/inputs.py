"""Where a plan's numbers come from: a pilot, parameter files, presets, the command line, or none of these."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from humeval_power.api import plan as api
from humeval_power.assumptions import Assumptions
from humeval_power.differences import Difference
from humeval_power.errors import InputError
from humeval_power.interfaces.cli.assumptions import Sources, read_assumptions
from humeval_power.interfaces.cli.categories import Shares, settled_once
from humeval_power.interfaces.cli.effect_options import NO_DIFFERENCE, TypedEffects
from humeval_power.interfaces.cli.options import TableOptions, typed_scale
from humeval_power.interfaces.formats.study.presets import TYPICAL, usual_assumptions
from humeval_power.latent import Link
from humeval_power.rules import DEFAULT_RULE, DecisionRule

if TYPE_CHECKING:
    from humeval_power.ratings import Ratings


def load_pilot(path: str | None, table: TableOptions) -> Ratings | None:
    """The table to plan from, of two systems or more; None where there is none.

    Raises
    ------
    InputError
        All problems of the table at once.
    """
    if path is None:
        return None
    from humeval_power.interfaces.cli.loading import load_ratings

    ratings = load_ratings(path, table, require_pair=False)
    return ratings if ratings.n_systems > 1 else load_ratings(path, table)  # which says what is wrong


def load_assumptions(
    pilot: Ratings | None, table: TableOptions, sources: Sources, rule: DecisionRule
) -> Assumptions:
    """Read what was named, and fit a pilot as the rule's family; it comes first. Where nothing is named, the
    usual entries, as for the preset 'typical'.

    Raises
    ------
    InputError
        A pilot that cannot be fitted, or that does not identify its variances.
    """
    scale = typed_scale(table.scale, table.lower_is_better)
    named = Assumptions((), scale, table.pair)
    usual = not sources or (sources.preset == (TYPICAL,) and not replace(sources, preset=()))
    if not usual:
        named = read_assumptions(sources, scale, table.pair)
    if pilot is None:
        return usual_assumptions(scale, systems=table.pair) if usual else named
    if any(entry.name == "pilot" for entry in named.entries):
        raise click.UsageError("A parameter file is called 'pilot', as the PILOT table is; rename it.")
    own = api.pilot(pilot, rule=rule, allow_not_identified=sources.allow_not_identified)
    return replace(named, entries=(own, *named.entries))


def planned_effect(
    assumed: Assumptions,
    typed: TypedEffects | None,
    *,
    observed: bool,
    shares: Shares | None = None,
    link: Link = DEFAULT_RULE.link,
) -> tuple[Assumptions, Difference, tuple[str, ...]]:
    """What to plan from, in categories of the shares if there are any, the effect to plan for, and a warning
    where it is the one that the pilot showed.

    Raises
    ------
    InputError
        The pilot's own effect, where there is no pilot.
    """
    if typed is not None and observed:
        raise click.UsageError(
            "Give the smallest effect of interest, --effect or --effect-raw, or --observed-power: not both."
        )
    if not observed:
        return (*settled_once(assumed, shares, link, typed or NO_DIFFERENCE), ())
    if assumed.observed is None:
        raise InputError("--observed-power needs a pilot or a parameter file with an estimate of your own.")
    warning = (
        f"Warning: the pilot's own estimate, {assumed.observed:.4g}, is taken as the effect. Its error is as "
        "large as the pilot is small, and an estimate that led to a study tends to be too large. Power at "
        "the observed effect says nothing that the pilot's p-value does not. Name the smallest effect that "
        "would matter instead."
    )
    said = Difference(assumed.observed, assumed.scale, systems=assumed.systems)
    there = TypedEffects("--observed-power", (said.value,))
    return settled_once(assumed, shares, link, there)[0], said, (warning,)

"""Where a plan's numbers come from: a pilot, parameter files, presets, the command line, or none of these."""

from __future__ import annotations

from dataclasses import replace

import click

from humeval_power.assumptions import Assumed, Assumptions
from humeval_power.errors import InputError
from humeval_power.interfaces.cli.assumptions import Sources, read_assumptions
from humeval_power.interfaces.cli.loading import load_ratings
from humeval_power.interfaces.cli.options import TableOptions, typed_scale


def load_assumptions(pilot: str | None, table: TableOptions, sources: Sources) -> Assumptions:
    """Read and fit what was named; the pilot comes first. Where nothing is named, the usual entries.

    Raises
    ------
    InputError
        A pilot that cannot be fitted, or that does not identify its variances.
    """
    scale = typed_scale(table.scale, table.lower_is_better)
    named = Assumptions((), scale, table.systems)
    if sources:
        named = read_assumptions(sources, scale, table.systems)
    if pilot is None:
        return named if named.entries else _usual(sources, named)
    if any(entry.name == "pilot" for entry in named.entries):
        raise click.UsageError("A parameter file is called 'pilot', as the PILOT table is; rename it.")
    own = _of_pilot(pilot, table, sources.allow_not_identified)
    return replace(named, entries=(own, *named.entries))


def _usual(sources: Sources, named: Assumptions) -> Assumptions:
    """What to plan from where nothing is known of the study."""
    from humeval_power.interfaces.formats.study.presets import usual_entries

    names, why = usual_entries(named.typed_scale)
    found = read_assumptions(replace(sources, preset=names), named.typed_scale, named.typed_systems)
    return replace(found, chosen=why)


def _of_pilot(path: str, table: TableOptions, allow_not_identified: bool) -> Assumed:
    from humeval_power.estimation.fitting import fit

    ratings = load_ratings(path, table)
    fitted = fit(ratings)
    if fitted.not_identified and not allow_not_identified:
        raise InputError(
            f"{ratings.source} does not identify {', '.join(fitted.not_identified)}: only "
            f"{'; '.join(fitted.identified_combinations)}. Plan with the same ratings per item and system "
            "and add --allow-not-identified, or collect a pilot in which some items have two ratings or "
            "more under a system."
        )
    a, b = ratings.system_names
    return Assumed(
        "pilot",
        fitted.parameters,
        scale=ratings.scale,
        systems=(a, b),
        uncertainty=fitted.uncertainty,
        origin="pilot",
        file=ratings.source,
        ratings=ratings.source,
    )

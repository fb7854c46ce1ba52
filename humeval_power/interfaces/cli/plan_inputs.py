"""Where a plan's numbers come from: a pilot, parameter files, presets, or the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import click

from humeval_power.errors import InputError
from humeval_power.interfaces.cli.loading import load_ratings
from humeval_power.interfaces.cli.options import TableOptions
from humeval_power.interfaces.cli.study_options import read_settings
from humeval_power.parameters import Parameters
from humeval_power.planning.plan import ParameterSource
from humeval_power.scales import RatingScale
from humeval_power.uncertainty import VarianceUncertainty


@dataclass(frozen=True, slots=True)
class PlanInputs:
    """Parameters by name, the first being planned for; and what is known about their origin."""

    settings: Mapping[str, Parameters]
    sources: Mapping[str, ParameterSource] = field(default_factory=dict)
    scale: RatingScale | None = None
    systems: tuple[str, str] = ("A", "B")
    uncertainty: VarianceUncertainty | None = None
    observed: float | None = None


def load_inputs(
    pilot: str | None,
    table: TableOptions,
    files: tuple[str, ...],
    presets: tuple[str, ...],
    values: Any,
    allow_not_identified: bool,
) -> PlanInputs:
    """Read and fit what was named; the pilot comes first.

    Raises
    ------
    InputError
        A pilot that cannot be fitted, or that does not identify its variances.
    """
    others = PlanInputs({})
    if files or presets or values is not None:
        others = _from_settings(files, presets, values, allow_not_identified)
    if pilot is None:
        if not others.settings:
            raise click.UsageError("Give a PILOT table, --parameters FILE, --preset high,low or --values.")
        return others if table.systems is None else replace(others, systems=table.systems)
    own = _from_pilot(pilot, table, allow_not_identified)
    return PlanInputs(
        {**own.settings, **others.settings},
        {**own.sources, **others.sources},
        own.scale,
        own.systems,
        own.uncertainty,
        own.observed,
    )


def _from_pilot(path: str, table: TableOptions, allow_not_identified: bool) -> PlanInputs:
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
    return PlanInputs(
        {"pilot": fitted.parameters},
        {"pilot": ParameterSource("pilot", ratings.source, ratings.sha256)},
        ratings.scale,
        (a, b),
        fitted.uncertainty,
        fitted.parameters.difference,
    )


def _from_settings(
    files: tuple[str, ...], presets: tuple[str, ...], values: Any, allow_not_identified: bool
) -> PlanInputs:
    settings = read_settings(files, presets, values, allow_not_identified)
    sources = {name: ParameterSource(name) for name in settings.by_name}
    systems: tuple[str, str] = ("A", "B")
    for path, (name, document) in zip(files, settings.documents.items(), strict=True):
        data = document.get("data") or {}
        sources[name] = ParameterSource(name, path, data.get("sha256"))
        if len(settings.documents) == 1 and len(document.get("systems") or ()) == 2:
            systems = (document["systems"][0], document["systems"][1])
    observed = None
    if len(settings.documents) == 1:
        observed = next(iter(settings.by_name.values())).difference
    return PlanInputs(settings.by_name, sources, settings.scale, systems, settings.uncertainty, observed)

"""The options by which `plan` searches a study of several systems, or of several criteria."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from humeval_power.assumptions import Assumed, Assumptions, Origin
from humeval_power.differences import Difference
from humeval_power.errors import InputError
from humeval_power.interfaces.asking.options import field_option
from humeval_power.interfaces.cli.assumptions import Sources
from humeval_power.interfaces.cli.comparison_options import TypedFamily
from humeval_power.interfaces.cli.effect_options import TypedEffects
from humeval_power.interfaces.cli.options import Function, TableOptions, collected, typed_scale
from humeval_power.interfaces.cli.systems_options import (
    DEFAULT_PATTERN,
    AskedSystems,
    goal_option,
    means_option,
    n_systems_option,
    pattern_option,
)
from humeval_power.planning.plan.systems_pilot import SystemsPilot, for_systems
from humeval_power.rules import DecisionRule
from humeval_power.systems import SystemsParameters, system_names

if TYPE_CHECKING:
    from humeval_power.ratings import Ratings


_OF_MANY = ("--comparisons", "--all-pairs", "--baseline", "--model", "--system-variances", "--correction")
NOT_OF_SYSTEMS = ("documents", "max_documents")  # limits of the search that several systems do not have
_REFUSED = {  # options that a search for several systems does not know, by their parameter
    *("observed_power", "shares", "safe", "confidence", *NOT_OF_SYSTEMS),
    *("lost", "quitting", "at_random", "straight_lining", "careless", "exclusion"),
    *("looks", "looks_by", "efficacy", "futility"),
}
_OF_CRITERIA = ("--correct-over",)


@dataclass(frozen=True, slots=True)
class AskedStudy(AskedSystems):
    """What was typed of several systems and criteria; None and () where it was not."""

    criteria: tuple[str, ...] = ()


_OPTIONS = (
    n_systems_option,
    pattern_option,
    means_option,
    goal_option,
    field_option("criteria", callback=lambda _ctx, _option, names: names or ()),
)


def systems_options(command: Function) -> Function:
    """Add the options; the command gets them as `asked: AskedStudy`."""
    return collected(command, _OPTIONS, name="asked", collect=_asked)


def _asked(values: dict[str, Any]) -> AskedStudy:
    typed = ("n_systems", "pattern", "system_means", "goal", "criteria")
    return AskedStudy(systems=None, **{name: values.pop(name) for name in typed})


@dataclass(frozen=True, slots=True)
class SystemsInputs:
    """Several systems with what is assumed of them, by the name of each setting, and where that comes from."""

    assumed: Mapping[str, SystemsParameters]
    sources: Assumptions
    said: Difference | None
    remarks: tuple[str, ...]


def load_systems(
    pilot: Ratings | None,
    table: TableOptions,
    sources: Sources,
    rule: DecisionRule,
    *,
    asked: AskedStudy,
    effect: TypedEffects | None,
    comparing: TypedFamily,
) -> SystemsInputs | None:
    """What is planned for, where that is several systems or criteria; None for one test of two systems.

    Raises
    ------
    InputError
        A file that cannot be read or fitted, or options of several systems where there are two.
    """
    many = _fitted_together(pilot, sources, comparing)
    count = _count(table, asked, many)
    if count == 2 and not asked.criteria:
        _refuse_many(asked, comparing)
        if pilot is not None and pilot.n_systems > 2:
            raise click.UsageError(
                f"{pilot.source} has {pilot.n_systems} systems: name the two of them by --systems A,B."
            )
        return None
    from humeval_power.interfaces.cli.plan.inputs import load_assumptions

    rest = replace(
        sources, parameters=tuple(path for path in sources.parameters if _stem(path) not in many)
    )
    own = None if pilot is not None and pilot.n_systems > 2 else pilot
    known = Assumptions((), typed_scale(table.scale, table.lower_is_better))
    if rest or own is not None or not many:
        known = load_assumptions(own, table, rest, rule)
    names = _names(table, count, [found.parameters for _, found in many.values()], known)
    settings = {name: for_systems(found.parameters, names) for name, (_, found) in many.items()}
    for entry in known.entries:
        settings[entry.name] = SystemsParameters.of_parameters(entry.parameters, names=names)
    known = replace(known, entries=(*(source for source, _ in many.values()), *known.entries))
    remarks = tuple(note for _, found in many.values() for note in found.notes)
    return _with_means(settings, known, asked, effect, remarks)


def _with_means(
    settings: Mapping[str, SystemsParameters],
    known: Assumptions,
    asked: AskedStudy,
    effect: TypedEffects | None,
    remarks: tuple[str, ...],
) -> SystemsInputs:
    """The same at the true means that were asked for."""
    if asked.system_means is not None:
        if effect is not None:
            raise click.UsageError("Give --system-means or --effect, not both.")
        found = {name: asked.checked_means(one) for name, one in settings.items()}
        return SystemsInputs(found, known, None, remarks)
    if effect is None or effect.latent:
        raise click.UsageError(
            "Several systems are planned for with --effect, --effect-raw or --system-means."
        )
    said = effect.one(known.scale)
    if said.value <= 0:
        raise InputError(f"{effect.option}: the difference of interest among several systems is above 0.")
    pattern = asked.pattern or DEFAULT_PATTERN
    found = {name: one.with_pattern(pattern, said.value) for name, one in settings.items()}
    return SystemsInputs(found, known, said, remarks)


def _fitted_together(
    pilot: Ratings | None, sources: Sources, comparing: TypedFamily
) -> dict[str, tuple[Assumed, SystemsPilot]]:
    """Fits of several systems by their name, and where they come from: a pilot's table, records of analyses."""
    from humeval_power.interfaces.formats.study.joint_record import is_analysis, read_joint

    found: dict[str, tuple[Assumed, SystemsPilot]] = {}
    if pilot is not None and pilot.n_systems > 2:
        from humeval_power.api.systems_plan import systems_pilot

        fitted = systems_pilot(pilot, variances=comparing.family.variances)
        found["pilot"] = _source("pilot", pilot.source, fitted), fitted
    for path in sources.parameters:
        if is_analysis(path):
            read = read_joint(path)
            found[_stem(path)] = _source(_stem(path), path, read), read
    return found


def _stem(path: str) -> str:
    return Path(path).stem


def _source(name: str, file: str, fitted: SystemsPilot) -> Assumed:
    origin: Origin = "pilot" if name == "pilot" else "file"
    pair = fitted.parameters.pair(0, 1)
    return Assumed(name, pair, scale=fitted.scale, origin=origin, file=file, ratings=fitted.ratings)


def _count(table: TableOptions, asked: AskedStudy, many: Mapping[str, tuple[Assumed, SystemsPilot]]) -> int:
    fitted = next((found.parameters.n_systems for _, found in many.values()), None)
    return replace(asked, systems=table.systems).count or fitted or 2


def _names(
    table: TableOptions,
    count: int,
    fitted: list[SystemsParameters],
    known: Assumptions,
) -> tuple[str, ...]:
    """The names typed, else those of the systems that were fitted if they are as many, else letters."""
    if table.systems is not None:
        return table.systems
    if fitted and fitted[0].n_systems == count:
        return fitted[0].names
    if count == 2:
        return known.systems
    return system_names(count)


def refuse_for_systems(ctx: click.Context) -> None:
    """Refuse options that a search for several systems does not know.

    Raises
    ------
    click.UsageError
        All of them that were typed.
    """
    given = [
        parameter.opts[0]
        for parameter in ctx.command.params
        if parameter.name in _REFUSED
        and ctx.get_parameter_source(parameter.name) is click.core.ParameterSource.COMMANDLINE
    ]
    if given:
        raise click.UsageError(
            f"A plan of several systems or criteria does not know {', '.join(given)}: leave that out, or plan "
            "the two systems that matter most."
        )


def _refuse_many(asked: AskedStudy, comparing: TypedFamily) -> None:
    """Refuse options that say nothing of one test of two systems."""
    asked.refuse()
    comparing.refuse(
        _OF_MANY, "is for several systems: say how many by --n-systems, or name them by --systems."
    )
    comparing.refuse(_OF_CRITERIA, "is for several criteria: name them by --criteria.")

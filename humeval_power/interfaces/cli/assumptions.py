"""Where the parameters of a study come from: options, files, presets, typed values; all with their scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import click

from humeval_power.assumptions import Assumed, Assumptions
from humeval_power.interfaces.asking.options import field_option
from humeval_power.interfaces.cli.options import Function, collected, typed_scale
from humeval_power.interfaces.cli.output import note
from humeval_power.interfaces.cli.required_options import needs
from humeval_power.parameters import PRESETS, Parameters
from humeval_power.rules import DecisionRule
from humeval_power.scales import RatingScale


@dataclass(frozen=True, slots=True)
class Sources:
    """Where parameters come from, as typed."""

    parameters: tuple[str, ...]
    preset: tuple[str, ...]
    allow_not_identified: bool
    values: Parameters | None
    pilot: str | None = None

    def __bool__(self) -> bool:
        return bool(self.parameters or self.preset or self.values is not None or self.pilot)


_PARAMETER_OPTIONS = (
    field_option("parameters"),
    field_option("preset", callback=lambda _ctx, _option, names: names or ()),
    field_option("allow_not_identified"),
    field_option("values"),
)
_SCALE_OPTIONS = (field_option("scale"), field_option("lower_is_better"))


PLAN_FROM = ("parameters", "preset", "values", "pilot")  # any of these says where the parameters come from


source_needed = needs(
    "--parameters FILE (written by 'fit -o'), --preset high,low, --values or --pilot TABLE",
    (*PLAN_FROM, "plan"),
)


def parameter_options(command: Function) -> Function:
    """Add the options that name the parameters; the command gets them as `sources: Sources`."""
    return collected(command, _PARAMETER_OPTIONS, name="sources", collect=_sources)


def source_options(command: Function) -> Function:
    """The same for a command that has no argument for the pilot: with --pilot."""
    pilot = field_option("pilot", help="A table of ratings to estimate them from, as 'check' reads it.")
    return collected(command, (*_PARAMETER_OPTIONS, pilot), name="sources", collect=_sources)


def _sources(values: dict[str, Any]) -> Sources:
    names = [field.name for field in fields(Sources) if field.name in values]
    return Sources(**{name: values.pop(name) for name in names})


def scale_options(command: Function) -> Function:
    """Add --scale and its direction; the command gets them as `scale: RatingScale | None`."""

    def scale_of(values: dict[str, Any]) -> RatingScale | None:
        return typed_scale(values.pop("scale"), values.pop("lower_is_better"))

    return collected(command, _SCALE_OPTIONS, name="scale", collect=scale_of)


def read_assumptions(
    sources: Sources,
    scale: RatingScale | None = None,
    systems: tuple[str, str] | None = None,
    *,
    tell: bool = True,
) -> Assumptions:
    """Parameters from files, presets and the command line, in this order; a preset is a published setting or
    an entry of the library that comes along.

    scale, systems : what the user says of them, which wins
    tell : print what is to be known of an estimate
    """
    if not sources:
        raise click.UsageError(
            "Give --parameters FILE (written by 'fit -o'), --preset high,low, --values or --pilot TABLE."
        )
    found: dict[str, Assumed] = {}
    allow = sources.allow_not_identified
    for path in sources.parameters:
        name = Path(path).stem
        if name in found:
            raise click.UsageError(f"Two parameter files are called {name!r}; rename one.")
        found[name] = _of_file(path, allow, tell=tell)
    for name in _presets(sources, scale):
        if name in found:
            raise click.UsageError(f"A parameter file is called like the preset {name!r}; rename it.")
        found[name] = _of_preset(name, allow, tell=tell)
    if sources.values is not None:
        if "typed" in found:
            raise click.UsageError("A parameter file is called 'typed', as --values are; rename it.")
        found["typed"] = Assumed("typed", sources.values)
    if sources.pilot is not None:
        if "pilot" in found:
            raise click.UsageError(
                "A parameter file is called 'pilot', as the table of --pilot is; rename it."
            )
        found["pilot"] = _of_pilot(sources.pilot, allow)
    return Assumptions(tuple(found.values()), scale, systems)


def _presets(sources: Sources, scale: RatingScale | None) -> tuple[str, ...]:
    if not sources.preset:
        return ()
    from humeval_power.interfaces.formats.study.presets import preset_name

    return tuple(preset_name(name, scale) for name in sources.preset)


def _of_file(path: str, allow_not_identified: bool, *, tell: bool) -> Assumed:
    from humeval_power.interfaces.formats.documents.reading import read_parameters
    from humeval_power.interfaces.formats.study.presets import assumed_of

    _, document = read_parameters(path, allow_not_identified=allow_not_identified)
    if tell:
        _warn_of_zero(Path(path).stem, document)
    return assumed_of(
        document, Path(path).stem, origin="file", file=path, allow_not_identified=allow_not_identified
    )


def _of_pilot(path: str, allow_not_identified: bool) -> Assumed:
    from humeval_power.api.plan import pilot
    from humeval_power.interfaces.cli.pilots import read_pilot

    typed = click.get_current_context().params
    names = {name: typed[name] for name in ("family", "link") if typed.get(name) is not None}
    return pilot(read_pilot(path), rule=DecisionRule(**names), allow_not_identified=allow_not_identified)


def _of_preset(name: str, allow_not_identified: bool, *, tell: bool) -> Assumed:
    from humeval_power.interfaces.formats.study.presets import library_entry, preset_document

    if tell and name not in PRESETS:
        _warn_of_zero(name, preset_document(name))
    return library_entry(name, allow_not_identified=allow_not_identified)


def _warn_of_zero(name: str, document: Mapping[str, Any]) -> None:
    """A worker slope estimated as zero from few workers makes any plan look safe."""
    if "sd_worker_slope" in (document.get("boundary") or []):
        note(
            f"{name}: sd_worker_slope was estimated as zero from {document.get('n_workers')} workers. That is "
            "no proof that workers agree on the difference; power planned from it is too high if they do "
            "not. 'plan --safe 0.8' plans at an upper limit."
        )


def only_setting(settings: Assumptions) -> tuple[str, Parameters]:
    """The single setting of a command that takes one."""
    if len(settings.by_name) != 1:
        raise click.UsageError(f"Give one set of parameters; got {', '.join(settings.by_name)}.")
    return next(iter(settings.by_name.items()))

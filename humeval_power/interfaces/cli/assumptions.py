"""Where the parameters of a study come from: options, files, presets, typed values; all with their scale."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from humeval_power.assumptions import Assumed, Assumptions
from humeval_power.errors import HumevalPowerError
from humeval_power.interfaces.cli.options import (
    Function,
    checked_scale,
    collected,
    direction_option,
    fields_of,
    typed_scale,
)
from humeval_power.interfaces.cli.output import note
from humeval_power.parameters import (
    CORRELATIONS,
    FURTHER_DEVIATIONS,
    PARAMETER_NAMES,
    PRESETS,
    STANDARD_DEVIATIONS,
    Parameters,
)
from humeval_power.scales import RatingScale


@dataclass(frozen=True, slots=True)
class Sources:
    """Where parameters come from, as typed."""

    parameters: tuple[str, ...]
    preset: tuple[str, ...]
    allow_not_identified: bool
    values: Parameters | None

    def __bool__(self) -> bool:
        return bool(self.parameters or self.preset or self.values is not None)


def _names(_ctx: click.Context, _option: click.Parameter, text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


def _typed_values(_ctx: click.Context, _option: click.Parameter, text: str | None) -> Parameters | None:
    if text is None:
        return None
    values: dict[str, object] = {"baseline": 0.5, "effect": 0.0, **dict.fromkeys(STANDARD_DEVIATIONS, 0.0)}
    for part in text.split(","):
        name, _, number = (piece.strip() for piece in part.partition("="))
        if name not in (*PARAMETER_NAMES, *FURTHER_DEVIATIONS, *CORRELATIONS):
            raise click.BadParameter(f"{name!r} is no parameter; they are {', '.join(PARAMETER_NAMES)}.")
        try:
            values[name] = float(number)
        except ValueError:
            raise click.BadParameter(f"write {name}=NUMBER; got {part.strip()!r}.") from None
    try:
        return Parameters.from_dict(values)
    except HumevalPowerError as error:
        raise click.BadParameter(str(error)) from None


_PARAMETER_OPTIONS = (
    click.option(
        "--parameters",
        metavar="FILE",
        multiple=True,
        help="Parameters that 'fit -o' wrote; repeatable.",
    ),
    click.option(
        "--preset",
        metavar="NAMES",
        callback=_names,
        help=f"Published settings: {', '.join(PRESETS)} (Card et al. 2020, Table 16), or any that 'parameters "
        "list' names.",
    ),
    click.option(
        "--allow-not-identified",
        is_flag=True,
        help="Use parameters that their table could not tell apart.",
    ),
    click.option(
        "--values",
        metavar="LIST",
        callback=_typed_values,
        help="Standard deviations on [0, 1], such as sd_worker_slope=0.05,sd_residual=0.2; those "
        "left out are 0.",
    ),
)


_SCALE_OPTIONS = (
    click.option(
        "--scale",
        metavar="LOW:HIGH",
        callback=checked_scale,
        help="Scale that you rate on, such as 1:5, for effects in its points. [of your own parameters]",
    ),
    direction_option,
)


PLAN_FROM = ("parameters", "preset", "values")  # any of these says where the parameters come from


def parameter_options(command: Function) -> Function:
    """Add the options that name the parameters; the command gets them as `sources: Sources`."""
    return collected(command, _PARAMETER_OPTIONS, name="sources", collect=fields_of(Sources))


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
            "Give --parameters FILE (written by 'fit -o'), --preset high,low or --values."
        )
    found: dict[str, Assumed] = {}
    allow = sources.allow_not_identified
    for path in sources.parameters:
        name = Path(path).stem
        if name in found:
            raise click.UsageError(f"Two parameter files are called {name!r}; rename one.")
        found[name] = _of_file(path, allow, tell=tell)
    for name in sources.preset:
        if name in found:
            raise click.UsageError(f"A parameter file is called like the preset {name!r}; rename it.")
        found[name] = _of_preset(name, allow, tell=tell)
    if sources.values is not None:
        if "typed" in found:
            raise click.UsageError("A parameter file is called 'typed', as --values are; rename it.")
        found["typed"] = Assumed("typed", sources.values)
    return Assumptions(tuple(found.values()), scale, systems)


def _of_file(path: str, allow_not_identified: bool, *, tell: bool) -> Assumed:
    from humeval_power.interfaces.formats.documents.reading import read_parameters
    from humeval_power.interfaces.formats.study.presets import assumed_of

    _, document = read_parameters(path, allow_not_identified=allow_not_identified)
    if tell:
        _warn_of_zero(Path(path).stem, document)
    return assumed_of(
        document, Path(path).stem, origin="file", file=path, allow_not_identified=allow_not_identified
    )


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

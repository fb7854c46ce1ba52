"""Options that describe a study: where its parameters come from, its size, what is simulated."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import click

from humeval_power.designs import DESIGN_KINDS, DesignKind
from humeval_power.errors import HumevalPowerError, InputError
from humeval_power.interfaces.cli.numbers import WholeNumber
from humeval_power.interfaces.cli.option_groups import Function, collected, decorated, fields_of
from humeval_power.interfaces.cli.output import note
from humeval_power.parameters import PARAMETER_NAMES, PRESETS, STANDARD_DEVIATIONS, Parameters, preset
from humeval_power.scales import RatingScale
from humeval_power.simulation.study import Response
from humeval_power.uncertainty import VarianceUncertainty


@dataclass(frozen=True, slots=True)
class StudyOptions:
    """Where parameters come from and how ratings are given."""

    parameters: tuple[str, ...]
    preset: tuple[str, ...]
    allow_not_identified: bool
    values: Parameters | None
    ratings_per_item: int | None
    paired: bool
    design: DesignKind | None
    max_ratings_per_worker: int | None
    response: Response
    points: int | None


@dataclass(frozen=True, slots=True)
class Settings:
    """Named parameters; the scale of the pilot they were fitted to, and how uncertain they are, where
    there is one pilot; and the documents that were read, by name."""

    by_name: dict[str, Parameters]
    scale: RatingScale | None
    uncertainty: VarianceUncertainty | None = None
    documents: Mapping[str, dict[str, Any]] = field(default_factory=dict)


def _names(_ctx: click.Context, _option: click.Parameter, text: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (text or "").split(",") if name.strip())


def _typed_values(_ctx: click.Context, _option: click.Parameter, text: str | None) -> Parameters | None:
    if text is None:
        return None
    values: dict[str, object] = {"baseline": 0.5, "effect": 0.0, **dict.fromkeys(STANDARD_DEVIATIONS, 0.0)}
    for part in text.split(","):
        name, _, number = (piece.strip() for piece in part.partition("="))
        if name not in (*PARAMETER_NAMES, "sd_worker_item"):
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
_STUDY_OPTIONS = (
    *_PARAMETER_OPTIONS,
    click.option(
        "--ratings-per-item",
        type=WholeNumber(min=1),
        help="Ratings of each item under each system. [every worker rates every item]",
    ),
    click.option(
        "--paired/--unpaired",
        default=True,
        help="Whether the same worker sees an item under both systems. [paired]",
    ),
    click.option(
        "--design",
        type=click.Choice([kind for kind in DESIGN_KINDS if kind not in ("k-per-item", "split")]),
        help="A nested or counterbalanced design. [crossed, or k per item]",
    ),
    click.option(
        "--max-ratings-per-worker",
        type=WholeNumber(min=1),
        help="Refuse designs in which a worker gives more ratings.",
    ),
    click.option(
        "--response",
        type=click.Choice(get_args(Response)),
        default="gaussian",
        show_default=True,
        help="Ratings as the model has them, cut to [0, 1], or rounded to --points.",
    ),
    click.option("--points", type=WholeNumber(min=2), help="Points of a Likert scale."),
)


def parameter_options(command: Function) -> Function:
    """Add the options that name the parameters: --parameters, --preset, --values."""
    return decorated(command, _PARAMETER_OPTIONS)


def study_options(command: Function) -> Function:
    """Add the options of a study; the command gets them as `study: StudyOptions`."""
    return collected(command, _STUDY_OPTIONS, name="study", collect=fields_of(StudyOptions))


def load_settings(study: StudyOptions) -> Settings:
    """Parameters by name: presets by theirs, files by their stem.

    Raises
    ------
    click.UsageError
        Neither a file nor a preset, or two of the same name.
    InputError
        A file that cannot be used.
    """
    return read_settings(study.parameters, study.preset, study.values, study.allow_not_identified)


def read_settings(
    files: tuple[str, ...], presets: tuple[str, ...], values: Parameters | None, allow_not_identified: bool
) -> Settings:
    """Parameters from files, presets and the command line, in this order; a preset is a published setting or
    an entry of the library that comes along."""
    from humeval_power.interfaces.formats.documents import parameters_of, read_parameters

    if not files and not presets and values is None:
        raise click.UsageError(
            "Give --parameters FILE (written by 'fit -o'), --preset high,low or --values."
        )
    found: dict[str, Parameters] = {}
    documents: dict[str, dict[str, Any]] = {}
    for path in files:
        name = Path(path).stem
        if name in found:
            raise click.UsageError(f"Two parameter files are called {name!r}; rename one.")
        found[name], documents[name] = read_parameters(path, allow_not_identified=allow_not_identified)
    for name in presets:
        if name in found:
            raise click.UsageError(f"A parameter file is called like the preset {name!r}; rename it.")
        if name in PRESETS:
            found[name] = preset(name)
        else:
            documents[name] = _library_document(name)
            found[name] = parameters_of(
                documents[name], place=f"parameters of {name}", allow_not_identified=allow_not_identified
            )
    if values is not None:
        found["typed"] = values
    for name, document in documents.items():
        _warn_of_zero(name, document)
    scale, uncertainty = None, None
    if len(documents) == 1:
        document = next(iter(documents.values()))
        if isinstance(document.get("scale"), dict):
            scale = RatingScale(**document["scale"])
        if isinstance(document.get("uncertainty"), dict):
            uncertainty = VarianceUncertainty.from_dict(document["uncertainty"])
    return Settings(found, scale, uncertainty, documents)


def _library_document(name: str) -> dict[str, Any]:
    """What the library that comes along says of a name.

    Raises
    ------
    InputError
        No entry of that name, or one that nothing can be planned from.
    """
    from humeval_power.checking.columns import close_to
    from humeval_power.interfaces.formats.parameter_library import shipped_library
    from humeval_power.reporting.parameter_library import find_entry, parameters_document

    library = shipped_library()
    names = [entry.name for entry in library]
    if name not in names:
        raise InputError(
            f"there is no preset {name!r}; there are {', '.join(PRESETS)}, and what 'parameters list' names. "
            f"{close_to(name, names)}"
        )
    return parameters_document(find_entry(name, library))


def _warn_of_zero(name: str, document: Mapping[str, Any]) -> None:
    """A worker slope estimated as zero from few workers makes any plan look safe."""
    if "sd_worker_slope" in (document.get("boundary") or []):
        note(
            f"{name}: sd_worker_slope was estimated as zero from {document.get('n_workers')} workers. That is "
            "no proof that workers agree on the difference; power planned from it is too high if they do "
            "not. 'plan --safe 0.8' plans at an upper limit."
        )


def only_setting(settings: Settings) -> tuple[str, Parameters]:
    """The single setting of a command that takes one."""
    if len(settings.by_name) != 1:
        raise click.UsageError(f"Give one set of parameters; got {', '.join(settings.by_name)}.")
    return next(iter(settings.by_name.items()))


def likert_points(study: StudyOptions, settings: Settings) -> int | None:
    """The points of a Likert response: as given, or those of the pilot's scale."""
    if study.response != "likert":
        return None
    points = study.points or (settings.scale.points if settings.scale else None)
    if points is None:
        raise click.UsageError("A Likert response needs --points.")
    return points


def grid_options(study: StudyOptions, settings: Settings) -> dict[str, Any]:
    """What a study's options mean for `list_cells`."""
    return {
        "ratings_per_item": study.ratings_per_item,
        "paired": study.paired,
        "kind": study.design,
        "max_ratings_per_worker": study.max_ratings_per_worker,
        "response": study.response,
        "points": likert_points(study, settings),
    }


def default_jobs() -> int:
    """All cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

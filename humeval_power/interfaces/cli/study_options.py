"""Options that describe a study: where its parameters come from, its size, what is simulated."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import click

from humeval_power.assumptions import Assumed, Assumptions
from humeval_power.designs import DESIGN_KINDS, DesignKind
from humeval_power.errors import HumevalPowerError
from humeval_power.interfaces.cli.numbers import WholeNumber
from humeval_power.interfaces.cli.option_groups import Function, collected, fields_of
from humeval_power.interfaces.cli.options import checked_scale, direction_option, typed_scale
from humeval_power.interfaces.cli.output import note
from humeval_power.interfaces.cli.required_options import needs
from humeval_power.parameters import PARAMETER_NAMES, PRESETS, STANDARD_DEVIATIONS, Parameters
from humeval_power.scales import RatingScale
from humeval_power.simulation.study import Response


@dataclass(frozen=True, slots=True)
class Sources:
    """Where parameters come from, as typed."""

    parameters: tuple[str, ...]
    preset: tuple[str, ...]
    allow_not_identified: bool
    values: Parameters | None

    def __bool__(self) -> bool:
        return bool(self.parameters or self.preset or self.values is not None)


@dataclass(frozen=True, slots=True)
class StudyOptions:
    """Where parameters come from, the scale that is rated on, and how ratings are given."""

    sources: Sources
    scale: str | None
    lower_is_better: bool
    ratings_per_item: int | None
    paired: bool
    design: DesignKind | None
    max_ratings_per_worker: int | None
    response: Response
    points: int | None


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
_SCALE_OPTIONS = (
    click.option(
        "--scale",
        metavar="LOW:HIGH",
        callback=checked_scale,
        help="Scale that you rate on, such as 1:5, for effects in its points. [of your own parameters]",
    ),
    direction_option,
)
_STUDY_OPTIONS = (
    *_SCALE_OPTIONS,
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


PLAN_FROM = ("parameters", "preset", "values")  # any of these says where the parameters come from


def parameter_options(command: Function) -> Function:
    """Add the options that name the parameters; the command gets them as `sources: Sources`."""
    return collected(command, _PARAMETER_OPTIONS, name="sources", collect=fields_of(Sources))


def scale_options(command: Function) -> Function:
    """Add --scale and its direction; the command gets them as `scale: RatingScale | None`."""

    def scale_of(values: dict[str, Any]) -> RatingScale | None:
        return typed_scale(values.pop("scale"), values.pop("lower_is_better"))

    return collected(command, _SCALE_OPTIONS, name="scale", collect=scale_of)


def study_options(command: Function) -> Function:
    """Add the options of a study; the command gets them as `study: StudyOptions`."""
    inner = collected(command, _STUDY_OPTIONS, name="study", collect=fields_of(StudyOptions))
    return parameter_options(inner)


source_needed = needs(
    "--parameters FILE (written by 'fit -o'), --preset high,low or --values", (*PLAN_FROM, "plan")
)


def load_settings(study: StudyOptions) -> Assumptions:
    """What a study is planned from: presets by their names, files by their stem.

    Raises
    ------
    click.UsageError
        Neither a file nor a preset, or two of the same name.
    InputError
        A file that cannot be used.
    """
    return read_assumptions(study.sources, typed_scale(study.scale, study.lower_is_better))


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
    from humeval_power.interfaces.formats.documents import read_parameters
    from humeval_power.interfaces.formats.presets import assumed_of

    _, document = read_parameters(path, allow_not_identified=allow_not_identified)
    if tell:
        _warn_of_zero(Path(path).stem, document)
    return assumed_of(
        document, Path(path).stem, origin="file", file=path, allow_not_identified=allow_not_identified
    )


def _of_preset(name: str, allow_not_identified: bool, *, tell: bool) -> Assumed:
    from humeval_power.interfaces.formats.presets import library_entry, preset_document

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


def likert_points(study: StudyOptions, settings: Assumptions) -> int | None:
    """The points of a Likert response: as given, or those of the pilot's scale."""
    if study.response != "likert":
        return None
    points = study.points or (settings.scale.points if settings.scale else None)
    if points is None:
        raise click.UsageError("A Likert response needs --points.")
    return points


def grid_options(study: StudyOptions, settings: Assumptions) -> dict[str, Any]:
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

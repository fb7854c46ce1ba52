"""Options that describe a study: where its parameters come from, its size, what is simulated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

import click

from humeval_power.assumptions import Assumptions
from humeval_power.choices import DESIGN_KINDS, DesignKind, Exclusion, Response
from humeval_power.interfaces.cli.assumptions import (
    _SCALE_OPTIONS,
    PLAN_FROM,
    Sources,
    parameter_options,
    read_assumptions,
)
from humeval_power.interfaces.cli.categories import Shares, shares_option
from humeval_power.interfaces.cli.numbers import RealNumber, WholeNumber
from humeval_power.interfaces.cli.options import (
    Function,
    collected,
    fields_of,
    typed_scale,
)
from humeval_power.interfaces.cli.required_options import needs
from humeval_power.parameters import Parameters

if TYPE_CHECKING:
    from humeval_power.designs import Design
    from humeval_power.simulation.losses import Losses
    from humeval_power.study_counts import Documents


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
    shares: Shares | None
    documents: int | None
    items_per_document: int | None

    @property
    def typed_documents(self) -> Documents:
        """How many documents the items come out of.

        Raises
        ------
        click.UsageError
            Both a number of documents and the items of each.
        """
        if self.documents is not None and self.items_per_document is not None:
            raise click.UsageError("Give --documents or --items-per-document, not both.")
        from humeval_power.study_counts import Documents

        return Documents(self.documents, self.items_per_document)


DOCUMENT_OPTIONS = (
    click.option(
        "--documents",
        type=WholeNumber(min=2),
        help="Number of documents that the items come out of, in equal shares: sentences of ten documents are "
        "ten things, not a hundred. [items stand alone]",
    ),
    click.option(
        "--items-per-document",
        type=WholeNumber(min=1),
        help="The same by the number of items of each document.",
    ),
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
    *DOCUMENT_OPTIONS,
    shares_option,
)


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


def typed_design(study: StudyOptions, workers: int, items: int) -> Design:
    """The design of so many workers and items.

    Raises
    ------
    DesignError
        Options that contradict each other, or a design that cannot be built.
    """
    from humeval_power.planning.study.designs_of import build_design

    return build_design(
        workers,
        items,
        study.ratings_per_item,
        paired=study.paired,
        kind=study.design,
        max_ratings_per_worker=study.max_ratings_per_worker,
        documents=study.typed_documents,
    )


def grid_options(study: StudyOptions, settings: Assumptions) -> dict[str, Any]:
    """What a study's options mean for `list_cells`."""
    return {
        "ratings_per_item": study.ratings_per_item,
        "paired": study.paired,
        "kind": study.design,
        "max_ratings_per_worker": study.max_ratings_per_worker,
        "response": study.response,
        "points": likert_points(study, settings),
        "documents": study.typed_documents,
    }


_SHARE = RealNumber(0, 1, max_open=True)
_LOSS_OPTIONS = (
    click.option("--lost", type=_SHARE, default=0.0, help="Share of ratings that are never given."),
    click.option("--quitting", type=_SHARE, default=0.0, help="Share of workers who quit midway."),
    click.option("--at-random", type=_SHARE, default=0.0, help="Share of workers who answer at random."),
    click.option(
        "--straight-lining", type=_SHARE, default=0.0, help="Share of workers with one answer for all."
    ),
    click.option(
        "--careless",
        type=_SHARE,
        default=0.0,
        help="Share of careless workers: half of them answer at random, half with one answer for all.",
    ),
    click.option(
        "--exclusion",
        type=click.Choice(get_args(Exclusion)),
        default="none",
        show_default=True,
        help="Workers left out before the fit: the careless ones (as if known), or the suspicious.",
    ),
)


def loss_options(command: Function) -> Function:
    """Add the options; the command gets them as `losses: Losses` and `exclusion: Exclusion`."""
    return collected(command, _LOSS_OPTIONS, name="losses", collect=_losses)


def _losses(values: dict[str, Any]) -> Losses:
    careless, at_random, straight = (
        values.pop(name) for name in ("careless", "at_random", "straight_lining")
    )
    if careless and (at_random or straight):
        raise click.UsageError("Give --careless, or --at-random and --straight-lining.")
    from humeval_power.simulation.losses import Losses

    return Losses(
        missing=values.pop("lost"),
        quitting=values.pop("quitting"),
        at_random=at_random or careless / 2,
        straight_lining=straight or careless / 2,
    )

"""Options that describe a study: where its parameters come from, its size, what is simulated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from humeval_power.assumptions import Assumptions
from humeval_power.choices import DesignKind, Response
from humeval_power.interfaces.asking.command import asked_study
from humeval_power.interfaces.asking.options import field_option
from humeval_power.interfaces.cli.assumptions import (
    _SCALE_OPTIONS,
    Sources,
    read_assumptions,
    source_options,
)
from humeval_power.interfaces.cli.categories import Shares
from humeval_power.interfaces.cli.options import (
    Function,
    collected,
    fields_of,
    typed_scale,
)
from humeval_power.study import FIELDS

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


DOCUMENT_OPTIONS = (field_option("documents"), field_option("items_per_document"))
_STUDY_OPTIONS = (
    *_SCALE_OPTIONS,
    field_option("ratings_per_item"),
    field_option("paired"),
    field_option("design"),
    field_option("max_ratings_per_worker"),
    field_option("response"),
    field_option("points"),
    *DOCUMENT_OPTIONS,
    field_option("shares"),
)


def study_options(command: Function) -> Function:
    """Add the options of a study; the command gets them as `study: StudyOptions`."""
    inner = collected(command, _STUDY_OPTIONS, name="study", collect=fields_of(StudyOptions))
    return source_options(inner)


def load_settings(study: StudyOptions) -> Assumptions:
    """What a study is planned from: presets by their names, files by their stem.

    Raises
    ------
    click.UsageError
        Neither a file nor a preset, or two of the same name.
    InputError
        A file that cannot be used.
    """
    return read_assumptions(study.sources, typed_scale(study.scale, study.lower_is_better), _pair_named())


def _pair_named() -> tuple[str, str] | None:
    """The names of two systems, typed or in the study file."""
    asked = asked_study()
    names: Sequence[str] = click.get_current_context().params.get("systems") or ()
    if not names and asked is not None and "systems" in asked.fields:
        names = FIELDS["systems"].kind.read(asked.fields["systems"])
    return (names[0], names[1]) if len(names) == 2 else None


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


_LOSS_OPTIONS = tuple(
    map(field_option, ("lost", "quitting", "at_random", "straight_lining", "careless", "exclusion"))
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

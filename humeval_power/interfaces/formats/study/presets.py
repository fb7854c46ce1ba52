"""Parameters by a name that comes with the package: a published setting, or an entry of the library."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from humeval_power.assumptions import Assumed, Assumptions, Origin
from humeval_power.checking.columns import close_to
from humeval_power.errors import InputError
from humeval_power.interfaces.formats.documents.reading import parameters_of
from humeval_power.interfaces.formats.study.parameter_library import read_library, shipped_library
from humeval_power.parameters import PRESETS, Parameters
from humeval_power.parameters import preset as published
from humeval_power.reporting.study.parameter_library import (
    find_entry,
    parameters_document,
    usual_kind,
)
from humeval_power.scales import RatingScale
from humeval_power.uncertainty import VarianceUncertainty

if TYPE_CHECKING:
    from humeval_power.reporting.study.library_result import LibraryResult

TYPICAL = "typical"  # the preset that depends on the scale
_CAUTIOUS = "high"
_WHOSE_CAUTIOUS = (
    "setting of large differences of Card et al. (2020), beyond most fits of public ratings; nobody's ratings by "
    "themselves"
)
_KINDS = {
    "points": "on a scale of few points",
    "slider": "on a scale of many points",
    "penalties": "by penalties of errors",
}


def preset_name(name: str, scale: RatingScale | None) -> str:
    """The entry that a preset means: 'typical' is the typical fit of public ratings on a scale like the study's."""
    return usual_assumptions(scale).entries[0].name if name == TYPICAL else name


def preset(name: str) -> Parameters:
    """The parameters of a published setting ('high', 'low'), of an entry of the library, or of what is 'typical' of
    public ratings on a scale of few points.

    Raises
    ------
    InputError
        No such name, or an entry that nothing can be planned from.
    """
    return library_entry(preset_name(name, None)).parameters


def library_entry(name: str, *, allow_not_identified: bool = False) -> Assumed:
    """The same with the scale, the systems and the uncertainty of the study that it comes from."""
    if name in PRESETS:
        return Assumed(name, published(name), origin="published")
    return assumed_of(
        preset_document(name), name, origin="library", allow_not_identified=allow_not_identified
    )


def preset_document(name: str) -> dict[str, Any]:
    """What the library that comes along says of a name.

    Raises
    ------
    InputError
        No entry of that name, or one that nothing can be planned from.
    """
    library = shipped_library()
    names = [entry.name for entry in library]
    if name not in names:
        raise InputError(
            f"there is no preset {name!r}; there are {', '.join((TYPICAL, *PRESETS))}, and what 'parameters list' "
            f"names. {close_to(name, [*PRESETS, *names])}"
        )
    return parameters_document(find_entry(name, library))


def assumed_of(
    document: Mapping[str, Any],
    name: str,
    *,
    origin: Origin,
    file: str | None = None,
    allow_not_identified: bool = False,
) -> Assumed:
    """What a document of parameters says, under a name; one that was exported from the library stays another
    study's."""
    parameters = parameters_of(
        document, place=file or f"parameters of {name}", allow_not_identified=allow_not_identified
    )
    scale, systems, uncertainty = (document.get(key) for key in ("scale", "systems", "uncertainty"))
    data = document.get("data")
    return Assumed(
        name,
        parameters,
        scale=RatingScale(**scale) if isinstance(scale, dict) else None,
        systems=(str(systems[0]), str(systems[1])) if systems and len(systems) == 2 else None,
        uncertainty=VarianceUncertainty.from_dict(uncertainty) if isinstance(uncertainty, dict) else None,
        origin="library" if document.get("library") else origin,
        file=file,
        ratings=data.get("source") or None if isinstance(data, dict) else None,
    )


def usual_assumptions(
    scale: RatingScale | None = None, *, systems: tuple[str, str] | None = None
) -> Assumptions:
    """What to plan from where nothing is known of the study; the scale and the systems are its own.

    The typical fit of public ratings of texts on a scale like the study's (few points where none is said), which is
    planned for, and beside it a cautious and a hopeful end.
    """
    kind = usual_kind(scale)
    standing = {each.standing: each for each in shipped_library() if each.kind == kind}
    typical, hopeful = standing["typical"], standing["hopeful"]
    entries = (
        replace(library_entry(typical.name), standing="typical", whose=typical.whose),
        replace(library_entry(_CAUTIOUS), standing="cautious end", whose=_WHOSE_CAUTIOUS),
        replace(library_entry(hopeful.name), standing="hopeful end", whose=hopeful.whose),
    )
    why = f"no pilot and no --preset: what is typical of public ratings of texts {_KINDS[kind]}, and both ends"
    return Assumptions(entries, scale, systems, chosen=why)


def typical_and_cautious(scale: RatingScale | None = None) -> Assumptions:
    """The first two of `usual_assumptions`, to be judged side by side."""
    return Assumptions(usual_assumptions(scale).entries[:2], scale)


def library(own: str | Path | None = None) -> LibraryResult:
    """The library of parameters: what comes along, and your own entries where you name their file.

    Returns
    -------
    LibraryResult
        `to_frame` has a row for each entry: its SDs on [0, 1], its workers, what it can be used for.

    Raises
    ------
    InputError
        A file of entries that cannot be read.
    """
    from humeval_power.reporting.study.library_result import LibraryResult

    return LibraryResult(entries=(*shipped_library(), *(() if own is None else read_library(own))))

"""Parameters of the shipped library, of a published setting, and from files that `fit` wrote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from humeval_power.assumptions import Assumed, Assumptions, Origin
from humeval_power.checking.columns import close_to
from humeval_power.errors import InputError, Problem
from humeval_power.files.documents.reading import (
    checked_document,
    parameters_of,
    read_document,
    read_parameters,
)
from humeval_power.files.file_bytes import read_json
from humeval_power.latent import is_number
from humeval_power.parameters import PRESETS, Parameters
from humeval_power.parameters import preset as published
from humeval_power.saying.result import ANALYSES_SCHEMA, ANALYSIS_SCHEMA, PARAMETERS_SCHEMA
from humeval_power.scales import RatingScale
from humeval_power.studies import power as study
from humeval_power.studies.power.parameter_library import (
    LIBRARY_SCHEMA,
    LibraryEntry,
    entry_from_dict,
    find_entry,
    parameters_document,
    usual_kind,
)
from humeval_power.uncertainty import VarianceUncertainty

if TYPE_CHECKING:
    from humeval_power.studies.plan.planned_systems import SystemsPilot
    from humeval_power.studies.power.parameter_library import LibraryResult


# Read the library of parameters: the one that comes along, and the user's own.

_HINT = (
    "Restore or rename it; 'humeval-power more parameters add FILE' begins a new one where there is none."
)


def shipped_library() -> list[LibraryEntry]:
    """The entries that come with the package."""
    path = Path(str(study.__file__)).with_name("parameter_library.json")
    return [entry_from_dict(values, place=str(path)) for values in _entries(path)]


def read_library(path: str | Path) -> list[LibraryEntry]:
    """The entries of a library, in its order. Raises InputError: a file that cannot be read, or every problem
    of its entries at once."""
    entries: list[LibraryEntry] = []
    problems: list[Problem] = []
    for values in _entries(Path(path)):
        try:
            entries.append(_entry(values, place=str(path)))
        except InputError as error:
            problems += error.problems
    names = [entry.name for entry in entries]
    problems += [
        Problem(f"two entries are called {name!r}.", "Rename one.", place=str(path))
        for name in dict.fromkeys(names)
        if names.count(name) > 1
    ]
    if problems:
        raise InputError(problems)
    return entries


def _entry(values: object, *, place: str) -> LibraryEntry:
    """An entry whose document, where it has one, is read as a file of its own would be."""
    result = entry_from_dict(values, place=place)
    if result.document is not None:
        checked_document(result.document, schema=PARAMETERS_SCHEMA, place=f"{place}, entry {result.name!r}")
    return result


def _entries(path: Path) -> list[object]:
    document = read_json(path, hint=_HINT)
    if not isinstance(document, dict) or document.get("schema") != LIBRARY_SCHEMA:
        raise InputError([Problem(f"is no library: {LIBRARY_SCHEMA!r} is needed.", _HINT, place=str(path))])
    entries = document.get("entries")
    if not isinstance(entries, list):
        raise InputError([Problem("has no list of 'entries'.", _HINT, place=str(path))])
    return entries


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
    """What the library that comes along says of a name. Raises InputError: no entry of that name, or one that
    nothing can be planned from."""
    library = shipped_library()
    names = [entry.name for entry in library]
    if name not in names:
        raise InputError(
            f"there is no preset {name!r}; there are {', '.join((TYPICAL, *PRESETS))}, and what "
            f"'more parameters list' names. {close_to(name, [*PRESETS, *names])}"
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
    data, effect = document.get("data"), document.get("effect")
    return Assumed(
        name,
        parameters,
        scale=RatingScale(**scale) if isinstance(scale, dict) else None,
        systems=(str(systems[0]), str(systems[1])) if systems and len(systems) == 2 else None,
        uncertainty=VarianceUncertainty.from_dict(uncertainty) if isinstance(uncertainty, dict) else None,
        origin="library" if document.get("library") else origin,
        file=file,
        ratings=data.get("source") or None if isinstance(data, dict) else None,
        observed_interval=_interval(effect.get("interval")) if isinstance(effect, dict) else None,
    )


def _interval(ends: object) -> tuple[float, float] | None:
    if not isinstance(ends, list) or len(ends) != 2 or not all(map(is_number, ends)):
        return None
    return float(ends[0]), float(ends[1])


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
    from humeval_power.studies.power.parameter_library import LibraryResult

    return LibraryResult(entries=(*shipped_library(), *(() if own is None else read_library(own))))


# Parameters from a file, with all that it says of the study that they come from.


def read_assumed(path: str | Path, *, allow_not_identified: bool = False) -> Assumed:
    """The parameters that `fit` wrote to a file, with the scale, the systems and the uncertainty of their study;
    they are called as the file is.

    Raises
    ------
    InputError
        A missing or impossible parameter; or standard deviations that the fitted table could not tell
        apart, unless `allow_not_identified`.
    """
    _, document = read_parameters(path, allow_not_identified=allow_not_identified)
    name, place = Path(path).stem, str(path)
    return assumed_of(document, name, origin="file", file=place, allow_not_identified=allow_not_identified)


# Several systems as `analyze --model joint -o analysis.json` fitted them.


def is_analysis(path: str) -> bool:
    """Whether a file is the record of an analysis, of one criterion or several; what cannot be read is left to
    whoever reads it."""
    try:
        document = read_json(path, hint="")
    except InputError:
        return False
    return isinstance(document, dict) and document.get("schema") in (ANALYSIS_SCHEMA, ANALYSES_SCHEMA)


def read_joint(path: str) -> SystemsPilot:
    """The systems of a record, with their means and standard deviations.

    Raises
    ------
    InputError
        A record of several criteria or without a joint fit, or whose fit did not converge or does not tell its
        variances apart.
    """
    from humeval_power.studies.plan.planned_systems import SystemsPilot, systems_of_deviations

    document = read_json(path, hint="")
    if isinstance(document, dict) and document.get("schema") == ANALYSES_SCHEMA:
        rule = "holds the analyses of several criteria, and a study is planned from one."
        remedy = "Write that of the criterion that varies most: analyze --criterion NAME --model joint -o FILE.json"
        raise InputError([Problem(rule, remedy, place=path)])
    record = read_document(path, schema=ANALYSIS_SCHEMA)
    fitted: Mapping[str, Any] | None = record.get("joint_fit")
    if fitted is None:
        rule = "has no joint fit of several systems to plan from."
        raise InputError([Problem(rule, "Write one with: analyze --all-pairs --model joint", place=path)])
    if not fitted["converged"] or fitted["not_identified"]:
        why = "has not converged" if not fitted["converged"] else "does not tell its variances apart"
        remedy = "Plan from a table in which some items have two ratings or more under a system."
        raise InputError([Problem(f"its joint fit {why}.", remedy, place=path)])
    means = record["system_means"]
    names = [str(one["system"]) for one in means]
    scale = record.get("scale")
    return SystemsPilot(
        systems_of_deviations(names, [one["mean"] for one in means], fitted["standard_deviations"]),
        scale=RatingScale(**scale) if isinstance(scale, dict) else None,
        boundary=tuple(fitted["boundary"]),
        ratings=str(record["data"]["source"]) if record.get("data") else None,
    )

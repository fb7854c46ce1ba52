"""Whose export a file is: told from its content, with the reason, or named.

The participants of a Prolific study: no ratings, but who was approved and how long it took.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from humeval_power.checking.columns import find_roles, listing
from humeval_power.checking.exports.imported import imported
from humeval_power.checking.exports.mapping import Export
from humeval_power.checking.exports.rating_blocks import GIVEN
from humeval_power.checking.rows import ExportFlow
from humeval_power.errors import InputError, refusal
from humeval_power.files.exports.appraise import APPRAISE
from humeval_power.files.exports.argilla import ARGILLA
from humeval_power.files.exports.forms import FORMS, SHEETS, side_by_side
from humeval_power.files.exports.label_studio import LABEL_STUDIO
from humeval_power.files.exports.mqm import MQM
from humeval_power.files.exports.mturk import MTURK
from humeval_power.files.exports.pearmut import PEARMUT
from humeval_power.files.exports.platform import COLLECTED, Platform, columns_named
from humeval_power.files.exports.potato import POTATO
from humeval_power.files.exports.qualtrics import QUALTRICS
from humeval_power.files.exports.raw import RawExport
from humeval_power.safe_text import shell_word

_PERSON, _STATUS, _TIME = "Participant id", "Status", "Time taken"


def _known_by(export: RawExport) -> str | None:
    if not columns_named(export, ("Submission id", _PERSON, _STATUS)):
        return None
    return f"its columns are Submission id, {_PERSON} and {_STATUS}"


def _read(export: RawExport) -> Export:
    kept = {_PERSON: "worker", _STATUS: "submission_status", _TIME: "submission_time_s"}
    frame = export.table[[name for name in kept if name in export.table]]
    return Export(
        frame=frame.set_axis([kept[name] for name in frame.columns], axis=1),
        person="worker",
        people=True,
    )


PROLIFIC = Platform("prolific", _known_by, _read)


PLATFORMS: tuple[Platform, ...] = (
    COLLECTED,
    MTURK,
    QUALTRICS,
    PROLIFIC,
    LABEL_STUDIO,
    ARGILLA,
    POTATO,
    PEARMUT,
    APPRAISE,
    MQM,
    FORMS,
    SHEETS,
)


def platform_of(export: RawExport) -> tuple[Platform, str] | None:
    """The platform that a file is of and what it is known by; None where none knows it.
    Raises InputError: two platforms know it: the person has to say which."""
    candidates = [one for one in PLATFORMS if not one.only_named]
    known = [(one, why) for one in candidates if (why := one.known_by(export)) is not None]
    if len(known) > 1:
        said = "; ".join(f"{one.title}: {why}" for one, why in known)
        rule = f"could be an export of several platforms ({said})."
        raise refusal(rule, f"Say which: {listing([one.name for one, _ in known])}.", export.source)
    return known[0] if known else None


def reads_as_ratings(export: RawExport) -> bool:
    """Whether the names of a table's columns say by themselves which is what."""
    try:
        find_roles(export.columns, named={}, source=export.source)
    except InputError:
        return False
    return True


def read_export(path: str | Path, *, platform: str | None = None, rated: bool = True) -> Export:
    """Read what an annotation platform wrote: a file, or a folder.

    Parameters
    ----------
    path : of the file or folder.
    platform : whose export it is, by the name of one of PLATFORMS; None tells it from the content. 'table' is any
        table, such as a sheet with a column for each annotator. A table of participants is read as what it is.
    rated : whether the ratings are wanted; without them a table of workers and codes needs no column of ratings.

    Returns
    -------
    Export
        One table of text, with what it was known by, and the mapping that its format gives by itself.

    Raises
    ------
    InputError
        A file that is none's, not of the named platform, of two platforms at once, or that cannot be read.
    """
    result = RawExport(path)
    if not rated:
        _mark_answers(result)
    participants = PROLIFIC.known_by(result)
    if participants is not None:
        return PROLIFIC.read(result, participants)
    export = _export_of(result) if platform is None else _named(result, platform)
    return replace(export, path=str(path))


def _mark_answers(export: RawExport) -> None:
    """Give a table of workers and codes without ratings a column of marks in their place."""
    if export.is_folder or export.is_json:
        return
    with suppress(InputError):  # one that is broken says so later
        table = export.table
        if {"worker", "code"} <= set(table) and "rating" not in table:
            export.take_table(table.assign(rating=GIVEN))


def _export_of(raw: RawExport) -> Export:
    export_platform = platform_of(raw)
    if export_platform is None:
        if not (raw.is_folder or raw.is_json):
            _ = raw.table  # one that is broken says how
            if reads_as_ratings(raw):
                return SHEETS.read(raw, "its columns say which is what")
            if (export := side_by_side(raw)) is not None:
                return export
        known = ", ".join(one.title for one in PLATFORMS if not one.only_named)
        rule = f"is not known as an export. The formats that are known: {known}."
        remedy = (
            "If it is one of them, name it (--from NAME). Of any table draft a mapping, edit it, and import with "
            f"--map: humeval-power import {shell_word(str(raw.path))} --from table --draft -o mapping.toml. "
            "A log of models' scores that is not known needs a mapping of logs (docs/logs.md)."
        )
        raise refusal(rule, remedy, place=raw.source)
    platform, why = export_platform
    return platform.read(raw, why)


def _named(export: RawExport, name: str) -> Export:
    platform = next((one for one in PLATFORMS if one.name == name), None)
    if platform is None:
        names = listing([one.name for one in PLATFORMS])
        raise InputError(f"There is no platform {name!r}; there are {names}.")
    why = platform.known_by(export)
    if why is None:
        rule = f"does not look like an export of {platform.title}."
        raise refusal(rule, "Is this the right file?", place=export.source)
    return platform.read(export, why)


# Exports where ratings are asked for: read by what their format says alone, or refused with the way out.


class Ready(NamedTuple):
    """The ratings of an export, one a row, what to say of how they came about, and their flow."""

    frame: pd.DataFrame
    notices: tuple[str, ...]
    flow: ExportFlow


def ratings_in(raw: RawExport) -> Ready | None:
    """The ratings of a platform's export; None where it is a table like any other.
    Raises InputError: an export that does not say enough by itself; the remedy is a mapping."""
    export_platform = platform_of(raw)
    if export_platform is None:
        return None if reads_as_ratings(raw) else _beside_each_other(raw)
    if export_platform[0].weak and reads_as_ratings(raw):
        return None
    platform, why = export_platform
    export = platform.read(raw, why)
    if export.mapping is None and reads_as_ratings(raw):  # it has one rating a row already
        return None
    if export.people:
        rule = f"is a table of the participants of {platform.title}, without ratings."
        raise refusal(rule, "Import it together with the ratings.", place=raw.source)
    table = imported([replace(export, path=str(raw.path))])
    if table.is_coded:
        rule = f"looks like an export of {platform.title} ({why}), in which outputs are named by codes."
        imports = f"humeval-power import {shell_word(str(raw.path))} --key key.csv -o ratings.csv"
        raise refusal(rule, f"The key says what they are: {imports}", place=raw.source)
    (flow,) = table.flows
    ((export, _),) = table.of
    lost = [f"{step.rows:,} left out: {step.reason}." for step in flow.flow if step.step == "dropped"]
    said = f"Read as an export of {platform.title}: {why}."
    return Ready(table.frame, (said, *export.notices, *table.notices, *lost), flow)


def _beside_each_other(raw: RawExport) -> Ready | None:
    """The ratings of a table with a column for each worker or system."""
    export = side_by_side(raw)
    if export is None:
        return None
    table = imported([export])
    (flow,) = table.flows
    lost = [f"{step.rows:,} left out: {step.reason}." for step in flow.flow if step.step == "dropped"]
    return Ready(table.frame, (f"{export.why}.", *lost), flow)

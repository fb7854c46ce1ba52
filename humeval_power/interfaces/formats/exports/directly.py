"""Exports where ratings are asked for: read by what their format says alone, or refused with the way out."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from humeval_power.checking.exports.imported import imported
from humeval_power.checking.roles import find_roles
from humeval_power.checking.rows import ExportFlow
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.exports.platforms import platform_of
from humeval_power.interfaces.formats.exports.raw import RawExport
from humeval_power.safe_text import shell_word


class Ready(NamedTuple):
    """The ratings of an export, one a row, what to say of how they came about, and their flow."""

    frame: pd.DataFrame
    notices: tuple[str, ...]
    flow: ExportFlow


def ratings_in(found: RawExport) -> Ready | None:
    """The ratings of a platform's export; None where it is a table like any other.

    Raises
    ------
    InputError
        An export that does not say enough by itself; the remedy is a mapping.
    """
    told = platform_of(found)
    if told is None or (told[0].weak and _reads_as_ratings(found)):
        return None
    platform, why = told
    export = platform.read(found, why)
    if export.mapping is None and _reads_as_ratings(found):  # it has one rating a row already
        return None
    if export.people:
        rule = f"is a table of the participants of {platform.title}, without ratings."
        raise InputError([Problem(rule, "Import it together with the ratings.", place=found.source)])
    try:
        table = imported([export])
    except InputError as error:
        draft = f"humeval-power import {shell_word(str(found.path))} --draft -o mapping.toml"
        rule = f"looks like an export of {platform.title} ({why}), which does not say all by itself."
        remedy = f"Write a mapping, edit it, and import with it: {draft}"
        raise InputError([Problem(rule, remedy, place=found.source), *error.problems]) from None
    if table.is_coded:
        rule = f"looks like an export of {platform.title} ({why}), in which outputs are named by codes."
        imports = f"humeval-power import {shell_word(str(found.path))} --key key.csv -o ratings.csv"
        raise InputError([Problem(rule, f"The key says what they are: {imports}", place=found.source)])
    (flow,) = table.flows
    lost = [f"{step.rows:,} left out: {step.reason}." for step in flow.flow if step.step == "dropped"]
    said = f"Read as an export of {platform.title}: {why}."
    return Ready(table.frame, (said, *export.notices, *table.notices, *lost), flow)


def _reads_as_ratings(found: RawExport) -> bool:
    """Whether the names of a table's columns say by themselves which is what."""
    try:
        find_roles(found.columns, named={}, source=found.source)
    except InputError:
        return False
    return True

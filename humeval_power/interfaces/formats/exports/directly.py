"""Exports where ratings are asked for: read by what their format says alone, or refused with the way out."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import pandas as pd

from humeval_power.checking.exports.imported import imported
from humeval_power.checking.rows import ExportFlow
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.exports.platforms import platform_of, reads_as_ratings
from humeval_power.interfaces.formats.exports.raw import RawExport
from humeval_power.interfaces.formats.exports.sheets import side_by_side
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
    if told is None:
        return None if reads_as_ratings(found) else _beside_each_other(found)
    if told[0].weak and reads_as_ratings(found):
        return None
    platform, why = told
    export = platform.read(found, why)
    if export.mapping is None and reads_as_ratings(found):  # it has one rating a row already
        return None
    if export.people:
        rule = f"is a table of the participants of {platform.title}, without ratings."
        raise InputError([Problem(rule, "Import it together with the ratings.", place=found.source)])
    table = imported([replace(export, path=str(found.path))])
    if table.is_coded:
        rule = f"looks like an export of {platform.title} ({why}), in which outputs are named by codes."
        imports = f"humeval-power import {shell_word(str(found.path))} --key key.csv -o ratings.csv"
        raise InputError([Problem(rule, f"The key says what they are: {imports}", place=found.source)])
    (flow,) = table.flows
    ((export, _),) = table.of
    lost = [f"{step.rows:,} left out: {step.reason}." for step in flow.flow if step.step == "dropped"]
    said = f"Read as an export of {platform.title}: {why}."
    return Ready(table.frame, (said, *export.notices, *table.notices, *lost), flow)


def _beside_each_other(found: RawExport) -> Ready | None:
    """The ratings of a table with a column for each worker or system."""
    export = side_by_side(found)
    if export is None:
        return None
    table = imported([export])
    (flow,) = table.flows
    lost = [f"{step.rows:,} left out: {step.reason}." for step in flow.flow if step.step == "dropped"]
    return Ready(table.frame, (f"{export.why}.", *lost), flow)

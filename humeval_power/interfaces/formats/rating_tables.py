"""Tables of ratings, or a platform's export of them, wherever a command takes ratings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.exports.directly import ratings_in
from humeval_power.interfaces.formats.exports.raw import RawExport
from humeval_power.interfaces.formats.file_bytes import read_bytes
from humeval_power.interfaces.formats.logs.reading import are_logs
from humeval_power.interfaces.formats.tables import SourceTable, source_name, table_of
from humeval_power.safe_text import shell_word


def read_rating_table(path: str | Path) -> SourceTable:
    """Read a table as `read_table` does; of an export of a platform one rating a row, where its format says all
    that this takes.

    Raises
    ------
    InputError
        What `read_table` raises; a log of models' scores; or an export that does not say
        enough by itself, with the way to a mapping.
    """
    if are_logs([path]):
        name = shell_word(str(path))
        rule = "is a log of models' scores; this command takes ratings that workers gave."
        remedy = f"Compare its systems: humeval-power compare scores {name}; a table: humeval-power import {name}."
        raise InputError([Problem(rule, remedy, source_name(path))])
    if Path(path).is_dir():
        return _export(RawExport(path), InputError(f"{str(path)!r} is a directory; name a file."))
    content = read_bytes(path)
    raw = RawExport(path, content)
    try:
        found = table_of(content, source=source_name(path))
    except InputError as error:
        return _export(raw, error)
    raw.take_table(found.frame)
    ready = ratings_in(raw)
    if ready is not None:
        notices = (*found.notices, *ready.notices)
        return found._replace(frame=ready.frame, notices=notices, layout=None, exports=(ready.flow,))
    layout = None if found.layout is None else replace(found.layout, path=str(path))
    return found._replace(layout=layout)


def _export(raw: RawExport, otherwise: InputError) -> SourceTable:
    """What is no table, as the export that it may be."""
    ready = ratings_in(raw)
    if ready is None:
        raise otherwise
    return SourceTable(ready.frame, raw.source, raw.sha256, ready.notices, exports=(ready.flow,))

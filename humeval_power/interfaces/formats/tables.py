"""Tables of ratings in the files that people have, read as text so that ids such as 007 survive."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from humeval_power.checking.columns import listing
from humeval_power.checking.origin import Layout
from humeval_power.checking.rows import ROW_INDEX, ExportFlow
from humeval_power.checking.submissions import Rejected, decided_rows
from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.binary_tables import read_excel, read_parquet
from humeval_power.interfaces.formats.file_bytes import (
    EXCEL,
    OLD_EXCEL,
    PARQUET,
    STANDARD_INPUT,
    decoded,
    encoding_notices,
    encoding_of,
    read_bytes,
    unzipped,
)
from humeval_power.interfaces.formats.logs.reading import read_logs
from humeval_power.interfaces.formats.text_tables import (
    read_delimited,
    read_json_array,
    read_json_lines,
    separator_of,
)
from humeval_power.ratings import MISSING_CODES

_TASK, _BLANK = "task", ("", *MISSING_CODES)
_APART = "Separate the columns by commas, semicolons or tabs."
_SAVE = "Save the file as CSV UTF-8; if it comes from Windows: iconv -f WINDOWS-1252 -t UTF-8 FILE"


class SourceTable(NamedTuple):
    """A table as it was found: cells as text where the file has text, rows numbered as in the file.

    `sha256` is the digest of the bytes of the file; `notices` say what was assumed in reading it; `layout` how
    the table lies in the file, None where it is put together of several; `exports` how it came out of a
    platform's export, where it is one; `scores` are the columns of metrics where the file says so.
    """

    frame: pd.DataFrame
    source: str
    sha256: str
    notices: tuple[str, ...]
    layout: Layout | None = None
    exports: tuple[ExportFlow, ...] = ()
    scores: tuple[str, ...] = ()


def read_table(path: str | Path, *, arrays: bool = False) -> SourceTable:
    """Read a table from a file, or from standard input where `path` is '-'; or logs of a harness, as
    `read_score_source` does.

    The format is told from the content (Parquet, Excel, gzip) and for text from its first character. A JSON
    array of objects is a table where `arrays` says so; what is no plain value in it is left out.

    Raises
    ------
    InputError
        A file that is missing, empty, undecodable or not a table, with the row where there is one; or one
        that is larger than the limits of `file_bytes`.
    """
    logged = read_score_source(path)
    if logged is not None:
        return logged
    found = table_of(read_bytes(path), source=source_name(path), arrays=arrays)
    layout = None if found.layout is None else replace(found.layout, path=str(path))
    return found._replace(layout=layout)


def read_score_source(*paths: str | Path, names: Mapping[str, str] | None = None) -> SourceTable | None:
    """The scores in logs of a harness, or in folders of such, as one table; None where a path is no log.

    Its columns are system and item, run and task where there are several, the metrics (`scores`), and what may be
    clusters of items. `names` of systems go before what the logs say, by the paths.

    Raises
    ------
    InputError
        What `read_logs` refuses.
    """
    found = read_logs(*paths, systems=names or {})
    if found is None:
        return None
    source = ", ".join(source_name(path) for path in paths)
    return SourceTable(found.frame, source, found.sha256, found.said, scores=found.scores)


def with_metric(table: SourceTable, metric: str, *, item: str | None = None) -> SourceTable:
    """The table without the tasks in which no row has a score of this metric; its notices name them.

    item : the column of the items; one called task may be that.
    """
    frame = table.frame
    if _TASK not in frame or item == _TASK or metric not in frame:
        return table
    is_blank = frame[metric].isna() | frame[metric].astype(str).str.strip().isin(_BLANK)
    of_task = frame[_TASK].astype(str)
    scored = set(of_task[~is_blank])
    without = [name for name in dict.fromkeys(of_task) if name not in scored]
    if not without or not scored:
        return table
    said = f"Tasks without {metric} are left out: {listing(without, limit=6)}."
    return table._replace(frame=frame[of_task.isin(scored)], notices=(*table.notices, said))


def read_decided(path: str | Path, rejected_rows: Rejected | None = None) -> SourceTable:
    """The same without rows of rejected or unfinished work, or with them where the user says so ('keep'); its
    notices tell of them.

    Raises
    ------
    InputError
        A file that is no table, or rows that a column such as AssignmentStatus marks and nobody decided on.
    """
    found = read_table(path)
    frame, told = decided_rows(found.frame, rejected_rows, source=found.source)
    return found._replace(frame=frame, notices=(*found.notices, *told))


def source_name(path: str | Path) -> str:
    """What messages call a file of ratings."""
    return "standard input" if str(path) == STANDARD_INPUT else Path(path).name


def table_of(content: bytes, *, source: str, arrays: bool = False) -> SourceTable:
    """The same from the bytes of a file that has been read.

    Raises
    ------
    InputError
        What `read_table` raises.
    """
    digest = hashlib.sha256(content).hexdigest()
    frame, notices, layout, source = _parse(unzipped(content, source=source), source, arrays=arrays)
    if frame.empty:
        raise _refuse(source, "the table has a header but no rows.", "Is this the right file?")
    if len(frame.columns) == 1:
        rule = f"there is only one column, {frame.columns[0]!r}."
        is_workbook = layout.kind == "excel"
        apart = "Put a table with several columns first." if is_workbook else _APART
        raise _refuse(source, rule, apart)
    frame.index.name = ROW_INDEX
    return SourceTable(frame, source, digest, tuple(notices), layout)


def _parse(content: bytes, source: str, *, arrays: bool) -> tuple[pd.DataFrame, list[str], Layout, str]:
    """The table, what was assumed in reading it, how it lies there, and what messages call it."""
    if not content.strip():
        raise _refuse(source, "the file is empty.", "Is this the right file?")
    if content.startswith(PARQUET):
        return read_parquet(content, source=source), [], Layout("parquet"), source
    if content.startswith(EXCEL):
        frame, notices, sheet = read_excel(content, source=source)
        return frame, notices, Layout("excel"), sheet
    if content.startswith(OLD_EXCEL):
        raise _refuse(source, "old Excel files (.xls) are not read.", "Save it as .xlsx or as CSV UTF-8.")
    text, notices = decoded(content, place=source, hint=_SAVE), list(encoding_notices(content))
    start = text.lstrip(" \r\n\t")[:1]
    if not start:
        raise _refuse(source, "the file is empty.", "Is this the right file?")
    if start == "{":
        return read_json_lines(text, source=source), notices, Layout("json lines"), source
    if start == "[" and arrays:
        frame, left_out = read_json_array(text, source=source)
        return frame, [*notices, *left_out], Layout("json lines"), source
    if start == "[":
        raise _one_object_a_line(source)
    frame, assumed = read_delimited(text, source=source)
    layout = Layout("delimited", separator_of(text + "\n"), encoding_of(content))
    return frame, [*notices, *assumed], layout, source


def _one_object_a_line(source: str) -> InputError:
    """Why a JSON array is no table here, and how it becomes one."""
    name = source if source != "standard input" else "FILE"
    remedy = (
        f"Write one object a line: jq -c '.[]' {name} > ratings.jsonl; or in Python: "
        f"pandas.read_json({name!r}).to_csv('ratings.csv', index=False)."
    )
    return _refuse(source, "a JSON array is not read as a table; JSON Lines is.", remedy)


def _refuse(source: str, rule: str, remedy: str) -> InputError:
    return InputError([Problem(rule, remedy, place=source)])

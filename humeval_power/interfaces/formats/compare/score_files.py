"""The files of a comparison by scores: one table, with a header or without, or two of one number a line."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from humeval_power.errors import InputError, Problem
from humeval_power.interfaces.formats.compare.headerless import read_headerless
from humeval_power.interfaces.formats.file_bytes import read_bytes, unzipped
from humeval_power.interfaces.formats.tables import SourceTable, source_name, table_of


def one_table(path: str) -> tuple[SourceTable, bool]:
    """The table of a file, and whether its columns have names."""
    content, name = read_bytes(path), source_name(path)
    headerless = read_headerless(unzipped(content, source=name), source=name)
    return headerless or table_of(content, source=name), headerless is None


def joined_files(paths: Sequence[str], names: Sequence[str] = ("A", "B")) -> SourceTable:
    """Two files with one number a line, as columns of these names."""
    parts = []
    for path in paths:
        name = source_name(path)
        found = read_headerless(unzipped(read_bytes(path), source=name), source=name)
        if found is None or len(found.frame.columns) != 1:
            rule = f"{path}: of two files, each must hold one number a line and no header."
            raise InputError([Problem(rule, "Or put both systems into one table.")])
        parts.append(found)
    lengths = [len(part.frame) for part in parts]
    if lengths[0] != lengths[1]:
        rule = f"the files have {lengths[0]:,} and {lengths[1]:,} scores; they are paired by line."
        raise InputError([Problem(rule, "", place=f"{parts[0].source}, {parts[1].source}")])
    a, b = names
    frame = parts[0].frame.set_axis([a], axis=1)
    frame[b] = parts[1].frame.iloc[:, 0].to_numpy()
    notice = f"{a} is {parts[0].source}, {b} is {parts[1].source}; the effect is {b} - {a}."
    digest = hashlib.sha256("".join(part.sha256 for part in parts).encode()).hexdigest()
    return SourceTable(frame, f"{parts[0].source}, {parts[1].source}", digest, (notice,))

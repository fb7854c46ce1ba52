"""How large the files may be that people name: a megabyte that is packed can hold gigabytes."""

from __future__ import annotations

import os

from humeval_power.errors import InputError, Problem

MAX_MB = "HUMEVAL_POWER_MAX_MB"
MAX_CELLS = "HUMEVAL_POWER_MAX_CELLS"
MAX_COLUMNS = "HUMEVAL_POWER_MAX_COLUMNS"  # each of them costs time of its own
MEGABYTE = 1_000_000
_DEFAULTS = {MAX_MB: 200, MAX_CELLS: 25_000_000, MAX_COLUMNS: 10_000}


def largest_size() -> int:
    """The most bytes that a file may have, unpacked."""
    return _limit(MAX_MB) * MEGABYTE


def largest_table() -> int:
    """The most cells that a table may have."""
    return _limit(MAX_CELLS)


def most_columns() -> int:
    """The most columns that a table may have."""
    return _limit(MAX_COLUMNS)


def too_large(name: str, *, unpacked: bool = False) -> InputError:
    """The refusal of a file beyond the limit of bytes."""
    verb = "unpacks to more than" if unpacked else "is larger than"
    remedy = f"If it is what you mean, raise the limit: {MAX_MB}=2000 in the environment."
    return InputError([Problem(f"{verb} {_limit(MAX_MB):,} MB.", remedy, place=name)])


def refuse_large_table(n_rows: int, n_columns: int, *, place: str) -> None:
    """Refuse a table beyond the limits of columns and of cells.

    Raises
    ------
    InputError
        What there is too much of, and how the limit is raised.
    """
    if n_columns > most_columns():
        rule = f"has {n_columns:,} columns; at most {most_columns():,} are read."
        variable, needed = MAX_COLUMNS, n_columns
    elif n_rows * n_columns > largest_table():
        rule = f"{n_rows:,} rows of {n_columns:,} columns are more than {largest_table():,} cells."
        variable, needed = MAX_CELLS, n_rows * n_columns
    else:
        return
    remedy = f"If it is what you mean, raise the limit: {variable}={needed} in the environment."
    raise InputError([Problem(rule, remedy, place=place)])


def _limit(variable: str) -> int:
    text = os.environ.get(variable, "").strip()
    if not text:
        return _DEFAULTS[variable]
    if not (text.isascii() and text.isdigit() and len(text) < 16 and int(text)):
        raise InputError(f"{variable} must be a whole number from 1; got {text!r}.")
    return int(text)

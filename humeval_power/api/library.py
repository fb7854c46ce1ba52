"""What is known of the variation in other studies: a library of parameters, and its entries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from humeval_power.reporting.study.library_result import EntryResult, LibraryResult
    from humeval_power.reporting.study.parameter_library import LibraryEntry


def library(entries: Sequence[LibraryEntry]) -> LibraryResult:
    """List entries: their SDs on [0, 1], how many workers they rest on, and what they can be used for.

    Parameters
    ----------
    entries : as `shipped_library` and `read_library` give them.

    Returns
    -------
    LibraryResult
        `to_frame` has a row for each entry.
    """
    from humeval_power.reporting.study.library_result import LibraryResult

    return LibraryResult(entries=tuple(entries))


def entry(name: str, entries: Sequence[LibraryEntry], *, remarks: Sequence[str] = ()) -> EntryResult:
    """Tell one entry with its source and what it is worth.

    Parameters
    ----------
    name : of the entry.
    entries : the library that it is looked for in.
    remarks : what else to tell, beside the result.

    Returns
    -------
    EntryResult
        Its record is the document of parameters that a study is planned from.

    Raises
    ------
    InputError
        No entry of that name; its record: one that nothing can be planned from.
    """
    from humeval_power.reporting.study.library_result import EntryResult
    from humeval_power.reporting.study.parameter_library import find_entry

    return EntryResult(entry=find_entry(name, entries), remarks=tuple(remarks))

"""What a reader of a platform's export is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from humeval_power.checking.exports.export import Export
from humeval_power.choices import PlatformName
from humeval_power.interfaces.formats.exports.raw import RawExport


@dataclass(frozen=True, slots=True)
class Platform:
    """A format: what people call it, why a file is of it (None: it is not), and its reader.

    One that fits many files is `only_named`: it is taken where a person says so. One that people's own tables
    resemble is `weak`: it is taken where the table does not read as ratings by itself.
    """

    name: PlatformName
    title: str
    known_by: Callable[[RawExport], str | None]
    read: Callable[[RawExport, str], Export]
    only_named: bool = False
    weak: bool = False


def columns_named(found: RawExport, wanted: Sequence[str]) -> bool:
    """Whether a table has all of these columns."""
    return set(wanted) <= set(found.columns)

"""A table of answers under our own names of columns: what a form of ours gives back, or what `import` wrote."""

from __future__ import annotations

from humeval_power.checking.exports.export import Export
from humeval_power.checking.exports.mapping import EXTRAS, Mapping, RatingColumns
from humeval_power.checking.exports.templates import FIELDS, Template
from humeval_power.interfaces.formats.exports.platform import Platform, columns_named
from humeval_power.interfaces.formats.exports.raw import RawExport

_ALWAYS = ("worker", "code", "rating")


def _known_by(found: RawExport) -> str | None:
    return f"its columns are {', '.join(_ALWAYS)}" if columns_named(found, _ALWAYS) else None


def _read(found: RawExport, why: str) -> Export:
    told = {part: Template(part) for part in (*FIELDS, *EXTRAS) if part in found.columns}
    return Export(
        platform="collected",
        why=why,
        source=found.source,
        frame=found.table,
        mapping=Mapping(ratings=(RatingColumns(Template("rating")),), columns=told),
        notices=found.notices,
        person="worker",
    )


COLLECTED = Platform("collected", "a collected table", _known_by, _read, weak=True)

"""MQM annotations: a row for each error, of which the rating of an output is minus the sum of its weights."""

from __future__ import annotations

from humeval_power.checking.exports.mapping import ErrorWeights, Export, Mapping, Template
from humeval_power.files.exports.platform import Platform
from humeval_power.files.exports.raw import RawExport

COLUMNS = ("system", "doc", "seg_id", "rater", "category", "severity")


def _known_by(export: RawExport) -> str | None:
    if set(COLUMNS) <= set(export.head.split("\n", 1)[0].rstrip("\r").split("\t")):
        return f"its columns are {', '.join(COLUMNS)}: a row for each error"
    return None


def _read(export: RawExport) -> Export:
    table = export.tab_table
    return Export(
        frame=table.assign(item=table["doc"].astype(str) + ":" + table["seg_id"].astype(str)),
        mapping=Mapping(
            columns={"worker": Template("rater"), "item": Template("item"), "system": Template("system")},
            keep=("doc",),
            errors=ErrorWeights(),
        ),
        person="rater",
    )


MQM = Platform("mqm", _known_by, _read)

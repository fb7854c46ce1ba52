"""Exports of which only who answered what is taken: their ratings are put out of sight before anything is read."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from humeval_power.checking.cells import read_cells
from humeval_power.checking.exports.export import Export
from humeval_power.checking.exports.mapping import Mapping
from humeval_power.checking.exports.rating_blocks import rating_blocks
from humeval_power.checking.exports.templates import VALUE

GIVEN = "1"  # what stands for any rating


def without_ratings(export: Export, mapping: Mapping | None = None) -> Export:
    """The export with the same mark for every rating that was given, also where its column is not there.

    What a mapping calls missing stays missing. Ratings that are sums of errors, or marks in columns of points, are
    left as they are: whether there is one is all that is counted afterwards.
    """
    used = mapping or export.mapping
    if used is None or export.people or used.errors is not None:
        return export
    missing = {"", *(text.strip().casefold() for text in used.missing)}
    frame = export.frame
    marked = {}
    for block in rating_blocks(frame, used, export.questions):
        if VALUE not in block.parts:
            cells = read_cells(frame[block.column])
            given = np.array([text.strip().casefold() not in missing for text in cells.texts])[cells.code]
            marked[block.column] = np.where(given, GIVEN, "")
    whole = [one.template.filled({}) for one in used.ratings if not one.template.parts]
    marked |= {name: np.full(len(frame), GIVEN) for name in whole if name not in frame}
    return replace(export, frame=frame.assign(**marked))

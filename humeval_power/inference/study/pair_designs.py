"""Two systems of a design of several, as a design of two."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from humeval_power.designs import Design, crossed, from_table


def pair_rows(design: Design, first: int, second: int) -> NDArray[np.int64]:
    """The ratings of the two by worker, item and system, `first` before `second`: the order of `pair_design`."""
    rows = design.assignment
    kept = np.flatnonzero((rows.system == first) | (rows.system == second))
    order = np.lexsort((rows.system[kept] == second, rows.item[kept], rows.worker[kept]))
    return np.asarray(kept[order])


def pair_design(design: Design, first: int, second: int) -> Design:
    """Their ratings alone, with codes of the workers, items and documents that occur."""
    if design.is_crossed:
        two = crossed(design.n_workers, design.n_items, n_repeats=design.n_repeats)
        return replace(two, n_documents=design.n_documents, document_of_item=design.document_of_item)
    rows, kept = design.assignment, pair_rows(design, first, second)
    columns = (rows.worker, rows.item, *(() if rows.document is None else (rows.document,)))
    worker, item, *document = (np.unique(codes[kept], return_inverse=True)[1] for codes in columns)
    system = (rows.system[kept] == second).astype(np.int64)
    return from_table(worker, item, system, document=document[0] if document else None)

"""Who rates what, as a call."""

from __future__ import annotations

from humeval_power.interfaces.python_code.expressions import Call, Value, call
from humeval_power.interfaces.python_code.typed import Typed

_WHOLE = {
    "workers-nested": "hp.models.workers_nested",
    "items-nested": "hp.models.items_nested",
    "both-nested": "hp.models.both_nested",
    "counterbalanced": "hp.counterbalanced",
}


def design_of(
    typed: Typed, workers: Value, items: Value, *, n_systems: int | None = None, kind: str = "design"
) -> Call:
    """The design of so many workers and items, which may come out of documents.

    kind : the name of the option's value that says which design
    """
    design = _of_items(typed, workers, items, n_systems, typed[kind])
    documents, each = typed["documents"], typed["items_per_document"]
    if each is not None:
        documents = -(-int(str(items)) // each)
    return design if documents is None else call("hp.with_documents", design, documents)


def _of_items(typed: Typed, workers: Value, items: Value, n_systems: int | None, kind: str | None) -> Call:
    per_item = typed["ratings_per_item"]
    many = None if n_systems in (None, 2) else n_systems
    unpaired = False if typed["paired"] is False else None
    limit = typed["max_ratings_per_worker"]  # which refuses designs, and changes none
    if kind in _WHOLE:
        return call(_WHOLE[kind], workers, items)
    if per_item is None or (unpaired is None and per_item == workers):
        return call("hp.crossed", workers, items, n_systems=many)
    return call(
        "hp.k_per_item",
        workers,
        items,
        ratings_per_item=per_item,
        paired=unpaired,
        max_ratings_per_worker=limit,
        n_systems=many,
    )

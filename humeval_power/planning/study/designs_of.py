"""Designs from the counts and words that people give."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from humeval_power.designs import (
    Design,
    DesignKind,
    both_nested,
    check_load,
    counterbalanced,
    crossed,
    items_nested,
    k_per_item,
    with_documents,
    workers_nested,
)
from humeval_power.errors import DesignError
from humeval_power.study_counts import NO_DOCUMENTS, Documents, StudyCounts


def build_design(
    n_workers: int,
    n_items: int,
    ratings_per_item: int | None,
    *,
    paired: bool = True,
    kind: DesignKind | None = None,
    max_ratings_per_worker: int | None = None,
    documents: Documents = NO_DOCUMENTS,
    together: bool = False,
    n_systems: int = 2,
) -> Design:
    """The design of so many workers and items, which may come out of documents.

    Fully crossed without a number of ratings per item, otherwise k of the workers on each item; or, of two
    systems, one of the nested and counterbalanced designs by name.

    Raises
    ------
    DesignError
        Options that contradict each other, or a design that cannot be built.
    """
    design = _of_items(
        n_workers,
        n_items,
        ratings_per_item,
        paired=paired,
        kind=kind,
        max_ratings_per_worker=max_ratings_per_worker,
        n_systems=n_systems,
    )
    n_documents = documents.of(n_items)
    if not n_documents:
        return design
    return check_load(with_documents(design, n_documents, together=together), max_ratings_per_worker)


def _of_items(
    n_workers: int,
    n_items: int,
    ratings_per_item: int | None,
    *,
    paired: bool,
    kind: DesignKind | None,
    max_ratings_per_worker: int | None,
    n_systems: int,
) -> Design:
    if kind in _WHOLE_DESIGNS:
        if n_systems > 2:
            raise DesignError(
                f"A {kind} design halves workers or items, one half for each of two systems; {n_systems} were "
                "asked for. Take every worker on every item, or a number of ratings per item, paired or unpaired."
            )
        if ratings_per_item is not None or not paired:
            raise DesignError(
                f"A {kind} design says itself who rates what: leave out ratings per item and pairing."
            )
        return check_load(_WHOLE_DESIGNS[kind](n_workers, n_items), max_ratings_per_worker)
    if ratings_per_item is None:
        if not paired or kind in ("k-per-item", "split"):
            raise DesignError("This design needs a number of ratings per item.")
        return check_load(crossed(n_workers, n_items, n_systems=n_systems), max_ratings_per_worker)
    if kind == "crossed" and ratings_per_item != n_workers:
        raise DesignError(
            f"In a crossed design each item has a rating from every worker, {n_workers}; "
            f"{ratings_per_item} were asked for."
        )
    most = n_items * ratings_per_item * (1 if paired and kind != "split" else n_systems)
    if n_workers > most:
        raise DesignError(
            f"{n_items} items with {ratings_per_item} ratings per system are work for at most {most} workers; "
            f"{n_workers} were asked for. Ask for fewer workers, or more items or ratings per item."
        )
    return k_per_item(
        n_workers,
        n_items,
        ratings_per_item=ratings_per_item,
        paired=paired and kind != "split",
        max_ratings_per_worker=max_ratings_per_worker,
        n_systems=n_systems,
    )


_WHOLE_DESIGNS: Mapping[DesignKind | None, Callable[[int, int], Design]] = {
    "workers-nested": workers_nested,
    "items-nested": items_nested,
    "both-nested": both_nested,
    "counterbalanced": counterbalanced,
}


def design_of(
    counts: StudyCounts, *, kind: DesignKind | None = None, max_ratings_per_worker: int | None = None
) -> Design:
    """The assignment of a study of this size; every worker on every item is a crossed design."""
    complete = counts.paired and counts.ratings_per_item == counts.n_workers
    return build_design(
        counts.n_workers,
        counts.n_items,
        None if complete or kind in _WHOLE_DESIGNS else counts.ratings_per_item,
        paired=counts.paired,
        kind=kind,
        max_ratings_per_worker=max_ratings_per_worker,
        documents=Documents(counts.n_documents) if counts.n_documents else NO_DOCUMENTS,
        n_systems=counts.n_systems,
    )

"""What the pattern of who rated what means for the analysis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from humeval_power.checking.columns import listing

Codes = NDArray[np.int64]
_MARKS = ("__", "::", "|", "#", "/", ":", "_", "-")  # between a document and a system in one name
STRAIGHT_LINE = 10  # ratings after which giving always the same one is worth a word


def n_systems_seen(level: Codes, system: Codes, *, n_levels: int, n_systems: int) -> Codes:
    """Number of different systems that each worker or item goes with, shape (n_levels,)."""
    count = np.bincount(level * n_systems + system, minlength=n_levels * n_systems)
    seen: Codes = (count.reshape(n_levels, n_systems) > 0).sum(axis=1)
    return seen


def cell_sizes(worker: Codes, item: Codes, system: Codes) -> Codes:
    """Number of ratings in each worker x item x system cell that occurs."""
    n_items, n_systems = int(item.max()) + 1, int(system.max()) + 1
    sizes: Codes = np.unique((worker * n_items + item) * n_systems + system, return_counts=True)[1]
    return sizes


def connected_parts(worker: Codes, item: Codes, *, n_workers: int, n_items: int) -> tuple[int, Codes]:
    """The parts that ratings connect: how many, and that of each worker, then of each item; counted in the order of
    their first workers, parts without one last."""
    part = np.arange(n_workers + n_items)
    while True:  # a part joins the first one that it touches, then the one which that has joined
        before = part.copy()
        first = np.minimum(part[worker], part[n_workers + item])
        for ends in (worker, n_workers + item):
            np.minimum.at(part, before[ends], first)
        part = part[part]
        if np.array_equal(part, before):
            break
    found, code = np.unique(part, return_inverse=True)
    return len(found), code


def structure_notices(
    worker: Codes,
    item: Codes,
    system: Codes,
    rating: NDArray[np.float64],
    *,
    worker_names: Sequence[str],
    n_items: int,
    n_systems: int,
) -> list[str]:
    """Repeats, items and workers that go with one system only, workers who always say the same."""
    notices = _repeats(cell_sizes(worker, item, system))
    if n_systems == 1:
        notices.append("WARNING: there is only one system, so there is nothing to compare.")
    else:
        items_seen = n_systems_seen(item, system, n_levels=n_items, n_systems=n_systems)
        notices += _nested_items(int((items_seen == 1).sum()), n_items)
        workers_seen = n_systems_seen(worker, system, n_levels=len(worker_names), n_systems=n_systems)
        notices += _one_system_workers(np.flatnonzero(workers_seen == 1), worker_names)
    return notices + _straight_liners(worker, rating, worker_names)


def systems_apart(
    system: Codes, item: Codes, names: Sequence[str], documents: Mapping[str, tuple[Codes, Sequence[str]]]
) -> str | None:
    """Ask whether names of documents are part of those of systems; None where nothing suggests it.

    system, item : (n,) codes of the rows. documents : the columns that may be documents, the likeliest first: codes
        (n,) and names. A system is then in one document only, and shares no item with those of others, or its name
        has the document's. Without such a column the systems lie in groups that share no item.
    """
    present = np.unique(system)
    for column, (document, labels) in documents.items():
        of_system = np.unique(system * len(labels) + document) % len(labels)
        if len(of_system) != len(present) or len(np.unique(of_system)) < 2:
            continue
        known, groups = [names[code] for code in present], [labels[code] for code in of_system]
        if _shares_no_item(item, document) or _split(known, groups):
            where = f"Each system is rated in one document of its own (column {column!r})"
            return _asked_apart(where, known, groups)
    compact = np.searchsorted(present, system)
    _, part = connected_parts(compact, item, n_workers=len(present), n_items=int(item.max()) + 1)
    of_system = part[: len(present)]
    n_parts = len(np.unique(of_system))
    if not 2 <= n_parts < len(present):
        return None
    where = f"The systems lie in {n_parts:,} groups that share no item"
    return _asked_apart(where, [names[code] for code in present], [str(code) for code in of_system])


def _shares_no_item(item: Codes, document: Codes) -> bool:
    return len(np.unique(item * (int(document.max()) + 1) + document)) == len(np.unique(item))


def _asked_apart(where: str, names: Sequence[str], groups: Sequence[str]) -> str:
    """What is found, what that may mean, and the way out."""
    listed = [
        f"({listing([name for name, group in zip(names, groups, strict=True) if group == one], limit=3)})"
        for one in list(dict.fromkeys(groups))[:4]
    ]
    more = "" if len(set(groups)) == len(listed) else ", ..."
    template = _split(names, groups)
    return (
        f"{where}: {', '.join(listed)}{more}. Is the document's name part of the system's name? "
        "Then take it off: humeval-power import FILE --draft -o mapping.toml, in it under "
        f'[split] "system" = "{template or "{document}#{system}"}", and import with --map mapping.toml.'
    )


def _split(names: Sequence[str], groups: Sequence[str]) -> str | None:
    """How names come apart into a document, which is the same in a group, and a system, which occurs in several."""
    for mark in _MARKS:
        if any(name.count(mark) != 1 for name in names):
            continue
        halves = [name.split(mark) for name in names]
        for at, template in ((0, f"{{document}}{mark}{{system}}"), (1, f"{{system}}{mark}{{document}}")):
            documents, systems = [half[at] for half in halves], [half[1 - at] for half in halves]
            n = len(set(documents))
            fits = n == len(set(groups)) == len(set(zip(documents, groups, strict=True)))
            if fits and n > 1 and len(set(systems)) < len(names):
                return template
    return None


def _repeats(sizes: Codes) -> list[str]:
    repeated = int((sizes > 1).sum())
    if repeated == 0:
        return []
    return [
        f"{repeated:,} of {len(sizes):,} worker x item x system cells hold more than one rating "
        f"(up to {sizes.max():,}). They are kept as repeats; if they are copies of one rating, "
        "remove them."
    ]


def _nested_items(n_nested: int, n_items: int) -> list[str]:
    if n_nested == 0:
        return []
    if n_nested == n_items:
        return [
            "WARNING: every item belongs to one system only, so no item compares the systems. An item's "
            "own difference between systems (sd_item_slope) cannot be estimated. If the items come "
            "from shared prompts or sources, name that column with --item."
        ]
    loud = "WARNING: " if n_nested > n_items / 2 else ""
    advice = " If a column of prompts or sources crosses the systems, name it with --item." if loud else ""
    return [
        f"{loud}{n_nested:,} of {n_items:,} items were rated under one system only. They say nothing about "
        f"how the difference between systems varies from item to item.{advice}"
    ]


def _one_system_workers(workers: Codes, names: Sequence[str]) -> list[str]:
    if len(workers) == 0:
        return []
    if len(workers) == len(names):
        return [
            "WARNING: every worker rated one system only, so no worker compares the systems. A worker's "
            "own difference between systems (sd_worker_slope) cannot be estimated."
        ]
    shown = listing([names[int(worker)] for worker in workers], limit=5)
    return [f"{len(workers):,} of {len(names):,} workers rated one system only: {shown}."]


def _straight_liners(worker: Codes, rating: NDArray[np.float64], names: Sequence[str]) -> list[str]:
    lowest = np.full(len(names), np.inf)
    highest = np.full(len(names), -np.inf)
    np.minimum.at(lowest, worker, rating)
    np.maximum.at(highest, worker, rating)
    load = np.bincount(worker, minlength=len(names))
    same = np.flatnonzero((lowest == highest) & (load >= STRAIGHT_LINE))
    if len(same) == 0:
        return []
    shown = listing([names[int(code)] for code in same], limit=5)
    verb = "worker gave" if len(same) == 1 else "workers gave"
    return [f"{len(same):,} {verb} the same rating every time, {STRAIGHT_LINE} times or more: {shown}."]

"""Where a study is looked at: after shares of its items, workers or ratings, or after whole blocks of both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, get_args

import numpy as np

from humeval_power.choices import LookKind as LookKind
from humeval_power.designs import Codes, Design, from_table
from humeval_power.errors import InputError, Problem

MOST_LOOKS = 20


@dataclass(frozen=True, slots=True)
class Looks:
    """Looks after given shares of what `kind` names.

    'items': the same workers rate more items; 'workers': more workers rate the same items; 'ratings': the
    same workers and items, each item rated by more workers; 'blocks': each look adds new workers with new
    items, which the earlier workers do not see.
    """

    kind: LookKind
    shares: tuple[float, ...]

    def __post_init__(self) -> None:
        problems = []
        if self.kind not in get_args(LookKind):
            words = ", ".join(get_args(LookKind))
            problems.append(f"Looks come by {words}; got {self.kind!r}.")
        problems += share_problems(self.shares)
        if problems:
            raise InputError([Problem(rule=problem, remedy="") for problem in problems])

    @property
    def n_looks(self) -> int:
        """Number of looks, the last included."""
        return len(self.shares)

    def __str__(self) -> str:
        shares = ", ".join(f"{100 * share:.4g} %" for share in self.shares)
        return f"{self.n_looks} looks by {self.kind}: {shares}"


def equal_looks(kind: LookKind, n_looks: int) -> Looks:
    """`n_looks` looks after equal steps."""
    if not 1 <= n_looks <= MOST_LOOKS:
        raise InputError(f"The number of looks must lie between 1 and {MOST_LOOKS}; got {n_looks}.")
    return Looks(kind, tuple((look + 1) / n_looks for look in range(n_looks)))


def share_problems(shares: Sequence[float]) -> list[str]:
    """What is wrong with shares of a study at which it is looked at."""
    listed = ", ".join(f"{share:g}" for share in shares)
    problems = []
    if not 1 <= len(shares) <= MOST_LOOKS:
        problems.append(f"There must be 1 to {MOST_LOOKS} looks; got {len(shares)}.")
    if any(not 0 < share <= 1 for share in shares) or any(a >= b for a, b in pairwise(shares)):
        problems.append(f"The looks must increase from above 0; got {listed}.")
    if shares and shares[-1] != 1:
        problems.append(f"The last share must be 1, the whole study; got {listed}.")
    return problems


class NestedDesigns(NamedTuple):
    """The final design, the design of what is there at each look, and which rows of the final one that is."""

    final: Design
    designs: tuple[Design, ...]
    rows: tuple[Codes, ...]


def nested_designs(design: Design, looks: Looks) -> NestedDesigns:
    """The designs that a study passes through on its way to `design`.

    Looks by blocks split both workers and items, and keep only ratings within a block: the final design is
    then smaller than `design`, which says how many workers and items there are in all.

    Raises
    ------
    InputError
        A look without two workers, two items and both systems, or that adds nothing.
    """
    arrival = _ARRIVALS[looks.kind](design, looks)
    if looks.kind == "blocks":
        kept = arrival >= 0
        design, arrival = _subset(design, np.flatnonzero(kept)), arrival[kept]
    problems: list[str] = []
    designs: list[Design] = []
    rows: list[Codes] = []
    for number in range(looks.n_looks):
        there = np.flatnonzero(arrival <= number)
        if number and len(there) == len(rows[-1]):
            problems.append(f"Look {number + 1} adds no ratings to look {number}.")
        rows.append(there)
        try:
            designs.append(design if len(there) == len(arrival) else _subset(design, there))
        except InputError as error:
            problems += [f"Look {number + 1} cannot be analysed: {one}" for one in error.problems]
    if problems:
        raise InputError([Problem(rule=problem, remedy="Move or drop looks.") for problem in problems])
    return NestedDesigns(design, tuple(designs), tuple(rows))


def _subset(design: Design, rows: Codes) -> Design:
    """The design of some rows, in their order; a complete one comes back as crossed."""
    whole = design.assignment
    if len(rows) == 0:
        raise InputError("there are no ratings.")
    worker = np.unique(whole.worker[rows], return_inverse=True)[1]
    item = np.unique(whole.item[rows], return_inverse=True)[1]
    document = None
    if whole.document is not None:
        document = np.unique(whole.document[rows], return_inverse=True)[1]
        if document.max() < 1:
            raise InputError("all its items come out of one document; two are needed.")
    return from_table(worker, item, whole.system[rows], document=document, n_systems=design.n_systems)


def _counts(total: int, looks: Looks) -> Codes:
    """How many of `total` units there are at each look."""
    return np.array([round(share * total) for share in looks.shares], dtype=np.int64)


def _by_items(design: Design, looks: Looks) -> Codes:
    return np.searchsorted(_counts(design.n_items, looks), design.assignment.item, side="right")


def _by_workers(design: Design, looks: Looks) -> Codes:
    return np.searchsorted(_counts(design.n_workers, looks), design.assignment.worker, side="right")


def _by_ratings(design: Design, looks: Looks) -> Codes:
    """Pairs of worker and item arrive in rounds: every item's first worker, then its second, ... In round r
    item i is with the worker r places after its own first one, so that loads stay even."""
    rows = design.assignment
    pair = rows.worker * design.n_items + rows.item
    pairs, which = np.unique(pair, return_inverse=True)
    worker, item = pairs // design.n_items, pairs % design.n_items
    turn = (worker - item) % design.n_workers
    order = np.lexsort((turn, item))
    first = np.searchsorted(item[order], np.arange(design.n_items))
    turn_of = np.empty(len(pairs), dtype=np.int64)
    turn_of[order] = np.arange(len(pairs)) - first[item[order]]
    place = np.empty(len(pairs), dtype=np.int64)
    place[np.lexsort((item, turn_of))] = np.arange(len(pairs))
    return np.searchsorted(_counts(len(pairs), looks), place[which], side="right")


def _by_blocks(design: Design, looks: Looks) -> Codes:
    """The block of a row, -1 for a worker and an item of different blocks."""
    worker = _by_workers(design, looks)
    return np.where(worker == _by_items(design, looks), worker, -1)


_ARRIVALS = {"items": _by_items, "workers": _by_workers, "ratings": _by_ratings, "blocks": _by_blocks}

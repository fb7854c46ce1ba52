"""Search over workers x items (x documents) x ratings per item: the cheapest design, or the most powerful."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from humeval_power.costs import CostModel, costs_of_counts
from humeval_power.designs import different_workers
from humeval_power.errors import InputError, ParametersError, Problem
from humeval_power.parameters import Parameters
from humeval_power.rules import DEFAULT_RULE, DecisionRule
from humeval_power.simulation.study import NO_LOSSES, Losses, check_documents
from humeval_power.studies.plan.planned_systems import NOBODY_OUT, WorkersOut
from humeval_power.studies.power.required import powers, regular_precision
from humeval_power.study_counts import StudyCounts, share_of

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Goal = Literal["cheapest", "most-powerful"]
MOST_CANDIDATES = 3_000_000
_CHUNK = 200_000
LEAST_SECOND = 10
"""Where nearly every worker does one thing, those who do a second one are all that tells workers from noise. On a
scale of few points two or three of them often repeat themselves exactly: then workers explain every rating, and the
planned analysis has no standard error. Ten hardly ever do. Where nobody does a second one, the test is that of the
items' differences, and exact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSpace:
    """What may be varied, and the limits of what can be carried out.

    Ranges include both ends. `pairings` are the ways to share work: paired, unpaired, or both. With
    `documents`, items come out of one of these numbers of documents, the same number of items of each.
    `max_ratings_per_worker` counts all that a worker is shown, with `checks` and `repeats`, which are shares of
    the ratings.
    """

    workers: Sequence[int]
    items: Sequence[int]
    ratings_per_item: Sequence[int]
    pairings: Sequence[bool] = (True,)
    max_ratings_per_worker: int | None = None
    documents: Sequence[int] = ()
    checks: float = 0.0
    repeats: float = 0.0

    def __post_init__(self) -> None:
        empty = [
            name for name in ("workers", "items", "ratings_per_item", "pairings") if not getattr(self, name)
        ]
        if empty:
            raise InputError(f"The search needs at least one value for {' and '.join(empty)}.")
        if self.documents and min(self.documents) < 2:
            raise InputError(
                f"The number of documents must be at least 2, because a variance cannot be estimated from one; "
                f"got {min(self.documents)}."
            )

    def shown(self, loads: Ints) -> Ints:
        """What workers are shown who give so many ratings."""
        return loads + share_of(self.checks, loads) + share_of(self.repeats, loads)

    @property
    def sources(self) -> list[tuple[int, int]]:
        """Items and the documents that they come out of (0: they stand alone), as far as they divide."""
        if not self.documents:
            return [(n, 0) for n in self.items]
        return [(n, d) for n in self.items for d in self.documents if n % d == 0]


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Feasible designs, one entry each; `power` (settings, designs) by formula, `cents` the price."""

    workers: Ints
    items: Ints
    ratings_per_item: Ints
    paired: NDArray[np.bool_]
    cents: Ints
    power: Floats
    settings: tuple[str, ...]
    documents: Ints

    def __len__(self) -> int:
        return len(self.workers)

    @property
    def worst_power(self) -> Floats:
        """Smallest power over the settings, shape (designs,)."""
        return np.asarray(self.power.min(axis=0))

    def counts(self, index: int) -> StudyCounts:
        """The size of one design."""
        return StudyCounts(
            int(self.workers[index]),
            int(self.items[index]),
            int(self.ratings_per_item[index]),
            bool(self.paired[index]),
            n_documents=int(self.documents[index]),
        )


def list_candidates(
    settings: Mapping[str, Parameters],
    space: SearchSpace,
    costs: CostModel,
    *,
    rule: DecisionRule = DEFAULT_RULE,
    losses: Losses = NO_LOSSES,
    out: WorkersOut = NOBODY_OUT,
) -> Candidates:
    """Every design of the space that can be carried out, priced and with its power by formula.

    `settings` are parameters whose effect is the effect of interest. With `losses` a design is judged by
    what is expected to be left of it where the shares `out` of its workers are left out, and an effect by what
    careless workers leave of it; it is priced as planned. Simulation has the last word.

    Raises InputError: a space without any feasible design (and why), or one too large to list.
    """
    for name, parameters in settings.items():
        if parameters.sd_residual == 0:
            raise ParametersError(f"{name}: sd_residual must be above 0 to plan: ratings are never exact.")
        check_documents(parameters.recoded(), len(space.documents))
    parts = [feasible_sizes(space, paired) for paired in space.pairings]
    m, n, documents, k, paired = (np.concatenate([part[i] for part in parts]) for i in range(5))
    if len(m) == 0:
        raise nothing_feasible(space)
    power = np.empty((len(settings), len(m)))
    for row, parameters in enumerate(settings.values()):
        for way in (True, False):
            chosen = np.flatnonzero(paired == way)
            for part in np.array_split(chosen, max(1, len(chosen) // _CHUNK)):
                left = what_is_left(m[part], n[part], k[part], losses, out)
                precision = regular_precision(
                    parameters,
                    workers=left.workers,
                    items=left.items,
                    ratings_per_item=left.ratings_per_item,
                    paired=bool(way),
                    documents=np.minimum(documents[part], left.items),
                )
                groups = np.where(documents[part] > 0, documents[part], left.items)
                power[row, part] = powers(
                    left.effect_share * parameters.difference,
                    precision,
                    smallest=np.minimum(left.workers, groups) - 1.0,
                    rule=rule,
                )
    cents = np.empty(len(m), dtype=np.int64)
    for way in (True, False):
        chosen = paired == way
        cents[chosen] = costs_of_counts(
            costs,
            n_workers=m[chosen],
            n_items=n[chosen],
            ratings_per_item=k[chosen],
            paired=way,
            n_documents=documents[chosen],
        )
    return Candidates(m, n, k, paired, cents, power, tuple(settings), documents)


class AfterLosses(NamedTuple):
    """What is expected to be left of designs after losses, and the share of the effect that careless
    workers leave."""

    workers: Floats
    items: Floats
    ratings_per_item: Floats
    effect_share: float


def what_is_left(workers: Ints, items: Ints, k: Ints, losses: Losses, out: WorkersOut) -> AfterLosses:
    """Expected sizes: missing ratings and half of a quitting worker's work are gone, and so are workers who are
    left out; careless workers who are not answer without regard to the systems."""
    given = (1.0 - losses.missing) * (1.0 - losses.quitting / 2)
    left = 1.0 - out.of_all(losses.careless)
    careful = (1.0 - losses.careless) * (1.0 - out.careful)
    m = np.maximum(workers * left, 2.0)
    ratings = k * given * left
    rated = np.minimum(ratings, 1.0)  # below one rating an item, some items are lost
    return AfterLosses(
        m,
        np.maximum(items * rated, 2.0),
        np.minimum(np.maximum(ratings, 1.0), m),
        careful / left if left > 0 else 0.0,
    )


def feasible_sizes(
    space: SearchSpace, paired: bool, *, n_systems: int = 2
) -> tuple[Ints, Ints, Ints, Ints, NDArray[np.bool_]]:
    """Workers, items, documents, ratings per item and pairing of every design that can be carried out. Raises
    InputError: a space too large to list."""
    sources = space.sources
    size = len(space.workers) * len(sources) * len(space.ratings_per_item)
    if size > MOST_CANDIDATES:
        raise InputError(
            f"{size:,} designs are too many to compare (at most {MOST_CANDIDATES:,}). Give "
            "shorter lists of workers_range, items_range, documents_range or ratings_per_item_range, with steps: "
            "50:500:10."
        )
    axes = np.meshgrid(space.workers, np.arange(len(sources)), space.ratings_per_item, indexing="ij")
    m, source, k = (axis.ravel().astype(np.int64) for axis in axes)
    n, documents = np.array(sources, dtype=np.int64).reshape(-1, 2)[source].T
    needed = k * different_workers(paired, n_systems)
    work_for = n * k * (1 if paired else n_systems)
    feasible = (m >= 2) & (n >= 2) & (needed <= m) & (m <= work_for)
    if space.max_ratings_per_worker is not None:
        load = n_systems * -(-n * k // m) if paired else -(-n_systems * n * k // m)
        feasible &= space.shown(load) <= space.max_ratings_per_worker
    testable = feasible & ~rests_on_few(work_for - m, m)
    if testable.any():  # what is asked for alone is planned as it was asked for, and the plan says so
        feasible = testable
    m, n, documents, k = m[feasible], n[feasible], documents[feasible], k[feasible]
    return m, n, documents, k, np.full(len(m), paired)


def rests_on_few(second: Ints | int, workers: Ints | int) -> NDArray[np.bool_]:
    """Whether the analysis rests on a few workers who do a second thing: see LEAST_SECOND."""
    few = np.less(second, LEAST_SECOND) & (2 * np.asarray(second) < workers)
    return np.asarray(np.greater(second, 0) & few)


def nothing_feasible(space: SearchSpace, *, n_systems: int = 2) -> InputError:
    """The error of a space without any feasible design."""
    remedy = "Widen the lists of workers_range, items_range or ratings_per_item_range, or max_ratings_per_worker."
    return InputError([Problem(_why_empty(space, n_systems), remedy)])


def _why_empty(space: SearchSpace, n_systems: int) -> str:
    text = "no design within these limits can be carried out"
    if max(space.workers) < 2 or max(space.items) < 2:
        return f"{text}: at least 2 workers and 2 items are needed."
    if not space.sources:
        return (
            f"{text}: no number of items from {min(space.items)} to {max(space.items)} comes out of "
            f"{min(space.documents)} to {max(space.documents)} documents in equal shares."
        )
    smallest_k = min(space.ratings_per_item) * different_workers(True in space.pairings, n_systems)
    if smallest_k > max(space.workers):
        return f"{text}: an item needs at least {smallest_k} workers, and there are {max(space.workers)}."
    if space.max_ratings_per_worker is not None:
        dealt = min(space.items) * min(space.ratings_per_item)
        apart = -(-n_systems * dealt // max(space.workers))
        lightest = apart if False in space.pairings else n_systems * -(-dealt // max(space.workers))
        shown = int(space.shown(np.array([lightest]))[0])
        if shown > space.max_ratings_per_worker:
            beside = f", and be shown {shown} texts with checks and repeats" if shown > lightest else ""
            return (
                f"{text}: even {max(space.workers)} workers would give {lightest} ratings each{beside}, above the "
                f"limit of {space.max_ratings_per_worker}."
            )
    most = max(space.items) * max(space.ratings_per_item) * (n_systems if False in space.pairings else 1)
    if min(space.workers) > most:
        return f"{text}: there is work for {most} workers only, and at least {min(space.workers)} are asked for."
    return f"{text}."


def cheapest(candidates: Candidates, *, target: float) -> int | None:
    """Index of the cheapest design whose power reaches the target under every setting (the more
    powerful of equally cheap ones), None if there is none."""
    reaching = np.flatnonzero(candidates.worst_power >= target)
    if len(reaching) == 0:
        return None
    order = np.lexsort(
        (candidates.workers[reaching], -candidates.worst_power[reaching], candidates.cents[reaching])
    )
    return int(reaching[order[0]])


def most_powerful(candidates: Candidates, *, budget_cents: int | None = None) -> int | None:
    """Index of the most powerful design within the budget (the cheaper of equals), None if none fits."""
    affordable = np.arange(len(candidates))
    if budget_cents is not None:
        affordable = np.flatnonzero(candidates.cents <= budget_cents)
    if len(affordable) == 0:
        return None
    power = np.round(candidates.worst_power[affordable], 9)
    return int(affordable[np.lexsort((candidates.cents[affordable], -power))[0]])


def front(candidates: Candidates) -> Ints:
    """Indices of the designs that no other beats in both cost and power, cheapest first."""
    order = np.lexsort((-candidates.worst_power, candidates.cents))
    power = candidates.worst_power[order]
    best_before = np.concatenate([[-np.inf], np.maximum.accumulate(power)[:-1]])
    return np.asarray(order[power > best_before + 1e-9])

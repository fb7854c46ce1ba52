"""The rows of a joint fit as its likelihood takes them: by sparse factors where all systems are rated together and
share their variances, else by one dense matrix."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from humeval_power.errors import InputError
from humeval_power.estimation.crossed.problem import CrossedProblem, Levels
from humeval_power.kernels.crossed.likelihood import Response
from humeval_power.kernels.joint import model
from humeval_power.kernels.joint.reml import Point, TablePoint

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_PAIRED_FROM = 300  # levels of the smaller factor times systems up to which one dense matrix is as fast
_MOST_COLUMNS = 5_000  # levels of the smaller factor times systems: the order of a dense matrix
_MOST_OWN_COLUMNS = 2_000  # where as many such matrices are needed as there are systems


@dataclass(frozen=True, eq=False)
class JointTable:
    """Who rated what; rows (n,) of codes 0, 1, ...

    order : (K, n / K), the rows of each system by worker and item, where these are the same for all systems: which
        ratings of one worker, item and system stand with which of another system is without consequence, as the
        model does not tell them apart. None where systems are not rated together, where each has variances of its
        own, or where the table is small.
    """

    worker: Codes
    item: Codes
    system: Codes
    n_systems: int
    own: bool
    order: Codes | None

    @classmethod
    def of_rows(cls, worker: Codes, item: Codes, system: Codes, *, n_systems: int, own: bool) -> Self:
        """own : each system has variances of its own."""
        least = min(int(worker.max()), int(item.max())) + 1
        order = None
        if not own and least * n_systems > _PAIRED_FROM:
            order = by_system(worker, item, system, n_systems)
        return cls(worker, item, system, n_systems, own, order)

    def point(self, response: Floats, gamma: Floats) -> Point:
        """The likelihood of ratings (n,) at relative variances `gamma`, those of the outer factor first."""
        if self.order is None:
            table = self._dense
            return TablePoint.of_table(table, model.response_products(table, response), gamma)
        from scipy.linalg import helmert

        from humeval_power.kernels.joint.paired import Layers, PairedPoint

        rotation = helmert(self.n_systems, full=True)
        products = self._layer.products(np.ascontiguousarray(rotation @ response[self.order]))
        responses = tuple(Response(*(part[layer] for part in products)) for layer in range(self.n_systems))
        return PairedPoint.of_layers(Layers(self._layer.large, responses, rotation), gamma)

    @property
    def worker_is_outer(self) -> bool:
        """Whether the variances of workers come first; items are eliminated then."""
        return int(self.worker.max()) <= int(self.item.max())

    def refuse_too_large(self) -> None:
        """Raise InputError where the matrix that the fit needs would be too large."""
        n_workers, n_items = int(self.worker.max()) + 1, int(self.item.max()) + 1
        least, most, of = min(n_workers, n_items), _MOST_OWN_COLUMNS if self.own else _MOST_COLUMNS, ""
        if self.order is None:
            least, of = least * self.n_systems, "system of each "
        if least <= most or (self.order is not None and self._layer.large.fronts.work <= most**3 / 3.0):
            return
        raise InputError(
            f"{n_workers:,} workers, {n_items:,} items and {self.n_systems} systems are too many for a joint fit: "
            f"it needs a dense matrix with a row for each {of}{'worker' if self.worker_is_outer else 'item'}, "
            f"and takes at most {most:,}. Fit the systems in pairs: --model pairwise."
        )

    @cached_property
    def _dense(self) -> model.Table:
        outer, inner = (self.worker, self.item) if self.worker_is_outer else (self.item, self.worker)
        return model.build_table(outer, inner, self.system, n_systems=self.n_systems, own=self.own)

    @cached_property
    def _layer(self) -> CrossedProblem:
        """The design of each layer: the rows of one system, with an intercept alone."""
        assert self.order is not None
        first = self.order[0]
        ones = np.ones((len(first), 1))
        return CrossedProblem.of_levels(
            [Levels(self.worker[first], ones), Levels(self.item[first], ones)], ones
        )


def by_system(worker: Codes, item: Codes, system: Codes, n_systems: int) -> Codes | None:
    """The rows of each system (K, n / K), by worker and item; None where those are not the same."""
    counts = np.bincount(system, minlength=n_systems)
    if counts.min() != counts.max():
        return None
    order = np.lexsort((item, worker, system)).reshape(len(counts), -1)
    same = (worker[order] == worker[order[0]]) & (item[order] == item[order[0]])
    return order if same.all() else None

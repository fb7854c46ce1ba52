"""Battles: who met whom, who won, and which systems they join."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csgraph

from humeval_power.checking.columns import listing
from humeval_power.clusters import Clusters
from humeval_power.errors import InputError, refusal

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Covariates:
    """What the outputs of a battle differ in besides their systems, such as length: `values` (n, q) of the first
    less those of the second, each in units of its standard deviation `sd` (q,) once they are `standardised`."""

    names: tuple[str, ...]
    values: Floats

    @property
    def sd(self) -> Floats:
        """Standard deviations of the differences."""
        return np.asarray(self.values.std(axis=0))

    @property
    def standardised(self) -> Floats:
        """Differences over their standard deviations; 0 still means that both outputs are alike."""
        return np.asarray(self.values / self.sd)


@dataclass(frozen=True, slots=True, eq=False)
class Battles:
    """One entry a battle, shape (n,): codes of the system shown `first` and of the `second`, and the `outcome`:
    1 the first won, 0 a tie, -1 the second won. `clusters` are of battles, such as those of a user; `suspects`
    what may go together and is no cluster."""

    systems: tuple[str, ...]
    first: Codes
    second: Codes
    outcome: Codes
    clusters: Clusters | None = None
    source: str = ""
    sha256: str = ""
    notices: tuple[str, ...] = ()
    suspects: tuple[str, ...] = ()
    covariates: Covariates | None = None

    def __post_init__(self) -> None:
        if len(self.systems) < 2 or len(self.outcome) < 2:
            raise InputError(
                f"At least 2 systems and 2 battles are needed; got {len(self.systems)} and {len(self.outcome):,}."
            )
        if (self.first == self.second).any():
            raise InputError("A system cannot meet itself.")

    @property
    def n(self) -> int:
        """Number of battles."""
        return len(self.outcome)

    @property
    def n_ties(self) -> int:
        """Battles without a winner."""
        return int((self.outcome == 0).sum())

    @property
    def wins(self) -> Codes:
        """How often the row's system won against the column's, (K, K)."""
        winner = np.where(self.outcome >= 0, self.first, self.second)
        loser = np.where(self.outcome >= 0, self.second, self.first)
        decided = self.outcome != 0
        return self._counts(winner[decided], loser[decided])

    @property
    def ties(self) -> Codes:
        """How often two systems tied, (K, K), symmetric."""
        tied = self.outcome == 0
        counts = self._counts(self.first[tied], self.second[tied])
        return np.asarray(counts + counts.T)

    @property
    def shown_first(self) -> Codes:
        """How often the row's system was shown before the column's, (K, K)."""
        return self._counts(self.first, self.second)

    @property
    def both_orders(self) -> bool:
        """Whether some two systems were shown in both orders: only then order and strength can be told apart
        without relying on third systems."""
        orders = self.shown_first
        return bool(((orders > 0) & (orders.T > 0)).any())

    def only(self, systems: tuple[str, ...]) -> Battles:
        """The battles among some of the systems."""
        new = {self.systems.index(name): place for place, name in enumerate(systems)}
        code = np.array([new.get(place, -1) for place in range(len(self.systems))])
        first, second = code[self.first], code[self.second]
        kept = (first >= 0) & (second >= 0)
        clusters = None if self.clusters is None else self.clusters.only(kept)
        of = self.covariates
        return replace(
            self,
            systems=systems,
            first=first[kept],
            second=second[kept],
            outcome=self.outcome[kept],
            clusters=clusters,
            covariates=None if of is None else replace(of, values=of.values[kept]),
        )

    def joined(self, more: Battles) -> Battles:
        """These battles and more of them, perhaps of more systems and clusters. InputError: clusters or
        covariates are known of one of the two only, or have other names."""
        names = tuple(dict.fromkeys((*self.systems, *more.systems)))
        code = np.array([names.index(name) for name in more.systems])
        clusters, theirs = self.clusters, more.clusters
        if (clusters is None) != (theirs is None) or (clusters and theirs and clusters.name != theirs.name):
            raise InputError("The clusters of the new battles must be those of the battles before.")
        if clusters is not None and theirs is not None:
            labels = dict.fromkeys((*clusters.labels, *theirs.labels))
            place = {label: at for at, label in enumerate(labels)}
            new = np.array([place[label] for label in theirs.labels])[theirs.codes]
            clusters = Clusters(np.concatenate([clusters.codes, new]), tuple(labels), clusters.name)
        style, new_style = self.covariates, more.covariates
        if (style and style.names) != (new_style and new_style.names):
            raise InputError("The covariates of the new battles must be those of the battles before.")
        if style is not None and new_style is not None:
            style = replace(style, values=np.concatenate([style.values, new_style.values]))
        return Battles(
            names,
            np.concatenate([self.first, code[more.first]]),
            np.concatenate([self.second, code[more.second]]),
            np.concatenate([self.outcome, more.outcome]),
            clusters,
            notices=(*self.notices, *more.notices),
            suspects=tuple(dict.fromkeys((*self.suspects, *more.suspects))),
            covariates=style,
        )

    def _counts(self, rows: Codes, columns: Codes) -> Codes:
        K = len(self.systems)
        return np.bincount(rows * K + columns, minlength=K * K).reshape(K, K)


def parts_of(battles: Battles) -> Codes:
    """The part (K,) of each system: within it all are joined by battles; numbered by size, the largest first."""
    met = battles.shown_first
    _, code = csgraph.connected_components(met + met.T, directed=False)
    order = np.argsort(-np.bincount(code), kind="stable")
    return np.asarray(np.argsort(order)[code], dtype=np.int64)


def circles_of(battles: Battles) -> Codes:
    """The circle (K,) of each system: within it each is reached from every other along wins and ties, so that all
    differences of strengths are finite (Ford 1957)."""
    edges = (battles.wins > 0) | (battles.ties > 0)
    _, code = csgraph.connected_components(edges, directed=True, connection="strong")
    return np.asarray(code, dtype=np.int64)


def check_orderable(battles: Battles) -> None:
    """Refuse battles that put nothing into an order. InputError: every battle is a tie, or a system has
    none."""
    if not (battles.outcome != 0).any():
        raise refusal("every battle is a tie.", "There is no order to be seen.", battles.source)
    K = len(battles.systems)
    fought = np.bincount(battles.first, minlength=K) + np.bincount(battles.second, minlength=K)
    if (fought == 0).any():
        without = listing([battles.systems[k] for k in np.flatnonzero(fought == 0)], limit=6)
        raise refusal(f"{without}: no battle.", "Leave these out of --systems.", battles.source)

"""Battles: who met whom, who won, and which systems the battles can put into one order."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from humeval_power.checking.columns import listing
from humeval_power.clusters import Clusters
from humeval_power.errors import InputError, Problem

Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Battles:
    """One entry a battle, shape (n,): codes of the system shown `first` and of the `second`, and the `outcome`:
    1 the first won, 0 a tie, -1 the second won. `clusters` are of battles, such as those of a user; `suspects`
    what was not told and may go together."""

    systems: tuple[str, ...]
    first: Codes
    second: Codes
    outcome: Codes
    clusters: Clusters | None = None
    source: str = ""
    sha256: str = ""
    notices: tuple[str, ...] = ()
    suspects: tuple[str, ...] = ()

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
        return replace(
            self,
            systems=systems,
            first=first[kept],
            second=second[kept],
            outcome=self.outcome[kept],
            clusters=clusters,
        )

    def _counts(self, rows: Codes, columns: Codes) -> Codes:
        K = len(self.systems)
        return np.bincount(rows * K + columns, minlength=K * K).reshape(K, K)


def check_comparable(battles: Battles) -> None:
    """Refuse battles that leave some strength infinite or unknown (Ford 1957), and name the systems.

    Raises
    ------
    InputError
        Systems in parts that never met, or some of which never lost to the others; nobody won anything; or what
        was shown first always won.
    """
    names, source = battles.systems, battles.source
    wins, ties = battles.wins > 0, battles.ties > 0
    parts = _parts(_reached(wins | wins.T | ties))
    if len(parts) > 1:
        shown = "; ".join(f"({listing([names[k] for k in part], limit=6)})" for part in parts[:6])
        rule = f"the systems fall into {len(parts)} parts that never met: {shown}."
        remedy = "No order joins them: rank one part by --systems, or let systems of both meet."
        raise InputError([Problem(rule, remedy, source)])
    decided = battles.outcome[battles.outcome != 0]
    if not len(decided):
        raise InputError([Problem("every battle is a tie.", "There is no order to be seen.", source)])
    reached = _reached(wins | ties)
    parts = _parts(reached & reached.T)
    if len(parts) > 1:
        raise InputError(_dominance(battles, reached, parts))


def _dominance(battles: Battles, reached: NDArray[np.bool_], parts: list[list[int]]) -> list[Problem]:
    """Which systems always won, or always lost, against all others."""
    names, problems = battles.systems, []
    for part in parts:
        others = [k for k in range(len(names)) if k not in part]
        who = listing([names[k] for k in part], limit=6)
        one = len(part) == 1
        for never, verb, end in (
            (not reached[np.ix_(others, part)].any(), "lost", "large"),
            (not reached[np.ix_(part, others)].any(), "won", "small"),
        ):
            if never:
                whom = "any other system" if one else "any system that is not among these"
                rule = f"{who} never {verb} against {whom}: no strength is {end} enough."
                which = "it" if one else "them"
                remedy = (
                    f"More battles are needed, or leave {which} out: name the other systems by --systems."
                )
                problems.append(Problem(rule, remedy, battles.source))
    return problems


def _reached(edges: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which systems are reached from which along edges."""
    found = edges | np.eye(len(edges), dtype=np.bool_)
    for via in range(len(edges)):
        found |= found[:, via : via + 1] & found[via : via + 1]
    return found


def _parts(together: NDArray[np.bool_]) -> list[list[int]]:
    """The classes of an equivalence."""
    left, found = list(range(len(together))), []
    while left:
        part = [k for k in left if together[left[0], k]]
        found.append(part)
        left = [k for k in left if k not in part]
    return found

"""The board before this one: its ranks beside those of now, and the number of the look."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from humeval_power.comparisons.rank.leaderboard import Leaderboard
from humeval_power.errors import Problem, refusal, refuse

Ranks = tuple[int, int]  # the lowest and the highest


@dataclass(frozen=True, slots=True)
class LastBoard:
    """The `ranks` of its systems, its `look` and the `alpha` of all looks together; `only` is the system that was
    ranked alone, and `source` the file of its record."""

    ranks: Mapping[str, Ranks]
    alpha: float
    look: int | None
    only: str | None
    source: str


@dataclass(frozen=True, slots=True)
class Move:
    """A system whose ranks are others than before."""

    system: str
    before: Ranks
    now: Ranks

    @property
    def is_apart(self) -> bool:
        """Whether the ranks of now and of before have none in common."""
        return self.now[1] < self.before[0] or self.before[1] < self.now[0]

    @property
    def direction(self) -> str:
        """Where the ranks went, in a word."""
        low, high = self.now[0] - self.before[0], self.now[1] - self.before[1]
        if low >= 0 >= high:
            return "narrower"
        if low <= 0 <= high:
            return "wider"
        return "up" if low < 0 else "down"

    @property
    def size(self) -> int:
        """By how many places both ends moved, together."""
        return abs(self.now[0] - self.before[0]) + abs(self.now[1] - self.before[1])


@dataclass(frozen=True, slots=True)
class Changes:
    """What differs from the board `last`: `moves`, the largest first, and systems that `joined` or `left`."""

    last: LastBoard
    n_compared: int
    moves: tuple[Move, ...]
    joined: tuple[str, ...]
    left: tuple[str, ...]


def changes(board: Leaderboard, last: LastBoard | None) -> Changes | None:
    """The ranks of a board beside those of the last; of a system that one of the two ranked alone, its own only."""
    if last is None:
        return None
    alone = {one for one in (board.only, last.only) if one is not None}
    now = {one.system: (one.rank_low, one.rank_high) for one in board.places}
    both = [name for name in now if name in last.ranks and alone <= {name}]
    moves = [Move(name, last.ranks[name], now[name]) for name in both if last.ranks[name] != now[name]]
    return Changes(
        last,
        len(both),
        tuple(sorted(moves, key=lambda move: -move.size)),
        tuple(name for name in now if name not in last.ranks),
        tuple(name for name in last.ranks if name not in now),
    )


def counted_look(last: LastBoard | None, alpha: float, look: int | None) -> int | None:
    """The number of this look: one more than that of the last board, if that was a look. InputError: a look
    that the last board has had, or another alpha than that of the looks before."""
    if last is None:
        return look
    if last.look is None:
        if look is None:
            return None
        rule = (
            "was made as the only board: all of alpha was its own, and nothing is left for further looks."
        )
        raise refusal(rule, "Leave out --look; or leave out --last-board, and count from 1.", last.source)
    problems = []
    if look is not None and look <= last.look:
        rule = f"is look {last.look}, so that this one cannot be look {look}."
        problems.append(Problem(rule, f"Leave out --look: it is counted, as {last.look + 1}.", last.source))
    if not math.isclose(alpha, last.alpha, rel_tol=1e-6):
        rule = f"is a look of a board whose looks share alpha {last.alpha:.4g}; got {alpha:.4g}."
        problems.append(Problem(rule, f"Give --alpha {last.alpha:.4g}.", last.source))
    refuse(problems)
    return last.look + 1 if look is None else look

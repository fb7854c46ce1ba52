"""Looks at a binomial count the obvious way: every path with its chance, exact where the share is a fraction."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import comb
from typing import NamedTuple


class Ending(NamedTuple):
    """Where a study may end: the counts at its looks, whether it stopped as significant, and the chance."""

    counts: tuple[int, ...]
    stopped: bool
    chance: Fraction | float


def endings(
    decided: Sequence[int], critical: Sequence[int], share: Fraction | float, so_far: tuple[int, ...] = ()
) -> Iterator[Ending]:
    """All ways that a study with these looks may end."""
    number = len(so_far)
    seen, before = (so_far[-1] if so_far else 0), (decided[number - 1] if number else 0)
    new = decided[number] - before
    for more in range(new + 1):
        chance = comb(new, more) * share**more * (1 - share) ** (new - more)
        count = seen + more
        significant = min(count, decided[number] - count) <= critical[number]
        if significant or number + 1 == len(decided):
            yield Ending((*so_far, count), significant, chance)
        else:
            for rest in endings(decided, critical, share, (*so_far, count)):
                yield rest._replace(chance=chance * rest.chance)


def rank(ending: Ending, decided: Sequence[int]) -> tuple[int, int]:
    """The place of an ending in the stage-wise ordering: larger is more for B."""
    look, last = len(ending.counts), ending.counts[-1]
    upper = 2 * last > decided[look - 1]
    if not ending.stopped:
        return 0, last
    side = len(decided) + 1 - look if look < len(decided) else 0
    return (side if upper else -side), last

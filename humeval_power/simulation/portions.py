"""How many simulated tables are held in memory at a time: what is simulated does not depend on it."""

from __future__ import annotations

MOST_TABLES = 256
_FIRST = 8  # tables of the first portion of a long work
MOST_RATINGS = 4_000_000  # of all of them, 32 megabytes, unless that is less than a table for each thread


def tables_at_once(n_ratings: int, *, n_jobs: int = 1) -> int:
    """How many tables of so many ratings are drawn before they are fitted, by `n_jobs` threads."""
    return max(n_jobs, min(MOST_TABLES, MOST_RATINGS // max(n_ratings, 1)))


def begun_small(parts: list[range]) -> list[range]:
    """The same, the first of them in several that grow from a few tables, so that it is soon known how long they
    take."""
    first = parts[0]
    ends = [first.start + _FIRST * (2**k - 1) for k in range(1, 6)]
    cuts = [first.start, *(end for end in ends if end < first.stop), first.stop]
    return [*map(range, cuts[:-1], cuts[1:]), *parts[1:]]


def portions(first: int, n: int, *, n_ratings: int, n_jobs: int = 1) -> list[range]:
    """Studies `first` to `first + n - 1` in consecutive portions of tables that are held at once."""
    size = tables_at_once(n_ratings, n_jobs=n_jobs)
    return [range(begin, min(begin + size, first + n)) for begin in range(first, first + n, size)]

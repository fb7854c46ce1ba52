"""Sizes to search, as the lists that commands take."""

from __future__ import annotations

from math import ceil

from humeval_power.reporting.start.talk import Talk

_ITEMS = "50:1000:50"
MOST_SEARCHED = 200  # workers, where nobody said how many there are
_MOST_RATINGS = 6  # of an item under a system, in what is searched


def workers(talk: Talk) -> str:
    """Numbers of workers up to what there is; '' where nobody said."""
    most = talk.limited("workers") or talk.crew.most
    return "" if most is None else steps(most, 8)


def items(talk: Talk) -> str:
    """Numbers of items up to what there is."""
    most = talk.limited("items")
    return _ITEMS if most is None else steps(most, 4)


def ratings_per_item(talk: Talk) -> str:
    """Numbers of ratings of an item under a system."""
    return f"1:{min(_MOST_RATINGS, talk.limited('workers') or talk.crew.most or _MOST_RATINGS)}"


def steps(most: int, n: int) -> str:
    """At most so many numbers in equal steps, the last one being `most`, none below 2."""
    step = max(ceil(most / n), 1)
    first = most - step * min(n - 1, (most - 2) // step)
    return str(most) if first == most else f"{first}:{most}" + (f":{step}" if step > 1 else "")

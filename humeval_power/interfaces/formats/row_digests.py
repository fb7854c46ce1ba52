"""Ratings as digests: enough to tell that one was changed or has vanished, without saying what it was."""

from __future__ import annotations

import hashlib

import numpy as np

from humeval_power.ratings import Ratings

_LENGTH = 16  # hex digits: 64 bits, so that even a million ratings do not collide


def row_digests(ratings: Ratings) -> list[tuple[str, str]]:
    """A digest of each rating's place (worker, item, system, and which repeat) and one of its value, in the
    order of the ratings.

    Repeats of a cell are numbered by their value, so that the order of rows does not matter.
    """
    raw = ratings.raw_rating
    digests = [("", "")] * ratings.n_ratings
    last, repeat = (-1, -1, -1), 0
    for row in np.lexsort((ratings.rating, ratings.system, ratings.item, ratings.worker)):
        cell = (int(ratings.worker[row]), int(ratings.item[row]), int(ratings.system[row]))
        repeat = repeat + 1 if cell == last else 0
        last = cell
        names = (ratings.worker_names[cell[0]], ratings.item_names[cell[1]], ratings.system_names[cell[2]])
        place = _digest("\0".join((*names, str(repeat))))
        digests[row] = (place, _digest(f"{place}\0{raw[row]:.10g}"))
    return digests


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]

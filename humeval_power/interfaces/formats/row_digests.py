"""Ratings as digests with the study's secret: enough to tell, with it, that one was changed or has vanished.

Without the secret they tell nobody what a rating was, or who gave it: there is nothing to try guesses
against.
"""

from __future__ import annotations

import json

import numpy as np

from humeval_power.interfaces.formats.study_secret import StudySecret
from humeval_power.ratings import Ratings

_LENGTH = 16  # hex digits: 64 bits, so that even a million ratings do not collide


def row_digests(ratings: Ratings, secret: StudySecret) -> list[tuple[str, str]]:
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
        place = secret.digest(json.dumps(["place", *names, repeat]))[:_LENGTH]
        digests[row] = (place, secret.digest(json.dumps(["value", place, f"{raw[row]:.10g}"]))[:_LENGTH])
    return digests

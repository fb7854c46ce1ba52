"""What a look saw, row by row: digests for the ledger, and names for messages."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from humeval_power.checking.rehearsed import rehearsal_notices
from humeval_power.interfaces.formats.monitor.secret import StudySecret
from humeval_power.planning.looks.judgement_plan import JudgementPlan
from humeval_power.planning.monitor.observations import Observations
from humeval_power.ratings import Ratings
from humeval_power.scales import RatingScale

_LENGTH = 16  # hex digits: 64 bits, so that even a million ratings do not collide


def row_digests(ratings: Ratings, systems: Sequence[str], secret: StudySecret) -> list[tuple[str, str]]:
    """A digest of each rating's place (worker, item, system, and which repeat) and one of its value, in the
    order of the ratings.

    systems : as the plan names them, in the order of those of the ratings: systems that change places between
    looks change every row.

    Repeats of a cell are numbered by their value, so that the order of rows does not matter.
    """
    raw = ratings.raw_rating
    digests = [("", "")] * ratings.n_ratings
    last, repeat = (-1, -1, -1), 0
    for row in np.lexsort((ratings.rating, ratings.system, ratings.item, ratings.worker)):
        cell = (int(ratings.worker[row]), int(ratings.item[row]), int(ratings.system[row]))
        repeat = repeat + 1 if cell == last else 0
        last = cell
        names = (ratings.worker_names[cell[0]], ratings.item_names[cell[1]], systems[cell[2]])
        place = secret.digest(json.dumps(["place", *names, repeat]))[:_LENGTH]
        digests[row] = (place, secret.digest(json.dumps(["value", place, f"{raw[row]:.10g}"]))[:_LENGTH])
    return digests


def observation_digests(
    seen: Observations, plan: JudgementPlan, secret: StudySecret
) -> list[tuple[str, str]]:
    """The same for independent judgements. Their place is the item, or the worker, and the system; where neither is
    known, judgements of the same value are counted, so that fewer of them than at an earlier look are noticed."""
    counted: Counter[tuple[str, ...]] = Counter()
    digests = []
    for row, value in enumerate(seen.value):
        system = "" if seen.is_b is None else plan.systems[int(seen.is_b[row])]
        worker, item = _known(seen, plan, row)
        text = f"{value:.10g}"
        names = (worker, item, system) if worker or item else (worker, item, system, text)
        place = secret.digest(json.dumps(["place", *names, counted[names]]))[:_LENGTH]
        counted[names] += 1
        digests.append((place, secret.digest(json.dumps(["value", place, text]))[:_LENGTH]))
    return digests


def _known(seen: Observations, plan: JudgementPlan, row: int) -> tuple[str, str]:
    """Names of the worker and the item; of right and wrong answers the item alone tells rows apart."""
    named = seen.worker is not None and plan.kind != "accuracy"
    worker = seen.worker[row] if named and seen.worker is not None else ""
    return worker, "" if seen.item is None else seen.item[row]


class LookRows(NamedTuple):
    """What the ledger asks of the data of a look: the scale or the test that it is read by, where it is from,
    what one row is called, digests of place and value for each, the name of a row, and what to say first."""

    by: RatingScale | str
    source: str
    noun: str
    digests: Callable[[StudySecret], list[tuple[str, str]]]
    named: Callable[[int], str]
    notices: tuple[str, ...] = ()


def rows_of_ratings(ratings: Ratings, systems: Sequence[str]) -> LookRows:
    """The rows of a table of ratings of the systems that the plan names so."""

    def named(row: int) -> str:
        return (
            f"worker {ratings.worker_names[ratings.worker[row]]!r}, item "
            f"{ratings.item_names[ratings.item[row]]!r}, system {ratings.system_names[ratings.system[row]]!r}"
        )

    return LookRows(
        ratings.scale,
        ratings.source,
        "rating",
        lambda secret: row_digests(ratings, systems, secret),
        named,
        rehearsal_notices(ratings.worker_names),
    )


def rows_of_observations(seen: Observations, plan: JudgementPlan) -> LookRows:
    """The rows of independent judgements."""

    def named(row: int) -> str:
        parts = [
            f"{what} {names[row]!r}"
            for what, names in (("worker", seen.worker), ("item", seen.item))
            if names is not None
        ]
        if seen.is_b is not None:
            parts.append(f"system {plan.systems[int(seen.is_b[row])]!r}")
        return ", ".join(parts)

    return LookRows(
        plan.test,
        seen.source,
        "judgement",
        lambda secret: observation_digests(seen, plan, secret),
        named,
        rehearsal_notices(seen.worker or ()),
    )

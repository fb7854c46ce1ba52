"""Workers whose ratings are worth a second look: straight lines, haste, and what is unlike the other workers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humeval_power.comparisons.agreement.result_raters import WHAT_TO_DO, Raters
from humeval_power.errors import InputError
from humeval_power.ratings import Ratings
from humeval_power.saying.document import Block, Paragraph, Table
from humeval_power.worker_statistics import MIN_ANSWERS, centred, median_by

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_NO_VARIANCE = 1e-12  # sums of squares on [0, 1] below this are rounding
_MOST_SHOWN = 10
_MEASURES = ("level", "level_reach", "noise", "agreement", "level_p", "noise_p", "agreement_p", "leaning_p")


@dataclass(frozen=True, slots=True)
class WorkerCheck:
    """What one worker's ratings look like beside those of the others.

    `spread` is the SD of the ratings on [0, 1] within systems; `n_shared` outputs were rated by others too, and
    `level` to `leaning_p` are those of `RaterTests`. NaN where not defined. `reasons`, empty for most workers, are
    grounds to look at the worker's ratings. Careful workers who are few, alone in their opinion, or practised give
    the same signs: leaving workers out because of their ratings biases the study unless it was planned.
    """

    worker: str
    n_ratings: int
    n_shared: int
    mean: float
    spread: float
    seconds: float
    reasons: tuple[str, ...]
    level: float = math.nan
    level_reach: float = math.nan
    noise: float = math.nan
    agreement: float = math.nan
    level_p: float = math.nan
    noise_p: float = math.nan
    agreement_p: float = math.nan
    leaning_p: float = math.nan


def screen_workers(
    ratings: Ratings,
    *,
    seconds: Floats | None = None,
    min_ratings: int = MIN_ANSWERS,
    fast_share: float = 0.5,
) -> tuple[WorkerCheck, ...]:
    """Every worker, those with most reasons to look first, then those who agree least.

    Parameters
    ----------
    seconds : (n_ratings,), the time that each rating took; NaN where unknown.
    min_ratings : ratings below which straight lines say nothing.
    fast_share : a worker is fast whose median time is below this share of the workers' median. Half is
        Leiner's (2019) relative speed index of 2.
    """
    if seconds is not None and np.shape(seconds) != (ratings.n_ratings,):
        raise InputError(f"There are {ratings.n_ratings} ratings and {np.size(seconds)} times.")
    n_workers = ratings.n_workers
    count = np.bincount(ratings.worker, minlength=n_workers)
    mean = np.bincount(ratings.worker, ratings.rating, n_workers) / count
    spread, strata = _spread_within_systems(ratings)
    raters = Raters.of(ratings)
    tests, place_of = raters.tests, {name: place for place, name in enumerate(raters.names)}
    pace = np.full(n_workers, np.nan) if seconds is None else median_by(ratings.worker, seconds, n_workers)
    usual = float(np.nanmedian(pace)) if np.isfinite(pace).any() else math.nan
    lowest, highest = np.full(n_workers, np.inf), np.full(n_workers, -np.inf)
    np.minimum.at(lowest, ratings.worker, ratings.rating)
    np.maximum.at(highest, ratings.worker, ratings.rating)

    def reasons(code: int, place: int | None) -> tuple[str, ...]:
        result = []
        enough = count[code] >= min_ratings
        if enough and lowest[code] == highest[code]:
            result.append(f"gave the same rating {count[code]:,} times")
        elif enough and spread[code] == 0 and count[code] > 2 * strata[code]:
            result.append("gave all outputs of a system the same rating")
        if place is not None:
            result += raters.unlike(place)
        if pace[code] < fast_share * usual:
            result.append(f"took {pace[code]:.3g} seconds per rating where {usual:.3g} are usual")
        return tuple(result)

    def check(code: int) -> WorkerCheck:
        place = place_of.get(ratings.worker_names[code])
        measures = {} if place is None else {name: float(getattr(tests, name)[place]) for name in _MEASURES}
        return WorkerCheck(
            worker=ratings.worker_names[code],
            n_ratings=int(count[code]),
            n_shared=0 if place is None else int(tests.n_ratings[place]),
            mean=float(mean[code]),
            spread=float(spread[code]),
            seconds=float(pace[code]),
            reasons=reasons(code, place),
            **measures,
        )

    def order(one: WorkerCheck) -> tuple[int, float]:
        return -len(one.reasons), math.inf if math.isnan(one.agreement) else one.agreement

    return tuple(sorted(map(check, range(n_workers)), key=order))


def screening_sentence(checks: tuple[WorkerCheck, ...]) -> str:
    """How many workers are worth a look, in words that accuse nobody."""
    named = sum(bool(check.reasons) for check in checks)
    if named == 0:
        return f"None of the {len(checks):,} workers stands out."
    noun = "worker" if len(checks) == 1 else "workers"
    return f"Something stands out in the ratings of {named:,} of {len(checks):,} {noun}. {WHAT_TO_DO}"


def screening_blocks(checks: tuple[WorkerCheck, ...]) -> Iterator[Block]:
    """The sentence, and the reasons of the first ten workers who have some."""
    yield Paragraph(screening_sentence(checks))
    named = [(one.worker, "; ".join(one.reasons)) for one in checks if one.reasons]
    if named:
        yield Table((), tuple(named[:_MOST_SHOWN]), in_words=True)


def _spread_within_systems(ratings: Ratings) -> tuple[Floats, Codes]:
    """SD of each worker's ratings within systems, NaN without two in one; systems that each has rated."""
    n, stratum = ratings.n_workers, ratings.worker * np.int64(ratings.n_systems) + ratings.system
    squares = np.bincount(ratings.worker, centred(ratings.rating, stratum) ** 2, n)
    systems = np.bincount(np.unique(stratum) // ratings.n_systems, minlength=n)
    df = np.bincount(ratings.worker, minlength=n) - systems
    squares = np.where(squares > _NO_VARIANCE, squares, 0.0)
    return np.where(df > 0, np.sqrt(squares / np.maximum(df, 1)), np.nan), systems

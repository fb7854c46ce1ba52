"""Workers whose ratings are worth a second look: straight lines, little agreement, haste."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humeval_power.errors import InputError
from humeval_power.ratings import Ratings
from humeval_power.worker_statistics import MIN_ANSWERS, median_by

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_NO_VARIANCE = 1e-12  # sums of squares on [0, 1] below this are rounding


@dataclass(frozen=True, slots=True)
class WorkerCheck:
    """What one worker's ratings look like beside those of the others.

    `spread` is the SD of the ratings on [0, 1] within systems. `agreement` correlates them with the mean
    rating of the other workers for the same outputs, both centred within each system; `n_shared` outputs
    count for it. NaN where not defined. `reasons`, empty for most workers, are grounds to look at the
    worker's ratings. Careful workers who are few, alone in their opinion, or practised give the same
    signs: leaving workers out because of their ratings biases the study unless it was planned.
    """

    worker: str
    n_ratings: int
    n_shared: int
    mean: float
    spread: float
    agreement: float
    seconds: float
    reasons: tuple[str, ...]


def screen_workers(
    ratings: Ratings,
    *,
    seconds: Floats | None = None,
    min_ratings: int = MIN_ANSWERS,
    min_agreement: float = 0.0,
    fast_share: float = 0.5,
) -> tuple[WorkerCheck, ...]:
    """Every worker, those with most reasons to look first, then those who agree least.

    Parameters
    ----------
    seconds : (n_ratings,), the time that each rating took; NaN where unknown.
    min_ratings : ratings (for agreement: shared outputs) below which nothing is said about a worker.
    min_agreement : the correlation with the others below which a worker is named.
    fast_share : a worker is fast whose median time is below this share of the workers' median. Half is
        Leiner's (2019) relative speed index of 2.
    """
    if seconds is not None and np.shape(seconds) != (ratings.n_ratings,):
        raise InputError(f"There are {ratings.n_ratings} ratings and {np.size(seconds)} times.")
    n_workers = ratings.n_workers
    count = np.bincount(ratings.worker, minlength=n_workers)
    mean = np.bincount(ratings.worker, ratings.rating, n_workers) / count
    spread, strata = _spread_within_systems(ratings)
    shared, correlation = agreement_with_others(ratings)
    pace = np.full(n_workers, np.nan) if seconds is None else median_by(ratings.worker, seconds, n_workers)
    usual = float(np.nanmedian(pace)) if np.isfinite(pace).any() else math.nan
    lowest, highest = np.full(n_workers, np.inf), np.full(n_workers, -np.inf)
    np.minimum.at(lowest, ratings.worker, ratings.rating)
    np.maximum.at(highest, ratings.worker, ratings.rating)

    def reasons(code: int) -> tuple[str, ...]:
        found = []
        enough = count[code] >= min_ratings
        if enough and lowest[code] == highest[code]:
            found.append(f"gave the same rating {count[code]:,} times")
        elif enough and spread[code] == 0 and count[code] > 2 * strata[code]:
            found.append("gave all outputs of a system the same rating")
        if shared[code] >= min_ratings and correlation[code] < min_agreement:
            found.append(
                f"does not go along with the others: correlation {correlation[code]:.2f} over "
                f"{shared[code]:,} ratings"
            )
        if pace[code] < fast_share * usual:
            found.append(f"took {pace[code]:.3g} seconds per rating where {usual:.3g} are usual")
        return tuple(found)

    checks = [
        WorkerCheck(
            worker=ratings.worker_names[code],
            n_ratings=int(count[code]),
            n_shared=int(shared[code]),
            mean=float(mean[code]),
            spread=float(spread[code]),
            agreement=float(correlation[code]),
            seconds=float(pace[code]),
            reasons=reasons(code),
        )
        for code in range(n_workers)
    ]
    return tuple(sorted(checks, key=lambda check: (-len(check.reasons), _last_if_nan(check.agreement))))


def screening_sentence(checks: tuple[WorkerCheck, ...]) -> str:
    """How many workers are worth a look, in words that accuse nobody."""
    named = sum(bool(check.reasons) for check in checks)
    if named == 0:
        return f"None of the {len(checks):,} workers stands out."
    noun = "worker" if len(checks) == 1 else "workers"
    return (
        f"Look at the ratings of {named:,} of {len(checks):,} {noun}: something stands out in them, for which "
        "there may be a good reason."
    )


def agreement_with_others(ratings: Ratings) -> tuple[Codes, Floats]:
    """Of each worker: number of ratings of outputs that others rated too, and their correlation with the
    others' mean, pooled within systems; NaN where either does not vary. Shapes (n_workers,).

    Without centring within systems, workers who see the systems' difference as the others do would seem
    to agree, however carelessly they rate inside a system.
    """
    output = ratings.item * np.int64(ratings.n_systems) + ratings.system
    _, output = np.unique(output, return_inverse=True)
    cell = np.unique(ratings.worker * np.int64(output.max() + 1) + output, return_inverse=True)[1]
    own, times = np.bincount(cell, ratings.rating)[cell], np.bincount(cell)[cell]
    others = np.bincount(output)[output] - times
    shared = others > 0
    consensus = (np.bincount(output, ratings.rating)[output] - own)[shared] / others[shared]
    worker, stratum = ratings.worker[shared], _stratum(ratings)[shared]
    a, b = _centred(ratings.rating[shared], stratum), _centred(consensus, stratum)
    ab, aa, bb = (np.bincount(worker, part, ratings.n_workers) for part in (a * b, a * a, b * b))
    defined = (aa > _NO_VARIANCE) & (bb > _NO_VARIANCE)
    correlation = np.where(defined, ab / np.sqrt(np.where(defined, aa * bb, 1.0)), np.nan)
    return np.bincount(worker, minlength=ratings.n_workers), correlation


def _stratum(ratings: Ratings) -> Codes:
    return ratings.worker * np.int64(ratings.n_systems) + ratings.system


def _centred(values: Floats, group: Codes) -> Floats:
    if not len(values):
        return values
    size = np.maximum(np.bincount(group), 1)
    return np.asarray(values - (np.bincount(group, values) / size)[group])


def _spread_within_systems(ratings: Ratings) -> tuple[Floats, Codes]:
    """SD of each worker's ratings within systems, NaN without two in one; systems that each has rated."""
    n, stratum = ratings.n_workers, _stratum(ratings)
    squares = np.bincount(ratings.worker, _centred(ratings.rating, stratum) ** 2, n)
    systems = np.bincount(np.unique(stratum) // ratings.n_systems, minlength=n)
    df = np.bincount(ratings.worker, minlength=n) - systems
    squares = np.where(squares > _NO_VARIANCE, squares, 0.0)
    return np.where(df > 0, np.sqrt(squares / np.maximum(df, 1)), np.nan), systems


def _last_if_nan(value: float) -> float:
    return math.inf if math.isnan(value) else value

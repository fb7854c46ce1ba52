"""What happens to planned ratings: some are missing, some workers quit, some do not care.

Everything is a function of arrays and a generator. Draws are made in the same number and order whatever
the shares are, so that with the same generator a larger share loses every rating that a smaller one loses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from humeval_power.choices import Exclusion as Exclusion
from humeval_power.designs import Assignment, Codes
from humeval_power.errors import InputError, Problem, field_problem
from humeval_power.latent_shares import is_number

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
RandomAnswers = Literal["uniform", "midpoint"]

CAREFUL, AT_RANDOM, STRAIGHT = 0, 1, 2  # kinds of workers
_SHARES = ("missing", "quitting", "at_random", "straight_lining")


@dataclass(frozen=True, slots=True, kw_only=True)
class Losses:
    """Shares of ratings or workers that a study loses or spoils, all from 0 to below 1.

    missing : of the ratings that are never given, each independently.
    quitting : of the workers who quit midway, after any number of ratings with equal probability.
    at_random : of the workers who answer at random, and `answers` how: 'uniform' over the scale, or
        around its 'midpoint' (a triangle on the scale).
    straight_lining : of the workers who give one and the same answer throughout, drawn in the same way.
    """

    missing: float = 0.0
    quitting: float = 0.0
    at_random: float = 0.0
    straight_lining: float = 0.0
    answers: RandomAnswers = "uniform"

    def __post_init__(self) -> None:
        rule = "must be a share from 0 to below 1."
        problems = [
            field_problem(name, share, rule)
            for name in _SHARES
            if not (is_number(share := getattr(self, name)) and 0 <= share < 1)
        ]
        if not problems and self.careless >= 1:
            problems.append(Problem("at_random and straight_lining together must stay below 1.", ""))
        if self.answers not in get_args(RandomAnswers):
            words = ", ".join(get_args(RandomAnswers))
            rule = f"must be one of {words}."
            problems.append(field_problem("answers", self.answers, rule))
        if problems:
            raise InputError(problems)

    @property
    def careless(self) -> float:
        """Share of workers whose answers mean nothing."""
        return self.at_random + self.straight_lining

    def shares(self, *, quitting: str = "of workers quit midway") -> tuple[tuple[float, str], ...]:
        """Each share above 0, and what it is of; `quitting` says how workers quit, where that is another way."""
        named = (
            (self.missing, "of ratings are not given"),
            (self.quitting, quitting),
            (self.at_random, "of workers answer at random"),
            (self.straight_lining, "of workers give one answer throughout"),
        )
        return tuple((share, words) for share, words in named if share)

    @property
    def loses_rows(self) -> bool:
        """Whether ratings get lost: studies then differ in their designs."""
        return self.missing > 0 or self.quitting > 0


def lose_rows(
    assignment: Assignment,
    losses: Losses,
    rng: np.random.Generator,
    *,
    n_workers: int,
    position: Codes | None = None,
) -> Mask:
    """Which planned ratings are given, shape (n_ratings,).

    Parameters
    ----------
    position : the place of each rating in its worker's order of work, where it is planned; without it
        workers go through their items in a random order and rate the systems of an item together.
    """
    worker = assignment.worker
    quits = rng.random(n_workers) < losses.quitting
    stops_after = rng.random(n_workers)  # share of the work that is done
    missing = rng.random(len(worker)) < losses.missing
    tiebreak = rng.random(len(worker))
    kept = ~missing
    of_quitter = np.flatnonzero(quits[worker])
    if len(of_quitter):
        rows = Assignment(worker[of_quitter], assignment.item[of_quitter], assignment.system[of_quitter])
        order = _random_places(rows, tiebreak[of_quitter]) if position is None else position[of_quitter]
        place = _rank_within(rows.worker, order)
        load = np.bincount(worker, minlength=n_workers)
        done = np.floor(stops_after * load).astype(np.int64)  # 0, ..., load - 1
        kept[of_quitter[place >= done[rows.worker]]] = False
    return kept


def draw_workers(n_workers: int, losses: Losses, rng: np.random.Generator) -> Codes:
    """The kind of each worker, shape (n_workers,): CAREFUL, AT_RANDOM or STRAIGHT."""
    return kinds_of(rng.random(n_workers), losses)


def kinds_of(u: Floats, losses: Losses) -> Codes:
    """The same by uniform numbers (n_workers,)."""
    kind = np.full(len(u), CAREFUL, dtype=np.int64)
    kind[u < losses.at_random] = AT_RANDOM
    kind[u >= 1.0 - losses.straight_lining] = STRAIGHT
    return kind


def careless_responses(
    rating: Floats,
    worker: Codes,
    kind: Codes,
    rng: np.random.Generator,
    *,
    answers: RandomAnswers = "uniform",
    levels: Floats | None = None,
) -> Floats:
    """The ratings with those of careless workers replaced, shape (n_ratings,), on [0, 1].

    kind : (n_workers,), as `draw_workers` gives. levels : the ratings that there can be, which are equally
        probable if answers are uniform; None for a continuum.
    """
    drawn = rng.random(len(rating)), rng.random(len(kind))
    return careless_values(rating, worker, kind, *drawn, answers=answers, levels=levels)


def careless_values(
    rating: Floats,
    worker: Codes,
    kind: Codes,
    of_rating: Floats,
    of_worker: Floats,
    *,
    answers: RandomAnswers = "uniform",
    levels: Floats | None = None,
) -> Floats:
    """The same by uniform numbers that were drawn before: of each rating (n_ratings,) and each worker
    (n_workers,)."""
    level = _scatter(of_rating, answers, levels)
    constant = _scatter(of_worker, answers, levels)
    replaced = np.where(kind[worker] == AT_RANDOM, level, rating)
    return np.where(kind[worker] == STRAIGHT, constant[worker], replaced)


def remaining(assignment: Assignment, kept: Mask) -> Assignment | None:
    """The kept rows with workers, items and documents numbered anew from 0; None where nothing can be
    estimated: fewer than 2 workers, items or documents, or one system only."""
    workers, worker = np.unique(assignment.worker[kept], return_inverse=True)
    items, item = np.unique(assignment.item[kept], return_inverse=True)
    system = assignment.system[kept]
    if min(len(workers), len(items)) < 2 or len(np.unique(system)) < 2:
        return None
    document = None
    if assignment.document is not None:
        document = np.unique(assignment.document[kept], return_inverse=True)[1].astype(np.int64)
        if document.max() < 1:
            return None
    return Assignment(worker.astype(np.int64), item.astype(np.int64), system, document)


@dataclass(frozen=True, slots=True, eq=False)
class CollectedRatings:
    """What came back from one study: ratings of all planned rows (n_ratings,), which of them can be
    analysed, and the true kind of each worker and who is excluded (n_workers,)."""

    rating: Floats
    kept: Mask
    kind: Codes
    excluded: Mask


def collect(
    rating: Floats,
    assignment: Assignment,
    losses: Losses,
    rng: np.random.Generator,
    *,
    n_workers: int,
    levels: Floats | None = None,
    exclusion: Exclusion = "none",
    min_agreement: float = 0.0,
) -> CollectedRatings:
    """Apply losses to the ratings of one simulated study, then exclude workers.

    Parameters
    ----------
    rating : what every worker would answer with care, on [0, 1].
    exclusion : 'none'; 'careless' leaves out exactly the careless workers, the most that any check can
        win; 'suspicious' those whom the ratings themselves betray (`suspicious_workers`).
    """
    kept = lose_rows(assignment, losses, rng, n_workers=n_workers)
    kind = draw_workers(n_workers, losses, rng)
    answered = careless_responses(
        rating, assignment.worker, kind, rng, answers=losses.answers, levels=levels
    )
    if exclusion == "none":
        excluded = np.zeros(n_workers, dtype=np.bool_)
    elif exclusion == "careless":
        excluded = np.asarray(kind != CAREFUL)
    elif exclusion == "suspicious":
        excluded = suspicious_workers(
            answered, assignment, kept, n_workers=n_workers, min_agreement=min_agreement
        )
    else:
        words = ", ".join(get_args(Exclusion))
        raise InputError(f"exclusion must be one of {words}; got {exclusion!r}.")
    return CollectedRatings(answered, kept & ~excluded[assignment.worker], kind, excluded)


def _random_places(rows: Assignment, u: Floats) -> Floats:
    """A random order of each worker's items that keeps the ratings of an item together."""
    meeting = rows.worker * (rows.item.max() + np.int64(1)) + rows.item
    _, first, inverse = np.unique(meeting, return_index=True, return_inverse=True)
    place = np.empty(len(u))
    by_item_then_row = np.lexsort((u, u[first][inverse]))
    place[by_item_then_row] = np.arange(len(u))
    return place


def _rank_within(group: Codes, key: NDArray[np.generic]) -> Codes:
    """Rank of each entry among those of its group by `key`, from 0."""
    order = np.lexsort((key, group))
    sorted_group = group[order]
    start = np.searchsorted(sorted_group, sorted_group)
    rank = np.empty(len(group), dtype=np.int64)
    rank[order] = np.arange(len(group)) - start
    return rank


def _scatter(u: Floats, answers: RandomAnswers, levels: Floats | None) -> Floats:
    """Answers on [0, 1] from uniform numbers, in categories if there are `levels`."""
    if answers == "midpoint":  # the quantile function of a triangle with its top at 1/2
        u = np.where(u < 0.5, np.sqrt(u / 2), 1.0 - np.sqrt((1.0 - u) / 2))
    if levels is None:
        return u
    return np.asarray(levels[np.minimum(np.floor(u * len(levels)), len(levels) - 1).astype(np.int64)])


NO_LOSSES = Losses()


# Find workers who do not care by their ratings alone.

MIN_JUDGED = 4  # ratings of a worker below which nothing is said about the worker
_NO_VARIANCE = 1e-12  # sums of squares on [0, 1] below this are rounding


def suspicious_workers(
    rating: Floats, rows: Assignment, kept: Mask, *, n_workers: int, min_agreement: float = 0.0
) -> Mask:
    """Workers whom a check of the ratings alone would exclude, shape (n_workers,).

    Those with at least four ratings that are all the same, or that correlate with the mean of the other
    workers' ratings of the same outputs by less than `min_agreement`. Both are centred within each
    system first: otherwise workers who see the difference between the systems as the others do would be
    kept, the estimated difference exaggerated, and false positives more frequent. Outputs that nobody
    else rated do not count. With few ratings per worker, or items that hardly differ, this also hits
    careful workers.
    """
    worker, value = rows.worker[kept], rating[kept]
    n_systems = max(int(rows.system.max()) + 1, 2)
    output = n_systems * rows.item[kept] + rows.system[kept]
    count = np.bincount(worker, minlength=n_workers)
    lowest, highest = np.full(n_workers, np.inf), np.full(n_workers, -np.inf)
    np.minimum.at(lowest, worker, value)
    np.maximum.at(highest, worker, value)
    constant = (count >= MIN_JUDGED) & (lowest == highest)
    sums, raters = np.bincount(output, value), np.bincount(output)
    inverse = np.unique(worker * np.int64(len(sums)) + output, return_inverse=True)[1]
    own, times = np.bincount(inverse, value)[inverse], np.bincount(inverse)[inverse]
    others = raters[output] - times
    shared = others > 0
    consensus = (sums[output] - own)[shared] / others[shared]
    stratum = n_systems * worker[shared] + rows.system[kept][shared]
    agreement = _correlation_by(worker[shared], stratum, value[shared], consensus, n_workers)
    return np.asarray(constant | (agreement < min_agreement))


def _correlation_by(worker: Codes, stratum: Codes, a: Floats, b: Floats, n_workers: int) -> Floats:
    """Pearson correlation of each worker, pooled within strata; NaN for few entries or no variance."""
    size = np.bincount(stratum)

    def centered(values: Floats) -> Floats:
        mean = np.bincount(stratum, values) / np.maximum(size, 1)
        return np.asarray(values - mean[stratum])

    a, b = centered(a), centered(b)
    ab, aa, bb = (np.bincount(worker, product, n_workers) for product in (a * b, a * a, b * b))
    count = np.bincount(worker, minlength=n_workers)
    enough = (count >= MIN_JUDGED) & (aa > _NO_VARIANCE) & (bb > _NO_VARIANCE)
    return np.where(enough, ab / np.sqrt(np.where(enough, aa * bb, 1.0)), np.nan)

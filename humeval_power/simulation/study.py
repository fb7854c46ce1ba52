"""Simulate the ratings of one study from the rating model. Knows nothing of estimation.

What happens to planned ratings: some are missing, some workers quit, some do not care.

Everything is a function of arrays and a generator. Draws are made in the same number and order whatever
the shares are, so that with the same generator a larger share loses every rating that a smaller one loses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.choices import ANONYMOUS, Response
from humeval_power.choices import Exclusion as Exclusion
from humeval_power.designs import Assignment, Codes, Design
from humeval_power.errors import DesignError, InputError, Problem, field_problem
from humeval_power.latent import Latent, is_number
from humeval_power.parameters import Parameters
from humeval_power.scales import RatingScale
from humeval_power.systems import SystemsParameters

if TYPE_CHECKING:
    import pandas as pd


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
        quitter = worker[of_quitter]
        if position is None:
            together = tiebreak[_first_of_meeting(assignment)[of_quitter]]
            place = _rank_within(quitter, together, tiebreak[of_quitter])
        else:
            place = _rank_within(quitter, position[of_quitter])
        load = np.bincount(worker, minlength=n_workers)
        done = np.floor(stops_after * load).astype(np.int64)  # 0, ..., load - 1
        kept[of_quitter[place >= done[quitter]]] = False
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
    if not kind.any():
        return rating
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


@lru_cache(maxsize=4)
def _first_of_meeting(rows: Assignment) -> Codes:
    """The first rating of the same worker and item as each, (n_ratings,)."""
    meeting = rows.worker * (rows.item.max() + np.int64(1)) + rows.item
    _, first, inverse = np.unique(meeting, return_index=True, return_inverse=True)
    return np.asarray(first[inverse], dtype=np.int64)


def _rank_within(group: Codes, *keys: NDArray[np.generic]) -> Codes:
    """Rank of each entry among those of its group by the first of `keys`, then the next, from 0."""
    order = np.lexsort((*keys[::-1], group))
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


# How many simulated tables are held in memory at a time: what is simulated does not depend on it.

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


# The generators of many replicates at once, each the child of the seed that NumPy's SeedSequence gives.

Words = NDArray[np.uint32]

_POOL = 4  # words
_WORD = 1 << 32
_INIT_A, _MULT_A = 0x43B0D7E5, 0x931E8875
_INIT_B, _MULT_B = 0x8B51F9DD, 0x58F38DED
_MIX_LEFT, _MIX_RIGHT = 0xCA01F9DD, 0x4973F715
_SHIFT = np.uint32(16)


def generators(seed: int, first: int, n: int) -> Iterator[np.random.Generator]:
    """The generators of replicates `first` to `first + n - 1` of a seed, one after the other: the next takes the
    place of the last, which must not be used any more."""
    source = np.random.Philox(0)
    generator, state = np.random.Generator(source), source.state
    state["state"]["counter"][:] = 0
    for key in philox_keys(seed, first, n):
        state["state"]["key"][:] = key
        source.state = state
        yield generator


def philox_keys(seed: int, first: int, n: int) -> NDArray[np.uint64]:
    """The keys (n, 2) of the children `first` to `first + n - 1` of a seed."""
    if first + n > _WORD:  # a child's number of more than one word is mixed in word by word
        sequences = (np.random.SeedSequence(seed, spawn_key=(child,)) for child in range(first, first + n))
        return np.stack([sequence.generate_state(2, np.uint64) for sequence in sequences])
    pool = np.random.SeedSequence(seed).pool
    seed_words = -(-int(seed).bit_length() // 32)
    mixed = _POOL * max(seed_words, _POOL)  # hashed so far: the seed's words, and all pairs of the pool
    constant = _INIT_A * pow(_MULT_A, mixed, _WORD) % _WORD
    child = np.arange(first, first + n, dtype=np.uint32)
    own = np.empty((_POOL, n), dtype=np.uint32)
    for place in range(_POOL):
        word, constant = _hashed(child, constant, _MULT_A)
        own[place] = _mixed(np.full(n, pool[place], dtype=np.uint32), word)
    constant, words = _INIT_B, np.empty((n, _POOL), dtype=np.uint32)
    for place in range(_POOL):
        words[:, place], constant = _hashed(own[place], constant, _MULT_B)
    return words.astype("<u4").view("<u8").astype(np.uint64)


def _hashed(value: Words, constant: int, multiplier: int) -> tuple[Words, int]:
    """Hashed words, and the constant of the next hash."""
    following = constant * multiplier % _WORD
    value = (value ^ np.uint32(constant)) * np.uint32(following)
    return value ^ (value >> _SHIFT), following


def _mixed(left: Words, right: Words) -> Words:
    value = left * np.uint32(_MIX_LEFT) - right * np.uint32(_MIX_RIGHT)
    return np.asarray(value ^ (value >> _SHIFT))


_NUMBERS = 1 << 13  # ratings that are worked out together, where that is more than one study


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedRatings:
    """One simulated study: codes of worker, item and system (0 is A, 1 is B) and `rating` on [0, 1]
    (Gaussian ratings may leave it), all of shape (n_ratings,), and of the item's document and of the criterion,
    if it has one."""

    worker: Codes
    item: Codes
    system: Codes
    rating: Floats
    document: Codes | None = None
    criterion: Codes | None = None

    @classmethod
    def on_criteria(cls, drawn: Sequence[SimulatedRatings]) -> SimulatedRatings:
        """One table of the ratings on each criterion."""
        documents = [one.document for one in drawn if one.document is not None]
        return cls(
            np.concatenate([one.worker for one in drawn]),
            np.concatenate([one.item for one in drawn]),
            np.concatenate([one.system for one in drawn]),
            np.concatenate([one.rating for one in drawn]),
            np.concatenate(documents) if documents else None,
            np.repeat(np.arange(len(drawn)), [len(one.rating) for one in drawn]),
        )

    def to_frame(
        self,
        scale: RatingScale | None = None,
        systems: Sequence[str] = ANONYMOUS,
        criteria: Sequence[str] = (),
    ) -> pd.DataFrame:
        """A long table worker, item, system, rating with names, on `scale` ([0, 1] without one), with a
        document before the item where items come out of documents, and a criterion before the rating."""
        import pandas as pd

        rating = self.rating if scale is None else scale.from_unit(self.rating)
        document = {} if self.document is None else {"document": _names("d", self.document)}
        criterion = (
            {}
            if self.criterion is None
            else {"criterion": np.array(criteria, dtype=object)[self.criterion]}
        )
        return pd.DataFrame(
            {
                "worker": _names("w", self.worker),
                **document,
                "item": _names("i", self.item),
                "system": np.array(systems, dtype=object)[self.system],
                **criterion,
                "rating": rating,
            }
        )


def simulate(
    parameters: Parameters,
    design: Design,
    *,
    seed: int,
    response: Response = "gaussian",
    points: int | None = None,
    losses: Losses | None = None,
    exclusion: Exclusion = "none",
    replicate: int = 0,
) -> SimulatedRatings:
    """Simulate one study; the same seed and replicate give the same ratings.

    `response` 'gaussian' is the model itself, 'clipped' cuts ratings to [0, 1], 'likert' rounds them to
    the nearest of `points` equally spaced values and cuts. `losses` and `exclusion` then take ratings
    away or spoil them; codes stay those of the design.
    """
    rows, rng = design.assignment, replicate_generator(seed, replicate)
    rating = respond(draw_ratings(parameters.recoded(), design, rng), response, points=points)
    if losses is None:
        return SimulatedRatings(rows.worker, rows.item, rows.system, rating, rows.document)
    back = collect(
        rating,
        rows,
        losses,
        rng,
        n_workers=design.n_workers,
        levels=levels(parameters, response, points),
        exclusion=exclusion,
    )
    left = back.kept
    document = None if rows.document is None else rows.document[left]
    return SimulatedRatings(
        rows.worker[left], rows.item[left], rows.system[left], back.rating[left], document
    )


def replicate_generator(seed: int, replicate: int) -> np.random.Generator:
    """The generator of one replicate: child number `replicate` of the seed, whatever else is drawn."""
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=(replicate,))))


class Normals(NamedTuple):
    """Independent standard normal numbers that a study is drawn from: of workers and of items (2, ..., n), of
    ratings (..., n_ratings), of what a worker and an item share (..., n_pairs), where there is such a part, and of
    documents (2, ..., n_documents), where there are any. The axes before the last are those of several studies."""

    worker: Floats
    item: Floats
    noise: Floats
    pair: Floats | None = None
    document: Floats | None = None


def draw_ratings(parameters: Parameters, design: Design, rng: np.random.Generator) -> Floats:
    """Ratings (n_ratings,) for parameters in difference coding, x = -1/2 and +1/2: Gaussian ones, or the scores
    of categories where the parameters have a latent variable. What documents need is drawn last, so that the
    other draws are those of a design without them."""
    check_documents(parameters, design.n_documents)
    numbers, pairs = _room(parameters, design, 1)
    rng.standard_normal(out=numbers[0])
    drawn = _normals(design, numbers, pairs)
    ratings: Floats = rating_values(parameters, design.assignment, drawn, pairs)[0]
    return ratings


def draw_many(parameters: Parameters, design: Design, seed: int, *, first: int = 0, n: int) -> Floats:
    """Ratings (n, n_ratings) of replicates `first` to `first + n - 1`: those of `draw_ratings` with the generator
    of each, to the last digit."""
    check_documents(parameters, design.n_documents)
    ratings = np.empty((n, design.n_ratings))
    size = max(_NUMBERS // design.n_ratings, 1)
    numbers, pairs = _room(parameters, design, min(size, n))
    streams = generators(seed, first, n)
    for begin in range(0, n, size):
        part = ratings[begin : begin + size]
        held = numbers[: len(part)]
        for row, rng in zip(held, streams, strict=False):
            rng.standard_normal(out=row)
        drawn = _normals(design, held, pairs)
        part[:] = rating_values(parameters, design.assignment, drawn, pairs)
    return ratings


def _room(parameters: Parameters, design: Design, n: int) -> tuple[Floats, Codes | None]:
    """An array for all numbers of n replicates, (n, numbers), and the pairs of worker and item, if they share
    something."""
    pairs = pairs_of(design.assignment) if has_pairs(parameters) else None
    shared = 0 if pairs is None else int(pairs.max()) + 1
    levels_ = design.n_workers + design.n_items
    if design.assignment.document is not None:
        levels_ += design.n_documents
    return np.empty((n, 2 * levels_ + design.n_ratings + shared)), pairs


def _normals(design: Design, numbers: Floats, pairs: Codes | None) -> Normals:
    """The numbers (n, ...) of replicates by what they are for, in the order in which they are drawn."""
    n, m, k = len(numbers), design.n_workers, design.n_items
    ends = np.cumsum([2 * m, 2 * k, design.n_ratings, 0 if pairs is None else int(pairs.max()) + 1])
    worker, item, noise, pair, document = np.split(numbers, ends, axis=1)
    return Normals(
        np.moveaxis(worker.reshape(n, 2, m), 1, 0),
        np.moveaxis(item.reshape(n, 2, k), 1, 0),
        noise,
        None if pairs is None else pair,
        np.moveaxis(document.reshape(n, 2, -1), 1, 0) if document.shape[1] else None,
    )


def rating_values(
    parameters: Parameters, rows: Assignment, drawn: Normals, pairs: Codes | None = None
) -> Floats:
    """The ratings (..., n_ratings) that these numbers make, for parameters in difference coding; `pairs` as
    `pairs_of` gives them, where a worker and an item share something."""
    x = rows.system - 0.5
    source = parameters.latent or parameters
    worker_intercept = source.sd_worker_intercept * drawn.worker[0]
    worker_slope = source.sd_worker_slope * _correlated(parameters.correlation_worker, *drawn.worker)
    item_intercept = source.sd_item_intercept * drawn.item[0]
    item_slope = source.sd_item_slope * _correlated(parameters.correlation_item, *drawn.item)
    slope = source.effect + worker_slope.take(rows.worker, axis=-1) + item_slope.take(rows.item, axis=-1)
    mean = (0.0 if parameters.latent else parameters.baseline) + worker_intercept.take(rows.worker, axis=-1)
    mean = mean + item_intercept.take(rows.item, axis=-1)
    noise = drawn.noise
    if parameters.latent is None:
        noise = noise * parameters.sd_residual
        if drawn.pair is not None and pairs is not None:
            noise += parameters.sd_worker_item * drawn.pair[..., pairs]
    if rows.document is not None and drawn.document is not None:
        intercept, own = drawn.document[..., rows.document]
        mean = mean + source.sd_document_intercept * intercept
        slope = slope + source.sd_document_slope * own
    if parameters.latent is not None:
        return _categories(parameters.latent, mean + slope * x, noise)
    return np.asarray(mean + slope * x + noise)


def has_pairs(parameters: Parameters) -> bool:
    """Whether a worker and an item share something beyond what each has."""
    return parameters.latent is None and parameters.sd_worker_item > 0


def pairs_of(rows: Assignment) -> Codes:
    """The number of the worker and item of each rating among all such pairs, (n_ratings,); later workers come
    later."""
    n_items = np.int64(rows.item.max()) + 1
    return np.asarray(np.unique(rows.worker * n_items + rows.item, return_inverse=True)[1])


def _correlated(correlation: float, first: Floats, second: Floats) -> Floats:
    """Of two independent standard normal draws the second, correlated with the first."""
    return second if correlation == 0 else correlation * first + np.sqrt(1 - correlation**2) * second


def check_documents(parameters: Parameters, n_documents: int) -> None:
    """Refuse parameters that vary between documents for a study that does not say which items share one."""
    if n_documents == 0 and parameters.sd_document_intercept + parameters.sd_document_slope > 0:
        raise DesignError(
            f"The parameters vary between documents (sd_document_intercept "
            f"{parameters.sd_document_intercept:g}, sd_document_slope {parameters.sd_document_slope:g}), and "
            "the study has none. Say how many documents the items come out of: as many as items, if no two "
            "share one."
        )


def _categories(latent: Latent, value: Floats, noise: Floats) -> Floats:
    """Scores of the categories in which value + noise falls, for standard normal noise."""
    if latent.link == "logit":  # the logistic quantile of the same probability
        noise = special.log_ndtr(noise) - special.log_ndtr(-noise)
    place = np.searchsorted(np.array(latent.thresholds), value + noise)
    return np.asarray(np.array(latent.scores)[place])


def respond(latent: Floats, response: Response, *, points: int | None = None) -> Floats:
    """Turn latent ratings into what a worker can enter: any shape in, the same shape out."""
    if response == "gaussian":
        return latent
    clipped = np.clip(latent, 0.0, 1.0)
    if response == "clipped":
        return np.asarray(clipped)
    if response != "likert":
        raise InputError(f"response must be one of gaussian, clipped, likert; got {response!r}.")
    if points is None or points < 2:
        raise InputError(f"A Likert response needs the number of points of the scale; got {points}.")
    return np.asarray(np.round(clipped * (points - 1)) / (points - 1))


def levels(
    parameters: Parameters | SystemsParameters, response: Response, points: int | None
) -> Floats | None:
    """The ratings that there can be, ascending on [0, 1]; None where they form a continuum."""
    if isinstance(parameters, Parameters) and parameters.latent is not None:
        return np.array(parameters.latent.scores)
    return np.arange(points) / (points - 1) if response == "likert" and points else None


def _names(prefix: str, codes: Codes) -> NDArray[np.str_]:
    width = len(str(int(codes.max()) + 1))
    names = np.array([f"{prefix}{code + 1:0{width}d}" for code in range(int(codes.max()) + 1)])
    return np.asarray(names[codes])

"""Simulate the ratings of one study from the rating model. Knows nothing of estimation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import special

from humeval_power.choices import ANONYMOUS, Exclusion, Response
from humeval_power.designs import Assignment, Codes, Design
from humeval_power.errors import DesignError, InputError
from humeval_power.latent import Latent
from humeval_power.parameters import Parameters
from humeval_power.scales import RatingScale
from humeval_power.simulation.losses import Losses, collect
from humeval_power.systems import SystemsParameters

if TYPE_CHECKING:
    import pandas as pd


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


Floats = NDArray[np.float64]

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

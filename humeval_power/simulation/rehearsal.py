"""Draw a study as it is assigned: who is shown what, who stops, who does not care, checks, repeats, seconds.

Every purpose has random numbers of its own, in the order of workers and of rows: spares that are called in
change nothing of what the others did.

Simulate studies of several systems: their ratings, or the sums of complete tables that stand for them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from humeval_power.choices import Response
from humeval_power.designs import Assignment, Codes, Design
from humeval_power.errors import InputError
from humeval_power.parameters import Parameters
from humeval_power.simulation.quality_control import USUAL_BEHAVIOUR, Behaviour, checks_passed, seconds_of
from humeval_power.simulation.study import (
    Losses,
    Normals,
    careless_values,
    check_documents,
    has_pairs,
    kinds_of,
    levels,
    pairs_of,
    rating_values,
    respond,
)
from humeval_power.systems import SystemsParameters

Floats = NDArray[np.float64]


class CompleteSums(NamedTuple):
    """Complete balanced tables by their sums: means (n, K), cross products of workers' and of items' means around
    them (n, K, K), times items x repeats and workers x repeats, and residual sums of squares of each system (n, K).

    Where items come out of documents of equal size `items` are around the means of their documents, and `documents`
    the cross products of these, times workers x items of each x repeats; else there are none.
    """

    means: Floats
    workers: Floats
    items: Floats
    residual: Floats
    documents: Floats

    @classmethod
    def of_ratings(cls, ratings: Floats, document_of_item: Codes | None = None) -> CompleteSums:
        """ratings (n, workers, items, systems, repeats); document_of_item (items,)."""
        _, m, n, _, r = ratings.shape
        means = ratings.mean(axis=(1, 2, 4))
        centred = ratings - means[:, None, None, :, None]
        by_worker, by_item = centred.mean(axis=(2, 4)), centred.mean(axis=(1, 4))
        workers = n * r * by_worker.transpose(0, 2, 1) @ by_worker
        documents = np.zeros_like(workers)
        if document_of_item is not None:
            in_order = by_item[:, np.argsort(document_of_item, kind="stable")]
            each = n // (int(document_of_item.max()) + 1)
            by_document = in_order.reshape(len(in_order), -1, each, in_order.shape[2]).mean(axis=2)
            documents = m * each * r * by_document.transpose(0, 2, 1) @ by_document
            by_item = in_order - np.repeat(by_document, each, axis=1)
        items = m * r * by_item.transpose(0, 2, 1) @ by_item
        total = (centred**2).sum(axis=(1, 2, 4))
        diagonals = sum(np.einsum("akk->ak", cross) for cross in (workers, items, documents))
        return cls(means, workers, items, np.maximum(total - diagonals, 0.0), documents)


def draw_sums(
    parameters: SystemsParameters, design: Design, rng: np.random.Generator, n: int
) -> CompleteSums:
    """Sums of n complete studies of Gaussian ratings: their means, workers, items, documents and residuals are
    independent. What documents need is drawn last."""
    m, items, r, d = design.n_workers, design.n_items, design.n_repeats, design.n_documents
    K, noise = parameters.n_systems, parameters.sd_residual**2
    worker, item, document = (
        _covariance(parameters.variances(factor)) for factor in ("worker", "item", "document")
    )
    of_means = worker / m + item / items + noise * np.eye(K) / (m * items * r)
    of_means += document / d if d else 0.0
    means = np.array(parameters.means) + rng.standard_normal((n, K)) @ _root(of_means).T

    def squares(df: int, covariance: Floats) -> Floats:
        rows = rng.standard_normal((n, df, K)) @ _root(noise * np.eye(K) + covariance).T
        return np.asarray(rows.transpose(0, 2, 1) @ rows)

    of_workers = squares(m - 1, items * r * worker)
    of_items = squares(items - (d or 1), m * r * item)
    residual = noise * rng.chisquare(m * items * r - m - items + 1, (n, K))
    of_documents = np.zeros_like(of_workers)
    if d:
        of_documents = squares(d - 1, m * r * (item + items / d * document))
    return CompleteSums(means, of_workers, of_items, residual, of_documents)


class SystemNormals(NamedTuple):
    """Independent standard normal numbers that n studies of K systems are drawn from: of workers, of items and of
    documents what each gives all systems (n, levels, 1) and each system (n, levels, K), and of ratings
    (n, n_ratings)."""

    worker: tuple[Floats, Floats]
    item: tuple[Floats, Floats]
    noise: Floats
    document: tuple[Floats, Floats] | None = None


def draw_system_ratings(
    parameters: SystemsParameters, design: Design, rng: np.random.Generator, n: int = 1
) -> Floats:
    """Gaussian ratings of n studies (n, n_ratings) in the order of the assignment; documents are drawn last."""
    rows, K = design.assignment, parameters.n_systems

    def levels(count: int) -> tuple[Floats, Floats]:
        return rng.standard_normal((n, count, 1)), rng.standard_normal((n, count, K))

    worker, item = levels(design.n_workers), levels(design.n_items)
    noise = rng.standard_normal((n, len(rows.worker)))
    document = levels(design.n_documents) if rows.document is not None else None
    return system_values(parameters, rows, SystemNormals(worker, item, noise, document))


def system_values(parameters: SystemsParameters, rows: Assignment, drawn: SystemNormals) -> Floats:
    """The Gaussian ratings (n, n_ratings) that these numbers make."""
    n, K = len(drawn.noise), parameters.n_systems
    worker = _deviations(*drawn.worker, parameters.sd_worker, parameters.sd_worker_system)
    item = _deviations(*drawn.item, parameters.sd_item, parameters.sd_item_system)
    rating = worker.reshape(n, -1)[:, rows.worker * K + rows.system]
    rating += item.reshape(n, -1)[:, rows.item * K + rows.system]
    if rows.document is not None and drawn.document is not None:
        document = _deviations(*drawn.document, parameters.sd_document, parameters.sd_document_system)
        rating += document.reshape(n, -1)[:, rows.document * K + rows.system]
    rating += parameters.sd_residual * drawn.noise
    return np.asarray(rating + np.array(parameters.means)[rows.system])


def _deviations(shared: Floats, own: Floats, sd_shared: float, sd_own: tuple[float, ...]) -> Floats:
    """What each level gives each system, (n, levels, K)."""
    return np.asarray(sd_shared * shared + np.array(sd_own) * own)


def _covariance(variances: tuple[float, ...]) -> Floats:
    return np.asarray(variances[0] + np.diag(variances[1:]))


def _root(covariance: Floats) -> Floats:
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray((vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T)


Mask = NDArray[np.bool_]
World: TypeAlias = Parameters | SystemsParameters
_Purpose = Literal[
    "worker",
    "item",
    "rating",
    "pair",
    "document",
    "quit",
    "lost",
    "kind",
    "careless",
    "check",
    "pace",
    "time",
]
_PURPOSES = get_args(_Purpose)


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """What is assumed of workers beside how they rate with care. Nothing here is estimated: it is a rehearsal.

    losses : ratings that are not given; workers who stop after any of their batches but the last, or before the
        first, with equal probability; careless workers.
    behaviour : checks and seconds.
    """

    losses: Losses = field(default_factory=Losses)
    behaviour: Behaviour = USUAL_BEHAVIOUR


@dataclass(frozen=True, slots=True, eq=False)
class Fieldwork:
    """What is shown to whom: arrays of shape (n_rows,). `item` and `system` are -1 for attention checks, `batch`
    counts from 1. `last_batch` (n_workers,) is the last that a worker is to do, where a spare does the rest;
    `document_of_item` (n_items,) the document that each item is part of, None where items stand alone."""

    worker: Codes
    batch: Codes
    item: Codes
    system: Codes
    last_batch: Codes
    n_items: int
    n_documents: int = 0
    document_of_item: Codes | None = None

    @property
    def rated(self) -> Codes:
        """The rows that are rated: all but attention checks."""
        return np.flatnonzero(self.item >= 0)

    @property
    def ratings(self) -> Assignment:
        """These rows as ratings."""
        rows, of_item = self.rated, self.document_of_item
        item = self.item[rows]
        document = None if of_item is None else of_item[item]
        return Assignment(self.worker[rows], item, self.system[rows], document)


@dataclass(frozen=True, slots=True, eq=False)
class RehearsedRatings:
    """What came back: ratings on [0, 1] (n_criteria, n_rows), NaN for what was not given and for checks; which rows
    were done, which checks were passed, and seconds (n_rows,); the kind of each worker (n_workers,)."""

    rating: Floats
    done: Mask
    passed: Mask
    seconds: Floats
    kind: Codes


def rehearse(
    world: World,
    work: Fieldwork,
    habits: Habits,
    *,
    seed: int,
    n_criteria: int = 1,
    response: Response = "clipped",
    points: int | None = None,
) -> RehearsedRatings:
    """Draw what comes back; the same seed gives the same. Criteria are rated independently of each other.

    A repeat has the worker, item and document of the first rating, and a residual of its own.
    """
    losses, rows = habits.losses, work.rated
    n_workers, n_rows = len(work.last_batch), len(work.worker)
    kind = kinds_of(_rng(seed, "kind").random(n_workers), losses)
    done = work.batch <= np.minimum(_batches_done(work, losses, seed), work.last_batch)[work.worker]
    rating = np.full((n_criteria, n_rows), np.nan)
    for criterion in range(n_criteria):
        value = respond(_values(world, work, seed, criterion), response, points=points)
        value = careless_values(
            value,
            work.worker[rows],
            kind,
            _rng(seed, "careless", criterion).random(n_rows)[rows],
            _rng(seed, "careless", criterion, of_workers=True).random(n_workers),
            answers=losses.answers,
            levels=levels(world, response, points),
        )
        lost = _rng(seed, "lost", criterion).random(n_rows)[rows] < losses.missing
        rating[criterion, rows] = np.where(done[rows] & ~lost, value, np.nan)
    passed = checks_passed(work.worker, kind, habits.behaviour, _rng(seed, "check").random(n_rows))
    of_worker, of_row = (
        _rng(seed, "pace").standard_normal(n_workers),
        _rng(seed, "time").standard_normal(n_rows),
    )
    seconds = seconds_of(work.worker, kind, habits.behaviour, of_worker, of_row)
    return RehearsedRatings(rating, done, passed, seconds, kind)


def _rng(
    seed: int, purpose: _Purpose, criterion: int = 0, *, of_workers: bool = False
) -> np.random.Generator:
    """The random numbers of a purpose and a criterion."""
    key = (_PURPOSES.index(purpose), criterion, int(of_workers))
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=key)))


def _batches_done(work: Fieldwork, losses: Losses, seed: int) -> Codes:
    """After how many batches each worker stops, (n_workers,): all of them for most."""
    batches = np.zeros(len(work.last_batch), dtype=np.int64)
    np.maximum.at(batches, work.worker, work.batch)
    first = batches.copy()
    np.minimum.at(first, work.worker, work.batch)
    u = _rng(seed, "quit").random((len(batches), 2))
    stops = first - 1 + np.floor(u[:, 1] * (batches - first + 1)).astype(np.int64)
    return np.where(u[:, 0] < losses.quitting, stops, batches)


def _values(world: World, work: Fieldwork, seed: int, criterion: int) -> Floats:
    """What every worker would answer with care, on [0, 1] or beyond."""
    rows, n_workers = work.ratings, len(work.last_batch)

    def normals(purpose: _Purpose, *shape: int) -> Floats:
        return _rng(seed, purpose, criterion).standard_normal(shape)

    noise = normals("rating", len(work.worker))[work.rated]
    if isinstance(world, SystemsParameters):
        K = world.n_systems
        if world.has_documents and not work.n_documents:
            raise InputError(
                "The systems vary between documents, and the rehearsed study has none: give other parameters."
            )

        def levels_of(purpose: _Purpose, count: int) -> tuple[Floats, Floats]:
            drawn = normals(purpose, count, K + 1)
            return drawn[None, :, :1], drawn[None, :, 1:]

        drawn = SystemNormals(
            levels_of("worker", n_workers),
            levels_of("item", work.n_items),
            noise[None],
            levels_of("document", work.n_documents) if work.n_documents else None,
        )
        return np.asarray(system_values(world, rows, drawn)[0])
    check_documents(world, work.n_documents)
    pairs = pairs_of(rows) if has_pairs(world) else None
    numbers = Normals(
        normals("worker", n_workers, 2).T,
        normals("item", work.n_items, 2).T,
        noise,
        None if pairs is None else normals("pair", int(pairs.max()) + 1),
        normals("document", work.n_documents, 2).T if work.n_documents else None,
    )
    return rating_values(world.recoded(), rows, numbers, pairs)

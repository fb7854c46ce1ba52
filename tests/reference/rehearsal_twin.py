"""A rehearsal drawn row by row in plain loops, from the random numbers that its definition names."""

import math

import numpy as np

from humeval_power.parameters import Parameters
from humeval_power.simulation.rehearsal import Fieldwork, Habits, World

PURPOSES = (
    *("worker", "item", "rating", "pair", "document", "quit", "lost", "kind", "careless", "check", "pace", "time"),
)  # fmt: skip


def _rng(seed: int, purpose: str, criterion: int = 0, of_workers: int = 0) -> np.random.Generator:
    key = (PURPOSES.index(purpose), criterion, of_workers)
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(seed, spawn_key=key)))


def _value(world: World, work: Fieldwork, row: int, seed: int, criterion: int) -> float:
    """What the worker of a row would answer with care, before it is put on the scale."""
    worker, item, system = int(work.worker[row]), int(work.item[row]), int(work.system[row])
    n_workers = len(work.last_batch)
    noise = _rng(seed, "rating", criterion).standard_normal(len(work.worker))[row]
    if isinstance(world, Parameters):
        assert world.latent is None
        known = world.recoded()
        x = -0.5 if system == 0 else 0.5
        w = _rng(seed, "worker", criterion).standard_normal((n_workers, 2))[worker]
        i = _rng(seed, "item", criterion).standard_normal((work.n_items, 2))[item]
        level = known.baseline + known.sd_worker_intercept * w[0] + known.sd_item_intercept * i[0]
        slope = known.effect + known.sd_worker_slope * w[1] + known.sd_item_slope * i[1]
        if work.document_of_item is not None:
            document = int(work.document_of_item[item])
            d = _rng(seed, "document", criterion).standard_normal((work.n_documents, 2))[document]
            level += known.sd_document_intercept * d[0]
            slope += known.sd_document_slope * d[1]
        if known.sd_worker_item > 0:
            met = sorted({(int(a), int(b)) for a, b in zip(work.worker, work.item, strict=True) if b >= 0})
            pair = met.index((worker, item))
            shared = _rng(seed, "pair", criterion).standard_normal(len(met))[pair]
            level += known.sd_worker_item * shared
        return float(level + slope * x + known.sd_residual * noise)
    K = world.n_systems
    w = _rng(seed, "worker", criterion).standard_normal((n_workers, K + 1))[worker]
    i = _rng(seed, "item", criterion).standard_normal((work.n_items, K + 1))[item]
    value = world.means[system] + world.sd_worker * w[0] + world.sd_worker_system[system] * w[1 + system]
    value += world.sd_item * i[0] + world.sd_item_system[system] * i[1 + system]
    if work.document_of_item is not None:
        document = int(work.document_of_item[item])
        d = _rng(seed, "document", criterion).standard_normal((work.n_documents, K + 1))[document]
        value += world.sd_document * d[0] + world.sd_document_system[system] * d[1 + system]
    return float(value + world.sd_residual * noise)


def rehearse_slowly(
    world: World, work: Fieldwork, habits: Habits, *, seed: int, criterion: int, points: int
) -> list[tuple[float, bool, bool, float]]:
    """Of each row the rating on so many points (NaN where none came), whether it was done, whether the check was
    passed, and the seconds."""
    n_workers, n_rows = len(work.last_batch), len(work.worker)
    losses, usual = habits.losses, habits.behaviour
    found = []
    for row in range(n_rows):
        worker = int(work.worker[row])
        batches = sorted({int(b) for w, b in zip(work.worker, work.batch, strict=True) if w == worker})
        u = _rng(seed, "quit").random((n_workers, 2))[worker]
        stop = max(batches)
        if u[0] < losses.quitting:
            stop = min(batches) - 1 + math.floor(u[1] * (max(batches) - min(batches) + 1))
        done = int(work.batch[row]) <= min(stop, int(work.last_batch[worker]))
        u_kind = _rng(seed, "kind").random(n_workers)[worker]
        random, straight = u_kind < losses.at_random, u_kind >= 1 - losses.straight_lining
        careful = not random and not straight
        rating = math.nan
        if done and work.item[row] >= 0:
            value = min(1.0, max(0.0, _value(world, work, row, seed, criterion)))
            rating = float(np.round(value * (points - 1)) / (points - 1))
            if random:
                u_row = _rng(seed, "careless", criterion).random(n_rows)[row]
                rating = math.floor(u_row * points) / (points - 1)
            if straight:
                u_worker = _rng(seed, "careless", criterion, 1).random(n_workers)[worker]
                rating = math.floor(u_worker * points) / (points - 1)
            if _rng(seed, "lost", criterion).random(n_rows)[row] < losses.missing:
                rating = math.nan
        chance = usual.passing if careful else usual.careless_passing
        passed = bool(_rng(seed, "check").random(n_rows)[row] < chance)
        log = usual.sd_log_worker * _rng(seed, "pace").standard_normal(n_workers)[worker]
        log += usual.sd_log_rating * _rng(seed, "time").standard_normal(n_rows)[row]
        pace = 1.0 if careful else usual.careless_pace
        found.append((rating, done, passed, usual.seconds * pace * math.exp(log)))
    return found

"""Coverage and gain of items drawn from a pool, and what shortcuts cost: docs/items-coverage.json.

    python docs/make_items_coverage.py [studies]

Every study draws its own pool, metric, workers and ratings, draws items by `hp.items.choose`, and is analysed by
the functions that `humeval-power analyze --pool` calls. D = 0 in the mean of all pools; the truth of a study is
the mean of its own pool.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path

import numpy as np
from scipy import special

import humeval_power as hp
from humeval_power.checking.item_pools import ScoredOutputs
from humeval_power.inference.chosen_items import estimate_pool
from humeval_power.parameters import PRESETS

WORKERS, ITEMS = 10, 50
POOLS = (200, 1_000, 10_000)
CORRELATIONS = (0.0, 0.3, 0.5, 0.7)
SYSTEMS = ("A", "B")
DRAWS = ("random", "strata")
SHORTCUTS = ("largest", "favouring", "diverse")


def shortcut(name: str, scores: np.ndarray) -> np.ndarray:
    """The places of the items that a shortcut picks."""
    f = scores[:, 1] - scores[:, 0]
    if name == "largest":  # where the metric tells the systems apart most
        return np.argsort(-np.abs(f - f.mean()))[:ITEMS]
    if name == "favouring":  # hard for A, by a metric that prefers B
        return np.argsort(-f)[:ITEMS]
    picked = [int(np.argmax(scores.sum(axis=1)))]  # as far from each other as they come
    distance = np.full(len(scores), np.inf)
    while len(picked) < ITEMS:
        distance = np.minimum(distance, ((scores - scores[picked[-1]]) ** 2).sum(axis=1))
        picked.append(int(np.argmax(distance)))
    return np.array(picked)


def study(preset: str, size: int, rho: float, seed: list[int]) -> dict[str, tuple[float, float, float]]:
    """Of each way to choose: error for the pool, and whether the pool and items like these were covered."""
    rng = np.random.default_rng(seed)
    law = PRESETS[preset].recoded()
    f, rest = rng.normal(size=(2, size))
    d = law.sd_item_slope * (rho * f + np.sqrt(1 - rho**2) * rest)
    level = rng.normal(size=size)
    scores = np.column_stack([level, level + f])
    names = tuple(f"i{place}" for place in range(size))
    slope = rng.normal(0, law.sd_worker_slope, WORKERS)
    results = {}
    for way in (*DRAWS, *SHORTCUTS):
        known = scores if way == "strata" else np.empty((size, 0))
        outputs = ScoredOutputs(names, SYSTEMS, known, None, "pool")
        if way in DRAWS:
            chosen = hp.items.choose(outputs, ITEMS, seed=int(rng.integers(2**31))).pool
        else:  # analysed as if it were drawn at random, which is what is done with such sets
            places = shortcut(way, scores)
            rest_of = np.setdiff1d(np.arange(size), places)
            order = np.concatenate([places, rest_of])
            chosen = hp.items.ItemPool(
                names, SYSTEMS, np.empty((size, 0)), np.zeros(size, dtype=np.int64),
                np.full(size, ITEMS / size), np.isin(np.arange(size), places),
            ).reordered(order)  # fmt: skip
        at = np.array([int(name[1:]) for name in chosen.chosen_items])
        worker, item, system = (
            one.ravel() for one in np.meshgrid(np.arange(WORKERS), np.arange(ITEMS), [0, 1], indexing="ij")
        )
        rating = (system - 0.5) * (slope[worker] + d[at][item])
        rating += rng.normal(0, law.sd_item_intercept, ITEMS)[item]
        rating += rng.normal(0, law.sd_worker_intercept, WORKERS)[worker]
        rating += rng.normal(0, law.sd_residual, len(rating))
        one = estimate_pool(chosen, SYSTEMS, worker, item, system, rating, chosen.chosen_items)
        error = one.estimate - d.mean()
        covered = abs(error) <= -special.stdtrit(one.pool_df, 0.025) * np.sqrt(one.pool_variance)
        like = abs(one.estimate) <= -special.stdtrit(one.population_df, 0.025) * np.sqrt(
            one.population_variance
        )
        results[way] = (float(error), float(covered), float(like))
    return results


def cell(task: tuple[str, int, float, int, int]) -> dict[str, object]:
    """All studies of one setting, pool and correlation."""
    preset, size, rho, n_studies, place = task
    studies = [study(preset, size, rho, [40, place, number]) for number in range(n_studies)]
    ways: dict[str, object] = {}
    for way in (*DRAWS, *SHORTCUTS):
        error, pool, like = np.array([one[way] for one in studies]).T
        ways[way] = {
            "bias": float(error.mean()),
            "mse": float((error**2).mean()),
            "pool": float(pool.mean()),
            "population": float(like.mean()),
        }
    return {"setting": preset, "pool": size, "correlation": rho, "studies": n_studies, "ways": ways}


def main() -> None:
    """Write the record."""
    n_studies = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000
    cells = product(PRESETS, POOLS, CORRELATIONS)
    tasks = [(*one, n_studies, place) for place, one in enumerate(cells)]
    with ProcessPoolExecutor(2) as pool:
        rows = list(pool.map(cell, tasks))
    Path(__file__).with_name("items-coverage.json").write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()

"""Fifty small designs with simulated ratings, for comparing fitters where tables are awkward.

The ratings are drawn here from the model's own equation, independently of the package's simulator.
"""

from collections.abc import Callable

import numpy as np

Rows = tuple[np.ndarray, np.ndarray, np.ndarray]

# SDs of worker intercept, worker slope, item intercept, item slope, residual, with x = -1/2, +1/2.
PATTERNS = {
    "typical": (0.10, 0.08, 0.10, 0.12, 0.20),
    "high": (0.01, 0.22, 0.04, 0.28, 0.26),  # Card et al. (2020), Table 16, in this coding
    "low": (0.01, 0.08, 0.01, 0.26, 0.16),
    "no_slopes": (0.10, 0.0, 0.10, 0.0, 0.20),
    "no_intercepts": (0.0, 0.10, 0.0, 0.12, 0.20),
    "no_worker_slope": (0.10, 0.0, 0.10, 0.15, 0.20),
    "no_item_slope": (0.10, 0.15, 0.10, 0.0, 0.20),
    "residual_only": (0.0, 0.0, 0.0, 0.0, 0.20),
    "workers_only": (0.15, 0.15, 0.0, 0.0, 0.20),
    "items_only": (0.0, 0.0, 0.15, 0.15, 0.20),
    "ratio_100": (0.30, 0.003, 0.003, 0.30, 0.10),
    "tiny_residual": (0.30, 0.20, 0.20, 0.30, 0.003),
    "huge_residual": (0.003, 0.003, 0.003, 0.003, 0.30),
}

BASELINE, EFFECT = 0.55, 0.08


def crossed(m: int, n: int, _rng: np.random.Generator, *, repeats: int = 1) -> Rows:
    worker, item, system, _ = np.indices((m, n, 2, repeats)).reshape(4, -1)
    return worker, item, system


def k_per_item(m: int, n: int, rng: np.random.Generator, *, k: int, paired: bool = True) -> Rows:
    worker, item, system = [], [], []
    for one in range(n):
        groups = rng.permutation(m)[:k], rng.permutation(m)[:k]
        for which in (0, 1):
            worker.append(groups[0 if paired else which])
            item.append(np.full(k, one))
            system.append(np.full(k, which))
    return np.concatenate(worker), np.concatenate(item), np.concatenate(system)


def thinned(m: int, n: int, rng: np.random.Generator, *, keep: float, repeats: int = 1) -> Rows:
    rows = crossed(m, n, rng, repeats=repeats)
    return take(rows, rng.random(len(rows[0])) < keep)


def skewed(m: int, n: int, rng: np.random.Generator, *, n_ratings: int) -> Rows:
    """A few workers do most of the work; cells can repeat or stay empty."""
    share = 1.0 / np.arange(1, m + 1)
    worker = rng.choice(m, n_ratings, p=share / share.sum())
    return worker, rng.integers(n, size=n_ratings), rng.integers(2, size=n_ratings)


def one_sided(m: int, n: int, rng: np.random.Generator, *, workers: int, items: int) -> Rows:
    """The first `workers` workers and `items` items miss one system."""
    rows = crossed(m, n, rng)
    missing = (rows[0] < workers) & (rows[2] == rows[0] % 2)
    missing |= (rows[1] < items) & (rows[2] == rows[1] % 2)
    return take(rows, ~missing)


def nested(m: int, n: int, rng: np.random.Generator, *, who: str) -> Rows:
    """Workers, items, or both of them meet one system only."""
    rows = crossed(m, n, rng)
    kept = np.ones(len(rows[0]), dtype=bool)
    if who in ("workers", "both"):
        kept &= rows[0] % 2 == rows[2]
    if who in ("items", "both"):
        kept &= rows[1] % 2 == rows[2]
    return take(rows, kept)


def counterbalanced(m: int, n: int, rng: np.random.Generator) -> Rows:
    rows = crossed(m, n, rng)
    return take(rows, (rows[0] + rows[1]) % 2 == rows[2])


def blocks(m: int, n: int, rng: np.random.Generator) -> Rows:
    """Two teams of workers that share no item."""
    rows = crossed(m, n, rng)
    return take(rows, (rows[0] < m // 2) == (rows[1] < n // 2))


def take(rows: Rows, kept: np.ndarray) -> Rows:
    return rows[0][kept], rows[1][kept], rows[2][kept]


Design = tuple[Callable[..., Rows], int, int, dict, str, str]
DESIGNS: tuple[Design, ...] = (
    (crossed, 6, 20, {}, "typical", "gaussian"),
    (crossed, 10, 40, {}, "high", "gaussian"),
    (crossed, 10, 40, {}, "low", "gaussian"),
    (crossed, 5, 12, {}, "no_slopes", "gaussian"),
    (crossed, 8, 8, {}, "residual_only", "gaussian"),
    (crossed, 20, 6, {}, "typical", "gaussian"),
    (crossed, 2, 3, {}, "typical", "gaussian"),
    (crossed, 3, 2, {}, "high", "gaussian"),
    (crossed, 3, 4, {}, "high", "gaussian"),
    (crossed, 4, 3, {}, "typical", "gaussian"),
    (crossed, 3, 30, {}, "ratio_100", "gaussian"),
    (crossed, 5, 10, {"repeats": 2}, "typical", "gaussian"),
    (crossed, 4, 6, {"repeats": 3}, "no_item_slope", "gaussian"),
    (crossed, 6, 15, {}, "typical", "likert5"),
    (crossed, 12, 30, {}, "high", "clipped"),
    (k_per_item, 10, 60, {"k": 3}, "typical", "gaussian"),
    (k_per_item, 10, 60, {"k": 3}, "high", "gaussian"),
    (k_per_item, 10, 60, {"k": 3}, "low", "likert5"),
    (k_per_item, 10, 60, {"k": 3, "paired": False}, "typical", "gaussian"),
    (k_per_item, 5, 40, {"k": 2}, "no_worker_slope", "gaussian"),
    (k_per_item, 5, 40, {"k": 2, "paired": False}, "no_slopes", "gaussian"),
    (k_per_item, 25, 20, {"k": 4}, "typical", "gaussian"),
    (k_per_item, 40, 30, {"k": 5}, "workers_only", "gaussian"),
    (k_per_item, 12, 80, {"k": 2}, "ratio_100", "gaussian"),
    (k_per_item, 6, 40, {"k": 1}, "typical", "gaussian"),
    (k_per_item, 8, 60, {"k": 1}, "no_slopes", "gaussian"),
    (k_per_item, 8, 60, {"k": 1, "paired": False}, "high", "gaussian"),
    (thinned, 8, 25, {"keep": 0.8}, "typical", "gaussian"),
    (thinned, 8, 25, {"keep": 0.3}, "typical", "gaussian"),
    (thinned, 15, 30, {"keep": 0.15}, "high", "gaussian"),
    (thinned, 30, 12, {"keep": 0.4}, "items_only", "gaussian"),
    (thinned, 6, 20, {"keep": 0.6, "repeats": 3}, "typical", "gaussian"),
    (thinned, 6, 20, {"keep": 0.5, "repeats": 2}, "no_intercepts", "gaussian"),
    (thinned, 10, 30, {"keep": 0.5}, "residual_only", "gaussian"),
    (thinned, 7, 18, {"keep": 0.6}, "tiny_residual", "gaussian"),
    (thinned, 7, 18, {"keep": 0.6}, "huge_residual", "gaussian"),
    (thinned, 4, 5, {"keep": 0.7}, "typical", "gaussian"),
    (thinned, 9, 40, {"keep": 0.4}, "low", "likert5"),
    (skewed, 20, 60, {"n_ratings": 400}, "typical", "gaussian"),
    (skewed, 30, 80, {"n_ratings": 600}, "high", "gaussian"),
    (skewed, 12, 25, {"n_ratings": 90}, "no_worker_slope", "gaussian"),
    (skewed, 25, 15, {"n_ratings": 300}, "ratio_100", "gaussian"),
    (one_sided, 8, 20, {"workers": 3, "items": 0}, "typical", "gaussian"),
    (one_sided, 8, 20, {"workers": 0, "items": 12}, "typical", "gaussian"),
    (one_sided, 7, 16, {"workers": 4, "items": 9}, "high", "gaussian"),
    (nested, 6, 20, {"who": "items"}, "typical", "gaussian"),
    (nested, 10, 15, {"who": "workers"}, "typical", "gaussian"),
    (nested, 10, 20, {"who": "both"}, "typical", "gaussian"),
    (counterbalanced, 8, 16, {}, "typical", "gaussian"),
    (blocks, 8, 20, {}, "no_item_slope", "gaussian"),
)


def generate(seed: int) -> list[dict]:
    """The designs with their rows: name, worker, item, system (codes) and rating (4 decimals)."""
    children = np.random.SeedSequence(seed).spawn(len(DESIGNS))
    return [
        _dataset(number, design, np.random.default_rng(child))
        for number, (design, child) in enumerate(zip(DESIGNS, children, strict=True), start=1)
    ]


def _dataset(number: int, design: Design, rng: np.random.Generator) -> dict:
    build, m, n, options, pattern, response = design
    worker, item, system = build(m, n, rng, **options)
    worker = np.unique(worker, return_inverse=True)[1]
    item = np.unique(item, return_inverse=True)[1]
    rating = _respond(_linear(worker, item, system, PATTERNS[pattern], rng), response)
    settings = "".join(f"_{key}{value}" for key, value in options.items())
    return {
        "name": f"{number:02d}_{build.__name__}_{m}x{n}{settings}_{pattern}_{response}",
        "worker": worker.tolist(),
        "item": item.tolist(),
        "system": system.tolist(),
        "rating": np.round(rating, 4).tolist(),
    }


def _linear(
    worker: np.ndarray, item: np.ndarray, system: np.ndarray, sds: tuple, rng: np.random.Generator
) -> np.ndarray:
    """rating = b0 + W0 + I0 + (b1 + W1 + I1) x + e."""
    n_workers, n_items = worker.max() + 1, item.max() + 1
    W0, W1 = rng.normal(size=(2, n_workers)) * np.array(sds[:2])[:, None]
    I0, I1 = rng.normal(size=(2, n_items)) * np.array(sds[2:4])[:, None]
    x = system - 0.5
    noise = rng.normal(size=len(x)) * sds[4]
    return BASELINE + W0[worker] + I0[item] + (EFFECT + W1[worker] + I1[item]) * x + noise


def _respond(rating: np.ndarray, response: str) -> np.ndarray:
    if response == "gaussian":
        return rating
    clipped = np.clip(rating, 0, 1)
    return np.round(clipped * 4) / 4 if response == "likert5" else clipped

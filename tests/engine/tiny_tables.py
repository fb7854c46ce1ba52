"""Random tiny tables of ratings, as a hostile user would try them."""

from types import SimpleNamespace

import numpy as np

KINDS = 4


def tiny_table(seed: int) -> SimpleNamespace:
    """Quarters from 0 to 1.25 with codes of worker, item and system; the kind goes by the seed.

    0: 6 workers and 6 items, most cells once; 1: one rating of each output; 2: 3 workers by 4 items, one
    rating each; 3: 2 to 5 workers and items at random.
    """
    rng = np.random.default_rng(seed)
    while True:
        worker, item, system = _codes(seed % KINDS, rng)
        worker, item = (np.unique(codes, return_inverse=True)[1] for codes in (worker, item))
        if len(set(system)) == 2 and worker.max() > 0 and item.max() > 0 and len(worker) >= 7:
            break
    codes = {"worker": worker, "item": item, "system": system}
    rating = rng.integers(0, 6, len(worker)) / 4
    return SimpleNamespace(**{name: code.astype(np.int64) for name, code in codes.items()}, rating=rating)


def _codes(kind, rng):
    if kind == 0:
        n = int(rng.integers(12, 53))
        return rng.integers(0, 6, n), rng.integers(0, 6, n), rng.integers(0, 2, n)
    if kind == 1:
        n_items, n_workers = int(rng.integers(8, 13)), int(rng.integers(2, 7))
        item, system = np.repeat(np.arange(n_items), 2), np.tile([0, 1], n_items)
        return rng.integers(0, n_workers, 2 * n_items), item, system
    if kind == 2:
        worker, item = (codes.ravel() for codes in np.indices((3, 4)))
        return worker, item, rng.integers(0, 2, 12)
    n_workers, n_items = rng.integers(2, 6, 2)
    n = int(rng.integers(10, 40))
    return rng.integers(0, n_workers, n), rng.integers(0, n_items, n), rng.integers(0, 2, n)


def rescaled(table: SimpleNamespace, low: float, high: float) -> SimpleNamespace:
    """The same ratings where the scale from `low` to `high` is declared, on [0, 1]."""
    return SimpleNamespace(**{**vars(table), "rating": (table.rating - low) / (high - low)})


def write_table(path, table) -> None:
    """As a file with the columns that every command reads."""
    rows = zip(table.worker, table.item, table.system, table.rating, strict=True)
    lines = [f"w{w},i{i},{'AB'[s]},{y}" for w, i, s, y in rows]
    path.write_text("\n".join(["worker,item,system,rating", *lines]) + "\n")

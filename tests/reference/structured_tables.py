"""Tables of ratings with documents and covariates: nested and crossed, balanced and not, large in every factor."""

import itertools
from typing import NamedTuple

import numpy as np
import pandas as pd

from humeval_power.ratings import Ratings, ratings_from_table


class Shape(NamedTuple):
    """A table: its sizes, whether an item lies in one document, the share of rows that is kept, and the SDs of
    workers', items' and documents' intercepts and slopes."""

    n_workers: int
    n_items: int
    n_documents: int
    nested: bool
    kept: float
    sd: tuple[float, ...] = (0.1, 0.08, 0.1, 0.08, 0.1, 0.12)


SHAPES = {
    "nested unbalanced": Shape(6, 20, 5, True, 0.6),
    "singular": Shape(5, 16, 4, True, 0.7, (0.1, 0.0, 0.1, 0.0, 0.0, 0.0)),
    "crossed unbalanced": Shape(6, 12, 5, False, 0.7),
    "more workers than items": Shape(16, 8, 4, True, 0.6),
    "more documents than items": Shape(6, 5, 14, False, 0.7),
    "nested complete": Shape(5, 18, 6, True, 1.0),
}


def table(shape: Shape, seed: int = 1) -> pd.DataFrame:
    """Rows with text ids, a length, a position and a group of workers that all have effects."""
    rng = np.random.default_rng(seed)
    cells = itertools.product(range(shape.n_workers), range(shape.n_items), range(2))
    worker, item, system = np.array(list(cells)).T
    document = item * shape.n_documents // shape.n_items
    if not shape.nested:
        document = (item + 3 * worker + rng.integers(0, 3, len(item))) % shape.n_documents
    keep = np.flatnonzero(rng.random(len(worker)) < shape.kept)
    x = system - 0.5
    effects = [
        (
            codes,
            rng.normal(0, shape.sd[place], codes.max() + 1),
            rng.normal(0, shape.sd[place + 1], codes.max() + 1),
        )
        for codes, place in ((worker, 0), (item, 2), (document, 4))
    ]
    length = rng.normal(20, 5, shape.n_items)[item] + rng.normal(2, 2, len(x)) * system
    position = rng.permuted(np.tile(np.arange(1, 41), -(-len(x) // 40)))[: len(x)]
    group = worker % 3
    rating = 0.5 + 0.05 * x + 0.005 * (length - 20) - 0.001 * position + 0.03 * (group == 1)
    rating = rating + sum(a[codes] + b[codes] * x for codes, a, b in effects) + rng.normal(0, 0.15, len(x))
    frame = pd.DataFrame(
        {
            "worker": [f"w{code:03d}" for code in worker],
            "item": [f"i{code:03d}" for code in item],
            "text": [f"d{code:03d}" for code in document],
            "system": np.where(system == 1, "B", "A"),
            "rating": rating,
            "length": length,
            "position": position,
            "group": np.array(["crowd", "expert", "lay"])[group],
        }
    )
    return frame.iloc[keep].reset_index(drop=True)


def ratings(
    shape: Shape, seed: int = 1, *, covariates: tuple[str, ...] = (), document: bool = True
) -> Ratings:
    """The table as ratings on the scale 0 to 1, so that nothing is rescaled."""
    from humeval_power.scales import RatingScale

    return ratings_from_table(
        table(shape, seed).assign(rating=lambda rows: rows["rating"].clip(-9, 10)),
        systems=("A", "B"),
        scale=RatingScale(-9.0, 10.0),
        document="text" if document else None,
        covariates=covariates,
    )


def design_matrices(rated: Ratings) -> tuple[np.ndarray, list[np.ndarray]]:
    """X (n, p) and Z of each component, from the ids themselves."""
    x = rated.system - 0.5
    factors = [rated.worker, rated.item, *([] if rated.document is None else [rated.document])]
    blocks = [(codes[:, None] == np.unique(codes)).astype(float) for codes in factors]
    X = np.column_stack([np.ones_like(x), x, rated.covariate_columns])
    return X, [z for block in blocks for z in (block, x[:, None] * block)]

"""Parts of a table that no rating connects, against SciPy's connected components."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from humeval_power.checking.structure import connected_parts


@pytest.mark.parametrize("n_ratings", [1, 5, 20, 60, 200])
def test_the_parts_are_the_connected_components_of_the_graph_numbered_alike(n_ratings: int) -> None:
    for seed in range(100):
        rng = np.random.default_rng((n_ratings, seed))
        n_workers, n_items = rng.integers(1, 40, 2)
        worker, item = rng.integers(0, n_workers, n_ratings), rng.integers(0, n_items, n_ratings)
        size = n_workers + n_items
        graph = coo_array((np.ones(n_ratings), (worker, n_workers + item)), shape=(size, size))
        expected, part_of = connected_components(graph, directed=False)
        n_parts, found = connected_parts(worker, item, n_workers=n_workers, n_items=n_items)
        assert n_parts == expected
        assert found.tolist() == part_of.tolist()


def test_a_long_chain_is_one_part() -> None:
    # worker i rated items i and i + 1: the far ends meet only through everybody between them
    n = 20_000
    worker = np.repeat(np.arange(n), 2)
    item = np.random.default_rng(1).permutation(n + 1)[
        np.stack([np.arange(n), np.arange(1, n + 1)], axis=1)
    ]
    assert connected_parts(worker, item.ravel(), n_workers=n, n_items=n + 1)[0] == 1

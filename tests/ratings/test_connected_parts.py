"""The parts of a table that ratings connect are those of a search through its graph."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from humeval_power.checking.structure import connected_parts
from humeval_power.studies.fit import who_rated_what


def expected(worker: np.ndarray, item: np.ndarray, n_workers: int, n_items: int) -> tuple[int, list[int]]:
    size = n_workers + n_items
    edges = coo_array((np.ones(len(worker)), (worker, n_workers + item)), shape=(size, size))
    n_parts, label = connected_components(edges, directed=False)
    return n_parts, label.tolist()


def test_parts_of_sparse_tables_are_those_of_a_search() -> None:
    rng = np.random.default_rng(0)
    for _ in range(300):
        n_workers, n_items, n = (int(one) for one in rng.integers(1, 25, 3))
        worker, item = rng.integers(n_workers, size=n), rng.integers(n_items, size=n)
        n_parts, part = connected_parts(worker, item, n_workers=n_workers, n_items=n_items)
        assert (n_parts, part.tolist()) == expected(worker, item, n_workers, n_items)


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_long_chain_of_workers_and_items_is_one_part(shuffled: bool) -> None:
    n = 20_000
    worker, item = np.repeat(np.arange(n), 2)[:-1], np.repeat(np.arange(n), 2)[1:]
    if shuffled:
        rng = np.random.default_rng(1)
        worker, item = rng.permutation(n)[worker], rng.permutation(n)[item]
    n_parts, part = connected_parts(worker, item, n_workers=n, n_items=n)
    assert (n_parts, set(part.tolist())) == (1, {0})


def test_items_shared_by_pairs_are_the_same_in_a_dense_and_in_a_sparse_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(2)
    cells = np.unique(rng.integers(40 * 90, size=700))
    found = []
    for largest in (10**6, 0):
        monkeypatch.setattr(who_rated_what, "_DENSE_UP_TO", largest)
        found.append(who_rated_what._items_shared(cells // 90, cells % 90, 40, 90))
    assert found[0] == found[1]
    assert found[0] is not None
    assert found[0].maximum > found[0].minimum

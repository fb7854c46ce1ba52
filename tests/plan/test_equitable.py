"""Deals that are even on both sides, for any bipartite graph with parallel edges."""

import time

import numpy as np
from cases import examples, few_fast
from hypothesis import example, given
from hypothesis import strategies as st

from humeval_power.designs import equitable_colours, k_per_item, with_documents

GRAPHS = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 8)), max_size=80)


def uneven(ends, colour, n_colours):
    """The largest difference between the counts of two colours at one vertex, counted edge by edge."""
    seen = {}
    for end, one in zip(ends, colour.tolist(), strict=True):
        seen.setdefault(end, [0] * n_colours)[one] += 1
    return max((max(counts) - min(counts) for counts in seen.values()), default=0)


@given(GRAPHS, st.integers(1, 21), st.integers(0, 2**32))
@example([(0, 0)] * 40, 7, 0)
@example([(0, item) for item in range(30)], 19, 1)
@example([(worker, item) for worker in range(3) for item in range(3)], 3, 2)
def test_colours_are_even_at_both_ends_and_among_parallel_edges(edges, n_colours, seed):
    left, right = (np.array([edge[end] for edge in edges], dtype=np.int64) for end in (0, 1))
    colour = equitable_colours((left,), (right,), n_colours, np.random.default_rng(seed))
    assert colour.shape == (len(edges),)
    assert set(colour.tolist()) <= set(range(n_colours))
    for ends in (left.tolist(), right.tolist(), edges):
        assert uneven(ends, colour, n_colours) <= 1
    again = equitable_colours((left,), (right,), n_colours, np.random.default_rng(seed))
    np.testing.assert_array_equal(again, colour)


def test_every_solution_of_a_small_square_comes_about_equally_often():
    """Two by two in two colours has two solutions: neither is favoured (1,000 draws, 5 standard errors)."""
    left, right = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    rng = np.random.default_rng(3)
    draws = np.array([equitable_colours((left,), (right,), 2, rng)[0] for _ in range(1000)])
    assert abs(draws.mean() - 0.5) < 5 * 0.5 / np.sqrt(1000)


@few_fast("n_systems", [3, 7, 8, 20], fast=1)
@examples(25)
@given(data=st.data())
def test_unpaired_designs_are_as_even_as_the_numbers_allow(n_systems, data):
    workers, items = data.draw(st.integers(2, 25)), data.draw(st.integers(2, 20))
    k = data.draw(st.integers(1, workers))
    seed = data.draw(st.integers(0, 9))
    design = k_per_item(workers, items, ratings_per_item=k, paired=False, n_systems=n_systems, seed=seed)
    rows = design.assignment
    of = np.zeros((workers, items, n_systems), dtype=int)
    np.add.at(of, (rows.worker, rows.item, rows.system), 1)
    assert of.max() == 1  # nobody rates an output twice
    assert (of.sum(axis=0) == k).all()  # every output has its ratings
    assert np.ptp(of.sum(axis=2)) <= 1  # an item is seen once where that goes, else about equally often
    assert np.ptp(of.sum(axis=1)) <= 1  # of any two workers and systems the counts differ by one at most
    assert np.ptp(of.sum(axis=(1, 2))) <= 1  # and so do the loads


def test_unpaired_documents_that_stay_together_go_to_a_worker_as_a_whole():
    plain = k_per_item(12, 24, ratings_per_item=2, paired=False, n_systems=4)
    rows = with_documents(plain, 6, together=True).assignment
    seen = {}
    for worker, document, item in zip(rows.worker, rows.document, rows.item, strict=True):
        seen.setdefault((worker, document), []).append(item)
    assert all(len(items) == len(set(items)) == 4 for items in seen.values())
    counts = np.zeros((12, 4), dtype=int)
    np.add.at(counts, (rows.worker, rows.system), 1)
    assert np.ptp(counts, axis=1).max() <= 1


@few_fast("n_systems", [7, 8])
def test_a_thousand_workers_are_dealt_in_seconds(n_systems):
    began = time.perf_counter()
    design = k_per_item(1000, 2000, ratings_per_item=3, paired=False, n_systems=n_systems)
    assert len(design.assignment.worker) == 6000 * n_systems
    assert time.perf_counter() - began < 10

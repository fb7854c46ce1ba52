"""Designs give each worker, item and system the ratings that they promise."""

import re

import numpy as np
import pytest
from cases import each_case
from hypothesis import given
from hypothesis import strategies as st

from humeval_power.choices import DESIGN_KINDS
from humeval_power.designs import (
    both_nested,
    counterbalanced,
    crossed,
    from_table,
    items_nested,
    k_per_item,
    workers_nested,
)
from humeval_power.errors import DesignError

SEEDS = st.integers(0, 2**16)


@st.composite
def assigned(draw, *, paired):
    """Workers, items, k and a seed of a study that can be built."""
    needed_per_rating = 1 if paired else 2
    m = draw(st.integers(2, 14))
    k = draw(st.integers(1, m // needed_per_rating))
    return m, draw(st.integers(2, 40)), k, draw(SEEDS)


def workers_by_output(design):
    """The workers of every (item, system), as a dictionary of lists."""
    rows = design.assignment
    outputs = {(i, s): [] for i in range(design.n_items) for s in (0, 1)}
    for worker, item, system in zip(rows.worker, rows.item, rows.system, strict=True):
        outputs[item, system].append(worker)
    return outputs


def loads_by_system(design):
    rows = design.assignment
    return np.array(
        [np.bincount(rows.worker[rows.system == s], minlength=design.n_workers) for s in (0, 1)]
    )


@given(assigned(paired=True))
def test_paired_items_get_k_distinct_workers_who_see_both_systems(size):
    m, n, k, seed = size
    design = k_per_item(m, n, ratings_per_item=k, seed=seed)
    outputs = workers_by_output(design)
    for item in range(n):
        group = sorted(outputs[item, 0])
        assert len(group) == k
        assert len(set(group)) == k
        assert sorted(outputs[item, 1]) == group
    assert design.n_ratings == len(design.assignment.worker) == 2 * n * k


@given(assigned(paired=True))
def test_paired_loads_differ_by_at_most_one_item(size):
    m, n, k, seed = size
    loads = k_per_item(m, n, ratings_per_item=k, seed=seed).worker_loads
    assert loads.sum() == 2 * n * k
    assert loads.max() - loads.min() <= 2  # an item is two ratings


@given(assigned(paired=False))
def test_split_items_get_k_workers_for_each_system_and_no_worker_sees_both(size):
    m, n, k, seed = size
    design = k_per_item(m, n, ratings_per_item=k, paired=False, seed=seed)
    outputs = workers_by_output(design)
    for item in range(n):
        assert len(outputs[item, 0]) == len(outputs[item, 1]) == k
        assert len(set(outputs[item, 0] + outputs[item, 1])) == 2 * k


@given(assigned(paired=False))
def test_split_loads_differ_by_at_most_one_rating(size):
    m, n, k, seed = size
    loads = k_per_item(m, n, ratings_per_item=k, paired=False, seed=seed).worker_loads
    assert loads.max() - loads.min() <= 1


@given(assigned(paired=False))
def test_split_workers_see_the_two_systems_about_equally_often(size):
    m, n, k, seed = size
    of_a, of_b = loads_by_system(k_per_item(m, n, ratings_per_item=k, paired=False, seed=seed))
    # Whoever has seen more of A sees B next: a surplus of 1 is the rule, 2 an unlucky group, and none is larger.
    assert np.abs(of_a - of_b).max() <= 2


@given(st.integers(2, 9), st.integers(2, 12), st.integers(1, 3))
def test_crossed_designs_hold_every_cell_equally_often(m, n, repeats):
    design = crossed(m, n, n_repeats=repeats)
    rows = design.assignment
    cells, counts = np.unique(
        np.column_stack([rows.worker, rows.item, rows.system]), axis=0, return_counts=True
    )
    assert len(cells) == 2 * m * n
    assert set(counts) == {repeats}
    assert design.n_ratings == len(rows.worker)
    assert design.is_crossed
    assert set(design.worker_loads) == {2 * n * repeats}


@given(st.integers(4, 11), st.integers(4, 15))
def test_workers_nested_show_one_system_to_each_half_of_the_workers(m, n):
    design = workers_nested(m, n)
    of_a, of_b = loads_by_system(design)
    assert sorted(zip(of_a, of_b, strict=True)) == sorted([(n, 0)] * -(-m // 2) + [(0, n)] * (m // 2))
    assert design.n_ratings == m * n


@given(st.integers(2, 11), st.integers(4, 15))
def test_items_nested_show_each_item_under_one_system_to_every_worker(m, n):
    outputs = workers_by_output(items_nested(m, n))
    for item in range(n):
        seen = [outputs[item, 0], outputs[item, 1]]
        assert sorted(map(len, seen)) == [0, m]
    assert sum(len(outputs[item, 0]) > 0 for item in range(n)) == -(-n // 2)


@given(st.integers(4, 11), st.integers(4, 15))
def test_both_nested_splits_the_study_into_two_separate_halves(m, n):
    rows = both_nested(m, n).assignment
    for codes, count in ((rows.worker, m), (rows.item, n)):
        systems = [set(rows.system[codes == code]) for code in range(count)]
        assert all(len(seen) == 1 for seen in systems)
        assert sum(seen == {0} for seen in systems) == -(-count // 2)
    assert len(rows.worker) == -(-m // 2) * -(-n // 2) + (m // 2) * (n // 2)


@given(st.integers(4, 11), st.integers(4, 15))
def test_counterbalanced_workers_see_each_item_once_and_halves_swap_systems(m, n):
    rows = counterbalanced(m, n).assignment
    system = np.full((m, n), -1)
    system[rows.worker, rows.item] = rows.system
    assert len(rows.worker) == m * n
    assert (system >= 0).all()
    assert len(np.unique(system, axis=0)) == 2
    assert ((system == system[0]).all(axis=1) | (system == 1 - system[0]).all(axis=1)).all()
    for axis in (0, 1):
        under_b = system.sum(axis=axis)
        assert np.abs(2 * under_b - system.shape[axis]).max() <= 1


def test_every_kind_that_a_size_describes_is_listed():
    assert set(DESIGN_KINDS) == {
        "crossed",
        "k-per-item",
        "split",
        "workers-nested",
        "items-nested",
        "both-nested",
        "counterbalanced",
    }


def test_k_of_all_workers_is_the_crossed_design():
    design = k_per_item(5, 8, ratings_per_item=5)
    assert design.is_crossed
    assert design.n_ratings == 80


def test_the_seed_alone_decides_who_meets_whom():
    first, again, other = (k_per_item(9, 30, ratings_per_item=3, seed=seed) for seed in (4, 4, 5))
    assert np.array_equal(first.assignment.worker, again.assignment.worker)
    assert not np.array_equal(first.assignment.worker, other.assignment.worker)


def test_random_groups_mix_the_workers():
    # Every pair of 6 workers should meet somewhere in 100 items of 2 workers.
    design = k_per_item(6, 100, ratings_per_item=2, seed=1)
    pairs = {tuple(sorted(group)) for (_, s), group in workers_by_output(design).items() if s == 0}
    assert len(pairs) == 15


@each_case(
    ("build", "text"),
    [
        (lambda: crossed(1, 10), "n_workers must be a whole number of at least 2"),
        (lambda: crossed(10, 1), "n_items must be a whole number of at least 2"),
        (lambda: crossed(2.5, 10), "n_workers must be a whole number of at least 2"),
        (lambda: crossed(3, 10, n_repeats=0), "n_repeats must be a whole number of at least 1; got 0"),
        (lambda: k_per_item(3, 10, ratings_per_item=0), "ratings_per_item must be a whole number"),
        (lambda: k_per_item(3, 10, ratings_per_item=4), "need 4 different workers; there are 3"),
        (lambda: k_per_item(5, 10, ratings_per_item=3, paired=False), "need 6 different workers (unpaired"),
        (lambda: workers_nested(3, 10), "n_workers must be a whole number of at least 4; got 3"),
        (lambda: items_nested(5, 3), "n_items must be a whole number of at least 4; got 3"),
        (lambda: both_nested(3, 10), "n_workers must be a whole number of at least 4; got 3"),
        (lambda: counterbalanced(6, 2), "n_items must be a whole number of at least 4; got 2"),
        (
            lambda: k_per_item(5, 10, ratings_per_item=2, max_ratings_per_worker=7),
            "give a worker 8 ratings, above the limit of 7 (max_ratings_per_worker). 7 workers would do",
        ),
        (
            lambda: k_per_item(6, 10, ratings_per_item=2, paired=False, max_ratings_per_worker=6),
            "give a worker 7 ratings, above the limit of 6 (max_ratings_per_worker). 7 workers would do",
        ),
    ],
)
def test_a_design_that_cannot_be_built_says_why_and_what_would_do(build, text):
    with pytest.raises(DesignError, match=re.escape(text)):
        build()


@given(st.integers(2, 12), st.integers(2, 30), st.integers(1, 3), st.booleans(), st.integers(1, 40))
def test_a_cap_holds_or_the_number_of_workers_that_the_refusal_names_keeps_it(m, n, k, paired, cap):
    needed = k if paired else 2 * k
    if needed > m:
        return
    try:
        design = k_per_item(m, n, ratings_per_item=k, paired=paired, max_ratings_per_worker=cap)
    except DesignError as error:
        named = re.search(r"(\d+) workers would do", str(error))
        if named is None:
            assert paired
            assert cap == 1  # who rates an item under both systems gives two ratings
            return
        enough = int(named.group(1))
        assert enough > m
        design = k_per_item(enough, n, ratings_per_item=k, paired=paired, max_ratings_per_worker=cap)
    assert design.worker_loads.max() <= cap


def test_roundings_are_stated():
    assert k_per_item(4, 6, ratings_per_item=2).notes == ()
    assert k_per_item(5, 6, ratings_per_item=2).notes == (
        "6 items for 2 workers each do not divide by 5 workers: 2 workers get 3 items, 3 get 2.",
    )
    assert k_per_item(5, 6, ratings_per_item=1, paired=False).notes == (
        "12 ratings do not divide by 5 workers: 2 workers get 3 ratings, 3 get 2.",
    )
    assert both_nested(5, 7).notes == (
        "5 workers do not halve: 3 in one group, 2 in the other.",
        "7 items do not halve: 4 in one group, 3 in the other.",
    )
    assert counterbalanced(6, 8).notes == ()


@given(assigned(paired=True))
def test_the_stated_rounding_is_what_happens(size):
    m, n, k, seed = size
    design = k_per_item(m, n, ratings_per_item=k, seed=seed)
    items = design.worker_loads // 2
    if not design.notes:
        assert len(set(items)) == 1
        return
    *_, more, high, fewer, low = map(int, re.findall(r"\d+", design.notes[0]))
    assert (items == high).sum() == more
    assert (items == low).sum() == fewer


@given(st.integers(2, 6), st.integers(2, 8), st.integers(1, 3), SEEDS)
def test_a_complete_table_is_recognised_as_crossed_in_any_order(m, n, repeats, seed):
    rows = crossed(m, n, n_repeats=repeats).assignment
    order = np.random.default_rng(seed).permutation(len(rows.worker))
    design = from_table(rows.worker[order], rows.item[order], rows.system[order])
    assert (design.kind, design.n_workers, design.n_items, design.n_repeats) == ("crossed", m, n, repeats)


def test_a_table_that_misses_one_rating_is_not_crossed():
    rows = crossed(3, 4).assignment
    design = from_table(rows.worker[1:], rows.item[1:], rows.system[1:])
    assert design.kind == "table"
    assert design.n_ratings == 23
    assert design.ratings_per_item == pytest.approx(23 / 8)


def test_a_table_keeps_its_rows():
    built = k_per_item(5, 9, ratings_per_item=2, seed=3)
    rows = built.assignment
    design = from_table(rows.worker.tolist(), rows.item.tolist(), rows.system.tolist())
    assert np.array_equal(design.assignment.worker, rows.worker)
    assert np.array_equal(design.worker_loads, built.worker_loads)
    assert design.ratings_per_item == 2


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        (([0, 1], [0, 1, 1], [0, 1]), "columns of equal length"),
        (([], [], []), "not empty"),
        (([0, 0], [0, 1], [0, 1]), "n_workers must be a whole number of at least 2"),
        (([0, 1], [0, 0], [0, 1]), "n_items must be a whole number of at least 2"),
    ],
)
def test_a_table_that_is_no_design_is_refused(columns, text):
    with pytest.raises(DesignError, match=text):
        from_table(*columns)


@pytest.mark.parametrize("system", [[0, 1, 2, 0], [0, -1, 1, 0], [0, 0, 0, 0]])
def test_a_table_of_other_than_the_two_systems_is_refused(system):
    with pytest.raises(DesignError):
        from_table([0, 0, 1, 1], [0, 1, 0, 1], system)


def test_a_design_says_its_size_in_words():
    assert str(k_per_item(10, 50, ratings_per_item=3)) == (
        "10 workers x 50 items x 2 systems, 3 ratings per item and system, 300 ratings"
    )

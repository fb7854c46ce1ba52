"""Precision of regular designs by counts alone, against the exact algebra of their assignments."""

from dataclasses import replace

import numpy as np
import pytest
from cases import each_case, examples
from hypothesis import given
from hypothesis import strategies as st
from reference.golden import shared_golden
from seven import seven

from humeval_power.designs import crossed, from_table, k_per_item
from humeval_power.parameters import Parameters
from humeval_power.studies.power.formula import effect_precision
from humeval_power.studies.power.required import (
    RegularPrecision,
    Variances,
    counts_precision,
    regular_precision,
)
from humeval_power.study_counts import StudyCounts

SD = st.floats(0.01, 0.6)
SETTINGS = {
    "strong slopes": seven(0.5, 0.1, 0.05, 0.22, 0.05, 0.28, 0.26),
    "Likert pilot": seven(0.5, 0.1, 0.07, 0.05, 0.13, 0.15, 0.18),
    "slider pilot": seven(0.5, 0.1, 0.10, 0.04, 0.12, 0.08, 0.14),
    "workers agree": seven(0.5, 0.1, 0.05, 0.0, 0.05, 0.28, 0.26),
    "items agree": seven(0.5, 0.1, 0.05, 0.2, 0.05, 0.0, 0.26),
}
# (workers, items, ratings per item) whose n k / m is whole: every worker has the same load
EVEN = [
    (4, 8, 2),
    (6, 12, 2),
    (6, 30, 3),
    (8, 24, 7),
    (10, 20, 3),
    (10, 60, 3),
    (12, 96, 6),
    (20, 40, 4),
    (20, 100, 5),
    (30, 30, 3),
    (40, 20, 4),
]
# (workers, items, ratings per item) of split designs in which every worker sees as much of A as of B
SPLIT = [(6, 12, 1), (6, 12, 2), (10, 60, 1), (10, 60, 3), (12, 96, 4), (20, 40, 4), (30, 30, 3)]


@st.composite
def parameters(draw):
    return seven(0.5, 0.1, *(draw(SD) for _ in range(5)))


def by_counts(given_parameters, m, n, k, *, paired=True) -> RegularPrecision:
    return regular_precision(given_parameters, workers=m, items=n, ratings_per_item=k, paired=paired)


def evenly_split(m, n, k):
    """Item i under A by workers i, ..., i + k - 1 and under B by the next k (modulo m)."""
    rows = [
        ((item + place) % m, item, system)
        for item in range(n)
        for system in (0, 1)
        for place in range(system * k, (system + 1) * k)
    ]
    return from_table(*zip(*rows, strict=True))


@each_case("name", SETTINGS)
@each_case(("m", "n", "k"), EVEN)
def test_paired_designs_with_equal_loads_have_the_exact_variance_and_nearly_the_exact_df(name, m, n, k):
    exact = effect_precision(SETTINGS[name], k_per_item(m, n, ratings_per_item=k))
    found = by_counts(SETTINGS[name], m, n, k)
    assert float(found.variance) == pytest.approx(exact.variance, rel=1e-9)
    # 2 %: equal singular values stand in for those of the assignment (the methods notes 2.3: about 1 %)
    assert float(found.df) == pytest.approx(exact.df, rel=0.02)


@examples(60)
@given(parameters(), st.integers(2, 30), st.integers(2, 80))
def test_every_worker_on_every_item_is_exact(given_parameters, m, n):
    exact = effect_precision(given_parameters, crossed(m, n))
    found = by_counts(given_parameters, m, n, m)
    assert float(found.variance) == pytest.approx(exact.variance, rel=1e-9)
    assert float(found.df) == pytest.approx(exact.df, rel=1e-6)


@examples(30)
@given(parameters(), st.integers(2, 12), st.integers(2, 6))
def test_one_rating_per_item_is_exact(given_parameters, m, load):
    exact = effect_precision(given_parameters, k_per_item(m, m * load, ratings_per_item=1))
    found = by_counts(given_parameters, m, m * load, 1)
    assert float(found.variance) == pytest.approx(exact.variance, rel=1e-9)
    assert float(found.df) == pytest.approx(exact.df, rel=1e-5)
    assert float(found.df) == pytest.approx(m - 1, rel=1e-5)  # the methods notes 2.3: df = m - 1


def golden_parameters(values) -> Parameters:
    names = ("W02", "tw2", "I02", "ti2", "s2")
    return seven(0.5, 0.1, *(values[name] ** 0.5 for name in names))


def test_goldens_of_equal_singular_values(shared):
    golden = shared_golden(shared, "18_incomplete_df")
    given_parameters = golden_parameters(golden["meta"]["params"])
    for row in golden["df"]:
        found = by_counts(given_parameters, row["m"], row["n"], row["k"])
        assert float(found.variance) == pytest.approx(row["var"], rel=1e-12)
        assert float(found.df) == pytest.approx(row["df_bibd_approx"], rel=1e-6)
    # the methods notes 2.3 prints this one: 10 x 20 with three ratings per item, exact (cyclic) 14.50791
    assert float(by_counts(given_parameters, 10, 20, 3).df) == pytest.approx(14.528, abs=5e-4)


@pytest.mark.parametrize("paired", [True, False])
def test_many_designs_at_once_are_the_same_as_one_by_one(paired):
    m, n, k = (np.array(column) for column in zip(*SPLIT, strict=True))
    together = by_counts(SETTINGS["Likert pilot"], m, n, k, paired=paired)
    alone = [by_counts(SETTINGS["Likert pilot"], *size, paired=paired) for size in SPLIT]
    np.testing.assert_allclose(together.variance, [float(one.variance) for one in alone], rtol=1e-12)
    np.testing.assert_allclose(together.df, [float(one.df) for one in alone], rtol=1e-10)


def test_many_sets_of_variances_at_once_are_the_same_as_one_by_one():
    every = [Variances.of(p) for p in SETTINGS.values()]
    columns = Variances(*(np.array(column) for column in zip(*every, strict=True)))
    together = by_counts(columns, 10, 20, 3)
    alone = [by_counts(one, 10, 20, 3) for one in every]
    np.testing.assert_allclose(together.variance, [float(one.variance) for one in alone], rtol=1e-12)
    np.testing.assert_allclose(together.df, [float(one.df) for one in alone], rtol=1e-10)


def test_the_coding_of_the_parameters_does_not_matter():
    plain = SETTINGS["Likert pilot"]
    found = by_counts(plain.recoded((-1.0, 1.0)), 10, 20, 3)
    assert float(found.variance) == pytest.approx(float(by_counts(plain, 10, 20, 3).variance), rel=1e-12)


@each_case("name", SETTINGS)
@each_case(("m", "n", "k"), SPLIT)
def test_unpaired_designs_with_equal_loads_have_the_exact_variance(name, m, n, k):
    shared_noise = replace(SETTINGS[name], sd_worker_item=0.1)  # the one thing that pairing takes away
    exact = effect_precision(shared_noise, evenly_split(m, n, k))
    assert float(by_counts(shared_noise, m, n, k, paired=False).variance) == pytest.approx(
        exact.variance, rel=1e-9
    )
    assert float(by_counts(shared_noise, m, n, k).variance) == pytest.approx(
        exact.variance - 2 * 0.1**2 / (n * k), rel=1e-9
    )


@each_case("name", SETTINGS)
@each_case(("m", "n", "k"), SPLIT)
def test_the_ranking_df_of_unpaired_designs_is_within_its_documented_range(name, m, n, k):
    exact = effect_precision(SETTINGS[name], evenly_split(m, n, k))
    # regular_precision: at most four times too large; measured here: 0.74 to 2.56 times
    assert 0.7 <= float(by_counts(SETTINGS[name], m, n, k, paired=False).df) / exact.df <= 4


@each_case("name", SETTINGS)
def test_powers_that_are_reported_for_unpaired_designs_use_the_exact_df(name):
    for m, n, k in ((6, 12, 1), (10, 20, 2)):
        exact = effect_precision(SETTINGS[name], k_per_item(m, n, ratings_per_item=k, paired=False))
        assert counts_precision(SETTINGS[name], StudyCounts(m, n, k, paired=False)) == exact

"""Draws of items: allocation, probabilities, balance, and what they win by formula."""

import numpy as np
import pytest
from cases import few_fast

import humeval_power as hp
from humeval_power.checking.outputs import ScoredOutputs
from humeval_power.errors import InputError
from humeval_power.inference.item_sampling import (
    allocate,
    balancing_columns,
    draw_balanced,
    draw_from_strata,
    explained_by_strata,
    items_of_equal_power,
    precision,
    strata_of,
)

# SDs of the true differences of workers and of items, and of a rating: Card et al. 2020, METHODS 22.
SETTINGS = {
    "high1": (0.22, 0.28, 0.26),
    "high5": (0.11, 0.14, 0.26),
    "low1": (0.08, 0.26, 0.16),
    "low5": (0.04, 0.13, 0.16),
}


def scored(scores, texts=None, systems=None):
    size, k = scores.shape
    names = tuple(f"i{place}" for place in range(size))
    return ScoredOutputs(names, systems or tuple("ABCDE"[:k]), scores, texts, "outputs.csv", "chrf")


def test_allocation_has_the_values_of_an_independent_computation():
    spread = np.array([0.1, 0.2, 0.3, 0.6])
    assert allocate(np.array([400, 300, 200, 100]), 60, spread=spread).tolist() == [11, 17, 16, 16]
    spread = np.array([0.1, 0.1, 1.0, 3.0])
    assert allocate(np.array([50, 40, 8, 2]), 30, spread=spread).tolist() == [11, 9, 8, 2]


def test_allocation_adds_up_and_keeps_floor_and_cap():
    rng = np.random.default_rng(1)
    for _ in range(80):
        sizes = rng.integers(2, 60, rng.integers(1, 6))
        n = int(rng.integers(2 * len(sizes), sizes.sum() + 1))
        counts = allocate(sizes, n)
        assert counts.sum() == n
        assert (counts <= sizes).all()
        assert (counts >= 2).all()


def test_items_for_the_same_power_are_those_of_an_independent_computation():
    # (correlation, setting, workers, ratings of an item): items instead of 100 at random, pool 1,000, METHODS 23.3
    published = {
        (0.3, "high1", 10, 1): 98.0, (0.3, "high1", 10, 3): 95.9, (0.3, "low1", 10, 3): 93.9,
        (0.5, "high5", 10, 1): 98.4, (0.5, "high5", 10, 3): 95.6, (0.5, "low1", 20, 3): 82.3,
        (0.7, "high1", 10, 3): 77.5, (0.7, "high5", 10, 3): 91.4, (0.7, "low1", 10, 3): 66.2,
        (0.7, "low5", 10, 3): 82.2, (0.7, "low1", 20, 1): 76.5, (0.7, "low1", 20, 3): 64.7,
    }  # fmt: skip
    for (rho, setting, m, k), items in published.items():
        worker, item, residual = SETTINGS[setting]
        mine = items_of_equal_power(
            100, m, explained=rho**2, n_strata=2, ratings_per_item=k, sd_worker=worker, sd_item=item,
            sd_residual=residual, pool=1_000,
        )  # fmt: skip
        assert mine == pytest.approx(items, abs=0.4), (rho, setting, m, k)


def test_precision_of_a_complete_table_is_the_master_formula():
    variance, _ = precision(10, 50, ratings_per_item=3, sd_worker=0.2, sd_item=0.3, sd_residual=0.25)
    assert variance == pytest.approx(0.2**2 / 10 + 0.3**2 / 50 + 2 * 0.25**2 / 150)
    finite, _ = precision(
        10, 50, ratings_per_item=3, sd_worker=0.2, sd_item=0.3, sd_residual=0.25, pool=50, explained=0.4
    )
    assert finite == pytest.approx(0.2**2 / 10 + 2 * 0.25**2 / 150)  # a census has no item part


@pytest.mark.parametrize(("strata", "share"), [(2, 0.637), (3, 0.793), (5, 0.897)])
def test_strata_explain_what_normal_theory_says(strata, share):
    f = np.random.default_rng(3).normal(size=200_000)
    stratum = strata_of(f, 5 * strata, np.random.default_rng(1))
    assert stratum.max() + 1 == strata
    assert explained_by_strata(f, stratum) == pytest.approx(share, abs=0.005)


@few_fast("n_draws", [150, 1_500])
def test_every_item_is_as_likely_as_its_file_says(n_draws):
    f = np.random.default_rng(3).normal(size=43)
    count = np.zeros(43)
    for seed in range(n_draws):
        rng = np.random.default_rng(seed)
        stratum = np.argsort(np.argsort(f)) * 3 // 43
        places, probability = draw_from_strata(stratum, 15, rng)
        assert len(set(places.tolist())) == 15
        count[places] += 1
    error = np.sqrt(probability * (1 - probability) / n_draws)
    assert (np.abs(count / n_draws - probability) < 4.5 * error).all()


def test_every_beginning_of_the_list_is_nearly_proportional():
    stratum = np.repeat(np.arange(5), 40)
    places, _ = draw_from_strata(stratum, 50, np.random.default_rng(1))
    for length in (10, 20, 30, 40):
        count = np.bincount(stratum[places[:length]], minlength=5)
        assert np.ptp(count) <= 2


@few_fast("n_draws", [80, 500])
def test_a_balanced_draw_keeps_probabilities_and_means(n_draws):
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(60, 3))
    columns = balancing_columns(scores, 15)
    count, means = np.zeros(60), []
    for seed in range(n_draws):
        drawn = draw_balanced(columns, 15, np.random.default_rng(seed))
        assert len(set(drawn.tolist())) == 15
        count[drawn] += 1
        means.append(columns[drawn].mean(axis=0))
    error = np.sqrt(0.25 * 0.75 / n_draws)
    assert (np.abs(count / n_draws - 0.25) < 4.5 * error).all()
    simple = np.sqrt((1 - 0.25) / 15 * 60 / 59)  # of a mean over 15 drawn at random
    assert (np.std(means, axis=0) < 0.4 * simple).all()


def test_missing_scores_are_a_stratum_where_there_are_many_and_the_middle_where_few():
    f = np.arange(100.0)
    f[:40] = np.nan
    stratum = strata_of(f, 25, np.random.default_rng(1))
    assert len(set(stratum[:40])) == 1
    assert not set(stratum[:40]) & set(stratum[40:])
    f = np.arange(100.0)
    f[3] = np.nan
    assert strata_of(f, 25, np.random.default_rng(1))[3] == 2


def test_identical_outputs_are_left_out_and_counted():
    scores = np.random.default_rng(1).normal(size=(60, 2))
    texts = {(f"i{p}", s): "same" if p % 3 == 0 else f"{p}{s}" for p in range(60) for s in "AB"}
    result = hp.items.choose(scored(scores, texts), 20)
    assert result.pool.identical_share == pytest.approx(1 / 3)
    assert not any(int(name[1:]) % 3 == 0 for name in result.pool.chosen_items)
    assert "20 have identical outputs" in str(result).replace("\n", " ")
    with pytest.raises(InputError, match="Draw 40 at most"):
        hp.items.choose(scored(scores, texts), 41)


def test_the_same_seed_draws_the_same_items_and_another_draws_others():
    outputs = scored(np.random.default_rng(1).normal(size=(200, 2)))
    one, same, other = (hp.items.choose(outputs, 30, seed=seed).artefact(".csv") for seed in (4, 4, 5))
    assert one == same
    assert one != other


def test_several_systems_are_balanced_for_every_pair():
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(500, 4)) + rng.normal(size=(500, 1))
    pool = hp.items.choose(scored(scores), 50).pool
    assert np.ptp(pool.probability) == 0
    for a, b in ((0, 1), (0, 3), (2, 3)):
        f = pool.scores[:, b] - pool.scores[:, a]
        gap = abs(f[pool.chosen].mean() - f.mean()) / (f.std() / np.sqrt(50))
        assert gap < 0.35  # of a simple draw's standard error

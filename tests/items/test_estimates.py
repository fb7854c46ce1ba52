"""Estimates over a pool of items: closed forms, a dense model, all samples of a tiny pool, and other programs."""

import shutil
import subprocess
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from cases import few_fast
from places import TESTS
from pool_estimates import dense_mixed, stratified
from scipy import special

from humeval_power.errors import InputError
from humeval_power.inference.chosen_items import estimate_pool, weighted_estimate
from humeval_power.inference.item_sampling import draw_balanced
from humeval_power.item_pool import ItemPool

HERE = TESTS / "items"
# The table of METHODS 23.6, which was computed independently of this package: workers by items of three strata.
TABLE = np.array(
    [
        [-0.2, 0.9, 0.4, -0.3, 0.9, 1.1, 0.1, 0.2],
        [0.2, 0.6, 0.8, 0.1, 0.6, 0.8, 0.5, 0.6],
        [0.5, 0.9, 0.4, -0.3, 0.9, 1.1, 0.1, 0.9],
        [0.0, 0.4, 0.6, -0.1, 0.4, 1.3, 0.3, 0.4],
    ]
)
STRATUM = np.array([0, 0, 0, 1, 1, 2, 2, 2])
PREDICTED = np.array([0.1, 0.3, -0.2, -0.4, 0.0, 0.4, -0.1, 0.5])


def pool_of(stratum, sizes, *, scores=None, n_identical=0, probability=None):
    """A pool whose first items are those of `stratum`, all chosen; behind them the rest of each stratum."""
    stratum = np.asarray(stratum)
    n_h = np.bincount(stratum)
    behind = np.repeat(np.arange(len(sizes)), np.array(sizes) - n_h)
    codes = np.concatenate([stratum, behind, np.full(n_identical, -1)])
    size = len(codes)
    chosen = np.arange(size) < len(stratum)
    if probability is None:
        probability = np.where(codes >= 0, (n_h / np.array(sizes))[codes], 0.0)
    systems = ("A", "B")
    scores = np.empty((size, 0)) if scores is None else scores
    names = tuple(f"i{place}" for place in range(size))
    return ItemPool(names, systems, scores, codes, np.asarray(probability, float), chosen)


def long_table(differences, rng, spread=0.3):
    """Ratings of a complete table with these differences: worker, item, system, rating."""
    m, n = differences.shape
    level = rng.normal(0.5, spread, (m, n))
    worker, item, system = (
        one.ravel() for one in np.meshgrid(np.arange(m), np.arange(n), [0, 1], indexing="ij")
    )
    return worker, item, system, level[worker, item] + (system - 0.5) * differences[worker, item]


def estimated(pool, differences, seed=1, **how):
    names = pool.items[: differences.shape[1]]
    return estimate_pool(
        pool, ("A", "B"), *long_table(differences, np.random.default_rng(seed)), names, **how
    )


def test_the_closed_form_has_the_values_of_an_independent_computation():
    strata = stratified(TABLE, STRATUM, [0.5, 0.3, 0.2], [50, 30, 20])
    assert strata.estimate == pytest.approx(0.435, abs=1e-12)
    assert strata.pool == pytest.approx((0.024443093, 2.314069), rel=1e-6)
    assert strata.population == pytest.approx((0.026184187, 2.314372), rel=1e-6)
    simple = stratified(TABLE, 0 * STRATUM, [1.0], [100])
    assert (simple.estimate, *simple.pool) == pytest.approx((0.471875, 0.017163932, 6.954788), rel=1e-6)
    metric = stratified(TABLE, 0 * STRATUM, [1.0], [100], predicted=PREDICTED, predicted_mean=0.1)
    assert (metric.estimate, *metric.pool) == pytest.approx((0.4925, 0.011186927, 5.859372), rel=1e-6)


def test_the_estimate_of_unequal_strata_is_that_of_the_independent_computation():
    assert estimated(pool_of(STRATUM, [50, 30, 20]), TABLE).estimate == pytest.approx(0.435, abs=1e-9)


@pytest.mark.parametrize("strata", [1, 3])
def test_of_equal_strata_differences_give_the_closed_form(strata):
    rng = np.random.default_rng(3)
    stratum = np.repeat(np.arange(strata), 12 // strata)
    d = 0.2 + rng.normal(0, 0.3, 12) + 0.3 * stratum + rng.normal(0, 0.3, (5, 1))
    d = d + rng.normal(0, 0.3, (5, 12))
    mine = estimated(pool_of(stratum, [60 // strata] * strata), d, by_differences=True)
    other = stratified(d, stratum, [1 / strata] * strata, [60 // strata] * strata, pooled=True)
    assert mine.estimate == pytest.approx(other.estimate, abs=1e-9)
    assert (mine.pool_variance, mine.pool_df) == pytest.approx(other.pool, rel=1e-5)
    if strata == 1:  # beyond it the strata of items like these are drawn too
        got = (mine.population_variance, mine.population_df)
        assert got == pytest.approx(other.population, rel=1e-5)
    else:
        assert mine.population_variance > other.population[0]


@few_fast("holes", [True, False])
def test_ratings_give_what_dense_matrices_give(holes):
    rng = np.random.default_rng(5)
    stratum = np.repeat([0, 1, 2], 6)
    d = 0.1 + rng.normal(0, 0.3, 18) + 0.2 * stratum + rng.normal(0, 0.2, (6, 1))
    worker, item, system, rating = long_table(d + rng.normal(0, 0.3, (6, 18)), rng)
    rating = rating + rng.normal(0, 0.2, 18)[item] + rng.normal(0, 0.2, 6)[worker]
    if holes:
        kept = rng.random(len(rating)) < 0.7
        worker, item, system, rating = (one[kept] for one in (worker, item, system, rating))
    pool = pool_of(stratum, [30, 30, 30])
    mine = estimate_pool(pool, ("A", "B"), worker, item, system, rating, pool.items[:18])
    z = np.column_stack([(stratum == h) - 1 / 3 for h in (1, 2)])
    estimate, variance, df = dense_mixed(worker, item, system, rating, z, 1 / 90)
    assert mine.estimate == pytest.approx(estimate, abs=1e-5)
    # with holes Kenward and Roger's adjustment is added to the variance, which the dense form leaves out
    assert mine.pool_variance == pytest.approx(variance, rel=0.05 if holes else 1e-4)
    assert mine.pool_variance >= variance * (1 - 1e-4)
    assert mine.pool_df == pytest.approx(df, rel=1e-3)


def test_over_all_samples_of_a_tiny_pool_the_estimate_is_the_mean_of_the_pool():
    rng = np.random.default_rng(8)
    stratum = np.array([0, 0, 0, 0, 1, 1, 1])
    d = rng.normal(0.2, 0.4, 7) + rng.normal(0, 0.2, (4, 1)) + rng.normal(0, 0.2, (4, 7))
    estimates = []
    for first, second in product(combinations(range(4), 2), combinations(range(4, 7), 2)):
        drawn = np.array([*first, *second])
        pool = pool_of(stratum[drawn], [4, 3])
        estimates.append(estimated(pool, d[:, drawn], by_differences=True).estimate)
    assert len(estimates) == 18
    assert np.mean(estimates) == pytest.approx(d.mean(), abs=1e-9)


def test_identical_outputs_scale_the_estimate_and_all_of_its_error():
    rng = np.random.default_rng(2)
    d = rng.normal(0.3, 0.3, 10) + rng.normal(0, 0.2, (6, 1)) + rng.normal(0, 0.2, (6, 10))
    without = estimated(pool_of(np.zeros(10, int), [60]), d)
    beside = estimated(pool_of(np.zeros(10, int), [60], n_identical=40), d)
    assert beside.estimate == pytest.approx(0.6 * without.estimate)
    assert beside.pool_variance == pytest.approx(0.36 * without.pool_variance)
    assert beside.pool_df == pytest.approx(without.pool_df)
    more = 0.6 * 0.4 * without.estimate**2 / 100  # the share of identical outputs among items like these
    assert beside.population_variance == pytest.approx(0.36 * without.population_variance + more)


def test_a_census_leaves_workers_and_noise_and_their_df():
    rng = np.random.default_rng(4)
    m, n = 8, 30
    d = rng.normal(0.3, 0.4, n) + rng.normal(0, 0.3, (m, 1)) + rng.normal(0, 0.2, (m, n))
    all_of_them = estimated(pool_of(np.zeros(n, int), [n]), d, by_differences=True)
    by_workers = d.mean(axis=1).var(ddof=1) / m
    assert all_of_them.pool_variance == pytest.approx(by_workers, rel=1e-4)
    assert all_of_them.pool_df == pytest.approx(m - 1, rel=1e-3)
    assert all_of_them.population_variance > all_of_them.pool_variance


def test_picked_items_stand_for_themselves():
    rng = np.random.default_rng(4)
    d = rng.normal(0.3, 0.4, 30) + rng.normal(0, 0.3, (8, 1)) + rng.normal(0, 0.2, (8, 30))
    picked = pool_of(np.zeros(30, int), [900], probability=np.full(900, np.nan))
    census = pool_of(np.zeros(30, int), [30])
    mine, other = estimated(picked, d), estimated(census, d)
    assert (mine.estimate, mine.pool_variance, mine.pool_df) == pytest.approx(
        (other.estimate, other.pool_variance, other.pool_df)
    )


def test_of_one_worker_variance_alone_weights_give_the_usual_mean():
    d = np.random.default_rng(6).normal(0.2, 0.4, 40) + np.linspace(-0.2, 0.2, 5)[:, None]
    equal = weighted_estimate(d, np.full(40, 0.2))
    assert equal.estimate == pytest.approx(d.mean())
    assert equal.effective_items == pytest.approx(40)
    items = d.mean(axis=0).var(ddof=1) / 40
    workers = d.mean(axis=1).var(ddof=1) / 5
    assert equal.population_variance == pytest.approx(items + workers)
    assert equal.pool_variance == pytest.approx(0.8 * items + workers)


def test_over_all_poisson_samples_the_weighted_variance_is_about_that_of_the_estimate():
    rng = np.random.default_rng(1)
    size = 60
    d = rng.normal(0.2, 0.4, size)
    probability = rng.uniform(0.45, 0.95, size)
    estimates, variances = [], []
    for _ in range(2_000):
        drawn = rng.random(size) < probability
        one = weighted_estimate(np.tile(d[drawn], (3, 1)), probability[drawn])
        estimates.append(one.estimate)
        variances.append(one.pool_variance)
    assert np.mean(estimates) == pytest.approx(d.mean(), abs=4 * np.std(estimates) / np.sqrt(2_000) + 1e-3)
    assert np.mean(variances) == pytest.approx(np.var(estimates), rel=0.1)


def test_too_uneven_weights_and_tables_with_holes_are_refused():
    d = np.random.default_rng(1).normal(0, 1, (4, 30))
    with pytest.raises(InputError, match=r"items are worth .* an interval needs 25"):
        weighted_estimate(d, np.linspace(0.01, 1.0, 30))
    probability = np.where(np.arange(60) % 2, 0.4, 0.6)
    pool = pool_of(np.zeros(30, int), [60], probability=probability)
    worker, item, system, rating = (one[1:] for one in long_table(d, np.random.default_rng(1)))
    with pytest.raises(InputError, match="complete"):
        estimate_pool(pool, ("A", "B"), worker, item, system, rating, pool.items[:30])


def test_a_stratum_of_items_that_must_be_seen_counts_for_its_share_alone():
    rng = np.random.default_rng(14)
    stratum = np.repeat([0, 1], [6, 20])
    d = rng.normal(0.1, 0.3, 26) + 0.8 * (stratum == 0) + rng.normal(0, 0.2, (6, 1))
    d = d + rng.normal(0, 0.2, (6, 26))
    one = estimated(pool_of(stratum, [6, 94]), d)
    of_items = d.mean(axis=0)
    assert one.estimate == pytest.approx(0.06 * of_items[:6].mean() + 0.94 * of_items[6:].mean(), abs=1e-9)
    # the plain mean weighs the stratum by its share of the rated items, and is off by just that
    apart = of_items[:6].mean() - of_items[6:].mean()
    assert of_items.mean() - one.estimate == pytest.approx((6 / 26 - 0.06) * apart, abs=1e-9)


def test_a_stratum_without_two_rated_items_is_refused():
    rng = np.random.default_rng(1)
    d = rng.normal(0, 1, (4, 6)) + rng.normal(0, 1, 6)
    with pytest.raises(InputError, match=r"1 rated items of stratum 2"):
        estimated(pool_of([0, 0, 0, 0, 0, 1], [10, 4]), d)


@pytest.mark.r
def test_item_parts_are_those_of_the_package_survey(tmp_path):
    rng = np.random.default_rng(9)
    value = rng.normal(0.2, 0.4, 40)
    probability = rng.uniform(0.2, 0.8, 40)
    file = tmp_path / "drawn.csv"

    def survey(**columns):
        pd.DataFrame({"value": value, **columns}).to_csv(file, index=False)
        said = subprocess.run(
            ["Rscript", str(HERE / "sampled_items.R"), str(file)], capture_output=True, text=True
        )
        if "there is no package" in said.stderr:
            pytest.skip("the R package survey is not installed")
        return tuple(map(float, said.stdout.split()))

    agreeing = np.tile(value, (3, 1))  # workers who say the same, so that only items vary
    mean, error = survey(probability=probability, stratum=0, size=100)
    mine = weighted_estimate(agreeing, probability)
    assert (mine.estimate, mine.population_variance) == pytest.approx((mean, error**2), rel=1e-8)
    stratum = np.repeat([0, 1, 2, 3], 10)
    mean, error = survey(probability=0.4, stratum=stratum + 1, size=25)
    twin = stratified(agreeing, stratum, [0.25] * 4, [25] * 4)
    assert (twin.estimate, twin.pool[0]) == pytest.approx((mean, error**2), rel=1e-8)


@pytest.mark.r
@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_the_model_of_strata_and_metric_is_that_of_lme4_and_pbkrtest(tmp_path):
    rng = np.random.default_rng(12)
    n, m = 60, 6
    stratum = np.repeat([0, 1, 2], 20)
    f = rng.normal(0, 1, 120)
    scores = np.column_stack([0 * f, f])
    d = 0.2 + 0.2 * f[:n] + 0.2 * stratum + rng.normal(0, 0.3, n) + rng.normal(0, 0.2, (m, 1))
    worker, item, system, rating = long_table(d + rng.normal(0, 0.2, (m, n)), rng, spread=0.2)
    rating = rating + rng.normal(0, 0.2, n)[item] + rng.normal(0, 0.1, m)[worker]
    kept = rng.random(len(rating)) < 0.6
    worker, item, system, rating = (one[kept] for one in (worker, item, system, rating))
    pool = pool_of(stratum, [40, 40, 40], scores=scores)
    mine = estimate_pool(pool, ("A", "B"), worker, item, system, rating, pool.items[:n])
    standard = (f - f.mean()) / f.std()
    z = {f"z{h}": ((stratum == h) - 1 / 3)[item] for h in (1, 2)}
    columns = {"worker": worker, "item": item, "system": system, "rating": rating}
    file = tmp_path / "ratings.csv"
    pd.DataFrame({**columns, **z, "f": standard[item]}).to_csv(file, index=False)
    said = subprocess.run(
        ["Rscript", str(HERE / "chosen_model.R"), str(file)], capture_output=True, text=True, check=True
    )
    effect, error, df = map(float, said.stdout.split())
    assert mine.estimate == pytest.approx(effect, abs=1e-4 * error)
    # what pbkrtest has is about items like these with the strata as they are, without their own variance
    slopes_known = mine.population_df * (error**2 / mine.population_variance) ** 2
    assert slopes_known == pytest.approx(df, rel=1e-3)
    assert error**2 < mine.population_variance
    assert mine.pool_variance < error**2


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("way", ["strata", "cube"])
def test_intervals_for_the_pool_cover_it(way):
    rng = np.random.default_rng(21)
    covered = []
    for _ in range(400):
        size, n, m = 300, 40, 6
        f = rng.normal(size=size)
        d = 0.26 * (0.7 * f + np.sqrt(0.51) * rng.normal(size=size))
        if way == "strata":
            rank = np.argsort(np.argsort(f)) * 5 // size
            drawn = np.concatenate([rng.permutation(np.flatnonzero(rank == h))[:8] for h in range(5)])
            codes = np.repeat(np.arange(5), 8)
            pool = pool_of(codes, [60] * 5)
        else:
            drawn = draw_balanced(f[:, None], n, rng)
            behind = np.setdiff1d(np.arange(size), drawn)
            scores = np.column_stack([0 * f, f])[np.concatenate([drawn, behind])]
            pool = pool_of(np.zeros(n, int), [size], scores=scores)
        table = d[drawn] + rng.normal(0, 0.08, (m, 1)) + rng.normal(0, 0.23, (m, n))
        one = estimated(pool, table, seed=int(rng.integers(2**31)), by_differences=True)
        half = -special.stdtrit(one.pool_df, 0.025) * np.sqrt(one.pool_variance)
        covered.append(abs(one.estimate - d.mean()) <= half)
    # 400 studies at 95 %: inside with probability .998
    assert 0.913 <= np.mean(covered) <= 0.982

"""Krippendorff's alpha against the krippendorff package, and shares, repeats and ICCs against longhand."""

import itertools
import math
from dataclasses import replace

import krippendorff
import numpy as np
import pandas as pd
import pytest
from cases import each_case, few_fast
from places import ROOT
from scipy import stats
from seven import seven

from humeval_power.comparisons.agreement.agreement import (
    SharedRatings,
    agreement,
    alphas,
    krippendorff_alpha,
    near_pairs,
    repeatability,
    shared_ratings,
)
from humeval_power.comparisons.agreement.reliability import intraclass_correlations
from humeval_power.comparisons.agreement.result_report import agreement_record, agreement_values
from humeval_power.designs import crossed
from humeval_power.errors import InputError
from humeval_power.estimation.fitting import fit
from humeval_power.files.tables import read_table
from humeval_power.inference.item_bootstrap import item_resamples, measure, measure_together
from humeval_power.ratings import ratings_from_table
from humeval_power.scales import RatingScale
from humeval_power.simulation.study import draw_ratings, replicate_generator

PILOT = ROOT / "data" / "pilot.csv"
TABLES = {  # with and without repeats, on points and sliders, with hundreds of distinct values
    "pplm_fluency.csv": {},
    "vqeghd3.csv": {},
    "squality.csv": {"criterion": "overall"},
    "dialogue_eval.csv.gz": {"criterion": "fluent"},
    "tvbo.csv": {"criterion": "Sharpness"},
    "wmt23_sxs_mqm_ende.csv": {},
}


def real(name, shared_data):
    path = shared_data / name
    if not path.is_file():
        pytest.skip(f"there is no table {path}")
    return ratings_from_table(
        read_table(path).frame,
        worker="worker",
        item="item",
        system="system",
        rating="rating",
        require_pair=False,
        **TABLES[name],
    )


def table_of(rows, scale="1:5"):
    frame = pd.DataFrame(rows, columns=["worker", "item", "system", "rating"])
    return ratings_from_table(frame, scale=RatingScale.parse(scale), require_pair=False)


def by_package(shared, level):
    counts = np.zeros((len(shared.size), len(shared.values)), dtype=int)
    np.add.at(counts, (shared.output, shared.code), 1)
    return krippendorff.alpha(
        value_counts=counts, value_domain=shared.values, level_of_measurement=level, dtype=np.float64
    )


@pytest.mark.parametrize("level", ["interval", "ordinal"])
@few_fast("name", TABLES, fast=2)
def test_alpha_of_real_tables_is_that_of_the_krippendorff_package(name, level, shared_data):
    ratings = real(name, shared_data)
    for system in (None, 0, ratings.n_systems - 1):
        shared = shared_ratings(ratings, system=system)
        if not len(shared.size):  # dialogues are rated by nobody but the worker who held them
            continue
        ours = krippendorff_alpha(shared, np.ones(len(shared.size)), level=level)
        assert ours == pytest.approx(by_package(shared, level), abs=1e-11)


@pytest.mark.parametrize("level", ["interval", "ordinal"])
def test_alpha_of_the_pilot_is_that_of_the_krippendorff_package(level):
    shared = shared_ratings(ratings_from_table(read_table(PILOT).frame))
    ours = krippendorff_alpha(shared, np.ones(len(shared.size)), level=level)
    assert ours == pytest.approx(by_package(shared, level), abs=1e-12)


@pytest.mark.parametrize("level", ["interval", "ordinal"])
def test_an_output_of_weight_two_counts_as_two_outputs(level):
    shared = shared_ratings(ratings_from_table(read_table(PILOT).frame))
    weights = np.random.default_rng(4).integers(0, 4, len(shared.size))
    counts = np.zeros((len(shared.size), len(shared.values)), dtype=int)
    np.add.at(counts, (shared.output, shared.code), 1)
    copied = krippendorff.alpha(
        value_counts=np.repeat(counts, weights, axis=0),
        value_domain=shared.values,
        level_of_measurement=level,
        dtype=np.float64,
    )
    assert krippendorff_alpha(shared, weights.astype(float), level=level) == pytest.approx(
        copied, abs=1e-12
    )


def test_shares_of_agreeing_pairs_are_those_counted_one_by_one():
    ratings = ratings_from_table(read_table(PILOT).frame)
    raw = np.round(ratings.raw_rating).astype(int)
    exact = within = pairs = 0
    for i, j in itertools.combinations(range(ratings.n_ratings), 2):
        same = ratings.item[i] == ratings.item[j] and ratings.system[i] == ratings.system[j]
        if same and ratings.worker[i] != ratings.worker[j]:
            pairs, exact, within = (
                pairs + 1,
                exact + (raw[i] == raw[j]),
                within + (abs(raw[i] - raw[j]) <= 1),
            )
    found = agreement(ratings, n_resamples=20)[0]
    assert found.n_pairs == pairs
    assert found.exact.value == pytest.approx(exact / pairs, abs=1e-12)
    assert found.within_one.value == pytest.approx(within / pairs, abs=1e-12)


@each_case("points", range(4, 12))
def test_neighbouring_points_of_any_short_scale_are_within_one(points):
    # w1 rates item i with i, w2 with i + 1 and w3 with i + 2: two of three pairs are one apart
    rows = [(f"w{k}", f"i{i}", "A", i + k) for i in range(1, points - 1) for k in range(3)]
    shared = shared_ratings(table_of(rows, f"1:{points}:{points}"))
    assert near_pairs(shared, reach=1 / (points - 1)).tolist() == [2.0] * (points - 2)
    assert near_pairs(shared, reach=0.0).tolist() == [0.0] * (points - 2)


def test_the_first_of_repeated_ratings_counts_and_the_others_are_reported():
    rows = [("w1", "i1", "A", 2), ("w1", "i1", "A", 5), ("w2", "i1", "A", 2), ("w2", "i1", "A", 1)]
    rows += [("w1", "i2", "A", 4), ("w2", "i2", "A", 4)]
    found = agreement(table_of(rows), n_resamples=10)[0]
    assert (found.n_ratings, found.n_pairs, found.n_repeats_left_out) == (4, 2, 2)
    assert found.exact.value == 1.0


def test_what_is_not_defined_is_nan_and_says_why():
    alone = agreement(table_of([("w1", "i1", "A", 2), ("w2", "i2", "A", 3)]), n_resamples=10)[0]
    for value in (alone.alpha_interval, alone.alpha_ordinal, alone.exact, alone.within_one):
        assert math.isnan(value.value)
        assert "no output was rated by two raters" in value.reason
    alike = [(w, i, "A", 3) for w in "ab" for i in "xy"]
    same = agreement(table_of([*alike, ("a", "x", "B", 4)]), n_resamples=10)[0]
    assert math.isnan(same.alpha_interval.value)
    assert "all ratings are the same" in same.alpha_ordinal.reason
    assert same.exact.value == 1.0
    sliders = agreement(table_of([("a", "x", "A", 30), ("b", "y", "A", 70)], "0:100"), n_resamples=10)
    assert "no points" in sliders[0].within_one.reason


def test_the_bootstrap_draws_items_and_the_seed_decides():
    ratings = ratings_from_table(read_table(PILOT).frame)
    one, again, other = (agreement(ratings, n_resamples=50, seed=s)[0].alpha_interval for s in (1, 1, 2))
    assert one == again
    assert one.value == other.value
    assert one.low != other.low
    longer = item_resamples(7, n_resamples=30, seed=5)
    np.testing.assert_array_equal(longer[:10], item_resamples(7, n_resamples=10, seed=5))
    assert (longer.sum(axis=1) == 7).all()


def test_the_interval_of_a_mean_is_about_that_of_its_standard_error():
    values = np.random.default_rng(2).normal(size=400)
    resamples = item_resamples(400, n_resamples=2000, seed=1)
    found = measure(lambda w: float(w @ values / w.sum()), resamples, reason="")
    reach = 1.96 * values.std() / math.sqrt(400)
    # the SD of 2000 draws is known to 1.6 %, their tails to a few times that
    assert found.high - found.value == pytest.approx(reach, rel=0.1)
    assert found.value - found.low == pytest.approx(reach, rel=0.1)


@pytest.mark.parametrize("wrong", [{"n_resamples": 0}, {"confidence": 1.0}])
def test_impossible_bootstraps_are_refused(wrong):
    ratings = ratings_from_table(read_table(PILOT).frame)
    for function in (agreement, repeatability):
        with pytest.raises(InputError):
            function(ratings, **wrong)


def test_repeats_of_the_panel_are_those_counted_one_by_one(shared_data):
    ratings = real("tvbo.csv", shared_data)
    found = repeatability(ratings, n_resamples=20)
    assert [one.system for one in found] == [None, *ratings.system_names]
    for one in found:
        chosen = ratings.system == ratings.system_names.index(one.system) if one.system else slice(None)
        frame = pd.DataFrame(
            {
                "w": ratings.worker[chosen],
                "i": ratings.item[chosen],
                "s": ratings.system[chosen],
                "y": ratings.rating[chosen],
            }
        )
        cells = [group["y"].to_numpy() for _, group in frame.groupby(["w", "i", "s"])]
        assert all(len(cell) == 2 for cell in cells)
        first, second = np.array(cells).T
        assert one.n_cells == len(cells)
        assert one.equal.value == pytest.approx(np.mean(np.isclose(first, second)), abs=1e-12)
        assert one.mean_difference.value == pytest.approx(np.abs(first - second).mean(), abs=1e-12)
        assert one.mean_difference_raw.value == pytest.approx(
            ratings.scale.width * np.abs(first - second).mean(), abs=1e-9
        )
        assert one.correlation.value == pytest.approx(stats.pearsonr(first, second).statistic, abs=1e-12)
        # F = MSB / MSW of a one-way analysis; ICC(1,1) = (F - 1) / (F + m - 1), Shrout and Fleiss (1979)
        f = stats.f_oneway(*cells).statistic
        assert one.icc.value == pytest.approx((f - 1) / (f + 1), abs=1e-10)
        assert one.equal.low <= one.equal.value <= one.equal.high


def test_cells_of_several_sizes_average_their_pairs():
    cells = {("w1", "i1"): [1, 1, 2], ("w1", "i2"): [5, 3], ("w2", "i1"): [4, 4, 4, 4], ("w2", "i2"): [2]}
    rows = [(w, i, "A", r) for (w, i), given in cells.items() for r in given]
    found = repeatability(table_of(rows), n_resamples=10)[0]
    assert (found.n_cells, found.n_ratings, found.n_workers) == (3, 9, 2)
    assert found.equal.value == pytest.approx(np.mean([1 / 3, 0, 1]))
    assert found.mean_difference_raw.value == pytest.approx(np.mean([2 / 3, 2, 0]))
    said = agreement_values({"agreement": agreement_record((), [found])}, "within")
    assert "mean absolute difference in points of the scale: 0.889 (" in str(said)
    assert "mean absolute difference on [0, 1]: " in str(said)


def test_without_repeats_nothing_is_claimed():
    found = repeatability(ratings_from_table(read_table(PILOT).frame), n_resamples=10)[0]
    for value in (found.equal, found.mean_difference, found.correlation, found.icc):
        assert math.isnan(value.value)
        assert "more than once" in value.reason


def complete_study(parameters=seven(0.5, 0.1, 0.12, 0.1, 0.2, 0.1, 0.2)):  # noqa: B008
    rows = crossed(9, 25).assignment
    rating = draw_ratings(parameters, crossed(9, 25), replicate_generator(3, 0))
    frame = pd.DataFrame({"worker": rows.worker, "item": rows.item, "system": rows.system})
    return ratings_from_table(frame.assign(rating=rating), scale=RatingScale(-2, 3), systems=("0", "1"))


def test_an_icc_is_the_correlation_of_ratings_that_the_model_implies():
    result = fit(complete_study())
    p = result.parameters
    agree1, agree4, consistent1, consistent4 = (
        one.measure.value for one in intraclass_correlations(result, ratings_per_output=4)
    )
    # two workers rate one item under B (x = 1/2): variance of a rating, and the covariance of the two
    item = p.sd_item_intercept**2 + p.sd_item_slope**2 / 4
    worker = p.sd_worker_intercept**2 + p.sd_worker_slope**2 / 4
    assert agree1 == pytest.approx(item / (item + worker + p.sd_residual**2), abs=1e-12)
    assert consistent1 == pytest.approx(item / (item + p.sd_residual**2), abs=1e-12)
    # Spearman and Brown's formula steps up from one rating to four
    for one, four in ((agree1, agree4), (consistent1, consistent4)):
        assert four == pytest.approx(4 * one / (1 + 3 * one), abs=1e-12)


def test_the_icc_within_systems_is_that_of_the_mean_squares():
    # With no slopes and systems centred, McGraw and Wong's ICC(C,1) and ICC(A,1) of items x workers.
    ratings = complete_study(seven(0.5, 0.1, 0.15, 0.0, 0.25, 0.0, 0.2))
    cube = np.empty((25, 9, 2))
    cube[ratings.item, ratings.worker, ratings.system] = ratings.rating
    values = []
    for system in (0, 1):
        y = cube[:, :, system]
        n, k = y.shape
        rows = k * ((y.mean(axis=1) - y.mean()) ** 2).sum() / (n - 1)
        columns = n * ((y.mean(axis=0) - y.mean()) ** 2).sum() / (k - 1)
        rest = y - y.mean(axis=1, keepdims=True) - y.mean(axis=0) + y.mean()
        error = (rest**2).sum() / ((n - 1) * (k - 1))
        values.append(
            [
                (rows - error) / (rows + (k - 1) * error + k / n * (columns - error)),
                (rows - error) / (rows + (k - 1) * error),
            ]
        )
    found = {
        one.definition: one.measure for one in intraclass_correlations(fit(ratings), ratings_per_output=1)
    }
    # one model of both systems against the mean of one analysis each: the same up to sampling
    assert found["agreement"].value == pytest.approx(np.mean(values, axis=0)[0], abs=0.03)
    assert found["consistency"].value == pytest.approx(np.mean(values, axis=0)[1], abs=0.03)
    for one in found.values():
        assert one.low < one.value < one.high


def test_an_icc_needs_the_variances_that_it_divides():
    result = fit(complete_study())
    for names, is_defined in (
        (("sd_item_intercept", "sd_item_slope"), True),  # items nested in systems: their sum is known
        (("sd_worker_intercept", "sd_worker_slope"), True),
        (("sd_item_intercept", "sd_item_slope", "sd_residual"), False),  # one rating per output
        (("sd_item_slope", "sd_residual"), False),
    ):
        for one in intraclass_correlations(replace(result, not_identified=names), ratings_per_output=3):
            assert one.measure.is_defined is is_defined
            assert bool(one.measure.reason)
    with pytest.raises(InputError):
        intraclass_correlations(result, ratings_per_output=0)


# Resamples taken together, and alpha by its pairs of ratings.


LEVELS = ("interval", "ordinal")


def uneven(values: np.ndarray, *, seed: int = 3) -> SharedRatings:
    draw = np.random.default_rng(seed)
    size = draw.integers(2, 7, 40)
    code = draw.integers(len(values), size=size.sum())
    output, item = np.repeat(np.arange(40), size), np.arange(40) // 2
    one = np.zeros_like(code)
    return SharedRatings(output, code, values, size, item, 9, 0, one, np.zeros(40, dtype=int), np.arange(9))


def by_pairs(shared: SharedRatings, weights: np.ndarray, level: str) -> float:
    """1 - observed / expected from the pairs of ratings, one by one."""
    score, times = shared.values, weights[shared.output]
    if level == "ordinal":
        count = np.bincount(shared.code, times, len(shared.values))
        score = np.cumsum(count) - count / 2
    score, n = score[shared.code], times.sum()
    apart = (score[:, None] - score[None, :]) ** 2
    together = shared.output[:, None] == shared.output[None, :]
    share = times / (shared.size[shared.output] - 1)
    return 1 - (apart * together * share[:, None]).sum() / n / (times @ apart @ times / (n * (n - 1)))


@each_case("level", LEVELS)
@each_case("values", [np.linspace(0, 1, 5), np.linspace(0.3, 0.30001, 11), np.array([0.0, 1.0])])
def test_alpha_of_weighted_outputs_is_that_of_their_pairs(level, values):
    shared = uneven(values)
    weights = np.random.default_rng(4).integers(4, size=(40, 3)).astype(float)
    expected = [by_pairs(shared, column, level) for column in weights.T]
    assert alphas(shared, level)(weights) == pytest.approx(expected, rel=1e-9)
    assert krippendorff_alpha(shared, weights[:, 1], level=level) == pytest.approx(expected[1], rel=1e-9)


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_is_undefined_where_nothing_varies_or_counts(level):
    shared = uneven(np.linspace(0, 1, 5))
    same = shared._replace(code=np.full_like(shared.code, 2))
    assert np.isnan(alphas(same, level)(np.ones((40, 2)))).all()
    found = alphas(shared, level)(np.stack([np.zeros(40), np.ones(40)], axis=1))
    assert np.isnan(found[0])
    assert np.isfinite(found[1])


@pytest.mark.parametrize("n_resamples", [1, 15, 33])
def test_resamples_taken_together_are_those_taken_one_by_one(n_resamples):
    resamples = item_resamples(20, n_resamples=n_resamples, seed=5)
    values = np.random.default_rng(6).normal(size=20)
    one = measure(lambda weights: float(weights @ values / weights.sum()), resamples, reason="")
    many = measure_together(lambda weights: (values @ weights) / weights.sum(axis=0), resamples, reason="")
    assert (many.value, many.low, many.high) == pytest.approx((one.value, one.low, one.high), rel=1e-12)

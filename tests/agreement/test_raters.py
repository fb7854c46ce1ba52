"""Raters one by one against dense twins, statsmodels and healthy panels."""

import numpy as np
import pandas as pd
import pytest
from cli import run_json, text_of
from scipy import optimize, special, stats

from humeval_power.comparisons.agreement import raters
from humeval_power.comparisons.agreement.agreement import SharedRatings, shared_ratings
from humeval_power.comparisons.agreement.raters import (
    ALPHA,
    _latent_levels,
    _latent_variance,
    raters_one_by_one,
    unlike_the_others,
)
from humeval_power.comparisons.agreement.result_report import Raters
from humeval_power.inference.corrections import correct
from humeval_power.ratings import ratings_from_table
from humeval_power.scales import RatingScale

FIVE = (0.1, 0.3, 0.6, 0.85)
TOP = (0.01, 0.03, 0.07, 0.15)  # 85 % at the top


def panel(rng, m, n, *, n_systems=1, cuts=FIVE, odd=None):
    """Ratings (n, K, m): outputs .35, raters .15 and error .5 of the variance, raters x systems .05."""
    level, error = rng.normal(size=m) * 0.15**0.5, rng.normal(size=(n, n_systems, m)) * 0.5**0.5
    towards = rng.normal(size=(n_systems, m)) * 0.05**0.5
    if odd == "strict":
        level[0] -= 2.5
    if odd == "noisy":
        error[:, :, 0] *= 3
    if odd == "towards a system":
        towards[0, 0] += 2.5
    values = rng.normal(size=(n, n_systems, 1)) * 0.35**0.5 + level + towards + error
    if odd == "at random":
        values[:, :, 0] = rng.normal(size=(n, n_systems))
    return np.digitize(values, special.ndtri(cuts)) / len(cuts) if cuts else values


def shared_of(values, kept=None):
    n, n_systems, m = values.shape
    kept = np.ones(values.shape, dtype=bool) if kept is None else kept
    flat, kept = values.reshape(n * n_systems, m), kept.reshape(n * n_systems, m)
    outputs, rater = np.nonzero(kept & (kept.sum(axis=1) > 1)[:, None])
    values, code = np.unique(flat[outputs, rater], return_inverse=True)
    old, output, size = np.unique(outputs, return_inverse=True, return_counts=True)
    return SharedRatings(
        output, code, values, size, old // n_systems, m, 0, rater, old % n_systems, np.arange(m)
    )


def thinned(rng, values, share):
    kept = rng.random(values.shape) < share
    kept[:2] = True
    return shared_of(values, kept)


@pytest.mark.parametrize("n", [4, 7, 40])
def test_a_deleted_t_is_the_studentised_residual_of_statsmodels(n):
    from statsmodels.regression.linear_model import OLS
    from statsmodels.stats.outliers_influence import OLSInfluence

    value = np.random.default_rng(n).normal(size=n)
    t = OLSInfluence(OLS(value, np.ones(n)).fit()).resid_studentized_external
    expected = 2 * stats.t.sf(np.abs(t), n - 2)
    np.testing.assert_allclose(
        unlike_the_others(value[:, None], np.full(n, 0.1), df=1), expected, rtol=1e-9
    )


def test_two_systems_give_the_t_of_their_difference():
    own = np.random.default_rng(2).normal(size=(9, 2))
    difference = own[:, 1] - own[:, 0]
    centred = own - own.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(
        unlike_the_others(centred, np.zeros(9), df=1),
        unlike_the_others(difference[:, None], np.zeros(9), df=1),
        rtol=1e-10,
    )


def test_several_systems_give_an_f_of_each_against_the_others():
    n, k = 8, 4
    own = np.random.default_rng(3).normal(size=(n, k))
    own -= own.mean(axis=1, keepdims=True)
    expected = []
    for j in range(n):
        others = np.delete(own, j, axis=0)
        between = ((own[j] - others.mean(axis=0)) ** 2).sum() / (1 + 1 / (n - 1)) / (k - 1)
        within = ((others - others.mean(axis=0)) ** 2).sum() / ((n - 2) * (k - 1))
        expected.append(stats.f.sf(between / within, k - 1, (k - 1) * (n - 2)))
    np.testing.assert_allclose(unlike_the_others(own, np.zeros(n), df=k - 1), expected, rtol=1e-9)


@pytest.mark.parametrize(("m", "n", "constant"), [(3, 30, 2.408), (5, 30, 2.594), (10, 30, 2.818)])
def test_intervals_of_levels_are_those_of_the_analysis_of_means(m, n, constant):
    # METHODS 25.4: the .95 quantile of max |t|, and SE sqrt(MS_E (m - 1) / (m n))
    values = panel(np.random.default_rng(m), m, n, cuts=None)
    table = values[:, 0]
    residual = table - table.mean(axis=0) - table.mean(axis=1, keepdims=True) + table.mean()
    error = (residual**2).sum() / ((m - 1) * (n - 1))
    tests = raters_one_by_one(shared_of(values), 1)
    np.testing.assert_allclose(tests.level, table.mean(axis=0) - table.mean(), atol=1e-12)
    np.testing.assert_allclose(tests.level_reach, constant * np.sqrt(error * (m - 1) / (m * n)), rtol=0.003)


def test_levels_of_a_table_with_holes_are_those_of_dense_least_squares():
    rng = np.random.default_rng(4)
    values = panel(rng, 6, 25, cuts=None)
    shared = thinned(rng, values, 0.5)
    n, m, rating = len(shared.size), 6, shared.values[shared.code]
    design = np.hstack([np.eye(n)[shared.output], np.eye(m)[shared.worker]])
    effects = np.linalg.pinv(design) @ rating
    contrast = np.hstack([np.zeros((m, n)), np.eye(m) - 1 / m])
    residual = rating - design @ effects
    error = residual @ residual / (len(rating) - n - m + 1)
    variance = error * np.diag(contrast @ np.linalg.pinv(design.T @ design) @ contrast.T)
    tests = raters_one_by_one(shared, 1)
    np.testing.assert_allclose(tests.level, contrast @ effects, atol=1e-10)
    ratio = tests.level_reach / np.sqrt(variance)  # one constant of all raters
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)


@pytest.mark.usefixtures("no_intervals")
@pytest.mark.parametrize("cuts", [None, FIVE], ids=["slider", "five points"])
def test_consistency_is_that_of_ranks_counted_rater_by_rater(cuts):
    m, n, k = 6, 30, 2
    values = panel(np.random.default_rng(5), m, n, n_systems=k, cuts=cuts)
    ranks = stats.rankdata(values).reshape(values.shape)
    root, tangent, correlation = [], [], []
    for j in range(m):
        others = np.delete(ranks, j, axis=2).mean(axis=2)
        apart = (ranks[:, :, j] - others) - (ranks[:, :, j] - others).mean(axis=0)
        root.append(np.cbrt((apart**2).sum()))
        own, mean = ranks[:, :, j] - ranks[:, :, j].mean(axis=0), others - others.mean(axis=0)
        correlation.append((own * mean).sum() / np.sqrt((own**2).sum() * (mean**2).sum()))
        tangent.append(np.arctanh(correlation[-1]))
    raw = [unlike_the_others(np.array(one)[:, None], np.zeros(m), df=1) for one in (root, tangent)]
    usual = [np.delete(root, j).mean() for j in range(m)]
    raw[0] = np.where(np.array(root) > usual, raw[0] / 2, 1 - raw[0] / 2)  # more noise alone counts
    expected = correct(np.concatenate(raw), "holm")
    tests = raters_one_by_one(shared_of(values), k)
    np.testing.assert_allclose(tests.agreement, correlation, atol=1e-10)
    np.testing.assert_allclose(np.concatenate([tests.noise_p, tests.agreement_p]), expected, atol=1e-9)
    np.testing.assert_allclose(tests.noise, (np.array(root) / usual) ** 3, rtol=1e-9)


@pytest.fixture
def no_intervals(monkeypatch):
    """Intervals of levels take most of the time, and no part in a p-value."""
    monkeypatch.setattr(raters, "_MOST_JOINT", 0)


@pytest.mark.usefixtures("no_intervals")
@pytest.mark.parametrize(
    ("odd", "p_value"),
    [
        ("strict", "level_p"),
        ("noisy", "noise_p"),
        ("at random", "agreement_p"),
        ("towards a system", "leaning_p"),
    ],
)
def test_a_rater_who_is_odd_in_one_way_is_named_for_it(odd, p_value):
    tests = raters_one_by_one(shared_of(panel(np.random.default_rng(6), 10, 100, n_systems=2, odd=odd)), 2)
    assert tests.is_unlike[0]
    assert np.flatnonzero(getattr(tests, p_value) <= ALPHA).tolist() == [0]


@pytest.mark.slow
def test_raters_in_another_order_have_the_same_p_values():
    rng = np.random.default_rng(7)
    values, kept = panel(rng, 8, 40, n_systems=3), rng.random((40, 3, 8)) < 0.6
    order = rng.permutation(8)
    one, other = (
        raters_one_by_one(shared_of(values[..., by], kept[..., by]), 3) for by in (np.arange(8), order)
    )
    for name in ("level_p", "noise_p", "agreement_p", "leaning_p"):
        np.testing.assert_allclose(getattr(one, name)[order], getattr(other, name), atol=1e-8)
    # the constant is known to 1 in 1,000, by points in the order of the raters
    np.testing.assert_allclose(one.level_reach[order], other.level_reach, rtol=3e-3)


def test_three_raters_have_intervals_and_no_test():
    tests = raters_one_by_one(shared_of(panel(np.random.default_rng(8), 3, 50)), 1)
    assert not tests.is_tested.any()
    assert np.isfinite(tests.level_reach).all()


@pytest.mark.usefixtures("no_intervals")
def test_where_one_answer_is_most_of_them_variances_and_systems_are_not_tested():
    tests = raters_one_by_one(shared_of(panel(np.random.default_rng(9), 8, 80, n_systems=2, cuts=TOP)), 2)
    assert np.isnan(tests.noise_p).all()
    assert np.isnan(tests.leaning_p).all()
    assert np.isfinite(tests.level_p).all()
    assert np.isfinite(tests.agreement_p).all()


def test_groups_without_a_link_are_compared_within():
    rng = np.random.default_rng(10)
    values = panel(rng, 8, 60, cuts=None)
    values[:, :, :4] += 5.0
    kept = np.zeros(values.shape, dtype=bool)
    kept[:30, :, :4], kept[30:, :, 4:] = True, True
    tests = raters_one_by_one(shared_of(values, kept), 1)
    assert tests.n_parts == 2
    np.testing.assert_allclose([tests.level[:4].sum(), tests.level[4:].sum()], 0, atol=1e-9)
    assert not (tests.level_p <= ALPHA).any()


@pytest.mark.parametrize(
    "values",
    [
        np.full((20, 1, 5), 0.5),
        np.repeat(np.linspace(0, 1, 20)[:, None, None], 5, axis=2),
        np.broadcast_to(np.linspace(0, 1, 5), (20, 1, 5)).copy(),
    ],
    ids=["all the same", "all agree", "levels alone"],
)
def test_nothing_is_named_where_nothing_varies(values):
    tests = raters_one_by_one(shared_of(values), 1)
    assert not (np.stack([tests.noise_p, tests.agreement_p]) <= ALPHA).any()


def test_nobody_who_shares_an_output_is_nobody_who_is_compared():
    rows = [(f"w{w}", f"i{w}-{i}", "AB"[i % 2], i % 5) for w in range(3) for i in range(12)]
    frame = pd.DataFrame(rows, columns=["worker", "item", "system", "rating"])
    raters = Raters.of(ratings_from_table(frame, scale=RatingScale.parse("0:4")))
    assert raters.names == ()
    assert raters.record() == []
    assert raters.section().blocks
    assert "No rater is compared" in raters.lead(0)


def test_a_thousand_raters_of_whom_each_shares_some_are_compared_at_once():
    rng = np.random.default_rng(11)
    m, n, k = 1_000, 4_000, 5
    rater = np.concatenate([rng.choice(m, k, replace=False) for _ in range(n)])
    output = np.repeat(np.arange(n), k)
    rating = np.digitize(rng.normal(size=n)[output] + rng.normal(size=n * k), [-1.5, -0.5, 0.5, 1.5]) / 4
    values, code = np.unique(rating, return_inverse=True)
    shared = SharedRatings(
        output, code, values, np.full(n, k), np.arange(n), m, 0, rater, output * 0, np.arange(m)
    )
    tests = raters_one_by_one(shared, 1)
    assert tests.is_tested.mean() > 0.9
    assert tests.is_unlike.sum() < 10


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("cuts", [None, FIVE, TOP, (0.7,)], ids=["slider", "five", "top", "yes or no"])
@pytest.mark.parametrize("m", [5, 10])
def test_healthy_panels_have_somebody_named_at_the_nominal_rate(m, cuts):
    # 25.5 asks .03 to .065; of 400 studies at a true .05 inside this band with probability .998
    studies, named = 400, np.zeros(3)
    for study in range(studies):
        rng = np.random.default_rng([12, study])
        tests = raters_one_by_one(shared_of(panel(rng, m, 50, n_systems=2, cuts=cuts)), 2)
        consistency = np.concatenate([tests.noise_p, tests.agreement_p])
        for place, p in enumerate((tests.level_p, consistency, tests.leaning_p)):
            named[place] += (p <= ALPHA).any()
    high = stats.binom.ppf(0.999, studies, 0.05)
    assert (named <= high).all(), named / studies


def test_raters_who_are_compared_stand_before_those_with_few_ratings():
    # levels of two ratings are the most extreme, and say the least
    rng = np.random.default_rng(17)
    rows = [(f"r{w}", f"i{i}", "A", int(rng.integers(0, 5))) for i in range(30) for w in range(5)]
    rows += [(f"guest{g}", f"i{i}", "A", 4 * (g % 2)) for g in range(12) for i in (g, g + 1)]
    frame = pd.DataFrame(rows, columns=["worker", "item", "system", "rating"])
    section = Raters.of(
        ratings_from_table(frame, scale=RatingScale.parse("0:4"), require_pair=False)
    ).section()
    first = [row[0].removesuffix(" *") for row in section.blocks[-1].rows[:5]]
    assert sorted(first) == [f"r{w}" for w in range(5)]


def test_the_report_names_a_rater_says_what_to_do_and_writes_all_to_json(tmp_path):
    values = panel(np.random.default_rng(16), 8, 60, n_systems=2, odd="strict")
    rows = [
        (f"r{w}", f"i{i}", "AB"[s], 1 + round(4 * values[i, s, w]))
        for i in range(60)
        for s in range(2)
        for w in range(8)
    ]
    path = tmp_path / "ratings.csv"
    pd.DataFrame(rows, columns=["worker", "item", "system", "rating"]).to_csv(path, index=False)
    out = text_of("agreement", "report", path, "--scale", "1:5")
    assert "1 rater of 8 stands out from the others (*)." in out
    assert "Nobody is left out for it." in out
    assert "more strictly than raters do on average (p" in out
    record = run_json("agreement", "report", path, "--scale", "1:5")
    (first,) = [one for one in record["raters"] if one["unlike"]]
    assert first["rater"] == "r0"
    assert first["level_p"] <= 0.05
    assert set(first["leaning"]) == {"A", "B"}


def test_check_analyze_and_the_report_say_the_same_alpha():
    path = "data/pilot.csv"
    checked = run_json("check", path)["agreement"]
    reported = run_json("agreement", "report", path)["rows"]
    analysed = run_json("analyze", path)["agreement"]["between"]
    for one in checked:
        (row,) = [row for row in reported if row["system"] == one["system"]]
        (measure,) = [each for each in row["measures"] if each["measure"] == row["leading"]]
        (entry,) = [e for e in analysed if e["measure"].endswith(f"within {one['system']}")]
        other = measure["other_raters"]
        assert [one["alpha"], *one["interval"]] == [other["value"], other["low"], other["high"]]
        assert [one["alpha"], *one["interval"]] == [entry["value_other"], *entry["interval_other"]]


def test_shared_ratings_know_the_raters_and_systems_of_the_table():
    rows = [
        ("a", "1", "B", 1),
        ("c", "1", "B", 2),
        ("b", "2", "A", 3),
        ("c", "2", "A", 4),
        ("d", "3", "A", 1),
    ]
    ratings = ratings_from_table(
        pd.DataFrame(rows, columns=["worker", "item", "system", "rating"]), scale=RatingScale.parse("1:5")
    )
    shared = shared_ratings(ratings)
    assert [ratings.worker_names[code] for code in shared.workers] == ["a", "b", "c"]
    assert sorted(ratings.system_names[code] for code in shared.system) == ["A", "B"]


def latent_by_a_root(flat, mean):
    """The level l at which ratings cut from N(l, 1) by the cuts of all have this mean ridit, half a rating from the
    ends of the scale."""
    values = np.unique(flat)
    share = np.array([(flat == one).mean() for one in values])
    ridit = np.cumsum(share) - share / 2
    ends = np.array([-np.inf, *special.ndtri(np.cumsum(share)[:-1]), np.inf])

    room = np.ptp(ridit) / 2 / (len(flat) + 1)
    inside = min(max(mean, ridit[0] + room), ridit[-1] - room)

    def beyond(level):
        return float(np.diff(special.ndtr(ends - level)) @ ridit - inside)

    return optimize.brentq(beyond, -7, 7, xtol=1e-12)


@pytest.mark.usefixtures("no_intervals")
@pytest.mark.parametrize("cuts", [FIVE, TOP, (0.7,)], ids=["five", "top", "yes or no"])
def test_levels_of_a_complete_table_are_compared_on_the_latent_scale_of_their_mean_ridits(cuts):
    # as much error in each: the t of a deleted value, of the level that a cumulative probit gives a mean ridit
    values = panel(np.random.default_rng(21), 8, 25, n_systems=2, cuts=cuts)
    flat = values.reshape(-1, 8)
    below = [(flat < one).mean() + (flat == one).mean() / 2 for one in flat.ravel()]
    mean = np.reshape(below, flat.shape).mean(axis=0)
    latent = np.array([latent_by_a_root(flat, one) for one in mean])
    expected = correct(unlike_the_others(latent[:, None], np.zeros(8), df=1), "holm")
    np.testing.assert_allclose(raters_one_by_one(shared_of(values), 2).level_p, expected, atol=1e-4)


def test_the_latent_scale_of_a_slider_is_the_probit_and_of_two_values_that_of_their_share():
    ridit, n = (np.arange(40_000) + 0.5) / 40_000, np.full(3, 10**6)
    mean = np.array([0.2, 0.5, 0.9])
    latent, slope = _latent_levels(ridit, mean, n)
    np.testing.assert_allclose(latent, np.sqrt(2) * special.ndtri(mean), atol=2e-3)
    density = stats.norm.pdf(special.ndtri(mean)) / np.sqrt(2)
    np.testing.assert_allclose(slope[:-1], density, rtol=5e-3)
    two = np.repeat([0.15, 0.65], [300, 700])  # yes or no: ridits of .3 and .7
    share = np.array([0.1, 0.7, 0.95])
    latent, _ = _latent_levels(two, 0.15 + 0.5 * share, n)
    np.testing.assert_allclose(latent, special.ndtri(share) - special.ndtri(0.7), atol=1e-4)


@pytest.mark.parametrize("k", [2, 3, 5, 9])
def test_the_error_of_a_level_is_split_as_dense_least_squares_splits_it(k):
    # weights of own ratings and of others' in a rater's level, by the normal equations; k of 9 rate each output
    m, n = 9, 400
    rng = np.random.default_rng(k)
    rater = np.concatenate([rng.choice(m, k, replace=False) for _ in range(n)])
    output = np.repeat(np.arange(n), k)
    design = np.hstack([np.eye(m)[rater], np.eye(n)[output]])
    weights = np.linalg.pinv(design, rcond=1e-9)[:m]
    weights = (
        weights - weights.mean(axis=0) + 1 / len(rater)
    )  # the level, raters' mean being that of all ratings
    own = np.array([(weights[j, rater == j] ** 2).sum() for j in range(m)])
    others = np.array([(weights[j, rater != j] ** 2).sum() for j in range(m)])
    variance = ((weights - 1 / len(rater)) ** 2).sum(axis=1)
    density, none = stats.norm.pdf(np.linspace(-1, 1, m)), np.zeros(m, dtype=np.int64)
    split = _latent_variance(np.append(density, stats.norm.pdf(0)), np.bincount(rater), variance, none)
    # the factor is that of a difference from the mean of m: it is common to all and plays no part in a test
    expected = (1 - 1 / m) * (own * 2 * np.pi + others / density**2)
    np.testing.assert_allclose(split, expected, rtol=1e-9 if k == m else 0.09)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.usefixtures("no_intervals")
@pytest.mark.parametrize(("m", "k"), [(5, 3), (10, 3), (30, 3), (30, 5)])
def test_levels_of_healthy_panels_are_named_at_the_nominal_rate_where_some_rate_an_output(m, k):
    # of 1,000 studies at a true .05 below this with probability .999; errors taken as usual gave .08 with 30 and 3
    studies, n_named = 1_000, 0
    for study in range(studies):
        rng = np.random.default_rng([77, study])
        n = max(1, m * 15 // k)
        kept = np.argsort(rng.random((n, 2, m)), axis=2) < k
        tests = raters_one_by_one(shared_of(panel(rng, m, n, n_systems=2), kept), 2)
        n_named += bool((tests.level_p <= ALPHA).any())
    assert n_named <= stats.binom.ppf(0.999, studies, 0.05)

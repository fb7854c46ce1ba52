"""Paired tests: SciPy's, statsmodels' and R's answers, all assignments of signs, and reference values."""

import itertools
import math
import shutil
import subprocess
from fractions import Fraction
from statistics import median
from typing import Any

import numpy as np
import pytest
from cases import each_case
from hypothesis import given
from hypothesis import strategies as st
from reference import exact_ranks, plain_resampling
from reference.golden import shared_golden
from scipy import stats

from humeval_power.clusters import Clusters
from humeval_power.comparisons.scores.bootstrap import (
    JointBootstrap,
    bca_levels,
    sign_flip_mean,
    sign_flip_median,
)
from humeval_power.comparisons.scores.comparison import effect_sizes
from humeval_power.comparisons.scores.effect_sizes import (
    ClusterSums,
    TestSettings,
    score_differences,
    wilcoxon_r,
)
from humeval_power.comparisons.scores.scenario import ResampledScores
from humeval_power.comparisons.scores.tests import (
    DEFAULT_TEST,
    TESTS,
    mcnemar_test,
    run_test,
    sign_test,
    t_test,
    wilcoxon_test,
)
from humeval_power.designs import Assignment
from humeval_power.errors import InputError
from humeval_power.inference.common_tests import mann_whitney_on_ratings
from humeval_power.inference.exact_comparison import at_least, common_decimals, exact_difference, rounded
from humeval_power.inference.mcnemar import mid_p

DIRECTIONS = ("two-sided", "greater", "less")


def draw(n, *, tied=False, seed=0, shift=0.3):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(n) + shift
    return np.round(values, 1) if tied else values


@pytest.fixture(scope="module")
def golden(shared):
    return shared_golden(shared, "14_nlpstattest")


@pytest.fixture(scope="module")
def set_a(golden):
    values = golden["set_A"]
    return score_differences(values["v"], values["u"])


@each_case("alternative", DIRECTIONS)
@each_case("n", [4, 12, 40, 201, 400])
def test_wilcoxon_without_ties_is_scipys(n, alternative):
    d = draw(n, seed=n)
    method = "exact" if n <= 200 else "approx"
    expected = stats.wilcoxon(d, alternative=alternative, method=method).pvalue
    assert wilcoxon_test(d, TestSettings(alternative=alternative)).p_value == pytest.approx(
        expected, rel=1e-9
    )


@pytest.mark.parametrize("alternative", DIRECTIONS)
def test_wilcoxon_with_ties_is_that_of_all_assignments_of_signs(alternative):
    d = np.array([0.1, 0.1, -0.1, 0.2, 0.2, 0.3, -0.4, 0.5, 0.0, 0.6])
    active = d[d != 0]
    ranks = stats.rankdata(np.abs(active))
    sums = np.array(
        [
            sum(r for r, up in zip(ranks, signs, strict=True) if up)
            for signs in itertools.product((0, 1), repeat=len(ranks))
        ]
    )
    observed = ranks[active > 0].sum()
    below, above = np.mean(sums <= observed), np.mean(sums >= observed)
    expected = {"less": below, "greater": above, "two-sided": min(1, 2 * min(below, above))}[alternative]
    found = wilcoxon_test(d, TestSettings(alternative=alternative))
    assert found.p_value == pytest.approx(expected, rel=1e-12)
    assert found.exact
    assert "ties between the systems: 1 of 10 items" in found.remarks[0]


@pytest.mark.parametrize("alternative", DIRECTIONS)
def test_the_listed_sign_flips_of_the_mean_are_scipys_permutation_test(alternative):
    d = draw(11, seed=5)
    expected = stats.permutation_test(
        (d,), np.mean, permutation_type="samples", n_resamples=np.inf, alternative=alternative
    ).pvalue
    found = sign_flip_mean(d, TestSettings(alternative=alternative))
    assert found.exact
    assert found.p_value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("test", "statistic"), [(sign_flip_mean, np.mean), (sign_flip_median, np.median)])
def test_listed_sign_flips_are_those_of_the_definition(test, statistic):
    d = draw(9, tied=True, seed=6)
    found = test(d, TestSettings(null=0.1))
    assert found.p_value == pytest.approx(plain_resampling.sign_flip_p(d, statistic, null=0.1), rel=1e-12)


@pytest.mark.parametrize("test", [sign_flip_mean, sign_flip_median])
def test_drawn_sign_flips_enclose_the_listed_ones(test, monkeypatch):
    d = draw(14, seed=7)
    exact = test(d, TestSettings()).p_value
    monkeypatch.setattr("humeval_power.comparisons.scores.bootstrap.LISTED_UP_TO", 0)
    monkeypatch.setattr("humeval_power.comparisons.scores.bootstrap.LISTED_MEDIANS_UP_TO", 0)
    drawn = test(d, TestSettings(n_resamples=20_000))
    assert not drawn.exact
    low, high = stats.binom.interval(0.998, 20_000, exact)  # the seed is fixed: a band for one draw
    assert low <= drawn.p_value * 20_001 - 1 <= high
    longer = test(d, TestSettings(n_resamples=20_001))
    assert abs(longer.p_value * 20_002 - drawn.p_value * 20_001) <= 1.001  # a longer run extends a shorter


def test_mcnemar_is_the_mid_p_test_of_counts_and_the_sign_test_its_exact_form():
    d = np.array([1.0] * 14 + [-1.0] * 5 + [0.0] * 31)
    assert mcnemar_test(d, TestSettings()).p_value == pytest.approx(mid_p(14, 5)[()], rel=1e-12)
    exact = stats.binomtest(14, 19).pvalue
    assert sign_test(d, TestSettings()).p_value == pytest.approx(exact, rel=1e-12)
    greater = mcnemar_test(d, TestSettings(alternative="greater")).p_value
    by_hand = stats.binom.sf(14, 19, 0.5) + stats.binom.pmf(14, 19, 0.5) / 2
    assert greater == pytest.approx(by_hand, rel=1e-9)
    less = mcnemar_test(d, TestSettings(alternative="less")).p_value
    assert less + greater == pytest.approx(1.0, rel=1e-9)  # mid-p values of both sides add up
    with pytest.raises(InputError, match="0 and 1"):
        mcnemar_test(d * 0.5, TestSettings())


def test_the_tests_of_set_a_are_those_of_the_reference_values(golden, set_a):
    expected, settings = golden["set_A"], TestSettings()
    t = t_test(set_a, settings)
    assert t.statistic == pytest.approx(expected["t"], rel=1e-9)
    assert t.p_value == pytest.approx(expected["t_p"], rel=1e-9)
    assert t.interval == pytest.approx(expected["t_ci"], rel=1e-9)
    w = wilcoxon_test(set_a, settings)
    assert w.statistic == expected["W_plus"]
    assert w.p_value == pytest.approx(expected["wilcox_p_exact_perm_doubled"], rel=1e-12)
    assert sign_test(set_a, settings).p_value == pytest.approx(expected["sign_test_p"], rel=1e-12)
    flipped = sign_flip_mean(set_a, settings).p_value
    assert flipped == pytest.approx(expected["permutation_mean_exact_p"], rel=1e-12)


DRAWN_ELSEWHERE = ("permutation", "permutation-median", "bootstrap-median")  # other draws when swapped


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in TESTS if name != "primer"])
@given(shift=st.floats(-3, 3), n=st.integers(5, 25))
def test_swapping_the_systems_turns_the_direction(name, shift, n):
    d = np.round(draw(n, seed=n) + shift, 2)
    if name == "mcnemar":
        d = np.sign(d)
    one = run_test(name, d, TestSettings(n_resamples=256, alternative="greater"))
    other = run_test(name, -d, TestSettings(n_resamples=256, alternative="less"))
    # 256 draws: two shares of the same probability differ by less than 5 times sqrt(2 * 0.25 / 256)
    tolerance = 0.22 if name in DRAWN_ELSEWHERE and not one.exact else 1e-9
    assert one.p_value == pytest.approx(other.p_value, abs=tolerance)
    assert one.estimate == pytest.approx(-other.estimate, abs=1e-12)


@each_case("name", TESTS)
def test_systems_that_never_differ_give_p_1(name):
    alternative = "greater" if name == "primer" else "two-sided"
    found = run_test(name, np.zeros(8), TestSettings(alternative=alternative))
    assert found.p_value == 1.0
    assert "nothing speaks against it" in found.remarks[0]


@pytest.mark.parametrize("name", ["t", "bootstrap-t"])
def test_a_constant_difference_is_refused_where_a_spread_is_needed(name):
    with pytest.raises(InputError, match="no spread"):
        run_test(name, np.full(8, 0.5), TestSettings())


def test_a_test_must_answer_the_question():
    with pytest.raises(InputError, match="tests for it: sign"):
        run_test("t", draw(9), TestSettings(), question="median")
    with pytest.raises(InputError, match="There is no test 'z'"):
        run_test("z", draw(9), TestSettings())
    for question, name in DEFAULT_TEST.items():
        assert question in TESTS[name].questions


def test_the_question_of_being_better_is_answered_by_a_share():
    d = np.array([1.0, 2.0, 3.0, -1.0, 0.0])
    found = run_test("sign", d, TestSettings(), question="better")
    assert found.estimate == pytest.approx(0.7)  # 3 better and half a tie of 5
    assert found.estimand.startswith("share")


def test_differences_that_agree_but_for_rounding_are_equal():
    d = score_differences([0.61, 0.58, 0.57], [0.65, 0.62, 0.57])
    assert d[0] == d[1] == 0.04
    assert d[2] == 0
    assert 0.65 - 0.61 != 0.04  # what this is for


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        ([1, 2], [1, 2, 3], "one score for each item"),
        ([1], [2], "At least 2"),
        ([1, math.nan], [1, 2], "finite"),
    ],
)
def test_scores_that_cannot_be_paired_are_refused(first, second, said):
    with pytest.raises(InputError, match=said):
        score_differences(first, second)


@pytest.mark.parametrize(
    "values", [{"alpha": 0.6}, {"null": math.inf}, {"n_resamples": 0}, {"alpha": 0.0}], ids=str
)
def test_settings_that_make_no_sense_are_refused(values):
    with pytest.raises(InputError):
        TestSettings(**values)


@pytest.mark.r
def test_r_gives_the_same_p_values_and_intervals():
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("Rscript is not installed")
    d = draw(25, seed=8)
    code = (
        f"d <- c({','.join(map(repr, d.tolist()))});"
        "w <- wilcox.test(d, exact=TRUE, conf.int=TRUE); t <- t.test(d);"
        "cat(format(c(w$p.value, w$conf.int, w$estimate, t$p.value, t$conf.int,"
        " binom.test(sum(d > 0), length(d))$p.value), digits=15))"
    )
    answer = subprocess.run([program, "-e", code], capture_output=True, text=True, check=True)
    expected = [float(word) for word in answer.stdout.split()]
    w, t = wilcoxon_test(d, TestSettings()), t_test(d, TestSettings())
    found = [w.p_value, *w.interval, w.estimate, t.p_value, *t.interval]
    found.append(sign_test(d, TestSettings()).p_value)
    assert found == pytest.approx(expected, rel=1e-8)


def test_the_lead_is_what_the_test_looks_at_where_ties_hide_it():
    d = np.array([0.0] * 30 + [1.0] * 15 + [-9.0])  # the median is 0 and the mean about 0
    found = run_test("sign", d, TestSettings())
    assert found.p_value < 0.05
    assert found.estimate == 0
    assert found.lead == 14


# Values whose mean varies as a rank sum does.


TYPED = ["0.3", "0.4", "0.3", "1.4", "0.3", "1.1", "-0.1", "0.6"]
tenths = st.integers(-20, 20).map(
    lambda whole: f"{'-' if whole < 0 else ''}{abs(whole) // 10}.{abs(whole) % 10}"
)


def numbers(typed: list[str]) -> np.ndarray:
    return np.array([float(text) for text in typed])


def test_wilcoxon_with_a_null_other_than_zero_has_the_ties_of_the_typed_decimals() -> None:
    found = wilcoxon_test(numbers(TYPED), TestSettings(null=0.1))
    assert exact_ranks.signed_rank_p(exact_ranks.moved(TYPED, "0.1"), "two-sided") == Fraction(10, 256)
    assert found.p_value == 10 / 256
    assert found.statistic == 33.5


@pytest.mark.slow
@pytest.mark.parametrize("alternative", DIRECTIONS)
@given(st.lists(tenths, min_size=2, max_size=8), tenths)
def test_paired_tests_are_those_of_all_assignments_of_signs_in_fractions(
    alternative: str, typed: list[str], null: str
) -> None:
    exact, settings = (
        exact_ranks.moved(typed, null),
        TestSettings(null=float(null), alternative=alternative),
    )  # type: ignore[arg-type]
    found = wilcoxon_test(numbers(typed), settings)
    assert found.p_value == pytest.approx(float(exact_ranks.signed_rank_p(exact, alternative)), rel=1e-12)
    up, down = sum(value > 0 for value in exact), sum(value < 0 for value in exact)
    binomial = stats.binomtest(up, up + down, alternative=alternative).pvalue if up + down else 1.0
    assert sign_test(numbers(typed), settings).p_value == pytest.approx(binomial, rel=1e-12)
    if any(exact):
        flips = (
            float(exact_ranks.sign_flip_p(exact, sum, alternative)) if alternative == "two-sided" else None
        )
        if flips is not None:
            assert sign_flip_mean(numbers(typed), settings).p_value == pytest.approx(flips, rel=1e-12)
            flips = float(exact_ranks.sign_flip_p(exact, median, alternative))
            assert sign_flip_median(numbers(typed), settings).p_value == pytest.approx(flips, rel=1e-12)


@given(st.lists(tenths, min_size=1, max_size=9), st.lists(tenths, min_size=1, max_size=9), tenths)
def test_a_rank_sum_of_shifted_ratings_has_the_ties_of_the_typed_decimals(
    a: list[str], b: list[str], shift: str
) -> None:
    exact_a, exact_b = exact_ranks.moved(a, "0"), exact_ranks.moved(b, shift)
    u, ties = exact_ranks.mann_whitney(exact_a, exact_b)
    n = len(a) + len(b)
    variance = len(a) * len(b) / 12 * (n + 1 - ties / (n * (n - 1)))
    if variance <= 0:
        return
    ratings = np.concatenate([numbers(a), numbers(b) - float(shift)])[None]
    system = np.repeat([0, 1], [len(a), len(b)])
    found = mann_whitney_on_ratings(ratings, Assignment(np.arange(n), np.arange(n), system))
    z = (abs(float(u) - len(a) * len(b) / 2) - 0.5) / math.sqrt(variance)
    assert found.p_value[0] == pytest.approx(min(1.0, 2 * stats.norm.sf(z)), rel=1e-9)
    assert found.direction[0] == np.sign(float(u) - len(a) * len(b) / 2)


def test_wilcoxon_r_is_that_of_the_test_at_the_null() -> None:
    shown = {one.name: one for one in effect_sizes(numbers(TYPED), TestSettings(null=0.1))}["wilcoxon_r"]
    moved = [float(value) for value in exact_ranks.moved(TYPED, "0.1")]
    z = stats.wilcoxon(np.round(moved, 6), method="approx", correction=False).zstatistic
    assert abs(shown.value) == pytest.approx(abs(z) / math.sqrt(8), rel=1e-9)
    assert shown.value != wilcoxon_r(numbers(TYPED)).value
    assert shown.label == "Wilcoxon r, null 0.1"


def test_a_share_of_better_items_at_a_null_counts_typed_ties_half() -> None:
    found = run_test(
        "sign", numbers(["0.3", "0.2", "0.1"]) + 0.0, TestSettings(null=0.1), question="better"
    )
    assert found.estimate == pytest.approx(0.5 + 2 / 6)
    same = run_test("wilcoxon", score_differences([0.1, 0.2], [0.4, 0.5]), TestSettings(null=0.3))
    assert same.p_value == 1.0


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=6), st.integers(0, 9))
def test_differences_of_decimals_are_the_nearest_numbers_to_the_exact_ones(
    whole: list[int], decimals: int
) -> None:
    unit = 10**decimals
    values = np.array([float(Fraction(value, unit)) for value in whole])
    exact = [float(Fraction(value - whole[0], unit)) for value in whole]
    assert exact_difference(values, values[0]).tolist() == exact


def test_small_decimals_beside_large_ones_are_not_lost() -> None:
    # twelve digits of 100,000 would end at the seventh decimal
    assert exact_difference([100000.00000001], [100000.0]).tolist() == [1e-8]


def test_numbers_that_are_no_decimals_are_rounded_to_twelve_digits_of_the_largest() -> None:
    third = np.array([1 / 3, 100 / 3])
    assert common_decimals(third) is None
    assert exact_difference(third, third * (1 + 1e-15)).tolist() == [0.0, 0.0]
    assert rounded([1e-320, 0.0]).tolist() == [1e-320, 0.0]
    assert np.isfinite(exact_difference([1.7e308, 1.0], [0.0, 0.0])).all()


def test_a_statistic_that_misses_the_observed_one_by_rounding_is_as_large() -> None:
    assert at_least(np.array([0.1 + 0.2, 0.3, 0.29]), 0.3).tolist() == [True, True, False]
    assert at_least(np.array([0.3]), 0.1 + 0.2).tolist() == [True]
    assert at_least(np.array([np.inf, -np.inf]), 1.0).tolist() == [True, False]


def test_joint_p_values_count_equal_statistics_whatever_their_rounding() -> None:
    observed, off = np.array([0.3, 0.6]), np.array([0.1 + 0.2, 0.2 + 0.4])
    for drawn in (observed, off, 2 * observed - off):
        joint = JointBootstrap(observed, np.ones(2), observed, np.tile(drawn, (9, 1)), "greater")
        assert joint.p_values().tolist() == [1.0, 1.0]
        assert joint.max_t().tolist() == [1.0, 1.0]
        assert joint.romano_wolf().tolist() == [1.0, 1.0]


def test_resamples_that_equal_the_mean_but_for_rounding_count_half() -> None:
    differences = np.array([0.1, 0.2, 0.3, 0.7, 0.9])
    mean = differences.mean()
    equal = bca_levels(differences, np.full(100, mean), 0.95)
    assert bca_levels(differences, np.full(100, np.nextafter(mean, 0)), 0.95).tolist() == equal.tolist()


def test_differences_moved_to_an_effect_keep_their_ties() -> None:
    pool = numbers(["0.1", "-0.1", "0.2", "-0.2", "0.3"])
    moved = ResampledScores(5, pool, 0.3, "wilcoxon").draw(200, seed=1)
    typed = ResampledScores(5, np.round(pool - 0.05 + 0.3, 6), None, "wilcoxon")
    assert typed.true_effect == pytest.approx(0.3, abs=0.2)
    again = ResampledScores(5, np.round(pool - moved_by(pool) + 0.3, 9), None, "wilcoxon").draw(200, seed=1)
    assert moved.p_value.tolist() == again.p_value.tolist()


def moved_by(pool: np.ndarray) -> float:
    """The pseudomedian, by listing the pairs."""
    first, second = np.triu_indices(len(pool))
    return float(np.median((pool[first] + pool[second]) / 2))


@each_case("name", ["permutation", "bootstrap", "wilcoxon", "sign", "bootstrap-median"])
@each_case("unit", [3, 7, 11])
def test_p_does_not_depend_on_the_unit_of_the_scores(name: Any, unit: int) -> None:
    """Means of three ratings, and F1, are no short decimals: their sums tie as those of whole numbers do."""
    rng = np.random.default_rng(unit)
    settings = TestSettings(n_resamples=500, alternative="greater")
    for _ in range(15):
        a, b = rng.integers(0, unit + 1, (2, 9)).astype(float)
        if (a == b).all():
            continue
        whole = run_test(name, exact_difference(b, a), settings)
        parts = run_test(name, exact_difference(b / unit, a / unit), settings)
        assert parts.p_value == pytest.approx(whole.p_value, abs=1e-12)
        if whole.resamples is not None and parts.resamples is not None:
            assert parts.resamples.not_above == pytest.approx(whole.resamples.not_above, abs=1e-12)


def test_clusters_that_cancel_in_thirds_do_not_vary() -> None:
    differences = exact_difference(np.tile([1.0, 2.0, 2.0], 8) / 3, np.tile([0.0, 1.0, 1.0], 8) / 3)
    clusters = Clusters.of(np.repeat(np.arange(8), 3).tolist())
    assert (ClusterSums.of((differences - differences.mean())[:, None], clusters).sums == 0).all()

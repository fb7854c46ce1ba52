"""The power of paired comparisons: closed forms, simulations, reference values and slow twins."""

import math

import numpy as np
import pytest
from cases import each_case
from reference.golden import shared_golden
from scipy import stats
from statsmodels.stats.power import TTestPower

from humeval_power.comparisons.scores.effect_sizes import TestSettings
from humeval_power.comparisons.scores.power import (
    curve_sizes,
    power_curve,
    required_items,
    required_items_equivalence,
    retrospective_power,
)
from humeval_power.comparisons.scores.scenario import NormalScores, ResampledScores, SignScores, t_power
from humeval_power.comparisons.scores.tests import sign_test, t_test, wilcoxon_test
from humeval_power.errors import InputError
from humeval_power.inference.item_bootstrap import wilson_interval
from humeval_power.inference.student_t import exaggeration
from humeval_power.studies.power.estimate import estimate_power

OBSERVED = np.round(np.random.default_rng(5).exponential(size=30) - 0.6, 1)  # ties and zeros
SCENARIOS = {
    "normal, t": NormalScores(12, 0.4, 1.0),
    "normal, wilcoxon": NormalScores(12, 0.4, 1.0, "wilcoxon"),
    "resampled, t": ResampledScores(12, OBSERVED),
    "resampled, wilcoxon": ResampledScores(12, OBSERVED, effect=0.3, test="wilcoxon"),
    "signs": SignScores(12, 0.1, ties=0.3),
    "signs, mid-p": SignScores(12, 0.1, ties=0.3, mid_p=True),
}


@pytest.fixture(scope="module")
def golden(shared):
    return shared_golden(shared, "14_nlpstattest")


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS.keys())
def test_replicates_belong_to_the_seed_alone(scenario):
    whole = scenario.draw(4200, seed=3)
    for part, n_jobs in (
        (scenario.draw(100, seed=3, first=2000), 1),
        (scenario.draw(2300, seed=3, n_jobs=2), 2),
    ):
        start = 2000 if n_jobs == 1 else 0
        assert (part.p_value == whole.p_value[start : start + len(part)]).all()
        assert (part.estimate == whole.estimate[start : start + len(part)]).all()
    assert (scenario.draw(50, seed=4).estimate != whole.estimate[:50]).any()


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
@pytest.mark.parametrize("kind", ["continuous", "tied"])
def test_each_replicate_is_tested_as_one_study_is(kind, alternative, monkeypatch):
    drawn = []
    generator = np.random.default_rng(7)
    pool = OBSERVED if kind == "tied" else generator.standard_normal(40) + 0.2
    for test, single in (("t", t_test), ("wilcoxon", wilcoxon_test)):
        scenario = ResampledScores(15, pool, test=test, alternative=alternative)
        if kind == "continuous":
            scenario = NormalScores(15, 0.2, 1.0, test, alternative)
        module = "humeval_power.comparisons.scores.scenario"
        original = __import__(module, fromlist=["x"])._tested

        def keep(differences, asked, original=original):
            drawn.append(differences)
            return original(differences, asked)

        monkeypatch.setattr(f"{module}._tested", keep)
        found = scenario.draw(40, seed=2)
        monkeypatch.undo()
        for row, differences in enumerate(drawn.pop()[:40]):
            alone = single(differences, TestSettings(alternative=alternative))
            if test == "wilcoxon" and kind == "tied":
                # ties: the normal approximation inside a simulation, all signs for one study
                expected = stats.wilcoxon(differences, alternative=alternative, method="approx").pvalue
            else:
                expected = alone.p_value
            assert found.p_value[row] == pytest.approx(expected, rel=1e-9, abs=1e-12)
            assert found.estimate[row] == pytest.approx(alone.estimate, abs=1e-12)


def test_signs_are_tested_as_one_study_is():
    scenario = SignScores(25, 0.1, ties=0.2)
    found = scenario.draw(200, seed=1)
    up, down, _ = (
        np.random.Generator(np.random.Philox(np.random.SeedSequence(1, spawn_key=(0,))))
        .multinomial(25, [0.5, 0.3, 0.2], size=2048)
        .T
    )
    for row in range(200):
        d = np.repeat([1.0, -1.0, 0.0], [up[row], down[row], 25 - up[row] - down[row]])
        assert found.p_value[row] == pytest.approx(sign_test(d, TestSettings()).p_value, rel=1e-9)


@each_case("alternative", ["two-sided", "greater"])
@each_case(("n", "ratio"), [(5, 0.8), (20, 0.5), (199, 0.2), (2000, 0.03)])
def test_the_power_of_t_is_statsmodels(n, ratio, alternative):
    theirs = "two-sided" if alternative == "two-sided" else "larger"
    expected = TTestPower().power(ratio, n, 0.05, alternative=theirs)
    assert t_power(ratio, n, alternative=alternative).rejection_rate == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("ratio", [0.1, 0.4, 1.5])
def test_exaggeration_is_that_of_the_rating_studies(ratio):
    found = t_power(ratio, 30)
    expected = exaggeration(ratio * math.sqrt(30), 29.0, float(stats.t.isf(0.025, 29)))
    assert (found.type_m, found.type_s) == pytest.approx(expected, rel=1e-9)
    turned = t_power(-ratio, 30)
    assert (turned.power, turned.type_m) == pytest.approx((found.power, found.type_m))
    assert t_power(-ratio, 30, alternative="less").power == pytest.approx(
        t_power(ratio, 30, alternative="greater").power
    )


@pytest.mark.parametrize("name", ["normal, t", "normal, wilcoxon"])
def test_computed_power_is_the_simulated_one(name):
    scenario = NormalScores(60, 0.35, 1.0, SCENARIOS[name].test)
    found = estimate_power(scenario, n_simulations=4096, seed=2)
    low, high = wilson_interval(found.counts.n_right, found.n_usable, 0.999)
    slack = 0.02 if "wilcoxon" in name else 0.0  # the asymptotic efficiency is an approximation
    assert low - slack <= scenario.computed().power <= high + slack
    assert found.type_m == pytest.approx(scenario.computed().type_m, rel=0.05)


@each_case("name", SCENARIOS)
def test_no_effect_rejects_at_most_at_the_nominal_rate(name):
    scenario = SCENARIOS[name].with_effect(0.0)
    size = {"normal, t": 40, "normal, wilcoxon": 40}.get(name, 60)
    scenario = type(scenario)(
        **{**{f: getattr(scenario, f) for f in scenario.__dataclass_fields__}, "n": size}
    )
    found = estimate_power(scenario, n_simulations=4096, seed=4)
    # 0.065: skewed differences of 60 items; binomial band of 4,096 studies beyond it with 0.999
    assert found.rejection_rate <= stats.binom.ppf(0.999, 4096, 0.065) / 4096


def test_prospective_sizes_are_the_reference_values(golden):
    for row in golden["prospective_paired_t"]:
        found = required_items(row["mean"] / row["sd"])
        assert found.n == row["n80"]
        assert found.exact_n == pytest.approx(row["n80_real"], abs=2e-3)  # R's uniroot stops at 1e-4
        assert required_items(row["mean"] / row["sd"], power=0.9).exact_n == pytest.approx(
            row["n90"], abs=2e-3
        )
        assert found.power >= 0.8
        if found.n > 2:
            assert t_power(row["mean"] / row["sd"], found.n - 1).power < 0.8


def test_observed_power_is_a_function_of_the_p_value(golden):
    for p_value, expected in golden["observed_power_vs_p"].items():
        z = stats.norm.isf(float(p_value) / 2)
        n = 10_000_000
        assert t_power(z / math.sqrt(n), n).rejection_rate == pytest.approx(expected, abs=1e-5)


def test_equivalence_needs_many_more_items_and_has_the_power_it_says():
    found = required_items_equivalence(0.3)
    rng = np.random.default_rng(3)
    d = rng.standard_normal((4000, found.n))
    half = stats.t.isf(0.05, found.n - 1) * d.std(axis=1, ddof=1) / math.sqrt(found.n)
    shown = (np.abs(d.mean(axis=1)) + half < 0.3).mean()
    low, high = stats.binom.interval(0.998, 4000, 0.8)
    assert low / 4000 - 0.005 <= shown <= high / 4000 + 0.01
    assert required_items_equivalence(0.3, ratio=0.15).n > 2 * found.n
    with pytest.raises(InputError, match="inside the margin"):
        required_items_equivalence(0.1, ratio=0.2)


@pytest.mark.parametrize(
    ("ratio", "values", "said"),
    [
        (0.0, {}, "No number of items"),
        (-0.2, {"alternative": "greater"}, "No number of items"),
        (0.2, {"power": 0.01}, "power must lie between"),
        (1e-6, {}, "more than 100,000,000"),
    ],
)
def test_sizes_that_cannot_be_are_refused(ratio, values, said):
    with pytest.raises(InputError, match=said):
        required_items(ratio, **values)


def test_a_huge_effect_needs_as_few_items_as_a_test_can_have():
    assert required_items(1000.0).n == 2


def test_resampled_differences_are_moved_to_the_effect_or_left_with_their_ties():
    assert ResampledScores(10, OBSERVED).true_effect == pytest.approx(OBSERVED.mean())
    moved = ResampledScores(4000, OBSERVED, effect=1.0)
    assert moved.draw(10, seed=1).estimate.mean() == pytest.approx(1.0, abs=0.05)
    left = ResampledScores(200, OBSERVED, test="wilcoxon").draw(5, seed=1).estimate
    assert set(np.round(20 * left, 9) % 1) == {0.0}  # pair means of tenths are twentieths


@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign", "mcnemar", "permutation", "bootstrap-median"])
def test_power_grows_with_the_items_around_those_at_hand(test):
    d = np.sign(OBSERVED) if test == "mcnemar" else OBSERVED + 0.2
    question = {"sign": "better", "wilcoxon": "pseudomedian", "bootstrap-median": "median"}.get(
        test, "mean"
    )
    found = retrospective_power(
        d, test=test, question=question, settings=TestSettings(), effect=0.3, n_simulations=300
    )
    powers = [point.power for point in found.curve]
    assert powers[0] < powers[-1]
    assert found.at.n == len(d)
    assert not found.is_observed
    assert retrospective_power(np.ones(5), test="t", question="mean", settings=TestSettings()) is None


def test_a_curve_lists_its_sizes_and_keeps_the_seed():
    assert curve_sizes(100) == (25, 50, 75, 100, 150, 200, 300, 400)
    for n in (2, 3, 4, 8):
        assert n in curve_sizes(n)
    points = power_curve(lambda n: NormalScores(n, 0.3, 1.0), (10, 20), n_simulations=200, seed=5)
    alone = estimate_power(NormalScores(20, 0.3, 1.0), n_simulations=200, seed=5)
    assert points[1].simulated == alone


@each_case(
    "make",
    [
        lambda: NormalScores(1, 0.1, 1.0),
        lambda: NormalScores(10, 0.1, 0.0),
        lambda: NormalScores(10, 0.1, 1.0, alpha=0.7),
        lambda: ResampledScores(10, np.array([1.0])),
        lambda: SignScores(1, 0.0),
        lambda: SignScores(10, 0.4, ties=0.5),
    ],
)
def test_scenarios_that_make_no_sense_are_refused(make):
    with pytest.raises(InputError):
        make()


def test_the_effect_that_matters_is_a_difference_whatever_the_null_is():
    d = np.random.default_rng(2).standard_normal(60) + 1.0
    shifted = retrospective_power(
        d, test="t", question="mean", settings=TestSettings(null=0.7), effect=1.1, n_simulations=400
    )
    plain = retrospective_power(
        d, test="t", question="mean", settings=TestSettings(), effect=0.4, n_simulations=400
    )
    assert shifted.effect == pytest.approx(1.1)
    assert shifted.at.power == pytest.approx(plain.at.power, abs=1e-9)

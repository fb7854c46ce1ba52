"""The four steps of a comparison: the recommended test, power by formula, and the items of the next study."""

import json

import cli
import numpy as np
import pytest
from cases import each_case, few_fast
from scipy import stats

from humeval_power.choices import ADVISED
from humeval_power.comparisons.scores import calls as compare
from humeval_power.comparisons.scores.advice import advise, analyse, recommended_test
from humeval_power.comparisons.scores.effect_sizes import TestSettings, signed_rank_effect, wilcoxon_r
from humeval_power.comparisons.scores.power import curve_sizes, retrospective_power
from humeval_power.comparisons.scores.scenario import ResampledScores, SignScores, t_power
from humeval_power.comparisons.scores.score_table import ScoreTable
from humeval_power.comparisons.scores.tests import TESTS, run_test
from humeval_power.errors import InputError
from humeval_power.studies.power.estimate import estimate_power

NORMAL = np.random.default_rng(3).standard_normal(80) + 0.3
SKEWED = np.random.default_rng(4).exponential(1.0, 25) - 0.4


def table(differences, *, systems=("A", "B")):
    return ScoreTable(np.column_stack([np.zeros(len(differences)), differences]), systems)


def power(differences, test="t", question="mean", **asked):
    settings = TestSettings(alternative=asked.pop("alternative", "two-sided"))
    return retrospective_power(
        differences, test=test, question=question, settings=settings, power_by="formula", **asked
    )


# the recommended test


@each_case("question", ["mean", "median", "pseudomedian", "better"])
@each_case("differences", [NORMAL, SKEWED, np.sign(NORMAL), np.zeros(9), np.arange(3.0)])
def test_the_recommended_test_answers_the_question_and_is_the_first_of_the_advice(question, differences):
    data = analyse(np.zeros(len(differences)), differences)
    name = recommended_test(question, [data])
    assert question in TESTS[name].questions
    assert name == advise(question, data)[0].name


def test_the_recommendation_follows_the_shape_of_the_differences_and_not_their_sign():
    for differences in (NORMAL, SKEWED, np.sign(NORMAL)):
        one, other = (analyse(np.zeros(len(differences)), sign * differences) for sign in (1, -1))
        assert recommended_test("mean", [one]) == recommended_test("mean", [other])
    assert recommended_test("mean", [analyse(np.zeros(80), NORMAL)]) == "t"
    assert recommended_test("mean", [analyse(np.zeros(25), SKEWED)]) == "bootstrap-t"
    right = (NORMAL > 0).astype(float)
    assert recommended_test("mean", [analyse(np.zeros(80), right)]) == "mcnemar"


def test_many_pairs_get_one_test_that_suits_them_all():
    datas = [analyse(np.zeros(len(each)), each) for each in (NORMAL, SKEWED)]
    assert recommended_test("mean", datas) == "bootstrap-t"
    binary = analyse(np.zeros(80), (NORMAL > 0).astype(float))
    assert "mcnemar" in {one.name for one in advise("mean", binary)}
    assert recommended_test("mean", [binary, datas[0]]) == "t"  # McNemar's cannot judge the second


def test_recommended_is_run_and_named():
    found = compare.scores(table(SKEWED), question="mean", test=ADVISED, power_by="formula")
    assert found.comparison.test.name == "bootstrap-t"
    assert "test:bootstrap-t" in found.document().signature
    assert not any("less preferred" in warning for warning in found.comparison.warnings)
    plain = compare.scores(table(SKEWED), question="mean", power_by="formula")
    assert plain.comparison.test.name == "t"
    assert any("less preferred" in warning for warning in plain.comparison.warnings)
    wide = ScoreTable(np.column_stack([np.zeros(25), SKEWED, SKEWED[::-1]]), ("a", "b", "c"))
    many = compare.scores(wide, question="mean", test=ADVISED)
    assert {pair.test.name for pair in many.found.pairs} == {"bootstrap-t"}
    stepped = compare.scores(wide, question="mean", test=ADVISED, correction="romano-wolf")
    assert {pair.test.name for pair in stepped.found.pairs} == {"bootstrap-t"}


def test_recommended_under_the_published_procedure_is_what_that_recommends():
    asked = {"procedure": "nlpstattest", "power_by": "formula"}
    plain, named = (compare.scores(table(SKEWED), test=test, **asked) for test in (None, ADVISED))
    assert plain.comparison.test == named.comparison.test


@pytest.mark.slow
@pytest.mark.parametrize("n", [15, 40])
def test_choosing_by_the_shape_keeps_the_level_better_than_student_where_differences_are_skewed(n):
    rng, chosen, student, studies = np.random.default_rng(5), 0, 0, 800
    for seed in range(studies):
        d = rng.exponential(1.0, n) - 1.0  # the mean is 0
        settings = TestSettings(n_resamples=299, seed=seed)
        name = recommended_test("mean", [analyse(np.zeros(n), d)])
        chosen += run_test(name, d, settings).p_value <= 0.05
        student += run_test("t", d, settings).p_value <= 0.05
    assert chosen < student
    assert chosen <= stats.binom.isf(0.001, studies, 0.065)  # bootstrap-t: a little above 5 %


# power by formula


def test_the_formula_of_the_t_test_is_the_noncentral_t_and_close_to_resampling():
    found = power(NORMAL)
    ratio = NORMAL.mean() / NORMAL.std(ddof=1)
    for point in found.curve:
        df, shift = point.n - 1, ratio * np.sqrt(point.n)
        critical = stats.t.isf(0.025, df)
        assert point.formula == pytest.approx(stats.nct.sf(critical, df, shift), abs=1e-6)
        assert point.simulated is None
        assert point.interval is None
    drawn = estimate_power(ResampledScores(80, NORMAL), n_simulations=4000, seed=1)
    assert found.at.power == pytest.approx(drawn.power, abs=0.03)


@few_fast("alternative", ["two-sided", "greater"], fast=1)
@pytest.mark.parametrize("differences", [NORMAL, np.random.default_rng(6).standard_t(2, 100) + 0.3])
def test_the_formula_of_wilcoxons_test_is_close_to_resampling(differences, alternative):
    found = power(differences, "wilcoxon", "pseudomedian", alternative=alternative, sizes=(60, 200))
    for point in found.curve:
        scenario = ResampledScores(point.n, differences, test="wilcoxon", alternative=alternative)
        drawn = estimate_power(scenario, n_simulations=3000, seed=2)
        assert point.power == pytest.approx(drawn.power, abs=0.04)


def test_the_spread_of_the_signed_ranks_is_that_of_the_interval_of_r():
    r, sd = signed_rank_effect(NORMAL)
    one = wilcoxon_r(NORMAL)
    top = 80 * 81 / 4 / np.sqrt(80 * 81 * 161 / 24) / np.sqrt(80)
    reach = stats.t.isf(0.025, 79) * sd / np.sqrt(80) / top / (1 - (r / top) ** 2)
    ends = np.tanh(np.arctanh(r / top) + np.array([-reach, reach])) * top
    assert (r, *ends) == pytest.approx((one.value, one.low, one.high))
    assert signed_rank_effect(np.zeros(5)) == (0.0, 1.0)
    assert signed_rank_effect(np.arange(1.0, 9.0))[1] == 0.0


def signs_by_hand(scenario):
    """Every pair of counts, tested one by one by SciPy: share rejected with the sign of the effect."""
    n, half = scenario.n, (1 - scenario.ties) / 2
    shares = [half + scenario.effect, half - scenario.effect, scenario.ties]
    right = 0.0
    for up in range(n + 1):
        for down in range(n + 1 - up):
            if up + down == 0 or (up > down) != (scenario.effect >= 0) or up == down:
                continue
            tested = {"two-sided": "two-sided", "greater": "greater", "less": "less"}[scenario.alternative]
            p = stats.binomtest(up, up + down, alternative=tested).pvalue
            if scenario.mid_p:
                sides = 2 if scenario.alternative == "two-sided" else 1
                p -= sides * stats.binom.pmf(up, up + down, 0.5) / 2
            if p <= scenario.alpha:
                right += stats.multinomial.pmf([up, down, n - up - down], n, shares)
    return right


@each_case("mid_p", [False, True])
@each_case("alternative", ["two-sided", "greater", "less"])
@each_case(("effect", "ties"), [(0.2, 0.3), (-0.25, 0.0), (0.5, 0.0)])
def test_the_power_of_the_sign_test_is_that_of_every_table(effect, ties, alternative, mid_p):
    scenario = SignScores(18, effect, ties, alternative, 0.05, mid_p)
    found = scenario.computed()
    assert found.power == pytest.approx(signs_by_hand(scenario), abs=1e-9)
    drawn = estimate_power(scenario, n_simulations=2000, seed=3)
    low, high = stats.binom.interval(0.9999, 2000, found.power)
    assert low <= round(drawn.power * 2000) <= high
    if alternative == "two-sided":
        return
    assert found.type_s in (0.0, 1.0) or np.isnan(found.type_s)  # one side alone is ever claimed


def test_the_items_for_the_target_are_the_fewest_by_formula():
    found = power(NORMAL, target=0.9)
    ratio = NORMAL.mean() / NORMAL.std(ddof=1)
    assert t_power(ratio, found.needed).power >= 0.9 > t_power(ratio, found.needed - 1).power
    assert found.target == 0.9
    assert power(NORMAL, alternative="less").needed is None
    assert power(np.sign(NORMAL), "sign", "better", effect=0.0).needed is None


def test_simulation_and_formula_stand_side_by_side():
    found = retrospective_power(
        NORMAL, test="t", question="mean", settings=TestSettings(), n_simulations=400
    )
    for point in found.curve:
        low, high = point.interval
        assert low <= point.power <= high
        assert point.formula == pytest.approx(point.power, abs=0.12)
    assert tuple(point.n for point in found.curve) == curve_sizes(80)


# the command


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    rng = np.random.default_rng(1)
    a = rng.standard_normal(60)
    b = a + 0.5 + rng.standard_normal(60)
    path = tmp_path_factory.mktemp("scores") / "two.txt"
    path.write_text("".join(f"{x:.4f} {y:.4f}\n" for x, y in zip(a, b, strict=True)))
    return path


def record(*words):
    return json.loads(cli.run("compare", *words, "--json", "-q").stdout)


def test_sizes_and_target_are_asked_for(two):
    words = (two, "--question", "mean", "--power-by", "formula", "--power-sizes", "20:40:10")
    found = record(*words, "--power", "0.95")["power"]
    assert [point["n"] for point in found["curve"]] == [20, 30, 40, 60]
    assert found["n_simulations"] == 0
    assert found["power_interval"] is None
    assert found["target_power"] == 0.95
    assert found["n_for_target"] > record(*words)["power"]["n_for_target"]
    said = cli.run("compare", *words, "-q").stdout
    assert "simulated" not in said.partition("Step 4")[2]
    assert f"about {record(*words)['power']['n_for_target']} items" in " ".join(said.split())


def test_sizes_that_make_no_sense_are_refused(two):
    for sizes in ("1", "a", "10:5"):
        result = cli.run("compare", two, "--question", "mean", "--power-sizes", sizes, code=2)
        assert "--power-sizes" in result.stderr
    with pytest.raises(InputError, match="at least 2 items"):
        compare.scores(table(NORMAL), question="mean", power_sizes=[1])


def test_the_recommended_test_is_an_option(two):
    found = record(two, "--question", "mean", "--test", "recommended", "--power-by", "formula")
    assert found["test"]["name"] == "t"
    assert "test:t|" in found["signature"]

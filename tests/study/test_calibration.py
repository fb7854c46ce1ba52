"""Rates of false positives: against golden simulations, and what the table says of them."""

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from cases import each_case
from scipy import stats
from seven import seven
from statsmodels.stats.multitest import multipletests

import humeval_power as hp
from humeval_power.designs import both_nested, crossed, k_per_item
from humeval_power.errors import InputError
from humeval_power.inference.common_tests import COMMON_TESTS
from humeval_power.parameters import preset
from humeval_power.rules import CARD2020, DEFAULT_RULE, ComparisonFamily, DecisionRule
from humeval_power.saying.figure_style import figure_bytes
from humeval_power.studies.power.calibration import (
    CALIBRATION_COLUMNS,
    NULL_TESTS,
    Calibration,
    binomial_band,
    calibrate,
    calibration_table,
    has_differences,
    size_of_test,
)
from humeval_power.studies.power.estimate import PowerEstimate, Tally
from humeval_power.studies.power.figures import calibration_figure
from humeval_power.studies.power.result_calibration import credible
from humeval_power.studies.power.systems_goals import Truth
from humeval_power.studies.power.systems_power import counts_by_law
from humeval_power.studies.power.systems_precision import systems_precision
from humeval_power.studies.power.systems_replication import SystemsReplication
from humeval_power.systems import SystemsParameters

HIGH = preset("high")
GOLDEN_COLUMNS = {  # column of the golden file: test, which rate
    "t_item_means": ("item-means-t", "rejection"),
    "t_worker_means": ("worker-means-t", "rejection"),
    "kr_pbkrtest": ("kenward-roger", "rejection"),
    "satt_lmerTest": ("satterthwaite", "rejection"),
    "reml_t196_two": ("wald-z", "rejection"),
    "reml_t196_upper": ("wald-z", "upper"),
    "ml_t196_two": ("card2020", "rejection"),
    "ml_t196_upper": ("card2020", "upper"),
}


def by_test(results: list[Calibration]) -> dict[str, Calibration]:
    """Results under the names of their tests."""
    return {result.test: result for result in results}


def distance(count: int, n: int, golden: float, n_golden: int) -> float:
    """Two binomial shares apart, in standard errors of their difference."""
    share = (count + golden * n_golden) / (n + n_golden)
    error = (share * (1 - share) * (1 / n + 1 / n_golden)) ** 0.5
    return float(abs(count / n - golden) / error)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "workers", "items"),
    [("high", 3, 50), ("high", 3, 100), ("high", 10, 50), ("low", 3, 100), ("low", 10, 50)],
)
def test_false_positives_are_those_of_the_golden_simulation(
    shared: Path, setting: str, workers: int, items: int
) -> None:
    # golden: 100,000 studies (20,000 by maximum likelihood) from their mean squares, another program;
    # 40 comparisons, so that 4 standard errors have odds of 400 to 1
    rows = json.loads((shared / "golden" / "03_fpr.json").read_text())["fpr"]
    golden = next(r for r in rows if (r["setting"], r["m"], r["n"]) == (setting, workers, items))
    found = by_test(calibrate(preset(setting), crossed(workers, items), n_simulations=4000, seed=11))
    for column, (test, side) in GOLDEN_COLUMNS.items():
        estimate = found[test].estimate
        rate = estimate.power if side == "upper" else estimate.rejection_rate
        n_golden = golden["N_ml"] if column.startswith("ml") else golden["N"]
        assert distance(round(rate * 4000), 4000, golden[column], n_golden) < 4, column


@pytest.mark.slow
def test_an_item_mean_t_test_is_right_where_workers_do_not_differ() -> None:
    same_workers = replace(HIGH, sd_worker_slope=0.0)
    found = by_test(
        calibrate(
            same_workers, crossed(3, 100), tests=["item-means-t", "worker-means-t"], n_simulations=12_000
        )
    )
    # workers who agree leave the items' differences independent and normal: the t test is exact there,
    # while the workers' means share the items that they rated
    assert found["item-means-t"].verdict == "calibrated"
    assert found["worker-means-t"].verdict == "too bold"


def test_ratings_and_mean_squares_give_the_same_size() -> None:
    design = crossed(4, 20)
    by_ratings = by_test(calibrate(HIGH, design, tests=["kenward-roger"], n_simulations=5000, seed=5))
    by_squares = size_of_test(HIGH, design, n_simulations=50_000, seed=6)
    rate = by_ratings["kenward-roger"].estimate.rejection_rate
    assert distance(round(rate * 5000), 5000, by_squares.rejection_rate, 50_000) < 3.5


def test_the_answer_does_not_depend_on_the_number_of_jobs() -> None:
    one = calibrate(HIGH, crossed(3, 12), n_simulations=700, seed=3, n_jobs=1)
    two = calibrate(HIGH, crossed(3, 12), n_simulations=700, seed=3, n_jobs=2)
    pd.testing.assert_frame_equal(calibration_table(one), calibration_table(two), check_exact=True)


def test_an_effect_in_the_parameters_plays_no_role() -> None:
    design, few = crossed(3, 12), {"tests": ["item-means-t"], "n_simulations": 300}
    without = calibrate(HIGH, design, **few)
    assert calibrate(HIGH.with_difference(0.5), design, **few) == without


def test_a_one_sided_rule_is_the_upper_side_of_the_two_sided_one_at_twice_its_alpha() -> None:
    design, n = crossed(3, 20), 600
    two_sided = calibrate(HIGH, design, n_simulations=n)
    one_sided = calibrate(HIGH, design, rule=replace(CARD2020), n_simulations=n)
    for two, one in zip(two_sided, one_sided, strict=True):
        assert one.estimate.counts == two.estimate.counts
        assert one.judged == (two.estimate.power, two.estimate.interval)
        assert one.band == pytest.approx((0.02, 0.03))


def test_the_planned_rule_is_marked_and_comes_first_if_it_is_no_standard_one() -> None:
    design, n = crossed(3, 10), 50
    assert [r.test for r in calibrate(HIGH, design, n_simulations=n) if r.is_rule] == ["kenward-roger"]
    card = calibrate(HIGH, design, rule=CARD2020, tests=["ratings-t"], n_simulations=n)
    assert [(r.test, r.is_rule) for r in card] == [("card2020", True), ("ratings-t", False)]
    own = calibrate(HIGH, design, rule=DecisionRule(estimator="ml", df="min"), n_simulations=n)
    assert [r.test for r in own] == ["rule", *NULL_TESTS]
    assert own[0].is_rule


@pytest.mark.slow
@pytest.mark.parametrize(
    "rule", [DecisionRule(df="min"), DecisionRule(df="calibrated")], ids=lambda r: r.df
)
def test_a_calibrated_rule_keeps_its_promise_where_one_with_few_df_is_too_careful(
    rule: DecisionRule,
) -> None:
    # its critical value is simulated too: its own rate is off by some tenths of a per cent, which many more studies
    # would show
    found = calibrate(HIGH, crossed(3, 50), rule=rule, tests=[], n_simulations=4_000)[0]
    assert found.verdict in {"min": ("too careful",), "calibrated": ("calibrated", "unclear")}[rule.df]


def test_tests_that_the_design_does_not_allow_are_listed_without_studies() -> None:
    found = by_test(calibrate(HIGH, both_nested(4, 6), tests=list(COMMON_TESTS), n_simulations=60))
    undefined = {name for name, result in found.items() if result.verdict == "not defined"}
    assert undefined == {"item-means-t", "worker-means-t", "wilcoxon"}
    assert all(found[name].estimate.n_simulations == 0 for name in undefined)


@pytest.mark.parametrize("paired", [True, False])
def test_differences_need_workers_who_see_both_systems(paired: bool) -> None:
    design = k_per_item(6, 12, ratings_per_item=2, paired=paired)
    assert has_differences(design.assignment) is paired
    found = by_test(calibrate(HIGH, design, tests=["differences"], n_simulations=64))
    assert (found["differences"].estimate.n_simulations == 64) is paired


def test_studies_without_an_answer_are_failures_and_count_neither_way() -> None:
    # every rating is rounded to 0.5: no test has any variance to work with
    alike = seven(0.5, 0.0, 0.0, 0.001, 0.0, 0.001, 0.001)
    for result in calibrate(alike, crossed(3, 5), response="likert", points=3, n_simulations=20):
        assert (result.estimate.n_failed, result.estimate.n_usable) == (20, 0)
        assert result.verdict == "not defined"


def test_an_incomplete_design_is_fitted_on_the_ratings_that_the_common_tests_see() -> None:
    design = k_per_item(6, 20, ratings_per_item=3)
    found = by_test(calibrate(HIGH, design, n_simulations=400, seed=2, n_jobs=2))
    assert set(found) == set(NULL_TESTS)
    assert all(result.estimate.n_failed == 0 for result in found.values())
    # z has narrower limits than t, and ML smaller standard errors than REML: on the same studies
    ordered = ["min", "kenward-roger", "wald-z", "card2020"]
    rates = [found[name].estimate.rejection_rate for name in ordered]
    assert rates == sorted(rates)


def test_the_band_holds_the_central_counts_of_a_binomial() -> None:
    low, high = binomial_band(2000, 0.05)
    inside = stats.binom.cdf(round(high * 2000), 2000, 0.05) - stats.binom.cdf(
        round(low * 2000) - 1, 2000, 0.05
    )
    assert 0.99 <= inside < 0.995


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tests": ["anova"]}, "no test 'anova'"),
        ({"n_simulations": 0}, "at least 1"),
        ({"rule": DecisionRule(alternative="greater", alpha=0.5)}, "below 0.5"),
        ({"rule": DecisionRule(df="bootstrap")}, "bootstrap"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        calibrate(HIGH, crossed(3, 5), **options)  # type: ignore[arg-type]


def test_the_table_has_a_row_for_each_test() -> None:
    table = calibration_table(calibrate(HIGH, crossed(3, 8), n_simulations=100))
    assert tuple(table.columns) == CALIBRATION_COLUMNS
    assert tuple(table["test"]) == NULL_TESTS
    assert (table["rejection_low"] <= table["rejection_rate"] + 1e-12).all()
    assert (table["upper_rate"] <= table["rejection_rate"]).all()


def test_the_figure_has_a_dot_for_each_defined_test_at_its_rate() -> None:
    table = calibration_table(
        calibrate(HIGH, both_nested(4, 6), tests=list(COMMON_TESTS), rule=CARD2020, n_simulations=80)
    )
    axes = calibration_figure(table, title="Both nested").axes[0]
    markers = [line for line in axes.lines if line.get_marker() not in (None, "None", "")]
    dots = sorted(float(x) for line in markers for x in line.get_xdata())
    defined = table[table["verdict"] != "not defined"]
    assert len(defined) == len(table) - 3
    assert dots == pytest.approx(sorted(100 * defined["upper_rate"]))
    names = [text.get_text().removesuffix(" *") for text in axes.get_yticklabels()]
    assert sorted(names) == sorted(defined["label"])


@pytest.mark.slow
def test_the_figure_is_the_same_on_every_run() -> None:
    table = calibration_table(calibrate(HIGH, crossed(3, 8), n_simulations=100))
    first, second = (figure_bytes(calibration_figure(table), "svg") for _ in range(2))
    assert first == second


def test_a_figure_of_two_alphas_is_refused() -> None:
    table = calibration_table(calibrate(HIGH, crossed(3, 8), n_simulations=50))
    with pytest.raises(InputError, match="one alpha"):
        calibration_figure(pd.concat([table, table.assign(alpha=0.01)]))


def a_test_with(n_right: int, n: int, alpha: float = 0.05) -> Calibration:
    """A test that found an effect in so many studies without one."""
    estimate = PowerEstimate(Tally(n=n, n_right=n_right), 0.0, alpha)
    return Calibration("t", "t", False, DecisionRule(alpha=alpha), estimate)


@each_case(
    ("found", "n", "verdict"),
    [
        (15, 300, "unclear"),  # 5 % of few studies: anything from 2.6 to 9.3 %
        (500, 10_000, "calibrated"),
        (530, 10_000, "calibrated"),
        (540, 10_000, "unclear"),
        (550, 10_000, "unclear"),  # from 4.9 to 6.1 %
        (570, 10_000, "too bold"),
        (430, 10_000, "too careful"),
        (5_200, 100_000, "too bold"),  # within the band, and shown to be off
        (0, 0, "not defined"),
    ],
)
def test_the_verdict_follows_from_the_interval_of_the_rate(found: int, n: int, verdict: str) -> None:
    result = a_test_with(found, n)
    assert result.verdict == verdict
    if n:
        assert result.judged_interval == pytest.approx(
            tuple(stats.binomtest(found, n).proportion_ci(0.99, method="wilson")), rel=1e-12
        )
    assert (result.needed_simulations is not None) == (verdict == "unclear")


@each_case(("found", "n"), [(15, 300), (0, 100), (14, 200), (550, 10_000), (60, 1000)])
def test_as_many_studies_as_are_said_to_be_needed_tell_if_their_rate_is_the_one_seen(
    found: int, n: int
) -> None:
    needed = a_test_with(found, n).needed_simulations
    assert needed is not None
    assert needed > n
    assert a_test_with(round(needed * found / n), needed).verdict != "unclear"


def test_few_studies_never_call_a_test_calibrated() -> None:
    results = calibrate(HIGH, crossed(10, 20), n_simulations=300)
    assert not any(result.verdict == "calibrated" for result in results)


def test_a_valid_test_gives_a_p_value_or_less_in_that_share_of_studies() -> None:
    # Items that favour neither system leave the workers' mean differences independent normals: their t test is
    # exact, so that 2,000 studies give p <= .03 within this band with probability .998.
    even = replace(HIGH, sd_item_slope=0.0)
    result = hp.calibrate(even, crossed(5, 10), p=0.03, n_simulations=2000, seed=3)
    found = by_test(result.settings[0].results)["worker-means-t"]
    low, high = binomial_band(2000, 0.03, 0.998)
    assert low <= found.estimate.rejection_rate <= high
    assert credible(found, 0.05) == "yes"
    assert credible(found, 0.01) == "no"
    assert credible(found, 0.03) == "unclear"


def test_a_p_value_outside_0_and_1_or_no_parameters_are_refused() -> None:
    with pytest.raises(InputError, match=r"between 0 and 1; got 1\.5"):
        hp.calibrate(HIGH, crossed(3, 10), p=1.5)
    with pytest.raises(InputError, match="no parameters"):
        hp.calibrate({}, crossed(3, 10))


THREE = SystemsParameters.of_parameters(HIGH, 3)
DUNNETT = ComparisonFamily("baseline", "B", correction="max-t", model="joint", variances="common")


@each_case("family", [ComparisonFamily(), ComparisonFamily(correction="none"), DUNNETT])
def test_of_several_systems_the_planned_procedure_errs_as_the_law_of_its_estimates_says(family):
    design, n = crossed(8, 20, n_systems=3), 800
    precision = systems_precision(THREE, design, family)
    law = counts_by_law(Truth(THREE, precision.pairs, DEFAULT_RULE), precision, family)
    (found,) = (one for one in calibrate(THREE, design, family=family, n_simulations=n) if one.is_rule)
    # inside this band with probability 0.998
    low, high = stats.binom.interval(0.998, n, law.false / law.n)
    assert low <= round(found.judged[0] * n) <= high


@each_case("alternative", ["two-sided", "greater"])
def test_of_several_systems_a_common_test_is_made_of_each_pair_and_corrected(alternative):
    rule = DecisionRule(alternative=alternative)
    design, n = k_per_item(6, 12, ratings_per_item=2, n_systems=3), 40
    found = by_test(calibrate(THREE, design, rule=rule, n_simulations=n, seed=5)[:9])["item-means-t"]
    family = ComparisonFamily()
    drawn = SystemsReplication(THREE, design, family, ((0, 1), (0, 2), (1, 2)), rule)
    rows, erred = design.assignment, 0
    for ratings in drawn.ratings(range(n), seed=5):
        means = pd.Series(ratings).groupby([rows.item, rows.system]).mean().unstack()
        p = [
            stats.ttest_rel(means[second], means[first], alternative=alternative).pvalue
            for first, second in drawn.pairs
        ]
        erred += bool(multipletests(p, 0.05, "holm")[0].any())
    assert 0 < erred == round(found.judged[0] * n)


def test_several_systems_that_are_two_have_the_record_of_two():
    two = SystemsParameters.of_parameters(HIGH, 2)
    how = {"n_simulations": 50, "seed": 3}
    assert hp.calibrate(two, crossed(4, 12), **how).content() == (
        hp.calibrate(two.pair(0, 1), crossed(4, 12), **how).content()
    )
    several = hp.calibrate(THREE, crossed(4, 12, n_systems=3), **how)
    assert several.content()["family"]["correction"] == "holm"
    for more, why in (
        ({"p": 0.03}, "one test"),
        ({"rule": DecisionRule(alternative="equivalent", margin=0.1)}, "at the margin of each other"),
    ):
        with pytest.raises(InputError, match=why):
            hp.calibrate(THREE, crossed(4, 12, n_systems=3), **how, **more)

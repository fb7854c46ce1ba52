"""Power for several systems by formula: against a million simulated studies, quadrature, SciPy and two systems."""

import math
from dataclasses import replace

import numpy as np
import pytest
from cases import each_case, few_fast
from reference.golden import shared_golden
from scipy import stats

from humeval_power.designs import Assignment, Design, crossed, k_per_item
from humeval_power.errors import InputError, ParametersError
from humeval_power.estimation.joint.fit import contrast_precision, fit_joint
from humeval_power.parameters import Parameters, preset
from humeval_power.rules import DEFAULT_RULE, ComparisonFamily, DecisionRule
from humeval_power.studies.power.formula import analytic_power, power_at
from humeval_power.studies.power.systems_power import power_by_law, systems_formula
from humeval_power.studies.power.systems_precision import SystemsPrecision, systems_precision
from humeval_power.studies.power.systems_study import simulate_systems
from humeval_power.study_counts import StudyCounts
from humeval_power.systems import SystemsParameters

CORRECTIONS = {"uncorrected": "none", "bonferroni": "bonferroni", "dunnett": "max-t", "holm": "holm"}
BY_POINTS = 0.005  # of the mean over 8,192 Sobol points, at most
UNEVEN = SystemsParameters(
    tuple("abcd"), (0.5, 0.5, 0.6, 0.7), 0.1, (0.05, 0.2, 0.1, 0.02), 0.1, (0.1, 0.12, 0.02, 0.0), 0.2
)


def joint(correction="holm", **given) -> ComparisonFamily:
    return ComparisonFamily(model="joint", correction=correction, **given)


def known(means, variance: float, df: float, correction: str, *, to_baseline: bool, goal="any"):
    """Power where every mean has this variance and the scale this many df."""
    K = len(means)
    names = tuple("abcdefgh"[:K])
    against = {"comparisons": "baseline", "baseline": "a"} if to_baseline else {}
    family = joint(correction, variances="common", **against)
    pairs = [(names.index(one), names.index(two)) for one, two in family.pairs(names)]
    precision = SystemsPrecision(
        tuple(pairs),
        np.eye(K) * variance,
        np.full(len(pairs), math.sqrt(2 * variance)),
        np.full(len(pairs), df),
        1000,
    )
    parameters = SystemsParameters(names, tuple(means), 0.0, (0.1,) * K, 0.0, (0.1,) * K, 0.1)
    return power_by_law(parameters, precision, family, DEFAULT_RULE, goal)


def of_all_systems(n_workers: int, n_items: int, k: int, n_systems: int) -> Design:
    """k workers rate all outputs of an item."""
    return k_per_item(n_workers, n_items, ratings_per_item=k, n_systems=n_systems)


@each_case("case", ["a", "b", "c"])
@each_case("name", CORRECTIONS)
def test_power_against_a_baseline_is_that_of_a_million_simulated_studies(shared, case, name):
    golden = shared_golden(shared, "07_multiple_systems")["power_mc_1e6"][case]
    said = golden["res"][name]
    df = math.inf if golden["df"] == "Inf" else golden["df"]
    found = known(golden["mu"], golden["s2"], df, CORRECTIONS[name], to_baseline=True)
    # four standard errors of a million draws; Holm's steps are means over points
    close = BY_POINTS if name == "holm" else 0.002
    assert found.shares["any"] == pytest.approx(said["any"], abs=close)
    assert found.shares["all"] == pytest.approx(said["all"], abs=close)
    real = np.array(golden["mu"][1:]) != 0
    assert np.array(found.per_comparison)[real] == pytest.approx(np.atleast_1d(said["per"]), abs=close)
    if said["fwer_true_nulls"] is not None:
        assert found.false_claim == pytest.approx(said["fwer_true_nulls"], abs=close)
    else:
        assert math.isnan(found.false_claim)


def test_dunnetts_power_is_the_exact_one(shared):
    exact = shared_golden(shared, "07_multiple_systems")["exact_dunnett_power_a"]
    found = known([0, 0.1, 0.2], 0.0025, 10, "max-t", to_baseline=True)
    # our critical value is right to 1e-5; theirs counts the wrong sign as well
    wrong = stats.nct.sf(exact["crit"], 10, -np.array(exact["ncp"]))
    assert np.array(found.per_comparison) + wrong == pytest.approx(exact["per"], abs=2e-5)
    assert found.shares["any"] == pytest.approx(exact["any"], abs=2e-5 + wrong.sum())
    assert found.shares["all"] == pytest.approx(exact["all"], abs=2e-5 + wrong.sum())


@few_fast("df", [4.0, 12.0, math.inf], fast=1)
def test_tukeys_test_of_equal_systems_keeps_its_level(df):
    found = known([0.5, 0.5, 0.5, 0.6], 0.0025, df, "max-t", to_baseline=False)
    alone = known([0.5, 0.5, 0.6], 0.0025, df, "none", to_baseline=False)
    assert found.false_claim < 0.05
    # three of the six comparisons are of equal systems: Tukey's test of those three alone errs more often
    critical = stats.studentized_range.isf(0.05, 4, min(df, 1e5)) / 2**0.5
    least = stats.studentized_range.sf(critical * 2**0.5, 3, min(df, 1e5))
    assert found.false_claim == pytest.approx(least, abs=BY_POINTS)
    assert alone.false_claim == pytest.approx(0.05, abs=BY_POINTS)


@each_case(
    "rule",
    [
        DEFAULT_RULE,
        DecisionRule(df="min"),
        DecisionRule(df="normal", alternative="greater"),
        DecisionRule(alternative="non-inferior", margin=0.1),
        DecisionRule(alternative="equivalent", margin=0.4),
    ],
)
@each_case("design", [crossed(10, 60), crossed(6, 20, n_repeats=2), k_per_item(12, 40, ratings_per_item=3)])
def test_two_systems_have_the_power_of_a_study_of_two(rule, design):
    two = replace(preset("high").with_difference(0.2), sd_worker_intercept=0.15, sd_item_intercept=0.2)
    said = analytic_power(two, design, rule=rule)
    parameters = SystemsParameters.of_parameters(two, 2).with_pattern("one", 0.2)
    for family in (
        ComparisonFamily(),
        joint(),
        joint("max-t", variances="common") if rule.margin is None else joint(),
    ):
        found = systems_formula(parameters, design, family, rule)
        assert found.power == pytest.approx(said.power, rel=1e-6)
        assert found.shares["any"] == found.shares["all"] == found.power
    assert found.df[0] == pytest.approx(said.precision.df, rel=1e-6)
    assert found.standard_error[0] == pytest.approx(said.precision.standard_error, rel=1e-9)


def test_fits_in_pairs_have_the_precision_of_two_systems_each():
    study = StudyCounts(12, 40, 12, n_systems=4)
    found = systems_precision(UNEVEN, study, ComparisonFamily())
    for place, pair in enumerate(found.pairs):
        said = analytic_power(UNEVEN.pair(*pair), crossed(12, 40)).precision
        assert found.df[place] == pytest.approx(said.df, rel=1e-6)
        assert found.standard_error[place] == pytest.approx(said.standard_error, rel=1e-9)


@pytest.mark.parametrize("variances", ["common", "own"])
def test_the_precision_of_a_complete_design_is_that_of_a_fit_to_such_ratings(variances):
    from test_joint_fit import random_table

    rows = random_table(2, m=6, n=9, K=4, kept=1.1, sds=(0.1, 0.1, 0.1, 0.12, 0.15))
    fitted = fit_joint(rows, variances=variances, names=tuple("abcd"))
    sds = fitted.standard_deviations
    own = [f" of {name}" if variances == "own" else "" for name in "abcd"]
    parameters = SystemsParameters(
        tuple("abcd"),
        tuple(fitted.means),
        sds["sd_worker"],
        tuple(sds[f"sd_worker_system{one}"] for one in own),
        sds["sd_item"],
        tuple(sds[f"sd_item_system{one}"] for one in own),
        sds["sd_residual"],
    )
    precision = systems_precision(parameters, StudyCounts(6, 9, 6, n_systems=4), joint(variances=variances))
    contrasts = np.zeros((6, 4))
    for row, (first, second) in enumerate(precision.pairs):
        contrasts[row, first], contrasts[row, second] = -1.0, 1.0
    found = contrast_precision(fitted, contrasts)
    assert precision.standard_error == pytest.approx(found.standard_error, rel=1e-8)
    assert precision.df == pytest.approx(found.df_kenward_roger, rel=1e-6)


@each_case("variances", ["common", "own"])
@each_case("k", [1, 3, 6])
def test_counts_stand_for_an_assignment_of_k_of_m(variances, k):
    family = joint(variances=variances)
    by_counts = systems_precision(UNEVEN, StudyCounts(12, 24, k, n_systems=4), family)
    by_rows = systems_precision(UNEVEN, of_all_systems(12, 24, k, 4), family)
    assert by_counts.standard_error == pytest.approx(by_rows.standard_error, rel=1e-6)
    assert by_counts.df == pytest.approx(by_rows.df, rel=0.01)


def test_an_assignment_with_no_system_of_its_own_is_the_complete_design():
    rows = crossed(5, 8, n_systems=3).assignment
    moved = np.random.default_rng(3).permutation(len(rows.worker))
    table = Design(
        "table",
        5,
        8,
        5,
        n_systems=3,
        explicit=Assignment(rows.worker[moved], rows.item[moved], rows.system[moved]),
    )
    parameters = SystemsParameters(
        ("a", "b", "c"), (0.5, 0.6, 0.7), 0.1, (0.0, 0.1, 0.2), 0.1, (0.1,) * 3, 0.2
    )
    for variances in ("common", "own"):
        family = joint(variances=variances)
        by_rows, by_strata = (
            systems_precision(parameters, one, family) for one in (table, crossed(5, 8, n_systems=3))
        )
        assert by_rows.df == pytest.approx(by_strata.df, rel=1e-8)
        if variances == "own":
            assert by_rows.standard_error == pytest.approx(by_strata.standard_error, rel=1e-9)


def test_holm_finds_at_least_what_bonferroni_finds_and_any_of_it_alike():
    means = [0.4, 0.5, 0.55, 0.6]
    holm = known(means, 0.00125, 15, "holm", to_baseline=False)
    bonferroni = known(means, 0.00125, 15, "bonferroni", to_baseline=False)
    assert (np.array(holm.per_comparison) >= np.array(bonferroni.per_comparison) - BY_POINTS).all()
    assert holm.shares["all"] > bonferroni.shares["all"]
    # the first of Holm's steps is Bonferroni's
    assert holm.shares["any"] == pytest.approx(bonferroni.shares["any"], abs=BY_POINTS)


def test_the_chance_that_the_best_comes_first_is_an_integral_over_its_mean():
    means = np.array([0.4, 0.5, 0.5, 0.56])
    found = known(means, 0.0025, 20, "holm", to_baseline=False)
    z = np.linspace(-8, 8, 4001)
    others = np.prod(stats.norm.cdf((means[3] - means[:3])[:, None] / 0.05 + z), axis=0)
    exact = float((stats.norm.pdf(z) * others).sum() * (z[1] - z[0]))
    assert found.shares["first"] == pytest.approx(exact, abs=BY_POINTS)


def test_common_variances_of_systems_that_differ_reject_too_often_where_systems_vary_most():
    # two of ten systems vary: the common variance is too small for their difference
    parameters = SystemsParameters(
        tuple("abcdefgh"), (0.5,) * 7 + (0.6,), 0.0, (0.2, 0.2) + (0.02,) * 6, 0.0, (0.05,) * 8, 0.1
    )
    counts = StudyCounts(10, 40, 10, n_systems=8)
    common = systems_formula(parameters, counts, joint("none", variances="common"), DEFAULT_RULE, "any")
    own = systems_formula(parameters, counts, joint("none", variances="own"), DEFAULT_RULE, "any")
    assert common.pairs[0] == (0, 1)
    assert common.per_comparison[0] > 0.2
    assert own.per_comparison[0] == pytest.approx(0.05, abs=1e-6)


def test_patterns_place_the_means_and_keep_the_average():
    parameters = SystemsParameters.of_parameters(preset("low"), 5)
    assert parameters.names == tuple("ABCDE")
    one = parameters.with_pattern("one", 0.1).means
    assert one == pytest.approx([0.58] * 4 + [0.68])
    assert parameters.with_pattern("steps", 0.1).means == pytest.approx([0.4, 0.5, 0.6, 0.7, 0.8])
    assert parameters.with_pattern("extremes", 0.1).means == pytest.approx([0.55, 0.6, 0.6, 0.6, 0.65])
    turned = parameters.with_means([0.9, 0.1, 0.5, 0.4, 0.2]).with_pattern("steps", 0.05)
    assert np.argsort(turned.means).tolist() == [1, 4, 3, 2, 0]


def test_a_pair_of_many_systems_is_a_study_of_two():
    two = Parameters(
        baseline=0.6,
        effect=0.1,
        sd_worker_intercept=0.2,
        sd_worker_slope=0.1,
        sd_item_intercept=0.3,
        sd_item_slope=0.2,
        sd_residual=0.2,
    )
    pair = SystemsParameters.of_parameters(two, 4, [0.5, 0.6, 0.7, 0.8]).pair(1, 3)
    assert pair.difference == pytest.approx(0.2)
    for name in (
        "sd_worker_intercept",
        "sd_worker_slope",
        "sd_item_intercept",
        "sd_item_slope",
        "sd_residual",
    ):
        assert getattr(pair, name) == pytest.approx(getattr(two, name))
    uneven = UNEVEN.pair(0, 1)
    assert uneven.sd_worker_slope == pytest.approx(math.hypot(0.05, 0.2))
    # Var of system b's ratings less that of a's is twice the covariance of intercept and slope
    covariance = uneven.correlation_worker * uneven.sd_worker_intercept * uneven.sd_worker_slope
    assert 2 * covariance == pytest.approx(0.2**2 - 0.05**2)


def test_parameters_say_what_compound_symmetry_assumes_and_refuse_what_it_has_not():
    (note,) = SystemsParameters.of_parameters(preset("high"), 3).notes
    assert "workers' own levels as 0.11, not 0.01" in note
    assert "items' own levels as 0.14, not 0.04" in note
    with pytest.raises(ParametersError, match="correlation_worker"):
        SystemsParameters.of_parameters(replace(preset("high"), correlation_worker=0.3), 3)
    with pytest.raises(ParametersError) as refused:
        SystemsParameters(("a", "a"), (0.5,), -1.0, (0.1, 0.1), 0.1, (0.1, math.nan), 0.1)
    for words in ("different", "means", "sd_worker", "sd_item_system"):
        assert words in str(refused.value)
    assert SystemsParameters.from_dict(UNEVEN.as_dict()) == UNEVEN


def test_goals_that_cannot_be_reached_are_refused():
    level = SystemsParameters.of_parameters(preset("high"), 4)
    study = StudyCounts(10, 40, 10, n_systems=4)
    with pytest.raises(InputError, match="nothing to find"):
        systems_formula(level, study, joint(), DEFAULT_RULE, "any")
    to_baseline = joint(comparisons="baseline", baseline="A")
    with pytest.raises(InputError, match="'best' needs"):
        systems_formula(level.with_pattern("steps", 0.1), study, to_baseline, DEFAULT_RULE, "best")
    with pytest.raises(InputError, match="'first' needs"):
        systems_formula(level, study, joint(), DecisionRule(alternative="equivalent", margin=0.1), "first")
    with pytest.raises(InputError, match="simulation"):
        systems_formula(level.with_pattern("steps", 0.1), study, joint("bh"), DEFAULT_RULE)
    with pytest.raises(InputError, match="has 3 systems"):
        systems_formula(level, StudyCounts(10, 40, 10, n_systems=3), joint(), DEFAULT_RULE)


def test_equivalence_of_all_systems_is_rarer_than_that_of_a_pair():
    level = SystemsParameters.of_parameters(preset("low"), 4)
    study = StudyCounts(20, 200, 20, n_systems=4)
    rule = DecisionRule(alternative="equivalent", margin=0.1)
    found = systems_formula(level, study, joint("none"), rule)
    precision = systems_precision(level, study, joint("none"))
    from humeval_power.studies.power.formula import EffectPrecision

    alone = EffectPrecision(float(precision.standard_error[0] ** 2), float(precision.df[0]), 19, 20)
    assert found.power == pytest.approx(power_at(0.0, alone, rule=rule).power)
    assert found.shares["all"] < found.power < found.shares["any"]


@pytest.mark.parametrize("design", [crossed(8, 20), k_per_item(8, 24, ratings_per_item=3)])
def test_significant_estimates_of_two_systems_exaggerate_as_in_a_study_of_two(design):
    values = SystemsParameters.of_parameters(preset("high"), 2).with_pattern("one", 0.2)
    found = systems_formula(values, design, ComparisonFamily(), DEFAULT_RULE)
    alone = analytic_power(values.pair(0, 1), design)
    assert (found.type_m, found.type_s) == pytest.approx((alone.type_m, alone.type_s))
    assert (*found.type_m_of, *found.type_s_of) == pytest.approx((alone.type_m, alone.type_s))


@pytest.mark.parametrize("correction", ["holm", "bonferroni"])
def test_significant_estimates_of_several_exaggerate_as_in_simulated_studies(correction):
    values = SystemsParameters.of_parameters(preset("high"), 4).with_pattern("steps", 0.2)
    design, family = crossed(8, 30, n_systems=4), ComparisonFamily(correction=correction)
    law = systems_formula(values, design, family, DEFAULT_RULE)
    drawn = simulate_systems(values, design, family, DEFAULT_RULE, n_simulations=2000, seed=5)
    assert drawn.type_m_of == pytest.approx(law.type_m_of, rel=0.05)
    assert drawn.type_m == pytest.approx(law.type_m, rel=0.03)
    assert law.type_m > 1.3 > 1.1 > max(law.type_m_of[1:3])  # neighbours exaggerate, those far apart do not
    assert max(drawn.type_s_of) < 0.01

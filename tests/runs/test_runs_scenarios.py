"""Power of comparisons over repeated runs: against theory, a slow twin, and the other families."""

import math

import numpy as np
import pytest
from cases import each_case
from scipy import stats

from humeval_power.clusters import Clusters
from humeval_power.comparisons.runs.scenario import (
    CrossedRuns,
    ItemShares,
    NestedRuns,
    RunsPlan,
    ceilings,
    cluster_sizes,
    farthest_effect,
    mean_partners,
)
from humeval_power.comparisons.scores.scenario import NormalScores
from humeval_power.designs import crossed
from humeval_power.errors import InputError
from humeval_power.inference.clustered import clustered_mean
from humeval_power.parameters import Parameters
from humeval_power.runs_parameters import RunsParameters
from humeval_power.studies.power.estimate import estimate_power
from humeval_power.studies.power.formula import analytic_power

GENERATIONS = RunsParameters(kind="nested", sd_item=0.3, sd_run_a=0.4, sd_run_b=0.2)
CLUSTERED = RunsParameters(kind="nested", sd_item=0.3, sd_run_a=0.4, sd_run_b=0.2, icc=0.3)
ANSWERS = RunsParameters(
    kind="nested", family="binary", sd_item=0.2, sd_run_a=0.4, sd_run_b=0.38, icc=0.3, baseline=0.7
)
PROMPTS = RunsParameters(kind="crossed", sd_item=0.3, sd_prompt_slope=0.05, sd_residual=0.3)


def plan(n_items: int, runs: int, **further: object) -> RunsPlan:
    return RunsPlan(n_items=n_items, runs_a=runs, runs_b=runs, **further)  # type: ignore[arg-type]


def test_single_items_are_a_paired_t_test_of_their_differences() -> None:
    scenario = NestedRuns(GENERATIONS, plan(80, 4), effect=0.1)
    sd = math.sqrt(0.3**2 + 0.4**2 / 4 + 0.2**2 / 4)
    assert scenario.computed().power == pytest.approx(NormalScores(80, 0.1, sd).computed().power, rel=1e-12)


def test_the_power_does_not_depend_on_the_unit_of_the_scores() -> None:
    hundred = RunsParameters(kind="crossed", sd_item=30, sd_prompt_slope=5, sd_residual=30, icc=0.2)
    one = RunsParameters(kind="crossed", sd_item=0.3, sd_prompt_slope=0.05, sd_residual=0.3, icc=0.2)
    further = {"cluster_size": 5.0, "alternative": "equivalent"}
    shown = [
        CrossedRuns(of, plan(200, 6, margin=margin, **further), effect=0.0)
        for of, margin in ((one, 0.2), (hundred, 20.0))
    ]
    assert shown[0].computed().power == pytest.approx(shown[1].computed().power, rel=1e-9)
    drawn = [scenario.draw(20, seed=1) for scenario in shown]
    np.testing.assert_allclose(100 * drawn[0].estimate, drawn[1].estimate, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(drawn[0].p_value, drawn[1].p_value, rtol=1e-7)


def test_prompts_are_the_workers_of_the_rating_study() -> None:
    same = Parameters(
        baseline=0.5,
        effect=0.1,
        sd_worker_intercept=0.1,
        sd_worker_slope=0.05,
        sd_item_intercept=0.2,
        sd_item_slope=0.3,
        sd_residual=0.3,
    )
    found = CrossedRuns(PROMPTS, plan(120, 5), effect=0.1).computed().power
    assert found == pytest.approx(analytic_power(same, crossed(5, 120)).power, rel=1e-6)


@pytest.mark.parametrize(("cv", "tolerance"), [(0.0, 1e-9), (0.8, 0.02)])
def test_clusters_of_items_under_prompts_have_the_variance_of_the_formula(
    cv: float, tolerance: float
) -> None:
    # generalised least squares of unequal clusters is taken to be the mean: a guide within 2 %
    clustered = RunsParameters(kind="crossed", sd_item=0.3, sd_prompt_slope=0.05, sd_residual=0.3, icc=0.4)
    scenario = CrossedRuns(clustered, plan(200, 5, cluster_size=5.0, cluster_cv=cv), effect=0.1)
    size = mean_partners(scenario.plan.sizes)
    wanted = clustered.error_variance(n_items=200, runs_a=5, cluster_size=size)
    assert scenario.precision.variance == pytest.approx(wanted, rel=tolerance)


def test_a_simulated_study_is_tested_as_the_analysis_does() -> None:
    scenario = NestedRuns(CLUSTERED, plan(50, 2, cluster_size=6.0, cluster_cv=0.7), effect=0.1)
    rng = np.random.default_rng(4)
    sizes = scenario.plan.sizes
    clusters = Clusters.of([str(code) for code in np.repeat(np.arange(len(sizes)), sizes)], name="c")
    values = rng.normal(0.1, 1, 50)
    found = scenario.decide(np.add.reduceat(values, np.cumsum(sizes) - sizes)[None])
    wanted = clustered_mean(values, clusters)
    assert found.standard_error[0] == pytest.approx(wanted.standard_error, rel=1e-12)
    assert found.df[0] == pytest.approx(wanted.df, rel=1e-12)
    assert found.p_value[0] == pytest.approx(wanted.p_value(), rel=1e-9)


@pytest.mark.parametrize("of", [CLUSTERED, ANSWERS], ids=["gaussian", "binary"])
@pytest.mark.parametrize("cv", [0.0, 0.8])
def test_the_variance_of_the_difference_is_that_of_drawn_studies(of: RunsParameters, cv: float) -> None:
    scenario = NestedRuns(of, plan(90, 3, cluster_size=6.0, cluster_cv=cv), effect=0.06)
    drawn = scenario.draw(2000, seed=2).estimate
    # 4 standard errors of a variance: sqrt(2 / 2000) of it each
    assert drawn.var() == pytest.approx(scenario.variance, rel=4 * math.sqrt(2 / 2000))


def test_chances_of_items_have_the_moments_that_were_asked_for() -> None:
    shares = ItemShares(0.65, 0.75, 0.04, 0.05, sd_wanted=0.15, icc=0.4)
    cluster = np.repeat(np.arange(20), 5)
    a, b = shares.draw(np.random.default_rng(1), 2000, cluster)
    difference = b - a
    assert a.mean() == pytest.approx(0.65, abs=0.004)
    assert b.mean() == pytest.approx(0.75, abs=0.004)
    assert a.var() == pytest.approx(0.04, rel=0.03)
    assert difference.std() == pytest.approx(0.15, rel=0.03)
    centred = (difference - difference.mean()).reshape(2000, 20, 5)
    pairs = [centred[..., i] * centred[..., j] for i in range(5) for j in range(i)]
    assert np.mean(pairs) / difference.var() == pytest.approx(0.4, abs=0.03)


def test_impossible_deviations_of_answers_become_the_nearest_possible() -> None:
    steady = RunsParameters(
        kind="nested", family="binary", sd_item=0.9, sd_run_a=0.0, sd_run_b=0.6, baseline=0.8
    )
    found = NestedRuns(steady, plan(50, 2), effect=0.1).realised
    assert found.sd_run_b == pytest.approx(math.sqrt(0.85 * 0.15), rel=1e-6)
    # A is right always or never, B by chance alone: the difference varies as A does
    assert found.sd_item == pytest.approx(math.sqrt(0.75 * 0.25), rel=0.01)


@each_case(("size", "cv"), [(1.0, 0.0), (4.0, 0.0), (4.0, 0.6), (7.5, 0.0), (7.5, 0.6)])
def test_sizes_of_clusters_add_up(size: float, cv: float) -> None:
    sizes = cluster_sizes(300, size=size, cv=cv)
    assert sizes.sum() == 300
    assert sizes.min() >= 1
    assert len(sizes) == round(300 / size)
    # whole numbers of at least 1 vary a little less than the gamma distribution
    assert sizes.std() / sizes.mean() == pytest.approx(cv, abs=0.15)
    assert mean_partners(sizes) == pytest.approx(size * (1 + cv**2), rel=0.12)


def test_two_clusters_are_left_of_few_items() -> None:
    assert cluster_sizes(5, size=100).tolist() == [2, 3]


def test_few_prompts_are_few_however_many_items_there_are() -> None:
    scenario = CrossedRuns(PROMPTS, plan(50, 3), effect=0.1)
    runs, items = ceilings(scenario)
    shift = 0.1 * math.sqrt(3) / 0.05
    critical = stats.t.isf(0.025, 2)
    assert items.power == pytest.approx(stats.nct.sf(critical, 2, shift), rel=1e-6)
    many = CrossedRuns(PROMPTS, plan(1_000_000, 3), effect=0.1).computed().power
    assert many == pytest.approx(items.power, abs=1e-3)
    endless = CrossedRuns(PROMPTS, plan(50, 100_000), effect=0.1).computed().power
    assert endless == pytest.approx(runs.power, abs=1e-3)


def test_endless_generations_leave_what_items_vary_by() -> None:
    runs, items = ceilings(NestedRuns(CLUSTERED, plan(60, 2, cluster_size=6.0), effect=0.1))
    error = 0.3 * math.sqrt((1 + 5 * 0.3) / 60)
    assert runs.power == pytest.approx(stats.nct.sf(stats.t.isf(0.025, 9), 9, 0.1 / error), rel=1e-6)
    assert items.power == 1.0


@pytest.mark.parametrize(("of", "n"), [(GENERATIONS, 2), (CLUSTERED, 40), (ANSWERS, 100), (PROMPTS, 3)])
def test_the_farthest_effect_is_found_nearly_always(of: RunsParameters, n: int) -> None:
    kind = NestedRuns if of.kind == "nested" else CrossedRuns
    scenario = kind(of, plan(n, 2), effect=0.0)
    assert scenario.with_effect(farthest_effect(scenario)).computed().power > 0.8


@each_case(
    ("make", "word"),
    [
        (lambda: plan(1, 2), "2 items"),
        (lambda: plan(10, 0), "1 run"),
        (lambda: plan(10, 2, cluster_size=0.5), "at least one item"),
        (lambda: plan(10, 2, cluster_cv=0.5), "do not vary"),
        (lambda: plan(10, 2, alternative="equivalent", margin=-1.0), "margin"),
        (lambda: NestedRuns(PROMPTS, plan(10, 2), effect=0.1), "CrossedRuns"),
        (lambda: CrossedRuns(GENERATIONS, plan(10, 2), effect=0.1), "NestedRuns"),
        (lambda: CrossedRuns(PROMPTS, plan(10, 1), effect=0.1), "same prompts"),
        (lambda: NestedRuns(ANSWERS, plan(10, 2), effect=0.7), "leaves"),
        (lambda: NestedRuns(GENERATIONS, plan(10, 2, alternative="equivalent"), effect=0.1), "margin"),
    ],
)
def test_what_cannot_be_is_refused(make: object, word: str) -> None:
    with pytest.raises(InputError, match=word):
        make()  # type: ignore[operator]


@pytest.mark.slow
@pytest.mark.parametrize("n_clusters", [5, 10, 20, 50, 100])
@pytest.mark.parametrize("cv", [0.0, 0.6])
@pytest.mark.parametrize("of", [CLUSTERED, ANSWERS], ids=["gaussian", "binary"])
def test_no_effect_is_found_at_the_level(of: RunsParameters, n_clusters: int, cv: float) -> None:
    n = 6 * n_clusters
    scenario = NestedRuns(of, plan(n, 2, cluster_size=6.0, cluster_cv=cv), effect=0.0)
    found = estimate_power(scenario, n_simulations=8000, seed=7).rejection_rate
    low, high = stats.binom.interval(0.998, 8000, 0.05)
    # unequal and correlated clusters move the level a little (the working model of the df is independence)
    slack = 0.0 if cv == 0 and of is CLUSTERED else 0.012
    assert low / 8000 - slack <= found <= high / 8000 + slack

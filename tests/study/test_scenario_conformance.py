"""Every scenario keeps the same promises. A new scenario is one row of SCENARIOS."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from humeval_power.comparisons.accuracy.agreement import OVERLAP
from humeval_power.comparisons.accuracy.counts import UnpairedAccuracy
from humeval_power.comparisons.accuracy.paired import PairedAccuracy
from humeval_power.comparisons.assessment.scenario import DirectAssessment
from humeval_power.comparisons.contingency.scenario import ContingencyStudy, correlated_errors
from humeval_power.comparisons.corpus.scenario import CorpusStudy
from humeval_power.comparisons.preference.latent_scale import Panel
from humeval_power.comparisons.preference.scenario import PanelPreference, Preference
from humeval_power.comparisons.resample.scenario import ResampledRatings
from humeval_power.comparisons.runs.scenario import CrossedRuns, NestedRuns, RunsPlan
from humeval_power.comparisons.scenario.functions import FunctionScenario
from humeval_power.comparisons.scores.scenario import NormalScores, ResampledScores, SignScores
from humeval_power.designs import crossed
from humeval_power.parameters import preset
from humeval_power.runs_parameters import RunsParameters
from humeval_power.scenarios.contract import Scenario, is_computable
from humeval_power.simulation.study import simulate
from humeval_power.studies.looks.boundaries import boundaries
from humeval_power.studies.looks.judgement_plan import PairedLooks
from humeval_power.studies.looks.replicates import RatingLooks, SequentialStudy, equal_looks
from humeval_power.studies.looks.stopping_rule import StoppingRule
from humeval_power.studies.power.estimate import estimate_power
from humeval_power.studies.power.scenario import RatingStudy

TWO = correlated_errors([0.8, 0.2], [0.95, 0.7], correlation=0.4)
THREE = correlated_errors([0.5, 0.3, 0.2], [0.9, 0.8, 0.7], correlation=0.5)

GENERATIONS = RunsParameters(kind="nested", sd_item=0.3, sd_run_a=0.4, sd_run_b=0.2, icc=0.2)
ANSWERS = RunsParameters(
    kind="nested", family="binary", sd_item=0.2, sd_run_a=0.4, sd_run_b=0.4, icc=0.2, baseline=0.7
)
PROMPTS = RunsParameters(kind="crossed", sd_item=0.3, sd_prompt_slope=0.05, sd_residual=0.3)

RATED = simulate(preset("low").with_difference(0.1), crossed(12, 40), seed=1)


def _normal_data(rng: np.random.Generator, n: int, effect: float) -> np.ndarray:
    return rng.normal(effect, 1, n)


def _one_sample_t(data: np.ndarray) -> tuple[float, float]:
    return float(data.mean()), float(stats.ttest_1samp(data, 0).pvalue)


# id: a scenario with a positive effect whose power lies between .3 and .95
SCENARIOS: dict[str, Callable[[], Scenario]] = {
    "rating-study": lambda: RatingStudy(preset("low").with_difference(0.1), crossed(6, 40)),
    "accuracy": lambda: PairedAccuracy(1000, difference=0.03, agreement=OVERLAP["glue"], baseline=0.9),
    "accuracy-unpaired": lambda: UnpairedAccuracy(800, 0.04, baseline=0.85),
    "preference": lambda: Preference(90, preference=0.15, tie_share=0.2),
    "panel": lambda: PanelPreference(
        Panel(120, 6, 40), preference=0.15, tie_share=0.2, sd_worker=0.4, sd_item=0.4
    ),
    "corpus": lambda: CorpusStudy(500, difference=2.0),
    "corpus-flips": lambda: CorpusStudy(200, difference=3.0, test="flips", n_flips=199),
    "contingency": lambda: ContingencyStudy(1000, base=TWO, metric="f1").with_effect(0.07),
    "contingency-swaps": lambda: ContingencyStudy(
        500, base=THREE, metric="macro-f1", n_flips=99
    ).with_effect(0.05),
    "direct-assessment": lambda: DirectAssessment(200, effect=3.5),
    "direct-assessment-clipped": lambda: DirectAssessment(
        250, mean=70, sd=25, effect=5.5, test="welch", below="clip"
    ),
    "resampled-both": lambda: ResampledRatings(RATED, by="both", workers=8, items=30, shift=0.1),
    "resampled-items": lambda: ResampledRatings(RATED, by="item", test="wilcoxon", items=15, shift=0.1),
    "looks-at-ratings": lambda: SequentialStudy(
        RatingLooks(preset("low").with_difference(0.12), crossed(6, 40), equal_looks("items", 3)),
        boundaries(StoppingRule(), (0.6, 0.85, 1.0)),
    ),
    "looks-at-preferences": lambda: SequentialStudy(
        PairedLooks(Preference(120, preference=0.15, tie_share=0.2), (0.5, 1.0)),
        boundaries(StoppingRule(), (0.5, 1.0)),
    ),
    "scores-t": lambda: NormalScores(50, 0.35, 1.0),
    "scores-wilcoxon": lambda: NormalScores(50, 0.35, 1.0, "wilcoxon"),
    "scores-resampled": lambda: ResampledScores(40, np.linspace(-1.0, 1.5, 26)),
    "scores-signs": lambda: SignScores(80, 0.12, ties=0.2),
    "runs-nested": lambda: NestedRuns(
        GENERATIONS, RunsPlan(n_items=100, runs_a=4, runs_b=2, cluster_size=4), effect=0.1
    ),
    "runs-answers": lambda: NestedRuns(
        ANSWERS, RunsPlan(n_items=120, runs_a=3, runs_b=3, cluster_size=4), effect=0.1
    ),
    "runs-crossed": lambda: CrossedRuns(PROMPTS, RunsPlan(n_items=100, runs_a=6, runs_b=6), effect=0.1),
    "functions": lambda: FunctionScenario(_normal_data, _one_sample_t, n=25, effect=0.5),
}
ARRAYS = ("estimate", "standard_error", "df", "p_value", "status", "boundary")


# The fits of a panel take a hundred times as long as what others draw.
DRAWN_FAST = [
    pytest.param(made, id=name, marks=[pytest.mark.slow] if name == "panel" else [])
    for name, made in SCENARIOS.items()
]


@pytest.fixture(params=DRAWN_FAST)
def scenario(request: pytest.FixtureRequest) -> Scenario:
    return request.param()  # type: ignore[no-any-return]


def assert_same(one: object, other: object) -> None:
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_replicates_belong_to_the_seed_and_not_to_the_portions_or_jobs(scenario: Scenario) -> None:
    whole = scenario.draw(20, seed=5)
    assert all(len(getattr(whole, name)) == 20 for name in ARRAYS)
    assert whole.boundary.ndim == 2
    usable = whole.p_value[whole.usable]
    assert ((usable >= 0) & (usable <= 1)).all()
    assert_same(whole.first(8), scenario.draw(8, seed=5))
    assert_same(whole.part(slice(9, 20)), scenario.draw(11, seed=5, first=9))
    assert_same(whole, scenario.draw(20, seed=5, n_jobs=2))
    assert (whole.estimate != scenario.draw(20, seed=6).estimate).any()


def test_another_effect_is_another_scenario_and_leaves_this_one(scenario: Scenario) -> None:
    effect = scenario.true_effect
    assert scenario.with_effect(effect / 2).true_effect == pytest.approx(effect / 2)
    assert scenario.true_effect == effect


@pytest.mark.slow
def test_power_grows_with_the_effect(scenario: Scenario) -> None:
    half = scenario.with_effect(scenario.true_effect / 2)
    assert estimate_power(half, n_simulations=400).power < estimate_power(scenario, n_simulations=400).power


def test_estimates_are_centred_on_the_true_effect(scenario: Scenario) -> None:
    if isinstance(scenario, SequentialStudy):
        pytest.skip("a study that stops early exaggerates on average; tests of looks say by how much")
    drawn = scenario.draw(500, seed=3)
    estimate = drawn.estimate[drawn.usable]
    # 4 standard errors of the mean, and what rounding to whole counts may shift
    reach = 4 * estimate.std() / math.sqrt(len(estimate))
    assert estimate.mean() == pytest.approx(scenario.true_effect, abs=reach)


def test_computed_power_lies_in_the_simulated_interval(scenario: Scenario) -> None:
    if not is_computable(scenario):
        pytest.skip("this scenario is known by simulation alone")
    is_slow = isinstance(scenario, PanelPreference)
    assert_computed_power_is_simulated(scenario, n_simulations=500 if is_slow else 2000)


@pytest.mark.long
@pytest.mark.slow
def test_computed_power_of_a_panel_lies_in_the_narrow_interval_of_many_studies(
    scenario: Scenario,
) -> None:
    if not isinstance(scenario, PanelPreference):
        pytest.skip("many are drawn for all others in every run")
    assert_computed_power_is_simulated(scenario, n_simulations=2000)


def assert_computed_power_is_simulated(scenario: Scenario, *, n_simulations: int) -> None:
    computed = scenario.computed()
    simulated = estimate_power(scenario, n_simulations=n_simulations, seed=11)
    error = math.sqrt(computed.power * (1 - computed.power) / n_simulations)
    allowed = 4 * error + (0 if computed.exact else 0.02)
    assert simulated.power == pytest.approx(computed.power, abs=allowed)
    assert simulated.type_m == pytest.approx(computed.type_m, rel=0.05)

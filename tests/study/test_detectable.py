"""The detectable effect by simulation: a quantile of the studies' own thresholds."""

import math

import pytest
from cases import each_case
from reference.golden import shared_golden
from seven import seven

from humeval_power.designs import crossed, k_per_item
from humeval_power.errors import InputError
from humeval_power.parameters import preset
from humeval_power.rules import DecisionRule
from humeval_power.studies.power.analytic import simulated_detectable_effect
from humeval_power.studies.power.estimate import estimate_power
from humeval_power.studies.power.scenario import RatingStudy

LIKERT = seven(0.58, 0.06, 0.07, 0.05, 0.13, 0.15, 0.18)
RULES = {
    "two-sided": DecisionRule(),
    "one-sided": DecisionRule(alternative="greater", alpha=0.025),
    "normal": DecisionRule(df="normal"),
    "min": DecisionRule(df="min"),
    "calibrated": DecisionRule(df="calibrated"),
    "maximum likelihood": DecisionRule(estimator="ml", df="satterthwaite"),
}


def bisected(study: RatingStudy, power: float, *, n: int, seed: int) -> float:
    """Smallest effect whose share of significant studies is `power`, with the same random numbers."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        found = estimate_power(study.with_effect(middle), n_simulations=n, seed=seed)
        low, high = (low, middle) if found.power >= power else (middle, high)
    return high


@pytest.mark.slow
@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("power", [0.5, 0.8])
def test_the_quantile_is_what_bisection_with_the_same_draws_finds(name, power):
    study = RatingStudy(LIKERT, crossed(5, 20), rule=RULES[name])
    found = simulated_detectable_effect(study, power=power, n_simulations=150, seed=4)
    assert found.effect == pytest.approx(bisected(study, power, n=150, seed=4), abs=1e-9)
    assert found.interval[0] < found.effect < found.interval[1]
    assert (found.n_simulations, found.n_failed, found.power) == (150, 0, power)


@pytest.mark.slow
def test_the_quantile_is_what_bisection_finds_where_not_everyone_rates_everything():
    study = RatingStudy(LIKERT, k_per_item(10, 30, ratings_per_item=2))
    found = simulated_detectable_effect(study, n_simulations=200, seed=9)
    assert found.effect == pytest.approx(bisected(study, 0.8, n=200, seed=9), abs=1e-9)


def test_goldens_of_crossed_designs_are_inside_the_interval(shared):
    for row in shared_golden(shared, "05_mde_wei")["mde_crossed"]:
        if row["m"] < 10:  # the golden is the formula's, which is rough for three workers
            continue
        setting = preset(row["setting"])
        assert row["h"] == setting.coding[1]
        study = RatingStudy(setting, crossed(row["m"], row["n"]))
        for power, key in ((0.8, "mde80"), (0.95, "mde95")):
            found = simulated_detectable_effect(study, power=power, n_simulations=4000, seed=1)
            low, high = found.interval
            # the interval holds 95 %; widened by as much again it holds all 16 comparisons
            assert 2 * low - found.effect <= row[key] <= 2 * high - found.effect, row


@pytest.mark.slow
@pytest.mark.parametrize("response", ["clipped", "likert"])
def test_bounded_ratings_have_the_power_at_their_detectable_effect_and_need_a_larger_one(response):
    points = 5 if response == "likert" else None
    study = RatingStudy(LIKERT, crossed(6, 30), response=response, points=points)
    found = simulated_detectable_effect(study, n_simulations=400, seed=2)
    at = estimate_power(study.with_effect(found.effect), n_simulations=400, seed=2)
    assert at.power >= 0.8
    below = estimate_power(study.with_effect(found.effect - 2e-3), n_simulations=400, seed=2)
    assert below.power <= 0.8 + 1 / 400  # one study may come back as ratings are cut or rounded
    assert found.interval[0] < found.effect < found.interval[1]


def test_what_nothing_on_the_scale_can_reach_is_said():
    loud = seven(0.5, 0.0, 0.0, 0.9, 0.0, 0.0, 0.9)
    study = RatingStudy(loud, crossed(2, 4), response="clipped")
    with pytest.raises(InputError, match="Even the largest possible effect, 1,"):
        simulated_detectable_effect(study, n_simulations=100)


@each_case("power", [0.0, 0.02, 1.0, 1.2, math.nan])
def test_a_target_that_is_no_goal_is_refused(power):
    with pytest.raises(InputError, match="target power"):
        simulated_detectable_effect(RatingStudy(LIKERT, crossed(4, 10)), power=power)


def test_more_jobs_find_the_same_effect():
    study = RatingStudy(LIKERT, k_per_item(8, 24, ratings_per_item=2))
    one, two = (simulated_detectable_effect(study, n_simulations=150, n_jobs=jobs) for jobs in (1, 2))
    assert one == two

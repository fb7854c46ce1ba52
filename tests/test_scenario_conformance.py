"""Every scenario keeps the same promises. A new scenario is one row of SCENARIOS."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from humeval_power.designs import crossed
from humeval_power.parameters import preset
from humeval_power.planning.power import estimate_power
from humeval_power.scenarios.computed import is_computable
from humeval_power.scenarios.rating_study import RatingStudy
from humeval_power.scenarios.scenario import Scenario

# id: a scenario with a positive effect whose power lies between .3 and .95
SCENARIOS: dict[str, Callable[[], Scenario]] = {
    "rating-study": lambda: RatingStudy(preset("low").with_difference(0.1), crossed(6, 40)),
}
ARRAYS = ("estimate", "standard_error", "df", "p_value", "status", "boundary")


@pytest.fixture(params=SCENARIOS.values(), ids=SCENARIOS.keys())
def scenario(request: pytest.FixtureRequest) -> Scenario:
    return request.param()  # type: ignore[no-any-return]


def assert_same(one: object, other: object) -> None:
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_replicates_belong_to_the_seed_and_not_to_the_portions(scenario: Scenario) -> None:
    whole = scenario.draw(30, seed=5)
    assert_same(whole.first(10), scenario.draw(10, seed=5))
    assert_same(whole.part(slice(12, 30)), scenario.draw(18, seed=5, first=12))


def test_replicates_do_not_depend_on_the_number_of_jobs(scenario: Scenario) -> None:
    assert_same(scenario.draw(20, seed=6), scenario.draw(20, seed=6, n_jobs=2))


def test_another_seed_gives_other_studies(scenario: Scenario) -> None:
    assert (scenario.draw(20, seed=1).estimate != scenario.draw(20, seed=2).estimate).any()


def test_arrays_have_one_entry_for_each_replicate(scenario: Scenario) -> None:
    drawn = scenario.draw(7, seed=1)
    assert all(len(getattr(drawn, name)) == 7 for name in ARRAYS)
    assert drawn.boundary.ndim == 2
    usable = drawn.p_value[drawn.usable]
    assert ((usable >= 0) & (usable <= 1)).all()


def test_another_effect_is_another_scenario_and_leaves_this_one(scenario: Scenario) -> None:
    effect = scenario.true_effect
    assert scenario.with_effect(effect / 2).true_effect == pytest.approx(effect / 2)
    assert scenario.true_effect == effect


def test_power_grows_with_the_effect(scenario: Scenario) -> None:
    half = scenario.with_effect(scenario.true_effect / 2)
    assert estimate_power(half, n_simulations=400).power < estimate_power(scenario, n_simulations=400).power


def test_estimates_are_centred_on_the_true_effect(scenario: Scenario) -> None:
    drawn = scenario.draw(500, seed=3)
    estimate = drawn.estimate[drawn.usable]
    # 4 standard errors of the mean, and what rounding to whole counts may shift
    reach = 4 * estimate.std() / math.sqrt(len(estimate))
    assert estimate.mean() == pytest.approx(scenario.true_effect, abs=reach)


def test_computed_power_lies_in_the_simulated_interval(scenario: Scenario) -> None:
    if not is_computable(scenario):
        pytest.skip("this scenario is known by simulation alone")
    computed = scenario.computed()
    simulated = estimate_power(scenario, n_simulations=2000, seed=11)
    error = math.sqrt(computed.power * (1 - computed.power) / 2000)
    allowed = 4 * error + (0 if computed.exact else 0.02)
    assert simulated.power == pytest.approx(computed.power, abs=allowed)
    assert simulated.type_m == pytest.approx(computed.type_m, rel=0.05)

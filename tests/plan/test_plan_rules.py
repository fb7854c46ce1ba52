"""Plans that seal rules for leaving out workers: what is searched, proved, sealed and said."""

import datetime
import json
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from cli import run

from humeval_power.costs import CostModel
from humeval_power.errors import InputError
from humeval_power.exclusions import ExclusionRules
from humeval_power.parameters import preset
from humeval_power.simulation.quality_control import QualityControl
from humeval_power.simulation.study import Losses
from humeval_power.studies.plan.calls import make_plan
from humeval_power.studies.plan.candidates import what_is_left
from humeval_power.studies.plan.files import parse_plan
from humeval_power.studies.plan.planned_systems import NOBODY_OUT, WorkersOut
from humeval_power.studies.power.estimate import estimate_power
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.systems import SystemsParameters

RULES = ExclusionRules.parse("failed-checks=0.34,seconds=4,same-answer=0.95")
PRICES = CostModel(price_per_rating=Decimal("0.2"), checks_per_rating=Decimal("0.1"))
CARELESS = Losses(at_random=0.1, straight_lining=0.1)
TODAY = datetime.date(2026, 1, 1)


def planned(**options):
    """A plan among few designs, proved by few studies."""
    return make_plan(
        {"low": preset("low")},
        **{
            "effect": 0.12,
            "items": [30, 40],
            "workers": [10, 20],
            "ratings_per_item": [10, 20],
            "costs": PRICES,
            "n_simulations": 50,
            "created": TODAY,
            **options,
        },
    )


@pytest.fixture(scope="module")
def with_rules():
    return planned(losses=CARELESS, exclude_if=RULES)


def test_the_power_is_that_of_what_the_rules_leave(with_rules):
    cost = with_rules.plan.rules.cost
    assert with_rules.plan.predicted.simulated == cost.power
    plan, seen = with_rules.plan, {"checks": 0.1, "repeats": 0.0}
    study = RatingStudy(
        plan.parameters.with_difference(0.12),
        plan.design(),
        losses=CARELESS,
        exclusion=QualityControl(rules=RULES, **seen),
    )
    assert cost.power == estimate_power(study, n_simulations=50, seed=plan.seed).power
    everybody = replace(study, exclusion="none")
    assert cost.without == estimate_power(everybody, n_simulations=50, seed=plan.seed).power
    careful = replace(everybody, losses=Losses())
    assert cost.all_careful == estimate_power(careful, n_simulations=50, seed=plan.seed).power
    assert cost.out.careful < 0.02
    assert cost.out.careless > 0.9


def test_what_is_sealed_is_read_back(with_rules):
    back = parse_plan(with_rules.sealed).plan
    assert back.rules == with_rules.plan.rules
    assert back.exclusion_rules == RULES
    assert back.rules.careless == pytest.approx(0.2)


def test_the_plan_says_what_the_rules_cost(with_rules):
    said = " ".join(str(with_rules).split())
    cost = with_rules.plan.rules.cost
    assert f"power {cost.power:.2f} instead of {cost.all_careful:.2f}" in said
    assert f"if nobody were careless; without any rule it would be {cost.without:.2f}" in said
    assert "failed more than 34 % of their attention checks" in said


def test_a_plan_without_rules_is_what_it_was():
    plain = json.loads(planned().sealed)
    assert not {"exclude_if", "careless"} & plain["study"].keys()
    assert plain["promise"]["exclusion"] is None


def test_rules_about_checks_need_checks_in_the_plan():
    with pytest.raises(InputError, match="needs attention checks, and none are planned"):
        planned(exclude_if=RULES, costs=CostModel(price_per_rating=Decimal("0.2")))


def test_rules_beside_an_exclusion_as_if_known_are_refused():
    with pytest.raises(InputError, match="not by both"):
        planned(exclude_if=RULES, losses=CARELESS, exclusion="careless")


@pytest.mark.slow
def test_too_strict_rules_are_a_warning_and_much_too_strict_ones_an_error():
    # items of this preset hardly differ in what they get over both systems: there is little to agree on
    found = planned(exclude_if=ExclusionRules(agreement=0))
    assert any("too strict" in caveat for caveat in found.body().caveats)
    with pytest.raises(InputError, match="leave too few workers for a test in"):
        planned(exclude_if=ExclusionRules(agreement=0.5))


def test_plans_of_several_systems_seal_rules_and_say_whom_they_leave_out():
    assumed = {"low": SystemsParameters.of_parameters(preset("low"), n_systems=3).with_pattern("one", 0.15)}
    found = make_plan(
        assumed,
        items=[30],
        workers=[10],
        ratings_per_item=[10],
        costs=PRICES,
        exclude_if=RULES,
        n_simulations=50,
        created=TODAY,
    )
    back = parse_plan(found.sealed).plan
    assert back.exclusion_rules == RULES
    assert np.isnan(back.rules.cost.power)
    assert "was not simulated" in " ".join(str(found).split())


@pytest.mark.parametrize("careless", [0.0, 0.1, 0.3])
def test_expected_sizes_are_those_of_before_where_workers_are_known(careless):
    losses = Losses(at_random=careless)
    m, n, k = (np.array([value]) for value in (20, 100, 5))
    nobody = what_is_left(m, n, k, losses, NOBODY_OUT)
    assert (nobody.workers[0], nobody.effect_share) == (20, 1 - careless)
    known = what_is_left(m, n, k, losses, WorkersOut(0.0, 1.0))
    assert known.workers[0] == pytest.approx(20 * (1 - careless))
    assert known.effect_share == pytest.approx(1.0)
    half = what_is_left(m, n, k, losses, WorkersOut(0.5, 1.0))
    assert half.workers[0] == pytest.approx(20 * (1 - careless) / 2)


def test_typed_careless_shares_are_halves_and_not_given_twice():
    sizes = ("--items", 30, "--workers", 8, "--ratings-per-item", 8, "--cost-per-rating", 0.2)
    words = ("plan", "--preset", "low", "--effect", 0.1, *sizes, "--careless", 0.2, "--at-random", 0.1)
    assert "Give --careless, or" in run(*words, code=2).stderr

"""Boundaries of group-sequential designs: rpact's values, multivariate normal integrals, and identities."""

import math
import re

import numpy as np
import pytest
from cases import each_case, examples
from hypothesis import given
from hypothesis import strategies as st
from reference.golden import shared_golden
from reference.rpact import rpact_answers
from scipy import stats

from humeval_power.choices import EFFICACY_WORDS
from humeval_power.errors import InputError
from humeval_power.kernels.sequential import exit_probabilities
from humeval_power.studies.looks.boundaries import (
    Boundaries,
    boundaries,
    false_positive_rate,
    inflation,
    required_drift,
    success,
)
from humeval_power.studies.looks.how_many import expected_size
from humeval_power.studies.looks.stopping_rule import (
    BetaSpendingFutility,
    ConditionalPowerFutility,
    FixedLevels,
    HaybittlePeto,
    PocockSpending,
    PValueFutility,
    StoppingRule,
    boundary_words,
    conditional_power,
    conditional_power_bound,
    efficacy_of,
    futility_of,
)

THIRDS = (1 / 3, 2 / 3, 1.0)
# rpact stops its search at an error of 1e-8 in alpha, which is 2e-7 in a z near 2; where increments of
# information are small (0.94, 0.98, 1) its own integration is right to five digits.
RPACT_Z, RPACT_Z_CLOSE_LOOKS = 1e-6, 5e-6
RPACT_PROBABILITY = 2e-8
RPACT_DESIGNS = {
    "pocock3": "pocock",
    "pocock4": "pocock",
    "pocock5": "pocock",
    "obf2": "obrien-fleming",
    "obf3": "obrien-fleming",
    "ldOF3": "lan-demets-obrien-fleming",
    "ldP3": "lan-demets-pocock",
    "ldP_uneq": "lan-demets-pocock",
    "ldOF_nearly1": "lan-demets-obrien-fleming",
    "kd2_3": "kim-demets:2",
    "hsd_m4": "hwang-shih-decani:-4",
    "wt25": "wang-tsiatis:0.25",
}
RPACT_CHARACTERISTICS = {
    "P3": ("pocock", 3),
    "OF3": ("obrien-fleming", 3),
    "asOF3": ("lan-demets-obrien-fleming", 3),
    "asP3": ("lan-demets-pocock", 3),
    "P2": ("pocock", 2),
    "HP3": ("haybittle-peto", 3),
}


def equal_looks(words: str, n_looks: int = 3, **rule) -> Boundaries:
    shares = [(look + 1) / n_looks for look in range(n_looks)]
    return boundaries(StoppingRule(efficacy_of(words), **rule), shares)


@each_case("name", RPACT_DESIGNS)
def test_boundaries_are_those_of_rpact(shared, name) -> None:
    expected = shared_golden(shared, "06_group_sequential_rpact")["designs"][name]
    rule = StoppingRule(efficacy_of(RPACT_DESIGNS[name]))
    found = boundaries(rule, expected["informationRates"])
    tolerance = RPACT_Z_CLOSE_LOOKS if name == "ldOF_nearly1" else RPACT_Z
    assert found.efficacy == pytest.approx(expected["criticalValues"], abs=tolerance)
    assert found.nominal == pytest.approx(expected["nominal_two_sided"], abs=tolerance)
    assert found.spent == pytest.approx(expected["alphaSpent"], abs=RPACT_PROBABILITY)


@pytest.mark.parametrize("name", RPACT_CHARACTERISTICS)
def test_inflation_and_expected_size_are_those_of_rpact(shared, name) -> None:
    expected = shared_golden(shared, "06_group_sequential_rpact")["characteristics"][name]
    bounds = equal_looks(*RPACT_CHARACTERISTICS[name])
    drift = required_drift(bounds, power=0.8)
    factor = inflation(bounds, power=0.8)
    # rpact's fixed size counts rejections in the wrong direction too, 1e-6 of the studies.
    assert factor == pytest.approx(expected["inflationFactor"], abs=1e-5)
    assert drift**2 == pytest.approx(expected["shift"], abs=1e-5)
    for key, at in (("asn_H0", 0.0), ("asn_H01", drift / 2), ("asn_H1", drift)):
        assert expected_size(bounds, bounds.shares, at) * drift**2 / expected["nFixed"] == pytest.approx(
            expected[key], abs=1e-6
        )
    by_stage = np.cumsum(bounds.exits(drift).above)
    assert by_stage == pytest.approx(expected["power_by_stage"], abs=1e-6)


def test_pocock_with_three_looks_has_the_published_nominal_level() -> None:
    # Pocock (1977), Table 1: 0.0221 for three looks at a total of 0.05.
    assert equal_looks("pocock").nominal == pytest.approx([0.0221] * 3, abs=5e-5)


def test_haybittle_peto_leaves_the_rest_to_the_last_look() -> None:
    # rpact 3.3.4: 3, 3, 1.97510.
    assert equal_looks("haybittle-peto").efficacy == pytest.approx((3, 3, 1.97510), abs=5e-6)


def test_a_look_at_p_above_a_half_costs_what_rpact_says(shared) -> None:
    for row in shared_golden(shared, "06_group_sequential_rpact")["pocock3_with_p05_futility"]:
        for key, futility in (("with_futility", PValueFutility(0.5)), ("no_futility", None)):
            bounds, expected = equal_looks("pocock", futility=futility), row[key]
            exits = bounds.exits(row["theta"])
            assert exits.above + exits.below == pytest.approx(expected["reject_stage"], abs=1e-7)
            assert exits.inside[:2] == pytest.approx(expected["futility_stage"], abs=1e-7)
            share = expected_size(bounds, bounds.shares, row["theta"])
            assert share == pytest.approx(expected["expected_fraction"], abs=1e-7)


def test_beta_spending_gives_the_futility_bounds_of_rpact(shared) -> None:
    expected = shared_golden(shared, "06_group_sequential_rpact")["designs"]["bsOF"]
    rule = StoppingRule(
        efficacy_of("lan-demets-obrien-fleming"), BetaSpendingFutility(0.2), 0.025, "greater"
    )
    bounds = boundaries(rule, THIRDS)
    assert bounds.efficacy == pytest.approx(expected["criticalValues"], abs=1e-6)
    assert bounds.futility[:2] == pytest.approx(expected["futilityBounds"], abs=1e-6)
    drift = required_drift(bounds, power=0.8)
    exits = bounds.exits(drift)
    assert np.cumsum(exits.above) == pytest.approx(expected["power"], abs=1e-6)
    assert np.cumsum(exits.below)[:2] == pytest.approx(expected["betaSpent"][:2], abs=1e-6)
    # rpact 3.3.4, beta spent in the manner of Pocock: 0.56585, 1.47344.
    pocock = StoppingRule(
        efficacy_of("lan-demets-pocock"), BetaSpendingFutility(0.2, PocockSpending()), 0.025, "greater"
    )
    assert boundaries(pocock, THIRDS).futility[:2] == pytest.approx((0.56585, 1.47344), abs=1e-5)


@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
@pytest.mark.parametrize("binding", [False, True])
def test_beta_spending_spends_both_errors_as_planned(alternative, binding) -> None:
    futility = BetaSpendingFutility(0.1, binding=binding)
    rule = StoppingRule(efficacy_of("lan-demets-pocock"), futility, 0.05, alternative)
    bounds = boundaries(rule, (0.4, 0.7, 1.0))
    assert bounds.spent[-1] == pytest.approx(0.05, abs=1e-9)
    drift = required_drift(bounds, power=0.9)
    exits = bounds.exits(drift)
    stopped = exits.inside if alternative == "two-sided" else exits.below
    planned = [futility.function(t, 0.1) for t in (0.4, 0.7)]
    assert np.cumsum(stopped)[:2] == pytest.approx(planned, abs=1e-8)


def test_conditional_power_is_that_of_the_stored_case(shared) -> None:
    row = shared_golden(shared, "06_group_sequential_rpact")["conditional_power"]
    for under, key in (("trend", "cp_trend"), ("design", "cp_design_2.802"), ("null", "cp_null")):
        found = conditional_power(row["z"], row["t"], critical=row["u"], under=under, drift=2.802)
        assert found == pytest.approx(row[key], abs=1e-12)
        bound = conditional_power_bound(
            row["t"], below=row[key], critical=row["u"], under=under, drift=2.802
        )
        assert bound == pytest.approx(row["z"], abs=1e-9)


@examples(12)
@given(
    steps=st.lists(st.floats(0.05, 1.0), min_size=2, max_size=3),
    lower=st.floats(-2.5, 0.5),
    upper=st.floats(1.0, 3.0),
    drift=st.floats(-2.0, 4.0),
)
def test_recursive_integration_is_the_multivariate_normal_integral(steps, lower, upper, drift) -> None:
    information = np.cumsum(steps)
    n_looks = len(steps)
    mean = drift * np.sqrt(information)
    covariance = np.sqrt(
        np.minimum.outer(information, information) / np.maximum.outer(information, information)
    )
    exits = exit_probabilities(information, lower=[lower] * n_looks, upper=[upper] * n_looks, drift=drift)
    for look in range(n_looks):
        low = np.append(np.full(look, lower), upper)
        high = np.append(np.full(look, upper), np.inf)
        part = slice(0, look + 1)
        direct = stats.multivariate_normal(mean[part], covariance[part, part]).cdf(
            high, lower_limit=low, rng=np.random.default_rng(1)
        )
        # SciPy's own integration of two and three dimensions is right to about six digits.
        assert exits.above[look] == pytest.approx(direct, abs=3e-6)


def test_close_looks_are_integrated_as_surely_as_distant_ones() -> None:
    # The chance of passing 2 at either of two looks is a bivariate normal integral, exact in SciPy.
    for ratio in (0.9, 0.99, 0.999, 0.9999):
        found = exit_probabilities([ratio, 1.0], lower=[-2, -2], upper=[2, 2])
        correlation = math.sqrt(ratio)
        inside = stats.multivariate_normal(cov=[[1, correlation], [correlation, 1]]).cdf(
            [2, 2], lower_limit=[-2, -2]
        )
        assert 1 - found.above.sum() - found.below.sum() == pytest.approx(inside, abs=1e-7)


@each_case("words", ["pocock", "obrien-fleming", "lan-demets-pocock", "kim-demets:3"])
@each_case("alternative", ["two-sided", "greater"])
def test_the_whole_error_is_spent_whatever_the_information(words, alternative) -> None:
    rule = StoppingRule(efficacy_of(words), alpha=0.1, alternative=alternative)
    bounds = boundaries(rule, (0.2, 0.75, 0.8, 1.0))
    assert bounds.spent[-1] == pytest.approx(0.1, abs=1e-9)


def test_a_spending_rule_gives_the_same_early_boundaries_without_knowing_the_later_looks() -> None:
    rule = StoppingRule(efficacy_of("lan-demets-obrien-fleming"))
    whole = boundaries(rule, (0.3, 0.6, 1.0))
    assert boundaries(rule, (0.3, 0.6)).efficacy == pytest.approx(whole.efficacy[:2], abs=1e-9)


def test_futility_applies_to_the_last_look_so_far_of_a_study_that_goes_on() -> None:
    rule = StoppingRule(efficacy_of("lan-demets-pocock"), PValueFutility(0.5))
    assert boundaries(rule, (0.3,)).futility_p == pytest.approx([0.5])
    assert np.isinf(boundaries(rule, (0.3, 1.0)).futility_p[-1])


def test_more_information_than_planned_spends_no_more() -> None:
    rule = StoppingRule(efficacy_of("lan-demets-pocock"))
    assert boundaries(rule, (0.5, 1.2)).spent[-1] == pytest.approx(0.05, abs=1e-9)
    assert math.isinf(boundaries(rule, (0.5, 1.2, 1.4)).efficacy[-1])


def test_a_boundary_made_for_counts_is_timid_where_information_saturates(shared) -> None:
    level = equal_looks("pocock").nominal
    for row in shared_golden(shared, "06b_sequential_lmm")["rows"]:
        found = false_positive_rate(level, row["info_fraction"], two_sided=True)
        # The stored rates are whole numbers of millionths times 1/4: 4 million draws, standard error 0.0001.
        assert found == pytest.approx(row["fwer_knownvar_pocock_z_exact"], abs=4e-4)
        assert found <= 0.05 + 1e-9


def test_looks_without_correction_have_the_published_error() -> None:
    # Armitage, McPherson and Rowe (1969), Table 2: three looks at 5 % give 0.107.
    uncorrected = false_positive_rate([0.05] * 3, THIRDS, two_sided=True)
    assert uncorrected == pytest.approx(0.107, abs=5e-4)


def test_scaling_the_levels_keeps_the_shape() -> None:
    bounds = equal_looks("obrien-fleming")
    assert bounds.scaled(0.5).nominal == pytest.approx(0.5 * bounds.nominal, rel=1e-9)
    assert bounds.scaled(0.5).calibration == 0.5


def test_power_without_an_effect_is_half_the_error() -> None:
    assert success(equal_looks("pocock"), 0.0) == pytest.approx(0.025, abs=1e-9)


def test_binding_futility_lowers_the_boundary_and_spends_everything() -> None:
    loose = equal_looks("pocock", futility=PValueFutility(0.5))
    tight = equal_looks("pocock", futility=PValueFutility(0.5, binding=True))
    assert tight.efficacy[0] < loose.efficacy[0]
    assert tight.spent[-1] == pytest.approx(0.05, abs=1e-9)


@each_case(
    "words",
    [
        "pocock",
        "obrien-fleming",
        "wang-tsiatis:0.25",
        "haybittle-peto",
        "haybittle-peto:3.29",
        "lan-demets-pocock",
        "lan-demets-obrien-fleming",
        "hwang-shih-decani:-4",
        "kim-demets:2",
        "table:0.3=0.1,1=1",
        "levels:0.01,0.02",
    ],
)
def test_words_name_a_boundary_and_come_back(words) -> None:
    assert str(efficacy_of(words)) == words


@each_case(
    ("efficacy", "futility", "for_people"),
    [
        ("pocock", "none", "Pocock's boundaries, two-sided, alpha 0.05, no stop for futility"),
        (
            "haybittle-peto",
            "p:0.4:binding",
            "Haybittle and Peto's boundaries, early |z| 3, two-sided, alpha 0.05, futility at p > 0.4, binding",
        ),
        (
            "hwang-shih-decani:-4",
            "conditional-power:0.2:trend",
            "Hwang, Shih and DeCani's spending, gamma -4, two-sided, alpha 0.05, "
            "futility at conditional power below 0.2 under the effect seen so far",
        ),
        (
            "levels:0.01,0.02",
            "beta:0.2:lan-demets-pocock",
            "levels 0.01,0.02, two-sided, alpha 0.05, "
            "futility at a beta of 0.2, Lan and DeMets' spending of Pocock's type",
        ),
    ],
)
def test_people_read_a_rule_in_words(efficacy: str, futility: str, for_people: str) -> None:
    assert StoppingRule(efficacy_of(efficacy), futility_of(futility)).words == for_people


def test_every_boundary_has_words_for_people() -> None:
    parameters = {"wang-tsiatis": ":0.25", "table": ":0.5=0.2,1=1", "levels": ":0.01,0.02"}
    for form in EFFICACY_WORDS:
        name = re.split(r"[:\[]", form)[0]
        words = boundary_words(efficacy_of(name + parameters.get(name, "")))
        assert name not in words.split() or name == "levels"


@each_case(
    "words",
    [
        "p:0.5",
        "p:0.4:binding",
        "conditional-power:0.2:trend",
        "beta:0.2:lan-demets-pocock",
        "beta:0.1:hwang-shih-decani:-2:binding",
    ],
)
def test_words_name_futility_and_come_back(words) -> None:
    assert str(futility_of(words)) == words


def test_a_table_is_any_spending_function() -> None:
    spending = efficacy_of("table:0.5=0.2,1=1")
    bounds = boundaries(StoppingRule(spending), (0.25, 0.5, 1.0))
    assert bounds.spent == pytest.approx([0.005, 0.01, 0.05], abs=1e-9)


@each_case(
    ("make", "says"),
    [
        (lambda: equal_looks("bonferroni"), EFFICACY_WORDS[0]),
        (lambda: equal_looks("hwang-shih-decani:x"), "not a number"),
        (lambda: equal_looks("table:0.5=0.6,1=0.9"), "1 for both"),
        (lambda: boundaries(StoppingRule(), (0.5, 0.5, 1.0)), "must grow"),
        (lambda: boundaries(StoppingRule(), (0.8, 0.5, 1.0)), "must grow"),
        (lambda: boundaries(StoppingRule(), (-0.1, 1.0)), "positive"),
        (lambda: boundaries(StoppingRule(), ()), "positive"),
        (lambda: boundaries(StoppingRule(futility=PValueFutility()), (1.0,)), "two looks"),
        (lambda: boundaries(StoppingRule(futility=ConditionalPowerFutility()), THIRDS), "planned effect"),
        (lambda: boundaries(StoppingRule(futility=BetaSpendingFutility()), (0.3, 0.6)), "up to 1"),
        (lambda: boundaries(StoppingRule(FixedLevels((0.01, 0.02))), THIRDS), "3 looks"),
        (lambda: boundaries(StoppingRule(HaybittlePeto(1.5)), THIRDS), "more than the whole error"),
        (lambda: StoppingRule(alpha=1.2), "alpha"),
        (lambda: PValueFutility(1.5), "between 0 and 1"),
        (lambda: futility_of("hope"), "no futility rule"),
        (
            lambda: boundaries(
                StoppingRule(efficacy_of("pocock"), BetaSpendingFutility(binding=True)), THIRDS
            ),
            "spends alpha",
        ),
    ],
)
def test_impossible_requests_are_refused_with_the_reason(make, says) -> None:
    with pytest.raises(InputError, match=says.replace("(", r"\(")):
        make()


def test_all_that_is_wrong_with_a_request_is_said_at_once() -> None:
    rule = StoppingRule(futility=ConditionalPowerFutility())
    with pytest.raises(InputError) as refused:
        boundaries(rule, (0.4, 0.3, 0.9))
    assert len(refused.value.problems) == 3


RPACT_LIVE = """
suppressMessages(library(rpact))
show <- function(...) cat(sprintf("%.10f", getDesignGroupSequential(kMax = 3, sided = 2, alpha = 0.05,
  informationRates = c(0.35, 0.7, 1), ...)$criticalValues), "\\n")
show(typeOfDesign = "P"); show(typeOfDesign = "OF"); show(typeOfDesign = "HP")
show(typeOfDesign = "asP"); show(typeOfDesign = "asOF"); show(typeOfDesign = "asHSD", gammaA = -2)
show(typeOfDesign = "asKD", gammaA = 3); show(typeOfDesign = "WT", deltaWT = 0.1)
"""
LIVE_WORDS = (
    "pocock",
    "obrien-fleming",
    "haybittle-peto",
    "lan-demets-pocock",
    "lan-demets-obrien-fleming",
    "hwang-shih-decani:-2",
    "kim-demets:3",
    "wang-tsiatis:0.1",
)


@pytest.mark.slow
@pytest.mark.r
def test_rpact_run_now_gives_the_same_boundaries() -> None:
    for words, expected in zip(LIVE_WORDS, rpact_answers(RPACT_LIVE), strict=True):
        found = boundaries(StoppingRule(efficacy_of(words)), (0.35, 0.7, 1.0))
        assert found.efficacy == pytest.approx(expected, abs=RPACT_Z), words

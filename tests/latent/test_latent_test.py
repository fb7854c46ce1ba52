"""The test of categories: interval and decision agree, margins move, rules change what they say they change."""

import math
from dataclasses import replace

import pytest
from category_tables import FIVE, drawn_ratings
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from humeval_power.errors import InputError
from humeval_power.estimation.latent.fit import fit_latent
from humeval_power.rules import DecisionRule
from humeval_power.studies.fit.wald import expected_at, latent_test, wald_of_categories

ORDINAL = DecisionRule(family="ordinal")


@given(
    st.floats(-1.5, 1.5),
    st.floats(0.02, 0.8),
    st.floats(1.5, 200),
    st.sampled_from(["two-sided", "greater", "non-inferior", "equivalent"]),
    st.sampled_from([0.01, 0.05, 0.2]),
)
def test_interval_and_test_never_contradict_each_other(effect, error, df, alternative, alpha):
    margin = 0.12 if alternative in ("non-inferior", "equivalent") else None
    rule = replace(ORDINAL, alternative=alternative, alpha=alpha, margin=margin)
    tested = wald_of_categories(replace(FIVE, effect=effect), error, df, rule, reason="")
    low, high = tested.interval
    shown = {
        "two-sided": low > 0 or high < 0,
        "greater": low > 0,
        "non-inferior": low > -0.12,
        "equivalent": low > -0.12 and high < 0.12,
    }[alternative]
    ends = [abs(end - bound) for end in (low, high) for bound in (0, 0.12, -0.12)]
    assert tested.significant == shown or min(ends) < 1e-9
    assert low <= tested.estimate <= high


def test_the_statistic_on_the_unit_scale_is_the_latent_one():
    tested = wald_of_categories(FIVE, 0.25, 9.0, ORDINAL, reason="")
    assert tested.t == pytest.approx(FIVE.effect / 0.25, rel=1e-12)
    assert tested.p_value == pytest.approx(2 * stats.t.sf(FIVE.effect / 0.25, 9), rel=1e-9)
    assert tested.latent is not None
    assert tested.interval[1] == pytest.approx(expected_at(FIVE, tested.latent.interval[1]), rel=1e-12)


def test_a_margin_is_moved_to_the_latent_scale():
    rule = replace(ORDINAL, alternative="non-inferior", margin=0.05, df="normal")
    tested = wald_of_categories(replace(FIVE, effect=0.0), 0.2, math.inf, rule, reason="")
    assert tested.latent is not None
    assert tested.latent.margin is not None
    assert expected_at(FIVE, tested.latent.margin) == pytest.approx(0.05, abs=1e-10)
    assert tested.p_value == pytest.approx(stats.norm.sf(tested.latent.margin / 0.2), rel=1e-9)


def test_a_margin_that_nothing_reaches_is_refused():
    narrow = replace(FIVE, scores=(0.5, 0.55, 0.6, 0.65, 0.7))
    rule = replace(ORDINAL, alternative="equivalent", margin=0.3)
    with pytest.raises(InputError, match=r"categories that were used lie 0\.2 apart"):
        wald_of_categories(narrow, 0.2, 10, rule, reason="")


def test_each_df_is_what_it_says():
    fitted = fit_latent(drawn_ratings(FIVE, 5, 30, seed=11), family="ordinal")
    of = {
        df: latent_test(fitted, replace(ORDINAL, df=df))
        for df in ("kenward-roger", "satterthwaite", "min", "normal")
    }
    assert of["kenward-roger"].df == of["satterthwaite"].df == fitted.df_kenward_roger
    assert of["min"].df == 4
    assert of["normal"].df == math.inf
    errors = {df: one.latent.standard_error for df, one in of.items()}
    assert errors["kenward-roger"] == fitted.standard_error_adjusted
    assert errors["satterthwaite"] == errors["min"] == errors["normal"] == fitted.standard_error
    assert of["normal"].p_value < of["kenward-roger"].p_value


def test_a_rule_that_simulates_is_refused_in_words():
    fitted = fit_latent(drawn_ratings(FIVE, 5, 10, seed=11), family="ordinal")
    with pytest.raises(InputError, match="'bootstrap' simulate studies of the linear model"):
        latent_test(fitted, replace(ORDINAL, df="bootstrap"))


def test_a_fit_that_did_not_converge_has_no_test():
    fitted = fit_latent(drawn_ratings(FIVE, 5, 10, seed=11), family="ordinal")
    tested = latent_test(replace(fitted, converged=False, message="too many steps"), ORDINAL)
    assert "too many steps" in tested.reason
    assert math.isnan(tested.p_value)
    assert not tested.significant

"""The seven parameters: codings, checks, documents, presets."""

import csv
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from cases import each_case
from hypothesis import given
from hypothesis import strategies as st
from seven import seven

from humeval_power.designs import crossed, k_per_item
from humeval_power.errors import InputError, ParametersError
from humeval_power.parameters import PARAMETER_NAMES, PRESETS, STANDARD_DEVIATIONS, Parameters, preset
from humeval_power.rules import CARD2020, DEFAULT_RULE, DecisionRule
from humeval_power.studies.power.formula import analytic_power, effect_precision

SD = st.floats(0.001, 1.0)
SYMMETRIC = st.floats(0.1, 3.0).map(lambda h: (-h, h))


@st.composite
def parameters(draw, coding=(-0.5, 0.5)):
    return seven(
        draw(st.floats(0, 1)), draw(st.floats(-1, 1)), *(draw(SD) for _ in range(5)), coding=coding
    )


@given(parameters(), SYMMETRIC)
def test_symmetric_codings_lose_nothing(given_parameters, coding):
    there = given_parameters.recoded(coding)
    back = there.recoded(given_parameters.coding)
    for name in PARAMETER_NAMES:
        assert getattr(back, name) == pytest.approx(getattr(given_parameters, name), rel=1e-12, abs=1e-14)
    assert there.coding[0] == -there.coding[1]
    assert there.difference == pytest.approx(given_parameters.difference, rel=1e-12, abs=1e-14)


@given(parameters(), st.tuples(st.floats(-2, 2), st.floats(0.1, 3)).map(lambda c: (c[0], c[0] + c[1])))
def test_recoding_keeps_both_means_and_the_difference_of_each_worker_and_item(given_parameters, coding):
    there = given_parameters.recoded(coding)
    for old, new in zip(given_parameters.coding, coding, strict=True):
        mean = given_parameters.baseline + given_parameters.effect * old
        assert there.baseline + there.effect * new == pytest.approx(mean, abs=1e-9)
    width = coding[1] - coding[0]
    for name in ("sd_worker_slope", "sd_item_slope"):
        assert getattr(there, name) * width == pytest.approx(getattr(given_parameters, name), rel=1e-9)
    assert there.sd_residual == given_parameters.sd_residual


@given(parameters((-1.0, 1.0)))
def test_zero_one_coding_has_the_marginal_sds_of_the_methods_page(given_parameters):
    # the methods notes 1.4: SD(slope) = 2 SD(W1), Var(intercept) = Var(W0) + Var(W1), from -1/+1 to 0/1.
    there = given_parameters.recoded((0.0, 1.0))
    for noun in ("worker", "item"):
        intercept = getattr(given_parameters, f"sd_{noun}_intercept")
        slope = getattr(given_parameters, f"sd_{noun}_slope")
        assert getattr(there, f"sd_{noun}_slope") == pytest.approx(2 * slope, rel=1e-12)
        assert getattr(there, f"sd_{noun}_intercept") == pytest.approx(
            math.hypot(intercept, slope), rel=1e-12
        )
    assert there.coding[0] != -there.coding[1]


@given(parameters(), st.integers(2, 20), st.integers(2, 60))
def test_the_three_codings_give_the_same_power(given_parameters, m, n):
    design = crossed(m, n)
    powers = [
        analytic_power(given_parameters.recoded(coding), design).power
        for coding in ((-0.5, 0.5), (-1.0, 1.0), (0.0, 1.0))
    ]
    assert powers[1] == pytest.approx(powers[0], abs=1e-12)
    assert powers[2] == pytest.approx(powers[0], abs=1e-12)


def test_the_codings_agree_on_a_sparse_design_too():
    design = k_per_item(7, 30, ratings_per_item=3)
    stated = seven(0.5, 0.1, 0.08, 0.2, 0.05, 0.3, 0.25)
    first, second, third = (
        effect_precision(stated.recoded(coding), design)
        for coding in ((-0.5, 0.5), (-1.0, 1.0), (0.0, 1.0))
    )
    assert second.variance == pytest.approx(first.variance, rel=1e-12)
    assert second.df == pytest.approx(first.df, rel=1e-10)
    # 0/1 cannot say that intercept and slope are correlated: the variance, free of intercepts, agrees
    assert third.variance == pytest.approx(first.variance, rel=1e-10)


@given(parameters((-1.0, 1.0)), st.floats(-1, 1))
def test_a_wanted_difference_is_the_difference_in_any_coding(given_parameters, difference):
    changed = given_parameters.with_difference(difference)
    assert changed.difference == pytest.approx(difference, abs=1e-15)
    assert replace(changed, effect=given_parameters.effect) == given_parameters


@given(parameters((-1.0, 1.0)))
def test_parameters_survive_a_document(given_parameters):
    assert Parameters.from_dict(json.loads(json.dumps(given_parameters.as_dict()))) == given_parameters


def test_a_document_without_coding_means_differences():
    values = dict.fromkeys(PARAMETER_NAMES, 0.1)
    assert Parameters.from_dict(values).coding == (-0.5, 0.5)


def test_all_problems_of_the_values_are_told_at_once():
    with pytest.raises(ParametersError) as caught:
        seven(float("nan"), "0.1", -0.1, 0.1, 0.1, float("inf"), True, coding=(1.0, 1.0))
    problems = caught.value.problems
    assert [problem.column for problem in problems] == [
        "baseline",
        "effect",
        "sd_worker_intercept",
        "sd_item_slope",
        "sd_residual",
        "coding",
    ]
    text = str(caught.value)
    assert "a standard deviation cannot be negative" in text
    assert "must be a finite number" in text
    assert "two different numbers" in text


def test_all_problems_of_the_names_are_told_at_once():
    with pytest.raises(ParametersError) as caught:
        Parameters.from_dict({"baseline": 0.5, "sd_error": 0.1, "sd_wrker_slope": 0.2})
    assert len(caught.value.problems) == 2 + 6
    assert "is not a parameter" in str(caught.value)
    assert "'sd_worker_slope' is missing" in str(caught.value)


@each_case("coding", [[0.0], "ab", [0, 1, 2], [None, 1], [0.0, float("nan")], 1.0])
def test_a_coding_is_two_different_numbers(coding):
    with pytest.raises(ParametersError, match="two different numbers"):
        seven(0.5, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, coding=coding)


def test_zero_is_a_possible_standard_deviation():
    assert seven(0, 0, 0, 0, 0, 0, 0).sd_residual == 0


def test_presets_are_the_published_table(shared):
    with open(shared / "published" / "card2020_table16_variance_settings.csv") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        name = row.pop("setting")
        published = preset(name)
        assert published.coding == (-1.0, 1.0)
        assert {key: float(value) for key, value in row.items()} == {
            key: getattr(published, key) for key in STANDARD_DEVIATIONS
        }
    assert len(rows) == len(PRESETS) == 2


def test_the_high_preset_doubles_into_differences():
    # Table 16 'high', -1/+1: a worker's own difference has SD 2 x 0.11, an item's 2 x 0.14.
    coded = preset("high").recoded()
    values = [getattr(coded, name) for name in STANDARD_DEVIATIONS]
    np.testing.assert_allclose(values, [0.01, 0.22, 0.04, 0.28, 0.26], rtol=1e-14)


def test_an_unknown_preset_names_the_known_ones():
    with pytest.raises(ParametersError, match="no preset 'medium'; the presets are high, low"):
        preset("medium")


def test_the_worker_item_term_survives_documents_and_codings_and_is_checked():
    stated = seven(0.5, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, sd_worker_item=0.2)
    assert Parameters.from_dict(json.loads(json.dumps(stated.as_dict()))) == stated
    assert stated.recoded((-1.0, 1.0)).sd_worker_item == 0.2
    assert "sd_worker_item" not in replace(stated, sd_worker_item=0.0).as_dict()
    with pytest.raises(ParametersError, match="sd_worker_item"):
        replace(stated, sd_worker_item=-0.1)


@pytest.mark.parametrize("name", ["baseline", "effect", "sd_residual", "sd_worker_item"])
def test_a_parameter_whose_square_would_overflow_is_refused(name):
    with pytest.raises(ParametersError, match="at most 1,000,000 in size"):
        replace(seven(0.5, 0.0, 0.1, 0.1, 0.1, 0.1, 0.2), **{name: 1e308})


@pytest.mark.parametrize("difference", [1.5, -1.01, math.nan])
def test_a_difference_beyond_the_scale_is_refused(difference):
    with pytest.raises(ParametersError, match=r"difference must be between -1 and 1.*effect_from_raw"):
        preset("high").with_difference(difference)


# Decision rules: what is refused, the default, and the published rule.


@each_case(
    ("fields", "text"),
    [
        ({"estimator": "mle"}, "estimator must be one of reml, ml; got 'mle'"),
        ({"df": "z"}, "df must be one of kenward-roger, satterthwaite, normal, min"),
        ({"alternative": "less"}, "alternative must be one of two-sided, greater"),
        ({"alpha": 0.0}, "alpha must lie between 0 and 1; got 0"),
        ({"alpha": 1.0}, "alpha must lie between 0 and 1; got 1"),
        ({"alpha": float("nan")}, "alpha must lie between 0 and 1"),
        ({"estimator": "ml", "df": "kenward-roger"}, "use estimator 'reml'"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(fields, text):
    with pytest.raises(InputError, match=text):
        DecisionRule(**fields)


def test_the_default_is_kenward_roger_after_reml():
    assert (
        DecisionRule(estimator="reml", df="kenward-roger", alternative="two-sided", alpha=0.05)
        == DEFAULT_RULE
    )
    assert str(DEFAULT_RULE) == "REML, t, kenward-roger df, two-sided, alpha 0.05"


def test_the_published_rule_is_one_sided_after_maximum_likelihood():
    # Card et al. (2020), appendix: a positive effect with t > 1.96, maximum-likelihood fits.
    assert (CARD2020.estimator, CARD2020.df, CARD2020.alternative) == ("ml", "normal", "greater")
    assert CARD2020.alpha == 0.025
    assert str(CARD2020) == "ML, normal, greater, alpha 0.025"

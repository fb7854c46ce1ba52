"""Rating scales: to [0, 1] and back, and what is refused."""

import numpy as np
import pytest
from cases import each_case
from hypothesis import given
from hypothesis import strategies as st

from humeval_power.errors import ScaleError
from humeval_power.scales import RatingScale, likert_points

BOUNDS = st.floats(-1e3, 1e3).map(lambda value: round(value, 3))


@st.composite
def scales(draw):
    low = draw(BOUNDS)
    return RatingScale(low, low + draw(st.floats(0.01, 1e3)), higher_is_better=draw(st.booleans()))


@given(scales(), st.lists(st.floats(0, 1), min_size=1, max_size=5))
def test_ratings_come_back_from_the_unit_scale(scale, shares):
    raw = scale.low + np.array(shares) * scale.width
    back = scale.from_unit(scale.to_unit(raw))
    np.testing.assert_allclose(back, raw, rtol=0, atol=1e-12 * max(abs(scale.low), abs(scale.high)))


@given(scales(), st.floats(-1, 1))
def test_effects_come_back_and_are_differences_of_ratings(scale, effect):
    raw = scale.effect_to_raw(effect)
    assert scale.effect_from_raw(raw) == pytest.approx(effect, abs=1e-12)
    two = scale.from_unit(np.array([0.5, 0.5 + effect]))
    assert raw == pytest.approx(two[1] - two[0], abs=1e-9 * scale.width + 1e-12 * abs(scale.low))


def test_the_best_rating_is_one_whichever_way_the_scale_runs():
    up, down = RatingScale(1, 5), RatingScale(1, 5, higher_is_better=False)
    raw = np.array([1.0, 2.0, 5.0])
    np.testing.assert_allclose(up.to_unit(raw), [0, 0.25, 1])
    np.testing.assert_allclose(down.to_unit(raw), [1, 0.75, 0])
    assert up.effect_to_raw(0.25) == 1.0
    assert down.effect_to_raw(0.25) == -1.0  # B better by a quarter: one point lower


@each_case(
    ("text", "low", "high", "points"),
    [
        ("1:5", 1, 5, 5),
        ("0:10", 0, 10, 11),
        ("-3:3", -3, 3, 7),
        ("0:100", 0, 100, None),
        ("0:1", 0, 1, 2),
        ("0.5:5", 0.5, 5, None),
        ("-25:0", -25, 0, None),
        ("0:100:11", 0, 100, 11),
        ("1:4:7", 1, 4, 7),
        ("1:5:0", 1, 5, None),
    ],
)
def test_a_scale_is_read_from_a_word(text, low, high, points):
    scale = RatingScale.parse(text)
    assert (scale.low, scale.high, scale.points, scale.higher_is_better) == (low, high, points, True)
    assert scale.source == "declared"
    assert RatingScale.parse(scale.bounds) == scale
    assert RatingScale.parse(text, higher_is_better=False).higher_is_better is False


@each_case(
    ("text", "message"),
    [
        ("", "written low:high"),
        ("5", "written low:high"),
        ("one:five", "written low:high"),
        ("1:5:5:5", "written low:high"),
        ("1:5:2.5", "written low:high"),
        ("1-5", "written low:high"),
        ("5:1", "a larger upper bound; got 5:1"),
        ("3:3", "a larger upper bound; got 3:3"),
        ("nan:1", "a larger upper bound"),
        ("0:inf", "a larger upper bound"),
        ("1:5:1", "at least 2 points; got 1"),
        ("1:5:nan", "written low:high|at least 2 points"),
        ("1:5:inf", "written low:high|at least 2 points"),
    ],
)
def test_a_scale_that_makes_no_sense_is_refused(text, message):
    with pytest.raises(ScaleError, match=message):
        RatingScale.parse(text)


def test_bounds_given_as_numbers_are_checked_too():
    with pytest.raises(ScaleError, match="got 2:2"):
        RatingScale(2, 2)
    with pytest.raises(ScaleError, match="at least 2 points; got 1"):
        RatingScale(1, 5, points=1)


def test_only_short_whole_number_scales_have_points():
    assert likert_points(0, 10) == 11
    assert likert_points(0, 11) is None
    assert likert_points(0.5, 4.5) is None


def test_a_scale_says_what_it_is():
    assert str(RatingScale.parse("1:5")) == "1 to 5 (5 points)"
    assert (
        str(RatingScale.parse("0:100", higher_is_better=False)) == "0 to 100 (continuous, lower is better)"
    )

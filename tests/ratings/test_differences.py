"""Differences as people say them: on [0, 1] or in points, never beyond what a scale has."""

import math

import pytest
from cli import run
from hypothesis import given
from hypothesis import strategies as st

from humeval_power.assumptions import Assumed, Assumptions
from humeval_power.differences import beyond_baseline, differences_of, margin_of, understood
from humeval_power.errors import InputError
from humeval_power.parameters import PRESETS
from humeval_power.scales import RatingScale

SCALES = (
    RatingScale(1, 5, points=5),
    RatingScale(0, 100),
    RatingScale(1, 7, points=7),
    RatingScale(-25, 0),
)


@given(st.floats(-1, 1), st.sampled_from(SCALES))
def test_points_and_shares_are_the_same_difference(value, scale):
    points = scale.effect_to_raw(value)
    found = differences_of([points], scale, name="--effect-raw", raw=True)[0]
    assert found.value == pytest.approx(value, abs=1e-12)
    assert found.points == points


@given(st.one_of(st.floats(1.0001, 1e308), st.just(math.inf), st.just(math.nan)), st.booleans())
def test_a_difference_that_cannot_exist_is_refused_with_its_option(size, negative):
    value = -size if negative else size
    with pytest.raises(InputError, match="`effect`"):
        differences_of([value], None, name="--effect")
    for scale in SCALES:
        with pytest.raises(InputError, match="`effect_raw`"):
            differences_of([value * scale.width], scale, name="--effect-raw", raw=True)


def test_all_impossible_differences_are_named_at_once():
    with pytest.raises(InputError) as caught:
        differences_of([0.1, 3, 0.2, -4], None, name="--effect")
    assert [problem.value for problem in caught.value.problems] == [3, -4]


def test_lower_is_better_turns_points_round_and_says_so():
    scale = RatingScale(1, 5, points=5, higher_is_better=False)
    found = differences_of([-0.4], scale, name="--effect-raw", raw=True)
    assert found[0].value == pytest.approx(0.1)
    assert "lower is better" in understood(found)


def test_a_margin_is_a_size_whatever_the_direction_of_the_scale():
    scale = RatingScale(1, 5, points=5, higher_is_better=False)
    assert margin_of(0.4, scale, name="--margin-raw", raw=True) == pytest.approx(0.1)
    for wrong in (0, -0.1, 5):
        with pytest.raises(InputError, match="`margin_raw`"):
            margin_of(wrong, scale, name="--margin-raw", raw=True)


def test_the_baseline_warns_only_where_both_means_cannot_lie_on_the_scale():
    assert beyond_baseline(0.6, [0.8, -0.8]) == ""
    assert "there is room for 0.8" in beyond_baseline(0.6, [0.5, 0.81])
    assert beyond_baseline(0.5, [1.0]) == ""


def test_another_studys_scale_and_systems_are_never_this_studys():
    entry = Assumed("x", PRESETS["high"], scale=RatingScale(-25, 0), systems=("s", "t"), origin="library")
    borrowed = Assumptions((entry,))
    assert borrowed.scale is None
    assert borrowed.systems == ("A", "B")
    assert borrowed.observed is None


def test_what_the_user_says_wins_over_a_file():
    entry = Assumed("x", PRESETS["high"], scale=RatingScale(0, 100), systems=("s", "t"), origin="file")
    assert Assumptions((entry,)).scale == RatingScale(0, 100)
    assert Assumptions((entry,)).systems == ("s", "t")
    told = Assumptions((entry,), RatingScale(1, 5, points=5), ("old", "new"))
    assert told.scale == RatingScale(1, 5, points=5)
    assert told.systems == ("old", "new")


@pytest.mark.parametrize(
    ("effect", "is_told"),
    [
        ("--effect=0.3", True),
        ("--effect=0.1", False),
        ("--effect-raw=1.2", False),
        ("--system-means=0.3,0.6", False),
    ],
)
def test_a_large_difference_on_the_unit_scale_is_said_in_points(effect: str, is_told: bool) -> None:
    """0.3 beside a scale of 1 to 5 may be meant as 0.3 points; 1.2 points were said as such."""
    words = (
        "power",
        "--preset=low",
        "--scale=1:5",
        effect,
        "--workers=5",
        "--items=20",
        "--method=analytic",
    )
    said = " ".join(run(*words).stderr.split())
    assert (
        "is 1.2 points of the scale 1 to 5. If you mean 0.3 points, --effect-raw says so." in said
    ) == is_told

"""All problems of an input at once: the first few of a kind, and how many more there are."""

import pytest

from humeval_power.checking.columns import absent_names
from humeval_power.errors import InputError, Problem, first_few, refuse


def _problems(*places):
    return [Problem(f"problem {number}.", "", place) for number, place in enumerate(places)]


def test_as_many_problems_as_are_shown_are_shown_without_a_count():
    assert first_few(_problems("t.csv", "t.csv"), most=2) == _problems("t.csv", "t.csv")


@pytest.mark.parametrize(
    ("places", "total", "last"),
    [
        (["t.csv"] * 5, None, "t.csv: and 3 more like this."),
        (["t.csv"] * 2, 1_005, "t.csv: and 1,003 more like this."),
        (["t.csv", "u.csv", "u.csv"], None, "and 1 more like this."),  # of two files
    ],
)
def test_of_more_problems_the_rest_is_counted(places, total, last):
    shown = first_few(_problems(*places), most=2, total=total)
    assert [*map(str, shown)][2:] == [last]


def test_no_problem_is_no_error_and_several_are_one():
    refuse([])
    with pytest.raises(InputError) as error:
        refuse(_problems("t.csv", "u.csv"))
    assert str(error.value) == "t.csv: problem 0.\nu.csv: problem 1."


def test_each_name_that_is_not_there_comes_with_the_nearest_that_is():
    absent = absent_names(["new", "basline", "other"], ["new", "baseline"], "system", place="t.csv")
    assert [*map(str, absent)] == [
        "t.csv: there is no system 'basline'. Did you mean 'baseline'?",
        "t.csv: there is no system 'other'. There are: new, baseline.",
    ]

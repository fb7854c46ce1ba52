"""Rules by which workers are left out: what may be set, and what is refused."""

import numpy as np
import pytest
from cases import each_case
from hypothesis import given
from hypothesis import strategies as st

from humeval_power.errors import InputError
from humeval_power.exclusions import NO_RULES, RULES, ExclusionRules

EVERY = "failed-checks=0.34,repeats=0.3,seconds=2,same-answer=0.95,agreement=0"


def test_text_and_rules_are_the_same_thing():
    rules = ExclusionRules.parse(EVERY)
    assert str(rules) == EVERY
    assert list(rules.limits) == list(RULES)
    assert ExclusionRules.parse(" agreement = 0 , seconds=2") == ExclusionRules(seconds=2, agreement=0)
    assert len(rules.sentences) == 5


@each_case(
    ("text", "words"),
    [
        ("", "'' is no rule"),
        ("speed=2", "'speed=2' is no rule"),
        ("seconds", "'seconds' is no rule"),
        ("seconds=", "seconds above 0; got ''"),
        ("seconds=fast", "got 'fast'"),
        ("seconds=0", "above 0"),
        ("seconds=inf", "got 'inf'"),
        ("agreement=1", "below 1"),
        ("agreement=nan", "got 'nan'"),
        ("same-answer=0", "above 0"),
        ("same-answer=95", "below 1; got '95'"),
        ("failed-checks=-0.1", "from 0"),
        ("repeats=1", "below 1"),
        ("seconds=2,seconds=3", "given twice"),
    ],
)
def test_nonsense_is_refused_with_what_is_allowed(text, words):
    with pytest.raises(InputError) as error:
        ExclusionRules.parse(text)
    assert words in str(error.value)


def test_all_problems_come_at_once():
    with pytest.raises(InputError) as error:
        ExclusionRules.parse("speed=1,seconds=-1,agreement=2")
    assert len(error.value.problems) == 3
    with pytest.raises(InputError) as error:
        ExclusionRules(seconds=0, failed_checks=1, same_answer=True)
    assert len(error.value.problems) == 3


def test_no_rule_is_false_and_leaves_nobody_out():
    assert not NO_RULES
    assert ExclusionRules(failed_checks=0)
    assert NO_RULES.left_out(dict.fromkeys(RULES, np.full(3, 5.0))).tolist() == [False] * 3


@given(
    st.lists(st.one_of(st.just(np.nan), st.floats(-1, 1)), min_size=1, max_size=5), st.floats(-0.99, 0.99)
)
def test_unknown_values_never_leave_anybody_out(values, limit):
    statistics = dict.fromkeys(RULES, np.array(values))
    out = ExclusionRules(agreement=limit).left_out(statistics)
    assert out.tolist() == [value == value and round(value, 12) < limit for value in values]

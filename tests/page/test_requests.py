"""Links and words: one to one, and no value becomes an option."""

from urllib.parse import parse_qsl, urlsplit

import pytest
from cases import each_case, examples
from hypothesis import given
from hypothesis import strategies as st

from humeval_power.doors.page.requests import (
    FORMS,
    NEVER,
    CommandRequest,
    command_of,
    file_names,
    offered,
    request_of,
    ways,
    words_of,
)
from humeval_power.errors import InputError

POWER = ("power",)


def test_a_link_is_what_one_would_type():
    query = [("preset", "high"), ("workers", "20"), ("paired", "0"), ("effect", "-0.1"), ("items", "")]
    asked = request_of(POWER, query)
    assert words_of(asked) == (
        *("power", "--preset", "high", "--workers", "20", "--unpaired", "--effect=-0.1"),
    )
    assert asked.link == "/power?preset=high&workers=20&paired=0&effect=-0.1"


def test_the_other_side_of_a_pair_of_flags_is_understood():
    assert request_of(POWER, [("unpaired", "1")]) == CommandRequest(POWER, (("paired", "0"),))


@given(st.lists(st.tuples(st.sampled_from(sorted(offered(POWER))), st.text(min_size=1)), max_size=8))
@examples(200)
def test_links_come_back_and_values_stay_values(query):
    asked = request_of(POWER, query)
    split = urlsplit(asked.link)
    assert request_of(POWER, parse_qsl(split.query, keep_blank_values=True)) == asked
    known = {name for option in command_of(POWER).params for name in (*option.opts, *option.secondary_opts)}
    options = [word for word in words_of(asked) if word.partition("=")[0] in known]
    # each option of the link gives one word of an option at most: a value that looks like one is joined to its own
    assert len(options) <= len(asked.options)


@each_case("value", ["--output=/etc/x", "--force", "-o", "--on", "-"])
def test_a_value_that_looks_like_an_option_is_joined_to_its_own(value):
    words = words_of(request_of(POWER, [("preset", value)]))
    assert words == ("power", f"--preset={value}")


@each_case("name", [*sorted(NEVER), "nonsense", "o"])
def test_what_no_page_may_set_is_refused(name):
    with pytest.raises(InputError, match="has no option"):
        request_of(POWER, [(name, "1")])


def test_a_link_with_an_old_name_is_told_the_new_one():
    with pytest.raises(InputError, match="It is now called 'label-agreement'"):
        request_of(("contingency", "power"), [("agreement", "0.9")])


def test_all_that_is_wrong_with_a_link_is_told_at_once():
    with pytest.raises(InputError) as told:
        request_of(POWER, [("output", "x"), ("on", "tcp://evil"), ("values", "x" * 3000)])
    assert len(told.value.problems) == 3


def test_files_are_told_from_words():
    asked = request_of(POWER, [("parameters", "p.json~0123456789abcdef"), ("preset", "high")])
    assert file_names(asked) == {"p.json~0123456789abcdef": "p.json"}


@each_case("form", FORMS.values(), ids=lambda form: form.path)
def test_every_form_names_options_that_its_command_has(form):
    options = offered(form.command, form.hides)
    named = [control.option for group in form.groups for control in group.controls]
    assert not set(named) - set(options)
    assert len(named) == len(set(named))
    assert not set(form.live) - set(options)
    words_of(request_of(form.command, form.start, form.hides))


@pytest.mark.parametrize(
    ("robust", "simulated", "shown"), [(False, None, 0.92), (True, None, 0.17), (False, 0.9, 0.9)]
)
def test_a_card_shows_the_power_that_is_planned_for(robust, simulated, shown) -> None:
    design = {"analytic_power": {"typical": 0.92, "cautious end": 0.17}, "power": simulated}

    class Planned:
        def content(self):
            rows = [{"name": "safer", "design": design}]
            return {
                "robust": robust,
                "chosen": design,
                "recommended": "safer",
                "ways": rows,
                "target_power": 0.8,
            }

    [(name, way)] = ways(("plan",), Planned())
    assert way["is_recommended"]
    assert (name, way["shown_power"], way["target"]) == ("safer", shown, 0.8)

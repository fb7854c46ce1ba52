"""The forms of comparisons: controls are options, untouched forms are answered, one answer leads to the next."""

import html
import re

import click
import numpy as np
import pytest
from cases import each_case

pytest.importorskip("starlette", reason="The page needs the extra [page].")
from places import ROOT

from humeval_power.asking.form import Form
from humeval_power.doors.page.answers import Work, answer
from humeval_power.doors.page.requests import FORMS, CommandRequest, offered, words_of
from humeval_power.doors.page.views import can_begin

COMPARISONS = [form for form in FORMS.values() if form.journey == "compare"]
EACH = each_case("form", COMPARISONS, ids=lambda form: " ".join(form.command))


def answered(form: Form, *options: tuple[str, str], files=()):
    """What the form's command says of these options, by formula where there is one."""
    asked = CommandRequest(form.command, options).with_options(**form.live)
    return answer(Work(words_of(asked, form.hides), tuple(files)), lambda _told: None)


@EACH
def test_every_control_is_an_option_and_its_words_are_those_of_its_values(form):
    options = offered(form.command, form.hides)
    controls = [control for group in form.groups for control in group.controls]
    names = [control.option for control in controls]
    assert len(set(names)) == len(names)
    assert set(names) <= set(options)
    assert set(form.live) <= set(options)
    for control in controls:
        option = options[control.option]
        if control.labels:
            assert isinstance(option.type, click.Choice) or option.secondary_opts
        if isinstance(option.type, click.Choice):
            named = set(control.labels) - {""}  # "" is what stands there where nothing is chosen
            assert named <= set(option.type.choices)
            assert len(named) in (0, len(option.type.choices))
        if control.slider:
            low, high = control.slider
            assert low < high
            assert 0 < control.step <= (high - low) / 5
            assert not control.start or low <= float(control.start) <= high
            assert option.type.convert(low if low else control.step, option, None) is not None
            assert option.type.convert(high, option, None) is not None


@EACH
def test_what_an_option_of_a_form_is_for_is_said_in_words(form):
    for group in form.groups:
        for control in group.controls:
            option = offered(form.command, form.hides)[control.option]
            assert control.help or getattr(option, "help", None), control.option
            assert control.label, control.option


@EACH
def test_every_step_to_another_form_carries_what_that_form_has(form):
    for step in form.next:
        other = offered(FORMS[step.command].command, FORMS[step.command].hides)
        assert {*step.carries, *step.fills, *step.brings} <= set(other)
        assert not set(step.carries) & set(step.brings)


@EACH
def test_an_untouched_form_is_answered_or_waits_for_a_file(form):
    if not can_begin(form):
        options = offered(form.command, form.hides)
        needed = {name for name, option in options.items() if option.required} - dict(form.start).keys()
        assert needed or not form.start
        return
    if not form.moves:
        assert form.command == ("compare", "primer-table")
        return
    found = answered(form, *form.start)
    assert found.exit_code == 0, found.problems
    assert found.html


# from a test to the power of the next study


def brought(client, name, content):
    """A file as it stands in links."""
    sent = client.post(
        "/upload",
        params={"back": "/", "option": "x"},
        files={"file": (name, content)},
        follow_redirects=False,
    )
    return sent.headers["location"].partition("x=")[2]


def steps(page):
    """The links under 'Next', by their words."""
    nav = page.partition('<nav class="next"')[2].partition("</nav>")[0]
    return {words: html.unescape(link) for link, words in re.findall(r'<a href="([^"]+)">([^<]+)</a>', nav)}


@pytest.fixture
def scores(client):
    rng = np.random.default_rng(1)
    a = rng.standard_normal(60)
    b = a + 0.5 + rng.standard_normal(60)
    text = "".join(f"{x:.4f} {y:.4f}\n" for x, y in zip(a, b, strict=True))
    return brought(client, "two.txt", text.encode()), b - a


def test_from_scores_to_the_power_of_the_next_test_set(client, scores):
    name, differences = scores
    first = client.get(f"/compare/scores?files={name}&question=mean&test=recommended").text
    assert "Step 4: the power" in first
    assert "By formula, at once" in first
    link = steps(first)["Power of the next test set"]
    assert link.startswith("/compare/power?")
    assert f"sd-difference={differences.std(ddof=1):.3g}"[:17] in link
    assert "&n=60" in link
    second = client.get(link).text
    assert "By formula" in second
    third = client.get(steps(second)["Size that finds this effect"]).text
    assert 'name="sd-difference" value="' in third
    assert re.search(r"\d+ items would do", third)


def test_the_power_of_a_sign_test_is_no_difference_in_the_metrics_units(client, scores):
    page = client.get(f"/compare/scores?files={scores[0]}&question=better").text
    assert "Step 4: the power" in page
    assert "Power of the next test set" not in steps(page)


def test_an_untouched_page_of_scores_asks_for_a_file_and_has_two_fields_for_it(client):
    page = client.get("/compare/scores").text
    assert 'class="problem' not in page
    assert page.count('name="files"') == 2
    assert re.search(r'<option value="recommended" *selected', page)


def test_the_two_files_of_one_option_are_both_asked(client):
    names = [brought(client, f"{system}.txt", b"1\n2\n3\n5\n") for system in "ab"]
    page = client.get(f"/compare/scores?files={names[0]}&files={names[1]}&question=mean").text
    assert "B compared with A" in page
    assert "compare scores a.txt b.txt" in page


def test_from_counts_of_accuracy_to_a_size(client):
    page = client.get("/accuracy/test?only-b=30&only-a=12&n=400&both=300").text
    link = steps(page)["Items that find this difference"]
    assert "effect=0.045" in link
    assert "agreement=0.895" in link
    assert "baseline-accuracy=0.78" in link
    assert "Next" in client.get(link).text
    short = client.get("/accuracy/test?only-b=30&only-a=12&n=400").text
    assert (
        "baseline" not in steps(short)["Items that find this difference"]
    )  # nobody said who both got right


def test_from_preferences_to_a_power_with_the_same_ties(client):
    page = client.get("/preference/test?wins=40&ties=20&losses=30").text
    link = steps(page)["Power of the next study"]
    for part in ("tie-share=0.222222", "effect=0.0714286", "n=90"):  # 40 of 70 without ties, less one half
        assert part in link


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("compare/power?n=x&effect=0.1&sd-difference=1", "n"),
        ("accuracy/power?n=100&effect=3&baseline-accuracy=0.9", "effect"),
        ("preference/power?n=100&effect=0.1&tie-share=2", "tie-share"),
        ("judge/mean?n=100&extra=10&correlation=2", "correlation"),
    ],
)
def test_what_is_wrong_stands_beside_its_field(client, query, field):
    page = client.get(f"/{query}").text
    assert f'id="field-{field}-wrong"' in page


def test_several_systems_are_compared_in_pairs_and_lead_to_no_study_of_two(client):
    text = "item,<b>x</b>,two,three\n" + "".join(f"{i},{i % 5},{i % 3},{i % 7}\n" for i in range(30))
    page = client.get(
        f"/compare/scores?files={brought(client, 'many.csv', text.encode())}&question=mean"
    ).text
    assert "3 systems compared" in page
    assert "<b>x" not in page
    assert not steps(page)


def test_a_slider_that_nobody_touched_stands_where_the_command_begins(client):
    page = client.get("/compare/prospective?effect=0.02&sd=0.1").text
    assert re.search(r'data-for="field-alpha"[^>]*value="0.05"', page)
    assert "as usual: A difference, in either direction" in page


def test_from_independent_ratings_to_how_many_the_next_study_needs(client):
    ratings = brought(client, "pilot.csv", (ROOT / "data" / "pilot.csv").read_bytes())
    first = client.get(f"/assessment/test?table={ratings}").text
    assert "Systems compared by independent ratings" in first
    link = steps(first)["Ratings that the next study needs"]
    assert "mean=3.17222&sd=1.0455&effect=0.283333" in link
    assert "Size" in client.get(f"{link}&scale=1:5").text


def test_from_the_primers_counts_to_a_test_of_them(client):
    first = client.get("/compare/primer?n=500&helped=10&hurt=7").text
    assert "p = 0.272, exactly" in first
    second = client.get(steps(first)["Test these counts"]).text
    assert "0.481" in second

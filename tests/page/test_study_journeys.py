"""A study on the page in a real browser: from nothing, with a pilot, of eight systems, all the way to a report."""

from __future__ import annotations

import csv
import subprocess
import sys
import time

import pytest
from browsing import browser_page, settled, violations
from places import ROOT

pytest.importorskip("starlette", reason="The page needs the extra [page].")
pytestmark = [pytest.mark.browser, pytest.mark.slow]
STAGES = ("question", "size", "plan", "collect", "look", "decide", "report")
MOST_FIELDS = 12
SECONDS = 180


def typed(page, **values: str) -> None:
    """Type into fields, and wait until they are saved."""
    for name, value in values.items():
        page.wait_for_selector(f"#field-{name}")
        page.evaluate("document.getElementById('saved').textContent = ''")
        page.fill(f"#field-{name}", value)
        page.keyboard.press("Tab")
        page.wait_for_function("() => document.getElementById('saved').textContent !== ''")


def onward(page) -> None:
    with page.expect_navigation():
        page.click(".onward a")
    settled(page)


def fields_seen(page) -> set[str]:
    """The fields that can be seen without opening anything."""
    page.wait_for_selector("#form")
    shown = page.locator("#form [data-field]").evaluate_all(
        "all => all.filter(one => !one.closest('details:not([open])')).map(one => one.dataset.field)"
    )
    return set(shown)


def sealed(page) -> str:
    """Choose the first design and seal it; the words of the sealed plan."""
    page.click("button:has-text('Find designs')")
    page.wait_for_selector(".cards")
    page.click(".cards button >> nth=0")
    page.wait_for_selector(".badge:has-text('Sealed')")
    settled(page)
    return page.inner_text("#answer")


def test_from_nothing_to_a_sealed_plan_in_few_fields(page, folder):
    begun = time.monotonic()
    page.goto(page.own)
    page.fill("input[name=name]", "nothing")
    page.click("button:has-text('New study')")
    seen = fields_seen(page)
    typed(page, question="Is the new one better?", systems="old, new")
    onward(page)
    seen |= fields_seen(page)
    assert "smallest difference" in page.inner_text("#answer")
    typed(page, effect_raw="0.5")
    settled(page)
    assert "Of 100 such studies" in page.inner_text("#answer")
    onward(page)
    seen |= fields_seen(page)
    typed(page, cost_per_rating="0.12", budget="900", max_workers="60")
    assert "60" in sealed(page)
    assert time.monotonic() - begun < SECONDS
    assert len(seen) <= MOST_FIELDS
    assert (folder / "nothing" / "plan" / "plan.json").is_file()
    page.goto(page.own)
    assert "hand out the work" in page.inner_text("main")


def test_with_a_pilot_by_keyboard_alone(page, folder):
    page.goto(page.own)
    page.focus("input[name=name]")
    page.keyboard.type("keys")
    page.keyboard.press("Enter")
    page.wait_for_selector("#field-question")
    page.goto(page.own + "study/keys/size")
    settled(page)
    page.set_input_files("[data-field=pilot] .chooser", str(ROOT / "data" / "pilot.csv"))
    page.wait_for_function("() => document.getElementById('field-pilot').value === 'pilot.csv'")
    assert page.input_value("#field-preset") == ""
    for name, value in (("effect_raw", "0.4"), ("workers", "15")):
        for _ in range(80):
            page.keyboard.press("Tab")
            if page.evaluate("document.activeElement.id") == f"field-{name}":
                break
        else:
            raise AssertionError(f"{name} cannot be reached by Tab.")
        page.keyboard.press("Control+A")
        page.evaluate("document.getElementById('saved').textContent = ''")
        page.keyboard.type(value)
        page.keyboard.press("Enter")
        page.wait_for_function("() => document.getElementById('saved').textContent !== ''")
    settled(page)
    assert "new is 0.4 points better than baseline" in page.inner_text("#answer")
    text = (folder / "keys" / "study.toml").read_text()
    assert "workers = 15" in text
    assert 'pilot = "pilot.csv"' in text


def test_eight_systems_have_a_size(page):
    page.goto(page.own)
    page.click("button:has-text('Eight systems')")
    settled(page)
    assert "8 systems" in page.inner_text("#answer")
    assert page.input_value("#field-workers") == "30"


def reached(page, selector: str) -> None:
    """Go on by the Tab key until something has the focus."""
    for _ in range(120):
        page.keyboard.press("Tab")
        if page.evaluate("one => document.activeElement.matches(one)", selector):
            return
    raise AssertionError(f"{selector} cannot be reached by Tab.")


def keyed(page, **values: str) -> None:
    """Type into fields by the keyboard alone, and wait until each is saved."""
    for name, value in values.items():
        reached(page, f"#field-{name}")
        page.evaluate("document.getElementById('saved').textContent = ''")
        page.keyboard.press("Control+A")
        page.keyboard.type(value)
        page.keyboard.press("Enter")
        page.wait_for_function("() => document.getElementById('saved').textContent !== ''")


def onward_by_key(page) -> None:
    reached(page, ".onward a")
    with page.expect_navigation():
        page.keyboard.press("Enter")
    settled(page)


EIGHT = {"question": "Which of eight differ?", "systems": "A, B, C, D, E, F, G, H"}


@pytest.mark.parametrize("by", ["clicks", "keyboard"])
def test_eight_systems_from_nothing_to_designs_that_can_be_sealed(page, folder, by):
    fill, go_on = (typed, onward) if by == "clicks" else (keyed, onward_by_key)
    begun = time.monotonic()
    page.goto(page.own)
    page.focus("input[name=name]")
    page.keyboard.type(f"eight by {by}")
    page.keyboard.press("Enter")
    seen = fields_seen(page)
    fill(page, **EIGHT)
    go_on(page)
    seen |= fields_seen(page)
    fill(page, effect_raw="0.8")
    settled(page)
    assert "8 systems" in page.inner_text("#answer")
    go_on(page)
    seen |= fields_seen(page)
    fill(page, cost_per_rating="0.12", max_workers="12")
    if by == "clicks":
        page.click("button:has-text('Find designs')")
    else:
        reached(page, "form[action*='/act/search/'] button")
        page.keyboard.press("Enter")
    page.wait_for_selector(".cards")
    seconds = time.monotonic() - begun
    print(f"eight systems by {by}: {seconds:.0f} s, {len(seen)} fields seen")
    assert len(seen) <= MOST_FIELDS
    assert page.locator(".cards button").count() >= 1
    text = (folder / f"eight by {by}" / "study.toml").read_text()
    assert 'systems = ["A", "B", "C", "D", "E", "F", "G", "H"]' in text


def test_the_budget_is_worked_out_while_the_rest_is_dragged(page, folder):
    page.goto(page.own)
    page.click("button:has-text('Two summarisers')")
    settled(page)
    with page.expect_navigation():
        page.click("nav.open a:has-text('The budget')")
    settled(page)
    assert {"workers", "items"}.isdisjoint(fields_seen(page))
    before = page.inner_text("#answer .headline")
    assert "USD" in before
    page.focus("input[type=range][data-for=field-effect_raw]")
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "before => ![undefined, before].includes(document.querySelector('#answer .headline')?.innerText)",
        arg=before,
    )
    page.keyboard.press("Tab")
    page.wait_for_function("() => document.getElementById('saved').textContent !== ''")
    settled(page)
    name = page.inner_text("h1")
    page.click("#answer button:has-text('into the study')")
    page.wait_for_url("**/size?open=budget")
    settled(page)
    assert page.locator("#answer button:has-text('into the study')").count() == 0
    assert "budget = 300" in (folder / name / "study.toml").read_text()


def test_a_slider_moves_the_answer_and_is_saved(page, folder):
    page.goto(page.own)
    page.click("button:has-text('Two summarisers')")
    settled(page)
    before = page.inner_text("#answer .answer")
    page.focus("input[type=range][data-for=field-workers]")
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "before => document.querySelector('#answer .answer')?.innerText !== before", arg=before
    )
    page.keyboard.press("Tab")
    page.wait_for_function("() => document.getElementById('saved').textContent !== ''")
    assert page.url.endswith("/size")
    name = page.inner_text("h1")
    assert "workers = 17" in (folder / name / "study.toml").read_text()
    page.reload()
    assert page.input_value("#field-workers") == "17"


def test_two_tabs_do_not_write_over_each_other(page, folder):
    page.goto(page.own)
    page.fill("input[name=name]", "tabs")
    page.click("button:has-text('New study')")
    page.wait_for_selector("#form")
    page.goto(page.own + "study/tabs/size")
    settled(page)
    file = folder / "tabs" / "study.toml"
    file.write_text(file.read_text().replace("workers = 25", "workers = 44"))
    page.fill("#field-items", "77")
    page.keyboard.press("Tab")
    page.wait_for_selector("h1:has-text('Changed meanwhile')")
    assert "44" in page.inner_text("table")
    assert violations(page) == []
    assert "items = 77" not in file.read_text()
    page.click("a:has-text('Keep what is in the file')")
    settled(page)
    assert page.input_value("#field-workers") == "44"


def test_from_the_plan_to_the_report(page, folder, tmp_path):
    """The whole way, on a small study whose workers are simulated."""
    page.goto(page.own)
    page.fill("input[name=name]", "whole")
    page.click("button:has-text('New study')")
    typed(page, question="Is the new one better?", systems="old, new")
    page.goto(page.own + "study/whole/size")
    settled(page)
    typed(page, effect_raw="1.2", items="40")
    page.goto(page.own + "study/whole/plan")
    typed(page, cost_per_rating="0.12", max_workers="20")
    sealed(page)
    onward(page)
    texts = tmp_path / "texts.csv"
    rows = [[f"i{number:02d}", f"old {number}", f"new {number}"] for number in range(1, 41)]
    with texts.open("w", newline="") as file:
        csv.writer(file).writerows([["item", "old", "new"], *rows])
    page.set_input_files("[data-field=outputs] .chooser", str(texts))
    page.wait_for_function("() => document.getElementById('field-outputs').value === 'texts.csv'")
    page.select_option("#field-upload", "html")
    page.click("button:has-text('Write the forms')")
    page.wait_for_selector("button:has-text('Write the forms again')")
    here = folder / "whole"
    assert (here / "forms" / "assignment.csv").is_file()
    words = "simulate --plan plan --assignment forms/assignment.csv --key key.csv --coded -q -o answers.csv"
    program = [sys.executable, "-m", "humeval_power.doors.terminal.main"]
    subprocess.run([*program, *words.split()], cwd=here, check=True)
    page.set_input_files("[data-field=exports] .chooser", str(here / "answers.csv"))
    page.wait_for_selector("button:has-text('Take these as the ratings')")
    settled(page)
    assert "answers are in" in page.inner_text("#answer")
    page.click("button:has-text('Take these as the ratings')")
    page.wait_for_selector("button:has-text('Take these as the ratings again')")
    page.goto(page.own + "study/whole/decide")
    settled(page)
    assert "This table can be analysed" in page.inner_text("#answer")
    page.click("button:has-text('Analyse as planned')")
    page.wait_for_selector("button:has-text('Analyse again')")
    settled(page)
    assert "new" in page.inner_text("#answer .answer")
    onward(page)
    page.click("nav.open a:has-text('Human Evaluation Datasheet')")
    settled(page)
    assert "fields are filled" in page.inner_text("#answer")
    page.click("button:has-text('Write it into the folder')")
    page.wait_for_function("() => document.querySelector('.notes')?.innerText.includes('reports')")
    assert (here / "reports" / "heds.html").is_file()


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [360, 768, 1280])
def test_every_stage_is_within_reach_at_every_width(browser, served, folder, width, dark):
    if not (folder / "wide").exists():
        (folder / "wide").mkdir()
        text = 'schema = "humeval_power/study/1"\n[variation]\npreset = "high"\n[effect]\neffect = 0.1\n'
        (folder / "wide" / "study.toml").write_text(text + "[design]\nworkers = 20\nitems = 90\n")
    with browser_page(browser, served, width=width, dark=dark) as (page, seen):
        assert violations(page) == []
        for stage in STAGES:
            page.goto(f"{page.own}study/wide/{stage}")
            settled(page)
            assert violations(page) == [], stage
            assert page.evaluate("document.documentElement.scrollWidth") <= width, stage
            next_link = page.locator(".onward a").bounding_box()
            assert next_link["y"] + next_link["height"] <= 900, stage  # above the fold
        assert seen.errors == []


def test_without_scripts_a_study_is_saved_too(browser, served, folder):
    with browser_page(browser, served, scripts=False) as (page, _seen):
        page.fill("input[name=name]", "plain")
        page.click("button:has-text('New study')")
        page.fill("#field-question", "Without a script?")
        page.click("button:has-text('Save')")
        assert page.input_value("#field-question") == "Without a script?"
        assert 'question = "Without a script?"' in (folder / "plain" / "study.toml").read_text()
        page.goto(page.own + "study/plain/size")
        page.set_input_files("#upload input[type=file] >> nth=0", str(ROOT / "data" / "pilot.csv"))
        page.click("#upload button >> nth=0")
        page.click("#form button:has-text('Save')")
        assert (folder / "plain" / "pilot.csv").is_file()
        assert page.input_value("#field-pilot") == "pilot.csv"

"""Nothing is computed that nobody asks for or waits for; what changes is heard as a sentence; targets are large."""

import pytest
from browsing import SMALL, browser_page, settled, violations
from export_shapes import SHAPES
from test_reading_journeys import brought

pytest.importorskip("starlette", reason="The page needs the extra [page].")
pytestmark = [pytest.mark.browser, pytest.mark.slow]
STAGES = ("question", "size", "plan", "collect", "look", "decide", "report")


def state(page) -> str:
    return page.get_attribute("#answer", "data-state")


def test_opening_the_page_of_a_plan_computes_nothing(page):
    for link in ("plan", "plan?preset=high&effect=0.1", "surface"):
        page.goto(page.own + link)
        assert state(page) == "idle"
        assert page.locator(".progress").count() == 0
        assert "press Answer" in page.inner_text("#answer")


@pytest.mark.long
def test_what_was_begun_stops_when_its_page_is_left_and_goes_on_when_it_is_loaded_again(page):
    page.goto(page.own)
    page.click("button:has-text('Eight systems')")
    settled(page)
    page.goto(page.own + "study/eight%20systems/plan")
    page.click("button:has-text('Find designs')")
    page.wait_for_selector("#answer[data-state=running]")
    page.reload()
    page.wait_for_timeout(5_000)
    assert state(page) in ("running", "waiting")
    page.goto(page.own + "study/eight%20systems/question")
    page.wait_for_timeout(5_000)
    page.goto(page.own + "study/eight%20systems/plan")
    assert state(page) in ("running", "waiting")  # another stage of the same study is no leaving
    page.goto(page.own)
    page.wait_for_timeout(20_000)
    page.goto(page.own + "study/eight%20systems/plan")
    assert state(page) == "stopped"


def test_each_step_of_a_slider_is_heard_as_one_sentence(page):
    page.goto(page.own + "power?preset=high&workers=20&items=100&effect=0.1")
    page.wait_for_selector("#answer .document")
    heard = set()
    page.focus("input[type=range][data-for=field-workers]")
    for _ in range(3):
        before = page.inner_text("#said")
        page.keyboard.press("ArrowRight")
        page.wait_for_function("before => document.getElementById('said').innerText !== before", arg=before)
        heard.add(page.inner_text("#said"))
    assert len(heard) == 3
    assert all(words.startswith("Of 100 such studies") and len(words) < 300 for words in heard)
    assert page.locator("[aria-live], [role=alert]").count() == 0


def test_an_uploaded_file_has_the_name_that_it_had(page):
    page.goto(page.own + "fit")
    file = {"name": "my pilot.csv", "mimeType": "text/csv", "buffer": SHAPES["long.csv"]()}
    page.set_input_files(".file .chooser >> nth=0", file)
    page.wait_for_selector(".brought")
    assert page.inner_text(".brought").strip() == "my pilot.csv"
    assert "~" not in page.inner_text("#form")


@pytest.mark.long
def test_targets_are_large_on_a_narrow_screen(browser, served):
    with browser_page(browser, served, width=360) as (page, seen):
        page.set_default_timeout(60_000)
        small: set[str] = set()
        brought(page, "narrow.csv", SHAPES["two-systems.csv"]())
        for place in ("", "study/narrow/decide?table=open", *(f"study/narrow/{stage}" for stage in STAGES)):
            page.goto(page.own + place)
            if place:
                settled(page)
            small |= set(page.evaluate(SMALL))
            assert violations(page) == [], place
            assert page.evaluate("document.documentElement.scrollWidth") <= 360, place
        assert small == set()
        assert seen.errors == []

"""From an export to an answer in a real browser: no file to write, no option, whatever its shape; bad files too."""

from __future__ import annotations

import pytest
from browsing import settled, violations
from export_shapes import BAD, SHAPES, WORDS

pytest.importorskip("starlette", reason="The page needs the extra [page].")
pytestmark = [pytest.mark.browser, pytest.mark.slow]


def brought(page, name: str, content: bytes) -> None:
    """Bring a file at the first page, and make a study of it under the name that is proposed."""
    page.goto(page.own)
    page.set_input_files(
        "form[action*='option=ratings'] input[type=file]",
        {"name": name, "mimeType": "text/plain", "buffer": content},
    )
    page.click("button:has-text('Look at them')")
    assert page.input_value("input[name=name]") == name.split(".")[0]
    page.click("button:has-text('Make the study')")
    page.wait_for_selector("form.reading")
    settled(page)


def pointed(page) -> None:
    """Say the points of words, by keyboard."""
    for point, word in enumerate(WORDS, start=1):
        field = page.locator(f"[aria-label='Points of {word}']")
        field.focus()
        page.keyboard.type(str(point))
        page.keyboard.press("Tab")
        settled(page)


def answered(page) -> str:
    """Take the ratings and analyse them; what is said."""
    page.click("button[value=take]")
    page.wait_for_selector("text=This table can be analysed")
    settled(page)
    page.click("button:has-text('Analyse')")
    page.wait_for_selector("#answer h2:has-text('Analysis of')")
    settled(page)
    return page.inner_text("#answer")


@pytest.mark.parametrize("name", SHAPES)
def test_an_export_becomes_an_answer_by_clicks(page, name):
    brought(page, name, SHAPES[name]())
    if name.startswith("Batch"):
        pointed(page)
    assert page.inner_text(".reading .first-number").split()[0] == {
        "two-systems.csv": "384",
        "project-1.json": "191",
    }.get(name, "192")
    assert violations(page) == []
    assert "new" in answered(page)


def by_words(page) -> None:
    pointed(page)


def by_cell(page) -> None:
    assert page.input_value("select[aria-label='output is']") == "item+system"


def by_tick(page) -> None:
    page.uncheck("input[name='keep-0']")
    settled(page)
    assert "188" in page.inner_text(".reading .first-number")


def by_commas(page) -> None:
    assert page.input_value("[aria-label='Points of 3,5']") == "3.5"


def by_choice(page) -> None:
    page.focus("select[aria-label='source is']")
    page.select_option("select[aria-label='source is']", "item")
    settled(page)
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "source is"
    assert "Another column is the item too" in page.inner_text(".reading")
    page.select_option("select[aria-label='segment_id is']", "")
    settled(page)


REPAIRS = {
    "words.csv": by_words,
    "outputs.csv": by_cell,
    "blank.csv": by_tick,
    "commas.csv": by_commas,
    "twice.csv": by_choice,
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_put_right_on_the_page(page, name):
    brought(page, name, BAD[name]())
    REPAIRS[name](page)
    assert violations(page) == []
    assert "new" in answered(page)


def test_undo_and_back_and_reload(page):
    brought(page, "long-again.csv", SHAPES["long.csv"]())
    page.select_option("select[aria-label='who is']", "")
    settled(page)
    assert "Which column is the worker?" in page.inner_text(".reading")
    page.reload()
    settled(page)
    assert "Which column is the worker?" in page.inner_text("#answer")
    page.click("button[value=undo]")
    page.wait_for_selector("button[value=take]")
    assert page.input_value("select[aria-label='who is']") == "worker"

"""The page of a large board in a browser: a system is found by its name, and a row says its numbers."""

import numpy as np
import pytest
from browsing import browser as browser
from browsing import browser_page

import humeval_power as hp
from humeval_power.comparisons.scores.score_table import ScoreTable
from humeval_power.saying.render import as_html

pytestmark = pytest.mark.browser


@pytest.fixture
def page(browser, tmp_path):
    rng = np.random.default_rng(9)
    names = tuple(f"family-{k % 9}-model-{k:03}" for k in range(60))
    scores = np.linspace(0, 1, 60) + rng.normal(0, 1, (60, 1)) + rng.normal(0, 0.5, (60, 60))
    path = tmp_path / "board.html"
    path.write_text(as_html(hp.rank.scores(ScoreTable(scores, names)).document()), "utf-8")
    with browser_page(browser, path.as_uri()) as (found, seen):
        yield found
        assert seen.errors == []
        assert seen.foreign == []


def visible(page, selector: str) -> list[str]:
    rows = page.locator(selector)
    return [rows.nth(place).text_content() for place in range(rows.count()) if rows.nth(place).is_visible()]


def drawn_rows(page) -> list[str]:
    """What the rows of the picture say that are not faded."""
    return page.eval_on_selector_all(
        "svg .row",
        "rows => rows.filter(row => getComputedStyle(row).opacity > 0.5).map(row => row.textContent)",
    )


def test_the_search_leaves_the_rows_of_the_system_in_the_table_and_in_the_picture(page):
    assert len(visible(page, "table.searchable tbody tr")) == 60
    page.get_by_label("Find a system").fill("MODEL-007")
    (row,) = visible(page, "table.searchable tbody tr")
    assert "family-7-model-007" in row
    (drawn,) = drawn_rows(page)
    assert "family-7-model-007: rank " in drawn
    page.get_by_label("Find a system").fill("no such system")
    assert visible(page, "table.searchable tbody tr") == drawn_rows(page) == []
    page.get_by_label("Find a system").fill("")
    assert len(drawn_rows(page)) == 60


def test_the_pointer_on_a_row_of_the_picture_meets_its_numbers(page):
    row = page.locator("svg .row").nth(20)
    row.scroll_into_view_if_needed()
    box = row.locator("path").first.bounding_box()  # the ground of the row, as wide as the picture
    for share in (0.05, 0.5, 0.95):  # on the name, on the bar or beside it
        at = {"x": box["x"] + share * box["width"], "y": box["y"] + box["height"] / 2}
        said = page.evaluate(
            "at => document.elementFromPoint(at.x, at.y).closest('.row').querySelector('title').textContent",
            at,
        )
        assert said == row.locator("title").text_content()
    assert "expected" in said
    assert "P(best)" in said


def test_the_matrix_of_pairs_stands_on_the_page(page):
    title = "Who is shown to be better than whom?"
    assert page.locator("svg", has=page.locator("title", has_text=title)).count() == 1

"""From scores or a folder of logs to an answer in a real browser: what was recognised, put right in place, next."""

import pytest
import score_shapes
from browsing import SMALL, browser_page, settled, violations

pytest.importorskip("starlette", reason="The page needs the extra [page].")
pytestmark = [pytest.mark.browser, pytest.mark.slow]
CHOOSER = "form[action*='option=files'] input"


def brought(page, tmp_path, **texts: str) -> None:
    """Bring tables at the first page."""
    paths = []
    for name, text in texts.items():
        path = tmp_path / f"{name}.csv"
        path.write_text(text)
        paths.append(str(path))
    page.goto(page.own)
    page.set_input_files(f"{CHOOSER}[multiple]", paths)
    page.click("button:has-text('Read them')")
    page.wait_for_selector("#reading")
    settled(page)


def chosen(page, column: str) -> str:
    """What a column is taken for."""
    return page.locator(f"[aria-label='{column} is'] option:checked").text_content()


def opened(page) -> None:
    if not page.locator("#reading details[open]").count():
        page.click("#reading summary >> nth=0")


@pytest.mark.long
def test_seeds_and_documents_are_recognised_and_put_right_by_keyboard(page, tmp_path):
    brought(page, tmp_path, seeds=score_shapes.with_seeds())
    assert "60 items, 2 systems, 3 runs, 10 groups of items" in page.inner_text("#reading")
    assert "new scores" in page.inner_text("#answer .answer")
    opened(page)
    roles = {
        name: chosen(page, name) for name in ("segment", "document", "engine", "seed", "bleu", "comet")
    }
    assert roles["seed"].startswith("the run")
    assert roles["document"].startswith("its document")
    assert roles["comet"] == "not used"
    assert violations(page) == []
    before = page.inner_text("#answer .answer")
    with page.expect_navigation():
        page.locator("[aria-label='bleu is']").press("n")  # not used
    settled(page)
    with page.expect_navigation():
        page.select_option("[aria-label='comet is']", label="the score")
    settled(page)
    assert "score=comet" in page.url
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "comet is"
    assert page.inner_text("#answer .answer") != before
    page.go_back()
    page.go_back()
    settled(page)
    assert page.inner_text("#answer .answer") == before
    page.reload()
    settled(page)
    assert page.inner_text("#answer .answer") == before
    page.click("nav.next a:has-text('Power of the next comparison')")
    page.wait_for_selector("#answer .headline")
    assert "/runs/power" in page.url


def test_without_the_seed_the_means_are_compared(page, tmp_path):
    brought(page, tmp_path, again=score_shapes.with_seeds())
    assert "/runs/test" in page.url
    opened(page)
    with page.expect_navigation():
        page.select_option("[aria-label='seed is']", label="not used")
    settled(page)
    assert "/compare/scores" in page.url
    assert "second score" in page.inner_text("#answer")  # three seeds are not three items
    with page.expect_navigation():
        page.select_option("[aria-label='seed is']", label="the run: seed or prompt")
    settled(page)
    assert "/runs/test" in page.url
    assert "new scores" in page.inner_text("#answer .answer")


@pytest.mark.long
def test_a_leaderboard_of_the_systems_that_are_ticked(page, tmp_path):
    text = score_shapes.six_side_by_side()
    brought(page, tmp_path, wide=text)
    assert "the best of 6 systems is zeta" in page.inner_text("#answer .answer")
    opened(page)
    with page.expect_navigation():
        page.select_option("[aria-label='zeta is']", label="not used")
    settled(page)
    assert "the best of 5 systems is epsilon" in page.inner_text("#answer .answer")
    lines = text.splitlines()
    names = lines[0].split(",")[1:]
    rows = [
        f"{cells[0]},{name},{cell}"
        for cells in (line.split(",") for line in lines[1:])
        for name, cell in zip(names, cells[1:], strict=True)
    ]
    brought(page, tmp_path, long="\n".join(["item,system,score", *rows, ""]))
    opened(page)
    with page.expect_navigation():
        page.uncheck("label:has-text('zeta') input")
    settled(page)
    assert "the best of 5 systems is epsilon" in page.inner_text("#answer .answer")
    assert not page.is_checked("label:has-text('zeta') input")
    page.click("#reading a:has-text('Which is better')")
    page.wait_for_url("**/compare/scores**")
    settled(page)
    assert "6 systems" in page.inner_text("#reading")


def test_a_judge_is_checked(page, tmp_path):
    brought(page, tmp_path, judged=score_shapes.judged())
    assert "/judge/check" in page.url
    assert "80 labels" in page.inner_text("#answer .answer")
    assert violations(page) == []
    opened(page)
    with page.expect_navigation():
        page.select_option("[aria-label='human is']", label="not used")
    settled(page)
    assert page.locator("#reading details[open]").count() == 1


def test_a_folder_of_logs_is_brought_as_it_is(page, tmp_path):
    page.goto(page.own)
    page.set_input_files(f"{CHOOSER}[webkitdirectory]", str(score_shapes.logs(tmp_path)))
    page.click("button:has-text('Read them')")
    page.wait_for_selector("#reading")
    settled(page)
    assert "80 items, 2 systems" in page.inner_text("#reading")
    assert "alpha" in page.inner_text("#answer .answer")
    assert violations(page) == []


def test_two_files_of_numbers_are_a_and_b(page, tmp_path):
    brought(page, tmp_path, a=score_shapes.numbers_alone(0.5), b=score_shapes.numbers_alone(0.6))
    assert "B scores" in page.inner_text("#answer .answer")
    assert page.locator("#reading select").count() == 0


def test_ratings_of_workers_become_a_study(page, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("worker,item,system,rating\nw1,i1,A,3\n")
    page.goto(page.own)
    page.set_input_files(f"{CHOOSER}[multiple]", str(path))
    page.click("button:has-text('Read them')")
    page.wait_for_selector("h1:has-text('A study of these ratings')")
    assert page.input_value("input[name=name]") == "mine"


@pytest.mark.parametrize(("width", "dark"), [(360, False), (768, True), (1280, True)])
def test_the_reading_fits_every_width(browser, served, tmp_path, width, dark):
    with browser_page(browser, served, width=width, dark=dark) as (page, seen):
        page.set_default_timeout(60_000)
        brought(page, tmp_path, narrow=score_shapes.with_seeds())
        opened(page)
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(SMALL) == []
        assert seen.errors == []


def test_a_folder_that_is_dropped_on_a_field_is_brought_with_its_paths(page, tmp_path):
    page.goto(f"{page.own}compare/scores")
    box = page.locator("[data-field=files]").bounding_box()
    place = {"x": box["x"] + 40, "y": box["y"] + 20}
    data = {"items": [], "files": [str(score_shapes.logs(tmp_path))], "dragOperationsMask": 1}
    session = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        session.send("Input.dispatchDragEvent", {"type": kind, "data": data, **place})
    page.wait_for_selector("#reading")
    settled(page)
    assert "80 items, 2 systems" in page.inner_text("#reading")
    assert page.locator(".brought").inner_text().strip() == "runs"

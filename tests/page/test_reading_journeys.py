"""From an export to an answer in a real browser: no file to write, no option, whatever its shape; bad files too."""

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
    page.wait_for_selector("text=can be analysed")
    settled(page)
    page.click("button:has-text('Analyse')")
    page.wait_for_selector("#answer h2:has-text('Analysis of')")
    settled(page)
    return page.inner_text("#answer")


@pytest.mark.long
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


def begun(page, name: str, stage: str) -> None:
    """An empty study, at one of its stages."""
    page.goto(page.own)
    page.fill("input[name=name]", name)
    page.click("button:has-text('New study')")
    page.wait_for_selector("#form")
    page.goto(f"{page.own}study/{name}/{stage}")
    settled(page)


def dropped(page, field: str, **files: bytes) -> None:
    """Bring files into a field of a stage at once, and wait for their reading."""
    buffers = [
        {"name": f"{name}.csv", "mimeType": "text/csv", "buffer": content}
        for name, content in files.items()
    ]
    page.set_input_files(f"[data-field={field}] .chooser", buffers)


@pytest.mark.long
def test_a_wide_file_at_the_stage_of_a_new_study_is_shown_before_it_is_analysed(page):
    begun(page, "late", "decide")
    dropped(page, "ratings", wide=SHAPES["two-systems.csv"]())
    page.wait_for_selector("form.reading")
    settled(page)
    assert page.locator("#answer button:has-text('Analyse')").count() == 0
    assert "2 systems, 2 criteria" in page.inner_text(".reading .first-number")
    assert "new" in answered(page)


def test_of_several_exports_the_one_that_differs_is_named_and_left_out(page):
    head, *rows = SHAPES["long.csv"]().decode().splitlines(keepends=True)
    begun(page, "several", "collect")
    dropped(
        page,
        "exports",
        one="".join([head, *rows[:90]]).encode(),
        two="".join([head, *rows[90:]]).encode(),
        three="".join([head.replace("mark", "points"), *rows[:10]]).encode(),
    )
    page.wait_for_selector("form.reading")
    settled(page)
    assert "three.csv differs from one.csv: it has no column 'mark'" in page.inner_text(".reading .problem")
    assert page.locator("button[value=take]").count() == 0
    assert violations(page) == []
    with page.expect_navigation():
        page.click("label:has-text('three.csv') input")
    page.wait_for_selector("button[value=take]")
    assert page.inner_text(".reading .first-number").split()[0] == "192"
    assert page.input_value("#field-exports") == "one.csv, two.csv"
    page.click("button[value=take]")
    page.wait_for_selector("text=can be analysed")


def test_a_batch_that_comes_later_is_added_and_one_of_the_same_name_put_in_its_place(page):
    head, *rows = SHAPES["long.csv"]().decode().splitlines(keepends=True)
    begun(page, "batches", "collect")
    for name, some, count in (
        ("one", rows[:90], "90"),
        ("two", rows[90:150], "150"),
        ("two", rows[90:], "192"),
    ):
        dropped(page, "exports", **{name: "".join([head, *some]).encode()})
        page.wait_for_function(
            "count => document.querySelector('.reading .first-number')?.innerText.startsWith(count)",
            arg=count,
        )
        settled(page)
    assert page.input_value("#field-exports").count(",") == 1
    assert page.input_value("#field-exports").startswith("one.csv, two")


@pytest.mark.parametrize(
    ("content", "advice"),
    [
        (SHAPES["long.csv"]()[:-9], "Is the file cut off in this last row? Fetch or save it again"),
        (b"%PDF-1.7\n", "this is a PDF document, and no table"),
        (b"\xd0\xcf\x11\xe0 old", "Save its table as .xlsx or as CSV UTF-8"),
    ],
)
def test_what_is_no_table_or_cut_off_is_said_so(page, content, advice):
    page.goto(page.own)
    name = f"bad{len(content)}"
    file = {"name": f"{name}.csv", "mimeType": "text/csv", "buffer": content}
    page.set_input_files("form[action*='option=ratings'] input[type=file]", file)
    page.click("button:has-text('Look at them')")
    page.click("button:has-text('Make the study')")
    page.wait_for_selector("#answer .problems, #answer .problem")
    assert advice in page.inner_text("#answer")

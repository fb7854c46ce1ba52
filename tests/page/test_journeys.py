"""The journeys of the page in a real browser: what a person does, and what stands there then."""

import io
import json
import shutil
import zipfile
from itertools import product
from pathlib import Path
from random import Random

import pytest
from browsing import answered, browser_page, page_server, shown, violations

pytest.importorskip("starlette", reason="The page needs the extra [page].")
pytestmark = pytest.mark.slow
DATA = Path(__file__).resolve().parents[2] / "data"
PLAN = "power?preset=high&workers=20&items=100&effect=0.1"


@pytest.fixture(scope="module")
def link(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    for name in ("pilot.csv",):
        shutil.copy(DATA / name, folder / name)
    with page_server(folder) as found:
        yield found


@pytest.fixture
def page(browser, link):
    with browser_page(browser, link) as (found, seen):
        yield found
        assert seen.errors == []
        assert seen.foreign == []


def headline(page) -> str:
    return page.inner_text("#answer .headline")


@pytest.mark.long
def test_plan_from_nothing(page):
    page.goto(page.own)
    page.click("header a:has-text('All questions')")
    page.click("a:has-text('Power of a study')")
    shown(page)
    before = headline(page)
    page.fill("#field-workers", "40")
    page.wait_for_function(
        "before => document.querySelector('.headline')?.innerText !== before", arg=before
    )
    assert "workers=40" in page.url
    answered(page)
    page.wait_for_selector(".badge.full")
    assert "--workers 40" in page.text_content(".same pre")
    with page.expect_download() as taken:
        page.click("a[href$='.zip']")
    with zipfile.ZipFile(io.BytesIO(Path(taken.value.path()).read_bytes())) as archive:
        record = json.loads(archive.read("answer/record.json"))
    assert record["command"] == page.text_content(".same pre")


def test_the_slider_moves_the_answer(page):
    page.goto(page.own + PLAN)
    shown(page)
    before = headline(page)
    page.focus("input[type=range][data-for=field-workers]")
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "before => document.querySelector('.headline')?.innerText !== before", arg=before
    )
    assert page.input_value("#field-workers") == "25"


def test_a_link_holds_everything_and_reload_loses_nothing(page):
    page.goto(page.own + PLAN)
    shown(page)
    page.fill("#field-effect", "0.25")
    page.wait_for_function("() => location.search.includes('0.25')")
    page.reload()
    shown(page)
    assert page.input_value("#field-effect") == "0.25"
    page.click("a:has-text('humeval-power')")
    page.go_back()
    assert page.input_value("#field-effect") == "0.25"


def test_an_error_stands_beside_its_field_and_nothing_typed_is_lost(page):
    page.goto(page.own + PLAN)
    shown(page)
    page.fill("#field-workers", "many")
    page.wait_for_selector("#field-workers-wrong")
    assert page.get_attribute("#field-workers", "aria-invalid") == "true"
    assert page.input_value("#field-workers") == "many"
    page.fill("#field-workers", "20")
    page.wait_for_selector("#field-workers-wrong", state="detached")


def test_look_at_a_file(page):
    page.goto(page.own + "fit")
    page.set_input_files(".file .chooser >> nth=0", str(DATA / "pilot.csv"))
    answered(page)
    assert "humeval-power fit pilot.csv" in page.text_content(".same pre")
    assert page.url.count("~") == 1 or "%7E" in page.url


def test_a_file_of_the_folder_is_opened_by_its_path(page):
    page.goto(page.own + "fit?ratings=pilot.csv")
    answered(page)
    assert "humeval-power fit pilot.csv" in page.text_content(".same pre")


def test_from_a_pilot_to_the_power_of_the_next_study(page):
    page.goto(page.own + "fit?ratings=pilot.csv&scale=1:5")
    answered(page)
    page.click(".next a[href^='/power']")
    shown(page)
    assert "record.json" in page.inner_text("[data-field=parameters] .brought")  # the fit itself
    assert "--parameters record.json" in page.text_content(".same pre >> nth=0")


@pytest.mark.long
def test_eight_systems_as_a_ranking_and_a_heat_map(page, tmp_path):
    random = Random(8)
    rows = ["worker,item,system,rating"]
    for worker, item, system in product(range(5), range(10), range(8)):
        rows.append(
            f"w{worker},i{item},system {system},{min(5, max(1, round(random.gauss(2 + system / 4))))}"
        )
    table = tmp_path / "eight.csv"
    table.write_text("\n".join(rows) + "\n")
    page.goto(page.own + "analyze?comparisons=all-pairs")
    page.set_input_files(".file .chooser >> nth=0", str(table))
    answered(page)
    said = page.inner_text("#answer")
    assert "Comparison of 8 systems" in said
    assert "28 comparisons" in said
    assert page.locator("#answer figure").count() >= 2


def test_scores_are_compared_in_four_steps(page, tmp_path):
    random = Random(4)
    scores = tmp_path / "scores.csv"
    lines = [f"s{item},{random.random():.3f},{random.random() + 0.2:.3f}" for item in range(40)]
    scores.write_text("item,A,B\n" + "\n".join(lines) + "\n")
    page.goto(page.own + "compare/scores")
    page.set_input_files(".file .chooser >> nth=0", str(scores))
    shown(page)
    said = page.inner_text("#answer")
    for step in ("Step 1", "Step 2", "Step 3", "Step 4"):
        assert step in said
    assert "humeval-power compare scores scores.csv" in page.text_content(".same pre >> nth=0")


def test_generations_are_compared_by_clusters(page, tmp_path):
    random = Random(5)
    rows = ["item,system,generation,score,passage"]
    for item, system, run in product(range(24), "AB", range(1, 4)):
        rows.append(f"i{item},{system},{run},{random.gauss(system == 'B', 1):.3f},p{item // 4}")
    table = tmp_path / "runs.csv"
    table.write_text("\n".join(rows) + "\n")
    page.goto(page.own + "runs/test?nested=1&cluster=passage")
    page.set_input_files(".file .chooser >> nth=0", str(table))
    answered(page)
    assert "What counts as independent?" in page.inner_text("#answer")
    assert "humeval-power compare runs test runs.csv --cluster passage --nested" in page.text_content(
        ".same pre >> nth=0"
    )
    assert violations(page) == []


def test_six_questions_lead_to_filled_pages(page):
    page.goto(page.own + "start")
    page.fill("#field-scale", "1:7")
    page.wait_for_selector(".next a[href*='scale=1%3A7']")
    page.click(".next a[href^='/power']")
    shown(page)
    assert page.input_value("#field-scale") == "1:7"


def test_all_problems_of_a_bad_file_are_listed(page, tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text("worker,item,system,rating\nw1,i1,A,3\nw1,i1,B,five\nw2,i1,A,\nw2,i1,B,6x\n")
    page.goto(page.own + "fit")
    page.set_input_files(".file .chooser >> nth=0", str(bad))
    page.wait_for_selector("#answer[data-state=failed] .problems, .field .problem")
    said = page.inner_text("main")
    assert "five" in said
    assert "6x" in said


def test_a_long_simulation_can_be_stopped_and_goes_on(page):
    page.goto(page.own + PLAN + "&ratings-per-item=3&simulations=20000")
    shown(page)
    assert page.locator(".progress").count() == 0  # a look begins no simulation
    page.click("#form button:has-text('Compute')")
    page.wait_for_selector("#answer .progress button")
    page.wait_for_timeout(1500)
    page.click("#answer .progress button")
    page.wait_for_selector("#answer[data-state=stopped]")
    page.click("button:has-text('Go on')")
    page.wait_for_selector("#answer[data-state=running], #answer[data-state=done]")


def test_without_scripts_everything_is_there(browser, link):
    with browser_page(browser, link, scripts=False) as (page, seen):
        page.goto(page.own + PLAN)
        assert page.locator("#answer .headline").count() == 1
        page.fill("#field-workers", "30")
        page.click("button:has-text('Compute') >> nth=0")
        assert "workers=30" in page.url
        page.goto(page.own + "fit")
        page.set_input_files("#upload input[type=file] >> nth=0", str(DATA / "pilot.csv"))
        page.click("#upload button >> nth=0")
        assert page.inner_text("[data-field=ratings] .brought").strip() == "pilot.csv"
        assert seen.foreign == []


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("path", ["", PLAN, "fit?ratings=pilot.csv", "fit"])
def test_nothing_stands_in_the_way_of_screen_readers(browser, link, path, dark):
    with browser_page(browser, link, dark=dark) as (page, _seen):
        page.goto(page.own + path)
        page.wait_for_function("() => !document.querySelector('#answer[data-state=running]')")
        assert violations(page) == []


@pytest.mark.parametrize("path", ["", PLAN, "fit?ratings=pilot.csv"])
def test_a_narrow_screen_needs_no_sideways_scrolling(browser, link, path):
    with browser_page(browser, link, width=360) as (page, _seen):
        page.goto(page.own + path)
        page.wait_for_function("() => !document.querySelector('#answer[data-state=running]')")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_by_keyboard_alone(page):
    page.goto(page.own + PLAN)
    shown(page)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "field-workers":
            break
    else:
        raise AssertionError("The field of the workers cannot be reached by Tab.")
    page.keyboard.press("Control+A")
    page.keyboard.type("33")
    page.wait_for_function(
        "() => document.querySelector('.same pre')?.textContent.includes('--workers 33')"
    )
    page.keyboard.press("Enter")
    answered(page)


def test_the_page_is_small_and_quick(browser, link):
    with browser_page(browser, link) as (page, _seen):
        page.goto(page.own + PLAN)
        shown(page)
        page.reload()
        timing = json.loads(
            page.evaluate(
                "JSON.stringify({paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime,"
                " bytes: performance.getEntries().reduce((sum, each) => sum + (each.transferSize || 0), 0)})"
            )
        )
        assert timing["bytes"] < 300_000

"""A study on the page in a real browser: from nothing, with a pilot, of eight systems, all the way to a report."""

import csv
import re
import subprocess
import sys
import time

import pytest
from browsing import PATIENCE, browser_page, settled, violations
from places import ROOT

pytest.importorskip("starlette", reason="The page needs the extra [page].")
pytestmark = [pytest.mark.browser, pytest.mark.slow]
STAGES = ("question", "size", "plan", "collect", "look", "decide", "report")
MOST_FIELDS = 12
SECONDS = 180
MOST_WORDS = 300  # in sight where somebody arrives at one of the first three stages
VISIBLE_WORDS = """
() => {
  let n = 0;
  const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const at = texts.currentNode.parentElement;
    const folded = at.closest("details:not([open])") && !at.closest("summary");
    if (folded || at.closest(".unseen, option, svg") || !at.checkVisibility({ visibilityProperty: true })) continue;
    n += texts.currentNode.data.split(/\\s+/).filter((word) => /[A-Za-z0-9]/.test(word)).length;
  }
  return n;
}
"""


# What the bar at the bottom covers of each thing that takes the focus, in the order of the Tab key.
COVERED = """
() => [...document.querySelectorAll("#form :is(input, select, textarea, summary, button)")].filter((one) => {
  if (!one.checkVisibility() || one.type === "hidden") return false;
  one.focus();
  const box = one.getBoundingClientRect();
  return box.bottom > document.querySelector(".onward").getBoundingClientRect().top || box.top < 0;
}).map((one) => one.outerHTML.slice(0, 90))
"""


class Hands:
    """What somebody does on a page, by clicks or by the keyboard alone; and the fields that they have seen."""

    def __init__(self, page, by: str) -> None:
        self.page, self.by = page, by
        self.seen: set[str] = set()
        self.words: dict[str, int] = {}

    def look(self) -> None:
        """Note the fields that can be seen without opening anything."""
        self.page.wait_for_selector("#form", state="attached")
        shown = self.page.locator("#form [data-field]").evaluate_all(
            "all => all.filter(one => !one.closest('details:not([open])')).map(one => one.dataset.field)"
        )
        self.seen |= set(shown)
        stage = self.page.url.partition("?")[0].rpartition("/")[2]
        self.words[stage] = self.page.evaluate(VISIBLE_WORDS)

    def press(self, selector: str) -> None:
        """Press a button or a link."""
        if self.by == "clicks":
            self.page.click(selector)
        else:
            self.reach(selector)
            self.page.keyboard.press("Enter")

    def reach(self, selector: str) -> None:
        """Go on by the Tab key until something has the focus."""
        target = self.page.locator(selector).first
        target.wait_for()
        for _ in range(200):
            if target.evaluate("one => document.activeElement === one"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"{selector} cannot be reached by Tab.")

    def fill(self, **values: str) -> None:
        """Type into fields, and wait until each is saved."""
        for name, value in values.items():
            self.page.wait_for_selector(f"#field-{name}")
            self.page.evaluate("document.getElementById('saved').textContent = ''")
            if self.by == "clicks":
                self.page.fill(f"#field-{name}", value)
                self.page.keyboard.press("Tab")
            else:
                self.reach(f"#field-{name}")
                self.page.keyboard.press("Control+A")
                self.page.keyboard.type(value)
                self.page.keyboard.press("Enter")
            self.saved()

    def choose(self, name: str, label: str) -> None:
        """Choose one of a list."""
        self.page.evaluate("document.getElementById('saved').textContent = ''")
        if self.by == "clicks":
            self.page.select_option(f"#field-{name}", label=label)
        else:
            self.reach(f"#field-{name}")
            self.page.keyboard.type(label[:8])
            self.page.keyboard.press("Tab")
        self.saved()

    def bring(self, name: str, path) -> None:
        """Bring a file into a field."""
        self.page.evaluate("document.getElementById('saved').textContent = ''")
        chooser = f"[data-field={name}] .chooser"
        if self.by == "clicks":
            with self.page.expect_file_chooser() as opened:
                self.page.click(chooser)
        else:
            self.reach(chooser)
            with self.page.expect_file_chooser() as opened:
                self.page.locator(chooser).press("Space")
        opened.value.set_files(str(path))
        self.page.wait_for_function(
            "([name, end]) => document.getElementById('field-' + name).value.endsWith(end)",
            arg=[name, path.name],
        )
        self.saved()

    def saved(self) -> None:
        self.page.wait_for_function("() => document.getElementById('saved').textContent !== ''")

    def onward(self) -> None:
        """Go to the next stage."""
        with self.page.expect_navigation():
            self.press(".onward a")
        settled(self.page)
        self.look()


def typed(page, **values: str) -> None:
    """Type into fields, and wait until they are saved."""
    Hands(page, "clicks").fill(**values)


def fields_seen(page) -> set[str]:
    """The fields that can be seen without opening anything."""
    hands = Hands(page, "clicks")
    hands.look()
    return hands.seen


KINDS = {
    "nothing": {"systems": "old, new", "effect": "1.2", "items": "40"},
    "pilot": {"systems": "baseline, new", "effect": "0.9", "items": "40"},
    "eight": {"systems": "A, B, C, D, E, F, G, H", "effect": "1.2", "items": "30"},
}


@pytest.mark.long
@pytest.mark.parametrize("by", ["clicks", "keyboard"])
@pytest.mark.parametrize("kind", KINDS)
def test_from_nothing_to_the_last_file(page, folder, tmp_path, kind, by):
    """The whole way of a study whose workers are simulated, who take no time."""
    said, name = KINDS[kind], f"{kind} by {by}"
    hands, begun = Hands(page, by), time.monotonic()
    page.goto(page.own)
    page.focus("input[name=name]")
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    hands.look()
    hands.fill(question="Which is better?", systems=said["systems"])
    hands.onward()
    if kind == "pilot":
        hands.press("summary:has-text('I have a pilot')")
        hands.bring("pilot", ROOT / "data" / "pilot.csv")
        assert page.input_value("#field-preset") == ""
    hands.fill(effect_raw=said["effect"], items=said["items"])
    settled(page)
    assert "Of 100 such studies" in page.inner_text("#answer")
    hands.onward()
    hands.fill(cost_per_rating="0.12")
    hands.press("form[action*='/act/search/'] button")
    page.wait_for_selector(".cards", timeout=PATIENCE)
    hands.press(".cards button >> nth=0")
    page.wait_for_selector(".badge:has-text('Sealed')", timeout=PATIENCE)
    settled(page)
    to_plan, n_to_plan = time.monotonic() - begun, len(hands.seen)
    assert (
        to_plan < SECONDS or kind == "eight"
    )  # whose plan is proved by hundreds of studies of eight systems
    assert n_to_plan <= MOST_FIELDS
    here = folder / name
    assert (here / "plan" / "plan.json").is_file()

    hands.onward()
    systems = said["systems"].split(", ")
    texts = tmp_path / "texts.csv"
    rows = [
        [f"i{item:02d}", *(f"{system} {item}" for system in systems)]
        for item in range(1, 1 + int(said["items"]))
    ]
    with texts.open("w", newline="") as file:
        csv.writer(file).writerows([["item", *systems], *rows])
    hands.bring("outputs", texts)
    hands.choose("upload", "Rating form (HTML)")
    hands.press("form[action*='/act/assign/'] button")
    page.wait_for_selector("button:has-text('Write the forms again')")
    settled(page)
    seed = (here / "seed.txt").read_text().strip()
    assert "seed.txt" in page.inner_text("#answer")
    assert seed not in page.inner_text("#answer")
    outside = time.monotonic()
    words = "simulate --plan plan --assignment forms/assignment.csv --key key.csv --coded -q -o answers.csv"
    program = [sys.executable, "-m", "humeval_power.doors.terminal.main"]
    subprocess.run([*program, *words.split()], cwd=here, check=True)
    outside = time.monotonic() - outside
    hands.bring("exports", here / "answers.csv")
    page.wait_for_selector("form[action*='/act/import/'] button")
    settled(page)
    assert "answers are in" in page.inner_text("#answer")
    hands.press("form[action*='/act/import/'] button")
    page.wait_for_selector("button:has-text('Take the answers anew')")
    settled(page)
    assert "Written: ratings.csv" in page.inner_text("#answer .news")
    assert "not planned" in page.inner_text("nav[aria-label=Stages]")
    hands.onward()
    assert page.url.endswith("/decide")
    assert "This table can be analysed" in page.inner_text("#answer")
    hands.press("button:has-text('Analyse as planned')")
    page.wait_for_selector("button:has-text('Analyse again')")
    settled(page)
    assert page.inner_text("#answer .answer")
    hands.onward()
    hands.press("button:has-text('Write it into the folder')")
    page.wait_for_function("() => document.querySelector('.news')?.innerText.includes('reports')")
    paper = (here / "reports" / "paper.html").read_text()
    assert "This is a rehearsal: drawn ratings were analysed as planned." in paper
    assert "carried out" not in paper
    assert "All stages are done" in page.inner_text("#answer .news")
    seconds = time.monotonic() - begun - outside
    print(
        f"\n{kind} by {by}: {to_plan:.0f} s and {n_to_plan} fields to the sealed plan, "
        f"{seconds:.0f} s and {len(hands.seen)} fields to the last file; words in sight {hands.words}"
    )
    assert max(hands.words[stage] for stage in STAGES[:3]) <= MOST_WORDS


def test_eight_systems_have_a_size(page):
    page.goto(page.own)
    page.click("button:has-text('Eight systems')")
    settled(page)
    assert "8 systems" in page.inner_text("#answer")
    assert page.input_value("#field-workers") == "30"


def test_the_budget_is_worked_out_while_the_rest_is_dragged(page, folder):
    page.goto(page.own)
    page.click("button:has-text('Two summarisers')")
    settled(page)
    with page.expect_navigation():
        page.click("nav.open a:has-text('The least it costs')")
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
    words = page.inner_text(".onward button")
    page.click(".onward button")
    page.wait_for_url("**/plan")
    page.goto(f"{page.own}study/{name}/size?open=budget")
    settled(page)
    assert page.locator("#take").count() == 0
    assert not page.locator(".onward button").is_visible()
    text = (folder / name / "study.toml").read_text()
    found = re.fullmatch(r"Next: Plan, with (\d+) workers and (\d+) items", words)
    assert [f"workers = {found[1]}\n" in text, f"items = {found[2]}\n" in text] == [True, True]
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


def test_a_file_that_is_not_taken_is_told_beside_its_field_and_stays_told(browser, served, tmp_path):
    with browser_page(browser, served) as (page, _seen):  # whose console tells of the refusal
        page.fill("input[name=name]", "empty")
        page.click("button:has-text('New study')")
        page.wait_for_selector("#form")
        page.goto(page.own + "study/empty/size")
        settled(page)
        assert page.locator(".suggested").count() == 4
        page.click("summary:has-text('I have a pilot')")
        (tmp_path / "nothing.csv").write_text("")
        page.set_input_files("[data-field=pilot] .chooser", str(tmp_path / "nothing.csv"))
        page.wait_for_selector("[data-field=pilot] .problem")
        page.wait_for_timeout(1000)  # longer than what is typed waits for more
        assert "nothing.csv is empty" in page.inner_text("[data-field=pilot] .problem")
        assert page.locator(".coming").count() == 0
        hands = Hands(page, "clicks")
        hands.bring("pilot", ROOT / "data" / "pilot.csv")
        page.wait_for_selector("[data-field=pilot] .problem", state="detached")
        assert page.locator(".suggested").count() == 0


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


@pytest.mark.long
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


@pytest.mark.parametrize(("width", "height"), [(1280, 600), (768, 600), (360, 640)])
@pytest.mark.parametrize("stage", ["question", "size", "plan"])
def test_whatever_has_the_focus_lies_above_the_bar(browser, served, folder, stage, width, height):
    name = f"focus {stage} {width}"
    (folder / name).mkdir(exist_ok=True)
    text = 'schema = "humeval_power/study/1"\n[variation]\npreset = "high"\n[ratings]\nscale = "1:5"\n'
    (folder / name / "study.toml").write_text(
        text + "[effect]\neffect_raw = 0.4\n[design]\nworkers = 20\nitems = 90\n"
    )
    with browser_page(browser, served, width=width) as (page, _seen):
        page.set_viewport_size({"width": width, "height": height})
        page.goto(f"{page.own}study/{name}/{stage}")
        settled(page)
        page.wait_for_timeout(300)
        page.evaluate("for (const one of document.querySelectorAll('.asking details')) one.open = true")
        covered = page.evaluate(COVERED)
        assert covered == []
        if stage == "size":
            page.fill("#field-items", "none")
            page.keyboard.press("Tab")
            page.wait_for_selector("[data-field=items] .problem")
            page.focus("#field-items")
            box = page.locator("[data-field=items] .problem").bounding_box()
            assert box["y"] + box["height"] <= page.locator(".onward").bounding_box()["y"]


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

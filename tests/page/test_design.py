"""What a designer asked of the page: few sizes of type, the number first, one button to press, no error unasked."""

import re
from html.parser import HTMLParser
from importlib.resources import files

import pytest

pytest.importorskip("starlette", reason="The page needs the extra [page].")
from browsing import browser_page, settled

from humeval_power.doors.page.requests import FORMS
from humeval_power.doors.page.views import can_begin
from humeval_power.saying.answer_words import of_hundred

POWER = "/power?preset=high&workers=20&items=100&effect=0.1"
# The buttons that can be seen and are filled: their ground has the colour of their edge.
FILLED = """
() => [...document.querySelectorAll('button, a.button')].filter(one => {
  const style = getComputedStyle(one);
  return one.checkVisibility() && style.borderTopWidth !== '0px' && style.backgroundColor === style.borderTopColor;
}).map(one => one.innerText)
"""


def test_type_has_five_sizes():
    """Those that the style of documents names and 1rem; on paper the root alone has another."""
    seen = set()
    for package, name in (
        ("humeval_power.saying.render", "templates/page.css"),
        ("humeval_power.doors.page", "static/page.css"),
    ):
        css = files(package).joinpath(name).read_text("utf-8")
        seen |= set(re.findall(r"font-size: ([^;}]+)", css))
    assert seen == {"var(--small)", "1rem", "var(--large)", "var(--title)", "var(--first)", "9pt"}


def test_the_number_stands_before_the_sentence_and_its_decimal_among_the_numbers(client_of_all):
    page = client_of_all.get(POWER).text
    document = page[page.index('<div class="document">') :]
    decimal = re.search(r"<dt>By formula</dt><dd>([\d.]+)</dd>", document)
    assert decimal is not None
    number = f"<dd>{of_hundred(float(decimal[1]))} of 100</dd>"
    places = [
        document.index(each)
        for each in (number, '<p class="answer">', "What would change it", "Numbers and method", decimal[0])
    ]
    assert places == sorted(places)


class Charts(HTMLParser):
    """How many details each chart of a page lies in."""

    def __init__(self) -> None:
        super().__init__()
        self.depth = 0
        self.depths: list[int] = []

    def handle_starttag(self, tag, attributes):
        self.depth += tag == "details"
        if tag == "figure" and "chart" in (dict(attributes).get("class") or ""):
            self.depths.append(self.depth)

    def handle_endtag(self, tag):
        self.depth -= tag == "details"


def test_the_first_chart_is_open_and_each_other_stands_folded_under_what_it_shows(client_of_all):
    page = client_of_all.get(POWER).text
    charts = Charts()
    charts.feed(page)
    assert charts.depths[0] == 0
    assert len(charts.depths) > 5
    assert set(charts.depths[1:]) == {1}
    for shows in re.findall(r'<span class="shows">(.+?)</span></summary>', page):
        assert page.count(f"</strong> {shows}</figcaption>") == 1  # the words of a chart


@pytest.mark.parametrize(
    "form", [one for one in FORMS.values() if not can_begin(one)], ids=lambda one: one.path
)
def test_a_form_that_nobody_has_touched_shows_no_error(client_of_all, form):
    assert 'class="problem' not in client_of_all.get(form.path).text


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.browser
def test_one_button_is_filled_and_a_stage_that_is_done_says_so_without_colour(browser, served, folder):
    (folder / "one").mkdir()
    text = 'schema = "humeval_power/study/1"\nquestion = "Which?"\n[variation]\npreset = "high"\n'
    sizes = "[effect]\neffect = 0.1\n[design]\nworkers = 20\nitems = 90\n"
    (folder / "one" / "study.toml").write_text(text + sizes)
    with browser_page(browser, served) as (page, seen):
        stages = [
            f"study/one/{stage}" for stage in ("question", "size", "plan", "collect", "decide", "report")
        ]
        for place in ("", "all", "start", POWER[1:], "fit", *stages):
            page.goto(page.own + place)
            if page.locator("#answer").count():
                settled(page)
            assert len(page.evaluate(FILLED)) <= 1, place
        assert page.locator("nav[aria-label=Stages] li:has(svg.done)").all_inner_texts()
        done = page.locator("nav[aria-label=Stages] li:has(svg.done)").all_text_contents()
        assert [one.strip() for one in done] == ["Question, done", "Size, done"]
        page.set_viewport_size({"width": 360, "height": 800})
        assert page.inner_text(".bar .steps") == "7 of 7"
        assert seen.errors == []

"""Names of all kinds of hostility, in every place of the pages that shows one: they are text there, and no more."""

import csv
import io
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlencode

import pytest
from cases import each_case

pytest.importorskip("starlette")
from in_process_parts import InProcess
from starlette.testclient import TestClient

from humeval_power.doors.page.app import make_app
from humeval_power.doors.page.requests import PageParts
from humeval_power.doors.page.serving.chosen_folder import Folder
from humeval_power.doors.page.serving.security import Caps
from humeval_power.doors.page.serving.uploads import Uploads

NAMES = (
    "<script>alert(1)</script>",
    "\"><img src=x onerror='alert(2)'>",
    "{{ 7 * 7 }}{% raw %}",
    "\u202eevil\x1b[2J",
    "a&amp;b</td></table><style>*{}</style>",
)
ALLOWED_SCRIPT = re.compile(r"/static/[a-z]+\.js\?v=[0-9a-f]{12}")
SAFE_LINK = re.compile(r"(?:/(?!/)|#|\?|https://|data:image/)")
LINKS = ("href", "src", "action", "formaction", "xlink:href", "poster", "data")


class Reader(HTMLParser):
    """What a browser would act on, and the policy of the page forbids."""

    def __init__(self) -> None:
        super().__init__()
        self.bad: list[str] = []
        self.n_tags = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.n_tags += 1
        values = dict(attrs)
        if tag == "script" and not ALLOWED_SCRIPT.fullmatch(values.get("src") or ""):
            self.bad.append(f"<script {attrs}>")
        if tag in ("style", "iframe", "object", "embed", "base"):
            self.bad.append(f"<{tag}>")
        for name, value in attrs:
            if name.startswith("on") or name == "style":
                self.bad.append(f"{tag} {name}={value}")
            if name in LINKS and not SAFE_LINK.match(value or "/"):
                self.bad.append(f"{tag} {name}={value}")


def wrong(page: str) -> list[str]:
    """What is wrong with a page."""
    reader = Reader()
    reader.feed(page)
    reader.close()
    hidden = [code for code in ("\u202e", "\x1b") if code in page]
    return [*reader.bad, *map(ascii, hidden), *(["49"] if "49{%" in page else [])]


def table(header: list[str], rows: list[list[object]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows([header, *rows])
    return text.getvalue()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Tables whose names, columns, workers, items, systems and criteria are hostile."""
    chosen = tmp_path / "chosen"
    chosen.mkdir()
    worker, item, system, extra, criterion = NAMES
    ratings: list[list[object]] = [
        [f"{worker}{w}", f"{item}{i}", f"{system}{s}", 1 + (w + 2 * i + s) % 5, f"{criterion}{i % 2}"]
        for w in range(4)
        for i in range(6)
        for s in range(2)
    ]
    text = table(["worker", "item", "system", "rating", extra], ratings)
    for name in ("ratings.csv", "<img src=x onerror=alert(1)>.csv", "a'\"&b.csv"):
        (chosen / name).write_text(text, encoding="utf-8")
    scores: list[list[object]] = [[f"{item}{i}", 0.1 * (i % 7), 0.1 * (i % 5)] for i in range(20)]
    (chosen / "scores.csv").write_text(table(["item", worker, system], scores), encoding="utf-8")
    broken = [[*row[:3], NAMES[number % 5]] for number, row in enumerate(ratings)]
    (chosen / "broken.csv").write_text(
        table(["worker", "item", "system", "rating"], broken), encoding="utf-8"
    )
    return chosen


@pytest.fixture
def client(folder: Path, tmp_path: Path) -> TestClient:
    parts = PageParts(
        InProcess(), Uploads(tmp_path / "up", Caps()), tmp_path / "private", "form-token", Folder(folder)
    )
    return TestClient(make_app(parts))


QUESTIONS = [
    ("/", {}),
    ("/check", {"ratings": "ratings.csv"}),
    pytest.param(*("/check", {"ratings": "<img src=x onerror=alert(1)>.csv"}), marks=pytest.mark.slow),
    pytest.param(*("/check", {"ratings": "a'\"&b.csv"}), marks=pytest.mark.slow),
    ("/check", {"ratings": "broken.csv", "scale": "1:5"}),
    ("/check", {"ratings": NAMES[0]}),
    ("/check", {"ratings": "ratings.csv", "worker": NAMES[1]}),
    ("/check", {"ratings": "ratings.csv", "systems": f"{NAMES[0]},{NAMES[1]}"}),
    pytest.param(*("/fit", {"ratings": "ratings.csv", "scale": "1:5"}), marks=pytest.mark.slow),
    pytest.param(
        "/fit",
        {"ratings": "ratings.csv", "scale": "1:5", "criterion-column": NAMES[3], "criterion": f"{NAMES[4]}0"},
        marks=pytest.mark.slow,
    ),
    ("/fit", {"ratings": "ratings.csv", "formula": NAMES[0]}),
    pytest.param(*("/analyze", {"ratings": "ratings.csv", "scale": "1:5"}), marks=pytest.mark.slow),
    ("/analyze", {"ratings": "broken.csv", "scale": "1:5"}),
    ("/compare/scores", {"files": "scores.csv", "question": "mean", "simulations": "200"}),
    ("/compare/scores", {"files": "scores.csv", "baseline": NAMES[1]}),
    ("/power", {"preset": NAMES[0], "workers": "4", "items": "8", "effect": "0.1"}),
    ("/power", {"preset": "high", "workers": "4", "items": "8", "effect": "0.1", "systems": ",".join(NAMES[:3])}),
    ("/power", {NAMES[0]: NAMES[1]}),
    (f"/{NAMES[0].replace('/', '')}", {}),
    ("/take/x.zip", {}),
]  # fmt: skip


@pytest.mark.parametrize(("path", "query"), QUESTIONS, ids=lambda one: ascii(one)[:60])
def test_a_page_shows_hostile_names_as_text(client: TestClient, path: str, query: dict[str, str]) -> None:
    link = f"{path}?{urlencode(query)}" if query else path
    page = client.get(link).text
    assert wrong(page) == []
    assert "<main" in page


def test_answers_for_scripts_hold_the_same_fragments(client: TestClient) -> None:
    query = urlencode({"ratings": "ratings.csv", "scale": "1:5"})
    found = client.post(f"/job/fit?{query}", headers={"x-humeval": "1"}).json()
    assert "{{ 7 * 7 }}{% raw %}0" in found["html"]
    assert wrong(found["html"]) == []


def test_hostile_names_are_seen_where_they_matter(client: TestClient) -> None:
    page = client.get("/check?ratings=ratings.csv").text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page or "&lt;img src=x" in page


def test_an_upload_with_a_hostile_name_is_listed_as_text(client: TestClient, folder: Path) -> None:
    content = (folder / "ratings.csv").read_bytes()
    sent = client.post("/upload", files={"file": (NAMES[1], content)})
    assert re.fullmatch(r"[\w.-]+~[0-9a-f]{16}", sent.json()["values"][0])
    assert wrong(client.get("/check").text) == []


@each_case(
    "page",
    [
        "<script>x</script>",
        "<p onclick=x>",
        "<p style=x>",
        '<a href="javascript:x">',
        "<style>",
        "\u202e",
        "<img src=x>",
    ],
)
def test_the_reader_knows_what_is_wrong(page: str) -> None:
    assert wrong(page) != []

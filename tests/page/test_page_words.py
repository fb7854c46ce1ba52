"""No page speaks as a terminal does: every stage of three studies and every form, as somebody reads them."""

import html
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from cases import few_fast

pytest.importorskip("starlette")
from in_process_parts import a_client, version
from starlette.testclient import TestClient

from humeval_power.doors.page.requests import FORMS
from humeval_power.doors.page.workspace.stages import OPEN, REPORTS
from humeval_power.doors.page.workspace.written import in_plain_words
from humeval_power.studies.field.uploads.html import readme
from humeval_power.studies.field.uploads.prolific import _README as PROLIFIC_README

TERMINAL = (
    re.compile(r"(?<![\w-])--?[a-z][a-z-]*\b(?! ?\d)"),  # an option
    re.compile(r"`|\*\*"),  # Markdown
    re.compile(r"'(?:humeval-power |more |fit|check|plan|power|analyze|assign|start|import)\b[^']*'"),
)
UNIT = re.compile(r"on \[0, 1\]")  # where a study has a scale, and what is folded apart


def shown(page: str) -> str:
    """What a person reads of a page, the folded too, but for what is to be typed in a terminal or in Python."""
    body = page.partition("<body>")[2]
    for block in (
        r"<details class=\"same.*?</details>",
        r"<(pre(?! class=\"readme)|code|style|script|svg)\b.*?</\1>",
        r"(?<!')humeval-power [^<]*",
    ):
        body = re.sub(block, " ", body, flags=re.DOTALL)
    placeholders = re.findall(r'(?:placeholder|aria-label)="([^"]*)"', body)
    return html.unescape(" ".join((re.sub(r"<[^>]*>", " ", body), *placeholders)))


def unwanted(text: str, *kinds: re.Pattern[str]) -> list[str]:
    found = (match for kind in kinds or TERMINAL for match in kind.finditer(text))
    return [" ".join(text[max(0, one.start() - 40) : one.end() + 20].split()) for one in found]


def unfolded(page: str) -> str:
    """The page without what is folded."""
    inner = re.compile(r"<details\b(?:(?!<details\b).)*?</details>", re.DOTALL)
    while inner.search(page):
        page = inner.sub(" ", page)
    return page


@pytest.fixture
def client(tmp_path: Path) -> TestClient:
    (tmp_path / "chosen").mkdir()
    return a_client(tmp_path / "private", tmp_path / "chosen", follow_redirects=True)


class Walk:
    """Somebody goes through a study; all that they see is kept."""

    def __init__(self, client: TestClient, kind: str, name: str) -> None:
        self.client, self.name = client, name
        self.seen: dict[str, str] = {"question": client.post(f"/studies/{kind}", data={"name": name}).text}

    def look(self, stage: str, **view: str) -> str:
        page = self.client.get(f"/study/{self.name}/{stage}", params=view).text
        self.seen[" ".join((stage, *view.values()))] = page
        return page

    def save(self, stage: str, **typed: str) -> None:
        seen = version(self.look(stage))
        self.seen[f"{stage} saved"] = self.client.post(
            f"/study/{self.name}/{stage}", data={"version": seen, **typed}
        ).text

    def act(self, name: str, **sent: str) -> str:
        page = self.client.post(f"/act/{name}/{self.name}", data=sent).text
        self.seen[name] = page
        return page

    def seal(self) -> None:
        self.act("search")
        sizes = re.search(r'action="/act/seal/.*?</form>', self.seen["search"], re.DOTALL)[0]
        sent = dict(re.findall(r'name="([\w-]+)" value="(\w*)"', sizes))
        assert "Sealed" in self.act("seal", **sent)


def from_nothing(client: TestClient) -> Iterator[Mapping[str, str]]:
    walk = Walk(client, "new", "first")
    walk.save("size", effect_raw="0.5", workers="12", items="40")
    for one in OPEN:
        walk.look("size", open=one)
    walk.save("size", effect_raw="0.02")
    assert "What would do instead" in walk.look("size", open="workers")
    walk.save("size", effect_raw="0.5")
    walk.save("plan", cost_per_rating="0.1", budget="300")
    walk.seal()
    for stage in ("question", "size", "plan", "collect", "look", "decide"):
        walk.look(stage)
    for form in REPORTS:
        walk.look("report", form=form)
    yield walk.seen


def with_a_pilot(client: TestClient) -> Iterator[Mapping[str, str]]:
    walk = Walk(client, "summarisers", "second")
    for one in OPEN:
        walk.look("size", open=one)
    walk.act("prove", open="workers")
    walk.seal()
    yield walk.seen


def of_eight(client: TestClient) -> Iterator[Mapping[str, str]]:
    walk = Walk(client, "eight", "third")
    for one in ("power", "workers", "effect"):
        walk.look("size", open=one)
    walk.save("plan", budget="400", max_workers="12")  # a search of seconds
    assert "<h2>Your size: " in walk.act("search")
    walk.look("collect")
    yield walk.seen


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("walk", [from_nothing, with_a_pilot, of_eight])
def test_no_stage_of_a_study_names_what_only_a_terminal_knows(client, walk) -> None:
    (seen,) = walk(client)
    assert len(seen) > 4
    assert {where: found for where, page in seen.items() if (found := unwanted(shown(page)))} == {}
    mine = {where: shown(unfolded(page)) for where, page in seen.items() if not where.startswith("report")}
    assert {where: found for where, text in mine.items() if (found := unwanted(text, UNIT))} == {}


@few_fast("each", [8, 1])
def test_no_form_and_no_list_of_forms_names_what_only_a_terminal_knows(client, each: int) -> None:
    links = ("/", "/all", "/logs", "/start", *("/" + "/".join(path) for path in list(FORMS)[::each]))
    said = {link: shown(client.get(link).text) for link in links}
    assert all(len(text) > 200 for text in said.values())
    assert {link: found for link, text in said.items() if (found := unwanted(text))} == {}


def test_what_to_do_with_a_file_is_read_without_marks_and_without_a_terminal() -> None:
    written = readme(
        "A *page*", ("Open `index.html` in **a browser**.", "Add `--upload html`."), exports="*.csv"
    )
    for text in (written, PROLIFIC_README):
        said = in_plain_words(text)
        assert not unwanted(said)
        assert not re.search(r"^#", said, re.MULTILINE)
    assert "1. Open index.html in a browser." in in_plain_words(written)
    assert "as \u201cAnswers that came back\u201d, all of them." in in_plain_words(written)

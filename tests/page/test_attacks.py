"""A table of attacks on a page that listens, each with what must come back."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cases import each_case

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
from attack import Attack, came_back
from attacks import CAPS, DOCUMENT, attacks, fill
from page_server import Page, Reply, running, started

DRAGGING = ("a body that", "an answer of 40 MB")
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[bool, Page]]:
    """The whole application, and a tiny one that shows what comes through."""
    folder = tmp_path_factory.mktemp("page") / "chosen"
    fill(folder)
    with running(folder, **CAPS) as tiny, running(folder, app="whole_page", **CAPS) as whole:
        yield {False: tiny, True: whole}


@pytest.fixture(scope="module")
def dragging(pages: dict[bool, Page]) -> dict[str, Reply]:
    """What clients get that drag at the page, all at once."""
    slow = [attack for attack in attacks() if attack.what.startswith(DRAGGING)]
    with ThreadPoolExecutor(len(slow)) as threads:
        replies = threads.map(lambda attack: attack.send(pages[False]), slow)
        return {attack.what: reply for attack, reply in zip(slow, replies, strict=True)}


@pytest.mark.slow
@each_case("attack", attacks, ids=lambda attack: f"{attack.kind}: {attack.what}")
def test_an_attack_gets_what_the_table_says_and_the_page_goes_on(
    pages: dict[bool, Page], dragging: dict[str, Reply], attack: Attack
) -> None:
    page = pages[attack.is_whole]
    found = dragging[attack.what] if attack.what in dragging else attack.send(page)
    text = found.body.decode("utf-8", "replace")
    assert found.status == attack.status, came_back(found)
    assert attack.words in text, came_back(found)
    assert not any(name.startswith("access-control-") for name in found.headers)
    if found.status:
        assert found.headers["content-security-policy"].startswith(POLICY)
        assert found.headers["x-content-type-options"] == "nosniff"
        assert found.headers["cache-control"] == "no-store"
        assert page.token not in text
        assert "SECRET" not in text
        assert "<script>" not in text
        assert "evil.example" not in found.headers.get("location", "")
    assert page.ask().status == 200


@pytest.mark.slow
def test_of_fifty_simulations_at_once_some_wait_and_the_others_are_told_to_come_later(
    tmp_path: Path,
) -> None:
    chosen = tmp_path / "chosen"
    fill(chosen)
    words = [sys.executable, "-m", "humeval_power.doors.terminal.main", "page", "--no-browser"]
    with started(words, chosen) as page:

        def begun(seed: int) -> Reply:
            study = "preset=high&workers=40&items=200&effect=0.1&simulations=20000"
            return page.ask("POST", f"/job/power?{study}&seed={seed}", b"", accept="application/json")

        with ThreadPoolExecutor(50) as threads:
            found = list(threads.map(begun, range(50)))
        assert {reply.status for reply in found} == {200, 503}
        late = [reply for reply in found if reply.status == 503]
        assert 25 <= len(late) <= 32  # 20 wait, and those that were begun meanwhile
        assert all("20 computations wait already" in reply.body.decode() for reply in late)
        assert page.ask().status == 200
        page.process.send_signal(2)
        assert page.process.wait(20) == 0


@pytest.mark.slow
def test_the_documentation_shows_every_attack() -> None:
    rows = [
        line.split(" | ")
        for line in DOCUMENT.read_text(encoding="utf-8").splitlines()
        if line.startswith("| ")
    ]
    shown = {(row[0].removeprefix("| "), what) for row in rows for what in row[1].split("; ")}
    assert [attack.what for attack in attacks() if (attack.kind, attack.what) not in shown] == []

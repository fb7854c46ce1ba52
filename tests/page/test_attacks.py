"""A table of attacks on a page that listens, each with what must come back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
from attack import Attack, came_back
from attacks import CAPS, DOCUMENT, attacks, fill
from page_server import Page, running

POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[bool, Page]]:
    """The whole application, and a tiny one that shows what comes through."""
    folder = tmp_path_factory.mktemp("page") / "chosen"
    fill(folder)
    with running(folder, **CAPS) as tiny, running(folder, app="whole_page", **CAPS) as whole:
        yield {False: tiny, True: whole}


@pytest.mark.parametrize("attack", attacks(), ids=lambda attack: f"{attack.kind}: {attack.what}")
def test_an_attack_gets_what_the_table_says_and_the_page_goes_on(
    pages: dict[bool, Page], attack: Attack
) -> None:
    page = pages[attack.is_whole]
    found = attack.send(page)
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


def test_the_documentation_shows_every_attack() -> None:
    shown = DOCUMENT.read_text(encoding="utf-8")
    assert [attack.what for attack in attacks() if f"| {attack.kind} | {attack.what} |" not in shown] == []

"""A table of attacks on a page that listens, each with what must come back; and what must be let in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
from attacks import CAPS, DOCUMENT, Attack, attacks, came_back
from page_server import Page, running

POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'"


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with running(tmp_path_factory.mktemp("page"), **CAPS) as opened:
        yield opened


@pytest.mark.parametrize("attack", attacks(), ids=lambda attack: f"{attack.kind}: {attack.what}")
def test_an_attack_gets_what_the_table_says_and_the_page_goes_on(page: Page, attack: Attack) -> None:
    found = attack.send(page)
    assert (found.status, attack.words in came_back(found) + found.body.decode("utf-8", "replace")) == (
        attack.status,
        True,
    ), came_back(found)
    assert not any(name.startswith("access-control-") for name in found.headers)
    if found.status:
        assert found.headers["content-security-policy"].startswith(POLICY)
        assert found.headers["x-content-type-options"] == "nosniff"
        assert found.headers["cache-control"] == "no-store"
        assert page.token not in found.body.decode("utf-8", "replace")
    assert page.ask().status == 200


def test_the_documentation_shows_every_attack() -> None:
    shown = DOCUMENT.read_text(encoding="utf-8")
    assert [attack.what for attack in attacks() if f"| {attack.kind} | {attack.what} |" not in shown] == []

"""The server of the page begins and ends as its command says, and leaves nothing behind."""

import os
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from cases import each_case, few_fast
from click.testing import CliRunner, Result

pytest.importorskip("starlette")
pytest.importorskip("uvicorn")
from page_server import Page, running

from humeval_power.doors.page.serving import server
from humeval_power.doors.page.serving.security import Session
from humeval_power.doors.terminal.main import main


@contextmanager
def opened(tmp_path: Path, **options: float) -> Iterator[Page]:
    chosen = tmp_path / "chosen"
    chosen.mkdir()
    with running(chosen, **options) as page:
        yield page


def left(page: Page) -> list[Path]:
    """The temporary folders of pages."""
    return list(page.folder.parent.glob("humeval-power-page-*"))


def refused(*words: str) -> Result:
    found = CliRunner().invoke(main, ["page", "--no-browser", *words])
    assert found.exit_code == 2
    return found


@few_fast("name", ["SIGINT", "SIGTERM", "SIGHUP"], fast=1)
def test_a_signal_ends_the_page_quietly_and_its_uploads_with_it(tmp_path: Path, name: str) -> None:
    with opened(tmp_path) as page:
        assert page.upload("a.csv", b"a,b\n1,2\n").status == 200
        assert len(left(page)) == 1
        page.process.send_signal(getattr(signal, name))
        said = page.process.communicate(timeout=15)
    assert (page.process.returncode, said) == (0, ("", ""))
    assert left(page) == []


@pytest.mark.slow
def test_answers_that_are_under_way_do_not_hold_up_the_end(tmp_path: Path) -> None:
    with opened(tmp_path) as page, socket.create_connection(("127.0.0.1", page.port)) as line:
        line.sendall(page.request(target="/large"))  # and nobody reads it
        time.sleep(0.3)
        page.process.send_signal(signal.SIGINT)
        assert page.process.wait(15) == 0


@pytest.mark.slow
def test_a_page_that_nobody_uses_ends_by_itself_and_one_that_answers_does_not(tmp_path: Path) -> None:
    with opened(tmp_path, idle=0.012) as page:  # 0.72 s
        assert page.ask(target="/slow").body == b"done"  # after 1.2 s
        said, wrong = page.process.communicate(timeout=15)
    assert said.strip() == "Nobody has used the page for 0.012 minutes: it has ended."
    assert (page.process.returncode, wrong, left(page)) == (0, "", [])


def test_neither_links_nor_tokens_are_logged_and_a_fault_is_told_without_them(tmp_path: Path) -> None:
    with opened(tmp_path) as page:
        page.ask(target="/?ratings=secret-name.csv")
        page.send(b"nonsense\r\n\r\n")
        page.ask(target="/broken?ratings=secret-name.csv")
        page.process.send_signal(signal.SIGINT)
        said, wrong = page.process.communicate(timeout=15)
    assert said == ""
    assert "it broke" in wrong
    assert "secret-name" not in wrong
    assert page.token not in wrong
    assert "\x1b" not in wrong


def test_two_pages_do_not_know_each_others_tokens_and_cookies(tmp_path: Path) -> None:
    with opened(tmp_path) as one, running(one.folder) as other:
        assert one.ask(target=f"/?token={other.token}", cookie=None).status == 403
        assert one.ask(cookie=other.cookie).status == 403
        assert one.ask(cookie=f"{other.cookie}; {one.cookie}").status == 200


def test_a_port_that_is_taken_is_told_in_one_sentence() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = refused("--port", str(port)).output
    assert f"Port {port} is taken by another program" in " ".join(said.split())


@each_case("host", ["0.0.0.0", "::", "192.168.1.1", "example.org", ""])
def test_only_the_loopback_is_listened_at(host: str) -> None:
    assert "for this machine only" in " ".join(refused("--host", host).output.split())


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert "There is no folder" in refused("--folder", str(tmp_path / "missing")).output


def test_the_link_that_a_browser_is_started_with_works_once(monkeypatch: pytest.MonkeyPatch) -> None:
    opened_links: list[str] = []
    monkeypatch.setattr(server.webbrowser, "open", opened_links.append)
    monkeypatch.setattr(server, "_has_screen", lambda: True)
    session, told = Session(8123), []
    server._show("http://127.0.0.1:8123/", session, told.append, open_browser=True)
    for _ in range(100):
        time.sleep(0 if opened_links else 0.05)
    tokens = [link.partition("token=")[2] for link in (*told, *opened_links)]
    assert tokens[0] == session.token != tokens[1]
    assert [session.admits(tokens[1]) for _ in range(2)] == [True, False]


def test_a_larger_upload_is_read_by_commands_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(server.MAX_MB, raising=False)
    assert server.default_caps().upload == server.default_caps(200).upload == 200_000_000
    assert server.default_caps(50).upload == 50_000_000
    assert server.MAX_MB not in os.environ
    monkeypatch.setenv(server.MAX_MB, "200")
    assert server.default_caps(500).upload == 500_000_000
    assert os.environ[server.MAX_MB] == "500"

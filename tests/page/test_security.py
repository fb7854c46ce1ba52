"""What the page's guard lets in, what its app sees of that, and what every answer carries."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

pytest.importorskip("starlette")
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from humeval_power.doors.page.serving import security as session_module
from humeval_power.doors.page.serving.security import Caps, Guard, Session

PORT = 8123
App = Callable[[Scope, Receive, Send], Awaitable[None]]


@dataclass
class Seen:
    """What an app was asked, and what it answers."""

    queries: list[str] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    status: int = 200

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.queries.append(scope["query_string"].decode())
        await PlainTextResponse("the app", self.status, self.headers)(scope, receive, send)


@dataclass
class Door:
    """A guard, and requests to it as the page's own browser sends them."""

    app: App = field(default_factory=Seen)
    caps: Caps = field(default_factory=Caps)

    def __post_init__(self) -> None:
        self.session = Session(PORT)
        self.guard = Guard(self.app, self.session, port=PORT, caps=self.caps)

    def ask(
        self,
        path: str = "/power",
        query: str = "",
        method: str = "GET",
        *,
        known: bool = True,
        **headers: str,
    ) -> tuple[int, dict[str, str], str]:
        """Status, headers and text of the answer."""
        return asyncio.run(self.asked(path, query, method, known=known, **headers))

    async def asked(
        self, path: str, query: str = "", method: str = "GET", *, known: bool = True, **headers: str
    ) -> tuple[int, dict[str, str], str]:
        """The same within a loop."""
        lines = {"host": f"127.0.0.1:{PORT}"} | {
            name.replace("_", "-"): text for name, text in headers.items()
        }
        if known:
            lines["cookie"] = self.session.set_cookie().split(";")[0]
        scope: Any = {
            "type": "http",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "headers": [(name.encode(), text.encode()) for name, text in lines.items()],
        }
        sent: list[Message] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            sent.append(message)

        await self.guard(scope, receive, send)
        found = {name.decode().lower(): text.decode() for name, text in sent[0]["headers"]}
        return sent[0]["status"], found, sent[1]["body"].decode()


@pytest.fixture
def door() -> Door:
    return Door()


def test_the_first_link_gives_a_cookie_once_and_goes_on_without_the_token(door: Door) -> None:
    status, headers, _ = door.ask("/power", f"workers=20&token={door.session.token}&items=10", known=False)
    assert (status, headers["location"]) == (303, f"http://127.0.0.1:{PORT}/power?workers=20&items=10")
    name, *policies = headers["set-cookie"].split("; ")
    assert name.startswith(f"humeval-power-{PORT}=")
    assert door.session.token not in name
    assert sorted(policies) == ["HttpOnly", "Path=/", "SameSite=Strict"]
    assert door.app.queries == []
    assert door.ask("/power", "workers=20", cookie=name)[0] == 200
    assert door.app.queries == ["workers=20"]


def test_who_is_known_and_follows_an_old_link_goes_on_without_its_token(door: Door) -> None:
    status, headers, _ = door.ask("/", "token=of-yesterday")
    assert (status, headers["location"]) == (303, f"http://127.0.0.1:{PORT}/")
    assert "set-cookie" not in headers


def test_a_token_for_once_lets_in_once_and_not_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    session, now = Session(PORT), [1_000.0]
    monkeypatch.setattr(session_module.time, "monotonic", lambda: now[0])
    first, second = session.token_for_once(), session.token_for_once()
    assert session.admits(first)
    assert not session.admits(first)
    now[0] += 121
    assert not session.admits(second)
    assert session.admits(session.token)


def test_secrets_differ_between_runs_and_from_each_other() -> None:
    sessions = [Session(PORT), Session(PORT)]
    secrets = [
        secret
        for one in sessions
        for secret in (one.token, one.form_token, one.set_cookie().split(";")[0].partition("=")[2])
    ]
    assert len(set(secrets)) == 6
    assert min(map(len, secrets)) >= 43  # 256 bits


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
def test_the_loopback_is_known_by_its_three_names(door: Door, host: str) -> None:
    assert door.ask(host=f"{host}:{PORT}")[0] == 200
    assert door.ask(host=f"{host}:{PORT}", origin=f"http://{host}:{PORT}")[0] == 200
    assert door.ask(host=f"{host}:{PORT + 1}")[0] == 400


def test_two_names_of_the_loopback_are_two_origins(door: Door) -> None:
    assert door.ask(host=f"localhost:{PORT}", origin=f"http://127.0.0.1:{PORT}")[0] == 403


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "OWN", "x_humeval": "1"}, 200),
        ({"sec_fetch_site": "same-origin", "x_humeval": "1"}, 200),
        ({"origin": "OWN", "sec_fetch_site": "same-origin", "x_humeval": "1"}, 200),
        ({"x_humeval": "1"}, 403),
        ({"sec_fetch_site": "none", "x_humeval": "1"}, 403),
        ({"origin": "OWN", "sec_fetch_site": "cross-site", "x_humeval": "1"}, 403),
        ({"origin": "null", "sec_fetch_site": "same-origin", "x_humeval": "1"}, 403),
        ({"origin": "OWN"}, 403),
        ({"origin": "OWN", "x_humeval": "0"}, 403),
    ],
)
def test_a_post_needs_our_origin_and_our_header(door: Door, headers: dict[str, str], status: int) -> None:
    own = {name: text.replace("OWN", f"http://127.0.0.1:{PORT}") for name, text in headers.items()}
    assert door.ask("/job/power", "workers=9", "POST", **own)[0] == status


def test_a_form_without_scripts_posts_with_its_token_which_the_app_never_sees(door: Door) -> None:
    own = f"http://127.0.0.1:{PORT}"
    query = f"workers=9&_form={door.session.form_token}"
    assert door.ask("/job/power", query, "POST", origin=own)[0] == 200
    assert door.app.queries == ["workers=9"]
    assert door.ask("/job/power", query.replace("9&", "9&token=x&"), "POST", origin=own)[0] == 200
    assert door.app.queries == ["workers=9", "workers=9"]
    assert door.ask("/job/power", "workers=9&_form=", "POST", origin=own)[0] == 403


def test_a_link_on_another_site_leads_to_the_page_and_nothing_else_does(door: Door) -> None:
    link = {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate", "sec_fetch_dest": "document"}
    assert door.ask(**link)[0] == 200
    assert door.ask(method="POST", **link)[0] == 403
    assert door.ask(**(link | {"sec_fetch_dest": "iframe"}))[0] == 403
    assert door.ask(**(link | {"sec_fetch_mode": "no-cors"}))[0] == 403


def test_no_answer_lets_others_read_it_or_sets_a_cookie_of_the_apps() -> None:
    door = Door(
        Seen(
            headers={
                "Access-Control-Allow-Origin": "*",
                "Access-Control-Allow-Credentials": "true",
                "Set-Cookie": "a=b",
                "Cache-Control": "public",
                "Content-Security-Policy": "default-src *",
                "X-Own": "kept",
            }
        )
    )
    _, headers, _ = door.ask()
    assert not [name for name in headers if name.startswith("access-control") or name == "set-cookie"]
    assert headers["x-own"] == "kept"
    assert headers["cache-control"] == "no-store"
    assert headers["content-security-policy"] == (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
    assert headers["cross-origin-resource-policy"] == "same-origin"


def test_only_static_files_that_are_there_may_be_kept() -> None:
    assert Door().ask("/static/page.css")[1]["cache-control"].startswith("private")
    assert Door(Seen(status=404)).ask("/static/page.css")[1]["cache-control"] == "no-store"
    assert Door().ask("/power")[1]["cache-control"] == "no-store"


def test_a_script_is_told_as_json_and_a_reader_as_a_page(door: Door) -> None:
    assert door.ask(known=False, x_humeval="1")[2].startswith('{"problems": [{"text": "This page opens by')
    page = door.ask(known=False)[2]
    assert "<h1>This browser was not let in</h1>" in page
    assert "<a " not in page  # every link of the page would say the same


def test_more_requests_at_once_than_can_be_held_are_told_to_come_later() -> None:
    async def waits(scope: Scope, receive: Receive, send: Send) -> None:
        await asyncio.sleep(0.05)
        await PlainTextResponse("done")(scope, receive, send)

    door = Door(waits, Caps(requests=3))

    async def five() -> list[int]:
        found = await asyncio.gather(*(door.asked("/power") for _ in range(5)))
        return sorted(status for status, _, _ in found)

    assert asyncio.run(five()) == [200, 200, 200, 503, 503]
    assert door.guard.running == 0
    assert door.ask()[0] == 200


def test_an_app_that_raises_is_told_in_words_and_counted_out(capsys: pytest.CaptureFixture[str]) -> None:
    async def raises(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise ValueError("\x1b[2J the name of somebody's file")

    door = Door(raises)
    status, headers, text = door.ask()
    assert status == 500
    assert "somebody" not in text
    assert "content-security-policy" in headers
    said = capsys.readouterr().err
    assert "somebody's file" in said
    assert "\x1b" not in said
    assert door.guard.running == 0


def test_a_websocket_is_closed() -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "websocket.connect"}

    asyncio.run(Door().guard({"type": "websocket", "headers": []}, receive, send))
    assert sent == [{"type": "websocket.close", "code": 1008}]

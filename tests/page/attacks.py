"""Attacks on the page: what each sends, and what must come back.

`python tests/page/attacks.py` makes them and writes docs/page-attacks.md, the table of what came back.
"""

from __future__ import annotations

import gzip
import html
import io
import json
import socket
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from page_server import Page, Reply, reply, running

DOCUMENT = Path(__file__).parents[2] / "docs" / "page-attacks.md"
# Caps so low that each attack takes a moment; those of the page itself stand in its documentation.
CAPS = {
    "head_seconds": 0.7,
    "pause_seconds": 0.7,
    "body_seconds": 2.0,
    "answer_seconds": 0.7,
    "connections": 20,
    "upload": 70_000_000,
    "spreadsheet": 5_000_000,
}


@dataclass(frozen=True)
class Attack:
    """One attack.

    what : in words, for the table.
    send : does it.
    status : of what must come back; 0 where the connection must end without an answer.
    words : that must stand in it.
    """

    kind: str
    what: str
    send: Callable[[Page], Reply]
    status: int
    words: str = ""


def _ask(
    method: str = "GET", target: str = "/", body: bytes | None = None, **headers: str | None
) -> Callable[[Page], Reply]:
    return lambda page: page.ask(
        method,
        target.replace("TOKEN", page.token),
        body,
        **{name: value and value.replace("PORT", str(page.port)) for name, value in headers.items()},
    )


def _raw(text: str, *more: bytes, pause: float = 0.0) -> Callable[[Page], Reply]:
    """The lines of a head, with HOST and COOKIE filled in, and what follows it."""
    return lambda page: page.send(
        text.replace("HOST", page.host).replace("COOKIE", page.cookie).encode("latin-1"), *more, pause=pause
    )


def _upload(name: str, content: Callable[[], bytes]) -> Callable[[Page], Reply]:
    return lambda page: page.upload(name, content())


NOT_HERE = "The page is not at this address"
LET_IN = "This page opens by the link"
FOREIGN = "Another site has sent this request"
NO_LINK = "There is no such link"
NO_HTTP = "This is no request that the page understands"
METHODS = "The page knows GET, HEAD and POST only"
OTHER_PORT = "http://127.0.0.1:1"
POST = "POST /echo HTTP/1.1\r\nHost: HOST\r\nCookie: COOKIE\r\nOrigin: http://HOST\r\nX-Humeval: 1\r\n"
GET = "GET / HTTP/1.1\r\nHost: HOST\r\nCookie: COOKIE\r\n"
UPGRADE = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
UPGRADE += "Sec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==\r\n"


def _hosts() -> list[Attack]:
    forged = {
        "a foreign Host": "evil.example",
        "DNS rebinding: a foreign name that leads to 127.0.0.1, with the right port": "rebind.evil.example:PORT",
        "a Host that begins with ours": "127.0.0.1:PORT.evil.example",
        "a Host that ends with ours": "evil.localhost:PORT",
        "our Host without its port": "127.0.0.1",
        "our Host with another port": "127.0.0.1:1",
        "an address of all interfaces": "0.0.0.0:PORT",
    }
    return [
        *(Attack("Host", what, _ask(host=host), 400, NOT_HERE) for what, host in forged.items()),
        Attack("Host", "HTTP/1.1 without a Host", _raw("GET / HTTP/1.1\r\n\r\n"), 400, NO_HTTP),
        Attack("Host", "HTTP/1.0 without a Host", _raw("GET / HTTP/1.0\r\n\r\n"), 400, NOT_HERE),
        Attack(
            "Host", "two Hosts", _raw("GET / HTTP/1.1\r\nHost: HOST\r\nHost: evil.example\r\n\r\n"), 400
        ),
        Attack(
            "Host",
            "a whole address in the place of the link",
            _raw(GET.replace(" / ", " http://evil.example/ ") + "\r\n"),
            400,
            NO_LINK,
        ),
        Attack(
            "Host",
            "another Host that a proxy is said to have seen",
            _ask(host="evil.example", x_forwarded_host="127.0.0.1:PORT"),
            400,
            NOT_HERE,
        ),
    ]


def _origins() -> list[Attack]:
    own, evil = "http://127.0.0.1:PORT", "https://evil.example"
    return [
        Attack("Origin", "a script of another site reads a page", _ask(origin=evil), 403, FOREIGN),
        Attack("Origin", "a script of another port reads a page", _ask(origin=OTHER_PORT), 403, FOREIGN),
        Attack(
            "Origin",
            "a script without an origin, as in a sandboxed frame",
            _ask(origin="null"),
            403,
            FOREIGN,
        ),
        Attack(
            "Origin", "our origin, but by https", _ask(origin=own.replace("http", "https")), 403, FOREIGN
        ),
        Attack(
            "Origin",
            "another site shows an answer as a picture",
            _ask(sec_fetch_site="cross-site", sec_fetch_mode="no-cors", sec_fetch_dest="image"),
            403,
            FOREIGN,
        ),
        Attack(
            "Origin",
            "another port of this machine shows an answer in a frame",
            _ask(sec_fetch_site="same-site", sec_fetch_mode="navigate", sec_fetch_dest="iframe"),
            403,
            FOREIGN,
        ),
        Attack(
            "Origin",
            "another site posts a form",
            _ask("POST", "/echo", b"a=1", origin=evil, x_humeval=None),
            403,
            FOREIGN,
        ),
        Attack(
            "Origin",
            "another site posts, with the secret header",
            _ask("POST", "/echo", b"a=1", origin=evil),
            403,
            FOREIGN,
        ),
        Attack("Origin", "a post without Origin", _ask("POST", "/echo", b"a=1", origin=None), 403, FOREIGN),
        Attack(
            "Origin",
            "a post from our own origin without the secret header",
            _ask("POST", "/echo", b"a=1", x_humeval=None),
            403,
            FOREIGN,
        ),
        Attack(
            "Origin",
            "the same with a guessed token of a form",
            _ask("POST", "/echo?_form=guess", b"a=1", x_humeval=None),
            403,
            FOREIGN,
        ),
        Attack(
            "Origin",
            "another site asks whether it may post (CORS preflight)",
            _ask("OPTIONS", "/echo", origin=evil, access_control_request_method="POST"),
            405,
            METHODS,
        ),
        Attack(
            "Origin",
            "a WebSocket from another site",
            _raw(GET + UPGRADE + "Origin: https://evil.example\r\n\r\n"),
            400,
            "uses no WebSockets",
        ),
        Attack(
            "Origin",
            "a WebSocket from our own origin",
            _raw(GET + UPGRADE + "Origin: http://HOST\r\n\r\n"),
            400,
            "uses no WebSockets",
        ),
    ]


def _tokens() -> list[Attack]:
    return [
        Attack("Token", "no token and no cookie", _ask(cookie=None), 403, LET_IN),
        Attack("Token", "a wrong token", _ask(target="/?token=guess", cookie=None), 403, LET_IN),
        Attack("Token", "an empty token", _ask(target="/?token=", cookie=None), 403, LET_IN),
        Attack(
            "Token",
            "the token of the page at another port",
            _ask(target="/?token=7yN0PpXQ3rS1u2VwXy", cookie=None),
            403,
            LET_IN,
        ),
        Attack(
            "Token",
            "a cookie with the token in the place of its value",
            lambda page: page.ask(cookie=f"humeval-power-{page.port}={page.token}"),
            403,
            LET_IN,
        ),
        Attack(
            "Token",
            "the right cookie under the name of another port",
            lambda page: page.ask(cookie=f"humeval-power-1={page.cookie.partition('=')[2]}"),
            403,
            LET_IN,
        ),
        Attack(
            "Token",
            "a post with the token, without a cookie",
            _ask("POST", "/echo?token=TOKEN", b"a", cookie=None),
            403,
            LET_IN,
        ),
        Attack(
            "Token",
            "static files without a cookie",
            _ask(target="/static/page.css", cookie=None),
            403,
            LET_IN,
        ),
        Attack(
            "Token",
            "an upload without a cookie",
            _ask("POST", "/upload", b"a,b\n", cookie=None, x_file_name="a.csv"),
            403,
            LET_IN,
        ),
        Attack(
            "Token",
            "the token before the name of another host",
            _ask(target="//evil.example/?token=TOKEN", cookie=None),
            400,
            NO_LINK,
        ),
        Attack(
            "Token",
            "the same with a backslash",
            _ask(target="/%5Cevil.example/?token=TOKEN", cookie=None),
            400,
            NO_LINK,
        ),
        Attack(
            "Token",
            "the token and a header of one's own in the link",
            _ask(target="/%0d%0aSet-Cookie:%20a=b/?token=TOKEN", cookie=None),
            400,
            NO_LINK,
        ),
    ]


def _paths() -> list[Attack]:
    ways = {
        "dots": "/static/../../../../etc/passwd",
        "dots as codes": "/static/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
        "slashes as codes": "/static/..%2f..%2f..%2fetc%2fpasswd",
        "backslashes": "/static/..%5c..%5cetc%5cpasswd",
        "two slashes": "/static//etc/passwd",
        "a NUL": "/static/page.css%00.html",
        "a NUL in the query": "/?ratings=a.csv%00",
        "the key of a download": "/take/..%2f..%2fetc%2fpasswd.zip",
    }
    return [
        *(
            Attack("Paths", f"out of the folder by {what}", _ask(target=path), 400, NO_LINK)
            for what, path in ways.items()
        ),
        Attack("Paths", "dots as codes of codes", _ask(target="/static/%252e%252e%252fpasswd"), 404),
    ]


def _methods() -> list[Attack]:
    return [
        Attack("Methods", method, _ask(method), 405, METHODS)
        for method in ("TRACE", "PUT", "DELETE", "PATCH", "OPTIONS", "CONNECT", "PROPFIND")
    ]


def _sizes() -> list[Attack]:
    chunk = b"F4240\r\n" + b"x" * 1_000_000 + b"\r\n"
    many = "".join(f"X-{number}: {'y' * 20}\r\n" for number in range(1_500))
    return [
        Attack(
            "Sizes",
            "a link of 20,000 characters",
            _ask(target="/?a=" + "x" * 20_000),
            414,
            "longer than 16,384",
        ),
        Attack("Sizes", "a link of 10 MB", _ask(target="/?a=" + "x" * 10_000_000), 400, NO_HTTP),
        Attack("Sizes", "a header of 40,000 bytes", _ask(x_long="y" * 40_000), 431, "longer than 32,768"),
        Attack("Sizes", "1,500 headers", _raw(GET + many + "\r\n"), 431, "longer than 32,768"),
        Attack(
            "Sizes",
            "headers that do not end",
            _raw(GET, *[b"X-A: " + b"y" * 1_000 + b"\r\n"] * 300),
            400,
            NO_HTTP,
        ),
        Attack(
            "Sizes",
            "a post that says it has 100 GB",
            _raw(POST + "Content-Length: 100000000000\r\n\r\n"),
            413,
            "more than the 1 MB",
        ),
        Attack(
            "Sizes",
            "a post of 50 MB that does not say so (chunked)",
            _raw(POST + "Transfer-Encoding: chunked\r\n\r\n", *[chunk] * 50),
            413,
            "more than the 1 MB",
        ),
        Attack(
            "Sizes",
            "an upload above the cap",
            _upload("big.csv", lambda: b"x" * 71_000_000),
            413,
            "more than the 70 MB",
        ),
        Attack(
            "Sizes",
            "an upload above the cap that does not say so",
            _raw(
                POST.replace("/echo", "/upload")
                + "X-File-Name: a.csv\r\nTransfer-Encoding: chunked\r\n\r\n",
                *[chunk] * 75,
            ),
            413,
            "70 MB",
        ),
        Attack(
            "Sizes",
            "an upload of 60 MB, which is allowed",
            _upload("big.csv", lambda: b"x" * 60_000_000),
            200,
            "60000000",
        ),
        Attack(
            "Sizes",
            "a GET with a body of 50 MB",
            _raw(GET + "Content-Length: 50000000\r\n\r\n", *[b"x" * 1_000_000] * 50),
            200,
        ),
    ]


def _archive(members: dict[str, int]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, size in members.items():
            with archive.open(name, "w") as member:
                for start in range(0, size, 1_000_000):
                    member.write(b" " * min(1_000_000, size - start))
    return stream.getvalue()


def _bombs() -> list[Attack]:
    many = {f"xl/worksheets/sheet{number}.xml": 0 for number in range(30_000)}
    return [
        Attack(
            "Bombs",
            "a workbook of 250 kB that unpacks to 250 MB",
            _upload("bomb.xlsx", lambda: _archive({"xl/worksheets/sheet1.xml": 250_000_000})),
            413,
            "unpacks to more than 200 MB",
        ),
        Attack(
            "Bombs",
            "the same, called a table of text",
            _upload("bomb.csv", lambda: _archive({"a.csv": 250_000_000})),
            413,
            "unpacks to more than 200 MB",
        ),
        Attack(
            "Bombs",
            "a workbook of 30,000 members",
            _upload("many.xlsx", lambda: _archive(many)),
            413,
            "more than 10,000 members",
        ),
        Attack(
            "Bombs",
            "a workbook above its own cap",
            _upload("large.xlsx", lambda: b"PK\x03\x04" + bytes(6_000_000)),
            413,
            "larger than 5 MB",
        ),
        Attack(
            "Bombs",
            "a workbook above that cap, called a table of text",
            _upload("large.csv", lambda: b"PK\x03\x04" + bytes(6_000_000)),
            413,
            "larger than 5 MB",
        ),
        Attack(
            "Bombs",
            "an archive with a member ../../evil: it is kept, and no member is unpacked",
            _upload("evil.zip", lambda: _archive({"../../evil": 10})),
            200,
            "evil.zip~",
        ),
        Attack(
            "Bombs",
            "a gzip file of 250 kB that unpacks to 250 MB: it is kept packed, and refused when it is read",
            _upload("bomb.csv.gz", lambda: gzip.compress(bytes(250_000_000), 6)),
            200,
            "bomb.csv.gz~",
        ),
    ]


def _names() -> list[Attack]:
    names = {
        "the way to another folder": ("../../etc/cron.d/evil.csv", "evil.csv~"),
        "the way to another folder in Windows": ("..%5C..%5Cevil.csv", "evil.csv~"),
        "the way to another folder in codes": ("..%2F..%2Fevil.csv", "evil.csv~"),
        "an option": ("--output=x.csv", "output_x.csv~"),
        "markup": ("%3Cscript%3Ealert(1)%3C%2Fscript%3E.csv", "script.csv~"),
        "a line end": ("a%0D%0ASet-Cookie:%20x.csv", "a_Set-Cookie_x.csv~"),
        "a NUL": ("a.csv%00.exe", "a.csv.exe~"),
        "a device of Windows": ("con.csv", "_con.csv~"),
        "the mark between a name and its digest": ("a~0123456789abcdef.csv", "a_0123456789abcdef.csv~"),
        "nothing but dots": ("...", "file~"),
        "3,000 letters": ("x" * 3_000 + ".csv", "x" * 60 + ".csv~"),
    }
    return [
        Attack("Names of uploads", what, _upload(name, lambda: b"a,b\n1,2\n"), 200, said)
        for what, (name, said) in names.items()
    ]


def _slow() -> list[Attack]:
    return [
        Attack(
            "Slow clients",
            "a head that comes a byte at a time (slowloris)",
            _raw("GET / HTTP/1.1\r\n", *[b"x"] * 5, pause=0.3),
            408,
            "took too long",
        ),
        Attack("Slow clients", "a connection that sends nothing", _raw(""), 0),
        Attack(
            "Slow clients",
            "a body that stops",
            _raw(POST + "Content-Length: 100\r\n\r\n", b"x", b"y", pause=1.5),
            408,
            "took too long",
        ),
        Attack(
            "Slow clients",
            "a body that comes a byte at a time",
            _raw(POST + "Content-Length: 100\r\n\r\n", *[b"x"] * 8, pause=0.4),
            408,
            "took too long",
        ),
        Attack(
            "Slow clients", "an answer of 40 MB that nobody reads: the connection breaks off", _unread, 0
        ),
        Attack("Slow clients", "60 idle connections while somebody asks for a page", _crowd, 200),
    ]


def _unread(page: Page) -> Reply:
    with socket.create_connection(("127.0.0.1", page.port), timeout=20) as line:
        line.sendall(page.request(target="/large"))
        time.sleep(2)
        whole = reply(line)
    return Reply(0, {}, b"") if len(whole.body) < 40_000_000 else whole


def _crowd(page: Page) -> Reply:
    lines = [socket.create_connection(("127.0.0.1", page.port)) for _ in range(60)]
    try:
        return page.ask()
    finally:
        for line in lines:
            line.close()


def _smuggled() -> list[Attack]:
    inner = "GET /secret HTTP/1.1\r\nHost: HOST\r\n\r\n"
    return [
        Attack(
            "Smuggling",
            "Content-Length and Transfer-Encoding",
            _raw(POST + f"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{inner}"),
            400,
            "says twice",
        ),
        Attack(
            "Smuggling",
            "two lengths",
            _raw(POST + f"Content-Length: 0\r\nContent-Length: 44\r\n\r\n{inner}"),
            400,
            NO_HTTP,
        ),
        Attack(
            "Smuggling",
            "another Transfer-Encoding",
            _raw(POST + f"Transfer-Encoding: xchunked\r\n\r\n{inner}"),
            400,
            NO_HTTP,
        ),
        Attack(
            "Smuggling",
            "a blank before the colon",
            _raw(POST + "Content-Length : 3\r\n\r\nabc"),
            400,
            NO_HTTP,
        ),
        Attack(
            "Smuggling",
            "a header on two lines",
            _raw(GET + "Connection: close\r\nX-A: b\r\n Cookie: c\r\n\r\n"),
            200,
        ),
        Attack("Smuggling", "a NUL in a header", _raw(GET + "X-A: \0\r\n\r\n"), 400, NO_HTTP),
        Attack(
            "Smuggling",
            "no HTTP at all (TLS)",
            lambda page: page.send(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500)),
            400,
            NO_HTTP,
        ),
    ]


def attacks() -> list[Attack]:
    """All of them, by kind."""
    groups = (_hosts, _origins, _tokens, _paths, _methods, _sizes, _bombs, _names, _slow, _smuggled)
    return [attack for group in groups for attack in group()]


def came_back(found: Reply) -> str:
    """A reply in a few words."""
    if not found.status:
        return "the connection ends"
    if found.status < 400:
        text = found.body.decode("utf-8", "replace")
        return f"{found.status} {json.loads(text).get('file', '') if text.startswith('{') else ''}".rstrip()
    text = found.words
    if text.startswith("{"):
        text = json.loads(text)["problems"][0]["text"]
    return f"{found.status} {html.unescape(text)}"


def main() -> None:
    """Make every attack, and write what came back."""
    lines = [
        "# Attacks on the page, and what comes back",
        "",
        "Written by `python tests/page/attacks.py`, which makes these attacks on a page that listens; the test "
        "`tests/page/test_attacks.py` makes them again. Times and sizes are lower there than in the page itself.",
        "",
        "| Kind | Attack | What came back |",
        "|---|---|---|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        chosen = Path(folder, "chosen")
        chosen.mkdir()
        with running(chosen, **CAPS) as page:
            for attack in attacks():
                said = came_back(attack.send(page)).replace("|", "\\|").replace("<", "&lt;")
                lines.append(f"| {attack.kind} | {attack.what} | {said} |")
    DOCUMENT.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    main()

"""Who may ask the page what: every request is checked here before anything else sees it.

The page listens on the loopback only, but every program of the machine can reach that, and so can every site that
its user visits, through the browser. Against sites help the Host (a name of theirs that leads to the loopback), the
Origin and the secret header or form field (their forms and scripts), the cookie (their links) and the policies of
the answers; against other users of the machine the token.

What the page says where it refuses a request, and the headers that every answer has.

A request's body on its way in and its answer on its way out, both within the caps.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import secrets
import time
import traceback
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, NoReturn
from urllib.parse import parse_qsl, quote, urlencode

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from humeval_power.asking.output import say
from humeval_power.safe_text import html_text

# How much of everything a client of the page may send, and how long it may take for that.

MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class Caps:
    """What a single request and all of them together may take.

    link, head : bytes of the link, and of all header lines together.
    body : bytes of what is posted, but for uploads.
    upload : bytes of an uploaded file. The default is what commands read at most (`file_bytes`), so that nothing
        is taken that is refused afterwards.
    spreadsheet : bytes of an uploaded workbook or other archive: these grow manyfold when they are unpacked.
    uploads : bytes of all uploads that are kept.
    head_seconds : until the head of a request is there.
    pause_seconds, body_seconds : between two pieces of a body, and for all of it.
    answer_seconds : in which a client that does not read must take something of the answer.
    requests, connections : at the same time.
    """

    link: int = 16_384
    head: int = 32_768
    body: int = MEGABYTE
    upload: int = 200 * MEGABYTE
    spreadsheet: int = 30 * MEGABYTE
    uploads: int = 1_000 * MEGABYTE
    head_seconds: float = 10
    pause_seconds: float = 15
    body_seconds: float = 180
    answer_seconds: float = 30
    requests: int = 256
    connections: int = 400


Headers = list[tuple[bytes, bytes]]

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
# Browsers hide the origin of a plain form where the policy of referrers is no-referrer; same-origin tells other
# sites nothing either.
_OF_EVERY_ANSWER = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), usb=(), serial=(), payment=()",
    "x-dns-prefetch-control": "off",
}
_TITLES = {403: "This browser was not let in"}  # and others by the name that HTTP has for them
_STORED = b"private, max-age=3600"
_NEVER_STORED = b"no-store"
_DROPPED = (b"server", b"cache-control", b"set-cookie")


class RefusedError(Exception):
    """A request that the page does not answer.

    status : of HTTP.
    text : what is wrong with it and what to do, for a reader.
    headers : more of the answer.
    """

    def __init__(self, status: int, text: str, headers: Headers | None = None) -> None:
        super().__init__(text)
        self.status, self.text, self.headers = status, text, headers or []


def safe_headers(headers: Headers, *, is_kept: bool = False, own: Headers | None = None) -> Headers:
    """The headers of an answer with those that every answer has, in place of the app's.

    With `is_kept` this browser may keep it for an hour, which no other answer is. None lets another origin read it.
    """
    names = {name.encode() for name in _OF_EVERY_ANSWER}
    kept = [
        (name, value)
        for name, value in headers
        if (low := name.lower()) not in names
        and low not in _DROPPED
        and not low.startswith(b"access-control-")
    ]
    stored = _STORED if is_kept else _NEVER_STORED
    ours = [(name.encode(), value.encode()) for name, value in _OF_EVERY_ANSWER.items()]
    return [*kept, *ours, (b"cache-control", stored), *(own or [])]


def refusal(error: RefusedError, *, as_json: bool) -> tuple[Headers, bytes]:
    """The headers and the body of a refusal: a page, or for a script the problems as JSON.

    The connection ends with it, so that nothing more of the request is read.
    """
    title = _TITLES.get(error.status, HTTPStatus(error.status).phrase)
    back = "" if error.status == HTTPStatus.FORBIDDEN else '<p><a href="/">To the start of the page</a></p>'
    if as_json:
        kind, text = "application/json", json.dumps({"problems": [{"text": error.text, "option": ""}]})
    else:
        kind = "text/html; charset=utf-8"
        text = (
            '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{html_text(title)}</title></head>"
            f"<body><main><h1>{html_text(title)}</h1><p>{html_text(error.text)}</p>"
            f"{back}</main></body></html>\n"
        )
    body = text.encode()
    headers = [
        (b"content-type", kind.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
    ]
    return safe_headers(headers, own=error.headers), body


def too_large(most: int) -> RefusedError:
    """The refusal of what is larger than so many bytes."""
    return RefusedError(
        413,
        f"That is more than the {most / MEGABYTE:,.0f} MB that the page takes at once. Large files open by their "
        "path in the folder of the page; 'humeval-power page --max-upload' allows larger uploads.",
    )


def raw_refusal(error: RefusedError) -> bytes:
    """The whole answer as it goes over the wire, where no request was understood."""
    headers, body = refusal(error, as_json=False)
    first = f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}\r\n".encode()
    return first + b"".join(name + b": " + value + b"\r\n" for name, value in headers) + b"\r\n" + body


SECRET_HEADER = b"x-humeval"  # our scripts send it; a form of another site cannot
_CLOSE = (b"connection", b"close")
_SLOW = "What was sent took too long to arrive. Send it again."
_FAILED = "Something went wrong in the program; its terminal says what. Please report it."


@dataclass(frozen=True, slots=True)
class Head:
    """A request without its body; `headers` are all values of each name, in lower case."""

    method: str
    path: str
    query: bytes
    headers: dict[bytes, list[bytes]]
    size: int

    @classmethod
    def of(cls, scope: Scope) -> Head:
        """The head of a request as ASGI gives it."""
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.lower(), []).append(value)
        size = sum(len(name) + len(value) + 4 for name, value in scope["headers"])
        return cls(scope["method"], scope["path"], scope["query_string"], headers, size)

    def one(self, name: bytes) -> str:
        """The value of a header; "" where it is missing."""
        return self.headers.get(name, [b""])[0].decode("latin-1").strip()

    @property
    def has_body(self) -> bool:
        """Whether it says that a body follows."""
        return b"transfer-encoding" in self.headers or self.one(b"content-length") not in ("", "0")


class Exchange:
    """One request and its answer.

    most : bytes of its body.
    refused : why the body was not read to its end, or the app has failed; the answer is still to be sent.
    """

    def __init__(self, head: Head, receive: Receive, send: Send, caps: Caps, most: int) -> None:
        self._head, self._receive, self._send, self._caps, self._most = head, receive, send, caps, most
        self._has_begun, self._has_ended, self._is_read, self._size = False, False, False, 0
        self._end: float | None = None
        self.refused: RefusedError | None = None

    async def receive(self) -> Message:
        """A piece of the body, within the caps; what a GET brings is not looked at."""
        if self._head.method != "POST":
            return await self._without_body()
        if self._is_read:
            return await self._receive()  # the end of the connection, which may take its time
        message = await self._in_time()
        if message["type"] == "http.request":
            self._size += len(message.get("body", b""))
            self._is_read = not message.get("more_body", False)
            if self._size > self._most:
                self._give_up(too_large(self._most))
        return message

    async def _without_body(self) -> Message:
        if not self._is_read:
            self._is_read = True
            return {"type": "http.request", "body": b"", "more_body": False}
        while (message := await self._receive())["type"] != "http.disconnect":
            pass
        return message

    async def _in_time(self) -> Message:
        now = time.monotonic()
        self._end = self._end or now + self._caps.body_seconds
        try:
            return await asyncio.wait_for(self._receive(), min(self._caps.pause_seconds, self._end - now))
        except TimeoutError:
            self._give_up(RefusedError(408, _SLOW))

    def _give_up(self, error: RefusedError) -> NoReturn:
        self.refused = error
        raise error

    async def send(self, message: Message) -> None:
        """A piece of the app's answer, with the headers that every answer has."""
        if self.refused is not None and not self._has_begun:
            return  # the app's words on what it could not read: ours follow
        if message["type"] == "http.response.start":
            self._has_begun = True
            is_left = self._head.has_body and not (self._is_read and self._head.method == "POST")
            headers = safe_headers(
                list(message.get("headers", [])),
                is_kept=message["status"] in (200, 304) and self._head.path.startswith("/static/"),
                own=[_CLOSE] if is_left else [],
            )
            message = {**message, "headers": headers}
        elif not message.get("more_body", False):
            self._has_ended = True
        await self._send(message)

    def failed(self, error: Exception) -> None:
        """The app has raised: the terminal sees why, and the browser that it did."""
        if not isinstance(error, RefusedError | ClientDisconnect):
            say("".join(traceback.format_exception(error)), err=True)
        if not self._has_ended:
            self.refused = self.refused or RefusedError(500, _FAILED)

    async def refuse(self, error: RefusedError) -> None:
        """Say no, where nothing has been said yet.
        Raises RefusedError: half an answer is out: the connection has to break off."""
        if self._has_begun:
            raise error
        headers, body = refusal(error, as_json=SECRET_HEADER in self._head.headers)
        self._has_begun = True
        await self._send({"type": "http.response.start", "status": error.status, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})


# The secrets of one run of the page: who may come in, and which forms are its own.

_BYTES = 32
_ONCE_SECONDS = 120


class Session:
    """Secrets that are drawn when the page starts and forgotten when it ends.

    The token stands in the link that the terminal shows, and lets in whoever has it. The link that a browser is
    started with has one of its own, which works once: other users of the machine can read the words that programs
    are started with. The cookie is a third secret, so that no link holds what a browser keeps.

    port : of the page. Browsers send cookies to every port of a host, so the cookie's name holds it.
    """

    def __init__(self, port: int) -> None:
        self.token, self.form_token, self._cookie = (secrets.token_urlsafe(_BYTES) for _ in range(3))
        self.cookie_name = f"humeval-power-{port}"
        self._once: dict[str, float] = {}

    def token_for_once(self) -> str:
        """A token that lets in once, within two minutes."""
        token = secrets.token_urlsafe(_BYTES)
        self._once[token] = time.monotonic() + _ONCE_SECONDS
        return token

    def admits(self, typed: str) -> bool:
        """Whether this token lets in; one that works once is used up by that."""
        if _same(typed, self.token):
            return True
        now = time.monotonic()
        self._once = {token: end for token, end in self._once.items() if end > now}
        used = [token for token in self._once if _same(typed, token)]
        for token in used:
            del self._once[token]
        return bool(used)

    def knows(self, cookies: Iterable[str]) -> bool:
        """Whether one of a request's cookies is this session's; `cookies` are the values of that header."""
        pairs = (pair.strip().partition("=") for line in cookies for pair in line.split(";"))
        return any(name == self.cookie_name and _same(value, self._cookie) for name, _, value in pairs)

    def is_own_form(self, typed: Collection[str]) -> bool:
        """Whether a form's token is one that this session wrote into it."""
        return any(_same(value, self.form_token) for value in typed)

    def set_cookie(self) -> str:
        """The header that gives a browser the cookie: for no script, and for no request from another site."""
        return f"{self.cookie_name}={self._cookie}; Path=/; HttpOnly; SameSite=Strict"


def _same(typed: str, secret: str) -> bool:
    """Compared in a time that says nothing of where they differ."""
    return hmac.compare_digest(typed.encode("utf-8", "replace"), secret.encode())


TOKEN = "token"  # in the first link
FORM_TOKEN = "_form"  # in the link that a form without scripts is posted to
_METHODS = ("GET", "HEAD", "POST")
_LATER = (b"retry-after", b"2")
_FRAMING = 65_536  # bytes of a multipart body besides its file
_LET_IN = (
    "This page opens by the link that 'humeval-power page' has shown in its terminal, with the token at its end. "
    "Open that link, in each browser once. It works for as long as the command runs; started again, the command "
    "shows another."
)
_FOREIGN = "Another site has sent this request. The page answers its own pages only."


class Guard:
    """An ASGI app around another one that lets pass what comes from the user's own browser.

    app : what answers; it never sees the token, the cookie's value is of no use to it.
    session : the secrets.
    port : that the page listens at.
    caps : what a request may take.
    large : the paths that files are uploaded to.
    last_used : when the last request began or ended, by time.monotonic.
    running : how many requests are being answered.
    """

    def __init__(
        self,
        app: ASGIApp,
        session: Session,
        *,
        port: int,
        caps: Caps,
        large: Collection[str] = ("/upload",),
    ) -> None:
        self.app, self.session, self.caps, self.large = app, session, caps, frozenset(large)
        names = ("127.0.0.1", "localhost", "[::1]")
        self.hosts = {f"{name}:{port}" for name in names} | (set(names) if port == 80 else set())
        self.last_used, self.running = time.monotonic(), 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it in words."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        head = Head.of(scope)
        exchange = Exchange(head, receive, send, self.caps, self._most(head))
        try:
            inner = self._checked(scope, head)
            if self.running >= self.caps.requests:
                raise RefusedError(503, "Too many requests at once. Try again in a moment.", [_LATER])
        except RefusedError as error:
            await exchange.refuse(error)
            return
        self.running, self.last_used = self.running + 1, time.monotonic()
        try:
            await self.app(inner, exchange.receive, exchange.send)
        except Exception as error:
            exchange.failed(error)
        finally:
            self.running, self.last_used = self.running - 1, time.monotonic()
        if exchange.refused is not None:
            await exchange.refuse(exchange.refused)

    def _checked(self, scope: Scope, head: Head) -> Scope:
        """The request as the app may see it."""
        self._check_form_of(scope, head)
        self._check_sender(head)
        query, tokens, forms = _without_secrets(head.query)
        self._check_entry(head, query, tokens)
        if head.method == "POST":
            self._check_post(head, forms)
        return {**scope, "query_string": query}

    def _check_form_of(self, scope: Scope, head: Head) -> None:
        """What a request must look like, whoever sends it."""
        if len(scope.get("raw_path") or b"") + len(head.query) > self.caps.link:
            raise RefusedError(414, f"The link is longer than {self.caps.link:,} characters.")
        if head.size > self.caps.head:
            raise RefusedError(431, f"The headers are longer than {self.caps.head:,} bytes.")
        hosts = head.headers.get(b"host", [])
        if len(hosts) != 1 or head.one(b"host").lower() not in self.hosts:
            raise RefusedError(
                400, "The page is not at this address: open it at 127.0.0.1 and its own port."
            )
        if head.method not in _METHODS:
            raise RefusedError(
                405, "The page knows GET, HEAD and POST only.", [(b"allow", b"GET, HEAD, POST")]
            )
        if b"upgrade" in head.headers:
            raise RefusedError(400, "The page uses no WebSockets.")
        if b"transfer-encoding" in head.headers and b"content-length" in head.headers:
            raise RefusedError(400, "The request says twice how long it is.")
        if _is_crooked(head.path) or b"%00" in head.query:
            raise RefusedError(
                400, "There is no such link: it has dots, slashes or characters that none has."
            )

    def _check_sender(self, head: Head) -> None:
        """A browser says which site a request comes from, and no script can change that."""
        origins = head.headers.get(b"origin", [])
        if origins and (
            len(origins) > 1 or head.one(b"origin").lower() != f"http://{head.one(b'host').lower()}"
        ):
            raise RefusedError(403, _FOREIGN)
        site = head.one(b"sec-fetch-site")
        is_link = (head.method, head.one(b"sec-fetch-mode"), head.one(b"sec-fetch-dest")) == (
            "GET",
            "navigate",
            "document",
        )
        if site not in ("", "same-origin", "none") and not is_link:
            raise RefusedError(403, _FOREIGN)

    def _check_entry(self, head: Head, query: bytes, tokens: list[str]) -> None:
        """Whether the browser has been let in, or comes in now: then it goes on without the token in its link."""
        is_known = self.session.knows(value.decode("latin-1") for value in head.headers.get(b"cookie", []))
        is_entering = any(self.session.admits(token) for token in tokens)
        if not is_known and not is_entering:
            raise RefusedError(403, _LET_IN)
        if tokens and head.method != "POST":
            rest = b"?" + query if query else b""
            link = f"http://{head.one(b'host').lower()}".encode() + quote(head.path).encode() + rest
            headers = [(b"location", link)]
            if is_entering:
                headers.append((b"set-cookie", self.session.set_cookie().encode()))
            raise RefusedError(303, "The page is at its link without the token.", headers)
        if not is_known:
            raise RefusedError(403, _LET_IN)

    def _check_post(self, head: Head, forms: list[str]) -> None:
        """What changes something comes from a page of our own, and is of a size that can be taken."""
        if b"origin" not in head.headers and head.one(b"sec-fetch-site") != "same-origin":
            raise RefusedError(403, _FOREIGN)
        if head.one(SECRET_HEADER) != "1" and not self.session.is_own_form(forms):
            raise RefusedError(403, _FOREIGN)
        length = head.one(b"content-length")
        if length.isdigit() and int(length) > self._most(head):
            raise too_large(self._most(head))

    def _most(self, head: Head) -> int:
        return self.caps.upload + _FRAMING if head.path in self.large else self.caps.body


def _without_secrets(query: bytes) -> tuple[bytes, list[str], list[str]]:
    """The query as the app may see it, the tokens in it, and the forms' tokens."""
    if TOKEN.encode() not in query and FORM_TOKEN.encode() not in query:
        return query, [], []
    pairs = parse_qsl(query.decode("latin-1"), keep_blank_values=True)
    rest = urlencode([pair for pair in pairs if pair[0] not in (TOKEN, FORM_TOKEN)]).encode()
    secrets: Any = [[value for name, value in pairs if name == secret] for secret in (TOKEN, FORM_TOKEN)]
    return rest, *secrets


def _is_crooked(path: str) -> bool:
    """Whether a path, its codes resolved, is more than names between single slashes."""
    return (
        not path.startswith("/")
        or "//" in path
        or "\\" in path
        or not path.isprintable()
        or any(part in (".", "..") for part in path.split("/"))
    )

"""Who may ask the page what: every request is checked here before anything else sees it.

The page listens on the loopback only, but every program of the machine can reach that, and so can every site that
its user visits, through the browser. Against sites help the Host (a name of theirs that leads to the loopback), the
Origin and the secret header or form field (their forms and scripts), the cookie (their links) and the policies of
the answers; against other users of the machine the token.
"""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Collection, Iterable
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode

from starlette.types import ASGIApp, Receive, Scope, Send

from humeval_power.doors.page.serving.exchanges import SECRET_HEADER, Exchange, Head
from humeval_power.doors.page.serving.refusals import Caps, RefusedError, too_large

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

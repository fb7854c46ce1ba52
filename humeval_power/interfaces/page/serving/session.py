"""The secrets of one run of the page: who may come in, and which forms are its own."""

from __future__ import annotations

import hmac
import secrets
import time
from collections.abc import Collection, Iterable

_BYTES = 32
_ONCE_SECONDS = 120


class Session:
    """Secrets that are drawn when the page starts and forgotten when it ends.

    The token stands in the link that the terminal shows, and lets in whoever has it. The link that a browser is
    started with has one of its own, which works once: other users of the machine can read the words that programs
    are started with. The cookie is a third secret, so that no link holds what a browser keeps.

    Parameters
    ----------
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

"""A request's body on its way in and its answer on its way out, both within the caps."""

from __future__ import annotations

import asyncio
import time
import traceback
from dataclasses import dataclass
from typing import NoReturn

from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from humeval_power.asking.output import say
from humeval_power.doors.page.serving.refusals import Caps, RefusedError, refusal, safe_headers, too_large

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

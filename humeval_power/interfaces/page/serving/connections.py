"""Connections to the page: how many, how long until a request is there, how long until an answer is taken.

uvicorn waits for ever for the head of a request and for a client that does not read, reads a body that nobody
wants to its end, and answers what is no HTTP without the headers that all our answers have.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from humeval_power.interfaces.page.serving.caps import Caps
from humeval_power.interfaces.page.serving.refusals import RefusedError, raw_refusal

_DRAIN_SECONDS, _DRAIN_BYTES = 3.0, 256_000_000
_NO_HTTP = "This is no request that the page understands, or its head is too long."
_SLOW = "The head of the request took too long to arrive."
_FULL = "Too many connections at once. Try again in a moment."


def protocol_of(caps: Caps) -> type[H11Protocol]:
    """The class of the connections of one server, which know each other."""
    return type("PageConnection", (Connection,), {"caps": caps, "others": {}})


class Connection(H11Protocol):
    """A connection that is closed when it is slow, and makes room for others while it is idle."""

    caps: Caps
    others: dict[Connection, None]  # in the order in which they came

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection; where there are too many, one that asks nothing goes."""
        self._timer: asyncio.TimerHandle | None = None
        self._slow_reader: asyncio.TimerHandle | None = None
        self._drained, self._line = -1, transport
        if len(self.others) >= self.caps.connections:
            idle = next((other for other in self.others if not other.is_busy), None)
            if idle is None:
                transport.write(raw_refusal(RefusedError(503, _FULL)))
                transport.close()
                self._refused = True
                return
            idle.drop()
        self._refused = False
        self.others[self] = None
        super().connection_made(cast(asyncio.Transport, _Line(self, transport)))
        self._await_head()

    def data_received(self, data: bytes) -> None:
        """Parse what came; after a refusal it is read a while and forgotten, so that the refusal is read."""
        if self._refused:
            return
        if self.is_draining:
            self._drained += len(data)
            if self._drained > _DRAIN_BYTES:
                self.drop()
            return
        super().data_received(data)
        if self.is_busy:
            self._stop_timer()
        elif self._timer is None and not self.is_draining:
            self._await_head()

    def eof_received(self) -> None:
        """The client will send no more."""
        if self.is_draining:
            self._line.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget it."""
        self._stop_timer()
        if self._slow_reader is not None:
            self._slow_reader.cancel()
        self.others.pop(self, None)
        if not self._refused:
            super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The client does not read: it has a while to begin."""
        super().pause_writing()
        self._watch_reader()

    def resume_writing(self) -> None:
        """The client reads again."""
        if self._slow_reader is not None:
            self._slow_reader.cancel()
            self._slow_reader = None
        super().resume_writing()

    def send_400_response(self, msg: str) -> None:  # noqa: ARG002
        """Answer what is no HTTP."""
        self._line.write(raw_refusal(RefusedError(400, _NO_HTTP)))
        self.finish()

    @property
    def is_busy(self) -> bool:
        """Whether a request is being answered."""
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def is_draining(self) -> bool:
        """Whether its answer is out, and what still comes is forgotten."""
        return self._drained >= 0

    def drop(self) -> None:
        """End it now."""
        self._line.abort()

    def finish(self) -> None:
        """End it when what was written is read; what still comes in is read and forgotten for a few seconds.

        A connection that is closed with something unread is reset, and its client may never see the answer.
        """
        self._stop_timer()
        self._watch_reader()
        if self.conn.their_state in (h11.SEND_BODY, h11.ERROR) and not self.is_draining:
            self._drained = 0
            if self._line.can_write_eof():
                self._line.write_eof()
            self._line.resume_reading()
            self._timer = self.loop.call_later(_DRAIN_SECONDS, self.drop)
        elif not self.is_draining:
            self._line.close()

    def _await_head(self) -> None:
        self._timer = self.loop.call_later(self.caps.head_seconds, self._is_late)

    def _is_late(self) -> None:
        if self._line.is_closing() or self.is_busy:
            return
        if self.conn.trailing_data[0]:
            self._line.write(raw_refusal(RefusedError(408, _SLOW)))
        self._line.close()
        self._watch_reader()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _watch_reader(self) -> None:
        if self._slow_reader is None:
            self._slow_reader = self.loop.call_later(self.caps.answer_seconds, self.drop)


class _Line:
    """A transport whose `close` is the `finish` of its connection."""

    def __init__(self, connection: Connection, transport: asyncio.Transport) -> None:
        self._connection, self._transport = connection, transport

    def close(self) -> None:
        self._connection.finish()

    def is_closing(self) -> bool:
        return self._transport.is_closing() or self._connection.is_draining

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

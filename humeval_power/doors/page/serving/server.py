"""The server of the page: on the loopback of this machine only, for as long as somebody uses it."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import socket
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from humeval_power.doors.page.serving.chosen_folder import Folder, PrivateFolder
from humeval_power.doors.page.serving.security import TOKEN, Caps, Guard, RefusedError, Session, raw_refusal
from humeval_power.doors.page.serving.uploads import Uploads
from humeval_power.errors import HumevalPowerError, InputError
from humeval_power.files.file_bytes import MAX_MB, MEGABYTE, largest_size

# Connections to the page: how many, how long until a request is there, how long until an answer is taken.

_DRAIN_SECONDS, _DRAIN_BYTES = 3.0, 256_000_000
_NO_HTTP = "This is no request that the page understands, or its head is too long."
_SLOW = "The head of the request took too long to arrive."
_FULL = "Too many connections at once. Try again in a moment."


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
        super().connection_made(cast(asyncio.Transport, _ClosingTransport(self, transport)))
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


class _ClosingTransport:
    """A transport whose `close` is the `finish` of its connection."""

    def __init__(self, connection: Connection, transport: asyncio.Transport) -> None:
        self._connection, self._transport = connection, transport

    def close(self) -> None:
        self._connection.finish()

    def is_closing(self) -> bool:
        return self._transport.is_closing() or self._connection.is_draining

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


LOOPBACK = {"127.0.0.1": socket.AF_INET, "localhost": socket.AF_INET, "::1": socket.AF_INET6}
_BACKLOG = 128
_GRACE = 2  # seconds for answers that are under way when the server ends
_SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)
]


@dataclass(slots=True)
class State:
    """What the app of the page is made with.

    folder : whose files it may open.
    uploads : what browsers send.
    private : a folder of its own, which ends with the server.
    form_token : what a form that works without scripts is posted with, as `_form` in its link.
    is_busy : whether work is under way; the app sets it, and the server does not end before.
    """

    folder: Folder
    uploads: Uploads
    private: Path
    form_token: str
    is_busy: Callable[[], bool] = field(default=lambda: False)


def serve(
    make_app: Callable[[State], ASGIApp],
    *,
    host: str,
    port: int,
    idle: float,
    folder: str | Path,
    open_browser: bool,
    tell: Callable[[str], None],
    caps: Caps | None = None,
) -> None:
    """Serve the page until it is interrupted or nobody has used it for `idle` minutes.

    make_app : the ASGI app of a state; its lifespan begins and ends what it needs.
    host, port : where to listen: 127.0.0.1, localhost or ::1; port 0 takes any that is free.
    tell : is called with the link when the server listens, and with why it ends.
    Raises InputError: another host, no such folder, or a port that is taken.
    """
    chosen, caps = Folder(folder), caps or default_caps()
    with _listening(host, port) as listener:
        held = PrivateFolder()
        try:
            port = listener.getsockname()[1]
            session = Session(port)
            state = State(chosen, Uploads(held.path / "uploads", caps), held.path, session.form_token)
            guard = Guard(make_app(state), session, port=port, caps=caps)
            start = f"http://{'[::1]' if host == '::1' else '127.0.0.1'}:{port}/"
            server = _Server(_config(guard, caps), guard, state, idle_seconds=60 * idle, tell=tell)
            server.once_started = lambda: _show(start, session, tell, open_browser=open_browser)
            asyncio.run(server.serve(sockets=[listener]))
        finally:
            held.close()


def default_caps(max_upload: int | None = None) -> Caps:
    """The caps with another size of uploads in megabytes; what commands read at most follows it upwards."""
    if max_upload is None:
        return replace(Caps(), upload=largest_size())
    if max_upload * MEGABYTE > largest_size():
        os.environ[MAX_MB] = str(max_upload)  # for the processes that read them
    size = max_upload * MEGABYTE
    return replace(Caps(), upload=size, uploads=max(Caps().uploads, 2 * size))


def _config(guard: Guard, caps: Caps) -> uvicorn.Config:
    return uvicorn.Config(
        guard,
        http=type("PageConnection", (Connection,), {"caps": caps, "others": {}}),  # which know each other
        ws="none",
        loop="asyncio",
        lifespan="on",
        interface="asgi3",
        workers=1,
        access_log=False,  # links hold the state of a study
        log_config=None,
        log_level="critical",
        proxy_headers=False,  # it would believe what a client says of itself
        server_header=False,
        date_header=False,
        backlog=_BACKLOG,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=_GRACE,
        h11_max_incomplete_event_size=caps.link + caps.head + 1_024,
    )


@contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    """A socket that is bound to the loopback and listens."""
    if host not in LOOPBACK:
        raise InputError(
            f"The page is for this machine only: --host takes {', '.join(LOOPBACK)}; got {host!r}. From another "
            "machine use a tunnel: ssh -L 8123:127.0.0.1:8123 MACHINE, and here --port 8123."
        )
    address = "::1" if host == "::1" else "127.0.0.1"
    with socket.socket(LOOPBACK[host], socket.SOCK_STREAM) as listener:
        if sys.platform == "win32":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_EXCLUSIVEADDRUSE, 1)
        else:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((address, port))
            listener.listen(_BACKLOG)
        except OSError as error:
            raise InputError(_not_bound(error, address, port)) from None
        yield listener


def _not_bound(error: OSError, address: str, port: int) -> str:
    if error.errno == errno.EADDRINUSE:
        return f"Port {port} is taken by another program: choose another --port, or leave it out."
    if error.errno == errno.EACCES:
        return f"Port {port} is for the administrator: choose a --port from 1024."
    return f"The page cannot listen at {address}: {error.strerror or error}."


class _Server(uvicorn.Server):
    """uvicorn's server, which ends quietly on a signal and when nobody uses it."""

    once_started: Callable[[], None]

    def __init__(
        self,
        config: uvicorn.Config,
        guard: Guard,
        state: State,
        *,
        idle_seconds: float,
        tell: Callable[[str], None],
    ) -> None:
        super().__init__(config)
        self._guard, self._state, self._idle_seconds, self._tell = guard, state, idle_seconds, tell

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin, and say so. Raises HumevalPowerError: the app could not begin."""
        try:
            await super().startup(sockets)
        except SystemExit:
            raise HumevalPowerError("The page could not begin; what went wrong is above.") from None
        self.once_started()

    async def on_tick(self, counter: int) -> bool:
        """Whether to end."""
        guard = self._guard
        if guard.running or self._state.is_busy():
            guard.last_used = time.monotonic()
        elif time.monotonic() - guard.last_used > self._idle_seconds and not self.should_exit:
            self._tell(f"Nobody has used the page for {self._idle_seconds / 60:g} minutes: it has ended.")
            self.should_exit = True
        return await super().on_tick(counter)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """End on a signal without raising it again: that would leave no time to clear up."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _show(start: str, session: Session, tell: Callable[[str], None], *, open_browser: bool) -> None:
    tell(f"The page is at {start}?{TOKEN}={session.token}")
    if open_browser and _has_screen():
        link = f"{start}?{TOKEN}={session.token_for_once()}"
        threading.Thread(target=webbrowser.open, args=(link,), daemon=True).start()


def _has_screen() -> bool:
    """Whether a browser has where to open; one for terminals would take this one over."""
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))

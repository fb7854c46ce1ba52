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

import uvicorn
from starlette.types import ASGIApp

from humeval_power.errors import HumevalPowerError, InputError
from humeval_power.interfaces.formats.size_limits import MAX_MB, MEGABYTE, largest_size
from humeval_power.interfaces.page.serving.caps import Caps
from humeval_power.interfaces.page.serving.chosen_folder import Folder
from humeval_power.interfaces.page.serving.connections import protocol_of
from humeval_power.interfaces.page.serving.private_folder import PrivateFolder
from humeval_power.interfaces.page.serving.security import TOKEN, Guard
from humeval_power.interfaces.page.serving.session import Session
from humeval_power.interfaces.page.serving.uploads import Uploads

LOOPBACK = {"127.0.0.1": socket.AF_INET, "localhost": socket.AF_INET, "::1": socket.AF_INET6}
_BACKLOG = 128
_GRACE = 2  # seconds for answers that are under way when the server ends
_SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if hasattr(signal, name)
]


def _never() -> bool:
    return False


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
    is_busy: Callable[[], bool] = field(default=_never)


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

    Parameters
    ----------
    make_app : the ASGI app of a state; its lifespan begins and ends what it needs.
    host, port : where to listen: 127.0.0.1, localhost or ::1; port 0 takes any that is free.
    tell : is called with the link when the server listens, and with why it ends.

    Raises
    ------
    InputError
        Another host, no such folder, or a port that is taken.
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
        http=protocol_of(caps),
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
        """Begin, and say so.

        Raises
        ------
        HumevalPowerError
            The app could not begin.
        """
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

"""The page as it is opened: the application with its workers, which live as long as the server."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from humeval_power.interfaces.page.app import Parts, make_app
from humeval_power.interfaces.page.server import State
from humeval_power.interfaces.page.workers import Workers


def make_page(state: State) -> ASGIApp:
    """The application for `serve`; while a worker is busy the server does not end for want of use."""
    workers = Workers(scratch=state.private)
    state.is_busy = lambda: workers.is_busy
    return _WithWorkers(
        make_app(Parts(workers, state.uploads, state.private, state.form_token, state.folder)), workers
    )


class _WithWorkers:
    """An app whose workers start and end with the server."""

    def __init__(self, app: ASGIApp, workers: Workers) -> None:
        self._app, self._workers = app, workers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            await self._app(scope, receive, send)
            return
        await receive()
        await self._workers.start()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await self._workers.close()
        await send({"type": "lifespan.shutdown.complete"})

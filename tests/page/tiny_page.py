"""An app that shows what it was asked: enough to see what comes through the checks."""

import asyncio
from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from humeval_power.doors.page.serving.security import RefusedError
from humeval_power.doors.page.serving.server import State


def make_app(state: State) -> Starlette:
    async def home(request: Request) -> Response:
        return JSONResponse({"query": str(request.url.query), "cookies": len(request.cookies)})

    async def upload(request: Request) -> Response:
        (found,) = await state.uploads.take(request)
        return JSONResponse({"file": found.reference, "size": found.size})

    async def echo(request: Request) -> Response:
        return PlainTextResponse(
            str(len(await request.body())), headers={"access-control-allow-origin": "*"}
        )

    async def form_token(_request: Request) -> Response:
        return PlainTextResponse(state.form_token)

    async def broken(_request: Request) -> Response:
        raise ValueError("\x1b[31m" + "it broke")

    async def large(_request: Request) -> Response:
        async def pieces() -> AsyncIterator[bytes]:
            for _ in range(400):
                yield b"x" * 100_000

        return StreamingResponse(pieces())

    async def slow(_request: Request) -> Response:
        await asyncio.sleep(1.2)
        return PlainTextResponse("done")

    async def refused(_request: Request, error: Exception) -> Response:
        assert isinstance(error, RefusedError)
        return JSONResponse({"problems": [{"text": error.text}]}, status_code=error.status)

    return Starlette(
        routes=[
            Route("/", home),
            Route("/static/page.css", home),
            Route("/upload", upload, methods=["POST"]),
            Route("/echo", echo, methods=["POST", "GET"]),
            Route("/form", form_token),
            Route("/broken", broken),
            Route("/large", large),
            Route("/slow", slow),
        ],
        exception_handlers={RefusedError: refused},
    )

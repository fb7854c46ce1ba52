"""The page as a web application: links in, pages and answers out; what is computed, workers compute."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from threading import Event
from urllib.parse import urlencode

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from humeval_power.asking.form import Form
from humeval_power.doors.page import views
from humeval_power.doors.page.answers import Wrong
from humeval_power.doors.page.requests import FORMS, CommandRequest, PageParts, offered, request_of, work_of
from humeval_power.doors.page.responses import (
    AnswerRequests,
    JobNotes,
    back,
    broken,
    not_there,
    refused,
    static,
)
from humeval_power.doors.page.score_reading import (
    ASKS,
    COMPARE,
    JUDGE,
    ScoreColumns,
    columns_in,
    completed,
    link_of,
    link_of_battles,
    with_roles,
)
from humeval_power.doors.page.serving.security import RefusedError
from humeval_power.doors.page.serving.server import State
from humeval_power.doors.page.views import RUN, AnswerState, Surroundings, can_begin
from humeval_power.doors.page.whole_study import StudyPages
from humeval_power.doors.page.working.jobs import Workers, WorkLimits
from humeval_power.doors.page.workspace.pages import Workspace
from humeval_power.doors.page.workspace.studies import new_seed
from humeval_power.errors import HumevalPowerError, InputError

# Commands whose order tells the systems apart: a link without a seed gets one that nobody knows.
_SECRET_SEEDS = {("assign",)}
_JOBS = 2  # at once: a table can be looked at while a long simulation runs
_OF_LOGS = (("compare", "scores"), ("accuracy", "test"), ("rank", "scores"), ("runs", "test"), ("import",))
_LIMITS = WorkLimits(alone_seconds=600.0)  # a page that is open asks several times a minute


def make_page(state: State) -> ASGIApp:
    """The application for `serve`; while a worker is busy the server does not end for want of use."""
    workers = Workers(n_jobs=_JOBS, limits=_LIMITS, scratch=state.private)
    state.is_busy = lambda: workers.is_busy
    return make_app(PageParts(workers, state.uploads, state.private, state.form_token, state.folder))


def make_app(parts: PageParts) -> Starlette:
    """The application; security stands before it."""
    begun = JobNotes(parts)
    page = _Page(parts, begun)
    result = [
        Route("/all", page.all_questions),
        Route("/logs", page.logs),
        Route("/scores", page.scores),
        Route("/static/{name}", static),
        Route("/upload", page.upload, methods=["POST"]),
        Route("/job/{key}", page.job),
        Route("/job/{key}/stop", page.stop, methods=["POST"]),
        Route("/job/{key}/leave", page.leave, methods=["POST"]),
        *AnswerRequests(parts, begun).routes,
        *StudyPages(parts).routes,
        *Workspace(parts).routes,
    ]
    for form in FORMS.values():
        result += [
            Route(form.path, partial(page.form, form)),
            Route(f"/live{form.path}", partial(page.live, form)),
            Route(f"{RUN}{form.path}", partial(page.run, form)),
            Route(f"/job{form.path}", partial(page.begin, form), methods=["POST"]),
        ]

    @asynccontextmanager
    async def working(_app: Starlette) -> AsyncIterator[None]:
        await parts.workers.start()
        ending = Event()

        def load_commands() -> None:
            for form in FORMS.values():
                if not ending.is_set():
                    offered(form.command, form.hides)

        loading = asyncio.create_task(run_in_threadpool(load_commands))  # takes seconds
        try:
            yield
        finally:
            ending.set()
            await loading
            await parts.workers.close()

    return Starlette(
        routes=result,
        lifespan=working,
        exception_handlers={
            404: not_there,
            405: not_there,
            HumevalPowerError: refused,
            RefusedError: refused,
            500: broken,
        },
    )


class _Page:
    """The requests that need the parts."""

    def __init__(self, parts: PageParts, begun: JobNotes) -> None:
        self._parts, self._begun = parts, begun

    @property
    def _around(self) -> Surroundings:
        folder = self._parts.folder
        files = (*self._parts.uploads.references(), *(folder.listing() if folder else ()))
        return Surroundings(self._parts.form_token, files, folder is not None)

    async def all_questions(self, _request: Request) -> Response:
        """Every command that has a page."""
        return HTMLResponse(views.rendered("all.html", title="All questions"))

    async def logs(self, _request: Request) -> Response:
        """The programs whose logs are read, and the pages that take them."""
        from humeval_power.files.logs.reading import HARNESSES

        asks = [FORMS[words] for words in _OF_LOGS]
        return HTMLResponse(
            views.rendered("logs.html", title="I have logs", harnesses=HARNESSES, asks=asks)
        )

    async def scores(self, request: Request) -> Response:
        """Scores or logs were brought: to the page that they are for, with the columns that were recognised."""
        files = request.query_params.getlist("files")
        if not files:
            raise InputError("Bring scores or logs first.")
        columns = await columns_in(self._parts, files)
        if columns is not None and columns.are_battles and len(files) == 1:
            return RedirectResponse(link_of_battles(files[0]), status_code=303)
        if columns is not None and columns.is_of_workers and columns.ask != JUDGE and len(files) == 1:
            return RedirectResponse(f"/have?{urlencode({'ratings': files[0]})}", status_code=303)
        return RedirectResponse(
            link_of(columns.ask if columns else COMPARE, files, columns), status_code=303
        )

    async def form(self, form: Form, request: Request) -> Response:
        """The page of a command: what its link asks is answered with it, by formula where that is quick."""
        query = request.query_params.multi_items()
        command, said = with_roles(form.command, query)
        if form.command in _SECRET_SEEDS and not any(name == "seed" for name, _ in query):
            said = [*(said or form.start), ("seed", str(new_seed()))]
        if said != query:
            return RedirectResponse(CommandRequest(command, tuple(said)).link, status_code=303)
        question, wrong = await _request_of(form, query or list(form.start))
        if not can_begin(form) and all(one in form.start or one[0] == "seed" for one in query):
            return self._page(form, question, AnswerState("idle", wrong=wrong))
        question, columns = await self._read(form, question)
        if not form.moves:
            if _is_costly(form):
                return self._page(form, question, self._known(form, question, wrong))
            return await self._computed(form, question, wrong, columns)
        return self._page(form, question, await self._live(form, question, wrong, tab=""), columns)

    async def _read(
        self, form: Form, request: CommandRequest
    ) -> tuple[CommandRequest, ScoreColumns | None]:
        """A request with the columns of its file of scores, which complete it."""
        files = request.values(ASKS[form.command].files) if form.command in ASKS else ()
        columns = await columns_in(self._parts, files)
        return (request if columns is None else completed(request, columns)), columns

    async def live(self, form: Form, request: Request) -> Response:
        """The answer that moves; 204 where a newer one of the same tab has been asked."""
        question, wrong = await _request_of(form, request.query_params.multi_items())
        shown = await self._live(form, question, wrong, tab=request.headers.get("x-tab", ""))
        if shown.state == "live" and shown.answer is None and not shown.problems:
            return Response(status_code=204)
        return self._json(form, question, shown)

    async def run(self, form: Form, request: Request) -> Response:
        """The same page with the answer computed in full."""
        question, wrong = await _request_of(form, request.query_params.multi_items() or list(form.start))
        question, columns = await self._read(form, question)
        return await self._computed(form, question, wrong, columns)

    async def begin(self, form: Form, request: Request) -> Response:
        """Begin to compute an answer in full, or say how far it is."""
        question, wrong = await _request_of(form, request.query_params.multi_items())
        shown = self._job(form, question, wrong)
        return self._json(form, question, shown)

    async def job(self, request: Request) -> Response:
        """How far a job is, or its answer."""
        key = request.path_params["key"]
        form, question = self._begun.of(key)
        job = self._parts.workers.job_of(key)
        if job is not None:
            await job.soon()
        return self._json(form, question, self._begun.shown(key))

    async def stop(self, request: Request) -> Response:
        """Stop a job; what it has finished is kept."""
        key = request.path_params["key"]
        form, question = self._begun.of(key)
        self._parts.workers.stop(key)
        if "back" in request.query_params:
            return back(request)
        return self._json(form, question, self._begun.shown(key))

    async def leave(self, request: Request) -> Response:
        """The page of a job is left: what nobody waits for is not computed."""
        self._parts.workers.leave(request.path_params["key"])
        return Response(status_code=204)

    async def upload(self, request: Request) -> Response:
        """Keep what is brought, by the script or by a form without it, which goes back with the files set."""
        brought = [one.reference for one in await self._parts.uploads.take(request)]
        option = request.query_params.get("option", "")
        if "back" in request.query_params:
            return back(request, **({option: brought} if option else {}))
        return JSONResponse({"values": brought})

    async def _live(
        self, form: Form, request: CommandRequest, wrong: tuple[Wrong, ...], *, tab: str
    ) -> AnswerState:
        if wrong:
            return AnswerState("live", wrong=wrong)
        ready = self._parts.workers.readiness
        if not ready.live:
            return AnswerState(
                "starting", progress=ready.progress, wrong=(Wrong(ready.problem),) if ready.problem else ()
            )
        try:
            work = work_of(
                self._parts, request.with_options(**form.live) if form.live else request, form.hides
            )
        except InputError as error:
            return AnswerState("live", wrong=_wrongs(error))
        return AnswerState("live", answer=await self._parts.workers.live(work, tab))

    async def _computed(
        self,
        form: Form,
        request: CommandRequest,
        wrong: tuple[Wrong, ...],
        columns: ScoreColumns | None = None,
    ) -> Response:
        shown = self._job(form, request, wrong)
        if shown.state in ("waiting", "running"):
            job = self._parts.workers.job_of(shown.key)
            if job is not None:
                await job.soon()
            shown = self._begun.shown(shown.key)
        return self._page(form, request, shown, columns)

    def _known(self, form: Form, request: CommandRequest, wrong: tuple[Wrong, ...]) -> AnswerState:
        """What there is of an answer that is begun by a button alone."""
        try:
            key = work_of(self._parts, request, form.hides).key
        except InputError as error:
            wrong = (*wrong, *_wrongs(error))
        return AnswerState("idle", wrong=wrong) if wrong else self._begun.shown(key)

    def _job(self, form: Form, request: CommandRequest, wrong: tuple[Wrong, ...]) -> AnswerState:
        if wrong:
            return AnswerState("idle", wrong=wrong)
        try:
            work = work_of(self._parts, request, form.hides)
        except InputError as error:
            return AnswerState("idle", wrong=_wrongs(error))
        return self._begun.shown(self._begun.begin(form, request, work))

    def _page(
        self,
        form: Form,
        request: CommandRequest,
        shown: AnswerState,
        columns: ScoreColumns | None = None,
    ) -> Response:
        return HTMLResponse(views.form_page(form, request, shown, self._around, columns))

    def _json(self, form: Form, request: CommandRequest, shown: AnswerState) -> Response:
        return JSONResponse(views.answer_json(form, request, shown, self._around))


def _is_costly(form: Form) -> bool:
    """Whether an answer is simulated, and not of ratings that are there: it is begun by a button, not by a look."""
    options = offered(form.command, form.hides)
    return "simulations" in options and "ratings" not in options


async def _request_of(form: Form, query: list[tuple[str, str]]) -> tuple[CommandRequest, tuple[Wrong, ...]]:
    """What a link asks, and what is wrong with the link."""
    await run_in_threadpool(offered, form.command, form.hides)  # its options may still be loaded
    try:
        return request_of(form.command, with_roles(form.command, query)[1], form.hides), ()
    except InputError as error:
        return CommandRequest(form.command), _wrongs(error)


def _wrongs(error: InputError) -> tuple[Wrong, ...]:
    return tuple(Wrong(str(problem)) for problem in error.problems)

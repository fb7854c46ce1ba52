"""The page as a web application: links in, pages and answers out; what is computed, workers compute."""

from __future__ import annotations

import asyncio
import hashlib
import io
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Event
from typing import Protocol
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from humeval_power.errors import HumevalPowerError, InputError
from humeval_power.interfaces.page import views
from humeval_power.interfaces.page.answers import ANSWER, BESIDE, Answer, Told, Work, Wrong
from humeval_power.interfaces.page.asked import Asked, asked_of, files_asked, offered, upload_of, words_of
from humeval_power.interfaces.page.fields import can_begin
from humeval_power.interfaces.page.forms import FORMS
from humeval_power.interfaces.page.forms.form import Form
from humeval_power.interfaces.page.serving.refusals import RefusedError
from humeval_power.interfaces.page.views import RUN, Shown, State, Surroundings
from humeval_power.interfaces.page.whole_study.pages import StudyPages
from humeval_power.interfaces.page.working.crew import TooManyError
from humeval_power.interfaces.writing.file_sets import write_files
from humeval_power.safe_text import file_stems

_HERE = Path(__file__).parent
_DOCUMENT_STYLE = _HERE.parents[1] / "reporting" / "render" / "templates" / "page.css"
_STATIC = {
    "page.css": (_HERE / "static" / "page.css", "text/css"),
    "page.js": (_HERE / "static" / "page.js", "text/javascript"),
    "icon.svg": (_HERE / "static" / "icon.svg", "image/svg+xml"),
    "document.css": (_DOCUMENT_STYLE, "text/css"),
}
_PRIVATE = "-private"  # what a command wrote beside its answer
_SOON = 0.4  # seconds that a page waits for a job that may be short


class Job(Protocol):
    """A command that is computed in full."""

    @property
    def state(self) -> State: ...
    @property
    def told(self) -> Told | None: ...
    @property
    def answer(self) -> Answer | None: ...
    @property
    def place(self) -> int: ...
    async def wait(self, timeout: float) -> None: ...


class Readiness(Protocol):
    """How far the processes are: whether one for live answers is ready, what they do meanwhile, why never."""

    @property
    def live(self) -> bool: ...
    @property
    def told(self) -> Told | None: ...
    @property
    def problem(self) -> str: ...


class Workers(Protocol):
    """Processes that run commands."""

    @property
    def readiness(self) -> Readiness: ...
    async def start(self) -> None: ...
    async def close(self) -> None: ...

    async def live(self, work: Work, tab: str) -> Answer | None: ...
    def job(self, key: str, work: Work) -> Job: ...
    def job_of(self, key: str) -> Job | None: ...
    def stop(self, key: str) -> None: ...


class Upload(Protocol):
    """A file that was brought."""

    @property
    def reference(self) -> str: ...


class Uploads(Protocol):
    """Files that were brought, for as long as the server runs."""

    async def take(self, request: Request) -> Upload: ...
    def path_of(self, name: str, digits: str) -> Path: ...
    def adopt(self, name: str, path: Path) -> Upload: ...
    def references(self) -> tuple[str, ...]: ...


class Folder(Protocol):
    """The folder that the page was opened in."""

    def resolve(self, named: str) -> Path: ...
    def target(self, named: str) -> Path: ...
    def listing(self) -> tuple[str, ...]: ...


@dataclass(frozen=True, slots=True)
class Parts:
    """What the application is made of: workers, uploads, the folder if any, a private folder for answers, and the
    token that every form sends."""

    workers: Workers
    uploads: Uploads
    private: Path
    form_token: str
    folder: Folder | None = None


def make_app(parts: Parts) -> Starlette:
    """The application; security stands before it."""
    page = _Page(parts)
    study = StudyPages(parts, partial(page.work_of, FORMS[("plan",)]), page.folder_of)
    found = [Route("/", page.home), Route("/static/{name}", _static)]
    found += [
        Route("/upload", page.upload, methods=["POST"]),
        Route("/job/{key}", page.job),
        Route("/job/{key}/stop", page.stop, methods=["POST"]),
        Route("/take/{name}", page.take),
        Route("/save/{key}", page.save, methods=["POST"]),
        *study.routes,
    ]
    for form in FORMS.values():
        found += [
            Route(form.path, partial(page.form, form)),
            Route(f"/live{form.path}", partial(page.live, form)),
            Route(f"{RUN}{form.path}", partial(page.run, form)),
            Route(f"/job{form.path}", partial(page.begin, form), methods=["POST"]),
        ]

    @asynccontextmanager
    async def working(_app: Starlette) -> AsyncIterator[None]:
        await parts.workers.start()
        ending = Event()
        loading = asyncio.create_task(run_in_threadpool(_load_commands, ending))  # takes seconds
        try:
            yield
        finally:
            ending.set()
            await loading
            await parts.workers.close()

    return Starlette(
        routes=found,
        lifespan=working,
        exception_handlers={
            404: _not_there,
            405: _not_there,
            HumevalPowerError: _refused,
            RefusedError: _refused,
            500: _broken,
        },
    )


def _load_commands(ending: Event) -> None:
    for form in FORMS.values():
        if ending.is_set():
            return
        offered(form.command, form.hides)


class _Page:
    """The requests that need the parts."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._asked: dict[str, tuple[Form, Asked]] = {}  # of the jobs, by their keys

    @property
    def _around(self) -> Surroundings:
        folder = self._parts.folder
        files = (*self._parts.uploads.references(), *(folder.listing() if folder else ()))
        return Surroundings(self._parts.form_token, files, folder is not None)

    async def home(self, _request: Request) -> Response:
        """The first page."""
        return HTMLResponse(views.home_page(self._around))

    async def form(self, form: Form, request: Request) -> Response:
        """The page of a command: what its link asks is answered with it, by formula where that is quick."""
        query = request.query_params.multi_items()
        asked, wrong = await _asked(form, query or list(form.start))
        if not query and not can_begin(form):
            return self._page(form, asked, Shown("idle", wrong=wrong))
        if not form.moves:
            return await self._computed(form, asked, wrong)
        return self._page(form, asked, await self._live(form, asked, wrong, tab=""))

    async def live(self, form: Form, request: Request) -> Response:
        """The answer that moves; 204 where a newer one of the same tab has been asked."""
        asked, wrong = await _asked(form, request.query_params.multi_items())
        shown = await self._live(form, asked, wrong, tab=request.headers.get("x-tab", ""))
        if shown.state == "live" and shown.answer is None and not shown.problems:
            return Response(status_code=204)
        return self._json(form, asked, shown)

    async def run(self, form: Form, request: Request) -> Response:
        """The same page with the answer computed in full."""
        asked, wrong = await _asked(form, request.query_params.multi_items() or list(form.start))
        return await self._computed(form, asked, wrong)

    async def begin(self, form: Form, request: Request) -> Response:
        """Begin to compute an answer in full, or say how far it is."""
        asked, wrong = await _asked(form, request.query_params.multi_items())
        shown = self._begun(form, asked, wrong)
        return self._json(form, asked, shown)

    async def job(self, request: Request) -> Response:
        """How far a job is, or its answer."""
        key = request.path_params["key"]
        form, asked = self._of(key)
        job = self._parts.workers.job_of(key)
        if job is not None and job.state in ("waiting", "running"):
            await job.wait(_SOON)
        return self._json(form, asked, self._shown(key))

    async def stop(self, request: Request) -> Response:
        """Stop a job; what it has finished is kept."""
        key = request.path_params["key"]
        form, asked = self._of(key)
        self._parts.workers.stop(key)
        if "back" in request.query_params:
            return _back(request)
        return self._json(form, asked, self._shown(key))

    async def upload(self, request: Request) -> Response:
        """Keep a file that is brought, by the script or by a form without it, which goes back with the file set."""
        upload = await self._parts.uploads.take(request)
        option = request.query_params.get("option", "")
        if "back" in request.query_params:
            return _back(request, **({option: upload.reference} if option else {}))
        return JSONResponse({"value": upload.reference})

    async def take(self, request: Request) -> Response:
        """An answer as one HTML file, or all of its files in a zip."""
        stem, _, ending = str(request.path_params["name"]).rpartition(".")
        key = stem.removesuffix(_PRIVATE)
        form, _asked_for = self._of(key)
        folder = self.folder_of(key) if key == stem else self._beside(key)
        if ending not in ("html", "zip")[key != stem :] or not folder.is_dir():
            return _not_there(request, Exception())
        name = f"{'-'.join(form.command)}{stem.removeprefix(key)}.{ending}"
        read = _zipped if ending == "zip" else _index
        content = await run_in_threadpool(read, folder)
        kind = "application/zip" if ending == "zip" else "text/html; charset=utf-8"
        return Response(
            content, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'}
        )

    async def save(self, request: Request) -> Response:
        """Write the files of an answer into the folder that the page was opened in."""
        key = request.path_params["key"]
        self._of(key)
        folder = self._parts.folder
        if folder is None:
            raise InputError("The page was opened without a folder: take the files as a zip instead.")
        async with request.form(max_files=0, max_fields=8) as sent:
            name = str(sent.get("name") or "")
        name = file_stems([name], nameless="answer")[0]
        to = {self.folder_of(key): folder.target(name), self._beside(key): folder.target(name + _PRIVATE)}
        contents: dict[Path, str | bytes] = {
            place / path.relative_to(source): path.read_bytes()
            for source, place in to.items()
            for path in source.rglob("*")
            if path.is_file()
        }
        await run_in_threadpool(partial(write_files, contents, force=False, say=lambda _text: None))
        return _back(request)

    async def _live(self, form: Form, asked: Asked, wrong: tuple[Wrong, ...], *, tab: str) -> Shown:
        if wrong:
            return Shown("live", wrong=wrong)
        ready = self._parts.workers.readiness
        if not ready.live:
            return Shown(
                "starting", told=ready.told, wrong=(Wrong(ready.problem),) if ready.problem else ()
            )
        try:
            work = self.work_of(form, asked.with_options(**form.live) if form.live else asked)
        except InputError as error:
            return Shown("live", wrong=_wrongs(error))
        return Shown("live", answer=await self._parts.workers.live(work, tab))

    async def _computed(self, form: Form, asked: Asked, wrong: tuple[Wrong, ...]) -> Response:
        shown = self._begun(form, asked, wrong)
        if shown.state in ("waiting", "running"):
            job = self._parts.workers.job_of(shown.key)
            if job is not None:
                await job.wait(_SOON)
            shown = self._shown(shown.key)
        return self._page(form, asked, shown)

    def _begun(self, form: Form, asked: Asked, wrong: tuple[Wrong, ...]) -> Shown:
        if wrong:
            return Shown("idle", wrong=wrong)
        try:
            work = self.work_of(form, asked)
        except InputError as error:
            return Shown("idle", wrong=_wrongs(error))
        key = hashlib.sha256(repr(work).encode()).hexdigest()[:32]
        self._asked[key] = (form, asked)
        self._parts.workers.job(key, Work(work.words, work.files, str(self.folder_of(key))))
        return self._shown(key)

    def _shown(self, key: str) -> Shown:
        job = self._parts.workers.job_of(key)
        if job is None:
            return Shown("idle")
        brought: dict[str, str] = {}
        apart: tuple[str, ...] = ()
        if job.state == "done" and job.answer is not None:
            form, folder, beside = self._of(key)[0], self.folder_of(key), self._beside(key)
            wanted = {
                name for step in form.next for name in (*step.brings.values(), *step.may_bring.values())
            }
            apart = tuple(sorted(path.name for path in beside.rglob("*") if path.is_file()))
            brought = {
                name: self._parts.uploads.adopt(name, place / name).reference
                for name in wanted
                for place in (folder, beside)
                if (place / name).is_file()
            }
        return Shown(job.state, key, job.told, job.place, job.answer, brought=brought, beside=apart)

    def work_of(self, form: Form, asked: Asked) -> Work:
        """The words of what is asked and the files that they name.

        Raises
        ------
        InputError
            Files that are not here.
        """
        files: dict[str, str] = {}
        names: dict[str, str] = {}
        for value in files_asked(asked, form.hides):
            name, path = self._found(value)
            while name in files and files[name] != path:
                name = f"again-{name}"
            names[value], files[name] = name, path
        words = words_of(asked, form.hides, lambda value: names[value])
        return Work(words, tuple(files.items()))

    def _found(self, value: str) -> tuple[str, str]:
        """The name of a file for the command, and where its bytes are."""
        upload = upload_of(value)
        if upload is not None:
            return upload[0], str(self._parts.uploads.path_of(*upload))
        if self._parts.folder is None:
            raise InputError(f"{value!r}: the page was opened without a folder. Bring the file itself.")
        return value, str(self._parts.folder.resolve(value))

    def folder_of(self, key: str) -> Path:
        """Where the files of an answer are written."""
        return self._parts.private / "answers" / key / ANSWER

    def _beside(self, key: str) -> Path:
        return self.folder_of(key).with_name(BESIDE)

    def _of(self, key: str) -> tuple[Form, Asked]:
        found = self._asked.get(key)
        if found is None:
            raise InputError("This answer is not here any more. Open its link again: it is computed anew.")
        return found

    def _page(self, form: Form, asked: Asked, shown: Shown) -> Response:
        return HTMLResponse(views.form_page(form, asked, shown, self._around))

    def _json(self, form: Form, asked: Asked, shown: Shown) -> Response:
        return JSONResponse(views.answer_json(form, asked, shown, self._around))


async def _asked(form: Form, query: list[tuple[str, str]]) -> tuple[Asked, tuple[Wrong, ...]]:
    """What a link asks, and what is wrong with the link."""
    await run_in_threadpool(offered, form.command, form.hides)  # its options may still be loaded
    try:
        return asked_of(form.command, query, form.hides), ()
    except InputError as error:
        return Asked(form.command), _wrongs(error)


def _wrongs(error: InputError) -> tuple[Wrong, ...]:
    return tuple(Wrong(str(problem)) for problem in error.problems)


def _back(request: Request, **options: str) -> Response:
    """To where a form was, with these options set; only to pages of this application."""
    place = urlsplit(request.query_params.get("back", "/"))
    path = "/" + place.path.lstrip("/\\")
    query = [(name, value) for name, value in parse_qsl(place.query) if name not in options]
    text = urlencode([*query, *options.items()])
    return RedirectResponse(path + (f"?{text}" if text else ""), status_code=303)


def _index(folder: Path) -> bytes:
    return (folder / "index.html").read_bytes()


def _zipped(folder: Path) -> bytes:
    """The files of a folder in a zip that is the same each time."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                info = zipfile.ZipInfo(f"{folder.name}/{path.relative_to(folder).as_posix()}")
                info.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(info, path.read_bytes())
    return content.getvalue()


async def _static(request: Request) -> Response:
    found = _STATIC.get(request.path_params["name"])
    if found is None:
        return _not_there(request, Exception())
    path, kind = found
    return Response(path.read_bytes(), media_type=kind)


def _not_there(_request: Request, _error: Exception) -> Response:
    text = "There is no page of this name. Begin at the start: every page is named there."
    return HTMLResponse(views.error_page("Not found", text), status_code=404)


def _refused(request: Request, error: Exception) -> Response:
    """What was asked is wrong, or more than this machine takes: in words, for the script as JSON."""
    status = 503 if isinstance(error, TooManyError) else getattr(error, "status", 422)
    if request.headers.get("accept", "").startswith("application/json"):
        return JSONResponse({"problems": [{"text": str(error), "option": ""}]}, status_code=status)
    return HTMLResponse(views.error_page("This does not work", str(error)), status_code=status)


def _broken(request: Request, _error: Exception) -> Response:
    text = "Something went wrong in the page itself; nothing of yours is lost. Go back and try again."
    if request.headers.get("accept", "").startswith("application/json"):
        return JSONResponse({"problems": [{"text": text, "option": ""}]}, status_code=500)
    return HTMLResponse(views.error_page("A fault of the page", text), status_code=500)

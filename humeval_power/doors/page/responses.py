"""Responses that many requests share: the way back, what is not there, what is refused, what is broken."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlencode, urlsplit
from weakref import WeakKeyDictionary

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from humeval_power.asking.form import Form
from humeval_power.doors.page import views
from humeval_power.doors.page.answers import Work
from humeval_power.doors.page.requests import CommandRequest, PageParts
from humeval_power.doors.page.views import AnswerState
from humeval_power.doors.page.working.worker_link import TooManyError
from humeval_power.errors import InputError
from humeval_power.files.file_sets import write_files
from humeval_power.safe_text import file_stems

if TYPE_CHECKING:
    from humeval_power.doors.page.working.jobs import Job


_KINDS = {"zip": "application/zip", "html": "text/html; charset=utf-8"}


def back(request: Request, **options: Sequence[str]) -> Response:
    """To where a form was, with these options set; only to pages of this application."""
    place = urlsplit(request.query_params.get("back", "/"))
    path = "/" + place.path.lstrip("/\\")
    query = [(name, value) for name, value in parse_qsl(place.query) if name not in options]
    text = urlencode([*query, *((name, value) for name, values in options.items() for value in values)])
    return RedirectResponse(path + (f"?{text}" if text else ""), status_code=303)


def wants_json(request: Request) -> bool:
    """Whether the script of a page asks."""
    return request.headers.get("accept", "").startswith("application/json")


def attachment(content: bytes, name: str, kind: str = "") -> Response:
    """A file to be kept under this name, and never shown in the place of a page."""
    kind = kind or _KINDS[name.rpartition(".")[2]]
    named = f'filename="{name}"' if quote(name) == name else f"filename*=UTF-8''{quote(name)}"
    return Response(content, media_type=kind, headers={"Content-Disposition": f"attachment; {named}"})


async def static(request: Request) -> Response:
    """A file of every page: its style, its script, its icon. The version in its link is for the browser alone."""
    file = views.STATIC.get(request.path_params["name"])
    if file is None:
        return not_there(request, None)
    path, kind = file
    return Response(path.read_bytes(), media_type=kind)


def not_there(_request: Request, _error: Exception | None) -> Response:
    """No page has this name."""
    text = "There is no page of this name. Begin at the start: every page is named there."
    return HTMLResponse(views.error_page("Not found", text), status_code=404)


def refused(request: Request, error: Exception) -> Response:
    """What was asked is wrong, or more than this machine takes: in words, for the script as JSON."""
    status = 503 if isinstance(error, TooManyError) else getattr(error, "status", 422)
    return _problem_page(request, "This does not work", str(error), status)


def broken(request: Request, _error: Exception) -> Response:
    """A fault of the page: nothing of it is shown but that it is one."""
    text = "Something went wrong in the page itself; nothing of yours is lost. Go back and try again."
    return _problem_page(request, "A fault of the page", text, 500)


def _problem_page(request: Request, title: str, text: str, status: int) -> Response:
    if wants_json(request):
        return JSONResponse({"problems": [{"text": text, "option": ""}]}, status_code=status)
    return HTMLResponse(views.error_page(title, text), status_code=status)


# The answers that were asked for in full: which job computes each, and what its link asks.


class JobNotes:
    """What is known of a job is forgotten with it."""

    def __init__(self, parts: PageParts) -> None:
        self._parts = parts
        self._asked: WeakKeyDictionary[Job, tuple[Form, CommandRequest]] = WeakKeyDictionary()

    def begin(self, form: Form, request: CommandRequest, work: Work) -> str:
        """Have it computed; the key of the job."""
        here = replace(work, output=str(self._parts.folder_of(work.key)))
        self._asked[self._parts.workers.job(work.key, here)] = form, request
        return work.key

    def of(self, key: str) -> tuple[Form, CommandRequest]:
        """The form of a job, and what was asked. Raises InputError: the job is not known, or was forgotten."""
        job = self._parts.workers.job_of(key)
        request = None if job is None else self._asked.get(job)
        if request is None:
            raise InputError("This answer is not here any more. Open its link again: it is computed anew.")
        return request

    def shown(self, key: str) -> AnswerState:
        """How far a job is, or its answer with the files that other forms take."""
        job = self._parts.workers.job_of(key)
        if job is None:
            return AnswerState("idle")
        brought: dict[str, str] = {}
        apart: tuple[str, ...] = ()
        if job.state == "done" and job.answer is not None:
            beside = self._parts.beside(key)
            apart = tuple(sorted(path.name for path in beside.rglob("*") if path.is_file()))
            brought = self._brought(key)
        return AnswerState(
            job.state, key, job.progress, job.place, job.answer, brought=brought, beside=apart
        )

    def _brought(self, key: str) -> dict[str, str]:
        """The files of an answer that the next forms take, as values of links."""
        steps = self.of(key)[0].next
        wanted = {name for step in steps for name in (*step.brings.values(), *step.may_bring.values())}
        return {
            name: self._parts.uploads.adopt(name, place / name).reference
            for name in wanted
            for place in (self._parts.folder_of(key), self._parts.beside(key))
            if (place / name).is_file()
        }


# Answers that are taken along: as one HTML file, as a zip, or saved in the folder that the page was
# opened in.

_PRIVATE = "-private"  # what is for whoever asked alone


class AnswerRequests:
    """The requests that take an answer."""

    def __init__(self, parts: PageParts, begun: JobNotes) -> None:
        self._parts, self._begun = parts, begun

    @property
    def routes(self) -> list[Route]:
        """Where they are."""
        return [Route("/take/{name}", self.take), Route("/save/{key}", self.save, methods=["POST"])]

    async def take(self, request: Request) -> Response:
        """An answer as one HTML file, or all of its files in a zip."""
        stem, _, ending = str(request.path_params["name"]).rpartition(".")
        key = stem.removesuffix(_PRIVATE)
        form, _asked = self._begun.of(key)
        folder = self._parts.folder_of(key) if key == stem else self._parts.beside(key)
        if ending not in ("html", "zip")[key != stem :] or not folder.is_dir():
            return not_there(request, None)
        name = f"{'-'.join(form.command)}{stem.removeprefix(key)}.{ending}"
        if ending == "html":
            return attachment((folder / "index.html").read_bytes(), name)
        files = await run_in_threadpool(_contents, folder, Path())
        named = {path.as_posix(): each for path, each in files.items()}
        return attachment(await run_in_threadpool(zipped, named, folder.name), name)

    async def save(self, request: Request) -> Response:
        """Write the files of an answer into the folder that the page was opened in."""
        key = request.path_params["key"]
        self._begun.of(key)
        folder = self._parts.folder
        if folder is None:
            raise InputError("The page was opened without a folder: take the files as a zip instead.")
        async with request.form(max_files=0, max_fields=8) as sent:
            name = str(sent.get("name") or "")
        name = file_stems([name], nameless="answer")[0]
        contents = _contents(self._parts.folder_of(key), folder.target(name))
        private = _contents(self._parts.beside(key), folder.target(name + _PRIVATE))
        write = partial(write_files, {**contents, **private}, force=False, private=private)
        await run_in_threadpool(write)
        return back(request)


def _contents(source: Path, target: Path) -> dict[Path, bytes]:
    """The files of a folder as another will have them."""
    return {
        target / path.relative_to(source): path.read_bytes() for path in source.rglob("*") if path.is_file()
    }


def zipped(files: Mapping[str, bytes], folder: str) -> bytes:
    """Files in a zip that is the same each time."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in sorted(files):
            info = zipfile.ZipInfo(f"{folder}/{name}")
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (0o755 if name.endswith(".sh") else 0o644) << 16
            archive.writestr(info, files[name])
    return content.getvalue()

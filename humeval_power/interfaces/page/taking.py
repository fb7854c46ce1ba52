"""Answers that are taken along: as one HTML file, as a zip, or saved in the folder that the page was opened in."""

from __future__ import annotations

import io
import zipfile
from functools import partial
from pathlib import Path

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from humeval_power.errors import InputError
from humeval_power.interfaces.page.begun import Begun
from humeval_power.interfaces.page.parts import Parts
from humeval_power.interfaces.page.responses import back, not_there
from humeval_power.interfaces.writing.file_sets import write_files
from humeval_power.safe_text import file_stems

_PRIVATE = "-private"  # what is for whoever asked alone


class Taking:
    """The requests that take an answer."""

    def __init__(self, parts: Parts, begun: Begun) -> None:
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
        content = await run_in_threadpool(_zipped if ending == "zip" else _index, folder)
        kind = "application/zip" if ending == "zip" else "text/html; charset=utf-8"
        return Response(
            content, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'}
        )

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


def _contents(source: Path, target: Path) -> dict[Path, str | bytes]:
    """The files of a folder as another will have them."""
    return {
        target / path.relative_to(source): path.read_bytes() for path in source.rglob("*") if path.is_file()
    }


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

"""Files and folders that were uploaded to the page: on the disk under their digest, while the page runs."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import time
import zipfile
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any
from urllib.parse import unquote

from starlette.concurrency import run_in_threadpool
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from humeval_power.doors.page.serving.security import MEGABYTE, Caps, RefusedError
from humeval_power.errors import InputError
from humeval_power.files.file_bytes import refuse_bomb
from humeval_power.safe_text import file_stems

NAME_HEADER = "x-file-name"  # of a raw upload: its name, percent-encoded
FIELD = "file"  # of a form
_DIGITS = 16  # of a digest in a link
_PIECE = 1 << 20
_SPARE = 200 * MEGABYTE  # bytes of the disk that stay free
_MOST_FILES = 2_000  # that are brought at once
_MOST_APART = 2  # files without folders that stay files of their own; more are a folder
_ARCHIVES = (".xlsx", ".xlsm", ".ods", ".zip")
_LONGEST_NAME = 200  # bytes of the name of a file within a folder
_KEPT_SECONDS = 120  # after its last use an upload is not deleted for others
_ENDING = re.compile(r"(?:\.[A-Za-z0-9]{1,8}){1,2}\Z")
_ARCHIVE = b"PK\x03\x04"


@dataclass(slots=True)
class Upload:
    """A file, or a folder of files, that was uploaded; `used` is when it was last asked for."""

    name: str
    sha256: str
    size: int
    path: Path
    used: float

    @property
    def reference(self) -> str:
        """How links name it."""
        return f"{self.name}~{self.sha256[:_DIGITS]}"


class Uploads:
    """What was uploaded, in a private folder.

    folder : where they go; it is made, for this user only.
    caps : bytes of one file, of a workbook, and of all.
    """

    def __init__(self, folder: Path, caps: Caps) -> None:
        folder.mkdir(mode=0o700)
        self.folder, self.caps = folder, caps
        self._kept: dict[tuple[str, str], Upload] = {}
        self._adopted: dict[tuple[str, int, int], Upload] = {}

    async def take(self, request: Request) -> tuple[Upload, ...]:
        """Keep the files of a request: of the field `file` of a form, or all of its body with its name in a header.
        Files of a folder become one upload, and so do more than two.
        Raises RefusedError: no file, too many, one that is too large or unpacks to too much, or a disk that is
        full."""
        kind = request.headers.get("content-type", "")
        if kind.startswith("multipart/form-data"):
            return await self._of_form(request)
        name = unquote(request.headers.get(NAME_HEADER, ""), errors="replace")
        if not name:
            raise RefusedError(400, "There is no file in what was sent. Choose one.")
        return (await self._kept_as(name, request.stream()),)

    async def _of_form(self, request: Request) -> tuple[Upload, ...]:
        parser = MultiPartParser(
            request.headers, request.stream(), max_files=_MOST_FILES, max_fields=10, max_part_size=4096
        )
        try:
            form = await parser.parse()
        except MultiPartException as error:
            raise RefusedError(400, f"The file cannot be taken: {error.message}") from None
        try:
            files: list[Any] = [one for one in form.getlist(FIELD) if getattr(one, "filename", None)]
            if not files:
                raise RefusedError(400, "There is no file in what was sent. Choose one.")
            if len(files) > _MOST_APART or any("/" in str(one.filename) for one in files):
                return (await self._folder_of(files),)
            return tuple([await self._kept_as(str(one.filename), _pieces(one)) for one in files])
        finally:
            await form.close()

    async def _folder_of(self, files: Sequence[Any]) -> Upload:
        """Keep files with their paths as one folder, without what is hidden in it."""
        with tempfile.TemporaryDirectory(dir=self.folder, prefix="coming-") as coming:
            sizes: dict[str, int] = {}
            digests: dict[str, str] = {}
            for file in files:
                path = _within_folder(str(file.filename))
                if path is None:
                    continue
                place, digest = Path(coming, path), hashlib.sha256()
                try:
                    place.parent.mkdir(parents=True, exist_ok=True)
                    with place.open("wb") as target:
                        async for piece in _pieces(file):
                            sizes[path] = sizes.get(path, 0) + len(piece)
                            self._check_size(sum(sizes.values()), is_archive=False, what="folder")
                            digest.update(piece)
                            await run_in_threadpool(target.write, piece)
                except OSError as error:
                    raise RefusedError(507, f"{path} cannot be kept: {error.strerror or error}.") from None
                digests[path] = digest.hexdigest()
            if not sizes:
                raise RefusedError(400, "There is nothing in this folder. Is this the right one?")
            whole = hashlib.sha256(repr(sorted(digests.items())).encode()).hexdigest()
            final = self.folder / whole
            if not final.exists():
                shutil.copytree(coming, final)
        top = str(files[0].filename).split("/")[0] if "/" in str(files[0].filename) else "files"
        return self._entered(safe_name(top), whole, sum(sizes.values()), final)

    async def _kept_as(self, given: str, pieces: AsyncIterator[bytes]) -> Upload:
        name, digest, size = safe_name(given), hashlib.sha256(), 0
        try:
            with NamedTemporaryFile(dir=self.folder, prefix="coming-", delete=False) as target:
                coming = Path(target.name)
                try:
                    async for piece in pieces:
                        size += len(piece)
                        self._check_size(size, is_archive=name.lower().endswith(_ARCHIVES))
                        digest.update(piece)
                        await run_in_threadpool(target.write, piece)
                    target.flush()
                    await run_in_threadpool(self._check_content, coming, name, size)
                    final = self.folder / digest.hexdigest()
                    os.replace(coming, final)
                except BaseException:
                    coming.unlink(missing_ok=True)
                    raise
        except OSError as error:
            raise RefusedError(507, f"The file cannot be kept: {error.strerror or error}.") from None
        return self._entered(name, digest.hexdigest(), size, final)

    def _entered(self, name: str, sha256: str, size: int, path: Path) -> Upload:
        upload = Upload(name, sha256, size, path, time.monotonic())
        self._kept.pop((name, sha256[:_DIGITS]), None)
        self._kept[name, sha256[:_DIGITS]] = upload
        self._make_room()
        return upload

    def _check_size(self, size: int, *, is_archive: bool, what: str = "") -> None:
        most = min(self.caps.upload, self.caps.spreadsheet if is_archive else self.caps.upload)
        if size > most:
            what = what or ("workbook" if is_archive else "file")
            remedy = (
                "Save it as CSV UTF-8." if is_archive else "Open it by its path in the folder of the page."
            )
            raise RefusedError(413, f"The {what} is larger than {most / MEGABYTE:,.0f} MB. {remedy}")

    def _check_content(self, path: Path, name: str, size: int) -> None:
        if size == 0:
            raise RefusedError(400, f"{name} is empty. Is this the right file?")
        if shutil.disk_usage(self.folder).free < _SPARE:
            raise RefusedError(507, "The disk is nearly full. Make room and upload the file again.")
        with path.open("rb") as file:
            start = file.read(len(_ARCHIVE))
            if start != _ARCHIVE:
                return
            self._check_size(size, is_archive=True)
            try:
                refuse_bomb(file, source=name)
            except InputError as error:
                raise RefusedError(413, str(error)) from None
            except zipfile.BadZipFile:
                return  # the command that reads it says what is wrong with it

    def _make_room(self) -> None:
        """Delete those that were not used for longest until all fit; the newest stays."""
        by_use = sorted(self._kept.values(), key=lambda upload: upload.used)
        for upload in by_use[:-1]:
            paths = {other.path: other.size for other in self._kept.values()}
            if sum(paths.values()) <= self.caps.uploads or time.monotonic() - upload.used < _KEPT_SECONDS:
                return
            for key in [key for key, other in self._kept.items() if other.path == upload.path]:
                del self._kept[key]
            if upload.path.is_dir():
                shutil.rmtree(upload.path, ignore_errors=True)
            else:
                upload.path.unlink(missing_ok=True)

    def adopt(self, name: str, path: Path) -> Upload:
        """Keep a file of this machine as if it had been uploaded; the same file again costs nothing.
        Raises RefusedError: one that is larger than an upload may be, or cannot be read."""
        try:
            about = path.stat()
            key = (str(path), about.st_mtime_ns, about.st_size)
            if key in self._adopted and self._adopted[key].path.is_file():
                return self._adopted[key]
            self._check_size(about.st_size, is_archive=False)
            content = path.read_bytes()
            digest = hashlib.sha256(content).hexdigest()
            final = self.folder / digest
            if not final.exists():
                shutil.copyfile(path, final)
        except OSError as error:
            raise RefusedError(507, f"The file cannot be kept: {error.strerror or error}.") from None
        self._adopted[key] = upload = self._entered(safe_name(name), digest, len(content), final)
        return upload

    def references(self) -> tuple[str, ...]:
        """How links name what is here, the newest first."""
        return tuple(upload.reference for upload in reversed(self._kept.values()))

    def path_of(self, name: str, digits: str) -> Path:
        """Where an upload lies, by its name and the start of its digest as they stand in a link.
        Raises InputError: it is not here, or no longer."""
        upload = self._kept.get((name, digits))
        if upload is None or not upload.path.exists():
            raise InputError(
                f"{name} is not here any more: uploads are kept while the page runs. Upload it again."
            )
        upload.used = time.monotonic()
        return upload.path


def safe_name(given: str) -> str:
    """A name for a file, of letters, digits and `_.-`, as near as can be to the one that it had."""
    last = re.split(r"[/\\]", given)[-1]
    ending = _ENDING.search(last)
    end = ending[0] if ending is not None and ending.start() else ""
    return file_stems([last.removesuffix(end)], nameless="file")[0].lstrip("-") + end


def _within_folder(given: str) -> str | None:
    """The path of a file in a folder that is brought, below that folder; None for what is hidden."""
    parts = [part for part in re.split(r"[/\\]", given) if part]
    parts = parts[1:] if len(parts) > 1 else parts
    if not parts or any(part.startswith(".") for part in parts):
        return None
    plain = (part.isprintable() and len(part.encode()) <= _LONGEST_NAME for part in parts)
    return "/".join(part if ok else safe_name(part) for part, ok in zip(parts, plain, strict=True))


async def _pieces(file: Any) -> AsyncIterator[bytes]:
    while piece := await file.read(_PIECE):
        yield piece

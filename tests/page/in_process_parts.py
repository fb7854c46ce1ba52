"""Parts of the page without processes and without limits: what is asked is answered at once, here."""

import hashlib
import html
import re
import tomllib
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from starlette.testclient import TestClient

from humeval_power.doors.page.answers import Answer, Work, answer
from humeval_power.doors.page.app import make_app
from humeval_power.doors.page.requests import PageParts
from humeval_power.doors.page.serving.chosen_folder import Folder


@dataclass(eq=False)
class DoneJob:
    answer: Answer
    state: str = "done"
    progress: None = None
    place: int = 0

    async def wait(self, timeout: float) -> None:
        """It is done."""

    async def soon(self) -> None:
        """It is done."""


@dataclass
class Ready:
    live: bool = True
    progress: None = None
    problem: str = ""


@dataclass
class InProcess:
    readiness: Ready = field(default_factory=Ready)
    jobs: dict[str, DoneJob] = field(default_factory=dict)

    async def start(self) -> None:
        """There is nothing to start."""

    async def close(self) -> None:
        """There is nothing to end."""

    async def live(self, work: Work, tab: str) -> Answer:  # noqa: ARG002
        return answer(work, lambda _told: None)

    async def some_live(self) -> None:
        """One is."""

    def job(self, key: str, work: Work) -> DoneJob:
        if key not in self.jobs:
            self.jobs[key] = DoneJob(answer(work, lambda _told: None))
        return self.jobs[key]

    def job_of(self, key: str) -> DoneJob | None:
        return self.jobs.get(key)

    def stop(self, key: str) -> None:
        """Nothing runs."""

    def leave(self, key: str) -> None:
        """Nothing runs."""


@dataclass
class Brought:
    reference: str


@dataclass
class Kept:
    folder: Path
    files: dict[tuple[str, str], Path] = field(default_factory=dict)

    async def take(self, request) -> tuple[Brought, ...]:
        async with request.form() as sent:
            return tuple([self._put(one.filename, await one.read()) for one in sent.getlist("file")])

    def path_of(self, name: str, digits: str) -> Path:
        return self.files[name, digits]

    def adopt(self, name: str, path: Path) -> Brought:
        return self._put(name, path.read_bytes())

    def references(self) -> tuple[str, ...]:
        return tuple(f"{name}~{digest}" for name, digest in self.files)

    def _put(self, name: str, data: bytes) -> Brought:
        digest = hashlib.sha256(data).hexdigest()[:16]
        place = self.folder / digest / Path(name).name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
        self.files[name, digest] = place
        return Brought(f"{name}~{digest}")


def in_process_parts(folder: Path) -> PageParts:
    return PageParts(InProcess(), Kept(folder / "uploads"), folder / "answers", "form-token")


def next_links(found: dict[str, str]) -> dict[str, dict[str, str]]:
    """The steps that an answer offers: the options of each, by its command."""
    nav = re.search(r'<nav class="next".*?</nav>', found["html"], re.DOTALL)
    links = [html.unescape(link) for link in re.findall(r'href="([^"]+)"', nav[0] if nav else "")]
    return {urlsplit(link).path.strip("/"): dict(parse_qsl(urlsplit(link).query)) for link in links}


def a_client(private: Path, chosen: Path, *, follow_redirects: bool = False) -> TestClient:
    """The page over a folder."""
    parts = replace(in_process_parts(private), folder=Folder(chosen))
    return TestClient(make_app(parts), follow_redirects=follow_redirects)


# What tests do with a page: bring files, read it, save a stage of a study.


def brought(client: TestClient, name: str, content: bytes | str) -> str:
    """The value of a file that was brought to the page."""
    return client.post("/upload", files={"file": (name, content)}).json()["values"][0]


def words_of(page: str) -> str:
    """The words of a page, without its marks."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", page)))


def version(page: str) -> str:
    """The version of the study's file that a page was made of."""
    return re.search(r'name="version" value="(\w+)"', page)[1]


def save(client: TestClient, stage: str = "mine/size", **typed: str):
    """Type into the fields of a stage, and save it."""
    seen = version(client.get(f"/study/{stage}").text)
    return client.post(f"/study/{stage}", data={"version": seen, **typed})


def said(chosen: Path, name: str = "mine") -> dict[str, object]:
    """What the file of a study says."""
    tables = tomllib.loads((chosen / name / "study.toml").read_text("utf-8"))
    return {key: value for part in tables.values() if isinstance(part, dict) for key, value in part.items()}

"""The pages of a whole study: how far its steps are, and all of it to be taken."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from humeval_power.errors import InputError
from humeval_power.interfaces.page.answers import Work
from humeval_power.interfaces.page.asked import Asked, asked_of
from humeval_power.interfaces.page.asked_work import work_of
from humeval_power.interfaces.page.forms import FORMS
from humeval_power.interfaces.page.parts import Parts
from humeval_power.interfaces.page.whole_study.steps import Part, Step, WholeStudy, steps_of, zipped
from humeval_power.interfaces.page.whole_study.views import StepShown, study_file, study_page
from humeval_power.study import Study

if TYPE_CHECKING:
    from humeval_power.interfaces.page.working.jobs import Job

_PLAN = ("plan",)
_SOON = 0.4  # seconds that a page waits for a step that may be short


@dataclass(slots=True)
class _Study:
    asked: Asked
    work: Work
    steps: tuple[Step, ...]
    seed: int

    def follow(self, plan: Path) -> None:
        """Say the steps after the plan in the words of what it has planned."""
        first, *_ = self.steps
        systems = Study.read(str(plan)).systems
        self.steps = (first, *steps_of(self.work.words, n_systems=len(systems or ()))[1:])


class StudyPages:
    """A study for each plan that is asked for; its steps are jobs, and one begins when those before it are done."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._studies: dict[str, _Study] = {}

    @property
    def routes(self) -> list[Route]:
        """Where they are."""
        return [Route("/whole/plan", self.page), Route("/whole/take/{name}", self.take)]

    async def page(self, request: Request) -> Response:
        """How far the study of a plan is; to look at it is to go on with it."""
        form = FORMS[_PLAN]
        asked = asked_of(_PLAN, request.query_params.multi_items(), form.hides)
        key = hashlib.sha256(f"study {asked.link}".encode()).hexdigest()[:32]
        if key not in self._studies:
            work = work_of(self._parts, asked, form.hides)
            self._studies[key] = _Study(asked, work, steps_of(work.words), secrets.randbelow(2**31))
        study = self._studies[key]
        shown = await self._advanced(study)
        done = len(shown) == len(study.steps) and all(step.is_over for step in shown)
        waiting = [StepShown(step.title) for step in study.steps[len(shown) :]]
        return HTMLResponse(study_page([*shown, *waiting], key if done else "", asked))

    async def take(self, request: Request) -> Response:
        """The study as one HTML file, or all of it in a zip."""
        key, _, ending = str(request.path_params["name"]).rpartition(".")
        study = self._studies.get(key)
        if study is None or ending not in ("html", "zip"):
            raise InputError("This study is not here any more. Open its plan, and ask for it again.")
        whole = self._whole(study)
        if ending == "html":
            content = (await run_in_threadpool(study_file, whole, alone=True)).encode()
            kind = "text/html; charset=utf-8"
        else:
            content = await run_in_threadpool(_archive, whole)
            kind = "application/zip"
        name = f'attachment; filename="study.{ending}"'
        return Response(content, media_type=kind, headers={"Content-Disposition": name})

    async def _advanced(self, study: _Study) -> list[StepShown]:
        """The steps that have begun; the next begins where all before it are done."""
        shown: list[StepShown] = []
        for place in range(len(study.steps)):
            step = study.steps[place]  # those behind the plan are known when it is done
            job = self._job(study, step)
            if job.state in ("waiting", "running"):
                await job.wait(_SOON)
            shown.append(StepShown.of(step.title, job.state, job.told, job.answer))
            if not shown[-1].is_over or (step is study.steps[0] and not shown[-1].is_fine):
                break
            if step is study.steps[0]:
                study.follow(self._files_of(study, step)["plan/plan.json"])
        return shown

    def _job(self, study: _Study, step: Step) -> Job:
        work = self._work(study, step)
        here = replace(work, output=str(self._parts.folder_of(work.key)))
        return self._parts.workers.job_of(work.key) or self._parts.workers.job(work.key, here)

    def _work(self, study: _Study, step: Step) -> Work:
        """A step as a command: the plan as its own page asks for it, the others with the files of those before."""
        if step is study.steps[0]:
            return study.work
        files = self._files(study, until=step)
        read = tuple((name, str(files[name])) for name in step.reads if name in files)
        return Work(step.words_with(study.seed), read)

    def _files(self, study: _Study, until: Step) -> dict[str, Path]:
        found: dict[str, Path] = {}
        for step in study.steps:
            if step is until:
                break
            found |= self._files_of(study, step)
        return found

    def _files_of(self, study: _Study, step: Step) -> dict[str, Path]:
        """The files of a step that is done, by their names in the study."""
        key = self._work(study, step).key
        place = self._parts.folder_of(key)
        made = {
            f"{step.folder}/{path.relative_to(place).as_posix()}": path
            for path in sorted(place.rglob("*"))
            if path.is_file()
        }
        beside = {name: self._parts.beside(key) / name for name in step.writes}
        return made | {name: path for name, path in beside.items() if path.is_file()}

    def _whole(self, study: _Study) -> WholeStudy:
        parts = []
        for step in study.steps:
            answer = self._job(study, step).answer
            files = self._files_of(study, step)
            if answer is not None and files:
                parts.append(Part(step, answer, files))
        if not parts:
            raise InputError("Nothing of this study is done yet.")
        inputs = {name: Path(path) for name, path in study.work.files}
        return WholeStudy(tuple(parts), inputs, study.seed)


def _archive(whole: WholeStudy) -> bytes:
    return zipped(whole.files(study_file(whole, alone=False)), "study")

"""The pages of a whole study: how far its steps are, and all of it to be taken."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from humeval_power.asking.command_groups import in_terminal
from humeval_power.doors.page.answers import Answer, JobProgress, Work
from humeval_power.doors.page.requests import FORMS, CommandRequest, PageParts, on_page, request_of, work_of
from humeval_power.doors.page.responses import attachment, zipped
from humeval_power.doors.page.views import State, progress_words, rendered
from humeval_power.errors import InputError
from humeval_power.safe_text import shell_command
from humeval_power.saying import render
from humeval_power.studies.start.talk import GOES_ON
from humeval_power.study import Study

if TYPE_CHECKING:
    from humeval_power.doors.page.working.jobs import Job


# A whole study out of a plan: its steps in order, and all of it as one HTML file or as a zip.

PRIVATE = "private"
PLAN = "plan"
_SEALED = f"{PLAN}/plan.json"
KEY, SEED = f"{PRIVATE}/key.csv", f"{PRIVATE}/seed.txt"
_PROGRAM = "humeval-power"
_SEED_WORD = "SEED"  # stands for the secret seed until a step runs


@dataclass(frozen=True, slots=True)
class StudyStep:
    """One command of a study.

    folder : where its files lie in the study.
    words : as they are typed in the folder of the study, without where its files go.
    reads : files of earlier steps that it reads.
    writes : files beside its folder.
    """

    folder: str
    title: str
    words: tuple[str, ...]
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()

    @property
    def is_private(self) -> bool:
        """Whether its files are for whoever runs the study alone."""
        return self.folder.startswith(f"{PRIVATE}/")

    def words_with(self, seed: int) -> tuple[str, ...]:
        """The words with the secret seed in its place."""
        return tuple(str(seed) if word == _SEED_WORD else word for word in self.words)

    def line(self, more: Sequence[str] = ()) -> str:
        """The command as the script has it, which reads the seed from its file."""
        words = [_PROGRAM, *in_terminal(self.words), *more, "-o", f"{self.folder}/", "--force"]
        return shell_command(words).replace(f"--seed {_SEED_WORD}", f'--seed "$(cat {SEED})"')


def steps_of(plan_words: Sequence[str], *, n_systems: int = 2) -> tuple[StudyStep, ...]:
    """All steps, of the words of `plan`; with more than two systems the forms take the power from the plan."""
    plan = _SEALED
    followed = ("--plan", plan)
    power = "power/record.json"
    says, words = (("--power-file", power), (power,)) if n_systems == 2 else ((), ())
    secret = ("--seed", _SEED_WORD, "--key", KEY)
    rehearsed = ("--assignment", "assignment/table.csv", "--key", KEY)
    forms = {
        "osf": "Preregistration (OSF)",
        "aspredicted": "Preregistration (AsPredicted)",
        "card2020": "Power statement (recommendations of Card et al. 2020)",
    }
    return (
        StudyStep(PLAN, "The plan", tuple(plan_words)),
        StudyStep("power", "Its power", ("power", *followed), (plan,)),
        StudyStep("assignment", "Who rates what", ("assign", *followed, *secret), (plan,), (KEY,)),
        *(
            StudyStep(
                f"forms/{form}",
                title,
                ("report", *followed, *says, "--form", form, "--no-memory"),
                (plan, *words),
            )
            for form, title in forms.items()
        ),
        StudyStep(
            f"{PRIVATE}/rehearsal",
            "A rehearsal, with ratings of nobody",
            ("simulate", *followed, *rehearsed),
            (plan, "assignment/table.csv", KEY),
        ),
    )


@dataclass(frozen=True, slots=True)
class StudyPart:
    """A step that is done: what it said, and its files by their names in the study."""

    step: StudyStep
    answer: Answer
    files: Mapping[str, Path]


@dataclass(frozen=True, slots=True)
class WholeStudy:
    """All parts of a study.

    inputs : the files that the plan was made of, by the names that its words give them.
    seed : of the order of the assignment; secret.
    """

    parts: tuple[StudyPart, ...]
    inputs: Mapping[str, Path]
    seed: int

    @property
    def script(self) -> str:
        """A script of the shell that writes everything again."""
        return "\n".join((*_HEAD, *self._lines(), "finish", ""))

    def _lines(self) -> Iterator[str]:
        for part in self.parts:
            step = part.step
            if any(file.startswith(f"{PLAN}/") for file in step.reads):
                yield f"rests_on {PLAN}"
            yield f"out={step.folder} && {step.line(self._dated(part)).replace(_PROGRAM, 'run', 1)}"

    def _dated(self, part: StudyPart) -> tuple[str, ...]:
        """The date of the plan, where its words leave it to the day."""
        if part.step.folder != PLAN or "--date" in part.step.words:
            return ()
        created = json.loads(part.files[_SEALED].read_text("utf-8")).get("created")
        return ("--date", str(created)[:10]) if created else ()

    def files(self, index: str) -> dict[str, bytes]:
        """Everything by its name, with the page that links all of it."""
        result = {name: path.read_bytes() for part in self.parts for name, path in part.files.items()}
        result |= {name: path.read_bytes() for name, path in self.inputs.items()}
        result["index.html"] = index.encode()
        result["run.sh"] = self.script.encode()
        result[SEED] = f"{self.seed}\n".encode()
        return result


_HEAD = (
    "#!/bin/sh",
    "# Writes every file of this study again, in the folder that this script is in.",
    "set -eu",
    'cd "$(dirname "$0")"',
    f"rm -f {PLAN}.missed",
    GOES_ON,
)


# The pages of a whole study: how far it is, and the page that all of it is read from.

_STYLE = Path(str(render.__file__)).with_name("templates") / "page.css"


@dataclass(frozen=True, slots=True)
class StepShown:
    """A step of a whole study: what is known of it so far."""

    title: str
    state: str = "waiting"
    words: str = ""
    problems: tuple[str, ...] = ()
    is_over: bool = False
    is_fine: bool = False

    @classmethod
    def of(cls, title: str, state: State, progress: JobProgress | None, answer: Answer | None) -> StepShown:
        """A step that has begun."""
        if state in ("waiting", "running"):
            return cls(title, state, progress_words(progress))
        problems = () if answer is None else tuple(on_page(each.text) for each in answer.problems)
        is_fine = answer is not None and bool(answer.html) and not problems
        missed = "done; the target is missed, read why" if answer and answer.exit_code == 3 else "done"
        return cls(title, state, missed if is_fine else "not done", problems, True, is_fine)


def study_file(whole: WholeStudy, *, alone: bool) -> str:
    """The page that a study is read from: with all that may be shown in it, or with links to its files."""
    shown = [part for part in whole.parts if not part.step.is_private]
    sealed = (part.files[_SEALED] for part in whole.parts if _SEALED in part.files)
    names = sorted({*(name for part in whole.parts for name in part.files), *whole.inputs, SEED, "run.sh"})
    return rendered(
        "study_file.html",
        style=Markup(_STYLE.read_text("utf-8")),
        parts=[(part.step, Markup(part.answer.html)) for part in shown],
        pages=[(part.step.title, f"{part.step.folder}/index.html") for part in whole.parts],
        script=whole.script,
        public=[name for name in names if not name.startswith(f"{PRIVATE}/") and name not in whole.inputs],
        private=[name for name in names if name.startswith(f"{PRIVATE}/")],
        inputs=sorted(whole.inputs),
        plan=next((path.read_text("utf-8") for path in sealed), "") if alone else "",
        alone=alone,
    )


_PLAN = ("plan",)


@dataclass(slots=True)
class _Study:
    request: CommandRequest
    work: Work
    steps: tuple[StudyStep, ...]
    seed: int

    def follow(self, plan: Path) -> None:
        """Say the steps after the plan in the words of what it has planned."""
        first, *_ = self.steps
        systems = Study.read(str(plan)).systems
        self.steps = (first, *steps_of(self.work.words, n_systems=len(systems or ()))[1:])


class StudyPages:
    """A study for each plan that is asked for; its steps are jobs, and one begins when those before it are done."""

    def __init__(self, parts: PageParts) -> None:
        self._parts = parts
        self._studies: dict[str, _Study] = {}

    @property
    def routes(self) -> list[Route]:
        """Where they are."""
        return [Route("/whole/plan", self.page), Route("/whole/take/{name}", self.take)]

    async def page(self, request: Request) -> Response:
        """How far the study of a plan is; to look at it is to go on with it."""
        form = FORMS[_PLAN]
        question = request_of(_PLAN, request.query_params.multi_items(), form.hides)
        key = hashlib.sha256(f"study {question.link}".encode()).hexdigest()[:32]
        if key not in self._studies:
            work = work_of(self._parts, question, form.hides)
            self._studies[key] = _Study(question, work, steps_of(work.words), secrets.randbelow(2**31))
        study = self._studies[key]
        shown = await self._advanced(study)
        done = len(shown) == len(study.steps) and all(step.is_over for step in shown)
        waiting = [StepShown(step.title) for step in study.steps[len(shown) :]]
        failed = bool(shown) and shown[0].is_over and not shown[0].is_fine
        page = rendered(
            "whole_study.html",
            title="The whole study",
            steps=[*shown, *waiting],
            key=key if done else "",
            plan_link=question.link,
            share=sum(step.is_over for step in shown) / len(study.steps),
            refresh=None if done or failed else 2,
        )
        return HTMLResponse(page)

    async def take(self, request: Request) -> Response:
        """The study as one HTML file, or all of it in a zip."""
        key, _, ending = str(request.path_params["name"]).rpartition(".")
        study = self._studies.get(key)
        if study is None or ending not in ("html", "zip"):
            raise InputError("This study is not here any more. Open its plan, and ask for it again.")
        whole = self._whole(study)
        if ending == "html":
            content = (await run_in_threadpool(study_file, whole, alone=True)).encode()
        else:
            index = await run_in_threadpool(study_file, whole, alone=False)
            files = await run_in_threadpool(whole.files, index)
            content = await run_in_threadpool(zipped, files, "study")
        return attachment(content, f"study.{ending}")

    async def _advanced(self, study: _Study) -> list[StepShown]:
        """The steps that have begun; the next begins where all before it are done."""
        shown: list[StepShown] = []
        for place in range(len(study.steps)):
            step = study.steps[place]  # those behind the plan are known when it is done
            job = self._job(study, step)
            await job.soon()
            shown.append(StepShown.of(step.title, job.state, job.progress, job.answer))
            if not shown[-1].is_over or (step is study.steps[0] and not shown[-1].is_fine):
                break
            if step is study.steps[0]:
                study.follow(self._files_of(study, step)[_SEALED])
        return shown

    def _job(self, study: _Study, step: StudyStep) -> Job:
        work = self._work(study, step)
        here = replace(work, output=str(self._parts.folder_of(work.key)))
        return self._parts.workers.job_of(work.key) or self._parts.workers.job(work.key, here)

    def _work(self, study: _Study, step: StudyStep) -> Work:
        """A step as a command: the plan as its own page asks for it, the others with the files of those before."""
        if step is study.steps[0]:
            return study.work
        files = self._files(study, until=step)
        read = tuple((name, str(files[name])) for name in step.reads if name in files)
        return Work(step.words_with(study.seed), read)

    def _files(self, study: _Study, until: StudyStep) -> dict[str, Path]:
        path: dict[str, Path] = {}
        for step in study.steps:
            if step is until:
                break
            path |= self._files_of(study, step)
        return path

    def _files_of(self, study: _Study, step: StudyStep) -> dict[str, Path]:
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
                parts.append(StudyPart(step, answer, files))
        if not parts:
            raise InputError("Nothing of this study is done yet.")
        inputs = {name: Path(path) for name, path in study.work.files}
        return WholeStudy(tuple(parts), inputs, study.seed)

"""Warm processes that answer the questions of pages: some at once, others one after the other."""

from __future__ import annotations

import asyncio
import math
import os
import time
from dataclasses import dataclass
from pathlib import Path

from humeval_power.doors.page import answers
from humeval_power.doors.page.answers import Answer, JobProgress, Tell, Work
from humeval_power.doors.page.forms import FORMS
from humeval_power.doors.page.working.crew import Crew
from humeval_power.doors.page.working.jobs import Job, Jobs
from humeval_power.doors.page.working.live_questions import LiveQuestions
from humeval_power.doors.page.working.worker_link import Run, Setup, Worker

GIGABYTE = 10**9
WARM = (
    Work(("power", "--preset=high", "--workers=10", "--items=20", "--effect=0.1", "--method=analytic")),
)


def half_of_memory() -> int:
    """Half of the bytes of memory that this machine has."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (OSError, ValueError, AttributeError):
        return 4 * GIGABYTE


@dataclass(frozen=True, slots=True)
class WorkLimits:
    """What pages may ask for.

    live_seconds : that an answer may take while somebody drags a slider; uploads are parsed within it too.
    live_memory : bytes that such an answer may take beyond those of a warm worker.
    job_memory : the same of a job; None for half of the machine's.
    live : how many questions of pages may wait.
    jobs : how many jobs may wait.
    kept_answers, kept_answer_bytes : how many answers are kept to be given again.
    kept_jobs, kept_job_bytes : how many jobs that have ended are remembered, with their outputs.
    start_seconds : that a worker may take to be ready; compiling does not count.
    stop_seconds : that a job may take to keep what it has finished, before it is killed.
    alone_seconds : for which a job goes on that no page asks for.
    answers, growth : after so many answers, or bytes more of memory, a worker is replaced.
    """

    live_seconds: float = 10.0
    live_memory: int = GIGABYTE
    job_memory: int | None = None
    live: int = 500
    jobs: int = 20
    kept_answers: int = 200
    kept_answer_bytes: int = 64 * 10**6
    kept_jobs: int = 50
    kept_job_bytes: int = GIGABYTE
    start_seconds: float = 60.0
    stop_seconds: float = 5.0
    alone_seconds: float = math.inf
    answers: int = 2000
    growth: int = GIGABYTE // 2


@dataclass(frozen=True, slots=True)
class Readiness:
    """How far the workers are.

    live, jobs : whether any worker for live questions, and for jobs, is warm.
    progress : what the slowest of them does meanwhile, such as compiling.
    problem : why there will never be one.
    """

    live: bool
    jobs: bool
    progress: JobProgress | None
    problem: str


class Workers:
    """Warm processes; to be made, used and closed in one asyncio loop.

    run : answers a question; a function that the processes can import.
    n_live, n_jobs : how many processes there are for live questions, and for jobs. A job uses all cores, and lets
        live questions have them first.
    warm : what each process answers before it is ready.
    scratch : the folder for their temporary files; "" for the system's.
    later : commands that those for live questions load afterwards, while nothing is asked.
    kernels : whether those for jobs load all kernels before, or compile them.
    """

    def __init__(
        self,
        run: Run = answers.answer,
        *,
        n_live: int = 2,
        n_jobs: int = 1,
        limits: WorkLimits | None = None,
        warm: tuple[Work, ...] = WARM,
        later: tuple[tuple[str, ...], ...] = tuple(FORMS),
        kernels: bool = True,
        scratch: str | Path = "",
    ) -> None:
        self.limits = limits or WorkLimits()
        self._run, self._warm, self._later, self._kernels = run, warm, later, kernels
        self._scratch = str(scratch)
        self._n_live, self._n_jobs = n_live, n_jobs
        self._crews: tuple[Crew, Crew] | None = None

    async def start(self) -> None:
        """Begin to start the processes; questions may be asked at once, and wait for the first that is ready."""
        limits = self.limits
        self._live = LiveQuestions(
            seconds=limits.live_seconds,
            n_waiting=limits.live,
            n_kept=limits.kept_answers,
            bytes_kept=limits.kept_answer_bytes,
        )
        self._jobs = Jobs(
            n_waiting=limits.jobs,
            stop_seconds=limits.stop_seconds,
            n_kept=limits.kept_jobs,
            bytes_kept=limits.kept_job_bytes,
            alone_seconds=limits.alone_seconds,
        )
        live = Crew(self._n_live, self._live, self._live_worker)
        self._crews = live, Crew(self._n_jobs, self._jobs, self._job_worker, after=live.some_ready)

    async def close(self) -> None:
        """Stop all jobs, which keep what is finished, and end the processes."""
        if self._crews is None:
            return
        self._live.close()
        await self._jobs.close()
        for crew in self._crews:
            await crew.close()
        self._crews = None

    async def live(self, work: Work, tab: str) -> Answer | None:
        """The answer to a question of a page; None where the same page has asked a newer one before this was begun.
        Raises TooManyError: too many pages wait."""
        return await self._live.ask(work, tab)

    def job(self, key: str, work: Work) -> Job:
        """Have a long question answered; one of the same key that is known goes on, or has its answer.
        Raises TooManyError: too many jobs wait."""
        return self._jobs.add(key, work)

    def job_of(self, key: str) -> Job | None:
        """The job of this key; None where it is not known, or was forgotten."""
        return self._jobs.job_of(key)

    def stop(self, key: str) -> None:
        """Stop a job; what is finished is kept."""
        self._jobs.stop(key)

    def leave(self, key: str) -> None:
        """The page that showed a job is left: it is stopped, unless another asks for it in the next seconds."""
        self._jobs.leave(key)

    async def some_live(self, patience: float = 20.0) -> None:
        """Wait until a worker for live questions is ready, so long."""
        until = time.monotonic() + patience
        while not self.readiness.live and not self.readiness.problem and time.monotonic() < until:
            await asyncio.sleep(0.05)

    @property
    def is_busy(self) -> bool:
        """Whether anything is being answered."""
        return self._crews is not None and (self._live.is_busy or self._jobs.is_busy)

    @property
    def readiness(self) -> Readiness:
        """How far the processes are."""
        if self._crews is None:
            return Readiness(live=False, jobs=False, progress=None, problem="")
        live, jobs = self._crews
        problem = live.problem or jobs.problem
        return Readiness(live.is_ready, jobs.is_ready, live.progress or jobs.progress, problem)

    @property
    def pids(self) -> list[int]:
        """The numbers of the processes."""
        return [pid for crew in self._crews or () for pid in crew.pids]

    def _live_worker(self, tell: Tell) -> Worker:
        limits = self.limits
        cpu = (
            limits.live_seconds * len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
        )
        return self._worker(tell, memory=limits.live_memory, cpu=cpu, for_jobs=False)

    def _job_worker(self, tell: Tell) -> Worker:
        return self._worker(
            tell, memory=self.limits.job_memory or half_of_memory(), cpu=None, for_jobs=True
        )

    def _worker(self, tell: Tell, *, memory: int, cpu: float | None, for_jobs: bool) -> Worker:
        limits = self.limits
        setup = Setup(
            run=self._run,
            warm=self._warm,
            later=() if for_jobs else self._later,
            kernels=for_jobs and self._kernels,
            memory=memory,
            cpu=cpu,
            answers=limits.answers,
            growth=limits.growth,
            scratch=self._scratch,
            patient=for_jobs,
        )
        return Worker(setup, memory=memory, start=limits.start_seconds, tell=tell)

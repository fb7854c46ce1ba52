"""Long questions: they wait their turn, tell how far they are, can be stopped, and go on where they were.

Questions of pages that move: the newest of each counts, equal ones are answered once, and nobody starves.

Warm processes that answer the questions of pages: some at once, others one after the other.
"""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from typing import Literal, TypeAlias

from humeval_power.doors.page import answers
from humeval_power.doors.page.answers import BESIDE, Answer, JobProgress, Tell, Work
from humeval_power.doors.page.requests import FORMS
from humeval_power.doors.page.working.worker_link import (
    INTERRUPTED,
    Crew,
    DiedError,
    Run,
    Setup,
    TooManyError,
    Worker,
    failed,
)
from humeval_power.files.disk import remove_tree
from humeval_power.files.file_sets import partial_of

# Seconds for which an answer is given again, and one that took its worker along.
FRESH, FRESH_FAILURE = 300.0, 30.0
GIGABYTE = 10**9
_ROUGHLY = 2000  # bytes of an answer beside its text
Stamp: TypeAlias = tuple[tuple[int, int, int] | None, ...]
Key: TypeAlias = tuple[Work, Stamp]


def stamp(work: Work) -> Stamp:
    """What changes when one of the files of a question does."""
    return tuple(_stamp(path) for _, path in work.files)


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_size, status.st_mtime_ns, status.st_ino


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
    alone_seconds : for which a job goes on that no page asks for; a page that is left says so.
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


@dataclass(slots=True, eq=False)
class _Question:
    """One question and the pages that wait for its answer; the lowest place comes first."""

    key: Key
    place: int
    waiting: dict[str, asyncio.Future[Answer | None]] = field(default_factory=dict)
    runs: bool = False

    def tell(self, answer: Answer | None) -> None:
        for future in self.waiting.values():
            if not future.done():
                future.set_result(answer)


class LiveQuestions:
    """The source of the workers that answer while somebody drags a slider."""

    def __init__(self, limits: WorkLimits) -> None:
        self._limits = limits
        self._kept = _Kept(limits.kept_answers, limits.kept_answer_bytes)
        self._questions: dict[Key, _Question] = {}
        self._of_page: dict[str, _Question] = {}  # the newest of each
        self._some = asyncio.Event()
        self._n_asked = 0
        self._nameless = count()
        self._problem = ""

    @property
    def is_busy(self) -> bool:
        """Whether anybody waits for an answer."""
        return bool(self._questions)

    async def ask(self, work: Work, page: str) -> Answer | None:
        """The answer, or None where the same page has asked something newer before this was begun; a page without
        a name is one that asks only once.
        Raises TooManyError: too many pages wait."""
        key = (work, stamp(work))
        page = page or f" {next(self._nameless)}"
        place = self._withdraw(page, key)
        kept = self._kept.get(key)
        if kept is not None:
            return kept
        if self._problem:
            return failed(self._problem)
        if len(self._questions) >= self._limits.live and key not in self._questions:
            raise TooManyError("Too many pages ask at once. Close some, or wait a moment.")
        question = self._questions.setdefault(key, _Question(key, place))
        question.place = min(question.place, place)
        future = question.waiting.get(page)
        if future is None:
            future = question.waiting[page] = asyncio.get_running_loop().create_future()
        self._of_page[page] = question
        self._some.set()
        return await asyncio.shield(future)  # another request of the page may wait for the same

    async def wait(self) -> None:
        """Return when a question waits for a worker."""
        while not any(not question.runs for question in self._questions.values()):
            self._some.clear()
            await self._some.wait()

    async def serve(self, worker: Worker) -> None:
        """Have the worker answer the question whose turn it is."""
        waiting = [question for question in self._questions.values() if not question.runs]
        if not waiting:
            return
        question = min(waiting, key=lambda one: one.place)
        question.runs = True
        fresh = FRESH
        try:
            answer = await worker.ask(question.key[0], seconds=self._limits.live_seconds)
        except DiedError as died:
            answer, fresh = failed(str(died)), FRESH_FAILURE
        self._kept.put(question.key, answer, seconds=fresh)
        self._end(question, answer)

    def give_up(self, problem: str) -> None:
        """No worker will ever answer."""
        self._problem = problem
        for question in list(self._questions.values()):
            self._end(question, failed(problem))

    def close(self) -> None:
        """Nobody waits any longer."""
        for question in list(self._questions.values()):
            self._end(question, None)

    def _withdraw(self, page: str, key: Key) -> int:
        """Forget what the page asked before, unless it is the same or is being answered; the place in the queue of
        what it asks now: the same as before, so that who asks often comes as soon as others, and no sooner."""
        before = self._of_page.get(page)
        if before is None or before.runs:
            self._n_asked += 1
            return self._n_asked
        if before.key != key:
            before.waiting.pop(page).set_result(None)
            del self._of_page[page]
            if not before.waiting:
                del self._questions[before.key]
        return before.place

    def _end(self, question: _Question, answer: Answer | None) -> None:
        question.tell(answer)
        self._questions.pop(question.key, None)
        for page in question.waiting:
            if self._of_page.get(page) is question:
                del self._of_page[page]


class _Kept:
    """The latest answers."""

    def __init__(self, n_most: int, bytes_most: int) -> None:
        self._n_most, self._bytes_most = n_most, bytes_most
        self._bytes = 0
        self._answers: OrderedDict[Key, tuple[Answer, float]] = OrderedDict()

    def get(self, key: Key) -> Answer | None:
        answer, until = self._answers.get(key, (None, 0.0))
        if answer is None or time.monotonic() > until:
            return None
        self._answers.move_to_end(key)
        return answer

    def put(self, key: Key, answer: Answer, *, seconds: float) -> None:
        before = self._answers.pop(key, None)
        if before is not None:
            self._bytes -= size_of(before[0])
        self._answers[key] = answer, time.monotonic() + seconds
        self._bytes += size_of(answer)
        while self._answers and (len(self._answers) > self._n_most or self._bytes > self._bytes_most):
            _, (oldest, _) = self._answers.popitem(last=False)
            self._bytes -= size_of(oldest)


def size_of(answer: Answer) -> int:
    """About how many bytes of memory an answer takes."""
    return (
        _ROUGHLY + len(answer.html) + len(answer.record) + len(answer.python) + sum(map(len, answer.notes))
    )


State = Literal["waiting", "running", "done", "stopped", "failed"]
_STOPPED_BEFORE = "Stopped before it was begun."
_TARGET_MISSED = 3
_SOON = 0.4  # seconds that a page waits for a job that may be short
_RELOADED_SECONDS = 3.0  # in which a page that is loaded again asks for its job


class Job:
    """One long question.

    key : names it in links; the same question has the same.
    state : "done" where there is a result, "failed" where the command refused the question or its process died.
    progress : the latest word of progress.
    looked_at : when a page asked for it last, by the clock of the loop.
    """

    def __init__(self, key: str, work: Work, place: Callable[[Job], int]) -> None:
        self.key, self.work = key, work
        self.stamp = stamp(work)
        self.state: State = "waiting"
        self.progress: JobProgress | None = None
        self.answer: Answer | None = None
        self.looked_at = 0.0
        self._place = place
        self._ended = asyncio.Event()
        self._news = asyncio.Event()

    @property
    def place(self) -> int:
        """How many come first, with those that run; 0 for one that waits no longer."""
        return self._place(self)

    @property
    def has_ended(self) -> bool:
        """Whether there is an answer."""
        return self._ended.is_set()

    async def wait(self, timeout: float | None = None) -> None:
        """Wait for its end, for so many seconds at most."""
        await _set_within(self._ended, timeout)

    async def soon(self) -> None:
        """Wait as long as a page waits before it shows that the job is under way."""
        await self.wait(_SOON)

    async def news(self, timeout: float | None = None) -> bool:
        """Wait for its end or a word of progress that came after this call; whether there was any."""
        if self.has_ended:
            return True
        self._news.clear()
        return await _set_within(self._news, timeout)

    def hear(self, progress: JobProgress) -> None:
        """A word of progress."""
        self.progress = progress
        self._news.set()

    def begin(self) -> None:
        """A worker has taken it."""
        self.state = "running"
        self._news.set()

    def end(self, answer: Answer, *, state: State) -> None:
        """It has its answer."""
        self.answer, self.state = answer, state
        self._ended.set()
        self._news.set()


class Jobs:
    """The source of the workers that answer long questions, and what became of those. The output of one that is
    forgotten is removed: it must lie in a folder of the server's own."""

    def __init__(self, limits: WorkLimits) -> None:
        self._limits = limits
        self._waiting: deque[Job] = deque()
        self._running: dict[Job, Worker] = {}
        self._ended: OrderedDict[str, tuple[Job, int]] = OrderedDict()
        self._clearing: dict[str, asyncio.Future[None]] = {}  # outputs that are being removed
        self._some = asyncio.Event()
        self._problem = ""

    @property
    def is_busy(self) -> bool:
        """Whether anything runs or waits."""
        return bool(self._running or self._waiting)

    def job_of(self, key: str) -> Job | None:
        """The job of this key, if it is known."""
        under_way = next((job for job in (*self._running, *self._waiting) if job.key == key), None)
        if under_way is not None:
            under_way.looked_at = time.monotonic()
        if under_way is not None or key not in self._ended:
            return under_way
        self._ended.move_to_end(key)
        return self._ended[key][0]

    def add(self, key: str, work: Work) -> Job:
        """The job that answers the question: the one that is known, unless it was stopped, failed, or a file of it
        has changed since.
        Raises TooManyError: too many wait."""
        known = self.job_of(key)
        if known is not None and known.state in ("waiting", "running"):
            return known
        if known is not None and known.state == "done" and known.stamp == stamp(work):
            return known
        if len(self._waiting) >= self._limits.jobs:
            raise TooManyError(
                f"{len(self._waiting)} computations wait already, and no more are taken. Wait until some have "
                "ended, or stop them."
            )
        if known is not None:
            del self._ended[key]
            if known.state == "done":
                self._clear(known)
        job = Job(key, work, self._place)
        job.looked_at = time.monotonic()
        if self._limits.alone_seconds < math.inf:
            self._watch(job)
        if self._problem:
            self._end(job, failed(self._problem), state="failed")
        else:
            self._waiting.append(job)
            self._some.set()
        return job

    def stop(self, key: str) -> None:
        """Stop a job, which keeps what it has finished; nothing happens to one that has ended."""
        job = self.job_of(key)
        if job is None or job.has_ended:
            return
        worker = self._running.get(job)
        if worker is None:
            self._waiting.remove(job)
            self._end(job, failed(_STOPPED_BEFORE, exit_code=INTERRUPTED), state="stopped")
        else:
            worker.interrupt()
            asyncio.get_running_loop().call_later(self._limits.stop_seconds, self._kill, job, worker)

    def leave(self, key: str) -> None:
        """The page of a job is left: it is stopped, unless one asks for it at once, as a page loaded anew."""
        job = self.job_of(key)
        if job is not None and not job.has_ended:
            left = job.looked_at
            loop = asyncio.get_running_loop()
            loop.call_later(_RELOADED_SECONDS, lambda: self.stop(key) if job.looked_at == left else None)

    def _watch(self, job: Job) -> None:
        """Stop a job that no page has asked for so long."""
        left = job.looked_at + self._limits.alone_seconds - time.monotonic()
        if job.has_ended:
            return
        if left <= 0:
            self.stop(job.key)
        else:
            asyncio.get_running_loop().call_later(left, self._watch, job)

    async def wait(self) -> None:
        """Return when a job waits for a worker."""
        while not self._waiting:
            self._some.clear()
            await self._some.wait()

    async def serve(self, worker: Worker) -> None:
        """Have the worker do the next job."""
        if not self._waiting:
            return
        job = self._waiting.popleft()
        self._running[job] = worker
        job.begin()
        worker.tell = job.hear
        try:
            if job.key in self._clearing:
                await self._clearing[job.key]
            answer = await worker.ask(job.work)
            state: State = "done" if answer.exit_code in (0, _TARGET_MISSED) else "failed"
            if answer.exit_code == INTERRUPTED:
                state = "stopped"
        except DiedError as died:
            was_stopped = died.cause in ("stopped", "closed")
            answer = failed(str(died), exit_code=INTERRUPTED if was_stopped else 1)
            state = "stopped" if was_stopped else "failed"
        finally:
            worker.tell = lambda _progress: None  # nobody wants to hear
            del self._running[job]
        self._end(job, answer, state=state)

    def give_up(self, problem: str) -> None:
        """No worker will ever do a job."""
        self._problem = problem
        while self._waiting:
            self._end(self._waiting.popleft(), failed(problem), state="failed")

    async def close(self) -> None:
        """Stop all jobs, and wait until they have kept what is finished."""
        running = list(self._running)
        for job in [*self._waiting, *running]:
            self.stop(job.key)
        await asyncio.gather(*(job.wait(self._limits.stop_seconds + 1) for job in running))
        await asyncio.gather(*self._clearing.values())

    def _place(self, job: Job) -> int:
        return self._waiting.index(job) + len(self._running) if job in self._waiting else 0

    def _kill(self, job: Job, worker: Worker) -> None:
        if self._running.get(job) is worker:
            worker.kill("stopped")

    def _end(self, job: Job, answer: Answer, *, state: State) -> None:
        self._ended[job.key] = job, size_of(answer) + _bytes_below(job.work.output)
        job.end(answer, state=state)
        total = sum(size for _, size in self._ended.values())
        while len(self._ended) > 1 and (
            len(self._ended) > self._limits.kept_jobs or total > self._limits.kept_job_bytes
        ):
            _, (oldest, size) = self._ended.popitem(last=False)
            total -= size
            self._clear(oldest)

    def _clear(self, job: Job) -> None:
        """Remove the output of a job, what lies beside it, and what is kept of its unfinished work."""
        if job.work.output:
            clearing = asyncio.get_running_loop().run_in_executor(None, _remove_output, job.work.output)
            self._clearing[job.key] = clearing
            clearing.add_done_callback(lambda _: self._clearing.pop(job.key, None))


def _bytes_below(folder: str) -> int:
    """The size of all files in an output; 0 without one."""
    if not folder:
        return 0
    sizes = 0
    for above, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                sizes += os.lstat(os.path.join(above, name)).st_size
    return sizes


def _remove_output(output: str) -> None:
    for folder in (Path(output), Path(output).with_name(BESIDE), partial_of(Path(output))):
        with suppress(OSError):
            remove_tree(folder)


async def _set_within(event: asyncio.Event, timeout: float | None) -> bool:
    with suppress(TimeoutError):
        await asyncio.wait_for(event.wait(), timeout)
    return event.is_set()


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
        self._live, self._jobs = LiveQuestions(self.limits), Jobs(self.limits)
        live = Crew(self._n_live, self._live, partial(self._worker, for_jobs=False))
        jobs = partial(self._worker, for_jobs=True)
        self._crews = live, Crew(self._n_jobs, self._jobs, jobs, after=live.some_ready)

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

    def _worker(self, tell: Tell, *, for_jobs: bool) -> Worker:
        limits, cpu = self.limits, None
        if not for_jobs and hasattr(os, "sched_getaffinity"):
            cpu = limits.live_seconds * len(os.sched_getaffinity(0))
        memory = (limits.job_memory or half_of_memory()) if for_jobs else limits.live_memory
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

"""Long questions: they wait their turn, tell how far they are, can be stopped, and go on where they were."""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Literal

from humeval_power.doors.page.answers import BESIDE, Answer, JobProgress, Work
from humeval_power.doors.page.working.crew import TooManyError
from humeval_power.doors.page.working.live_questions import size_of, stamp
from humeval_power.doors.page.working.worker_link import INTERRUPTED, DiedError, Worker, failed
from humeval_power.files.disk import remove_tree
from humeval_power.files.file_sets import partial_of

State = Literal["waiting", "running", "done", "stopped", "failed"]
_STOPPED_BEFORE = "Stopped before it was begun."
_TARGET_MISSED = 3
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
    """The source of the workers that answer long questions, and what became of those.

    n_waiting : how many may wait.
    stop_seconds : how long one that is stopped may take to keep what it has finished.
    alone_seconds : how long one goes on that no page asks for; a page that is left says so.
    n_kept, bytes_kept : how many that have ended are remembered, and of what size together, with their outputs.
    The output of one that is forgotten is removed: it must lie in a folder of the server's own.
    """

    def __init__(
        self,
        *,
        n_waiting: int,
        stop_seconds: float,
        n_kept: int,
        bytes_kept: int,
        alone_seconds: float = math.inf,
    ) -> None:
        self._n_waiting, self._stop_seconds = n_waiting, stop_seconds
        self._alone_seconds = alone_seconds
        self._n_kept, self._bytes_kept = n_kept, bytes_kept
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
        if len(self._waiting) >= self._n_waiting:
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
        if self._alone_seconds < math.inf:
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
            asyncio.get_running_loop().call_later(self._stop_seconds, self._kill, job, worker)

    def leave(self, key: str) -> None:
        """The page of a job is left: it is stopped, unless one asks for it at once, as a page loaded anew."""
        job = self.job_of(key)
        if job is not None and not job.has_ended:
            left = job.looked_at
            loop = asyncio.get_running_loop()
            loop.call_later(_RELOADED_SECONDS, lambda: self.stop(key) if job.looked_at == left else None)

    def _watch(self, job: Job) -> None:
        """Stop a job that no page has asked for so long."""
        left = job.looked_at + self._alone_seconds - time.monotonic()
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
        await asyncio.gather(*(job.wait(self._stop_seconds + 1) for job in running))
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
        while len(self._ended) > 1 and (len(self._ended) > self._n_kept or total > self._bytes_kept):
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

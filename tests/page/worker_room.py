"""Workers in a loop of their own, for tests that are no coroutines."""

import asyncio
import os
import time
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import page_runs

from humeval_power.doors.page.answers import Answer, Work
from humeval_power.doors.page.working.jobs import Job, Workers, WorkLimits
from humeval_power.doors.page.working.worker_link import Run

T = TypeVar("T")
HALLO = (Work(("say", "hallo")),)


class Room:
    """Workers of fake runs, and the loop they are used in."""

    def __init__(self, loop: asyncio.AbstractEventLoop, workers: Workers) -> None:
        self.loop, self.workers = loop, workers

    def do(self, what: Coroutine[Any, Any, T], *, within: float = 60) -> T:
        """What comes of a coroutine."""
        return self.loop.run_until_complete(asyncio.wait_for(what, within))

    def live(self, *words: str, tab: str = "one") -> Answer:
        """The answer to a question."""
        answer = self.do(self.workers.live(Work(words), tab))
        assert answer is not None
        return answer

    def lives(self, *questions: tuple[str, tuple[str, ...]]) -> list[Answer | None]:
        """The answers to questions of pages that are asked in this order, none waiting for another."""

        async def all_of_them() -> list[Answer | None]:
            asked = []
            for tab, words in questions:
                asked.append(asyncio.ensure_future(self.workers.live(Work(words), tab)))
                await asyncio.sleep(0)
            return await asyncio.gather(*asked)

        return self.do(all_of_them())

    def job(self, key: str, *words: str, output: str | Path = "") -> Job:
        """A job."""

        async def add() -> Job:
            return self.workers.job(key, Work(words, output=str(output)))

        return self.do(add())

    def stop(self, key: str) -> None:
        """Stop a job."""

        async def stop() -> None:
            self.workers.stop(key)

        self.do(stop())

    def end(self, job: Job, *, within: float = 30) -> Answer:
        """The answer of a job."""
        self.do(job.wait(within))
        assert job.answer is not None
        return job.answer

    def until(self, holds: Any, *, within: float = 30) -> None:
        """Let time pass until something holds."""
        end = time.monotonic() + within
        while not holds():
            assert time.monotonic() < end, "it never held"
            self.do(asyncio.sleep(0.02))


@contextmanager
def a_room(
    run: Run = page_runs.fake,
    *,
    n_live: int = 2,
    n_jobs: int = 1,
    limits: WorkLimits | None = None,
    warm: tuple[Work, ...] = HALLO,
    kernels: bool = False,
) -> Iterator[Room]:
    """Workers, and none of them afterwards."""
    loop = asyncio.new_event_loop()
    workers = Workers(
        run, n_live=n_live, n_jobs=n_jobs, limits=limits, warm=warm, later=(), kernels=kernels
    )
    try:
        loop.run_until_complete(workers.start())
        yield Room(loop, workers)
    finally:
        pids = workers.pids
        loop.run_until_complete(workers.close())
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
        assert not [pid for pid in pids if lives(pid)]


def lives(pid: int) -> bool:
    """Whether a process runs."""
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return False
    return state != "Z"


def problem_of(answer: Answer) -> str:
    """The one problem that an answer tells of."""
    (problem,) = answer.problems
    return problem.text

"""So many warm workers, whatever happens to each: those that die are replaced, and those that tire."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from humeval_power.doors.page.answers import JobProgress, Tell
from humeval_power.doors.page.working.worker_link import Worker
from humeval_power.errors import HumevalPowerError

MOST_FAILURES = 3  # of starts, one after the other


class TooManyError(HumevalPowerError):
    """More is asked than can wait for a worker."""


class LiveSource(Protocol):
    """Where workers get their questions from."""

    async def wait(self) -> None:
        """Return when there is a question."""
        ...

    async def serve(self, worker: Worker) -> None:
        """Have the worker answer the next question, if there still is one; its death is told to whoever asked."""
        ...

    def give_up(self, problem: str) -> None:
        """No worker can be started, and none will be: tell all who wait."""
        ...


class Crew:
    """Workers that answer the questions of a source.

    new : starts a worker, which tells of its start what it is given.
    after : set when the first may be started.
    """

    def __init__(
        self,
        n_workers: int,
        source: LiveSource,
        new: Callable[[Tell], Worker],
        *,
        after: asyncio.Event | None = None,
    ) -> None:
        self.progress: JobProgress | None = None  # of the start
        self.problem = ""  # why no worker can be started
        self.some_ready = asyncio.Event()  # or none ever will be
        if not n_workers:
            self.some_ready.set()
        self._source = source
        self._after = after
        self._new_worker = new
        self._n_failures, self._n_seats = 0, n_workers
        self._workers: set[Worker] = set()
        self._seats = [asyncio.create_task(self._sit()) for _ in range(n_workers)]

    async def close(self) -> None:
        """End all workers."""
        for seat in self._seats:
            seat.cancel()
        await asyncio.gather(*self._seats, return_exceptions=True)
        await asyncio.gather(*(self._dismiss(worker) for worker in list(self._workers)))

    @property
    def is_ready(self) -> bool:
        """Whether any of them is warm."""
        return any(worker.is_ready and worker.is_alive for worker in self._workers)

    @property
    def pids(self) -> list[int]:
        """The numbers of the processes."""
        return [worker.pid for worker in self._workers]

    async def _sit(self) -> None:
        """One worker after the other, for as long as the server runs."""
        if self._after is not None:
            await self._after.wait()
        worker, following = await self._warm(), None
        while worker is not None:
            await self._work_or_death(worker)
            if worker.is_alive:
                await self._source.serve(worker)
            if worker.is_alive and worker.tired and following is None:
                following = self._new()
            if not worker.is_alive or (following is not None and following.is_ready):
                await self._dismiss(worker)
                worker, following = await self._warm(following), None
        self._n_seats -= 1
        if not self._n_seats:
            self._source.give_up(self.problem)

    async def _work_or_death(self, worker: Worker) -> None:
        """Wait for a question, or for the worker's end if that comes before."""
        waits = [asyncio.create_task(self._source.wait()), asyncio.create_task(worker.ended())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _warm(self, begun: Worker | None = None) -> Worker | None:
        """A worker that is ready; None after too many that were not."""
        while self._n_failures < MOST_FAILURES:
            worker = begun or self._new()
            begun = None
            if await worker.ready():
                self._n_failures, self.progress, self.problem = 0, None, ""
                self.some_ready.set()
                return worker
            self._n_failures += 1
            if self._n_failures >= MOST_FAILURES:
                self.problem = _problem(worker)
            await self._dismiss(worker)
        self.some_ready.set()
        return None

    def _new(self) -> Worker:
        worker = self._new_worker(self._hear)
        self._workers.add(worker)
        return worker

    async def _dismiss(self, worker: Worker) -> None:
        worker.kill("closed")
        await worker.ended()
        self._workers.discard(worker)

    def _hear(self, progress: JobProgress) -> None:
        self.progress = progress


def _problem(worker: Worker) -> str:
    last = worker.printed.strip().splitlines()[-1:] or [str(worker.death())]
    return (
        f"The processes that compute the answers cannot be started ({MOST_FAILURES} tries): {last[0]} End the "
        "page, look whether a command answers in the terminal, and start the page again."
    )

"""Questions of pages that move: the newest of each counts, equal ones are answered once, and nobody starves."""

from __future__ import annotations

import asyncio
import os
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

from humeval_power.doors.page.answers import Answer, Work
from humeval_power.doors.page.working.crew import TooManyError
from humeval_power.doors.page.working.worker_link import DiedError, Worker, failed

# Seconds for which an answer is given again, and one that took its worker along.
FRESH, FRESH_FAILURE = 300.0, 30.0
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
    """The source of the workers that answer while somebody drags a slider.

    seconds : how long an answer may take.
    n_waiting : how many questions may wait.
    n_kept, bytes_kept : how many answers are kept to be given again, and of what size together.
    """

    def __init__(self, *, seconds: float, n_waiting: int, n_kept: int, bytes_kept: int) -> None:
        self._seconds, self._n_waiting = seconds, n_waiting
        self._kept = _Kept(n_kept, bytes_kept)
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
        if len(self._questions) >= self._n_waiting and key not in self._questions:
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
            answer = await worker.ask(question.key[0], seconds=self._seconds)
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

"""One worker process as the server sees it: it is started, asked, watched, and killed where it must be.

It has a session of its own: Ctrl-C in the terminal reaches the server alone, which then ends its workers in order,
and all that a worker has started is killed with it.

So many warm workers, whatever happens to each: those that die are replaced, and those that tire.
"""

from __future__ import annotations

import asyncio
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import BinaryIO, Literal, Protocol

from humeval_power.doors.page.answers import COMPILING, Answer, JobProgress, Tell, Work, Wrong
from humeval_power.errors import HumevalPowerError

# What a worker process may take: so much memory, and so much time of the processor.


def resident(pid: int | str) -> int | None:
    """Bytes of memory that a process holds; None where the system does not say."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None


def cap_memory(more: int) -> None:
    """Let this process take so many bytes more than now. What would take more raises MemoryError, in words.

    The limit is of data, not of the address space: compilers and thread stacks reserve far more addresses than
    they ever use. Where the system has no such limit the server watches alone.
    """
    import resource

    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/self/status").read_text().splitlines()
        data = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmData:"))
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (data + more, hard))


def cap_time(seconds: float) -> None:
    """Let this process use so many seconds of the processor from now: the system ends it then, even while it
    hears nobody."""
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    with suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime + seconds) + 1, hard))


def no_core_dump() -> None:
    """Nothing of what was uploaded may lie on the disk after a crash."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


# What the server and a worker process say to each other, and how it goes through the socket between them.

Run = Callable[[Work, Tell], Answer]
INTERRUPTED = 130  # as a command ends after Ctrl-C
COMPILE_SECONDS = 300.0  # that compiling may take: time-outs are put off by it
_LENGTH = struct.Struct("!Q")


@dataclass(frozen=True, slots=True)
class Setup:
    """The first message to a worker.

    run : answers a question.
    warm : small questions, answered before the worker is said to be ready.
    later : commands that are loaded afterwards, one at a time while nothing is asked.
    kernels : whether all kernels are loaded too, or compiled, as `warm-up` does.
    memory : bytes that answers may take beyond those of a warm worker.
    cpu : seconds of the processor that one answer may take; None for endless.
    answers, growth : after so many answers, or so many bytes more, a worker asks to be replaced.
    scratch : a folder for temporary files, such as those of answers that are killed; "" for the system's.
    patient : whether it lets other processes have the cores first.
    """

    run: Run
    warm: tuple[Work, ...]
    later: tuple[tuple[str, ...], ...]
    kernels: bool
    memory: int
    cpu: float | None
    answers: int
    growth: int
    scratch: str
    patient: bool


@dataclass(frozen=True, slots=True)
class WorkerReady:
    """A worker is warm."""


@dataclass(frozen=True, slots=True)
class WorkerRequest:
    """A question, the `number`th that this worker is asked."""

    number: int
    work: Work


@dataclass(frozen=True, slots=True)
class Stop:
    """Stop the question of this number, and keep what is finished."""

    number: int


@dataclass(frozen=True, slots=True)
class WorkerAnswer:
    """An answer; `tired` says why the worker should be replaced, "" where it need not, and `spoilt` whether it
    must be before the next question."""

    answer: Answer
    tired: str = ""
    spoilt: bool = False


def packed(message: object) -> bytes:
    """A message as it goes through the socket."""
    content = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(content)) + content


def length_of(head: bytes) -> int:
    """How many bytes follow the head of a message."""
    (length,) = _LENGTH.unpack(head)
    return int(length)


HEAD = _LENGTH.size


def read_message(stream: BinaryIO) -> object:
    """The next message. Raises EOFError: there is none any more."""
    head = stream.read(HEAD)
    content = stream.read(length_of(head)) if len(head) == HEAD else b""
    if not content:
        raise EOFError
    return pickle.loads(content)


def failed(text: str, *, exit_code: int = 1) -> Answer:
    """An answer that is only a problem, in words."""
    return Answer(exit_code, problems=(Wrong(text),))


LOOK_EVERY = 0.2  # seconds between two looks at a process
_PROGRAM = f"{__package__}.worker_process"
_MOST_SAID = 4000  # bytes of what a process printed that are kept, for whoever must find out why it died
Cause = Literal["died", "memory", "time", "stopped", "closed"]


class DiedError(Exception):
    """A worker ended under a question; the text says why, in words for people."""

    def __init__(self, cause: Cause, text: str) -> None:
        super().__init__(text)
        self.cause: Cause = cause


class Worker:
    """A process that answers one question at a time; to be made and used in an asyncio loop.

    memory : bytes that it may hold more than when it was ready, before it is killed.
    start : seconds until it must be ready.
    tell : hears of progress, of the start too.
    """

    def __init__(self, setup: Setup, *, memory: int, start: float, tell: Tell) -> None:
        self.tell = tell
        self.tired = ""  # why it should be replaced some time
        self._memory = memory
        self._loop = asyncio.get_running_loop()
        self._ready: asyncio.Future[bool] = self._loop.create_future()
        self._number = 0
        self._asked: asyncio.Future[Answer] | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._cause: Cause = "died"
        self._deadline: float | None = self._loop.time() + start
        self._seconds: float | None = start
        self._size: int | None = None
        self._printed = b""
        link, self._process = _started()
        self._listener = self._loop.create_task(self._listen(link, setup))
        self._watcher = self._loop.create_task(self._watch())

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether it can still answer."""
        return not self._listener.done() and self._cause == "died"

    @property
    def is_ready(self) -> bool:
        """Whether it is warm."""
        return self._ready.done() and self._ready.result()

    @property
    def printed(self) -> str:
        """The last of what it printed."""
        return self._printed.decode(errors="replace")

    async def ready(self) -> bool:
        """Wait until it is warm; False where it ended before."""
        return await asyncio.shield(self._ready)

    async def ask(self, work: Work, *, seconds: float | None = None) -> Answer:
        """The answer to a question, which may take so many seconds; compiling does not count.
        Raises DiedError: the process ended before it answered, or was ended."""
        if not self.is_alive or self._writer is None:
            raise self.death()
        self._asked = self._loop.create_future()
        self._seconds = seconds
        self._deadline = None if seconds is None else self._loop.time() + seconds
        self._number += 1
        self._writer.write(packed(WorkerRequest(self._number, work)))
        try:
            return await self._asked
        finally:
            self._asked = self._deadline = None

    def interrupt(self) -> None:
        """Ask it to stop what it is at, and to keep what is finished."""
        if self._asked is not None and self._writer is not None:
            self._writer.write(packed(Stop(self._number)))

    def kill(self, cause: Cause) -> None:
        """End it now, with all that it started."""
        if self._listener.done():
            return
        if self._cause == "died":
            self._cause = cause
        self._kill_all()

    async def ended(self) -> None:
        """Wait until nothing of it is left."""
        await asyncio.wait([self._listener])

    def death(self) -> DiedError:
        """Why it ended."""
        return DiedError(
            self._cause, _words(self._cause, self._process.returncode, self._seconds, self._memory)
        )

    async def _listen(self, link: socket.socket, setup: Setup) -> None:
        """Hear what it says until it has ended, and bury it."""
        assert self._process.stdout is not None
        printed = self._process.stdout.fileno()
        os.set_blocking(printed, False)
        self._loop.add_reader(printed, self._keep_printed, printed)
        reader, self._writer = await asyncio.open_connection(sock=link)
        try:
            self._writer.write(packed(setup))
            while True:
                head = await reader.readexactly(HEAD)
                self._heard(pickle.loads(await reader.readexactly(length_of(head))))
        except (OSError, EOFError):
            pass
        finally:
            self._watcher.cancel()
            self._writer.close()
            await self._loop.run_in_executor(None, self._bury)
            self._loop.remove_reader(printed)
            self._keep_printed(printed)
            self._process.stdout.close()
            if not self._ready.done():
                self._ready.set_result(False)
            if self._asked is not None and not self._asked.done():
                self._asked.set_exception(self.death())

    def _heard(self, message: object) -> None:
        if isinstance(message, JobProgress):
            if message.what == COMPILING and self._deadline is not None:
                self._deadline = max(self._deadline, self._loop.time() + COMPILE_SECONDS)
            self.tell(message)
        elif isinstance(message, WorkerReady):
            self._size = resident(self.pid)
            self._deadline = None
            self._ready.set_result(True)
        elif isinstance(message, WorkerAnswer):
            self.tired = message.tired
            if self._asked is not None and not self._asked.done():
                self._asked.set_result(message.answer)
            if message.spoilt:
                self.kill("closed")

    async def _watch(self) -> None:
        """End it when it takes too long or too much; see when it ends while something else holds its link."""
        while self._process.poll() is None:
            await asyncio.sleep(LOOK_EVERY)
            if self._deadline is not None and self._loop.time() > self._deadline:
                self.kill("time")
            size = resident(self.pid) if self._size is not None else None
            if size is not None and self._size is not None and size - self._size > self._memory:
                self.kill("memory")
        self._kill_all()
        await asyncio.sleep(LOOK_EVERY)
        if self._writer is not None:
            self._writer.transport.abort()

    def _keep_printed(self, handle: int) -> None:
        with suppress(BlockingIOError):
            while said := os.read(handle, 65536):
                self._printed = (self._printed + said)[-_MOST_SAID:]
            self._loop.remove_reader(handle)

    def _kill_all(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)

    def _bury(self) -> None:
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(LOOK_EVERY)
        self._kill_all()
        self._process.wait()


def _started() -> tuple[socket.socket, subprocess.Popen[bytes]]:
    """A new process, and our end of the link to it; it finds the modules that this one finds."""
    ours, theirs = socket.socketpair()
    program = (
        f"import sys; sys.path[:] = {sys.path!r}; from {_PROGRAM} import serve; serve({theirs.fileno()})"
    )
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )
    return ours, process


def _words(cause: Cause, status: int | None, seconds: float | None, memory: int) -> str:
    """Why a worker ended, and what may help."""
    smaller = "Take a smaller study, a smaller file or fewer simulations"
    terminal = "or run the command in a terminal, where nothing limits it"
    if cause == "time":
        return f"This took longer than {seconds or 0:.0f} seconds and was ended. {smaller}; {terminal}."
    if cause == "memory":
        return f"This took more than {memory / 1e9:.1f} GB of memory and was ended. {smaller}; {terminal}."
    if cause == "stopped":
        return "Stopped. What was finished until then is kept, and the same question goes on from there."
    if cause == "closed":
        return "The page was ended. What was finished until then is kept where it has a folder."
    if status == -signal.SIGXCPU:
        return f"This took too much time of the processor and was ended. {smaller}; {terminal}."
    if status == -signal.SIGKILL:
        return (
            "The process that computed this was killed, as systems do where the memory is not enough. "
            f"{smaller}, or close other programs."
        )
    how = f"ended with code {status}"
    if status is not None and status < 0:
        how = f"crashed ({signal.strsignal(-status) or -status})"
    return (
        f"The process that computed this {how}; another one has taken its place. Try again. If it happens again, "
        "run the command in a terminal, and report what it says."
    )


# What an answer leaves behind in its process: some is put back, the rest is found.

MOST_FILES = 32  # that an answer may leave open before the worker is replaced


@contextmanager
def as_it_was() -> Iterator[None]:
    """Around an answer: what commands may change in their process is put back."""
    import warnings

    import numpy as np

    folder, environment, words = os.getcwd(), dict(os.environ), list(sys.argv)
    streams = sys.stdin, sys.stdout, sys.stderr
    handlers = {
        number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGPIPE, signal.SIGALRM)
    }
    mask = os.umask(0o077)
    os.umask(mask)
    try:
        with warnings.catch_warnings(), np.printoptions(), np.errstate():
            yield
    finally:
        os.chdir(folder)
        os.umask(mask)
        if dict(os.environ) != environment:
            os.environ.clear()
            os.environ.update(environment)
        sys.argv[:] = words
        sys.stdin, sys.stdout, sys.stderr = streams
        for number, handler in handlers.items():
            signal.signal(number, handler)


def open_files() -> int:
    """How many files this process has open; 0 where the system does not say."""
    with suppress(OSError):
        return len(os.listdir("/proc/self/fd"))
    return 0


def has_children() -> bool:
    """Whether a process that was started here still runs; one that has ended is buried."""
    with suppress(ChildProcessError):
        while True:
            ended, _ = os.waitpid(-1, os.WNOHANG)
            if not ended:
                return True
    return False


def is_in_command() -> bool:
    """Whether a command was begun and not ended."""
    import click

    return click.get_current_context(silent=True) is not None


def is_importing(frame: FrameType | None) -> bool:
    """Whether a module is being loaded in this frame or above it."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


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

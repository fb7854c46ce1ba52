"""What runs in a worker process: it is made warm once, then answers one question after the other.

The server talks to it through a socket. When the server ends, in whichever way, the socket closes: the worker then
keeps what it has finished and ends, with every process that it may have started.
"""

from __future__ import annotations

import os
import pickle
import signal
import socket
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Thread, active_count, main_thread
from typing import Any, BinaryIO

from humeval_power.interfaces.page.answers import COMPILING, Answer, Tell, Told, Work, Wrong

Run = Callable[[Work, Tell], Answer]
INTERRUPTED = 130  # as a command ends after Ctrl-C
TELL_EVERY = 0.1  # seconds between two words of progress
GRACE = 3.0  # seconds to keep what is finished when the server has gone
_LENGTH = struct.Struct("!Q")
_MOST_FILES = 32  # that an answer may leave open before the worker is replaced
_PATIENCE = 3  # of nice: about half of the share of a process that is not patient, and never starved


@dataclass(frozen=True, slots=True)
class Setup:
    """The first message to a worker.

    run : answers a question.
    warm : a small question, answered before the worker is said to be ready.
    kernels : whether all kernels are loaded too, or compiled, as `warm-up` does.
    memory : bytes that answers may take beyond those of a warm worker.
    cpu : seconds of the processor that one answer may take; None for endless.
    answers, growth : after so many answers, or so many bytes more, a worker asks to be replaced.
    scratch : a folder for temporary files, such as those of answers that are killed; "" for the system's.
    patient : whether it lets other processes have the cores first.
    """

    run: Run
    warm: tuple[Work, ...]
    kernels: bool
    memory: int
    cpu: float | None
    answers: int
    growth: int
    scratch: str
    patient: bool


@dataclass(frozen=True, slots=True)
class Ready:
    """A worker is warm."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the `number`th that this worker is asked."""

    number: int
    work: Work


@dataclass(frozen=True, slots=True)
class Stop:
    """Stop the question of this number, and keep what is finished."""

    number: int


@dataclass(frozen=True, slots=True)
class Answered:
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


def resident(pid: int | str) -> int | None:
    """Bytes of memory that a process holds; None where the system does not say."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return None


def serve(handle: int) -> None:
    """Be a worker, talking through the socket `handle`, until the server has no more questions."""
    os.set_inheritable(handle, False)
    worker = _Worker(socket.socket(fileno=handle))
    signal.signal(signal.SIGINT, worker.interrupted)
    _no_core_dump()
    setup: Setup = worker.incoming.get()
    worker.prepare(setup)
    worker.send(Ready())
    while True:
        worker.send(worker.answered(worker.incoming.get()))


class _Worker:
    """One process; two threads of it read and write, so that nothing which happens to an answer, such as being
    interrupted, tears a message apart."""

    def __init__(self, link: socket.socket) -> None:
        self.incoming: SimpleQueue[Any] = SimpleQueue()
        self._outgoing: SimpleQueue[bytes] = SimpleQueue()
        self._link = link
        self._number, self._to_stop = 0, -1
        self._may_stop = self._is_ending = False
        self._at_rest = Event()
        self._at_rest.set()
        self._n_answers = 0
        for work in (self._read, self._write):
            Thread(target=work, daemon=True).start()

    def send(self, message: object) -> None:
        """Give the server a message."""
        self._outgoing.put(packed(message))

    def interrupted(self, *_: object) -> None:
        """Stop the answer under way if that is wanted, once."""
        if self._may_stop and (self._is_ending or self._to_stop == self._number):
            self._may_stop = False
            raise KeyboardInterrupt

    def prepare(self, setup: Setup) -> None:
        """Import, load and compile what answers need, and set the limits."""
        self._setup = setup
        if setup.patient:
            os.nice(_PATIENCE)
        tell = self._telling()
        for work in setup.warm:
            setup.run(work, tell)
        if setup.kernels:
            _load_kernels(tell)
        tempfile.tempdir = setup.scratch or None
        self._n_threads, self._n_files = active_count(), _open_files()
        self._size = resident("self") or 0
        _cap_memory(setup.memory)

    def answered(self, asked: Asked) -> Answered:
        """The answer to a question, whatever happens to it."""
        self._at_rest.clear()
        self._number = asked.number
        tell = self._telling()
        _cap_time(self._setup.cpu)
        try:
            with _as_it_was():
                answer = self._run(asked.work, tell)
        finally:
            self._at_rest.set()
            signal.signal(signal.SIGINT, self.interrupted)
        self._n_answers += 1
        spoilt = self._spoilt()
        return Answered(answer, spoilt or self._tired(), bool(spoilt))

    def _run(self, work: Work, tell: Tell) -> Answer:
        try:
            try:
                self._may_stop = True
                self.interrupted()  # what came before it could be heard
                return copy_context().run(self._setup.run, work, tell)
            finally:
                self._may_stop = False
        except KeyboardInterrupt:
            return failed("Stopped.", exit_code=INTERRUPTED)
        except MemoryError:
            return failed(NO_MEMORY)
        except BaseException as error:
            return failed(
                f"{type(error).__name__}: {error}. This is a mistake in the program: please report it."
            )

    def _telling(self) -> Tell:
        """A function that tells the server, at most ten times a second unless something else begins."""
        last = Told("")
        when = 0.0

        def tell(told: Told) -> None:
            nonlocal last, when
            now = time.monotonic()
            if told.what != last.what or (told != last and now - when >= TELL_EVERY):
                last, when = told, now
                self.send(told)

        return tell

    def _tired(self) -> str:
        """Why this process should be replaced some time."""
        if self._n_answers >= self._setup.answers:
            return "it has given many answers"
        grown = (resident("self") or 0) - self._size
        return "its memory has grown" if grown > self._setup.growth else ""

    def _spoilt(self) -> str:
        """What the answer has left in this process that nothing can put back."""
        if _is_in_command():
            return "an answer left its command open"
        if active_count() > self._n_threads:
            return "an answer left threads behind"
        if _has_children():
            return "an answer left processes behind"
        return "an answer left files open" if _open_files() > self._n_files + _MOST_FILES else ""

    def _read(self) -> None:
        with suppress(OSError, EOFError), self._link.makefile("rb") as stream:
            while True:
                message = _message(stream)
                if isinstance(message, Stop):
                    self._to_stop = message.number
                    self._wake()
                else:
                    self.incoming.put(message)
        self._end()

    def _write(self) -> None:
        with suppress(OSError):
            while True:
                self._link.sendall(self._outgoing.get())

    def _wake(self) -> None:
        """Have the thread that answers look whether it is to stop."""
        signal.pthread_kill(main_thread().ident or 0, signal.SIGINT)

    def _end(self) -> None:
        """The server has gone, or needs this process no longer."""
        if not self._at_rest.is_set():
            self._is_ending = True
            self._wake()
            self._at_rest.wait(GRACE)
        if os.getpgid(0) == os.getpid():
            os.killpg(0, signal.SIGKILL)
        os._exit(0)


def _load_kernels(tell: Tell) -> None:
    """Load all kernels; those that are not kept are compiled, which is told."""
    from humeval_power.interfaces.cli.warm_up import warming_steps
    from humeval_power.kernels.compile_events import listening

    steps = warming_steps()
    for done, step in enumerate(steps.values()):
        share = done / len(steps)
        with listening(lambda _, share=share: tell(Told(COMPILING, share))):  # type: ignore[misc]
            step()


NO_MEMORY = (
    "The memory is not enough for this: the page gives each answer a part of it. Take a smaller study, a smaller "
    "file or fewer simulations; or run the command in a terminal, where all of the memory can be used."
)


def failed(text: str, *, exit_code: int = 1) -> Answer:
    """An answer that is only a problem, in words."""
    return Answer(exit_code, problems=(Wrong(text),))


def _message(stream: BinaryIO) -> object:
    head = stream.read(HEAD)
    content = stream.read(length_of(head)) if len(head) == HEAD else b""
    if not content:
        raise EOFError
    return pickle.loads(content)


@contextmanager
def _as_it_was() -> Iterator[None]:
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


def _cap_memory(more: int) -> None:
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


def _cap_time(seconds: float | None) -> None:
    """Let this process use so many seconds of the processor from now: the system ends it then, even while it
    hears nobody."""
    import resource

    if seconds is not None:
        used = resource.getrusage(resource.RUSAGE_SELF)
        _, hard = resource.getrlimit(resource.RLIMIT_CPU)
        with suppress(OSError, ValueError):
            resource.setrlimit(
                resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime + seconds) + 1, hard)
            )


def _no_core_dump() -> None:
    """Nothing of what was uploaded may lie on the disk after a crash."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def _open_files() -> int:
    with suppress(OSError):
        return len(os.listdir("/proc/self/fd"))
    return 0


def _has_children() -> bool:
    """Whether a process that was started here still runs; one that has ended is buried."""
    with suppress(ChildProcessError):
        while True:
            ended, _ = os.waitpid(-1, os.WNOHANG)
            if not ended:
                return True
    return False


def _is_in_command() -> bool:
    import click

    return click.get_current_context(silent=True) is not None

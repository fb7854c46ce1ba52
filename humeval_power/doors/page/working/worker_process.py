"""What runs in a worker process: it is made warm once, then answers one question after the other.

The server talks to it through a socket. When the server ends, in whichever way, the socket closes: the worker then
keeps what it has finished and ends, with every process that it may have started.
"""

from __future__ import annotations

import os
import signal
import socket
import tempfile
import time
from contextlib import suppress
from contextvars import copy_context
from queue import SimpleQueue
from threading import Event, Thread, active_count, main_thread
from types import FrameType
from typing import Any

from humeval_power.doors.page.answers import COMPILING, NO_MEMORY, Answer, JobProgress, Tell, Work
from humeval_power.doors.page.working.worker_link import (
    COMPILE_SECONDS,
    INTERRUPTED,
    MOST_FILES,
    Setup,
    Stop,
    WorkerAnswer,
    WorkerReady,
    WorkerRequest,
    as_it_was,
    cap_memory,
    cap_time,
    failed,
    has_children,
    is_importing,
    is_in_command,
    no_core_dump,
    open_files,
    packed,
    read_message,
    resident,
)

_KERNELS = 10  # of a step, about
TELL_EVERY = 0.1  # seconds between two words of progress
GRACE = 3.0  # seconds to keep what is finished when the server has gone
_PATIENCE = 3  # of nice: about half of the share of a process that is not patient, and never starved


def serve(handle: int) -> None:
    """Be a worker, talking through the socket `handle`, until the server has no more questions."""
    os.set_inheritable(handle, False)
    worker = _Worker(socket.socket(fileno=handle))
    signal.signal(signal.SIGINT, worker.interrupted)
    no_core_dump()
    setup: Setup = worker.incoming.get()
    worker.prepare(setup)
    worker.send(WorkerReady())
    later = list(setup.later)
    while True:
        if later and worker.incoming.empty():
            from humeval_power.doors.page.requests import command_of

            command_of(later.pop(0))
        else:
            worker.send(worker.answered(worker.incoming.get()))


class _Worker:
    """One process; two threads of it read and write, so that nothing which happens to an answer, such as being
    interrupted, tears a message apart."""

    def __init__(self, link: socket.socket) -> None:
        self.incoming: SimpleQueue[Any] = SimpleQueue()
        self._outgoing: SimpleQueue[bytes] = SimpleQueue()
        self._link = link
        self._number, self._to_stop = 0, -1
        self._is_torn = False
        self._may_stop = self._is_ending = False
        self._at_rest = Event()
        self._at_rest.set()
        self._n_answers = 0
        for work in (self._read, self._write):
            Thread(target=work, daemon=True).start()

    def send(self, message: object) -> None:
        """Give the server a message."""
        self._outgoing.put(packed(message))

    def interrupted(self, _signal: int = 0, frame: FrameType | None = None) -> None:
        """Stop the answer under way if that is wanted, once."""
        if self._may_stop and (self._is_ending or self._to_stop == self._number):
            self._may_stop = False
            self._is_torn = is_importing(frame)
            raise KeyboardInterrupt

    def prepare(self, setup: Setup) -> None:
        """Import, load and compile what answers need, and set the limits."""
        self._setup = setup
        if setup.patient:
            os.nice(_PATIENCE)
        else:
            from threadpoolctl import threadpool_limits

            threadpool_limits(1)  # several answer at once, and what they solve is small
        tell = self._telling()
        for work in setup.warm:
            setup.run(work, tell)
        if setup.kernels:
            _load_kernels(tell)
        tempfile.tempdir = setup.scratch or None
        self._n_threads, self._n_files = active_count(), open_files()
        self._size = resident("self") or 0
        cap_memory(setup.memory)

    def answered(self, request: WorkerRequest) -> WorkerAnswer:
        """The answer to a question, whatever happens to it."""
        self._at_rest.clear()
        self._number = request.number
        tell = self._telling()
        self._cap_time()
        try:
            with as_it_was():
                answer = self._run(request.work, tell)
        finally:
            self._at_rest.set()
            signal.signal(signal.SIGINT, self.interrupted)
        self._n_answers += 1
        spoilt = self._spoilt()
        return WorkerAnswer(answer, spoilt or self._tired(), bool(spoilt))

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
        last = JobProgress("")
        when = 0.0

        def tell(progress: JobProgress) -> None:
            nonlocal last, when
            if progress.what == COMPILING and self._number:
                self._cap_time(COMPILE_SECONDS)
            now = time.monotonic()
            if progress.what != last.what or (progress != last and now - when >= TELL_EVERY):
                last, when = progress, now
                self.send(progress)

        return tell

    def _cap_time(self, more: float = 0.0) -> None:
        if self._setup.cpu is not None:
            cap_time(self._setup.cpu + more)

    def _tired(self) -> str:
        """Why this process should be replaced some time."""
        if self._n_answers >= self._setup.answers:
            return "it has given many answers"
        grown = (resident("self") or 0) - self._size
        return "its memory has grown" if grown > self._setup.growth else ""

    def _spoilt(self) -> str:
        """What the answer has left in this process that nothing can put back."""
        if self._is_torn:
            return "an answer was stopped while it loaded a module"
        if is_in_command():
            return "an answer left its command open"
        if active_count() > self._n_threads:
            return "an answer left threads behind"
        if has_children():
            return "an answer left processes behind"
        return "an answer left files open" if open_files() > self._n_files + MOST_FILES else ""

    def _read(self) -> None:
        with suppress(OSError, EOFError), self._link.makefile("rb") as stream:
            while True:
                message = read_message(stream)
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
    """Load all kernels; those that are not kept are compiled, which is told: nobody knows how many of them a step
    needs, and each goes a part of the way to the next step."""
    from humeval_power.doors.terminal.warm_up import warming_steps
    from humeval_power.kernels.compile_events import listening

    steps = warming_steps()
    share, end = 0.0, 0.0

    def compiling(_kernel: str) -> None:
        nonlocal share
        tell(JobProgress(COMPILING, share))
        share += (end - share) / _KERNELS

    for done, step in enumerate(steps.values(), start=1):
        share, end = end, done / len(steps)
        with listening(compiling):
            step()

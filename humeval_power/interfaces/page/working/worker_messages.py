"""What the server and a worker process say to each other, and how it goes through the socket between them."""

from __future__ import annotations

import pickle
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

from humeval_power.interfaces.page.answers import Answer, Tell, Work, Wrong

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


def read_message(stream: BinaryIO) -> object:
    """The next message.

    Raises
    ------
    EOFError
        There is none any more.
    """
    head = stream.read(HEAD)
    content = stream.read(length_of(head)) if len(head) == HEAD else b""
    if not content:
        raise EOFError
    return pickle.loads(content)


NO_MEMORY = (
    "The memory is not enough for this: the page gives each answer a part of it. Take a smaller study, a smaller "
    "file or fewer simulations; or run the command in a terminal, where all of the memory can be used."
)


def failed(text: str, *, exit_code: int = 1) -> Answer:
    """An answer that is only a problem, in words."""
    return Answer(exit_code, problems=(Wrong(text),))

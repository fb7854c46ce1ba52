"""What an answer leaves behind in its process: some is put back, the rest is found."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

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

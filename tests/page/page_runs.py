"""What workers of tests run: small answers, and everything that can happen to one. The first word says which."""

import decimal
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import click
import numpy as np

from humeval_power.doors.page.answers import Answer, JobProgress, Work

Tell = Callable[[JobProgress], None]


def fake(work: Work, told: Tell) -> Answer:
    """Do what the words say; the rest of them is given to it."""
    what, *rest = work.words
    said = ACTIONS[what](work, told, *rest)
    return Answer(0, html=str(said), notes=(str(os.getpid()),))


def broken(work: Work, told: Tell) -> Answer:  # noqa: ARG001
    """Nothing is ever ready."""
    print("ImportError: no module named abacus", file=sys.stderr, flush=True)
    os._exit(3)


def say(_work: Work, _told: Tell, *words: str) -> str:
    return " ".join(words)


def sleep(_work: Work, _told: Tell, seconds: str, *_: str) -> str:
    time.sleep(float(seconds))
    return "slept"


def load_slowly(_work: Work, _told: Tell) -> str:
    import module_that_loads_slowly  # noqa: F401

    return "loaded"


def exit_at_once(_work: Work, _told: Tell) -> str:
    os._exit(7)


def kill_itself(_work: Work, _told: Tell, number: str) -> str:
    os.kill(os.getpid(), int(number))
    time.sleep(60)
    return "survived"


def eat(_work: Work, _told: Tell, megabytes: str) -> str:
    return str(np.ones(int(megabytes) * 125_000).sum())


def eat_unseen(_work: Work, _told: Tell, megabytes: str) -> str:
    """More memory than the limit, past it, as shared memory is."""
    import mmap

    shared = mmap.mmap(-1, int(megabytes) * 10**6)
    for place in range(0, len(shared), 4096):
        shared[place] = 1
    time.sleep(60)
    return "survived"


def print_much(_work: Work, _told: Tell) -> str:
    for _ in range(2000):
        print("\x00\x01 not for the pipe " * 20)
        print("neither", file=sys.stderr)
    sys.stdout.flush()
    os.write(1, b"\x00" * 100_000)
    return "printed"


def fail(_work: Work, _told: Tell) -> str:
    raise ZeroDivisionError("by nothing")


def leave(_work: Work, _told: Tell) -> str:
    """With the exit of a command."""
    raise SystemExit(2)


def spin(_work: Work, _told: Tell, seconds: str = "1000") -> str:
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        pass
    return "spun"


def deaf(_work: Work, _told: Tell) -> str:
    """Like a job whose block is longer than anybody waits."""
    while True:
        try:
            time.sleep(1000)
        except KeyboardInterrupt:
            continue


def count(work: Work, told: Tell, seconds: str = "0.05", steps: str = "20") -> str:
    """Steps that are kept beside the output, and gone on with; kept whole, whenever it is stopped."""
    kept, new = Path(work.output + ".steps"), Path(work.output + ".new")
    done = int(kept.read_text()) if kept.exists() else 0
    begun = done
    while done < int(steps):
        time.sleep(float(seconds))
        done += 1
        new.write_text(str(done))
        new.replace(kept)
        told(JobProgress("Counting", share=done / int(steps)))
    return f"from {begun} to {done}"


def count_with_child(work: Work, told: Tell) -> str:
    """The same with a process beside it; its number is what it says."""
    child = subprocess.Popen(["sleep", "1000"])
    return count(work, lambda step: told(JobProgress(str(child.pid), step.share)), "0.02", "10000")


def leave_child(_work: Work, _told: Tell) -> str:
    return str(subprocess.Popen(["sleep", "1000"]).pid)


def leave_thread(_work: Work, _told: Tell) -> str:
    threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
    return "left"


def spoil(_work: Work, _told: Tell, folder: str) -> str:
    """Change all that one process has for everybody in it."""
    os.chdir(folder)
    os.umask(0)
    os.environ["COLUMNS"] = "7"
    del os.environ["PATH"]
    sys.argv[:] = ["spoilt"]
    sys.stdout = sys.stderr = None  # type: ignore[assignment]
    np.set_printoptions(precision=1)
    np.seterr(all="raise")
    decimal.getcontext().prec = 3
    warnings.simplefilter("error")
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    return state(_work, _told)


def open_command(_work: Work, _told: Tell) -> str:
    click.Context(click.Command("left")).__enter__()
    return "left"


def state(_work: Work, _told: Tell) -> str:
    """All that `spoil` changes."""
    mask = os.umask(0)
    os.umask(mask)
    return repr(
        (
            os.getcwd(),
            mask,
            dict(os.environ),
            sys.argv,
            sys.stdout is None,
            np.get_printoptions(),
            np.geterr(),
            decimal.getcontext().prec,
            warnings.filters,
            [str(signal.getsignal(number)) for number in (signal.SIGTERM, signal.SIGINT)],
            click.get_current_context(silent=True),
        )
    )


ACTIONS: dict[str, Callable[..., str]] = {
    function.__name__: function
    for function in (
        say, sleep, load_slowly, exit_at_once, kill_itself, eat, eat_unseen, print_much, fail, leave, spin, deaf,
        count, count_with_child, leave_child, leave_thread, spoil, open_command, state,
    )
}  # fmt: skip

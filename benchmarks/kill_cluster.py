"""Kill what computes a sweep: workers, the scheduler, the client; the same bytes as without kills.

A scheduler and workers of dask run as processes on the loopback. A sweep with an output is computed there; every
now and then one of them gets SIGKILL, and is started again. Where the scheduler or the client was killed, the same
command is run again until it ends. `prove_cluster` counts kills of each kind, answers, tracebacks, answers with
other bytes and runs that did not go on: the last three are 0.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from humeval_power.errors import LostEngineError

OUTPUT = "s.csv"
PATIENCE = 300.0
KINDS = ("worker", "scheduler", "client")
_HOST = "127.0.0.1"


@dataclass
class Counts:
    """What happened."""

    workers: int = 0
    schedulers: int = 0
    clients: int = 0
    answers: int = 0
    tracebacks: int = 0
    refusals: int = 0
    other_bytes: int = 0


class Cluster:
    """A scheduler on a port of its own and workers of one thread each."""

    def __init__(self, folder: Path, n_workers: int) -> None:
        self.folder, self.n_workers = folder, n_workers
        self.port = 0
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []

    @property
    def address(self) -> str:
        return f"tcp://{_HOST}:{self.port}"

    def mend(self) -> None:
        """Start whatever does not run."""
        if self.scheduler is None or self.scheduler.poll() is not None:
            self.port = self.port or _free_port()
            words = ["dask_scheduler", "--host", _HOST, "--port", str(self.port), "--no-dashboard"]
            self.scheduler = self._started(words)
        self.workers = [worker for worker in self.workers if worker.poll() is None]
        while len(self.workers) < self.n_workers:
            words = ["dask_worker", self.address, "--nthreads", "1", "--no-nanny", "--host", _HOST]
            self.workers.append(self._started([*words, "--no-dashboard", "--memory-limit", "0"]))

    def _started(self, words: list[str]) -> subprocess.Popen[bytes]:
        with open(self.folder / "dask.log", "ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{words[0]}", *words[1:]],
                stdout=log,
                stderr=log,
                cwd=self.folder,
            )

    def end(self) -> None:
        for process in [*self.workers, *([self.scheduler] if self.scheduler else [])]:
            with suppress(ProcessLookupError):
                process.kill()
            process.wait()


def _free_port() -> int:
    import socket

    with socket.socket() as found:
        found.bind((_HOST, 0))
        return int(found.getsockname()[1])


def words_of(number: int, simulations: int) -> list[str]:
    """A command of some dozen blocks; another question for each number."""
    size = ["--workers", "4,6,8", "--items", "20,30", "--ratings-per-item", "2", "--seed", str(number)]
    how = ["--effect", "0.1", "--simulations", str(simulations)]
    return ["surface", "--preset", "high", *size, *how, "-o", OUTPUT]


def started(words: list[str], folder: Path) -> subprocess.Popen[bytes]:
    """The command as a process; what it says goes to a log."""
    program = "from humeval_power.doors.terminal.main import main; main()"
    with open(folder / "log", "ab") as log:
        return subprocess.Popen(
            [sys.executable, "-c", program, *words], stdout=log, stderr=log, cwd=folder, env=os.environ
        )


def prove_cluster(
    n_kills: int, seed: int, *, simulations: int = 6144, n_workers: int = 2
) -> dict[str, int]:
    """Kill `n_kills` times; the counts by name."""
    counts, choose = Counts(), random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        cluster = Cluster(folder, n_workers)
        try:
            number = 0
            while sum((counts.workers, counts.schedulers, counts.clients)) < n_kills:
                number += 1
                _answer(number, simulations, cluster, folder, choose, counts, n_kills)
        finally:
            cluster.end()
        said = (folder / "log").read_text()
    counts.tracebacks = said.count("Traceback")
    if counts.tracebacks or counts.refusals:
        print(said)
    return vars(counts)


def _answer(
    number: int,
    simulations: int,
    cluster: Cluster,
    folder: Path,
    choose: random.Random,
    counts: Counts,
    n_kills: int,
) -> None:
    """One question until it is answered, under kills; then the answer beside that of one process."""
    words = words_of(number, simulations)
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        cluster.mend()
        command = started([*words, "--on", cluster.address], folder)
        while command.poll() is None and time.monotonic() < deadline:
            time.sleep(choose.uniform(0.5, 4.0))
            if sum((counts.workers, counts.schedulers, counts.clients)) < n_kills:
                _kill(choose.choices(KINDS, weights=(6, 2, 2))[0], command, cluster, choose, counts)
            cluster.mend()
        code = command.wait()
        if code == 0 or (folder / OUTPUT).exists():  # killed after it had answered
            break
        if code not in (-signal.SIGKILL, LostEngineError.exit_code):
            counts.refusals += 1
            break
    else:
        counts.refusals += 1
    answer = folder / OUTPUT
    if answer.exists():
        counts.answers += 1
        found = answer.read_bytes()
        answer.unlink()
        assert started([*words, "--jobs", "1"], folder).wait() == 0
        counts.other_bytes += found != answer.read_bytes()
        answer.unlink()


def _kill(
    kind: str,
    command: subprocess.Popen[bytes],
    cluster: Cluster,
    choose: random.Random,
    counts: Counts,
) -> None:
    """SIGKILL to one process that is one of ours."""
    if kind == "worker" and cluster.workers:
        victim = choose.choice(cluster.workers)
        counts.workers += 1
    elif kind == "scheduler" and cluster.scheduler is not None:
        victim = cluster.scheduler
        counts.schedulers += 1
    else:
        victim = command
        counts.clients += 1
    victim.kill()
    victim.wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    found = prove_cluster(given.kills, given.seed)
    print(", ".join(f"{name} {count}" for name, count in found.items()))
    raise SystemExit(any(found[name] for name in ("tracebacks", "refusals", "other_bytes")))

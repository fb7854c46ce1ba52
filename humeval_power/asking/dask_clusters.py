"""Dask clusters to compute on: processes of this machine, a scheduler that runs, jobs of SLURM.

Dask's connections have no password, and what they carry is executed: without TLS whoever reaches the port of a
scheduler or worker acts as the user who started it. So processes of this machine listen on the loopback only, and
jobs of SLURM talk by TLS, with certificates made for the one run.
"""

from __future__ import annotations

import logging
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from humeval_power.errors import InputError, LostEngineError, Problem
from humeval_power.extras import require_extra
from humeval_power.files.file_bytes import read_toml

if TYPE_CHECKING:
    from distributed import Client

_DEATHS = 1  # of workers under a task, before the scheduler gives it back to be tried alone
_PATIENCE = 5  # seconds until a scheduler has to answer


@dataclass(frozen=True, slots=True)
class SlurmJobs:
    """Jobs that SLURM is asked for; each is one dask worker of `cores` processes.

    jobs : how many.
    cores, memory, walltime : of each job, such as 32, "64 GB" and "04:00:00".
    partition, account : None leaves them to SLURM.
    interface : the network interface of the compute nodes and of this machine, such as "ib0".
    directives : further lines of #SBATCH, such as "--exclusive".
    prologue : lines of shell before the worker starts, such as "module load python".
    python : the interpreter there; it needs the versions that are installed here.
    log_folder : for what the jobs print.
    scratch : a folder of the compute node for what does not fit into memory.
    tls : encrypted connections with certificates; they lie in `shared_folder` while the jobs run.
    shared_folder : one that the compute nodes see too.
    """

    jobs: int
    cores: int
    memory: str
    walltime: str
    partition: str | None = None
    account: str | None = None
    interface: str | None = None
    directives: tuple[str, ...] = ()
    prologue: tuple[str, ...] = ()
    python: str = sys.executable
    log_folder: str | None = None
    scratch: str | None = None
    tls: bool = True
    shared_folder: str = "~"

    @property
    def slots(self) -> int:
        """Tasks at once, when all jobs run."""
        return self.jobs * self.cores


@contextmanager
def local_cluster(n_workers: int) -> Iterator[Client]:
    """So many processes of this machine, one thread each, on the loopback interface."""
    dask, distributed = _modules()
    settings = {"distributed.scheduler.allowed-failures": _DEATHS}
    with (
        _quiet(),
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            silence_logs=logging.CRITICAL,
        ) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@contextmanager
def connected(address: str, tell: Callable[[str], None]) -> Iterator[Client]:
    """A scheduler that runs, by its address; `tell` is told where it has no workers yet.
    Raises LostEngineError: nobody answers there."""
    _, distributed = _modules()
    with _quiet():
        try:
            _knock(address)
            client = distributed.Client(address, timeout=f"{_PATIENCE}s", set_as_default=False)
        except (OSError, ValueError, MemoryError) as error:  # what is no scheduler may answer anything
            raise LostEngineError(
                f"No dask scheduler answers at {address} within {_PATIENCE} s: {_first_line(error)} Start one with "
                "'dask scheduler', or look whether the port can be reached from here."
            ) from None
        with client:
            if not client.nthreads():
                tell(f"The scheduler {address} has no workers yet; this waits for the first.")
            yield client


def _knock(address: str) -> None:
    """Raise OSError where nobody is at an address: a client that gets no answer takes long to give up."""
    place = urlsplit(address)
    socket.create_connection((place.hostname or "", place.port or 0), timeout=_PATIENCE).close()


@contextmanager
def slurm_cluster(jobs: SlurmJobs, tell: Callable[[str], None]) -> Iterator[Client]:
    """Workers as jobs of SLURM, with a scheduler in this process; the jobs end with it.
    Raises LostEngineError: `sbatch` is not there, or refuses the job."""
    dask, distributed = _modules()
    settings = {"distributed.scheduler.allowed-failures": _DEATHS}
    with _quiet(), dask.config.set(settings):
        try:
            cluster = slurm_of(jobs)
        except (OSError, RuntimeError, ValueError) as error:
            raise LostEngineError(
                f"The cluster of SLURM jobs could not be made: {_first_line(error)}"
            ) from None
        with cluster, distributed.Client(cluster, set_as_default=False) as client:
            _ask_sbatch(cluster.job_script())
            cluster.scale(jobs=jobs.jobs)
            tell(f"Asked SLURM for {jobs.jobs:,} jobs of {jobs.cores:,} cores; the first that runs begins.")
            yield client


def _ask_sbatch(script: str) -> None:
    """Let SLURM look at the script of a job: dask-jobqueue goes on in silence where it is refused."""
    try:
        process = subprocess.run(["sbatch", "--test-only"], input=script, text=True, capture_output=True)
    except OSError:
        raise LostEngineError(
            "There is no sbatch here: run this where jobs are sent to SLURM from, such as a login node."
        ) from None
    if process.returncode:
        raise LostEngineError(f"SLURM refuses the job: {process.stderr.strip() or process.stdout.strip()}")


def slurm_of(jobs: SlurmJobs) -> Any:
    """The cluster of dask-jobqueue, before any job is asked for; `job_script()` is what sbatch would get."""
    _modules()
    import dask_jobqueue
    from distributed.security import Security

    return dask_jobqueue.SLURMCluster(
        cores=jobs.cores,
        processes=jobs.cores,
        memory=jobs.memory,
        walltime=jobs.walltime,
        queue=jobs.partition,
        account=jobs.account,
        interface=jobs.interface,
        job_extra_directives=list(jobs.directives),
        job_script_prologue=[
            "export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1",
            *jobs.prologue,
        ],
        python=jobs.python,
        log_directory=jobs.log_folder,
        local_directory=jobs.scratch,
        security=Security.temporary() if jobs.tls else None,
        shared_temp_directory=jobs.shared_folder,
        scheduler_options={"dashboard": False, "dashboard_address": "127.0.0.1:0"},
        silence_logs=logging.CRITICAL,
    )


def _modules() -> tuple[Any, Any]:
    require_extra("cluster", wanted_for="Computing on a cluster", remark=", here and where the workers run")
    import dask
    import distributed

    return dask, distributed


@contextmanager
def _quiet() -> Iterator[None]:
    """Dask's log is for those who run clusters; what a user must know is told in our words."""
    of_dask = ("distributed", "tornado", "asyncio")  # and those below, which have levels of their own
    loggers = [
        logging.getLogger(name) for name in logging.root.manager.loggerDict if name.startswith(of_dask)
    ]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _first_line(error: BaseException) -> str:
    if isinstance(error, MemoryError):  # of a message whose length is none
        return "what answers there is none."
    words = error.strerror if isinstance(error, OSError) and error.strerror else ""
    return (words or str(error) or type(error).__name__).strip().splitlines()[0].rstrip(".") + "."


# Read how a cluster is asked for jobs from a TOML file.

CLUSTER_SCHEMA = "humeval_power/cluster/1"
_REMEDY = "docs/sweeps.md has a file that works."
_LISTS = ("directives", "prologue")
_WHOLE = {"jobs": 100_000, "cores": 1024}
_PATTERNS = {
    "memory": (r"\d+(\.\d+)? ?([KMGT]i?B)", 'a size such as "64 GB"'),
    "walltime": (r"(\d+-)?\d{1,3}(:\d{2}){1,2}", 'a time such as "04:00:00" or "1-12:00:00"'),
}


def read_cluster(path: str | Path) -> SlurmJobs:
    """The jobs that a file describes.
    Raises InputError: a file that cannot be read, or every problem of its keys at once."""
    values = read_toml(path, hint=_REMEDY)
    place = str(path)
    problems = []
    if values.pop("schema", None) != CLUSTER_SCHEMA:
        problems.append(Problem(f"needs the line schema = {CLUSTER_SCHEMA!r}.", _REMEDY, place=place))
    known = {field.name: field for field in fields(SlurmJobs)}
    for name in [name for name in values if name not in known]:
        close = get_close_matches(name, known, n=1)
        remedy = f"Do you mean {close[0]!r}?" if close else f"The keys are {', '.join(known)}."
        problems.append(Problem("there is no such key.", remedy, place=place, column=name, noun="field"))
    for name, field in known.items():
        if name in values:
            rule = _broken_rule(name, values[name])
            if rule:
                problems.append(
                    Problem(rule, "", place, column=name, value=values[name], has_value=True, noun="field")
                )
        elif field.default is MISSING:
            problems.append(Problem("is missing.", _REMEDY, place=place, column=name, noun="field"))
    if problems:
        raise InputError(problems)
    given: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
    }
    return SlurmJobs(**given)


def _broken_rule(name: str, value: Any) -> str:
    """What the value of a key must be and is not; empty where it is right."""
    if name in _WHOLE:
        most = _WHOLE[name]
        right = isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= most
        return "" if right else f"must be a whole number from 1 to {most:,}."
    if name == "tls":
        return "" if isinstance(value, bool) else "must be true or false."
    if name in _LISTS:
        right = isinstance(value, list) and all(isinstance(line, str) and _one_line(line) for line in value)
        return "" if right else "must be a list of lines of text."
    if not isinstance(value, str) or not _one_line(value):
        return "must be a text of one line."
    pattern, shape = _PATTERNS.get(name, (r".*", ""))
    return "" if re.fullmatch(pattern, value) else f"must be {shape}."


def _one_line(text: str) -> bool:
    return bool(text.strip()) and text.isprintable()

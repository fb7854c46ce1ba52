"""`--on`: where the simulations of a command are computed."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from humeval_power.fields import of_answer, text
from humeval_power.interfaces.cli.output import note

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from distributed import Client

    from humeval_power.sweep.blocks import Block
    from humeval_power.sweep.dask_engine import DaskEngine

_MOST_LOCAL = 1024  # processes of one machine
FORMS = (
    "local:8 (processes here), tcp://host:8786 (a dask scheduler that runs) or slurm.toml (jobs of SLURM)"
)
_LOCAL = re.compile(r"local(?::(.*))?")
_ADDRESS = re.compile(r"(tcp|tls|ucx)://(\[[0-9A-Fa-f:]+\]|[^\s:/\[\]]+):(\d{1,5})")


class Elsewhere:
    """An engine that is made when the first blocks come, so that what is refused before costs no jobs.

    slots : how many tasks it computes at once; None where only the cluster knows.
    """

    def __init__(
        self, opened: Callable[[], AbstractContextManager[Client]], typed: str, slots: int | None
    ) -> None:
        self.typed = typed
        self._opened = opened
        self._slots = slots
        self._around = ExitStack()
        self._engine: DaskEngine | None = None
        self._has_computed = False

    def run(self, blocks: Sequence[tuple[str, Block]]) -> Iterator[tuple[str, Any]]:
        """See `Engine.run`."""
        self._has_computed = True
        return self._made().run(blocks)

    @property
    def has_computed(self) -> bool:
        """Whether any block was sent there."""
        return self._has_computed

    def slots(self) -> int:
        """How many cores compute; a scheduler that runs is asked."""
        return self._slots if self._slots is not None else max(1, self._made().slots())

    def _made(self) -> DaskEngine:
        from humeval_power.sweep.dask_engine import DaskEngine

        if self._engine is None:
            client = self._around.enter_context(self._opened())
            self._engine = DaskEngine(client, tell=note)
        return self._engine

    def __enter__(self) -> Elsewhere:
        return self

    def __exit__(self, *error: object) -> None:
        self._around.close()


def place_of(_ctx: click.Context, _option: click.Parameter, typed: str | None) -> Elsewhere | None:
    """What --on says; the cluster itself is not looked at yet."""
    if typed is None:
        return None
    local = _LOCAL.fullmatch(typed)
    if local:
        return _local(typed, local[1])
    if "://" in typed:
        return _address(typed)
    if typed.lower().endswith(".toml") or os.path.isfile(typed):
        return _jobs(typed)
    raise click.BadParameter(f"say where: {FORMS}; got {typed!r}.")


def _local(typed: str, count: str | None) -> Elsewhere:
    from humeval_power.interfaces.dask_clusters import local_cluster

    n = default_jobs() if count is None else int(count) if count.isascii() and count.isdigit() else 0
    if not 1 <= n <= _MOST_LOCAL:
        raise click.BadParameter(f"local:N takes 1 to {_MOST_LOCAL:,} processes; got {typed!r}.")
    return Elsewhere(lambda: local_cluster(n), typed, n)


def _address(typed: str) -> Elsewhere:
    found = _ADDRESS.fullmatch(typed)
    if not found or not 1 <= int(found[3]) <= 65535:
        raise click.BadParameter(
            f"an address has a host and a port, such as tcp://host:8786; got {typed!r}."
        )
    from humeval_power.interfaces.dask_clusters import connected

    return Elsewhere(lambda: connected(typed, note), typed, None)


def _jobs(typed: str) -> Elsewhere:
    from humeval_power.interfaces.dask_clusters import slurm_cluster
    from humeval_power.interfaces.formats.clusters import read_cluster

    jobs = read_cluster(typed)
    return Elsewhere(lambda: slurm_cluster(jobs, note), typed, jobs.slots)


def default_jobs() -> int:
    """All cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


ON = of_answer(
    text("WHERE"),
    "Compute on a cluster instead: local:8 (processes), tcp://HOST:PORT (dask), slurm.toml (jobs).",
    further=True,
)

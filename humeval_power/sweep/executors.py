"""Blocks computed by an executor of the standard library's kind: threads, processes, MPI ranks."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from functools import wraps
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, ParamSpec, TypeAlias, TypeVar

from humeval_power.errors import InputError, LostEngineError
from humeval_power.sweep.blocks import Block, Engine, sweeping
from humeval_power.sweep.dispatch import (
    Lost,
    Outcome,
    Packer,
    compute_blocks,
    compute_parcel,
    dispatched,
    loss,
)
from humeval_power.sweep.versions import versions_here

if TYPE_CHECKING:
    from distributed import Client

    AnyExecutor: TypeAlias = Executor | Client

P = ParamSpec("P")
R = TypeVar("R")
Ticket = Future[list[Outcome]]


class ExecutorEngine:
    """Computes blocks by any `concurrent.futures.Executor`.

    slots : how many tasks it computes at once; what the executor says, else the cores of this machine.
    """

    def __init__(self, executor: Executor, *, slots: int | None = None) -> None:
        self._executor = executor
        self._slots = slots or getattr(executor, "_max_workers", None) or os.cpu_count() or 1

    def run(self, blocks: Sequence[tuple[str, Block]]) -> Iterator[tuple[str, Any]]:
        """See `Engine.run`; raises as `dispatched`, and LostEngineError where the executor is broken."""
        return dispatched(blocks, _ExecutorTasks(self._executor, self._slots))


class _ExecutorTasks:
    """The tasks of one run."""

    def __init__(self, executor: Executor, slots: int) -> None:
        self._executor = executor
        self._n_slots = slots
        self._packer = Packer()
        self._under_way: set[Ticket] = set()
        self._ended: SimpleQueue[Ticket] = SimpleQueue()

    def slots(self) -> int:
        return self._n_slots

    def send(self, blocks: Sequence[Block]) -> Ticket:
        try:
            ticket = self._submitted(blocks)
        except RuntimeError as error:  # one that was shut down, or is broken
            raise LostEngineError(f"The executor takes no tasks: {error}.") from None
        self._under_way.add(ticket)
        ticket.add_done_callback(self._ended.put)
        return ticket

    def _submitted(self, blocks: Sequence[Block]) -> Ticket:
        if type(self._executor) is ThreadPoolExecutor:  # nothing has to be sent
            return self._executor.submit(compute_blocks, blocks)
        parcel = self._packer.pack(blocks)
        arrays = {name: self._packer.arrays[name] for name in parcel.needs}
        return self._executor.submit(compute_parcel, parcel, arrays, versions_here())

    def finished(self) -> tuple[Ticket, list[Outcome] | Lost]:
        ticket = self._ended.get()
        self._under_way.discard(ticket)
        try:
            return ticket, ticket.result()
        except BrokenExecutor:
            raise LostEngineError(
                "A process of the executor died (killed, or out of memory), and its pool cannot go on after that. "
                "Make a new executor and run this again."
            ) from None
        except CancelledError:
            raise LostEngineError("The executor was shut down before all was computed.") from None
        except Exception as error:
            return ticket, loss(error)

    def close(self) -> None:
        for ticket in self._under_way:
            ticket.cancel()


def engine_of(executor: AnyExecutor) -> Engine:
    """The engine that computes by an executor, or by a dask client.

    Raises
    ------
    InputError
        Something else.
    """
    if isinstance(executor, Executor):
        return ExecutorEngine(executor)
    if type(executor).__module__.partition(".")[0] == "distributed" and hasattr(executor, "gather"):
        from humeval_power.sweep.dask_engine import DaskEngine

        return DaskEngine(executor)
    raise InputError(
        "executor must be a concurrent.futures.Executor or a dask.distributed Client; got "
        f"{type(executor).__name__}."
    )


def on_executor(call: Callable[P, R]) -> Callable[P, R]:
    """A call that simulates, with its blocks computed by what its keyword `executor` names: an executor of
    `concurrent.futures`, whose processes can import this package in the same version, or a dask client. Without
    one they are computed here. What comes back is the same.
    """

    @wraps(call)
    def computed(*args: P.args, **named: P.kwargs) -> R:
        executor: Any = named.get("executor")
        if executor is None:
            return call(*args, **named)
        with sweeping(engine_of(executor)):
            return call(*args, **named)

    return computed

"""Blocks computed by a dask cluster: any scheduler of dask.distributed, with workers on many machines.

Dask's own way of losing things decides what can go wrong. A worker that dies gives its tasks back to the
scheduler, which hands them to others; a task on whose workers too many died is given up (KilledWorker) and tried
again alone. A scheduler that dies takes all tasks with it. Large arrays are tasks of their own, not data put on
one worker: should all workers that hold them die, the scheduler makes them anew.
"""

from __future__ import annotations

import time
import warnings
from asyncio import CancelledError as AsyncCancelled
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from humeval_power.errors import LostEngineError
from humeval_power.sweep.blocks import Block
from humeval_power.sweep.dispatch import AnyArray, Lost, Outcome, Packer, compute_parcel, dispatched, loss
from humeval_power.sweep.versions import OtherVersionsError, check_versions, machine_here, versions_here

if TYPE_CHECKING:
    from distributed import Client, Future

_FRESH = 2.0  # seconds for which the number of slots is taken as it was


class DaskEngine:
    """Computes blocks by the workers of a client's scheduler, as many as there are at each moment.

    tell : is told what a user should know, such as that the processors are of different kinds.
    """

    def __init__(self, client: Client, *, tell: Callable[[str], None] | None = None) -> None:
        self._client = client
        self._tell = tell
        self._checked = False

    def run(self, blocks: Sequence[tuple[str, Block]]) -> Iterator[tuple[str, Any]]:
        """See `Engine.run`; raises as `dispatched`, LostEngineError where the scheduler is gone, and
        OtherVersionsError where a worker would compute other bytes."""
        tasks = _ClusterTasks(self._client)
        if not self._checked:
            tasks.check_workers(self._tell)
            self._checked = True
        return dispatched(blocks, tasks)

    def slots(self) -> int:
        """How many threads its workers have now."""
        return _ClusterTasks(self._client).slots()


class _ClusterTasks:
    """The tasks of one run."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._address = str(client.scheduler.address) if client.scheduler else "that was given"
        self._packer = Packer()
        self._arrays: dict[str, Future] = {}
        self._under_way: dict[str, Future] = {}
        self._ended: SimpleQueue[Future] = SimpleQueue()
        self._answers: list[tuple[str, list[Outcome] | Lost]] = []
        self._slots, self._looked = 1, 0.0

    def check_workers(self, tell: Callable[[str], None] | None) -> None:
        """Refuse workers that would compute other bytes; those that come later are looked at by their tasks."""
        with self._telling():
            said = self._client.get_versions(packages=["humeval_power"])["workers"]
            for worker, values in said.items():
                if values and not values["packages"].get("humeval_power"):
                    raise OtherVersionsError(
                        f"The worker {worker} has no humeval_power: install there what is installed here."
                    )
            machines = self._client.run(machine_here)
        for worker, machine in machines.items():
            check_versions(versions_here(), machine.versions, host=f"{machine.host} ({worker})")
        kinds = sorted({machine.processor for machine in machines.values()})
        if len(kinds) > 1 and tell is not None:
            tell(
                f"The workers have processors of {len(kinds)} kinds ({', '.join(kinds)}): last digits can depend "
                "on which of them computes what."
            )

    def slots(self) -> int:
        if time.monotonic() - self._looked > _FRESH:
            with self._telling():
                self._slots = sum(self._client.nthreads().values())
            self._looked = time.monotonic()
        return self._slots

    def send(self, blocks: Sequence[Block]) -> str:
        parcel = self._packer.pack(blocks)
        with self._telling():
            arrays = {name: self._array(name) for name in parcel.needs}
            future = self._client.submit(compute_parcel, parcel, arrays, versions_here(), pure=False)
        key = str(future.key)
        self._under_way[key] = future
        future.add_done_callback(self._ended.put)
        return key

    def _array(self, name: str) -> Future:
        """An array as a task, whose definition stays with the scheduler."""
        if name not in self._arrays:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # of its size: it is sent once
                self._arrays[name] = self._client.submit(
                    itself, self._packer.arrays[name], key=f"array-{name}"
                )
        return self._arrays[name]

    def finished(self) -> tuple[str, list[Outcome] | Lost]:
        if not self._answers:
            ended = [self._ended.get()]
            while not self._ended.empty():
                ended.append(self._ended.get())
            self._answers = self._read(ended)
        return self._answers.pop()

    def _read(self, ended: Sequence[Future]) -> list[tuple[str, list[Outcome] | Lost]]:
        """The answers of tasks that have ended, fetched together."""
        with self._telling():
            if any(future.status in ("cancelled", "lost") for future in ended):
                raise self._gone()
            done = {str(future.key): future for future in ended if future.status == "finished"}
            answers: list[tuple[str, list[Outcome] | Lost]] = list(self._client.gather(done).items())
            for future in ended:
                if str(future.key) not in done:
                    answers.append((str(future.key), loss(future.exception())))
        for key, _ in answers:
            del self._under_way[key]
        return answers

    def close(self) -> None:
        with suppress(Exception):  # the scheduler may be gone, which was said
            self._client.cancel([*self._under_way.values(), *self._arrays.values()], force=True)

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Whatever dask says when its scheduler is gone, in our words."""
        try:
            yield
        except (CancelledError, AsyncCancelled, TimeoutError, OSError) as error:
            raise self._gone() from error

    def _gone(self) -> LostEngineError:
        return LostEngineError(
            f"The scheduler {self._address} is gone, or gave up what it was asked. Start it again and run the "
            "same once more."
        )


def itself(array: AnyArray) -> AnyArray:
    """The array: a task of which the scheduler can make it again."""
    return array

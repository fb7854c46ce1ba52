"""Blocks sent somewhere as tasks of some seconds, a bounded number at once, and tried again where a task is lost.

How blocks are put together in tasks follows the clock, and cannot be seen in a result: blocks are pure.
"""

from __future__ import annotations

import copyreg
import hashlib
import io
import math
import pickle
import time
import traceback
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from humeval_power.blas import one_blas_thread
from humeval_power.errors import HumevalPowerError, InputError
from humeval_power.kernels.compile_events import listening
from humeval_power.sweep.blocks import Block, sweep_in_force
from humeval_power.sweep.versions import Versions, check_versions, versions_here

# Blocks packed to be sent: large arrays apart, so that each travels once and not with every block.

LARGE = 16_384  # bytes from which an array travels apart
AnyArray = NDArray[Any]
_PICKLED_BY = ("__reduce_ex__", "__reduce__", "__getstate__")


class NotSendableError(InputError):
    """A block that other processes cannot be given; this one can compute it."""


@dataclass(frozen=True, slots=True)
class Parcel:
    """Blocks as bytes, and the digests of the arrays that they need beside them."""

    content: bytes
    needs: tuple[str, ...]

    def blocks(self, arrays: Mapping[str, AnyArray]) -> list[Block]:
        """The blocks again, with their arrays."""
        reader = _ArrayUnpickler(io.BytesIO(self.content), arrays)
        result: list[Block] = reader.load()
        return result


class Packer:
    """Packs blocks; remembers the arrays it has seen by identity, so that each is digested once."""

    def __init__(self) -> None:
        self._digests: dict[int, tuple[AnyArray, str]] = {}
        self.arrays: dict[str, AnyArray] = {}

    def pack(self, blocks: Sequence[Block]) -> Parcel:
        """One parcel of all these blocks; `arrays` then has what it needs.

        Raises
        ------
        NotSendableError
            A block that cannot be sent to another process, such as one with a function of no module.
        """
        content = io.BytesIO()
        writer = _Writer(content, self)
        try:
            writer.dump(list(blocks))
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise NotSendableError(
                f"This cannot be computed by another process: {error}. Functions must stand at the top of a "
                "module that the workers can import too."
            ) from None
        return Parcel(content.getvalue(), tuple(dict.fromkeys(writer.needs)))

    def name_of(self, array: AnyArray) -> str:
        """The digest of an array's content, shape and kind."""
        known = self._digests.get(id(array))
        if known is not None and known[0] is array:
            return known[1]
        ordered = np.ascontiguousarray(array)
        digest = hashlib.sha256(f"{ordered.dtype.str}{ordered.shape}".encode())
        digest.update(ordered.data)
        name = digest.hexdigest()
        self._digests[id(array)] = (array, name)  # held, so that its identity stays its own
        self.arrays.setdefault(name, array)
        return name


class _Writer(pickle.Pickler):
    def __init__(self, file: io.BytesIO, packer: Packer) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self._packer = packer
        self.needs: list[str] = []

    def persistent_id(self, value: object) -> str | None:
        if type(value) is not np.ndarray or value.nbytes < LARGE or value.dtype.hasobject:
            return None
        self.needs.append(self._packer.name_of(value))
        return self.needs[-1]

    def reducer_override(self, value: Any) -> Any:
        """A record by its fields alone: what it has remembered of them since is made again where it is needed."""
        if not is_dataclass(value) or isinstance(value, type) or not hasattr(value, "__dict__"):
            return NotImplemented
        names = {field.name for field in fields(value)}
        plain = all(getattr(type(value), name) is getattr(object, name) for name in _PICKLED_BY)
        if not plain or vars(value).keys() <= names:
            return NotImplemented
        kept = {name: content for name, content in vars(value).items() if name in names}
        return copyreg.__newobj__, (type(value),), kept  # type: ignore[attr-defined]


class _ArrayUnpickler(pickle.Unpickler):
    def __init__(self, file: io.BytesIO, arrays: Mapping[str, AnyArray]) -> None:
        super().__init__(file)
        self._arrays = arrays

    def persistent_load(self, name: str) -> AnyArray:
        return self._arrays[name]


# What a worker does with the blocks of a task: one after the other, each with its own outcome.


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one block, or what went wrong: an error of this package, or any other one in words."""

    seconds: float
    result: Any = None
    refusal: HumevalPowerError | None = None
    failure: str = ""


def compute_parcel(parcel: Parcel, arrays: Mapping[str, AnyArray], wanted: Versions) -> list[Outcome]:
    """The outcomes of a parcel's blocks, as `compute_blocks` has them.

    Raises
    ------
    OtherVersionsError
        This process is of other versions than the one that sent the parcel.
    """
    check_versions(wanted, versions_here())
    return compute_blocks(parcel.blocks(arrays))


def compute_blocks(blocks: Sequence[Block]) -> list[Outcome]:
    """The outcomes of blocks in order, each by one thread; a refusal is the last."""
    outcomes: list[Outcome] = []
    with one_blas_thread():
        for block in blocks:
            outcomes.append(_outcome(block))
            if outcomes[-1].refusal is not None:
                break
    return outcomes


def _outcome(block: Block) -> Outcome:
    began = time.perf_counter()
    try:
        result = block.run(1)
    except HumevalPowerError as error:  # the question's own: another try ends in the same way
        return Outcome(time.perf_counter() - began, refusal=error)
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        words = f"{type(error).__name__}: {error} (line {last.lineno} of {last.filename})"
        return Outcome(time.perf_counter() - began, failure=words)
    return Outcome(time.perf_counter() - began, result=result)


TRIES = 3  # of a block, before it is given up
TASK_SECONDS = 5.0  # of the blocks that are sent together, where there are many
LONGEST_TASK = 30.0  # seconds: of the same on a thousand cores and more, whose scheduler has much to do
_SERVED = 0.012  # seconds for each core between two of its tasks: twice what scheduler and client need
SHORTEST = 0.2  # seconds: tasks get no shorter towards the end
WAVES = 3  # tasks left for each slot from which on they get shorter, so that all slots end together
QUEUED = 2  # tasks for each slot: one is computed, one waits there
MOST_TOGETHER = 10_000  # blocks in a task
_SHOWN = 5  # failed blocks that an error names


class Lost(NamedTuple):
    """A task that came to nothing: the process that computed it is gone, or could not send what it had."""

    reason: str


def loss(error: BaseException | None) -> Lost:
    """What is lost by an error of a task as a whole.

    Raises
    ------
    HumevalPowerError
        Where no other try would end differently: it is one itself, or the blocks cannot be read there.
    """
    if isinstance(error, HumevalPowerError):
        raise error
    if isinstance(error, ImportError | AttributeError):
        raise HumevalPowerError(
            f"A worker cannot read what it is asked to compute: {error}. What is imported here must be "
            "installed there too, in the same versions."
        )
    return Lost(f"{type(error).__name__}: {error}")


class Place(Protocol):
    """Where tasks are sent to."""

    def slots(self) -> int:
        """How many tasks can be computed at once, at present."""
        ...

    def send(self, blocks: Sequence[Block]) -> object:
        """Send blocks as one task; what comes back names it."""
        ...

    def finished(self) -> tuple[object, list[Outcome] | Lost]:
        """Wait until a task has ended: its name, and the outcomes of its blocks as far as it came."""
        ...

    def close(self) -> None:
        """Give up what is under way."""
        ...


class BlocksFailedError(HumevalPowerError):
    """Blocks that failed each time they were tried; all others are done."""


@dataclass(slots=True)
class Sent:
    """A block on its way, and what went wrong so far."""

    key: str
    block: Block
    failures: list[str] = field(default_factory=list)
    n_lost: int = 0

    @property
    def given_up(self) -> bool:
        """Whether it was tried often enough."""
        return len(self.failures) >= TRIES


class Pace:
    """How long blocks take: as they say themselves, corrected by those that are done."""

    def __init__(self) -> None:
        self._said = 0.0
        self._took = 0.0

    def learn(self, block: Block, seconds: float) -> None:
        """A block took so long."""
        self._said += block.seconds or 1.0
        self._took += seconds

    def seconds(self, block: Block) -> float:
        """About how long a block will take; before any is done, one that does not say is sent alone."""
        if self._took:
            return (block.seconds or 1.0) * self._took / self._said
        return block.seconds or TASK_SECONDS


def dispatched(blocks: Sequence[tuple[str, Block]], place: Place) -> Iterator[tuple[str, Any]]:
    """Key and result of each block as it is finished, computed at `place`.

    A block that fails, or whose process dies, is tried again up to three times, at the end and not together
    with others; one that was lost twice is tried the third time while nothing else is under way, so that it
    costs no other block its turn.

    Raises
    ------
    BlocksFailedError
        After everything else: blocks that failed each time.
    HumevalPowerError
        What a block itself refuses, at once: no other try would end differently.
    """
    fresh = deque(Sent(key, block) for key, block in blocks)
    again: deque[Sent] = deque()
    alone: deque[Sent] = deque()
    under_way: dict[object, list[Sent]] = {}
    failed: list[Sent] = []
    pace = Pace()
    with closing(place):
        while fresh or again or alone or under_way:
            while group := _next_group(fresh, again, alone, len(under_way), place.slots(), pace):
                under_way[place.send([sent.block for sent in group])] = group
            name, answer = place.finished()
            group = under_way.pop(name)
            outcomes = [] if isinstance(answer, Lost) else answer
            for sent, outcome in zip(group, outcomes, strict=False):
                if outcome.refusal is not None:
                    raise outcome.refusal
                if outcome.failure:
                    sent.failures.append(outcome.failure)
                    (failed if sent.given_up else again).append(sent)
                else:
                    pace.learn(sent.block, outcome.seconds)
                    yield sent.key, outcome.result
            for sent in group[len(outcomes) :]:
                sent.failures.append(answer.reason if isinstance(answer, Lost) else "not computed")
                sent.n_lost += 1
                queue = alone if sent.n_lost == TRIES - 1 else again
                (failed if sent.given_up else queue).append(sent)
    if failed:
        raise BlocksFailedError(_failure_words(failed, len(blocks)))


def _next_group(
    fresh: deque[Sent], again: deque[Sent], alone: deque[Sent], n_sent: int, slots: int, pace: Pace
) -> list[Sent]:
    """The blocks of the next task; none where enough is under way."""
    if n_sent >= max(1, QUEUED * slots):
        return []
    if fresh:
        return _together(fresh, slots, pace)
    if again:
        return [again.popleft()]
    return [alone.popleft()] if alone and not n_sent else []


def _together(fresh: deque[Sent], slots: int, pace: Pace) -> list[Sent]:
    """Blocks for one task: some seconds of work, less where little is left for all slots."""
    left = len(fresh) * pace.seconds(fresh[0].block)  # neighbours are alike
    most = min(LONGEST_TASK, max(TASK_SECONDS, slots * _SERVED))
    wanted = min(most, max(SHORTEST, left / (WAVES * max(1, slots))))
    group, seconds = [fresh.popleft()], 0.0
    while fresh and len(group) < MOST_TOGETHER:
        seconds += pace.seconds(group[-1].block)
        if seconds + pace.seconds(fresh[0].block) > wanted:
            break
        group.append(fresh.popleft())
    return group


def _failure_words(failed: Sequence[Sent], n_blocks: int) -> str:
    named = "; ".join(f"{_name(sent.block)}: {sent.failures[-1]}" for sent in failed[:_SHOWN])
    more = f"; and {len(failed) - _SHOWN:,} more" if len(failed) > _SHOWN else ""
    return f"{len(failed):,} of {n_blocks:,} blocks failed {TRIES} times each, the others are done. {named}{more}."


def _name(block: Block) -> str:
    """A block in words: its function, and the numbers and texts among its arguments."""
    plain = [repr(value) for value in block.arguments if isinstance(value, int | float | str)]
    return f"{getattr(block.work, '__qualname__', block.work)}({', '.join(plain)})"


# What blocks will cost, from a few of them: counted, measured for some seconds, and not computed.

_MEASURED = 4.0  # seconds of blocks that are measured, about
_MOST_MEASURED = 12  # blocks


@dataclass(frozen=True, slots=True)
class ComputingCost:
    """What a list of blocks costs.

    `seconds` are those of one core; `n_kept` blocks are finished already and are not in the other counts;
    `measured` of the blocks were computed to see how long they take.
    """

    n_blocks: int
    n_kept: int
    n_replicates: int
    n_tasks: int
    seconds: float
    measured: int


class CostWorkedOut(BaseException):
    """Ends a command at its first blocks, with what they cost; nothing of the package catches it on its way."""

    def __init__(self, cost: ComputingCost) -> None:
        super().__init__()
        self.cost = cost


class DryRun:
    """An engine that computes a few blocks to see how long they take, and ends the command."""

    def run(self, blocks: Sequence[tuple[str, Block]]) -> Iterator[tuple[str, Any]]:
        """See `Engine.run`; raises CostWorkedOut, unless there is nothing to do."""
        if blocks:
            sweep = sweep_in_force()
            raise CostWorkedOut(
                cost_of([block for _, block in blocks], n_kept=sweep.n_kept if sweep else 0)
            )
        yield from ()


def cost_of(blocks: Sequence[Block], *, n_kept: int = 0) -> ComputingCost:
    """What blocks cost: their own word for how long they take, corrected by some of them that are measured."""
    ranked = sorted(blocks, key=lambda block: block.seconds)
    said, took, measured = 0.0, 0.0, 0
    if ranked[0].seconds < _MEASURED:
        ranked[0].run()  # what has to be loaded for the first costs once, and is not counted
    with one_blas_thread():
        for place in _spread(len(ranked)):
            block, compiled, before = ranked[place], list[str](), time.process_time()
            with listening(compiled.append):
                block.run()
            if compiled:  # that costs once, too
                before = time.process_time()
                block.run()
            took += time.process_time() - before
            said += block.seconds or 1.0
            measured += 1
            if took > _MEASURED:
                break
    seconds = sum(block.seconds or 1.0 for block in blocks) * took / said
    return ComputingCost(
        n_blocks=len(blocks),
        n_kept=n_kept,
        n_replicates=sum(block.replicates for block in blocks),
        n_tasks=min(len(blocks), max(1, math.ceil(seconds / TASK_SECONDS))),
        seconds=seconds,
        measured=measured,
    )


def _spread(n: int) -> list[int]:
    """Some places of a list in an order that has seen short and long ones soon."""
    shares = [0.5, 0.9, 0.25, 0.75, 0.99, 0.1, 0.6, 0.4, 0.8, 0.95, 0.3, 0.7]
    return list(dict.fromkeys(min(n - 1, int(share * n)) for share in shares))[:_MOST_MEASURED]

"""A block of work, and the one call that runs a list of them by the sweep in force."""

from __future__ import annotations

import hashlib
import inspect
import struct
import sys
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache, partial
from pathlib import Path, PurePath
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from humeval_power.sweep.versions import PACKAGE, versions_here

if TYPE_CHECKING:
    from hashlib import _Hash


# What a block is, in 64 letters: equal for equal questions under the same versions, on any machine.


class NoDigestError(TypeError):
    """A value of a kind that has no digest, such as an open file or a function inside a function."""


class Digests:
    """Digests of many blocks that share arguments: what was digested once is not digested again."""

    def __init__(self) -> None:
        # By id; the value is kept, so that its id stays its own.
        self._known: dict[int, tuple[Any, bytes]] = {}

    def of(self, block: Block) -> str:
        """The digest of a block: its function, its arguments by value, and all that could change the result.

        Raises
        ------
        NoDigestError
            An argument without a value that could be compared.
        """
        parts = [_digest(block.work), *(self._shared(argument) for argument in block.arguments)]
        return hashlib.sha256(_frame().encode() + b"".join(parts)).hexdigest()

    def _shared(self, argument: Any) -> bytes:
        known = self._known.get(id(argument))
        if known is not None:
            return known[1]
        digest = _digest(argument)
        if not isinstance(argument, int | float | str):
            self._known[id(argument)] = (argument, digest)
        return digest


def digest_of(block: Block) -> str:
    """The digest of one block; raises as `Digests.of`."""
    return Digests().of(block)


def digest_value(value: Any) -> str:
    """The digest of a value by its content; raises as `Digests.of`."""
    return _digest(value).hex()


@cache
def _frame() -> str:
    return "\n".join(f"{name} {version}" for name, version in versions_here().items())


def _digest(value: Any) -> bytes:
    digest = hashlib.sha256()
    _feed(digest, value)
    return digest.digest()


def _feed(digest: _Hash, value: Any) -> None:
    """Add a value by its kind and content."""
    if value is None or isinstance(value, bool):
        _put(digest, "constant", repr(value).encode())
    elif isinstance(value, Enum):
        _put(digest, "enum", f"{_name(type(value))}.{value.name}".encode())
    elif isinstance(value, int):
        _put(digest, "int", repr(int(value)).encode())
    elif isinstance(value, float):
        _put(digest, "float", struct.pack("<d", value))
    elif isinstance(value, str):
        _put(digest, "text", value.encode("utf-8", "surrogatepass"))
    elif isinstance(value, bytes):
        _put(digest, "bytes", value)
    elif isinstance(value, np.ndarray | np.generic):
        _feed_array(digest, np.asarray(value))
    elif isinstance(value, PurePath):
        _put(digest, "path", str(value).encode("utf-8", "surrogateescape"))
    elif is_dataclass(value) and not isinstance(value, type):
        _many(
            digest,
            _name(type(value)),
            [(field.name, getattr(value, field.name)) for field in fields(value)],
        )
    elif isinstance(value, range):
        _put(digest, "range", repr(value).encode())
    elif isinstance(value, tuple | list):
        _many(digest, "tuple" if type(value) is tuple else _name(type(value)), value)
    elif isinstance(value, Mapping):
        _many(digest, "mapping", value.items())
    elif isinstance(value, set | frozenset):
        _many(digest, "set", sorted(map(_digest, value)))
    elif isinstance(value, type | FunctionType | BuiltinFunctionType | np.ufunc):
        _feed_code(digest, value)
    else:
        raise NoDigestError(f"a {_name(type(value))} has no digest")


def _put(digest: _Hash, kind: str, content: bytes) -> None:
    digest.update(f"{kind} {len(content)}\n".encode())
    digest.update(content)


def _many(digest: _Hash, kind: str, values: Iterable[Any]) -> None:
    parts = [_digest(value) for value in values]
    _put(digest, kind, b"".join(parts))


def _feed_array(digest: _Hash, array: np.ndarray[Any, Any]) -> None:
    if array.dtype.hasobject:
        _many(digest, f"objects {array.shape}", array.ravel().tolist())
        return
    _put(digest, f"array {array.dtype.str} {array.shape}", np.ascontiguousarray(array).tobytes())


def _feed_code(digest: _Hash, value: Any) -> None:
    """A function or class by its name, and where it is not this package's by the source of its module."""
    name = _name(value)
    if "<" in name:
        raise NoDigestError(f"{name} cannot be found again by its name")
    _put(digest, "code", name.encode())
    module = str(getattr(value, "__module__", None) or "")
    if module.split(".")[0] in (PACKAGE, "numpy", "scipy", "builtins"):
        return
    try:
        source = inspect.getsourcefile(sys.modules[module])
        content = Path(source or "").read_bytes()
    except (KeyError, TypeError, OSError):
        raise NoDigestError(f"the source of {name} cannot be read") from None
    _put(digest, "source", content)


def _name(value: Any) -> str:
    return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', value)}"


# How far a block is while it is computed in this process.

_TELL: ContextVar[Callable[[float], None] | None] = ContextVar("part", default=None)


def part_done(share: float) -> None:
    """For the work of a block: so much of it is done. Only who waits for it in this process is told."""
    tell = _TELL.get()
    if tell is not None:
        tell(share)


@contextmanager
def hearing(tell: Callable[[float], None] | None) -> Iterator[None]:
    """Around the work of a block: who is told how far it is; None is nobody, within another block too."""
    token = _TELL.set(tell)
    try:
        yield
    finally:
        _TELL.reset(token)


# Where blocks are computed and where finished ones are kept: the sweep in force.


class Engine(Protocol):
    """Something that computes blocks."""

    def run(self, blocks: Sequence[tuple[str, Block]]) -> Iterator[tuple[str, Any]]:
        """Compute blocks, each with a key of its own: the key and the result of each as it is finished, in any
        order. No more blocks are under way than the memory holds; when the iterator is closed, what is under
        way is given up."""
        ...


class Store(Protocol):
    """Something that keeps the results of finished blocks by their digests."""

    def get(self, key: str) -> Any | None:
        """The result that is kept, or None: no block has None for its result."""
        ...

    def put(self, key: str, result: Any) -> None:
        """Keep a result. Not every one has to be on the disk at once."""
        ...


@dataclass(slots=True)
class Sweep:
    """Where blocks are computed and kept; `engine` None computes them here, in order.

    `n_kept` counts the blocks that the store had, `n_computed` those that it had not; `kept` and `computed` are
    the seconds that they were expected to take.
    """

    engine: Engine | None = None
    store: Store | None = None
    n_kept: int = 0
    n_computed: int = 0
    kept: float = 0.0
    computed: float = 0.0

    def results(
        self,
        blocks: Sequence[Block],
        *,
        n_jobs: int = 1,
        done: Done | None = None,
        part: Part | None = None,
    ) -> Iterator[Any]:
        """The results of blocks in their order, as `run_blocks` gives them."""
        keys = _keys(blocks)
        places: dict[str, list[int]] = {}
        for place, key in enumerate(keys):
            places.setdefault(key, []).append(place)
        values: dict[str, Any] = {}
        for key in places:
            kept = self._kept(key)
            if kept is not None:
                values[key] = kept
                self.n_kept += 1
                self.kept += blocks[places[key][0]].seconds
                self._tell(places[key], done)
        missing = [(key, blocks[at[0]]) for key, at in places.items() if key not in values]
        computed = self._computed(missing, n_jobs, part)
        waiting = {key: len(at) for key, at in places.items()}
        with closing(computed):
            for key in keys:
                while key not in values:
                    finished, result = next(computed)
                    values[finished] = result
                    self.n_computed += 1
                    self.computed += blocks[places[finished][0]].seconds
                    self._tell(places[finished], done)
                yield values[key]
                waiting[key] -= 1
                if not waiting[key]:
                    del values[key]

    def _kept(self, key: str) -> Any | None:
        return None if self.store is None or key.startswith(_NO_DIGEST) else self.store.get(key)

    def _computed(
        self, missing: Sequence[tuple[str, Block]], n_jobs: int, part: Part | None
    ) -> Generator[tuple[str, Any], None, None]:
        pairs = _here(missing, n_jobs, part) if self.engine is None else self.engine.run(missing)
        for key, result in pairs:
            if self.store is not None and not key.startswith(_NO_DIGEST):
                self.store.put(key, result)
            yield key, result

    @staticmethod
    def _tell(places: Sequence[int], done: Done | None) -> None:
        if done is not None:
            for place in places:
                done(place)


_NO_DIGEST = "#"  # begins the key of a block that is computed, and cannot be known again


def _keys(blocks: Sequence[Block]) -> list[str]:
    """The digests of blocks; where one has none, its place."""
    digests, keys = Digests(), []
    for place, block in enumerate(blocks):
        try:
            keys.append(digests.of(block))
        except NoDigestError:
            keys.append(f"{_NO_DIGEST}{place}")
    return keys


def _here(blocks: Sequence[tuple[str, Block]], n_jobs: int, part: Part | None) -> Iterator[tuple[str, Any]]:
    for key, block in blocks:
        with hearing(partial(part, block) if part else None):
            result = block.run(n_jobs)
        yield key, result


_IN_FORCE: ContextVar[Sweep | None] = ContextVar("sweep", default=None)


def sweep_in_force() -> Sweep | None:
    """How blocks are run now; None where nothing was said."""
    return _IN_FORCE.get()


@contextmanager
def sweeping(engine: Engine | None = None, store: Store | None = None) -> Iterator[Sweep]:
    """Within it, blocks are computed by `engine` and kept in `store`; what is None stays as it was around it, and
    else blocks are computed here and kept nowhere."""
    around = sweep_in_force() or Sweep()
    sweep = Sweep(around.engine if engine is None else engine, around.store if store is None else store)
    token = _IN_FORCE.set(sweep)
    try:
        yield sweep
    finally:
        _IN_FORCE.reset(token)


@contextmanager
def alone() -> Iterator[None]:
    """Within it no sweep is in force: a block that runs other blocks computes them itself."""
    token = _IN_FORCE.set(None)
    try:
        yield
    finally:
        _IN_FORCE.reset(token)


Done = Callable[[int], None]  # is told the place, in the list, of each block that is finished


class Block(NamedTuple):
    """A pure function and its arguments; its result does not depend on where it is computed.

    Attributes
    ----------
    work : a function at the top of its module, called as work(*arguments, n_jobs=k); `n_jobs` threads may be
        used and must not be seen in what it returns, which is small and can be pickled.
    arguments : frozen records, numbers, texts, arrays, functions at the top of a module, and tuples of these.
    seconds : about how long it takes on one core; the time left is judged by it, and short blocks are sent
        together. It is no part of what is computed.
    replicates : how many it simulates, for who asks what a command costs; no part of what is computed either.
    """

    work: Callable[..., Any]
    arguments: tuple[Any, ...]
    seconds: float = 0.0
    replicates: int = 0

    def run(self, n_jobs: int = 1) -> Any:
        """Compute it here."""
        with alone():
            return self.work(*self.arguments, n_jobs=n_jobs)


Part = Callable[
    [Block, float], None
]  # is told the share of a block that is done, while it is computed here


def run_blocks(
    blocks: Sequence[Block], *, n_jobs: int = 1, done: Done | None = None, part: Part | None = None
) -> Iterator[Any]:
    """The results of blocks, in their order.

    The sweep in force says where they are computed and where finished ones are kept; without one they are
    computed here, one after the other, each when its result is asked for, with `n_jobs` threads.

    done : called with the place of each block as it is finished, in any order.
    part : called with a block that is computed here, and the share of it that is done.
    """
    sweep = sweep_in_force()
    if sweep is not None:
        yield from sweep.results(blocks, n_jobs=n_jobs, done=done, part=part)
        return
    for place, block in enumerate(blocks):
        with hearing(partial(part, block) if part else None):
            result = block.run(n_jobs)
        if done is not None:
            done(place)
        yield result

"""Where blocks are computed and where finished ones are kept: the sweep in force."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from humeval_power.sweep.digest import Digests, NoDigestError
from humeval_power.sweep.parts import hearing

if TYPE_CHECKING:
    from humeval_power.sweep.blocks import Block, Done, Part


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
        found: dict[str, Any] = {}
        for key in places:
            kept = self._kept(key)
            if kept is not None:
                found[key] = kept
                self.n_kept += 1
                self.kept += blocks[places[key][0]].seconds
                self._tell(places[key], done)
        missing = [(key, blocks[at[0]]) for key, at in places.items() if key not in found]
        computed = self._computed(missing, n_jobs, part)
        waiting = {key: len(at) for key, at in places.items()}
        with closing(computed):
            for key in keys:
                while key not in found:
                    finished, result = next(computed)
                    found[finished] = result
                    self.n_computed += 1
                    self.computed += blocks[places[finished][0]].seconds
                    self._tell(places[finished], done)
                yield found[key]
                waiting[key] -= 1
                if not waiting[key]:
                    del found[key]

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
    digests, found = Digests(), []
    for place, block in enumerate(blocks):
        try:
            found.append(digests.of(block))
        except NoDigestError:
            found.append(f"{_NO_DIGEST}{place}")
    return found


def _here(blocks: Sequence[tuple[str, Block]], n_jobs: int, part: Part | None) -> Iterator[tuple[str, Any]]:
    for key, block in blocks:
        with hearing(partial(part, block) if part else None):
            found = block.run(n_jobs)
        yield key, found


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

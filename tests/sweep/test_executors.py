"""Blocks by executors: the same results, tasks of some seconds, and what happens when something fails."""

import multiprocessing
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from blocks_for_tests import dies, fails, fails_once, normal_blocks, refuses, total

import humeval_power as hp
from humeval_power.designs import k_per_item
from humeval_power.errors import InputError, LostEngineError
from humeval_power.parameters import preset
from humeval_power.studies.power.estimate import count_block, estimate_power
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.sweep.blocks import Block, run_blocks, sweeping
from humeval_power.sweep.dispatch import (
    QUEUED,
    TASK_SECONDS,
    BlocksFailedError,
    Lost,
    Outcome,
    Packer,
    compute_blocks,
    compute_parcel,
    dispatched,
)
from humeval_power.sweep.executors import ExecutorEngine
from humeval_power.sweep.versions import OtherVersionsError, versions_here

STUDY = RatingStudy(preset("high").with_difference(0.1), k_per_item(30, 200, ratings_per_item=3))


class Here(Executor):
    """Computes what it is sent at once, packed as for another process; keeps how many blocks each task had."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def submit(self, work, /, *arguments, **named):
        """See `Executor.submit`."""
        future: Future = Future()
        parcel, arrays = arguments[0], arguments[1]
        self.sizes.append(len(parcel.blocks(arrays)))
        future.set_result(work(*arguments, **named))
        return future


class Clock:
    """A place where blocks take the seconds that a function says, on so many slots; nothing is computed."""

    def __init__(self, slots: int, seconds=lambda block: block.seconds) -> None:
        self._slots, self._seconds = slots, seconds
        self.tasks: list[Sequence[Block]] = []
        self.waiting: deque[int] = deque()
        self.most = 0
        self.closed = False

    def slots(self) -> int:
        return self._slots

    def send(self, blocks):
        self.tasks.append(blocks)
        self.waiting.append(len(self.tasks) - 1)
        self.most = max(self.most, len(self.waiting))
        return len(self.tasks) - 1

    def finished(self):
        name = self.waiting.popleft()
        return name, self.answer(name)

    def answer(self, name: int) -> list[Outcome] | Lost:
        return [Outcome(self._seconds(block), result=block.arguments[0]) for block in self.tasks[name]]

    def close(self) -> None:
        self.closed = True


def keyed(blocks):
    return [(str(place), block) for place, block in enumerate(blocks)]


def keep(taken, pairs):
    """Keep what comes, up to an error."""
    for key, result in pairs:
        taken[key] = result


@pytest.mark.parametrize("make", [lambda: ThreadPoolExecutor(3), Here])
def test_an_executor_finds_what_this_process_finds(make):
    plain = [block.run() for block in normal_blocks(50)]
    with make() as executor, sweeping(ExecutorEngine(executor)):
        assert list(run_blocks(normal_blocks(50))) == plain


def test_power_is_the_same_by_an_executor():
    plain = estimate_power(STUDY, n_simulations=600)
    with ThreadPoolExecutor(2) as executor, sweeping(ExecutorEngine(executor)):
        assert estimate_power(STUDY, n_simulations=600) == plain


@pytest.mark.slow
def test_processes_find_the_same_and_a_broken_pool_is_told(tmp_path):
    spawned = multiprocessing.get_context("spawn")
    plain = [block.run() for block in normal_blocks(50)]
    with ProcessPoolExecutor(2, mp_context=spawned) as executor, sweeping(ExecutorEngine(executor)):
        assert list(run_blocks(normal_blocks(50))) == plain
        with pytest.raises(LostEngineError, match="A process of the executor died"):
            list(run_blocks([*normal_blocks(3), Block(dies, (str(tmp_path / "mark"), 1))]))
        with pytest.raises(LostEngineError, match="takes no tasks"):
            list(run_blocks(normal_blocks(3)))
        for process in multiprocessing.active_children():
            process.kill()  # a pool that broke while it started one waits for that one without end


def test_short_blocks_are_sent_together_and_few_at_once():
    place = Clock(slots=4)
    blocks = [Block(total, (n,), 0.01) for n in range(10_000)]
    assert dict(dispatched(keyed(blocks), place)) == {str(n): n for n in range(10_000)}
    assert place.closed
    assert place.most == QUEUED * 4
    lengths = [sum(block.seconds for block in task) for task in place.tasks]
    assert lengths[0] == pytest.approx(TASK_SECONDS, rel=0.01)
    assert max(lengths) <= TASK_SECONDS * 1.001
    assert lengths[-1] < 0.5  # towards the end they get shorter, so that all slots end together
    assert len(place.tasks) < 60


@pytest.mark.parametrize("factor", [0.01, 100.0])
def test_what_blocks_say_of_their_length_is_corrected(factor):
    place = Clock(slots=2, seconds=lambda block: block.seconds * factor)
    blocks = [Block(total, (n,), 1.0) for n in range(9000)]
    assert len(dict(dispatched(keyed(blocks), place))) == 9000
    middle = place.tasks[len(place.tasks) // 2]
    took = sum(block.seconds * factor for block in middle)
    assert (len(middle) == 1) if factor == 100 else (TASK_SECONDS / 3 < took <= TASK_SECONDS * 1.001)


def test_blocks_that_do_not_say_how_long_they_take_are_measured():
    place = Clock(slots=2, seconds=lambda block: 0.002)  # noqa: ARG005
    blocks = [Block(total, (n,)) for n in range(20_000)]
    assert len(dict(dispatched(keyed(blocks), place))) == 20_000
    assert len(place.tasks[0]) == 1
    assert len(place.tasks) < 100


def test_a_block_that_fails_once_is_tried_again(tmp_path):
    with ThreadPoolExecutor(2) as executor, sweeping(ExecutorEngine(executor)):
        assert list(run_blocks([Block(fails_once, (str(tmp_path / "mark"),))])) == [2.0]


def test_a_block_that_fails_thrice_is_named_and_the_rest_goes_on():
    taken = {}
    blocks = [*normal_blocks(20), Block(fails, (7,)), *normal_blocks(20, seed=2)]
    with pytest.raises(BlocksFailedError, match=r"1 of 41 blocks failed 3 times.*fails\(7\): ValueError"):
        keep(taken, dispatched(keyed(blocks), _Threads()))
    assert sorted(map(int, taken)) == [place for place in range(41) if place != 20]


class _Threads(Clock):
    """Computes where it is asked for an answer."""

    def __init__(self) -> None:
        super().__init__(2)

    def answer(self, name: int) -> list[Outcome] | Lost:
        return compute_blocks(self.tasks[name])


class _Deadly(_Threads):
    """Every task with a certain block is lost, and with it all that wait: as if one worker did everything."""

    def __init__(self, bad: Block) -> None:
        super().__init__()
        self._bad = bad

    def answer(self, name: int) -> list[Outcome] | Lost:
        waiting = [*self.waiting, name]
        lost = any(block is self._bad for place in waiting for block in self.tasks[place])
        return Lost("the worker died") if lost else super().answer(name)


def test_a_block_that_kills_its_worker_takes_no_other_with_it():
    bad = Block(total, (np.ones(1), 5))
    blocks = [*normal_blocks(6), bad, *normal_blocks(6, seed=2)]
    taken = {}
    with pytest.raises(BlocksFailedError, match=r"1 of 13 blocks failed.*total\(5\): the worker died"):
        keep(taken, dispatched(keyed(blocks), _Deadly(bad)))
    assert len(taken) == 12


def test_what_a_block_refuses_is_told_at_once():
    place = _Threads()
    with pytest.raises(InputError, match="Nobody can answer this"):
        list(dispatched(keyed([Block(refuses, ()), *normal_blocks(5)]), place))
    assert place.closed


def test_large_arrays_travel_once_and_what_was_remembered_not_at_all():
    array = np.arange(10_000.0)
    packer = Packer()
    parcels = [packer.pack([Block(total, (array, n)), Block(total, (array.copy(), n))]) for n in range(3)]
    assert len(packer.arrays) == 1
    assert all(len(parcel.content) < 500 and len(set(parcel.needs)) == 1 for parcel in parcels)
    assert [block.run() for block in parcels[2].blocks(packer.arrays)] == [array.sum() + 2] * 2
    fresh = replace(STUDY)
    before = Packer().pack([Block(count_block, ((fresh,), 1, 0, 5))])
    Block(count_block, ((fresh,), 1, 0, 5)).run()
    assert len(Packer().pack([Block(count_block, ((fresh,), 1, 0, 5))]).content) <= len(before.content)


def test_a_function_without_a_module_is_refused():
    with pytest.raises(InputError, match="cannot be computed by another process"):
        list(ExecutorEngine(Here()).run([("a", Block(lambda **_: 1, ()))]))


def test_a_worker_of_other_versions_is_refused():
    parcel = Packer().pack(normal_blocks(1))
    others = {**versions_here(), "numpy": "1.0", "code": "0123"}
    with pytest.raises(OtherVersionsError, match=r"numpy .* instead of 1\.0.*install there"):
        compute_parcel(parcel, {}, others)


def test_calls_that_simulate_take_an_executor():
    executor = Here()
    plain = hp.power(STUDY, n_simulations=60).record()
    assert hp.power(STUDY, n_simulations=60, executor=executor).record() == plain
    cells = hp.models.list_cells({"high": STUDY.parameters}, workers=[5, 8], items=[20], effects=[0.1])
    found = hp.surface(cells, n_simulations=60, executor=executor)
    assert found.record() == hp.surface(cells, n_simulations=60).record()
    assert len(executor.sizes) >= 2
    with pytest.raises(InputError, match=r"must be a concurrent.futures.Executor or a dask.*got int"):
        hp.power(STUDY, n_simulations=60, executor=4)


def test_an_executor_that_was_shut_down_is_told():
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    with pytest.raises(LostEngineError, match="takes no tasks"):
        list(ExecutorEngine(executor).run(keyed(normal_blocks(2))))

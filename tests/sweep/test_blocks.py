"""Blocks: the same results by any engine, in any order, with or without what is kept of an earlier run."""

import subprocess
import sys
from dataclasses import replace
from functools import partial
from itertools import islice

import numpy as np
import pytest
from blocks_for_tests import AnyOrder, Memory, mean_of_normals, normal_blocks
from cases import each_case, few_fast

from humeval_power.designs import crossed, k_per_item
from humeval_power.parameters import preset
from humeval_power.rules import CARD2020
from humeval_power.studies.power.estimate import block_size, count_block, estimate_power
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.studies.power.strategies import list_cells, run_surface
from humeval_power.sweep.blocks import (
    Block,
    NoDigestError,
    digest_of,
    digest_value,
    run_blocks,
    sweep_in_force,
    sweeping,
)

PLAIN = [block.run() for block in normal_blocks(12)]


@each_case("seed", range(4))
def test_the_order_of_computing_cannot_be_seen(seed):
    told: list[int] = []
    with sweeping(AnyOrder(seed)):
        assert list(run_blocks(normal_blocks(12), done=told.append)) == PLAIN
    assert sorted(told) == list(range(12))
    assert seed == 0 or told != sorted(told)


def test_what_is_kept_is_not_computed_again():
    store, engine = Memory(), AnyOrder(3)
    with sweeping(engine, store) as sweep:
        taken = list(islice(run_blocks(normal_blocks(12)), 5))
    half = engine.n_run
    assert taken == PLAIN[:5]
    assert 5 <= half == len(store.kept) == sweep.n_computed
    with sweeping(engine, store) as sweep:
        assert list(run_blocks(normal_blocks(12))) == PLAIN
    assert (engine.n_run, sweep.n_kept) == (12, half)


def test_equal_blocks_are_computed_once():
    engine = AnyOrder(1)
    with sweeping(engine):
        assert list(run_blocks([*normal_blocks(3), *normal_blocks(3)])) == PLAIN[:3] * 2
    assert engine.n_run == 3


def test_without_a_sweep_blocks_are_computed_when_they_are_asked_for():
    ran: list[int] = []

    def work(place: int, *, n_jobs: int) -> int:
        ran.append(n_jobs)
        return place

    found = run_blocks([Block(work, (place,)) for place in range(5)], n_jobs=3)
    assert (next(found), ran) == (0, [3])


def inner(n: int, *, n_jobs: int = 1) -> list[float]:  # noqa: ARG001
    assert sweep_in_force() is None
    return list(run_blocks(normal_blocks(n)))


def test_a_block_that_runs_blocks_computes_them_itself():
    store = Memory()
    with sweeping(None, store):
        assert list(run_blocks([Block(inner, (4,))])) == [PLAIN[:4]]
    assert len(store.kept) == 1


def test_a_block_without_a_digest_is_computed_and_not_kept():
    store = Memory()
    blocks = [
        Block(lambda place, *, n_jobs: place, (1,)),  # noqa: ARG005
        Block(lambda place, *, n_jobs: place + 5, (1,)),  # noqa: ARG005
    ]
    with sweeping(AnyOrder(1), store):
        assert list(run_blocks(blocks)) == [1, 6]
    assert not store.kept


STUDY = RatingStudy(preset("high"), k_per_item(6, 12, ratings_per_item=2))
SENT = Block(count_block, ((STUDY,), 1, 0, 5))
VALUES = [
    *(None, False, 0, 0.0, -0.0, "", "0", b"0", (), [], {}, (0,), ((0,), ()), ((), (0,)), {"a": 0}, {0, 1}),
    range(3),
    np.arange(3),
    np.arange(3.0),
    np.arange(3).reshape(3, 1),
    np.array(["a", "b"], dtype=object),
    np.float32(1.5),
    np.sqrt,
    mean_of_normals,
    RatingStudy,
    STUDY,
    replace(STUDY, rule=CARD2020),
    STUDY.with_effect(0.011),
    RatingStudy(preset("high"), k_per_item(6, 12, ratings_per_item=2, paired=False)),
    RatingStudy(preset("high"), crossed(6, 12)),
]


def test_different_values_have_different_digests():
    assert len({digest_value(value) for value in VALUES}) == len(VALUES)


def test_what_is_worked_out_and_remembered_is_no_part_of_a_value():
    fresh, used = STUDY.with_effect(0.02), STUDY.with_effect(0.02)
    used.draw(2, seed=1)
    assert "replication" in vars(used)
    assert digest_value(fresh) == digest_value(used)


def test_the_seconds_of_a_block_are_no_part_of_it():
    block = normal_blocks(1)[0]
    assert digest_of(block) == digest_of(block._replace(seconds=9.0))


@each_case("value", [lambda: 0, partial(max, 1), object(), (1, [iter(())])])
def test_a_value_that_cannot_be_compared_is_refused(value):
    with pytest.raises(NoDigestError):
        digest_value(value)


def test_a_digest_is_the_same_in_another_process():
    there = subprocess.run(
        [sys.executable, "-c", "import test_blocks; print(test_blocks.digest_of(test_blocks.SENT))"],
        capture_output=True,
        text=True,
        check=True,
        cwd=__file__.rpartition("/")[0],
        env={"PYTHONHASHSEED": "1", "PYTHONPATH": ":".join(sys.path)},
    ).stdout.strip()
    assert there == digest_of(SENT)
    assert len(there) == 64


def _cells():
    return list_cells(
        {"high": preset("high")},
        workers=(3, 4),
        items=(9, 10),
        effects=(0.0, 0.2),
        ratings_per_item=2,
    )


@few_fast("precision", [None, 0.03], fast=1)
def test_a_surface_is_the_same_by_any_engine(precision):
    def surface():
        found = run_surface(_cells(), n_simulations=100, precision=precision)
        return [result.estimate for result in found]

    plain, store = surface(), Memory()
    for seed in (1, 2):
        with sweeping(AnyOrder(seed), store) as sweep:
            assert surface() == plain
    assert sweep.n_computed == 0


def test_every_cell_of_a_surface_stops_by_itself_at_its_precision():
    cells = list_cells(
        {"high": preset("high")}, workers=(10, 80), items=(50,), effects=(0.2,), ratings_per_item=None
    )
    found = [result.estimate for result in run_surface(cells, n_simulations=200, precision=0.01)]
    assert found[0].n_simulations > 2 * found[1].n_simulations
    for one, cell in zip(found, cells, strict=True):
        low, high = one.interval
        assert (high - low) / 2 <= 0.01
        alone = estimate_power(cell.study, n_simulations=200, precision=0.01)
        assert alone == one


def test_blocks_of_slow_studies_are_short():
    assert [block_size(seconds) for seconds in (1e-6, 6e-4, 0.1, 1.0, 100.0)] == [2048, 2048, 256, 16, 1]

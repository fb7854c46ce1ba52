"""Progress: the share of the work that is done, and a time left that work of an earlier run does not flatter."""

from itertools import pairwise

import pytest
from blocks_for_tests import AnyOrder, Memory, normal_blocks

from humeval_power.designs import k_per_item
from humeval_power.parameters import preset
from humeval_power.saying import progress as told
from humeval_power.saying.numbers import time_taken
from humeval_power.studies.power import workload
from humeval_power.studies.power.estimate import ReplicateProgress, estimate_power
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.studies.power.strategies import list_cells, run_surface
from humeval_power.sweep.blocks import Block, part_done, run_blocks, sweeping


class Watch:
    """A clock that tests move."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def watch(monkeypatch):
    found = Watch()
    monkeypatch.setattr(told, "time", found)
    return found


def test_the_time_left_is_the_rest_at_the_pace_after_the_first_block(watch):
    lines: list[str] = []
    with told.lines_to(lines.append), told.progress("Simulating", total=100) as advance:
        watch.now += 40
        advance(25)
        watch.now += 60
        advance(25)
        watch.now += 30
        advance(25)
    assert lines == [
        "Simulating:  25%, about 2 min 0 s left",
        "Simulating:  50%, about 2 min 0 s left",
        "Simulating:  75%, about 45 s left",
    ]
    assert told.share_done() == 0.75


def test_work_of_an_earlier_run_is_done_and_took_no_time_now(watch):
    store, lines = Memory(), []
    blocks = [block._replace(seconds=10.0) for block in normal_blocks(10)]
    with sweeping(None, store):
        list(run_blocks(blocks[:8]))

    def slow(place: int) -> None:
        watch.now += 45.0 if place >= 8 else 0.0
        report(place)

    with (
        sweeping(None, store),
        told.lines_to(lines.append),
        told.progress("Simulating", total=100) as advance,
    ):
        heard = ReplicateProgress(told.in_steps(advance), 1.0).listen(blocks)
        assert heard is not None
        report = heard
        list(run_blocks(blocks, done=slow))
    assert lines == ["Simulating:  90%, about 45 s left"]


def test_cells_count_by_their_work_in_any_order():
    cells = list_cells(
        {"high": preset("high")}, workers=(3, 4), items=(8, 30), effects=(0.1,), ratings_per_item=2
    )
    heard: list[tuple[int, int]] = []
    with sweeping(AnyOrder(2)):
        run_surface(cells, n_simulations=20, progress=lambda done, of: heard.append((done, of)))
    assert len(heard) == len(cells)
    assert heard == sorted(heard)
    assert heard[-1][0] == heard[-1][1]
    steps = {heard[0][0], *(after[0] - before[0] for before, after in pairwise(heard))}
    assert len(steps) > 1, "a cell of 30 items is more work than one of 8"


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_study_that_is_fitted_tells_within_a_block(n_jobs):
    """600 replicates are one block, of which at most 256 are held at a time, and the first are few."""
    study = RatingStudy(preset("high"), k_per_item(4, 6, ratings_per_item=2))
    heard: list[tuple[int, int]] = []
    estimate_power(
        study, n_simulations=600, n_jobs=n_jobs, progress=lambda done, of: heard.append((done, of))
    )
    assert heard == [(done, 600) for done in (8, 24, 56, 120, 248, 256, 512, 600, 600)]


def test_work_that_turns_out_to_be_more_is_told_by_what_is_known_then(watch):
    lines: list[str] = []
    with told.lines_to(lines.append), told.progress("Proving", total=100) as advance:
        report = told.in_steps(advance)
        for done, of in ((10, 30), (20, 30), (30, 90), (60, 90)):
            watch.now += 40
            report(done, of)
    assert lines == [
        "Proving:  33%, about 1 min 20 s left",
        "Proving:  67%, about 40 s left",
        "Proving:  33%, about 4 min 0 s left",
        "Proving:  67%, about 1 min 12 s left",
    ]


def test_cells_count_by_what_they_take_here_where_that_is_long(monkeypatch):
    """Fits of tables of one size differ by a factor of hundreds."""
    cells = list_cells(
        {"high": preset("high")}, workers=(4, 5), items=(8,), effects=(0.1,), ratings_per_item=2
    )
    took = {id(cells[0].study): 0.001, id(cells[1].study): 0.003}
    monkeypatch.setattr(workload, "_measured", lambda study: took[id(study)])
    monkeypatch.setattr(workload, "_MEASURED_FROM", 0.0)
    heard: list[tuple[int, int]] = []
    run_surface(cells, n_simulations=8, progress=lambda done, of: heard.append((done, of)))
    assert sorted(set(heard)) == [(8, 32), (32, 32)]


def test_cells_that_are_not_measured_are_off_as_those_of_their_size(monkeypatch):
    cells = list_cells(
        {"high": preset("high")},
        workers=(4, 8, 16, 32, 64),
        items=(400,),
        effects=(0.1,),
        ratings_per_item=2,
    )
    studies = [cell.study for cell in cells]
    expected = [workload.seconds_each(study) for study in studies]
    asked = []

    def measured(study):
        asked.append(study)
        watch.now += 3.0
        return workload.seconds_each(study) / 50

    watch = Watch()
    monkeypatch.setattr(workload, "time", watch)
    monkeypatch.setattr(workload, "_measured", measured)
    found = workload.measured_seconds(studies, n_simulations=10**6)
    assert asked == [studies[-1], studies[0]], "the largest and the smallest, within four seconds"
    assert found == pytest.approx([seconds / 50 for seconds in expected], rel=1e-9)


def test_what_begins_again_within_a_block_is_not_told_twice():
    heard: list[int] = []
    told_of = ReplicateProgress(lambda done, _of: heard.append(done), 1.0)
    blocks = [block._replace(work=two_passes, seconds=10.0) for block in normal_blocks(2)]
    list(run_blocks(blocks, done=told_of.listen(blocks), part=told_of.part))
    assert heard == [5, 10, 10, 15, 20, 20]


def test_a_block_within_a_block_tells_nobody():
    heard: list[float] = []
    blocks = [block._replace(work=a_block_within) for block in normal_blocks(1)]
    list(run_blocks(blocks, part=lambda _block, share: heard.append(share)))
    assert heard == []


def two_passes(*_arguments: object, n_jobs: int) -> int:
    for share in (0.5, 1.0, 0.5, 1.0):
        part_done(share)
    return n_jobs


def a_block_within(*arguments: object, n_jobs: int) -> int:
    (found,) = run_blocks([Block(two_passes, arguments)], n_jobs=n_jobs)
    return int(found)


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.4, "0 s"), (59.6, "1 min 0 s"), (185, "3 min 5 s"), (9600, "2 h 40 min")]
)
def test_times_in_words(seconds, words):
    assert time_taken(seconds) == words

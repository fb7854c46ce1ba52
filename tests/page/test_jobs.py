"""Long questions wait their turn, tell how far they are, are stopped and go on; nothing outlives the server."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from cases import few_fast
from places import ROOT, TESTS
from worker_room import Room, a_room, lives, problem_of

from humeval_power.doors.page.answers import Work, answer
from humeval_power.doors.page.working.jobs import WARM, Job, WorkLimits
from humeval_power.doors.page.working.worker_link import TooManyError

LIMITS = WorkLimits(stop_seconds=1, jobs=5, kept_jobs=3)


@pytest.fixture(scope="module")
def room() -> Iterator[Room]:
    """One worker for jobs, of which five may wait and three are remembered."""
    with a_room(n_live=1, limits=LIMITS) as found:
        yield found


def test_a_job_tells_how_far_it_is(room: Room, tmp_path: Path):
    job = room.job("told", "count", "0.02", "30", output=tmp_path / "out")
    shares = []

    async def listen() -> None:
        while not job.has_ended:
            if await job.news(5) and job.progress is not None:
                shares.append(job.progress.share)

    room.do(listen())
    assert job.state == "done"
    assert job.answer is not None
    assert job.answer.html == "from 0 to 30"
    assert shares == sorted(shares)
    assert len(set(shares)) > 2
    assert len(shares) < 20, "at most ten a second"


def test_the_same_question_is_the_same_job(room: Room, tmp_path: Path):
    work = ("count", "0.01", "5")
    job = room.job("same", *work, output=tmp_path / "out")
    assert room.job("same", *work, output=tmp_path / "out") is job
    room.end(job)
    assert room.job("same", *work, output=tmp_path / "out") is job


def test_a_job_that_is_stopped_goes_on_where_it_was(room: Room, tmp_path: Path):
    work = ("count", "0.03", "40")
    job = room.job("on", *work, output=tmp_path / "out")
    room.until(lambda: job.progress is not None and job.progress.share > 0.2)
    began = time.monotonic()
    room.stop("on")
    assert room.end(job).exit_code == 130
    assert job.state == "stopped"
    assert time.monotonic() - began < 3
    again = room.job("on", *work, output=tmp_path / "out")
    assert again is not job
    answer = room.end(again)
    assert again.state == "done", answer.problems
    assert 8 <= int(answer.html.split()[1]) < 40


def test_the_worker_of_a_job_that_was_stopped_is_used_again(room: Room, tmp_path: Path):
    first = room.job("counts", "count", "0.05", "600", output=tmp_path / "out")
    room.until(lambda: first.progress is not None)  # it works: no module is being loaded any more
    pids = room.workers.pids
    room.stop("counts")
    room.end(first)
    assert room.end(room.job("says", "say", "still here")).html == "still here"
    assert room.workers.pids == pids


def test_the_worker_of_a_job_that_was_stopped_while_a_module_was_loaded_is_replaced(room: Room):
    first = room.job("loads", "load_slowly")
    room.until(lambda: first.state == "running")
    time.sleep(0.5)
    pids = room.workers.pids
    room.stop("loads")
    assert room.end(first).exit_code == 130
    assert room.end(room.job("says fresh", "say", "fresh")).html == "fresh"
    assert room.workers.pids != pids


def test_a_job_that_does_not_stop_is_killed(room: Room):
    job = room.job("deaf", "deaf")
    room.until(lambda: job.state == "running")
    time.sleep(0.2)
    began = time.monotonic()
    room.stop("deaf")
    assert "Stopped" in problem_of(room.end(job))
    assert job.state == "stopped"
    assert LIMITS.stop_seconds - 0.2 < time.monotonic() - began < 20
    assert room.end(room.job("after deaf", "say", "next")).html == "next"


def test_jobs_wait_in_line_and_too_many_are_refused(room: Room):
    jobs = [room.job("first", "sleep", "30")]
    room.until(lambda: jobs[0].state == "running")
    jobs += [room.job(f"waits{i}", "say", str(i)) for i in range(5)]
    assert [job.place for job in jobs] == [0, 1, 2, 3, 4, 5]
    with pytest.raises(TooManyError, match="5 computations wait already"):
        room.job("one more", "say", "no")
    assert room.job("waits3", "say", "3") is jobs[4], "one that waits is no new one"
    room.stop("waits0")
    assert (jobs[1].state, jobs[2].place) == ("stopped", 1)
    room.stop("first")
    for job in jobs[2:]:
        room.end(job)
    assert [job.state for job in jobs] == ["stopped", "stopped", "done", "done", "done", "done"]
    room.stop("first")  # it has ended
    room.stop("never heard of")
    assert jobs[0].state == "stopped"


def test_the_oldest_jobs_are_forgotten_with_their_outputs(room: Room, tmp_path: Path):
    outputs = [tmp_path / str(i) / "answer" for i in range(5)]
    for i, output in enumerate(outputs):
        for folder in (output, output.with_name("beside"), output.with_name(".answer.partial")):
            folder.mkdir(parents=True)
            (folder / "record.json").write_text("{}")
        room.end(room.job(f"old{i}", "say", "x", output=output))
    room.until(
        lambda: [any(output.parent.iterdir()) for output in outputs] == [False, False, True, True, True]
    )
    assert len(list(outputs[2].parent.iterdir())) == 3
    assert room.workers.job_of("old0") is None
    assert room.workers.job_of("old4") is not None


def test_jobs_that_have_ended_take_no_more_than_so_many_bytes(tmp_path: Path):
    with a_room(n_live=0, limits=WorkLimits(kept_job_bytes=25_000)) as room:
        for i in range(3):
            (tmp_path / f"out{i}").mkdir()
            (tmp_path / f"out{i}" / "table.csv").write_text("x" * 9000)
            room.end(room.job(f"big{i}", "say", "x", output=tmp_path / f"out{i}"))
        assert room.workers.job_of("big0") is None
        assert room.workers.job_of("big1") is not None


def test_a_job_of_a_file_that_has_changed_is_done_anew(room: Room, tmp_path: Path):
    path = tmp_path / "ratings.csv"
    output = tmp_path / "out"
    work = Work(("say", "x"), files=(("ratings.csv", str(path)),), output=str(output))

    async def add() -> Job:
        return room.workers.job("changed", work)

    path.write_text("1")
    first = room.do(add())
    room.end(first)
    output.mkdir()
    assert room.do(add()) is first
    path.write_text("22")
    second = room.do(add())
    assert second is not first
    room.end(second)
    assert not output.exists(), "what the old file gave is no answer"


@few_fast(
    ("words", "told"),
    [
        (("exit_at_once",), "ended with code 7"),
        (("kill_itself", "9"), "was killed"),
        (("fail",), "ZeroDivisionError"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
    fast=1,
)
def test_a_job_whose_process_dies_says_so(room: Room, words: tuple[str, ...], told: str):
    job = room.job(str(words), *words)
    assert told in problem_of(room.end(job))
    assert job.state == "failed"
    again = room.job(str(words), *words)
    assert again is not job, "it can be tried again"
    room.end(again)


def test_live_answers_come_while_a_job_computes(room: Room):
    job = room.job("spins", "spin", "30")
    room.until(lambda: job.state == "running")
    taken = []
    for i in range(10):
        began = time.monotonic()
        room.live("say", "meanwhile", str(i))
        taken.append(time.monotonic() - began)
    room.stop("spins")
    room.end(job)
    assert sorted(taken)[5] < 2, "they do not wait for its 30 seconds"


def test_closing_stops_what_runs_and_keeps_it(tmp_path: Path):
    with a_room(n_live=1) as room:
        job = room.job("closed", "count", "0.02", "2000", output=tmp_path / "out")
        waits = room.job("waits", "say", "never")
        room.until(lambda: job.progress is not None)
        began = time.monotonic()
        room.do(room.workers.close())
        assert time.monotonic() - began < 20, "it does not wait for all 40 seconds"
    assert (job.state, waits.state) == ("stopped", "stopped")
    assert int((tmp_path / "out.steps").read_text()) > 0


@pytest.mark.long
@pytest.mark.slow
def test_a_simulation_that_is_stopped_ends_with_the_bytes_of_one_that_was_not(tmp_path: Path):
    study = ("--workers=30", "--items=50", "--ratings-per-item=7", "--preset=high", "--effect=0.1")
    words = ("power", *study, "--simulations=16384")
    with a_room(answer, n_live=0, warm=WARM) as room:
        whole = room.end(room.job("whole", *words, output=tmp_path / "whole"), within=300)
        job = room.job("parts", *words, output=tmp_path / "parts")
        room.until(lambda: job.progress is not None and (job.progress.share or 0) > 0.3, within=300)
        time.sleep(2)  # what takes less is not worth keeping
        room.stop("parts")
        stopped = room.end(job)
        assert (job.state, stopped.exit_code) == ("stopped", 130)
        assert "of work are kept" in problem_of(stopped)
        again = room.end(room.job("parts", *words, output=tmp_path / "parts"), within=300)
    assert any(note.startswith("Going on where an earlier run was stopped") for note in again.notes)
    assert again.html == whole.html
    assert again.files == whole.files
    for name in whole.files:
        assert (tmp_path / "parts" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    assert sorted(os.listdir(tmp_path)) == ["parts", "whole"]


@few_fast("how", ["SIGINT to all", "SIGTERM", "SIGKILL"], fast=1)
def test_nothing_outlives_the_server(how: str, tmp_path: Path):
    """Not the workers, nor what a job has started; what the job had finished is kept, and nothing is printed."""
    server = subprocess.Popen(
        [sys.executable, str(TESTS / "page" / "worker_server.py"), str(tmp_path / "out")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "PYTHONPATH": f"{ROOT}:{TESTS / 'page'}"},
    )
    assert server.stdout is not None
    pids = json.loads(server.stdout.readline())
    assert all(lives(pid) for pid in pids)
    if how == "SIGINT to all":
        os.killpg(server.pid, signal.SIGINT)
    else:
        server.send_signal(signal.Signals[how])
    _, said = server.communicate(timeout=20)
    end = time.monotonic() + 10
    while left := [pid for pid in pids if lives(pid)]:
        assert time.monotonic() < end, f"{left} of {pids} still live"
        time.sleep(0.05)
    assert said == ""
    kept = (tmp_path / "out.steps").read_text()
    assert int(kept) > 0
    time.sleep(0.2)
    assert (tmp_path / "out.steps").read_text() == kept


def test_a_job_whose_page_is_left_is_stopped_and_one_that_is_looked_at_again_goes_on(
    room: Room, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("humeval_power.doors.page.working.jobs._RELOADED_SECONDS", 0.5)
    job = room.job("left", "count", "0.05", "10000", output=tmp_path / "left")
    room.do(_begun(job))

    async def leave(looked_at_again: float | None) -> None:
        room.workers.leave("left")
        if looked_at_again is not None:
            await asyncio.sleep(looked_at_again)
            assert room.workers.job_of("left") is job  # as a page does that is loaded again
            await asyncio.sleep(0.7)

    room.do(leave(0.1))
    assert job.state == "running"
    room.do(leave(None))
    room.end(job)
    assert job.state == "stopped"


@pytest.mark.slow
def test_a_job_that_no_page_asks_for_ends(tmp_path: Path):
    with a_room(n_live=1, limits=WorkLimits(stop_seconds=3, alone_seconds=0.8)) as found:
        job = found.job("alone", "count", "0.05", "10000", output=tmp_path / "alone")

        async def looked_at() -> None:
            n_looks = 0
            while n_looks < 6:
                assert found.workers.job_of("alone") is job
                n_looks += job.state == "running"
                await asyncio.sleep(0.2)

        found.do(looked_at())
        assert job.state == "running"
        found.end(job)
        assert job.state == "stopped"


async def _begun(job: Job) -> None:
    while job.state == "waiting":
        await job.news(5)

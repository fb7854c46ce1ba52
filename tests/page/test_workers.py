"""Warm processes answer live questions: fairly, once, within their limits, and whatever happens to one of them."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import page_runs
import pytest
from cases import few_fast
from worker_room import Room, a_room, lives, problem_of

from humeval_power.doors.page.answers import Work, answer
from humeval_power.doors.page.working.jobs import WARM, WorkLimits
from humeval_power.doors.page.working.worker_link import TooManyError

MB = 10**6


@pytest.fixture(scope="module")
def room() -> Iterator[Room]:
    """Two live workers that take at most two seconds and 300 MB."""
    with a_room(n_jobs=0, limits=WorkLimits(live_seconds=2, live_memory=300 * MB)) as found:
        yield found


@pytest.fixture(scope="module")
def narrow() -> Iterator[Room]:
    """One live worker, so that questions have to wait."""
    with a_room(n_live=1, n_jobs=0, limits=WorkLimits(live=40)) as found:
        found.live("say", "ready")
        yield found


def test_the_server_does_not_wait_for_its_workers():
    with a_room(n_live=1) as room:
        before = room.workers.readiness
        assert (before.live, before.jobs, before.problem) == (False, False, "")
        assert room.live("say", "1").html == "1"
        assert room.workers.readiness.live
        room.until(lambda: room.workers.readiness.jobs)


def test_an_answer_comes_from_another_process(room: Room):
    answer = room.live("say", "two", "words")
    assert (answer.exit_code, answer.html) == (0, "two words")
    assert int(answer.notes[0]) in room.workers.pids
    assert int(answer.notes[0]) != os.getpid()


def test_what_is_printed_does_not_reach_the_link(room: Room):
    assert room.live("print_much").html == "printed"


@few_fast(
    ("words", "told"),
    [
        (("exit_at_once",), "ended with code 7"),
        (("kill_itself", str(int(signal.SIGSEGV))), "crashed (Segmentation fault)"),
        (("kill_itself", str(int(signal.SIGKILL))), "as systems do where the memory is not enough"),
        (("eat", "2000"), "The memory is not enough for this"),
        (("eat_unseen", "900"), "took more than 0.3 GB of memory"),
        (("spin",), "took longer than 2 seconds"),
        (("fail",), "ZeroDivisionError: by nothing"),
        (("leave",), "SystemExit: 2"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
    fast=1,
)
def test_whatever_happens_is_said_and_the_next_answer_comes(room: Room, words: tuple[str, ...], told: str):
    answer = room.live(*words)
    assert answer.exit_code == 1
    assert told in problem_of(answer)
    for place in range(3):  # so that the worker that took its place is asked too
        assert room.live("say", *words, str(place)).exit_code == 0


@pytest.mark.slow
def test_a_worker_that_hears_nobody_is_ended_by_the_system():
    limits = WorkLimits(live_seconds=0.5)
    with a_room(n_live=1, n_jobs=0, limits=limits) as room:
        assert room.live("say", "ready").exit_code == 0
        worker = next(iter(room.workers._crews[0]._workers))
        worker._watcher.cancel()
        began = time.monotonic()
        assert "too much time of the processor" in problem_of(room.live("spin"))
        assert time.monotonic() - began < 10


def test_a_worker_that_is_killed_while_it_waits_is_replaced(narrow: Room):
    (pid,) = narrow.workers.pids
    os.kill(pid, signal.SIGKILL)
    narrow.until(lambda: narrow.workers.pids not in ([], [pid]))
    assert narrow.live("say", "after the kill").exit_code == 0


def test_processes_that_an_answer_leaves_end_with_its_worker(narrow: Room):
    child = int(narrow.live("leave_child").html)
    narrow.until(lambda: not lives(child))
    assert narrow.live("say", "after the child").exit_code == 0


@pytest.mark.parametrize("words", [("leave_thread",), ("open_command",)], ids=lambda words: words[0])
def test_a_worker_in_which_something_is_left_answers_no_more(narrow: Room, words: tuple[str, ...]):
    spoilt = narrow.live(*words).notes
    assert narrow.live("say", "after", *words).notes != spoilt


def test_what_an_answer_changes_in_its_process_is_put_back(narrow: Room, tmp_path: Path):
    before = narrow.live("state")
    spoilt = narrow.live("spoil", str(tmp_path))
    after = narrow.do(narrow.workers.live(Work(("state",), files=(("none", "/none"),)), "one"))
    assert after is not None
    assert before.notes == spoilt.notes == after.notes, "the same process"
    assert spoilt.html != before.html
    assert after.html == before.html


def test_the_environment_is_that_of_the_server(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COLUMNS", "43")
    monkeypatch.setenv("NO_COLOR", "1")
    with a_room(n_live=1, n_jobs=0) as room:
        assert "'COLUMNS': '43'" in room.live("state").html
        assert "'NO_COLOR': '1'" in room.live("state").html


def test_equal_questions_are_computed_once(narrow: Room):
    words = ("sleep", "0.3", "equal")
    began = time.monotonic()
    answers = narrow.lives(*((f"tab{i}", words) for i in range(10)))
    again = narrow.live(*words)
    assert all(answer is answers[0] and answer is not None for answer in answers)
    assert again is answers[0]
    assert time.monotonic() - began < 10 * 0.3


def test_a_file_that_has_changed_is_another_question(narrow: Room, tmp_path: Path):
    path = tmp_path / "ratings.csv"
    work = Work(("say", "file"), files=(("ratings.csv", str(path)),))
    path.write_text("1")
    first = narrow.do(narrow.workers.live(work, "one"))
    same = narrow.do(narrow.workers.live(work, "one"))
    path.write_text("22")
    other = narrow.do(narrow.workers.live(work, "one"))
    assert first is same
    assert other is not first


def test_the_newest_question_of_a_page_counts(narrow: Room):
    first, second, third, last = narrow.lives(
        ("busy", ("sleep", "0.3", "newest")),
        ("drag", ("say", "newest", "1")),
        ("drag", ("say", "newest", "2")),
        ("drag", ("say", "newest", "3")),
    )
    assert first is not None
    assert second is None
    assert third is None
    assert last is not None
    assert last.html == "newest 3"


def test_pages_without_a_name_do_not_take_each_others_place(narrow: Room):
    answers = narrow.lives(*(("", ("sleep", "0.02", "nameless", str(i))) for i in range(3)))
    assert all(answer is not None for answer in answers)


def test_a_question_that_is_being_answered_gets_its_answer(narrow: Room):
    async def drag() -> tuple[object, object]:
        import asyncio

        older = asyncio.ensure_future(narrow.workers.live(Work(("sleep", "0.3", "runs")), "drag"))
        await asyncio.sleep(0.15)
        newer = await narrow.workers.live(Work(("say", "runs")), "drag")
        return await older, newer

    older, newer = narrow.do(drag())
    assert older is not None
    assert newer is not None


def test_no_page_starves_while_others_drag(narrow: Room):
    """One page asks without end; 20 others get their answers in the order in which they asked."""
    order: list[str] = []

    async def ask(tab: str, *words: str) -> None:
        if await narrow.workers.live(Work(words), tab) is not None:
            order.append(tab)

    async def all_of_them() -> None:
        import asyncio

        asked = [asyncio.ensure_future(ask("busy", "sleep", "0.2", "starving"))]
        await asyncio.sleep(0.05)
        for tab in range(20):
            asked.append(asyncio.ensure_future(ask(f"tab{tab}", "sleep", "0.02", str(tab))))
            asked.append(asyncio.ensure_future(ask("greedy", "sleep", "0.02", "greedy", str(tab))))
            await asyncio.sleep(0)
        await asyncio.gather(*asked)

    narrow.do(all_of_them())
    assert [tab for tab in order if tab.startswith("tab")] == [f"tab{tab}" for tab in range(20)]
    assert order.count("greedy") == 1
    assert order.index("greedy") == 2, "it keeps its place behind the first of the others"


def test_more_questions_than_can_wait_are_refused_in_words(narrow: Room):
    with pytest.raises(TooManyError, match="Too many pages ask at once"):
        narrow.lives(*((f"tab{tab}", ("sleep", "0.02", "many", str(tab))) for tab in range(60)))
    narrow.until(lambda: not narrow.workers.is_busy)


def test_kept_answers_are_few_and_small():
    limits = WorkLimits(kept_answers=3, kept_answer_bytes=100_000)
    with a_room(n_live=1, n_jobs=0, limits=limits) as room:
        first = room.live("say", "1")
        for word in ("2", "3"):
            room.live("say", word)
        assert room.live("say", "1") is first
        room.live("say", "4")  # "2" is the oldest now
        assert room.live("say", "1") is first
        big = room.live("say", "x" * 99_000)
        assert room.live("say", "1") is not first, "the size of all counts"
        assert room.live("say", "x" * 99_000) is not big, "together they are too much"


def test_a_worker_that_has_answered_much_is_replaced_without_a_pause():
    with a_room(n_live=1, n_jobs=0, limits=WorkLimits(answers=5)) as room:
        first = room.live("say", "first").notes
        slowest, place = 0.0, 0
        while room.live("say", str(place)).notes == first:
            place += 1
            began = time.monotonic()
            room.live("sleep", "0.01", str(place))
            slowest = max(slowest, time.monotonic() - began)
            assert place < 1000
        assert place >= 2
        assert slowest < 0.25, "the next one was warm before the first was let go"


@pytest.mark.slow
def test_workers_that_never_start_are_told_of_and_not_tried_for_ever():
    with a_room(page_runs.broken) as room:
        answer = room.live("say", "1")
        assert "cannot be started (3 tries): ImportError: no module named abacus" in problem_of(answer)
        assert room.workers.readiness.problem == problem_of(answer)
        job = room.job("key", "say", "1")
        assert "cannot be started" in problem_of(room.end(job))
        assert job.state == "failed"
        assert room.workers.pids == []


def test_a_live_answer_of_a_worker_is_that_of_the_command():
    words = ("power", "--preset=high", "--workers=12", "--items=30", "--effect=0.1", "--method=analytic")
    here = answer(Work(words), lambda _told: None)
    with a_room(answer, n_live=1, n_jobs=0, warm=()) as room:
        live = room.live(*words)
    assert (live.exit_code, live.problems) == (0, ())
    assert live.html == here.html


@pytest.mark.long
@pytest.mark.slow
def test_an_answer_of_a_worker_is_that_of_the_command(tmp_path: Path):
    """The same record here and there, whether it was written by a job or shown while somebody drags."""
    words = ("power", "--preset=high", "--workers=12", "--items=30", "--effect=0.1", "--method=analytic")
    here = answer(Work(words, output=str(tmp_path / "here")), lambda _told: None)
    with a_room(answer, n_live=1, kernels=True, warm=WARM) as room:
        live = room.live(*words)
        job = room.end(room.job("power", *words, output=tmp_path / "there"), within=120)
    assert (live.exit_code, live.problems) == (0, ())
    assert live.html == job.html == here.html
    assert job.files == here.files
    for name in here.files:
        assert (tmp_path / "there" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()


def test_fifty_pages_that_drag_are_all_answered(room: Room):
    """Each page asks ten times without waiting, and gets its last answer."""
    questions = [
        (f"tab{tab}", ("say", "drag", str(tab), str(step))) for step in range(10) for tab in range(50)
    ]
    answers = room.lives(*questions)
    last = answers[-50:]
    assert [answer and answer.html for answer in last] == [f"drag {tab} 9" for tab in range(50)]

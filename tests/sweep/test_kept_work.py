"""Commands with an output can be stopped and go on: Ctrl-C, SIGTERM, refusals, and what the user reads."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cli import run

from humeval_power.files import file_sets
from humeval_power.files import file_sets as partial_folder
from humeval_power.sweep.blocks import Block, Sweep
from humeval_power.sweep.dispatch import NotSendableError

SURFACE = [
    *("surface", "--preset", "high", "--workers", "4:6:1", "--items", "20,30"),
    *("--effect", "0.1", "--simulations", "4200"),
]
N_BLOCKS = 18


@pytest.fixture(autouse=True)
def _at_once(monkeypatch, tmp_path):
    monkeypatch.setattr(partial_folder, "PATIENCE", 0.0)
    monkeypatch.setattr(file_sets, "SAVE_EVERY", 0.0)
    monkeypatch.chdir(tmp_path)


def stopping(monkeypatch, after: int, stop) -> list[int]:
    """Let `stop` come after so many blocks; how many were drawn is counted."""
    drawn: list[int] = []
    compute = Block.run

    def counted(block: Block, n_jobs: int = 1):
        if len(drawn) == after:
            stop()
        drawn.append(1)
        return compute(block, n_jobs)

    monkeypatch.setattr(Block, "run", counted)
    return drawn


def ctrl_c() -> None:
    raise KeyboardInterrupt


def terminate() -> None:
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(0.05)


@pytest.mark.parametrize("stop", [ctrl_c, terminate])
def test_a_command_that_is_stopped_goes_on_to_the_same_bytes(monkeypatch, stop):
    run(*SURFACE, "-o", "s.json", "--jobs", "2")
    plain = Path("s.json").read_bytes()
    Path("s.json").unlink()
    with monkeypatch.context() as patched:
        drawn = stopping(patched, 10, stop)
        stopped = run(*SURFACE, "-o", "s.json", code=130)
        assert len(drawn) == 10
    words = " ".join(stopped.stderr.split())
    assert "of work are kept in .s.json.partial: the same command goes on from there" in words
    assert "Interrupted at" in stopped.stderr
    assert all(len(line) <= 80 for line in stopped.stderr.splitlines())
    assert not Path("s.json").exists()
    with monkeypatch.context() as patched:
        rest = stopping(patched, -1, ctrl_c)
        again = run(*SURFACE, "-o", "s.json", "--jobs", "2")
        assert len(rest) == N_BLOCKS - 10
    assert "Going on where an earlier run was stopped" in again.stderr
    assert Path("s.json").read_bytes() == plain
    assert sorted(os.listdir()) == ["s.json"]


def test_another_question_is_refused_in_words_and_with_2(monkeypatch):
    with monkeypatch.context() as patched:
        stopping(patched, 5, ctrl_c)
        run(*SURFACE, "-o", "s.json", code=130)
    refused = run(*SURFACE, "-o", "s.json", "--seed", "4", code=2)
    words = " ".join(refused.stderr.split())
    assert (
        ".s.json.partial holds unfinished work on another question: --seed was not given and is 4" in words
    )
    assert "It was begun with: humeval-power surface --preset high" in words
    assert all(len(line) <= 80 for line in refused.stderr.splitlines())
    # what the disk holds commands no terminal
    kept = Path(".s.json.partial/question.json")
    kept.write_text(kept.read_text().replace("--preset high", "\\u001b[2J\\u202e"))
    refused = run(*SURFACE, "-o", "s.json", "--seed", "4", code=2)
    assert "It was begun with" in " ".join(refused.stderr.split())
    assert not {"\x1b", "\u202e"} & set(refused.stderr)
    run(*SURFACE, "-o", "s.json", "--details")
    assert os.listdir() == ["s.json"]


def test_work_is_kept_where_only_another_place_cannot_go_on_with_it(monkeypatch):
    def refuse() -> None:
        raise NotSendableError("This cannot be computed by another process.")

    for stop, code in ((ctrl_c, 130), (refuse, 2)):
        with monkeypatch.context() as patched:
            stopping(patched, 5, stop)
            run(*SURFACE, "-o", "s.json", code=code)
        assert os.listdir() == [".s.json.partial"]
    assert "Going on where an earlier run was stopped" in run(*SURFACE, "-o", "s.json").stderr


def test_a_folder_as_output_keeps_its_work_beside_it(monkeypatch):
    with monkeypatch.context() as patched:
        stopping(patched, 5, ctrl_c)
        run(*SURFACE, "-o", "out/", code=130)
    assert os.listdir() == [".out.partial"]
    run(*SURFACE, "-o", "out/")
    assert os.listdir() == ["out"]


@pytest.mark.parametrize("words", [(), ("-o", "-")])
def test_without_an_output_nothing_is_kept(monkeypatch, words):
    with monkeypatch.context() as patched:
        stopping(patched, 5, ctrl_c)
        stopped = run(*SURFACE, *words, code=130)
    assert "no file was left half-written" in stopped.stderr
    assert not os.listdir()


def test_short_work_leaves_no_trace(monkeypatch):
    monkeypatch.setattr(partial_folder, "PATIENCE", 3600.0)
    with monkeypatch.context() as patched:
        stopping(patched, 5, ctrl_c)
        assert "no file was left half-written" in run(*SURFACE, "-o", "s.json", code=130).stderr
    assert not os.listdir()


@pytest.mark.parametrize(
    "words",
    [
        "mde --preset high --workers 5 --items 20 --simulations 4500 --method simulate",
        "size --preset high --find workers --items 50 --effect 0.2 --simulations 4500",
        "power --preset high --workers 5 --items 20 --effect 0.1 --simulations 9000 --half-width 0.006",
    ],
)
def test_a_search_goes_through_the_same_lists_again(monkeypatch, words):
    asked = words.split()
    run(*asked, "-o", "a.json")
    plain = Path("a.json").read_bytes()
    Path("a.json").unlink()
    kept = []
    with monkeypatch.context() as patched:
        stopping(patched, 1, ctrl_c)
        run(*asked, "-o", "a.json", code=130)
    results = Sweep.results

    def noted(self, *arguments, **named):
        yield from results(self, *arguments, **named)
        kept.append(self.n_kept)

    with monkeypatch.context() as patched:
        patched.setattr(Sweep, "results", noted)
        run(*asked, "-o", "a.json")
    assert kept[0] == 1
    assert Path("a.json").read_bytes() == plain
    assert os.listdir() == ["a.json"]


def test_two_at_once_are_refused_in_words_and_so_is_a_finished_output_without_force(tmp_path):
    """Another process holds the folder, as one that works in it does."""
    folder = partial_folder.partial_of(tmp_path / "s.json")
    folder.mkdir()
    hold = "import fcntl, os, sys; fcntl.flock(os.open('.s.json.partial', 0), 2); print(1, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path
    ) as other:
        assert other.stdout is not None
        other.stdout.readline()
        refused = run(*SURFACE, "-o", "s.json", code=1)
        other.communicate(b"\n")
    assert "Another process is at work in .s.json.partial" in " ".join(refused.stderr.split())
    run(*SURFACE, "-o", "s.json")
    assert "exists already" in run(*SURFACE, "-o", "s.json", code=2).stderr
    run(*SURFACE, "-o", "s.json", "--force")
    assert os.listdir() == ["s.json"]

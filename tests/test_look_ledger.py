"""The ledger of looks is only ever added to: whole after any death, closed to any change."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from humeval_power.errors import InputError
from humeval_power.interfaces.formats.look_ledger import open_ledger, read_ledger

WRITER = """
import sys
from humeval_power.interfaces.formats.look_ledger import open_ledger
with open_ledger(sys.argv[1]) as ledger:
    for line in range(100000):
        entry = ledger.append("look", {"line": len(ledger.entries) + 1, "filler": "x" * 2000})
        print(entry.number, flush=True)
"""


def fill(path: Path, n: int) -> None:
    for number in range(n):
        with open_ledger(path) as ledger:
            ledger.append("look", {"value": number})


def test_what_was_written_is_read_back_in_order(tmp_path: Path) -> None:
    fill(tmp_path / "l.jsonl", 3)
    entries = read_ledger(tmp_path / "l.jsonl")
    assert [entry.content["value"] for entry in entries] == [0, 1, 2]
    assert [entry.number for entry in entries] == [1, 2, 3]
    assert entries[1].previous == entries[0].sha256


def test_no_file_is_no_look(tmp_path: Path) -> None:
    assert read_ledger(tmp_path / "none.jsonl") == ()


@pytest.mark.parametrize("row", [0, 1, 2])
def test_a_changed_line_is_named(tmp_path: Path, row: int) -> None:
    path = tmp_path / "l.jsonl"
    fill(path, 3)
    lines = path.read_text().splitlines()
    changed = json.loads(lines[row])
    changed["content"]["value"] = 99
    lines[row] = json.dumps(changed)
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match=rf"l\.jsonl, row {row + 1}: is not as it was written"):
        read_ledger(path)


def test_a_line_taken_out_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    fill(path, 3)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(lines[0] + lines[2])
    with pytest.raises(InputError, match="row 2"), open_ledger(path):
        pass


def test_half_a_line_never_counted_and_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    fill(path, 2)
    whole = path.read_bytes()
    path.write_bytes(whole + whole[:40])
    assert len(read_ledger(path)) == 2
    fill(path, 1)
    assert len(read_ledger(path)) == 3
    assert path.read_bytes().startswith(whole)


def test_a_writer_killed_at_any_moment_leaves_a_whole_ledger(tmp_path: Path) -> None:
    """What was acknowledged is there, once; the next process goes on from it."""
    path = tmp_path / "l.jsonl"
    choose = random.Random(1)
    for _ in range(8):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        first = writer.stdout.readline()  # it has the lock and writes
        time.sleep(choose.uniform(0.0, 0.02))
        os.kill(writer.pid, signal.SIGKILL)
        seen = [first, *writer.stdout.readlines()]
        writer.wait()
        writer.stdout.close()
        acknowledged = max(int(line) for line in seen if line.endswith("\n"))
        entries = read_ledger(path)
        assert len(entries) in (acknowledged, acknowledged + 1)  # one may be on the disk unannounced
        assert [entry.content["line"] for entry in entries] == list(range(1, len(entries) + 1))


def test_two_processes_take_turns(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    code = WRITER.replace("range(100000)", "range(30)").replace("2000", "5")
    both = [
        subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.DEVNULL)
        for _ in range(2)
    ]
    assert [process.wait(300) for process in both] == [0, 0]
    assert [entry.content["line"] for entry in read_ledger(path)] == list(range(1, 61))

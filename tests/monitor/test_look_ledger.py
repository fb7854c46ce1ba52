"""The ledger of looks is only ever added to: whole after any death, closed to any change."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from cases import each_case

from humeval_power.errors import InputError
from humeval_power.studies.monitor.files import open_ledger, read_ledger

WRITER = """
import sys
from humeval_power.studies.monitor.files import open_ledger
with open_ledger(sys.argv[1]) as ledger:
    for line in range(100000):
        entry = ledger.append("look", {"line": len(ledger.entries) + 1, "filler": "x" * 2000})
        print(entry.number, flush=True)
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "l.jsonl"


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
def test_a_changed_line_is_named(path: Path, row: int) -> None:
    fill(path, 3)
    lines = path.read_text().splitlines()
    changed = json.loads(lines[row])
    changed["content"]["value"] = 99
    lines[row] = json.dumps(changed)
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match=rf"l\.jsonl, row {row + 1}: is not as it was written"):
        read_ledger(path)


def test_a_line_taken_out_is_noticed(path: Path) -> None:
    fill(path, 3)
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(lines[0] + lines[2])
    with pytest.raises(InputError, match="row 2"), open_ledger(path):
        pass


@pytest.mark.long
@pytest.mark.slow
def test_a_writer_killed_at_any_moment_leaves_a_whole_ledger(path: Path) -> None:
    """What was acknowledged is there, once; the next process goes on from it."""
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


def test_two_processes_take_turns(path: Path) -> None:
    code = WRITER.replace("range(100000)", "range(30)").replace("2000", "5")
    code = code.replace("with open", "import os\nother = os.fork()\nwith open")
    code += "if other: sys.exit(os.waitpid(other, 0)[1])\n"
    subprocess.run([sys.executable, "-c", code, path], stdout=subprocess.DEVNULL, check=True, timeout=300)
    assert [entry.content["line"] for entry in read_ledger(path)] == list(range(1, 61))


NOT_LEDGERS = {
    "notes": b"What I saw on Monday\nworkers were slow",
    "notes of one line": b"no newline at all",
    "JSON": b'{"plan": 1, "looks": [1, 2]}',
    "JSON lines": b'{"content": 1}\n{"content": 2}\nhalf',
    "a workbook": b"PK\x03\x04\x14\x00\x06\x00\n\x08\x00\x00\x00!\x00",
    "zeros": b"\0" * 5000,
    "a blank line": b"\n",
    "blanks": b"   \t ",
    "UTF-16": '{"content":{"a":1}}\n'.encode("utf-16"),
    "a byte order mark": b"\xef\xbb\xbf",
    "deep nesting": b'{"content":' + b"[" * 100_000,
    "a brace": b"{",
}


@each_case("name", NOT_LEDGERS)
def test_a_file_that_is_no_ledger_is_left_as_it_is(tmp_path: Path, name: str) -> None:
    path = tmp_path / "l.jsonl"
    path.write_bytes(NOT_LEDGERS[name])
    for read in (read_ledger, lambda place: fill(place, 1)):
        with pytest.raises(InputError, match="is no ledger of looks: its first line is no entry"):
            read(path)
    assert path.read_bytes() == NOT_LEDGERS[name]
    assert [each.name for each in tmp_path.iterdir()] == ["l.jsonl"]


def test_a_first_line_that_is_cut_off_is_neither_touched_nor_used(path: Path) -> None:
    fill(path, 1)
    torn = path.read_bytes()[:60]
    path.write_bytes(torn)
    for read in (read_ledger, lambda place: fill(place, 1)):
        with pytest.raises(InputError, match=r"the first line is cut off.*Move it away"):
            read(path)
    assert path.read_bytes() == torn


def test_places_that_are_no_files_are_refused_and_do_not_block(tmp_path: Path) -> None:
    (tmp_path / "directory").mkdir()
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for name in ("directory", "fifo", "loop"):
        for read in (read_ledger, lambda place: fill(place, 1)):
            with pytest.raises(InputError, match=rf"{name}: .*ledger"):
                read(tmp_path / name)
    assert sorted(each.name for each in tmp_path.iterdir()) == ["directory", "fifo", "loop"]


def test_what_follows_the_last_line_and_is_no_torn_line_is_not_cut(path: Path, tmp_path: Path) -> None:
    fill(path, 2)
    for tail in (b"my notes", b'{"other": 1', b"\0\0\0\0"):
        whole = path.read_bytes() + tail
        other = tmp_path / "other.jsonl"
        other.write_bytes(whole)
        with pytest.raises(InputError, match="row 3: is not as it was written"):
            fill(other, 1)
        assert other.read_bytes() == whole


def test_a_torn_line_is_cut_only_when_another_is_added(path: Path) -> None:
    fill(path, 2)
    whole = path.read_bytes()
    for length in (1, 5, 12, 60, len(whole) // 2 - 30):
        path.write_bytes(whole + whole[:length])
        with open_ledger(path) as ledger:
            assert len(ledger.entries) == 2
        assert path.read_bytes() == whole + whole[:length]
    fill(path, 1)
    assert path.read_bytes().startswith(whole)
    assert len(read_ledger(path)) == 3


ENDINGS = {
    "no newline": lambda whole: whole.removesuffix(b"\n"),
    "Windows line ends": lambda whole: whole.replace(b"\n", b"\r\n"),
    "Windows line ends, the last one gone": lambda whole: whole.replace(b"\n", b"\r\n")[:-2],
    "half of a Windows line end": lambda whole: whole.replace(b"\n", b"\r\n")[:-1],
    "a byte order mark": lambda whole: b"\xef\xbb\xbf" + whole,
    "blank lines": lambda whole: whole + b"\n\n",
    "blanks": lambda whole: whole + b"  \t",
    "blank lines between": lambda whole: whole.replace(b"\n", b"\n\n"),
}


@each_case("name", ENDINGS)
def test_an_editor_that_saved_the_ledger_loses_no_look(tmp_path: Path, name: str) -> None:
    path = tmp_path / "l.jsonl"
    fill(path, 3)
    path.write_bytes(ENDINGS[name](path.read_bytes()))
    kept = path.read_bytes()
    assert [entry.content["value"] for entry in read_ledger(path)] == [0, 1, 2]
    with open_ledger(path) as ledger:
        ledger.append("look", {"value": 3})
    assert path.read_bytes().startswith(kept)
    assert [entry.content["value"] for entry in read_ledger(path)] == [0, 1, 2, 3]


@pytest.mark.parametrize("newline", ["\n", ""])
def test_a_last_line_that_is_there_twice_is_named(path: Path, newline: str) -> None:
    fill(path, 2)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines, lines[-1]]) + newline)
    before = path.read_bytes()
    with pytest.raises(InputError, match=r"row 3: this line is the one before it once more. Delete one"):
        fill(path, 1)
    assert path.read_bytes() == before


def test_a_last_line_that_was_changed_is_no_torn_one(path: Path) -> None:
    fill(path, 2)
    path.write_text(path.read_text().removesuffix("\n").replace('"value":1', '"value":7'))
    with pytest.raises(InputError, match="row 2: is not as it was written"):
        read_ledger(path)


def test_a_line_that_says_one_thing_twice_is_not_as_it_was_written(path: Path) -> None:
    fill(path, 1)
    path.write_text(path.read_text().replace('{"value":0}', '{"value":9,"value":0}'))
    with pytest.raises(InputError, match="row 1: is not as it was written"):
        read_ledger(path)


def test_a_ledger_of_another_version_is_refused_in_one_sentence(path: Path) -> None:
    fill(path, 2)
    path.write_text(path.read_text().replace("look_ledger/3", "look_ledger/2"))
    with pytest.raises(InputError, match="is a ledger of another version of this program") as raised:
        read_ledger(path)
    assert len(raised.value.problems) == 1


def test_a_ledger_that_got_no_line_is_not_left_behind(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), open_ledger(tmp_path / "l.jsonl"):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "mine.jsonl").touch()
    with open_ledger(tmp_path / "mine.jsonl"):
        pass
    assert (tmp_path / "mine.jsonl").exists()


@pytest.mark.slow
def test_one_who_waited_for_a_file_that_was_taken_away_makes_his_own(path: Path) -> None:
    with open_ledger(path):
        code = WRITER.replace("range(100000)", "range(2)").replace(
            "with open", "print(flush=True)\nwith open"
        )
        waiting = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE)
        assert waiting.stdout is not None
        assert waiting.stdout.readline() == b"\n"  # it is about to ask for the file
        time.sleep(0.5)
        assert waiting.poll() is None
    waiting.communicate(timeout=60)
    assert waiting.returncode == 0
    assert [entry.number for entry in read_ledger(path)] == [1, 2]


def test_a_full_disk_leaves_the_ledger_as_it_was(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(path, 1)
    before = path.read_bytes()
    write = os.write

    def half(handle: int, data: bytes) -> int:
        if len(data) < 100:
            raise OSError(28, "No space left on device")
        return write(handle, data[: len(data) // 2])

    with open_ledger(path) as ledger:
        monkeypatch.setattr(os, "write", half)
        with pytest.raises(InputError, match=r"No space left on device. The look was not recorded"):
            ledger.extend([("look", {"value": 1}), ("look", {"value": 2})])
        monkeypatch.undo()
        assert path.read_bytes() == before
        ledger.append("look", {"value": 3})
    assert [entry.content["value"] for entry in read_ledger(path)] == [0, 3]

"""The folder of unfinished work: what it keeps, what it refuses and in which words, and when it goes."""

import json
import os
import pickle
import sqlite3
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from cases import each_case

from humeval_power.errors import as_arguments
from humeval_power.files import file_sets
from humeval_power.files import file_sets as partial_folder
from humeval_power.files.disk import BusyError
from humeval_power.files.file_sets import (
    BLOCKS,
    QUESTION,
    BlockStore,
    KeptQuestion,
    PartialFolder,
    UnfinishedWorkError,
    partial_of,
)
from humeval_power.studies.power.estimate import BlockCounts, Tally
from humeval_power.sweep.versions import DamagedError, pack, unpack

ASKED = KeptQuestion(
    "humeval-power surface",
    "humeval-power surface --items 50,100 pilot.csv",
    {"--items": "50,100"},
    {"pilot.csv": "a" * 64},
    {"numba": "0.61"},
)
RESULT = BlockCounts((Tally(5, 0, 2, n_zero=(1, 0)),), ("a", "b"), True)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr(partial_folder, "PATIENCE", 0.0)
    monkeypatch.setattr(file_sets, "SAVE_EVERY", 0.0)


class Folder(PartialFolder):
    """One that notes what it says."""

    def __init__(self, output: Path, question: KeptQuestion = ASKED) -> None:
        self.said: list[str] = []
        self.warned: list[str] = []
        super().__init__(output, lambda: question, tell=self.said.append, warn=self.warned.append)


def begun(output: Path) -> None:
    """Leave a folder with one finished block."""
    folder = Folder(output)
    folder.put("a", RESULT)
    assert folder.save()
    folder.close()


def test_what_is_finished_is_found_again_and_then_goes(tmp_path):
    output = tmp_path / "s.json"
    begun(output)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".s.json.partial"]
    again = Folder(output)
    assert again.get("a") == RESULT
    assert again.get("b") is None
    assert len(again.said) == 1
    assert "Going on where an earlier run was stopped" in again.said[0]
    again.put("b", 3.5)
    again.remove()
    assert not list(tmp_path.iterdir())


def test_work_of_a_moment_makes_no_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(partial_folder, "PATIENCE", 60.0)
    folder = Folder(tmp_path / "s.json")
    folder.put("a", 1.0)
    assert not folder.save()
    folder.remove()
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_the_output_is_kept_beside_it(tmp_path):
    assert partial_of(tmp_path / "out") == tmp_path / ".out.partial"
    assert partial_of(Path("out/")) == Path(".out.partial")
    staged = partial_of(tmp_path / "humeval-power")
    assert staged.name != ".humeval-power.partial", "files are staged there"


@each_case(
    ("asked", "said"),
    [
        (replace(ASKED, options={"--items": "50,200"}), "--items was 50,100 and is 50,200 now"),
        (replace(ASKED, options={}), "--items was 50,100 and is not given now"),
        (
            replace(ASKED, options={**ASKED.options, "--seed": "2"}),
            "--seed was not given and is 2 now",
        ),
        (replace(ASKED, files={"pilot.csv": "b" * 64}), "pilot.csv has other content"),
        (replace(ASKED, files={}), "pilot.csv is not read now"),
        (replace(ASKED, command="humeval-power power"), "it is of 'humeval-power surface'"),
        (replace(ASKED, versions={"numba": "0.62"}), "numba was 0.61 and is 0.62"),
    ],
)
def test_another_question_is_refused_and_nothing_of_the_first_is_lost(tmp_path, asked, said):
    output = tmp_path / "s.json"
    begun(output)
    other = Folder(output, asked)
    with pytest.raises(UnfinishedWorkError) as refused:
        other.get("a")
    assert as_arguments(said) in str(refused.value)
    assert "remove the folder" in str(refused.value)
    other.remove()
    assert Folder(output).get("a") == RESULT


def test_the_line_as_it_was_typed_is_no_part_of_the_question(tmp_path):
    begun(tmp_path / "s.json")
    assert Folder(tmp_path / "s.json", replace(ASKED, typed="hp surface")).get("a") == RESULT


def test_two_at_once_are_refused(tmp_path):
    output = tmp_path / "s.json"
    first = Folder(output)
    first.put("a", RESULT)
    with pytest.raises(BusyError, match="Another process is at work"):
        Folder(output).get("a")
    first.close()
    assert Folder(output).get("a") == RESULT


def test_two_that_begin_at_once_are_refused_when_both_would_keep_work(tmp_path):
    first, second = Folder(tmp_path / "s.json"), Folder(tmp_path / "s.json")
    assert first.get("a") is second.get("a") is None
    first.put("a", RESULT)
    with pytest.raises(BusyError):
        second.put("b", RESULT)
    first.close()
    third = Folder(tmp_path / "s.json")
    assert third.get("a") == RESULT


def test_a_file_in_the_way_is_refused(tmp_path):
    partial_of(tmp_path / "s.json").write_text("mine")
    with pytest.raises(UnfinishedWorkError, match="is in the way"):
        Folder(tmp_path / "s.json").get("a")


def test_a_folder_with_something_else_in_it_is_left_alone(tmp_path):
    folder = partial_of(tmp_path / "s.json")
    folder.mkdir()
    (folder / "thesis.tex").write_text("mine")
    with pytest.raises(UnfinishedWorkError, match=r"it holds thesis\.tex"):
        Folder(tmp_path / "s.json").get("a")
    assert (folder / "thesis.tex").read_text() == "mine"


def test_a_folder_whose_making_was_cut_short_counts_for_nothing(tmp_path):
    begun(tmp_path / "s.json")
    (partial_of(tmp_path / "s.json") / QUESTION).unlink()
    folder = Folder(tmp_path / "s.json")
    assert folder.get("a") is None
    assert not folder.said
    folder.put("a", RESULT)
    folder.close()
    assert Folder(tmp_path / "s.json").get("a") == RESULT


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def _noise(path: Path) -> None:
    path.write_bytes(b"no database at all" * 500)


def _version(path: Path) -> None:
    with closing(sqlite3.connect(path)) as file:
        file.execute("PRAGMA user_version = 99")


def _row(path: Path) -> None:
    with closing(sqlite3.connect(path)) as file:
        file.execute("UPDATE blocks SET result = x'80'")
        file.commit()


@pytest.mark.parametrize("damage", [_cut, _noise, _version, _row])
def test_a_damaged_store_is_refused_with_a_remedy(tmp_path, damage):
    begun(tmp_path / "s.json")
    damage(partial_of(tmp_path / "s.json") / BLOCKS)
    with pytest.raises(UnfinishedWorkError, match=r"damaged, or of another version\. Remove the folder"):
        Folder(tmp_path / "s.json").get("a")


@each_case("text", ["", "{", "[]", '{"schema": "humeval_power/question/0"}', '{"schema": 1}'])
def test_a_damaged_question_is_refused(tmp_path, text):
    begun(tmp_path / "s.json")
    (partial_of(tmp_path / "s.json") / QUESTION).write_text(text)
    with pytest.raises(UnfinishedWorkError, match="damaged, or of another version"):
        Folder(tmp_path / "s.json").get("a")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_refused(tmp_path):
    begun(tmp_path / "s.json")
    partial_of(tmp_path / "s.json").chmod(0o500)
    with pytest.raises(UnfinishedWorkError, match="cannot be read and written"):
        Folder(tmp_path / "s.json").get("a")


def test_a_full_disk_is_told_once_and_the_run_goes_on(tmp_path, monkeypatch):
    folder = Folder(tmp_path / "s.json")
    folder.put("a", RESULT)

    def full(_store: BlockStore) -> None:
        raise OSError(None, "database or disk is full")

    monkeypatch.setattr(BlockStore, "save", full)
    folder.put("b", RESULT)
    folder.put("c", RESULT)
    assert len(folder.warned) == 1
    assert "cannot be kept" in folder.warned[0]
    assert "disk is full" in folder.warned[0]
    folder.remove()
    assert not list(tmp_path.iterdir())


def test_a_save_that_was_interrupted_is_made_whole(tmp_path):
    store = BlockStore(tmp_path / "b")
    store._file.execute("BEGIN")
    store._file.execute("INSERT INTO blocks VALUES ('half', x'00')")
    store.put("a", b"1")
    store.save()
    store.close()
    again = BlockStore(tmp_path / "b")
    assert (again.get("a"), again.get("half"), len(again)) == (b"1", None, 1)
    again.close()


@each_case(
    "result",
    [
        RESULT,
        1.5,
        (1, "a", None),
        [True],
        {"a": 0.1},
        np.arange(6.0).reshape(2, 3),
        np.float64(0.1),
        np.array([True]),
    ],
)
def test_results_come_back_to_the_last_bit(result):
    found = unpack(pack(result))
    assert type(found) is type(result)
    assert np.array_equal(found, result) if isinstance(result, np.ndarray) else found == result


class Trap:
    """What an ordinary reader of pickles would obey."""

    def __reduce__(self):
        return os.mkdir, ("trapped",)


def test_a_file_that_asks_for_more_than_records_is_not_obeyed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for content in (pickle.dumps(Trap()), b"chumeval_power.errors\nInputError\n.", b"", b"\x80\x04"):
        with pytest.raises(DamagedError):
            unpack(content)
    with pytest.raises(DamagedError):
        pack(Trap())
    assert not list(tmp_path.iterdir())


def test_the_question_is_a_document_that_can_be_read(tmp_path):
    begun(tmp_path / "s.json")
    content = (partial_of(tmp_path / "s.json") / QUESTION).read_bytes()
    assert KeptQuestion.of_json(content) == ASKED
    assert json.loads(content)["schema"] == "humeval_power/question/1"
    with suppress(FileNotFoundError):
        assert not (partial_of(tmp_path / "s.json") / f"{QUESTION}.new").exists()

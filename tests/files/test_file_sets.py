"""Sets of files are as they were or new, wherever their writing is stopped."""

import json
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import pytest
from cases import each_case, few_fast
from killed_writes import Killed, changes_of_the_disk, contents, failing_once, killed, no_space

from humeval_power.errors import HumevalPowerError, InputError, as_arguments
from humeval_power.files.disk import JOURNAL, JOURNAL_SCHEMA, STAGING, finish_sets
from humeval_power.files.file_sets import silent, update_file, write_files

LONG = "x" * 5000


class Case(NamedTuple):
    """Files before, files of the set, and the folder that others will see."""

    before: tuple[str, ...]
    written: tuple[str, ...]
    published: str | None = None

    def prepare(self, folder: Path) -> None:
        for name in self.before:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(f"old {name} {LONG}")

    def write(self, folder: Path) -> None:
        write_files(
            {folder / name: f"new {name} {LONG[:99]}" for name in self.written},
            force=True,
            published=None if self.published is None else folder / self.published,
        )


CASES = {
    "one new file": Case((), ("a",)),
    "one file over another": Case(("a", "other"), ("a",)),
    "some new, some old": Case(("a", "b"), ("a", "b", "c")),
    "a new folder": Case((), ("out/a", "out/b", "out/sub/c")),
    "a table and its key in another folder": Case(("a/table", "b/key"), ("a/table", "b/key")),
    "three folders, one of them new": Case(("a/x", "b/y"), ("a/x", "b/y", "b/new/z", "c/z")),
    "a new release with its key": Case((), ("rel/r", "rel/s", "rel.key"), "rel"),
    "a release over another": Case(("rel/r", "rel/s", "notes"), ("rel/r", "rel/s", "rel/t"), "rel"),
    "a release and a key elsewhere": Case(("rel/r", "keys/o"), ("rel/r", "keys/k"), "rel"),
}


def finish(folder: Path, *, backwards: bool = False) -> list[str]:
    """What the next commands do, whichever directory they come to first."""
    said: list[str] = []
    places = sorted({folder, *(path for path in folder.rglob("*") if path.is_dir())}, reverse=backwards)
    for place in places:
        if place.is_dir() and place.name != STAGING:
            finish_sets(place, say=said.append)
    return said


def both_states(case: Case, folder: Path) -> tuple[dict[str, bytes | None], dict[str, bytes | None]]:
    case.prepare(folder)
    old = contents(folder)
    case.write(folder)
    return old, contents(folder)


@few_fast("name", CASES, fast=2)
@pytest.mark.parametrize("backwards", [False, True])
def test_a_set_killed_at_any_change_of_the_disk_is_all_old_or_all_new(
    name: str, backwards: bool, tmp_path: Path
) -> None:
    case = CASES[name]
    (tmp_path / "whole").mkdir()
    old, new = both_states(case, tmp_path / "whole")
    ends = set()
    for folder, n_changes in _killed_everywhere(case, tmp_path):
        for path, content in contents(folder).items():
            if STAGING not in path:
                assert content in (old.get(path, content), new.get(path)), "a file is torn"
        if case.published is not None:
            assert not (folder / case.published / STAGING).exists()
        said = finish(folder, backwards=backwards)
        after = contents(folder)
        assert after in (old, new), f"mixed or left over after {n_changes} changes"
        assert not said or STAGING in said[0] or "complete now" in said[0]
        ends.add(after == new)
    assert ends == {False, True}


def _killed_everywhere(case: Case, tmp_path: Path) -> Iterator[tuple[Path, int]]:
    for moment in range(1000):
        folder = tmp_path / str(moment)
        folder.mkdir()
        case.prepare(folder)
        with changes_of_the_disk(killed(moment)) as seen, suppress(Killed):
            case.write(folder)
        if len(seen) <= moment:
            return
        yield folder, moment
    raise AssertionError("the write never ended")


@few_fast("name", ["some new, some old", "three folders, one of them new"], fast=1)
def test_completing_can_itself_be_killed_anywhere(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    (tmp_path / "whole").mkdir()
    old, new = both_states(case, tmp_path / "whole")
    (tmp_path / "n").mkdir()
    case.prepare(tmp_path / "n")
    with changes_of_the_disk(lambda *_: None) as seen:
        case.write(tmp_path / "n")
    first_name = seen.index("replace", seen.index("replace") + 1)  # after the journal
    for moment in range(first_name, len(seen), 3):
        for again in range(1000):
            folder = tmp_path / f"{moment}-{again}"
            folder.mkdir()
            case.prepare(folder)
            with changes_of_the_disk(killed(moment)), suppress(Killed):
                case.write(folder)
            with changes_of_the_disk(killed(again)) as finishing, suppress(Killed):
                finish(folder)
            finish(folder)
            assert contents(folder) in (old, new)
            if len(finishing) <= again:
                break


@few_fast("name", CASES, fast=2)
@pytest.mark.parametrize("error", [no_space, KeyboardInterrupt])
def test_a_set_that_fails_at_any_change_of_the_disk_is_all_old_or_all_new(
    name: str, error: Callable[[], BaseException], tmp_path: Path
) -> None:
    case = CASES[name]
    (tmp_path / "whole").mkdir()
    old, new = both_states(case, tmp_path / "whole")
    for moment in range(1000):
        folder = tmp_path / str(moment)
        folder.mkdir()
        case.prepare(folder)
        told = False
        with changes_of_the_disk(failing_once(moment, error())) as seen:
            try:
                case.write(folder)
            except (HumevalPowerError, OSError, KeyboardInterrupt):
                told = True
        if len(seen) <= moment:
            break
        clean = seen[moment] not in ("unlink", "rmdir")
        if clean:
            assert contents(folder) == (old if told else new), f"change {moment}, {seen[moment]}"
        finish(folder)
        assert contents(folder) in (old, new)


def test_a_full_disk_is_told_with_the_files_names(tmp_path: Path) -> None:
    with (
        changes_of_the_disk(failing_once(2, no_space())),
        pytest.raises(HumevalPowerError, match=r"a\.csv: No space left on device\. Nothing was written\."),
    ):
        write_files({tmp_path / "a.csv": "1"}, force=False)


def test_two_writers_of_one_set_leave_the_set_of_one(tmp_path: Path) -> None:
    """Also those that begin in another order, and a reader that finishes what it sees never finds a mixture."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    paths = [tmp_path / "a" / "table", tmp_path / "b" / "key", tmp_path / "a" / "page"]
    wrong: list[str] = []

    def write(name: str) -> None:
        for number in range(15):
            order = paths if name == "one" else paths[::-1]
            write_files(dict.fromkeys(order, f"{name} {number}"), force=True, say=wrong.append)

    writers = [threading.Thread(target=write, args=(name,)) for name in ("one", "two", "three")]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        finish_sets(tmp_path / "b", say=wrong.append)
    assert wrong == []
    assert len({path.read_text() for path in paths}) == 1
    assert {path.name for path in tmp_path.rglob("*")} == {"a", "b", "table", "key", "page"}


def test_updates_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "new" / "list"

    def add(name: str) -> None:
        update_file(path, lambda: (path.read_text() if path.exists() else "") + f"{name}\n")

    threads = [threading.Thread(target=add, args=(str(number),)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(path.read_text().split(), key=int) == [str(number) for number in range(20)]


def test_without_force_the_second_of_two_writers_is_refused(tmp_path: Path) -> None:
    ends: list[bool] = []

    def write(name: str) -> None:
        try:
            write_files({tmp_path / "new" / "a": name, tmp_path / "new" / "b": name}, force=False)
            ends.append(True)
        except InputError:
            ends.append(False)

    threads = [threading.Thread(target=write, args=(str(number),)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ends) == [False] * 5 + [True]


@each_case(
    ("names", "rule"),
    [
        (("x", "sub/../x"), "are one file"),
        (("x", "X"), "differ in capitals alone"),
        (("x", "link"), "are one file"),
        (("old/below",), "is a file, not a directory"),
        (("folder",), "is a directory; name a file"),
        (("",), "is a directory; name a file"),
        (("old",), "old exists already. Choose another name, or add --force"),
    ],
)
def test_what_cannot_be_written_together_is_refused_and_nothing_changes(
    names: tuple[str, ...], rule: str, tmp_path: Path
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "folder").mkdir()
    (tmp_path / "old").write_text("old")
    (tmp_path / "link").symlink_to("x")
    before = contents(tmp_path)
    with pytest.raises(InputError, match=as_arguments(rule).replace(".", r"\.")):
        write_files({Path(f"{tmp_path}/{name}"): "new" for name in names}, force=False)
    assert contents(tmp_path) == before


def test_a_link_stays_a_link_and_rights_stay(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    target = tmp_path / "elsewhere" / "real"
    target.write_text("old")
    target.chmod(0o640)
    (tmp_path / "link").symlink_to(target)
    write_files({tmp_path / "link": "new", tmp_path / "beside": "new"}, force=True)
    assert (tmp_path / "link").is_symlink()
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o640
    mask = os.umask(0)
    os.umask(mask)
    assert (tmp_path / "beside").stat().st_mode & 0o777 == 0o666 & ~mask


def test_private_files_are_for_their_owner_and_never_written_over(tmp_path: Path) -> None:
    key, table = tmp_path / "key", tmp_path / "table"
    write_files({key: "1", table: "1"}, force=False, private=[key])
    assert key.stat().st_mode & 0o777 == 0o600
    with pytest.raises(InputError, match="key exists already"):
        write_files({key: "2", table: "2"}, force=True, private=[key])
    assert (key.read_text(), table.read_text()) == ("1", "1")


def test_devices_and_pipes_get_their_content_and_stay(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    write_files({Path("/dev/null"): "1", pipe: "2", tmp_path / "file": "3"}, force=False)
    reader.join()
    assert got == ["2"]
    assert not Path("/dev/null").is_file()
    assert pipe.is_fifo()
    assert (tmp_path / "file").read_text() == "3"


def test_standard_output_in_a_file_is_not_cut(capfd: pytest.CaptureFixture[str]) -> None:
    # standard output is a file here, as behind '>'
    os.write(1, b"before\n")
    write_files({Path("/dev/stdout"): "after\n"}, force=False)
    os.write(1, b"end\n")
    assert capfd.readouterr().out == "before\nafter\nend\n"


def test_if_the_printed_part_fails_no_file_is_written(tmp_path: Path) -> None:
    def gone() -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        write_files({tmp_path / "key": "1"}, force=False, first=gone)
    assert contents(tmp_path) == {}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become somebody else")
@pytest.mark.parametrize(
    ("place", "rule"),
    [
        ("open/protected", "is protected from writing"),
        ("closed/new", "there is no permission to write in"),
        ("sticky/of_root", "belongs to somebody else"),
    ],
)
def test_what_rights_forbid_is_refused_before_anything_is_written(
    place: str, rule: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tempfile.TemporaryDirectory() as folder:  # what is above it others may enter, unlike tmp_path
        _refused_by_rights(place, rule, Path(folder), monkeypatch)


def _refused_by_rights(place: str, rule: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nobody, access = 65534, os.access
    folder.chmod(0o755)
    for name, mode in (("open", 0o777), ("closed", 0o755), ("sticky", 0o1777)):
        (folder / name).mkdir()
        (folder / name).chmod(mode)
    (folder / "open" / "protected").write_text("old")
    (folder / "sticky" / "of_root").write_text("old")
    (folder / "sticky" / "of_root").chmod(0o666)
    before = contents(folder)
    os.seteuid(nobody)
    try:
        # access() asks for the real user, who is another one here only
        with monkeypatch.context() as patch:
            patch.setattr(os, "access", lambda path, mode: access(path, mode, effective_ids=True))
            with pytest.raises(InputError, match=rule):
                write_files({folder / "open" / "ok": "new", folder / place: "new"}, force=True)
    finally:
        os.seteuid(0)
    assert contents(folder) == before


def _staged(folder: Path, **changed: object) -> Path:
    """A staging folder with a journal, as a killed run leaves it."""
    staging = folder / STAGING
    staging.mkdir(parents=True)
    (staging / "0").write_text("new")
    values = {
        "schema": JOURNAL_SCHEMA,
        "set": "1",
        "homes": ["."],
        "moves": {"a": "0"},
        "sha256": {"0": "11507a0e2f5e69d5dfa40a62a1bd7b6ee57e6bcd85c67c9b8431b36fff21c437"},
        **changed,
    }
    (staging / JOURNAL).write_text(json.dumps(values))
    return staging


def test_a_journal_completes_its_set(tmp_path: Path) -> None:
    _staged(tmp_path)
    said: list[str] = []
    finish_sets(tmp_path, say=said.append)
    assert contents(tmp_path) == {"a": b"new"}
    assert said[0].startswith("WARNING: a run was stopped while it gave a in ")


def test_the_run_that_was_killed_while_it_gave_its_answer_a_name_ends_well_when_asked_again(
    tmp_path: Path,
) -> None:
    _staged(tmp_path)
    with pytest.raises(InputError, match="exists already"):
        write_files({tmp_path / "a": "another answer"}, force=False)
    (tmp_path / "a").unlink()
    _staged(tmp_path)
    write_files({tmp_path / "a": "new"}, force=False)
    assert contents(tmp_path) == {"a": b"new"}
    with pytest.raises(InputError, match="exists already"):
        write_files({tmp_path / "a": "new"}, force=False)


@each_case(
    "changed",
    [
        {"moves": {"../stolen": "0"}},
        {"moves": {"/tmp/stolen": "0"}},
        {"moves": {"link/stolen": "0"}},
        {"moves": {"a": "../../secret"}},
        {"schema": "other"},
        {"homes": [], "moves": 3},
        {"homes": []},
        {"sha256": {"0": "0"}},
    ],
)
def test_a_forged_or_damaged_journal_moves_nothing(changed: dict[str, object], tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    folder = tmp_path / "folder"
    _staged(folder, **changed)
    (folder / "link").symlink_to(tmp_path / "elsewhere")
    before = contents(tmp_path)
    with pytest.raises(InputError, match="Remove the folder"):
        finish_sets(folder, say=silent)
    assert contents(tmp_path) == before


def test_a_journal_cannot_reach_a_directory_that_has_none_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / "a").write_text("mine")
    _staged(tmp_path / "folder", homes=[".", "../victim"])
    finish_sets(tmp_path / "folder", say=silent)
    assert (tmp_path / "victim" / "a").read_text() == "mine"


def test_a_set_whose_other_directory_is_away_is_refused(tmp_path: Path) -> None:
    _staged(tmp_path / "folder", homes=[".", "../away"])
    with pytest.raises(InputError, match="not there now"):
        finish_sets(tmp_path / "folder", say=silent)


def test_a_file_in_place_of_the_staging_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / STAGING).write_text("")
    with pytest.raises(InputError, match="is in the way"):
        write_files({tmp_path / "a": ""}, force=False)

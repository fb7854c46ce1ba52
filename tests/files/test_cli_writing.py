"""Commands write sets of files as a whole, never over what they read, and tell what a killed run has left."""

import csv
import hashlib
import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from cases import each_case
from click.testing import CliRunner, Result
from killed_writes import Killed, changes_of_the_disk, contents, killed
from places import ROOT

from humeval_power.doors.terminal.main import main
from humeval_power.files.disk import STAGING
from humeval_power.saying import figure_style
from humeval_power.saying.result import PARAMETERS_SCHEMA
from humeval_power.studies.power.files import preset, read_library

PILOT = ROOT / "data" / "pilot.csv"


PICTURES = ("who_rates_what.png", "who_rates_what.svg")


def run(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def assigned(folder: Path, seed: int) -> tuple[object, ...]:
    size = ("--workers", 4, "--items", 8, "--ratings-per-item", 2, "--seed", seed)
    return ("assign", *size, "-o", folder / "a" / "table.csv", "--key", folder / "k" / "key.csv", "--force")


def codes(path: Path) -> set[str]:
    with path.open(newline="") as file:
        return {row["code"] for row in csv.DictReader(file)}


def few_ratings(folder: Path) -> Path:
    """The first ratings of the pilot: a command is run at every change of the disk."""
    lines = PILOT.read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "few.csv").write_text("".join(lines[:61]), encoding="utf-8")
    return folder / "few.csv"


def released(folder: Path, secret: str) -> tuple[object, ...]:
    words = ("--secret-text", secret, "--licence", secret, "-o", folder / "rel", "--force")
    return ("release", folder / "few.csv", *words)


def sums_hold(folder: Path) -> bool:
    lines = [line.split("  ") for line in (folder / "SHA256SUMS").read_text().splitlines()]
    return all(hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest for digest, name in lines)


def test_a_table_never_lies_beside_the_key_of_another(tmp_path: Path) -> None:
    assert run(*assigned(tmp_path, 1)).exit_code == 0
    ended = 0
    table, key = tmp_path / "a" / "table.csv", tmp_path / "k" / "key.csv"
    for moment in range(1000):
        before = codes(table)
        key.write_text("no key\n")  # a key that is there would be used again
        with changes_of_the_disk(killed(moment)) as seen, suppress(Killed):
            run(*assigned(tmp_path, moment + 2))
        told = run("check", key, table).stderr
        assert codes(table) == (before if key.read_text() == "no key\n" else codes(key))
        assert not list(tmp_path.rglob(STAGING))
        if len(seen) <= moment:
            break
        ended += "They belong together; they are complete now." in " ".join(told.split())
    assert ended > 1


@pytest.mark.slow
def test_a_folder_and_its_key_come_together_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(figure_style, "figure_bytes", lambda _figure, kind: kind.encode())
    for moment in range(1000):
        folder = tmp_path / str(moment)
        folder.mkdir()
        words = ("--workers", 4, "--items", 8, "-o", folder / "a", "--key", folder / "k" / "key.csv")
        with changes_of_the_disk(killed(moment)) as seen, suppress(Killed):
            run("assign", *words)
        run("check", folder / "a", folder / "k", folder)
        found = {path.name for path in folder.rglob("*") if path.is_file()}
        assert found in (set(), {"index.html", "record.json", "table.csv", "key.csv", *PICTURES})
        if len(seen) <= moment:
            assert found
            break
    else:
        raise AssertionError("it never ended")


def test_a_stopped_release_leaves_nothing_in_the_folder_that_is_published(tmp_path: Path) -> None:
    few_ratings(tmp_path)
    assert run(*released(tmp_path, "the first long secret")).exit_code == 0
    names = {path.name for path in (tmp_path / "rel").iterdir()}
    for moment in range(1000):
        with changes_of_the_disk(killed(moment)) as seen, suppress(Killed):
            run(*released(tmp_path, f"the long secret number {moment}"))
        assert {path.name for path in (tmp_path / "rel").iterdir()} == names
        run("check", tmp_path / "rel" / "ratings.csv")
        assert not list(tmp_path.rglob(STAGING))
        assert sums_hold(tmp_path / "rel")
        if len(seen) <= moment:
            break
    else:
        raise AssertionError("the release never ended")


def test_a_release_and_its_new_key_come_together_or_not_at_all(tmp_path: Path) -> None:
    few = few_ratings(tmp_path)
    for moment in range(1000):
        folder = tmp_path / str(moment)
        folder.mkdir()
        with changes_of_the_disk(killed(moment)) as seen, suppress(Killed):
            run("release", few, "-o", folder / "rel")
        run("check", folder / "nothing", folder)
        found = {path.name for path in folder.iterdir()}
        assert found in (set(), {"rel", "rel.key"})
        if len(seen) <= moment:
            assert found
            break


@each_case(
    "words",
    [
        ("fit", "ratings.csv", "-o", "ratings.csv", "--force"),
        ("fit", "ratings.csv", "-o", "./sub/../ratings.csv", "--force"),
        ("fit", "ratings.csv", "-o", "link.csv", "--force"),
        ("release", "rel/ratings.csv", "-o", "rel", "--force"),
        ("release", "ratings.csv", "--include", "rel/README.md", "-o", "rel", "--force"),
    ],
)
def test_what_a_command_reads_is_not_written_over(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "rel").mkdir()
    for name in ("ratings.csv", "rel/ratings.csv", "rel/README.md"):
        (tmp_path / name).write_bytes(PILOT.read_bytes())
    (tmp_path / "link.csv").symlink_to("ratings.csv")
    before = contents(tmp_path)
    result = run(*words)
    assert result.exit_code == 2, result.output
    assert "reads it. Choose another" in " ".join(result.stderr.split()) or "bundle writes" in result.stderr
    assert contents(tmp_path) == before


def test_standard_output_may_be_named_where_a_table_has_a_key(tmp_path: Path) -> None:
    size = ("--workers", 4, "--items", 8, "--ratings-per-item", 2)
    result = run("assign", *size, "-o", "-", "--format", "csv", "--key", tmp_path / "key.csv", "--quiet")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("worker_slot,")
    assert len(result.stdout.splitlines()) == 33
    assert (tmp_path / "key.csv").is_file()


def _parameters(folder: Path) -> Path:
    path = folder / "parameters.json"
    path.write_text(json.dumps({"schema": PARAMETERS_SCHEMA, "parameters": preset("high").as_dict()}))
    return path


@pytest.mark.slow
def test_entries_that_are_added_at_once_are_all_there(tmp_path: Path) -> None:
    source, library = _parameters(tmp_path), tmp_path / "new" / "library.json"
    command = [sys.executable, "-m", "humeval_power.doors.terminal.main", "parameters", "add", str(source)]
    names = [f"study-{number}" for number in range(6)]
    added = [
        subprocess.Popen([*command, "--name", name, "--library", str(library), "-q"]) for name in names
    ]
    assert [process.wait() for process in added] == [0] * len(names)
    assert sorted(entry.name for entry in read_library(library)) == names


@each_case("content", [b"", b'{"schema": "humeval_power/param', b"\xff\xfe", b"[]", b"notes\n"])
def test_a_library_that_cannot_be_read_is_named_and_stays(content: bytes, tmp_path: Path) -> None:
    source, library = _parameters(tmp_path), tmp_path / "library.json"
    library.write_bytes(content)
    result = run("parameters", "add", source, "--name", "mine", "--library", library)
    assert result.exit_code == 2
    assert "library.json" in result.stderr
    assert library.read_bytes() == content
    assert not (tmp_path / STAGING).exists()


def test_a_library_is_not_made_of_the_file_to_add(tmp_path: Path) -> None:
    source = _parameters(tmp_path)
    before = contents(tmp_path)
    result = run("parameters", "add", source, "--name", "mine", "--library", source, "--force")
    assert result.exit_code == 2
    assert contents(tmp_path) == before


def test_a_killed_addition_keeps_the_library_whole(tmp_path: Path) -> None:
    source, library = _parameters(tmp_path), tmp_path / "library.json"
    words = ("parameters", "add", source, "--library", library, "--name")
    assert run(*words, "first").exit_code == 0
    for moment in range(1000):
        with changes_of_the_disk(killed(moment)) as seen, suppress(Killed):
            run(*words, f"number-{moment}")
        assert run("parameters", "list", "--library", library).exit_code == 0
        assert read_library(library)[0].name == "first"
        assert not (tmp_path / STAGING).exists()
        if len(seen) <= moment:
            assert read_library(library)[-1].name == f"number-{moment}"
            break


@pytest.mark.long
@pytest.mark.slow
def test_killed_and_concurrent_commands_lose_and_mix_nothing() -> None:
    program = [sys.executable, str(ROOT / "benchmarks" / "kill_writers.py"), "--kills", "25", "--seed", "7"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(program, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "tracebacks 0, losses 0, torn 0" in ended.stdout

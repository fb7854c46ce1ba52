"""A damaged file in a folder of logs: no system disappears, and every file is read or named."""

import os
from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner
from harness_logs import WRITERS, table_in, write_helm, write_lm_eval

from humeval_power.doors.terminal.main import main
from humeval_power.errors import InputError
from humeval_power.files.logs.reading import read_logs

THREE = {"m/a": [1, 0, 1, 1], "m/b": [0, 0, 1, 1], "m/c": [1, 1, 1, 1]}
DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "blank": lambda _: b" \n\n",
    "[]": lambda _: b"[]",
    "{}": lambda _: b"{}",
    "null": lambda _: b"null\n",
    "a web page": lambda _: b"<!DOCTYPE html>\n<html><body>Sign in</body></html>\n",
    "NUL bytes": lambda content: b"\0" * len(content),
    "another object": lambda _: b'{"error": "rate limit"}\n',
    "a number": lambda _: b"5\n",
    "cut off": lambda content: content[:40],
    "not UTF-8": lambda content: b"\xff\xfe\xfd" + content[3:],
    "gzip that is cut off": lambda _: b"\x1f\x8b\x08\x00",
    "zip that is cut off": lambda _: b"PK\x03\x04" + b"\0" * 30,
}


def samples_of(folder: Path) -> list[Path]:
    """The files with the samples, in the order of their names."""
    beside = ("run_spec.json", "stats.json", "model_meta.json")
    return [
        path
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in beside and "results" not in path.name
    ]


def said(*paths: Path, **options: object) -> str:
    """What the reading of a folder refuses; '' where it refuses nothing."""
    try:
        read_logs(*paths, **options)  # type: ignore[arg-type]
    except InputError as error:
        return str(error)
    return ""


def test_a_damaged_log_among_three_is_refused_and_named(tmp_path: Path) -> None:
    silent = []
    for harness, write in WRITERS.items():
        folder = write(tmp_path / harness, THREE)
        for path in samples_of(folder)[1:2]:
            whole = path.read_bytes()
            for damage, done in DAMAGES.items():
                path.write_bytes(done(whole))
                refused = said(folder)
                if str(path.relative_to(folder)) not in refused or not refused.strip().count(" "):
                    silent.append(f"{harness}, {damage}: {refused[:80]!r}")
            path.write_bytes(whole)
            assert said(folder) == ""
    assert not silent, silent


def test_what_lies_beside_a_damaged_log_is_said_with_it(tmp_path: Path) -> None:
    folder = write_lm_eval(tmp_path / "logs", THREE)
    first, second, third = samples_of(folder)
    first.write_bytes(b"")
    second.write_bytes(b"[]")
    whole = third.read_text()
    third.write_text(whole[:-30])
    refused = said(folder)
    assert all(str(path.relative_to(folder)) in refused for path in (first, second, third))


def test_totals_that_cannot_be_read_are_refused_as_they_name_the_system(tmp_path: Path) -> None:
    folder = write_lm_eval(tmp_path / "logs", THREE)
    (folder / "m__b" / next((folder / "m__b").glob("results_*")).name).write_text('{"results": {')
    assert "results_" in said(folder)


def test_every_other_file_of_a_folder_is_named(tmp_path: Path) -> None:
    folder = write_lm_eval(tmp_path / "logs", THREE)
    (folder / "notes.json").write_text('{"seen": "by me"}')
    (folder / "README.md").write_text("# Logs")
    next((folder / "m__c").glob("samples_*")).unlink()
    (folder / ".cache").mkdir()
    os.symlink(folder / "m__a", folder / "again")
    told = " ".join(table_in(folder).said)
    totals = next((folder / "m__c").glob("results_*")).relative_to(folder)
    missing = [
        name for name in ("notes.json", "README.md", ".cache", "again", str(totals)) if name not in told
    ]
    assert not missing, told


def test_a_link_to_nothing_and_a_run_of_helm_without_its_scores_are_refused(tmp_path: Path) -> None:
    folder = write_lm_eval(tmp_path / "logs", THREE)
    sample = next((folder / "m__b").glob("samples_*"))
    sample.unlink()
    os.symlink(tmp_path / "nowhere", sample)
    assert "it leads to no file" in said(folder)
    runs = write_helm(tmp_path / "helm", THREE)
    next(runs.rglob("per_instance_stats.json")).unlink()
    assert "per_instance_stats.json is not beside it" in said(runs)


def test_a_damaged_log_is_left_out_where_it_is_named(tmp_path: Path) -> None:
    folder = write_lm_eval(tmp_path / "logs", THREE)
    damaged = samples_of(folder)[1]
    damaged.write_bytes(b"")
    name = str(damaged.relative_to(folder))
    found = table_in(folder, leave_out=[name])
    assert set(found.frame["system"]) == {"m/a", "m/c"}
    assert any(f"Left out by name: {name}." == one for one in found.said)
    assert "no file 'm__b/other.jsonl'" in said(folder, leave_out=[name, "m__b/other.jsonl"])
    table = tmp_path / "scores.csv"
    run = CliRunner().invoke(main, ["import", str(folder), "--leave-out", name, "-o", str(table)])
    assert run.exit_code == 0, run.stderr
    assert "m/b" not in table.read_text()
    refused = CliRunner().invoke(main, ["rank", "scores", str(folder)])
    assert refused.exit_code == 2
    assert f"--leave-out {name}" in " ".join(refused.stderr.split())

"""One way out: the same options, rule of `-o` and envelope for every command that gives a result."""

import hashlib
import json
from pathlib import Path

import pytest
from cases import few_fast
from cli import run, run_json
from own_scripts import without_own_scripts

LINE = ("survey", "papers.csv", "--preset", "low")


@pytest.fixture(autouse=True)
def papers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "papers.csv"
    path.write_text(
        "name,effect,low,high,items,workers,ratings_per_item\none,0.3,1,5,100,5,3\n<b>,1,1,5,50,4,2\n"
    )
    return path


def test_a_record_names_what_was_read_with_its_digest_and_how_it_was_asked(papers: Path) -> None:
    record = run_json(*LINE)
    assert record["sources"] == [
        {"name": "papers.csv", "sha256": hashlib.sha256(papers.read_bytes()).hexdigest()}
    ]
    assert {"schema", "versions", "command"} <= set(record)
    assert "seed" not in record  # nothing was drawn


def test_a_file_of_the_package_is_named_without_the_place_where_it_is_installed() -> None:
    assert [source["name"] for source in run_json("parameters", "list")["sources"]] == [
        "parameter_library.json"
    ]


@few_fast(
    ("name", "start"),
    [
        ("out.md", b"# What published"),
        ("out.html", b"<!DOCTYPE html>"),
        ("out.tex", b"\\documentclass"),
        ("out.txt", b"What published"),
        ("out.csv", b"name,"),
        ("out.json", b"{"),
        ("out.png", b"\x89PNG"),
        ("out.svg", b"<?xml"),
        ("out.pdf", b"%PDF"),
    ],
    fast=1,
)
def test_the_ending_says_what_is_written(name: str, start: bytes) -> None:
    answer = run(*LINE, "-o", name).stdout
    assert answer.startswith("What published comparisons report")
    assert "2 comparisons" in answer
    assert Path(name).read_bytes().startswith(start)


@few_fast("folder", ["out", "out/", "a/b"], fast=1)
def test_without_an_ending_it_is_a_folder_with_all_of_it(folder: str) -> None:
    run(*LINE, "-o", folder)
    names = {path.name for path in Path(folder).iterdir()}
    assert names == {"index.html", "record.json", "table.csv", "survey.svg", "survey.png"}
    assert json.loads(Path(folder, "record.json").read_text())["schema"] == "humeval_power/survey/1"


def test_an_unknown_ending_is_refused_with_those_that_there_are() -> None:
    refused = run(*LINE, "-o", "out.xyz", code=2)
    assert ".html" in refused.stderr
    assert not Path("out.xyz").exists()


def test_nothing_is_written_over_unless_it_is_forced() -> None:
    Path("out.md").write_text("mine")
    assert "out.md" in run(*LINE, "-o", "out.md", code=2).stderr
    assert Path("out.md").read_text() == "mine"
    run(*LINE, "-o", "out.md", "--force")
    assert Path("out.md").read_text() != "mine"


@pytest.mark.parametrize(
    ("form", "start"),
    [
        ("markdown", "# "),
        ("html", "<!DOCTYPE"),
        ("latex", "\\documentclass"),
        ("csv", "name,"),
        ("json", "{"),
    ],
)
def test_the_same_is_printed_in_each_format(form: str, start: str) -> None:
    assert run(*LINE, "--format", form).stdout.startswith(start)


def test_a_page_holds_its_pictures_and_nothing_that_acts() -> None:
    page = without_own_scripts(run(*LINE, "--format", "html").stdout)
    assert "<svg " in page
    assert "<script" not in page
    assert "SHA-256" in page  # where the numbers come from

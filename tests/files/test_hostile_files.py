"""Files that would take the machine, or the program's own words, with them: refused in one sentence each."""

import gzip
import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pandas as pd
import pytest
from cases import each_case
from cli import run
from openpyxl import Workbook

from humeval_power.errors import InputError
from humeval_power.files.documents.reading import read_document
from humeval_power.files.file_bytes import MAX_CELLS, MAX_COLUMNS, MAX_MB, parse_json, read_bytes, read_toml
from humeval_power.files.tables import read_table

GOOD = "worker,item,system,rating\n" + "".join(
    f"w{worker},i{item},{system},{1 + (worker + 2 * item + (system == 'B')) % 5}\n"
    for worker in range(4)
    for item in range(5)
    for system in "AB"
)
PARAMETERS = {
    "schema": "humeval_power/parameters/1",
    "parameters": {
        "baseline": 0.5,
        "effect": 0.05,
        "sd_worker_intercept": 0.1,
        "sd_worker_slope": 0.05,
        "sd_item_intercept": 0.1,
        "sd_item_slope": 0.05,
        "sd_residual": 0.2,
    },
}


def refused(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_table(path)
    return str(caught.value)


def saved(folder: Path, content: bytes | str, name: str = "ratings.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_a_gzip_file_that_unpacks_beyond_the_limit_is_refused_and_the_limit_can_be_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = "worker,item,system,rating\n" + "w1,i1,A,3\n" * 300_000
    path = saved(tmp_path, gzip.compress(content.encode()), "ratings.csv.gz")
    monkeypatch.setenv(MAX_MB, "2")
    said = refused(path)
    assert said.startswith("ratings.csv.gz: unpacks to more than 2 MB.")
    assert f"{MAX_MB}=2000" in said
    monkeypatch.setenv(MAX_MB, "4")
    assert len(read_table(path).frame) == 300_000


def test_the_limit_of_the_environment_is_checked_itself(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(MAX_MB, "lots")
    assert f"{MAX_MB} must be a whole number from 1; got 'lots'." in refused(saved(tmp_path, GOOD))


def test_a_narrow_table_below_a_wide_header_is_measured_before_it_is_filled_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MAX_COLUMNS, "50000")
    # 300 kB of text would become 5,000 million cells.
    said = refused(saved(tmp_path, ",".join(map(str, range(50_000))) + "\n" + "1\n" * 100_000))
    assert "100,001 rows of 50,000 columns are more than 25,000,000 cells." in said
    assert MAX_CELLS in said


def test_lines_of_json_that_share_no_name_are_measured_before_they_become_a_table(tmp_path: Path) -> None:
    said = refused(saved(tmp_path, "".join(f'{{"n{line}": 1}}\n' for line in range(6_000))))
    assert "6,000 rows of 6,000 columns are more than" in said


def test_an_excel_cell_in_the_last_corner_makes_no_table_of_the_whole_sheet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(MAX_COLUMNS, "16384")
    book, stream = Workbook(), io.BytesIO()
    book.active["A1"], book.active["XFD40000"] = "worker", 1
    book.save(stream)
    assert "are more than 25,000,000 cells" in refused(saved(tmp_path, stream.getvalue(), "ratings.xlsx"))


@pytest.mark.slow
def test_a_workbook_with_a_damaged_member_is_refused_in_words(tmp_path: Path) -> None:
    stream = io.BytesIO()
    pd.DataFrame({"worker": ["a"] * 500, "rating": range(500)}).to_excel(stream, index=False)
    content = stream.getvalue()
    said = []
    for start in range(200, len(content) - 200, 97):
        turned = bytes(255 - byte for byte in content[start : start + 40])
        path = saved(tmp_path, content[:start] + turned + content[start + 40 :], "ratings.xlsx")
        try:
            read_table(path)
        except InputError as error:
            said.append(str(error))
    assert len(said) > 20
    assert all("ratings.xlsx" in one for one in said)


@pytest.mark.parametrize("name", ["ratings.xlsx", "log.eval"])
def test_an_archive_whose_names_are_no_text_is_refused_in_words(tmp_path: Path, name: str) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("xl/caf\u00e9.xml", b"")
    content = stream.getvalue().replace("\u00e9".encode(), b"\xe3\xe3")  # flagged as UTF-8, and none
    assert name in refused(saved(tmp_path, content, name))


def test_an_archive_that_states_more_than_the_limit_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b" " * 3_000_000)
    monkeypatch.setenv(MAX_MB, "2")
    assert "unpacks to more than 2 MB" in refused(saved(tmp_path, stream.getvalue(), "ratings.xlsx"))


def test_a_parquet_file_of_one_long_text_many_times_is_refused_while_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "ratings.parquet"
    pd.DataFrame({"worker": ["x" * 2_000] * 20_000, "rating": 1}).to_parquet(path)
    assert path.stat().st_size < 200_000
    monkeypatch.setenv(MAX_MB, "5")
    assert "unpacks to more than 5 MB" in refused(path)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("worker," + "x" * 200_000 + "\n1,2\n", None),
        ('{"worker": ' + "[" * 3_000 + "]" * 3_000 + ', "item": 1}\n', "nested more than 100 deep"),
        ('{"worker": ' + "9" * 5_000 + ', "item": 1}\n', "row 1: has a number of 5,000 digits"),
        ('{"worker": "a", "worker": "b"}\n', "row 1: has 'worker' twice in one place"),
        ('{"worker": "\\ud800", "item": 1}\n', "row 1: holds text that is not Unicode"),
        ('{"worker": Infinity, "item": 1}\n', "row 1: has Infinity, which is no number in JSON"),
        ('{"worker": 1e400, "item": 1}\n', "row 1: has 1e400, a number larger than"),
        ('[{"worker": 1}]', "Write one object a line: jq -c '.[]' ratings.csv"),
        (",".join(["a"] * 9_000) + "\n" + ",".join("1" * 9_000) + "\n", "9,000 columns bear this name"),
        (",".join(["a"] * 60_000) + "\n" + ",".join("1" * 60_000) + "\n", "60,000 columns; at most 10,000"),
        ('worker,item\n"a,1\nb,2\n', "row 2: a quotation mark is opened and never closed"),
        ("worker,item\na,1,2\n", "row 2: the row has 3 cells, but the header has 2"),
        ("worker,item\r\na,1\0\r\n", "row 2: there is a NUL byte"),
        ("\ufeff", "the file is empty"),
        ("worker,item\n", "a header but no rows"),
        ("", "the file is empty"),
        (GOOD.encode("utf-16-le"), "row 1: there is a NUL byte"),
        (GOOD.encode() + b"w\xe9,i1,A,3\n", "row 42: byte 428 (0xe9) is not UTF-8 text"),
        (GOOD.encode("utf-32"), "there is a NUL byte"),
    ],
)
def test_a_hostile_table_is_refused_in_words_or_read(
    tmp_path: Path, content: bytes | str, said: str | None
) -> None:
    path = saved(tmp_path, content)
    if said is None:
        assert len(read_table(path).frame) == 1
    else:
        assert said in refused(path)


@each_case(
    ("text", "said"),
    [
        ("[" * 3_000, "nested more than 100 deep"),
        ("[" * 300 + "]" * 300, "nested more than 100 deep"),
        ('{"a":\n' + "7" * 5_000 + "}", "a number of 5,000 digits, 77777777777777777777..., in line 2."),
        ('{"a": -Infinity}', "has -Infinity, which is no number in JSON"),
        ('{"a": "\\udfff"}', "half of a character"),
        ('{"a": 1, "b": {"a": 2, "a": 3}}', "has 'a' twice in one place"),
        ("", "is not JSON: Expecting value in line 1"),
    ],
)
def test_json_that_pythons_reader_would_choke_on_or_let_through_is_refused(text: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_json(text, place="x.json")
    assert said in str(caught.value)


def test_a_whole_character_written_in_two_halves_is_text() -> None:
    assert parse_json('{"a": "\\ud83d\\ude00"}', place="x.json") == {"a": "\U0001f600"}


@each_case(
    ("content", "said"),
    [
        ("a = " + "[" * 3_000, "is not TOML|nested too deep"),
        ("a = " + "9" * 5_000, "is not TOML: Exceeds the limit"),
        ("a = 1\n" * 2, "is not TOML"),
        ("#" * 1_100_000, "at most 1,000,000 are read as TOML"),
        (b"a = '\xff'", "is not UTF-8 text"),
    ],
)
def test_toml_that_would_harm_is_refused(tmp_path: Path, content: bytes | str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_toml(saved(tmp_path, content, "x.toml"))


@pytest.mark.parametrize("name", ["/dev/zero", "/dev/null", "/dev/full"])
def test_a_device_is_not_read(name: str) -> None:
    with pytest.raises(InputError, match="it is a device, not a file"):
        read_bytes(name)


def test_a_pipe_that_nobody_writes_to_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="nobody writes to this pipe"):
        read_bytes(tmp_path / "pipe")


def test_a_pipe_with_a_writer_is_read_to_its_end(tmp_path: Path) -> None:
    # As a shell hands over the output of another command: check <(zcat ratings.csv.gz)
    command = "import sys; from humeval_power.files.tables import read_table; "
    command += "print(len(read_table(sys.argv[1]).frame))"
    script = f'exec "$0" -c \'{command}\' <(sleep 0.2; cat "$1")'
    found = subprocess.run(
        ["bash", "-c", script, sys.executable, str(saved(tmp_path, GOOD))],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert found.stdout == "40\n"


@each_case(
    ("edit", "said"),
    [
        ({"n_workers": -7}, "field 'n_workers': value -7: must be greater than or equal to 1."),
        ({"n_items": 2.5}, "field 'n_items': value 2.5: must be a whole number."),
        (
            {"effect": {"interval": [5.0, -9.0]}},
            "field 'effect.interval': must run from its lower to its upper end.",
        ),
        (
            {"effect": {"estimate": 0.5, "interval": [0.1, 0.2]}},
            "field 'effect.estimate': value 0.5: lies outside",
        ),
        (
            {"effect": {"p_value": 1.5}},
            "field 'effect.p_value': value 1.5: must be less than or equal to 1.",
        ),
        (
            {"effect": {"standard_error": -1}},
            "field 'effect.standard_error': value -1: must be greater than or",
        ),
        ({"effect": {"df": 0}}, "field 'effect.df': value 0: must be greater than 0."),
        ({"effect": []}, "field 'effect': must be an object, {...}."),
        (
            {"n_ratings": 10, "n_workers": 11},
            "field 'n_workers': value 11: is more than there are ratings, 10.",
        ),
        (
            {"flow": [{"step": "read", "rows": 9}, {"step": "analysed", "rows": 8}]},
            "field 'flow': the rows that were dropped and analysed do not sum up",
        ),
        ({"scale": {"low": 5, "high": 1}}, "field 'scale.points': is missing."),
        ({"not_identified": ["sd_nothing"]}, "field 'not_identified.0': value 'sd_nothing'"),
        (
            {"uncertainty": {"strata": {}}},
            "field 'uncertainty': The uncertainty of the parameters cannot be read",
        ),
        ({"parameters": {"baseline": "x"}}, "field 'parameters': parameter 'effect' is missing."),
    ],
)
def test_a_document_that_contradicts_itself_is_refused_with_the_field(
    tmp_path: Path, edit: dict[str, object], said: str
) -> None:
    path = saved(tmp_path, json.dumps({**PARAMETERS, **edit}), "parameters.json")
    with pytest.raises(InputError) as caught:
        read_document(path, schema="humeval_power/parameters/1")
    assert f"{path}, {said}" in str(caught.value)


def test_all_problems_of_a_document_are_told_at_once(tmp_path: Path) -> None:
    wrong = {**PARAMETERS, "n_workers": -7, "converged": "yes", "effect": {"p_value": 2, "df": -1}}
    with pytest.raises(InputError) as caught:
        read_document(saved(tmp_path, json.dumps(wrong)), schema="humeval_power/parameters/1")
    assert [problem.column for problem in caught.value.problems] == [
        "effect.df",
        "effect.p_value",
        "n_workers",
        "converged",
    ]


def test_a_name_that_no_file_can_have_is_a_wrong_argument(tmp_path: Path) -> None:
    name, good = "x" * 400 + ".csv", saved(tmp_path, GOOD)
    size = ("--workers", 4, "--items", 9, "--effect", 0.1)
    for words in (
        ("check", name),
        ("fit", name),
        ("power", *size, "--parameters", name),
        ("fit", good, "-o", name),
    ):
        done = run(*words, code=2)
        assert "ame too long" in " ".join(done.stderr.split())


def test_a_hundred_problems_are_shown_and_the_others_counted(tmp_path: Path) -> None:
    unknown = {**PARAMETERS, "parameters": {f"k{place}": place for place in range(3_000)}}
    path = tmp_path / "parameters.json"
    path.write_text(json.dumps(unknown))
    size = ("--workers", 4, "--items", 9, "--effect", 0.1)
    said = run("power", *size, "--parameters", path, code=2).stderr
    assert said.count("\n- ") == 101
    assert "\n- and 2,90" in said

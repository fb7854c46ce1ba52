"""Columns that tell of people without being ids: Qualtrics' own, and their like in other tools."""

import csv
import io
import json
from pathlib import Path

from click.testing import CliRunner, Result

from humeval_power.doors.terminal.main import main
from humeval_power.studies.release.warnings import ip_address

KEY = "a key that is long enough"
QUALTRICS = {  # a value of each column that every survey has, as the export writes it
    "StartDate": "2024-03-01 10:00:00",
    "EndDate": "2024-03-01 10:12:09",
    "RecordedDate": "2024-03-01 10:12:10",
    "IPAddress": "203.0.113.77",
    "ResponseId": "R_2w0bGxYl0nRXq2z",
    "RecipientLastName": "Lovelace",
    "RecipientFirstName": "Ada",
    "RecipientEmail": "ada@example.org",
    "ExternalReference": "panel-77",
    "LocationLatitude": "52.5200",
    "LocationLongitude": "13.4050",
    "UserLanguage": "EN",
    "PROLIFIC_PID": "0123456789abcdef01234567",
    "SESSION_ID": "s-7",
}
BY_VALUE = {
    "q7": "198.51.100.23",
    "q8": "2001:db8:85a3::8a2e:370:7334",
    "q9": "01.03.2024 10:12",
    "q10": "48.8584, 2.2945",
}
HARMLESS = {"seconds": "41", "comment": "good", "version": "fluent", "condition": "a::b", "Q3": "4"}


def table_with(folder: Path, extra: dict[str, str]) -> Path:
    """Ratings with these columns beside them."""
    rows = [[w, f"i{i}", s, str(i % 5 + 1), *extra.values()] for w in "vw" for i in range(6) for s in "AB"]
    path = folder / "ratings.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["worker", "item", "system", "rating", *extra], *rows])
    return path


def released(table: Path, *words: str) -> Result:
    fixed = ("--secret-text", KEY, "--licence", "CC BY 4.0", "--strict", "-o", str(table.parent / "out"))
    return CliRunner().invoke(main, ["release", str(table), *fixed, *words])


def test_each_column_that_tells_of_people_is_warned_of(tmp_path: Path) -> None:
    columns = {**QUALTRICS, **BY_VALUE, **HARMLESS}
    table = table_with(tmp_path, columns)
    done = released(table, *(word for name in columns for word in ("--keep", name)))
    told = " ".join(done.stderr.split())
    silent = [name for name in (*QUALTRICS, *BY_VALUE) if f"column {name!r}" not in told]
    loud = [name for name in HARMLESS if f"column {name!r}" in told]
    assert (silent, loud) == ([], [])
    assert done.exit_code == 3
    assert not (tmp_path / "out").exists()


def test_a_column_that_was_looked_at_is_released(tmp_path: Path) -> None:
    table = table_with(tmp_path, {"city": "Oslo"})
    assert released(table, "--keep", "city").exit_code == 3
    done = released(table, "--keep", "city", "--checked", "city")
    assert done.exit_code == 0, done.stderr
    assert "Oslo" in (tmp_path / "out" / "ratings.csv").read_text()


def test_an_export_that_is_included_is_warned_of_by_its_columns_and_addresses(tmp_path: Path) -> None:
    table = table_with(tmp_path, {})
    text = io.StringIO()
    csv.writer(text).writerows([list(QUALTRICS), list(QUALTRICS.values())])
    objects = [QUALTRICS]
    files = {
        "export.csv": text.getvalue(),
        "export.tsv": text.getvalue().replace(",", "\t"),
        "export.txt": text.getvalue(),
        "export.json": json.dumps(objects),
        "export.jsonl": "".join(json.dumps(one) + "\n" for one in objects * 2),
    }
    missing = []
    for name, content in files.items():
        (tmp_path / name).write_text(content)
        done = released(table, "--include", str(tmp_path / name))
        told = " ".join(done.stderr.split())
        wanted = ("'IPAddress'", "'LocationLatitude'", "'StartDate'", "'RecipientLastName'", "203.0.113.77")
        missing += [(name, word) for word in wanted if word not in told]
        assert done.exit_code == 3
    assert not missing


def test_numbers_of_sections_and_separators_are_no_addresses() -> None:
    for text in (
        "see 3.2.2.1 and 4.3.11.1",
        "doc::system",
        "a::b",
        "12:30:45",
        "127.0.0.1",
        "::1",
        "1.2.3",
    ):
        assert ip_address(text) is None, text
    for text in ("from 203.0.113.77 at 10:00", "2001:db8::1", "10.0.0.5", "[2001:db8:0:1::2]"):
        assert ip_address(text) is not None, text

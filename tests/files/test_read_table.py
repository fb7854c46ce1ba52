"""Files of ratings: every format that is read, and what is said about files that cannot be."""

import gzip
import hashlib
import io
import json
import random
from pathlib import Path

import pandas as pd
import pytest
from cases import each_case

from humeval_power.errors import InputError
from humeval_power.files import text_tables
from humeval_power.files.tables import read_table

HEADER = "worker,item,system,rating"
TEXT = f"{HEADER}\n007,NA,A,1\nw2,i1,B,4.50\n"
EXPECTED = [["007", "NA", "A", "1"], ["w2", "i1", "B", "4.50"]]


def saved(directory: Path, content: str | bytes, name: str = "ratings.csv") -> Path:
    path = directory / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def cells(frame: pd.DataFrame) -> list[list[str]]:
    return [[str(value) for value in row] for row in frame.to_numpy().tolist()]


@each_case(
    ("content", "said"),
    [
        (TEXT, ()),
        (TEXT.replace("\n", "\r\n"), ()),
        (TEXT.replace("\n", "\r"), ()),
        (TEXT.replace(",", "\t"), ()),
        (TEXT.replace(",", ";"), ("The columns are separated by a semicolon (';').",)),
        ("\ufeff" + TEXT, ("A byte-order mark at the start of the file was skipped.",)),
        (TEXT.encode("utf-16"), ("The file is read as UTF-16, as its byte-order mark says.",)),
        (gzip.compress(TEXT.encode(), mtime=0), ()),
        (TEXT.replace("007", '"007"'), ()),
        (TEXT.rstrip("\n") + "\n\n\n", ()),
    ],
)
def test_text_tables_are_read_cell_by_cell_as_text(
    tmp_path: Path, content: str | bytes, said: tuple[str, ...]
) -> None:
    path = saved(tmp_path, content)
    table = read_table(path)
    assert cells(table.frame) == EXPECTED
    assert list(table.frame.columns) == HEADER.split(",")
    assert list(table.frame.index) == [2, 3]
    assert table.frame.index.name == "row"
    assert table.source == "ratings.csv"
    assert table.notices == said
    assert table.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()


def test_json_lines_keep_types_and_line_numbers(tmp_path: Path) -> None:
    lines = [json.dumps({"worker": "007", "item": 1, "system": "A", "rating": 4}), "", '{"worker": "w2"}']
    frame = read_table(saved(tmp_path, "\n".join(lines), "r.jsonl")).frame
    assert list(frame.index) == [1, 3]
    assert frame.iloc[0].tolist() == ["007", 1, "A", 4]
    assert frame.iloc[1].isna().tolist() == [False, True, True, True]


def test_excel_cells_are_read_as_text_and_other_sheets_are_named(tmp_path: Path) -> None:
    path = tmp_path / "ratings.xlsx"
    frame = pd.DataFrame([["007", "NA", "A", 1], ["w2", "i1", "B", 4.5]], columns=HEADER.split(","))
    with pd.ExcelWriter(path) as book:
        frame.to_excel(book, sheet_name="ratings", index=False)
        frame.to_excel(book, sheet_name="notes", index=False)
    table = read_table(path)
    assert cells(table.frame) == [["007", "NA", "A", "1"], ["w2", "i1", "B", "4.5"]]
    assert list(table.frame.index) == [2, 3]
    assert table.notices == ("Only the first sheet is read, 'ratings'; not 'notes'.",)
    assert table.source == "ratings.xlsx, first sheet 'ratings'"


def test_what_is_wrong_with_a_workbook_names_the_sheet_that_was_read(tmp_path: Path) -> None:
    path = tmp_path / "ratings.xlsx"
    with pd.ExcelWriter(path) as book:
        pd.DataFrame({"about": ["this study"]}).to_excel(book, sheet_name="notes", index=False)
        pd.DataFrame([["w1", "i1", "A", 1]], columns=HEADER.split(",")).to_excel(book, sheet_name="ratings")
    with pytest.raises(InputError, match=r"first sheet 'notes': there is only one column.* first"):
        read_table(path)


def test_parquet_keeps_its_types(tmp_path: Path) -> None:
    path = tmp_path / "ratings.parquet"
    pd.DataFrame({"worker": ["007"], "rating": [4]}).to_parquet(path)
    assert cells(read_table(path).frame) == [["007", "4"]]


def test_standard_input_is_read_like_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    table = read_table("-")
    assert cells(table.frame) == EXPECTED
    assert table.source == "standard input"


def test_blank_lines_inside_keep_their_row_numbers(tmp_path: Path) -> None:
    frame = read_table(saved(tmp_path, f"{HEADER}\nw1,i1,A,1\n\nw1,i1,B,2\n")).frame
    assert cells(frame)[1] == ["", "", "", ""]
    assert frame.loc[4, "rating"] == "2"


def test_a_line_break_inside_quotes_is_part_of_the_cell(tmp_path: Path) -> None:
    frame = read_table(saved(tmp_path, f'{HEADER}\nw1,"a, ""b""\nc",A,1\nw1,i2,A,2\n')).frame
    assert frame.loc[2, "item"] == 'a, "b"\nc'
    assert frame.loc[3, "item"] == "i2"


ERRORS = [
    ("", "ratings.csv: the file is empty. Is this the right file?"),
    (" \n\n", "ratings.csv: the file is empty."),
    (HEADER + "\n", "ratings.csv: the table has a header but no rows."),
    ("\n" + TEXT, "ratings.csv, row 1: the header is blank."),
    (
        f"{HEADER}\nw1,St\u00fcck,A,1\n".encode("latin-1"),
        "ratings.csv, row 2: byte 32 (0xfc) is not UTF-8 text. Save it as UTF-8: Excel has",
    ),
    (TEXT.replace("i1", "i\0"), "ratings.csv, row 3: there is a NUL byte"),
    (
        TEXT + "w1,a, b,A,1\nw1,A,1\n",
        "ratings.csv, row 4: the row has 5 cells, but the header has 4. "
        "A cell that contains a comma must stand in quotation marks.\n"
        "ratings.csv, row 5: the row has 3 cells, but the header has 4.",
    ),
    (TEXT + "w1,i1,A\n" * 42, "ratings.csv: and 37 more rows like this."),
    (
        TEXT.replace("item", "worker"),
        "ratings.csv, row 1, column 'worker': 2 columns bear this name. Rename all but one.",
    ),
    (TEXT + 'w1,"i1,A,1\nw1,i2,A,1\n', "ratings.csv, row 4: a quotation mark is opened and never closed."),
    (
        TEXT.replace(",", " "),
        "ratings.csv: there is only one column, 'worker item system rating'. "
        "Separate the columns by commas, semicolons or tabs.",
    ),
    ('{"worker": 1}\n{oops\n[1]\n', "ratings.csv, row 2: is not JSON: Expecting property name"),
    ('{"worker": 1}\n\n[1]\n', "ratings.csv, row 3: each line must hold one JSON object, {...}."),
    ('[{"worker": 1}]', "ratings.csv: a JSON array is not read as a table; JSON Lines is."),
    (gzip.compress(TEXT.encode(), mtime=0)[:-12], "ratings.csv: the gzip file is damaged or cut off."),
    (
        b"\xd0\xcf\x11\xe0 old",
        "ratings.csv: this is an old Excel or Word file, and no table. Save its table",
    ),
    (b"%PDF-1.7\n\xe2\xe3\n", "ratings.csv: this is a PDF document, and no table."),
    (b"\x89PNG\r\n\x1a\n\0", "ratings.csv: this is a picture (PNG), and no table."),
    (b"PK\x03\x04 word/document.xml", "ratings.csv: this is a Word document, and no table."),
    (TEXT + "w1,i2", "but the header has 4. Is the file cut off in this last row? Fetch or save it again"),
    (TEXT + 'w1,"i2', "a quotation mark is opened and never closed. Is the file cut off in this last row?"),
    (b"PK\x03\x04 not a workbook", "ratings.csv: this zip archive is not a readable Excel workbook."),
    (b"PAR1 cut", "ratings.csv: the Parquet file is damaged."),
]


@each_case(("content", "expected"), ERRORS)
def test_a_file_that_is_no_table_is_refused_with_the_reason(
    tmp_path: Path, content: str | bytes, expected: str
) -> None:
    with pytest.raises(InputError) as caught:
        read_table(saved(tmp_path, content))
    assert expected in str(caught.value)


def test_a_missing_file_is_refused_and_a_near_name_offered(tmp_path: Path) -> None:
    saved(tmp_path, TEXT, "pilot_ratings.csv")
    with pytest.raises(InputError, match=r"There is no file .*Did you mean 'pilot_ratings"):
        read_table(tmp_path / "pilot_rating.csv")
    with pytest.raises(InputError, match="Nor is there a directory"):
        read_table(tmp_path / "nowhere" / "pilot.csv")
    with pytest.raises(InputError, match="is a directory"):
        read_table(tmp_path)


CELLS = ("a", "b", "1", "", "x y", '"q"', '"a""b"', '"l\nm"', '"u', 'v"w', '"a"b', ' "s"', "é", "'=x", "\r")


def test_a_table_read_in_one_pass_is_that_which_is_read_row_by_row(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(text: str) -> object:
        try:
            frame, notices = text_tables.read_delimited(text, source="table")
        except InputError as error:
            return str(error)
        return frame.to_csv(), frame.dtypes.tolist(), notices

    rng = random.Random(5)
    one_pass, taken = text_tables.even_cells, 0
    for _ in range(150):
        separator, end, width = rng.choice(",,;\t"), rng.choice(["\n", "\r\n"]), rng.randint(1, 4)
        lines = [separator.join(f"n{place}" for place in range(width))]
        for _ in range(rng.randint(1, 4)):
            n_cells = width if rng.random() < 0.95 else rng.randint(0, 5)
            kinds = CELLS if rng.random() < 0.4 else CELLS[:6]
            lines.append(separator.join(rng.choice(kinds) for _ in range(n_cells)))
        text = end.join(lines) + rng.choice(["", end, end * 2])
        taken += one_pass(text.rstrip("\r\n") + "\n", separator) is not None
        fast = read(text)
        monkeypatch.setattr(text_tables, "even_cells", lambda *_: None)
        assert fast == read(text), text
        monkeypatch.setattr(text_tables, "even_cells", one_pass)
    assert taken > 50

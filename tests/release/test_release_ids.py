"""`release` finds worker ids of any length, wherever they stand, and takes in no ledger and no secret."""

import csv
import gzip
import io
import json
import zipfile
from pathlib import Path

import openpyxl
from cases import each_case
from click.testing import CliRunner, Result

from humeval_power.doors.terminal.main import main
from humeval_power.studies.monitor.files import kept_secret, open_ledger
from humeval_power.studies.release.warnings import IdSearch, document_texts

KEY = "a key that is long enough"


def run(*words: object) -> Result:
    done = CliRunner().invoke(main, [str(word) for word in words])
    assert done.exit_code in (0, 2, 3), done.output
    return done


def told(done: Result) -> str:
    return " ".join(done.stderr.split())


def table(
    folder: Path, workers: list[str], *, comments: dict[int, str] | None = None, column: str = "comment"
) -> Path:
    path = folder / "ratings.csv"
    rows = [
        [worker, f"text {i}", system, str(1 + (w + 2 * i + (system == "new")) % 5)]
        for w, worker in enumerate(workers)
        for i in range(4)
        for system in ("old", "new")
    ]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["worker", "item", "system", "rating", column])
        writer.writerows(
            [*row, (comments or {}).get(number, "")] for number, row in enumerate(rows, start=2)
        )
    return path


def release(path: Path, *words: object) -> Result:
    return run("release", path, "--secret-text", KEY, "--licence", "CC BY 4.0", *words)


def test_short_ids_in_comments_are_told_with_their_row_and_stop_a_strict_release(tmp_path: Path) -> None:
    path = table(
        tmp_path, ["w17", "w18", "Eve"], comments={5: "as W17 said", 9: "ask eve.", 10: "event, w171"}
    )
    done = release(path, "--keep", "comment", "--strict", "-o", tmp_path / "out")
    assert done.exit_code == 3
    assert not (tmp_path / "out").exists()
    assert (
        "column 'comment': 2 cells with a word that is also a worker's id: 'Eve' (row 9), 'w17' (row 5)"
        in told(done)
    )
    fine = release(path, "--keep", "comment", "--strict", "--checked", "comment", "-o", tmp_path / "out")
    assert fine.exit_code == 0, fine.output


def test_ids_that_are_plain_numbers_make_one_warning_and_not_one_a_place(tmp_path: Path) -> None:
    comments = {row: f"{row} seconds, 0.5 of 1,200" for row in range(2, 26)}
    path = table(tmp_path, ["1", "5", "12"], comments=comments)
    notes = tmp_path / "notes.txt"
    notes.write_text("\n".join(f"Step {n} took {n} minutes." for n in range(1, 200)))
    done = release(path, "--keep", "comment", "--include", notes)
    warnings = [line for line in told(done).split("WARNING: ") if "also a worker's id" in line]
    assert len(warnings) == 3
    assert warnings[0].startswith("column 'item': 6 cells")  # "text 1", of 3 workers under 2 systems
    assert "column 'comment': 2 cells" in told(done)  # 5 and 12; the 1 of 1,200 and the 5 of 0.5 are none
    assert "notes.txt: 3 places" in told(done)
    fine = ("--checked", "comment", "--checked", "notes.txt", "--checked", "item")
    assert "also a worker's id" not in told(release(path, "--keep", "comment", "--include", notes, *fine))


def test_saying_that_a_place_is_fine_does_not_hide_ids_that_cannot_be_chance(tmp_path: Path) -> None:
    path = table(tmp_path, ["worker-17", "w2"], comments={3: "worker-17 and w2"})
    done = release(path, "--keep", "comment", "--checked", "comment", "--strict")
    assert done.exit_code == 3
    assert "column 'comment': 1 cell with the ids of 1 worker: 'worker-17' (row 3)" in told(done)


def test_a_place_that_is_not_there_cannot_have_been_checked(tmp_path: Path) -> None:
    done = release(table(tmp_path, ["w1", "w2"]), "--checked", "coment")
    assert done.exit_code == 2
    assert "--checked names 'coment'" in told(done)


def test_ids_in_names_of_files_columns_and_systems_are_found(tmp_path: Path) -> None:
    path = table(tmp_path, ["w17", "old"], column="rating_by_w17")
    notes = tmp_path / "notes_W17.txt"
    notes.write_text("nothing")
    done = release(path, "--include", notes)
    assert "the names of files: 1 name" in told(done)
    assert "'w17' ('notes_W17.txt')" in told(done)
    assert "the names of columns, which README.md lists: 1 name" in told(done)
    assert "'w17' ('rating_by_w17')" in told(done)
    assert "column 'system': 8 cells" in told(done)


def workbook() -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "notes on w18"
    sheet["B3"] = "see w17"
    sheet["C4"] = 4711
    sheet["D5"].comment = openpyxl.comments.Comment("slow", "w19")
    made = io.BytesIO()
    book.save(made)
    return made.getvalue()


def archive(content: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("deep/notes.txt", content)
    return made.getvalue()


DOCUMENTS = {
    "a.xlsx": (workbook(), {"w17": "sheet 'notes on w18', cell B3", "w18": "the name of a sheet"}),
    "b.xlsx": (workbook(), {"4711": "sheet 'notes on w18', cell C4", "w19": "cell D5, its comment"}),
    "c.json": (
        json.dumps({"a": [{"who": "w17"}], "w18": 4711}).encode(),
        {"w17": "$.a[0].who", "w18": "$, a key"},
    ),
    "d.json": (b'{"who": "\\u0077\\u0031\\u0037", "n": 4711}', {"w17": "$.who", "4711": "$.n"}),
    "e.jsonl": (b'{"who": "a"}\n{"who": "\\u00771\\u0037"}\n', {"w17": "line 2: $.who"}),
    "f.csv": (b'item,note\ni1,"a\nb"\ni2,by w17\n', {"w17": "row 3, column 'note'"}),
    "g.tsv": (b"item\tw18\ni2\tw17\n", {"w17": "row 2, column 'w18'", "w18": "the header"}),
    "h.txt": ("one\nw17 ist müde\n".encode("cp1252"), {"w17": "line 2"}),
    "i.txt": ("one\nw17\n".encode("utf-16"), {"w17": "line 2"}),
    "j.txt.gz": (gzip.compress(b"one\nw17\n"), {"w17": "line 2"}),
    "k.zip": (archive("one\nw17\n"), {"w17": "deep/notes.txt, line 2"}),
}


@each_case("name", DOCUMENTS)
def test_included_files_of_any_kind_are_searched_and_the_place_is_told(name: str) -> None:
    content, wanted = DOCUMENTS[name]
    search = IdSearch(["w17", "w18", "w19", "4711"])
    texts = document_texts(name, content)
    assert texts.unread == []
    for worker, place in wanted.items():
        places = [piece.place for piece in texts.pieces if worker in search.found(piece.text)]
        assert any(place in found for found in places), places


@each_case(
    ("ids", "text", "found"),
    [
        (["w1"], "w1, w12 and aw1", {"w1"}),
        (["w1"], "w12 aw1", set()),
        (["w1"], "notes_W1.txt", {"w1"}),
        (["5"], "0.5 and 1,500 and 5,3", set()),
        (["5"], "5, then 6", {"5"}),
        (["12345678"], "0.12345678", set()),
        (["ann@example.org"], "by Ann@Example.org.", {"ann@example.org"}),
        (["worker 17"], "the worker 17's", {"worker 17"}),
        (["#3"], "see #3", {"#3"}),
        (["#3"], "see #31", set()),
        (["é"], "e\u0301", {"é"}),
        (["张三"], "请问张三说", {"张三"}),
        (["Straße"], "STRASSE", {"Straße"}),
        (["", " "], "a b", set()),
    ],
)
def test_an_id_is_found_as_a_whole_word_in_any_case(ids: list[str], text: str, found: set[str]) -> None:
    assert IdSearch(ids).found(text) == found


def test_a_file_that_cannot_be_searched_is_said_until_it_was_looked_at(tmp_path: Path) -> None:
    path = table(tmp_path, ["w1", "w2"])
    picture = tmp_path / "figure.png"
    picture.write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0")
    done = release(path, "--include", picture, "--strict")
    assert done.exit_code == 3
    assert "figure.png is not text and was not searched" in told(done)
    assert release(path, "--include", picture, "--strict", "--checked", "figure.png").exit_code == 0


@each_case("packed", ["as it is", "zip", "gzip"])
@each_case("kind", ["ledger", "secret", "key"])
def test_ledgers_and_secrets_are_refused_whatever_they_are_called(
    tmp_path: Path, kind: str, packed: str
) -> None:
    path = table(tmp_path, ["w1", "w2"])
    private = tmp_path / "harmless.txt"
    if kind == "ledger":
        with open_ledger(private) as book:
            book.append("look", {"value": 1})
    elif kind == "secret":
        kept_secret(private)
    else:
        private.write_text(f"the key: {KEY}\n")
    text = private.read_text()
    if packed == "zip":
        private.write_bytes(archive(text))
    elif packed == "gzip":
        private.write_bytes(gzip.compress(text.encode()))
    done = release(path, "--include", private, "-o", tmp_path / "out")
    assert done.exit_code == 2
    assert (
        f"harmless.txt is {'a ledger of looks' if kind == 'ledger' else 'the secret of a study'}"
        in told(done)
    )
    assert not (tmp_path / "out").exists()


def test_the_key_of_one_release_is_refused_by_the_next(tmp_path: Path) -> None:
    path = table(tmp_path, ["w1", "w2"])
    assert run("release", path, "-o", tmp_path / "one").exit_code == 0
    (tmp_path / "one.key").rename(tmp_path / "data.txt")
    done = run("release", path, "--include", tmp_path / "data.txt", "-o", tmp_path / "two")
    assert done.exit_code == 2
    assert "data.txt is the secret of a study" in told(done)


def test_no_digest_of_the_ratings_is_published(tmp_path: Path) -> None:
    path = table(tmp_path, ["w1", "w2"])
    old = tmp_path / "analysis.json"
    old.write_text(
        json.dumps(
            {"schema": "humeval_power/analysis/1", "data": {"source": "ratings.csv", "sha256": "ab" * 32}}
        )
    )
    assert release(path, "--include", old, "-o", tmp_path / "out").exit_code == 0
    assert json.loads((tmp_path / "out" / "analysis.json").read_text())["data"] == {"source": "ratings.csv"}
    assert "SHA-256" not in (tmp_path / "out" / "README.md").read_text().replace("HMAC-SHA256", "")

"""The command `humeval-power release`: what is published, and what must not be."""

import csv
import hashlib
import hmac
import io
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from cases import each_case
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st
from places import ROOT

from humeval_power.doors.terminal.main import main
from humeval_power.files.tables import read_table
from humeval_power.ratings import ratings_from_table
from humeval_power.safe_text import formula_safe, original_cells
from humeval_power.studies.field.form import keyed_order, platform_of, pseudonyms
from humeval_power.studies.release.bundle import checksums

KEY = "a key that is long enough"
HOSTILE = (
    "<script>alert(1)</script>",
    "=cmd()",
    "100 % _a_ & b",
    "two\nlines",
    "שלום",
    "@sum",
    "+1 or so",
    "| a ** b `c`",
    '"quoted", then',
)
WORKERS = ("A1B2C3D4E5F6G7", "0123456789abcdef01234567", "ann@example.org")


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def write_table(path: Path, header: list[str], rows: list[list[str]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def read_rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def rating_of(w: int, i: int, s: int) -> str:
    return str(-2 + (w + i + s) % 5)


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    rows = [
        [worker, item, system, rating_of(w, i, s), f"{w}{i}", "my own words"]
        for w, worker in enumerate(WORKERS)
        for i, item in enumerate(HOSTILE)
        for s, system in enumerate(("=A()", "B"))
    ]
    return write_table(
        tmp_path / "ratings.csv", ["worker", "item", "system", "rating", "seconds", "comment"], rows
    )


def test_names_of_any_kind_survive_and_no_cell_is_a_formula(hostile: Path, tmp_path: Path) -> None:
    done = run("release", hostile, "-o", tmp_path / "out", "--secret-text", KEY, "--keep", "seconds")
    assert done.exit_code == 0, done.stderr
    rows = read_rows(tmp_path / "out" / "ratings.csv")
    assert set(original_cells([row["item"] for row in rows])) == set(HOSTILE)
    assert set(original_cells([row["system"] for row in rows])) == {"=A()", "B"}
    # Negative ratings are numbers; of every other cell none starts as a formula does.
    assert {row["rating"] for row in rows} == {"-2", "-1", "0", "1", "2"}
    for row in rows:
        assert not any(value[:1] in "=+-@\t\r" for name, value in row.items() if name != "rating")
    assert re.search(r"^ +system +2 +27$", done.stdout, re.MULTILINE)
    assert "Left out: comment." in done.stdout


def test_the_rows_are_those_of_the_table_in_another_order(hostile: Path, tmp_path: Path) -> None:
    run("release", hostile, "-o", tmp_path / "out", "--secret-text", KEY)
    names = pseudonyms(WORKERS, key=KEY, kind="worker")
    expected = [
        (names[row["worker"]], row["item"], row["system"], row["rating"]) for row in read_rows(hostile)
    ]
    rows = read_rows(tmp_path / "out" / "ratings.csv")
    found = list(
        zip(
            (row["worker"] for row in rows),
            original_cells([row["item"] for row in rows]),
            original_cells([row["system"] for row in rows]),
            (row["rating"] for row in rows),
            strict=True,
        )
    )
    assert sorted(found) == sorted(expected)
    assert found != expected


def test_no_file_of_the_bundle_holds_a_worker_or_what_was_left_out(hostile: Path, tmp_path: Path) -> None:
    run("release", hostile, "-o", tmp_path / "out", "--secret-text", KEY)
    for path in (tmp_path / "out").iterdir():
        text = path.read_text(encoding="utf-8")
        assert not [name for name in (*WORKERS, "my own words", KEY) if name in text], path


def test_the_same_key_gives_the_same_bundle_and_another_key_another(hostile: Path, tmp_path: Path) -> None:
    for name, key in (("a", KEY), ("b", KEY), ("c", KEY + "!")):
        run("release", hostile, "-o", tmp_path / name, "--secret-text", key)
    a, b, c = ((tmp_path / name / "ratings.csv").read_bytes() for name in "abc")
    assert a == b
    assert a != c
    assert {row["worker"] for row in read_rows(tmp_path / "a" / "ratings.csv")}.isdisjoint(
        row["worker"] for row in read_rows(tmp_path / "c" / "ratings.csv")
    )


def test_pseudonyms_are_the_start_of_a_keyed_digest() -> None:
    # By openssl: printf 'worker:w1' | openssl dgst -sha256 -hmac key
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl is not there")
    made = subprocess.run(
        [openssl, "dgst", "-sha256", "-hmac", "key"], input=b"worker:w1", capture_output=True, check=True
    ).stdout.decode()
    assert pseudonyms(["w1"], key="key", kind="worker")["w1"] == "w" + made.split()[-1][:16]


def test_a_random_key_is_kept_outside_the_bundle_and_used_again(hostile: Path, tmp_path: Path) -> None:
    first = run("release", hostile, "-o", tmp_path / "out")
    key = tmp_path / "out.key"
    assert "written to" in first.stdout
    assert re.fullmatch(r"humeval_power/secret/1 [0-9a-f]{64}\n", key.read_text())
    assert key.stat().st_mode & 0o077 == 0
    again = run("release", hostile, "-o", tmp_path / "again", "--secret", key)
    assert "taken from" in again.stdout
    ratings = [(tmp_path / name / "ratings.csv").read_bytes() for name in ("out", "again")]
    assert ratings[0] == ratings[1]


def test_a_key_inside_the_bundle_is_refused(hostile: Path, tmp_path: Path) -> None:
    done = run("release", hostile, "-o", tmp_path / "out", "--secret", tmp_path / "out" / "key")
    assert done.exit_code == 2
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("wrong", ["include", "rating", "keep", "parameters", "own"])
def test_nothing_is_written_where_something_is_wrong(hostile: Path, tmp_path: Path, wrong: str) -> None:
    readme = tmp_path / "README.md"
    readme.write_text("mine")
    arguments = {
        "include": ("--include", tmp_path / "nowhere.pdf"),
        "rating": ("--scale", "0:1"),
        "keep": ("--keep", "minutes"),
        "parameters": ("--parameters", hostile),
        "own": ("--include", readme),
    }[wrong]
    done = run("release", hostile, "-o", tmp_path / "out", *arguments)
    assert done.exit_code == 2
    assert "Error" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["README.md", "ratings.csv"]


def test_a_bundle_is_not_overwritten(hostile: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run("release", hostile, "-o", out, "--secret-text", KEY)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    done = run("release", hostile, "-o", out, "--secret-text", KEY + "!")
    assert done.exit_code == 2
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    (out / "old.csv").write_text("x")
    forced = run("release", hostile, "-o", out, "--secret-text", KEY, "--force")
    assert forced.exit_code == 0
    assert "old.csv, which is no part of the" in forced.stderr


def test_the_checksums_verify(hostile: Path, tmp_path: Path) -> None:
    odd = tmp_path / "a\nb\\c.txt"
    odd.write_text("x")
    run("release", hostile, "-o", tmp_path / "out", "--secret-text", KEY, "--include", odd)
    assert (tmp_path / "out" / "a\nb\\c.txt").read_text() == "x"
    tool = shutil.which("sha256sum")
    if tool is None:
        pytest.skip("sha256sum is not there")
    done = subprocess.run([tool, "--check", "--strict", "SHA256SUMS"], cwd=tmp_path / "out", check=False)
    assert done.returncode == 0


def test_checksums_are_sorted_by_name() -> None:
    lines = checksums({"b": b"2", "a": b"1"}).splitlines()
    assert lines == [f"{hashlib.sha256(c).hexdigest()}  {name}" for name, c in (("a", b"1"), ("b", b"2"))]


def test_the_released_table_fits_as_the_original_does(tmp_path: Path) -> None:
    pilot = ROOT / "data" / "pilot.csv"
    run("release", pilot, "-o", tmp_path / "out", "--secret-text", KEY, "--pseudonymise-items")
    effects = []
    for path in (pilot, tmp_path / "out" / "ratings.csv"):
        done = run("fit", path, "--systems", "baseline,new", "--json", "-q")
        effects.append(json.loads(done.stdout)["parameters"])
    # The same ratings in another order: the sums differ in the last digits.
    for name, value in effects[0].items():
        assert effects[1][name] == pytest.approx(value, abs=1e-6)


def test_ids_of_platforms_in_kept_columns_are_warned_of(tmp_path: Path) -> None:
    rows = [
        ["w1", f"A1B2C3D4E5F6G7-hit{i}", system, str(i % 5 + 1), "ann@example.org"]
        for i in range(6)
        for system in "AB"
    ]
    rows += [["w2", *row[1:]] for row in rows]
    table = write_table(tmp_path / "t.csv", ["worker", "item", "system", "rating", "mail"], rows)
    done = run("release", table, "--secret-text", KEY, "--keep", "mail")
    told = " ".join(done.stderr.split())
    assert "column 'item': 6 values with what looks like an MTurk id" in told
    assert "Add --pseudonymise-items." in told
    assert "column 'mail': 1 value with what looks like an e-mail address" in told
    hidden = run("release", table, "--secret-text", KEY, "--pseudonymise-items")
    assert "looks like" not in hidden.stderr


def test_worker_ids_in_items_and_included_files_are_warned_of(tmp_path: Path) -> None:
    rows = [
        [w, f"{w}/doc{i}", s, str(i % 5 + 1)]
        for w in ("worker-17", "worker-18")
        for i in range(4)
        for s in "AB"
    ]
    table = write_table(tmp_path / "t.csv", ["worker", "item", "system", "rating"], rows)
    notes = tmp_path / "notes.txt"
    notes.write_text("worker-17 was slow; see /home/ann/study.")
    done = run("release", table, "--secret-text", KEY, "--include", notes, "--licence", "CC BY 4.0")
    told = " ".join(done.stderr.split())
    assert "column 'item': 16 cells with the ids of 2 workers: 'worker-17' (row 2)" in told
    assert "notes.txt: 1 place with the ids of 1 worker: 'worker-17' (line 1)." in told
    assert "notes.txt names a home directory, '/home/ann'" in told
    strict = run(
        "release", table, "--secret-text", KEY, "--include", notes, "--strict", "-o", tmp_path / "out"
    )
    assert strict.exit_code == 3
    assert not (tmp_path / "out").exists()


def test_workers_in_the_notices_of_parameters_get_their_pseudonyms(tmp_path: Path) -> None:
    rows = [
        [w, f"i{i}", s, "3" if w == "straight" else str((i * 7 + ord(s) + len(w)) % 5 + 1)]
        for w in ("straight", "w1", "w22")
        for i in range(12)
        for s in "AB"
    ]
    table = write_table(tmp_path / "t.csv", ["worker", "item", "system", "rating"], rows)
    run("fit", table, "-o", tmp_path / "p.json", "--simulations", "20")
    assert "straight" in (tmp_path / "p.json").read_text()
    run("release", table, "--secret-text", KEY, "--parameters", tmp_path / "p.json", "-o", tmp_path / "out")
    document = json.loads((tmp_path / "out" / "parameters.json").read_text())
    pseudonym = pseudonyms(["straight"], key=KEY, kind="worker")["straight"]
    assert any(notice.endswith(f"more: {pseudonym}.") for notice in document["notices"])
    assert "straight" not in json.dumps(document)


def test_records_lose_the_digests_and_folders_of_what_they_were_made_from(tmp_path: Path) -> None:
    private = tmp_path / "private"
    private.mkdir()
    table = shutil.copy(ROOT / "data" / "pilot.csv", private / "pilot.csv")
    words = ("--scale", "1:5", "--systems", "baseline,new")
    record = tmp_path / "check.json"
    record.write_text(run("check", table, *words, "--json").stdout)
    (source,) = json.loads(record.read_text())["sources"]
    assert source["sha256"] == hashlib.sha256(Path(table).read_bytes()).hexdigest()
    done = run(
        "release",
        table,
        *words,
        "--secret-text",
        KEY,
        "--include",
        record,
        "-o",
        tmp_path / "out",
        "--json",
    )
    released = (tmp_path / "out" / "check.json").read_text()
    assert json.loads(released)["sources"] == [{"name": "pilot.csv", "sha256": None}]
    assert source["sha256"] not in released
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert (
        names
        == set(json.loads(done.stdout)["files"])
        == {
            "README.md",
            "SHA256SUMS",
            "check.json",
            "ratings.csv",
        }
    )


def test_several_criteria_are_released_together_with_their_scales(tmp_path: Path) -> None:
    rows = [
        [f"w{w}", f"i{i}", s, str((w + i) % 5 + 1 if c == "a|b" else (w + i) % 3 * 50), c]
        for c in ("a|b", "<b>")
        for w in range(3)
        for i in range(5)
        for s in ("A", "B", "C")
    ]
    table = write_table(tmp_path / "t.csv", ["worker", "item", "system", "rating", "criterion"], rows)
    done = run("release", table, "--secret-text", KEY, "-o", tmp_path / "out")
    assert done.exit_code == 0, done.stderr
    page = (tmp_path / "out" / "README.md").read_text()
    assert "| a\\|b | 1 to 5 (5 points) | the ratings that occur |" in page
    assert "| \\<b> | 0 to 100 (continuous) | the ratings that occur |" in page
    found = read_table(tmp_path / "out" / "ratings.csv").frame
    assert ratings_from_table(found, criterion="<b>", require_pair=False).n_ratings == 45


def test_the_licence_is_that_of_the_authors_or_said_to_be_missing(hostile: Path, tmp_path: Path) -> None:
    without = run("release", hostile, "--secret-text", KEY, "-o", tmp_path / "a")
    assert "no licence is given" in without.stderr
    assert "**Not stated.**" in (tmp_path / "a" / "README.md").read_text()
    run("release", hostile, "--secret-text", KEY, "-o", tmp_path / "b", "--licence", "CC BY 4.0")
    page = (tmp_path / "b" / "README.md").read_text()
    assert "## Licence\n\nCC BY 4.0\n" in page
    assert "| in the table | 54 |" in page


def test_a_short_key_is_warned_of(hostile: Path) -> None:
    assert "may be guessed" in run("release", hostile, "--secret-text", "1234").stderr


@each_case(
    ("text", "kind"),
    [
        ("A1B2C3D4E5F6G7", "an MTurk id"),
        ("AQWERTYUIOPASD", "an MTurk id"),
        ("see A1B2C3D4E5F6G", "an MTurk id"),
        ("5f8d0d55b54764421b7156d1", "a Prolific id"),
        ("mail to ann.b@example.co.uk, please", "an e-mail address"),
        ("an ACKNOWLEDGEMENT of it", None),
        ("A123", None),
        ("5f8d0d55b54764421b7156d1aa", None),
        ("a @ b", None),
    ],
)
def test_ids_are_told_by_their_look(text: str, kind: str | None) -> None:
    assert platform_of(text) == kind


@given(st.text())
def test_an_escaped_cell_is_harmless_and_has_one_original(cell: str) -> None:
    safe = formula_safe(cell)
    assert original_cells([safe]) == [cell]
    assert safe[:1] not in ("=", "@", "\t", "\r")


@given(st.integers(0, 200))
def test_the_order_of_rows_is_a_permutation(n_rows: int) -> None:
    assert sorted(keyed_order(n_rows, key=KEY)) == list(range(n_rows))


@pytest.mark.parametrize("key", ["short", "ü" * 80])
def test_rows_are_ordered_by_the_hmac_of_their_numbers(key: str) -> None:
    def signed(row: int) -> str:
        return hmac.new(key.encode(), f"row:{row}".encode(), hashlib.sha256).hexdigest()

    assert keyed_order(300, key=key).tolist() == sorted(range(300), key=signed)


def test_the_released_csv_is_read_by_the_package_itself(hostile: Path, tmp_path: Path) -> None:
    run("release", hostile, "-o", tmp_path / "out", "--secret-text", KEY)
    content = (tmp_path / "out" / "ratings.csv").read_text(encoding="utf-8")
    assert len(list(csv.reader(io.StringIO(content)))) == 1 + 54
    assert run("check", tmp_path / "out" / "ratings.csv").exit_code == 0

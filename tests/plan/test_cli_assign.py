"""The command `humeval-power assign`, as a coordinator meets it in a terminal."""

from __future__ import annotations

import csv
import datetime
import io
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from humeval_power.interfaces.cli.main import main
from humeval_power.parameters import preset
from humeval_power.planning.plan.plan import ParameterSource, Plan, PredictedPower
from humeval_power.reporting.plan.sealed.sealing import plan_to_json
from humeval_power.rules import DEFAULT_RULE
from humeval_power.study_counts import StudyCounts

SMALL = ("--workers", 3, "--items", 4, "--seed", 5)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["assign", *map(str, arguments)])


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture
def plan_file(tmp_path: Path) -> Path:
    plan = Plan(
        question="Is the new system better?",
        systems=("old", "new"),
        effect=0.05,
        parameters=preset("high"),
        source=ParameterSource("high"),
        counts=StudyCounts(6, 10, 3),
        rule=DEFAULT_RULE,
        target_power=0.8,
        predicted=PredictedPower(float("nan"), float("nan"), (float("nan"), float("nan")), 0),
        seed=17,
        max_ratings_per_worker=12,
    )
    plan = Plan(
        **{name: getattr(plan, name) for name in Plan.__dataclass_fields__ if name != "predicted"},
        predicted=PredictedPower(plan.recomputed_power(), float("nan"), (float("nan"), float("nan")), 0),
    )
    path = tmp_path / "plan.json"
    path.write_text(plan_to_json(plan, created=datetime.date(2030, 1, 1)))
    return path


def test_the_table_goes_to_standard_output_and_the_summary_to_standard_error() -> None:
    result = run(*SMALL, "--checks", 0.1, "--repeats", 0.1, "--batch-size", 5)
    assert result.exit_code == 0
    rows = rows_of(result.stdout)
    assert list(rows[0]) == ["worker_slot", "batch", "order", "item", "system", "code", "kind"]
    assert len(rows) == 3 * (8 + 1 + 1)
    assert words(result.stderr) == (
        "crossed: 3 workers x 4 items x 2 systems, 3 ratings per item and system, 24 ratings; seed 5 "
        "30 rows: 24 ratings, 3 repeats, 3 checks. "
        "3 worker slots: 8 ratings, 1 repeat, 1 check; 2 batches."
    )
    assert max(map(len, result.stderr.splitlines())) <= 80


def test_uneven_loads_are_told_apart() -> None:
    result = run("--workers", 4, "--items", 5, "--ratings-per-item", 2)
    assert "2 worker slots: 4 ratings, 0 repeats, 0 checks; 1 batch." in result.stderr
    assert "2 worker slots: 6 ratings, 0 repeats, 0 checks; 1 batch." in result.stderr


def test_the_same_seed_writes_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one.csv", "two.csv"):
        assert run(*SMALL, "-o", tmp_path / name, "--quiet").stderr == ""
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    assert run(*SMALL[:-1], 6).stdout != run(*SMALL).stdout


def test_with_a_key_the_table_has_codes_only(tmp_path: Path) -> None:
    table, key = tmp_path / "assignment.csv", tmp_path / "key.csv"
    result = run(*SMALL, "--systems", "old,new", "-o", table, "--key", key)
    assert result.exit_code == 0
    assert "old" not in table.read_text()
    assert "seed 5 (keep it with the key: it makes the codes)" in words(result.stderr)
    systems = {row["code"]: (row["item"], row["system"]) for row in rows_of(key.read_text())}
    assert len(systems) == 8
    blind, open_ = rows_of(table.read_text()), rows_of(run(*SMALL, "--systems", "old,new").stdout)
    assert [systems[row["code"]] for row in blind] == [(row["item"], row["system"]) for row in open_]


def test_a_json_table_is_a_versioned_document(tmp_path: Path) -> None:
    path = tmp_path / "assignment.json"
    assert run(*SMALL, "--checks", 0.1, "--replacements", 2, "-o", path).exit_code == 0
    document = json.loads(path.read_text())
    assert document["schema"] == "humeval_power/assignment/1"
    assert document["seed"] == 5
    assert document["worker_slots"] == ["w01", "w02", "w03"]
    assert document["replacement_slots"] == ["r01", "r02"]
    assert len(document["rows"]) == 27
    check = next(row for row in document["rows"] if row["kind"] == "check")
    assert (check["item"], check["system"], check["code"]) == (None, None, None)
    printed = json.loads(run(*SMALL, "--checks", 0.1, "--json").stdout)
    assert printed["rows"] == document["rows"]


def test_a_blind_document_keeps_the_seed_that_makes_the_codes_to_itself(tmp_path: Path) -> None:
    result = run(*SMALL, "--json", "--key", tmp_path / "key.csv")
    document = json.loads(result.stdout)
    assert {"seed", "command"}.isdisjoint(document)
    assert "system" not in document["rows"][0]


def test_items_are_called_as_their_file_says(tmp_path: Path) -> None:
    names = tmp_path / "items.txt"
    names.write_text("\ufeffq1\r\nq2\r\n q3 \r\nq4\r\n\r\n", encoding="utf-8")
    rows = rows_of(run(*SMALL, "--item-names", names).stdout)
    assert {row["item"] for row in rows} == {"q1", "q2", "q3", "q4"}


def test_a_spare_takes_over_the_work_of_a_slot_that_drops_out() -> None:
    options = (*SMALL, "--batch-size", 4, "--replacements", 2)
    whole = run(*options)
    assert "In reserve: r01, r02. When a slot such as w01 drops out" in words(whole.stderr)
    taken = rows_of(run(*options, "--replace", "r01=w02", "--replace", "r02=w03:2").stdout)
    assert {(row["worker_slot"], row["replaces"]) for row in taken} == {("r01", "w02"), ("r02", "w03")}
    work = {row["order"]: row["code"] for row in rows_of(whole.stdout) if row["worker_slot"] == "w02"}
    assert {row["order"]: row["code"] for row in taken if row["worker_slot"] == "r01"} == work
    assert {row["batch"] for row in taken if row["worker_slot"] == "r02"} == {"2"}


def test_a_plan_file_gives_the_design_the_systems_the_seed_and_the_limit(plan_file: Path) -> None:
    result = run("--plan", plan_file)
    assert result.exit_code == 0
    assert "k-per-item: 6 workers x 10 items" in words(result.stderr)
    assert "seed 17" in words(result.stderr)
    rows = rows_of(result.stdout)
    assert {row["system"] for row in rows} == {"old", "new"}
    assert len(rows) == 60
    refused = run("--plan", plan_file, "--checks", 0.3)
    assert refused.exit_code == 2
    assert "above the limit of 12 (--max-ratings-per-worker)" in words(refused.stderr)
    assert run("--plan", plan_file, "--checks", 0.3, "--max-ratings-per-worker", 14).exit_code == 0


def test_a_plan_leaves_nothing_to_type(plan_file: Path) -> None:
    result = run("--plan", plan_file, "--workers", 5, "--systems", "A,B")
    assert result.exit_code == 2
    assert "The plan says this itself: leave out --workers, --systems." in words(result.stderr)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "Give --plan FILE, or --workers and --items."),
        (["--workers", "5"], "Give --plan FILE, or --workers and --items."),
        (["--workers", "1", "--items", "4"], "--workers must be a whole number of at least 2"),
        ([*SMALL, "--ratings-per-item", "4"], "4 ratings per item and system need 4 different workers"),
        ([*SMALL, "--unpaired"], "This design needs a number of ratings per item."),
        ([*SMALL, "--checks", "0.4"], "0.4 is not in the range 0<=x<=0.3."),
        ([*SMALL, "--repeats", "-0.1"], "-0.1 is not in the range 0<=x<=0.3."),
        ([*SMALL, "--batch-size", "0"], "0 is not in the range x>=1."),
        ([*SMALL, "--batch-size", "1"], "--batch-size must be at least 2 here"),
        ([*SMALL, "--order", "sorted"], "'sorted' is not one of 'random', 'blocked'."),
        ([*SMALL, "--systems", "A"], "name two systems, A first: A,B; got 'A'."),
        ([*SMALL, "--systems", "A,B,C"], "name two systems, A first: A,B; got 'A,B,C'."),
        ([*SMALL, "--systems", "A,A"], "The two systems need two names; got A, A."),
        ([*SMALL, "--max-ratings-per-worker", "7"], "gives a worker 8 ratings, above the limit of 7"),
        (
            [*SMALL, "--max-ratings-per-worker", "8", "--checks", "0.1"],
            "Slot w01 would be shown 9 texts and checks (ratings: 8, repeats: 0, checks: 1), above the "
            "limit of 8 (--max-ratings-per-worker). The ratings leave room for 0 more",
        ),
        ([*SMALL, "--replace", "w02"], "write SPARE=SLOT such as r01=w07, or r01=w07:3; got 'w02'."),
        ([*SMALL, "--replace", "r01=w02:x"], "write SPARE=SLOT such as r01=w07, or r01=w07:3;"),
        ([*SMALL, "--replace", "r01=w02"], "'r01' is no replacement slot; the plan has none"),
        (
            [*SMALL, "--replacements", "1", "--replace", "r01=w09"],
            "'w09' is no worker slot; the plan has w01 to w03.",
        ),
        (
            [*SMALL, "--replacements", "1", "--replace", "r01=w02:2"],
            "Slot w02 has the batches 1 to 1; got 2.",
        ),
        (
            [*SMALL, "--replacements", "2", "--replace", "r01=w02", "--replace", "r02=w02"],
            "the slot 'w02' is named twice.",
        ),
        (
            [*SMALL, "--replacements", "2", "--replace", "r01=w02", "--replace", "r01=w01"],
            "the spare 'r01' is named twice.",
        ),
        ([*SMALL, "--key", "-"], "--key needs a file of its own"),
        ([*SMALL, "-o", "a.csv", "--key", "./a.csv"], "--output and --key must be two files."),
        ([*SMALL, "--item-names", "nowhere.txt"], "There is no file 'nowhere.txt'"),
        (["--plan", "nowhere.json"], "There is no file 'nowhere.json'"),
    ],
)
def test_bad_input_ends_with_2_and_one_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[object], expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert list(tmp_path.iterdir()) == []
    assert result.exit_code == 2
    assert result.stdout == ""
    assert expected in words(result.stderr)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\nb\nc\n", "The design has 4 items; 3 item names were given."),
        ("", "The design has 4 items; 0 item names were given."),
        ("a\n\nc\nd\n", "Item name 2 is blank."),
        ("a\nb\nc\na\n", "Item names 1 and 4 are the same: 'a'."),
    ],
)
def test_item_names_that_do_not_fit_are_refused(tmp_path: Path, text: str, expected: str) -> None:
    names = tmp_path / "items.txt"
    names.write_text(text)
    result = run(*SMALL, "--item-names", names)
    assert result.exit_code == 2
    assert expected in words(result.stderr)


def test_a_file_of_names_that_is_not_text_is_refused(tmp_path: Path) -> None:
    names = tmp_path / "items.txt"
    names.write_bytes(b"one\n\xff\n")
    assert "is not UTF-8 text" in words(run(*SMALL, "--item-names", names).stderr)


def test_neither_table_nor_key_is_overwritten_without_force(tmp_path: Path) -> None:
    table, key = tmp_path / "assignment.csv", tmp_path / "key.csv"
    key.write_text("precious")
    refused = run(*SMALL, "-o", table, "--key", key)
    assert refused.exit_code == 2
    assert "exists already" in words(refused.stderr)
    assert key.read_text() == "precious"
    assert not table.exists()
    assert run(*SMALL, "-o", table, "--key", key, "--force").exit_code == 0

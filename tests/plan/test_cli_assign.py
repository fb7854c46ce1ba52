"""The command `humeval-power assign`, as a coordinator meets it in a terminal."""

import csv
import datetime
import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import cli
import pytest
from cases import each_case, few_fast
from click.testing import Result

from humeval_power.checking.exports.assigned import Key
from humeval_power.checking.outputs import Outputs
from humeval_power.errors import InputError
from humeval_power.parameters import preset
from humeval_power.rules import DEFAULT_RULE
from humeval_power.studies.plan.calls import assign_work
from humeval_power.studies.plan.plan import ParameterSource, Plan, PredictedPower
from humeval_power.studies.plan.sealed_content import plan_to_json
from humeval_power.study_counts import StudyCounts

SMALL = ("--workers", 3, "--items", 4, "--seed", 5)


def run(*words: object, code: int = 0) -> Result:
    return cli.run("assign", *words, code=code)


def table_of(*words: object) -> list[dict[str, str]]:
    return rows_of(run(*words, "--format", "csv").stdout)


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def words(text: str) -> str:
    return " ".join(text.split())


def a_plan() -> Plan:
    return Plan(
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


@pytest.fixture
def plan_file(tmp_path: Path) -> Path:
    plan = a_plan()
    plan = Plan(
        **{name: getattr(plan, name) for name in Plan.__dataclass_fields__ if name != "predicted"},
        predicted=PredictedPower(plan.recomputed_power(), float("nan"), (float("nan"), float("nan")), 0),
    )
    path = tmp_path / "plan.json"
    path.write_text(plan_to_json(plan, created=datetime.date(2030, 1, 1)))
    return path


def test_what_is_printed_says_how_much_work_it_is() -> None:
    result = run(*SMALL, "--checks", 0.1, "--repeats", 0.1, "--batch-size", 5)
    assert result.stderr == ""
    assert words(result.stdout) == (
        "Who rates what when "
        "3 workers rate all 4 items under 2 systems: 24 ratings. "
        "Rows 30 Workers 3 Ratings 24 Repeats 3 Checks 3 "
        "Work of each worker workers ratings repeats checks batches 3 8 1 1 2"
    )
    assert max(map(len, result.stdout.splitlines())) <= 80


def test_the_table_has_a_row_for_each_thing_shown(tmp_path: Path) -> None:
    options = (*SMALL, "--checks", 0.1, "--repeats", 0.1, "--batch-size", 5)
    rows = table_of(*options)
    assert list(rows[0]) == ["worker_slot", "batch", "order", "item", "place", "system", "code", "kind"]
    assert len(rows) == 3 * (8 + 1 + 1)
    for place in ("table.csv", "folder/"):
        answer = run(*options, "-o", f"{tmp_path}/{place}").stdout
        assert answer.startswith("Who rates what when")
        assert "Rows     30" in answer
    assert rows_of((tmp_path / "table.csv").read_text()) == rows
    assert (tmp_path / "folder" / "table.csv").read_bytes() == (tmp_path / "table.csv").read_bytes()


def test_uneven_loads_are_told_apart() -> None:
    result = run("--workers", 4, "--items", 5, "--ratings-per-item", 2)
    assert "2 4 0 0 1 2 6 0 0 1" in words(result.stdout)
    assert "5 items for 2 workers each do not divide by 4 workers" in words(result.stdout)


def test_the_same_seed_writes_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one.csv", "two.csv"):
        assert run(*SMALL, "-o", tmp_path / name, "--quiet").stderr == ""
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    assert table_of(*SMALL[:-1], 6) != table_of(*SMALL)


def test_with_a_key_the_table_has_codes_only(tmp_path: Path) -> None:
    table, key = tmp_path / "assignment.csv", tmp_path / "key.csv"
    result = run(*SMALL, "--systems", "old,new", "-o", table, "--key", key)
    assert "old" not in table.read_text()
    assert "Seed 5 makes the order. Who knows it can work out which system stands at which place" in words(
        result.stderr
    )
    systems = {row["code"]: (row["item"], row["system"]) for row in rows_of(key.read_text())}
    assert len(systems) == 8
    blind, open_ = rows_of(table.read_text()), table_of(*SMALL, "--systems", "old,new")
    assert [systems[row["code"]] for row in blind] == [(row["item"], row["system"]) for row in open_]


def test_the_record_has_the_rows_and_how_they_came_about() -> None:
    record = cli.run_json("assign", *SMALL, "--checks", 0.1, "--replacements", 2)
    assert record["schema"] == "humeval_power/assignment/1"
    assert record["seed"] == 5
    assert record["command"].startswith("humeval-power")
    assert record["worker_slots"] == ["w01", "w02", "w03"]
    assert record["replacement_slots"] == ["r01", "r02"]
    assert len(record["rows"]) == 27
    check = next(row for row in record["rows"] if row["kind"] == "check")
    assert (check["item"], check["system"], check["code"]) == (None, None, None)


BLIND_FILES = {"index.html", "record.json", "table.csv", "who_rates_what.png", "who_rates_what.svg"}


def test_nothing_of_a_blind_table_but_the_key_tells_the_systems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plan_file: Path
) -> None:
    monkeypatch.setattr("sys.argv", ["humeval-power", "assign", "--seed", "987654321"])
    for number, study in enumerate(((*SMALL[:-1], 987654321), ("--plan", plan_file, "--seed", 987654321))):
        folder, key = tmp_path / f"out{number}", tmp_path / f"key{number}.csv"
        record = cli.run_json("assign", *study, "-o", f"{folder}/", "--key", key)
        assert "seed" not in record
        assert (record["command"], record["sources"]) == ("", [])
        assert "system" not in record["rows"][0]
        assert {path.name for path in folder.iterdir()} == BLIND_FILES
        for path in folder.iterdir():
            assert b"987654321" not in path.read_bytes()
            assert key.name.encode() not in path.read_bytes()
        told = run(*study, "--key", tmp_path / f"other{number}.csv", "--details").stdout
        assert "987654321" not in told


def test_items_are_called_as_their_file_says(tmp_path: Path) -> None:
    names = tmp_path / "items.txt"
    names.write_text("\ufeffq1\r\nq2\r\n q3 \r\nq4\r\n\r\n", encoding="utf-8")
    rows = table_of(*SMALL, "--item-names", names)
    assert {row["item"] for row in rows} == {"q1", "q2", "q3", "q4"}


HOSTILE = (
    "<b>bold</b>",
    "a, b",
    "x" * 60,
    "\\textbf{%$&_#}",
    "smile \N{GRINNING FACE}",
    '"quoted"',
    "=1+1",
)


def listed(names: tuple[str, ...]) -> str:
    """As a user types them: what has a comma or a quote in double quotes."""
    text = io.StringIO()
    csv.writer(text).writerow(names)
    return text.getvalue().strip()


def test_many_systems_are_named_or_counted(tmp_path: Path) -> None:
    rows = table_of(*SMALL, "--systems", listed(HOSTILE))
    assert len(rows) == 3 * 4 * 7
    key = tmp_path / "key.csv"
    run(*SMALL, "--systems", listed(HOSTILE), "--key", key)
    assert {row["system"].lstrip("'") for row in rows_of(key.read_text())} == set(HOSTILE)
    assert {row["system"] for row in table_of(*SMALL, "--n-systems", 8)} == set("ABCDEFGH")
    assert len({row["system"] for row in table_of(*SMALL, "--n-systems", 30)}) == 30


@pytest.mark.parametrize("pairing", ["--paired", "--unpaired"])
@few_fast("n_systems", [3, 8, 20], fast=1)
def test_what_is_not_even_is_told_in_numbers(n_systems: int, pairing: str) -> None:
    study = ("--workers", 15, "--items", 40, "--ratings-per-item", 3, "--n-systems", n_systems, pairing)
    printed = run(*study, "--batch-size", 24)
    assert max(map(len, printed.stdout.splitlines())) <= 80
    record = cli.run_json("assign", *study, "--batch-size", 24)
    assert record["systems"] == list("ABCDEFGHIJKLMNOPQRST"[:n_systems])
    found = {one.pop("counted"): one for one in record["balance"]}
    assert found["system"]["item"] == {"worst": 0, "least": 0}
    for counted, said in (
        ("system", "ratings of each system"),
        ("neighbour", "each system shown right after"),
    ):
        line = next(line for line in printed.stdout.splitlines() if said in line)
        assert f" {found[counted]['worker']['worst']}" in line
        assert f" {found[counted]['overall']['worst']}" in line


def test_two_systems_are_told_as_ever() -> None:
    record = cli.run_json("assign", *SMALL)
    assert "balance" not in record
    assert "Balance" not in run(*SMALL).stdout


def test_nothing_of_a_blind_folder_names_a_system_of_many(tmp_path: Path) -> None:
    names = ("human-written", "baseline-x", "large-y")
    study = (*SMALL[:-1], 987654321, "--systems", ",".join(names))
    key = tmp_path / "key.csv"
    run(*study, "-o", f"{tmp_path}/out/", "--key", key)
    for path in (tmp_path / "out").iterdir():
        content = path.read_bytes()
        assert not [name for name in (*names, "987654321") if name.encode() in content]
    for name in names:
        assert name in key.read_text()
    assert not [name for name in names if name in run(*study, "--key", key, "--details", "--force").stdout]


def test_a_spare_takes_over_in_a_study_of_many_systems() -> None:
    options = (*SMALL, "--n-systems", 5, "--batch-size", 10, "--replacements", 1)
    taken = table_of(*options, "--replace", "r01=w02:2")
    left = [row for row in table_of(*options) if row["worker_slot"] == "w02" and row["batch"] == "2"]
    assert [row["code"] for row in taken] == [row["code"] for row in left]
    assert len(taken) == 10


def test_a_spare_takes_over_the_work_of_a_slot_that_drops_out() -> None:
    options = (*SMALL, "--batch-size", 4, "--replacements", 2)
    whole = run(*options)
    assert "r01, r02: when a slot such as w01 drops out" in words(whole.stdout)
    replaced = (*options, "--replace", "r01=w02", "--replace", "r02=w03:2")
    assert "r01 for w02 from batch 1 on; r02 for w03 from batch 2 on" in words(run(*replaced).stdout)
    taken = table_of(*replaced)
    assert {(row["worker_slot"], row["replaces"]) for row in taken} == {("r01", "w02"), ("r02", "w03")}
    work = {row["order"]: row["code"] for row in table_of(*options) if row["worker_slot"] == "w02"}
    assert {row["order"]: row["code"] for row in taken if row["worker_slot"] == "r01"} == work
    assert {row["batch"] for row in taken if row["worker_slot"] == "r02"} == {"2"}


def test_a_plan_file_gives_the_design_the_systems_the_seed_and_the_limit(plan_file: Path) -> None:
    record = cli.run_json("assign", "--plan", plan_file)
    assert record["design"].startswith("6 workers x 10 items")
    assert record["seed"] == 17
    rows = record["rows"]
    assert {row["system"] for row in rows} == {"old", "new"}
    assert len(rows) == 60
    refused = run("--plan", plan_file, "--checks", 0.3, code=2)
    assert "above the limit of 12 (--max-ratings-per-worker)" in words(refused.stderr)
    run("--plan", plan_file, "--checks", 0.3, "--max-ratings-per-worker", 14)


def test_a_plan_leaves_nothing_to_type(plan_file: Path) -> None:
    result = run("--plan", plan_file, "--workers", 5, "--n-systems", 2, code=2)
    assert "The plan says this itself: leave out --n-systems, --workers." in words(result.stderr)


def test_systems_of_a_plan_are_renamed_and_not_added(plan_file: Path) -> None:
    found = json.loads(run("--plan", plan_file, "--systems", "bart,pegasus", "--json").stdout)
    assert {row["system"] for row in found["rows"]} == {"bart", "pegasus"}
    refused = run("--plan", plan_file, "--systems", "x,y,z", code=2)
    assert "--systems names 3; the plan has 2: old, new." in words(refused.stderr)


def test_outputs_under_other_names_say_how_the_systems_are_renamed() -> None:
    texts = {(item, system): "text" for item in ("i1", "i2") for system in ("bart", "pegasus")}
    outputs = Outputs("outputs.csv", ("i1", "i2"), ("bart", "pegasus"), texts)
    with pytest.raises(InputError) as refused:
        outputs.check(("i1", "i2"), ("A", "B"))
    assert "--systems bart,pegasus" in str(refused.value.problems[0])
    outputs.check(("i1", "i2"), ("bart", "pegasus"))


@each_case(
    ("arguments", "expected"),
    [
        ([], "Give --plan FILE, or --workers and --items, or --item-names."),
        (["--workers", "5"], "Give --plan FILE, or --workers and --items, or --item-names."),
        (["--workers", "1", "--items", "4"], "--workers must be a whole number of at least 2"),
        ([*SMALL, "--ratings-per-item", "4"], "4 ratings per item and system need 4 different workers"),
        ([*SMALL, "--unpaired"], "This design needs a number of ratings per item: --ratings-per-item."),
        ([*SMALL, "--checks", "0.4"], "0.4 is not in the range 0<=x<=0.3."),
        ([*SMALL, "--repeats", "-0.1"], "-0.1 is not in the range 0<=x<=0.3."),
        ([*SMALL, "--batch-size", "0"], "0 is not in the range x>=1."),
        ([*SMALL, "--batch-size", "1"], "--batch-size must be at least 2 here"),
        ([*SMALL, "--order", "sorted"], "'sorted' is not one of 'random', 'blocked'."),
        ([*SMALL, "--systems", "A"], "name two different systems or more: A,B,C; got 'A'."),
        ([*SMALL, "--systems", "A,,C"], "name two different systems or more: A,B,C; got 'A,,C'."),
        ([*SMALL, "--systems", "A,B,A"], "name two different systems or more: A,B,C; got 'A,B,A'."),
        ([*SMALL, "--systems", "A\nB,C"], "name two different systems or more: A,B,C;"),
        ([*SMALL, "--n-systems", 4, "--systems", "A,B,C"], "--n-systems is 4, and --systems names 3"),
        ([*SMALL, "--n-systems", 1], "1 is not in the range x>=2."),
        (
            [*SMALL, "--n-systems", 3, "--design", "counterbalanced"],
            "one half for each of two systems; 3 were asked for",
        ),
        ([*SMALL, "--systems", "A,A"], "name two different systems or more: A,B,C; got 'A,A'."),
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
        ([*SMALL, "--key", "-", "-o", "a.csv"], "--key needs a file of its own"),
        ([*SMALL, "-o", "a.csv", "--key", "./a.csv"], "--output and --key must be two files."),
        ([*SMALL, "-o", "a.csv", "--key", "A.csv"], "differ in capitals alone"),
        (
            [*SMALL, "-o", "out/", "--key", "out/table.csv"],
            "--key must lie outside the folder of --output.",
        ),
        ([*SMALL, "-o", "out", "--key", "out/key.csv"], "--key must lie outside the folder of --output."),
        ([*SMALL, "-o", "a.toml"], "-o a.toml: no file of this ending is written."),
        ([*SMALL, "--item-names", "nowhere.txt"], "There is no file 'nowhere.txt'"),
        (["--plan", "nowhere.json"], "There is no file 'nowhere.json'"),
    ],
)
def test_bad_input_ends_with_2_and_one_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[object], expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*arguments, code=2)
    assert list(tmp_path.iterdir()) == []
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
    result = run(*SMALL, "--item-names", names, code=2)
    assert expected in words(result.stderr)


def test_a_file_of_names_that_is_not_text_is_refused(tmp_path: Path) -> None:
    names = tmp_path / "items.txt"
    names.write_bytes(b"one\n\xff\n")
    assert "is not UTF-8 text" in words(run(*SMALL, "--item-names", names, code=2).stderr)


@pytest.mark.parametrize("there", ["assignment.csv", "key.csv"])
def test_neither_table_nor_key_is_overwritten_without_force(
    tmp_path: Path, there: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, key = tmp_path / "assignment.csv", tmp_path / "key.csv"
    (tmp_path / there).write_text("precious")
    with monkeypatch.context() as without_work:
        without_work.setattr("humeval_power.studies.plan.calls.assign_work", None)  # refused before
        refused = run(*SMALL, "-o", table, "--key", key, code=2)
    assert f"{there} exists already" in words(refused.stderr)
    assert (tmp_path / there).read_text() == "precious"
    assert len(list(tmp_path.iterdir())) == 1
    run(*SMALL, "-o", table, "--key", key, "--force")
    assert {row["code"] for row in rows_of(table.read_text())} == {
        row["code"] for row in rows_of(key.read_text())
    }


def test_a_printed_table_does_not_overwrite_its_key(tmp_path: Path) -> None:
    key = tmp_path / "key.csv"
    key.write_text("precious")
    refused = run(*SMALL, "--format", "csv", "--key", key, code=2)
    assert refused.stdout == ""
    assert key.read_text() == "precious"


@pytest.mark.parametrize("seed", [(), ("--seed", 4)])
def test_two_keys_of_one_study_and_seed_have_other_codes_and_the_same_order(
    tmp_path: Path, plan_file: Path, seed: tuple[object, ...]
) -> None:
    for name in ("one", "two"):
        run(
            "--plan",
            plan_file,
            *seed,
            "-o",
            tmp_path / f"{name}.csv",
            "--key",
            tmp_path / f"key_{name}.csv",
        )
    keys = [rows_of((tmp_path / f"key_{name}.csv").read_text()) for name in ("one", "two")]
    assert not {row["code"] for row in keys[0]} & {row["code"] for row in keys[1]}
    assert keys[0][0]["secret"] != keys[1][0]["secret"]
    tables = [rows_of((tmp_path / f"{name}.csv").read_text()) for name in ("one", "two")]
    for row, other in zip(*tables, strict=True):
        assert row.pop("code") != other.pop("code")
        assert row == other
    secret = keys[0][0]["secret"]
    assert len(bytes.fromhex(secret)) == 16
    assert secret not in (tmp_path / "one.csv").read_text()


def test_a_run_that_finds_its_key_uses_it_and_leaves_it(tmp_path: Path) -> None:
    table, key, spare = (tmp_path / name for name in ("table.csv", "key.csv", "spare.csv"))
    study = (*SMALL, "--replacements", 1, "--systems", "old,new", "--key", key)
    run(*study, "-o", table)
    before = key.read_bytes()
    result = run(*study, "--batch-size", 4, "--seed", 6, "--replace", "r01=w02", "-o", spare)
    assert f"Used: {key}" in " ".join(result.stderr.split())
    run(*study, "--replace", "r01=w02", "-o", spare, "--force")
    assert key.read_bytes() == before
    drop = ("worker_slot", "replaces")
    theirs = [row for row in rows_of(table.read_text()) if row["worker_slot"] == "w02"]
    for row, other in zip(rows_of(spare.read_text()), theirs, strict=True):
        assert {name: row[name] for name in row if name not in drop} == {
            name: other[name] for name in other if name not in drop
        }


def test_a_spare_does_nothing_without_the_key_of_the_study(tmp_path: Path) -> None:
    spare = ("--replacements", 1, "--replace", "r01=w02", "-o", tmp_path / "spare.csv")
    refused = run(*SMALL, *spare, "--key", tmp_path / "key.csv", code=2)
    assert "A spare sees the codes of the study" in words(refused.stderr)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (("--workers", 3, "--items", 5), "is the key of another study"),
        (("--workers", 3, "--items", 4, "--systems", "old,newer"), "is the key of another study"),
        (("--workers", 4, "--items", 4, "--design", "items-nested"), "or other outputs are rated"),
        (("--plan", None), "is the key of another study"),
    ],
)
def test_the_key_of_another_study_is_refused(
    tmp_path: Path, plan_file: Path, other: tuple[object, ...], said: str
) -> None:
    key = tmp_path / "key.csv"
    run(*SMALL, "--key", key)
    before = key.read_bytes()
    other = ("--plan", plan_file) if "--plan" in other else other
    refused = run(*other, "--key", key, "-o", tmp_path / "table.csv", "--force", code=2)
    assert said in words(refused.stderr)
    assert key.read_bytes() == before
    assert not (tmp_path / "table.csv").exists()


def test_the_key_of_another_plan_is_refused_where_items_and_systems_have_the_same_names() -> None:
    def planned(n_workers: int) -> Plan:
        return replace(a_plan(), counts=StudyCounts(n_workers, 6, n_workers))

    one = assign_work(planned(4), blind=True)
    key = Key(one.key()[["code", "item", "system"]], "key.csv", one.assignment.bits, one.key()["study"][0])
    assert assign_work(planned(4), key=key, seed=9).assignment.codes == one.assignment.codes
    with pytest.raises(InputError, match="is the key of another study"):
        assign_work(planned(5), key=key)


@each_case(
    ("spoil", "said"),
    [
        (lambda text: re.sub(r"(?m),[^,\n]*,[^,\n]*$", "", text), "a key without the bits"),
        (lambda text: text[: text.rindex("\n", 0, -1) + 1], "it was changed or cut"),
        (
            lambda text: text.replace(",A,", ",x,").replace(",B,", ",A,").replace(",x,", ",B,"),
            "it was changed",
        ),
        (lambda text: text[: text.index("\n") + 1], "a header but no rows"),
        (
            lambda text: re.sub(r",[0-9a-f]{16}", ",zzzzzzzzzzzzzzzz", text),
            "secret and study have 32 digits",
        ),
    ],
)
def test_a_key_that_is_not_as_it_was_written_is_refused(
    tmp_path: Path, spoil: Callable[[str], str], said: str
) -> None:
    key = tmp_path / "key.csv"
    run(*SMALL, "--key", key)
    key.write_text(spoil(key.read_text()))
    before = key.read_bytes()
    refused = run(*SMALL, "--key", key, "-o", tmp_path / "table.csv", "--force", code=2)
    assert said in words(refused.stderr)
    assert key.read_bytes() == before

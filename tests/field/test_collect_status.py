"""While a study is collected: who has done what, what is missing, which spares to call, and never the effect."""

import csv
import io
import json
import time

import numpy as np
import pandas as pd
import pytest
from cases import few_fast

from humeval_power.checking.exports.assigned import assigned_of
from humeval_power.checking.exports.mapping import Export, Mapping, RatingColumns, Template
from humeval_power.exclusions import ExclusionRules
from humeval_power.files.exports.platforms import read_export
from humeval_power.scales import RatingScale
from humeval_power.studies.field.calls import follow_collection
from humeval_power.studies.field.files import read_assignment
from tests.cli import run
from tests.field.crowd import answers, assigned, mapping, rows_of, write

ALL = ("slot", "order", "seconds")


@pytest.fixture
def study(tmp_path):
    """A study in batches of four: w01 is complete, w02 in its third batch, w03 has not begun."""
    rows = assigned(tmp_path, "--batch-size", 4)
    done = [
        one
        for one in answers(rows)
        if one["slot"] == "w01" or (one["slot"] == "w02" and int(str(one["order"])) < 10)
    ]
    return tmp_path, rows, done


def status(folder, *exports, words=(), **asked):
    start = ("collect", "status", *exports, "--assignment", folder / "assignment.csv", "--scale", "1:5")
    return run(*start, *words, **asked)


def record(folder, *exports, words=()):
    return json.loads(status(folder, *exports, words=(*words, "--json")).stdout)


def test_who_has_done_what(study):
    folder, rows, done = study
    out = write(folder / "answers.csv", done)
    found = record(folder, out)
    assert (found["n_done"], found["n_expected"], found["n_workers"]) == (len(done), len(rows), 2)
    slots = {row["slot"]: row for row in found["rows"]}
    assert {name: row["state"] for name, row in slots.items()} == {
        "w01": "complete",
        "w02": "begun",
        "w03": "not begun",
    }
    mine = [row for row in rows if row["worker_slot"] == "w02"]
    whole = [batch for batch in {row["batch"] for row in mine} if max(_orders(mine, batch)) < 10]
    assert (slots["w02"]["done"], slots["w02"]["batches_done"]) == (9, len(whole))
    for kind in ("rating", "repeat", "check"):
        here = sum(row["kind"] == kind for row in rows)
        assert found["kinds"][kind]["expected"] == here
    assert sum(one["done"] for one in found["kinds"].values()) == len(done)


def test_work_that_is_all_done_and_rows_that_are_all_used_are_a_sentence_and_no_picture(study):
    folder, rows, done = study
    some, whole = write(folder / "some.csv", done), write(folder / "whole.csv", answers(rows))
    pages = [status(folder, one, words=("--format", "html")).stdout for one in (some, whole)]
    assert ["How far is each slot?" in page for page in pages] == [True, False]
    assert "100 % of the work is done; people: 3 complete." in pages[1]
    words = (
        "import",
        whole,
        "--assignment",
        folder / "assignment.csv",
        "--key",
        folder / "key.csv",
        "--keep-ids",
    )
    said = run(*words, "--format", "markdown").stdout
    assert "Nothing: each row that was read is used." in said


def _orders(rows, batch):
    return [int(row["order"]) for row in rows if row["batch"] == batch]


def test_what_is_missing_stands_in_a_file_without_systems(study):
    folder, rows, done = study
    status(
        folder,
        write(folder / "answers.csv", done),
        words=("--key", folder / "key.csv", "-o", folder / "now"),
    )
    missing = rows_of(folder / "now" / "missing.csv")
    have = {(one["slot"], one["order"]) for one in done}
    assert [(row["slot"], row["order"]) for row in missing] == [
        (row["worker_slot"], row["order"]) for row in rows if (row["worker_slot"], row["order"]) not in have
    ]
    for path in (folder / "now").iterdir():
        text = path.read_bytes()
        assert b"p-w0" not in text, path
        assert b"old" not in text.replace(b"folder", b""), path
    again = folder / "again.csv"
    status(
        folder, folder / "answers.csv", words=("--secret", folder / "now" / "collect.secret", "-o", again)
    )
    assert [row["worker"] for row in rows_of(again)] == [
        row["worker"] for row in rows_of(folder / "now" / "table.csv")
    ]


def test_ids_are_on_the_terminal_alone(study):
    folder, _, done = study
    out = write(folder / "answers.csv", done)
    assert "p-w01" in status(folder, out).stdout
    # the files of a folder: test_what_is_missing_stands_in_a_file_without_systems
    assert "p-w01" not in status(folder, out, words=("--json",)).stdout
    assert "p-w01" in status(folder, out, words=("--json", "--keep-ids")).stdout


def _by_system(folder, given, change):
    """The answers with the ratings of one system changed."""
    system = {row["code"]: row["system"] for row in rows_of(folder / "key.csv")}
    return [
        {**one, "rating": change(int(str(one["rating"])))} if system.get(str(one["code"])) == "new" else one
        for one in given
    ]


def _plain(found):
    """A record without how it came about, and without the statistics of ratings (all blind to the systems)."""
    rows = [
        {name: value for name, value in row.items() if name not in ("repeats", "same_answer", "agreement")}
        for row in found["rows"]
    ]
    return {**found, "rows": rows, "sources": None, "command": None}


def test_the_ratings_of_a_system_move_nothing_but_statistics_of_workers(study):
    folder, _, done = study
    before = record(folder, write(folder / "a.csv", done))
    after = record(folder, write(folder / "b.csv", _by_system(folder, done, lambda rating: 1 + rating % 5)))
    assert before["rows"] != after["rows"]
    assert _plain(before) == _plain(after)


def test_exchanging_the_systems_moves_no_byte(tmp_path):
    """The key and the assignment say old for new and the other way round: of each item, for that item only."""
    run(
        *("assign", "--workers", 4, "--items", 6, "--systems", "old,new", "--repeats", 0.2, "--seed", 1),
        *("-o", tmp_path / "assignment.csv"),
    )
    rows = rows_of(tmp_path / "assignment.csv")
    out = write(tmp_path / "answers.csv", answers(rows)[:30])
    status(tmp_path, out, words=("-o", tmp_path / "first"))
    before = _everything(tmp_path, out)
    assert {"terminal", "index.html", "record.json", "table.csv"} <= set(before)
    swapped = [
        {
            **row,
            "system": {"old": "new", "new": "old"}[row["system"]]
            if row["item"] in ("i02", "i05")
            else row["system"],
        }
        for row in rows
    ]
    write(tmp_path / "assignment.csv", swapped)
    assert _everything(tmp_path, out) == before


def _everything(folder, out):
    """What is printed and every file of the folder, without digests of what was read."""
    secret = ("--secret", folder / "first" / "collect.secret")  # the same names for the same workers
    words = ("--details", "-o", folder / "now", *secret, "--force")
    shown = {"terminal": _said(status(folder, out, words=words).stdout)}
    files = [path for path in (folder / "now").iterdir() if path.suffix in (".html", ".json", ".csv")]
    return shown | {path.name: _said(path.read_text(encoding="utf-8")) for path in files}


def _said(text):
    return "\n".join(line for line in text.splitlines() if "sha256" not in line.casefold().replace("-", ""))


def test_spares_take_over_what_is_lost(study):
    folder, rows, done = study
    out = write(folder / "answers.csv", done)
    gone = folder / "withdrawn.txt"
    gone.write_text("p-w01\n")
    found = record(folder, out, words=("--withdrawn", gone))
    assert [(one["replace"], one["certain"]) for one in found["spares"]] == [
        ("r01=w01", True),
        (f"r02=w02:{found['rows'][1]['next_batch']}", False),
    ]
    assert found["n_withdrawn"] == 1
    assert found["rows"][0]["state"] == "withdrawn"
    assert "--replace r01=w01 -o r01.csv" in status(folder, out, words=("--withdrawn", gone)).stdout
    first = found["rows"][1]["next_batch"]
    run(
        *("assign", "--outputs", folder / "outputs.csv", "--upload", "label-studio", "--workers", 3),
        *("--scale", "1:5", "--seed", 7, "--repeats", 0.25, "--checks", 0.25, "--batch-size", 4),
        *(
            "--replacements",
            2,
            "--replace",
            f"r01=w02:{first}",
            "--key",
            folder / "key.csv",
            "-o",
            folder / "spare",
        ),
    )
    taken = rows_of(folder / "spare" / "assignment.csv")
    assert taken
    both = ("--assignment", folder / "spare" / "assignment.csv")
    after = record(folder, out, words=both)
    slots = {row["slot"]: row for row in after["rows"]}
    assert after["n_expected"] == len(rows)
    assert slots["r01"]["expected"] == len(taken)
    kept = sum(int(row["batch"]) < first for row in rows if row["worker_slot"] == "w02")
    assert (slots["w02"]["state"], slots["w02"]["expected"]) == ("complete", kept)
    assert after["not_counted"]["taken_over"] == 9 - kept
    whole = write(folder / "r01.csv", [{**one, "worker": "p-spare"} for one in answers(taken)])
    done_now = record(folder, out, whole, words=both)
    assert done_now["states"] == {"complete": 3, "not begun": 1}


def test_a_decoded_table_is_followed_like_the_export_it_came_from(study):
    folder, _, done = study
    out = write(folder / "answers.csv", done)
    run(
        *("import", out, "--map", mapping(folder, *ALL), "--assignment", folder / "assignment.csv"),
        *("--key", folder / "key.csv", "--keep-ids", "-o", folder / "ratings.csv"),
    )
    assert _plain(record(folder, folder / "ratings.csv")) == _plain(record(folder, out))


def test_checks_without_a_rating_leave_the_scale_to_the_ratings(study):
    folder, _, done = study
    out = write(folder / "answers.csv", done)
    run(
        *("import", out, "--map", mapping(folder, *ALL), "--assignment", folder / "assignment.csv"),
        *("--key", folder / "key.csv", "--keep-ids", "-o", folder / "ratings.csv"),
    )
    table = pd.read_csv(folder / "ratings.csv")
    table.loc[table["kind"] == "check", "rating"] = np.nan
    table.to_csv(folder / "blank.csv", index=False)
    table[table["kind"] == "check"].to_csv(folder / "checks.csv", index=False)
    asked = ("collect", "status", "--assignment", folder / "assignment.csv", "--json")
    shown = json.loads(run(*asked, folder / "blank.csv").stdout)
    assert _plain(shown) == _plain(record(folder, folder / "blank.csv"))
    checks = json.loads(run(*asked, folder / "checks.csv").stdout)
    assert checks["n_done"] == int((table["kind"] == "check").sum()) > 0


def test_files_of_each_worker_and_one_twice(study):
    folder, _, done = study
    files = [
        write(folder / f"{slot}.csv", [one for one in done if one["slot"] == slot])
        for slot in ("w01", "w02")
    ]
    found = record(folder, *files, files[0])
    assert found["n_done"] == len(done)
    assert found["not_counted"]["copy"] == sum(one["slot"] == "w01" for one in done)


def test_what_does_not_fit_is_counted_and_the_rest_is_shown(study):
    folder, _, done = study
    done[2]["code"] = "ZZZZZ"
    done[4]["slot"] = "w77"
    done.append({**done[0], "rating": 1 + int(str(done[0]["rating"])) % 5})
    found = record(folder, write(folder / "answers.csv", done))
    assert found["not_counted"] == {
        "copy": 0,
        "taken_over": 0,
        "unknown_code": 1,
        "unknown_slot": 1,
        "not_given": 0,
        "twice": 1,
    }
    assert found["n_done"] == len(done) - 3
    assert found["rows"][0]["extra"] == 2


@pytest.mark.parametrize(
    ("state", "counts"), [("APPROVED", True), ("AWAITING REVIEW", True), ("RETURNED", False)]
)
def test_returned_work_does_not_count_and_calls_for_a_spare(study, state, counts):
    folder, _, done = study
    marked = [{**one, "status": state if one["slot"] == "w01" else "APPROVED"} for one in done]
    found = record(folder, write(folder / "answers.csv", marked))
    assert found["rows"][0]["state"] == ("complete" if counts else "refused")
    assert [one["slot"] for one in found["spares"] if one["certain"]] == ([] if counts else ["w01"])


def test_half_written_and_swapped_files(study):
    folder, _, done = study
    out = write(folder / "answers.csv", done)
    said = " ".join(
        run("collect", "status", out, "--assignment", folder / "key.csv", code=2).stderr.split()
    )
    assert "key.csv: is no assignment" in said
    said = " ".join(status(folder, folder / "assignment.csv", code=2).stderr.split())
    assert "assignment.csv: is not known as an export" in said
    whole = out.read_text()
    out.write_text(whole[:-7])  # the last line is not whole yet
    said = " ".join(status(folder, out, code=2).stderr.split())
    assert f"answers.csv, row {len(done) + 1}: the row has 4 cells, but the header has 6" in said
    out.write_text("\n".join(whole.splitlines()[:-3]) + "\n")
    status(folder, out)
    run("collect", "status", out, code=2)


def test_a_look_is_due_when_all_of_it_is_in(tmp_path):
    rows = [
        {
            "worker_slot": f"w{w}",
            "batch": 1,
            "order": i,
            "item": f"i{i}",
            "code": f"C{w}{i}X",
            "kind": "rating",
            "look": 1 + i // 3,
        }
        for w in range(1, 3)
        for i in range(1, 5)
    ]
    write(tmp_path / "assignment.csv", rows)
    given = [
        {
            "worker": row["worker_slot"],
            "slot": row["worker_slot"],
            "code": row["code"],
            "rating": 1 + at % 5,
        }
        for at, row in enumerate(rows)
        if row["look"] == 1 or row["worker_slot"] == "w1"
    ]
    out = write(tmp_path / "answers.csv", given)
    assert record(tmp_path, out)["looks"] == [
        {"look": "1", "done": 4, "expected": 4},
        {"look": "2", "done": 2, "expected": 4},
    ]
    assert "Look 1  4 of 4 answers: complete, the look may be taken" in status(tmp_path, out).stdout


def _large(n_workers, n_items):
    rng = np.random.default_rng(3)
    worker, item = (
        axis.ravel() for axis in np.meshgrid(np.arange(n_workers), np.arange(n_items), indexing="ij")
    )
    slot = np.char.add("w", np.char.zfill(worker.astype(str), 4))
    code = np.char.add(
        np.char.add("C", np.char.zfill(item.astype(str), 3)), rng.choice(["X", "Y"], len(item))
    )
    table = pd.DataFrame(
        {
            "worker_slot": slot,
            "batch": 1 + item // 20,
            "order": item + 1,
            "item": item,
            "code": code,
            "kind": "rating",
        }
    )
    answered = pd.DataFrame(
        {
            "worker": np.char.add("p", slot),
            "slot": slot,
            "order": (item + 1).astype(str),
            "code": code,
            "rating": rng.integers(1, 6, len(item)).astype(str),
        }
    )
    return table, answered[rng.random(len(item)) < 0.9]


@few_fast("n_workers", [200, 1000])
def test_a_thousand_workers_with_a_hundred_items_take_seconds(n_workers):
    table, answered = _large(n_workers, 100)
    names = ("worker", "slot", "order", "code")
    columns = {name: Template(name) for name in names}
    export = Export(answered, Mapping((RatingColumns(Template("rating")),), columns), "table", "x", "x.csv")
    start = time.perf_counter()
    found = follow_collection([export], assigned_of([(table, "assignment.csv")]))
    text = str(found.document())
    assert time.perf_counter() - start < 60
    assert found.progress.n_done == len(answered)
    assert len(found.content()["rows"]) == n_workers
    assert len(list(csv.reader(io.StringIO(found.artefact(".csv"))))) == n_workers + 1
    assert text


def test_whom_the_sealed_rules_would_leave_out(study):
    folder, rows, done = study
    failed = [
        {**one, "rating": 1 + int(row["right"]) % 5} if row["kind"] == "check" else one
        for row, one in zip(rows, done, strict=False)
    ]
    out = write(folder / "answers.csv", failed)
    found = follow_collection(
        [read_export(out)],
        read_assignment(folder / "assignment.csv"),
        rules=ExclusionRules(failed_checks=0.34),
        scale=RatingScale(1, 5, points=5),
    )
    assert found.broken == {"p-w01", "p-w02"}
    assert [(one.takeover, one.certain) for one in found.spares] == [("r01=w01", True), ("r02=w02", False)]
    text = str(found.document())
    assert "2 workers who failed more than 34 % of their attention checks (w01, w02)" in " ".join(
        text.split()
    )
    assert [row["left_out"] for row in found.content()["rows"]] == [True, True, False]
    before = follow_collection([read_export(out)], read_assignment(folder / "assignment.csv"))
    assert before.broken == frozenset()


def test_a_spare_that_is_lost_is_followed_by_another_for_the_same_slot(study):
    folder, rows, done = study
    mine = [row for row in rows if row["worker_slot"] == "w02" and int(row["batch"]) >= 3]
    for name in ("r01", "r02"):
        taken = [{**row, "worker_slot": name, "replaces": "w02"} for row in mine]
        write(folder / f"{name}.csv", taken)
    given = [*done, {**answers(mine)[0], "worker": "p-spare", "slot": "r01"}]
    out = write(folder / "answers.csv", given)
    first = ("--assignment", folder / "r01.csv")
    found = record(folder, out, words=first)
    assert [one["replace"] for one in found["spares"]] == ["r02=w02:3"]
    both = (*first, "--assignment", folder / "r02.csv")
    after = record(folder, out, words=both)
    assert {row["slot"]: row["state"] for row in after["rows"]} == {
        "w01": "complete",
        "w02": "complete",
        "w03": "not begun",
        "r01": "taken over",
        "r02": "not begun",
    }
    assert (after["n_expected"], after["not_counted"]["taken_over"]) == (len(rows), 2)


def test_pseudonyms_of_an_imported_table_stay(study):
    folder, _, done = study
    out = write(folder / "answers.csv", done)
    run(
        *("import", out, "--assignment", folder / "assignment.csv", "--key", folder / "key.csv"),
        *("-o", folder / "ratings.csv"),
    )
    status(folder, folder / "ratings.csv", words=("-o", folder / "slots.csv"))
    status(folder, out, words=("--secret", folder / "ratings.secret", "-o", folder / "raw.csv"))
    names = [row["worker"] for row in rows_of(folder / "slots.csv")]
    assert names == [row["worker"] for row in rows_of(folder / "raw.csv")]
    assert set(names) - {""} == {row["worker"] for row in rows_of(folder / "ratings.csv")}

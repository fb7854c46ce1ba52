"""Answers under codes become the collected table by the assignment and its key; what does not fit is told."""

import json

import pytest

from tests.cli import run
from tests.field.crowd import answers, assigned, mapping, rows_of, write

ALL = ("slot", "order", "seconds")


@pytest.fixture
def study(tmp_path):
    """The folder of a study, and the rows of its assignment."""
    return tmp_path, assigned(tmp_path)


def decoded(folder, *exports, columns=ALL, words=(), code=0):
    out = folder / "ratings.csv"
    out.unlink(missing_ok=True)
    done = run(
        *(
            "import",
            *exports,
            "--map",
            mapping(folder, *columns),
            "--assignment",
            folder / "assignment.csv",
        ),
        *("--key", folder / "key.csv", "--keep-ids", *words, "-o", out),
        code=code,
    )
    return " ".join(done.stderr.split()) if code else rows_of(out)


def refused(*words):
    return " ".join(run(*words, code=2).stderr.split())


def wanted(folder, rows):
    """What each answer is, by the assignment and the key alone."""
    key = {row["code"]: row for row in rows_of(folder / "key.csv")}
    return [
        {
            "worker": f"p-{row['worker_slot']}",
            "item": row["item"],
            "system": key[row["code"]]["system"] if row["code"] in key else "",
            **{name: row[name] for name in ("kind", "code", "batch", "order", "place")},
            "slot": row["worker_slot"],
            "passed": "1" if row["kind"] == "check" else "",
        }
        for row in rows
    ]


def by_place(rows):
    return sorted(rows, key=lambda row: (row["slot"], int(row["order"])))


def test_every_answer_is_decoded(study):
    folder, rows = study
    found = decoded(folder, write(folder / "answers.csv", answers(rows)))
    names = list(wanted(folder, rows)[0])
    assert by_place([{name: row[name] for name in names} for row in found]) == by_place(
        wanted(folder, rows)
    )
    assert {row["seconds"] for row in found} == {str(5 + at) for at in range(7)}
    assert {row["kind"] for row in rows} == {"rating", "repeat", "check"}


@pytest.mark.parametrize("columns", [("order",), ()])
def test_slots_are_told_by_what_was_answered(tmp_path, columns):
    rows = assigned(tmp_path, "--ratings-per-item", 2, checks=False)
    out = write(tmp_path / "answers.csv", answers(rows))
    found = decoded(tmp_path, out, columns=columns)
    assert sorted((row["slot"], int(row["order"]), row["kind"]) for row in found) == sorted(
        (row["worker_slot"], int(row["order"]), row["kind"]) for row in rows
    )


def test_where_slots_see_the_same_none_is_told_and_repeats_go_by_the_order_of_rows(tmp_path):
    rows = assigned(tmp_path, checks=False)
    found = decoded(tmp_path, write(tmp_path / "answers.csv", answers(rows)), columns=())
    assert {row["slot"] for row in found} == {""}
    start = ("import", tmp_path / "answers.csv", "--assignment", tmp_path / "assignment.csv")
    said = " ".join(run(*start, "--map", mapping(tmp_path)).stderr.split())
    assert "which slot was filled cannot be told of 3 of 3 workers" in said
    assert "Slots are told by the codes" not in said
    assert [row["kind"] for row in found] == [row["kind"] for row in rows]


def test_orders_of_the_platform_tell_repeats_from_firsts(study):
    folder, rows = study
    turned = [{**row, "order": 1000 - int(str(row["order"]))} for row in answers(rows)]
    found = decoded(folder, write(folder / "answers.csv", turned))
    kinds = {(row["worker"], row["code"], row["rating"]): row["kind"] for row in found}
    for row, given in zip(rows, answers(rows), strict=True):
        if row["kind"] == "repeat":  # it was answered before the first, by these orders
            assert kinds[str(given["worker"]), row["code"], str(given["rating"])] == "rating"
    assert len(found) == len(rows)


def test_failed_checks_are_scored(study):
    folder, rows = study
    found = decoded(folder, write(folder / "answers.csv", answers(rows, passed=False)))
    assert {row["passed"] for row in found if row["kind"] == "check"} == {"0"}
    assert {row["passed"] for row in found if row["kind"] != "check"} == {""}


def test_the_same_file_twice_counts_once(study):
    folder, rows = study
    half, whole = answers(rows)[: len(rows) // 2], answers(rows)
    files = [write(folder / name, part) for name, part in (("noon.csv", half), ("night.csv", whole))]
    for columns in (ALL, ("slot", "seconds"), ("slot",)):
        assert len(decoded(folder, *files, columns=columns)) == len(rows)
        assert len(decoded(folder, files[1], files[1], columns=columns)) == len(rows)
    record = json.loads(
        run(
            *("import", *files, "--map", mapping(folder, *ALL), "--assignment", folder / "assignment.csv"),
            *("--key", folder / "key.csv", "--json"),
        ).stdout
    )
    assert record["n_ratings"] == len(rows)
    steps = [(step["rows"], step["reason"]) for one in record["exports"] for step in one["flow"]]
    assert (len(half), "the same answer stands in another row") in steps


def test_misfits_are_refused_each_with_its_row_or_left_out_and_counted(study):
    folder, rows = study
    given = answers(rows)
    given[3]["code"] = "ZZZZZ"
    given[5]["slot"] = "w09"
    given.append({**given[0], "rating": 1 + int(str(given[0]["rating"])) % 5})
    out = write(folder / "answers.csv", given)
    said = decoded(folder, out, code=2)
    for part in (
        "row 5, column 'code': value 'ZZZZZ': stands in no row of the assignment",
        "row 7, column 'slot': value 'w09': is no slot of the assignment",
        f"row {len(given) + 1}, column 'code': value '{given[0]['code']}': was answered before by this worker",
    ):
        assert part in said
    found = decoded(folder, out, words=("--drop-misfits",))
    assert len(found) == len(rows) - 2
    assert not any(row["code"] == "ZZZZZ" for row in found)


def test_an_output_that_its_slot_was_not_given(tmp_path):
    rows = assigned(tmp_path, "--ratings-per-item", 2, checks=False)
    given = answers(rows)
    mine = {row["code"] for row in rows if row["worker_slot"] == "w01"}
    other = next(row["code"] for row in rows if row["code"] not in mine)
    given.append({**given[0], "code": other, "order": 99})
    said = decoded(tmp_path, write(tmp_path / "answers.csv", given), code=2)
    assert f"value '{other}': is an output that the assignment does not give to this slot" in said


def test_one_worker_in_two_slots_is_found_and_said(study):
    folder, rows = study
    given = [{**row, "worker": "p-w01"} if row["slot"] == "w02" else row for row in answers(rows)]
    out = write(folder / "answers.csv", given)
    done = run(
        *("import", out, "--map", mapping(folder, *ALL), "--assignment", folder / "assignment.csv"),
        *("--key", folder / "key.csv", "-o", folder / "ratings.csv"),
    )
    assert "WARNING: One worker filled more than one slot, such as w01 and w02" in " ".join(
        done.stderr.split()
    )
    assert "p-w01" not in (folder / "ratings.csv").read_text() + done.stderr


def test_wrong_files_are_told_for_what_they_are(study):
    folder, rows = study
    out = write(folder / "answers.csv", answers(rows))
    start = ("import", out, "--map", mapping(folder, *ALL))
    table, key = folder / "assignment.csv", folder / "key.csv"
    said = refused(*start, "--assignment", key, "--key", table)
    assert "key.csv: is no assignment" in said
    said = refused(*start, "--assignment", table, "--key", table)
    assert "is no key: a key has the columns code, item and system. This looks like an assignment." in said
    said = refused(*start, "--assignment", out)
    assert "This looks like a table of ratings." in said
    half = folder / "half.csv"
    half.write_text(table.read_text()[: len(table.read_text()) // 2].rsplit(",", 1)[0] + "\n")
    refused(*start, "--assignment", half, "--key", key)
    half.write_text("\n".join(key.read_text().splitlines()[:5]) + "\n")
    said = refused(*start, "--assignment", table, "--key", half)
    assert "codes of the assignment do not stand in the key" in said
    refused(*start, "--drop-misfits")


def test_a_key_of_another_study_is_one_clear_error(study, tmp_path_factory):
    folder, rows = study
    other = tmp_path_factory.mktemp("other")
    assigned(other, "--seed", 8)
    out = write(folder / "answers.csv", answers(rows))
    start = ("import", out, "--map", mapping(folder, *ALL))
    said = refused(*start, "--assignment", folder / "assignment.csv", "--key", other / "key.csv")
    assert "none of the 12 codes of the assignment stands in the key: it is that of another study" in said
    said = refused(*start, "--key", other / "key.csv")
    assert "none of its codes stands in key.csv: it is the key of another study" in said
    said = refused(*start, "--assignment", other / "assignment.csv")
    assert "none of its codes stands in assignment.csv" in said


def test_those_who_withdrew_leave_and_are_counted(study):
    folder, rows = study
    out = write(folder / "answers.csv", answers(rows))
    gone = folder / "withdrawn.txt"
    gone.write_text("p-w02\n\n")
    found = decoded(folder, out, words=("--withdrawn", gone))
    assert {row["worker"] for row in found} == {"p-w01", "p-w03"}
    record = json.loads(
        run("import", out, "--map", mapping(folder, *ALL), "--withdrawn", gone, "--json").stdout
    )
    assert record["n_withdrawn"] == 1
    assert "p-w02" not in json.dumps({**record, "command": ""})
    steps = record["exports"][0]["flow"]
    n_gone = sum(row["worker_slot"] == "w02" for row in rows)
    assert {"step": "dropped", "rows": n_gone, "reason": "ratings of participants who withdrew"} in steps


def test_a_table_that_names_its_systems_needs_no_key(tmp_path):
    run(
        *("assign", "--workers", 3, "--items", 4, "--systems", "old,new", "--seed", 1),
        *("-o", tmp_path / "assignment.csv"),
    )
    rows = rows_of(tmp_path / "assignment.csv")
    out = write(tmp_path / "answers.csv", answers(rows))
    run(
        *("import", out, "--map", mapping(tmp_path, *ALL), "--assignment", tmp_path / "assignment.csv"),
        *("--keep-ids", "-o", tmp_path / "ratings.csv"),
    )
    found = rows_of(tmp_path / "ratings.csv")
    assert [(row["item"], row["system"]) for row in found] == [(row["item"], row["system"]) for row in rows]


def test_the_collected_table_is_analysed_as_it_stands(study):
    folder, rows = study
    decoded(folder, write(folder / "answers.csv", answers(rows)))
    checked = json.loads(run("check", folder / "ratings.csv", "--scale", "1:5", "--json").stdout)
    n = sum(row["kind"] == "rating" for row in rows)
    assert checked["flow"][-1]["rows"] == n


def test_checks_that_the_platform_scored_and_that_have_no_code(tmp_path):
    run(
        *("assign", "--workers", 2, "--items", 5, "--systems", "old,new", "--checks", 0.3, "--seed", 1),
        *("--key", tmp_path / "key.csv", "-o", tmp_path / "assignment.csv"),
    )
    rows = rows_of(tmp_path / "assignment.csv")
    given = [
        {
            "worker": row["worker_slot"],
            **{name: row[name] for name in ("code", "kind", "order")},
            "slot": row["worker_slot"],
            "rating": "" if row["kind"] == "check" else 1 + at % 5,
            "passed": at % 2 if row["kind"] == "check" else "",
        }
        for at, row in enumerate(rows)
    ]
    out = write(tmp_path / "answers.csv", given)
    found = decoded(tmp_path, out, columns=("slot", "order", "kind", "passed"))
    assert [(row["kind"], row["passed"], row["order"]) for row in found] == [
        (str(one["kind"]), str(one["passed"]), str(one["order"])) for one in given
    ]
    assert any(row["kind"] == "check" for row in found)
    n = sum(row["kind"] == "rating" for row in rows)
    assert json.loads(run("check", tmp_path / "ratings.csv", "--json").stdout)["flow"][-1]["rows"] == n


def test_a_check_of_the_studys_own_stays_beside_those_of_the_assignment(study):
    folder, rows = study
    out = write(folder / "answers.csv", answers(rows))
    header, *lines = out.read_text().splitlines()
    asked, seen = [], set()
    worker = header.split(",").index("worker")
    for line in lines:
        name = line.split(",")[worker]
        asked.append(f"{line},{'' if name in seen else '2' if name.endswith('1') else '3'}")
        seen.add(name)
    out.write_text("\n".join([f"{header},Q9", *asked]) + "\n")
    before = decoded(folder, write(folder / "without.csv", answers(rows)))
    mapping(folder, *ALL)
    path = folder / "mapping.toml"
    text = path.read_text()
    path.write_text(text + '\n[checks]\nQ9 = "2"\n')
    words = ("--map", path, "--assignment", folder / "assignment.csv", "--key", folder / "key.csv")
    run("import", out, *words, "--keep-ids", "-o", folder / "with.csv")
    found = rows_of(folder / "with.csv")
    own = [row for row in found if row["code"] == "Q9"]
    assert {(row["worker"], row["kind"], row["passed"]) for row in own} == {
        (name, "check", str(int(name.endswith("1")))) for name in seen
    }
    assert by_place([row for row in found if row["code"] != "Q9"]) == by_place(before)
    followed = ("--assignment", folder / "assignment.csv", "--scale", "1:5", "--json")
    beside = json.loads(run("collect", "status", out, *words[:2], *followed).stdout)
    assert (beside["n_done"], beside["not_counted"]["unknown_code"]) == (len(rows), 0)
    assert beside["n_own_checks"] == len(own)
    n_checks = {
        name: sum(row["kind"] == "check" and row["worker"] == name for row in before) for name in seen
    }
    assert {row["slot"].replace("w", "p-w"): row["checks"] for row in beside["rows"]} == {
        name: n + 1 for name, n in n_checks.items()
    }

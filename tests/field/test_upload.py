"""`assign --outputs --upload`: what workers are shown, under codes, and nothing that names a system."""

import json
from datetime import date

from cases import each_case

from humeval_power.checking.exports.assigned import whole_work
from humeval_power.studies.field.files import read_assignment, read_key
from humeval_power.studies.field.uploads import UPLOADERS
from humeval_power.studies.looks.rating_looks import LookSchedule
from humeval_power.studies.looks.replicates import equal_looks
from humeval_power.studies.looks.stopping_rule import efficacy_of
from humeval_power.studies.plan import assignment as blinding
from humeval_power.studies.plan.sealed_content import plan_to_json
from humeval_power.study_counts import StudyCounts
from tests.cli import run
from tests.field.crowd import rows_of
from tests.field.planned_studies import of_two
from tests.field.upload_cases import hostile_outputs, study_in

SMALL = ("--workers", 3, "--scale", "1:5", "--checks", 0.2, "--repeats", 0.2, "--seed", 5)


def upload(folder, *words, code=0, platforms=tuple(UPLOADERS)):
    asked = [word for name in platforms for word in ("--upload", name)]
    return run("assign", *words, *asked, "--key", folder / "key.csv", "-o", folder / "up", code=code)


def everything(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_no_file_names_a_system_and_every_showing_has_its_code(tmp_path):
    systems = ("SystemAlpha", "SystemBeta", "SystemGamma")
    hostile_outputs(tmp_path / "outputs.csv", systems)
    upload(tmp_path, "--outputs", tmp_path / "outputs.csv", *SMALL)
    files = everything(tmp_path / "up")
    for name in UPLOADERS:
        assert f"{name}/README.md" in files
        assert (f"{name}/mapping.toml" in files) == (name != "prolific")  # which gives no answers back
    for name, content in files.items():
        for system in systems:
            assert system.encode() not in content, name
    rows, key = rows_of(tmp_path / "up" / "assignment.csv"), rows_of(tmp_path / "key.csv")
    assert {row["code"] for row in rows if row["kind"] != "check"} == {row["code"] for row in key}
    assert {row["system"] for row in key} == set(systems)
    assert all(row["code"] and row["right"] in "12345" for row in rows if row["kind"] == "check")
    assert not any(row["right"] for row in rows if row["kind"] != "check")


def test_the_table_is_the_one_without_outputs_but_for_the_checks(tmp_path):
    hostile_outputs(tmp_path / "outputs.csv")
    names = tmp_path / "names.txt"
    names.write_text("".join(f"s{number:02d}\n" for number in range(1, 13)))
    upload(tmp_path, "--outputs", tmp_path / "outputs.csv", *SMALL)
    run(
        *(
            "assign",
            "--workers",
            3,
            "--items",
            12,
            "--systems",
            "old,new",
            "--item-names",
            names,
            "--checks",
            0.2,
        ),
        *("--repeats", 0.2, "--seed", 5, "--key", tmp_path / "key.csv", "-o", tmp_path / "plain.csv"),
    )
    with_outputs, plain = rows_of(tmp_path / "up" / "assignment.csv"), rows_of(tmp_path / "plain.csv")
    for row in with_outputs:
        row.pop("right")
        if row["kind"] == "check":
            row["code"] = ""
    assert with_outputs == plain


def test_the_same_seed_and_bits_write_the_same_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr(blinding, "new_bits", lambda: bytes(range(16)))
    hostile_outputs(tmp_path / "outputs.csv")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        upload(tmp_path / name, "--outputs", tmp_path / "outputs.csv", *SMALL)
    assert everything(tmp_path / "one") == everything(tmp_path / "two")


def test_outputs_and_assignment_that_differ_are_told_on_both_sides(tmp_path):
    hostile_outputs(tmp_path / "outputs.csv")
    names = tmp_path / "names.txt"
    names.write_text("".join(f"t{number:02d}\n" for number in range(1, 13)))
    said = upload(
        *(
            tmp_path,
            "--outputs",
            tmp_path / "outputs.csv",
            *SMALL,
            "--item-names",
            names,
            "--systems",
            "old,newer",
        ),
        code=2,
    ).stderr
    for part in (
        "no outputs of the items 't01'",
        "outputs of the items 's01'",
        "system 'newer'",
        "system 'new'",
    ):
        assert part in " ".join(said.split())
    assert not (tmp_path / "up").exists()
    assert not (tmp_path / "key.csv").exists()


def test_the_number_of_items_must_be_that_of_the_plan(tmp_path):
    hostile_outputs(tmp_path / "outputs.csv")
    said = upload(tmp_path, "--outputs", tmp_path / "outputs.csv", *SMALL, "--items", 10, code=2).stderr
    assert "has outputs of 12 items; the study has 10" in said


@each_case(
    ("words", "said"),
    [
        (("--outputs", "outputs.csv"), "need each other"),
        (("--upload", "label-studio"), "need each other"),
        (("--rating-question", "a=b"), "there is nothing to upload"),
        (("--labels", "1=bad"), "there is nothing to upload"),
        (("--outputs", "outputs.csv", "--upload", "label-studio"), "needs --key FILE"),
        (("--outputs", "outputs.csv", "--upload", "label-studio", "--key", "k.csv"), "add -o FOLDER"),
        (
            ("--outputs", "outputs.csv", "--upload", "label-studio", "--key", "k.csv", "-o", "x.csv"),
            "add -o FOLDER",
        ),
        (
            ("--outputs", "outputs.csv", "--upload", "label-studio", "--key", "k.csv", "-o", "x/k"),
            "--upload needs the scale",
        ),
        (("--rating-question", "no sign"), "write CRITERION=QUESTION"),
        (("--labels", "bad"), "write POINT=WORDS"),
    ],
)
def test_half_of_what_is_needed_is_refused(tmp_path, monkeypatch, words, said):
    monkeypatch.chdir(tmp_path)
    hostile_outputs(tmp_path / "outputs.csv")
    found = run("assign", "--workers", 3, "--items", 12, *words, code=2)
    assert said in " ".join(found.stderr.split())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["outputs.csv"]


def test_scale_labels_and_checks_that_do_not_fit_are_told_at_once(tmp_path):
    hostile_outputs(tmp_path / "outputs.csv")
    checks = tmp_path / "checks.csv"
    checks.write_text("text,right\nChoose 9,9\n")
    said = upload(
        *(tmp_path, "--outputs", tmp_path / "outputs.csv", *SMALL, "--check-texts", checks),
        *(
            "--labels",
            "0=none,5=good",
            "--rating-question",
            "a=Is it good?",
            "--rating-question",
            "a=Is it?",
        ),
        code=2,
    ).stderr
    for part in ("asks for 9", "labels of 0", "'a' is asked twice"):
        assert part in said


def test_own_checks_are_dealt_and_each_is_met_before_one_comes_again(tmp_path):
    hostile_outputs(tmp_path / "outputs.csv")
    checks = tmp_path / "checks.csv"
    checks.write_text("text,right\nTake two,2\nTake four,4\nTake one,1\n")
    words = ("--workers", 3, "--scale", "1:5", "--checks", 0.3, "--seed", 5, "--check-texts", checks)
    upload(tmp_path, "--outputs", tmp_path / "outputs.csv", *words, platforms=["label-studio"])
    for slot in ("w01", "w02", "w03"):
        tasks = json.loads((tmp_path / "up" / "label-studio" / "tasks" / f"{slot}.json").read_text())
        met = [task["data"]["text"] for task in tasks if task["data"]["text"].startswith("Take ")]
        assert len(met) == 7
        assert len(set(met[:3])) == len(set(met[3:6])) == 3


def test_a_spare_is_shown_what_the_slot_would_have_been(tmp_path):
    hostile_outputs(tmp_path / "outputs.csv")
    words = ("--outputs", tmp_path / "outputs.csv", *SMALL, "--batch-size", 10, "--replacements", 2)
    for name in ("whole", "spare"):
        (tmp_path / name).mkdir()
    upload(tmp_path / "whole", *words)
    (tmp_path / "spare" / "key.csv").write_bytes((tmp_path / "whole" / "key.csv").read_bytes())
    upload(tmp_path / "spare", *words, "--replace", "r01=w02:2")
    assigned = [tmp_path / name / "up" / "assignment.csv" for name in ("whole", "spare")]
    found = whole_work(read_assignment(*assigned), read_key(tmp_path / "whole" / "key.csv"))
    assert found.first_taken == {"w02": 2}
    tasks = {
        slot: json.loads((tmp_path / folder / "up" / "label-studio" / "tasks" / f"{slot}.json").read_text())
        for folder, slot in (("whole", "w02"), ("spare", "r01"))
    }
    late = [one["data"]["text"] for one in tasks["w02"] if one["data"]["batch"] >= 2]
    assert [one["data"]["text"] for one in tasks["r01"]] == late
    assert any("attention check" in text for text in late)


def test_a_plan_of_several_criteria_asks_a_question_of_each(tmp_path):
    hostile_outputs(tmp_path / "outputs.csv")
    plan = tmp_path / "plan.json"
    run(
        *(
            "plan",
            "--preset",
            "high",
            "--effect",
            0.3,
            "--items",
            12,
            "--max-workers",
            8,
            "--simulations",
            20,
        ),
        *("--systems", "old,new", "--criteria", "adequacy,fluency", "--cost-per-rating", "0.1", "-o", plan),
        code=None,
    )
    words = ("--plan", plan, "--outputs", tmp_path / "outputs.csv", "--scale", "1:5")
    said = upload(tmp_path, *words, "--rating-question", "adequacy=Is it all there?", code=2).stderr
    assert "Questions are asked of adequacy; the plan has the criteria adequacy, fluency" in " ".join(
        said.split()
    )
    upload(tmp_path, *words, "--labels", "1=bad", platforms=["html"])
    study = study_in(tmp_path / "up" / "html" / "w01.html")
    assert [(one["criterion"], one["text"], one["labels"]) for one in study["questions"]] == [
        ("adequacy", "How good is this text? (adequacy)", {"1": "bad"}),
        ("fluency", "How good is this text? (fluency)", {"1": "bad"}),
    ]


def test_pages_of_an_earlier_run_that_stay_in_the_folder_are_told(tmp_path):
    hostile_outputs(tmp_path / "outputs.csv")
    words = ("--outputs", tmp_path / "outputs.csv", "--scale", "1:5", "--seed", 5)
    upload(tmp_path, *words, "--workers", 4, platforms=["html"])
    said = upload(tmp_path, *words, "--workers", 3, "--force", platforms=["html"]).stderr
    assert "also holds html/w04.html, which this run did not write" in " ".join(said.split())


def test_a_plan_with_looks_says_where_workers_wait(tmp_path):
    hostile_outputs(tmp_path / "outputs.csv")
    schedule = LookSchedule(equal_looks("items", 2), efficacy_of("lan-demets-obrien-fleming"))
    plan = tmp_path / "plan.json"
    plan.write_text(
        plan_to_json(of_two(StudyCounts(6, 12, 6), looks=schedule), created=date(2026, 1, 2)),
        encoding="utf-8",
    )
    words = ("--plan", plan, "--outputs", tmp_path / "outputs.csv", "--batch-size", 6)
    said = " ".join(upload(tmp_path, *words, platforms=["html"]).stderr.split())
    rows = rows_of(tmp_path / "up" / "assignment.csv")
    last = max(int(row["batch"]) for row in rows if row["look"] == "1")
    assert (
        f"The plan has 2 looks: let workers stop after their batches of the first one (batch {last} at"
        in said
    )

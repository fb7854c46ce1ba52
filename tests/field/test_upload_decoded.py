"""From outputs to ratings by commands alone: assign, a crowd, import with the assignment and its key."""

import pytest
from cases import few_fast

from humeval_power.scales import RatingScale
from humeval_power.studies.field.files import read_outputs
from humeval_power.studies.field.form import FormRow, Question, RatingForm
from tests.cli import run
from tests.field import platform_crowd as crowd
from tests.field.crowd import rows_of
from tests.field.upload_cases import hostile_outputs

EXPORTS = {
    "mturk": crowd.mturk_results,
    "qualtrics": crowd.qualtrics_results,
    "google-forms": crowd.gathered_answers,
}


def assigned(folder, platform, scale, criteria):
    """Upload outputs for three workers; the rows of the assignment, and the form that they see."""
    hostile_outputs(folder / "outputs.csv", source=True)
    questions = [
        word for name in criteria for word in ("--rating-question", f"{name}=How {{slot}} is its {name}?")
    ]
    run(
        *(
            "assign",
            "--outputs",
            folder / "outputs.csv",
            "--upload",
            platform,
            "--workers",
            3,
            "--scale",
            scale,
        ),
        *("--checks", 0.2, "--repeats", 0.2, "--batch-size", 9, "--seed", 5, *questions),
        *("--key", folder / "key.csv", "-o", folder / "up"),
    )
    rows = rows_of(folder / "up" / "assignment.csv")
    outputs = read_outputs(folder / "outputs.csv")
    code_of = {row["code"]: (row["item"], row["system"]) for row in rows_of(folder / "key.csv")}
    shown = [
        FormRow(
            row["worker_slot"],
            int(row["batch"]),
            int(row["order"]),
            row["kind"],
            row["code"],
            outputs.texts.get(code_of.get(row["code"], ("", "")), "a check"),
            "",
            int(row["right"]) if row["right"] else None,
        )
        for row in rows
    ]
    asked = tuple(Question(name, f"How {{slot}} is its {name}?", {}) for name in criteria)
    return RatingForm("t", "i", asked, RatingScale.parse(scale), tuple(shown)), code_of


@few_fast("platform", EXPORTS, fast=1)
@pytest.mark.parametrize(("scale", "criteria"), [("1:5", ("quality",)), ("0:100", ("a b", "c"))])
def test_items_systems_and_kinds_come_back_with_every_rating(tmp_path, platform, scale, criteria):
    form, code_of = assigned(tmp_path, platform, scale, criteria)
    folder = tmp_path / "up" / platform
    files = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    answers = crowd.answers_of(form)
    exports = EXPORTS[platform](files, form, answers, tmp_path)
    told = run(
        *(
            "import",
            *exports,
            "--map",
            folder / "mapping.toml",
            "--assignment",
            tmp_path / "up" / "assignment.csv",
        ),
        *("--key", tmp_path / "key.csv", "--keep-ids", "-o", tmp_path / "ratings.csv"),
    )
    assert "filled by more than one worker" not in told.stdout + told.stderr
    wanted = {
        (
            *(one.slot, one.order, criterion if len(criteria) > 1 else ""),
            *(*code_of.get(one.code, ("", "")), one.kind, crowd.worker_of(one.slot)),
            float(answers[one.slot, one.order, criterion]),
        )
        for one in form.shown
        for criterion in criteria
    }
    found = [
        (
            *(row["slot"], int(row["order"]), row.get("criterion", "")),
            *(row["item"], row["system"], row["kind"], row["worker"], float(row["rating"])),
        )
        for row in rows_of(tmp_path / "ratings.csv")
    ]
    assert len(found) == len(wanted)
    assert set(found) == wanted


def test_a_worker_in_two_slots_is_found_and_said(tmp_path, monkeypatch):
    form, _ = assigned(tmp_path, "mturk", "1:5", ("quality",))
    folder = tmp_path / "up" / "mturk"
    files = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}
    monkeypatch.setattr(crowd, "worker_of", lambda slot: "ATWICE" if slot != "w03" else "AONCE")
    exports = crowd.mturk_results(files, form, crowd.answers_of(form), tmp_path)
    told = run(
        *(
            "import",
            *exports,
            "--map",
            folder / "mapping.toml",
            "--assignment",
            tmp_path / "up" / "assignment.csv",
        ),
        *("--key", tmp_path / "key.csv", "--keep-ids", "-o", tmp_path / "ratings.csv"),
        code=None,
    )
    said = " ".join((told.stdout + told.stderr).split())
    assert "One worker filled more than one slot, such as w01 and w02" in said

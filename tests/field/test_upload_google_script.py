"""The script for Google Forms does what it says, against a stand-in for Google's services."""

import csv
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from cases import few_fast

from humeval_power.studies.field.uploads import UPLOADERS
from tests.field import platform_crowd as crowd
from tests.field.form_cases import form_of
from tests.field.test_upload_and_back import read_back, same

NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="there is no Node")


class Account:
    """Somebody's account in which the script runs."""

    def __init__(self, folder, form):
        self.files = UPLOADERS["google-forms"].write(form)
        self.script, self.state = folder / "form.gs", folder / "state.json"
        self.script.write_text(self.files["form.gs"], encoding="utf-8")

    def run(self, call, minutes=0):
        stand_in = Path(__file__).with_name("google.js")
        words = [str(NODE), str(stand_in), str(self.script), str(self.state), call, str(minutes)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(self.state.read_text(encoding="utf-8"))

    def answer(self, form, answers):
        """Every worker fills the form of a slot, by the questions as they stand in it."""
        state = json.loads(self.state.read_text(encoding="utf-8"))
        for slot, made in zip(form.slots, state["forms"].values(), strict=True):
            titles = [one["title"] for one in made["items"] if one["type"] != "PAGE_BREAK"]
            points = [
                answers[slot, one.order, q.criterion] for one in form.of_slot(slot) for q in form.questions
            ]
            given = dict(zip(titles, [crowd.worker_of(slot), *map(str, points)], strict=True))
            made["responses"].append({"at": "2026-01-02T10:00:00Z", "answers": given})
        self.state.write_text(json.dumps(state), encoding="utf-8")


@pytest.mark.parametrize(
    ("scale", "kind", "shown"),
    [
        ("1:5", "SCALE", {"bounds": [1, 5]}),
        ("0:10", "SCALE", {"bounds": [0, 10]}),
        ("-3:3", "MULTIPLE_CHOICE", {"choices": ["-3", "-2", "-1", "0", "1", "2", "3"]}),
        ("0:100", "TEXT", {"between": [0, 100]}),
    ],
)
@few_fast("criteria", [("quality",), ("a", "slot")], fast=1)
def test_forms_are_made_and_their_answers_come_back(tmp_path, scale, kind, shown, criteria):
    form = form_of(scale=scale, criteria=criteria)
    account = Account(tmp_path, form)
    state = account.run("makeForms")
    assert len(state["forms"]) == 3
    for slot, made in zip(form.slots, state["forms"].values(), strict=True):
        assert made["title"] == "A study </script>"
        assert made["description"] == form.instructions
        pages = [one for one in made["items"] if one["type"] == "PAGE_BREAK"]
        for page, one in zip(pages, form.of_slot(slot), strict=True):
            assert page["help"] == (f"{one.source}\n\n----------\n\n{one.text}" if one.source else one.text)
        asked = [one for one in made["items"] if one["type"] != "PAGE_BREAK"]
        assert (asked[0]["type"], asked[0]["title"]) == ("TEXT", "Participant ID")
        assert all(one["required"] for one in asked)
        for one in asked[1:]:
            assert one["type"] == kind
            assert shown.items() <= one.items()
    answers = crowd.answers_of(form)
    account.answer(form, answers)
    rows = account.run("gatherAnswers")["books"]["b0"]["answers"]
    assert rows == [list(map(str, row)) for row in gathered_rows(account.files, form, answers, tmp_path)]
    table = read_back(tmp_path, account.files["mapping.toml"], [tmp_path / "answers.csv"])
    same(form, table, answers)


def gathered_rows(files, form, answers, folder):
    """What the slow twin of the script, in Python, gathers."""
    (path,) = crowd.gathered_answers(files, form, answers, folder)
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_each_slot_has_a_link_and_one_that_fills_the_participant_in(tmp_path):
    state = Account(tmp_path, form_of()).run("makeForms")
    header, *rows = state["books"]["b0"]["links"]
    assert header == ["slot", "link", "link for Prolific", "edit"]
    assert [row[0] for row in rows] == ["w001", "w002", "w003"]
    assert len({row[1] for row in rows}) == 3
    assert all(row[2].endswith("&entry.1={{%PROLIFIC_PID%}}") for row in rows)


def test_it_stops_in_time_and_goes_on_where_it_stopped(tmp_path):
    form = form_of(slots=7, load=4)
    account = Account(tmp_path, form)
    made = [len(account.run("makeForms", minutes=1)["forms"]) for _ in range(3)]
    assert made == [5, 7, 7]
    answers = crowd.answers_of(form)
    account.answer(form, answers)
    found = [len(account.run("gatherAnswers", minutes=1)["books"]["b0"]["answers"]) for _ in range(2)]
    assert found[0] < found[1] == 1 + len(form.shown)
    assert len(account.run("gatherAnswers")["books"]["b0"]["answers"]) == 1 + len(
        form.shown
    )  # anew, not twice


def test_what_people_type_does_not_run_in_the_sheet(tmp_path, monkeypatch):
    form = form_of(slots=1)
    account = Account(tmp_path, form)
    account.run("makeForms")
    monkeypatch.setattr(crowd, "worker_of", lambda _: "=IMPORTXML(1)")
    account.answer(form, crowd.answers_of(form))
    rows = account.run("gatherAnswers")["books"]["b0"]["answers"]
    assert {row[1] for row in rows[1:]} == {"=IMPORTXML(1)"}

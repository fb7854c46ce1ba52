"""Answers that are the same in every study: kept in the user's settings, named where used, never in the way."""

import json
from pathlib import Path

import pytest
from forms_documents import ANALYSIS, DOCUMENTS
from study_files import run

from humeval_power.studies.report.config import MEMORY, REMEMBERED, SOURCE, TEXTS, ReportConfig
from humeval_power.studies.report.fields import Given
from humeval_power.studies.report.heds.criterion import heds_fields
from humeval_power.studies.report.sources import memory_path

ANSWERS = """[report]
paper = "https://example.org/this-study"
ethics = "Board of \\"A\\""
payment = "12 USD an hour"
person.name = "Ada"
heds."5.2" = "no"
[report.criteria.fluency]
definition = "How easily a text reads."
"""


@pytest.fixture(autouse=True)
def settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "settings"))
    assert tmp_path in memory_path().parents
    return memory_path()


@pytest.fixture
def study(tmp_path: Path) -> Path:
    (tmp_path / "analysis.json").write_text(json.dumps(ANALYSIS))
    (tmp_path / "answers.toml").write_text(ANSWERS)
    return tmp_path


def fields(study: Path, *words: object) -> dict[str, tuple[str | None, str | None]]:
    text = run("report", study / "analysis.json", "--form", "heds", "--json", *words).stdout
    return {one["field"]: (one["answer"], one["source"]) for one in json.loads(text)["fields"]}


def test_what_is_remembered_describes_a_team_and_nothing_of_a_study() -> None:
    of_a_study = {"paper", "title", "hypothesis", "data_link", "code_link", "experiment", "existing_data"}
    assert not of_a_study & set(REMEMBERED)
    assert {name for name in REMEMBERED if "." not in name} < set(TEXTS)


def test_an_answer_is_kept_used_in_the_next_study_and_forgotten(study: Path, settings: Path) -> None:
    assert "Nothing is remembered yet" in run("report", "remember").stdout
    assert not settings.exists()
    run("report", "remember", study / "answers.toml")
    held = settings.read_text()
    assert "this-study" not in held
    assert "fluency" not in held
    listed = run("report", "remember").stdout
    assert "12 USD an hour" in listed
    used = run("report", study / "analysis.json", "--form", "heds", "--quiet").stderr
    assert "person.name, ethics, payment" in " ".join(used.split())
    found = fields(study)
    assert found["5.1"] == ('Board of "A"', MEMORY)
    assert found["1.3.1.1"] == ("Ada", MEMORY)
    assert fields(study, "--no-memory")["5.1"] == (None, None)
    run("report", "remember", "--forget", "ethics")
    assert fields(study)["5.1"] == (None, None)
    told = run("report", "remember", "--forget", "ethics", code=2).stderr
    assert "is not remembered" in told
    run("report", "remember", "--forget", "all")
    assert "Nothing is remembered yet" in run("report", "remember").stdout


def test_the_answers_of_a_study_come_before_what_is_remembered(study: Path, tmp_path: Path) -> None:
    run("report", "remember", study / "answers.toml")
    own = tmp_path / "own.toml"
    own.write_text('[report]\nethics = "Another board"\n')
    assert fields(study, "--answers", own)["5.1"] == ("Another board", SOURCE)
    assert fields(study, "--answers", own)["1.3.1.1"] == ("Ada", MEMORY)


def test_what_the_files_of_a_study_say_comes_before_what_is_remembered() -> None:
    known = {field.number: field for field in heds_fields(DOCUMENTS)}
    assert known["3.2.3"].state == "suggested"  # by the platform of the plan
    memory = ReportConfig({"recruitment": "Students.", "medium": "Paper.", "consent": "Signed."})
    both = {field.number: field for field in heds_fields(DOCUMENTS, ReportConfig().with_memory(memory))}
    assert both["3.2.3"] == known["3.2.3"]
    own = {field.number: field for field in heds_fields(DOCUMENTS, memory)}
    assert own["3.2.3"].answer == "Students."
    assert memory.given("recruitment", known=Given("x", "plan")) == Given("Students.", SOURCE)


def test_a_template_shows_what_is_remembered_and_does_not_write_it_as_an_answer(study: Path) -> None:
    run("report", "remember", study / "answers.toml")
    run("report", study / "analysis.json", "--template", study / "new.toml")
    text = (study / "new.toml").read_text()
    assert "remembered: 12 USD an hour" in text
    assert '\npayment = ""' in text


def test_the_paper_uses_no_memory(study: Path) -> None:
    run("report", "remember", study / "answers.toml")
    assert "Remembered" not in run("report", study / "analysis.json", "--form", "paper").stderr


def test_a_spoilt_memory_is_told_with_its_remedy(study: Path, settings: Path) -> None:
    settings.parent.mkdir(parents=True)
    settings.write_text("[report]\npayment = 3\n")
    told = " ".join(run("report", study / "analysis.json", code=2).stderr.split())
    assert "answers.toml, line 2, field 'payment'" in told
    assert "--no-memory" in told
    run("report", study / "analysis.json", "--no-memory")
    run("report", "remember", "--forget", "all")
    run("report", study / "analysis.json")


def test_a_study_without_such_answers_has_nothing_to_remember(study: Path, settings: Path) -> None:
    (study / "answers.toml").write_text('[report]\npaper = "x"\n')
    told = " ".join(run("report", "remember", study / "answers.toml", code=2).stderr.split())
    assert "no answer that holds for every study" in told
    assert not settings.exists()


def test_a_home_that_cannot_be_written_is_told(
    study: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    told = " ".join(run("report", "remember", study / "answers.toml", code=2).stderr.split())
    assert "is a file, not a directory" in told
    run("report", study / "analysis.json", "--form", "heds")

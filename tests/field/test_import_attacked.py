"""What an import must not do in silence: guess, lose a filter, read twice, or hide a rating that is nobody's."""

import json

import pytest
from cases import each_case

from humeval_power.checking.exports.imported import imported
from humeval_power.checking.exports.mapping import Template
from humeval_power.errors import InputError
from humeval_power.files.exports.mapping_file import read_mapping
from humeval_power.files.exports.platforms import read_export
from humeval_power.files.tables import read_ratings
from humeval_power.studies.field.result_import import draft_text
from tests.cli import run
from tests.field import exports
from tests.field.test_platforms import CASES, ratings_of


def said_by(path, mapping=None):
    with pytest.raises(InputError) as refused:
        imported([read_export(path)], None if mapping is None else read_mapping(mapping)[0])
    return str(refused.value)


@pytest.fixture
def survey(tmp_path):
    """A survey of Qualtrics, and its mapping as text."""
    path = tmp_path / "survey.csv"
    path.write_text(exports.QUALTRICS)
    return path


@each_case("name", CASES)
def test_a_draft_as_it_is_drawn_gives_the_same_ratings(tmp_path, name):
    path, mapping = tmp_path / name, tmp_path / "mapping.toml"
    path.write_text(CASES[name][0])
    found, by_itself = ratings_of(path)
    mapping.write_text(draft_text(found))
    assert ratings_of(path, read_mapping(mapping)[0])[1] == by_itself


def test_a_mapping_that_names_its_platform_takes_participants_too(tmp_path, survey):
    people, mapping, out = tmp_path / "prolific.csv", tmp_path / "m.toml", tmp_path / "ratings.csv"
    people.write_text(exports.PROLIFIC)
    mapping.write_text(exports.QUALTRICS_MAPPING.replace("ratings =", 'platform = "qualtrics"\nratings ='))
    run("import", survey, people, "--map", mapping, "-o", out)
    assert "submission_status" in out.read_text().splitlines()[0]


def test_a_slot_of_which_nothing_is_said_is_refused(tmp_path, survey):
    mapping = tmp_path / "m.toml"
    mapping.write_text(exports.QUALTRICS_MAPPING.replace('10 = { item = "s03", system = "sysA" }\n', ""))
    assert "column '10_Q5': nothing says what item and system it shows" in said_by(survey, mapping)


def test_ratings_that_are_nobodys_are_refused_and_get_no_pseudonym(tmp_path, survey):
    survey.write_text(exports.QUALTRICS.replace("R_3,p-two", "R_3,"))
    mapping = tmp_path / "m.toml"
    mapping.write_text(exports.QUALTRICS_MAPPING)
    said = said_by(survey, mapping)
    assert "no worker in 2 of the ratings: its cell is blank" in said
    assert "row 6" in said


def test_a_text_that_comes_apart_in_two_ways_is_refused(tmp_path):
    path, mapping = tmp_path / "potato.csv", tmp_path / "m.toml"
    path.write_text(exports.POTATO.replace("s01__sysA", "s_01_sysA").replace("s01__sysB", "s_01_sysB"))
    mapping.write_text(
        'schema = "humeval_power/mapping/1"\nplatform = "potato"\nratings = "fluency.scale_{value}"\n'
        '[columns]\nworker = "user_id"\n[split]\ninstance_id = "{item}_{system}"\n'
    )
    assert "value 's_01_sysA': comes apart by '{item}_{system}' in more than one way" in said_by(
        path, mapping
    )
    assert not Template("{item}__{system}").is_ambiguous("s_01__sysA")


def test_a_column_that_two_templates_fit_is_not_read_twice(tmp_path, survey):
    mapping = tmp_path / "m.toml"
    mapping.write_text(
        exports.QUALTRICS_MAPPING.replace('ratings = "{slot}_Q5"', 'ratings = ["{slot}_Q5", "1_{slot}"]')
    )
    assert "column '1_Q5': two of the templates of ratings fit this column" in said_by(survey, mapping)


def test_filters_that_leave_nothing_say_so(tmp_path, survey):
    mapping = tmp_path / "m.toml"
    mapping.write_text(
        exports.QUALTRICS_MAPPING.replace('["Survey Preview"]', '["Survey Preview", "IP Address"]')
    )
    assert "no rating is left. What left it: 3: Status is " in said_by(survey, mapping)


def test_a_refused_import_leaves_no_secret_and_a_printed_one_no_folder(tmp_path, survey, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("import", survey, "-o", "ratings.csv", code=2)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["survey.csv"]
    (tmp_path / "potato.csv").write_text(exports.POTATO)
    run("import", "potato.csv", "-o", "-")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["potato.csv", "survey.csv"]


def test_a_secret_is_not_written_without_its_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "potato.csv").write_text(exports.POTATO)
    for output in ((), ("-o", "-"), ("--json",)):
        refused = run("import", "potato.csv", "--secret", "s", *output, code=2)
        assert "a secret is made with a table alone: add -o FILE.csv" in " ".join(refused.stderr.split())
        assert [one.name for one in tmp_path.iterdir()] == ["potato.csv"]
    run("import", "potato.csv", "--secret", "s", "-o", "ratings.csv")
    made = (tmp_path / "s").read_bytes()
    run("import", "potato.csv", "--secret", "s")
    printed = run("import", "potato.csv", "--secret", "s", "--format", "csv").stdout
    assert printed == (tmp_path / "ratings.csv").read_text()
    assert (tmp_path / "s").read_bytes() == made


def test_a_first_row_of_appraise_in_which_a_cell_stands_twice(tmp_path):
    path = tmp_path / "appraise.csv"
    path.write_text(
        exports.APPRAISE.replace("sysA.txt,68,TGT,eng,deu,10,", "sysA.txt,10,TGT,eng,eng,10,", 1)
    )
    _, ratings = ratings_of(path)
    assert ratings[0] == ("engdeu0101", "10", "sysA.txt", "", "10")
    path.write_text(exports.APPRAISE + "engdeu0101,sysA.txt,68\n")
    assert "row 6: has 3 cells; the first row has 9" in said_by(path)


def test_an_export_that_is_one_rating_a_row_is_read_as_that(tmp_path):
    rows = [
        f"{w * 10 + i},{w},{9 + i},i{i},{'AB'[w % 2]},{1 + (w + i) % 5}" for w in range(4) for i in range(5)
    ]
    text = "annotation_id,annotator,lead_time,item_id,system,rating\n" + "\n".join(rows) + "\n"
    path = tmp_path / "plain.csv"
    path.write_text(text)
    assert read_ratings(path, scale="1:5").n_ratings == 20
    path.write_text(text.replace("annotation_id,annotator,lead_time", "Timestamp,Username,lead"))
    assert read_ratings(path, scale="1:5").n_ratings == 20


@each_case("text", ["", "{", "[", '[{"data": {}, "annotations": 3}]', "\x00", "a\n", "[[1,2],[3,4]]"])
def test_half_written_files_are_refused_in_words(tmp_path, text):
    path = tmp_path / "half"
    path.write_text(text)
    run("import", path, code=2)
    run("check", path, code=2)


def test_hostile_names_come_through_as_they_are(tmp_path):
    tasks = exports.label_studio_tasks()
    tasks[0]["data"]["system"] = '=cmd|"/c calc"!A1'
    tasks[1]["data"]["item_id"] = "<script>alert(1)</script>\n{slot}"
    path, out = tmp_path / "ls.json", tmp_path / "ratings.csv"
    path.write_text(json.dumps(tasks))
    run("import", path, "-o", out)
    assert "\n=cmd" not in out.read_text()
    assert {row[2] for row in ratings_of(path)[1]} == {'=cmd|"/c calc"!A1', "sysB"}
    page = run("import", path, "--format", "html").stdout
    assert "<script>alert" not in page

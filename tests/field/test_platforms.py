"""Each platform's export is told by its content, says why, and comes in as the ratings that stand in it."""

from __future__ import annotations

import csv
import io
import json

import pandas as pd
import pytest

from humeval_power.checking.exports.imported import imported
from humeval_power.errors import InputError
from humeval_power.interfaces.formats.exports.mapping_file import read_mapping
from humeval_power.interfaces.formats.exports.platforms import platform_of, read_export
from humeval_power.interfaces.formats.exports.raw import RawExport
from tests.cli import run
from tests.field import exports


def ratings_of(path, mapping=None):
    found = read_export(path)
    assert found is not None
    table = imported([found], mapping).frame
    named = table.assign(criterion=table.get("criterion", ""))
    columns = ["worker", "item", "system", "criterion", "rating"]
    return found, [tuple(map(str, row)) for row in named[columns].itertuples(index=False)]


CASES = {
    "label-studio.json": (json.dumps(exports.label_studio_tasks()), exports.LABEL_STUDIO_RATINGS),
    "label-studio-min.json": (json.dumps(exports.LABEL_STUDIO_SHORT), exports.LABEL_STUDIO_RATINGS),
    "label-studio.csv": (exports.LABEL_STUDIO_CSV, exports.LABEL_STUDIO_RATINGS),
    "argilla.json": (json.dumps(exports.ARGILLA), exports.ARGILLA_RATINGS),
    "argilla.jsonl": ("\n".join(map(json.dumps, exports.ARGILLA)), exports.ARGILLA_RATINGS),
    "potato.csv": (exports.POTATO, exports.POTATO_RATINGS),
    "appraise.csv": (exports.APPRAISE, exports.APPRAISE_RATINGS),
    "mqm.tsv": (exports.MQM, exports.MQM_RATINGS),
}


@pytest.mark.parametrize("name", CASES)
def test_an_export_that_says_all_by_itself(tmp_path, name):
    text, wanted = CASES[name]
    path = tmp_path / name
    path.write_text(text)
    found, ratings = ratings_of(path)
    assert found.platform == name.split(".")[0].removesuffix("-min")
    assert found.why
    assert sorted(ratings) == sorted(wanted)


def test_qualtrics_with_its_mapping(tmp_path):
    path, mapping = tmp_path / "survey.csv", tmp_path / "mapping.toml"
    path.write_text(exports.QUALTRICS)
    mapping.write_text(exports.QUALTRICS_MAPPING)
    found, ratings = ratings_of(path, read_mapping(mapping)[0])
    assert found.why == "row 3 holds ImportId"
    assert found.asked["1_Q5"] == "Rate the text\ns01 sysA"
    assert ratings == exports.QUALTRICS_RATINGS


def test_qualtrics_without_a_mapping_says_what_is_missing(tmp_path):
    path = tmp_path / "survey.csv"
    path.write_text(exports.QUALTRICS)
    with pytest.raises(InputError, match="nothing says what the item and the system of a rating is"):
        ratings_of(path)


def test_a_folder_of_potato(tmp_path):
    wanted = exports.write_potato_folder(tmp_path / "annotation_output")
    found, ratings = ratings_of(tmp_path / "annotation_output")
    assert found.platform == "potato"
    assert sorted(ratings) == sorted(wanted)


def test_a_score_of_an_output_that_systems_share_is_said(tmp_path):
    path = tmp_path / "appraise.csv"
    path.write_text(exports.APPRAISE)
    found, _ = ratings_of(path)
    assert any("joined by +" in notice for notice in found.notices)


@pytest.mark.parametrize(
    "text", ["a,b\n1,2\n", "worker,item,system,rating\nw,i,A,1\n", "[1, 2]", '{"a": 1}\n']
)
def test_other_files_are_nobodys(tmp_path, text):
    path = tmp_path / "other"
    path.write_text(text)
    with pytest.raises(InputError, match="is not known as an export"):
        read_export(path)
    assert platform_of(RawExport(path)) is None


def test_participants_of_prolific_are_joined(tmp_path):
    survey, people, mapping = tmp_path / "s.csv", tmp_path / "p.csv", tmp_path / "m.toml"
    survey.write_text(exports.QUALTRICS)
    people.write_text(exports.PROLIFIC)
    mapping.write_text(exports.QUALTRICS_MAPPING)
    both = [read_export(path) for path in (survey, people)]
    table = imported(both, read_mapping(mapping)[0])
    status = dict(zip(table.frame["worker"], table.frame["submission_status"], strict=True))
    assert status == {"p-one": "APPROVED", "p-two": "REJECTED"}
    assert table.notices == ("1 participants of p.csv gave no ratings.",)
    people.write_text(exports.PROLIFIC + "4,p-one,RETURNED,,,1,,\n")
    with pytest.raises(
        InputError, match="row 5, column 'worker': value 'p-one': stands in another row too"
    ):
        imported([both[0], read_export(people)], read_mapping(mapping)[0])


def test_item_and_system_out_of_the_question_or_the_slot(tmp_path):
    path, mapping = tmp_path / "survey.csv", tmp_path / "mapping.toml"
    path.write_text(exports.QUALTRICS.replace("text, s02", "text\ns02"))
    text = exports.QUALTRICS_MAPPING
    slots = text[text.index("[slots]") : text.index("[drop_rows]")]
    mapping.write_text(text.replace(slots, '[split]\nasked = "Rate the text\\n{item} {system}"\n'))
    with pytest.raises(InputError, match="is not of the shape"):
        ratings_of(path, read_mapping(mapping)[0])
    path.write_text(path.read_text().replace("the text s03", "the text\ns03"))
    assert ratings_of(path, read_mapping(mapping)[0])[1] == exports.QUALTRICS_RATINGS


MAPPED = {
    "forms": (exports.FORMS, exports.FORMS_MAPPING, exports.FORMS_RATINGS),
    "annotators": (exports.WIDE, exports.WIDE_MAPPING, exports.WIDE_RATINGS),
    "criteria": (exports.CRITERIA, exports.CRITERIA_MAPPING, exports.CRITERIA_RATINGS),
}


@pytest.mark.parametrize("name", MAPPED)
def test_an_export_with_its_mapping(tmp_path, name):
    text, mapping, wanted = MAPPED[name]
    path, mapped = tmp_path / "export.csv", tmp_path / "mapping.toml"
    path.write_text(text)
    mapped.write_text(mapping)
    done = run("import", path, "--map", mapped, "--keep-ids", "--format", "csv").stdout
    rows = list(csv.DictReader(io.StringIO(done)))
    found = [(r["worker"], r["item"], r["system"], r.get("criterion", ""), r["rating"]) for r in rows]
    assert found == wanted


def test_sheets_of_a_workbook_are_read_together(tmp_path):
    frame = pd.DataFrame({"item": ["s01"], "system": ["A"], "rating": [4], "rater": ["w1"]})
    path, mapped = tmp_path / "book.xlsx", tmp_path / "mapping.toml"
    with pd.ExcelWriter(path) as book:
        frame.to_excel(book, sheet_name="adequacy", index=False)
        frame.assign(rating=2).to_excel(book, sheet_name="fluency", index=False)
    mapped.write_text(
        'schema = "humeval_power/mapping/1"\nplatform = "table"\nratings = "rating"\n[columns]\n'
        'worker = "rater"\nitem = "item"\nsystem = "system"\ncriterion = "sheet"\n'
    )
    done = run("import", path, "--map", mapped, "--keep-ids", "--format", "csv").stdout
    assert done.splitlines()[1:] == ["w1,s01,A,adequacy,4", "w1,s01,A,fluency,2"]
    with pd.ExcelWriter(path) as book:
        frame.to_excel(book, sheet_name="adequacy", index=False)
        frame.rename(columns={"rater": "coder"}).to_excel(book, sheet_name="fluency", index=False)
    said = run("import", path, "--map", mapped, code=2).output
    assert "sheet 'fluency': has other columns" in " ".join(said.split())


def test_questions_with_one_right_answer_become_rows_that_no_analysis_takes(tmp_path):
    text = (
        "who,item,system,rating,Q9\n"
        "p1,s01,A,4,2\np1,s01,B,3, 2 \np2,s01,A,5,3\np2,s01,B,,two\np3,s01,A,1,\n"
    )
    path, mapping = tmp_path / "sheet.csv", tmp_path / "mapping.toml"
    path.write_text(text)
    mapping.write_text(
        'schema = "humeval_power/mapping/1"\nplatform = "table"\nratings = "rating"\n[columns]\n'
        'worker = "who"\nitem = "item"\nsystem = "system"\n[checks]\nQ9 = "2"\n'
    )
    table = imported([read_export(path, platform="table")], read_mapping(mapping)[0]).frame
    twin = []
    for line in text.splitlines()[1:]:
        who, item, system, rating, check = (cell.strip() for cell in line.split(","))
        if rating:
            twin.append((who, item, system, rating, "rating", "", ""))
        if check:
            twin.append((who, "", "", "", "check", "Q9", str(int(check == "2"))))
    columns = ["worker", "item", "system", "rating", "kind", "code", "passed"]
    assert [tuple(row) for row in table[columns].itertuples(index=False)] == twin


def test_a_check_of_nobody_is_refused(tmp_path):
    path, mapping = tmp_path / "wide.csv", tmp_path / "mapping.toml"
    path.write_text("item,system,Ann,Ben,Q9\ns01,A,4,5,2\ns01,B,3,1,2\n")
    mapping.write_text(
        'schema = "humeval_power/mapping/1"\nplatform = "table"\nratings = ["{worker}"]\n'
        '[columns]\nitem = "item"\nsystem = "system"\n[checks]\nQ9 = "2"\n'
    )
    with pytest.raises(InputError, match="need a column of the worker"):
        imported([read_export(path, platform="table")], read_mapping(mapping)[0])

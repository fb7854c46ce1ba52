"""Each platform's export is told by its content, says why, and comes in as the ratings that stand in it."""

import csv
import io
import itertools
import json

import pandas as pd
import pytest
from cases import each_case

from humeval_power.checking.exports.imported import imported
from humeval_power.checking.wide import columns_side_by_side
from humeval_power.errors import InputError
from humeval_power.files.exports.mapping_file import read_mapping
from humeval_power.files.exports.platforms import platform_of, read_export
from humeval_power.files.exports.raw import RawExport
from humeval_power.files.tables import read_ratings
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
    "pearmut.jsonl": ("\n".join(map(json.dumps, exports.PEARMUT)), exports.PEARMUT_RATINGS),
    "pearmut.json": (json.dumps({"campaign": exports.PEARMUT}), exports.PEARMUT_RATINGS),
    "pearmut-min.json": (json.dumps({"campaign": exports.PEARMUT}, indent=1), exports.PEARMUT_RATINGS),
    "appraise.csv": (exports.APPRAISE, exports.APPRAISE_RATINGS),
    "mqm.tsv": (exports.MQM, exports.MQM_RATINGS),
}


@each_case("name", CASES)
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
    assert found.questions["1_Q5"] == "Rate the text\ns01 sysA"
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


def test_states_of_potato_are_read_one_by_one_as_their_folder_is(tmp_path):
    wanted = exports.write_potato_folder(tmp_path / "annotation_output")
    states = sorted((tmp_path / "annotation_output").rglob("user_state.json"))
    given = [read_export(path) for path in states]
    assert {one.platform for one in given} == {"potato"}
    whole = read_export(tmp_path / "annotation_output").frame.fillna("")
    apart = pd.concat([one.frame for one in given]).reindex(columns=whole.columns).fillna("")
    assert sorted(map(tuple, apart.to_numpy())) == sorted(map(tuple, whole.to_numpy()))
    assert len(states) > 1
    assert wanted


def test_an_old_export_of_potato_is_refused_for_the_states_beside_it(tmp_path):
    folder = tmp_path / "annotation_output"
    exports.write_potato_folder(folder)
    table = folder / "exports" / "csv" / "annotations.csv"
    table.parent.mkdir(parents=True)
    table.write_text("instance_id,user_id,fluency.4\ns01__sysA,p1,4\n")
    said = run("import", table, code=2).stderr
    assert "lacks 2 of the 3 answers in annotation_output" in " ".join(said.split())
    table.write_text(
        "instance_id,user_id,fluency.4,fluency.2,fluency.5\ns01__sysA,p1,4,,\ns01__sysB,p1,,2,\ns01__sysA,p2,,,5\n"
    )
    assert len(ratings_of(table)[1]) == 3


def test_a_score_of_an_output_that_systems_share_is_said(tmp_path):
    path = tmp_path / "appraise.csv"
    path.write_text(exports.APPRAISE)
    found, _ = ratings_of(path)
    assert any("joined by +" in notice for notice in found.notices)


def appraise_of_documents(names, segments=lambda document, at: f"{document}-{at}", beside=True):
    """Two users, two documents, two systems, two segments; names: how a system of a document is called."""
    return "".join(
        f"{user},{names.format(d=d, s=s)},{segments(d, at)},TGT,eng,deu,{10 * at + u},"
        + (f"{d},False," if beside else "")
        + "1700000000.1,1700000009.9\n"
        for u, user in enumerate(("u1", "u2"))
        for d in ("doc0", "doc1")
        for s in ("sysA", "sysB")
        for at in (1, 2)
    )


@pytest.mark.parametrize("beside", [True, False])
def test_documents_in_the_names_of_appraises_systems_are_split_off(tmp_path, beside):
    path = tmp_path / "appraise.csv"
    path.write_text(appraise_of_documents("{d}#{s}", beside=beside))
    table = imported([read_export(path)]).frame
    assert sorted(set(zip(table["system"], table["document"], strict=True))) == [
        (system, document) for system in ("sysA", "sysB") for document in ("doc0", "doc1")
    ]
    assert set(table["item"]) == {"doc0-1", "doc0-2", "doc1-1", "doc1-2"}
    path.write_text(appraise_of_documents("{d}#{s}", lambda _, at: at, beside=beside))
    table = imported([read_export(path)]).frame  # segment 1 of doc0 is not segment 1 of doc1
    assert set(table["item"]) == {"doc0:1", "doc0:2", "doc1:1", "doc1:2"}


def test_a_hash_in_a_systems_name_alone_is_no_document(tmp_path):
    path = tmp_path / "appraise.csv"
    path.write_text(appraise_of_documents("team#{s}", beside=False))
    table = imported([read_export(path)]).frame
    assert set(table["system"]) == {"team#sysA", "team#sysB"}
    assert "document" not in table


@pytest.mark.parametrize("text", ["a,b\n1,2\n", "worker,system,rating\nw,A,1\n", "[1, 2]", '{"a": 1}\n'])
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


BY_WORKER = """item,system,Ann,Ben,Cy,comment
s01,A,4,5,N/A,good
s01,B,3,,2,
s02,A,5,4,4,fine
s02,B,2,1,3,
s03,A,5,5,3,
s03,B,3,2,1,
"""
BY_WORKER_RATINGS = [
    (worker, item, system, "", rating)
    for row in BY_WORKER.splitlines()[1:]
    for item, system, *ratings, _ in [row.split(",")]
    for worker, rating in zip(("Ann", "Ben", "Cy"), ratings, strict=True)
    if rating not in ("", "N/A")
]


def test_a_column_for_each_worker_is_read_as_ratings_of_that_worker(tmp_path):
    path = tmp_path / "sheet.csv"
    path.write_text(BY_WORKER)
    found, ratings = ratings_of(path)
    assert found.why.startswith("Columns Ann, Ben, Cy hold ratings on one scale")
    assert sorted(ratings) == sorted(BY_WORKER_RATINGS)
    said = " ".join(run("check", path).output.split())
    assert "16 ratings, 3 workers, 3 items, 2 systems" in said
    assert "Columns Ann, Ben, Cy hold ratings on one scale: each is read as those of one worker." in said
    for read in (read_ratings(path), read_ratings(pd.read_csv(path))):
        assert read.worker_names == ("Ann", "Ben", "Cy")
        assert read.n_ratings == len(BY_WORKER_RATINGS)
        assert any("Columns Ann, Ben, Cy" in notice for notice in read.notices)


def test_a_mapping_of_all_columns_leaves_out_those_that_it_names_as_something_else(tmp_path):
    path, mapping = tmp_path / "sheet.csv", tmp_path / "mapping.toml"
    path.write_text(BY_WORKER)
    mapping.write_text(
        'schema = "humeval_power/mapping/1"\nplatform = "table"\nratings = ["{worker}"]\n'
        'missing = ["N/A"]\nkeep = ["comment"]\n[columns]\nitem = "item"\nsystem = "system"\n'
    )
    assert sorted(ratings_of(path, read_mapping(mapping)[0])[1]) == sorted(BY_WORKER_RATINGS)


def test_the_draft_of_a_column_for_each_worker_is_ready_to_use(tmp_path):
    path, mapping = tmp_path / "sheet.csv", tmp_path / "mapping.toml"
    path.write_text(BY_WORKER)
    run("import", path, "--draft", "-o", mapping)
    assert sorted(ratings_of(path, read_mapping(mapping)[0])[1]) == sorted(BY_WORKER_RATINGS)


NOT_BY_WORKER = {
    "criteria": "item,system,fluency,adequacy\ns1,A,1,5\ns1,B,4,2\ns2,A,3,4\ns2,B,5,1\n",
    "a worker by another name": "item,system,who,c1,c2\ns1,A,x,1,5\ns1,B,y,4,2\ns2,A,y,3,4\ns2,B,x,5,1\n",
    "metrics": "item,system,bleu,chrf\ns1,A,0.1,0.5\ns1,B,0.4,0.2\ns2,A,0.3,0.4\ns2,B,0.5,0.1\n",
    "right or wrong": "item,system,exact,loose\ns1,A,0,1\ns1,B,1,0\ns2,A,1,1\ns2,B,0,0\n",
    "counts": "item,system,words,chars\ns1,A,10,500\ns1,B,12,480\ns2,A,9,510\ns2,B,11,470\n",
    "one column": "item,system,Ann\ns1,A,1\ns1,B,4\ns2,A,3\ns2,B,5\n",
    "outputs that stand twice": "item,system,Ann,Ben\ns1,A,1,5\ns1,A,4,2\ns2,A,3,4\ns2,B,5,1\n",
}


@each_case("text", NOT_BY_WORKER.values(), ids=NOT_BY_WORKER)
def test_other_numbers_side_by_side_are_no_workers(tmp_path, text):
    path = tmp_path / "table.csv"
    path.write_text(text)
    assert columns_side_by_side(pd.read_csv(path, dtype=str)) is None
    with pytest.raises(InputError, match="no column was found for"):
        read_ratings(path)
    said = " ".join(run("import", path, code=2).output.split())
    assert "--from table --draft -o mapping.toml" in said


def label_studio_with_words(criterion="adequacy", said=("good", "bad")):
    """Tasks with a rating of fluency, and beside it a criterion in words."""
    return [
        {
            "id": at,
            "data": {"item_id": f"s{at // 2}", "system": "AB"[at % 2], "doc_id": "d1"},
            "annotations": [
                {
                    "id": 100 + at,
                    "completed_by": 7,
                    "result": [
                        {"from_name": "fluency", "type": "rating", "value": {"rating": 1 + at}},
                        {
                            "from_name": criterion,
                            "type": "choices",
                            "value": {"choices": [said[at % len(said)]]},
                        },
                    ],
                }
            ],
        }
        for at in range(4)
    ]


def test_a_criterion_in_words_is_left_out_and_named_where_another_is_in_numbers(tmp_path):
    path, mapping, out = tmp_path / "tasks.json", tmp_path / "mapping.toml", tmp_path / "out.csv"
    path.write_text(json.dumps(label_studio_with_words()))
    told = " ".join(run("import", path, "-o", out).stderr.split())
    assert "the criterion 'adequacy' is left out: its answers are words (good, bad; 4 in all)" in told
    assert "under [words] of a mapping: humeval-power import" in told
    table = pd.read_csv(out)
    assert list(zip(table["criterion"], table["rating"], strict=True)) == [
        ("fluency", 1),
        ("fluency", 2),
        ("fluency", 3),
        ("fluency", 4),
    ]
    assert set(table["document"]) == {"d1"}
    run("import", path, "--draft", "-o", mapping)  # the remedy
    draft = mapping.read_text().replace('# "good" = ', '"good" = 1').replace('# "bad" = ', '"bad" = 0')
    mapping.write_text(draft)
    run("import", path, "--map", mapping, "-o", out, "--force")
    table = pd.read_csv(out)
    assert table[table["criterion"] == "adequacy"]["rating"].tolist() == [1, 0, 1, 0]


def test_the_csv_names_a_criterion_in_words_as_the_json_does(tmp_path):
    path, out, mapping = tmp_path / "short.csv", tmp_path / "ratings.csv", tmp_path / "mapping.toml"
    path.write_text(
        '"annotation_id","annotator","verdict","domain","fluency","id","item_id","lead_time","output","system"\n'
        '101,"7","good","news","[{""rating"":4}]",11,"s01",9.5,"Hi","sysA"\n'
        '102,"7","bad","news","[{""rating"":3}]",12,"s01",9.5,"Ho","sysB"\n'
        '103,"8","good","news","[{""rating"":2}]",11,"s01",9.5,"Hi","sysA"\n'
        '104,"8","good","news","[{""rating"":5}]",12,"s01",9.5,"Ho","sysB"\n'
    )
    told = " ".join(run("import", path, "-o", out).stderr.split())
    assert "the criterion 'verdict' is left out: its answers are words (good, bad; 4 in all)" in told
    assert "domain" not in told
    run("import", path, "--draft", "-o", mapping)  # the remedy
    draft = mapping.read_text().replace('# "good" = ', '"good" = 1').replace('# "bad" = ', '"bad" = 0')
    mapping.write_text(draft)
    run("import", path, "--map", mapping, "-o", out, "--force")
    table = pd.read_csv(out)
    assert table[table["criterion"] == "verdict"]["rating"].tolist() == [1, 0, 1, 1]


def test_criteria_that_are_all_in_words_are_refused_as_ever(tmp_path):
    tasks = label_studio_with_words()
    for one in tasks:
        del one["annotations"][0]["result"][0]
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(tasks))
    told = " ".join(run("import", path, code=2).output.split())
    assert "'good': is no number" in told
    assert "--draft -o mapping.toml" in told


MTURK_WITH_COMMENT = (
    "HITId,AssignmentId,WorkerId,Input.item,Input.doc_id,Input.system,Answer.rating,Answer.comment\n"
    "H1,AS1,A1,s1,d1,A,4,nice\nH2,AS2,A1,s1,d1,B,3,\nH3,AS3,A1,s2,d1,A,5,too long\n"
)
TEXT = {
    "mturk.csv": (MTURK_WITH_COMMENT, 'ratings = { "rating" = "Answer.rating" }'),
    "tasks.json": (
        json.dumps(label_studio_with_words("why", ("it reads well", "no", "too long", "I like it"))),
        'ratings = { "fluency" = "fluency" }',
    ),
    "argilla.json": (
        json.dumps(
            [
                {"item": "s1", "system": system}
                | {
                    f"{name}.responses": [said]
                    for name, said in (("quality", at), ("comment", f"text {at}"))
                }
                | {f"{name}.responses.users": ["u1"] for name in ("quality", "comment")}
                | {f"{name}.responses.status": ["submitted"] for name in ("quality", "comment")}
                for at, system in enumerate("AB")
            ]
        ),
        '"question" = ["comment"]',  # under [drop_rows]
    ),
}


@pytest.mark.parametrize("name", TEXT)
def test_a_comment_is_no_rating(tmp_path, name):
    text, drafted = TEXT[name]
    path, mapping = tmp_path / name, tmp_path / "mapping.toml"
    path.write_text(text)
    run("import", path, "--draft", "-o", mapping)
    draft = mapping.read_text()
    assert drafted in draft
    assert "# Text, and no ratings: " in draft
    assert "[words]" not in draft
    unaided = run("import", path, "--keep-ids", "-q", "--format", "csv").stdout
    assert unaided == run("import", path, "--map", mapping, "--keep-ids", "-q", "--format", "csv").stdout
    assert len(unaided.splitlines()) > 2


def test_a_draft_takes_a_document_for_the_item_where_nothing_else_is_one(tmp_path):
    path = tmp_path / "t.csv"
    rows = "".join(f"w{w},d{d},{s},{1 + (w + d) % 5},5\n" for w in range(3) for d in range(4) for s in "AB")
    path.write_text("annotator,doc_id,model,score,comment\n" + rows)
    draft = run("import", path, "--from", "table", "--draft", "-o", tmp_path / "mapping.toml")
    written = (tmp_path / "mapping.toml").read_text()
    assert 'item = "doc_id"' in written, draft.output
    assert 'ratings = ["score"]' in written
    told = run("import", path, "--map", tmp_path / "mapping.toml", "-o", tmp_path / "ratings.csv")
    assert "24 ratings imported" in told.output


def test_a_draft_takes_a_document_for_the_document_beside_an_item(tmp_path):
    rows = itertools.product("ab", ("d1", "d2"), (1, 2), "XY")
    text = "".join(
        f"{worker},{doc}s{at},{doc},{system},a text of {k},{1 + k % 5},{1 + k % 3}\n"
        for k, (worker, doc, at, system) in enumerate(rows)
    )
    path, mapping = tmp_path / "table.csv", tmp_path / "mapping.toml"
    path.write_text("annotator,segment_id,doc_id,sys,comment,fluency,adequacy\n" + text)
    run("import", path, "--from", "table", "--draft", "-o", mapping)
    found = read_mapping(mapping)[0]
    assert {part: one.text for part, one in found.columns.items()} == {
        "worker": "annotator",
        "item": "segment_id",
        "system": "sys",
        "document": "doc_id",
    }
    assert [one.criterion for one in found.ratings] == ["fluency", "adequacy"]


def test_a_draft_says_what_names_tell_where_no_column_of_ratings_is_known(tmp_path):
    path, mapping = tmp_path / "table.csv", tmp_path / "mapping.toml"
    path.write_text("item,system,Fluency of Ann,Fluency of Ben\ns01,A,4,well\ns01,B,3,badly\n")
    run("import", path, "--from", "table", "--draft", "-o", mapping)
    draft = mapping.read_text().replace('# ratings = ["Q{slot}"]', 'ratings = ["{criterion} of {worker}"]')
    assert 'item = "item"\n' in draft
    assert 'system = "system"\n' in draft
    mapping.write_text(draft + "[words]\nwell = 5\nbadly = 1\n")
    said = run("import", path, "--map", mapping, "--keep-ids", "-q", "--format", "csv").stdout
    assert said.splitlines()[1:3] == ["Ann,s01,A,Fluency,4", "Ben,s01,A,Fluency,5"]


def test_labels_of_potato_that_are_numbers_are_ratings_where_they_are_marked(tmp_path):
    path = tmp_path / "potato.csv"
    head = "instance_id,user_id,fluency.1,kind.rail,fluency.4\n"
    path.write_text(head + "s1__A,ann,1,rail,\ns1__B,ann,,,4\n")
    assert ratings_of(path)[1] == [("ann", "s1", "A", "", "1"), ("ann", "s1", "B", "", "4")]
    path.write_text(head + "s1__A,ann,73,rail,\ns1__B,ann,,,4\n")  # 73 is no mark: a value of its own
    assert read_export(path).mapping is None


TOO_LITTLE = {
    "no ratings told": "Timestamp,Email Address,How good is it?\n2026-01-02,a@x.org,4\n",
    "no item": "HITId,AssignmentId,WorkerId,Answer.q1,Answer.q2\nH1,AS1,A1,4,3\n",
    "words": "HITId,AssignmentId,WorkerId,Input.item,Input.system,Answer.q\nH1,AS1,A1,s1,A,good\n",
}


@pytest.mark.parametrize("text", TOO_LITTLE.values(), ids=TOO_LITTLE)
def test_an_export_that_says_too_little_names_the_command_of_the_draft(tmp_path, text):
    folder = tmp_path / "my study"
    folder.mkdir()
    path, mapping = folder / "export.csv", tmp_path / "mapping.toml"
    path.write_text(text)
    drafted = f"humeval-power import '{path}' --draft -o mapping.toml"
    with pytest.raises(InputError) as refused:
        imported([read_export(path)])
    assert drafted in str(refused.value)
    with pytest.raises(InputError) as refused:  # where ratings are asked for, too
        read_ratings(path)
    assert drafted in str(refused.value)
    run("import", path, "--draft", "-o", mapping)
    assert mapping.exists()


def test_a_decimal_comma_is_called_that(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text("item;system;worker;rating\ns1;A;w1;4,5\n")
    assert "a rating is written with a decimal point" in " ".join(
        run("import", path, code=2).output.split()
    )


def test_a_table_of_one_rating_a_row_is_simply_imported(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text("item,system,worker,rating\ns1,A,w1,4\ns1,B,w1,NA\ns2,A,w2,5\n")
    found, ratings = ratings_of(path)
    assert found.why == "its columns say which is what"
    assert ratings == [("w1", "s1", "A", "", "4"), ("w2", "s2", "A", "", "5")]


BY_SYSTEM = "item,worker,sysA,sysB\ns1,w1,3,4\ns1,w2,1,5\ns2,w1,4,1\ns2,w2,5,3\n"


def test_a_column_for_each_system_is_read_where_a_column_of_workers_stands(tmp_path):
    path = tmp_path / "wide.csv"
    path.write_text(BY_SYSTEM)
    said = " ".join(run("check", path).output.split())
    assert "8 ratings, 2 workers, 2 items, 2 systems" in said
    assert "Columns sysA, sysB hold ratings on one scale: each is read as those of one system" in said
    assert len(read_ratings(pd.read_csv(path)).rating) == len(read_ratings(path).rating) == 8


@pytest.mark.parametrize("names", ["q1,q2", "fluency,adequacy"])
def test_a_column_for_each_question_is_no_table_of_scores_that_nobody_gave(tmp_path, names):
    path = tmp_path / "wide.csv"
    path.write_text(BY_SYSTEM.replace("sysA,sysB", names))
    said = " ".join(run("check", path, code=2).output.split())
    assert "no column of workers" not in said
    assert "--system COLUMN" in said

"""Batch results of Mechanical Turk come in as ratings, with every row that left accounted for."""

import csv
import re

import pytest

from humeval_power.checking.exports.imported import long_table
from humeval_power.checking.exports.mapping import (
    Condition,
    Mapping,
    RatingColumns,
    Template,
    in_natural_order,
)
from humeval_power.errors import InputError
from humeval_power.files.exports.mapping_file import read_mapping
from humeval_power.files.exports.platforms import read_export
from humeval_power.files.tables import read_ratings
from tests.cli import run

N_SLOTS = 12
WORDS = {"Rare": 1, "Specific": 3, "Typical": 5}


@pytest.fixture
def batch(tmp_path):
    """Three HITs of 12 slots each, answered in words by two or three workers; columns sorted as text."""
    slots = sorted(map(str, range(N_SLOTS)))
    header = ["HITId", "AssignmentId", "WorkerId", "AssignmentStatus", "WorkTimeInSeconds"]
    header += [f"Input.{kind}{slot}" for kind in ("item", "sys") for slot in slots]
    header += [f"Answer.{slot}" for slot in slots]
    rows = []
    for hit in range(3):
        for number, worker in enumerate(("A1AAA", "A2BBB", "A3CCC")[: 2 + hit % 2]):
            status = "Rejected" if (hit, number) == (1, 2) else "Submitted"
            row = [f"H{hit}", f"AS{hit}{number}", worker, status, str(100 + hit)]
            row += [f"s{hit:02d}{int(slot) // 2:02d}" for slot in slots]
            row += ["sysA" if int(slot) % 2 == 0 else "sysB" for slot in slots]
            row += [list(WORDS)[(int(slot) + number + hit) % 3] for slot in slots]
            rows.append(row)
    rows[0][-1] = ""  # not answered
    rows[1][-1] = "Invalid"
    path = tmp_path / "batch.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def by_hand(path):
    """The slow, obvious twin: every cell of every row, with what its column says."""
    found = []
    with path.open(newline="") as file:
        for number, row in enumerate(csv.DictReader(file), start=2):
            if row["AssignmentStatus"] == "Rejected":
                continue
            for slot in range(N_SLOTS):
                answer = row[f"Answer.{slot}"]
                if answer in WORDS:
                    item, system = row[f"Input.item{slot}"], row[f"Input.sys{slot}"]
                    found.append((number, row["WorkerId"], item, system, str(WORDS[answer])))
    return found


MAPPED = Mapping(
    (RatingColumns(Template("Answer.{slot}")),),
    columns={
        "worker": Template("WorkerId"),
        "item": Template("Input.item{slot}"),
        "system": Template("Input.sys{slot}"),
    },
    words=WORDS,
    missing=("invalid",),
    where=(Condition("AssignmentStatus", ("rejected",), drop=True),),
)


def test_ratings_are_those_of_the_twin(batch):
    export = read_export(batch)
    long = long_table(export.frame, MAPPED, source="batch.csv")
    table = long.frame[["worker", "item", "system", "rating"]]
    assert [tuple(map(str, row)) for row in table.itertuples()] == [
        tuple(map(str, row)) for row in by_hand(batch)
    ]


def test_the_flow_adds_up(batch):
    flow = long_table(read_export(batch).frame, MAPPED, source="batch.csv").flow
    assert [(step.step, step.rows) for step in flow] == [
        ("read", 7),
        ("dropped", 1),
        ("read", 6 * N_SLOTS),
        ("dropped", 1),
        ("dropped", 1),
        ("analysed", 6 * N_SLOTS - 2),
    ]
    assert "Rejected" in flow[1].reason
    assert "Invalid" in flow[4].reason


def test_the_draft_edited_imports_and_the_table_is_read_by_the_rest(batch, tmp_path):
    draft = tmp_path / "mapping.toml"
    run("import", str(batch), "--draft", "-o", str(draft))
    text = draft.read_text()
    for word, number in WORDS.items():
        text = re.sub(rf'# "{word}" = ', f'"{word}" = {number} ', text)
    text = text.replace("missing = []", 'missing = ["Invalid"]')
    text = text.replace('# "AssignmentStatus" = [...]', '"AssignmentStatus" = ["Rejected"]')
    draft.write_text(text)
    mapping, platform = read_mapping(draft)
    assert platform == "mturk"
    assert mapping.words == WORDS
    ratings = tmp_path / "ratings.csv"
    run("import", str(batch), "--map", str(draft), "-o", str(ratings))
    read = read_ratings(ratings, scale="1:5")
    assert read.n_ratings == len(by_hand(batch))
    assert read.n_workers == 3 - 1  # the third was rejected
    assert not any(name.startswith("A") for name in read.worker_names)
    again = tmp_path / "again.csv"
    run(
        "import",
        str(batch),
        "--map",
        str(draft),
        "-o",
        str(again),
        "--secret",
        str(tmp_path / "ratings.secret"),
    )
    assert again.read_bytes() == ratings.read_bytes()


def test_words_without_numbers_are_refused_where_they_stand(batch):
    done = run("import", str(batch), "--keep-ids", code=2)
    assert "row 2, column 'Answer.0': value 'Rare'" in " ".join(done.output.split())
    assert "(words)" in done.output


def test_a_mapping_with_faults_names_all_of_them(tmp_path, batch):
    wrong = tmp_path / "m.toml"
    wrong.write_text(
        'schema = "humeval_power/mapping/1"\nratings = "Answer.{slt}"\n'
        '[columns]\nwroker = "WorkerId"\n[words]\nRare = "one"\n'
    )
    with pytest.raises(InputError) as refused:
        read_mapping(wrong)
    said = str(refused.value)
    assert "words" in said
    wrong.write_text(
        'schema = "humeval_power/mapping/1"\nratings = ["Answer.{slt}", "B{slot}{item}"]\n'
        '[columns]\nworker = "{who}"\n'
    )
    with pytest.raises(InputError) as refused:
        read_mapping(wrong)
    said = str(refused.value)
    assert "{slt} is not known" in said
    assert "put something between two parts" in said
    assert "columns.worker" in said
    run("import", str(batch), "--map", str(wrong), code=2)


def test_columns_that_are_not_there_are_named(batch):
    with pytest.raises(
        InputError, match=r"no column 'Input\.itm0', which the mapping names\. Did you mean 'Input"
    ):
        long_table(
            read_export(batch).frame,
            Mapping(
                MAPPED.ratings,
                columns={**MAPPED.columns, "item": Template("Input.itm{slot}")},
                words=WORDS,
            ),
            source="batch.csv",
        )


def test_templates():
    assert Template("{item}__{system}").match("s01__sysA") == {"item": "s01", "system": "sysA"}
    assert Template("{item}__{system}").match("s01") is None
    assert Template("a.b{slot}").match("aXb1") is None
    for bad in ("{itme}", "{item}{system}", "{item}-{item}"):
        with pytest.raises(InputError):
            Template(bad)
    assert in_natural_order(["Answer.10", "Answer.2", "Answer.1"]) == ["Answer.1", "Answer.2", "Answer.10"]


def test_answers_in_one_json_are_columns_of_their_own(tmp_path):
    header = ["HITId", "AssignmentId", "WorkerId", "Answer.taskAnswers"]
    together = '[{"score": {"label": "Good"}, "n": 3, "sure": true, "none": null}]'
    path = tmp_path / "batch.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, ["H1", "AS1", "A1", together], ["H2", "AS2", "A2", ""]])
    frame = read_export(path).frame
    assert list(frame.columns) == [
        *header[:3],
        "Answer.score.label",
        "Answer.n",
        "Answer.sure",
        "Answer.none",
    ]
    assert frame.iloc[:, 3:].to_numpy().tolist() == [["Good", "3", "true", ""], ["", "", "", ""]]


def test_answers_in_json_that_is_cut_are_told_by_their_rows(tmp_path):
    path = tmp_path / "batch.csv"
    rows = [
        ["HITId", "AssignmentId", "WorkerId", "Answer.taskAnswers"],
        ["H", "A", "W", "[{"],
        ["H", "B", "W", "x"],
    ]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    with pytest.raises(InputError) as told:
        read_export(path)
    assert [(problem.row, problem.column) for problem in told.value.problems] == [
        (2, "Answer.taskAnswers"),
        (3, "Answer.taskAnswers"),
    ]

"""Score files in every layout that people have, and all that can be wrong with them."""

import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cases import each_case
from cli import run, run_json
from places import ROOT

from humeval_power.comparisons.scores.files import open_scores, score_table
from humeval_power.comparisons.scores.score_table import ScoreTable
from humeval_power.errors import InputError

LONG = "item,system,BLEU,chrF\ni1,A,1,10\ni1,B,2,20\ni2,B,4,40\ni2,A,3,30\n"


def written(tmp_path, text, name="scores.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def read(tmp_path, text, name="scores.csv", **how):
    opened = {key: how.pop(key) for key in ("item", "system") if key in how}
    return score_table(open_scores([written(tmp_path, text, name)], **opened), **how)


def problems(tmp_path, text, **how):
    with pytest.raises(InputError) as refused:
        read(tmp_path, text, **how)
    return "\n".join(map(str, refused.value.problems))


@each_case(
    "text",
    [
        "0.5 0.6\n0.25\t0.75\n",
        "0.5,0.6\n0.25,0.75\n",
        "0.5, 0.6\r\n0.25, 0.75\r\n",
        "\ufeff0.5;0.6\n\n0.25;0.75\n",
        "5e-1\t.6\n.25\t75e-2",
    ],
)
def test_two_columns_of_numbers_need_no_header(tmp_path, text):
    found = read(tmp_path, text)
    assert found.scores.tolist() == [[0.5, 0.6], [0.25, 0.75]]
    assert found.systems == ("A", "B")
    assert any("no header" in notice for notice in found.notices)


def test_two_files_hold_one_number_a_line_and_the_first_is_a(tmp_path):
    paths = [
        written(tmp_path, "1\n2\n3\n", "baseline.txt"),
        written(tmp_path, "2\n2\n5\n", "experiment.txt"),
    ]
    found = score_table(open_scores(paths))
    assert found.scores.tolist() == [[1, 2], [2, 2], [3, 5]]
    assert any("A is baseline.txt, B is experiment.txt" in notice for notice in found.notices)
    shorter = written(tmp_path, "1\n", "short.txt")
    with pytest.raises(InputError, match="3 and 1 scores"):
        open_scores([paths[0], shorter])
    with pytest.raises(InputError, match="one number a line"):
        open_scores([paths[0], written(tmp_path, "x\n1\n", "named.txt")])


def test_a_wide_table_has_a_system_in_each_column_of_numbers(tmp_path):
    found = read(tmp_path, "id,text,GPT,BERT,Human\n1,a b,1,2,3\n2,c,4,5,6\n")
    assert found.systems == ("GPT", "BERT", "Human")
    assert found.scores.tolist() == [[1, 2, 3], [4, 5, 6]]
    two = read(tmp_path, "id,text,GPT,BERT,Human\n1,a b,1,2,3\n2,c,4,5,6\n", systems=("Human", "GPT"))
    assert two.scores.tolist() == [[3, 1], [6, 4]]


def test_a_long_table_is_turned_and_its_rows_may_come_in_any_order(tmp_path):
    found = read(tmp_path, LONG, score="chrF")
    assert found.scores.tolist() == [[10, 20], [30, 40]]
    assert found.metric == "chrF"
    renamed = LONG.replace("item,system", "Segment ID,Model")
    assert read(tmp_path, renamed, score="BLEU").scores.tolist() == [[1, 2], [3, 4]]
    odd = LONG.replace("item,system", "key,who")
    assert read(tmp_path, odd, item="key", system="who", score="BLEU").systems == ("A", "B")


def test_a_compressed_table_is_read_as_well(tmp_path):
    found = read(tmp_path, gzip.compress(LONG.encode()), "scores.csv.gz", score="BLEU")
    assert found.scores.shape == (2, 2)


def test_one_of_several_metrics_must_be_named(tmp_path):
    assert "BLEU, chrF" in problems(tmp_path, LONG)
    assert "Did you mean 'chrF'" in problems(tmp_path, LONG, score="chrf")


def test_every_bad_cell_is_told_with_its_row_and_column(tmp_path):
    said = problems(tmp_path, "item,A,B\n1,0.5,0.6\n2,oops,0.7\n3,0.5,\n4,inf,0.1\n5,1,1\n6,1,1\n")
    assert "row 3, column 'A': value 'oops': is no finite number" in said
    assert "row 4, column 'B': the score is missing" in said
    assert "--drop-missing" in said
    assert "row 5, column 'A': value 'inf'" in said


def test_items_without_a_score_are_left_out_on_request_and_counted(tmp_path):
    found = read(tmp_path, "item,A,B\n1,0.5,0.6\n2,NA,0.7\n3,0.5,0.4\n", drop_missing=True)
    assert len(found.scores) == 2
    assert any("lack of a score: 1 of 3 items" in notice for notice in found.notices)
    missing = LONG.replace("i2,A,3,30\n", "")
    assert "item i2, column 'A': the score is missing" in problems(tmp_path, missing, score="BLEU")


def test_the_list_of_problems_is_short_and_says_how_many_there_are(tmp_path):
    said = problems(tmp_path, "item,A,B\n" + "".join(f"{i},1,\n" for i in range(9)) + "9,1,1\n9,1,1\n" * 5)
    assert "and 4 more like this" in said


@each_case(
    ("text", "how", "said"),
    [
        (LONG + "i1,A,9,9\n", {"score": "BLEU"}, "row 6: item 'i1' has a second score for system 'A'"),
        (LONG, {"score": "BLEU", "systems": ("A", "Z")}, "no system 'Z'"),
        (LONG, {"item": "nope"}, "no column 'nope'"),
        ("name,A\nx,1\ny,2\n", {}, "not two columns of scores"),
        ("who,model,s\nx,A,1\ny,B,2\ny,A,2\n", {}, "needs one of the item"),
        ("model,bleu,comet\na,1,2\nb,3,4\n", {}, "a row an item and a column a system (item, a, b)"),
        ("1 2\n3\n", {}, "row 2: the line has 1 numbers"),
    ],
)
def test_tables_that_cannot_be_compared_are_refused_with_the_reason(tmp_path, text, how, said):
    assert said in problems(tmp_path, text, **how)


def test_rows_of_one_data_set_are_read_by_themselves(tmp_path):
    text = "set,item,system,s\nx,1,A,1\nx,1,B,2\nx,2,A,3\nx,2,B,5\ny,1,A,7\ny,1,B,8\ny,2,A,0\ny,2,B,1\n"
    source = open_scores([written(tmp_path, text)])
    assert score_table(source, where=("set", "y")).scores.tolist() == [[7, 8], [0, 1]]


def test_a_score_table_needs_two_systems_two_items_and_finite_scores():
    with pytest.raises(InputError, match="name twice"):
        ScoreTable(np.zeros((3, 2)), ("A", "A"))
    with pytest.raises(InputError, match="At least 2"):
        ScoreTable(np.zeros((1, 2)), ("A", "B"))
    with pytest.raises(InputError, match="finite"):
        ScoreTable(np.full((3, 2), np.nan), ("A", "B"))
    table = ScoreTable(np.arange(6.0).reshape(3, 2), ("A", "B"))
    assert table.only(("B", "A")).scores.tolist() == [[1, 0], [3, 2], [5, 4]]
    with pytest.raises(InputError, match="no system 'C'"):
        table.column("C")


def test_the_metrics_of_the_stories_are_read_whole(shared_data):
    source = open_scores([str(shared_data / "hanna_metrics.csv")])
    found = score_table(source, score="chrF")
    assert found.scores.shape == (96, 11)
    assert found.systems[0] == "Human"
    assert (found.column("Human") == 100).all()


# Files without a header: first scores are never read as names.


def opened(tmp_path, text):
    path = tmp_path / "scores.tsv"
    path.write_text(text)
    return open_scores([str(path)])


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("sys1\tdoc1\t1\t0.5\nsys1\tdoc1\t2\t0.6\nsys2\tdoc1\t1\t0.7\n", "sys1, doc1, 0.5"),
        ("newstest\tA\t1\t3\nnewstest\tB\t1\t4\n", "newstest"),
        ("i1,0.25,0.5\ni2,0.5,0.75\n", "0.25, 0.5"),
    ],
)
def test_a_first_line_of_data_is_refused(tmp_path, text, named):
    with pytest.raises(InputError) as refused:
        opened(tmp_path, text)
    said = str(refused.value)
    assert f"looks like data and not like the names of columns: {named}" in said
    assert "Write names above the columns" in said


@pytest.mark.parametrize("header", ["item,1,2", "item,A,B", "item,system 1.5,x", "name,a,b"])
def test_names_that_are_whole_numbers_are_names(tmp_path, header):
    source = opened(tmp_path, f"{header}\ni1,1,2\ni2,2,1\ni3,1,1\n")
    assert score_table(source).n_items == 3


def test_labels_are_sent_to_accuracy(tmp_path):
    with pytest.raises(InputError, match="Predicted labels are compared by accuracy"):
        opened(tmp_path, "id,gold,A,B\n1,pos,neg,pos\n2,neg,neg,pos\n")


# `check` of tables that no worker rated.


ANSWERS = pd.read_csv(ROOT / "data" / "answers.csv")


@pytest.fixture
def once(tmp_path: Path) -> Path:
    """One generation of the shipped answers, a row for each item and system, without a column of runs."""
    path = tmp_path / "once.csv"
    ANSWERS[ANSWERS["generation"] == 1].drop(columns="generation").to_csv(path, index=False)
    return path


@pytest.fixture
def wide(once: Path, tmp_path: Path) -> Path:
    path = tmp_path / "wide.csv"
    table = pd.read_csv(once).pivot_table(index=["item", "passage"], columns="system", values="correct")
    table.reset_index().to_csv(path, index=False)
    return path


@pytest.mark.parametrize("layout", ["once", "wide"])
def test_scores_of_systems_are_told_with_what_looks_like_clusters(
    layout: str, request: pytest.FixtureRequest
) -> None:
    record = run_json("check", request.getfixturevalue(layout))
    expected = ANSWERS[ANSWERS["generation"] == 1].groupby("system")["correct"].mean()
    assert record["schema"] == "humeval_power/score_check/1"
    assert {row["system"]: row["mean"] for row in record["rows"]} == pytest.approx(dict(expected))
    assert (record["n_items"], record["binary"]) == (120, True)
    (answer,) = record["independence"]
    assert "Column 'passage' puts the 120 items into 24 groups of up to 5" in answer["text"]


def test_the_command_that_follows_works(once: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(once.parent)
    printed = run("check", once.name).stdout
    (line,) = [
        line.strip() for line in printed.splitlines() if "humeval-power compare accuracy test" in line
    ]
    assert line.endswith("--cluster passage")
    assert "clusters (CR2)" in run(*line.split()[1:]).stdout


def test_metrics_of_a_long_table_each_have_their_rows(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rows = [(f"i{i}", s, *rng.normal(size=2).round(3)) for i in range(12) for s in ("A", "B", "C")]
    path = tmp_path / "metrics.csv"
    pd.DataFrame(rows, columns=["item", "system", "bleu", "comet"]).to_csv(path, index=False)
    record = run_json("check", path)
    assert [(row["metric"], row["system"]) for row in record["rows"]] == [
        (metric, system) for metric in ("bleu", "comet") for system in "ABC"
    ]
    assert "compare scores metrics.csv --score bleu --question mean" in run("check", path).stdout


def test_runs_are_told_with_clusters_too() -> None:
    record = run_json("check", ROOT / "data" / "answers.csv")
    assert (record["schema"], record["kind"]) == ("humeval_power/runs_check/1", "nested")
    assert "--cluster passage" in record["independence"][0]["text"]


def test_ratings_whose_workers_are_called_otherwise_are_still_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "who.csv"
    path.write_text("who,item,system,rating\na,1,A,2\nb,1,A,3\na,1,B,2\nb,1,B,4\n")
    assert "no column was found for: worker" in run("check", path, code=2).stderr


def test_what_the_user_names_is_a_rating_study(once: Path) -> None:
    assert "no column was found for: worker" in run("check", once, "--rating", "correct", code=2).stderr

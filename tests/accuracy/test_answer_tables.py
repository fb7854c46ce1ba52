"""Right and wrong answers read from one table of all systems, and clusters from wherever they stand."""

from pathlib import Path

import cli
import numpy as np
import pytest
from cases import each_case

from humeval_power.comparisons.accuracy.files import read_answers
from humeval_power.errors import InputError

WIDE = """item,passage,gold,A,B,note
q1,p1,x,x,x,fine
q2,p1,y,x,y,late
q3,p2,y,x,y,odd
q4,p2,x,x,y,fine
q5,p3,x,y,x,long
q6,p3,x,y,x,odd one
"""
RIGHT = [[1, 1], [0, 1], [0, 1], [1, 0], [0, 1], [0, 1]]
LONG = [
    (f"q{item}", f"p{(item + 1) // 2}", system, right[place])
    for place, system in enumerate(("old", "new"))
    for item, right in enumerate(RIGHT, start=1)
]


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def long_table(path: Path, *, column: str = "correct") -> str:
    rows = "\n".join(",".join(map(str, row)) for row in LONG)
    return write(path, f"item,passage,system,{column}\n{rows}\n")


def refusal(*arguments: str) -> str:
    return " ".join(cli.run("accuracy", "test", *arguments, code=2).stderr.split())


@pytest.mark.parametrize("labels", [None, "gold", "the table"])
def test_a_column_for_each_system_and_one_of_right_answers(tmp_path: Path, labels: str | None) -> None:
    table = write(tmp_path / "t.csv", WIDE)
    found = read_answers(table, gold=table if labels == "the table" else labels, cluster="passage")
    assert found.systems == ("A", "B")
    assert found.right.astype(int).tolist() == RIGHT
    assert found.clusters is not None
    assert (found.clusters.name, found.clusters.codes.tolist()) == ("passage", [0, 0, 1, 1, 2, 2])
    assert "The systems are the columns A, B" in found.notices[-1]


def test_right_answers_and_clusters_may_stand_in_a_file_of_their_own(tmp_path: Path) -> None:
    rows = [line.split(",") for line in WIDE.splitlines()]
    table = write(tmp_path / "t.csv", "\n".join(",".join((row[0], *row[3:5])) for row in rows))
    # In another order: items are matched by their names.
    gold = [rows[0], *reversed(rows[1:])]
    labels = write(tmp_path / "g.csv", "\n".join(",".join(row[:3]) for row in gold))
    found = read_answers(table, gold=labels, cluster="passage")
    assert found.right.astype(int).tolist() == RIGHT[::-1]
    assert found.clusters is not None
    assert found.clusters.codes.tolist() == [0, 0, 1, 1, 2, 2]


def test_right_and_wrong_in_the_columns_need_no_right_answers(tmp_path: Path) -> None:
    lines = ["A,B", *(",".join(map(str, row)) for row in RIGHT)]
    found = read_answers(write(tmp_path / "t.csv", "\n".join(lines)))
    assert found.right.astype(int).tolist() == RIGHT
    named = read_answers(write(tmp_path / "u.csv", "\n".join(lines)), systems=("B", "A"))
    assert named.right.astype(int).tolist() == [row[::-1] for row in RIGHT]


def test_a_row_for_each_item_and_system(tmp_path: Path) -> None:
    found = read_answers(long_table(tmp_path / "t.csv"), cluster="passage")
    assert found.systems == ("old", "new")
    assert found.right.astype(int).tolist() == RIGHT
    assert found.clusters is not None
    assert found.clusters.n_clusters == 3
    named = read_answers(long_table(tmp_path / "u.csv", column="points"), column="points")
    assert named.right.astype(int).tolist() == RIGHT
    record = cli.run_json("accuracy", "test", str(tmp_path / "t.csv"))
    assert record["comparisons"][0]["name"] == "new - old"
    assert record["comparisons"][0]["systems"] == ["old", "new"]


def test_predictions_a_row_beside_right_answers_a_row(tmp_path: Path) -> None:
    rows = [line.split(",") for line in WIDE.splitlines()[1:]]
    lines = [
        f"{row[0]},{system},{row[2]},{row[3 + place]}" for row in rows for place, system in enumerate("AB")
    ]
    table = write(tmp_path / "t.csv", "\n".join(["item,model,gold,prediction", *lines]))
    for labels in (None, "gold", table):
        assert read_answers(table, gold=labels).right.astype(int).tolist() == RIGHT
    changed = write(
        tmp_path / "u.csv", "\n".join(["item,model,gold,prediction", *lines[:-1], "q6,B,other,x"])
    )
    with pytest.raises(InputError, match="has another right answer, 'x', already") as caught:
        read_answers(changed)
    assert caught.value.problems[0].row == 13


def test_columns_that_look_like_clusters_are_named_in_the_report_and_beside_it(tmp_path: Path) -> None:
    table = write(tmp_path / "t.csv", WIDE)
    found = cli.run("accuracy", "test", table)
    assert "Column 'passage' puts the 6 items into 3 groups" in " ".join(found.stderr.split())
    assert "--cluster passage takes that into account" in " ".join(found.stdout.split())
    told = cli.run("accuracy", "test", table, "--cluster", "passage")
    assert "Column 'passage'" not in " ".join(told.stderr.split())


def test_a_table_of_counts_is_one_still(tmp_path: Path) -> None:
    table = write(tmp_path / "t.csv", "name,b,c,n\nours,16,6,161\n")
    record = cli.run_json("accuracy", "test", table)
    assert record["comparisons"][0]["only_b"] == 16
    assert "Counts do not say" in refusal("--b", "1", "--c", "2", "--n", "9", "--cluster", "passage")


def test_clusters_of_two_files_must_agree(tmp_path: Path) -> None:
    rows = [line.split(",") for line in WIDE.splitlines()]
    a = write(
        tmp_path / "a.csv",
        "\n".join(f"{r[0]},{r[1]},{'prediction' if r[3] == 'A' else r[3]}" for r in rows),
    )
    b = write(
        tmp_path / "b.csv",
        "\n".join(f"{r[0]},{r[1]},{'prediction' if r[4] == 'B' else r[4]}" for r in rows),
    )
    gold = write(tmp_path / "g.csv", "\n".join(f"{r[0]},{r[2]}" for r in rows))
    found = read_answers(a, b, gold=gold, cluster="passage")
    assert found.clusters is not None
    assert found.clusters.n_clusters == 3
    wrong = write(tmp_path / "c.csv", Path(b).read_text().replace("q2,p1", "q2,p2"))
    said = refusal(a, wrong, "--gold", gold, "--cluster", "passage")
    assert "c.csv" in said
    assert "are not those of a.csv" in said


def test_lines_take_their_clusters_from_a_file(tmp_path: Path) -> None:
    a, b = (write(tmp_path / f"{name}.txt", "1\n0\n1\n0\n") for name in "ab")
    passages = write(tmp_path / "passages.txt", "p1\np1\np2\np2\n")
    found = read_answers(a, b, cluster=passages)
    assert found.clusters is not None
    assert found.clusters.codes.tolist() == [0, 0, 1, 1]
    short = write(tmp_path / "short.txt", "p1\np2\n")
    assert "has 2 lines for 4 items" in refusal(a, b, "--cluster", short)


def test_one_column_in_two_roles_is_refused(tmp_path: Path) -> None:
    table = write(tmp_path / "t.csv", WIDE)
    said = refusal(table, table, "--gold", table)
    assert "A and B are the same file" in said
    assert "--systems A,B --gold GOLD" in said
    other = write(tmp_path / "u.csv", "item,prediction\n" + "\n".join(f"q{i},x" for i in range(1, 7)))
    two = write(tmp_path / "v.csv", "item,label\n" + "\n".join(f"q{i},x" for i in range(1, 7)))
    assert "the same column as the right answers" in refusal(two, other, "--gold", two)


@each_case(
    ("text", "options", "said"),
    [
        (WIDE, ("--systems", "A,C"), "there is no column 'C', which --systems names"),
        (WIDE, ("--cluster", "pasage"), "Did you mean 'passage'?"),
        (WIDE, ("--column", "A"), "--systems A,B"),
        (WIDE.replace("gold", "truth"), (), "which columns are the systems?"),
        (WIDE.replace("q6,p3,x", "q6,p3,"), (), "1 labels are blank"),
        (WIDE.replace("q6,p3,x", "q6,,x"), ("--cluster", "passage"), "item 'q6' has no cluster"),
        (WIDE.replace("q6,", "q5,"), (), "value 'q5': 1 row of an item that is there already"),
        (
            WIDE.replace("p2", "p1").replace("p3", "p1"),
            ("--cluster", "passage"),
            "All items are in one cluster",
        ),
        (WIDE.replace("gold", "truth"), ("--gold", "gold"), "There is no file 'gold'"),
        ("item,system,words\nq1,a,fine\nq1,b,bad\n", (), "no column says right or wrong"),
        ("item,system,correct\nq1,a,1\nq1,b,maybe\n", (), "neither right nor wrong"),
        (
            "item,system,correct\nq1,a,1\nq1,a,0\nq1,b,1\n",
            (),
            "seeds or prompts, for `compare runs test`",
        ),
        ("item,system,correct\nq1,a,1\nq2,a,0\nq1,b,1\n", (), "has 1 item that t.csv (system b) lacks: q2"),
        ("item,system,correct\nq1,a,1\nq2,a,0\n", (), "at least two systems are needed"),
        ("item,system,correct\nq1,a,1\nq1,b,0\n", ("--systems", "a,c"), "there is no system 'c'"),
    ],
)
def test_tables_that_cannot_be_used_are_refused_in_words(
    tmp_path: Path, text: str, options: tuple[str, ...], said: str
) -> None:
    assert said in refusal(write(tmp_path / "t.csv", text), *options)


def test_an_estimate_is_of_two_systems_of_a_table(tmp_path: Path) -> None:
    table = write(tmp_path / "t.csv", WIDE.replace("note", "C").replace("fine", "x").replace("odd", "y"))
    Path(table).write_text(Path(table).read_text().replace("late", "y"))
    refused = cli.run("accuracy", "estimate", table, "--gold", "gold", code=2)
    assert "--systems A,B" in " ".join(refused.stderr.split())
    record = cli.run_json("accuracy", "estimate", table, "--systems", "A,B", "--cluster", "passage")
    assert record["clusters"]["n_clusters"] == 3
    assert record["systems"] == ["A", "B"]


def test_eight_systems_are_compared_in_pairs_on_eighty_columns(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    names = ["a model with a <b>long</b> name", *(f"m{place}" for place in range(7))]
    right = rng.random((120, 8)) < np.linspace(0.5, 0.8, 8)
    lines = [
        f"q{item},p{item // 4},{name},{int(right[item, place])}"
        for place, name in enumerate(names)
        for item in range(120)
    ]
    table = write(tmp_path / "t.csv", "\n".join(["item,passage,model,correct", *lines]))
    found = cli.run("accuracy", "test", table, "--cluster", "passage")
    assert max(map(len, found.output.splitlines())) <= 80
    assert "of 28 comparisons" in " ".join(found.output.split())
    folder = tmp_path / "out"
    cli.run("accuracy", "test", table, "--cluster", "passage", "-o", str(folder))
    assert "<b>long</b>" not in (folder / "index.html").read_text()
    assert len((folder / "table.csv").read_text().splitlines()) == 29

"""`humeval-power compare accuracy` as people use it: options, files, messages, records."""

import json
from pathlib import Path
from typing import Any

import cli
import numpy as np
import pytest
from cases import each_case, few_fast
from click.testing import Result
from places import ROOT

from humeval_power.comparisons.accuracy import calls as accuracy
from humeval_power.comparisons.accuracy.counts import paired_counts
from humeval_power.comparisons.accuracy.files import read_claims, read_counts, read_leaderboard
from humeval_power.errors import InputError
from humeval_power.files.lines import read_predictions, right_answers

COMMON = ("--simulations", "200", "--jobs", "1")


def run(*arguments: str, code: int = 0) -> Result:
    return cli.run("accuracy", *arguments, code=code)


def text_of(*arguments: str) -> str:
    result = run(*arguments)
    assert max(map(len, result.output.splitlines())) <= 80
    return result.stdout


def record_of(*arguments: str) -> dict[str, Any]:
    return cli.run_json("accuracy", *arguments)


def refusal_of(*arguments: str, code: int = 2) -> str:
    return " ".join(run(*arguments, code=code).stderr.split())


def write(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


# Questions before a comparison


def test_power_is_computed_and_simulated() -> None:
    record = record_of(
        "power", "--n", "500", "--effect", "0.02", "--agreement", "0.9", "--test", "exact", *COMMON
    )
    assert record["schema"] == "humeval_power/accuracy_power/1"
    # Card et al. (2020), appendix C, by enumeration.
    assert record["computed"]["power"] == pytest.approx(0.2494, abs=5e-5)
    assert record["simulated"]["n_simulations"] == 200
    assert "B alone right on 6 %" in text_of(
        "power", "--n", "500", "--effect", "0.02", "--agreement", "0.9", *COMMON
    )


def test_the_detectable_improvement_of_sst_2() -> None:
    record = record_of("mde", "--n", "1821", "--baseline-accuracy", "0.972", "--overlap", "glue")
    assert record["found"][0]["effect"] == pytest.approx(0.0102023, abs=1e-6)


def test_without_an_agreement_the_middle_is_assumed_and_said() -> None:
    result = run("mde", "--n", "1821", "--baseline-accuracy", "0.972")
    assert "No --agreement" in result.stderr
    assert result.stderr.count("No --agreement") == 1
    assert "half-way" in result.stdout
    assert "at the least possible agreement" in " ".join(result.stdout.split())


def test_the_size_for_an_improvement() -> None:
    assert record_of("size", "--effect", "0.02", "--agreement", "0.9")["found"]["n"] == pytest.approx(
        1960, abs=40
    )


def test_a_surface_has_a_row_for_each_cell() -> None:
    record = record_of("surface", "--n", "200,400", "--effect", "0.02,0.04", "--agreement", "0.9")
    assert len(record["rows"]) == 4


def test_unpaired_answers_need_a_baseline_and_no_agreement() -> None:
    text = text_of(
        *("power", "--n", "400", "--effect", "0.05", "--baseline-accuracy", "0.8", "--test", "unpaired"),
        *COMMON,
    )
    assert "other ones for B than for A" in text
    for wrong in (("--agreement", "0.9"), ("--baseline-accuracy", "0.8", "--overlap", "glue")):
        run("power", "--n", "400", "--effect", "0.05", "--test", "unpaired", *wrong, code=2)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--agreement", "0.9", "--overlap", "glue"), "not both"),
        ((), "or --baseline-accuracy"),
        (("--baseline-accuracy", "97.2"), "Divide by 100"),
        (("--agreement", "0.99"), "impossible"),
    ],
)
def test_options_that_make_no_sense_are_refused(arguments: tuple[str, ...], said: str) -> None:
    assert said in refusal_of("power", "--n", "500", "--effect", "0.02", *arguments)


def test_an_impossible_improvement_is_no_number() -> None:
    assert "0.763" in refusal_of("mde", "--n", "147", "--baseline-accuracy", "0.945", "--overlap", "glue")


def test_a_baseline_that_the_regression_has_not_seen_is_remarked() -> None:
    result = run(
        *("power", "--n", "500", "--effect", "0.02", "--baseline-accuracy", "0.7", "--overlap", "glue"),
        *COMMON,
    )
    assert "has seen accuracies of 0.8 to 1 only" in " ".join(result.stderr.split())


def test_bounds_show_every_guess() -> None:
    text = text_of("bounds", "--n", "147", "--baseline-accuracy", "0.945")
    assert text.count("none possible") == 2
    assert "147 items" in text.splitlines()[0]
    assert "seen accuracies" in refusal_of("bounds", "--n", "147", "--baseline-accuracy", "0.7", code=0)
    record = record_of("bounds", "--n", "1821", "--baseline-accuracy", "0.972")
    assert record["schema"] == "humeval_power/accuracy_bounds/1"
    assert record["found"]["most"]["effect"] < record["found"]["least"]["effect"]
    assert record["found"]["squad"]["effect"] is None


# A finished comparison


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str, str]:
    a = write(tmp_path / "a.txt", "\n".join(["x"] * 6 + ["y"] * 4) + "\n")
    b = write(
        tmp_path / "b.csv", "id,prediction\n" + "".join(f"{i},{'x' if i < 9 else 'y'}\n" for i in range(10))
    )
    gold = write(tmp_path / "gold.txt", "label\n" + "x\n" * 10)
    return a, b, gold


def test_an_estimate_counts_right_answers(files: tuple[str, str, str], tmp_path: Path) -> None:
    a, _, gold = files
    b = write(tmp_path / "b.txt", "\n".join(["x"] * 5 + ["y"] + ["x"] * 4))
    record = record_of("estimate", a, b, "--gold", gold)
    assert record["schema"] == "humeval_power/accuracy_estimate/1"
    assert (record["only_a"], record["only_b"], record["both"], record["n_items"]) == (1, 4, 5, 10)
    assert record["accuracy_b"] == pytest.approx(0.9)
    assert record["agreement"] == pytest.approx(0.5)
    assert "--agreement 0.5" in text_of("estimate", a, b, "--gold", gold)


def test_ids_on_one_side_only_are_refused(files: tuple[str, str, str]) -> None:
    a, b, gold = files
    assert "no column with the ids" in refusal_of("test", a, b, "--gold", gold)


def test_predictions_are_matched_by_id(tmp_path: Path) -> None:
    a = write(tmp_path / "a.csv", "id,prediction\nq2,no\nq1,yes\n")
    b = write(tmp_path / "b.jsonl", '{"id": "q1", "prediction": "no"}\n{"id": "q2", "prediction": "no"}\n')
    gold = write(tmp_path / "gold.tsv", "id\tlabel\nq1\tyes\nq2\tno\n")
    read = [read_predictions(path) for path in (a, b, gold)]
    assert right_answers(read[:2], read[2]) == ((True, True), (False, True))


def test_files_that_do_not_belong_together_are_refused_with_every_reason(tmp_path: Path) -> None:
    a = write(tmp_path / "a.csv", "id,prediction\nq1,yes\nq9,no\n")
    gold = write(tmp_path / "gold.csv", "id,label\nq1,yes\nq2,no\n")
    with pytest.raises(InputError) as caught:
        right_answers([read_predictions(a)], read_predictions(gold))
    assert len(caught.value.problems) == 2
    assert "q2" in str(caught.value)
    assert "q9" in str(caught.value)
    with pytest.raises(InputError, match="3 predictions, but 2"):
        right_answers(
            [read_predictions(write(tmp_path / "a.txt", "x\ny\nz\n"))],
            read_predictions(write(tmp_path / "g.txt", "x\ny\n")),
        )


def test_without_labels_the_files_say_right_or_wrong(tmp_path: Path) -> None:
    a = read_predictions(write(tmp_path / "a.txt", "1\n0\ntrue\n"))
    assert right_answers([a], None) == ((True, False, True),)
    with pytest.raises(InputError, match="neither right nor wrong") as caught:
        right_answers([read_predictions(write(tmp_path / "b.txt", "1\ncat\n"))], None)
    assert caught.value.problems[0].row == 2


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("id,prediction\nq1,a\nq1,b\n", "p.csv", "already"),
        ("x,y,z\n1,2,3\n", "p.csv", "column=COLUMN"),
        ("", "p.txt", "empty"),
    ],
)
def test_files_of_predictions_that_cannot_be_used(tmp_path: Path, text: str, name: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_predictions(write(tmp_path / name, text))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file"):
        read_predictions(tmp_path / "none.txt")
    with pytest.raises(InputError, match="no column 'guess'"):
        read_predictions(write(tmp_path / "p.csv", "id,prediction\nq1,a\n"), column="guess")


def test_blank_labels_are_refused(tmp_path: Path) -> None:
    gold = read_predictions(write(tmp_path / "g.csv", "id,label\nq1,x\nq2,\n"))
    guess = read_predictions(write(tmp_path / "a.csv", "id,prediction\nq1,x\nq2,y\n"))
    with pytest.raises(InputError, match="1 labels are blank"):
        right_answers([guess], gold)


def test_the_recommended_test_comes_first() -> None:
    record = record_of("test", "--only-b", "1", "--only-a", "7", "--n", "21", "--both", "1")
    tests = record["comparisons"][0]["tests"]
    assert [each["name"] for each in tests] == ["mid-p", "unconditional", "asymptotic", "exact", "unpaired"]
    assert tests[0]["p_value"] == pytest.approx(0.0390625)  # Fagerland, Lydersen & Laake (2013)
    text = text_of("test", "--b", "1", "--c", "7", "--n", "21")
    assert text.index("mid-p") < text.index("unconditional")
    assert "not known" in text  # the unpaired test needs the accuracies
    assert "A alone on 7" in text
    assert "a difference is shown (p = 0.039)" in " ".join(text.split())


def test_a_table_of_counts_gives_a_test_for_each_row(tmp_path: Path) -> None:
    table = write(tmp_path / "t.csv", "name,b,c,n\nours,16,6,161\ntheirs,3,0,100\n")
    text = text_of("test", table)
    assert text.index("in 1 of 2 comparisons") < text.index("\nours\n") < text.index("\ntheirs\n")
    assert text.count("unconditional") == 2
    assert [name for name, _ in read_counts(table)] == ["ours", "theirs"]
    with pytest.raises(InputError) as caught:
        read_counts(write(tmp_path / "u.csv", "b,c,n\n16,6,20\n1,x,9\n"))
    assert "not a number" in str(caught.value)
    with pytest.raises(InputError, match="22 items are counted"):
        read_counts(write(tmp_path / "v.csv", "b,c,n\n16,6,20\n"))


@pytest.mark.parametrize("wrong", [(), ("--only-b", "3"), ("a.txt", "b.txt", "--n", "3")])
def test_test_needs_files_or_counts(wrong: tuple[str, ...]) -> None:
    run("test", *wrong, code=2)


def test_blank_predictions_count_as_wrong_and_are_told(tmp_path: Path) -> None:
    a = write(tmp_path / "a.csv", "id,prediction\nq1,x\nq2,\n")
    b = write(tmp_path / "b.csv", "id,prediction\nq1,x\nq2,x\n")
    gold = write(tmp_path / "g.csv", "id,label\nq1,x\nq2,x\n")
    result = run("estimate", a, b, "--gold", gold)
    assert "1 predictions are blank" in result.stderr
    assert "A 0.5000, B 1.0000" in result.stdout


def test_arrays_of_right_answers_are_compared_in_python() -> None:
    right_a, right_b = np.arange(40) < 20, np.arange(40) < 30
    found = accuracy.test(paired_counts(right_b, right_a))
    assert found.record()["comparisons"][0]["difference"] == 0.25
    assert "B is right on 10 more of 40 items than A" in str(found)
    assert found.to_frame()["p_mid_p"].tolist() == [pytest.approx(1 / 2**10)]
    assert "<table>" in found._repr_html_()
    assert accuracy.estimate(paired_counts(right_b, right_a)).to_frame()["agreement"].tolist() == [0.75]


# Tables of results

CLAIMS = """paper,task,n,baseline,improvement
one,MRPC,1725,88.9,+1.2
two,MRPC,1725,90.1,0.4
three,MRPC,1725,90.5,0.2
four,RTE,3000,80.2,5.1
five,RTE,3000,85.3,2.8
six,RTE,3000,88.1,1.0
"""


def test_claims_in_per_cent_are_told_from_shares(tmp_path: Path) -> None:
    claims, percent, _ = read_claims(write(tmp_path / "c.csv", CLAIMS))
    assert percent
    assert claims[0].baseline == pytest.approx(0.889)
    assert claims[0].improvement == pytest.approx(0.012)
    shares, percent, _ = read_claims(
        write(tmp_path / "d.csv", "dataset,n,baseline,accuracy\na,100,0.8,0.83\n")
    )
    assert not percent
    assert shares[0].improvement == pytest.approx(0.03)


def test_claims_are_judged(tmp_path: Path) -> None:
    table, out = write(tmp_path / "c.csv", CLAIMS), tmp_path / "c.json"
    text = text_of("claims", table, "-o", str(out))
    assert "could show 2 of 6 claimed improvements" in " ".join(text.split())
    record = json.loads(out.read_text())
    assert record["schema"] == "humeval_power/accuracy_claims/1"
    assert record["claims"][0]["is_below"] is True
    assert record["regression"]["n_claims"] == 6


def test_every_problem_of_a_table_of_claims_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        read_claims(write(tmp_path / "c.csv", "task,n,baseline,improvement\na,ten,0.8,0.1\nb,10,-1,nan\n"))
    assert len(caught.value.problems) == 3
    with pytest.raises(InputError, match="no column was found for: baseline"):
        read_claims(write(tmp_path / "d.csv", "task,n,improvement\na,10,0.1\n"))


PUBLISHED = ROOT / "examples" / "papers" / "card2020_repository"


@pytest.mark.slow
def test_the_annotations_of_card_et_al_are_read_as_they_are(tmp_path: Path) -> None:
    annotations, sizes = PUBLISHED / "Glue-Paper-Annotations.csv", PUBLISHED / "glue_test_set_sizes.csv"
    claims, percent, left_out = read_claims(annotations, sizes=sizes)
    # Their notebook keeps the rows with two Y; Table 7 counts 61 claims.
    assert (len(claims), percent, left_out) == (61, True, 57)
    assert (claims[0].task, claims[0].n_items, claims[0].name) == ("MNLI-m", 9796, "raffel2019exploring")
    few = write(tmp_path / "few.csv", "".join(annotations.read_text().splitlines(keepends=True)[:20]))
    result = run("claims", str(few), "--sizes", str(sizes))
    assert "could show 4 of 7 claimed improvements" in " ".join(result.stdout.split())
    assert "12 rows left out" in result.stderr


FLAGGED = "task,claimed,baseline,accuracy\na,Y,0.80,0.83\n"


@each_case(
    ("claims", "sizes", "said"),
    [
        (
            FLAGGED + "a,perhaps,0.8,0.9\n",
            "task,n\na,100\n",
            "row 3, column 'claimed': value 'perhaps': is neither",
        ),
        (
            FLAGGED + "b,yes,0.8,0.9\n",
            "task,n\na,100\n",
            "row 3, column 'task': value 'b': is not in sizes.csv",
        ),
        (FLAGGED, "task,n\na,100\na,200\n", "value 'a': has 100 items in another row"),
        (FLAGGED.replace("Y", "N"), "task,n\na,100\n", "no row has yes under claimed"),
        (FLAGGED.replace("task", "name"), "task,n\na,100\n", "no column was found for: task"),
    ],
)
def test_a_table_of_flagged_claims_or_of_sizes_that_says_too_little_is_refused(
    tmp_path: Path, claims: str, sizes: str, said: str
) -> None:
    tables = write(tmp_path / "claims.csv", claims), "--sizes", write(tmp_path / "sizes.csv", sizes)
    assert said in refusal_of("claims", *tables)


BOARD = """system,date,accuracy,dev
first,2020-01-01,90.0,90.0
second,2020-02-01,93.0,93.1
third,2020-03-01,93.1,93.4
"""


def test_a_leaderboard_is_judged(tmp_path: Path) -> None:
    table = write(tmp_path / "b.csv", BOARD)
    text = text_of("leaderboard", table, "--n", "8862")
    assert "1 of 2 submissions is a new best" in text
    record = record_of("leaderboard", table, "--n", "8862")
    assert [each["is_best"] for each in record["submissions"]] == [True, False]
    submissions, percent = read_leaderboard(table)
    assert percent
    assert submissions[1].validation == pytest.approx(0.931)


def test_a_leaderboard_without_validation_says_so(tmp_path: Path) -> None:
    bare = "\n".join(line.rsplit(",", 1)[0] for line in BOARD.splitlines())
    result = run("leaderboard", write(tmp_path / "b.csv", bare), "--n", "8862")
    assert "no power is known" in " ".join(result.stderr.split())


@few_fast(
    ("words", "picture", "rows"),
    [
        (("claims", "c.csv"), "claims improvements baselines methods", 6),
        (("leaderboard", "b.csv", "--n", "8862"), "leaderboard", 2),
        (("test", "t.csv"), "difference", 2),
        (("bounds", "--n", "147", "--baseline-accuracy", "0.9"), "", 6),
    ],
    fast=1,
)
def test_a_folder_holds_page_record_table_and_picture(
    words: tuple[str, ...], picture: str, rows: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (("c", CLAIMS), ("b", BOARD), ("t", "name,b,c,n\nours,16,6,161\ntheirs,3,0,100\n")):
        write(Path(f"{name}.csv"), text)
    run(*words, "-o", "out")
    pictures = {f"{name}.{ending}" for name in picture.split() for ending in ("png", "svg")}
    assert {path.name for path in Path("out").iterdir()} == {
        "index.html",
        "record.json",
        "table.csv",
    } | pictures
    assert Path("out/table.csv").read_text().count("\n") == rows + 1
    record = json.loads(Path("out/record.json").read_text())
    assert [source["name"] for source in record["sources"]] == [word for word in words if "csv" in word]

"""A leaderboard whose pairs were counted on a validation set, such as that of SQuAD 2.0."""

from pathlib import Path

import numpy as np
import pytest
from cases import each_case
from places import ROOT
from scipy import stats

import humeval_power as hp
from humeval_power.choices import PowerOn
from humeval_power.comparisons.accuracy.agreement import ValidationPairs
from humeval_power.comparisons.accuracy.claims import Submission, judge_leaderboard
from humeval_power.errors import InputError
from tests.cli import run

TABLES = ROOT / "examples" / "papers" / "card2020_repository"
BOARD = (
    Submission("first", "2020-01-01", 0.80, 0.80),
    Submission("second", "2020-02-01", 0.84, 0.83),
    Submission("third", "2020-03-01", 0.85, 0.90),
)
COUNTS = {("first", "second"): 100, ("first", "third"): 150, ("second", "third"): 120}
HEAD = "system,date,accuracy,dev\nfirst,2020-01-01,80,80\nsecond,2020-02-01,84,83\n"


def pairs(counts: dict[tuple[str, str], int], n: int = 1000) -> ValidationPairs:
    return ValidationPairs(n, {frozenset(names): count for names, count in counts.items()})


@pytest.fixture(scope="module")
def squad() -> tuple[list[Submission], ValidationPairs]:
    board, _ = hp.accuracy.read_leaderboard(TABLES / "models.tsv")
    return board, hp.accuracy.read_pairs(TABLES / "pairs_dev.tsv", board, n_validation=11873)


# Card et al. (2020), App. D: 19 of 143 powered, 14 of them and 3 others significant. Their 19 have the power with
# as many items as the validation set has; the test set, on which the test is made, is smaller.
@pytest.mark.parametrize(("power_on", "powered"), [("validation", 19), ("test", 15)])
def test_the_leaderboard_of_squad_is_that_of_the_paper(squad, power_on: PowerOn, powered: int) -> None:
    board, known = squad
    found = hp.accuracy.leaderboard(board, n=8862, pairs=known, power_on=power_on)
    assert len(found.judged) == 143
    assert found.n_powered == powered
    assert sum(each.is_best for each in found.judged) == 14
    assert sum(each.is_significant and not each.is_best for each in found.judged) == 3


def test_the_power_is_that_of_simulated_test_sets_at_the_counted_agreement() -> None:
    judged = judge_leaderboard(BOARD, n_items=400, pairs=pairs(COUNTS), power=0.5)
    rng = np.random.default_rng(4)
    n_sets = 4000
    drawn = rng.multinomial(400, [0.065, 0.035, 0.9], size=n_sets)  # 100 of 1000 differ, 3 points apart
    only_b, only_a = drawn[:, 0], drawn[:, 1]
    tail = stats.binom.cdf(np.minimum(only_b, only_a), only_b + only_a, 0.5)
    point = stats.binom.pmf(np.minimum(only_b, only_a), only_b + only_a, 0.5)
    found = int(np.sum((np.minimum(2 * tail - point, 1.0) <= 0.05) & (only_b > only_a)))
    low, high = stats.binom.interval(0.998, n_sets, judged[0].power)
    assert low <= found <= high
    assert judged[0].agreement == pytest.approx(0.9)


def test_a_larger_validation_set_has_more_power_for_the_same_improvement() -> None:
    on_test = judge_leaderboard(BOARD, n_items=400, pairs=pairs(COUNTS))
    on_validation = judge_leaderboard(BOARD, n_items=400, pairs=pairs(COUNTS), power_on="validation")
    assert on_validation[0].power > on_test[0].power
    assert on_validation[0].p_value == on_test[0].p_value  # the test is made on the test set


def test_a_pair_that_is_compared_must_be_there() -> None:
    with pytest.raises(InputError, match="no row for the pair first and second"):
        judge_leaderboard(BOARD, n_items=400, pairs=pairs({("first", "third"): 150}))


def test_submissions_are_called_by_their_key_where_they_have_one(tmp_path: Path) -> None:
    (tmp_path / "board.tsv").write_text(
        "key\tsystem\tdate\taccuracy\n1\tsame\t2020-01-01\t80\n2\tsame\t2020-02-01\t84\n"
    )
    (tmp_path / "pairs.tsv").write_text("a\tb\tdisagree\n2\t1\t90\n")
    board, _ = hp.accuracy.read_leaderboard(tmp_path / "board.tsv")
    known = hp.accuracy.read_pairs(tmp_path / "pairs.tsv", board, n_validation=1000)
    assert known.agreement("1", "2").share == pytest.approx(0.91)


@each_case(
    ("rows", "said"),
    [
        ("first,nobody,30", "row 2, column 'second': value 'nobody': is no submission of the leaderboard"),
        ("first,first,30", "is paired with itself"),
        ("first,second,2000", "more items than the 1,000 of the validation set"),
        ("first,second,60\nsecond,first,61", "row 3, column 'differing': value '61': the pair has 60"),
        ("first,second,12", "are apart, 30"),
        ("first,second,1.5", "whole number"),
        ("first,second,", "the cell is blank"),
    ],
)
def test_pairs_that_cannot_be_are_refused(tmp_path: Path, rows: str, said: str) -> None:
    (tmp_path / "board.csv").write_text(HEAD)
    (tmp_path / "pairs.csv").write_text(f"first,second,differing\n{rows}\n")
    board, _ = hp.accuracy.read_leaderboard(tmp_path / "board.csv")
    with pytest.raises(InputError) as caught:
        hp.accuracy.read_pairs(tmp_path / "pairs.csv", board, n_validation=1000)
    assert said in str(caught.value)
    assert "pairs.csv" in str(caught.value)


def test_two_submissions_of_one_name_are_refused_and_all_problems_are_told(tmp_path: Path) -> None:
    (tmp_path / "board.csv").write_text(HEAD.replace("second", "first"))
    (tmp_path / "pairs.csv").write_text("first,second,differing\nfirst,nobody,30\nwho,first,30\n")
    board, _ = hp.accuracy.read_leaderboard(tmp_path / "board.csv")
    with pytest.raises(InputError) as caught:
        hp.accuracy.read_pairs(tmp_path / "pairs.csv", board, n_validation=1000)
    assert len(caught.value.problems) == 3
    assert "column 'key'" in str(caught.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--pairs", "pairs.csv"], "--pairs: needs --n-validation"),
        (["--n-validation", "1000"], "--n-validation: needs --pairs"),
        (["--power-on", "validation"], "needs --pairs and --n-validation"),
    ],
)
def test_options_that_need_each_other_are_refused_alone(tmp_path, options, said) -> None:
    (tmp_path / "board.csv").write_text(HEAD)
    done = run("accuracy", "leaderboard", tmp_path / "board.csv", "--n", "400", *options, code=2)
    assert said in " ".join(done.stderr.split())


def test_the_command_says_what_was_counted(tmp_path) -> None:
    (tmp_path / "board.csv").write_text(HEAD)
    (tmp_path / "pairs.csv").write_text("first,second,differing\nfirst,second,100\n")
    typed = (tmp_path / "board.csv", "--n", 4000, "--pairs", tmp_path / "pairs.csv", "--n-validation", 1000)
    out = " ".join(run("accuracy", "leaderboard", *typed).stdout.split())
    assert "1 of 1 had power 0.8 or more, of which 1 is significant" in out
    assert "that on 1,000 items of the validation set" in out
    assert "90.0" in out  # they agree on 900 of 1,000


@pytest.mark.parametrize("date", ["Nov 2, 2017", "2/1/2020", "2020-10-1", " "])
def test_submissions_that_cannot_be_put_in_order_are_refused_with_their_rows(
    tmp_path: Path, date: str
) -> None:
    table = tmp_path / "board.csv"
    table.write_text(f'system,date,accuracy\na,2020-01-01,80\nb,"{date}",90\n')
    done = run("accuracy", "leaderboard", table, "--n", "1000", code=2)
    said = " ".join(done.stderr.split())
    assert "row 3, column 'date'" in said
    assert "Write dates as 2020-05-06" in said


def test_a_leaderboard_goes_by_time_and_not_by_spelling() -> None:
    board = (
        Submission("third", "2020-02-01", 0.95, 0.95),
        Submission("second", "20200115", 0.9, 0.9),
        Submission("first", "2019-12-31T23:00", 0.8, 0.8),
    )
    assert [each.submission.name for each in judge_leaderboard(board, n_items=5000)] == ["second", "third"]
    with pytest.raises(InputError, match="no submission"):
        judge_leaderboard([], n_items=5000)


@pytest.mark.parametrize(
    ("command", "head", "row"),
    [
        ("claims", "task,n,baseline,improvement", "x,1000,0.85,1.2"),
        ("overlap", "baseline,improvement,agreement", "85,1.2,0.93"),
        ("overlap", "baseline,improvement,agreement", "0.95,0.01,0.5"),
        ("overlap", "baseline,improvement,agreement", "0.97,0.04,0.95"),
    ],
)
def test_columns_in_two_units_and_pairs_that_cannot_be_are_refused(
    tmp_path: Path, command: str, head: str, row: str
) -> None:
    table = tmp_path / "table.csv"
    table.write_text(f"{head}\n{row}\n")
    said = " ".join(run("accuracy", command, table, code=2).stderr.split())
    assert "row 2" in said
    assert "one unit" in said or "agree." in said


def test_what_is_counted_is_not_guessed_too_and_a_column_has_one_unit(tmp_path: Path) -> None:
    table, counted = tmp_path / "board.csv", tmp_path / "pairs.csv"
    table.write_text(HEAD)
    counted.write_text("first,second,differing\nfirst,second,100\n")
    known = ("--n", "400", "--pairs", counted, "--n-validation", "1000")
    said = run("accuracy", "leaderboard", table, *known, "--overlap", "glue", code=2).stderr
    assert "--overlap" in said
    table.write_text(HEAD.replace("80,80", "0.8,0.8"))
    said = " ".join(run("accuracy", "leaderboard", table, "--n", "400", code=2).stderr.split())
    assert "row 2, column 'accuracy'" in said
    assert "one unit" in said


@pytest.mark.parametrize(("asked", "said"), [({"power": 1.2}, "1.2"), ({"overlap": "foo"}, "none of glue")])
def test_a_call_refuses_what_the_command_refuses(asked: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        hp.accuracy.leaderboard(BOARD, n=400, **asked)

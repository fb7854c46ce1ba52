"""Several criteria of one table: rows of each, or a column for each; and what is said where neither is plain."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from humeval_power.checking.wide import columns_of_criteria
from humeval_power.doors.terminal.main import main
from humeval_power.errors import InputError
from humeval_power.files.tables import read_criteria

SYSTEMS = ("base", "large", "tuned")
CRITERIA = ("adequacy", "fluency")
MISSING = ("", "N/A")
worker, item, system = np.indices((4, 6, 3)).reshape(3, -1)


def wide_table(**more):
    """Four workers, six items, three systems, and ratings on 1 to 5 in two columns."""
    rng = np.random.default_rng(4)
    columns = {
        "worker": [f"w{code}" for code in worker],
        "item": [f"i{code}" for code in item],
        "system": [SYSTEMS[code] for code in system],
        **{name: np.clip(rng.integers(1, 6, len(worker)) + system // 2, 1, 5) for name in CRITERIA},
    }
    return pd.DataFrame({**columns, **more})


def long_table():
    parts = wide_table().melt(["worker", "item", "system"], var_name="criterion", value_name="rating")
    return parts.sample(frac=1, random_state=1)


@pytest.fixture
def written(tmp_path):
    def write(table, name="task.csv"):
        path = tmp_path / name
        table.to_csv(path, index=False)
        return path

    return write


def run(*words, code=0):
    result = CliRunner().invoke(main, [*map(str, words)])
    assert result.exit_code == code, result.output
    return " ".join(result.output.split())


def rows_of(ratings):
    told = zip(
        np.array(ratings.worker_names)[ratings.worker],
        np.array(ratings.item_names)[ratings.item],
        np.array(ratings.system_names)[ratings.system],
        ratings.rating,
        strict=True,
    )
    return sorted(told)


@pytest.mark.parametrize("wanted", ["all", CRITERIA])
def test_a_column_for_each_criterion_is_read_as_the_same_rows_would_be(written, wanted):
    wide = read_criteria(written(wide_table()), wanted, scale="1:5", require_pair=False)
    long = read_criteria(written(long_table(), "long.csv"), wanted, scale="1:5", require_pair=False)
    assert list(wide) == list(long) == list(CRITERIA)
    for name in CRITERIA:
        assert rows_of(wide[name]) == rows_of(long[name])
        assert wide[name].criterion == long[name].criterion == name
    assumed = any("adequacy, fluency is read as ratings" in one for one in wide["adequacy"].notices)
    assert assumed == (wanted == "all")


def test_an_empty_cell_is_missing_under_its_criterion_alone(written):
    table = wide_table().astype(object)
    table.loc[3, "fluency"] = ""
    found = read_criteria(written(table), scale="1:5", require_pair=False)
    assert (found["adequacy"].n_ratings, found["fluency"].n_ratings) == (72, 71)


def test_what_is_told_of_a_worker_an_item_or_an_output_is_no_rating():
    table = wide_table(
        age=20 + worker,
        length=10 + item,
        tokens=7 * item + system,
        position=1 + (item * 3 + system + worker) % 18,
        comment=["fine" if code else "3" for code in worker],
        empty=[""] * len(worker),
    )
    assert columns_of_criteria(table, named={}, source="t", missing=MISSING) == CRITERIA
    named = {"rating": "fluency"}
    assert columns_of_criteria(table, named=named, source="t", missing=MISSING) == ()
    assert (
        columns_of_criteria(table, named={}, source="t", missing=MISSING, taken=("fluency",))
        == CRITERIA[:1]
    )


def test_all_columns_are_taken_only_where_one_scale_holds_them(written):
    seconds = {"seconds": np.random.default_rng(2).integers(5, 90, len(worker))}
    path = written(wide_table(**seconds))
    for scale in ("1:5", None):
        with pytest.raises(InputError, match="do not share a scale") as caught:
            read_criteria(path, scale=scale, require_pair=False)
        assert "read_criteria(criteria=('adequacy', 'fluency', 'seconds'))" in str(caught.value)
        assert "adequacy (1 to 5)" in str(caught.value)
    assert list(read_criteria(path, CRITERIA, scale="1:5", require_pair=False)) == list(CRITERIA)


def test_names_that_are_no_criteria_are_refused_all_at_once(written):
    for table in (wide_table(), long_table()):
        with pytest.raises(InputError) as caught:
            read_criteria(written(table), ["adequasy", "style", "fluency"])
        assert "Did you mean 'adequacy'?" in str(caught.value)
        assert "'style'" in str(caught.value)
    with pytest.raises(InputError, match="worker and rating at once"):
        read_criteria(written(wide_table()), ["worker"])


def test_a_table_with_one_column_of_ratings_has_no_criteria(written):
    plain = wide_table().rename(columns={"fluency": "rating"}).drop(columns="adequacy")
    for words in ({}, {"rating": "rating"}):
        with pytest.raises(InputError, match="no column of criteria"):
            read_criteria(written(plain), **words)


def test_a_cell_that_is_no_number_does_not_hide_which_columns_may_be_criteria(written):
    table = wide_table(comment="fine").astype(object)
    table.loc[1, "fluency"] = "good"
    with pytest.raises(InputError, match=r"no column of criteria.*criteria=\('adequacy', 'fluency'\)"):
        read_criteria(written(table))


def test_the_problems_of_all_criteria_are_told_at_once(written):
    table = wide_table().astype(object)
    table.loc[0, "adequacy"] = 9
    table.loc[1, "fluency"] = "good"
    with pytest.raises(InputError) as caught:
        read_criteria(written(table), CRITERIA, scale="1:5", require_pair=False)
    assert [problem.column for problem in caught.value.problems] == list(CRITERIA)


@pytest.mark.parametrize("command", ["analyze", "fit"])
def test_one_error_names_systems_and_criteria_and_what_takes_them_all(written, command):
    said = run(command, written(long_table(), "long.csv"), code=2)
    assert (
        "there are 2 criteria: adequacy (72), fluency (72). 'analyze' takes them all: --criteria all"
        in said
    )
    assert "or choose one: --criterion adequacy" in said
    assert "there are 3 systems: base (48), large (48), tuned (48)." in said
    assert "--all-pairs, or each with one of them: --baseline base (with --model joint" in said
    assert "--systems base,large" in said
    said = run(command, written(wide_table()), code=2)
    assert "what may be ratings of 2 criteria, a column for each: adequacy, fluency" in said
    assert "--criteria adequacy,fluency; or choose one: --rating adequacy" in said
    assert "there are 3 systems" in said


def test_check_names_the_columns_too_and_asks_for_no_pair(written):
    said = run("check", written(wide_table()), code=2)
    assert "--rating adequacy" in said
    assert "--systems" not in said
    only = wide_table().drop(columns="fluency").rename(columns={"adequacy": "how_good"})
    assert "Is 'how_good' the rating? --rating how_good" in run("check", written(only), code=2)
    assert "no column was found for: rating" in run(
        "check", written(only[["worker", "item", "system"]]), code=2
    )


def test_names_that_cannot_be_typed_in_a_list_are_all_taken(written):
    table = wide_table().rename(columns={"adequacy": "clear, short", "fluency": "<b>\U0001f600</b>"})
    path = written(table)
    assert "--criteria all; or choose one: --rating 'clear, short'" in run("analyze", path, code=2)
    assert "clear, short" in run("analyze", path, "--criteria", "all", "--all-pairs", "--scale", "1:5")


@pytest.mark.slow
def test_what_the_error_proposes_works(written):
    wide, long = written(wide_table()), written(long_table(), "long.csv")
    for path, words in (
        (wide, ("--criteria", "adequacy,fluency", "--all-pairs")),
        (wide, ("--criteria", "all", "--baseline", "base", "--correct-over", "criterion")),
        (long, ("--criteria", "all", "--comparisons", "baseline", "--baseline", "base")),
    ):
        said = run("analyze", path, *words, "--scale", "1:5")
        assert "Analysis of 2 criteria" in said
    assert "Comparison of 3 systems" in run("analyze", wide, "--rating", "fluency", "--all-pairs")


def test_problems_of_other_columns_are_not_hidden_by_columns_of_criteria(written):
    said = run("analyze", written(wide_table().rename(columns={"worker": "who"})), code=2)
    assert "no column was found for: worker, rating" in said


def test_the_first_sentence_names_who_is_better_under_which_criteria(written):
    rng = np.random.default_rng(7)
    truth = {"fluency": (0, 1.5, 1.5), "coverage": (0, -1.5, -1.5), "style": (0, 0, 0)}
    noise = rng.normal(0, 0.4, (len(truth), len(worker)))
    more = {
        name: np.clip(np.round(3 + np.array(means)[system] + each), 1, 5).astype(int)
        for (name, means), each in zip(truth.items(), noise, strict=True)
    }
    table = wide_table(**more).drop(columns="adequacy")
    path = written(table)
    lead = run("analyze", path, "--criteria", "all", "--systems", "base,tuned")
    points = {name: table.groupby("system")[name].mean() for name in truth}
    gain, loss = (abs(each["tuned"] - each["base"]) for each in (points["fluency"], points["coverage"]))
    assert f"tuned is better than base by {gain:.2f} points under fluency, after Holm's correction" in lead
    assert f"base is better than tuned by {loss:.2f} points under coverage." in lead
    assert "No difference is shown under style." in lead
    lead = run("analyze", path, "--criteria", "all", "--all-pairs", "--model", "joint")
    assert "base is the best of 3 systems under coverage; " in lead
    assert "under fluency it is open whether" in lead
    assert "base is the best of 3 systems under fluency" not in lead
    lead = run("analyze", path, "--criteria", "fluency,style", "--baseline", "base", "--model", "joint")
    assert "large and tuned are better than base under fluency; 2 of 4 differences are shown" in lead

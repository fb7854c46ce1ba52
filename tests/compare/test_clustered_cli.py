"""`humeval-power compare FILE --cluster`: from a column or a file to the report, and what is refused."""

import json

import cli
import numpy as np
import pandas as pd
import pytest
from cli import refusal_of

from humeval_power.clusters import Clusters
from humeval_power.comparisons.scores import calls as compare
from humeval_power.errors import InputError
from humeval_power.inference.clustered import clustered_mean

FAST = ("--simulations", "20", "--resamples", "300", "-q")


def said(*words):
    return cli.run("compare", *words, *FAST).stdout


def record(*words):
    return json.loads(cli.run("compare", *words, "--json", *FAST).stdout)


def refused(*words):
    return refusal_of("compare", *words)


@pytest.fixture(scope="module")
def frame():
    """Sixty items in fifteen passages, three systems."""
    rng = np.random.default_rng(1)
    codes = np.repeat(np.arange(15), 4)
    base = 0.5 + 0.1 * rng.standard_normal(60)
    found = pd.DataFrame({"item": [f"q{i}" for i in range(60)], "passage": [f"p{c}" for c in codes]})
    for name, shift in (("one", 0.0), ("two", 0.04), ("three", 0.05)):
        found[name] = np.round(
            base + shift + 0.05 * rng.standard_normal(15)[codes] + 0.05 * rng.standard_normal(60), 3
        )
    return found


@pytest.fixture
def wide(frame, tmp_path):
    path = tmp_path / "wide.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture
def long(frame, tmp_path):
    path = tmp_path / "long.csv"
    melted = frame.melt(["item", "passage"], var_name="system", value_name="bleurt")
    melted.sample(frac=1, random_state=1).to_csv(path, index=False)
    return path


def test_a_column_of_clusters_gives_the_cr2_test_from_wide_and_long_tables(frame, wide, long):
    expected = clustered_mean((frame.two - frame.one).to_numpy(), Clusters.of(frame.passage.tolist()))
    for path in (wide, long):
        found = record(path, "--systems", "one,two", "--question", "mean", "--cluster", "passage")
        assert found["test"]["p_value"] == pytest.approx(expected.p_value(), rel=1e-9)
        assert found["test"]["interval"] == pytest.approx(expected.interval(), rel=1e-9)
        assert found["independence"][0]["state"] == "accounted"
        assert "cluster:passage:15" in found["signature"].split("|")
        assert found["power"]["unit"] == "clusters"
        assert [point["n"] for point in found["power"]["curve"] if point["n"] == found["power"]["n"]] == [
            15
        ]


def test_the_report_fits_the_terminal_and_says_clusters_everywhere(wide):
    text = said(
        wide, "--systems", "one,two", "--question", "mean", "--cluster", "passage", "--margin", "0.2"
    )
    assert max(map(len, text.splitlines())) <= 80
    flat = " ".join(text.split())
    for words in (
        "n = 60 in 15 clusters (passage)",
        "What counts as independent?",
        "two one-sided t tests with CR2 errors",
        "We compared two with one by score on the same 60 items in 15 clusters (passage).",
        "A cluster has 4 items on average.",
        "two-sided, t(14) = ",
    ):
        assert words in flat
    assert "Hedges' g is left out" in flat


def test_a_column_that_looks_like_clusters_is_named_on_both_ways_out(wide):
    result = cli.run("compare", wide, "--systems", "one,two", "--question", "mean", *FAST[:-1])
    for text in (result.stderr, result.stdout):
        flat = " ".join(text.split())
        assert "Column 'passage' puts the 60 items into 15 groups of up to 4" in flat
    found = record(wide, "--systems", "one,two", "--question", "mean")
    assert found["independence"][0]["state"] == "assumed"
    assert "passage" in found["independence"][0]["text"]


def test_numbered_passages_are_no_system_unless_they_are_named(frame, tmp_path):
    path = tmp_path / "numbered.csv"
    frame.assign(passage=[int(name[1:]) + 1 for name in frame.passage]).to_csv(path, index=False)
    found = record(path, "--question", "mean")
    assert set(found["systems"]) == {"one", "two", "three"}
    assert "looks like clusters of items" in found["notices"][0]
    named = record(path, "--question", "mean", "--systems", "passage,one")
    assert named["systems"] == ["passage", "one"]


def test_lines_of_clusters_go_with_files_of_numbers(frame, tmp_path):
    for name in ("one", "two", "passage"):
        (tmp_path / f"{name}.txt").write_text("".join(f"{cell}\n" for cell in frame[name]))
    words = (tmp_path / "one.txt", tmp_path / "two.txt", "--question", "better", "--cluster")
    found = record(*words, tmp_path / "passage.txt")
    assert "cluster:passage:15" in found["signature"].split("|")
    (tmp_path / "passage.txt").write_text("p1\np2\n")
    assert "has 2 lines for 60 items" in refused(*words, tmp_path / "passage.txt")


@pytest.mark.parametrize("correction", ["holm", "romano-wolf", "max-t"])
def test_all_pairs_know_the_clusters(wide, correction):
    words = (wide, "--question", "mean", "--correction", correction)
    found, plain = record(*words, "--cluster", "passage"), record(*words)
    assert found["independence"][0]["state"] == "accounted"
    for one, other in zip(found["pairs"], plain["pairs"], strict=True):
        assert one["estimate"] == pytest.approx(other["estimate"], rel=1e-12)
        assert np.ptp(one["interval"]) > np.ptp(other["interval"])
    text = said(*words, "--cluster", "passage")
    assert "60 items in 15 clusters" in " ".join(text.split())


def test_data_sets_have_clusters_of_their_own(frame, tmp_path):
    path = tmp_path / "sets.csv"
    other = frame.assign(passage=[f"d{int(name[1:]) // 2}" for name in frame.passage])
    pd.concat([frame.assign(task="a"), other.assign(task="b")]).to_csv(path, index=False)
    words = (
        path,
        "--dataset",
        "task",
        "--systems",
        "one,two",
        "--question",
        "mean",
        "--alternative",
        "greater",
    )
    found = record(*words, "--cluster", "passage")
    for each, cluster in zip(
        found["comparisons"], ("cluster:passage:15", "cluster:passage:8"), strict=True
    ):
        assert cluster in each["signature"].split("|")
    assert [each["text"].split(":")[0] for each in found["independence"]] == ["a", "b"]


def test_dropped_items_leave_their_clusters(frame, tmp_path):
    path = tmp_path / "holes.csv"
    holes = frame.copy()
    holes.loc[0:3, "two"] = np.nan
    holes.to_csv(path, index=False)
    words = (path, "--systems", "one,two", "--question", "mean", "--cluster", "passage", "--drop-missing")
    assert "cluster:passage:14" in record(*words)["signature"].split("|")


def test_what_cannot_be_done_with_clusters_is_refused_with_its_remedy(wide, frame, tmp_path):
    words = ("--systems", "one,two", "--question", "mean", "--cluster", "passage")
    assert "(CR2 errors of the difference of shares)" in refused(wide, *words, "--test", "mcnemar")
    assert "leave --unit-size or --cluster out" in refused(wide, *words, "--unit-size", "2")
    assert "Did you mean 'passage'?" in refused(wide, *words[:-1], "pasage")
    assert "knows no clusters" in refused(
        wide, "--systems", "one,two", "--procedure", "nlpstattest", "--cluster", "passage"
    )
    torn = frame.melt(["item", "passage"], var_name="system", value_name="bleurt")
    torn.loc[0, "passage"], torn.loc[5, "passage"] = "p9", ""
    torn.to_csv(tmp_path / "torn.csv", index=False)
    told = refused(tmp_path / "torn.csv", *words)
    assert "is in cluster 'p9' already" in told
    assert "item 'q5' has no cluster" in told


@pytest.mark.parametrize("question", ["mean", "median", "pseudomedian", "better"])
def test_the_recommended_test_with_clusters_answers_the_question(wide, question):
    words = (wide, "--systems", "one,two", "--question", question, "--cluster", "passage")
    found = record(*words, "--test", "recommended")
    preferred = [one["name"] for one in found["advice"] if one["standing"] == "preferred"]
    assert found["test"]["name"] in preferred


def test_the_library_takes_clusters_in_the_order_of_the_rows(frame):
    table = frame[["one", "two"]]
    found = compare.scores(table, question="mean", clusters=frame.passage, power_by="formula")
    assert found.comparison.table.clusters.n_clusters == 15
    with pytest.raises(InputError, match="every item needs its cluster"):
        compare.scores(table, question="mean", clusters=frame.passage[:-1])


@pytest.mark.parametrize(
    ("of", "end"), [("three", "no more than a hint."), ("one rules", "Better: permutation.")]
)
def test_the_warning_of_few_clusters_names_a_better_test_only_where_there_is_one(frame, tmp_path, of, end):
    """It used to end with 'Preferred: .'."""
    path = tmp_path / "few.csv"
    few = frame[["item", "one", "two"]].assign(
        passage=[f"p{i // 20}" if of == "three" else f"p{max(i, 30) // 3}" for i in range(60)]
    )
    few.to_csv(path, index=False)
    warning = record(str(path), "--question", "mean", "--cluster", "passage")["warnings"][0]
    assert "less preferred here" in warning
    assert warning.endswith(end)


def test_groups_of_systems_say_what_a_group_is(wide):
    assert "A group ends where" in " ".join(
        said(str(wide), "--question", "mean", "--cluster", "passage").split()
    )

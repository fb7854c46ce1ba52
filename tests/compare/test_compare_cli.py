"""`humeval-power compare`: three stages in the terminal, the reports, and what is refused."""

import functools
import json
import re
from types import SimpleNamespace
from xml.etree import ElementTree

import cli
import numpy as np
import pandas as pd
import pytest
from cases import few_fast
from cli import refusal_of
from own_scripts import without_own_scripts
from scipy import stats

from humeval_power.comparisons.scores import calls as compare
from humeval_power.comparisons.scores.ask import TEST_NAMES
from humeval_power.comparisons.scores.score_table import ScoreTable
from humeval_power.comparisons.scores.tests import TESTS
from humeval_power.errors import InputError
from humeval_power.saying.render import as_html, as_latex, as_markdown

FAST = ("--simulations", "20", "--resamples", "400", "-q")


def said(*words):
    """What a command prints: computed once, but where it writes too."""
    typed = tuple(map(str, words))
    return _printed.__wrapped__(typed) if "-o" in typed else _printed(typed)


@functools.cache
def _printed(words):
    return cli.run("compare", *words).stdout


def refused(*words):
    return refusal_of("compare", *words)


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Two columns of scores, B better by half a point of one SD."""
    rng = np.random.default_rng(1)
    a = rng.standard_normal(60)
    b = a + 0.5 + rng.standard_normal(60)
    path = tmp_path_factory.mktemp("scores") / "two.csv"
    path.write_text("".join(f"{x:.4f},{y:.4f}\n" for x, y in zip(a, b, strict=True)))
    return path


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Four systems in a wide table, the first two alike."""
    rng = np.random.default_rng(2)
    scores = rng.standard_normal((50, 1)) + 0.5 * rng.standard_normal((50, 4)) + np.array([0, 0, 1, 2])
    path = tmp_path_factory.mktemp("scores") / "many.csv"
    rows = "".join(
        f"i{place}," + ",".join(f"{x:.4f}" for x in row) + "\n" for place, row in enumerate(scores)
    )
    path.write_text("item,one,two,three,four\n" + rows)
    return path


def test_the_names_of_the_tests_are_those_that_there_are():
    assert set(TEST_NAMES) == set(TESTS)


def test_a_file_is_compared_and_the_text_fits_the_terminal(two):
    text = said(two, "--question", "mean", *FAST)
    assert max(map(len, text.splitlines())) <= 80
    assert text.splitlines()[1].startswith("B scores 0.446 higher than A on average (95 % interval 0.23")
    assert "Every test for this question" not in text
    assert "says nothing that the p-value does not say" in " ".join(text.split())
    assert "inappropriate" in said(two, "--question", "mean", "--details", *FAST)
    assert text == said("scores", two, "--question", "mean", *FAST)


def test_the_question_is_asked_before_the_file_is_read(tmp_path):
    assert "before the scores are looked at" in refused(tmp_path / "absent.csv")


def test_in_a_terminal_the_question_is_asked(two, monkeypatch):
    terminal = SimpleNamespace(stdin=SimpleNamespace(isatty=lambda: True))
    monkeypatch.setattr("humeval_power.comparisons.scores.ask.sys", terminal)
    result = cli.run("compare", two, *FAST, "--json", stdin="better\n")
    assert json.loads(result.stdout)["question"] == "better"
    assert "pseudomedian: is the middle" in result.stderr


def test_the_record_has_what_a_paper_should_report(two):
    record = json.loads(
        said(two, "--question", "mean", "--effect", "0.4", "--margin", "1", "--json", *FAST)
    )
    assert record["schema"] == "humeval_power/compare/2"
    a, b = np.loadtxt(two, delimiter=",").T
    expected = stats.ttest_rel(b, a)
    assert record["test"]["p_value"] == pytest.approx(expected.pvalue, rel=1e-9)
    assert record["test"]["name"] == "t"
    assert record["settings"]["alpha"] == 0.05
    assert record["test"]["n"] == 60
    assert {one["name"] for one in record["effect_sizes"]} >= {
        "cohens_d",
        "hedges_g",
        "wilcoxon_r",
        "hodges_lehmann",
    }
    assert record["power"]["effect"] == 0.4
    assert record["power"]["is_observed"] is False
    assert record["equivalence"]["margin"] == 1
    assert not any("observed" in warning for warning in record["warnings"])
    assert record["sources"][0]["name"] == two.name
    assert record["sources"][0]["sha256"].startswith(record["signature"].partition("sha256:")[2])
    assert record["seed"] == 1


@few_fast("question", ["mean", "median", "pseudomedian", "better"], fast=1)
def test_each_question_has_its_own_test_and_estimate(two, question):
    record = json.loads(said(two, "--question", question, "--json", *FAST))
    assert record["question"] == question
    assert record["test"]["estimand"].split()[0] == {"better": "share"}.get(question, question)


def test_the_published_procedure_is_there_with_its_warning(two):
    record = json.loads(said(two, "--procedure", "nlpstattest", "--json", *FAST))
    assert record["procedure"] == "nlpstattest"
    assert "rejects in 71 %" in record["warnings"][0]
    assert any(one["name"] == "hedges_g_as_published" for one in record["effect_sizes"])
    assert "leave --question out" in refused(two, "--procedure", "nlpstattest", "--question", "mean")


def test_two_pseudomedians_are_told_apart_where_both_are_shown(two):
    words = (two, "--procedure", "nlpstattest", "--test", "wilcoxon", *FAST)
    text, record = said(*words), json.loads(said(*words, "--json"))
    own = record["test"]["estimate"]
    published = {one["name"]: one["value"] for one in record["effect_sizes"]}
    other = published["hodges_lehmann_as_published"]
    assert own != other
    assert re.search(rf"Effect: pseudomedian, i <= j\s+{own:.4g},", text)
    assert re.search(rf"Hodges-Lehmann, i < j +{other:.4g} ", text)
    assert "Two pseudomedians are shown" in " ".join(text.split())
    alone = said(two, "--question", "pseudomedian", *FAST)
    assert "Two pseudomedians" not in alone
    assert "i < j" not in alone


@pytest.mark.parametrize("n_items", [2, 3, 4])
def test_the_power_of_a_few_items_is_that_of_these_items(tmp_path, n_items):
    path = tmp_path / "few.csv"
    path.write_text("".join(f"{place},{place + 1 + place % 2}\n" for place in range(n_items)))
    record = json.loads(said(path, "--question", "mean", "--json", *FAST))
    assert record["power"]["n"] == n_items


def test_an_unsuitable_test_is_run_and_warned_of(two):
    record = json.loads(
        said(two, "--question", "mean", "--test", "primer", "--alternative", "greater", "--json", *FAST)
    )
    assert "inappropriate here" in record["warnings"][0]
    assert record["test"]["p_value"] < 0.05
    assert "tests for it" in refused(two, "--question", "median", "--test", "t", *FAST)


def test_the_same_seed_gives_the_same_bytes_for_any_number_of_cores(two):
    words = (two, "--question", "mean", "--test", "bootstrap-t", "--json", *FAST)
    one, other = (json.loads(said(*words, "--jobs", jobs)) for jobs in (1, 2))
    assert one | {"command": ""} == other | {"command": ""}
    assert json.loads(said(*words, "--seed", 9))["test"]["interval"] != one["test"]["interval"]


def test_a_folder_holds_the_same_numbers_in_every_form(two, tmp_path):
    out = tmp_path / "report"
    words = ("compare", two, "--question", "mean", "-o", out, *FAST)
    cli.run(*words)
    assert {path.name for path in out.iterdir()} == {
        "index.html",
        "record.json",
        "table.csv",
        *(f"{name}.{kind}" for name in ("power", "scores", "differences") for kind in ("png", "svg")),
    }
    record = json.loads((out / "record.json").read_text())
    estimate = f"{record['test']['estimate']:.4g}"
    html = (out / "index.html").read_text()
    markdown, latex = (
        said(two, "--question", "mean", "--format", form, *FAST) for form in ("markdown", "latex")
    )
    for text in (markdown, html, latex):
        assert estimate in text
        assert "inappropriate" in text.split("Every test for this question")[1]
    assert record["signature"] in markdown
    assert "<script" not in without_own_scripts(html)
    assert "http://" not in html.split("<body>")[1].replace("http://www.w3.org/2000/svg", "")
    assert html.count("<svg xmlns") == 3
    assert latex.startswith("\\documentclass")
    assert latex.isascii()
    for name in ("scores.svg", "differences.svg", "power.svg"):
        ElementTree.fromstring((out / name).read_text())
    row = pd.read_csv(out / "table.csv").iloc[0]
    assert row["p_value"] == pytest.approx(record["test"]["p_value"])
    assert "--force" in cli.run(*words, code=2).stderr


def test_the_signature_says_what_was_asked_of_how_many_and_how_it_was_drawn(two):
    words = (two, "--question", "mean", "--test", "bootstrap-t", "--null", "0.25", "--json", *FAST)
    entries = json.loads(said(*words))["signature"].split("|")[2:-1]
    asked = ["model:paired", "coding:b-a", "q:mean", "test:bootstrap-t", "null:.25", "alpha:.05", "two"]
    assert entries == [*asked, "n:60", "draws:400", "seed:1"]


def test_many_systems_are_compared_in_pairs_with_clusters_and_a_heat_map(many, tmp_path):
    out = tmp_path / "report"
    words = (many, "--question", "mean", "--correction", "romano-wolf", *FAST)
    text = said(*words)
    assert max(map(len, text.splitlines())) <= 80
    assert "5 of 6 pairs differ significantly" in " ".join(text.split())
    said(*words, "-o", out)
    assert {path.name for path in out.iterdir()} == {
        "index.html",
        "record.json",
        "table.csv",
        "heat_map.png",
        "heat_map.svg",
    }
    record = json.loads((out / "record.json").read_text())
    assert record["schema"] == "humeval_power/compare_many/2"
    assert len(record["pairs"]) == 6
    assert record["systems"][:2] == ["four", "three"]
    assert record["clusters"][0] == ["four"]
    assert {frozenset(cluster) for cluster in map(tuple, record["clusters"])} == {
        frozenset({"four"}),
        frozenset({"three"}),
        frozenset({"one", "two"}),
    }
    assert "corr:romano-wolf" in record["signature"].split("|")
    assert (out / "table.csv").read_text().count("\n") == 7
    ElementTree.fromstring((out / "heat_map.svg").read_text())


def test_one_pair_of_many_systems_and_a_baseline(many):
    pair = json.loads(said(many, "--systems", "four,one", "--question", "mean", "--json", *FAST))
    assert pair["test"]["estimate"] < -1.5
    text = said(many, "--baseline", "one", "--question", "mean", *FAST)
    assert "3 of 3" in text or "2 of 3" in text
    assert "group" not in text


def test_units_are_formed_and_said(two):
    words = (two, "--question", "mean", "--unit-size", 7, "--shuffle-seed", 3)
    result = cli.run("compare", *words, "--json", *FAST[:-1])
    record = json.loads(result.stdout)
    assert record["test"]["n"] == 8
    assert any(
        "8 units, each the mean of 7 shuffled (seed 3) items; 4 items left over" in n
        for n in record["notices"]
    )
    assert "8 units" in result.stderr
    assert "8 units" in said(*words, "--format", "html", *FAST)


def test_several_metrics_count_where_b_is_better(shared_data):
    stories = shared_data / "hanna_metrics.csv"
    words = (
        *["--score", "BLEU", "--score", "chrF", "--score", "human_surprise"],
        *["--systems", "HINT,GPT-2", "--question", "mean"],
    )
    text = said(stories, *words, "--alternative", "greater", *FAST)
    assert "at least 3 of 3 sets" in text
    assert "of B - A in each set" in said(
        stories, *words, "--alternative", "greater", "--format", "html", *FAST
    )
    assert "--alternative greater" in refused(stories, *words, *FAST)
    record = json.loads(said(stories, *words, "--alternative", "less", "--json", *FAST))
    assert record["replicability"]["count"] == 0


@pytest.mark.slow
def test_the_stories_are_compared_end_to_end(shared_data, tmp_path):
    stories = shared_data / "hanna_metrics.csv"
    record = json.loads(
        said(
            stories, "--score", "chrF", "--question", "pseudomedian", "-o", tmp_path / "r", "--json", *FAST
        )
    )
    assert len(record["pairs"]) == 55
    assert record["clusters"][0] == ["Human"]  # the stories that the metrics compare with
    table = pd.read_csv(stories).pivot(index="item", columns="system", values="chrF")
    for pair in record["pairs"][:5]:
        d = np.round(table[pair["second"]] - table[pair["first"]], 9)
        assert pair["p_value"] == pytest.approx(stats.wilcoxon(d, method="exact").pvalue, rel=1e-6)


def test_the_items_needed_are_told_before_there_are_scores():
    assert "\n199 items would do: then 80 of 100" in said(
        "prospective", "--effect", "0.02", "--sd-difference", "0.1"
    )
    record = json.loads(
        said("prospective", "--effect", "0", "--sd-difference", "1", "--margin", "0.1", "--json")
    )
    assert record["n"] == 858
    assert "above 0" in refused("prospective", "--effect", "0", "--sd-difference", "1", "--margin", "-1")


def test_the_curve_of_the_items_needed_runs_through_the_target():
    found = compare.prospective(0.0, sd=1.0, margin=0.1)
    assert dict(found.curve)[found.found.n] == pytest.approx(found.found.power)
    powers = [power for _, power in found.curve]
    assert powers == sorted(powers)
    assert found.document().pictures[0].content("svg").startswith(b"<?xml")


@pytest.mark.slow
def test_the_primers_table_is_printed_and_written(tmp_path):
    text = said("primer-table")
    assert max(map(len, text.splitlines())) <= 80
    assert re.search(r"^  0 +- +0\.366 +0\.133 +0\.006$", text, re.MULTILINE)
    said("primer-table", "-o", tmp_path / "primer")
    assert {path.name for path in (tmp_path / "primer").iterdir()} == {
        "index.html",
        "record.json",
        "table.csv",
        "primer.png",
        "primer.svg",
    }
    assert "at most 1" in refused("primer-table", "--effect", "3")


def test_tables_of_pandas_are_compared_in_python_as_in_the_terminal(two):
    frame = pd.read_csv(two, header=None, names=["A", "B"])
    options = {"question": "mean", "n_simulations": 20, "n_resamples": 400}
    pair = compare.scores(frame, **options)
    typed = json.loads(said(two, "--question", "mean", "--json", *FAST))
    assert pair.record()["test"]["interval"] == pytest.approx(typed["test"]["interval"])
    assert pair.record()["power"]["power"] == typed["power"]["power"]
    many = compare.scores(frame.assign(C=frame["B"] + 1), question="pseudomedian")
    assert len(many.to_frame()) == 3
    assert "seed" not in many.record()  # Wilcoxon's test draws nothing
    both = {"one": frame, "two": frame}
    sets = compare.scores(both, alternative="greater", independent=True, **options)
    assert sets.found.combination == "fisher"
    assert sets.to_frame()["set"].tolist() == ["one", "two"]
    with pytest.raises(InputError, match="before the scores"):
        compare.scores(frame)


def test_systems_that_never_differ_are_reported_without_power(tmp_path):
    same = tmp_path / "same.txt"
    same.write_text("1 1\n0 0\n1 1\n")
    record = json.loads(said(same, "--question", "better", "--json", *FAST))
    assert record["power"] is None
    assert record["test"]["p_value"] == 1.0


def test_names_that_markup_could_read_stay_names():
    scores = np.random.default_rng(1).standard_normal((12, 2))
    table = ScoreTable(scores, ("<b>x</b>", "50%_\\frac|*y*"))
    document = compare.scores(table, question="mean", n_resamples=100, n_simulations=20).document()
    html, latex = as_html(document), as_latex(document)
    assert "<b>x</b>" not in html
    assert "&lt;b&gt;x&lt;/b&gt;" in html
    assert "\\frac|" not in latex
    assert "\\textless{}b" in latex
    assert "\\|\\*y\\*" in as_markdown(document)

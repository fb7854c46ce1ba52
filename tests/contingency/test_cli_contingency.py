"""`humeval-power compare contingency` as a user meets it: label files, assumptions and records."""

import numpy as np
import pytest
from cases import each_case
from cli import run, run_json

from humeval_power.comparisons.contingency.scenario import (
    ContingencyStudy,
    binary_recalls,
    contingency_test,
    correlated_errors,
    counted,
    observed_tables,
)
from humeval_power.comparisons.corpus.files import read_labels
from humeval_power.errors import InputError
from humeval_power.studies.power.questions import detectable_effect

RATES = ["--prevalence", "0.1", "--recall", "0.7", "--precision", "0.65"]


def labels(classes: str, n: int = 300) -> tuple[list[str], list[str], list[str]]:
    """True labels and two systems that copy them with errors of their own."""
    rng = np.random.default_rng(7)
    true = rng.integers(len(classes), size=n)
    systems = [
        np.where(rng.random(n) < share, rng.integers(len(classes), size=n), true) for share in (0.4, 0.25)
    ]
    return tuple([classes[code] for code in each] for each in (true, *systems))  # type: ignore[return-value]


@pytest.fixture
def files(tmp_path):
    for name, lines in zip(("gold", "a", "b"), labels("01"), strict=True):
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    return tmp_path


def given(files) -> list[str]:
    return ["--gold", files / "gold", "--system-a", files / "a", "--system-b", files / "b"]


def test_test_prints_the_exact_p_value_of_the_library(files):
    record = run_json("contingency", "test", *given(files))
    expected = contingency_test(counted(*labels("01"))[0], metric="f1", positive=1)
    assert record["schema"] == "humeval_power/contingency_test/1"
    assert record["p_value"] == expected.p_value
    assert record["positive"] == "1"
    assert "seed" not in record  # nothing was drawn
    assert "every swap" in run("contingency", "test", *given(files)).output


def test_estimate_shows_the_tables_and_every_metric(files):
    found = run("contingency", "estimate", *given(files))
    assert max(map(len, found.output.splitlines())) <= 80
    record = run_json("contingency", "estimate", *given(files))
    counts = counted(*labels("01"))[0]
    assert record["counts"] == counts.tolist()
    assert set(record["metrics"]) >= {"f1", "mcc", "balanced-accuracy", "macro-f1"}
    accuracy = counts[0, :, 0].sum() + counts[1, :, 1].sum()
    assert record["metrics"]["accuracy"]["b"] == pytest.approx(accuracy / 300)


def test_power_takes_the_tables_from_label_files(files):
    options = ["contingency", "power", *given(files), "--n", 500, "--effect", 0.05, "--method", "analytic"]
    record = run_json(*options)
    study = ContingencyStudy(500, base=observed_tables(*counted(*labels("01")))).with_effect(0.05)
    assert record["computed"]["power"] == pytest.approx(study.computed().power, rel=1e-9)


def test_mde_from_rates_is_that_of_the_library():
    record = run_json("contingency", "mde", *RATES, "--correctness-correlation", 0.5, "--n", 5000)
    recalls = binary_recalls(prevalence=0.1, recall=0.7, precision=0.65)
    study = ContingencyStudy(5000, base=correlated_errors([0.9, 0.1], recalls, correlation=0.5))
    expected = detectable_effect(study, largest=study.reach[1])
    assert record["found"][0]["effect"] == pytest.approx(expected.effect, rel=1e-6)


def test_several_classes_need_a_metric_without_a_positive_one(tmp_path):
    for name, lines in zip(("gold", "a", "b"), labels("xyz"), strict=True):
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    refused = run("contingency", "test", *given(tmp_path), code=2)
    assert "The classes are x, y, z." in refused.stderr
    found = run("contingency", "test", *given(tmp_path), "--metric", "macro-f1", "--swaps", 200)
    assert "200 random swaps" in found.output
    record = run_json("contingency", "test", *given(tmp_path), "--positive", "y", "--swaps", 200)
    assert record["positive"] == "y"
    assert record["seed"] == 1
    assert "seed" not in run_json("contingency", "estimate", *given(tmp_path))


@each_case(
    ("options", "told"),
    [
        ([], "Say what is known of the systems"),
        (
            ["--prevalence", "0.1", "--recall", "0.7", "--correctness-correlation", "0"],
            "--precision is missing",
        ),
        (RATES, "Give --label-agreement or --correctness-correlation"),
        ([*RATES, "--correctness-correlation", "0", "--label-agreement", "0.9"], "one of them"),
        ([*RATES, "--label-agreement", "0.5"], "An agreement of 0.5 in every class is impossible"),
        ([*RATES, "--correctness-correlation", "0", "--gold", "g"], "Say what is known of the systems"),
        (
            ["--class-shares", "0.5,0.6", "--class-recalls", "0.9,0.8", "--correctness-correlation", "0"],
            "add up to 1",
        ),
    ],
)
def test_assumptions_that_do_not_fit_are_refused_in_words(options, told):
    refused = run("contingency", "power", "--n", 100, "--effect", 0.01, *options, code=2)
    assert told in " ".join(refused.stderr.split())


def test_an_agreement_beside_label_files_is_refused(files):
    options = ["--n", 100, "--effect", 0.01, *given(files), "--label-agreement", 0.9]
    refused = run("contingency", "power", *options, code=2)
    assert "The files show how often the systems agree" in " ".join(refused.stderr.split())


def test_a_predicted_label_that_no_item_has_is_told(tmp_path):
    texts = {"gold": "x\ny\nx\ny\n", "a": "x\ny\ny\ny\n", "b": "x\ny\nx\ny\n"}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    assert "No item" not in run("contingency", "estimate", *given(tmp_path)).stderr
    (tmp_path / "b").write_text("x\nY\nx\ny\n")
    assert "No item has the true label Y" in run("contingency", "estimate", *given(tmp_path)).stderr


def test_blank_labels_and_missing_lines_are_told_with_their_place(tmp_path):
    (tmp_path / "gold").write_text("a\n\nb\n")
    (tmp_path / "a").write_text("a\nb\nb\n")
    paths = [str(tmp_path / name) for name in ("gold", "a", "a")]
    with pytest.raises(InputError, match="row 2: the label is blank"):
        read_labels(*paths)
    (tmp_path / "a").write_text("a\nb\n")
    with pytest.raises(InputError, match="different numbers of lines"):
        read_labels(*paths)


def test_a_folder_holds_the_metrics_as_a_table_and_a_picture(files, tmp_path):
    run("contingency", "estimate", *given(files), "-o", tmp_path / "out")
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {"index.html", "record.json", "table.csv", "metrics.png", "metrics.svg"}
    table = (tmp_path / "out" / "table.csv").read_text().splitlines()
    assert table[0] == "metric,a,b,difference"
    assert len(table) == 9


@pytest.mark.parametrize("names", [("gold", "a", "gold"), ("gold", "a", "a")])
def test_one_file_in_two_roles_is_refused(files, names):
    """The true labels as predictions have an F1 of 1, and win significantly."""
    with pytest.raises(InputError, match="three files; this one was given more than once"):
        read_labels(*(str(files / name) for name in names))


def test_classes_can_have_the_same_share_and_recall():
    asked = ["contingency", "power", "--n", "500", "--effect", "0.03", "--label-agreement", "0.9"]
    asked += ["--metric", "macro-f1", "--method", "analytic"]
    equal = run_json(*asked, "--class-shares", ".3,.3,.4", "--class-recalls", ".8,.8,.7")
    nearly = run_json(*asked, "--class-shares", ".3,.3000001,.3999999", "--class-recalls", ".8,.8000001,.7")
    assert equal["computed"]["power"] == pytest.approx(nearly["computed"]["power"], abs=1e-4)

"""F1 and the like on items in clusters: slopes, influence values and swapped clusters, against slow twins."""

import itertools
from typing import get_args

import numpy as np
import pytest
from cases import each_case
from cli import run, run_json

from humeval_power.choices import ContingencyMetric
from humeval_power.clusters import Clusters
from humeval_power.comparisons.contingency import calls as contingency
from humeval_power.comparisons.contingency.scenario import (
    Labels,
    cluster_swap_test,
    contingency_test,
    influence_mean,
)
from humeval_power.errors import InputError
from humeval_power.inference.clustered import clustered_mean
from humeval_power.kernels.metrics.contingency import has_slope, metric_slopes, metric_value

METRICS = get_args(ContingencyMetric)


def drawn(n: int, n_classes: int, n_clusters: int, seed: int) -> tuple[np.ndarray, Clusters]:
    """Codes (n, 3) and clusters of unequal size, the first items seeing to it that none is empty."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(n_classes, size=n)
    guesses = [
        np.where(rng.random(n) < share, rng.integers(n_classes, size=n), gold) for share in (0.5, 0.3)
    ]
    names = np.concatenate([np.arange(n_clusters), rng.geometric(0.2, n - n_clusters) % n_clusters])
    return np.column_stack([gold, *guesses]), Clusters.of(list(names), name="passage")


def metric_of(codes: np.ndarray, weights: np.ndarray, system: int, metric: str, k: int) -> float:
    confusion = np.zeros((k, k))
    np.add.at(confusion, (codes[:, 0], codes[:, system]), weights)
    return float(metric_value(metric, confusion, positive=1))


@each_case("k", [2, 3, 5])
@each_case("metric", METRICS)
def test_slopes_are_those_of_central_differences(metric: str, k: int) -> None:
    confusion = np.random.default_rng(k).random((k, k))
    confusion[0, -1] = 0.0
    confusion /= confusion.sum()
    expected, step = np.zeros((k, k)), 1e-6
    for cell in itertools.product(range(k), repeat=2):
        up, down = confusion.copy(), confusion.copy()
        up[cell] += step
        down[cell] -= step
        values = [metric_value(metric, each, positive=1) for each in (up, down)]
        expected[cell] = (values[0] - values[1]) / (2 * step)
    assert metric_slopes(metric, confusion, positive=1) == pytest.approx(expected, abs=1e-8)


def test_a_class_without_items_or_predictions_has_no_slope() -> None:
    confusion = np.array([[0.5, 0.1, 0.0], [0.1, 0.3, 0.0], [0.0, 0.0, 0.0]])
    for metric in METRICS:
        assert np.isfinite(metric_slopes(metric, confusion, positive=2)).all()
    assert not has_slope("mcc", np.array([[0.6, 0.0], [0.4, 0.0]]))
    assert has_slope("f1", np.array([[0.6, 0.0], [0.4, 0.0]]))


@each_case("metric", METRICS)
def test_influence_values_are_how_the_metric_answers_to_the_weight_of_an_item(
    metric: ContingencyMetric,
) -> None:
    codes, clusters = drawn(60, 3, 8, seed=5)
    found = influence_mean(codes, 3, clusters, metric=metric)
    influence, step = np.zeros(60), 1e-5
    for item in range(60):
        values = []
        for change in (step, -step):
            weights = np.ones(60)
            weights[item] += change
            values.append(metric_of(codes, weights, 2, metric, 3) - metric_of(codes, weights, 1, metric, 3))
        influence[item] = 60 * (values[0] - values[1]) / (2 * step)
    expected = clustered_mean(influence, clusters)
    assert found is not None
    assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-6)
    alone = np.ones(60)
    difference = metric_of(codes, alone, 2, metric, 3) - metric_of(codes, alone, 1, metric, 3)
    assert found.estimate == pytest.approx(difference, abs=1e-12)


def test_of_accuracy_the_influence_values_are_the_differences() -> None:
    codes, clusters = drawn(80, 2, 10, seed=2)
    right = codes[:, 1:] == codes[:, :1]
    expected = clustered_mean(right[:, 1].astype(float) - right[:, 0], clusters)
    found = influence_mean(codes, 2, clusters, metric="accuracy")
    assert found is not None
    assert found.standard_error == pytest.approx(expected.standard_error, rel=1e-12)
    assert found.df == expected.df


def listed_p(codes: np.ndarray, clusters: Clusters, metric: str, k: int) -> float:
    """The obvious twin: exchange the predictions of each set of clusters in turn."""
    weights, differences = np.ones(len(codes)), []
    for chosen in itertools.product((False, True), repeat=clusters.n_clusters):
        swapped = codes.copy()
        at = np.array(chosen)[clusters.codes]
        swapped[at, 1], swapped[at, 2] = codes[at, 2], codes[at, 1]
        differences.append(
            metric_of(swapped, weights, 2, metric, k) - metric_of(swapped, weights, 1, metric, k)
        )
    return float(np.mean(np.abs(differences) >= abs(differences[0]) - 1e-12))


@each_case("metric", METRICS)
@each_case("k", [2, 4])
def test_few_clusters_are_exchanged_in_every_way(metric: ContingencyMetric, k: int) -> None:
    codes, clusters = drawn(50, k, 7, seed=k)
    found = cluster_swap_test(codes, k, clusters, metric=metric)
    assert found.n_swaps == 0
    assert found.p_value == pytest.approx(listed_p(codes, clusters, metric, k), abs=1e-12)


def test_many_clusters_are_drawn_and_agree_with_the_exact_p_value_of_single_items() -> None:
    codes, _ = drawn(120, 2, 5, seed=11)
    alone = Clusters.of(range(120))
    found = cluster_swap_test(codes, 2, alone, metric="f1", n_swaps=20_000, seed=4)
    exact = contingency_test(Labels(codes, ("0", "1")).counts, metric="f1").p_value
    assert found.n_swaps == 20_000
    # Four Monte Carlo standard errors.
    assert abs(found.p_value - exact) < 4 * (exact * (1 - exact) / 20_000) ** 0.5
    assert cluster_swap_test(codes, 2, alone, metric="f1", n_swaps=20_000, seed=4) == found


def test_systems_that_are_the_same_have_a_p_value_of_one() -> None:
    codes, clusters = drawn(40, 2, 6, seed=1)
    codes[:, 2] = codes[:, 1]
    found = cluster_swap_test(codes, 2, clusters, metric="f1")
    assert (found.p_value, found.difference) == (1.0, 0.0)


def test_matthews_correlation_of_a_system_with_one_label_has_no_interval() -> None:
    gold, b = ["0", "1"] * 20, ["0", "1", "1", "1"] * 10
    clusters = Clusters.of([i // 4 for i in range(40)], name="passage")
    result = contingency.test(gold, ["0"] * 40, b, metric="mcc", clusters=clusters)
    record = result.record()
    assert record["interval"] is None
    assert record["clusters"] is None
    assert record["independence"][0]["state"] == "accounted"
    assert "has no interval here" in " ".join(str(result).split())
    assert record["signature"].endswith("cluster:passage:10")


def test_clusters_of_other_items_are_refused() -> None:
    codes, _ = drawn(40, 2, 6, seed=1)
    with pytest.raises(InputError, match="40 items, and clusters of 3"):
        cluster_swap_test(codes, 2, Clusters.of("abc"), metric="f1")
    with pytest.raises(InputError, match="At least one random swap"):
        cluster_swap_test(codes, 2, Clusters.of(range(40)), metric="f1", n_swaps=0)


@pytest.fixture
def files(tmp_path):
    codes, clusters = drawn(200, 2, 12, seed=9)
    for name, column in zip(("gold", "a", "b"), codes.T, strict=True):
        (tmp_path / name).write_text("\n".join(map(str, column)) + "\n")
    (tmp_path / "passages.txt").write_text("\n".join(f"p {code}" for code in clusters.codes) + "\n")
    return tmp_path


def given(files) -> list[str]:
    return ["--gold", files / "gold", "--system-a", files / "a", "--system-b", files / "b"]


def test_the_command_takes_a_file_of_clusters(files) -> None:
    codes, clusters = drawn(200, 2, 12, seed=9)
    record = run_json("contingency", "test", *given(files), "--cluster", files / "passages.txt")
    expected = cluster_swap_test(codes, 2, clusters, metric="f1")
    mean = influence_mean(codes, 2, clusters, metric="f1")
    assert mean is not None
    assert record["p_value"] == expected.p_value
    assert record["interval"] == pytest.approx(list(mean.interval()))
    assert record["clusters"]["name"] == "passages"
    assert record["signature"].endswith("cluster:passages:12")
    found = run("contingency", "test", *given(files), "--cluster", files / "passages.txt")
    text = " ".join(found.output.split())
    assert "every swap of whole clusters" in text
    assert "in 12 clusters (passages)" in text
    assert max(map(len, found.output.splitlines())) <= 80


def test_without_clusters_the_report_says_that_items_count_as_independent(files) -> None:
    record = run_json("contingency", "test", *given(files))
    assert record["clusters"] is None
    assert record["independence"][0]["state"] == "assumed"
    assert record["interval"][0] < record["difference"] < record["interval"][1]


def test_a_file_of_clusters_of_another_length_is_refused(files) -> None:
    (files / "short.txt").write_text("p1\np2\n")
    refused = run("contingency", "test", *given(files), "--cluster", files / "short.txt", code=2)
    assert "has 2 lines for 200 items" in " ".join(refused.stderr.split())


@pytest.fixture
def table(tmp_path):
    codes, clusters = drawn(200, 2, 12, seed=9)
    rows = [
        f"q{place},p{cluster},{','.join(map(str, row))}"
        for place, (cluster, row) in enumerate(zip(clusters.codes, codes, strict=True))
    ]
    (tmp_path / "t.csv").write_text("\n".join(["item,passage,gold,old,new", *rows]) + "\n")
    return tmp_path / "t.csv"


COLUMNS = ["--gold", "gold", "--system-a", "old", "--system-b", "new"]


def test_one_table_has_true_labels_both_systems_and_the_clusters(table, files) -> None:
    of_table = run_json("contingency", "test", table, *COLUMNS, "--cluster", "passage")
    of_files = run_json("contingency", "test", *given(files), "--cluster", files / "passages.txt")
    for key in ("p_value", "difference", "interval", "n_items"):
        assert of_table[key] == of_files[key]
    assert of_table["signature"].endswith("cluster:passage:12")
    estimated = run_json("contingency", "estimate", table, *COLUMNS)
    assert estimated["counts"] == run_json("contingency", "estimate", *given(files))["counts"]


def test_a_column_that_looks_like_clusters_is_named(table) -> None:
    found = run("contingency", "test", table, *COLUMNS)
    for text in (found.stderr, found.stdout):
        assert "Column 'passage' puts the 200 items into 12 groups" in " ".join(text.split())


def test_a_missing_column_repeated_items_and_blank_labels_are_told_with_their_rows(table) -> None:
    def refusal(*columns: str) -> str:
        return " ".join(run("contingency", "test", table, *columns, code=2).stderr.split())

    assert "there is no column 'neu', which --system-b names" in refusal(*COLUMNS[:-1], "neu")
    lines = [line.split(",") for line in table.read_text().splitlines()]
    lines[6][2] = ""
    lines[8][0] = lines[9][0]
    table.write_text("\n".join(map(",".join, lines)))
    said = refusal(*COLUMNS)
    assert "row 7, column 'gold': value '': the label is blank." in said
    assert "row 10, column 'item': value 'q8': this item is there already." in said


def test_columns_in_two_roles_are_refused(table) -> None:
    refused = run("contingency", "test", table, *COLUMNS[:-1], "old", code=2)
    assert "true labels, A and B are three columns" in " ".join(refused.stderr.split())

"""CR2 errors and Bell-McCaffrey df of a mean: a dense twin, identities, statsmodels, clubSandwich."""

import importlib
import json
import math
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import statsmodels.api as sm
from cases import each_case, examples, few_fast
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from humeval_power.checking.suspects import ClusterSuspect
from humeval_power.clusters import Clusters
from humeval_power.errors import InputError
from humeval_power.inference.clustered import (
    bell_mccaffrey_df,
    clustered_covariance,
    clustered_mean,
    intraclass_correlation,
)
from humeval_power.saying.clustered_words import (
    assumed_items,
    clustered_items,
    independence_record,
    independence_section,
)
from humeval_power.saying.result import cluster_entry

TESTS = Path(__file__).resolve().parents[1]
GOLDEN = TESTS / "golden" / "clustered_means.json"
CASES = {case["name"]: case for case in json.loads(GOLDEN.read_text())["cases"]}


def dense(values: np.ndarray, codes: np.ndarray) -> tuple[float, float]:
    """CR2 variance and df of a mean by the matrices of Bell and McCaffrey."""
    n = len(values)
    residual_maker = np.eye(n) - np.full((n, n), 1 / n)
    variance, columns = 0.0, []
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        sizes, vectors = np.linalg.eigh(residual_maker[np.ix_(rows, rows)])
        adjusted = np.ones(len(rows)) @ (vectors / np.sqrt(sizes)) @ vectors.T / n
        variance += float(adjusted @ (residual_maker @ values)[rows]) ** 2
        columns.append(residual_maker[:, rows] @ adjusted)
    form = np.array(columns) @ np.array(columns).T
    return variance, float(np.trace(form) ** 2 / np.sum(form**2))


sizes_of_clusters = st.lists(st.integers(1, 12), min_size=2, max_size=9)


@given(sizes_of_clusters, st.integers(0, 99))
@examples(40)
def test_the_dense_matrices_agree(sizes: list[int], seed: int) -> None:
    codes = np.repeat(np.arange(len(sizes)), sizes)
    values = np.random.default_rng(seed).normal(size=len(codes))
    shuffled = np.random.default_rng(seed + 1).permutation(len(codes))
    values, codes = values[shuffled], codes[shuffled]
    found = clustered_mean(values, Clusters.of(list(codes)))
    variance, df = dense(values, codes)
    assert found.standard_error**2 == pytest.approx(variance, rel=1e-10)
    assert found.df == pytest.approx(df, rel=1e-9)


@each_case("name", CASES)
def test_clubsandwich_agrees(name: str) -> None:
    case = CASES[name]
    found = clustered_mean(case["values"], Clusters.of(case["clusters"]))
    assert found.estimate == pytest.approx(case["estimate"], abs=1e-12)
    assert found.standard_error == pytest.approx(case["cr2"], rel=1e-9)
    assert found.df == pytest.approx(case["df"], rel=1e-7)
    assert found.p_value() == pytest.approx(case["p_value"], rel=1e-7)
    assert found.cr1_error == pytest.approx(case["cr1"], rel=1e-9)


@pytest.mark.r
def test_clubsandwich_still_says_so(tmp_path: Path) -> None:
    if shutil.which("Rscript") is None:
        pytest.skip("R is not installed")
    target = tmp_path / "found.json"
    script = TESTS / "oracles" / "clusters_oracle.R"
    done = subprocess.run(["Rscript", str(script), str(target)], capture_output=True, text=True)
    if "there is no package called" in done.stderr:
        pytest.skip("clubSandwich or jsonlite is not installed")
    assert done.returncode == 0, done.stderr
    for case in json.loads(target.read_text())["cases"]:
        assert case["cr2"] == pytest.approx(CASES[case["name"]]["cr2"], rel=1e-9)
        assert case["df"] == pytest.approx(CASES[case["name"]]["df"], rel=1e-7)


@each_case("name", CASES)
def test_statsmodels_agrees_on_cr1(name: str) -> None:
    case = CASES[name]
    values, codes = np.array(case["values"]), np.array(case["clusters"])
    fitted = sm.OLS(values, np.ones(len(values))).fit(
        cov_type="cluster",
        cov_kwds={"groups": codes, "df_correction": False, "use_correction": False},
    )
    n_clusters = len(set(case["clusters"]))
    expected = float(fitted.bse[0]) * math.sqrt(n_clusters / (n_clusters - 1))
    assert clustered_mean(values, Clusters.of(list(codes))).cr1_error == pytest.approx(expected, rel=1e-9)


def test_items_of_their_own_are_the_t_test() -> None:
    values = np.random.default_rng(3).normal(0.3, 1, 25)
    found = clustered_mean(values, None)
    reference = stats.ttest_1samp(values, 0.1, alternative="less")
    assert found.p_value(0.1, "less") == pytest.approx(reference.pvalue, rel=1e-12)
    assert found.df == pytest.approx(24)
    assert found.interval(0.9) == pytest.approx(stats.ttest_1samp(values, 0.1).confidence_interval(0.9))
    assert found.design_effect == pytest.approx(1)


def test_equal_clusters_are_the_t_test_of_their_means() -> None:
    values = np.random.default_rng(4).normal(size=(7, 6)) + np.random.default_rng(5).normal(size=(7, 1))
    found = clustered_mean(values.ravel(), Clusters.of(list(np.repeat(np.arange(7), 6))))
    reference = stats.ttest_1samp(values.mean(axis=1), 0)
    assert found.df == pytest.approx(6)
    assert found.p_value() == pytest.approx(reference.pvalue, rel=1e-12)


def test_the_variance_is_unbiased_under_independence() -> None:
    sizes = [1, 2, 30, 4]
    clusters = Clusters.of(list(np.repeat(np.arange(4), sizes)))
    drawn = np.random.default_rng(6).normal(size=(20_000, 37))
    squares = np.array([clustered_mean(values, clusters).standard_error ** 2 for values in drawn[:4_000]])
    spread = squares.std() / math.sqrt(len(squares))
    assert abs(squares.mean() - 1 / 37) < 4 * spread


def test_a_covariance_holds_the_variances_and_the_difference() -> None:
    values = np.random.default_rng(7).normal(size=(40, 3))
    clusters = Clusters.of([place % 6 for place in range(40)])
    found = clustered_covariance(values, clusters)
    for place in range(3):
        assert found[place, place] == pytest.approx(
            clustered_mean(values[:, place], clusters).standard_error ** 2
        )
    difference = clustered_mean(values[:, 1] - values[:, 0], clusters).standard_error ** 2
    assert found[0, 0] + found[1, 1] - 2 * found[0, 1] == pytest.approx(difference)


def test_the_intraclass_correlation_is_that_of_the_draws() -> None:
    rng = np.random.default_rng(8)
    codes = np.repeat(np.arange(3_000), rng.integers(1, 6, 3_000))
    values = rng.normal(0, 0.6, 3_000)[codes] + rng.normal(0, 0.8, len(codes))
    assert intraclass_correlation(values, Clusters.of(list(codes))) == pytest.approx(0.36, abs=0.03)


def test_degenerate_values() -> None:
    clusters = Clusters.of(["a", "a", "b", "c"])
    alike = clustered_mean([0.5, 0.5, 0.5, 0.5], clusters)
    assert alike.standard_error == 0
    assert math.isnan(alike.p_value())
    assert math.isnan(alike.design_effect)
    assert alike.icc == 0
    assert math.isnan(clustered_mean([1.0, 2.0, 4.0], Clusters.of(["a", "b", "c"])).icc)


def test_a_dominant_cluster_is_rough() -> None:
    """METHODS: one of 200 items and nine of 20."""
    sizes = np.array([200.0] + [20.0] * 9)
    assert bell_mccaffrey_df(sizes) < 5
    values = np.random.default_rng(9).normal(size=380)
    found = clustered_mean(values, Clusters.of(list(np.repeat(np.arange(10), sizes.astype(int)))))
    assert found.is_rough


@pytest.mark.parametrize(
    ("values", "names", "said"),
    [
        ([1.0, 2.0], ["a", "a"], "one cluster"),
        ([1.0, 2.0], ["a", "b", "c"], "3 items"),
        ([1.0, math.nan], ["a", "b"], "finite"),
        ([1.0], ["a"], "one cluster"),
    ],
)
def test_refusals(values: list[float], names: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        clustered_mean(values, Clusters.of(names))


# The question that every report answers: what was not independent?


def test_known_clusters_are_told_with_both_errors() -> None:
    clusters = Clusters.of(list(np.repeat(np.arange(10), 4)))
    found = clustered_mean(np.random.default_rng(1).normal(size=40), clusters)
    answer = clustered_items(found, "passage")
    assert answer.state == "accounted"
    assert "40 items come in 10 clusters (passage), of equal size" in answer.text
    assert f"{found.standard_error:.4g}" in answer.text
    assert f"{found.independent_error:.4g}" in answer.text
    assert "no more than a hint" not in answer.text


def test_few_clusters_are_warned_of() -> None:
    clusters = Clusters.of(["a", "a", "b", "c"])
    found = clustered_mean([1.0, 2.0, 4.0, 3.0], clusters)
    assert "no more than a hint" in clustered_items(found, "doc").text


def test_unknown_clusters_are_asked_about() -> None:
    answer = assumed_items(1_200, (ClusterSuspect("passage", 100, 1_200, 20),))
    assert answer.state == "assumed"
    assert "1,200 items count as independent" in answer.text
    assert "--cluster passage" in answer.text
    section = independence_section([answer])
    assert section.title == "What counts as independent?"
    assert independence_record([answer]) == [{"of": "items", "state": "assumed", "text": answer.text}]


def test_the_signature_names_column_and_number() -> None:
    assert cluster_entry("my passage|x", 40) == ["cluster:my_passage_x:40"]
    assert cluster_entry(None, None) == []


# The tables of docs/clusters.md: their script tests as the package does, and they show what they claim.


DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(DOCS))
    monkeypatch.delitem(sys.modules, "make_cluster_calibration", raising=False)
    return importlib.import_module("make_cluster_calibration")


@pytest.mark.parametrize("layout", ["equal", "unequal", "one holds half"])
@pytest.mark.parametrize("kind", ["scores", "right and wrong"])
def test_the_script_tests_as_the_package_does(script, kind: str, layout: str) -> None:
    sizes = script.sizes_of(layout, 8)
    values = script.drawn(kind, sizes, np.random.default_rng(1), 5)
    clusters = Clusters.of(list(np.repeat(np.arange(8), sizes)))
    found = script.p_values(values, sizes)
    for row, each in zip(values, found, strict=True):
        assert each[0] == pytest.approx(clustered_mean(row, clusters).p_value(), rel=1e-9)
        assert each[3] == pytest.approx(clustered_mean(row, None).p_value(), rel=1e-9)


@few_fast("layout", ["equal", "unequal", "one holds half"], fast=1)
@pytest.mark.parametrize("n_clusters", [5, 15, 100])
def test_cr2_keeps_its_level_where_the_others_do_not(script, layout: str, n_clusters: int) -> None:
    cr2, _, z, independent = script.rates("scores", layout, n_clusters, 4_000)
    spread = (0.05 * 0.95 / 4_000) ** 0.5
    assert cr2 < 0.065 + 3 * spread
    assert independent > 0.25
    if n_clusters <= 15:
        assert z > 0.05 + 3 * spread


def test_the_page_has_a_row_for_every_cell_that_it_shows(script) -> None:
    page = (DOCS / "clusters.md").read_text(encoding="utf-8")
    for layout in script.LAYOUTS:
        for n_clusters in script.SHOWN:
            assert page.count(f"| {n_clusters}, {layout} |") == 1

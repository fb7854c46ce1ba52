"""CR2 errors and Bell-McCaffrey df of a mean: a dense twin, identities, statsmodels, clubSandwich."""

import json
import math
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
import statsmodels.api as sm
from cases import each_case, examples
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from humeval_power.clusters import Clusters
from humeval_power.errors import InputError
from humeval_power.inference.clustered import (
    bell_mccaffrey_df,
    clustered_covariance,
    clustered_mean,
    intraclass_correlation,
)

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

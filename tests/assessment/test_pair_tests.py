"""Systems compared by independent ratings: other programs, a dense twin, clusters, and hostile tables."""

import json
import math
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from cli import run, run_json
from scipy import stats

import humeval_power as hp
from humeval_power.comparisons.assessment.pairs import (
    RatedOutputs,
    clustered_difference,
    clustered_superiority,
    compare_pairs,
    mean_test,
)
from humeval_power.errors import InputError


def rated(seed: int, sizes: tuple[int, ...], *, groups: int = 1) -> RatedOutputs:
    """Whole ratings, so that many are tied, of systems of the sizes in each group."""
    rng = np.random.default_rng(seed)
    system = np.tile(np.repeat(np.arange(len(sizes)), sizes), groups)
    rating = np.clip(np.round(70 + 3 * system + rng.normal(0, 8, len(system))), 0, 100)
    group = np.repeat(np.arange(groups), sum(sizes))
    names = tuple(f"s{place}" for place in range(len(sizes)))
    return RatedOutputs(rating, system, names, group, tuple(f"g{g}" for g in range(groups)))


@pytest.mark.parametrize("continuity", [True, False])
def test_mann_whitney_is_scipys_with_ties(continuity: bool) -> None:
    table = rated(1, (30, 41))
    (pair,) = compare_pairs(table, continuity=continuity).pairs
    a, b = (table.rating[table.system == system] for system in (0, 1))
    expected = stats.mannwhitneyu(b, a, method="asymptotic", use_continuity=continuity)
    assert pair.p_value == pytest.approx(expected.pvalue, rel=1e-10)
    assert pair.superiority == pytest.approx(expected.statistic / (30 * 41), rel=1e-12)


@pytest.mark.parametrize(("test", "equal"), [("welch", False), ("student", True)])
def test_the_t_tests_and_their_intervals_are_scipys(test: str, equal: bool) -> None:
    table = rated(2, (25, 60))
    (pair,) = compare_pairs(table, test=test, alpha=0.1).pairs  # type: ignore[arg-type]
    a, b = (table.rating[table.system == system] for system in (0, 1))
    expected = stats.ttest_ind(b, a, equal_var=equal)
    assert pair.p_value == pytest.approx(expected.pvalue, rel=1e-10)
    assert pair.interval == pytest.approx(tuple(expected.confidence_interval(0.9)), rel=1e-10)


def test_holm_corrects_all_pairs_of_all_groups_together() -> None:
    found = compare_pairs(rated(3, (20, 20, 20), groups=2))
    p = np.array([pair.p_value for pair in found.pairs])
    assert len(p) == 6
    order = np.argsort(p)
    expected = np.minimum(np.maximum.accumulate(p[order] * np.arange(6, 0, -1)), 1)
    assert [found.pairs[place].corrected_p for place in order] == pytest.approx(expected)


def test_a_baseline_is_a_of_every_pair_and_missing_pairs_are_told() -> None:
    table = rated(4, (20, 1, 20))
    found = compare_pairs(table, baseline="s2")
    assert [(pair.a, pair.b) for pair in found.pairs] == [("s2", "s0")]
    assert found.left_out == ("g0: s1 has one rating and is left out.",)


def dense(values: np.ndarray, is_b: np.ndarray, cluster: np.ndarray) -> tuple[float, float]:
    """CR2 error and Satterthwaite df of the slope, by matrices of all rows."""
    x = np.stack([np.ones(len(values)), is_b.astype(float)], axis=1)
    bread = np.linalg.inv(x.T @ x)
    hat = np.eye(len(values)) - x @ bread @ x.T
    scores, vectors = [], []
    for each in np.unique(cluster):
        rows = np.flatnonzero(cluster == each)
        value, vector = np.linalg.eigh(hat[np.ix_(rows, rows)])
        root = vector @ np.diag(1 / np.sqrt(value)) @ vector.T
        weights = (bread @ x[rows].T @ root)[1]
        vectors.append(hat[:, rows] @ weights)
        scores.append(vectors[-1] @ values)
    p = np.array(vectors) @ np.array(vectors).T
    return math.sqrt(sum(score**2 for score in scores)), np.trace(p) ** 2 / (p**2).sum()


@pytest.mark.parametrize("layout", ["crossed", "nested", "unequal", "alone"])
def test_the_error_in_clusters_is_that_of_dense_matrices(layout: str) -> None:
    rng = np.random.default_rng(5)
    is_b = np.arange(60) % 2
    cluster = {
        "crossed": np.arange(60) // 6,
        "nested": is_b * 5 + np.arange(60) % 5,
        "unequal": np.minimum(np.arange(60) // 2, 9),
        "alone": np.arange(60),
    }[layout]
    values = rng.normal(size=60) + rng.normal(size=60)[cluster]
    a, b = values[is_b == 0], values[is_b == 1]
    found = clustered_difference(a, b, cluster[is_b == 0], cluster[is_b == 1])
    error, df = dense(values, is_b, cluster)
    assert found.standard_error == pytest.approx(error, rel=1e-10)
    assert found.df == pytest.approx(df, rel=1e-8)


def test_each_rating_by_itself_gives_welchs_error_and_brunner_and_munzels_statistic() -> None:
    table = rated(6, (30, 22))
    a, b = (table.rating[table.system == system] for system in (0, 1))
    alone = np.arange(52)
    means = clustered_difference(a, b, alone[:30], alone[30:])
    assert means.standard_error == pytest.approx(math.sqrt(a.var(ddof=1) / 30 + b.var(ddof=1) / 22))
    ranks = clustered_superiority(a, b, alone[:30], alone[30:])
    munzel = stats.brunnermunzel(a, b).statistic
    assert abs(ranks.estimate / ranks.standard_error) == pytest.approx(abs(munzel), rel=1e-10)


def test_a_system_in_one_cluster_has_no_error() -> None:
    found = clustered_difference(
        np.array([1.0, 2.0]), np.array([2.0, 4.0]), np.array([0, 0]), np.array([1, 2])
    )
    assert math.isnan(found.p_value)
    assert all(map(math.isnan, found.interval(0.95)))


@pytest.mark.r
def test_clubsandwich_agrees(tmp_path: Path) -> None:
    if shutil.which("Rscript") is None:
        pytest.skip("R is not installed")
    rng = np.random.default_rng(8)
    cluster, is_b = rng.integers(0, 12, 150), rng.integers(0, 2, 150)
    values = np.round(rng.normal(size=150) + rng.normal(size=12)[cluster] * (1 + is_b), 3)
    lines = ["y,x,g", *(f"{y},{x},{g}" for y, x, g in zip(values, is_b, cluster, strict=True))]
    (tmp_path / "d.csv").write_text("\n".join(lines))
    (tmp_path / "t.R").write_text(
        f'library(clubSandwich); d <- read.csv("{tmp_path}/d.csv"); fit <- lm(y ~ x, d)\n'
        'r <- coef_test(fit, vcovCR(fit, cluster = d$g, type = "CR2"), test = "Satterthwaite")\n'
        'cat(sprintf("[%.12f, %.12f, %.12f]", r$SE[2], r$df_Satt[2], r$p_Satt[2]))\n'
    )
    done = subprocess.run(["Rscript", str(tmp_path / "t.R")], capture_output=True, text=True)
    if done.returncode:
        pytest.skip("clubSandwich is not installed")
    parts = [values[is_b == x] for x in (0, 1)]
    found = clustered_difference(*parts, cluster[is_b == 0], cluster[is_b == 1])
    error, df, p = json.loads(done.stdout)
    # what R prints has 12 decimals
    assert (found.standard_error, found.df, found.p_value) == pytest.approx((error, df, p), abs=1e-9)


@pytest.mark.slow
def test_clusters_keep_the_level_where_independence_does_not() -> None:
    rng = np.random.default_rng(11)
    cluster, is_b = np.repeat(np.arange(30), 20), np.tile([0, 1], 300)
    bold = robust = 0
    n = 1000
    for _ in range(n):
        liking = rng.normal(0, 0.7, (30, 2))  # of a worker for a system
        values = rng.normal(size=600) + liking[cluster, is_b]
        a, b = values[is_b == 0], values[is_b == 1]
        bold += stats.mannwhitneyu(a, b, method="asymptotic").pvalue < 0.05
        robust += clustered_superiority(a, b, cluster[is_b == 0], cluster[is_b == 1]).p_value < 0.05
    low, high = stats.binom.interval(0.998, n, 0.05)
    assert low <= robust <= high
    assert bold > 2 * high


def table_of(folder: Path, table: RatedOutputs) -> Path:
    path = folder / "ratings.csv"
    rows = zip(table.group, table.system, table.rating, strict=True)
    path.write_text("pair,system,score\n" + "".join(f"p{g},s{s},{y:g}\n" for g, s, y in rows))
    return path


def test_what_the_command_writes_is_what_observed_mde_reads(tmp_path: Path) -> None:
    table = rated(7, (40, 40, 40, 40), groups=3)
    path, pairs = table_of(tmp_path, table), tmp_path / "pairs.csv"
    run("assessment", "test", path, "--by", "pair", "-o", pairs)
    record = run_json("assessment", "test", path, "--by", "pair")
    seen = run_json("assessment", "observed-mde", pairs, "--by", "group", "--fewest-above", 2)
    assert seen["groups"][0]["comparisons"] == 18
    assert seen["groups"][0]["significant"] == record["n_significant"]
    assert [each["group"] for each in seen["groups"][1:]] == ["p0", "p1", "p2"]


def test_comparisons_without_a_p_value_are_left_out_of_a_collection(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("difference,p\n1,0.2\n0,\n2,0.01\n")
    done = run("assessment", "observed-mde", path, "--fewest-above", 1)
    assert "2 comparisons" in done.stdout
    assert "left out: 1" in done.stderr


def test_page_record_table_and_sentence_say_the_same(tmp_path: Path) -> None:
    path = table_of(tmp_path, rated(9, (30, 30)))
    record = run_json("assessment", "test", path)
    (pair,) = record["pairs"]
    shown = run("assessment", "test", path).stdout
    assert f"{pair['difference']:.4g}" in shown
    assert f"{pair['superiority']:.4f}" in shown
    assert "model:independent-ratings" in record["signature"]
    assert [each["of"] for each in record["independence"]] == ["items", "workers"]
    assert max(map(len, shown.splitlines())) <= 80


def test_every_fault_of_a_table_is_named_at_once(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("system,rating,pair\nA,1,x\n,2,x\nB,much,x\nA,3,\n")
    said = run("assessment", "test", path, "--by", "pair", code=2).stderr
    for part in ("row 3, column 'system'", "row 4, column 'rating': value 'much'", "row 5, column 'pair'"):
        assert part in " ".join(said.split())


def test_several_criteria_are_never_mixed(tmp_path: Path) -> None:
    path = tmp_path / "criteria.csv"
    rows = [
        f"{s},{c},{50 + 5 * (s == 'B') + i % 7}"
        for i in range(20)
        for s in "AB"
        for c in ("fluency", "meaning")
    ]
    path.write_text("\n".join(["system,criterion,rating", *rows]))
    assert "--criterion fluency" in run("assessment", "test", path, code=2).stderr
    one = run_json("assessment", "test", path, "--criterion", "fluency")
    assert one["n_ratings"] == 40
    both = run_json("assessment", "test", path, "--by", "criterion")
    assert [pair["group"] for pair in both["pairs"]] == ["fluency", "meaning"]


def test_names_of_systems_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "names.csv"
    path.write_text(
        "system,rating\n" + "".join(f"{s},{i}\n" for s in ("<b>x</b>", "\x1b[31mA") for i in range(4))
    )
    assert "\x1b" not in run("assessment", "test", path).stdout
    run("assessment", "test", path, "-o", f"{tmp_path}/page/")
    assert "<b>x" not in (tmp_path / "page" / "index.html").read_text("utf-8")


def test_calls_refuse_what_has_no_test() -> None:
    table = rated(10, (5, 5))
    with pytest.raises(InputError, match="alpha"):
        hp.assessment.test(table, alpha=1.5)
    with pytest.raises(InputError, match="no such system"):
        hp.assessment.test(table, baseline="other")
    alone = RatedOutputs(np.array([1.0]), np.array([0]), ("A",), np.array([0]), ("",))
    with pytest.raises(InputError, match="2 ratings each"):
        hp.assessment.test(alone)


@pytest.mark.parametrize("pooled", [True, False])
def test_equal_decimals_have_no_spread_whatever_their_mean_comes_to(pooled: bool) -> None:
    for a, b in (([0.1] * 3, [0.3] * 3), ([0.1] * 3, [0.1] * 6), ([3.0] * 3, [3.5] * 3)):
        assert math.isnan(mean_test(np.array([a]), np.array([b]), pooled=pooled).p_value[0])
    small = mean_test(np.array([[1e-9, 2e-9, 4e-9]]), np.array([[3e-9, 5e-9]]), pooled=pooled)
    assert 0 < small.p_value[0] < 1


def test_the_column_of_the_systems_is_no_cluster(tmp_path: Path) -> None:
    table = tmp_path / "rated.csv"
    table.write_text("system,rating\n" + "".join(f"{'ab'[n % 2]},{50 + n}\n" for n in range(12)))
    for option in ("--cluster", "--by"):
        said = " ".join(run("assessment", "test", table, option, "system", code=2).stderr.split())
        assert f"{option}" in said
        assert "names the column of the system" in said


def test_where_means_and_ranks_say_different_things_it_is_told(tmp_path: Path) -> None:
    table = tmp_path / "rated.csv"
    rows = [("a", 50 + n % 7) for n in range(40)] + [("b", 50 + n % 7 + 45 * (n < 5)) for n in range(40)]
    table.write_text("system,rating\n" + "".join(f"{system},{rating}\n" for system, rating in rows))
    assert "Say which one was planned" in " ".join(run("assessment", "test", table).stdout.split())


@pytest.mark.parametrize("name", ["mann-whitney", "welch"])
def test_intervals_in_clusters_have_the_level_that_was_asked(tmp_path: Path, name: str) -> None:
    table = tmp_path / "rated.csv"
    rng = np.random.default_rng(3)
    rows = [f"{'ab'[n % 2]},{rng.normal(50 + n % 5, 10):.1f},w{n % 9}" for n in range(120)]
    table.write_text("system,rating,worker\n" + "\n".join(rows) + "\n")
    asked = ("assessment", "test", table, "--test", name, "--cluster", "worker")
    (wide,), (narrow,) = (run_json(*asked, "--alpha", alpha)["pairs"] for alpha in ("0.01", "0.2"))
    middle, df = wide["difference"], stats.t(clustered_df(narrow, wide))
    assert (wide["interval"][1] - middle) / (narrow["interval"][1] - middle) == pytest.approx(
        df.ppf(0.995) / df.ppf(0.9), rel=1e-6
    )


def clustered_df(narrow: dict[str, object], wide: dict[str, object]) -> float:
    """The degrees of freedom that both name."""
    assert narrow["df"] == wide["df"]
    return float(wide["df"])  # type: ignore[arg-type]

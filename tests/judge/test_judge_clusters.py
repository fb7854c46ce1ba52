"""PPI++ with clusters of items: a dense twin, identities, clubSandwich, and how often intervals cover."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from cases import each_case
from scipy import linalg, stats

from humeval_power.clusters import Clusters
from humeval_power.comparisons.judge.means import ClusteredParts, judged_means
from humeval_power.errors import InputError
from humeval_power.inference.clustered import clustered_mean


def dense(values: np.ndarray, others: np.ndarray, codes: np.ndarray) -> tuple[float, float]:
    """CR2 variance and df of the sum of both means, by the matrices of Bell and McCaffrey."""
    n, total = len(values), len(values) + len(others)
    x = np.zeros((total, 2))
    x[:n, 0], x[n:, 1] = 1, 1
    bread = np.linalg.inv(x.T @ x)
    residual_maker = np.eye(total) - x @ bread @ x.T
    residual = residual_maker @ np.concatenate([values, others])
    working = np.where(x[:, 0] == 1, np.var(values, ddof=1), np.var(others, ddof=1))
    variance, columns = 0.0, []
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        root = linalg.inv(linalg.sqrtm(residual_maker[np.ix_(rows, rows)])).real
        adjusted = np.ones(2) @ bread @ x[rows].T @ root
        variance += float(adjusted @ residual[rows]) ** 2
        columns.append(residual_maker[:, rows] @ adjusted)
    form = np.array(columns) @ np.diag(working) @ np.array(columns).T
    return variance, float(np.trace(form) ** 2 / np.sum(form**2))


def drawn(
    rng: np.random.Generator, n_clusters: int, *, whole: bool, unequal: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray, Clusters]:
    """Human values, the judge's of the same and of others, with clusters (correlation .3 within); `whole` clusters
    are rated, else three in ten items of each."""
    number = 4 * n_clusters if whole else n_clusters
    size = 1 + rng.poisson(7, number)
    if unequal:
        size = np.maximum(2, np.round(8 * rng.lognormal(-0.3, 0.8, number)).astype(int))
    codes = np.repeat(np.arange(number), size)
    shared, own = rng.standard_normal((number, 2)), rng.standard_normal((len(codes), 2))
    shared[:, 1] = 0.6 * shared[:, 0] + 0.8 * shared[:, 1]
    own[:, 1] = 0.7 * own[:, 0] + np.sqrt(0.51) * own[:, 1]
    judge, human = (np.sqrt(0.3) * shared[codes] + np.sqrt(0.7) * own).T
    rated = codes < n_clusters if whole else np.arange(len(codes)) % 10 < 3
    order = np.concatenate([np.flatnonzero(rated), np.flatnonzero(~rated)])
    clusters = Clusters.of(list(codes[order]), name="passage")
    return human[rated] + 0.4, judge[rated], judge[~rated], clusters


@each_case("whole", [True, False])
@each_case("seed", range(4))
def test_the_dense_matrices_agree(seed: int, whole: bool) -> None:
    human, judge, extra, clusters = drawn(np.random.default_rng(seed), 4 + seed, whole=whole)
    parts = ClusteredParts.of(clusters, len(human), len(extra))
    error, df = parts.precision(human - 0.5 * judge, 0.5 * extra)
    variance, expected_df = dense(human - 0.5 * judge, 0.5 * extra, clusters.codes)
    assert error**2 == pytest.approx(variance, rel=1e-9)
    assert df == pytest.approx(expected_df, rel=1e-9)


def test_humans_alone_are_the_clustered_mean() -> None:
    human, judge, extra, clusters = drawn(np.random.default_rng(1), 12, whole=True)
    found = judged_means(human, judge, extra, clusters=clusters)
    alone = clustered_mean(human, clusters.only(np.arange(len(human))))
    assert found.human.standard_error == pytest.approx(alone.standard_error)
    assert found.human.df == pytest.approx(alone.df)
    assert found.clustered == alone


def test_clusters_of_one_item_each_give_the_errors_of_independent_items() -> None:
    human, judge, extra, _ = drawn(np.random.default_rng(2), 12, whole=True)
    each = Clusters.of(list(range(len(human) + len(extra))))
    found, plain = judged_means(human, judge, extra, clusters=each), judged_means(human, judge, extra)
    assert found.plain.standard_error == pytest.approx(plain.plain.standard_error)
    assert found.human.df == pytest.approx(plain.human.df)


def test_folds_are_of_whole_clusters() -> None:
    human, _, extra, clusters = drawn(np.random.default_rng(3), 15, whole=False)
    parts = ClusteredParts.of(clusters, len(human), len(extra))
    fold = parts.folds(seed=1)
    assert all(len(set(fold[parts.rated.codes == code])) == 1 for code in range(parts.rated.n_clusters))
    assert len(set(fold)) == 7


def test_items_of_one_cluster_alone_are_refused() -> None:
    values, extra = np.arange(15.0) % 4, np.arange(3.0)
    with pytest.raises(InputError, match="have human values are in one cluster of 'passage'"):
        judged_means(values, values**2, extra, clusters=Clusters.of([0] * 15 + [1, 2, 2], name="passage"))
    with pytest.raises(InputError, match="clusters of 4"):
        judged_means(values, values**2, extra, clusters=Clusters.of([0, 0, 1, 1]))


CLUB = """
suppressMessages({library(clubSandwich); library(jsonlite)})
path <- commandArgs(trailingOnly = TRUE)
d <- fromJSON(path[1])
fit <- lm(u ~ 0 + kind, data = d, weights = NULL)
v <- vcovCR(fit, cluster = d$cluster, type = "CR2")
write(toJSON(list(error = sqrt(sum(v))), auto_unbox = TRUE, digits = 15), path[2])
"""


@pytest.mark.r
@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_club_sandwich_has_the_same_standard_error(tmp_path: Path) -> None:
    human, judge, extra, clusters = drawn(np.random.default_rng(4), 9, whole=False, unequal=True)
    parts = ClusteredParts.of(clusters, len(human), len(extra))
    values, others = human - 0.5 * judge, 0.5 * extra
    table = {
        "u": [*values, *others],
        "kind": ["rated"] * len(values) + ["other"] * len(others),
        "cluster": clusters.codes.tolist(),
    }
    given, taken, script = (tmp_path / name for name in ("in.json", "out.json", "club.R"))
    given.write_text(json.dumps(table))
    script.write_text(CLUB)
    rscript = shutil.which("Rscript")
    assert rscript is not None
    subprocess.run([rscript, str(script), str(given), str(taken)], check=True, capture_output=True)
    assert parts.precision(values, others)[0] == pytest.approx(
        json.loads(taken.read_text())["error"], rel=1e-9
    )


@pytest.mark.slow
@pytest.mark.parametrize("unequal", [False, True])
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("n_clusters", [10, 20, 50])
def test_intervals_cover_as_often_as_they_say(n_clusters: int, whole: bool, unequal: bool) -> None:
    rng = np.random.default_rng(n_clusters)
    runs, hits = 600, np.zeros(2)
    for seed in range(runs):
        found = judged_means(
            *(data := drawn(rng, n_clusters, whole=whole, unequal=unequal))[:3], clusters=data[3], seed=seed
        )
        hits += [m.interval[0] <= 0.4 <= m.interval[1] for m in (found.human, found.tuned)]
    low, high = stats.binom.interval(0.999, runs, 0.95)
    # unequal clusters and a weight from ten of them cost about a point
    assert (hits >= low - 0.01 * runs).all()
    assert (hits <= high).all()

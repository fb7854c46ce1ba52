"""What docs/accuracy.md and docs/contingency.md say of tests of items in clusters, by simulation."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

DOCS = Path(__file__).parents[2] / "docs"
SETS = 1_000


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(DOCS))
    for name in ("make_accuracy_clusters", "make_cluster_calibration", "make_calibration"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module("make_accuracy_clusters")


def test_the_rates_that_intervals_shall_hold_are_those_of_a_large_test_set(script) -> None:
    rng = np.random.default_rng(1)
    found = script.drawn(np.full(40_000, 5), script.BETTER, rng)
    expected = script.true_rates(script.BETTER)
    # Clusters of 5 with intraclass correlation below .4: at most 2.6 times the variance of independent items.
    error = (2.6 * 0.25 / 200_000) ** 0.5
    assert found.right.mean(axis=0) == pytest.approx(expected, abs=4 * error)
    positive = found.gold == 1
    true_positive = (found.right[:, 1] & positive).sum()
    wrong = (~found.right[:, 1]).sum()
    assert 2 * true_positive / (2 * true_positive + wrong) == pytest.approx(
        script.true_f1(expected[1]), abs=0.01
    )


@pytest.mark.slow
@pytest.mark.parametrize("layout", ["equal", "unequal"])
@pytest.mark.parametrize("n_clusters", [5, 20, 100])
@pytest.mark.parametrize("metric", ["accuracy", "f1"])
def test_size_and_coverage_hold_from_5_to_100_clusters(
    script, metric: str, n_clusters: int, layout: str
) -> None:
    rates = script.rates(metric, layout, n_clusters, SETS)
    names = script.ACCURACY if metric == "accuracy" else script.F1
    found = dict(zip(names, rates, strict=True))
    # A true rate of 6 % (94 %): within these bounds with probability 0.999.
    most = stats.binom.ppf(0.999, SETS, 0.06) / SETS
    assert found["size: CR2, t"] <= most
    assert found["size: clusters swapped"] <= most
    assert found["coverage: CR2, t"] >= 1 - most
    ignoring = found["size: McNemar, mid-p" if metric == "accuracy" else "size: items swapped"]
    assert ignoring > 0.10
    assert found["coverage: items independent"] < 0.90
    if n_clusters == 5:
        assert found["size: clusters swapped"] == 0.0  # 2 / 2^5 is above 5 %
        assert found["coverage: CR1, z"] < 0.92

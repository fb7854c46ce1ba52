"""The tables of docs/clusters.md: their script tests as the package does, and they show what they claim."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
from cases import few_fast

from humeval_power.clusters import Clusters
from humeval_power.inference.clustered import clustered_mean

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


def test_the_page_has_a_row_for_every_cell(script) -> None:
    page = (DOCS / "clusters.md").read_text(encoding="utf-8")
    for layout in script.LAYOUTS:
        for n_clusters in script.CLUSTERS:
            assert page.count(f"| {n_clusters}, {layout} |") == 2

"""Large tables against lme4: connected parts, paired and not, and one mixed table."""

import shutil
import subprocess
from types import SimpleNamespace

import numpy as np
import pytest
from places import TESTS

from humeval_power.estimation.fitting import fit

SCRIPT = TESTS / "engine" / "large_table.R"
SDS = ("sd_worker_intercept", "sd_worker_slope", "sd_item_intercept", "sd_item_slope", "sd_residual")


def _ratings(shape, *, paired):
    rng = np.random.default_rng(7)
    n_workers, n_items, k = 240, 500, 3
    if shape == "parts":
        workers = k * (np.arange(n_items) % (n_workers // k))[:, None] + np.arange(k)
    else:
        workers = np.array([rng.choice(n_workers, k, replace=False) for _ in range(n_items)])
    worker = np.repeat(workers.ravel(), 2)
    item, system = np.repeat(np.arange(n_items), 2 * k), np.tile([0, 1], n_items * k)
    if not paired:
        kept = rng.random(len(worker)) < 0.8
        worker, item, system = worker[kept], item[kept], system[kept]
        worker, item = (np.unique(codes, return_inverse=True)[1] for codes in (worker, item))
    x = system - 0.5
    rating = rng.normal(0.5, 0.3, len(x)) + (0.05 + rng.normal(0, 0.2, worker.max() + 1)[worker]) * x
    rating += rng.normal(0, 0.2, worker.max() + 1)[worker] + rng.normal(0, 0.2, item.max() + 1)[item]
    return SimpleNamespace(worker=worker, item=item, system=system, rating=rating)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.r
@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
@pytest.mark.parametrize("paired", [True, False], ids=["paired", "unpaired"])
@pytest.mark.parametrize("shape", ["parts", "mixed"])
def test_fit_of_many_workers_is_that_of_lme4(shape, paired, tmp_path):
    ratings = _ratings(shape, paired=paired)
    table = np.column_stack([ratings.worker, ratings.item, ratings.system, ratings.rating])
    file = tmp_path / "ratings.csv"
    np.savetxt(file, table, delimiter=",", header="worker,item,system,rating", comments="", fmt="%.17g")
    said = subprocess.run(["Rscript", SCRIPT, file], capture_output=True, text=True, check=True).stdout
    criterion, effect, error, *deviations = map(float, said.split())
    found = fit(ratings)
    assert criterion - 1e-4 < found.criterion < criterion + 1e-7
    assert found.parameters.effect == pytest.approx(effect, abs=1e-4 * error)
    assert found.standard_error == pytest.approx(error, rel=1e-4)
    for name, theirs in zip(SDS, deviations, strict=True):
        own_error = found.standard_errors.get(name, np.nan)
        close = 0.01 * own_error if np.isfinite(own_error) else 0.01
        assert getattr(found.parameters, name) == pytest.approx(theirs, abs=close), name

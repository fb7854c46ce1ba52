"""Joint fits of tables whose systems are all rated together: by layers, against the one dense matrix."""

import json
import shutil
import subprocess
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from cases import each_case, few_fast
from places import TESTS

from humeval_power.designs import Assignment
from humeval_power.errors import InputError
from humeval_power.estimation.joint import fit as joint_design
from humeval_power.estimation.joint import fit as joint_table
from humeval_power.estimation.joint.fit import JointTable, contrast_precision, fit_joint
from humeval_power.kernels.joint.paired import PairedPoint
from humeval_power.kernels.joint.reml import TablePoint

SDS = (0.1, 0.06, 0.12, 0.1, 0.2)
GAMMAS = (
    (0.3, 0.1, 0.5, 0.2),
    (0.0, 0.1, 0.5, 0.0),
    (0.2, 0.0, 0.0, 0.0),
    (0.0,) * 4,
    (4.0, 3.0, 2.0, 9.0),
)
TABLES = {
    "random": {"m": 12, "n": 30, "k": 3, "K": 3},
    "in blocks that do not meet": {"m": 12, "n": 30, "k": 3, "K": 2, "blocks": 3},
    "more workers than items, unbalanced": {"m": 30, "n": 12, "k": 8, "K": 4, "lost": 0.4},
    "several ratings of a cell": {"m": 9, "n": 14, "k": 3, "K": 3, "repeats": 2, "lost": 0.3},
    "each worker a single item": {"m": 24, "n": 8, "k": 3, "K": 3, "blocks": 8},
}


def paired_table(m, n, k, K, *, blocks=1, lost=0.0, repeats=1, sds=SDS, seed=1):
    """`k` workers of an item's block rate all its outputs; a share of these is lost. Rows in any order."""
    rng = np.random.default_rng(seed)
    size = m // blocks
    block = np.arange(n) * blocks // n
    drawn = np.argsort(rng.random((n, size)), axis=1)[:, :k] + (block * size)[:, None]
    worker, item = np.tile(drawn.ravel(), repeats), np.tile(np.repeat(np.arange(n), k), repeats)
    kept = rng.random(len(worker)) >= lost
    worker, item = (np.unique(codes[kept], return_inverse=True)[1] for codes in (worker, item))
    system = np.repeat(np.arange(K), len(worker))
    worker, item = np.tile(worker, K), np.tile(item, K)
    rating = 0.5 + 0.05 * system + rng.normal(size=m)[worker] * sds[0]
    rating = rating + rng.normal(size=(m, K))[worker, system] * sds[1] + rng.normal(size=n)[item] * sds[2]
    rating = rating + rng.normal(size=(n, K))[item, system] * sds[3] + rng.normal(size=len(worker)) * sds[4]
    order = rng.permutation(len(worker))
    return SimpleNamespace(
        worker=worker[order], item=item[order], system=system[order], rating=rating[order]
    )


def table_of(rows, *, own=False):
    return JointTable.of_rows(
        rows.worker, rows.item, rows.system, n_systems=int(rows.system.max()) + 1, own=own
    )


def take_layers(monkeypatch, wanted):
    """Whether tables of any size are taken as layers, or none."""
    monkeypatch.setattr(joint_table, "_PAIRED_FROM", 0 if wanted else 10**9)


@each_case("gamma", GAMMAS)
@each_case("name", TABLES)
def test_every_quantity_equals_the_one_from_the_dense_matrix(name, gamma, monkeypatch):
    rows = paired_table(**TABLES[name])
    points = []
    for wanted in (True, False):
        take_layers(monkeypatch, wanted)
        points.append(table_of(rows).point(rows.rating, np.array(gamma)))
    layers, dense = points
    assert isinstance(layers, PairedPoint)
    assert isinstance(dense, TablePoint)
    quadratic, size = layers.working_products()
    slow_quadratic, slow_size = dense.working_products()
    pairs = [
        (layers.df, dense.df),
        (layers.criterion, dense.criterion),
        (layers.beta, dense.beta),
        (layers.phi, dense.phi),
        (layers.rss, dense.rss),
        (quadratic, slow_quadratic),
        (size, slow_size),
        (layers.gradient(size), dense.gradient(slow_size)),
        *zip(layers.second_order(), dense.second_order(), strict=True),
    ]
    for fast, slow in pairs:
        np.testing.assert_allclose(fast, slow, rtol=1e-8, atol=1e-8 * np.abs(slow).max())


def fitted(rows, monkeypatch, *, layers):
    """The fit and what it says of the differences from the first system."""
    take_layers(monkeypatch, layers)
    fit = fit_joint(rows, closed_form=False)
    K = len(fit.means)
    return fit, contrast_precision(fit, np.vstack([np.eye(K), np.eye(K)[1:] - np.eye(K)[0]]))


# singular: no variance of items or workers to find, and one that systems share alone
SINGULAR = {
    "nothing of items": (0.1, 0.06, 0.0, 0.0, 0.2),
    "nothing of a system": (0.1, 0.0, 0.12, 0.0, 0.2),
    "noise alone": (0.0, 0.0, 0.0, 0.0, 0.2),
    "as a rule": SDS,
}


@pytest.mark.parametrize("sds", SINGULAR)
@few_fast("name", TABLES)
def test_fits_by_layers_are_those_of_the_dense_matrix(name, sds, monkeypatch):
    rows = paired_table(**TABLES[name], sds=SINGULAR[sds], seed=7)
    fast, fast_known = fitted(rows, monkeypatch, layers=True)
    slow, slow_known = fitted(rows, monkeypatch, layers=False)
    assert abs(fast.criterion - slow.criterion) <= 1e-8 * max(1.0, abs(slow.criterion))
    assert fast.not_identified == slow.not_identified
    if slow.not_identified:
        return  # every end on the ridge is as good
    assert (fast.boundary, fast.n_optima) == (slow.boundary, slow.n_optima)
    for part, other in zip(fast_known, slow_known, strict=True):
        np.testing.assert_allclose(part, other, rtol=1e-5)
    for key, sd in slow.standard_deviations.items():
        assert fast.standard_deviations[key] == pytest.approx(sd, rel=1e-5, abs=1e-7)


def test_only_systems_rated_together_with_common_variances_are_layers(monkeypatch):
    take_layers(monkeypatch, True)
    rows = paired_table(**TABLES["random"])
    last = rows.rating.argmax()
    without = {key: np.delete(codes, last) for key, codes in vars(rows).items()}
    moved = {**vars(rows), "worker": np.where(np.arange(len(rows.rating)) == last, 0, rows.worker)}
    assert rows.worker[last] != 0
    for changed, own, together in (
        ({}, False, True),
        ({}, True, False),
        (without, False, False),
        (moved, False, False),
    ):
        of = SimpleNamespace(**{**vars(rows), **changed})
        assert (table_of(of, own=own).order is not None) == together


def test_what_a_plan_expects_is_the_same_by_both(monkeypatch):
    rows = paired_table(**TABLES["more workers than items, unbalanced"])
    assignment = Assignment(rows.worker, rows.item, rows.system)
    found = []
    for wanted in (True, False):
        take_layers(monkeypatch, wanted)
        found.append(
            joint_design.joint_precision(
                assignment,
                worker=np.array([0.02, 0.01, 0.02, 0.01, 0.03]),
                item=np.array([0.03, 0.02, 0.02, 0.01, 0.01]),
                residual=0.04,
                variances="common",
            )
        )
    for fast, slow in zip(*found, strict=True):
        np.testing.assert_allclose(fast, slow, rtol=1e-9, atol=1e-12)


def test_a_thousand_workers_are_fitted_and_recovered():
    rows = paired_table(m=1000, n=2000, k=3, K=3, blocks=20)
    fit = fit_joint(rows)
    assert fit.converged
    assert fit.not_identified == fit.boundary == ()
    np.testing.assert_allclose(list(fit.standard_deviations.values()), SDS, atol=0.02)


def test_too_many_workers_who_meet_at_random_are_refused(monkeypatch):
    rows = paired_table(m=120, n=240, k=3, K=3)
    fit_joint(rows)
    monkeypatch.setattr(joint_table, "_MOST_COLUMNS", 30)
    with pytest.raises(InputError, match=r"a row for each worker, and takes at most 30\. Fit the systems"):
        fit_joint(rows)


@pytest.mark.r
@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_lme4_finds_the_same_fit_of_many_workers_in_blocks(tmp_path):
    rows = paired_table(m=300, n=600, k=3, K=3, blocks=10)
    pd.DataFrame(vars(rows)).to_csv(tmp_path / "table.csv", index=False)
    command = ["Rscript", str(TESTS / "engine" / "joint_blocks.R"), str(tmp_path / "table.csv")]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    criterion, error, *sds = json.loads(out)
    assert table_of(rows).order is not None
    fit = fit_joint(rows)
    known = contrast_precision(fit, np.array([[-1.0, 1.0, 0.0]]))
    assert criterion - 1e-4 <= fit.criterion <= criterion + 1e-7
    assert known.standard_error[0] == pytest.approx(error, rel=1e-4)
    np.testing.assert_allclose(list(fit.standard_deviations.values()), sds, rtol=1e-3)

"""A variance for each system in the joint fit: against dense matrices, its special cases and lme4."""

import json
import shutil
import subprocess
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from cases import each_case, few_fast
from places import TESTS
from reference import dense_model
from reference.dense_many_systems import own_design_matrices
from test_joint_fit import contrasts, random_table, table_of

from humeval_power.errors import InputError
from humeval_power.estimation.joint import fit as joint_closed_form
from humeval_power.estimation.joint import fit as joint_table
from humeval_power.estimation.joint.fit import contrast_precision, fit_joint, variance_names
from humeval_power.kernels.joint import model
from humeval_power.kernels.joint.complete import CompletePoint, JointStrata
from humeval_power.kernels.joint.reml import TablePoint


def own_table(seed, sds_worker, sds_item, m=6, n=12, kept=0.7):
    """Systems about which workers and items differ by amounts of their own; a share of the cells is kept."""
    rng = np.random.default_rng(seed)
    K = len(sds_worker)
    worker, item, system = np.indices((m, n, K)).reshape(3, -1)
    rating = 0.5 + 0.1 * rng.normal(size=m)[worker] + 0.1 * rng.normal(size=n)[item]
    rating = rating + (rng.normal(size=(m, K)) * sds_worker)[worker, system]
    rating = rating + (rng.normal(size=(n, K)) * sds_item)[item, system]
    rating = rating + 0.15 * rng.normal(size=len(worker))
    chosen = rng.random(len(worker)) < kept
    rows = {"worker": worker, "item": item, "system": system, "rating": rating}
    return table_of({name: values[chosen] for name, values in rows.items()})


def table_point(rows, gamma, *, own=True, filled=True):
    K = int(rows.system.max()) + 1
    table = model.build_table(rows.worker, rows.item, rows.system, n_systems=K, own=own)
    table = table if filled else table._replace(dense=None)
    return TablePoint.of_table(table, model.response_products(table, rows.rating), np.asarray(gamma))


def assert_close(fast, slow):
    # rounding, relative to the largest entry of each array
    assert np.abs(fast - slow).max() <= 1e-9 * max(1.0, np.abs(slow).max())


GAMMAS = (
    (0.3, 0.1, 0.8, 0.02, 0.5, 0.2, 0.0, 1.5),
    (0.0, 0.4, 0.0, 0.1, 0.0, 0.0, 0.3, 0.0),
    (0.0,) * 8,
    (2.0, 30.0, 0.0, 1.0, 4.0, 0.5, 9.0, 0.1),
)


@each_case("gamma", GAMMAS)
@each_case("filled", [True, False])
@each_case(("seed", "kept"), [(1, 0.3), (2, 0.8)])
def test_every_quantity_equals_the_one_from_dense_matrices(gamma, filled, seed, kept):
    rows = random_table(seed, K=3, kept=kept)
    point = table_point(rows, gamma, filled=filled)
    X, zs = own_design_matrices(rows.worker, rows.item, rows.system, 3)
    gamma, y = np.array(gamma), rows.rating
    quadratic, size = point.working_products()
    slow_quadratic, slow_size = dense_model.working_products(gamma, y, X, zs)
    info = model.information(point.table, point.factor, point.profile)
    for fast, slow in [
        (point.criterion, dense_model.criterion(gamma, y, X, zs)),
        (point.beta, dense_model.fixed_effects(gamma, y, X, zs)[0]),
        (quadratic, slow_quadratic),
        (size, slow_size),
        (point.gradient(size), dense_model.gradient(gamma, y, X, zs)),
        *zip(info, dense_model.information(gamma, X, zs), strict=True),
    ]:
        assert_close(fast, slow)


def test_inner_levels_taken_in_chunks_change_nothing(monkeypatch):
    rows, gamma = random_table(4, K=3, kept=0.3), np.array(GAMMAS[0])
    whole = table_point(rows, gamma, filled=False)
    size = whole.working_products()[1]
    expected = whole.gradient(size)
    monkeypatch.setattr(model, "_CHUNK", 1)
    assert_close(whole.gradient(size), expected)


@each_case("gamma", GAMMAS)
@each_case("repeats", [1, 2])
def test_a_complete_table_has_the_same_likelihood_from_sums_as_from_ratings(gamma, repeats):
    rows = own_table(3, (0.05, 0.2, 0.1), (0.1, 0.05, 0.2), kept=1.1)
    rng = np.random.default_rng(0)
    rows = table_of(
        {name: np.tile(getattr(rows, name), repeats) for name in ("worker", "item", "system", "rating")}
    )
    rows.rating = rows.rating + 0.1 * rng.normal(size=len(rows.rating))
    slow = table_point(rows, gamma)
    fast = CompletePoint.of_table(
        JointStrata.of_table(joint_closed_form.complete_array(rows)), np.array(gamma)
    )
    for one, other in [
        (fast.criterion, slow.criterion),
        (fast.rss, slow.rss),
        (fast.phi, slow.phi),
        (fast.beta, slow.beta),
        *zip(fast.working_products(), slow.working_products(), strict=True),
        (fast.gradient(slow.working_products()[1]), slow.gradient(slow.working_products()[1])),
    ]:
        assert_close(one, other)
    found, known = fast.second_order(), slow.second_order()
    assert_close(found.expected, known.expected)
    assert_close(found.xgx, known.xgx)
    # what the correction is made of vanishes, as the means do not depend on the variances
    assert_close(known.xggx, found.xggx)


def test_equal_variances_are_the_common_ones():
    rows = random_table(5, K=4, kept=0.6)
    o, os, i, ios = 0.4, 0.2, 0.7, 0.1
    own = table_point(rows, [o, *[os] * 4, i, *[ios] * 4])
    common = table_point(rows, [o, os, i, ios], own=False)
    assert own.criterion == pytest.approx(common.criterion, abs=1e-9)
    slopes, slope = own.gradient(own.working_products()[1]), common.gradient(common.working_products()[1])
    assert [slopes[0], slopes[1:5].sum(), slopes[5], slopes[6:].sum()] == pytest.approx(slope, rel=1e-9)


THREE = (0.02, 0.2, 0.1), (0.2, 0.1, 0.05)
EIGHT = (0.02, 0.25, 0.1, 0.0, 0.1, 0.05, 0.15, 0.1), (0.2, 0.1, 0.0, 0.1, 0.05, 0.1, 0.02, 0.15)


@few_fast("kept", [0.6, 1.1], fast=1)
@few_fast(("sds", "seed"), [(THREE, 0), (EIGHT, 0), *((THREE, seed) for seed in range(1, 4))], fast=2)
def test_standard_errors_and_df_equal_those_of_dense_matrices(sds, seed, kept):
    rows = own_table(seed, *sds, m=5, n=8, kept=kept)
    fitted = fit_joint(rows, variances="own")
    K = len(fitted.means)
    if K == 8:
        assert fitted.boundary  # two of its SDs are zero, and with five workers more are found so
    variances = np.array(list(fitted.standard_deviations.values())) ** 2
    gamma = variances[:-1] / variances[-1]
    X, zs = own_design_matrices(rows.worker, rows.item, rows.system, K)
    slope = dense_model.gradient(gamma, rows.rating, X, zs)
    assert fitted.converged
    assert np.abs(slope * gamma).max() < 1e-3  # criterion to 1e-10: slopes to its root
    assert (slope[gamma == 0] >= -1e-6).all()
    L = contrasts(K)[:: 1 if K == 3 else 12]  # matrices of all ratings are slow
    found = contrast_precision(fitted, L)
    for row, contrast in enumerate(L):
        slow = dense_model.precision(gamma, rows.rating, X, zs, contrast)
        fast = [getattr(found, name)[row] for name in found._fields[1:]]
        assert fast == pytest.approx(list(slow), rel=1e-6)


@pytest.mark.slow
@few_fast("seed", range(4), fast=1)
def test_the_sums_and_the_ratings_of_a_complete_table_give_the_same_fit(seed):
    rows = own_table(seed, (0.0, 0.2, 0.1), (0.1, 0.0, 0.05), m=4, n=7, kept=1.1)
    fast, slow = (fit_joint(rows, variances="own", closed_form=each) for each in (True, False))
    assert fast.criterion == pytest.approx(slow.criterion, abs=1e-8)
    assert fast.boundary == slow.boundary
    for one, other in zip(
        contrast_precision(fast, contrasts(3)), contrast_precision(slow, contrasts(3)), strict=True
    ):
        assert one == pytest.approx(other, rel=1e-4)  # searches end within 1e-10 of the lowest criterion


@few_fast("seed", range(6), fast=1)
def test_own_variances_never_fit_worse_than_common_ones(seed):
    rows = random_table(seed, m=4, n=7, K=3, kept=0.7, sds=(0.0, 0.02, 0.1, 0.0, 0.2))
    own, common = fit_joint(rows, variances="own"), fit_joint(rows)
    assert own.criterion <= common.criterion + 1e-7
    assert own.boundary  # SDs of zero are found as exact zeros


def test_turning_the_table_and_its_systems_turns_the_fit():
    rows = own_table(9, (0.02, 0.3, 0.1), (0.2, 0.1, 0.05))
    turned = table_of(
        {"worker": rows.item, "item": rows.worker, "system": 2 - rows.system, "rating": rows.rating}
    )
    one = fit_joint(rows, variances="own", names="abc").standard_deviations
    other = fit_joint(turned, variances="own", names="cba").standard_deviations
    swapped = {"worker": "item", "item": "worker", "residual": "residual"}
    for name, value in one.items():
        of = name.removeprefix("sd_").partition("_system of ")[0]
        assert other[name.replace(of, swapped[of])] == pytest.approx(value, abs=1e-5)


def test_the_variances_of_a_large_study_are_recovered():
    worker, item = (0.05, 0.25, 0.10), (0.20, 0.05, 0.10)
    rows = own_table(1, worker, item, m=60, n=120, kept=0.15)
    found = list(fit_joint(rows, variances="own").standard_deviations.values())
    # sixty workers know an SD to about 9 %, 120 items to 7 %, beside the residuals
    assert found == pytest.approx([0.1, *worker, 0.1, *item, 0.15], rel=0.35)


def test_one_rating_of_each_output_leaves_items_and_residual_not_identified():
    rows = own_table(2, (0.1, 0.2, 0.1), (0.1, 0.1, 0.1), m=4, n=20, kept=1.1)
    seen = rows.worker == (rows.item + rows.system) % 4
    once = table_of({name: getattr(rows, name)[seen] for name in ("worker", "item", "system", "rating")})
    fitted = fit_joint(once, variances="own")
    item = tuple(f"sd_item_system of {k}" for k in range(3))
    assert set(fitted.not_identified) == {*item, "sd_residual"}
    assert np.isfinite(contrast_precision(fitted, contrasts(3)).df_kenward_roger).all()


def test_too_few_ratings_and_too_many_levels_are_refused(monkeypatch):
    rows = random_table(0, m=2, n=2, K=3, kept=1.1)
    few = table_of({name: getattr(rows, name)[:-1] for name in ("worker", "item", "system", "rating")})
    with pytest.raises(InputError, match="11 ratings are too few for 3 means and 9 variances"):
        fit_joint(few, variances="own")
    monkeypatch.setattr(joint_table, "_MOST_OWN_COLUMNS", 10)
    with pytest.raises(InputError, match="takes at most 10"):
        fit_joint(random_table(0, m=5, K=3), variances="own")


@pytest.mark.long
@pytest.mark.r
@pytest.mark.parametrize(
    ("sds", "seed", "kept", "singular"),
    [
        (((0.1, 0.25, 0.15), (0.2, 0.1, 0.15)), 2, 1.1, False),
        (((0.1, 0.25, 0.15), (0.2, 0.1, 0.15)), 2, 0.5, False),
        (((0.0, 0.25, 0.1), (0.2, 0.1, 0.0)), 1, 0.5, True),
        (EIGHT, 0, 1.1, True),
        (EIGHT, 3, 0.5, True),
    ],
    ids=["3 complete", "3 incomplete", "3 singular", "8 complete", "8 incomplete"],
)
def test_lme4_with_a_term_for_each_system_gives_the_same_fit(sds, seed, kept, singular, tmp_path):
    K = len(sds[0])
    if shutil.which("Rscript") is None:
        pytest.skip("Rscript is not installed")
    rows = own_table(seed, *sds, m=6, n=14, kept=kept)
    pd.DataFrame(vars(rows)).to_csv(tmp_path / "rows.csv", index=False)
    script = TESTS / "oracles" / "own_variances_oracle.R"
    words = ["Rscript", str(script), str(tmp_path / "rows.csv"), str(tmp_path / "said.json")]
    if subprocess.run(words, capture_output=True, check=False).returncode != 0:
        pytest.skip("R lacks lme4, pbkrtest, jsonlite or minqa")
    said = json.loads((tmp_path / "said.json").read_text())
    fitted = fit_joint(rows, variances="own")
    assert bool(fitted.boundary) == singular
    assert fitted.criterion == pytest.approx(said["criterion"], abs=1e-5)
    for name, value in zip(
        variance_names("12345678"[:K]), fitted.standard_deviations.values(), strict=True
    ):
        of, _, system = name.removeprefix("sd_").partition("_system of ")
        term = "Residual " if of == "residual" else f"{of} {f's{system}' if system else '(Intercept)'}"
        assert value == pytest.approx(said["sds"][term], abs=2e-4)
    L = np.array([np.eye(K)[b] - np.eye(K)[a] for a, b in combinations(range(K), 2)])
    found = contrast_precision(fitted, L)
    for number, pair in enumerate(said["pairs"]):
        # lme4's SDs are right to about 1e-5 near its polished minimum; df follow them less closely
        assert found.estimate[number] == pytest.approx(pair["estimate"], abs=1e-5)
        for name in ("standard_error", "standard_error_adjusted"):
            assert getattr(found, name)[number] == pytest.approx(pair[name], rel=1e-4)
        assert found.df_kenward_roger[number] == pytest.approx(pair["df_kenward_roger"], rel=1e-3)

"""The joint fit of several systems: against dense matrices, closed forms, lme4 and its friends."""

import json
import shutil
import subprocess
from itertools import combinations
from types import SimpleNamespace

import make_many_systems
import numpy as np
import pytest
from cases import few_fast
from hypothesis import given
from hypothesis import strategies as st
from places import TESTS
from reference import dense_model
from reference.dense_many_systems import design_matrices
from reference.golden import shared_golden
from scipy import optimize

from humeval_power.errors import FitError, InputError
from humeval_power.estimation.joint import fit as joint_closed_form
from humeval_power.estimation.joint.fit import VARIANCES, contrast_precision, fit_joint
from humeval_power.kernels.joint import model
from humeval_power.kernels.joint import reml as joint_reml

GOLDEN = json.loads((TESTS / "golden" / "many_systems.json").read_text())
TABLES = {table["name"]: table for table in GOLDEN["tables"]}
SIMULATED = [name for name in TABLES if "rating" in TABLES[name]]
REAL = [name for name in TABLES if "sha256" in TABLES[name]]


def table_of(rows):
    codes = {key: np.asarray(rows[key], dtype=np.int64) for key in ("worker", "item", "system")}
    return SimpleNamespace(**codes, rating=np.asarray(rows["rating"], dtype=float))


def random_table(seed, m=5, n=9, K=3, kept=0.6, sds=(0.1, 0.06, 0.12, 0.1, 0.2)):
    """A Gaussian table of which a share of the cells is kept."""
    rng = np.random.default_rng(seed)
    worker, item, system = np.indices((m, n, K)).reshape(3, -1)
    rating = 0.5 + 0.05 * system + rng.normal(size=m)[worker] * sds[0]
    rating = rating + rng.normal(size=(m, K))[worker, system] * sds[1] + rng.normal(size=n)[item] * sds[2]
    rating = rating + rng.normal(size=(n, K))[item, system] * sds[3] + rng.normal(size=len(worker)) * sds[4]
    chosen = rng.random(len(worker)) < kept
    code = {"worker": worker, "item": item, "system": system}
    rows = {key: np.unique(value[chosen], return_inverse=True)[1] for key, value in code.items()}
    return table_of({**rows, "rating": rating[chosen]})


def contrasts(K):
    """Each mean, then each difference second - first in the oracle's order."""
    pairs = [np.eye(K)[second] - np.eye(K)[first] for first, second in combinations(range(K), 2)]
    return np.array([*np.eye(K), *pairs])


GAMMAS = ((0.3, 0.1, 0.5, 0.2), (0.0, 0.1, 0.5, 0.0), (0.2, 0.0, 0.0, 0.0), (4.0, 30.0, 2.0, 9.0))


@pytest.mark.slow
@pytest.mark.parametrize("gamma", GAMMAS)
@pytest.mark.parametrize("filled", [True, False])
@given(seed=st.integers(0, 2**31), K=st.integers(2, 4), kept=st.sampled_from([0.3, 0.8]))
def test_every_quantity_equals_the_one_from_dense_matrices(gamma, filled, seed, K, kept):
    rows = random_table(seed, K=K, kept=kept)
    if len(np.unique(rows.system)) < K or len(rows.rating) < K + 6:
        return
    gamma = np.array(gamma)
    table = model.build_table(rows.worker, rows.item, rows.system, n_systems=K)
    table = table if filled else table._replace(dense=None)
    X, zs = design_matrices(rows.worker, rows.item, rows.system, K)
    y = rows.rating
    point = joint_reml.TablePoint.of_table(table, model.response_products(table, y), gamma)
    quadratic, size = point.working_products()
    slow_quadratic, slow_size = dense_model.working_products(gamma, y, X, zs)
    info = model.information(table, point.factor, point.profile)
    pairs = [
        (point.criterion, dense_model.criterion(gamma, y, X, zs)),
        (point.beta, dense_model.fixed_effects(gamma, y, X, zs)[0]),
        (quadratic, slow_quadratic),
        (size, slow_size),
        (point.gradient(size), dense_model.gradient(gamma, y, X, zs)),
        *zip(info, dense_model.information(gamma, X, zs), strict=True),
    ]
    for fast, slow in pairs:
        # rounding, relative to the largest entry of each array
        assert np.abs(fast - slow).max() <= 1e-9 * max(1.0, np.abs(slow).max())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_standard_errors_and_df_equal_those_of_dense_matrices(seed):
    rows = random_table(seed, K=3)
    fitted = fit_joint(rows)
    X, zs = design_matrices(rows.worker, rows.item, rows.system, 3)
    variances = np.array([fitted.standard_deviations[name] for name in VARIANCES]) ** 2
    gamma = variances[:4] / variances[4]
    L = contrasts(3)
    found = contrast_precision(fitted, L)
    for row, contrast in enumerate(L):
        slow = dense_model.precision(gamma, rows.rating, X, zs, contrast)
        fast = [getattr(found, name)[row] for name in found._fields[1:]]
        assert fast == pytest.approx(list(slow), rel=1e-8)


@few_fast("seed", range(5), fast=2)
def test_mean_squares_and_the_search_find_the_same_fit_of_a_complete_table(seed):
    rows = random_table(seed, m=4, n=6, K=3, kept=1.1, sds=(0.05, 0.03, 0.05, 0.02, 0.2))
    closed, searched = fit_joint(rows), fit_joint(rows, closed_form=False)
    assert closed.closed_form
    assert not searched.closed_form
    assert closed.criterion == pytest.approx(searched.criterion, abs=1e-8)
    L = contrasts(3)
    # the search ends within 1e-10 of the lowest criterion: variances are right to about 1e-5
    for one, other in zip(contrast_precision(closed, L), contrast_precision(searched, L), strict=True):
        assert one == pytest.approx(other, rel=2e-5)
    assert closed.boundary == searched.boundary


@given(st.lists(st.floats(0.1, 10), min_size=5, max_size=5), st.integers(0, 1000))
def test_pooling_minimises_the_criterion_under_the_order_of_the_tree(squares, seed):
    df = np.random.default_rng(seed).integers(1, 20, 5).astype(float)
    squares = np.array(squares)
    expected, _ = joint_closed_form.pool(squares, df)

    def criterion(values):
        return float((df * (np.log(values) + squares / values)).sum())

    # twin: exponents of steps up the tree, residual first, minimised numerically
    def values_of(steps):
        residual = np.exp(steps[4])
        worker_system, item_system = residual + steps[1], residual + steps[3]
        return np.array(
            [worker_system + steps[0], worker_system, item_system + steps[2], item_system, residual]
        )

    bounds = [(0, None)] * 4 + [(-20, 20)]  # a longer step ends where the residual is 0
    start = np.array([0.5, 0.5, 0.5, 0.5, np.log(squares.mean())])
    found = optimize.minimize(lambda steps: criterion(values_of(steps)), start, bounds=bounds)
    parent = np.array(joint_closed_form.PARENT[:4])
    assert (expected[:4] >= expected[parent] * (1 - 1e-12)).all()
    assert criterion(expected) <= found.fun + 1e-9


def test_the_strata_and_df_of_a_published_layout_are_those_of_lmer(shared):
    golden = shared_golden(shared, "17_k_systems_and_corr")
    ratings = np.array(golden["Y"])  # systems, workers, items
    K, m, n = ratings.shape
    system, worker, item = np.indices(ratings.shape).reshape(3, -1)
    rows = table_of({"worker": worker, "item": item, "system": system, "rating": ratings.ravel()})
    df = joint_closed_form.degrees_of_freedom(m, n, K, 1)
    names = ("w", "ws", "i", "is", "E")
    assert df.tolist() == [golden["df"][name] for name in names]
    sums = joint_closed_form.mean_squares(joint_closed_form.complete_array(rows)) * df
    assert sums == pytest.approx([golden["SS"][name] for name in names], rel=1e-10)
    found = contrast_precision(fit_joint(rows), np.array([[1, 0, 0], [-1, 1, 0], [-1, 0, 1]]))
    # lmer's own stopping rule: about six digits
    assert found.estimate == pytest.approx(golden["lmer_kr"]["Estimate"], rel=1e-6)
    assert found.standard_error == pytest.approx(golden["lmer_kr"]["Std. Error"], rel=1e-6)
    assert found.df_kenward_roger == pytest.approx(golden["lmer_kr"]["df"], rel=1e-6)
    assert found.df_satterthwaite == pytest.approx(golden["lmer"]["df"], rel=1e-6)


def assert_as_lme4(rows, table):
    """lme4's SDs are right to 1e-5 near its polished minimum; df follow them less closely."""
    fitted, said = fit_joint(rows), table["lme4"]
    assert fitted.converged
    # never above lme4's minimum; singular tables can have several minima and ours may be the lower one
    assert fitted.criterion <= said["criterion"] + 1e-6
    assert fitted.criterion == pytest.approx(said["criterion"], abs=1e-5)
    if not fitted.not_identified:
        for name in VARIANCES:
            assert fitted.standard_deviations[name] == pytest.approx(said[name], rel=1e-4, abs=1e-5)
    K = int(rows.system.max()) + 1
    found = contrast_precision(fitted, contrasts(K))
    for number, row in enumerate(said["rows"]):
        assert found.estimate[number] == pytest.approx(row["estimate"], abs=1e-6)
        assert found.standard_error[number] == pytest.approx(row["standard_error"], rel=1e-5)
        if row["df_satterthwaite"] is not None and not fitted.boundary and not fitted.not_identified:
            # lmerTest differentiates numerically
            assert found.df_satterthwaite[number] == pytest.approx(row["df_satterthwaite"], rel=2e-3)
        if row["df_kenward_roger"] is not None and not fitted.not_identified:
            assert found.standard_error_adjusted[number] == pytest.approx(
                row["standard_error_adjusted"], rel=1e-5
            )
            assert found.df_kenward_roger[number] == pytest.approx(row["df_kenward_roger"], rel=1e-4)


@few_fast("name", SIMULATED, fast=1)
def test_simulated_tables_are_fitted_as_by_lme4_lmertest_and_pbkrtest(name):
    assert_as_lme4(table_of(TABLES[name]), TABLES[name])


@pytest.mark.parametrize("name", REAL)
def test_real_tables_are_fitted_as_by_lme4_lmertest_and_pbkrtest(name, shared_data):
    path = shared_data / make_many_systems.REAL[name]["file"]
    assert make_many_systems.sha256(path) == TABLES[name]["sha256"]
    assert_as_lme4(table_of(make_many_systems.load_real(name, shared_data)), TABLES[name])


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.r
def test_running_the_oracle_again_gives_the_stored_results():
    if shutil.which("Rscript") is None:
        pytest.skip("Rscript is not installed")
    names = ("complete_singular", "missing_fifth")
    given_tables = [
        {key: TABLES[name][key] for key in ("name", "worker", "item", "system", "rating")} for name in names
    ]
    try:
        answer = make_many_systems.run_r(given_tables)
    except subprocess.CalledProcessError:
        pytest.skip("R lacks lme4, lmerTest, pbkrtest, jsonlite or minqa")
    for name, result in zip(names, answer["results"], strict=True):
        stored = TABLES[name]["lme4"]
        assert result["criterion"] == pytest.approx(stored["criterion"], abs=1e-7)
        for again, before in zip(result["rows"], stored["rows"], strict=True):
            assert again["df_kenward_roger"] == pytest.approx(before["df_kenward_roger"], rel=1e-4)


@pytest.mark.slow
def test_relabelling_systems_workers_and_items_changes_nothing():
    rows = random_table(3, K=4)
    fitted = fit_joint(rows)
    turned = table_of(
        {
            "worker": rows.worker.max() - rows.worker,
            "item": rows.item.max() - rows.item,
            "system": rows.system.max() - rows.system,
            "rating": rows.rating,
        }
    )
    again = fit_joint(turned)
    # two searches end within 1e-10 of the same criterion, which leaves variances right to about 1e-6
    assert again.means[::-1] == pytest.approx(fitted.means, rel=1e-6)
    assert again.covariance_adjusted[::-1, ::-1] == pytest.approx(fitted.covariance_adjusted, rel=1e-5)


def test_one_rating_of_each_output_leaves_item_and_residual_variance_untold():
    rows = random_table(1, m=6, n=40, K=3, kept=1.1)
    worker_of = np.random.default_rng(0).integers(0, 6, (40, 3))
    kept = rows.worker == worker_of[rows.item, rows.system]
    single = table_of({key: getattr(rows, key)[kept] for key in ("worker", "item", "system", "rating")})
    fitted = fit_joint(single)
    assert set(fitted.not_identified) == {"sd_item_system", "sd_residual"}
    assert np.isfinite(contrast_precision(fitted, contrasts(3)).df_kenward_roger).all()


def test_constant_ratings_and_tables_too_small_are_refused():
    rows = random_table(0, kept=1.1)
    with pytest.raises(FitError, match="without any residual variation"):
        fit_joint(table_of({**vars(rows), "rating": np.full(len(rows.rating), 0.3)}))
    ragged = random_table(0, kept=0.7)
    with pytest.raises(FitError, match="without any residual variation"):
        fit_joint(table_of({**vars(ragged), "rating": np.full(len(ragged.rating), 0.3)}))
    with pytest.raises(InputError, match="At least 2 workers"):
        fit_joint(table_of({**vars(rows), "worker": np.zeros(len(rows.rating))}))
    with pytest.raises(InputError, match="At least two systems"):
        fit_joint(table_of({**vars(rows), "system": np.zeros(len(rows.rating))}))


def test_a_table_beyond_the_dense_matrix_is_refused_with_the_remedy():
    n = 3000
    codes = np.arange(n)
    rows = table_of({"worker": codes, "item": codes, "system": codes % 2, "rating": codes / n})
    with pytest.raises(InputError, match="Fit the systems in pairs"):
        fit_joint(rows)

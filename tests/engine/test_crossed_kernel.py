"""The block-elimination kernel agrees with the dense model on random unbalanced designs."""

import numpy as np
import pytest
from cases import each_case, examples
from hypothesis import given
from hypothesis import strategies as st
from reference import dense_model
from reference.kernel_view import view_of_columns, view_of_table

from humeval_power.designs import k_per_item
from humeval_power.estimation.crossed.examination import design_information, gram_information
from humeval_power.estimation.crossed.fits import fit_batch, fit_one
from humeval_power.estimation.crossed.problem import COMPONENTS, EFFECT, CrossedProblem
from humeval_power.kernels.crossed import information, reml

# Two ways to the same number in double precision; conditioning costs the rest.
CLOSE = {"rtol": 1e-8, "atol": 1e-8}


@st.composite
def tables(draw):
    """Rows of a random unbalanced table with repeats and gaps, ratings, and gamma with zeros."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    m, n = draw(st.integers(2, 9)), draw(st.integers(2, 9))
    size = draw(st.integers(12, 60))
    # every level occurs, so that codes are dense as a checked table's are
    worker = np.concatenate([np.arange(m), rng.integers(m, size=size)])
    item = np.concatenate([rng.integers(n, size=m), np.arange(n) % n, rng.integers(n, size=size)])
    worker = np.concatenate([worker, rng.integers(m, size=len(item) - len(worker))])
    system = rng.integers(2, size=len(worker))
    system[:2] = 0, 1
    zero = np.array([draw(st.booleans()) for _ in COMPONENTS])
    gamma = np.where(zero, 0.0, np.exp(rng.normal(-0.5, 1.5, len(COMPONENTS))))
    x = system - 0.5
    deviations = [
        rng.normal(0, sd, levels) for sd, levels in zip(0.3 * np.sqrt(gamma), (m, m, n, n), strict=True)
    ]
    rating = 0.5 + deviations[0][worker] + deviations[2][item] + rng.normal(0, 0.3, len(x))
    rating = rating + (0.1 + deviations[1][worker] + deviations[3][item]) * x
    return worker, item, system, rating, gamma


def component_order(problem, *, residual=False):
    """Where the kernel keeps each of COMPONENTS (and the residual)."""
    order = problem.to_kernel(np.arange(len(COMPONENTS)))
    return np.append(order, len(COMPONENTS)) if residual else order


@pytest.mark.slow
@given(tables(), st.booleans())
def test_criterion_and_coefficients_are_those_of_the_dense_model(table, restricted):
    *rows, rating, gamma = table
    X, zs = dense_model.design_matrices(*rows)
    prof = view_of_table(*table, restricted=restricted)[1].profile
    beta, phi, rss = dense_model.fixed_effects(gamma, rating, X, zs)
    np.testing.assert_allclose(
        prof.criterion, dense_model.criterion(gamma, rating, X, zs, restricted), rtol=1e-10, atol=1e-8
    )
    np.testing.assert_allclose(prof.beta, beta, **CLOSE)
    np.testing.assert_allclose(prof.phi, phi, **CLOSE)
    np.testing.assert_allclose(prof.rss, rss, **CLOSE)


@given(tables(), st.booleans())
def test_gradient_is_that_of_the_dense_model(table, restricted):
    *rows, rating, gamma = table
    X, zs = dense_model.design_matrices(*rows)
    problem, ours = view_of_table(*table, restricted=restricted)
    np.testing.assert_allclose(
        problem.to_kernel(ours.slope), dense_model.gradient(gamma, rating, X, zs, restricted), **CLOSE
    )


@given(tables(), st.booleans())
@examples(25)
def test_gradient_is_the_numerical_slope_of_the_dense_criterion(table, restricted):
    *rows, rating, gamma = table
    gamma = gamma + 0.05  # room for a step to either side
    X, zs = dense_model.design_matrices(*rows)
    problem, ours = view_of_table(*rows, rating, gamma, restricted=restricted)
    slope = problem.to_kernel(ours.slope)
    for t, step in enumerate(1e-4 * gamma):
        offsets = np.array([-2, -1, 1, 2]) * step
        moved = [gamma + offset * (np.arange(4) == t) for offset in offsets]
        values = [dense_model.criterion(point, rating, X, zs, restricted) for point in moved]
        numerical = np.array([1, -8, 8, -1]) @ values / (12 * step)
        # rounding of the criterion (1e-14 x 100) over the step, 1e-4 of a gamma of about 0.1
        assert slope[t] == pytest.approx(numerical, rel=1e-6, abs=1e-5)


@given(tables())
def test_working_products_are_those_of_the_dense_model(table):
    *rows, rating, gamma = table
    X, zs = dense_model.design_matrices(*rows)
    problem, ours = view_of_table(*table)
    order = component_order(problem)
    expected = dense_model.working_products(gamma, rating, X, zs)
    np.testing.assert_allclose(ours.quadratic[np.ix_(order, order)], expected[0], **CLOSE)
    np.testing.assert_allclose(ours.square[order], expected[1], **CLOSE)


@given(tables())
def test_information_matrices_are_those_of_the_dense_model(table):
    *rows, _, gamma = table
    X, zs = dense_model.design_matrices(*rows)
    problem, _ = view_of_table(*table)
    info, phi = design_information(problem, gamma)
    order = component_order(problem, residual=True)
    gg, xgx, xggx = dense_model.information(gamma, X, zs)
    np.testing.assert_allclose(info.gg[np.ix_(order, order)], gg, **CLOSE)
    np.testing.assert_allclose(info.xgx[order], xgx, **CLOSE)
    np.testing.assert_allclose(info.xggx[np.ix_(order, order)], xggx, **CLOSE)
    Hi = np.linalg.inv(dense_model.h_matrix(zs, gamma))
    np.testing.assert_allclose(phi, np.linalg.inv(X.T @ Hi @ X), **CLOSE)


@pytest.mark.slow
@given(tables(), st.booleans())
def test_standard_errors_and_df_are_those_of_the_dense_model(table, restricted):
    *rows, rating, gamma = table
    X, zs = dense_model.design_matrices(*rows)
    matrix = _expected_information(gamma, X, zs)
    if np.linalg.eigvalsh(matrix).min() < 1e-6:
        return  # not identified: an inverse that the twin uses does not exist
    ours = view_of_table(*table, restricted=restricted)[1].precision(EFFECT)
    se, adjusted, satterthwaite, kenward_roger = dense_model.precision(
        gamma, rating, X, zs, EFFECT, restricted
    )
    assert ours.standard_error == pytest.approx(se, rel=1e-8)
    if restricted:
        assert ours.standard_error_adjusted == pytest.approx(adjusted, rel=1e-8)
        assert ours.df_kenward_roger == pytest.approx(kenward_roger, rel=1e-8)
    else:
        assert np.isnan(ours.standard_error_adjusted)
        assert np.isnan(ours.df_kenward_roger)
    # away from an optimum the observed information can be indefinite: no df then
    if _observed_is_positive(gamma, rating, X, zs, restricted):
        assert ours.df_satterthwaite == pytest.approx(satterthwaite, rel=1e-7)


def _expected_information(gamma, X, zs):
    """Expected REML information of (gamma, 1), scaled to unit diagonal."""
    Hi = np.linalg.inv(dense_model.h_matrix(zs, gamma))
    P = Hi - Hi @ X @ np.linalg.inv(X.T @ Hi @ X) @ X.T @ Hi
    G = [z @ z.T for z in zs] + [np.eye(len(X))]
    matrix = np.array([[np.trace(P @ a @ P @ b) for b in G] for a in G])
    scale = np.sqrt(np.diag(matrix))
    return matrix / np.outer(scale, scale)


def _observed_is_positive(gamma, rating, X, zs, restricted):
    """Whether the observed information of the free components is clearly positive definite, so that
    a pseudo-inverse over positive eigenvalues is the inverse."""
    Hi = np.linalg.inv(dense_model.h_matrix(zs, gamma))
    P = Hi - Hi @ X @ np.linalg.inv(X.T @ Hi @ X) @ X.T @ Hi
    s2 = rating @ P @ rating / (len(rating) - 2 * restricted)
    K = P if restricted else Hi
    free = [t for t in range(4) if gamma[t] > 0]
    G = [zs[t] @ zs[t].T for t in free] + [np.eye(len(X))]
    Py = P @ rating
    matrix = np.array([[2 * Py @ a @ P @ b @ Py / s2 - np.trace(K @ a @ K @ b) for b in G] for a in G])
    diagonal = np.diag(matrix)
    if (diagonal <= 0).any():
        return False
    return bool(np.linalg.eigvalsh(matrix / np.sqrt(np.outer(diagonal, diagonal))).min() > 1e-6)


def _theta_criterion(theta, y, X, zs):
    """-2 log restricted likelihood at variances theta (residual last), sigma^2 not profiled."""
    V = theta[-1] * np.eye(len(y)) + sum(t * z @ z.T for t, z in zip(theta[:-1], zs, strict=True))
    Vi = np.linalg.inv(V)
    xvx = X.T @ Vi @ X
    P = Vi - Vi @ X @ np.linalg.inv(xvx) @ X.T @ Vi
    return np.linalg.slogdet(V)[1] + np.linalg.slogdet(xvx)[1] + y @ P @ y


def test_satterthwaite_uses_the_numerical_hessian_of_the_criterion():
    # An independent statement of lmerTest's df: second differences of -2 log likelihood in theta.
    rows = k_per_item(6, 25, ratings_per_item=3, seed=2).assignment
    rng = np.random.default_rng(5)
    x = rows.system - 0.5
    y = rng.normal(0, 0.2, len(x)) + rng.normal(0, 0.15, 6)[rows.worker] + rng.normal(0, 0.2, 25)[rows.item]
    y = y + (rng.normal(0.1, 0.2, 6)[rows.worker] + rng.normal(0, 0.25, 25)[rows.item]) * x
    X, zs = dense_model.design_matrices(rows.worker, rows.item, rows.system)
    problem = CrossedProblem.of_design(rows.worker, rows.item, rows.system)
    fit = fit_one(problem, y)
    assert (fit.gamma > 0).all()
    theta = np.append(fit.gamma[0], 1.0) * fit.sigma2[0]
    step = 1e-3 * theta
    hessian = np.empty((5, 5))
    unit = np.diag(step)
    for a in range(5):
        for b in range(5):
            corners = [
                _theta_criterion(theta + i * unit[a] + j * unit[b], y, X, zs)
                for i in (1, -1)
                for j in (1, -1)
            ]
            hessian[a, b] = (corners[0] - corners[1] - corners[2] + corners[3]) / (4 * step[a] * step[b])

    def variance(at):
        V = at[-1] * np.eye(len(y)) + sum(t * z @ z.T for t, z in zip(at[:-1], zs, strict=True))
        return np.linalg.inv(X.T @ np.linalg.solve(V, X))[1, 1]

    slope = np.array([(variance(theta + u) - variance(theta - u)) / (2 * u.sum()) for u in unit])
    df = 2 * variance(theta) ** 2 / (slope @ np.linalg.inv(hessian / 2) @ slope)
    assert fit.df_satterthwaite[0] == pytest.approx(df, rel=1e-4)  # second differences


@each_case(
    ("m", "n", "k", "paired"),
    [(8, 30, 1, True), (30, 8, 5, True), (26, 24, 3, False), (45, 50, 2, True), (12, 40, 1, False)],
    ids=["k=1", "more workers than items", "beyond the small-matrix loops", "large", "k=1 split"],
)
@each_case("restricted", [True, False])
def test_designs_of_every_shape_agree_with_the_dense_model(m, n, k, paired, restricted):
    rows = k_per_item(m, n, ratings_per_item=k, paired=paired, seed=7).assignment
    rng = np.random.default_rng(m + n)
    rating = rng.normal(0.5, 0.3, len(rows.worker))
    for gamma in (np.array([0.3, 0.8, 0.1, 1.2]), np.array([0.0, 0.5, 0.0, 1e-7]), np.zeros(4)):
        table = (rows.worker, rows.item, rows.system, rating, gamma)
        X, zs = dense_model.design_matrices(*table[:3])
        problem, ours = view_of_table(*table, restricted=restricted)
        assert ours.profile.criterion == pytest.approx(
            dense_model.criterion(gamma, rating, X, zs, restricted), rel=1e-11
        )
        np.testing.assert_allclose(
            problem.to_kernel(ours.slope), dense_model.gradient(gamma, rating, X, zs, restricted), **CLOSE
        )


@pytest.mark.parametrize(("m", "n", "k"), [(8, 30, 1), (5, 12, 1), (20, 9, 1)])
def test_kenward_roger_of_an_unidentified_design_uses_what_is_identified(m, n, k):
    rows = k_per_item(m, n, ratings_per_item=k, seed=1).assignment
    problem = CrossedProblem.of_design(rows.worker, rows.item, rows.system)
    variances = np.array([0.02, 0.05, 0.01, 0.08, 0.07])
    info, phi = design_information(problem, variances[:4] / variances[4])
    expected = information.expected_information(info, phi, variances[4], True)
    _, df = information.kenward_roger(info, phi, variances[4], EFFECT, expected)
    X, zs = dense_model.design_matrices(rows.worker, rows.item, rows.system)
    variance, dense_df = dense_model.effect_precision(variances, X, zs, EFFECT)
    assert phi[1, 1] * variances[4] == pytest.approx(variance, rel=1e-9)
    assert df == pytest.approx(dense_df, rel=1e-8)


@pytest.mark.long
@pytest.mark.slow
def test_the_kernel_takes_any_number_of_columns():
    # Three systems by two contrasts: three columns for items, two for workers, three coefficients.
    rng = np.random.default_rng(11)
    n_rows, m, n = 90, 5, 11
    outer, inner = rng.integers(m, size=n_rows), rng.integers(n, size=n_rows)
    outer[:m], inner[:n] = np.arange(m), np.arange(n)
    system = rng.integers(3, size=n_rows)
    x = np.column_stack([np.ones(n_rows), (system == 1) - 1 / 3, (system == 2) - 1 / 3])
    y = rng.normal(0.5, 0.3, n_rows)
    gamma = np.array([0.4, 0.0, 0.3, 0.9, 0.2])
    ours = view_of_columns(outer, inner, x[:, :2], x, x, y, gamma)
    indicators = [
        (codes[:, None] == np.arange(count)).astype(float) for codes, count in ((outer, m), (inner, n))
    ]
    zs = [indicators[0] * x[:, [c]] for c in range(2)] + [indicators[1] * x[:, [c]] for c in range(3)]
    assert ours.profile.criterion == pytest.approx(dense_model.criterion(gamma, y, x, zs), rel=1e-11)
    np.testing.assert_allclose(ours.slope, dense_model.gradient(gamma, y, x, zs), **CLOSE)
    info, phi = gram_information(ours.gram, gamma)
    for part, dense in zip(info, dense_model.information(gamma, x, zs), strict=True):
        np.testing.assert_allclose(part, dense, **CLOSE)
    for contrast in np.eye(3)[1:]:
        accuracy = ours.precision(contrast)
        dense = dense_model.precision(gamma, y, x, zs, contrast)
        assert accuracy.standard_error == pytest.approx(dense[0], rel=1e-8)
        assert accuracy.standard_error_adjusted == pytest.approx(dense[1], rel=1e-8)
        assert accuracy.df_kenward_roger == pytest.approx(dense[3], rel=1e-8)
    assert phi.shape == (3, 3)


@given(tables(), st.booleans())
@examples(40)
def test_the_optimum_satisfies_the_conditions_of_a_bounded_minimum(table, restricted):
    *rows, rating, _ = table
    problem = CrossedProblem.of_design(*rows)
    best = fit_one(problem, rating, restricted=restricted)
    assert best.status[0] in (reml.CONVERGED, reml.NO_RESIDUAL)
    if best.status[0] == reml.NO_RESIDUAL:
        return
    gamma = best.gamma[0]
    X, zs = dense_model.design_matrices(*rows)
    value = dense_model.criterion(gamma, rating, X, zs, restricted)
    assert best.criterion[0] == pytest.approx(value, rel=1e-9, abs=1e-7)
    slope = dense_model.gradient(gamma, rating, X, zs, restricted)
    # slope per unit of log gamma inside; no way down at the bound
    assert np.abs(slope * gamma).max() < 1e-3
    assert (slope[gamma == 0] > -1e-6).all()
    rng = np.random.default_rng(0)
    for _ in range(20):
        nearby = np.maximum(
            gamma * np.exp(rng.normal(0, 0.1, 4)) + rng.exponential(0.01, 4) * (gamma == 0), 0
        )
        assert dense_model.criterion(nearby, rating, X, zs, restricted) >= value - 1e-7


def _batch_bytes(fits):
    return [field.tobytes() for field in fits if isinstance(field, np.ndarray)]


@pytest.mark.parametrize("restricted", [True, False])
def test_fits_are_the_same_bytes_for_any_number_of_jobs_and_any_chunks(restricted):
    rows = k_per_item(22, 40, ratings_per_item=3, seed=1).assignment  # beyond the small-matrix loops
    problem = CrossedProblem.of_design(rows.worker, rows.item, rows.system)
    responses = np.random.default_rng(3).normal(0.5, 0.3, (150, len(rows.worker)))
    start = np.full(4, 0.5)
    one = fit_batch(problem, responses, start=start, restricted=restricted)
    for n_jobs in (2, 3):
        many = fit_batch(problem, responses, start=start, restricted=restricted, n_jobs=n_jobs)
        assert _batch_bytes(many) == _batch_bytes(one)
    parts = [
        fit_batch(problem, responses[a:b], start=start, restricted=restricted)
        for a, b in ((0, 1), (1, 70), (70, 150))
    ]
    joined = [
        np.concatenate(fields) for fields in zip(*parts, strict=True) if isinstance(fields[0], np.ndarray)
    ]
    assert _batch_bytes(joined) == _batch_bytes(one)


def test_adding_a_constant_moves_the_baseline_alone():
    rows = k_per_item(6, 20, ratings_per_item=2).assignment
    problem = CrossedProblem.of_design(rows.worker, rows.item, rows.system)
    rating = np.random.default_rng(0).normal(0.5, 0.3, len(rows.worker))
    first = fit_batch(problem, rating[None], start=np.ones(4))
    moved = fit_batch(problem, rating[None] + 1000.0, start=np.ones(4))
    assert moved.baseline - first.baseline == pytest.approx(1000.0, abs=1e-9)
    for name in ("estimate", "standard_error", "df_kenward_roger", "criterion"):
        # the ratings themselves lose three digits beside 1000
        np.testing.assert_allclose(getattr(moved, name), getattr(first, name), rtol=1e-8)


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_the_unit_of_the_ratings_does_not_matter(scale):
    rows = k_per_item(6, 20, ratings_per_item=2).assignment
    problem = CrossedProblem.of_design(rows.worker, rows.item, rows.system)
    rating = np.random.default_rng(0).normal(0.5, 0.3, len(rows.worker))
    first = fit_batch(problem, rating[None], start=np.ones(4))
    scaled = fit_batch(problem, scale * rating[None], start=np.ones(4))
    np.testing.assert_allclose(scaled.estimate, scale * first.estimate, rtol=1e-7)
    np.testing.assert_allclose(
        scaled.standard_error_adjusted, scale * first.standard_error_adjusted, rtol=1e-7
    )
    np.testing.assert_allclose(scaled.df_kenward_roger, first.df_kenward_roger, rtol=1e-6)

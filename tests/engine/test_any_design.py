"""Matrices of any design of several systems: against dense matrices of all ratings, at given variances and at those
of the highest likelihood."""

import math
import shutil
import subprocess
from types import SimpleNamespace

import numpy as np
import pytest
from cases import each_case, few_fast
from reference import dense_model
from reference.dense_many_systems import design_matrices, own_design_matrices
from scipy import optimize
from test_joint_fit import random_table

from humeval_power.estimation.joint.any_design import AnyDesign, Patterns
from humeval_power.estimation.joint.fit import fit_joint
from humeval_power.kernels.crossed import information, information_lanes
from humeval_power.kernels.crossed.information import Fitted

OWN = (
    (0.3, 0.1, 0.8, 0.02, 0.5, 0.2, 0.0, 1.5),
    (0.0, 0.4, 0.0, 0.1, 0.0, 0.0, 0.3, 0.0),
    (0.0,) * 8,
    (2.0, 30.0, 0.0, 1.0, 4.0, 0.5, 9.0, 0.1),
)
FOUR = ((0.3, 0.1, 0.5, 0.2), (0.2, 0.0, 0.0, 0.4), (0.0, 0.5, 0.3, 0.0), (0.0,) * 4, (20.0, 3.0, 0.1, 8.0))
EIGHT = (0.3, 0.1, 0.8, 0.0, 0.5, 0.0, 2.0, 0.4, 0.0, 0.5, 0.2, 0.0, 1.5, 0.0, 0.7, 0.3, 0.0, 6.0)
CASES = [
    (8, "own", EIGHT),
    (8, "own", (0.0,) * 18),
    (8, "common", FOUR[1]),
    *((3, "own", gamma) for gamma in OWN),
    *((3, "common", gamma) for gamma in FOUR),
    *((2, "two", gamma) for gamma in FOUR),
]


@pytest.mark.long
@each_case(("n_systems", "variances", "gamma"), CASES)
@few_fast(("m", "n", "kept"), [(5, 9, 0.5), (5, 9, 2.0), (12, 7, 0.7), (40, 43, 0.1)], fast=3)
def test_every_quantity_equals_the_one_from_dense_matrices(n_systems, variances, gamma, m, n, kept):
    rows = random_table(3, m=m, n=n, K=n_systems, kept=kept)
    gamma, y = np.array(gamma), rows.rating - rows.rating.mean()
    design = AnyDesign.of_rows(rows.worker, rows.item, rows.system, n_systems)
    by_worker = np.roll(gamma, 0 if design.worker_is_outer else len(gamma) // 2)
    patterns = (
        Patterns.of_two() if variances == "two" else Patterns.of_all(n_systems, own=variances == "own")
    )
    outer, inner = (rows.worker, rows.item) if design.worker_is_outer else (rows.item, rows.worker)
    if variances == "two":
        X, zs = np.eye(2)[rows.system], dense_model.design_matrices(outer, inner, rows.system)[1]
    else:
        matrices = own_design_matrices if variances == "own" else design_matrices
        X, zs = matrices(outer, inner, rows.system, n_systems)
    beta, phi, rss = dense_model.fixed_effects(gamma, y, X, zs)
    quadratic, square = dense_model.working_products(gamma, y, X, zs)
    expected = (beta, phi, rss, quadratic, square, *dense_model.information(gamma, X, zs))
    # any fall is small enough: the search ends where it starts
    found = design.fit(y[None], patterns, by_worker, tolerance=math.inf, max_steps=1)
    assert found.status[0, 0] == 0
    fitted = type(found.fitted)(*(part[0, 0] for part in found.fitted))
    assert np.array_equal(fitted.gamma, gamma)
    of_fit = (fitted.phi, fitted.rss, fitted.quadratic, fitted.square, *fitted.information(len(y)))
    for fast, slow in zip((found.beta[0, 0], *of_fit), expected, strict=True):
        # rounding, relative to the largest entry of each array
        assert np.abs(fast - slow).max() <= 1e-9 * max(1.0, np.abs(slow).max())


def test_a_variance_that_is_one_with_the_residual_does_not_keep_a_fit_from_settling():
    """With a rating of each output an item's own part of a system is its residual: the criterion is flat there, and
    highest-likelihood means are those of least squares with workers and items alone or with nothing."""
    m, n, K = 9, 12, 4
    item, system = np.indices((n, K)).reshape(2, -1)
    worker = (item + 2 * system) % m
    y = np.random.default_rng(3).random((40, n * K))
    design = AnyDesign.of_rows(worker, item, system, K)
    patterns, start = Patterns.of_all(K, own=False), np.full(4, 0.5)
    found = design.fit(y, patterns, start, tolerance=1e-8, max_steps=100)
    assert (found.status == 0).all()
    alone = (found.fitted.gamma[:, 0, :3] == 0).all(axis=1)  # nothing but what no rating can part
    assert alone.any()
    means = np.stack([y[alone][:, system == k].mean(axis=1) for k in range(K)], axis=1)
    assert np.allclose(found.beta[alone, 0] + y[alone].mean(axis=1, keepdims=True), means, atol=1e-12)


def _tables(n, m, n_items, seed):
    """An unbalanced design of two systems, and ratings of it: with all variances, with none, and constant ones."""
    rng = np.random.default_rng(seed)
    rows = random_table(seed, m=m, n=n_items, K=2, kept=0.6)
    y = rng.normal(size=(n, len(rows.worker)))
    half = n // 2
    for codes, sd in ((rows.worker, 0.8), (rows.item, 0.6)):
        for x in (1.0, rows.system - 0.5):
            y[:half] += x * sd * rng.normal(size=(half, int(codes.max()) + 1))[:, codes]
    y[-1] = 3.0  # nothing is left to be explained
    return rows, y


@pytest.mark.long
@few_fast(("m", "n_items"), [(7, 7), (6, 14), (13, 8)])
def test_fits_side_by_side_have_the_highest_likelihood_of_dense_matrices(m, n_items):
    rows, y = _tables(13, m, n_items, seed=m)
    design = AnyDesign.of_rows(rows.worker, rows.item, rows.system, 2)
    start = np.array([0.3, 0.1, 0.5, 0.2])
    found = design.fit(y, Patterns.of_two(), start, tolerance=1e-8, max_steps=100)
    assert found.status[-1, 0] != 0
    assert np.isnan(found.fitted.rss[-1, 0])
    assert (found.status[:-1] == 0).all()
    X, zs = dense_model.design_matrices(rows.worker, rows.item, rows.system)
    at_zero = 0
    for one in range(len(y) - 1):
        gamma = found.fitted.gamma[one, 0]
        gamma = gamma if design.worker_is_outer else np.roll(gamma, 2)
        at_zero += (gamma == 0).any()
        centred = y[one] - y[one].mean()

        def criterion(values, centred=centred):
            return dense_model.criterion(np.abs(values), centred, X, zs)

        here = criterion(gamma)
        search = optimize.minimize(criterion, np.maximum(gamma, 0.05), method="Nelder-Mead")
        # the tolerance of the search, and that of a simplex that may stop a little short
        assert here <= search.fun + 1e-6
    assert 0 < at_zero < len(y) - 1


def test_a_fit_does_not_depend_on_which_others_stand_beside_it():
    rows, y = _tables(40, 6, 14, seed=6)
    design = AnyDesign.of_rows(rows.worker, rows.item, rows.system, 2)
    start, settings = np.array([0.3, 0.1, 0.5, 0.2]), {"tolerance": 1e-8, "max_steps": 100}

    def fields(fits):
        settled = fits.status[:, 0] == 0
        return [fits.status, *(part[settled] for part in (fits.beta, *fits.fitted))]

    together = fields(design.fit(y, Patterns.of_two(), start, **settings))
    apart = [design.fit(part, Patterns.of_two(), start, **settings) for part in (y[:1], y[1:12], y[12:])]
    others = [np.concatenate(parts) for parts in zip(*map(fields, apart), strict=True)]
    for one, other in zip(together, others, strict=True):
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize(
    ("own", "tables"),
    [
        (True, (0, 8, 13, 18)),
        pytest.param(True, range(19), marks=[pytest.mark.slow, pytest.mark.long]),
        pytest.param(False, range(19), marks=pytest.mark.slow),
    ],
)
def test_tables_of_three_systems_fit_the_same_side_by_side_and_by_the_fit_of_one_table(own, tables):
    rows = random_table(4, m=9, n=11, K=3, kept=0.5)
    rng = np.random.default_rng(4)
    y = rng.normal(size=(19, len(rows.worker)))
    y[:12] += rng.normal(size=(12, 9))[:, rows.worker] + 0.5 * rng.normal(size=(12, 11))[:, rows.item]
    design, patterns = (
        AnyDesign.of_rows(rows.worker, rows.item, rows.system, 3),
        Patterns.of_all(3, own=own),
    )
    start = np.full(8 if own else 4, 0.3)
    fast = design.fit(y, patterns, start, tolerance=1e-10, max_steps=100)
    assert (fast.status == 0).all()
    for one in tables:
        slow = fit_joint(
            SimpleNamespace(**vars(rows) | {"rating": y[one]}), variances="own" if own else "common"
        )
        *sds, residual = slow.standard_deviations.values()
        gamma = np.roll(fast.fitted.gamma[one, 0], 0 if design.worker_is_outer else len(sds) // 2)
        # a criterion within 1e-10 of its least value leaves the variances about 1e-5 apart
        assert np.allclose(gamma, np.square(sds) / residual**2, atol=1e-4), one
        assert np.allclose(fast.beta[one, 0] + y[one].mean(), slow.means, atol=1e-5), one


@pytest.mark.parametrize("n_systems", [2, 3])
def test_precision_side_by_side_is_that_of_one_fit_after_the_other(n_systems):
    """`information.precision` is the slow twin, one fit at a time; of singular fits, of ones that failed, and
    where the information is too poor for a plain inverse."""
    rows = random_table(8, m=7, n=13, K=n_systems, kept=0.6)
    rng = np.random.default_rng(8)
    y = rng.normal(size=(45, len(rows.worker)))
    y[:30] += rng.normal(size=(30, 7))[:, rows.worker]
    y[40] = 3.0  # nothing is left to be explained
    patterns = Patterns.of_two() if n_systems == 2 else Patterns.of_all(n_systems, own=False)
    design = AnyDesign.of_rows(rows.worker, rows.item, rows.system, n_systems)
    fitted = design.fit(y, patterns, np.full(4, 0.3), tolerance=1e-8, max_steps=100).fitted
    fitted.norm[3] = fitted.norm[3, 0, 0, 0] = 1.0  # all variances alike: not one of them is known
    fitted.quadratic[4, 0, 0, 0] = -1e3  # an observed information that is not positive definite
    contrast = np.eye(n_systems)[1] - np.eye(n_systems)[0]
    fast = information_lanes.precision_of_many(fitted, contrast, n=np.array([len(rows.worker)]))
    some = information_lanes.precision_of_many(
        Fitted(*(part[5:16] for part in fitted)), contrast, n=len(rows.worker)
    )
    assert (fitted.gamma == 0).any(axis=2).sum() > 5
    assert np.isnan(fast.standard_error[40, 0])
    for place in range(len(y)):
        one = Fitted(*(part[place] for part in fitted))
        slow = information.precision(one, contrast, n=len(rows.worker), restricted=True)
        for many, alone in zip(fast, slow, strict=True):
            assert many[place, 0] == pytest.approx(alone, rel=1e-9, nan_ok=True)
    for many, few in zip(fast, some, strict=True):
        assert many[5:16].tobytes() == few.tobytes()


@pytest.mark.parametrize(
    ("n_systems", "gamma"), [(2, gamma) for gamma in FOUR] + [(3, OWN[0]), (3, OWN[1]), (8, EIGHT)]
)
@few_fast(("m", "n"), [(5, 9), (11, 6)])
def test_tables_that_lack_ratings_have_every_quantity_of_dense_matrices_of_the_rest(n_systems, gamma, m, n):
    """Each another part of one design: everything; all but a worker; all but an item; a half; a rating twice."""
    rows = random_table(3, m=m, n=n, K=n_systems, kept=2.0)
    rng, gamma = np.random.default_rng(1), np.array(gamma)
    kept = np.ones((11, len(rows.worker)), dtype=bool)
    kept[1] = rows.worker != 2
    kept[2] = rows.item != 3
    kept[3:] = rng.random((8, len(rows.worker))) < 0.5
    y = rng.normal(size=kept.shape)
    design = AnyDesign.of_rows(rows.worker, rows.item, rows.system, n_systems, apart=True)
    by_worker = np.roll(gamma, 0 if design.worker_is_outer else len(gamma) // 2)
    patterns = Patterns.of_two() if n_systems == 2 else Patterns.of_all(n_systems, own=True)
    # any fall is small enough: the search ends where it starts
    found = design.fit(y, patterns, by_worker, kept=kept, tolerance=math.inf, max_steps=1)
    for one, mask in enumerate(kept):
        worker, item, system = (codes[mask] for codes in (rows.worker, rows.item, rows.system))
        outer, inner = (worker, item) if design.worker_is_outer else (item, worker)
        outer, inner = (np.unique(codes, return_inverse=True)[1] for codes in (outer, inner))
        if n_systems == 2:
            X, zs = np.eye(2)[system], dense_model.design_matrices(outer, inner, system)[1]
        else:
            X, zs = own_design_matrices(outer, inner, system, n_systems)
        left = y[one, mask] - y[one, mask].mean()
        fitted = Fitted(*(part[one, 0] for part in found.fitted))
        beta, phi, rss = dense_model.fixed_effects(gamma, left, X, zs)
        quadratic, square = dense_model.working_products(gamma, left, X, zs)
        for fast, slow in [
            (found.beta[one, 0], beta),
            (fitted.phi, phi),
            (fitted.rss, rss),
            (fitted.quadratic, quadratic),
            (fitted.square, square),
            *zip(fitted.information(len(left)), dense_model.information(gamma, X, zs), strict=True),
        ]:
            # rounding, relative to the largest entry of each array
            assert np.abs(fast - slow).max() <= 1e-9 * max(1.0, np.abs(slow).max())


LME4 = """
suppressMessages(library(lme4))
rows <- read.csv(commandArgs(TRUE)[1])
systems <- sort(unique(rows$system))
for (s in systems) rows[[paste0("own", s)]] <- as.numeric(rows$system == s)
own <- function(by) paste(sprintf("(0 + own%d | %s)", systems, by), collapse = " + ")
terms <- paste("(1 | worker) +", own("worker"), "+ (1 | item) +", own("item"))
model <- as.formula(paste("rating ~ 0 + factor(system) +", terms))
control <- lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-9, maxfun = 1e6), calc.derivs = FALSE,
                       check.conv.singular = "ignore")
fit <- suppressMessages(lmer(model, rows, REML = TRUE, control = control))
cat(format(c(REMLcrit(fit), sigma(fit), fixef(fit), sqrt(diag(as.matrix(vcov(fit))))), digits = 15), "\\n")
"""


@pytest.mark.long
@pytest.mark.r
@pytest.mark.parametrize(("n_systems", "sd"), [(3, 0.7), (3, 0.0), (8, 0.7), (8, 0.0)])
def test_systems_with_variances_of_their_own_are_fitted_as_by_lme4(n_systems, sd, tmp_path):
    """Unbalanced tables side by side; without any effect nearly all variances are zero."""
    if shutil.which("Rscript") is None:
        pytest.skip("Rscript is not installed")
    rows, rng = random_table(5, m=7, n=15, K=n_systems, kept=0.6), np.random.default_rng(n_systems)
    y = rng.normal(size=(2, len(rows.worker)))
    for codes in (rows.worker, rows.item):
        y += sd * rng.normal(size=(2, int(codes.max()) + 1))[:, codes]
        y += (
            sd
            * rng.normal(size=(2, n_systems * (int(codes.max()) + 1)))[:, codes * n_systems + rows.system]
        )
    design = AnyDesign.of_rows(rows.worker, rows.item, rows.system, n_systems)
    start = np.full(2 + 2 * n_systems, 0.3)
    found = design.fit(y, Patterns.of_all(n_systems, own=True), start, tolerance=1e-10, max_steps=100)
    assert (found.status == 0).all()
    assert (found.fitted.gamma == 0).any()
    for one, ratings in enumerate(y):
        table = np.column_stack([rows.worker, rows.item, rows.system, ratings])
        header, file = "worker,item,system,rating", tmp_path / "rows.csv"
        np.savetxt(file, table, delimiter=",", header=header, comments="", fmt=["%d"] * 3 + ["%.17g"])
        (tmp_path / "fit.R").write_text(LME4)
        done = subprocess.run(
            ["Rscript", str(tmp_path / "fit.R"), str(file)], capture_output=True, text=True
        )
        if "there is no package called" in done.stderr:
            pytest.skip("R lacks lme4")
        criterion, sigma, *rest = map(float, done.stdout.split())
        fitted, df = found.fitted, len(ratings) - n_systems
        sigma2 = fitted.rss[one, 0] / df
        means, errors = np.split(np.array(rest), 2)
        # its search is over 2 + 2 K standard deviations without slopes, and ends within 1e-4 of the criterion
        assert sigma2 == pytest.approx(sigma**2, rel=2e-3)
        assert found.beta[one, 0] + ratings.mean() == pytest.approx(means, abs=2e-3)
        assert np.sqrt(sigma2 * np.diag(fitted.phi[one, 0])) == pytest.approx(errors, rel=1e-2)
        outer, inner = (rows.worker, rows.item) if design.worker_is_outer else (rows.item, rows.worker)
        X, zs = own_design_matrices(outer, inner, rows.system, n_systems)
        centred = ratings - ratings.mean()
        assert dense_model.criterion(fitted.gamma[one, 0], centred, X, zs) <= criterion + 1e-4


def test_a_step_of_scoring_arrives_where_all_is_balanced():
    """Five strata of a complete design have a variance each: their mean squares are the estimates."""
    m, n, K = 12, 15, 3
    worker, item, system = (code.ravel() for code in np.indices((m, n, K)))
    rng = np.random.default_rng(5)
    y = rng.normal(size=(20, m * n * K))
    for codes in (worker, item):
        for each, sd in ((codes, 1.0), (codes * K + system, 2.0)):
            y += sd * rng.normal(size=(20, each.max() + 1))[:, each]
    design, patterns = AnyDesign.of_rows(worker, item, system, K), Patterns.of_all(K, own=False)
    found = design.fit(y, patterns, np.full(4, 0.5), tolerance=1e-8, max_steps=2)
    inside = (found.fitted.gamma[:, 0] > 0).all(axis=1) & (found.status[:, 0] == 0)
    table = y.reshape(20, m, n, K)
    apart = table - table.mean(axis=3, keepdims=True)
    of_worker, of_item = apart.mean(axis=2), apart.mean(axis=1)
    of_worker, of_item = (part - part.mean(axis=1, keepdims=True) for part in (of_worker, of_item))
    squares = [n * (of_worker**2).sum(axis=(1, 2)) / ((m - 1) * (K - 1))]
    squares.append(m * (of_item**2).sum(axis=(1, 2)) / ((n - 1) * (K - 1)))
    means = [table.mean(axis=axes, keepdims=True) for axes in (2, 1, (1, 2))]
    rest = table - means[0] - means[1] + means[2]
    residual = (rest**2).sum(axis=(1, 2, 3)) / (K * (m - 1) * (n - 1))
    expected = np.column_stack([(squares[0] / residual - 1) / n, (squares[1] / residual - 1) / m])
    assert inside.sum() >= 10
    assert np.allclose(found.fitted.gamma[inside, 0][:, [1, 3]], expected[inside], rtol=1e-6)


@few_fast(("n_systems", "own"), [(3, True), (8, False), (8, True)])
def test_the_highest_likelihood_does_not_depend_on_where_a_search_begins(n_systems, own):
    rows = random_table(11, m=9, n=24, K=n_systems, kept=0.7)
    rng = np.random.default_rng(6)
    y = rng.normal(size=(16, len(rows.worker)))
    for codes, sd in ((rows.worker, 0.8), (rows.item, 0.6), (rows.worker * n_systems + rows.system, 0.5)):
        y += sd * rng.normal(size=(16, int(codes.max()) + 1))[:, codes]
    design = AnyDesign.of_rows(rows.worker, rows.item, rows.system, n_systems)
    patterns = Patterns.of_all(n_systems, own=own)
    q = 2 * len(patterns.products)
    ends = [
        design.fit(y, patterns, np.full(q, start), tolerance=1e-8, max_steps=200)
        for start in (0.05, 0.3, 2.0)
    ]
    for end in ends[1:]:
        assert (end.status == 0).all()
        assert np.abs(end.fitted.gamma - ends[0].fitted.gamma).max() < 2e-3
        assert np.abs(end.beta - ends[0].beta).max() < 1e-4

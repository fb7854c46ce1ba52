"""Complete designs of equal documents: closed form, drawn mean squares, what leaving documents out does."""

from dataclasses import replace

import numpy as np
import pytest
from cases import each_case, few_fast
from reference import dense_model
from scipy import optimize, stats

from humeval_power.designs import crossed, k_per_item, with_documents
from humeval_power.kernels.crossed import balanced, balanced_documents
from humeval_power.parameters import Parameters
from humeval_power.rules import DecisionRule
from humeval_power.simulation.study import draw_ratings, replicate_generator
from humeval_power.studies.power.estimate import estimate_power
from humeval_power.studies.power.formula import BalancedStudy, analytic_power, effect_precision
from humeval_power.studies.power.replication import Replication
from humeval_power.studies.power.scenario import RatingStudy

SDS = {
    "sd_worker_intercept": 0.1,
    "sd_worker_slope": 0.05,
    "sd_item_intercept": 0.1,
    "sd_item_slope": 0.1,
    "sd_residual": 0.2,
}
DOCUMENTS = {"sd_document_intercept": 0.05, "sd_document_slope": 0.1}
ORDER = (*list(SDS)[:4], *DOCUMENTS, "sd_residual")
CONTRAST = np.array([0.0, 1.0])


def parameters(**changes):
    return Parameters(**{"baseline": 0.6, "effect": 0.0, **SDS, **DOCUMENTS, **changes})


def dense_matrices(design):
    """X and the six Z of a design with documents."""
    rows = design.assignment
    X, zs = dense_model.design_matrices(rows.worker, rows.item, rows.system)
    d = (rows.document[:, None] == np.arange(design.n_documents)).astype(float)
    return X, [*zs, d, (rows.system - 0.5)[:, None] * d]


def variances(values):
    return np.array([getattr(values, name) for name in ORDER]) ** 2


@each_case(
    "changes",
    [
        {},
        {"sd_worker_slope": 0.0},
        {"sd_document_slope": 0.0},
        {"sd_item_slope": 0.0, "sd_item_intercept": 0.0},
    ],
)
@each_case("repeats", [1, 2])
def test_variance_and_df_are_those_of_dense_matrices(changes, repeats):
    design = with_documents(crossed(3, 12, n_repeats=repeats), 4)
    values = parameters(**changes)
    X, zs = dense_matrices(design)
    variance, df = dense_model.effect_precision(variances(values), X, zs, CONTRAST)
    found = effect_precision(values, design)
    assert (found.variance, found.df) == pytest.approx((variance, df), rel=1e-8)
    assert found.smallest == 2


def test_unequal_documents_and_incomplete_designs_are_those_of_dense_matrices():
    values = parameters(sd_worker_item=0.0)
    for design in (
        with_documents(crossed(3, 10), 4),
        with_documents(k_per_item(5, 12, ratings_per_item=2), 4),
        with_documents(k_per_item(6, 12, ratings_per_item=2, paired=False), 3),
    ):
        assert not design.is_balanced
        X, zs = dense_matrices(design)
        variance, df = dense_model.effect_precision(variances(values), X, zs, CONTRAST)
        found = effect_precision(values, design)
        assert (found.variance, found.df) == pytest.approx((variance, df), rel=1e-6)


def test_the_block_algebra_agrees_with_the_strata():
    design = with_documents(crossed(6, 24), 6)
    as_table = replace(design, kind="table", explicit=design.assignment)
    for values in (parameters(), parameters(sd_worker_item=0.1)):
        strata, dense = effect_precision(values, design), effect_precision(values, as_table)
        assert dense.variance == pytest.approx(strata.variance, rel=1e-9)
    assert effect_precision(parameters(), as_table).df == pytest.approx(
        effect_precision(parameters(), design).df, rel=1e-9
    )


def test_as_many_documents_as_items_add_their_slopes_to_the_items():
    together = with_documents(crossed(8, 30), 30)
    alone = parameters(sd_document_intercept=0.0, sd_document_slope=0.0, sd_item_slope=np.hypot(0.1, 0.1))
    apart, joined = effect_precision(parameters(), together), effect_precision(alone, crossed(8, 30))
    assert (apart.variance, apart.df) == pytest.approx((joined.variance, joined.df), rel=1e-12)
    fits = Replication(parameters(), together).fits(2000, seed=5)
    usual = Replication(alone, crossed(8, 30)).fits(2000, seed=6)
    for name in ("standard_error", "kenward_roger", "satterthwaite"):
        two = stats.ks_2samp(getattr(fits, name), getattr(usual, name))
        assert two.pvalue > 1e-3


@few_fast("seed", range(12), fast=2)
def test_the_fit_is_the_lowest_point_of_the_dense_criterion(seed):
    """Data of every kind: some without a variance between documents, workers or items."""
    design = with_documents(crossed(3, 8), 4)
    present = np.random.default_rng(seed).integers(0, 2, 6)
    values = parameters(**{name: SDS.get(name, 0.1) * on for name, on in zip(ORDER, present, strict=False)})
    y = draw_ratings(values, design, replicate_generator(seed, 0))
    X, zs = dense_matrices(design)
    study = BalancedStudy(design)
    squares, estimate = study.squares(y[None])
    size = balanced_documents.DocumentsSize(3, 4, 2)
    strata = balanced_documents.pool(squares, balanced_documents.degrees_of_freedom(size))
    e = strata.expected[:, 0]
    steps = [e[0] - e[6], e[1] - e[6], e[2] - e[6], e[3] - e[6], e[4] - e[2], e[5] - e[3]]
    gamma = np.array(steps) / np.array([16, 4, 6, 1.5, 12, 3]) / e[6]
    np.testing.assert_array_equal(gamma <= 1e-12, strata.zero[:, 0])
    gamma = np.maximum(gamma, 0)
    here = dense_model.criterion(gamma, y, X, zs)

    def height(root):
        return dense_model.criterion(root**2, y, X, zs)

    found = optimize.minimize(
        height, np.sqrt(gamma) + 0.05, method="Nelder-Mead", options={"maxiter": 1500}
    )
    assert here <= found.fun + 1e-9
    error, _, df_s, df_kr = dense_model.precision(gamma, y, X, zs, CONTRAST)
    fitted = study.fitted(squares)
    assert fitted.standard_error[0] == pytest.approx(error, rel=1e-8)
    assert fitted.kenward_roger[0] == pytest.approx(df_kr, rel=1e-6)
    assert estimate[0] == pytest.approx(y[X[:, 1] > 0].mean() - y[X[:, 1] < 0].mean())
    if not strata.zero.any():
        assert fitted.satterthwaite[0] == pytest.approx(df_s, rel=1e-6)


def test_drawn_mean_squares_are_those_of_drawn_ratings():
    design = with_documents(crossed(5, 12), 4)
    values = parameters(sd_worker_item=0.1)
    study = Replication(values, design)
    of_ratings, estimates = BalancedStudy(design).squares(study.responses(3000, seed=2))
    drawn, noise = BalancedStudy(design).drawn(
        replicate_generator(3, 0), variances(values), n=3000, interaction=0.01
    )
    for k in range(7):
        assert stats.ks_2samp(of_ratings[k], drawn[k]).pvalue > 1e-3
    assert stats.ks_2samp(estimates, noise).pvalue > 1e-3


@pytest.mark.parametrize("analysis", ["ratings", "differences"])
def test_the_test_with_documents_keeps_its_level_and_the_formula_its_word(analysis):
    design = with_documents(crossed(10, 100), 10)
    rule = DecisionRule(analysis=analysis)
    null = estimate_power(RatingStudy(parameters(), design, rule=rule), n_simulations=20_000)
    assert null.rejection_rate == pytest.approx(0.05, abs=0.006)
    there = RatingStudy(parameters(effect=0.1), design, rule=rule)
    assert estimate_power(there, n_simulations=20_000).power == pytest.approx(
        analytic_power(there.parameters, design).power, abs=0.015
    )


def test_documents_left_out_find_what_is_not_there():
    """10 workers x 10 documents x 10 sentences, an SD of 0.1 between documents: about a quarter."""
    design = with_documents(crossed(10, 100), 10)
    study = RatingStudy(parameters(sd_worker_slope=0.02, sd_item_slope=0.05), design, ignore_documents=True)
    rate = estimate_power(study, n_simulations=10_000).rejection_rate
    assert 0.2 < rate < 0.5
    of_tables = study.replication.fit(study.replication.responses(1500, seed=3))
    tables = study.decide(of_tables).p_value <= 0.05
    assert tables.mean() == pytest.approx(rate, abs=4 * np.sqrt(0.25 / 1500))


def test_strata_without_documents_are_those_of_the_table_without_them():
    design = with_documents(crossed(4, 12), 3)
    y = Replication(parameters(), design).responses(20, seed=1)
    seven, _ = BalancedStudy(design).squares(y)
    five, _, _ = balanced.mean_squares(y.reshape(20, 4, 12, 2, 1))
    found = balanced_documents.without_documents(seven, balanced_documents.DocumentsSize(4, 3, 4))
    np.testing.assert_allclose(found, five, rtol=1e-10)

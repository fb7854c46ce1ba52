"""Tiny tables: a usable fit or a plain refusal, the same on every scale, and never a local minimum."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest
from cases import few_fast
from cli import run
from hypothesis import given
from hypothesis import strategies as st
from reference import dense_model
from reference.dense_search import lowest
from tiny_tables import KINDS, rescaled, tiny_table, write_table

from humeval_power.errors import FitError, InputError
from humeval_power.estimation.crossed.problem import COMPONENTS
from humeval_power.estimation.fit import Fit
from humeval_power.estimation.fitting import fit
from humeval_power.estimation.joint.fit import fit_joint
from humeval_power.parameters import STANDARD_DEVIATIONS
from humeval_power.rules import DecisionRule
from humeval_power.studies.fit.wald import EffectTest, difference_test, effect_test

DIFFERENCES = DecisionRule(analysis="differences")
# Ratings from 0 to 1.25 under declared scales: the same numbers, moved and stretched.
SCALES = ((0.0, 1.25), (-1.0, 4.0), (0.0, 100.0), (-1000.0, 50.0))


def answer(table: SimpleNamespace) -> tuple[Fit, EffectTest] | str:
    """A fit and its test, or why there is none."""
    try:
        fitted = fit(table)
    except FitError as error:
        return str(error)
    return fitted, effect_test(fitted)


def assert_the_same(one: EffectTest, other: EffectTest, stretch: float) -> None:
    # Two searches of one criterion in other units: rounding, and where they stop.
    assert bool(one.reason) == bool(other.reason)
    if one.reason:
        return
    assert one.df == pytest.approx(other.df, rel=2e-3)
    assert one.estimate == pytest.approx(other.estimate * stretch, abs=1e-4)
    assert one.p_value == pytest.approx(other.p_value, rel=2e-3, abs=1e-9)


def check_every_scale(seed: int) -> None:
    """Finite or refused, and the same on another scale."""
    table = tiny_table(seed)
    first = answer(rescaled(table, *SCALES[0]))
    low, high = SCALES[1 + seed // KINDS % (len(SCALES) - 1)]
    other = answer(rescaled(table, low, high))
    if isinstance(first, str) or isinstance(other, str):
        assert first == other
        return
    fitted, test = first
    assert all(0 <= getattr(fitted.parameters, name) < 10 for name in STANDARD_DEVIATIONS)
    if test.reason:
        assert math.isnan(test.p_value)
        assert not test.significant
    else:
        assert 0 < test.p_value <= 1
        assert test.standard_error > 0
        assert 0 < test.df < math.inf
        assert test.significant == (test.p_value <= test.rule.alpha)
    assert_the_same(test, other[1], (high - low) / (SCALES[0][1] - SCALES[0][0]))


# Where crossproducts at large ratios of the variances looked lower than the true minimum.
WITH_A_RESIDUAL = (1364, 1416, 1448, 1590, 1704, 1706, 2060, 2143)


@pytest.mark.long
@pytest.mark.slow
def test_several_hundred_random_tiny_tables_are_fitted_or_refused_alike_on_every_scale() -> None:
    for seed in (*range(240), *WITH_A_RESIDUAL):
        check_every_scale(seed)


@pytest.mark.slow
@given(st.integers(10_000, 2**32))
def test_any_tiny_table_is_fitted_or_refused_alike_on_every_scale(seed: int) -> None:
    check_every_scale(seed)


@pytest.mark.slow
def test_random_tiny_tables_never_end_above_the_lowest_criterion_of_a_brute_force_search() -> None:
    """Local minima were reported as converged; tables whose lowest criterion has no residual were fitted."""
    for seed in (*LOCAL_MINIMA, *WITHOUT_RESIDUAL, *WITH_A_RESIDUAL[:3], *range(400, 412)):
        table = tiny_table(seed)
        found = answer(table)
        expected = lowest(table.worker, table.item, table.system, table.rating)
        if isinstance(found, str):
            assert seed in WITHOUT_RESIDUAL or expected.at_no_residual, seed
        else:
            # Two optimisers that stop within 1e-6 of the lowest criterion.
            assert found[0].criterion <= expected.criterion + 1e-6, seed


# 3 workers by 4 items, one rating each, where searches from equal ratios ended above the lowest criterion.
LOCAL_MINIMA = (154, 446, 798)
# Of 12 to 30 ratings: the criterion is lower without a residual than at every minimum that has one.
WITHOUT_RESIDUAL = (54, 57, 105, 117, 234, 316)


@few_fast("seed", LOCAL_MINIMA, fast=1)
def test_a_table_with_several_minima_says_so(seed: int, tmp_path) -> None:
    table = tiny_table(seed)
    assert fit(table).n_optima > 1
    write_table(tmp_path / "t.csv", table)
    command = ["fit", str(tmp_path / "t.csv"), "--scale", "0:1.25", "--simulations", "20"]
    text = run(*command)
    assert "peaks; the fit is the highest that was found" in " ".join(text.output.split()), text.output
    record = json.loads(run(*command, "--json").stdout)
    assert record["n_optima"] > 1


@pytest.mark.slow
def test_fits_of_tiny_tables_agree_with_dense_matrices() -> None:
    checked = 0
    for seed in range(500, 540):
        table = tiny_table(seed)
        found = answer(table)
        if isinstance(found, str) or found[0].not_identified or found[1].reason:
            continue
        fitted = found[0]
        X, zs = dense_model.design_matrices(table.worker, table.item, table.system)
        sd = np.array([getattr(fitted.parameters, name) for name in COMPONENTS])
        gamma = (sd / fitted.parameters.sd_residual) ** 2
        error, adjusted, _, df = dense_model.precision(gamma, table.rating, X, zs, np.array([0.0, 1.0]))
        assert fitted.criterion == pytest.approx(
            dense_model.criterion(gamma, table.rating, X, zs), abs=1e-6
        )
        assert fitted.standard_error == pytest.approx(error, rel=1e-5)
        assert fitted.standard_error_adjusted == pytest.approx(adjusted, rel=1e-5)
        assert fitted.df_kenward_roger == pytest.approx(df, rel=1e-4)
        checked += 1
    assert checked > 15


@pytest.mark.long
@pytest.mark.slow
def test_differences_and_several_systems_of_tiny_tables_are_tested_or_refused() -> None:
    for seed in range(600, 660):
        table = tiny_table(seed)
        for scale in SCALES[:2]:
            rated = rescaled(table, *scale)
            try:
                test = difference_test(rated, DIFFERENCES)
                assert test.reason or 0 < test.p_value <= 1
            except (FitError, InputError):
                pass
            try:
                joint = fit_joint(rated)
                assert all(value < 10 for value in joint.standard_deviations.values())
            except (FitError, InputError):
                pass


@few_fast("seed", WITHOUT_RESIDUAL, fast=1)
def test_a_table_whose_likelihood_is_highest_without_a_residual_is_refused_with_the_remedy(
    seed: int, tmp_path
) -> None:
    """SDs of 41,816 on [0, 1] stood beside 'A is rated higher than B (p = 0.0033)', with exit code 0."""
    write_table(tmp_path / "t.csv", tiny_table(seed))
    for command in ("fit", "analyze"):
        result = run(command, tmp_path / "t.csv", "--scale", "0:1.25", code=1)
        assert isinstance(result.exception, SystemExit)
        assert "Collect more ratings" in " ".join(result.output.split())
        assert "p =" not in result.output
        assert "rated higher" not in result.output


@pytest.mark.parametrize("engine", ["statsmodels"])
def test_a_reference_engine_refuses_ratings_that_are_alike_within_each_system(
    engine: str, tmp_path
) -> None:
    table = tiny_table(3)
    table.rating = 0.25 + 0.5 * table.system  # no difference but that of the systems
    write_table(tmp_path / "t.csv", table)
    result = run("fit", tmp_path / "t.csv", "--scale", "0:1", "--engine", engine, "--df", "min", code=1)
    assert isinstance(result.exception, SystemExit)
    assert "explain these ratings" in " ".join(result.output.split())

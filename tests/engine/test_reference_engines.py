"""The reference engines agree with results that lme4, lmerTest and pbkrtest gave in R itself."""

import json
import math
from functools import cache
from types import SimpleNamespace

import numpy as np
import pytest
from places import TESTS

from humeval_power.errors import EngineMissingError, InputError
from humeval_power.estimation.fit import Fit
from humeval_power.estimation.other_engines import MAX_RATINGS, fit_lme4, fit_statsmodels
from humeval_power.parameters import STANDARD_DEVIATIONS

GOLDEN = TESTS / "golden" / "random_designs.json"

# Balanced, sparse, repeated, split; one or more SDs at zero; one very small; SDs 100 times others.
SMALL = ("01", "05", "07", "09", "11", "12", "21", "29", "33", "35", "37", "41", "45", "49")
ESTIMATORS = ("reml", "ml")


@cache
def golden() -> dict[str, dict]:
    """The comparisons by their two-digit number."""
    comparisons = json.loads(GOLDEN.read_text())["comparisons"]
    return {comparison["name"][:2]: comparison for comparison in comparisons}


def ratings_of(comparison: dict) -> SimpleNamespace:
    """The four arrays that an engine reads."""
    columns = {name: np.array(comparison[name]) for name in ("worker", "item", "system")}
    return SimpleNamespace(**columns, rating=np.array(comparison["rating"], dtype=float))


def assert_same_fit(fit: Fit, expected: dict) -> None:
    # Criterion: the shared request of all engines, 1e-6. At that height above the minimum an SD may
    # be off by 1e-4 (the criterion is quadratic there), the effect and its SE by 1e-5.
    assert fit.criterion == pytest.approx(expected["criterion"], abs=1e-6)
    assert fit.parameters.baseline == pytest.approx(expected["baseline"], abs=1e-5)
    assert fit.parameters.effect == pytest.approx(expected["effect"], abs=1e-5)
    assert fit.standard_error == pytest.approx(expected["standard_error"], abs=1e-5)
    for name in STANDARD_DEVIATIONS:
        assert getattr(fit.parameters, name) == pytest.approx(expected[name], abs=1e-4), name
    assert set(fit.boundary) == set(expected["boundary"])
    assert fit.converged


@pytest.mark.slow
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("number", SMALL)
def test_statsmodels_agrees_with_lme4_on_small_designs(number: str, estimator: str) -> None:
    comparison = golden()[number]
    fit = fit_statsmodels(ratings_of(comparison), estimator=estimator)
    assert (fit.engine, fit.estimator) == ("statsmodels", estimator)
    assert (fit.n_ratings, fit.n_workers, fit.n_items) == tuple(
        comparison[name] for name in ("n_ratings", "n_workers", "n_items")
    )
    assert_same_fit(fit, comparison[estimator])


@pytest.mark.slow
def test_statsmodels_finds_the_criterion_and_effect_of_a_table_that_does_not_identify_every_sd() -> None:
    # One rating per item and system: only effect, SE and criterion are comparable.
    comparison = golden()["25"]
    fit = fit_statsmodels(ratings_of(comparison))
    assert comparison["not_identified"]
    assert fit.criterion == pytest.approx(comparison["reml"]["criterion"], abs=1e-6)
    assert fit.parameters.effect == pytest.approx(comparison["reml"]["effect"], abs=1e-5)
    assert fit.standard_error == pytest.approx(comparison["reml"]["standard_error"], abs=1e-5)


def test_statsmodels_leaves_degrees_of_freedom_open() -> None:
    fit = fit_statsmodels(ratings_of(golden()["07"]))
    unknown = (fit.df_satterthwaite, fit.df_kenward_roger, fit.standard_error_adjusted)
    assert all(math.isnan(value) for value in unknown)


def test_statsmodels_refuses_a_large_table_and_says_why() -> None:
    size = MAX_RATINGS + 1
    codes = np.arange(size)
    large = SimpleNamespace(worker=codes % 5, item=codes // 10, system=codes % 2, rating=np.zeros(size))
    with pytest.raises(InputError, match=r"dense matrices.*3,001.*'native'"):
        fit_statsmodels(large)


def test_a_missing_r_is_one_sentence_with_the_two_commands_that_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "rpy2", None)  # importing it is now an ImportError
    with pytest.raises(EngineMissingError) as caught:
        fit_lme4(ratings_of(golden()["07"]))
    message = str(caught.value)
    assert "apt-get install" in message
    assert "pip install" in message
    assert message.count("\n") == 0


@pytest.fixture(scope="module")
def lme4_engine() -> None:
    """Skip, with the engine's own reason, where R or one of its packages is absent."""
    try:
        fit_lme4(ratings_of(golden()["07"]))
    except EngineMissingError as missing:
        pytest.skip(str(missing))


@pytest.mark.r
@pytest.mark.usefixtures("lme4_engine")
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("number", ["01", "08", "12", "22", "33", "36", "47"])
def test_lme4_through_pymer4_agrees_with_lme4_in_r(number: str, estimator: str) -> None:
    comparison = golden()[number]
    fit = fit_lme4(ratings_of(comparison), estimator=estimator)
    expected = comparison[estimator]
    assert fit.engine == "lme4"
    if comparison["not_identified"]:
        assert fit.criterion == pytest.approx(expected["criterion"], abs=1e-6)
    else:
        assert_same_fit(fit, expected)
    # lmerTest differentiates numerically: its df carries about five digits.
    assert fit.df_satterthwaite == pytest.approx(expected["df_satterthwaite"], rel=1e-4)


@pytest.mark.r
@pytest.mark.usefixtures("lme4_engine")
def test_lme4_gives_kenward_roger_where_pbkrtest_is_installed() -> None:
    comparison = golden()["33"]
    fit = fit_lme4(ratings_of(comparison))
    if math.isnan(fit.df_kenward_roger):
        pytest.skip("pbkrtest is not installed")
    assert fit.df_kenward_roger == pytest.approx(comparison["reml"]["df_kenward_roger"], rel=1e-4)
    assert fit.standard_error_adjusted == pytest.approx(
        comparison["reml"]["standard_error_adjusted"], abs=1e-5
    )

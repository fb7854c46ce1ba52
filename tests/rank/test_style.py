"""Covariates of battles: against statsmodels, the dense sandwich, and what the command says and refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from cli import run, run_json
from drawn_battles import drawn

from humeval_power.comparisons.rank.battles import Battles, Covariates
from humeval_power.comparisons.rank.bradley_terry import exact_errors, fit_battles, sparse_errors
from humeval_power.comparisons.rank.leaderboard import rank_battles
from humeval_power.errors import InputError

STRENGTHS = np.array([0.0, 0.2, 0.5, 0.9])


def styled(seed: int, *, n: int = 600, tie: float | None = None, users: int = 40) -> Battles:
    """Battles in which the longer output wins more often, and the strongest system writes more."""
    rng = np.random.default_rng(seed)
    met = drawn(rng, strengths=STRENGTHS, n=n, users=users, tie=tie)
    length = rng.normal(0, 2, n) + STRENGTHS[met.first] - STRENGTHS[met.second]
    turned = np.where(rng.random(n) < 0.3, np.sign(length).astype(int), met.outcome)
    return replace(met, outcome=turned, covariates=Covariates(("length",), length[:, None]))


def regression(met: Battles) -> np.ndarray:
    X = np.zeros((met.n, len(met.systems)))
    X[np.arange(met.n), met.first] += 1
    X[np.arange(met.n), met.second] -= 1
    assert met.covariates is not None
    return np.column_stack([X[:, 1:], np.ones(met.n), met.covariates.standardised])


def test_without_ties_it_is_a_logistic_regression_with_the_covariates() -> None:
    met = styled(1)
    model = sm.GLM((met.outcome > 0).astype(float), regression(met), family=sm.families.Binomial())
    expected = model.fit(tol=1e-12)
    fit = fit_battles(met)
    ours = np.r_[(fit.strengths - fit.strengths[0])[1:], fit.order, fit.parameters[fit.slopes]]
    assert ours == pytest.approx(expected.params, abs=1e-7)
    turned = np.eye(len(fit.parameters))[1:]
    turned[:3, 0] = -1.0
    assert turned @ fit.covariance @ turned.T == pytest.approx(expected.cov_params(), rel=1e-6)
    assert fit.log_likelihood == pytest.approx(expected.llf, abs=1e-8)


def test_slopes_and_errors_in_clusters_are_those_of_statsmodels() -> None:
    met = styled(2, n=4000, users=350)
    assert met.clusters is not None
    model = sm.GLM((met.outcome > 0).astype(float), regression(met), family=sm.families.Binomial())
    other = model.fit(cov_type="cluster", cov_kwds={"groups": met.clusters.codes}).bse
    fit = fit_battles(met)
    for errors in (exact_errors(fit, met, met.clusters), sparse_errors(fit, met, met.clusters)):
        ours = np.sqrt(np.diag(errors.covariance)[fit.slopes])
        assert ours == pytest.approx(other[-1:], rel=0.01)  # corrections of 1 / G


def test_ties_and_covariates_are_at_the_maximum() -> None:
    met = styled(3, tie=-0.5)
    fit = fit_battles(met)
    rows = fit.of_battles(met)
    assert rows.scores(4, with_order=True, with_ties=True) == pytest.approx(np.zeros(7), abs=1e-6)
    twice = replace(met, covariates=replace(met.covariates, values=7 * met.covariates.values))  # type: ignore[type-var,union-attr]
    assert fit_battles(twice).strengths == pytest.approx(fit.strengths)  # in any unit


def test_undefeated_systems_leave_the_slopes_to_the_others() -> None:
    met = styled(4, n=900)
    never = np.where(met.first == 3, 1, np.where(met.second == 3, -1, met.outcome))
    won = replace(met, outcome=never)
    fit = fit_battles(won)
    assert fit.penalised
    assert np.isfinite(fit.parameters).all()
    assert won.covariates is not None
    among = won.only(("s0", "s1", "s2"))
    assert among.covariates is not None
    alone = fit_battles(among)
    unit = won.covariates.sd / among.covariates.sd  # each table has its own standard deviation
    assert fit.parameters[fit.slopes] == pytest.approx(alone.parameters[alone.slopes] * unit, abs=1e-6)


def test_covariates_that_systems_tell_are_refused() -> None:
    met = styled(5)
    tall = (STRENGTHS[met.first] - STRENGTHS[met.second])[:, None]
    with pytest.raises(InputError, match="'size' follows from the systems"):
        fit_battles(replace(met, covariates=Covariates(("size",), tall)))


def test_more_battles_need_the_same_covariates() -> None:
    met = styled(6)
    with pytest.raises(InputError, match="covariates"):
        met.joined(replace(met, covariates=None))
    both = met.joined(met)
    assert both.covariates is not None
    assert len(both.covariates.values) == 2 * met.n


def test_a_covariate_takes_out_what_it_adds() -> None:
    # The strongest system writes more, so that length flatters it; at equal style it is less far ahead.
    found = rank_battles(styled(7, n=4000))
    assert found.fit.without is not None
    assert np.ptp(found.fit.without) > np.ptp(found.fit.strengths)
    assert found.style[0].low > 0


def test_the_command_says_that_strengths_are_at_equal_style(tmp_path: Path) -> None:
    met, path = styled(8), tmp_path / "battles.csv"
    assert met.covariates is not None
    table = {
        "model_a": np.array(met.systems)[met.first],
        "model_b": np.array(met.systems)[met.second],
        "winner": np.where(met.outcome > 0, "model_a", "model_b"),
        "length_a": 10 + met.covariates.values[:, 0],
        "length_b": 10.0,
    }
    pd.DataFrame(table).to_csv(path, index=False)
    record = run_json("rank", "battles", path, "--covariate", "length")
    expected = fit_battles(replace(met, clusters=None))
    assert record["covariates"][0]["slope"] == pytest.approx(
        expected.parameters[expected.slopes][0], abs=1e-6
    )
    text = " ".join(run("rank", "battles", path, "--covariate", "length").stdout.split())
    assert "Strengths are at equal style" in text
    assert (
        "nor both 'size_a' and 'size_b'"
        in run("rank", "battles", path, "--covariate", "size", code=2).stderr
    )

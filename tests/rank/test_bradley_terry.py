"""Strengths from battles: against statsmodels, an obvious likelihood, a dense sandwich, and themselves."""

import json
import math
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from cli import run, run_json, text_of
from drawn_battles import drawn
from scipy import optimize, stats

from humeval_power.choices import BattleTies
from humeval_power.comparisons.rank.battles import Battles, Covariates
from humeval_power.comparisons.rank.bradley_terry import (
    BattleFit,
    clustered_errors,
    exact_errors,
    fit_battles,
    independent_errors,
    sparse_errors,
)
from humeval_power.comparisons.rank.leaderboard import rank_battles
from humeval_power.errors import InputError
from humeval_power.inference.clustered import clustered_mean

STRENGTHS = np.array([0.0, 0.2, 0.5, 0.9])


def from_first(fit: BattleFit) -> np.ndarray:
    """What turns the parameters (p,) into those of a regression whose reference is system 0, (p - 1, p)."""
    turned = np.eye(len(fit.parameters))[1:]
    turned[: fit.n_systems - 1, 0] = -1.0
    return turned


def design(met: Battles, fit: BattleFit) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each battle: the derivatives of (eta, tie) by these parameters, its score, its information."""
    K, p = fit.n_systems, len(fit.parameters)
    rows = np.zeros((met.n, 2, p))
    for b in range(met.n):
        rows[b, 0, met.first[b]], rows[b, 0, met.second[b]] = 1.0, -1.0
        rows[b, 0, K : K + fit.with_order] = 1.0
        rows[b, 1, K + fit.with_order :] = 1.0
    each = fit.of_battles(met)
    return rows[:, :, 1:], each.score, each.weight[:, [[0, 1], [1, 2]]]


def battles(seed: int = 1, **more: object) -> Battles:
    rng = np.random.default_rng(seed)
    return drawn(rng, **{"strengths": STRENGTHS, "n": 400, "users": 25, **more})  # type: ignore[arg-type]


def test_without_ties_it_is_a_logistic_regression_without_intercept() -> None:
    met = battles(tie=None)
    X = np.zeros((met.n, 4))
    X[np.arange(met.n), met.first] += 1
    X[np.arange(met.n), met.second] -= 1
    X = np.column_stack([X[:, 1:], np.ones(met.n)])  # system 0 is the reference; being first
    expected = sm.GLM((met.outcome > 0).astype(float), X, family=sm.families.Binomial()).fit(tol=1e-12)
    fit = fit_battles(met)
    turned = from_first(fit)
    assert turned @ fit.parameters == pytest.approx(expected.params, abs=1e-7)
    covariance = turned @ independent_errors(fit).covariance @ turned.T
    assert covariance == pytest.approx(expected.cov_params(), rel=1e-6)
    assert fit.log_likelihood == pytest.approx(expected.llf, abs=1e-8)


def test_cr1_of_statsmodels_is_near_with_many_clusters() -> None:
    met = battles(tie=None, n=3000, users=300, taste=0.5)
    X = np.zeros((met.n, 4))
    X[np.arange(met.n), met.first] += 1
    X[np.arange(met.n), met.second] -= 1
    X = np.column_stack([X[:, 1:], np.ones(met.n)])
    assert met.clusters is not None
    model = sm.GLM((met.outcome > 0).astype(float), X, family=sm.families.Binomial())
    other = model.fit(cov_type="cluster", cov_kwds={"groups": met.clusters.codes}).bse
    fit = fit_battles(met)
    turned = from_first(fit)
    ours = np.sqrt(np.diag(turned @ clustered_errors(fit, met, met.clusters).covariance @ turned.T))
    assert ours == pytest.approx(other, rel=0.01)  # corrections of 1 / G


@pytest.mark.parametrize("ties", ["davidson", "rao-kupper"])
def test_the_maximum_is_that_of_the_obvious_likelihood(ties: BattleTies) -> None:
    met = battles()

    def deviance(x: np.ndarray) -> float:
        total = 0.0
        strength = [0.0, *x[:3]]
        for first, second, outcome in zip(met.first, met.second, met.outcome, strict=True):
            eta = strength[first] - strength[second] + x[3]
            if ties == "davidson":
                weight = {1: math.exp(eta / 2), 0: math.exp(x[4]), -1: math.exp(-eta / 2)}
            else:
                cut = abs(x[4])
                won, lost = 1 / (1 + math.exp(cut - eta)), 1 / (1 + math.exp(cut + eta))
                weight = {1: won, 0: 1 - won - lost, -1: lost}
            total -= 2 * math.log(weight[outcome] / sum(weight.values()))
        return total

    found = optimize.minimize(deviance, [0, 0, 0, 0, 0.5], method="BFGS", options={"gtol": 1e-6})
    fit = fit_battles(met, ties=ties)
    assert -2 * fit.log_likelihood == pytest.approx(found.fun, abs=1e-6)
    assert from_first(fit) @ fit.parameters == pytest.approx(
        found.x, abs=1e-4
    )  # of a search by differences


def root(matrix: np.ndarray, power: float) -> np.ndarray:
    """A power of a symmetric matrix, along the directions that it has."""
    value, vector = np.linalg.eigh(matrix)
    kept = value > 1e-10 * value.max()
    return vector[:, kept] @ np.diag(value[kept] ** power) @ vector[:, kept].T


def dense_cr2(met: Battles, ties: BattleTies) -> tuple[np.ndarray, np.ndarray]:
    """Covariance of the parameters and df of the pairs: the weighted regression with all its matrices written out,
    two rows for each battle."""
    fit = fit_battles(met, ties=ties)
    clusters = met.clusters
    assert clusters is not None
    rows, score, information = design(met, fit)
    p = rows.shape[2]
    X = np.concatenate([root(information[b], 0.5) @ rows[b] for b in range(met.n)])
    e = np.concatenate([root(information[b], -0.5) @ score[b] for b in range(met.n)])
    of, inverse = np.repeat(clusters.codes, 2), np.linalg.inv(X.T @ X)
    residual_maker = np.eye(len(X)) - X @ inverse @ X.T
    weights = np.zeros((clusters.n_clusters, p, len(X)))  # of residuals in each cluster's step
    for g in range(clusters.n_clusters):
        inside = of == g
        adjust = root(residual_maker[np.ix_(inside, inside)], -0.5)
        weights[g][:, inside] = inverse @ X[inside].T @ adjust
    steps = weights @ e
    K = len(met.systems)
    df = np.zeros((K, K))
    for i in range(K):
        for j in range(K):
            c = np.zeros(p)
            c[: K - 1] += np.eye(K)[i, 1:] - (np.eye(K)[j, 1:] if i != j else 1 / K)
            forms = c @ weights  # (clusters, rows)
            omega = forms @ residual_maker @ forms.T
            df[i, j] = np.trace(omega) ** 2 / np.trace(omega @ omega)
    return steps.T @ steps, df


@pytest.mark.parametrize("ties", ["davidson", "rao-kupper"])
@pytest.mark.parametrize("users", [3, 12])
def test_the_sandwich_is_that_of_dense_matrices(ties: BattleTies, users: int) -> None:
    met = battles(n=150, users=users, taste=0.5, sizes=np.arange(1.0, users + 1) ** 2)
    assert met.clusters is not None
    covariance, df = dense_cr2(met, ties)
    fit = fit_battles(met, ties=ties)
    found, turned = exact_errors(fit, met, met.clusters), from_first(fit)
    assert turned @ found.covariance @ turned.T == pytest.approx(covariance, rel=1e-7, abs=1e-12)
    assert found.df == pytest.approx(np.maximum(df, 1.0), rel=1e-6)


def test_two_systems_without_ties_and_order_are_a_mean_in_clusters() -> None:
    # The logit of a share: its CR2 error is that of the mean over p (1 - p), with the mean's df.
    rng = np.random.default_rng(4)
    met = drawn(rng, strengths=np.zeros(2), n=120, users=9, taste=0.8, order=0.0, tie=None)
    assert met.clusters is not None
    won = ((met.outcome > 0) == (met.first == 0)).astype(float)
    mean = clustered_mean(won, met.clusters)
    found = rank_battles(met, position_bias=False)
    pair = next(found.board.pairs)
    share = mean.estimate
    assert abs(pair.difference) == pytest.approx(abs(math.log(share / (1 - share))), abs=1e-8)
    assert pair.standard_error == pytest.approx(mean.standard_error / (share * (1 - share)), rel=1e-7)
    assert pair.df == pytest.approx(mean.df, rel=1e-7)


def test_names_in_another_order_and_sides_swapped_change_nothing() -> None:
    met = battles(taste=0.4)
    flipped = Battles(met.systems, met.second, met.first, -met.outcome, met.clusters)
    one, other = rank_battles(met), rank_battles(flipped)
    assert one.order is not None
    assert other.order is not None
    assert one.order.share == pytest.approx(1 - other.order.share)
    assert [p.value for p in one.board.places] == pytest.approx([p.value for p in other.board.places])
    moved = met.only(("s3", "s1", "s0", "s2"))
    again = rank_battles(moved)
    assert [p.system for p in again.board.places] == [p.system for p in one.board.places]
    assert [p.rank_high for p in again.board.places] == [p.rank_high for p in one.board.places]
    for a, b in zip(one.board.pairs, again.board.pairs, strict=True):
        assert (a.better, a.worse) == (b.better, b.worse)
        assert (a.standard_error, a.df) == pytest.approx((b.standard_error, b.df), rel=1e-7)


@pytest.mark.parametrize("sizes", [None, np.r_[np.full(3, 400.0), np.ones(357)]])
def test_many_voters_are_summed_as_few_are(sizes: np.ndarray | None) -> None:
    met = battles(n=3000, users=360, taste=0.5, sizes=sizes)
    fit = fit_battles(met)
    assert met.clusters is not None
    exact, fast = exact_errors(fit, met, met.clusters), sparse_errors(fit, met, met.clusters)
    # what remains are corrections of voters that know little: of G / (G - 1) for each
    assert fast.covariance == pytest.approx(exact.covariance, rel=0.03, abs=2e-5)


@pytest.mark.slow
@pytest.mark.parametrize("users", [10, 30])
def test_intervals_of_differences_cover_where_users_have_tastes(users: int) -> None:
    # Truth by one huge table: tastes pull strengths to their marginal values.
    rng = np.random.default_rng(3)
    sizes = np.linspace(1, 4, users)
    whole = drawn(rng, strengths=STRENGTHS, n=400_000, users=100_000, taste=0.5)
    truth = fit_battles(whole).strengths
    covered = covered_plain = 0
    n_studies = 300
    for _ in range(n_studies):
        met = drawn(rng, strengths=STRENGTHS, n=30 * users, users=users, taste=0.5, sizes=sizes)
        fit = fit_battles(met)
        assert met.clusters is not None
        errors = clustered_errors(fit, met, met.clusters)
        gap = fit.strengths[3] - fit.strengths[0] - (truth[3] - truth[0])
        error, plain = (
            math.sqrt(of[3, 3] + of[0, 0] - 2 * of[0, 3]) for of in (errors.covariance, fit.covariance)
        )
        covered += abs(gap) <= stats.t.isf(0.025, errors.df[3, 0]) * error
        covered_plain += abs(gap) <= 1.96 * plain
    low, high = stats.binom.interval(0.998, n_studies, 0.95)
    assert low <= covered <= high
    assert covered_plain < low  # what independence costs


# Errors in clusters of users, beside clubSandwich.


SCRIPT = """
suppressMessages({library(clubSandwich); library(jsonlite)})
given <- fromJSON(file("stdin"))
X <- as.matrix(given$X)
fit <- glm(given$won ~ 0 + X, family = binomial(), control = list(epsilon = 1e-14, maxit = 100))
w <- sqrt(fit$weights)
z <- w * (fit$residuals + drop(X %*% coef(fit)))
Z <- w * X
step <- lm(z ~ 0 + Z)  # the last step of the search: the same estimate
v <- vcovCR(step, cluster = given$user, type = "CR2")
tests <- coef_test(step, vcov = v, test = "Satterthwaite")
other <- vcovCR(fit, cluster = given$user, type = "CR2")
cat(toJSON(list(beta = unname(coef(fit)), v = unname(as.matrix(v)), df = tests$df_Satt,
                other = unname(diag(as.matrix(other)))), digits = 14))
"""


@pytest.mark.r
def test_errors_and_df_are_those_of_clubsandwich(tmp_path: Path) -> None:
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("Rscript is not installed")
    for package in ("clubSandwich", "jsonlite"):
        there = [program, "-e", f"stopifnot(requireNamespace('{package}', quietly = TRUE))"]
        if subprocess.run(there, capture_output=True, check=False).returncode != 0:
            pytest.skip(f"the R package {package} is not installed")
    rng = np.random.default_rng(11)
    sizes = np.arange(1.0, 13.0)
    met = drawn(rng, strengths=np.array([0.0, 0.3, 0.8]), n=240, users=12, taste=0.6, tie=None, sizes=sizes)
    assert met.clusters is not None
    fit = fit_battles(met)
    rows = np.zeros((met.n, fit.n_systems))
    rows[np.arange(met.n), met.first] = 1.0
    rows[np.arange(met.n), met.second] = -1.0
    rows = np.column_stack([rows[:, 1:], np.ones(met.n)])
    given = {
        "X": rows.tolist(),
        "won": (met.outcome > 0).astype(int).tolist(),
        "user": met.clusters.codes.tolist(),
    }
    script = tmp_path / "oracle.R"
    script.write_text(SCRIPT)
    told = subprocess.run(
        [program, str(script)], input=json.dumps(given), capture_output=True, text=True, check=True
    )
    expected = json.loads(told.stdout)
    found = clustered_errors(fit, met, met.clusters)
    turned = np.eye(len(fit.parameters))[1:]  # system 0 is the reference
    turned[: fit.n_systems - 1, 0] = -1.0
    covariance = turned @ found.covariance @ turned.T
    assert turned @ fit.parameters == pytest.approx(expected["beta"], abs=1e-8)
    assert covariance.ravel() == pytest.approx(np.ravel(expected["v"]), rel=1e-6, abs=1e-10)
    # of a glm it takes another root of the same matrix: as unbiased, and nearly the same
    assert np.diag(covariance) == pytest.approx(expected["other"], rel=0.01)
    # system 0 is the reference: a coefficient is its difference from it
    assert found.df[0, 1:] == pytest.approx(expected["df"][:2], rel=1e-5)


# Covariates of battles.


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
    text = text_of("rank", "battles", path, "--covariate", "length")
    assert "Strengths are at equal style" in text
    assert (
        "nor both 'size_a' and 'size_b'"
        in run("rank", "battles", path, "--covariate", "size", code=2).stderr
    )

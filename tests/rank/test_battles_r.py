"""Strengths and their errors in clusters of users, beside R's glm and clubSandwich."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from drawn_battles import drawn

from humeval_power.comparisons.rank.bradley_terry import clustered_errors, fit_battles

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

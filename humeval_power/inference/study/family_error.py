"""How often max-t by the joint model errs in a design: studies without differences, analysed as it was."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from humeval_power.errors import FitError
from humeval_power.estimation.joint.fit import JointFit, fit_joint
from humeval_power.inference.shares import wilson_interval
from humeval_power.inference.study.joint_comparison import contrasts_of, correlation_of, referred
from humeval_power.inference.study.many_systems import FamilyError
from humeval_power.inference.study.max_t import MaxT
from humeval_power.inference.study.wald import wald_p
from humeval_power.ratings import Ratings
from humeval_power.rules import DecisionRule

FEW_WORKERS = 20  # below which the largest of statistics with a few df each errs more often than it says
_N_STUDIES = 200
_MOST_RATINGS, _MOST_SYSTEMS = 2_000, 8  # of a study that is fitted so often in seconds

Floats = NDArray[np.float64]


def family_error(
    ratings: Ratings, fitted: JointFit, pairs: Sequence[tuple[str, str]], rule: DecisionRule, *, seed: int
) -> FamilyError | None:
    """The error of max-t in the design of these ratings, with the variances of their fit; None where it keeps its
    level: with common variances, or many workers."""
    if fitted.variances == "common" or ratings.n_workers >= FEW_WORKERS or not fitted.converged:
        return None
    nan = math.nan
    if ratings.n_ratings > _MOST_RATINGS or ratings.n_systems > _MOST_SYSTEMS:
        return FamilyError(nan, (nan, nan), 0, 0, seed)
    contrasts = contrasts_of(ratings.system_names, list(pairs))
    errs = failed = 0
    for child in np.random.SeedSequence(seed).spawn(_N_STUDIES):
        try:
            study = fit_joint(_drawn(ratings, fitted, np.random.default_rng(child)), variances="own")
            errs += _errs(study, contrasts, rule)
        except FitError:
            failed += 1
    done = _N_STUDIES - failed
    rate = errs / done if done else nan
    interval = wilson_interval(errs, done) if done else (nan, nan)
    return FamilyError(rate, interval, _N_STUDIES, failed, seed)


@dataclass(frozen=True, slots=True)
class _Rows:
    worker: NDArray[np.int64]
    item: NDArray[np.int64]
    system: NDArray[np.int64]
    rating: Floats


def _drawn(ratings: Ratings, fitted: JointFit, rng: np.random.Generator) -> _Rows:
    """Ratings in the same cells from the fitted variances, all systems with one mean."""
    sd = fitted.standard_deviations
    worker, item, system = ratings.worker, ratings.item, ratings.system
    m, n, K = ratings.n_workers, ratings.n_items, ratings.n_systems
    of_worker, of_item = (
        np.array([sd[f"{name} of {system}"] for system in ratings.system_names])
        for name in ("sd_worker_system", "sd_item_system")
    )
    rating = (
        0.5
        + (sd["sd_worker"] * rng.standard_normal(m))[worker]
        + (of_worker * rng.standard_normal((m, K)))[worker, system]
        + (sd["sd_item"] * rng.standard_normal(n))[item]
        + (of_item * rng.standard_normal((n, K)))[item, system]
        + sd["sd_residual"] * rng.standard_normal(len(worker))
    )
    return _Rows(worker, item, system, rating)


def _errs(fitted: JointFit, contrasts: Floats, rule: DecisionRule) -> bool:
    """Whether any comparison is significant. Between the p of a single t and Bonferroni's nothing is to be found
    out; only what lies there is referred to the largest t."""
    estimate, error, df = referred(fitted, contrasts, rule)
    t = estimate / error
    raw = wald_p(estimate, error, df, rule.alternative)
    if (raw <= rule.alpha / len(t)).any():
        return True
    open_ = np.flatnonzero(raw <= rule.alpha)
    if not len(open_):
        return False
    largest = MaxT(
        correlation_of(fitted, contrasts, rule), float(df.min()), rule.alternative == "two-sided"
    )
    return any(float(largest.at(float(df[k])).p_value(t[k : k + 1])[0]) <= rule.alpha for k in open_)

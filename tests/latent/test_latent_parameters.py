"""Latent parameters and what they mean on [0, 1]."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from humeval_power.errors import ParametersError
from humeval_power.latent import Latent
from humeval_power.parameters import Parameters

FIVE = Latent(
    thresholds=(-1.2, -0.5, 0.5, 1.2),
    effect=0.4,
    sd_worker_intercept=0.5,
    sd_worker_slope=0.4,
    sd_item_intercept=0.6,
    sd_item_slope=0.5,
)


@pytest.mark.parametrize("system", [0, 1])
def test_probit_shares_are_those_of_one_normal_variable(system: int) -> None:
    spread = np.sqrt(1 + FIVE.variance)
    below = stats.norm.cdf((np.array(FIVE.thresholds) - FIVE.effect * (system - 0.5)) / spread)
    assert np.allclose(FIVE.shares(system), np.diff([0, *below, 1]), atol=1e-12)


def test_covariances_are_sums_of_rectangles_of_a_bivariate_normal_variable() -> None:
    # two ratings of one worker on different items, under either system
    spread = np.sqrt(1 + FIVE.variance)

    def expected_product(first: int, second: int) -> float:
        shared = FIVE.shared(("worker",), same_system=first == second) / spread**2
        law = stats.multivariate_normal(cov=[[1, shared], [shared, 1]])
        cuts = [np.array(FIVE.thresholds) - FIVE.effect * (system - 0.5) for system in (first, second)]
        steps = np.diff(FIVE.scores)
        above = [
            [
                1 - sum(stats.norm.cdf(c / spread) for c in (a, b)) + law.cdf([a / spread, b / spread])
                for b in cuts[1]
            ]
            for a in cuts[0]
        ]
        return float(steps @ np.array(above) @ steps)

    means = [FIVE.mean(0), FIVE.mean(1)]
    aa, bb, ab = (expected_product(i, j) - means[i] * means[j] for i, j in ((0, 0), (1, 1), (0, 1)))
    found = Parameters.of_latent(FIVE)
    assert found.sd_worker_slope**2 == pytest.approx(aa + bb - 2 * ab, abs=1e-6)
    assert found.sd_worker_intercept**2 == pytest.approx((aa + bb + 2 * ab) / 4, abs=1e-6)


def test_the_variances_add_up_to_that_of_a_rating() -> None:
    found = Parameters.of_latent(replace(FIVE, effect=0.0))
    scores = np.array(FIVE.scores)
    shares = np.array(replace(FIVE, effect=0.0).shares(0))
    total = shares @ scores**2 - (shares @ scores) ** 2
    parts = (
        found.sd_worker_intercept**2
        + found.sd_item_intercept**2
        + (found.sd_worker_slope**2 + found.sd_item_slope**2) / 4
        + found.sd_worker_item**2
        + found.sd_residual**2
    )
    # half of what a pair adds to a difference stands in the residual, a quarter belongs to a single rating
    assert parts == pytest.approx(total, rel=0.02)


@pytest.mark.parametrize("link", ["probit", "logit"])
def test_a_difference_is_solved_for_and_files_keep_it(link: str) -> None:
    study = Parameters.of_latent(replace(FIVE, link=link)).with_difference(0.1)  # type: ignore[arg-type]
    assert study.difference == pytest.approx(0.1, abs=1e-10)
    assert Parameters.from_dict(study.as_dict()) == study


def test_numbers_that_contradict_the_latent_ones_are_refused() -> None:
    record = {**Parameters.of_latent(FIVE).as_dict(), "sd_worker_slope": 0.3}
    with pytest.raises(ParametersError, match="latent parameters mean"):
        Parameters.from_dict(record)


def test_every_problem_of_a_record_is_named() -> None:
    with pytest.raises(ParametersError) as caught:
        Latent(thresholds=(0.5, 0.1), sd_item_slope=-1.0, effect=float("nan"))
    assert {problem.column for problem in caught.value.problems} == {
        "thresholds",
        "sd_item_slope",
        "effect",
    }


def test_a_difference_beyond_the_categories_is_refused() -> None:
    with pytest.raises(ParametersError, match="largest difference"):
        FIVE.with_difference(1.5)

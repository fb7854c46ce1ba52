"""A latent effect on the scales that people read, against draws and rectangles of normal variables."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from humeval_power.latent import Latent, Link
from humeval_power.studies.fit.wald import (
    effects_at,
    effects_of,
    expected_at,
    latent_margin,
    slope_to_expected,
)

FIVE = Latent(
    thresholds=(-1.2, -0.5, 0.5, 1.2),
    effect=0.6,
    sd_worker_intercept=0.5,
    sd_worker_slope=0.4,
    sd_item_intercept=0.6,
    sd_item_slope=0.5,
    sd_document_intercept=0.3,
    sd_document_slope=0.2,
)
YES_NO = replace(FIVE, thresholds=(0.3,), scores=(0.0, 1.0), link="logit")


@pytest.mark.parametrize("latent", [FIVE, replace(FIVE, link="logit"), YES_NO])
def test_every_scale_is_what_many_draws_have(latent: Latent) -> None:
    n, rng = 400_000, np.random.default_rng(5)
    shared, apart = (
        sum(
            rng.normal(0, getattr(latent, f"sd_{factor}_{part}"), n)
            for factor in ("worker", "item", "document")
        )
        for part in ("intercept", "slope")
    )
    noise = rng.normal(size=(2, n)) if latent.link == "probit" else rng.logistic(size=(2, n))
    a, b = (
        np.searchsorted(latent.thresholds, shared + x * (latent.effect + apart) + noise[k])
        for k, x in enumerate((-0.5, 0.5))
    )
    found = effects_of(latent)
    difference = np.array(latent.scores)[b] - np.array(latent.scores)[a]
    better = (b > a) + 0.5 * (b == a)
    for draws, computed in ((difference, found.expected), (better, found.better)):
        assert abs(draws.mean() - computed) < 4 * draws.std() / np.sqrt(n)


def test_the_chance_of_a_better_rating_is_a_sum_of_rectangles_of_a_bivariate_normal_variable() -> None:
    spread = np.sqrt(1 + FIVE.variance)
    across = FIVE.shared(("worker", "item", "document"), same_system=False) / spread**2
    law = stats.multivariate_normal(cov=[[1, across], [across, 1]])
    a, b = (
        np.array([-9.0, *(np.array(FIVE.thresholds) - x * FIVE.effect) / spread, 9.0]) for x in (-0.5, 0.5)
    )

    def chance(k: int, low: int, high: int) -> float:
        """P(B in category k, A in categories low to high - 1)."""
        corners = [
            law.cdf([a[high], b[k + 1]]),
            -law.cdf([a[low], b[k + 1]]),
            -law.cdf([a[high], b[k]]),
            law.cdf([a[low], b[k]]),
        ]
        return float(sum(corners))

    expected = sum(chance(k, 0, k) + chance(k, k, k + 1) / 2 for k in range(5))
    assert effects_of(FIVE).better == pytest.approx(expected, abs=2e-5)


def test_the_averaged_probit_is_that_of_a_model_without_random_effects() -> None:
    below = np.cumsum(FIVE.shares(0))[:-1], np.cumsum(FIVE.shares(1))[:-1]
    shift = stats.norm.ppf(below[0]) - stats.norm.ppf(below[1])
    assert np.allclose(shift, effects_of(FIVE).averaged, atol=1e-9)


def test_averaged_log_odds_are_of_two_categories_alone() -> None:
    a, b = YES_NO.shares(0)[1], YES_NO.shares(1)[1]
    assert effects_of(YES_NO).averaged == pytest.approx(np.log(b / (1 - b) * (1 - a) / a))
    assert effects_of(replace(FIVE, link="logit")).averaged is None


@pytest.mark.parametrize("link", ["probit", "logit"])
def test_every_scale_rises_with_the_latent_effect_and_turns_with_its_sign(link: Link) -> None:
    latent = replace(FIVE, link=link, thresholds=(-1.0, 0.2), scores=(0.0, 0.25, 1.0))
    found = [effects_at(latent, effect) for effect in np.linspace(-3, 3, 13)]
    assert np.all(np.diff([one.expected for one in found]) > 0)
    assert np.all(np.diff([one.better for one in found]) > 0)
    for low, high in zip(found, found[::-1], strict=True):
        assert low.expected == pytest.approx(-high.expected, abs=1e-12)
        assert low.better == pytest.approx(1 - high.better, abs=1e-12)


def test_a_margin_comes_back_from_the_latent_scale() -> None:
    assert expected_at(FIVE, latent_margin(FIVE, 0.1)) == pytest.approx(0.1, abs=1e-10)
    assert latent_margin(replace(FIVE, scores=(0.0, 0.1, 0.2, 0.3, 0.4)), 0.5) == np.inf


def test_the_slope_turns_the_effect_into_the_expected_difference() -> None:
    assert slope_to_expected(FIVE) * FIVE.effect == pytest.approx(FIVE.difference, rel=1e-12)
    nearly = slope_to_expected(replace(FIVE, effect=1e-3))
    assert slope_to_expected(replace(FIVE, effect=0.0)) == pytest.approx(nearly, rel=1e-5)

"""From shares and standard deviations that people see back to a latent variable, and its moments by other means."""

from dataclasses import replace

import numpy as np
import pytest
from cases import each_case, few_fast
from scipy import integrate, special, stats

from humeval_power.designs import crossed
from humeval_power.errors import ParametersError
from humeval_power.kernels.latent.moments import score_covariance, score_moments
from humeval_power.latent import LATENT_DEVIATIONS, Latent, Link
from humeval_power.parameters import Parameters
from humeval_power.simulation.study import draw_ratings, replicate_generator

SHARES = (0.05, 0.1, 0.2, 0.4, 0.25)
UNEVEN = Latent(
    thresholds=(-1.2, -0.3, 0.9, 2.1),
    scores=(0.0, 0.1, 0.3, 0.8, 1.0),
    effect=0.6,
    sd_worker_intercept=0.5,
    sd_worker_slope=0.4,
    sd_item_intercept=0.6,
    sd_item_slope=0.5,
)
CASES = {
    "uneven scores": UNEVEN,
    "no effect": replace(UNEVEN, effect=0.0),
    "documents": replace(UNEVEN, sd_document_intercept=0.4, sd_document_slope=0.3),
    "yes and no": Latent(thresholds=(-0.8,), effect=-0.5, sd_worker_slope=0.3, sd_item_intercept=1.2),
    "no workers": replace(UNEVEN, sd_worker_intercept=0.0, sd_worker_slope=0.0),
    "slopes alone": replace(UNEVEN, sd_worker_intercept=0.0, sd_item_intercept=0.0),
    "intercepts alone": replace(UNEVEN, sd_worker_slope=0.0, sd_item_slope=0.0),
}


def seen(latent: Latent) -> tuple[np.ndarray, dict[str, float]]:
    """What people see of it: the mean shares, the deviations and the difference on [0, 1]."""
    observed = Parameters.of_latent(latent)
    deviations = {name: float(getattr(observed, name)) for name in LATENT_DEVIATIONS}
    # what an effect alone makes of a part that is not there is left out, as people would
    for name in LATENT_DEVIATIONS:
        if getattr(latent, name) == 0:
            deviations[name] = 0.0
    return (np.array(latent.shares(0)) + latent.shares(1)) / 2, deviations


@pytest.mark.parametrize("link", ["probit", "logit"])
@few_fast("name", CASES, fast=2)
def test_a_latent_variable_comes_back_from_what_people_see_of_it(name: str, link: Link) -> None:
    latent = replace(CASES[name], link=link)
    shares, deviations = seen(latent)
    back = Latent.of_shares(
        shares, difference=latent.difference, scores=latent.scores, link=link, **deviations
    )
    assert np.allclose(back.thresholds, latent.thresholds, atol=1e-8)
    for part in ("effect", *LATENT_DEVIATIONS):
        assert getattr(back, part) == pytest.approx(getattr(latent, part), abs=1e-6), part


@pytest.mark.parametrize("effect", [0.0, 0.6])
@pytest.mark.parametrize("correlation", [0.7, -0.4])
def test_probit_covariances_are_rectangles_of_a_bivariate_normal_law(
    effect: float, correlation: float
) -> None:
    variance = 1.3
    systems = [
        score_moments(
            side * effect,
            variance,
            np.array(UNEVEN.thresholds),
            np.array(UNEVEN.scores),
            logit=False,
        )
        for side in (-0.5, 0.5)
    ]
    r = correlation * variance / (1 + variance)
    law = stats.multivariate_normal(cov=[[1, r], [r, 1]])
    steps = np.diff(UNEVEN.scores)
    cuts = [(np.array(UNEVEN.thresholds) - side * effect) / np.sqrt(1 + variance) for side in (-0.5, 0.5)]
    below = np.array([[law.cdf([a, b]) for b in cuts[1]] for a in cuts[0]])
    apart = np.outer(stats.norm.cdf(cuts[0]), stats.norm.cdf(cuts[1]))
    expected = steps @ (below - apart) @ steps
    assert score_covariance(*systems, correlation) == pytest.approx(expected, abs=1e-7)


def test_logit_covariances_are_double_integrals() -> None:
    variance, correlation = 1.7, 0.6
    systems = [
        score_moments(mean, variance, np.array(UNEVEN.thresholds), np.array(UNEVEN.scores), logit=True)
        for mean in (-0.3, 0.3)
    ]
    law = stats.multivariate_normal(cov=[[1, correlation], [correlation, 1]])

    def expected_score(eta: float) -> float:
        above = special.expit(eta - np.array(UNEVEN.thresholds))
        return float(UNEVEN.scores[0] + np.diff(UNEVEN.scores) @ above)

    def product(y: float, x: float) -> float:
        spread = np.sqrt(variance)
        values = expected_score(-0.3 + spread * x) * expected_score(0.3 + spread * y)
        return float(values * law.pdf([x, y]))

    expected, _ = integrate.dblquad(product, -8, 8, -8, 8, epsabs=1e-7)
    found = score_covariance(*systems, correlation)
    assert found == pytest.approx(expected - systems[0].mean * systems[1].mean, abs=1e-6)


@pytest.mark.parametrize("link", ["probit", "logit"])
def test_drawn_ratings_have_the_shares_and_the_variances_that_are_promised(link: Link) -> None:
    latent = replace(UNEVEN, link=link)
    promised = Parameters.of_latent(latent)
    design = crossed(12, 15)
    n = 1500
    drawn = np.stack([draw_ratings(promised, design, replicate_generator(7, k)) for k in range(n)])
    table = drawn.reshape(n, 12, 15, 2)
    for system in (0, 1):
        shares = [(table[..., system] == score).mean() for score in latent.scores]
        assert np.allclose(shares, latent.shares(system), atol=0.012)
    # the variance of the mean difference of a complete study, which is what the formula says it is
    difference = (table[..., 1] - table[..., 0]).mean(axis=(1, 2))
    expected = (
        promised.sd_worker_slope**2 / 12
        + promised.sd_item_slope**2 / 15
        + 2 * promised.sd_residual**2 / (12 * 15)
    )
    assert difference.mean() == pytest.approx(promised.difference, abs=4 * np.sqrt(expected / n))
    assert difference.var() == pytest.approx(expected, rel=4 * np.sqrt(2 / n))
    # a worker's own level
    levels = table.mean(axis=(2, 3)) - table.mean(axis=(1, 2, 3))[:, None]
    own = (levels**2).sum(axis=1).mean() / 11
    rest = promised.sd_residual**2 / 30 + promised.sd_worker_item**2 / 15
    assert own - rest == pytest.approx(promised.sd_worker_intercept**2, rel=0.1)


def test_the_same_workers_and_items_are_drawn_whatever_the_family() -> None:
    # large deviations of workers and a steep latent variable leave the workers' order alone
    latent = Latent(
        thresholds=tuple(np.linspace(-9, 9, 60)),
        sd_worker_intercept=4.0,
        scores=tuple(np.linspace(0, 1, 61)),
    )
    numbers = Parameters(
        baseline=0.5,
        effect=0.0,
        sd_worker_intercept=4.0,
        sd_worker_slope=0.0,
        sd_item_intercept=0.0,
        sd_item_slope=0.0,
        sd_residual=0.1,
    )
    design = crossed(8, 20)
    one = draw_ratings(Parameters.of_latent(latent), design, replicate_generator(3, 0))
    other = draw_ratings(numbers, design, replicate_generator(3, 0))
    means = [values.reshape(8, 40).mean(axis=1) for values in (one, other)]
    assert np.corrcoef(means)[0, 1] > 0.98


@each_case("link", ["probit", "logit"])
@each_case(
    ("shares", "values", "words"),
    [
        ((0.5, 0.6), {}, "add up to 1"),
        ((0.5, -0.1, 0.6), {}, "above 0"),
        ((1.0,), {}, "two or more categories"),
        (SHARES, {"scores": (0.0, 1.0)}, "one for each of the 5"),
        (SHARES, {"sd_item_slope": -0.1}, "standard deviation on"),
        (SHARES, {"sd_worker_intercept": 0.3, "sd_item_intercept": 0.3}, "times these standard deviations"),
        (SHARES, {"difference": 0.9}, "largest difference is 0.4"),
        (
            SHARES,
            {"sd_worker_intercept": 0.1, "sd_worker_slope": 0.001, "difference": 0.2},
            "less than the categories alone make",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_words(
    shares: tuple[float, ...], values: dict[str, object], words: str, link: Link
) -> None:
    with pytest.raises(ParametersError, match=words):
        Latent.of_shares(shares, link=link, **values)  # type: ignore[arg-type]


def test_the_deviations_that_would_do_do() -> None:
    deviations = {"sd_worker_intercept": 0.3, "sd_item_intercept": 0.3}
    with pytest.raises(ParametersError) as caught:
        Latent.of_shares(SHARES, **deviations)
    factor = float(caught.value.problems[0].remedy.split()[0])
    assert 0 < factor < 1
    found = Latent.of_shares(SHARES, **{name: factor * value for name, value in deviations.items()})
    assert Parameters.of_latent(found).sd_worker_intercept == pytest.approx(factor * 0.3)

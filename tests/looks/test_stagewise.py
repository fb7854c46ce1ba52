"""Inference after stopping: rpact's results, the multivariate normal integral, the t test, coverage."""

import math

import numpy as np
import pytest
from reference.rpact import rpact_answers
from scipy import stats

from humeval_power.errors import InputError
from humeval_power.studies.looks.boundaries import Boundaries, boundaries
from humeval_power.studies.looks.stagewise import LookEstimate, probability_of_more, stagewise_inference
from humeval_power.studies.looks.stopping_rule import StoppingRule, efficacy_of

THIRDS = (1 / 3, 2 / 3, 1.0)


def rule_bounds(words: str = "pocock", shares=THIRDS, **rule) -> Boundaries:
    return boundaries(StoppingRule(efficacy_of(words), **rule), shares)


def looks_of(*pairs: tuple[float, float]) -> list[LookEstimate]:
    return [LookEstimate(estimate, error) for estimate, error in pairs]


def test_one_look_gives_the_t_test() -> None:
    bounds = rule_bounds(shares=(1.0,))
    look = LookEstimate(0.12, 0.05, 7.0)
    found = stagewise_inference([look], bounds)
    assert found.p_value == pytest.approx(2 * stats.t.sf(2.4, 7), rel=1e-9)
    assert found.estimate == pytest.approx(0.12, abs=1e-9)
    reach = stats.t.isf(0.025, 7) * 0.05
    assert found.interval == pytest.approx((0.12 - reach, 0.12 + reach), abs=1e-9)
    assert look.p_value() == pytest.approx(found.p_value, rel=1e-9)


def test_stopping_at_the_first_look_needs_no_correction() -> None:
    found = stagewise_inference(looks_of((0.1, 0.04)), rule_bounds())
    assert found.p_value == pytest.approx(2 * stats.norm.sf(2.5), rel=1e-9)
    assert found.estimate == pytest.approx(found.naive, abs=1e-9)


def test_the_p_value_is_the_probability_of_stopping_earlier_or_higher() -> None:
    # The obvious way: P(Z1 >= u) + P(-u < Z1 < u, Z2 >= z), a bivariate normal integral of SciPy.
    bounds, z = rule_bounds(), 2.4
    u = bounds.efficacy[0]
    law = stats.multivariate_normal(cov=[[1, math.sqrt(0.5)], [math.sqrt(0.5), 1]])
    tail = stats.norm.sf(u) + law.cdf([u, np.inf], lower_limit=[-u, z])
    found = stagewise_inference(looks_of((0.06, 0.04 * math.sqrt(2)), (z * 0.04, 0.04)), bounds)
    assert found.p_value == pytest.approx(2 * tail, abs=1e-8)


RPACT_LIVE = """
suppressMessages(library(rpact))
design <- getDesignGroupSequential(kMax = 3, alpha = 0.025, sided = 1, typeOfDesign = "P")
second <- sqrt((199 - 99 - 100 * 0.01 * 2) / 99) # so that the SD over both stages is 1 again
data <- getDataset(n = c(100, 100), means = c(0.1, 0.3), stDevs = c(1, second))
r <- suppressMessages(getAnalysisResults(design, data, normalApproximation = TRUE, stage = 2))
cat(sprintf("%.10f", c(r$finalPValues[2], r$medianUnbiasedEstimates[2],
  r$finalConfidenceIntervalLowerBounds[2], r$finalConfidenceIntervalUpperBounds[2])), "\\n")
"""


@pytest.mark.slow
@pytest.mark.r
def test_rpact_run_now_gives_the_same_inference_after_stopping() -> None:
    expected = rpact_answers(RPACT_LIVE)[-1]
    bounds = rule_bounds(alpha=0.025, alternative="greater")
    found = stagewise_inference(looks_of((0.1, 0.1), (0.2, math.sqrt(1 / 200))), bounds)
    # rpact's search for the ends stops at about 1e-6.
    assert (found.p_value, found.estimate, *found.interval) == pytest.approx(expected, abs=2e-6)


def test_a_result_on_the_boundary_has_the_error_spent_as_its_p_value() -> None:
    bounds = rule_bounds("lan-demets-obrien-fleming")
    z = bounds.efficacy[2]
    found = stagewise_inference(looks_of((0.0, 0.1), (0.0, 0.08), (z * 0.05, 0.05)), bounds)
    assert found.p_value == pytest.approx(0.05, abs=1e-8)
    assert found.interval[0] < 0.0 or found.interval[0] == pytest.approx(0.0, abs=1e-3)


def test_the_interval_excludes_zero_exactly_when_p_is_below_alpha() -> None:
    bounds = rule_bounds()
    for value in np.linspace(0.05, 0.15, 11):
        looks = [LookEstimate(0.06, 0.07, 9.0), LookEstimate(float(value), 0.04, 14.0)]
        found = stagewise_inference(looks, bounds)
        assert (found.interval[0] > 0) == (found.p_value < 0.05)


def test_mirrored_results_have_mirrored_answers() -> None:
    bounds = rule_bounds()
    up = stagewise_inference(looks_of((0.05, 0.07), (0.11, 0.04)), bounds)
    down = stagewise_inference(looks_of((-0.05, 0.07), (-0.11, 0.04)), bounds)
    assert down.p_value == pytest.approx(up.p_value, rel=1e-9)
    assert down.estimate == pytest.approx(-up.estimate, rel=1e-6)
    assert down.interval == pytest.approx((-up.interval[1], -up.interval[0]), rel=1e-6)


def test_the_chance_of_more_grows_with_the_effect() -> None:
    above = probability_of_more(looks_of((0.05, 0.07), (0.09, 0.05), (0.08, 0.04)), rule_bounds())
    chances = [above(effect) for effect in np.linspace(-0.3, 0.5, 17)]
    assert all(np.diff(chances) > -2e-8)  # nine digits: the grid of the integration
    assert chances[0] < 1e-6
    assert chances[-1] > 1 - 1e-6


@pytest.mark.slow
def test_intervals_cover_and_the_estimate_is_as_often_too_small_as_too_large() -> None:
    # 400 studies whose looks have known variances, with a drift at which most stop early.
    rng, bounds, drift = np.random.default_rng(11), rule_bounds(), 2.8
    shares = np.array(THIRDS)
    increments = rng.standard_normal((400, 3)) * np.sqrt(np.diff(shares, prepend=0.0))
    scores = np.cumsum(increments, axis=1) + drift * shares
    estimates = scores / shares
    z = scores / np.sqrt(shares)
    covered = above = exaggerated = 0
    for row in range(len(z)):
        crossed = np.flatnonzero(np.abs(z[row]) >= bounds.efficacy)
        last = int(crossed[0]) if len(crossed) else 2
        looks = [LookEstimate(estimates[row, k], 1 / math.sqrt(shares[k])) for k in range(last + 1)]
        found = stagewise_inference(looks, bounds)
        covered += found.interval[0] <= drift <= found.interval[1]
        above += found.estimate > drift
        exaggerated += estimates[row, last] > drift
    # Inside these bands with probability 0.998 at true shares of 0.95 and 0.5.
    low, high = stats.binom.interval(0.998, 400, 0.95)
    assert low <= covered <= high
    low, high = stats.binom.interval(0.998, 400, 0.5)
    assert low <= above <= high
    assert exaggerated > above


@pytest.mark.parametrize(
    ("looks", "says"),
    [
        ([], "0 looks do not fit"),
        (looks_of((0.1, 0.1)) * 4, "4 looks do not fit"),
        (looks_of((0.1, 0.1), (0.1, -1.0)), "look 2"),
        (looks_of((math.nan, 0.1)), "look 1"),
    ],
)
def test_looks_that_cannot_be_used_are_refused(looks, says) -> None:
    with pytest.raises(InputError, match=says):
        stagewise_inference(looks, rule_bounds())

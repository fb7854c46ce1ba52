"""Resamples taken together against each by itself, and Krippendorff's alpha against its pairs of ratings."""

import numpy as np
import pytest
from cases import each_case

from humeval_power.comparisons.agreement.agreement import SharedRatings, alphas, krippendorff_alpha
from humeval_power.inference.item_bootstrap import item_resamples, measure, measure_together

LEVELS = ("interval", "ordinal")


def uneven(values: np.ndarray, *, seed: int = 3) -> SharedRatings:
    draw = np.random.default_rng(seed)
    size = draw.integers(2, 7, 40)
    code = draw.integers(len(values), size=size.sum())
    output, item = np.repeat(np.arange(40), size), np.arange(40) // 2
    one = np.zeros_like(code)
    return SharedRatings(output, code, values, size, item, 9, 0, one, np.zeros(40, dtype=int), np.arange(9))


def by_pairs(shared: SharedRatings, weights: np.ndarray, level: str) -> float:
    """1 - observed / expected from the pairs of ratings, one by one."""
    score, times = shared.values, weights[shared.output]
    if level == "ordinal":
        count = np.bincount(shared.code, times, len(shared.values))
        score = np.cumsum(count) - count / 2
    score, n = score[shared.code], times.sum()
    apart = (score[:, None] - score[None, :]) ** 2
    together = shared.output[:, None] == shared.output[None, :]
    share = times / (shared.size[shared.output] - 1)
    return 1 - (apart * together * share[:, None]).sum() / n / (times @ apart @ times / (n * (n - 1)))


@each_case("level", LEVELS)
@each_case("values", [np.linspace(0, 1, 5), np.linspace(0.3, 0.30001, 11), np.array([0.0, 1.0])])
def test_alpha_of_weighted_outputs_is_that_of_their_pairs(level, values):
    shared = uneven(values)
    weights = np.random.default_rng(4).integers(4, size=(40, 3)).astype(float)
    expected = [by_pairs(shared, column, level) for column in weights.T]
    assert alphas(shared, level)(weights) == pytest.approx(expected, rel=1e-9)
    assert krippendorff_alpha(shared, weights[:, 1], level=level) == pytest.approx(expected[1], rel=1e-9)


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_is_undefined_where_nothing_varies_or_counts(level):
    shared = uneven(np.linspace(0, 1, 5))
    same = shared._replace(code=np.full_like(shared.code, 2))
    assert np.isnan(alphas(same, level)(np.ones((40, 2)))).all()
    found = alphas(shared, level)(np.stack([np.zeros(40), np.ones(40)], axis=1))
    assert np.isnan(found[0])
    assert np.isfinite(found[1])


@pytest.mark.parametrize("n_resamples", [1, 15, 33])
def test_resamples_taken_together_are_those_taken_one_by_one(n_resamples):
    resamples = item_resamples(20, n_resamples=n_resamples, seed=5)
    values = np.random.default_rng(6).normal(size=20)
    one = measure(lambda weights: float(weights @ values / weights.sum()), resamples, reason="")
    many = measure_together(lambda weights: (values @ weights) / weights.sum(axis=0), resamples, reason="")
    assert (many.value, many.low, many.high) == pytest.approx((one.value, one.low, one.high), rel=1e-12)

"""Simulated ratings have the moments of the model and depend on the seed alone."""

import math
from dataclasses import replace

import numpy as np
import pytest
from cases import each_case, few_fast
from hypothesis import given
from hypothesis import strategies as st
from seven import seven

from humeval_power.designs import crossed, from_table, k_per_item
from humeval_power.errors import InputError
from humeval_power.parameters import Parameters, preset
from humeval_power.rules import CARD2020, DecisionRule
from humeval_power.scales import RatingScale
from humeval_power.simulation import study
from humeval_power.simulation.study import (
    draw_many,
    draw_ratings,
    generators,
    philox_keys,
    replicate_generator,
    respond,
    simulate,
)
from humeval_power.studies.power.scenario import RatingStudy

STATED = seven(0.6, 0.1, 0.12, 0.25, 0.08, 0.3, 0.2)
N_DRAWS = 20_000


def model_covariance(parameters, design):
    """Covariance of any two ratings, from rating = b0 + W0 + I0 + (b1 + W1 + I1) x + WI + e."""
    rows = design.assignment
    x = rows.system - 0.5
    same_worker = rows.worker[:, None] == rows.worker
    same_item = rows.item[:, None] == rows.item
    product = np.outer(x, x)
    worker = parameters.sd_worker_intercept**2 + parameters.sd_worker_slope**2 * product
    item = parameters.sd_item_intercept**2 + parameters.sd_item_slope**2 * product
    pair = parameters.sd_worker_item**2 * (same_worker & same_item)
    return same_worker * worker + same_item * item + pair + parameters.sd_residual**2 * np.eye(len(x))


@pytest.mark.slow
@pytest.mark.parametrize(
    "design",
    [
        crossed(3, 3, n_repeats=2),
        k_per_item(4, 6, ratings_per_item=1, paired=False),
        from_table([0, 0, 1, 1, 2, 2, 0], [0, 1, 0, 1, 0, 1, 0], [0, 1, 1, 0, 0, 1, 1]),
    ],
    ids=["crossed with repeats", "split", "table"],
)
@pytest.mark.parametrize("sd_worker_item", [0.0, 0.3])
def test_means_and_covariances_of_every_pair_of_ratings_are_those_of_the_model(design, sd_worker_item):
    parameters = replace(STATED, sd_worker_item=sd_worker_item)
    rng = np.random.default_rng(6)
    draws = np.stack([draw_ratings(parameters, design, rng) for _ in range(N_DRAWS)])
    covariance = model_covariance(parameters, design)
    spread = np.diag(covariance)
    mean = 0.6 + 0.1 * (design.assignment.system - 0.5)
    assert np.abs((draws.mean(axis=0) - mean) / np.sqrt(spread / N_DRAWS)).max() < 4.5
    error = np.sqrt((np.outer(spread, spread) + covariance**2) / N_DRAWS)  # of a Gaussian covariance
    # a few hundred correlated entries: 5 standard errors
    assert np.abs((np.cov(draws.T) - covariance) / error).max() < 5


def test_effect_and_coding_of_the_parameters_are_honoured():
    design = crossed(3, 4)
    doubled = STATED.recoded((-1.0, 1.0))
    one, other = (simulate(stated, design, seed=3) for stated in (STATED, doubled))
    np.testing.assert_allclose(one.rating, other.rating, atol=1e-12)


def test_without_variance_only_the_means_are_left():
    exact = simulate(seven(0.6, 0.2, 0, 0, 0, 0, 0), crossed(2, 3), seed=1)
    np.testing.assert_allclose(exact.rating, np.where(exact.system == 1, 0.7, 0.5), atol=1e-15)


@given(st.integers(0, 2**63), st.sampled_from(["gaussian", "clipped", "likert"]))
def test_the_same_seed_gives_the_same_bytes(seed, response):
    design = k_per_item(4, 6, ratings_per_item=2)
    one, again = (simulate(STATED, design, seed=seed, response=response, points=5) for _ in range(2))
    assert one.rating.tobytes() == again.rating.tobytes()
    other = simulate(STATED, design, seed=seed + 1, response="gaussian")
    assert one.rating.tobytes() != other.rating.tobytes()


def test_replicates_of_a_seed_are_different_streams():
    draws = np.stack([replicate_generator(5, i).standard_normal(2000) for i in range(20)])
    correlation = np.corrcoef(draws)[np.triu_indices(20, 1)]
    assert np.abs(correlation).max() < 4.5 / math.sqrt(2000)
    assert not np.array_equal(draws[0], replicate_generator(6, 0).standard_normal(2000))


@given(st.lists(st.floats(-2, 3), min_size=1, max_size=20), st.integers(2, 11))
def test_likert_responses_are_the_nearest_points_of_the_scale(latent, points):
    answer = respond(np.array(latent), "likert", points=points)
    steps = answer * (points - 1)
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-9)
    assert (answer >= 0).all()
    assert (answer <= 1).all()
    inside = np.clip(latent, 0, 1)
    assert (np.abs(answer - inside) <= 0.5 / (points - 1) + 1e-12).all()


@given(st.lists(st.floats(-2, 3), min_size=1, max_size=20))
def test_clipped_responses_are_cut_and_gaussian_ones_left_alone(latent):
    latent = np.array(latent)
    np.testing.assert_array_equal(respond(latent, "clipped"), np.minimum(np.maximum(latent, 0), 1))
    np.testing.assert_array_equal(respond(latent, "gaussian"), latent)


def test_responses_that_make_no_sense_are_refused():
    with pytest.raises(InputError, match="one of gaussian, clipped, likert; got 'beta'"):
        respond(np.zeros(2), "beta")
    for points in (None, 1, 0):
        with pytest.raises(InputError, match="number of points"):
            respond(np.zeros(2), "likert", points=points)


def test_a_simulated_table_has_names_and_the_scale_asked_for():
    study = simulate(STATED, crossed(2, 12), seed=1, response="likert", points=5)
    frame = study.to_frame(RatingScale.parse("1:5"))
    assert list(frame.columns) == ["worker", "item", "system", "rating"]
    assert set(frame["worker"]) == {"w1", "w2"}
    assert sorted(set(frame["item"]))[:2] == ["i01", "i02"]
    assert set(frame["system"]) == {"A", "B"}
    assert set(frame["rating"]) <= {1, 2, 3, 4, 5}
    np.testing.assert_allclose(frame["rating"], 1 + 4 * study.rating)
    np.testing.assert_array_equal(study.to_frame()["rating"], study.rating)


STUDIES = {
    "crossed": RatingStudy(STATED, crossed(4, 8)),
    "crossed by maximum likelihood": RatingStudy(STATED, crossed(4, 8), rule=CARD2020),
    "crossed likert": RatingStudy(STATED, crossed(3, 6), response="likert", points=5),
    "sparse": RatingStudy(STATED, k_per_item(5, 12, ratings_per_item=2)),
    "sparse clipped": RatingStudy(STATED, k_per_item(5, 12, ratings_per_item=2), response="clipped"),
    "split": RatingStudy(STATED, k_per_item(6, 12, ratings_per_item=2, paired=False)),
    "differences": RatingStudy(STATED, crossed(4, 8), rule=DecisionRule(analysis="differences")),
}
ARRAYS = ("estimate", "standard_error", "df", "p_value", "status", "boundary")


def bytes_of(replicates):
    return [np.ascontiguousarray(getattr(replicates, name)).tobytes() for name in ARRAYS]


@few_fast("name", STUDIES, fast=1)
def test_replicate_i_does_not_depend_on_portions_or_jobs(name):
    study = STUDIES[name]
    whole = study.draw(330, seed=9)
    again = study.draw(330, seed=9, n_jobs=2)
    assert bytes_of(again) == bytes_of(whole)
    for first, count in ((0, 1), (1, 99), (100, 230), (329, 1)):
        part = study.draw(count, seed=9, first=first)
        assert bytes_of(part) == bytes_of(whole.part(slice(first, first + count)))
    assert bytes_of(study.draw(330, seed=10)) != bytes_of(whole)


def test_drawn_mean_squares_do_not_depend_on_portions_across_blocks():
    study = STUDIES["crossed"]
    whole = study.draw(5000, seed=2)
    parts = [
        study.draw(count, seed=2, first=first) for first, count in ((0, 2000), (2000, 100), (2100, 2900))
    ]
    joined = np.concatenate([part.p_value for part in parts])
    assert joined.tobytes() == whole.p_value.tobytes()


def test_drawn_mean_squares_and_simulated_ratings_tell_the_same_story():
    # Two paths behind one contract: p-values of 3,000 studies each, by Kolmogorov and Smirnov.
    from scipy.stats import ks_2samp

    fast = STUDIES["crossed"].draw(3000, seed=1)
    by_ratings = replace(STUDIES["crossed"], design=_as_table(crossed(4, 8))).draw(3000, seed=1)
    for name in ("estimate", "standard_error", "p_value"):
        assert ks_2samp(getattr(fast, name), getattr(by_ratings, name)).pvalue > 0.001
    shares = fast.boundary.mean(axis=0), by_ratings.boundary.mean(axis=0)
    np.testing.assert_allclose(shares[0], shares[1], atol=4 * math.sqrt(0.5 / 3000))


def _as_table(design):
    """The same rows without the label 'crossed', so that the general engine fits them."""
    return replace(design, kind="table", explicit=design.assignment)


# Replicates are drawn together with the numbers that each has alone.


SEEDS = [0, 1, 123456789, 2**31, 2**40 + 5, 2**64 - 1, 2**127 + 9, 2**130 + 1, 2**200 + 77]


@each_case("seed", SEEDS)
@each_case("first", [0, 5, 10**6, 2**32 - 2], ids=["0", "5", "a million", "two words"])
def test_keys_are_those_of_numpy(seed, first):
    children = [np.random.SeedSequence(seed, spawn_key=(child,)) for child in range(first, first + 4)]
    expected = [child.generate_state(2, np.uint64) for child in children]
    np.testing.assert_array_equal(philox_keys(seed, first, 4), expected)


def test_generators_are_those_of_single_replicates_whatever_was_drawn_before():
    for count, rng in zip((3, 8, 1, 5), generators(7, 2, 4), strict=True):
        rng.integers(10, size=count)  # leaves half a word behind
    drawn = [rng.standard_normal(6) for rng in generators(7, 2, 4)]
    expected = [replicate_generator(7, child).standard_normal(6) for child in range(2, 6)]
    np.testing.assert_array_equal(drawn, expected)


def _cases():
    plain = preset("high").recoded().with_difference(0.1)
    yield "plain", plain, k_per_item(7, 20, ratings_per_item=3)
    values = {name: getattr(plain, name) for name in plain.__dataclass_fields__}
    shared = Parameters(**{**values, "sd_worker_item": 0.1})
    yield "pairs", shared, k_per_item(7, 20, ratings_per_item=3)
    correlated = Parameters(**{**values, "correlation_worker": 0.4, "correlation_item": -0.3})
    yield "correlated", correlated, crossed(4, 9)


@pytest.mark.parametrize(
    ("parameters", "design"), [pytest.param(*case[1:], id=case[0]) for case in _cases()]
)
@pytest.mark.parametrize("together", [1, 3, 100])
def test_ratings_are_those_of_single_replicates(parameters, design, together, monkeypatch):
    monkeypatch.setattr(study, "_NUMBERS", together * design.n_ratings)
    ours = draw_many(parameters, design, 11, first=4, n=7)
    expected = [draw_ratings(parameters, design, replicate_generator(11, child)) for child in range(4, 11)]
    np.testing.assert_array_equal(ours, expected)

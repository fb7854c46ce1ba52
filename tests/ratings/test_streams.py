"""Replicates are drawn together with the numbers that each has alone."""

from __future__ import annotations

import numpy as np
import pytest
from cases import each_case

from humeval_power.designs import crossed, k_per_item
from humeval_power.parameters import Parameters, preset
from humeval_power.simulation import study
from humeval_power.simulation.study import (
    draw_many,
    draw_ratings,
    generators,
    philox_keys,
    replicate_generator,
)

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

"""Zeros are found where scipy.optimize.brentq finds them, to the last digit."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from cases import each_case
from scipy.optimize import brentq

from humeval_power.roots import root_between

KINDS: list[Callable[[float, float, float], Callable[[float], float]]] = [
    lambda a, b, c: lambda x: a * (x - b) ** 3 + c,
    lambda a, b, c: lambda x: math.tanh(a * (x - b)) + c * 1e-3,
    lambda a, b, c: lambda x: math.exp(min(a * (x - b), 50.0)) - abs(c),
    lambda a, b, c: lambda x: a if x > b else -a - abs(c),
    lambda a, b, c: lambda x: math.sin(a * (x - b)) - c / 10,
    lambda a, b, _: lambda x: a if x > b else -a,
    lambda a, b, c: lambda x: a if x > b else -a * math.exp(min(abs(c), 40.0)),
    lambda a, b, c: lambda x: 1e-150 * (a * (x - b) ** 3 + c),  # products of values are 0
]


def outcome(find: Callable[..., float], *arguments: object, **tolerances: float) -> object:
    try:
        return find(*arguments, **tolerances)
    except (ValueError, RuntimeError) as error:
        return type(error)


@each_case("kind", range(len(KINDS)))
def test_a_zero_is_brentqs_to_the_last_digit(kind: int) -> None:
    rng, n_found = np.random.default_rng(kind), 0
    for _ in range(400):
        a, b, c = (rng.normal(size=3) * 10 ** rng.uniform(-2, 2, 3)).tolist()
        low, high = sorted((rng.normal(size=2) * 10 ** rng.uniform(-2, 2)).tolist())
        tolerances = {"xtol": 10 ** rng.uniform(-15, -5), "rtol": 10 ** rng.uniform(-15, -6)}
        function = KINDS[kind](a, b, c)
        for given in (tolerances, {}):
            found = outcome(root_between, function, low, high, **given)
            assert found == outcome(brentq, function, low, high, **given)
        n_found += isinstance(found, float)
    assert n_found > 30  # of the others most have one sign at both ends


def test_a_zero_is_brentqs_where_lengths_and_values_are_equal() -> None:
    # Powers of two, without rounding: ends with values of one size, steps and brackets as long as the tolerance.
    rng, n_found = np.random.default_rng(9), 0
    for _ in range(2000):
        jump, slope, at = *(2.0 ** rng.integers(-4, 5, 2)), rng.integers(-16, 17) / 4
        low, high = -float(rng.integers(20)), float(rng.integers(1, 20))
        tolerances = {"xtol": 2.0 ** rng.integers(-8, 2), "rtol": rng.choice([2.0**-50, 0.125, 0.5])}
        for function in (
            lambda x, at=at, jump=jump, slope=slope: jump if x > at else -slope,
            lambda x, at=at, jump=jump, slope=slope: (jump if x > at else slope) * (x - at),
            lambda x, at=at, slope=slope: slope * (x - at) ** 3,
            lambda x, at=at, slope=slope: slope * (x - at - 0.1) ** 9,  # steps shorter than the tolerance
        ):
            found = outcome(root_between, function, low, high, **tolerances)
            assert found == outcome(brentq, function, low, high, **tolerances)
            n_found += isinstance(found, float)
    assert n_found > 5000


def test_a_zero_at_an_end_is_that_end() -> None:
    assert root_between(lambda x: x - 2, 2, 5) == 2
    assert root_between(lambda x: x - 5, 2, 5) == root_between(lambda x: 5 - x, 2, 5) == 5


def test_values_of_numpy_are_as_good_as_floats() -> None:
    assert root_between(lambda x: np.float64(x) ** 2 - 2, 0, 2) == pytest.approx(math.sqrt(2), abs=4e-12)


def test_the_same_sign_at_both_ends_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"same sign at 1\.0 and at 2\.0"):
        root_between(lambda x: x, 1.0, 2.0)


def test_a_value_that_is_none_is_an_error() -> None:
    with pytest.raises(ValueError, match="no value at 0"):
        root_between(lambda x: x if x else math.nan, -1.0, 1.0)


def test_a_zero_that_is_not_closed_in_upon_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="in 100 steps"):
        root_between(lambda x: 1.0 if x > 0 else -1.0, -1e300, 1.0, xtol=5e-324, rtol=0.0)

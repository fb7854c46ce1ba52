"""Spending functions: their closed forms, their limits, and what each look may spend."""

import math

import numpy as np
import pytest
from cases import each_case
from scipy import stats

from humeval_power.errors import InputError
from humeval_power.studies.looks.stopping_rule import (
    HwangShihDeCani,
    ObrienFlemingSpending,
    PocockSpending,
    PowerSpending,
    SpendingFunction,
    TabulatedSpending,
    increments,
)

SHARES = np.array([0.0, 1e-6, 0.01, 0.25, 0.5, 0.99, 1.0])
TABLE = TabulatedSpending((0.2, 0.6, 1.0), (0.1, 0.1, 1.0))


@pytest.mark.parametrize("level", [0.025, 0.2])
def test_spending_functions_are_those_of_the_literature(level: float) -> None:
    with np.errstate(divide="ignore"):
        forms: dict[SpendingFunction, np.ndarray] = {
            ObrienFlemingSpending(): 2 * stats.norm.sf(stats.norm.isf(level / 2) / np.sqrt(SHARES)),
            PocockSpending(): level * np.log(1 + (math.e - 1) * SHARES),
            PowerSpending(): level * SHARES**2,
            PowerSpending(0.5): level * np.sqrt(SHARES),
            PowerSpending(50): level * SHARES**50,
            HwangShihDeCani(): level * (1 - np.exp(4 * SHARES)) / (1 - math.exp(4)),
            HwangShihDeCani(1): level * (1 - np.exp(-SHARES)) / (1 - math.exp(-1)),
            HwangShihDeCani(0): level * SHARES,
            HwangShihDeCani(-40): level * (1 - np.exp(40 * SHARES)) / (1 - math.exp(40)),
            HwangShihDeCani(40): level * (1 - np.exp(-40 * SHARES)) / (1 - math.exp(-40)),
            TABLE: level * np.interp(SHARES, [0, 0.2, 0.6, 1], [0, 0.1, 0.1, 1]),
        }
    for function, expected in forms.items():
        # Near 0 the forms here, not those of the package, lose digits.
        assert [function(t, level) for t in SHARES] == pytest.approx(expected, rel=1e-9), str(function)


def test_a_parameter_near_none_is_as_good_as_none() -> None:
    # exp(-gamma t) - 1 keeps its digits: (1 - exp(-gamma t)) / (1 - exp(-gamma)) -> t, relative error gamma / 2.
    assert HwangShihDeCani(1e-12)(0.3, 0.05) == pytest.approx(0.015, rel=1e-11)


@each_case(
    ("make", "said"),
    [
        (lambda: HwangShihDeCani(-40.01), "-40 to 40"),
        (lambda: HwangShihDeCani(40.01), "-40 to 40"),
        (lambda: HwangShihDeCani(math.nan), "-40 to 40"),
        (lambda: PowerSpending(0.0), "between 0 and 50"),
        (lambda: PowerSpending(-1.0), "between 0 and 50"),
        (lambda: PowerSpending(50.01), "between 0 and 50"),
        (lambda: TabulatedSpending((0.5, 0.5, 1), (0.1, 0.2, 1)), "increasing shares of information"),
        (lambda: TabulatedSpending((0.6, 0.3, 1), (0.1, 0.2, 1)), "increasing shares of information"),
        (lambda: TabulatedSpending((0.0, 1.0), (0.0, 1.0)), "increasing shares of information"),
        (lambda: TabulatedSpending((0.3, 0.6, 1), (0.2, 0.1, 1)), "do not fall"),
        (lambda: TabulatedSpending((0.5, 1), (-0.1, 1)), "do not fall"),
        (lambda: TabulatedSpending((0.5, 1), (0.5, 0.9)), "1 for both at the end"),
        (lambda: TabulatedSpending((0.5, 1), (0.5, 1.1)), "1 for both at the end"),
        (lambda: TabulatedSpending((0.5, 0.9), (0.5, 1)), "1 for both at the end"),
        (lambda: TabulatedSpending((0.5, 1), (1,)), r"got \[0\.5, 1\] and \[1\]"),
        (lambda: TabulatedSpending((1,), (0.5, 1)), r"got \[1\] and \[0\.5, 1\]"),
    ],
)
def test_functions_that_do_not_spend_the_whole_error_are_refused(make, said) -> None:
    with pytest.raises(InputError, match=said):
        make()


def test_looks_spend_what_is_added_and_nothing_beyond_the_planned_end() -> None:
    found = increments(PocockSpending(), [0.2, 0.7, 1.3, 1.5], 0.05)
    spent = [0.05 * math.log(1 + (math.e - 1) * t) for t in (0.0, 0.2, 0.7, 1.0, 1.0)]
    assert found == pytest.approx(np.diff(spent), rel=1e-12)
    assert increments(TABLE, [0.2, 0.6, 1.0], 0.05) == pytest.approx([0.005, 0, 0.045])
    assert TABLE(1.5, 0.05) == 0.05


def test_a_function_that_falls_or_spends_too_much_is_refused() -> None:
    def falling(t: float, level: float) -> float:
        return level * (1.5 - t)

    def lavish(t: float, level: float) -> float:
        return level * t * 1.001

    for function, spent in ((falling, "0.05, 0.025"), (lavish, "0.025025, 0.05005")):
        with pytest.raises(InputError, match=rf"end at 0\.05; it gave {spent}\.$"):
            increments(function, [0.5, 1.0], 0.05)


def test_rounding_is_no_fall_and_no_excess() -> None:
    steps = increments(lambda t, level: level * (1 + 1e-12 * (0.75 - t)), [0.5, 1.0], 0.05)
    assert steps == [pytest.approx(0.05), 0.0]

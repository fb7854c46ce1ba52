"""Quantiles of Student's t, of one df and of many."""

import math

import numpy as np
import pytest
from scipy import stats

from humeval_power.inference.student_t import critical_value, critical_values, detectable_ratio


def test_quantiles_are_those_of_the_distribution_and_of_the_normal_one_at_infinite_df() -> None:
    df, tail = np.array([0.7, 1.0, 4.5, 60.0, math.inf]), np.array([[0.2], [0.025], [1e-6]])
    many = critical_values(df, tail)
    assert many == pytest.approx(stats.t.isf(tail, df), rel=1e-9)
    assert many.tolist() == [[critical_value(one, level) for one in df] for level in tail[:, 0]]
    assert many[:, 1] == pytest.approx(1 / np.tan(np.pi * tail[:, 0]), rel=1e-9), "one df: Cauchy's"


@pytest.mark.parametrize("df", [1.0, 2.3, 8.1, 60.0, 1e6, math.inf])
def test_a_detectable_effect_is_found_with_its_power(df) -> None:
    for power in (0.5, 0.8, 0.95):
        ratio, critical = detectable_ratio(df, 0.025, power), critical_value(df, 0.025)
        law = stats.norm(ratio) if math.isinf(df) else stats.nct(df, ratio)
        assert law.sf(critical) == pytest.approx(power, abs=1e-6)

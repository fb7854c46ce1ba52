"""The record of how repeated runs vary."""

import math

import numpy as np
import pytest
from cases import each_case

from humeval_power.errors import ParametersError
from humeval_power.runs_parameters import RunsParameters

NESTED = RunsParameters(kind="nested", sd_item=0.3, icc=0.2, sd_run_a=0.4, sd_run_b=0.5)


def test_the_variance_of_nested_runs_is_that_of_simulated_studies() -> None:
    rng = np.random.default_rng(1)
    studies, clusters, size, runs = 20_000, 10, 4, (3, 2)
    shared = rng.normal(size=(studies, clusters, 1)) * math.sqrt(0.2)
    own = rng.normal(size=(studies, clusters, size)) * math.sqrt(0.8)
    noise_a = rng.normal(size=(studies, clusters, size)) * 0.4 / math.sqrt(runs[0])
    noise_b = rng.normal(size=(studies, clusters, size)) * 0.5 / math.sqrt(runs[1])
    means = (0.3 * (shared + own) + noise_b - noise_a).mean(axis=(1, 2))
    told = NESTED.error_variance(n_items=40, runs_a=3, runs_b=2, cluster_size=4)
    # a variance of 20,000 normal draws has a relative error of 1 %
    assert means.var() == pytest.approx(told, rel=0.035)


def test_the_variance_of_crossed_prompts_is_that_of_simulated_studies() -> None:
    rng = np.random.default_rng(2)
    studies, items, prompts = 20_000, 12, 5
    crossed = RunsParameters(kind="crossed", sd_item=0.3, sd_prompt_slope=0.1, sd_residual=0.2)
    values = 0.1 * rng.normal(size=(studies, 1, prompts)) + 0.3 * rng.normal(size=(studies, items, 1))
    values = values + 0.2 * math.sqrt(2) * rng.normal(size=(studies, items, prompts))
    told = crossed.error_variance(n_items=items, runs_a=prompts)
    assert values.mean(axis=(1, 2)).var() == pytest.approx(told, rel=0.035)


def test_endless_runs_leave_the_items_and_endless_items_leave_the_prompts() -> None:
    assert NESTED.error_variance(n_items=50, runs_a=math.inf) == pytest.approx(0.09 / 50)
    assert NESTED.removable_share(runs_a=4) == pytest.approx((0.16 + 0.25) / 4 / (0.09 + 0.41 / 4))
    crossed = RunsParameters(kind="crossed", sd_item=0.3, sd_prompt_slope=0.1, sd_residual=0.2)
    assert crossed.error_variance(n_items=math.inf, runs_a=5) == pytest.approx(0.01 / 5)


def test_a_record_comes_back_as_it_was() -> None:
    binary = RunsParameters(kind="crossed", family="binary", sd_item=0.5, sd_prompt_slope=0.2, baseline=0.7)
    for each in (NESTED, binary):
        assert RunsParameters.from_dict(each.as_dict()) == each


@each_case(
    ("values", "names"),
    [
        ({"kind": "both", "sd_item": -1.0}, ("kind", "sd_item")),
        ({"kind": "nested", "sd_item": 1.0, "sd_prompt_slope": 0.1}, ("sd_prompt_slope",)),
        ({"kind": "crossed", "sd_item": 1.0, "sd_run_a": 0.1, "icc": 0.0}, ("sd_run_a",)),
        ({"kind": "nested", "sd_item": math.nan, "icc": 1.5}, ("sd_item", "icc")),
        ({"kind": "nested", "family": "binary", "sd_item": 0.2}, ("baseline",)),
        ({"sd_itm": 1.0}, ("sd_itm", "kind", "sd_item")),
        ({"kind": "nested", "sd_item": True}, ("sd_item",)),
    ],
)
def test_what_cannot_be_is_refused_all_at_once(values: dict[str, object], names: tuple[str, ...]) -> None:
    with pytest.raises(ParametersError) as refused:
        RunsParameters.from_dict(values)
    for name in names:
        assert name in str(refused.value)

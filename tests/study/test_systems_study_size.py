"""The smallest study of several systems, asked for in Python at another difference or by another rule."""

from dataclasses import replace

import pytest
from cases import each_case

from humeval_power.designs import crossed
from humeval_power.errors import InputError
from humeval_power.parameters import preset
from humeval_power.rules import DEFAULT_RULE
from humeval_power.studies.power.calls import study_size
from humeval_power.studies.power.growth import counts_of
from humeval_power.studies.power.systems_study import SystemsStudy, required_systems_size
from humeval_power.systems import SystemsParameters

STUDY = SystemsStudy(
    SystemsParameters.of_parameters(preset("high"), 3).with_pattern("one", 0.3), crossed(4, 4, n_systems=3)
)


def test_a_size_at_another_difference_is_that_of_the_study_with_it() -> None:
    asked = study_size(STUDY, "workers", effect=0.2, items=80, method="analytic").content()
    other = study_size(STUDY.with_effect(0.2), "workers", items=80, method="analytic").content()
    assert repr(asked) == repr(other)  # not a number is equal to itself there
    assert asked["workers"] > study_size(STUDY, "workers", items=80, method="analytic").content()["workers"]


def test_a_rule_beside_that_of_several_systems_is_refused() -> None:
    rule = replace(DEFAULT_RULE, alpha=0.01)
    with pytest.raises(InputError, match="by the rule of their study"):
        study_size(STUDY, "workers", items=80, rule=rule, method="analytic")


@each_case("start", [2, 5, 30, 400])
@each_case("target", [0.3, 0.8, 0.9])
def test_the_smallest_number_is_that_of_trying_each_from_whatever_start(target: float, start: int) -> None:
    study = STUDY.with_effect(0.6)
    counts = counts_of(crossed(start, 40, n_systems=3))
    found = required_systems_size(study, "workers", counts, power=target, proves=False).counts
    assert found.n_workers == next(
        n
        for n in range(2, 200)
        if replace(study, design=crossed(n, 40, n_systems=3)).by_formula().power >= target
    )

"""One look as a pure step: what stops a study, what is refused, and what is remarked."""

import math
from dataclasses import replace

import pytest
from scipy import stats

from humeval_power.errors import InputError
from humeval_power.studies.looks.boundaries import boundaries
from humeval_power.studies.looks.stagewise import stagewise_inference
from humeval_power.studies.looks.stopping_rule import PValueFutility, StoppingRule, WangTsiatis, efficacy_of
from humeval_power.studies.monitor.state import LookData, Monitoring
from humeval_power.studies.monitor.step import changed_rows, estimates, step, taken_boundaries

SPENDING = StoppingRule(efficacy_of("lan-demets-obrien-fleming"))
MAXIMUM = 2500.0  # a standard error of 0.02 at the end


def study(rule: StoppingRule = SPENDING, **values: object) -> Monitoring:
    state = Monitoring(
        rule=rule,
        unit="items",
        shares=(1 / 3, 2 / 3, 1.0),
        fractions=(1 / 3, 2 / 3, 1.0),
        maximum_information=MAXIMUM,
        effect=0.06,
    )
    return replace(state, **values)


def seen(share: float, estimate: float, information: float | None = None, **values: object) -> LookData:
    """Data with a standard error that the share of information gives, and a z test."""
    known = (information or share) * MAXIMUM
    error = 1 / math.sqrt(known)
    p_value = 2 * float(stats.norm.sf(abs(estimate) / error))
    data = LookData(100, 10, 30, share, known, estimate, error, math.inf, p_value)
    return replace(data, **values)


def test_a_study_without_an_effect_goes_through_all_looks() -> None:
    state = study()
    decisions = []
    for share in (1 / 3, 2 / 3, 1.0):
        state, look = step(state, seen(share, 0.004))
        decisions.append(look.decision)
    assert decisions == ["continue", "continue", "end-nothing-shown"]
    assert [look.planned for look in state.looks] == [1, 2, 3]
    assert state.ended


def test_the_levels_are_those_of_the_boundaries_at_the_information_seen() -> None:
    state, first = step(study(), seen(1 / 3, 0.004, information=0.5))
    state, second = step(state, seen(2 / 3, 0.004, information=0.8))
    expected = boundaries(SPENDING, (0.5, 0.8, 1.0)).nominal
    assert (first.fraction, second.fraction) == pytest.approx((0.5, 0.8))
    assert (first.nominal, second.nominal) == pytest.approx(tuple(expected[:2]), rel=1e-9)


def test_a_clear_effect_stops_early_and_then_nothing_more_is_tested() -> None:
    state, _ = step(study(), seen(1 / 3, 0.01))
    state, look = step(state, seen(2 / 3, 0.09))
    assert look.decision == "stop-success"
    with pytest.raises(InputError, match="was stopped for success at look 2"):
        step(state, seen(1.0, 0.09), unplanned="curious")


def test_futility_stops_and_can_be_overruled_with_a_reason() -> None:
    rule = replace(SPENDING, futility=PValueFutility(0.5))
    state, look = step(study(rule), seen(1 / 3, 0.0001))
    assert look.decision == "stop-futility"
    with pytest.raises(InputError, match="does not bind"):
        step(state, seen(2 / 3, 0.05))
    state, look = step(state, seen(2 / 3, 0.05), unplanned="the committee wants to know")
    assert "went on after it could have been stopped" in " ".join(look.remarks)


def test_a_look_between_the_planned_ones_needs_a_reason_and_spends_its_part() -> None:
    state, _ = step(study(), seen(1 / 3, 0.01))
    with pytest.raises(InputError, match=r"Look 2 is due at 66\.7 %.*50 % of the planned items are in"):
        step(state, seen(0.5, 0.01))
    state, extra = step(state, seen(0.5, 0.01), unplanned="a reviewer asked")
    assert extra.planned is None
    assert extra.remarks == ("the look was not planned",)
    state, second = step(state, seen(2 / 3, 0.01))
    assert second.planned == 2
    spent = boundaries(SPENDING, (1 / 3, 0.5, 2 / 3, 1.0)).nominal
    assert second.nominal == pytest.approx(spent[2], rel=1e-9)
    assert second.nominal < boundaries(SPENDING, (1 / 3, 2 / 3, 1.0)).nominal[1]


def test_fixed_constants_allow_no_other_look() -> None:
    with pytest.raises(InputError, match="Only spending functions allow another look"):
        step(study(StoppingRule(WangTsiatis(0.5))), seen(0.2, 0.0), unplanned="curious")


def test_information_is_made_to_grow() -> None:
    state, _ = step(study(), seen(1 / 3, 0.01, information=0.6))
    state, second = step(state, seen(2 / 3, 0.01, information=0.5))
    assert second.fraction == pytest.approx(0.601)


def test_a_variance_that_happens_to_be_small_does_not_move_the_boundary() -> None:
    _, usual = step(study(), seen(1 / 3, 0.01))
    _, lucky = step(study(), seen(1 / 3, 0.01, standard_error=0.01))
    assert lucky.nominal == usual.nominal
    assert "12 times the information that the plan expected" in lucky.remarks[0]


def test_a_skipped_look_and_a_late_one_are_remarked() -> None:
    _, look = step(study(), seen(0.8, 0.01))
    assert look.planned == 2
    assert look.remarks[0] == "planned look 1 was not taken"
    assert look.remarks[1].startswith("planned at 66.7 % of the items, taken at 80 %")


def test_an_early_end_is_said_and_spends_what_its_information_allows() -> None:
    state, _ = step(study(), seen(1 / 3, 0.01))
    state, last = step(state, seen(0.9, 0.01, final=True))
    assert last.decision == "end-nothing-shown"
    assert last.fraction == pytest.approx(0.9)
    assert "the study ended with 90 % of the planned items" in last.remarks
    expected = boundaries(SPENDING, (1 / 3, 0.9, 1.0)).nominal[1]
    assert last.nominal == pytest.approx(expected, rel=1e-9)
    assert taken_boundaries(state).spent[1] < 0.05


def test_an_end_on_the_same_ratings_cannot_be_declared_because_they_look_good() -> None:
    state, first = step(study(), seen(2 / 3, 0.055))
    assert first.decision == "continue"  # p = .025, but the boundary is .012
    _, last = step(state, seen(2 / 3, 0.055, final=True))
    assert last.decision == "end-nothing-shown"
    assert last.nominal < first.nominal


def test_an_early_end_under_fixed_constants_meets_the_next_boundary() -> None:
    rule = StoppingRule(WangTsiatis(0.0))
    state, _ = step(study(rule), seen(1 / 3, 0.01))
    _, last = step(state, seen(0.5, 0.01, final=True))
    assert last.nominal == pytest.approx(boundaries(rule, (1 / 3, 2 / 3, 1.0)).nominal[1], rel=1e-9)


def test_inference_after_stopping_gets_the_looks_that_were_taken() -> None:
    state, _ = step(study(), seen(1 / 3, 0.01))
    state, _ = step(state, seen(2 / 3, 0.09))
    assert [look.estimate for look in estimates(state)] == [0.01, 0.09]
    assert taken_boundaries(state).information == pytest.approx((1 / 3, 2 / 3, 1.0))


def test_a_look_that_was_passed_over_is_none_of_those_before_the_end() -> None:
    """With looks at 2/3 and at the end, p is the chance to stop at the former, or to see as much at the end."""
    rule = StoppingRule(WangTsiatis(0.0))
    state, _ = step(study(rule), seen(2 / 3, 0.01))
    state, last = step(state, seen(1.0, 0.035))
    bounds = taken_boundaries(state)
    planned = boundaries(rule, (1 / 3, 2 / 3, 1.0))
    assert bounds.information == pytest.approx((2 / 3, 1.0))
    assert bounds.efficacy == pytest.approx(planned.efficacy[1:])
    early, late = bounds.efficacy[0], last.data.z
    together = stats.multivariate_normal(cov=[[1.0, math.sqrt(2 / 3)], [math.sqrt(2 / 3), 1.0]])
    above = stats.norm.sf(early) + together.cdf([early, -late], lower_limit=[-early, -math.inf])
    found = stagewise_inference(estimates(state), bounds)
    assert found.p_value == pytest.approx(2 * above, rel=1e-3)


def test_fixed_boundaries_of_an_early_end_are_those_it_met() -> None:
    rule = StoppingRule(WangTsiatis(0.0))
    state, _ = step(study(rule), seen(1 / 3, 0.01))
    state, last = step(state, seen(0.5, 0.01, final=True))
    assert taken_boundaries(state).nominal[1] == pytest.approx(last.nominal, rel=1e-9)


def test_a_calibrated_factor_makes_every_level_smaller() -> None:
    _, plain = step(study(), seen(1 / 3, 0.01))
    _, strict = step(study(factor=0.5), seen(1 / 3, 0.01))
    assert strict.nominal == pytest.approx(plain.nominal / 2, rel=1e-6)


def test_conditional_power_grows_with_what_is_assumed_of_the_rest() -> None:
    _, look = step(study(), seen(1 / 3, 0.03))
    power = look.conditional_power
    assert power["null"] < power["trend"] < power["design"] < 1


def test_no_standard_error_is_no_look() -> None:
    with pytest.raises(InputError, match="no standard error"):
        step(study(), seen(1 / 3, 0.01, standard_error=math.nan))


def test_ratings_that_vanished_or_changed_are_found() -> None:
    vanished, changed = changed_rows({"a": "1", "b": "2", "c": "3"}, {"a": "1", "c": "4", "d": "5"})
    assert list(vanished) == ["b"]
    assert list(changed) == ["c"]

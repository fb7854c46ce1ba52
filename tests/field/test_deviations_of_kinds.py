"""Repeats and attention checks are no ratings that were left out."""

from planned_studies import assigned, of_two

from humeval_power.ratings import ratings_from_table
from humeval_power.studies.analyze.family import deviations
from humeval_power.studies.field.calls import rehearse


def test_repeats_and_checks_are_no_deviation_and_another_system_is() -> None:
    plan = of_two()
    found = rehearse(plan, assigned(plan).to_frame()).to_frame()
    ratings = ratings_from_table(found, systems=plan.pair, scale=plan.scale)
    assert any("repeats and attention checks" in step.reason for step in ratings.flow)
    assert deviations(plan, ratings, rule=plan.rule) == ()
    more = found.assign(system=found["system"].mask(found["item"] == "i01", "third"))
    other = ratings_from_table(more, systems=plan.pair, scale=plan.scale)
    assert "ratings left out" in [one.what for one in deviations(plan, other, rule=plan.rule)]

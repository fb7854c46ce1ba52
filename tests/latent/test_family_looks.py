"""Looks at a running study whose plan analyses categories."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from category_tables import FIVE, drawn_frame
from cli import run

from humeval_power.ratings import ratings_from_table
from humeval_power.scales import RatingScale
from humeval_power.studies.fit.many_systems import fit_and_test
from humeval_power.studies.monitor.step import look_data
from humeval_power.studies.plan.files import read_plan


def test_a_look_is_by_the_family_of_the_plan_and_has_its_t_and_p(tmp_path: Path) -> None:
    frame = drawn_frame(FIVE, 10, 30, seed=2)
    frame.to_csv(tmp_path / "pilot.csv", index=False)
    words = "--scale 1:5:5 --systems base,new --effect 0.1 --items 30:30 --workers 10:10 --ratings-per-item 10:10"
    words += " --cost-per-rating 0.1 --looks 2 --simulations 50 --date 2026-01-02 -q"
    plan_path = tmp_path / "plan.json"
    run("plan", tmp_path / "pilot.csv", *words.split(), "-o", plan_path, code=None)
    linear = read_plan(plan_path)
    plan = replace(linear, rule=replace(linear.rule, family="ordinal"))
    first = sorted(frame["item"].unique())[:15]
    part = ratings_from_table(frame[frame["item"].isin(first)], scale=RatingScale.parse("1:5"))
    found = look_data(part, plan)
    _, tested = fit_and_test(part, plan.rule)
    assert tested.latent is not None
    assert found.p_value == tested.p_value
    assert found.estimate / found.standard_error == pytest.approx(
        tested.latent.estimate / tested.latent.standard_error, rel=1e-9
    )
    assert found.estimate != look_data(part, linear).estimate

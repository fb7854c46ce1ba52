"""Several systems whose ratings are analysed as categories: each pair by its own fit, corrected together."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from cases import each_case
from cli import refusal_of, run_json, text_of

from humeval_power.designs import crossed, from_table, k_per_item
from humeval_power.errors import InputError
from humeval_power.parameters import Parameters
from humeval_power.ratings import ratings_from_table
from humeval_power.rules import ComparisonFamily, DecisionRule
from humeval_power.scales import RatingScale
from humeval_power.simulation.study import Losses
from humeval_power.studies.fit.many_systems import compare_systems
from humeval_power.studies.power.replication import Replication
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.studies.power.systems_replication import SystemsReplication
from humeval_power.studies.power.systems_study import SystemsStudy
from humeval_power.systems import SystemsParameters

ORDINAL = DecisionRule(family="ordinal")
TWO = Parameters(
    baseline=0.5,
    effect=0.15,
    sd_worker_intercept=0.12,
    sd_worker_slope=0.05,
    sd_item_intercept=0.15,
    sd_item_slope=0.05,
    sd_residual=0.2,
)
PAIRS = ((0, 1), (0, 2), (1, 2))


def uneven(n_systems):
    """Workers with 4 to 24 ratings, of which a tenth is missing."""
    rows = k_per_item(7, 24, ratings_per_item=3, n_systems=n_systems).assignment
    kept = np.random.default_rng(0).random(len(rows.worker)) < 0.9
    return from_table(rows.worker[kept], rows.item[kept], rows.system[kept], n_systems=n_systems)


def replication(design, n_systems, *, rule=ORDINAL, points=5, **more) -> SystemsReplication:
    parameters = SystemsParameters.of_parameters(TWO, n_systems).with_pattern("one", 0.15)
    pairs = PAIRS if n_systems == 3 else ((0, 1),)
    return SystemsReplication(parameters, design, ComparisonFamily(), pairs, rule, "likert", points, **more)


@each_case(
    ("design", "rule", "points"),
    [
        (crossed(5, 12, n_systems=3), ORDINAL, 5),
        (uneven(3), ORDINAL, 5),
        (uneven(3), replace(ORDINAL, link="logit"), 4),
        (uneven(3), replace(ORDINAL, family="binary"), 2),
        (k_per_item(3, 9, ratings_per_item=2, n_systems=3), ORDINAL, 5),  # variances at zero
    ],
)
def test_a_simulated_study_is_fitted_and_decided_as_the_analysis_of_its_ratings_is(design, rule, points):
    study = replication(design, 3, rule=rule, points=points)
    ratings = study.ratings(range(2), seed=4)
    contrasts = study.fit_rows(ratings).contrasts
    for row, values in enumerate(ratings):
        frame = pd.DataFrame(
            {
                "worker": design.assignment.worker,
                "item": design.assignment.item,
                "system": np.array(["A", "B", "C"])[design.assignment.system],
                "rating": 1 + values * (points - 1),
            }
        )
        table = ratings_from_table(frame, scale=RatingScale.parse(f"1:{points}"), require_pair=False)
        for place, one in enumerate(compare_systems(table, rule=rule)):
            if contrasts.status[row] != 0:
                assert one.test.reason
                continue
            t = contrasts.estimate[row, place] / contrasts.adjusted[row, place]
            assert t == pytest.approx(one.test.estimate / one.test.standard_error, rel=1e-3, abs=1e-3)
            assert contrasts.estimate[row, place] == pytest.approx(one.test.estimate, rel=1e-3, abs=1e-4)
            assert contrasts.kenward_roger[row, place] == pytest.approx(one.test.df, rel=1e-2)


def test_two_systems_are_fitted_as_a_study_of_two_is():
    design = uneven(2)
    several = replication(design, 2)
    alone = Replication(
        several.parameters.pair(0, 1), design, response="likert", points=5, family="ordinal"
    )
    ratings = several.ratings(range(6), seed=2)
    contrasts, fits = several.fit_rows(ratings).contrasts, alone.fit(ratings)
    usable = fits.status == 0
    assert usable.sum() >= 4
    assert np.array_equal(contrasts.status, fits.status)
    assert contrasts.estimate[usable, 0] == pytest.approx(fits.difference[usable], rel=1e-12)
    t = contrasts.estimate[usable, 0] / contrasts.adjusted[usable, 0]
    assert t == pytest.approx(fits.estimate[usable] / fits.adjusted[usable], rel=1e-12)


def test_a_study_with_losses_is_fitted_to_the_rows_that_are_left():
    design = k_per_item(8, 24, ratings_per_item=3, n_systems=3)
    study = replication(design, 3, losses=Losses(missing=0.2))
    back = study.collected(3, 0)
    rows = design.assignment
    left = from_table(rows.worker[back.kept], rows.item[back.kept], rows.system[back.kept], n_systems=3)
    whole = replication(left, 3).fit_rows(back.rating[back.kept][None]).contrasts
    for found, expected in zip(study.fits(1, seed=3).contrasts, whole, strict=True):
        assert np.allclose(found, expected, rtol=1e-9, equal_nan=True)


@pytest.mark.slow
def test_a_difference_that_is_not_there_is_claimed_as_rarely_as_alpha_says():
    parameters = SystemsParameters.of_parameters(TWO, 3).with_pattern("one", 0.15)
    study = SystemsStudy(
        parameters, crossed(12, 30, n_systems=3), rule=ORDINAL, goal="any", response="likert", points=5
    )
    power = study.simulated(n_simulations=400, seed=1, n_jobs=2)
    assert power.n_failed == 0
    assert power.false_claim < 0.05 + 4 * np.sqrt(0.05 * 0.95 / 400)  # A and B are alike, Holm over 3 tests
    linear = replace(study, rule=DecisionRule()).simulated(n_simulations=400, seed=1, n_jobs=2)
    assert power.power == pytest.approx(linear.power, abs=0.1)  # few at the ends: numbers tell as much


SIZE = "--preset low --workers 8 --items 20 --ratings-per-item 3 --effect 0.2 --simulations 20 --seed 3"


def test_the_power_is_that_of_the_study_in_python_and_of_any_number_of_processes():
    line = f"power {SIZE} --n-systems 3 --response likert --points 5 --family ordinal"
    one, two = (run_json(*line.split(), "--jobs", jobs) for jobs in ("1", "2"))
    assert one["power"] == two["power"]
    assert one["simulated"]["pairs"] == two["simulated"]["pairs"]
    assert one["analytic"] is None
    assert "after Holm's correction over 3 tests" in text_of(*line.split())


@each_case(
    ("more", "says"),
    [
        ("--family ordinal", "these parameters give none: give a Likert response."),
        ("--family ordinal --response likert --points 5 --model joint", "No model of all systems together"),
        (
            "--family ordinal --response likert --points 5 --margin 0.1 --alternative non-inferior",
            "another latent effect in each pair",
        ),
        ("--family binary --response likert --points 5", "for ratings of two values; these have 5"),
        ("--shares 0.2,0.3,0.5", "say their means, with --response likert"),
    ],
)
def test_what_has_no_model_is_refused_with_the_reason(more, says):
    assert says in refusal_of("power", *SIZE.split(), "--n-systems", "3", *more.split())


def test_a_plan_says_that_no_formula_has_categories_and_what_simulates_them():
    words = "--preset low --items 20:40:10 --max-workers 12 --effect 0.2 --cost-per-rating 0.1"
    said = refusal_of("plan", *words.split(), "--n-systems", "3", "--family", "ordinal")
    assert "none is of the family 'ordinal'" in said
    assert "'power' simulates a size with a Likert response" in said


def test_a_formula_is_asked_for_categories_of_no_study():
    parameters = SystemsParameters.of_parameters(TWO, 3).with_pattern("one", 0.15)
    study = SystemsStudy(parameters, crossed(6, 12, n_systems=3), rule=ORDINAL, response="likert", points=5)
    assert not study.has_formula
    assert not replace(study, response="gaussian", points=None).has_formula
    with pytest.raises(InputError, match="give none"):
        replace(study, response="gaussian", points=None).simulated(n_simulations=2)
    assert RatingStudy(TWO, crossed(6, 12), rule=ORDINAL, response="likert", points=5).rule.is_latent

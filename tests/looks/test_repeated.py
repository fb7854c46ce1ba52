"""Studies that their intervals stop: published values, closed forms, rpact, slow twins, and what is refused."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from cases import each_case, examples, few_fast
from cli import run
from hypothesis import given
from hypothesis import strategies as st
from reference.rpact import rpact_answers
from scipy import integrate, optimize, stats

import humeval_power as hp
from humeval_power.designs import crossed
from humeval_power.errors import InputError
from humeval_power.latent import Latent
from humeval_power.parameters import Parameters
from humeval_power.rules import DEFAULT_RULE, DecisionRule
from humeval_power.saying.document import Paragraph
from humeval_power.scales import RatingScale
from humeval_power.studies.looks.boundaries import Boundaries, boundaries
from humeval_power.studies.looks.rating_looks import LookSchedule, check_stopping, look_rows, plan_looks
from humeval_power.studies.looks.repeated import (
    REASONS,
    RepeatedEndings,
    StopWhen,
    at_looks,
    check_offered,
    check_study,
    half_widths,
    interval_of,
    planned_half_widths,
    reason_of,
    repeated_points,
    repeated_power,
    stop_when_of,
)
from humeval_power.studies.looks.replicates import Looks, RatingLooks
from humeval_power.studies.looks.result import stops_blocks
from humeval_power.studies.looks.result_anytime import half_width_at, tuned_spread
from humeval_power.studies.looks.stopping_rule import StoppingRule, efficacy_of, futility_of
from humeval_power.studies.plan.plan import stops_simulations, stops_workload
from humeval_power.studies.power.formula import EffectPrecision, power_at
from humeval_power.studies.power.required import design_of
from humeval_power.study_counts import StudyCounts

SQUARE = StoppingRule(efficacy_of("kim-demets:2"))
HIGH5, LOW5 = (
    (0.11, 0.14, 0.26),
    (0.04, 0.13, 0.16),
)  # SDs of differences and of a rating (Card et al. 2020)


def study(workers: tuple[int, ...], items: int, sds=HIGH5, effect: float = 0.0) -> RatingLooks:
    worker, item, residual = sds
    values = Parameters(
        baseline=0.5,
        effect=effect,
        sd_worker_intercept=0.1,
        sd_worker_slope=worker,
        sd_item_intercept=0.1,
        sd_item_slope=item,
        sd_residual=residual,
    )
    looks = Looks("workers", tuple(count / workers[-1] for count in workers))
    return RatingLooks(values, crossed(workers[-1], items), looks)


def bounds_of(source: RatingLooks) -> Boundaries:
    return boundaries(SQUARE, [row.information_share for row in look_rows(source)])


def test_boundaries_of_the_worked_example_are_those_of_the_methods() -> None:
    source = study((5, 10, 15, 20), 100)
    known = [1 / row.precision.variance for row in look_rows(source)]
    assert known == pytest.approx([346.452328, 648.845056, 915.080527, 1151.277918], abs=1e-6)
    found = bounds_of(source)
    assert found.shares == pytest.approx([0.300928, 0.563587, 0.794839, 1], abs=1e-6)
    assert found.efficacy == pytest.approx([2.838832, 2.480241, 2.266939, 2.108485], abs=1e-6)
    assert found.nominal == pytest.approx([0.00453, 0.01313, 0.02339, 0.03499], abs=5e-6)


@pytest.mark.r
def test_boundaries_of_the_worked_example_are_those_of_rpact() -> None:
    found = bounds_of(study((5, 10, 15, 20), 100))
    shares = ", ".join(map(repr, found.shares))
    ((*z,),) = rpact_answers(
        f"d <- rpact::getDesignGroupSequential(informationRates = c({shares}), alpha = 0.05, sided = 2, "
        "typeOfDesign = 'asKD', gammaA = 2); cat(sprintf('%.12f', d$criticalValues), '\\n')"
    )
    assert found.efficacy == pytest.approx(z, abs=1e-6)


@pytest.mark.slow
def test_all_intervals_cover_as_often_as_a_multivariate_normal_says() -> None:
    found = bounds_of(study((5, 10, 15, 20), 100))
    t = np.array(found.shares)
    correlation = np.sqrt(np.minimum.outer(t, t) / np.maximum.outer(t, t))
    law = stats.multivariate_normal(cov=correlation, maxpts=2_000_000, abseps=1e-9, releps=1e-9, seed=1)
    upper = np.array(found.efficacy)
    assert law.cdf(upper, lower_limit=-upper) == pytest.approx(0.95, abs=2e-6)


@pytest.mark.parametrize(
    ("sds", "workers", "items", "times", "expected"),
    [
        (HIGH5, (5, 10, 15, 20), 100, 0.0, (0.043, 0.957, 17.6)),
        (LOW5, (5, 10, 15, 20), 100, 0.0, (0.042, 0.959, 15.6)),
        (HIGH5, (6, 9, 12), 50, 0.0, (0.040, 0.960, 10.3)),
        (HIGH5, (5, 10, 15, 20), 100, 1.5, (0.970, 0.981, 11.4)),
    ],
)
def test_the_long_run_is_that_of_an_independent_simulation(sds, workers, items, times, expected) -> None:
    # 6,000 and 1,000 studies of a prototype with factor 1: four of their standard errors.
    source = study(workers, items, sds)
    last = look_rows(source)[-1].precision
    d80 = optimize.brentq(lambda at: power_at(at, last).power - 0.8, 0, 1)
    plain = float(half_widths(np.array(last.standard_error), np.array(last.df), np.array(0.05)))
    (point,) = repeated_points(
        source,
        bounds_of(source),
        StopWhen(True, None, 1.25 * plain),
        DEFAULT_RULE,
        effects=[times * d80],
        n_simulations=8192,
        seed=3,
    )
    shows, covers, mean = expected
    assert point.power == pytest.approx(shows, abs=0.024)
    assert point.coverage == pytest.approx(covers, abs=0.02)
    assert point.workers == pytest.approx(mean, abs=0.5)


def test_intervals_cover_together_at_every_effect_as_often_as_without_one() -> None:
    source = study((6, 9, 12), 50)
    points = repeated_points(
        source,
        bounds_of(source),
        StopWhen(True, 0.1, 0.12),
        DEFAULT_RULE,
        effects=[0.0, 0.05, 0.2],
        n_simulations=2000,
        seed=4,
    )
    assert len({point.together for point in points}) == 1
    assert 1 - points[0].together >= points[0].power  # a false positive is an interval that does not cover
    assert all(point.coverage >= point.together for point in points)


FIVE, NINE_IN_TEN = (0.02, 0.05, 0.1, 0.28, 0.55), (0.1, 0.9)  # shares; means 0.82 and 0.90


def in_categories(shares: tuple[float, ...], effect: float = 0.0, **sds: float) -> Parameters:
    """Ratings in categories with the variances of `HIGH5`."""
    known = {"sd_worker_slope": HIGH5[0], "sd_item_slope": HIGH5[1], **sds}
    common = {"sd_worker_intercept": 0.1, "sd_item_intercept": 0.1}
    return Parameters.of_latent(Latent.of_shares(shares, difference=effect, **common, **known))


def test_ratings_in_categories_are_planned_as_numbers_of_the_same_variances() -> None:
    workers = Looks("workers", (0.5, 0.75, 1.0))
    source = RatingLooks(in_categories(FIVE, 0.1), crossed(12, 50), workers)
    numbers = source.as_numbers()
    assert numbers.by_mean_squares
    assert not source.by_mean_squares
    assert [row.precision.variance for row in look_rows(numbers)] == [
        row.precision.variance for row in look_rows(source)
    ]
    how = {"stop_when": StopWhen(), "n_simulations": 1000}
    one, two = (hp.looks.study(each, SQUARE, **how) for each in (source, numbers))
    assert repr(one.stops) == repr(two.stops)  # NaN where nothing ended a study
    assert one.plan.bounds.nominal == pytest.approx(two.plan.bounds.nominal)
    drawn = source.draw_looks(2000, seed=1)  # the ratings themselves: the same mean, nearly the same error
    assert drawn.estimate[:, -1].mean() == pytest.approx(0.1, abs=0.005)
    assert drawn.estimate[:, -1].std() == pytest.approx(
        look_rows(numbers)[-1].precision.standard_error, rel=0.06
    )


@each_case(
    ("shares", "holds"),
    [(FIVE, True), (FIVE[::-1], True), ((0.2, 0.8), True), ((0.16, 0.84), True), (NINE_IN_TEN, False),
     (NINE_IN_TEN[::-1], False), ((0.01, 0.03, 0.06, 0.15, 0.75), False)],
)  # fmt: skip
def test_categories_with_a_mean_near_an_end_are_refused_with_what_then_covers(shares, holds) -> None:
    source = RatingLooks(in_categories(shares), crossed(12, 20), Looks("workers", (0.5, 0.75, 1.0)))
    offered = {"several": False, "exclusions": False, "documents": False, "settings": (source.parameters,)}
    if holds:
        check_offered(**offered)
        return
    with pytest.raises(
        InputError, match=r"nearer than 0.15 to an end of the scale: of such studies 0.90 to 0.94"
    ):
        check_offered(**offered)
    with pytest.raises(InputError, match=f"{source.parameters.baseline:.2f} on"):
        hp.looks.study(source, SQUARE, stop_when=StopWhen(), n_simulations=400)


@pytest.mark.slow
@pytest.mark.parametrize(("shares", "low", "high"), [(FIVE, 0.935, 0.975), (NINE_IN_TEN, 0.88, 0.935)])
def test_intervals_of_ratings_in_categories_cover_together_unless_they_lie_at_an_end(
    shares, low, high
) -> None:
    # 2,000 studies: 4 standard errors about 0.95 (the levels are at most as bold) and about the 0.91 of the page
    source = RatingLooks(in_categories(shares), crossed(12, 50), Looks("workers", (0.5, 0.75, 1.0)))
    plan = plan_looks(source.as_numbers(), SQUARE, calibration="always", n_simulations=8192, seed=1)
    last = look_rows(source)[-1].precision
    effect = optimize.brentq(lambda at: power_at(at, last).power - 0.8, 0, 1)
    looks = source.with_effect(effect).draw_looks(2000, seed=2)
    looks = looks.part(looks.usable)
    half = half_widths(looks.standard_error, looks.df, plan.bounds.nominal)
    together = (np.abs(looks.estimate - effect) <= half).all(axis=1).mean()
    assert low <= together <= high


def test_an_interval_excludes_no_difference_where_the_p_value_passes_its_boundary() -> None:
    source = study((6, 9, 12), 50)
    bounds = bounds_of(source).scaled(0.8)
    looks = source.draw_looks(2048, seed=5).shifted(0.08)
    half = half_widths(looks.standard_error, looks.df, bounds.nominal)
    passes = looks.p_value <= bounds.nominal
    assert passes.any()
    assert not passes.all()
    assert np.array_equal(np.abs(looks.estimate) >= half, passes)


RULES = (
    DEFAULT_RULE,
    DecisionRule(alternative="non-inferior", margin=0.05),
    DecisionRule(alternative="equivalent", margin=0.2),
)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.alternative)
@pytest.mark.parametrize(
    "wanted", ["decision", "half_width=0.11", "decision, equivalence=0.2, half_width=0.12"]
)
def test_endings_are_those_of_a_walk_through_the_looks(rule, wanted) -> None:
    stop_when = stop_when_of(wanted)
    if rule.margin is not None:
        stop_when = replace(stop_when, equivalence=None)
    source, effect = study((6, 9, 12), 50), 0.07
    bounds = bounds_of(source)
    looks = source.draw_looks(300, seed=6).shifted(effect)
    found = RepeatedEndings.of(looks, bounds, stop_when, rule, effect)
    for place in range(len(looks)):
        for look in range(3):
            df, error = looks.df[place, look], looks.standard_error[place, look]
            reach = stats.t.isf(bounds.nominal[look] / 2, df) * error
            low, high = looks.estimate[place, look] - reach, looks.estimate[place, look] + reach
            if rule.margin is None:
                claim = low >= 0 or high <= 0
            elif rule.alternative == "non-inferior":
                claim = low > -0.05
            else:
                claim = low > -0.2 and high < 0.2
            near = stop_when.equivalence is not None and max(-low, high) < 0.2
            narrow = stop_when.half_width is not None and reach <= stop_when.half_width
            reason = (
                "decision"
                if claim and stop_when.decision
                else "equivalence"
                if near
                else "half-width"
                if narrow
                else "end"
            )
            if reason != "end" or look == 2:
                break
        assert (REASONS[found.reason[place]], found.look[place]) == (reason, look)
        assert found.half[place] == pytest.approx(reach, rel=1e-9)
        assert found.shown[place] == claim
        assert reason_of((low, high), stop_when, rule) == reason


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.alternative)
@few_fast("effect", [0.06, 0.0, 0.1])
def test_power_by_formula_is_that_of_simulation_where_workers_are_many(rule, effect) -> None:
    source = study((40, 60, 80), 100, (0.2, 0.14, 0.26))
    bounds, precisions = bounds_of(source), [row.precision for row in look_rows(source)]
    for stop_when in (StopWhen(), StopWhen(True, None, 0.055)):
        (point,) = repeated_points(
            source, bounds, stop_when, rule, effects=[effect], n_simulations=8192, seed=7
        )
        by_formula = repeated_power(precisions, bounds, stop_when, rule, effect=effect)
        simulated = point.power / 2 if rule.margin is None and not effect else point.power
        assert by_formula == pytest.approx(simulated, abs=0.025)


def test_power_of_known_variances_is_a_multivariate_normal_integral() -> None:
    found = boundaries(SQUARE, (0.4, 0.7, 1.0))
    precisions = [EffectPrecision(0.01 / share, math.inf, 9, 10) for share in found.shares]
    by_formula = repeated_power(precisions, found, StopWhen(), DEFAULT_RULE, effect=0.25)
    t = np.array(found.shares)
    correlation = np.sqrt(np.minimum.outer(t, t) / np.maximum.outer(t, t))
    mean, upper = 2.5 * np.sqrt(t), np.array(found.efficacy)
    law = stats.multivariate_normal(mean, correlation, maxpts=2_000_000, abseps=1e-9, releps=1e-9, seed=1)
    assert by_formula == pytest.approx(1 - law.cdf(upper, lower_limit=-upper), abs=2e-5)


def test_a_margin_is_tested_at_half_of_alpha_a_side() -> None:
    one = boundaries(SQUARE, (1.0,))
    precision = EffectPrecision(0.01**2, 40.0, 9, 10)
    rule = DecisionRule(alternative="non-inferior", margin=0.03)
    expected = stats.nct.sf(stats.t.isf(0.025, 40), 40, 0.03 / 0.01)
    assert repeated_power([precision], one, StopWhen(), rule, effect=0.0) == pytest.approx(
        expected, abs=1e-6
    )
    assert at_looks(rule) == DEFAULT_RULE


def test_factors_are_the_least_over_worker_sds_from_none_to_four_times_the_planned() -> None:
    plan = plan_looks(study((5, 10, 15, 20), 100), SQUARE, calibration="always", n_simulations=4000, seed=8)
    assert plan.calibration is not None
    # 5,000 studies: .90 at the planned SD, .77 at twice.
    assert plan.calibration.at_plan == pytest.approx(0.90, abs=0.1)
    assert plan.calibration.used == min(1.0, *plan.calibration.by_worker_sd)
    assert plan.calibration.used == pytest.approx(0.77, abs=0.1)
    assert plan.calibration.worker_sds == pytest.approx([0, 0.0275, 0.055, 0.11, 0.22, 0.44])


def test_a_width_below_that_of_the_last_look_is_refused_and_says_what_it_will_be() -> None:
    source = study((5, 10, 15, 20), 100)
    bounds = bounds_of(source)
    last = planned_half_widths([row.precision for row in look_rows(source)], bounds)[-1]
    check_stopping(source, bounds, StopWhen(False, None, last * 1.001), DEFAULT_RULE)
    scale = RatingScale.parse("1:5")
    with pytest.raises(
        InputError, match=rf"half_width=0.24 points can be met at no look.*{4 * last:.3g} points"
    ):
        check_stopping(source, bounds, StopWhen(True, None, 0.06), DEFAULT_RULE, scale=scale)
    floor = stats.t.isf(bounds.nominal[-1] / 2, 19) * 0.11 / math.sqrt(20)
    with pytest.raises(InputError, match=rf"these reach {floor:.3g} with any number of items"):
        check_stopping(source, bounds, StopWhen(True, None, floor * 0.99), DEFAULT_RULE)
    with pytest.raises(InputError, match=r"equivalence=0\.02 can be met at no look"):
        check_stopping(source, bounds, StopWhen(True, 0.02), DEFAULT_RULE)


def test_reasons_are_read_in_points_of_a_scale_and_written_as_they_were() -> None:
    scale = RatingScale.parse("1:5")
    found = stop_when_of("decision, equivalence=0.3, half_width=0.4", scale)
    assert found == StopWhen(True, 0.075, 0.1)
    assert found.words(scale) == "decision, equivalence=0.3, half_width=0.4"
    assert str(found) == "decision, equivalence=0.075, half_width=0.1"
    assert stop_when_of(" half_width = 0.15 ") == StopWhen(False, None, 0.15)


@examples(40)
@given(st.booleans(), st.none() | st.floats(1e-3, 0.9), st.none() | st.floats(1e-3, 0.9))
def test_words_of_reasons_name_them_again(decision, equivalence, half_width) -> None:
    if not decision and equivalence is None and half_width is None:
        return
    found = StopWhen(decision, equivalence, half_width)
    scale = RatingScale.parse("0:100")
    again = stop_when_of(found.words(scale), scale)
    assert again.decision == decision
    assert again.words(scale) == found.words(scale)


@each_case(
    ("text", "message"),
    [
        ("desicion", "Did you mean decision"),
        ("half-width=0.1", "Did you mean half_width"),
        ("decision=1", "decision takes no number"),
        ("half_width", "half_width needs its size"),
        ("half_width=", "must be a number above 0"),
        ("half_width=nan", "must be a number above 0"),
        ("half_width=-1", "must be a number above 0"),
        ("half_width=1", "below 1, on"),
        ("equivalence=0.1, equivalence=0.2", "named twice"),
        ("", "There is no reason to stop ''"),
        ("decision,", "There is no reason to stop ''.*leave out the comma"),
        ("decision half_width=0.1", "Put a comma between"),
        ("decision equivalence", "Put a comma between"),
    ],
)
def test_reasons_typed_wrong_are_refused_with_what_there_is(text, message) -> None:
    with pytest.raises(InputError, match=message):
        stop_when_of(text)


def test_looks_that_these_intervals_were_not_simulated_for_are_refused() -> None:
    workers = Looks("workers", (0.5, 1.0))
    spending = efficacy_of("kim-demets:2")
    with pytest.raises(InputError, match="by items: what the same workers add"):
        LookSchedule(Looks("items", (0.5, 1.0)), spending, stop_when=StopWhen())
    with pytest.raises(InputError, match="needs a spending function"):
        LookSchedule(workers, efficacy_of("pocock"), stop_when=StopWhen())
    with pytest.raises(InputError, match="futility cannot bind"):
        LookSchedule(workers, spending, futility_of("p:0.5:binding"), stop_when=StopWhen())
    schedule = LookSchedule(workers, spending, stop_when=StopWhen(True, 0.1))
    for rule, message in (
        (DecisionRule(alternative="greater"), "a test with two ends"),
        (DecisionRule(family="ordinal"), "not offered for ratings analysed as ordinal"),
        (DecisionRule(df="normal"), "Kenward and Roger's df"),
        (RULES[2], "leave equivalence out"),
    ):
        with pytest.raises(InputError, match=message):
            schedule.rule(rule)
    with pytest.raises(InputError, match="The first look has 3 workers"):
        check_study(study((3, 6), 20))
    with pytest.raises(InputError, match="One worker is not a look"):
        check_study(study((5, 6), 20))


def test_the_bias_at_a_decision_is_that_of_decisions_for_what_is_true() -> None:
    source, effect = study((6, 9, 12), 50), 0.02
    bounds = bounds_of(source)
    (point,) = repeated_points(
        source, bounds, StopWhen(), DEFAULT_RULE, effects=[effect], n_simulations=2048, seed=3
    )
    ended = RepeatedEndings.of(
        source.draw_looks(2048, seed=3).shifted(effect), bounds, StopWhen(), DEFAULT_RULE, effect
    )
    early = [
        (estimate - effect)
        for estimate, look, shown in zip(ended.estimate, ended.look, ended.shown, strict=True)
        if shown and look < 2
    ]
    right = [bias for bias in early if bias + effect > 0]
    assert 0 < len(right) < len(early)  # some decide for the other system
    assert point.decision_bias == pytest.approx(np.mean(right))


def test_with_a_margin_what_is_shown_is_no_false_positive() -> None:
    source = study((6, 9, 12), 50)
    points = repeated_points(
        source, bounds_of(source), StopWhen(), RULES[2], effects=[0.0], n_simulations=512, seed=3
    )

    def said(rule: DecisionRule) -> str:
        blocks = stops_blocks(points, 12, rule, None)
        return next(block.text for block in blocks if isinstance(block, Paragraph))

    assert "share of studies that show equivalence within 0.2" in said(RULES[2])
    assert "false positives" not in said(RULES[2])
    assert "false positives" in said(DEFAULT_RULE)


def test_studies_to_calibrate_by_are_as_many_as_a_minute_has_within_limits() -> None:
    rated_once = RatingLooks(
        study((6, 12), 50).parameters,
        design_of(StudyCounts(200, 250, 1)),
        Looks("workers", (1 / 3, 2 / 3, 1.0)),
    )
    few = RatingLooks(rated_once.parameters, design_of(StudyCounts(20, 40, 3)), rated_once.looks)
    assert stops_simulations(rated_once, None) == 400
    assert stops_simulations(rated_once, 150) == 150
    assert stops_simulations(few, None) == 2000
    assert stops_workload(few, n_simulations=2000).seconds < 60
    assert stops_workload(rated_once, n_simulations=400).seconds > 60
    assert stops_simulations(study((6, 9, 12), 50), None) == 20_000


def test_a_study_of_several_criteria_is_looked_at_and_calibrated_at_the_level_of_one(tmp_path) -> None:
    (tmp_path / "study.toml").write_text(
        'schema = "humeval_power/study/1"\n[ratings]\ncriteria = ["fluency", "adequacy"]\n[variation]\n'
        'preset = "low"\n[effect]\neffect = 0.1\n[design]\nworkers = 12\nitems = 20\n'
    )
    asked = ("--study", tmp_path / "study.toml", "--simulations", 200)
    for command in (("looks", "study", "--looks", "2"), ("more", "calibrate")):
        shared = run(*command, *asked)
        assert "any one of 2 criteria, tested at alpha 0.025" in " ".join(shared.output.split())
        assert "two-sided, alpha 0.025" in " ".join(shared.stdout.split())
        each = run(*command, *asked, "--correct-over", "criterion")
        assert "two-sided, alpha 0.05" in " ".join(each.stdout.split())


def test_where_intervals_stop_a_study_its_long_run_is_theirs() -> None:
    asked = (
        "looks",
        "study",
        "--preset",
        "low",
        "--workers",
        12,
        "--items",
        20,
        "--effect",
        0.2,
        "--looks",
        2,
    )
    asked = (*asked, "--stop-when", "decision, half_width=0.2", "--simulations", 400)
    found = json.loads(run(*asked, "--json").stdout)
    assert [one["effect"] for one in found["stops"]] == pytest.approx([0, 0.1, 0.2, 0.3])
    assert found["operating_characteristics"] == found["numbers_of_looks"] == []
    page = run(*asked).stdout
    assert "What it takes" in page
    assert "Long run" not in page
    assert "How many looks" not in page


def test_an_interval_at_no_level_has_no_ends() -> None:
    assert interval_of(0.1, 0.2, 9.0, 0.0) == (-math.inf, math.inf)
    assert reason_of((-math.inf, math.inf), StopWhen(), DEFAULT_RULE) == "end"


# The sequence over workers.


def test_the_sequence_has_the_widths_of_the_methods() -> None:
    expected = {6: 0.206012613, 10: 0.121831131, 20: 0.077414942}
    for workers, width in expected.items():
        assert half_width_at(np.array(0.1), workers, 1.382) == pytest.approx(width, abs=3e-9)
    assert [round(tuned_spread(m), 2) for m in (10, 20, 30)] == [1.38, 0.52, 0.32]
    assert math.isinf(half_width_at(np.array(0.1), 2, 1.382))


def bayes_factor(t: float, m: int, g: float) -> float:
    """Of an effect drawn from N(0, g) SDs against none, for the t statistic of m values (Gonen et al. 2005)."""
    ratio = t * t / (m - 1)
    return float((1 + m * g) ** -0.5 * ((1 + ratio) / (1 + ratio / (1 + m * g))) ** (m / 2))


def test_the_bayes_factor_is_a_mixture_of_noncentral_t_densities() -> None:
    m, g, t = 10, 1.382, 2.7

    def weighted(effect: float) -> float:
        return stats.nct.pdf(t, m - 1, effect * math.sqrt(m)) * stats.norm.pdf(effect, scale=math.sqrt(g))

    mixture = integrate.quad(weighted, -8, 8, epsabs=1e-12)[0] / stats.t.pdf(t, m - 1)
    assert bayes_factor(t, m, g) == pytest.approx(mixture, rel=1e-7)


@examples(40)
@given(st.integers(6, 60), st.floats(0.3, 3.0))
def test_at_the_end_of_the_sequence_the_bayes_factor_is_one_over_alpha(workers, g) -> None:
    width = float(half_width_at(np.array(1.0), workers, g))
    if math.isfinite(width):
        assert bayes_factor(width * math.sqrt(workers), workers, g) == pytest.approx(20, rel=1e-9)


@pytest.mark.slow
def test_the_sequence_errs_in_five_of_a_hundred_studies_at_most() -> None:
    values = np.random.default_rng(1).normal(size=(4000, 400))
    g, ever = tuned_spread(10), np.zeros(4000, dtype=bool)
    for m in range(3, 401):
        spread = values[:, :m].std(axis=1, ddof=1)
        ever |= np.abs(values[:, :m].mean(axis=1)) > half_width_at(spread, m, g)
    assert 0.015 <= ever.mean() <= 0.05

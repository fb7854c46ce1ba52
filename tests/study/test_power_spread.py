"""What the power of a study hangs on: the variances that are assumed, or that a pilot leaves open."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from seven import seven

from humeval_power.assumptions import Assumed, Assumptions
from humeval_power.designs import crossed, k_per_item
from humeval_power.differences import Difference
from humeval_power.estimation.fitting import fit
from humeval_power.ratings import ratings_from_table
from humeval_power.saying.answer_words import PILOT_ITEMS, PILOT_WORKERS, spread_words
from humeval_power.scales import RatingScale
from humeval_power.simulation.study import simulate
from humeval_power.studies.fit.wald import effect_test
from humeval_power.studies.plan.calls import pilot
from humeval_power.studies.power.assurance import power_spread
from humeval_power.studies.power.calls import study_power, study_size
from humeval_power.studies.power.files import usual_assumptions
from humeval_power.studies.power.formula import analytic_power
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.studies.power.study_content import beyond_pilot, setting_labels
from humeval_power.uncertainty import Stratum, VarianceUncertainty

EFFECT = 0.06
DESIGN = k_per_item(25, 150, ratings_per_item=3)
SCALE = RatingScale(1, 5)
PILOT = seven(0.5, 0.15, 0.05, 0.11, 0.05, 0.14, 0.2)


def study_of(parameters, design=DESIGN):
    return RatingStudy(parameters.with_difference(EFFECT), design)


def formula(parameters):
    return analytic_power(parameters.with_difference(EFFECT), DESIGN).power


def complete_pilot(parameters, workers, items):
    """What a complete pilot says whose mean squares are what the parameters expect."""
    values = parameters.recoded()
    noise = values.sd_residual**2
    squares = (
        (values.sd_worker_intercept**2 + noise / (2 * items), workers - 1, 1 / (2 * items)),
        (values.sd_worker_slope**2 + 2 * noise / items, workers - 1, 2 / items),
        (values.sd_item_intercept**2 + noise / (2 * workers), items - 1, 1 / (2 * workers)),
        (values.sd_item_slope**2 + 2 * noise / workers, items - 1, 2 / workers),
    )
    strata = tuple(Stratum(value, float(df), weight) for value, df, weight in squares)
    df = 2 * (workers - 1) * (items - 1)
    return VarianceUncertainty(strata=strata, residual=noise, residual_df=float(df))


def of_pilot(parameters, uncertainty):
    return Assumptions((Assumed("pilot", parameters, uncertainty=uncertainty, origin="pilot"),))


def test_the_ends_of_what_is_usual_are_the_least_and_the_most_of_its_entries():
    usual = usual_assumptions()
    found = power_spread(study_of(usual.entries[0].parameters), usual)
    each = [formula(one.parameters) for one in usual.entries]
    assert len(each) == 3
    assert (found.low, found.high, found.known_from) == (min(each), max(each), "assumed")
    assert found.low < each[0] < found.high


def test_a_pilot_leaves_open_the_middle_eighty_of_a_hundred_by_hand():
    """Each draw by a loop: variances of the mean squares over chi-square, then the normal law of the estimate."""
    truth = seven(0.5, 0.1, 0.05, 0.11, 0.05, 0.14, 0.26)
    sure = complete_pilot(truth, 60, 200)
    found = power_spread(study_of(truth, crossed(60, 200)), of_pilot(truth, sure))
    rng = np.random.default_rng(3)
    powers = []
    for _ in range(4000):
        noise = sure.residual * sure.residual_df / rng.chisquare(sure.residual_df)
        worker, item = (
            max(0.0, one.value * one.df / rng.chisquare(one.df) - one.residual_weight * noise)
            for one in (sure.strata[1], sure.strata[3])
        )
        se = np.sqrt(worker / 60 + item / 200 + 2 * noise / (60 * 200))
        powers.append(stats.norm.sf(stats.norm.ppf(0.975) - EFFECT / se))
    # 0.02: the t law with some 100 df against the normal one, and both Monte Carlo errors
    assert (found.low, found.high) == pytest.approx(np.quantile(powers, [0.1, 0.9]), abs=0.02)
    assert found.known_from == "pilot"


def test_the_pilot_that_is_advised_does_narrow_what_is_assumed():
    usual = usual_assumptions()
    typical = usual.entries[0].parameters
    study = study_of(typical)
    before = power_spread(study, usual)
    after = power_spread(study, of_pilot(typical, complete_pilot(typical, PILOT_WORKERS, PILOT_ITEMS)))
    more = power_spread(study, of_pilot(typical, complete_pilot(typical, 3 * PILOT_WORKERS, PILOT_ITEMS)))
    assert before.high - before.low > after.high - after.low > more.high - more.low


def test_a_pilot_with_a_variance_of_zero_says_less_and_unbalanced_ones_too():
    boundary = simulate(seven(0.5, 0.1, 0.05, 0.1, 0.0, 0.1, 0.3), crossed(4, 30), seed=2)
    few = fit(boundary)
    assert few.uncertainty is not None
    found = power_spread(study_of(few.parameters), of_pilot(few.parameters, few.uncertainty))
    assert found.low < formula(few.parameters)
    uneven = fit(
        simulate(seven(0.5, 0.1, 0.05, 0.1, 0.06, 0.1, 0.3), k_per_item(12, 41, ratings_per_item=4), seed=4)
    )
    spread = power_spread(study_of(uneven.parameters), of_pilot(uneven.parameters, uneven.uncertainty))
    assert 0 < spread.low < formula(uneven.parameters) < spread.high <= 1


def test_one_set_of_variances_that_was_chosen_has_no_spread():
    one = usual_assumptions().entries[0]
    assert one.uncertainty is not None  # another study's: nothing that this one has measured
    assert power_spread(study_of(one.parameters), Assumptions((one,))) is None
    assert power_spread(study_of(one.parameters), of_pilot(one.parameters, None)) is None


def test_power_and_size_say_it_and_record_the_same():
    usual = usual_assumptions()
    about = usual.entries[0].parameters
    power = study_power(study_of(about), method="analytic", assumed=usual)
    record = power.content()["spread"]
    (sentence,) = spread_words(**record)
    assert sentence in power.document().lead
    assert f"{round(100 * record['low'])} to {round(100 * record['high'])} of 100 may find it" in sentence
    size = study_size(
        about, "items", effect=EFFECT, workers=25, ratings_per_item=3, method="analytic", assumed=usual
    )
    (of_size,) = spread_words(**size.content()["spread"])
    assert of_size in size.document().lead
    assert "spread" not in study_power(study_of(about), method="analytic").content()


def test_nothing_is_said_where_both_ends_are_one_number():
    assert not list(spread_words(0.991, 0.999, "pilot"))
    assert list(spread_words(0.4, 0.6, "pilot"))


@pytest.mark.parametrize("sign", [1, -1])
def test_a_difference_beyond_the_interval_of_ones_own_pilot_is_called_implausible(sign):
    drawn = simulate(PILOT, crossed(8, 30), seed=4, response="clipped")
    ratings = ratings_from_table(drawn.to_frame(SCALE), scale=SCALE)
    known = pilot(ratings)
    ends = effect_test(fit(ratings)).interval
    assert known.observed_interval == ends
    below, above = ends
    mirrored = tuple(sorted(sign * end for end in ends))
    assumed = Assumptions((replace(known, observed_interval=mirrored),))
    said = {
        value: list(beyond_pilot(assumed, Difference(sign * value, SCALE)))
        for value in (above - 0.001, above + 0.001, 0.0, -above)
    }
    assert [bool(words) for words in said.values()] == [False, True, False, above > -below]
    (words,) = said[above + 0.001]
    assert f"{4 * (above + 0.001):.3g} points is more than your pilot makes plausible" in words
    downward = Difference(sign * (above + 0.001), replace(SCALE, higher_is_better=False))
    low, high = (f"{4 * end:.3g}" for end in mirrored)
    assert f"its interval is {low} to {high}." in next(beyond_pilot(assumed, downward))
    others = Assumptions((replace(known, origin="library", observed_interval=None),))
    assert not list(beyond_pilot(others, Difference(0.9, SCALE)))


def test_settings_are_called_by_where_they_lie_and_never_two_alike():
    typical, penalties = "pplm-fluency-steered", "wmt23-zhen-hwtsc-gpt4"
    assert setting_labels([typical, "high"]) == {typical: "typical public ratings", "high": "high"}
    both = [typical, penalties]  # each is typical of its kind of scale
    assert setting_labels(both) == dict(zip(both, both, strict=True))

"""Simulated checks, times and repeats tell careless workers from careful ones, and rules leave out the former."""

from dataclasses import replace

import numpy as np
import pytest
from cases import each_case
from scipy import stats

from humeval_power.designs import crossed, k_per_item
from humeval_power.errors import InputError
from humeval_power.exclusions import ExclusionRules
from humeval_power.parameters import preset
from humeval_power.simulation.quality_control import (
    Behaviour,
    QualityControl,
    checks_failed,
    seconds_taken,
    with_repeats,
)
from humeval_power.simulation.study import AT_RANDOM, CAREFUL, STRAIGHT, Losses
from humeval_power.studies.power.replication import Replication
from humeval_power.study_counts import share_of

KIND = np.repeat([CAREFUL, AT_RANDOM, STRAIGHT], 400)


def test_checks_are_passed_at_the_stated_chances():
    failed = checks_failed(KIND, 5, Behaviour(passing=0.9, careless_passing=0.5), np.random.default_rng(1))
    for careful, chance in ((True, 0.1), (False, 0.5)):
        rows = (KIND == CAREFUL) == careful
        low, high = stats.binom.interval(0.998, 5 * rows.sum(), chance)
        assert low <= failed[rows].sum() <= high


def test_median_times_are_those_stated():
    worker = np.repeat(np.arange(len(KIND)), 20)
    seconds = seconds_taken(
        worker, KIND, Behaviour(seconds=30, careless_pace=0.2), np.random.default_rng(2)
    )
    for careful, median in ((True, 30), (False, 6)):
        rows = (KIND == CAREFUL)[worker] == careful
        # the median over 400 workers of SD 0.3 (log) has a standard error of 1.25 * 0.3 / 20
        assert np.log(np.median(seconds[rows])) == pytest.approx(np.log(median), abs=3 * 1.25 * 0.3 / 20)


@each_case("field", ["passing", "careless_passing", "seconds", "careless_pace", "sd_log_worker"])
@each_case("value", [-1, np.nan, np.inf])
def test_impossible_behaviour_is_refused(field, value):
    with pytest.raises(InputError, match=field):
        Behaviour(**{field: value})


@each_case("design", [crossed(4, 10), k_per_item(7, 30, ratings_per_item=2)], ids=str)
@each_case("repeats", [0.0, 0.05, 0.2])
def test_repeats_come_last_and_repeat_ratings_of_every_worker(design, repeats):
    rows, again = with_repeats(design, repeats)
    rows, n = rows.assignment, design.n_ratings
    np.testing.assert_array_equal(rows.worker[:n], design.assignment.worker)
    loads = np.bincount(rows.worker[:n])
    assert (np.bincount(rows.worker[n:], minlength=design.n_workers) == share_of(repeats, loads)).all()
    for name in ("worker", "item", "system"):
        np.testing.assert_array_equal(getattr(rows, name)[n:], getattr(rows, name)[again])


def test_rules_need_what_they_are_about():
    with pytest.raises(InputError) as error:
        QualityControl(rules=ExclusionRules(failed_checks=0.3, repeats=0.3))
    assert len(error.value.problems) == 2


def test_a_balanced_study_of_fewer_workers_is_fitted_as_its_table_is():
    # the same studies by mean squares and, where a design is no more than a table, by iteration
    design, control = crossed(8, 12), QualityControl(rules=ExclusionRules(same_answer=0.9, seconds=4))
    losses = Losses(at_random=0.15, straight_lining=0.15)
    one = Replication(preset("high"), design, losses=losses, exclusion=control)
    table = replace(design, kind="table", explicit=design.assignment)
    other = replace(one, design=table)
    found, expected = one.fits(20, seed=3), other.fits(20, seed=3)
    for name in ("estimate", "standard_error", "kenward_roger"):
        # the iteration stops at relative changes of about 1e-6
        np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=2e-3, err_msg=name)
    left = {int((~one.collected(3, i).excluded).sum()) for i in range(20)}
    assert len(left) > 2  # studies of several sizes

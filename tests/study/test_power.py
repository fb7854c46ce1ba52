"""Power by simulation: counts, intervals, failures, precision, and known answers."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from cases import each_case
from hypothesis import given
from hypothesis import strategies as st
from reference.golden import shared_golden
from scipy import stats
from seven import seven
from statsmodels.stats.proportion import proportion_confint

from humeval_power.designs import crossed, k_per_item
from humeval_power.errors import InputError
from humeval_power.inference.item_bootstrap import wilson_interval
from humeval_power.parameters import preset
from humeval_power.rules import DecisionRule
from humeval_power.scenarios.contract import Replicates
from humeval_power.simulation.study import replicate_generator
from humeval_power.studies.power.calibration import size_of_test
from humeval_power.studies.power.estimate import PowerEstimate, Tally, estimate_power, tally
from humeval_power.studies.power.scenario import RatingStudy


@dataclass(frozen=True)
class KnownNormal:
    """Estimates normal around the truth with a known standard error; a share of fits fails."""

    true_effect: float
    standard_error: float = 1.0
    alpha: float = 0.05
    failing: float = 0.0

    def draw(self, n, *, seed, first=0, n_jobs=1):  # noqa: ARG002
        rngs = [
            replicate_generator(seed, block) for block in range(first // 1000, (first + n - 1) // 1000 + 1)
        ]
        drawn = np.concatenate(
            [np.stack([rng.standard_normal(1000), rng.random(1000)]) for rng in rngs], axis=1
        )
        noise, luck = drawn[:, first % 1000 : first % 1000 + n]
        estimate = self.true_effect + self.standard_error * noise
        p_value = 2 * stats.norm.sf(np.abs(estimate) / self.standard_error)
        failed = luck < self.failing
        p_value = np.where(failed & (luck < self.failing / 2), np.nan, p_value)
        return Replicates(
            estimate=estimate,
            standard_error=np.full(n, self.standard_error),
            df=np.full(n, np.inf),
            p_value=p_value,
            status=np.where(failed & (luck >= self.failing / 2), 2, 0),
            boundary=np.zeros((n, 0), dtype=bool),
        )

    def with_effect(self, effect):
        return replace(self, true_effect=effect)


def band(probability, n, *, width=4.5):
    """Half-width of a binomial share."""
    return width * math.sqrt(max(probability * (1 - probability), 0.25 / n) / n)


def test_a_known_normal_scenario_has_the_golden_power_type_m_and_type_s(shared):
    n = 200_000
    for row in shared_golden(shared, "04_type_ms")["normal"]:
        result = estimate_power(KnownNormal(row["A"], row["s"]), n_simulations=n, seed=4)
        assert result.rejection_rate == pytest.approx(row["power"], abs=band(row["power"], n))
        share = row["power_correct_sign"]
        assert result.power == pytest.approx(share, abs=band(share, n))
        n_significant = n * row["power"]
        assert result.type_s == pytest.approx(row["type_s"], abs=band(row["type_s"], n_significant))
        # significant estimates scatter by less than one standard error of the study
        assert result.type_m == pytest.approx(
            row["type_m"], abs=4.5 * row["s"] / row["A"] / math.sqrt(n_significant)
        )
        assert result.mean_estimate == pytest.approx(row["A"], abs=4.5 * row["s"] / math.sqrt(n))


def test_a_negative_effect_has_power_in_its_own_direction():
    up, down = (estimate_power(KnownNormal(effect), n_simulations=20_000) for effect in (2.0, -2.0))
    assert down.power == pytest.approx(up.power, abs=2 * band(0.5, 20_000))
    assert down.type_m == pytest.approx(up.type_m, rel=0.02)


def test_failures_are_counted_apart_and_find_nothing():
    sound, shaky, lost = (
        estimate_power(KnownNormal(2.0, failing=f), n_simulations=20_000) for f in (0.0, 0.15, 0.4)
    )
    assert sound.n_failed == 0
    assert shaky.failure_rate == pytest.approx(0.15, abs=band(0.15, 20_000))
    assert shaky.n_usable == 20_000 - shaky.n_failed
    # a study that could not be analysed found nothing; above a fifth of them there is no power to speak of
    assert shaky.power == pytest.approx(0.85 * sound.power, abs=2 * band(0.5, 20_000))
    assert lost.failure_rate == pytest.approx(0.4, abs=band(0.4, 20_000))
    assert math.isnan(lost.power)


def test_a_scenario_that_always_fails_has_no_power_rather_than_zero():
    result = estimate_power(KnownNormal(2.0, failing=1.1), n_simulations=3000)
    assert result.n_failed == result.n_simulations == 3000
    assert result.failure_rate == 1.0
    for value in (result.power, result.rejection_rate, result.type_m, result.type_s, result.mean_estimate):
        assert math.isnan(value)
    assert all(math.isnan(end) for end in (*result.interval, *result.rejection_interval))
    assert math.isnan(result.boundary_rate)


@given(st.integers(0, 400), st.integers(1, 400), st.floats(0.5, 0.999))
def test_wilson_intervals_are_those_of_statsmodels(count, n, confidence):
    count = min(count, n)
    expected = proportion_confint(count, n, alpha=1 - confidence, method="wilson")
    assert wilson_interval(count, n, confidence) == pytest.approx(expected, abs=1e-12)


def test_no_observations_have_no_interval():
    assert all(math.isnan(end) for end in wilson_interval(0, 0))


@given(st.integers(1, 400), st.integers(0, 400), st.floats(0, 0.5))
def test_tallies_of_portions_add_up(n, cut, failing):
    scenario = KnownNormal(0.5, failing=failing)
    replicates = scenario.draw(n, seed=3)
    cut = min(cut, n)
    counted = [
        tally(part, alpha=0.3, true_effect=0.5)
        for part in (replicates, replicates.first(cut), replicates.part(slice(cut, n)))
    ]
    whole, total = counted[0], counted[1] + counted[2]
    for name in Tally.__dataclass_fields__:
        assert getattr(total, name) == pytest.approx(getattr(whole, name), rel=1e-9, abs=1e-9)


def test_an_empty_tally_adds_nothing():
    counted = tally(
        RatingStudy(preset("high"), crossed(3, 9)).draw(50, seed=1), alpha=0.05, true_effect=0.0
    )
    assert Tally() + counted == counted


def test_counts_are_what_a_reader_would_count_by_hand():
    nan = math.nan
    plain = 10  # studies whose estimate is 0, far from significant
    replicates = Replicates(
        estimate=np.array([0.2, -0.3, 0.1, 0.4, 0.5, nan, *[0.0] * plain]),
        standard_error=np.full(6 + plain, 0.1),
        df=np.full(6 + plain, 5.0),
        p_value=np.array([0.01, 0.05, 0.2, 0.03, nan, 0.001, *[0.9] * plain]),
        status=np.array([0, 0, 0, 1, 0, 3, *[0] * plain]),
        boundary=np.array([[1, 0], [1, 1], [0, 0], [1, 1], [1, 1], [0, 0], *[[0, 0]] * plain], dtype=bool),
        boundary_names=("a", "b"),
    )
    estimate = PowerEstimate(tally(replicates, alpha=0.05, true_effect=0.2), 0.2, 0.05, ("a", "b"))
    assert (estimate.n_simulations, estimate.n_failed, estimate.n_usable) == (16, 3, 13)
    assert estimate.power == pytest.approx(1 / 16)
    assert estimate.rejection_rate == pytest.approx(2 / 16)
    assert estimate.type_s == pytest.approx(1 / 2)
    assert estimate.type_m == pytest.approx(0.25 / 0.2)
    assert estimate.mean_estimate == pytest.approx(0.0, abs=1e-15)
    assert estimate.boundary_rate == pytest.approx(2 / 13)
    assert estimate.boundary_rates == {"a": pytest.approx(2 / 13), "b": pytest.approx(1 / 13)}


def test_precision_is_reached_and_not_overshot_by_much():
    for precision in (0.02, 0.005):
        result = estimate_power(KnownNormal(2.0), n_simulations=500, seed=1, precision=precision)
        low, high = result.interval
        assert (high - low) / 2 <= precision
        needed = stats.norm.ppf(0.975) ** 2 * 0.25 / precision**2
        assert result.n_simulations <= 1.2 * needed + 2048


def test_precision_never_simulates_less_than_asked():
    result = estimate_power(KnownNormal(2.0), n_simulations=5000, precision=0.4)
    assert result.n_simulations == 5000


@each_case(("n", "precision"), [(0, None), (-5, None), (100, 0.0), (100, 0.5), (100, -1.0)])
def test_impossible_amounts_of_simulation_are_refused(n, precision):
    with pytest.raises(InputError, match=r"must be at least 1|must lie between 0 and 0\.5"):
        estimate_power(KnownNormal(1.0), n_simulations=n, precision=precision)


STUDY = RatingStudy(seven(0.5, 0.15, 0.1, 0.15, 0.1, 0.2, 0.2), k_per_item(5, 14, ratings_per_item=2))


def test_more_simulations_extend_a_shorter_run():
    for study, short, long in (
        (STUDY, 150, 300),
        (RatingStudy(preset("high"), crossed(3, 20)), 1500, 4000),
    ):
        replicates = study.draw(long, seed=8)
        for n in (short, long):
            counted = tally(replicates.first(n), alpha=study.alpha, true_effect=study.true_effect)
            ours = estimate_power(study, n_simulations=n, seed=8).counts
            for name in Tally.__dataclass_fields__:  # sums of portions round differently
                assert getattr(ours, name) == pytest.approx(getattr(counted, name), rel=1e-12)


def test_the_number_of_jobs_changes_nothing():
    one, two = (estimate_power(STUDY, n_simulations=300, seed=8, n_jobs=jobs) for jobs in (1, 2))
    assert one == two


def test_progress_is_told():
    told = []
    estimate_power(KnownNormal(1.0), n_simulations=2500, progress=lambda done, of: told.append((done, of)))
    assert told[-1] == (2500, 2500)
    assert [done for done, _ in told] == sorted(done for done, _ in told)


def test_three_workers_are_at_the_boundary_in_most_studies(shared):
    # Golden shares of REML fits with a component at zero, from 100,000 draws of another program.
    n = 20_000
    rows = [r for r in shared_golden(shared, "03_fpr")["fpr"] if r["setting"] in ("high", "low")]
    for row in rows:
        design = crossed(row["m"], row["n"])
        result = size_of_test(preset(row["setting"]), design, n_simulations=n, seed=12)
        width = math.hypot(
            band(row["singular_share"], n, width=4), band(row["singular_share"], row["N"], width=4)
        )
        assert result.boundary_rate == pytest.approx(row["singular_share"], abs=width)
        slope = row["singular_slope_worker"]
        assert result.boundary_rates["sd_worker_slope"] == pytest.approx(
            slope, abs=math.hypot(band(slope, n, width=4), band(slope, row["N"], width=4))
        )
        if (row["setting"], row["m"]) == ("high", 3):
            assert 0.6 < result.boundary_rate < 0.75


@pytest.mark.parametrize("word", ["calibrated", "min"])
def test_calibrated_and_cautious_rules_keep_their_level_with_three_workers(word):
    n = 20_000
    result = size_of_test(preset("high"), crossed(3, 50), rule=DecisionRule(df=word), n_simulations=n)
    # the calibrated critical value is itself simulated, from 10,000 studies
    assert result.rejection_rate <= 0.05 + math.hypot(
        band(0.05, n, width=3.5), band(0.05, 10_000, width=3.5)
    )
    if word == "calibrated":
        assert result.rejection_rate >= 0.05 - math.hypot(
            band(0.05, n, width=3.5), band(0.05, 10_000, width=3.5)
        )


def test_differences_are_tested_as_ratings_are_where_nothing_is_shared():
    study = RatingStudy(preset("high").with_difference(0.2), crossed(10, 50))
    differences = replace(study, rule=DecisionRule(analysis="differences"))
    powers = [estimate_power(s, n_simulations=20_000, seed=5).power for s in (study, differences)]
    assert powers[0] == pytest.approx(powers[1], abs=0.01 + 2 * band(0.6, 20_000, width=3))


def test_differences_keep_their_level_whatever_workers_and_items_share():
    # the methods notes 1.6: free of worker:item variance, which makes the test of all ratings liberal.
    shared_part = replace(preset("high"), sd_worker_item=0.5)
    n = 20_000
    rule = DecisionRule(analysis="differences")
    plain, with_shared = (
        size_of_test(stated, crossed(8, 30), rule=rule, n_simulations=n)
        for stated in (preset("high"), shared_part)
    )
    assert with_shared.rejection_rate == pytest.approx(plain.rejection_rate, abs=2 * band(0.05, n, width=3))
    assert with_shared.rejection_rate == pytest.approx(0.05, abs=0.01)


def test_an_interval_of_a_share_holds_the_share_to_the_last_digit():
    for n in range(1, 400):
        for count in (0, 1, n // 2, n - 1, n):
            low, high = wilson_interval(count, n)
            assert 0 <= low <= count / n <= high <= 1

"""What long work is said to need, and the words for it."""

from typing import Any

import pytest
from cases import each_case
from cli import run

from humeval_power.designs import crossed, k_per_item
from humeval_power.errors import InputError
from humeval_power.parameters import preset
from humeval_power.rules import ComparisonFamily, DecisionRule
from humeval_power.simulation.study import NO_LOSSES, Losses
from humeval_power.studies.power import systems_study, typed
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.studies.power.systems_study import SystemsStudy
from humeval_power.studies.power.workload import (
    Workload,
    comparison_workload,
    rating_study_workload,
    simulations_within,
    study_workload,
)
from humeval_power.systems import SystemsParameters


@each_case(
    ("workers", "items", "measured"),
    # seconds of one fit on one core, measured by benchmarks/bench_workload.py
    [(4, 20, 0.36e-3), (10, 100, 0.66e-3), (30, 200, 1.41e-3), (60, 400, 3.83e-3), (120, 400, 11.95e-3)],
)
def test_predicted_times_are_within_a_factor_of_three_of_those_measured(
    workers: int, items: int, measured: float
) -> None:
    design = k_per_item(workers, items, ratings_per_item=min(3, workers // 2))
    predicted = study_workload(design, n_simulations=1000).seconds / 1000
    assert measured / 3 < predicted < 3 * measured


PAIRS, OWN = ComparisonFamily(), ComparisonFamily(model="joint")
COMMON = ComparisonFamily(model="joint", variances="common")
UNPAIRED, MISSING = {"paired": False}, {"losses": Losses(missing=0.05)}
UNEQUAL = {"workers": 19}


@each_case(
    ("n_systems", "family", "how", "measured"),
    # seconds of one study on one core, measured by benchmarks/bench_systems.py and bench_workload.py
    [
        (3, PAIRS, UNPAIRED, 0.22e-3),
        (3, COMMON, UNPAIRED, 0.18e-3),
        (3, OWN, UNPAIRED, 0.29e-3),
        (8, PAIRS, UNPAIRED, 1.68e-3),
        (8, COMMON, UNPAIRED, 1.04e-3),
        (8, OWN, UNPAIRED, 1.83e-3),
        (8, PAIRS, MISSING, 2.96e-3),
        (8, OWN, MISSING, 2.3e-3),
        (3, PAIRS, {}, 0.12e-3),
        (3, COMMON, {}, 0.12e-3),
        (3, OWN, {}, 0.46e-3),
        (8, PAIRS, {}, 0.51e-3),
        (8, COMMON, {}, 0.27e-3),
        (8, OWN, {}, 2.06e-3),
        (3, OWN, UNEQUAL, 0.29e-3),
        (8, PAIRS, UNEQUAL, 1.72e-3),
        (8, COMMON, UNEQUAL, 0.39e-3),
        (8, OWN, UNEQUAL, 1.71e-3),
    ],
)
def test_predicted_times_of_several_systems_are_within_a_factor_of_two_of_those_measured(
    n_systems: int, family: ComparisonFamily, how: dict[str, Any], measured: float
) -> None:
    design = k_per_item(
        how.get("workers", 20), 100, ratings_per_item=3, n_systems=n_systems, paired=how.get("paired", True)
    )
    parameters = SystemsParameters.of_parameters(preset("low"), n_systems)
    study = SystemsStudy(parameters, design, family=family, losses=how.get("losses", NO_LOSSES))
    predicted = study.workload(n_simulations=1000).seconds / 1000
    assert measured / 2 < predicted < 2 * measured


def test_large_fits_of_pairs_are_measured_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(systems_study, "measured_seconds", lambda *_study, **_size: [2.0])
    design = k_per_item(299, 300, ratings_per_item=2, n_systems=3)
    study = SystemsStudy(SystemsParameters.of_parameters(preset("low"), 3), design)
    assert study.workload(n_simulations=10, n_jobs=2).seconds == pytest.approx(2.0 * 3 * 10 / 2)


def test_work_grows_with_the_studies_and_shrinks_with_the_cores() -> None:
    one = study_workload(crossed(10, 100), n_simulations=1000)
    assert study_workload(crossed(10, 100), n_simulations=2000).seconds == pytest.approx(2 * one.seconds)
    assert study_workload(crossed(10, 100), n_simulations=1000, n_jobs=4).seconds == pytest.approx(
        one.seconds / 4
    )
    assert study_workload(crossed(10, 100), n_simulations=1000, closed_form=True).seconds < one.seconds / 50
    assert comparison_workload("assessment", 10**9, n_simulations=1).n_bytes > 4e10


def test_maximum_likelihood_of_complete_designs_takes_no_more_than_the_default_test() -> None:
    # Measured: 3e-6 s a study, from 3 workers and 50 items to 30 workers and 500 items.
    likelihood = RatingStudy(
        preset("low"), crossed(30, 500), rule=DecisionRule(estimator="ml", df="normal")
    )
    default = RatingStudy(preset("low"), crossed(30, 500))
    found = rating_study_workload(likelihood, n_simulations=1000)
    assert found == rating_study_workload(default, n_simulations=1000)
    assert 1e-6 <= found.seconds / 1000 <= 9e-6


def test_more_than_a_day_or_the_free_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typed, "free_memory", lambda: 8e9)
    with pytest.raises(InputError, match=r"about 64 GB of memory; 8.0 GB are free"):
        typed.tell_work(Workload(1.0, 64e9), n_simulations=10)
    with pytest.raises(InputError, match=r"n_simulations=1_000_000 .* about 12 days.*smaller study"):
        typed.tell_work(Workload(1e6, 0.0), n_simulations=1_000_000)


def test_more_than_a_minute_is_said_with_a_way_out(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(typed, "free_memory", lambda: 8e9)
    typed.tell_work(Workload(600.0, 2e9), n_simulations=10_000, way_out="--method analytic")
    said = " ".join(capsys.readouterr().err.split())
    assert said == (
        "This will take about 10 minutes and 2.0 GB of memory. Ctrl-C ends it. --simulations 1000 take about a "
        "minute, or --method analytic."
    )
    typed.tell_work(Workload(30.0, 0.0), n_simulations=10)
    assert capsys.readouterr().err == ""


@each_case(
    ("seconds", "words"),
    [
        (0.2, "1 second"),
        (1, "1 second"),
        (80, "80 seconds"),
        (600, "10 minutes"),
        (86400, "24 hours"),
        (1e6, "12 days"),
        (1e12, "31,688 years"),
    ],
)
def test_durations_are_in_one_unit(seconds: float, words: str) -> None:
    assert typed.duration(seconds) == words


def test_an_affordable_number_of_simulations_is_round_and_fits() -> None:
    work = Workload(1000.0, 0.0)
    assert simulations_within(60.0, work, n_simulations=10_000) == 600
    assert simulations_within(0.01, work, n_simulations=10_000) == 0


def test_a_short_answer_says_nothing_of_its_work() -> None:

    study = ["--preset", "high", "--workers", "10", "--items", "100", "--effect", "0.1"]
    words = ["power", *study, "--method", "simulate"]
    assert "will take" not in run(*words).stderr

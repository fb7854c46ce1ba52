"""Simulated studies of large designs: a few tables in memory at a time, and the same numbers."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from cases import few_fast

from humeval_power.designs import k_per_item
from humeval_power.simulation import study as held
from humeval_power.studies.power.files import preset
from humeval_power.studies.power.scenario import RatingStudy
from humeval_power.studies.power.workload import rating_study_workload

DESIGN = k_per_item(6, 40, ratings_per_item=3)  # 240 ratings
LARGE = """
import resource, sys
from humeval_power.designs import k_per_item
from humeval_power.studies.power.files import preset
from humeval_power.studies.power.scenario import RatingStudy
study = RatingStudy(preset("high"), k_per_item(20, 60_000, ratings_per_item=5))
def peak():
    size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return size // 1024 if sys.platform == "darwin" else size
study.draw(2, seed=1)
before = peak()
study.draw(24, seed=1)
print(study.design.n_ratings, peak() - before)
"""


@few_fast("n_jobs", [1, 3], fast=1)
@few_fast("most", [240, 1, 1_700])
def test_studies_do_not_depend_on_how_many_are_held_at_once(
    monkeypatch: pytest.MonkeyPatch, most: int, n_jobs: int
) -> None:
    study = RatingStudy(preset("high"), DESIGN)
    expected = study.draw(60, seed=3, first=5)
    monkeypatch.setattr(held, "MOST_RATINGS", most)
    found = study.draw(60, seed=3, first=5, n_jobs=n_jobs)
    for name in ("estimate", "standard_error", "df", "p_value", "boundary"):
        assert np.array_equal(getattr(found, name), getattr(expected, name))


def test_portions_are_consecutive_and_never_larger_than_memory_allows_or_threads_need() -> None:
    assert held.portions(7, 600, n_ratings=600) == [range(7, 263), range(263, 519), range(519, 607)]
    assert {len(part) for part in held.portions(0, 12, n_ratings=600_000)} == {6}
    assert {len(part) for part in held.portions(0, 12, n_ratings=10**9, n_jobs=4)} == {4}


def test_the_memory_that_is_announced_grows_with_the_ratings_not_with_the_studies() -> None:
    large = RatingStudy(preset("high"), k_per_item(100, 30_000, ratings_per_item=10))
    work = rating_study_workload(large, n_simulations=10_000)
    assert work.n_bytes < 0.5e9
    assert work.n_bytes == rating_study_workload(large, n_simulations=100).n_bytes


@pytest.mark.slow
def test_power_of_a_design_of_600000_ratings_holds_only_a_few_of_its_studies(tmp_path: Path) -> None:
    pytest.importorskip("resource")
    done = subprocess.run(
        [sys.executable, "-c", LARGE], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    n_ratings, kilobytes = map(int, done.stdout.split())
    assert n_ratings == 600_000
    # All 24 tables at once, with a copy that is centred, are 230 megabytes; six with their copies 58.
    assert kilobytes < 120_000

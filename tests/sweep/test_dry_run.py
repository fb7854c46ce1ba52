"""What a command will cost, before it is run."""

import json

import pytest
from blocks_for_tests import mean_of_normals, normal_blocks
from cli import run

from humeval_power.studies.power import typed
from humeval_power.sweep import dispatch as dry_run
from humeval_power.sweep.blocks import Block, run_blocks, sweeping
from humeval_power.sweep.dispatch import CostWorkedOut, DryRun, cost_of

SURFACE = [
    *["surface", "--preset", "high", "--workers", "5,10", "--items", "20", "--effect", "0.1"],
    *["--ratings-per-item", "2"],
]


def test_a_command_says_what_it_will_cost_and_writes_nothing(tmp_path):
    words = [*SURFACE, "--simulations", "2100", "--dry-run", "-o", str(tmp_path / "grid"), "--json"]
    done = run(*words)
    told = json.loads(done.stdout)
    assert told["n_replicates"] == 2 * 2100
    assert told["n_blocks"] == 2 * 2
    assert 1 <= told["n_tasks"] <= told["n_blocks"]
    assert 0 < told["seconds"] < 600
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_what_is_not_computed_is_not_refused_for_its_length(monkeypatch):
    monkeypatch.setattr(typed, "TOO_LONG", 0.1)
    words = [*SURFACE, "--simulations", "300000", "--dry-run"]
    done = run(*words)
    assert "600,000 replicates" in done.stdout


def test_what_simulates_nothing_is_answered_and_not_written(tmp_path):
    words = ["power", "--preset", "high", "--workers", "5", "--items", "20", "--effect", "0.1"]
    written = ["-o", str(tmp_path / "power.json")]
    done = run(*words, "--method", "analytic", "--dry-run", *written)
    assert "here is the answer itself" in " ".join(done.stderr.split())
    assert "By formula" in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_computes_nothing_is_told():
    words = ["power", "--preset", "high", "--workers", "5", "--items", "20", "--effect", "0.1"]
    done = run(*words, "--method", "analytic", "--on", "local:2")
    assert "--on local:2 was not used" in " ".join(done.stderr.split())


def test_the_cost_is_what_blocks_say_corrected_by_some_that_are_measured(monkeypatch):
    clock = iter(range(1000))  # each look at the clock is a second later
    monkeypatch.setattr(dry_run.time, "process_time", lambda: float(next(clock)))
    blocks = [Block(mean_of_normals, (1, place, 5), 0.5) for place in range(100)]
    cost = cost_of(blocks)
    assert cost.measured == 5  # then 4 s are over
    assert cost.seconds == pytest.approx(100 * 0.5 * (1.0 / 0.5))


def test_nothing_to_do_costs_nothing():
    with sweeping(DryRun()):
        assert list(run_blocks([])) == []
        with pytest.raises(CostWorkedOut):
            list(run_blocks(normal_blocks(3)))

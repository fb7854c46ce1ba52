"""Real commands are killed at random moments; the same command goes on and ends with the same bytes."""

import json
import subprocess
import sys

import pytest
from places import ROOT


def killed(kills: int, seed: int, *more: str) -> dict[str, int]:
    """The counts of a run of `benchmarks/kill_sweeps.py`."""
    words = [sys.executable, str(ROOT / "benchmarks" / "kill_sweeps.py")]
    run = subprocess.run(
        [*words, "--kills", str(kills), "--seed", str(seed), *more],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
    )
    assert run.returncode == 0, run.stderr
    counts: dict[str, int] = json.loads(run.stdout.splitlines()[-1])
    assert counts["kills"] == kills, run.stdout
    assert counts["kept"] >= kills / 2, "most kills hit a run that has finished something"
    assert {name: counts[name] for name in ("tracebacks", "refusals", "losses", "other_bytes")} == {
        "tracebacks": 0,
        "refusals": 0,
        "losses": 0,
        "other_bytes": 0,
    }, run.stdout
    return counts


def test_a_sweep_that_is_killed_goes_on_to_the_same_bytes():
    killed(6, 7, "--simulations", "8000")


@pytest.mark.long
@pytest.mark.slow
def test_two_hundred_kills_change_no_byte():
    killed(200, 8)

"""Workers, the scheduler and the client are killed while a cluster computes: the same bytes as without."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

pytest.importorskip("distributed")


@pytest.mark.long
@pytest.mark.slow
def test_a_sweep_on_a_cluster_survives_kills_with_the_same_bytes():
    program = [sys.executable, str(ROOT / "benchmarks" / "kill_cluster.py"), "--kills", "6", "--seed", "3"]
    done = subprocess.run(program, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = dict(part.rsplit(" ", 1) for part in done.stdout.strip().splitlines()[-1].split(", "))
    assert int(counts["answers"]) >= 1

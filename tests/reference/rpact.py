"""The R package rpact, run now."""

import shutil
import subprocess

import pytest


def rpact_answers(script: str) -> list[list[float]]:
    """The numbers that an R script prints, line by line; skips where R or rpact is absent."""
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("Rscript is not installed")
    present = [program, "-e", "stopifnot(requireNamespace('rpact', quietly = TRUE))"]
    if subprocess.run(present, capture_output=True, check=False).returncode != 0:
        pytest.skip("the R package rpact is not installed")
    done = subprocess.run([program, "-e", script], capture_output=True, check=True, text=True)
    lines = [line.split() for line in done.stdout.splitlines() if line.strip()]
    return [[float(number) for number in line] for line in lines if line[0] != "[PROGRESS]"]

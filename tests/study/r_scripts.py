"""Scripts that `fit` writes, run by R: what they print beside the numbers of the fit."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from cli import run

TestedDifference = dict[str, tuple[float, float]]


class Rscript:
    """One R process that runs one script after the other: to load its packages takes longer than most of them."""

    def __init__(self, program: str) -> None:
        self.process = subprocess.Popen(
            [program, "--vanilla", str(Path(__file__).with_name("session.R"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def run(self, script: Path) -> list[str]:
        """Run a script in its folder; the lines that it prints."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(f"{script}\n")
        self.process.stdin.flush()
        lines = [line.rstrip("\n") for line in iter(self.process.stdout.readline, "ENDED\n") if line]
        failed = [line for line in lines if line.startswith("FAILED")]
        assert not failed, f"{failed}\n{script.read_text()}"
        return lines


@contextmanager
def rscript() -> Iterator[Rscript]:
    """Skips where R is absent."""
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("Rscript is not installed")
    session = Rscript(program)
    with session.process:
        yield session


@cache
def require(*packages: str) -> None:
    """Skip where R or one of the packages is absent."""
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("Rscript is not installed")
    wanted = ", ".join(f"'{package}'" for package in packages)
    call = [program, "-e", f"stopifnot(sapply(c({wanted}), requireNamespace, quietly = TRUE))"]
    if subprocess.run(call, capture_output=True, check=False).returncode != 0:
        pytest.skip(f"one of the R packages {wanted} is not installed")


def compared(program: Rscript, folder: Path, *fit: object) -> TestedDifference:
    """Fit a file with these words, run the script in its folder, and read the table that it ends with."""
    script = folder / "fit.R"
    run("fit", *fit, "-o", script, "--force")
    lines = program.run(script)
    start = next(place for place, line in enumerate(lines) if line.split() == ["R", "fit"])
    rows = [line.split() for line in lines[start + 1 :] if line]
    return {name: (float(r), float(fit)) for name, r, fit in rows}


def table(seed: int = 1, *, n_workers: int = 6, n_items: int = 14, kept: float = 1.0, slopes: float = 0.1):
    """Ratings on [0, 1] of a study that was drawn, as a frame of codes."""
    rng = np.random.default_rng(seed)
    worker, item, system = (
        part.ravel() for part in np.meshgrid(range(n_workers), range(n_items), range(2), indexing="ij")
    )
    x = system - 0.5
    rating = 0.5 + 0.08 * x + 0.15 * rng.standard_normal(len(x))
    for level, count, sd in ((worker, n_workers, 0.1), (item, n_items, 0.12)):
        rating += sd * rng.standard_normal(count)[level] + slopes * rng.standard_normal(count)[level] * x
    frame = pd.DataFrame({"worker": worker, "item": item, "system": system, "rating": rating})
    return frame[rng.random(len(frame)) < kept].reset_index(drop=True)


def likert(rating: pd.Series, points: int = 5) -> pd.Series:
    """Ratings rounded to 1, 2, ... points."""
    return (1 + (points - 1) * rating).round().clip(1, points).astype(int)

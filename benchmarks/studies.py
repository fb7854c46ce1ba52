"""The studies that the benchmarks run on: designs, simulated responses, and their files for R."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from humeval_power.designs import Assignment, Codes, crossed, k_per_item
from humeval_power.parameters import Parameters, preset

HERE = Path(__file__).parent
THREAD_SETTINGS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
ONE_THREAD = dict.fromkeys(THREAD_SETTINGS, "1")
PARAMETERS = preset("high").recoded().with_difference(0.1)

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RatedRows:
    """What the fitter reads: codes of worker, item, system, and ratings; each of shape (n,)."""

    worker: Codes
    item: Codes
    system: Codes
    rating: Floats


@dataclass(frozen=True, eq=False)
class Study:
    """A design with several responses of shape (replicates, n_ratings)."""

    name: str
    rows: Assignment
    responses: Floats

    @property
    def n_ratings(self) -> int:
        return len(self.rows.worker)

    def with_response(self, index: int) -> RatedRows:
        """The table that one response makes."""
        return RatedRows(self.rows.worker, self.rows.item, self.rows.system, self.responses[index])

    def write(self, path: Path, *, reml: bool = True) -> Path:
        """The study as JSON for the R scripts."""
        columns = {name: getattr(self.rows, name).tolist() for name in ("worker", "item", "system")}
        path.write_text(json.dumps({**columns, "responses": self.responses.tolist(), "reml": reml}))
        return path


def read_study(path: Path) -> Study:
    """Read what `Study.write` wrote."""
    document = json.loads(path.read_text())
    codes = (np.array(document[name], dtype=np.int64) for name in ("worker", "item", "system"))
    return Study(path.stem, Assignment(*codes), np.array(document["responses"]))


def wmt19_like(seed: int = 0) -> Assignment:
    """176 workers, 1,997 items, 12,000 ratings: three a translation and a few more, skewed loads.

    Workers are drawn with lognormal chances, independently for each translation: the same item is
    mostly seen by different workers under the two systems.
    """
    rng = np.random.default_rng(seed)
    chance = rng.lognormal(sigma=1.0, size=176)
    chance /= chance.sum()
    outputs = np.repeat(np.arange(2 * 1997), 3)
    outputs = np.append(outputs, rng.choice(2 * 1997, 12_000 - len(outputs), replace=False))
    worker = rng.choice(176, len(outputs), p=chance)
    worker = np.unique(worker, return_inverse=True)[1]
    return Assignment(worker.astype(np.int64), outputs // 2, outputs % 2)


DESIGNS: dict[str, Callable[[], Assignment]] = {
    "sparse 10 x 100, k = 3": lambda: k_per_item(10, 100, ratings_per_item=3).assignment,
    "sparse 50 x 500, k = 3": lambda: k_per_item(50, 500, ratings_per_item=3).assignment,
    "balanced 10 x 100": lambda: crossed(10, 100).assignment,
    "WMT19-like 176 x 1,997": wmt19_like,
}


def make_study(name: str, *, n_responses: int, seed: int = 1) -> Study:
    """A study of that name with responses drawn from the model at `PARAMETERS`."""
    return simulated(name, DESIGNS[name](), PARAMETERS, n_responses=n_responses, seed=seed)


def simulated(
    name: str, rows: Assignment, parameters: Parameters, *, n_responses: int, seed: int = 1
) -> Study:
    """A study of any assignment with responses drawn from the model at parameters in difference coding."""
    rng = np.random.default_rng(seed)
    return Study(name, rows, np.array([draw(rows, parameters, rng) for _ in range(n_responses)]))


def draw(rows: Assignment, parameters: Parameters, rng: np.random.Generator) -> Floats:
    """One response (n,): rating = b0 + W0 + I0 + (b1 + W1 + I1) x + e."""
    x = rows.system - 0.5
    workers = rng.normal(size=(2, rows.worker.max() + 1))
    items = rng.normal(size=(2, rows.item.max() + 1))
    level = (
        parameters.sd_worker_intercept * workers[0, rows.worker]
        + parameters.sd_item_intercept * items[0, rows.item]
    )
    difference = (
        parameters.effect
        + parameters.sd_worker_slope * workers[1, rows.worker]
        + parameters.sd_item_slope * items[1, rows.item]
    )
    noise = parameters.sd_residual * rng.normal(size=len(x))
    rating: Floats = parameters.baseline + level + difference * x + noise
    return rating


def run_r(script: str, *arguments: str, timeout: float | None = None) -> dict[str, Any]:
    """Run an R script of this folder on one thread; returns the JSON it prints."""
    return answer_of(["Rscript", str(HERE / script), *arguments], timeout)


def run_python(script: str, *arguments: str) -> dict[str, Any]:
    """Run a script in a process of its own, on one thread; returns the JSON it prints."""
    return answer_of([sys.executable, script, *arguments])


def answer_of(command: list[str], timeout: float | None = None) -> dict[str, Any]:
    """The JSON that a command prints, linear algebra on one thread."""
    done = subprocess.run(
        command,
        check=True,
        env=os.environ | ONE_THREAD,
        stdout=subprocess.PIPE,
        text=True,
        timeout=timeout,
    )
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def peak_mb() -> float:
    """Largest resident size of this process so far, MB (Linux).

    Not getrusage: its maximum also counts the parent that the process was forked from.
    """
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def time_of(run: Callable[[], object]) -> float:
    """Seconds of one call."""
    started = time.perf_counter()
    run()
    return time.perf_counter() - started


def wait_until_quiet(limit: float = 20.0) -> bool:
    """Wait until others leave 90 % of the processors idle for a second; False if they do not."""
    deadline = time.monotonic() + limit
    while busy_share() > 0.1:
        if time.monotonic() > deadline:
            return False
    return True


def busy_share(seconds: float = 1.0) -> float:
    """Share of all processors' time that is in use (Linux; 0 elsewhere)."""
    stat = Path("/proc/stat")
    if not stat.exists():
        return 0.0
    ticks = []
    for pause in (seconds, 0.0):
        ticks.append([int(value) for value in stat.read_text().splitlines()[0].split()[1:9]])
        time.sleep(pause)
    spent = np.subtract(ticks[1], ticks[0])
    idle = spent[3] + spent[4]  # idle and waiting for disks
    return float(1.0 - idle / max(spent.sum(), 1))


def machine() -> str:
    """Processor, cores, load and versions, for the head of a report."""
    names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line]
    processor = names[0].split(":")[1].strip() if names else platform.processor()
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy", "numba"))
    return (
        f"{processor}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.2f}; "
        f"Python {platform.python_version()}, {packages}; {r_versions()}"
    )


def r_versions() -> str:
    """R and its packages, or that R is absent."""
    names = ("lme4", "lmerTest", "pbkrtest")
    listed = ", ".join(f"'{name}', as.character(packageVersion('{name}'))" for name in names)
    script = f"cat('R', as.character(getRversion()), {listed})"
    done = subprocess.run(["Rscript", "-e", script], check=False, stdout=subprocess.PIPE, text=True)
    return done.stdout or "R not found"


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A Markdown table: the first column to the left, the others to the right."""
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    print("\n".join("| " + " | ".join(line) + " |" for line in lines), flush=True)

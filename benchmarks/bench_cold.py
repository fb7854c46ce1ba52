"""How soon a command answers: seconds, processor, memory and modules of each in a process of its own.

    python benchmarks/bench_cold.py [--runs 5] [--against PYTHON] [--million] [--warm-up]

Every command runs once unmeasured, then `--runs` times; medians are shown. `--against` names the Python of
another installation, whose commands run in turn with ours. `--million` adds a fit of a million ratings, `--warm-up`
all kernels compiled into an empty cache. Modules are those that are loaded when the command ends.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
from studies import machine, print_table

DATA = Path(__file__).resolve().parents[1] / "data"
PILOT = str(DATA / "pilot.csv")
SIZE = "--workers 20 --items 100 --ratings-per-item 3 --effect 0.1"
COMMANDS = {
    "--help": "--help",
    "power --help": "power --help",
    "plan --help": "plan --help",
    "check": f"check {PILOT} --scale 1:5",
    "fit": f"fit {PILOT} --scale 1:5",
    "power, formula": f"power --preset low {SIZE} --method analytic",
    "compare scores": "compare scores SCORES --question mean",
    "plan": f"plan {PILOT} --scale 1:5 --effect-raw 0.4 --items 50:150:50 --max-workers 20 "
    "--cost-per-rating 0.1 --simulations 200",
}
MILLION = "fit RATINGS --scale 0:1"
START = "from humeval_power.doors.terminal.main import main; main()"
MODULES = """
import sys
sys.argv = ["humeval-power", *sys.argv[1:]]
from humeval_power.doors.terminal.main import main
try:
    main()
except SystemExit:
    pass
print("MODULES", len(sys.modules), file=sys.stderr)
"""


class Reading(NamedTuple):
    """Of one run: seconds on the wall, of the processor with its children, and the most memory in MB."""

    wall: float
    processor: float
    memory: float


def run(python: str, words: list[str], **environment: str) -> Reading:
    """A command in a new process; what it says is thrown away."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [python, "-P", "-c", START, *words],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **environment},
    )
    _, status, usage = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) not in (0, 3):
        raise SystemExit(f"{' '.join(words)} ended with {os.waitstatus_to_exitcode(status)}")
    return Reading(time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def n_modules(python: str, words: list[str]) -> int:
    """How many modules a command has loaded when it ends."""
    done = subprocess.run(
        [python, "-P", "-c", MODULES, *words], capture_output=True, text=True, check=False
    )
    return int(done.stderr.rpartition("MODULES ")[2])


def measured(pythons: dict[str, str], words: list[str], runs: int) -> list[list[str]]:
    """A row for each installation: they take turns."""
    readings: dict[str, list[Reading]] = {name: [] for name in pythons}
    for turn in range(runs + 1):
        for name, python in pythons.items():
            found = run(python, words)
            if turn:
                readings[name].append(found)
    rows = []
    for name, python in pythons.items():
        wall, processor, memory = (median(column) for column in zip(*readings[name], strict=True))
        rows.append(
            [name, f"{wall:.2f}", f"{processor:.2f}", f"{memory:.0f}", str(n_modules(python, words))]
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5, help="measured runs of each command")
    parser.add_argument("--against", metavar="PYTHON", help="the Python of another installation")
    parser.add_argument("--million", action="store_true", help="fit a million ratings, once")
    parser.add_argument("--warm-up", action="store_true", help="compile everything, once")
    options = parser.parse_args()
    pythons = {"this": sys.executable, **({"other": options.against} if options.against else {})}
    print(machine())
    table = []
    with tempfile.TemporaryDirectory() as folder:
        scores = Path(folder, "scores.csv")
        draw = np.random.default_rng(1)
        rows = [f"i{item},{system},{draw.random():.4f}" for item in range(200) for system in "AB"]
        scores.write_text("\n".join(["item,system,score", *rows]) + "\n")
        for name, line in COMMANDS.items():
            words = [str(scores) if word == "SCORES" else word for word in line.split()]
            table += [[name, *row] for row in measured(pythons, words, options.runs)]
        if options.million:
            ratings = Path(folder, "million.csv")
            write_million(ratings)
            words = [str(ratings) if word == "RATINGS" else word for word in MILLION.split()]
            table += [["fit, a million", *row] for row in measured(pythons, words, 1)]
        if options.warm_up:
            for name, python in pythons.items():
                with tempfile.TemporaryDirectory() as cache:
                    wall, processor, memory = run(python, ["warm-up"], NUMBA_CACHE_DIR=cache)
                table.append(["warm-up", name, f"{wall:.1f}", f"{processor:.1f}", f"{memory:.0f}", ""])
    print_table(["command", "installation", "seconds", "processor s", "MB", "modules"], table)


def write_million(path: Path) -> None:
    """Ratings of 1,000 workers, 50,000 items and two systems, 10 a pair of them."""
    draw = np.random.default_rng(2)
    n, n_workers, n_items = 1_000_000, 1_000, 50_000
    worker = draw.integers(n_workers, size=n)
    item, system = np.arange(n) % n_items, (np.arange(n) // n_items) % 2
    rating = (
        0.5 + 0.05 * system + draw.normal(0, 0.1, n_workers)[worker] + draw.normal(0, 0.1, n_items)[item]
    )
    rating = np.clip(rating + draw.normal(0, 0.2, n), 0, 1)
    lines = (
        f"w{w},i{i},{'AB'[s]},{r:.3f}" for w, i, s, r in zip(worker, item, system, rating, strict=True)
    )
    path.write_text("worker,item,system,rating\n" + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()

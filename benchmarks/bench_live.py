"""How long an answer takes that follows a slider: a command by formula, as a page, in a process that is warm.

`python benchmarks/bench_live.py` prints the median of CPU and wall time in ms over many answers, each for another
number of workers, so that nothing is remembered from the answer before.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import statistics
import tempfile
import time
from pathlib import Path

from humeval_power.doors.terminal.main import main

SIZE = "--items 100 --effect 0.1"
PRICES = "--cost-per-rating 0.12 --cost-per-worker 3 --budget 600"
ANSWERS = {
    "preset high": f"power --preset high {SIZE}",
    "preset high, prices": f"power --preset high {SIZE} {PRICES}",
    "preset low": f"power --preset low {SIZE}",
    "parameters of a file": f"power --parameters FILE {SIZE}",
    "3 ratings per item": f"power --preset high {SIZE} --ratings-per-item 3",
    "3 per item, unpaired": f"power --preset high {SIZE} --ratings-per-item 3 --unpaired",
    "20 documents": f"power --preset high {SIZE} --documents 20",
    "ordinal": "power --shares .05,.1,.2,.4,.25 --values sd_worker_slope=.1,sd_item_slope=.1 "
    f"--family ordinal {SIZE}",
    "equivalent": "power --preset high --items 100 --alternative equivalent --margin 0.2",
    "8 systems": f"power --preset high {SIZE} --n-systems 8",
    "mde": "mde --preset high --items 100",
}


def answer(words: list[str]) -> int:
    """Bytes of the page that answers."""
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(io.StringIO()):
        main([*words, "--method", "analytic", "--format", "html"], standalone_mode=False)
    return len(shown.getvalue())


def measure(command: str, repeats: int) -> tuple[float, float, int]:
    """Median CPU and wall time of an answer in ms, and its bytes."""
    words = command.split()
    n_bytes = answer([*words, "--workers", "9"])
    cpu, wall = [], []
    for place in range(repeats):
        before = time.process_time(), time.perf_counter()
        answer([*words, "--workers", str(10 + place)])
        cpu.append(time.process_time() - before[0])
        wall.append(time.perf_counter() - before[1])
    return 1000 * statistics.median(cpu), 1000 * statistics.median(wall), n_bytes


def run() -> None:
    """Print a line for each kind of answer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--only", default="", help="Kinds of answers whose name has this in it.")
    typed = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "parameters.json"
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            table = Path(folder) / "ratings.csv"
            drawn = "simulate --preset low --workers 8 --items 30 --effect 0.1 -o"
            main([*drawn.split(), str(table)], standalone_mode=False)
            main(["fit", str(table), "-o", str(path)], standalone_mode=False)
        print(f"{'answer':24} {'CPU, ms':>8} {'wall, ms':>9} {'kB':>5}")
        for name, command in ANSWERS.items():
            if typed.only in name:
                found = measure(command.replace("FILE", str(path)), typed.repeats)
                print(f"{name:24} {found[0]:8.1f} {found[1]:9.1f} {found[2] / 1000:5.0f}", flush=True)


if __name__ == "__main__":
    run()

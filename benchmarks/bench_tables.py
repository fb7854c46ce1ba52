"""CPU seconds and peak memory of commands on a table of a million ratings, each a process of its own.

python benchmarks/bench_tables.py [--ratings 1000000]
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from studies import machine, print_table

EACH = 10  # workers of an item, each under both systems
COMMANDS = (
    "check big.csv",
    "check big.parquet",
    "release big.csv --checked item -o bundle",
    "assign --workers {workers} --items {items} --ratings-per-item 10 -o assigned.csv",
)


def write_tables(folder: Path, n_ratings: int) -> tuple[int, int]:
    """Ratings 1 to 5 in CSV and Parquet, in random order; how many workers and items they have."""
    items, rng = n_ratings // (2 * EACH), np.random.default_rng(1)
    workers = max(items // 5, EACH)
    item = np.repeat(np.arange(items), 2 * EACH)
    worker = np.repeat(
        (np.repeat(rng.integers(workers, size=items), EACH) + np.arange(items * EACH)) % workers, 2
    )
    order = rng.permutation(len(item))
    table = pd.DataFrame(
        {
            "worker": [f"w{code:05d}" for code in worker[order].tolist()],
            "item": [f"item-{code:06d}" for code in item[order].tolist()],
            "system": np.array(["base", "new"])[order % 2],
            "rating": rng.integers(1, 6, size=len(item)),
        }
    )
    table.to_csv(folder / "big.csv", index=False)
    table.to_parquet(folder / "big.parquet", index=False)
    return workers, items


def measured(command: str, folder: Path) -> tuple[float, float]:
    """CPU seconds and megabytes at the peak."""
    program = Path(sys.executable).with_name("humeval-power")
    child = subprocess.Popen(
        [str(program), *shlex.split(command)],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(child.pid, 0)
    if status:
        raise SystemExit(f"{command}: ended with {os.waitstatus_to_exitcode(status)}")
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return used.ru_utime + used.ru_stime, used.ru_maxrss / unit


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ratings", type=int, default=1_000_000, help="rows of the table")
    n_ratings = parser.parse_args().ratings
    print(machine())
    rows = []
    with tempfile.TemporaryDirectory() as name:
        workers, items = write_tables(Path(name), n_ratings)
        for template in COMMANDS:
            command = template.format(workers=workers, items=items)
            seconds, megabytes = measured(command, Path(name))
            rows.append([f"`{command}`", f"{seconds:.1f}", f"{megabytes:.0f}"])
    print_table(["humeval-power ...", "CPU s", "MB"], rows)


if __name__ == "__main__":
    main()
